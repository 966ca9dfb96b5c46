"""A vocabulary of events: symbols that come, leave, and come back made of other parts.

Trainers whose steps are more than one merge keep theirs so. It is read at any number of steps, as every
vocabulary is.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.encode.vocabulary import NO_ID, Vocabulary
from tokentui.recipe import Recipe


class Making(NamedTuple):
    """An event of a vocabulary.

    Attributes:
        number: The step that it belongs to, 1 for the first.
        symbol: The symbol.
        parts: The symbols that it is made of, any number of them; None where it leaves the vocabulary.
    """

    number: int
    symbol: int
    parts: tuple[int, ...] | None


class EventVocabulary(Vocabulary):
    """A vocabulary whose steps are any number of events: a symbol comes, leaves, comes back of other parts.

    Symbols and events are only appended. A symbol has one id, which it keeps when it is away. No way of
    encoding reads the events yet: a tokenizer of it lists its ids and decodes them.

    >>> vocabulary = EventVocabulary(Recipe(), [b"e", b"s", b"t"])
    >>> es, est = vocabulary.named(b"es"), vocabulary.named(b"est")
    >>> for step in ([(es, (0, 1))], [(est, (es, 2)), (es, None)], [(es, (0, 1))]):
    ...     vocabulary.step(step)
    >>> [[vocabulary.pieces[symbol] for symbol in vocabulary.symbols(number)][3:] for number in range(4)]
    [[], [b'es'], [b'est'], [b'es', b'est']]
    >>> vocabulary.sizes, [event.number for event in vocabulary.events if event.symbol == es]
    ([3, 4, 4, 5], [1, 2, 3])
    """

    encodes = False

    def __init__(
        self, recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0
    ) -> None:
        super().__init__(recipe, base, specials, first_id)
        if self.base_last:  # its ids would move when a symbol leaves
            raise TokentuiError("symbols leave: the ids of the base come first", f"base={recipe.base}")
        self.events: list[Making] = []
        """The events of all steps, in order."""
        self._named = dict(self.units)
        self._turns: dict[int, list[int]] = {symbol: [0] for symbol in range(self.base_size)}
        """The steps at which each symbol came and left, in turn."""

    def named(self, piece: bytes) -> int:
        """The symbol of these bytes. A new one is not in the vocabulary before an event makes it."""
        if piece not in self._named:
            self._named[piece] = len(self.pieces)
            self.pieces.append(piece)
            self.order.append(NO_ID)
        return self._named[piece]

    def step(self, events: Iterable[tuple[int, tuple[int, ...] | None]]) -> None:
        """Append a step of events, each a symbol with its parts, or None where it leaves.

        They are taken in one by one: the next may depend on what is there after the one before, at the number
        of this step.
        """
        number = len(self.sizes)
        for symbol, parts in events:
            self.events.append(Making(number, symbol, parts))
            if parts is not None and symbol not in self._turns:
                self.order[symbol], self._next_id = self._next_id, self._next_id + 1
            if self.is_there(symbol, number) != (parts is not None):
                self._turns.setdefault(symbol, []).append(number)
        self.sizes.append(self.sizes[0] - self.base_size + len(self.symbols(number)))

    def is_there(self, symbol: int, number: int) -> bool:
        """True if a symbol is in the vocabulary after so many steps."""
        return bisect.bisect_right(self._turns.get(symbol, ()), number) % 2 == 1

    def symbols(self, merges: int) -> list[int]:
        """The symbols after so many steps, in the order in which they were named."""
        return [symbol for symbol in sorted(self._turns) if self.is_there(symbol, merges)]

    def copy(self, merges: int) -> EventVocabulary:
        """A vocabulary of its own with the first so many steps and all symbols."""
        copy = EventVocabulary(self.recipe, self.pieces[: self.base_size], self.specials, self.first_id)
        for piece in self.pieces:
            copy.named(piece)
        steps: list[list[tuple[int, tuple[int, ...] | None]]] = [[] for _ in range(merges)]
        for number, symbol, parts in self.events:
            if number <= merges:
                steps[number - 1].append((symbol, parts))
        for step in steps:
            copy.step(step)
        return copy
