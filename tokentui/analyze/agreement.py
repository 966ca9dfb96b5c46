"""The agreement of encodings of one text: the boundaries that they share, and the stretches that they cut
differently.

A boundary is a place between two characters where a token ends and no token goes on. So tokens that share a
character have none between them, and text that a tokenizer drops (spaces, mostly) belongs to the token after
it, wherever others put the space.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tokentui.analyze.metrics import ratio
from tokentui.encode.offsets import Encoding
from tokentui.text.split import splitter


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


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two encodings as totals: those of several texts can be added.

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

    @property
    def exact(self) -> float | None:
        """The share of words cut alike."""
        return ratio(self.same_words, self.words)

    @property
    def precision(self) -> float | None:
        """The share of the second's boundaries that the first has."""
        return ratio(self.shared, self.boundaries_b)

    @property
    def recall(self) -> float | None:
        """The share of the first's boundaries that the second has."""
        return ratio(self.shared, self.boundaries_a)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall: the same in both directions."""
        return ratio(2 * self.shared, self.boundaries_a + self.boundaries_b)

    @property
    def token_ratio(self) -> float | None:
        """The tokens of the second for each of the first."""
        return ratio(self.tokens_b, self.tokens_a)

    def __add__(self, other: Agreement) -> Agreement:
        """Both texts together."""
        return Agreement(
            *(ours + theirs for ours, theirs in zip(self._totals(), other._totals(), strict=True))
        )

    def __mul__(self, times: int) -> Agreement:
        """The text so many times."""
        return Agreement(*(times * total for total in self._totals()))

    def _totals(self) -> tuple[int, ...]:
        return (
            self.tokens_a, self.tokens_b, self.boundaries_a, self.boundaries_b, self.shared, self.words,
            self.same_words
        )


@dataclass(frozen=True, slots=True)
class PairMeasure:
    """A measure of two tokenizers: one entry of `PAIR_MEASURES`.

    Attributes:
        name: Its name in rows for machines.
        title: Its name for people.
        formula: Its formula, with {a} and {b} for the letters of the two.
        of: Computes it; None where there is nothing to divide by.
    """

    name: str
    title: str
    formula: str
    of: Callable[[Agreement], float | None]


PAIR_MEASURES: tuple[PairMeasure, ...] = (
    PairMeasure("exact", "exact words", "words cut alike / words", lambda one: one.exact),
    PairMeasure(
        "precision", "precision", "boundaries of both / boundaries of {b}", lambda one: one.precision
    ),
    PairMeasure("recall", "recall", "boundaries of both / boundaries of {a}", lambda one: one.recall),
    PairMeasure("f1", "F1", "2 · boundaries of both / (those of {a} + those of {b})", lambda one: one.f1),
    PairMeasure("token_ratio", "token ratio", "tokens of {b} / tokens of {a}", lambda one: one.token_ratio),
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
        cut = {
            (size, one.touching(start, end), one.inside(start, end)) for one,
            size in zip(ways, sizes, strict=True)
        }
        if len(cut) > 1:
            yield Disagreement(start, end, tokens)


def _same_text(a: Cuts, b: Cuts) -> None:
    if a.length != b.length:
        raise ValueError(f"encodings of two texts, of {a.length} and {b.length} characters")
