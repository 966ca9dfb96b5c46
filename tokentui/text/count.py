"""Count the pre-tokens of a corpus: each distinct word with its count, in order of first appearance.

Large corpora are cut at safe cuts and counted chunk by chunk, so that the work can report progress, be
cancelled, and show intermediate counts.
"""

from __future__ import annotations

import bisect
import itertools
import operator
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property

from tokentui.core import engines
from tokentui.core.jobs import check, each, silent, tick
from tokentui.core.records import dataclass
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus, LongText, pieces, whole_text
from tokentui.text.counting import check_same, counting_of
from tokentui.text.parts import CorpusPart
from tokentui.text.parts import Words as Words
from tokentui.text.pretokenize import Pretokenizer, cut_key
from tokentui.text.split import splitter_of

CHUNK_CHARS = 1 << 14
"""Characters that are counted between two checks of the job. Matching holds the interpreter for 2 ms
meanwhile, and keys wait; larger chunks are not faster."""
_POLL_S = 0.05


def chunks(
    documents: Sequence[str | LongText], pretokenizer: Pretokenizer, size: int = CHUNK_CHARS
) -> Iterator[tuple[str, bool]]:
    """Yield the documents in chunks: (text, whether a document starts with it). Long documents are cut at
    safe cuts."""
    for document, start, stop in pieces(documents, pretokenizer.safe_cut, size):
        part = document.part(start, stop) if isinstance(document, LongText) else document[start:stop]
        yield part, start == 0


def check_counting(corpus: Corpus, recipe: Recipe) -> None:
    """Refuse a corpus of counted words whose normalization or split differs from the recipe's.

    Raises:
        TokentuiError: They differ, or the row with the settings is damaged.
    """
    for part in corpus.named:
        check_counting(part.corpus, recipe)
    if corpus.counting:
        check_same(corpus.counting, counting_of(recipe), corpus.name)


CountSteps = Iterator[tuple[int, int, Counter[str]]]
"""Yields (characters counted, characters in all, the counts so far)."""


def count_steps(corpus: Corpus, recipe: Recipe, size: int | None = None) -> CountSteps:
    """Count in plain Python, chunk by chunk of about `size` characters.

    Yields:
        (done, total, counts): characters counted, characters in all, and the counts so far: always the same
        object, which grows. The first time nothing is counted yet. Counted words are added in one step, and
        the numbers are then words.
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
    for text, first in chunks(corpus.texts, pretokenizer, size or CHUNK_CHARS):
        check()
        counts.update(pretokenizer.words(text, first=first))
        done += len(text)
        yield done, total, counts


def count(
    corpus: Corpus, recipe: Recipe, begun: CountSteps | None = None, threads: int | None = None
) -> Words:
    """Count the pre-tokens of a corpus: by kernels if they are loaded and know the split, else in plain
    Python.

    Args:
        corpus: The corpus to count. Counted words are not cut again; counts of repeated words are added.
            Named corpora are counted one by one and weighted.
        recipe: The recipe, for its normalization and split.
        begun: A count that was started by `count_steps`, to continue in plain Python; None to start.
        threads: The number of threads for kernels; None to choose it by the text and the machine.

    The job reports its progress in characters.

    Raises:
        TokentuiError: The split's pattern takes too long. The message has the text.
        Cancelled: The job is cancelled.
    """
    if corpus.named:
        return _count_parts(corpus, recipe)
    if corpus.counts is None and engines.available():
        with engines.rescued():
            from tokentui.text.kernels.count import count_words  # needs the kernels

            words = count_words(corpus.texts, recipe, Pretokenizer(recipe).words, threads=threads)
            if words is not None:
                return Words.of(words)
    counts: Counter[str] = Counter()
    for done, total, counts in begun or count_steps(corpus, recipe):  # noqa: B007 - the last are all
        tick(done, total)
    return Words.of(counts)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a text its pre-tokens cover, in characters of the prepared text. Coverages can be added.

    Attributes:
        uncovered: The number of characters in no pre-token.
        total: The number of all characters; 0 if the description of the split says which characters it drops.
    """

    uncovered: int = 0
    total: int = 0

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(self.uncovered + other.uncovered, self.total + other.total)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for the user if pre-tokens do not cover the text, else empty."""
        if not self.uncovered:
            return ()
        what = f"the split leaves out {self.uncovered:,} of {self.total:,} characters"
        return (f"{what}: its pattern does not match them",)


COVERED = Coverage()
"""The coverage of a text that is covered, or uncovered only as the split's description says."""


