"""A unigram model as the vocabulary that it is, and how it cuts words."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment.viterbi import ScoredVocabulary
from tokentui.learn.unigram.model import Model
from tokentui.learn.unigram.seeds import Seeds
from tokentui.recipe import Recipe

_KEPT = 65_536


class Shown:
    """The vocabulary of a model: the pieces by score, the most probable first.

    Args:
        model: The model.
        vocabulary: Its pieces.
        lengths: How many units each covers.
        uses: How often each stands in the best segmentations of the corpus, by weight.
    """

    def __init__(self, model: Model, vocabulary: ScoredVocabulary, lengths: Sequence[int], uses: Sequence[int]) -> None:
        self.model = model
        self.vocabulary = vocabulary
        self.lengths = lengths
        self.uses = uses
        self._encoder = WordEncoder(vocabulary, 0)
        self._words: dict[str, list[tuple[int, int]]] = {}

    @classmethod
    def of(
        cls, model: Model, seeds: Seeds, uses: Sequence[float], recipe: Recipe, specials: Sequence[str], first_id: int
    ) -> Shown:
        """Lay out a model.

        Args:
            model: The model.
            seeds: What its pieces are numbers of.
            uses: How often each seed stands in the best segmentations.
            recipe: The recipe of the vocabulary.
            specials: Its special tokens.
            first_id: Its first id.
        """
        exact, scores = seeds.bytes, model.scores
        order = sorted(range(len(scores)), key=lambda n: (-scores[n], exact[model.pieces[n]]))
        pieces = [model.pieces[n] for n in order]
        vocabulary = ScoredVocabulary(
            recipe, [exact[piece] for piece in pieces], specials, first_id, [scores[n] for n in order]
        )
        lengths = [seeds.sizes[piece] for piece in pieces]
        return cls(model, vocabulary, lengths, [round(uses[piece]) for piece in pieces])

    def word(self, word: str, first: int = 0, units: int | None = None) -> list[tuple[int, int]]:
        """The tokens of a word in order, as (unit that it starts with, symbol); -1 for a unit that is no piece.

        Args:
            word: The word.
            first: Start with the token that covers this unit.
            units: Stop after so many units.
        """
        tokens = self._words.get(word)
        if tokens is None:
            marked = self._encoder.pretokenizer.units(word)
            parts = self._encoder.segmenter.segment(marked, len(word))
            tokens = [(part.start, -1 if part.symbol is None else part.symbol) for part in parts]
            if len(self._words) >= _KEPT:
                self._words.clear()
            self._words[word] = tokens
        if not first and units is None:
            return tokens
        end = first + units if units is not None else None
        return [
            (at, symbol) for at, symbol in tokens
            if at + self.length(symbol) > first and (end is None or at < end)
        ]

    def length(self, symbol: int) -> int:
        """How many units a symbol covers; 1 for what is no piece."""
        return 1 if symbol < 0 else self.lengths[symbol]

    def pieces(self, word: str) -> list[bytes]:
        """The tokens of a word as exact bytes; empty for what is no piece."""
        return [b"" if symbol < 0 else self.vocabulary.pieces[symbol] for _, symbol in self.word(word)]
