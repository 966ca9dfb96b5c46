"""The last session is offered again, and what is done is kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from gates import READING, Gates
from waiting import notes_of, screen_text, settled, until

from tokentui.formats.files import export
from tokentui.preset_table import preset_named
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.session_file import Branch, Keeper, SavedSession, offered, read
from tokentui.session.views import ColumnWanted
from tokentui.text.corpus import Corpus
from tokentui.tokenizer import train
from tokentui.ui import autosave
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.open import file_column
from tokentui.ui.start_screen import StartScreen

GPT2 = preset_named("gpt2").recipe
KEPT = SavedSession(
    sources=("sample:hugs",), training=Branch(preset_named("comp336").recipe, step=4), typed="hugs",
    settings={"pane": "pairs", "glyphs": "hex", "order": "longest", "keep_place": "size"},
)


def app_of(begun: SavedSession, offer: SavedSession | None) -> ExplorerApp:
    return ExplorerApp(
        lambda publish: Session(publish, GPT2, Run()),
        begin=lambda session: session.send(do.Open(("sample:english",))),
        begun=begun,
        offer=(offer, "") if offer is not None else None,
    )


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path))
    keeper = Keeper(KEPT)
    keeper.save(KEPT)
    keeper.close()
    return tmp_path / "sessions"


def saved(sessions: Path) -> list[SavedSession]:
    """The sessions of the folder, read without taking hold of any, which would refuse them to the app."""
    return [read(path)[0] for path in sessions.glob("*.json")]


async def test_enter_goes_on_where_it_was(sessions: Path) -> None:
    app = app_of(SavedSession(sources=("sample:english",)), KEPT)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("enter")
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.at.step == 4)
        await until(pilot, lambda: app.main.active == "pairs")
        now = app.main.snapshot
        assert now is not None
        assert (now.corpus.name, now.main.preset, now.keep_place) == ("hugs", "comp336", "size")
        assert (app.main.mode, app.main.viewport.vocabulary_order, app.main.encode.line.value) == (
            "hex", "longest", "hugs",
        )
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    again = offered(sessions)
    assert again is not None, "it goes on at the next start, too"
    assert (again[0].sources, again[0].training.step) == (("sample:hugs",), 4)
    assert app.autosave is not None
    app.autosave.switch_to(KEPT)  # an answer that comes while the program ends


@pytest.mark.slow
@pytest.mark.parametrize("left", [True, False])
async def test_leaving_while_it_is_opened_again_loses_nothing(
    sessions: Path, gates: Gates, left: bool
) -> None:
    app = app_of(SavedSession(sources=("sample:english",)), KEPT)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        gates.close(READING)
        await pilot.press("enter")
        await gates.until(READING)
        assert app.autosave is not None
        assert app.autosave.current() == KEPT
        if left:
            await pilot.press("q")
        else:
            app.exit(return_code=129)
        gates.close()
        await until(pilot, lambda: not app.is_running)
    assert offered(sessions) == (KEPT, "")


async def test_where_it_cannot_be_opened_nothing_is_written_over_it(sessions: Path) -> None:
    gone = dataclasses.replace(KEPT, sources=(str(sessions / "gone.txt"),))
    keeper = Keeper(gone)
    keeper.save(gone)
    keeper.close()
    app = app_of(SavedSession(sources=("sample:english",)), gone)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("enter")
        await until(pilot, lambda: any("gone.txt" in note for note in notes_of(app)))
        assert app.autosave is not None
        assert app.autosave.current() is None
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert offered(sessions) == (gone, "")


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_offer_is_the_first_line_of_the_first_screen(sessions: Path, size: tuple[int, int]) -> None:
    app = app_of(SavedSession(sources=("sample:english",)), KEPT)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await until(pilot, lambda: "enter  resume sample:hugs, step 4 · comp336" in screen_text(pilot))
        shown = screen_text(pilot)
        assert "nothing is open" not in shown
        assert shown.index("resume sample:hugs") < shown.index("A tokenizer cuts")
        await pilot.press("n")  # begins anew, and makes the first merge
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 1)
        assert app.main.snapshot is not None
        assert app.main.snapshot.corpus.name == "english"
    assert offered(sessions) == (KEPT, "")


@pytest.mark.slow
async def test_esc_leaves_it_to_be_offered_again(sessions: Path) -> None:
    app = app_of(KEPT, KEPT)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("escape")
        await until(pilot,
            lambda: app.main.snapshot is not None and app.main.snapshot.corpus.name == "english")
        assert app.autosave is None
    assert offered(sessions) == (KEPT, "")


async def test_an_opened_file_and_what_stood_side_by_side_are_there_again(
    sessions: Path, tmp_path: Path
) -> None:
    path = tmp_path / "own.json"
    export(train(Corpus.from_text("hug pug pun bun hugs " * 9), GPT2, merges=7), path)
    kept = dataclasses.replace(
        KEPT, tokenizer=str(path), training=Branch(GPT2, step=3),
        columns=(Branch(GPT2), Branch(preset_named("comp336").recipe)),
    )
    app = app_of(SavedSession(sources=("sample:english",)), kept)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.snapshot is not None
        assert [column.name for column in app.screen.snapshot.columns] == ["gpt2", "comp336"]
        await until(
            pilot,
            lambda: app.autosave is not None and len((app.autosave.current() or kept).columns) == 2,
        )
        assert isinstance(app.engine.session, Session)
        state = app.engine.session.state
        assert (state.main.training.opened is not None, state.main.trainer.number) == (True, 3)
        pilot.app.exit(return_code=129)
        await until(pilot, lambda: not app.is_running)
    again = offered(sessions)
    assert again is not None
    assert [getattr(one, "recipe", one) for one in again[0].columns] == [GPT2, preset_named("comp336").recipe]


@pytest.mark.slow
async def test_columns_are_kept_that_are_compared_from_the_start_on(sessions: Path) -> None:
    app = app_of(SavedSession(sources=("sample:english",)), None)
    async with app.run_test(size=(100, 30)) as pilot:
        nothing = app.main.snapshot
        await settled(pilot)
        app.compare([ColumnWanted(GPT2), ColumnWanted(preset_named("comp336").recipe)])
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
        app.main.snapshot = nothing  # as where a corpus is small: the columns came before it was drawn
        assert app.autosave is not None
        kept = app.autosave.current()
        assert kept is not None
        assert (kept.sources, len(kept.columns)) == (("sample:english",), 2)


async def test_a_corpus_left_for_another_is_offered_no_more(sessions: Path) -> None:
    app = app_of(KEPT, None)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: saved(sessions) != [KEPT])
        app.engine.send(do.Open(("sample:sailor",)))
        await until(pilot, lambda: app.autosave is not None and (kept := app.autosave.current()) is not None
            and kept.sources == ("sample:sailor",))
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    again = offered(sessions)
    assert again is not None
    assert again[0].sources == ("sample:sailor",)


async def test_delete_begins_anew_and_q_without_any_work_offers_nothing(sessions: Path) -> None:
    app = app_of(SavedSession(sources=("sample:english",)), KEPT)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await pilot.press("delete")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.corpus.name == "english")
        await until(pilot, lambda: offered(sessions) is None)
        await pilot.press("2", "v", "v", "n", "b")  # another pane, another view, and back at step 0
        await until(pilot, lambda: app.main.mode != "text")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 0)
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert offered(sessions) is None


WORK: dict[str, Callable[[ExplorerApp], object]] = {
    "a step": lambda app: app.engine.send(do.Move(1)),
    "a recipe": lambda app: app.engine.send(do.SetRecipe(preset_named("bert").recipe, Run())),
    "a stop": lambda app: app.engine.send(do.SetRecipe(GPT2, Run.of({"merges": 9}))),
    "a text": lambda app: app.engine.send(do.TrainOnText("a pasted text")),
    "a corpus": lambda app: app.engine.send(do.Open(("sample:sailor",))),
    "a sentence": lambda app: app.main.encode.line.put("hugs and pugs"),
    "columns": lambda app: app.compare([ColumnWanted(GPT2), ColumnWanted(preset_named("bert").recipe)]),
}
"""Each kind of work in a session, by the field of `SavedSession` that holds it."""


@pytest.mark.parametrize("work", WORK)
@pytest.mark.slow
async def test_q_saves_the_work_and_the_next_start_offers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path))
    begun = SavedSession(sources=("sample:english",))
    app = app_of(begun, None)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.autosave is not None and app.autosave.current() is not None)
        saver = app.autosave
        assert saver is not None
        assert (before := saver.current()) is not None
        assert not saver.worth_offering(before)
        WORK[work](app)
        await until(pilot, lambda: (now := saver.current()) is not None and saver.worth_offering(now))
        kept = saver.current()
        app.exit()
        await until(pilot, lambda: not app.is_running)
    offer = offered(tmp_path / "sessions")
    assert offer is not None
    assert kept is not None
    again = app_of(begun, offer[0])
    async with again.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "enter  resume" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: again.autosave is not None
            and (now := again.autosave.current()) is not None
            and (now.sources, now.scratch, now.training, now.typed, len(now.columns))
            == (kept.sources, kept.scratch, kept.training, kept.typed, len(kept.columns)))


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [True, False])
async def test_what_is_opened_again_unchanged_is_kept_again(
    sessions: Path, monkeypatch: pytest.MonkeyPatch, leaves: bool
) -> None:
    """Its user opens the same corpus again, or what was to take its place cannot be opened."""
    monkeypatch.setattr(autosave, "SAVE_S", 0.02)
    app = app_of(SavedSession(sources=("sample:english",)), None)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.autosave is not None and app.autosave._about.sha256)
        saver = app.autosave
        assert saver is not None
        await until(pilot, lambda: saver._keeper is not None and saver.current() == saver._kept)
        before = saver._keeper
        assert before is not None
        saver.switch_to(saver._about, saver._kept if leaves else None)
        await until(pilot, lambda: saver._keeper not in (None, before))
        await until(pilot, lambda: not read(before.path)[0].ended)


@pytest.mark.slow
async def test_columns_of_files_are_kept_with_what_was_named_with_them(
    sessions: Path, tmp_path: Path
) -> None:
    """The split of a file that holds none, and another way to encode."""
    own, ranks = tmp_path / "own.json", tmp_path / "own.tiktoken"
    for path, format in ((own, "tokentui"), (ranks, "tiktoken")):
        export(train(Corpus.from_text("hug pug pun bun hugs " * 9), GPT2, merges=7), path, format)
    wanted = [ColumnWanted(path=str(ranks), split="cl100k"), file_column(f"{own} encode=longest-suffix")]
    app = app_of(SavedSession(sources=("sample:hugs",)), None)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        app.compare(wanted)
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None
                    and all(column.opened for column in app.screen.snapshot.columns))
        assert app.autosave is not None
        kept = app.autosave.current()
    assert kept is not None
    again = [file_column(one) for one in kept.columns if isinstance(one, str)]
    assert [(one.path, one.split, one.encode, one.name) for one in again] == [
        (str(ranks), "cl100k", "", ""),
        (str(own), "gpt2", "longest-suffix", "own.json encode=longest-suffix"),
    ]
