"""Scaffold-BPE: a token that is left with fewer places than the next pair has is demoted (Lian et al.,
"Scaffold-BPE", 2024), after a third implementation (bauwenst/TkTkT): the authors have published none.

A scaffold token goes on to take part in merges. It does not count towards the size and is never given out: in
its place stand its two parts, or what these are given out as. The left part is judged before the right one,
by its places after the merge, against the count of the pair that is best then. Units are never demoted, a
token is demoted once, and none comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.events import EventPairs
from tokentui.learn.objectives import Material
from tokentui.learn.values import Constraints, Event, Kind, Pair, Used


class ScaffoldPairs(EventPairs):
    """The pairs of a corpus, merges and demotions. The words hold scaffold tokens as they were merged."""

    _under = Constraints()

    def best(self, under: Constraints) -> int:
        """The best pair at the furthest step, 0 where no pair may be merged."""
        self._under = under._replace(forced=())
        return super().best(under)

    def following(self, merge: Event, uses: tuple[int, int]) -> Iterator[Event]:
        """The demotion of each part that is left with fewer places than the next pair has."""
        best = super().best(self._under)
        head = self.counts[best] if best else 0
        for part in dict.fromkeys(merge.parts):
            there = self.vocabulary.is_there(part, self.number)
            if part >= self.vocabulary.base_size and there and self.uses[part] < head:
                yield Event(Kind.DEMOTE, part, self.vocabulary.parts(part), self.uses[part])

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self._whole = self._tokens.copy()
        """The length of the corpus after each step with scaffold tokens as one."""
        self._take_in()

    def _take_in(self) -> None:
        """Find what follows from the steps that are known: the furthest is the present one."""
        vocabulary = self.vocabulary
        self._of: dict[int, list[int]] = {}
        """The symbols that each symbol is a part of, once for each time."""
        for symbol in range(vocabulary.base_size, len(vocabulary.pieces)):
            for part in vocabulary.parts(symbol):
                self._of.setdefault(part, []).append(symbol)
        self._width = {symbol: len(self.given_out(symbol)) for symbol in vocabulary.demoted}
        """The tokens that are given out for each scaffold token."""
        self._extra = sum(self.uses[symbol] * (width - 1) for symbol, width in self._width.items())
        """The tokens that the corpus has more as it is given out."""

    def _make(self, pair: int) -> int:
        cost, width = super()._make(pair), self._width
        merge, *demotions = self.done(self.number).events
        for part in merge.parts:
            self._of.setdefault(part, []).append(merge.symbol)
            self._extra -= merge.replaced * (width.get(part, 1) - 1)
        for event in demotions:
            width[event.symbol] = 1
            waiting = [(event.symbol, sum(width.get(part, 1) for part in event.parts) - 1)]
            while waiting:  # what was demoted before and holds it is given out as more tokens too
                symbol, more = waiting.pop()
                width[symbol] += more
                self._extra += self.uses[symbol] * more
                waiting += [(one, more) for one in self._of.get(symbol, ()) if one in width]
        self._whole.append(self._whole[-1] - merge.replaced)
        self._tokens[-1] = self._whole[-1] + self._extra
        return cost

    def forget(self) -> None:
        """Forget the steps past the present one."""
        super().forget()
        del self._whole[self.number + 1 :]
        self._take_in()

    def given_out(self, symbol: int, number: int | None = None) -> tuple[int, ...]:
        """The symbols that stand for one in what is given out after a step, the present one where None."""
        number = self.number if number is None else number
        found = self.vocabulary.demoted.get(symbol)
        if found is None or found[0] > number:
            return (symbol,)
        return tuple(one for part in found[1] for one in self.given_out(part, number))

    def kind(self, events: Sequence[Event]) -> str:
        """A merge, with or without demotions."""
        return "merge" if len(events) == 1 else "merge and demote"

    def facts(self, best: Pair, replaced: int) -> list[str]:
        """The places that are left of each part of several units, on which the next pair decides."""
        facts = ["after a third implementation: the paper's own was not published"]
        pieces = self.vocabulary.pieces
        for part in dict.fromkeys((best.left, best.right)):
            if part >= self.vocabulary.base_size:
                left = self.uses[part] - replaced * (1 + (best.left == best.right))
                name = pieces[part].decode("utf-8", "replace").replace(" ", "·")
                scaffold = self.vocabulary.demoted.get(part)
                if scaffold is not None and scaffold[0] <= self.number:
                    facts.append(f"{name} is a scaffold token since step {scaffold[0]:,}")
                else:
                    facts.append(f"{name} is left in {left:,}: it is demoted if the next pair has more")
        return facts

    def shown(self) -> list[int]:
        """The uses of each symbol as it is given out."""
        found = list(self.uses)
        for symbol, (number, _) in self.vocabulary.demoted.items():
            if number <= self.number and (uses := self.uses[symbol]):
                found[symbol] = 0
                for part in self.given_out(symbol):
                    found[part] += uses
        return found

    def words_changed(self) -> set[int]:
        """The words, by their number, that the last step changed as they are given out."""
        if not self.number:
            return set()
        done = self.done(self.number)
        first = self._first(done.logged)
        demoted = {event.symbol for event in done.events if event.kind is Kind.DEMOTE}
        found = {number for number, was in first.items() if self._given(was, 1) != self._given(
            self.words[number], 0
        )}
        if demoted:
            holding = [
                symbol for symbol, uses in enumerate(self.uses)
                if uses and not demoted.isdisjoint(self.tree(symbol))
            ]
            for symbol in holding:
                found |= {
                    number for number in self._holding[symbol]
                    if symbol in self.words[number] and number not in first
                    and self._given(self.words[number], 1) != self._given(self.words[number], 0)
                }
        return found

    def tree(self, symbol: int) -> Iterator[int]:
        """A symbol, and what it was made of, down to units."""
        yield symbol
        for part in self.vocabulary.parts(symbol):
            yield from self.tree(part)

    def _given(self, word: Sequence[int], before: int) -> list[int]:
        """A word as it is given out, so many steps before this one."""
        number = self.number - before
        return [
            one for symbol in word
            for one in (self.given_out(symbol, number) if symbol >= 0 else (symbol,))
        ]

    def symbols_of(self, index: int) -> Sequence[int]:
        """The symbols of a word as they are given out."""
        return self._given(self.words[index], 0)


class ScaffoldTrainer(EventTrainer):
    """A training with demotions; see `trainer.Trainer`."""

    engine: ScaffoldPairs
    _shown: tuple[int, list[int]] = (-1, [])
    gives_out = True

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step as it is given out, by weight."""
        if self._shown[0] != self.number:
            self._shown = self.number, self.engine.shown()
        return self._shown[1]

    def forget(self) -> None:
        """Forget the steps past the present one."""
        super().forget()
        self._shown = -1, []

    def uses_over(self, symbol: int) -> Callable[[], Sequence[Used]]:
        """The uses of a symbol up to this step: where merges are taken back, those of what was demoted too.
        """
        engine, pieces, found = self.engine, self.engine.vocabulary.pieces, list[Used]()
        held = list(engine.uses)
        demoted = engine.vocabulary.demoted

        holding = [
            one for one in {symbol, *demoted} if one < len(held) and symbol in engine.tree(one)
        ]

        def now(number: int) -> int:
            found = (one for one in holding if held[one])
            return sum(held[one] * engine.given_out(one, number).count(symbol) for one in found)

        uses = 0
        for number in range(self.number, -1, -1):
            uses = now(number)
            found.append(Used(number, uses))
            if number:
                merge = engine.done(number).events[0]
                held[merge.symbol] -= merge.replaced
                for part in merge.parts:
                    held[part] += merge.replaced
        turns = [
            one._replace(into=pieces[engine.done(one.number).events[0].symbol] if one.number and (
                symbol in engine.done(one.number).events[0].parts
            ) else b"")
            for one, before in zip(found, [*found[1:], Used(-1, -1)], strict=True) if one.uses != before.uses
        ]
        return lambda: turns[::-1]


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return ScaffoldTrainer.of(ScaffoldPairs, material)
