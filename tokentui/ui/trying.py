"""Training by recipes while they are being chosen, and the way back to the one before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tokentui.session.commands import GoTo, KeepPlace, OpenTokenizer, Play, Use
from tokentui.session.snapshot import OpenedView, Snapshot

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp
    from tokentui.ui.dialogs.following import RecipeChoice


class Trying:
    """What is trained while a dialog asks for a recipe.

    Args:
        app: The app.
        used: What is in use when the dialog opens.
        taken: Called with the words of the run that is trained, once it is.
        opened: The tokenizer that was opened from a file, where that is in use and nothing is trained.
    """

    def __init__(
        self, app: ExplorerApp, used: RecipeChoice, taken: Callable[[dict[str, Any]], None], opened: OpenedView | None = None
    ) -> None:
        self._app = app
        self._used = self._asked = used
        self._taken = taken
        self._before: Snapshot | None = None
        """What was seen before the first recipe was tried; None while none was."""
        self._opened = opened
        self._failed = opened is not None
        """Whether what was asked for last is not what is trained."""

    def train(self, choice: RecipeChoice) -> None:
        """Train by what was chosen, if it is something else than what was asked for last."""
        asked, self._asked = self._asked, choice
        if choice.keep_place != asked.keep_place:
            self._app.send(KeepPlace(choice.keep_place))
        if self._failed or (choice.recipe, choice.run) != (asked.recipe, asked.run):
            self._before = self._before or self._app.main.snapshot
            self._use(choice, lambda: None)

    def put_back(self) -> None:
        """Train again by what was in use, at the step where it was, running if it was."""
        before, used = self._before, self._used
        if self._asked.keep_place != used.keep_place:
            self._app.send(KeepPlace(used.keep_place))
        if before is not None and self._opened is not None:
            self._app.retraining.forget()
            self._app.send(OpenTokenizer(self._opened.path, kept=True), lambda _: self._app.send(GoTo(before.step)))
        elif before is not None:
            self._use(used, lambda: self._app.send(Play(True) if before.running else GoTo(before.step)))

    def _use(self, choice: RecipeChoice, then: Callable[[], object]) -> None:
        def trained() -> None:
            self._taken(dict(choice.run))
            then()

        self._failed = False
        self._app.retraining.recipe(Use(choice.recipe, words(choice.run)), trained, self._fail)

    def _fail(self, error: BaseException) -> None:
        self._failed = True
        self._app.tell(error)


def words(run: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The words of a run as a command has them."""
    return tuple(sorted((name, tuple(word) if isinstance(word, list) else word) for name, word in run.items()))
