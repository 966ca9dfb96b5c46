"""A column: a training, or the replay of a file, over the corpus, how it is brought to a position, and its
sections. A section is made again only when its key has changed.

A key holds everything that the section depends on: the training with its corpus, its run and its engine
(`Training`, of which each has sections of its own), the step, how far steps are computed, the rows that are
shown, the text.
"""

from __future__ import annotations

import dataclasses
import gc
import os
from collections.abc import Callable, Sequence
from typing import Any

from tokentui import learn
from tokentui.axes import label
from tokentui.core import engines
from tokentui.core.errors import Cancelled, TokentuiError, in_words
from tokentui.core.safetext import GlyphMode, meant, to_bytes
from tokentui.encode.encoding import EncodedToken
from tokentui.encode.explain import round_trip
from tokentui.encode.incremental import Typed
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.rows import Query
from tokentui.learn.steps import Stop
from tokentui.learn.trainer import Size, Tokens, Trainer
from tokentui.preset_table import preset_of
from tokentui.recipe import Ending, Recipe, Stops
from tokentui.session.engine.jobs import ignore
from tokentui.session.training.training import Training
from tokentui.session.views import (
    END,
    MAIN,
    AtStep,
    Busy,
    ColumnSnapshot,
    ColumnWanted,
    CurveView,
    EncodedView,
    PartLength,
    Position,
    Viewport,
)
from tokentui.text.patterns import TakesTooLong
from tokentui.text.pretokenize import MARKS
from tokentui.text.split import SPLITS

LIVES_ON_BYTES = 1_000_000
"""A larger corpus is laid out as millions of numbers that live on: collections of garbage pass over them."""
LOSSES_CHARS = 4_000
"""In a longer text no losses are looked for at each step."""

Key = tuple[object, ...]
_EMPTY = ColumnSnapshot()
_CHANGES_NAMED = 2
"""The maximum number of what-ifs in the name of a column."""


def at_step(training: Training) -> AtStep:
    """Return the numbers of a training at its current step.

    The end is unknown while only a part of the corpus is counted. Without tokens, or if the weight does not
    count occurrences, there are no bytes per token.
    """
    trainer = training.trainer
    number, words = trainer.number, trainer.words
    end = trainer.ending(training.run.stops)
    tokens, start_tokens = trainer.tokens_at(number), trainer.tokens_at(0)
    if end.kind == "last" and not training.opened and (training.partial or not start_tokens):
        # That is the end of the part that has been counted, or of nothing at all.
        end = Ending()
    last = trainer.step_at(number) if number else None
    counted = tokens and WEIGHTS.of(training.recipe.weight).by_occurrences
    return AtStep(
        step=number,
        computed=trainer.computed,
        end=end,
        tokens=tokens,
        start_tokens=start_tokens,
        vocab_size=trainer.size_at(number),
        occurrences=words.occurrences,
        distinct=len(words.words),
        memory=trainer.memory(),
        bytes_per_token=training.corpus.size / tokens if counted else None,
        lengths=_lengths(training) if training.corpus.named else (),
        last=trainer.taken(number) if number else None,
        last_id=getattr(last, "id", None),
    )


def _lengths(training: Training) -> tuple[PartLength, ...]:
    """Return the tokens of each named corpus at the current step, and its bytes per token, which are None if
    occurrences are not counted. Empty if the tokens are not known."""
    lengths = zip(training.corpus.named, training.trainer.lengths_at(training.trainer.number), strict=False)
    counted = WEIGHTS.of(training.recipe.weight).by_occurrences
    return tuple(
        PartLength(part.name, length, part.times * part.corpus.size / length if counted and length else None)
        for part, length in lengths
    )


def queries_of(view: Viewport) -> tuple[Query, Query]:
    """Return the queries for the rows of the candidates and of the vocabulary that a view shows."""
    listed = Query(view.candidates_top, view.candidates_rows, view.candidates_order)
    entries = Query(
        view.vocabulary_top, view.vocabulary_rows, view.vocabulary_order, folded=view.vocabulary_folded,
        among=view.vocabulary_among,
    )
    if only := view.candidates_only:
        listed = listed._replace(match=needles(only, view.mode), only=True)
    if only := view.vocabulary_only:
        entries = entries._replace(match=needles(only, view.mode), only=True)
    return listed, entries


