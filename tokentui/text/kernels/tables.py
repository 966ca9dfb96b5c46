"""Counts of words in flat arrays, and the tables of a split as kernels take them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tokentui.text.kernels import classes, rules, scan_count

PAD = bytes(16)
"""What kernels may read after the end of a text."""
_LEAST_BITS = 13


@dataclass(frozen=True, slots=True)
class Scanner:
    """A split in tables; the fields are in the order in which kernels take them."""

    rule: int
    folds: Any
    high: Any
    low: Any
    pairs: Any

    def border(self, text: bytes) -> int:
        """The first place, 0 excluded, where a text may be cut in two without a word changing; -1 where there is none."""
        place: int = scan_count.first_border(_bytes(text + PAD), len(text), self.high, self.low, self.pairs)
        return place


_TABLES = {"bert": classes.bert_table, "bert-runs": classes.bert_runs_table}


@functools.cache
def scanner(split: str) -> Scanner:
    """The scanner of one of `rules.SCANNED`, or of `bert-runs`: what stands between the white space that BERT keeps."""
    table = _TABLES.get(split, classes.letters_table)()
    rule = rules.WORD_RULES.get(split, rules.GPT4)
    folds = () if rule == rules.GPT2 else classes.folds()
    numbers = np.array(folds, np.int64).reshape(-1)
    numbers.flags.writeable = False
    return Scanner(rule, numbers, np.frombuffer(table.high, np.uint16), _bytes(table.low), _bytes(rules.pairs(split)))


def _bytes(data: bytes) -> Any:
    return np.frombuffer(data, np.uint8)


def _windows(data: Any) -> Any:
    """Eight bytes at each place, read as a number."""
    return np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))


@dataclass(frozen=True, slots=True)
class Counted:
    """Distinct words in order of first appearance, and how often each stands.

    Word n is `text[ends[n]:ends[n + 1]]`: UTF-8, a lone surrogate in three bytes. `ends` and `counts` are arrays of int64.
    """

    text: bytes
    ends: Any
    counts: Any

    def words(self) -> list[str]:
        """The words as text."""
        text = self.text.decode("utf-8", "surrogatepass")
        ends = self.ends
        if len(text) < len(self.text):  # places in characters: count those bytes that go not on with one
            starts = np.cumsum((_bytes(self.text) & 0xC0) != 0x80, dtype=np.int64)
            ends = np.concatenate((ends[:1], starts[ends[1:] - 1]))
        return [text[start:end] for start, end in pairwise(ends.tolist())]


class Table:
    """Counts that grow: the words so far and how often each came."""

    def __init__(self) -> None:
        self._bits = _LEAST_BITS
        self._slots = np.zeros(1 << self._bits, np.int32)
        self._rows = np.empty(1 << self._bits, np.uint64)
        self._ends = np.zeros((1 << self._bits - 2) + 2, np.int64)
        self._text = np.empty(16 << self._bits, np.uint8)
        self._used = np.zeros(1, np.int64)
        self._events = np.empty(scan_count.BLOCK + 2, np.int32)

    def count(self, texts: Sequence[bytes | memoryview], scanner: Scanner) -> None:
        """Count the words of texts."""
        data = _bytes(b"".join((*texts, PAD)))
        bounds = _bounds(texts)
        number = at = 0
        split = (scanner.rule, scanner.folds, scanner.high, scanner.low, scanner.pairs)
        while True:
            number, at = scan_count.count_texts(data, _windows(data), bounds, number, at, *split, self._events, *self._arrays())
            if number == len(texts):
                return
            self._grow(len(data))

    def add(self, other: Counted) -> None:
        """Count words that are counted already."""
        data = _bytes(other.text + PAD)
        number = 0
        while True:
            number = scan_count.add_words(data, _windows(data), other.ends, other.counts, number, *self._arrays())
            if number == len(other.counts):
                return
            self._grow(len(data))

    def result(self) -> Counted:
        """The counts as they stand, in arrays of their own."""
        number = int(self._used[0])
        ends = self._ends[: number + 1].copy()
        counts = self._rows[3 : 4 * number : 4].astype(np.int64)
        for array in (ends, counts):
            array.flags.writeable = False
        return Counted(self._text[: ends[-1]].tobytes(), ends, counts)

    def _arrays(self) -> tuple[Any, ...]:
        return self._slots, 64 - self._bits, self._rows, self._text, self._ends, self._used

    def _grow(self, longest: int) -> None:
        """Make room for one more word of so many bytes."""
        number = int(self._used[0])
        filled = int(self._ends[number])
        if filled + longest + len(PAD) > len(self._text):
            text = np.empty(2 * len(self._text) + longest, np.uint8)
            text[:filled] = self._text[:filled]
            self._text = text
        if 4 * number >= 1 << self._bits:
            self._bits += 2
            self._slots = np.zeros(1 << self._bits, np.int32)
            scan_count.fill_slots(number, self._rows, self._slots, 64 - self._bits)
            known, ends = np.empty(1 << self._bits, np.uint64), np.empty((1 << self._bits - 2) + 2, np.int64)
            known[: 4 * number], ends[: number + 1] = self._rows[: 4 * number], self._ends[: number + 1]
            self._rows, self._ends = known, ends


def _bounds(texts: Sequence[bytes | memoryview]) -> Any:
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    bounds.flags.writeable = False
    return bounds
