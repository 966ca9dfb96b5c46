"""The engine of merges with compiled kernels. Every number is that of the plain engine (`bpe`).

`tokentui.core.engines.available` has to have said yes before this module is imported.
"""

from __future__ import annotations

import bisect
import copy
import functools
from array import array
from collections.abc import Callable, Iterable
from itertools import accumulate, chain
from typing import Any, NamedTuple

from tokentui.core.arrays import flat, larger, width_of
from tokentui.core.engines import COMPILED
from tokentui.core.jobs import check, tick
from tokentui.core.pages import room_for
from tokentui.core.safetext import to_bytes
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import WEIGHTS, Totals
from tokentui.learn.engine import Constraints, Merge, Ranked, disjoint
from tokentui.learn.kernels import layout, merges, order, pairs, score
from tokentui.learn.kernels.layout import State
from tokentui.learn.ngrams import Pair
from tokentui.learn.objectives import Material
from tokentui.learn.steps import Span
from tokentui.learn.superwords import Superwords
from tokentui.text.pretokenize import MARKS

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
_FIGURES = {name: number for number, (name, _) in enumerate(layout.STEP.fields)}
_STEP_WORDS, _CHOSEN, _PLACES = len(_FIGURES), _FIGURES["chosen"], _FIGURES["places"]
_MERGED = _STEP_WORDS + _FIGURES["tokens"] + 1
"""The figures of a step and of the next one, as far as a merge has them."""
_WALKED = "cells", "counts", "uses"
"""The arrays that going to a computed step writes to."""
_WIDTHS = {name: width_of(row) for name, row in layout.ROWS.items()}
"""Bytes of a row of each array."""


QUEUES = {"counts": (layout.COUNTS, pairs.QUEUE), "scores": (layout.SCORES, score.QUEUE)}
"""The orders of pairs that there are kernels for: what a pair is worth, and the queue."""


class Checkpoint(NamedTuple):
    """The corpus as it stood at a step: its cells, and the counts of the pairs there were."""

    number: int
    cells: Any
    counts: Any


