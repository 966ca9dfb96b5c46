"""The panes of Compare: which are seen, what they show, where the focus is.

They know the session only by commands and snapshots, as the main screen does. A pane that is not seen is not kept up to date.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GlyphMode
from tokentui.session.commands import Type
from tokentui.session.compared import MOST, SECTIONS, ColumnView, CompareLook, CompareSnapshot, Watch
from tokentui.session.snapshot import Snapshot
from tokentui.ui.compare.column_panes import FACTS_WIDTH, ColumnPane
from tokentui.ui.compare.curves import CurveChart
from tokentui.ui.compare.encode import CompareEncode
from tokentui.ui.compare.lines import CompareHeader, PartingLine, StandingLine
from tokentui.ui.compare.link import Compared, Link, Maker
from tokentui.ui.compare.lists import AgreementList
from tokentui.ui.compare.measures import MeasuresList
from tokentui.ui.compare.parting import PartingBody
from tokentui.ui.compare.places import (
    COLUMNS,
    ENCODE,
    LEAST_HEIGHT,
    LEAST_WIDTH,
    PANES,
    Places,
    places,
    titles,
)
from tokentui.ui.compare.vocabulary import VocabularyBody
from tokentui.ui.dialogs.leaving import Once
from tokentui.ui.draw.bands import FooterLine, TooSmall
from tokentui.ui.draw.pane import Pane
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.waits import under_way

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp

BACKLOG_S = 0.05
"""How long to wait before looking again whether a slow terminal has taken what was written."""

_CONTEXTS = {
    COLUMNS: "choices", "parting": "parting", "vocabulary": "tokens", ENCODE: "aligned", "measures": "measures",
    "agreement": "agreement", "curves": "curves",
}


class ComparePanes(Once[None]):
    """The panes round a session that compares.

    Args:
        maker: Makes the session.
        typed: What stands in the line to type in at first.
        begin: Called once the session has started, with what sends commands to it.
    """

    AUTO_FOCUS = None

    def __init__(self, maker: Maker, typed: str = "", begin: Callable[[Link], object] | None = None) -> None:
        super().__init__()
        self.snapshot: CompareSnapshot | None = None
        self.look = CompareLook(wants=("vocabulary",))
        self.mode: GlyphMode = "text"
        self.active = COLUMNS
        """The pane that has the focus, or will have it again."""
        self.place = 0
        """The column that keys are about."""
        self.pair: tuple[int, int] | None = None
        """The keys of the two columns that are looked at together."""
        self.zoomed = False
        self.typing = False
        self._fronts = [ENCODE, "measures", "vocabulary"]
        self._laid_out: tuple[Places, frozenset[str], int, bool] | None = None
        self._pending: CompareSnapshot | None = None
        self._begin = begin
        self.link = Link(lambda: self.explorer, maker, self._publish, lambda: self.follow(self.explorer.main.snapshot))
        self.header_line, self.footer_line = CompareHeader(), FooterLine()
        self.parting_line, self.standing = PartingLine(), StandingLine()
        self.columns = tuple(ColumnPane(n) for n in range(MOST))
        self.parting, self.vocabulary, self.encode = PartingBody(), VocabularyBody(), CompareEncode(typed)
        self.measures, self.agreement, self.curves = MeasuresList(), AgreementList(), CurveChart()
        bodies: dict[str, Widget] = {
            "parting": self.parting, "vocabulary": self.vocabulary, ENCODE: self.encode, "measures": self.measures,
            "agreement": self.agreement, "curves": self.curves,
        }
        self.panes = {name: Pane(PANES[name][0], body, id=f"compare-{name}") for name, body in bodies.items()}
        self.columns_row = Horizontal(*self.columns, id="columns")
        self.lower = Horizontal(*(self.panes[name] for name in bodies if name != ENCODE), id="lower")

    @property
    def explorer(self) -> ExplorerApp:
        """The app."""
        return cast("ExplorerApp", self.app)

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.header_line
        yield self.columns_row
        yield self.parting_line
        yield self.panes[ENCODE]
        yield self.lower
        yield self.standing
        yield self.footer_line
        yield TooSmall(LEAST_WIDTH, LEAST_HEIGHT)

    def on_mount(self) -> None:
        """Begin in the first column, and start the session."""
        self.lay_out()
        self.follow(self.explorer.main.snapshot)
        self.run_worker(self._start(), name="compare")

    async def _start(self) -> None:
        try:
            await self.link.start()
        except TokentuiError as error:
            self.explorer.tell(error)
            self.dismiss(None)
            return
        if self.encode.line.value:
            self.link.send(Type(self.encode.line.value))
        if self._begin is not None:
            self._begin(self.link)

    async def on_unmount(self) -> None:
        """Close the session."""
        await self.link.close()

    @property
    def context(self) -> str:
        """Whose keys work."""
        return "encode" if self.typing else _CONTEXTS[self.active]

    # From and to the session.

    def _publish(self, snapshot: CompareSnapshot) -> None:
        self.post_message(Compared(snapshot))

    def on_compared(self, message: Compared) -> None:
        """Show a snapshot, unless the terminal has not taken the last."""
        waiting, self._pending = self._pending, message.snapshot
        if waiting is None:
            self._show_pending()

    def _show_pending(self) -> None:
        if self._pending is None:
            return
        if self.explorer.backlog():
            self.set_timer(BACKLOG_S, self._show_pending)
            return
        snapshot, self._pending = self._pending, None
        self.show(snapshot)

    def follow(self, snapshot: Snapshot | None) -> None:
        """Say what the columns wait for, before there are any."""
        if self.snapshot is None:
            what = under_way(snapshot.busy) if snapshot is not None and snapshot.busy is not None else "opening the columns"
            self.header_line.wait(what, sum(not isinstance(one, Watch | Type) for one in self.link.waiting))

    def see(self, **changes: Any) -> None:
        """Look at other rows, or at other panes."""
        look = dataclasses.replace(self.look, **changes)
        if look != self.look:
            self.look = look
            self.link.send(Watch(look))

    # What is seen.

    def show(self, snapshot: CompareSnapshot) -> None:
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
            self.header_line.show(now)
            self.standing.show(now)
            self.parting_line.take(now, self.pair, self.mode)
            for pane, column in zip(self.columns, now.columns, strict=False):
                pane.show(column, self.mode)
            self.encode.show(now.aligned, now.columns, self.pair)
            for name, draw in self._sections(now).items():
                if self.panes[name].display:
                    draw()
            self.draw_titles()
        if self.panes["vocabulary"].display and self.pair is not None:
            self.see(vocabulary=self.vocabulary.look(self.pair))
        if self.active == COLUMNS and not self.focused_body.has_focus:
            self.call_after_refresh(self.focus_active)

    def _sections(self, now: CompareSnapshot) -> dict[str, Callable[[], object]]:
        return {
            "parting": lambda: self.parting.show(now, self.pair, self.mode),
            "vocabulary": lambda: self.vocabulary.show(now, self.pair, self.mode),
            "measures": lambda: self.measures.show_measures(now),
            "agreement": lambda: self.agreement.show_pair(now, self.pair),
            "curves": lambda: self.curves.show(now.curves, now.columns),
        }

    def draw_titles(self) -> None:
        """Name the panes, and say where one is in each."""
        where = places(*self.size, self.zoomed)
        if where is None:
            return
        notes: dict[str, Cell] = {
            "vocabulary": self.vocabulary.note, ENCODE: self.encode.rows.note, "measures": self.measures.note,
            "agreement": self.agreement.note, "curves": self.curves.note, "parting": self.parting.note,
        }
        for name, pane in self.panes.items():
            pane.title.name_panes(titles(where.group_of(name), name, pane.size.width or self.size.width))
            pane.title.say(notes.get(name, ()))
        for column in self.columns:
            column.draw_title()

    # How much room there is.

    def on_resize(self) -> None:
        """Let panes give way to others."""
        self.lay_out()

    def lay_out(self) -> None:
        """Show the panes that there is room for, and give the active one the focus."""
        where = places(*self.app.size, self.zoomed)
        self.set_class(where is None, "tiny")
        if where is None:
            self._laid_out = None
            return
        self.set_class(where.tall, "tall")
        self._fronts = [self.active, *(name for name in self._fronts if name != self.active)]
        seen = set()
        for group in where.groups:
            seen.add(next((name for name in self._fronts if name in group), group[0]))
        count = len(self.snapshot.columns) if self.snapshot is not None else 2
        tall_facts = where.tall and self.app.size.width // max(1, count) < FACTS_WIDTH
        laid_out = where, frozenset(seen), count, tall_facts
        if laid_out == self._laid_out:
            self.focus_active()
            return
        self._laid_out = laid_out
        self.set_focus(None)  # what is hidden must not hand the focus to whatever stands beside it
        self.columns_row.display = self.parting_line.display = COLUMNS in seen
        for n, column in enumerate(self.columns):
            column.display = n < count
            column.body.facts.styles.height = 2 if tall_facts else 1
        for name, pane in self.panes.items():
            pane.display = name in seen
        self.lower.display = any(self.panes[name].display for name in self.panes if name != ENCODE)
        # Below the columns the encodings take what they need where something else follows, and all of it where not.
        self.panes[ENCODE].styles.height = count + 5 if self.lower.display and ENCODE in seen else "1fr"
        self.set_class(not self.columns_row.display, "alone")
        self.see(wants=tuple(name for name in SECTIONS if name == "vocabulary" or name in seen))
        self.draw()
        self.call_after_refresh(self.focus_active)

    def focus_active(self) -> None:
        """Give the active pane the focus, and show its keys."""
        if self.app.screen is not self:
            return
        if not self.has_class("tiny"):
            self.focused_body.focus(scroll_visible=False)
        self.footer_line.say(self.context, "")
        self.draw_titles()

    @property
    def focused_body(self) -> Widget:
        """What keys go to."""
        if self.active == COLUMNS:
            return self.columns[self.place].focused_body
        if self.active == ENCODE:
            return self.encode.line if self.typing else self.encode.rows
        bodies: dict[str, Widget] = {
            "parting": self.parting.table, "vocabulary": self.vocabulary.table, "measures": self.measures,
            "agreement": self.agreement, "curves": self.curves,
        }
        return bodies[self.active]

    def go(self, name: str, place: int | None = None, *, typing: bool = False) -> None:
        """Go to a pane; of the columns, to the one at a place; of the encodings, to the line to type in."""
        self.active, self.typing = name, typing and name == ENCODE
        self.place = self.place if place is None else place
        self.lay_out()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """A click may move the focus as well."""
        if event.widget is not self.focused:
            return  # it has moved on since
        for n, column in enumerate(self.columns):
            if column in event.widget.ancestors and (self.active, self.place) != (COLUMNS, n):
                self.go(COLUMNS, n)
        for name, pane in self.panes.items():
            typing = event.widget is self.encode.line
            if pane in event.widget.ancestors and (self.active, self.typing) != (name, typing):
                self.go(name, typing=typing)

    def column_here(self) -> ColumnView | None:
        """The column that keys are about."""
        columns = self.snapshot.columns if self.snapshot is not None else ()
        return columns[self.place] if self.place < len(columns) else None
