"""The words of a corpus after any number of births: all that changes, in order of the births, found once."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Sequence

from tokentui.learn.base import Cancel, Progress
from tokentui.learn.replay.cutter import Cutter
from tokentui.learn.replay.order import Order
from tokentui.learn.walking import look

_LOOK_EVERY = 512
_NONE = -1
"""A token that has no symbol: what is unknown."""


class Histories:
    """All words of a corpus.

    Args:
        order: The births.
        words: The words.
        weights: How often each counts.
        fixed: Tokens that no birth changes (those found by their names) with how often each stands.
        progress: Told (done, total) in words.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """

    def __init__(
        self, order: Order, words: Sequence[str], weights: Sequence[int], fixed: int, progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        cutter = Cutter(order)
        births, numbers = array("l"), array("l")
        firsts, symbols, amounts = array("l", [0]), array("l"), array("q")
        self._of_word = array("l", [0])
        self._births_of_words = array("l")
        for number, (word, weight) in enumerate(zip(words, weights, strict=True)):
            if number % _LOOK_EVERY == 0:
                look(progress, cancel, number, len(words))
            for birth, change in cutter.changes(word):
                if birth:
                    self._births_of_words.append(birth)
                births.append(birth)
                numbers.append(number)
                for symbol, by in change.items():
                    symbols.append(_NONE if symbol is None else symbol)
                    amounts.append(by * weight)
                firsts.append(len(symbols))
            self._of_word.append(len(self._births_of_words))
        look(progress, cancel, len(words), len(words))
        inside = sorted(range(len(births)), key=births.__getitem__)
        self._numbers = array("l", [numbers[at] for at in inside])
        self._births = array("l", [births[at] for at in inside])
        self._symbols, self._amounts, self._ends = array("l"), array("q"), array("l", [0])
        self._tokens = array("q", [fixed])
        for at in inside:
            self._symbols += symbols[firsts[at] : firsts[at + 1]]
            self._amounts += amounts[firsts[at] : firsts[at + 1]]
            self._ends.append(len(self._symbols))
            self._tokens.append(self._tokens[-1] + sum(amounts[firsts[at] : firsts[at + 1]]))

    @property
    def memory(self) -> int:
        """How many bytes the changes of all births take."""
        arrays = (
            self._of_word, self._births_of_words, self._numbers, self._births, self._symbols, self._amounts, self._ends,
            self._tokens,
        )
        return sum(one.itemsize * len(one) for one in arrays)

    def tokens_at(self, births: int) -> int:
        """The corpus in tokens after so many births."""
        return self._tokens[bisect.bisect_right(self._births, births)]

    def walk(self, uses: list[int], start: int, end: int) -> None:
        """Change the uses of each symbol from those after `start` births to those after `end`; `start` -1 is before anything."""
        low, high = sorted((bisect.bisect_right(self._births, start), bisect.bisect_right(self._births, end)))
        sign = 1 if end > start else -1
        for symbol, amount in zip(
            self._symbols[self._ends[low] : self._ends[high]], self._amounts[self._ends[low] : self._ends[high]], strict=True
        ):
            if symbol != _NONE:
                uses[symbol] += sign * amount

    def places(self, birth: int, symbol: int) -> int:
        """How many tokens a birth makes of its symbol, by weight."""
        low, high = self._span(birth)
        first, last = self._ends[low], self._ends[high]
        return sum(
            amount for one, amount in zip(self._symbols[first:last], self._amounts[first:last], strict=True) if one == symbol
        )

    def touched(self, birth: int) -> Sequence[int]:
        """The words, by their number, that a birth changes."""
        low, high = self._span(birth)
        return self._numbers[low:high]

    def since(self, word: int, births: int) -> int:
        """The birth since which a word is cut as it is after so many births."""
        low, high = self._of_word[word], self._of_word[word + 1]
        at = bisect.bisect_right(self._births_of_words, births, low, high)
        return self._births_of_words[at - 1] if at > low else 0

    def _span(self, birth: int) -> tuple[int, int]:
        return bisect.bisect_left(self._births, birth), bisect.bisect_right(self._births, birth)
