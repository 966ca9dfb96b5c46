"""Walking among the steps of a training: to a step, to a stop, or for a short while in that direction."""

from __future__ import annotations

import gc
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from tokentui.core.errors import Cancelled
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import base
from tokentui.learn.base import Cancel, Progress, Stops
from tokentui.recipe import Ending

_SLICE_S = 0.01
_LOOK_EVERY = 64


class Walking(ABC):
    """A trainer that makes one whole step at a time, back or forward.

    It stands at the step `number`. Its steps are made under a least count and a greatest length, which `bound` changes.
    """

    number: int
    known_for: Stops = Stops()
    """The sizes that a run goes to where none are named."""
    vocabulary: Vocabulary
    _min_count: int
    _max_length: int | None
    _over: dict[int, int]
    """For a least count the furthest step, where no pair stood so often after it."""

    @property
    @abstractmethod
    def known(self) -> int:
        """The furthest step that has been made."""

    @abstractmethod
    def end(self, stops: Stops) -> str | None:
        """Why no further step may be made under these stops; None where one may."""

    @abstractmethod
    def last_step(self, stops: Stops) -> int | None:
        """The step that these stops lead to as far as can be said, None where they say nothing."""

    @abstractmethod
    def bound(self, stops: Stops) -> None:
        """Take other limits on what is a candidate: what was learned past this step under the old ones is forgotten."""

    @abstractmethod
    def _forward(self) -> None:
        """Make the next step, which there is."""

    @abstractmethod
    def _backward(self) -> None:
        """Undo the last step, which there is."""

    @abstractmethod
    def _choose(self, min_count: int) -> bool:
        """Whether a pair stands at least so often at the furthest step."""

    @abstractmethod
    def _least(self, stops: Stops) -> int:
        """The count that a pair must have to be a candidate."""

    def ending(self, stops: Stops) -> Ending:
        """Where a run under these stops ends. That no pair is left after a step is known once the step was stood at."""
        last, stop = self._over_below(self._min_count), self.last_step(stops)
        if (rare := self._first_below(stops)) is not None and (stop is None or rare < stop):
            stop = rare
        if last is not None and (stop is None or last <= stop):
            return Ending(last, "last")
        if stop is None:
            return Ending()
        return Ending(stop, "stop" if stop <= self.known else "at most")

    def _first_below(self, stops: Stops) -> int | None:
        """The first known step after which the next pair stands less often than the least count; None where it is not known."""
        least = stops.min_count
        if least <= self._least(stops):
            return None  # it ends nothing: it says what is a candidate
        found = next((n for n, count in enumerate(self.vocabulary.counts[: self.known]) if count < least), None)
        return self._over_below(least) if found is None else found

    def _over_below(self, least: int) -> int | None:
        """The furthest known step, where it was seen there that no pair stands so often; else None."""
        if self.number == self.known and not self._choose(least):
            self._over[least] = self.known
        return self.known if self._over.get(least) == self.known else None

    def jump(self, number: int, *, progress: Progress | None = None, cancel: Cancel | None = None) -> int:
        """Go to a step, or as far as pairs last.

        Returns:
            The number of the step arrived at.
        """
        number = max(0, number)
        start, total = self.number, abs(number - self.number)
        stops = Stops(min_count=self._min_count, max_length=self._max_length)
        while not self.advance(number, stops):
            look(progress, cancel, abs(self.number - start), total)
        return self.number

    def run(
        self,
        *,
        merges: int | None = None,
        vocab_size: int | None = None,
        min_count: int = 1,
        max_length: int | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> str:
        """Merge until a stop holds or no pair is left.

        Args:
            merges: Stop at this step.
            vocab_size: Stop at so many ids.
            min_count: Stop before a pair that stands less often.
            max_length: Make no token longer than so many units.
            progress: Told (done, total) in merges; the total is 0 where it is not known.
            cancel: Asked meanwhile; true raises `Cancelled`, and the trainer stays where it is.

        Returns:
            Why it stopped: `merges`, `vocab_size`, `min_count` or `no pair left`.
        """
        stops = Stops(merges, vocab_size, max(1, min_count), max_length)
        stops = self.known_for if stops == Stops() else stops
        total = self.last_step(stops) or 0
        with quiet_collector():
            while not (reason := self.advance(None, stops)):
                look(progress, cancel, self.number, total)
        return reason

    def advance(self, target: int | None, stops: Stops, seconds: float = _SLICE_S) -> str | None:
        """Walk towards a step, or on to a stop, for a short while.

        Args:
            target: The step to go to, back or forward; None goes on until a stop holds.
            stops: When to stop going forward.
            seconds: About how long to work.

        Returns:
            Why it stopped, `"merges"` at the target; None when time is up and there is more to do.
        """
        self.bound(stops)
        deadline = time.perf_counter() + seconds
        count = 0
        while True:
            if target is not None:
                if self.number == target:
                    return base.MERGES
                if self.number > target:
                    self._backward()
            if target is None or self.number < target:
                reason = self.end(stops)
                if reason:
                    return reason
                self._forward()
            count += 1
            # The first merges of a large corpus are the long ones: look at the clock after each.
            due = count % _LOOK_EVERY == 0 or self.number < _LOOK_EVERY
            if due and time.perf_counter() > deadline:
                return None


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Keep the garbage collector from walking millions of numbers in the middle of a run."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def look(progress: Progress | None, cancel: Cancel | None, done: int, total: int) -> None:
    """Tell how far a long work is, and stop it where that is asked for.

    Raises:
        Cancelled: `cancel` said so.
    """
    if cancel is not None and cancel():
        raise Cancelled
    if progress is not None:
        progress(done, total)
