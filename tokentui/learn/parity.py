"""Parity-aware byte-pair encoding (Foroutan et al., "Parity-Aware Byte-Pair Encoding", 2025): each step helps
the language that is worst off.

    language = worst(lengths)              # of their development texts, in tokens
    pair = best pair of that language
    merge the pair in all languages

The result is one list of merges, and encodes as byte-pair encoding does. A language is judged by its
development text, or by its training text if it has none. Count, tie rule and stops are those of byte-pair
encoding on the chosen language. If that language has no pair left the run ends, even if others have one.

The variants:

    base      the language whose text is longest now; of several the first
    window    the same among the languages that were chosen in at most alpha / L of the last `window_size`
              steps; L is the number of languages, plus one with global merges. If no language is left the run
              ends. The share is of the whole window even before `window_size` steps were made.
    ratio     the language of the lowest compression: length at the start / length now / ratio, by the
              training text; the ratios are divided by the first one

The first `global_merges` steps merge the best pair of all languages together; with base this is the hybrid
variant. The authors' program ends at pairs that occur once (`min_count=2`) and takes the largest of several
equal pairs (`tie=largest-pair`).

One engine has the words of all languages. Each language has an engine of its own, which is asked for its best
pair, and each development text has one that is only measured. All engines merge the same pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tokentui.core.choices import Refusal
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.runtime import quiet_collector
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import Totals, barriers, base_units, totals_of
from tokentui.learn.engine import Constraints, Merge, PairEngine, Ranked
from tokentui.learn.ngrams import Pair
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.rows import Candidate, Judged, Why
from tokentui.learn.start_pairs import may_fork, with_engine
from tokentui.learn.steps import MergeStep
from tokentui.recipe import Recipe, Stops
from tokentui.text.count import Words
from tokentui.text.parts import CorpusPart
from tokentui.text.pretokenize import Pretokenizer

if TYPE_CHECKING:  # the second needs kernels
    from tokentui.learn.bpe import PlainPairs
    from tokentui.learn.compiled import KernelPairs

VARIANTS = {
    "base": "the longest development text is worst off",
    "window": "the longest one, of those not chosen too often of late",
    "ratio": "the least compressed training text is worst off",
}
Engine: TypeAlias = "PlainPairs | KernelPairs"
"""An engine that can merge the pairs which the engine of one language chooses (`merge_given`)."""
ALL_LANGUAGES, NO_LANGUAGE = -1, -2
"""In the place of the index of a language: all languages decide together, or none may decide."""
_SLICE, _A_STEP = 2048, 32
"""The work of one call of `walk`, in merged places by weight, and the work of a step besides its places."""


class Rule(NamedTuple):
    """The rule that chooses a language.

    Attributes:
        variant: One of `VARIANTS`.
        global_merges: The number of first steps that all languages decide together.
        window_size: The number of last steps that the window has.
        alpha: The largest share of the window that a language may have, in multiples of an equal share.
        ratios: The target compression of each language relative to the first; empty if all are 1.
    """

    variant: str = "base"
    global_merges: int = 0
    window_size: int = 100
    alpha: Fraction = Fraction(2)
    ratios: tuple[Fraction, ...] = ()

    @classmethod
    def of(cls, written: str) -> Rule:
        """Return the rule of an objective as a recipe writes it, such as `parity:variant=window,alpha=1.5`.

        Raises:
            TokentuiError: The variant is unknown or takes no ratios, or a ratio is no positive number.
        """
        parameters = OBJECTIVES.of(written).arguments(written)
        variant, ratios = str(parameters["variant"]), str(parameters["ratios"])
        if variant not in VARIANTS:
            raise TokentuiError(f"no variant {variant!r}", f"objective={written}", nearest(variant, VARIANTS))
        if ratios and variant != "ratio":
            raise TokentuiError("only variant=ratio has ratios", f"objective={written}", "leave them out")
        try:
            fractions = tuple(map(Fraction, ratios.split(":"))) if ratios else ()
            if any(ratio <= 0 for ratio in fractions):
                raise ValueError
        except (ValueError, ZeroDivisionError):
            hint = "for example ratios=1:1.5, one for each language"
            raise TokentuiError("ratios must be numbers above 0", f"ratios={ratios}", hint) from None
        first, size = (int(str(parameters[name])) for name in ("global_merges", "window_size"))
        relative = tuple(ratio / fractions[0] for ratio in fractions)
        return cls(variant, first, size, Fraction(str(parameters["alpha"])), relative)


def refuses(recipe: Recipe) -> Refusal | None:
    """Return a refusal of a coverage below 1, under which each language would lose other characters, else
    None.

    Raises:
        TokentuiError: The rule is invalid; see `Rule.of`.
    """
    Rule.of(recipe.objective)
    if recipe.coverage < 1:
        what = "each language would leave other characters out"
        return Refusal("coverage", what, ("coverage=1", "objective=count"), fades=True)
    return None


class ParityPairs:
    """The pairs of several languages and the merges made in all of them; see `engine.PairEngine`.

    Args:
        material: The parts, the recipe and the run.
        whole: The engine of the words of all parts.
        languages: The engine of each part; `whole` itself if there is one part.
        judged: The engine of the text that each part is judged by: its development text, else its own words.
    """

    def __init__(
        self, material: Material, whole: Engine, languages: Sequence[Engine],
        judged: Sequence[Engine],
    ) -> None:
        self.material, self.rule = material, Rule.of(material.recipe.objective)
        self.whole, self.languages, self.judged = whole, tuple(languages), tuple(judged)
        self._engines: tuple[Engine, ...] = tuple(dict.fromkeys((whole, *languages, *judged)))
        self.engine, self.number, self.computed = whole.engine, whole.number, whole.computed
        self.tokens_at, self.size_at = whole.tokens_at, whole.size_at
        self.word, self.words_changed, self.words_merged = whole.word, whole.words_changed, whole.words_merged
        self.decided_by: list[int] = []
        """The index of the language that decided each computed step, or `ALL_LANGUAGES`."""
        self._window: tuple[int, list[int]] = (-2, [])
        """A step, and how many of the window's steps before it each language decided."""
        self._next_language = NO_LANGUAGE, -1
        """The language that decides the step after the furthest one, and that step."""
        ratios = self.rule.ratios or (Fraction(1),) * len(languages)
        whole_ratio = math.lcm(*(ratio.numerator for ratio in ratios))
        self._weights = [ratio.denominator * whole_ratio // ratio.numerator for ratio in ratios]
        """The inverse ratio of each language, times a common factor that makes all of them whole."""
        self._share_vocabulary()

    def _share_vocabulary(self) -> None:
        """Make all engines read the vocabulary of the engine of all words, which adds each merge first."""
        for engine in self._engines[1:]:
            engine.share(self.whole.vocabulary)

    # ---- which language

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """Return the length of each language in tokens after a computed step, by weight."""
        return tuple(engine.tokens_at(number) for engine in self.languages)

    def judged_at(self, number: int) -> tuple[int, ...]:
        """Return the length in tokens of the text that each language is judged by, after a computed step.

        The ratio variant judges by the training text, the others by the development text if there is one.
        """
        texts = self.languages if self.rule.variant == "ratio" else self.judged
        return tuple(engine.tokens_at(number) for engine in texts)

    def language(self, number: int) -> int:
        """Return the index of the language that decides the step after a computed one.

        Returns `ALL_LANGUAGES` for a global merge, `NO_LANGUAGE` if no language may decide.
        """
        if number < len(self.decided_by):
            return self.decided_by[number]
        if self._next_language[1] != number:
            self._next_language = self._worst_language(number), number
        return self._next_language[0]

    def _worst_language(self, number: int) -> int:
        """Choose the language of the step after a computed one by the rule; of equal ones the first."""
        rule = self.rule
        if number < rule.global_merges:
            return ALL_LANGUAGES
        now = self.judged_at(number)
        if rule.variant == "ratio":
            start, lowest = self.judged_at(0), 0
            for index in range(1, len(now)):  # a/b < c/d as ad < cb
                if self._target(index, start) * now[lowest] < self._target(lowest, start) * now[index]:
                    lowest = index
            return lowest
        decided = self.decided_in_window(number)
        longest = NO_LANGUAGE
        for index, length in enumerate(now):
            barred = decided and decided[index] > self.most_in_window
            if not barred and (longest < 0 or length > now[longest]):
                longest = index
        return longest

    def _target(self, index: int, start: Sequence[int]) -> int:
        """Return the length of a language at the start over its ratio, times a factor common to all."""
        return start[index] * self._weights[index]

    def compression(self, index: int, number: int) -> float:
        """Return the compression of a language after a computed step, relative to its ratio.

        It is length at the start / length now / ratio, rounded to a float. A length of 0 now counts as 1.
        """
        ratio = self.rule.ratios[index] if self.rule.ratios else 1
        return float(Fraction(self.judged_at(0)[index], self.judged_at(number)[index] or 1) / ratio)

    @cached_property
    def most_in_window(self) -> int:
        """The most steps of a window that one language may decide."""
        slots = len(self.languages) + (self.rule.global_merges > 0)
        return math.floor(self.rule.alpha * self.rule.window_size / slots)

    def decided_in_window(self, number: int) -> list[int]:
        """Return how many of the last `window_size` steps up to a computed step each language decided.

        Returns an empty list for the variants without a window. The next call may change the list in place.
        """
        if self.rule.variant != "window":
            return []
        if number == self._window[0] + 1 == len(self.decided_by):  # update the counts of the step before
            counts, size = self._window[1], self.rule.window_size
            oldest = self.decided_by[-1 - size] if number > size else NO_LANGUAGE
            for index, change in ((self.decided_by[-1], 1), (oldest, -1)):
                if index >= 0:
                    counts[index] += change
            self._window = number, counts
        elif number != self._window[0]:
            window = self.decided_by[max(0, number - self.rule.window_size) : number]
            self._window = number, [window.count(index) for index in range(len(self.languages))]
        return self._window[1]

    def _engine_of(self, language: int) -> Engine:
        """Return the engine of a language, or that of all languages."""
        return self.whole if language == ALL_LANGUAGES else self.languages[language]

    # ---- walking

    def walk(self, goal: int, under: Constraints) -> None:
        """Go toward a step for some milliseconds, which may end before the step is reached.

        Steps that are not computed yet are made one after another until no pair may be merged.
        """
        if goal < self.number or self.number < self.computed:
            self.whole.walk(min(goal, self.computed), under)
            number = self.whole.number
            for engine in self._engines:
                while engine.number != number:
                    engine.walk(number, under)
            self.number = number
            return
        work = _SLICE
        while self.number < goal and work > 0 and (best := self._best_pair(under)):
            for engine in self._engines:
                replaced = engine.merge_given(*best)
                work -= replaced if engine is self.whole else 0
            self.decided_by.append(self.language(self.computed))
            self.number = self.computed = self.computed + 1
            work -= _A_STEP

    def _best_pair(self, under: Constraints) -> tuple[int, int, int] | None:
        """Return the left symbol, the right symbol and the count of the pair that the next step merges.

        Returns None if no pair may be merged.
        """
        language = self.language(self.computed)
        if language == NO_LANGUAGE:
            return None
        engine = self._engine_of(language)
        pair = engine.best(under)
        return engine.chosen(pair) if pair else None

    def best(self, under: Constraints) -> int:
        """Return the count of the best pair at the furthest step, 0 if no pair may be merged."""
        best = self._best_pair(under)
        return best[2] if best else 0

    def forget(self) -> None:
        """Drop the computed steps after the current one."""
        for engine in self._engines:
            engine.forget()
        self._share_vocabulary()
        del self.decided_by[self.number :]
        self.computed, self._next_language, self._window = self.number, (NO_LANGUAGE, -1), (-2, [])

    def words_by_engine(self) -> dict[Engine, Words]:
        """Return the counted words of each engine.

        An engine used for several texts has those of the first use.
        """
        parts, words = self.material.parts, {self.whole: self.material.words}
        for engine, part in zip(self.languages, parts, strict=True):
            words.setdefault(engine, part.words)
        for engine, part in zip(self.judged, parts, strict=True):
            words.setdefault(engine, part.development or part.words)
        return words

    # ---- figures

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary. The count of a merge is that in the language that decided it."""
        return self.whole.vocabulary

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol in all languages, by weight."""
        return self.whole.uses

    def memory(self) -> int:
        """Return the bytes that the corpora of all engines take."""
        return sum(engine.memory() for engine in self._engines)

    def merged(self, number: int) -> Merge:
        """Return the figures of a computed step.

        Count and ties are those in the language that decided the step. The places that it replaced and the
        uses of its parts are those in all languages.
        """
        whole = self.whole.merged(number)
        engine = self._engine_of(self.decided_by[number - 1])
        if engine is self.whole:
            return whole
        own, everywhere = engine.merged(number), whole.pair
        assert isinstance(own.pair, Pair)
        assert isinstance(everywhere, Pair)
        pair = own.pair._replace(left_uses=everywhere.left_uses, right_uses=everywhere.right_uses)
        return Merge(pair, whole.replaced, own.tied, own.was_tied, whole.tokens)

    def top(self, under: Constraints, limit: int) -> Ranked:
        """Return the best pairs at this step of the language that decides the next one.

        Counts are those in this language, uses and replaced places those in all languages. Without such a
        language there are no pairs.
        """
        language = self.language(self.number)
        if language == NO_LANGUAGE:
            return Ranked(0, 0, 0, ())
        engine = self._engine_of(language)
        ranked = engine.top(under, limit)
        if engine is self.whole or not ranked.rows:
            return ranked
        uses = self.uses
        rows = [
            row._replace(left_uses=uses[row.left], right_uses=uses[row.right])
            for row in ranked.rows if isinstance(row, Pair)
        ]
        return ranked._replace(replaced=self.whole.replaces(rows[0].left, rows[0].right), rows=rows)

    def fork(self, number: int, material: Material) -> ParityPairs:
        """Return independent copies of all engines at a computed step, for a run by another recipe."""
        forks = {
            engine: engine.fork(number, _single_corpus(material, words))
            for engine, words in self.words_by_engine().items()
        }
        other = ParityPairs(
            material, forks[self.whole], [forks[engine] for engine in self.languages],
            [forks[engine] for engine in self.judged],
        )
        other.decided_by = self.decided_by[:number]
        return other


class ParityTrainer(PairTrainer):
    """A training over languages; see `trainer.Trainer`. A step names the language that decided it.

    Args:
        engine: The engine of all languages.
        material, rebuild: See `PairTrainer`.
    """

    def __init__(
        self, engine: ParityPairs, material: Material,
        rebuild: Callable[[Material, PairEngine | None, int], PairTrainer],
    ) -> None:
        super().__init__(engine, material, rebuild)
        self._pairs = engine
        self._names = [part.name for part in material.parts]

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """Return the length of each language in tokens after a computed step; empty if the parts have no
        names."""
        return self._pairs.lengths_at(number) if self.words.parts else ()

    def step_at(self, number: int) -> MergeStep:
        """Return a computed step, with the language that decided it."""
        language = self._pairs.decided_by[number - 1]
        return replace(super().step_at(number), part=language, decided=self._name(language))

    def taken(self, number: int) -> Candidate:
        """Return the pair that a computed step merged, with its figures in the language that decided it."""
        return replace(super().taken(number), part=self._pairs.decided_by[number - 1])

    def _rows_of(self, ranked: Ranked) -> Callable[[int], Candidate]:
        language, row_of = self._pairs.language(self.number), super()._rows_of(ranked)
        return row_of if language == 0 else lambda row: replace(row_of(row), part=language)

    def _name(self, language: int) -> str:
        """Return the name of the index of a language; empty for `NO_LANGUAGE`."""
        return "all" if language == ALL_LANGUAGES else self._names[language] if language >= 0 else ""

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the reasons of the next step: why this language decides, then why this pair is merged.

        With one language no language is judged; a note says so instead.
        """
        pairs, number, rule = self._pairs, self.number, self._pairs.rule
        why, language = super().explained(why, stops), pairs.language(self.number)
        now, start, decided = pairs.judged_at(number), pairs.judged_at(0), pairs.decided_in_window(number)
        judged = tuple(
            Judged(
                name, now[index], start[index], index == language,
                bool(decided) and decided[index] > pairs.most_in_window and language != ALL_LANGUAGES,
                decided[index] / rule.window_size if decided else None,
                pairs.compression(index, number) if rule.variant == "ratio" else None,
            )
            for index, name in enumerate(self._names)
        )
        if len(judged) == 1:
            note = "there is one language: this is byte-pair encoding; --corpus NAME=FILE names several"
            return replace(why, facts=(note, *why.facts))
        return replace(why, judged=judged, facts=(self._reason(language, judged), *why.facts))

    def _reason(self, language: int, judged: Sequence[Judged]) -> str:
        """Return a sentence on why a language decides the next step, or why none does."""
        pairs, rule, number = self._pairs, self._pairs.rule, self.number
        if language == ALL_LANGUAGES:
            return f"global merge {number + 1:,} of {rule.global_merges:,}: all languages count together"
        if language == NO_LANGUAGE:
            return f"each language has had more than its share of the last {rule.window_size:,} steps"
        chosen = judged[language]
        if rule.variant == "ratio":
            return f"{chosen.name} is worst off: compressed {chosen.compressed:.3f} times, the least"
        development = pairs.judged[language] is not pairs.languages[language]
        text = "development text" if development else "text"
        barred = [other.name for other in judged if other.barred]
        equal = [other for other in judged if other.tokens == chosen.tokens and not other.barred]
        longest = "the first of the longest" if len(equal) > 1 else "the longest"
        less = f"; {', '.join(barred)} had its share of the last {rule.window_size:,} steps" if barred else ""
        return f"{chosen.name} is worst off: its {text} has {chosen.tokens:,} tokens, {longest}{less}"


# ---- the start


def parity_trainer(
    material: Material, source: PairEngine | None = None, number: int = 0, compiled: bool | None = None
) -> ParityTrainer:
    """Start a training over the parts of a material.

    Args:
        material: The parts, the recipe and the run.
        source: The engine of a training of the same parts, to take over steps from. Without one, or with one
            whose kernels failed, the training starts at step 0.
        number: The number of steps to take over from `source`.
        compiled: Whether to train with kernels; None asks `kernels_fit`.

    Raises:
        TokentuiError: The number of ratios differs from the number of languages.
    """
    rule, recipe = Rule.of(material.recipe.objective), material.recipe
    if rule.ratios and len(rule.ratios) != len(material.parts):
        what = f"{len(rule.ratios)} ratios, and {len(material.parts)} languages"
        raise TokentuiError(what, f"objective={recipe.objective}", "name a ratio for each language, in order")
    rebuild = partial(parity_trainer, compiled=compiled)
    with quiet_collector():
        if isinstance(source, ParityPairs) and may_fork(source):
            return ParityTrainer(source.fork(number, material), material, rebuild)
        pairs = with_engine(material, partial(_lay_out, material), compiled)
        return ParityTrainer(pairs, material, rebuild)


def _single_corpus(material: Material, words: Words) -> Material:
    """Return a material with one corpus without a name, of these words."""
    return replace(material, parts=(CorpusPart("", words),))


def _lay_out(
    material: Material, engine: Callable[[Material, Callable[[Totals], Vocabulary]], Engine]
) -> ParityPairs:
    """Return the engines of all parts at step 0, each made by `engine`. All number the same units."""
    run, recipe, parts = material.run, material.recipe, material.parts
    units = Pretokenizer(recipe).units
    development = [units(word) for part in parts if part.development for word in part.development.words]
    totals_to_add = totals_of(development, [0] * len(development))
    barred = barriers(totals_to_add, recipe)
    base: list[bytes] = []

    def vocabulary_of(totals: Totals) -> Vocabulary:
        if not base:  # the first engine has the words of all parts
            more = {unit: 0 for unit in totals_to_add if unit not in totals and unit not in barred}
            base.extend(base_units(recipe, {**totals, **more}))
        return Vocabulary(recipe, base, run.specials, run.first_id)

    def lay_out(words: Words) -> Engine:
        return engine(_single_corpus(material, words), vocabulary_of)

    whole = lay_out(material.words)
    languages = [lay_out(part.words) for part in parts] if len(parts) > 1 else [whole]
    judged = [
        own if part.development is None else lay_out(part.development)
        for own, part in zip(languages, parts, strict=True)
    ]
    return ParityPairs(material, whole, languages, judged)
