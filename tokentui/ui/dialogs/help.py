"""Help: every key and what it does, made from the same actions as the footer and the command palette."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import ClassVar, Protocol

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tokentui.ui.actions import EVERYWHERE as SCREENS
from tokentui.ui.actions import key_name
from tokentui.ui.dialogs.dialog import Dialog, Hint, Notice
from tokentui.ui.dialogs.field import Field
from tokentui.ui.dialogs.listing import Listing
from tokentui.ui.draw.figures import size
from tokentui.ui.draw.table import Column, TableRow

EVERYWHERE = "global"
"""The context of actions that work in every pane."""

_KEYS_MOST = 20
_LABEL_MOST = 16
_NARROW = 70  # columns under which labels give way to the sentences


class ActionLike(Protocol):
    """An action as far as help shows it."""

    @property
    def name(self) -> str:
        """Its name, as the command palette has it."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Its keys, in Textual's names."""

    @property
    def label(self) -> str:
        """It in a word or two, as the footer has it."""

    @property
    def help(self) -> str:
        """It in a sentence."""

    @property
    def context(self) -> str:
        """Where it works: `global` or a pane."""


def engine_line(engine: str = "", memory: int = 0) -> str:
    """What runs here, in one line: the program, its engine and what that holds, and what it stands on."""
    import tokentui

    own = getattr(tokentui, "__version__", "")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    held = f", {size(memory)} held" if memory else ""
    runs = f"tokentui {own} · engine: {engine or 'plain Python'}{held}"
    return f"{runs} · {python} · Textual {version('textual')}".replace("  ", " ")


def rows(actions: Sequence[ActionLike], context: str, find: str, width: int) -> Iterator[TableRow]:
    """The rows of help: actions that have the text that is looked for, under the headings of their contexts.

    Args:
        actions: All actions.
        context: The one of the focused pane: it comes first, then `global`, then the others as they come.
        find: Text that keys, label or sentence must have, upper or lower case; "" for all.
        width: The columns for the sentence; the rest of a longer one stands in rows of its own.
    """
    for name in dict.fromkeys([_where(context), EVERYWHERE, *(_where(action.context) for action in actions)]):
        found = [action for action in actions if _where(action.context) == name and find.lower() in _all_text(action)]
        if not found:
            continue
        title = "Everywhere" if name == EVERYWHERE else name.capitalize()
        yield TableRow(None, (((title, "strong"),), (), ()))
        for action in found:
            keys = " ".join(map(key_name, action.keys))
            first, *more = textwrap.wrap(action.help or action.label, max(10, width)) or [""]
            yield TableRow(action.name, (((keys, "key"),), ((action.label, "strong"),), ((first, ""),)))
            for n, line in enumerate(more):
                yield TableRow((action.name, n), ((), (), ((line, ""),)))


def _where(context: str) -> str:
    """The heading that a context belongs under: what works on a whole screen is one."""
    return EVERYWHERE if context in SCREENS else context


def _all_text(action: ActionLike) -> str:
    return " ".join([*map(key_name, action.keys), action.label, action.help, action.name]).lower()


class HelpScreen(Dialog[None]):
    """Shows the keys.

    Args:
        actions: All actions.
        context: The context of the focused pane.
        engine: What runs, in a few words.
        memory: How many bytes the training holds, 0 where that is not known.
    """

    HEADING = "Help"
    HINTS: ClassVar[tuple[Hint, ...]] = (("/", "search"), ("↑↓", "scroll"), ("esc q ?", "close"))
    SEARCH_HINTS: ClassVar[tuple[Hint, ...]] = (("enter", "to the list"), ("esc", "end the search"))
    DEFAULT_CSS = """
    HelpScreen .search { height: 1; display: none; }
    HelpScreen.-searching .search { display: block; }
    HelpScreen .prompt { width: 2; color: $text-accent; }
    HelpScreen Listing { height: 1fr; }
    HelpScreen Notice { dock: bottom; margin-bottom: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", show=False),
        Binding("q,question_mark", "leave", "Close", show=False),
    ]

    def __init__(self, actions: Sequence[ActionLike], context: str = EVERYWHERE, engine: str = "", memory: int = 0) -> None:
        super().__init__()
        self._actions = tuple(actions)
        self._pane = context
        self._find = ""
        self._engine, self._memory = engine, memory

    def compose_box(self) -> ComposeResult:
        """The search line, the list, and what runs."""
        with Horizontal(classes="search"):
            yield Static("/", classes="prompt", markup=False)
            yield Field(placeholder="a key or a word")
        yield Listing(())
        yield Notice()

    def on_mount(self) -> None:
        """Show all of it."""
        self.query_one(Notice).say(engine_line(self._engine, self._memory))
        self.set_focus(self.query_one(Listing))

    def on_resize(self) -> None:
        """Break the sentences anew."""
        self.call_after_refresh(self._show)

    def action_search(self) -> None:
        """Open the search line."""
        self.add_class("-searching")
        self.hints.say(self.SEARCH_HINTS)
        self.set_focus(self.query_one(Field))

    def action_leave(self) -> None:
        """End the search, or leave."""
        if not self.has_class("-searching"):
            self.dismiss(None)
            return
        self.query_one(Field).value = ""
        self._to_list()
        self.remove_class("-searching")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what has the text."""
        self._find = event.value.strip()
        self._show()

    def on_input_submitted(self) -> None:
        """Go to the list of what was found."""
        self._to_list()

    def _to_list(self) -> None:
        self.set_focus(self.query_one(Listing))
        self.hints.say(self.HINTS)

    def _show(self) -> None:
        listing = self.query_one(Listing)
        keys = max((cell_len(" ".join(map(key_name, action.keys))) for action in self._actions), default=0)
        labels = max((cell_len(action.label) for action in self._actions), default=0)
        keys, labels = min(keys, _KEYS_MOST), min(labels, _LABEL_MOST)
        if listing.size.width < _NARROW:
            labels = 0
        columns = (
            Column(width=max(10, keys), priority=2), Column(width=labels), Column(flex=1, min_width=12, priority=1),
        )
        taken = 2 + sum(column.width + 1 for column in columns[:2]) + 1
        listing.set_columns(columns)
        listing.set_find(self._find)
        listing.show(list(rows(self._actions, self._pane, self._find, listing.size.width - taken)))
