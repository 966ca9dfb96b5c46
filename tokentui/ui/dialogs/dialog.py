"""What the dialogs have in common: a box over the main screen, a line of keys at its foot, and esc to leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, TypeAlias, TypeVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.leaving import Once
from tokentui.ui.draw.text import Run, join
from tokentui.ui.panes.waits import waits_for

Result = TypeVar("Result")
Hint: TypeAlias = tuple[str, str]
"""A key as a user reads it, and what it does in a word or two."""


class Hints(Widget):
    """One line of keys: as many of them as there is room for, the first ones first."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Hints { width: 1fr; height: 1; dock: bottom; }
    """

    def __init__(self, hints: Sequence[Hint]) -> None:
        super().__init__()
        self._hints = tuple(hints)

    def say(self, hints: Sequence[Hint]) -> None:
        """Take other keys."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def render(self) -> Content:
        """The keys that fit."""
        return join(self._fitting())

    def _fitting(self) -> Iterator[Run]:
        room = self.size.width
        for place, (key, label) in enumerate(self._hints):
            needed = cell_len(key) + 1 + cell_len(label) + (2 if place else 0)
            if needed > room:
                return
            room -= needed
            yield from ((("  ", ""),) if place else ())
            yield from ((key, "key"), (f" {label}", "muted"))


class Dialog(ModalScreen[Result], Once[Result]):
    """A box with a title over the screen it was pushed on; esc leaves it without a result.

    A subclass gives `HEADING`, `HINTS` and what stands in the box (`compose_box`). Its classes `-narrow`, `-medium` and
    `-wide`, `-short` and `-tall` say what room there is.
    """

    HEADING: ClassVar[str] = ""
    HINTS: ClassVar[Sequence[Hint]] = ()
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-medium"), (100, "-wide")]  # noqa: RUF012 - Textual's type is a list
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall"), (32, "-high")]  # noqa: RUF012
    # What is on the screen below stays as it is: to dim it would mix colours that terminals of 256 do not have.
    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: transparent;
        & > .dialog {
            width: 100%; height: 100%;
            background: $surface; color: $foreground;
            border: solid $accent; border-title-color: $text-accent; border-title-style: bold;
            border-subtitle-color: $foreground-muted;
            padding: 0 1;
        }
        &.-narrow > .dialog { padding: 0; }
        &.-wide > .dialog { width: 90%; max-width: 112; }
        &.-high > .dialog { height: 86%; }
        .message { height: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]

    def compose(self) -> ComposeResult:
        """The box, of the size that the screen has room for from its first moment on."""
        if (main := getattr(self.app, "main", None)) is not None:
            self.waits = waits_for(main.snapshot)
        # Textual gives these classes after the first layout: the box would be seen in one place and then in another.
        for length, breakpoints in zip(self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True):
            self.add_class(max((one for one in breakpoints if length >= one[0]), default=(0, ""))[1])
        with Vertical(classes="dialog") as box:
            yield from self.compose_box()
            yield Hints(self.HINTS)
        box.border_title = join(((self.HEADING, ""),)) if self.HEADING else None

    def compose_box(self) -> ComposeResult:
        """What stands in the box above the line of keys."""
        yield from ()

    @property
    def box(self) -> Widget:
        """The box, for its titles."""
        return self.query_one(".dialog")

    @property
    def hints(self) -> Hints:
        """The line of keys."""
        return self.query_one(Hints)

    waits = ""
    """What an answer of the session waits for, in a few words; empty where it is on its way."""

    def on_mount(self) -> None:
        """Say what is waited for."""
        if self.waits:
            self.tell_waiting()

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take what the main screen shows; None before there is anything."""
        waits = waits_for(snapshot)
        if waits != self.waits:
            self.waits = waits
            if self.is_mounted:
                self.tell_waiting()

    def tell_waiting(self) -> None:
        """Say what is waited for, where something is."""

    def action_leave(self) -> None:
        """Leave without a result."""
        self.dismiss(None)


class Notice(Static):
    """One line that answers what was last typed or tried."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, classes="message", markup=False)
        self.said = ""
        """What it says now, for tests and for screens that ask."""

    def say(self, text: str, style: str = "muted") -> None:
        """Say something, safe or not; `style` is a name of the palette."""
        self.said = text
        self.update(join(((text, style),)))
