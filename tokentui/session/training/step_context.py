"""The context of a question: the tokenizer of a step, and the open training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tokentui.analyze.metrics import Conventions
from tokentui.encode.tokenizer import Tokenizer
from tokentui.session.training.history import StepHistory
from tokentui.session.training.training import Training
from tokentui.session.views import Passage, Viewport
from tokentui.text.corpus import Corpus


@dataclass(frozen=True, slots=True)
class StepContext:
    """The tokenizer of the step at which a question is asked, and what is open then.

    Attributes:
        step: The step of the column that is asked about.
        tokenizer: Its tokenizer.
        training: The column: its corpus, and the counted words of its trainer. The trainer moves on
            meanwhile, so only questions of the engine's lane may read the rest of it.
        view: The rows that are shown.
        typed: The typed text.
        columns: The tokenizers of the columns that are in step, by their keys, from the left.
        passage: The passage that is shown, if any.
        history: The steps of the column, for questions about earlier ones.
        under: The conventions of measures.
    """

    step: int
    tokenizer: Tokenizer
    training: Training
    view: Viewport
    typed: str
    columns: Mapping[int, Tokenizer]
    passage: Passage | None
    history: StepHistory
    under: Conventions

    @property
    def corpus(self) -> Corpus:
        """The corpus."""
        return self.training.corpus