def needles(text: str, mode: GlyphMode = "text") -> tuple[bytes, ...]:
    """Return the readings of a typed text: as typed, and with symbols for spaces and bytes resolved."""
    return tuple(dict.fromkeys((to_bytes(text), meant(text, mode))))


class Column:
    """A column of a session. The engine thread owns it.

    Args:
        key: Its own number.
        wanted: The request that the column answers: a recipe with its run, or a tokenizer file.

    Attributes:
        training: The training with its corpus and its run, its `trainer` and its `stops`. They do not exist
            before `set_training` was called.
    """

    training: Training
    trainer: Trainer
    stops: Stops
    _at: Tokenizer

    def __init__(self, key: int, wanted: ColumnWanted) -> None:
        self.key = key
        self.wanted = wanted
        self.error = ""
        self.loading = Busy("waiting", 0, 0)
        """The progress of opening the column."""
        self.open = False
        """True once it has a training."""
        self.needs_fallback = False
        """True from a failure of its kernels until its training is rebuilt in plain Python. Meanwhile it is
        not open and does not move."""
        self.in_sync = False
        """True if the column is at the session's position."""
        self.stopped_at: int | None = None
        """The step at which its stops end it; None until it has reached that step."""
        self.passed = False
        """True if the column may have gone past its stops."""
        self._pause: Callable[[], object] = ignore
        """Called before each section that is made again."""
        self.describe()

    def set_training(self, training: Training) -> None:
        """Replace the training. The column is then out of sync and without error, and all cached sections are
        dropped.

        `wanted` becomes the request that this training fulfills. If its stops cannot be set, nothing changes.
        """
        trainer, stops = training.trainer, training.run.stops
        # the limits first: candidates depend on them; nothing is changed where that fails
        trainer.advance(trainer.number, stops)
        self.training, self.trainer, self.stops, self.error = training, trainer, stops, ""
        self.in_sync, self.passed, self.stopped_at = False, False, None
        file, recipe = training.opened, training.recipe
        if file is not None:
            self.wanted = dataclasses.replace(
                self.wanted, recipe=None, path=file.view.path, encode=recipe.encode
            )
        elif (self.wanted.path, self.wanted.recipe, self.wanted.run) != ("", recipe, training.run):
            self.wanted = ColumnWanted(recipe, training.run)
        self._typed = Typed()
        self._at_number = -1
        """The step of the tokenizer `_at`."""
        self._too_slow: tuple[str, TakesTooLong] | None = None
        """A text over which a pattern takes too long."""
        self._decoder = file.tokenizer.decoder if file else None
        marked = MARKS.of(recipe.mark).put is not None or SPLITS.of(recipe.split).marks_spaces
        self._joins = file is None and not marked
        """True if decoding only joins the pieces, unless the vocabulary has byte tokens."""
        self._sections: dict[str, tuple[Key, Any]] = {}
        """The key and the value of each cached section, by its name."""
        self._errors: dict[str, str] = {}
        self._lengths: dict[int, int] = {}
        """The corpus in tokens after the steps that the curve has shown."""
        self.open, self.needs_fallback = not training.failed, training.failed
        self.describe()
        if training.corpus.size > LIVES_ON_BYTES:
            gc.freeze()

    def set_error(self, error: BaseException) -> None:
        """Mark the column as failed: it is not open and not in sync, and `error` says why."""
        self.error, self.open, self.needs_fallback, self.in_sync = in_words(error), False, False, False

    def on_kernel_failure(self, error: Exception) -> bool:
        """Mark the column for a fallback to plain Python if the error is a failure of the kernels that train
        it.

        The traceback is written to a file, and the column is not open until it is laid out again.

        Returns:
            Whether kernels failed. If not, the column is as before.
        """
        if not (self.training.by_kernels and engines.fail(error)):
            return False
        self.open, self.needs_fallback = False, True
        return True

    def describe(self) -> None:
        """Update the name, and the parts of the snapshot that do not depend on the step: recipe, preset,
        file, traits. Until the column is open they come from the request."""
        wanted = self.wanted
        named = {axis: value for axis in ("split", "encode") if (value := getattr(wanted, axis))}
        recipe = wanted.recipe or Recipe().with_axes(**named)
        opened: dict[str, Any] = {}
        if self.open or self.needs_fallback:
            training = self.training
            recipe, file = training.recipe, training.opened
            opened = {"partial": training.partial, "traits": self.trainer.traits}
            if file is not None:
                opened["opened"] = file.view
            else:
                opened["size_limit"] = self.stops.vocab_size
        preset, plain = preset_of(recipe), recipe.but()
        changed = ", ".join(change.summary for change in recipe.changes[:_CHANGES_NAMED])
        changed += f" and {len(recipe.what_if) - _CHANGES_NAMED:,} more" * (
            len(recipe.what_if) > _CHANGES_NAMED
        )
        self.name = (
            wanted.name or os.path.basename(wanted.path) or changed or preset_of(plain) or label(plain)
        )
        """The name."""
        about = label(recipe) if opened or not wanted.path else ""
        self._shown = ColumnSnapshot(
            self.key, self.name, about, recipe, preset, wanted.path, in_sync=False, **opened
        )

    # ---- sections

    def snapshot(
        self, view: Viewport, typed: str, alone: bool, pause: Callable[[], object] = ignore
    ) -> ColumnSnapshot:
        """Return the column as a screen shows it. One of several that is not in sync has no numbers.

        Sections whose keys changed are made again. If kernels fail meanwhile, the column is marked for a
        fallback.

        Args:
            view: The rows and the sections that are shown.
            typed: The typed text.
            alone: True if it is the only column.
            pause: Called before each section that is made again.
        """
        self._pause = pause
        if not ((self.open or self.needs_fallback) and (self.in_sync or alone)):
            loading = Busy("going to the others", self.trainer.number, 0) if self.open else self.loading
            return dataclasses.replace(
                self._shown, error=self.error, loading=None if self.error else loading
            )
        training, trainer = self.training, self.trainer
        number, computed, moment = trainer.number, trainer.computed, self._moment
        at: AtStep = self._section("at", moment, lambda: at_step(training))
        listed, entries = queries_of(view)
        place = view.corpus, view.corpus_chars, view.corpus_before, view.ages
        wanted: dict[str, tuple[Key, Callable[[], object]]] = {
            "candidates": ((moment, listed), lambda: learn.candidates(trainer, listed)),
            "why": (moment, lambda: learn.why(trainer, self.stops)),
            "vocabulary": ((moment, entries), lambda: learn.entries(trainer, entries)),
            "corpus": ((moment, *place), lambda: training.text.view(view, trainer)),
            "encoding": ((number, typed, view.ages), lambda: self._encoding(typed, view.ages)),
            "curve": ((computed, at.end.step, view.curve_points), lambda: self._curve(at, view.curve_points)),
        }
        sections = {
            section: self._section(section, *wanted[section])
            if section in view.wants else getattr(_EMPTY, section)
            for section in MAIN
        }
        errors = {section: error for section, error in self._errors.items() if section in view.wants}
        self.in_sync = self.in_sync and (alone or not self.needs_fallback)
        return dataclasses.replace(self._shown, in_sync=self.in_sync, at=at, errors=errors, **sections)

    @property
    def _moment(self) -> Key:
        """The part of a section's key that describes the current step, the number of computed steps, and a
        walk within the step."""
        trainer = self.trainer
        substeps = learn.substeps_of(trainer)
        return trainer.number, trainer.computed, None if substeps is None else substeps.walked

    def coming(self) -> tuple[bytes, ...]:
        """Return the exact bytes of the tokens that the next step merges; empty if it merges none, or the
        column is not open."""
        trainer = self.trainer
        if not (self.open and trainer.traits.grows):
            return ()
        number, computed = trainer.number, trainer.computed
        if number < computed:
            step = trainer.taken(number + 1)
        else:
            step = self._section("why", self._moment, lambda: learn.why(trainer, self.stops)).best
        return step.parts if step is not None and len(step.parts) > 1 else ()

    def _section(self, name: str, key: Key, make: Callable[[], object]) -> Any:
        """Return a section of the view, cached while its key is the same or the column waits for a fallback.

        If it cannot be made, it is empty, and `_errors` has the error, unless kernels failed. `Cancelled` is
        raised, and nothing is cached then.
        """
        known, section = self._sections.get(name, (None, getattr(_EMPTY, name)))
        if known == key or self.needs_fallback:
            return section
        self._errors.pop(name, None)
        self._pause()
        try:
            section = make()
        except Cancelled:
            raise
        except Exception as error:
            if not self.on_kernel_failure(error):
                self._errors[name], section = in_words(error), getattr(_EMPTY, name)
        self._sections[name] = key, section
        return section

    def encode(self, text: str) -> tuple[EncodedToken, ...]:
        """Return the tokens of a text by the tokenizer of the step.

        Only the changed part of a text, or of the tokenizer, is encoded again; an opened file encodes all of
        it. A text over which a pattern took too long is refused at once until it changes.

        Raises:
            TokentuiError: The tokenizer refuses the text, or a pattern takes too long over it.
        """
        if self._too_slow and self._too_slow[0] == text:
            raise self._too_slow[1].with_traceback(None)  # each time it is raised would add to it
        if self._at_number != self.trainer.number:
            self._at_number, self._at = self.trainer.number, self.trainer.tokenizer()
        try:
            if self._decoder is not None:
                return self._at.encode(text).rows
            return self._typed.encode(self._at.vocabulary, self._at.merges, text)
        except TakesTooLong as error:
            self._too_slow = text, error  # it is not tried at every step
            raise

    def _curve(self, at: AtStep, points: int) -> CurveView:
        """Return the tokens of the corpus after evenly spaced steps from 0 to the end of the run, as far as
        they are computed."""
        trainer, known = self.trainer, self._lengths
        end, points = max(at.computed, at.end.step or 0), max(2, points)
        lengths = []
        for step in [round(n * end / (points - 1)) for n in range(points)]:
            if step <= at.computed:
                if step not in known:
                    known[step] = trainer.tokens_at(step)
                lengths.append(known[step])
        return CurveView(tuple(lengths), end)

    def _encoding(self, text: str, aged: bool) -> EncodedView:
        """Return the typed text as the tokenizer of the step encodes it, with the ages of its tokens if
        `aged`. A text that it refuses has no tokens and an error. In texts longer than `LOSSES_CHARS` no
        losses are looked for."""
        exact = to_bytes(text)
        try:
            tokens = self.encode(text)
        except TokentuiError as error:
            return EncodedView(text, (), len(exact), str(error))
        ages = learn.ages(self.trainer, [token.id for token in tokens]) if aged else ()
        tokenizer, joins = self._at, self._joins and not self._at.vocabulary.byte_tokens
        comes_back = joins and b"".join([token.piece or b"" for token in tokens]) == exact
        if comes_back or len(text) > LOSSES_CHARS:
            return EncodedView(text, tokens, len(exact), ages=ages)
        trip = round_trip(tokenizer.encoder, text, self._decoder)
        back = trip.back or "" if trip.lost else ""
        return EncodedView(text, tokens, len(exact), lost=trip.lost, back=back, ages=ages)

    # ---- walking

    def end(self, free: bool) -> Stop | None:
        """Return why the column cannot go further; None if it can.

        Args:
            free: True to ignore the stops of the run, except those that shape the steps.
        """
        stops = self.stops
        return self.trainer.end(stops.only(self.trainer.traits.shaped_by) if free else stops)

    def advance_to_step(self, step: int, seconds: float, free: bool) -> bool:
        """Walk towards a step for a number of seconds.

        Args:
            step: The step.
            seconds: The time to use.
            free: True to pass the stops of the run; else the column ends at its stop, which is noted.

        Returns:
            Whether the column is at the step, or at its end before it.
        """
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

    def respects_stops(self, step: int, free: bool) -> bool:
        """Return whether the column is where its stops allow, at a position of several columns.

        Args:
            step: The position. Beyond its stop, the column is at its stop if it may not pass, else at the
            step.
            free: True if the columns pass their stops at this position.
        """
        number, stop = self.trainer.number, self.stopped_at
        if stop is None:
            return True
        if number > stop:
            return free
        return not free or step <= stop or self.end(free=True) is not None

    def advance_to_goal(self, goal: Size | Tokens, seconds: float, free: bool) -> bool:
        """Walk for a number of seconds towards the first step that reaches a goal. Return whether the column
        is at that step, or at its end before it.

        The walk may compute steps after the goal, and then comes back.
        """
        trainer = self.trainer
        step = learn.find(trainer, goal)
        if step is None:
            ended = self._advance_past_computed(goal, seconds, free)
            step = learn.find(trainer, goal)
            if step is None:
                return ended
        return self.advance_to_step(step, seconds, free)

    def _advance_past_computed(self, goal: Size | Tokens, seconds: float, free: bool) -> bool:
        """Compute further steps towards a goal for a number of seconds; the goal may be passed.

        A column that may not pass its stops goes no further than its stop.

        Returns:
            Whether the column is at its end.
        """
        trainer, traits, stops = self.trainer, self.trainer.traits, self.stops
        if not free and self.stopped_at is not None:
            return self.advance_to_step(self.stopped_at, seconds, free)
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

    def progress_to(self, goal: Position) -> Busy | None:
        """Return the progress of the column towards a position, in steps or ids. None if it is at most one
        step away by number of steps."""
        trainer, number = self.trainer, self.trainer.number
        if goal.value == END:
            return Busy("going to the end", number, trainer.ending(self.stops).step or 0)
        if goal.by == "size":
            return Busy(f"going to {goal.value:,} ids", trainer.size_at(number), goal.value)
        return (
            Busy(f"going to step {goal.value:,}", number, goal.value)
            if abs(goal.value - number) > 1
            else None
        )


