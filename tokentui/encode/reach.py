"""The units that spell a token, and why no text becomes a token.

Units carry their marks, so a token that continues a word is found inside words only, and a text that spells a
mark literally confuses nothing.

Two things can be in a token's way: the encoding (its own units become other tokens), or the steps before it
(no word that the split and the normalisation leave holds those units side by side). The first is exact: what
surrounds a token never changes how the units inside it join. The second is tried in a few contexts, so the
reason tells what was tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tokentui.core.jobs import check
from tokentui.core.safetext import safe
from tokentui.encode.decode import Decoder
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment.ways import ASKED_EVERY
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe
from tokentui.text.split import SPACE_MARK

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
    """The symbols that a text can become, in order: all but the bytes that stand for something else (Gage's).
    """
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
    """True if a word holds these units, one after the other."""
    size = len(part)
    return any(tuple(units[at : at + size]) == tuple(part) for at in range(len(units) - size + 1))


ALIKE, GIVEN_UP, OTHERWISE, NORMALISED, SPLIT = (
    "spelled alike",
    "given up",
    "encoded otherwise",
    "normalised",
    "split",
)
"""Why no text becomes a token."""
_CONTEXTS = ("{}", "a{}", "{}a", "a{}a", " {}", "1{}", "{}1", "1{}1", "'{}", "a {}", "{} ")


def unreachable(encoder: WordEncoder, decoder: Decoder, symbol: int) -> str:
    """Why no text becomes this token, in words; empty where one does."""
    return cause(encoder, decoder, symbol)[1]


def cause(encoder: WordEncoder, decoder: Decoder, symbol: int) -> tuple[str, str]:
    """Why no text becomes this token: one of the causes, and the same in words; both empty where one does."""
    vocabulary = encoder.vocabulary
    units = spelled_units(encoder, symbol)
    piece = vocabulary.spelled(symbol)
    characters = len(piece.decode("utf-8", "replace"))
    parts = encoder.segmenter.segment(units, characters)
    taken = [part.symbol for part in parts]
    if taken != [symbol]:
        if len(taken) == 1 and taken[0] is not None and vocabulary.spelled(taken[0]) == piece:
            return ALIKE, f"another token is spelled alike: id {vocabulary.id_of(taken[0], encoder.merges)}"
        if len(taken) == 1:
            return GIVEN_UP, "its own text is given up: it is too long"
        shown = " ".join(
            "unknown" if one is None else safe(vocabulary.spelled(one), limit=40) for one in taken[:8]
        )
        return OTHERWISE, f"its own text is encoded as {shown}" + (" …" if len(taken) > 8 else "")
    try:
        piece.decode()
    except UnicodeDecodeError:
        return "", ""  # only a part of a character: no context can be typed for it
    if encoder.marks.prefix and encoder.marks.unit_continues(piece):
        text = piece.removeprefix(encoder.marks.mark).decode()
    else:
        text = decoder.to_text([vocabulary.id_of(symbol, encoder.merges)])
    for context in _CONTEXTS:
        for word in encoder.pretokenizer.words(context.replace("{}", text)):
            if within(units, encoder.pretokenizer.units(word)):
                return "", ""
    normal = encoder.pretokenizer.normalized(f"a {text} a")
    if text not in normal and text.replace(" ", SPACE_MARK) not in normal:
        return NORMALISED, "the normalisation changes it"
    return SPLIT, "no word that the split leaves holds it, in any context tried"
