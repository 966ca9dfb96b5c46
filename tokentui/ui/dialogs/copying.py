"""Copy what is under the cursor to the clipboard of the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.thinwire import CLIPBOARD_BYTES
from tokentui.ui.bindings import HANDLED
from tokentui.ui.dialogs import ListDialog
from tokentui.ui.dialogs.saving import ask_file
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Copied, runs
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink, EngineScreen

_SHOWN = 400
_SAID = 60


def token_of(name: str, piece: bytes) -> Copied:
    """Return a token as text, or as a literal of its bytes if they are not UTF-8."""
    try:
        return Copied(name, piece.decode(), marked=True)
    except UnicodeDecodeError:
        return Copied(name, repr(piece), escaped=True)


class CopyScreen(ListDialog[None]):
    """Lists the texts that can be copied; enter copies one.

    Args:
        engine: The link to the session.
        found: The texts.
        first: The beginning of the name of the text to put the cursor on.
    """

    HEADING = "Copy"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "copy"),
        Binding("w", "write", "write a file", id="copy.write", tooltip="Write the text to a file"),
        Binding("y", "turn", "next", id="copy.next", tooltip="Go to the next thing to copy"),
    ]

    def __init__(self, engine: EngineLink, found: Sequence[Copied], first: str = "") -> None:
        super().__init__(engine)
        self._found, self._first = tuple(found), first

    def on_mount(self) -> None:
        """List the texts, with the cursor on the first whose name begins with `first`, otherwise on the first
        one."""
        super().on_mount()
        self.lay_out()
        begun = (n for n, copied in enumerate(self._found) if copied.name.startswith(self._first))
        self.listing.move_to(next(begun, 0))

    def lay_out(self) -> None:
        """Show the name and the beginning of each text, and fit the height."""
        wide = max((len(copied.name) for copied in self._found), default=0)
        rows = [
            TableRow(n, (((copied.name, "strong"),), (
                runs(copied.text, limit=_SHOWN) if copied.marked else ((safe(copied.text, limit=_SHOWN), ""),)
            )))
            for n, copied in enumerate(self._found)
        ]
        self.listing.show(
            rows, self.listing.cursor_key, (Column(width=wide, priority=2), Column(flex=1, priority=1))
        )
        self.fit_height(len(rows))

    def action_turn(self) -> None:
        """Move to the next text, around the end."""
        self.listing.move_to((self.listing.cursor + 1) % max(1, len(self._found)))

    def action_write(self) -> None:
        """Close, ask for the name of a file, and write the text under the cursor to it."""
        key = self.listing.cursor_key
        copied = self._found[key if isinstance(key, int) else 0]
        below, what = self.app.screen_stack[-2], f"the {copied.name}"
        self.dismiss(None)

        def write(text: str) -> None:
            if isinstance(below, EngineScreen):
                ask_file(below, f"Write {what}", copied.ending, what,
                         lambda _: text.encode("utf-8", "replace"))

        self._with_whole_text(copied, write)

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Close, copy the text of the row, and show a message."""
        assert isinstance(event.key, int)
        copied = self._found[event.key]
        self.dismiss(None)
        self._with_whole_text(copied, partial(self._copy, copied))

    def _with_whole_text(self, copied: Copied, take: Callable[[str], object]) -> None:
        """Call `take` with the whole text: at once, or in a worker if the session has to make it. The app
        shows errors."""
        app, asks = self.app, copied.asks
        if asks is None:
            take(copied.whole)
            return

        async def ask() -> None:
            try:
                take(await asks())
            except (TokentuiError, Cancelled) as error:
                app.tell(error)

        start_worker(app, "copy", ask)

    def _copy(self, copied: Copied, text: str) -> None:
        """Copy a text to the clipboard, and show a message: a warning if it is longer than `CLIPBOARD_BYTES`,
        which terminals may drop."""
        app = self.app
        app.copy_to_clipboard(text)
        how = ", as a literal of its bytes, which are not UTF-8" if copied.escaped else ""
        if len(text.encode("utf-8", "replace")) > CLIPBOARD_BYTES:
            app.say(f"the {copied.name} is too long for a terminal's clipboard: ctrl+v pastes it here, "
                "and w writes a file", "warning")
        else:
            app.say(f"copied the {copied.name}{how}: {safe(copied.text, limit=_SAID)}")
