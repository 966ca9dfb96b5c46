"""Navigation history: the places that the user jumped from, and the way back to them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.commands import Command
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import CorpusPlace, Position
from tokentui.ui.guard import start_worker
from tokentui.ui.link import Explorer
from tokentui.ui.main_screen import MainScreen

MOST = 100
"""The maximum number of places that are kept for each screen."""
_JUMPS = (
    do.GoTo, do.GoToShare, do.GoToToken, do.GoToDivergence, do.RunUntil, do.Find, do.FindChanged,
    do.SetRecipe, do.Open, do.OpenTokenizer,
)


NO_FILE = "", "", ""


class Place(NamedTuple):
    """A place on the main screen.

    Attributes:
        step: The step.
        recipe: The recipe that is trained, or that of the opened file.
        run: The run.
        file: The path of the opened file, its split and its way of encoding; empty for a training.
        corpus: The corpus as the tour recorder names it: a source, or a typed text.
        top: The place of the corpus at the top of its pane.
    """

    step: int
    recipe: Recipe
    run: Run
    file: tuple[str, str, str]
    corpus: tuple[str, str | None]
    top: CorpusPlace


class NavigationHistory:
    """The places that the user jumped from, on the main screen and on Compare.

    Args:
        app: The app.
        main_screen: Returns its main screen.
    """

    def __init__(self, app: Explorer, main_screen: Callable[[], MainScreen]) -> None:
        self._app, self._main_screen = app, main_screen
        self._main: deque[Place] = deque(maxlen=MOST)
        self._compare: deque[Position] = deque(maxlen=MOST)
        self.going_back = False
        """True while the main screen goes back to a place."""
        self._own: Command[Any] | None = None
        """The last command that goes back: it is no jump."""

    def posted(self, command: Command[Any], before: Snapshot | None) -> None:
        """Record the place that a command jumps from: the position in Compare, otherwise the place on the
        main screen. Do nothing for other commands and those of the history, for a place that was recorded
        last, while nothing is open, and while the scrubber is dragged."""
        if command is self._own or not isinstance(command, _JUMPS):
            return
        if before is None or before.corpus.nothing_open:
            return
        if self._main_screen().scrubber.dragging:
            return  # the place where the drag began is recorded
        if len(before.columns) > 1:
            if not self._compare or self._compare[-1] != before.position:
                self._compare.append(before.position)
        elif (place := self._place(before)) not in [*self._main][-1:]:
            self._main.append(place)

    def _place(self, snapshot: Snapshot) -> Place:
        """Return the place of a snapshot on the main screen."""
        app, column = self._app, snapshot.main
        recipe = column.recipe
        file = (column.path, recipe.split, recipe.encode) if column.opened is not None else NO_FILE
        return Place(
            column.at.step, column.recipe, app.engine.run, file if column.path else NO_FILE,
            app.recorder.corpus, self._main_screen().text.top_place,
        )

    def go_back(self) -> None:
        """Return to the place before the last jump, in Compare to its position; show a message if there is
        none.

        Do nothing while a return is in progress, and before the first snapshot.
        """
        snapshot, app = self._app.engine.snapshot, self._app
        if snapshot is None or self.going_back:
            return
        if len(snapshot.columns) > 1:
            while self._compare and self._compare[-1] == snapshot.position:
                self._compare.pop()
            if not self._compare:
                app.say("no place to go back to")
                return
            place = self._compare.pop()
            if place.by != snapshot.position.by:
                app.engine.send(do.SyncBy(place.by))
            self._own = do.GoTo(place.value)
            app.engine.send(self._own)
            return
        here = self._place(snapshot)
        while self._main and self._main[-1] == here:
            self._main.pop()
        if not self._main:
            app.say("no place to go back to")
            return
        self.going_back = True
        start_worker(app, "back", self._return_to, self._main.pop(), here)

    async def _return_to(self, place: Place, here: Place) -> None:
        """Open the corpus, file or recipe of `place` where it differs from `here`, then go to its step. An
        error or a cancellation is shown, and the rest is left out."""
        app = self._app
        try:
            if place.corpus != here.corpus:
                source, text = place.corpus
                if not source and text is None:
                    raise TokentuiError("the corpus before has no name to open it by", "back", "o opens it")
                corpus = do.Open((source,)) if text is None else do.TrainOnText(text)
                await self._main_screen().corpus.replaced(self._ask(corpus))
            if place.file[0] and place.file != here.file:
                await self._ask(do.OpenTokenizer(*place.file))
            elif not place.file[0] and (here.file[0] or (place.recipe, place.run) != (here.recipe, here.run)):
                await self._ask(do.SetRecipe(place.recipe, place.run))
            await self._ask(do.GoTo(place.step))
            self._main_screen().text.show_place(place.top)
        except (TokentuiError, Cancelled) as error:
            app.tell(error)
        finally:
            self.going_back = False

    async def _ask(self, command: Command[Any]) -> None:
        """Send a command that is no jump, and wait for its answer."""
        self._own = command
        await self._app.engine.ask(command)
