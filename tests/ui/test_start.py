"""The first screen: what it says is the session's, each key it shows works, and it does not come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running_cli import done
from screens import screen_text
from waiting import settled, until

import tokentui
from tokentui import ui
from tokentui.cli.commands import explore
from tokentui.core.errors import TokentuiError
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.settings_file import keep_setting, settings
from tokentui.tours.shipped import FIRST, TOURS
from tokentui.ui.app import ExplorerApp
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.settings import SEEN
from tokentui.ui.start_screen import StartScreen
from tokentui.ui.tour_screen import TourScreen

TYPED = "The crowd in the street"


def app_of(**more: Any) -> ExplorerApp:
    return ExplorerApp(
        Session, typed=TYPED, begin=lambda session: session.send(do.Open(("sample:sailor",))),
        first_screen=True, **more,
    )


def seen(app: ExplorerApp) -> str:
    return " ".join(screen_text(app).replace("│", " ").split())


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_its_figures_are_those_of_a_training(size: tuple[int, int]) -> None:
    run = tokentui.Trainer("sample:sailor", "gpt2")
    why, now = run.why(), len(run.tokenizer().encode(TYPED).tokens)
    run.run()
    then = run.tokenizer().encode(TYPED)
    app = app_of()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await until(pilot, lambda: f"after all {run.number} merges" in seen(app))
        text = seen(app)
        assert f"{now} tokens now" in text
        assert f"{len(then.tokens)} tokens after all {run.number} merges" in text
        assert why.best is not None
        left, right = (part.decode().replace(" ", "·") for part in why.best.parts)
        assert f"{left}+{right} → {left}{right}, in {why.best.places} places" in text
        for one in FIRST:
            assert one.title in text
        assert "compil" not in text


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", [(20, 5), (120, 40), (80, 24), (60, 20), (40, 12), (30, 8)], ids=str)
async def test_each_key_that_it_shows_leaves_it_and_is_done(size: tuple[int, int]) -> None:
    app = app_of()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, StartScreen)
        await pilot.press("f7")
        assert isinstance(app.screen, StartScreen), "a key that means nothing leaves it there"
        await pilot.press("n")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 1)
        await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: settings().get(SEEN) is True)


@pytest.mark.parametrize(
    ("key", "holds"),
    [
        ("G", lambda app: app.main.snapshot.main.why.end is not None),
        ("space", lambda app: app.main.snapshot.main.at.step > 0),
        ("t", lambda app: app.main.corpus.editing),
        ("a", lambda app: not isinstance(app.screen, MainScreen | StartScreen)),
        ("o", lambda app: not isinstance(app.screen, MainScreen | StartScreen)),
        ("question_mark", lambda app: not isinstance(app.screen, MainScreen | StartScreen)),
        ("enter", lambda app: app.screen is app.main), ("escape", lambda app: app.screen is app.main),
        ("q", lambda app: not app.is_running),
    ],
)  # fmt: skip
@pytest.mark.slow
async def test_a_key_does_what_it_says(key: str, holds: Any) -> None:
    app = app_of()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press(key)
        await until(pilot, lambda: holds(app))


@pytest.mark.slow
async def test_keys_in_a_heap_are_all_done() -> None:
    app = app_of()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("n", "n", "n", "b")
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 2)


async def test_a_number_plays_a_tour_that_leads_back_and_a_key_does_what_it_says() -> None:
    app = app_of()
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("4")
        await until(pilot, lambda: isinstance(app.screen, TourScreen))
        assert isinstance(app.screen, TourScreen)
        assert app.screen.tour.title == TOURS[3].title
        await until(pilot, lambda: isinstance(app.screen, TourScreen) and app.screen.arrived)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        assert SEEN not in settings(), "it was not left"
        await pilot.press("i")
        await until(pilot, lambda: app.main.typing)


def shown(monkeypatch: pytest.MonkeyPatch, *words: str) -> bool:
    """True if a command line shows the first screen."""
    held: list[ExplorerApp] = []

    def keep(app: ExplorerApp) -> int:
        held.append(app)
        return 0

    monkeypatch.setattr(ExplorerApp, "run_on_terminal", keep)
    monkeypatch.setattr(explore, "_check_terminal", lambda sources: None)
    done(*words)
    return held[0]._first_screen


def test_it_shows_only_where_nothing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert shown(monkeypatch)
    for words in (["sample:hugs"], ["-r", "gpt2"], ["-s", "tie=first-seen"]):
        assert not shown(monkeypatch, *words)
    path = tmp_path / "t.json"
    done("train", "sample:hugs", "-r", "gpt2", "--merges", "3", "-q", "-o", str(path))
    assert not shown(monkeypatch, "-t", str(path))
    assert shown(monkeypatch, "tour", "gage")
    keep_setting(SEEN, True)
    assert not shown(monkeypatch)


def test_settings_stay_and_a_damaged_file_is_none(home: Path) -> None:
    assert settings() == {}
    keep_setting("a", 'x"\n')
    keep_setting("b", 3)
    assert settings() == {"a": 'x"\n', "b": 3}
    (home / "settings.toml").write_bytes(b"\xff = [")
    assert settings() == {}
    keep_setting("c", True)
    assert settings() == {"c": True}


@pytest.mark.parametrize("name", ["gpt2", "wordpiece", "t5", "gage", "pathpiece", "comp336"])
@pytest.mark.first_run(cases=1)
async def test_it_says_what_the_next_step_does_at_any_step(name: str) -> None:
    """At the end of a training no step is left: it offers to go back."""
    recipe = PRESETS[name].recipe
    app = ExplorerApp(
        lambda publish: Session(publish, recipe), typed=TYPED,
        begin=lambda session: session.send(do.Open(("sample:hugs",))), first_screen=True,
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("G")
        await settled(pilot)
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, StartScreen))
        await settled(pilot)
        assert app.main.snapshot is not None
        step, made = app.main.snapshot.main.traits.step, app.main.snapshot.main.at.step
        assert f"b take back the last of {made:,} {step}" in seen(app)
        assert "first" not in seen(app).partition("Tours")[0]


@pytest.mark.parametrize(("tokenizer", "sends"), [(None, 1), (do.OpenTokenizer("none.json"), 2)])
async def test_what_cannot_be_opened_is_tried_once_and_a_corpus_without_its_file(
    tokenizer: do.OpenTokenizer | None, sends: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, told = list[do.Open](), list[BaseException]()

    class Session:
        async def send(self, command: do.Open) -> None:
            sent.append(command)
            raise TokentuiError("no such file")

    opening = do.Open(("none.txt",), tokenizer=tokenizer)
    app = ui._explorer(opening, PRESETS["gpt2"].recipe, Run(), (), "", lambda make: make(), remembered=False)
    monkeypatch.setattr(app, "tell", told.append)
    assert app._begin is not None
    with pytest.raises(TokentuiError):
        await app._begin(Session())
    assert [command.tokenizer for command in sent] == [tokenizer, None][:sends]
    assert len(told) == sends - 1
