"""The corpus as flat cells: merging and unmerging a pair without searching and without hashing.

All distinct words lie in one array of cells, in order of first appearance, with a sentinel between words. A
token of n units covers n cells and its symbol is written into its first and its last cell, so a neighbour is
found by one look to either side and the neighbour's length. Each cell where a token starts holds the index of
the pair that starts there; 0 where the word ends; the complement of its last pair once it has been swallowed
by a merge.

All places of a pair are made in one step, the one that makes its younger symbol, and in text order; a pair's
count never grows after that. Pairs are numbered from 1 in the order they come to be, so undoing a step cuts
the pair table at the end.

Everything here is lists and loops: one merge costs a few operations a place, whatever the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise, repeat

from tokentui.core.jobs import in_blocks

BOUNDARY = -1
"""The symbol of the cell between two words, and of one inside a word that nothing merges with."""


class Cells:
    """The cells of a corpus, its pairs, and the log that undoes merges.

    Args:
        words: The symbols of each distinct word, in order of first appearance; BOUNDARY for a unit that is a
        barrier.
        weights: The weight of each word in the counts.
        units: The number of base symbols; each is one cell long.
    """

    __slots__ = (
        "counts", "left", "length", "listed", "log_left", "log_place", "pair_at", "places", "right", "starts",
        "symbols",
        "weights",
    )

    def __init__(self, words: Iterable[Iterable[int]], weights: Iterable[int], units: int) -> None:
        self.symbols: list[int] = [BOUNDARY]
        self.weights: list[int] = [0]
        self.starts: list[int] = []
        """The first cell of each word."""
        for word, weight in zip(words, weights, strict=True):
            self.starts.append(len(self.symbols))
            for part in in_blocks(word):
                self.symbols.extend(part)
            self.symbols.append(BOUNDARY)
            self.weights.extend(repeat(weight, len(self.symbols) - self.starts[-1]))
        self.length: list[int] = [1] * units
        """The number of cells that a symbol covers."""
        self.left: list[int] = [BOUNDARY]
        self.right: list[int] = [BOUNDARY]
        self.counts: list[int] = [0]
        self.places: list[list[int]] = [[]]
        """Where each pair came to stand, in text order; a place holds while `pair_at` says so."""
        self.listed = 0
        """The number of places of all pairs."""
        self.pair_at: list[int] = [0] * len(self.symbols)
        self.log_place: list[int] = []
        self.log_left: list[int] = []
        self._pair_up()

    def _pair_up(self) -> None:
        """Find the pairs of neighbouring units and count them, overlapping ones too."""
        found: dict[tuple[int, int], int] = {}
        for part in in_blocks(enumerate(pairwise(self.symbols))):
            for at, (left, right) in part:
                if left < 0 or right < 0:
                    continue
                pair = found.get((left, right))
                if pair is None:
                    found[left, right] = pair = self._new(left, right)
                self.counts[pair] += self.weights[at]
                self.places[pair].append(at)
                self.pair_at[at] = pair
        self.listed = sum(map(len, self.places))

    def _new(self, left: int, right: int) -> int:
        """Add a pair to the pair table. Returns its index."""
        self.left.append(left)
        self.right.append(right)
        self.counts.append(0)
        self.places.append([])
        return len(self.counts) - 1

    @property
    def memory(self) -> int:
        """The size of its numbers in bytes, eight bytes each."""
        flat = (
            self.symbols, self.weights, self.starts, self.pair_at, self.length, self.left, self.right,
            self.counts, self.log_place, self.log_left,
        )
        return 8 * (sum(map(len, flat)) + len(self.places) + self.listed)

    def merge(self, pair: int, token: int) -> tuple[int, list[int]]:
        """Merge every place of a pair, left to right, into a new symbol.

        Args:
            pair: The pair's index.
            token: The new symbol; its length is known or it is the next one.

        Returns:
            How many places were merged, by weight, and the older pairs that stood as often as this one and no
            longer do. Counts are up to date when it returns; the pair's own is 0.
        """
        symbols, pair_at, weights, length = self.symbols, self.pair_at, self.weights, self.length
        counts, places, log_place, log_left = self.counts, self.places, self.log_place, self.log_left
        # the new pair (symbol, token) of each symbol that stands before the token
        before: dict[int, int] = {}
        after: dict[int, int] = {}  # the new pair (token, symbol) of each symbol that stands after it
        offset = length[self.left[pair]]
        end = offset + length[self.right[pair]]
        if token == len(length):
            length.append(end)
        first_new = len(counts)
        count = counts[pair]
        counts[pair] = 0  # in a run such as "aaa" the places that overlap go with the pair
        fell: list[int] = []
        replaced = 0
        for start in places[pair]:
            if pair_at[start] != pair:
                continue
            weight = weights[start]
            replaced += weight
            old = 0
            neighbour = symbols[start - 1]
            if neighbour >= 0:
                at = start - length[neighbour]
                old = pair_at[at]
                if counts[old] == count and old < first_new:
                    fell.append(old)
                counts[old] -= weight
                new = before.get(neighbour)
                if new is None:
                    before[neighbour] = new = self._new(neighbour, token)
                counts[new] += weight
                places[new].append(at)
                pair_at[at] = new
            log_place.append(start)
            log_left.append(old)
            old = pair_at[start + offset]
            pair_at[start + offset] = ~old
            new = 0
            if old:
                if counts[old] == count and old < first_new:
                    fell.append(old)
                counts[old] -= weight
                neighbour = symbols[start + end]
                new = after.get(neighbour)
                if new is None:
                    after[neighbour] = new = self._new(token, neighbour)
                counts[new] += weight
                places[new].append(start)
            pair_at[start] = new
            symbols[start] = symbols[start + end - 1] = token
        counts[pair] = 0
        self.listed += sum(map(len, places[first_new:]))
        return replaced, fell

    def unmerge(self, pair: int, count: int, first_new: int, log_start: int) -> None:
        """Undo the last merge, exactly.

        Args:
            pair: The pair that was merged.
            count: Its count before the merge.
            first_new: The number of pairs before the merge.
            log_start: The length of the log before the merge.
        """
        symbols, pair_at, weights, length, counts = (
            self.symbols, self.pair_at, self.weights, self.length, self.counts,
        )
        log_place, log_left = self.log_place, self.log_left
        left, right = self.left[pair], self.right[pair]
        offset = length[left]
        last = offset + length[right] - 1
        for entry in range(len(log_place) - 1, log_start - 1, -1):
            start = log_place[entry]
            weight = weights[start]
            middle = start + offset
            old = ~pair_at[middle]
            pair_at[middle] = old
            if old and old != pair:
                counts[old] += weight
            old = log_left[entry]
            if old:
                pair_at[start - length[symbols[start - 1]]] = old
                if old < first_new:
                    counts[old] += weight
            pair_at[start] = pair
            symbols[start] = symbols[middle - 1] = left
            symbols[middle] = symbols[start + last] = right
        counts[pair] = count
        self.listed -= sum(map(len, self.places[first_new:]))
        del self.left[first_new:], self.right[first_new:], counts[first_new:], self.places[first_new:]
        del log_place[log_start:], log_left[log_start:]

    def changes(self, pair: int, first_new: int, log_start: int) -> dict[int, int]:
        """By how much the counts of other, older pairs fell in the last step, the merge of `pair`, from its
        log."""
        fell: dict[int, int] = {}
        offset = self.length[self.left[pair]]
        for start, left in zip(self.log_place[log_start:], self.log_left[log_start:], strict=True):
            weight = self.weights[start]
            for old in (left, ~self.pair_at[start + offset]):
                if 0 < old < first_new and old != pair:
                    fell[old] = fell.get(old, 0) + weight
        return fell

    def first_place(self, pair: int) -> int:
        """The first place of a pair that still holds, the end of the corpus if none does."""
        pair_at = self.pair_at
        return next((at for at in self.places[pair] if pair_at[at] == pair), len(self.symbols))

    def disjoint(self, pair: int) -> int:
        """The weight of the places of a pair that a merge replaces.

        A place that overlaps an earlier replaced one stays, and does not count.
        """
        if self.left[pair] != self.right[pair]:
            return self.counts[pair]
        size = self.length[self.left[pair]]
        replaced, free = 0, 0
        for at in self.places[pair]:
            if self.pair_at[at] == pair and at >= free:
                replaced += self.weights[at]
                free = at + 2 * size
        return replaced

    def word(self, index: int, first: int = 0, units: int | None = None) -> list[tuple[int, int]]:
        """Return the present tokens of a word in order, each as its first unit and its symbol.

        Args:
            index: The word.
            first: Start with the token that covers this unit.
            units: Stop after so many units; None goes on to the end.
        """
        start = self.starts[index]
        at, out = start + first, []
        symbols, length, pair_at = self.symbols, self.length, self.pair_at
        end = (self.starts[index + 1] if index + 1 < len(self.starts) else len(symbols)) - 1
        while pair_at[at] < 0:  # a cell inside a token: its first cell is to the left
            at -= 1
        stop = end if units is None else min(end, start + first + units)
        while at < stop:
            symbol = symbols[at]
            if symbol < 0:  # no token of the vocabulary stands here
                at += 1
                continue
            out.append((at - start, symbol))
            at += length[symbol]
        return out
