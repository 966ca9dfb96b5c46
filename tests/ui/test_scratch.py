"""Typing into the corpus: each change is trained on, the newest one, and the screen stays whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from screens import explorer, screen_text, view
from terminal import Terminal
from textual import events
from waiting import notes_of, settled, until

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.commands import CancelWork, CorpusText, Move, Open, SetRecipe, SetViewport, TrainOnText
from tokentui.session.engine.driver import Session
from tokentui.session.errors import Replaced
from tokentui.session.views import Busy, CorpusPlace
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.open import OpenScreen
from tokentui.ui.panes.editor import CorpusEditor

TEXT = "On an evening\nin July\n\na young man"


class Slow:
    """Answers scratches, recipes and openings when it is told to."""

    def __init__(self, app: ExplorerApp) -> None:
        self.waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        assert app.engine.session is not None
        self._send = app.engine.session.send
        app.engine.session.send = self.send  # type: ignore[method-assign]

    def send(self, command: Any) -> asyncio.Future[Any]:
        """Hold the answer back; a later command gives up an earlier one, as in a session."""
        if not isinstance(command, TrainOnText | SetRecipe | Open):
            return self._send(command)
        for _, earlier in self.waiting:
            if not earlier.done():
                earlier.set_exception(Replaced())
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.waiting.append((command, future))
        return future

    @property
    def commands(self) -> list[Any]:
        """What was sent, in order."""
        return [command for command, _ in self.waiting]

    def answer(self, error: Exception | None = None) -> None:
        """Answer the last command."""
        future = self.waiting[-1][1]
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)


async def editing(app: ExplorerApp, session: Any, pilot: Any, text: str = TEXT) -> None:
    """Open the editor on a text."""
    await settled(pilot)
    session.answers[CorpusText] = text
    await pilot.press("t")
    await until(pilot, lambda: app.main.context == "editor" and app.focused is app.main.body_of("corpus"))


def text_of(app: ExplorerApp) -> str:
    """What stands in the editor."""
    return str(app.main.query_one(CorpusEditor).text)


async def typed(app: ExplorerApp, pilot: Any, text: str) -> None:
    """Press one key after the other, each when the one before is in the text."""
    pressed = ""

    def arrived() -> bool:
        return text_of(app) == pressed

    for key in text:
        pressed += key
        await pilot.press(key)
        await until(pilot, arrived)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_control_characters_are_visible_while_typing_and_after(size: tuple[int, int]) -> None:
    app, session = explorer(typed="The crowd in the street")
    async with app.run_test(size=size) as pilot:
        await editing(app, session, pilot, TEXT + "\nnot\there \x1b[31m red\x07 \udcff")
        await pilot.press("down", "x")
        await until(pilot, lambda: session.of(TrainOnText))
        await pilot.pause()
        assert "xin July" in screen_text(app)
        assert "not⇥here ␛[31m red␇ �" in screen_text(app)
        typed = text_of(app)
        await pilot.press("escape")
        session.show(corpus_name="scratch", corpus=view(typed))
        await until(pilot, lambda: "evening" in screen_text(app).replace("│", ""))
        await pilot.pause()
        assert "not⇥here·␛[31m·red␇·<FF>" in screen_text(app).replace("│", "")


async def test_keys_are_text_and_each_change_is_sent() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await editing(app, session, pilot)
        assert session.of(TrainOnText) == []
        assert "1 Corpus · editing" in screen_text(app)
        assert "line 1 of 4" in screen_text(app)
        await until(pilot, lambda: "esc end" in screen_text(app))
        assert "enter" not in screen_text(app).splitlines()[-1], "it types a line"
        await pilot.press(*"nq ", "enter", "question_mark")
        await until(pilot, lambda: session.of(TrainOnText)[-1:] == [TrainOnText("nq \n?" + TEXT)])
        assert session.of(Move) == []
        assert session.of(TrainOnText)[0] == TrainOnText("n" + TEXT)
        await until(pilot, lambda: "line 2 of 5" in screen_text(app))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running)
    assert session.closed


async def test_a_text_that_gives_way_is_not_told_of_and_what_goes_wrong_is_said_once() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await editing(app, session, pilot, "")
        slow = Slow(app)
        await typed(app, pilot, "abc")
        await until(pilot, lambda: slow.commands == [TrainOnText("a"), TrainOnText("ab"), TrainOnText("abc")])
        slow.answer()
        await pilot.press("d")
        await until(pilot, lambda: slow.commands[3:] == [TrainOnText("abcd")])
        assert notes_of(app) == []
        assert app.main.corpus.edited
        slow.answer(Cancelled())
        await until(pilot, lambda: notes_of(app) == ["stopped"])
        for text, said in (("abcde", ["é: not in the alphabet"]), ("abcdef", [])):
            app.clear_notifications()
            await pilot.press(text[-1])
            await until(pilot, lambda text=text: slow.commands[-1] == TrainOnText(text))  # type: ignore[misc]
            slow.answer(TokentuiError("not in the alphabet", "é"))
            await settled(pilot)
            assert notes_of(app) == said
        await pilot.press("g")
        await until(pilot, lambda: slow.commands[-1] == TrainOnText("abcdefg"))


@pytest.mark.slow
async def test_esc_ends_it_at_once_and_e_comes_back_to_the_same_text() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await editing(app, session, pilot)
        await pilot.press("x")
        session.show(busy=Busy("counting", 1, 2), corpus_name="scratch")
        await pilot.press("escape", "n")
        await until(pilot, lambda: session.of(Move))
        assert session.of(CancelWork) == []
        assert app.focused is app.main.text
        await until(pilot, lambda: "1 Corpus · scratch" in screen_text(app))
        await pilot.press("t", "y")
        await until(pilot, lambda: session.of(TrainOnText)[-1:] == [TrainOnText("xy" + TEXT)])
        assert len(session.of(CorpusText)) == 1
        await pilot.press("ctrl+t")
        await until(pilot, lambda: session.of(TrainOnText)[-1] == TrainOnText("x" + TEXT))
        await pilot.press("ctrl+y")
        await until(pilot, lambda: session.of(TrainOnText)[-1] == TrainOnText("xy" + TEXT))


async def test_a_text_that_was_not_changed_is_asked_for_again_and_its_window_where_it_is_seen() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await editing(app, session, pilot, "other")
        await pilot.press("escape")
        await until(pilot, lambda: app.main.context == "corpus")
        assert "scratch" not in screen_text(app)
        await editing(app, session, pilot)
        assert text_of(app) == TEXT
        assert session.of(TrainOnText) == []
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.corpus_chars == 0)
        session.show(corpus=view(TEXT))
        await settled(pilot)
        assert session.of(SetViewport)[-1].viewport.corpus_chars == 0
        await pilot.press("down", "down", "x", "escape")
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.corpus_chars > 0)
        assert session.of(SetViewport)[-1].viewport.corpus == CorpusPlace(0, TEXT.index("\n\n") + 1)


async def test_the_editor_begins_where_the_corpus_is_looked_at() -> None:
    app, session = explorer()
    text = "".join(f"line {n}\n" for n in range(200))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        session.show(corpus=view(text))
        await until(pilot, lambda: "line·1" in screen_text(app).replace("│", ""))
        await pilot.press(*["pagedown"] * 3)
        top = app.main.text.top_place
        assert top.offset > 0
        await editing(app, session, pilot, text)
        row = text[: top.offset].count("\n")
        await until(pilot, lambda: f"line {row + 1} of 201" in screen_text(app))
        await until(pilot, lambda: f"line {row} " in screen_text(app).splitlines()[2])


async def test_another_pane_can_be_used_meanwhile_and_keeps_its_rows() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await editing(app, session, pilot)
        await pilot.press("tab", "n", *["down"] * 5)
        await until(pilot, lambda: session.of(Move) == [Move(1)])
        assert app.main.active == "pairs"
        assert app.main.corpus.editing
        await pilot.press("1", "n")
        await until(pilot, lambda: session.of(TrainOnText) == [TrainOnText("n" + TEXT)])
        session.show(corpus_name="scratch", corpus_bytes=5)
        await until(pilot, lambda: "scratch" in screen_text(app).splitlines()[0])
        assert app.main.pairs.cursor == 5
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    assert session.closed


async def test_a_corpus_that_cannot_be_edited_says_so_and_an_empty_text_is_offered() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await settled(pilot)
        session.answers[CorpusText] = TokentuiError("counted words are no text to be edited", "a\x1bb")
        await pilot.press("t")
        await until(pilot, lambda: "t again: start with an empty text" in screen_text(app))
        assert "counted words are no text" in screen_text(app)
        assert all(is_safe(line) for line in screen_text(app).splitlines())
        assert not app.main.corpus.editing
        await pilot.press("t")
        await until(pilot, lambda: app.main.context == "editor")
        assert session.of(TrainOnText) == []
        assert len(session.of(CorpusText)) == 1
        await pilot.press("x")
        await until(pilot, lambda: session.of(TrainOnText) == [TrainOnText("x")])


async def choose_corpus(app: ExplorerApp, pilot: Any, slow: Slow) -> None:
    """Open another corpus with the dialog."""
    await pilot.press("tab", "o")
    await until(pilot, lambda: isinstance(app.screen, OpenScreen))
    app.screen.dismiss(Open(("books.txt",)))
    await until(pilot, lambda: slow.commands and isinstance(slow.commands[-1], Open))


@pytest.mark.slow
async def test_opening_a_corpus_ends_it_and_sends_nothing_more() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await editing(app, session, pilot, "")
        slow = Slow(app)
        await typed(app, pilot, "ab")
        await choose_corpus(app, pilot, slow)
        assert [type(command) for command in slow.commands] == [TrainOnText, TrainOnText, Open]
        assert not app.main.corpus.editing
        slow.answer()
        await until(pilot, lambda: app.main.corpus._editor is None)
        assert len(slow.commands) == 3
        assert notes_of(app) == []
        await pilot.press("1")
        await editing(app, session, pilot, "books")
        assert text_of(app) == "books"


@pytest.mark.slow
async def test_a_corpus_that_cannot_be_opened_leaves_what_was_typed() -> None:
    app, session = explorer()
    async with app.run_test(size=(100, 30)) as pilot:
        await editing(app, session, pilot, "")
        slow = Slow(app)
        await typed(app, pilot, "ab")
        await choose_corpus(app, pilot, slow)
        slow.answer(TokentuiError("no such file", "books.txt"))
        await until(pilot, lambda: slow.commands[-1] == TrainOnText("ab"))
        assert notes_of(app) == ["books.txt: no such file"]
        assert app.main.corpus.edited


def with_session(source: str) -> tuple[ExplorerApp, Callable[[], Session]]:
    """An app on a session that trains."""
    held: list[Session] = []

    def factory(publish: Any) -> Session:
        held.append(Session(publish, Recipe(), Run.of({})))
        return held[0]

    return ExplorerApp(
        factory, begin=lambda session: session.send(do.Open((source,))), boundaries="bars"
    ), lambda: held[0]


async def test_all_panes_follow_what_is_typed() -> None:
    app, session = with_session("sample:woodchuck")

    def now() -> Any:
        return app.main.snapshot

    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: now() and now().main.at.distinct and session().idle.is_set())
        await pilot.press("n", "n", "t")
        await until(pilot, lambda: app.main.context == "editor")
        before = text_of(app)
        app.post_message(events.Paste("zq" * 300 + "\r"))
        await until(pilot, lambda: now().corpus.name == "scratch" and session().idle.is_set())
        assert now().main.at.step == 2
        assert (now().main.at.last.left, now().main.at.last.right) == (b"zq", b"zq")
        assert now().corpus.bytes == len(before.encode()) + 601
        await until(pilot, lambda: "zq+zq" in screen_text(app))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: now().corpus.bytes == len(before.encode()) and session().idle.is_set())
        assert b"zq" not in (now().main.at.last.left, now().main.at.last.right)
        await pilot.press("f7", "delete")
        await until(pilot, lambda: now().corpus.bytes == 0 and session().idle.is_set())
        await until(pilot, lambda: "the corpus is empty" in screen_text(app))
        await pilot.press(*"abab", "escape")
        await until(pilot, lambda: now().corpus.bytes == 4 and session().idle.is_set())
        await until(pilot, lambda: "│abab " in screen_text(app).splitlines()[2])  # two merges: ab, abab
        assert "scratch · 4 B" in screen_text(app)


@pytest.mark.pty
@pytest.mark.slow
def test_hostile_text_is_edited_in_a_terminal_and_never_acts(tmp_path: Path) -> None:
    path = tmp_path / "hostile.txt"
    path.write_bytes(
        b"ab\x1b]0;title\x07 \x1b[2J \xe2\x80\xae \x9b31m\xc2\x9b\x00\x08 [/] "
        b"[@click=app.quit]q[/]\n\tx\x0c\r\n"
    )
    with Terminal(str(path), "-r", "gpt2", columns=100, rows=30) as terminal:
        terminal.until(lambda text: "pairs: 30" in text)
        terminal.press("t")
        terminal.until(lambda text: "editing" in text)
        # a letter, to the end, down, cut the line, paste it, take that back
        terminal.press("x\x1b[F\x1b[B\x18\x16\x14")
        terminal.press(b"\x1b[200~\x1b]0;pasted\x07\r\x1b[201~")
        terminal.until(lambda text: "]0;pasted" in text and "scratch" in text.splitlines()[0])
        terminal.press("\x03")
        assert terminal.end() == 0
        written = bytes(terminal.written).replace(b"\x1b]22;default\x07", b"")
        for wrong in (b"\x1b]0;", b"\x1b[2J ", b"\x00", b"\x08", b"\x0c", "\u202e".encode(), b"\xc2\x9b"):
            assert wrong not in written
