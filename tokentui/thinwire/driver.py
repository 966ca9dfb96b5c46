"""A driver for lines that are slow, that stall and that drop."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import select
import selectors
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from textual import events
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.messages import InBandWindowResize

from tokentui.thinwire.buffer import ScreenBuffer
from tokentui.thinwire.diff import SYNC_BYTES, DiffWriter
from tokentui.thinwire.link import STATUS_ANSWER, STATUS_REQUEST, LinkEstimator
from tokentui.thinwire.private import XTermParser, escape_timeout, supports_synchronized_output
from tokentui.thinwire.terminals import (
    NO_REORDERING,
    REORDERING,
    has_alternate_screen,
    has_back_color_erase,
    reorders_lines,
)

LONGEST_PASTE = 4 << 20
"""Characters of a paste after which its end is no longer waited for."""
PASTE_S = 1.0
"""Seconds of silence within a paste after which the paste counts as ended."""
LAST_ANSWER_S = 0.1
"""Seconds to wait at the end for a status answer that is on its way: else the shell would read it as
typed."""
DRAIN_S = 0.5
"""Seconds to wait at the end for the line to take the last output."""
_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"
_SEQUENCES = "\x1b[O]P^_X"
"""Characters after an escape character that begin a control sequence (ECMA-48), or another escape."""
_ESCAPED = re.compile(f"\x1b(?![{re.escape(_SEQUENCES)}bf\x7f]|$)")
"""The Escape key before another key. Alt with b, f and backspace moves or deletes in a line; no other key is
used with Alt, which sends the same bytes."""
_SYNC_START, _SYNC_END = "\x1b[?2026h", "\x1b[?2026l"


class ThinWireDriver(LinuxDriver):
    """Textual's driver for terminals, with frames of changed cells, at most one of them ahead of the line.

    A frame that cannot be sent yet is not queued: when the line is free, the buffer of that moment is sent.
    The app calls `show` for each update; if the terminal goes, the driver calls the app's `hang_up`, or else
    its `exit`.
    """

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = sys.__stdout__  # Textual draws on standard error, which may be a file or closed
        self._diff = DiffWriter(back_color_erase=has_back_color_erase(os.environ))
        self._buffer: ScreenBuffer | None = None
        self._cursor = (0, 0)
        self._stopped = False
        self._output: OutputThread | None = None
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)

    # Output.

    @property
    def backlog(self) -> bool:
        """True while the line has not taken all output."""
        return self._output is not None and self._output.busy

    def write(self, data: str) -> None:
        """Write text and escape sequences unchanged, after all output before."""
        if self._output is not None:
            self._output.write(data.encode("utf-8", "replace"))

    def show(self, buffer: ScreenBuffer, cursor: tuple[int, int]) -> None:
        """Send a buffer, now or as soon as the line is free.

        Args:
            buffer: What to show. It may be drawn to until it is sent; the latest state is sent.
            cursor: Where to leave the terminal's cursor, as (column, row).
        """
        self._buffer, self._cursor = buffer, cursor
        self._send_frame()

    def forget(self) -> None:
        """Send all of the screen again: another program may have drawn on the terminal."""
        self._diff.forget()
        self._send_frame()

    def _send_frame(self) -> None:
        """Send the difference to what the terminal shows; if the line is busy, do it when the line is
        free."""
        if self._buffer is None or self._output is None or self._stopped or self._output.call_when_free():
            return
        frame = self._diff.frame(self._buffer, self._cursor)
        if len(frame) >= SYNC_BYTES and supports_synchronized_output(self._app):
            frame = f"{_SYNC_START}{frame}{_SYNC_END}"
        if frame:
            self._output.write(frame.encode("utf-8", "replace"), may_request=True)

    def _call_in_loop(self, callback: Callable[[], object]) -> None:
        """Call a function in the event loop, from another thread; do nothing if the loop has closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback)

    # Start and stop.

    def start_application_mode(self) -> None:
        """Take the terminal. After a suspension, send all of the screen again.

        Gives the terminal back if that fails, as without memory for a thread.
        """
        assert self._file is not None, "the app draws on standard output"
        self._output = OutputThread(self._file.fileno(), lambda: self._call_in_loop(self._send_frame))
        self._stopped = False
        self._diff.forget()
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_reader, 64)  # the byte that stopped the input thread before
        try:
            super().start_application_mode()  # type: ignore[no-untyped-call]
        except BaseException:
            self._key_thread = None
            self.stop_application_mode()
            self.close()
            raise
        if reorders_lines(os.environ):
            self.write(NO_REORDERING)
        # Python handles a signal when it runs next, and the loop may sleep for long. A handler that is added
        # to the loop wakes it, for this and all other signals.
        if callable(resized := signal.getsignal(signal.SIGWINCH)):
            self._loop.add_signal_handler(signal.SIGWINCH, resized, signal.SIGWINCH, None)
        self._send_frame()

    def disable_input(self) -> None:
        """Stop reading keys, without waiting for a key."""
        if self._output is not None and self._output.link.answer_pending:
            time.sleep(LAST_ANSWER_S)
        with contextlib.suppress(OSError):
            os.write(self._wake_writer, b".")
        super().disable_input()

    def stop_application_mode(self) -> None:
        """Reset margins and colors, and give the terminal back; clear it if it cannot restore its
        contents."""
        self._stopped = True
        self.write("\x1b[r\x1b[0m")
        if reorders_lines(os.environ):
            self.write(REORDERING)
        if not has_alternate_screen(os.environ):
            self.write("\x1b[H\x1b[2J")
        super().stop_application_mode()

    def close(self) -> None:
        """Wait until the last output is written, at most `DRAIN_S`."""
        super().close()
        if self._output is not None:
            self._output.close(DRAIN_S)
            self._output = None

    def _enable_mouse_support(self) -> None:
        """Ask for clicks, wheel, and moves while a button is held. Other moves would cost a report per
        cell."""
        if self._mouse:
            self.write("\x1b[?1000h\x1b[?1002h\x1b[?1006h")

    def _disable_mouse_support(self) -> None:
        if self._mouse:
            self.write("\x1b[?1000l\x1b[?1002l\x1b[?1006l")

    def _enable_mouse_pixels(self) -> None:
        """Do nothing: cells are fine enough."""

    def _query_in_band_window_resize(self) -> None:
        """Do nothing: SIGWINCH reports sizes."""

    # Input.

    def run_input_thread(self) -> None:
        """Read keys until `disable_input` is called or the terminal is gone."""
        selector = selectors.DefaultSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        selector.register(self._wake_reader, selectors.EVENT_READ)
        parser = KeyParser()
        try:
            while True:
                ready = {key.fd for key, _ in selector.select(parser.timeout)}
                if self._wake_reader in ready:
                    return
                data = b""
                if self.fileno in ready:
                    data = self._read()
                    if not data:
                        self._call_in_loop(getattr(self._app, "hang_up", self._app.exit))
                        return
                for event in parser.feed(data):
                    self.process_message(event)
                if (answers := parser.take_answers()) and self._output is not None:
                    self._output.note_answers(answers)
        finally:
            selector.close()

    def _read(self) -> bytes:
        """Return the input that has arrived; empty if the terminal is gone."""
        try:
            return os.read(self.fileno, 4096)
        except OSError:
            return b""

    def process_message(self, message: Message) -> None:
        """Pass an event of the terminal to the app, unless it makes no sense.

        Left out are sizes that the terminal reports (the kernel knows the size; whatever writes to the
        terminal can fake a report), keys that are not UTF-8, and clicks outside of the screen.
        """
        if isinstance(message, events.Resize | InBandWindowResize):
            return
        if isinstance(message, events.Key):
            if message.character == "\N{REPLACEMENT CHARACTER}":
                return
            if self._output is not None:
                self._output.link.note_key(message.key)
        if isinstance(message, events.MouseEvent):
            width, height = self._app.size
            if not (0 <= message.screen_x < width and 0 <= message.screen_y < height):
                return
        super().process_message(message)


