"""Charts and heat maps: what they draw, against the values that they are made of."""

from __future__ import annotations

import itertools
import math
import random
import re
from dataclasses import replace

import pytest

from tokentui.core.chart import (
    Axis,
    Chart,
    HeatMap,
    Kind,
    Mark,
    Picture,
    Series,
    histogram,
    linear_ticks,
    log_ticks,
    places_of,
    reading,
    short,
)
from tokentui.core.chart_drawing import AT_FIRST, FULL, View, draw, moved
from tokentui.core.safetext import is_safe
from tokentui.core.table import cell_width

KINDS: tuple[Kind, ...] = ("line", "step", "bar", "scatter")
EVIL = "e\x1b]0;x\x07vil\u202e[red]日本"


def plain(picture: Picture, width: int = 60, height: int = 16, view: View = AT_FIRST) -> list[str]:
    return ["".join(text for text, _ in line) for line in draw(picture, width, height, view)]


def chart(x: tuple[float, ...], y: tuple[float | None, ...], kind: Kind = "line", *, log: bool = False,
          names: tuple[str, ...] = ()) -> Chart:
    return Chart("t", Axis("ids", log=log, names=names), Axis("tokens"), (Series(x, y, kind),))


def edge(line: str) -> int:
    """The column of the axis at the left."""
    return next(n for n, char in enumerate(line) if char in "│┤")


def dots(lines: list[str]) -> set[tuple[int, int]]:
    """The dots of a plot with a title and three lines below, from the lower left corner."""
    plot = [line[edge(line) + 1 :] for line in lines[1:-3]]
    bits = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
    found = set()
    for row, line in enumerate(plot):
        for column, char in enumerate(line):
            for side, high in itertools.product(range(2), range(4)):
                if 0x2800 <= ord(char) < 0x2900 and (ord(char) - 0x2800) & bits[side][high]:
                    found.add((2 * column + side, 4 * len(plot) - 1 - (4 * row + high)))
    return found


def test_a_scatter_has_a_dot_for_each_value_and_no_other() -> None:
    rng = random.Random(5)
    for log in (False, True):
        x = tuple(sorted(rng.sample(range(1, 5000), 40)))
        y = tuple(rng.randrange(1, 900) for _ in x)
        view = View(cursor=False, x_log=log, y_log=log)
        lines = plain(chart(x, y, "scatter"), view=view)
        seen = dots(lines)
        wide, tall = 2 * (len(lines[5]) - edge(lines[5]) - 1) - 1, 4 * len(lines[1:-3]) - 1

        def share(value: float, values: tuple[int, ...], log: bool = log) -> float:
            of = math.log10 if log else float
            return (of(value) - of(min(values))) / (of(max(values)) - of(min(values)))

        want = {(round(share(a, x) * wide), tall - round(tall - tall * share(b, y)))
                for a, b in zip(x, y, strict=True)}
        near = {(a + da, b + db) for a, b in seen for da in (-1, 0, 1) for db in (-1, 0, 1)}
        assert want <= near
        assert len(seen) <= len(x)
        assert len(seen & want) > 0.9 * len(want)


@pytest.mark.parametrize("kind", ["line", "step"])
def test_nothing_is_drawn_where_nothing_was_measured(kind: Kind) -> None:
    whole, gap = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (1.0, 2.0, None, 4.0, None, 6.0)
    x = tuple(map(float, range(6)))
    view = View(cursor=False)
    full, holed = dots(plain(chart(x, whole, kind), view=view)), dots(plain(chart(x, gap, kind), view=view))
    last = max(column for column, _ in full)
    assert {column for column, _ in full} == {*range(last + 1)}
    seen = {column for column, _ in holed}
    for first, end in ((1, 3), (3, 5)):  # between two measured places, without the measured ones
        low, high = round(first * last / 5), round(end * last / 5)
        assert not seen & {*range(low + 2, high - 1)}
    assert reading(chart(x, gap, kind), 2) == "2: –"
    assert reading(chart(x, gap, kind), 3) == "3: 4 tokens"


def test_a_column_shows_the_least_and_the_greatest_of_its_values() -> None:
    """A single peak among 50,000 values is seen."""
    y = tuple(900.0 if n == 31_007 else 1.0 for n in range(50_000))
    seen = dots(plain(chart(tuple(map(float, range(50_000))), y), view=View(cursor=False)))
    top = max(high for _, high in seen)
    columns = {column for column, high in seen if high == top}
    last = max(column for column, _ in seen)
    assert columns == {round(31_007 / 49_999 * last)}


