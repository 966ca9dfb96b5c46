"""The places that a tour stands at, and the facts that it claims there."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tokentui.core.safetext import to_bytes
from tokentui.recipe import Recipe, Run
from tokentui.session.views import ColumnSnapshot


@dataclass(frozen=True, slots=True)
class Place:
    """A place to stand at.

    Attributes:
        source: The corpus, as the command line names it.
        text: The corpus as a text, where it is typed; None where it is a source.
        recipe: The recipe.
        run: Its run.
        step: The step; None is the end of the run.
        typed: The typed text.
    """

    source: str = ""
    text: str | None = None
    recipe: Recipe = field(default_factory=Recipe)
    run: Run = field(default_factory=Run)
    step: int | None = 0
    typed: str = ""


class Expected(NamedTuple):
    """A fact that a stop claims: its name of `FACTS`, the words behind it, and the line of the file."""

    name: str
    words: tuple[str, ...]
    line: int = 0


def _pieces(pieces: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(one.decode("utf-8", "surrogateescape") for one in pieces)


def _uses(column: ColumnSnapshot, words: Sequence[str]) -> tuple[str, ...]:
    wanted = to_bytes(words[0])
    found = [row.uses for row in column.vocabulary.rows if row.piece == wanted]
    return (words[0], str(found[0] or 0) if found else "none")


def _pair(column: ColumnSnapshot) -> tuple[str, ...]:
    return _pieces(column.why.best.parts) if column.why.best is not None else ()


FACTS: Mapping[str, Callable[[ColumnSnapshot, Sequence[str]], tuple[str, ...]]] = {
    "step": lambda column, _: (str(column.at.step),),
    "vocabulary": lambda column, _: (str(column.at.vocab_size),),
    "length": lambda column, _: (str(column.at.tokens),),
    "pair": lambda column, _: _pair(column),
    "places": lambda column, _: (str(column.why.best.places if column.why.best is not None else 0),),
    "worth": lambda column, _: (str(column.why.best.worth if column.why.best is not None else 0),),
    "tied": lambda column, _: (str(column.why.tied),),
    "end": lambda column, _: (str(column.why.end or "none"),),
    "tokens": lambda column, _: _pieces(
        to_bytes(one.text) if one.piece is None else one.piece for one in column.encoding.tokens
    ),
    "count": lambda column, _: (str(len(column.encoding.tokens)),),
    "uses": _uses,
}
"""The facts that `expect` can name: each gives the words that are true of a column."""


def failures(claims: Iterable[Expected], column: ColumnSnapshot) -> list[str]:
    """The claims that do not hold, a line each; empty where all do.

    Args:
        claims: The claims of a stop.
        column: The column at its place; all entries of its vocabulary are listed.
    """
    out = []
    for one in claims:
        true = FACTS[one.name](column, one.words)
        if true != one.words:
            out.append(f"line {one.line}: {one.name} is {shlex.join(true)}, not {shlex.join(one.words)}")
    return out
