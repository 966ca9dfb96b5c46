"""Those who follow a session: they see it as it is now, cannot act, and hold up nothing."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from running_cli import refused
from terminal import Terminal, assert_restored
from waiting import PATIENCE

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.session.sharing import READY, Address, Cells, Colour, asking, colour_of, frame_of
from tokentui.ui.following import FollowApp, _segment
from tokentui.ui.terminal.picture import PLAIN, Pen, Picture, Row
from tokentui.ui.terminal.share import Share

TOKEN = "our-lesson"
BLUE = Pen(1, "38;5;33", "48;2;1;2;3")


def picture(*lines: str, width: int = 12) -> Picture:
    """A picture of lines."""
    made = Picture(width, len(lines), ColorSystem.TRUECOLOR)
    for y, line in enumerate(lines):
        made.rows[y] = Row(list(line.ljust(width)), [PLAIN] * width)
    return made


@asynccontextmanager
async def sharing() -> AsyncIterator[Share]:
    """A screen that may be followed."""
    share = Share(*Address("127.0.0.1", 0, TOKEN).listen())
    await share.start()
    try:
        yield share
    finally:
        await share.close()


class Follower:
    """A follower that keeps what it was told."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.lines: dict[int, str] = {}
        self.size = (0, 0)

    async def next(self) -> None:
        """Take the next picture."""
        frame = frame_of(await asyncio.wait_for(self.reader.readline(), PATIENCE))
        self.size = frame.columns, frame.rows
        for y, runs in frame.changed.items():
            self.lines[y] = "".join(text for run in runs for text in run.texts).rstrip()

    async def until(self, *lines: str) -> None:
        """Take pictures until these lines are seen."""
        while [self.lines.get(y) for y in range(len(lines))] != list(lines):
            await self.next()


@asynccontextmanager
async def following(share: Share, token: str = TOKEN) -> AsyncIterator[Follower]:
    """A follower."""
    reader, writer = await asyncio.open_connection("127.0.0.1", share.address.port, limit=1 << 24)
    writer.write(asking(token))
    try:
        if token == TOKEN:
            assert await reader.readline() == READY
        yield Follower(reader, writer)
    finally:
        writer.transport.abort()


async def test_one_who_comes_late_sees_the_present_state() -> None:
    async with sharing() as share, following(share) as early:
        share.show(picture("one", "two"), (0, 0))
        await early.until("one", "two")
        now = picture("one", "three")
        now.changed = {1}
        share.show(now, (3, 1))
        await early.until("one", "three")
        async with following(share) as late:
            await late.next()
            assert late.lines == {0: "one", 1: "three"}
            share.show(picture("larger", "", "than before", width=20), (0, 0))
            await late.until("larger", "", "than before")
            assert late.size == (20, 3)


async def test_only_rows_that_have_changed_go_over_the_line() -> None:
    async with sharing() as share, following(share) as one:
        share.show(picture("one", "two"), (0, 0))
        await one.until("one", "two")
        now = picture("one", "2")
        now.changed = {0, 1}  # drawn again, as it was
        share.show(now, (0, 0))
        one.lines.clear()
        await one.next()
        assert one.lines == {1: "2"}
        share.show(now, (5, 1))  # the cursor alone
        line = await asyncio.wait_for(one.reader.readline(), PATIENCE)
        assert frame_of(line) == (12, 2, (5, 1), {})


async def test_who_is_slow_or_vanishes_holds_up_nobody() -> None:
    async with sharing() as share, following(share), following(share) as quick:
        # The first takes nothing at all, and the system does not hold back so much for it.
        begun = time.process_time()
        for number in range(60):
            share.show(picture(*[f"{number} {y}" for y in range(200)], width=200), (0, 0))
            await asyncio.sleep(0)
        assert time.process_time() - begun < 30
        await quick.until(*[f"59 {y}" for y in range(200)])
        async with following(share) as gone:
            gone.writer.transport.abort()
        share.show(picture("on it goes"), (0, 0))
        await quick.until("on it goes")


async def test_a_wrong_token_sees_nothing() -> None:
    async with sharing() as share:
        share.show(picture("secret"), (0, 0))
        for token in ("other-lesson", "", TOKEN + "x", "x" * 5000, TOKEN[:-1]):
            async with following(share, token) as one:
                if token == "":
                    one.writer.write_eof()
                assert await asyncio.wait_for(one.reader.read(), PATIENCE) == b""
        assert share.followers == 0


async def test_what_a_follower_says_is_not_read() -> None:
    async with sharing() as share, following(share) as one:
        one.writer.write(b"q\n" * 100_000)
        share.show(picture("still here"), (0, 0))
        await one.until("still here")


def test_styles_come_through() -> None:
    row = Row(["a", "b", "👩‍👩‍👧", ""], [PLAIN, BLUE, BLUE, BLUE])
    share = Share(socket.socket(), Address("127.0.0.1", 0, TOKEN))
    made = Picture(4, 1, ColorSystem.TRUECOLOR)
    made.rows[0] = row
    share.show(made, (1, 0))
    frame = frame_of(share._line(-1))
    styled = Cells(("b", "👩‍👩‍👧", ""), 1, "38;5;33", "48;2;1;2;3")
    assert frame.changed == {0: (Cells(("a",), 0, "", ""), styled)}
    assert colour_of("38;5;33") == Colour(33)
    assert colour_of("48;2;1;2;3") == Colour(-1, 1, 2, 3)
    assert [colour_of(one) for one in ("31", "41", "94", "107", "")] == [
        Colour(1), Colour(1), Colour(12), Colour(15), None]
    share._listening.close()


