"""Opening: read a corpus and lay it out for a recipe, with the first pairs shown before all of it is counted.

What was laid out is kept, so that going back to a recipe is instant.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tokentui.axes import check, check_trainable
from tokentui.core import engines
from tokentui.core.jobs import tick
from tokentui.core.runtime import quiet_collector
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.formats.refusing import refuse_tokenizers
from tokentui.learn import branch, jump, start
from tokentui.learn.replay import ReplayTrainer
from tokentui.learn.replay.segmentations import TokenOrder
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run
from tokentui.session.engine.jobs import ignore, reporting
from tokentui.session.training.corpus_view import OpenedText, RunningText
from tokentui.session.training.stages import opened_view
from tokentui.session.views import ColumnWanted, OpenedView
from tokentui.text.corpus import Corpus, beginning
from tokentui.text.count import (
    CHUNK_CHARS,
    COVERED,
    CountSteps,
    WordCounts,
    Words,
    check_counting,
    count,
    count_steps,
    coverage,
)
from tokentui.text.kernels.rules import scanned
from tokentui.text.named import short_name
from tokentui.text.read import read

AT_ONCE_CHARS = 2_000_000
"""Up to this many characters, kernels count and lay out the whole corpus at once, without a first look."""
FIRST_LOOK_CHARS = 200_000
"""The characters of a large corpus to count before its first pairs are shown."""


FIRST_LOOK_OPENED = 2_000
"""The same for an opened tokenizer. A screen shows about as many, and some files take a millisecond for a
word."""


Partial = Callable[["Training"], object]
"""Receives a training of a part of the corpus before all of it is counted."""


def open_corpus(source: str | Sequence[str], as_: str | None, field: str) -> Corpus:
    """Read a corpus from one source or several; `as_` and `field` are as for `read`. Reports progress.

    Raises:
        TokentuiError: It cannot be read, or is a tokenizer file.
    """
    sources = (source,) if isinstance(source, str) else source
    name = " ".join(map(short_name, sources))
    refuse_tokenizers(source, as_)
    with reporting(f"reading {name}"):
        return read(source, as_=as_, field=field)


def prepare(
    corpus: Corpus, recipe: Recipe, run: Run, partial: Partial = ignore, words: Words | None = None
) -> Training:
    """Count a corpus for a recipe and lay it out. Reports progress.

    Args:
        corpus: The corpus.
        recipe: The recipe.
        run: Its run.
        partial: Called with a part of a large corpus, laid out before the rest is counted.
        words: The counted words under this recipe; None to count them.

    Raises:
        TokentuiError: The recipe cannot be trained, or its pattern takes too long on this corpus.
    """
    recipe = check_trainable(recipe)
    check_counting(corpus, recipe)
    text = RunningText(corpus, recipe)

    def lay_out(words: Words, part: bool) -> Training:
        # Of a part of the corpus only the words are known, which is enough for a first look.
        """Return the training of counted words; with `part`, they are those of a part of the corpus."""
        with quiet_collector(), reporting("laying out"):
            trainer = start(None if part else corpus, recipe, run, words)
        trainer.advance(0, run.stops)
        covered = COVERED if part else coverage(corpus, recipe, words)
        return Training(corpus, recipe, run, trainer, text, part, notes=covered.notes)

    if words is None:
        total, counted = corpus.characters, False
        steps = count_steps(corpus, recipe, min(CHUNK_CHARS, FIRST_LOOK_CHARS))
        fast = engines.available() and scanned(recipe)
        at_once = total <= AT_ONCE_CHARS and fast
        if total > 2 * FIRST_LOOK_CHARS and not at_once:
            with reporting("counting"):
                if fast:
                    words = count(beginning(corpus, FIRST_LOOK_CHARS), recipe)
                else:
                    words, counted = _first_words(steps)
            if not counted:
                partial(lay_out(words, True))
        if words is None or not counted:
            with reporting("counting"):
                words = count(corpus, recipe, steps)
        with reporting("laying out"):
            # of a long file it takes a moment: not in a slice of the engine, which asks for it
            _ = corpus.sha256
    return lay_out(words, False)


def _first_words(steps: CountSteps) -> tuple[Words, bool]:
    """Count until at least `FIRST_LOOK_CHARS` characters are counted. Return the words so far, and whether
    they are all words of the corpus."""
    done, total, counts = next(steps)
    for done, total, counts in steps:  # noqa: B007 - one object, which grows
        tick(done, total)
        if done >= FIRST_LOOK_CHARS:
            break
    return Words.of(counts), done == total


def prepare_tokenizer(
    corpus: Corpus, tokenizer: Tokenizer | None, run: Run, partial: Partial = ignore, *,
    path: str = "", split: str = "", encode: str = "", at_end: bool = False,
) -> Training:
    """Read a tokenizer file, count a corpus as the tokenizer cuts it, and compute its replay steps there.
    Reports progress.

    Args:
        corpus: The corpus.
        tokenizer: The tokenizer; None to read it.
        run: The run to keep for a later training.
        partial: Called with a part of a large corpus, encoded before the rest.
        path: The tokenizer's file.
        split: The split for a file that holds none; empty for its own.
        encode: Another way to encode with it; empty for its own.
        at_end: True to begin at its last step, without the stops of a training; else at step 0.

    Raises:
        TokentuiError: The file cannot be read, is no tokenizer, or does not make its tokens one by one.
    """
    if tokenizer is None:
        with reporting(f"reading {os.path.basename(path)}"):
            tokenizer = load(path, otherwise=split, encode=encode)
    order = TokenOrder.of(tokenizer)
    order.prepare()
    opened = Opened(tokenizer, opened_view(tokenizer, order, path))
    text = OpenedText(corpus, tokenizer)
    if at_end:
        run = replace(run, stops=replace(run.stops, merges=None, vocab_size=None))

    def lay_out(of: Corpus, part: bool) -> Training:
        """Encode a corpus, or a part of it, with the tokenizer, and return the replay."""
        with reporting("counting"):
            words, fixed = text.pretokens.count(of)
        with quiet_collector(), reporting("encoding"):
            trainer = ReplayTrainer(tokenizer, words, fixed=fixed, order=order)
        if at_end:
            trainer.advance(trainer.computed, run.stops)
        covered = COVERED if part else text.pretokens.coverage(of, words, fixed)
        return Training(corpus, tokenizer.recipe, run, trainer, text, part, opened, covered.notes)

    if corpus.counts is None and corpus.characters > 2 * FIRST_LOOK_OPENED:
        partial(lay_out(beginning(corpus, FIRST_LOOK_OPENED), True))
    return lay_out(corpus, False)


def prepare_column(counted: WordCounts, wanted: ColumnWanted) -> Training:
    """Read the file that a column asks for, or count the corpus for its recipe, and lay it out; at step 0.

    Raises:
        TokentuiError: The file or the corpus cannot be read.
    """
    if wanted.path:
        return prepare_tokenizer(
            counted.corpus, None, wanted.run, path=wanted.path, split=wanted.split, encode=wanted.encode
        )
    recipe = check_trainable(wanted.recipe or Recipe())
    with reporting("counting"):
        words = counted.of(recipe)
    return prepare(counted.corpus, recipe, wanted.run, words=words)


def branched(of: Training, recipe: Recipe) -> Training:
    """Return a training of a recipe that adds what-ifs to that of `of`, branched where their steps begin to
    differ. The recipes must be equal otherwise; that is not checked.

    Raises:
        TokentuiError: The recipe makes no sense, or its training knows no what-ifs.
    """
    recipe = check(recipe)
    more = [change for change in recipe.changes if change.text not in of.recipe.what_if]
    with quiet_collector():
        trainer = branch(of.trainer, more)
    return replace(of, recipe=recipe, trainer=trainer, text=RunningText(of.corpus, recipe))


def prepare_again(was: Training) -> Training:
    """Return a new training of the same corpus without the kernels that failed, at the same step.

    Steps after the current one are computed again too.
    """
    again = prepare(was.corpus, was.recipe, was.run, words=was.trainer.words)
    # what little is made meanwhile comes when it takes over
    for step in was.trainer.computed, was.trainer.number:
        jump(again.trainer, step)
    return again


KEPT_BYTES = 1 << 30
"""The maximum number of bytes that the kept trainings may hold together."""
SCRATCH = "scratch"
"""The name of a corpus that the user types."""


class TrainingCache:
    """Trainings of the corpus that is open, kept so that going back to a recipe is instant."""

    def __init__(self) -> None:
        self._trainings: list[Training] = []
        """The trainings, the one that was left last at the end."""

    def _of(self, corpus: Corpus) -> list[Training]:
        return [training for training in self._trainings if training.corpus is corpus and not training.failed]

    def train(self, corpus: Corpus, recipe: Recipe, run: Run, partial: Partial) -> Training:
        """Return the kept training of a recipe on a corpus, with this run; else count the corpus and lay it
        out. `partial` is called with a part of a large corpus first.

        Raises:
            TokentuiError: The recipe makes no sense, or its pattern takes too long.
        """
        for training in self._of(corpus):
            if training.makes(None, recipe, run):
                return replace(training, run=run)
        return prepare(corpus, recipe, run, partial)

    def open_tokenizer(
        self, corpus: Corpus, run: Run, partial: Partial, path: str, split: str, encode: str, kept: bool
    ) -> Training:
        """Read a tokenizer file and compute its replay steps on a corpus; it begins at its last step.

        Args:
            corpus: The corpus.
            run: The run to keep for a later training.
            partial: Called with a part of a large corpus.
            path: The file.
            split: The split of a file that holds none; empty for its own.
            encode: Another way to encode with it; empty for its own.
            kept: True to return the training of this file that is kept, if there is one.

        Raises:
            TokentuiError: The file cannot be read, or is no tokenizer.
        """
        for training in self._of(corpus) if kept else ():
            if training.opened and training.opened.view.path == path:
                return training
        return prepare_tokenizer(
            corpus, None, run, partial, path=path, split=split, encode=encode, at_end=True
        )

    def on_corpus(self, corpus: Corpus, before: Training, partial: Partial) -> Training:
        """Return the opened tokenizer, or the training, that was there before, on another corpus.

        Raises:
            TokentuiError: The corpus cannot be counted for it.
        """
        if (file := before.opened) is not None:
            return prepare_tokenizer(
                corpus, file.tokenizer, before.run, partial, path=file.view.path, at_end=True
            )
        return self.train(corpus, before.recipe, before.run, partial)

    def keep(self, training: Training) -> None:
        """Add a training to the cache, and drop those of other corpora and of the same recipe and run.

        If all take more than `KEPT_BYTES`, the oldest are dropped, but never this one. A partial or failed
        training is not added.
        """
        if training.partial or training.failed:
            return
        file, recipe, run = training.opened, training.recipe, training.run
        others = [
            other for other in self._trainings
            if other.corpus is training.corpus and not other.makes(file, recipe, run)
        ]
        trainings = [*others, training]
        while len(trainings) > 1 and sum(each.trainer.memory() for each in trainings) > KEPT_BYTES:
            trainings = trainings[1:]
        self._trainings = trainings


# A training corpus: a corpus with its recipe, its run and its trainer, ready to be stepped through.


@dataclass(frozen=True, slots=True)
class Opened:
    """A tokenizer that was read from a file, and its view."""

    tokenizer: Tokenizer
    view: OpenedView


@dataclass(frozen=True, slots=True)
class Training:
    """A corpus laid out for a recipe, or for a tokenizer of a file, ready to be stepped through.

    Attributes:
        corpus: The corpus.
        recipe: What is trained, or what the file says.
        run: Its stops, and what its ids begin with.
        trainer: The training.
        text: The corpus as running text; normalizing it takes longer than a step.
        partial: Whether only a part of the corpus has been counted.
        opened: The tokenizer of a file; None if a recipe is trained.
        notes: Sentences on text of the corpus that its pre-tokens leave out.
    """

    corpus: Corpus
    recipe: Recipe
    run: Run
    trainer: Trainer
    text: RunningText
    partial: bool = False
    opened: Opened | None = None
    notes: tuple[str, ...] = ()

    @property
    def nothing_open(self) -> bool:
        """Whether no corpus is open."""
        return self.corpus is NOTHING

    @property
    def by_kernels(self) -> bool:
        """True if kernels train all of it."""
        return not self.partial and self.trainer.traits.engine == engines.COMPILED

    @property
    def failed(self) -> bool:
        """True if it is trained by kernels, and kernels have failed: its counts may be wrong."""
        return engines.failed and self.by_kernels

    def makes(self, file: Opened | None, recipe: Recipe, run: Run) -> bool:
        """Return whether its trainer makes the steps of a file, or of a recipe under a run, on its corpus.

        Of the run only the first id, the special tokens and the stops that shape steps are compared.
        """
        shapes = [
            (run_of.stops.only(self.trainer.traits.shaped_by), run_of.first_id, run_of.specials)
            for run_of in (self.run, run)
        ]
        return self.opened is file and self.recipe == recipe and shapes[0] == shapes[1]


NOTHING = Corpus.from_text("", "nothing open")


def empty_training(recipe: Recipe, run: Run | None = None) -> Training:
    """Return a training on an empty corpus, with which a session begins."""
    trainer = start(None, recipe, words=Words())
    return Training(NOTHING, recipe, run or Run(), trainer, RunningText(NOTHING, recipe))
