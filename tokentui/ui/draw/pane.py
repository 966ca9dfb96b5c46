"""A box round a pane: a numbered title at the top, the pane below it.

Not Textual's border titles: a title is drawn with its box, so that where one is in a list costs a few bytes a
key, and in Textual 8.2 a new border title lays out and paints the whole box again.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell, Run


class TitleLine(Lines):
    """The upper edge of a box: its titles at the left, a note at the right.

    Args:
        titles: The initial text at the left.
    """

    def __init__(self, *titles: str) -> None:
        super().__init__(classes="title")
        self.titles: tuple[tuple[str, bool], ...] = tuple((title, True) for title in titles)
        self.note: Cell = ()
        self.focused_box = False
        self.letter = ""
        """The style of the first character; empty for that of the title."""

    def say(self, titles: Sequence[tuple[str, bool]], note: Cell) -> None:
        """Take titles, and a note whose first runs give way where there is little room.

        Args:
            titles: Names with whether each is the one that is seen; there are several where panes share a
                place.
            note: The text at the right.
        """
        if (tuple(titles), note) != (self.titles, self.note):
            self.titles, self.note = tuple(titles), note
            self.again()

    def mark(self, focused: bool) -> None:
        """Say whether the box has the focus."""
        self.focused_box = focused
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`┌ 1 Corpus ──────── 12 % ┐`."""
        edge = "focus" if self.focused_box else "frame"
        left: list[Run] = [("┌ ", edge)]
        for place, (title, seen) in enumerate(self.titles):
            left += [(" ─ ", edge)] if place else []
            head = 1 if self.letter else 0
            left += [(title[:head], f"{self.letter}+strong")] if head else []
            left.append((title[head:], ("focus" if self.focused_box else "strong") if seen else "muted"))
        left.append((" ", edge))
        room = width - 1 - ui_text.width(left)
        facts = self.note
        while facts and ui_text.width(facts) + 3 > room:
            facts = facts[1:]
        note: Cell = ((" ", edge), *facts, (" ", edge)) if facts else ()
        line = "─" * max(0, room - ui_text.width(note) - (1 if note else 0))
        tail = ("─", edge) if note else ("", edge)
        return ((*ui_text.clip(tuple(left), max(0, width - 1)), (line, edge), *note, tail, ("┐", edge)),)


class Pane(Vertical):
    """A box.

    Args:
        title: The text at the top left.
        bodies: The widgets inside; the last one draws the lower edge.
        id: Its id.
    """

    def __init__(self, title: str, *bodies: Widget, id: str) -> None:
        super().__init__(id=id)
        self.title = TitleLine(title)
        self._bodies = bodies

    def compose(self) -> ComposeResult:
        """The title, and what stands below it."""
        yield self.title
        for body in self._bodies:
            body.add_class("body")
            yield body

    def on_descendant_focus(self) -> None:
        """Show that keys go here."""
        self.title.mark(True)

    def on_descendant_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.title.mark(False)