def same_request(wanted: ColumnWanted, other: ColumnWanted) -> bool:
    """Return whether two requests are for the same file, or for the same recipe and run. Names do not count.

    Two requests for a file differ if both name a way to encode, and not the same.
    """
    return (
        wanted.path == other.path and (wanted.encode == other.encode or "" in (wanted.encode, other.encode))
        if wanted.path or other.path
        else (wanted.recipe, wanted.run) == (other.recipe, other.run)
    )


def all_ended(columns: Sequence[Column], position: Position, free: bool) -> bool:
    """Return whether no column can go further; False if there are no columns.

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
        if position.value < furthest_value(columns, "size"):
            return False
        columns = [column for column in columns if column.trainer.traits.grows]
    return all(column.end(free) is not None for column in columns)


def furthest_value(columns: Sequence[Column], by: str) -> int:
    """Return the position of the column that is furthest, in the unit `by`: no column goes beyond it.

    By `tokens` that is the step of the first column. By `size` it is the size of the largest growing
    vocabulary, one more if a step before it has the same size; without growing columns, the largest at step
    0.
    """
    if by == "merges":
        return max(column.trainer.number for column in columns)
    if by == "tokens":
        return columns[0].trainer.number
    growing = [column for column in columns if column.trainer.traits.grows]
    if not growing:
        return max(column.trainer.size_at(0) for column in columns)
    most = max(column.trainer.size_at(column.trainer.number) for column in growing)
    # A merge that borrows the id of a special adds none: the end is not the first step of its size then.
    exact = all(learn.find(column.trainer, Size(most)) in (None, column.trainer.number) for column in growing)
    return most if exact else most + 1
