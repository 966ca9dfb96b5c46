"""What comes in the middle of something else: an end, a key, a dialog that is left, a column that fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comparisons import Bench
from sessions import Watched
from trainers import trainer_class
from waiting import PATIENCE

from tokentui import learn
from tokentui.axes import preset
from tokentui.core import engines
from tokentui.core.errors import SHORT_OF_MEMORY, Cancelled, TokentuiError
from tokentui.core.jobs import check, check_match, tick
from tokentui.learn import Tokens
from tokentui.session import commands as do
from tokentui.session.engine import jobs
from tokentui.session.engine import state as states
from tokentui.session.engine.driver import Session
from tokentui.session.engine.state import State
from tokentui.session.snapshot import Snapshot
from tokentui.session.training import training as opening
from tokentui.session.training.training import Training, prepare
from tokentui.session.views import ColumnWanted
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

CORPUS = Corpus.from_text("low low low lower lowest newer newest wide wider widest " * 3)


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    begun = Session(lambda _: None)
    await begun.start()
    yield begun
    await begun.close()


async def test_a_question_is_given_up_when_whoever_asked_it_has_left(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def endless(*_: Any, **__: Any) -> None:
        begun.set()
        while True:
            check()

    monkeypatch.setattr("tokentui.analyze.vocabulary.vocabulary_report", endless)
    await session.send(do.Open(("sample:hugs",)))
    asked = session.send(do.AnalyzeVocabulary())
    await asyncio.to_thread(begun.wait, PATIENCE)
    asked.cancel()
    await asyncio.wait_for(session.idle.wait(), PATIENCE)


async def test_a_report_of_progress_does_not_end_a_match_that_is_only_looked_at(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, looked = threading.Event(), threading.Event()
    look = session.state.snapshot

    def slow(*sources: Any, **how: Any) -> Corpus:
        while not looked.is_set():
            tick(1, 2)
            told.set()
        return read(*sources, **how)

    def looks(pause: object) -> Snapshot:
        if session._loading is not None and not looked.is_set():
            told.clear()
            told.wait(PATIENCE)  # a report of progress is there by now
            try:
                check_match()
            finally:
                looked.set()
        return look()

    monkeypatch.setattr(jobs, "REPORT_S", 0.0)
    monkeypatch.setattr(opening, "read", slow)
    monkeypatch.setattr(session.state, "snapshot", looks)
    seen: list[Snapshot] = []
    monkeypatch.setattr(session, "_publish", seen.append)
    await session.send(do.Open(("sample:hugs",)))
    assert looked.is_set()
    assert any(one.busy is not None for one in seen), "the look was not given up"


def parted() -> tuple[Bench, list[object]]:
    """Two columns, the first differing step of which is wanted and not known, and the answers."""
    bench, answers = Bench(CORPUS, ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert"))), list[object]()
    do.perform(do.GoToDivergence(1, 2), bench.state, answers.append)
    return bench, answers


def test_the_way_to_the_first_differing_step_ends_where_compare_is_left() -> None:
    bench, answers = parted()
    bench.do(do.Leave())
    assert [type(one) for one in answers] == [Cancelled]
    bench.do(do.Compare())
    bench.find()
    assert (len(answers), bench.seen.position.value) == (1, 0)


def test_the_way_to_the_first_differing_step_ends_where_another_corpus_begins() -> None:
    bench, answers = parted()
    bench.state.install(prepare(Corpus.from_text("another one"), preset("gpt2"), ColumnWanted().run))
    assert [type(one) for one in answers] == [Cancelled]


def test_a_column_that_cannot_be_opened_parts_nowhere() -> None:
    bench, answers = Bench(CORPUS, ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert"))), list[object]()
    key = bench.state.add_column(ColumnWanted(path="/no/such"), None)
    do.perform(do.GoToDivergence(1, key), bench.state, answers.append)
    bench.settle()
    assert "this column failed to load and cannot be compared" in str(*answers)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("by", ["merges", "size", "tokens"])
def test_a_column_that_fails_on_its_way_leaves_the_others_working(
    by: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, answers = parted()
    bench.do(do.SyncBy(by))

    def fails(*_: Any) -> None:
        raise MemoryError

    expected = bench.seen.position.value + 3
    if place == 0 and by != "merges":  # the other ends at its own ids, or leads by its own tokens
        other = bench.state.sync.columns[1].trainer
        expected = other.number if by == "tokens" else other.size_at(other.number)
    with monkeypatch.context() as patch:
        patch.setattr(bench.state.sync.columns[place].trainer, "advance", fails)
        bench.do(do.Move(3))
    seen = bench.find()
    errors = ["", SHORT_OF_MEMORY]
    assert [one.error for one in seen.columns] == (errors if place else errors[::-1])
    there = seen.columns[1 - place]
    assert (seen.position.value, there.in_sync, seen.goal) == (expected, True, None)
    pool = jobs.JobPool("test", 1, lambda _: None)
    bench.state.results.update_jobs(pool, bench.state.view, rested=True)
    pool.close()
    assert "this column failed to load and cannot be compared" in str(*answers)
    bench.do(do.Leave())
    assert bench.seen.main.key == 2 - place
    bench.do(do.Compare(tuple(ColumnWanted(preset(one)) for one in ("gpt2", "bert"))))
    assert [(one.error, one.in_sync) for one in bench.seen.columns] == [("", True)] * 2, "it is tried again"
    bench.do(do.Move(1))
    assert [one.error for one in bench.seen.columns] == ["", ""]


@pytest.mark.parametrize("command", [do.Move(5), do.Play(True)])
def test_where_the_leader_fails_by_tokens_the_next_one_leads_from_where_it_is(
    command: do.Command[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(read("sample:english"), *map(preset, ("gpt2", "bert", "minbpe")))
    bench.do(do.GoTo(100))
    bench.do(do.SyncBy("tokens"))
    (first, second, third), sync = bench.state.sync.columns, bench.state.sync
    step = second.trainer.number
    assert step != first.trainer.number

    def fails(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(first.trainer, "advance", fails)
    bench.do(command)
    for moved in (0, 5):
        seen = bench.seen
        assert (seen.position.value, seen.goal, seen.running) == (step + moved, None, False)
        assert not sync.has_work
        assert second.trainer.number == step + moved
        tokens = second.trainer.tokens_at(second.trainer.number)
        assert (third.in_sync, third.trainer.number) == (True, learn.find(third.trainer, Tokens(tokens)))
        bench.do(do.Move(5))


@pytest.mark.parametrize("command", [do.GoTo(None), do.Move(2), do.Play(True)])
def test_where_all_columns_fail_there_is_nothing_to_do(
    command: do.Command[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, _ = parted()

    def fails(*_: Any) -> None:
        raise MemoryError

    for column in bench.state.sync.columns:
        monkeypatch.setattr(column.trainer, "advance", fails)
    for _ in range(2):
        bench.do(command)
        assert not bench.state.sync.has_work
        assert all(one.error and not one.in_sync for one in bench.seen.columns)
    bench.do(do.Leave())
    assert bench.seen.main.error == SHORT_OF_MEMORY
    with pytest.raises(TokentuiError, match=r"has no steps .*not enough memory"):
        bench.do(command)
    bench.do(do.Compare())
    assert [(one.error, one.in_sync) for one in bench.seen.columns] == [("", True)] * 2, "they come back"


def test_a_column_that_fails_without_a_word_is_not_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(prepare(CORPUS, preset("gpt2"), ColumnWanted().run))
    columns = ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert"))
    do.perform(do.Compare(columns), state, lambda _: None)
    (one,) = state.missing_trainings()
    state.install_column(one, MemoryError())
    assert not list(state.missing_trainings())
    assert state.snapshot().columns[1].error == SHORT_OF_MEMORY


class Kernels:
    """Kernels that train however small a corpus is, one walk of which fails.

    Args:
        patch: What changes the program for the time of a test.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.fails = False
        kind = trainer_class("gpt2")
        advance, again = kind.advance, opening.prepare_again
        self.goes_on = threading.Event()
        """Lets what failed be laid out again."""

        def advances(trainer: Any, goal: int | None, *way: Any) -> Any:
            walks = trainer.traits.engine == engines.COMPILED and goal != trainer.number
            # not in the threads of questions, which have trainings of their own
            if self.fails and walks and threading.current_thread().name.startswith("tokentui-engine"):
                self.fails = False
                raise SystemError("a kernel")
            return advance(trainer, goal, *way)

        def laid_out(was: Training) -> Training:
            assert self.goes_on.wait(PATIENCE)
            return again(was)

        patch.setattr(engines, "failed", False)
        patch.setenv(engines.VARIABLE, "on")
        patch.setattr(kind, "advance", advances)
        patch.setattr(states, "prepare_again", laid_out)


