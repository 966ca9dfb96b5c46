"""Byte-pair encoding on one page: recount all pairs at each step, merge the best one, record it.

Every engine of the program is compared with this class, step by step. It shares no code with them. It is slow
and cannot go back.

>>> run = Naive(words=[[0, 1, 2], [0, 1]], weights=[1, 2], pieces=[b"h", b"u", b"g"], tie="first-seen")
>>> counts = run.counts()
>>> counts  # hu occurs in both words, ug in the first
Counter({(0, 1): 3, (1, 2): 1})
>>> run.merge(run.ranked(counts)[0]), run.words, run.pieces[-1]
(3, [[3, 2], [3]], b'hu')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

Pair = tuple[int, int]


@dataclass
class Naive:
    """A run of byte-pair encoding. Each merge makes a new symbol.

    Attributes:
        words: The distinct words, as symbols.
        weights: How often each word occurs.
        pieces: The exact bytes of each symbol.
        tie: The rule for pairs of the same count, a value of the axis `tie`.
        prefix: The number of bytes that a right part loses when it is joined, such as 2 for `##`.
        ids: The id of each symbol; by default its number.
        lengths: The units of each symbol.
        max_length: The most units of a token, None for no limit.
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
        """Return the count of each pair of neighbors, overlapping ones too, in order of first appearance."""
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
        """Return the bytes of the token that a pair makes."""
        return self.pieces[pair[0]] + self.pieces[pair[1]][self.prefix :]

    def ranked(self, counts: Counter[Pair]) -> list[Pair]:
        """Return the pairs, best first: the greatest count, then the tie rule."""
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
        """Merge a pair everywhere, from left to right without overlap. Return how many places were merged."""
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
        """Return the length of the corpus in tokens."""
        return sum(len(word) * weight for word, weight in zip(self.words, self.weights, strict=True))


@dataclass
class NaiveUnder(Naive):
    """Byte-pair encoding under what-ifs; see `tokentui.recipe.WhatIf`.

    Attributes:
        changes: The what-ifs, each as its step, its kind (`forbid`, `force` or `leave-out`), and its parts.
        left_out: The pair that each `leave-out` excludes, by its step.
        made: The number of steps so far.
    """

    changes: list[tuple[int, str, tuple[bytes, ...]]] = field(default_factory=list)
    left_out: dict[int, Pair] = field(default_factory=dict)
    made: int = 0

    def parts(self, pair: Pair) -> tuple[bytes, bytes]:
        """Return the bytes of both parts of a pair."""
        return self.pieces[pair[0]], self.pieces[pair[1]]

    def allowed(self, pair: Pair) -> bool:
        """Return whether the next step may merge a pair, unless a what-if forces it."""
        if self.parts(pair) in [self.parts(excluded) for excluded in self.left_out.values()]:
            return False
        return not any(
            what == "forbid" and step <= self.made + 1 and parts in (self.parts(pair), (self.join(pair),))
            for step, what, parts in self.changes
        )

    def counts(self) -> Counter[Pair]:
        """Return the counts of the pairs that may be merged."""
        counts = Counter({pair: count for pair, count in super().counts().items() if self.allowed(pair)})
        for step, what, _ in self.changes:
            if what == "leave-out" and step == self.made + 1 and step not in self.left_out and counts:
                self.left_out[step] = super().ranked(counts)[0]
                return self.counts()
        return counts

    def forced(self) -> tuple[Pair | None, int]:
        """Return the pair that the next step is forced to merge, if it occurs, with its count."""
        longest, self.max_length = self.max_length, None
        counts = super().counts()
        self.max_length = longest
        forced = [parts for step, what, parts in self.changes if (what, step) == ("force", self.made + 1)]
        pairs = ((pair, counts[pair]) for pair in super().ranked(counts) if self.parts(pair) in forced)
        return next(pairs, (None, 0))

    def ranked(self, counts: Counter[Pair]) -> list[Pair]:
        """Return the pairs, best first, after the forced one."""
        order, (forced, _) = super().ranked(counts), self.forced()
        return order if forced is None else [forced, *(pair for pair in order if pair != forced)]

    def merge(self, pair: Pair) -> int:
        replaced = super().merge(pair)
        self.made += 1
        return replaced


def lowest_rank_first(word: list[int], ranks: dict[Pair, int], base: int) -> list[int]:
    """Encode a word by merges: again and again, merge all places of the pair of the lowest rank.

    Args:
        word: The word, as symbols.
        ranks: The rank of each pair: the number of the step that merged it, less one.
        base: The symbol that rank 0 makes.
    """
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
