"""Encoding by the merges of a tokenizer that was read from a file: by rows of pairs, or by the rank of what a
pair spells.

A trained vocabulary makes each token in one way, and `Merging` replays that. A file may list a token under
several pairs, or list no pairs at all. So there are two ways here, which give the same for trained
vocabularies and may differ for others:

- `PairMerging`: the pair whose row comes first is merged first (Hugging Face, GPT-2, subword-nmt).
- `JoinedMerging`: two neighbours merge when what they spell together is a token, the best token first
(tiktoken, sentencepiece).
"""

from __future__ import annotations

import copy
import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from tokentui.core.jobs import check
from tokentui.encode.segment.parts import ASKED_EVERY, MergeStep, Part, RankedPair
from tokentui.encode.vocabulary import Vocabulary

_NONE = -1
"""The symbol of a unit that the vocabulary lacks, and of a place that was merged away: it joins nothing."""


class Cell(NamedTuple):
    """A symbol of a word before any merge (-1 for none); it covers the units `start` to `end`."""

    symbol: int
    start: int
    end: int


class RankedMerging:
    """The base of both ranked segmenters: a heap of (priority, place) over a linked list of cells.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count: one that makes a later token is passed over.
        whole: The token of a whole word, by its bytes; empty where merges decide alone.
        fallback: The symbols of the bytes that replace a unit which is no token; empty where none do.
        drop: True if a unit that is no token is left out before any merge, so that its neighbours meet.
        fused: True if a run of units that are no tokens is one, where some bytes have no symbol.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: int,
        *,
        whole: Mapping[bytes, int] | None = None,
        fallback: Mapping[int, int] | None = None,
        drop: bool = False,
        fused: bool = False,
    ) -> None:
        self._fused = fused
        self._vocabulary = vocabulary
        self._limit = vocabulary.base_size + merges
        self._complete = merges == len(vocabulary.merges)
        self._whole = whole or {}
        self._fallback = fallback or {}
        self._drop = drop

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts; a unit that the vocabulary lacks is a part of its own."""
        symbol = self._whole_word(units)
        if symbol is not None:
            return [Part(0, len(units), symbol)]
        cells = self._cells(units)
        symbols, ends, following = _laid_out(cells)
        for number, _ in enumerate(self._run(symbols, ends, following)):
            if number % ASKED_EVERY == 0:
                check()
        parts, at = [], 0
        while at < len(cells):
            symbol = symbols[at]
            parts.append(Part(cells[at].start, ends[at], None if symbol == _NONE else symbol))
            at = following[at]
        return parts

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[MergeStep]:
        """Each merge in the order applied; none for a word that is a token as it is."""
        if self._whole_word(units) is not None:
            return
        cells = self._cells(units)
        symbols, ends, following = _laid_out(cells)
        pieces, base = self._vocabulary.pieces, self._vocabulary.base_size
        for left, right, at, middle in self._run(symbols, ends, following):
            made = symbols[at]
            yield MergeStep(max(made - base, 0), pieces[left], pieces[right], pieces[made],
                            cells[at].start, cells[middle].start, ends[at])

    def with_limit(self, number: int, made: Sequence[int]) -> Self:
        """The same with so many merges."""
        other = copy.copy(self)
        other._limit = self._vocabulary.base_size + number
        other._complete = number == len(self._vocabulary.merges)
        return other

    def history(self, units: Sequence[bytes]) -> tuple[list[int], list[tuple[int, int, int]]]:
        """The symbols of a word before any merge (-1 for none), and its merges in the order of use.

        Each merge is (left, right, made). A word that is itself a token is merged too.
        """
        symbols, ends, following = _laid_out(self._cells(units))
        start = list(symbols)
        return start, [
            (left, right, symbols[at]) for left, right, at, _ in self._run(symbols, ends, following)
        ]

    def whole(self, units: Sequence[bytes]) -> int | None:
        """The token that a word is at once where all merges count, whatever merges would make of it."""
        return self._whole.get(b"".join(units)) if self._whole else None

    def in_order(self) -> int:
        """The number of tokens, from the first, that merge in the order of the vocabulary.

        Within these tokens, the steps with fewer of them are a prefix of the steps with more of them.
        """
        raise NotImplementedError

    def pairs(self) -> Iterator[RankedPair]:
        """All pairs that merge."""
        raise NotImplementedError

    def whole_words(self) -> Iterator[int]:
        """The tokens that a word becomes at once where it is spelled alike."""
        return (
            symbol
            for symbol in self._whole.values()
            if self._counts_whole(symbol, len(self._vocabulary.pieces[symbol]))
        )

    def _pair(self, left: int, right: int) -> tuple[int, int] | None:
        """(priority, symbol made) of two neighbours, None where they do not merge."""
        raise NotImplementedError

    def _pushed(self, left: int, right: int, made: int) -> None:
        """Told of each pair that may merge, in the order in which they are found."""

    def _whole_word(self, units: Sequence[bytes]) -> int | None:
        if not self._whole:
            return None
        symbol = self._whole.get(b"".join(units))
        return symbol if symbol is not None and self._counts_whole(symbol, len(units)) else None

    def _counts_whole(self, symbol: int, units: int) -> bool:
        """True if a token of so many units exists at this number of merges.

        A token of several units that no merge makes exists only once all merges count.
        """
        return symbol < self._limit and (self._complete or symbol >= self._vocabulary.base_size or units == 1)

    def _cells(self, units: Sequence[bytes]) -> list[Cell]:
        """The cells of a word before any merge.

        An unknown unit waits for the next token that is no byte, as in Hugging Face's library. The bytes of
        the units that follow it come first.
        """
        known = self._vocabulary.units
        cells: list[Cell] = []
        waiting: Cell | None = None
        for at, unit in enumerate(units):
            symbol = known.get(unit, _NONE)
            if symbol == _NONE and self._fallback:
                spelled = [self._fallback.get(value, _NONE) for value in unit]
                if _NONE not in spelled:
                    cells += [Cell(byte, at, at + 1) for byte in spelled]
                    continue
            if symbol == _NONE and self._drop:
                continue
            if waiting is not None and symbol == _NONE and self._fused:
                waiting = waiting._replace(end=at + 1)
                continue
            if waiting is not None:
                cells.append(waiting)
                waiting = None
            if symbol == _NONE and self._fallback:
                waiting = Cell(symbol, at, at + 1)
            else:
                cells.append(Cell(symbol, at, at + 1))
        return cells if waiting is None else [*cells, waiting]

    def _run(
        self, symbols: list[int], ends: list[int], following: list[int]
    ) -> Iterator[tuple[int, int, int, int]]:
        """Merge in place; yields (left, right, place, place of the right one) after each merge.

        A heap entry is stale when the two cells at its place now make another token, or none.
        """
        size, limit = len(symbols), self._limit
        before = list(range(-1, size - 1))
        pair = self._pair
        heap: list[tuple[int, int, int]] = []

        def push(at: int, right: int) -> None:
            if symbols[at] != _NONE and symbols[right] != _NONE:
                found = pair(symbols[at], symbols[right])
                if found is not None and found[1] < limit:
                    heapq.heappush(heap, (found[0], at, found[1]))
                    self._pushed(symbols[at], symbols[right], found[1])

        for at in range(size - 1):
            push(at, at + 1)
        while heap:
            _, at, made = heapq.heappop(heap)
            right = following[at]
            if symbols[at] == _NONE or right >= size or symbols[right] == _NONE:
                continue
            left_symbol, right_symbol = symbols[at], symbols[right]
            now = pair(left_symbol, right_symbol)
            if now is None or now[1] != made:
                continue
            symbols[at], symbols[right] = made, _NONE
            ends[at] = ends[right]
            beyond = following[at] = following[right]
            if beyond < size:
                before[beyond] = at
            # Both neighbours are looked at anew: the one behind and the one in front.
            if before[at] >= 0:
                push(before[at], at)
            if beyond < size:
                push(at, beyond)
            yield left_symbol, right_symbol, at, right