def test_bars_are_as_high_as_their_values() -> None:
    names = tuple("abcdef")
    y = (0.0, 1.0, 4.0, None, 8.0, 2.0)
    bars = chart(tuple(map(float, range(6))), y, "bar", names=names)
    lines = plain(bars, 61, 20, View(cursor=False))
    plot = lines[1:-3]
    eighths = " ▁▂▃▄▅▆▇█"
    axis = lines[-3].index("└")
    for place, value in enumerate(y):
        middle = [n for n, char in enumerate(lines[-3]) if char == "┴"][place]
        height = sum(eighths.index(line[middle]) for line in plot if line[middle] in eighths)
        assert height == round((value or 0) / 8 * 8 * len(plot))
        assert lines[-2][middle] == names[place]
        assert middle > axis
    assert "".join(lines).count(FULL) > 20


@pytest.mark.parametrize("width", [24, 40, 60])
def test_no_label_of_a_small_picture_is_covered(width: int) -> None:
    """Neither the cursor nor a mark covers one, wherever they are."""
    one = chart(tuple(map(float, range(301))), tuple(float(300 - n) for n in range(301)), "line")
    for at in range(0, 301, 7):
        for marks in ((), (Mark(300 - at, "B", on_axis=True),)):
            (axis, _) = plain(replace(one, marks=marks), width, 6, View(at))[-2:]
            labels = re.findall(r"[0-9]+", axis)
            assert labels
            assert all(int(label) in (0, 50, 100, 150, 200, 250, 300) for label in labels), axis


def test_long_names_lie() -> None:
    names = ("Latin", "Devanagari", "Han and others", "日本")
    bars = chart((0.0, 1.0, 2.0, 3.0), (100.0, 3.0, None, 50.0), "bar", names=names)
    spread = plain(bars, 50, 12, View(1))
    assert [n for n, line in enumerate(spread) if not line] == [2, 4, 6]  # no two bars touch
    lines = plain(bars, 50, 8, View(1))
    assert [line for line in spread if line] == lines
    assert FULL not in "".join(lines)
    assert [line.split()[0] for line in lines[1:5]] == ["Latin", "Devanagari", "Han", "日本"]
    assert [line.split()[-1] for line in lines[1:5]] == ["100", "3", "–", "50"]
    assert lines[1].count("▆") == 2 * lines[4].count("▆")
    assert lines[-1].split() == ["ids", "Devanagari:", "3", "tokens"]


def test_a_heat_map_shades_by_value() -> None:
    heat = HeatMap("a", ("x", "y"), ("x", "y"), ((100.0, 25.0), (60.0, None)), Axis("agree", " %", least=0),
        "{row} and {column}: {value}")
    lines = plain(heat, 60, 12, View(2))
    text = "\n".join(lines)
    assert [text.count(shade) > 5 for shade in "█▓▒░"] == [True, True, False, True]
    assert "▸60 %" in text
    assert lines[-1].endswith("y and x: 60 % ")
    assert heat.rows == (("", "x", "y"), ("x", "100 %", "25 %"), ("y", "60 %", ""))
    assert moved(heat, 60, 12, View(2), 1).at == 3
    assert moved(heat, 60, 12, View(2), 0, -1).at == 0
    assert moved(heat, 60, 12, View(3), 9, 9).at == 3


def test_the_words_compare_with_a_share_of_the_place() -> None:
    sizes = Chart("t", Axis("ids"), Axis("tokens"),
        (Series((16_000.0, 32_000.0, 32_001.0), (77_052.0, 72_275.0, 72_274.0)),), ratio=0.5)
    assert reading(sizes, 32_000) == "32k: 72,275 tokens, 6.2 % fewer than 16k"
    assert reading(sizes, 16_000) == "16k: 77,052 tokens"
    assert reading(sizes, 32_001) == "32,001: 72,274 tokens, 6.2 % fewer than 16k"


