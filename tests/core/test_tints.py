"""Each token gets its tint, and people can distinguish the tints."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys

import pytest
from color_blindness import least_distance
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color

from tokentui.core.colors import contrast, distance, lab_distance
from tokentui.core.tints import COUNT, DARK, DARK_TEXT, LIGHT, LIGHT_TEXT, Tint, tints

SETS = {"dark": (DARK, DARK_TEXT, "#121212"), "light": (LIGHT, LIGHT_TEXT, "#eeeeee")}


@given(st.lists(st.integers(0, 9), max_size=40), st.sampled_from([None, *range(COUNT)]))
def test_neighbors_differ(lengths: list[int], before: int | None) -> None:
    found = tints(itertools.accumulate(lengths, initial=0), before)
    assert set(found) <= set(range(COUNT))
    assert all(a != b for a, b in itertools.pairwise([before, *found]))


def test_a_tint_comes_from_the_offset() -> None:
    assert tints(range(9)) == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert tints([0, 3, 5, 6, 11]) == [0, 3, 1, 2, 3]
    assert tints([0, 4, 8, 12]) == [0, 3, 0, 3]
    assert tints([5], before=1) == [0]
    assert tints([]) == []


def test_a_merge_changes_few_tints() -> None:
    """On average a merge changes the tint of less than one token besides the merged one."""
    random.seed(5)
    changed = 0
    for _ in range(1000):
        starts = list(itertools.accumulate(random.choices(range(1, 7), k=60), initial=0))
        gone = random.randrange(1, 60)
        merged = starts[:gone] + starts[gone + 1 :]
        before, after = (dict(zip(row, tints(row), strict=True)) for row in (starts, merged))
        changed += sum(before[start] != tint for start, tint in after.items())
    assert changed < 800


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("few", [False, True])
def test_tints_are_told_apart(name: str, few: bool) -> None:
    """From one another and from the background, by color-blind people too; text on each can be read."""
    found, text, background = SETS[name]
    colors = [tint.cube if few else tint.color for tint in found]
    assert len(colors) == COUNT
    for first, second in itertools.combinations([*colors, background], 2):
        assert distance(first, second) >= 8
        assert least_distance(first, second) >= 5
    assert min(contrast(color, text.cube if few else text.color) for color in colors) >= 4.5


@pytest.mark.parametrize("tint", [*DARK, *LIGHT, DARK_TEXT, LIGHT_TEXT])
def test_the_entries_of_the_palette_are_right(tint: Tint) -> None:
    assert Color.from_ansi(tint.number).get_truecolor().hex == tint.cube


# The figures are those that Sharma, Wu and Dalal publish with the formula (2005).
@pytest.mark.parametrize(("first", "second", "expected"), [
    ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
    ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
    ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0009), 7.1792),
    ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0011), 7.2195),
    ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
    ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
])
def test_distances_are_the_published_ones(
    first: tuple[float, float, float], second: tuple[float, float, float], expected: float
) -> None:
    assert lab_distance(first, second) == pytest.approx(expected, abs=5e-5)
    assert lab_distance(second, first) == pytest.approx(expected, abs=5e-5)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)
    assert contrast("#aabbcc", "#aabbcc") == 1


def test_the_tints_cost_nothing_to_import() -> None:
    code = ("import sys, tokentui.core.tints; print(sorted(name for name in sys.modules "
        "if name.partition('.')[0] in ('tokentui', 'textual', 'rich', 'numpy')))")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['tokentui', 'tokentui.core', 'tokentui.core.tints']"
