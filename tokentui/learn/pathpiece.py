"""PathPiece: a large vocabulary loses, step by step, the token whose absence lengthens the corpus least
(Schmidt et al., "Tokenization is more than compression", 2024).

A word is cut into the fewest tokens; of several such segmentations the one with the widest last token is
used. Step 0 has the units and the most frequent texts inside words. Each step removes the token of the least
cost, or the `at` cheapest ones. Of equal costs the token of more units goes first, then the one whose bytes
come first. Units stay.

The cost of a token is summed over the places where it is used, times the weight of the word. At a place from
i to j it is the number of tokens that the word gains without the token: the fewest tokens of a segmentation
that either cuts between i and j or has a wider token over both, less the fewest tokens of the word. A token
that no word uses costs nothing.

The segmentation of a word depends on the current tokens alone, so a step back cuts the same words again. The
paper gives no tie rule, and its authors published no trainer.

>>> from tokentui import learn
>>> from tokentui.learn.objectives import Material
>>> from tokentui.recipe import Recipe, Run, Stops
>>> from tokentui.text.count import Words
>>> axes = {"split": "none", "unit": "char", "base": "sorted", "unknown": "error"}
>>> recipe = Recipe(objective="pathpiece", encode="fewest-tokens").with_axes(**axes)
>>> words = Words(("low", "lower", "newest", "widest"), (5, 2, 6, 3))
>>> trainer = PathTrainer(Material.of(words, recipe))
>>> trainer.size_at(0), trainer.tokens_at(0), learn.run(trainer, Stops(vocab_size=11)).value
(46, 16, 'vocab_size')
>>> [step.sentence for step in learn.steps(trainer, 33)]
['remove lower: 4 tokens more', 'remove low: 14 tokens more', 'remove widest: 15 tokens more']
"""

from __future__ import annotations

import copy
import heapq
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from tokentui.core.jobs import check, each
from tokentui.encode.events import Event, EventKind
from tokentui.encode.segment import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import FILTERS, WEIGHTS, barriers, base_units, tokens_of, totals_of
from tokentui.learn.objectives import Material
from tokentui.learn.part_lengths import PartLengths
from tokentui.learn.rows import KEPT_ROWS, Entry, Inventory, PieceCandidate, Ranking, Traits, Why
from tokentui.learn.shortest_paths import (
    STAYS,
    Edge,
    UnitWord,
    absence_costs,
    count_texts,
    find_edges,
    shortest_path,
)
from tokentui.learn.steps import Changed, Span, Step, Stop, Used, Word
from tokentui.learn.trainer import SLICE_S
from tokentui.recipe import Ending, Stops, WhatIf
from tokentui.text.pretokenize import Pretokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalStep(Step):
    """A step that removed tokens.

    Attributes:
        removed: The exact bytes of the tokens, the cheapest first.
        cost: The sum of the costs that they were chosen by.
        longer: The number of tokens that the corpus gained.
    """

    removed: tuple[bytes, ...]
    cost: int
    longer: int

    @property
    def sentence(self) -> str:
        """The step as a sentence: the first three tokens, and by how much the corpus became longer."""
        names = [piece.decode("utf-8", "replace").replace(" ", "·") for piece in self.removed[:3]]
        more = f" and {len(self.removed) - 3:,} more" if len(self.removed) > 3 else ""
        return f"remove {', '.join(names)}{more}: {self.longer:,} token{'s' * (self.longer != 1)} more"

    @property
    def decision(self) -> tuple[bytes, ...]:
        """The removed tokens, by which two trainings are compared."""
        return self.removed

    @property
    def row(self) -> dict[str, Any]:
        """The row of the step in a trace, as JSON values."""
        return {
            "step": self.number, "kind": self.kind, "hex": [piece.hex() for piece in self.removed],
            "removed": [piece.decode("utf-8", "replace") for piece in self.removed], "cost": self.cost,
            "tied": self.tied, "tokens": self.tokens, "vocab_size": self.vocab_size,
        }


