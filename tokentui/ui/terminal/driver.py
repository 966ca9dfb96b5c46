"""Textual's driver for terminals, made for lines that are slow, that stall and that drop."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import selectors
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.messages import InBandWindowResize

from tokentui.ui.terminal import ChopsUpdate, LayoutUpdate, XTermParser, colour_system, sync, undecided
from tokentui.ui.terminal.picture import Picture, clears_in_colour, has_second_screen
from tokentui.ui.terminal.wire import ANSWER, ASK, SYNC_BYTES, Line, Wire

if TYPE_CHECKING:
    from textual.app import App

LONGEST_PASTE = 4 << 20
"""Characters of a paste after which its end is no longer waited for."""
PASTE_S = 1.0
"""The seconds of silence within a paste after which the paste counts as ended."""
LAST_ANSWER_S = 0.1
"""The longest wait in seconds at the end for an answer of the terminal that is on its way."""
DRAIN_S = 0.5
"""The longest wait in seconds at the end for the last output."""
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"
_SYNC_BEGINS, _SYNC_ENDS = "\x1b[?2026h", "\x1b[?2026l"


class TerminalDriver(LinuxDriver):
    """Sends cells that changed and never more than one frame ahead of the line; takes any bytes as keys."""

    def __init__(self, app: App[None], *, debug: bool = False, mouse: bool = True,
            size: tuple[int, int] | None = None) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._wire = Wire(clears_in_colour=clears_in_colour(os.environ))
        self._picture: Picture | None = None
        self._cursor = (0, 0)
        self._ended = False
        self._writer: Writer | None = None
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)

    # ---- out

    @property
    def backlog(self) -> bool:
        """True if the line has not yet taken all of its output."""
        return self._writer is not None and self._writer.busy

    def write(self, data: str) -> None:
        """Write as it is."""
        if self._writer is not None:
            self._writer.write(data.encode("utf-8", "replace"))

    def draw(self, update: LayoutUpdate | ChopsUpdate, size: tuple[int, int],
            cursor: tuple[int, int]) -> None:
        """Take what should be shown; it is sent at once, or as soon as the line has taken the frame before.

        Args:
            update: The update that Textual has drawn.
            size: The size of the screen.
            cursor: Where the cursor should stand.
        """
        picture = self._picture
        if picture is None or (picture.width, picture.height) != size:
            picture = self._picture = Picture(*size, colour_system(self._app))
        picture.draw(update)
        self._cursor = cursor
        self._paint()

    def forget(self) -> None:
        """Send all of the screen again with the next frame: something else has drawn on the terminal."""
        self._wire.forget()
        self._paint()

    def _paint(self) -> None:
        if self._picture is None or self._writer is None or self._ended or self._writer.owes():
            return
        frame = self._wire.frame(self._picture, self._cursor)
        if len(frame) >= SYNC_BYTES and sync(self._app):
            frame = f"{_SYNC_BEGINS}{frame}{_SYNC_ENDS}"
        if frame:
            self._writer.write(frame.encode("utf-8", "replace"), asks=True)

    def _call(self, call: Callable[[], object]) -> None:
        """Call in the loop, from another thread."""
        with contextlib.suppress(RuntimeError):  # it may have closed meanwhile
            self._loop.call_soon_threadsafe(call)

    # ---- modes

    def start_application_mode(self) -> None:
        """Take the terminal, and show what there is if it was taken before."""
        assert self._file is not None, "the explorer draws on standard error"
        self._writer = Writer(self._file.fileno(), lambda: self._call(self._paint))
        self._ended = False
        self._wire.forget()
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_reader, 64)  # what ended the thread before
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # Python acts on a signal when it runs, and the loop may sleep for ever. What has the loop wake for
        # one signal has it wake for all.
        if callable(resized := signal.getsignal(signal.SIGWINCH)):
            self._loop.add_signal_handler(signal.SIGWINCH, resized, signal.SIGWINCH, None)
        self._paint()

    def disable_input(self) -> None:
        """Stop listening, at once."""
        if self._writer is not None and self._writer.line.asked:
            time.sleep(LAST_ANSWER_S)  # else the shell would read the answer as typed input
        with contextlib.suppress(OSError):
            os.write(self._wake_writer, b".")
        super().disable_input()

    def stop_application_mode(self) -> None:
        """Give the terminal back."""
        self._ended = True
        self.write("\x1b[r\x1b[0m")
        if not has_second_screen(os.environ):
            self.write("\x1b[H\x1b[2J")
        super().stop_application_mode()

    def close(self) -> None:
        """Let the writer finish. A line that stalls gets no more than the watchdog can give it."""
        super().close()
        if self._writer is not None:
            self._writer.close(DRAIN_S)
            self._writer = None

    def _enable_mouse_support(self) -> None:
        """Clicks and wheels, and moves while a button is held: others cost a report for each cell."""
        if self._mouse:
            self.write("\x1b[?1000h\x1b[?1002h\x1b[?1006h")

    def _disable_mouse_support(self) -> None:
        if self._mouse:
            self.write("\x1b[?1000l\x1b[?1002l\x1b[?1006l")

    def _enable_mouse_pixels(self) -> None:
        """Cells are fine enough."""

    def _query_in_band_window_resize(self) -> None:
        """Signals tell of sizes."""

    # ---- in

    def run_input_thread(self) -> None:
        """Read keys until the end. Noise is left out: bytes that are no text, sequences that mean nothing."""
        selector = selectors.DefaultSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        selector.register(self._wake_reader, selectors.EVENT_READ)
        keys = Keys()
        try:
            while True:
                ready = {key.fd for key, _ in selector.select(keys.rest)}
                if self._wake_reader in ready:
                    return
                text = None
                if self.fileno in ready:
                    text = self._read()
                    if text is None:
                        return
                for event in keys.feed(text or b""):
                    self.process_message(event)
                if keys.answers and self._writer is not None:
                    self._writer.answered()
                keys.answers = 0
        finally:
            selector.close()

    def _read(self) -> bytes | None:
        """Return the input that has arrived; None if the terminal has gone."""
        try:
            data = os.read(self.fileno, 4096)
        except OSError:
            data = b""
        if not data:
            self._call(getattr(self._app, "hang_up", self._app.exit))
            return None
        return data

    def process_message(self, message: Message) -> None:
        """Hand on what makes sense."""
        if isinstance(message, events.Resize | InBandWindowResize):
            # the kernel knows the size; who believes reports of it can be told of a screen that is not there
            return
        if isinstance(message, events.Key):
            if message.character == "\N{REPLACEMENT CHARACTER}":
                return
            if self._writer is not None:
                self._writer.line.key(message.key)
        if isinstance(message, events.MouseEvent):
            width, height = self._app.size
            if not (0 <= message.screen_x < width and 0 <= message.screen_y < height):
                return
        super().process_message(message)


class Keys:
    """Bytes of a terminal to events, whatever the bytes are."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parser = XTermParser()
        self._pasted = 0
        self._pasting = False
        self._last = 0.0
        self.answers = 0
        """The number of status reports from the terminal since this was last set to 0."""

    @property
    def rest(self) -> float | None:
        """The seconds after which what has begun counts as ended; None where nothing has begun."""
        rests = [] if (key := undecided(self._parser)) is None else [key]
        if self._pasting:
            rests.append(self._last + PASTE_S - time.monotonic())
        return max(0.0, min(rests)) if rests else None

    def feed(self, data: bytes) -> Iterator[Message]:
        """The events that these bytes complete; none let time pass."""
        now = time.monotonic()
        text = self._decoder.decode(data)
        if not self._pasting and ANSWER in text:
            self.answers += text.count(ANSWER)
            text = text.replace(ANSWER, "")
        if text:
            self._last = now
            yield from self._parse(text)
        if self._pasting and (now - self._last >= PASTE_S or self._pasted > LONGEST_PASTE):
            yield from self._parse(_PASTE_ENDS)
        with self._tolerance():
            yield from self._parser.tick()

    def _parse(self, text: str) -> Iterator[Message]:
        begun, ended = text.rfind(_PASTE_BEGINS), text.rfind(_PASTE_ENDS)
        if begun >= 0 or ended >= 0:
            self._pasting, self._pasted = begun > ended, 0
        self._pasted += len(text)
        with self._tolerance():
            yield from self._parser.feed(text)

    @contextlib.contextmanager
    def _tolerance(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            # Numbers out of range and the like end Textual's parser: it goes on with the next bytes.
            self._parser = XTermParser()
            self._pasting = False


class Writer:
    """A thread that writes in order, so that a line that stalls holds up nothing else. Textual's own holds up
    the program when 30 writes wait.

    Args:
        descriptor: Where to.
        free: Called in the writer's thread once the line is free, where it was waited for.
    """

    def __init__(self, descriptor: int, free: Callable[[], object]) -> None:
        self.line = Line()
        self._descriptor, self._free = descriptor, free
        self._waiting: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._writing = self._owed = self._closing = self._broken = False
        self._thread = threading.Thread(target=self._run, name="tokentui-terminal", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """True if output is on its way."""
        with self._changed:
            return self._writing or bool(self._waiting) or self.line.wait() > 0

    def owes(self) -> bool:
        """True if a frame has to wait; `free` is called then when it need not any more."""
        self._owed = self.busy
        if self._owed:
            self._wake()
        return self._owed

    def write(self, data: bytes, *, asks: bool = False) -> None:
        """Hand in bytes, and ask the terminal for an answer where it is time to. Never waits."""
        with self._changed:
            self.line.sent(len(data))
            if asks and self.line.asks():
                data += ASK.encode()
            if not self._broken and not self._closing:
                self._waiting.append(data)
        self._wake()

    def answered(self) -> None:
        """The terminal has answered."""
        with self._changed:
            self.line.answered()
        self._wake()

    def close(self, seconds: float) -> bool:
        """Write what is left, for so long at most.

        Returns:
            Whether all of it is written; a line that stalls keeps its thread, which ends with the process.
        """
        self._closing = True
        self._wake()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    if self._closing:
                        return
                    rest = self.line.wait()
                    if self._owed and not rest:
                        self._owed = False
                        self._free()
                    self._changed.wait(rest or None)
                data = b"".join(self._waiting)
                self._waiting.clear()
                self._writing = True
            begun = time.monotonic()
            self._send(data)
            with self._changed:
                self._writing = False
                self.line.took(len(data), time.monotonic() - begun)

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                # until a descriptor in non-blocking mode takes more
                select.select([], [self._descriptor], [])
            except OSError:
                self._broken = True  # the reader has gone: the rest has no reader either
                return
