"""Commands that open a corpus, a tokenizer file or a recipe, and questions that come before that."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.axes import label
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe, Run
from tokentui.session.commands.base import Command, Lane, Need, Part
from tokentui.session.snapshot import PreviewView

if TYPE_CHECKING:
    from tokentui.session.engine.state import State
    from tokentui.session.training.step_context import StepContext
    from tokentui.session.training.training import Partial, Training, TrainingCache

KEPT_PLACES = ("step", "size")
"""The positions that can be restored after switching recipes: merge count or vocabulary size."""
PREVIEW_CHARS = 20_000
"""The characters of the corpus that a preview trains on; few enough to follow the selected line."""
PREVIEW_SIZE = 500
"""The size that a unigram model is pruned to in a preview."""


class OpenTokenizer(Command[None], lane=Lane.LOADER, fresh=True, opens=Part.TRAINING):
    """Open a tokenizer file, on the same corpus, at its last step. Answered when it can be stepped through;
    raises if the file cannot be read.

    Args:
        path: The file.
        split: The split of a file that holds none; empty for its own.
        encode: Another way to encode with it; empty for its own.
        kept: True to reuse the tokenizer that was opened from there before, if it is still in memory.
    """

    path: str
    split: str = ""
    encode: str = ""
    kept: bool = False

    @property
    def description(self) -> str:
        return f"open {os.path.basename(self.path) or self.path}"

    def load(self, cache: TrainingCache, before: Training, partial: Partial) -> Training:
        return cache.open_tokenizer(
            before.corpus, before.run, partial, self.path, self.split, self.encode, self.kept
        )


class Open(Command[None], opens=Part.CORPUS, lane=Lane.LOADER, fresh=True, summary="open {0.name}"):
    """Open sources as one corpus, named as CORPUS on the command line. The recipe stays, unless a tokenizer
    file is opened with it.

    Args:
        sources: The sources.
        as_: How to read them; None to decide by their names.
        field: The field of JSON rows that has the text.
        tokenizer: A tokenizer file to open on the corpus; None for none.

    Answered when it is open; raises if a source or the file cannot be read.
    """

    sources: tuple[str, ...]
    as_: str | None = None
    field: str = "text"
    tokenizer: OpenTokenizer | None = None

    @property
    def replaces(self) -> Part:
        return Part.CORPUS | Part.TRAINING if self.tokenizer else Part.CORPUS

    @property
    def name(self) -> str:
        """The name of the tokenizer file, if there is one; else of the only source, or the number of
        sources."""
        if self.tokenizer is not None:
            return os.path.basename(self.tokenizer.path) or self.tokenizer.path
        if len(self.sources) == 1:
            from tokentui.text.named import short_name  # not needed to start

            return short_name(self.sources[0])
        return f"{len(self.sources):,} sources"

    def load(self, cache: TrainingCache, before: Training, partial: Partial) -> Training:
        """Read the sources as a corpus, then read the tokenizer file, if any. Without one, the recipe or
        tokenizer that was open before is opened on the corpus."""
        from tokentui.session.training.training import open_corpus

        corpus = open_corpus(self.sources, self.as_, self.field)
        if (file := self.tokenizer) is not None:
            return cache.open_tokenizer(
                corpus, before.run, partial, file.path, file.split, file.encode, file.kept
            )
        return cache.on_corpus(corpus, before, partial)


class TrainOnText(
    Command[None], lane=Lane.LOADER, opens=Part.CORPUS, summary="train on the typed text"
):
    """Train on a typed text instead of the corpus, and go to the same step. Answered when that is done.

    While another text is trained, the newest waits for it; a text that waits is replaced by a newer one, and
    answered by `Cancelled`.
    """

    text: str

    def load(self, cache: TrainingCache, before: Training, partial: Partial) -> Training:
        from tokentui.session.training.training import SCRATCH
        from tokentui.text.corpus import Corpus

        return cache.on_corpus(Corpus.from_text(self.text, SCRATCH), before, partial)


class SetRecipe(Command[None], lane=Lane.LOADER, opens=Part.TRAINING):
    """Train by another recipe on the same corpus, and go to the same step, or to the same size if that was
    set by `KeepPlace`.

    Answered when its first step can be made. If another recipe is set before, answered by `Cancelled`. With
    `run` None, the stops and specials stay.
    """

    recipe: Recipe
    run: Run | None = None

    @property
    def description(self) -> str:
        return f"train by {label(self.recipe)}"

    def load(self, cache: TrainingCache, before: Training, partial: Partial) -> Training:
        return cache.train(before.corpus, self.recipe, self.run or before.run, partial)


class KeepPlace(Command[None]):
    """Set whether another recipe goes to the same `step`, or to the same `size` of the vocabulary. Raises for
    any other value."""

    by: str

    def apply(self, state: State) -> None:
        if self.by not in KEPT_PLACES:
            raise TokentuiError(f"unknown place: {self.by}", "", "one of: " + ", ".join(KEPT_PLACES))
        state.keep_place = self.by


class Recognize(Command[str], lane=Lane.JOB):
    """Recognize the format of a file by its content. Answered by the name of a tokenizer's format; empty for
    anything that may be a corpus.

    Raises if a file is a tokenizer by its name and its first bytes, but damaged.
    """

    path: str

    def answer(self, context: StepContext) -> str:
        """Return what the format of the file is, in words; empty if it may be a corpus.

        Raises:
            TokentuiError: It is a damaged tokenizer file.
        """
        from tokentui.formats.files import mistaken, recognize

        format = recognize(self.path)
        if format is None and (damaged := mistaken(self.path)) is not None:
            raise damaged
        return format.about if format else ""


class Fingerprint(Command[str], lane=Lane.JOB):
    """Ask for the SHA-256 of the bytes of the corpus in hex; the name of the corpus does not count."""

    def answer(self, context: StepContext) -> str:
        return context.corpus.sha256


class Preview(Command[PreviewView], lane=Lane.JOB, need=Need.CORPUS):
    """Ask for the first `steps` steps of a recipe on the first `PREVIEW_CHARS` characters of the corpus. An
    error of the recipe is in the answer. Stops that only end a run are ignored. With `run` None, that of the
    session applies."""

    recipe: Recipe
    run: Run | None = None
    steps: int = 10

    def answer(self, context: StepContext) -> PreviewView:
        """Train the recipe for some steps on the beginning of the corpus. Errors are in the answer.

        Steps of a recipe that grows come as candidates, those of one that shrinks as sentences. `end` is
        empty if the run had further steps.
        """
        from tokentui import axes, learn
        from tokentui.learn.steps import Stop
        from tokentui.recipe import Stops
        from tokentui.text.corpus import beginning

        run = self.run or context.training.run
        corpus = beginning(context.corpus, PREVIEW_CHARS)
        chars = corpus.characters + sum(len(word) for word, _ in corpus.counts or ())
        sample = corpus.size < context.corpus.size
        try:
            recipe = axes.check(self.recipe)
            trainer = learn.start(corpus, recipe, replace(run, stops=Stops(vocab_size=PREVIEW_SIZE)))
            # The stops that restrict the candidates apply here too; those that end a run do not.
            shaping = run.stops.only(tuple(name for name in trainer.traits.shaped_by if name != "vocab_size"))
            reason = learn.run(trainer, replace(shaping, merges=self.steps))
        except TokentuiError as error:
            return PreviewView((), (), "", chars, str(error), sample)
        end = "" if reason is Stop.MERGES else str(reason)
        taken = map(trainer.taken, range(1, trainer.number + 1))
        pairs = tuple(candidate for candidate in taken if candidate is not None)
        lines = () if trainer.traits.grows else tuple(step.sentence for step in learn.steps(trainer))
        return PreviewView(pairs, lines, end, chars, sample=sample)
