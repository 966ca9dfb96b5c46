"""The explorer: an app round a session, which it knows by commands and snapshots only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen

from tokentui.commands import Command, Type
from tokentui.errors import Cancelled, TokentuiError
from tokentui.safetext import safe
from tokentui.snapshot import Snapshot
from tokentui.ui import theme
from tokentui.ui.actions import ActionCommands, always_bindings
from tokentui.ui.asking import Asking
from tokentui.ui.editing import Editing
from tokentui.ui.guard import ControlGuard
from tokentui.ui.messages import Snapshotted
from tokentui.ui.retraining import Retraining
from tokentui.ui.screens.main import MainScreen
from tokentui.ui.widgets.running import Boundaries

BACKLOG_S = 0.05
"""How long to wait before looking again whether a slow terminal has taken what was written."""
CLIPBOARD_BYTES = 74_000
"""The most that is handed to the terminal's clipboard: common terminals drop what is longer."""
HANGUP_S = 1.0
"""How often to look whether the terminal has gone."""


class SessionLike(Protocol):
    """What the app needs of a session; `tokentui.session.Session` is one."""

    async def start(self) -> None:
        """Begin to take commands."""

    async def close(self) -> None:
        """Stop, wherever it is."""

    def send(self, command: Command) -> asyncio.Future[Any]:
        """Hand in a command; its answer comes later, or a `TokentuiError`."""


