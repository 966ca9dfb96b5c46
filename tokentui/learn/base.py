"""The old face of a trainer, which other rooms still call. It goes when they call that of `trainer`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import trainer, walk
from tokentui.learn.values import Changed, Page, Query, Word
from tokentui.recipe import Ending, Stops


class Trainer(trainer.Trainer, Protocol):
    """A trainer with what the new face says in another way."""

    known_for: Stops

    @property
    def start_tokens(self) -> int:
        """`tokens_at(0)`."""

    @property
    def known(self) -> int:
        """`computed`."""

    @property
    def tokens(self) -> int:
        """`tokens_at(number)`."""

    @property
    def vocabulary(self) -> Vocabulary:
        """`tokenizer().vocabulary`."""

    @property
    def merges(self) -> int:
        """`tokenizer().merges`."""

    @property
    def vocab_size(self) -> int:
        """`size_at(number)`."""

    @property
    def least_size(self) -> int:
        """`traits.least_size`."""

    @property
    def pairs(self) -> int:
        """`candidates(Query()).total`."""

    def run(
        self, *, merges: int | None = None, vocab_size: int | None = None, min_count: int = 1, max_length: int | None = None,
    ) -> str:
        """`walk.run`."""

    def jump(self, number: int) -> int:
        """`walk.jump`."""

    def step_at(self, number: int) -> Any:
        """A step of any kind."""

    def candidates(self, query: Query) -> Page[Any]:
        """Candidates of any kind."""

    def step(self) -> Any:
        """`walk.step`."""

    def back(self) -> Any:
        """`walk.back`."""

    def steps(self, first: int = 1) -> Iterator[Any]:
        """`walk.steps`."""

    def bound(self, stops: Stops) -> None:
        """`advance(number, stops)`."""

    def step_with(self, size: int) -> int | None:
        """`find(Size(size))`."""

    def last_step(self, stops: Stops) -> int | None:
        """`ending(stops).step`."""

    def step_of(self, tokens: frozenset[bytes], first: int = 0) -> int | None:
        """`find(Made(tokens), first)`."""

    def word(self, word: str, first: int = 0, units: int | None = None) -> Sequence[tuple[int, int]] | None:
        """`segment(Word(word, first, units))`."""

    def length(self, symbol: int) -> int:
        """`Span` has the end of a token."""

    def newest(self) -> int:
        """`step_at(number).made`."""

    def touched(self) -> Callable[[str], bool]:
        """`changed()`."""


class OldFace:
    """The old face by the new one, for a trainer that has nothing else to say of it."""

    known_for: Stops = Stops()
    start_tokens: Any = property(lambda self: self.tokens_at(0))
    known: Any = property(lambda self: self.computed)
    tokens: Any = property(lambda self: self.tokens_at(self.number))
    vocabulary: Any = property(lambda self: self.tokenizer().vocabulary)
    merges: Any = property(lambda self: self.tokenizer().merges)
    vocab_size: Any = property(lambda self: self.size_at(self.number))
    least_size: Any = property(lambda self: self.traits.least_size)
    pairs: Any = property(lambda self: self.candidates(Query(rows=0)).total)

    def run(
        self: Any, *, merges: int | None = None, vocab_size: int | None = None, min_count: int = 1, max_length: int | None = None,
    ) -> str:
        """`walk.run`."""
        stops = Stops(merges, vocab_size, max(1, min_count), max_length)
        return walk.run(self, self.known_for if stops == Stops() else stops)

    def jump(self: Any, number: int) -> int:
        """`walk.jump`."""
        return walk.jump(self, number)

    def step(self: Any) -> Any:
        """`walk.step`."""
        return walk.step(self)

    def back(self: Any) -> Any:
        """`walk.back`."""
        return walk.back(self)

    def steps(self: Any, first: int = 1) -> Iterator[Any]:
        """`walk.steps`."""
        return walk.steps(self, first)

    def bound(self: Any, stops: Stops) -> None:
        """`advance(number, stops)`."""
        self.advance(self.number, stops)

    def step_with(self: Any, size: int) -> int | None:
        """`find(Size(size))`."""
        found: int | None = self.find(trainer.Size(size))
        return found

    def last_step(self: Any, stops: Stops) -> int | None:
        """`ending(stops).step`."""
        ending: Ending = self.ending(stops)
        return ending.step

    def step_of(self: Any, tokens: frozenset[bytes], first: int = 0) -> int | None:
        """`find(Made(tokens), first)`."""
        found: int | None = self.find(trainer.Made(tokens), first)
        return found

    def word(self: Any, word: str, first: int = 0, units: int | None = None) -> list[tuple[int, int]]:
        """`segment(Word(word, first, units))`."""
        return [(span.start, span.symbol) for span in self.segment(Word(word, first, units))]

    def length(self: Any, symbol: int) -> int:
        """`Span` has the end of a token."""
        size: int = self.course.engine.length[symbol]
        return size

    def newest(self: Any) -> int:
        """`step_at(number).made`."""
        made: int = self.step_at(self.number).made if self.number else -1
        return made

    def touched(self: Any) -> Callable[[str], bool]:
        """`changed()`."""
        changed: Changed = self.changed()
        return changed.differs or {self.words.words[number] for number in changed.words}.__contains__
