"""Encode large texts to ids by kernels: scan the text by its split, encode each distinct word once, copy ids.

Check `tokentui.core.native.available` before you import this module.
"""

from __future__ import annotations

import functools
import itertools
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, starmap
from typing import Any

from tokentui.core.native import flat, larger
from tokentui.encode.kernels import words
from tokentui.encode.segment import Segmenter
from tokentui.encode.segment.merges import Merging, PairTable
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.kernels.count import (
    FlatWords,
    Table,
    bounds_of,
    share,
    tables_of,
    threads_for,
    words_of_runs,
)
from tokentui.text.kernels.rules import RUNS, SPACED, STRETCHES, Split, scanned
from tokentui.text.kernels.scan_count import WordTable
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import splitter_of

KEPT_WORDS = 1 << 20
"""With more words, or more bytes of words, the table is emptied, since input may be endless."""
KEPT_BYTES = 1 << 26
LARGEST_ID = (1 << 31) - 1


class Merges:
    """The units and merges of a vocabulary as tables. They never change, so threads may share them.

    Args:
        units: The symbol of each of the 256 bytes; -1 for none.
        pairs: The pairs that merge. The lowest rank merges first.
        pieces: The bytes of each symbol.
        numbered: The id of each symbol, of 32 bits.
        whole: The id of each word that is a token without merging.
    """

    def __init__(
        self, units: Sequence[int], pairs: PairTable, pieces: Sequence[bytes], numbered: Sequence[int],
        whole: Mapping[bytes, int],
    ) -> None:
        slots = flat("uint64", 1 << (2 * len(pairs.ranks) + 1).bit_length())
        self.tables = words.MergeTables(array("q", units), slots, pairs.makes, array("q", numbered))
        self.fit = max(len(pieces), len(pairs.makes)) < words.NONE and not words.put_pairs(
            pairs.keys, pairs.ranks, pairs.makes, len(pieces), pairs.limit, array("q", map(len, pieces)), slots
        )
        """True if the tables can represent the merges: symbols and ranks fit into them, and a result is as
        long as its parts together."""
        self.start = Table()
        """Table of the words in `whole`: word n has the one id `whole[n]`."""
        self.whole = array("i", whole.values())
        self.start.add(FlatWords(b"".join(whole), bounds_of(list(whole)), array("q", bytes(8 * len(whole)))))


