"""Encoding by merges: the pair of lowest rank merges first; of equal ranks, the leftmost.

A trained vocabulary makes each token from one pair. A file may list a token under several pairs, or list no
pairs at all. The classes differ in the rank of a pair, and agree for trained vocabularies:

- `Merging`: the number of the merge.
- `PairMerging`: the row of the pair in the file (Hugging Face, GPT-2, subword-nmt).
- `JoinedMerging`: the rank of the token that the pair spells (tiktoken, sentencepiece).
- `PieceMerging`: as `JoinedMerging`, with pieces that never merge and pieces that are split again
  (sentencepiece).

`by_length` merges in another order than that of the ranks.
"""

from __future__ import annotations

import copy
import functools
import heapq
import itertools
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import gt, lt
from typing import Any, NamedTuple, Protocol, Self

from tokentui.core.jobs import check, each
from tokentui.encode.segment import ASKED_EVERY, AppliedMerge, LimitedTable, RankedPair, WordPart, in_bytes
from tokentui.encode.vocabulary import Vocabulary

NONE = -1
"""The symbol of an unknown unit, and of a cell that was merged into its left neighbor. It merges with
nothing."""

Cells = tuple[list[int], Sequence[int], list[int]]
"""A word before any merge: the symbol of each cell, its first unit, and the unit after it."""
PairLookup = Callable[[int, int], tuple[int, int] | None]
"""Returns the rank of two neighbors and the symbol that they make, or None if they do not merge."""
MergeLoop = Callable[
    [list[int], Sequence[int], list[int], list[int], PairLookup], Iterator[tuple[int, int, int, int]]
]
"""Merges the cells of a word in place. Arguments: the symbol of each cell, its first unit, the unit after it,
and the next cell; see `merge_cells`."""
CellMerge = tuple[int, int, int, int, int]
"""A merge of two cells of a word: (left symbol, right symbol, result, left cell, right cell)."""


class PairTable(NamedTuple):
    """The pairs that merge, in flat arrays for kernels.

    Attributes:
        keys: Each pair, as `left * width + right`, where `width` is the number of pieces.
        ranks: The rank of each pair.
        makes: The result of each rank.
        limit: A pair counts only if both parts and the result are below it.
        tied: The results of ranks with several results, whose pairs are left out.
    """

    keys: array[int]
    ranks: array[int]
    makes: array[int]
    limit: int
    tied: frozenset[int] = frozenset()


def merge_cells(
    symbols: list[int], ends: list[int], following: list[int], merged: PairLookup
) -> Iterator[tuple[int, int, int, int]]:
    """Merge the cells of a word in place. Yield (left symbol, right symbol, left cell, right cell) after each
    merge.

    A heap entry is stale if the two cells at its place now have another rank, or none.

    Args:
        symbols: The symbol of each cell.
        ends: The unit after each cell.
        following: The next cell after each cell.
        merged: Returns the rank of two neighbors and the symbol that they make; None if they do not merge.
    """
    size = len(symbols)
    before = list(range(-1, size - 1))
    ranks: list[int | None] = [None] * size
    makes, heap = [0] * size, list[int]()
    fresh = list(itertools.pairwise(range(size)))
    while True:
        for at, right in fresh:
            ranks[at] = None
            if symbols[at] != NONE and symbols[right] != NONE:
                merge = merged(symbols[at], symbols[right])
                if merge is not None:
                    ranks[at], makes[at] = merge
                    heapq.heappush(heap, merge[0] * size + at)
        while heap and ranks[heap[0] % size] != heap[0] // size:
            heapq.heappop(heap)
        if not heap:
            return
        at = heapq.heappop(heap) % size
        right, left_symbol = following[at], symbols[at]
        right_symbol = symbols[right]
        symbols[at], symbols[right] = makes[at], NONE
        ranks[at] = ranks[right] = None
        ends[at] = ends[right]
        beyond = following[at] = following[right]
        # Both new pairs need a rank: the one before and the one after.
        fresh = [(before[at], at)] if before[at] >= 0 else []
        if beyond < size:
            before[beyond] = at
            fresh.append((at, beyond))
        yield left_symbol, right_symbol, at, right


