"""Encoding by events: of all events that apply to a word, the one with the smallest index comes first, but
none before the last applied one. It applies everywhere in the word at once, from left to right.

This equals a replay of all events in order. Merges join neighbors, splits replace a symbol by its parts, and
a cover replaces symbols that spell its text. At the end, demoted symbols are replaced by their parts. Source:
PickyBPE (Chizhov et al. 2024), whose encoder takes "the earliest event from here on".
"""

from __future__ import annotations

import bisect
import copy
import functools
import heapq
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from tokentui.core.jobs import check
from tokentui.encode.segment import ASKED_EVERY, AppliedMerge, SplitStep, WordPart
from tokentui.encode.vocabulary import Vocabulary
from tokentui.text.pretokenize import Pretokenizer

if TYPE_CHECKING:
    from tokentui.encode.events import Event, EventVocabulary

_NONE = -1
_MERGE, _COVER, _TAKES_APART = "merge", "cover", ("split", "break")


class AppliedEvent(NamedTuple):
    """A change of a word by an event.

    Attributes:
        event: The index of the event.
        before: The replaced symbols.
        after: The symbols that replace them.
        at: The first unit of each replaced symbol, or for a split of each new one; then the unit after them.
    """

    event: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    at: tuple[int, ...]


class Replaying:
    """Replays the events of a vocabulary on a word.

    It uses a heap of (event, place): a word of n units takes O(n log n) if few events split it.

    Args:
        vocabulary: The vocabulary of events.
        steps: How many of its steps count.

    >>> from tokentui.encode.events import Event, EventVocabulary, EventKind
    >>> from tokentui.recipe import Recipe
    >>> vocabulary = EventVocabulary(Recipe(), [b"e", b"s", b"t"])
    >>> es, est = vocabulary.named(b"es"), vocabulary.named(b"est")
    >>> vocabulary.step([Event(EventKind.MERGE, es, (0, 1))])
    >>> vocabulary.step([Event(EventKind.MERGE, est, (es, 2)), Event(EventKind.SPLIT, es, (0, 1))])
    >>> [part.symbol for part in Replaying(vocabulary, 2).segment([b"e", b"s", b"e", b"s", b"t"], 5)]
    [0, 1, 4]
    """

    def __init__(self, vocabulary: Vocabulary, steps: int) -> None:
        self._vocabulary = cast("EventVocabulary", vocabulary)
        self._events: Sequence[Event] = self._vocabulary.events
        self._end = self._vocabulary.ends[steps]
        self._steps, self._units = steps, vocabulary.units

    def with_limit(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a segmenter that replays another number of steps."""
        other = copy.copy(self)
        other._end, other._steps = self._vocabulary.ends[step], step
        return other

    @functools.cached_property
    def _cut(self) -> Pretokenizer:
        """The pretokenizer that cuts a pre-token into the words inside it."""
        recipe = self._vocabulary.recipe
        return Pretokenizer(recipe.with_axes(
            normalize=(), split=self._vocabulary.within, prefix_space=None
        ))

    def borders(self, units: Sequence[bytes]) -> set[int]:
        """Return the units where the words inside a pre-token begin, and its end; empty if words and
        pre-tokens are the same."""
        if not self._vocabulary.within:
            return set()
        text, starts, at = b"".join(units).decode("utf-8", "surrogateescape"), {0}, 0
        for word in self._cut.words(text, first=False):
            at += len(self._cut.units(word))
            starts.add(at)
        return starts | {len(units)}

    def output_of(self, symbol: int) -> tuple[int, ...]:
        """Return the symbols to output for a symbol: itself, or its parts if it is demoted at this step.

        Parts that are demoted are replaced too.
        """
        demotion = self._vocabulary.demoted.get(symbol)
        if demotion is None or demotion[0] > self._steps:
            return (symbol,)
        return tuple(output for part in demotion[1] for output in self.output_of(part))

    @functools.cached_property
    def _length(self) -> dict[int, int]:
        """Cache of the number of units that each symbol covers."""
        return {}

    def length(self, symbol: int) -> int:
        """Return the number of units that a symbol covers."""
        length = self._length.get(symbol)
        if length is None:
            parts = self._vocabulary.parts(symbol)
            length = self._length[symbol] = sum(map(self.length, parts)) if parts else 1
        return length

    def changes(
        self, symbols: list[int], following: list[int], borders: Container[int] = ()
    ) -> Iterator[AppliedEvent]:
        """Replay the events on a word in place. Yield each change after it is made.

        Args:
            symbols: The symbol that begins at each unit; -1 if none does, or for an unknown unit.
            following: The unit after each symbol.
            borders: The units where the words inside it begin and end.
        """
        tables, size, events, stop = self._vocabulary.tables, len(symbols), self._events, self._end
        merges, joins, splits = tables.merges, tables.joins, tables.splits
        widest = tables.widest
        before = [*range(-1, size - 1), size - 1]  # where the symbol in front begins, by where one begins
        heap: list[int] = []

        def after(numbers: list[int] | None, last: int) -> int | None:
            if numbers is None or numbers[-1] < last:
                return None
            event_number = numbers[bisect.bisect_left(numbers, last)]
            return event_number if event_number < stop else None

        def look(at: int, last: int) -> None:
            """Push the next event, after index `last`, that applies to the symbol at a unit, alone or with
            its neighbors."""
            symbol, right = symbols[at], following[at]
            if symbol == _NONE:
                return
            if (event_number := after(splits.get(symbol), last)) is not None:
                heapq.heappush(heap, event_number * size + at)
            pair, table = (symbol, symbols[right]) if right < size else (), merges
            if right < size and right in borders:
                table = joins if at in borders and following[right] in borders else {}
            if (event_number := after(table.get(pair), last)) is not None:
                heapq.heappush(heap, event_number * size + at)
            for _ in range(widest - 2):  # runs of more than two
                right = following[right] if right < size else size
                if right >= size or symbols[right] == _NONE or right in borders:
                    break
                pair = (*pair, symbols[right])
                if (event_number := after(merges.get(pair), last)) is not None:
                    heapq.heappush(heap, event_number * size + at)

        for at in range(size):
            look(at, 0)
        if tables.covers:
            heap += self._covering(symbols)
            heapq.heapify(heap)
        while heap:
            event_number, at = divmod(heapq.heappop(heap), size)
            event = events[event_number]
            taken = None if symbols[at] == _NONE else self._taken(event, at, symbols, following, borders)
            if taken is None:
                continue
            was, now, places = taken
            end = places[-1]
            for place in places[:-1]:
                symbols[place] = _NONE
            starts = [at, end] if len(now) == 1 else places
            for n, part in enumerate(now):
                symbols[starts[n]], following[starts[n]] = part, starts[n + 1]
                if n:
                    before[starts[n]] = starts[n - 1]
            if end < size:
                before[end] = starts[-2]
            if event.kind != _COVER:
                start = at
                for _ in range(widest - 1):
                    if (start := before[start]) < 0:
                        break
                    look(start, event_number + 1)
                for place in starts[:-1]:
                    look(place, event_number + 1)
            yield AppliedEvent(event_number, was, now, tuple(places))

    def _taken(
        self, event: Event, at: int, symbols: list[int], following: list[int], borders: Container[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...], list[int]] | None:
        """Return (removed symbols, inserted symbols, borders of the removed symbols or of the parts of a
        split) of an event at a unit. None if the symbols there do not match."""
        symbol = symbols[at]
        if event.kind in _TAKES_APART:
            if symbol != event.symbol:
                return None
            places = [at]
            for part in event.parts:
                places.append(places[-1] + self.length(part))
            return (symbol,), event.parts, places
        if event.kind == _MERGE:
            right, parts = following[at], event.parts
            if right >= len(symbols) or (symbol, symbols[right]) != parts[:2]:
                return None
            if event.view != (right in borders) or (
                event.view and not (at in borders and following[right] in borders)
            ):
                return None
            places = [at, right, following[right]]
            for part in parts[2:]:
                end = places[-1]
                if end >= len(symbols) or symbols[end] != part or end in borders:
                    return None
                places.append(following[end])
            return parts, (event.symbol,), places
        was, places, end = list[int](), [at], at + self.length(event.symbol)
        while places[-1] < end and symbols[places[-1]] != _NONE:
            was.append(symbols[places[-1]])
            places.append(following[places[-1]])
        return (tuple(was), (event.symbol,), places) if places[-1] == end else None

    def _covering(self, symbols: list[int]) -> list[int]:
        """Return a heap entry for every occurrence of a text that an event covers."""
        size, pieces, entries = len(symbols), self._vocabulary.pieces, list[int]()
        covers, longest, stop = self._vocabulary.tables.covers, self._vocabulary.tables.longest, self._end
        for start in range(size):
            text = b""
            for end in range(start, size):
                if symbols[end] == _NONE or len(text) > longest:
                    break
                text += pieces[symbols[end]]
                if (event_number := covers.get(text)) is not None and event_number < stop:
                    entries.append(event_number * size + start)
        return entries

    def _cells(self, units: Sequence[bytes]) -> tuple[list[int], list[int]]:
        known = self._units
        return [known.get(unit, _NONE) for unit in units], list(range(1, len(units) + 1))

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts. Each unknown unit is a part by itself."""
        symbols, following = self._cells(units)
        for number, _ in enumerate(self.changes(symbols, following, self.borders(units))):
            if number % ASKED_EVERY == 0:
                check()
        parts, at = list[WordPart](), 0
        while at < len(symbols):
            symbol, end = symbols[at], following[at]
            if symbol == _NONE:
                parts.append(WordPart(at, end))
            for part in self.output_of(symbol) if symbol != _NONE else ():
                parts.append(WordPart(at, at + self.length(part), part))
                at += self.length(part)
            at = end
        return parts

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[AppliedMerge | SplitStep]:
        """Yield each change in the order applied. Merges and covers appear as merges of the first part with
        the rest. Demoted symbols are split last."""
        symbols, following = self._cells(units)
        pieces, step_of = self._vocabulary.pieces, self._vocabulary.step_of
        for event_number, was, now, at in self.changes(symbols, following, self.borders(units)):
            rank = step_of(event_number) - 1
            if len(now) == 1:
                for left in range(1, len(was)):
                    piece = b"".join(pieces[symbol] for symbol in was[: left + 1])
                    result = pieces[now[0]] if left == len(was) - 1 else piece
                    yield AppliedMerge(
                        rank, b"".join(pieces[symbol] for symbol in was[:left]), pieces[was[left]], result,
                        at[0], at[left], at[left + 1],
                    )
            else:
                parts = tuple(pieces[symbol] for symbol in now)
                yield SplitStep(rank, pieces[was[0]], parts, at[1:-1], at[0], at[-1])
        at_unit = 0
        while at_unit < len(symbols):
            symbol, end = symbols[at_unit], following[at_unit]
            now_out = self.output_of(symbol)
            if len(now_out) > 1:
                places = [at_unit]
                for part in now_out:
                    places.append(places[-1] + self.length(part))
                shown = tuple(pieces[symbol] for symbol in now_out)
                rank = self._vocabulary.made_at(symbol) - 1
                yield SplitStep(rank, pieces[symbol], shown, tuple(places[1:-1]), at_unit, end)
            at_unit = end

    def history(self, units: Sequence[bytes]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield (step, symbols) of a word: step 0 before any event, then each step that changes it.

        Symbols that are demoted later are not replaced here; `segment` replaces them.
        """
        symbols, following = self._cells(units)
        last = 0

        def now() -> tuple[int, ...]:
            out, at = list[int](), 0
            while at < len(symbols):
                out.append(symbols[at])
                at = following[at]
            return tuple(out)

        state = now()
        for event_number, _, _, _ in self.changes(symbols, following, self.borders(units)):
            if (step := self._vocabulary.step_of(event_number)) != last:
                yield last, state
                last = step
            state = now()
        yield last, state
