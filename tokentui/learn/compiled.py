"""The engine of merges with compiled kernels. Every number is that of the plain engine (`bpe`).

`tokentui.core.jit.load` has to have said yes before this module is imported. Numbers are returned as Python's
own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tokentui.core.jit import COMPILED
from tokentui.core.jobs import tick
from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import Totals
from tokentui.learn.kernels import layout, merges, order, pairs, score
from tokentui.learn.kernels.layout import State
from tokentui.learn.objectives import Material
from tokentui.learn.values import Constraints, Merged, Pair, Ranked, Span, disjoint

SLICE = 1 << 14
"""The number of places merged between two readings of the clock: about a millisecond."""
LEAST_BETWEEN = 120_000
"""The least number of places merged between two checkpoints: two or three milliseconds to undo."""
MOST_CHECKPOINTS = 7
"""The most copies of the corpus that are kept. When there are more, every other one is dropped."""
FIRST_STEPS = 1 << 12
"""The number of steps that there is room for at the start."""

# Relative costs, measured together: of a place undone, of a place redone, of a cell or a count copied.
_UNDO, _REDO, _COPY = 10, 14, 1
_START_BITS = 12


class Checkpoint(NamedTuple):
    """The corpus as it stood at a step: its cells, and the counts of the pairs there were."""

    number: int
    cells: Any
    counts: Any


class KernelPairs:
    """The pairs of a corpus and the merges made of them, with kernels that make many merges in one call.

    The state is at the step `number`; the steps up to `known` are computed.

    Args:
        material: The counted words, the recipe and the run.
        vocabulary_of: Makes the vocabulary from the units and how often they count.
    """

    engine = COMPILED

    def __init__(self, material: Material, vocabulary_of: Callable[[Totals], Vocabulary]) -> None:
        words, recipe, objective = material.words, material.recipe, material.objective
        tick(0, len(words.counts))
        units = layout.units_of(words, recipe)
        self._vocabulary = vocabulary_of(dict(zip(units.pieces, units.totals, strict=True)))
        self.number = self.known = 0
        self._filters, self._filled = objective.filters, (-1, -1)
        self._queue = score.QUEUE if objective.filters else pairs.QUEUE
        symbols = np.array([self._vocabulary.units[piece] for piece in units.pieces], np.int32)
        base = self._vocabulary.pieces
        self._state = State(
            base=len(base), rule=layout.RULES[recipe.tie], longest=layout.NO_LIMIT, least=1,
            scored=int(objective.filters),
            prefix=len(to_bytes(recipe.mark_text)) if recipe.mark_kind == "prefix" else 0,
            **{name: np.zeros(0, row) for name, row in layout.ROWS.items()},
        )._replace(
            text=np.frombuffer(b"".join(base) or b"\0", np.uint8).copy(),
            chains=np.zeros(layout.CHAINS, np.int32), queue=np.zeros(1, layout.ROWS["queue"]),
            wanted=np.zeros(len(layout.ROOM), np.int64),
        )
        first_pairs = self._lay_out(units, symbols)
        self._make_symbols(FIRST_STEPS)
        state = self._state
        state.symbols["length"][: len(base)] = 1
        state.ends[0] = 0
        state.ends[1 : len(base) + 1] = np.cumsum(np.fromiter(map(len, base), np.int64, len(base)))
        state.uses[symbols] = units.totals
        state.steps[0]["pairs"], state.steps[0]["logged"], state.steps[0]["tokens"] = (
            first_pairs, 0, sum(units.totals),
        )
        self._between = max(LEAST_BETWEEN, len(state.cells) // MOST_CHECKPOINTS)
        self._checkpoints: list[Checkpoint] = []
        tick(len(words.counts), len(words.counts))

    def _lay_out(self, units: layout.Units, symbols: Any) -> int:
        """Write the words into cells and find their pairs.

        Returns how many pairs there are, a nought for none among them.
        """
        size, words = len(units.units), len(units.weights)
        # Each merge of a place makes two at most, and no more places are merged than there are units.
        places, log = np.empty(3 * size + 1, layout.PLACE), np.empty(size, layout.ROWS["log"])
        self._starts, cells = np.empty(words, np.int64), np.empty(size + words + 1, layout.CELL)
        layout.lay_out(units.units, units.ends, symbols, cells, self._starts)
        table, counts = np.zeros(1, layout.PAIR), np.zeros(1, np.int64)
        bits, word, found = _START_BITS, -1, 1
        while word < words:
            table, counts, slots = (
                _larger(table, 1 << bits), _larger(counts, 1 << bits), np.zeros(1 << bits, np.int32),
            )
            word, found = layout.pair_up(
                max(word, 0), found, 64 - bits, self._starts, units.weights, cells, table, counts, slots
            )
            bits += 2
        table = _larger(table, found + 2 + int(table["first"][:found].sum()) // 2)
        layout.list_places(found, self._starts, units.weights, cells, places, table)
        self._state = self._state._replace(
            cells=cells, places=places, log=log, table=table, counts=_larger(counts, len(table))
        )
        return found

    # ---- room

    def _grow(self, size: int, *names: str) -> None:
        """Give arrays of the state room for so many rows."""
        self._state = self._state._replace(
            **{name: _larger(getattr(self._state, name), size) for name in names}
        )

    def _make_symbols(self, steps: int) -> None:
        """Make room for so many steps. The arrays that kernels look at for room grow last."""
        base, before = self._state.base, len(self._state.symbols)
        size = base + steps
        self._grow(size, "symbols", "uses", *self._queue.per_symbol)
        self._state.symbols[before:] = np.zeros(1, layout.ROWS["symbols"])
        self._state.uses[before:] = 0
        orders = np.arange(size, dtype=np.int32)
        if self._vocabulary.base_last:
            orders -= base
            orders[:base] += size  # more than any merge has; only the order counts
        self._state.symbols["order"] = orders
        self._grow(size + 1, "ends")
        self._grow(steps + 1, "steps")

    def _make_room(self) -> None:
        """Make each array large enough for the next merge."""
        for name, needed in zip(layout.ROOM, self._state.wanted.tolist(), strict=True):
            if needed > len(getattr(self._state, name)):
                of_pairs = ("counts", *self._queue.per_pair) if name == "table" else ()
                self._grow(needed + needed // 2, name, *of_pairs)
        steps = len(self._state.steps)
        if self.known + 2 > steps or self._state.base + self.known + 2 > len(self._state.ends):
            self._make_symbols(2 * steps)

    # ---- walking

    def _limit(self, under: Constraints) -> None:
        """Take constraints at the furthest step: under others than before its candidates are found anew."""
        limits = _longest(under), under.min_count if self._filters else 1
        if limits == self._filled:
            return
        self._filled = -1, -1
        fresh = {name: len(self._state.table) for name in self._queue.per_pair}
        fresh |= {name: len(self._state.symbols) for name in self._queue.per_symbol}
        arrays: dict[str, Any] = {name: np.zeros(size, layout.ROWS[name]) for name, size in fresh.items()}
        self._state = self._state._replace(longest=limits[0], least=limits[1], **arrays)
        self._queue.fill(self.pairs_at(self.known), self._state.base + self.known, self._state)
        self._filled = limits

    def best(self, under: Constraints) -> int:
        """The best pair at the furthest step, 0 where no pair may be merged."""
        self._limit(under)
        queue = self._state.queue[0]
        return int(queue["best"]) if queue["level"] >= under.min_count else 0

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for about a millisecond, forward no further than there is a pair."""
        if goal < self.number or self.number < self.known:
            to = min(goal, self.known)
            if abs(to - self.number) > 1:
                self._leap(to)
            kernel = merges.undo if to < self.number else merges.redo
            self.number = kernel(self.number, to, SLICE, self._state)
            return
        self._limit(under)
        several = goal > self.known + 1
        known = self._queue.run(self.known, goal, under.min_count, SLICE, self._state)
        if known == self.known < goal and self.best(under):
            self._make_room()
            known = self._queue.run(known, goal, under.min_count, SLICE, self._state)
        self.number = self.known = known
        if several:  # a single step does not wait for the copy
            self._keep()

    def forget(self) -> None:
        """Forget the steps past the present one."""
        self._vocabulary = self.vocabulary.copy(self.number)
        self.known = self.number
        self._state.symbols["before"] = 0
        self._state.symbols["after"] = 0
        self._checkpoints = [
            checkpoint for checkpoint in self._checkpoints if checkpoint.number <= self.number
        ]
        self._filled = -1, -1

    # ---- checkpoints

    def _work(self, number: int) -> int:
        """The cost of redoing all steps from the start up to a known one, in places."""
        return int(self._state.steps["logged"][number]) + layout.A_STEP * number

    def _keep(self) -> None:
        """Make a checkpoint if the last one is far enough away."""
        since = self._work(self.known) - self._work(self._checkpoints[-1].number if self._checkpoints else 0)
        if since >= self._between:
            state = self._state
            self._checkpoints.append(
                Checkpoint(self.known, state.cells.copy(), state.counts[: self.pairs_at(self.known)].copy())
            )
            if len(self._checkpoints) == MOST_CHECKPOINTS:
                self._checkpoints = self._checkpoints[1::2]
                self._between *= 2

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
        self._state.cells[:] = nearest.cells
        self._state.counts[: len(nearest.counts)] = nearest.counts
        merges.move_uses(self.number, nearest.number, self._state)
        self.number = nearest.number

    # ---- the figures

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary. It follows the kernels when it is asked for."""
        made = len(self._vocabulary.merges)
        if made < self.known:
            steps = self._state.steps[made : self.known]
            chosen = self._state.table[steps["chosen"]]
            parts = zip(chosen["left"].tolist(), chosen["right"].tolist(), strict=True)
            self._vocabulary.extend(list(parts), steps["places"].tolist())
        return self._vocabulary

    def memory(self) -> int:
        """The bytes that the corpus, its pairs, the history and the checkpoints take; the vocabulary comes on
        top."""
        state, size = self._state, self.pairs_at(self.known)
        used = {
            "log": int(state.steps["logged"][self.known]), "places": int(state.table["first"][size]),
            "table": size, "counts": size, "heap": size,
        }
        arrays = [self._starts, *(getattr(state, name)[: used.get(name)] for name in layout.ROWS)]
        arrays += [
            array for checkpoint in self._checkpoints for array in (checkpoint.cells, checkpoint.counts)
        ]
        return sum(array.nbytes for array in arrays)

    def pairs_at(self, number: int) -> int:
        """The number of pairs after a known step, a nought for none among them."""
        return int(self._state.steps["pairs"][number])

    @property
    def uses(self) -> memoryview:
        """The uses of each known symbol at this step, by weight."""
        return memoryview(self._state.uses[: self._state.base + self.known])

    def merged(self, number: int) -> Merged:
        """The figures of a known step."""
        step = self._state.steps[number - 1]
        places, replaced, tied, *uses = (
            int(step[name]) for name in ("places", "replaced", "tied", "left_uses", "right_uses")
        )
        pair = Pair(*self.vocabulary.merges[number - 1], places, places, *uses)
        return Merged(pair, replaced, tied, tied > 1)  # nothing is forced here

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a known step."""
        return int(self._state.steps["tokens"][number])

    def size_at(self, number: int) -> int:
        """The number of ids after a known step: no merge spells a special token."""
        return self._vocabulary.sizes[0] + number

    def ranked(self, under: Constraints, limit: int) -> Ranked:
        """The candidates at this step, so many of the best in order."""
        size = self.pairs_at(self.number)
        limit = min(limit, size)
        heap, state = np.empty(limit + 2, layout.RANKED), self._state._replace(longest=_longest(under))
        total, tied, ordered = order.standing(size, limit, under.min_count, heap, state)
        best = heap["pair"][:ordered]
        left, right = state.table["left"][best], state.table["right"][best]
        chosen = (best, left, right, state.counts[best], state.uses[left], state.uses[right])
        fell, first_new = self._falls()
        rows = [
            Pair(left, right, places, places + fell.get(pair, 0) if pair < first_new else None, *uses)
            for pair, left, right, places, *uses in zip(*(one.tolist() for one in chosen), strict=True)
        ]
        return Ranked(total, tied, self._disjoint(int(best[0])) if ordered else 0, rows)

    def _falls(self) -> tuple[dict[int, int], int]:
        """The falls of the counts of older pairs in the last step, and the number of pairs before it."""
        if not self.number:
            return {}, self.pairs_at(0)
        state, step = self._state, self._state.steps[self.number - 1]
        first_new, merged = int(step["pairs"]), int(step["chosen"])
        log = state.log[step["logged"] : state.steps["logged"][self.number]]
        listed = state.places[state.table["first"][merged] : state.table["first"][merged + 1]]
        weights = listed["weight"][np.searchsorted(listed["place"], log["place"])]
        middle = log["place"] + state.symbols["length"][state.table["left"][merged]]
        old = np.concatenate((log["old"], ~state.cells["pair"][middle]))
        older = (old > 0) & (old < first_new) & (old != merged)
        found, places = np.unique(old[older], return_inverse=True)
        fell = np.zeros(len(found), np.int64)
        np.add.at(fell, places, np.concatenate((weights, weights))[older])
        return dict(zip(found.tolist(), fell.tolist(), strict=True)), first_new

    def _disjoint(self, pair: int) -> int:
        """The number of places of a pair that a merge would replace, by weight."""
        state, row = self._state, self._state.table[pair]
        if row["left"] != row["right"]:
            return int(state.counts[pair])
        listed = state.places[row["first"] : state.table["first"][pair + 1]]
        listed = listed[state.cells["pair"][listed["place"]] == pair]
        size = 2 * int(state.symbols["length"][row["left"]])
        return disjoint(listed["place"].tolist(), listed["weight"].tolist(), size)

    def words_changed(self) -> list[int]:
        """The words, by their number, in which the last step merged something."""
        if not self.number:
            return []
        first, last = self._state.steps["logged"][self.number - 1 : self.number + 1]
        places = self._state.log["place"][first:last]
        found: list[int] = np.unique(np.searchsorted(self._starts, places, "right") - 1).tolist()
        return found

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """The segmentation of a word now; see `PlainPairs.word`."""
        cells, start = self._state.cells, int(self._starts[index])
        stop = int(self._starts[index + 1]) - 1 if index + 1 < len(self._starts) else len(cells) - 1
        at = start + first
        while cells["pair"][at] < 0:
            at -= 1
        if units is not None:
            stop = min(stop, start + first + units)
        places = at + np.flatnonzero(cells["pair"][at:stop] >= 0)
        symbols = cells["symbol"][places]
        begins = places - start
        ends = begins + self._state.symbols["length"][symbols]
        return list(map(Span, begins.tolist(), ends.tolist(), symbols.tolist()))


def _longest(under: Constraints) -> int:
    """The greatest length of a token in units."""
    return layout.NO_LIMIT if under.max_length is None else min(under.max_length, layout.NO_LIMIT)


def _larger(array: Any, size: int) -> Any:
    """An array with room for so many rows that begins with the rows of another."""
    if size <= len(array):
        return array
    larger = np.empty(size, array.dtype)
    larger[: len(array)] = array
    return larger
