"""The places that the user jumped from, and the way back to them."""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine
from typing import NamedTuple, Protocol

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.recipe import Recipe, Run
from tokentui.session import commands as do
from tokentui.session.commands import Command
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import CorpusPlace, Position
from tokentui.ui.face import Face
from tokentui.ui.main import MainScreen
from tokentui.ui.walk import Walk

MOST = 100
"""The number of places that are kept on each screen."""
_JUMPS = (
    do.GoTo, do.GoToToken, do.GoToDivergence, do.RunUntil, do.Find, do.FindChanged, do.SetRecipe, do.Open,
    do.OpenTokenizer,
)


NO_FILE = "", "", ""


class Place(NamedTuple):
    """A place on the main screen.

    Attributes:
        step: The step.
        recipe: What is trained, with its run; of an opened file what the file says.
        run: The run.
        file: The path of the opened file, its split and its way of encoding; empty for a training.
        corpus: The corpus as the walk names it: a source, or a typed text.
        top: The place of the corpus that is seen first.
    """

    step: int
    recipe: Recipe
    run: Run
    file: tuple[str, str, str]
    corpus: tuple[str, str | None]
    top: CorpusPlace


class Jumping(Face, Protocol):
    """The program, as the places to go back to know it."""

    main: MainScreen
    """The main screen."""
    walk: Walk
    """The walk of the user."""

    async def reopen(self, command: Command[None]) -> None:
        """Open something and wait until it is open.

        Raises:
            TokentuiError: It cannot be opened.
            Cancelled: It was given up.
        """

    def run_worker(self, work: Coroutine[object, object, None], *, group: str, exclusive: bool) -> object:
        """Run a coroutine in the background; one of a group at a time."""


class Back:
    """The places of both screens, the last one last.

    Args:
        app: The program.
    """

    def __init__(self, app: Jumping) -> None:
        self._app = app
        self._main: deque[Place] = deque(maxlen=MOST)
        self._compare: deque[Position] = deque(maxlen=MOST)
        self._going = False
        """True while one goes back on the main screen."""
        self._heard = True
        """False while a command is sent that goes back."""

    def note(self, command: Command[object]) -> None:
        """Note where one is, before a command that jumps."""
        now = self._app.snapshot
        if not self._heard or now is None or now.corpus.nothing or not isinstance(command, _JUMPS):
            return
        if self._app.main.scrubber.dragging:
            return  # where the drag began is noted
        if len(now.columns) > 1:
            if not self._compare or self._compare[-1] != now.position:
                self._compare.append(now.position)
        elif (place := self._here(now)) not in [*self._main][-1:]:
            self._main.append(place)

    def _here(self, now: Snapshot) -> Place:
        app, column = self._app, now.main
        recipe = column.recipe
        file = (column.path, recipe.split, recipe.encode) if column.opened is not None else NO_FILE
        return Place(
            column.at.step, column.recipe, app.run_in_use, file if column.path else NO_FILE,
            app.walk.corpus, app.main.text.top_place,
        )

    def go(self) -> None:
        """Go to the place before the last jump."""
        now, app = self._app.snapshot, self._app
        if now is None or self._going:
            return
        if len(now.columns) > 1:
            while self._compare and self._compare[-1] in (now.position,):
                self._compare.pop()
            if not self._compare:
                app.say("no place to go back to")
                return
            place = self._compare.pop()
            if place.by != now.position.by:
                app.send(do.SyncBy(place.by))
            self._heard = False
            app.send(do.GoTo(place.value))
            self._heard = True
            return
        here = self._here(now)
        while self._main and self._main[-1] == here:
            self._main.pop()
        if not self._main:
            app.say("no place to go back to")
            return
        self._going = True
        app.run_worker(self._go(here, self._main.pop()), group="back", exclusive=True)

    async def _go(self, here: Place, place: Place) -> None:
        app = self._app
        try:
            if place.corpus != here.corpus:
                source, text = place.corpus
                if not source and text is None:
                    raise TokentuiError("the corpus before has no name to open it by", "back", "o opens it")
                corpus = do.Open((source,)) if text is None else do.TrainOnText(text)
                await app.main.corpus.replaced(app.reopen(corpus))
            if place.file[0] and place.file != here.file:
                await app.reopen(do.OpenTokenizer(*place.file))
            elif not place.file[0] and (here.file[0] or (place.recipe, place.run) != (here.recipe, here.run)):
                await app.reopen(do.SetRecipe(place.recipe, place.run))
            await app.ask(do.GoTo(place.step))
            app.main.text.show_place(place.top)
        except (TokentuiError, Cancelled) as error:
            app.tell(error)
        finally:
            self._going = False
