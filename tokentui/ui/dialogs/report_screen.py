"""The screen of reports: it asks the session one question, and lists the report on the answer."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.analyze import report as model
from tokentui.analyze.report import Report, Row, Section, Target
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.session.commands import Command, GoTo
from tokentui.ui.bindings import HANDLED, BoundAction, Hint, dialog_actions
from tokentui.ui.dialogs import CellText, ListDialog, labeled_input, row_key, words_of
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.chart_lines import ChartLines
from tokentui.ui.draw.sections import FEW, MANY, behind, columns_of, screen_cell, section_rows
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.field import Field
from tokentui.ui.link import EngineLink

Answer = TypeVar("Answer")

_NAME = 24
_EDGES = 8
"""Columns beside a drawing and its label: the cursor, the gap and the scroll bar."""


OPEN = Binding("enter", HANDLED, "open")
"""The key that opens the row under the cursor."""

_SECTION = Hint("section")


_SORTED = "▾"
"""The sign of the column by which a table is sorted."""
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?", re.ASCII)


def _value(cells: Sequence[model.Cell], by_number: bool) -> tuple[bool, float, str]:
    """Return the sort key of a row from the cells of one column: by its first number, the largest first, or
    by its text. Rows without one come last.

    Args:
        cells: The cell of the column; none if the row is shorter.
        by_number: True to sort by number.
    """
    text = "".join(part for cell in cells for part, _ in screen_cell(cell)).strip()
    found = _NUMBER.search(text.replace(",", "").replace("−", "-")) if by_number else None
    return (found is None if by_number else not text), -float(found[0]) if found else 0.0, text.lower()


class ReportScreen(ListDialog[None], Generic[Answer]):
    """Asks the session a question, and lists the report on the answer.

    Tab shows one section at a time, and then all of them. With all, a long section shows its first rows;
    enter on the last one shows more. Enter on a row opens its target, or its details. A section alone shows
    its picture, if it has one; enter shows its rows, and the picture again.

    A subclass gives `ASKING` (the words for the work), `question` and `report`. One with a `PROMPT` is about
    a text that is typed after a key with the action `ask_text`.

    Args:
        engine: The link to the session.
        heading: The title; empty for `HEADING`.
    """

    ASKING, PROMPT = "working …", ""
    BINDINGS: ClassVar[list[BindingType]] = [
        OPEN,
        Binding("tab,right", "turn(1)", "next section", id="report.next", group=_SECTION,
            tooltip="Go to the next section"),
        Binding("shift+tab,left", "turn(-1)", "previous section", id="report.previous", group=_SECTION,
            tooltip="Go to the previous section"),
        *(Binding(str(place), f"go({place})") for place in range(10)),
        Binding("S", "sort", "sort", id="report.sort", group=Hint(pane="list"),
            tooltip="Sort the table by its next column"),
    ]
    FIRST_TAB: ClassVar[int] = 0
    """The first view: 0 for all sections, otherwise the number of a section with rows, from 1."""

    def __init__(self, engine: EngineLink, heading: str = "") -> None:
        super().__init__(engine, heading)
        self.answer: Answer | None = None
        self.shown: Report | None = None
        """The report on the answer."""
        self._error = ""
        """Why there is no answer, as safe text."""
        self.tab = self.FIRST_TAB
        """The present view: 0 for all sections, otherwise the number of a section with rows, from 1."""
        self.order = 0
        """The number of the column by which the table is sorted, from 1; 0 for the order of the report."""
        self._open: set[Hashable] = set()
        """The keys of the sections and of the details of rows that are unfolded."""
        self._targets: dict[Hashable, Row] = {}
        """The rows of the report that are listed, by their keys."""
        self.text = ""
        """The text that was typed last."""
        self._rows_asked = False
        """True while the rows of a section are shown in place of its picture."""
        self.summary = CellText("told")
        self.chart = ChartLines(id="chart")
        self.chart.display = False
        self.field = Field()
        line = (labeled_input(self.PROMPT, self.field, "edit"),) if self.PROMPT else ()
        self.parts = self.summary, self.chart, self.listing, *line, self.notice

    def on_mount(self) -> None:
        """Ask the question."""
        self.again()

    def question(self) -> Command[Answer]:
        """Return the command to ask. It is called before each question, so that it may update the titles."""
        raise NotImplementedError

    def report(self, answer: Answer) -> Report:
        """Return the report on an answer."""
        raise NotImplementedError

    def again(self) -> None:
        """Forget the answer and its report, move the cursor to the first row, and ask the question again."""
        self.answer, self.shown, self._error = None, None, ""
        self.listing.move_to(0)
        self.ask_report(self.question(), self.ASKING)

    def action_ask_text(self) -> None:
        """Open the line to type in, with the text that was typed last."""
        self.edit(self.field, self.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the line, and ask about the typed text. Ignore the lines of finding and filtering."""
        if self.editing:
            self.text = event.value
            self.end_edit(self.listing)
            self.again()

    def ask_report(self, command: Command[Answer], asking: str) -> None:
        """Send a command, and show the report on its answer; the present report stays until then.

        Args:
            command: The command.
            asking: What the session does, in words.
        """

        async def show() -> None:
            self.show_answer(await self.ask(command))

        self.start_asking(asking, show)

    def show_answer(self, answer: Answer) -> None:
        """Keep an answer, show the report on it with the cursor on the first row that enter opens, and clear
        the notice."""
        self.answer, self.shown = answer, self.report(answer)
        self.notice.say("")
        self.lay_out()
        self._to_first_row()

    def _to_first_row(self) -> None:
        """Move the cursor to the first row that enter opens; do nothing if there is none."""
        first = next((key for key, row in self._targets.items() if row.target or row.details), None)
        if (index := self.listing.index_of(first)) is not None:
            self.listing.move_to(index)

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show why there is no answer, in the notice and, without a report, above the list."""
        self._error = words_of(error)
        super().fail(error)

    # Layout.

    @property
    def tabs(self) -> list[Section]:
        """The sections with rows below their names or a picture, each of which can be seen alone."""
        sections = self.shown.sections if self.shown else ()
        return [
            section for section in sections
            if (section.rows and not section.beside) or section.picture is not None
        ]

    @property
    def section(self) -> Section | None:
        """The section that is shown alone, also a single one that is a table or has a picture; None if all
        are shown."""
        tabs = self.tabs
        if len(tabs) == 1 and (tabs[0].titled or tabs[0].picture is not None):
            return tabs[0]
        return tabs[self.tab - 1] if 0 < self.tab <= len(tabs) else None

    def action_turn(self, by: int) -> None:
        """Show the view `by` places further, around the end; all sections are one view."""
        self.action_go((self.tab + by) % (len(self.tabs) + 1))

    def action_go(self, tab: int) -> None:
        """Show the section with a number from 1, or all for 0, unsorted. Do nothing beyond the last one, and
        while a line is edited."""
        if tab <= len(self.tabs) and not self.editing:
            self.tab, self.order, self._rows_asked = tab, 0, False
            self.lay_out()
            self.listing.move_to(0)
            self._to_first_row()

    def action_sort(self) -> None:
        """Sort the table by its next column, after the last one in the order of the report. Do nothing
        without a table."""
        if (section := self._table) is not None:
            self._sort_by((self.order + 1) % (len(section.columns) + 1))

    def on_virtual_table_head_clicked(self, event: Listing.HeadClicked) -> None:
        """Sort the table by the clicked column; do nothing for another head."""
        titles = [column.title for column in self._table.columns] if self._table is not None else []
        if (title := event.title.removesuffix(_SORTED)) in titles:
            self._sort_by(titles.index(title) + 1)

    def _sort_by(self, order: int) -> None:
        self.order = order
        self.lay_out()
        self.listing.move_to(0)

    @property
    def _table(self) -> Section | None:
        """The section that is shown as a table, or the rows behind its picture; None for none."""
        section = self.section
        if section is not None and section.picture is not None and not section.rows:
            section = behind(section)
        return section if section is not None and section.titled else None

    def works(self, action: BoundAction) -> bool:
        """Return whether a key of the line of keys has an effect on the present view."""
        if action.id in ("report.next", "report.previous"):
            return len(self.tabs) > 1
        if self.chart.display and action.action == HANDLED:
            return False  # the picture has these keys
        if action.id == "report.sort":
            return self._table is not None and not self.chart.display
        if action.action != HANDLED or action.keys != ("enter",) or action.hint.pane == "line":
            return True
        sections = self.shown.sections if self.shown is not None else ()
        return any(
            (self._table is None and  # a table has all its rows
             (section.folded or len(section.rows) > FEW))
            or any(row.details or row.target for row in section.rows) for section in sections
        )

    def lay_out(self) -> None:
        """Show the picture or the rows of the present view, its summary, and the keys that have an effect.
        The cursor stays on its row.

        Without a report, show only what it waits for, or the error.
        """
        self._show_picture()
        of_chart = [replace(action, hint=replace(action.hint, pane="chart"))
                    for action in dialog_actions(ChartLines, self.engine.user_keys)
                    if action.hint.rank and (self.chart.turns or not action.action.startswith("turn_log"))]
        self.shown_actions = [*(of_chart if self.chart.display else ()),
                              *(action for action in self.named_actions if self.works(action))]
        self.show_keys()
        self._targets.clear()
        summary = list(self._summary())
        self.summary.show(*summary)
        self.summary.display = bool(summary)
        if self.shown is None:
            self.listing.show([], None, (Column(flex=1),))
            return
        keep, section = self.listing.cursor_key, self.section
        if self._table is not None:
            table = [*columns_of(self._table)]
            if self.order:
                by = table[self.order - 1]
                title = by.title + _SORTED
                table[self.order - 1] = replace(by, title=title, width=by.width and max(by.width, len(title)))
            self.listing.show(list(self._table_rows(self._table)), keep, table)
            return
        label = max((ui_text.width(screen_cell(section.name)) for section in self.shown.sections), default=0)
        columns = Column(width=min(label, _NAME), priority=1), Column(flex=1, min_width=20, priority=2)
        self.tell(columns, self._section_rows(section), words=True, keep=keep)

    def _show_picture(self) -> None:
        """Show the picture of the section that is shown alone, or the list if it has none or its rows are
        asked for.

        The focus moves from the hidden one to the other; an open line keeps it.
        """
        section = self.section
        picture = section.picture if section is not None and not self._rows_asked else None
        self.chart.display, self.listing.display = picture is not None, picture is None
        self.chart.show_picture(picture)
        if self.is_mounted and not self.editing:
            seen, hidden = (self.listing, self.chart) if picture is None else (self.chart, self.listing)
            if self.focused in (None, hidden):
                self.set_focus(seen)

    def _summary(self) -> Iterator[Cell]:
        """Yield the lines above the rows: the views that tab goes through, first "all", if there are several;
        then the summary of the report or of the section in view. It ends with what is waited for while it
        asks again. Without a report it is what is waited for, else the error."""
        if self.shown is None:
            yield ((self.awaited, "muted") if self.asking else (self._error or "no answer", "error"),)
            return
        tabs, section = self.tabs, self.section
        if len(tabs) > 1:
            line: list[Run] = []
            for place, name in enumerate(("all", *(section.name.strip() for section in tabs))):
                line += [(safe(name, limit=_NAME), "key" if place == self.tab else "muted"), ("  ", "")]
            yield tuple(line)
        about = screen_cell(self.shown.summary if section is None else section.summary)
        if self.asking:
            about = (*about, (f"{' · ' if about else ''}{self.awaited}", "strong"))
        if about:
            yield about

    def _table_rows(self, section: Section) -> Iterator[TableRow]:
        """Yield the rows of a table, sorted if `order` is not 0, and put each into `_targets`."""
        rows, column = [*enumerate(section.rows)], self.order - 1
        if self.order:
            right = section.columns[column].align == "right"
            rows.sort(key=lambda pair: _value(pair[1].cells[column : self.order], right))
        for n, row in rows:
            self._targets[n] = row
            yield TableRow(n, tuple(map(screen_cell, row.cells)), mark="•" if row.marked else "")

    @property
    def _drawn_width(self) -> int:
        """The columns available to a drawing beside the names of sections."""
        sections = self.shown.sections if self.shown is not None else ()
        label = max((ui_text.width(screen_cell(section.name)) for section in sections), default=0)
        return max(0, self.listing.size.width - min(label, _NAME) - _EDGES)

    def _section_rows(self, alone: Section | None) -> Iterator[TableRow]:
        """Yield the rows of one section, whole and without its name; for None those of all sections, folded
        or shortened unless opened.

        There must be a report.
        """
        assert self.shown is not None
        for place, section in enumerate(self.shown.sections):
            if alone in (None, section):
                unfolded = alone is not None or bool({("rows", place), ("more", place)} & self._open)
                seen = MANY if unfolded else 0 if section.folded else FEW
                rows = section_rows(section, place, seen, self._targets, self._open, self._drawn_width)
                yield from itertools.islice(rows, int(alone is not None), None)  # its name is above

    @property
    def openable(self) -> set[Hashable]:
        """The keys of all folded sections, and of all rows with details."""
        keys: set[Hashable] = set()
        for place, section in enumerate(self.shown.sections if self.shown else ()):
            keys |= {("rows", place)} if section.folded else set()
            keys |= {("row", place, n) for n, row in enumerate(section.rows) if row.details}
        return keys

    # What the user does.

    def on_virtual_table_cursor_moved(self) -> None:
        """Show what the report says about the row under the cursor in the notice; nothing for other rows.
        Without a report the notice stays."""
        if self.shown is None:
            return
        row = self._row(self.listing.cursor_key)
        self.notice.show(screen_cell(row.about) if row is not None else ())

    @property
    def explanation(self) -> Sequence[str]:
        """The paragraphs about the visible picture; none without one."""
        picture = self.chart.picture
        return picture.about if self.chart.display and picture is not None else ()

    def on_chart_lines_chosen(self) -> None:
        """Show the rows behind the picture."""
        self._rows_asked = True
        self.lay_out()

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Open the tab of a chosen picture, or fold or unfold a section or the details of a row. Open the
        target of a row without details. A row with neither returns to the picture if rows were requested.
        """
        match row_key(event.key):
            case ("picture", int(place)):
                assert self.shown is not None
                self.tab, self._rows_asked = 1 + self.tabs.index(self.shown.sections[place]), False
                self.lay_out()
            case (("more" | "rows"), int()) as key:
                self._open ^= {key}
                self.lay_out()
            case key if (row := self._row(key)) is not None:
                if row.details:
                    self._open ^= {key}
                    self.lay_out()
                elif row.target is not None:
                    self.follow_target(row.target)
                elif self._rows_asked:
                    self._rows_asked = False
                    self.lay_out()

    def _row(self, key: Hashable) -> Row | None:
        """Return the report row of a key, also of a continuation line; None for none."""
        return self._targets.get(row_key(key))

    def follow_target(self, target: Target) -> None:
        """Inspect a token or a word in the column of its side, or go to a step and close."""
        from tokentui.ui.dialogs.inspect import InspectScreen

        column = self.column_of(target.side)
        if target.kind == "token":
            self.app.push_screen(InspectScreen(self.engine, token=target.number, column=column))
        elif target.kind == "word":
            self.app.push_screen(InspectScreen(self.engine, typed=(target.text, None), column=column))
        else:
            self.engine.send(GoTo(target.number))
            self.dismiss(None)

    def column_of(self, side: int) -> int | None:
        """Return the key of the column of a side of the report; None for the main one, the default."""
        return None
