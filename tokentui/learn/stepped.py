"""A trainer made of an engine and a method: choose, do the events that follow, note them; and all of it backward.

    while (best := engine.best(constraints)) is not None:      # choose
        for event in method.events(best):                      # merge, and what follows from it
            event, changed = engine.apply(event)
        note(event, …)

The engine knows how the corpus is cut now. The method knows what a step is. This module knows the history of the run: of which
events each step was made, how far it is computed, and how to walk to any step of it.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence

from tokentui.learn.trainer import (
    Candidate,
    Changed,
    Constraints,
    Engine,
    Event,
    Goal,
    Kind,
    Life,
    Mark,
    Method,
    Page,
    Query,
    Size,
    Span,
    Step,
    Stop,
    Stops,
    Tokens,
    Traits,
    WhatIf,
)


def replaced(symbols: Sequence[int], event: Event, pieces: Sequence[bytes]) -> list[int]:
    """A word's symbols after an event: merged or covered from left to right, or split wherever the symbol stands."""
    if event.kind is Kind.SPLIT:
        return [part for symbol in symbols for part in (event.parts if symbol == event.symbol else (symbol,))]
    out: list[int] = []
    at = 0
    while at < len(symbols):
        end = 0
        if event.kind is Kind.MERGE and tuple(symbols[at : at + 2]) == event.parts:
            end = at + 2
        elif event.kind is Kind.COVER:
            end = _covered(symbols, at, pieces[event.symbol], pieces)
        out.append(event.symbol if end else symbols[at])
        at = end or at + 1
    return out


def _covered(symbols: Sequence[int], at: int, text: bytes, pieces: Sequence[bytes]) -> int:
    """Where symbols from a place on that spell a text end; 0 where they spell another."""
    spelled = b""
    while len(spelled) < len(text) and at < len(symbols):
        spelled += pieces[symbols[at]]
        at += 1
    return at if spelled == text else 0


