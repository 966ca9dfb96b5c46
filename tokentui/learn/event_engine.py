"""The engine of trainings whose steps are events: a candidate becomes one symbol, and other events follow.

`EventEngine` is composed of a corpus, such as a `Layout` of words, which counts candidates, applies events
and undoes them; and of a method, such as `picky.Picky`, which returns the events that follow. Each event is
applied before the method is asked for the next one, so that the method decides by counts after the merge:

    candidate = corpus.best()
    event = corpus.apply(merge of the candidate)
    for event in method.follow_up(event): corpus.apply(event)
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from tokentui.core.engines import PLAIN
from tokentui.core.jobs import check
from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.learn.engine import Constraints, Merge, Ranked
from tokentui.learn.layouts import NGrams, Pairs, lay_out
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material
from tokentui.learn.steps import Span

_SLICE, _A_STEP, _A_WORD = 2048, 32, 4
"""The work of one call of `walk`; of a step; and of a word that changes, in the same unit."""

Mark = Any
"""The length of the log of a layout, or of several layouts: where to go back to."""


class MadeStep(NamedTuple):
    """A step that was made.

    Attributes:
        mark: The length of the log before it.
        figures: The figures of its merge.
        events: The events, in order, with the places that each replaced.
        changes: By how much it changed the uses of each symbol; None if its events say so.
    """

    mark: Mark
    figures: Merge
    events: tuple[Event, ...]
    changes: Mapping[int, int] | None


class EventCorpus(Protocol):
    """What events are applied to: a `Layout`, or several that change together.

    See `layouts.Layout` for what has no docstring here.

    Attributes:
        tokens: The length of the corpus in tokens, by weight.
    """

    tokens: int

    @property
    def tied(self) -> int: ...
    @property
    def was_tied(self) -> bool: ...

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol as methods count them, by weight."""

    @property
    def shown_uses(self) -> Sequence[int]:
        """The uses of each symbol as people see them, by weight."""

    @property
    def length(self) -> Sequence[int]:
        """The units of each symbol."""

    @property
    def mark(self) -> Mark: ...
    def best(self, under: Constraints) -> int: ...
    def row(self, candidate: int) -> Pair | NGram: ...
    def top(self, under: Constraints, limit: int, mark: Mark) -> Ranked: ...
    def apply(self, event: Event) -> Event: ...
    def undo(self, mark: Mark, events: Sequence[Event]) -> None: ...
    def work(self, mark: Mark) -> int: ...
    def changed_words(self, mark: Mark) -> set[int]: ...
    def use_changes(self, mark: Mark, events: Sequence[Event]) -> Mapping[int, int]: ...
    def symbols(self, index: int) -> Sequence[int]: ...
    def copy(self) -> EventCorpus: ...
    def forget(self, vocabulary: EventVocabulary) -> None: ...
    def memory(self) -> int: ...


