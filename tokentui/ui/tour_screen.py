"""A tour: a main screen of its own, with a session of its own, and a panel that says what is seen.

The screen and the session of the user wait below it as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import mark_retrieved
from tokentui.core.safetext import safe
from tokentui.session import commands as do
from tokentui.session.commands import Command
from tokentui.session.snapshot import Snapshot
from tokentui.tours.facts import Place
from tokentui.tours.parser import MOST_TEXT, Tour
from tokentui.ui.bindings import BoundAction, Hint, actions_of
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.draw.text import Run as Part
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink, Explorer
from tokentui.ui.main_screen import MainScreen

NOT_HERE = ("record", "compare", "first_screen")
"""Actions of the main screen that a tour lacks: they belong to the session of the user."""


def said(text: str) -> Cell:
    """Return the text of a stop, safe, with the parts between backquotes (a key, a token or a pair) in bold.
    """
    runs: list[Part] = []
    for n, part in enumerate(safe(text, limit=MOST_TEXT).split("`")):
        runs += [(part, "strong" if n % 2 else "")] if part else []
    return tuple(runs)


class TourScreen(MainScreen):
    """The panes on a session of their own, below a panel with the text of the tour.

    Args:
        app: The program.
        tour: The tour.
        look: Arguments of `MainScreen`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # They go before the keys of the panes, except while a text is typed.
        Binding("enter,space", "turn_stop(1)", "go on", tooltip="Go to the next stop of the tour",
            id="tour_next", priority=True, group=Hint(rank=1, pane="tour")),
        Binding("backspace", "turn_stop(-1)", "previous stop", id="tour_back",
            tooltip="Go to the previous stop", priority=True, group=Hint(rank=1, pane="tour")),
        Binding("r", "return_to_stop", "back to this stop", tooltip="Go back to the place of this stop",
            id="tour_return", group=Hint(pane="tour")),
        Binding("escape", "leave_tour", "leave", tooltip="Leave the tour", id="tour_leave", priority=True,
            group=Hint(rank=1, pane="tour")),
    ]

    ELSEWHERE = "in Compare: esc leaves the tour"

    def __init__(self, app: Explorer, tour: Tour, **look: Any) -> None:
        super().__init__(EngineLink(app, app.make_session), **look)
        self.engine.subscribe(self._posted)
        self._strayed = False
        """True if something else was opened than the tour has named."""
        self._sent: Command[Any] | None = None
        """The last command of the tour itself."""
        self.tour, self.at = tour, 0
        """The tour, and the number of its stop, from 0."""
        self._there: Place | None = None
        """The place that the tour last stood at."""
        self._told_astray = ""
        """Where the panel says that the reader went."""
        self.panel = Lines(self._text, id="tour")
        self.panel.border_title = ui_text.join(((safe(tour.title, limit=80), ""),))
        self.parts = (self.panel, *self.parts)

    # Keys.

    @property
    def _types(self) -> bool:
        """True if keys are typed as text."""
        return self.typing or self.context == "editor"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys of the tour to a line that is typed in."""
        if action in ("turn_stop", "leave_tour"):
            return not self._types
        return action not in NOT_HERE and super().check_action(action, parameters)

    @property
    def footer_panes(self) -> Collection[str]:
        """The panes whose keys the footer shows."""
        return (self.context, "tour")

    def on_key(self, event: Key) -> None:
        """Go to the next stop with the key that the stop waits for, unless the reader has opened something
        else or a text is typed."""
        waited = self._waited
        if waited is not None and event.key in waited.keys and not self._strayed and not self._types:
            event.stop()
            event.prevent_default()
            self.action_turn_stop(1)

    @property
    def _waited(self) -> BoundAction | None:
        """The action that the stop waits for; None for none."""
        return self._action(self.tour.stops[self.at].wait)

    def _action(self, id: str) -> BoundAction | None:
        """Return the action of the screen with an id; None for none."""
        actions = actions_of(type(self), self.app.user_keys)
        return next((action for action in actions if id and action.id == id), None)

    # Stops.

    async def on_mount(self) -> None:
        """Start the session, and go to the first stop."""
        await self.engine.start()
        self._go_to_stop()

    async def on_unmount(self) -> None:
        """Close the session of the tour."""
        await self.engine.close()

    def action_turn_stop(self, by: int) -> None:
        """Go to the stop `by` places further; close the tour after the last one. Do nothing before the first.
        """
        if self.at + by == len(self.tour.stops):
            self.action_leave_tour()
        elif self.at + by >= 0:
            self.at += by
            self._go_to_stop()

    def action_return_to_stop(self) -> None:
        """Return to the place of this stop, corpus included, in a worker; if it is there, show a message
        instead."""
        if self.astray:
            self._strayed = True  # the corpus may be another one
            self._go_to_stop()
        else:
            self.app.say("this is the place of this stop")

    @property
    def astray(self) -> str:
        """How the screen differs from the place of the stop, in words; empty if it does not, and while the
        session works."""
        now, place = self.snapshot, self.tour.stops[self.at].place
        if now is None or self._there != place or now.main.partial or now.busy is not None:
            return ""
        if now.corpus.nothing_open or now.waiting or now.running or now.goal is not None:
            return ""
        main = now.main
        if self._strayed or main.recipe != place.recipe:
            return "this stop is about another corpus or recipe"
        if self._is_at(now):
            return ""
        stop = "the end" if place.step is None else f"step {place.step:,}"
        return f"you are at step {main.at.step:,}, this stop is at {stop}"

    def _is_at(self, now: Snapshot) -> bool:
        """Return whether a snapshot is at the step of the stop, or at the end if the stop is."""
        step = self.tour.stops[self.at].place.step
        return now.main.at.step == step if step is not None else now.main.why.end is not None

    def action_leave_tour(self) -> None:
        """Close the tour."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Leave the line or editor with the focus; otherwise close the tour."""
        if self._types:
            super().action_leave()
        else:
            self.action_leave_tour()

    @property
    def arrived(self) -> bool:
        """True if the screen shows the step, recipe and typed text of the stop, with the corpus counted."""
        now, place = self.snapshot, self.tour.stops[self.at].place
        if now is None or self._there != place or now.corpus.nothing_open or now.main.partial:
            return False
        main = now.main
        return self._is_at(now) and main.recipe == place.recipe and main.encoding.text == place.typed

    def _go_to_stop(self) -> None:
        """Show the text of the stop, and go to its place in a worker."""
        self.lay_out_panel()
        start_worker(self, "tour", self._go_there, self.at)

    async def _go_there(self, at: int) -> None:
        """Go to the place of a stop, opening only what differs from the last one, then run its actions. After
        the reader has opened something else, open everything again.

        An error is shown, and no action runs; a cancellation only ends it.
        """
        stop = self.tour.stops[at]
        place, before = stop.place, None if self._strayed else self._there
        self._there = None
        self.encode.line.value = place.typed
        try:
            self.engine.post(do.Play(False)).add_done_callback(mark_retrieved)
            if before is None or (before.recipe, before.run) != (place.recipe, place.run):
                await self._ask(do.SetRecipe(place.recipe, place.run))
            if before is None or (before.source, before.text) != (place.source, place.text):
                text = place.text
                await self._ask(do.Open((place.source,)) if text is None else do.TrainOnText(text))
            await self._ask(do.GoTo(place.step))
        except (TokentuiError, Cancelled) as error:
            if not isinstance(error, Cancelled):
                self.app.tell(error)
            return
        self._strayed, self._there = False, place
        for id in stop.actions:
            if (action := self._action(id)) is not None:
                await self.app.run_action(action.action, self)

    async def _ask(self, command: Command[Any]) -> None:
        """Send a command as one of the tour, and wait for its answer."""
        self._sent = command
        await self.engine.ask(command)

    def _posted(self, command: Command[Any], _: object) -> None:
        self._strayed = self._strayed or (bool(command.opens) and command is not self._sent)

    def follow(self, snapshot: Snapshot) -> None:
        """Show a snapshot, and update the panel if the reader has left the place or returned. Do nothing
        before it is mounted."""
        if self.is_mounted:
            super().follow(snapshot)
            if self.astray != self._told_astray:
                self.lay_out_panel()

    # The panel.

    def _text(self, width: int, height: int) -> Sequence[Cell]:
        """Return the text of the stop, wrapped to a width; cut with an ellipsis if it has more than `height`
        lines."""
        lines = ui_text.wrap(said(self.tour.stops[self.at].text), max(2, width - 2), words=True)
        if len(lines) > height:
            lines = [*lines[: height - 1], ui_text.clip((*lines[height - 1], (" " * width, "")), width - 2)]
        return [((" ", ""), *line) for line in lines]

    def lay_out_panel(self) -> None:
        """Fit the panel to its text, at most half of the screen, and show its keys in the border."""
        self._told_astray = self.astray
        width, height = self.app.size
        rows = len(self._text(width - 2, MOST_TEXT))
        self.panel.styles.height = min(rows + 2, max(3, height // 2))
        number = f"{self.at + 1} of {len(self.tour.stops)}"
        waited, last = self._waited, self.at + 1 == len(self.tour.stops)
        keys: list[Part] = [("enter ", "key"), ("ends the tour" if last else "goes on", "muted")]
        if self.astray:
            keys = [(f"{self.astray}: ", "warning"), ("r ", "key"), ("goes back · ", "muted"), *keys]
        elif waited is not None:
            keys += [(", here ", "muted"), (waited.shown_key, "key"), (" too", "muted")]
        keys_line: Cell = (*keys, (" · ", "muted"), (number, "strong"))
        self.panel.border_subtitle = ui_text.join(keys_line)
        self.panel.again()

    def lay_out(self) -> None:
        """Fit the panel and the panes to the screen."""
        self.lay_out_panel()
        super().lay_out()
