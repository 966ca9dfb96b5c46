"""Gage's compression: a byte that the text lacks stands for the most frequent pair, again and again (P. Gage, 1994).

The counts are those of byte-pair encoding: overlapping places count, and pairs are replaced from left to right. What differs is
the vocabulary (see `tokentui.encode.gage`) and the end: a pair that stands once is never replaced, and a run ends when no byte is
free. Gage's program works on blocks of a text and stops below three places (`min_count=3`); here a document is one block.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokentui.encode.gage import GageVocabulary, free_bytes
from tokentui.learn import base as end
from tokentui.learn.base import Candidate, Step, Stops, Why
from tokentui.learn.bases import byte_order_of_gpt2, parts_of
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.standing import Standing
from tokentui.recipe import Recipe
from tokentui.text.count import Words

LEAST_COUNT = 2
"""A pair that stands once is never replaced: that would only lengthen the table."""

ENTRY_BYTES = 3
"""What an entry of the table is taken to cost: the pair and the byte that stands for it.

Gage's program packs its table further, a byte or two for an entry and a byte for each gap between them, block by block.
"""

_PRINTED = 188
"""So many bytes keep their own letter (in Latin-1) and come first in GPT-2's order."""

_LETTERS = {value: chr(value if n < _PRINTED else 256 + n - _PRINTED) for n, value in enumerate(byte_order_of_gpt2())}

_NONE = Standing((), (), lambda pair: pair)
"""The candidates where no byte is free: there are none."""


def letter(value: int) -> str:
    """The letter that a byte is shown as: A for 0x41, and for all others too as GPT-2 shows bytes; no two share one."""
    return _LETTERS[value]


@dataclass(frozen=True, slots=True)
class GageStep(Step):
    """A step. `left`, `right` and `token` are single bytes; `spelled` is what the placeholder `token` expands to."""

    spelled: bytes = b""


@dataclass(frozen=True, slots=True)
class GageCandidate(Candidate):
    """A candidate. `token` is the byte that would stand for it; `spelled` what that expands to."""

    spelled: bytes = b""


@dataclass(frozen=True, slots=True)
class GageView:
    """The compression at a step.

    Attributes:
        compressed: A window of the compressed text: distinct documents one after another, in order of first appearance.
        breaks: The places in the window where a document after the first begins.
        table: (placeholder, left, right, expansion) of each step; left and right may be placeholders themselves.
        text_bytes: The size of the whole compressed text.
        table_bytes: The size of the table, `ENTRY_BYTES` an entry.
        original_bytes: The size of the text before the first step.
    """

    compressed: bytes
    breaks: tuple[int, ...]
    table: tuple[tuple[int, int, int, bytes], ...]
    text_bytes: int
    table_bytes: int
    original_bytes: int

    @property
    def letters(self) -> str:
        """The window for people, a letter a byte: `CqCxo`."""
        return "".join(map(letter, self.compressed))

    @property
    def sizes(self) -> str:
        """The sizes in words."""
        whole = self.text_bytes + self.table_bytes
        return f"{self.text_bytes:,} of text + {self.table_bytes:,} of table = {whole:,} bytes; {self.original_bytes:,} before"


