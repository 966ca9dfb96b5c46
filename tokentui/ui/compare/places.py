"""Where the panes of Compare stand in so much room, and which give way to others. No widget in here."""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS = "columns"
ENCODE = "encode"
PANES: dict[str, tuple[str, str]] = {
    COLUMNS: ("1 Columns", "1 Columns"),
    "parting": ("2 Parting", "2 Part"),
    "vocabulary": ("3 Vocabulary", "3 Vocab"),
    ENCODE: ("4 Encode", "4 Encode"),
    "measures": ("5 Measures", "5 Measures"),
    "agreement": ("6 Agreement", "6 Agree"),
    "curves": ("7 Curves", "7 Curves"),
}
"""The panes in the order of their keys: a title, and a short one."""

LEAST_WIDTH, LEAST_HEIGHT = 40, 10
"""Below this nothing but a line is shown."""

_ALONE_WIDTH, _ALONE_HEIGHT = 60, 20
_TALL = 30
_BROAD = 160
_LEFT, _RIGHT = ("parting", "vocabulary"), ("measures", "agreement", "curves")


@dataclass(frozen=True, slots=True)
class Places:
    """Which panes share a place; of each group one is seen.

    Args:
        groups: The groups, from top to bottom and from the left.
        tall: Whether there is room for more than the least of each pane.
    """

    groups: tuple[tuple[str, ...], ...]
    tall: bool = False

    def group_of(self, pane: str) -> tuple[str, ...]:
        """The panes that share a place with this one, itself among them."""
        return next(group for group in self.groups if pane in group)


def places(width: int, height: int, zoomed: bool = False) -> Places | None:
    """Where the panes stand in so much room, None where there is too little for any.

    Args:
        width: The columns of the terminal.
        height: Its lines.
        zoomed: Whether one pane has it all.
    """
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return None
    if zoomed or width < _ALONE_WIDTH or height < _ALONE_HEIGHT:
        return Places((tuple(PANES),), height >= _TALL)
    if height < _TALL:
        return Places(((COLUMNS,), (*_LEFT, ENCODE, *_RIGHT)))
    if width < _BROAD:
        return Places(((COLUMNS,), (ENCODE,), (*_LEFT, *_RIGHT)), True)
    return Places(((COLUMNS,), (ENCODE,), _LEFT, _RIGHT), True)


def titles(group: tuple[str, ...], seen: str, width: int) -> list[tuple[str, bool]]:
    """What stands in the title of a pane: the names of all that share its place, as long as there is room.

    Args:
        group: The panes.
        seen: The one that is seen.
        width: The columns of its box.
    """
    for n in (0, 1):
        names = [PANES[pane][n] for pane in group]
        if sum(map(len, names)) + 3 * len(names) + 12 <= width:
            return [(name, pane == seen) for name, pane in zip(names, group, strict=True)]
    return [(PANES[pane][1] if pane == seen else PANES[pane][1][0], pane == seen) for pane in group]
