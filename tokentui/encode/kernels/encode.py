"""Encode large texts to ids by kernels: scan the text by its split, encode each distinct word once, copy ids.

Check `tokentui.core.engines.available` before you import this module.
"""

from __future__ import annotations

import functools
import itertools
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, starmap
from typing import Any, NamedTuple

from tokentui.core.arrays import flat, larger
from tokentui.core.jobs import check
from tokentui.core.pages import room_for
from tokentui.encode.kernels import joins, words
from tokentui.encode.pipeline import NameFinder, reads_whole
from tokentui.encode.segment import Segmenter
from tokentui.encode.segment.merges import Merging, PairTable
from tokentui.encode.vocabulary import Sections, Special, Vocabulary
from tokentui.text.kernels import scan_count
from tokentui.text.kernels.count import (
    PAD,
    Table,
    bounds_of,
    cut_of,
    share,
    tables_of,
    threads_for,
    words_of_runs,
)
from tokentui.text.kernels.rules import RUNS, SPACED, STRETCHES, Split, scanned
from tokentui.text.kernels.scan_count import Bigrams, Scan, WordTable
from tokentui.text.parts import FlatWords
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPACE_MARK, splitter_of

KEPT_WORDS = 1 << 20
"""With more words, or more bytes of words, the table is emptied, since input may be endless."""
KEPT_BYTES = 1 << 26
LARGEST_ID = (1 << 31) - 1
MOST_LEFT = 1 << 6
"""The most results of ambiguous ranks. Words that contain one are left to plain Python, and more of them
would be most words."""
SHORT_BYTES = 1 << 14
"""The most bytes of a text that is encoded by one call of a kernel, with the arrays that are kept for it."""
SHORT_WORD = 1 << 8
"""The most bytes of a new word in such a text."""
NO_MERGES = words.MergeTables(array("q"), array("i"), array("Q"), array("q"), array("q"))
"""Merges for words that plain Python encodes."""
_BLOCK_WORDS = 1 << 12
"""New words between two checks of the job, if plain Python cuts them."""


class Merges:
    """The units and merges of a vocabulary as tables. They never change, so threads may share them.

    Args:
        units: The symbol of each of the 256 bytes; -1 for none.
        characters: See `words.MergeTables`.
        pairs: The pairs that merge. The lowest rank merges first.
        pieces: The bytes of each symbol.
        numbered: The id of each symbol, of 32 bits.
        whole: The id of each word that is a token without merging.
    """

    def __init__(
        self, units: Sequence[int], characters: Any, pairs: PairTable, pieces: Sequence[bytes],
        numbered: Sequence[int], whole: Mapping[bytes, int],
    ) -> None:
        slots = flat("uint64", 1 << (2 * len(pairs.ranks) + 1).bit_length())
        self.tables = words.MergeTables(
            array("q", units), characters, slots, pairs.makes, array("q", numbered)
        )
        lengths = array("q", map(len, pieces))
        check()
        self.fit = max(len(pieces), len(pairs.makes)) < words.NONE and not words.put_pairs(
            pairs.keys, pairs.ranks, pairs.makes, len(pieces), pairs.limit, lengths, slots
        )
        """True if the tables can represent the merges: symbols and ranks fit into them, and a result is as
        long as its parts together."""
        check()
        self.left: re.Pattern[str] | None = None
        """Matches in words that the kernels leave to plain Python."""
        self.start = Table()
        """Table of the words in `whole`: word n has the one id `whole[n]`."""
        self.whole = array("i", whole.values())
        self.start.add(FlatWords(b"".join(whole), bounds_of(list(whole)), array("q", bytes(8 * len(whole)))))


