"""Byte-pair encoding (Gage 1994; Sennrich et al. 2016) in plain Python: read this file first.

Count the pairs of neighboring symbols, choose the best one, merge it everywhere, record the merge; again and
again:

    while self.number < goal and (pair := self.best(under)):  # choose
        self._make(pair)                                      # merge, update the counts, record

`PlainPairs.walk` is that loop, and the way back. The best pair has the greatest value: its count, or a value
of its count and of the uses of its parts. `tests/support/naive.py` is the simplest version, which recounts
all pairs for each merge. Here no word is counted twice: a merge updates the counts of the pairs next to its
places. Every number at step k is what a recount from scratch gives, whether step k was reached by going
forward or back.

The distinct words lie in one array of cells, in order of first appearance, with a boundary between words:

    words                   h u g     p u g         4 kinds of units, 2 words
    symbols           [-1,  2 3 1 -1, 4 3 1, -1]    a cell for each unit
    merge u+g into 5  [-1,  2 5 5 -1, 4 5 5, -1]    its symbol is in its first and in its last cell

So a neighbor is found by one look to either side and the length of the neighbor. `_pair_at` has for each cell
the number of the pair that starts there; 0 at the end of a word; the complement of its last pair once a merge
has swallowed the cell.

All places of a pair are made in the step that creates the newer of its two symbols, in text order; its count
never grows after that. Pairs are numbered from 1 in the order they come to be, so undoing a step cuts the
tables of pairs at their end.

>>> from tokentui.learn import run, start, steps
>>> from tokentui.recipe import Recipe, Stops
>>> from tokentui.text.corpus import Corpus
>>> corpus = Corpus.from_counts([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
>>> recipe = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
>>> trainer = start(corpus, recipe)
>>> print(run(trainer, Stops(merges=3)))
merges
>>> for step in steps(trainer):
...     print(step.left, step.right, "->", step.id, "count", step.count)
b'u' b'g' -> 7 count 20
b'u' b'n' -> 8 count 16
b'h' b'ug' -> 9 count 15
>>> trainer.tokenizer().encode("hugs bun").ids
(9, 5, 0, 8)
"""

from __future__ import annotations

import bisect
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise, repeat
from operator import itemgetter

from tokentui.core.engines import PLAIN
from tokentui.core.jobs import check, each, in_blocks
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import BOUNDARY, FILTERS, WEIGHTS, Totals, barriers, tokens_of, totals_of
from tokentui.learn.engine import Constraints, Merge, Ranked, disjoint
from tokentui.learn.ngrams import Pair
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import TIES, Key, Queue, best_in_order
from tokentui.learn.steps import Span
from tokentui.learn.superwords import Superwords
from tokentui.text.pretokenize import Pretokenizer

_END = b""
"""The end of a word among its units."""
_SHARED = ("starts", "_weights")
"""The lists that no step changes."""
_SLICE, _A_STEP = 2048, 32
"""The work of a call of `walk`, in places merged, and the work of a step apart from its places."""


