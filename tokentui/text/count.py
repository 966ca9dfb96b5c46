"""Count the pre-tokens of a corpus: each distinct word once, in order of first appearance, with how often it
stands.

Large corpora are cut at places where no split looks across and counted chunk by chunk, so that the work can
be watched, stopped, and shown before it is whole.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from tokentui.core import jit
from tokentui.core.jobs import check, tick
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus
from tokentui.text.documents import LongText, pieces
from tokentui.text.pretokenize import Pretokenizer, cut_key

CHUNK_CHARS = 1 << 16
"""About how much text is counted between two looks at the clock: some milliseconds."""
_POLL_S = 0.05


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
) -> Iterator[tuple[str, bool]]:
    """The documents, long ones cut where that changes no word: (text, whether a document starts with it)."""
    for document, start, stop in pieces(documents, pretokenizer.safe_cut, size):
        part = document.part(start, stop) if isinstance(document, LongText) else document[start:stop]
        yield part, start == 0


def count_steps(corpus: Corpus, recipe: Recipe) -> Iterator[tuple[int, int, Counter[str]]]:
    """Count chunk by chunk, in plain Python.

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


def count(corpus: Corpus, recipe: Recipe) -> Words:
    """Count the pre-tokens of a corpus: by kernels where they are loaded and know the split, else in plain
    Python.

    Args:
        corpus: The corpus to count; a corpus of word counts is taken as it is.
        recipe: Its normalisation and split are used.

    Progress of the job is told in characters.

    Raises:
        TokentuiError: The split's pattern takes too long; it says on which text.
        Cancelled: The job is cancelled.
    """
    if corpus.counts is None and jit.ready(corpus.characters):
        from tokentui.text.kernels.count import count_words  # needs the kernels

        found = count_words(corpus.texts, recipe, Pretokenizer(recipe).words)
        if found is not None:
            return Words(found[0], tuple(found[1]))
    counts: Counter[str] = Counter()
    for done, total, counts in count_steps(corpus, recipe):  # noqa: B007 - the last are all
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
