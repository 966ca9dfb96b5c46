"""SuperBPE: byte-pair encoding in two stages over one vocabulary (Liu et al., "SuperBPE: Space Travel for
Language Models", 2025).

The pre-tokens of the recipe are stretches of several words. The first `at` merges are those of byte-pair
encoding inside the words that the split `within` cuts the stretches into. Then the words are given up: the
merges are replayed on whole stretches, and byte-pair encoding continues there, so that tokens cross words. A
token of the second stage has at most `words` parts between spaces, and no colon followed by a space; a pair
that would make another token is never merged.

Each stage is an engine of its own, whose steps are numbered from 0. The second one is laid out in the tokens
of the first (`superwords`). The authors' trainer drops a merge of the first stage that occurs nowhere in the
stretches; here it stays.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.core import engines
from tokentui.core.jobs import each
from tokentui.core.runtime import quiet_collector
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.within import Within
from tokentui.encode.superbpe import StagedVocabulary
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import Totals, base_units
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.engine import Constraints, Merge, PairEngine, Ranked
from tokentui.learn.objectives import OBJECTIVES, CorpusPart, Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Why
from tokentui.learn.start_pairs import kernels_fit, may_fork, start_engine, with_engine
from tokentui.learn.steps import EventStep, Span
from tokentui.learn.superwords import Superwords
from tokentui.recipe import Recipe, Stops
from tokentui.text.count import Words
from tokentui.text.pretokenize import UNITS, Pretokenizer

if TYPE_CHECKING:
    from tokentui.learn.compiled import KernelPairs


def vocabulary(
    recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0
) -> StagedVocabulary:
    """Return the vocabulary of a recipe without any merges; see `Objective.vocabulary`."""
    parameters = OBJECTIVES.of(recipe.objective).arguments(recipe.objective)
    at, within = parameters["at"], parameters["within"]
    assert isinstance(at, int)
    return StagedVocabulary(recipe, base, specials, first_id, at=at, within=str(within))


def _may_join(vocabulary: Vocabulary, at: int, left: int, right: int) -> bool:
    """Return whether a merge of the first stage can join two neighboring words.

    While merges are made, a word ends with its last unit, then with the token that takes this unit in, and so
    on up to its last token. It begins likewise. A merge can join the words if it merges such an end with such
    a beginning at a step at which both are present.

    Args:
        vocabulary: The vocabulary, with the merges of the first stage.
        at: The number of these merges.
        left: The last token of the first word.
        right: The first token of the second word.
    """
    ends, begins = [left], [right]
    while ends[-1] >= vocabulary.base_size:
        ends.append(vocabulary.parts(ends[-1])[1])
    while begins[-1] >= vocabulary.base_size:
        begins.append(vocabulary.parts(begins[-1])[0])
    for row, end in enumerate(ends):
        end_lasts = vocabulary.made_at(ends[row - 1]) - 1 if row else at
        for column, begin in enumerate(begins):
            rank = vocabulary.ranks.get((end, begin))
            if rank is None:  # nearly always: the rest would take half of the time of a switch
                continue
            begin_lasts = vocabulary.made_at(begins[column - 1]) - 1 if column else end_lasts
            both_made = max(vocabulary.made_at(end), vocabulary.made_at(begin))
            if both_made <= rank < min(end_lasts, begin_lasts):
                return True
    return False


class TwoStages:
    """The engine of both stages; see `engine.PairEngine`. Step `at` is the switch to the second stage.

    Args:
        material: The counted stretches, the recipe and the run.
    """

    def __init__(self, material: Material) -> None:
        self.material, recipe = material, material.recipe
        parameters = material.objective.arguments(recipe.objective)
        at, most_words = parameters["at"], parameters["words"]
        assert isinstance(at, int)
        assert isinstance(most_words, int)
        self.at, self._most_words = at, most_words
        inner = recipe.with_axes(
            split=parameters["within"], objective="count", normalize=(), prefix_space=None
        )
        cut, units = Pretokenizer(inner), Pretokenizer(recipe).units
        indexes: dict[str, int] = {}
        self._words_of: list[list[int]] = []
        """The indexes of the words of each stretch."""
        counts: list[int] = []
        texts = material.words.words
        for stretch, count in zip(each(texts, len(texts)), material.words.counts, strict=True):
            of_stretch = [indexes.setdefault(word, len(indexes)) for word in cut.words(stretch, first=False)]
            counts += [0] * (len(indexes) - len(counts))
            for index in of_stretch:
                counts[index] += count
            self._words_of.append(of_stretch)
        self._lengths = [len(units(word)) for word in indexes]
        """The units of each word."""
        words = Words(tuple(indexes), tuple(counts))
        self._inner = replace(material, parts=(CorpusPart("", words),), recipe=inner)

        def vocabulary_of(totals: Totals) -> Vocabulary:
            run = material.run
            return vocabulary(recipe, base_units(recipe, totals), run.specials, run.first_id)

        self.first: PairEngine = start_engine(self._inner, vocabulary_of)
        """The engine of the first stage."""
        self.engine = self.first.engine
        self.second: PairEngine | None = None
        """The engine of the second stage; None before step `at` was made."""
        self.crossed: frozenset[int] = frozenset()
        """The indexes of the stretches that the switch changed."""
        self.use_changes: dict[int, int] = {}
        """By how much the switch changed the uses of each symbol, by weight."""
        self._units = [1] * self.first.vocabulary.base_size
        """The units of each symbol, as far as they were needed."""
        self._update()

    def _update(self) -> None:
        """Set the current and the furthest step from those of the stages.

        At step `at`, start the second stage.
        """
        self.number, self.computed = self.first.number, self.first.computed
        if self.number == self.at and self.second is None:
            self._switch()
        if self.second is not None:
            self.computed = self.at + self.second.computed
            self.number = self.at + self.second.number if self.number == self.at else self.number

    def _switch(self) -> None:
        """Start the second stage: lay out each stretch in the tokens that the merges make of it.

        Sets `second`, and what the switch changed: `crossed` and `use_changes`.
        """
        known, at, first = self.first.vocabulary, self.at, self.first
        cut, merging = Pretokenizer(self.material.recipe).units, Merging(known, at)
        tokens_of = [[span.symbol for span in first.word(index, 0, None)]
                     for index in each(range(len(self._lengths)), len(self._lengths))]
        may_join = functools.cache(functools.partial(_may_join, known, at))
        texts, stretches, crossed = self.material.words.words, list[list[int]](), set[int]()
        for index, (text, of_stretch) in enumerate(
            zip(each(texts, len(texts)), self._words_of, strict=True)
        ):
            words = [tokens_of[word] for word in of_stretch]
            symbols = list(itertools.chain.from_iterable(words))
            if any(may_join(left[-1], right[0]) for left, right in itertools.pairwise(words)):
                parts = merging.segment(cut(text), len(text))
                merged = [part.symbol for part in parts if part.symbol is not None]
                if merged != symbols:
                    crossed.add(index)
                    symbols = merged
            stretches.append(symbols)
        units = self._units_of_symbols(known)[: len(known.pieces)]
        self.second = self._start_second(known, Superwords(stretches, units, self._most_words, cut))
        self.crossed = frozenset(crossed)
        uses = self.second.uses
        changes = {symbol: uses[symbol] - before for symbol, before in enumerate(first.uses)}
        self.use_changes = {symbol: change for symbol, change in changes.items() if change}

    def _start_second(self, known: Vocabulary, superwords: Superwords) -> PairEngine:
        """Return the engine of the second stage, with kernels if the first one has them."""

        def build(engine: type[PlainPairs] | type[KernelPairs]) -> PairEngine:
            return engine(self.material, lambda _: known, superwords=superwords)

        # A unit that kernels do not number covers a different length depending on what is next to it.
        numbered = bool(UNITS.of(self.material.recipe.unit).kinds)
        compiled = self.engine == engines.COMPILED and numbered and kernels_fit(self.material)
        return with_engine(self.material, build, compiled)

    def _units_of_symbols(self, known: Vocabulary) -> list[int]:
        """Return the number of units of each symbol of a vocabulary.

        The list is the cache of the engine. It may be longer than the vocabulary.
        """
        for left, right in known.merges[len(self._units) - known.base_size :]:
            self._units.append(self._units[left] + self._units[right])
        return self._units

    # ---- walking

    def walk(self, goal: int, under: Constraints) -> None:
        """Go toward a step for some milliseconds, which may end before the step is reached.

        Steps that are not computed yet are made until no pair may be merged. The second stage starts at `at`.
        """
        second = self.second
        if second is not None and (self.number > self.at or (self.number == self.at and goal > self.at)):
            second.walk(max(goal - self.at, 0), under)
        elif self.number == self.at and goal > self.at:
            self._update()
        else:
            self.first.walk(min(goal, self.at), under)
        self._update()

    def best(self, under: Constraints) -> int:
        """Return the number of the best pair at the furthest step, 0 if no pair may be merged.

        Pairs are numbered by the engine of the stage. Before the switch this is the best pair of the first
        stage, also at step `at`.
        """
        return self.first.best(under) if self.second is None else self.second.best(under)

    @property
    def _stage(self) -> PairEngine:
        """The engine of the stage that the current step is in."""
        return self.first if self.second is None or self.number < self.at else self.second

    def top(self, under: Constraints, limit: int) -> Ranked:
        """Return the best candidates at this step, `limit` of them at most."""
        return self._stage.top(under, limit)

    def forget(self) -> None:
        """Drop the computed steps after the current one, and before step `at` the second stage with them."""
        if self.second is not None and self.number >= self.at:
            self.second.forget()
        else:
            self.second = None
            self.first.forget()
        del self._units[len(self.vocabulary.pieces) :]
        self._update()

    def fork(self, number: int, material: Material) -> TwoStages:
        """Return an engine with the corpus at a computed step, for a run by another recipe."""
        other = copy.copy(self)
        inner = replace(self._inner, recipe=self._inner.recipe.with_axes(what_if=material.recipe.what_if))
        other.material, other._inner = material, inner
        other.first = self.first.fork(min(number, self.at), inner)
        other.first.vocabulary.recipe, other.engine = material.recipe, other.first.engine
        other.second = None
        other._units = self._units[: other.first.vocabulary.base_size]
        if self.second is not None and number > self.at:
            other.second = self.second.fork(number - self.at, material)
        other._update()
        return other

    # ---- the figures

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of both stages. Forgetting steps replaces it by a new object."""
        return self.first.vocabulary if self.second is None else self.second.vocabulary

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step, by weight."""
        return self._stage.uses

    def memory(self) -> int:
        """Return the bytes that both stages take."""
        return self.first.memory() + (0 if self.second is None else self.second.memory())

    def merged(self, number: int) -> Merge:
        """Return the figures of a computed step."""
        if self.second is None or number <= self.at:
            return self.first.merged(number)
        return self.second.merged(number - self.at)

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in tokens after a computed step, by weight."""
        if self.second is None or number < self.at:
            return self.first.tokens_at(number)
        return self.second.tokens_at(number - self.at)

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step."""
        return self.vocabulary.sizes[number]

    def words_changed(self) -> Iterable[int]:
        """Return the indexes of the stretches that the last step changed; none at step 0.

        Step `at` includes the stretches that the switch changed.
        """
        if self.second is not None and self.number > self.at:
            return self.second.words_changed()
        changed = set(self.first.words_changed()) if self.number else set()
        stretches = {index for index, words in enumerate(self._words_of) if not changed.isdisjoint(words)}
        return stretches | (self.crossed if self.number == self.at else frozenset())

    def _spans(self, index: int) -> list[Span]:
        """Return the tokens of a stretch at this step, in units of the recipe."""
        spans, start = list[Span](), 0
        if self.second is not None and self.number >= self.at:
            units = self._units_of_symbols(self.vocabulary)
            for _, _, symbol in self.second.word(index, 0, None):
                spans.append(Span(start, start + units[symbol], symbol))
                start += units[symbol]
            return spans
        for word in self._words_of[index]:
            spans += [Span(start + span.start, start + span.end, span.symbol)
                      for span in self.first.word(word, 0, None)]
            start += self._lengths[word]
        return spans

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """Return the current tokens of a stretch that cover some of its units; see `PairEngine.word`."""
        spans = self._spans(index)
        if not first and units is None:
            return spans
        last = None if units is None else first + units
        return [span for span in spans if span.end > first and (last is None or span.start < last)]

    def crosses(self, piece: bytes) -> int:
        """Return the number of words that the split of the first stage cuts the text of a token into."""
        text = piece.decode("utf-8", "replace")
        return len(Pretokenizer(self._inner.recipe).words(text, first=False))


class SuperTrainer(PairTrainer):
    """A training in two stages; see `trainer.Trainer`.

    Args:
        material: The counted stretches, the recipe and the run.
        source: The engine of a training of the same stretches, to take over steps from; None starts at
            step 0.
        number: The number of steps that are taken over.
    """

    engine: TwoStages

    def __init__(self, material: Material, source: PairEngine | None = None, number: int = 0) -> None:
        with quiet_collector():
            if isinstance(source, TwoStages) and may_fork(source):
                engine = source.fork(number, material)
            else:
                engine = TwoStages(material)
        super().__init__(engine, material, SuperTrainer)

    def step_at(self, number: int) -> EventStep:
        """Return a computed step, 1 for the first.

        Its kind is "superword" if its token crosses words. Step `at` is followed by an event "switch".
        """
        step, at = super().step_at(number), self.engine.at
        crossing = number > at and self.engine.crosses(step.token) > 1
        return EventStep(
            number=step.number, kind="superword" if crossing else "merge", events=step.events,
            tied=step.tied, tokens=step.tokens, vocab_size=step.vocab_size, left=step.left, right=step.right,
            token=step.token, id=step.id, count=step.count, replaced=step.replaced,
            following=(("switch", b"", ()),) if number == at else (),
        )

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the reasons of the next step with its stage, and whether its token crosses words."""
        why, at, facts = super().explained(why, stops), self.engine.at, list[str]()
        left = at - self.number
        if left > 0:
            facts.append(f"stage 1: merges stay inside words; they cross them after step {at:,}")
            if why.best is None:
                facts.append("no pair is left inside words: take a smaller at")
        else:
            facts.append(f"stage 2: merges cross words since step {at:,}")
            if why.best is not None and (words := self.engine.crosses(why.best.token)) > 1:
                facts.append(f"the token crosses words: it touches {words}")
        return replace(why, facts=(*facts, *why.facts))

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield the steps up to this one that may cut a stretch in another way, with its tokens."""
        known, at = self.engine.vocabulary, self.engine.at
        encoder = self.tokenizer().encoder
        units = encoder.pretokenizer.units(word)
        units = [units[index] for index in encoder.kept_indices(units)]
        inside, across = Within(known, min(self.number, at)), Merging(known, self.number)
        steps = {step.rank + 1 for step in inside.steps(units, len(word))}
        if self.number >= at:
            steps = {step for step in steps if step < at} | {at}
            steps |= {step.rank + 1 for step in across.steps(units, len(word)) if step.rank >= at}

        def pieces(number: int) -> tuple[bytes, ...]:
            way = Within(known, number) if number < at else across.with_limit(number, ())
            parts = encoder.parts(units, len(word), way)
            return tuple(b"" if part.symbol is None else known.pieces[part.symbol] for part in parts)

        return ((number, pieces(number)) for number in sorted({0, *steps}))

    def _use_changes(self, symbol: int) -> Iterator[tuple[int, int, int | None]]:
        """Yield the use changes of each step, see `PairTrainer`. Step `at` includes those of the switch."""
        at, switched = self.engine.at, self.engine.use_changes.get(symbol, 0)
        changes = {number: (change, into) for number, change, into in super()._use_changes(symbol)}
        if switched and self.number >= at:
            change, into = changes.get(at, (0, None))
            changes[at] = change + switched, into
        for number in sorted(changes, reverse=True):
            yield number, *changes[number]
