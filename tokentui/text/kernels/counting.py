"""Count the words of documents with kernels, in threads.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

import concurrent.futures
import functools
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tokentui.core.errors import Cancelled
from tokentui.recipe import Recipe
from tokentui.text.counted import CountedWords
from tokentui.text.kernels.rules import RUNS, SCANNED, is_bert, is_shaped, is_spaced
from tokentui.text.kernels.spaced import count_spaced
from tokentui.text.kernels.tables import Counted, Scanner, Table, scanner
from tokentui.text.longtext import LongText

CHUNK_CHARS = 1 << 19
"""About how much text is counted between two looks at the clock: some milliseconds."""
THREAD_CHARS = 1 << 19
"""A thread with less text would not be worth its start."""
MOST_THREADS = 4
"""Each has a table of its own, which has to be put together with the others in the end."""
WINDOW_CHARS = 1 << 8

Progress = Callable[[int, int], object]
Cancel = Callable[[], bool]
Utf8 = Any
"""Bytes, or a view of some."""
Place = tuple[int, int]
"""A document by its number, and a character in it; in a long text a byte."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def count_words(
    documents: Sequence[str | LongText],
    recipe: Recipe,
    words: Callable[[str], list[str]],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> tuple[Sequence[str], list[int]] | None:
    """Count the pre-tokens of documents, if there is a scanner for this recipe.

    Args:
        documents: The texts.
        recipe: Its axes normalize, split and unit are looked at.
        words: The words of a text, normalised and split: asked where BERT's normalisation has to be applied, once for each
            distinct run between white space.
        threads: How many share the work; by default as the text and the machine have it.
        progress: Told (done, total) in characters; of a long text in bytes.
        cancel: Asked between chunks; true raises `Cancelled`.

    Returns:
        The distinct words in order of first appearance and their counts; None for a recipe that has no scanner.
    """
    if is_spaced(recipe):
        return count_spaced(documents, words, count, threads=threads, progress=progress, cancel=cancel)
    if recipe.split not in SCANNED or is_shaped(recipe):
        return None
    if not recipe.normalize:
        replaced = recipe.unit != "byte"
        counted = count(documents, recipe.split, replaced=replaced, threads=threads, progress=progress, cancel=cancel)
        return CountedWords(counted), counted.counts.tolist()
    if not is_bert(recipe):
        return None
    runs = count(documents, RUNS, threads=threads, progress=progress, cancel=cancel)
    counts: dict[str, int] = {}
    # A word first appears in the first of the runs that have it, so the order of the runs gives that of the words.
    for number, (run, times) in enumerate(zip(runs.words(), runs.counts.tolist(), strict=True)):
        if number % 4096 == 0 and cancel is not None and cancel():
            raise Cancelled
        for word in words(run):
            counts[word] = counts.get(word, 0) + times
    return list(counts), list(counts.values())


