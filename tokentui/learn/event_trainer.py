"""The trainer of a training whose steps are events: it answers from the events of each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

from tokentui.core.runtime import quiet_collector
from tokentui.encode.events import LEAVING, MAKING, Kind
from tokentui.encode.segment.replaying import Replaying
from tokentui.learn.events import EventPairs
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Why
from tokentui.learn.trainer import Goal, Made, Size
from tokentui.learn.values import EventStep, Life, Used
from tokentui.recipe import Stops


class EventTrainer(PairTrainer):
    """A training by events; see `trainer.Trainer`.

    Args:
        engine: The engine.
        material: The counted words, the recipe and the run.
        again: As for `PairTrainer`.
    """

    engine: EventPairs

    @classmethod
    def of(cls, kind: type[EventPairs], material: Material, of: object = None, number: int = 0) -> Self:
        """Start a training of a kind.

        Args:
            kind: The engine.
            material: The counted words, the recipe and the run.
            of: The engine of a training of the same words, whose steps are taken over; None for none.
            number: How many of its steps are taken over.
        """
        with quiet_collector():
            engine = of.fork(number, material) if isinstance(of, kind) else kind(material)
        return cls(engine, material, lambda *again: cls.of(kind, *again))

    def step_at(self, number: int) -> EventStep:
        """A known step."""
        engine, vocabulary, done = self.engine, self.engine.vocabulary, self.engine.done(number)
        pair, replaced, tied, _ = done.figures
        pieces = vocabulary.pieces
        return EventStep(
            number=number, kind=engine.kind(done.events), events=done.events, tied=tied,
            tokens=self.tokens_at(number), vocab_size=self.size_at(number), left=pieces[pair.left],
            right=pieces[pair.right], token=pieces[done.events[0].symbol],
            id=vocabulary.order[done.events[0].symbol], count=pair.places, replaced=replaced,
            left_uses=pair.left_uses, right_uses=pair.right_uses,
            following=tuple(
                (str(event.kind), pieces[event.symbol], tuple(pieces[part] for part in event.parts))
                for event in done.events[1:]
            ),
        )

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """The length of each named part at the present step; empty for others: a step may change any word."""
        return self._lengths.seen(number, self.segment) if number == self.number else ()

    def why(self, stops: Stops) -> Why:
        """The reasons of the step to come, and what follows from its merge."""
        why, ranked = super().why(stops), self._ranked(self._under(stops.only(self.traits.shaped_by)))
        if not ranked.rows:
            return why
        return replace(why, facts=(*self.engine.facts(ranked.rows[0], ranked.replaced), *why.facts))

    def find(self, goal: Goal, after: int = 0) -> int | None:
        """The first computed step at which a goal is reached, or the first after a step; None where there is
        none yet. Sizes and lengths may go up and down."""
        first = after + 1 if after else 0
        steps = range(first, self.computed + 1)
        if isinstance(goal, Made):
            made = (*range(after + 1, self.computed + 1), *range(first, 1))
            return next((step for step in made if self._makes(step, goal.tokens)), None)
        if isinstance(goal, Size):
            return next((step for step in steps if self.size_at(step) >= goal.ids), None)
        return next((step for step in steps if self.tokens_at(step) <= goal.tokens), None)

    def _makes(self, number: int, tokens: frozenset[bytes]) -> bool:
        """True if a step makes, or takes away, one of some tokens; the start makes the units."""
        vocabulary, turning = self.engine.vocabulary, MAKING + LEAVING + (Kind.BREAK,)
        if not number:
            return not tokens.isdisjoint(vocabulary.pieces[: vocabulary.base_size])
        return any(
            event.kind in turning and vocabulary.pieces[event.symbol] in tokens
            for event in self.engine.done(number).events
        )

    def life(self, word: str) -> list[Life]:
        """A pre-token as the tokenizers of the steps up to this one encode it."""
        vocabulary = self.engine.vocabulary
        encoder = self.tokenizer().encoder
        units = encoder.pretokenizer.units(word)
        units = [units[at] for at in encoder.kept(units)]
        replaying = Replaying(vocabulary, self.number)
        lives, characters = list[Life](), len(word)
        for number, _ in replaying.history(units):
            parts = encoder.parts(units, characters, replaying.with_limit(number, ()))
            pieces = tuple(b"" if one.symbol is None else vocabulary.pieces[one.symbol] for one in parts)
            if not lives or lives[-1].pieces != pieces:
                lives.append(Life(number, pieces))
        return lives

    def made_at(self, symbol: int) -> int:
        """The first step that made a symbol, 0 for a unit."""
        return self.engine.vocabulary.made_at(symbol)

    def uses_over(self, symbol: int) -> Callable[[], Sequence[Used]]:
        """The uses of a symbol up to this step: each event takes from some symbols what it gives to others.
        """
        pieces, found = self.engine.vocabulary.pieces, list[Used]()
        uses = int(self.engine.uses[symbol]) if symbol < len(self.engine.uses) else 0
        for number in range(self.number, 0, -1):
            was, into = uses, b""
            for event in reversed(self.engine.done(number).events):
                change = event.replaced * (event.parts.count(symbol) - (event.symbol == symbol))
                if event.kind in (Kind.SPLIT, Kind.BREAK):
                    uses -= change
                elif event.kind is Kind.MERGE:
                    uses += change
                    into = pieces[event.symbol] if symbol in event.parts else into
            if was != uses:
                found.append(Used(number, was, into))
        found.append(Used(0, uses))
        return lambda: found[::-1]
