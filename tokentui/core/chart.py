"""Charts as values: curves, bars, points and heat maps, their axes, and the words for a value.

An analysis builds a `Chart` or a `HeatMap`. `tokentui.core.chart_drawing` draws it, for the screen and for
the terminal. A chart holds what was measured: a value that is None is a gap, and no line crosses it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from tokentui.core.records import dataclass

Kind: TypeAlias = Literal["line", "step", "bar", "scatter"]
"""How a series is drawn: points joined by lines; each value held until the next; bars from zero; points."""


class Axis(NamedTuple):
    """An axis.

    Attributes:
        title: What is measured, with its unit, such as `tokens` or `bytes per token`.
        unit: The text behind each value, such as ` %`.
        digits: The digits of a fraction of a value.
        log: True if it is logarithmic at first.
        names: The names of the places 0, 1, 2 …; empty for numbers. Such an axis is never logarithmic.
        least: The least value that is drawn; None for the least one measured. Bars begin at zero in any case.
        most: The greatest value that is drawn; None for the greatest one measured.
    """

    title: str
    unit: str = ""
    digits: int = 0
    log: bool = False
    names: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    def value(self, number: float) -> str:
        """Return a value in words: its name, or the number with its unit; "" for a number without a name."""
        if self.names:
            place = int(number)
            return self.names[place] if 0 <= place < len(self.names) else ""
        return exact(number, self.digits) + self.unit


@dataclass(frozen=True, slots=True)
class Series:
    """Values over ascending places.

    Attributes:
        x: The places, ascending.
        y: The value at each; None where none was measured.
        kind: How they are drawn.
        name: Its name, where there are several.
        role: The name of a style of the screen.
        dashed: True for a dashed line.
        scale: Series of one scale share the least and the greatest value. The axis shows those of scale 0.
        end: The place from which on a value holds; None if there is no such place.
    """

    x: tuple[float, ...]
    y: tuple[float | None, ...]
    kind: Kind = "line"
    name: str = ""
    role: str = "primary"
    dashed: bool = False
    scale: int = 0
    end: float | None = None


class Mark(NamedTuple):
    """A place of the axis below that is marked.

    Attributes:
        x: The place.
        name: Its name.
        role: The name of a style of the screen.
        on_axis: True for the first character of its name on the axis, False for an upright line with the name
            beside it.
    """

    x: float
    name: str = ""
    role: str = "strong"
    on_axis: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over one axis.

    Attributes:
        title: Its subject, a few words.
        x: The axis below.
        y: The axis at the left.
        series: The series; where curves share cells, their colors take turns.
        marks: The places that are marked.
        at: The place that is read at first; None for the last one.
        ratio: The words for a value compare it with that at this share of its place; 0 for no comparison.
        about: What it shows, what its marks mean, and something to try: a sentence or two each.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    at: float | None = None
    ratio: float = 0.0
    about: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The values that the picture shows: a row of titles, then a row for each place."""
        titles = (self.x.title, *(series.name or self.y.title for series in self.series))
        known = [dict(zip(series.x, series.y, strict=True)) for series in self.series]
        rows = [titles]
        for place in places_of(self):
            values = (values.get(place) for values in known)
            rows.append((self.x.value(place),
                *("" if value is None else self.y.value(value) for value in values)))
        return tuple(rows)


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of values, each drawn as a shade.

    Attributes:
        title: Its subject, a few words.
        row_names: The names of the rows.
        column_names: The names of the columns.
        values: The values, row by row; None where none was measured.
        axis: How a value is written. Its `least` is drawn the lightest, the greatest value the darkest.
        words: The words for a value, with `{row}`, `{column}` and `{value}`. What was not measured has none.
        about: What it shows, what its marks mean, and something to try: a sentence or two each.
    """

    title: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    axis: Axis
    words: str = "{row}, {column}: {value}"
    about: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The values that the picture shows: a row of titles, then the rows."""
        rows = [("", *self.column_names)]
        for name, values in zip(self.row_names, self.values, strict=True):
            rows.append((name, *("" if value is None else self.axis.value(value) for value in values)))
        return tuple(rows)

    @property
    def first(self) -> int:
        """The number of the cell that is read at first, row by row: the first one of the greatest value."""
        cells = [-math.inf if value is None else value for row in self.values for value in row]
        return cells.index(max(cells)) if cells else 0


Picture: TypeAlias = "Chart | HeatMap"
"""Whatever `tokentui.core.chart_drawing` draws."""


# ---- numbers


def exact(number: float, digits: int = 0) -> str:
    """Return a number in full, with a real minus sign: `72,275`, `−0.25`."""
    return f"{number:,.{digits}f}".replace("-", "−", 1)


_STEPS = (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 1000))


def short(number: float) -> str:
    """Return a number for an axis: `500`, `32k`, `1.5M`, `0.25`. A number is in thousands only if nothing is
    lost by it.

    >>> short(32_000), short(1_500_000), short(32_768), short(0.25), short(1e-6)
    ('32k', '1.5M', '32,768', '0.25', '1e-6')
    """
    for letter, size in _STEPS:
        if abs(number) >= size and number * 10 % size == 0:
            return f"{number / size:g}{letter}".replace("-", "−", 1)
    if 0 < abs(number) < 1e-3:
        return f"{number:.0e}".replace("e-0", "e-").replace("-", "−", int(number < 0))
    return (f"{number:,.0f}" if number == int(number) else f"{number:g}").replace("-", "−", 1)


def linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers from `low` to `high`, at most `most`: multiples of 1, 2 or 5 times a power of ten.

    Only `low` if the range is empty or `most` is below 1.

    >>> linear_ticks(0, 103, 5)
    [0.0, 50.0, 100.0]
    """
    if not high > low or most < 1:
        return [low]
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (size, 2 * size, 5 * size, 10 * size, 20 * size, 50 * size, 100 * size):
        digits = max(0, -math.floor(math.log10(step)))
        places = range(math.floor(low / step), math.ceil(high / step) + 1)
        ticks = [tick for n in places if low <= (tick := round(n * step, digits)) <= high]
        if len(ticks) <= most:
            return ticks
    return []


_FEW_TICKS = 3
"""A logarithmic axis with fewer round numbers than this has those of a linear one."""


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers from `low` to `high` for a logarithmic axis, at most `most`: powers of ten, and 2
    and 5 times those where there is room. A short axis has round numbers of another kind.

    >>> log_ticks(1, 1000, 5), log_ticks(300, 3000, 5)
    ([1.0, 10.0, 100.0, 1000.0], [500.0, 1000.0, 2000.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    fine = [tick for tick in fine if low <= tick <= high]
    if len(fine) < _FEW_TICKS:
        return linear_ticks(low, high, most)
    if len(fine) <= most:
        return fine
    for every in range(1, len(powers) + 1):
        ticks = [10.0**power for power in powers if power % every == 0 and low <= 10.0**power <= high]
        if len(ticks) <= max(1, most):
            return ticks
    return []


# ---- places and words


def places_of(chart: Chart) -> list[float]:
    """Return the places at which any series has a value, ascending."""
    if len(chart.series) == 1 and None not in chart.series[0].y:
        return list(chart.series[0].x)
    return sorted({
        place for series in chart.series
        for place, value in zip(series.x, series.y, strict=True) if value is not None
    })


def value_at(series: Series, place: float) -> tuple[float | None, bool]:
    """Return the value at a place or the last one known before it, and whether it holds exactly there: always
    in a series of steps, else only at one of its points. Behind the end the place is the end.

    (None, False) before the first point and in a gap.
    """
    from bisect import bisect_right

    last = bisect_right(series.x, place) - 1
    if last < 0 or series.y[last] is None:
        return None, False
    here = place if series.end is None else min(place, series.end)
    return series.y[last], series.kind == "step" or series.x[last] == here


def compared(series: Series, place: float, ratio: float, x: Axis) -> str:
    """Compare the value at a place with that at a share of the place, in words: `, 6.2 % fewer than 16k`.
    Empty if either is not measured."""
    earlier = math.floor(place * ratio) if place == int(place) else place * ratio
    now, known = value_at(series, place)
    before, measured = value_at(series, earlier)
    if not ratio or not now or not before or not (known and measured):
        return ""
    share = 100 * (1 - now / before)
    return f", {abs(share):.1f} % {'fewer' if share >= 0 else 'more'} than {short(earlier)}{x.unit}"


def reading(chart: Chart, place: float) -> str:
    """Return the values at a place in words: `32k: 72,275 tokens, 6.2 % fewer than 16k`. `≈` stands before a
    value of an earlier place, and `–` for a gap."""
    x, several = chart.x, len(chart.series) > 1
    words = []
    for series in chart.series:
        value, measured = value_at(series, place)
        shown = "–" if value is None else ("" if measured else "≈") + chart.y.value(value)
        unit = "" if several or chart.y.unit or value is None else f" {chart.y.title}"
        name = f"{series.name} " if several and series.name else ""
        words.append(f"{name}{shown}{unit}{compared(series, place, chart.ratio, x)}")
    return f"{x.value(place) if x.names else short(place) + x.unit}: {', '.join(words)}"


def cell_reading(heat: HeatMap, number: int) -> str:
    """Return the value of a cell of a heat map in words; cells count from 0, row by row.

    A dash stands for a value that is missing; "" if there are no cells.
    """
    if not heat.values or not heat.column_names:
        return ""
    row, column = divmod(number, len(heat.column_names))
    value = heat.values[row][column]
    names = {"row": heat.row_names[row], "column": heat.column_names[column]}
    if value is None:
        return "{row}, {column}: –".format(**names)
    return heat.words.format(**names, value=heat.axis.value(value))


def histogram(counts: Sequence[tuple[int, int]], most: int = 16) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the names of bins and their counts.

    Args:
        counts: (value, count), the values positive and ascending.
        most: The most bins. With more values, bins end at powers of two: `1`, `2`, `3–4`, `5–8` …

    >>> histogram([(1, 5), (3, 2)])
    (('1', '2', '3'), (5, 0, 2))
    >>> histogram([(1, 5), (3, 2), (70, 1)], 8)
    (('1', '2', '3–4', '5–8', '9–16', '17–32', '33–64', '65–70'), (5, 0, 2, 0, 0, 0, 0, 1))
    """
    if not counts:
        return (), ()
    least, last = counts[0][0], counts[-1][0]
    if last - least < most:
        known = dict(counts)
        values = range(least, last + 1)
        return tuple(f"{value:,}" for value in values), tuple(known.get(value, 0) for value in values)
    names, sums = [], []
    low, high, at = 1, 1, 0
    while low <= last:
        total = 0
        while at < len(counts) and counts[at][0] <= high:
            total += counts[at][1]
            at += 1
        if high >= least:
            first, end = max(low, least), min(high, last)
            names.append(f"{first:,}" if first == end else f"{first:,}–{end:,}")
            sums.append(total)
        low, high = high + 1, 2 * high
    return tuple(names), tuple(sums)