class Coded(Table):
    """Cache of distinct words with their ids, for one thread.

    Args:
        merges: Tables that encode words; None if `others` encodes all.
        others: Returns the ids of each of some words that `merges` cannot encode: words with a lone surrogate
            or an unknown byte.
    """

    def __init__(self, merges: Merges | None, others: Callable[[list[str]], Sequence[Sequence[int]]]) -> None:
        self._merges = merges
        self._others = others
        self._begin()

    def _begin(self) -> None:
        super().__init__()
        self._known = 0
        self._starts = flat("int64", 2)
        self._ids = flat("int32", 1 << 12)
        self._room = flat("int64", 0)
        self._numbers = flat("int32", 0)
        self._out = flat("int32", 1 << 16)
        if self._merges is not None:
            start, whole = self._merges.start.words, self._merges.whole
            self.words = WordTable(*map(_copied, start))
            self._known = len(whole)
            self._starts = memoryview(array("q", range(len(whole) + 2)))
            self._ids = larger(memoryview(whole), "int32", 2 * (len(whole) + 2))
            words.note_ids(0, len(whole), self._starts, self._ids, self.words.rows)

    def encode(self, text: bytes | memoryview, split: Split) -> Any:
        """Return the ids of a text as the bytes of 32-bit numbers. Copy them before the next call."""
        out = self._written(self._counted([text], split)).cast("B")
        self._forget()
        return out

    def encode_each(self, texts: Sequence[bytes], split: Split) -> list[array[int]] | None:
        """Return the ids of each of many texts. None if some bytes are in no word, because then it is unknown
        to which text a word belongs."""
        count, bounds = self._counted(texts, split), bounds_of(texts)
        stops = array("q", bytes(8 * len(bounds)))
        covered = words.end_texts(self._numbers, count, self.words.ends, self._starts, bounds, stops)
        if covered != bounds[-1]:
            self._forget()
            return None
        out = self._written(count).cast("B")
        self._forget()
        found = [array("i") for _ in texts]
        for ids, start, stop in zip(found, stops, stops[1:], strict=False):
            ids.frombytes(out[4 * start : 4 * stop])
        return found

    def _counted(self, texts: Sequence[bytes | memoryview], split: Split) -> int:
        """Write the number of each word of texts to `_numbers`, and encode the new words. Return how many
        words there are."""
        size = sum(map(len, texts))
        if len(self._numbers) <= size:
            self._numbers = flat("int32", size + 1)
        count = self.scan(texts, split, self._numbers)
        self._encode_new()
        return count

    def _written(self, count: int) -> Any:
        """Return the ids of the first `count` words in `_numbers`, as 32-bit numbers."""
        written = filled = 0
        while True:
            written, filled = words.write_ids(
                self._numbers, written, count, self.words.rows, self._starts, self._ids, self._out, filled
            )
            if written == count:
                break
            self._out = larger(self._out, "int32", 2 * len(self._out) + 2, filled)
        return self._out[:filled]

    def _forget(self) -> None:
        """Empty the cache if it is too large."""
        if self.size > KEPT_WORDS or self.words.ends[self.size] > KEPT_BYTES:
            self._begin()

    def _encode_new(self) -> None:
        """Encode the words that have no ids yet."""
        number, last, ends = self._known, self.size, self.words.ends
        if number == last:
            return
        self._starts = _room_for(self._starts, "int64", number + 1, last + 1)
        if self._merges is not None:
            filled = int(self._starts[number])
            self._ids = _room_for(self._ids, "int32", filled, filled + ends[last] - ends[number] + 1)
            longest = max(starmap(lambda start, end: end - start, pairwise(ends[number : last + 1].tolist())))
            if len(self._room) < 7 * longest:
                self._room = flat("int64", 7 * longest)
        while number < last:
            if self._merges is None:
                self._encode_others(number, last, last)
                break
            number = words.merge_words(
                self.words, number, last, self._room, self._starts, self._ids, self._merges.tables
            )
            if number < last:
                self._encode_others(number, number + 1, last)
                number += 1
        words.note_ids(self._known, last, self._starts, self._ids, self.words.rows)
        self._known = last

    def _encode_others(self, number: int, stop: int, last: int) -> None:
        """Encode the words from `number` up to `stop` outside the kernels."""
        ends = self.words.ends[number : last + 1].tolist()
        first, size = ends[0], stop - number
        text = self.words.text[first : ends[size]].tobytes()
        found = self._others(list(
            FlatWords(text, array("q", [end - first for end in ends[: size + 1]]), ()).words()
        ))
        filled = int(self._starts[number])
        places = array("q", itertools.accumulate(map(len, found), initial=filled))
        # The words after them need at most one id per byte. Kernels read a word's second id even if it has
        # only one.
        self._ids = _room_for(self._ids, "int32", filled, places[-1] + ends[-1] - ends[size] + 1)
        self._ids[filled : places[-1]] = memoryview(array("i", itertools.chain.from_iterable(found)))
        self._starts[number : stop + 1] = memoryview(places)


def _room_for(values: Any, kind: str, filled: int, size: int) -> Any:
    """Return an array of at least `size` numbers that begins with the filled ones."""
    return values if size <= len(values) else larger(values, kind, 2 * size, filled)


def _copied(value: Any) -> Any:
    """Return a copy of an array, or a number unchanged."""
    return value if isinstance(value, int) else memoryview(bytearray(value)).cast(value.format)


