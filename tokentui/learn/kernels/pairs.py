"""The corpus and the history of a training by the count of pairs, in flat arrays, with the kernels that work on them.

`tokentui.core.jit.load` has to have said yes before this module is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokentui.learn.kernels import pairs_build, pairs_run, pairs_walk
from tokentui.learn.kernels.checkpoints import Checkpoint, Copying
from tokentui.learn.kernels.memory import Ready
from tokentui.learn.kernels.pairs_fields import (
    CELL,
    ENTRY,
    LEVEL,
    NO_LIMIT,
    PAIR,
    PLACE,
    RANKED,
    RULES,
    SHORTEST,
    STEP,
    SYMBOL,
)
from tokentui.learn.kernels.pairs_queue import CHAINS

SLICE = 1 << 14
"""The number of places merged between two readings of the clock: about a millisecond."""
LEAST_BETWEEN = 120_000
"""The least number of places merged between two checkpoints: two or three milliseconds to undo."""
MOST_CHECKPOINTS = 7
"""The most copies of the corpus that are kept. When there are more, every other one is dropped."""

# Relative costs, measured together: of a place undone, of a place redone, of a cell or a count copied.
_UNDO, _REDO, _COPY = 10, 14, 1
_START_BITS = 12


@dataclass(frozen=True, slots=True)
class Units:
    """The units of all words, numbered in order of first appearance.

    Attributes:
        units: The units, word after word; int32.
        ends: Where the words end, a 0 before the first; int64.
        weights: The weight of each word in the counts; int64.
        found: Which units they are, in the numbers that they had before.
        totals: The count of each, by weight.
    """

    units: Any
    ends: Any
    weights: Any
    found: list[int]
    totals: list[int]


def number_units(units: Any, ends: Any, weights: Any, kinds: int) -> Units:
    """Number units in order of first appearance.

    Args:
        units: Numbers from 0 to `kinds`, word after word; int32, replaced by the new ones.
        ends: Where the words end, a 0 before the first; int64.
        weights: The weight of each word in the counts; int64.
        kinds: The most kinds of units there may be.
    """
    kinds = max(1, kinds)
    found, totals = np.empty(kinds, np.int32), np.zeros(kinds, np.int64)
    size = pairs_build.number_units(units, ends, weights, np.zeros(kinds, np.int32), found, totals)
    return Units(units, ends, weights, found[:size].tolist(), totals[:size].tolist())


class CompiledCells:
    """Compiled cells: `cells.Cells`, `frontier.Frontier` and the history of `PairTrainer` in one.

    The cells are at the step `number`; the steps up to `known` are computed. Numbers are returned as `int`.

    Args:
        units: The units of the words.
        symbols: The symbol of each unit, by its number.
        pieces: The bytes of each base symbol.
        tie: The tie rule.
        prefix: The length of the mark that a right part loses.
        base_last: True if the ids of the base come after those of the merges.
    """

    def __init__(
        self, units: Units, symbols: Sequence[int], pieces: Sequence[bytes], tie: str, prefix: int, base_last: bool
    ) -> None:
        self.base = base = len(pieces)
        self.number = 0
        self.known = 0
        self._rule = RULES[tie]
        self._prefix = prefix
        self._base_last = base_last
        self._longest = NO_LIMIT
        words = len(units.weights)
        # Each merge of a place makes two at most, and no more places are merged than there are units.
        places, log = Ready(3 * len(units.units) + 1, PLACE), Ready(len(units.units), ENTRY)
        self._starts = np.empty(words, np.int64)
        self._cells = np.empty(len(units.units) + words + 1, CELL)
        pairs_build.lay_out(units.units, units.ends, np.array(symbols, np.int32), self._cells, self._starts)
        pairs = self._pair_up(units.weights, places)
        self._symbols = np.zeros(0, SYMBOL)
        self._uses = np.zeros(0, np.int64)
        self._ends = np.zeros(0, np.int64)
        self._steps = np.zeros(0, STEP)
        self._log = log.take()
        self._text = np.frombuffer(b"".join(pieces) or b"\0", np.uint8).copy()
        self._make_symbols(1 << 12)
        self._symbols["length"][:base] = 1
        self._ends[0] = 0
        self._ends[1 : base + 1] = np.cumsum(np.fromiter(map(len, pieces), np.int64, base))
        self._uses[np.array(symbols, np.int64)] = units.totals
        self._steps["pairs"][0] = pairs
        self._steps["logged"][0] = 0
        self._steps["tokens"][0] = sum(units.totals)
        self._queue = np.zeros(3, np.int64)
        self._chains = np.zeros(CHAINS, np.int32)
        self._heap = np.empty(len(self._table), RANKED)
        self._ranking = np.empty(0, RANKED)
        self._between = max(LEAST_BETWEEN, len(self._cells) // MOST_CHECKPOINTS)
        self._checkpoints: list[Checkpoint] = []
        self._copying: Copying | None = None
        self._look_at_rows()

    def _pair_up(self, weights: Any, places: Ready) -> int:
        """Find the first pairs and their places. Returns how many pairs there are, a nought for none among them."""
        bits, word, pairs = _START_BITS, 0, 1
        slots = np.zeros(1 << bits, np.int32)
        self._table = np.zeros(1 << bits, PAIR)
        self._counts = np.zeros(1 << bits, np.int64)
        while True:
            word, pairs = pairs_build.pair_up(
                word, pairs, 64 - bits, self._starts, weights, self._cells, self._table, self._counts, slots
            )
            if word == len(self._starts):
                break
            bits += 2
            slots = np.zeros(1 << bits, np.int32)
            self._table = _larger(self._table, 1 << bits)
            self._counts = _larger(self._counts, 1 << bits)
            pairs_build.hash_again(pairs, 64 - bits, self._table, slots)
        listed = int(self._table["first"][:pairs].sum())
        self._table = _larger(self._table, pairs + 2 + listed // 2)
        self._counts = _larger(self._counts, len(self._table))
        self._places = places.take()
        pairs_build.list_places(pairs, self._starts, weights, self._cells, self._places, self._table)
        return pairs

    def _make_symbols(self, steps: int) -> None:
        """Make room for so many steps."""
        self._steps = _larger(self._steps, steps + 1)
        size, before = self.base + steps, len(self._symbols)
        self._symbols = _larger(self._symbols, size)
        self._symbols[before:] = 0
        self._uses = _larger(self._uses, size)
        self._uses[before:] = 0
        self._ends = _larger(self._ends, size + 1)
        orders = np.arange(size, dtype=np.int32)
        if self._base_last:
            orders -= self.base
            orders[: self.base] += size  # more than any merge has; only the order counts
        self._symbols["order"] = orders

    def _look_at_rows(self) -> None:
        """Look at the arrays as Python's own numbers."""
        self.left = _look(self._table["left"])
        self.right = _look(self._table["right"])
        self.length = _look(self._symbols["length"])

    # ---- walking

    def fill(self, longest: int | None, least: int = 1) -> None:
        """Make the queue of candidates anew; no token is longer than so many units. Every pair is a candidate."""
        self._longest = NO_LIMIT if longest is None else min(longest, NO_LIMIT)
        pairs = int(self._steps["pairs"][self.known])
        pairs_run.fill(
            pairs, self._longest, self._rule, self._prefix, self._heap, self._queue, self._chains,
            self._cells, self._places, self._table, self._counts, self._symbols, self._text, self._ends,
        )

    def walk(self, goal: int, least: int = 1) -> None:
        """Go towards a step for about a millisecond; new steps are made of pairs that stand at least so often."""
        if goal < self.number or self.number < self.known:
            to = min(goal, self.known)
            if abs(to - self.number) > 1:
                self._leap(to)
            kernel = pairs_walk.undo if to < self.number else pairs_walk.redo
            self.number = kernel(
                self.number, to, SLICE, self.base, self._steps, self._cells, self._places, self._log, self._table, self._counts,
                self._symbols, self._uses,
            )
            return
        known = self._run(goal, least)
        if known == self.known < goal and self._queue[LEVEL] >= least:
            self._make_room()
            known = self._run(goal, least)
        self.number = self.known = known
        self._keep(known)

    def _work(self, number: int) -> int:
        """The cost of redoing all steps from the start up to a known one, in places."""
        return int(self._steps["logged"][number]) + pairs_run.A_STEP * number

    def _keep(self, known: int) -> None:
        """Make a checkpoint, a part at a time, if the last one is far enough away; its memory before."""
        since = self._work(known) - self._work(self._checkpoints[-1].number if self._checkpoints else 0)
        if self._copying is None:
            if 2 * since >= self._between:
                self._copying = Copying(len(self._cells), len(self._counts))
            return
        if since < self._between:
            return
        made = self._copying.go_on(
            known, self.base, self._steps, self._cells, self._log, self._table, self._counts[: self._steps["pairs"][known]],
            self._symbols,
        )
        if made is None:
            return
        self._copying = None
        self._checkpoints.append(made)
        if len(self._checkpoints) == MOST_CHECKPOINTS:
            self._checkpoints = self._checkpoints[1::2]
            self._between *= 2

    def _run(self, goal: int, least: int) -> int:
        known: int = pairs_run.run(
            self.known, goal, least, SLICE, self.base, self._longest, self._rule, self._prefix,
            self._steps, self._heap, self._queue, self._chains, self._cells, self._places, self._log, self._table, self._counts,
            self._symbols, self._uses, self._text, self._ends,
        )
        return known

    def best(self) -> int:
        """The best pair at the frontier, 0 where none is left."""
        self._run(self.known, 1)
        return int(self._heap["pair"][0]) if self._queue[LEVEL] else 0

    def greatest(self) -> int:
        """The count of the best pair at the frontier, 0 where none is left."""
        self._run(self.known, 1)
        return int(self._queue[LEVEL])

    def _make_room(self) -> None:
        """Make each array large enough for the next merge."""
        pair, known = self.best(), self.known
        size = int(self._table["first"][pair + 1] - self._table["first"][pair])
        pairs, token = int(self._steps["pairs"][known]), self.base + known
        if known + 2 > len(self._steps) or token + 2 > len(self._ends):
            self._make_symbols(2 * len(self._steps))
        if (needed := pairs + min(2 * size, 2 * token + 2) + 2) > len(self._table):
            needed += needed // 2
            self._table, self._counts = _larger(self._table, needed), _larger(self._counts, needed)
            self._heap = _larger(self._heap, needed)
        if (needed := int(self._table["first"][pairs]) + 2 * size) > len(self._places):
            self._places = _larger(self._places, needed + needed // 2)
        if (needed := int(self._steps["logged"][known]) + size) > len(self._log):
            self._log = _larger(self._log, needed + needed // 2)
        if self._rule >= SHORTEST:
            ends, left, right = self._ends, self.left[pair], self.right[pair]
            if (needed := int(ends[token] + ends[left + 1] - ends[left] + ends[right + 1] - ends[right])) > len(self._text):
                self._text = _larger(self._text, 2 * needed)
        self._look_at_rows()

    def _leap(self, goal: int) -> None:
        """Take up a checkpoint if the goal is nearer from there."""

        def cost(start: int) -> int:
            places = self._work(goal) - self._work(start)
            return places * _REDO if places > 0 else -places * _UNDO

        def cost_with_copy(checkpoint: Checkpoint) -> int:
            return cost(checkpoint.number) + (len(checkpoint.cells) + len(checkpoint.counts)) * _COPY

        nearest = min(self._checkpoints, key=cost_with_copy, default=None)
        if nearest is None or cost(self.number) <= cost_with_copy(nearest):
            return
        self._cells[:] = nearest.cells
        self._counts[: len(nearest.counts)] = nearest.counts
        pairs_walk.move_uses(self.number, nearest.number, self.base, self._steps, self._table, self._uses)
        self.number = nearest.number

    def forget(self) -> None:
        """Forget the steps past the present one; `fill` has to follow."""
        if self.number < self.known:
            self._copying = None
        self.known = self.number
        self._symbols["before"] = 0
        self._symbols["after"] = 0
        self._checkpoints = [checkpoint for checkpoint in self._checkpoints if checkpoint.number <= self.number]

    # ---- looking

    @property
    def pairs(self) -> int:
        """The number of pairs that have come to be at this step, a nought for none among them."""
        return int(self._steps["pairs"][self.number])

    @property
    def counts(self) -> memoryview:
        """The count of each pair at this step."""
        return _look(self._counts[: self.pairs])

    @property
    def uses(self) -> memoryview:
        """The count of each known symbol in the corpus at this step, by weight."""
        return _look(self._uses[: self.base + self.known])

    @property
    def tokens(self) -> int:
        """The length of the corpus in tokens, by weight."""
        return self.tokens_at(self.number)

    def tokens_at(self, number: int) -> int:
        """The same after a known step."""
        return int(self._steps["tokens"][number])

    def pairs_at(self, number: int) -> int:
        """The number of pairs after a known step."""
        return int(self._steps["pairs"][number])

    def figures(self, number: int) -> tuple[int, int, int, int, int]:
        """The count of a known step's pair, the places merged by weight, its ties, and the uses of its parts before."""
        step = self._steps[number - 1]
        return int(step["count"]), int(step["replaced"]), int(step["tied"]), int(step["left_uses"]), int(step["right_uses"])

    def merges(self, first: int) -> tuple[list[tuple[int, int]], list[int]]:
        """The known merges from the one after so many on: their symbols, and their counts when they were chosen."""
        steps = self._steps[first : self.known]
        chosen = self._table[steps["chosen"]]
        return list(zip(chosen["left"].tolist(), chosen["right"].tolist(), strict=True)), steps["count"].tolist()

    def last_with(self, least: int) -> int:
        """The furthest known step that can be come to from here by merges of pairs that stood at least so often."""
        fewer = self._steps["count"][self.number : self.known] < least
        return self.number + int(fewer.argmax()) if fewer.any() else self.known

    def word(self, index: int, first: int = 0, units: int | None = None) -> list[tuple[int, int]]:
        """Return the present tokens of a word, as `cells.Cells.word` does."""
        start = self._starts[index]
        stop = self._starts[index + 1] - 1 if index + 1 < len(self._starts) else len(self._cells) - 1
        at = start + first
        while self._cells["pair"][at] < 0:
            at -= 1
        if units is not None:
            stop = min(stop, start + first + units)
        places = at + np.flatnonzero(self._cells["pair"][at:stop] >= 0)
        return list(zip((places - start).tolist(), self._cells["symbol"][places].tolist(), strict=True))

    def standing(self, limit: int, least: int) -> tuple[int, int, list[int]]:
        """Return the number of candidates, the number with the greatest count, and the best in order.

        Args:
            limit: The most candidates to return.
            least: The least count of a candidate.
        """
        pairs = self.pairs
        limit = min(limit, pairs)
        if len(self._ranking) < len(self._table):
            self._ranking = np.empty(len(self._table), RANKED)
        best = np.empty(max(1, limit), np.int64)
        found, tied, size = pairs_run.standing(
            pairs, limit, max(1, least), self._longest, self._rule, self._prefix, best, np.empty(max(1, limit), np.int64),
            self._ranking, self._cells, self._places, self._table, self._counts, self._symbols, self._text, self._ends,
        )
        return found, tied, best[:size].tolist()

    def changes(self) -> dict[int, int]:
        """By how much the counts of other, older pairs fell in the last step."""
        places = int(self._steps["logged"][self.number] - self._steps["logged"][self.number - 1])
        fell, changed = np.zeros(self.pairs_at(self.number - 1), np.int64), np.empty(2 * places, np.int64)
        size = pairs_run.changes(
            self.number, self._steps, self._cells, self._places, self._log, self._table, self._symbols, fell, changed
        )
        return dict(zip(changed[:size].tolist(), fell[changed[:size]].tolist(), strict=True))

    def disjoint(self, pair: int) -> int:
        """The weight of the places of a pair that a merge replaces.

        A place that overlaps an earlier replaced one stays, and does not count.
        """
        return int(pairs_run.disjoint(pair, self._cells, self._places, self._table, self._symbols))

    def words_of_step(self, number: int) -> list[int]:
        """The words, by their number, in which a step merged something."""
        places = self._log["place"][self._steps["logged"][number - 1] : self._steps["logged"][number]]
        return np.unique(np.searchsorted(self._starts, places, "right") - 1).tolist()  # type: ignore[no-any-return]

    @property
    def memory(self) -> int:
        """The size of the corpus, its pairs, the history and the checkpoints in bytes."""
        pairs, logged = self.pairs_at(self.known), int(self._steps["logged"][self.known])
        used = [
            self._starts, self._cells, self._symbols, self._uses, self._ends, self._steps, self._text, self._log[:logged],
            self._places[: self._table["first"][pairs]], self._table[:pairs], self._counts[:pairs], self._heap[:pairs],
        ]
        used += [array for checkpoint in self._checkpoints for array in (checkpoint.cells, checkpoint.counts)]
        return sum(array.nbytes for array in used)


def _look(array: Any) -> memoryview:
    """An array, of which each number that is taken out is Python's own."""
    return memoryview(array)


def _larger(array: Any, size: int) -> Any:
    """An array with room for so many rows that begins with the rows of another."""
    if size <= len(array):
        return array
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger

