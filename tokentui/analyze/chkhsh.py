"""The name that llama.cpp has for the split of a tokenizer, or the nearest of its splits."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from tokentui.analyze.report import Report, Row, Section
from tokentui.core.safetext import to_bytes
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.gguf import pre as splits
from tokentui.formats.gguf.chkhsh import CHECK_TEXT, chkhsh, known_as
from tokentui.text.corpus import Corpus

PROBES = (
    CHECK_TEXT, "camelCase HTTPServer2 ДОМдом naïve_name o'clock", "1,000.50 ١٢٣٤ x12345y ²³",
    "\tif (x):\r\n\r\n  y //z", "e\u0301te\u0301 नमस्ते 안녕 日本語とカナ", "don't I'LL 'ſ ’s",
    "a  b   \n c \n\n", "#tag @user $5+<b>~`", "？！。，…",
)
"""Texts by which splits are compared."""
_TITLE = "Name in llama.cpp"
_FEW = 6
_AROUND = 12
"""Bytes that are shown on each side of a cut."""


class _Difference(NamedTuple):
    """A boundary that only one of two splits has.

    Attributes:
        text: The text.
        place: The place in the text, in bytes of UTF-8.
    """

    text: str
    place: int


def analysis(tokenizer: Tokenizer, corpus: Corpus | None) -> Report:
    """Report the hash by which the converter of llama.cpp identifies a pre-tokenizer, and which of its splits
    gives the same words for `PROBES`, or the fewest other boundaries. A corpus changes nothing."""
    digest = chkhsh(tokenizer)
    name = known_as(digest)
    known = f"pre={name}" if name else "unknown to the converter of llama.cpp"
    sections = [Section("chkhsh", digest), Section("known as", known)]
    value: dict[str, object] = {"chkhsh": digest, "pre": name or None}
    words = WordEncoder(tokenizer.vocabulary, tokenizer.merges).pretokenizer.words
    cuts = [_cuts(words(text), text) for text in PROBES]
    if any(places is None for places in cuts):
        why = "cannot be compared: the tokenizer changes text before it splits it"
        sections.append(Section("split", why))
        return Report(_TITLE, tuple(sections), value, known)
    differences = {pre: _differences(pre, cuts) for pre in dict.fromkeys(splits.PRE.values())
                   if not pre.marked}
    nearest = min(differences, key=lambda pre: len(differences[pre]))
    names = [other for other, pre in splits.PRE.items() if pre.cuts == nearest.cuts]
    shown = {f"pre={name}": differences[splits.PRE[name]]} if splits.PRE.get(name) in differences else {}
    if not any(not places for places in shown.values()):
        shown[f"pre={', '.join(names)}"] = differences[nearest]
    sections += map(_section, ("split", "nearest"), shown.items())
    value |= {"splits": names, "differing": [place._asdict() for place in differences[nearest]]}
    return Report(_TITLE, tuple(sections), value, known)


def _section(title: str, compared: tuple[str, list[_Difference]]) -> Section:
    """Return the section of one comparison: "same splits", or the boundaries that differ, marked."""
    name, places = compared
    result = "same splits"
    if places:
        result = f"{len(places)} boundaries in {len(PROBES)} texts differ, such as at |"
    return Section(title, f"{name}: {result}", tuple(map(_row, places)), (), few=_FEW, wrap=True)


def _row(difference: _Difference) -> Row:
    data, place = to_bytes(difference.text), difference.place
    return Row(((data[max(place - _AROUND, 0) : place], " | ", data[place : place + _AROUND]),))


def _differences(pre: splits.Pre, cuts: Sequence[set[int] | None]) -> list[_Difference]:
    """Return the boundaries that only llama.cpp or only the tokenizer has."""
    return [
        _Difference(text, place) for text, ours in zip(PROBES, cuts, strict=True)
        for place in sorted((ours or set()) ^ (_cuts(splits.words(pre, text), text) or set()))
    ]


def _cuts(words: Sequence[str], text: str) -> set[int] | None:
    """Return the boundaries between the words of a text, in bytes. Return None if the words do not spell the
    text."""
    pieces = list(map(to_bytes, words))
    return set(itertools.accumulate(map(len, pieces))) if b"".join(pieces) == to_bytes(text) else None