@pytest.fixture
def kernels(loaded: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernels:
    """Loaded kernels, and a home for the account of their failure."""
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path))
    return Kernels(monkeypatch)


@pytest.mark.parametrize("command", [do.GoTo(30), do.Move(20), do.GoToToken(" widest")])
async def test_where_kernels_fail_plain_python_goes_on(
    command: do.Command[object], kernels: Kernels, session: Session, tmp_path: Path
) -> None:
    watched = Watched(preset("gpt2"))
    await watched.start()
    await watched.send(do.TrainOnText(CORPUS.documents[0]))
    watched.send(do.GoTo(10))
    before = await watched.settle()
    assert before.main.traits.engine == engines.COMPILED
    kernels.fails = True
    answer = watched.send(command)
    await watched.until(lambda seen: seen.busy is not None and seen.busy.what == "laying out again")
    assert (watched.last.main.at, watched.last.main.error) == (before.main.at, ""), "it stands still"
    kernels.goes_on.set()
    seen = await watched.settle()
    assert answer.done()
    assert answer.exception() is None
    assert (seen.main.traits.engine, seen.engine, seen.main.error) == (engines.PLAIN, engines.FAILED, "")
    await session.send(do.SetRecipe(preset("gpt2")))
    await session.send(do.TrainOnText(CORPUS.documents[0]))
    session.send(do.GoTo(seen.main.at.step))
    await asyncio.wait_for(session.idle.wait(), PATIENCE)
    assert seen.main.at.step > 10
    assert seen.main.at.last == session.state.snapshot().main.at.last
    assert "SystemError: a kernel" in (tmp_path / "crash.txt").read_text()
    await watched.close()


