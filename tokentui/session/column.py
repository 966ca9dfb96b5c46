"""A column: a training, or the replay of a file, over the corpus, and how it is brought to a position."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokentui.axes import label
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.trainer import Size, Tokens, Trainer
from tokentui.learn.values import Stop
from tokentui.presets import preset_of
from tokentui.recipe import Recipe, Stops
from tokentui.session.opening import Prepared
from tokentui.session.sections import Sections
from tokentui.session.views import END, Busy, ColumnSnapshot, ColumnWanted, Position, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

EDITABLE_BYTES = 1_000_000
"""A larger corpus is not edited: each key would train on all of it."""


@dataclass(frozen=True, slots=True)
class TokenizerAtStep:
    """The tokenizer of a step and the texts to query it with; later steps do not change it."""

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
    if corpus.size > EDITABLE_BYTES:
        raise TokentuiError(
            f"more than {EDITABLE_BYTES:,} bytes cannot be edited", corpus.name, "open a part of it"
        )
    return "\n".join(corpus.documents)


class Column:
    """A column of a session. The engine thread owns it.

    Args:
        key: Its own number.
        wanted: What was asked for.
    """

    def __init__(self, key: int, wanted: ColumnWanted) -> None:
        self.key = key
        self.wanted = wanted
        self.error = ""
        self.loading = Busy("waiting", 0, 0)
        """The progress of opening the column."""
        self.prepared: Prepared | None = None
        self.in_sync = False
        """True if the column is at the session's position."""
        self.stopped_at: int | None = None
        """The step that its stops end it at, once it has come there."""
        self.passed = False
        """True if the column may have gone past its stops."""
        self._sections: Sections | None = None

    def take(self, prepared: Prepared) -> None:
        """Go on with a training."""
        self.prepared, self.error = prepared, ""
        # the limits first: candidates depend on them
        prepared.trainer.advance(prepared.trainer.number, prepared.run.stops)
        self.in_sync, self.passed, self.stopped_at = False, False, None
        self._sections = Sections(prepared)
        file, recipe = prepared.opened, prepared.recipe
        if file is not None:
            self.wanted = dataclasses.replace(self.wanted, recipe=None, path=file.view.path)
        elif (self.wanted.path, self.wanted.recipe, self.wanted.run) != ("", recipe, prepared.run):
            self.wanted = ColumnWanted(recipe, prepared.run)

    @property
    def trainer(self) -> Trainer:
        """The training of a column that is open."""
        assert self.prepared is not None
        return self.prepared.trainer

    @property
    def sections(self) -> Sections:
        """The sections of a column that is open."""
        assert self._sections is not None
        return self._sections

    @property
    def stops(self) -> Stops:
        """The stops of its run."""
        assert self.prepared is not None
        return self.prepared.run.stops

    def end(self, free: bool) -> Stop | None:
        """Why it cannot go on, by its stops or, where it is free of them, for good; None where it can."""
        stops = self.stops
        return self.trainer.end(stops.only(self.trainer.traits.shaped_by) if free else stops)

    # ---- walking

    def to_step(self, step: int, seconds: float, free: bool) -> bool:
        """Walk towards a step, at most to the end. Returns whether it stands there."""
        trainer, stops = self.trainer, self.stops
        if free:
            self.passed = True
            return trainer.advance(step, stops, seconds) is not None
        stop = self.stopped_at
        if stop is None and self.passed and (end := trainer.ending(stops)).exact:
            stop = end.step
        step = step if stop is None else min(step, stop)
        if trainer.number >= step:
            arrived = trainer.advance(step, stops, seconds) is not None
        else:
            last = step if stops.merges is None else min(step, stops.merges)
            arrived = trainer.advance(None, dataclasses.replace(stops, merges=last), seconds) is not None
        if arrived:
            self.passed = False
            if self.stopped_at is None and trainer.end(stops) is not None:
                self.stopped_at = trainer.number
        return arrived

    def agrees(self, step: int, free: bool) -> bool:
        """True if the column has passed its stops on the way to a step only where that is allowed."""
        number, stop = self.trainer.number, self.stopped_at
        if stop is None:
            return True
        if number > stop:
            return free
        return not free or step <= stop or self.end(free=True) is not None

    def to_goal(self, goal: Size | Tokens, seconds: float, free: bool) -> bool:
        """Walk to the first step that reaches a goal. Returns whether it stands there, or at its end where
        that comes before.

        It goes too far in most slices, and comes back to the very step.
        """
        trainer = self.trainer
        found = trainer.find(goal)
        if found is None:
            ended = self._on(goal, seconds, free)
            found = trainer.find(goal)
            if found is None:
                return ended
        return self.to_step(found, seconds, free)

    def _on(self, goal: Size | Tokens, seconds: float, free: bool) -> bool:
        """Go on past what is computed. Returns whether it has come to its end."""
        trainer, traits, stops = self.trainer, self.trainer.traits, self.stops
        if not free and self.stopped_at is not None:
            return self.to_step(self.stopped_at, seconds, free)
        if trainer.number < trainer.computed:
            return (
                trainer.advance(trainer.computed, stops, seconds) is not None and self.end(free) is not None
            )
        if free:
            self.passed = True
            stops = stops.only(traits.shaped_by)
        if traits.heavy:  # one step after the other: a goal may be reached by each
            last = trainer.number + 1 if stops.merges is None else min(trainer.number + 1, stops.merges)
            stops = dataclasses.replace(stops, merges=last)
        elif isinstance(goal, Size) and (stops.vocab_size is None or goal.ids < stops.vocab_size):
            stops = dataclasses.replace(stops, vocab_size=goal.ids)
        arrived = trainer.advance(None, stops, seconds) is not None
        ended = arrived and self.end(free) is not None
        if ended and not free and self.stopped_at is None:
            self.stopped_at = trainer.number
        return ended

    # ---- looking

    @property
    def recipe(self) -> Recipe:
        """The recipe of the training, or that of the file once it is read."""
        return self.prepared.recipe if self.prepared else self.wanted.recipe or Recipe()

    @property
    def name(self) -> str:
        """The name."""
        if self.wanted.name:
            return self.wanted.name
        if self.wanted.path:
            return os.path.basename(self.wanted.path)
        return preset_of(self.recipe) or label(self.recipe)

    def snapshot(self, view: Viewport, typed: str, alone: bool) -> ColumnSnapshot:
        """The column as a screen shows it; one among several has no numbers before it stands at the position.
        """
        prepared, sections = self.prepared, self._sections
        if prepared is None or sections is None or not (self.in_sync or alone):
            loading = (
                self.loading if prepared is None else Busy("going to the others", self.trainer.number, 0)
            )
            recipe = self.recipe
            about = "" if prepared is None and self.wanted.path else label(recipe)
            return ColumnSnapshot(
                self.key, self.name, about, recipe, preset_of(recipe), self.wanted.path, error=self.error,
                loading=None if self.error else loading, in_sync=False, notes=_notes(prepared),
            )
        return sections.column(self.key, self.name, self.in_sync, view, typed)


