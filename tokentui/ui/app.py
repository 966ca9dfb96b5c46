"""The explorer: an app round a session, which it knows by commands and snapshots only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from tokentui.ui.back import Back
from tokentui.ui.chosen import Chosen
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.face import SessionLike, Severity
from tokentui.ui.keys import Acting
from tokentui.ui.main import MainScreen
from tokentui.ui.screen import PaneScreen
from tokentui.ui.terminal.app import TerminalApp
from tokentui.ui.walk import LEFT_OUT, Passed, Walk

if TYPE_CHECKING:  # loaded when it is first wanted
    from tokentui.session.saved import SavedSession
    from tokentui.session.tours import Tour
    from tokentui.session.views import ColumnWanted
    from tokentui.ui.keeping import Keeping

Answer = TypeVar("Answer")
Result = TypeVar("Result")

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
        self.walk = Walk(source)
        self.back = Back(self)
        self.keeping: Keeping | None = None
        self._factory = session_factory
        self.chosen = Chosen(self, kept or {}, wrong)
        self._typed = self.chosen.sentence if typed is None else typed
        self._begin, self._then = begin, then
        self._boundaries = boundaries
        self._newest: object = None
        """The last command that opens something; one before it that gave way has nothing to say."""
        self.run_in_use = self.run_given = run or Run()
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
            self.back.go()

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
        self.session = self._factory(self._publish)
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
            if self.keeping is not None:  # it may have begun before anything was open
                self.keeping.fingerprint()
            if self._then is not None:
                self._then(self)

        if self._begin is not None and self.session is not None:
            self.await_answer(self._begin(self.session), opened, self.tell)

    def _offer_to_go_on(self, kept: SavedSession, note: str) -> None:
        from tokentui.ui.keeping import OfferScreen

        def answered(wanted: bool | None) -> None:
            self._offer = None
            if wanted:
                self._keep().go_on(kept)
                return
            self._begin_anew()
            if wanted is None:
                # to be offered again it has to stay as it is: what is done now is not kept over it
                self._begun = None
            else:
                self._keep().give_up(kept)

        self.push_screen(OfferScreen(self, kept, note), answered)

    def _keep(self) -> Keeping:
        """Return the saver of the session. It is loaded on first use: loading takes longer than a frame."""
        if self.keeping is None:
            from tokentui.ui.keeping import Keeping

            self.keeping = Keeping(self, self.main, self._begun)
            self.after_input = self.keeping.soon
        return self.keeping

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
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

    # From the session.

    def _publish(self, snapshot: Snapshot) -> None:
        """Show a snapshot as soon as the terminal has taken the last; one that still waits gives way to it.
        """
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
            self._keep()
        if self.keeping is not None:
            self.keeping.soon()
        if snapshot.corpus.notes != self._notes:
            known, self._notes = self._notes, snapshot.corpus.notes
            for note in self._notes:
                if note not in known:
                    self.say(note, "warning")

    def another_session(self, publish: Callable[[Snapshot], None]) -> SessionLike:
        """Make a session besides that of the user, for a tour."""
        return self._factory(publish)

    # The face.

    def send(
        self, command: Command[Answer], then: Callable[[Answer], object] | None = None,
        failed: Callable[[BaseException], object] | None = None,
    ) -> None:
        """Hand a command to the session; see `Face.send`."""
        self.back.note(command)
        self._pass(command)
        if command.opens:
            then, failed = self._opening(command, then, failed or self.tell)
        if self.session is not None:
            self.await_answer(self.session.send(command), then, failed or self.tell)

    def _pass(self, command: Command[Any]) -> None:
        """Note for the walk where one is, before a command that goes on from there."""
        if (command.opens or command.walks) and (now := self.snapshot) is not None:
            column = replace(now.main, **LEFT_OUT)
            self.walk.passed.append(Passed(column, self.run_in_use, self.walk.corpus))

    def _opening(
        self, command: Command[Answer], then: Callable[[Answer], object] | None,
        failed: Callable[[BaseException], object],
    ) -> tuple[Callable[[Answer], object], Callable[[BaseException], object]]:
        """Return what follows when a command has opened something, and when it has not. A text or recipe that
        gives way to another says nothing.
        """
        self._newest = command

        def opened(answer: Answer) -> None:
            self.walk.opened(command)
            if self.keeping is not None:
                self.keeping.answered(command)
            if isinstance(command, do.SetRecipe) and command.run is not None:
                self.run_in_use = command.run
            if then is not None:
                then(answer)

        def not_opened(error: BaseException) -> None:
            gave_way = isinstance(command, do.SetRecipe | do.TrainOnText) and command is not self._newest
            if not (gave_way and isinstance(error, Cancelled)):
                failed(error)

        return opened, not_opened

    async def reopen(self, command: Command[None]) -> None:
        """Open something as `send` does, and wait until it is open.

        Raises:
            TokentuiError: It cannot be opened.
            Cancelled: It was given up, or gave way to something else.
        """
        self._pass(command)
        opened, _ = self._opening(command, None, self.tell)
        await self.ask(command)
        opened(None)

    async def ask(self, command: Command[Answer]) -> Answer:
        """Hand a command to the session and wait for its answer; see `Face.ask`."""
        if self.session is None:
            raise Cancelled
        try:
            return await self.session.send(command)
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
