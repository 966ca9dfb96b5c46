"""Words with their ids in flat arrays, and the merges of a vocabulary as kernels take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tokentui.encode.kernels import words
from tokentui.text.kernels.tables import PAD, Counted, Scanner, Table, _bounds, _bytes, _windows

KEPT_WORDS = 1 << 20
"""With more words, or more bytes of them, what is known is forgotten: texts may be without end."""
KEPT_BYTES = 1 << 26


class Merges:
    """What bytes become, in tables. Nothing in it changes: threads may share it.

    Args:
        units: The symbol of each of the 256 bytes, -1 where it is none.
        pairs: Of each pair that merges left, right, rank, and the symbol that it makes. The least rank goes first; pairs of one
            rank make the same.
        numbered: The id of each symbol, of 32 bits.
        whole: The id of a word that is a token as it stands, whatever merges would make of it.
    """

    def __init__(self, units: Sequence[int], pairs: Iterable[int], numbered: Sequence[int], whole: Mapping[bytes, int]) -> None:
        columns = np.fromiter(pairs, np.int64).reshape(-1, 4)
        self._pairs = [np.ascontiguousarray(column) for column in columns.T]
        lefts, rights, ranks, made = self._pairs
        makes = np.zeros(int(ranks.max(initial=-1)) + 1, np.int64)
        makes[ranks] = made
        slots = np.empty(1 << (2 * len(ranks) + 1).bit_length(), np.uint64)
        given = [np.array(units, np.int64), makes, np.array(numbered, np.int64)]
        for array in (*self._pairs, *given):
            array.flags.writeable = False
        words.put_pairs(lefts, rights, ranks, slots)
        self.arrays = (given[0], slots, *given[1:])
        """In the order in which kernels take them."""
        self.start = Table()
        """The words that are known from the start: number n has the one id `whole[n]`."""
        self.whole = np.fromiter(whole.values(), np.int32, len(whole))
        counts = np.zeros(len(whole), np.int64)
        counts.flags.writeable = False
        self.start.add(Counted(b"".join(whole), _bounds(list(whole)), counts))

    def are_plain(self, lengths: Sequence[int]) -> bool:
        """Whether symbols and ranks fit into the tables, each rank makes one symbol, and that is as long as its parts.

        Args:
            lengths: That of each symbol.
        """
        lefts, rights, ranks, made = self._pairs
        long = np.array(lengths, np.int64)
        small = max(len(long), len(self.arrays[2])) < words.NONE
        return bool(small and (self.arrays[2][ranks] == made).all() and (long[lefts] + long[rights] == long[made]).all())


class Coded(Table):
    """Words so far, each with its ids.

    Args:
        merges: What encodes words; None where `word` does all.
        word: The ids of a word that `merges` leaves: of one with a lone surrogate, or with a byte that is no unit.
    """

    def __init__(self, merges: Merges | None, word: Callable[[str], Sequence[int]]) -> None:
        self._merges = merges
        self._word = word
        self._begin()

    def _begin(self) -> None:
        super().__init__()
        self._known = 0
        self._starts = np.zeros(2, np.int64)
        self._ids = np.empty(1 << 12, np.int32)
        self._room = np.empty(0, np.int64)
        self._numbers = np.empty(0, np.int32)
        self._out = np.empty(1 << 16, np.int32)
        if self._merges is not None:
            start, whole = self._merges.start, self._merges.whole
            self._bits = start._bits
            self._slots, self._rows, self._text = start._slots.copy(), start._rows.copy(), start._text.copy()
            self._ends, self._used = start._ends.copy(), start._used.copy()
            self._known = len(whole)
            self._starts = np.arange(len(whole) + 2, dtype=np.int64)
            self._ids = _longer(whole, len(whole), len(whole) + 2)
            words.note_ids(0, len(whole), self._starts, self._ids, self._rows)

    def encode(self, text: bytes, scanner: Scanner) -> Any:
        """The ids of a text: the bytes of numbers of 32 bits. They are to be copied before the next text."""
        data = _bytes(text + PAD)
        if len(self._numbers) <= len(text):
            self._numbers = np.empty(len(text) + 1, np.int32)
        split = (scanner.rule, scanner.folds, scanner.high, scanner.low, scanner.pairs)
        at = count = 0
        while True:
            at, count = words.number_words(
                data, _windows(data), len(text), at, self._numbers, count, *split, self._events, *self._arrays()
            )
            if at == len(text):
                break
            self._grow(len(data))
        self._encode_new()
        written = filled = 0
        while True:
            written, filled = words.write_ids(
                self._numbers, written, count, self._rows, self._starts, self._ids, self._out, filled
            )
            if written == count:
                break
            self._out = _longer(self._out, filled, 2 * len(self._out) + 2)
        out = self._out[:filled].view(np.uint8)
        if self._used[0] > KEPT_WORDS or self._ends[self._used[0]] > KEPT_BYTES:
            self._begin()
        return out

    def _encode_new(self) -> None:
        """Find the ids of the words that have none yet."""
        number, last = self._known, int(self._used[0])
        if number == last:
            return
        self._starts = _longer(self._starts, number + 1, last + 1)
        if self._merges is not None:
            filled = int(self._starts[number])
            self._ids = _longer(self._ids, filled, filled + int(self._ends[last] - self._ends[number]) + 1)
            longest = int((self._ends[number + 1 : last + 1] - self._ends[number:last]).max())
            if len(self._room) < 7 * longest:
                self._room = np.empty(7 * longest, np.int64)
        while number < last:
            if self._merges is not None:
                number = words.merge_words(
                    self._text, self._ends, number, last, self._room, self._starts, self._ids, *self._merges.arrays
                )
            if number < last:
                self._encode_one(number, last)
                number += 1
        words.note_ids(self._known, last, self._starts, self._ids, self._rows)
        self._known = last

    def _encode_one(self, number: int, last: int) -> None:
        """Find the ids of one word outside the kernels."""
        word = self._text[self._ends[number] : self._ends[number + 1]].tobytes().decode("utf-8", "surrogatepass")
        ids = self._word(word)
        filled = int(self._starts[number])
        # The words after it may need as much as they have bytes; and a word's second id is read where there is none.
        self._ids = _longer(self._ids, filled, filled + len(ids) + int(self._ends[last] - self._ends[number]) + 1)
        self._ids[filled : filled + len(ids)] = ids
        self._starts[number + 1] = filled + len(ids)


def _longer(array: Any, filled: int, size: int) -> Any:
    """An array of at least so many numbers that begins with those which are filled."""
    if size <= len(array):
        return array
    longer = np.empty(2 * size, array.dtype)
    longer[:filled] = array[:filled]
    return longer
