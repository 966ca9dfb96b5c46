"""What a session does, without a clock of its own and without a screen: commands in, work in small slices, snapshots out.

Everything here is plain and synchronous. A session calls it from one worker thread; a test calls it as it likes.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jit import COMPILED, PLAIN
from tokentui.encode import Typed
from tokentui.learn import without_kernel
from tokentui.learn.base import MERGES, Stops
from tokentui.learn.compiled import WORTH_CHARS
from tokentui.learn.replay import OpenedTrainer
from tokentui.learn.unigram import UnigramTrainer
from tokentui.presets import preset_of as preset_of
from tokentui.recipe import Ending
from tokentui.session import commands as do
from tokentui.session.pieces import pieces_view
from tokentui.session.prepared import SCRATCH_BYTES as SCRATCH_BYTES
from tokentui.session.prepared import Glance as Glance
from tokentui.session.prepared import Prepared as Prepared
from tokentui.session.prepared import Run as Run
from tokentui.session.prepared import Stand as Stand
from tokentui.session.prepared import editable_text
from tokentui.session.prepared import nothing as nothing
from tokentui.session.replay_rows import born_rows, last_birth, never
from tokentui.session.rows import (
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
from tokentui.session.snapshot import Busy, EncodedToken, Look, PairRow, Place, Snapshot
from tokentui.session.window import RunningText

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
    answer: Callable[[Any], None]


class Explorer:
    """The state of an exploration.

    Args:
        prepared: What to stand on first.
    """

    def __init__(self, prepared: Prepared) -> None:
        self.typed = ""
        self.look = Look()
        self.busy: Busy | None = None
        self.waiting = ""
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
        large = prepared.corpus.size >= WORTH_CHARS and prepared.opened is None
        self._lacking = without_kernel(prepared.recipe) if large else ""
        self._text = prepared.text or RunningText(prepared.corpus, prepared.recipe)
        self._typed = Typed(EncodedToken)
        self.goal: int | None = None
        """The step that it walks to."""
        self._then: list[int] = []
        """Moves that begin where the goal turns out to be: it may lie beyond the last step."""
        self._to_end = False
        self._to_size: int | None = None
        self._wished: Stand | None = None
        self._seek: _Seek | None = None
        self.running = False
        """Whether it plays."""
        self._played_from = (0.0, 0)

    # ---- commands

    @property
    def stand(self) -> Stand:
        """The place that another recipe is brought to. A step of a unigram training is none: there the last merge counts."""
        if self._wished is not None:  # nothing was done since: it may be more than this recipe has
            return self._wished
        number = self.trainer.number if self.goal is None else max(0, self.goal + sum(self._then))
        if isinstance(self.trainer, OpenedTrainer):
            return Stand(number, self.trainer.vocab_size)
        if not isinstance(self.trainer, UnigramTrainer):
            self._merges_at = number
        return Stand(self._merges_at, self.trainer.vocab_size)

    def install(self, prepared: Prepared, stand: Stand | None = None, *, keep_look: bool = False) -> None:
        """Stand on another corpus or recipe, and walk to the place that is kept; None is where the trainer stands.

        Of another corpus the beginning is looked at, unless it has a place to be brought to or `keep_look` says otherwise. The
        whole of a corpus of which a part was there before goes on with everything that is under way.
        """
        opened, before = prepared.opened, self.prepared
        if opened and before.partial and before.corpus is prepared.corpus and before.opened and before.opened.view == opened.view:
            self.take_over(prepared)
            return
        if self._seek:
            self._seek.answer(Cancelled())
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
        if prepared.partial:
            return  # the whole of it walks there
        if self.keep_place == "size":
            self._to_size = stand.vocab_size
        elif not isinstance(self.trainer, UnigramTrainer):
            self.goal = stand.merges

    def take_over(self, prepared: Prepared) -> None:
        """Go on with another trainer of what is trained already: at the same step, with all that is known and under way."""
        old, new = self.trainer, prepared.trainer
        new.bound(prepared.run.stops)
        for step in (old.known, old.number) if old.known > new.known else (old.number,):
            new.jump(step)
        if isinstance(old, UnigramTrainer) and isinstance(new, UnigramTrainer) and old.walked:
            new.fine(old.walked[0])
        motion = self.goal, self._then, self._to_end, self._to_size, self._wished, self._seek, self.running, self._played_from
        self._take(prepared)
        (self.goal, self._then, self._to_end, self._to_size, self._wished, self._seek, self.running,
         self._played_from) = motion

    def handle(self, command: do.Command, answer: Callable[[Any], None]) -> None:
        """Take in a command. `answer` is called with its answer, now or when it is known."""
        match command:
            case do.Move(steps):
                self._move(steps)
            case do.GoTo(None):
                self._halt()
                self._to_end = True
            case do.GoTo(step):
                self._walk(step or 0)
            case do.GoToToken(text):
                self._look_for(text, answer)
                return
            case do.Play(on):
                playing = not self.running if on is None else on
                self._halt()
                self.running = playing and self.trainer.end(self._stops) is None
                self._played_from = (time.monotonic(), self.trainer.number)
            case do.Speed(by):
                self._speed = min(max(0, self._speed + by), len(do.SPEEDS) - 1)
                self._played_from = (time.monotonic(), self.trainer.number)
            case do.Type(text):
                self.typed = text
            case do.See(look):
                self.look = look
            case do.Find():
                answer(self._find(command))
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
                answer(editable_text(self.prepared.corpus))
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
            self._seek.answer(Cancelled())
        self._seek, self.goal, self._to_end, self._to_size, self.running = None, None, False, None, False
        self._wished, self._then = None, []

    def _move(self, steps: int) -> None:
        goal, trainer = self.goal, self.trainer
        beyond = goal is not None and goal > max(trainer.number, trainer.known)
        if self._then or (beyond and steps < 0):
            self._then.append(steps)  # back from the goal, or from the end where that comes first
            self._wished = None
        else:
            self._walk((trainer.number if goal is None else goal) + steps)

    def _walk(self, step: int) -> None:
        self._halt()
        self.goal = max(0, step)

    def _look_for(self, text: str, answer: Callable[[int | None], None]) -> None:
        self._halt()
        wanted = frozenset(needle for way in (text, "▁" + text) for needle in needles(way))
        found = self.trainer.step_of(wanted)
        if found is not None:
            self.goal = found
            answer(found)
            return
        self._seek = _Seek(wanted, self.trainer.known, self.trainer.number, answer)

    def _find(self, asked: do.Find) -> int | Place | None:
        pane, text, start, backward = asked.pane, asked.text, asked.start, asked.backward
        if not text:
            return None
        if pane == "corpus" and isinstance(start, Place):
            return self._text.find(text, start, backward) if self._text.documents else None
        if pane == "pairs" and isinstance(start, int):
            return find_candidate(self.trainer, text, start, backward, asked.mode)
        if pane == "vocabulary" and isinstance(start, int):
            return self._vocabulary.find(needles(text, asked.mode), start, backward, self.look.vocabulary_order)
        raise TokentuiError("no such pane", pane, "one of: corpus, pairs, vocabulary")

    # ---- work

    @property
    def speed(self) -> int | None:
        """Steps a second that a run plays at; None for as fast as it can."""
        return do.SPEEDS[self._speed]

    @property
    def walking(self) -> bool:
        """Whether it walks to a place: a step, a size, the end, the step that makes a token."""
        return self.goal is not None or self._to_size is not None or self._to_end or self._seek is not None

    @property
    def arriving(self) -> bool:
        """Whether it walks to the place that is kept, and nothing was asked for since."""
        return self.walking and self._wished is not None

    @property
    def at_work(self) -> bool:
        """Whether there is something to do without a new command."""
        return self.running or self.walking

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
        elif self.goal is not None:
            # A step that was asked for is made although the stops of the run lie before it.
            if self.trainer.advance(self.goal, self.trainer.limits(self._stops), seconds):
                self.goal = max(0, self.trainer.number + self._then.pop(0)) if self._then else None
        elif self._to_size is not None:
            self._work_to_size(self._to_size, seconds)
        elif self._to_end:
            if self.trainer.advance(None, self._stops, seconds):
                self._to_end = False
        elif self.running:
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
            self.running = False
        elif reason is None and speed is not None and due is not None and due - self.trainer.number > speed:
            self._played_from = (now, self.trainer.number)  # slower than asked for: do not run after what is lost
        return 0.0

    def _work_to_size(self, size: int, seconds: float) -> None:
        """Go on until the vocabulary is known to come to a size, and then there."""
        trainer = self.trainer
        found = trainer.step_with(size)
        if found is not None:
            self._to_size, self.goal = None, found
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
            self._seek, self.goal = None, found
            seek.answer(found)
            return
        seek.looked = trainer.known
        if reason:
            self._seek, self.goal = None, seek.origin
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
        target, ending = trainer.ending(stops)
        if ending == "last" and not prepared.opened and (prepared.partial or not trainer.start_tokens):
            # That is the end of the part that has been counted, or of nothing at all.
            target, ending = Ending()
        curve_end = max(trainer.known, target or 0)
        last, last_id = self._last()
        return Snapshot(
            version=self._version,
            corpus_name=prepared.corpus.name,
            corpus_bytes=prepared.corpus.size,
            occurrences=trainer.words.occurrences,
            distinct=len(trainer.words.words),
            notes=prepared.corpus.noticed,
            recipe=prepared.recipe,
            preset=preset_of(prepared.recipe),
            step=trainer.number,
            known=trainer.known,
            target=target,
            tokens=trainer.tokens,
            start_tokens=trainer.start_tokens,
            vocab_size=trainer.vocab_size,
            running=self.running,
            speed=self.speed,
            goal=self.goal,
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
            waiting=self.waiting,
            nothing=prepared.nothing,
            keep_place=self.keep_place,
            engine=self._runs,
            memory=trainer.memory,
            opened=prepared.opened.view if prepared.opened else None,
            ending=ending,
        )

    @property
    def _runs(self) -> str:
        """What runs: of a recipe for which there is no kernel, what of it that is."""
        if self._lacking and self.engine.startswith(COMPILED):
            return f"{PLAIN} for {self._lacking}, else {self.engine}"
        return self.engine

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
        if self.goal is not None and abs(self.goal - self.trainer.number) > 1:
            return Busy(f"going to step {self.goal:,}", self.trainer.number, self.goal)
        if (size := self._to_size) is not None:
            return Busy(f"going to {size:,} ids", self.trainer.vocab_size, size)
        return Busy("going to the end", self.trainer.number, self.trainer.last_step(self._stops) or 0) if self._to_end else None

