"""The order in which the tokens of a file come into use, and its vocabulary after so many of them.

A file with merges (or ranks, or scores that are priorities) has its symbols in that order already. A
vocabulary that is looked up, or
weighed by probabilities, tells no order: its tokens of several units are taken in order of their ids, or from
the most probable down. What is left out is then never taken; what is unknown costs what it costs in the whole
file, as in sentencepiece with a restricted vocabulary.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tokentui.core.errors import TokentuiError
from tokentui.encode.pipeline import ImportedVocabulary, Parents
from tokentui.encode.segment.merges import PairMerging
from tokentui.encode.segment.viterbi import ScoredVocabulary
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary

MERGES, RANKS, IDS, SCORES = "merges", "ranks", "ids", "scores"
"""The kinds of order."""

SAID = {
    MERGES: "in the order of the first merge that makes each",
    RANKS: "in the order of their ranks",
    IDS: "by id: the file tells no order of learning",
    SCORES: "by falling score: the file tells no order of learning",
}
"""The orders, in words."""


@dataclass(frozen=True)
class TokenOrder:
    """The tokens of a file in the order in which they come into use.

    Attributes:
        vocabulary: The whole file's.
        kind: The kind of order.
        tokens: The symbol of each, the first to come into use first.
    """

    vocabulary: Vocabulary
    kind: str
    tokens: Sequence[int]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> TokenOrder:
        """The order of a tokenizer.

        Raises:
            TokentuiError: Its tokens do not come one by one.
        """
        vocabulary = tokenizer.vocabulary
        if vocabulary.recipe.objective == "gage":
            raise TokentuiError(
                "Gage's compression has no tokens that come one by one", "tokenizer",
                "train it in the explorer: key a",
            )
        if vocabulary.merges:
            base = vocabulary.base_size
            kind = RANKS if isinstance(vocabulary.merges, Parents) else MERGES
            return cls(vocabulary, kind, range(base, base + tokenizer.merges))
        several = _several(vocabulary)
        if vocabulary.scores:
            scores = vocabulary.scores
            several.sort(key=lambda symbol: (-scores[symbol], vocabulary.id_of(symbol, 0)))
            return cls(vocabulary, SCORES, several)
        several.sort(key=lambda symbol: vocabulary.id_of(symbol, 0))
        return cls(vocabulary, IDS, several)

    @functools.cached_property
    def made(self) -> Sequence[int]:
        """The step at which each symbol comes into use, 1 for the first; 0 for what is there from the
        start."""
        found = array("l", bytes(len(self.vocabulary.pieces) * array("l").itemsize))
        for number, symbol in enumerate(self.tokens, 1):
            found[symbol] = number
        return found

    @functools.cached_property
    def roots(self) -> Sequence[int]:
        """The symbols that are there from the start, in order of their ids."""
        vocabulary = self.vocabulary
        found = [symbol for symbol, number in enumerate(self.made) if not number]
        return sorted(found, key=lambda symbol: vocabulary.id_of(symbol, 0))

    @functools.cached_property
    def listed(self) -> Sequence[int]:
        """The symbols that have an id of their own, in order; the roots in order of their ids."""
        vocabulary, merges = self.vocabulary, len(self.vocabulary.merges)
        taken = {vocabulary.special_id(name) for name in vocabulary.specials}
        taken |= {vocabulary.byte_id(value) for value in range(vocabulary.byte_tokens)}
        found = array("l")
        for symbol in itertools.chain(self.roots, self.tokens):
            identity = vocabulary.id_of(symbol, merges)
            if identity not in taken:
                taken.add(identity)
                found.append(symbol)
        return found

    @functools.cached_property
    def sizes(self) -> Sequence[int]:
        """The step at which each number of ids is reached, 1 id first."""
        vocabulary, made = self.vocabulary, self.made
        fixed = {vocabulary.special_id(name) for name in vocabulary.specials}
        fixed |= {vocabulary.byte_id(value) for value in range(vocabulary.byte_tokens)}
        return array("l", [0] * len(fixed) + [made[symbol] for symbol in self.listed])

    def size(self, number: int) -> int:
        """The number of ids after so many tokens, specials counted; holes are not."""
        return bisect.bisect_right(self.sizes, number)

    @functools.cached_property
    def _rows(self) -> tuple[dict[int, int], Counter[int]]:
        """The first merge of the file that makes each symbol, and how many make it."""
        pipeline = getattr(self.vocabulary, "pipeline", None)
        segmenter = pipeline.segmenter(self.vocabulary, len(self.tokens)) if pipeline else None
        makes = segmenter.makes if isinstance(segmenter, PairMerging) else self.tokens
        first: dict[int, int] = {}
        for row, symbol in enumerate(makes):
            first.setdefault(symbol, row)
        return first, Counter(makes)

    def place(self, number: int) -> str:
        """The place of a token in the file, by its number."""
        vocabulary, symbol = self.vocabulary, self.tokens[number - 1]
        identity = vocabulary.id_of(symbol, len(vocabulary.merges))
        if self.kind == MERGES:
            first, times = self._rows
            more = f" (of {times[symbol]} that make it)" if times[symbol] > 1 else ""
            return f"merge {first[symbol] + 1:,}{more}"
        if self.kind == SCORES:
            return f"id {identity:,}, score {vocabulary.scores[symbol]:.4f}".replace("-", "−")
        return f"{'rank' if self.kind == RANKS else 'id'} {identity:,}"

    def tokenizer(self, number: int) -> Tokenizer:
        """The tokenizer of the first so many tokens. It shares the tables of the whole."""
        vocabulary = self.vocabulary
        if vocabulary.merges:
            return Tokenizer(vocabulary, number)
        return Tokenizer(vocabulary if number == len(self.tokens) else vocabulary.limited(self.made, number))


def _several(vocabulary: Vocabulary) -> list[int]:
    """Of a vocabulary without merges the tokens of several units that a word may become."""
    if isinstance(vocabulary, ScoredVocabulary):
        table = vocabulary.table
    elif isinstance(vocabulary, ImportedVocabulary):
        table = vocabulary.by_piece
    else:
        return []  # a training that made no merge
    fixed = {vocabulary.special_id(name) for name in vocabulary.specials}
    if isinstance(vocabulary, ImportedVocabulary):
        fixed |= {vocabulary.id_of(symbol, 0) for symbol in vocabulary.byte_symbols.values()}
    recipe = vocabulary.recipe
    mark = recipe.mark_text.encode() if recipe.mark_kind == "prefix" else b""
    several = []
    for symbol, piece in enumerate(vocabulary.pieces):
        if table.get(piece) == symbol and vocabulary.id_of(symbol, 0) not in fixed:
            bare = piece[len(mark) :] if mark and piece.startswith(mark) and piece != mark else piece
            if (len(bare) if recipe.unit == "byte" else len(bare.decode("utf-8", "surrogateescape"))) > 1:
                several.append(symbol)
    return several
