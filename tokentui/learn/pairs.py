"""The trainer of merges of pairs: it has an engine that merges, an objective, and the vocabulary that it
makes.

It knows the stops, the what-ifs and the ends of a run, and makes rows of what the engine answers.
"""

from __future__ import annotations

import bisect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from tokentui.encode.events import Event, EventKind
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.engine import Constraints, MergeEngine, PairEngine, Ranked
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material
from tokentui.learn.part_lengths import PartLengths
from tokentui.learn.rows import KEPT_ROWS, Candidate, Inventory, PairCandidate, Ranking, Traits, Why, Worth
from tokentui.learn.steps import Changed, MergeStep, Span, Stop, Used, Word
from tokentui.learn.trainer import SLICE_S
from tokentui.recipe import FORBID, FORCE, Ending, Stops, WhatIf
from tokentui.text.pretokenize import MARKS

_FAR = 1 << 62
_LOOKED_AT = 128
"""The fewest candidates that are ranked at once, if there are as many."""


class PairTrainer:
    """A training by merges of pairs; see `trainer.Trainer`.

    Args:
        engine: The corpus and its pairs.
        material: The counted words, the recipe and the run.
        rebuild: Makes another training of the same corpus, for a fork: takes its material, and the engine and
            the number of steps that may be taken over from it.
    """

    limits = Stops()
    most = _FAR
    """The most merges that the vocabulary holds."""
    letters: Sequence[int] = ()
    """The byte that replaces the pair of each merge (Gage); empty for other objectives."""

    def __init__(
        self,
        engine: PairEngine,
        material: Material,
        rebuild: Callable[[Material, PairEngine | None, int], PairTrainer],
    ) -> None:
        self.engine, self._material, self._rebuild = engine, material, rebuild
        self.words, self.recipe, self.objective = material.words, material.recipe, material.objective
        self.what_if = self.recipe.changes
        self._left_out: dict[int, tuple[bytes, ...]] = {}
        """For each step whose merge is left out by a what-if, the parts of the pair that it would have
        merged."""
        self.traits = Traits(
            engine=engine.engine, columns=self.objective.columns, shaped_by=self.objective.shaped_by,
            least_size=engine.size_at(0), compresses=self.objective.substitutes_bytes, what_ifs=True,
            # events may make the vocabulary smaller and the corpus longer
            monotone=("ids", "tokens") if isinstance(engine, MergeEngine) else (),
        )
        self.number, self.computed = engine.number, engine.computed
        self.tokens_at, self.size_at, self.memory = engine.tokens_at, engine.size_at, engine.memory
        self._lengths = PartLengths(self.words, self.recipe.weight)
        self._index: dict[str, int] = {}
        self._last: tuple[int, Constraints, Ranked] | None = None
        """The candidates that were ranked last, with their step and constraints."""
        self._shaped = self._under_limits(self.limits)
        """The constraints of a step toward a goal, without what-ifs."""
        self._rows: dict[tuple[object, ...], Candidate] = {}
        """A cache of at most `KEPT_ROWS` candidates, by the arguments of `_candidate`. `lru_cache` around a
        bound method creates a reference cycle, which keeps a training until the garbage collector runs."""
        self._ends: dict[int, int] = {}
        """For each least count the step at which no candidate had that count, if it was the furthest step."""
        self._rare: tuple[int, int, list[int]] = (1, 0, [])
        """The last least count of `_rarer`, the number of steps that were searched for it, and the steps
        before a merge with a smaller count."""

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step, by weight."""
        return self.engine.uses

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """Return the length of each named part of the corpus in tokens after a computed step. Empty without
        parts, and for a later step whose lengths are not in the cache; for events also for any other step."""
        engine = self.engine
        if not self.words.parts or not isinstance(engine, MergeEngine):  # a step may change any word
            return self._lengths.measured(number, self.segment) if number == self.number else ()
        return self._lengths.after_step(
            number, self.number, lambda word: len(engine.word(word, 0, None)), engine.words_merged
        )

    # ---- walking

    def advance(self, goal: int | None, stops: Stops, seconds: float = SLICE_S) -> Stop | None:
        """Walk towards a step, or on to a stop, for about `seconds`; see `Trainer.advance`.

        Stops that shape the candidates are kept as `limits`. If they change, later computed steps are
        dropped.
        """
        if stops is not self.limits:
            limits = stops.only(self.traits.shaped_by)
            if limits != self.limits:  # what was made under others is forgotten
                self.limits = limits
                self._shaped = self._under_limits(limits)
                self.forget()
            stops = stops if goal is None else limits
        deadline = time.perf_counter() + seconds
        while (number := self.number) != goal:
            if goal is not None and (number > goal or not self.what_if):
                to, under = min(goal, self.most), self._shaped
            elif end := self._stop_reached(stops):
                return end
            else:
                to, under = self._goal(goal, stops), self._under(stops)
            try:
                self.engine.walk(to, under)
            finally:  # a walk that is stopped stays where it is
                self.number, self.computed = self.engine.number, self.engine.computed
            if self.number == number and (end := self.end(stops)):  # else the engine had to make room
                return end
            if self.number != goal and time.perf_counter() > deadline:
                return None
        return Stop.MERGES

    def forget(self) -> None:
        """Drop the computed steps after the current one, and all that is cached about them."""
        if self.number < self.computed:
            self.engine.forget()
            self._lengths.forget(self.number)
            self.computed = self.number
            self._last, self._rare = None, (1, 0, [])
            self._rows.clear()  # it holds the vocabulary of the forgotten steps
        self._ends.clear()
        self._left_out = {step: parts for step, parts in self._left_out.items() if step <= self.number}

    def _under(self, stops: Stops) -> Constraints:
        """Return the constraints on the next step of a run under these stops, what-ifs included. Notes in
        `_left_out` the pair that a what-if leaves out at that step."""
        number, under = self.number, self._under_limits(stops)
        if number >= self.most:
            under = under._replace(min_count=_FAR)
        if not self.what_if:
            return under
        due = [change for change in self.what_if if change.step <= number + 1]
        if not due:
            return under
        left_out = (parts for step, parts in self._left_out.items() if step <= number + 1)
        forbidden = frozenset(left_out).union(change.parts for change in due if change.what == FORBID)
        under = under._replace(forbidden=forbidden)
        now = (change for change in due if change.step == number + 1)
        decides = next((change for change in now if change.what != FORBID), None)
        if decides is None or number >= self.most:
            return under
        if decides.what == FORCE:
            return under._replace(forced=decides.parts)
        if decides.step not in self._left_out:
            shaped = max(self.limits.min_count, self.objective.least_count)
            for pair in self._ranked(under._replace(min_count=shaped)).rows[:1]:
                self._left_out[decides.step] = self._parts_of(pair)
        return under._replace(forbidden=forbidden.union(filter(None, [self._left_out.get(decides.step)])))

    def _under_limits(self, stops: Stops) -> Constraints:
        """Return the constraints of these stops, without what-ifs, where the vocabulary has room."""
        return Constraints(max(stops.min_count, self.objective.least_count), self.limits.max_length)

    def _was_forced(self, number: int) -> bool:
        """Return whether the computed step after step `number` merged a pair that a what-if forces."""
        now = (change for change in self.what_if if change.step == number + 1)
        forced = next((change for change in now if change.what == FORCE), None)
        if forced is None:
            return False
        vocabulary = self.engine.vocabulary
        return tuple(vocabulary.pieces[part] for part in vocabulary.merges[number]) == forced.parts

    def _goal(self, goal: int | None, stops: Stops) -> int:
        """Return the furthest step to walk to under one set of constraints: the goal, a stop, or the step
        before a what-if. Not before the next step."""
        number = self.number
        last = self.most if goal is None else min(goal, self.most)
        if stops.merges is not None:
            last = min(last, stops.merges)
        if stops.vocab_size is not None:
            last = min(last, number + max(1, stops.vocab_size - self.size_at(number)))
        for change in self.what_if:  # the constraints differ from the step before on, or after a forced one
            bounds = (change.step - 1, change.step) if change.what == FORCE else (change.step - 1,)
            last = min((last, *(bound for bound in bounds if bound > number)))
        return min(last, self._rarer(stops.min_count, number)) if number < self.computed else last

    def _rarer(self, least: int, number: int) -> int:
        """Return the first computed step, from `number` on, before the merge of a pair with a count below
        `least`; the furthest step if there is none. Merges forced by what-ifs do not count."""
        if least <= 1:
            return self.computed
        counts = self.engine.vocabulary.counts
        _, looked_at, rare = self._rare if self._rare[0] == least else (least, 0, [])
        fewer = (step for step in range(looked_at, self.computed) if counts[step] < least)
        rare += (step for step in fewer if not self._was_forced(step))
        self._rare = least, self.computed, rare
        at = bisect.bisect_left(rare, number)
        return rare[at] if at < len(rare) else self.computed

    def end(self, stops: Stops) -> Stop | None:
        """Return why no further step may be made under these stops; None if one may. Chooses the next
        pair."""
        if reached := self._stop_reached(stops):
            return reached
        under = self._under(stops)
        if self.objective.filters and stops.min_count != self.limits.min_count:
            goes_on = self._ranked(under).total > 0  # steps are not made under these
        elif self.number < self.computed:
            number, counts = self.number, self.engine.vocabulary.counts
            goes_on = stops.min_count <= 1 or counts[number] >= stops.min_count or self._was_forced(number)
        else:
            goes_on = self.engine.best(under) != 0
        return None if goes_on else self._exhausted(stops)

    def _stop_reached(self, stops: Stops) -> Stop | None:
        """Return the number of merges or of ids that is reached, None if neither is."""
        if stops.merges is not None and self.number >= stops.merges:
            return Stop.MERGES
        if stops.vocab_size is not None and self.size_at(self.number) >= stops.vocab_size:
            return Stop.VOCAB_SIZE
        return None

    def _exhausted(self, stops: Stops) -> Stop:
        """Return the reason why no candidate is left: a least count, or no pair occurs."""
        rare = stops.min_count > 1 and self.number < self.most
        left = rare and self._ranked(self._under(Stops())._replace(min_count=1)).total
        return Stop.MIN_COUNT if left else Stop.NO_PAIR

    def ending(self, stops: Stops) -> Ending:
        """Return the last step of a run under these stops, and how sure it is. A run that ends for lack of
        candidates must reach its last step before the step is certain."""
        filters, first_size = self.objective.filters, self.size_at(0)
        leasts = {self.limits.min_count} if filters else {self.limits.min_count, stops.min_count}
        if self.number == self.computed:
            best = {least: self.engine.best(self._under(Stops(min_count=least))) for least in leasts}
            self._ends |= {least: self.computed for least, pair in best.items() if not pair}
        over = {least for least in leasts if self._ends.get(least) == self.computed}
        ends = [] if stops.merges is None else [stops.merges]
        if stops.vocab_size is not None and (self.most == _FAR or stops.vocab_size <= first_size):
            ends.append(max(0, stops.vocab_size - first_size))
        if stops.min_count > 1 and not filters:
            rarer = self._rarer(stops.min_count, 0)
            ends += [rarer] if rarer < self.computed or stops.min_count in over else []
        stop = min(ends, default=None)
        if self.limits.min_count in over and (stop is None or self.computed <= stop):
            return Ending(self.computed, "last")
        if stop is None:
            return Ending()
        return Ending(stop, "stop" if stop <= self.computed else "at most")

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> PairTrainer:
        """Return another training over the same corpus, at a computed step and with these what-ifs added."""
        material = replace(self._material, recipe=self.recipe.under(what_if))
        other = self._rebuild(material, self.engine if number else None, number)
        other.limits = self.limits
        other._shaped = other._under_limits(self.limits)
        other._left_out = {step: parts for step, parts in self._left_out.items() if step <= number}
        other.advance(number, self.limits, math.inf)
        return other

    # ---- steps

    def step_at(self, number: int) -> MergeStep:
        """Return a computed step, 1 for the first; with the lengths of named parts, if they are known."""
        merge, vocabulary = self.engine.merged(number), self.engine.vocabulary
        pair, replaced = merge.pair, merge.replaced
        assert isinstance(pair, Pair)
        symbol, pieces = vocabulary.base_size + number - 1, vocabulary.pieces
        scored = self.objective.value is not None
        # `tuple` makes the event without a call of Python
        event = tuple.__new__(Event, (EventKind.MERGE, symbol, pair[:2], pair.places, replaced, 0))
        return MergeStep(
            number=number, events=(event,), tied=merge.tied, tokens=merge.tokens,
            lengths=self.lengths_at(number) if self.words.parts else (),
            vocab_size=vocabulary.sizes[number], left=pieces[pair.left],
            right=pieces[pair.right], token=pieces[symbol], id=vocabulary.order[symbol],
            count=pair.places, replaced=replaced, left_uses=pair.left_uses * scored,
            right_uses=pair.right_uses * scored,
            score=float(*self.objective.worths([pair])) if scored else None,
        )

    def taken(self, number: int) -> Candidate:
        """Return the pair that a computed step merged, with the figures that it had before the step."""
        merged = self.engine.merged(number)
        worth = self._worth(merged.pair)
        return self._candidate(
            self.engine.vocabulary, merged.pair, worth, merged.was_tied,
            bytes(self.letters[number - 1 : number]),
        )

    def steps_changing(self, tokens: frozenset[bytes], steps: range) -> Iterator[int]:
        """Yield the steps at which a token comes or goes; in Gage's compression also by its bytes in text."""
        vocabulary = self.engine.vocabulary
        for number in steps:
            for symbol in self._symbols_changed(number) if number else range(vocabulary.base_size):
                if vocabulary.pieces[symbol] in tokens or vocabulary.spelled(symbol) in tokens:
                    yield number
                    break

    def _symbols_changed(self, number: int) -> Iterable[int]:
        """Return the symbols that a step adds or removes."""
        return (self.engine.vocabulary.base_size + number - 1,)

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the reasons of the next step with its tie rule and facts. If no candidate is left, or the
        best one is too rare, that is the end before any other stop."""
        recipe, best = self.recipe, why.best
        ranked = self._ranked(self._under(stops.only(self.traits.shaped_by)))
        end = why.end
        if best is None:
            end = self._exhausted(stops)
        elif best.places < stops.min_count and ranked.forced is None:
            end = Stop.MIN_COUNT
        facts = [f"what if: {change.text}" for change in self.what_if if change.step == self.number + 1]
        as_wordpiece = recipe.encode == "longest-match" and MARKS.of(recipe.mark).in_front
        if self.objective.value is None and as_wordpiece:
            marked = f"byte-pair encoding by count with {recipe.mark_text}"
            facts.append(f"this is {marked}, not the score of WordPiece")
        if self.objective.favors_rare and stops.min_count <= 1:
            facts.append("no least pair count is set: rare pairs win")
        if fact := WEIGHTS.of(recipe.weight).fact:
            facts.append(fact)
        facts = [*self._facts(ranked), *facts]
        return Why(best, why.runner_up, why.tied, why.replaced, recipe.tie, end, tuple(facts))

    def _facts(self, ranked: Ranked) -> list[str]:
        """Return sentences on the step to come that only this kind of training knows."""
        return []

    # ---- the candidates

    def _ranked(self, under: Constraints, limit: int = _LOOKED_AT) -> Ranked:
        """Return the candidates at this step, at least `limit` of the best in order if there are as many.
        Cached for the last constraints."""
        last, number = self._last, self.number
        if last is None or last[:2] != (number, under) or len(last[2].rows) < min(limit, last[2].total):
            self._last = last = number, under, self.engine.top(under, max(limit, _LOOKED_AT))
        return last[2]

    def candidates_at(self, limit: int | None, stops: Stops) -> Ranking:
        """Return the pairs that may be merged next, best first."""
        under = self._under(stops)
        ranked = self._ranked(under, _LOOKED_AT if limit is None else limit)
        if limit is None:
            ranked = self._ranked(under, ranked.total)
        rows, token_of, parts_of = ranked.rows, self._token_of, self._parts_of
        return Ranking(
            ranked.total, ranked.tied, ranked.replaced, self._rows_of(ranked),
            lambda row: token_of(rows[row]), lambda row: parts_of(rows[row]), lambda row: rows[row].places,
        )

    def _worth(self, row: Pair | NGram) -> Worth:
        """Return the value of a candidate, exactly."""
        if self.objective.value is None:
            return row.places
        assert isinstance(row, Pair)
        return self.objective.worths([row])[0]

    def _parts_of(self, row: Pair | NGram) -> tuple[bytes, ...]:
        """Return the exact bytes of the parts of a candidate."""
        pieces = self.engine.vocabulary.pieces
        if isinstance(row, Pair):  # a search looks at all of them
            return pieces[row.left], pieces[row.right]
        return tuple(pieces[symbol] for symbol in row.symbols)

    def _token_of(self, row: Pair | NGram) -> bytes:
        """Return the exact bytes of the token that a candidate makes."""
        if isinstance(row, Pair):
            return self.engine.vocabulary.join(row.left, row.right)
        return b"".join(self._parts_of(row))

    def _candidate(
        self, vocabulary: Vocabulary, row: Pair | NGram, worth: Worth, tied: bool, letter: bytes
    ) -> Candidate:
        """Return a candidate as a row, from the cache if it is there."""
        made_of = (vocabulary, row, worth, tied, letter)
        found = self._rows.get(made_of)
        if found is None:
            if len(self._rows) >= KEPT_ROWS:
                self._rows.clear()
            found = self._rows[made_of] = self._candidate_of(*made_of)
        return found

    def _candidate_of(
        self, vocabulary: Vocabulary, row: Pair | NGram, worth: Worth, tied: bool, letter: bytes
    ) -> Candidate:
        """Return a candidate as a row; `letter` is the byte that replaces it (Gage), else empty."""
        assert isinstance(row, Pair)
        left, right, count, before, left_uses, right_uses = row
        token = vocabulary.join(left, right)
        value = float(worth)  # rounded once; candidates are ordered by their exact worth
        figures = {
            "count": count, "change": None if before is None else count - before, "left uses": left_uses,
            "right uses": right_uses, "as": letter, "spelled": token,
        }
        return PairCandidate(
            (left, right), (vocabulary.pieces[left], vocabulary.pieces[right]), letter or token, worth,
            tuple(figures.get(column.name, value) for column in self.objective.columns), tied,
            marks=vocabulary.mark_sizes(left, right) if vocabulary.mark else (0, 0), places=count,
            before=before, left_uses=left_uses, right_uses=right_uses,
            expansion=token if vocabulary.substitutes_bytes else b"",
        )

    def _rows_of(self, ranked: Ranked) -> Callable[[int], Candidate]:
        """Return a function that makes the candidate at an index of the ranked ones.

        Equal ones are neighbors, except for the first one if it is forced: `Ranked.forced` counts its equals.
        """
        pairs, forced = ranked.rows, ranked.forced is not None
        letter = bytes(self.letters[self.number : self.number + 1])

        @cache
        def worth(row: int) -> Worth:
            return self._worth(pairs[row])

        def candidate(row: int) -> Candidate:
            if forced and not row:
                tied = bool(ranked.forced)
            else:
                near = [other for other in (row - 1, row + 1) if forced <= other < len(pairs)]
                tied = any(worth(row) == worth(other) for other in near + [0] * bool(ranked.forced))
            return self._candidate(self.engine.vocabulary, pairs[row], worth(row), tied, letter)

        return candidate

    # ---- the corpus

    def segment(self, place: Word) -> list[Span]:
        """The segmentation of a word of the corpus at this step; empty for a word that the corpus lacks."""
        if not self._index:
            self._index = {known: number for number, known in enumerate(self.words.words)}
        index = self._index.get(place.text)
        return [] if index is None else self.engine.word(index, place.first, place.units)

    def changed(self) -> Changed:
        """Return the words in which the last step merged something."""
        return Changed(frozenset(self.engine.words_changed()))

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield the steps up to this one that cut a pre-token in another way, with its tokens."""
        from tokentui.learn.replay.segmentations import MERGES, TokenOrder, WordSegmentations

        vocabulary, base = self.engine.vocabulary, self.engine.vocabulary.base_size
        order = TokenOrder(vocabulary, MERGES, range(base, base + self.number))
        return WordSegmentations(order).cuts_of(word)

    def uses_of(self, symbol: int) -> Iterator[Used]:
        """Return an iterator over the uses of a symbol. They are read now: the training may move on."""
        pieces, uses, entries = self.engine.vocabulary.pieces, self.uses, list[Used]()
        now = int(uses[symbol]) if symbol < len(uses) else 0
        for number, change, into in self._use_changes(symbol):
            if change:
                entries.append(Used(number, now, b"" if into is None else pieces[into]))
                now -= change
        entries.append(Used(0, now))
        return reversed(entries)

    def _use_changes(self, symbol: int) -> Iterator[tuple[int, int, int | None]]:
        """Yield (step, change of the uses of a symbol, symbol that replaced some of them or None) for the
        steps that changed them, last step first."""
        vocabulary, base = self.engine.vocabulary, self.engine.vocabulary.base_size
        merges = vocabulary.merges[: self.number]
        for number, parts in zip(range(self.number, 0, -1), reversed(merges), strict=True):
            new = base + number - 1
            if symbol == new:
                yield number, self.engine.merged(number).replaced, None
            elif symbol in parts:
                yield number, -self.engine.merged(number).replaced * parts.count(symbol), new

    # ---- the vocabulary

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """Return the tokenizer of a computed step; None for the current one. It shares the vocabulary, which
        only grows."""
        number = self.number if number is None else number
        return Tokenizer(self.engine.vocabulary, number, self.words.with_corpora(run))

    def inventory(self) -> Inventory:
        """Return the vocabulary at this step. Units out of use may be folded, tokens that steps made may
        not."""
        vocabulary = self.engine.vocabulary
        return Inventory(vocabulary, self.number, vocabulary.base_size)
