"""Segmentations of a word into the fewest tokens, for PathPiece.

A word is a graph: its nodes are the places between units, and each token that occurs in it is an edge from
the place where it starts to the place where it ends. A segmentation is a path from the first place to the
last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from tokentui.core.jobs import check, each
from tokentui.core.safetext import to_bytes
from tokentui.encode.segment import ASKED_EVERY

STAYS = 1 << 62
"""The step that removes a token if none is known to."""


Edge = tuple[int, int, int]
"""A token in a word: the index of its first unit, the index after its last unit, and the number of the token,
-1 for a unit that is no token. A plain tuple: there is one for each token at each place."""


class UnitWord(NamedTuple):
    """A word cut into units.

    Attributes:
        text: Its bytes.
        offsets: The offset of each unit in these bytes, and their length.
        barriers: The indexes of the units that are no token, and that no token contains.
    """

    text: bytes
    offsets: tuple[int, ...]
    barriers: frozenset[int]

    @classmethod
    def of(cls, units: Sequence[bytes], barriers: Container[bytes]) -> UnitWord:
        """Return the word of some units. Units in `barriers` are no tokens."""
        offsets = tuple(accumulate(map(len, units), initial=0))
        apart = frozenset(index for index, unit in enumerate(units) if unit in barriers)
        return cls(b"".join(units), offsets, apart)

    def slice(self, start: int, end: int) -> bytes:
        """Return the bytes of the units from `start` up to `end`."""
        return self.text[self.offsets[start] : self.offsets[end]]

    def spans(self, longest: int) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each span of 2 to `longest` units that contains no barrier."""
        size = len(self.offsets) - 1
        for start in range(size):
            for end in range(start + 1, min(start + longest, size) + 1):
                if end - 1 in self.barriers:
                    break
                if end > start + 1:
                    yield start, end


def count_texts(
    words: Sequence[UnitWord], weights: Sequence[int], longest: int, specials: Sequence[str]
) -> Counter[bytes]:
    """Count each text of 2 to `longest` units that occurs inside words, by the weight of the words.

    The texts of special tokens are left out: they have an id already.
    """
    counts: Counter[bytes] = Counter()
    for word, weight in zip(each(words, len(words)), weights, strict=True):
        for start, end in word.spans(longest):
            counts[word.slice(start, end)] += weight
    for name in specials:
        counts.pop(to_bytes(name), None)
    return counts


def find_edges(
    word: UnitWord, step: int, numbers: Mapping[bytes, int], removed_at: Sequence[int], widest: int
) -> tuple[list[int], list[Edge]]:
    """Find the tokens that occur in a word after a step, and the fewest that reach each place.

    Args:
        word: The word.
        step: The step.
        numbers: The number of each token, by its bytes.
        removed_at: The step that removes each token.
        widest: The most units of a token.

    Returns:
        The fewest tokens from the start of the word up to each place, and the edges by their end. Of those
        with the same end the narrowest comes first.
    """
    text, offsets, barriers = word.text, word.offsets, word.barriers
    fewest, edges = [0], list[Edge]()
    for end in range(1, len(offsets)):
        if end % ASKED_EVERY == 0:
            check()
        best, stop = STAYS, offsets[end]
        for start in range(end - 1, max(0, end - widest) - 1, -1):
            token = numbers.get(text[offsets[start] : stop])
            if token is None or removed_at[token] <= step:
                if start < end - 1:
                    continue
                token = -1
            elif start == end - 1 and start in barriers:
                token = -1
            best = min(best, fewest[start] + 1)
            edges.append((start, end, token))
        fewest.append(best)
    return fewest, edges


def shortest_path(fewest: Sequence[int], edges: Sequence[Edge]) -> list[Edge]:
    """Return the segmentation of a word into the fewest tokens.

    Of several with equally few tokens it has the widest last token, then the widest one before that, and so
    on.

    Args:
        fewest, edges: See `find_edges`.
    """
    path, place = list[Edge](), len(fewest) - 1
    for start, end, token in reversed(edges):  # of the edges with one end the widest comes first
        if end == place and fewest[start] + 1 == fewest[end]:
            path.append((start, end, token))
            place = start
    return path[::-1]


def absence_costs(
    fewest: Sequence[int], edges: Sequence[Edge], path: Sequence[Edge]
) -> list[tuple[int, int]]:
    """Return each token of a segmentation with the tokens that the word gains if it is missing at its place.

    A token of one unit costs 0.

    Args:
        fewest, edges: See `find_edges`.
        path: The segmentation.
    """
    size = len(fewest) - 1
    costs = [(token, 0) for start, end, token in path if end == start + 1]
    wide = [edge for edge in path if edge[1] > edge[0] + 1]
    if not wide:
        return costs
    rest = [STAYS] * size + [0]  # the fewest tokens from each place to the end of the word
    for start, end, _ in sorted(edges, reverse=True):
        rest[start] = min(rest[start], rest[end] + 1)
    for start, end, token in wide:
        # Without the token another path has a place inside it, or an edge that reaches over it.
        best = min(fewest[place] + rest[place] for place in range(start + 1, end))
        for first, last, _ in edges:
            if first <= start and last >= end and last - first > end - start:
                best = min(best, fewest[first] + 1 + rest[last])
        costs.append((token, best - fewest[size]))
    return costs
