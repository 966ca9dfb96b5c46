"""Characters that are drawn as shapes: lines, blocks and dots.

Fonts draw them with gaps between rows, or lack them: no common font for code has all dots of Braille. The
shapes of lines are read from the Unicode names of the characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_LIGHT, _HEAVY, _DOUBLE = 1.2, 2.6, 1.0
_WEIGHTS = {"LIGHT": _LIGHT, "SINGLE": _LIGHT, "HEAVY": _HEAVY, "DOUBLE": 0.0}
_SIDES = {
    "UP": ("up",), "DOWN": ("down",), "LEFT": ("left",), "RIGHT": ("right",),
    "VERTICAL": ("up", "down"), "HORIZONTAL": ("left", "right"),
}
_DASHES = {"DOUBLE DASH": 2, "TRIPLE DASH": 3, "QUADRUPLE DASH": 4}
_APART = 3.0
"""The distance between the two strokes of a double line."""
_DOT = 2.4
_SHADES = {"░": 0.25, "▒": 0.5, "▓": 0.75}
_QUADRANTS = {
    "▖": "3", "▗": "4", "▘": "1", "▙": "134", "▚": "14", "▛": "123", "▜": "124", "▝": "2", "▞": "23",
    "▟": "234",
}
_POINTERS = {"▸": "r", "▶": "r", "◂": "l", "◀": "l"}


class Shape(NamedTuple):
    """A part of a character, as an SVG path.

    Attributes:
        path: The commands of the path, from the upper left corner of the cell on.
        stroke: The width of its line; 0 for an area that is filled.
        opacity: How much of the color it takes, 0 to 1.
    """

    path: str
    stroke: float = 0.0
    opacity: float = 1.0


def number(value: float) -> str:
    """Return a coordinate as text, rounded to a tenth."""
    return f"{round(value, 1):g}"


def is_drawn(char: str) -> bool:
    """Return whether a character is drawn as shapes: a line, a block, a Braille pattern or a pointer."""
    return "─" <= char <= "▟" or "⠀" <= char <= "⣿" or char in _POINTERS


@lru_cache(4096)
def shapes_of(char: str, x: float, y: float, width: float, height: float) -> tuple[Shape, ...]:
    """Return the shapes of a character in a cell.

    Args:
        char: A character of which `is_drawn` is true.
        x: The left edge of the cell.
        y: Its upper edge.
        width: Its width.
        height: Its height.
    """
    if char in _POINTERS:
        return (_pointer(_POINTERS[char], x, y, width, height),)
    if char >= "⠀":
        return tuple(_dots(ord(char) - ord("⠀"), x, y, width, height))
    if char >= "▀":
        return tuple(_blocks(char, x, y, width, height))
    return tuple(_lines(unicodedata.name(char, ""), x, y, width, height))


def _pointer(side: str, x: float, y: float, width: float, height: float) -> Shape:
    """Return a small triangle in the middle of a cell that points right for "r", left for "l"."""
    half, tip = width * 0.42, width * 0.72
    left, middle = x + (width - tip) / 2, y + height / 2
    flat, point = (left, left + tip) if side == "r" else (left + tip, left)
    return Shape(f"M{number(flat)},{number(middle - half)}L{number(point)},{number(middle)}"
                 f"L{number(flat)},{number(middle + half)}z")


def _dots(bits: int, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
    """Yield the dots of Braille, two columns of four."""
    places = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
    path = "".join(
        f"M{number(x + width * (column + 0.5) / 2)},{number(y + height * (row + 0.5) / 4)}h0"
        for bit, (column, row) in enumerate(places) if bits >> bit & 1
    )
    if path:
        yield Shape(path, _DOT)


def _blocks(char: str, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
    """Yield the areas of a block, from U+2580 to U+259F."""
    eighths = ord(char) - ord("▀")
    if char in _SHADES:
        yield Shape(_area(x, y, width, height), opacity=_SHADES[char])
    elif char in _QUADRANTS:
        for place in _QUADRANTS[char]:
            left, top = x + width / 2 * (place in "24"), y + height / 2 * (place in "34")
            yield Shape(_area(left, top, width / 2, height / 2))
    elif char == "▀":
        yield Shape(_area(x, y, width, height / 2))
    elif char in "▐▕":
        part = width * (0.5 if char == "▐" else 0.125)
        yield Shape(_area(x + width - part, y, part, height))
    elif char == "▔":
        yield Shape(_area(x, y, width, height / 8))
    elif eighths <= 8:
        yield Shape(_area(x, y + height * (8 - eighths) / 8, width, height * eighths / 8))
    else:
        yield Shape(_area(x, y, width * (16 - eighths) / 8, height))


def _area(x: float, y: float, width: float, height: float) -> str:
    return f"M{number(x)},{number(y)}h{number(width)}v{number(height)}h{number(-width)}z"


def _lines(name: str, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
    """Yield the strokes of a line, by its Unicode name, such as BOX DRAWINGS VERTICAL AND RIGHT HEAVY."""
    words = name.removeprefix("BOX DRAWINGS ")
    middle, center = x + width / 2, y + height / 2
    if "DIAGONAL" in words:
        rising, falling = f"M{number(x)},{number(y + height)}L{number(x + width)},{number(y)}", \
            f"M{number(x)},{number(y)}L{number(x + width)},{number(y + height)}"
        yield Shape({True: rising, False: falling}["UPPER RIGHT" in words] if "CROSS" not in words
                    else rising + falling, _LIGHT)
        return
    dashes = next((count for dash, count in _DASHES.items() if dash in words), 1)
    for dash in _DASHES:
        words = words.replace(dash, "")
    weights = _weights(words)
    if " ARC " in f" {words} ":
        sideways = width / 2 * (1 if "right" in weights else -1)
        along = height / 2 * (1 if "down" in weights else -1)
        bend = min(width, height) / 2
        yield Shape(
            f"M{number(middle)},{number(center + along)}V{number(center + bend * (1 if along > 0 else -1))}"
            f"Q{number(middle)},{number(center)} {number(middle + sideways)},{number(center)}", _LIGHT)
        return
    doubled = 0.0 in weights.values()
    for side, weight in weights.items():
        reach = _APART / 2 * (1 if side in ("right", "down") else -1) if doubled else 0.0
        for aside in (-_APART / 2, _APART / 2) if not weight else (0.0,):
            yield _stroke(side, middle, center, x, y, width, height, weight or _DOUBLE, aside, reach, dashes)


def _weights(words: str) -> dict[str, float]:
    """Return the weight of each side that a line goes to; 0 for a double line."""
    clauses, found, first = words.split(" AND "), {}, _LIGHT
    for place, clause in enumerate(clauses):
        weight = next((_WEIGHTS[word] for word in clause.split() if word in _WEIGHTS), None)
        if not place:
            first = _LIGHT if weight is None else weight
        for word in clause.split():
            for side in _SIDES.get(word, ()):
                found[side] = first if weight is None else weight
    return found


def _stroke(
    side: str, middle: float, center: float, x: float, y: float, width: float, height: float,
    weight: float, aside: float, reach: float, dashes: int,
) -> Shape:
    """Return the stroke from the center of a cell to a side.

    Args:
        side: `left`, `right`, `up` or `down`.
        middle: The horizontal center of the cell.
        center: Its vertical center.
        x: Its left edge.
        y: Its upper edge.
        width: Its width.
        height: Its height.
        weight: The width of the stroke.
        aside: The distance of the stroke from the center line.
        reach: How far it begins beyond the center, against its direction.
        dashes: The number of dashes in the cell; 1 for a solid line.
    """
    flat = side in ("left", "right")
    start, end = (middle, x if side == "left" else x + width) if flat else \
        (center, y if side == "up" else y + height)
    start -= reach
    across = (center if flat else middle) + aside
    if dashes == 1:
        spans = [(start, end)]
    else:
        # Half of the dashes are on each side of the center; an odd one lies on it.
        step = (width if flat else height) / dashes
        first = x if flat else y
        cuts = [(first + step * (n + 0.2), first + step * (n + 0.8)) for n in range(dashes)]
        low, high = min(start, end), max(start, end)
        spans = [(max(low, one), min(high, other)) for one, other in cuts if other > low and one < high]
    return Shape("".join(
        f"M{number(one)},{number(across)}H{number(other)}" if flat
        else f"M{number(across)},{number(one)}V{number(other)}" for one, other in spans), weight)
