"""A visitor of the web server without a browser: its line, and a terminal in memory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyte
import pytest

from tokentui.cli.web.server import ExplorerServer, VisitorLimits, find_static_folder
from tokentui.cli.web.visitor import VisitorConfig
from tokentui.core.errors import TokentuiError

if TYPE_CHECKING:
    import aiohttp

PATIENCE_S = 60.0


def needs_server() -> None:
    """Skip where the parts of the server are not installed."""
    try:
        find_static_folder()
    except TokentuiError as error:
        pytest.skip(str(error))


class Running:
    """A server that runs in this process.

    Attributes:
        server: The server.
        url: The URL of its page.
    """

    def __init__(self, server: ExplorerServer, url: str) -> None:
        self.server, self.url = server, url

    @property
    def processes(self) -> list[int]:
        """The processes of those who are here."""
        return [one.process.pid for one in self.server.sessions if hasattr(one, "process")]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110 - processes end without telling
                await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(visit: VisitorConfig, terms: VisitorLimits | None = None) -> AsyncIterator[Running]:
    """A server on a port of this machine."""
    server = ExplorerServer(visit, terms or VisitorLimits(), find_static_folder())
    there: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    end = asyncio.Event()
    task = asyncio.create_task(server.serve("127.0.0.1", 0, there.set_result, end))
    try:
        await asyncio.wait((task, there), return_when=asyncio.FIRST_COMPLETED)
        yield Running(server, await there)
    finally:
        end.set()
        await task


class Line:
    """The line of one visitor, and what stands on the screen."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, columns: int, rows: int) -> None:
        self.socket = socket
        self.screen = pyte.Screen(columns, rows)
        self._draw = pyte.ByteStream(self.screen).feed
        self.told: list[Any] = []
        """What the server said in words."""

    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    async def press(self, keys: str) -> None:
        """Type."""
        await self.socket.send_json(["stdin", keys])

    async def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        self.screen.resize(rows, columns)
        await self.socket.send_json(["resize", {"width": columns, "height": rows}])

    async def take(self) -> bool:
        """Take what comes next. Returns whether the line goes on."""
        message = await self.socket.receive(PATIENCE_S)
        if isinstance(message.data, bytes):
            self._draw(message.data)
        elif isinstance(message.data, str):
            self.told.append(message.json())
        return not self.socket.closed

    async def until(self, holds: Callable[[str], bool]) -> str:
        """Wait until something holds for the text on the screen."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not holds(self.text()):
                    assert await self.take(), f"the line has ended; the screen is:\n{self.text()}"
        except TimeoutError:
            raise AssertionError(f"it never came; the screen is:\n{self.text()}") from None
        return self.text()

    async def end(self) -> str:
        """Wait until the server ends the line. Returns what stands on the screen then."""
        while await self.take():
            pass
        return self.text()


@asynccontextmanager
async def visiting(running: Running, columns: int = 100, rows: int = 30) -> AsyncIterator[Line]:
    """A visitor of a server."""
    import aiohttp

    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(f"{running.url}ws?width={columns}&height={rows}") as socket,
    ):
        yield Line(socket, columns, rows)


def is_alive(process: int) -> bool:
    """True if a process has not ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def shelf(folder: Path) -> VisitorConfig:
    """What a visitor of a folder with a served text is given."""
    place = folder / "served"
    place.mkdir(exist_ok=True)
    (folder / "novel.txt").write_text("the cat and the hat and the bat\n")
    (place / "novel.txt").symlink_to(folder / "novel.txt")
    words = ("novel.txt", "-r", "gpt2")
    return VisitorConfig(words, str(place), ("novel.txt",), environment={"TOKENTUI_KERNELS": "off"})
