"""Count the pre-tokens of a corpus: each distinct word once, in order of first appearance, with how often it
stands.

Large corpora are cut at places where no split looks across and counted chunk by chunk, so that the work can
be watched, stopped, shown before it is whole, and shared with other processes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokentui.core import children, jit, limits
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus, LongText, safe_cut
from tokentui.text.pretokenize import Pretokenizer, cut_key

CHUNK_CHARS = 1 << 16
"""About how much text is counted between two looks at the clock: some milliseconds."""
PARALLEL_CHARS = 4_000_000
"""A smaller corpus is counted here before other processes have started."""
START_CHARS = 1_000_000
"""About how much is counted here while another process starts and gets its share."""
_POLL_S = 0.05

Chunk = tuple[str, bool]
"""A text, and whether a document starts with it."""


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct pre-tokens of a corpus in order of first appearance, and how often each stands."""

    words: Sequence[str]
    counts: Sequence[int]

    @property
    def occurrences(self) -> int:
        """The number of pre-tokens of the corpus, repeated ones included."""
        return sum(self.counts)


def chunks(
    documents: Sequence[str | LongText], pretokenizer: Pretokenizer, size: int = CHUNK_CHARS
) -> Iterator[Chunk]:
    """The documents, long ones cut where that changes no word."""
    for document in documents:
        start = 0
        while len(document) - start > 2 * size:
            cut = safe_cut(document, start + size, pretokenizer.safe_cut)
            if cut >= len(document):
                break
            yield document[start:cut], start == 0
            start = cut
        if start < len(document):
            yield document[start:], start == 0


def count_steps(corpus: Corpus, recipe: Recipe) -> Iterator[tuple[int, int, Counter[str]]]:
    """Count chunk by chunk.

    Yields:
        (done, total, counts): characters counted, characters in all, and the counts so far (one object, which
        grows).
    """
    counts: Counter[str] = Counter()
    if corpus.counts is not None:
        for word, times in corpus.counts:
            counts[word] += times
        yield len(corpus.counts), len(corpus.counts), counts
        return
    total = corpus.characters
    pretokenizer = Pretokenizer(recipe)
    done = 0
    yield 0, total, counts
    for text, first in chunks(corpus.texts, pretokenizer):
        check()
        counts.update(pretokenizer.words(text, first=first))
        done += len(text)
        yield done, total, counts


def count(corpus: Corpus, recipe: Recipe, *, processes: int | None = None) -> Words:
    """Count the pre-tokens of a corpus: by kernels where they are loaded and know the split, else in plain
    Python.

    Args:
        corpus: What to count; a corpus of word counts is taken as it is.
        recipe: Its normalisation and split are used.
        processes: How many processes share the work; by default two where the corpus is large and the machine
            has them.

    Progress of the job is told in characters.

    Raises:
        TokentuiError: The split's pattern takes too long; it says on which text.
        Cancelled: The job is cancelled.
    """
    if processes is None and corpus.counts is None and jit.ready(corpus.characters):
        from tokentui.text.kernels.count import count_words  # needs the kernels

        found = count_words(corpus.texts, recipe, Pretokenizer(recipe).words)
        if found is not None:
            return Words(found[0], tuple(found[1]))
    if processes is None:
        large = corpus.counts is None and corpus.characters >= PARALLEL_CHARS
        processes = min(2, os.cpu_count() or 1) if large else 1
    if processes > 1 and corpus.counts is None:
        counts = _count_shared(corpus, recipe, processes)
    else:
        counts = Counter()
        for done, total, so_far in count_steps(corpus, recipe):
            counts = so_far
            tick(done, total)
    return words_of(counts)


