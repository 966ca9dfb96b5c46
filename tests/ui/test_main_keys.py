"""Every key of the main screen does what it says: commands sent, panes focused, dialogs opened, failures
shown."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from dialogs import typed
from objectives import UNIGRAM
from screens import PAIRS, FakeSession, explorer, screen_text, snapshot
from textual.pilot import Pilot
from waiting import notes_of, settled, until

from tokentui.core import runtime
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import (
    CancelWork,
    Command,
    Find,
    FindChanged,
    GoTo,
    GoToToken,
    InspectText,
    LifeOfWord,
    Move,
    Open,
    Play,
    SetInput,
    SetRecipe,
    SetViewport,
    Speed,
    StepPieces,
)
from tokentui.session.views import VOCABULARY_ORDERS, Busy, CorpusPlace, Found
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs import FindScreen
from tokentui.ui.dialogs.ask import GoToScreen
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.help import HelpScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.open import OpenScreen
from tokentui.ui.dialogs.recipe import RecipeScreen


async def shown(pilot: Pilot[Any], app: ExplorerApp, session: FakeSession) -> None:
    """Wait for the first snapshot on the screen, and forget what was sent before."""
    await settled(pilot)
    assert app.main.snapshot is not None
    session.sent.clear()


def is_active(app: ExplorerApp, pane: str) -> bool:
    """Whether a pane has the focus."""
    return app.main.active == pane


SENDS: tuple[tuple[str, Command[object]], ...] = (
    ("n", Move(1)), ("right", Move(1)), ("b", Move(-1)), ("left", Move(-1)), ("N", Move(100)),
    ("right_curly_bracket", Move(100)), ("left_curly_bracket", Move(-100)),
    ("right_square_bracket", Move(10)), ("left_square_bracket", Move(-10)),
    ("space", Play()), ("plus", Speed(1)), ("l", StepPieces(1)), ("h", StepPieces(-1)),
    ("L", StepPieces(100)), ("H", StepPieces(-100)), ("greater_than_sign", Speed(1)), ("minus", Speed(-1)),
    ("less_than_sign", Speed(-1)), ("0", GoTo(0)), ("G", GoTo(None)),
)


async def test_keys_send_commands_in_every_pane() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        for pane in "123":
            session.sent.clear()
            # In the corpus the arrows move the cursor.
            sends = [one for one in SENDS if pane != "1" or one[0] not in ("left", "right")]
            await pilot.press(pane, *(key for key, _ in sends))
            await until(pilot, lambda sends=sends: len(session.sent) == len(sends))  # type: ignore[misc]
            assert session.sent == [command for _, command in sends]
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert session.closed


async def test_typing_sends_what_is_typed_and_letters_are_no_keys() -> None:
    app, session = explorer(typed="hello")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        assert session.of(SetInput)[0] == SetInput("hello"), "it was typed on the command line"
        assert app.main.encode.line.value == "hello"
        session.sent.clear()
        await pilot.press("2", "i", "ctrl+u", "n", "q", "space", "g", "1")
        await until(pilot, lambda: session.of(SetInput) and session.of(SetInput)[-1].text == "nq g1")
        assert session.sent == [SetInput("nq g1"[:n]) for n in range(6)]
        await pilot.press("ctrl+u")
        await until(pilot, lambda: session.sent[-1] == SetInput(""))
        await pilot.press("escape")
        await until(pilot, lambda: app.main.active == "pairs")
        assert app.focused is app.main.pairs


@pytest.mark.slow
async def test_tab_goes_round_the_panes_at_every_size() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        for size in ((120, 40), (80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await pilot.press("1")
            await until(pilot, lambda: app.focused is app.main.text)
            for wanted in ("pairs", "vocabulary", "encode", "corpus"):
                await pilot.press("tab")
                await until(pilot, partial(is_active, app, wanted))
                assert app.focused is not None
                assert app.focused.display
                assert app.main.panes[wanted] in app.focused.ancestors_with_self
            await pilot.press("shift+tab")
            await until(pilot, lambda: app.main.active == "encode")
            await pilot.press("escape")


@pytest.mark.slow
async def test_escape_leaves_the_typed_text_before_it_gives_up_long_work() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        await pilot.press("4")
        session.show(busy=Busy("counting", 45, 100))
        await until(pilot, lambda: "counting  45 %" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.main.active == "corpus")
        assert session.sent == []
        await pilot.press("escape")
        await until(pilot, lambda: session.sent == [CancelWork()])
        session.show()
        await until(pilot, lambda: "counting" not in screen_text(app))
        await pilot.press("escape")
        await settled(pilot)
        assert session.sent == [CancelWork()]


async def test_find_in_the_focused_pane_and_on() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        await pilot.press("full_stop")
        await until(pilot, lambda: notes_of(app))  # nothing to find yet
        assert session.sent == []
        session.answers[Find] = Found(7, 3, 782)
        await pilot.press("2", "slash")
        await until(pilot, lambda: isinstance(app.screen, FindScreen))
        await pilot.press("x", "enter")
        await until(pilot, lambda: app.main.pairs.cursor == 7)
        assert session.of(Find) == [Find("pairs", "x", 0)]
        await until(pilot, lambda: "3 of 782" in screen_text(app))
        session.answers[Find] = Found(12, 4, 782)
        await pilot.press("full_stop")
        await until(pilot, lambda: app.main.pairs.cursor == 12)
        await pilot.press("comma")
        await until(pilot, lambda: len(session.of(Find)) == 3)
        assert session.of(Find)[1:] == [Find("pairs", "x", 7), Find("pairs", "x", 12, True)]
        assert app.main.pairs.find == "x"
        await pilot.press("escape")
        await until(pilot, lambda: app.main.pairs.find == "")
        session.answers[Find] = Found(CorpusPlace(0, 25), 1, 5)
        await pilot.press("1", "slash")
        await until(pilot, lambda: isinstance(app.screen, FindScreen))
        await pilot.press("ctrl+u", *"evening", "enter")
        await until(pilot, lambda: app.main.text.found == (CorpusPlace(0, 25), 7))
        session.answers[Find] = None
        await pilot.press("full_stop")
        await until(
            pilot, lambda: any("not found: evening" in note for note in notes_of(app))
        )


async def test_follow_goes_from_place_to_place() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        session.answers[FindChanged] = CorpusPlace(0, 63)
        await pilot.press("f")
        await until(pilot, lambda: len(session.of(FindChanged)) == 1)
        await pilot.pause()
        await pilot.press("f")
        await until(pilot, lambda: len(session.of(FindChanged)) == 2)
        assert session.of(FindChanged) == [FindChanged(CorpusPlace()), FindChanged(CorpusPlace(0, 63))]
        session.show(step=0, last=None, last_id=None)
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.at.step == 0)
        await pilot.press("f")
        await until(pilot, lambda: notes_of(app))
        assert len(session.of(FindChanged)) == 2


async def test_a_slow_terminal_gets_the_newest_and_what_goes_wrong_in_one_safe_line() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await shown(pilot, app, session)
        slow = True
        app.backlog = lambda: slow  # type: ignore[method-assign]
        for step in (200, 300, 400):
            session.show(step=step)
            await pilot.pause()
        assert "step   128" in screen_text(app)
        slow = False
        await until(pilot, lambda: "step   400" in screen_text(app))
        session.answers[GoTo] = TokentuiError("no such [/] \x1b[31mthing\n", "a\u202eb")
        await pilot.press("0")
        await until(pilot, lambda: "no such [/]" in screen_text(app))
        assert "\x1b" not in screen_text(app)
        assert app.is_running


@pytest.mark.slow
async def test_glyphs_and_boundaries_change_what_is_drawn() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        assert "│O│n│" not in screen_text(app)
        await pilot.press("s")
        await until(pilot, lambda: "│O│n│·a│n│" in screen_text(app))
        await pilot.press("v", "v")
        await until(pilot, lambda: r"\xe2+\x82" in screen_text(app))
        await pilot.press("v")
        await until(pilot, lambda: "2074+6865" in screen_text(app))
        await pilot.press("v")
        await until(pilot, lambda: "U+0074" in screen_text(app))
        await pilot.press("v", "s")
        await until(pilot, lambda: "·t+he" in screen_text(app))


@pytest.mark.slow
async def test_enter_inspects_the_row_that_it_was_pressed_on() -> None:
    """Also while a run brings others."""
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        app.main.pairs.choose()
        app.main.show(snapshot(version=session.version + 1, pairs=PAIRS[:0:-1]))
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        assert isinstance(app.screen, InspectScreen)
        assert app.screen.shown.row == PAIRS[0]


async def test_a_pane_is_clicked_its_order_turns_and_enter_inspects_the_row() -> None:
    app, session = explorer()
    asked: list[object] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        await pilot.click(app.main.vocabulary, offset=(5, 5))
        await until(pilot, lambda: app.main.active == "vocabulary")
        assert app.main.vocabulary.cursor == 3
        session.sent.clear()
        for _ in VOCABULARY_ORDERS:
            await pilot.press("3", "S")
        await until(pilot, lambda: len(session.of(SetViewport)) == len(VOCABULARY_ORDERS))
        orders = [asked.viewport.vocabulary_order for asked in session.of(SetViewport)]
        assert orders == [*VOCABULARY_ORDERS[1:], VOCABULARY_ORDERS[0]]
        app.main._inspect_row = asked.append  # type: ignore[method-assign, assignment]
        await pilot.press("2", "down", "enter", "3", "home", "down", "enter")
        await until(pilot, lambda: len(asked) == 2)
        assert asked == [PAIRS[1], snapshot().main.vocabulary.rows[1]]


async def test_enter_in_encode_explains_the_word_at_the_cursor_and_w_w_shows_its_life() -> None:
    app, session = explorer(typed="The crowd")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        for cursor, place in ((0, 0), (8, 7), (9, 8)):
            await pilot.press("i")
            app.main.encode.line.cursor_position = cursor
            await pilot.press("enter")
            await until(pilot, lambda place=place: session.sent[-1] == InspectText("The crowd", place))  # type: ignore[misc]
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
            assert (app.main.active, app.main.typing) == ("corpus", False)
        await pilot.press("w", "w")
        await until(pilot, lambda: session.of(LifeOfWord) == [LifeOfWord("The crowd", 8)])
        await pilot.press("escape", "2")
        await until(pilot, lambda: app.main.active == "pairs")
        assert app.main.encode.line.value == "The crowd"
        await pilot.press("i", "ctrl+u", "enter")
        await until(pilot, lambda: app.screen is app.main and not app.main.encode.line.value)
        assert len(session.of(InspectText)) == 3


@pytest.mark.slow
async def test_the_life_is_that_of_the_word_that_enter_explains() -> None:
    app, session = explorer(typed="The crowd")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(pilot, app, session)
        for count, (cursor, place) in enumerate(((0, 0), (8, 7), (9, 8)), 1):
            app.main.encode.line.cursor_position = cursor
            await pilot.press("w", "w")
            await until(pilot, lambda so_many=count: len(session.of(LifeOfWord)) == so_many)  # type: ignore[misc]
            assert session.of(LifeOfWord)[-1] == LifeOfWord("The crowd", place)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


def is_on_top(app: ExplorerApp, dialog: type) -> bool:
    """Whether a dialog of this kind is seen."""
    return isinstance(app.screen, dialog)


DIALOGS: tuple[tuple[tuple[str, ...], type], ...] = (
    (("question_mark",), HelpScreen), (("g",), GoToScreen), (("a",), RecipeScreen), (("o",), OpenScreen),
    (("slash",), FindScreen), (("2", "enter"), InspectScreen),
)


@pytest.mark.slow
async def test_dialogs_open_and_esc_leaves_them(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path))
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot, app, session)
        for keys, dialog in DIALOGS:
            await pilot.press(*keys)
            await until(pilot, partial(is_on_top, app, dialog))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
        assert session.of(Move) == []


GOES: tuple[tuple[str, Command[object]], ...] = ("500", GoTo(500)), (" the", GoToToken(" the"))


async def test_go_to_sends_where_it_says() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot, app, session)
        for line, command in GOES:
            session.sent.clear()
            await pilot.press("g")
            await until(pilot, lambda: isinstance(app.screen, GoToScreen))
            await typed(pilot, line)
            await pilot.press("enter")
            await until(pilot, lambda: session.sent)
            assert session.sent == [command]
            await until(pilot, lambda: app.screen is app.main)
        said = "no step of this run makes"
        await until(pilot, lambda: any(said in note for note in notes_of(app)))


async def test_a_recipe_and_a_corpus_are_handed_to_the_session(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path))
    app, session = explorer(run=Run.of({"merges": 5}))
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot, app, session)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RecipeScreen))
        recipe = Recipe(tie="first-seen")
        app.screen.dismiss(RecipeChoice(recipe, Run.of({"merges": 50, "specials": ["<s>"]})))
        await until(pilot, lambda: session.of(SetRecipe))
        assert session.of(SetRecipe) == [SetRecipe(recipe, Run.of({"merges": 50, "specials": ["<s>"]}))]
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, OpenScreen))
        app.screen.dismiss(Open(("books.txt",), "lines"))
        await until(pilot, lambda: session.of(Open))
        assert session.of(Open) == [Open(("books.txt",), "lines")]
        await until(pilot, lambda: (tmp_path / "recent.json").exists())


@pytest.mark.slow
@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+q"])
async def test_quitting_closes_the_session(key: str) -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot, app, session)
        await pilot.press("4")
        await pilot.press(key)
        await until(pilot, lambda: not app.is_running)
    assert session.closed


@pytest.mark.slow
async def test_a_unigram_step_has_no_place_to_follow() -> None:
    app, session = explorer(typed="")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shown(pilot, app, session)
        session.show(**UNIGRAM)
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.traits.shrinks)
        await pilot.press("f")
        await until(pilot, lambda: any("not a merge" in note for note in notes_of(app)))
        assert not session.of(FindChanged)


async def test_a_key_has_the_interpreter_until_the_screen_has_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    app, _ = explorer()
    turns: list[str] = []
    async with app.run_test() as pilot:
        monkeypatch.setattr(runtime.turns, "begin", lambda: turns.append("begin"))
        monkeypatch.setattr(runtime.turns, "end", lambda: turns.append("end"))
        await pilot.press("tab")
        await until(pilot, lambda: "begin" in turns and "end" in turns[turns.index("begin") :])
