"""What-ifs against a naive model that trains from scratch under the same, at every step, forward and back."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Naive
from running_cli import cli, done, refused
from trainers import best, merge_steps, start, why, words_of
from what_ifs import expected, facts, naive_of, states_of, together

import tokentui
from tokentui import learn
from tokentui.analyze.report import JSON_VERSION
from tokentui.analyze.verify.peers import PEERS, check_recipe
from tokentui.analyze.what_if import Cost, cost
from tokentui.axes import AXES, changed, preset
from tokentui.core import engines, native
from tokentui.core.errors import TokentuiError
from tokentui.formats import WRITTEN
from tokentui.formats.files import export, load
from tokentui.formats.proof import contents
from tokentui.learn import Query
from tokentui.learn.bpe import PlainPairs
from tokentui.learn.replay import ReplayTrainer
from tokentui.recipe import FORBID, FORCE, LEAVE_OUT, Recipe, Run, Stops, WhatIf
from tokentui.session.persist.session_file import Branch, SavedSession, dumps, loads
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error")
CORPUS = Corpus.from_text("low low low low low lower lower newest newest newest widest widest widest lowest")
words = st.text(alphabet="abé", min_size=1, max_size=8)
texts = st.lists(words, max_size=9).map(" ".join)
recipes = st.builds(
    lambda unit_base, mark, tie, weight, split: Recipe(
        split=split, unit=unit_base[0], base=unit_base[1], mark=mark, tie=tie, weight=weight,
        unknown="never" if unit_base[0] == "byte" else "error",
    ),
    st.sampled_from([("byte", "gpt2-bytes"), ("byte", "sorted"), ("char", "sorted"), ("char", "first-seen")]),
    st.sampled_from(["none", "end-suffix:</w>", "prefix:##"]),
    st.sampled_from(list(AXES["tie"])),
    st.sampled_from(["occurrences", "distinct"]),
    st.sampled_from(["whitespace", "none", "gpt2"]),
)


@pytest.fixture(autouse=True, scope="module", params=["off", "on"] if engines.available() else ["off"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The engine of every training here: each test runs in plain Python and with kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engines.VARIABLE, request.param)
        yield engines.engine()


# ---- the text of a what-if


@settings(max_examples=24)
@given(st.integers(1, 2**53 - 1), st.lists(st.binary(min_size=1, max_size=4), min_size=1, max_size=2))
def test_any_bytes_are_written_and_read(step: int, parts: list[bytes]) -> None:
    one = WhatIf(step, FORBID, tuple(parts))
    assert WhatIf.read(one.text) == one
    assert one.text.isascii()
    assert one.text.isprintable()
    recipe = Recipe(what_if=(one.text,))
    assert Recipe.from_toml(recipe.to_toml()) == Recipe.from_dict(recipe.to_dict() | recipe.shape) == recipe
    assert recipe.changes == (one,)


@pytest.mark.parametrize(("text", "said"), [
    ("", "cannot be empty"), ("forbid:a+b", "not a what-if"),
    ("0:forbid:a+b", "there is no step 0"), ("00:leave-out", "there is no step 0"),
    ("1:forget:a+b", "not a what-if"), ("1 forbid a+b", "not a what-if"), ("²:leave-out", "not a what-if"),
    ("1:forbid", "takes"), ("1:leave-out:a", "takes"), ("1:forbid:a+", "takes"), ("1:force:ab", "takes"),
    ("1:leave-out:a+b", "takes"), ("1:forbid:a%+b", "hex"), ("1:forbid:a%2+b", "hex"),
    ("1:forbid:\ud800+b", "surrogate"), (f"{'9' * 400}:leave-out", "not a what-if"),
])
def test_an_invalid_what_if_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(TokentuiError, match=said) as raised:
        Recipe(what_if=(text,))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("texts", "said"), [
    (["1:forbid:a+b", "1:forbid:%61+b"], "named twice"), (["2:force:a+b", "2:force:b+a"], "step 2 has"),
    (["2:force:a+b", "2:leave-out"], "step 2 has"), ("1:leave-out", "a list of texts"),
    ([1], "expected a text"),
])
def test_what_ifs_that_contradict_each_other(texts: Any, said: str) -> None:
    with pytest.raises(TokentuiError, match=said):
        Recipe(what_if=texts)


def test_a_recipe_writes_what_ifs_in_one_way() -> None:
    one = Recipe(what_if=("12:leave-out", "3:forbid:%c3%a9+%61", "012:forbid:é"))
    assert one.what_if == ("3:forbid:%C3%A9+a", "12:forbid:%C3%A9", "12:leave-out")
    assert one == Recipe(what_if=tuple(reversed(one.what_if)))
    assert one.axis("what_if") == "3:forbid:%C3%A9+a 12:forbid:%C3%A9 12:leave-out"


@pytest.mark.parametrize("name", ["what_if", "symbols"])
@pytest.mark.slow
def test_a_file_may_name_very_many(name: str) -> None:
    """Each is looked at once: a hundred thousand take no longer than a moment."""
    texts = [f"{number}:leave-out" for number in range(1, 100_001)]
    assert len(getattr(Recipe(**{name: texts}), name)) == 100_000  # type: ignore[arg-type]


def test_no_library_is_asked_to_train_under_what_ifs() -> None:
    with pytest.raises(TokentuiError, match="does not support what-ifs"):
        check_recipe(preset("gpt2", what_if=["1:leave-out"]), PEERS["tokenizers"])


def test_trainings_without_merges_refuse_what_ifs() -> None:
    with pytest.raises(TokentuiError, match="a unigram model has none"):
        preset("sentencepiece-unigram", what_if=["1:leave-out"])
    axes = preset("sentencepiece-unigram").to_dict()
    assert changed(Recipe(what_if=("1:leave-out",)), **axes).what_if == ()
    unigram = learn.start(CORPUS, preset("sentencepiece-unigram", coverage=1))
    replayed = ReplayTrainer(start(CORPUS, PLAIN).tokenizer(), Words(("low",), (1,)))
    for trainer in (unigram, replayed):
        assert not trainer.traits.what_ifs
        for make in (lambda one: one.fork(0, (WhatIf(1, LEAVE_OUT),)),
                     lambda one: learn.what_if(one, [WhatIf(1, LEAVE_OUT)])):
            with pytest.raises(TokentuiError, match="what-ifs are of merges"):
                make(trainer)
        assert trainer.fork(0, ()).number == 0


# ---- against the naive model


@st.composite
def changes_of(draw: st.DrawFn) -> list[WhatIf]:
    """What-ifs of pairs and tokens of small words, some of which stand nowhere."""
    piece = st.text("abé", min_size=1, max_size=3).map(str.encode)
    steps = st.integers(1, 7)
    forbidden = [WhatIf(step, FORBID, parts) for step, parts in draw(st.sets(
        st.tuples(steps, st.tuples(piece) | st.tuples(piece, piece)), max_size=3))]
    decided = draw(st.dictionaries(steps, st.none() | st.tuples(piece, piece), max_size=3))
    return forbidden + [
        WhatIf(step, LEAVE_OUT) if parts is None else WhatIf(step, FORCE, parts)
        for step, parts in decided.items()
    ]


@settings(max_examples=120, deadline=None)
@given(texts, recipes, changes_of(), st.lists(st.integers(0, 12), max_size=8), st.none() | st.integers(2, 4))
@pytest.mark.slow
def test_any_walk_equals_a_training_from_scratch(
    engine: str, text: str, recipe: Recipe, changes: list[WhatIf], walk: list[int], longest: int | None
) -> None:
    trainer = start(Corpus.from_text(text), recipe.under(changes))
    assert trainer.traits.engine == engine
    stops = Stops(max_length=longest)
    states = states_of(naive_of(trainer, changes, longest))
    trainer.advance(0, stops, math.inf)
    for number in [*range(len(states)), *walk, 0]:
        trainer.advance(number, stops, math.inf)
        assert trainer.number == min(number, len(states) - 1)
        assert facts(trainer) == expected(states, trainer.number)
    assert learn.run(trainer, stops) == "no pair left"
    assert trainer.number == len(states) - 1


@settings(max_examples=80, deadline=None)
@given(
    texts, recipes, changes_of(), changes_of(), st.integers(0, 9), st.integers(0, 9),
    st.none() | st.integers(2, 4),
)
@pytest.mark.slow
def test_a_fork_is_a_training_under_all_of_them(
    text: str, recipe: Recipe, first: list[WhatIf], more: list[WhatIf], computed: int, number: int,
    longest: int | None,
) -> None:
    """However far the first has come and wherever it stands; and it stays as it was."""
    changes = list(dict.fromkeys(first))
    more = together(changes, more)
    trainer, stops = start(Corpus.from_text(text), recipe.under(changes)), Stops(max_length=longest)
    trainer.advance(computed, stops, math.inf)
    learn.jump(trainer, number)
    before = list(learn.steps(trainer)), best(trainer), words_of(trainer)
    fork = learn.what_if(trainer, more)
    assert fork.recipe == recipe.under(changes + more) == fork.tokenizer().recipe
    fresh = start(Corpus.from_text(text), fork.recipe)
    fresh.advance(number, stops, math.inf)
    for goal in (number, number + 3, max(0, number - 4), 99):
        for one in (fork, fresh):
            learn.jump(one, goal)
        assert list(learn.steps(fork)) == list(learn.steps(fresh))
        assert (best(fork), words_of(fork), why(fork)) == (best(fresh), words_of(fresh), why(fresh))
    assert (list(learn.steps(trainer)), best(trainer), words_of(trainer)) == before
    assert fork.tokenizer().encode(text).ids == fresh.tokenizer().encode(text).ids


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(texts, changes_of(), st.integers(0, 9))
def test_a_run_by_score_is_a_recount(text: str, changes: list[WhatIf], number: int) -> None:
    """Each step takes the pair of the greatest exact value that is not forbidden, the first one in the
    corpus, or the one that is forced."""
    recipe = PLAIN.with_axes(objective="score").under(changes)
    trainer = start(Corpus.from_text(text), recipe)
    learn.jump(trainer, 4)
    trainer = learn.what_if(trainer, [])
    learn.jump(trainer, number)
    learn.jump(trainer, 0)
    naive = naive_of(trainer, changes)
    while True:
        standing = Naive.counts(naive)
        uses: Counter[int] = Counter()
        for word, weight in zip(naive.words, naive.weights, strict=True):
            for symbol in word:
                uses[symbol] += weight
        values = {pair: Fraction(count, uses[pair[0]] * uses[pair[1]]) for pair, count in standing.items()}
        for one in changes:
            if (one.step, one.what) == (naive.made + 1, LEAVE_OUT):
                free = list(filter(naive.allowed, standing))
                naive.left_out |= {one.step: max(free, key=values.__getitem__)} if free else {}
        allowed = list(filter(naive.allowed, standing))
        forced, _ = naive.forced()
        wanted = max(allowed, key=values.__getitem__, default=None) if forced is None else forced
        reasons = why(trainer)
        assert (None if reasons.best is None else reasons.best.key) == wanted
        step = learn.step(trainer)
        if wanted is None:
            assert step is None
            break
        assert step is not None
        assert step.events[0].parts == wanted
        assert step.tied == sum(values[one] == max(map(values.__getitem__, allowed)) for one in allowed)
        naive.merge(wanted)
        assert words_of(trainer) == naive.words


# ---- the rules that are not a recount's


def test_a_forced_merge_is_made_under_any_least_count_and_does_not_end_a_run() -> None:
    counts = Words(("ab", "cd", "xy"), (5, 4, 1))
    trainer = learn.start(None, PLAIN.under([WhatIf(1, FORCE, (b"x", b"y"))]), words=counts)
    for _ in range(2):
        assert trainer.advance(None, Stops(min_count=4), math.inf) == "min_count" or trainer.number == 3
        assert [step.token for step in merge_steps(trainer)] == [b"xy", b"ab", b"cd"]
        assert trainer.ending(Stops(min_count=4)).step == 3
        learn.jump(trainer, 0)
    assert trainer.end(Stops(min_count=4)) is None
    assert learn.why(trainer, Stops(min_count=4)).end is None


@pytest.mark.parametrize(("changes", "tied"), [
    (("1:force:i+j",), True), (("1:force:i+j", "1:forbid:ij"), False), (("1:force:a+b",), False),
])
def test_a_forced_pair_is_tied_with_candidates_of_its_value_at_any_rank(
    changes: tuple[str, ...], tied: bool
) -> None:
    """It stands first, far from those that are as good; one that is forbidden is like none of them."""
    words = Words(("ab", "cd", "ef", "gh", "ij"), (9, 8, 5, 5, 5))
    trainer = learn.start(None, PLAIN.under(map(WhatIf.read, changes)), words=words)
    assert [one.tied for one in best(trainer)] == [tied, *(
        one.parts not in ((b"a", b"b"), (b"c", b"d")) for one in best(trainer)[1:]
    )]
    assert best(trainer, 1)[0].tied == tied
    assert best(trainer)[0].parts == trainer.recipe.changes[-1].parts
    assert [best(trainer, 1, top=row)[0] for row in range(5)] == best(trainer)


def test_a_fork_forgets_that_a_later_step_was_forced() -> None:
    words = Words(("abc", "mn", "op"), (9, 5, 5))
    trainer = learn.start(None, PLAIN.under([WhatIf(2, FORCE, (b"ab", b"c"))]), words=words)
    learn.jump(trainer, 3)
    fork = learn.what_if(trainer, [WhatIf(1, FORBID, (b"a", b"b")), WhatIf(1, FORBID, (b"abc",))])
    taken = [(one.taken(2), one.step_at(2).tied) for one in (trainer, fork)]
    assert [(row.token, row.tied, tied) for row, tied in taken if row] == [
        (b"abc", False, 1), (b"mn", True, 2),
    ]


def test_a_forced_pair_below_the_least_count_is_tied_with_none() -> None:
    recipe = PLAIN.with_axes(objective="score").under([WhatIf(1, FORCE, (b"a", b"b"))])
    trainer = learn.start(None, recipe, words=Words(("ab", "cd", "ef"), (1, 1, 5)))
    assert trainer.advance(1, Stops(min_count=2), math.inf) == "merges"
    taken = trainer.taken(1)
    assert taken is not None
    assert (taken.token, taken.tied, trainer.step_at(1).tied) == (b"ab", False, 1)


@pytest.mark.parametrize("by", ["its pair", "its bytes"])
def test_a_long_token_is_forbidden(by: str) -> None:
    word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
    trainer = learn.start(None, PLAIN, words=Words((word,), (1,)))
    learn.run(trainer, Stops())
    last = merge_steps(trainer)[-1]
    assert last.token == word.encode()
    parts = (last.left, last.right) if by == "its pair" else (last.token,)
    fork = learn.what_if(trainer, [WhatIf(1, FORBID, parts)])
    assert last.token not in [step.token for step in merge_steps(fork)]
    assert (fork.number, learn.run(fork, Stops())) == (trainer.number - 1, "no pair left")


def test_a_pair_is_delayed() -> None:
    pair = (b"a", b"b")
    recipe = PLAIN.under([WhatIf(1, FORBID, pair), WhatIf(3, FORCE, pair)])
    trainer = start(Corpus.from_text("ab ab ab cd cd ef gh"), recipe)
    learn.jump(trainer, 6)
    assert [step.token for step in merge_steps(trainer)] == [b"cd", b"ef", b"ab", b"gh"]


def test_gage_supports_what_ifs() -> None:
    """A byte stands for a pair while one is free; the forced pair takes the next one."""
    corpus = Corpus.from_text("aaabdaaabac")
    plain = start(corpus, preset("gage"))
    learn.jump(plain, 2)
    forced = learn.what_if(plain, [WhatIf(2, FORCE, (b"a", b"c"))])
    assert [step.count for step in merge_steps(forced)] == [4, 1]
    compression = learn.compression_of(forced)
    assert compression is not None
    assert compression.compressed().table[1][1:3] == (ord("a"), ord("c"))
    free: Any = start(corpus, preset("gage"))
    free.most = 1
    learn.jump(free, 1)
    free.what_if = (WhatIf(2, FORCE, (b"a", b"c")),)
    assert (learn.step(free), learn.candidates(free, Query()).rows) == (None, ())


def test_what_ifs_that_changed_nothing_are_reported() -> None:
    trainer = start(CORPUS, PLAIN.under(map(WhatIf.read, ("1:force:w+e", "2:force:q+z", "90:forbid:a"))))
    learn.jump(trainer, 5)
    assert {one.text: reason for one, reason in learn.unmet(trainer)} == {
        "2:force:q+z": "the pair stands nowhere before step 2", "90:forbid:a": "the run has come to step 5",
    }


# ---- what a fork costs


def counted(monkeypatch: pytest.MonkeyPatch, *names: str) -> Counter[str]:
    """Counts the calls of these functions of the plain engine."""
    calls: Counter[str] = Counter()
    for name in names:
        real = getattr(PlainPairs, name)

        def function(self: Any, *given: Any, name: str = name, real: Any = real) -> Any:
            calls[name] += 1
            return real(self, *given)

        monkeypatch.setattr(PlainPairs, name, function)
    return calls


def test_a_what_if_costs_as_much_as_the_steps_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")
    text = " ".join(f"{number:b}{number:o}" for number in range(400))
    trainer = start(Corpus.from_text(text), PLAIN)
    learn.jump(trainer, 100)
    taken = trainer.taken(91)
    assert taken is not None
    change = WhatIf(91, FORBID, taken.parts)
    calls = counted(monkeypatch, "__init__", "_count", "best", "_make", "_merge", "_unmerge")
    fork = learn.what_if(trainer, [change])
    assert calls.pop("best") < 20
    assert calls == {"_unmerge": 10, "_make": 10, "_merge": 10}
    assert (fork.number, fork.computed) == (100, 100)
    calls.clear()
    assert learn.what_if(trainer, [WhatIf(101, LEAVE_OUT)]).number == 100
    assert not calls
    learn.jump(trainer, 90)
    calls.clear()
    assert learn.what_if(trainer, [change]).number == 90
    assert not calls


def test_a_fork_of_a_compiled_training_does_not_repeat_earlier_steps(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == engines.PLAIN:
        pytest.skip("it is of kernels")
    text = " ".join(f"{number:b}{number:o}" for number in range(400))
    trainer = start(Corpus.from_text(text), PLAIN)
    learn.jump(trainer, 60)
    trainer.tokenizer()
    calls: Counter[str] = Counter()
    call = native.Kernel.__call__

    def counts(kernel: native.Kernel, *arguments: Any) -> Any:
        calls[kernel.name] += 1
        return call(kernel, *arguments)

    monkeypatch.setattr(native.Kernel, "__call__", counts)
    fork = learn.branch(trainer, [WhatIf(41, LEAVE_OUT), WhatIf(50, FORBID, (b"1", b"0"))])
    assert (fork.number, fork.traits.engine) == (40, engines.COMPILED)
    assert set(calls) == {"merges.undo"}, "nothing is laid out, and nothing chosen"
    assert trainer.number == 60


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(texts, changes_of(), st.integers(1, 12))
def test_the_cost_is_a_recount(text: str, changes: list[WhatIf], number: int) -> None:
    run, other = (start(Corpus.from_text(text), recipe) for recipe in (PLAIN, PLAIN.under(changes)))
    for one in (run, other):
        learn.jump(one, number)
    found = cost(run, other)
    steps = min(run.number, other.number)
    made = [[step.token for step in merge_steps(one)][:steps] for one in (run, other)]
    assert found.step == steps
    assert set(found.never) == set(made[0]) - set(made[1])
    assert set(found.instead) == set(made[1]) - set(made[0])
    for one, tokens in ((run, found.before), (other, found.after)):
        learn.jump(one, steps)
        assert tokens == sum(
            len(word) * count for word, count in zip(words_of(one), one.words.counts, strict=True)
        )


def test_the_cost_in_words() -> None:
    never = tuple(b"%d" % number for number in range(41))
    assert Cost(50, 1000, 1009, never, ()).said == "0.9 % more tokens, 41 tokens never made"
    assert Cost(50, 10_000, 9_999, never[:1], ()).said == "under 0.1 % fewer tokens, 1 token never made"
    assert Cost(9, 7, 7, (), (b"a",)).said == "as many tokens, 0 tokens never made"
    assert Cost(1_234, 0, 0, (), ()).said == "no difference up to step 1,234"


# ---- files, sessions, commands, the library

CHANGES = ("1:forbid:l+o", "2:leave-out", "3:force:e+w")
CHANGED = PLAIN.under(map(WhatIf.read, CHANGES))


def test_the_own_file_and_sessions_keep_them(tmp_path: Path) -> None:
    tokenizer = tokentui.train(CORPUS, CHANGED, merges=8)
    tokenizer.save(tmp_path / "own.json")
    back = load(tmp_path / "own.json")
    assert (back.recipe, dict(back.run)) == (CHANGED, dict(tokenizer.run))
    assert list(back.vocabulary.merges) == list(tokenizer.vocabulary.merges)
    again = tokentui.train(CORPUS, back.recipe, merges=8)
    assert again.vocabulary.merges == tokenizer.vocabulary.merges
    kept = SavedSession(training=Branch(CHANGED, Run.of({"merges": 4}), 2))
    assert loads(dumps(kept), "kept") == kept
    data = (tmp_path / "own.json").read_text("utf-8").replace("2:leave-out", "2:leave-in")
    (tmp_path / "own.json").write_text(data, "utf-8")
    with pytest.raises(TokentuiError, match="not a what-if"):
        load(tmp_path / "own.json")


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("format", ["huggingface", "tiktoken", "gpt2"])
def test_export_reports_that_what_ifs_are_lost(format: str, tmp_path: Path) -> None:
    recipe = preset("gpt2", what_if=["1:leave-out"])
    report, files = contents(tokentui.train(CORPUS, recipe, merges=6), WRITTEN[format])
    assert files
    assert ("what_if", "1:leave-out") in [(loss.what, loss.example) for loss in report.losses]
    report, _ = contents(tokentui.train(CORPUS, "gpt2", merges=6), WRITTEN[format])
    assert "what_if" not in [loss.what for loss in report.losses]
    assert not export(tokentui.train(CORPUS, recipe, merges=6), tmp_path / "own.json").losses


def test_the_command(tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "own.json"
    text.write_text(CORPUS.documents[0], "utf-8")
    named = [word for one in CHANGES for word in ("--what-if", one)]
    recipe = tmp_path / "plain.toml"
    recipe.write_text(PLAIN.to_toml(), "utf-8")
    asked = ["train", str(text), "-r", str(recipe), *named, "--merges", "8"]
    rows = list(map(json.loads, done(*asked, "--trace", "-", "-o", str(out)).splitlines()))
    trainer = start(CORPUS, CHANGED)
    learn.jump(trainer, 8)
    wanted = [*(step.row for step in learn.steps(trainer)), {"end": "merges", "steps": 8}]
    assert rows == [{**row, "schema": JSON_VERSION} for row in wanted]
    told = cli(*asked, "--what-if", "4:force:q+z", "--trace", str(tmp_path / "trace"))
    assert "4:force:q+z had no effect: the pair stands nowhere before step 4" in told.stderr
    assert load(out).recipe == CHANGED
    assert load(out).vocabulary.merges == trainer.tokenizer().vocabulary.merges
    assert "not a what-if" in refused("train", str(text), "-r", str(recipe), "--what-if", "x")
    assert "a unigram model has none" in refused(
        "train", str(text), "-r", "sentencepiece-unigram", "--what-if", "1:leave-out"
    )


def test_the_library() -> None:
    run = tokentui.Trainer(CORPUS, PLAIN)
    run.jump(5)
    other = run.what_if(*CHANGES)
    assert (other.number, run.number, other.recipe, run.recipe) == (5, 5, CHANGED, PLAIN)
    assert list(other.steps()) == list(tokentui.Trainer(CORPUS, PLAIN, what_if=CHANGES))[:5]
    assert other.what_if("5:leave-out").recipe.what_if == (*CHANGES, "5:leave-out")
    with pytest.raises(TokentuiError, match="named twice"):
        other.what_if("2:leave-out")
    with pytest.raises(TokentuiError, match="expected a text"):
        run.what_if(1)  # type: ignore[arg-type]
