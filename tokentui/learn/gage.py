"""Gage's compression: a byte that the text lacks replaces the most frequent pair, again and again (P. Gage,
"A New Algorithm for Data Compression", 1994).

Counts are those of byte-pair encoding: overlapping places count, and pairs are replaced from left to right.
The vocabulary differs (see `tokentui.encode.gage`), and so does the end: a pair that occurs once is never
replaced, and a run ends when no byte is free. Gage's program works on blocks of a text and stops below three
places (`min_count=3`); here a document is one block.
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
from tokentui.learn.trainer import Compressed
from tokentui.recipe import Stops
from tokentui.text.pretokenize import Pretokenizer

ENTRY_BYTES = 3
"""The bytes that an entry of the table is counted with: the pair and the byte that replaces it.

Gage's program packs its table further, block by block: one or two bytes for an entry, and one for each gap
between entries.
"""

_PRINTED = 188
"""The number of bytes that GPT-2 shows as their own letter (in Latin-1). They come first in its order."""

_LETTERS = {
    value: chr(value if n < _PRINTED else 256 + n - _PRINTED) for n, value in enumerate(byte_order_of_gpt2())
}


def letter(value: int) -> str:
    """Return the letter that a byte is shown as, as GPT-2 shows bytes: A for 0x41. No two share a letter."""
    return _LETTERS[value]


class GageTrainer(PairTrainer):
    """A compression; see `trainer.Trainer`. It merges pairs by count while a byte is free.

    It ends when no pair occurs twice: a pair that occurs once would only lengthen the table.

    Args:
        material: The documents, each of them one word, and the recipe.
        source: The engine of a compression of the same documents, to take over steps from; None starts at
            step 0.
        number: The number of steps that are taken over.
    """

    def __init__(self, material: Material, source: PairEngine | None = None, number: int = 0) -> None:
        def vocabulary_of(totals: Totals) -> GageVocabulary:
            run = material.run
            return GageVocabulary(material.recipe, free_bytes(totals), run.specials, run.first_id)

        with quiet_collector():
            fork = source.fork(number, material) if isinstance(source, PlainPairs) else None
            self._pairs = fork or PlainPairs(material, vocabulary_of)
        super().__init__(self._pairs, material, GageTrainer)
        self.letters = self._vocabulary.placeholders
        self.most = len(self.letters)

    @property
    def _vocabulary(self) -> GageVocabulary:
        vocabulary = self._pairs.vocabulary
        assert isinstance(vocabulary, GageVocabulary)
        return vocabulary

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the reasons of the next step with the sizes, and what the step does to them."""
        why, facts = super().explained(why, stops), [self.compressed(length=0).sizes]
        if self.number >= self.most:
            facts.append("no free byte: each of the 256 stands in the text or for a pair")
        elif why.best is None:
            facts.append("no pair stands twice")
        elif why.end is None:
            token = why.best.token
            facts.append(f"{letter(token[0])} (0x{token.hex()}) is free and will stand for it: "
                         f"{why.replaced:,} off the text, {ENTRY_BYTES} on the table")
        return replace(why, facts=(*facts, *why.facts))

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Return an iterator over how the steps up to this one compress a text.

        Raises:
            TokentuiError: The text contains a byte that stands for a pair.
        """
        known = self._vocabulary.known_units(self.number)
        for unit in Pretokenizer(self.recipe).units(word):
            if unit not in known:
                raise self._vocabulary.refusal(unit, quoted(word))
        return super().cuts_of(word)

    def compressed(self, start: int = 0, length: int = 4000) -> Compressed:
        """Return the compression at this step, with `length` bytes of the compressed text from `start` on.

        Bytes count through all documents; the breaks in the part tell where documents begin.
        """
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
        """Yield the symbols of the documents in order, each with whether a document after the first starts
        with it."""
        symbols, length = self._pairs.symbols, self._pairs.length
        for n, at in enumerate(self._pairs.starts):
            first = n > 0
            while (symbol := symbols[at]) >= 0:
                yield first, symbol
                first = False
                at += length[symbol]
