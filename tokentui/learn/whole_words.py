"""Documents as rows of whole words, whose pairs may be joined: the second view of `boundless`."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, cast

from tokentui.core.jobs import each
from tokentui.encode.events import EventVocabulary
from tokentui.learn.bases import FILTERS
from tokentui.learn.events import EventPairs
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import TIES
from tokentui.learn.values import Constraints, Event

if TYPE_CHECKING:
    import regex


@functools.cache
def _letters() -> regex.Pattern[str]:
    import regex

    return regex.compile(r"[\p{L}\p{M} _'’]*(?<=.)[\p{L}\p{M}][\p{L}\p{M} _'’]*")


def unlockable(text: bytes) -> bool:
    """True if a token may join whole neighbours: letters, marks, spaces, underscores and apostrophes, with a
    letter that is not the first character."""
    return _letters().fullmatch(text.decode("utf-8", "replace")) is not None


class _Items:
    """The whole words of the rows, as tie rules see a vocabulary.

    Attributes:
        pieces: The bytes of each.
    """

    def __init__(self, pieces: list[bytes], order: Callable[[bytes], int]) -> None:
        self.pieces, self._order = pieces, order

    def join(self, left: int, right: int) -> bytes:
        """The bytes of both."""
        return self.pieces[left] + self.pieces[right]

    @property
    def order(self) -> _Items:
        """The ids, by item."""
        return self

    def __getitem__(self, item: int) -> int:
        return self._order(self.pieces[item])


class View(EventPairs):
    """A view: pairs whose places do not overlap, and whose bytes no token has yet."""

    taken: set[bytes]
    local = False

    def pairs_of(self, word: Sequence[int]) -> Iterable[tuple[int, int]]:
        """The places of pairs; of a run of one symbol every other one."""
        last = -2
        for at, pair in enumerate(pairwise(word)):
            if pair[0] == pair[1] and last == at - 1 and word[at - 1] == pair[0]:
                last = -2
                continue
            last = at
            yield pair

    def number_of(self, parts: tuple[int, int]) -> int:
        """The number of a pair; its bytes are noted with it."""
        known = len(self.counts)
        number = super().number_of(parts)
        if number == known:
            self._spelled.setdefault(self.vocabulary.join(*parts), []).append(number)
        return number

    def spelled_anew(self) -> None:
        """Find the pairs of the same bytes, once pairs have other numbers."""
        self._spelled: dict[bytes, list[int]] = {}
        for number in range(1, len(self.counts)):
            joined = self.vocabulary.join(self.left[number], self.right[number])
            self._spelled.setdefault(joined, []).append(number)

    def touch(self, text: bytes) -> None:
        """Look again at the pairs that spell a text."""
        self._moved.update(self._spelled.get(text, ()))

    def allowed(self, pair: int) -> bool:
        """True if a pair makes what was not made before."""
        return self.vocabulary.join(self.left[pair], self.right[pair]) not in self.taken

    def _choose_anew(self, under: Constraints | None = None) -> None:
        super()._choose_anew(under)
        fit, allowed = self.fit, self.allowed
        self.fit = lambda pairs: [pair for pair in fit(pairs) if allowed(pair)]


class Inside(Protocol):
    """The view inside words, as the rows see it.

    Attributes:
        material: The counted pre-tokens, the recipe and the run.
        texts: The distinct words.
        sizes: The units of each.
        taken: The bytes that tokens have.
        unlocked: The items that may join their neighbours.
    """

    material: Material
    texts: list[str]
    sizes: list[int]
    taken: set[bytes]
    unlocked: set[int]

    def id_of(self, text: bytes) -> int:
        """The id of the token of a text, past all where it has none."""

    def row_mark(self) -> int:
        """The length of the log of the rows before the last step."""


class Rows(View):
    """View 1: rows of items. The words come first, by their numbers; then the joined ones.

    Args:
        of: The other view.
        rows: The items of each row.
        weights: The weight of each.
    """

    def __init__(self, of: Inside, rows: list[list[int]], weights: list[int]) -> None:
        recipe = of.material.recipe
        self.of, self.objective, self.material = of, of.material.objective, of.material
        self._allows, self._rule, self.taken = (
            FILTERS.of(recipe.pieces).allows, TIES.of(recipe.tie).key, of.taken
        )
        self.items = [text.encode("utf-8", "surrogateescape") for text in of.texts]
        self.length = list(of.sizes)
        self.vocabulary = cast("EventVocabulary", _Items(self.items, of.id_of))
        self.words, self.weights = rows, weights
        self.left, self.right, self.counts = [-1], [-1], [0]
        self._numbers, self._where, self._holding = {}, [set()], [set() for _ in self.items]
        self.uses, self._bits = [0] * len(self.items), 64
        self._spelled: dict[bytes, list[int]] = {}
        self._log, self._moved, self._parts = [], set(), set()
        for number, row in enumerate(each(rows, len(rows))):
            self._count_word(number, row, weights[number])
            for item in row:
                self.uses[item] += weights[number]
        self._choose_anew(Constraints())

    def allowed(self, pair: int) -> bool:
        """True if both sides are unlocked, too."""
        unlocked = self.of.unlocked
        return self.left[pair] in unlocked and self.right[pair] in unlocked and super().allowed(pair)

    def touch_item(self, item: int) -> None:
        """Look again at the pairs of an item."""
        for number in self._holding[item]:
            for parts in pairwise(self.words[number]):
                if item in parts:
                    self._moved.add(self._numbers[parts])

    def noted(self, event: Event) -> None:
        """The other view notes it."""

    def _falls(self) -> tuple[Mapping[int, int | None], int]:
        return self._falls_since(self.of.row_mark())

    def copied(self, of: Inside) -> Rows:
        """The same rows for a copy of the other view."""
        other = copy.copy(self)
        for name, one in vars(self).items():
            if isinstance(one, list | dict | set):
                setattr(other, name, copy.copy(one))
        other._where, other._holding = [set(one) for one in self._where], [set(one) for one in self._holding]
        other._spelled = {text: list(pairs) for text, pairs in self._spelled.items()}
        other.of, other.taken = of, of.taken
        other.vocabulary = cast("EventVocabulary", _Items(other.items, of.id_of))
        return other

    def undo(self, mark: int) -> None:
        """Put the rows back that changed after a mark in the log."""
        while len(self._log) > mark:
            self._replace(*self._log.pop())

    def anew(self) -> None:
        """Forget the order of the pairs."""
        self._choose_anew()
