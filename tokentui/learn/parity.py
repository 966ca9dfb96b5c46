"""Parity-aware byte-pair encoding (Foroutan et al. 2025): each step helps the language that is worst off.

    language = worst(lengths)              # of their development texts, in tokens
    pair = best pair of that language
    merge the pair in all languages

What is learned is one list of merges, which encodes as byte-pair encoding does. A language is judged by its
development text, by its training text where it has none. The count, the tie rule and the end of a run are
those of byte-pair encoding on the language that was chosen; where that one has no pair left the run ends,
even if another could go on.

The variants:

    base      the language whose text is longest now; of equal ones the first
    window    the same, of those that were chosen in at most alpha / L of the last `window_size` steps, where
              L is the number of languages, and one more where there are global merges; where there is none
              the run ends. The share is of the whole window even while that fills.
    ratio     the language of the lowest compression so far: length at the start / length now / ratio, by the
              training text; the ratios are divided by the first

The first `global_merges` steps take the best pair of all languages together; with base this is the hybrid
variant. The authors' program ends at pairs that stand less than twice (`min_count=2`) and takes the largest
of equal pairs (`tie=largest-pair`).

One engine has the words of all languages; each language has one of its own, which is asked for its best pair,
and each development text one that is only followed. All merge the same pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple, Protocol

from tokentui.core import native
from tokentui.core.choices import Refusal
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.runtime import quiet_collector
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import BASES, Totals, barriers, totals_of
from tokentui.learn.engine import Constraints, Merged, Pair, PairEngine, Ranked
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Candidate, Judged, Why
from tokentui.learn.start_pairs import with_engine
from tokentui.learn.steps import MergeStep
from tokentui.recipe import Recipe, Stops
from tokentui.text.count import Words
from tokentui.text.parts import CorpusPart
from tokentui.text.pretokenize import Pretokenizer

VARIANTS = {
    "base": "the longest development text is worst off",
    "window": "the longest one, of those not chosen too often of late",
    "ratio": "the least compressed training text is worst off",
}
EVERYWHERE, NOBODY = -1, -2
"""In the place of a language: all of them together, and none that may be chosen."""
_SLICE, _A_STEP = 2048, 32
"""The places that are merged between two looks at the clock, and what a step costs beyond its own."""


class Rule(NamedTuple):
    """The rule that chooses a language.

    Attributes:
        variant: One of `VARIANTS`.
        global_merges: The number of first steps that all languages decide together.
        window_size: The number of steps that the window looks back.
        alpha: The share of the window that a language may have, in parts of an equal share.
        ratios: The compression that is aimed at in each language, the first 1.
    """

    variant: str = "base"
    global_merges: int = 0
    window_size: int = 100
    alpha: Fraction = Fraction(2)
    ratios: tuple[Fraction, ...] = ()

    @classmethod
    def of(cls, written: str) -> Rule:
        """The rule of a value of the objective, such as `parity:variant=window,alpha=1.5`.

        Raises:
            TokentuiError: A parameter cannot be.
        """
        found = OBJECTIVES.of(written).arguments(written)
        variant, ratios = str(found["variant"]), str(found["ratios"])
        if variant not in VARIANTS:
            raise TokentuiError(f"no variant {variant!r}", f"objective={written}", nearest(variant, VARIANTS))
        if ratios and variant != "ratio":
            raise TokentuiError("only variant=ratio has ratios", f"objective={written}", "leave them out")
        try:
            each = tuple(map(Fraction, ratios.split(":"))) if ratios else ()
            if any(one <= 0 for one in each):
                raise ValueError
        except (ValueError, ZeroDivisionError):
            hint = "such as ratios=1:1.5, one for each language"
            raise TokentuiError("ratios are numbers above 0", f"ratios={ratios}", hint) from None
        first, size = (int(str(found[name])) for name in ("global_merges", "window_size"))
        each = tuple(one / each[0] for one in each)
        return cls(variant, first, size, Fraction(str(found["alpha"])), each)


def refuses(recipe: Recipe) -> Refusal | None:
    """The reason why a recipe conflicts with the objective."""
    Rule.of(recipe.objective)
    if recipe.coverage < 1:
        what = "each language would leave other characters out"
        return Refusal("coverage", what, ("coverage=1", "objective=count"), fades=True)
    return None


class SharedEngine(PairEngine, Protocol):
    """An engine that merges the pairs which the engine of one language chooses."""

    def merge_given(self, left: int, right: int, recorded_count: int) -> int: ...
    def chosen(self, pair: int) -> tuple[int, int, int]: ...
    def replaces(self, left: int, right: int) -> int: ...
    def words_merged(self, number: int) -> Sequence[int]: ...
    def share(self, vocabulary: Vocabulary) -> None: ...
    def fork(self, number: int, material: Material) -> SharedEngine: ...


class ParityPairs:
    """The pairs of several languages and the merges made in all of them; see `engine.PairEngine`.

    Args:
        material: The parts, the recipe and the run.
        whole: The engine of the words of all parts.
        languages: An engine for each part; `whole` itself where there is one part.
        judged: The engine of the text that each part is judged by, that of the part where it has no other.
    """

    def __init__(
        self, material: Material, whole: SharedEngine, languages: Sequence[SharedEngine],
        judged: Sequence[SharedEngine],
    ) -> None:
        self.material, self.rule = material, Rule.of(material.recipe.objective)
        self.whole, self.languages, self.judged = whole, tuple(languages), tuple(judged)
        self._all: tuple[SharedEngine, ...] = tuple(dict.fromkeys((whole, *languages, *judged)))
        self.engine, self.number, self.computed = whole.engine, whole.number, whole.computed
        self.tokens_at, self.size_at = whole.tokens_at, whole.size_at
        self.word, self.words_changed, self.words_merged = whole.word, whole.words_changed, whole.words_merged
        self.parts: list[int] = []
        """The language that each known step chose, `EVERYWHERE` for a global merge."""
        self._had: tuple[int, list[int]] = (-2, [])
        """A step, and how many steps of the window before it each language has."""
        self._chosen = NOBODY, -1
        """The language of the step after the furthest one, and that step."""
        ratios = self.rule.ratios or (Fraction(1),) * len(languages)
        whole_ratio = math.lcm(*(one.numerator for one in ratios))
        self._weights = [one.denominator * whole_ratio // one.numerator for one in ratios]
        """One over the ratio of each language, times the same number."""
        self._share()

    def _share(self) -> None:
        for one in self._all[1:]:
            one.share(self.whole.vocabulary)

    # ---- which language

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """The length of each language in tokens after a known step."""
        return tuple(one.tokens_at(number) for one in self.languages)

    def judged_at(self, number: int) -> tuple[int, ...]:
        """The length of the text that each language is judged by after a known step."""
        texts = self.languages if self.rule.variant == "ratio" else self.judged
        return tuple(one.tokens_at(number) for one in texts)

    def language(self, number: int) -> int:
        """The language that decides the step after a known one."""
        if number < len(self.parts):
            return self.parts[number]
        if self._chosen[1] != number:
            self._chosen = self._worst(number), number
        return self._chosen[0]

    def _worst(self, number: int) -> int:
        rule = self.rule
        if number < rule.global_merges:
            return EVERYWHERE
        now = self.judged_at(number)
        if rule.variant == "ratio":
            start, lowest = self.judged_at(0), 0
            for one in range(1, len(now)):  # a/b < c/d as ad < cb
                if self._aim(one, start) * now[lowest] < self._aim(lowest, start) * now[one]:
                    lowest = one
            return lowest
        chosen = self.chosen_before(number)
        longest = NOBODY
        for one, length in enumerate(now):
            if (longest < 0 or length > now[longest]) and not (chosen and chosen[one] > self.most):
                longest = one
        return longest

    def _aim(self, one: int, start: Sequence[int]) -> int:
        return start[one] * self._weights[one]

    def compression(self, one: int, number: int) -> float:
        """The figure that the ratio variant compares, rounded: length at the start / length now / ratio."""
        ratio = self.rule.ratios[one] if self.rule.ratios else 1
        return float(Fraction(self.judged_at(0)[one], self.judged_at(number)[one] or 1) / ratio)

    @cached_property
    def most(self) -> int:
        """The most steps of a window that a language may have."""
        slots = len(self.languages) + (self.rule.global_merges > 0)
        return math.floor(self.rule.alpha * self.rule.window_size / slots)

    def chosen_before(self, number: int) -> list[int]:
        """The number of steps that each language has in the window before a step; empty for no window."""
        if self.rule.variant != "window":
            return []
        if number == self._had[0] + 1 == len(self.parts):  # as it was a step before, and that step
            had, size = self._had[1], self.rule.window_size
            for part, by in ((self.parts[-1], 1), (self.parts[-1 - size] if number > size else NOBODY, -1)):
                if part >= 0:
                    had[part] += by
            self._had = number, had
        elif number != self._had[0]:
            window = self.parts[max(0, number - self.rule.window_size) : number]
            self._had = number, [window.count(one) for one in range(len(self.languages))]
        return self._had[1]

    def _deciding(self, part: int) -> SharedEngine:
        return self.whole if part == EVERYWHERE else self.languages[part]

    # ---- walking

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for some milliseconds, forward no further than there is a pair."""
        if goal < self.number or self.number < self.computed:
            self.whole.walk(min(goal, self.computed), under)
            number = self.whole.number
            for one in self._all:
                while one.number != number:
                    one.walk(number, under)
            self.number = number
            return
        work = _SLICE
        while self.number < goal and work > 0 and (best := self._best(under)):
            left, right, places = best
            for one in self._all:
                replaced = one.merge_given(left, right, places)
                work -= replaced if one is self.whole else 0
            self.parts.append(self.language(self.computed))
            self.number = self.computed = self.computed + 1
            work -= _A_STEP

    def _best(self, under: Constraints) -> tuple[int, int, int] | None:
        """Return the pair of the step after the furthest one: its symbols and its count. None at the end."""
        part = self.language(self.computed)
        if part == NOBODY:
            return None
        deciding = self._deciding(part)
        pair = deciding.best(under)
        return deciding.chosen(pair) if pair else None

    def best(self, under: Constraints) -> int:
        """The count of the best pair at the furthest step, 0 where no pair may be merged."""
        best = self._best(under)
        return best[2] if best else 0

    def forget(self) -> None:
        """Forget the steps past the present one."""
        for one in self._all:
            one.forget()
        self._share()
        del self.parts[self.number :]
        self.computed, self._chosen, self._had = self.number, (NOBODY, -1), (-2, [])

    # ---- the figures

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary; the count of a merge is that in the language that chose it."""
        return self.whole.vocabulary

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol in all languages."""
        return self.whole.uses

    def memory(self) -> int:
        """The bytes that all texts take as they are laid out."""
        return sum(one.memory() for one in self._all)

    def merged(self, number: int) -> Merged:
        """The figures of a known step: its count and its ties in the language that chose it, all places that
        it replaced, and the uses of its parts in all languages."""
        whole = self.whole.merged(number)
        deciding = self._deciding(self.parts[number - 1])
        if deciding is self.whole:
            return whole
        own, everywhere = deciding.merged(number), whole.pair
        assert isinstance(own.pair, Pair)
        assert isinstance(everywhere, Pair)
        pair = own.pair._replace(left_uses=everywhere.left_uses, right_uses=everywhere.right_uses)
        return Merged(pair, whole.replaced, own.tied, own.was_tied)

    def top(self, under: Constraints, limit: int) -> Ranked:
        """The candidates at this step: the pairs of the language that decides."""
        part = self.language(self.number)
        if part == NOBODY:
            return Ranked(0, 0, 0, ())
        ranked = self._deciding(part).top(under, limit)
        if self._deciding(part) is self.whole or not ranked.rows:
            return ranked
        uses = self.uses
        rows = [
            row._replace(left_uses=uses[row.left], right_uses=uses[row.right])
            for row in ranked.rows if isinstance(row, Pair)
        ]
        return ranked._replace(replaced=self.whole.replaces(rows[0].left, rows[0].right), rows=rows)

    def after(
        self, number: int, engines: dict[SharedEngine, SharedEngine], material: Material
    ) -> ParityPairs:
        """The same with forks of its engines, which stand at a known step."""
        other = ParityPairs(
            material, engines[self.whole], [engines[one] for one in self.languages],
            [engines[one] for one in self.judged],
        )
        other.parts = self.parts[:number]
        return other

    def texts(self) -> dict[SharedEngine, Words]:
        """The words of each engine."""
        parts, found = self.material.parts, {self.whole: self.material.words}
        for one, part in zip(self.languages, parts, strict=True):
            found.setdefault(one, part.words)
        for one, part in zip(self.judged, parts, strict=True):
            found.setdefault(one, part.development or part.words)
        return found