class Removal(NamedTuple):
    """A computed step.

    Attributes:
        tokens: The numbers of the removed tokens, the cheapest first.
        costs: The cost of each before the step.
        uses: The uses of each before the step, by weight.
        tied: The number of tokens that shared the least cost.
        length: The length of the corpus in tokens after the step, by weight.
    """

    tokens: tuple[int, ...]
    costs: tuple[int, ...]
    uses: tuple[int, ...]
    tied: int
    length: int


class PathTrainer:
    """A training that removes tokens; see `learn.trainer.Trainer`.

    Args:
        material: The counted words, the recipe and the run.
        texts: The exact bytes of the tokens of step 0 besides the units, such as those of another vocabulary.
            Texts that do not occur inside words are left out. None for the most frequent texts of the corpus.
    """

    what_if: tuple[WhatIf, ...] = ()

    # ---- 1. The tokens of step 0

    def __init__(self, material: Material, texts: Sequence[bytes] | None = None) -> None:
        self._texts = texts
        self.words, self.recipe, self._material = material.words, material.recipe, material
        recipe, words = material.recipe, material.words.words
        parameters = material.objective.arguments(recipe.objective)
        self._seeds, self._longest, self._per_step = (
            int(str(parameters[name])) for name in ("seeds", "longest", "at")
        )
        self._cut, self._run = Pretokenizer(recipe).units, material.run
        self._weights = list(WEIGHTS.of(recipe.weight).of(material.words.counts))
        units = [self._cut(word) for word in each(words, len(words))]
        totals = totals_of(units, self._weights)
        self._barriers = barriers(totals, recipe)
        self._units = base_units(
            recipe, {unit: totals[unit] for unit in totals if unit not in self._barriers}
        )
        self._barrier_tokens = tokens_of(self._barriers, units, self._weights, recipe)
        self._unit_words = [UnitWord.of(word, self._barriers) for word in units]
        self._row = lru_cache(KEPT_ROWS)(PieceCandidate)
        self.limits = Stops()
        self._start()

    def _start(self) -> None:
        """Forget all steps, choose the tokens of step 0, and cut all words by them."""
        self._lengths = PartLengths(self.words, self.recipe.weight)
        longest = min(self._longest, self.limits.max_length or self._longest)
        counts = count_texts(self._unit_words, self._weights, longest, self._run.specials)
        allows = FILTERS.of(self.recipe.pieces).allows
        ordered = ((-count, text) for text, count in counts.items() if allows is None or allows(text))
        chosen = [text for _, text in heapq.nsmallest(self._seeds, ordered)]
        if self._texts is not None:
            chosen = [text for text in dict.fromkeys(self._texts) if text in counts]
        self.pieces = [*self._units, *chosen]
        """The exact bytes of each token of step 0, by its number: the units first."""
        self._number_of = {piece: token for token, piece in enumerate(self.pieces)}
        self._removed_at = [STAYS] * len(self.pieces)
        """The computed step that removes each token, `STAYS` if none does."""
        self._size_of = [1] * len(self.pieces)
        """The units of each token."""
        self._present = set(range(len(self.pieces)))
        """The tokens at the current step."""
        self._cost, self._uses = [0] * len(self.pieces), [0] * len(self.pieces)
        self._words_of: list[list[int]] = [[] for _ in self.pieces]
        """The indexes of the words in which the text of each token occurs."""
        self._costs_in: list[tuple[tuple[int, int], ...]] = [()] * len(self._unit_words)
        """The tokens of each word with the cost of each there; see `absence_costs`."""
        self._costs: Counter[int] = Counter({0: len(self.pieces) - len(self._units)})
        """The number of removable tokens of each cost."""
        self._outdated = set[int]()
        """The tokens whose cost has changed since they were put into the heap."""
        self._heap: list[tuple[int, int, bytes, int]] = []
        """The keys of removable tokens, some out of date; see `_key`."""
        self._steps: list[Removal] = []
        """The computed steps."""
        self.number, self._length = 0, self._barrier_tokens
        for index, word in enumerate(each(self._unit_words, len(self._unit_words))):
            for start, end in word.spans(longest):
                token = self._number_of.get(word.slice(start, end))
                if token is not None:
                    self._size_of[token] = end - start
                    if not (indexes := self._words_of[token]) or indexes[-1] != index:
                        indexes.append(index)
        self._widest = max(self._size_of, default=1)
        self._heap = [self._key(token) for token in range(len(self._units), len(self.pieces))]
        heapq.heapify(self._heap)
        for index in each(range(len(self._unit_words)), len(self._unit_words)):
            self._cut_again(index)
        self._first_length = self._length
        self._vocabulary: tuple[int, Vocabulary, list[int]] | None = None
        """A step, its vocabulary, and the token of each symbol of that."""

    def _path(self, word: UnitWord, step: int) -> list[Edge]:
        """Return the segmentation of a word after a computed step."""
        return shortest_path(*find_edges(word, step, self._number_of, self._removed_at, self._widest))

    def _cut_again(self, index: int) -> None:
        """Segment a word by the current tokens, and update the costs and uses of its tokens."""
        weight, word = self._weights[index], self._unit_words[index]
        fewest, edges = find_edges(word, self.number, self._number_of, self._removed_at, self._widest)
        self._add_costs(self._costs_in[index], -weight)
        self._costs_in[index] = tuple(absence_costs(fewest, edges, shortest_path(fewest, edges)))
        self._add_costs(self._costs_in[index], weight)

    def _add_costs(self, costs: Iterable[tuple[int, int]], weight: int) -> None:
        """Add the tokens of a word, each with its cost there, to costs, uses and the length of the corpus.

        A negative weight subtracts them. Units that are no token are skipped.
        """
        for token, cost in costs:
            if token < 0:  # `_barrier_tokens` counts these
                continue
            self._length += weight
            self._uses[token] += weight
            if cost:
                if token in self._present:
                    self._costs[self._cost[token]] -= 1
                    self._costs[self._cost[token] + weight * cost] += 1
                self._cost[token] += weight * cost
                self._outdated.add(token)

    # ---- 2. Choose, remove, and go back

    def _key(self, token: int) -> tuple[int, int, bytes, int]:
        """Return the key of a token: the token of the smallest key is removed first."""
        return self._cost[token], -self._size_of[token], self.pieces[token], token

    def _update_heap(self) -> None:
        """Put the tokens whose cost has changed into the heap."""
        for token in self._outdated:
            if token in self._present:
                heapq.heappush(self._heap, self._key(token))
        self._outdated.clear()
        if len(self._heap) > 4 * len(self._present) + 1024:
            self._heap = [self._key(token) for token in self._present if token >= len(self._units)]
            heapq.heapify(self._heap)

    def _cheapest(self) -> list[int]:
        """Return the tokens that the next step removes, the cheapest first. Empty if only units are left.

        The heap is cleaned of outdated keys on the way; no token is removed.
        """
        self._update_heap()
        heap, tokens, keys = self._heap, list[int](), list[tuple[int, int, bytes, int]]()
        while heap and len(tokens) < self._per_step:
            key = heapq.heappop(heap)
            token = key[-1]
            if token in self._present and key == self._key(token) and token not in tokens:
                tokens.append(token)
                keys.append(key)
        for key in keys:
            heapq.heappush(heap, key)
        return tokens

    def _forward(self) -> bool:
        """Make the next step, for the first time or again. Return False if only units are left."""
        if self.number < self.computed:
            tokens = self._steps[self.number].tokens
        else:
            tokens = tuple(self._cheapest())
            if not tokens:
                return False
            costs, uses = (tuple(of[token] for token in tokens) for of in (self._cost, self._uses))
            self._steps.append(Removal(tokens, costs, uses, self._costs[costs[0]], 0))
        self.number += 1
        self._remove(tokens)
        self._steps[self.number - 1] = self._steps[self.number - 1]._replace(length=self._length)
        return True

    def _back(self) -> None:
        """Undo the last step: its tokens are present again."""
        tokens = self._steps[self.number - 1].tokens
        self.number -= 1
        self._restore(tokens)

    def _remove(self, tokens: Sequence[int]) -> None:
        """Remove tokens at the current step, and cut again the words in which their texts occur."""
        for token in tokens:
            self._present.remove(token)
            self._costs[self._cost[token]] -= 1
            self._removed_at[token] = self.number
        self._recut(tokens)

    def _restore(self, tokens: Sequence[int]) -> None:
        """Make the tokens present that the next computed step removes, and cut again the words with their
        texts."""
        for token in tokens:
            self._present.add(token)
            self._costs[self._cost[token]] += 1
            self._removed_at[token] = self.number + 1
        self._recut(tokens)

    def _recut(self, tokens: Sequence[int]) -> None:
        """Update what depends on tokens that were removed or restored: words, keys, and the cached
        vocabulary."""
        self._outdated.update(tokens)
        for index in set[int]().union(*(self._words_of[token] for token in tokens)):
            self._cut_again(index)
        self._vocabulary = None

    def advance(self, goal: int | None, stops: Stops, seconds: float = SLICE_S) -> Stop | None:
        """Walk toward a step, or on to a stop, for about some seconds; see `Trainer.advance`.

        If `max_length` differs from the last call, all steps are dropped and the training starts again.
        Without a goal, `end` decides by all stops; with one, by `max_length` alone.
        """
        limits = stops.only(self.traits.shaped_by)
        if limits != self.limits:
            self.limits = limits
            self._start()
        stops = stops if goal is None else limits
        deadline = time.perf_counter() + seconds
        while self.number != goal:
            if goal is not None and self.number > goal:
                self._back()
            elif end := self.end(stops):
                return end
            else:
                self._forward()
            if time.perf_counter() > deadline and self.number != goal:
                return None
        return Stop.MERGES

    def end(self, stops: Stops) -> Stop | None:
        """Return why these stops allow no further step, None if they allow one."""
        if stops.merges is not None and self.number >= stops.merges:
            return Stop.MERGES
        if stops.vocab_size is not None and self.size_at(self.number) <= stops.vocab_size:
            return Stop.VOCAB_SIZE
        return None if len(self._present) > len(self._units) else Stop.LAST

    def ending(self, stops: Stops) -> Ending:
        """Return the last step of a run under these stops. It is exact: steps remove equally many tokens."""
        removable = self.size_at(0) - max(stops.vocab_size or 0, self.traits.least_size)
        last = -(-max(0, removable) // self._per_step)
        if stops.merges is not None and stops.merges < last:
            return Ending(stops.merges, "stop" if stops.merges <= self.computed else "at most")
        return Ending(last, "last" if stops.vocab_size is None else "stop")

    def _copy(self) -> PathTrainer:
        """Return a training at this step that walks on its own."""
        other = copy.copy(self)
        for name in (
            "_removed_at", "_present", "_cost", "_uses", "_costs_in", "_costs", "_heap", "_outdated", "_steps"
        ):
            setattr(other, name, copy.copy(getattr(self, name)))
        return other

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> PathTrainer:
        """Return an independent training of the same corpus at a computed step, without the steps after it.

        Raises:
            TokentuiError: There is a what-if; removals have none.
        """
        self.traits.check_what_ifs(what_if)
        other = self._copy()
        while other.number != number:
            check()
            (other._back if other.number > number else other._forward)()
        for step in other._steps[number:]:
            for token in step.tokens:
                other._removed_at[token] = STAYS
        del other._steps[number:]
        other._vocabulary = None
        return other

    # ---- 3. Facts and figures of steps

    @property
    def computed(self) -> int:
        """The furthest step that has been made."""
        return len(self._steps)

    @property
    def traits(self) -> Traits:
        """The facts about the training that other rooms read."""
        return Traits(
            grows=False, shrinks=True, step="removal", candidate="token", phase="removing",
            columns=self._material.objective.columns, least_size=len(self._units) + self._fixed_ids,
            monotone=("ids", "tokens"),
        )

    @property
    def _fixed_ids(self) -> int:
        """The number of ids of special tokens, symbols and byte tokens."""
        byte_tokens = 256 * UNKNOWN.of(self.recipe.unknown).byte_fallback
        return len({*self._run.specials, *self.recipe.symbols}) + byte_tokens

    def memory(self) -> int:
        """Return the bytes that words and tokens take, counted as eight bytes a number."""
        numbers = sum(map(len, self._words_of)) + 3 * sum(map(len, self._costs_in)) + 20 * len(self.pieces)
        return 8 * numbers

    def step_at(self, number: int) -> RemovalStep:
        """Return a computed step, 1 for the first."""
        step, pieces = self._steps[number - 1], self.pieces
        return RemovalStep(
            number=number, kind="remove",
            events=tuple(Event(EventKind.REMOVE, token) for token in step.tokens),
            tied=step.tied, tokens=step.length, vocab_size=self.size_at(number),
            removed=tuple(pieces[token] for token in step.tokens), cost=sum(step.costs),
            longer=step.length - self.tokens_at(number - 1),
        )

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in tokens after a computed step, by weight."""
        return self._steps[number - 1].length if number else self._first_length

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """Return the length of each named part at the current step; empty for other steps."""
        return self._lengths.measured(number, self.segment) if number == self.number else ()

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step, special tokens counted."""
        removed = self._per_step * number
        if 0 < number == self.computed:  # the last step may remove fewer
            removed += len(self._steps[number - 1].tokens) - self._per_step
        return self._fixed_ids + len(self.pieces) - removed

    def steps_changing(self, tokens: frozenset[bytes], steps: range) -> list[int]:
        """Return the steps that remove one of these tokens; step 0 is none."""
        numbers = (self._number_of[token] for token in tokens if token in self._number_of)
        return sorted(step for step in map(self._removed_at.__getitem__, numbers) if step in steps)

    # ---- 4. Candidates, vocabulary and words at the present step

    def _replacement(self, token: int) -> tuple[bytes, ...]:
        """Return the tokens that the text of a token is cut into at the current step if the token is not
        used."""
        units = self._cut(self.pieces[token].decode("utf-8", "surrogateescape"))
        text, removed_at = UnitWord.of(units, self._barriers), self._removed_at[token]
        self._removed_at[token] = -1
        path = self._path(text, self.number)
        self._removed_at[token] = removed_at
        return tuple(text.slice(start, end) for start, end, _ in path)

    def _candidate(self, token: int, cost: int, uses: int, tied: bool, reason: str = "") -> PieceCandidate:
        """Return a token as a candidate. `reason` says why the next step removes it, empty if it does not."""
        instead = self._replacement(token)
        return self._row(
            (token,), instead, self.pieces[token], -cost, (cost, uses, instead, reason), tied, places=uses,
            uses=uses, loss=cost,
        )

    def taken(self, number: int) -> PieceCandidate:
        """Return the first token that a computed step removed."""
        step = self._steps[number - 1]
        return self._candidate(step.tokens[0], step.costs[0], step.uses[0], step.tied > 1)

    def candidates_at(self, limit: int | None, stops: Stops) -> Ranking:
        """Return the removable tokens, the next to go first. No search looks at what replaces them."""
        order = sorted(self._key(token) for token in self._present if token >= len(self._units))
        least = order[0][0] if order else 0

        def row(index: int) -> PieceCandidate:
            cost, _, _, token = order[index]
            reason = "least loss" if index < self._per_step else ""
            return self._candidate(token, cost, self._uses[token], self._costs[cost] > 1, reason)

        tied = self._costs[least] if order else 0
        return Ranking(len(order), tied, least, row, lambda index: order[index][2])

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the reasons of the next step with the tie rule, and how many tokens leave at once.

        As they are if nothing is left to remove.
        """
        if why.best is None:
            return why
        facts = ["of equals the longer one leaves first, then by its text"]
        if self._per_step > 1:
            leaving = len(self._cheapest())
            facts.append(f"{leaving:,} tokens leave, judged by the words as they are cut now")
        return replace(why, facts=tuple(facts))

    def _present_vocabulary(self) -> tuple[Vocabulary, list[int]]:
        """Return the vocabulary of the current step, and the token of each of its symbols."""
        if self._vocabulary is None or self._vocabulary[0] != self.number:
            self._vocabulary = self.number, *self._vocabulary_at(self.number)
        return self._vocabulary[1:]

    def _vocabulary_at(self, step: int) -> tuple[Vocabulary, list[int]]:
        """Return the vocabulary of a computed step, and the token of each of its symbols."""
        tokens = [token for token, removed_at in enumerate(self._removed_at) if removed_at > step]
        pieces = map(self.pieces.__getitem__, tokens)
        return Vocabulary(self.recipe, pieces, self._run.specials, self._run.first_id), tokens

    def inventory(self) -> Inventory:
        """Return the vocabulary at this step, with the tokens that the last step removed."""
        (vocabulary, tokens), units = self._present_vocabulary(), len(self._units)

        def finish(entry: Entry) -> Entry:
            if entry.symbol < 0:
                return entry
            return entry._replace(kind="base" if tokens[entry.symbol] < units else "piece")

        last = self._steps[self.number - 1] if self.number else None
        removed = [
            Entry(None, -1, self.pieces[token], "left", score=cost,
                  reason=f"its absence cost {cost:,} token{'s' * (cost != 1)}")
            for token, cost in (zip(last.tokens, last.costs, strict=True) if last else ())
        ]
        return Inventory(vocabulary, 0, len(tokens), removed=removed, finish=finish)

    def segment(self, place: Word) -> list[Span]:
        """Return the part of a word's segmentation that a place asks for.

        A unit that is no token has symbol -1.
        """
        word = UnitWord.of(self._cut(place.text), self._barriers)
        tokens = self._present_vocabulary()[1] if word.text else []
        symbols = {token: symbol for symbol, token in enumerate(tokens)}
        path = self._path(word, self.number)
        return place.within(Span(start, end, symbols.get(token, -1)) for start, end, token in path)

    def _pieces_at(self, word: UnitWord, step: int) -> tuple[bytes, ...]:
        """Return the tokens of a word after a computed step, empty bytes for a unit that is no token."""
        path = self._path(word, step)
        return tuple(word.slice(start, end) if token >= 0 else b"" for start, end, token in path)

    def changed(self) -> Changed:
        """Return the words whose segmentation the last step changed; none at step 0."""
        if not self.number:
            return Changed()
        words, now = self._unit_words, self.number
        removed = self._steps[now - 1].tokens
        indexes = {index for token in removed for index in self._words_of[token]}
        return Changed(frozenset(
            index for index in indexes
            if self._pieces_at(words[index], now - 1) != self._pieces_at(words[index], now)
        ))

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield the steps up to this one that remove a text of a word, with its tokens."""
        split = UnitWord.of(self._cut(word), self._barriers)
        texts = (split.slice(start, end) for start, end in split.spans(self._widest))
        steps = {self._removed_at[self._number_of[text]] for text in texts if text in self._number_of}
        units = (split.slice(index, index + 1) for index in range(len(split.offsets) - 1))
        all_known = all(unit in self._number_of for unit in units)

        def pieces(step: int) -> tuple[bytes, ...]:
            if all_known:
                return self._pieces_at(split, step)
            # The recipe says how an unknown unit is encoded.
            return tuple(token.piece or b"" for token in self.tokenizer(step).encoder.word(word))

        numbers = sorted({0, *(step for step in steps if step <= self.number)})
        return ((step, pieces(step)) for step in numbers)

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol of the present vocabulary, by weight."""
        return [self._uses[token] for token in self._present_vocabulary()[1]]

    def uses_of(self, symbol: int) -> Iterator[Used]:
        """Return an iterator over the uses of a symbol, which walks a copy of the training from the start."""
        token, number = self._present_vocabulary()[1][symbol], self.number
        other = self._copy()

        def walk() -> Iterator[Used]:
            """Go back to the start at the first use, then forward step by step."""
            while other.number:
                check()
                other._back()
            yield Used(0, other._uses[token])
            while other.number < number:
                check()
                other._forward()
                yield Used(other.number, other._uses[token])

        return walk()

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """Return the tokenizer of a computed step; of the current one if `number` is None."""
        if number is None or number == self.number:
            return Tokenizer(self._present_vocabulary()[0], 0, run)
        return Tokenizer(self._vocabulary_at(number)[0], 0, run)