def in_order(
    symbols: list[int], starts: Sequence[int], ends: list[int], following: list[int], merged: PairLookup
) -> Iterator[tuple[int, int, int, int]]:
    """Merge without dropout; see `merge_cells`."""
    return merge_cells(symbols, ends, following, merged)


class Merging:
    """Merges by the merges of a vocabulary.

    It uses a heap of (rank, place) and a linked list of cells: a word of n units takes O(n log n).

    Args:
        vocabulary: The vocabulary.
        merges: How many of its merges count. Later merges are ignored.
        whole: The symbols of words that are tokens without merging, by their bytes; empty if merges alone
            decide.
        fallback: The symbols of the byte-fallback tokens that replace an unknown unit, by byte; empty for
            none.
        drop: True if an unknown unit is dropped before merging, so that its neighbors meet.
        fused: True if a run of unknown units is one part, where some of their bytes have no symbol.

    >>> from tokentui.recipe import Recipe
    >>> vocabulary = Vocabulary(Recipe(split="whitespace", unit="char"), [b"g", b"h", b"u"])
    >>> vocabulary.extend([(2, 0), (1, 3)], [15, 10])  # ug, hug
    >>> spans = Merging(vocabulary, 1).segment([b"h", b"u", b"g"], 3)
    >>> [(part.start, part.end, part.symbol) for part in spans]
    [(0, 1, 1), (1, 3, 3)]
    >>> [step.result for step in Merging(vocabulary, 2).steps([b"h", b"u", b"g"], 3)]
    [b'ug', b'hug']
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, *, whole: Mapping[bytes, int] | None = None,
        fallback: Mapping[int, int] | None = None, drop: bool = False, fused: bool = False,
    ) -> None:
        self._vocabulary, self._base, self._ranks = vocabulary, vocabulary.base_size, vocabulary.ranks
        self._whole, self._fallback = whole or {}, fallback or {}
        self._drop, self._fused = drop, fused
        self.run: MergeLoop = in_order
        self._merges, self._limit, self._known = merges, self._base + merges, vocabulary.known_units(merges)

    def _merged(self, left: int, right: int) -> tuple[int, int] | None:
        """Return the rank of two neighbors and the symbol that they make, or None if they do not merge."""
        rank = self._ranks.get((left, right))
        return None if rank is None or rank >= self._merges else (rank, self._base + rank)

    def pairs(self) -> Iterator[RankedPair]:
        """Yield all pairs that merge at this number of merges."""
        for rank, (left, right) in enumerate(self._vocabulary.merges[: self._merges]):
            yield left, right, rank, self._base + rank

    def pair_table(self) -> PairTable:
        """Return the pairs of `pairs` as arrays."""
        width, size = len(self._vocabulary.pieces), self._base + self._merges
        keys = [left * width + right for left, right in self._vocabulary.merges[: self._merges]]
        return PairTable(
            array("q", keys), array("q", range(len(keys))), array("q", range(self._base, size)), size
        )

    @property
    def plain(self) -> bool:
        """True if the only thing done to a word of known units is to merge all pairs."""
        return True

    @property
    def makes_whole_words(self) -> bool:
        """True if some words are tokens without merging."""
        return bool(self._whole)

    @property
    def byte_symbols(self) -> Mapping[int, int]:
        """The symbols of the byte-fallback tokens that replace an unknown unit, by byte; empty for none."""
        return self._fallback

    def characters(self) -> dict[str, int]:
        """Return the symbol of each character that is a unit; -1 for one that is no token, but merges."""
        found: dict[str, int] = {}
        for unit, symbol in each(self._known.items()):
            text = unit.decode("utf-8", "replace")
            if len(text) == 1 and text.encode() == unit:
                found[text] = symbol
        return found

    @property
    def spelled(self) -> Callable[[bytes], tuple[int, int] | None] | None:
        """A function that returns the rank and symbol of a spelling, if the spelling of neighbors decides;
        None if pairs decide."""
        return None

    @property
    def frozen(self) -> Collection[int]:
        """The symbols that merge with nothing."""
        return ()

    @property
    def ordered(self) -> bool | None:
        """True if all tokens merge in the order of the vocabulary: the merges of a word with fewer tokens are
        a prefix of its merges with more tokens. False if that depends on the word, see `history`; None if the
        merges of a word do not tell."""
        return True

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts. Each unknown unit is a part by itself."""
        symbol = self._whole_word(units) if self._whole else None
        if symbol is not None:
            return [WordPart(0, len(units), symbol)]
        symbols, starts, ends = self._cells(units)
        following = list(range(1, len(symbols) + 1))
        for number, _ in enumerate(self.run(symbols, starts, ends, following, self._merged)):
            if number % ASKED_EVERY == 0:
                check()
        parts, at = [], 0
        while at < len(symbols):
            parts.append(WordPart(starts[at], ends[at], None if symbols[at] == NONE else symbols[at]))
            at = following[at]
        return parts

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[AppliedMerge]:
        """Yield each merge in the order applied; none for a word that is a token without merging."""
        if self._whole_word(units) is not None:
            return
        symbols, starts, ends = self._cells(units)
        pieces = self._vocabulary.pieces
        following = list(range(1, len(symbols) + 1))
        for left, right, at, middle in merge_cells(symbols, ends, following, self._merged):
            result = symbols[at]
            places = starts[at], starts[middle], ends[at]
            yield AppliedMerge(self._rank(result), pieces[left], pieces[right], pieces[result], *places)

    def _rank(self, symbol: int) -> int:
        """Return the number of the merge that makes a token, 0 for the first."""
        return max(symbol - self._base, 0)

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter for another number of merges. A vocabulary without merges limits whole words to
        those in use at a step."""
        other = copy.copy(self)
        if self._vocabulary.merges:
            # `_known` stays: merges change only the units of Gage's compression, which gets a new encoder
            other._merges, other._limit = step, self._base + step
        else:
            other._whole = LimitedTable(self._whole, step, first_steps)
        return other

    def history(
        self, units: Sequence[bytes], met: set[tuple[int, int]] | None = None
    ) -> tuple[list[int], Sequence[int], list[CellMerge]]:
        """Return the cells of a word before any merge, and its merges in the order applied.

        A word that is a token without merging is merged too.

        Args:
            units: The units of the word.
            met: Receives the rank and the result of each pair that meets on the way, merged or not. If the
                results are in the order of the ranks, and the merges in that of their results, the merges
                with fewer tokens are a prefix of these: with fewer tokens no pair comes before one of them.

        Returns:
            The symbol of each cell (-1 for an unknown unit), the first unit of each, and the merges.
        """
        symbols, starts, ends = self._cells(units)
        first, merged = symbols.copy(), self._merged

        def noted(left: int, right: int) -> tuple[int, int] | None:
            if (merge := merged(left, right)) is not None:
                met.add(merge)  # type: ignore[union-attr]
            return merge

        run = merge_cells(
            symbols, ends, list(range(1, len(symbols) + 1)), merged if met is None else noted
        )
        return first, starts, [(left, right, symbols[at], at, middle) for left, right, at, middle in run]

    def whole(self, units: Sequence[bytes]) -> int | None:
        """Return the token that equals the whole word, or None, whether or not it exists at this number of
        merges.

        None unless the file makes whole words tokens without merging. Once all merges count, the token takes
        precedence over merging.
        """
        return self._whole.get(b"".join(units)) if self._whole else None

    def whole_words(self) -> Iterator[int]:
        """Yield the tokens that words with their spelling become without merging."""
        pieces = self._vocabulary.pieces
        return (symbol for symbol in self._whole.values() if self._counts_whole(symbol, len(pieces[symbol])))

    def at_once(self, word: bytes, units: int) -> int | None:
        """Return the token that a word becomes without merging at this number of merges, or None.

        Args:
            word: The bytes of the word.
            units: The number of its units.
        """
        symbol = self.whole((word,))
        return symbol if symbol is not None and self._counts_whole(symbol, units) else None

    def cells_of(self, unit: bytes) -> list[int]:
        """Return the symbols of a unit before any merge: its own, those of its bytes, or -1; empty if it is
        dropped."""
        return self._cells((unit,))[0]

    def _whole_word(self, units: Sequence[bytes]) -> int | None:
        return self.at_once(b"".join(units), len(units)) if self._whole else None

    def _counts_whole(self, symbol: int, units: int) -> bool:
        """Return whether a token of several units exists at this number of merges.

        A token of several units that no merge makes exists only once all merges count.
        """
        complete = self._merges == len(self._vocabulary.merges)
        return symbol < self._limit and (complete or symbol >= self._base or units == 1)

    def _cells(self, units: Sequence[bytes]) -> Cells:
        """Return the cells of a word before any merge.

        As in Hugging Face's library, an unknown unit is inserted before the next token that is not a byte.
        The bytes of units after it come first.
        """
        known, fallback = self._known, self._fallback
        if not fallback and not self._drop:
            size = len(units)
            return [known.get(unit, NONE) for unit in units], range(size), list(range(1, size + 1))
        cells: list[tuple[int, int, int]] = []
        waiting: list[tuple[int, int, int]] = []
        for at, unit in enumerate(units):
            symbol = known.get(unit, NONE)
            if symbol == NONE:
                spelled = [fallback.get(value, NONE) for value in unit]
                if NONE not in spelled:
                    cells += [(byte, at, at + 1) for byte in spelled]
                elif self._drop:
                    continue
                elif waiting and self._fused:
                    waiting = [(NONE, waiting[0][1], at + 1)]
                else:
                    cells += waiting
                    waiting = [(NONE, at, at + 1)]
            else:
                cells += [*waiting, (symbol, at, at + 1)]
                waiting = []
        cells += waiting
        return (
            [symbol for symbol, _, _ in cells], [start for _, start, _ in cells],
            [end for _, _, end in cells],
        )


class LaterRows(Protocol):
    """Rows of pairs that are computed when they are asked for."""

    def __call__(self) -> Mapping[int, int]:
        """Return the rank of each pair."""
        ...

    @property
    def row_of(self) -> Callable[[int], int | None]:
        """Returns the rank of a pair, or None."""
        ...

    def listed(self) -> tuple[array[int], array[int]]:
        """Return pairs and their ranks. Of equal pairs the first one counts."""
        ...


class PairMerging(Merging):
    """Merges by rows of pairs from a file.

    Args:
        vocabulary, merges, more: As for `Merging`.
        rows: The rank of each pair, by the key `left * len(pieces) + right`, or what returns it.
        makes: The symbol that each row makes.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, rows: Mapping[int, int] | LaterRows,
        makes: Sequence[int], **more: Any,
    ) -> None:
        super().__init__(vocabulary, merges, **more)
        self._given = rows
        self.makes, self._width = makes, len(vocabulary.pieces)

    @functools.cached_property
    def _rows(self) -> Mapping[int, int]:
        """The rank of each pair, for all pairs at once."""
        return self._given if isinstance(self._given, Mapping) else self._given()

    @functools.cached_property
    def _row_of(self) -> Callable[[int], int | None]:
        return self._given.get if isinstance(self._given, Mapping) else self._given.row_of

    def _merged(self, left: int, right: int) -> tuple[int, int] | None:
        row = self._row_of(left * self._width + right)
        return None if row is None or self.makes[row] >= self._limit else (row, self.makes[row])

    def pairs(self) -> Iterator[RankedPair]:
        """Yield the pairs that merge. Parts and result are in use at this number of merges. A file may list a
        second pair for an early token whose parts come later."""
        for key, row in self._rows.items():
            left, right = divmod(key, self._width)
            if max(left, right, self.makes[row]) < self._limit:
                yield left, right, row, self.makes[row]

    def pair_table(self) -> PairTable:
        """Return the pairs of `pairs` as arrays, and those that are not in use yet."""
        if isinstance(self._given, Mapping):
            keys, ranks = array("q", self._given), array("q", self._given.values())
        else:
            keys, ranks = self._given.listed()
        makes = array("q", self.makes)
        check()
        return PairTable(keys, ranks, makes, self._limit)

    @functools.cached_property
    def ordered(self) -> bool:
        """True if the rows make the tokens in their order."""
        return not any(map(gt, self.makes, itertools.islice(self.makes, 1, None)))


