"""The curves of all columns in one chart, and a cursor that reads their values."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from tokentui.analyze.budget import Target, met_at
from tokentui.core.safetext import safe
from tokentui.session.snapshot import CURVES, Curve, Curves, Snapshot
from tokentui.ui.bindings import FAR, Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import between, number
from tokentui.ui.draw.lines import Lines, spread
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.compare.columns import letter
from tokentui.ui.panes.pane import Pane

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille character (U+2800 and up): two columns, from the top."""
_BLANK = 0x2800
_DASH = 4
"""Dots of a dashed series that are drawn, and as many that are not."""


class Series(NamedTuple):
    """A curve of the measure that is drawn.

    Attributes:
        place: The place of its column.
        curve: The curve.
        scale: The scale that it is drawn to: those of one scale share the least and the greatest value.
        steps: The steps that have a value, ascending.
        values: Their values.
    """

    place: int
    curve: Curve
    scale: int
    steps: Sequence[int]
    values: Sequence[float]


def bounds(series: Sequence[Series], scale: int) -> tuple[float, float]:
    """Return the least and the greatest value of the series of a scale; zeros if there are none."""
    values = [value for line in series if line.scale == scale for value in line.values]
    return min(values, default=0.0), max(values, default=0.0)


def plot(series: Sequence[Series], end: int, width: int, height: int, cursor: int) -> list[Cell]:
    """Return the lines of the chart from the top, from step 0 at the left edge to `end` at the right.

    Args:
        series: The curves; where two share a character it has the style of the first.
        end: The last step.
        width: The columns of the terminal.
        height: The lines.
        cursor: The column of an upright line.
    """
    masks = [[0] * width for _ in range(height)]
    styles = [[""] * width for _ in range(height)]
    for line in reversed(series):
        low, high = bounds(series, line.scale)
        before: int | None = None
        places = [x * end / max(1, 2 * width - 1) for x in range(2 * width)]
        for x, value in enumerate(between(line.steps, line.values, places)):
            if value is None:
                before = None
                continue
            share = (high - value) / (high - low) * (4 * height - 1) if high > low else 2 * height
            y = min(4 * height - 1, max(0, round(share)))
            if not line.curve.held_out or x % (2 * _DASH) < _DASH:
                for dot in _stretch(before, y):
                    masks[dot // 4][x // 2] |= _DOTS[x % 2][dot % 4]
                    styles[dot // 4][x // 2] = f"column-{line.place}"
            before = y
    return [_line(masks[row], styles[row], cursor) for row in range(height)]


def _stretch(before: int | None, now: int) -> range:
    """Return the dots of a column: a steep curve starts at its previous dot, so that it has no gaps."""
    if before is None or abs(before - now) < 2:
        return range(now, now + 1)
    return range(before + 1, now + 1) if before < now else range(now, before)


def _line(masks: Sequence[int], styles: Sequence[str], cursor: int) -> Cell:
    cells = []
    for x, (mask, style) in enumerate(zip(masks, styles, strict=True)):
        if mask:
            # A braille character without dots would be no blank to every terminal.
            cells.append((chr(_BLANK + mask), style))
        else:
            cells.append(("│", "frame") if x == cursor else (" ", ""))
    return tuple(("".join(text for text, _ in run), style) for style,
        run in groupby(cells, key=lambda cell: cell[1]))


ERROR_SHOWN = 200
_TOTALS = ("tokens", "bits")
"""The curves that grow with the corpus: a second one is drawn to a scale of its own."""
_LEAST_CHART = 3
"""Lines without which a chart shows nothing: then there are the values alone."""


def figure(field: str, value: float) -> str:
    """Return a value of a curve as text, in the precision of its field."""
    match field:
        case "tokens":
            return number(round(value))
        case "bytes_per_token" | "spread":
            return f"{value:.4f}"
        case "in_use":
            return f"{100 * value:.2f} %"
        case "saved":
            return f"{value:,.2f}"
    return f"{value:,.1f}"


def describe_target(line: str) -> str:
    """Return a preview of the effect of a line that names a target.

    Raises:
        TokentuiError: It is none.
    """
    if not line:
        return "tokens per byte, such as 0.3; or dimensions and their worth in tokens, such as 768:0.001"
    return Target.parse(line).about


class CurveChart(Lines, Pane, can_focus=True):
    """The chart."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.ask_target", "target", id="target", group=Hint(rank=7),
            tooltip="Set a target, and show the vocabulary size that meets it"),
        Binding("up,k", "screen.turn_curve(-1)", "curve", tooltip="Show the previous curve", id="curve_up",
            group=Hint(rank=6)),
        Binding("down,j", "screen.turn_curve(1)", "next curve", id="curve_down",
            tooltip="Show the next curve"),
        Binding("left,h", "sideways(-1)", "cursor", id="curves_left", group=Hint(rank=4),
            tooltip="Move the cursor left"),
        Binding("right,l", "sideways(1)", "next cursor", id="curves_right",
            tooltip="Move the cursor right"),
        Binding("pageup", "sideways(-10)", "far left", id="curves_back",
            tooltip="Move the cursor left by a tenth"),
        Binding("pagedown", "sideways(10)", "far right", id="curves_on",
            tooltip="Move the cursor right by a tenth"),
        Binding("home", f"sideways({-FAR})", "first", id="curves_first",
            tooltip="Move the cursor to the start"),
        Binding("end", f"sideways({FAR})", "last", id="curves_last",
            tooltip="Move the cursor to the end"),
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
        self.cursor: int | None = None
        """The step that is read; None for that of the first column."""
        self.target: Target | None = None
        """The target whose first step is told."""

    def sections(self, snapshot: Snapshot) -> object:
        """Return the curves and the columns."""
        return snapshot.between.curves, snapshot.columns

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the curves."""
        self.curves = now.between.curves or Curves(0, (), ())
        self.places = {column.key: place for place, column in enumerate(now.columns)}
        ends = ((column.key, column.at.end) for column in now.columns)
        self.ends = {key: end.step for key, end in ends if end.exact and end.step is not None}
        self.measure %= len(self._shown())
        self.again()

    @property
    def note(self) -> Cell:
        """The formula of the measure that is drawn."""
        return ((CURVES[self.measure][2], "muted"),)

    # What the user does.

    def next_measure(self, by: int) -> None:
        """Draw another measure."""
        self.measure = (self.measure + by) % len(self._shown())
        self.again()

    def action_sideways(self, by: int) -> None:
        """Move the cursor by so many columns of the chart, to the nearest step at which a value is known."""
        now = self._at
        wide = self.size.width - max(map(len, self._labels(self._series()))) - 4
        step = now + by * max(1, round(self.curves.end / max(1, wide - 1)))
        known = sorted({known_step for curve in self.curves.series for known_step in curve.steps})
        onward = [known_step for known_step in known if (known_step > now if by > 0 else known_step < now)]
        if onward:
            self.cursor = min(onward, key=lambda known_step: abs(known_step - step))
        self.again()

    def _shown(self) -> Sequence[tuple[str, str, str]]:
        """Return the measures that can be drawn; `spread` only with named corpora."""
        named = any(curve.spread for curve in self.curves.series)
        return CURVES if named else [measure for measure in CURVES if measure[0] != "spread"]

    @property
    def _at(self) -> int:
        first = self.curves.marks[0][1] if self.curves.marks else 0
        return min(first if self.cursor is None else self.cursor, self.curves.end)

    # What is seen.

    def _series(self) -> list[Series]:
        """Return the curves of the columns; steps without a value are left out."""
        field = CURVES[self.measure][0]
        out: list[Series] = []
        for curve in self.curves.series:
            pairs = zip(curve.steps, getattr(curve, field), strict=False)
            known = [(step, value) for step, value in pairs if value is not None]
            if curve.key in self.places:
                scale = int(curve.held_out and field in _TOTALS)
                steps, values = [step for step, _ in known], [value for _, value in known]
                out.append(Series(self.places[curve.key], curve, scale, steps, values))
        return out

    def _labels(self, series: Sequence[Series]) -> tuple[str, str]:
        """Return the greatest and the least value of the first scale, as text."""
        low, high = bounds(series, 0)
        return figure(CURVES[self.measure][0], high), figure(CURVES[self.measure][0], low)

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Return the chart, its axis and the values at the cursor, or a note that they are pending."""
        series = self._series()
        if not series:
            return [self._measure_names(width), ((" computing the curves …", "muted"),)]
        errors: list[Cell] = [
            ((" ", ""), letter(line.place), (f" {safe(line.curve.error, limit=ERROR_SHOWN)}", "error"))
            for line in series if line.curve.error
        ]
        labels = self._labels(series)
        gutter = max(map(len, labels))
        readings = [*self._readings(series, gutter, width), *self._marks(series, width), *errors]
        rest = height - 2 - len(readings)
        chart = self._chart(series, labels, max(1, width - gutter - 4), rest) if rest >= _LEAST_CHART else ()
        return [self._measure_names(width), *chart, *readings]

    def _measure_names(self, width: int) -> Cell:
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

    def _chart(
        self, series: Sequence[Series], labels: tuple[str, str], wide: int, height: int
    ) -> Iterator[Cell]:
        """Yield the lines of the chart, and below it the axis with the cursor and the positions of the
        columns."""
        (high, low), end = labels, self.curves.end

        def column(step: int) -> int:
            return min(wide - 1, round(step / end * (wide - 1))) if end > 0 else 0

        gutter, cursor = max(len(high), len(low)), column(self._at)
        if CURVES[self.measure][0] == "saved":
            series = [line._replace(values=[math.log(value) for value in line.values]) for line in series]
        for n, line in enumerate(plot(series, end, wide, height, cursor)):
            label = high if n == 0 else low if n == height - 1 else ""
            yield ((f" {label:>{gutter}} ", "muted"), ("│", "frame"), *line)
        axis: list[Run] = [("─", "frame")] * wide
        axis[cursor] = ("┴", "strong")
        for key, step in reversed(self.curves.marks):
            if key in self.places:
                axis[column(step)] = letter(self.places[key])
        yield ((" " * (gutter + 2), ""), ("└", "frame"), *axis)

    def _marks(self, series: Sequence[Series], width: int) -> Iterator[Cell]:
        """Yield where each curve has its knee, and where it meets the target."""
        target = self.target
        if CURVES[self.measure][0] != "saved":
            return
        for held in (False, True):
            mine = [line for line in series if line.curve.held_out == held and line.curve.ids]
            for name in ("knee", *(("target",) if target is not None else ())):
                out: Cell = ((f" {name}{' of the second corpus' if held else ''}", "muted"),)
                for line in mine:
                    curve = line.curve
                    if target is None or name == "knee":
                        step = curve.knee
                    else:
                        met = met_at(target, curve.ids, curve.tokens, curve.bytes)
                        step = None if met is None else curve.steps[met]
                    answer = "none" if name == "knee" else "not met"
                    if step is not None:
                        answer = f"{number(curve.ids[curve.steps.index(step)])} ids at step {number(step)}"
                    more: Cell = (("  ", ""), letter(line.place), (f" {answer}", ""))
                    if ui_text.width(out) + ui_text.width(more) > width:
                        break
                    out = (*out, *more)
                if mine:
                    yield out

    def _readings(self, series: Sequence[Series], wide: int, width: int) -> Iterator[Cell]:
        """Yield the value of each curve at the cursor, the second corpus on a line of its own."""
        field, at, end = CURVES[self.measure][0], self._at, number(self.curves.end)
        here = f"step {number(at):>{len(end)}} of {end}"
        for held in (False, True):
            mine = [line for line in series if line.curve.held_out == held]
            out: Cell = ((f" {'second corpus'.ljust(len(here)) if held else here} ", "muted"),)
            for line in mine:
                # The steps that are known differ from column to column: the value of an earlier step is near.
                # A column stays at the end of its run, and its value there is exact at any later step.
                last = bisect_right(line.steps, at) - 1
                exact = min(at, self.ends.get(line.curve.key, at))
                near = "≈" if last >= 0 and line.steps[last] != exact else " "
                value = figure(field, line.values[last]) if last >= 0 else "–"
                more: Cell = (("  ", ""), letter(line.place), (f" {near}{value:>{wide}}", ""))
                if ui_text.width(out) + ui_text.width(more) > width:
                    break
                out = (*out, *more)
            if mine:
                yield out
