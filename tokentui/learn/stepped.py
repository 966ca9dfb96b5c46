"""The trainer that walks among steps, and answers for them. Every training by merges or covers is one.

It knows the stops, the what-ifs and the ends of a run. Its subclasses know the corpus and the work of a step:
`pairs.PairTrainer` for merges of pairs, in plain Python or with kernels.
"""

from __future__ import annotations

import bisect
import copy
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tokentui.learn.rows import Traits, Why
from tokentui.learn.trainer import SLICE_S, Compression, Goal, Made, Replay, Size, Substeps, Trainer
from tokentui.learn.values import Event, Life, Stop, WhatIf
from tokentui.recipe import Ending, Recipe, Stops
from tokentui.text.count import Words

_FAR = 1 << 62


@dataclass(frozen=True, slots=True)
class Constraints:
    """The conditions on a candidate at a step: often enough, short enough, not forbidden; or the one that is
    forced.

    Attributes:
        number: The step before it. A method that follows another rule in early steps looks here and keeps
        no counter of its own.
        min_count: The least count.
        max_length: The greatest number of units.
        forbidden: The parts of candidates that are not taken.
        forced: The parts of the candidate that is taken whatever its value is; empty for none.
    """

    number: int = 0
    min_count: int = 1
    max_length: int | None = None
    forbidden: frozenset[tuple[bytes, ...]] = frozenset()
    forced: tuple[bytes, ...] = ()


