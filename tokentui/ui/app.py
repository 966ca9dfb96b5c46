"""The explorer: an app about a session, which it knows by commands and snapshots only."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.console import RenderableType
from textual import events, work
from textual.actions import ActionParseResult
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.notifications import SeverityLevel as Severity
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import get_current_worker

from tokentui.core.errors import Cancelled, in_words
from tokentui.core.runtime import turns
from tokentui.core.safetext import GlyphMode, safe
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.errors import Replaced
from tokentui.session.snapshot import Snapshot
from tokentui.thinwire.private import has_priority_binding
from tokentui.ui.bindings import Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.running import Boundaries
from tokentui.ui.field import TYPED_LIMIT
from tokentui.ui.guard import start_worker
from tokentui.ui.history import NavigationHistory
from tokentui.ui.late_session import LateSession
from tokentui.ui.link import EngineLink, EngineScreen, Explorer
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.pane_screen import PaneScreen
from tokentui.ui.settings import UserSettings
from tokentui.ui.terminal_app import TerminalApp
from tokentui.ui.tour_recorder import TourRecorder
from tokentui.ui.waits import NotYet, loads, waits_for

if TYPE_CHECKING:  # loaded when it is first wanted
    from tokentui.session.engine.driver import Session
    from tokentui.session.persist.session_file import SavedSession
    from tokentui.session.playground import PlayStart
    from tokentui.session.views import ColumnWanted
    from tokentui.tours.parser import Tour
    from tokentui.tours.practice import Practice
    from tokentui.ui.autosave import Autosave
    from tokentui.ui.draw.text import Copied

MOST_MESSAGES = 50
"""The maximum number of messages that are kept."""
_LONG_S = 0.5
"""Seconds after which a message says what keys wait for."""
_LAST_SNAPSHOT_S = 1.0
"""The longest wait in seconds for the snapshot with what was opened."""
_MESSAGE_LINES = 2
"""The lines of a message over panes: those of the header and of the border below it."""


class ExplorerApp(TerminalApp, Explorer):
    """The explorer: an app about a session, which it knows by its commands and snapshots.

    Args:
        session_factory: Makes the session; it is given what to call with each snapshot, on the event loop.
        typed: The initial text of the encode pane; None for that of the settings.
        begin: Called with the session once it has started, to open a corpus; a failure is shown in a line.
        then: Called once the corpus is open.
        run: The run that the session begins with.
        boundaries: The mark of tokens of the corpus; None for chips where there are colors for them.
        begun: The session that the command line names, to be saved; None to save none.
        offer: The last session, and a note about it: it is offered before anything is opened.
        first_screen: True to show the first screen.
        tour: A tour to play at once.
        playground: What the playground begins with; it is opened at once, and `begin` is called when it is
            left. None for none.
        kept: What the settings file holds by name; nothing of it is trusted.
        wrong: What is wrong with that file; empty for nothing.
    """

    TITLE = "tokentui"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+l", "app.repaint", "repaint", tooltip="Redraw the screen", id="repaint",
            priority=True),
        Binding("ctrl+z", "app.suspend_process", "suspend", tooltip="Suspend to the shell; fg resumes",
            id="suspend", priority=True),
        Binding("ctrl+c,ctrl+q", "app.quit", "quit", tooltip="Quit, even while typing", id="quit_now",
            priority=True, group=Hint(rank=13, typing=True)),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        session_factory: Callable[[Callable[[Snapshot], None]], Session | LateSession],
        *,
        typed: str | None = "",
        begin: Callable[..., Awaitable[None]] | None = None,
        then: Callable[[ExplorerApp], object] | None = None,
        run: Run | None = None,
        boundaries: Boundaries | None = None,
        begun: SavedSession | None = None,
        offer: tuple[SavedSession, str] | None = None,
        first_screen: bool = False,
        tour: Tour | None = None,
        playground: PlayStart | None = None,
        kept: Mapping[str, object] | None = None,
        wrong: str = "",
    ) -> None:
        super().__init__()
        self._first_screen, self._tour, self._playground = first_screen, tour, playground
        self._begun, self._offer = begun, offer
        source = begun.sources[0] if begun is not None and len(begun.sources) == 1 and not begun.as_ else ""
        self.make_session = session_factory
        self.engine = EngineLink(self, session_factory, run)
        self.recorder = TourRecorder(source, lambda: self.engine.run)
        self.history = NavigationHistory(self, lambda: self.main)
        self.autosave: Autosave | None = None
        self.engine.subscribe(self.history.posted)
        self.engine.subscribe(self.recorder.posted, self.recorder.opened)
        self.engine.subscribe(shown=self._snapshot_shown)
        self.user_settings = UserSettings(self, kept or {}, wrong)
        self._typed = self.user_settings.sentence if typed is None else typed
        self._begin, self._then = begin, then
        self._boundaries = boundaries
        self._begins = self._was_ready = False
        self._news = asyncio.Event()
        """Set by each snapshot, and by the end of the first opening."""
        self._notes: tuple[str, ...] = ()
        self._said: tuple[str, float] = "", 0.0
        """The message shown last, and until when it is visible (monotonic seconds)."""
        self.messages: deque[str] = deque(maxlen=MOST_MESSAGES)
        self.register_theme(ui_text.DARK)
        self.register_theme(ui_text.LIGHT)
        # Not by assignment, which has all styles read twice before the first paint.
        self.set_reactive(ExplorerApp.theme, ui_text.DARK_NAME)
        self.stylesheet.set_variables(self.get_css_variables())

    # What the terminal gets.

    def get_css_variables(self) -> dict[str, str]:
        """Return Textual's variables, replaced by those of the theme and of the program."""
        cube = self.console.color_system != "truecolor"
        base = super().get_css_variables()
        return {**base, **ui_text.variables(self.current_theme, base, cube=cube)}

    def action_go_back(self) -> None:
        """Return to the place before the last jump. In a tour, show a message instead: the places are those
        of the user's session."""
        if isinstance(self.screen, PaneScreen) and self.screen.engine is not self.engine:
            self.say("a tour keeps no earlier place: esc leaves the tour")
        else:
            self.history.go_back()

    async def deliver(self, event: events.Event) -> None:
        """Give a key to the open family of keys, or to the screen beside the inspector, if either takes it;
        deliver other events as Textual does."""
        screen = self.keyed if self.screen_stack else None
        key = event.key if isinstance(event, events.Key) else ""
        if key:
            turns.begin()
        if key and isinstance(screen, PaneScreen) and await screen.take_key(key):
            return
        beside = screen if isinstance(screen, PaneScreen) and screen is not self.screen else None
        if beside is None or not (key or isinstance(event, events.Paste)) or event.is_forwarded \
                or has_priority_binding(self, key):
            await super().deliver(event)
        elif not self._handle_inspector_key(beside, key):
            (beside.focused or beside)._forward_event(event)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Draw, and let background threads run again."""
        super()._display(screen, renderable)
        turns.end()

    def _handle_inspector_key(self, screen: PaneScreen, key: str) -> bool:
        """Act on a key for the inspector beside a screen: tab gives it the keyboard, esc closes it unless a
        text is typed. Return whether the key was one of these."""
        top = self.screen
        if key == "tab" and isinstance(top, EngineScreen):
            top.take_keys()
        elif key == "escape" and not (screen.typing or screen.context == "editor"):
            top.dismiss()
        else:
            return False
        return True

    async def run_action(
        self, action: str | ActionParseResult, default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action as Textual does, with the screen that takes the keys for `screen.`."""
        if isinstance(action, str) and action.startswith("screen.") and self.screen_stack:
            action, default_namespace = action.removeprefix("screen."), self.keyed
        return await super().run_action(action, default_namespace, namespaces)

    @property
    def key_target(self) -> Widget:
        """The widget that the next key goes to."""
        screen = self.keyed
        return screen.focused or screen

    def open_source(self, command: do.Open | do.OpenTokenizer) -> None:
        """Open a corpus or a tokenizer on the main screen."""
        self.main.open_source(command)

    def open_file(self, path: str) -> None:
        """Open a file on the main screen, as a corpus or a tokenizer according to its content."""
        self.main.open_file(path)

    def action_repaint(self) -> None:
        """Redraw the screen."""
        self.repaint()

    def show_first_screen(self) -> None:
        """Show the first screen over the main one."""
        from tokentui.ui.start_screen import show

        show(self.main)

    def open_playground(self, text: str, left: Callable[[str], object]) -> None:
        """Open the playground with a text, and the tokenizers of the columns of the present screen.

        Args:
            text: The text.
            left: Called with the text when the playground closes with one.
        """
        from tokentui.session.playground import PlayStart, played_of
        from tokentui.ui.play_screen import PlayScreen

        screen = self.screen
        engine = screen.engine if isinstance(screen, EngineScreen) else self.engine
        start = PlayStart(text, played_of(engine.snapshot), len(text))
        self.push_for_result(PlayScreen(engine, start), left)

    def action_play_tour(self, name: str) -> None:
        """Play a tour that ships with the program."""
        from tokentui.tours.parser import read_tour

        self.play_tour(read_tour(name))

    def play_tour(self, tour: Tour) -> None:
        """Open a tour, or a practice on its own screen."""
        boundaries = self.main.text.boundaries
        if tour.asks:
            from tokentui.ui.practice_screen import PracticeScreen

            self.push_screen(PracticeScreen(self, cast("Practice", tour), boundaries=boundaries))
        else:
            from tokentui.ui.tour_screen import TourScreen

            self.push_screen(TourScreen(self, tour, boundaries=boundaries))

    # From beginning to end.

    def get_default_screen(self) -> MainScreen:
        """Return the main screen, below all others. It is not made before: an input needs the running app for
        its styles."""
        boundaries = self._boundaries or self.usual_boundaries
        self.chips = boundaries == "chips"
        self.main = MainScreen(self.engine, self._typed, boundaries)
        return self.main

    @property
    def usual_boundaries(self) -> Boundaries:
        """Chips, or bars where the terminal has few colors."""
        return "chips" if self.has_chips else "bars"

    @property
    def has_chips(self) -> bool:  # type: ignore[override]
        """True if the terminal has the colors of chips: 256 or more."""
        return not self.no_color and self.console.color_system in ("256", "truecolor")

    # What settings change.

    def set_speed(self, speed: int | None) -> None:
        """Run so many units a second; None for as fast as it can."""
        self.engine.send(do.SetSpeed(speed))

    def _pane_screens(self) -> list[PaneScreen]:
        """Return the screens with panes on the user's session, from the bottom; those of tours are left out.
        """
        screens = [screen for screen in self.screen_stack if isinstance(screen, PaneScreen)]
        return [screen for screen in screens if screen.engine is self.engine]

    def set_view(self, mode: GlyphMode) -> None:
        """Show tokens in another way on all screens of the user's session."""
        for screen in self._pane_screens():
            screen.mode = mode

    def mark_by(self, boundaries: Boundaries | None) -> None:
        """Mark tokens by chips, shades or bars; None for the usual mark of the terminal."""
        mark = boundaries or self.usual_boundaries
        self.main.mark_by(mark if mark != "chips" or self.has_chips else "bars")

    def sort_by(self, order: str) -> None:
        """Sort the vocabulary by one of `VOCABULARY_ORDERS`."""
        self.main.sort_by(order)

    def set_sentence(self, text: str) -> None:
        """Put a text into the input line of the topmost screen with panes."""
        self._pane_screens()[-1].encode.line.value = text

    async def on_mount(self) -> None:
        """Start the session, apply the user's settings, and open what the start asks for.

        That is the playground, the offer of a saved session, or a new session; then the first screen and a
        tour.
        """
        self.watch_failures()
        await self.engine.start()
        if self.user_settings.keys is not None:
            self._set_user_keys(self.user_settings.keys)
        self.user_settings.take_effect()
        if self._typed:
            self.engine.send(do.SetInput(self._typed))
        if self._playground is not None:
            self._begin_with_playground(self._playground)
        elif self._offer is not None:
            self._offer_session(*self._offer)
        else:
            self._begin_anew()

        if self._first_screen:
            self.show_first_screen()
        if self._tour is not None:
            self.play_tour(self._tour)

    def _set_user_keys(self, table: object) -> None:
        """Apply the keys of the user, and show the first error in the table; the others go to the list of
        messages.

        Args:
            table: The table `[keys]` of the settings file; it is not trusted.
        """
        from tokentui.session.persist.settings_file import line_in_file
        from tokentui.ui.keymap import read_keys

        self.user_keys, problems = read_keys(table)
        self.set_keymap(dict(self.user_keys))
        self.main.show_footer()
        said = [one.describe("settings.toml", lambda id: line_in_file("keys", id)) for one in problems]
        if said:
            self.messages.extend(said[1:])
            more = f" · {len(said) - 1} more in the finder: messages" if said[1:] else ""
            self.say(said[0] + more, "information" if all(one.holds for one in problems) else "warning")

    def _begin_with_playground(self, start: PlayStart) -> None:
        """Open the playground over the main screen. When it closes, put its text into the input line, cut to
        `TYPED_LIMIT`, and start a new session."""
        from tokentui.ui.play_screen import PlayScreen

        def left(text: str | None) -> None:
            if text:
                self.main.encode.line.value = text[:TYPED_LIMIT]
            self._begin_anew()

        self.push_screen(PlayScreen(self.engine, start, asks=True), left)

    def _begin_anew(self) -> None:
        """Open what the command line names, in a worker; do nothing without it."""
        if self._begin is not None and self.engine.session is not None:
            self._begins = True
            start_worker(self, "begin", self._open_first, self._begin, self.engine.session)

    async def _open_first(
        self, begin: Callable[..., Awaitable[None]], session: Session | LateSession
    ) -> None:
        """Open what the command line names, and notify what waits for it, even after an error.

        Then save what is open, and call `then`; neither if `begin` raised.
        """
        self._begins = True
        try:
            await begin(session)
        finally:
            self._begins = False
            self._news.set()
        if self.autosave is not None:  # it may have begun before anything was open
            self.autosave.fingerprint()
        if self._then is not None:
            self._then(self)

    def _offer_session(self, kept: SavedSession, note: str) -> None:
        """Offer a saved session on the first screen, and resume or discard it as the user answers.

        Without an answer a new session starts, and nothing is saved in place of the saved one.
        """
        from tokentui.ui.autosave import described
        from tokentui.ui.start_screen import show

        def answered(resumes: bool | None) -> None:
            self._offer = None
            if resumes:
                self._start_autosave().resume(kept)
                return
            self._begin_anew()
            if resumes is None:
                # to be offered again it has to stay as it is: what is done now is not kept over it
                self._begun = None
            else:
                self._start_autosave().dismiss(kept)

        show(self.main, described(kept, note), answered)

    def _start_autosave(self) -> Autosave:
        """Return the autosave; the first call makes it and lets it save from then on.

        It is imported then: importing takes longer than a frame.
        """
        if self.autosave is None:
            from tokentui.ui.autosave import Autosave

            self.autosave = Autosave(self, self.main, self._begun)
            self.engine.subscribe(opened=self.autosave.opened)
            self.after_input = self.autosave.schedule
        return self.autosave

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Exit, and keep the present state for the last save."""
        if self.autosave is not None:
            self.autosave.capture()
        super().exit(result, return_code, message)

    async def on_unmount(self) -> None:
        """Save the session for the last time and close it, also if saving fails."""
        try:
            if self.autosave is not None:
                await self.autosave.end(left=self.left)
        finally:
            await self.engine.close()

    def _snapshot_shown(self, snapshot: Snapshot) -> None:
        """Schedule a save of the session, and show new notes about the corpus. The first snapshot of a whole
        training starts the autosave."""
        if self._begun is not None and self._offer is None and not snapshot.main.partial:
            self._start_autosave()
        self._news.set()
        if self.autosave is not None:
            self.autosave.schedule()
        if snapshot.corpus.notes != self._notes:
            known, self._notes = self._notes, snapshot.corpus.notes
            if new := [note for note in self._notes if note not in known]:
                self.say(" · ".join(new), "warning")

    # Keys at the start.

    @property
    def _is_ready(self) -> bool:
        """True once the engine is loaded and what the start opens is open, or has failed to open; it stays
        True."""
        self._was_ready = self._was_ready or not (self._begins or loads(self.engine.snapshot))
        return self._was_ready

    def postpone(self, error: BaseException, again: Callable[[], Awaitable[object]]) -> bool:
        """Run an action that failed for lack of a first training again once there is one, and hold all keys
        until then. Return False, and do nothing, for another error or if the session is ready."""
        if not isinstance(error, NotYet) or self._is_ready:
            return False
        start_worker(self, "kept", self._run_when_ready, again)
        return True

    def when_ready(self, act: Callable[[], Awaitable[object] | None]) -> None:
        """Call a function once what the start opens is open, and hold all keys until then; if it is open,
        call it now."""
        if self._is_ready:
            act()
        else:
            start_worker(self, "kept", self._run_when_ready, act)

    async def _run_when_ready(self, act: Callable[[], Awaitable[object] | None]) -> None:
        """Wait until the session is ready, then call `act`, and await what it returns unless that is None.

        Keys are held meanwhile. If the snapshot has no corpus yet, wait up to `_LAST_SNAPSHOT_S` seconds for
        the next one.
        """
        with self.keys_kept("the start"):
            while not self._is_ready:
                self._news.clear()
                await self._news.wait()
            now = self.engine.snapshot
            if now is not None and now.corpus.nothing_open:  # the snapshot with what was opened is on its way
                self._news.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), _LAST_SNAPSHOT_S)
            if (result := act()) is not None:
                await result

    @contextlib.contextmanager
    def keys_kept(self, waits: str) -> Iterator[None]:
        """Hold all keys in this context; esc cancels the worker that it is used in. After `_LONG_S` seconds a
        message says what they wait for.

        Args:
            waits: What they wait for, if the session names nothing.
        """
        worker = get_current_worker()
        slow = False

        def give_up() -> None:
            worker.cancel()
            self.say("stopped")

        def say() -> None:
            if slow:
                work = waits_for(self.engine.snapshot).removeprefix("waits: ") or waits
                self.say(f"keys wait for this: {work} · esc gives up")

        def linger() -> None:
            nonlocal slow
            slow = True
            say()

        timer = self.set_timer(_LONG_S, linger)
        try:
            with self.type_ahead.held(give_up, say):
                yield
        finally:
            timer.stop()

    # Messages.

    def tell(self, error: BaseException) -> None:
        """Show an error as a message: "stopped" for `Cancelled`, nothing for `Replaced`."""
        if isinstance(error, Replaced):
            return
        if isinstance(error, Cancelled):
            self.say("stopped")
        else:
            self.say(in_words(error), "warning" if isinstance(error, do.NothingOpen | NotYet) else "error")

    def say(self, text: str, severity: Severity = "information") -> None:
        """Show a message for some seconds in place of the last one; do nothing if that is the same and still
        visible.

        The list of messages keeps it whole; over panes a long one is cut.
        """
        kept = safe(text, limit=400)
        now = time.monotonic()
        if kept == self._said[0] and now < self._said[1]:
            return  # it is there still: a key that is held would heap it up
        self.messages.append(kept)
        before, self._said = self._said, (kept, now + self.NOTIFICATION_TIMEOUT)
        if now < before[1]:
            self.call_later(self._clear_messages)  # in turn with what is still on its way
        over_panes = isinstance(self.screen, PaneScreen)
        limit = _MESSAGE_LINES * (self.size.width - 4) if over_panes else len(kept)
        more = " … : messages"
        shown = kept if len(kept) <= limit else safe(text, limit=max(20, limit - len(more))) + more
        self.notify(shown, severity=severity)

    def _clear_messages(self) -> None:
        """Remove all visible messages and the room that they take."""
        self.clear_notifications()
        self.screen.query("ToastHolder").remove()

    def ask_copy(self, dialog: EngineScreen[Any], texts: Iterable[Copied]) -> None:
        """Ask which text of a dialog to copy.

        Args:
            dialog: The dialog, whose row under the cursor can be copied too.
            texts: Its other texts.
        """
        from tokentui.ui.copying import ask_of

        ask_of(dialog, texts)

    def compare(self, columns: Sequence[ColumnWanted], held_out: str = "") -> None:
        """Open Compare on the present corpus, and stop a run. In a tour, show a message instead.

        Args:
            columns: The columns, two to four; none to restore the last comparison.
            held_out: A second corpus, as the command line names it; empty for none.
        """
        from tokentui.ui.compare_screen import CompareScreen

        engine = self.engine
        links = [screen.engine for screen in self.screen_stack if isinstance(screen, PaneScreen)]
        if any(link is not engine for link in links):
            self.say("press esc to leave the tour, then compare")
            return
        if engine.snapshot is not None and engine.snapshot.running:
            engine.send(do.Play(False))
        screen = CompareScreen(engine, self.main.encode.text, self.main.encode.offered)

        def left(_: None) -> None:
            engine.send(do.Leave())
            engine.send(do.SetViewport(self.main.viewport))
            self.main.encode.line.value = screen.encode.line.value  # one text is typed, wherever it is seen

        self._begin_comparison(screen, engine.post(do.Compare(tuple(columns))))
        if held_out:
            engine.send(do.HoldOut(held_out))
        self.push_screen(screen, left)

    @work
    async def _begin_comparison(self, screen: Screen[None], beginning: asyncio.Future[None]) -> None:
        """Close Compare, and show the error, if it cannot start."""
        try:
            await beginning
        except Exception as error:
            self.tell(error)
            screen.dismiss(None)