@pytest.mark.parametrize("line", [
    b"", b"x", b"[]", b"{}", b'{"size":[0,1],"cursor":[0,0],"rows":{}}', b"[" * 100_000,
    b'{"size":[80,24],"cursor":[0,0],"rows":{"0":[[["a"],0,"31m\\u001b[2J",""]]}}',
    b'{"size":[80,24],"cursor":[0,0],"rows":{"x":[]}}', b'{"size":[80,99999],"cursor":[0,0],"rows":{}}',
    b'{"size":[80,24],"cursor":[0,0],"rows":{"0":[[["a"],0,"38;5;256",""]]}}',
    b'{"size":[80,24],"cursor":[0,0],"rows":{"0":[[["a"],"0","",""]]}}', b"\xff\xfe",
])
def test_what_is_no_picture_is_refused(line: bytes) -> None:
    with pytest.raises(TokentuiError, match="no picture of a session"):
        frame_of(line)


@given(st.text(max_size=20))
def test_nothing_that_comes_acts_on_the_terminal(text: str) -> None:
    row = [[[text], 0, "", ""]]
    frame = frame_of(json.dumps({"size": [40, 1], "cursor": [0, 0], "rows": {"0": row}}).encode())
    assert all(is_safe(segment.text) for segment in map(_segment, frame.changed[0]))


@pytest.mark.parametrize("text", [
    "", "x", "127.0.0.1:8765", "127.0.0.1:8765/short", "8765/our-lesson", "127.0.0.1:99999/our-lesson",
    "127.0.0.1:8765/our lesson", "a b:1/our-lesson", "127.0.0.1:8765/our-lesson/x", "\x1b[2J:1/our-lesson",
])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert "not an address" in refused("follow", text)


def test_addresses() -> None:
    assert str(Address.of("127.0.0.1:8765/our-lesson")) == "127.0.0.1:8765/our-lesson"
    assert Address.of("[::1]:8765/our-lesson") == Address("::1", 8765, TOKEN)
    assert str(Address("::1", 8765, TOKEN)) == "[::1]:8765/our-lesson"
    made = Address.of("8765", made=True)
    assert (made.host, made.port) == ("127.0.0.1", 8765)
    assert len(made.token) >= 16
    assert made.token != Address.of("8765", made=True).token


def test_who_is_not_there_cannot_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TokentuiError, match="cannot listen: address already in use"):
            Address("127.0.0.1", port, TOKEN).listen()
    with pytest.raises(TokentuiError, match="cannot be followed: connection refused"):
        Address("127.0.0.1", port, TOKEN).follow()


async def test_a_follower_draws_what_it_is_shown() -> None:
    async with sharing() as share:
        share.show(picture("hello", "world", width=30), (0, 0))
        line = await asyncio.to_thread(share.address.follow)
        app = FollowApp(line)
        async with app.run_test(size=(30, 2)) as pilot:
            await _until(lambda: _seen(app) == ["hello", "world"])
            await pilot.press("n", "left", "x")
            await pilot.resize_terminal(12, 2)
            await _until(lambda: app.watched.cut and _seen(app)[1].startswith(" a part of"))
            share.show(picture("hello", "again", width=12), (0, 0))
            await _until(lambda: _seen(app) == ["hello", "again"])
            await share.close()
            await _until(lambda: app.ended)


def _seen(app: FollowApp) -> list[str]:
    return [app.watched.render_line(y).text.rstrip() for y in range(app.watched.size.height)]


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - what is drawn tells nobody
            await asyncio.sleep(0.01)


@pytest.mark.pty
def test_a_class_watches_its_teacher_in_terminals() -> None:
    shown = re.compile(rb"tokentui follow (127\.0\.0\.1:\d+/our-lesson)")
    with Terminal("sample:hugs", "-r", "gpt2", "--share", f"0/{TOKEN}", columns=90, rows=26) as teacher:
        teacher.until(lambda text: "step 0" in text and shown.search(bytes(teacher.written)) is not None)
        found = shown.search(bytes(teacher.written))
        assert found is not None
        address = found[1].decode()
        teacher.press("nn")
        teacher.until(lambda text: "step 2" in text)
        with Terminal("follow", address, columns=90, rows=26) as late:
            late.until(lambda text: "step 2" in text and "4 Encode" in text)
            late.press("nb")  # keys of the explorer, not of a follower
            teacher.press("o")
            teacher.until(lambda text: "Built in" in text)
            late.until(lambda text: "Built in" in text)  # dialogs too
            late.press("q")
            assert late.end() == 0
            assert_restored(late)
            teacher.press("\x1b")
            teacher.until(lambda text: "Built in" not in text and "step 2" in text)
        with Terminal("follow", environment={"TOKENTUI_FOLLOW": address}, columns=90, rows=26) as other:
            other.until(lambda text: "step 2" in text)
            teacher.press("q")
            assert teacher.end() == 0
            assert other.end() == 0
            assert b"the session has ended" in other.written
            assert_restored(other)
