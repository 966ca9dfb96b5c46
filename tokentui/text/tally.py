"""Add up counts of words: of the blocks of a part, of parts, and of more words than memory holds.

The order of first appearance is kept throughout. So counts that are joined in the order of the text equal one
count of the whole text.
"""

from __future__ import annotations

import heapq
import os
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from operator import itemgetter
from typing import TYPE_CHECKING

from tokentui.core import engines
from tokentui.core.errors import TokentuiError, shown, text_of
from tokentui.core.jobs import check, each, silent, tick
from tokentui.recipe import Recipe
from tokentui.text.blocks import PartReader, Remarks, TextPieces
from tokentui.text.corpus import Corpus, LazyDocuments
from tokentui.text.count import COVERED, Words, count, coverage
from tokentui.text.parts import FlatWords
from tokentui.text.plan import CountTask, Plan

if TYPE_CHECKING:
    from tokentui.text.kernels.count import Table

WORD_BYTES = 150
"""Estimated bytes of memory per distinct word in a dictionary, besides its text."""
TOGETHER = 8
"""Results of parts that are joined at once before they are stored: kernels do it faster than a dictionary."""
TEXT_BATCH = 4 << 20
"""Approximate characters of texts from an iterable that are counted at a time."""
TEXTS_HINT = "pass a list or a generator of str; a single text is texts=[text]"
_MOST_TEXTS = 1 << 16
_HEAD = struct.Struct("<IQQ")
_MOST_RUNS = 64
_SORTED = 1 << 20


