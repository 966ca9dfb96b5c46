"""Draws charts and heat maps as lines of runs, for the screen and for the terminal.

A run is a safe text and the name of a style of the screen. Nothing here knows tokens or screens.

Two libraries were measured for this, each with 5,000 points at 80x24, in November 2026 on two cores:

| | textual-plot 0.10.1 | plotext 6.1.0 | this module |
|---|---|---|---|
| import (processor) | 94 ms (it needs NumPy) | 147 ms | 3 ms |
| first paint | 1,705 bytes | 4,612 bytes | 1,880 bytes |
| a value that is missing | a line crosses it | the process aborts (`std::bad_alloc`) | a gap |
| logarithmic axis | none | yes | yes |
| control characters in a title | sent | sent | made visible |
| draws without Textual | no | yes | yes |

So neither is kept: a line over a gap is a value that nobody measured, and a report must not end the process.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

from tokentui.core.chart import (
    Axis,
    Chart,
    HeatMap,
    Picture,
    Series,
    cell_reading,
    linear_ticks,
    log_ticks,
    places_of,
    reading,
    short,
)
from tokentui.core.safetext import safe
from tokentui.core.table import cell_width

Line: TypeAlias = tuple[tuple[str, str], ...]
"""A line: runs of a safe text and the name of a style."""

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille character (U+2800 and up): two columns, from the top."""
_BLANK = 0x2800
_DASH = 4
"""Dots of a dashed series that are drawn, and as many that are not."""
_EIGHTHS, _SHADES, FULL = " ▁▂▃▄▅▆▇█", " ░▒▓█", "█"
LYING = "▆"
"""The character of a bar that lies. It leaves a gap to the bar above."""
_CELLS = ((5, 20, 24), (3, 12, 0), (1, 16, 0))
"""The lines of a row of a heat map and the most columns of a cell, by the least lines of the
picture. Three rows of 5 lines took 2.1 kB at 80x24."""
_COMPACT = 8
"""A picture of fewer lines than this has no title, and its ticks are in the line of the axis."""
LEAST = 3
"""The lines below which nothing is drawn."""
_NAME, _TICK = 24, 10
"""The most characters of a name, and of the label of a tick."""
_END = 3
"""The most cells of a name that is written at the end of its curve."""
_TURN = 8
"""The columns of a color where curves share cells: their colors take turns."""


_DRAWN, _DRAWN_ASCII = "│┊─└┤┴▪█▓▒░≈–−·×…▸▁▂▃▄▅▆▇", "|:-+++*##=.~---x~>___####"
"""The characters that are drawn, and those of ASCII in place of them."""


class View(NamedTuple):
    """How a picture is seen.

    Attributes:
        at: The place that the cursor reads; None for where the chart begins. Of a heat map, the number of a
            cell, row by row.
        x_log: True for a logarithmic axis below, False for a linear one, None for that of the chart.
        y_log: The same for the axis at the left.
        cursor: False to draw no cursor.
    """

    at: float | None = None
    x_log: bool | None = None
    y_log: bool | None = None
    cursor: bool = True


AT_FIRST = View()
"""How a picture is seen at first."""


def draw(
    picture: Picture, width: int, height: int, view: View = AT_FIRST, *, ascii_only: bool = False
) -> list[Line]:
    """Return the lines of a picture from the top, none for less room than it needs.

    Args:
        picture: The picture.
        width: The columns of the terminal.
        height: The most lines. Bars that lie and heat maps may need fewer.
        view: How it is seen.
        ascii_only: True for characters of ASCII alone.
    """
    if height < LEAST or width < 2 * LEAST:
        return []
    if isinstance(picture, HeatMap):
        lines = _heat_lines(picture, width, height, view)
    elif not any(value is not None for series in picture.series for value in series.y):
        lines = _nothing(width)
    elif lies(picture, width, height):
        lines = _lying_lines(picture, width, height, view)
    else:
        drawing = _Drawing(picture, width, height, view)
        lines = [*drawing.lines(), drawing.told()]
    return [_ascii(line) for line in lines] if ascii_only else lines


