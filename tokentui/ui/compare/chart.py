"""Curves as dots: several series in one chart of braille characters, two dots across and four up to a character."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from tokentui.ui.draw.text import Cell

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille character (U+2800 and up): two columns, from the top."""
_BLANK = 0x2800
_DASH = 4
"""Dots of a dashed series that are drawn, and as many that are not."""


@dataclass(frozen=True, slots=True)
class Series:
    """A curve: values at ascending steps, the name of its style, whether it is dashed, and the scale that it is drawn to: those
    of one scale share the least and the greatest value."""

    steps: Sequence[int]
    values: Sequence[float]
    style: str
    dashed: bool = False
    scale: int = 0

    def at(self, step: float) -> float | None:
        """The value at a step, on a line between the steps that are known; None outside of these."""
        if not self.steps or not self.steps[0] <= step <= self.steps[-1]:
            return None
        right = bisect_left(self.steps, step)
        if self.steps[right] == step:
            return self.values[right]
        low, high = self.steps[right - 1], self.steps[right]
        return self.values[right - 1] + (self.values[right] - self.values[right - 1]) * (step - low) / (high - low)

    def known(self, step: int) -> tuple[int, float] | None:
        """The last known step up to this one, with its value; None where there is none."""
        place = bisect_right(self.steps, step) - 1
        return (self.steps[place], self.values[place]) if place >= 0 else None


def bounds(series: Sequence[Series]) -> tuple[float, float] | None:
    """The least and the greatest value, None where there is none."""
    values = [value for one in series for value in one.values]
    return (min(values), max(values)) if values else None


def plot(series: Sequence[Series], end: int, width: int, height: int, cursor: int | None = None) -> list[Cell]:
    """The chart, line by line from the top, from step 0 at the left edge to `end` at the right.

    Args:
        series: The curves; where two share a character it has the style of the first.
        end: The last step.
        width: The columns of the terminal.
        height: The lines.
        cursor: The column of an upright line, None for none.
    """
    scales = {scale: bounds([one for one in series if one.scale == scale]) or (0.0, 0.0) for scale in {s.scale for s in series}}
    masks = [[0] * width for _ in range(height)]
    styles = [[""] * width for _ in range(height)]
    for one in reversed(series):
        low, high = scales[one.scale]
        before: int | None = None
        for x in range(2 * width):
            value = one.at(x * end / max(1, 2 * width - 1))
            if value is None:
                before = None
                continue
            y = _level(value, low, high, 4 * height)
            if not one.dashed or x % (2 * _DASH) < _DASH:
                for dot in _stretch(before, y):
                    masks[dot // 4][x // 2] |= _DOTS[x % 2][dot % 4]
                    styles[dot // 4][x // 2] = one.style
            before = y
    return [_line(masks[row], styles[row], cursor) for row in range(height)]


def _stretch(before: int | None, now: int) -> range:
    """The dots of a column: a steep curve is drawn from where it was, so that it does not break up."""
    if before is None or abs(before - now) < 2:
        return range(now, now + 1)
    return range(before + 1, now + 1) if before < now else range(now, before)


def _level(value: float, low: float, high: float, dots: int) -> int:
    """The dot of a value, from the top."""
    if high <= low:
        return dots // 2
    return min(dots - 1, max(0, round((high - value) / (high - low) * (dots - 1))))


def _line(masks: Sequence[int], styles: Sequence[str], cursor: int | None) -> Cell:
    drawn = []
    for x, (mask, style) in enumerate(zip(masks, styles, strict=True)):
        if mask:
            # A braille character without dots would be no blank to every terminal.
            drawn.append((chr(_BLANK + mask), style))
        else:
            drawn.append(("│", "frame") if x == cursor else (" ", ""))
    return tuple(("".join(text for text, _ in run), style) for style, run in groupby(drawn, key=lambda one: one[1]))
