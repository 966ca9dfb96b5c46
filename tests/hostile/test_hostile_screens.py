"""The whole hostile set on the screens of the explorer, with both walls and with either of them taken away.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import hostile
import pytest
from dialogs import FakeEngine
from poisoned import Poison
from screens import draw, explorer, snapshot
from text_guards import ALONE, WALLS, Tripwire, Walls, refusal, stand
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input
from waiting import settled, strips_of, until

from tokentui.core.safetext import GLYPH_MODES
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import (
    AnalyzeVocabulary,
    Compress,
    CorpusText,
    ExamineHealth,
    Export,
    Formats,
    Pieces,
    Preview,
    Recognize,
)
from tokentui.session.views import CorpusPlace, StageView
from tokentui.ui.app import ExplorerApp
from tokentui.ui.autosave import described
from tokentui.ui.dialogs import FindScreen
from tokentui.ui.dialogs.ask import AskLine, GoToScreen
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.export import ExportScreen
from tokentui.ui.dialogs.facts import FactsScreen
from tokentui.ui.dialogs.finder import FinderScreen
from tokentui.ui.dialogs.help import HelpScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.open import AddScreen, OpenScreen
from tokentui.ui.dialogs.pieces import CompressedScreen, PiecesScreen
from tokentui.ui.dialogs.questions import QuestionsScreen
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.dialogs.settings_screen import SettingsScreen
from tokentui.ui.start_screen import StartScreen

SIZES = ((80, 24), (200, 60))
EVERY = [(walls, size) for walls in WALLS for size in SIZES]
SAMPLE = hostile.SHORT[::9]
"""A few of each family."""
BEHIND: Mapping[Walls, tuple[Sequence[str], int]] = {
    "no guard": (hostile.SHORT, 48), "no safe text": (hostile.SHORT[::4], 12),
}  # fmt: skip
"""What is tried on every pane, and how many at a time: the guard alone is one function, which
`test_hostile_detail` gives all of them, and it sees only what fits on the screen."""


def batches(texts: Sequence[str], most: int) -> Iterator[Poison]:
    """The texts, a few at a time."""
    for start in range(0, len(texts), most):
        yield Poison(texts[start : start + most])


async def resize(app: ExplorerApp, pilot: Pilot[None], size: tuple[int, int]) -> None:
    """Another size."""
    await pilot.resize_terminal(*size)
    await until(pilot, lambda: app.screen.size == size)
    await pilot.pause()


@contextlib.asynccontextmanager
async def started(size: tuple[int, int]) -> AsyncIterator[tuple[ExplorerApp, Any, Pilot[None]]]:
    """The explorer on a session that only records."""
    app, session = explorer()
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        yield app, session, pilot


class Tour:
    """Hostile texts on the main screen and in every dialog over it."""

    def __init__(self, app: ExplorerApp, session: Any, pilot: Pilot[None], wire: Tripwire) -> None:
        self.app, self.session, self.pilot, self.wire = app, session, pilot, wire

    def check(self) -> None:
        """Nothing has come through."""
        self.wire.check(self.app)

    async def panes(self, texts: Sequence[str], rows: int) -> None:
        """In the panes, in every way to write them."""
        for number, poison in enumerate(batches(texts, rows)):
            self.app.main.text.reset()
            for mode in GLYPH_MODES if number == 0 else GLYPH_MODES[:1]:
                self.app.main.mode = mode
                await draw(self.app, self.session, self.pilot, **poison.changes(number))
                self.check()
        self.app.main.mode = "text"

    async def toasts(self, texts: Sequence[str], most: int) -> None:
        """As what is told: notes of the corpus, failures, what was looked for."""
        for poison in batches(texts, most):
            self.app.clear_notifications()
            for number, text in enumerate(poison.texts):
                (self.app.say, lambda one: self.app.tell(refusal(one)),
                    lambda one: self.app.tell(ValueError(one)))[number % 3](text)
                await self.pilot.pause()
                self.check()
            await draw(self.app, self.session, self.pilot, notes=poison.texts[:2])
            self.check()
            self.app.main.action_messages()
            await self.pilot.pause()
            self.check()
            self.app.screen.dismiss()
            await self.pilot.pause()
        self.app.clear_notifications()
        await self.pilot.pause()

    async def typed(self, texts: Sequence[str]) -> None:
        """In the line of the encode pane, in the editor in the place of the corpus, and in the keys."""
        main = self.app.main
        for text in texts:
            main.encode.line.value = text
            await self.pilot.pause()
            self.check()
        self.session.answers[CorpusText] = "\n".join(texts)
        await main.corpus.begin()
        await until(self.pilot, lambda: main.corpus.editing)
        await self.pilot.pause()
        self.check()
        main.corpus.end()
        self.app.main.action_find_anything()
        await until(
            self.pilot, lambda: isinstance(self.app.screen, FinderScreen) and self.app.screen.field.has_focus
        )
        for text in texts[:3]:
            self.app.screen.query_one(Input).value = text
            await self.pilot.pause()
            self.check()
        await self.pilot.press("escape")
        await until(self.pilot, lambda: self.app.screen is main)

    async def clicks(self) -> None:
        """On cells that show what names an action."""
        y = 0
        for y, strip in enumerate(strips_of(self.app)):
            for x in (strip.text.find(hostile.ACTION), strip.text.find("[link")):
                if x >= 0:
                    await self.pilot.click(offset=(x + 2, y))
        await self.pilot.pause()
        self.check()

    async def dialog(self, screen: Screen[Any], text: str = "", keys: Sequence[str] = ()) -> None:
        """In a dialog, which is looked at, typed into and left."""
        self.app.push_screen(screen)
        await until(self.pilot, lambda: self.app.screen is screen and screen.is_mounted)
        await self.pilot.pause()
        self.check()
        for line in screen.query(Input) if text else ():
            line.value = text
            await self.pilot.pause()
            self.check()
        if keys:
            await self.pilot.press(*keys)
            await self.pilot.pause()
            self.check()
        while self.app.screen is not self.app.main:
            self.app.pop_screen()
        await self.pilot.pause()


def dialogs(poison: Poison, folder: Path) -> Iterator[tuple[Screen[Any], str, tuple[str, ...]]]:
    """Every dialog, what is typed into it, and keys that show more of it."""

    fails = refusal(poison.text)
    stages = tuple(StageView(poison.text, poison.text, False, "split") for _ in range(4))
    now = snapshot(**poison.changes(1))
    run = Run.of({"specials": poison.texts[:5], "merges": 9})
    used, text = RecipeChoice(Recipe(), run), poison.text

    def face(answers: bool = True) -> FakeEngine:
        found: dict[type, Any] = {
            Pieces: lambda _: poison.cut(), AnalyzeVocabulary: lambda _: poison.answers(),
            ExamineHealth: lambda _: poison.report(), Compress: lambda _: poison.compressed(),
            Preview: lambda command: poison.preview(error=command.recipe != Recipe()),
            Formats: lambda _: poison.reports(),
        }
        known = found if answers else dict.fromkeys(found, fails)
        return FakeEngine(now, {**known, Recognize: fails, Export: fails}, run)

    good, bad = face(), face(answers=False)
    for row in (
        poison.vocabulary()[0], poison.pairs(spelled=True)[-1], poison.replayed()[-1], poison.losses()[0],
    ):
        yield InspectScreen(good, row), "", ("end",)
    yield PiecesScreen(good, CorpusPlace()), "", ("end",)
    yield PiecesScreen(bad, CorpusPlace()), "", ()
    yield QuestionsScreen(good), text, ("right", "right", "right", "x")
    yield QuestionsScreen(bad), "", ()
    yield FactsScreen(good), "", ("a", "end")
    yield FactsScreen(bad), "", ()
    yield RecipeScreen(good, used, "gpt2", tried=True, stages=stages), "", ("down", "tab", "end")
    yield RecipeScreen(bad, used, "gpt2", tried=True), "", ()
    with mock.patch("tokentui.ui.dialogs.open.recently_opened", return_value=poison.texts):
        yield OpenScreen(good), f"{folder}/\x1b", ("down", "down", "tab")
    yield GoToScreen(good), text, ()
    yield FindScreen(good, "corpus", text), "", ()
    yield ExportScreen(good), "", ("down", "enter")
    yield ExportScreen(bad), text, ()
    yield HelpScreen(good, {}), text, ()
    yield SettingsScreen(good), text, ("right", "down", "left")
    yield CompressedScreen(good), "", ("end",)
    yield StartScreen(good, described(poison.kept(), text)), "", ()
    yield AddScreen(good, text, Recipe()), text, ()
    yield AskLine(good, text, lambda line: line, lambda line: None), text, ()


@pytest.mark.parametrize("walls", ALONE)
@pytest.mark.slow
async def test_the_set_on_every_pane(walls: Walls, monkeypatch: pytest.MonkeyPatch) -> None:
    stand(walls, monkeypatch)
    async with started((200, 60)) as (app, session, pilot):
        tour = Tour(app, session, pilot, Tripwire(monkeypatch))
        await tour.panes(*BEHIND[walls])
        await tour.toasts(SAMPLE[:12], 6)
        await tour.typed(SAMPLE[:6])
        await resize(app, pilot, (80, 24))
        await tour.panes([one for one in hostile.FAMILIES["markup"] if hostile.ACTION in one], 12)
        await tour.clicks()
        await tour.panes([one for one in hostile.TEXTS if len(one) > 600], 9)


@pytest.mark.parametrize("walls", ALONE)
@pytest.mark.slow
async def test_the_set_in_every_dialog(walls: Walls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand(walls, monkeypatch)
    hostile.named(tmp_path)
    monkeypatch.chdir(tmp_path)
    poison = Poison(SAMPLE)
    async with started((80, 24)) as (app, session, pilot):
        tour = Tour(app, session, pilot, Tripwire(monkeypatch))
        # the guard stands before the terminal, whatever is drawn: every second dialog does
        every = 1 if walls == "no guard" else 2
        for screen, text, keys in itertools.islice(dialogs(poison, tmp_path), None, None, every):
            await tour.dialog(screen, text, keys)


@pytest.mark.slow
async def test_names_that_are_markup_on_every_pane_and_in_every_dialog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in hostile.MARKUP_NAMES:
        hostile.file_named(tmp_path, name)
    poison = Poison(hostile.MARKUP_NAMES)
    async with started((120, 40)) as (app, session, pilot):
        tour = Tour(app, session, pilot, Tripwire(monkeypatch))
        await tour.panes(hostile.MARKUP_NAMES, len(hostile.MARKUP_NAMES))
        await tour.toasts(hostile.MARKUP_NAMES, len(hostile.MARKUP_NAMES))
        await tour.typed(hostile.MARKUP_NAMES)
        await tour.clicks()
        for screen, text, keys in dialogs(poison, tmp_path):
            await tour.dialog(screen, text, keys)


async def test_without_any_wall_the_set_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    stand("no guard", monkeypatch)
    stand("no safe text", monkeypatch)
    async with started((80, 24)) as (app, session, pilot):
        tour = Tour(app, session, pilot, Tripwire(monkeypatch))
        for family in hostile.FAMILIES:
            with pytest.raises(AssertionError):
                await tour.panes([one for one in hostile.FAMILIES[family] if len(one) < 60][:12], 12)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("walls", "size"), EVERY)
async def test_every_text_everywhere(walls: Walls, size: tuple[int, int], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch) -> None:
    stand(walls, monkeypatch)
    hostile.named(tmp_path)
    monkeypatch.chdir(tmp_path)
    async with started(size) as (app, session, pilot):
        tour = Tour(app, session, pilot, Tripwire(monkeypatch))
        await tour.panes(hostile.TEXTS, 8)
        await tour.toasts(hostile.TEXTS, 6)
        await tour.typed(hostile.TEXTS)
        for poison in batches(hostile.TEXTS, 24):
            for screen, text, keys in dialogs(poison, tmp_path):
                await tour.dialog(screen, text, keys)
