"""Training anew while something changes: the newest wish is sent, and none piles up behind another."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokentui.core.errors import Cancelled
from tokentui.session.commands import Scratch, Use

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp

QUIET_S = 0.5
"""How long training may take before it is shown how far it is: until then what is seen stays, and changes once."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to be sent, made when its turn has come, and what is called with its answer or with what went wrong."""

    command: Callable[[], Scratch | Use]
    then: Callable[[], object]
    failed: Callable[[BaseException], object]


class Retraining:
    """Sends texts and recipes to be trained.

    A text waits until the one before is trained: what is typed fast is still seen to change. A recipe is sent at once,
    which gives up the one before, but it waits for a text: the text must not be lost.

    Args:
        app: The app that sends.
    """

    def __init__(self, app: ExplorerApp) -> None:
        self._app = app
        self._text: _Wish | None = None
        self._recipe: _Wish | None = None
        self._under_way: Scratch | Use | None = None
        self._since = 0.0

    @property
    def quiet(self) -> bool:
        """Whether something is trained that will soon be there."""
        return self._under_way is not None and time.monotonic() - self._since < QUIET_S

    def text(self, take: Callable[[], str], then: Callable[[], object], failed: Callable[[BaseException], object]) -> None:
        """Train on a text; `take` gives it when it is sent."""
        self._text = _Wish(lambda: Scratch(take()), then, failed)
        self._send_next()

    def recipe(self, command: Use, then: Callable[[], object], failed: Callable[[BaseException], object]) -> None:
        """Train by a recipe."""
        self._recipe = _Wish(lambda: command, then, failed)
        self._send_next()

    def forget(self) -> None:
        """Send nothing of what waits: another corpus is being opened."""
        self._text = self._recipe = None

    def _send_next(self) -> None:
        if self._text is not None and self._under_way is None:
            wish, self._text = self._text, None
        elif self._recipe is not None and self._text is None and not isinstance(self._under_way, Scratch):
            wish, self._recipe = self._recipe, None
        else:
            return
        self._under_way, self._since = wish.command(), time.monotonic()
        command = self._under_way

        def ended() -> bool:
            newest = self._under_way is command
            if newest:
                self._under_way = None
            return newest

        def then(_: Any) -> None:
            ended()
            wish.then()
            self._send_next()

        def failed(error: BaseException) -> None:
            # A recipe that gave way to another one has nothing to say.
            if ended() or not isinstance(error, Cancelled):
                wish.failed(error)
            self._send_next()

        self._app.send(command, then, failed)
