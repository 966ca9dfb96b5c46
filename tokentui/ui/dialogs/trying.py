"""Training by recipes while they are being chosen, and the way back to the one before."""

from __future__ import annotations

from collections.abc import Callable

from tokentui.recipe import Recipe, Run
from tokentui.session.commands import GoTo, KeepPlace, OpenTokenizer, Play, Preview, SetRecipe
from tokentui.session.snapshot import PreviewView, Snapshot
from tokentui.ui.dialogs.live import RecipeChoice
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.face import Face, not_yet

LIVE_BYTES = 1_000_000
"""Up to this size the screen follows each change of a recipe while it is being chosen, unless the user says
otherwise.
"""


class Trying:
    """The training while a dialog asks for a recipe.

    Args:
        face: The program.
        used: The recipe in use when the dialog opens.
        now: The snapshot when the dialog opens.
    """

    def __init__(self, face: Face, used: RecipeChoice, now: Snapshot) -> None:
        self._face = face
        self._used = self._asked = used
        self._before: Snapshot | None = None
        """The snapshot before the first recipe was tried; None if none was."""
        self._opened = now.main.opened
        self._failed = now.main.opened is not None
        """True if the last requested recipe is not the trained one."""

    def train(self, choice: RecipeChoice) -> None:
        """Train by what was chosen, if it is something else than what was asked for last."""
        asked, self._asked = self._asked, choice
        if choice.keep_place != asked.keep_place:
            self._face.send(KeepPlace(choice.keep_place))
        if self._failed or (choice.recipe, choice.run) != (asked.recipe, asked.run):
            self._before = self._before or self._face.snapshot
            self._use(choice)

    def put_back(self) -> None:
        """Train again by what was in use, at the step where it was, running if it was."""
        before, used, face = self._before, self._used, self._face
        if self._asked.keep_place != used.keep_place:
            face.send(KeepPlace(used.keep_place))
        if before is not None and self._opened is not None:
            face.send(OpenTokenizer(self._opened.path, kept=True),
                lambda _: face.send(GoTo(before.main.at.step)))
        elif before is not None:
            self._use(used, lambda _: face.send(Play(True) if before.running else GoTo(before.main.at.step)))

    def _use(self, choice: RecipeChoice, then: Callable[[None], object] | None = None) -> None:
        self._failed = False
        self._face.send(SetRecipe(choice.recipe, choice.run), then, self._fail)

    def _fail(self, error: BaseException) -> None:
        self._failed = True
        self._face.tell(error)


def choose_recipe(face: Face) -> None:
    """Ask for a recipe, and train by it."""
    now = face.snapshot
    if now is None:
        not_yet(face)
        return
    column, run = now.main, face.run_in_use

    async def trial(recipe: Recipe, run: Run) -> PreviewView:
        return await face.ask(Preview(recipe, run))

    trying = Trying(face, RecipeChoice(column.recipe, run, now.keep_place), now)
    live = now.corpus.bytes <= LIVE_BYTES and column.opened is None and not now.nothing
    stages = column.opened.stages if column.opened is not None else ()
    dialog = RecipeScreen(face, column.recipe, column.preset, run, trial, now.keep_place, trying.train, live,
        stages)
    face.push(dialog, lambda choice: trying.put_back() if choice is None else trying.train(choice))