class JoinedMerging(Merging):
    """Merges by what a pair spells.

    Args:
        vocabulary, merges, more: As for `Merging`.
        table: The symbol of each token by its bytes.
        order: The rank of each symbol; None if it is the symbol itself.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, table: Mapping[bytes, int],
        order: Sequence[int] | None = None, **more: Any,
    ) -> None:
        super().__init__(vocabulary, merges, **more)
        self._table, self._order, self._pieces = table, order, vocabulary.pieces

    @property
    def spelled(self) -> Callable[[bytes], tuple[int, int] | None]:
        """A function that returns the rank and the symbol of the token that neighbors spell."""
        return self._ranked

    def _ranked(self, piece: bytes) -> tuple[int, int] | None:
        symbol = self._table.get(piece)
        if symbol is None or symbol >= self._limit:
            return None
        return symbol if self._order is None else self._order[symbol], symbol

    def _merged(self, left: int, right: int) -> tuple[int, int] | None:
        return self._ranked(self._pieces[left] + self._pieces[right])

    def pairs(self) -> Iterator[RankedPair]:
        """Yield the pairs that merge. Parts and result are in use at this number of merges."""
        symbol_of, order = self._table.get, self._order
        ranks = {} if order is None else {priority: rank for rank, priority in enumerate(sorted(set(order)))}
        for piece, result in self._table.items():
            if result >= self._limit:
                continue
            rank = result if order is None else ranks[order[result]]
            for cut in range(1, len(piece)):
                left, right = symbol_of(piece[:cut]), symbol_of(piece[cut:])
                if left is not None and right is not None and max(left, right) < self._limit:
                    yield left, right, rank, result

    def pair_table(self) -> PairTable:
        """Return the pairs of `pairs` as arrays, and those that are not in use yet."""
        from tokentui.encode.kernels.spelling import spelled_pairs  # kernels are available

        keys, made = spelled_pairs(self._table, len(self._pieces))
        results, order = sorted(set(made)), self._order
        rank_of = range(len(self._pieces)) if order is None else order
        if order is not None and max(order, default=0) >= len(order):
            ranks_ = {priority: rank for rank, priority in enumerate(sorted(set(order)))}
            rank_of = [ranks_[priority] for priority in order]
        made_by: dict[int, int] = {}
        used = [result for result in results if result < self._limit]
        tied = {rank_of[result] for result in used if made_by.setdefault(rank_of[result], result) != result}
        left_out = frozenset(result for result in used if rank_of[result] in tied)
        if left_out or self._limit < len(self._pieces):
            kept = [
                n for n, result in enumerate(made) if result < self._limit and result not in left_out
            ]
            keys, made = (array("q", [values[n] for n in kept]) for values in (keys, made))
        makes = array("q", bytes(8 * (max(map(rank_of.__getitem__, results), default=-1) + 1)))
        for result in reversed(results):
            makes[rank_of[result]] = made_by.get(rank_of[result], result)
        ranks = array("q", map(rank_of.__getitem__, made))
        return PairTable(keys, ranks, makes, self._limit, left_out)

    @functools.cached_property
    def ordered(self) -> bool | None:
        """True if the ranks of the tokens that merges make ascend."""
        order = () if self._order is None else self._order[self._base :]
        return all(map(lt, order, itertools.islice(order, 1, None)))


class PieceMerging(JoinedMerging):
    """Merges neighbors that spell a piece, the best piece first.

    Args:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
        table: The symbol of each piece by its bytes.
        order: The rank of each symbol.
        frozen: Symbols that merge with nothing (user-defined pieces).
        unused: Symbols that are split again into the pair that they were last merged from.
        hidden: Symbols of characters that are not pieces. They merge, and are unknown if they remain.
        bytes_: The symbol of each byte-fallback token by its byte.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, *, table: Mapping[bytes, int],
        order: Sequence[int] | None = None, frozen: Collection[int] = (), unused: Collection[int] = (),
        hidden: Collection[int] = (), bytes_: Mapping[int, int],
    ) -> None:
        super().__init__(vocabulary, merges, table, order)
        self._frozen, self._unused, self._hidden, self._bytes = frozen, unused, hidden, bytes_
        self._made_from: dict[int, tuple[int, int]] = {}

    @functools.cached_property
    def ordered(self) -> bool | None:
        """None if some pieces are never output."""
        return None if self._unused else super().ordered

    @property
    def plain(self) -> bool:
        """False if some pieces are never output and are split again."""
        return not self._unused

    @property
    def byte_symbols(self) -> Mapping[int, int]:
        """The symbol of each byte-fallback token by its byte."""
        return self._bytes

    def characters(self) -> dict[str, int]:
        """Return the symbol of each character that is a piece; -1 for one that is none, but merges."""
        found = super().characters()
        return {text: NONE if symbol in self._hidden else symbol for text, symbol in found.items()}

    def pair_table(self) -> PairTable:
        """Return the pairs of `pairs` as arrays."""
        table, frozen, width = super().pair_table(), self._frozen, len(self._pieces)
        if not frozen:
            return table
        kept = [
            n for n, key in enumerate(table.keys) if key // width not in frozen and key % width not in frozen
        ]
        return table._replace(
            keys=array("q", [table.keys[n] for n in kept]), ranks=array("q", [table.ranks[n] for n in kept])
        )

    @property
    def frozen(self) -> Collection[int]:
        """The symbols that merge with nothing: user-defined pieces."""
        return self._frozen

    def pairs(self) -> Iterator[RankedPair]:
        """Yield all pairs that merge."""
        frozen = self._frozen
        return (pair for pair in super().pairs() if pair[0] not in frozen and pair[1] not in frozen)

    def cells_of(self, unit: bytes) -> list[int]:
        """Return `Merging.cells_of`, but -1 for a character that is not a piece and still merges.

        An unknown unit is replaced by its bytes if their pieces merge with nothing.
        """
        cells = [NONE if symbol in self._hidden else symbol for symbol in super().cells_of(unit)]
        if unit in self._known:
            return cells
        spelled = [self._bytes.get(value, NONE) for value in unit]
        merge = any(self._table.get(self._pieces[byte]) == byte for byte in spelled if byte != NONE)
        return cells if merge or NONE in spelled else spelled

    def history(
        self, units: Sequence[bytes], met: set[tuple[int, int]] | None = None
    ) -> tuple[list[int], Sequence[int], list[CellMerge]]:
        """Return `Merging.history`, but -1 for a character that stays unknown."""
        first, starts, merges = super().history(units, met)
        return [-1 if symbol in self._hidden else symbol for symbol in first], starts, merges

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts."""
        alone = copy.copy(self)
        alone._made_from = {}  # threads may share a segmenter
        out: list[WordPart] = []
        waiting = super(PieceMerging, alone).segment(units, characters)[::-1]
        while waiting:
            part = waiting.pop()
            pair = None if part.symbol is None else alone._made_from.get(part.symbol)
            if pair is not None:  # a piece that is not used is cut again
                length, middle = len(self._pieces[pair[0]]), part.start
                while length > 0:
                    length -= len(units[middle])
                    middle += 1
                waiting += [WordPart(middle, part.end, pair[1]), WordPart(part.start, middle, pair[0])]
                continue
            out.append(part._replace(symbol=None) if part.symbol in self._hidden else part)
        return in_bytes(out, units, self._bytes)

    def _merged(self, left: int, right: int) -> tuple[int, int] | None:
        """Return the rank and the result of a merge; None for none, or for a frozen part.

        Notes the parts of a result that is no token, so that it can be taken apart.
        """
        merge = None if left in self._frozen or right in self._frozen else super()._merged(left, right)
        if merge is not None and merge[1] in self._unused:
            self._made_from[merge[1]] = left, right
        return merge
