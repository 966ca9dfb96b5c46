"""The explorer: an app round a session, which it knows by commands and snapshots only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from rich.console import RenderableType
from textual.actions import SkipAction
from textual.screen import Screen

from tokentui.core.choices import Ref
from tokentui.core.errors import Cancelled, TokentuiError, in_words
from tokentui.core.safetext import safe
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.commands import Command
from tokentui.session.snapshot import Snapshot
from tokentui.ui.actions import ACTIONS, COMPARE_ACTIONS, MAIN_ACTIONS, plays
from tokentui.ui.chosen import Chosen
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.face import SessionLike, Severity
from tokentui.ui.history import NavigationHistory
from tokentui.ui.keys import Acting
from tokentui.ui.main import MainScreen
from tokentui.ui.screen import PaneScreen
from tokentui.ui.terminal_app import TerminalApp
from tokentui.ui.tour_recorder import TourRecorder

if TYPE_CHECKING:  # loaded when it is first wanted
    from tokentui.session.saved import SavedSession
    from tokentui.session.tours import Tour
    from tokentui.session.views import ColumnWanted
    from tokentui.ui.autosave import Autosave

Answer = TypeVar("Answer")
Result = TypeVar("Result")
Posted = Callable[[Command[Any], Snapshot | None], object]
"""Takes a command that is about to be sent, and the snapshot that the screen shows."""

_FIRST = Ref("tokentui.ui.start:show")
_LINES_A_MESSAGE = 12
"""The lines of the screen for each message that is seen at once: so they cover nothing but the corpus."""
BACKLOG_S = 0.05
"""The delay in seconds before the backlog of a slow terminal is checked again."""


@runtime_checkable
class Follower(Protocol):
    """A dialog, or another screen over the main one, that follows what is trained."""

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take what the main screen shows."""


