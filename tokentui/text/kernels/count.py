"""Count the words of documents with kernels, in threads.

Check `tokentui.core.engines.available` before you import this module.
"""

from __future__ import annotations

import functools
import operator
import os
import re
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

from tokentui.core.arrays import flat, larger
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import check, tick
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text import patterns
from tokentui.text.corpus import LongText, Place, pieces, safe_cut, size_of, sizes_of
from tokentui.text.kernels import rules, scan_count
from tokentui.text.kernels.rules import RUNS, SPACED, STRETCHES, WHITE, Split
from tokentui.text.kernels.scan_count import Bigrams, Scan, WordTable
from tokentui.text.normalize import normalize
from tokentui.text.parts import FlatWords
from tokentui.text.split import SPACE_MARK, splitter, splitter_of

PAD = bytes(16)
"""Padding that kernels may read after the end of a text."""
CHUNK_CHARS = 1 << 19
"""Approximate characters between two ticks of the job, which take some milliseconds."""
THREAD_CHARS = 1 << 19
"""Characters per thread below which starting a thread does not pay off."""
MOST_THREADS = 4
"""The most threads. Each has its own table, and joining the tables takes time."""
MANY_CHARS = 1 << 10
"""Documents with fewer characters on average are processed `TOGETHER` at a time."""
TOGETHER = 1 << 10
MANY = 1 << 14
"""The number of distinct stretches at which it is checked whether they repeat often enough."""
_LEAST_BITS, _MOST_BITS, _BYTES_A_WORD = 12, 17, 128
"""A new table has 2**12 to 2**17 places, one for this many bytes of text. Counting 10 MB of
English takes 0.7 times as long as with a table that begins small."""
_CHECK_EVERY = 4096

_SURROGATE = re.compile("[\ud800-\udfff]")
_BETWEEN = re.compile("[a-z](?= [a-z])")
_NEAR = 1024
_RUN_CUT = re.compile("[ \n](?=(?s:.))")


@functools.cache
def tables_of(split: str, unicode: str = NEWEST_UNICODE) -> Split:
    """Return the tables of a split for the scanner, by the Unicode tables of a name. The split has a rule in
    `rules.RULES`, is one of its names, or begins with `rules.STRETCHES`."""
    if split.startswith(STRETCHES):
        found = rules.stretches(split.removeprefix(STRETCHES), unicode)
        assert found is not None  # `rules.scanned` names no others
        return Split(rules.GPT4, array("q"), array("H", found[0].high), found[0].low, found[1])
    rule = rules.RULES[rules.rule_of(split)]
    table = rule.table()
    if rule.table is rules.letters_table:
        table = rules.with_classes(table, unicode)
    folds = () if rule.word == rules.GPT2 else rules.folds()
    numbers = array("q", chain.from_iterable(folds))
    return Split(rule.word, numbers, array("H", table.high), table.low, rules.pairs(split))


