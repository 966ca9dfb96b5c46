"""A column: what was asked for, the training that it became, and how that goes to a position."""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass

from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import load
from tokentui.learn import start_counted
from tokentui.learn.base import Stops, Trainer
from tokentui.learn.pairs import PairTrainer, quiet_collector
from tokentui.learn.replay import OpenedTrainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.presets import label
from tokentui.recipe import Recipe
from tokentui.session.compared import ColumnWanted, Position
from tokentui.session.explorer import Prepared, Run, preset_of
from tokentui.session.opening import Hooks, prepare_tokenizer
from tokentui.session.snapshot import Busy
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words, count

Tell = Callable[[str, int, int], None]
"""Told (what, done, total) by a long work."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A column's training, ready to be stepped through.

    `first_size` is the number of ids at step 0, `tokenizer` what was read from a file, None for a recipe.
    """

    corpus: Corpus
    run: Run
    trainer: Trainer
    recipe: Recipe
    first_size: int
    tokenizer: Tokenizer | None = None

    @property
    def stops(self) -> Stops:
        """Where the column ends."""
        return self.run.stops

    def again(self, corpus: Corpus | None = None, *, tell: Tell, cancel: Callable[[], bool]) -> Opened:
        """The same once more, at step 0, to be worked with beside; or on another corpus.

        Raises:
            TokentuiError: It cannot be laid out.
            Cancelled: `cancel` said so.
        """
        if isinstance(self.trainer, OpenedTrainer) and corpus is None:
            return dataclasses.replace(self, trainer=self.trainer.again())
        if self.tokenizer is not None:
            return _of_file(corpus or self.corpus, self.tokenizer, self.run, tell, cancel)
        words = self.trainer.words if corpus is None else None
        return _of_recipe(corpus or self.corpus, self.recipe, self.run, words, tell, cancel)


def open_column(
    corpus: Corpus, wanted: ColumnWanted, known: Callable[[Recipe], Words | None], *, tell: Tell, cancel: Callable[[], bool]
) -> Opened:
    """Read the file that is asked for, or count the corpus for a recipe, and lay it out.

    Args:
        corpus: The corpus.
        wanted: What is asked for.
        known: The counted words of the corpus under a recipe, where another column has them.
        tell: Told how far it is.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The file or the corpus cannot be read.
    """
    run = Run.of(dict(wanted.run))
    if wanted.path:
        tell(f"reading {os.path.basename(wanted.path)}", 0, 0)
        return _of_file(corpus, _loaded(wanted.path, wanted.split), run, tell, cancel)
    recipe = wanted.recipe or Recipe()
    return _of_recipe(corpus, recipe, run, known(recipe), tell, cancel)


def _loaded(path: str, split: str) -> Tokenizer:
    """A tokenizer of a file. The split that was named is for a file that holds none."""
    try:
        return load(path)
    except TokentuiError:
        if not split:
            raise
        return load(path, split)


def _of_file(corpus: Corpus, tokenizer: Tokenizer, run: Run, tell: Tell, cancel: Callable[[], bool]) -> Opened:
    prepared: Prepared = prepare_tokenizer(corpus, tokenizer, run, Hooks(tell, lambda _: None, cancel))
    return Opened(corpus, run, prepared.trainer, tokenizer.recipe, prepared.trainer.vocab_size, tokenizer)


def _of_recipe(
    corpus: Corpus, recipe: Recipe, run: Run, words: Words | None, tell: Tell, cancel: Callable[[], bool]
) -> Opened:
    words = words or count(corpus, recipe, progress=lambda done, total: tell("counting", done, total), cancel=cancel)
    with quiet_collector():
        trainer = start_counted(
            words, recipe, first_id=run.first_id, specials=run.specials,
            documents=corpus.documents if corpus.counts is None else None, vocab_size=run.stops.vocab_size,
            progress=lambda done, total: tell("laying out", done, total), cancel=cancel,
        )
    trainer.bound(run.stops)
    return Opened(corpus, run, trainer, recipe, trainer.vocab_size)