class ParityTrainer(PairTrainer):
    """A training over languages: each step tells which of them decided it."""

    def __init__(
        self, engine: ParityPairs, material: Material,
        rebuild: Callable[[Material, PairEngine | None, int], PairTrainer],
    ) -> None:
        super().__init__(engine, material, rebuild)
        self._pairs = engine
        self._names = [part.name for part in material.parts]

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """The length of each language in tokens after a known step."""
        return self._pairs.lengths_at(number) if self.words.parts else ()

    def step_at(self, number: int) -> MergeStep:
        """A known step, with the language that decided it."""
        part = self._pairs.parts[number - 1]
        return replace(super().step_at(number), part=part, decided=self._name(part))

    def taken(self, number: int) -> Candidate:
        """The pair that a known step merged, with the figures that it had in the language that decided."""
        return replace(super().taken(number), part=self._pairs.parts[number - 1])

    def _rows_of(self, ranked: Ranked) -> Callable[[int], Candidate]:
        part, row_of = self._pairs.language(self.number), super()._rows_of(ranked)
        return row_of if part == 0 else lambda row: replace(row_of(row), part=part)

    def _name(self, part: int) -> str:
        return "all" if part == EVERYWHERE else self._names[part] if part >= 0 else ""

    def why(self, stops: Stops) -> Why:
        """The reasons of the step to come: the language first, then its pair."""
        pairs, number, rule = self._pairs, self.number, self._pairs.rule
        why, part = super().why(stops), pairs.language(self.number)
        now, start, had = pairs.judged_at(number), pairs.judged_at(0), pairs.chosen_before(number)
        judged = tuple(
            Judged(
                name, now[one], start[one], one == part,
                bool(had) and had[one] > pairs.most and part != EVERYWHERE,
                had[one] / rule.window_size if had else None,
                pairs.compression(one, number) if rule.variant == "ratio" else None,
            )
            for one, name in enumerate(self._names)
        )
        if len(judged) == 1:
            alone = "there is one language: this is byte-pair encoding; --corpus NAME=FILE names several"
            return replace(why, facts=(alone, *why.facts))
        return replace(why, judged=judged, facts=(self._said(part, judged), *why.facts))

    def _said(self, part: int, judged: Sequence[Judged]) -> str:
        """The language that decides, in words."""
        pairs, rule, number = self._pairs, self._pairs.rule, self.number
        if part == EVERYWHERE:
            return f"global merge {number + 1:,} of {rule.global_merges:,}: all languages count together"
        if part == NOBODY:
            return f"each language has had more than its share of the last {rule.window_size:,} steps"
        chosen = judged[part]
        if rule.variant == "ratio":
            return f"{chosen.name} is worst off: compressed {chosen.compressed:.3f} times, the least"
        development = pairs.judged[part] is not pairs.languages[part]
        text = "development text" if development else "text"
        barred = [one.name for one in judged if one.barred]
        equal = [one for one in judged if one.tokens == chosen.tokens and not one.barred]
        longest = "the first of the longest" if len(equal) > 1 else "the longest"
        less = f"; {', '.join(barred)} had its share of the last {rule.window_size:,} steps" if barred else ""
        return f"{chosen.name} is worst off: its {text} has {chosen.tokens:,} tokens, {longest}{less}"


