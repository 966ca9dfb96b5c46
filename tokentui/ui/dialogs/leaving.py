"""Screens that are left once, with all that they still wanted to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen
from textual.worker import NoActiveWorker, get_current_worker

Result = TypeVar("Result")


class Once(Screen[Result]):
    """A screen that is left once.

    Of two keys that leave and come in one packet the second would take the screen below; and what was asked for while the
    screen was there would be shown in widgets that are gone.
    """

    _left = False

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Leave with a result; whatever is still being found out for the screen is given up."""
        if self._left:
            return AwaitComplete()
        self._left = True
        try:
            own = get_current_worker()
        except NoActiveWorker:
            own = None
        for worker in list(self.workers):
            if worker is not own and self in worker.node.ancestors_with_self:
                worker.cancel()
        return super().dismiss(result)

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        """Call after the next frame, if the screen is there still."""
        return super().call_after_refresh(self._unless_left, callback, *args, **kwargs)

    def _unless_left(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return None if self._left else callback(*args, **kwargs)
