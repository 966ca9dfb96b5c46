"""An app that shows one dialog and keeps its result."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from waiting import screen_text, until

from tokentui.core.safetext import is_safe

SIZES = ((120, 40), (80, 24), (40, 12), (20, 5), (1, 1))
"""The terminals that a dialog is tried on."""

_UNANSWERED = object()


class Host(App[None]):
    """Shows a dialog. It has no guard: what a dialog lets through is seen."""

    def __init__(self, dialog: Screen[Any]) -> None:
        super().__init__()
        self.animation_level = "none"
        self.dialog = dialog
        self.result: Any = _UNANSWERED

    def on_mount(self) -> None:
        """Show it."""
        self.push_screen(self.dialog, self._take)

    def _take(self, result: Any) -> None:
        self.result = result

    @property
    def answered(self) -> bool:
        """Whether the dialog has been left, with or without a result."""
        return self.result is not _UNANSWERED


@asynccontextmanager
async def shown(dialog: Screen[Any], size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    """A dialog on a terminal of this size."""
    app = Host(dialog)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen is dialog and dialog.is_mounted and dialog.focused is not None)
        yield app, pilot


async def typed(pilot: Pilot[Any], text: str) -> None:
    """Type text, a key a character."""
    names = {" ": "space", "/": "slash", ".": "full_stop", "-": "minus", "+": "plus", ":": "colon", "_": "underscore"}
    names |= {"%": "percent_sign", ",": "comma", "(": "left_parenthesis", "\\": "backslash", "~": "tilde"}
    names |= {"*": "asterisk", "=": "equals_sign"}
    await pilot.press(*(names.get(char, char) for char in text))


def assert_safe(pilot: Pilot[Any]) -> None:
    """Nothing on the screen is hidden or acts."""
    for line in screen_text(pilot).split("\n"):
        assert is_safe(line), ascii(line)


async def tried_on_all_sizes(pilot: Pilot[Any]) -> None:
    """Let the dialog be drawn on every size, and back."""
    for size in (*SIZES, *reversed(SIZES)):
        await pilot.resize_terminal(*size)
        await until(pilot, lambda size=size: pilot.app.screen.size == size)  # type: ignore[misc]
        assert_safe(pilot)
