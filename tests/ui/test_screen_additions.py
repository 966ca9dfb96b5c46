"""A pane, a dialog, a binding, an analysis and a setting are each one entry, or one file and an entry.

`docs/architecture.md` says where each is added. The tests add one at run time and look for it on the screen,
among the keys and in the documentation.
"""

from __future__ import annotations

import runpy
import sys
import types
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from reimporting import import_again
from screens import explorer
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from waiting import notes_of, screen_text, settled, until

from tokentui.analyze.analyses import ANALYSES, Analysis
from tokentui.analyze.report import Report
from tokentui.core.choices import Ref
from tokentui.session.persist.settings_file import keep_setting, read_settings, settings
from tokentui.session.snapshot import Snapshot
from tokentui.ui import app as app_module
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import EVERYWHERE, Hint
from tokentui.ui.dialogs import Dialog
from tokentui.ui.dialogs.analysis import AnalysisScreen
from tokentui.ui.dialogs.finder import FinderScreen
from tokentui.ui.dialogs.help import groups_of
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.keymap import read_keys
from tokentui.ui.link import EngineLink
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.panes import main_panes
from tokentui.ui.panes.entry import PaneEntry
from tokentui.ui.panes.pane import Pane
from tokentui.ui.settings import SETTINGS, Setting

NAME = "brand-new"
REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "scripts" / "reference.py"


def key_page(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the page of keys and settings as it would be written now."""
    monkeypatch.syspath_prepend(str(REFERENCE.parent))
    page: str = runpy.run_path(str(REFERENCE))["keys"]()
    return page


def use_main_screen(monkeypatch: pytest.MonkeyPatch, kind: type[MainScreen]) -> None:
    """Let new apps have another class of main screen, which is also the one whose keys are known."""
    monkeypatch.setattr(app_module, "MainScreen", kind)
    monkeypatch.setattr(import_module("tokentui.ui.main_screen"), "MainScreen", kind)


def use_tables_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Define the main screen again, from its tables as they are now."""
    import_again(monkeypatch, "tokentui.ui.main_screen")
    use_main_screen(monkeypatch, import_module("tokentui.ui.main_screen").MainScreen)


async def choose_in_finder(app: ExplorerApp, pilot: Pilot[Any], text: str) -> None:
    """Type a text into the finder, and take the first entry."""
    await pilot.press("colon")
    await until(pilot, lambda: isinstance(app.screen, FinderScreen))
    await pilot.press(*text)
    await until(pilot, lambda: f"▸ {text} " in screen_text(pilot))
    await pilot.press("enter")


# The file of a new pane.


class NewPane(Lines, Pane, can_focus=True):
    """Shows the step."""

    DEFAULT_CSS = "NewPane { padding-left: 3; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f6", "turn", "turn it", id="turn_new", tooltip="Turn what is new", group=Hint(rank=1)),
    ]
    turned = False

    def sections(self, snapshot: Snapshot) -> object:
        return snapshot.main.at

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        return ((("at step " if self.snapshot is None else f"at step {self.snapshot.main.at.step}", ""),),)

    def action_turn(self) -> None:
        self.turned = True


