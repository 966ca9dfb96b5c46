"""An app that leaves a terminal as it found it, whatever happens, and sends it no more than it needs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import FrameType

from rich.console import RenderableType
from textual import events
from textual.filter import LineFilter, NoColor
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from tokentui.core.children import DOWNLOADS
from tokentui.core.choices import Ref
from tokentui.core.errors import Cancelled
from tokentui.core.runtime import Watchdog
from tokentui.core.safetext import safe
from tokentui.ui.draw.text import ControlGuard
from tokentui.ui.guard import EXPECTED, GuardedApp
from tokentui.ui.terminal import ChopsUpdate, LayoutUpdate, leaves
from tokentui.ui.terminal.driver import TerminalDriver
from tokentui.ui.terminal.picture import monochrome

CLIPBOARD_BYTES = 74_000
"""The most that is handed to the terminal's clipboard: common terminals drop what is longer."""
QUIT_S = 3.0
"""The longest exit in seconds if no key is pressed; an exit by a signal has less."""
CRASHED = 70
"""The exit code after a crash: an internal error, in the words of sysexits.h."""
_WIDEST = 300
_KEEP_ACCOUNT = Ref("tokentui.session.saved:keep_account")
STUCK_S = 1.0
"""A key holds up the others no longer than these seconds: its widget may be gone.

They count from when the first key waits, and anew for each widget whose queue is waited for.
"""