class SteppedTrainer:
    """A training by steps of events; see `trainer.Trainer`.

    Args:
        engine: The corpus as it is cut now.
        method: What a step is.
        traits: What a screen has to know of it.
        rule: The name of the tie rule.
        what_if: Changes of the run.
    """

    def __init__(
        self, engine: Engine, method: Method, *, traits: Traits, rule: str, what_if: tuple[WhatIf, ...] = ()
    ) -> None:
        self.engine, self.method = engine, method
        self.traits, self.rule, self.what_if = traits, rule, what_if
        self.number = 0
        self._steps: list[Step] = []
        self._marks: list[tuple[Mark, Mark]] = []
        self._changes: list[Changed] = []
        self._under = Stops()
        self._start = engine.tokens(), method.size

    @property
    def computed(self) -> int:
        """The furthest step that has been made."""
        return len(self._steps)

    # ---- walking

    def advance(self, goal: int | None, stops: Stops, seconds: float = 0.01) -> Stop | None:
        """Walk towards a step, or on to a stop, for about so many seconds; see `Trainer.advance`."""
        self._bound(stops)
        deadline = time.perf_counter() + seconds
        while goal is None or self.number != goal:
            if goal is not None and self.number > goal:
                self._backward()
            elif end := self._end(stops, goal):
                return end
            else:
                self._forward()
            if time.perf_counter() > deadline and self.number != goal:
                return None
        return Stop.MERGES

    def _bound(self, stops: Stops) -> None:
        """Forget what was made under other constraints on a candidate."""
        if (stops.min_count, stops.max_length) != (self._under.min_count, self._under.max_length):
            del self._steps[self.number :]
        self._under = stops

    def _end(self, stops: Stops, goal: int | None) -> Stop | None:
        if goal is None and stops.merges is not None and self.number >= stops.merges:
            return Stop.MERGES
        if goal is None and stops.vocab_size is not None and self.size_at(self.number) >= stops.vocab_size:
            return Stop.VOCAB_SIZE
        if self.number == self.computed and self._best() is None:
            return Stop.NO_PAIR
        return None

    def _constraints(self, number: int) -> Constraints:
        forbidden = frozenset(one.parts for one in self.what_if if one.what == "forbid" and one.number <= number)
        forbidden |= {one.parts for one in self.what_if if one.what == "leave out"}
        forced = next((one.parts for one in self.what_if if one.what == "force" and one.number == number), ())
        return Constraints(number, self._under.min_count, self._under.max_length, forbidden, forced)

    def _best(self) -> Candidate | None:
        return self.engine.best(self._constraints(self.number))

    def _forward(self) -> None:
        """Make the next step: the events that it is known to be made of, or those of the best candidate."""
        best = None if self.number < self.computed else self._best()
        events = self.method.events(best) if best else iter(self._steps[self.number].events)
        self._marks.append((self.engine.mark(), self.method.mark()))
        tied, changed, done = self.engine.tied, Changed(), []
        for wanted in events:
            event, moved = self.engine.apply(wanted)
            self.method.note(event)
            done.append(event)
            changed = changed.joined(moved)
        self.number += 1
        self._changes.append(changed)
        if best:
            self._steps.append(Step(
                self.number, self.method.kind(done), tuple(done), best.part, tied, self.engine.tokens(), self.method.size,
                best.worth, best.values,
            ))

    def _backward(self) -> None:
        engine, method = self._marks.pop()
        self.engine.revert(engine)
        self.method.revert(method)
        self._changes.pop()
        self.number -= 1

    # ---- looking

    def size_at(self, number: int) -> int:
        """The number of ids after a computed step."""
        return self._steps[number - 1].vocab_size if number else self._start[1]

    def tokens_at(self, number: int) -> tuple[int, ...]:
        """The length of each part of the corpus after a computed step."""
        return self._steps[number - 1].tokens if number else self._start[0]

    def step_at(self, number: int) -> Step:
        """A computed step, 1 for the first."""
        return self._steps[number - 1]

    def changed(self) -> Changed:
        """What the last step changed."""
        return self._changes[-1] if self._changes else Changed()

    def find(self, goal: Goal, after: int = 0) -> int | None:
        """The first computed step after a step at which a goal is reached; None where there is none yet."""
        def reached(number: int) -> bool:
            if isinstance(goal, Size):
                return self.size_at(number) >= goal.ids
            if isinstance(goal, Tokens):
                return sum(self.tokens_at(number)) <= goal.tokens
            pieces = self.engine.symbols.pieces
            return number > 0 and any(pieces[event.symbol] in goal.tokens for event in self.step_at(number).events)

        return next((number for number in range(after + 1 if after else 0, self.computed + 1) if reached(number)), None)

    def life(self, word: str) -> list[Life]:
        """From the history alone: the word's units, and every event that changes it."""
        pieces = self.engine.symbols.pieces
        symbols = self.engine.units(word)
        lives = [Life(0, tuple(pieces[symbol] for symbol in symbols))]
        for step in self._steps[: self.number]:
            before = symbols
            for event in step.events:
                symbols = self.engine.after(symbols, event)
            if symbols != before:
                lives.append(Life(step.number, tuple(pieces[symbol] for symbol in symbols)))
        return lives

    def candidates(self, query: Query) -> Page[Candidate]:
        """What the next step may take, best first."""
        found = self.engine.candidates(self._constraints(self.number))
        return Page(tuple(found[query.top : query.top + query.rows]), query.top, len(found))

    def segment(self, place: str) -> list[Span]:
        """How a word is cut at this step: its units, and every event up to here."""
        pieces = self.engine.symbols.pieces
        symbols = self.engine.units(place)
        for step in self._steps[: self.number]:
            for event in step.events:
                symbols = self.engine.after(symbols, event)
        out, at = [], 0
        for symbol in symbols:
            out.append(Span(at, at + len(pieces[symbol]), symbol))
            at += len(pieces[symbol])
        return out

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> SteppedTrainer:
        """Another training that stands at a computed step and goes on under what-ifs."""
        other = copy.deepcopy(self)
        other.advance(number, self._under, math.inf)
        del other._steps[number:]
        other.what_if = self.what_if + what_if
        return other
