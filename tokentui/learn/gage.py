"""Gage's compression: a byte that the text lacks stands for the most frequent pair, again and again (P. Gage,
1994).

The counts are those of byte-pair encoding: overlapping places count, and pairs are replaced from left to
right. What differs is the vocabulary (see `tokentui.encode.vocabulary`) and the end: a pair that stands once
is never replaced, and a run ends when no byte is free. Gage's program works on blocks of a text and stops
below three places (`min_count=3`); here a document is one block.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from tokentui.core.runtime import quiet_collector
from tokentui.encode.vocabulary import GageVocabulary, free_bytes
from tokentui.learn.bases import Weighted, byte_order_of_gpt2
from tokentui.learn.bpe import lay_out
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Candidate, Page, Query, Why
from tokentui.learn.stepped import Constraints
from tokentui.learn.trainer import Compressed
from tokentui.learn.values import MergeStep, Stop, WhatIf

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GageStep(MergeStep):
    """A step. `left`, `right` and `token` are single bytes; `spelled` is what the placeholder `token` expands
    to."""

    spelled: bytes = b""


class GageTrainer(PairTrainer):
    """A compression: merges by count, as long as a byte is free.

    The last pair that stands twice ends it: one that stands once would only lengthen the table.

    Args:
        material: The documents, each of them a word, and the recipe.
        what_if: Changes of the run.
    """

    def __init__(self, material: Material, what_if: tuple[WhatIf, ...] = ()) -> None:
        def vocabulary(units: Weighted) -> GageVocabulary:
            free, run = free_bytes({unit for word, _ in units for unit in word}), material.run
            return GageVocabulary(material.recipe, free, run.specials, run.first_id)

        with quiet_collector():
            self._pairs = lay_out(material, vocabulary)
        super().__init__(self._pairs, material, what_if, partial(GageTrainer, material))

    @property
    def compression(self) -> GageTrainer:
        """The compressed text."""
        return self

    @property
    def vocabulary(self) -> GageVocabulary:
        """The vocabulary, of which the first `number` merges count."""
        vocabulary = self._pairs.vocabulary
        assert isinstance(vocabulary, GageVocabulary)
        return vocabulary

    @property
    def placeholder(self) -> bytes:
        """The byte that the next pair is replaced by."""
        return self.vocabulary.placeholder(self.number)

    def free(self, number: int) -> int:
        """The number of bytes that neither the text holds nor a pair has taken, at a step."""
        return len(self.vocabulary.placeholders) - number

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for some milliseconds, forward as long as a byte is free."""
        super().walk(min(goal, len(self.vocabulary.placeholders)), under)

    def coming(self, under: Constraints) -> int:
        """The count of the best pair at the furthest step, 0 where there is none or no byte is free."""
        return super().coming(under) if self.free(self.computed) else 0

    def remain(self, under: Constraints) -> bool:
        """True if a pair and a byte are left."""
        return self.free(self.number) > 0 and super().remain(under)

    def candidates(self, query: Query) -> Page[Candidate]:
        """The pairs that may be replaced next; none where no byte is free."""
        return super().candidates(query) if self.free(self.number) else Page((), 0, 0)

    def reasons(self, under: Constraints) -> Why:
        """The reasons of the next step, without its end."""
        return super().reasons(under) if self.free(self.number) else Why(None, None, 0, 0, self.rule, None)

    def facts(self, why: Why, end: Stop | None) -> Iterable[str]:
        """The sizes, and what the next step does to them."""
        yield self.compressed(length=0).sizes
        if not self.free(self.number):
            yield "no free byte: each of the 256 stands in the text or for a pair"
        elif why.best is None:
            yield "no pair stands twice"
        elif end is None:
            token = self.vocabulary.placeholder(self.number)
            yield (f"{letter(token[0])} (0x{token.hex()}) is free and will stand for it: "
                   f"{why.replaced:,} off the text, {ENTRY_BYTES} on the table")

    def step_at(self, number: int) -> GageStep:
        """A known step."""
        spelled = self.vocabulary.spelled(self.vocabulary.base_size + number - 1)
        fields = self._fields(number)
        figures = {"count": fields["count"], "change": 0, "as": fields["token"], "spelled": spelled}
        values = self.objective.values(**figures)
        chosen = fields["chosen"].replace(token=fields["token"], values=values, expansion=spelled)
        return GageStep(**fields | {"values": values, "chosen": chosen}, spelled=spelled)

    def _names(self, symbol: int) -> tuple[bytes, ...]:
        return self.vocabulary.spelled(symbol), self.vocabulary.pieces[symbol]

    def compressed(self, start: int = 0, length: int = 4000) -> Compressed:
        """The compression at this step, with so many bytes of the compressed text from a byte on."""
        vocabulary, number = self.vocabulary, self.number
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
        symbols, length = self._pairs.cells.symbols, self._pairs.cells.length
        for n, at in enumerate(self._pairs.cells.starts):
            first = n > 0
            while (symbol := symbols[at]) >= 0:
                yield first, symbol
                first = False
                at += length[symbol]
