"""The dialogs of steps: the list of all that were made, and the reasons of some of them at length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.analyze.report import Report, Row, Section
from tokentui.core.table import plural
from tokentui.learn.rows import Candidate
from tokentui.session.commands import ExplainSteps, GoTo, ListSteps
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import StepRow, StepsView, StepView
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import Dialog, labeled_input
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.dialogs.what_if import ask_beside
from tokentui.ui.draw.figures import behind, decimal, number, signed
from tokentui.ui.draw.sections import as_line
from tokentui.ui.draw.table import Column, TableRow, VirtualTable
from tokentui.ui.draw.text import Cell
from tokentui.ui.field import Field
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.panes.column_tables import SCORE_WIDTH, tokens, worth_of
from tokentui.ui.panes.why import chosen, in_context, last_step, shortening

ORDERS = ("step", "count", "length", "tie")
"""The orders of the list."""
_LEAST_ROWS = 60
_COLUMNS = (
    Column("step", width=7, align="right", priority=9),
    Column("pair", flex=2, min_width=8, priority=8),
    Column("token", flex=2, min_width=8, priority=7),
    Column("count", width=9, align="right", priority=6),
    Column("tied", width=5, align="right", priority=3),
    Column("runner-up", flex=2, min_width=8, priority=2),
    Column("behind", width=8, align="right", priority=1),
)


class StepsScreen(Dialog[None]):
    """Lists the steps made so far, which can be searched and sorted; enter goes to a step.

    Args:
        engine: The link to the session.
    """

    HEADING = "Steps"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "go there", group=Hint(pane="list")),
        Binding("Y", "tell_why", "why", id="steps.why", group=Hint(pane="list"),
            tooltip="Explain the selected step"),
        Binding("x", "ask_what_if", "what if", id="steps.what_if", group=Hint(pane="list"),
            tooltip="Change the run at the selected step"),
        Binding("S", "turn_order", "sort", id="steps.sort", group=Hint(pane="list"),
            tooltip="Sort the steps by another column"),
        Binding("slash,ampersand", "search", "search", id="steps.search", group=Hint(pane="list"),
            tooltip="Search the steps"),
        Binding("m", "leave"),
        Binding("enter", HANDLED, "to the list", group=Hint(pane="line")),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.table, self.field = VirtualTable(_COLUMNS), Field(placeholder="a token or a pair, such as t+he")
        self.order, self.text, self._begun = ORDERS[0], "", False
        self.page = StepsView()
        self._why: dict[int, StepView] = {}
        """The steps whose runner-up is known."""
        self.parts = labeled_input("/", self.field, "edit"), self.table, self.notice

    def on_mount(self) -> None:
        """Focus the list, and ask for its first page."""
        self.set_focus(self.table)
        self._ask(0, _LEAST_ROWS)

    def _ask(self, top: int, rows: int) -> None:
        """Ask for `rows` steps from the index `top` on, in the present order and with the present text."""
        mode = getattr(self.app, "main", None)
        command = ListSteps(self.order, self.text, mode.mode if mode is not None else "text", top, rows)
        self.start_asking("listing the steps …", self._list, command)

    async def _list(self, command: ListSteps) -> None:
        """Ask for a page of steps, show it, and put the order and the search text into the title. The first
        call also sets the height and moves to the last step. If there are no steps, say why. Then ask for the
        runners-up that are not known, unless the training is heavy."""
        self.page = page = await self.ask(command)
        begins = not self._begun
        self._draw()
        if begins:
            self._begun = True
            self.fit_height(page.total + 2)  # the heads, and the line of what is found out
            self.table.move_to(page.total - 1)  # the step made last
        order = "" if self.order == "step" else f", by {self.order}"
        found = f" with ‘{self.text}’" if self.text else ""
        self.name_box(f"{self.HEADING} · {plural(page.total, 'step')}{found}{order}")
        unknown = [row.number for row in page.rows if row.number not in self._why]
        self.notice.say("" if page.total else "no step has been made yet" if not self.text else "none has it")
        heavy = self.now is not None and self.now.main.traits.heavy
        if unknown and not heavy:
            explained = await self.ask(ExplainSteps(tuple(unknown), 0), "looking for the runners-up …")
            self._why |= {why.number: why for why in explained}
            self.notice.say("")
            self._draw()

    def _draw(self) -> None:
        self.table.find = self.text
        self.table.update_rows(self.page.top, self.page.rows, self.page.total, _COLUMNS, self._row)

    def _row(self, row: StepRow, index: int) -> TableRow:
        """Return the row of a step: its number, pair, token, count or score, ties, and the runner-up with its
        distance, both empty until they are known. `index` is not used."""
        worth = number(row.worth) if isinstance(row.worth, int) else decimal(row.worth, SCORE_WIDTH)
        pair = tokens(row.parts, "text") if row.parts else ((row.said, "muted"),)
        tied: Cell = ((number(row.tied), "warning"),) if row.tied > 1 else (("–", "muted"),)
        view = self._why.get(row.number)
        second: Cell = ()
        less: Cell = ()
        if view is not None and view.why.runner_up is not None:
            runner = view.why.runner_up
            second = tokens(runner.parts or (runner.token,), "text")
            less = ((_behind_best(view.why.best, runner), "muted"),)
        made: Cell = tokens((row.token,), "text") if row.token else ()
        figures: Cell = ((worth, "strong"),) if row.token else ()
        return TableRow(
            row.number, (((number(row.number), "muted"),), pair, made, figures, tied, second, less)
        )

    # What the user does.

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        self._ask(event.top, max(event.height, 1))

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        if isinstance(event.key, int):
            self.engine.send(GoTo(event.key))
            self.dismiss(None)

    def on_input_changed(self, event: Input.Changed) -> None:
        """List the steps that contain the typed text, from the top."""
        self.text = event.value
        self._ask(0, _LEAST_ROWS)

    def on_input_submitted(self) -> None:
        """Focus the list."""
        self.set_focus(self.table)

    def action_leave(self) -> None:
        """If the line is open, clear and close it, which lists all steps; otherwise close the dialog."""
        if not self.editing:
            self.dismiss(None)
            return
        self.field.value = ""
        self.end_edit(self.table)

    def action_turn_order(self) -> None:
        """Sort by the next of `ORDERS`, with the cursor on the first row."""
        self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        self.table.move_to(0)
        self._ask(0, _LEAST_ROWS)

    @property
    def here(self) -> StepRow | None:
        """The step under the cursor; None if its row is not there."""
        row = self.table.held_at(self.table.cursor)
        return row if isinstance(row, StepRow) else None

    def action_tell_why(self) -> None:
        """Open the reasons of the step under the cursor; do nothing without one."""
        if (row := self.here) is not None:
            self.app.push_screen(WhyScreen(self.engine, (row.number,)))

    def action_search(self) -> None:
        """Open the line to search the steps, with the text of the last search."""
        self.edit(self.field, self.text)

    def action_ask_what_if(self) -> None:
        """Ask for a what-if of the step under the cursor; do nothing without one."""
        if (row := self.here) is not None and self.now is not None:
            ask_beside(self, self.now.main, made=(row.number, row.token, row.parts))


def _behind_best(best: Candidate | None, second: Candidate) -> str:
    """Return how far the runner-up is behind the best, as text: the difference of their counts if the scores
    are integers, otherwise of the scores. Return "equal" for no difference, and "" without a best."""
    if best is None:
        return ""
    if isinstance(second.worth, int):
        return signed(second.places - best.places) or "equal"
    return behind(float(second.worth), float(best.worth)) or "equal"


class WhyScreen(ReportScreen[tuple[StepView, ...]]):
    """Tells the reasons of steps at length, and what each does to the corpus and to the typed text.

    Args:
        engine: The link to the session.
        numbers: The steps.
    """

    HEADING, ASKING = "Why", "going to the step …"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("Y", "leave")]

    def __init__(self, engine: EngineLink, numbers: Sequence[int]) -> None:
        super().__init__(engine)
        self._numbers = tuple(numbers)

    def question(self) -> ExplainSteps:
        """Return the question why the steps were made, and name them in the title."""
        made = 0 if self.now is None else self.now.main.at.step
        steps = [f"step {number(step)} {'made' if step <= made else 'next'}" for step in self._numbers]
        self.name_box(f"{self.HEADING} · {', then '.join(steps)}")
        return ExplainSteps(self._numbers)

    def report(self, answer: tuple[StepView, ...]) -> Report:
        """Return the report on the steps that were explained; no sections before there is a snapshot."""
        now = self.now
        sections = () if now is None else tuple(
            section for view in answer for section in step_sections(view, now))
        return Report(self.HEADING, sections, {})

    def lay_out(self) -> None:
        """Show the report, and fit the height to its rows."""
        super().lay_out()
        self.fit_height(max(1, len(self.listing.rows)) + 1)  # and the line of what went wrong


def step_sections(view: StepView, now: Snapshot) -> Iterator[Section]:
    """Yield the report on a step: its number, why it was chosen, what it took if that was not the best,
    where, and what it shortened in the corpus and in the typed text."""
    column, why = replace(now.main, why=view.why), view.why
    made = "made" if view.number <= column.at.step else "the next step"
    yield Section(f"step {number(view.number)}", made, apart=True)
    sentences = chosen(column, now.corpus.name, "text")
    if sentences and sentences[0][:1] == (("next  ", "accent"),):
        sentences[0] = sentences[0][1:]
    if why.round is not None:
        sentences += last_step(why.round)
    sentences += [((fact, "muted"),) for fact in why.facts]
    yield _lines("why", sentences)
    if view.taken is not None and why.best is not None and view.taken.parts != why.best.parts:
        taken: Cell = (*tokens(view.taken.parts, "text"), (f"   {worth_of(view.taken)}", "strong"))
        yield _lines("took", [taken])
    yield _lines("places", [
        in_context(place.before, (place.token,), place.after, "text") for place in view.places
    ])
    if view.tokens[0] != view.tokens[1]:
        yield _lines("text", [shortening(*view.tokens)[1:]])
    if view.yours[0]:
        yield _lines("yours", [shortening(*view.yours, yours=True)[1:]])


def _lines(name: str, lines: Iterable[Cell]) -> Section:
    """Return lines, the first of them beside the name."""
    return Section(name, rows=tuple(Row((as_line(line),)) for line in lines), beside=True)


def show_why(screen: EngineScreen[Any]) -> None:
    """Open the reasons of the last step and of the next one; at the start, only of the first step."""
    engine = screen.engine
    step = engine.snapshot.main.at.step if engine.snapshot is not None else 0
    screen.app.push_screen(WhyScreen(engine, (step, step + 1) if step else (1,)))
