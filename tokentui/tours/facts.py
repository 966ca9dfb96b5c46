"""The places that a tour goes to, and the facts that it claims there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tokentui.core.safetext import to_bytes
from tokentui.core.toml import toml_value
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


class Claim(NamedTuple):
    """A fact that a stop claims.

    Attributes:
        fact: A name of `FACTS`.
        value: The claimed value, of the type that the fact has.
    """

    fact: str
    value: Any


class Fact(NamedTuple):
    """A fact that a tour can claim.

    Attributes:
        kind: The type of its value: `int`, `str`, `list` for texts, or `dict` for numbers by texts.
        example: A value as a tour writes it.
        read: Returns the true value for a column. It gets the claimed value too.
    """

    kind: type
    example: str
    read: Callable[[ColumnSnapshot, Any], Any]


def _texts(pieces: Iterable[bytes]) -> list[str]:
    return [piece.decode("utf-8", "surrogateescape") for piece in pieces]


def _pair(column: ColumnSnapshot) -> list[str]:
    return _texts(column.why.best.parts) if column.why.best is not None else []


def _tokens(column: ColumnSnapshot) -> list[str]:
    tokens = column.encoding.tokens
    return _texts(to_bytes(token.text) if token.piece is None else token.piece for token in tokens)


def _uses(column: ColumnSnapshot, claimed: Mapping[str, int]) -> dict[str, int]:
    """Return how often the corpus holds each of these tokens; those outside the vocabulary are left out."""
    uses = {row.piece: row.uses or 0 for row in column.vocabulary.rows}
    return {text: uses[to_bytes(text)] for text in claimed if to_bytes(text) in uses}


FACTS: Mapping[str, Fact] = {
    "step": Fact(int, "3", lambda column, _: column.at.step),
    "vocabulary": Fact(int, "259", lambda column, _: column.at.vocab_size),
    "length": Fact(int, "11", lambda column, _: column.at.tokens),
    "pair": Fact(list, '["u", "g"]', lambda column, _: _pair(column)),
    "places": Fact(
        int, "4", lambda column, _: column.why.best.places if column.why.best is not None else 0
    ),
    "worth": Fact(
        str, '"1/20"', lambda column, _: str(column.why.best.worth if column.why.best is not None else 0)
    ),
    "tied": Fact(int, "2", lambda column, _: column.why.tied),
    "end": Fact(str, '"no pair left"', lambda column, _: str(column.why.end or "none")),
    "tokens": Fact(list, '["h", "ug"]', lambda column, _: _tokens(column)),
    "count": Fact(int, "2", lambda column, _: len(column.encoding.tokens)),
    "uses": Fact(dict, "{ ug = 4 }", _uses),
}
"""The facts that a tour can claim; docs/tours.md has their meanings."""


def failures(claims: Iterable[Claim], column: ColumnSnapshot) -> list[str]:
    """Return a line for each claim that is not true; an empty list where all are.

    Args:
        claims: The claims of a stop.
        column: The column at its place, with all entries of its vocabulary.
    """
    lines = []
    for claim in claims:
        true = FACTS[claim.fact].read(column, claim.value)
        if true != claim.value:
            lines.append(f"{claim.fact} is {toml_value(true)}, not {toml_value(claim.value)}")
    return lines
