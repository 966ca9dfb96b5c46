"""The laws of a trainer by its face alone, on every trainer of the package and with every engine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import AXES, preset
from tokentui.core import engines
from tokentui.core.choices import Parameter
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import Column, Made, Query, Size, Stop, Tokens, Trainer, Word, start
from tokentui.learn.replay import ReplayTrainer
from tokentui.recipe import Run, Stops, WhatIf
from tokentui.text.parts import CorpusPart, Words

NONE = Stops()
OBJECTIVES = AXES["objective"]
TEXT = "low low low low low lower lower newest newest newest widest widest widest lowest new wide low"
COUNTS = {word: TEXT.split().count(word) for word in dict.fromkeys(TEXT.split())}
WORDS = Words(tuple(COUNTS), tuple(COUNTS.values()))
PLAIN = preset("gpt2").with_axes(split="whitespace", unit="char", base="sorted", unknown="per-unit")
OWN_AXES = {
    "gage": preset("gage"),
    "pathpiece": PLAIN.with_axes(objective="pathpiece", encode="fewest-tokens"),
    "boundless": PLAIN.with_axes(objective="boundless:within=before", split="none"),
    "superbpe": PLAIN.with_axes(objective="superbpe:at=4,within=before", split="superwords"),
    "unigram": preset("sentencepiece-unigram")
    .with_axes(normalize=(), split="whitespace", pieces="any")
    .with_axes(coverage=1),
}
"""The recipes of objectives that are not for all values of the other axes."""
RECIPES = {
    **{name: OWN_AXES.get(name) or PLAIN.with_axes(objective=name) for name in OBJECTIVES},
    "gpt2": preset("gpt2"), "wordpiece": preset("wordpiece").with_axes(normalize=()),
}
"""A recipe for each objective, and two with other axes."""
PRUNING = [
    name for name, recipe in RECIPES.items()
    if OBJECTIVES.of(recipe.objective).scored or OBJECTIVES.of(recipe.objective).prunes
]
CODING = [
    name for name, recipe in RECIPES.items()
    if OBJECTIVES.of(recipe.objective).substitutes_bytes or OBJECTIVES.of(recipe.objective).events
]
"""Those whose tokenizers have no tokens that come one by one."""


def trained(name: str, engine: str) -> Trainer:
    """A training on the words, at step 0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engines.VARIABLE, "off" if engine == "plain" else "on")
        return start(None, RECIPES[name], Run(Stops(vocab_size=14 if name in PRUNING else None)), WORDS)


def file(name: str) -> Tokenizer:
    """The tokenizer at the end of a training."""
    trainer = trained(name, "plain")
    trainer.advance(None, NONE, math.inf)
    return trainer.tokenizer()


def replayed(name: str) -> Trainer:
    """The replay of the tokenizer at the end of a training, at step 0."""
    return ReplayTrainer(file(name), WORDS)


ENGINES = ("plain", "compiled")
TRAINERS: dict[str, Callable[[], Trainer]] = {
    **{f"{name}, {engine}": partial(trained, name, engine) for name in RECIPES for engine in ENGINES},
    **{f"replay of {name}": partial(replayed, name) for name in RECIPES if name not in CODING},
}
MERGING = [f"{name}, {engine}" for name in RECIPES if name not in PRUNING for engine in ENGINES]


@pytest.fixture(params=TRAINERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Trainer]:
    """A new trainer at step 0."""
    if "compiled" in request.param:
        request.getfixturevalue("loaded")
    return TRAINERS[request.param]


def parts_of(trainer: Trainer) -> list[tuple[bytes, ...]]:
    """The parts of the candidates that were taken up to the present step."""
    taken = map(trainer.taken, range(1, trainer.number + 1))
    return [candidate.parts for candidate in taken if candidate is not None]


def differing(trainer: Trainer) -> Callable[[str], bool]:
    """Tells if the last step changed a word."""
    changed = trainer.changed()
    return changed.differs or (lambda word: WORDS.words.index(word) in changed.words)


