"""SuperBPE: byte-pair encoding in two stages over one vocabulary (Liu et al., "SuperBPE: Space Travel for
Language Models", 2025).

The pre-tokens of the recipe are stretches of several words. The first `at` merges are those of byte-pair
encoding inside the words that the split `within` cuts the stretches into. Then the words are given up: the
merges are replayed on whole stretches, and byte-pair encoding goes on there, so that tokens cross words. A
token of this stage has at most so many parts between spaces, and no colon with a space after it; a pair
that would make another is never merged.

Each stage is an engine of its own, whose steps are numbered from 0; the second one is laid out in the tokens
of the first (`superwords`). The authors' trainer
skips a merge of the first stage that occurs nowhere in the stretches, and drops it; here it stays.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.core import native
from tokentui.core.jobs import each
from tokentui.core.runtime import quiet_collector
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.within import Within
from tokentui.encode.superbpe import StagedVocabulary
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import BASES, Totals
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.engine import Constraints, Merged, PairEngine, Ranked
from tokentui.learn.objectives import OBJECTIVES, CorpusPart, Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Why
from tokentui.learn.start_pairs import kernels_fit, may_fork, start_engine, with_engine
from tokentui.learn.steps import EventStep, Life, Span, lives
from tokentui.learn.superwords import Superwords
from tokentui.recipe import Recipe, Stops
from tokentui.text.count import Words
from tokentui.text.pretokenize import UNITS, Pretokenizer

if TYPE_CHECKING:
    from tokentui.learn.compiled import KernelPairs


def vocabulary(
    recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0
) -> StagedVocabulary:
    """The vocabulary of a recipe, with no merges yet."""
    told = OBJECTIVES.of(recipe.objective).arguments(recipe.objective)
    at, within = told["at"], told["within"]
    assert isinstance(at, int)
    return StagedVocabulary(recipe, base, specials, first_id, at=at, within=str(within))


def _meet(known: Vocabulary, at: int, left: int, right: int) -> bool:
    """True if a merge of the first stage may join two words that stand side by side, by the last token of the
    one and the first of the other.

    A word ends with the right part, of the right part, of its last token, each from the merge that makes it
    up to the one that takes it; it begins with left parts so. Where no two of these merge while both stand
    there, nothing does.
    """
    ends, begins = [left], [right]
    while ends[-1] >= known.base_size:
        ends.append(known.parts(ends[-1])[1])
    while begins[-1] >= known.base_size:
        begins.append(known.parts(begins[-1])[0])
    for n, one in enumerate(ends):
        until = known.made_at(ends[n - 1]) - 1 if n else at
        for m, other in enumerate(begins):
            rank = known.ranks.get((one, other))
            if rank is not None and max(known.made_at(one), known.made_at(other)) <= rank < (
                min(until, known.made_at(begins[m - 1]) - 1) if m else until
            ):
                return True
    return False


class TwoStages:
    """The engine of both stages; see `engine.PairEngine`. From the step of the switch on it is the second.

    Args:
        material: The counted stretches, the recipe and the run.
    """

    def __init__(self, material: Material) -> None:
        self.material, recipe = material, material.recipe
        told = material.objective.arguments(recipe.objective)
        at, most = told["at"], told["words"]
        assert isinstance(at, int)
        assert isinstance(most, int)
        self.at, self.most = at, most
        inner = recipe.with_axes(split=told["within"], objective="count", normalize=(), prefix_space=None)
        cut, units = Pretokenizer(inner), Pretokenizer(recipe).units
        numbers: dict[str, int] = {}
        self._inside: list[list[int]] = []
        """The words of each stretch, by their numbers."""
        counts: list[int] = []
        stretches = zip(each(material.words.words, len(material.words.words)), material.words.counts,
                        strict=True)
        for stretch, count in stretches:
            held = [numbers.setdefault(word, len(numbers)) for word in cut.words(stretch, first=False)]
            counts += [0] * (len(numbers) - len(counts))
            for number in held:
                counts[number] += count
            self._inside.append(held)
        self._lengths = [len(units(word)) for word in numbers]
        """The units of each word."""
        words = Words(tuple(numbers), tuple(counts))
        self._inner = replace(material, parts=(CorpusPart("", words),), recipe=inner)

        def made(totals: Totals) -> Vocabulary:
            run = material.run
            return vocabulary(recipe, BASES.of(recipe.base).units(totals), run.specials, run.first_id)

        self.first: PairEngine = start_engine(self._inner, made)
        self.engine = self.first.engine
        """The engine of the first stage, and of the second."""
        self.second: PairEngine | None = None
        self.crossed: frozenset[int] = frozenset()
        """The stretches that the switch itself changed."""
        self.jumps: dict[int, int] = {}
        """By how much the switch changed the uses of each symbol."""
        self._units = [1] * self.first.vocabulary.base_size
        """The units of each symbol."""
        self._follow()

    def _follow(self) -> None:
        """Take the step from the stage that it is in; with the last step of the first, begin the second."""
        self.number, self.computed = self.first.number, self.first.computed
        if self.number == self.at and self.second is None:
            self._switch()
        if self.second is not None:
            self.computed = self.at + self.second.computed
            self.number = self.at + self.second.number if self.number == self.at else self.number

    def _switch(self) -> None:
        """Lay out the stretches in the tokens that the merges make of them."""
        known, at, first = self.first.vocabulary, self.at, self.first
        cut, merging = Pretokenizer(self.material.recipe).units, Merging(known, at)
        inside = [[span.symbol for span in first.word(n, 0, None)]
                  for n in each(range(len(self._lengths)), len(self._lengths))]
        meet = functools.cache(functools.partial(_meet, known, at))
        texts, stretches, crossed = self.material.words.words, list[list[int]](), set[int]()
        for n, (text, held) in enumerate(zip(each(texts, len(texts)), self._inside, strict=True)):
            words = [inside[number] for number in held]
            symbols = list(itertools.chain.from_iterable(words))
            if any(meet(left[-1], right[0]) for left, right in itertools.pairwise(words)):
                parts = merging.segment(cut(text), len(text))
                now = [part.symbol for part in parts if part.symbol is not None]
                if now != symbols:
                    crossed.add(n)
                    symbols = now
            stretches.append(symbols)
        units = self._units_of_symbols(known)
        self.second = self._second(known, Superwords(stretches, units[: len(known.pieces)], self.most, cut))
        self.crossed = frozenset(crossed)
        now_used = self.second.uses
        changes = {symbol: now_used[symbol] - was for symbol, was in enumerate(first.uses)}
        self.jumps = {symbol: change for symbol, change in changes.items() if change}

    def _second(self, known: Vocabulary, superwords: Superwords) -> PairEngine:
        """Return the engine of the second stage, with kernels if the first one has them."""

        def build(engine: type[PlainPairs] | type[KernelPairs]) -> PairEngine:
            return engine(self.material, lambda _: known, superwords=superwords)

        # A unit that kernels do not number covers a different length depending on what is next to it.
        numbered = bool(UNITS.of(self.material.recipe.unit).kinds)
        compiled = self.engine == native.COMPILED and numbered and kernels_fit(self.material)
        return with_engine(self.material, build, compiled)

    def _units_of_symbols(self, known: Vocabulary) -> list[int]:
        """Return the units of each symbol."""
        for left, right in known.merges[len(self._units) - known.base_size :]:
            self._units.append(self._units[left] + self._units[right])
        return self._units

    # ---- walking

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for some milliseconds."""
        second = self.second
        if second is not None and (self.number > self.at or (self.number == self.at and goal > self.at)):
            second.walk(max(goal - self.at, 0), under)
        elif self.number == self.at and goal > self.at:
            self._follow()
        else:
            self.first.walk(min(goal, self.at), under)
        self._follow()

    def best(self, under: Constraints) -> int:
        """The best pair at the furthest step, 0 where no pair may be merged."""
        return self.first.best(under) if self.second is None else self.second.best(under)

    @property
    def _now(self) -> PairEngine:
        """The stage that this step is in."""
        return self.first if self.second is None or self.number < self.at else self.second

    def top(self, under: Constraints, limit: int) -> Ranked:
        """The candidates at this step."""
        return self._now.top(under, limit)

    def forget(self) -> None:
        """Forget the steps past the present one."""
        if self.second is not None and self.number >= self.at:
            self.second.forget()
        else:
            self.second = None
            self.first.forget()
        del self._units[len(self.vocabulary.pieces) :]
        self._follow()

    def fork(self, number: int, material: Material) -> TwoStages:
        """The same corpus at a known step, for a run by another recipe."""
        other = copy.copy(self)
        inner = replace(self._inner, recipe=self._inner.recipe.with_axes(what_if=material.recipe.what_if))
        other.material, other._inner = material, inner
        other.first = self.first.fork(min(number, self.at), inner)
        other.first.vocabulary.recipe, other.engine = material.recipe, other.first.engine
        other.second = None
        other._units = self._units[: other.first.vocabulary.base_size]
        if self.second is not None and number > self.at:
            other.second = self.second.fork(number - self.at, material)
        other._follow()
        return other

    # ---- the figures

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of both stages."""
        return self.first.vocabulary if self.second is None else self.second.vocabulary

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step, by weight."""
        return self._now.uses

    def memory(self) -> int:
        """The bytes that both stages take."""
        return self.first.memory() + (0 if self.second is None else self.second.memory())

    def merged(self, number: int) -> Merged:
        """The figures of a known step."""
        if self.second is None or number <= self.at:
            return self.first.merged(number)
        return self.second.merged(number - self.at)

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a known step."""
        if self.second is None or number < self.at:
            return self.first.tokens_at(number)
        return self.second.tokens_at(number - self.at)

    def size_at(self, number: int) -> int:
        """The number of ids after a known step."""
        return self.vocabulary.sizes[number]

    def words_changed(self) -> Iterable[int]:
        """The stretches, by their number, that the last step changed."""
        if self.second is not None and self.number > self.at:
            return self.second.words_changed()
        changed = set(self.first.words_changed()) if self.number else set()
        found = {n for n, held in enumerate(self._inside) if not changed.isdisjoint(held)}
        return found | (self.crossed if self.number == self.at else frozenset())

    def _spans(self, index: int) -> list[Span]:
        """Return the tokens of a stretch at this step, in units of the recipe."""
        spans, start = list[Span](), 0
        if self.second is not None and self.number >= self.at:
            units = self._units_of_symbols(self.vocabulary)
            for _, _, symbol in self.second.word(index, 0, None):
                spans.append(Span(start, start + units[symbol], symbol))
                start += units[symbol]
            return spans
        for number in self._inside[index]:
            spans += [Span(start + span.start, start + span.end, span.symbol)
                      for span in self.first.word(number, 0, None)]
            start += self._lengths[number]
        return spans

    def word(self, index: int, first: int, units: int | None) -> list[Span]:
        """The present tokens of a stretch, from the one that covers a unit on."""
        spans = self._spans(index)
        if not first and units is None:
            return spans
        last = None if units is None else first + units
        return [one for one in spans if one.end > first and (last is None or one.start < last)]

    def crosses(self, piece: bytes) -> int:
        """The number of words of the first stage that a token touches."""
        text = piece.decode("utf-8", "replace")
        return len(Pretokenizer(self._inner.recipe).words(text, first=False))


class SuperTrainer(PairTrainer):
    """A training in two stages; see `trainer.Trainer`.

    Args:
        material: The counted stretches, the recipe and the run.
        source: The engine of a training of the same stretches, whose steps are taken over; None for none.
        number: How many of its steps are taken over.
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
        """A known step."""
        step, at = super().step_at(number), self.engine.at
        crossing = number > at and self.engine.crosses(step.token) > 1
        return EventStep(
            number=step.number, kind="superword" if crossing else "merge", events=step.events,
            tied=step.tied, tokens=step.tokens, vocab_size=step.vocab_size, left=step.left, right=step.right,
            token=step.token, id=step.id, count=step.count, replaced=step.replaced,
            following=(("switch", b"", ()),) if number == at else (),
        )

    def why(self, stops: Stops) -> Why:
        """The reasons of the step to come: its stage, and whether its token crosses words."""
        why, at, facts = super().why(stops), self.engine.at, list[str]()
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

    def life(self, word: str) -> list[Life]:
        """A stretch as the tokenizers of the steps up to this one encode it."""
        known, at = self.engine.vocabulary, self.engine.at
        encoder = self.tokenizer().encoder
        units = encoder.pretokenizer.units(word)
        units = [units[one] for one in encoder.kept_indices(units)]
        inside, across = Within(known, min(self.number, at)), Merging(known, self.number)
        steps = {step.rank + 1 for step in inside.steps(units, len(word))}
        if self.number >= at:
            steps = {step for step in steps if step < at} | {at}
            steps |= {step.rank + 1 for step in across.steps(units, len(word)) if step.rank >= at}

        def pieces(number: int) -> tuple[bytes, ...]:
            way = Within(known, number) if number < at else across.with_limit(number, ())
            parts = encoder.parts(units, len(word), way)
            return tuple(b"" if part.symbol is None else known.pieces[part.symbol] for part in parts)

        return lives((number, pieces(number)) for number in sorted({0, *steps}))

    def _use_changes(self, symbol: int) -> Iterator[tuple[int, int, int | None]]:
        """Yield the changes of each step; those of the switch come with the last step before it."""
        at, jump = self.engine.at, self.engine.jumps.get(symbol, 0)
        changes = {number: (change, into) for number, change, into in super()._use_changes(symbol)}
        if jump and self.number >= at:
            change, into = changes.get(at, (0, None))
            changes[at] = change + jump, into
        for number in sorted(changes, reverse=True):
            yield number, *changes[number]
