"""Count the pre-tokens of a corpus: each distinct word once, in order of first appearance, with how often it stands.

Large corpora are cut at places where no split looks across and counted chunk by chunk, so that the work can be watched,
stopped, shown before it is whole, and shared with other processes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tokentui.core import jit
from tokentui.core.errors import Cancelled
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.counted import CountedWords
from tokentui.text.helper import Helper
from tokentui.text.longtext import LongText, safe_cut
from tokentui.text.pretokenize import Pretokenizer

CHUNK_CHARS = 1 << 16
"""About how much text is counted between two looks at the clock: some milliseconds."""
PARALLEL_CHARS = 4_000_000
"""A smaller corpus is counted here before other processes have started."""
START_CHARS = 1_000_000
"""About how much is counted here while another process starts and gets its share."""

Progress = Callable[[int, int], None]
Cancel = Callable[[], bool]
Chunk = tuple[str, bool]
"""A text, and whether a document starts with it."""


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct pre-tokens of a corpus in order of first appearance, and how often each stands."""

    words: Sequence[str]
    counts: Sequence[int]

    @property
    def occurrences(self) -> int:
        """How many pre-tokens the corpus has in all."""
        return sum(self.counts)


def chunks(documents: Sequence[str | LongText], pretokenizer: Pretokenizer, size: int = CHUNK_CHARS) -> Iterator[Chunk]:
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


def count_steps(corpus: Corpus, recipe: Recipe, cancel: Cancel | None = None) -> Iterator[tuple[int, int, Counter[str]]]:
    """Count chunk by chunk.

    Yields:
        (done, total, counts): characters counted, characters in all, and the counts so far (one object, which grows).
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
        if cancel is not None and cancel():
            raise Cancelled
        counts.update(pretokenizer.words(text, first=first))
        done += len(text)
        yield done, total, counts


def count(
    corpus: Corpus,
    recipe: Recipe,
    *,
    processes: int | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Words:
    """Count the pre-tokens of a corpus: by kernels where they are loaded and know the split, else in plain Python.

    Args:
        corpus: What to count; a corpus of word counts is taken as it is.
        recipe: Its normalisation and split are used.
        processes: How many processes share the work; by default two where the corpus is large and the machine has them.
        progress: Told (done, total) in characters.
        cancel: Asked between chunks; true raises `Cancelled`.

    Raises:
        TokentuiError: The split's pattern takes too long; it says on which text.
    """
    if processes is None and corpus.counts is None and jit.ready(corpus.characters):
        from tokentui.text.kernels.counting import count_words  # needs the kernels

        found = count_words(corpus.texts, recipe, Pretokenizer(recipe).words, progress=progress, cancel=cancel)
        if found is not None:
            return Words(found[0] if isinstance(found[0], CountedWords) else tuple(found[0]), tuple(found[1]))
    if processes is None:
        large = corpus.counts is None and corpus.characters >= PARALLEL_CHARS
        processes = min(2, os.cpu_count() or 1) if large else 1
    if processes > 1 and corpus.counts is None:
        counts = _count_shared(corpus, recipe, processes, progress, cancel)
    else:
        counts = Counter()
        for done, total, so_far in count_steps(corpus, recipe, cancel):
            counts = so_far
            if progress is not None:
                progress(done, total)
    return words_of(counts)


def words_of(counts: Counter[str]) -> Words:
    """The counts as they stand now, as a value."""
    return Words(tuple(counts), tuple(counts.values()))


def _count_shared(
    corpus: Corpus, recipe: Recipe, processes: int, progress: Progress | None, cancel: Cancel | None
) -> Counter[str]:
    """Share the chunks out: this process takes the first ones, helpers a run of equal size each."""
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
    helpers = [Helper(recipe, run) for run in runs[1:] if run]
    try:
        counts: Counter[str] = Counter()
        done = 0
        for text, first in runs[0]:
            if cancel is not None and cancel():
                raise Cancelled
            counts.update(pretokenizer.words(text, first=first))
            done += len(text)
            if progress is not None:
                progress(done * total // here, total)
        for helper in helpers:
            for word, times in helper.result(cancel).items():
                counts[word] += times
    finally:
        for helper in helpers:
            helper.stop()
    if progress is not None:
        progress(total, total)
    return counts