def test_a_failure_of_kernels_is_told_before_it_is_mended(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Warning] = []
    monkeypatch.setattr(engines, "tell", told.append)
    state = State(prepare(CORPUS, preset("gpt2"), ColumnWanted().run))
    assert state.main.on_kernel_failure(SystemError("a kernel"))
    assert len(told) == 1
    assert state.snapshot().engine == engines.FAILED
    assert len(list(state.missing_trainings())) == 1


async def test_what_kernels_left_when_they_failed_does_not_come_back(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(preset("gpt2"))
    await watched.start()
    await watched.send(do.TrainOnText(CORPUS.documents[0]))
    watched.send(do.GoTo(10))
    await watched.settle()
    kernels.fails = True
    watched.send(do.GoTo(30))
    await watched.until(lambda seen: seen.busy is not None and seen.busy.what == "laying out again")
    part = prepare(Corpus.from_text("a part", "part"), preset("gpt2"), ColumnWanted().run)
    shown = threading.Event()

    def refused(*asked: Any) -> Training:
        asked[-1](replace(part, partial=True))
        assert shown.wait(PATIENCE)
        raise TokentuiError("no such file")

    monkeypatch.setattr(do.Open, "load", refused)
    loaded = watched.send(do.Open(("part",)))
    await watched.until(lambda seen: seen.corpus.name == "part")
    shown.set()
    with pytest.raises(TokentuiError, match="no such file"):
        await loaded
    kernels.goes_on.set()
    seen = await watched.settle()
    assert (seen.main.traits.engine, seen.engine) == (engines.PLAIN, engines.FAILED)
    assert seen.corpus.name == "scratch"
    assert (seen.main.at.step, seen.main.errors) == (10, {})
    await watched.close()


async def test_kernels_that_fail_on_the_way_to_the_kept_step(kernels: Kernels) -> None:
    watched = Watched(preset("gpt2"))
    await watched.start()
    await watched.send(do.TrainOnText(CORPUS.documents[0]))
    watched.send(do.GoTo(10))
    await watched.settle()
    kernels.fails = True
    await watched.send(do.SetRecipe(preset("minbpe")))
    await watched.until(lambda seen: seen.busy is not None and seen.busy.what == "laying out again")
    kernels.goes_on.set()
    seen = await watched.settle()
    assert (seen.main.preset, seen.main.at.step, seen.main.traits.engine) == ("minbpe", 10, engines.PLAIN)
    await watched.close()


@pytest.mark.parametrize("by", ["merges", "size", "tokens"])
async def test_where_the_kernels_of_a_column_fail_the_others_go_on_before_it(
    by: str, kernels: Kernels
) -> None:
    watched = Watched(preset("gpt2"))
    await watched.start()
    await watched.send(do.TrainOnText(CORPUS.documents[0]))
    await watched.send(
        do.Compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("gpt2", tie="smallest-pair"))))
    )
    watched.send(do.SyncBy(by))
    before = await watched.settle()
    assert [one.traits.engine for one in before.columns] == [engines.COMPILED] * 2
    kernels.fails = True
    watched.send(do.Move(5))
    seen = await watched.until(
        lambda seen: seen.goal is None and any(not one.in_sync for one in seen.columns)
    )
    assert sorted(one.in_sync for one in seen.columns) == [False, True]
    kernels.goes_on.set()
    seen = await watched.settle()
    assert [(one.in_sync, one.error) for one in seen.columns] == [(True, "")] * 2
    assert sorted(one.traits.engine for one in seen.columns) == [engines.COMPILED, engines.PLAIN]
    # by tokens the other led meanwhile, and counts other steps
    expected = seen.columns[0].at.step if by == "tokens" else before.position.value + 5
    assert (seen.position.value, seen.engine) == (expected, engines.FAILED)
    await watched.close()


async def test_a_column_that_plain_python_cannot_lay_out_either_fails_in_words(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(was: Training) -> Training:
        raise SystemError("plain")

    monkeypatch.setattr(states, "prepare_again", fails)
    watched = Watched(preset("gpt2"))
    await watched.start()
    await watched.send(do.TrainOnText(CORPUS.documents[0]))
    await watched.send(do.Compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert")))))
    await watched.settle()
    kernels.fails = True
    watched.send(do.Move(5))
    seen = await watched.settle()
    assert sorted(one.error for one in seen.columns) == ["", "internal error: SystemError: plain"]
    await watched.close()
