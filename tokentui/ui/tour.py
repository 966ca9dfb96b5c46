"""A tour: a main screen of its own, with a session of its own, and a panel that says what is seen.

The screen and the session of the user wait below it as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.binding import Binding

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.session import commands as do
from tokentui.session.claims import Place
from tokentui.session.commands import Command
from tokentui.session.snapshot import Snapshot
from tokentui.session.tours import MOST_TEXT, Tour, read_tour
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.draw.text import Run as Part
from tokentui.ui.guard import start_worker
from tokentui.ui.keys import Action
from tokentui.ui.link import EngineLink
from tokentui.ui.main import MainScreen

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp

NOT_HERE = ("record", "compare", "first_screen")
"""Actions of the main screen that a tour has not: they belong to the session of the user."""


def said(text: str) -> Cell:
    """The text of a stop: what stands between backquotes is a key, a token or a pair."""
    runs: list[Part] = []
    for n, part in enumerate(safe(text, limit=MOST_TEXT).split("`")):
        runs += [(part, "strong" if n % 2 else "")] if part else []
    return tuple(runs)


class TourScreen(MainScreen):
    """The panes, and a panel above them with the text of the tour.

    Args:
        app: The program.
        tour: The tour.
        actions: The actions of its keys: those of the main screen, and its own before them.
        keys: Its own actions.
    """

    def __init__(
        self, app: ExplorerApp, tour: Tour, actions: Sequence[Action[Any]], keys: Sequence[Action[Any]],
        **look: Any,
    ) -> None:
        here = [one for one in actions if one.name not in NOT_HERE]
        super().__init__(EngineLink(app, app.make_session), (*keys, *here), **look)
        self.engine.subscribe(self._posted)
        self._strayed = False
        """True if something else was opened than the tour has named."""
        self._sent: Command[Any] | None = None
        """The last command of the tour itself."""
        self.tour, self.at = tour, 0
        """The tour, and the number of its stop, from 0."""
        self._keys = tuple(keys)
        self._there: Place | None = None
        """The place that the tour last stood at."""
        self.panel = Lines(self._text, id="tour")
        self.panel.border_title = ui_text.join(((safe(tour.title, limit=80), ""),))
        self.parts = (self.panel, *self.parts)
        for key in dict.fromkeys(key for one in keys for key in one.keys):
            self._bindings.key_to_bindings.setdefault(key, []).append(
                Binding(key, f"tour({key!r})", show=False, priority=True)
            )

    # Keys: those of the tour go before those of the panes, but where one types.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys of the tour to a line that is typed in."""
        return action != "tour" or not (self.typing or self.context == "editor")

    def action_tour(self, key: str) -> None:
        """Do what a key of the tour stands for."""
        action = next(one for one in self._keys if key in one.keys)
        if action.does is not None:
            action.does(self)

    def action_of(self, key: str) -> Action[Any] | None:
        """The action of a key. That which the tour waits for leads to the next stop."""
        found = super().action_of(key)
        if found is not None and found.name == self.tour.stops[self.at].wait and not self._strayed:
            return replace(found, does=lambda on: on.turn_stop(1))
        return found

    def hints(self) -> list[Action[Any]]:
        """The keys of the tour, and those of the panes."""
        near = super().hints()
        if self.typing or self.context == "editor":
            return near
        own = {key for one in self._keys for key in one.keys}
        return [*self._keys, *(one for one in near if one.keys[0] not in own)]

    # Stops.

    async def on_mount(self) -> None:
        """Begin at the first stop."""
        await self.engine.start()
        self._stand()

    async def on_unmount(self) -> None:
        """End the session of the tour."""
        await self.engine.close()

    def turn_stop(self, by: int) -> None:
        """Go to the next stop, or the one before; behind the last one the tour is over."""
        if self.at + by == len(self.tour.stops):
            self.leave_tour()
        elif self.at + by >= 0:
            self.at += by
            self._stand()

    def leave_tour(self) -> None:
        """Leave the tour."""
        self.dismiss(None)

    def leave(self) -> None:
        """Leave what is typed in; else the tour."""
        if self.typing or self.context == "editor":
            super().leave()
        else:
            self.leave_tour()

    @property
    def arrived(self) -> bool:
        """True if the screen shows the place of the stop."""
        now, place = self.snapshot, self.tour.stops[self.at].place
        if now is None or self._there != place or now.corpus.nothing or now.main.partial:
            return False
        main = now.main
        there = main.at.step == place.step if place.step is not None else main.why.end is not None
        return there and main.recipe == place.recipe and main.encoding.text == place.typed

    def _stand(self) -> None:
        """Bring everything to the place of the stop."""
        self.lay_out_panel()
        start_worker(self, "tour", self._go_there, self.at)

    async def _go_there(self, at: int) -> None:
        stop = self.tour.stops[at]
        place, before = stop.place, None if self._strayed else self._there
        self._there = None
        self.encode.line.value = place.typed
        try:
            self.engine.send(do.Play(False), failed=lambda error: None)
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
        for name in stop.actions:
            action = next(one for one in self.actions if one.name == name)
            if action.does is not None:
                action.does(self)

    async def _ask(self, command: Command[Any]) -> None:
        """Send a command of the tour, and wait until it is done."""
        self._sent = command
        await self.engine.ask(command)

    def _posted(self, command: Command[Any], _: object) -> None:
        self._strayed = self._strayed or (bool(command.opens) and command is not self._sent)

    def follow(self, snapshot: Snapshot) -> None:
        """Show a snapshot once there are widgets for it."""
        if self.is_mounted:
            super().follow(snapshot)

    # The panel.

    def _text(self, width: int, height: int) -> Sequence[Cell]:
        lines = ui_text.wrap(said(self.tour.stops[self.at].text), max(2, width - 2), words=True)
        if len(lines) > height:
            lines = [*lines[: height - 1], ui_text.clip((*lines[height - 1], (" " * width, "")), width - 2)]
        return [((" ", ""), *line) for line in lines]

    def lay_out_panel(self) -> None:
        """Give the panel the rows of its text, at most a half of the screen, and name the keys."""
        width, height = self.app.size
        rows = len(self._text(width - 2, MOST_TEXT))
        self.panel.styles.height = min(rows + 2, max(3, height // 2))
        number = f"{self.at + 1} of {len(self.tour.stops)}"
        wait = self.tour.stops[self.at].wait
        now = next((one.shown_key for one in self.actions if wait and one.name == wait), "")
        keys: list[Part] = [(now, "key"), (" or ", "muted")] if now else []
        said: Cell = (*keys, ("enter ", "key"), ("goes on · ", "muted"), (number, "strong"))
        self.panel.border_subtitle = ui_text.join(said)
        self.panel.again()

    def lay_out(self) -> None:
        """Fit the panel to the screen too."""
        self.lay_out_panel()
        super().lay_out()


def play(
    app: ExplorerApp, tour: str | Tour, actions: Sequence[Action[Any]], keys: Sequence[Action[Any]]
) -> None:
    """Play a tour over what is seen.

    Args:
        app: The program.
        tour: The tour, or the name of one that ships.
        actions: The actions of the main screen.
        keys: Those that a tour has besides.
    """
    tour = read_tour(tour) if isinstance(tour, str) else tour
    app.push_screen(TourScreen(app, tour, actions, keys, boundaries=app.main.text.boundaries))
