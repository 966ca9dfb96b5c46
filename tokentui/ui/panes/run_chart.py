"""The chart of the run: the tokens of the corpus over the steps, with the present one."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.chart import Axis, Chart, Series
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnSnapshot, Viewport
from tokentui.ui.draw.text import Cell

_ABOUT = (
    "The tokens of the corpus after each step of the run.",
    "The upright line is the cursor; it begins at the present step. The steeper the curve, the more tokens a "
    "step saves.",
    "Try: press home, then → a few times: the first steps save the most.",
)


def run_chart(column: ColumnSnapshot, points: int) -> Chart | None:
    """Return the chart of the tokens at evenly spaced steps and at the current one; None if they are not
    known yet.

    Args:
        column: The column.
        points: The number of points that were asked for its curve.
    """
    at, curve = column.at, column.curve
    if len(curve.points) < 2 or not at.start_tokens:
        return None
    end = max(curve.end, at.step)
    known = {round(n * end / max(1, points - 1)): tokens for n, tokens in enumerate(curve.points)}
    known[at.step] = at.tokens
    steps = tuple(sorted(known))
    tokens = tuple(known[step] for step in steps)
    return Chart("tokens at each step", Axis("step", most=end), Axis("tokens", log=True),
        (Series(steps, tokens),), at=at.step, about=_ABOUT)


def run_lines(now: Snapshot | None, width: int, height: int) -> Sequence[Cell]:
    """Return the lines of the chart of the first column; nothing if it is not known yet."""
    chart = None if now is None else run_chart(now.main, Viewport().curve_points)
    if chart is None:
        return ()
    from tokentui.core.chart_drawing import draw  # only where there is room for it

    return draw(chart, width, height)