def coverage(corpus: Corpus, recipe: Recipe, words: Words) -> Coverage:
    """Return how much of a corpus its pre-tokens cover. Named corpora are weighted.

    A corpus of counted words is covered.

    Args:
        corpus: The corpus.
        recipe: The recipe, for its normalization and split.
        words: The pre-tokens of the corpus under this recipe.
    """
    splitter, pretokenizer, total = splitter_of(recipe), Pretokenizer(recipe), 0
    if not splitter.record.may_leave_text:
        return COVERED
    for text, times in [(named.corpus, named.times) for named in corpus.named] or [(corpus, 1)]:
        if text.counts is not None:
            return COVERED
        if not recipe.normalize and not splitter.prepends_space and not splitter.record.marks_spaces:
            total += times * text.characters  # preparing changes nothing
            continue
        for part, first in chunks(text.texts, pretokenizer):
            check()
            total += times * pretokenizer.prepared_length(part, first=first)
    covered = sum(len(word) * count for word, count in zip(words.words, words.counts, strict=True))
    return Coverage(total - covered, total)


def coverage_of_text(text: str, recipe: Recipe) -> Coverage:
    """Return how much of one text its pre-tokens cover."""
    pretokenizer = Pretokenizer(recipe)
    if not splitter_of(recipe).record.may_leave_text:
        return COVERED
    total = pretokenizer.prepared_length(text)
    return Coverage(total - sum(map(len, pretokenizer.words(text))), total)


def _count_parts(corpus: Corpus, recipe: Recipe) -> Words:
    """Return the words of named corpora, each weighted by its share."""
    parts = []
    for name, text, times, development in each(corpus.named, len(corpus.named)):
        with silent():
            judged = None if development is None else count(development, recipe)
            parts.append(CorpusPart(name, count(text, recipe).multiplied(times), judged, times))
    return Words.of_parts(parts)


