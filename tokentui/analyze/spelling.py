"""Which units spell a token: the exact form in which tokens are looked for in a word.

Units carry their marks, so a token that continues a word is found inside words only, and a text that spells a mark literally
confuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tokentui.encode import WordEncoder
from tokentui.encode.segment.parts import ASKED_EVERY
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.patience import check

Spelled = tuple[bytes, ...]
_END = b""  # no unit is empty


def spelled_units(encoder: WordEncoder, symbol: int) -> Spelled:
    """The units that a symbol covers, in order: the leaves of its merges, or a whole piece cut into units."""
    vocabulary, base = encoder.vocabulary, encoder.vocabulary.base_size
    if symbol < base:
        return _cut(encoder, vocabulary.pieces[symbol])
    units: list[bytes] = []
    waiting = [symbol]
    while waiting:
        if len(units) % ASKED_EVERY == 0:
            check()
        one = waiting.pop()
        if one < base:
            units += _cut(encoder, vocabulary.pieces[one])
        else:
            left, right = vocabulary.merges[one - base]
            waiting += (right, left)
    return tuple(units)


def bare(recipe: Recipe, piece: bytes) -> bytes:
    """A token without the mark that it is spelled with, unless it is nothing else."""
    mark = recipe.mark_text.encode()
    return (piece.removeprefix(mark) if recipe.mark_kind == "prefix" else piece.removesuffix(mark)) or piece


def _cut(encoder: WordEncoder, piece: bytes) -> Spelled:
    kind, mark, units_of = encoder.vocabulary.recipe.mark_kind, encoder.marks.mark, encoder.pretokenizer.units
    if kind == "none":
        units = units_of(_text(piece))
    elif kind == "prefix":
        inside = encoder.marks.unit_continues(piece)
        units = units_of(_text(piece[len(mark) :] if inside else piece))
        if inside and units:
            units[0] = mark + units[0]
    else:
        ends = piece.endswith(mark) and (kind == "end-symbol" or len(piece) > len(mark))
        units = units_of(_text(piece[: -len(mark)] if ends else piece))
        if not ends and units:
            units = units[:-1] if kind == "end-symbol" else [*units[:-1], units[-1][: -len(mark)]]
    return tuple(units) or (piece,)


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "surrogateescape")


def symbols_of(vocabulary: Vocabulary, merges: int) -> Iterator[int]:
    """The symbols that a text can become, in order: all but the bytes that stand for something else (Gage's)."""
    known = vocabulary.known_units(merges)
    yield from (symbol for symbol in range(vocabulary.base_size) if vocabulary.pieces[symbol] in known)
    yield from range(vocabulary.base_size, vocabulary.base_size + merges)


class Finder:
    """Finds tokens in words by their units.

    Args:
        tokens: (units, symbol) of each; of two that are spelled alike the first is found.
    """

    def __init__(self, tokens: Iterable[tuple[Spelled, int]]) -> None:
        self._root: dict[bytes, Any] = {}
        for units, symbol in tokens:
            node = self._root
            for unit in units:
                node = node.setdefault(unit, {})
            node.setdefault(_END, symbol)

    def at(self, units: Sequence[bytes], start: int) -> Iterator[tuple[int, int]]:
        """(end, symbol) of each token that starts at this unit, the shortest first."""
        node: dict[bytes, Any] | None = self._root
        for end in range(start, len(units)):
            node = node.get(units[end]) if node else None
            if node is None:
                return
            if _END in node:
                yield end + 1, node[_END]


def within(part: Sequence[bytes], units: Sequence[bytes]) -> bool:
    """Whether these units stand in a word, one after the other."""
    size = len(part)
    return any(tuple(units[at : at + size]) == tuple(part) for at in range(len(units) - size + 1))
