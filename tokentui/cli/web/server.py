"""A web server that gives each visitor a process of the program in a pseudo-terminal of its own.

The page and its terminal (xterm.js) are those of textual-serve, and so is what the two ends say to each
other: keys, sizes and pings as JSON from the browser, bytes for its terminal to it. The process behind it is
the program as it runs in any terminal, so that all that holds there (changed cells only, a slow line, an end
whatever hangs) holds in a browser too.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import importlib.util
import json
import logging
import os
import secrets
import signal
import struct
import termios
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from tokentui.cli.web.visitor import Visit
from tokentui.core.children import DOWNLOADS
from tokentui.core.errors import TokentuiError

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Handler, Middleware

HINT = "pip install 'tokentui[web]'"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_COLUMNS, MOST_ROWS = 500, 200
MOST_TYPED = 1 << 22
"""Bytes that a process has not read yet, after which its visitor is sent away."""
LARGEST_DOWNLOAD = 1 << 28
END_S = 3.0
"""Seconds that a process has to end once its line is gone; then it is killed."""
HEARTBEAT_S = 15.0
"""Seconds after which a browser that does not answer counts as gone."""
_KEPT = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "TOKENTUI_KERNELS", "TOKENTUI_LIMITS", "TZ")
"""Variables that a visitor's process has from the server's environment; all others may hold secrets."""
_PAGE = Path(__file__).with_name("page.html")
_FULL = "\x1b[2J\x1b[HThere is no room: {0} are here already. Reload the page to try again.\r\n"
_IDLE = "\x1b[0m\x1b[2J\x1b[HNo key was pressed for {0:g} minutes: this session has ended.\r\n"


@dataclass(frozen=True, slots=True)
class Terms:
    """The limits of visitors, and the names of the page.

    Attributes:
        visitors: The most of them at a time.
        idle: Seconds without a key after which a session ends; 0 for never.
        names: Host names by which the page is asked for, besides those of this machine.
    """

    visitors: int = 20
    idle: float = 1800.0
    names: tuple[str, ...] = ()


def static_folder() -> Path:
    """The folder of the page's parts.

    Raises:
        TokentuiError: textual-serve or aiohttp is not installed.
    """
    found = importlib.util.find_spec("textual_serve")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    if not places or importlib.util.find_spec("aiohttp") is None:
        raise TokentuiError("textual-serve is not installed", "serve", HINT)
    return Path(places[0]) / "static"


@dataclass(slots=True, eq=False)
class Visitor:
    """A process and its pseudo-terminal.

    Attributes:
        master: The end of the terminal that is ours; -1 once the line is dropped.
        process: The process.
        pipe: The end of the pipe of downloads that is ours.
        files: The files that wait to be fetched, by their keys.
    """

    master: int
    process: asyncio.subprocess.Process
    pipe: int
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    _typed: bytearray = field(default_factory=bytearray)

    @classmethod
    async def begin(cls, visit: Visit, columns: int, rows: int) -> Visitor:
        """Start a process.

        Raises:
            OSError: The system gives no terminal or process.
        """
        with contextlib.ExitStack() as undone:
            master, slave = os.openpty()
            undone.callback(os.close, master)
            pipe, its_pipe = os.pipe()
            undone.callback(os.close, pipe)
            _set_size(master, columns, rows)
            os.set_blocking(master, False)
            environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | {
                "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8",
                "HOME": visit.folder or os.sep,
                "PYTHONDONTWRITEBYTECODE": "1", DOWNLOADS: str(its_pipe),
                "MALLOC_ARENA_MAX": "2",  # each arena of the C library takes 64 MB of address space
                **visit.environment,
            }
            try:
                process = await asyncio.create_subprocess_exec(
                    *visit.command(), stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=os.sep,
                    start_new_session=True, pass_fds=(its_pipe,),
                )
            finally:
                os.close(slave)
                os.close(its_pipe)
            undone.pop_all()
        return cls(master, process, pipe)

    async def read(self) -> bytes:
        """The next output of the process; empty once it has ended or the line is dropped."""
        if self.master < 0:
            return b""
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.master, ready.set)
        try:
            await ready.wait()
            return os.read(self.master, 1 << 16) if self.master >= 0 else b""
        except OSError:
            return b""
        finally:
            if self.master >= 0:
                loop.remove_reader(self.master)

    def write(self, data: bytes) -> bool:
        """Type. Returns whether the process keeps up with what is typed."""
        self._typed += data
        self._flush()
        return len(self._typed) <= MOST_TYPED

    def _flush(self) -> None:
        if self.master < 0:
            return
        loop = asyncio.get_running_loop()
        with contextlib.suppress(BlockingIOError, OSError):
            while self._typed:
                del self._typed[: os.write(self.master, self._typed)]
        if self._typed:
            loop.add_writer(self.master, self._flush)
        else:
            loop.remove_writer(self.master)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, which the kernel tells the process."""
        if self.master >= 0:
            _set_size(self.master, columns, rows)

    async def downloads(self, told: Callable[[str], Awaitable[object]]) -> None:
        """Take the files that the process hands over; `told` is called with the key of each. Only the last is
        kept."""
        reader = asyncio.StreamReader()
        pipe = os.fdopen(self.pipe, "rb", 0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ValueError, KeyError, TypeError):
                while head := await reader.readline():
                    said = json.loads(head)
                    name, size = str(said["name"]), int(said["size"])
                    if not 0 <= size <= LARGEST_DOWNLOAD:
                        return
                    key = secrets.token_urlsafe(24)
                    data = await reader.readexactly(size)
                    self.files = {key: (name, data)}
                    await told(key)
        finally:
            transport.close()

    def hang_up(self) -> None:
        """Drop the line: the process is told, and has no terminal any more."""
        if self.master >= 0:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self.master)
            loop.remove_writer(self.master)
            os.close(self.master)
            self.master = -1

    async def end(self) -> None:
        """Drop the line and wait until the process has ended; one that does not is killed."""
        self.hang_up()
        self.files.clear()
        try:
            await asyncio.wait_for(self.process.wait(), END_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()


def _set_size(terminal: int, columns: int, rows: int) -> None:
    size = struct.pack("HHHH", _within(rows, MOST_ROWS), _within(columns, MOST_COLUMNS), 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


def _within(number: object, most: int) -> int:
    """A number of cells that a browser told, as far as a terminal can be so large."""
    try:
        return min(max(int(str(number)), 1), most)
    except ValueError:
        return 1


def _server_log() -> logging.Logger:
    """Return the log of the server, without requests that are no HTTP: they are answered by a status, and are
    no fault of the server."""
    from aiohttp.http_exceptions import HttpProcessingError

    log = logging.Logger("tokentui.serve", logging.WARNING)
    log.addHandler(logging.StreamHandler())
    log.addFilter(lambda record: not (
        record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)
    ))
    return log


class Visitors:
    """The server.

    Args:
        visit: What each visitor's process is given.
        terms: What visitors may have.
        static: The folder of the page's parts.
    """

    def __init__(self, visit: Visit, terms: Terms, static: Path) -> None:
        self._visit, self._terms, self._static = visit, terms, static
        self.here: set[Visitor | object] = set()
        """Those who are here, and marks of those whose process begins."""
        self._ending: set[asyncio.Task[None]] = set()
        self._loopback = True

    def application(self) -> web.Application:
        """The web application."""
        from aiohttp import web

        made = web.Application(middlewares=[self._guard()])
        made.add_routes([
            web.get("/", self._page), web.get("/ws", self._session),
            web.get("/download/{key}", self._download), web.static("/static", self._static),
        ])
        made.on_shutdown.append(self._shut_down)
        return made

    async def serve(self, host: str, port: int, told: Callable[[str], object], end: asyncio.Event) -> None:
        """Serve until the end is asked for.

        Args:
            host: The address to listen on.
            port: The port; 0 for any that is free.
            told: Called with the URL of the page once it is there.
            end: Asks for the end.

        Raises:
            TokentuiError: Nothing can listen there.
        """
        from aiohttp import web

        self._loopback = host in LOOPBACK
        runner = web.AppRunner(
            self.application(), access_log=None, logger=_server_log(), shutdown_timeout=END_S
        )
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, host, port).start()
            except OSError as error:
                why = os.strerror(error.errno) if error.errno else str(error)
                where = f"{host}:{port}"
                raise TokentuiError(f"cannot listen: {why.lower()}", where, "take another --port") from None
            shown = f"[{host}]" if ":" in host else host
            told(f"http://{shown}:{runner.addresses[0][1]}/")
            await end.wait()
        finally:
            await runner.cleanup()

    def _guard(self) -> Middleware:
        """A middleware that refuses requests under other names, and from pages of others, which could read
        what is served to this machine alone."""
        from aiohttp import web

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            origin = request.headers.get("Origin")
            try:
                host = urlsplit(f"//{request.host}").hostname or ""
                foreign = origin is not None and urlsplit(origin).netloc != request.host
            except ValueError:
                raise web.HTTPBadRequest(text="the Host or the Origin is no name\n") from None
            if (self._loopback and host not in (*LOOPBACK, *self._terms.names)) or foreign:
                raise web.HTTPForbidden(text="not served under this name: --name HOST allows it\n")
            response = await handler(request)
            if not response.prepared:
                response.headers["X-Content-Type-Options"] = "nosniff"
                response.headers["X-Frame-Options"] = "DENY"
                response.headers["Referrer-Policy"] = "no-referrer"
            return response

        return guarded

    async def _page(self, request: web.Request) -> web.Response:
        from aiohttp import web

        return web.Response(text=_PAGE.read_text(encoding="utf-8"), content_type="text/html")

    async def _download(self, request: web.Request) -> web.Response:
        from aiohttp import web

        key = request.match_info["key"]
        for one in self.here:
            if isinstance(one, Visitor) and key in one.files:
                name, data = one.files.pop(key)
                named = f"attachment; filename*=UTF-8''{quote(os.path.basename(name), safe='')}"
                headers = {"Content-Disposition": named, "Cache-Control": "no-store"}
                return web.Response(body=data, content_type="application/octet-stream", headers=headers)
        raise web.HTTPNotFound(text="this file is not there any more\n")

    async def _session(self, request: web.Request) -> web.WebSocketResponse:
        """The session of a visitor, from the first byte to the last."""
        from aiohttp import web

        line = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MOST_TYPED)
        await line.prepare(request)
        most = self._terms.visitors
        while len(self.here) >= most and self._ending:  # such as one who loads the page again
            await asyncio.wait(self._ending, return_when=asyncio.FIRST_COMPLETED)
        if len(self.here) >= most:
            await line.send_bytes(_FULL.format("1 visitor" if most == 1 else f"{most} visitors").encode())
            await line.close()
            return line
        mark = object()
        self.here.add(mark)  # a place is taken before anything is waited for
        visitor = None
        try:
            query = request.query
            columns, rows = query.get("width", "80"), query.get("height", "24")
            visitor = await Visitor.begin(
                self._visit, _within(columns, MOST_COLUMNS), _within(rows, MOST_ROWS)
            )
            self.here.add(visitor)
            self.here.remove(mark)
            await self._between(line, visitor)
        except (ConnectionError, OSError):
            pass  # the visitor has gone, or the system has no room
        finally:
            self.here.discard(mark)
            if visitor is not None:
                await asyncio.shield(self._end(visitor))
            with contextlib.suppress(ConnectionError):
                await line.close()
        return line

    def _end(self, visitor: Visitor) -> asyncio.Task[None]:
        """End a visitor's process, and give the place to another then."""

        async def end() -> None:
            await visitor.end()
            self.here.discard(visitor)

        task = asyncio.create_task(end(), name="tokentui visitor")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _between(self, line: web.WebSocketResponse, visitor: Visitor) -> None:
        """Hand on what is typed and what is drawn, until one of the two ends."""
        loop = asyncio.get_running_loop()
        typed_at = loop.time()

        async def draw() -> None:
            while data := await visitor.read():
                await line.send_bytes(data)  # waits while the browser takes no more, and so does the process

        async def take() -> None:
            nonlocal typed_at
            async for message in line:
                match _said(message.data):
                    case ["stdin", str(text)]:
                        typed_at = loop.time()
                        if not visitor.write(text.encode("utf-8", "replace")):
                            return
                    case ["resize", {"width": columns, "height": rows}]:
                        visitor.resize(_within(columns, MOST_COLUMNS), _within(rows, MOST_ROWS))
                    case ["ping", str(at)]:
                        await line.send_json(["pong", at])

        async def rest() -> None:
            left = self._terms.idle
            while left > 0:
                await asyncio.sleep(left)
                left = typed_at + self._terms.idle - loop.time()
            visitor.hang_up()
            await line.send_bytes(_IDLE.format(self._terms.idle / 60).encode())

        async def hand_over() -> None:
            await visitor.downloads(lambda key: line.send_json(["deliver_file_start", key]))

        work = [draw(), take(), *([rest()] if self._terms.idle else [])]
        tasks = [asyncio.create_task(one) for one in work]
        files = asyncio.create_task(hand_over())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in (*tasks, files):
                one.cancel()
            await asyncio.gather(*tasks, files, return_exceptions=True)

    async def _shut_down(self, application: web.Application) -> None:
        await asyncio.gather(*(one.end() for one in self.here if isinstance(one, Visitor)))


def _said(data: object) -> object:
    """A message of a browser; None where it makes no sense."""
    try:
        return json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        return None
