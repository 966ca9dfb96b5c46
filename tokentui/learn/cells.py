"""The corpus as flat cells: merging and unmerging a pair without searching and without hashing.

All distinct words lie in one array of cells, in order of first appearance, with a sentinel between words. A token of n units
covers n cells and its symbol is written into its first and its last cell, so a neighbour is found by one look to either side
and the neighbour's length. Each cell where a token starts holds the index of the pair that starts there; 0 where the word ends;
the complement of its last pair once it has been swallowed by a merge.

All places of a pair are made in one step, the one that makes its younger symbol, and in text order; a pair's count never
grows after that. Pairs are numbered from 1 in the order they come to be, so undoing a step cuts the pair table at the end.

Everything here is lists and loops: one merge costs a few operations a place, whatever the size of the corpus.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from tokentui.core import jobs
from tokentui.core.jobs import check, in_blocks

BOUNDARY = -1
"""The symbol of the cell between two words, and of one inside a word that nothing merges with."""


class Cells:
    """The cells of a corpus, its pairs, and the log that undoes merges.

    Args:
        words: The symbols of each distinct word, in order of first appearance; BOUNDARY for a unit that is a barrier.
        weights: The weight of each word in the counts.
        units: The number of base symbols; each is one cell long.
    """

    __slots__ = (
        "counts", "left", "length", "listed", "log_left", "log_place", "newest_after", "newest_before", "pair_at", "places",
        "right", "starts", "symbols", "weights",
    )

    def __init__(self, words: Iterable[Sequence[int]], weights: Iterable[int], units: int) -> None:
        self.symbols: list[int] = [BOUNDARY]
        self.weights: list[int] = [0]
        self.starts: list[int] = []
        """The first cell of each word."""
        many, size = 0, jobs.BLOCK
        for word, weight in zip(words, weights, strict=True):
            self.starts.append(len(self.symbols))
            many += len(word) + 1
            if many > size:  # long words, or many short ones: the job can be cancelled here
                check()
                many = 0
            if len(word) <= size:
                self.symbols.extend(word)
                self.weights.extend([weight] * (len(word) + 1))
            else:
                for start in range(0, len(word), size):
                    check()
                    part = word[start : start + size]
                    self.symbols.extend(part)
                    self.weights.extend([weight] * len(part))
                self.weights.append(weight)
            self.symbols.append(BOUNDARY)
        self.length: list[int] = [1] * units
        """The number of cells that a symbol covers."""
        self.left: list[int] = [BOUNDARY]
        self.right: list[int] = [BOUNDARY]
        self.counts: list[int] = [0]
        self.places: list[list[int]] = [[]]
        """Where each pair came to stand, in text order; a place holds while `pair_at` says so."""
        self.pair_at: list[int] = []
        for start in range(0, len(self.symbols), size):
            check()
            self.pair_at += [0] * min(size, len(self.symbols) - start)
        self.log_place: list[int] = []
        self.log_left: list[int] = []
        # Of each symbol the newest pair that holds it on its left and on its right: of use within one merge.
        self.newest_before: list[int] = [0] * units
        self.newest_after: list[int] = [0] * units
        self.listed = array("q", [0])
        """The number of places of all pairs before each pair, filled as far as `memory` has asked for it."""
        self._pair_up()

    def _pair_up(self) -> None:
        """Find the pairs of neighbouring units and count them, overlapping ones too."""
        found: dict[tuple[int, int], int] = {}
        symbols, weights, pair_at, counts, places = self.symbols, self.weights, self.pair_at, self.counts, self.places
        for part in in_blocks(enumerate(pairwise(symbols))):
            for at, pair in part:
                if pair[0] < 0 or pair[1] < 0:
                    continue
                index = found.get(pair)
                if index is None:
                    found[pair] = index = len(counts)
                    self.left.append(pair[0])
                    self.right.append(pair[1])
                    counts.append(0)
                    places.append([])
                counts[index] += weights[at]
                places[index].append(at)
                pair_at[at] = index

    @property
    def memory(self) -> int:
        """The size of its numbers in bytes, eight bytes each."""
        listed, places = self.listed, self.places
        del listed[len(places) :]
        for pair in range(len(listed), len(places)):
            listed.append(listed[-1] + len(places[pair]))
        flat = (
            self.symbols, self.weights, self.starts, self.pair_at, self.length, self.left, self.right, self.counts,
            self.log_place, self.log_left, self.newest_before, self.newest_after,
        )
        return 8 * (sum(map(len, flat)) + len(places) + listed[-1])

    def merge(self, pair: int, token: int) -> tuple[int, list[int]]:
        """Merge every place of a pair, left to right, into a new symbol.

        Args:
            pair: The pair's index.
            token: The new symbol; its length is known or it is the next one.

        Returns:
            How many places were merged, by weight, and the older pairs that stood as often as this one and no longer do. Counts
            are up to date when it returns; the pair's own is 0.
        """
        symbols, pair_at, weights, length = self.symbols, self.pair_at, self.weights, self.length
        lefts, rights, counts, places = self.left, self.right, self.counts, self.places
        before, after = self.newest_before, self.newest_after
        log_place, log_left = self.log_place, self.log_left
        offset = length[lefts[pair]]
        end = offset + length[rights[pair]]
        last = end - 1
        if token == len(length):
            length.append(end)
        if token == len(before):
            before.append(0)
            after.append(0)
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
            log_place.append(start)
            neighbour = symbols[start - 1]
            if neighbour >= 0:
                at = start - length[neighbour]
                old = pair_at[at]
                log_left.append(old)
                was = counts[old]
                if was == count and old < first_new:
                    fell.append(old)
                counts[old] = was - weight
                new = before[neighbour]
                if new < first_new:
                    before[neighbour] = new = len(counts)
                    lefts.append(neighbour)
                    rights.append(token)
                    counts.append(weight)
                    places.append([at])
                else:
                    counts[new] += weight
                    places[new].append(at)
                pair_at[at] = new
            else:
                log_left.append(0)
            middle = start + offset
            old = pair_at[middle]
            pair_at[middle] = ~old
            if old:
                was = counts[old]
                if was == count and old < first_new:
                    fell.append(old)
                counts[old] = was - weight
                neighbour = symbols[start + end]
                new = after[neighbour]
                if new < first_new:
                    after[neighbour] = new = len(counts)
                    lefts.append(token)
                    rights.append(neighbour)
                    counts.append(weight)
                    places.append([start])
                else:
                    counts[new] += weight
                    places[new].append(start)
                pair_at[start] = new
            else:
                pair_at[start] = 0
            symbols[start] = symbols[start + last] = token
        counts[pair] = 0
        return replaced, fell

    def unmerge(self, pair: int, count: int, first_new: int, log_start: int) -> None:
        """Undo the last merge, exactly.

        Args:
            pair: The pair that was merged.
            count: Its count before the merge.
            first_new: The number of pairs before the merge.
            log_start: The length of the log before the merge.
        """
        symbols, pair_at, weights, length, counts = self.symbols, self.pair_at, self.weights, self.length, self.counts
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
        # The numbers of the pairs that go are given again: nothing may seem to be one of theirs.
        for symbol in self.left[first_new:]:
            self.newest_before[symbol] = 0
        for symbol in self.right[first_new:]:
            self.newest_after[symbol] = 0
        del self.left[first_new:], self.right[first_new:], counts[first_new:], self.places[first_new:]
        del log_place[log_start:], log_left[log_start:]

    def changes(self, pair: int, first_new: int, log_start: int) -> dict[int, int]:
        """By how much the counts of other, older pairs fell in the last step, the merge of `pair`, from its log."""
        fell: dict[int, int] = {}
        offset = self.length[self.left[pair]]
        for start, left in zip(self.log_place[log_start:], self.log_left[log_start:], strict=True):
            weight = self.weights[start]
            for old in (left, ~self.pair_at[start + offset]):
                if 0 < old < first_new and old != pair:
                    fell[old] = fell.get(old, 0) + weight
        return fell

    def first_place(self, pair: int, head: int = 0) -> int:
        """The index in `places` of the first place that still holds, `len(places[pair])` if none does."""
        pair_at, places = self.pair_at, self.places[pair]
        while head < len(places) and pair_at[places[head]] != pair:
            head += 1
        return head

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


def mapped(word: Sequence[bytes], symbol_of: Mapping[bytes, int]) -> list[int]:
    """Return the symbols of a long word's units. The job can be cancelled between two blocks of units."""
    symbols: list[int] = []
    for part in jobs.in_blocks(word):
        symbols.extend(map(symbol_of.__getitem__, part))
    return symbols