class KernelPairs:
    """The pairs of a corpus and the merges made of them, with kernels that make many merges in one call.

    The state is at the step `number`; the steps up to `computed` are computed.

    Args:
        material: The counted words, the recipe and the run.
        vocabulary_of: Makes the vocabulary from the units and how often they count.
        superwords: The words in symbols of a vocabulary that has merges already; None for words in units.
    """

    engine = COMPILED

    def __init__(
        self, material: Material, vocabulary_of: Callable[[Totals], Vocabulary],
        superwords: Superwords | None = None,
    ) -> None:
        words, recipe, objective = material.words, material.recipe, material.objective
        tick(0, len(words.counts))
        self._superwords = superwords
        self._per_symbol = ("extents",) if superwords else ()
        """The arrays with a row for each symbol, more than those that all have."""
        if superwords is None:
            units = layout.units_of(words, recipe)
            self._vocabulary = vocabulary_of(dict(zip(units.pieces, units.totals, strict=True)))
        else:
            self._vocabulary = vocabulary_of({})
            weights = array("q", WEIGHTS.of(recipe.weight).of(words.counts))
            units = layout.Units(
                memoryview(array("i", chain.from_iterable(superwords.words))),
                memoryview(array("q", accumulate(map(len, superwords.words), initial=0))),
                memoryview(weights), self._vocabulary.pieces.copy(), superwords.uses(weights),
            )
            self._superwords = superwords._replace(words=())  # they are laid out now
        self.number = self.computed = 0
        self._filters = objective.filters
        self._filled: Constraints | None = None
        """The constraints that the queue is filled under; None for a queue that is not."""
        self._forced: dict[int, bool] = {}
        """For each step that merges a forced pair, whether another candidate has the same value."""
        self._forbidden: frozenset[tuple[bytes, ...]] = frozenset()
        """The pairs and tokens that the state forbids."""
        worth, self._queue = QUEUES[objective.queue]
        base, self._earlier = self._vocabulary.pieces, len(self._vocabulary.merges)
        of_units = self._vocabulary.units
        symbols = array("i", range(len(base)) if superwords else [of_units[piece] for piece in units.pieces])
        self._mark = to_bytes(recipe.mark_text) if MARKS.of(recipe.mark).in_front else b""
        rule = layout.RULES[recipe.tie]
        self._state = State(
            base=len(base), rule=rule, longest=layout.NO_LIMIT, words=0, forbidden=0, least=1, scored=worth,
            prefix=len(self._mark), spells=int(rule >= layout.SHORTEST or bool(recipe.what_if)),
            **{name: flat(row, 0) for name, row in layout.ROWS.items()},
        )._replace(
            text=memoryview(bytearray(b"".join(base) or b"\0")),
            chains=flat("int32", layout.CHAINS), queue=flat(layout.QUEUE, 1),
            wanted=flat("int64", len(layout.ROOM)),
        )
        first_pairs = self._lay_out(units, symbols)
        self._make_symbols(FIRST_STEPS)
        state = self._state
        state.symbols[: 4 * len(base) : 4] = memoryview(array("i", [1]) * len(base))
        state.ends[: len(base) + 1] = memoryview(array("q", accumulate(map(len, base), initial=0)))
        for symbol, uses in zip(symbols, units.totals, strict=True):
            state.uses[symbol] = uses
        state.steps[:3] = memoryview(array("q", [first_pairs, 0, sum(units.totals)]))
        self._between = max(LEAST_BETWEEN, self._rows("cells") // MOST_CHECKPOINTS)
        self._checkpoints: list[Checkpoint] = []
        if superwords:
            extents = superwords.extents(base)
            self._state.extents[: len(extents)] = memoryview(extents)
            self._state = self._state._replace(words=superwords.most)
        tick(len(words.counts), len(words.counts))

    def _lay_out(self, units: layout.Units, symbols: Any) -> int:
        """Write the words into cells and find their pairs.

        Returns:
            The number of rows of the table of pairs; row 0 is no pair.
        """
        size, words = len(units.units), len(units.weights)
        # Each merge of a place makes two at most, and no more places are merged than there are units.
        places, log = flat(layout.PLACE, 3 * size + 1), flat(layout.ENTRY, size)
        self._starts, cells = flat("int64", words), flat(layout.CELL, size + words + 1)
        layout.lay_out(units.units, units.ends, symbols, cells, self._starts)
        table, counts = flat(layout.PAIR, 1), flat("int64", 1)
        bits, word, rows = _START_BITS, -1, 1
        while word < words:
            table, counts, slots = (
                larger(table, layout.PAIR, 1 << bits), larger(counts, "int64", 1 << bits),
                flat("int32", 1 << bits),
            )
            word, rows = layout.pair_up(
                max(word, 0), rows, 64 - bits, self._starts, units.weights, cells, table, counts, slots
            )
            bits += 2
        pairs = rows + 2 + sum(table[2 : 4 * rows : 4].tolist()) // 2
        table = larger(table, layout.PAIR, pairs)
        layout.list_places(rows, self._starts, units.weights, cells, places, table)
        self._state = self._state._replace(
            cells=cells, places=places, log=log, table=table, counts=larger(counts, "int64", len(table) // 4)
        )
        return int(rows)

    # ---- room

    def _rows(self, name: str) -> int:
        """Return the number of rows that an array of the state has room for."""
        return int(getattr(self._state, name).nbytes) // _WIDTHS[name]

    def _grow(self, size: int, *names: str) -> None:
        """Make room for `size` rows in some arrays of the state. New rows are zero."""
        self._state = self._state._replace(
            **{name: larger(getattr(self._state, name), layout.ROWS[name], size) for name in names}
        )

    def _make_symbols(self, steps: int) -> None:
        """Make room for a number of steps. The arrays that kernels check for room grow last."""
        base = self._state.base
        size = base + steps
        self._grow(size, "symbols", "uses", *self._queue.per_symbol, *self._per_symbol)
        # only the order counts; where the base comes last, it has more than any merge
        merges = size - self._vocabulary.base_size
        orders = chain(range(merges, size), range(merges)) if self._vocabulary.base_last else range(size)
        self._state.symbols[3::4] = memoryview(array("i", orders))
        self._grow(size + 1, "ends")
        self._grow(steps + 1, "steps")

    def _make_room(self) -> None:
        """Make room in each array for what a kernel reported that it needs (`wanted`), and for two more
        steps."""
        for name, needed in zip(layout.ROOM, self._state.wanted.tolist(), strict=True):
            if needed > self._rows(name):
                of_pairs = ("counts", *self._queue.per_pair) if name == "table" else ()
                self._grow(needed + needed // 2, name, *of_pairs)
        steps = self._rows("steps")
        if self.computed + 2 > steps or self._state.base + self.computed + 2 > len(self._state.ends):
            self._make_symbols(2 * steps)

    # ---- walking

    def _limit(self, under: Constraints) -> None:
        """Take constraints at the furthest step: under others than before its candidates are found anew."""
        limits = under._replace(forced=(), min_count=under.min_count if self._filters else 1)
        if limits == self._filled:
            return
        self._filled = None
        fresh = {name: self._rows("table") for name in self._queue.per_pair}
        fresh |= {name: self._rows("symbols") for name in self._queue.per_symbol}
        arrays: dict[str, Any] = {name: flat(layout.ROWS[name], size) for name, size in fresh.items()}
        state = self._state if under.forbidden == self._forbidden else self._state_forbidding(under.forbidden)
        self._forbidden = under.forbidden
        self._state = state._replace(longest=_longest(under), least=limits.min_count, **arrays)
        self._queue.fill(self.pairs_at(self.computed), self._state.base + self.computed, self._state)
        self._filled = limits

    def _state_forbidding(self, forbidden: Iterable[tuple[bytes, ...]]) -> State:
        """Return the state with other forbidden pairs, each given as two parts, and tokens, given as one.

        A pair whose right part lacks the mark is left out: no such pair occurs.
        """
        mark = self._mark
        rows = [(parts[0], 0) for parts in forbidden if len(parts) == 1]
        rows += [  # every right part has its mark
            (parts[0] + parts[1].removeprefix(mark), len(parts[0]))
            for parts in forbidden if len(parts) == 2 and parts[1].startswith(mark)
        ]
        ends = accumulate(len(token) for token, _ in rows)
        numbers = chain((0, 0), *zip(ends, (left for _, left in rows), strict=True))
        sizes = {len(token) % 32 for token, _ in rows}
        state = self._state._replace(
            forbidden=sum(1 << size for size in sizes), forbidden_rows=memoryview(array("q", numbers)),
            forbidden_text=memoryview(bytearray(b"".join(token for token, _ in rows))),
            forbidden_slots=flat("int32", 2 << len(rows).bit_length()),
        )
        merges.index_forbidden(state)
        return state

    def best(self, under: Constraints) -> int:
        """The best pair at the furthest step, 0 where no pair may be merged."""
        self._limit(under)
        if under.forced and (forced := self._pair_of(under.forced)):
            size, state, heap = self.pairs_at(self.computed), self._state, flat(layout.RANKED, 2)
            *_, alike = order.rank_candidates(size, 0, state.least, forced, heap, state)
            self._forced[self.computed + 1] = alike > 1
            return forced
        best, level = self._state.queue[:2]
        return int(best) if level >= under.min_count else 0

    def _pair_of(self, parts: tuple[bytes, ...]) -> int:
        """Return the most frequent pair that is spelled so, 0 if none occurs."""
        alone = self._state_forbidding([parts])  # a pair is looked up by its bytes as a forbidden one is
        return int(order.find_forbidden(self.pairs_at(self.number), alone))

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for about a millisecond, forward no further than there is a pair.

        A forced pair is taken at one step alone. Rooms of the arrays and a checkpoint are made as needed.
        """
        if goal < self.number or self.number < self.computed:
            to = min(goal, self.computed)
            if abs(to - self.number) > 1:
                self._leap(to)
            kernel = merges.undo if to < self.number else merges.redo
            self.number = kernel(self.number, to, SLICE, self._state)
            return
        if under != self._filled:
            self._limit(under)
        if under.forced:  # at one step alone
            if goal > self.computed and (best := self.best(under)):
                self.merge_given(*self.chosen(best))
            return
        several = goal > self.computed + 1
        known = self._queue.run(self.computed, goal, under.min_count, SLICE, self._state)
        if known == self.computed < goal and self.best(under):
            self._make_room()
            known = self._queue.run(known, goal, under.min_count, SLICE, self._state)
        if several:
            vars(self).pop("vocabulary", None)
        elif known > self.computed and "vocabulary" in vars(self):
            steps, table, row = self._state.steps, self._state.table, _STEP_WORDS * self.computed
            pair = 4 * steps[row + _CHOSEN]
            self._vocabulary.extend([(table[pair], table[pair + 1])], [steps[row + _PLACES]])
        self.number = self.computed = known
        if several:  # a single step does not wait for the copy
            self._keep_checkpoint()

    def chosen(self, pair: int) -> tuple[int, int, int]:
        """Return the two symbols and the count of a pair."""
        left, right = self._state.table[4 * pair : 4 * pair + 2].tolist()
        return left, right, int(self._state.counts[pair])

    def merge_given(self, left: int, right: int, recorded_count: int) -> int:
        """Merge two symbols as the step after the furthest one; see `PlainPairs.merge_given`."""
        by_count = self._queue is pairs.QUEUE  # the other queues do not follow
        vocabulary, queued = self.vocabulary, by_count and self._filled is not None
        known = pairs.take(self.computed, left, right, queued, self._state)
        if known == self.computed:
            self._make_room()
            known = pairs.take(known, left, right, queued, self._state)
        self.number = self.computed = known
        if not by_count:
            self._filled = None
        if len(vocabulary.merges) < self._earlier + known:  # else an engine that shares it has added it
            vocabulary.add(left, right, recorded_count)
        return self._figure(known - 1, "replaced")

    def share(self, vocabulary: Vocabulary) -> None:
        """Take the vocabulary of an engine that merges the same pairs, and makes each merge first."""
        self.vocabulary = self._vocabulary = vocabulary

    def replaces(self, left: int, right: int) -> int:
        """Return the weight of the places that a merge of two symbols would replace at this step; 0 if the
        pair does not occur."""
        pair = pairs.find(left, right, self._state)
        return self._disjoint(pair) if pair and pair < self.pairs_at(self.number) else 0

    def words_merged(self, number: int) -> list[int]:
        """Return the index of the word of each place that a computed step merged, in order of the places."""
        first, last = self._figure(number - 1, "logged"), self._figure(number, "logged")
        places = self._state.log.cast("I")[2 * first : 2 * last : 2].tolist()
        return [bisect.bisect_right(self._starts, place) - 1 for place in places]

    def forget(self) -> None:
        """Drop the steps, symbols and checkpoints after the current step."""
        self.share(self.vocabulary.truncated(self._earlier + self.number))
        self.computed = self.number
        for latest in (1, 2):
            self._state.symbols[latest::4] = flat("int32", self._rows("symbols"))
        self._checkpoints = [
            checkpoint for checkpoint in self._checkpoints if checkpoint.number <= self.number
        ]
        self._forced = {step: alike for step, alike in self._forced.items() if step <= self.number}
        self._filled = None

    def fork(self, number: int, material: Material) -> KernelPairs:
        """Return an engine over the same corpus at a computed step, for a run under other what-ifs. It shares
        no array that changes."""
        other, state = copy.copy(self), self._state
        other.share(self.vocabulary)  # before the copy of its steps ends at this one
        other._state = state._replace(**{name: _copy(getattr(state, name)) for name in _WALKED})
        while other.number != number:
            check()
            other.walk(number, Constraints())
        pairs = self.pairs_at(number)
        filled = {
            "places": int(state.table[4 * pairs + 2]), "log": self._figure(number, "logged"),
            "table": pairs + 1, "steps": number + 1,
        }
        queued = (*self._queue.per_pair, *self._queue.per_symbol)  # it is filled anew
        other._state = other._state._replace(**{
            name: flat(layout.ROWS[name], 0) if name in queued
            else _copy(getattr(state, name), filled.get(name, self._rows(name)) * _WIDTHS[name])
            for name in layout.ROWS if name not in _WALKED
        })
        other.forget()
        other._vocabulary.recipe = material.recipe
        if material.recipe.what_if and not state.spells:
            other._spell()
        return other

    def _spell(self) -> None:
        """Write the bytes of all pieces into the state: what-ifs and some tie rules compare them."""
        pieces, state = self._vocabulary.pieces, self._state
        state.ends[: len(pieces) + 1] = memoryview(array("q", accumulate(map(len, pieces), initial=0)))
        self._state = state._replace(spells=1, text=memoryview(bytearray(b"".join(pieces) or b"\0")))

    # ---- checkpoints

    def _work(self, number: int) -> int:
        """Return the cost of redoing all steps up to a computed one, in places."""
        return self._figure(number, "logged") + layout.A_STEP * number

    def _keep_checkpoint(self) -> None:
        """Make a checkpoint of the current step if the last one is far enough away. If there are too many,
        drop every other one and double the distance."""
        step, last = self.computed, self._checkpoints[-1].number if self._checkpoints else 0
        since = self._work(step) - self._work(last)
        if since >= self._between:
            state = self._state
            counts = state.counts[: self.pairs_at(step)]
            self._checkpoints.append(Checkpoint(step, _copy(state.cells), _copy(counts)))
            if len(self._checkpoints) == MOST_CHECKPOINTS:
                self._checkpoints = self._checkpoints[1::2]
                self._between *= 2

    def _leap(self, goal: int) -> None:
        """Move to a checkpoint if the goal is nearer from there than from the current step."""

        def cost(start: int) -> int:
            places = self._work(goal) - self._work(start)
            return places * _REDO if places > 0 else -places * _UNDO

        def cost_with_copy(checkpoint: Checkpoint) -> int:
            return cost(checkpoint.number) + (len(checkpoint.cells) // 2 + len(checkpoint.counts)) * _COPY

        nearest = min(self._checkpoints, key=cost_with_copy, default=None)
        if nearest is None or cost(self.number) <= cost_with_copy(nearest):
            return
        self._state.cells[:] = nearest.cells
        self._state.counts[: len(nearest.counts)] = nearest.counts
        merges.move_uses(self.number, nearest.number, self._state)
        self.number = nearest.number

    # ---- the figures

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary. It gets the merge of a single step at once, and those of a longer walk when it is
        read."""
        made = len(self._vocabulary.merges) - self._earlier
        steps, table = self._state.steps[_STEP_WORDS * made : _STEP_WORDS * self.computed], self._state.table
        chosen, lefts, rights = steps[_CHOSEN::_STEP_WORDS].tolist(), table[::4], table[1::4]
        parts = zip(map(lefts.__getitem__, chosen), map(rights.__getitem__, chosen), strict=True)
        self._vocabulary.extend(list(parts), steps[_PLACES::_STEP_WORDS].tolist())
        return self._vocabulary

    def _figure(self, number: int, name: str) -> int:
        """Return a figure by name of the state after a computed step, or of the step that follows; see
        `layout.STEP`."""
        return int(self._state.steps[_STEP_WORDS * number + _FIGURES[name]])

    def memory(self) -> int:
        """Return the bytes that the corpus, its pairs, the history and the checkpoints take, without the
        vocabulary."""
        state, size = self._state, self.pairs_at(self.computed)
        used = {
            "log": self._figure(self.computed, "logged"), "places": int(state.table[4 * size + 2]),
            "table": size, "counts": size, "heap": size,
        }
        sizes = [
            min(used.get(name, self._rows(name)), self._rows(name)) * _WIDTHS[name]
            for name in layout.ROWS
        ]
        copies = [array for kept in self._checkpoints for array in (kept.cells, kept.counts)]
        return sum(sizes) + sum(int(array.nbytes) for array in [self._starts, *copies])

    def pairs_at(self, number: int) -> int:
        """Return the number of rows of the table of pairs after a computed step; row 0 is no pair."""
        return self._figure(number, "pairs")

    @property
    def uses(self) -> memoryview:
        """The uses of each known symbol at this step, by weight."""
        found: memoryview = self._state.uses[: self._state.base + self.computed]
        return found

    def merged(self, number: int) -> Merge:
        """Return the merge of a computed step."""
        row = self._state.steps[_STEP_WORDS * (number - 1) : _STEP_WORDS * (number + 1)].tolist()
        pairs, logged, _, chosen, places, replaced, tied, left_uses, right_uses, _, _, tokens = row[:_MERGED]
        left, right = self.vocabulary.merges[self._earlier + number - 1]
        # `tuple` makes both without a call of Python
        pair = tuple.__new__(Pair, (left, right, places, places, left_uses, right_uses))
        was_tied = self._forced.get(number, tied > 1)
        return tuple.__new__(Merge, (pair, replaced, tied, was_tied, tokens, chosen, pairs, logged))

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in tokens after a computed step."""
        return self._figure(number, "tokens")

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step: each merge adds one, since none spells a special
        token.
        """
        return self._vocabulary.sizes[self._earlier] + number

    def top(self, under: Constraints, limit: int) -> Ranked:
        """Return the candidates at this step, the best `limit` in order. A forced pair comes first, also if
        it breaks the constraints."""
        size = self.pairs_at(self.number)
        limit = min(limit, size)
        state = self._state if under.forbidden == self._forbidden else self._state_forbidding(under.forbidden)
        heap, state = flat(layout.RANKED, limit + 2), state._replace(longest=_longest(under))
        forced = self._pair_of(under.forced) if under.forced else 0
        total, tied, ordered, alike = order.rank_candidates(size, limit, under.min_count, forced, heap, state)
        rows_of_pairs = heap.cast("q")[2::3]
        best: list[int] = rows_of_pairs[:ordered].tolist()
        if forced:
            total += not alike
            best = [forced, *(pair for pair in best if pair != forced)]
            rows_of_pairs[: len(best)] = memoryview(array("q", best))
        falls, first_new = flat("int64", len(best)), size
        if self.number:
            merges.add_falls(self.number, len(best), heap, flat("int32", size), falls, self._state)
            first_new = self._figure(self.number - 1, "pairs")
        table, counts, uses = state.table, state.counts, state.uses
        rows = []
        for pair, fell in zip(best, falls.tolist(), strict=True):
            left, right, places = table[4 * pair], table[4 * pair + 1], counts[pair]
            before = places + fell if pair < first_new else None
            rows.append(Pair(left, right, places, before, uses[left], uses[right]))
        replaced = self._disjoint(best[0]) if best else 0
        return Ranked(total, tied, replaced, rows, max(0, alike - 1) if forced else None)

    def _disjoint(self, pair: int) -> int:
        """Return the weight of the places of a pair that a merge would replace: those that do not overlap."""
        table = self._state.table
        left, right, first = table[4 * pair : 4 * pair + 3]
        if left != right:
            return int(self._state.counts[pair])
        size = table[4 * pair + 6] - first
        places, weights = flat("int64", size), flat("int64", size)
        count = merges.places_now(pair, places, weights, self._state)
        length = 2 * self._state.symbols[4 * left]
        weight: int = disjoint(places[:count].tolist(), weights[:count].tolist(), length)
        return weight

    def words_changed(self) -> list[int]:
        """Return the indices of the words in which the last step merged something; none at step 0."""
        if not self.number:
            return []
        words = flat("int64", self._figure(self.number, "logged") - self._figure(self.number - 1, "logged"))
        size = merges.changed_words(self.number, self._starts, words, self._state)
        changed: list[int] = words[:size].tolist()
        return changed

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """Return the current segmentation of a word; see `PlainPairs.word`."""
        cells, symbols, start = self._state.cells, self._state.symbols, self._starts[index]
        stop = (self._starts[index + 1] if index + 1 < len(self._starts) else self._rows("cells")) - 1
        at = start + first
        while cells[2 * at + 1] < 0:
            at -= 1
        if units is not None:
            stop = min(stop, start + first + units)
        spans = []
        while at < stop:
            symbol = cells[2 * at]
            size = symbols[4 * symbol]
            spans.append(Span(at - start, at - start + size, symbol))
            at += size
        return spans


def _longest(under: Constraints) -> int:
    """Return the greatest length of a token in units under constraints."""
    return layout.NO_LIMIT if under.max_length is None else min(under.max_length, layout.NO_LIMIT)


def _copy(values: Any, size: int | None = None) -> Any:
    """Return a copy of an array of the same length. Of `size` bytes only these are copied; the rest is
    zero."""
    copied = memoryview(room_for(values.nbytes)).cast(values.format)
    end = len(values) if size is None else size // values.itemsize
    copied[:end] = values[:end]
    return copied
