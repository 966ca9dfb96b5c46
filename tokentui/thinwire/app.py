"""A Textual app whose terminal gets changed cells only."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Generic

from rich.console import RenderableType
from textual import events
from textual.app import ReturnType
from textual.driver import Driver
from textual.filter import LineFilter, NoColor
from textual.screen import Screen
from textual.widgets import Input

from tokentui.thinwire.buffer import ScreenBuffer
from tokentui.thinwire.driver import ThinWireDriver
from tokentui.thinwire.private import ChopsUpdate, LayoutUpdate, color_system, free_strips
from tokentui.thinwire.safe_text import RICH_TEXT, SafeText, SafeTextFilter
from tokentui.thinwire.terminals import is_monochrome
from tokentui.thinwire.type_ahead import KeyedApp, TypeAhead
from tokentui.thinwire.widths import correct_widths

CLIPBOARD_BYTES = 74_000
"""The longest text in UTF-8 bytes that is passed to the terminal's clipboard: common terminals drop longer
ones."""


class ThinWireApp(KeyedApp[ReturnType], Generic[ReturnType]):
    """A Textual app for lines that are slow, that stall and that drop.

    The driver is a `ThinWireDriver`, unless Textual runs headless (`run_test`). Nothing blinks and nothing is
    animated: an idle line carries no bytes.

    Args:
        safe_text: Decides which text may reach the terminal.
        driver_class: The driver, if you have extended it.
    """

    def __init__(self, safe_text: SafeText = RICH_TEXT, driver_class: type[Driver] | None = None) -> None:
        correct_widths()
        free_strips()
        self._safe_text = safe_text
        self._no_color_filter = NoColor()
        self._safe_text_filter = SafeTextFilter(safe_text)
        self._buffer: ScreenBuffer | None = None
        super().__init__(driver_class=driver_class or ThinWireDriver)
        self.type_ahead = TypeAhead(self, self.deliver)
        self.no_color = self.no_color or is_monochrome(os.environ)
        self.animation_level = "none"

    def backlog(self) -> bool:
        """Return whether the terminal has not taken all output yet: what is drawn now is shown later."""
        return isinstance(self._driver, ThinWireDriver) and self._driver.backlog

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filter for unsafe text, after Textual's one for no colors if the user wants none.

        Textual's other filters blend a color for each background. A terminal dims by itself, in four bytes,
        and knows colors by number.
        """
        return (self._no_color_filter, self._safe_text_filter) if self.no_color else (self._safe_text_filter,)

    def copy_to_clipboard(self, text: str) -> None:
        """Keep a text for pasting within the app; pass it to the terminal's clipboard if it is not too
        long."""
        data = text.encode("utf-8", "replace")
        if len(data) <= CLIPBOARD_BYTES:
            super().copy_to_clipboard(data.decode())
        self._clipboard = text

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Switch off the blinking of the cursor of an `Input`."""
        if isinstance(event.widget, Input):
            event.widget.cursor_blink = False

    async def on_event(self, event: events.Event) -> None:
        """Deliver keys in order, also those typed ahead; see `TypeAhead`."""
        await self.type_ahead.on_event(event)

    async def deliver(self, event: events.Event) -> None:
        """Handle an event as Textual does, in its turn. A subclass may handle a key before the widget that
        has the focus."""
        await super().on_event(event)

    def exit(
        self, result: ReturnType | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave the app; keys that wait are dropped."""
        self.type_ahead.cancel()
        super().exit(result, return_code, message)

    def hang_up(self) -> None:
        """Leave the app because the terminal is gone. Called in the event loop."""
        self.exit(return_code=128 + signal.SIGHUP)

    def repaint(self) -> None:
        """Draw and send all of the screen again, after another program has drawn on the terminal."""
        if isinstance(self._driver, ThinWireDriver):
            self._driver.forget()
        self.refresh(layout=True)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        """Draw an update into the buffer and let the driver send it."""
        driver = self._driver
        if not isinstance(driver, ThinWireDriver) or not isinstance(renderable, LayoutUpdate | ChopsUpdate):
            super()._display(screen, renderable)
        elif self._running and not self._closed:
            # Textual drops updates during a batch. Textual draws each change once, so here they are kept.
            buffer, (width, height) = self._buffer, self.size
            if buffer is None or (buffer.width, buffer.height) != (width, height):
                buffer = self._buffer = ScreenBuffer(
                    width, height, color_system(self), self._safe_text.clusters)
            buffer.draw(renderable)
            cursor = self.screen.outer_size.clamp_offset(self.cursor_position)
            driver.show(buffer, (cursor.x, cursor.y))
