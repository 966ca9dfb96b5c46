"""Opening: read a corpus and lay it out for a recipe, with the first pairs shown before all of it is counted.

What was laid out is kept, so that going back to a recipe is instant.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from tokentui.axes import check
from tokentui.core import jit
from tokentui.core.jobs import job
from tokentui.core.runtime import quiet_collector
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load_any, refuse_tokenizers
from tokentui.learn import start_counted
from tokentui.learn.replay import ReplayTrainer, TokenOrder
from tokentui.learn.trainer import Trainer
from tokentui.learn.walk import jump
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.replay_window import OpenedText
from tokentui.session.stages import opened_view
from tokentui.session.views import ColumnWanted, OpenedView
from tokentui.session.window import RunningText
from tokentui.text.corpus import Corpus, beginning
from tokentui.text.count import Words, count, count_steps, words_of
from tokentui.text.kernels.rules import scans
from tokentui.text.read import read

AT_ONCE_CHARS = 2_000_000
"""So much text is counted and laid out by kernels before anything could be looked at."""
FIRST_LOOK_CHARS = 200_000
"""The characters of a large corpus to count before its first pairs are shown."""


FIRST_LOOK_OPENED = 100_000
FIRST_LOOK_STAGED = 20_000
"""The same for an opened tokenizer, whose steps may take much longer where the axes do not say them."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The callbacks of a long job.

    Args:
        progress: Told (what, done, total).
        partial: Given what there is before all of the corpus is counted.
    """

    progress: Callable[[str, int, int], None]
    partial: Callable[[Prepared], None]


def open_corpus(source: str | Sequence[str], as_: str | None, field: str, hooks: Hooks) -> Corpus:
    """Read a corpus.

    Raises:
        TokentuiError: It cannot be read, or is a tokenizer file.
    """
    sources = (source,) if isinstance(source, str) else source
    name = " ".join(os.path.basename(one.rstrip(os.sep)) or one for one in sources)

    def progress(done: int, total: int) -> None:
        hooks.progress(f"reading {name}", done, total)

    refuse_tokenizers(source, as_)
    with job(progress):
        return read(source, as_=as_, field=field)


def quiet_hooks(progress: Callable[[str, int, int], None]) -> Hooks:
    """Hooks of a work that shows no part of what it lays out."""
    return Hooks(progress, lambda prepared: None)


def prepare(corpus: Corpus, recipe: Recipe, run: Run, hooks: Hooks, words: Words | None = None) -> Prepared:
    """Count a corpus for a recipe and lay it out.

    Args:
        corpus: The corpus.
        recipe: The recipe.
        run: Its run.
        hooks: What is told meanwhile.
        words: The counted words under this recipe, where they are known.

    Raises:
        TokentuiError: Its pattern takes too long on this corpus.
    """
    recipe = check(recipe)
    text = RunningText(corpus, recipe)

    def lay_out(words: Words, partial: bool) -> Prepared:
        # Of a part of the corpus only the words are known, which is enough for a first look.
        documents = None if partial or corpus.counts is not None else corpus.documents
        with quiet_collector(), job(_told(hooks, "laying out")):
            trainer = start_counted(words, recipe, run, documents)
        trainer.advance(0, run.stops)
        return Prepared(corpus, recipe, run, trainer, text, partial, plain=not jit.loaded())

    if words is not None:
        return lay_out(words, False)
    total = corpus.characters
    if total > 2 * FIRST_LOOK_CHARS and not (total <= AT_ONCE_CHARS and jit.loaded() and scans(recipe)):
        hooks.partial(lay_out(_first_words(corpus, recipe, hooks), True))
    with job(_told(hooks, "counting")):
        words = count(corpus, recipe)
    hooks.progress("laying out", 0, 0)
    hash(corpus.digest)  # of a long file it takes a moment: not on the event loop, which asks for it
    return lay_out(words, False)


def open_tokenizer(path: str, split: str, hooks: Hooks) -> Tokenizer:
    """Read a tokenizer file. The split that was named is for a file that holds none.

    Raises:
        TokentuiError: It cannot be read, or is none.
    """
    hooks.progress(f"reading {os.path.basename(path)}", 0, 0)
    return load_any(path, split)


def prepare_whole(corpus: Corpus, tokenizer: Tokenizer, run: Run, hooks: Hooks, path: str) -> Prepared:
    """Prepare a tokenizer at its last replay step. Drops the stops of a training."""
    run = replace(run, stops=replace(run.stops, merges=None, vocab_size=None))

    def at_end(prepared: Prepared) -> Prepared:
        jump(prepared.trainer, prepared.trainer.computed)
        return prepared

    partial = Hooks(hooks.progress, lambda prepared: hooks.partial(at_end(prepared)))
    return at_end(prepare_tokenizer(corpus, tokenizer, run, partial, path=path))


def prepare_tokenizer(
    corpus: Corpus, tokenizer: Tokenizer, run: Run, hooks: Hooks, *, path: str = ""
) -> Prepared:
    """Count a corpus as an opened tokenizer cuts it, and compute its replay steps there; at step 0.

    Args:
        corpus: The corpus.
        tokenizer: The tokenizer.
        run: The run to keep for a later training.
        hooks: The callbacks for progress and partial results.
        path: The tokenizer's file.

    Raises:
        TokentuiError: The tokenizer does not make its tokens one by one.
    """
    order = TokenOrder.of(tokenizer)
    view = opened_view(tokenizer, order, path)
    text = OpenedText(corpus, tokenizer)

    def lay_out(of: Corpus, partial: bool) -> Prepared:
        with job(_told(hooks, "counting")):
            words, fixed = text.pretokens.count(of)
        with quiet_collector(), job(_told(hooks, "encoding")):
            trainer = ReplayTrainer(tokenizer, words, fixed=fixed, order=order)
        return Prepared(corpus, tokenizer.recipe, run, trainer, text, partial, Opened(tokenizer, view))

    first = FIRST_LOOK_STAGED if text.pretokens.staged else FIRST_LOOK_OPENED
    if corpus.counts is None and corpus.characters > 2 * first:
        hooks.partial(lay_out(beginning(corpus, first), True))
    return lay_out(corpus, False)


def prepare_column(corpus: Corpus, wanted: ColumnWanted, words: Words | None, hooks: Hooks) -> Prepared:
    """Read the file that a column asks for, or count the corpus for its recipe, and lay it out; at step 0.

    Raises:
        TokentuiError: The file or the corpus cannot be read.
    """
    if wanted.path:
        tokenizer = open_tokenizer(wanted.path, wanted.split, hooks)
        return prepare_tokenizer(corpus, tokenizer, wanted.run, hooks, path=wanted.path)
    return prepare(corpus, wanted.recipe or Recipe(), wanted.run, hooks, words)


def prepare_again(was: Prepared, hooks: Hooks) -> Prepared:
    """Lay a corpus out again, by kernels that were not there before, and come to the same step."""
    again = prepare(was.corpus, was.recipe, was.run, quiet_hooks(hooks.progress), was.trainer.words)
    # what little is made meanwhile comes when it takes over
    for step in was.trainer.computed, was.trainer.number:
        jump(again.trainer, step)
    return replace(again, plain=False)


def _told(hooks: Hooks, what: str) -> Callable[[int, int], None]:
    return lambda done, total: hooks.progress(what, done, total)


def _first_words(corpus: Corpus, recipe: Recipe, hooks: Hooks) -> Words:
    for done, total, counts in count_steps(corpus, recipe):
        hooks.progress("counting", done, total)
        if done >= FIRST_LOOK_CHARS:
            return words_of(counts)
    return Words((), ())


KEPT_BYTES = 1 << 30
"""The most bytes that the kept trainings may hold together."""
SCRATCH = "scratch"
"""The name of a corpus that the user types."""


class Shelf:
    """Trainings of the corpus that is open, kept so that going back to a recipe is instant."""

    def __init__(self) -> None:
        self._trainings: OrderedDict[tuple[object, ...], Prepared] = OrderedDict()

    def prepared(self, command: do.Command[None], was: Prepared, hooks: Hooks) -> Prepared:
        """Read and lay out what a command asks for, in the place of what was there; a training that is kept
        is taken again.

        Raises:
            TokentuiError: It cannot be.
        """
        recipe, run = was.recipe, was.run
        match command:
            case do.SetRecipe():
                corpus, recipe, run = was.corpus, command.recipe, command.run or was.run
            case do.OpenTokenizer(path, split, kept):
                for one in self._trainings.values() if kept else ():
                    if one.corpus is was.corpus and one.opened and one.opened.view.path == path:
                        return one
                return prepare_whole(was.corpus, open_tokenizer(path, split, hooks), was.run, hooks, path)
            case do.TrainOnText(text):
                corpus = Corpus.from_text(text, SCRATCH)
            case do.Open(sources, as_, field, file):
                corpus = open_corpus(sources, as_, field, hooks)
                if file is not None:
                    return prepare_whole(
                        corpus, open_tokenizer(file.path, file.split, hooks), was.run, hooks, file.path
                    )
        if not isinstance(command, do.SetRecipe) and was.opened:
            return prepare_whole(corpus, was.opened.tokenizer, was.run, hooks, was.opened.view.path)
        for one in self._trainings.values():
            if (
                one.corpus is corpus
                and not one.opened
                and one.recipe == recipe
                and one.shape(one.run) == one.shape(run)
            ):
                return replace(one, run=run)
        return prepare(corpus, recipe, run, hooks)

    def keep(self, prepared: Prepared) -> None:
        """Keep a training while its corpus is open, as long as all that are kept hold no more than
        `KEPT_BYTES`."""
        if prepared.partial:
            return
        self._trainings[prepared.key] = prepared
        self._trainings.move_to_end(prepared.key)
        for key in [key for key, kept in self._trainings.items() if kept.corpus is not prepared.corpus]:
            del self._trainings[key]  # trainers of a corpus that is no longer open
        while (
            len(self._trainings) > 1
            and sum(one.trainer.memory for one in self._trainings.values()) > KEPT_BYTES
        ):
            self._trainings.popitem(last=False)


# A prepared corpus: a corpus with its recipe, its run and its trainer, ready to be stepped through.


@dataclass(frozen=True, slots=True)
class Opened:
    """A tokenizer that was read from a file, and what is shown of it."""

    tokenizer: Tokenizer
    view: OpenedView


@dataclass(frozen=True, slots=True)
class Prepared:
    """A corpus laid out for a recipe, or for a tokenizer of a file, ready to be stepped through.

    Attributes:
        corpus: The corpus.
        recipe: What is trained, or what the file says.
        run: Its stops, and what its ids begin with.
        trainer: The training.
        text: The corpus as running text, made here where it is not given; normalizing it takes longer than a
        step.
        partial: Whether only a part of the corpus has been counted.
        opened: The tokenizer of a file, None where a recipe is trained.
        plain: Whether the kernels were not loaded when it was laid out.
    """

    corpus: Corpus
    recipe: Recipe
    run: Run
    trainer: Trainer
    text: RunningText = field(default=cast("RunningText", None))
    partial: bool = False
    opened: Opened | None = None
    plain: bool = False

    def __post_init__(self) -> None:
        if not hasattr(self.text, "view"):
            object.__setattr__(self, "text", RunningText(self.corpus, self.recipe))

    @property
    def key(self) -> tuple[object, ...]:
        """Everything that the steps of the trainer depend on."""
        file = self.opened and id(self.opened.tokenizer)
        return self.corpus.sha256, self.corpus.name, file, self.recipe, *self.shape(self.run)

    @property
    def nothing(self) -> bool:
        """True if no corpus is open."""
        return self.corpus is NOTHING

    def shape(self, run: Run) -> tuple[object, ...]:
        """Of a run the words that the steps of such a trainer depend on."""
        return run.stops.only(self.trainer.traits.shaped_by), run.first_id, run.specials


NOTHING = Corpus.from_text("", "nothing open")


def nothing(recipe: Recipe, run: Run | None = None) -> Prepared:
    """An empty corpus: what a session begins with."""
    return Prepared(
        NOTHING, recipe, run or Run(), start_counted(words_of(Counter()), recipe),
        RunningText(NOTHING, recipe),
    )
