"""Screens that are left once."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

Result = TypeVar("Result")


class Once(Screen[Result]):
    """A screen that can be left once: of two keys that leave and come in one packet the second would take the screen below."""

    _left = False

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Leave with a result."""
        if self._left:
            return AwaitComplete()
        self._left = True
        return super().dismiss(result)