class TerminalApp(GuardedApp):
    """The part of the explorer that knows of terminals and of the process."""

    def __init__(self) -> None:
        self._guard = ControlGuard()
        self._plain = NoColor()
        self._watchdog: Watchdog | None = None
        self._asked: int | None = None
        """The exit code of the first request to leave; None before one."""
        self.after_input: Callable[[], object] | None = None
        """Called after each key and each event of the mouse."""
        self._acting: asyncio.Task[None] | None = None
        """Waits until the last key has been acted on; None where it has been."""
        self._ahead: deque[events.Key | events.Paste] = deque()
        """The keys that wait until the one before them has been acted on."""
        self._limit: asyncio.Timeout | None = None
        """When what is waited for is given up; None while nothing is waited for."""
        super().__init__(driver_class=_driver())
        self.no_color = self.no_color or monochrome(os.environ)
        self.animation_level = "none"

    # What the terminal gets.

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Nothing unsafe, and no colour at all, not even grey, where none is wanted.

        Textual's own mix a colour for each ground: terminals dim by themselves, in four bytes, and know
        colours by name.
        """
        return (self._plain, self._guard) if self.no_color else (self._guard,)

    def copy_to_clipboard(self, text: str) -> None:
        """Keep what is cut, to be pasted as it is, and hand it to the terminal as far as a terminal takes it.
        """
        data = text.encode("utf-8", "replace")
        if len(data) <= CLIPBOARD_BYTES:
            super().copy_to_clipboard(data.decode())
        self._clipboard = text

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Hand what is drawn to our driver, which knows what the terminal shows. (Textual 8.2 has no public
        hook here.)
        """
        driver = self._driver
        if not isinstance(driver, TerminalDriver) or not isinstance(renderable, LayoutUpdate | ChopsUpdate):
            super()._display(screen, renderable)
        elif self._running and not self._closed:
            # Also amid a batch, where Textual would drop it: what was drawn once is not drawn again.
            cursor = self.screen.outer_size.clamp_offset(self.cursor_position)
            driver.draw(renderable, (self.size.width, self.size.height), (cursor.x, cursor.y))

    def backlog(self) -> bool:
        """True if the terminal takes output more slowly than it is written."""
        return isinstance(self._driver, TerminalDriver) and self._driver.backlog

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Let no cursor blink: an idle line carries nothing."""
        if isinstance(event.widget, Input):
            event.widget.cursor_blink = False

    async def on_event(self, event: events.Event) -> None:
        """Hand a key over, or let it wait for the one under way. A key that leaves waits for none."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._acting is not None and not (isinstance(event, events.Key) and leaves(self, event.key)):
            self._ahead.append(event)
            if self._limit is not None and self._limit.when() is None:
                self._limit.reschedule(asyncio.get_running_loop().time() + STUCK_S)
        else:
            await self._hand_over(event)
        if self.after_input is not None and isinstance(event, events.InputEvent):
            self.after_input()

    async def _hand_over(self, event: events.Key | events.Paste) -> None:
        """Hand a key to what has the focus; to nothing where the app has left its screens."""
        if not self.screen_stack:
            return
        if self._acting is not None:
            self._acting.cancel()
        screen, widget = self.screen, self.focused or self.screen
        await super().on_event(event)
        self._acting = asyncio.create_task(self._go_on(widget, screen), name="tokentui key")

    async def _go_on(self, widget: Widget, screen: Screen[object]) -> None:
        """Wait until a key has been acted on, and a screen that it has opened is ready; hand over the next.

        Where other keys wait all queues are passed twice, the second time behind what the widget has said of
        the key, such as that a line was submitted. They do not wait for ever.

        Args:
            widget: The widget or screen that got the key.
            screen: The screen that was seen then.
        """
        with contextlib.suppress(TimeoutError):
            for _ in range(2):
                await self._passed(widget)
                while self.screen_stack and self.screen is not screen:
                    screen = widget = self.screen
                    await self._passed(widget)
                if not self._ahead:
                    break
        if self._ahead:
            self.call_later(self._hand_over, self._ahead.popleft())
        else:
            self._acting = None

    async def _passed(self, widget: Widget) -> None:
        """Wait until a widget, those above it and the app have done all that they were sent before.

        Raises:
            TimeoutError: It takes too long for the keys that wait.
        """
        try:
            async with asyncio.timeout(STUCK_S if self._ahead else None) as self._limit:
                # The app again, which has a callback where the focus goes elsewhere.
                for pump in (*widget.ancestors_with_self, self):
                    done = asyncio.Event()
                    if pump.call_later(done.set):
                        await done.wait()
        finally:
            self._limit = None

    def repaint(self) -> None:
        """Draw everything again."""
        if isinstance(self._driver, TerminalDriver):
            self._driver.forget()
        self.refresh(layout=True)

    # How it ends.

    def run_on_terminal(self) -> int:
        """Run on the terminal of the process until the user, a signal or a failure ends it.

        Returns:
            The exit code: 128 and the signal's number after a signal, `CRASHED` after a failure, which is
                told in a few lines.
        """
        self._watchdog = Watchdog()
        # Under nohup SIGHUP is ignored, but a screen without a terminal is of no use to anybody.
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
            signal.signal(number, self._signalled)
        threading.excepthook = lambda args: self._in_loop(self._failed, None, {"exception": args.exc_value})
        try:
            self.run()
        except Exception as error:
            self._handle_exception(error)
        if self._exception is not None:
            code = CRASHED
            words = self._watchdog.words or _told(self._exception)
            self._watchdog.words = ""  # told once
            sys.stderr.write(words)
            sys.stderr.flush()
        else:
            code = self._asked or 0
        # A reader that hangs on a device would hold up the end of the interpreter.
        self._watchdog.watch(code)
        return code

    def hang_up(self) -> None:
        """The terminal has gone."""
        self._end(128 + signal.SIGHUP)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave, by force if it takes too long. The first request counts: a later one changes neither code
        nor time.
        """
        if self._asked is None:
            self._asked = return_code
        if self._watchdog is not None:
            self._watchdog.watch(self._asked, QUIT_S)
        if self._acting is not None:
            self._acting.cancel()
        super().exit(result, self._asked, message)

    @property
    def left(self) -> bool:
        """True if the user ended the program: no signal, no dropped line, no failure."""
        return self._exception is None and not self._asked

    def _end(self, code: int) -> None:
        if self._watchdog is not None:
            self._watchdog.watch(code)
        self.exit(return_code=code)

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        code = 128 + number if self._asked is None else self._asked
        if self._watchdog is not None:
            self._watchdog.watch(code)
            if not self._in_loop(self._end, code):
                self._watchdog.end(code)  # nothing is open yet, or all of it is closed

    def _in_loop(self, call: Callable[..., object], *args: object) -> bool:
        """Call in the loop, from a thread or a signal. Returns whether it runs."""
        if self._loop is None or not self.is_running:
            return False
        self._loop.call_soon_threadsafe(call, *args)
        return True

    def watch_failures(self) -> None:
        """Start to watch the failures of tasks that are not awaited."""
        if self._watchdog is not None:
            asyncio.get_running_loop().set_exception_handler(self._failed)

    def _failed(self, loop: object, context: Mapping[str, object]) -> None:
        """Tell of a failure in a thread, or in a task; what was given up is none."""
        error = context.get("exception")
        if isinstance(error, Exception) and not isinstance(error, Cancelled):
            self._handle_exception(error)

    def _handle_exception(self, error: Exception) -> None:
        """End with a failure. After a request to leave it changes nothing of how the program ends: it is kept
        in a file.
        """
        if self._asked is None:
            super()._handle_exception(error)
        elif not isinstance(error, EXPECTED):
            _KEEP_ACCOUNT(error)

    def _fatal_error(self) -> None:
        """Close after a failure; it is told when the terminal is given back, without what the variables held.
        """
        if self._watchdog is not None:
            if self._exception is not None and not self._watchdog.words:
                self._watchdog.words = _told(self._exception)
            self._watchdog.watch(CRASHED)
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        """Nothing here: Textual would print the corpus that a variable holds, as it is."""
        self._exit_renderables.clear()


def _driver() -> type[TerminalDriver]:
    """The driver of the terminal: a program in a browser is told where its downloads go."""
    if DOWNLOADS not in os.environ:
        return TerminalDriver
    from tokentui.ui.terminal.browser import BrowserDriver

    return BrowserDriver


def _told(error: BaseException) -> str:
    """A failure in a few clean lines; the whole account goes into a file."""
    frames = traceback.extract_tb(error.__traceback__)
    where = next((f for f in reversed(frames) if f"{os.sep}tokentui{os.sep}" in f.filename),
        frames[-1] if frames else None)
    lines = [f"tokentui: this should not have happened: {type(error).__name__}: {error}"]
    if where is not None:
        lines.append(f"  in {os.path.basename(where.filename)}, line {where.lineno}, {where.name}")
    kept = _KEEP_ACCOUNT(error)
    if kept is not None:
        lines.append(f"  the whole account is in {kept}")
    return "".join(safe(line, limit=_WIDEST) + "\n" for line in lines)
