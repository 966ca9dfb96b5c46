"""Compare: two to four columns in step, where they part, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.dom import DOMNode
from textual.widget import Widget
from textual.widgets import Input

from tokentui.analyze.budget import BudgetTarget
from tokentui.analyze.compare import FEWEST, MOST
from tokentui.analyze.results import ONE_BOUNDARY
from tokentui.core.errors import TokentuiError
from tokentui.learn.rows import PairCandidate, PieceCandidate, TokenCandidate
from tokentui.session import commands as do
from tokentui.session.snapshot import CURVES, Snapshot
from tokentui.session.views import BETWEEN, LETTERS, ColumnSnapshot, ColumnWanted, Passage, Viewport
from tokentui.ui.bindings import Hint, family_key
from tokentui.ui.dialogs.ask import AskLine, describe_conventions, parse_conventions
from tokentui.ui.dialogs.diff import DiffScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.open import AddScreen, OpenScreen
from tokentui.ui.dialogs.picture_rows import PictureRowsScreen
from tokentui.ui.dialogs.what_if import WhatIfChoice, WhatIfScreen, changed, choices, subject_of
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import ScrolledLines
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.link import EngineLink
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.pane_screen import PaneScreen
from tokentui.ui.panes.compare import columns
from tokentui.ui.panes.compare.compare_panes import COLUMNS, COMPARE_PANES, ENCODE, LEAST, places
from tokentui.ui.panes.compare.curves import CurveChart, describe_target
from tokentui.ui.panes.compare.encodings import CompareEncode
from tokentui.ui.panes.compare.tables import (
    AgreementList,
    DivergencePane,
    MeasuresList,
    TokensPane,
    entry_of,
)
from tokentui.ui.panes.encode import TypedPane
from tokentui.ui.panes.entry import Layout, key_owners, number_keys
from tokentui.ui.panes.pane import LinkedPane, StatusBand

_COLUMN_SECTIONS = ("candidates", "why")
"""The sections of a column that are shown."""


class CompareScreen(PaneScreen):
    """The panes about a session that compares columns.

    Args:
        engine: The link to the session.
        typed: The initial text of the input line.
        offered: A text that the program chose, which typing replaces; empty for none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "step(1)", "next", tooltip="Take the next step in all columns", id="compare_next",
            group=Hint(rank=1)),
        Binding("b", "step(-1)", "back", tooltip="Go back one step in all columns", id="compare_back",
            group=Hint(rank=2)),
        Binding("g", "go_to", "go", tooltip="Go to a step or to a vocabulary size",
            id="compare_go_to", group=Hint(rank=10)),
        Binding("I,d s", "sync_by", "sync by", id="sync_by", group=Hint(rank=6),
            tooltip="Sync the columns by merges, vocabulary size, or number of tokens"),
        family_key("d"),
        replace(family_key("e"), group=Hint(family="e")),  # the footer has no room for it
        Binding("d d", "go_to_parting", "diverge", id="first_difference",
            tooltip="Go before the first step at which the two columns diverge"),
        Binding("equals_sign,d l", "show_differences", "differences", id="differences",
            tooltip="Show how the two columns differ: merges, ids, tokens, "
            "documents"),
        Binding("D,d m", "turn_spelling", "spelling", id="spelling",
            tooltip="Compare merges by meaning or by spelling"),
        Binding("A,d a", "turn_pair(1)", "pair", tooltip="Choose the next two columns to compare", id="pair",
            group=Hint(rank=14)),
        Binding("d h", "show_agreement", "heat map", id="agreement_map",
            tooltip="Show how far each two of three or four columns agree on the words of the corpus"),
        Binding("J", "go_to_disagreement(False)", "disagree", id="next_difference", group=Hint(rank=8),
            tooltip="Go to the next place where the two columns segment the corpus differently"),
        Binding("K", "go_to_disagreement(True)", "previous disagreement", id="previous_difference",
            tooltip="Go to the previous place where the two columns segment the corpus differently"),
        Binding("E,d e", "turn_passage", "passage", id="passage", group=Hint(rank=12),
            tooltip="Show a passage of the corpus encoded; press again for the typed text"),
        Binding("c", "ask_column", "compare", id="add", group=Hint(rank=7),
            tooltip="Add a column: a recipe, or a tokenizer from a file"),
        Binding("x", "ask_what_if", "what if", id="compare_what_if",
            tooltip="Forbid a pair or a token, or force a pair, in this column; or undo that"),
        Binding("delete", "remove_column", "remove", tooltip="Remove this column", id="remove",
            group=Hint(rank=16)),
        Binding("left_parenthesis", "move_column(-1)", "to the left", tooltip="Move this column left",
            id="move_left", group=Hint(rank=17)),
        Binding("right_parenthesis", "move_column(1)", "to the right", id="move_right",
            tooltip="Move this column right"),
        Binding("M,v m", "turn_formulas", "formulas", id="formulas", group=Hint(rank=15),
            tooltip="Show or hide the formula of each measure"),
        Binding("V", "ask_held_out", "second corpus", id="held_out",
            tooltip="Open a second corpus to measure; an empty line closes it"),
        Binding("slash", "find", "find", id="compare_find", group=Hint(rank=13),
            tooltip="Find tokens that contain a text in the vocabularies"),
        Binding("escape", "leave", "leave", id="compare_leave", group=Hint(rank=3, always=True),
            tooltip="Stop a long task, leave the input line, or go back to the main screen"),
        *number_keys(COMPARE_PANES),
    ]
    PANES = COMPARE_PANES
    KEY_OWNERS = (("rows", ScrolledLines), *key_owners(COMPARE_PANES))
    ELSEWHERE = "on the main screen: esc goes back there"
    encode: CompareEncode

    def __init__(self, engine: EngineLink, typed: str = "", offered: str = "") -> None:
        look = Viewport(wants=_COLUMN_SECTIONS, candidates_rows=20, curve_points=200)
        super().__init__(engine, COLUMNS, look, LEAST, typed)
        self.parting = self.pane("parting", DivergencePane)
        self.vocabulary = self.pane("vocabulary", TokensPane)
        self.encode = self.pane(ENCODE, CompareEncode)
        self.encode.offered = offered
        self.measures = self.pane("measures", MeasuresList)
        self.agreement = self.pane("agreement", AgreementList)
        self.curves = self.pane("curves", CurveChart)
        self.place = 0
        """The column that keys are about."""
        self._recent_panes = [COLUMNS, ENCODE, "measures", "vocabulary"]
        self.header_line = StatusBand(
            lambda width, _: [columns.header(engine.snapshot, width)],
            lambda now: (now.corpus, now.between.held_out, now.position.by), id="header",
        )
        self.divergence_line = StatusBand(
            lambda width, _: columns.divergence_line(self.snapshot, self.pair, self.mode, width),
            lambda now: (now.between.divergences, now.between.overlaps, now.columns, now.position),
        )
        self.costs_line = StatusBand(
            lambda width, _: columns.costs_line(self.snapshot, width),
            lambda now: (now.between.costs, now.columns), id="costs",
        )
        self.costs_line.display = False
        self.status_line = StatusBand(
            lambda width, _: columns.status_line(self.snapshot, width),
            lambda now: (
                now.columns, now.position, now.goal, now.running, now.speed, now.engine, now.plain,
                now.between,
            ),
        )
        self.columns = tuple(columns.ColumnPane(n) for n in range(MOST))
        self.status_panes = (
            self.header_line, self.status_line, self.divergence_line, self.costs_line, *self.columns,
        )
        self.columns_row = Horizontal(*self.columns, id="columns")
        self.lower = Horizontal(*(pane for name, pane in self.panes.items() if name != ENCODE), id="lower")
        self.parts = (
            self.columns_row, self.costs_line, self.divergence_line, self.encode, self.lower,
            self.status_line,
        )

    def on_mount(self) -> None:
        """Send the viewport of Compare, and show the present snapshot."""
        self.engine.send(do.SetViewport(self.viewport))
        if self.engine.snapshot is not None:
            self.follow(self.engine.snapshot)
        else:
            self.header_line.again()

    # From the session.

    def follow(self, snapshot: Snapshot) -> None:
        """Show a snapshot of several columns; before the first, update the header with what they wait for."""
        if len(snapshot.columns) > 1:
            self.show(snapshot)
        elif self.snapshot is None:
            self.header_line.again()

    def snapshot_changed(self, before: Snapshot | None, now: Snapshot) -> None:
        """Keep the pair of columns and the active column, and lay out again if their number has changed."""
        keys = [column.key for column in now.columns]
        pairs = list(combinations(keys, 2))
        if self.pair not in pairs:
            # Columns that changed sides are still the same two.
            turned = (self.pair[1], self.pair[0]) if self.pair is not None else (-1, -1)
            self.pair = turned if turned in pairs else pairs[0] if pairs else None
        if before is not None and self.place < len(before.columns):
            here, others = before.columns[self.place].key, {column.key for column in before.columns}
            if others == {*keys}:
                # A column that was moved takes the focus along, also when keys have moved it twice meanwhile.
                self.place = keys.index(here)
        if before is None or len(before.columns) != len(keys):
            self.place = min(self.place, max(0, len(keys) - 1))
            self.lay_out()

    def update_panes(self) -> None:
        """Draw the sections that changed, ask for the tokens to list, and show the costs of what-ifs if there
        are any."""
        super().update_panes()
        costs = self.columns_row.display and bool(self.snapshot and self.snapshot.between.costs)
        if self.costs_line.display != costs:
            self.costs_line.display = costs
        if self.panes["vocabulary"].display and self.pair is not None:
            self.set_viewport(tokens=self.vocabulary.token_list(self.pair))
        if self.active == COLUMNS and self.focused is not self.body_of(COLUMNS):
            self.call_after_refresh(self.focus_active)

    # How much room there is.

    @property
    def count(self) -> int:
        """The number of columns; 2 before the first snapshot."""
        return len(self.snapshot.columns) if self.snapshot is not None else 2

    def layout_for(self, width: int, height: int) -> Layout | None:
        """Return the layout for a size and the number of columns; None if it is too small."""
        return places(width, height, self.count, self.zoomed)

    def show_containers(self, seen: frozenset[str]) -> None:
        """Share the room between the columns, the encodings and the panes below, and ask for the sections
        that are visible.

        Takes the focus away: a hidden widget must not hand it on.
        """
        self.set_focus(None)  # what is hidden must not hand the focus to whatever stands next to it
        count = self.count
        self.columns_row.display = self.divergence_line.display = COLUMNS in seen
        for n, column in enumerate(self.columns):
            column.display = n < count
        self.lower.display = bool(seen - {COLUMNS, ENCODE})
        # Below the columns the encodings take what they need where something else follows, else all of it.
        self.panes[ENCODE].styles.height = count + 5 if self.lower.display and ENCODE in seen else "1fr"
        self.set_class(not self.columns_row.display, "alone")
        between = [name for name in BETWEEN if name == "vocabularies" or name in seen]
        self.set_viewport(wants=(*_COLUMN_SECTIONS, *between))

    @property
    def context(self) -> str:
        """The section of keys that apply: that of the input line while a text is typed, otherwise of the
        active pane."""
        return "encode" if self.typing else super().context

    def body_of(self, pane: str) -> Widget | None:
        """Return the widget of a pane that takes the keys; for the columns, that of the active column."""
        if pane != COLUMNS:
            return super().body_of(pane)
        column = self.columns[self.place]
        return column.table if column.table.display else column.message

    def follow_focus(self, widget: Widget) -> None:
        """Make the pane or the column active that contains a widget."""
        for n, column in enumerate(self.columns):
            if column in widget.ancestors_with_self and (self.active, self.place) != (COLUMNS, n):
                self.go_to_column(n)
        super().follow_focus(widget)

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Make a pane active. With `typing`, show the input line of the encodings in place of a passage."""
        if typing:
            self.engine.send(do.ShowPassage(None))
        self.encode.show_line(typing)
        super().go(pane, typing=typing)
        self.link_chosen()

    def go_to_column(self, place: int) -> None:
        """Make the column at an index active."""
        self.place = place
        self.go(COLUMNS)

    def action_next_pane(self, by: int) -> None:
        """Go to the pane `by` places further, around the end; each column counts as a pane."""
        stops: list[tuple[str, int]] = [(COLUMNS, n) for n in range(self.count)]
        stops += [(name, self.place) for name in self.panes]
        name, self.place = stops[(stops.index((self.active, self.place)) + by) % len(stops)]
        self.go(name)

    # What the panes ask for.

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        """Ask for the rows of the vocabulary, or for the same rows of all columns."""
        if event.table is self.vocabulary.table and self.pair is not None:
            self.set_viewport(tokens=self.vocabulary.token_list(self.pair))
        elif any(event.table is column.table for column in self.columns):
            # One window for all columns, so that their rows are side by side.
            table = self.columns[self.place].table
            height = max(event.table.size.height, table.size.height)
            self.set_viewport(candidates_top=max(0, table.top - height), candidates_rows=3 * height)

    @on(VirtualTable.CursorMoved)
    def _cursor_moved(self, event: VirtualTable.CursorMoved) -> None:
        """Scroll the other columns, or the other side of the divergence, to the same rows, and make the token
        under the cursor bold in all panes."""
        if event.table is self.columns[self.place].table:
            for column in self.columns:
                if column.table.top != event.table.top:
                    column.table.sync_rows(event.table)
        elif event.table is self.parting.left.table:
            self.parting.right.table.sync_rows(event.table)
        self.link_chosen()

    @on(TypedPane.CursorMoved)
    def _typed_cursor_moved(self) -> None:
        self.link_chosen()

    @property
    def chosen(self) -> bytes:
        """The exact bytes of the token under the cursor: in the columns and the divergence that of the
        candidate, in the encodings that of the active column."""
        if self.active == "vocabulary":
            return self.vocabulary.chosen
        if self.active == ENCODE and self.snapshot is not None:
            rows, line = self.encode.rows, self.encode.line
            at = line.cursor_position if rows.aligned.passage is None else rows.here
            return b"" if at is None else rows.token_at(self.column_here().key, at)
        table = {COLUMNS: self.columns[self.place].table, "parting": self.parting.left.table}.get(self.active)
        row = table.held_at(table.cursor) if table is not None else None
        return row.token if isinstance(row, PairCandidate | PieceCandidate | TokenCandidate) else b""

    @property
    def token_views(self) -> Sequence[LinkedPane]:
        """The columns, both sides of the divergence, the tokens of both vocabularies, and the encodings."""
        tables = (*(column.table for column in self.columns), self.parting.left.table,
            self.parting.right.table)
        return *tables, self.vocabulary, self.encode.rows

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        """Act on enter in a table: go to the divergence, switch formulas, encode the text of the row, or
        inspect the row.

        Do nothing for a row that is not loaded, or of a column that is not in sync.
        """
        if event.table is self.parting.left.table:
            self.action_go_to_parting()
        elif event.table is self.measures:
            self.action_turn_formulas()
        elif event.table is self.agreement:
            if (text := self.agreement.texts.get(event.key)) is not None:
                self.engine.send(do.ShowPassage(None))
                self.encode.line.value = text
                self.go(ENCODE)
        elif (row := event.held) is None:
            return
        elif event.table is self.vocabulary.table:
            recipes = [column.recipe for column in self.now.columns if column.key in (self.pair or ())]
            keys = [column.key for column in self.now.columns if column.key in (self.pair or ())]
            column = keys[0 if row.id_a is not None else 1]
            self.app.push_screen(InspectScreen(self.engine, entry_of(row, recipes), asks=True, column=column))
        elif event.table is self.columns[self.place].table and self.column_here().in_sync:
            self.app.push_screen(InspectScreen(self.engine, row, asks=True, column=self.column_here().key))

    def on_chart_lines_chosen(self) -> None:
        """Open the values of the curves; do nothing without a picture."""
        if self.curves.picture is not None:
            self.app.push_screen(PictureRowsScreen(self.engine, self.curves.picture))

    @on(Input.Submitted)
    def _typed_entered(self) -> None:
        self.action_inspect_typed()

    def action_inspect_typed(self) -> None:
        """Inspect the passage that is shown, otherwise the typed text at the cursor, as the active column
        encodes it, and leave the line. Do nothing for an empty text."""
        aligned, place = self.now.between.aligned, self.encode.place
        typed = (self.encode.line.value, place) if aligned.passage is None else (aligned.text, None)
        if typed[0]:
            if self.typing:
                self.go(ENCODE)
            self.app.push_screen(InspectScreen(self.engine, typed=typed, column=self.column_here().key))

    # What keys do.

    @property
    def now(self) -> Snapshot:
        """The snapshot that is shown.

        Raises:
            TokentuiError: There is none yet.
        """
        if self.snapshot is None:
            raise TokentuiError("the columns are still opening: press the key again when they are ready")
        return self.snapshot

    def column_here(self) -> ColumnSnapshot:
        """Return the active column; the last one while a new column is not in the snapshot yet. Raises
        TokentuiError before the first snapshot."""
        return self.now.columns[min(self.place, len(self.now.columns) - 1)]

    def action_turn_pair(self, by: int) -> None:
        """Choose the pair of columns `by` places further, around the end, and list its tokens from the top.
        With only two columns, show a message instead."""
        pairs = list(combinations([column.key for column in self.now.columns], 2))
        if self.pair in pairs and len(pairs) > 1:
            self.pair = pairs[(pairs.index(self.pair) + by) % len(pairs)]
            self.vocabulary.table.move_to(0)
            self.update_panes()
        else:
            self.app.say("there are only two columns: c adds one")

    @work
    async def action_go_to_parting(self) -> None:
        """Go before the first step that the two columns make differently; a message names it, or says that
        there is none."""
        if self.now and self.pair is not None:
            step = await self.engine.ask(do.GoToDivergence(*self.pair))
            self.app.say("no step differs" if step is None else f"before step {number(step)}, the first that "
                "the columns make differently")

    def action_show_differences(self) -> None:
        """Open the differences of the pair of columns; do nothing without one."""
        names = {column.key: column.name for column in self.now.columns}
        if self.pair is not None:
            a, b = self.pair
            self.app.push_screen(DiffScreen(self.engine, self.pair, (names[a], names[b])))

    def action_show_agreement(self) -> None:
        """Open the heat map of agreement. With only two columns, show a message where their figure is
        instead."""
        if len(self.now.columns) <= FEWEST:
            self.app.say("two columns have one figure, in the pane of agreement: c adds a column")
            return
        from tokentui.ui.dialogs.agreement import AgreementScreen

        columns = zip(LETTERS, self.now.columns, strict=False)
        self.app.push_screen(AgreementScreen(
            self.engine, {column.key: f"{letter} {column.name}" for letter, column in columns}))

    def action_turn_spelling(self) -> None:
        """Switch between comparing merges by meaning and by spelling, and show which in a message."""
        self.set_viewport(literal=not self.viewport.literal)
        how = "as they are spelled" if self.viewport.literal else f"by what they mean: {ONE_BOUNDARY}"
        self.app.say(f"merges are compared {how}")

    def action_turn_passage(self) -> None:
        """Show a passage of the corpus encoded, or the typed text again."""
        typed = self.now.between.aligned.passage is None
        self.engine.send(do.ShowPassage(Passage() if typed else None))
        self.go(ENCODE)

    def action_go_to_disagreement(self, backward: bool) -> None:
        """Go to the next place where the encodings differ, or the previous one. At the end of a passage, go
        on in the next one; at the end of the typed text, start again.

        Show a message if no other place differs.
        """
        walks = self.now.between.aligned.passage is not None
        if self.active != ENCODE and not self.panes[ENCODE].display:
            self.go(ENCODE)
        rows = self.encode.rows
        if rows.go_on(backward):
            self.update_titles()
            self.link_chosen()
        elif walks:
            self._go_to_passage(backward)
        elif rows.alignment.partings:
            before = rows.here
            rows.go_round(backward)
            self.update_titles()
            if rows.here == before:
                self.app.say("this is the only place of the typed text that differs: E searches the corpus")
        else:
            self.app.say("both columns segment this text alike: E searches the corpus")

    @work
    async def _go_to_passage(self, backward: bool) -> None:
        """Show the next passage that the columns segment differently, or the previous one, at its first or
        last difference. Show a message if there is none."""
        passage = await self.engine.ask(do.NextPassage(backward))
        if passage is None:
            self.app.say("the columns segment the whole corpus alike")
        else:
            self.encode.rows.await_passage(passage, backward)

    @work
    async def _add_column(self, wanted: ColumnWanted, place: int | None = None) -> None:
        """Add a column, and make it active.

        Args:
            wanted: The column.
            place: Its index; None to add it at the right.
        """
        count = len(self.now.columns)
        await self.engine.ask(do.AddColumn(wanted, place))
        self.go_to_column(count if place is None else place)

    def action_ask_column(self) -> None:
        """Ask for a column, and add it at the right.

        Raises:
            TokentuiError: There are `MOST` columns already, or none yet.
        """
        if len(self.now.columns) == MOST:
            raise TokentuiError("there are four columns already", "compare", "delete removes one")

        here = self.column_here()
        dialog = AddScreen(self.engine, "Add a column", here.recipe, here)
        self.app.push_for_result(dialog, lambda wanted: self._add_column(wanted.like(self.now.columns)))

    def action_remove_column(self) -> None:
        """Remove the active column. The session refuses it if too few would be left."""
        self.engine.send(do.RemoveColumn(self.column_here().key))

    def action_ask_what_if(self) -> None:
        """Ask for a what-if of the pair under the cursor, or to take one back.

        A column with what-ifs changes; one that then has none is removed, and Compare closes if too few
        columns would be left. For another column the changed run opens at its right. Raises TokentuiError if
        there is nothing to choose.
        """
        column, table = self.column_here(), self.columns[self.place].table
        row = table.held_at(table.cursor) if column.in_sync else None

        def apply_choice(choice: WhatIfChoice) -> None:
            recipe = changed(column.recipe, choice)
            wanted = ColumnWanted(recipe, self.engine.run)
            if not column.recipe.what_if:
                self._add_column(wanted, self.place + 1)
            elif recipe.what_if:
                self.engine.send(do.ChangeColumn(column.key, wanted))
            elif len(self.now.columns) > FEWEST:
                self.engine.send(do.RemoveColumn(column.key))
            else:
                self.dismiss(None)

        dialog = WhatIfScreen(self.engine, subject_of(row), choices(column, row))
        self.app.push_for_result(dialog, apply_choice)

    def action_move_column(self, by: int) -> None:
        """Move the active column `by` places to the right; at the edge, show a message instead."""
        if 0 <= self.place + by < len(self.now.columns):
            self.engine.send(do.MoveColumn(self.column_here().key, by))
        else:
            self.app.say(f"this column is the {'first' if by < 0 else 'last'} one")

    def action_turn_formulas(self) -> None:
        """Go to the measures, and switch them between formulas and conventions."""
        if self.active != "measures":
            self.go("measures")
        self.measures.formulas = not self.measures.formulas
        self.measures.redraw(force=True)
        self.update_titles()

    def list_tokens(self) -> None:
        """List the tokens again after a change of the filter or the list."""
        self.vocabulary.redraw(force=True)
        self.update_panes()

    def action_turn_bare(self) -> None:
        """Compare tokens without their marks, or with them."""
        self.vocabulary.toggle_marks()
        self.list_tokens()

    def action_turn_curve(self, by: int) -> None:
        """Draw the curve `by` places further."""
        self.curves.next_measure(by)
        self.update_titles()

    def action_ask_target(self) -> None:
        """Ask for a target, and draw the curve of savings with the size at which each column meets it."""

        def take(line: str) -> None:
            self.curves.target = BudgetTarget.parse(line)
            self.curves.measure = [field for field, _, _ in CURVES].index("saved")
            self.action_turn_curve(0)

        self.app.push_screen(AskLine(self.engine, "Target", describe_target, take))

    def action_ask_conventions(self) -> None:
        """Ask for the conventions of the measures, and measure under them."""
        take = lambda line: self.engine.send(do.MeasureUnder(*parse_conventions(line)))  # noqa: E731
        self.app.push_screen(AskLine(self.engine, "Measure under", describe_conventions, take))

    def action_ask_held_out(self) -> None:
        """Close the second corpus; if there is none, ask for one and open it."""
        if self.snapshot is not None and self.snapshot.between.held_out:
            self.engine.send(do.HoldOut(""))
        else:
            self.app.push_screen(OpenScreen(self.engine, corpora=True), self._hold_out)

    def _hold_out(self, choice: do.Open | do.OpenTokenizer | None) -> None:
        if isinstance(choice, do.Open):
            self.engine.send(do.HoldOut(choice.sources[0], choice.as_))

    def action_find(self) -> None:
        """Ask for a text, mark it in the list of tokens, and go to its first match."""
        find = partial(self._search, self.vocabulary.find_text)
        self.ask_find("the vocabularies", self.vocabulary.seek, find)

    def _search(self, search: Callable[[str], object], text: str) -> None:
        """Go to the vocabularies, search them for a text, and list the tokens again."""
        self.go("vocabulary")
        search(text)
        self.list_tokens()

    def action_find_again(self, backward: bool) -> None:
        """Go to the next row of the list of tokens that contains the sought text, or the previous one. Show a
        message if there was no search, or no match."""
        if not self.vocabulary.seek:
            self.app.say("nothing to find yet: press /")
        elif not self.vocabulary.find_again(backward):
            self.app.say(f"not found: {self.vocabulary.seek}")
        self.list_tokens()

    def action_filter(self) -> None:
        """Ask for a text, and list only the tokens that contain it; an empty text lists all."""
        narrow = partial(self._search, self.vocabulary.narrow)
        self.ask_find("the vocabularies", self.vocabulary.find, narrow, "only rows of")

    def action_columns(self) -> None:
        """Go to the columns; from a column, go to the next one."""
        if self.active == COLUMNS:
            self.action_next_column(1)
        else:
            self.go(COLUMNS)

    def action_next_column(self, by: int) -> None:
        """Go to the column `by` places further, around the end."""
        self.go_to_column((self.place + by) % self.count)

    def action_next_list(self, by: int) -> None:
        """Show the list of tokens `by` places further."""
        self.vocabulary.next_list(by)
        self.list_tokens()

    def action_go_to(self) -> None:
        """Ask for a step or a size, and go there. Raises TokentuiError before the first snapshot."""
        if self.now:
            super().action_go_to()

    def action_sync_by(self) -> None:
        """Sync the columns by the next unit: merges, vocabulary size, tokens."""
        self.engine.send(do.SyncBy())

    def elsewhere(self) -> Iterator[tuple[str, type[DOMNode]]]:
        """Yield the panes, then the main screen, as places with other keys."""
        yield from super().elsewhere()
        yield self.ELSEWHERE, MainScreen

    def action_leave(self) -> None:
        """Leave the line; or cancel a walk; or end the filter or the search of tokens; or restore a maximized
        pane; or else close Compare."""
        now = self.snapshot
        if self.typing:
            self.go(ENCODE)
        elif now is not None and now.goal is not None:
            self.engine.send(do.CancelWork())
        elif self.vocabulary.find and self.active == "vocabulary":
            self.vocabulary.narrow("")
            self.list_tokens()
        elif self.vocabulary.seek and self.active == "vocabulary":
            self.vocabulary.find_text("")
            self.list_tokens()
        elif self.zoomed:
            self.action_zoom()
        else:
            self.dismiss(None)
