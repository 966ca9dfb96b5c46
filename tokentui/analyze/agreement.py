"""The agreement of encodings of one text: the boundaries that they share, and the stretches that they cut
differently. And the tokens that two vocabularies share.

A boundary is a place between two characters where a token ends and no token goes on. So tokens that share a
character have none between them, and text that a tokenizer drops (spaces, mostly) belongs to the token after
it, wherever others put the space.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from tokentui.analyze.metrics import Measure, ratio
from tokentui.encode.offsets import Encoding
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Marks
from tokentui.text.split import SPACE_MARK, splitter, to_bytes


@dataclass(frozen=True, slots=True)
class Cuts:
    """The boundaries of an encoding.

    Attributes:
        length: The characters of the text.
        tokens: The tokens of the text.
        offsets: The boundaries inside the text, ascending.
        before: The number of tokens before each.
        whole: True if a token ends where the text ends.
        starts: Where the tokens start, none lower than one after it, for searching.
        ends: Where they end, none lower than one before it.
    """

    length: int
    tokens: int
    offsets: tuple[int, ...]
    before: tuple[int, ...]
    whole: bool
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def stretch(self, start: int, end: int) -> tuple[int, int]:
        """The tokens between two boundaries (or ends of the text), as a half-open range of their numbers."""
        return self._before(start), self._before(end)

    def touching(self, start: int, end: int) -> int:
        """The number of tokens that hold a character of a range."""
        return max(0, bisect_left(self.starts, end) - bisect_right(self.ends, start))

    def inside(self, start: int, end: int) -> tuple[int, ...]:
        """The boundaries strictly inside a range."""
        return self.offsets[bisect_right(self.offsets, start) : bisect_left(self.offsets, end)]

    def _before(self, offset: int) -> int:
        if offset == 0:
            return 0
        return self.tokens if offset == self.length else self.before[bisect_left(self.offsets, offset)]


def cuts(encoding: Encoding) -> Cuts:
    """The boundaries of an encoding."""
    length, spans = len(encoding.text), encoding.offsets
    ends = list(accumulate((end for _, end in spans), max))
    starts = list(accumulate((start for start, _ in reversed(spans)), min))[::-1]
    found: dict[int, int] = {}
    for number, end in enumerate(ends, 1):
        following = starts[number] if number < len(starts) else length
        if 0 < end < length and following >= end:
            found[end] = number  # of a token without width after it the last counts
    whole = bool(ends) and ends[-1] == length
    return Cuts(length, len(spans), tuple(found), tuple(found.values()), whole, tuple(starts), tuple(ends))


class Agreement(NamedTuple):
    """The agreement of two encodings as totals: those of several texts can be added up.

    Attributes:
        tokens_a: The tokens of the first.
        tokens_b: The tokens of the second.
        boundaries_a: The boundaries of the first.
        boundaries_b: The boundaries of the second.
        shared: The boundaries of both.
        words: The words, by a named splitter.
        same_words: The words that both cut alike: in the same places, into as many tokens.
    """

    tokens_a: int = 0
    tokens_b: int = 0
    boundaries_a: int = 0
    boundaries_b: int = 0
    shared: int = 0
    words: int = 0
    same_words: int = 0

    def plus(self, other: Agreement, times: int = 1) -> Agreement:
        """The totals with those of another text, which stands so many times."""
        return Agreement(*(one + times * more for one, more in zip(self, other, strict=True)))


PAIR_MEASURES: tuple[Measure[Agreement], ...] = (
    Measure("exact", "exact words", "words cut alike / words", "share", "more",
            lambda one: ratio(one.same_words, one.words)),
    Measure("precision", "precision", "boundaries of both / boundaries of {b}", "share", "more",
            lambda one: ratio(one.shared, one.boundaries_b)),
    Measure("recall", "recall", "boundaries of both / boundaries of {a}", "share", "more",
            lambda one: ratio(one.shared, one.boundaries_a)),
    Measure("f1", "F1", "2 · boundaries of both / (those of {a} + those of {b})", "share", "more",
            lambda one: ratio(2 * one.shared, one.boundaries_a + one.boundaries_b)),
    Measure("token_ratio", "token ratio", "tokens of {b} / tokens of {a}", "tokens", "",
            lambda one: ratio(one.tokens_b, one.tokens_a)),
)
"""The measures of an agreement in the order in which they are shown. A new one is an entry here."""


def word_spans(text: str, words: str = "whitespace") -> list[tuple[int, int]]:
    """The places of a text's words by a split that leaves the text as it is."""
    return [(start, end) for _, start, end in splitter(words).spans(text)]


