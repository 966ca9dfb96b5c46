"""Web server of `tokentui serve`: each visitor gets a process of the explorer in a pseudo-terminal.

The page, its terminal (xterm.js) and the protocol come from textual-serve: the browser sends keys, sizes and
pings as JSON, and receives bytes for its terminal. The process runs the program as in any terminal. So its
behavior is the same in a browser: it sends changed cells only, adapts to a slow connection, and ends even if
something hangs.
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

from tokentui.cli.web.visitor import VisitorConfig
from tokentui.core.children import DOWNLOADS
from tokentui.core.errors import TokentuiError
from tokentui.core.table import plural

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Handler, Middleware

HINT = "pip install 'tokentui[web]'"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_COLUMNS, MAX_ROWS = 500, 200
MAX_PENDING_INPUT = 1 << 22
"""Bytes of input that a process may leave unread before its session ends."""
MAX_DOWNLOAD = 1 << 28
SHUTDOWN_S = 3.0
"""Seconds that a process has to exit after its terminal is closed; then it is killed."""
HEARTBEAT_S = 15.0
"""Seconds without an answer to a ping before a browser counts as disconnected."""
_PASSED_ON = (
    "PATH", "PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "TOKENTUI_KERNELS", "TOKENTUI_LIMITS", "TZ",
)
"""Environment variables of the server that a visitor's process inherits. All others may contain secrets."""
_PAGE = Path(__file__).with_name("page.html")
_FULL = "\x1b[2J\x1b[HThe server is full ({0}). Reload the page to try again.\r\n"
_IDLE = "\x1b[0m\x1b[2J\x1b[HThis session ended after {0:g} minutes without a key.\r\n"


@dataclass(frozen=True, slots=True)
class VisitorLimits:
    """The limits of visitors, and the host names of the server.

    Attributes:
        visitors: The maximum number of simultaneous visitors.
        idle: Seconds without a key after which a session ends; 0 for no limit.
        names: Additional host names under which the page is served.
    """

    visitors: int = 20
    idle: float = 1800.0
    names: tuple[str, ...] = ()


def find_static_folder() -> Path:
    """Return the folder with the static files of the page.

    Raises:
        TokentuiError: textual-serve or aiohttp is not installed.
    """
    spec = importlib.util.find_spec("textual_serve")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places or importlib.util.find_spec("aiohttp") is None:
        raise TokentuiError("textual-serve is not installed", "serve", HINT)
    return Path(places[0]) / "static"


@dataclass(slots=True, eq=False)
class VisitorSession:
    """A visitor's process and its pseudo-terminal.

    Attributes:
        master: The server's end of the terminal; -1 after it is closed.
        process: The process.
        pipe: The server's end of the pipe for downloads.
        files: The (name, content) of files to download, by key.
    """

    master: int
    process: asyncio.subprocess.Process
    pipe: int
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    _pending_input: bytearray = field(default_factory=bytearray)

    @classmethod
    async def start(cls, config: VisitorConfig, columns: int, rows: int) -> VisitorSession:
        """Start the process of a visitor, with a terminal of this size and an environment of its own. If that
        fails, what was opened is closed.

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
            environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | {
                "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8",
                "HOME": config.folder or os.sep,
                "PYTHONDONTWRITEBYTECODE": "1", DOWNLOADS: str(its_pipe),
                "MALLOC_ARENA_MAX": "2",  # each arena of the C library takes 64 MB of address space
                **config.environment,
            }
            try:
                process = await asyncio.create_subprocess_exec(
                    *config.command(), stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=os.sep,
                    start_new_session=True, pass_fds=(its_pipe,),
                )
            finally:
                os.close(slave)
                os.close(its_pipe)
            undone.pop_all()
        return cls(master, process, pipe)

    async def read(self) -> bytes:
        """Return the next output of the process; empty after it has ended or the terminal is closed."""
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
        """Send input to the process. Return False if the process has left too much input unread."""
        self._pending_input += data
        self._flush()
        return len(self._pending_input) <= MAX_PENDING_INPUT

    def _flush(self) -> None:
        """Write as much pending input to the terminal as it takes; the loop writes the rest once it can.

        Nothing after the terminal is closed. A failed write is tried again like a full one.
        """
        if self.master < 0:
            return
        loop = asyncio.get_running_loop()
        with contextlib.suppress(BlockingIOError, OSError):
            while self._pending_input:
                del self._pending_input[: os.write(self.master, self._pending_input)]
        if self._pending_input:
            loop.add_writer(self.master, self._flush)
        else:
            loop.remove_writer(self.master)

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal. The kernel signals the process."""
        if self.master >= 0:
            _set_size(self.master, columns, rows)

    async def receive_downloads(self, on_file: Callable[[str], Awaitable[object]]) -> None:
        """Receive the files that the process exports, until it ends or one is too large.

        Only the last file is kept. `on_file` is called with the key of each.
        """
        reader = asyncio.StreamReader()
        pipe = os.fdopen(self.pipe, "rb", 0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ValueError, KeyError, TypeError):
                while header_line := await reader.readline():
                    header = json.loads(header_line)
                    name, size = str(header["name"]), int(header["size"])
                    if not 0 <= size <= MAX_DOWNLOAD:
                        return
                    key = secrets.token_urlsafe(24)
                    data = await reader.readexactly(size)
                    self.files = {key: (name, data)}
                    await on_file(key)
        finally:
            transport.close()

    def close_terminal(self) -> None:
        """Close the terminal. The process receives SIGHUP."""
        if self.master >= 0:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self.master)
            loop.remove_writer(self.master)
            os.close(self.master)
            self.master = -1

    async def end(self) -> None:
        """Close the terminal, drop the files, and wait until the process has exited.

        Kills it after SHUTDOWN_S seconds.
        """
        self.close_terminal()
        self.files.clear()
        try:
            await asyncio.wait_for(self.process.wait(), SHUTDOWN_S)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()