# ---- the start


def parity(
    material: Material, source: PairEngine | None = None, number: int = 0, compiled: bool | None = None
) -> ParityTrainer:
    """Start a training over the parts of a material. Only plain Python knows what-ifs.

    Args:
        material: The parts, the recipe and the run.
        source: The engine of a training of the same parts, whose steps are taken over; None for none.
        number: How many of its steps are taken over, where they need not be chosen again.
        compiled: True to train with kernels; None lets `kernels_fit` decide.

    Raises:
        TokentuiError: There are not as many ratios as languages.
    """
    rule, recipe = Rule.of(material.recipe.objective), material.recipe
    if rule.ratios and len(rule.ratios) != len(material.parts):
        what = f"{len(rule.ratios)} ratios, and {len(material.parts)} languages"
        raise TokentuiError(what, f"objective={recipe.objective}", "name a ratio for each language, in order")
    rebuild = partial(parity, compiled=compiled)
    with quiet_collector():
        if isinstance(source, ParityPairs) and (source.engine != native.COMPILED or recipe.what_if):
            texts = source.texts().items()
            forks = {one: one.fork(number, _alone(material, words)) for one, words in texts}
            return ParityTrainer(source.after(number, forks, material), material, rebuild)
        pairs = with_engine(material, partial(_started, material), compiled)
        return ParityTrainer(pairs, material, rebuild)