class GageTrainer(PairTrainer):
    """Compression one pair at a time: the trainer of `objective=gage`. Steps, candidates and ends are those of `PairTrainer`."""

    vocabulary: GageVocabulary

    def _make_vocabulary(
        self, units: list[list[bytes]], weights: list[int], specials: Sequence[str], first_id: int
    ) -> GageVocabulary:
        held = {unit for word, _ in parts_of(units, weights) for unit in word}
        return GageVocabulary(self.recipe, free_bytes(held), specials, first_id)

    def __init__(self, words: Words, recipe: Recipe, **more: Any) -> None:
        super().__init__(words, recipe, **more)
        self._min_count = LEAST_COUNT

    @property
    def free(self) -> int:
        """The number of bytes that neither the text holds nor a pair has taken, at this step."""
        return len(self.vocabulary.placeholders) - self.number

    def end(self, stops: Stops) -> str | None:
        """Why no further step may be made under these stops; "no pair left" also where no byte is free."""
        return self._reason(super().end(stops), stops)

    def _reason(self, reason: str | None, stops: Stops) -> str | None:
        """`min_count` only where that stop of the run's own is what holds, else there is no pair that could be replaced."""
        return end.NO_PAIR if reason == end.MIN_COUNT and (not self.free or stops.min_count < LEAST_COUNT) else reason

    def _least(self, stops: Stops) -> int:
        return LEAST_COUNT

    def _choose(self, min_count: int) -> bool:
        return self.free > 0 and super()._choose(max(LEAST_COUNT, min_count))

    def _standing(self, least: int) -> Standing:
        return super()._standing(least) if self.free else _NONE

    def limits(self, stops: Stops) -> Stops:
        """Of some stops those that say what is a candidate. That a pair stands twice needs no saying."""
        return Stops(max_length=stops.max_length)

    def last_step(self, stops: Stops) -> int | None:
        """The step that these stops lead to. The number of ids never changes, so only `merges` says one."""
        if stops.vocab_size is not None and stops.vocab_size <= self.vocab_size:
            return 0
        return stops.merges

    def step_at(self, number: int) -> GageStep:
        """A known step, 1 for the first."""
        step = super().step_at(number)
        return GageStep(**_fields(step), spelled=self.vocabulary.spelled(self.vocabulary.base_size + number - 1))

    def step_of(self, tokens: frozenset[bytes], first: int = 0) -> int | None:
        """The first known step after `first` whose placeholder, or what it expands to, is one of these; 0 for a byte."""
        expansions, base = self.vocabulary.expansions, self.vocabulary.base_size
        for number in range(first + 1, self.known + 1):
            if expansions[base + number - 1] in tokens or self.vocabulary.placeholder(number - 1) in tokens:
                return number
        return 0 if not first and any(piece in tokens for piece in expansions[:base]) else None

    def _candidate(self, pair: int, fell: dict[int, int], first_new: int) -> GageCandidate:
        candidate = super()._candidate(pair, fell, first_new)
        fields = _fields(candidate) | {"token": self.vocabulary.placeholder(self.number)}
        return GageCandidate(**fields, spelled=candidate.token)

    def why(self, stops: Stops | None = None) -> Why:
        """What the next step is and why, or why there is none, with what it does to the size."""
        stops = stops or Stops(max_length=self._max_length)
        why = super().why(stops)
        ended = self._reason(why.end, stops)
        return dataclasses.replace(why, end=ended, facts=tuple(self._facts(why, ended)))

    def _facts(self, why: Why, ended: str | None) -> Iterator[str]:
        yield compressed(self, length=0).sizes
        if not self.free:
            yield "no free byte: each of the 256 stands in the text or for a pair"
        elif why.best is None:
            yield "no pair stands twice"
        elif ended is None:
            token = self.vocabulary.placeholder(self.number)
            yield (f"{letter(token[0])} (0x{token.hex()}) is free and will stand for it: "
                   f"{why.replaced:,} off the text, {ENTRY_BYTES} on the table")

    def size_at(self, number: int) -> int:
        """The size in bytes after a known step: the compressed text and the table."""
        return self.tokens_at(number) + ENTRY_BYTES * number


def compressed(trainer: GageTrainer, start: int = 0, length: int = 4000) -> GageView:
    """The compression at the trainer's step.

    Args:
        trainer: The trainer, at any step.
        start: The first byte of the window, counted in the compressed text.
        length: How many bytes of it at most.
    """
    vocabulary, number = trainer.vocabulary, trainer.number
    window, breaks = bytearray(), []
    for at, (first, symbol) in enumerate(itertools.islice(_symbols(trainer), start, start + length)):
        if first:
            breaks.append(at)
        window += vocabulary.pieces[symbol]
    table = tuple(
        (vocabulary.placeholders[rank], vocabulary.pieces[left][0], vocabulary.pieces[right][0],
         vocabulary.expansions[vocabulary.base_size + rank])
        for rank, (left, right) in enumerate(vocabulary.merges[:number])
    )
    return GageView(bytes(window), tuple(breaks), table, trainer.tokens, ENTRY_BYTES * number, trainer.start_tokens)


def expand(compressed: bytes, table: Sequence[tuple[int, int, int, bytes]]) -> bytes:
    """The text that compressed bytes and their table stand for: the table read backwards, each entry replaced by its pair."""
    for placeholder, left, right, _ in reversed(table):
        compressed = compressed.replace(bytes((placeholder,)), bytes((left, right)))
    return compressed


def _symbols(trainer: GageTrainer) -> Iterator[tuple[bool, int]]:
    """The symbols of the documents in order, each with whether a document after the first begins with it."""
    symbols, length = trainer.cells.symbols, trainer.cells.length
    for n, at in enumerate(trainer.cells.starts):
        first = n > 0
        while (symbol := symbols[at]) >= 0:
            yield first, symbol
            first = False
            at += length[symbol]


def _fields(value: Step | Candidate) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