def agreement(a: Cuts, b: Cuts, words: Sequence[tuple[int, int]], *, more: bool = False) -> Agreement:
    """The agreement of two ways to cut a text.

    Args:
        a: The first.
        b: The second, of the same text.
        words: The places of the text's words, see `word_spans`.
        more: True if text follows, so that a token that ends with this text makes a boundary.
    """
    _same_text(a, b)
    return Agreement(
        tokens_a=a.tokens,
        tokens_b=b.tokens,
        boundaries_a=len(a.offsets) + (more and a.whole),
        boundaries_b=len(b.offsets) + (more and b.whole),
        shared=len(set(a.offsets) & set(b.offsets)) + (more and a.whole and b.whole),
        words=len(words),
        same_words=sum(
            a.inside(start, end) == b.inside(start, end) and a.touching(start, end) == b.touching(start, end)
            for start, end in words
        ),
    )


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A stretch of text, as short as can be, that all encodings begin and end alike and do not cut alike.

    `start` and `end` are in characters of the text; `tokens` has each encoding's half-open range of token
    numbers.
    """

    start: int
    end: int
    tokens: tuple[tuple[int, int], ...]


def disagreements(ways: Sequence[Cuts]) -> Iterator[Disagreement]:
    """The stretches that encodings of one text cut differently, from left to right: between boundaries that
    all have, where one has others besides, or another number of tokens."""
    if not ways:
        return
    for one in ways[1:]:
        _same_text(ways[0], one)
    common = set(ways[0].offsets).intersection(*(one.offsets for one in ways[1:]))
    for start, end in pairwise([0, *sorted(common), ways[0].length]):
        tokens = tuple(one.stretch(start, end) for one in ways)
        # Tokens without width, such as a ▁ of its own, count as tokens and hold no character.
        sizes = (last - first for first, last in tokens)
        cut = ((one.touching(start, end), one.inside(start, end)) for one in ways)
        if len(set(zip(sizes, cut, strict=True))) > 1:
            yield Disagreement(start, end, tokens)


def _same_text(a: Cuts, b: Cuts) -> None:
    if a.length != b.length:
        raise ValueError(f"encodings of two texts, of {a.length} and {b.length} characters")


@dataclass(frozen=True, slots=True)
class Overlap:
    """The tokens of two vocabularies as bytes, each once.

    Attributes:
        common: The tokens of both, in order of the first one's ids.
        only_a: Those of the first alone, in the same order.
        only_b: Those of the second alone, in order of its own ids.
    """

    common: tuple[bytes, ...]
    only_a: tuple[bytes, ...]
    only_b: tuple[bytes, ...]

    @property
    def jaccard(self) -> float | None:
        """The common tokens as a share of all."""
        return ratio(len(self.common), len(self.common) + len(self.only_a) + len(self.only_b))

    @property
    def parts(self) -> tuple[tuple[bytes, ...], ...]:
        """The common tokens, those of the first alone, those of the second alone."""
        return self.common, self.only_a, self.only_b

    def find(self, text: str) -> Overlap:
        """The tokens that hold a text."""
        wanted = to_bytes(text)
        return Overlap(*(tuple(piece for piece in part if wanted in piece) for part in self.parts))


def overlap(a: Tokenizer, b: Tokenizer, *, bare: bool = False) -> Overlap:
    """The tokens that two vocabularies share, and those that only one of them has; specials by their names.

    Args:
        a: The first.
        b: The second.
        bare: Compare tokens without their marks and without a space (or ▁) in front.
    """
    first, second = (dict.fromkeys(piece for _, piece in pieces(one, bare)) for one in (a, b))
    return Overlap(
        common=tuple(piece for piece in first if piece in second),
        only_a=tuple(piece for piece in first if piece not in second),
        only_b=tuple(piece for piece in second if piece not in first),
    )


def pieces(tokenizer: Tokenizer, bare: bool) -> Iterator[tuple[int, bytes]]:
    """The tokens of a vocabulary, each with its id.

    Args:
        tokenizer: The tokenizer.
        bare: Give them without their marks and without a space (or ▁) in front, and none that is empty then.
    """
    vocabulary = tokenizer.vocabulary
    marks, symbols = Marks(vocabulary), vocabulary.symbols_by_id(tokenizer.merges)
    for entry in tokenizer.entries():
        piece, symbol = entry.piece, symbols.get(entry.id)
        if bare and symbol is not None and entry.kind not in ("special", "unknown", "byte"):
            front, end = marks.sizes(symbol)
            piece = piece[front : len(piece) - end]
            if tokenizer.recipe.split == "metaspace":
                piece = piece.replace(to_bytes(SPACE_MARK), b" ")
            piece = piece.removeprefix(b" ")
        if piece or not bare:
            yield entry.id, piece