class SteppedTrainer(Trainer):
    """A training by steps; see `trainer.Trainer`. It stands at a step, and knows the steps up to `computed`.

    Args:
        traits: The facts that other rooms have to know of it.
        rule: The name of the tie rule.
        words: The counted pre-tokens of the corpus.
        recipe: The recipe.
        what_if: Changes of the run.
        again: Makes another training of the same corpus at step 0, for a fork under what-ifs.
    """

    traits, limits = Traits(), Stops()

    def __init__(
        self,
        traits: Traits,
        rule: str,
        *,
        words: Words,
        recipe: Recipe,
        what_if: tuple[WhatIf, ...] = (),
        again: Callable[[tuple[WhatIf, ...]], SteppedTrainer] | None = None,
    ) -> None:
        self.traits, self.rule, self._again = traits, rule, again
        self.words, self.recipe, self.what_if = words, recipe, what_if
        self._ends: dict[int, int] = {}
        """For a least count the furthest step, where no candidate had such a count after it."""

    @property
    def substeps(self) -> Substeps | None:
        """No step is walked through."""
        return None

    @property
    def compression(self) -> Compression | None:
        """The compressed text, where there is one."""
        return None

    @property
    def replay(self) -> Replay | None:
        """No file is replayed."""
        return None

    # ---- the corpus and its steps

    @property
    @abstractmethod
    def pieces(self) -> Sequence[bytes]:
        """The bytes that each symbol stands for."""

    @abstractmethod
    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for some milliseconds, forward as long as there is a candidate."""

    @abstractmethod
    def coming(self, under: Constraints) -> int:
        """The count of the best candidate at the furthest step, 0 where there is none."""

    @abstractmethod
    def remain(self, under: Constraints) -> bool:
        """True if this step has a candidate, also under constraints other than those of the known steps."""

    @abstractmethod
    def places(self, number: int) -> int:
        """The count of the candidate of a known step when it was chosen."""

    @abstractmethod
    def last_with(self, least: int) -> int:
        """The furthest known step that is reached from here by candidates with at least such a count."""

    @abstractmethod
    def forget(self) -> None:
        """Forget the steps past the present one."""

    @abstractmethod
    def reasons(self, under: Constraints) -> Why:
        """The reasons of the next step, without its end."""

    @abstractmethod
    def facts(self, why: Why, end: Stop | None) -> Iterable[str]:
        """Further sentences about the next step, of which it is known whether it may be made."""

    @abstractmethod
    def find_made(self, tokens: frozenset[bytes], after: int) -> int | None:
        """The first known step after a step that makes one of these tokens, 0 for a unit; None where none
        does."""

    @abstractmethod
    def units(self, word: str) -> list[int]:
        """A word as the symbols of its units."""

    @abstractmethod
    def after(self, symbols: list[int], event: Event) -> list[int]:
        """A word's symbols after an event."""

    # ---- walking

    def advance(self, goal: int | None, stops: Stops, seconds: float = SLICE_S) -> Stop | None:
        """Walk towards a step, or on to a stop, for about so many seconds; see `Trainer.advance`."""
        self._limit(stops)
        stops = stops if goal is None else self.limits
        deadline = time.perf_counter() + seconds
        while self.number != goal:
            if goal is not None and self.number > goal:
                self.walk(goal, self._under(stops))
            elif end := self.end(stops):
                return end
            else:
                self.walk(self._goal(goal, stops), self._under(stops))
            if time.perf_counter() > deadline and self.number != goal:
                return None
        return Stop.MERGES

    def _limit(self, stops: Stops) -> None:
        """Forget what was made under other limits on a candidate."""
        limits = stops.only(self.traits.shaped_by)
        if limits != self.limits:
            self.limits = limits
            if self.number < self.computed:
                self.forget()
            self._ends.clear()

    def _under(self, stops: Stops) -> Constraints:
        """The constraints on the next step of a run under these stops."""
        number, changes = self.number, self.what_if
        forbidden = {
            one.parts
            for one in changes
            if one.what == "leave out" or (one.what == "forbid" and one.number <= number)
        }
        forced = next((one.parts for one in changes if one.what == "force" and one.number == number), ())
        return Constraints(number, stops.min_count, self.limits.max_length, frozenset(forbidden), forced)

    def _goal(self, goal: int | None, stops: Stops) -> int:
        """The furthest step to go to, where one may go on."""
        number = self.number
        last = _FAR if goal is None else goal
        if stops.merges is not None:
            last = min(last, stops.merges)
        if stops.vocab_size is not None:
            last = min(last, number + max(1, stops.vocab_size - self.size_at(number)))
        if self.what_if:  # the constraints may be others after each step
            last = min(last, number + 1)
        return min(last, self.last_with(stops.min_count)) if number < self.computed else last

    def end(self, stops: Stops) -> Stop | None:
        """The reason why no further step may be made under these stops, None where one may."""
        if stops.merges is not None and self.number >= stops.merges:
            return Stop.MERGES
        if stops.vocab_size is not None and self.size_at(self.number) >= stops.vocab_size:
            return Stop.VOCAB_SIZE
        return None if self._goes_on(stops) else self._exhausted(stops)

    def _goes_on(self, stops: Stops) -> bool:
        if "min_count" in self.traits.shaped_by and stops.min_count != self.limits.min_count:
            return self.remain(self._under(stops))  # steps are not made under these
        if self.number < self.computed:
            return self.last_with(stops.min_count) > self.number
        return self.coming(self._under(stops)) > 0

    def _exhausted(self, stops: Stops) -> Stop:
        rare = stops.min_count > 1 and self.remain(self._under(Stops()))
        return Stop.MIN_COUNT if rare else Stop.NO_PAIR

    def ending(self, stops: Stops) -> Ending:
        """The last step of a run under these stops.

        That no candidate is left after a step is known once the step was reached.
        """
        last = self._last_with(self.limits.min_count)
        ends: list[int | None] = []
        if stops.merges is not None:
            ends.append(stops.merges)
        if stops.vocab_size is not None:
            ends.append(self._step_of_size(stops.vocab_size))
        if stops.min_count > 1 and "min_count" not in self.traits.shaped_by:
            ends.append(self._first_rarer(stops.min_count))
        stop = min((end for end in ends if end is not None), default=None)
        if last is not None and (stop is None or last <= stop):
            return Ending(last, "last")
        if stop is None:
            return Ending()
        return Ending(stop, "stop" if stop <= self.computed else "at most")

    def _step_of_size(self, size: int) -> int | None:
        """The step at which a vocabulary that grows by one id a step has come to a size; None where it does
        not grow."""
        first = self.size_at(0)
        return max(0, size - first) if self.compression is None or size <= first else None

    def _first_rarer(self, least: int) -> int | None:
        """The first known step after which the next candidate has a smaller count; None where it is not
        known."""
        found = next(
            (number for number in range(self.computed) if self.places(number + 1) < least), None
        )
        return self._last_with(least) if found is None else found

    def _last_with(self, least: int) -> int | None:
        """The furthest known step, where no candidate had such a count after it; None where one had, or it is
        not known."""
        if self.number == self.computed and not self.coming(self._under(Stops(min_count=least))):
            self._ends[least] = self.computed
        return self.computed if self._ends.get(least) == self.computed else None

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> SteppedTrainer:
        """Another training over the same corpus that stands at a computed step and goes on under what-ifs."""
        other = self._again(self.what_if + what_if) if self._again else copy.deepcopy(self)
        other.what_if = self.what_if
        other.advance(other.number, self.limits)
        other.advance(number, self.limits, math.inf)
        if other.number < other.computed:
            other.forget()
        other.what_if = self.what_if + what_if
        return other

    # ---- looking

    def find(self, goal: Goal, after: int = 0) -> int | None:
        """The first computed step at which a goal is reached, or the first after a step; None where there is
        none yet."""
        if isinstance(goal, Made):
            return self.find_made(goal.tokens, after)
        first = after + 1 if after else 0
        steps = range(first, self.computed + 1)

        def reached(step: int) -> bool:
            return (
                self.size_at(step) >= goal.ids
                if isinstance(goal, Size)
                else self.tokens_at(step) <= goal.tokens
            )

        if self.traits.shrinks:
            return next(filter(reached, steps), None)
        found = first + bisect.bisect_left(steps, True, key=reached)
        return found if found <= self.computed else None

    def why(self, number: int, stops: Stops) -> Why:
        """The reasons of a computed step, or of the step to come."""
        if number <= self.number:
            step = self.step_at(number)
            return Why(
                step.chosen, None, step.tied, sum(event.replaced for event in step.events[:1]),
                self.rule, None,
            )
        why = self.reasons(self._under(stops.only(self.traits.shaped_by)))
        if why.best is None:
            end: Stop | None = self._exhausted(stops)
        else:
            end = Stop.MIN_COUNT if why.best.places < stops.min_count else self.end(stops)
        return replace(why, end=end, facts=(*self.facts(why, end), *self._facts_of_run(stops)))

    def _facts_of_run(self, stops: Stops) -> Iterable[str]:
        """Sentences about the run, whatever the step is."""
        recipe = self.recipe
        if "min_count" in self.traits.shaped_by and stops.min_count <= 1:
            yield "no least pair count is set: rare pairs win"
        if recipe.weight == "distinct":
            yield "each distinct word counts once"

    def life(self, word: str) -> list[Life]:
        """The segmentations of a word: its units, and those after every event that changes them."""
        pieces, symbols = self.pieces, self.units(word)
        lives = [Life(0, tuple(pieces[symbol] for symbol in symbols))]
        for number in range(1, self.number + 1):
            before = symbols
            for event in self.step_at(number).events:
                symbols = self.after(symbols, event)
            if symbols != before:
                lives.append(Life(number, tuple(pieces[symbol] for symbol in symbols)))
        return lives