def digest(trainer: Trainer) -> object:
    """All that can be asked at a step."""
    traits, number, differs = trainer.traits, trainer.number, differing(trainer)
    tokenizer = trainer.tokenizer()
    return (
        number, trainer.tokens_at(number), trainer.size_at(number),
        repr(learn.candidates(trainer, Query(rows=9))),
        [learn.entries(trainer, Query(order=order)) for order in traits.orders],
        [trainer.segment(Word(word)) for word in COUNTS], [differs(word) for word in COUNTS],
        [learn.life(trainer, word) for word in COUNTS], tokenizer.encode(TEXT),
        {symbol: uses for symbol, uses in enumerate(trainer.uses) if uses},
        [replace(step, lengths=()) for step in learn.steps(trainer)],
        [trainer.taken(step) for step in range(1, number + 1)],
    )


@pytest.mark.first_run(cases=3)
def test_a_step_is_the_same_however_one_comes_to_it(make: Callable[[], Trainer]) -> None:
    trainer = make()

    @settings(max_examples=6)
    @given(st.lists(st.integers(0, 9), min_size=1, max_size=3))
    def holds(places: list[int]) -> None:
        for number in places:
            ended = trainer.advance(number, NONE, math.inf)
        straight = make()
        assert straight.advance(places[-1], NONE, math.inf) == ended
        assert digest(trainer) == digest(straight)

    holds()


@pytest.mark.first_run(cases=4)
def test_words_tokens_and_lives_agree(make: Callable[[], Trainer]) -> None:
    """The lives are what the tokenizers of the steps give; but where the longest match decides, the
    segmentation of the words is that too, and what changed is told."""
    trainer = make()
    while True:
        tokenizer, number = trainer.tokenizer(), trainer.number
        differs = differing(trainer)
        total = 0
        for word, count in COUNTS.items():
            spans, lives = trainer.segment(Word(word)), learn.life(trainer, word)
            pieces = [b"" if span.symbol < 0 else tokenizer.vocabulary.pieces[span.symbol] for span in spans]
            assert list(lives[-1].pieces) == [token.piece or b"" for token in tokenizer.encoder.word(word)]
            assert [one.number for one in lives] == sorted({one.number for one in lives})
            if trainer.traits.replays or trainer.recipe.encode != "longest-match":
                assert list(lives[-1].pieces) == pieces
                assert differs(word) == (number > 0 and lives[-1].number == number)
            total += len(spans) * count
        assert trainer.tokens_at(number) == total
        assert trainer.size_at(number) == tokenizer.vocab_size
        assert learn.entries(trainer, Query(order="id")).total == tokenizer.vocab_size
        assert trainer.tokenizer(0).encode(TEXT) == make().tokenizer().encode(TEXT)
        if trainer.advance(number + 1, NONE, math.inf) is not Stop.MERGES or number == 12:
            break


@pytest.mark.first_run(cases=15)
def test_rows_that_a_step_leaves_as_they_were_are_the_same_objects(make: Callable[[], Trainer]) -> None:
    trainer = make()
    if trainer.traits.heavy:
        pytest.skip("a round of it weighs every piece anew")
    known: dict[object, object] = {}
    for number in (1, 2, 3, 4, 3, 4, 5):
        trainer.advance(number, NONE, math.inf)
        best = learn.why(trainer, NONE).best
        rows = [*learn.candidates(trainer, Query()).rows, *learn.entries(trainer, Query(rows=500)).rows]
        assert best is None or any(best is row for row in rows)
        assert sum(row in known for row in rows) > len(rows) // 4 or not known
        for row in rows:
            assert known.setdefault(row, row) is row