class KeyParser:
    """Turns the bytes of a terminal into events, whatever the bytes are.

    Textual's own parser ends with an exception on numbers out of range, and waits without end for the end of
    a paste. It takes an escape character and another key within 100 ms for a key with Alt.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parser = XTermParser()
        self._pasted = 0
        """Characters of the paste so far."""
        self._in_paste = False
        self._begun = ""
        """The escape character that came last and up to two characters after it, if it may begin a sequence.
        """
        self._last_input = 0.0
        self._answers = 0

    @property
    def timeout(self) -> float | None:
        """The seconds after which to call `feed` though no byte has come; None if nothing is pending.

        Pending are an escape character, which becomes the Escape key, and a paste without an end.
        """
        timeouts = [] if (seconds := escape_timeout(self._parser)) is None else [seconds]
        if self._in_paste:
            timeouts.append(self._last_input + PASTE_S - time.monotonic())
        return max(0.0, min(timeouts)) if timeouts else None

    def take_answers(self) -> int:
        """Return the number of status answers of the terminal since the last call."""
        count, self._answers = self._answers, 0
        return count

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the events that are complete with these bytes. `data` may be empty, after a timeout."""
        now = time.monotonic()
        text = self._decoder.decode(data)
        if not self._in_paste and STATUS_ANSWER in text:
            self._answers += text.count(STATUS_ANSWER)
            text = text.replace(STATUS_ANSWER, "")
        if text:
            self._last_input = now
            yield from self._parse(text)
        if self._in_paste and (now - self._last_input >= PASTE_S or self._pasted > LONGEST_PASTE):
            yield from self._parse(_PASTE_END)
        if escape_timeout(self._parser) == 0 and len(self._begun) < 3 and not self._in_paste:
            yield from self._give_up()
        with self._new_parser_on_error():
            yield from self._parser.tick()
        if escape_timeout(self._parser) is None:
            self._begun = ""

    def _parse(self, text: str) -> Iterator[Message]:
        start, end = text.rfind(_PASTE_START), text.rfind(_PASTE_END)
        if start >= 0 or end >= 0:
            self._in_paste, self._pasted = start > end, 0
        self._pasted += len(text)
        if start >= 0 or end >= 0 or self._in_paste:
            yield from self._parse_plain(text)
            return
        if self._begun == "\x1b" and text[0] not in _SEQUENCES:
            yield from self._give_up()
        at = 0
        for match in _ESCAPED.finditer(text):
            yield from self._parse_plain(text[at : match.start()])
            yield from self._give_up()
            yield events.Key("escape", "\x1b")
            at = match.end()
        yield from self._parse_plain(text[at:])

    def _parse_plain(self, text: str) -> Iterator[Message]:
        if not text:
            return  # it would end the parser
        _, escape, more = (self._begun + text).rpartition("\x1b")
        self._begun = (escape + more)[:3] if escape else ""
        with self._new_parser_on_error():
            yield from self._parser.feed(text)

    def _give_up(self) -> Iterator[Message]:
        """Yield the keys of a sequence that has begun and does not go on: Escape, perhaps with another key
        after it."""
        begun, self._begun = self._begun, ""
        if escape_timeout(self._parser) is None:
            return
        if len(begun) > 2:
            with self._new_parser_on_error():
                yield from self._parser.feed("\x1b")
        self._parser = XTermParser()
        if len(begun) <= 2:
            yield events.Key("escape", "\x1b")
            yield from self._parse_plain(begun[1:])

    @contextlib.contextmanager
    def _new_parser_on_error(self) -> Iterator[None]:
        """Suppress an exception of Textual's parser, and go on with a new one, which starts at the next
        bytes."""
        try:
            yield
        except Exception:
            self._parser = XTermParser()
            self._in_paste = False


