"""The link between the screens and a session: commands go in, answers and snapshots come out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

from tokentui.core.errors import Cancelled, TokentuiError, in_words
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.commands import Command
from tokentui.session.snapshot import Snapshot
from tokentui.ui.guard import Guarded, GuardedApp
from tokentui.ui.late_session import LateSession
from tokentui.ui.settings import UserSettings
from tokentui.ui.tour_recorder import TourRecorder

if TYPE_CHECKING:
    from tokentui.session.engine.driver import Session
    from tokentui.session.views import ColumnWanted
    from tokentui.tours.parser import Tour
    from tokentui.ui.draw.text import Copied

Answer = TypeVar("Answer")
Result = TypeVar("Result")
Posted = Callable[[Command[Any], Snapshot | None], object]
"""Takes a command that is about to be sent, and the snapshot that the screens show."""
BACKLOG_S = 0.05
"""The delay in seconds before the backlog of a slow terminal is checked again."""


class EngineLink:
    """The link between the screens and a session. The app has one; each tour has one of its own.

    Snapshots pass through a mailbox of one slot, which is emptied when the terminal has taken the last one; a
    newer snapshot replaces one that waits. With a key held for 3 s at 9,600 bytes/s the screen lags 0.4 s. A
    plain Textual table lags 17 s, since `Message.can_replace` compares a message only with the next one in
    the queue and knows no backlog of the terminal.

    Args:
        app: The app.
        make_session: Makes the session; it is given the function to call with each snapshot, on the event
            loop.
        run: The run that the session begins with.
    """

    def __init__(
        self, app: GuardedApp, make_session: Callable[[Callable[[Snapshot], None]], Session | LateSession],
        run: Run | None = None,
    ) -> None:
        self._app, self._make_session = app, make_session
        self.session: Session | LateSession | None = None
        self.snapshot: Snapshot | None = None
        """The last snapshot that the screens were given."""
        self.run: Run = run or Run()
        """The run in use."""
        self.first_run = self.run
        """The run that the session began with."""
        self._waiting: Snapshot | None = None
        """The snapshot in the mailbox."""
        self._on_posted: list[Posted] = []
        self._on_opened: list[Callable[[Command[Any]], object]] = []
        self._on_shown: list[Callable[[Snapshot], object]] = []

    @property
    def user_keys(self) -> Mapping[str, str]:
        """The keys that the user gave to bindings, by id."""
        return self._app.user_keys

    async def start(self) -> None:
        """Start the session."""
        self.session = self._make_session(self.show_later)
        await self.session.start()

    async def close(self) -> None:
        """Close the session."""
        if self.session is not None:
            await self.session.close()

    def subscribe(
        self, posted: Posted | None = None, opened: Callable[[Command[Any]], object] | None = None,
        shown: Callable[[Snapshot], object] | None = None,
    ) -> None:
        """Watch the commands and the snapshots.

        Args:
            posted: Called with each command before it is sent, and with the snapshot that the screens show.
            opened: Called with each command that has opened something, before its answer is handled.
            shown: Called with each snapshot after the screens have followed it.
        """
        if posted is not None:
            self._on_posted.append(posted)
        if opened is not None:
            self._on_opened.append(opened)
        if shown is not None:
            self._on_shown.append(shown)

    # Commands.

    def post(self, command: Command[Answer]) -> asyncio.Future[Answer]:
        """Send a command to the session, and notify the subscribers. All commands pass here.

        Raises:
            Cancelled: The session has not started.
        """
        if self.session is None:
            raise Cancelled
        for posted in self._on_posted:
            posted(command, self.snapshot)
        answer = self.session.send(command)
        if command.opens:
            answer.add_done_callback(partial(self._notify_opened, command))
        return answer

    def _notify_opened(self, command: Command[Any], answer: asyncio.Future[Any]) -> None:
        """Notify the subscribers that a command has opened something, and remember the run of a recipe that
        was set. Do nothing after an error or a cancellation, and while the app ends."""
        if answer.cancelled() or answer.exception() is not None or not self._app.is_running:
            return
        if isinstance(command, do.SetRecipe) and command.run is not None:
            self.run = command.run
        for opened in self._on_opened:
            opened(command)

    def send(self, command: Command[Any]) -> None:
        """Send a command whose answer is not needed; the app shows an error. Do nothing before the session
        has started."""
        if self.session is not None:
            self.post(command).add_done_callback(self._show_error)

    def _show_error(self, answer: asyncio.Future[Any]) -> None:
        """Show the exception of an answer, of any kind, while the app runs. Do nothing for a cancelled
        answer."""
        if answer.cancelled():
            return
        error = answer.exception()  # read in any case: an exception never retrieved counts as a crash
        if error is not None and self._app.is_running:
            self._app.tell(error)

    async def ask(self, command: Command[Answer]) -> Answer:
        """Send a command and return its answer, which comes before the snapshot with its effect; see
        `show_later`.

        Raises:
            TokentuiError: The command failed, with any exception.
            Cancelled: It was stopped or replaced, or the session has not started.
        """
        try:
            return await self.post(command)
        except (TokentuiError, Cancelled):
            raise
        except Exception as error:
            raise TokentuiError(in_words(error)) from error

    # Snapshots.

    @property
    def snapshot_waits(self) -> bool:
        """True if a snapshot waits in the mailbox."""
        return self._waiting is not None

    def show_later(self, snapshot: Snapshot) -> None:
        """Put a snapshot into the mailbox.

        The answers of the same turn of the engine are handled first: what waits for them in `ask` is in the
        queue of the event loop already, and the snapshot is queued after it. Code that needs the effect of
        its command on the screen waits for the next snapshot. The answer of a command that was sent before
        the engine was loaded takes one step of the loop more, and may come after the snapshot.
        """
        asyncio.get_running_loop().call_soon(self._put, snapshot)

    def _put(self, snapshot: Snapshot) -> None:
        """Put a snapshot into the mailbox in place of one that waits, and schedule `_empty` if it was empty.
        """
        was_empty = self._waiting is None
        self._waiting = snapshot
        if was_empty:
            self._app.call_later(self._empty)

    def _empty(self) -> None:
        """Show the snapshot in the mailbox on all screens of the session, and notify the subscribers. While
        the terminal is still busy with the last one, try again after `BACKLOG_S` seconds."""
        if self._waiting is None or not self._app.is_running:
            return
        if self._app.backlog():
            self._app.set_timer(BACKLOG_S, self._empty)
            return
        self.snapshot = snapshot = self._waiting
        self._waiting = None
        for screen in self._app.screen_stack:
            if isinstance(screen, EngineScreen) and screen.engine is self:
                screen.follow(snapshot)
        for shown in self._on_shown:
            shown(snapshot)


class Explorer(GuardedApp):
    """The app as its screens and dialogs use it; `ExplorerApp` implements it."""

    make_session: Callable[[Callable[[Snapshot], None]], Session | LateSession]
    """Makes another session, such as that of a tour."""
    engine: EngineLink
    """The link to the session of the user."""
    user_settings: UserSettings
    recorder: TourRecorder
    has_chips: bool
    """True if the terminal has the colors of chips: 256 or more."""
    messages: Sequence[str]
    """What was said, as safe text, the newest last."""

    def compare(self, columns: Sequence[ColumnWanted], held_out: str = "") -> None:
        """Compare columns on the corpus that is open."""
        raise NotImplementedError

    def play_tour(self, tour: Tour) -> None:
        """Play a tour over the screen."""
        raise NotImplementedError

    def open_playground(self, text: str, left: Callable[[str], object]) -> None:
        """Open the playground over the screen.

        Args:
            text: Its text.
            left: Called with its text when it closes with one.
        """
        raise NotImplementedError

    def show_first_screen(self) -> None:
        """Show the first screen over the main one."""
        raise NotImplementedError

    def open_source(self, command: do.Open | do.OpenTokenizer) -> None:
        """Open a corpus or a tokenizer on the main screen."""
        raise NotImplementedError

    def open_file(self, path: str) -> None:
        """Open a file on the main screen, as a corpus or a tokenizer according to its content."""
        raise NotImplementedError

    @property
    def keyed(self) -> Screen[Any]:
        """The screen that takes the keys: the topmost one, or the one below it that has the keyboard."""
        screen = self.screen
        return (screen.hands_keys_to if isinstance(screen, EngineScreen) else None) or screen

    def when_ready(self, act: Callable[[], None]) -> None:
        """Call a function once what the start opens is open, and hold all keys until then."""
        raise NotImplementedError

    def ask_copy(self, dialog: EngineScreen[Any], texts: Iterable[Copied]) -> None:
        """Ask which text of a dialog to copy: the row under the cursor, or one of `texts`."""
        raise NotImplementedError


class EngineScreen(Guarded, Screen[Result]):
    """A screen about a session: it follows the snapshots of its engine link, and is dismissed at most once.

    Of two keys that dismiss it and arrive in one packet, the second would dismiss the screen below. An answer
    may dismiss a screen while others are over it: these are dismissed too.

    Args:
        engine: The link to the session.
        classes: The initial classes.
    """

    beside_inspector: ClassVar[bool] = False
    """True if its panes can have the keys while the inspector stands beside them."""
    if TYPE_CHECKING:

        app: Explorer

    def action_find_anything(self) -> None:
        """Open the finder; does nothing on a screen without one. A chosen entry closes the dialogs over the
        screen before it acts."""

    def type_text(self, text: str) -> None:
        """Put a text into the line to type in, and focus it; does nothing on a screen without one."""

    def keys_moved(self) -> None:
        """Update the keys after the inspector beside the screen took or gave back the keyboard; does nothing
        by default."""

    def __init__(self, engine: EngineLink, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.engine = engine
        self._dismissed = False
        self.hands_keys_to: Screen[Any] | None = None
        """The screen below that takes the keys in place of this one; None if this one takes them."""

    def take_keys(self) -> None:
        """Take the keyboard back from the screen below."""
        self.hands_keys_to = None

    def follow(self, snapshot: Snapshot) -> None:
        """Handle a new snapshot. The last one before the screen was shown is `engine.snapshot`."""
        raise NotImplementedError

    def lay_out(self) -> None:
        """Fit the content to the size of the screen; does nothing by default."""

    def on_screen_suspend(self) -> None:
        """Hide the notifications, which the screen above shows. Textual shows them again when this one
        resumes."""
        self.query("ToastRack").set(display=False)

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the screen with a result, and any screens over it; cancel its workers, whose answers would go
        to removed widgets. A second call does nothing."""
        if self._dismissed:
            return AwaitComplete()
        self._dismissed = True
        for worker in list(self.workers):
            if self in worker.node.ancestors_with_self:
                worker.cancel()
        # `Screen.dismiss` takes the topmost screen from the stack, whichever it is.
        while self in self.app.screen_stack and not self.is_active:
            self.app.screen.dismiss()
        return super().dismiss(result)

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """Call a function after the next frame, unless the screen is dismissed by then. Return whether the
        call was scheduled."""
        return super().call_after_refresh(
            lambda: None if self._dismissed else callback(*args, **kwargs)
        )