class Coded(Table):
    """Cache of distinct words with their ids, for one thread.

    Args:
        merges: Tables that encode words; None if `others` encodes all.
        others: Returns the ids of each of some words that `merges` cannot encode: words with a lone surrogate
            or an unknown unit, and those with one of `names`.
        names: Finds tokens that are cut out of any text; None for none.
    """

    def __init__(
        self, merges: Merges | None, others: Callable[[list[str]], Sequence[Sequence[int]]],
        names: NameFinder | None = None,
    ) -> None:
        self._merges, self._others, self._names = merges, others, names
        self._begin()

    def _begin(self) -> None:
        """Forget all words, and begin with those that the merges encode as a whole."""
        super().__init__()
        self._known = flat("int64", 1)
        self._short: words.ShortText | words.ShortStretches | None = None
        self._text = self._short_ids = flat("uint8", 0)
        self._starts = flat("int64", 2)
        self._ids = flat("int32", 1 << 12)
        self._room = flat("int64", 0)
        self._values = flat("uint64", 0)
        self._out = flat("int32", 1 << 16)
        if self._merges is not None:
            start, whole = self._merges.start.words, self._merges.whole
            self.words = WordTable(*map(_copied, start))
            self._known[0] = len(whole)
            self._starts = memoryview(array("q", range(len(whole) + 2)))
            self._ids = larger(memoryview(whole), "int32", 2 * (len(whole) + 2))
            words.note_ids(0, len(whole), self._starts, self._ids, self.words)

    def encode(self, text: bytes | memoryview, split: Split | Bigrams) -> Any:
        """Return the ids of a text as the bytes of 32-bit numbers. Copy them before the next call."""
        out = self._written(self._counted([text], split)).cast("B")
        self._forget()
        return out

    def encode_each(self, texts: Sequence[bytes], split: Split | Bigrams) -> tuple[array[int], array[int]]:
        """Return the ids of many texts; and a 0, then where those of each text end."""
        stops = array("q", bytes(8 * len(texts) + 8))
        ends = memoryview(stops)[1:]
        count = self._counted(texts, split, ends)
        words.end_texts(self._values, self._starts, ends)
        ids = array("i")
        ids.frombytes(self._written(count).cast("B"))
        self._forget()
        return ids, stops

    def encode_short(self, text: bytes, split: Split | Bigrams) -> array[int]:
        """Return the ids of a text by one call, unless it has new words that the merges do not encode."""
        ids = array("i")
        count = words.LEFT
        if len(text) <= SHORT_BYTES:
            count = self._put_short(text, split)
            if count == words.LEFT and self.size > self._known[0]:
                self._encode_new()
                count = self._put_short(text, split)
        if count == words.LEFT:
            ids.frombytes(self.encode(text, split))
        else:
            ids.frombytes(self._short_ids[: 4 * count])
        return ids

    def _put_short(self, text: bytes, split: Split | Bigrams) -> int:
        """Write the ids of a text to `_short_ids`. Return what `words.encode_text` does."""
        short = self._short
        if short is None or short.coding.words is not self.words or (
            short.coding.starts is not self._starts or short.coding.ids is not self._ids
        ):
            short = self._short = self._short_with(split)
        size = len(text)
        self._text[:size] = text
        encode = words.encode_text if isinstance(short, words.ShortText) else words.encode_stretches
        found: int = encode(short, size)
        return found

    def _short_with(self, split: Split | Bigrams) -> words.ShortText | words.ShortStretches:
        """Return the tables as they are and arrays for a short text, for one call of a kernel."""
        if self._short is None:
            self._text = flat("uint8", SHORT_BYTES + len(PAD))
            out = flat("int32", SHORT_BYTES + len(PAD))
            self._short_ids = out.cast("B")
            values, bounds, room = (
                flat("uint64", SHORT_BYTES + 1), flat("int64", 2), flat("int64", 7 * SHORT_WORD)
            )
        else:
            _, bounds, _, values, _, _, _, room, _, out = self._short.coding
        merges = self._merges
        # Kernels do not encode words that contain one of `names`, or that are left to plain Python.
        known = merges is not None and not (merges.left or (self._names and self._names.names))
        coding = words.Coding(
            self._text, bounds, self.words, values, self._known, self._starts, self._ids, room,
            merges.tables if merges is not None and known else NO_MERGES, out,
        )
        if isinstance(split, Bigrams):
            return words.ShortStretches(self._text, split, self._events, self._found, coding)
        scan = Scan(self._text, split, self.words, self._events, self._found, values)
        return words.ShortText(scan, coding)

    def _counted(
        self, texts: Sequence[bytes | memoryview], split: Split | Bigrams, stops: Any = b""
    ) -> int:
        """Write the value of each word of texts to `_values`, and encode the new words. Return how many
        words there are. The arguments are those of `scan`."""
        size = sum(map(len, texts))
        if len(self._values) <= size:
            self._values = flat("uint64", size + 1)
        count = self.scan(texts, split, self._values, stops)
        self._encode_new()
        return count

    def _written(self, count: int) -> Any:
        """Return the ids of the first `count` words in `_values`, as 32-bit numbers.

        It is a view of `_out`, which the next call overwrites. `_out` grows as needed.
        """
        written = filled = 0
        while True:
            written, filled = words.write_ids(
                self._values, written, count, self._starts, self._ids, self._out, filled
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
        number, last, ends = self._known[0], self.size, self.words.ends
        if number == last:
            return
        self._starts = _room_for(self._starts, "int64", number + 1, last + 1)
        if self._merges is not None:
            filled = int(self._starts[number])
            self._ids = _room_for(self._ids, "int32", filled, filled + ends[last] - ends[number] + 1)
            longest = max(starmap(lambda start, end: end - start, pairwise(ends[number : last + 1].tolist())))
            if len(self._room) < 7 * longest:
                self._room = flat("int64", 7 * longest)
        named = iter((*self._with_names(number, last), last))
        stop_at = next(named)
        while number < last:
            if self._merges is None:
                stop = min(number + _BLOCK_WORDS, last)
                check()
                self._encode_others(number, stop, last)
                number = stop
                continue
            number = words.merge_words(
                self.words, number, stop_at, self._room, self._starts, self._ids, self._merges.tables
            )
            if number < last:
                check()
                self._encode_others(number, number + 1, last)
                number += 1
                while stop_at < number:
                    stop_at = next(named)
        words.note_ids(self._known[0], last, self._starts, self._ids, self.words)
        self._known[0] = last

    def _with_names(self, number: int, last: int) -> list[int]:
        """Return the words from `number` to `last - 1` that may contain one of `names`, or what the kernels
        leave to plain Python, in order. A name that spans words counts for the first and the last. Empty
        without merges."""
        left = self._merges.left if self._merges else None
        if self._merges is None or not (self._names or left):
            return []
        ends = array("q", self.words.ends[number : last + 1].tolist())
        data = self.words.text[ends[0] : ends[-1]].tobytes()
        text, ends = data.decode("utf-8", "surrogatepass"), array("q", [end - ends[0] for end in ends])
        if len(text) < len(data):
            scan_count.places_in_characters(data, ends)
        found = set[int]()
        spans = [*(self._names.spans(text) if self._names else ())]
        spans += [match.span() for match in (left.finditer(text) if left else ())]
        for start, end in spans:  # a name may reach from one word into the next
            found |= {bisect_right(ends, start) - 1, bisect_right(ends, end - 1) - 1}
        return sorted(number + n for n in found)

    def _encode_others(self, number: int, stop: int, last: int) -> None:
        """Encode the words from `number` up to `stop` outside the kernels, into `_ids` and `_starts`.

        `_ids` then has room for one id per byte of the words up to `last`.
        """
        ends = self.words.ends[number : last + 1].tolist()
        first, size = ends[0], stop - number
        text = self.words.text[first : ends[size]].tobytes()
        found = self._others(list(
            FlatWords(text, array("q", [end - first for end in ends[: size + 1]]), array("q")).words()
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
    if isinstance(value, int):
        return value
    made = memoryview(room_for(value.nbytes)).cast(value.format)
    made[:] = value
    return made


class _Reading(NamedTuple):
    """How the scanner reads texts.

    Attributes:
        split: The tables of the split, or the pairs of characters that tokens have side by side.
        cut: Returns the first place from an offset on where a text may be cut in two.
        normalized: Normalizes a text; None if the scanner reads it unchanged.
        front: Changes the first bytes of a text; None for no change.
        parts: Returns the words of each of some stretches; None if the scanner finds words.
        replaced: True to replace lone surrogates by U+FFFD.
    """

    split: Split | Bigrams
    cut: Callable[[str, int], int]
    normalized: Callable[[str], str] | None = None
    front: Callable[[bytes], bytes] | None = None
    parts: Callable[[list[str]], Iterable[Sequence[str]]] | None = None
    replaced: bool = False


class Compiled:
    """Encodes texts by one vocabulary at one number of merges. Threads may share it: each borrows a `Coded`
    of its own.

    `tokentui.core.engines.available` must be true.

    Args:
        vocabulary: The vocabulary.
        merges: How many of its merges count.
        pretokenizer: Cuts texts into words.
        segmenter: Cuts words into symbols at that number of merges; None for a way without kernels.
        sections: Cuts out the tokens that a text contains by name; None for none.
        others: Returns the ids of each of some words that the kernels cannot encode. It may raise.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, pretokenizer: Pretokenizer, segmenter: Segmenter | None,
        sections: Sections | None, others: Callable[[list[str]], Sequence[Sequence[int]]],
    ) -> None:
        numbered = vocabulary.ids(merges)
        if vocabulary.eventful:
            numbered = [numbered[symbol] for symbol in vocabulary.symbols(merges)]
        numbered = numbered[: vocabulary.base_size + merges]
        named = [
            *map(vocabulary.special_id, vocabulary.specials),
            *map(vocabulary.byte_id, range(vocabulary.byte_tokens)),
        ]
        ids = [0, *numbered, *named]
        fit = min(ids) >= 0 and max(ids) <= LARGEST_ID
        self._reading = _reading(vocabulary, pretokenizer, segmenter, sections) if fit else None
        self.knows = self._reading is not None
        """True if the kernels can encode texts with this vocabulary."""
        self._merges, self._others, self._names = None, others, sections.always if sections else None
        if self._reading is not None and self._reading.parts is not None:
            self._others = functools.partial(_ids_of_parts, self._reading.parts, others)
            if sections is not None and sections.always is not None and sections.always.names:
                self._others = functools.partial(
                    _ids_of_stretches, sections, vocabulary.special_id, self._others, others
                )
        if self._reading is not None and isinstance(self._reading.split, Bigrams):
            self._merges = _character_merges(vocabulary, pretokenizer, segmenter, numbered)
        elif self._reading is not None and self._reading.parts is None:
            self._merges = _merges(vocabulary, merges, segmenter, numbered)
        self._idle: list[Coded] = []

    def encode(self, text: str, threads: int | None) -> array[int]:
        """Return the ids of a text, which is normalized first and shared among threads.

        The arguments are those of `WordEncoder.ids`.
        """
        reading = self._known_reading
        text = reading.normalized(text) if reading.normalized else text
        coded = [self._taken() for _ in range(threads or threads_for(len(text)))]
        ids = [array("i") for _ in coded]

        def work(number: int, texts: list[bytes | memoryview]) -> None:
            for one in texts:
                ids[number].frombytes(coded[number].encode(one, reading.split))

        workers = [functools.partial(work, number) for number in range(len(coded))]
        share([text], reading.cut, reading.replaced, workers, reading.front)
        self._idle += coded  # not after an error: it may have come in the middle of a word
        for more in ids[1:]:
            ids[0] += more
        return ids[0]

    def encode_short(self, text: str) -> array[int] | None:
        """Return the ids of a short text. None if the kernels cannot encode with this vocabulary, or the text
        has lone surrogates.

        Raises: As `word` does.
        """
        reading = self._reading
        if reading is None:
            return None
        try:
            data = (reading.normalized(text) if reading.normalized else text).encode()
        except UnicodeEncodeError:
            return None
        if reading.front and data:
            data = reading.front(data)
        coded = self._taken()
        ids = coded.encode_short(data, reading.split)
        self._idle.append(coded)
        return ids

    def encode_each(self, texts: Sequence[str]) -> tuple[array[int], array[int]] | None:
        """Return the ids of many short texts by one call; and a 0, then where those of each text end. None
        if the kernels cannot encode with this vocabulary, or a text has lone surrogates.

        Raises: As `word` does.
        """
        if not self.knows:
            return None
        reading = self._known_reading
        try:
            data = list(map(str.encode, map(reading.normalized, texts) if reading.normalized else texts))
        except UnicodeEncodeError:
            return None
        if front := reading.front:
            data = [front(text) if text else text for text in data]
        coded = self._taken()
        found = coded.encode_each(data, reading.split)
        self._idle.append(coded)
        return found

    @property
    def _known_reading(self) -> _Reading:
        assert self._reading is not None  # callers check `knows`
        return self._reading

    def _taken(self) -> Coded:
        """Return a cache for one thread: an idle one, or a new one."""
        try:
            return self._idle.pop()
        except IndexError:
            return Coded(self._merges, self._others, self._names)


def _reading(
    vocabulary: Vocabulary, pretokenizer: Pretokenizer, segmenter: Segmenter | None,
    sections: Sections | None,
) -> _Reading | None:
    """Return how the scanner reads texts for a vocabulary; None if it cannot. The arguments are those of
    `Compiled`."""
    recipe, stretching = pretokenizer.recipe, pretokenizer.stretching
    replaced = recipe.unit != "byte"
    if stretching is not None:
        if not reads_whole(pretokenizer, sections):
            return None
        alone = functools.partial(
            _Reading, front=stretching.opened, parts=stretching.words, replaced=replaced
        )
        if stretching.split:
            return alone(tables_of(stretching.split), cut_of(stretching.split))
        if recipe.unit != "char":
            return None
        names = sections.names if sections else ()
        bigrams = joins.bigrams_of(vocabulary, segmenter, names, marks=stretching.marks_spaces)
        return alone(bigrams, functools.partial(joins.cut_of, bigrams)) if bigrams else None
    if type(pretokenizer) is not Pretokenizer:
        return None
    split, normalized = scanned(recipe), None
    if not split and recipe.normalize:
        recipe = replace(recipe, normalize=())
        split, normalized = scanned(recipe), pretokenizer.normalized
    if split in ("", SPACED):
        return None
    tables, cut = tables_of(split, recipe.unicode), cut_of(split, recipe.unicode)
    read = _Reading(tables, cut, normalized, replaced=replaced)
    if split == RUNS:
        parts = functools.partial(words_of_runs, recipe=recipe, words=pretokenizer.words, split=RUNS)
        return read._replace(parts=parts, replaced=False)
    if split.startswith(STRETCHES):
        own = splitter_of(recipe)
        return read._replace(front=own.opened, parts=own.parts)
    return read


def _ids_of_stretches(
    sections: Sections, special_id: Callable[[str], int],
    plain: Callable[[list[str]], Sequence[Sequence[int]]],
    others: Callable[[list[str]], Sequence[Sequence[int]]], given: list[str],
) -> list[Sequence[int]]:
    """Return the ids of stretches of a text, with the tokens that are cut out of any text.

    Args:
        sections: Cuts out these tokens.
        special_id: Returns the id of such a token.
        plain: Returns the ids of each of some stretches without such a token.
        others: Returns the ids of each of some words.
        given: The stretches.
    """
    finder = sections.always
    named = [number for number, stretch in enumerate(given) if finder and finder.is_in(stretch)]
    found: dict[int, Sequence[int]] = {}
    for number in named:
        ids: list[int] = []
        for part in sections.bare(given[number], False):
            if isinstance(part, Special):
                ids.append(special_id(part.name))
            else:
                ids += itertools.chain.from_iterable(others(part))
        found[number] = ids
    rest = iter(plain([stretch for number, stretch in enumerate(given) if number not in found]))
    return [found[number] if number in found else next(rest) for number in range(len(given))]


def _ids_of_parts(
    cut: Callable[[list[str]], Iterable[Sequence[str]]],
    others: Callable[[list[str]], Sequence[Sequence[int]]], given: list[str],
) -> list[Sequence[int]]:
    """Return the ids of parts of a text, each of which is cut into words.

    Args:
        cut: Returns the words of each of some parts.
        others: Returns the ids of each of some words.
        given: The parts.
    """
    parted = list(cut(given))
    distinct = list(dict.fromkeys(filter(None, itertools.chain.from_iterable(parted))))
    ids = {"": [], **dict(zip(distinct, others(distinct), strict=True))}
    return [
        ids[part[0]] if len(part) == 1 else [number for word in part for number in ids[word]]
        for part in parted
    ]


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
    held = Merges(units, array("i"), pairs, vocabulary.pieces, numbered, by_piece)
    # A segmenter detects stale merges by the result, kernels by the rank. Both agree if no place ever has two
    # pairs with the same result, which holds if a result is as long as its parts together.
    return held if held.fit and not pairs.tied else None


def _character_merges(
    vocabulary: Vocabulary, pretokenizer: Pretokenizer, segmenter: Segmenter | None, numbered: Sequence[int]
) -> Merges | None:
    """Return the merges of a vocabulary of characters that are cut by `Bigrams`, as tables for kernels; None
    if the kernels cannot do the same as the segmenter."""
    stretching = pretokenizer.stretching
    if pretokenizer.plain_unit != "char" or not isinstance(segmenter, Merging) or stretching is None:
        return None
    characters = flat("int32", joins.CODES)
    for character, symbol in segmenter.characters().items():
        characters[ord(character)] = symbol + 1 if symbol >= 0 else -1
    if stretching.marks_spaces:
        characters[ord(" ")] = characters[ord(SPACE_MARK)]
    units = [segmenter.byte_symbols.get(value, -1) for value in range(256)]
    pairs = segmenter.pair_table()
    merges = Merges(units, characters, pairs, vocabulary.pieces, numbered, {})
    if not merges.fit or len(pairs.tied) > MOST_LEFT:
        return None
    if pairs.tied:  # a rank has one result
        pieces = (vocabulary.pieces[made].decode("utf-8", "surrogateescape") for made in pairs.tied)
        marked = (re.escape(piece).replace(SPACE_MARK, f"[ {SPACE_MARK}]") for piece in pieces)
        merges.left = re.compile("|".join(sorted(marked, key=len)))
    return merges


def _is_text(piece: bytes) -> bool:
    """Return whether bytes are UTF-8. The kernels skip words with other bytes."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