def _alone(material: Material, words: Words) -> Material:
    return replace(material, parts=(CorpusPart("", words),))


def _started(
    material: Material, kind: Callable[[Material, Callable[[Totals], Vocabulary]], SharedEngine]
) -> ParityPairs:
    """The engines of a material, at step 0; all number the same units."""
    run, recipe, parts = material.run, material.recipe, material.parts
    units = Pretokenizer(recipe).units
    judged_only = [units(word) for part in parts if part.development for word in part.development.words]
    others = totals_of(judged_only, [0] * len(judged_only))
    apart = barriers(others, recipe)
    base: list[bytes] = []

    def vocabulary(totals: Totals) -> Vocabulary:
        if not base:  # the first engine has the words of all parts
            more = {unit: 0 for unit in others if unit not in totals and unit not in apart}
            base.extend(BASES.of(recipe.base).units({**totals, **more}))
        return Vocabulary(recipe, base, run.specials, run.first_id)

    def made(words: Words) -> SharedEngine:
        return kind(_alone(material, words), vocabulary)

    whole = made(material.words)
    languages = [made(part.words) for part in parts] if len(parts) > 1 else [whole]
    judged = [
        own if part.development is None else made(part.development)
        for own, part in zip(languages, parts, strict=True)
    ]
    return ParityPairs(material, whole, languages, judged)


