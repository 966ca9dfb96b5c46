"""PathPiece: a large vocabulary loses the token whose absence lengthens the corpus least (Schmidt et al.,
"Tokenization is more than compression", 2024).

A word is cut into the fewest tokens, of equals those with the widest last token. Step 0 has the units and the
most frequent texts inside words. A token costs what its places would: for a place from i to j in a word the
fewest tokens of a way that has a cut between them, or a token that reaches over both, less the fewest tokens
of the word; times the weight, summed over the places. A token that no word has costs nothing. A step removes
the token of the least cost, or the first so many; of equals the longer one goes first, in units, then the one
whose text comes first. Units stay. What a step makes of a word depends on the tokens that are there alone, so
a step back looks at the same words again. The paper tells of no tie rule, and its authors published no
trainer.

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
>>> [step.said for step in learn.steps(trainer, 33)]
['remove lower: 4 tokens more', 'remove low: 14 tokens more', 'remove widest: 15 tokens more']
"""

from __future__ import annotations

import copy
import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from tokentui.core.jobs import check, each
from tokentui.encode.segment import UNKNOWN
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import paths
from tokentui.learn.bases import BASES, FILTERS, WEIGHTS, barriers, tokens_of, totals_of
from tokentui.learn.lengths import Lengths
from tokentui.learn.objectives import Material
from tokentui.learn.paths import STAYS, Place, RemovalStep, Removed, Spelled
from tokentui.learn.rows import KEPT_ROWS, Entry, Page, PieceCandidate, Query, Traits, Why
from tokentui.learn.trainer import SLICE_S, Goal, Size, Tokens
from tokentui.learn.values import Changed, Event, Kind, Life, Span, Stop, Used, Word, lives
from tokentui.learn.view import entry_of, listed, page, shows, vocabulary_page
from tokentui.recipe import Ending, Stops, WhatIf
from tokentui.text.pretokenize import Pretokenizer

_LEFT = -(1 << 40)
"""Entries of the vocabulary from here down have left it."""


