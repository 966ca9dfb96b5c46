"""The explorer: an app round a session, which it knows by commands and snapshots only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from textual.app import SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.screen import Screen

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.session.commands import Command, Scratch, Type
from tokentui.session.snapshot import Snapshot
from tokentui.ui.actions import ActionCommands, Palette, always_bindings
from tokentui.ui.asking import Asking
from tokentui.ui.draw import theme
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.editing import Editing
from tokentui.ui.main import MainScreen
from tokentui.ui.messages import Snapshotted
from tokentui.ui.panes.waits import waits_for
from tokentui.ui.retraining import Retraining
from tokentui.ui.terminal.app import TerminalApp

if TYPE_CHECKING:
    from tokentui.session.saved import Kept
    from tokentui.ui.keeping import Keeping

BACKLOG_S = 0.05
"""How long to wait before looking again whether a slow terminal has taken what was written."""


class SessionLike(Protocol):
    """What the app needs of a session; `tokentui.session.driver.Session` is one."""

    async def start(self) -> None:
        """Begin to take commands."""

    async def close(self) -> None:
        """Stop, wherever it is."""

    def send(self, command: Command) -> asyncio.Future[Any]:
        """Hand in a command; its answer comes later, or a `TokentuiError`."""


@runtime_checkable
class Follower(Protocol):
    """A dialog, or another screen over the main one, that follows what is trained."""

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take what the main screen shows."""


