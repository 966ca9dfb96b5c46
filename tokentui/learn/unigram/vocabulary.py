"""The values that a unigram training answers with: its steps, the pieces by loss, a model as a vocabulary."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokentui.encode.encoder import WordEncoder
from tokentui.encode.events import Event, EventKind
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.pages import entry_of, listed_entries, vocabulary_page
from tokentui.learn.rows import Column, Entry, Page, Query
from tokentui.learn.steps import Span, Step
from tokentui.learn.unigram.lattice import finished
from tokentui.learn.unigram.model import Model, Models
from tokentui.recipe import Recipe, Run

_LEFT = -(1 << 40)
"""Entries of the vocabulary from here down have left it: the n-th of them is this minus n."""
COLUMNS = (
    Column("probability", "", "share"), Column("expected", "", "amount"), Column("uses", "", "count"),
    Column("loss", "", "loss"), Column("instead", "", "tokens"), Column("goes", "", "text"),
)
"""The columns of the pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStep(Step):
    """A step of a training; its kind is `em` or `prune`.

    Attributes:
        round: The round, from 1: steps of `em`, then one of `prune`. The last cut belongs to the last round.
        kept: The number of pieces after it.
        dropped: The number of pieces that it dropped.
        objective: The mean negative natural log probability of a word of the corpus after it, over all
            segmentations.
        final: True if it is the cut to the size asked for.
    """

    events: tuple[Event, ...] = (Event(EventKind.SCORES, -1),)
    round: int
    kept: int
    dropped: int
    objective: float
    final: bool

    @property
    def sentence(self) -> str:
        """The step in words."""
        what = "last cut" if self.final else self.kind
        counts = f"{self.kept:,} pieces, {self.dropped:,} dropped"
        return f"round {self.round}, {what}: {counts}, objective {self.objective:.6f}"

    @property
    def row(self) -> dict[str, object]:
        """Its row in a trace for machines."""
        return {
            "round": self.round, "what": self.kind, "kept": self.kept, "dropped": self.dropped,
            "objective": self.objective,
        }


class Left(NamedTuple):
    """A piece that a step dropped, why, and the figure that it was for: the expected count, the loss, or the
    score."""

    piece: bytes
    reason: str
    figure: float


class ModelVocabulary:
    """A model as a vocabulary, the most probable piece first, and how it cuts words.

    Args:
        model: The model.
        models: Knows the seeds that its pieces are numbers of, and the corpus.
        recipe: The recipe of the vocabulary.
        run: Its special tokens and its first id.
    """

    def __init__(self, model: Model, models: Models, recipe: Recipe, run: Run) -> None:
        exact, scores = models.seeds.bytes, model.scores
        order = sorted(range(len(scores)), key=lambda n: (-scores[n], exact[model.pieces[n]]))
        self.model, self._models, self.numbers = model, models, [model.pieces[n] for n in order]
        self.vocabulary = Vocabulary(
            recipe, map(exact.__getitem__, self.numbers), run.specials, run.first_id,
            map(scores.__getitem__, order),
        )
        self._encoder = WordEncoder(self.vocabulary, 0)

    @functools.cached_property
    def uses(self) -> list[int]:
        """The count of each symbol in the best segmentations of the corpus, by weight."""
        uses = finished(self._models.survey(self.model)).uses
        return [round(uses[piece]) for piece in self.numbers]

    def spans(self, word: str) -> list[Span]:
        """The tokens of a word, any text at all; a unit that is no piece has symbol -1."""
        parts = self._encoder.segmenter.segment(self._encoder.pretokenizer.units(word), len(word))
        return [Span(part.start, part.end, -1 if part.symbol is None else part.symbol) for part in parts]

    def pieces(self, word: str) -> list[bytes]:
        """The tokens of a word as it is encoded, as exact bytes; empty for what is unknown."""
        return [token.piece or b"" for token in self._encoder.word(word)]

    def page(self, query: Query, left: Sequence[Left]) -> Page[Entry]:
        """The entries in an order; those that have left come last."""
        vocabulary = self.vocabulary

        def entry(one: int) -> Entry:
            if one <= _LEFT:
                gone = left[_LEFT - one]
                return Entry(None, -1, gone.piece, "left", score=gone.figure, reason=gone.reason)
            if one < 0:
                return entry_of(vocabulary, one)
            return entry_of(vocabulary, one, vocabulary.id_of(one, 0), self.uses[one])

        order = listed_entries(vocabulary, 0, self.uses, query.order) + [_LEFT - n for n in range(len(left))]
        return vocabulary_page(
            order, query, vocabulary, entry, lambda one: one <= _LEFT or (one >= 0 and not self.uses[one])
        )
