"""Gage's compression: a byte that the text lacks stands for the most frequent pair, again and again (P. Gage,
1994).

The counts are those of byte-pair encoding: overlapping places count, and pairs are replaced from left to
right. What differs is the vocabulary (see `tokentui.encode.vocabulary`) and the end: a pair that stands once
is never replaced, and a run ends when no byte is free. Gage's program works on blocks of a text and stops
below three places (`min_count=3`); here a document is one block.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from tokentui.core.runtime import quiet_collector
from tokentui.encode.gage import GageVocabulary, free_bytes
from tokentui.encode.vocabulary import quoted
from tokentui.learn.bases import Totals, byte_order_of_gpt2
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.engine import PairEngine
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Why
from tokentui.learn.steps import Life
from tokentui.learn.trainer import Compressed
from tokentui.recipe import Stops
from tokentui.text.pretokenize import Pretokenizer

ENTRY_BYTES = 3
"""The assumed size of an entry of the table in bytes: the pair and the byte that replaces it.

Gage's program packs its table further, block by block: a byte or two for an entry, and a byte for each gap
between entries.
"""

_PRINTED = 188
"""So many bytes keep their own letter (in Latin-1) and come first in GPT-2's order."""

_LETTERS = {
    value: chr(value if n < _PRINTED else 256 + n - _PRINTED) for n, value in enumerate(byte_order_of_gpt2())
}


def letter(value: int) -> str:
    """The letter that a byte is shown as: A for 0x41, and for all others too as GPT-2 shows bytes; no two
    share one."""
    return _LETTERS[value]


class GageTrainer(PairTrainer):
    """A compression: merges by count, as long as a byte is free.

    The last pair that stands twice ends it: one that stands once would only lengthen the table.

    Args:
        material: The documents, each of them a word, and the recipe.
        source: The engine of a compression of the same documents, whose steps are taken over; None for none.
        number: How many of its steps are taken over.
    """

    def __init__(self, material: Material, source: PairEngine | None = None, number: int = 0) -> None:
        def vocabulary(totals: Totals) -> GageVocabulary:
            run = material.run
            return GageVocabulary(material.recipe, free_bytes(totals), run.specials, run.first_id)

        with quiet_collector():
            taken = source.fork(number, material) if isinstance(source, PlainPairs) else None
            self._pairs = taken or PlainPairs(material, vocabulary)
        super().__init__(self._pairs, material, GageTrainer)
        self.compression = self
        self.letters = self._vocabulary.placeholders
        self.most = len(self.letters)

    @property
    def _vocabulary(self) -> GageVocabulary:
        vocabulary = self._pairs.vocabulary
        assert isinstance(vocabulary, GageVocabulary)
        return vocabulary

    def why(self, stops: Stops) -> Why:
        """The reasons of the step to come: the sizes, and what it does to them."""
        why, facts = super().why(stops), [self.compressed(length=0).sizes]
        if self.number >= self.most:
            facts.append("no free byte: each of the 256 stands in the text or for a pair")
        elif why.best is None:
            facts.append("no pair stands twice")
        elif why.end is None:
            token = why.best.token
            facts.append(f"{letter(token[0])} (0x{token.hex()}) is free and will stand for it: "
                         f"{why.replaced:,} off the text, {ENTRY_BYTES} on the table")
        return replace(why, facts=(*facts, *why.facts))

    def life(self, word: str) -> list[Life]:
        """A text as the steps up to this one compress it."""
        known = self._vocabulary.known_units(self.number)
        for unit in Pretokenizer(self.recipe).units(word):
            if unit not in known:
                raise self._vocabulary.refusal(unit, quoted(word))
        return super().life(word)

    def compressed(self, start: int = 0, length: int = 4000) -> Compressed:
        """The compression at this step, with so many bytes of the compressed text from a byte on."""
        vocabulary, number = self._vocabulary, self.number
        window, breaks = bytearray(), []
        for at, (first, symbol) in enumerate(itertools.islice(self._symbols(), start, start + length)):
            if first:
                breaks.append(at)
            window += vocabulary.pieces[symbol]
        table = tuple(
            (vocabulary.placeholders[rank], vocabulary.pieces[left][0], vocabulary.pieces[right][0],
             vocabulary.expansions[vocabulary.base_size + rank])
            for rank, (left, right) in enumerate(vocabulary.merges[:number])
        )
        names = {placeholder: letter(placeholder) for placeholder, _, _, _ in table}
        tokens = self.tokens_at(number)
        return Compressed(
            bytes(window), tuple(breaks), table, names, tokens, ENTRY_BYTES * number, self.tokens_at(0)
        )

    def _symbols(self) -> Iterator[tuple[bool, int]]:
        """The symbols of the documents in order, each with whether a document after the first begins with it.
        """
        symbols, length = self._pairs.symbols, self._pairs.length
        for n, at in enumerate(self._pairs.starts):
            first = n > 0
            while (symbol := symbols[at]) >= 0:
                yield first, symbol
                first = False
                at += length[symbol]
