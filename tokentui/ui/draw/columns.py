"""Where the columns of a table stand when there is room, and which give way when there is not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
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

    @property
    def least(self) -> int:
        """The columns of the terminal without which it vanishes."""
        return self.min_width if self.flex else self.width


class Place(NamedTuple):
    """A column that is drawn: its number, its width, and the blanks behind it."""

    column: int
    width: int
    gap: int


def place_columns(columns: Sequence[Column], room: int) -> list[Place]:
    """The columns that fit into so much room, from the left. The last one left is cut, not dropped."""
    shown = list(range(len(columns)))
    while len(shown) > 1 and sum(columns[n].least + GAP for n in shown) - GAP > room:
        shown.remove(min(reversed(shown), key=lambda n: columns[n].priority))
    if not shown or room <= 0:
        return []
    widths = {n: columns[n].least for n in shown}
    spare = room - sum(widths.values()) - GAP * (len(shown) - 1)
    if spare < 0:
        widths[shown[0]] = room
    else:
        flexible = [n for n in shown if columns[n].flex]
        widths |= _shares(columns, flexible, spare + sum(widths[n] for n in flexible))
    return [Place(n, widths[n], 0 if n == shown[-1] else GAP) for n in shown]


def without_empty(columns: Sequence[Column], places: Sequence[Place], empty: Collection[int]) -> list[Place]:
    """The places of a row some of whose columns are empty: these give theirs to the column at their left.

    What stands at the right edge of its column takes nothing, so that figures stay below each other.
    """
    out: list[Place] = []
    for place in places:
        if out and place.column in empty and columns[out[-1].column].align == "left":
            left = out.pop()
            place = Place(left.column, left.width + left.gap + place.width, place.gap)
        out.append(place)
    return out


def _shares(columns: Sequence[Column], flexible: list[int], whole: int) -> dict[int, int]:
    """The widths of flexible columns that have so much together, which is enough for the least of each."""
    widths: dict[int, int] = {}
    while flexible:
        total = sum(columns[n].flex for n in flexible)
        short = [n for n in flexible if whole * columns[n].flex // total < columns[n].least]
        if not short:
            break
        for n in short:
            widths[n] = columns[n].least
            whole -= widths[n]
            flexible = [m for m in flexible if m != n]
    for n in flexible:
        widths[n] = whole * columns[n].flex // sum(columns[m].flex for m in flexible if m not in widths)
        whole -= widths[n]
    return widths