def draw_plot(chart: Chart, width: int, height: int, view: View = AT_FIRST) -> list[Line]:
    """Return the lines of a chart that has no names, without the line of the value that is read, for a pane
    that tells values itself. They are one fewer than `height`."""
    return _Drawing(chart, width, height, view).lines() if height >= LEAST and width >= 2 * LEAST else []


def _ascii(line: Line) -> Line:
    """Return a line in ASCII; every braille character becomes a star."""
    table = dict(zip(map(ord, _DRAWN), _DRAWN_ASCII, strict=True))

    def drawn(text: str) -> str:
        plain = "".join("*" if _BLANK < ord(char) < _BLANK + 256 else char for char in text)
        return safe(plain.translate(table), ascii_only=True)

    return tuple((drawn(text), style) for text, style in line)


def place_read(chart: Chart, view: View) -> float:
    """Return the place that is read: that of the view, where the chart begins, or the last one."""
    at = chart.at if view.at is None else view.at
    if at is not None:
        return at
    return max((series.x[-1] for series in chart.series if series.x), default=0.0)


def _cell_read(heat: HeatMap, view: View) -> int:
    """Return the number of the cell that is read."""
    return heat.first if view.at is None else int(view.at)


def is_log(axis: Axis, wanted: bool | None) -> bool:
    """Return whether an axis is logarithmic in a view."""
    return not axis.names and (axis.log if wanted is None else wanted)


def moved(picture: Picture, width: int, height: int, view: View, columns: int, rows: int = 0) -> View:
    """Return the view with the cursor moved by `columns` to the right and `rows` down.

    It goes to the next place that has a value, and stays if there is none. Only the cursor of a heat map, and
    of bars that lie, goes down.
    """
    if isinstance(picture, HeatMap):
        count = len(picture.column_names)
        if not count or not picture.row_names:
            return view
        row, column = divmod(_cell_read(picture, view), count)
        row = min(max(0, row + rows), len(picture.row_names) - 1)
        return view._replace(at=row * count + min(max(0, column + columns), count - 1))
    now, places = place_read(picture, view), places_of(picture)
    if not places:
        return view
    by = columns + rows
    if picture.x.names:
        return view._replace(at=min(max(0.0, now + by), len(picture.x.names) - 1.0))
    drawing = _Drawing(picture, width, height, view)
    goal = drawing.x.share(now) * (drawing.wide - 1) + by
    onward = [place for place in places if (place > now if by > 0 else place < now)
              and drawing.x.shows(place)]
    if not onward:
        return view
    if abs(by) >= drawing.wide:
        return view._replace(at=onward[0 if by < 0 else -1])
    nearest = min(onward, key=lambda place: (abs(drawing.column(place) - goal), abs(place - now)))
    return view._replace(at=nearest)


# ---- curves, bars and points


