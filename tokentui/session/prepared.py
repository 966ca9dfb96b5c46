"""What is open: a corpus laid out for a recipe, or for a tokenizer of a file, and what a run of it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start_counted
from tokentui.learn.base import Stops, Trainer
from tokentui.recipe import Recipe
from tokentui.session.replay_window import Opened
from tokentui.session.window import RunningText
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, words_of

SCRATCH_BYTES = 1_000_000
"""A larger corpus is not edited: each key would train on all of it."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is asked for: its stops, and what its ids begin with."""

    stops: Stops = field(default_factory=Stops)
    first_id: int = 0
    specials: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> Run:
        """A run from its words: merges, vocab_size, min_count, max_length, first_id, specials."""
        stops = Stops(words.get("merges"), words.get("vocab_size"), words.get("min_count") or 1, words.get("max_length"))
        return cls(stops, words.get("first_id") or 0, tuple(words.get("specials") or ()))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A corpus laid out for a recipe, ready to be stepped through; `partial` if only a part of it has been counted.

    `text` is the corpus as running text, kept because a normaliser takes longer than a step. `opened` is the tokenizer of a file
    where one is walked through and none is trained.
    """

    corpus: Corpus
    recipe: Recipe
    run: Run
    trainer: Trainer
    partial: bool = False
    text: RunningText | None = None
    opened: Opened | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What the trainer's steps depend on."""
        file = self.opened and id(self.opened.tokenizer)
        return self.corpus.sha256, self.corpus.name, file, self.recipe, *self.limits(self.run)

    @property
    def nothing(self) -> bool:
        """Whether no corpus is open."""
        return self.corpus is _NOTHING

    def limits(self, run: Run) -> tuple[object, ...]:
        """Of a run's words those that the steps of such a trainer depend on."""
        return self.trainer.limits(run.stops), run.first_id, run.specials


_NOTHING = Corpus.from_text("", "nothing open")


def nothing(recipe: Recipe, run: Run | None = None) -> Prepared:
    """An empty corpus: what a session stands on before anything is open."""
    return Prepared(_NOTHING, recipe, run or Run(), start_counted(words_of(Counter()), recipe))


@dataclass(frozen=True, slots=True)
class Stand:
    """A place in a training that another recipe can be brought to: so many merges, or so many ids."""

    merges: int
    vocab_size: int


@dataclass(frozen=True, slots=True)
class Glance:
    """What does not change while the training goes on: the tokenizer of a step, and what it is asked about."""

    step: int
    tokenizer: Tokenizer
    corpus: Corpus
    words: Words
    typed: str


def editable_text(corpus: Corpus) -> str:
    """The text of a corpus, for an editor.

    Raises:
        TokentuiError: It is no text, or too long.
    """
    if corpus.counts is not None:
        raise TokentuiError("counted words are no text to be edited", corpus.name, "open the text")
    if corpus.size > SCRATCH_BYTES:
        raise TokentuiError(f"more than {SCRATCH_BYTES:,} bytes cannot be edited", corpus.name, "open a part of it")
    return "\n".join(corpus.documents)
