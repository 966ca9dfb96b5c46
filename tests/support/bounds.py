"""Tiny corpora for lower bounds on tokens, and searches for their bounds."""

from __future__ import annotations

import random
from collections import Counter

from tokentui.learn.lower_bound import BoundSearch, Candidates, WordRow


def rows(words: dict[str, int]) -> list[WordRow]:
    """The words by letters."""
    return [WordRow([letter.encode() for letter in word], count) for word, count in words.items()]


def made_up(numbers: random.Random) -> dict[str, int]:
    """A tiny corpus with few texts."""
    counts: Counter[str] = Counter()
    for _ in range(numbers.randint(2, 5)):
        counts["".join(numbers.choices("abc", k=numbers.randint(1, 4)))] += numbers.randint(1, 9)
    return dict(counts)


def corpora(count: int) -> list[tuple[dict[str, int], int]]:
    """Tiny corpora, each with a number of tokens."""
    numbers = random.Random(5)
    return [(made_up(numbers), numbers.randint(1, 3)) for _ in range(count)]


def searched(words: dict[str, int], k: int, rounds: int = 400) -> BoundSearch:
    """A search for the bound of `k` tokens, after its rounds."""
    search = BoundSearch(Candidates(rows(words)), k, 10**9)
    search.run(rounds)
    return search