async def test_a_pane_is_one_file_and_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = PaneEntry(
        "newest", "Newest", "Go to what is new", lambda screen: NewPane(), "New",
        key_owners=(("newest", NewPane),),
    )
    monkeypatch.setattr(main_panes, "MAIN_PANES", (*main_panes.MAIN_PANES, entry))
    use_tables_again(monkeypatch)
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        pane = app.main.panes["newest"]
        for size in ((120, 40), (80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await pilot.press("5")
            await until(pilot, lambda: app.main.active == "newest")
            await settled(pilot)
            assert pane.has_focus
            shown = screen_text(pilot)
            assert app.main.snapshot is not None
            assert f"at step {app.main.snapshot.main.at.step}" in shown
            assert "5 New" in shown
            assert "f6 turn it" in shown
            pane.turned = False  # type: ignore[attr-defined]
            await pilot.press("f6")
            assert pane.turned  # type: ignore[attr-defined]
            await pilot.press("tab")
            await until(pilot, lambda: app.main.active == "corpus")
        sections = app.main.key_sections()
        assert ("5",) in [action.keys for action in sections[EVERYWHERE] if action.id == "to_newest"]
        assert ("f6", "turn it") in dict(groups_of(sections, "newest"))["Newest"]
    assert read_keys({"to_newest": "f8", "turn_new": "f7"}) == ({"to_newest": "f8", "turn_new": "f7"}, [])
    page = key_page(monkeypatch)
    assert "`to_newest` | `5` | Go to what is new" in page
    assert "## Newest" in page
    assert "`turn_new` | `f6` | Turn what is new" in page


@pytest.mark.slow
async def test_a_binding_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[object] = []

    class Newer(MainScreen):
        BINDINGS: ClassVar[list[BindingType]] = [
            Binding("f9", "do_what_is_new", "newest", tooltip="Do what is new", id=NAME, group=Hint(rank=1)),
        ]

        def action_do_what_is_new(self) -> None:
            pressed.append(self)

    use_main_screen(monkeypatch, Newer)
    app, _ = explorer(kept={"keys": {NAME: "f9,f8"}})
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: "f9 newest" in screen_text(pilot))
        await pilot.press("f9", "f8")
        await until(pilot, lambda: len(pressed) == 2)
        assert notes_of(app) == []
        sections = app.main.key_sections()
        assert ("f9", "newest") in dict(groups_of(sections, "corpus"))["Text and files"]
        await choose_in_finder(app, pilot, "newest")
        await until(pilot, lambda: len(pressed) == 3)
    assert f"`{NAME}` | `f9` | Do what is new" in key_page(monkeypatch)


async def test_a_dialog_is_one_file_and_the_key_that_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class NewDialog(Dialog[None]):
        HEADING = "Quite new"
        BINDINGS: ClassVar[list[BindingType]] = [Binding("f7", "turn", "turn it")]

        def __init__(self, engine: EngineLink) -> None:
            super().__init__(engine)
            self.parts = (self.notice,)

        def action_turn(self) -> None:
            self.notice.say("turned")

    class Newer(MainScreen):
        BINDINGS: ClassVar[list[BindingType]] = [Binding("f9", "open_new", "newest", id=NAME)]

        def action_open_new(self) -> None:
            self.app.push_screen(NewDialog(self.engine))

    use_main_screen(monkeypatch, Newer)
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("f9")
        await until(pilot, lambda: "Quite new" in screen_text(pilot) and "f7 turn it" in screen_text(pilot))
        await pilot.press("f7")
        await until(pilot, lambda: "turned" in screen_text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


def use_strange_analysis(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Add an analysis. `tests/hygiene/test_records.py` has the option of the command and its JSON."""
    module = types.ModuleType("strange_analysis")
    module.analysis = lambda tokenizer, corpus: Report("Quite new", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    analysis = Analysis("strange", "Quite new", "Try it here", Ref("strange_analysis:analysis"), key)
    monkeypatch.setitem(ANALYSES, analysis.name, analysis)
    use_tables_again(monkeypatch)


@pytest.mark.slow
async def test_an_analysis_without_a_key_is_in_the_finder(monkeypatch: pytest.MonkeyPatch) -> None:
    use_strange_analysis(monkeypatch, "")
    app, _ = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await choose_in_finder(app, pilot, "strange")
        await until(pilot, lambda: isinstance(app.screen, AnalysisScreen))
        await until(pilot, lambda: "Quite new" in screen_text(pilot))


async def test_an_analysis_and_a_setting_are_one_entry_each(monkeypatch: pytest.MonkeyPatch) -> None:
    use_strange_analysis(monkeypatch, "f9")
    effects: list[object] = []
    setting = Setting(
        "brand_new", "quite new", "off", lambda _: ("off", "on"), str,
        lambda app, value: effects.append(value),
    )
    monkeypatch.setitem(SETTINGS, setting.name, setting)
    keep_setting(setting.name, "on")
    kept, wrong = read_settings()
    app, _ = explorer(kept=kept, wrong=wrong)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert effects == ["on"]
        await pilot.press("O")
        await until(pilot, lambda: "quite new" in screen_text(pilot))
        await pilot.press("end", "right")
        await until(pilot, lambda: effects == ["on", "off"])
        await until(pilot, lambda: settings() == {setting.name: "off"})
        await pilot.press("escape", "f9")
        await until(pilot, lambda: isinstance(app.screen, AnalysisScreen))
        await until(pilot, lambda: "Quite new" in screen_text(pilot))
    page = key_page(monkeypatch)
    assert "`brand_new` | quite new | `\"off\"`" in page
    assert "`analyze_strange` | `f9` | Try it here" in page
