"""The editor of the corpus: what is typed is kept exactly, whatever it holds, and nothing of it acts."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.app import App, ComposeResult
from textual.document._wrapped_document import WrappedDocument
from waiting import notes_of, screen_text, settled, strips_of, until

from tokentui.core.safetext import is_safe
from tokentui.thinwire import CLIPBOARD_BYTES
from tokentui.ui.app import ExplorerApp
from tokentui.ui.panes import editor as editor_module
from tokentui.ui.panes.editor import CorpusEditor, ExactText, refusal

ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 \x9b2J\tx \u202eevil\u202c [/] [bold]x "
    "\udc80\udcff\r\nend\x0c\x85\u2028👩‍👧 e\u0301 語\u3000\x00"
)
TEXTS = st.text(st.sampled_from("ab \n\r\t語\x1b\udc80" + ENDS), max_size=30)
PLACES = st.tuples(st.integers(0, 12), st.integers(0, 12))


def offset(document: ExactText, place: tuple[int, int]) -> int:
    """How many characters stand before a place."""
    lines = document.text.split("\n")
    return sum(len(line) + 1 for line in lines[: place[0]]) + place[1]


@given(TEXTS, st.lists(st.tuples(PLACES, PLACES, TEXTS), max_size=6))
def test_a_text_is_kept_exactly_through_every_edit(text: str, edits: list[tuple[Any, Any, str]]) -> None:
    document = ExactText(text)
    for start, end, new in edits:
        before = document.text
        places = [(min(row, document.line_count - 1), column) for row, column in (start, end)]
        first, last = sorted((row, min(column, len(document.get_line(row)))) for row, column in places)
        at, to = offset(document, first), offset(document, last)
        assert document.get_text_range(last, first) == before[at:to]
        result = document.replace_range(first, last, new)
        assert result.replaced_text == before[at:to]
        assert document.text == before[:at] + new + before[to:]
        assert offset(document, result.end_location) == at + len(new)
    exact = document.text.split("\n")
    assert list(map(len, document.lines)) == list(map(len, exact))
    assert all(
        is_safe(shown) and (shown == line or not is_safe(line))
        for shown, line in zip(document.lines, exact, strict=True)
    )


def test_a_place_behind_the_end_is_the_end() -> None:
    document = ExactText("one\ntwo")
    assert document.replace_range((1, 0), (2, 0), "").replaced_text == "two"
    assert document.text == "one\n"


class EditorApp(App[None]):
    """Holds an editor, and no guard: what it lets through is seen."""

    CSS = "CorpusEditor { border: none; padding: 0; }"

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.changes = text, 0

    def compose(self) -> ComposeResult:
        yield CorpusEditor(self.text, self.changed)

    def changed(self) -> None:
        """Count it."""
        self.changes += 1

    @property
    def editor(self) -> CorpusEditor:
        """The editor."""
        return self.query_one(CorpusEditor)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("width", [7, 80])
async def test_hostile_text_is_drawn_as_what_it_is_and_comes_back_as_it_was(width: int) -> None:
    app = EditorApp(HOSTILE)
    async with app.run_test(size=(width, 12)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.focused is app.editor)
        assert app.changes == 0
        for column in range(0, len(HOSTILE) + 4, 4):
            app.editor.move_cursor_relative(columns=min(4, len(HOSTILE) - column))
            await pilot.pause()
            assert all(is_safe(line) for line in screen_text(pilot).split("\n"))
            assert all(strip.cell_length == width for strip in strips_of(app))
        await pilot.press(*["right"] * 5, *["down"] * 40, "end")
        assert app.editor.cursor_location == app.editor.document.end
        assert app.editor.text == HOSTILE
        await pilot.press("x", "backspace")
        await until(pilot, lambda: app.changes == 2)
        assert app.editor.text == HOSTILE


async def test_undo_and_redo_go_through_the_same_texts_however_it_was_edited() -> None:
    rng = random.Random(5)
    app = EditorApp("one line that is longer than the editor is wide\nanother\n\n")
    async with app.run_test(size=(20, 6)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.focused is app.editor)
        editor = app.editor
        texts = [editor.text]
        for _ in range(30):
            rows = [rng.randrange(editor.document.line_count) for _ in range(2)]
            start, end = sorted((row, rng.randint(0, len(editor.document.get_line(row)))) for row in rows)
            typed = rng.choice(["", "a word ", "\n", "x\ny\x1b\nz", "語語語語語語語語語語語語"])
            editor.replace(typed, start, end)
            editor.history.checkpoint()
            if editor.text != texts[-1]:
                texts.append(editor.text)

        def wrapped_as_it_is() -> bool:
            fresh = WrappedDocument(editor.document, editor.wrap_width, editor.indent_width)
            return fresh.lines == editor.wrapped_document.lines

        for press, way in (("ctrl+t", texts[-2::-1]), ("ctrl+y", texts[1:])):
            for wanted in way:
                for _ in range(30):  # an edit that changed nothing is one to be taken back as well
                    await pilot.press(press)
                    if editor.text == wanted:
                        break
                assert editor.text == wanted
                assert wrapped_as_it_is()


async def test_a_paste_has_the_line_ends_of_a_text() -> None:
    app = EditorApp("")
    async with app.run_test() as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.focused is app.editor)
        app.post_message(events.Paste("one\rtwo\r\nthree\tfour"))
        await until(pilot, lambda: app.editor.text == "one\ntwo\nthree\tfour")
        assert app.editor.cursor_location == (2, 10)
        assert app.editor.position == "line 3 of 3"
        assert app.editor.line_offset == 8


def test_what_would_hold_up_each_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor_module, "MOST_EDITED", 10)
    monkeypatch.setattr(editor_module, "LONGEST_LINE", 4)
    assert "10 characters" in refusal("abc", 8)
    assert refusal("a", 10) == ""
    assert refusal("ab\ncd", 0) == ""
    assert "4 characters" in refusal("abcde\n", 0)


async def test_a_paste_that_is_too_large_changes_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor_module, "MOST_EDITED", 10)
    app = EditorApp("12345678")
    async with app.run_test(notifications=True) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.focused is app.editor)
        app.post_message(events.Paste("abc"))
        await until(pilot, lambda: any("cannot be edited" in note for note in notes_of(app)))
        assert app.editor.text == "12345678"
        await pilot.press("x")
        await until(pilot, lambda: app.editor.text == "x12345678")


async def test_the_cursor_goes_to_a_place_in_the_text() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    app = EditorApp(text)
    async with app.run_test(size=(30, 8)) as pilot:
        await settled(pilot)
        await until(pilot, lambda: app.focused is app.editor)
        app.editor.go_to(text.index("line 40") + 2)
        await until(pilot, lambda: screen_text(pilot).startswith("line 40"))
        assert app.editor.cursor_location == (40, 2)
        app.editor.go_to(len(text) + 5)
        assert app.editor.cursor_location == (99, 7)


async def test_what_is_cut_is_pasted_as_it_was_and_only_text_reaches_the_terminal() -> None:
    app = ExplorerApp(lambda publish: None)  # type: ignore[arg-type, return-value]
    written: list[str] = []

    class Driver:
        def write(self, data: str) -> None:
            written.append(data)

    app._driver = Driver()  # type: ignore[assignment]
    app.copy_to_clipboard("a\udc80\x1b")
    assert app.clipboard == "a\udc80\x1b"
    assert len(written) == 1
    assert is_safe(written[0][1:-1])
    long = "x" * (CLIPBOARD_BYTES + 1)
    app.copy_to_clipboard(long)
    assert app.clipboard == long
    assert len(written) == 1