class PathTrainer:
    """A training by removals at a step; see `learn.trainer.Trainer`.

    Args:
        material: The counted words, the recipe and the run.
        texts: The exact bytes of the tokens to begin with, units apart, such as those of another vocabulary;
            the most frequent texts where None.
    """

    what_if: tuple[WhatIf, ...] = ()
    compression = replay = substeps = None

    def __init__(self, material: Material, texts: Sequence[bytes] | None = None) -> None:
        self._texts = texts
        self.words, self.recipe, self._material = material.words, material.recipe, material
        recipe, words = material.recipe, material.words.words
        given = material.objective.arguments(recipe.objective)
        self._seeds, self._longest, self._many = (int(str(given[one])) for one in ("seeds", "longest", "at"))
        self._cut, self._run = Pretokenizer(recipe).units, material.run
        self._weights = list(WEIGHTS.of(recipe.weight).of(material.words.counts))
        units = [self._cut(word) for word in each(words, len(words))]
        totals = totals_of(units, self._weights)
        self._apart = barriers(totals, recipe)
        self._units = list(BASES.of(recipe.base).units(
            {unit: totals[unit] for unit in totals if unit not in self._apart}
        ))
        self._others_length = tokens_of(self._apart, units, self._weights, recipe)
        self._spelled = [Spelled.of(word, self._apart) for word in units]
        self._entry = lru_cache(4 * KEPT_ROWS)(Entry)
        self._row = lru_cache(KEPT_ROWS)(PieceCandidate)
        self.limits = Stops()
        self._start()

    def _start(self) -> None:
        """Find the tokens to begin with, and cut all words by them."""
        self._lengths = Lengths(self.words, self.recipe.weight)
        longest = min(self._longest, self.limits.max_length or self._longest)
        counts = paths.counted(self._spelled, self._weights, longest, self._run.specials)
        allows = FILTERS.of(self.recipe.pieces).allows
        found = ((-count, text) for text, count in counts.items() if allows is None or allows(text))
        chosen = [text for _, text in heapq.nsmallest(self._seeds, found)]
        if self._texts is not None:
            chosen = [text for text in dict.fromkeys(self._texts) if text in counts]
        self.pieces = [*self._units, *chosen]
        """The exact bytes of each token of step 0; the others refer to them by their numbers."""
        self._of = {piece: number for number, piece in enumerate(self.pieces)}
        self._gone = [STAYS] * len(self.pieces)
        """The step that removed each, as far as it is known."""
        self._size_of = [1] * len(self.pieces)
        self._there = set(range(len(self.pieces)))
        self._cost, self._uses = [0] * len(self.pieces), [0] * len(self.pieces)
        self._words_of: list[list[int]] = [[] for _ in self.pieces]
        self._cuts: list[tuple[tuple[int, int], ...]] = [()] * len(self._spelled)
        """Of each word its tokens, as (token, cost of its absence)."""
        self._costs: Counter[int] = Counter({0: len(self.pieces) - len(self._units)})
        """The number of tokens that may leave, by their cost."""
        self._touched = set[int]()
        self._heap: list[tuple[int, int, bytes, int]] = []
        self._known: list[Removed] = []
        self.number, self._length = 0, self._others_length
        for index, word in enumerate(each(self._spelled, len(self._spelled))):
            for first, last in word.stretches(longest):
                token = self._of.get(word.part(first, last))
                if token is not None:
                    self._size_of[token] = last - first
                    if not (held := self._words_of[token]) or held[-1] != index:
                        held.append(index)
        self._widest = max(self._size_of, default=1)
        for number in range(len(self._units), len(self.pieces)):
            self._heap.append(self._key(number))
        heapq.heapify(self._heap)
        for index in each(range(len(self._spelled)), len(self._spelled)):
            self._look(index)
        self._first_length = self._length
        self._shown: tuple[int, Vocabulary, list[int]] | None = None

    def _way(self, word: Spelled, number: int) -> list[Place]:
        """The tokens of a word after a step."""
        return paths.shortest(*paths.ways(word, number, self._of, self._gone, self._widest))

    def _look(self, index: int) -> None:
        """Cut a word anew by the tokens that are there, and count what its tokens would cost."""
        weight = self._weights[index]
        fewest, found = paths.ways(self._spelled[index], self.number, self._of, self._gone, self._widest)
        self._give(self._cuts[index], -weight)
        self._cuts[index] = tuple(paths.absences(fewest, found, paths.shortest(fewest, found)))
        self._give(self._cuts[index], weight)

    def _give(self, cuts: Iterable[tuple[int, int]], weight: int) -> None:
        for token, cost in cuts:
            if token < 0:  # counted once and for all
                continue
            self._length += weight
            self._uses[token] += weight
            if cost:
                if token in self._there:
                    self._costs[self._cost[token]] -= 1
                    self._costs[self._cost[token] + weight * cost] += 1
                self._cost[token] += weight * cost
                self._touched.add(token)

    def _key(self, token: int) -> tuple[int, int, bytes, int]:
        """Tokens in the order in which they leave."""
        return self._cost[token], -self._size_of[token], self.pieces[token], token

    def _queue(self) -> None:
        """Bring the order of the tokens up to date."""
        for token in self._touched:
            if token in self._there:
                heapq.heappush(self._heap, self._key(token))
        self._touched.clear()
        if len(self._heap) > 4 * len(self._there) + 1024:
            self._heap = [self._key(token) for token in self._there if token >= len(self._units)]
            heapq.heapify(self._heap)

    def _next(self) -> list[int]:
        """The tokens that the next step removes; none where units alone are left."""
        self._queue()
        heap, out, kept = self._heap, list[int](), list[tuple[int, int, bytes, int]]()
        while heap and len(out) < self._many:
            entry = heapq.heappop(heap)
            token = entry[-1]
            if token in self._there and entry == self._key(token) and token not in out:
                out.append(token)
                kept.append(entry)
        for entry in kept:
            heapq.heappush(heap, entry)
        return out

    def _forward(self) -> bool:
        """Make the next step, again or for the first time. False where no token is left to remove."""
        if self.number < self.computed:
            tokens = self._known[self.number].tokens
        else:
            tokens = tuple(self._next())
            if not tokens:
                return False
            costs, uses = (tuple(one[token] for token in tokens) for one in (self._cost, self._uses))
            self._known.append(Removed(tokens, costs, uses, self._costs[costs[0]], 0))
        self.number += 1
        self._turn(tokens, self.number)
        self._known[self.number - 1] = self._known[self.number - 1]._replace(length=self._length)
        return True

    def _back(self) -> None:
        """Take the last step back: its tokens are there again."""
        tokens = self._known[self.number - 1].tokens
        self.number -= 1
        self._turn(tokens, STAYS)

    def _turn(self, tokens: Sequence[int], gone: int) -> None:
        """Let tokens leave at a step, or come back, and look at the words that hold them."""
        words = set[int]()
        for token in tokens:
            if gone == STAYS:
                self._there.add(token)
                self._costs[self._cost[token]] += 1
                self._gone[token] = self.number + 1  # known to leave with the next step
            else:
                self._there.remove(token)
                self._costs[self._cost[token]] -= 1
                self._gone[token] = gone
            self._touched.add(token)
            words.update(self._words_of[token])
        for index in words:
            self._look(index)
        self._shown = None

    def advance(self, goal: int | None, stops: Stops, seconds: float = SLICE_S) -> Stop | None:
        """Walk towards a step, or on to a stop, for about so many seconds; see `Trainer.advance`."""
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
        """The reason why no further step may be made under these stops, None where one may."""
        if stops.merges is not None and self.number >= stops.merges:
            return Stop.MERGES
        if stops.vocab_size is not None and self.size_at(self.number) <= stops.vocab_size:
            return Stop.VOCAB_SIZE
        return None if len(self._there) > len(self._units) else Stop.LAST

    def ending(self, stops: Stops) -> Ending:
        """The last step of a run under these stops: each removes as many tokens."""
        left = self.size_at(0) - max(stops.vocab_size or 0, self.traits.least_size)
        last = -(-max(0, left) // self._many)
        if stops.merges is not None and stops.merges < last:
            return Ending(stops.merges, "stop" if stops.merges <= self.computed else "at most")
        return Ending(last, "last" if stops.vocab_size is None else "stop")

    def _copied(self) -> PathTrainer:
        """The same training, which walks alone."""
        other = copy.copy(self)
        for name in ("_gone", "_there", "_cost", "_uses", "_cuts", "_costs", "_heap", "_known", "_touched"):
            setattr(other, name, copy.copy(getattr(self, name)))
        return other

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> PathTrainer:
        """Another training over the same corpus that stands at a computed step."""
        self.traits.check_what_ifs(what_if)
        other = self._copied()
        while other.number != number:
            check()
            (other._back if other.number > number else other._forward)()
        for known in other._known[number:]:
            for token in known.tokens:
                other._gone[token] = STAYS
        del other._known[number:]
        other._shown = None
        return other

    # ---- the present step

    @property
    def computed(self) -> int:
        """The furthest step that has been made."""
        return len(self._known)

    @property
    def traits(self) -> Traits:
        """The facts that other rooms have to know of it."""
        return Traits(
            grows=False, shrinks=True, step="removal", candidate="token", phase="removing",
            columns=self._material.objective.columns, least_size=len(self._units) + self._others,
        )

    @property
    def _others(self) -> int:
        byte_tokens = 256 * UNKNOWN.of(self.recipe.unknown).byte_fallback
        return len({*self._run.specials, *self.recipe.symbols}) + byte_tokens

    def memory(self) -> int:
        """The bytes that words and tokens take, about eight a number."""
        return 8 * (sum(map(len, self._words_of)) + 3 * sum(map(len, self._cuts)) + 20 * len(self.pieces))

    def step_at(self, number: int) -> RemovalStep:
        """A computed step, 1 for the first."""
        known, pieces = self._known[number - 1], self.pieces
        return RemovalStep(
            number=number, kind="remove", events=tuple(Event(Kind.REMOVE, one) for one in known.tokens),
            tied=known.tied, tokens=known.length, vocab_size=self.size_at(number),
            removed=tuple(pieces[one] for one in known.tokens), cost=sum(known.costs),
            longer=known.length - self.tokens_at(number - 1),
        )

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a computed step, by weight."""
        return self._known[number - 1].length if number else self._first_length

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """The length of each named part at the present step; empty for others: a step may change any word."""
        return self._lengths.seen(number, self.segment) if number == self.number else ()

    def size_at(self, number: int) -> int:
        """The number of ids after a computed step, specials counted."""
        removed = self._many * number if number < self.computed or not number else (
            self._many * (number - 1) + len(self._known[number - 1].tokens)
        )
        return self._others + len(self.pieces) - removed

    def find(self, goal: Goal, after: int = 0) -> int | None:
        """The first computed step at which a goal is reached, or the first after a step; None where there is
        none yet. A token is found at the step that removes it."""
        steps = range(after + 1 if after else 0, self.computed + 1)
        if isinstance(goal, Size | Tokens):
            sized = isinstance(goal, Size)
            return next((step for step in steps if (
                self.size_at(step) <= goal[0] if sized else self.tokens_at(step) >= goal[0]
            )), None)
        gone = (self._gone[self._of[token]] for token in goal.tokens if token in self._of)
        return min((step for step in gone if after < step <= self.computed), default=None)

    # ---- looking

    def _instead(self, token: int) -> tuple[bytes, ...]:
        """The tokens that a token's own text is cut into without it."""
        units = self._cut(self.pieces[token].decode("utf-8", "surrogateescape"))
        text, was, self._gone[token] = Spelled.of(units, self._apart), self._gone[token], -1
        path = self._way(text, self.number)
        self._gone[token] = was
        return tuple(text.part(first, last) for first, last, _ in path)

    def _candidate(self, token: int, cost: int, uses: int, tied: bool, goes: str = "") -> PieceCandidate:
        instead = self._instead(token)
        return self._row(
            (token,), instead, self.pieces[token], -cost, (cost, uses, instead, goes), tied, places=uses,
            uses=uses, loss=cost,
        )

    def taken(self, number: int) -> PieceCandidate:
        """The first token that a computed step removed."""
        known = self._known[number - 1]
        return self._candidate(known.tokens[0], known.costs[0], known.uses[0], known.tied > 1)

    def why(self, stops: Stops) -> Why:
        """The reasons of the step to come."""
        rows, end = self.candidates(Query(rows=2)).rows, self.end(stops)
        best, second = (*rows, None, None)[:2]
        if best is None:
            return Why(None, None, 0, 0, "", end)
        facts = ["of equals the longer one leaves first, then by its text"]
        if self._many > 1:
            facts.append(f"{len(self._next()):,} tokens leave, judged by the words as they are cut now")
        return Why(best, second, self._costs[-int(best.worth)], -int(best.worth), "", end, tuple(facts))

    def candidates(self, query: Query) -> Page[PieceCandidate]:
        """The tokens in the order in which they would leave."""
        order = sorted(self._key(token) for token in self._there if token >= len(self._units))

        def row(place: int) -> PieceCandidate:
            cost, _, _, token = order[place]
            goes = "least loss" if place < self._many else ""
            return self._candidate(token, cost, self._uses[token], self._costs[cost] > 1, goes)

        return page(query, len(order), row, lambda place: shows(query.match, order[place][2]))

    def _now(self) -> tuple[Vocabulary, list[int]]:
        """The vocabulary of this step, and the token of each of its symbols."""
        if self._shown is None or self._shown[0] != self.number:
            self._shown = self.number, *self._at(self.number)
        return self._shown[1:]

    def _at(self, number: int) -> tuple[Vocabulary, list[int]]:
        tokens = [token for token, gone in enumerate(self._gone) if gone > number]
        pieces = map(self.pieces.__getitem__, tokens)
        return Vocabulary(self.recipe, pieces, self._run.specials, self._run.first_id), tokens

    def entries(self, query: Query) -> Page[Entry]:
        """The entries of the vocabulary at this step; last, by `newest`, the tokens that the last step
        removed."""
        (vocabulary, tokens), units = self._now(), len(self._units)
        uses = [self._uses[token] for token in tokens]
        left = self._known[self.number - 1] if self.number and query.order == "newest" else None

        def entry(one: int) -> Entry:
            if left is not None and one <= _LEFT:
                cost, piece = left.costs[_LEFT - one], self.pieces[left.tokens[_LEFT - one]]
                reason = f"its absence cost {cost:,} token{'s' * (cost != 1)}"
                return self._entry(None, -1, piece, "left", None, None, None, cost, (), (0, 0), reason)
            if one < 0:
                return self._entry(*entry_of(vocabulary, one))
            kind = "base" if tokens[one] < units else "piece"
            row = entry_of(vocabulary, one, vocabulary.id_of(one, 0), uses[one])
            return self._entry(*row._replace(kind=kind))

        order = listed(vocabulary, 0, uses, query.order)
        order = order + [_LEFT - n for n in range(len(left.tokens) if left else 0)]
        return vocabulary_page(
            order, query, vocabulary, entry, lambda one: one <= _LEFT or (one >= 0 and not uses[one])
        )

    def segment(self, place: Word) -> list[Span]:
        """The segmentation of a word at this step."""
        word = Spelled.of(self._cut(place.text), self._apart)
        symbols = {token: symbol for symbol, token in enumerate(self._now()[1])} if word.text else {}
        path = self._way(word, self.number)
        return place.within(Span(first, last, symbols.get(token, -1)) for first, last, token in path)

    def _cut_at(self, word: Spelled, number: int) -> tuple[bytes, ...]:
        path = self._way(word, number)
        return tuple(word.part(first, last) if token >= 0 else b"" for first, last, token in path)

    def changed(self) -> Changed:
        """The words that the last step cuts in another way."""
        if not self.number:
            return Changed()
        words = {index for token in self._known[self.number - 1].tokens for index in self._words_of[token]}
        return Changed(frozenset(
            index for index in words
            if self._cut_at(self._spelled[index], self.number - 1) != self._cut_at(
                self._spelled[index], self.number
            )
        ))

    def life(self, word: str) -> list[Life]:
        """A pre-token as the tokenizers of the steps up to this one encode it."""
        spelled = Spelled.of(self._cut(word), self._apart)
        held = (spelled.part(first, last)
                for first, last in spelled.stretches(self._widest))
        steps = {self._gone[self._of[text]] for text in held if text in self._of}
        sure = all(spelled.part(at, at + 1) in self._of for at in range(len(spelled.places) - 1))

        def pieces(number: int) -> tuple[bytes, ...]:
            if sure:
                return self._cut_at(spelled, number)
            # the recipe says what becomes of an unknown unit
            return tuple(token.piece or b"" for token in self.tokenizer(number).encoder.word(word))

        numbers = sorted({0, *(step for step in steps if step <= self.number)})
        return lives((number, pieces(number)) for number in numbers)

    def made_at(self, symbol: int) -> int:
        """The step that made a symbol: all tokens are there from the start."""
        return 0

    @property
    def uses(self) -> Sequence[int]:
        """The count of each symbol of the vocabulary of this step, by weight."""
        return [self._uses[token] for token in self._now()[1]]

    def uses_over(self, symbol: int) -> Callable[[], Sequence[Used]]:
        """The uses of a token of this step: a copy walks to it from the start."""
        token, number = self._now()[1][symbol], self.number
        other = self._copied()

        def found() -> Sequence[Used]:
            while other.number:
                check()
                other._back()
            uses = [Used(0, other._uses[token])]
            while other.number < number:
                check()
                other._forward()
                if uses[-1].uses != other._uses[token]:
                    uses.append(Used(other.number, other._uses[token]))
            return uses

        return found

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """The tokenizer of a computed step, of the present one where None."""
        vocabulary = self._now()[0] if number in (None, self.number) else self._at(number or 0)[0]
        return Tokenizer(vocabulary, 0, run)