def _notes(prepared: Prepared | None) -> tuple[str, ...]:
    return prepared.opened.tokenizer.notes if prepared and prepared.opened else ()


def same(one: ColumnWanted, other: ColumnWanted) -> bool:
    """True if two requests are for the same recipe or the same file."""
    return (
        one.path == other.path
        if one.path or other.path
        else (one.recipe, one.run) == (other.recipe, other.run)
    )


@dataclass(slots=True)
class Seek:
    """A walk that looks for the step that makes a token."""

    wanted: frozenset[bytes]
    looked: int
    origin: int
    answer: Callable[[object], None]


def over(columns: Sequence[Column], position: Position, free: bool) -> bool:
    """True if no column can go further.

    Args:
        columns: The columns that are at the position.
        position: The position.
        free: True if the columns may pass their stops.
    """
    if not columns:
        return False
    if position.by == "tokens":
        return columns[0].end(free) is not None
    if position.by == "size":
        if position.value < last(columns, "size"):
            return False
        columns = [column for column in columns if column.trainer.traits.grows]
    return all(column.end(free) is not None for column in columns)


def last(columns: Sequence[Column], by: str) -> int:
    """The value beyond which no column goes, at the steps where they are."""
    if by == "merges":
        return max(column.trainer.number for column in columns)
    if by == "tokens":
        return columns[0].trainer.number
    growing = [column for column in columns if column.trainer.traits.grows]
    if not growing:
        return max(column.trainer.size_at(0) for column in columns)
    most = max(column.trainer.size_at(column.trainer.number) for column in growing)
    # A merge that borrows the id of a special adds none: the end is not the first step of its size then.
    exact = all(column.trainer.find(Size(most)) in (None, column.trainer.number) for column in growing)
    return most if exact else most + 1


def way(column: Column, looking: bool, goal: Position | None) -> Busy | None:
    """The way to a goal, where it is a long one."""
    trainer = column.trainer
    if looking:
        return Busy("looking for the token", trainer.number, 0)
    if goal is None:
        return None
    if goal.value == END:
        return Busy("going to the end", trainer.number, trainer.ending(column.stops).step or 0)
    if goal.by == "size":
        return Busy(f"going to {goal.value:,} ids", trainer.size_at(trainer.number), goal.value)
    if abs(goal.value - trainer.number) > 1:
        return Busy(f"going to step {goal.value:,}", trainer.number, goal.value)
    return None
