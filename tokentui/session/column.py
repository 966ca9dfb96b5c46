"""A column: a training, or the replay of a file, over the corpus, and how it is brought to a position."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass

from tokentui.axes import label
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.trainer import Size, Tokens, Trainer
from tokentui.learn.values import Stop
from tokentui.presets import preset_of
from tokentui.recipe import Recipe, Stops
from tokentui.session.commands_compare import ColumnWanted
from tokentui.session.prepared import Prepared
from tokentui.session.sections import Sections
from tokentui.session.views import Busy, ColumnSnapshot, Position, Viewport
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
        raise TokentuiError(f"more than {EDITABLE_BYTES:,} bytes cannot be edited", corpus.name, "open a part of it")
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
        prepared.trainer.advance(prepared.trainer.number, prepared.run.stops)  # the limits first: candidates depend on them
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

    def towards(self, position: Position, tokens: int, seconds: float, free: bool) -> bool:
        """Walk towards a position for a short while.

        Args:
            position: The position.
            tokens: The tokens of the first column there; of meaning by `tokens` only.
            seconds: How long, about.
            free: Whether it may pass its stops.

        Returns:
            Whether it stands there, or at its end where that comes before.
        """
        if position.by == "size":
            return self._to_goal(Size(position.value), seconds, free)
        if position.by == "tokens":
            return self._to_goal(Tokens(tokens), seconds, free)
        return self.to_step(position.value, seconds, free)

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

    def _to_goal(self, goal: Size | Tokens, seconds: float, free: bool) -> bool:
        """Walk to the first step that reaches a goal; it goes too far in most slices, and comes back to the very step."""
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
            return trainer.advance(trainer.computed, stops, seconds) is not None and self.end(free) is not None
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
        """The column as a screen shows it; one among several has no numbers before it stands at the position."""
        prepared, sections = self.prepared, self._sections
        if prepared is None or sections is None or not (self.in_sync or alone):
            loading = self.loading if prepared is None else Busy("going to the others", self.trainer.number, 0)
            recipe = self.recipe
            about = "" if prepared is None and self.wanted.path else label(recipe)
            return ColumnSnapshot(
                self.key, self.name, about, recipe, preset_of(recipe), self.wanted.path, error=self.error,
                loading=None if self.error else loading, in_sync=False, notes=_notes(prepared),
            )
        wants, moment = view.wants, sections.moment()
        at = sections.at(moment)
        return dataclasses.replace(
            sections.column(self.key, self.name), at=at, in_sync=self.in_sync,
            candidates=sections.candidates(moment, view) if "candidates" in wants else sections.NO_CANDIDATES,
            why=sections.why(moment) if "why" in wants else sections.NO_WHY,
            vocabulary=sections.vocabulary(moment, view) if "vocabulary" in wants else sections.NO_VOCABULARY,
            corpus=sections.corpus(moment, view) if "corpus" in wants else sections.NO_CORPUS,
            encoding=sections.encoding(moment, typed) if "encoding" in wants else sections.NO_ENCODING,
            curve=sections.curve(at, view) if "curve" in wants else sections.NO_CURVE,
        )


def _notes(prepared: Prepared | None) -> tuple[str, ...]:
    return prepared.opened.tokenizer.notes if prepared and prepared.opened else ()


def same(one: ColumnWanted, other: ColumnWanted) -> bool:
    """True if two requests are for the same recipe or the same file."""
    return one.path == other.path if one.path or other.path else (one.recipe, one.run) == (other.recipe, other.run)