class _Scale:
    """Places values on an axis from 0 to 1.

    Args:
        values: The values.
        log: True for a logarithmic axis, which shows only values above zero.
        least, most: The least and the greatest value that are drawn; None for those of these.
    """

    def __init__(
        self, values: Sequence[float], log: bool, least: float | None = None, most: float | None = None
    ) -> None:
        shown = [value for value in values if value > 0] if log else values
        self.log = log
        self.low, self.high = min(shown, default=1.0), max(shown, default=1.0)
        if least is not None and (least > 0 or not log):
            self.low = min(self.low, least)
        if most is not None:
            self.high = max(self.high, most)
        self._low, self._high = self._of(self.low), self._of(self.high)

    def _of(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def shows(self, value: float) -> bool:
        """Return whether a value can be drawn."""
        return value > 0 or not self.log

    def share(self, value: float) -> float:
        """Return the place of a value, 0 for the least one and 1 for the greatest; 0.5 if all are equal."""
        if not self.shows(value):
            return 0.0
        if self._high <= self._low:
            return 0.5
        return min(1.0, max(0.0, (self._of(value) - self._low) / (self._high - self._low)))

    def value(self, share: float) -> float:
        """Return the value at a place."""
        found = self._low + share * (self._high - self._low)
        return 10.0**found if self.log else found

    def ticks(self, most: int) -> list[float]:
        """Return round values to write at the axis."""
        return (log_ticks if self.log else linear_ticks)(self.low, self.high, most)


class _Drawing:
    """A chart for a room and a view.

    Args:
        chart: The chart.
        width: The columns.
        height: The lines.
        view: The view.
    """

    def __init__(self, chart: Chart, width: int, height: int, view: View) -> None:
        self.chart, self.width, self.height, self.view = chart, width, height, view
        self.compact = height < _COMPACT
        self.tall = height - (2 if self.compact else 4)
        y_log = is_log(chart.y, view.y_log)
        bars = any(series.kind == "bar" for series in chart.series)
        self.y = {
            number: _Scale([
                value for series in chart.series if series.scale == number
                for value in series.y if value is not None
            ], y_log, 0.0 if bars else chart.y.least)
            for number in {series.scale for series in chart.series}
        }
        if chart.x.names:
            self.x = _Scale((0.0, max(1.0, len(chart.x.names) - 1)), False)
        else:
            x_log = is_log(chart.x, view.x_log)
            first = [bisect_right(series.x, 0) if x_log else 0 for series in chart.series]
            ends = [series.x[place] for series, start in zip(chart.series, first, strict=True)
                    for place in (start, -1) if start < len(series.x)]
            self.x = _Scale(ends, x_log, chart.x.least, chart.x.most)
        self.y_ticks = self._y_ticks()
        self.gutter = max(map(cell_width, self.y_ticks.values()), default=0)
        if self.gutter > width // 3:
            self.y_ticks, self.gutter = {}, 0
        self.ends = _end_names(chart)
        margin = max(map(len, self.ends.values()), default=0)
        self.wide = max(1, width - self.gutter - 3 - margin)
        self.margin = min(margin, width - self.gutter - 3 - self.wide)
        """The columns at the right for the names of curves."""
        self.slot = max(1, self.wide // len(chart.x.names)) if chart.x.names else 1
        """The columns of a bar with its gap."""

    def _y_ticks(self) -> dict[int, str]:
        """Return the labels at the left by their lines."""
        scale = self.y.get(0) or next(iter(self.y.values()))
        found: dict[int, str] = {}
        for tick in scale.ticks(max(2, (self.tall + 1) // 3)):
            line = (4 * self.tall - 1 - round(scale.share(tick) * (4 * self.tall - 1))) // 4
            found.setdefault(line, _label(tick, self.chart.y))
        return found

    def column(self, place: float) -> int:
        """Return the column of a place."""
        if self.chart.x.names:
            return min(self.wide - 1, int(place) * self.slot + self.slot // 2)
        return round(self.x.share(place) * (2 * self.wide - 1)) // 2

    # Dots.

    def cells(self) -> list[list[tuple[str, str]]]:
        """Return the characters of the plot with their styles, line by line."""
        masks = [[0] * self.wide for _ in range(self.tall)]
        found = [[(" ", "")] * (self.wide + self.margin) for _ in range(self.tall)]
        sharing = dict[tuple[int, int], list[str]]()
        for series in reversed(self.chart.series):
            if series.kind == "bar":
                for x, heights in self._bars(series):
                    for row, eighths in enumerate(heights):
                        if eighths:
                            found[row][x] = _EIGHTHS[eighths], series.role
                continue
            for x, dots in self._dots(series):
                if series.dashed and x % (2 * _DASH) >= _DASH:
                    continue
                for dot in dots:
                    row, column = dot // 4, x // 2
                    masks[row][column] |= _DOTS[x % 2][dot % 4]
                    roles = sharing.setdefault((row, column), [])
                    if series.role not in roles:
                        roles.append(series.role)
                    role = roles[column // _TURN % len(roles)]
                    found[row][column] = chr(_BLANK + masks[row][column]), role
        for row, column, name, role in self._ends():
            found[row][column : column + len(name)] = [(char, role) for char in name]
        return found

    def _ends(self) -> Iterator[tuple[int, int, str, str]]:
        """Yield the line, the column, the name and the role of each curve that is named at its end. Names of
        one column stand below each other, in the order of the values."""
        last: dict[int, list[tuple[float, int]]] = {}
        for number in self.ends:
            series = self.chart.series[number]
            scale = self.y[series.scale]
            known = [(x, y) for x, y in zip(series.x, series.y, strict=True)
                     if y is not None and self.x.shows(x) and scale.shows(y)]
            if known:
                place, value = known[-1]
                last.setdefault(self.column(place) + 1, []).append((scale.share(value), number))
        for column, here in last.items():
            rows = list[int]()
            here.sort(key=lambda pair: (-pair[0], pair[1]))
            for share, _ in here:
                row = (4 * self.tall - 1 - round(share * (4 * self.tall - 1))) // 4
                rows.append(max(row, rows[-1] + 1) if rows else row)
            for n in range(len(rows)):  # those that would stand below the plot move up
                rows[n] = min(rows[n], self.tall - len(rows) + n)
            for row, (_, number) in zip(rows, here, strict=True):
                if row >= 0:
                    yield row, column, self.ends[number], self.chart.series[number].role

    def _bars(self, series: Series) -> Iterator[tuple[int, list[int]]]:
        """Yield the columns of bars, each with the eighths of its lines from the top. Where several bars
        share a column the longest is seen."""
        # Bars touch: the first paint of 16 at 80x24 takes 2,107 bytes, and with gaps 4,787.
        scale, tops = self.y[series.scale], dict[int, int]()
        for place, value in zip(series.x, series.y, strict=True):
            if value is None or value <= 0:
                continue
            top = max(1, round(scale.share(value) * 8 * self.tall))
            first = min(self.wide - 1, int(place) * self.slot) if self.chart.x.names else self.column(place)
            for x in range(first, min(self.wide, first + self.slot)):
                tops[x] = max(tops.get(x, 0), top)
        for x, top in tops.items():
            yield x, [min(8, max(0, top - 8 * line)) for line in range(self.tall - 1, -1, -1)]

    def _dots(self, series: Series) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the dots of a series, column of dots by column. All values of a column are seen: it goes from
        the least to the greatest of them."""
        scale, last = self.y[series.scale], 2 * self.wide - 1
        high = 4 * self.tall - 1

        def dot(value: float) -> int:
            return high - round(scale.share(value) * high)

        edges = [self.x.value((x + 0.5) / last) for x in range(last)] if last else []
        for start, end in _known(series, scale, self.x):
            before: tuple[int, int] | None = None
            for x in range(last + 1):
                stop = bisect_right(series.x, edges[x], start, end) if x < last else end
                if stop == start:
                    continue
                values = [value for value in series.y[start:stop] if value is not None]
                if series.kind == "scatter":
                    yield x, sorted({*map(dot, values)})
                    start = stop
                    continue
                if before is not None:
                    yield from _joined(before, (x, dot(values[0])), series.kind == "step")
                yield x, range(dot(max(values)), dot(min(values)) + 1)
                before, start = (x, dot(values[-1])), stop
                if start == end:
                    break

    # Lines.

    def lines(self) -> list[Line]:
        """Return the lines of the picture, without that of the value that is read."""
        cells, at = self.cells(), place_read(self.chart, self.view)
        cursor = self.column(at) if self.view.cursor and self.x.shows(at) else None
        for mark in self.chart.marks:
            if not mark.on_axis:
                self._stand(cells, self.column(mark.x), "┊", mark.role)
                self._name(cells[0], self.column(mark.x), mark.name, mark.role)
        if cursor is not None:
            self._stand(cells, cursor, "│", "frame")
        lines: list[Line] = [] if self.compact else [self._head()]
        for row, line in enumerate(cells):
            label = self.y_ticks.get(row, "")
            edge = "┤" if label else "│"
            blanks = " " * (self.gutter - cell_width(label))
            lines.append(((f" {blanks}{label} ", "muted"), (edge, "frame"), *_runs(line)))
        return [*lines, *self._foot(cursor)]

    def told(self) -> Line:
        """Return the line below the picture: the axis below, and the value that is read."""
        told = f"{safe(reading(self.chart, place_read(self.chart, self.view)))} "
        return sided(f" {safe(self._about(self.chart.x, self.x))}", told, self.width)

    def _stand(self, cells: list[list[tuple[str, str]]], x: int, char: str, style: str) -> None:
        for line in cells:
            if line[x][0] == " ":
                line[x] = char, style

    def _name(self, line: list[tuple[str, str]], x: int, name: str, style: str) -> None:
        """Write a name beside a mark where there is nothing else."""
        text = safe(name, limit=_NAME)
        for first in (x + 1, x - len(text)):
            if first >= 0 and first + len(text) <= self.wide and cell_width(text) == len(text) and all(
                    cell[0] == " " for cell in line[first : first + len(text)]):
                line[first : first + len(text)] = [(char, style) for char in text]
                return

    def _about(self, axis: Axis, scale: _Scale) -> str:
        hidden = scale.log and any(not scale.shows(place) for series in self.chart.series
                                   for place in series.x[:1])
        return axis.title + " · log" * scale.log + " · 0 is not shown" * hidden

    def _head(self) -> Line:
        """Return the line above: the axis at the left, and the names of the series."""
        scale = self.y.get(0) or next(iter(self.y.values()))
        names: list[tuple[str, str]] = []
        for series in self.chart.series if len(self.chart.series) > 1 else ():
            names += [(" ▪ ", series.role), (safe(series.name, limit=_NAME), "muted")]
        left = f" {safe(self.chart.y.title)}{' · log' * scale.log}"
        right = sum(cell_width(text) for text, _ in names)
        if right + cell_width(left) + 1 > self.width:
            return ((_cut(left, self.width), "muted"),)
        return ((left, "muted"), (" " * (self.width - right - cell_width(left)), ""), *names)

    def _foot(self, cursor: int | None) -> list[Line]:
        """Return the axis below and its labels. In a small picture the labels are in the axis: right of their
        ticks, or left of them where the cursor or a mark would cover one."""
        line, labels = [("─", "frame")] * self.wide, ""
        columns = [*map(self.column, (mark.x for mark in self.chart.marks)), cursor]
        taken = {column for column in columns if column is not None}
        for x, label in self._x_labels():
            line[x] = ("┴", "frame")
            size, free = cell_width(label), cell_width(labels)
            first = min(x + 1 if self.compact else max(0, x - size // 2), self.wide - size)
            if self.compact and not taken.isdisjoint(range(first, first + size)):
                first = x - size
                if not taken.isdisjoint(range(first, first + size)):
                    continue
            if first > free or first == free == 0:
                labels += " " * (first - free) + label
        if self.compact:
            for x, char in enumerate(labels):
                line[x] = (char, "muted") if char != " " else line[x]
        if cursor is not None:
            line[cursor] = "┴", "strong"
        for mark in reversed(self.chart.marks):
            line[self.column(mark.x)] = (safe(mark.name)[:1] or "┴") if mark.on_axis else "┴", mark.role
        gap = " " * (self.gutter + 2)
        lines: list[Line] = [((gap, ""), ("└", "frame"), *_runs(line))]
        return lines if self.compact else [*lines, ((f"{gap} {labels}", "muted"),)]

    def _x_labels(self) -> Iterator[tuple[int, str]]:
        """Yield the column and the text of each tick of the axis below."""
        if self.chart.x.names:
            for place, name in enumerate(self.chart.x.names):
                yield self.column(place), _cut(safe(name, limit=_NAME), self.wide)
            return
        ticks = [(self.column(tick), _label(tick, self.chart.x))
                 for tick in self.x.ticks(max(2, self.wide // 9))]
        first = _label(self.x.low, self.chart.x)
        if not self.compact and (not ticks or ticks[0][0] - len(ticks[0][1]) > cell_width(first)):
            yield 0, first  # the axis begins between two round numbers
        yield from ticks


def _end_names(chart: Chart) -> dict[int, str]:
    """Return the names that stand at the ends of curves, by the numbers of these; none for one curve, or
    where a name is long."""
    names = {number: safe(series.name, limit=_NAME) for number, series in enumerate(chart.series)
             if series.kind in ("line", "step")}
    short_ones = all(0 < len(name) == cell_width(name) <= _END for name in names.values())
    return names if short_ones and len(names) > 1 else {}


def _label(tick: float, axis: Axis) -> str:
    """Return the label of a tick."""
    return safe(short(tick) + axis.unit, limit=_TICK)


def _known(series: Series, x: _Scale, *scales: _Scale) -> Iterator[tuple[int, int]]:
    """Yield the stretches without a gap, as (first, last + 1)."""
    y, (across,) = x, scales
    start: int | None = None
    if None not in series.y and not y.log and not across.log:
        yield 0, len(series.y)
        return
    for n, (place, value) in enumerate(zip(series.x, series.y, strict=True)):
        if value is not None and y.shows(value) and across.shows(place):
            start = n if start is None else start
        elif start is not None:
            yield start, n
            start = None
    if start is not None:
        yield start, len(series.y)


def _joined(
    before: tuple[int, int], now: tuple[int, int], step: bool
) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the dots between two measured points: a straight line, or a step at the later one."""
    (x0, y0), (x1, y1) = before, now
    last = y0
    for x in range(x0 + 1, x1 + 1):
        y = (y1 if x == x1 else y0) if step else round(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
        # A steep line starts at its previous dot, so that it has no gaps.
        yield x, range(y, y + 1) if abs(last - y) < 2 else range(last + 1, y + 1) if last < y else range(
            y, last)
        last = y


def _runs(cells: Sequence[tuple[str, str]]) -> Line:
    return tuple(("".join(text for text, _ in run), style) for style,
        run in groupby(cells, key=lambda cell: cell[1]))


def _cut(text: str, width: int) -> str:
    """Cut a safe text to a width, with `…` if it is cut; "" for no width."""
    if cell_width(text) <= width:
        return text
    while text and cell_width(text) >= width:
        text = text[:-1]
    return f"{text}…" if width > 0 else ""


def _nothing(width: int) -> list[Line]:
    return [((_cut(" nothing to draw", width), "muted"),)]


def sided(left: str, right: str, width: int) -> Line:
    """Return a line with muted words at the left and others at the right, which are cut last."""
    right = _cut(right, width)
    left = _cut(left, max(0, width - cell_width(right) - 2))
    return ((left, "muted"), (" " * (width - cell_width(left) - cell_width(right)), ""), (right, ""))


# ---- bars that lie


def lies(chart: Chart, width: int, height: int) -> bool:
    """Return whether the bars of a chart lie, a line each: their names are too long to stand below them."""
    names = chart.x.names
    if not names or any(series.kind != "bar" for series in chart.series) or len(names) > height - 2:
        return False
    widest = max(map(len, names))
    return max(1, (width - 8) // len(names)) - 1 < widest <= width // 3


def _lying_lines(chart: Chart, width: int, height: int, view: View) -> list[Line]:
    names = [safe(name, limit=_NAME) for name in chart.x.names]
    series, at = chart.series[0], int(place_read(chart, view))
    values = dict(zip(series.x, series.y, strict=True))
    shown = {place: "–" if (value := values.get(place)) is None else safe(chart.y.value(value), limit=_TICK)
             for place in range(len(names))}
    label, number = max(map(cell_width, names)), max(map(cell_width, shown.values()))
    room = max(1, width - label - number - 5)
    scale = _Scale([value for value in series.y if value is not None], is_log(chart.y, view.y_log), 0.0)
    lines: list[Line] = [((_cut(f" {safe(chart.y.title)}{' · log' * scale.log}", width), "muted"),)]
    spread = 2 * len(names) - 1 <= height - 2  # a blank line between the bars, where there is room
    for place, name in enumerate(names):
        value = values.get(place)
        bar = LYING * max(1, round(room * scale.share(value))) if value else ""
        style = "strong" if view.cursor and place == at else ""
        blanks = " " * (label - cell_width(name))
        after = " " * (room - len(bar) + number - cell_width(shown[place]))
        lines.append((
            (f" {name}{blanks} ", style), (bar, series.role), (after, ""), (f" {shown[place]} ", style)))
        if spread and place < len(names) - 1:
            lines.append(())
    return [*lines, sided(f" {safe(chart.x.title)}", f"{safe(reading(chart, at))} ", width)]


# ---- heat maps


def _heat_lines(heat: HeatMap, width: int, height: int, view: View) -> list[Line]:
    """Return a heat map: a shade for each value, and the value on it where there is room."""
    if not heat.row_names or not heat.column_names:
        return _nothing(width)
    names = [safe(name, limit=_NAME) for name in heat.row_names]
    label = min(max(map(cell_width, names)), width // 3)
    room = max(1, width - label - 3)
    heads = [safe(name, limit=_NAME) for name in heat.column_names[:room]]
    tall, most = next(((tall, most) for tall, most, least in _CELLS
                       if height >= max(least, tall * len(names) + 2)), (1, room))
    size = min(room // len(heads), most)
    scale = _Scale([value for row in heat.values for value in row if value is not None], False,
        heat.axis.least)
    at = _cell_read(heat, view)
    gap = " " * (label + 2)
    lines: list[Line] = [((gap + "".join(_centered(_cut(head, size - 1), size) for head in heads), "muted"),)]
    for row, name in enumerate(names[: max(1, (height - 2) // tall)]):
        for part in range(tall):
            middle = part == tall // 2
            cut = _cut(name, label) if middle else ""
            runs: list[tuple[str, str]] = [(f" {cut}{' ' * (label - cell_width(cut))} ", "muted")]
            for column, value in enumerate(heat.values[row][: len(heads)]):
                here = view.cursor and at == row * len(heat.column_names) + column
                runs += _heat_cell(heat, value, scale.share, size, middle, here)
            lines.append(tuple(runs))
    told = f"{safe(cell_reading(heat, at))} " if view.cursor else ""
    return [*lines, sided(f" {safe(heat.axis.title)}", told, width)]


def _heat_cell(
    heat: HeatMap, value: float | None, share: Callable[[float], float], size: int, middle: bool, here: bool
) -> Iterator[tuple[str, str]]:
    style, ground = ("strong", "accent") if here else ("", "primary")
    inner = max(1, size - 1)
    shown = "–" if value is None else safe(heat.axis.value(value), limit=_TICK)
    shade = " " if value is None else _SHADES[min(4, 1 + int(share(value) * 3.999))]
    text = f"▸{shown}" if here else f" {shown}"
    if middle and cell_width(text) + 1 < inner:
        text = f"{text} "
        left = (inner - cell_width(text)) // 2
        yield shade * left, ground
        yield text, style
        yield shade * (inner - left - cell_width(text)), ground
    else:
        yield shade * inner, ground
    yield " " * (size - inner), ""


def _centered(text: str, size: int) -> str:
    left = max(0, size - 1 - cell_width(text)) // 2
    return " " * left + text + " " * (size - left - cell_width(text))


def spark(values: Sequence[float]) -> str:
    """Return a bar of one cell for each value: a histogram in one line. A value of zero is a blank."""
    most = max(values, default=0.0)
    return "".join(_EIGHTHS[max(1, round(8 * value / most))] if value > 0 else " " for value in values)
