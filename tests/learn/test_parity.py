"""Parity-aware BPE: the worked example, a model that counts from scratch, and the laws of a trainer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Naive

from tokentui import learn
from tokentui.axes import check
from tokentui.core import engines
from tokentui.core.errors import TokentuiError
from tokentui.learn import Query, Stop, Word, jump, run, what_if
from tokentui.learn.objectives import Material
from tokentui.learn.parity import ParityTrainer, parity_trainer
from tokentui.learn.ranking import TIES
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Recipe, Run, Stops, WhatIf
from tokentui.text.count import Words
from tokentui.text.parts import CorpusPart

ENGINES = [False, *([True] if engines.available() else [])]
CHARS = Recipe(split="none", unit="char", base="sorted", tie="largest-pair", unknown="error")
ENGLISH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
GERMAN = {"tief": 2, "tiefer": 2, "neueste": 3, "weiteste": 2}
JUDGED = {"low": 1, "newest": 1, "lower": 1}, {"tief": 1, "neueste": 1, "tiefer": 1}
BASE = [  # (lengths before the step, the language, the merge, its count), by the description of the paper
    ((14, 17), "german", "t+e", 7), ((14, 16), "german", "s+te", 5), ((14, 15), "german", "t+i", 4),
    ((14, 13), "english", "s+t", 9), ((13, 13), "english", "e+st", 9), ((12, 13), "german", "ti+e", 4),
    ((12, 11), "english", "o+w", 7), ((10, 11), "german", "tie+f", 4), ((10, 9), "english", "l+ow", 7),
]
HYBRID = [
    ((14, 17), "all", "s+t", 14), ((13, 16), "all", "e+st", 14), ((12, 15), "all", "n+e", 9),
    ((11, 14), "german", "est+e", 5), ((11, 13), "german", "t+i", 4),
]


def counted(words: dict[str, int]) -> Words:
    return Words.of(Counter(words))


def material(parts: Sequence[tuple[dict[str, int], dict[str, int] | None]], recipe: Recipe) -> Material:
    names = ("english", "german", "third")
    return Material(tuple(
        CorpusPart(name, counted(words), None if judged is None else counted(judged))
        for name, (words, judged) in zip(names, parts, strict=False)
    ), check(recipe))


def example(written: str, compiled: bool) -> ParityTrainer:
    recipe = CHARS.with_axes(objective=written)
    parts = material(list(zip((ENGLISH, GERMAN), JUDGED, strict=True)), recipe)
    return parity_trainer(parts, compiled=compiled)


def told(trainer: ParityTrainer) -> Any:
    """Everything that can be asked at a step."""
    why = learn.why(trainer, Stops())
    words = trainer.words.words
    return (
        trainer.number, why,
        learn.candidates(trainer, Query(rows=40)), learn.entries(trainer, Query(rows=60)),
        trainer.tokens_at(trainer.number), trainer.lengths_at(trainer.number), trainer.changed(),
        [list(trainer.segment(Word(word))) for word in words], [n for n in enumerate(trainer.uses) if n[1]],
        trainer.number and trainer.step_at(trainer.number), trainer.number and trainer.taken(trainer.number),
    )


@pytest.mark.parametrize("compiled", ENGINES)
@pytest.mark.parametrize(("written", "steps"), [("parity", BASE), ("parity:global_merges=3", HYBRID)])
def test_the_worked_example_at_every_step_forward_and_back(
    written: str, steps: list[Any], compiled: bool
) -> None:
    trainer = example(written, compiled)
    seen = [told(trainer)]
    for number, (lengths, language, merge, count) in enumerate(steps, 1):
        judged = learn.why(trainer, Stops()).judged
        assert tuple(one.tokens for one in judged) == lengths
        assert [one.name for one in judged if one.chosen] == ([] if language == "all" else [language])
        jump(trainer, number)
        step = trainer.step_at(number)
        assert (step.decided, f"{step.left.decode()}+{step.right.decode()}", step.count) == (
            language, merge, count
        )
        assert step.row["language"] == language
        seen.append(told(trainer))
    for number in reversed(range(len(seen))):
        jump(trainer, number)
        assert told(trainer) == seen[number]
    for number in (len(steps), 0, 3, 1, len(steps)):
        jump(trainer, number)
        assert told(trainer) == seen[number]
    if written == "parity":
        pieces = [token.piece for token in trainer.tokenizer().encode("lowest").rows]
        assert pieces == [b"low", b"est"]


# ---- a model that counts from scratch


class Case(NamedTuple):
    parts: list[tuple[dict[str, int], dict[str, int] | None]]
    variant: str
    global_merges: int
    window_size: int
    alpha: str
    ratios: list[int]
    tie: str

    @property
    def written(self) -> str:
        named = f"variant={self.variant},global_merges={self.global_merges},window_size={self.window_size}"
        ratios = ":".join(map(str, self.ratios[: len(self.parts)]))
        more = f",ratios={ratios}" if self.variant == "ratio" else ""
        return f"parity:{named},alpha={self.alpha}{more}"


def texts(least: int = 1) -> st.SearchStrategy[dict[str, int]]:
    words = st.text("abc", min_size=1, max_size=6)
    return st.dictionaries(words, st.integers(1, 4), min_size=least, max_size=5)


CASES = st.builds(
    Case, st.lists(st.tuples(texts(), st.none() | texts()), min_size=1, max_size=3),
    st.sampled_from(("base", "window", "ratio")), st.sampled_from((0, 0, 2)), st.integers(1, 4),
    st.sampled_from(("0.5", "1.0", "1.5", "2.0")), st.lists(st.integers(1, 3), min_size=3, max_size=3),
    st.sampled_from(list(TIES)),
)


def model(case: Case) -> Iterator[tuple[str, bytes, bytes, int, tuple[int, ...]]]:
    """Each step as the description has it: the language, the pair, its count, the lengths of all before."""
    letters = sorted({one for part in case.parts for text in part if text for word in text for one in word})
    pieces = [one.encode() for one in letters]

    def laid_out(text: dict[str, int]) -> Naive:
        return Naive([[letters.index(one) for one in word] for word in text], list(text.values()),
                     list(pieces), case.tie)

    training = [laid_out(words) for words, _ in case.parts]
    summed: Counter[str] = Counter()
    for words, _ in case.parts:
        summed.update(words)
    everything = laid_out(dict(summed))
    judged = [laid_out(words if case.variant == "ratio" or other is None else other)
              for words, other in case.parts]

    def length(text: Naive) -> int:
        return sum(len(word) * weight for word, weight in zip(text.words, text.weights, strict=True))

    start, chosen = [length(text) for text in judged], list[int]()
    names = ("english", "german", "third")
    while True:
        now = [length(text) for text in judged]
        if len(chosen) < case.global_merges:
            part, text = -1, everything
        else:
            able = list(range(len(case.parts)))
            if case.variant == "window":
                last = chosen[-case.window_size :]
                slots = len(case.parts) + (1 if case.global_merges else 0)
                able = [one for one in able
                        if Fraction(last.count(one), case.window_size) <= Fraction(case.alpha) / slots]
            if not able:
                return
            if case.variant == "ratio":
                ratios = [Fraction(one, case.ratios[0]) for one in case.ratios]
                part = min(able, key=lambda one: Fraction(start[one], now[one]) / ratios[one])
            else:
                part = max(able, key=lambda one: now[one])
            text = training[part]
        counts = text.counts()
        if not counts:
            return
        pair = text.ranked(counts)[0]
        yield "all" if part < 0 else names[part], text.pieces[pair[0]], text.pieces[pair[1]], counts[pair], \
            tuple(now)
        for one in (*training, everything, *judged):
            one.merge(pair)
        chosen.append(part)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", ENGINES)
@settings(max_examples=30)
@given(case=CASES, back=st.lists(st.integers(0, 12), max_size=3))
def test_training_agrees_with_a_count_from_scratch(case: Case, back: list[int], compiled: bool) -> None:
    recipe = CHARS.with_axes(objective=case.written, tie=case.tie)
    trainer = parity_trainer(material(case.parts, recipe), compiled=compiled)
    seen = {0: told(trainer)}
    number = 0
    for number, (language, left, right, count, lengths) in enumerate(model(case), 1):
        judged = tuple(one.tokens for one in learn.why(trainer, Stops()).judged)
        assert judged == (lengths if len(lengths) > 1 else ())
        assert trainer.advance(number, Stops(), math.inf) is Stop.MERGES
        step = trainer.step_at(number)
        assert (step.decided, step.left, step.right, step.count) == (language, left, right, count)
        held: Counter[int] = Counter()
        for word, times in zip(trainer.words.words, trainer.words.counts, strict=True):
            for span in trainer.segment(Word(word)):
                held[span.symbol] += times
        assert list(trainer.uses) == [held[symbol] for symbol in range(len(trainer.uses))]
        seen[number] = told(trainer)
    assert trainer.advance(number + 1, Stops(), math.inf) is Stop.NO_PAIR
    for to in back:
        jump(trainer, min(to, number))
        assert told(trainer) == seen[min(to, number)]


@pytest.mark.parametrize("compiled", ENGINES)
@settings(max_examples=15)
@given(words=texts(2), tie=st.sampled_from(list(TIES)), variant=st.sampled_from(("base", "ratio")))
def test_one_language_is_plain_bpe(
    words: dict[str, int], tie: str, variant: str, compiled: bool
) -> None:
    recipe = CHARS.with_axes(tie=tie)
    own = parity_trainer(material([(words, None)], recipe.with_axes(objective=f"parity:variant={variant}")),
                 compiled=compiled)
    plain = pair_trainer(Material.of(counted(words), recipe), compiled=compiled)
    assert run(own, Stops()) == run(plain, Stops())
    for number in range(1, own.number + 1):
        row = own.step_at(number).row
        assert row.pop("language") == "english"
        assert row == plain.step_at(number).row


@settings(max_examples=15)
@given(
    case=CASES, step=st.integers(1, 4), other=st.integers(1, 8),
    what=st.sampled_from(("forbid", "force", "leave-out")),
)
def test_a_branch_under_a_what_if_is_a_training_under_it(
    case: Case, step: int, other: int, what: str
) -> None:
    recipe = CHARS.with_axes(objective=case.written, tie=case.tie)
    for compiled in ENGINES:
        whole = parity_trainer(material(case.parts, recipe), compiled=compiled)
        jump(whole, 12)
        if whole.number < max(step, other):
            return
        pairs = whole.step_at(other)
        change = WhatIf(step, what, () if what == "leave-out" else (pairs.left, pairs.right))
        before = told(whole)
        branch = what_if(whole, [change])
        straight = parity_trainer(material(case.parts, recipe.under([change])), compiled=False)
        jump(straight, branch.number)
        assert isinstance(branch, ParityTrainer)
        assert branch.traits.engine == whole.traits.engine
        assert told(branch) == told(straight)
        assert told(whole) == before


@pytest.mark.parametrize("compiled", ENGINES)
def test_stops_apply_to_the_language_that_decides(compiled: bool) -> None:
    trainer = example("parity", compiled)
    assert run(trainer, Stops(min_count=5)) is Stop.MIN_COUNT
    assert trainer.number == 2  # German has no pair of five left, though English has one of nine
    trainer = example("parity", compiled)
    run(trainer, Stops(max_length=2))
    assert max(len(one.piece) for one in learn.entries(trainer, Query(rows=100)).rows) == 2
    trainer = example("parity:variant=window,window_size=1,alpha=1", compiled)
    assert run(trainer, Stops()) is Stop.NO_PAIR or trainer.number > 1


@pytest.mark.parametrize(("written", "what"), [
    ("parity:variant=hybrid", "no variant 'hybrid'"), ("parity:ratios=1:2", "only variant=ratio"),
    ("parity:variant=ratio,ratios=1:x", "numbers above 0"), ("parity:alpha=0", "above 0"),
    ("parity:window_size=0", "out of range"), ("parity:shares=2", "no parameter"),
])
def test_an_invalid_rule_is_refused(written: str, what: str) -> None:
    with pytest.raises(TokentuiError, match=what):
        check(CHARS.with_axes(objective=written))


def test_each_language_wants_a_ratio() -> None:
    recipe = CHARS.with_axes(objective="parity:variant=ratio,ratios=1:2:3")
    with pytest.raises(TokentuiError, match="3 ratios, and 2 languages"):
        parity_trainer(material([(ENGLISH, None), (GERMAN, None)], recipe))


def test_a_special_token_that_a_merge_spells_is_borrowed() -> None:
    recipe = CHARS.with_axes(objective="parity")
    both = material(list(zip((ENGLISH, GERMAN), JUDGED, strict=True)), recipe)
    trainer = parity_trainer(Material(both.parts, recipe, Run(specials=("te",))))
    jump(trainer, 3)
    assert trainer.size_at(3) - trainer.size_at(0) == 2


@pytest.mark.parametrize("compiled", ENGINES)
def test_the_merged_places_of_equal_neighbors_are_predicted(compiled: bool) -> None:
    """A merge of "aaa" replaces one place of two, in all languages together."""
    recipe = CHARS.with_axes(objective="parity")
    trainer = parity_trainer(material([({"aaa": 3}, None), ({"aaaaa": 2}, None)], recipe), compiled=compiled)
    foretold = learn.why(trainer, Stops()).replaced
    trainer.advance(1, Stops(), math.inf)
    assert (trainer.step_at(1).replaced, foretold) == (7, 7)
