"""Documents shared out to threads, each of which works through its run chunk by chunk.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

import concurrent.futures
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tokentui.core.jobs import tick
from tokentui.text.corpus import LongText

CHUNK_CHARS = 1 << 19
"""About how much text is worked on between two ticks of the job: some milliseconds."""
THREAD_CHARS = 1 << 19
"""A thread with less text would not be worth its start."""
MOST_THREADS = 4
"""Each has a table of its own, which has to be put together with the others in the end."""
WINDOW_CHARS = 1 << 8

Utf8 = Any
"""Bytes, or a view of some."""
Place = tuple[int, int]
"""A document by its number, and a character in it; in a long text a byte."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def threads_for(chars: int) -> int:
    """The number of threads that pay off for a text of so many characters on this machine."""
    return max(1, min(MOST_THREADS, os.cpu_count() or 1, chars // THREAD_CHARS))


class Shares:
    """Documents shared out in runs of equal length, each worked through by a thread.

    Args:
        documents: The documents.
        border: The first place, 0 excluded, where a text may be cut in two without a word changing; -1 where
            there is none.
        replaced: Whether lone surrogates are taken as U+FFFD.
        threads: How many runs.
    """

    def __init__(
        self,
        documents: Sequence[str | LongText],
        border: Callable[[bytes], int],
        replaced: bool,
        threads: int,
    ) -> None:
        self.threads = threads
        self._documents = documents
        self._border = border
        self._replaced = replaced
        self._sizes = list(map(size_of, documents))
        self._places = list(self._borders(threads))
        self._done = [0] * threads
        self._stop = threading.Event()

    def run(self, workers: Sequence[Callable[[list[Utf8]], object]]) -> None:
        """Work through all shares: the first here, each other in a thread of its own.

        Args:
            workers: One a share, called with its texts in order, a chunk at a time: UTF-8, a lone surrogate
                in three bytes.
        """
        total = sum(self._sizes)

        def look() -> None:
            tick(sum(self._done), total)

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
        """The first place from `at` on, 0 excluded, before which a document may be cut; its size where there
        is none."""
        size = size_of(document)
        start, stop, window = max(at - 1, 0), 0, WINDOW_CHARS
        while stop < size:
            stop = start + window
            if isinstance(document, LongText):
                start, stop = document.border(start), document.border(stop)
            data = bytes(self._utf8(document, start, stop))
            place = self._border(data)
            if place > 0:
                return start + (
                    place
                    if isinstance(document, LongText)
                    else len(data[:place].decode("utf-8", "surrogatepass"))
                )
            start = max(start, stop - 1)
            window *= 2
        return size


def size_of(document: str | LongText) -> int:
    """The length of a document in the unit of its places: characters, or bytes of a long text."""
    return document.size if isinstance(document, LongText) else len(document)