def count(
    documents: Sequence[str | LongText],
    split: str,
    *,
    replaced: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Counted:
    """Count the words of documents as they are.

    Args:
        documents: The texts.
        split: One of `SCANNED`.
        replaced: Whether lone surrogates are taken as U+FFFD.
        threads, progress, cancel: As for `count_words`.
    """
    total = sum(map(_size, documents))
    shares = Shares(documents, scanner(split), replaced, threads or threads_for(total))
    tables = [Table() for _ in range(shares.threads)]
    shares.run([functools.partial(table.count, scanner=scanner(split)) for table in tables], progress, cancel)
    for table in tables[1:]:
        tables[0].add(table.result())
    return tables[0].result()


def threads_for(chars: int) -> int:
    """How many threads are worth it for so much text on this machine."""
    return max(1, min(MOST_THREADS, os.cpu_count() or 1, chars // THREAD_CHARS))


class Shares:
    """Documents shared out in runs of equal length, each worked through by a thread."""

    def __init__(self, documents: Sequence[str | LongText], scanner: Scanner, replaced: bool, threads: int) -> None:
        self.threads = threads
        self._documents = documents
        self._scanner = scanner
        self._replaced = replaced
        self._sizes = list(map(_size, documents))
        self._places = list(self._borders(threads))
        self._done = [0] * threads
        self._stop = threading.Event()

    def run(
        self, workers: Sequence[Callable[[list[Utf8]], object]], progress: Progress | None = None, cancel: Cancel | None = None
    ) -> None:
        """Work through all shares: the first here, each other in a thread of its own.

        Args:
            workers: One a share, called with its texts in order, a chunk at a time: UTF-8, a lone surrogate in three bytes.
            progress, cancel: As for `count_words`.
        """
        total = sum(self._sizes)

        def look() -> None:
            if cancel is not None and cancel():
                raise Cancelled
            if progress is not None:
                progress(sum(self._done), total)

        look()
        others = range(1, self.threads)
        with concurrent.futures.ThreadPoolExecutor(max(1, len(others))) as pool:
            try:
                waiting = [pool.submit(self._work, workers[number], number) for number in others]
                for _ in self._chunks(workers[0], 0):
                    look()
                while concurrent.futures.wait(waiting, timeout=0.05).not_done:
                    look()
            except BaseException:
                self._stop.set()
                raise
        for share in waiting:
            share.result()
        if others:
            look()

    def _work(self, worker: Callable[[list[Utf8]], object], number: int) -> None:
        for _ in self._chunks(worker, number):
            if self._stop.is_set():
                break

    def _chunks(self, worker: Callable[[list[Utf8]], object], number: int) -> Iterator[None]:
        """Work through a share chunk by chunk."""
        texts: list[Utf8] = []
        size = 0
        for document, start, stop in self._pieces(self._places[number], self._places[number + 1]):
            texts.append(self._utf8(document, start, stop))
            size += stop - start
            if size >= CHUNK_CHARS:
                worker(texts)
                self._done[number] += size
                texts, size = [], 0
                yield
        worker(texts)
        self._done[number] += size
        yield

    def _utf8(self, document: str | LongText, start: int, stop: int) -> Utf8:
        """A part of a document as kernels take it."""
        if isinstance(document, LongText):
            return document.utf8(start, stop)
        text = document[start:stop]
        if self._replaced and not text.isascii():
            text = _SURROGATE.sub("\ufffd", text)
        return text.encode("utf-8", "surrogatepass")

    def _pieces(self, here: Place, end: Place) -> Iterator[tuple[str | LongText, int, int]]:
        """The parts of documents between two places, long ones cut where that changes no word."""
        while here < end:
            number, start = here
            document, size = self._documents[number], self._sizes[number]
            stop = end[1] if number == end[0] else size
            if stop - start > 2 * CHUNK_CHARS:
                stop = min(stop, self._safe_cut(document, start + CHUNK_CHARS))
            yield document, start, stop
            here = (number, stop) if stop < size else (number + 1, 0)

    def _borders(self, parts: int) -> Iterator[Place]:
        """Where the shares begin, and the end."""
        yield 0, 0
        wanted = [sum(self._sizes) * part // parts for part in range(1, parts)]
        before = 0
        for number, (document, size) in enumerate(zip(self._documents, self._sizes, strict=True)):
            while wanted and wanted[0] < before + size:
                cut = self._safe_cut(document, wanted.pop(0) - before)
                yield (number, cut) if cut < size else (number + 1, 0)
            before += size
        yield from [(len(self._documents), 0)] * (len(wanted) + 1)

    def _safe_cut(self, document: str | LongText, at: int) -> int:
        """The first place from `at` on, 0 excluded, before which a document may be cut; its size where there is none."""
        size = _size(document)
        start, stop, window = max(at - 1, 0), 0, WINDOW_CHARS
        while stop < size:
            stop = start + window
            if isinstance(document, LongText):
                start, stop = document.border(start), document.border(stop)
            data = bytes(self._utf8(document, start, stop))
            place = self._scanner.border(data)
            if place > 0:
                return start + (place if isinstance(document, LongText) else len(data[:place].decode("utf-8", "surrogatepass")))
            start = max(start, stop - 1)
            window *= 2
        return size


def _size(document: str | LongText) -> int:
    """How long a document is, in that in which its places are given: characters, of a long text bytes."""
    return document.size if isinstance(document, LongText) else len(document)