class ExplorerApp(App[None]):
    """The explorer.

    Args:
        session_factory: Makes the session; it is given what to call with each snapshot, on the event loop.
        typed: What stands in the encode pane at first.
        begin: Called with the session once it has started, to open a corpus; a failure is shown in a line.
        run: The words of the run that the session begins with, for the dialog that changes them.
        boundaries: How tokens of the corpus are told apart; by shades where there are colours for them if None.
    """

    TITLE = "tokentui"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*always_bindings()]
    COMMANDS = {ActionCommands}  # noqa: RUF012 - Textual's own annotation
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        session_factory: Callable[[Callable[[Snapshot], None]], SessionLike],
        *,
        typed: str = "",
        begin: Callable[[Any], asyncio.Future[Any]] | None = None,
        run: Mapping[str, Any] | None = None,
        boundaries: Boundaries | None = None,
    ) -> None:
        self._guard = ControlGuard()
        self._plain = NoColor()
        super().__init__()
        self.animation_level = "none"
        self._factory = session_factory
        self._typed = typed
        self._begin = begin
        self._boundaries = boundaries
        self.retraining = Retraining(self)
        self.asking, self.editing = Asking(self, dict(run or {})), Editing(self)
        self.session: SessionLike | None = None
        self._pending: Snapshot | None = None
        self._notes: tuple[str, ...] = ()
        self.register_theme(theme.DARK)
        self.register_theme(theme.LIGHT)
        self.theme = theme.DARK_NAME

    # What the terminal gets.

    def get_css_variables(self) -> dict[str, str]:
        """Textual's variables, and over them those of the theme and our own."""
        return {**super().get_css_variables(), **theme.variables(self.current_theme)}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Nothing unsafe, and no colour at all, not even grey, where none is wanted."""
        filters = [one for one in super().get_line_filters() if not isinstance(one, Monochrome)]
        return [*filters, *([self._plain] if self.no_color else []), self._guard]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """None of Textual's: the palette has our actions."""
        return ()

    def copy_to_clipboard(self, text: str) -> None:
        """Keep what is cut, to be pasted as it is, and hand it to the terminal as far as a terminal takes it."""
        data = text.encode("utf-8", "replace")
        if len(data) <= CLIPBOARD_BYTES:
            super().copy_to_clipboard(data.decode())
        self._clipboard = text

    def action_repaint(self) -> None:
        """Draw everything again."""
        self.refresh(layout=True)

    # From beginning to end.

    async def on_mount(self) -> None:
        """Start the session, and let signals end the app as they should."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread
                loop.add_signal_handler(number, self._end_by_signal, number)
        if not self.is_headless and os.isatty(0):
            self.set_interval(HANGUP_S, self._look_for_hangup)
        few_colours = self.no_color or self.console.color_system == "standard"
        # Made here and not before: an input asks the running app for its looks.
        self.main = MainScreen(self._typed, self._boundaries or ("bars" if few_colours else "shade"))
        await self.push_screen(self.main)
        self.session = self._factory(self._publish)
        await self.session.start()
        if self._typed:
            self.send(Type(self._typed))
        if self._begin is not None:
            self._await_answer(self._begin(self.session), None, self.tell)

    async def on_unmount(self) -> None:
        """Close the session."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)
        if self.session is not None:
            await self.session.close()

    def _end_by_signal(self, number: int) -> None:
        self.exit(return_code=128 + number)

    def _look_for_hangup(self) -> None:
        # A terminal that has gone while SIGHUP is ignored would be read from for ever.
        poll = select.poll()
        poll.register(0, 0)
        if any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0)):
            self.exit(return_code=128 + signal.SIGHUP)
            return
        # Of two changes of size that follow at once the second may be missed: then the screen would stay at the first.
        with contextlib.suppress(OSError):
            if tuple(os.get_terminal_size(0)) != tuple(self.size):
                signal.raise_signal(signal.SIGWINCH)

    # From and to the session.

    def _publish(self, snapshot: Snapshot) -> None:
        self.post_message(Snapshotted(snapshot))

    def on_snapshotted(self, message: Snapshotted) -> None:
        """Show a snapshot, unless it only says that what comes next is on its way, or the terminal has not taken the last."""
        if self.retraining.quiet and (message.snapshot.busy is not None or message.snapshot.partial):
            return
        waiting, self._pending = self._pending, message.snapshot
        if waiting is None:
            self._show_pending()

    def _show_pending(self) -> None:
        if self._pending is None:
            return
        if self._backlog():
            self.set_timer(BACKLOG_S, self._show_pending)
            return
        snapshot, self._pending = self._pending, None
        self.main.show(snapshot)
        if snapshot.notes != self._notes:
            self._notes = snapshot.notes
            for note in snapshot.notes:
                self.say(note, "warning")

    def _backlog(self) -> bool:
        """Whether the terminal is slower than we write. Without Textual's writer thread nothing is known: then not."""
        queue = getattr(getattr(self._driver, "_writer_thread", None), "_queue", None)
        return queue is not None and queue.qsize() > 0

    def send(
        self, command: Command, then: Callable[[Any], object] | None = None,
        failed: Callable[[BaseException], object] | None = None,
    ) -> None:
        """Hand a command to the session.

        Args:
            command: The command.
            then: Called with the answer.
            failed: Called with what went wrong. It is shown in a line if this is None.
        """
        if self.session is not None:
            self._await_answer(self.session.send(command), then, failed or self.tell)

    def _await_answer(
        self, answer: asyncio.Future[Any], then: Callable[[Any], object] | None, failed: Callable[[BaseException], object],
    ) -> None:
        def answered(future: asyncio.Future[Any]) -> None:
            if future.cancelled() or not self.is_running:
                return
            error = future.exception()
            if error is None:
                if then is not None:
                    then(future.result())
            else:
                failed(error)

        answer.add_done_callback(answered)

    def tell(self, error: BaseException) -> None:
        """Show what went wrong in a line."""
        if isinstance(error, Cancelled):
            self.say("stopped")
        elif isinstance(error, TokentuiError):
            self.say(str(error), "error")
        else:
            self.say(f"this should not happen: {type(error).__name__}: {error}", "error")

    def say(self, text: str, severity: Any = "information") -> None:
        """Show a line for some seconds."""
        self.notify(safe(text, limit=400), severity=severity, markup=False)
