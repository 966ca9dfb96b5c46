"""Where the columns of a table stand, which give way where there is little room, and its scroll bar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

GAP = 1
"""Blank columns of the terminal between two columns of a table."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Either `width` is set, or `flex`: its share of what the others leave, at least `min_width`. When the table
    is narrow, columns of the lowest priority vanish first, of equal ones the rightmost.
    """

    title: str = ""
    width: int = 0
    flex: int = 0
    align: Literal["left", "right"] = "left"
    min_width: int = 1
    priority: int = 0


class Place(NamedTuple):
    """A column that is drawn: its number, its width, and the blanks behind it."""

    column: int
    width: int
    gap: int


@lru_cache(512)
def place_columns(
    columns: tuple[Column, ...], room: int, empty: frozenset[int] = frozenset()
) -> tuple[Place, ...]:
    """The columns that fit into so much room, from the left. The last one left is cut, not dropped.

    Args:
        columns: The columns of the table.
        room: The columns of the terminal.
        empty: The columns that a row leaves empty: each gives its room to the one at its left, unless that is
            set to the right, so that figures stay below each other.
    """
    shown = list(range(len(columns)))
    least = [column.min_width if column.flex else column.width for column in columns]
    while len(shown) > 1 and sum([least[n] + GAP for n in shown]) - GAP > room:
        shown.remove(min(reversed(shown), key=lambda n: columns[n].priority))
    if not shown or room <= 0:
        return ()
    widths = {n: least[n] for n in shown}
    spare = room - sum(widths.values()) - GAP * (len(shown) - 1)
    if spare < 0:
        widths[shown[0]] = room
    else:
        flexible = [n for n in shown if columns[n].flex]
        whole = spare + sum([widths[n] for n in flexible])
        # Whoever would get less than its least gets that; the others share what is left.
        while short := [
            n
            for n in flexible
            if whole * columns[n].flex // sum([columns[m].flex for m in flexible]) < least[n]
        ]:
            whole -= sum([least[n] for n in short])
            flexible = [n for n in flexible if n not in short]
        for at, n in enumerate(flexible):
            widths[n] = whole * columns[n].flex // sum([columns[m].flex for m in flexible[at:]])
            whole -= widths[n]
    out: list[Place] = []
    for n in shown:
        place = Place(n, widths[n], 0 if n == shown[-1] else GAP)
        if out and n in empty and columns[out[-1].column].align == "left":
            left = out.pop()
            place = Place(left.column, left.width + left.gap + place.width, place.gap)
        out.append(place)
    return tuple(out)


def thumb(top: int, lines: int, total: int) -> tuple[int, int]:
    """The lines of the bar that are drawn, as (first, last + 1): at an end only when the view is there."""
    size = max(1, lines * lines // total)
    slack = total - lines
    place = (top * (lines - size) + slack // 2) // slack if slack > 0 else 0
    if lines - size > 1:
        place = 0 if top == 0 else lines - size if top == slack else max(1, min(lines - size - 1, place))
    return place, place + size
