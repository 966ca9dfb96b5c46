"""The tokens of the corpus at each size of the vocabulary, from one training to the end of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import Binding, BindingType

from tokentui.analyze.budget import (
    Budget,
    Costs,
    default_sizes,
    paid_off_step,
    read_sizes,
    size_csv,
    size_report,
    step_of,
)
from tokentui.analyze.report import Report, muted, strong
from tokentui.core.chart import Chart
from tokentui.core.errors import TokentuiError
from tokentui.session.commands import Command, MeasureSizes
from tokentui.ui.bindings import BoundAction
from tokentui.ui.dialogs.ask import AskLine
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.dialogs.saving import ask_file
from tokentui.ui.draw.figures import number
from tokentui.ui.link import EngineLink

if TYPE_CHECKING:
    from tokentui.analyze.results import Bounds


class SizesScreen(ReportScreen["tuple[Budget, tuple[Bounds, ...]]"]):
    """Shows the number of tokens at each vocabulary size as a curve, with a table of some sizes behind it.

    Args:
        engine: The link to the session.
    """

    HEADING, ASKING = "Sizes", "training to the end of the run …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "ask_sizes", "sizes", id="sizes.sizes",
            tooltip="Type the sizes of the table, such as 8k,16k,32k"),
        Binding("b", "bound", "bound", id="sizes.bound",
            tooltip="Prove for the sizes of the table how few tokens any vocabulary of each size has"),
        Binding("e", "export", "export", id="sizes.export", tooltip="Write the table to a file (CSV)"),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.sizes: list[int] = []
        """The sizes of the table; none for the powers of two, the first and the last one."""
        self._bounded = False

    def question(self) -> Command[tuple[Budget, tuple[Bounds, ...]]]:
        """Return the command that measures the sizes, with the bounds of the table's sizes if they are asked
        for."""
        found = self.answer[0] if self.answer is not None else None
        wanted = self.sizes or (sorted(default_sizes(found)) if found is not None else ())
        return MeasureSizes(tuple(wanted) if self._bounded else ())

    def report(self, answer: tuple[Budget, tuple[Bounds, ...]]) -> Report:
        """Return the report: one section with the curve and the table. Its summary names the knee, and the
        size from which more ids save little.

        The table has the sizes asked for; without any, the usual ones and those of the summary, which are
        marked.
        """
        found, bounds = answer
        (curve,) = found.curves
        bend = curve.knee
        end = paid_off_step(found, curve)
        told = {found.sizes[step] for step in (bend, end) if step is not None}
        usual = [] if bounds else sorted({*default_sizes(found), *told})
        whole = size_report(found, self.sizes or usual, Costs(), bounds)
        (table,) = [section for section in whole.sections if section.picture is not None]
        marks = {number(size) for size in told}
        table = replace(table, rows=tuple(replace(row, marked=row.cells[0] in marks) for row in table.rows))
        chart = table.picture
        if self.sizes and isinstance(chart, Chart):
            chart = replace(chart, at=found.sizes[step_of(found.sizes, self.sizes[-1])])
        knee = "no knee" if bend is None else (
            f"bends most at {number(found.sizes[bend])} ids (the knee): {number(curve.tokens[bend])} tokens"
        )
        last = found.sizes[-1]
        rest = ""
        if end is not None:
            rest = f" · from {number(found.sizes[end])} ids on, 1,000 more save less than 1 % of the tokens"
        rest += f" · {number(last)} ids at the end: {number(curve.tokens[-1])} tokens"
        table = replace(table, name="sizes", summary=(strong(knee), muted(rest)), picture=chart)
        return replace(whole, sections=(table,))

    def works(self, action: BoundAction) -> bool:
        """Return whether a key of the line of keys has an effect; those of sizes only after they are
        measured."""
        if action.id is not None and action.id.startswith("sizes."):
            return self.shown is not None
        return super().works(action)

    # What the user does.

    def action_ask_sizes(self) -> None:
        """Ask for the sizes of the table, within those of the run, and show them without bounds. Do nothing
        before the answer."""
        if self.answer is None:
            return
        found = self.answer[0]

        def describe(line: str) -> str:
            for size in (sizes := read_sizes(line, "sizes")):
                if not min(found.sizes) <= size <= max(found.sizes):
                    hint = f"name sizes from {number(min(found.sizes))} to {number(max(found.sizes))}"
                    raise TokentuiError("the run never has this size", number(size), hint)
            return "sizes with commas, such as 8k,16k,32k" if not sizes else (
                f"shows {', '.join(map(number, sizes))} ids")

        def take(line: str) -> None:
            self.sizes, self._bounded = sorted(set(read_sizes(line, "sizes"))), False
            self.chart.view = self.chart.view._replace(at=None)
            self.show_answer((found, ()))

        self.app.push_screen(AskLine(self.engine, "Sizes", describe, take))

    def action_bound(self) -> None:
        """Ask for the table again with lower bounds, and keep the bounds on. Do nothing before the first
        answer."""
        if self.answer is not None:
            self._bounded = True
            self.ask_report(self.question(), "proving the bounds …")

    def action_export(self) -> None:
        """Ask for a file, and write the table to it as CSV. Do nothing before the answer."""
        if self.shown is not None:
            corpora = cast("list[Mapping[str, Any]]", self.shown.value["corpora"])
            ask_file(self, "Export the sizes", ".csv", "a row for each size", lambda _: size_csv(corpora))