@pytest.mark.parametrize("name", [
    name for name, recipe in RECIPES.items() if not OBJECTIVES.of(recipe.objective).per_corpus
])
@pytest.mark.first_run(cases=6)
@pytest.mark.usefixtures("loaded")
def test_corpora_with_names_are_trained_as_one(name: str) -> None:
    """Where no part is chosen, words are counted in all of them together."""
    once = Words(WORDS.words, [1 for _ in COUNTS])
    again = Words(WORDS.words, [count - 1 for count in COUNTS.values()])
    run = Run(Stops(vocab_size=14 if name == "unigram" else None))
    words = Words.of_parts((CorpusPart("once", once), CorpusPart("again", again)))
    for engine in ("plain", "compiled"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(engines.VARIABLE, "off" if engine == "plain" else "on")
            several, one = start(None, RECIPES[name], run, words), trained(name, engine)
        assert several.advance(4, NONE, math.inf) == one.advance(4, NONE, math.inf)
        assert sum(several.lengths_at(4)) == one.tokens_at(4)
        assert digest(several) == digest(one)


def test_goals_are_found_among_the_steps(make: Callable[[], Trainer]) -> None:
    trainer = make()
    trainer.advance(6, NONE, math.inf)
    sign = -1 if trainer.traits.shrinks else 1
    for number in range(trainer.number + 1):
        found = learn.find(trainer, Size(trainer.size_at(number)))
        assert found is not None
        assert found <= number
        assert sign * trainer.size_at(found) >= sign * trainer.size_at(number)
        shorter = learn.find(trainer, Tokens(trainer.tokens_at(number)))
        assert shorter is not None
        assert sign * trainer.tokens_at(shorter) <= sign * trainer.tokens_at(number)
    assert learn.find(trainer, Made(frozenset({b"never"}))) is None


def test_the_step_to_come_is_the_first_candidate(make: Callable[[], Trainer]) -> None:
    trainer = make()
    for _ in range(5):
        best, page = learn.why(trainer, NONE).best, learn.candidates(trainer, Query(rows=1))
        if best is None:
            break
        assert (best.token, best.parts) == (page.rows[0].token, page.rows[0].parts)
        assert len(best.values) == len(trainer.traits.columns)
        step = learn.step(trainer)
        assert step is not None
        taken = trainer.taken(step.number)
        assert taken is not None
        assert (taken.token, taken.worth) == (best.token, best.worth)


@pytest.mark.first_run(cases=8)
def test_a_fork_goes_on_alone(make: Callable[[], Trainer]) -> None:
    trainer = make()
    trainer.advance(4, NONE, math.inf)
    before = digest(trainer)
    fork = trainer.fork(2, ())
    straight = make()
    straight.advance(2, NONE, math.inf)
    assert digest(fork) == digest(straight)
    fork.advance(6, NONE, math.inf)
    straight.advance(6, NONE, math.inf)
    assert digest(fork) == digest(straight)
    assert digest(trainer) == before


@pytest.mark.parametrize("make", MERGING, indirect=True)
@pytest.mark.first_run(cases=13)
def test_what_ifs(make: Callable[[], Trainer]) -> None:
    """A token that is forbidden from a step on, one that is forced at a step, and the step of one that is
    left out."""
    trainer = make()
    trainer.advance(3, NONE, math.inf)
    before, rows = digest(trainer), learn.candidates(trainer, Query(rows=2)).rows
    taken = parts_of(trainer)
    third = trainer.tokenizer().vocabulary.pieces[trainer.step_at(3).made]
    assert learn.find(trainer, Made(frozenset({third}))) == 3
    forbidden = trainer.fork(3, (WhatIf(4, "forbid", rows[0].parts),))
    assert forbidden.advance(6, NONE, math.inf) is Stop.MERGES
    assert forbidden.traits.engine == trainer.traits.engine
    others = parts_of(forbidden)
    assert others[:3] == taken
    assert rows[0].parts not in others[3:]
    learn.jump(forbidden, 0)
    learn.jump(forbidden, 6)
    assert parts_of(forbidden) == others
    forced = trainer.fork(3, (WhatIf(4, "force", rows[1].parts),))
    step = learn.step(forced)
    assert step is not None
    assert step.tied == learn.why(trainer, NONE).tied
    assert parts_of(forced)[-1] == rows[1].parts
    without = trainer.fork(1, (WhatIf(2, "leave-out"),))
    without.advance(5, NONE, math.inf)
    assert without.step_at(1) == trainer.step_at(1)
    assert taken[1] not in parts_of(without)
    assert digest(trainer) == before


def test_a_forced_merge_is_tied_only_with_what_is_as_good() -> None:
    """The step tells how many shared the best value; the pair that was taken, whether one was as good."""
    recipe = RECIPES["count"].with_axes(tie="first-seen")
    counts = {"ab": 5, "cd": 5, "ef": 5, "gh": 2, "xy": 1, "uv": 1}
    trainer = start(None, recipe, words=Words(tuple(counts), tuple(counts.values())))
    trainer.advance(1, NONE, math.inf)
    for parts, alike in (((b"g", b"h"), False), ((b"c", b"d"), True), ((b"x", b"y"), True)):
        forced = trainer.fork(1, (WhatIf(2, "force", parts),))
        assert learn.step(forced)
        taken = forced.taken(2)
        assert taken is not None
        assert (taken.parts, taken.tied, forced.step_at(2).tied) == (parts, alike, 2)


def test_a_forced_merge_where_no_candidate_is_left_is_tied_with_none() -> None:
    trainer = start(None, RECIPES["count"], words=Words(("xyz", "ab"), (3, 3)))
    short = Stops(max_length=2)
    assert trainer.advance(None, short, math.inf) is Stop.NO_PAIR
    end = trainer.number
    forced = trainer.fork(end, (WhatIf(end + 1, "force", (b"xy", b"z")),))
    assert learn.why(forced, short).tied == 0
    assert forced.advance(end + 1, short, math.inf) is Stop.MERGES
    taken = forced.taken(end + 1)
    assert taken is not None
    assert (forced.step_at(end + 1).tied, taken.tied) == (0, False)


NEW = "brand-new"
"""The name of an objective that is added."""


Value = Callable[..., tuple[int, int]]
"""The value of a pair as a fraction, from its count and the uses of its parts."""


def columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Columns of these names."""
    return tuple(Column(name, "", "score") for name in names)


def pmi(count: int, left: int, right: int, power: int = 2) -> tuple[int, int]:
    """c(xy)ᵖ / (c(x)·c(y))."""
    return count**power, left * right


def test_an_objective_of_another_value_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A naive recount judges: at each step the best pair is the one of the greatest value, ties by the first
    in the corpus."""
    names = "count", "left uses", "right uses", "value"
    power = Parameter("power", "the power of the count", 1, most=3)
    record = replace(
        OBJECTIVES["count"], name=NEW, label=NEW, kernel=False, value=pmi, columns=columns(names),
        parameters=(power,),
    )
    monkeypatch.setitem(OBJECTIVES, NEW, record)
    recipe = RECIPES["count"].with_axes(objective=f"{NEW}:power=2", tie="first-seen")
    trainer = start(None, recipe, words=WORDS)
    assert trainer.traits.engine == engines.PLAIN
    assert [column.name for column in trainer.traits.columns] == list(names)
    assert_exact(trainer, pmi, 25)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("value", [
    lambda count, left, right: (count, (left * right) ** 3),
    # its denominators grow from step to step
    lambda count, left, right: (count, 3 ** max(9, 40 - left - right)),
])
@settings(max_examples=30)
@given(words=st.dictionaries(st.text("abc", min_size=2, max_size=7), st.integers(1, 9), max_size=9))
def test_values_of_any_denominator_are_ordered_exactly(value: Value, words: dict[str, int]) -> None:
    record = replace(
        OBJECTIVES["count"], name=NEW, kernel=False, value=value,
        columns=columns(("count", "left uses", "right uses", "value")),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OBJECTIVES, NEW, record)
        recipe = RECIPES["count"].with_axes(objective=NEW, tie="first-seen")
        counted = Words(tuple(words), tuple(words.values()))
        assert_exact(start(None, recipe, words=counted), value, 25)
        straight, looked = (start(None, recipe, words=counted) for _ in range(2))
        straight.advance(25, NONE, math.inf)  # it is asked for no candidates on the way
        assert_exact(looked, value, 25)
        assert list(learn.steps(straight)) == list(learn.steps(looked))


def assert_exact(trainer: Trainer, value: Value, steps: int) -> None:
    """So many steps are those of a recount whose values are fractions."""
    while (best := learn.candidates(trainer, Query(rows=1)).rows) and trainer.number < steps:
        pairs: Counter[tuple[int, int]] = Counter()
        uses: Counter[int] = Counter()
        for word, times in zip(trainer.words.words, trainer.words.counts, strict=True):
            symbols = [span.symbol for span in trainer.segment(Word(word))]
            uses.update({symbol: times * n for symbol, n in Counter(symbols).items()})
            for pair in pairwise(symbols):
                pairs[pair] += times
        values = {
            pair: Fraction(*value(count, uses[pair[0]], uses[pair[1]])) for pair, count in pairs.items()
        }
        greatest = max(values.values())
        assert best[0].key == next(pair for pair in pairs if values[pair] == greatest)
        assert best[0].worth == greatest
        step = learn.step(trainer)
        assert step is not None
        assert step.tied == sum(value == greatest for value in values.values())
