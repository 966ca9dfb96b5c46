"""Every private part of Textual and Rich that this package uses. They have no public name for what is needed.

Parts that are imported or called have a function here. Attributes that a class of ours overrides, or reads of
its base class, are listed in `OVERRIDDEN`. A test per part fails, and says what the part is for, when a
release of Textual or Rich renames it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import rich.cells
from rich._unicode_data import load
from rich.cells import CellTable, cached_cell_len, get_character_cell_size
from rich.color import ColorSystem
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.strip import Strip

__all__ = [
    "OVERRIDDEN", "ChopsUpdate", "LayoutUpdate", "XTermParser", "attribute_bits", "color_system",
    "escape_timeout", "free_strips", "has_priority_binding", "replace_width_table",
    "supports_synchronized_output",
]

OVERRIDDEN: dict[str, dict[str, str]] = {
    "textual.app:App": {
        "_display": "passes what is drawn to the driver",
        "_driver": "is asked whether the line is busy",
        "_running": "is False before the app may draw", "_closed": "is True once it may not draw any more",
        "_clipboard": "keeps the exact text that was cut",
        "_bindings": "knows which keys have priority",
        "_sync_available": "is True if the terminal supports synchronized output",
    },
    "textual.drivers.linux_driver:LinuxDriver": {
        "_enable_mouse_support": "asks for fewer mouse reports",
        "_disable_mouse_support": "switches them off",
        "_enable_mouse_pixels": "is not used: cells are fine enough",
        "_query_in_band_window_resize": "is not used: SIGWINCH reports sizes",
        "_app": "gives the size", "_loop": "is the event loop that other threads call into",
        "_file": "is the stream that is written to", "_mouse": "is True if the mouse is enabled",
    },
    "textual.strip:Strip": {
        "_divide_cache": "is emptied if the strip itself is in it",
        "_crop_extend_cache": "is emptied if the strip itself is in it",
    },
}
"""Attributes of Textual's classes that ours override or read: class, attribute, purpose."""


def color_system(app: App[Any]) -> ColorSystem:
    """Return the color system of the app's console; 256 colors if Rich detected none."""
    return app.console._color_system or ColorSystem.EIGHT_BIT


def supports_synchronized_output(app: App[Any]) -> bool:
    """Return whether the terminal can hold back a frame until all of it has arrived (mode 2026)."""
    return app._sync_available


def has_priority_binding(app: App[Any], key: str) -> bool:
    """Return whether the app itself binds a key with `priority=True`."""
    return any(binding.priority for binding in app._bindings.key_to_bindings.get(key, []))


def escape_timeout(parser: XTermParser) -> float | None:
    """Return the seconds until a pending escape character counts as the Escape key; None if none is
    pending."""
    end = parser._timeout_time
    return None if end is None else max(0.0, end - get_time())


def attribute_bits(style: Style) -> int:
    """Return the attributes that a style switches on, one bit each, in Rich's order (bold is bit 0)."""
    return style._attributes & style._set_attributes


def replace_width_table(
    widths: Callable[[Sequence[tuple[int, int, int]]], list[tuple[int, int, int]]],
    prepare: Callable[[str], str],
) -> None:
    """Replace the table by which Rich, and so Textual, measures text in this process.

    Rich loads its tables as data once and has no setting for them.

    Args:
        widths: Gets the table as (first code point, last code point, columns) and returns the one to use.
        prepare: Gets each text that is measured or split and returns the text to measure instead.
    """
    table = load("auto")
    name = f"rich._unicode_data.unicode{table.unicode_version.replace('.', '-')}"
    replacement = CellTable(table.unicode_version, widths(table.widths), table.narrow_to_wide)
    sys.modules[name].cell_table = replacement  # type: ignore[attr-defined]
    measure, split = rich.cells._cell_len, rich.cells.split_graphemes
    rich.cells._cell_len = lambda text, unicode_version: measure(prepare(text), unicode_version)
    rich.cells.split_graphemes = lambda text, unicode_version="auto": split(prepare(text), unicode_version)
    for cached in (load, get_character_cell_size, cached_cell_len):
        cached.cache_clear()


def free_strips() -> None:
    """Let Textual's strips be freed as soon as nothing shows them, in this process.

    A strip that is cut at its own width is its only part, and keeps itself in a cache. Such strips wait for
    the garbage collector: 60 to 100 strips with thousands of segments per scrolled key, and half a second for
    the collection after some seconds of scrolling.
    """
    if Strip.divide.__module__ == __name__:
        return
    divide, crop_extend = Strip.divide, Strip.crop_extend

    def divide_freed(self: Strip, cuts: Iterable[int]) -> Sequence[Strip]:
        strips = divide(self, cuts)
        if strips and strips[0] is self:
            self._divide_cache.clear()
        return strips

    def crop_extend_freed(self: Strip, start: int, end: int, style: Style | None) -> Strip:
        strip = crop_extend(self, start, end, style)
        if strip is self:
            self._crop_extend_cache.clear()
        return strip

    Strip.divide, Strip.crop_extend = divide_freed, crop_extend_freed  # type: ignore[method-assign]
