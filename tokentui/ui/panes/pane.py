"""The base of everything on a screen that draws a snapshot: panes with a border, and lines without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual.message import Message
from textual.reactive import var
from textual.widget import Widget

from tokentui.core.safetext import GlyphMode
from tokentui.session.snapshot import Snapshot
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.lines import Draw, Lines
from tokentui.ui.draw.text import Cell, Run, join
from tokentui.ui.guard import Guarded

TITLE_CORNERS = 6
"""Columns of a border edge that Textual keeps for corners, blanks and one line character at either side."""
_STATES_LEAST = 12
"""The states of a title get at least this many columns."""


VIEWS: Mapping[GlyphMode, str] = {
    "text": "", "escaped": "escapes", "hex": "hex", "points": "code points",
}
"""The names of the views of tokens in the titles of panes; the default has none."""


class Pane(Guarded, Widget):
    """A widget that draws some sections of a snapshot.

    Its screen assigns `snapshot`, `mode` and `pair`. They are `var`s, which repaint nothing by themselves:
    the widget draws only if a section of its own changed. A `reactive` would repaint all of it each time. A
    hidden pane draws nothing; `redraw` catches up when it is shown again.

    Combine it with the widget that does the drawing, which comes first in the list of bases, because Textual
    looks up default styles along the first base.
    """

    class Resized(Message):
        """The size of a pane has changed."""

    snapshot: var[Snapshot | None] = var(None, init=False, always_update=True)
    mode: var[GlyphMode] = var("text", init=False)
    """The way tokens are shown."""
    pair: var[tuple[int, int] | None] = var(None, init=False)
    """The keys of the two columns of Compare that are being compared."""
    _drawn: object = None
    """The sections, mode and pair that were drawn last."""
    _titles: tuple[Cell, Cell] = (), ()

    def sections(self, snapshot: Snapshot) -> object:
        """Return the parts of a snapshot that the pane draws, to be compared by `==`."""
        raise NotImplementedError

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        """Draw a snapshot in the current `mode` and for the current `pair`; called only if `sections` or
        these changed."""
        raise NotImplementedError

    @property
    def note(self) -> Cell:
        """The subtitle, such as the position in the text; empty by default."""
        return ()

    @property
    def states(self) -> Sequence[str]:
        """The settings that change what the pane shows, such as a filter, as safe text; none by default."""
        return ()

    def redraw(self, *, force: bool = False) -> None:
        """Draw the snapshot if a section, the mode or the pair has changed since the last time. Do nothing
        while hidden and before the first snapshot.

        Args:
            force: True to draw it in any case, because something else changed.
        """
        if self.snapshot is None or not self.display:
            return
        inputs = self.mode, self.pair, self.sections(self.snapshot)
        if force or inputs != self._drawn:
            self._drawn = inputs
            self.draw_snapshot(self.snapshot)

    def invalidate(self) -> None:
        """Draw the next snapshot even if none of its sections changed."""
        self._drawn = None

    def on_mount(self) -> None:
        """Draw the snapshot that was assigned before the widget could draw."""
        self.redraw()

    def on_resize(self) -> None:
        """Post `Resized`, so that the screen fits the titles to the new width."""
        self.post_message(self.Resized())

    def watch_snapshot(self) -> None:
        """Draw the sections that changed."""
        self.redraw()

    def watch_mode(self) -> None:
        """Draw tokens in the new way."""
        self.redraw()

    def watch_pair(self) -> None:
        """Draw what depends on the pair of columns."""
        self.redraw()

    def set_titles(self, title: Cell, note: Cell = ()) -> None:
        """Show a title in the top edge of the border and a note in the bottom edge, cut to the width.

        Textual parses a `str` as markup, so both become `Content`. A new title repaints the border, so equal
        ones are left alone.
        """
        note = note_cell(note, self.outer_size.width)
        if title != self._titles[0]:
            self.border_title = join(title)
        if note != self._titles[1]:
            self.border_subtitle = join(note) if note else None
        self._titles = title, note

    @property
    def titles(self) -> tuple[str, str]:
        """The title and the note as plain text."""
        title, note = ("".join(text for text, _ in cell) for cell in self._titles)
        return title, note


class LinkedPane(Guarded, Widget):
    """A mixin for widgets that show the chosen token in bold. Use it as `Pane`."""

    linked: var[bytes] = var(b"", init=False)
    """The exact bytes of the token; empty for none. The screen assigns them."""

    def watch_linked(self) -> None:
        """Mark the token wherever it is seen."""
        raise NotImplementedError


class StatusBand(Lines, Pane):
    """One or more lines of status, such as the header.

    Args:
        draw: Returns the lines for a width and height.
        sections: Returns the parts of a snapshot that the lines show; see `Pane.sections`.
        id: The id of the widget.
    """

    def __init__(
        self, draw: Draw, sections: Callable[[Snapshot], object], *, id: str | None = None
    ) -> None:
        super().__init__(draw, id=id)
        self._sections = sections

    def sections(self, snapshot: Snapshot) -> object:
        """Return what `sections` of the constructor returns."""
        return self._sections(snapshot)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        """Draw the lines that changed."""
        self.again()


def title_cell(
    names: Sequence[tuple[str, bool]], states: Sequence[str], width: int, name_least: int = 0
) -> Cell:
    """Return the title of a pane: `2 Pairs · only "un" · hex │ 3 Vocabulary`.

    The states follow the name of the visible pane. They are always visible, because they change what the rows
    mean: names are shortened for them first, then the states are cut.

    Args:
        names: The names of the panes that share the place, each with True if it is the visible one.
        states: The settings that change what the pane shows, as safe text.
        width: The columns of the pane with its border.
        name_least: The columns of the names that are not given up for the states.
    """
    room, shown = max(0, width - TITLE_CORNERS), state_cell(states)
    short = [(name if visible else name[:1], visible) for name, visible in names]
    if not shown or ui_text.width(_named(names, shown)) <= room:
        return _named(names, shown)
    if (spare := room - ui_text.width(_named(short, shown))) >= 0:
        return _named(_lengthened(names, spare), shown)
    named = _named(short)
    kept = max(min(ui_text.width(shown), _STATES_LEAST), room - 3 - ui_text.width(named))
    if name_least:
        kept = max(0, min(kept, room - 3 - min(ui_text.width(named), name_least)))
    shown = ui_text.clip(shown, min(kept, room))
    left = room - ui_text.width(shown) - 3
    return (*ui_text.clip(named, left), (" · ", "muted"), *shown) if left > 0 else shown


def _lengthened(names: Sequence[tuple[str, bool]], spare: int) -> list[tuple[str, bool]]:
    """Return names with the hidden ones, at first a digit each, lengthened by `spare` columns in all, as far
    as they need them."""
    lengthened = []
    for name, visible in names:
        shown = name
        if not visible:
            size = min(len(name), 1 + spare)
            # A digit, a blank, a letter and a sign for the rest are the least that names a pane.
            shown = name if size == len(name) else f"{name[: size - 1]}…" if size > 3 else name[:1]
            spare -= len(shown) - 1
        lengthened.append((shown, visible))
    return lengthened


def note_cell(note: Cell, width: int) -> Cell:
    """Return a note that fits a pane with a border: runs at its start are dropped if it is too wide."""
    fitting = (note[n:] for n in range(len(note)) if ui_text.width(note[n:]) <= width - TITLE_CORNERS)
    return next(fitting, ())


def _named(names: Sequence[tuple[str, bool]], states: Cell = ()) -> Cell:
    """Return names with bars between them, hidden ones muted, and the states after each visible one."""
    runs: list[Run] = []
    for name, visible in names:
        runs += [(" │ ", "frame")] if runs else []
        runs.append((name, "" if visible else "muted"))
        if visible and states:
            runs += [(" · ", "muted"), *states]
    return tuple(runs)


def state_cell(states: Sequence[str]) -> Cell:
    """Return the states of a pane as a cell, as in `only "un" · hex`; empty for none."""
    return ((" · ".join(states), "warning"),) if states else ()