class WordCounts:
    """The counts of one corpus. Each distinct way to cut it into words is counted once, for all recipes with
    that way.

    Threads may share it. A thread waits for words that another thread is counting.

    Args:
        corpus: The corpus.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._words_by_key: dict[Hashable, Words] = {}
        self._locks: dict[Hashable, threading.Lock] = {}

    def add(self, recipe: Recipe, words: Words) -> None:
        """Store words that were already counted, unless words of the same way to cut are known."""
        self._words_by_key.setdefault(cut_key(recipe), words)

    def of(self, recipe: Recipe) -> Words:
        """Return the words of the corpus under a recipe. They are counted at the first call.

        Raises:
            TokentuiError: The split's pattern takes too long.
            Cancelled: The job is cancelled.
        """
        key = cut_key(recipe)
        lock = self._locks.setdefault(key, threading.Lock())
        while not lock.acquire(timeout=_POLL_S):
            check()
        try:
            if key not in self._words_by_key:
                self._words_by_key[key] = count(self.corpus, recipe)
            return self._words_by_key[key]
        finally:
            lock.release()


# ---- a corpus in windows: the words of a visible part of a document


_BACK = (2_000, 20_000, 200_000)
"""Characters before a window in which a safe cut is looked for."""
_LONG_LINE = 4_000
"""A window starts at the beginning of a line, unless the line began more characters back."""
_AHEAD = 1 << 16
"""Characters after a window that are searched for a safe cut. Without one, the whole document is split, once.
"""
_AT_ONCE = 1 << 16
"""Characters that are split at a time where a pre-token is looked for."""
_KEPT = 64

NormalizedPlace = tuple[int, int]
"""The index of a document, and a character in its normalized text."""


def matches_in(text: str | LongText, wanted: str, stop: int | None = None) -> int:
    """Count the occurrences of one text in another, overlapping ones included.

    Args:
        text: The text to search.
        wanted: The text to find.
        stop: Count occurrences that begin before this character; None for all.
    """
    end = len(text) if stop is None else min(stop + len(wanted) - 1, len(text))
    overlaps = any(wanted.startswith(wanted[n:]) for n in range(1, len(wanted)))
    count = 0
    for first in range(0, end, CHUNK_CHARS * 16):
        check()
        piece = text[first : min(end, first + CHUNK_CHARS * 16 + len(wanted) - 1)]
        if not overlaps:  # the same, and faster
            count += piece.count(wanted)
            continue
        at = piece.find(wanted)
        while at >= 0:
            count, at = count + 1, piece.find(wanted, at + 1)
    return count


class CorpusWindow:
    """A corpus under one recipe, for looking at windows of it.

    Args:
        corpus: The corpus.
        recipe: The recipe, for its normalization, split and symbols.
    """

    def __init__(self, corpus: Corpus, recipe: Recipe) -> None:
        self._corpus = corpus
        self._recipe = recipe
        self._splitter = splitter_of(recipe)
        self._pretokenizer = Pretokenizer(recipe)
        self._texts: dict[int, str | LongText] = {}
        self._spans: dict[int, tuple[array[int], array[int]]] = {}
        self._matches: tuple[str, list[int]] = "", []

    @cached_property
    def _before(self) -> array[int]:
        """The number of characters before each document, with one between two documents. Computed at first
        use: for a million documents it takes as long as showing the first ones, which do not need it."""
        ends = itertools.accumulate(map(len, self._corpus.parts), initial=0)
        return array("q", map(operator.add, ends, itertools.count()))

    @property
    def documents(self) -> int:
        """The number of documents; of words, for counted words."""
        return len(self._corpus.parts)

    @cached_property
    def characters(self) -> int:
        """The number of characters of the corpus, with one between two documents."""
        return sum(map(len, self._corpus.parts)) + self.documents

    @property
    def normalizes(self) -> bool:
        """True if the recipe normalizes the text."""
        return bool(self._recipe.normalize)

    def fraction(self, place: NormalizedPlace) -> float:
        """Return the share of the corpus before a place, from 0 to 1."""
        before = place[1] + (self._before[place[0]] if place[0] else 0)
        return before / self.characters if self.characters else 0.0

    def text(self, document: int) -> str | LongText:
        """Return the normalized text of a document. A long document that normalization does not change is
        returned unchanged."""
        if self._corpus.counts is not None:
            return self._corpus.counts[document][0]
        known = self._texts.get(document)
        if known is None:
            if len(self._texts) >= _KEPT:
                self._texts.clear()
                self._spans.clear()
            document_text = self._corpus.texts[document]
            if isinstance(document_text, LongText) and not self._recipe.normalize and self._splitter.cut:
                known = document_text
            else:
                known = self._pretokenizer.normalized(self._corpus.documents[document])
            self._texts[document] = known
        return known

    def find(self, text: str, start: NormalizedPlace, backward: bool) -> NormalizedPlace | None:
        """Return the next (or previous) occurrence of a text after (before) a place, None if there is none.

        The search wraps around at the end of the corpus, and ends with the document where it began. The
        corpus must not be empty.
        """
        step = -1 if backward else 1
        for turn in range(self.documents + 1):
            document = (start[0] + step * turn) % self.documents
            known = self.text(document)
            if backward:
                place = known.rfind(text, 0, len(known) if turn else start[1] + len(text) - 1)
            else:
                place = known.find(text, 0 if turn else start[1] + 1)
            if place >= 0:
                return document, place
        return None

    def matches(self, text: str) -> list[int]:
        """Return the number of occurrences of a text in each document. The result for the last text is
        cached."""
        if self._matches[0] != text:
            each = [matches_in(self.text(document), text) for document in range(self.documents)]
            self._matches = text, each
        return self._matches[1]

    def find_word(
        self, wanted: Callable[[str], bool], start: NormalizedPlace
    ) -> NormalizedPlace | None:
        """Return the place of the next pre-token that satisfies a predicate, None if there is none.

        The search begins after a place, wraps around at the end of the corpus, and ends with the document
        where it began.

        Args:
            wanted: The predicate.
            start: The place after which the search begins.
        """
        for turn in range(self.documents + 1):
            document = (start[0] + turn) % self.documents
            begin = start[1] + 1 if turn == 0 else 0
            length = len(self.text(document))
            while begin <= length:
                end = begin + _AT_ONCE
                for at, word, _ in self.words(document, begin, end):
                    if at >= begin and wanted(word):
                        return document, at
                begin = end
        return None

    def rewind(self, document: int, offset: int, before: int) -> NormalizedPlace:
        """Return the start of the line that is `before` characters back, across documents.

        In a line that begins more than `_LONG_LINE` characters back, it is the character itself. At the start
        of the corpus it is the first character.
        """
        while before > offset and document > 0:
            before -= offset + 1
            document -= 1
            offset = len(self.text(document))
        if before > offset:
            return document, 0
        offset -= before
        text = self.text(document)
        line = text.rfind("\n", max(0, offset - _LONG_LINE), offset) + 1
        return document, line or (offset if offset > _LONG_LINE else 0)

    def words(self, document: int, start: int, end: int) -> Iterator[tuple[int, str, int]]:
        """Yield the pre-tokens around a range of a document: (start, word, end), in the normalized text.

        All that overlap the range are included. There may be more before and after it.
        """
        text = self.text(document)
        if self._corpus.counts is not None:
            yield 0, whole_text(text), len(text)
            return
        cut = self._cut_before(text, start) if self._splitter.cut else None
        stop = len(text) if end >= len(text) else self._cut_within(text, end, end + _AHEAD)
        if cut is None or (stop is None and len(text) > end + _AHEAD):
            yield from self._known_spans(document, text, start, end)
            return
        stop = len(text) if stop is None else stop
        yield from self._split(text[cut:stop], cut)

    def _split(self, text: str, base: int) -> Iterator[tuple[int, str, int]]:
        """Yield each word with its start and end in the whole text, which begins at `base` of it.

        Only the text at base 0 counts as the first one. A mark in front, which metaspace adds, has no place:
        a word that begins with it starts at its first character.
        """
        first = base == 0
        # Only metaspace changes the text, by one mark in front.
        shift = len(self._splitter.prepare(text, first)) - len(text)
        for word, start, end in self._splitter.spans(text, first=first):
            yield base + max(0, start - shift), word, base + end - shift

    def _cut_before(self, text: str | LongText, place: int) -> int | None:
        """Return a place at or before this one where the split may start, or None if none is near."""
        if place <= _BACK[0]:
            return 0
        for back in _BACK:
            cut = self._cut_within(text, place - back, place) if place > back else 0
            if cut is not None:
                return cut
        return None

    def _cut_within(self, text: str | LongText, start: int, end: int) -> int | None:
        """Return the first place from `start` to `end` where the text may be cut, or None.

        The characters before and after a place decide.
        """
        begin = max(start - 1, 0)
        part = text[begin : end + 1]
        cut = self._splitter.safe_cut(part, start - begin)
        return begin + cut if cut < len(part) else None

    def _known_spans(
        self, document: int, text: str | LongText, start: int, end: int
    ) -> Iterator[tuple[int, str, int]]:
        """Yield the spans of a document that is split as a whole, once: those that begin before `end`.

        The first one is the last that begins at `start` or before it.
        """
        spans = self._spans.get(document)
        if spans is None:
            starts, ends = array("q"), array("q")
            for at, _, stop in self._split(whole_text(text), 0):
                starts.append(at)
                ends.append(stop)
            self._spans[document] = spans = (starts, ends)
        starts, ends = spans
        prepared = self._splitter.prepare(whole_text(text), True)
        shift = len(prepared) - len(text)
        for n in range(max(0, bisect.bisect_right(starts, start) - 1), len(starts)):
            if starts[n] >= end:
                return
            yield starts[n], prepared[starts[n] + (shift if n else 0) : ends[n] + shift], ends[n]
