"""The corpus pane scrolls through a window of the text, asks for more in time, and never draws what acts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from rows import pair_row, token_row
from screens import explorer, screen_text, snapshot, view
from waiting import notes_of, settled, strips_of, until

from tokentui.core.safetext import is_safe
from tokentui.learn import Why
from tokentui.session.commands import Find, FindChanged, FindTokens, Move, SetViewport
from tokentui.session.views import CorpusPart, CorpusPlace, CorpusView, EncodedView, Found, TokenSpan
from tokentui.ui.app import ExplorerApp
from tokentui.ui.draw.text import cell_len, clusters_of

LINES = 400
LONG = "".join(f"line {n:04} of the text that is long\n" for n in range(LINES))
WHOLE = view(LONG)
HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eevil\u202c [/] [bold]x[/bold] [@click=app.quit]q[/] "
    "\x00\x0e\x7f \u200b\u2066\ufeff"
    " \udc80\udcff \ud800 \U000e0041 👩‍👩‍👧 ❤️ 🇫🇷 1️⃣ क्ष \u2028\u2029 "
    "e\u0301\u0301\u0301\u0301\u0301\u0301\r\n\t§ [/"
)


def window(place: CorpusPlace, chars: int, before: int) -> CorpusView:
    """What a session answers: whole lines from some before the place on."""
    start = max(0, LONG.rfind("\n", 0, max(0, min(place.offset, len(LONG)) - before)) + 1)
    end = start + chars + before
    at = place.offset if place.document == 0 else len(LONG)
    parts = tuple(part for part in WHOLE.parts if start <= part.place.offset < end)
    return CorpusView(
        CorpusPlace(0, min(at, len(LONG))), parts, start == 0, end >= len(LONG),
        min(at, len(LONG)) / len(LONG), len(LONG),
    )


class Answering:
    """Publishes the window that was asked for last, as a session does."""

    def __init__(self, app: Any, session: Any) -> None:
        self.app, self.session, self.seen = app, session, 0

    async def settle(self, pilot: Any) -> None:
        """Answer until nothing more is asked."""
        await pilot.pause()
        for _ in range(20):
            asked = self.session.of(SetViewport)[self.seen :]
            if not asked:
                return
            self.seen += len(asked)
            look = asked[-1].viewport
            place = look.corpus if look.corpus.document == 0 else CorpusPlace(0, len(LONG))
            self.session.show(corpus=window(place, look.corpus_chars, look.corpus_before))
            version = int(self.session.version)
            await until(pilot, partial(self.shows, version))
            await pilot.pause()
        raise AssertionError("it asks for ever")

    def shows(self, version: int) -> bool:
        """Whether the screen shows this snapshot."""
        return bool(self.app.main.snapshot.version == version)

    def top(self) -> int:
        """The number of the line at the top of the pane."""
        row = next(line for line in screen_text(self.app).splitlines() if "line·" in line)
        return int(row.split("line·")[1][:4])


async def test_the_title_says_where_the_top_row_is_and_another_corpus_begins_at_its_beginning() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.show(corpus=window(CorpusPlace(), 8000, 2000))
        await until(pilot, lambda: "line·0000" in screen_text(app))
        assert app.main.corpus.titles[1] == "0 %"
        app.main.text.scroll_to_row(40)  # the text is held: no other window comes
        await until(pilot, lambda: app.main.corpus.titles[1] == "10 %")
        answering = Answering(app, session)
        await pilot.press("end")
        await answering.settle(pilot)
        assert app.main.corpus.titles[1] == "100 %"
        session.show(corpus_name="other.txt", corpus=window(CorpusPlace(), 4000, 2000))
        await until(pilot, lambda: "other.txt" in screen_text(app))
        assert answering.top() == 0


@pytest.mark.slow
async def test_scrolling_reaches_every_line_once() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.show(corpus=window(CorpusPlace(), 4000, 2000))
        answering = Answering(app, session)
        await answering.settle(pilot)
        seen = [answering.top()]
        while seen[-1] < LINES - app.main.text.size.height:
            await pilot.press("pagedown")
            await answering.settle(pilot)
            assert seen[-1] < answering.top() <= seen[-1] + app.main.text.size.height - 1
            seen.append(answering.top())
        assert f"line·{LINES - 1:04}" in screen_text(app)
        await pilot.press("pageup", "up")
        await answering.settle(pilot)
        assert answering.top() == seen[-1] - app.main.text.size.height
        await pilot.press("home")
        await answering.settle(pilot)
        assert answering.top() == 0
        assert app.main.corpus.titles[1] == "0 %"
        await pilot.press("end")
        await answering.settle(pilot)
        assert f"line·{LINES - 1:04}" in screen_text(app)
        assert app.main.corpus.titles[1] == "100 %"


@pytest.mark.slow
async def test_the_top_row_stays_while_steps_and_sizes_change() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.show(corpus=window(CorpusPlace(), 4000, 2000))
        answering = Answering(app, session)
        await answering.settle(pilot)
        await pilot.press(*["down"] * 17)
        await answering.settle(pilot)
        assert answering.top() == 17
        for width, height in ((200, 60), (80, 24), (120, 40)):
            await pilot.resize_terminal(width, height)
            await answering.settle(pilot)
            assert answering.top() == 17
        session.show(step=129, corpus=window(CorpusPlace(), 4000, 2000))
        await answering.settle(pilot)
        assert answering.top() == 17


async def test_a_place_that_is_not_held_is_asked_for_and_shown() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        session.show(corpus=window(CorpusPlace(), 4000, 2000))
        answering = Answering(app, session)
        await answering.settle(pilot)
        session.answers[FindChanged] = CorpusPlace(0, LONG.index("line 0333"))
        await pilot.press("f")
        await answering.settle(pilot)
        height = app.main.text.size.height
        assert answering.top() == 333 - height // 3
        # What is seen already does not move.
        session.answers[Find] = Found(CorpusPlace(0, LONG.index("line 0334")), 1, 1)
        app.main.sought = ("corpus", "line 0334")
        await pilot.press("full_stop")
        await answering.settle(pilot)
        await until(pilot, lambda: app.main.text.found == (CorpusPlace(0, LONG.index("line 0334")), 9))
        assert answering.top() == 333 - height // 3


async def test_what_the_next_step_merges_is_underlined_and_in_view() -> None:
    """A place that is seen moves nothing. Else the pane goes to the next one, or asks where it is."""

    def letters(place: CorpusPlace, chars: int, before: int) -> CorpusView:
        shown = window(place, chars, before)
        parts = [part._replace(tokens=tuple(
            TokenSpan(n, n + 1, False, False, 0, char.encode()) for n, char in enumerate(part.text)
        )) for part in shown.parts]
        return replace(shown, parts=tuple(parts))

    def underlined() -> str:
        text = app.main.text
        assert text.layout_held is not None
        rows = (text.layout_held.row(row) for row in range(text.top, text.top + text.size.height))
        return "".join(shown for row in rows for shown, style in row if "coming" in style)

    def announce(at: CorpusPlace, *parts: bytes) -> CorpusView:
        shown = letters(at, 4000, 2000)
        session.show(corpus=shown, coming=parts)
        return shown

    app, session = explorer("chips")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        session.show(corpus=letters(CorpusPlace(), 4000, 2000))
        await settled(pilot)
        height, text = app.main.text.size.height, app.main.text
        announce(CorpusPlace(), b"x", b"t")
        await until(pilot, lambda: underlined() == "xt" * height)
        assert text.top == 0
        announce(CorpusPlace())
        await until(pilot, lambda: underlined() == "")
        announce(CorpusPlace(), b"6", b"6")
        await until(pilot, lambda: "0066" in screen_text(app))
        assert (underlined(), text.top) == ("66", 66 - height // 3)
        announce(CorpusPlace(), b"6", b"7")
        await until(pilot, lambda: underlined() == "67")
        assert text.top == 66 - height // 3
        session.answers[FindTokens] = CorpusPlace(0, LONG.index("line 0333") + 6)
        announce(CorpusPlace(), b"0", b"3", b"3")
        await until(pilot, lambda: session.of(FindTokens) and session.of(SetViewport))
        found = session.answers[FindTokens]
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.corpus == found)
        announce(found, b"0", b"3", b"3")
        await until(pilot, lambda: "0333" in screen_text(app))
        await until(pilot, lambda: underlined() == "033" * 10)
        assert session.of(FindTokens)[-1].parts == (b"0", b"3", b"3")
        await pilot.press("enter")
        await until(pilot, lambda: text.cursor is not None)
        top = text.top
        announce(found, b"0", b"2")
        await until(pilot, lambda: text.coming == (b"0", b"2"))
        assert text.top == top


def is_wide(app: ExplorerApp, width: int) -> bool:
    """Whether the screen has so many columns."""
    return app.screen.size.width == width


@pytest.mark.slow
async def test_hostile_data_draws_nothing_that_acts() -> None:
    """In each pane, with each kind of glyphs, as chips, by shades and with bars."""
    app, session = explorer("chips", typed=HOSTILE.replace("\n", ""))
    data = HOSTILE.encode("utf-8", "surrogatepass")
    row = pair_row(data, data[:7], data + data[:7], 3, 0, True, True)
    tokens = tuple(TokenSpan(n, n + 1, n % 3 == 0, False) for n in range(len(HOSTILE)))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        session.show(
            corpus_name=HOSTILE, notes=(HOSTILE,), pairs=(row,), pairs_total=1, last=row,
            why=Why(row, row, 2, 3, HOSTILE, None),
            vocabulary=(
                token_row(0, data, "special", None, None, None), token_row(1, data[3:9], "merge", 1, 2, 3),
            ),
            corpus=CorpusView(CorpusPlace(), (CorpusPart(CorpusPlace(), HOSTILE, tokens),), True, True, 0.0),
            encoding=EncodedView(HOSTILE, (), 9, HOSTILE),
        )
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.corpus.name == HOSTILE)
        await pilot.pause()
        for size in ((120, 40), (80, 24), (40, 12), (20, 5)):
            await pilot.resize_terminal(*size)
            for key in ("1", "2", "3", "4", "escape", *("s", "v") * 6):
                await pilot.press(key)
                await pilot.pause()
                await until(pilot, partial(is_wide, app, size[0]))
                for strip in strips_of(app):
                    assert strip.cell_length == size[0]
                    for text, style, control in strip:
                        assert is_safe(text), ascii(text)
                        assert control is None
                        assert cell_len(text) == sum(columns for _, columns in clusters_of(text))
                        assert style is None or (not style.link and "@click" not in style.meta)
        assert app.is_running


async def test_the_arrows_move_the_cursor_of_the_corpus_at_once() -> None:
    """And a snapshot that comes late is left out."""
    app, session = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        session.show()
        await settled(pilot)
        session.sent.clear()
        assert app.main.text.cursor is None
        await pilot.press("right")
        await until(pilot, lambda: app.main.text.cursor is not None)
        first = app.main.text.under_cursor
        assert first is not None
        await pilot.press("right", "right", "left")
        await until(pilot, lambda: app.main.text.under_cursor not in (None, first))
        assert session.of(Move) == []
        told = [note for note in notes_of(app) if "n and b step" in note]
        assert len(told) == 1
        await pilot.press("escape", "2", "right")  # in another pane they step
        await until(pilot, lambda: [command.steps for command in session.of(Move)] == [1])
        session.show(version=50, step=200)
        await until(pilot, lambda: app.main.snapshot and app.main.snapshot.main.at.step == 200)
        app.main.show(snapshot(version=49, step=3))
        assert app.main.snapshot is not None
        assert app.main.snapshot.main.at.step == 200
