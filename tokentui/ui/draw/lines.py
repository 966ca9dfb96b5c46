"""Widgets that draw whole lines of runs, and repaint only those that look different."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from rich.style import Style as RichStyle
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Region
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.text import PALETTE, WITHOUT_COLOUR, Cell, Run, Styles
from tokentui.ui.guard import Guarded
from tokentui.ui.keys import GAP, RULE, Action, Scrolling, fitting

Draw: TypeAlias = Callable[[int, int], Sequence[Cell]]
"""Gives the lines for so many columns and rows."""

WHEEL_ROWS = 3
"""Rows that one notch of the mouse wheel scrolls."""


def spread(left: Cell, right: Cell, width: int) -> Cell:
    """One cell at the left edge, one at the right; the left one gives way, the right one vanishes if it has
    no room.
    """
    taken = ui_text.width(right)
    if taken > width:
        right, taken = (), 0
    left = ui_text.clip(left, max(0, width - taken - (1 if taken else 0)))
    return (*left, (" " * (width - ui_text.width(left) - taken), ""), *right)


def flow(facts: Iterable[tuple[str, Cell]], width: int, height: int) -> list[Cell]:
    """Facts one after the other, each behind its gap: one that does not fit goes to the next line. A line
    that is still too long loses its last clauses.
    """
    lines: list[Cell] = []
    for gap, fact in facts:
        joined: Cell = (*lines[-1], (gap, "muted"), *fact) if lines else fact
        if lines and ui_text.width(joined) > width - 2 and len(lines) < height:
            lines.append(fact)
        else:
            lines[-1:] = [joined]
    room = max(0, width - 2)
    fits = ui_text.width
    return [((" ", ""), *(line if fits(line) <= room else shortened(line, room))) for line in lines]


_SEAM = re.compile(r" · | {3}|, |; |: | \(")
"""The beginning of a clause: whatever stands before it can stand alone."""


def shortened(line: Cell, width: int) -> Cell:
    """A sentence in at most so many columns: it loses its last clauses whole, and is cut where even the first
    one is too long. Spaces of tokens are drawn as signs, so a clause never begins within a token, nor within
    brackets, nor at the lower half of a fraction.
    """
    if ui_text.width(line) <= width:
        return line
    best: Cell = ()
    for n, (text, style) in enumerate(line):
        for seam in _SEAM.finditer(text):
            kept: Cell = (*line[:n], *([(text[: seam.start()], style)] if seam.start() else []))
            if ui_text.width(kept) > width:
                return best or ui_text.clip(line, width)
            said = "".join([one for one, _ in kept])
            if said.count("(") <= said.count(")") and not said.endswith("/"):
                best = kept or best
    return best or ui_text.clip(line, width)


class StyledLines(Guarded, Widget):
    """A widget that draws lines of runs, by the names in `PALETTE`; `a+b` is both of them."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._painted: tuple[Cell, ...] = ()
        self.named = Styles(self._resolve)
        """The styles of the palette on the ground of the widget."""

    def notify_style_update(self) -> None:
        """Forget the styles of the old theme."""
        self.named.clear()
        super().notify_style_update()

    def _resolve(self, name: str) -> RichStyle:
        style, dim = self.visual_style, False
        for part in name.split("+"):
            words = WITHOUT_COLOUR.get(part, PALETTE[part]) if self.app.no_color else PALETTE[part]
            if words == "dim":
                dim = True  # Textual would mix a colour; a terminal dims in four bytes
            elif words:
                style += Style.parse(words)
        return style.rich_style + RichStyle(dim=True) if dim else style.rich_style

    @property
    def painted(self) -> tuple[Cell, ...]:
        """The lines that are seen."""
        return self._painted

    def paint(self, cells: Sequence[Cell]) -> None:
        """Take the lines that are seen; those that changed are drawn."""
        old, self._painted = self._painted, tuple(cells)
        for y in range(max(len(old), len(cells))):
            if old[y : y + 1] != self._painted[y : y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """One of the lines, or a blank one."""
        width = self.size.width
        cell = ui_text.clip(self._painted[y], width) if y < len(self._painted) else ()
        return Strip(ui_text.segments(cell, self.named)).adjust_cell_length(width, self.named[""])


class Lines(StyledLines):
    """A few lines; a function gives them for the room there is.

    Args:
        draw: The function; `cells` of a subclass without one.
        id: The id of the widget.
        classes: Its classes.
    """

    DEFAULT_CSS = """
    Lines { height: 1; width: 1fr; }
    """

    def __init__(self, draw: Draw | None = None, *, id: str | None = None,
            classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._draw = draw or self.cells

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The lines for this much room."""
        return ()

    def show(self, draw: Draw) -> None:
        """Take another function, and draw what has changed."""
        self._draw = draw
        self.again()

    def again(self) -> None:
        """Draw what has changed."""
        self.paint(self._draw(*self.size)[: self.size.height])

    def on_resize(self) -> None:
        """Fill the new room."""
        self.again()


class ScrolledLines(Scrolling, StyledLines, can_focus=True):
    """Lines of which some are seen; it scrolls by rows of its own."""

    DEFAULT_CSS = """
    ScrolledLines { width: 1fr; height: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.top = 0
        """The first row that is seen, of those that are held."""

    def scroll_rows(self, top: int) -> None:
        """Let this row be the first that is seen, as far as there are rows."""
        raise NotImplementedError

    def move(self, rows: int) -> None:
        """Scroll by rows."""
        self.scroll_rows(self.top + rows)

    def page(self, pages: int) -> None:
        """Scroll by pages, of which one row stays in view."""
        self.scroll_rows(self.top + pages * max(1, self.size.height - 1))

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _wheel(self, event: events.MouseEvent) -> None:
        event.stop()
        rows = WHEEL_ROWS if isinstance(event, events.MouseScrollDown) else -WHEEL_ROWS
        self.scroll_rows(self.top + rows)


class KeyLine(Lines):
    """Keys, as many as fit, most important first: the footer of a screen or a dialog.

    Args:
        actions: The actions that are shown at first.
        indent: Blanks at either side.
    """

    def __init__(self, actions: Sequence[Action[Any]] = (), indent: int = 0) -> None:
        super().__init__()
        self._actions, self._indent = actions, indent
        self._places: list[tuple[int, Action[Any]]] = []
        """The column behind each action that is shown."""

    def say(self, actions: Sequence[Action[Any]]) -> None:
        """Take other keys."""
        self._actions = actions
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`n next  b back  space run …`."""
        line: list[Run] = [(" " * self._indent, "")]
        self._places = []
        named = [one for one in self._actions if one.label]
        for n, group in enumerate(fitting(named, width - 2 * self._indent)):
            for place, action in enumerate(group):
                line.append((GAP, "") if place else (RULE if n else "", "muted"))
                line += [(action.shown_key, "key"), (f" {action.label}", "muted")]
                self._places.append((ui_text.width(line), action))
        return (tuple(line),)

    def on_click(self, event: events.Click) -> None:
        """Press the first key of the action that was clicked on."""
        event.stop()
        found = next((action for end, action in self._places if event.x < end), None)
        if found is not None and event.x >= self._indent:
            self.app.simulate_key(found.keys[0])


# A box round a pane: a numbered title at the top, the pane below it.


_STATES_LEAST = 12
"""The least columns for the states of a box."""


def state_cell(states: Sequence[str]) -> Cell:
    """Return the states of a box as a cell, `only "un" · hex`."""
    return ((" · ".join(states), "warning"),) if states else ()


class TitleLine(Lines):
    """The upper edge of a box: its titles at the left, a note at the right. A border of Textual has one
    title.

    Args:
        title: The initial text at the left.
    """

    def __init__(self, title: str = "") -> None:
        super().__init__(classes="title")
        self.titles: tuple[tuple[str, bool], ...] = ((title, True),)
        self.note: Cell = ()
        self.states: tuple[str, ...] = ()
        """The settings that change what the box shows, such as a filter: they are always visible."""
        self.focused_box = False
        self.letter = ""
        """The style of the first character; empty for that of the title."""

    def say(
        self, note: Cell, titles: Sequence[tuple[str, bool]] | None = None, states: Sequence[str] = ()
    ) -> None:
        """Take a note, and other titles. Where there is little room the labels of the note (`tokens: `) give
        way, then runs that begin with a blank, then its first runs. States are cut, but never left out.

        Args:
            note: The text at the right.
            titles: Names with whether each is the one that is seen; there are several where panes share a
                place. None for those there are.
            states: The settings that change what the box shows, as safe text.
        """
        now = note, self.titles if titles is None else tuple(titles), tuple(states)
        if now != (self.note, self.titles, self.states):
            self.note, self.titles, self.states = now
            self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`┌ 1 Corpus ──────── 12 % ┐`."""
        edge = "focus" if self.focused_box else "frame"
        left: list[Run] = [("┌ ", edge)]
        states = state_cell(self.states)
        titles = self.titles
        wanted = ui_text.width(states) + (3 + ui_text.width(self.note[-1:]) if self.note else 0)
        if states and sum(len(title) + 3 for title, _ in titles) + wanted + 4 > width:
            titles = tuple((title if seen else title[:1], seen) for title, seen in titles)
        for place, (title, seen) in enumerate(titles):
            left += [(" ─ ", edge)] if place else []
            head = 1 if self.letter else 0
            left += [(title[:head], f"{self.letter}+strong")] if head else []
            left.append((title[head:], ("focus" if self.focused_box else "strong") if seen else "muted"))
        left.append((" ", edge))
        room = width - 1 - ui_text.width(left)
        short = tuple(run for run in self.note if not run[0].endswith(": "))
        bare = tuple(run for run in short if not run[0].startswith(" ") or run[0].isspace())
        ways = (self.note, short, bare, *(self.note[n:] for n in range(1, len(self.note))))
        if states:
            ways = (*((*states, (" · ", "muted"), *way) for way in ways if way), states)
        facts = next((way for way in ways if ui_text.width(way) + 3 <= room), ())
        if states and not facts:
            facts = ui_text.clip(states, max(_STATES_LEAST, room - 3))
            left = list(ui_text.clip(tuple(left), max(0, width - 4 - ui_text.width(facts))))
            room = width - 1 - ui_text.width(left)
        note: Cell = ((" ", edge), *facts, (" ", edge)) if facts else ()
        line = "─" * max(0, room - ui_text.width(note) - (1 if note else 0))
        tail = ("─", edge) if note else ("", edge)
        return ((*ui_text.clip(tuple(left), max(0, width - 1)), (line, edge), *note, tail, ("┐", edge)),)


class Pane(Guarded, Vertical):
    """A box.

    Args:
        title: The text at the top left.
        body: The widget inside; it draws the other edges.
        id: Its id.
    """

    def __init__(self, title: str, body: Widget, *, id: str) -> None:
        super().__init__(id=id)
        self.title, self.body = TitleLine(title), body

    def compose(self) -> ComposeResult:
        """The title, and what stands below it."""
        yield self.title
        self.body.add_class("body")
        yield self.body

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self, event: events.DescendantFocus | events.DescendantBlur) -> None:
        """Show whether keys go here."""
        self.title.focused_box = isinstance(event, events.DescendantFocus)
        self.title.again()
