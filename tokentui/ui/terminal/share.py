"""A screen that others follow: its pictures go to whoever has the token, as each can take them."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import itertools
import json
import socket
from collections.abc import Iterator

from tokentui.core.jobs import seen
from tokentui.session.sharing import PATIENCE_S, READY, Address, asking
from tokentui.ui.terminal.picture import Picture, Row

PACE_S = 0.04
"""The least time between two pictures for one follower."""
STALLED_S = 30.0
"""Seconds after which a follower that takes nothing is sent away."""
MOST_FOLLOWERS = 200


class Share:
    """Hands out pictures. A follower gets the newest one when it has taken the last: one that is slow misses
    some, and holds up neither the session nor others. What a follower says is not read.

    Args:
        listening: The socket that is listened on.
        address: The address of the session.
    """

    def __init__(self, listening: socket.socket, address: Address) -> None:
        self.address = address
        self._listening = listening
        self._size = self._cursor = (0, 0)
        self._rows: list[tuple[int, str]] = []
        """Each row as JSON, with the number of the picture that changed it last."""
        self._number = 0
        self._new = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._telling: asyncio.Task[None] | None = None
        self._lines: set[asyncio.Task[None]] = set()

    @property
    def followers(self) -> int:
        """The number of those who are on the line."""
        return len(self._lines)

    async def start(self) -> None:
        """Begin to take followers."""
        self._server = await asyncio.start_server(self._take, sock=self._listening, limit=1 << 10)

    async def close(self) -> None:
        """Send all away."""
        if self._server is not None:
            self._server.close()
        lines = [*self._lines]
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)

    def show(self, picture: Picture, cursor: tuple[int, int]) -> None:
        """Take a picture of which rows may have changed."""
        size = picture.width, picture.height
        anew = size != self._size
        if anew:
            self._rows = [(0, "")] * picture.height
        number = self._number + 1
        for y in range(picture.height) if anew else picture.changed:
            row = json.dumps([*_runs(picture.rows[y])], ensure_ascii=True, separators=(",", ":"))
            if row != self._rows[y][1]:
                self._rows[y] = number, row
                self._number = number
        if anew or cursor != self._cursor:
            self._number = number
        self._size, self._cursor = size, cursor
        if self._number == number and self._lines and (self._telling is None or self._telling.done()):
            self._telling = asyncio.create_task(self._tell(), name="tokentui share")
            self._telling.add_done_callback(seen)

    async def _tell(self) -> None:
        async with self._new:
            self._new.notify_all()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one who asks to follow."""
        task = asyncio.current_task()
        assert task is not None
        try:
            with contextlib.suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
                asked = await asyncio.wait_for(reader.readuntil(b"\n"), PATIENCE_S)
                known = hmac.compare_digest(asked, asking(self.address.token))
                if not known or len(self._lines) >= MOST_FOLLOWERS:
                    return
                self._lines.add(task)
                writer.transport.set_write_buffer_limits(0)  # what is drained has been taken by the system
                writer.write(READY)
                await self._serve(reader, writer)
        finally:
            self._lines.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone = asyncio.create_task(_gone(reader))
        sent = -1
        try:
            while not gone.done():
                if self._number == sent or not self._rows:
                    new = asyncio.create_task(self._until_newer(sent))
                    await asyncio.wait((gone, new), return_when=asyncio.FIRST_COMPLETED)
                    new.cancel()
                    continue
                line, sent = self._line(sent), self._number
                writer.write(line)
                await asyncio.wait_for(writer.drain(), STALLED_S)
                await asyncio.sleep(PACE_S)
        finally:
            gone.cancel()

    async def _until_newer(self, sent: int) -> None:
        async with self._new:
            await self._new.wait_for(lambda: self._number != sent and bool(self._rows))

    def _line(self, sent: int) -> bytes:
        """The picture as it is now, for one who has an older one: the rows that are newer."""
        rows = ",".join(f'"{y}":{row}' for y, (number, row) in enumerate(self._rows) if number > sent)
        size, cursor = json.dumps(self._size), json.dumps(self._cursor)
        return f'{{"size":{size},"cursor":{cursor},"rows":{{{rows}}}}}\n'.encode("ascii")


async def _gone(reader: asyncio.StreamReader) -> None:
    """Wait until a follower hangs up. What it says is dropped."""
    with contextlib.suppress(OSError):
        while await reader.read(1 << 10):
            pass


def _runs(row: Row) -> Iterator[tuple[list[str], int, str, str]]:
    """The cells of a row, together with those of the same style."""
    for pen, cells in itertools.groupby(zip(row.texts, row.pens, strict=True), key=lambda cell: cell[1]):
        yield [text for text, _ in cells], *pen
