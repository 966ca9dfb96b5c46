"""Help: every key and what it does, made from the same actions as the footer and the command palette."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.widgets import Input

from tokentui.ui.dialogs.dialog import SCROLL, ListDialog, prompted, told_rows
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import size
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face
from tokentui.ui.keys import Action, key_name
from tokentui.ui.typed import Field

EVERYWHERE = ("global", "compare")
"""The contexts that are a whole screen."""

_KEYS_MOST = 20
_LABEL_MOST = 16
_NARROW = 70  # columns under which labels give way to the sentences


def engine_line(engine: str = "", memory: int = 0) -> str:
    """Return one line about the program, its engine, the engine's memory, Python and Textual."""
    import tokentui

    own = getattr(tokentui, "__version__", "")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    held = f", {size(memory)} held" if memory else ""
    runs = f"tokentui {own} · engine: {engine or 'plain Python'}{held}"
    return f"{runs} · {python} · Textual {version('textual')}".replace("  ", " ")


def rows(actions: Sequence[Action[Any]], context: str, find: str, width: int) -> Iterator[TableRow]:
    """The rows of help: actions that have the text that is looked for, under the headings of their contexts.

    Args:
        actions: All actions.
        context: The one of the focused pane: it comes first, then `global`, then the others as they come. An
            action of several panes stands under each.
        find: Text that keys, label or sentence must have, upper or lower case; "" for all.
        width: The columns for the sentence; the rest of a longer one stands in rows of its own.
    """
    names = [_where(context), "global", *(_where(each) for one in actions for each in one.contexts)]
    for name in dict.fromkeys(names):
        found = [
            one for one in actions if name in map(_where, one.contexts) and find.lower() in _all_text(one)
        ]
        if not found:
            continue
        title = "Everywhere" if name == "global" else name.capitalize()
        yield TableRow(None, (((title, "strong"),), (), ()))
        for action in found:
            heads: list[Cell] = [
                ((" ".join(map(key_name, action.keys)), "key"),), ((action.label, "strong"),),
            ]
            said = ((action.help or action.label, ""),)
            key = action.name if name == _where(action.contexts[0]) else (action.name, name)
            yield from told_rows(key, heads, said, max(10, width), words=True)


def _where(context: str) -> str:
    """The heading that a context belongs under: what works on a whole screen is one."""
    return "global" if context in EVERYWHERE else context


def _all_text(action: Action[Any]) -> str:
    return " ".join([*map(key_name, action.keys), action.label, action.help, action.name]).lower()


class HelpScreen(ListDialog[None]):
    """Shows the keys.

    Args:
        face: The program.
        actions: All actions that mean something now.
        context: The context of the focused pane.
    """

    HEADING = "Help"
    ACTIONS = (
        Action(("slash",), "search", lambda it: it.search()),
        SCROLL,
        Action(("escape", "q", "question_mark"), "close", lambda it: it.leave(), keys_shown=3),
    )
    EDIT_HINTS = (
        Action(("enter",), "to the list"), Action(("escape",), "end the search"),
    )
    DEFAULT_CSS = """
    HelpScreen Notice { dock: bottom; margin-bottom: 1; }
    """

    def __init__(self, face: Face, actions: Sequence[Action[Any]], context: str = "global") -> None:
        super().__init__(face)
        self._actions = tuple(actions)
        self._pane = context
        self._find = ""
        self.field = Field(placeholder="a key or a word")

    def compose_box(self) -> ComposeResult:
        """The search line, the list, and what runs."""
        yield prompted("/", self.field, "edit")
        yield self.listing
        yield self.notice

    def on_mount(self) -> None:
        """Show all of it."""
        now = self.face.snapshot
        self.notice.say(engine_line(now.engine, now.main.at.memory) if now is not None else engine_line())

    def search(self) -> None:
        """Open the search line."""
        self.edit(self.field, self._find)

    def leave(self) -> None:
        """End the search, or leave."""
        if not self.editing:
            self.dismiss(None)
            return
        self.field.value = ""
        self.end_edit(self.listing)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what has the text."""
        self._find = event.value.strip()
        self.lay_out()

    def on_input_submitted(self) -> None:
        """Go to the list of what was found."""
        self.set_focus(self.listing)
        self.hints.say(self.ACTIONS)

    def lay_out(self) -> None:
        """Break the sentences for the room there is."""
        listing = self.listing
        keys = max((cell_len(" ".join(map(key_name, action.keys))) for action in self._actions), default=0)
        labels = max((cell_len(action.label) for action in self._actions), default=0)
        keys, labels = min(keys, _KEYS_MOST), min(labels, _LABEL_MOST)
        if listing.size.width < _NARROW:
            labels = 0
        columns = (
            Column(width=max(10, keys), priority=2), Column(width=labels),
            Column(flex=1, min_width=12, priority=1),
        )
        taken = 2 + sum(column.width + 1 for column in columns[:2]) + 1
        listing.set_columns(columns)
        listing.set_find(self._find)
        listing.show(list(rows(self._actions, self._pane, self._find, listing.size.width - taken)))
