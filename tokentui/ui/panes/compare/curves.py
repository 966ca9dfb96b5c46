"""The curves of all columns in one chart, and a cursor that reads their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.budget import BudgetTarget, met_at
from tokentui.core.chart import Axis, Chart, Mark, Series, value_at
from tokentui.core.chart_drawing import View, draw_plot, place_read
from tokentui.core.safetext import safe
from tokentui.session.snapshot import CURVES, Curve, Curves, Snapshot
from tokentui.ui.bindings import Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.chart_lines import ChartLines, solid
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import spread
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.compare.columns import letter
from tokentui.ui.panes.pane import Pane

ERROR_SHOWN = 200
_TOTALS = ("tokens", "bits")
"""The curves that grow with the corpus: a second one is drawn to a scale of its own."""
_LEAST_CHART = 4
"""Lines without which a chart shows nothing: then there are the values alone."""
_AXES = {
    "tokens": Axis("tokens"), "bytes_per_token": Axis("bytes per token", digits=4),
    "bits": Axis("bits", digits=1), "in_use": Axis("ids in use", " %", 2),
    "saved": Axis("tokens saved", digits=2, log=True), "spread": Axis("times the cheapest", digits=4),
}
"""The axis at the left by the field of `Curve`."""


def describe_target(line: str) -> str:
    """Return a preview of the effect of a line that names a target, as safe text; what to type for an empty
    line.

    Raises:
        TokentuiError: The line is not a target.
    """
    if not line:
        return "tokens per byte, such as 0.3; or dimensions and their worth in tokens, such as 768:0.001"
    return BudgetTarget.parse(line).about


class CurveChart(ChartLines, Pane):
    """The chart of one measure, with a curve for each column."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "screen.ask_target", "target", id="target", group=Hint(rank=9),
            tooltip="Set a target, and show the vocabulary size that meets it"),
        Binding("up,k", "screen.turn_curve(-1)", "curve", tooltip="Show the previous curve", id="curve_up",
            group=Hint(rank=6)),
        Binding("down,j", "screen.turn_curve(1)", "next curve", id="curve_down",
            tooltip="Show the next curve"),
    ]

    DEFAULT_CSS = """
    CurveChart { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.curves, self.places = Curves(0, (), ()), dict[int, int]()
        """The curves, and the place of each column by its key."""
        self.ends = dict[int, int]()
        """The last step of each column whose run ends at exactly that step, by its key."""
        self.measure = 0
        """The place in `CURVES` of what is drawn."""
        self.target: BudgetTarget | None = None
        """The target whose first step is shown; None for none."""

    def sections(self, snapshot: Snapshot) -> object:
        """Return the curves and the columns."""
        return snapshot.between.curves, snapshot.columns

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the curves of the present measure."""
        self.curves = now.between.curves or Curves(0, (), ())
        self.places = {column.key: place for place, column in enumerate(now.columns)}
        ends = ((column.key, column.at.end) for column in now.columns)
        self.ends = {key: end.step for key, end in ends if end.exact and end.step is not None}
        self.next_measure(0)

    @property
    def note(self) -> Cell:
        """The formula of the present measure."""
        return ((CURVES[self.measure][2], "muted"),)

    # What the user does.

    def next_measure(self, by: int) -> None:
        """Draw the measure `by` places further, around the end; the cursor stays at its step. 0 draws the
        present one again."""
        self.measure = (self.measure + by) % len(self._shown())
        at = self.view.at
        self.picture = self._chart() if self.curves.series else None
        self.look(View(at) if by else self.view)

    def _shown(self) -> Sequence[tuple[str, str, str]]:
        """Return the measures that can be drawn; `spread` only with named corpora."""
        named = any(curve.spread for curve in self.curves.series)
        return CURVES if named else [measure for measure in CURVES if measure[0] != "spread"]

    # What is seen.

    def _of_columns(self) -> list[Curve]:
        """Return the curves of the present columns."""
        return [curve for curve in self.curves.series if curve.key in self.places]

    def _chart(self) -> Chart:
        """Return the chart of the present measure, with a series for each curve of `_of_columns`. A curve has
        values at some steps, which are joined."""
        field, title, _ = CURVES[self.measure]
        percent = 100 if field == "in_use" else 1
        series = []
        for curve in self._of_columns():
            values = getattr(curve, field)
            place = self.places[curve.key]
            pairs = [(step, percent * value) for step, value in zip(curve.steps, values, strict=False)
                     if value is not None]
            series.append(Series(
                tuple(step for step, _ in pairs), tuple(value for _, value in pairs),
                name=letter(place)[0] + (" 2" if curve.held_out else ""), role=f"column-{place}",
                dashed=curve.held_out, scale=int(curve.held_out and field in _TOTALS),
                end=self.ends.get(curve.key),
            ))
        marks = [
            Mark(step, *letter(self.places[key]), on_axis=True)
            for key, step in self.curves.marks if key in self.places
        ]
        first = float(self.curves.marks[0][1]) if self.curves.marks else None
        return Chart(title, Axis("step", least=0), _AXES[field], tuple(series), tuple(marks), first)

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Return the lines of the chart, and of the values at the cursor, or that they are being computed.
        Without room for a chart, only the values."""
        chart = self.picture
        if not isinstance(chart, Chart):
            return [self._measure_names(width), ((" computing the curves …", "muted"),)]
        errors: list[Cell] = [
            ((" ", ""), letter(self.places[curve.key]),
             (f" {safe(curve.error, limit=ERROR_SHOWN)}", "error"))
            for curve in self._of_columns() if curve.error
        ]
        readings = [*self._readings(chart, width), *self._marks(width), *errors]
        rest = height - 1 - len(readings)
        lines = draw_plot(chart, width, rest + 1, self.view) if rest >= _LEAST_CHART else []
        return [self._measure_names(width), *map(solid, lines), *readings]

    def _measure_names(self, width: int) -> Cell:
        """Return the line of measures with the present one highlighted, and a note on dashed curves if there
        are any. If they do not fit, it is the name and the number of the present one."""
        field, title, _ = CURVES[self.measure]
        tabs: list[Run] = [(" ", "")]
        for place, (_, name, _) in enumerate(self._shown()):
            tabs += [("  " if place else "", ""), (name, "focus" if place == self.measure else "muted")]
        own = ", its own scale" if field in _TOTALS else ""
        held = any(curve.held_out for curve in self.curves.series)
        note: Cell = ((f"dashed: second corpus{own} ", "muted"),) if held else ()
        if ui_text.width(tabs) + ui_text.width(note) > width:
            tabs = [(" ", ""), (title, "focus"), (f"  {self.measure + 1}/{len(self._shown())} ↑↓", "muted")]
        return spread(tuple(tabs), note, width)

    def _marks(self, width: int) -> Iterator[Cell]:
        """Yield lines with the knee of each curve, and where it meets the target if one is set; only for the
        measure `saved`."""
        target = self.target
        if CURVES[self.measure][0] != "saved":
            return
        for held in (False, True):
            mine = [curve for curve in self._of_columns() if curve.held_out == held and curve.ids]
            for name in ("knee", *(("target",) if target is not None else ())):
                marks: list[Cell] = []
                for curve in mine:
                    if target is None or name == "knee":
                        step = curve.knee
                    else:
                        met = met_at(target, curve.ids, curve.tokens, curve.bytes)
                        step = None if met is None else curve.steps[met]
                    answer = "none" if name == "knee" else "not met"
                    if step is not None:
                        answer = f"{number(curve.ids[curve.steps.index(step)])} ids at step {number(step)}"
                    marks.append((("  ", ""), letter(self.places[curve.key]), (f" {answer}", "")))
                if mine:
                    head: Cell = ((f" {name}{' of the second corpus' if held else ''}", "muted"),)
                    yield ui_text.extended(head, marks, width)

    def _readings(self, chart: Chart, width: int) -> Iterator[Cell]:
        """Yield a line with the value of each curve at the cursor, and one for the second corpus."""
        # The steps that are known differ from column to column: the value of an earlier step is near. A
        # column stays at the end of its run, and its value there is exact at any later step.
        at, end = place_read(chart, self.view), number(self.curves.end)
        here = f"step {number(int(at)):>{len(end)}} of {end}"
        told = [(curve, *value_at(series, at))
                for curve, series in zip(self._of_columns(), chart.series, strict=True)]
        most = max((chart.y.value(value) for series in chart.series for value in series.y
                    if value is not None), key=len, default="")
        for held in (False, True):
            mine = [(curve, value, exact) for curve, value, exact in told if curve.held_out == held]
            figures: list[Cell] = []
            for curve, value, exact in mine:
                near = " " if exact or value is None else "≈"
                shown = "–" if value is None else chart.y.value(value)
                name, color = letter(self.places[curve.key])
                figures.append((("  ", ""), (name, color), (f" {near}{shown:>{len(most)}}", color)))
            if mine:
                head: Cell = ((f" {'second corpus'.ljust(len(here)) if held else here} ", "muted"),)
                yield ui_text.extended(head, figures, width)
