"""Count the words of documents with kernels, in threads.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tokentui.core.jobs import check
from tokentui.recipe import Recipe
from tokentui.text.corpus import LongText
from tokentui.text.kernels import classes, rules, scan_count
from tokentui.text.kernels.counted import CountedWords
from tokentui.text.kernels.rules import RUNS, is_bert, is_shaped, is_spaced, rule_of
from tokentui.text.kernels.scan_count import Split, WordTable
from tokentui.text.kernels.shares import Shares, size_of, threads_for

PAD = bytes(16)
"""The padding that kernels may read after the end of a text."""
_LEAST_BITS = 13
_CHECK_EVERY = 4096

_TABLES = {"bert": classes.bert_table, rules.RUNS: classes.bert_runs_table}
"""The classes of characters of the rules that have their own."""


@functools.cache
def tables_of(split: str) -> Split:
    """The tables of a split that has a rule, or of `rules.RUNS`."""
    name = rules.rule_of(split)
    table, rule = _TABLES.get(name, classes.letters_table)(), rules.RULES[name].word
    folds = () if rule == rules.GPT2 else classes.folds()
    numbers = np.array(folds, np.int64).reshape(-1)
    numbers.flags.writeable = False
    return Split(
        rule, numbers, np.frombuffer(table.high, np.uint16), as_bytes(table.low), as_bytes(rules.pairs(split))
    )


def border_of(split: str) -> Callable[[bytes], int]:
    """Return the function that finds the first border of words in a text.

    The function returns the first place, 0 excluded, where a cut changes no word, and -1 where there is none.
    """
    tables = tables_of(split)
    return lambda text: scan_count.first_border(as_bytes(text + PAD), len(text), tables)


def as_bytes(data: bytes) -> Any:
    return np.frombuffer(data, np.uint8)


def windows_of(data: Any) -> Any:
    """Eight bytes at each place, read as a number."""
    return np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))


class Table:
    """Counts that grow: the words so far and how often each came."""

    def __init__(self) -> None:
        size = 1 << _LEAST_BITS
        self.words = WordTable(
            slots=np.zeros(size, np.int32),
            shift=64 - _LEAST_BITS,
            rows=np.empty(size, np.uint64),
            text=np.empty(16 * size, np.uint8),
            ends=np.zeros(size // 4 + 2, np.int64),
            used=np.zeros(1, np.int64),
        )
        self.events = np.empty(scan_count.BLOCK + 2, np.int32)

    @property
    def size(self) -> int:
        """The number of words."""
        return int(self.words.used[0])

    def count(self, texts: Sequence[bytes | memoryview], split: Split) -> None:
        """Count the words of texts."""
        data = as_bytes(b"".join((*texts, PAD)))
        bounds = bounds_of(texts)
        number = at = 0
        while True:
            number, at = scan_count.count_texts(
                data, windows_of(data), bounds, number, at, split, self.words, self.events
            )
            if number == len(texts):
                return
            self.grow(len(data))

    def add(self, other: CountedWords) -> None:
        """Count words that are counted already."""
        data = as_bytes(other.text + PAD)
        number = 0
        while True:
            number = scan_count.add_words(
                data, windows_of(data), other.ends, other.counts, number, self.words
            )
            if number == len(other.counts):
                return
            self.grow(len(data))

    def result(self) -> CountedWords:
        """The counts as they are now, in arrays of their own."""
        number = self.size
        ends = self.words.ends[: number + 1].copy()
        counts = self.words.rows[3 : 4 * number : 4].astype(np.int64)
        for array in (ends, counts):
            array.flags.writeable = False
        return CountedWords(self.words.text[: ends[-1]].tobytes(), ends, counts)

    def grow(self, longest: int) -> None:
        """Make room for one more word of so many bytes."""
        words, number = self.words, self.size
        filled = int(words.ends[number])
        if filled + longest + len(PAD) > len(words.text):
            words = words._replace(text=longer(words.text, filled, 2 * len(words.text) + longest))
        if 4 * number >= len(words.slots):
            size = 4 * len(words.slots)
            words = words._replace(
                slots=np.zeros(size, np.int32),
                shift=words.shift - 2,
                rows=longer(words.rows, 4 * number, size),
                ends=longer(words.ends, number + 1, size // 4 + 2),
            )
            scan_count.fill_slots(number, words)
        self.words = words


def longer(array: Any, filled: int, size: int) -> Any:
    """An array of so many numbers that begins with those which are filled."""
    made = np.empty(size, array.dtype)
    made[:filled] = array[:filled]
    return made


def bounds_of(texts: Sequence[bytes | memoryview]) -> Any:
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    bounds.flags.writeable = False
    return bounds


def count_words(
    documents: Sequence[str | LongText],
    recipe: Recipe,
    words: Callable[[str], list[str]],
    *,
    threads: int | None = None,
) -> tuple[Sequence[str], list[int]] | None:
    """Count the pre-tokens of documents, if there is a scanner for this recipe.

    Args:
        documents: The texts.
        recipe: Its axes normalize, split and unit are looked at.
        words: The words of a text, normalised and split: asked where a normalisation has to be applied, for
            the distinct runs between white space.
        threads: How many share the work; by default as the text and the machine have it.

    Progress of the job is told in characters; of a long text in bytes.

    Returns:
        The distinct words in order of first appearance and their counts; None for a recipe that has no
        scanner.
    """
    if is_spaced(recipe) or is_bert(recipe):
        return _count_runs(documents, words, is_spaced(recipe), threads)
    if not rule_of(recipe.split) or recipe.normalize or is_shaped(recipe):
        return None
    counted = count(documents, recipe.split, replaced=recipe.unit != "byte", threads=threads)
    return counted, counted.counts.tolist()


def count(
    documents: Sequence[str | LongText], split: str, *, replaced: bool = False, threads: int | None = None
) -> CountedWords:
    """Count the words of documents as they are.

    Args:
        documents: The texts.
        split: One that has a rule, or `RUNS`.
        replaced: Whether lone surrogates are taken as U+FFFD.
        threads: As for `count_words`.
    """
    shares = Shares(
        documents, border_of(split), replaced, threads or threads_for(sum(map(size_of, documents)))
    )
    tables = [Table() for _ in range(shares.threads)]
    shares.run([functools.partial(table.count, split=tables_of(split)) for table in tables])
    for table in tables[1:]:
        tables[0].add(table.result())
    return tables[0].result()


def _count_runs(
    documents: Sequence[str | LongText], words: Callable[[str], list[str]], spaced: bool, threads: int | None
) -> tuple[tuple[str, ...], list[int]]:
    """Count words of a text that are those of its runs between white space, each normalised and split by
    itself.

    `spaced` tells sentencepiece's words (`rules.is_spaced`), which begin with ▁ and have no other rule for
    printable ASCII.
    """
    texts = [document for document in documents if isinstance(document, str)]
    if len(texts) == len(documents):
        documents = ["\n".join(texts)]  # a line by itself costs more than its words
    runs = count(documents, RUNS, threads=threads)
    counts: Counter[str] = Counter()
    single: list[str] = []
    # A word first appears in the first of the runs that have it, so the order of the runs gives that of the
    # words.
    for number, (run, times) in enumerate(zip(runs, runs.counts.tolist(), strict=True)):
        if number % _CHECK_EVERY == 0:
            check()
        plain = spaced and run.isascii() and run.isprintable()
        if not plain and times == 1:
            # where words are not set apart most runs are like this: one call does for many
            single.append(run)
            continue
        if single:
            counts.update(words(" ".join(single)))
            single.clear()
        for word in ["▁" + run] if plain else words(run):
            counts[word] += times
    counts.update(words(" ".join(single)))
    return tuple(counts), list(counts.values())
