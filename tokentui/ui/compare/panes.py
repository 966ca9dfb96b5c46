"""The panes of Compare: which are seen, what they show, where the focus is.

They know the session only by commands and snapshots, as the main screen does. A pane that is not seen is not
kept up to date.
"""


from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget

from tokentui.core.safetext import safe
from tokentui.session.catalog import MOST
from tokentui.session.commands import SetViewport
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import BETWEEN, ColumnSnapshot, Viewport
from tokentui.ui.compare.column_panes import FACTS_WIDTH, ColumnPane
from tokentui.ui.compare.curves import CurveChart
from tokentui.ui.compare.encode import CompareEncode
from tokentui.ui.compare.lines import NAME_SHOWN, header, parting_line, standing
from tokentui.ui.compare.measures import AgreementList, MeasuresList
from tokentui.ui.compare.parting import PartingBody
from tokentui.ui.compare.vocabulary import VocabularyBody
from tokentui.ui.dialogs.dialog import Once
from tokentui.ui.draw.lines import SAYS_BYTES, Lines, key_bytes
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face, under_way
from tokentui.ui.keys import Action
from tokentui.ui.screen import Layout, PaneScreen, too_small

COLUMNS = "columns"
ENCODE = "encode"
PANES: dict[str, tuple[str, str]] = {
    COLUMNS: ("1 Columns", "1 Columns"),
    "parting": ("2 Parting", "2 Part"),
    "vocabulary": ("3 Vocabulary", "3 Vocab"),
    ENCODE: ("4 Encode", "4 Encode"),
    "measures": ("5 Measures", "5 Measures"),
    "agreement": ("6 Agreement", "6 Agree"),
    "curves": ("7 Curves", "7 Curves"),
}
"""The panes in the order of their keys: a title, and a short one."""

LEAST_WIDTH, LEAST_HEIGHT = 40, 10
"""Below this nothing but a line is shown."""

_ALONE_WIDTH, _ALONE_HEIGHT = 60, 20
_TALL = 30
_BROAD = 160
_LEFT, _RIGHT = ("parting", "vocabulary"), ("measures", "agreement", "curves")


def places(width: int, height: int, zoomed: bool = False) -> Layout | None:
    """Where the panes stand in so much room, None where there is too little for any.

    Args:
        width: The columns of the terminal.
        height: Its lines.
        zoomed: True if one pane fills the screen.
    """
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return None
    if zoomed or width < _ALONE_WIDTH or height < _ALONE_HEIGHT:
        return Layout((tuple(PANES),), frozenset({"tall"} if height >= _TALL else ()))
    if height < _TALL:
        return Layout(((COLUMNS,), (*_LEFT, ENCODE, *_RIGHT)), frozenset())
    if width < _BROAD:
        return Layout(((COLUMNS,), (ENCODE,), (*_LEFT, *_RIGHT)), frozenset({"tall"}))
    return Layout(((COLUMNS,), (ENCODE,), _LEFT, _RIGHT), frozenset({"tall"}))


_COLUMN_SECTIONS = ("candidates", "why")
"""The sections of a column that are shown."""

_CONTEXTS = {
    COLUMNS: "choices", "parting": "parting", "vocabulary": "tokens", ENCODE: "aligned",
    "measures": "measures",
    "agreement": "agreement", "curves": "curves",
}