class Compiled:
    """Encodes texts by one vocabulary at one number of merges. Threads may share it: each borrows a `Coded`
    of its own.

    `tokentui.core.native.available` must be true.

    Args:
        vocabulary: The vocabulary.
        merges: How many of its merges count.
        pretokenizer: Cuts texts into words, only by its recipe.
        segmenter: Cuts words into symbols at that number of merges; None for a way without kernels.
        others: Returns the ids of each of some words that the kernels cannot encode. It may raise.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, pretokenizer: Pretokenizer, segmenter: Segmenter | None,
        others: Callable[[list[str]], Sequence[Sequence[int]]],
    ) -> None:
        recipe = pretokenizer.recipe
        self._split = scanned(recipe)
        self._normalized: Callable[[str], str] | None = None
        """Normalizes a text for the scanner; None if the scanner reads the text unchanged."""
        if not self._split and recipe.normalize:
            recipe = replace(recipe, normalize=())
            self._split, self._normalized = scanned(recipe), pretokenizer.normalized
        numbered = vocabulary.ids(merges)
        if vocabulary.eventful:
            numbered = [numbered[symbol] for symbol in vocabulary.symbols(merges)]
        numbered = numbered[: vocabulary.base_size + merges]
        named = [
            *map(vocabulary.special_id, vocabulary.specials),
            *map(vocabulary.byte_id, range(vocabulary.byte_tokens)),
        ]
        ids = [0, *numbered, *named]
        self.knows = (
            type(pretokenizer) is Pretokenizer and self._split not in ("", SPACED)
            and min(ids) >= 0 and max(ids) <= LARGEST_ID
        )
        """True if the kernels can encode with this vocabulary."""
        self._replaced = recipe.unit != "byte" and self._split != RUNS
        own = splitter_of(recipe)
        parted = self._split.startswith(STRETCHES)
        self._front = own.opened if parted else None
        self._others = others
        if parted or self._split == RUNS:
            cut = own.parts if parted else functools.partial(
                words_of_runs, recipe=recipe, words=pretokenizer.words, split=RUNS
            )
            self._others = functools.partial(_ids_of_parts, cut, others)
        self._merges = None
        if self.knows and self._split != RUNS and not parted:
            self._merges = _merges(vocabulary, merges, segmenter, numbered)
        self._idle: list[Coded] = []
        self._covers = self._split != RUNS
        """False once a text had bytes that are in no word."""

    def encode(self, text: str, threads: int | None) -> array[int]:
        """Return the ids of a text. The arguments are those of `WordEncoder.ids`."""
        text, split = self._prepared(text), tables_of(self._split)
        coded = [self._taken() for _ in range(threads or threads_for(len(text)))]
        ids = [array("i") for _ in coded]

        def work(number: int, texts: list[bytes | memoryview]) -> None:
            for one in texts:
                ids[number].frombytes(coded[number].encode(one, split))

        workers = [functools.partial(work, number) for number in range(len(coded))]
        share([text], self._split, self._replaced, workers, self._front)
        self._idle += coded  # not after an error: it may have come in the middle of a word
        for more in ids[1:]:
            ids[0] += more
        return ids[0]

    def encode_each(self, texts: Sequence[str]) -> list[array[int]] | None:
        """Return the ids of each of many short texts by one call. None where the kernels cannot encode with
        this vocabulary, where the split leaves bytes out, and where a text holds lone surrogates.

        Raises: As `word` does.
        """
        if not (self.knows and self._covers):
            return None
        try:
            data = list(map(str.encode, map(self._prepared, texts) if self._normalized else texts))
            if self._front:
                data = [self._front(text) if text else text for text in data]
        except UnicodeEncodeError:
            return None
        coded = self._taken()
        found = coded.encode_each(data, tables_of(self._split))
        self._idle.append(coded)
        self._covers = found is not None
        return found

    def _prepared(self, text: str) -> str:
        return text if self._normalized is None else self._normalized(text)

    def _taken(self) -> Coded:
        """Return a cache for one thread: an idle one, or a new one."""
        try:
            return self._idle.pop()
        except IndexError:
            return Coded(self._merges, self._others)


def _ids_of_parts(
    cut: Callable[[list[str]], Iterable[Sequence[str]]],
    others: Callable[[list[str]], Sequence[Sequence[int]]], given: list[str],
) -> list[list[int]]:
    """Return the ids of parts of a text, each of which is cut into words.

    Args:
        cut: Returns the words of each of some parts.
        others: Returns the ids of each of some words.
        given: The parts.
    """
    parted = list(cut(given))
    distinct = list(dict.fromkeys(filter(None, itertools.chain.from_iterable(parted))))
    ids = {"": (), **dict(zip(distinct, others(distinct), strict=True))}
    return [[number for word in part for number in ids[word]] for part in parted]


def _merges(
    vocabulary: Vocabulary, merges: int, segmenter: Segmenter | None, numbered: Sequence[int]
) -> Merges | None:
    """Return the merges of a vocabulary of bytes as tables for kernels; None if the kernels cannot do the
    same as the segmenter."""
    recipe = vocabulary.recipe
    if recipe.unit != "byte" or recipe.mark_kind != "none" or not isinstance(segmenter, Merging):
        return None
    if not segmenter.plain:
        return None
    known = vocabulary.known_units(merges)
    units = [known.get(bytes((value,)), -1) for value in range(256)]
    whole = segmenter.whole_words()
    by_piece = {piece: numbered[symbol] for symbol in whole if _is_text(piece := vocabulary.pieces[symbol])}
    pairs = segmenter.pair_table()
    held = Merges(units, pairs, vocabulary.pieces, numbered, by_piece)
    # A segmenter detects stale merges by the result, kernels by the rank. Both agree if no place ever has two
    # pairs with the same result, which holds if a result is as long as its parts together.
    return held if held.fit and not pairs.tied else None


def _is_text(piece: bytes) -> bool:
    """Return whether bytes are UTF-8. The kernels skip words with other bytes."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