class _PlainTable:
    """A growing table of words and their counts in plain Python; see `kernels.count.Table`."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, words: FlatWords) -> None:
        """Add counted words."""
        counts = self._counts
        for word, times in words.rows():
            counts[word] += times

    def result(self) -> FlatWords:
        """Return a copy of the counts."""
        return FlatWords.of(Words.of(self._counts))


def joined(results: Iterable[FlatWords]) -> FlatWords:
    """Return the joined words of neighboring parts, given in the order of the parts."""
    results = list(results)
    if engines.available():
        with engines.rescued():
            from tokentui.text.kernels.count import Table  # needs the kernels

            return _joined(Table(), results)
    return _joined(_PlainTable(), results)


def _joined(table: Table | _PlainTable, results: Iterable[FlatWords]) -> FlatWords:
    for words in results:
        check()
        table.add(words)
    return table.result()


class _Counting:
    """Counts what a reader passes on; see `blocks.Receiver`."""

    def __init__(self, table: Table | _PlainTable, recipe: Recipe, threads: int | None) -> None:
        self.table, self._recipe, self._threads = table, recipe, threads
        self.coverage = COVERED

    def texts(self, documents: TextPieces) -> None:
        """Count the words of documents into `table`, and add to `coverage` what the split leaves uncovered in
        them."""
        corpus = Corpus("", LazyDocuments(documents))
        words = count(corpus, self._recipe, threads=self._threads)
        self.coverage += coverage(corpus, self._recipe, words)
        self.table.add(FlatWords.of(words))

    def rows(self, rows: Iterable[tuple[str, int]]) -> None:
        """Add counted words."""
        counted: Counter[str] = Counter()
        for word, times in each(rows):
            counted[word] += times
        self.table.add(FlatWords.of(Words.of(counted)))


def count_part(
    part: CountTask, recipe: Recipe, reader: PartReader, threads: int | None = None
) -> tuple[FlatWords, Remarks]:
    """Count the pre-tokens of a part.

    Args:
        part: The part.
        recipe: The recipe, for its normalization and split.
        reader: Reads it.
        threads: As for `count`.

    Raises:
        TokentuiError: A file cannot be read, or the split's pattern takes too long.
        Cancelled: The job is cancelled.
    """
    # Standard input cannot be read again if a kernel fails later.
    if engines.available() and all(stretch.file.path is not None for stretch in part):
        with engines.rescued():
            from tokentui.text.kernels.count import Table  # needs the kernels

            return _count_part(Table(), part, recipe, reader, threads)
    return _count_part(_PlainTable(), part, recipe, reader, threads)


def _count_part(
    table: Table | _PlainTable, part: CountTask, recipe: Recipe, reader: PartReader,
    threads: int | None
) -> tuple[FlatWords, Remarks]:
    counting = _Counting(table, recipe, threads)
    noticed = reader.read(part, counting)
    noticed.coverage = counting.coverage
    return table.result(), noticed


def count_texts(texts: Iterable[str | bytes], recipe: Recipe) -> Words:
    """Count the pre-tokens of texts from an iterable. Each text is a document.

    Only the distinct words and a few megabytes of text are in memory at a time.

    Args:
        texts: The texts; bytes are UTF-8.
        recipe: The recipe; the count depends on its normalization and its split.

    The job reports its progress in characters, without a total.

    Raises:
        TokentuiError: An item is not a text, or the pattern of the split takes too long.
        Cancelled: The job is cancelled.
    """
    counted, done = list[FlatWords](), 0
    for batch in text_batches(texts):
        with silent():
            counted.append(FlatWords.of(count(Corpus("", batch), recipe)))
            if len(counted) == TOGETHER:
                counted = [joined(counted)]
        done += sum(map(len, batch))
        tick(done)
    return Words.of(joined(counted))


def text_batches(texts: Iterable[str | bytes]) -> Iterator[tuple[str, ...]]:
    """Yield the texts of an iterable in batches of about `TEXT_BATCH` characters.

    Raises:
        TokentuiError: It is not an iterable of texts.
    """
    if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        raise TokentuiError(f"expected an iterable of texts, not {shown(texts)}", "texts", TEXTS_HINT)
    batch, length = list[str](), 0
    for text in texts:
        checked = text_of(text, "texts")
        batch.append(checked if isinstance(checked, str) else checked.decode("utf-8", "surrogateescape"))
        length += len(batch[-1])
        if length >= TEXT_BATCH or len(batch) == _MOST_TEXTS:
            yield tuple(batch)
            batch, length = [], 0
    if batch:
        yield tuple(batch)


def count_here(planned: Plan, recipe: Recipe, field: str, store: Store) -> Remarks:
    """Count a corpus in this process, part by part.

    Args:
        planned: The corpus in parts.
        recipe: The recipe, for its normalization and split.
        field: As for `read`.
        store: Receives the words.

    The job reports its progress in bytes of the files.

    Raises:
        TokentuiError: A file cannot be read, or the split's pattern takes too long.
        Cancelled: The job is cancelled.
    """
    reader, noticed, waiting = PartReader(recipe, field), Remarks(), list[FlatWords]()
    for part in planned.parts:
        tick(noticed.read, planned.size)
        with silent():
            packed, more = count_part(part, recipe, reader)
            waiting.append(packed)
            if len(waiting) == TOGETHER or sum(packed.size for packed in waiting) > store.most:
                store.add(joined(waiting))
                waiting = []
        noticed.add(more)
    store.add(joined(waiting))
    return noticed


# ---- more words than memory holds


Record = tuple[bytes, int, int]
"""A word, its index in the order of first appearance, and its count."""


class Store:
    """All distinct words of a corpus. Above `most` bytes, sorted runs are written to disk and merged at the
    end.

    Use it as a context manager: it deletes its files.

    Args:
        most: The approximate bytes of words to keep in memory.

    Attributes:
        most: The same.
        spilled: The folder of files on disk; empty if all words are in memory.
        words: The number of distinct words, known after `rows` is exhausted.
        occurrences: The number of words, repeated ones included.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._counts: dict[str, int] = {}
        self._size, self._base, self._files = 0, 0, 0
        self._runs: list[str] = []
        self._stack = ExitStack()
        self.spilled = ""
        self.words = self.occurrences = 0

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, packed: FlatWords) -> None:
        """Add the words of the next part of the text.

        Writes the words to disk if there are too many bytes.
        """
        counts, before = self._counts, len(self._counts)
        self._size += len(packed.text)  # at most: some of it is there already
        for word, times in each(packed.rows()):
            counts[word] = counts.get(word, 0) + times
            self.occurrences += times
        self._size += (len(counts) - before) * WORD_BYTES
        if self._size > self.most and self._exact() > self.most:
            self._spill()

    def _exact(self) -> int:
        """Measure the size of the counts anew, and return it. `add` only estimates it."""
        self._size = sum(map(len, self._counts)) + len(self._counts) * WORD_BYTES
        return self._size

    def rows(self, top: int | None = None) -> Iterator[tuple[str, int]]:
        """Yield the words and their counts, in order of first appearance. To be called once, after all `add`.

        Args:
            top: Yield only this many words: the most frequent ones, of equal counts the earlier ones; None
                for all.
        """
        if not self._runs:
            self.words = len(self._counts)
            if top is None or top >= self.words:
                yield from self._counts.items()
                return
            numbered = enumerate(self._counts.items())
            best = heapq.nsmallest(top, each(numbered), key=lambda row: (-row[1][1], row[0]))
            yield from (row for _, row in sorted(best))
            return
        if self._counts:
            self._spill()
        merged = self._merged()
        if top is not None:
            best_records = heapq.nsmallest(top, merged, key=lambda record: (-record[2], record[1]))
            ordered: Iterable[Record] = sorted(best_records, key=itemgetter(1))
        else:
            ordered = self._in_order(merged)
        for word, _, times in ordered:
            yield word.decode("utf-8", "surrogatepass"), times

    def _merged(self) -> Iterator[Record]:
        """Yield the words of all runs, sorted, each once, and count them in `words`.

        Too many runs are first merged into fewer files.
        """
        while len(self._runs) > _MOST_RUNS:
            first, self._runs = self._runs[:_MOST_RUNS], self._runs[_MOST_RUNS:]
            self._runs.append(self._write(_once(map(_read, first))))
            for path in first:
                os.unlink(path)
        for record in each(_once(map(_read, self._runs))):
            self.words += 1
            yield record

    def _in_order(self, records: Iterator[Record]) -> Iterator[Record]:
        """Return an iterator of records in the order of first appearance, after sorting all of them on
        disk."""
        runs, batch = list[str](), list[Record]()
        for record in records:
            batch.append(record)
            if len(batch) >= max(1, min(_SORTED, self.most // WORD_BYTES)):
                runs.append(self._write(sorted(batch, key=itemgetter(1))))
                batch = []
        runs.append(self._write(sorted(batch, key=itemgetter(1))))
        while len(runs) > _MOST_RUNS:
            first, runs = runs[:_MOST_RUNS], runs[_MOST_RUNS:]
            runs.append(self._write(heapq.merge(*map(_read, first), key=itemgetter(1))))
            for path in first:
                os.unlink(path)
        return heapq.merge(*map(_read, runs), key=itemgetter(1))

    def _spill(self) -> None:
        """Write the words in memory to disk as a sorted run, and remove them from memory."""
        words = enumerate(self._counts.items(), self._base)
        records = sorted(
            (word.encode("utf-8", "surrogatepass"), place, times) for place, (word, times) in words
        )
        self._base += len(self._counts)
        self._counts, self._size = {}, 0
        self._runs.append(self._write(records))

    def _write(self, records: Iterable[Record]) -> str:
        """Write records to a new file and return its path. The folder is made with the first one.

        It goes with the store.
        """
        if not self.spilled:
            import tempfile  # few corpora have more words than memory takes

            self.spilled = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tokentui-count-"))
        self._files += 1
        path = os.path.join(self.spilled, str(self._files))
        with open(path, "wb") as file:
            for word, place, times in each(records):
                file.write(_HEAD.pack(len(word), place, times) + word)
        return path


def _read(path: str) -> Iterator[Record]:
    with open(path, "rb") as file:
        while head := file.read(_HEAD.size):
            length, place, times = _HEAD.unpack(head)
            yield file.read(length), place, times


def _once(runs: Iterable[Iterator[Record]]) -> Iterator[Record]:
    """Merge sorted records. The counts of a word are added, and its first index is kept."""
    last: Record | None = None
    for record in heapq.merge(*runs):
        if last is not None and last[0] == record[0]:
            last = (last[0], min(last[1], record[1]), last[2] + record[2])
            continue
        if last is not None:
            yield last
        last = record
    if last is not None:
        yield last
