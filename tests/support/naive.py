"""Byte-pair encoding in one screenful: recount every pair from scratch at each step. The judge of every
engine.

It shares nothing with the engine but the names of the axes. It is not fast and does not go back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

Pair = tuple[int, int]


@dataclass
class Naive:
    """A run of plain BPE over words given as symbols; a new merge makes a new symbol.

    `pieces` are the exact bytes of the symbols, `prefix` how many bytes a right part loses when it is joined.
    """

    words: list[list[int]]
    weights: list[int]
    pieces: list[bytes]
    tie: str
    prefix: int = 0
    ids: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    max_length: int | None = None

    def __post_init__(self) -> None:
        self.lengths = self.lengths or [1] * len(self.pieces)
        self.ids = self.ids or list(range(len(self.pieces)))

    def counts(self) -> Counter[Pair]:
        """Every pair of neighbours with its count, overlapping ones too, in order of first appearance."""
        counts: Counter[Pair] = Counter()
        for word, weight in zip(self.words, self.weights, strict=True):
            for pair in pairwise(word):
                counts[pair] += weight
        if self.max_length is not None:
            long = [
                pair for pair in counts if self.lengths[pair[0]] + self.lengths[pair[1]] > self.max_length
            ]
            for pair in long:
                del counts[pair]
        return counts

    def join(self, pair: Pair) -> bytes:
        return self.pieces[pair[0]] + self.pieces[pair[1]][self.prefix :]

    def ranked(self, counts: Counter[Pair]) -> list[Pair]:
        """The pairs, best first."""
        pieces, ids = self.pieces, self.ids
        order = list(counts)
        if self.tie == "largest-pair":
            order.sort(key=lambda pair: (pieces[pair[0]], pieces[pair[1]]), reverse=True)
        elif self.tie == "smallest-pair":
            order.sort(key=lambda pair: (pieces[pair[0]], pieces[pair[1]]))
        elif self.tie == "lowest-ids":
            order.sort(key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        elif self.tie == "shortest":
            order.sort(key=lambda pair: (self.lengths[pair[0]] + self.lengths[pair[1]], self.join(pair)))
        else:
            assert self.tie == "first-seen", f"write the order of tie={self.tie} here"
        return sorted(order, key=lambda pair: -counts[pair])

    def merge(self, pair: Pair) -> int:
        """Merge a pair everywhere, left to right, without overlap. Returns how many places there were."""
        new = len(self.pieces)
        self.pieces.append(self.join(pair))
        self.lengths.append(self.lengths[pair[0]] + self.lengths[pair[1]])
        self.ids.append(max(self.ids) + 1)
        replaced = 0
        for n, word in enumerate(self.words):
            out: list[int] = []
            at = 0
            while at < len(word):
                if at + 1 < len(word) and (word[at], word[at + 1]) == pair:
                    out.append(new)
                    replaced += self.weights[n]
                    at += 2
                else:
                    out.append(word[at])
                    at += 1
            self.words[n] = out
        return replaced

    def tokens(self) -> int:
        """The length of the corpus."""
        return sum(len(word) * weight for word, weight in zip(self.words, self.weights, strict=True))


@dataclass
class NaiveUnder(Naive):
    """The same under what-ifs: (step, what, parts) of each, `forbid`, `force` or `leave-out`."""

    changes: list[tuple[int, str, tuple[bytes, ...]]] = field(default_factory=list)
    left_out: dict[int, Pair] = field(default_factory=dict)
    made: int = 0

    def parts(self, pair: Pair) -> tuple[bytes, bytes]:
        return self.pieces[pair[0]], self.pieces[pair[1]]

    def allowed(self, pair: Pair) -> bool:
        """Whether the next step may merge a pair that no what-if forces."""
        if self.parts(pair) in [self.parts(one) for one in self.left_out.values()]:
            return False
        return not any(
            what == "forbid" and step <= self.made + 1 and parts in (self.parts(pair), (self.join(pair),))
            for step, what, parts in self.changes
        )

    def counts(self) -> Counter[Pair]:
        """The pairs that may be merged, with their counts."""
        counts = Counter({pair: count for pair, count in super().counts().items() if self.allowed(pair)})
        for step, what, _ in self.changes:
            if what == "leave-out" and step == self.made + 1 and step not in self.left_out and counts:
                self.left_out[step] = super().ranked(counts)[0]
                return self.counts()
        return counts

    def forced(self) -> tuple[Pair | None, int]:
        """The pair that the next step is forced to merge and that stands somewhere, with its count."""
        longest, self.max_length = self.max_length, None
        standing = super().counts()
        self.max_length = longest
        asked = [parts for step, what, parts in self.changes if (what, step) == ("force", self.made + 1)]
        found = ((pair, standing[pair]) for pair in super().ranked(standing) if self.parts(pair) in asked)
        return next(found, (None, 0))

    def ranked(self, counts: Counter[Pair]) -> list[Pair]:
        """The pairs, best first, but the forced one before all."""
        order, (forced, _) = super().ranked(counts), self.forced()
        return order if forced is None else [forced, *(pair for pair in order if pair != forced)]

    def merge(self, pair: Pair) -> int:
        replaced = super().merge(pair)
        self.made += 1
        return replaced


def lowest_rank_first(word: list[int], ranks: dict[Pair, int], base: int) -> list[int]:
    """Encode one word by its merges: the lowest rank there is, all places from the left, again and again."""
    while True:
        known: Iterable[Pair] = [pair for pair in pairwise(word) if pair in ranks]
        if not known:
            return word
        best = min(known, key=lambda pair: ranks[pair])
        out: list[int] = []
        at = 0
        while at < len(word):
            if at + 1 < len(word) and (word[at], word[at + 1]) == best:
                out.append(base + ranks[best])
                at += 2
            else:
                out.append(word[at])
                at += 1
        word = out