class Table:
    """A growing table of words and their counts.

    Args:
        expected: The size of the texts to count, in bytes. It begins with room for about their words, since
            each time it grows all words move.
    """

    def __init__(self, expected: int = 0) -> None:
        bits = min(max((expected // _BYTES_A_WORD).bit_length(), _LEAST_BITS), _MOST_BITS)
        size = 1 << bits
        self.words = WordTable(
            slots=flat("uint64", 4 * size),
            shift=64 - bits,
            places=flat("int64", size // 2 + 1),
            text=flat("uint8", 32 * size),
            ends=flat("int64", size // 2 + 2),
            used=flat("int64", 1),
        )
        self._events = flat("int32", scan_count.BLOCK + 2)
        self._found = flat("uint64", scan_count.FOUND)

    @property
    def size(self) -> int:
        """The number of words."""
        return int(self.words.used[0])

    def scan(
        self, texts: Sequence[bytes | memoryview], split: Split | Bigrams, values: Any = None,
        stops: Any = b"",
    ) -> int:
        """Count the words of texts.

        Args:
            texts: The texts, as UTF-8.
            split: The split; or the pairs of characters that some token has side by side, to cut texts
                between all others. That needs `values`.
            values: An array to receive the value of each word, in the order of the texts; None to count the
                words instead.
            stops: An array to receive how many values are written when each text ends.

        Returns:
            How many values were written; 0 without `values`.
        """
        data, bounds = b"".join((*texts, PAD)), bounds_of(texts)
        values = b"" if values is None else values
        number = at = filled = 0
        while True:
            place = data, bounds, stops
            if isinstance(split, Bigrams):
                number, at, filled = scan_count.scan_bigrams(
                    data, *place, split, self.words, self._events, self._found, values, number, at, filled
                )
            else:
                scan = Scan(data, split, self.words, self._events, self._found, values)
                number, at, filled = scan_count.scan_texts(scan, *place, number, at, filled)
            if number == len(texts):
                return int(filled)
            self.grow(len(data))

    def add(self, other: FlatWords) -> None:
        """Add counted words."""
        data = other.text + PAD
        number = 0
        while True:
            number = scan_count.add_words(
                data, data, other.ends, other.counts, number, self.words
            )
            if number == len(other.counts):
                return
            self.grow(len(data))

    def result(self) -> FlatWords:
        """Return a copy of the counts."""
        number = self.size
        ends, counts = array("q"), array("q", bytes(8 * number))
        ends.frombytes(self.words.ends[: number + 1].cast("B"))
        scan_count.read_counts(self.words, counts)
        return FlatWords(self.words.text[: ends[-1]].tobytes(), ends, counts)

    def grow(self, longest: int) -> None:
        """Make room for one more word of at most `longest` bytes."""
        words, number = self.words, self.size
        filled = int(words.ends[number])
        if filled + longest + len(PAD) > len(words.text):
            size = 2 * len(words.text) + longest
            words = words._replace(text=larger(words.text, "uint8", size, filled))
        if 8 * number >= len(words.slots):
            old, size = words.slots, 2 * len(words.slots)
            words = words._replace(
                slots=flat("uint64", size),
                shift=words.shift - 1,
                places=larger(words.places, "int64", size // 8 + 1, number),
                ends=larger(words.ends, "int64", size // 8 + 2, number + 1),
            )
            scan_count.move_words(old, words)
        self.words = words


def bounds_of(texts: Sequence[bytes | memoryview]) -> Any:
    """Return a 0, then the offset where each of some concatenated texts ends."""
    return array("q", accumulate(map(len, texts), initial=0))


def count_words(
    documents: Sequence[str | LongText], recipe: Recipe, words: Callable[[str], list[str]], *,
    threads: int | None = None,
) -> Counter[str] | FlatWords | None:
    """Count the pre-tokens of documents, if there is a scanner for this recipe.

    Args:
        documents: The texts.
        recipe: The recipe, for its axes normalize, split and unit.
        words: Returns the words of a text after normalization. Called for distinct runs between white space
            if the recipe normalizes.
        threads: The number of threads; None to choose it by the text and the machine.

    The job reports its progress in characters, or in bytes for a long text.

    Returns:
        The distinct words in order of first appearance and their counts; None if the recipe has no scanner,
        or if there are too many distinct stretches for kernels to be faster.
    """
    split = rules.scanned(recipe)
    if not split:
        return None
    replaced = recipe.unit != "byte"
    if split in (RUNS, SPACED):
        return _count_runs(documents, recipe, words, split, threads)
    if not split.startswith(STRETCHES):
        return count(documents, split, recipe.unicode, replaced=replaced, threads=threads)
    own = splitter_of(recipe)
    found = count(documents, split, recipe.unicode, replaced=replaced, threads=threads, front=own.opened)
    if own.record.marks_spaces and (marked := _with_marks(found)):
        return marked
    times, stretches = found.counts.tolist(), len(found.counts)
    if stretches > MANY and 3 * stretches > sum(times):
        return None
    return _summed(zip(own.parts(list(found.words())), times, strict=True))


def _with_marks(found: FlatWords) -> FlatWords | None:
    """Return the words of `split=metaspace` from its stretches, which may have a space in front. None if a
    stretch contains ▁, or a space after its first character."""
    mark = SPACE_MARK.encode()
    spaced = [2 if found.text[at] == 32 else 0 for at in found.ends[:-1]]
    if mark in found.text or 2 * found.text.count(b" ") != sum(spaced):
        return None
    wider = accumulate(spaced, initial=0)
    ends = array("q", map(operator.add, found.ends, wider))
    return FlatWords(found.text.replace(b" ", mark), ends, found.counts)


def _summed(cut: Iterable[tuple[Sequence[str], int]]) -> Counter[str]:
    """Return the summed counts of the words of texts, given (words, count) of each text.

    A word first appears in the first text that has it, so the order of the texts decides the order of the
    words.
    """
    found: Counter[str] = Counter()
    get = found.get
    for number, (words, times) in enumerate(cut):
        if number % _CHECK_EVERY == 0:
            check()
        for word in words:
            found[word] = get(word, 0) + times
    return found


def count(
    documents: Sequence[str | LongText], split: str, unicode: str = NEWEST_UNICODE, *,
    replaced: bool = False, threads: int | None = None, front: Callable[[bytes], bytes] | None = None,
) -> FlatWords:
    """Count the words of documents without normalization.

    Args:
        documents: The texts.
        split: A split for `tables_of`.
        unicode: The name of the Unicode tables.
        replaced: True to replace lone surrogates by U+FFFD.
        threads: As for `count_words`.
        front: As for `share`.
    """
    size = sum(map(size_of, documents))
    threads = threads or threads_for(size)
    tables, split_tables = [Table(size) for _ in range(threads)], tables_of(split, unicode)
    workers = [functools.partial(table.scan, split=split_tables) for table in tables]
    share(documents, cut_of(split, unicode), replaced, workers, front)
    for table in tables[1:]:
        tables[0].add(table.result())
    return tables[0].result()


def _count_runs(
    documents: Sequence[str | LongText], recipe: Recipe, words: Callable[[str], list[str]], split: str,
    threads: int | None,
) -> Counter[str]:
    """Count the words of a recipe that normalizes and splits each run between white space separately.

    sentencepiece's words begin with ▁. For printable ASCII they have no other rule, except symbols.
    """
    texts = [document for document in documents if isinstance(document, str)]
    if len(texts) == len(documents):
        documents = ["\n".join(texts)]  # a line by itself costs more than its words
    counted = count(documents, split, threads=threads)
    runs = counted.words()
    plain, forms, cut = _formed(runs, recipe, split)

    def parted() -> Iterator[tuple[Sequence[str], int]]:
        single: list[str] = []
        for run, form, one, times in zip(runs, forms, plain, counted.counts.tolist(), strict=True):
            if not one and times == 1:
                # In scripts without spaces most runs are like this. One call cuts many.
                single.append(run)
                continue
            if single:
                yield words(" ".join(single)), 1
                single.clear()
            yield cut(form) if one else words(run), times
        yield words(" ".join(single)), 1

    return _summed(parted())


def words_of_runs(
    runs: Sequence[str], recipe: Recipe, words: Callable[[str], list[str]], split: str
) -> list[Sequence[str]]:
    """Return the words of each of some runs, of `RUNS` or `SPACED`. The other arguments are those of
    `count_words`."""
    plain, forms, cut = _formed(runs, recipe, split)
    return [
        cut(form) if one else words(run) for run, form, one in zip(runs, forms, plain, strict=True)
    ]


def _formed(
    runs: Sequence[str], recipe: Recipe, split: str
) -> tuple[list[bool], list[str], Callable[[str], Sequence[str]]]:
    """Return whether each run is printable ASCII, those that are after normalization, and the function that
    cuts such a run into words."""
    own, steps = splitter_of(recipe), recipe.normalize
    cut: Callable[[str], Sequence[str]] = own.pattern.findall
    if split == SPACED:
        steps = steps[1:]  # the first leaves printable ASCII as it is
        cut = functools.partial(_marked, symbols=own.symbols)
    plain = [run.isascii() and run.isprintable() for run in runs]
    kept = " ".join([run if one else "-" for run, one in zip(runs, plain, strict=True)])
    forms = normalize(kept, steps).split(" ") if kept else []  # a run of printable ASCII stays one
    return plain, forms, cut


def _marked(run: str, symbols: re.Pattern[str] | None) -> Sequence[str]:
    """Return the words of a run of printable ASCII: with ▁ in front, and cut at symbols, which have no ▁."""
    return ["▁" + run] if symbols is None else [*filter(None, symbols.split("▁" + run))]


# ---- threads


def threads_for(chars: int) -> int:
    """Return the number of threads that pay off for a text of this many characters on this machine."""
    return max(1, min(MOST_THREADS, os.cpu_count() or 1, chars // THREAD_CHARS))


def cut_of(split: str, unicode: str = NEWEST_UNICODE) -> Callable[[str, int], int]:
    """Return the function that says from which place on a text may be cut, for a split and Unicode tables of
    `tables_of`."""
    if split in WHITE:
        return functools.partial(_cut_at, re.compile(f"[!-~](?=[{WHITE[split]}])"))
    return functools.partial(_cut_at, _RUN_CUT) if split in (RUNS, SPACED) else (
        functools.partial(_cut_between, split, unicode)
    )


def share(
    documents: Sequence[str | LongText], cut: Callable[[str, int], int], replaced: bool,
    workers: Sequence[Callable[[list[bytes | memoryview]], object]],
    front: Callable[[bytes], bytes] | None = None,
) -> None:
    """Divide documents into runs of equal length. The first is processed in this thread, each other one in a
    new thread.

    Args:
        documents: The documents.
        cut: Returns the first place from an offset on where a document may be cut, see `cut_of`.
        replaced: True to replace lone surrogates by U+FFFD.
        workers: One function per run, called with its texts in order, a chunk at a time: UTF-8, with a lone
            surrogate in three bytes.
        front: Changes the first bytes of each document; None for no change.
    """
    sizes = sizes_of(documents)
    places, done, total = list(_starts(documents, sizes, cut, len(workers))), [0] * len(workers), sum(sizes)
    stopped = threading.Event()
    many = total < MANY_CHARS * len(documents) and set(map(type, documents)) <= {str}

    def parts(start: Place, end: Place) -> Iterator[tuple[list[bytes | memoryview], int]]:
        """Yield the texts between two places with their lengths; of many short documents some at a time,
        since a document by itself takes longer than to count its words."""
        if not many:
            yield from parts_of(start, end)
            return
        whole = start[0] + (start[1] > 0)
        if start[1]:
            yield from parts_of(start, min((whole, 0), end))
        for first in range(whole, end[0], TOGETHER):
            last = min(first + TOGETHER, end[0])
            if max(sizes[first:last]) > CHUNK_CHARS:
                yield from parts_of((first, 0), (last, 0))
                continue
            block = _utf8_of(documents[first:last], replaced)
            yield [front(text) for text in block] if front else block, sum(sizes[first:last])
        if end[1] and end[0] >= whole:
            yield from parts_of((end[0], 0), end)

    def parts_of(start: Place, end: Place) -> Iterator[tuple[list[bytes | memoryview], int]]:
        for document, begin, stop in pieces(documents, cut, CHUNK_CHARS, start, end):
            text = _utf8(document, begin, stop, replaced)
            yield [front(bytes(text)) if front and begin == 0 else text], stop - begin

    def work(number: int, between: Callable[[], object]) -> None:
        """Process a run. Calls `between` after each chunk."""
        texts: list[bytes | memoryview] = []
        size = 0
        for block, length in parts(places[number], places[number + 1]):
            texts += block
            size += length
            if size >= CHUNK_CHARS:
                workers[number](texts)
                done[number] += size
                texts, size = [], 0
                between()
        workers[number](texts)
        done[number] += size

    def raise_if_stopped() -> None:
        if stopped.is_set():
            raise Cancelled

    def report() -> None:
        tick(sum(done), total)

    def run_in_thread(number: int) -> None:
        try:
            work(number, raise_if_stopped)
        except BaseException as error:
            failed.append(error)

    report()
    # To import a pool of threads takes longer than to count a short text.
    failed: list[BaseException] = []
    others = [threading.Thread(target=run_in_thread, args=(number,)) for number in range(1, len(workers))]
    own = [0]
    try:
        for number, other in enumerate(others, 1):
            try:
                other.start()
            except RuntimeError:  # there is no memory for a thread
                own.append(number)
        for number in own:
            work(number, report)
        for other in others:
            while other.is_alive():
                other.join(0.05)
                report()
    except BaseException:
        stopped.set()
        for other in others:
            if other.is_alive():
                other.join()
        raise
    for error in failed:
        raise error
    tick(total, total)


def _cut_between(split: str, unicode: str, text: str, at: int) -> int:
    """Return a place from `at` on where a text may be cut in two.

    Every split with a rule may be cut before a space between two lower-case ASCII letters. That needs no
    pattern, whose import and compilation take longer than counting a short text.
    """
    if not split.startswith(STRETCHES):
        match = _BETWEEN.search(text, max(at - 1, 0), at + _NEAR)
        if match:
            return match.end()
    return splitter(split.removeprefix(STRETCHES), unicode).safe_cut(text, at)


def _starts(
    documents: Sequence[str | LongText], sizes: list[int], cut: Callable[[str, int], int], runs: int
) -> Iterator[Place]:
    """Yield the places where the runs begin, and the end."""
    yield 0, 0
    wanted = [sum(sizes) * run // runs for run in range(1, runs)]
    before = 0
    for number, (document, size) in enumerate(zip(documents, sizes, strict=True)):
        place = 0
        while wanted and wanted[0] < before + size:
            # A search from an earlier place may find a later cut: it sees another part of a long text.
            place = max(place, safe_cut(document, wanted.pop(0) - before, cut))
            yield (number, place) if place < size else (number + 1, 0)
        before += size
    yield from [(len(documents), 0)] * (len(wanted) + 1)


def _cut_at(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = next(patterns.find_short(pattern, text, max(at - 1, 0)), None)
    return match.end() if match else len(text)


def _utf8_of(documents: Sequence[Any], replaced: bool) -> list[Any]:
    """Return the non-empty documents as UTF-8. With `replaced`, lone surrogates become U+FFFD; otherwise they
    take three bytes."""
    try:
        return list(map(str.encode, filter(None, documents)))
    except UnicodeEncodeError:  # lone surrogates
        return [_utf8(document, 0, len(document), replaced) for document in documents if document]


def _utf8(document: str | LongText, start: int, stop: int, replaced: bool) -> bytes | memoryview:
    """Return a part of a document as UTF-8, as `_utf8_of` does."""
    if isinstance(document, LongText):
        return document.utf8(start, stop)
    text = document[start:stop]
    try:
        return text.encode()
    except UnicodeEncodeError:  # lone surrogates
        text = _SURROGATE.sub("\ufffd", text) if replaced else text
        return text.encode("utf-8", "surrogatepass")
