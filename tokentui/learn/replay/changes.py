"""The words of a corpus at any step of a replay: all that changes, in order of the steps, found once."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Sequence

from tokentui.core.jobs import tick
from tokentui.learn.replay.order import TokenOrder
from tokentui.learn.replay.segmentations import WordSegmentations

_LOOK_EVERY = 512
_NONE = -1
"""A token that has no symbol: what is unknown."""


class ChangeLog:
    """The changes of all words of a corpus.

    Args:
        order: The tokens in the order in which they come into use.
        words: The words.
        weights: The weight of each in the counts.
        fixed: The number of tokens of the corpus found by their names, which no step changes.
    """

    def __init__(self, order: TokenOrder, words: Sequence[str], weights: Sequence[int], fixed: int) -> None:
        segmentations = WordSegmentations(order)
        steps, numbers = array("l"), array("l")
        firsts, symbols, amounts = array("l", [0]), array("l"), array("q")
        self._of_word = array("l", [0])
        self._steps_of_words = array("l")
        for number, (word, weight) in enumerate(zip(words, weights, strict=True)):
            if number % _LOOK_EVERY == 0:
                tick(number, len(words))
            for step, change in segmentations.changes(word):
                if step:
                    self._steps_of_words.append(step)
                steps.append(step)
                numbers.append(number)
                for symbol, by in change.items():
                    symbols.append(_NONE if symbol is None else symbol)
                    amounts.append(by * weight)
                firsts.append(len(symbols))
            self._of_word.append(len(self._steps_of_words))
        tick(len(words), len(words))
        inside = sorted(range(len(steps)), key=steps.__getitem__)
        self._numbers = array("l", [numbers[at] for at in inside])
        self._steps = array("l", [steps[at] for at in inside])
        self._symbols, self._amounts, self._ends = array("l"), array("q"), array("l", [0])
        self._tokens = array("q", [fixed])
        for at in inside:
            self._symbols += symbols[firsts[at] : firsts[at + 1]]
            self._amounts += amounts[firsts[at] : firsts[at + 1]]
            self._ends.append(len(self._symbols))
            self._tokens.append(self._tokens[-1] + sum(amounts[firsts[at] : firsts[at + 1]]))

    @property
    def memory(self) -> int:
        """The size of the changes of all steps in bytes."""
        arrays = (
            self._of_word, self._steps_of_words, self._numbers, self._steps, self._symbols, self._amounts, self._ends,
            self._tokens,
        )
        return sum(one.itemsize * len(one) for one in arrays)

    def tokens_at(self, steps: int) -> int:
        """The corpus in tokens after so many steps."""
        return self._tokens[bisect.bisect_right(self._steps, steps)]

    def walk(self, uses: list[int], start: int, end: int) -> None:
        """Change the uses of each symbol from those after `start` steps to those after `end`; `start` -1 is
        before anything."""
        low, high = sorted((bisect.bisect_right(self._steps, start), bisect.bisect_right(self._steps, end)))
        sign = 1 if end > start else -1
        for symbol, amount in zip(
            self._symbols[
                self._ends[low] : self._ends[high]
            ], self._amounts[self._ends[low] : self._ends[high]], strict=True
        ):
            if symbol != _NONE:
                uses[symbol] += sign * amount

    def places(self, step: int, symbol: int) -> int:
        """The number of tokens that a step makes of its symbol, by weight."""
        low, high = self._span(step)
        first, last = self._ends[low], self._ends[high]
        return sum(
            amount for one, amount in zip(
                self._symbols[first:last], self._amounts[first:last], strict=True
            ) if one == symbol
        )

    def touched(self, step: int) -> Sequence[int]:
        """The words, by their number, that a step changes."""
        low, high = self._span(step)
        return self._numbers[low:high]

    def since(self, word: int, steps: int) -> int:
        """The step since which a word is cut as it is after so many steps."""
        low, high = self._of_word[word], self._of_word[word + 1]
        at = bisect.bisect_right(self._steps_of_words, steps, low, high)
        return self._steps_of_words[at - 1] if at > low else 0

    def _span(self, step: int) -> tuple[int, int]:
        return bisect.bisect_left(self._steps, step), bisect.bisect_right(self._steps, step)