class Method:
    """What a training does in a step: here nothing but making a token of a candidate.

    Each method has a file of its own, such as `picky`.

    Attributes:
        making: The kind of the event that makes a token of a candidate.
        step: The word for one step, as people read it.
        candidate: The word for one candidate, as people read it.
        phase: What a run is doing, as people read it.
        notes_changes: True if the engine has to record by how much a step changes the uses of symbols,
            because the events of the step do not say it.
        parameters: The parameters of the objective.
    """

    making = EventKind.MERGE
    step = "merge"
    candidate = "pair"
    phase = "merging"
    notes_changes = False

    def __init__(self, material: Material) -> None:
        self.parameters = material.objective.arguments(material.recipe.objective)

    def candidates(self) -> NGrams:
        """Return what a candidate is: by default a pair."""
        return Pairs()

    def lay_out(self, material: Material) -> tuple[EventVocabulary, EventCorpus]:
        """Return the vocabulary of units, and the corpus laid out in them: by default the distinct words."""
        return lay_out(material, self.candidates())

    def follow_up(self, engine: EventEngine, merge: Event, taken: Pair | NGram) -> Iterable[Event]:
        """Return the events of a step after the first one. Each is applied before the next one is asked for.

        Args:
            engine: The engine, after the event before.
            merge: The first event, with the places that it replaced.
            taken: The candidate, with its figures before the step.
        """
        return ()

    def kind(self, events: Sequence[Event]) -> str:
        """Return the word for a step of these events, as people read it."""
        return self.step

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return sentences on what the next step does besides its merge.

        Args:
            engine: The engine.
            best: The candidate of the next step.
            replaced: The number of places that its merge will replace, by weight.
        """
        return []


class EventEngine:
    """The corpus of an event training and the steps made in it; see `engine.PairEngine`.

    Args:
        material: The counted words, the recipe and the run.
        method: The method.
    """

    engine = PLAIN

    def __init__(self, material: Material, method: Method) -> None:
        self.method = method
        self.vocabulary, self.corpus = method.lay_out(material)
        self.number = self.computed = 0
        self.steps: list[MadeStep] = []
        self._tokens = [self.corpus.tokens]

    # ---- walking

    def walk(self, goal: int, under: Constraints) -> None:
        """Go toward a step for some milliseconds, which may end before the step is reached.

        Computed steps are undone and redone. Further steps are made until no candidate may be chosen.
        """
        work = _SLICE
        while self.number > goal and work > 0:
            work -= self._undo() + _A_STEP
        while self.number < min(goal, self.computed) and work > 0:
            work -= self._redo() + _A_STEP
        while self.number < goal and work > 0 and (candidate := self.best(under)):
            work -= self._make(candidate) + _A_STEP

    def best(self, under: Constraints) -> int:
        """Return the number of the best candidate at the furthest step, 0 if none may be chosen.

        It is negative for a candidate of the second view; see `boundless.Documents`.
        """
        return self.corpus.best(under)

    def top(self, under: Constraints, limit: int) -> Ranked:
        """Return the best candidates at this step, `limit` of them at most."""
        return self.corpus.top(under, limit, self._last_mark)

    @property
    def _last_mark(self) -> Mark:
        """The length of the log before the last step."""
        return self.steps[self.number - 1].mark if self.number else self.corpus.mark

    def _make(self, candidate: int) -> int:
        """Apply the events of a candidate's step for the first time, and record the step. Return its work."""
        taken, mark, pieces = self.corpus.row(candidate), self.corpus.mark, self.vocabulary.pieces
        tied, was_tied = self.corpus.tied, self.corpus.was_tied
        symbol = self.vocabulary.named(b"".join([pieces[part] for part in taken.symbols]))
        self.computed += 1
        self.number += 1
        events: list[Event] = []

        def apply_events() -> Iterator[Event]:
            first = Event(self.method.making, symbol, taken.symbols, taken.places, view=int(candidate < 0))
            merge = self.corpus.apply(first)
            events.append(merge)
            yield merge
            for event in self.method.follow_up(self, merge, taken):
                events.append(self.corpus.apply(event))
                yield events[-1]

        self.vocabulary.step(apply_events())
        self._tokens.append(self.corpus.tokens)
        figures = Merge(taken, events[0].replaced, tied, was_tied, self.corpus.tokens)
        changes = self.corpus.use_changes(mark, events) if self.method.notes_changes else None
        self.steps.append(MadeStep(mark, figures, tuple(events), changes))
        return _A_WORD * self.corpus.work(mark)

    def _redo(self) -> int:
        """Make the next computed step again. Return its work."""
        mark = self.corpus.mark
        self.number += 1
        for event in self.steps[self.number - 1].events:
            self.corpus.apply(event)
        return _A_WORD * self.corpus.work(mark)

    def _undo(self) -> int:
        """Undo the last step. Return its work."""
        step = self.steps[self.number - 1]
        work = self.corpus.work(step.mark)
        self.corpus.undo(step.mark, step.events)
        self.number -= 1
        return _A_WORD * work

    def forget(self) -> None:
        """Drop the computed steps after the current one. Replaces `vocabulary` by a new object."""
        self.vocabulary = self.vocabulary.truncated(self.number)
        del self.steps[self.number :], self._tokens[self.number + 1 :]
        self.computed = self.number
        self.corpus.forget(self.vocabulary)

    def fork(self, number: int, material: Material) -> EventEngine:
        """Return an engine with a copy of the corpus at a computed step, for a run by another recipe."""
        other = copy.copy(self)
        other.corpus, other.steps, other._tokens = self.corpus.copy(), self.steps[:], self._tokens[:]
        while other.number != number:
            check()
            other.walk(number, Constraints())
        other.forget()
        other.vocabulary.recipe = material.recipe
        return other

    # ---- figures

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step, by weight."""
        return self.corpus.shown_uses

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in tokens after a computed step, by weight."""
        return self._tokens[number]

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step."""
        return self.vocabulary.sizes[number]

    def merged(self, number: int) -> Merge:
        """Return the figures of the merge of a computed step."""
        return self.steps[number - 1].figures

    def memory(self) -> int:
        """Return the bytes that corpus and history take, counted as eight bytes a number."""
        return 8 * (self.corpus.memory() + 12 * self.computed)

    def words_changed(self) -> set[int]:
        """Return the indexes of the words that the last step changed."""
        return self.corpus.changed_words(self._last_mark)

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """Return the current tokens of a word that cover some of its units; see `engine.PairEngine.word`.

        Units that nothing merges with have no span.
        """
        at, spans, length = 0, list[Span](), self.corpus.length
        stop = None if units is None else first + units
        for symbol in self.corpus.symbols(index):
            end = at + (length[symbol] if symbol >= 0 else 1)
            if stop is not None and at >= stop:
                break
            if symbol >= 0 and end > first:
                spans.append(Span(at, end, symbol))
            at = end
        return spans
