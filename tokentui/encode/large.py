"""Large texts to ids by kernels: the split scans the text, each distinct word is encoded once, the ids are copied."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.ranked import JoinedMerging, PairMerging, RankedMerging
from tokentui.text.kernels.rules import RUNS, SCANNED, is_bert, is_shaped
from tokentui.text.pretokenize import Pretokenizer

if TYPE_CHECKING:  # they import the kernels
    from tokentui.encode.kernels.table import Coded, Merges

_LARGEST_ID = (1 << 31) - 1


class Compiled:
    """Encodes texts by one vocabulary at one number of merges. Threads may share it.

    `tokentui.core.jit.load` has to have said yes.

    Args:
        encoder: What encodes words. Nothing is done to a text but what its recipe says.
        word: The ids of a word, by `encoder`. It may raise.
    """

    def __init__(self, encoder: WordEncoder, word: Callable[[str], Sequence[int]]) -> None:
        recipe = encoder.pretokenizer.recipe
        self._split = "" if is_shaped(recipe) else recipe.split if not recipe.normalize else RUNS if is_bert(recipe) else ""
        vocabulary, merges = encoder.vocabulary, encoder.merges
        numbered = [vocabulary.id_of(symbol, merges) for symbol in range(vocabulary.base_size + merges)]
        others = [*map(vocabulary.special_id, vocabulary.specials), *map(vocabulary.byte_id, range(vocabulary.byte_tokens))]
        ids = [0, *numbered, *others]
        self.knows = (
            type(encoder.pretokenizer) is Pretokenizer and self._split in (*SCANNED, RUNS)
            and all(0 <= number <= _LARGEST_ID for number in (min(ids), max(ids)))
        )
        """Whether it can do it for this vocabulary."""
        self._replaced = recipe.unit != "byte" and self._split != RUNS
        words = encoder.pretokenizer.words
        self._word = (lambda run: [number for one in words(run) for number in word(one)]) if self._split == RUNS else word
        self._merges = _merges(encoder, numbered) if self.knows and self._split != RUNS else None
        self._idle: list[Coded] = []

    def encode(
        self, text: str, threads: int | None, progress: Callable[[int, int], object] | None, cancel: Callable[[], bool] | None
    ) -> array[int]:
        """The ids of a text. `IdEncoder.encode` says what the arguments are."""
        from tokentui.text.kernels.counting import Shares, threads_for
        from tokentui.text.kernels.tables import scanner

        split = scanner(self._split)
        shares = Shares([text], split, self._replaced, threads or threads_for(len(text)))
        coded = [self._taken() for _ in range(shares.threads)]
        ids = [array("i") for _ in coded]

        def worker(number: int) -> Callable[[list[bytes]], None]:
            def work(texts: list[bytes]) -> None:
                for one in texts:
                    ids[number].frombytes(coded[number].encode(one, split))

            return work

        shares.run([worker(number) for number in range(shares.threads)], progress, cancel)
        self._idle += coded  # not after an error: it may have come in the middle of a word
        for more in ids[1:]:
            ids[0] += more
        return ids[0]

    def _taken(self) -> Coded:
        """Words for one thread to go on with."""
        from tokentui.encode.kernels.table import Coded

        try:
            return self._idle.pop()
        except IndexError:
            return Coded(self._merges, self._word)


def _merges(encoder: WordEncoder, numbered: list[int]) -> Merges | None:
    """The merges of a vocabulary of bytes as kernels take them; None where the kernels cannot do what its segmenter does."""
    from tokentui.encode.kernels.table import Merges

    segmenter, vocabulary, recipe = encoder.segmenter, encoder.vocabulary, encoder.vocabulary.recipe
    if recipe.unit != "byte" or recipe.mark_kind != "none" or not isinstance(segmenter, Merging | RankedMerging):
        return None
    if type(segmenter) not in (Merging, PairMerging, JoinedMerging):
        return None  # a child, which does more
    known = vocabulary.known_units(encoder.merges)
    units = [known.get(bytes((value,)), -1) for value in range(256)]
    whole = segmenter.whole_words() if isinstance(segmenter, RankedMerging) else ()
    by_piece = {piece: numbered[symbol] for symbol in whole if _is_text(piece := vocabulary.pieces[symbol])}
    merges = Merges(units, itertools.chain.from_iterable(segmenter.pairs()), numbered, by_piece)
    # Segmenters know what was merged meanwhile by the symbol made, kernels by the rank. That is the same where no place ever has
    # two pairs that make the same: what is made is as long as its parts.
    return merges if merges.are_plain(list(map(len, vocabulary.pieces))) else None


def _is_text(piece: bytes) -> bool:
    """Whether a word can be these bytes. Words with bytes that are not UTF-8 are none of the kernels' business."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True