class PlainPairs:
    """The pairs of a corpus and their merges. The current step is `number`, the furthest one `computed`.

    Args:
        material: The counted words, the recipe and the run.
        vocabulary_of: Makes the vocabulary from the units and how often they count.
        cut: Cuts a word into units; those of the recipe if None.
        superwords: The words in symbols of a vocabulary that has merges already, which are no steps of this
            engine; None for words in units.
    """

    engine = PLAIN
    key: Key
    allowed: Callable[[Iterable[int]], list[int]]
    """Returns the pairs that may be merged, of those given."""
    _limits: tuple[int | None, frozenset[tuple[bytes, ...]]]
    _queue: Queue
    """The candidates at the furthest step."""
    _moved: set[int]
    """The pairs that are new or have another count since the queue was updated."""
    _parts: set[int]
    """The symbols that were merged since then."""
    _first_pairs: dict[tuple[int, int], int] | None = None
    """The pairs of units, by their symbols."""

    # ---- 1. Lay out the words

    def __init__(
        self, material: Material, vocabulary_of: Callable[[Totals], Vocabulary],
        cut: Callable[[str], list[bytes]] | None = None, superwords: Superwords | None = None,
    ) -> None:
        recipe, words = material.recipe, material.words
        self.objective, self._allows = material.objective, FILTERS.of(recipe.pieces).allows
        self._rule = TIES.of(recipe.tie).key
        self._superwords, weights = superwords, WEIGHTS.of(recipe.weight).of(words.counts)
        self.symbols, barred_tokens = [BOUNDARY], 0
        if superwords is None:
            cut = cut or Pretokenizer(recipe).units
            units = [cut(word) for word in each(words.words, len(words.words))]
            totals = totals_of(units, weights)
            barred = barriers(totals, recipe)
            self.vocabulary = vocabulary_of({unit: totals[unit] for unit in totals if unit not in barred})
            pieces = self.vocabulary.pieces
            symbol_of = {piece: symbol for symbol, piece in enumerate(pieces)}
            symbol_of |= dict.fromkeys((*barred, _END), BOUNDARY)
            for part in in_blocks(chain.from_iterable(chain(word, (_END,)) for word in units)):
                self.symbols += map(symbol_of.__getitem__, part)
            self.uses = [0 if piece in barred else totals.get(piece, 0) for piece in pieces]
            """The uses of each symbol at this step, by weight."""
            barred_tokens = tokens_of(barred, units, weights, recipe)
            sizes = [len(word) + 1 for word in units]
        else:
            self.vocabulary = vocabulary_of({})
            for word in superwords.words:
                self.symbols += (*word, BOUNDARY)
            self.uses = superwords.uses(weights)
            sizes = [len(word) + 1 for word in superwords.words]
            self._superwords = superwords._replace(words=())  # they are laid out now
        self._earlier = len(self.vocabulary.merges)
        """The merges that the vocabulary had before the first step."""
        self.starts = list(accumulate(sizes, initial=1))[:-1]
        self._weights = [0, *chain.from_iterable(map(repeat, weights, sizes))]
        self.length = [1] * len(self.vocabulary.pieces)
        """The number of cells that each symbol covers."""
        self.left, self.right, self.counts = [BOUNDARY], [BOUNDARY], [0]
        self._places: list[list[int]] = [[]]
        """The places where each pair has occurred, in text order; it is still there if `_pair_at` says so."""
        self._listed = 0
        """The number of places of all pairs."""
        self._pair_at = [0] * len(self.symbols)
        self._log_place: list[int] = []
        """The places of each merge, and the pair that started at the token to the left before it."""
        self._log_left: list[int] = []
        self._tokens = [sum(self.uses) + barred_tokens]
        self.tokens_at = self._tokens.__getitem__
        """The length of the corpus in tokens after a computed step."""
        self._bits = 2 * self._tokens[0].bit_length()
        """No denominator of a value so far has more bits; that of a score is T² at most, T the length."""
        self._count()
        self.number = self.computed = 0
        self._made: list[Merge] = []
        self._reset_candidates(Constraints())

    def _count(self) -> None:
        """Find the pairs of neighboring symbols and count them, overlapping places too."""
        counts, places, weights, pair_at = self.counts, self._places, self._weights, self._pair_at
        pair_of: dict[tuple[int, int], int] = {}
        for part in in_blocks(enumerate(pairwise(self.symbols))):
            for at, parts in part:
                pair = pair_of.get(parts)
                if pair is None:
                    pair_of[parts] = pair = 0 if BOUNDARY in parts else self._new(*parts)
                if pair:
                    counts[pair] += weights[at]
                    places[pair].append(at)
                    pair_at[at] = pair
        self._listed = sum(map(len, places))

    def _new(self, left: int, right: int) -> int:
        """Add a pair to the table of pairs. Returns its number."""
        self.left.append(left)
        self.right.append(right)
        self.counts.append(0)
        self._places.append([])
        return len(self.counts) - 1

    # ---- 2. Choose, merge, record

    def walk(self, goal: int, under: Constraints) -> None:
        """Go toward a step for some milliseconds, which may end before the step is reached.

        Computed steps are undone and redone. Further steps are made until no pair may be merged.
        """
        work = _SLICE
        while self.number > goal and work > 0:
            work -= self._unmerge() + _A_STEP
        while self.number < min(goal, self.computed) and work > 0:
            work -= self._merge(self._made[self.number].chosen) + _A_STEP
        while self.number < goal and work > 0 and (pair := self.best(under)):  # choose
            work -= self._make(pair) + _A_STEP  # merge, update the counts, record

    def best(self, under: Constraints) -> int:
        """Return the number of the best pair at the furthest step, 0 if no pair may be merged.

        A forced pair that occurs is the best, whatever its count is. The call updates the queue of
        candidates.
        """
        if (under.max_length, under.forbidden) != self._limits:
            self._reset_candidates(under)
        least = under.min_count if self.objective.filters else 1
        if least != self._queue.least:
            self._queue, self._moved = self._new_queue(least), set(range(1, len(self.counts)))
        if self._moved or self._parts:  # asked twice a step: whether there is a pair, and which
            queue = self._queue
            queue.update(self._moved, self._parts)
            if queue is not self._queue:  # a value had a greater denominator than all before
                return self.best(under)
            self._moved.clear()
            self._parts.clear()
        pair = self._queue.best()
        if under.forced and (forced := self._pair_of(under.forced)):
            self._queue.force(forced)
            return forced
        return pair if self.counts[pair] >= under.min_count else 0

    def _make(self, pair: int) -> int:
        """Merge a pair as the step after the furthest one. Returns how many places were merged, by weight."""
        return self._record(pair, self.left[pair], self.right[pair], self.counts[pair])

    def merge_given(self, left: int, right: int, recorded_count: int) -> int:
        """Merge two symbols that another engine chose, as the step after the furthest one.

        The merge makes its symbol even if the pair does not occur here.

        Args:
            left: The left symbol.
            right: The right symbol.
            recorded_count: The count that the vocabulary records: the one that the pair was chosen for.

        Returns:
            How many places were merged, by weight.
        """
        return self._record(self._find(left, right), left, right, recorded_count)

    def _record(self, pair: int, left: int, right: int, recorded_count: int) -> int:
        """Merge a pair for the first time and record the step. Pair 0 occurs nowhere."""
        places, pairs, logged = self.counts[pair], len(self.counts), len(self._log_place)
        uses = self.uses[left], self.uses[right]
        tied, was_tied = self._queue.tied, self._queue.was_tied
        self.computed += 1
        self.vocabulary.add(left, right, recorded_count)
        self.length.append(self.length[left] + self.length[right])
        self.uses.append(0)
        replaced = self._merge(pair)
        self._tokens.append(self._tokens[-1] - replaced)
        row = Pair(left, right, places, places, *uses)
        self._made.append(Merge(row, replaced, tied, was_tied, self._tokens[-1], pair, pairs, logged))
        return replaced

    def _symbol(self, number: int) -> int:
        """Return the symbol that the step after a step makes."""
        return self.vocabulary.base_size + self._earlier + number

    def _merge(self, pair: int) -> int:
        """Merge every place of a pair, left to right, into the symbol of the next step.

        Returns how many places were merged, by weight.
        """
        symbols, pair_at, weights, length = self.symbols, self._pair_at, self._weights, self.length
        counts, places, log_place, log_left = self.counts, self._places, self._log_place, self._log_left
        token, left, right = self._symbol(self.number), self.left[pair], self.right[pair]
        moved = self._moved
        # the new pair (symbol, token) of each symbol that comes before the token
        before: dict[int, int] = {}
        after: dict[int, int] = {}  # the new pair (token, symbol) of each symbol that comes after it
        offset, end = length[left], length[token]
        first_new = len(counts)
        replaced = 0
        for start in places[pair]:
            if pair_at[start] != pair:
                continue
            weight = weights[start]
            replaced += weight
            old = 0
            neighbor = symbols[start - 1]
            if neighbor >= 0:
                at = start - length[neighbor]
                old = pair_at[at]
                counts[old] -= weight
                moved.add(old)
                new = before.get(neighbor)
                if new is None:
                    before[neighbor] = new = self._new(neighbor, token)
                counts[new] += weight
                places[new].append(at)
                pair_at[at] = new
            log_place.append(start)
            log_left.append(old)
            old = pair_at[start + offset]
            pair_at[start + offset] = ~old
            new = 0
            if old:
                counts[old] -= weight
                moved.add(old)
                neighbor = symbols[start + end]
                new = after.get(neighbor)
                if new is None:
                    after[neighbor] = new = self._new(token, neighbor)
                counts[new] += weight
                places[new].append(start)
            pair_at[start] = new
            symbols[start] = symbols[start + end - 1] = token
        counts[pair] = 0  # in a run such as "aaa" the places that overlap go with the pair
        moved.add(pair)
        moved.update(range(first_new, len(counts)))
        self._listed += sum(map(len, places[first_new:]))
        self._parts.update((left, right))
        self.uses[token] += replaced
        self.uses[left] -= replaced
        self.uses[right] -= replaced
        self.number += 1
        return replaced

    # ---- 3. Undo

    def _unmerge(self) -> int:
        """Undo the last merge, exactly. Returns how many places were merged, by weight."""
        self.number -= 1
        merge = self._made[self.number]
        pair, first_new, logged = merge.chosen, merge.pairs, merge.logged
        symbols, pair_at, weights, length, counts = (
            self.symbols, self._pair_at, self._weights, self.length, self.counts,
        )
        left, right = self.left[pair], self.right[pair]
        offset, last = length[left], length[left] + length[right] - 1
        for entry in range(len(self._log_place) - 1, logged - 1, -1):
            start, before = self._log_place[entry], self._log_left[entry]
            weight, middle = weights[start], start + offset
            pair_at[middle] = after = ~pair_at[middle]
            counts[after] += weight
            if before:
                pair_at[start - length[symbols[start - 1]]] = before
                if before < first_new:
                    counts[before] += weight
            pair_at[start] = pair
            symbols[start] = symbols[middle - 1] = left
            symbols[middle] = symbols[start + last] = right
        counts[0], counts[pair] = 0, merge.pair.places
        self._listed -= sum(map(len, self._places[first_new:]))
        del self.left[first_new:], self.right[first_new:], counts[first_new:], self._places[first_new:]
        del self._log_place[logged:], self._log_left[logged:]
        self.uses[self._symbol(self.number)] = 0
        self.uses[left] += merge.replaced
        self.uses[right] += merge.replaced
        return merge.replaced

    def forget(self) -> None:
        """Drop the computed steps after the current one. Replaces `vocabulary` by a new object."""
        self.vocabulary = self.vocabulary.truncated(self._earlier + self.number)
        del self.uses[len(self.vocabulary.pieces) :], self.length[len(self.vocabulary.pieces) :]
        del self._made[self.number :], self._tokens[self.number + 1 :]
        self.computed = self.number
        self._reset_candidates()

    # ---- 4. Fork

    def fork(self, number: int, material: Material) -> PlainPairs:
        """Return an independent copy at a computed step, without the steps after it, for a run by another
        recipe."""
        other = copy.copy(self)
        own = [name for name, part in vars(self).items() if isinstance(part, list) and name not in _SHARED]
        vars(other).update({name: getattr(self, name).copy() for name in own})
        other.tokens_at, other._moved, other._parts = other._tokens.__getitem__, set(), set()
        while other.number != number:
            check()
            other.walk(number, Constraints())
        other.forget()
        other.vocabulary.recipe = material.recipe
        return other

    # ---- 5. The pairs that may be merged, and their values

    def _reset_candidates(self, under: Constraints | None = None) -> None:
        """Forget the order of the pairs, and set the constraints on which of them may be merged."""
        if under is not None:
            self._limits = under.max_length, under.forbidden
        (longest, forbidden), allows = self._limits, self._allows
        if self._superwords:
            allows, longest = partial(self._superwords.allows, longest=longest), None
        length, vocabulary, pieces = self.length, self.vocabulary, self.vocabulary.pieces
        tokens = {parts[0] for parts in forbidden if len(parts) == 1}
        judged = bytearray(1)  # 1 for each pair that may be merged: 0 is none; a redone merge makes the same

        def may(pair: int) -> bool:
            left, right = self.left[pair], self.right[pair]
            return (
                (longest is None or length[left] + length[right] <= longest)
                and (allows is None or allows(vocabulary.join(left, right)))
                and (pieces[left], pieces[right]) not in forbidden
                and not (tokens and vocabulary.join(left, right) in tokens)
            )

        def allowed(pairs: Iterable[int]) -> list[int]:
            for part in in_blocks(range(len(judged), len(self.counts))):
                judged.extend(map(may, part))
            return [pair for part in in_blocks(pairs) for pair in part if judged[pair]]

        self.allowed = list if longest is None and allows is None and not forbidden else allowed
        self.key, self._queue = self._rule(self), self._new_queue(1)
        self._moved, self._parts = set(range(1, len(self.counts))), set()

    def _new_queue(self, least: int) -> Queue:
        by_count = self.objective.value is None
        return Queue(self, least, by_count, None if by_count else (self.left, self.right))

    def compared(self, pair: int) -> tuple[bytes, bytes]:
        """Return the exact bytes of the parts of a pair, which tie rules compare."""
        pieces = self.vocabulary.pieces
        return pieces[self.left[pair]], pieces[self.right[pair]]

    def ids(self, pair: int) -> tuple[int, int]:
        """Return the ids of the parts of a pair."""
        order = self.vocabulary.order
        return order[self.left[pair]], order[self.right[pair]]

    def units(self, pair: int) -> int:
        """Return the number of units of the token that a pair makes."""
        return self.length[self.left[pair]] + self.length[self.right[pair]]

    def token(self, pair: int) -> bytes:
        """Return the exact bytes of the token that a pair makes."""
        return self.vocabulary.join(self.left[pair], self.right[pair])

    def values(self, pairs: Sequence[int]) -> list[int]:
        """Return the values of pairs that occur, as whole numbers with exactly the same order and equality.

        A value n/d becomes floor(n·2^2B / d), where no denominator has more than B bits. Two values that
        differ do so by at least 1/(d·d') > 2^-2B. Multiplied by 2^2B they are more than 1 apart and their
        floors differ in the same direction; equal values have equal floors. Where a denominator has more
        bits than all before it, B grows and the queue starts again with all pairs.
        """
        if self.objective.value is None:
            return [self.counts[pair] for pair in pairs]
        fractions = self._fractions(pairs)
        if (bits := max(map(itemgetter(1), fractions), default=0).bit_length()) > self._bits:
            self._bits = 2 * bits  # doubled, so that it grows seldom
            self._reset_candidates()
        shift = 2 * self._bits
        return [(numerator << shift) // denominator for numerator, denominator in fractions]

    def _fractions(self, pairs: Sequence[int]) -> list[tuple[int, int]]:
        """Return the exact values of pairs, each as numerator and denominator."""
        counts, left, right, uses, value = self.counts, self.left, self.right, self.uses, self.objective.value
        assert value is not None
        return [value(counts[pair], uses[left[pair]], uses[right[pair]]) for pair in pairs]

    def _find(self, left: int, right: int) -> int:
        """Return the number of the pair of two symbols, 0 if it never occurred.

        A pair first occurs in the step that creates the newer of its symbols.
        """
        step = max(left, right) - self._symbol(0)
        made, size = self._made, len(self.counts)
        if step < 0:
            if self._first_pairs is None:
                first = range(1, made[0].pairs if made else size)
                self._first_pairs = {(self.left[pair], self.right[pair]): pair for pair in first}
            return self._first_pairs.get((left, right), 0)
        end = made[step + 1].pairs if step + 1 < len(made) else size
        pairs = range(made[step].pairs, min(end, size))
        return next((pair for pair in pairs if self.left[pair] == left and self.right[pair] == right), 0)

    def _pair_of(self, parts: tuple[bytes, ...]) -> int:
        """Return the most frequent pair whose parts have these bytes, 0 if none occurs.

        The tie rule chooses between pairs of the same count.
        """
        pieces = self.vocabulary.pieces
        pairs = (
            pair for pair in range(1, len(self.counts))
            if self.counts[pair] and (pieces[self.left[pair]], pieces[self.right[pair]]) == parts
        )
        return min(pairs, key=lambda pair: (-self.counts[pair], self.key(pair)), default=0)

    # ---- 6. The candidates of a page, at any step

    def top(self, under: Constraints, limit: int) -> Ranked:
        """Return the best candidates at this step in order, about `limit` of them.

        A forced pair that occurs comes first, in addition to the limit.
        """
        if (under.max_length, under.forbidden) != self._limits:
            self._reset_candidates(under)
        counts, uses, key, (fell, first_new) = self.counts, self.uses, self.key, self._falls()
        pairs = self.allowed([pair for pair, count in enumerate(counts) if count >= under.min_count])
        values = self.values(pairs)
        forced = self._pair_of(under.forced) if under.forced else 0
        best, total, equals = best_in_order(pairs, values, key, limit, forced)
        rows = []
        for pair in best:
            left, right, count = self.left[pair], self.right[pair], counts[pair]
            change = fell.get(pair, 0) if pair < first_new else None
            before = None if change is None else count + change
            rows.append(Pair(left, right, count, before, uses[left], uses[right]))
        tied = values.count(max(values, default=0))
        replaced = rows[0].places if rows else 0
        if rows and rows[0].left == rows[0].right:
            replaced = self.disjoint(best[0])
        return Ranked(total, tied, replaced, rows, equals)

    def _falls(self) -> tuple[Mapping[int, int | None], int]:
        """Return by how much the last step lowered counts, and the first number of a pair that it created.

        The merged pair is left out. At step 0 no count is lowered and no pair is created.
        """
        fell: dict[int, int] = {}
        if not self.number:
            return fell, len(self.counts)
        merge = self._made[self.number - 1]
        merged, first_new, logged = merge.chosen, merge.pairs, merge.logged
        offset = self.length[self.left[merged]]
        for start, before in zip(self._log_place[logged:], self._log_left[logged:], strict=True):
            for old in (before, ~self._pair_at[start + offset]):
                if 0 < old < first_new and old != merged:
                    fell[old] = fell.get(old, 0) + self._weights[start]
        return fell, first_new

    def disjoint(self, pair: int) -> int:
        """Return the weight of the places that a merge of a pair of equal symbols would replace."""
        places = [at for at in self._places[pair] if self._pair_at[at] == pair]
        return disjoint(places, [self._weights[at] for at in places], 2 * self.length[self.left[pair]])

    def first_place(self, pair: int) -> int:
        """Return the first cell where a pair occurs, the end of the corpus if it occurs nowhere."""
        pair_at = self._pair_at
        return next((at for at in self._places[pair] if pair_at[at] == pair), len(self.symbols))

    # ---- 7. Figures and words

    def memory(self) -> int:
        """Return an estimate of the bytes of the corpus, its pairs and the history, at 8 bytes per number."""
        flat = (
            self.symbols, self._weights, self.starts, self._pair_at, self.length, self.left, self.right,
            self.counts, self._places, self._log_place, self._log_left, self.uses, self._tokens,
        )
        return 8 * (sum(len(numbers) for numbers in flat) + self._listed + 8 * self.computed)

    def merged(self, number: int) -> Merge:
        """Return the pair that a computed step merged, with its figures before the step."""
        return self._made[number - 1]

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step."""
        return self.vocabulary.sizes[self._earlier + number]

    def words_changed(self) -> set[int]:
        """Return the indices of the words in which the last step merged something; none at step 0."""
        return set(self.words_merged(self.number)) if self.number else set()

    def words_merged(self, number: int) -> list[int]:
        """Return the index of the word of each place that a step, at most the current one, merged."""
        last = self._made[number].logged if number < len(self._made) else len(self._log_place)
        places = self._log_place[self._made[number - 1].logged : last]
        return [bisect.bisect_right(self.starts, place) - 1 for place in places]

    def chosen(self, pair: int) -> tuple[int, int, int]:
        """Return the two symbols and the count of a pair."""
        return self.left[pair], self.right[pair], self.counts[pair]

    def share(self, vocabulary: Vocabulary) -> None:
        """Do nothing: each plain engine has a vocabulary of its own. Kernels share one."""

    def replaces(self, left: int, right: int) -> int:
        """Return the weight of the places that a merge of two symbols would replace at this step; 0 if the
        pair does not occur."""
        pair = self._find(left, right)
        return self.disjoint(pair) if left == right else self.counts[pair]

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """Return the current tokens of a word. Units that nothing merges with have no span.

        Args:
            index: The index of the word.
            first: The unit that the first token covers. The token may begin before it.
            units: The number of units from there on; None for all.
        """
        start = self.starts[index]
        at, out = start + first, []
        symbols, length, pair_at = self.symbols, self.length, self._pair_at
        end = (self.starts[index + 1] if index + 1 < len(self.starts) else len(symbols)) - 1
        while pair_at[at] < 0:  # a cell inside a token: its first cell is to the left
            at -= 1
        stop = end if units is None else min(end, start + first + units)
        while at < stop:
            symbol = symbols[at]
            size = length[symbol] if symbol >= 0 else 1  # a boundary inside a word is no token
            if symbol >= 0:
                out.append(Span(at - start, at - start + size, symbol))
            at += size
        return out