class PairMerging(RankedMerging):
    """Merges by rows of pairs: `rows` has, for `left * len(pieces) + right`, the row's rank; `makes` what a
    row makes."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: int,
        rows: Mapping[int, int],
        makes: Sequence[int],
        *,
        whole: Mapping[bytes, int] | None = None,
        fallback: Mapping[int, int] | None = None,
        drop: bool = False,
        fused: bool = False,
    ) -> None:
        super().__init__(vocabulary, merges, whole=whole, fallback=fallback, drop=drop, fused=fused)
        self._rows = rows
        self._makes = makes
        self._width = len(vocabulary.pieces)

    @property
    def makes(self) -> Sequence[int]:
        """The symbol that each row makes."""
        return self._makes

    def in_order(self) -> int:
        """The number of tokens, from the first, that merge in the order of the vocabulary."""
        back = min(
            (other for one, other in itertools.pairwise(self._makes) if one > other),
            default=len(self._vocabulary.pieces),
        )
        return max(0, back - self._vocabulary.base_size)

    def pairs(self) -> Iterator[RankedPair]:
        """All pairs that merge."""
        for key, row in self._rows.items():
            if self._makes[row] < self._limit:
                yield *divmod(key, self._width), row, self._makes[row]

    def _pair(self, left: int, right: int) -> tuple[int, int] | None:
        row = self._rows.get(left * self._width + right)
        return None if row is None else (row, self._makes[row])


class JoinedMerging(RankedMerging):
    """Merges by what a pair spells: `table` has the symbol of each token by its bytes, `order` its priority,
    least first."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: int,
        table: Mapping[bytes, int],
        order: Sequence[int] | None = None,
        *,
        whole: Mapping[bytes, int] | None = None,
        fallback: Mapping[int, int] | None = None,
        drop: bool = False,
    ) -> None:
        super().__init__(vocabulary, merges, whole=whole, fallback=fallback, drop=drop)
        self._table = table
        self._order = order
        self._pieces = vocabulary.pieces

    def in_order(self) -> int:
        """The number of tokens, from the first, that merge in the order of the vocabulary."""
        merges = len(self._vocabulary.merges)
        if self._order is None:
            return merges
        pairs = itertools.pairwise(self._order[self._vocabulary.base_size :])
        return next((at for at, (one, other) in enumerate(pairs) if one >= other), merges)

    def pairs(self) -> Iterator[RankedPair]:
        """All pairs that merge."""
        symbol_of, order = self._table.get, self._order
        ranks = {} if order is None else {priority: rank for rank, priority in enumerate(sorted(set(order)))}
        for piece, made in self._table.items():
            if made >= self._limit:
                continue
            rank = made if order is None else ranks[order[made]]
            for cut in range(1, len(piece)):
                left = symbol_of(piece[:cut])
                if left is not None and (right := symbol_of(piece[cut:])) is not None:
                    yield left, right, rank, made

    def _pair(self, left: int, right: int) -> tuple[int, int] | None:
        symbol = self._table.get(self._pieces[left] + self._pieces[right])
        if symbol is None:
            return None
        return (symbol if self._order is None else self._order[symbol]), symbol


def _laid_out(cells: Sequence[Cell]) -> tuple[list[int], list[int], list[int]]:
    """The symbol of each cell, the unit that it ends before, and the cell that follows it."""
    return [cell.symbol for cell in cells], [cell.end for cell in cells], list(range(1, len(cells) + 1))