class ExplorerApp(Acting, TerminalApp):
    """The explorer; it is the `Face` that panes, dialogs and helpers get.

    Args:
        session_factory: Makes the session; it is given what to call with each snapshot, on the event loop.
        typed: The initial text of the encode pane; None for that of the settings.
        begin: Called with the session once it has started, to open a corpus; a failure is shown in a line.
        then: Called once the corpus is open.
        run: The run that the session begins with.
        boundaries: The mark between tokens of the corpus; by shades where there are colours for them if
            None.
        begun: The session that the command line names, to be saved; None to save none.
        offer: The last session, and a note about it: it is offered before anything is opened.
        first_screen: True to show the first screen.
        tour: A tour to play at once.
        kept: What the file of settings holds by name; nothing of it is trusted.
        wrong: What is wrong with that file; empty for nothing.
    """

    TITLE = "tokentui"
    CSS_PATH = "app.tcss"
    ACTIONS = ACTIONS
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        session_factory: Callable[[Callable[[Snapshot], None]], SessionLike],
        *,
        typed: str | None = "",
        begin: Callable[..., asyncio.Future[None]] | None = None,
        then: Callable[[ExplorerApp], object] | None = None,
        run: Run | None = None,
        boundaries: Boundaries | None = None,
        begun: SavedSession | None = None,
        offer: tuple[SavedSession, str] | None = None,
        first_screen: bool = False,
        tour: Tour | None = None,
        kept: Mapping[str, object] | None = None,
        wrong: str = "",
    ) -> None:
        super().__init__()
        self._first_screen, self._tour = first_screen, tour
        self._begun, self._offer = begun, offer
        source = begun.sources[0] if begun is not None and len(begun.sources) == 1 and not begun.as_ else ""
        self._on_posted: list[Posted] = []
        self._on_opened: list[Callable[[Command[Any]], object]] = []
        self.recorder = TourRecorder(source, lambda: self.run_in_use)
        self.history = NavigationHistory(self)
        self.autosave: Autosave | None = None
        self.subscribe(self.history.posted)
        self.subscribe(self.recorder.posted, self.recorder.opened)
        self.subscribe(opened=self._use_run)
        self._factory = session_factory
        self.chosen = Chosen(self, kept or {}, wrong)
        self._typed = self.chosen.sentence if typed is None else typed
        self._begin, self._then = begin, then
        self._boundaries = boundaries
        self._newest: object = None
        """The latest command that opens something; cancellation of older ones is not reported."""
        self.run_in_use: Run = run or Run()
        self.run_given = self.run_in_use
        self.session: SessionLike | None = None
        self.snapshot: Snapshot | None = None
        """The last snapshot of the session; the main screen shows those of one column."""
        self._pending: Snapshot | None = None
        self._notes: tuple[str, ...] = ()
        self._said: dict[str, tuple[float, Severity]] = {}
        """Until when each line that was said is seen, the newest last."""
        self.register_theme(ui_text.DARK)
        self.register_theme(ui_text.LIGHT)
        # Not by assignment, which has all styles read twice before the first paint.
        self.set_reactive(ExplorerApp.theme, ui_text.DARK_NAME)
        self.stylesheet.set_variables(self.get_css_variables())

    # What the terminal gets.

    def get_css_variables(self) -> dict[str, str]:
        """Textual's variables, and over them those of the theme and our own."""
        return {**super().get_css_variables(), **ui_text.variables(self.current_theme)}

    def action_go_back(self) -> None:
        """Go to the place before the last jump. In a tour there is none: the places are the user's own."""
        if isinstance(self.screen, PaneScreen) and self.screen.face is not self:
            self.say("a tour has no place to go back to: esc leaves it")
        else:
            self.history.go_back()

    async def action_do(self, key: str) -> None:
        """Do what a key stands for: one of the program's own, or one of the screen that is seen."""
        always = next((one for one in ACTIONS if one.always and key in one.keys), None)
        on: Any = self if always is not None else self.screen
        action = always or (on.action_of(key) if isinstance(on, PaneScreen) else None)
        if action is None or action.does is None:
            if isinstance(on, PaneScreen) and on.kind == "compare":
                self._tell_where(key)
            raise SkipAction
        done = action.does(on)
        if isawaitable(done):
            await done

    def _tell_where(self, key: str) -> None:
        """Say that a letter is a key of the main screen, where it is one."""
        for one in MAIN_ACTIONS:
            if key in one.keys and len(key) == 1 and one.palette and not one.needs:
                self.say(f"{key} ({one.label}) works on the main screen: esc goes back there")
                return

    # From beginning to end.

    def get_default_screen(self) -> MainScreen:
        """The main screen, below all others. It is made here and not before: an input asks the running app
        for its looks.
        """
        self.main = MainScreen(self, MAIN_ACTIONS, self._typed,
            self._boundaries or self.usual_boundaries)
        return self.main

    @property
    def usual_boundaries(self) -> Boundaries:
        """Shades, or bars where the terminal has few colours."""
        few_colours = self.no_color or self.console.color_system == "standard"
        return "bars" if few_colours else "shade"

    async def on_mount(self) -> None:
        """Start the session."""
        self.watch_failures()
        self.session = self._factory(self.show_later)
        await self.session.start()
        self.chosen.take_effect()
        if self._typed:
            self.send(do.SetInput(self._typed))
        if self._offer is not None:
            self._offer_to_go_on(*self._offer)
        else:
            self._begin_anew()

        if self._first_screen:
            _FIRST(self)
        if self._tour is not None:
            plays(self._tour)(self.main)

    def _begin_anew(self) -> None:
        def opened(_: None) -> None:
            if self.autosave is not None:  # it may have begun before anything was open
                self.autosave.fingerprint()
            if self._then is not None:
                self._then(self)

        if self._begin is not None and self.session is not None:
            self.await_answer(self._begin(self.session), opened, self.tell)

    def _offer_to_go_on(self, kept: SavedSession, note: str) -> None:
        from tokentui.ui.autosave import OfferScreen

        def answered(wanted: bool | None) -> None:
            self._offer = None
            if wanted:
                self._start_autosave().resume(kept)
                return
            self._begin_anew()
            if wanted is None:
                # to be offered again it has to stay as it is: what is done now is not kept over it
                self._begun = None
            else:
                self._start_autosave().dismiss(kept)

        self.push_screen(OfferScreen(self, kept, note), answered)

    def _start_autosave(self) -> Autosave:
        """Return the autosave. It is loaded on first use: loading takes longer than a frame."""
        if self.autosave is None:
            from tokentui.ui.autosave import Autosave

            self.autosave = Autosave(self, self.main, self._begun)
            self.subscribe(opened=self.autosave.opened)
            self.after_input = self.autosave.schedule
        return self.autosave

    def _use_run(self, command: Command[Any]) -> None:
        if isinstance(command, do.SetRecipe) and command.run is not None:
            self.run_in_use = command.run

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave, with all that is on the screen kept."""
        if self.autosave is not None:
            self.autosave.capture()
        super().exit(result, return_code, message)

    async def on_unmount(self) -> None:
        """Close the session."""
        try:
            if self.autosave is not None:
                await self.autosave.end(left=self.left)
        finally:
            if self.session is not None:
                await self.session.close()

    # From the session.

    def show_later(self, snapshot: Snapshot) -> None:
        """Show a snapshot as soon as the terminal has taken the last one; a newer one replaces it meanwhile.

        The answers of the same turn of the engine are handled first: their callbacks are in the queue of the
        event loop already, and the snapshot is queued after them. A callback that needs the effect of its
        command on the screen waits for the next snapshot. The answer of a command that was sent before the
        engine was loaded takes one step of the loop more, and may come after the snapshot.
        """
        asyncio.get_running_loop().call_soon(self._queue_snapshot, snapshot)

    def _queue_snapshot(self, snapshot: Snapshot) -> None:
        waiting, self._pending = self._pending, snapshot
        if waiting is None:
            self.call_later(self._show_pending)

    def _show_pending(self) -> None:
        if self._pending is None:
            return
        if self.backlog():
            self.set_timer(BACKLOG_S, self._show_pending)
            return
        self.snapshot = snapshot = self._pending
        self._pending = None
        if len(snapshot.columns) == 1:
            self.main.show(snapshot)
        for screen in self.screen_stack[1:]:
            if isinstance(screen, Follower) and getattr(screen, "face", self) is self:
                screen.follow(snapshot)
        if self._begun is not None and self._offer is None and not snapshot.main.partial:
            self._start_autosave()
        if self.autosave is not None:
            self.autosave.schedule()
        if snapshot.corpus.notes != self._notes:
            known, self._notes = self._notes, snapshot.corpus.notes
            for note in self._notes:
                if note not in known:
                    self.say(note, "warning")

    def another_session(self, publish: Callable[[Snapshot], None]) -> SessionLike:
        """Make a session besides that of the user, for a tour."""
        return self._factory(publish)

    # The face.

    def subscribe(
        self, posted: Posted | None = None, opened: Callable[[Command[Any]], object] | None = None
    ) -> None:
        """Watch the commands of the user's session.

        Args:
            posted: Called with each command before it is sent, and with what the screen shows then.
            opened: Called with each command that has opened something, before its answer is handled.
        """
        if posted is not None:
            self._on_posted.append(posted)
        if opened is not None:
            self._on_opened.append(opened)

    def post(self, command: Command[Answer]) -> asyncio.Future[Answer]:
        """Send a command to the session, and notify the subscribers. All commands of the user pass here.

        Raises:
            Cancelled: The session has not started.
        """
        if self.session is None:
            raise Cancelled
        for posted in self._on_posted:
            posted(command, self.snapshot)
        answer = self.session.send(command)
        if command.opens:
            self._newest = command
            self.await_answer(answer, lambda _: self._notify_opened(command), lambda error: None)
        return answer

    def _notify_opened(self, command: Command[Any]) -> None:
        for opened in self._on_opened:
            opened(command)

    def send(
        self, command: Command[Answer], then: Callable[[Answer], object] | None = None,
        failed: Callable[[BaseException], object] | None = None,
    ) -> None:
        """Post a command, and call back with its answer; see `Face.send`. A text or recipe that another one
        replaces before it is open does not fail.
        """
        failed = failed or self.tell

        def unless_replaced(error: BaseException) -> None:
            replaced = isinstance(command, do.SetRecipe | do.TrainOnText) and command is not self._newest
            if not (replaced and isinstance(error, Cancelled)):
                failed(error)

        if self.session is not None:
            self.await_answer(self.post(command), then, unless_replaced)

    async def ask(self, command: Command[Answer]) -> Answer:
        """Post a command and wait for its answer; see `Face.ask`."""
        try:
            return await self.post(command)
        except (TokentuiError, Cancelled):
            raise
        except Exception as error:
            raise TokentuiError(in_words(error)) from error

    def await_answer(
        self, answer: asyncio.Future[Answer], then: Callable[[Answer], object] | None,
        failed: Callable[[BaseException], object],
    ) -> None:
        """Call one or the other once an answer is there; not after the end of the app."""

        def answered(future: asyncio.Future[Answer]) -> None:
            if future.cancelled():
                return
            error = future.exception()  # read in any case: an exception never retrieved counts as a crash
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
        else:
            self.say(in_words(error), "warning" if isinstance(error, do.NothingOpen) else "error")

    def say(self, text: str, severity: Severity = "information") -> None:
        """Show a line for some seconds; the oldest give way to it where there are many."""
        said = safe(text, limit=400)
        now = time.monotonic()
        if said in self._said and now < self._said[said][0]:
            return  # it is there still: a key that is held would heap it up
        seen = {one: told for one, told in self._said.items() if told[0] > now}
        most = self.screen.MESSAGES if isinstance(self.screen, PaneScreen) else 0
        most = most or max(1, self.size.height // _LINES_A_MESSAGE)
        self._said = dict([*seen.items(), (said, (now + self.NOTIFICATION_TIMEOUT, severity))][-most:])
        again = [said]
        if len(seen) >= most:
            self.call_later(self._clear_messages)  # in turn with what is still on its way
            again = [*self._said]
        for one in again:
            end, kind = self._said[one]
            self.notify(one, severity=kind, markup=False, timeout=end - now)

    def _clear_messages(self) -> None:
        """Take all messages away, and the room that each was given."""
        self.clear_notifications()
        self.screen.query("ToastHolder").remove()

    def push(self, screen: Screen[Result], then: Callable[[Result | None], object] | None = None) -> None:
        """Show a dialog; `then` is called with its result."""
        self.push_screen(screen, then)  # type: ignore[arg-type]

    def compare(self, columns: Sequence[ColumnWanted], held_out: str = "") -> None:
        """Compare columns on the corpus that is open; see `Face.compare`."""
        from tokentui.ui.compare import CompareScreen

        if self.snapshot is not None and self.snapshot.running:
            self.send(do.Play(False))
        screen = CompareScreen(self, COMPARE_ACTIONS, self.main.encode.line.value)

        def left(_: None) -> None:
            self.send(do.Leave())
            self.send(do.SetViewport(self.main.look))
            self.main.encode.line.value = screen.encode.line.value  # one text is typed, wherever it is seen

        def failed(error: BaseException) -> None:
            self.tell(error)
            screen.dismiss(None)

        self.send(do.Compare(tuple(columns)), failed=failed)
        if held_out:
            self.send(do.HoldOut(held_out))
        self.push_screen(screen, left)
