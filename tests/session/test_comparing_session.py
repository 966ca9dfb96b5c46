"""The async session of a comparison: columns opened beside, keys answered meanwhile, nothing lost on the way.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import made_up_words
import pytest
from sessions import Watched
from waiting import PATIENCE

from tokentui import learn
from tokentui.analyze.compare import cuts, disagreements
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import check
from tokentui.learn import start
from tokentui.recipe import Recipe, Run, Stops
from tokentui.session import commands as do
from tokentui.session.commands import (
    AddColumn,
    Compare,
    GoToDivergence,
    HoldOut,
    Leave,
    NextPassage,
    RemoveColumn,
    SetViewport,
    SyncBy,
)
from tokentui.session.engine import driver
from tokentui.session.engine import state as work
from tokentui.session.snapshot import Snapshot
from tokentui.session.training import passages
from tokentui.session.training.training import prepare, prepare_column
from tokentui.session.views import BETWEEN, ColumnWanted, Position, TokenList, Viewport
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts
from tokentui.text.read import read

EVERYTHING = ("candidates", "why", *BETWEEN)
SOME = Corpus.from_text(read("sample:english").documents[0][:3_000], "english")


class Comparing(Watched):
    """A session of several columns; snapshots of one column are left out."""

    def __init__(self, corpus: Corpus, *wanted: ColumnWanted, typed: str = "") -> None:
        self._begun = corpus, wanted, typed
        super().__init__(wanted[0].recipe, wanted[0].run)

    async def start(self) -> None:
        """Begin to compare the columns."""
        corpus, wanted, typed = self._begun
        first = prepare(corpus, wanted[0].recipe or Recipe(), wanted[0].run)
        self.state.install(first)
        await super().start()
        self.send(do.SetInput(typed))
        self.send(Compare(wanted))
        self.send(do.SetViewport(Viewport(wants=("candidates", "why", "vocabularies", "measures"))))

    def take(self, snapshot: Snapshot) -> None:
        """Keep a snapshot of several columns."""
        if len(snapshot.columns) > 1:
            super().take(snapshot)


def steps(seen: Snapshot) -> list[int | None]:
    return [column.at.step if column.in_sync else None for column in seen.columns]


@pytest.fixture
async def session() -> AsyncIterator[Comparing]:
    columns = ColumnWanted(preset("gpt2")), ColumnWanted(preset("wordpiece"))
    watched = Comparing(SOME, *columns, typed="The crowd")
    await watched.start()
    yield watched
    await watched.close()


@pytest.fixture
def novel() -> Corpus:
    """A text of half a megabyte, with many different words."""
    return Corpus.from_text(made_up_words.novel(7_000), "novel")


async def test_columns_are_opened_and_kept_in_step(session: Comparing) -> None:
    seen = await session.settle()
    assert session.snapshots[0].columns[1].loading is not None, "the first snapshot does not wait"
    assert [column.name for column in seen.columns] == ["gpt2", "wordpiece"]
    assert steps(seen) == [0, 0]
    for _ in range(5):
        session.send(do.Move(1))
    assert steps(await session.settle()) == [5, 5]
    session.send(SyncBy("size"))
    session.send(do.Move(-2))
    seen = await session.settle()
    assert seen.position == Position("size", 259)
    versions = [snapshot.version for snapshot in session.snapshots]
    assert versions == sorted(set(versions))


async def test_measures_wait_until_the_columns_rest(
    session: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "REST_S", 3600.0)
    await session.until(lambda seen: seen.between.divergences and seen.between.divergences[0].done)
    for step in (1, 2, 3):
        await session.send(do.Move(1))
        seen = await session.until(lambda seen, step=step: steps(seen) == [step, step])  # type: ignore[misc]
        assert (seen.between.busy, seen.between.measured, seen.between.overlaps) == (None, None, ())
    monkeypatch.undo()
    session.send(do.Move(1))
    seen = await session.settle()
    assert seen.between.measured is not None
    assert seen.between.measured.at == Position("merges", 4)


async def test_columns_rest_after_150_milliseconds(
    session: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = start = time.monotonic()
    monkeypatch.setattr(driver, "time", SimpleNamespace(monotonic=lambda: now))
    await session.until(lambda seen: seen.between.divergences and seen.between.divergences[0].done)
    await session.send(do.Move(1))
    await session.until(lambda seen: steps(seen) == [1, 1])
    now = start + 0.149
    await session.send(do.SetInput("later"))
    seen = await session.until(lambda seen: seen.between.aligned.text == "later")
    assert (seen.between.busy, seen.between.measured) == (None, None)
    now = start + 0.151
    seen = await session.settle()
    assert seen.between.measured is not None


@pytest.mark.slow
async def test_every_snapshot_belongs_to_one_position(session: Comparing) -> None:
    await session.settle()
    session.send(do.GoTo(1_500))
    session.send(do.Speed(99))
    await session.settle()
    session.send(do.GoTo(3))
    await session.settle()
    for seen in session.snapshots:
        for column in seen.columns:
            assert not column.in_sync or column.at.step == seen.position.value or column.why.end


@pytest.mark.slow
async def test_a_long_way_holds_up_no_key(novel: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENTUI_KERNELS", "off")  # kernels may be there before the key
    other = Comparing(
        novel, ColumnWanted(preset("gpt2")), ColumnWanted(preset("udl-notebook", unknown="drop"))
    )
    await other.start()
    try:
        await other.until(lambda seen: all(column.in_sync for column in seen.columns))
        other.send(do.GoTo(10_000))
        await other.send(do.SetInput("str"))
        seen = await other.until(lambda seen: seen.between.aligned.text == "str")
        assert seen.goal == Position("merges", 10_000)
        assert seen.position.value < 10_000
        await other.send(do.CancelWork())
        seen = await other.until(lambda seen: seen.goal is None)
        assert seen.position.value < 10_000
        other.send(do.Play(True))
        assert (await other.until(lambda seen: seen.running)).goal is None
    finally:
        await other.close()


@pytest.mark.slow
async def test_what_is_found_beside_comes_when_it_rests(session: Comparing) -> None:
    session.send(SetViewport(Viewport(wants=EVERYTHING, tokens=TokenList(1, 2, "never_b"))))
    session.send(do.GoTo(40))
    seen = await session.settle()
    assert seen.between.failed == ()
    assert seen.between.busy is None
    assert seen.between.measured is not None
    assert seen.between.measured.at == seen.position
    assert seen.between.agreed is not None
    assert seen.between.agreed.at == seen.position
    assert seen.between.agreed.pairs
    assert seen.between.overlaps[0].at == seen.position
    assert seen.between.overlaps[0].never_b is not None
    assert seen.between.tokens is not None
    assert seen.between.tokens.total == seen.between.overlaps[0].never_b
    assert seen.between.curves is not None
    assert [one.key for one in seen.between.curves.series] == [1, 2]
    assert await session.send(GoToDivergence(1, 2)) == 1
    seen = await session.settle()
    assert (steps(seen), seen.between.measured is not None) == ([0, 0], True)
    await session.send(HoldOut("sample:sailor"))
    seen = await session.settle()
    assert seen.between.held_out
    assert seen.between.held_measured is not None
    assert seen.between.curves is not None
    assert [(one.key, one.held_out) for one in seen.between.curves.series] == [
        (1, False), (1, True), (2, False), (2, True),
    ]
    with pytest.raises(TokentuiError, match="no such file"):
        await session.send(HoldOut("/no/such/file.txt"))
    await session.send(HoldOut(""))
    assert (await session.settle()).between.held_measured is None


@pytest.mark.slow
async def test_passages_that_columns_cut_otherwise(session: Comparing) -> None:
    await session.settle()
    session.send(do.GoTo(200))
    found = []
    for backward in (False, False, True):
        passage = await session.send(NextPassage(backward))
        assert passage is not None
        found.append(passage)
        seen = await session.settle()
        assert seen.between.aligned.passage == passage
        assert seen.between.aligned.alignment is not None
        assert seen.between.aligned.alignment.partings
    assert found[1].start >= found[0].start + found[0].length
    assert found[2].start + found[2].length <= found[1].start
    same = Comparing(SOME, ColumnWanted(preset("gpt2")), ColumnWanted(preset("gpt2")))
    await same.start()
    await same.settle()
    assert await same.send(NextPassage()) is None
    seen = await same.settle()
    assert (seen.between.divergences[0].step, seen.between.divergences[0].done) == (None, True)
    assert seen.between.aligned.passage is None
    await same.close()


async def test_the_search_for_a_passage_ends_with_the_comparison(
    session: Comparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.settle()
    begun = threading.Event()

    def searches(*_: object) -> None:
        begun.set()
        while True:
            check()
            time.sleep(0.001)

    with monkeypatch.context() as patch:
        patch.setattr(passages, "next_disagreement", searches)
        passage = session.send(NextPassage())
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        session.send(Leave())
        with pytest.raises(Cancelled):
            await asyncio.wait_for(passage, PATIENCE)
    await asyncio.wait_for(session.idle.wait(), PATIENCE)


@pytest.mark.slow
async def test_columns_come_and_go_and_fail_alone(session: Comparing, tmp_path: Path) -> None:
    await session.settle()
    session.send(do.GoTo(30))
    missing = await session.send(AddColumn(ColumnWanted(path=str(tmp_path / "none.json"))))
    added = await session.send(AddColumn(ColumnWanted(preset("bert"), name="theirs"), 0))
    seen = await session.settle()
    assert steps(seen) == [30, 30, 30, None]
    assert seen.columns[0].name == "theirs"
    assert "no such file" in seen.columns[3].error
    with pytest.raises(TokentuiError, match="at most"):
        await session.send(AddColumn(ColumnWanted(preset("gpt4"))))
    await session.send(RemoveColumn(missing))
    await session.send(RemoveColumn(added))
    with pytest.raises(TokentuiError, match="at least two columns"):
        await session.send(RemoveColumn(1))
    assert steps(await session.settle()) == [30, 30]


async def test_it_ends_in_the_middle_of_everything(novel: Corpus) -> None:
    switched = sys.getswitchinterval()
    session = Comparing(novel, ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert")))
    await session.start()
    session.send(SetViewport(Viewport(wants=EVERYTHING)))
    await session.until(lambda seen: any(column.in_sync for column in seen.columns))
    passage, parting = session.send(NextPassage()), session.send(GoToDivergence(1, 2))
    session.send(do.GoTo(None))
    await asyncio.wait_for(session.close(), PATIENCE)
    assert sys.getswitchinterval() == switched
    for answer in (passage, parting):
        assert answer.cancelled() or not answer.done() or isinstance(answer.exception(), Cancelled | None)


async def test_what_shows_opened_columns_waits_for_the_screen_and_an_answer_does_not(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screen may be drawing a key, which no command answers."""
    waits = list[int]()
    monkeypatch.setattr(driver, "turns", SimpleNamespace(wait=lambda: waits.append(1)))
    session = Watched(preset("gpt2"))
    await session.start()
    await session.send(do.Open(("sample:hugs",)))
    session.send(Compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert")))))
    await session.until(lambda seen: len(seen.columns) == 2 and seen.columns[1].in_sync)
    await session.settle()
    assert waits
    waits.clear()
    session.send(do.SetInput("the end"))
    await session.until(lambda seen: seen.columns[1].encoding.text == "the end")
    assert not waits
    await session.close()


@pytest.mark.slow
async def test_from_the_explorer_it_goes_on_where_that_stands_and_comes_back_as_it_was_left() -> None:
    session = Watched(preset("gpt2"))
    await session.start()
    await session.send(do.Open(("sample:english",)))
    session.send(do.GoTo(25))
    session.send(do.SetInput("the end"))
    session.send(Compare((ColumnWanted(preset("gpt2")), ColumnWanted(preset("bert")))))
    seen = await session.settle()
    assert steps(seen) == [25, 25]
    assert seen.between.aligned.text == "the end"
    ways = [cuts(column.trainer.tokenizer().encode("the end")) for column in session.state.sync.columns]
    assert seen.between.aligned.alignment is not None
    assert list(seen.between.aligned.alignment.partings) == list(disagreements(ways))
    session.send(do.Move(3))
    assert steps(await session.settle()) == [28, 28]
    session.send(Leave())
    session.send(do.Move(1))
    seen = await session.settle()
    assert (len(seen.columns), seen.parked, seen.main.at.step) == (1, 1, 29)
    before = session.state.compared[1].trainer
    session.send(Compare())
    seen = await session.settle()
    assert (steps(seen), seen.columns[1].recipe) == ([29, 29], preset("bert"))
    assert session.state.compared[1].trainer is before, "it was kept"
    session.send(Leave())
    session.send(Compare((ColumnWanted(preset("bert")), ColumnWanted(preset("gpt4")))))
    assert steps(await session.settle()) == [0, 0], "another first column begins at its start"
    await session.close()


async def test_what_is_sent_after_the_end_is_given_up(novel: Corpus) -> None:
    ended = Comparing(novel, *(ColumnWanted(preset(name)) for name in ("gpt2", "bert")))
    await ended.start()
    await ended.close()
    for command in (do.Move(1), do.SetInput("a"), do.CancelWork()):
        answer = ended.send(command)
        await asyncio.wait([answer], timeout=PATIENCE)
        assert answer.cancelled(), command


@pytest.mark.parametrize(
    ("keys", "by"),
    [((do.GoTo(None),), None), ((do.GoTo(10_000),), None), ((do.Play(True), do.Speed(99)), None),
     ((do.Move(3), do.Move(4), do.Move(-2)), 5)],
)
async def test_keys_while_a_column_is_being_opened_are_about_all_columns(
    keys: tuple[do.Command[object], ...], by: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, opening = threading.Event(), prepare_column

    def held(counted: WordCounts, wanted: ColumnWanted) -> Any:
        gate.wait(PATIENCE)
        return opening(counted, wanted)

    monkeypatch.setattr(work, "prepare_column", held)
    first, second = (
        ColumnWanted(preset("gpt2"), Run.of({"max_length": 2})),
        ColumnWanted(preset("minbpe"), name="second"),
    )
    watched = Comparing(read("sample:sailor"), first, second)
    await watched.start()
    await watched.until(lambda seen: seen.columns[0].in_sync)
    for key in keys[:-1]:
        watched.send(key)
    await watched.send(keys[-1])
    if by is None:
        await watched.until(lambda seen: seen.columns[0].why.end is not None)
    gate.set()
    seen = await watched.settle()
    alone = start(read("sample:sailor"), preset("minbpe"))
    learn.run(alone, Stops())
    assert seen.columns[1].in_sync
    assert seen.columns[1].at.step == (alone.number if by is None else by)
    await watched.close()
