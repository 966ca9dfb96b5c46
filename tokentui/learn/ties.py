"""Which of several equally good pairs is taken. One record a rule in `TIES`.

A rule gives each pair a key; the smallest key wins. Keys of the fixed rules follow from the two symbols alone. The key of
`first-seen` is the first place where the pair still stands, which is the order of a recount from scratch: words in order of first
appearance, then the place in the word. It moves only when the pair's count falls, so a queue that looks at the count sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokentui.core.choices import Axis, Choice
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.cells import Cells

Key = Callable[[int], Any]
"""The key of a pair, by its index."""

_INVERT = bytes(range(255, -1, -1))
_AFTER_ALL = "\u0100"


def _first_seen(cells: Cells, vocabulary: Vocabulary) -> Key:
    def key(pair: int) -> int:
        places = cells.places[pair]
        head = cells.first_place(pair)
        return places[head] if head < len(places) else len(cells.symbols)

    return key


def _largest_pair(cells: Cells, vocabulary: Vocabulary) -> Key:
    # The inverted bytes, then a letter after all of them: a longer string comes before its own beginning.
    inverted: list[str] = []

    def key(pair: int) -> tuple[str, str]:
        new = vocabulary.pieces[len(inverted) :]
        inverted.extend(piece.translate(_INVERT).decode("latin-1") + _AFTER_ALL for piece in new)
        return inverted[cells.left[pair]], inverted[cells.right[pair]]

    return key


def _smallest_pair(cells: Cells, vocabulary: Vocabulary) -> Key:
    pieces = vocabulary.pieces
    return lambda pair: (pieces[cells.left[pair]], pieces[cells.right[pair]])


def _lowest_ids(cells: Cells, vocabulary: Vocabulary) -> Key:
    orders: list[int] = []
    lefts, rights = cells.left, cells.right

    def key(pair: int) -> int:
        left, right = lefts[pair], rights[pair]
        if left >= len(orders) or right >= len(orders):
            orders.extend(map(vocabulary.order_of, range(len(orders), len(vocabulary.pieces))))
        return orders[left] << 40 | orders[right]

    return key


def _shortest(cells: Cells, vocabulary: Vocabulary) -> Key:
    length = cells.length

    def key(pair: int) -> tuple[int, bytes]:
        left, right = cells.left[pair], cells.right[pair]
        return length[left] + length[right], vocabulary.join(left, right)

    return key


@dataclass(frozen=True, slots=True, kw_only=True)
class TieRule(Choice):
    """A rule.

    Attributes:
        why: The words after its name in the sentence that explains a step.
        key: Makes the key of a pair for the corpus as it is cut and its vocabulary; the smallest key wins.
        kernel: True if the kernels of merges have it, under its name; else plain Python trains.
    """

    why: str
    key: Callable[[Cells, Vocabulary], Key]
    kernel: bool = False


TIES = Axis(
    "tie", "which of several equal pairs is taken",
    TieRule(
        "first-seen", "the one that stands first in the corpus", why="takes the one that stands first in the corpus",
        key=_first_seen, kernel=True,
    ),
    TieRule(
        "largest-pair", "the last in alphabetical order of (left, right)",
        why="takes the last in alphabetical order", key=_largest_pair, kernel=True,
    ),
    TieRule(
        "smallest-pair", "the first in alphabetical order of (left, right)",
        why="takes the first in alphabetical order", key=_smallest_pair, kernel=True,
    ),
    TieRule(
        "lowest-ids", "the one with the smallest (left id, right id)", why="takes the one of the smallest ids",
        key=_lowest_ids, kernel=True,
    ),
    TieRule(
        "shortest", "the one with fewer characters, then alphabetical",
        why="takes the one of fewer characters, then the first in alphabetical order", key=_shortest, kernel=True,
    ),
)
"""The rules, by name."""
