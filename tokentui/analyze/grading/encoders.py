"""Encoding by merges in plain Python, in the right way and in the ways that students get wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tokentui.analyze.grading.model import TEXTS
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

Word = list[bytes]
Pair = tuple[bytes, bytes]
Ranks = Mapping[Pair, int]
Segmenter = Callable[[Word, Ranks, int], Word]


@dataclass(frozen=True)
class Encoding:
    """A way to encode. The defaults are right.

    Attributes:
        way: How the units of a word become tokens, a name of `SEGMENTERS`.
        split: A value of the axis `split`; empty for that of the recipe.
        specials: What special tokens in the text become: `whole`, `text`, or `listed`, where the first of
            the list that matches wins over a longer one.
        text: What happens to the text first, a name of `TEXTS`.
    """

    way: str = "rank"
    split: str = ""
    specials: str = "whole"
    text: str = ""


def _joined(word: Word, fits: Callable[[Word], bool], prefix: int) -> Word:
    """Return the word with each two neighbors that fit joined, from the left.

    `prefix` is the number of bytes of a continuation mark, which the right part loses.
    """
    out: Word = []
    at = 0
    while at < len(word):
        joins = at + 1 < len(word) and fits(word[at:at + 2])
        out.append(word[at] + word[at + 1][prefix:] if joins else word[at])
        at += 1 + joins
    return out


def _repeating(choose: Callable[[Sequence[Pair], Ranks], Pair]) -> Segmenter:
    """Return a way that joins the pair that is chosen from those with a rank, until there is none."""

    def segment(word: Word, ranks: Ranks, prefix: int) -> Word:
        while known := [pair for pair in pairwise(word) if pair in ranks]:
            chosen = list(choose(known, ranks))
            word = _joined(word, chosen.__eq__, prefix)
        return word

    return segment


def _from_right(word: Word, ranks: Ranks, prefix: int) -> Word:
    """Merge by rank, but join the occurrences of a pair from the right: a common mistake."""
    while known := [pair for pair in pairwise(word) if pair in ranks]:
        left, right = min(known, key=ranks.__getitem__)
        out: Word = []
        at = len(word) - 1
        while at >= 0:
            if at and word[at - 1] == left and word[at] == right:
                out.append(left + right[prefix:])
                at -= 2
            else:
                out.append(word[at])
                at -= 1
        word = out[::-1]
    return word


def _one_pass(word: Word, ranks: Ranks, prefix: int) -> Word:
    """Go over the word once and join each pair that has a rank, whatever the rank."""
    return _joined(word, lambda pair: tuple(pair) in ranks, prefix)


def _once_each(word: Word, ranks: Ranks, prefix: int) -> Word:
    """Merge only the first place of each merge, in the order of ranks: a common mistake."""
    for pair in sorted(ranks, key=ranks.__getitem__):
        for at in range(len(word) - 1):
            if tuple(word[at:at + 2]) == pair:
                word = [*word[:at], pair[0] + pair[1][prefix:], *word[at + 2:]]
                break
    return word


def _longest(word: Word, ranks: Ranks, prefix: int) -> Word:
    """Cut the word from the left into the longest tokens that merges make.

    A unit alone is always taken.
    """
    tokens = {left + right[prefix:] for left, right in ranks}
    out: Word = []
    at = 0
    while at < len(word):
        for end in range(len(word), at, -1):
            piece = word[at] + b"".join(unit[prefix:] for unit in word[at + 1:end])
            if end == at + 1 or piece in tokens:
                out.append(piece)
                at = end
                break
    return out


SEGMENTERS: Mapping[str, Segmenter] = {
    "rank": _repeating(lambda known, ranks: min(known, key=ranks.__getitem__)),
    "longest": _longest, "one-pass": _one_pass, "from-right": _from_right,
    "highest": _repeating(lambda known, ranks: max(known, key=ranks.__getitem__)),
    "leftmost": _repeating(lambda known, ranks: known[0]), "once-each": _once_each,
    "none": lambda word, ranks, prefix: word,
}
"""How the units of a word become tokens, by name."""


@dataclass(frozen=True)
class EncodingFault:
    """A mistake in encoding; see `faults.Fault`."""

    name: str
    what: str
    why: str
    try_: str
    way: Encoding


_RANK = "Of the pairs in a word, the one that was learned first is merged, everywhere, again and again."
ENCODING_FAULTS: tuple[EncodingFault, ...] = (
    EncodingFault("longest-match", "you take the longest token that matches, not the merges in their order",
        _RANK,
                  "Apply the merges; the tokens alone do not say how a word is cut.", Encoding("longest")),
    EncodingFault("one-pass", "you go over the text once and join any pair that is a merge", _RANK,
                  "Repeat until no pair of the word is a merge, the one with the lowest rank first.",
                  Encoding("one-pass")),
    EncodingFault("from-right", "equal pairs are merged from right to left",
        "A pair is merged from left to right.",
                  "Go through the word from its start.", Encoding("from-right")),
    EncodingFault("highest-rank", "you merge the pair that was learned last, not the one learned first",
        _RANK,
                  "Use min over the ranks, not max.", Encoding("highest")),
    EncodingFault("leftmost", "you merge the leftmost pair that is a merge, not the one learned first", _RANK,
                  "Look at all pairs of the word and take the lowest rank.", Encoding("leftmost")),
    EncodingFault("once-each", "each merge is applied at one place of a word only", _RANK,
                  "Apply a merge at all its places.", Encoding("once-each")),
    EncodingFault("no-merges", "no merge is applied: the ids are those of the units", _RANK,
                  "Look at the keys of the merges: are they bytes, texts or ids?", Encoding("none")),
    EncodingFault("no-pretokens", "the text is not cut into pre-tokens before it is encoded",
                  "No merge crosses the border of a pre-token, in training and in encoding.",
                  "Use the pattern of the training in encode.", Encoding(split="none")),
    EncodingFault("spaces-lost", "the text is split at whitespace, and the spaces are lost",
                  "The ids must decode to the text.", "Use the pattern of the training.",
                  Encoding(split="whitespace")),
    EncodingFault("special-as-text", "special tokens in the text are encoded as text",
                  "A special token in the text is one id.", "Split the text at special tokens first.",
                  Encoding(specials="text")),
    EncodingFault("special-order", "of overlapping special tokens you take a shorter one",
                  "The longest special token that matches wins.",
                  "Sort the special tokens by length, longest first.",
                  Encoding(specials="listed")),
    EncodingFault("lower-case", "the text is made lower case", "Capitals are other characters.",
        "Look for lower().",
                  Encoding(text="lower")),
    EncodingFault("universal-newlines", "CR LF has become LF", "The bytes of the text count as they are.",
                  "Look at how the text is read.", Encoding(text="newlines")),
    EncodingFault("stripped", "the text is stripped of spaces at its ends",
        "The ids must decode to the text.",
                  "Look for strip().", Encoding(text="strip")),
)
"""The mistakes in encoding."""


class Encoder:
    """Encodes by merges.

    Args:
        merges: The merges, in order.
        recipe: The recipe, without symbols.
        specials: The special tokens.
    """

    def __init__(self, merges: Sequence[tuple[bytes, bytes]], recipe: Recipe,
        specials: Sequence[str]) -> None:
        self._ranks: dict[tuple[bytes, bytes], int] = {}
        for rank, pair in enumerate(merges):
            self._ranks.setdefault(pair, rank)
        self._recipe, self._specials = recipe, tuple(specials)
        self._prefix = len(recipe.mark_text.encode()) if recipe.mark_kind == "prefix" else 0

    def tokens(self, text: str, way: Encoding) -> list[bytes]:
        """Return the tokens of a text by a way to encode.

        Raises:
            TokentuiError: The text cannot be cut in this way.
        """
        recipe = replace(self._recipe, split=way.split) if way.split else self._recipe
        cutter, out = Pretokenizer(recipe), list[bytes]()
        for part, special in self._parts(TEXTS[way.text]([text])[0], way.specials):
            if special:
                out.append(part.encode())
                continue
            for word in cutter.words(part):
                out += SEGMENTERS[way.way](cutter.units(word), self._ranks, self._prefix)
        return out

    def _parts(self, text: str, way: str) -> Iterator[tuple[str, bool]]:
        """Yield the parts of a text, each with whether it is a special token; empty parts are left out.

        `whole` matches longer names first, `text` knows no special tokens.
        """
        names = list(self._specials)
        if way == "whole":
            names.sort(key=len, reverse=True)
        if not names or way == "text":
            yield text, False
            return
        for number, part in enumerate(re.split(f"({'|'.join(map(re.escape, names))})", text)):
            if part:
                yield part, number % 2 == 1


def encoding_faults(
    encoder: Encoder, rows: Sequence[tuple[str, Sequence[bytes]]]
) -> tuple[EncodingFault, ...]:
    """Return the mistakes that give the tokens of a student for all texts.

    Args:
        encoder: The encoder, with the merges that the student encodes by.
        rows: The texts, each with the student's tokens.
    """
    from tokentui.core.errors import TokentuiError  # for a text that cannot be cut

    found: list[EncodingFault] = []
    for fault in ENCODING_FAULTS:
        try:
            if all(encoder.tokens(text, fault.way) == list(tokens) for text, tokens in rows):
                found.append(fault)
        except TokentuiError:
            continue
    return tuple(found)