class OutputThread:
    """Writes bytes in order, in a thread of its own, so that a line that stalls blocks nothing else.

    Textual's `WriterThread` blocks the app as soon as 30 writes wait.

    Args:
        descriptor: The file descriptor to write to.
        when_free: Called in the thread once the line is free, if `call_when_free` asked for it.
    """

    def __init__(self, descriptor: int, when_free: Callable[[], object]) -> None:
        self.link = LinkEstimator()
        self._descriptor, self._when_free = descriptor, when_free
        self._queue: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._writing = self._call_pending = self._closing = self._broken = False
        self._thread = threading.Thread(target=self._run, name="thinwire output", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """True while output waits, is written, or is on its way to the terminal."""
        with self._changed:
            return self._writing or bool(self._queue) or self.link.delay() > 0

    def call_when_free(self) -> bool:
        """Return whether the line is busy. If it is, `when_free` is called once it is free."""
        self._call_pending = self.busy
        if self._call_pending:
            self._wake()
        return self._call_pending

    def write(self, data: bytes, *, may_request: bool = False) -> None:
        """Queue bytes and return at once. After `close` was called, or once the reader is gone, they are
        dropped.

        Args:
            data: The bytes.
            may_request: True if a status request may follow them.
        """
        with self._changed:
            self.link.note_sent(len(data))
            if may_request and self.link.take_request():
                data += STATUS_REQUEST.encode()
            if not self._broken and not self._closing:
                self._queue.append(data)
        self._wake()

    def note_answers(self, count: int) -> None:
        """Take status answers of the terminal."""
        with self._changed:
            for _ in range(count):
                self.link.note_answer()
        self._wake()

    def close(self, seconds: float) -> bool:
        """Write what is queued and end the thread.

        Args:
            seconds: The longest wait.

        Returns:
            Whether all was written. If not, the thread goes on until the process ends.
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
                while not self._queue:
                    if self._closing:
                        return
                    delay = self.link.delay()
                    if self._call_pending and not delay:
                        self._call_pending = False
                        self._when_free()
                    self._changed.wait(delay or None)
                data = b"".join(self._queue)
                self._queue.clear()
                self._writing = True
            started = time.monotonic()
            self._write_all(data)
            with self._changed:
                self._writing = False
                self.link.note_write(len(data), time.monotonic() - started)

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                # A descriptor in non-blocking mode: wait until it takes more.
                select.select([], [self._descriptor], [])
            except OSError:
                self._broken = True  # the reader is gone, also for what follows
                return