class ExplorerApp(TerminalApp):
    """The explorer.

    Args:
        session_factory: Makes the session; it is given what to call with each snapshot, on the event loop.
        typed: What stands in the encode pane at first.
        begin: Called with the session once it has started, to open a corpus; a failure is shown in a line.
        then: Called once the corpus is open.
        run: The words of the run that the session begins with, for the dialog that changes them.
        boundaries: How tokens of the corpus are told apart; by shades where there are colours for them if None.
        begun: What the command line names, as a session that is kept; None to keep none.
        offer: A session that was not left by its user, and what has to be said of it: it is offered before anything is opened.
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
        then: Callable[[ExplorerApp], object] | None = None,
        run: Mapping[str, Any] | None = None,
        boundaries: Boundaries | None = None,
        begun: Kept | None = None,
        offer: tuple[Kept, str] | None = None,
    ) -> None:
        super().__init__()
        self._begun, self._offer = begun, offer
        self.keeping: Keeping | None = None
        self._factory = session_factory
        self._typed = typed
        self._begin, self._then = begin, then
        self._boundaries = boundaries
        self.retraining = Retraining(self)
        self.asking, self.editing = Asking(self, dict(run or {})), Editing(self)
        self.session: SessionLike | None = None
        self._pending: Snapshot | None = None
        self._notes: tuple[str, ...] = ()
        self._said: dict[str, float] = {}
        """Until when a line that was said is seen."""
        self.register_theme(theme.DARK)
        self.register_theme(theme.LIGHT)
        # Not by assignment, which has all styles read twice before the first paint.
        self.set_reactive(ExplorerApp.theme, theme.DARK_NAME)
        self.stylesheet.set_variables(self.get_css_variables())

    # What the terminal gets.

    def get_css_variables(self) -> dict[str, str]:
        """Textual's variables, and over them those of the theme and our own."""
        return {**super().get_css_variables(), **theme.variables(self.current_theme)}

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """None of Textual's: the palette has our actions."""
        return ()

    def action_command_palette(self) -> None:
        """Show the palette, our own."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(Palette(id="--command-palette"))

    # From beginning to end.

    def get_default_screen(self) -> Screen[Any]:
        """The main screen, below all others. It is made here and not before: an input asks the running app for its looks."""
        few_colours = self.no_color or self.console.color_system == "standard"
        self.main = MainScreen(self._typed, self._boundaries or ("bars" if few_colours else "shade"))
        return self.main

    async def on_mount(self) -> None:
        """Start the session."""
        self.look_after_the_terminal()
        self.session = self._factory(self._publish)
        await self.session.start()
        if self._typed:
            self.send(Type(self._typed))
        if self._offer is not None:
            self._offer_to_go_on(*self._offer)
        else:
            self._begin_anew()

    def _begin_anew(self) -> None:
        def opened(_: Any) -> None:
            if self.keeping is not None:  # it may have begun before anything was open
                self.keeping.fingerprint()
            if self._then is not None:
                self._then(self)

        if self._begin is not None:
            self.await_answer(self._begin(self.session), opened, self.tell)

    def _offer_to_go_on(self, kept: Kept, note: str) -> None:
        from tokentui.ui.dialogs.offer import OfferScreen

        def answered(wanted: bool | None) -> None:
            self._offer = None
            if wanted:
                self._keep().go_on(kept)
                return
            self._begin_anew()
            if wanted is None:
                self._begun = None  # to be offered again it has to stay as it is: what is done now is not kept over it
            else:
                self._keep().give_up(kept)

        self.push_screen(OfferScreen(kept, note), answered)

    def _keep(self) -> Keeping:
        """What keeps the session. It is loaded with the first need: it takes longer than a frame."""
        if self.keeping is None:
            from tokentui.ui.keeping import Keeping

            self.keeping = Keeping(self, self._begun)
            self.keeping.begin()
        return self.keeping

    def reopen(self, kept: Kept) -> asyncio.Future[Any]:
        """Open what a session had open."""
        session: Any = self.session
        if kept.scratch is not None:
            answer: asyncio.Future[Any] = session.send(Scratch(kept.scratch))
        elif kept.tokenizer:
            answer = session.open_tokenizer(kept.tokenizer, kept.split, kept.sources, kept.as_, kept.field_)
        else:
            answer = session.open(kept.sources, kept.as_, kept.field_)
        return answer

    def exit(self, result: None = None, return_code: int = 0, message: Any | None = None) -> None:
        """Leave, with all that is on the screen kept."""
        if self.keeping is not None:
            self.keeping.look()
        super().exit(result, return_code, message)

    async def on_unmount(self) -> None:
        """Close the session."""
        try:
            if self.keeping is not None:
                await self.keeping.end(left=self.left)
        finally:
            if self.session is not None:
                await self.session.close()

    # From and to the session.

    def _publish(self, snapshot: Snapshot) -> None:
        self.post_message(Snapshotted(snapshot))

    def on_snapshotted(self, message: Snapshotted) -> None:
        """Show a snapshot, unless it only says that what comes next is on its way, or the terminal has not taken the last."""
        quiet = self.retraining.quiet and not message.snapshot.waiting
        if quiet and (message.snapshot.busy is not None or message.snapshot.partial):
            return
        waiting, self._pending = self._pending, message.snapshot
        if waiting is None:
            self._show_pending()

    def _show_pending(self) -> None:
        if self._pending is None:
            return
        if self.backlog():
            self.set_timer(BACKLOG_S, self._show_pending)
            return
        snapshot, self._pending = self._pending, None
        self.main.show(snapshot)
        for screen in self.screen_stack[1:]:
            if isinstance(screen, Follower):
                screen.follow(snapshot)
        if self._begun is not None and self._offer is None and not snapshot.partial:
            self._keep()
        if snapshot.notes != self._notes:
            self._notes = snapshot.notes
            for note in snapshot.notes:
                self.say(note, "warning")

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
            answered = lambda answer: self._answered(command, answer, then)  # noqa: E731
            self.await_answer(self.session.send(command), answered, failed or self.tell)

    def _answered(self, command: Command, answer: Any, then: Callable[[Any], object] | None) -> None:
        if self.keeping is not None:
            self.keeping.answered(command)
        if then is not None:
            then(answer)

    def await_answer(
        self, answer: asyncio.Future[Any], then: Callable[[Any], object] | None, failed: Callable[[BaseException], object],
    ) -> None:
        """Call one or the other once an answer is there; not after the end of the app."""

        def answered(future: asyncio.Future[Any]) -> None:
            if future.cancelled():
                return
            error = future.exception()  # read in any case: a failure that nobody has looked at counts as a crash
            if not self.is_running:
                return
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

    def loads(self) -> bool:
        """Whether something is seen to be loaded, or nothing is there yet."""
        now = self.main.snapshot
        return now is None or now.partial or (now.nothing and now.busy is not None)

    def not_yet(self) -> None:
        """Refuse what needs a training that is not there yet."""
        self.say(f"not yet: {waits_for(self.main.snapshot)}; press the key again then", "warning")

    def say(self, text: str, severity: Any = "information") -> None:
        """Show a line for some seconds."""
        said = safe(text, limit=400)
        now = time.monotonic()
        if now < self._said.get(said, 0.0):
            return  # it is there still: a key that is held would heap it up
        self._said = {one: end for one, end in self._said.items() if end > now} | {said: now + self.NOTIFICATION_TIMEOUT}
        self.notify(said, severity=severity, markup=False)
