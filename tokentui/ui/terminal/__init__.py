"""The terminal: changed cells only, no more than the line takes, and a safe exit.

Here are the private parts of Textual and Rich that the program leans on, all of them. They have no public
name for what is needed. What is imported or called stands in functions here; what a class of ours overrides
or reads of its base class is listed in `PARTS`. A test looks for each part and says which one broke, and what
it was for. The editor imports its document itself: it takes 34 ms, which the first screen does not wait for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import rich.cells
from rich._unicode_data import load
from rich.cells import CellTable, cached_cell_len, get_character_cell_size
from rich.color import ColorSystem
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.app import App

__all__ = [
    "PARTS", "ChopsUpdate", "LayoutUpdate", "XTermParser", "attributes_of", "colour_system", "leaves",
    "measure_with", "sync", "undecided",
]

PARTS: dict[str, dict[str, str]] = {
    "textual.app:App": {
        "_display": "takes what is drawn, for our own driver",
        "_driver": "is asked for its backlog",
        "_running": "says whether anything may be drawn", "_closed": "says the same",
        "_exception": "says whether a failure ended the program",
        "_handle_exception": "ends with a failure, or keeps it where the program ends already",
        "_fatal_error": "closes after a failure, without what variables held",
        "_close_messages_no_wait": "closes after a failure",
        "_print_error_renderables": "prints nothing of the corpus",
        "_exit_renderables": "holds what would be printed",
        "_loop": "is where signals and threads call to", "_clipboard": "keeps what is cut as it is",
        "_bindings": "knows the keys that leave",
        "_sync_available": "knows whether frames may be held together",
    },
    "textual.message_pump:MessagePump": {
        "_dispatch_message": "runs the handlers of a message, whose errors are caught",
    },
    "textual.timer:Timer": {"_skip": "lets a timer that calls once call late rather than never"},
    "textual.drivers.linux_driver:LinuxDriver": {
        "_enable_mouse_support": "asks for fewer reports", "_disable_mouse_support": "takes that back",
        "_enable_mouse_pixels": "is left out: cells are fine enough",
        "_query_in_band_window_resize": "is left out: signals tell of sizes",
        "_app": "gives the size", "_loop": "is where other threads call to", "_file": "is what is written to",
        "_mouse": "says whether it is on",
    },
    "textual.widgets:Input": {
        "_cell_offset_to_index": "finds the cluster that is clicked at", "_value": "draws whole clusters",
    },
    "textual.widgets:TextArea": {
        "_set_document": "takes a document that keeps the text exactly",
        "_replace_via_keyboard": "refuses what is too large",
        "_delete_via_keyboard": "deletes whole clusters",
        "_build_highlight_map": "is told of another document",
        "_rewrap_and_refresh_virtual_size": "lays another document out",
    },
    "textual.document._document:Document": {"_lines": "holds the lines that are drawn"},
    "textual.document._document_navigator:DocumentNavigator": {"_document": "is what the cursor moves in"},
    "textual.document._wrapped_document:WrappedDocument": {
        "location_to_offset": "brings the cursor's line into view"},
}
"""Attributes of classes of Textual that ours override or read: the class, the attribute, what it is for."""


def colour_system(app: App[None]) -> ColorSystem:
    """Return the number of colours of the terminal."""
    return app.console._color_system or ColorSystem.EIGHT_BIT


def sync(app: App[None]) -> bool:
    """True if the terminal can hold a frame back until it is complete."""
    return app._sync_available


def leaves(app: App[None], key: str) -> bool:
    """True if a key is one of the program's own keys that are handled at once."""
    return any(binding.priority for binding in app._bindings.key_to_bindings.get(key, []))


def undecided(parser: XTermParser) -> float | None:
    """The seconds until an escape that may begin a sequence is a key; None where there is none."""
    end = parser._timeout_time
    return None if end is None else max(0.0, end - get_time())


def attributes_of(style: Style) -> int:
    """The attributes of a style that are on, a bit each."""
    return style._attributes & style._set_attributes


def measure_with(
    complete: Callable[[Sequence[tuple[int, int, int]]], list[tuple[int, int, int]]],
    unjoined: Callable[[str], str]
) -> None:
    """Let Rich measure texts by another table. Its tables are data that it loads once; it has no setting for
    them.

    Args:
        complete: Makes another table of (first code point, last, columns).
        unjoined: Returns the part of a text that is measured.
    """
    table = load("auto")
    name = f"rich._unicode_data.unicode{table.unicode_version.replace('.', '-')}"
    made = CellTable(table.unicode_version, complete(table.widths), table.narrow_to_wide)
    sys.modules[name].cell_table = made  # type: ignore[attr-defined]
    measure, split = rich.cells._cell_len, rich.cells.split_graphemes
    rich.cells._cell_len = lambda text, unicode_version: measure(unjoined(text), unicode_version)
    rich.cells.split_graphemes = lambda text, unicode_version="auto": split(unjoined(text), unicode_version)
    for cached in (load, get_character_cell_size, cached_cell_len):
        cached.cache_clear()
