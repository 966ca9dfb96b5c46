"""A training by any events, for the proofs: words as lists of symbols, counted from scratch whenever
something is asked.

    while (best := engine.best(constraints)) is not None:      # choose
        for event in method.events(best):                      # merge, and what follows from it
            event = engine.apply(event)
            method.note(event)

The engine knows how the corpus is segmented now. The method knows what a step is.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

from tokentui.core.native import PLAIN
from tokentui.encode.events import EventVocabulary
from tokentui.learn.objectives import Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Candidate, Page, Query, Traits
from tokentui.learn.trainer import Goal, Made, Size
from tokentui.learn.values import (
    MAKING,
    Changed,
    Constraints,
    Event,
    Kind,
    Life,
    Merged,
    Ranked,
    Span,
    Step,
    Used,
)
from tokentui.recipe import Recipe, WhatIf
from tokentui.text.count import Words

Mark = Any
"""Where an engine or a method stood, as it alone understands it."""


class Method(Protocol):
    """What makes an objective: what follows from taking a candidate, and which symbols count."""

    @property
    def size(self) -> int:
        """The number of ids now, specials counted."""

    def events(self, best: Candidate) -> Iterator[Event]:
        """The events of a step, one after the other. Each is applied before the next is asked for, so that
        what follows may depend on what the one before did."""

    def note(self, event: Event) -> None:
        """Take in an event that was applied, now or again."""

    def kind(self, events: Sequence[Event]) -> str:
        """What a person calls a step of these events."""

    def mark(self) -> Mark:
        """Where the method stands, for `revert`."""

    def revert(self, mark: Mark) -> None:
        """Go back to a mark."""


def replaced(symbols: Sequence[int], event: Event, pieces: Sequence[bytes]) -> list[int]:
    """A word's symbols after an event: merged or covered from left to right, or split wherever the symbol
    stands."""
    if event.kind in (Kind.SPLIT, Kind.BREAK):
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


class WordEngine:
    """The parts of a material, then what each is judged by, each word a list of symbols.

    Args:
        material: The parts and the recipe.
        units: Cuts a word into its smallest units.
    """

    def __init__(self, material: Material, units: Callable[[str], list[bytes]]) -> None:
        self.material, self.cut_units = material, units
        parts = [part.words for part in material.parts]
        parts += [part.development for part in material.parts if part.development is not None]
        base = sorted({unit for part in parts for word in part.words for unit in units(word)})
        self.symbols = EventVocabulary(material.recipe, base)
        self.number = 0
        """The step that is being made, or was made last."""
        self.names = [list(part.words) for part in parts]
        self.weights = [list(part.counts) for part in parts]
        self.words = [[self.units(word) for word in part] for part in self.names]
        places = {
            name: (part, number) for part, names in reversed([*enumerate(self.names)])
            for number, name in enumerate(names)
        }
        self.places = [places[word] for word in material.words.words]
        """The part of each word of the material, and its number there."""
        self._log: list[tuple[int, int, list[int]]] = []
        self.deciding: Sequence[int] = range(len(parts))
        """The parts whose counts decide at this step."""
        self.views: dict[int, Sequence[int]] = {0: range(len(parts))}
        """The parts that an event of each view changes."""
        self.barred: Callable[[tuple[int, int]], bool] = lambda pair: False
        self.largest_first = False
        self.tied = 0

    def units(self, word: str) -> list[int]:
        """A word as its smallest units; those that the corpus lacks are left out."""
        return [self.symbols.units[unit] for unit in self.cut_units(word) if unit in self.symbols.units]

    def tokens(self) -> tuple[int, ...]:
        """The length of each part in tokens, by weight."""
        return tuple(
            sum(len(word) * weight for word, weight in zip(words, weights, strict=True))
            for words, weights in zip(self.words, self.weights, strict=True)
        )

    def pairs(self, parts: Sequence[int] | None = None) -> Counter[tuple[int, int]]:
        """Every pair with its count, overlapping places too."""
        found: Counter[tuple[int, int]] = Counter()
        for part in self.deciding if parts is None else parts:
            for word, weight in zip(self.words[part], self.weights[part], strict=True):
                for pair in pairwise(word):
                    found[pair] += weight
        return found

    def uses(self, symbol: int) -> int:
        """How often a symbol stands, by weight."""
        return sum(
            word.count(symbol) * weight
            for words, weights in zip(self.words, self.weights, strict=True)
            for word, weight in zip(words, weights, strict=True)
        )

    def candidates(self, under: Constraints) -> list[Candidate]:
        """The pairs that the constraints allow, best first: by their value, then by the tie rule."""
        pieces = self.symbols.pieces
        found = []
        for (left, right), count in self.pairs().items():
            parts = pieces[left], pieces[right]
            long = under.max_length is not None and len(parts[0] + parts[1]) > under.max_length
            if (
                count >= under.min_count
                and not long
                and parts not in under.forbidden
                and not self.barred((left, right))
            ):
                found.append(Candidate((left, right), parts, parts[0] + parts[1], count))
        return self.in_order(found, under)

    def in_order(self, found: list[Candidate], under: Constraints) -> list[Candidate]:
        """Candidates best first, a forced one before all others; those as good as another are tied."""
        found.sort(key=lambda one: one.parts, reverse=self.largest_first)
        found.sort(key=lambda one: (one.parts != under.forced, -one.worth))
        worths = Counter(one.worth for one in found)
        return [dataclasses.replace(one, tied=worths[one.worth] > 1) for one in found]

    def best(self, under: Constraints) -> Candidate | None:
        """The best pair, None where there is none."""
        found = self.candidates(under)
        self.tied = sum(one.worth == found[0].worth for one in found) if found else 0
        return found[0] if found else None

    def apply(self, event: Event) -> Event:
        """Do an event to every word of the parts that it is meant for.

        Returns it with the places that it replaced.
        """
        done = 0
        for part in self.views[event.view]:
            for number, word in enumerate(self.words[part]):
                after = self.after(word, event)
                if after != word:
                    self._log.append((part, number, word))
                    self.words[part][number] = after
                    done += (
                        abs(after.count(event.symbol) - word.count(event.symbol)) * self.weights[part][number]
                    )
        return event._replace(replaced=done)

    def changed(self, mark: int) -> Changed:
        """What was changed after a mark: the parts of view 0 are words, others documents."""
        found = {(part, number) for part, number, _ in self._log[mark:]}
        words = frozenset(index for index, place in enumerate(self.places) if place in found)
        return Changed(words, frozenset(number for part, number in found if part not in self.views[0]))

    def mark(self) -> int:
        """The length of the log."""
        return len(self._log)

    def revert(self, mark: int) -> None:
        """Put back every word that was changed after a mark, the latest first."""
        while len(self._log) > mark:
            part, number, word = self._log.pop()
            self.words[part][number] = word

    def after(self, symbols: list[int], event: Event) -> list[int]:
        """A word after an event."""
        return replaced(symbols, event, self.symbols.pieces)


class Plain:
    """A method whose step is one merge; the others add to it.

    Args:
        engine: The engine.
        specials: How many ids there are beside units and tokens.
    """

    def __init__(self, engine: WordEngine, specials: int = 0) -> None:
        self.engine = engine
        self.specials = specials
        self.last = Event(Kind.SCORES, -1)

    @property
    def size(self) -> int:
        """The number of ids."""
        return self.specials + len(self.engine.symbols.symbols(self.engine.number))

    def events(self, best: Candidate) -> Iterator[Event]:
        """One merge."""
        yield Event(Kind.MERGE, self.engine.symbols.named(best.token), best.key, int(best.worth))

    def note(self, event: Event) -> None:
        """The next event may depend on it."""
        self.last = event

    def kind(self, events: Sequence[Event]) -> str:
        """By its first event."""
        return str(events[0].kind)

    def mark(self) -> Mark:
        """Nothing: the vocabulary is read at a number."""

    def revert(self, mark: Mark) -> None:
        """Nothing."""


class EventEngine:
    """A corpus and a method: the events of each step are noted, and made again without choosing.

    Args:
        corpus: The corpus as it is segmented now.
        method: What a step is.
    """

    engine, number, uses = PLAIN, 0, ()

    def __init__(self, corpus: WordEngine, method: Method) -> None:
        self.corpus, self.method = corpus, method
        self.steps: list[Step] = []
        self.taken: list[Candidate] = []
        self._marks: list[tuple[Mark, Mark]] = []
        self.start = corpus.tokens(), method.size

    @property
    def vocabulary(self) -> EventVocabulary:
        """The symbols, which come and leave."""
        return self.corpus.symbols

    @property
    def known(self) -> int:
        """The furthest step that has been made."""
        return len(self.steps)

    def memory(self) -> int:
        """Not counted."""
        return 0

    def walk(self, goal: int, under: Constraints) -> None:
        """One step towards a goal."""
        if goal < self.number:
            corpus, method = self._marks.pop()
            self.corpus.revert(corpus)
            self.method.revert(method)
            self.number = self.corpus.number = self.number - 1
            return
        best = None if self.number < self.known else self.corpus.best(under)
        events = self.method.events(best) if best else iter(self.steps[self.number].events)
        self._marks.append((self.corpus.mark(), self.method.mark()))
        tied, done = self.corpus.tied, list[Event]()
        self.number = self.corpus.number = self.number + 1
        applied = self._applied(events, done)
        if best:
            self.vocabulary.step(applied)
            lengths = self.corpus.tokens()
            self.steps.append(
                Step(
                    number=self.number, kind=self.method.kind(done), events=tuple(done), part=best.part,
                    tied=tied, tokens=sum(lengths), lengths=lengths, vocab_size=self.method.size,
                )
            )
            self.taken.append(best)
        else:
            for _ in applied:
                pass  # the vocabulary has them

    def _applied(self, events: Iterable[Event], done: list[Event]) -> Iterator[Event]:
        """Apply events one after the other, and yield each as it was done."""
        for wanted in events:
            event = self.corpus.apply(wanted)
            self.method.note(event)
            done.append(event)
            yield event

    def best(self, under: Constraints) -> int:
        """Not 0 where there is a candidate."""
        best = self.corpus.best(under)
        return int(best.worth) if best else 0

    def ranked(self, under: Constraints, limit: int) -> Ranked:
        """The number of candidates."""
        return Ranked(len(self.corpus.candidates(under)), self.corpus.tied, 0, ())

    def forget(self) -> None:
        """Forget the steps past the present one."""
        del self.steps[self.number :], self.taken[self.number :]
        self.corpus.symbols = self.vocabulary.copy(self.number)

    def merged(self, number: int) -> Merged:
        """Steps are other things than merges."""
        raise NotImplementedError

    def tokens_at(self, number: int) -> int:
        """The length of the corpus after a known step."""
        return self.steps[number - 1].tokens if number else sum(self.start[0])

    def size_at(self, number: int) -> int:
        """The number of ids after a known step."""
        return self.steps[number - 1].vocab_size if number else self.start[1]

    def changed(self) -> Changed:
        """The changes of the last step."""
        return self.corpus.changed(self._marks[-1][0]) if self._marks else Changed()

    def words_changed(self) -> Iterable[int]:
        """The words that the last step changed."""
        return self.changed().words

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """A word as the corpus has it."""
        out, at = [], 0
        part, number = self.corpus.places[index]
        for symbol in self.corpus.words[part][number]:
            out.append(Span(at, at + len(self.corpus.symbols.pieces[symbol]), symbol))
            at = out[-1].end
        return out


class EventTrainer(PairTrainer):
    """A training by an engine of events.

    Args:
        engine: The engine.
        traits: The facts that other rooms have to know of it.
    """

    engine: EventEngine

    def __init__(self, engine: EventEngine, traits: Traits) -> None:
        super().__init__(engine, engine.corpus.material, lambda *_: self)
        self.traits = traits

    @property
    def pieces(self) -> Sequence[bytes]:
        """The bytes of each symbol."""
        return self.engine.corpus.symbols.pieces

    def step_at(self, number: int) -> Step:  # type: ignore[override]
        """A known step."""
        return self.engine.steps[number - 1]

    def taken(self, number: int) -> Candidate:
        """The candidate of a known step."""
        return self.engine.taken[number - 1]

    def candidates(self, query: Query) -> Page[Candidate]:
        """The candidates, best first."""
        found = self.engine.corpus.candidates(self._under(self.limits))
        return Page(tuple(found[query.top : query.top + query.rows]), query.top, len(found))

    def find(self, goal: Goal, after: int = 0) -> int | None:
        """The first known step at which a goal is reached; sizes may grow and shrink."""
        steps = range(after, self.computed + 1) if self.traits.shrinks or isinstance(goal, Made) else ()
        if isinstance(goal, Made):
            events = ((number, event) for number in steps[1:] for event in self.step_at(number).events)
            return next(
                (number for number, event in events if self.pieces[event.symbol] in goal.tokens), None
            )
        if isinstance(goal, Size) and steps:
            return next((number for number in steps if self.size_at(number) >= goal.ids), None)
        return super().find(goal, after)

    def life(self, word: str) -> list[Life]:
        """The segmentations of a word: its units, and those after every event that changes them."""
        symbols = self.engine.corpus.units(word)
        lives = [Life(0, tuple(self.pieces[symbol] for symbol in symbols))]
        for number in range(1, self.number + 1):
            before = symbols
            for event in self.step_at(number).events:
                symbols = self.engine.corpus.after(symbols, event)
            if symbols != before:
                lives.append(Life(number, tuple(self.pieces[symbol] for symbol in symbols)))
        return lives

    def made_at(self, symbol: int) -> int:
        """The first step that makes a symbol."""
        making = (step.number for step in self.engine.steps for event in step.events
                  if event.symbol == symbol and event.kind in MAKING)
        return next(making, 0)

    def uses_over(self, symbol: int) -> Callable[[], Sequence[Used]]:
        """The uses of a symbol at each step, by standing there."""
        found = [Used(0, 0)] if symbol >= len(self.fork(0, ()).uses) else []
        for number in range(len(found), self.number + 1):
            uses = self.fork(number, ()).uses
            count = uses[symbol] if symbol < len(uses) else 0
            if not found or count != found[-1].uses:
                found.append(Used(number, count))
        return lambda: found

    def changed(self) -> Changed:
        """The changes of the last step."""
        return self.engine.changed()

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> EventTrainer:
        """A copy that stands at a known step and goes on under what-ifs."""
        other = copy.deepcopy(self)
        other.advance(number, self.limits, math.inf)
        other.forget()
        other.what_if = self.what_if + what_if
        return other


def trainer_of(corpus: WordEngine, method: Method, traits: Traits | None = None) -> EventTrainer:
    """A trainer of a corpus and a method."""
    return EventTrainer(EventEngine(corpus, method), traits or Traits())


def counted(words: Mapping[str, int]) -> Words:
    """Words with their counts, as a corpus is counted."""
    return Words(tuple(words), tuple(words.values()))


def material_of(words: Mapping[str, int], rule: str) -> Material:
    """The material of one corpus; the rule is the name of the tie rule."""
    recipe = Recipe(split="whitespace", unit="char", base="sorted", unknown="error", tie=rule)
    return Material.of(counted(words), recipe)