class WordCounts:
    """The counts of one corpus: each way to cut it into words is counted once, for all recipes that cut
    alike.

    Threads may share it. One that asks for words that another thread counts waits for them.

    Args:
        corpus: The corpus.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._found: dict[Hashable, Words] = {}
        self._locks: dict[Hashable, threading.Lock] = {}

    def of(self, recipe: Recipe) -> Words:
        """Return the words of the corpus under a recipe, and count them if need be.

        Raises:
            TokentuiError: The split's pattern takes too long.
            Cancelled: The job is cancelled.
        """
        key = cut_key(recipe)
        lock = self._locks.setdefault(key, threading.Lock())
        while not lock.acquire(timeout=_POLL_S):
            check()
        try:
            if key not in self._found:
                self._found[key] = count(self._corpus, recipe)
            return self._found[key]
        finally:
            lock.release()


def words_of(counts: Counter[str]) -> Words:
    """The counts as they stand now, as a value."""
    return Words(tuple(counts), tuple(counts.values()))


def _count_shared(corpus: Corpus, recipe: Recipe, processes: int) -> Counter[str]:
    """Share the chunks out: this process takes the first ones, others a run of equal size each."""
    pretokenizer = Pretokenizer(recipe)
    parts = list(chunks(corpus.texts, pretokenizer))
    total = sum(len(text) for text, _ in parts)
    share = max(1, max(total // 2, total - START_CHARS) // processes)
    runs: list[list[Chunk]] = [[] for _ in range(processes)]
    left = total
    for part in parts:
        runs[max(0, processes - 1 - (left - 1) // share)].append(part)
        left -= len(part[0])
    here = sum(len(text) for text, _ in runs[0])
    others = [CountingProcess(recipe, run) for run in runs[1:] if run]
    try:
        counts: Counter[str] = Counter()
        done = 0
        for text, first in runs[0]:
            counts.update(pretokenizer.words(text, first=first))
            done += len(text)
            tick(done * total // here, total)
        for other in others:
            for word, times in other.result().items():
                counts[word] += times
    finally:
        for other in others:
            other.stop()
    tick(total, total)
    return counts


class CountingProcess:
    """A process that counts a share of a corpus.

    A plain child process with pipes of its own, because a pool of `multiprocessing` cannot start inside a
    running Textual app (it hands the child the file number of a standard error that has none). What goes
    through the pipes is JSON, which can be nothing but data, but for the texts of a task, which follow it as
    they are.

    Args:
        recipe: Whose normalisation and split are used.
        chunks: The texts to count, and of each whether a document starts with it.
    """

    def __init__(self, recipe: Recipe, chunks: Sequence[Chunk]) -> None:
        self._answer = b""
        self._process = subprocess.Popen(
            children.command("tokentui.text.count"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=children.surroundings(),
            cwd=children.FOLDER,
        )
        texts = [text.encode("utf-8", "surrogatepass") for text, _ in chunks]
        sizes = [(len(data), first) for data, (_, first) in zip(texts, chunks, strict=True)]
        head = json.dumps((recipe.to_dict() | recipe.shape, sizes, limits.now().pattern_seconds)).encode()
        task = b"".join((head, b"\n", *texts))
        self._thread = threading.Thread(target=self._talk, args=(task,), daemon=True)
        self._thread.start()

    def _talk(self, task: bytes) -> None:
        # In one call each: between two of them this thread would wait for the one that counts.
        # it may be stopped meanwhile
        with contextlib.suppress(OSError, ValueError), self._process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(task)
            process.stdin.close()
            self._answer = process.stdout.read()

    def result(self) -> dict[str, int]:
        """The counts, in order of first appearance. Waits for them.

        Raises:
            TokentuiError: What the helper met, or that it died.
        """
        while self._thread.is_alive():
            self._thread.join(_POLL_S)
            check()
        if self._process.returncode != 0 or not self._answer:
            what = "a helper process ended before it had counted its share"
            raise TokentuiError(what, "count", "try again with more free memory")
        answer: dict[str, Any] = json.loads(self._answer)
        if "error" in answer:
            raise TokentuiError(*answer["error"])
        counts: dict[str, int] = answer["counts"]
        return counts

    def stop(self) -> None:
        """End the process if it still runs, and take it off the system's list."""
        if self._process.poll() is None:
            self._process.kill()
        self._thread.join()
        self._process.wait()


def main() -> None:
    """Read a task from standard input, write its counts to standard output."""
    axes, sizes, seconds = json.loads(sys.stdin.buffer.readline())
    limits.use(dataclasses.replace(limits.now(), pattern_seconds=seconds))
    counts: Counter[str] = Counter()
    try:
        words = Pretokenizer(Recipe.from_dict(axes)).words
        for size, first in sizes:
            counts.update(words(str(sys.stdin.buffer.read(size), "utf-8", "surrogatepass"), first=first))
        answer: dict[str, Any] = {"counts": dict(counts)}
    except TokentuiError as error:
        answer = {"error": (error.what, error.where, error.hint)}
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
