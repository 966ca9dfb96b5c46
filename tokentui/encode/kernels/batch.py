"""Encode many words to ids at once by kernels, by merges or by scores.

Check `tokentui.core.engines.available` before you import this module.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tokentui.core.arrays import flat
from tokentui.encode.kernels import viterbi, words
from tokentui.encode.kernels.encode import LARGEST_ID, MOST_LEFT, Merges
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.viterbi import SingleViterbi, Viterbi
from tokentui.encode.vocabulary import Vocabulary

Many = Callable[[list[str]], "list[list[int] | None]"]
"""Returns the ids of words without surrogates. None for a word with an unknown unit, which plain Python
encodes."""
Following = Callable[[list[str], float], "tuple[array[int], float] | None"]
"""Returns the ids of consecutive words of a text, and the log probability after them, given that before them.
None if a word has surrogates, or an id is too large."""
_LARGEST_SCORE = 1e100



def batch(
    vocabulary: Vocabulary, merges: int, segmenter: object, unit: str, *, drops: bool
) -> Many | None:
    """Return a function that encodes many words by a vocabulary at a number of merges.

    Args:
        vocabulary: The vocabulary.
        merges: How many of its merges count.
        segmenter: Its way of encoding.
        unit: The unit of words, which have no marks: `byte` or `char`.
        drops: True if unknown units are dropped.

    Returns:
        The function; None if the kernels cannot do the same as the segmenter.
    """
    numbered = _numbered(vocabulary, merges)
    if numbered is None:
        return None
    if isinstance(segmenter, Merging):
        if not segmenter.plain:
            return None
        known = vocabulary.known_units(merges) if drops else None
        return _merging(vocabulary, segmenter, numbered, unit, known)
    return _scoring(segmenter, numbered, unit) if isinstance(segmenter, Viterbi) and not drops else None


def _numbered(vocabulary: Vocabulary, merges: int) -> list[int] | None:
    """Return the id of each symbol; None if an id is negative or too large for kernels."""
    numbered = list(vocabulary.ids(merges)[: vocabulary.base_size + merges])
    return None if min(numbered, default=0) < 0 or max(numbered, default=0) > LARGEST_ID else numbered


def _merging(
    vocabulary: Vocabulary, segmenter: Merging, numbered: list[int], unit: str,
    known: Mapping[bytes, int] | None,
) -> Many | None:
    """Return a function that encodes words by merges; None if kernels cannot represent the merges.

    It returns None for a word that contains a token of which a rank has several.
    """
    pairs = segmenter.pair_table()
    # A rank has one result. Words that contain a result of a rank with several are left to plain Python.
    left = {vocabulary.pieces[made] for made in pairs.tied}
    if len(left) > MOST_LEFT:
        return None
    left = {one for one in left if not any(other in one for other in left - {one})}
    apart = re.compile(b"|".join(map(re.escape, left))) if left else None
    merges = Merges([-1] * 256, array("i"), pairs, vocabulary.pieces, numbered, {})
    if not merges.fit:
        return None
    cells: dict[int | str, Sequence[int]] = {}

    def learn(one: int | str) -> None:
        cut = bytes((one,)) if isinstance(one, int) else one.encode()
        made = segmenter.cells_of(cut) if known is None or cut in known else []
        cells[one] = made if made and min(made) >= 0 and max(made) < len(numbered) else [-1]

    def encode(given: list[str]) -> list[list[int] | None]:
        data = list(map(str.encode, given))
        units: Sequence[Sequence[int | str]] = data if unit == "byte" else given
        for one in set().union(*units) - cells.keys():
            learn(one)
        spelled = [[symbol for one in word for symbol in cells[one]] for word in units]
        symbols = array("i", itertools.chain.from_iterable(spelled))
        bounds = _bounds(spelled)
        found = _cut(bounds, lambda starts, ids, longest: words.merge_symbols(
            symbols, bounds, flat("int64", 7 * longest), starts, ids, merges.tables
        ))
        if apart is not None:
            found = [None if apart.search(word) else ids for word, ids in zip(data, found, strict=True)]
        whole = [segmenter.at_once(word, len(cut)) for word, cut in zip(data, units, strict=True)]
        return [ids if one is None else [numbered[one]] for one, ids in zip(whole, found, strict=True)]

    return encode


class _Tokens(NamedTuple):
    """The tokens of a model with scores, as kernels take them. `slots` and `ends` are the trie."""

    slots: Any
    ends: array[int]
    scores: array[float]
    unknown: float
    numbered: array[int]


def _tokens(segmenter: Viterbi, numbered: list[int]) -> _Tokens | None:
    """Return the tokens of a model; None if kernels cannot represent them."""
    tokens, scores, unknown, refused = segmenter.model()
    symbols = array("i", tokens.values())
    scores = array("d", scores)
    size = sum(map(len, tokens))
    if (
        max(symbols, default=0) >= min(len(numbered), len(scores)) or size >= viterbi.NODES
        or not all(map(_LARGEST_SCORE.__gt__, map(abs, (unknown, *scores))))
    ):
        return None
    ids_of = array("q", numbered)
    if refused is not None:
        ids_of[refused] = -1
    slots, ends = flat("uint64", 1 << (size + 1).bit_length()), array("i", [-1]) * (size + 1)
    viterbi.put_tokens(b"".join(tokens), _bounds(tokens), symbols, slots, ends)
    return _Tokens(slots, ends, scores, unknown, ids_of)


def _scoring(segmenter: Viterbi, numbered: list[int], unit: str) -> Many | None:
    """Return a function that encodes words by their most probable segmentation; None if kernels cannot
    represent the model.
    """
    held = _tokens(segmenter, numbered)
    if held is None:
        return None

    def encode(given: list[str]) -> list[list[int] | None]:
        data = list(map(str.encode, given))
        bounds = _bounds(data)
        return _cut(bounds, lambda starts, ids, longest: viterbi.cut_words(
            b"".join(data), bounds, int(unit == "char"), *held, flat("float64", longest + 1),
            flat("int64", 2 * longest + 2), starts, ids,
        ))

    return encode


def follow(
    vocabulary: Vocabulary, merges: int, segmenter: object, plain: Callable[[str, float], list[int]]
) -> Following | None:
    """Return a function that encodes the words of a text in order, given the log probability before them.

    Args:
        vocabulary: The vocabulary.
        merges: How many of its merges count.
        segmenter: Its way of encoding. The units of words are characters without marks.
        plain: Returns the ids of a word with an unknown unit, given the log probability before it.

    Returns:
        The function; None if the kernels cannot do the same as the segmenter.
    """
    numbered = _numbered(vocabulary, merges)
    if not isinstance(segmenter, SingleViterbi) or numbered is None:
        return None
    held = _tokens(segmenter, numbered)
    if held is None:
        return None

    def encode(given: list[str], before: float) -> tuple[array[int], float] | None:
        try:
            data = list(map(str.encode, given))
        except UnicodeEncodeError:
            return None
        bounds, totals = _bounds(data), array("f", [before]) * (len(given) + 1)
        starts, ids, longest = _room(bounds)
        viterbi.cut_text(
            b"".join(data), bounds, *held, totals, flat("float32", longest + 1),
            flat("int64", 2 * longest + 2), starts, ids,
        )
        del ids[starts[-1] :]
        found, done = array("i"), 0
        with contextlib.suppress(ValueError):
            while True:
                number = bisect_right(starts, ids.index(-1, starts[done])) - 1
                found += ids[starts[done] : starts[number]]
                try:
                    found.extend(plain(given[number], totals[number]))
                except OverflowError:  # the id of the unknown token
                    return None
                done = number + 1
        return found + ids[starts[done] :], totals[-1]

    return encode


def _bounds(data: Iterable[Sequence[int]]) -> array[int]:
    """Return the offset where each of some concatenated sequences starts, and the end."""
    return array("q", itertools.accumulate(map(len, data), initial=0))


def _cut(
    bounds: array[int], run: Callable[[array[int], array[int], int], object]
) -> list[list[int] | None]:
    """Return the ids that a kernel writes for words; None for a word with an id of -1.

    Args:
        bounds: The offset where the units of each word start, and the end.
        run: Runs the kernel with the arrays for starts and ids, and the number of units of the longest word.
    """
    starts, ids, longest = _room(bounds)
    run(starts, ids, longest)
    numbers = ids[: starts[-1]].tolist()
    found = [numbers[start:end] for start, end in itertools.pairwise(starts)]
    return [None if -1 in one else one for one in found] if -1 in numbers else [*found]


def _room(bounds: array[int]) -> tuple[array[int], array[int], int]:
    """Return arrays for the starts of the ids of words and for the ids, and the number of units of the
    longest word."""
    starts, ids = array("q", bytes(8 * len(bounds))), array("i", bytes(4 * (bounds[-1] + len(bounds))))
    return starts, ids, max((end - start for start, end in itertools.pairwise(bounds)), default=0)
