"""Training anew while something changes: the newest wish is sent, and none piles up behind another."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from tokentui.core.errors import Cancelled
from tokentui.session.commands import Command, SetRecipe, TrainOnText

QUIET_S = 0.5
"""The seconds of training before its progress is shown.

Until then the old view stays; the view changes only once.
"""


class _Wish(NamedTuple):
    """A request to send, with the callbacks for its answer and for its failure."""

    command: TrainOnText | SetRecipe
    then: Callable[[Any], object]
    failed: Callable[[BaseException], object]


class Retraining:
    """Sends texts and recipes to be trained.

    A text waits until the one before is trained: what is typed fast is still seen to change. A recipe is sent
    at once, which gives up the one before, but it waits for a text: the text must not be lost.

    Args:
        send: Hands a command to the session.
    """

    def __init__(self, send: Callable[[Command[Any], Callable[[Any], object],
            Callable[[BaseException], object]], None]) -> None:
        self._send = send
        self._text: _Wish | None = None
        self._recipe: _Wish | None = None
        self._under_way: TrainOnText | SetRecipe | None = None
        self._since = 0.0

    @property
    def quiet(self) -> bool:
        """True if training is under way and still within `QUIET_S`."""
        return self._under_way is not None and time.monotonic() - self._since < QUIET_S

    def wish(
        self, command: TrainOnText | SetRecipe, then: Callable[[Any], object], failed: Callable[[BaseException], object]
    ) -> None:
        """Train on a text, or by a recipe."""
        if isinstance(command, TrainOnText):
            self._text = _Wish(command, then, failed)
        else:
            self._recipe = _Wish(command, then, failed)
        self._send_next()

    def forget(self) -> None:
        """Send nothing of what waits: another corpus is being opened."""
        self._text = self._recipe = None

    def _send_next(self) -> None:
        if self._text is not None and self._under_way is None:
            wish, self._text = self._text, None
        elif self._recipe is not None and self._text is None and not isinstance(self._under_way, TrainOnText):
            wish, self._recipe = self._recipe, None
        else:
            return
        self._under_way, self._since = wish.command, time.monotonic()

        def ended() -> bool:
            newest = self._under_way is wish.command
            if newest:
                self._under_way = None
            return newest

        def then(answer: Any) -> None:
            ended()
            wish.then(answer)
            self._send_next()

        def failed(error: BaseException) -> None:
            # A recipe that gave way to another one has nothing to say.
            if ended() or not isinstance(error, Cancelled):
                wish.failed(error)
            self._send_next()

        self._send(wish.command, then, failed)