class Column:
    """A column as the session keeps it.

    Args:
        key: Its own number.
        wanted: What was asked for.
    """

    def __init__(self, key: int, wanted: ColumnWanted) -> None:
        self.key = key
        self.wanted = wanted
        self.error = ""
        self.opened: Opened | None = None
        self.opening = Busy("waiting", 0, 0)
        """How far it is while it is being opened."""
        self._fewest: tuple[Trainer, list[int]] | None = None
        self.there = False
        """Whether it stands at the position of the others."""

    @property
    def name(self) -> str:
        """What it is called."""
        if self.wanted.name:
            return self.wanted.name
        if self.wanted.path:
            return os.path.basename(self.wanted.path)
        recipe = self.wanted.recipe or Recipe()
        return preset_of(recipe) or label(recipe)

    @property
    def recipe(self) -> Recipe | None:
        """What is trained, or what the file says once it is read."""
        return self.opened.recipe if self.opened else self.wanted.recipe

    @property
    def trainer(self) -> Trainer:
        """The training of a column that is open."""
        assert self.opened is not None
        return self.opened.trainer

    @property
    def ended(self) -> bool:
        """Whether it stands at its end."""
        assert self.opened is not None
        return self.trainer.end(self.opened.stops) is not None

    @property
    def slow(self) -> bool:
        """Whether a single step takes long: it goes first, and the others wait for it."""
        return isinstance(self.trainer, UnigramTrainer)

    def towards(self, position: Position, tokens: int, seconds: float) -> bool:
        """Walk towards a position for a short while.

        Args:
            position: The position.
            tokens: The tokens of the first column there; of meaning by `tokens` only.
            seconds: How long, about.

        Returns:
            Whether it stands there.
        """
        if position.by == "size":
            return self._to_size(position.value, seconds)
        if position.by == "tokens":
            return self._to_tokens(tokens, seconds)
        return self.to_step(position.value, seconds)

    def to_step(self, step: int, seconds: float) -> bool:
        """Walk towards a step, at most to the end. Returns whether it stands there."""
        assert self.opened is not None
        trainer, stops = self.trainer, self.opened.stops
        if trainer.number > step:
            return trainer.advance(step, trainer.limits(stops), seconds) is not None
        last = step if stops.merges is None else min(step, stops.merges)
        return trainer.advance(None, dataclasses.replace(stops, merges=last), seconds) is not None

    def _to_size(self, size: int, seconds: float) -> bool:
        found = self.trainer.step_with(size)
        if found is not None:
            return self.to_step(found, seconds)
        assert self.opened is not None
        trainer, stops = self.trainer, self.opened.stops
        if isinstance(trainer, UnigramTrainer):  # its stops say which size its prunings go to
            return self._on(seconds) and trainer.step_with(size) is None
        if stops.vocab_size is None or size < stops.vocab_size:
            stops = dataclasses.replace(stops, vocab_size=size)
        return trainer.advance(None, stops, seconds) is not None

    def _to_tokens(self, tokens: int, seconds: float) -> bool:
        found = self._step_with_tokens(tokens)
        if found is None:
            # It goes too far in most slices: what it has learned is looked through for the very step.
            ended = self._on(seconds)
            found = self._step_with_tokens(tokens)
            if found is None:
                return ended
        return self.to_step(found, seconds)

    def _step_with_tokens(self, tokens: int) -> int | None:
        """The first known step at which the corpus has come to so many tokens; None where there is none yet."""
        trainer = self.trainer
        steps = range(trainer.known + 1)
        if isinstance(trainer, UnigramTrainer):
            return next((step for step in steps if trainer.tokens_at(step) >= tokens), None)
        if isinstance(trainer, PairTrainer):  # no merge makes it longer
            found = bisect.bisect_left(steps, -tokens, key=lambda step: -trainer.tokens_at(step))
            return found if found < len(steps) else None
        # A token that is looked up longest first may make others worse: the first step is what counts.
        if self._fewest is None or self._fewest[0] is not trainer:
            self._fewest = (trainer, list(itertools.accumulate((-trainer.tokens_at(step) for step in steps), max)))
        found = bisect.bisect_left(self._fewest[1], -tokens)
        return found if found < len(steps) else None

    def _on(self, seconds: float) -> bool:
        """Go on past what is known. Returns whether it has come to its end."""
        assert self.opened is not None
        trainer, stops = self.trainer, self.opened.stops
        if trainer.number < trainer.known:
            return trainer.advance(trainer.known, trainer.limits(stops), seconds) is not None and self.ended
        if isinstance(trainer, UnigramTrainer):
            reason = trainer.advance(None, dataclasses.replace(stops, merges=_next(trainer.number, stops)), seconds)
            return reason is not None and self.ended
        return trainer.advance(None, stops, seconds) is not None


def _next(step: int, stops: Stops) -> int:
    return step + 1 if stops.merges is None else min(step + 1, stops.merges)
