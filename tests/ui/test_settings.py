"""The settings: they take effect at once, are kept in a file that is not trusted, and last."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import hostile
import pytest
from screens import explorer, screen_text
from waiting import settled, until

from tokentui.core.safetext import GLYPH_MODES, is_safe
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.settings_file import keep_setting, read_settings, settings, settings_path
from tokentui.session.snapshot import Snapshot
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.settings_screen import SettingsScreen
from tokentui.ui.draw.text import DARK_NAME, LIGHT_NAME
from tokentui.ui.settings import SETTINGS, Setting

SIZES = [(120, 40), (80, 24)]


def now_of(app: ExplorerApp) -> Snapshot:
    """The snapshot that is shown."""
    assert app.engine.snapshot is not None
    return app.engine.snapshot


def app_of() -> ExplorerApp:
    kept, wrong = read_settings()
    return ExplorerApp(
        Session, typed=None, begin=lambda one: one.send(do.Open(("sample:sailor",))), kept=kept, wrong=wrong
    )


def read_by(kept: dict[str, Any], wrong: str) -> ExplorerApp:
    """An app without a training that has read these settings."""
    return explorer(typed=None, kept=kept, wrong=wrong)[0]  # type: ignore[arg-type]


async def opened(app: ExplorerApp, pilot: Any) -> SettingsScreen:
    await settled(pilot)
    await pilot.press("O")
    await until(pilot, lambda: isinstance(app.screen, SettingsScreen) and app.screen.listing.rows)
    screen = app.screen
    assert isinstance(screen, SettingsScreen)
    return screen


def file(home: Path, data: bytes) -> Path:
    home.mkdir()
    settings_path().write_bytes(data)
    return settings_path()


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_each_setting_takes_effect_is_kept_and_lasts(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tokentui.ui.dialogs.settings_screen.settings_path", lambda: Path("/home/me/settings.toml")
    )
    app = app_of()
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = await opened(app, pilot)
        assert "/home/me/settings.toml" in screen_text(app)
        assert "The·crowd·in·the·street" in screen_text(app)
        await pilot.press("right")
        assert app.theme == LIGHT_NAME
        await pilot.press("down", "left")
        await until(pilot, lambda: app.engine.snapshot is not None and now_of(app).speed == 60)
        await pilot.press("down", "enter")
        assert app.main.mode == GLYPH_MODES[1] == screen.settings.value_of([*SETTINGS.values()][2])
        await pilot.press("down")
        for mark in ("chips", "shade", "bars"):
            await pilot.press("right")
            assert app.main.text.boundaries == mark
        await pilot.press("down", "right")
        assert app.main.viewport.vocabulary_order == "most used"
        await pilot.press("down", "enter", *"ab", "enter")
        await until(pilot, lambda: app.main.encode.line.value == "ab")
        await pilot.press("down", "enter", *"$2.50", "enter")
        await pilot.press("down", "enter")
        wanted = {
            "theme": LIGHT_NAME, "speed": 60, "view": app.main.mode, "boundaries": "bars",
            "order": "most used", "sentence": "ab", "price": "$2.50", "first_screen_seen": True,
        }
        await until(pilot, lambda: settings() == wanted)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
    app = app_of()
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.engine.snapshot is not None and now_of(app).speed == 60)
        await until(pilot, lambda: now_of(app).main.vocabulary.order == "most used")
        assert (app.theme, app.main.mode) == (LIGHT_NAME, wanted["view"])
        assert (app.main.text.boundaries, app.main.encode.line.value) == ("bars", "ab")


async def test_a_speed_counts_at_once_a_text_that_is_left_stays_and_colors_are_kept() -> None:
    app, session = explorer(typed="The crowd in the street")
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(app, pilot)
        await pilot.press(*["down"] * 5, "enter", *"xyz", "escape")
        await until(pilot, lambda: not screen.editing)
        assert app.main.encode.line.value == "The crowd in the street"
        assert settings() == {}
        await pilot.press("home", "down", "left", "left")  # the second one before the first one is seen
        await until(pilot, lambda: session.of(do.SetSpeed) == [do.SetSpeed(60), do.SetSpeed(20)])
        await pilot.press("escape", "T", "down", "enter")
        await until(pilot, lambda: settings() == {"speed": 20, "theme": LIGHT_NAME})


async def test_a_broken_file_is_said_and_kept_aside(home: Path) -> None:
    path = file(home, b'theme = "tokentui-light"\nspeed = [')
    app = read_by(*read_settings())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: "not TOML" in screen_text(app))
        await opened(app, pilot)
        assert app.theme == DARK_NAME
        assert path.read_bytes() == b'theme = "tokentui-light"\nspeed = [', "nothing was changed yet"
        await pilot.press("right")
        await until(pilot, lambda: settings() == {"theme": LIGHT_NAME})
        aside = home / "settings.broken-1.toml"
        assert aside.read_bytes() == b'theme = "tokentui-light"\nspeed = ['
        await until(pilot, lambda: "was kept as" in screen_text(app))


@pytest.mark.parametrize(
    "value", ['"no such"', "-1", "1e999", "[1]", "{a = 1}", "1979-05-27", '"a\\nb"', "1", "true"]
)
@pytest.mark.parametrize("half", [[*SETTINGS.values()][:4], [*SETTINGS.values()][4:]], ids=len)
@pytest.mark.first_run(cases=2)
async def test_a_value_that_a_setting_does_not_have_is_the_default(
    half: tuple[Setting, ...], value: str, home: Path
) -> None:
    file(home, "".join([f"{one.name} = {value}\n" for one in half]).encode())
    app = read_by(*read_settings())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: "not understood" in screen_text(app))
        for one in half:
            kept = settings()[one.name]
            taken = one.takes(app, kept)
            assert (one.name in app.user_settings.wrong) is not taken
            assert app.user_settings.value_of(one) == (kept if taken else one.default)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("size", SIZES)
async def test_hostile_values_are_drawn_safely(size: tuple[int, int], home: Path) -> None:
    evil = "\x1b[2J\u202e\U0001f469\u200d\U0001f680[/][bold]\x7f"
    keep_setting("sentence", evil)
    keep_setting("theme", evil)
    with settings_path().open("a") as held:
        held.write('"\\u001b[2Jx[/]" = 3\n')
    app = read_by(*read_settings())
    async with app.run_test(size=size, notifications=True) as pilot:
        await opened(app, pilot)
        seen = screen_text(app)
        assert "not understood" in seen
        assert all(is_safe(line) for line in seen.split("\n"))
        assert app.main.encode.line.value == evil
        assert app.theme == DARK_NAME


def test_what_is_kept_is_what_is_read() -> None:
    for text in hostile.SHORT[::7]:
        keep_setting("sentence", text)
        assert settings() == {"sentence": text.encode("utf-8", "replace").decode()}


def test_what_else_the_file_says_stays(home: Path) -> None:
    path = file(home, b"# mine\nspeed = 5 # slow\n'odd name' = 2024-01-01\n[more]\nspeed = 7")
    before = settings()
    assert keep_setting("speed", 60) == ""
    assert keep_setting("view", "hex") == ""
    assert settings() == {**before, "speed": 60, "view": "hex"}
    assert path.read_text().startswith("# mine\n")


def test_a_setting_that_one_line_cannot_replace_stays(home: Path) -> None:
    path = file(home, b'sentence = """\na\nb"""\n')
    assert "by hand" in keep_setting("sentence", "x")
    assert path.read_bytes() == b'sentence = """\na\nb"""\n'


def test_a_long_file_and_what_is_no_file(home: Path) -> None:
    path = file(home, b"#" * (1 << 20) + b"\n")
    assert settings() == {}
    assert "too large" in read_settings()[1]
    path.unlink()
    path.mkdir()
    assert read_settings()[1]
    assert "not saved" in keep_setting("view", "hex")
    assert path.is_dir()


def test_true_and_one_are_two_values() -> None:
    keep_setting("first_screen_seen", 1)
    keep_setting("first_screen_seen", True)
    assert tomllib.loads(settings_path().read_text())["first_screen_seen"] is True
