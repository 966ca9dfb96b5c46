"""The rows of the project's own tokenizer file, and the tokenizer of one whose steps are events."""

from __future__ import annotations

import functools
import itertools
import json
import operator
from collections.abc import Mapping

from tokentui.encode.events import LEAVING, MAKING, Event, EventVocabulary, Kind
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.formats.source import Node
from tokentui.formats.spec import Token
from tokentui.learn.bases import BASES
from tokentui.recipe import Recipe

_EVENT = ("STEP", "KIND", "HEX", "PARTS", "PLACES", "VIEW")
_APART = (Kind.SPLIT, Kind.BREAK, Kind.DEMOTE)
_EVENTS = tuple(map(str, (Kind.MERGE, Kind.COVER, *_APART, Kind.REMOVE, Kind.UNLOCK)))
ALL_BYTES = [bytes((value,)) for value in range(256)]
"""The 256 bytes in order."""


def entry_rows(tokenizer: Tokenizer) -> list[Token]:
    """The rows of its vocabulary: tokens whose name is their text."""
    vocabulary, named = tokenizer.vocabulary, tokenizer.named()
    symbols = vocabulary.symbols_by_id(tokenizer.merges)
    for number in named:  # a merge may borrow a special's id
        symbols.pop(number, None)
    # column by column: a row at a time takes longer than many a training
    pieces = [vocabulary.pieces[symbol] for symbol in symbols.values()]
    names = [piece.decode("utf-8", "replace") for piece in pieces]
    scored = vocabulary.scores
    scores = [scored[symbol] for symbol in symbols.values()] if scored else itertools.repeat(None)
    rows = [Token(one.id, one.text, one.piece, one.score) for one in named.values()]
    made = functools.partial(tuple.__new__, Token)
    rows += map(made, zip(symbols, names, pieces, scores, strict=False))
    return sorted(rows, key=operator.itemgetter(0))


def token_of(row: Node, least: int = 1) -> Token:
    """A row of the vocabulary, of so many bytes at least."""
    number, text, code, score = row.fields("ID", "TEXT", "HEX", "SCORE")
    piece, said, value = code.hex(least), text.text(), score.value
    # A special's name may hold half a surrogate pair; all other texts are what their bytes decode to.
    if said.encode("utf-8", "surrogatepass") != piece and piece.decode("utf-8", "replace") != said:
        raise row.error("HEX is not the bytes of TEXT", "mend one of the two")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise row.error("SCORE is no number", "a number or null belongs there")
    return Token(number.number(), said, piece, value)


def hold(listed: Node, rows: list[Token], made: list[Token]) -> None:
    """Hold the rows of a vocabulary against those that the rest of the document makes."""
    for n, (row, own) in enumerate(itertools.zip_longest(rows, made)):
        if row != own:
            raise listed.at(n).error(f"{_shown(row)} where {_shown(own)} belongs",
                                     "the recipe, the run, the units and the merges make the rows")


def _shown(row: Token | None) -> str:
    """A row as an error shows it: as in the file, and short."""
    if row is None:
        return "no row"
    fields = (str(row.id), json.dumps(row.name[:40]), f'"{row.piece[:40].hex()}"', json.dumps(row.score)[:40])
    return f"[{', '.join(fields)}]"


def trained_by_events(recipe: Recipe, run: Mapping[str, object], root: Node) -> Tokenizer:
    """The tokenizer of a document with events: its units and events make the vocabulary again, against which
    its rows are held.

    Raises:
        TokentuiError: A row is not what the recipe, the run and the events make.
    """
    listed = root["vocabulary"]
    first, specials = root["run"]["first_id"].number(), root["run"]["specials"].texts()
    rows = list(map(token_of, listed.rows()))
    if root["merges"].listed():
        raise root["merges"].error("a tokenizer of events has no merges", "leave the list empty")
    read = list(map(_event, root["events"].rows()))
    made = {piece for _, kind, piece, _, _, _ in read if kind in MAKING}
    named = entry_rows(Tokenizer(Vocabulary(recipe, (), specials, first)))
    hold(listed, rows[: len(named)], named)
    base = [row.piece for row in itertools.takewhile(lambda row: row.piece not in made, rows[len(named) :])]
    if len(set(base)) < len(base):
        raise listed.error("two base units have the same bytes", "each unit stands once")
    if BASES.of(recipe.base).all_bytes and sorted(base) != ALL_BYTES:
        raise listed.error("the base is not all 256 bytes", "each unit stands once")
    from tokentui.learn.objectives import OBJECTIVES  # every file is sniffed here, and few are of this format

    objective = OBJECTIVES.find(recipe.objective)
    make = EventVocabulary if objective is None or objective.vocabulary is None else objective.vocabulary
    vocabulary = make(recipe, base, specials, first)
    if not isinstance(vocabulary, EventVocabulary):
        raise root["events"].error(f"objective={recipe.objective} has no events", "mend one of the two")
    number, step = 0, list[Event]()
    for row, (at, kind, piece, parts, places, view) in zip(root["events"].rows(), read, strict=True):
        if at not in (number, number + 1) or not at:
            raise row.error(f"step {at} where {number or 1} or {number + 1} belongs", "steps go up by one")
        if at > number and step:
            vocabulary.step(step)
            step = []
        number = at
        symbols = tuple(vocabulary.symbol(part) for part in parts)
        if kind not in MAKING and vocabulary.symbol(piece) is None:
            raise row.error("HEX is no unit or earlier token", "an event is of a token that was made")
        known = tuple(one for one in symbols if one is not None)
        if len(known) < len(symbols) or (parts and b"".join(parts) != piece):
            raise row.error("PARTS do not make HEX of units and earlier tokens", "mend one of the two")
        if (kind in MAKING and len(parts) < 2) or (kind in _APART and not parts):
            raise row.error("PARTS are missing", "a token is made of two parts or more")
        if kind in LEAVING and len(piece) and vocabulary.named(piece) < vocabulary.base_size:
            raise row.error("a unit never leaves", "an event is of a token that was made")
        step.append(Event(kind, vocabulary.named(piece), known, places, 0, view))
    if step:
        vocabulary.step(step)
    tokenizer = Tokenizer(vocabulary, None, run)
    hold(listed, rows, entry_rows(tokenizer))
    return tokenizer


def _event(row: Node) -> tuple[int, Kind, bytes, tuple[bytes, ...], int, int]:
    """A row of the events."""
    number, kind, piece, parts, places, view = row.fields(*_EVENT)
    if (said := kind.text()) not in _EVENTS:
        raise row.error(f"{said[:40]!r} is no kind of event", "one of: " + ", ".join(_EVENTS))
    if view.number() > 1:
        raise row.error("VIEW is 0 or 1", "0 for the words, 1 for the documents")
    made = tuple(part.hex() for part in parts.inner())
    return number.number(), Kind(said), piece.hex(), made, places.number(), view.number()
