"""The length in tokens of each named part of a corpus, at each step of a training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokentui.core.jobs import each
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.steps import Span, Word
from tokentui.text.count import Words

MOST_WORDS = 20_000
"""The most distinct words of a corpus whose parts are measured if a step may change any word."""


class PartLengths:
    """Cache of the length of each named part of a corpus, in tokens, by step.

    Args:
        words: The counted words, with the parts of the corpus that they occur in.
        weight: The value of the axis `weight`.
    """

    def __init__(self, words: Words, weight: str = "occurrences") -> None:
        self.words, self._weight = words, WEIGHTS.of(weight)
        self._parts: list[list[tuple[int, int]]] = []
        """For each word the index of each part that it occurs in, with its weight there."""
        self._known: list[tuple[int, ...]] = []
        """The lengths after the first steps of a training by merges, as far as they are known."""
        self._measured: dict[int, tuple[int, ...]] = {}
        """The lengths that `measured` has returned, by step."""

    def _parts_of_words(self) -> list[list[tuple[int, int]]]:
        """Return for each word its (part, weight) pairs; computed by the first call."""
        if not self._parts:
            index_of = {word: index for index, word in enumerate(self.words.words)}
            self._parts = [[] for _ in index_of]
            for number, part in enumerate(self.words.parts):
                weights = self._weight.of(part.words.counts)
                for word, weight in zip(part.words.words, weights, strict=True):
                    self._parts[index_of[word]].append((number, weight))
        return self._parts

    def _count(self, sizes: Callable[[int], int]) -> tuple[int, ...]:
        """Return the lengths, given a function that returns the number of tokens of the word at an index."""
        lengths = [0] * len(self.words.parts)
        for word, parts in each(enumerate(self._parts_of_words())):
            size = sizes(word)
            for part, weight in parts:
                lengths[part] += size * weight
        return tuple(lengths)

    def after_step(
        self, number: int, now: int, sizes: Callable[[int], int], merged: Callable[[int], Sequence[int]]
    ) -> tuple[int, ...]:
        """Return the length of each part after a step of a training by merges, and keep it.

        The first call counts all words; after that, the lengths follow from the places that each step
        merged. Lengths of steps after the current one come from the cache, until `forget` drops them.

        Args:
            number: The step.
            now: The current step of the training.
            sizes: Returns the number of tokens of a word at the current step, by the index of the word.
            merged: Returns for a step, at most the current one, the index of the word of each place that it
                merged. A word with several places is listed several times.

        Returns:
            An empty tuple for a step after the current one whose lengths are not in the cache.
        """
        if not self._known and not now:
            self._known = [self._count(sizes)]
        if not self._known:  # count now, and go back to the start
            lengths = [list(self._count(sizes))]
            for step in range(now, 0, -1):
                lengths.append(self._after_merges(lengths[-1], merged(step), 1))
            self._known = list(map(tuple, reversed(lengths)))
        while len(self._known) <= min(number, now):
            words = merged(len(self._known))
            self._known.append(tuple(self._after_merges(self._known[-1], words, -1)))
        return self._known[number] if number < len(self._known) else ()

    def _after_merges(self, lengths: Sequence[int], words: Sequence[int], sign: int) -> list[int]:
        """Return lengths after words have each lost a token (`sign` -1) or gained one (1)."""
        changed, parts = list(lengths), self._parts_of_words()
        for word in words:
            for part, weight in parts[word]:
                changed[part] += sign * weight
        return changed

    def forget(self, number: int) -> None:
        """Drop the cached lengths of all steps after one."""
        del self._known[number + 1 :]
        self._measured = {step: lengths for step, lengths in self._measured.items() if step <= number}

    def measured(self, number: int, segment: Callable[[Word], Sequence[Span]]) -> tuple[int, ...]:
        """Return the lengths after the step at which `segment` cuts words, by cutting all of them.

        For trainings whose steps may change any word. The result is cached: `segment` is not called again
        for the step.

        Returns:
            An empty tuple without named parts, or with more than `MOST_WORDS` words.
        """
        words = self.words.words
        if not self.words.parts or len(words) > MOST_WORDS:
            return ()
        if number not in self._measured:
            self._measured[number] = self._count(lambda word: len(segment(Word(words[word]))))
        return self._measured[number]