def test_the_cursor_goes_from_value_to_value() -> None:
    one = Chart("t", Axis("ids"), Axis("tokens"),
        (Series((0.0, 1.0, 50.0, 100.0), (3.0, 2.0, None, 1.0)),), at=0)
    view = View()
    seen = []
    for by in (1, 1, 1, -1, 10**9, -(10**9)):
        view = moved(one, 60, 16, view, by)
        seen.append(view.at)
    assert seen == [1, 100, 100, 1, 100, 0]


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [6, 11, 30, 79])
def test_every_room_is_kept_to_and_safe(kind: Kind, width: int) -> None:
    """All rooms, kinds, axes: no line is wider than its room, all have one width, and text is made safe."""
    values = (0.0, 5.0, None, 1e9, 3.0, -4.0, 1e-9, 2.0, None)
    series = Series(tuple(map(float, range(9))), values, kind, EVIL)
    names = (EVIL, "b", *map(str, range(7)))
    pictures: list[Picture] = [
        Chart(EVIL, Axis(EVIL, EVIL, names=found), Axis(EVIL, EVIL), (series, series),
            (Mark(3, EVIL), Mark(2, EVIL, on_axis=True)))
        for found in ((), names)
    ]
    pictures += [HeatMap(EVIL, (EVIL,) * 3, (EVIL,) * 2, ((1.0, None),) * 3, Axis(EVIL, EVIL)),
                 HeatMap("", (), (), (), Axis("")), chart((), ()), chart((1.0,), (None,)),
                 chart((1.0,), (0.0,), log=True)]
    for picture, height in itertools.product(pictures, (1, 3, 7, 8, 23)):
        for logs in ((None, None), (True, True)):
            lines = draw(picture, width, height, View(None, *logs))
            assert len(lines) <= height
            for line in lines:
                assert all(is_safe(text) for text, _ in line)
                assert sum(cell_width(text) for text, _ in line) <= width
            only = draw(picture, width, height, View(None, *logs), ascii_only=True)
            assert all(text.isascii() for line in only for text, _ in line)


def test_ticks_are_round_and_few() -> None:
    for low, high, most in itertools.product((0, 3, 256, 1e-4), (7, 1000, 50_257, 3e9), (1, 3, 9)):
        if high > low:
            ticks = linear_ticks(low, high, most)
            assert len(ticks) <= most
            assert all(low <= tick <= high * (1 + 1e-9) for tick in ticks)
            assert len({round(b - a, 6) for a, b in itertools.pairwise(ticks)}) <= 1
        if 0 < low < high:
            logs = log_ticks(low, high, most)
            assert len(logs) <= most
            assert all(low <= tick <= high for tick in logs)
    assert [short(tick) for tick in log_ticks(1, 10**6, 4)] == ["1", "100", "10k", "1M"]


def test_a_histogram_counts_everything_once() -> None:
    rng = random.Random(3)
    for most in (4, 16, 30):
        counts = [(value, rng.randrange(9)) for value in sorted(rng.sample(range(1, 300), 40))]
        names, sums = histogram(counts, most)
        assert sum(sums) == sum(count for _, count in counts)
        for name, total in zip(names, sums, strict=True):
            first, _, last = name.partition("–")
            assert total == sum(n for value, n in counts if int(first) <= value <= int(last or first))


def several(*curves: tuple[str, tuple[float, ...]]) -> Chart:
    return Chart("t", Axis("step"), Axis("bytes"), tuple(
        Series(tuple(map(float, range(len(y)))), y, name=name, role=f"column-{n}")
        for n, (name, y) in enumerate(curves)
    ))


def test_each_curve_has_its_name_at_its_end_in_the_order_of_the_values() -> None:
    lines = plain(several(("A", (5, 1, 1)), ("B", (5, 1, 1)), ("C", (5, 8, 9)), ("D", (5, 2))),
                  view=View(cursor=False))
    plot = lines[1:-3]
    ends = [(row, line[-1]) for row, line in enumerate(plot) if line[-1] in "ABCD"]
    assert [name for _, name in ends] == ["C", "A", "B"]
    assert [row for row, _ in ends] == [0, len(plot) - 2, len(plot) - 1]
    (row,) = [row for row, line in enumerate(plot) if "D" in line]
    assert plot[row].index("D") < 50  # it ends at half of the others


def test_curves_that_share_cells_are_all_seen() -> None:
    same = several(("A", (1, 5, 2)), ("B", (1, 5, 2)), ("C", (1, 5, 2)))
    colors = dict.fromkeys(("column-0", "column-1", "column-2"), 0)
    for line in draw(same, 60, 16, View(cursor=False)):
        for text, role in line:
            if any(0x2800 < ord(char) < 0x2900 for char in text):
                colors[role] += 1
    assert min(colors.values()) >= 2
    long = plain(several(("long name", (1, 2)), ("B", (1, 2))))
    assert not any(line[-1] in "eB" for line in long[1:-3])  # the names are in the line above alone


def test_the_rows_are_the_values() -> None:
    two = Chart("t", Axis("step"), Axis("bytes", digits=2),
        (Series((0.0, 2.0), (1.5, None), name="A"), Series((1.0, 2.0), (3.0, 4.25), name="B")))
    assert two.rows == (("step", "A", "B"), ("0", "1.50", ""), ("1", "", "3.00"), ("2", "", "4.25"))
    assert places_of(two) == [0, 1, 2]
