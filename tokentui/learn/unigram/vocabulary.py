"""What a unigram training answers with: its steps, and a model as a vocabulary."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from tokentui.encode.encoder import WordEncoder
from tokentui.encode.events import Event, EventKind
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.rows import Column
from tokentui.learn.steps import Span, Step
from tokentui.learn.unigram.lattice import finished
from tokentui.learn.unigram.model import Model, Models
from tokentui.recipe import Recipe, Run

COLUMNS = (
    Column("probability", "", "share"), Column("expected", "", "amount"), Column("uses", "", "count"),
    Column("loss", "", "loss"), Column("instead", "", "tokens"), Column("goes", "", "text"),
)
"""The columns of the pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStep(Step):
    """A step of a unigram training; its kind is `em` or `prune`.

    Attributes:
        round: The number of its round, 1 for the first: steps of `em`, then one of `prune`. The last cut
            belongs to the last round.
        kept: The number of pieces after it.
        dropped: The number of pieces that it dropped.
        objective: The mean negative natural log probability of a word of the corpus after it, over all
            segmentations.
        final: True if it is the last cut, to the size asked for.
    """

    events: tuple[Event, ...] = (Event(EventKind.SCORES, -1),)
    round: int
    kept: int
    dropped: int
    objective: float
    final: bool

    @property
    def sentence(self) -> str:
        """The step in words: round, kind, pieces and objective."""
        what = "last cut" if self.final else self.kind
        counts = f"{self.kept:,} pieces, {self.dropped:,} dropped"
        return f"round {self.round}, {what}: {counts}, objective {self.objective:.6f}"

    @property
    def row(self) -> dict[str, object]:
        """The row of the step in a trace, as JSON values."""
        return {
            "round": self.round, "what": self.kind, "kept": self.kept, "dropped": self.dropped,
            "objective": self.objective,
        }


class ModelVocabulary:
    """A model as a vocabulary, the most probable piece first, and the segmentations by it.

    Args:
        model: The model.
        models: Has the corpus, and the seeds that the pieces of the model are numbers of.
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
        """The uses of each symbol in the best segmentations of the corpus, by weight, rounded."""
        uses = finished(self._models.survey(self.model)).uses
        return [round(uses[piece]) for piece in self.numbers]

    def spans(self, word: str) -> list[Span]:
        """Return the tokens of a word, which may be any text. A unit that is no piece has the symbol -1."""
        parts = self._encoder.segmenter.segment(self._encoder.pretokenizer.units(word), len(word))
        return [Span(part.start, part.end, -1 if part.symbol is None else part.symbol) for part in parts]

    def pieces(self, word: str) -> list[bytes]:
        """Return the exact bytes of each token of a word as the tokenizer encodes it; empty for an
        unknown one."""
        return [token.piece or b"" for token in self._encoder.word(word)]
