"""A vocabulary of events: symbols come, leave, and come back with other parts.

It holds the steps of a training that does more than one merge per step. New text is encoded by the events too
(`tokentui.encode.segment.replaying`). Like every vocabulary, it can be read at any number of steps.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import BY_EVENTS, ENCODING_WAYS, EncodingWay
from tokentui.encode.vocabulary import NO_ID, Vocabulary
from tokentui.recipe import Recipe


class EventKind(StrEnum):
    """What an event does to the corpus or to the vocabulary."""

    MERGE = "merge"  # parts are replaced by a symbol
    SPLIT = "split"  # a symbol is replaced by its parts everywhere, and leaves the vocabulary
    BREAK = "break"  # a symbol is replaced by its parts everywhere, and keeps its id
    REMOVE = "remove"  # a symbol leaves the vocabulary; nothing in the corpus changes
    RESTORE = "restore"  # a removed symbol is in the vocabulary again
    DEMOTE = "demote"  # a symbol still merges, but is no output
    UNLOCK = "unlock"  # a whole pre-token may merge with its neighbors
    COVER = "cover"  # a symbol replaces all symbols that spell its text
    SWITCH = "switch"  # the corpus is split in another way
    SCORES = "scores"  # all pieces get new scores
    TOKEN = "token"  # a token of a file comes into use


class Event(NamedTuple):
    """One event of a step.

    Attributes:
        kind: What it does.
        symbol: The symbol that is added, removed or changed; -1 for `SWITCH` and `SCORES`.
        parts: The symbols that it is made of (`MERGE`, `COVER`), or that replace it (`SPLIT`, `BREAK`,
            `REMOVE`, `DEMOTE`).
        places: The number of places where it could be done, weighted by word counts.
        replaced: The number of places where it was done, weighted. Of overlapping places only one is.
        view: The view of the corpus that it changes: 0 for words, 1 for documents as rows of pre-tokens.
    """

    kind: EventKind
    symbol: int
    parts: tuple[int, ...] = ()
    places: int = 0
    replaced: int = 0
    view: int = 0


MAKING = (EventKind.MERGE, EventKind.COVER, EventKind.TOKEN, EventKind.RESTORE)
"""The events that add a symbol."""
LEAVING = (EventKind.SPLIT, EventKind.REMOVE, EventKind.DEMOTE)
"""The events that remove a symbol from the vocabulary."""


class Tables:
    """Indices of events (numbers from 0, ascending) by what they apply to.

    Attributes:
        merges: The events that merge each pair inside words.
        joins: The events that merge each pair of whole words.
        splits: The events that split each symbol.
        covers: The first event that covers each text.
        longest: The largest number of bytes of a covered text.
        widest: The largest number of parts of a merge.
    """

    def __init__(self) -> None:
        self.merges: dict[tuple[int, ...], list[int]] = {}
        self.joins: dict[tuple[int, ...], list[int]] = {}
        self.splits: dict[int, list[int]] = {}
        self.covers: dict[bytes, int] = {}
        self.longest = 0
        self.widest = 2

    def add(self, number: int, event: Event, pieces: Sequence[bytes]) -> None:
        """Add the next event."""
        if event.kind is EventKind.MERGE:
            (self.joins if event.view else self.merges).setdefault(event.parts, []).append(number)
            self.widest = max(self.widest, len(event.parts))
        elif event.kind in (EventKind.SPLIT, EventKind.BREAK):
            self.splits.setdefault(event.symbol, []).append(number)
        elif event.kind is EventKind.COVER:
            self.covers.setdefault(pieces[event.symbol], number)
            self.longest = max(self.longest, len(pieces[event.symbol]))


class EventVocabulary(Vocabulary):
    """A vocabulary whose steps have any number of events: a symbol may come, leave, and come back with other
    parts.

    Symbols and events are only appended. A symbol keeps its id while it is absent. `merges` and `counts` have
    the parts and the count of the first event of each step.

    >>> vocabulary = EventVocabulary(Recipe(), [b"e", b"s", b"t"])
    >>> es, est = vocabulary.named(b"es"), vocabulary.named(b"est")
    >>> made, gone = Event(EventKind.MERGE, es, (0, 1)), Event(EventKind.SPLIT, es, (0, 1))
    >>> for step in ([made], [Event(EventKind.MERGE, est, (es, 2)), gone], [made]):
    ...     vocabulary.step(step)
    >>> [[vocabulary.pieces[symbol] for symbol in vocabulary.symbols(number)][3:] for number in range(4)]
    [[], [b'es'], [b'est'], [b'es', b'est']]
    >>> vocabulary.sizes, vocabulary.made_at(est), vocabulary.parts(est)
    ([3, 4, 4, 5], 2, (3, 2))
    """

    eventful, plain_merges = True, False

    def __init__(
        self, recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0, *,
        within: str = "",
    ) -> None:
        super().__init__(recipe, base, specials, first_id)
        if self.base_last:  # its ids would move when a symbol leaves
            raise TokentuiError("tokens can be removed, so the ids of the base come first",
                f"base={recipe.base}")
        self.within = within
        """The split of the words inside a pre-token. Events of view 0 do not cross these words; events of
        view 1 join them. Empty if a pre-token is a word."""
        self.events: list[Event] = []
        """The events of all steps, in order."""
        self.tables = Tables()
        self.ends: list[int] = [0]
        """The number of events after each number of steps."""
        self.demoted: dict[int, tuple[int, tuple[int, ...]]] = {}
        """The step at which each symbol was demoted, and the parts that replaced it."""
        self._named = dict(self.units)
        self._makings: dict[int, tuple[int, Event]] = {}
        """The first step that made each symbol, and the event."""
        self._toggles: dict[int, list[int]] = {symbol: [0] for symbol in range(self.base_size)}
        """The steps at which each symbol was alternately added and removed."""
        self._present_count = self.base_size
        """The number of symbols in the vocabulary after the last step."""

    def way(self, merges: int) -> EncodingWay | None:
        """Return the way that replays events if the recipe says `merges`, else None."""
        return BY_EVENTS if ENCODING_WAYS.of(self.recipe.encode).by_rank else super().way(merges)

    def named(self, piece: bytes) -> int:
        """Return the symbol with these bytes, creating one if there is none. A new symbol is not in the
        vocabulary until an event adds it."""
        if piece not in self._named:
            self._named[piece] = len(self.pieces)
            self.pieces.append(piece)
            self.order.append(NO_ID)
        return self._named[piece]

    def symbol(self, piece: bytes) -> int | None:
        """Return the symbol with these exact bytes, or None."""
        return self._named.get(piece)

    def step(self, events: Iterable[Event]) -> None:
        """Append a step of events.

        Events are applied one by one. An iterator may read the state after one event, at this step, to decide
        on the next.
        """
        step, first = len(self.sizes), len(self.events)
        for event in events:
            self.tables.add(len(self.events), event, self.pieces)
            self.events.append(event)
            if event.kind is EventKind.DEMOTE:
                self.demoted.setdefault(event.symbol, (step, event.parts))
            symbol, makes = event.symbol, event.kind in MAKING
            if makes and symbol not in self._makings:
                self._makings[symbol] = step, event
                if symbol not in self._toggles:
                    special = self._special_ids.get(self.pieces[symbol])
                    if special is None:
                        special, self._next_id = self._next_id, self._next_id + 1
                    else:
                        self.borrowed.add(symbol)
                    self.order[symbol] = special
            if (makes or event.kind in LEAVING) and self.is_present(symbol, step) != makes:
                self._toggles.setdefault(symbol, []).append(step)
                self._present_count += (1 if makes else -1) * (symbol not in self.borrowed)
        self.ends.append(len(self.events))
        taken = self.events[first] if len(self.events) > first else Event(EventKind.SWITCH, -1)
        self.merges.append(taken.parts)  # type: ignore[arg-type]  # a cover is made of any number of parts
        self.counts.append(taken.places)
        self.sizes.append(self.sizes[0] - self.base_size + self._present_count)

    def made_by(self, step: int) -> int:
        """Return the symbol of the first event of a step (from 1), `NO_ID` if the step has no events."""
        first, end = self.ends[step - 1 : step + 1]
        return self.events[first].symbol if end > first else NO_ID

    def is_present(self, symbol: int, merges: int) -> bool:
        """Return whether a symbol is in the vocabulary after a number of steps."""
        return bisect.bisect_right(self._toggles.get(symbol, ()), merges) % 2 == 1

    def step_of(self, event: int) -> int:
        """Return the step of an event (from 0)."""
        return bisect.bisect_right(self.ends, event)

    def symbols(self, merges: int) -> list[int]:
        """Return the symbols after a number of steps, in the order in which they were first named."""
        return [symbol for symbol in sorted(self._toggles) if self.is_present(symbol, merges)]

    def parts(self, symbol: int) -> tuple[int, ...]:
        """Return the symbols that a symbol was first made of; empty for a unit, or if no event made it."""
        making = self._makings.get(symbol)
        return () if making is None or symbol < self.base_size else making[1].parts

    def made_at(self, symbol: int) -> int:
        """Return the first step that made a symbol; 0 for a unit, or if no event made it."""
        making = self._makings.get(symbol)
        return 0 if making is None or symbol < self.base_size else making[0]

    def count_of(self, symbol: int) -> int:
        """Return the number of places of a symbol when it was first made, 0 if no event made it."""
        making = self._makings.get(symbol)
        return 0 if making is None else making[1].places

    def makings(self, merges: int) -> list[tuple[int, tuple[int, ...]]]:
        """Return (symbol, parts) of each event up to a step that adds a symbol that is still present, in
        order."""
        return [
            (event.symbol, event.parts) for event in self.events[: self.ends[merges]]
            if event.kind in MAKING and self.is_present(event.symbol, merges)
        ]

    def truncated(self, merges: int) -> EventVocabulary:
        """Return a vocabulary with only the first `merges` steps and their symbols, which grows by itself."""
        shorter = EventVocabulary(
            self.recipe, self.pieces[: self.base_size], self.specials, self.first_id, within=self.within
        )
        last = max((event.symbol for event in self.events[: self.ends[merges]]), default=-1)
        for piece in self.pieces[: last + 1]:
            shorter.named(piece)
        for first, end in zip(self.ends[:merges], self.ends[1 : merges + 1], strict=True):
            shorter.step(self.events[first:end])
        return shorter
