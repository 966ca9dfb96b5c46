"""Columns in step: whatever is done, each stands where a naive run says, and all of them at one position."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from comparisons import Bench, Run
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui import learn
from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.learn import start
from tokentui.recipe import Recipe, Stops
from tokentui.recipe import Run as RunOf
from tokentui.session import commands as do
from tokentui.session.commands import AddColumn, MoveColumn, RemoveColumn, SetViewport, SyncBy
from tokentui.session.snapshot import Snapshot
from tokentui.session.training.column import all_ended
from tokentui.session.views import SPEEDS, ColumnWanted, Position, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

CORPUS = Corpus.from_text(
    "low low low lower lowest newer newest wide wider widest " * 3 + "é 🤗 the then there"
)
RECIPES = {
    "plain": Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="error"),
    "largest": Recipe(split="whitespace", unit="char", base="sorted", tie="largest-pair", unknown="error"),
    "marked": Recipe(
        split="whitespace", unit="char", base="sorted", mark="end-suffix:</w>", tie="largest-pair",
        unknown="error",
    ),
    "bytes": Recipe(split="gpt2", unit="byte", base="bytes", tie="lowest-ids", unknown="never"),
    "whole": Recipe(split="none", unit="char", base="sorted", tie="smallest-pair", unknown="error"),
}
RUNS = {name: Run(CORPUS, recipe) for name, recipe in RECIPES.items()}
STOPS = {"none": RunOf(), "merges": RunOf.of({"merges": 7}), "size": RunOf.of({"vocab_size": 30})}

names = st.sampled_from(sorted(RECIPES))
columns = st.tuples(names, st.sampled_from(sorted(STOPS)))
moves = st.one_of(
    st.integers(-40, 40).map(do.Move),
    st.sampled_from([0, 1, 5, 13, 28, 33, 250, 262, 400, None]).map(do.GoTo),
    st.sampled_from([None, "merges", "size", "tokens"]).map(SyncBy),
    st.tuples(st.integers(0, 3), st.integers(-3, 3)),
    st.tuples(columns, st.sampled_from([None, 0, 1])),
    st.integers(0, 3),
)


def last(run: Run, stops: str) -> int:
    """The end of a column."""
    if stops == "merges":
        return min(7, run.end)
    return min(max(0, 30 - run.first_size), run.end) if stops == "size" else run.end


def step_of(run: Run, end: int, position: Position, leader: int) -> int:
    """Where a naive run stands at a position; `leader` are the tokens of the first column."""
    if position.by == "size":
        return min(max(0, position.value - run.first_size), end)
    if position.by == "tokens":
        return next((step for step in range(end + 1) if run.tokens[step] <= leader), end)
    return min(position.value, end)


def passes(made: list[tuple[str, str]], position: Position) -> bool:
    """Whether a position lies beyond the stops of all columns: an explicit move passes them."""
    return position.by == "merges" and position.value > max(last(RUNS[name], stops) for name, stops in made)


def check(bench: Bench, made: list[tuple[str, str]]) -> None:
    """What is seen is what naive runs give at its position."""
    seen = bench.seen
    assert seen.goal is None
    assert [column.error for column in seen.columns] == [""] * len(made)
    leader = seen.columns[0].at
    assert leader is not None
    for n, (column, (name, stops)) in enumerate(zip(seen.columns, made, strict=True)):
        run, at = RUNS[name], column.at
        assert column.in_sync, "it has arrived"
        stop = last(run, stops)
        end = run.end if passes(made, seen.position) else stop
        step = step_of(run, end, seen.position, leader.tokens)
        if seen.position.by == "tokens" and not n:
            step = min(seen.position.value, end)
        assert at.step == step
        assert at.tokens == run.tokens[step]
        assert at.vocab_size == run.first_size + step
        assert at.bytes_per_token == CORPUS.size / run.tokens[step]
        assert (column.why.end is not None) == (step >= stop)
        if step < run.end:
            assert column.why.best is not None
            assert (*column.why.best.parts, column.why.best.places) == run.chosen[step]
            assert isinstance(column.candidates.rows[0], type(column.why.best))
            assert column.candidates.rows[0] == column.why.best
        if step:
            assert at.last is not None
            assert (*at.last.parts, at.last.places) == run.chosen[step - 1]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(columns, min_size=2, max_size=4), st.lists(moves, max_size=8))
def test_columns_stand_where_naive_runs_do(made: list[tuple[str, str]], commands: list[Any]) -> None:
    made = list(made)
    bench = Bench(CORPUS, *(ColumnWanted(RECIPES[name], STOPS[stops]) for name, stops in made))
    check(bench, made)
    for command in commands:
        keys = [column.key for column in bench.seen.columns]
        if isinstance(command, int):
            if len(made) > 2 and command < len(made):
                bench.do(RemoveColumn(keys[command]))
                del made[command]
        elif isinstance(command, tuple) and isinstance(command[0], int):
            at, by = command[0] % len(made), command[1]
            bench.do(MoveColumn(keys[at], by))
            one = made.pop(at)
            made.insert(min(max(0, at + by), len(made)), one)
        elif isinstance(command, tuple):
            if len(made) < 4:
                (name, stops), place = command
                key = bench.do(AddColumn(ColumnWanted(RECIPES[name], STOPS[stops]), place))
                assert key not in keys
                made.insert(len(made) if place is None else place, (name, stops))
        else:
            bench.do(command)
        check(bench, made)


def steps(seen: Snapshot) -> list[int]:
    return [column.at.step if column.in_sync else -1 for column in seen.columns]


def test_the_position_ends_where_the_last_column_does() -> None:
    wanted = (
        ColumnWanted(RECIPES["plain"], RunOf.of({"merges": 4})),
        ColumnWanted(RECIPES["bytes"], RunOf.of({"merges": 9})),
    )
    bench = Bench(CORPUS, *wanted)
    bench.do(do.GoTo(None))
    assert (bench.seen.position, steps(bench.seen), bench.seen.between.ended) == (
        Position("merges", 9), [4, 9], True,
    )
    bench.do(do.Move(2))
    assert steps(bench.seen) == [11, 11], "an explicit move passes the stops of all"
    bench.do(do.GoTo(6))
    assert (steps(bench.seen), bench.seen.between.ended) == ([4, 6], False)


def test_a_position_at_the_last_stop_passes_no_stop() -> None:
    wanted = (
        ColumnWanted(RECIPES["plain"], RunOf.of({"merges": 4})),
        ColumnWanted(RECIPES["bytes"], RunOf.of({"merges": 9})),
    )
    bench = Bench(CORPUS, *wanted)
    bench.do(do.GoTo(9))
    assert (bench.seen.position, steps(bench.seen)) == (Position("merges", 9), [4, 9])
    bench.do(do.GoTo(10))
    assert (bench.seen.position, steps(bench.seen)) == (Position("merges", 10), [10, 10])
    bench.do(do.Move(-1))
    assert (bench.seen.position, steps(bench.seen)) == (Position("merges", 9), [4, 9])


@pytest.mark.parametrize("by", ["merges", "size"])
def test_a_column_taken_away_leaves_no_position_beyond_the_others(by: str) -> None:
    longest, *others = sorted(RUNS, key=lambda name: -RUNS[name].end)[:3]
    bench = Bench(CORPUS, *(ColumnWanted(RECIPES[name]) for name in (longest, *others)))
    bench.do(SyncBy(by))
    bench.do(do.GoTo(None))
    bench.do(RemoveColumn(bench.seen.columns[0].key))
    assert (steps(bench.seen), bench.seen.between.ended) == ([RUNS[name].end for name in others], True)
    before = bench.seen
    bench.do(do.Move(-1))
    assert steps(bench.seen) != steps(before), "a step back is a step of a column that is left"


def test_by_size_and_by_tokens_the_first_column_stays() -> None:
    bench = Bench(CORPUS, RECIPES["plain"], RECIPES["bytes"])
    bench.do(do.GoTo(5))
    size = RUNS["plain"].first_size + 5
    bench.do(SyncBy())
    assert (bench.seen.position, steps(bench.seen)) == (Position("size", size), [5, 0])
    bench.do(SyncBy())
    tokens = RUNS["plain"].tokens[5]
    other = next(step for step, left in enumerate(RUNS["bytes"].tokens) if left <= tokens)
    assert (bench.seen.position, steps(bench.seen)) == (Position("tokens", 5), [5, other])
    bench.do(do.Move(1))
    assert steps(bench.seen)[0] == 6
    bench.do(SyncBy())
    assert (bench.seen.position, steps(bench.seen)) == (Position("merges", 6), [6, 6])


def test_a_unigram_model_comes_down_while_the_others_grow() -> None:
    unigram = preset("sentencepiece-unigram", normalize=())
    stops = RunOf.of({"vocab_size": 40})
    alone = start(CORPUS, unigram)
    assert alone.traits.shrinks
    learn.run(alone, Stops(vocab_size=40))
    sizes = [alone.step_at(step).vocab_size if step else 0 for step in range(alone.computed + 1)]
    learn.jump(alone, 0)
    sizes[0] = alone.size_at(alone.number)
    bench = Bench(CORPUS, RECIPES["plain"], ColumnWanted(unigram, stops))
    bench.do(do.GoTo(4))
    assert steps(bench.seen) == [4, 4]
    bench.do(SyncBy("size"))
    for size in (60, 45, sizes[0] + 10):
        bench.do(do.GoTo(size))
        value = bench.seen.position.value
        expected = next((step for step, ids in enumerate(sizes) if ids <= value), len(sizes) - 1)
        assert steps(bench.seen)[1] == expected
    bench.do(do.GoTo(20))
    bench.do(SyncBy("tokens"))
    seen = bench.seen
    first, second = (column.at for column in seen.columns)
    assert first is not None
    assert second is not None
    assert second.tokens >= first.tokens or second.step == len(sizes) - 1


def running(bench: Bench) -> bool:
    return bench.seen.running


def speed_of(bench: Bench) -> int | None:
    return bench.seen.speed


def test_a_run_plays_at_its_speed_and_stops_at_the_end() -> None:
    bench = Bench(CORPUS, RECIPES["plain"], RECIPES["marked"])
    lockstep = bench.state.sync
    lockstep.play(True, 100.0)
    assert running(bench)
    assert lockstep.work(100.0, 60.0) > 0
    speed = speed_of(bench) or 0
    lockstep.work(100.0 + 3.5 / speed, 60.0)
    assert steps(bench.seen) == [3, 3]
    lockstep.faster(99, 101.0)
    assert speed_of(bench) is None
    while lockstep.has_work:
        lockstep.work(101.0, 60.0)
    assert bench.seen.between.ended
    assert not running(bench)
    lockstep.play(True, 102.0)
    assert not running(bench), "there is nothing to play"


def test_a_late_run_catches_up_with_one_second() -> None:
    bench = Bench(CORPUS, RECIPES["plain"], RECIPES["marked"])
    lockstep, speed = bench.state.sync, SPEEDS[0] or 0
    lockstep.play_at(speed, 100.0)
    lockstep.play(True, 100.0)
    lockstep.work(160.0, 60.0)  # a minute late
    assert steps(bench.seen) == [speed, speed]
    assert lockstep.work(160.0, 60.0) > 0, "the rest of the minute is lost"
    lockstep.work(160.0 + 1.5 / speed, 60.0)
    assert steps(bench.seen) == [speed + 1, speed + 1]


def test_what_is_looked_at_in_the_middle_belongs_to_one_position() -> None:
    corpus = Corpus.from_text(" ".join(f"{a}{b}{a * b % 97}" for a in range(60) for b in range(40)))
    bench = Bench(corpus, RECIPES["plain"], RECIPES["bytes"])
    bench.do(SetViewport(Viewport(candidates_rows=1, wants=("candidates", "why"))))
    lockstep = bench.state.sync
    lockstep.set_goal(900)
    looked = 0
    while lockstep.has_work:
        lockstep.work(0.0, 0.0005)
        seen = bench.seen
        # -1 is a column that is left behind, as a pause of the machine may leave one.
        assert set(steps(seen)) - {-1} == {seen.position.value}
        looked += 0 < seen.position.value < 900
    assert looked
    assert steps(bench.seen) == [900, 900]


def test_nonsense_is_refused_in_a_line() -> None:
    bench = Bench(CORPUS, RECIPES["plain"], RECIPES["bytes"])
    with pytest.raises(TokentuiError, match="at least two columns"):
        bench.do(RemoveColumn(1))
    with pytest.raises(TokentuiError, match="no such column"):
        bench.do(MoveColumn(17, 1))
    with pytest.raises(TokentuiError, match="no such unit"):
        bench.do(SyncBy("luck"))
    with pytest.raises(TokentuiError, match="no such section"):
        bench.do(SetViewport(Viewport(wants=("weather",))))
    bench.do(AddColumn(ColumnWanted(RECIPES["whole"])))
    bench.do(AddColumn(ColumnWanted(RECIPES["whole"]), 0))
    with pytest.raises(TokentuiError, match="at most"):
        bench.do(AddColumn(ColumnWanted(RECIPES["whole"])))


@pytest.mark.slow
def test_a_column_that_cannot_keep_up_does_not_end_a_move_past_the_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, corpus = RunOf.of({"merges": 60}), read("sample:english")
    bench = Bench(corpus, ColumnWanted(preset("gpt2"), run), ColumnWanted(preset("wordpiece"), run))
    bench.do(do.Move(2))
    slow = bench.state.sync.columns[1]
    with monkeypatch.context() as patch:
        patch.setattr(slow, "advance_to_step", lambda *_: False)
        do.perform(do.Move(100), bench.state, lambda _: None)
        for _ in range(20):
            bench.state.sync.work(time.monotonic(), 0.02)
            bench.state.snapshot()
        assert not slow.in_sync
    bench.settle()
    assert steps(bench.seen) == [102, 102]


@pytest.mark.parametrize("play", [False, True], ids=["to the end", "run"])
def test_a_column_that_falls_behind_still_goes_to_its_own_end(
    play: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(CORPUS, ColumnWanted(RECIPES["plain"], RunOf.of({"merges": 4})), RECIPES["bytes"])
    lockstep, slow = bench.state.sync, bench.state.sync.columns[1]
    with monkeypatch.context() as patch:
        patch.setattr(slow, "advance_to_step", lambda *_: False)
        if play:
            lockstep.faster(99, 0.0)
            lockstep.play(True, 0.0)
        else:
            lockstep.set_goal(None)
        while lockstep.position.value < 4:
            lockstep.work(time.monotonic(), 0.02)
            bench.state.snapshot()
        assert not slow.in_sync
    bench.settle()
    assert (steps(bench.seen), bench.seen.between.ended, bench.seen.running) == (
        [4, RUNS["bytes"].end], True, False,
    )


@pytest.mark.parametrize(("by", "ended"), [("tokens", True), ("merges", False)])
def test_columns_by_tokens_end_with_the_first(by: str, ended: bool) -> None:
    """Their steps are those of the first column; by merges all columns have to end."""
    over, going = SimpleNamespace(end=lambda free: "no pair left"), SimpleNamespace(end=lambda free: None)
    assert all_ended(cast("Any", (over, going)), Position(by, 3), False) is ended
    assert not all_ended(cast("Any", (going, over)), Position(by, 3), False)
    assert not all_ended((), Position(by, 3), False)