class ComparePanes(PaneScreen, Once[None]):
    """The panes round a session that compares.

    Args:
        face: The program.
        actions: The actions of its keys.
        typed: The initial text of the input line.
    """

    def __init__(self, face: Face, actions: Sequence[Action[Any]], typed: str = "") -> None:
        super().__init__(face, PANES, actions, COLUMNS, "compare")
        self.snapshot: Snapshot | None = None
        self.look = Viewport(wants=_COLUMN_SECTIONS, candidates_rows=20, curve_points=200)
        self.place = 0
        """The column that keys are about."""
        self.pair: tuple[int, int] | None = None
        """The keys of the two columns that are looked at together."""
        self.zoomed = False
        self._fronts = [COLUMNS, ENCODE, "measures", "vocabulary"]
        self._shape: tuple[int, bool] = (0, False)
        self._waits = ""
        self.header_line = Lines(self._header, classes=SAYS_BYTES)
        self.parting_line = Lines(lambda width, _: parting_line(self.snapshot, self.pair, self.mode, width))
        self.standing = Lines(lambda width, _: standing(self.snapshot, width))
        self.columns = tuple(ColumnPane(n) for n in range(MOST))
        self.parting, self.vocabulary, self.encode = PartingBody(), VocabularyBody(), CompareEncode(typed)
        self.measures, self.agreement, self.curves = MeasuresList(), AgreementList(), CurveChart()
        bodies: dict[str, Widget] = {
            "parting": self.parting, "vocabulary": self.vocabulary, ENCODE: self.encode,
            "measures": self.measures,
            "agreement": self.agreement, "curves": self.curves,
        }
        self.panes = {name: Pane(PANES[name][0], body, id=f"compare-{name}") for name, body in bodies.items()}
        self.columns_row = Horizontal(*self.columns, id="columns")
        self.lower = Horizontal(*(self.panes[name] for name in bodies if name != ENCODE), id="lower")
        self.rows = (self.columns_row, self.parting_line, self.lower)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.header_line
        yield self.columns_row
        yield self.parting_line
        yield self.panes[ENCODE]
        yield self.lower
        yield self.standing
        yield self.footer_line
        yield too_small(f"{LEAST_WIDTH}×{LEAST_HEIGHT}")

    def on_mount(self) -> None:
        """Begin in the first column."""
        self.lay_out()
        self.face.send(SetViewport(self.look))
        self.follow(self.face.snapshot)

    # From and to the session.

    def follow(self, snapshot: Snapshot | None) -> None:
        """Show the columns; say what they wait for, before there are any."""
        if snapshot is not None and snapshot.side_by_side:
            self.show(snapshot)
        elif self.snapshot is None:
            what = under_way(snapshot.busy) if snapshot is not None and snapshot.busy is not None else "opening the columns"
            keys = snapshot.waiting if snapshot is not None else ""
            self._waits = what + (f" · waits for it: {safe(keys, limit=NAME_SHOWN)}" if keys else "")
            self.header_line.again()

    def _header(self, width: int, height: int) -> Sequence[Cell]:
        return [header(self.snapshot, self._waits, key_bytes(self.app), width)]

    def see(self, **changes: Any) -> None:
        """Look at other rows, or at other panes."""
        look = dataclasses.replace(self.look, **changes)
        if look != self.look:
            self.look = look
            self.face.send(SetViewport(look))

    # What is seen.

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot. One that is older than what is shown is left out."""
        before = self.snapshot
        if before is not None and snapshot.version < before.version:
            return
        self.snapshot = snapshot
        keys = tuple(column.key for column in snapshot.columns)
        pairs = list(combinations(keys, 2))
        if self.pair not in pairs:
            # Columns that changed sides are still the same two.
            turned = (self.pair[1], self.pair[0]) if self.pair is not None else (-1, -1)
            self.pair = turned if turned in pairs else pairs[0] if pairs else None
        if before is None or len(before.columns) != len(keys):
            self.place = min(self.place, max(0, len(keys) - 1))
            self.lay_out()
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        now = self.snapshot
        if now is None:
            return
        with self.app.batch_update():
            self.header_line.again()
            self.standing.again()
            self.parting_line.again()
            for pane, column in zip(self.columns, now.columns, strict=False):
                pane.show(column, self.mode)
            self.encode.show(now.between.aligned, now.columns, self.pair)
            for name, draw in self._sections(now).items():
                if self.panes[name].display:
                    draw()
            self.draw_titles()
        if self.panes["vocabulary"].display and self.pair is not None:
            self.see(tokens=self.vocabulary.look(self.pair))
        if self.active == COLUMNS and not self.body_of(COLUMNS).has_focus:
            self.call_after_refresh(self.focus_active)

    def _sections(self, now: Snapshot) -> dict[str, Callable[[], object]]:
        return {
            "parting": lambda: self.parting.show(now, self.pair, self.mode),
            "vocabulary": lambda: self.vocabulary.show(now, self.pair, self.mode),
            "measures": lambda: self.measures.show_measures(now),
            "agreement": lambda: self.agreement.show_pair(now, self.pair),
            "curves": lambda: self.curves.take(now.between.curves, now.columns),
        }

    def draw_titles(self) -> None:
        """Name the panes and the columns, and say where one is in each."""
        super().draw_titles()
        for column in self.columns:
            column.draw_title()

    def note_of(self, pane: str) -> Cell:
        """Where one is in a pane."""
        notes: dict[str, Cell] = {
            "vocabulary": self.vocabulary.note, ENCODE: self.encode.rows.note, "measures": self.measures.note,
            "agreement": self.agreement.note, "curves": self.curves.note, "parting": self.parting.note,
        }
        return notes[pane]

    # How much room there is.

    def layout_for(self, width: int, height: int) -> Layout | None:
        """Return the layout that `places` gives."""
        return places(width, height, self.zoomed)

    def lay_out(self) -> None:
        """Show the panes that there is room for."""
        count = len(self.snapshot.columns) if self.snapshot is not None else 2
        tall = self.app.size.height >= 30 and self.app.size.width // max(1, count) < FACTS_WIDTH
        if self._shape != (count, tall):
            self._shape, self.where = (count, tall), None
        super().lay_out()

    def fit(self, where: Layout, seen: frozenset[str]) -> None:
        """Share the room between columns, encodings and what is below."""
        self.set_focus(None)  # what is hidden must not hand the focus to whatever stands next to it
        count, tall = self._shape
        self.columns_row.display = self.parting_line.display = COLUMNS in seen
        for n, column in enumerate(self.columns):
            column.display = n < count
            column.facts.styles.height = 2 if tall else 1
        self.lower.display = bool(seen - {COLUMNS, ENCODE})
        # Below the columns the encodings take what they need where something else follows, and all of it
        # where not.
        self.panes[ENCODE].styles.height = count + 5 if self.lower.display and ENCODE in seen else "1fr"
        self.set_class(not self.columns_row.display, "alone")
        self.see(wants=(*_COLUMN_SECTIONS, *(name for name in BETWEEN if name == "vocabularies" or name in seen)))
        self.draw()

    @property
    def context(self) -> str:
        """Whose keys work."""
        return "encode" if self.typing else _CONTEXTS[self.active]

    def body_of(self, pane: str) -> Widget:
        """Return the widget of a pane that gets the keys."""
        if pane == COLUMNS:
            return self.columns[self.place].focused_body
        if pane == ENCODE:
            return self.encode.line if self.typing else self.encode.rows
        bodies: dict[str, Widget] = {
            "parting": self.parting.table, "vocabulary": self.vocabulary.table, "measures": self.measures,
            "agreement": self.agreement, "curves": self.curves,
        }
        return bodies[pane]

    def go_to_column(self, place: int) -> None:
        """Go to the column at a place."""
        self.place = place
        self.go(COLUMNS)

    def focus_moved(self, pane: str, widget: Widget) -> None:
        """Follow the focus into a pane."""
        typing = widget is self.encode.line
        if (pane, typing) != (self.active, self.typing):
            self.go(pane, typing=typing)

    @on(events.DescendantFocus)
    def _column_focused(self, event: events.DescendantFocus) -> None:
        """A click may move the focus into a column as well."""
        for n, column in enumerate(self.columns):
            focused = event.widget is self.focused and column in event.widget.ancestors
            if focused and (self.active, self.place) != (COLUMNS, n):
                self.go_to_column(n)

    def turn(self, by: int) -> None:
        """Go to the next pane, or the one before; each column is one."""
        count = len(self.snapshot.columns) if self.snapshot is not None else 1
        stops: list[tuple[str, int]] = [(COLUMNS, n) for n in range(count)]
        stops += [(name, self.place) for name in PANES if name != COLUMNS]
        name, self.place = stops[(stops.index((self.active, self.place)) + by) % len(stops)]
        self.go(name)

    def column_here(self) -> ColumnSnapshot | None:
        """The column that keys are about."""
        columns = self.snapshot.columns if self.snapshot is not None else ()
        return columns[self.place] if self.place < len(columns) else None