def _set_size(terminal: int, columns: int, rows: int) -> None:
    size = struct.pack("HHHH", _clamp(rows, MAX_ROWS), _clamp(columns, MAX_COLUMNS), 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


def _clamp(number: object, maximum: int) -> int:
    """Return a size sent by a browser as a number of cells between 1 and a maximum; 1 if it is not a
    number."""
    try:
        return min(max(int(str(number)), 1), maximum)
    except ValueError:
        return 1


def _server_log() -> logging.Logger:
    """Return the log of the server. It omits malformed HTTP requests, which get an error status."""
    from aiohttp.http_exceptions import HttpProcessingError

    log = logging.Logger("tokentui.serve", logging.WARNING)
    log.addHandler(logging.StreamHandler())
    log.addFilter(lambda record: not (
        record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)
    ))
    return log


class ExplorerServer:
    """The web server: one page, and one WebSocket per visitor.

    Args:
        config: The configuration of each visitor's process.
        limits: The limits of visitors.
        static: The folder of the page's static files.
    """

    def __init__(self, config: VisitorConfig, limits: VisitorLimits, static: Path) -> None:
        self._config, self._limits, self._static = config, limits, static
        self.sessions: set[VisitorSession | object] = set()
        """The sessions, and a placeholder object for each session whose process is starting."""
        self._ending: set[asyncio.Task[None]] = set()
        self._loopback = True

    def application(self) -> web.Application:
        """Return the aiohttp application."""
        from aiohttp import web

        application = web.Application(middlewares=[self._guard()])
        application.add_routes([
            web.get("/", self._page), web.get("/ws", self._session),
            web.get("/download/{key}", self._download), web.static("/static", self._static),
        ])
        application.on_shutdown.append(self._shut_down)
        return application

    async def serve(
        self, host: str, port: int, on_ready: Callable[[str], object], end: asyncio.Event
    ) -> None:
        """Serve until `end` is set, then end all sessions.

        Args:
            host: The address to listen on.
            port: The port; 0 for any that is free.
            on_ready: Called with the URL when the server accepts connections.
            end: Set by the caller to end the server.

        Raises:
            TokentuiError: The address and port cannot be used.
        """
        from aiohttp import web

        self._loopback = host in LOOPBACK
        runner = web.AppRunner(
            self.application(), access_log=None, logger=_server_log(), shutdown_timeout=SHUTDOWN_S
        )
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, host, port).start()
            except OSError as error:
                why = os.strerror(error.errno) if error.errno else str(error)
                where = f"{host}:{port}"
                raise TokentuiError(f"cannot listen: {why.lower()}", where, "use another --port") from None
            shown = f"[{host}]" if ":" in host else host
            on_ready(f"http://{shown}:{runner.addresses[0][1]}/")
            await end.wait()
        finally:
            await runner.cleanup()

    def _guard(self) -> Middleware:
        """Return a middleware that refuses foreign requests and adds security headers to responses.

        A request from a page of another origin gets status 403, as does one for an unknown host name if the
        server listens on the loopback only: such pages could read what is served to this machine only. Names
        given by `--name` are known. Headers that cannot be parsed give 400. A response that has already
        started, such as a WebSocket, gets no headers.
        """
        from aiohttp import web

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            """Refuse a foreign request, or answer it with security headers."""
            origin = request.headers.get("Origin")
            try:
                host = urlsplit(f"//{request.host}").hostname or ""
                foreign = origin is not None and urlsplit(origin).netloc != request.host
            except ValueError:
                raise web.HTTPBadRequest(text="invalid Host or Origin header\n") from None
            if (self._loopback and host not in (*LOOPBACK, *self._limits.names)) or foreign:
                raise web.HTTPForbidden(text="unknown host name (tokentui serve --name HOST allows it)\n")
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
        """Send a file of a session once: the answer removes it.

        Raises:
            HTTPNotFound: No session has a file with this key.
        """
        from aiohttp import web

        key = request.match_info["key"]
        for session in self.sessions:
            if isinstance(session, VisitorSession) and key in session.files:
                name, data = session.files.pop(key)
                named = f"attachment; filename*=UTF-8''{quote(os.path.basename(name), safe='')}"
                headers = {"Content-Disposition": named, "Cache-Control": "no-store"}
                return web.Response(body=data, content_type="application/octet-stream", headers=headers)
        raise web.HTTPNotFound(text="the file is no longer available\n")

    async def _session(self, request: web.Request) -> web.WebSocketResponse:
        """Handle the WebSocket of a visitor from start to end, with a process and a terminal of its own.

        If all places are taken, wait for sessions that are ending; if none is, send a message and close.
        """
        from aiohttp import web

        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=MAX_PENDING_INPUT)
        await websocket.prepare(request)
        maximum = self._limits.visitors
        while len(self.sessions) >= maximum and self._ending:  # for example, the page is reloaded
            await asyncio.wait(self._ending, return_when=asyncio.FIRST_COMPLETED)
        if len(self.sessions) >= maximum:
            await websocket.send_bytes(_FULL.format(plural(maximum, "visitor")).encode())
            await websocket.close()
            return websocket
        placeholder = object()
        self.sessions.add(placeholder)  # reserves a place before the first await
        visitor = None
        try:
            query = request.query
            columns, rows = query.get("width", "80"), query.get("height", "24")
            visitor = await VisitorSession.start(
                self._config, _clamp(columns, MAX_COLUMNS), _clamp(rows, MAX_ROWS)
            )
            self.sessions.add(visitor)
            self.sessions.remove(placeholder)
            await self._relay(websocket, visitor)
        except (ConnectionError, OSError):
            pass  # the visitor has left, or the system has no free terminal or process
        finally:
            self.sessions.discard(placeholder)
            if visitor is not None:
                await asyncio.shield(self._end(visitor))
            with contextlib.suppress(ConnectionError):
                await websocket.close()
        return websocket

    def _end(self, visitor: VisitorSession) -> asyncio.Task[None]:
        """Start a task that ends a session and frees its place when the process has exited, and return the
        task."""

        async def end() -> None:
            await visitor.end()
            self.sessions.discard(visitor)

        task = asyncio.create_task(end(), name="tokentui visitor")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _relay(self, websocket: web.WebSocketResponse, visitor: VisitorSession) -> None:
        """Pass input and output between browser and process, until either ends or the visitor is idle. An
        idle visitor gets a message, and the terminal is closed. The browser gets the key of each file that
        the process exports."""
        loop = asyncio.get_running_loop()
        last_input = loop.time()

        async def send_output() -> None:
            while data := await visitor.read():
                await websocket.send_bytes(data)  # blocks the process, too, if the browser is slow

        async def receive_input() -> None:
            """Handle the messages of the browser until it leaves, or the process leaves too much input
            unread."""
            nonlocal last_input
            async for message in websocket:
                match _parse_message(message.data):
                    case ["stdin", str(text)]:
                        last_input = loop.time()
                        if not visitor.write(text.encode("utf-8", "replace")):
                            return
                    case ["resize", {"width": columns, "height": rows}]:
                        visitor.resize(_clamp(columns, MAX_COLUMNS), _clamp(rows, MAX_ROWS))
                    case ["ping", str(at)]:
                        await websocket.send_json(["pong", at])

        async def end_when_idle() -> None:
            """Wait until no key was pressed for the time limit, close the terminal, and send a message."""
            left = self._limits.idle
            while left > 0:
                await asyncio.sleep(left)
                left = last_input + self._limits.idle - loop.time()
            visitor.close_terminal()
            await websocket.send_bytes(_IDLE.format(self._limits.idle / 60).encode())

        async def send_downloads() -> None:
            await visitor.receive_downloads(lambda key: websocket.send_json(["deliver_file_start", key]))

        work = [send_output(), receive_input(), *([end_when_idle()] if self._limits.idle else [])]
        tasks = [asyncio.create_task(task) for task in work]
        files = asyncio.create_task(send_downloads())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*tasks, files):
                task.cancel()
            await asyncio.gather(*tasks, files, return_exceptions=True)

    async def _shut_down(self, application: web.Application) -> None:
        started = [session for session in self.sessions if isinstance(session, VisitorSession)]
        await asyncio.gather(*(session.end() for session in started))


def _parse_message(data: object) -> object:
    """Return a message of a browser, or None if it is not JSON."""
    try:
        return json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        return None
