"""The length of each named part of a corpus in tokens, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokentui.core.jobs import each
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.steps import Span, Word
from tokentui.text.count import Words

MOST_WORDS = 20_000
"""Where a step changes any word, the parts of a corpus of more distinct words are not measured."""


class Lengths:
    """The lengths of the parts of a corpus.

    Args:
        words: The words, with the parts that they are of.
        weight: The weight of words, a value of that axis.
    """

    def __init__(self, words: Words, weight: str = "occurrences") -> None:
        self.words, self._weight = words, WEIGHTS.of(weight)
        self._of: list[list[tuple[int, int]]] = []
        """The parts that each word stands in, with its weight there."""
        self._known: list[tuple[int, ...]] = []
        """The lengths after the first steps of a training by merges."""
        self._seen: dict[int, tuple[int, ...]] = {}

    def _parts_of(self) -> list[list[tuple[int, int]]]:
        if not self._of:
            number = {word: at for at, word in enumerate(self.words.words)}
            self._of = [[] for _ in number]
            for at, part in enumerate(self.words.parts):
                weights = self._weight.of(part.words.counts)
                for word, weight in zip(part.words.words, weights, strict=True):
                    self._of[number[word]].append((at, weight))
        return self._of

    def counted(self, sizes: Callable[[int], int]) -> tuple[int, ...]:
        """The lengths now, by the number of tokens of each word."""
        found = [0] * len(self.words.parts)
        for word, parts in each(enumerate(self._parts_of())):
            size = sizes(word)
            for part, weight in parts:
                found[part] += size * weight
        return tuple(found)

    def after(
        self, number: int, now: int, sizes: Callable[[int], int], merged: Callable[[int], Sequence[int]]
    ) -> tuple[int, ...]:
        """The lengths after a step of a training by merges; empty where that is not known.

        Args:
            number: The step.
            now: The step at which the training stands.
            sizes: The tokens of a word now, by its number.
            merged: The word of each place that a step up to this one merged.
        """
        if not self._known and not now:
            self._known = [self.counted(sizes)]
        if not self._known:  # back from this step to the start
            lengths = [list(self.counted(sizes))]
            for step in range(now, 0, -1):
                lengths.append(self._moved(lengths[-1], merged(step), 1))
            self._known = [tuple(one) for one in reversed(lengths)]
        while len(self._known) <= min(number, now):
            self._known.append(tuple(self._moved(self._known[-1], merged(len(self._known)), -1)))
        return self._known[number] if number < len(self._known) else ()

    def _moved(self, lengths: Sequence[int], words: Sequence[int], sign: int) -> list[int]:
        """Lengths after some words have lost a token each, or with `sign` 1 before."""
        found, parts = list(lengths), self._parts_of()
        for word in words:
            for part, weight in parts[word]:
                found[part] += sign * weight
        return found

    def forget(self, number: int) -> None:
        """Forget what came after a step."""
        del self._known[number + 1 :]
        self._seen = {step: lengths for step, lengths in self._seen.items() if step <= number}

    def seen(self, number: int, segment: Callable[[Word], Sequence[Span]]) -> tuple[int, ...]:
        """The lengths at the present step, where a step may change any word; empty where there are too many
        words for that."""
        words = self.words.words
        if not self.words.parts or len(words) > MOST_WORDS:
            return ()
        if number not in self._seen:
            self._seen[number] = self.counted(lambda word: len(segment(Word(words[word]))))
        return self._seen[number]
