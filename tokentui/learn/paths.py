"""The ways through a word for PathPiece, and what a step of it was; see `pathpiece`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from tokentui.core.jobs import check, each
from tokentui.core.safetext import to_bytes
from tokentui.encode.segment import ASKED_EVERY
from tokentui.learn.values import Step

STAYS = 1 << 62
"""The step at which a token leaves that is not known to."""
Place = tuple[int, int, int]
"""A token in a word: the first unit, the one behind it, and its number; -1 for a unit that is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalStep(Step):
    """Tokens that left.

    Attributes:
        removed: Their exact bytes, the first to go first.
        cost: The sum of their costs, as they were judged.
        longer: By how many tokens the corpus became longer.
    """

    removed: tuple[bytes, ...]
    cost: int
    longer: int

    @property
    def said(self) -> str:
        """The step in words."""
        names = [piece.decode("utf-8", "replace").replace(" ", "·") for piece in self.removed[:3]]
        more = f" and {len(self.removed) - 3:,} more" if len(self.removed) > 3 else ""
        return f"remove {', '.join(names)}{more}: {self.longer:,} token{'s' * (self.longer != 1)} more"

    @property
    def decision(self) -> tuple[bytes, ...]:
        """The tokens that left."""
        return self.removed

    @property
    def row(self) -> dict[str, Any]:
        """Its row in a trace for machines."""
        return {
            "step": self.number, "kind": self.kind, "hex": [piece.hex() for piece in self.removed],
            "removed": [piece.decode("utf-8", "replace") for piece in self.removed], "cost": self.cost,
            "tied": self.tied, "tokens": self.tokens, "vocab_size": self.vocab_size,
        }


class Removed(NamedTuple):
    """A known step: the tokens, by their numbers, with what each cost and how often it stood, how many shared
    the least cost, and the length of the corpus after it."""

    tokens: tuple[int, ...]
    costs: tuple[int, ...]
    uses: tuple[int, ...]
    tied: int
    length: int


class Spelled(NamedTuple):
    """A word: its bytes, the place of each unit in them and their end, and which units are no token."""

    text: bytes
    places: tuple[int, ...]
    apart: frozenset[int]

    @classmethod
    def of(cls, units: Sequence[bytes], apart: Container[bytes]) -> Spelled:
        """The word of these units, some of which stand apart."""
        places = tuple(accumulate(map(len, units), initial=0))
        return cls(b"".join(units), places, frozenset(at for at, unit in enumerate(units) if unit in apart))

    def part(self, first: int, last: int) -> bytes:
        """The bytes of some units."""
        return self.text[self.places[first] : self.places[last]]

    def stretches(self, longest: int) -> Iterator[tuple[int, int]]:
        """The stretches of two or more units, at most so many, that hold none which is apart."""
        size = len(self.places) - 1
        for first in range(size):
            for last in range(first + 1, min(first + longest, size) + 1):
                if last - 1 in self.apart:
                    break
                if last > first + 1:
                    yield first, last


def counted(
    words: Sequence[Spelled], weights: Sequence[int], longest: int, specials: Sequence[str]
) -> Counter[bytes]:
    """The count of each text of two or more units, at most so many, that stands inside words. A special token
    is no such text: it has an id already."""
    counts: Counter[bytes] = Counter()
    for word, weight in zip(each(words, len(words)), weights, strict=True):
        for first, last in word.stretches(longest):
            counts[word.part(first, last)] += weight
    for name in specials:
        counts.pop(to_bytes(name), None)
    return counts


def ways(
    word: Spelled, number: int, of: Mapping[bytes, int], gone: Sequence[int], widest: int
) -> tuple[list[int], list[Place]]:
    """The fewest tokens up to each place of a word, and all tokens in it after a step.

    Args:
        word: The word.
        number: The step.
        of: The number of each token by its bytes.
        gone: The step at which each leaves.
        widest: The most units of a token.
    """
    text, places, apart = word.text, word.places, word.apart
    fewest, found = [0], list[Place]()
    for last in range(1, len(places)):
        if last % ASKED_EVERY == 0:
            check()
        best, end = STAYS, places[last]
        for first in range(last - 1, max(0, last - widest) - 1, -1):
            token = of.get(text[places[first] : end])
            if token is None or gone[token] <= number:
                if first < last - 1:
                    continue
                token = -1
            elif first == last - 1 and first in apart:
                token = -1
            best = min(best, fewest[first] + 1)
            found.append((first, last, token))
        fewest.append(best)
    return fewest, found


def shortest(fewest: Sequence[int], found: Sequence[Place]) -> list[Place]:
    """The tokens of a word: of equally few those with the widest last one, all the way back."""
    path, end = list[Place](), len(fewest) - 1
    for first, last, token in reversed(found):  # of those with one end the widest comes first
        if last == end and fewest[first] + 1 == fewest[last]:
            path.append((first, last, token))
            end = first
    return path[::-1]


def absences(fewest: Sequence[int], found: Sequence[Place], path: Sequence[Place]) -> list[tuple[int, int]]:
    """Of each token of a word by how many tokens the word is longer without it at its place; 0 for a unit."""
    size = len(fewest) - 1
    out = [(token, 0) for first, last, token in path if last == first + 1]
    wide = [one for one in path if one[1] > one[0] + 1]
    if not wide:
        return out
    rest = [STAYS] * size + [0]
    for first, last, _ in sorted(found, reverse=True):
        rest[first] = min(rest[first], rest[last] + 1)
    for first, last, token in wide:
        best = min(fewest[at] + rest[at] for at in range(first + 1, last))
        for start, end, _ in found:
            if start <= first and end >= last and end - start > last - first:
                best = min(best, fewest[start] + 1 + rest[end])
        out.append((token, best - fewest[size]))
    return out
