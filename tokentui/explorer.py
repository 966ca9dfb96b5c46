"""What a session does, without a clock of its own and without a screen: commands in, work in small slices, snapshots out.

Everything here is plain and synchronous. A session calls it from one worker thread; a test calls it as it likes.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokentui import commands as do
from tokentui.births import born_rows, last_birth, never
from tokentui.encode import Typed
from tokentui.errors import TokentuiError
from tokentui.learn.base import MERGES, Stops
from tokentui.learn.opened import OpenedTrainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.pieces import pieces_view
from tokentui.prepared import Glance as Glance
from tokentui.prepared import Prepared as Prepared
from tokentui.prepared import Run as Run
from tokentui.prepared import Stand as Stand
from tokentui.prepared import nothing as nothing
from tokentui.presets import PRESETS
from tokentui.recipe import Recipe
from tokentui.running import RunningText
from tokentui.snapshot import Busy, EncodedToken, Look, PairRow, Place, Snapshot
from tokentui.views import (
    candidate_rows,
    compressed_view,
    curve,
    encoded_view,
    find_candidate,
    last_row,
    needles,
    vocabulary_rows,
    why_view,
)

SCRATCH_BYTES = 1_000_000
"""A larger corpus is not edited: each key would train on all of it."""
SLICE_S = 0.008
"""How long one slice of work takes at most, about; merges of a large corpus may take longer one by one."""


KEPT_PLACES = ("step", "size")
"""What another recipe may be brought to."""


@dataclass(slots=True)
class _Seek:
    """A walk that looks for the step that makes a token."""

    wanted: frozenset[bytes]
    looked: int
    origin: int
    answer: Callable[[int | None], None]


class Explorer:
    """The state of an exploration.

    Args:
        prepared: What to stand on first.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.typed = ""
        self.look = Look()
        self.busy: Busy | None = None
        self.keep_place = "step"
        self.engine = ""
        self._speed = len(do.SPEEDS) - 4
        self._version = 0
        self._merges_at = 0
        self._take(prepared)

    def _take(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.trainer = prepared.trainer
        self.trainer.bound(self._stops)
        self._vocabulary = vocabulary_rows(self.trainer)
        self._text = prepared.text or RunningText(prepared.corpus, prepared.recipe)
        self._typed = Typed(EncodedToken)
        self._goal: int | None = None
        self._to_end = False
        self._to_size: int | None = None
        self._wished: Stand | None = None
        self._seek: _Seek | None = None
        self._playing = False
        self._played_from = (0.0, 0)

    # ---- commands

    @property
    def stand(self) -> Stand:
        """The place that another recipe is brought to. A step of a unigram training is none: there the last merge counts."""
        if self._wished is not None:  # nothing was done since: it may be more than this recipe has
            return self._wished
        if isinstance(self.trainer, OpenedTrainer):
            return Stand(self.trainer.number, self.trainer.vocab_size)
        if not isinstance(self.trainer, UnigramTrainer):
            self._merges_at = self.trainer.number
        return Stand(self._merges_at, self.trainer.vocab_size)

    def install(self, prepared: Prepared, stand: Stand | None = None, *, keep_look: bool = False) -> None:
        """Stand on another corpus or recipe, and walk to the place that is kept; None is where the trainer stands.

        Of another corpus the beginning is looked at, unless it has a place to be brought to or `keep_look` says otherwise.
        """
        if self._seek:
            self._seek.answer(None)
        moved = prepared.corpus is not self.prepared.corpus
        if prepared.opened and self.prepared.opened and prepared.opened.tokenizer is self.prepared.opened.tokenizer:
            prepared.trainer.jump(self.trainer.number)  # another corpus, or all of it: at the same birth
            stand = None
        self._take(prepared)
        if moved and stand is None and not keep_look:
            self.look = dataclasses.replace(self.look, corpus=Place(), pairs_top=0, vocabulary_top=0)
            self._merges_at = 0
        if stand is None:
            return
        self._merges_at, self._wished = stand.merges, stand
        if self.keep_place == "size":
            self._to_size = stand.vocab_size
        elif not isinstance(self.trainer, UnigramTrainer):
            self._goal = stand.merges

    def handle(self, command: do.Command, answer: Callable[[Any], None]) -> None:
        """Take in a command. `answer` is called with its answer, now or when it is known."""
        match command:
            case do.Move(steps):
                self._walk((self._goal if self._goal is not None else self.trainer.number) + steps)
            case do.GoTo(None):
                self._halt()
                self._to_end = True
            case do.GoTo(step):
                self._walk(step or 0)
            case do.GoToToken(text):
                self._look_for(text, answer)
                return
            case do.Play(on):
                playing = not self._playing if on is None else on
                self._halt()
                self._playing = playing and self.trainer.end(self._stops) is None
                self._played_from = (time.monotonic(), self.trainer.number)
            case do.Speed(by):
                self._speed = min(max(0, self._speed + by), len(do.SPEEDS) - 1)
                self._played_from = (time.monotonic(), self.trainer.number)
            case do.Type(text):
                self.typed = text
            case do.See(look):
                self.look = look
            case do.Find(pane, text, start, backward):
                answer(self._find(pane, text, start, backward))
                return
            case do.Follow(start):
                answer(self._text.find_word(self.trainer.touched(), start) if self._text.documents else None)
                return
            case do.Fine(pieces):
                self._halt()
                if not isinstance(self.trainer, UnigramTrainer):
                    raise TokentuiError("a step is the finest step there is", "piece by piece", "take n and b")
                self.trainer.fine(pieces)
            case do.KeepPlace(by):
                if by not in KEPT_PLACES:
                    raise TokentuiError("no such place to keep", by, "one of: " + ", ".join(KEPT_PLACES))
                self.keep_place = by
            case do.Pieces(place, chars):
                answer(pieces_view(self._text, self.trainer.words, self.trainer.recipe, self.typed, place, chars))
                return
            case do.CorpusText():
                answer(self._corpus_text())
                return
            case do.Compress(start, length):
                answer(compressed_view(self.trainer, start, length))
                return
            case do.Never(number):
                answer(never(self.trainer, number))
                return
            case do.CancelWork():
                self._halt()
            case _:
                raise TokentuiError("not a command of the explorer", type(command).__name__)
        answer(None)

    @property
    def _stops(self) -> Stops:
        return self.prepared.run.stops

    def _halt(self) -> None:
        """Stop where it is, whatever it was walking to."""
        if self._seek:
            self._seek.answer(None)
        self._seek, self._goal, self._to_end, self._to_size, self._playing = None, None, False, None, False
        self._wished = None

    def _walk(self, step: int) -> None:
        self._halt()
        self._goal = max(0, step)

    def _look_for(self, text: str, answer: Callable[[int | None], None]) -> None:
        self._halt()
        wanted = frozenset(needle for way in (text, "▁" + text) for needle in needles(way))
        found = self.trainer.step_of(wanted)
        if found is not None:
            self._goal = found
            answer(found)
            return
        self._seek = _Seek(wanted, self.trainer.known, self.trainer.number, answer)

    def _find(self, pane: str, text: str, start: int | Place, backward: bool) -> int | Place | None:
        if not text:
            return None
        if pane == "corpus" and isinstance(start, Place):
            return self._text.find(text, start, backward) if self._text.documents else None
        if pane == "pairs" and isinstance(start, int):
            return find_candidate(self.trainer, text, start, backward)
        if pane == "vocabulary" and isinstance(start, int):
            return self._vocabulary.find(needles(text), start, backward, self.look.vocabulary_order)
        raise TokentuiError("no such pane", pane, "one of: corpus, pairs, vocabulary")

    def _corpus_text(self) -> str:
        corpus = self.prepared.corpus
        if corpus.counts is not None:
            raise TokentuiError("counted words are no text to be edited", corpus.name, "open the text")
        if corpus.size > SCRATCH_BYTES:
            raise TokentuiError(f"more than {SCRATCH_BYTES:,} bytes cannot be edited", corpus.name, "open a part of it")
        return "\n".join(corpus.documents)

    # ---- work

    @property
    def speed(self) -> int | None:
        """Steps a second that a run plays at; None for as fast as it can."""
        return do.SPEEDS[self._speed]

    @property
    def at_work(self) -> bool:
        """Whether there is something to do without a new command."""
        going = self._goal is not None or self._to_size is not None
        return self._playing or self._to_end or going or self._seek is not None

    def work(self, now: float, seconds: float = SLICE_S) -> float:
        """Work for a short while.

        Args:
            now: The time, of a clock that never goes back.
            seconds: How long to work, about.

        Returns:
            How many seconds from `now` on nothing is to be done; 0 when there is more to do at once.
        """
        if self.prepared.partial and not self.prepared.opened:
            return 0.1  # steps begin when the corpus is whole
        if self._seek is not None:
            self._work_seek(self._seek, seconds)
        elif self._goal is not None:
            # A step that was asked for is made although the stops of the run lie before it.
            if self.trainer.advance(self._goal, self.trainer.limits(self._stops), seconds):
                self._goal = None
        elif self._to_size is not None:
            self._work_to_size(self._to_size, seconds)
        elif self._to_end:
            if self.trainer.advance(None, self._stops, seconds):
                self._to_end = False
        elif self._playing:
            return self._play(now, seconds)
        return 0.0

    def _play(self, now: float, seconds: float) -> float:
        speed = self.speed
        since, start = self._played_from
        due = None if speed is None else start + int((now - since) * speed)
        if due is not None and due <= self.trainer.number:
            return max(0.0, since + (self.trainer.number - start + 1) / (speed or 1) - now)
        stops = self._stops
        if due is not None and (stops.merges is None or due < stops.merges):
            stops = Stops(due, stops.vocab_size, stops.min_count, stops.max_length)
        reason = self.trainer.advance(None, stops, seconds)
        if reason and self.trainer.end(self._stops):
            self._playing = False
        elif reason is None and speed is not None and due is not None and due - self.trainer.number > speed:
            self._played_from = (now, self.trainer.number)  # slower than asked for: do not run after what is lost
        return 0.0

    def _work_to_size(self, size: int, seconds: float) -> None:
        """Go on until the vocabulary is known to come to a size, and then there."""
        trainer = self.trainer
        found = trainer.step_with(size)
        if found is not None:
            self._to_size, self._goal = None, found
        elif trainer.number < trainer.known:
            trainer.advance(trainer.known, trainer.limits(self._stops), seconds)
        elif trainer.advance(trainer.number + 1, trainer.limits(self._stops), seconds) not in (None, MERGES):
            self._to_size = None

    def _work_seek(self, seek: _Seek, seconds: float) -> None:
        trainer = self.trainer
        if trainer.number < trainer.known:
            trainer.advance(trainer.known, trainer.limits(self._stops), seconds)
            return
        ends = dataclasses.replace(trainer.limits(self._stops), min_count=self._stops.min_count)
        reason = trainer.advance(None, ends, seconds)
        found = trainer.step_of(seek.wanted, seek.looked)
        if found is not None:
            self._seek, self._goal = None, found
            seek.answer(found)
            return
        seek.looked = trainer.known
        if reason:
            self._seek, self._goal = None, seek.origin
            seek.answer(None)

    # ---- looking

    def glance(self) -> Glance:
        """The tokenizer of this step, for a longer look elsewhere."""
        return Glance(self.trainer.number, self.trainer.tokenizer(), self.prepared.corpus, self.trainer.words, self.typed)

    def snapshot(self) -> Snapshot:
        """Everything that the screen shows, now."""
        trainer, prepared, look = self.trainer, self.prepared, self.look
        stops = prepared.run.stops
        self._version += 1
        pairs_top, pairs = candidate_rows(trainer, look.pairs_top, look.pairs_rows)
        pairs_total = trainer.pairs
        if isinstance(trainer, OpenedTrainer) and not pairs_total:
            pairs_total = trainer.known
            pairs_top = max(0, min(look.pairs_top, pairs_total - 1))
            pairs = born_rows(trainer, pairs_top, look.pairs_rows)
        vocabulary_top, vocabulary = self._vocabulary.rows(look.vocabulary_order, look.vocabulary_top, look.vocabulary_rows)
        target = trainer.last_step(stops)
        curve_end = max(trainer.known, target or 0)
        last, last_id = self._last()
        return Snapshot(
            version=self._version,
            corpus_name=prepared.corpus.name,
            corpus_bytes=prepared.corpus.size,
            occurrences=trainer.words.occurrences,
            distinct=len(trainer.words.words),
            notes=prepared.corpus.notes,
            recipe=prepared.recipe,
            preset=preset_of(prepared.recipe),
            step=trainer.number,
            known=trainer.known,
            target=target,
            tokens=trainer.tokens,
            start_tokens=trainer.start_tokens,
            vocab_size=trainer.vocab_size,
            running=self._playing,
            speed=self.speed,
            goal=self._goal,
            partial=prepared.partial,
            last=last,
            last_id=last_id,
            pairs=pairs,
            pairs_top=pairs_top,
            pairs_total=pairs_total,
            why=why_view(trainer, stops),
            vocabulary=vocabulary,
            vocabulary_top=vocabulary_top,
            vocabulary_order=look.vocabulary_order,
            corpus=self._text.view(look, trainer),
            encoded=encoded_view(trainer, self.typed, self._typed),
            curve=curve(trainer, look, curve_end),
            curve_end=curve_end,
            busy=self.busy or self._own_busy(),
            keep_place=self.keep_place,
            engine=self.engine,
            memory=trainer.memory,
            opened=prepared.opened.view if prepared.opened else None,
        )

    def _last(self) -> tuple[PairRow | None, int | None]:
        trainer = self.trainer
        if isinstance(trainer, OpenedTrainer):
            born = last_birth(trainer)
            return born, born.id if born else None
        if not trainer.number or isinstance(trainer, UnigramTrainer):
            return None, None
        step = trainer.step_at(trainer.number)
        return last_row(step), step.id

    def _own_busy(self) -> Busy | None:
        if self._seek is not None:
            return Busy("looking for the token", self.trainer.number, 0)
        if self._goal is not None and abs(self._goal - self.trainer.number) > 1:
            return Busy(f"going to step {self._goal:,}", self.trainer.number, self._goal)
        return None


def preset_of(recipe: Recipe) -> str:
    """The name of the first preset that is this recipe, empty if none is."""
    return next((preset.name for preset in PRESETS.values() if preset.recipe == recipe), "")

