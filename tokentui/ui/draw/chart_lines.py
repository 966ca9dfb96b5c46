"""The widget of pictures: it draws a chart or a heat map, and its keys read values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tokentui.core.chart import Chart, Picture, places_of
from tokentui.core.chart_drawing import FULL, LYING, View, draw, is_log, moved
from tokentui.ui.bindings import FAR, Hint
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell, Run

_FAR = 10
_CURSOR, _LOG = Hint("cursor", rank=4, count=2), Hint("log", rank=8, count=2)


class ChartLines(Lines, can_focus=True):
    """A picture with a cursor that keys move. Enter posts `Chosen`; its parent then shows the rows behind the
    picture.

    Args:
        id: The id of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "rows", id="chart_rows", group=Hint(rank=7),
            tooltip="Show the rows behind the picture, or the picture again"),
        Binding("left,h", "sideways(-1)", "cursor", id="chart_left", group=_CURSOR,
            tooltip="Move the cursor left or right"),
        Binding("right,l", "sideways(1)", "next cursor", id="chart_right", group=_CURSOR,
            tooltip="Move the cursor left or right"),
        Binding("pageup", f"sideways({-_FAR})", "far left", id="chart_back",
            tooltip="Move the cursor left by ten columns"),
        Binding("pagedown", f"sideways({_FAR})", "far right", id="chart_on",
            tooltip="Move the cursor right by ten columns"),
        Binding("home", f"sideways({-FAR})", "first", id="chart_first",
            tooltip="Move the cursor to the start"),
        Binding("end", f"sideways({FAR})", "last", id="chart_last",
            tooltip="Move the cursor to the end"),
        Binding("up,k", "upright(-1)", "up", id="chart_up", tooltip="Move the cursor up"),
        Binding("down,j", "upright(1)", "down", id="chart_down", tooltip="Move the cursor down"),
        Binding("x", "turn_log('x')", "log", id="chart_x_log", group=_LOG,
            tooltip="Make an axis logarithmic or linear: x the one below, X the one at the left"),
        Binding("X", "turn_log('y')", "log", id="chart_y_log", group=_LOG,
            tooltip="Make an axis logarithmic or linear: x the one below, X the one at the left"),
    ]

    DEFAULT_CSS = """
    ChartLines { height: 1fr; }
    """

    class Chosen(Message):
        """`enter` was pressed on the picture."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.picture: Picture | None = None
        self.view = View()
        """The cursor and the scales of the axes."""

    def show_picture(self, picture: Picture | None) -> None:
        """Show a picture; None for none. It keeps the view if its title is that of the picture before."""
        before, self.picture = self.picture, picture
        if before is None or picture is None or before.title != picture.title:
            self.view = View()
        self.again()

    @property
    def turns(self) -> bool:
        """True if an axis can be switched between logarithmic and linear."""
        return any(turned_log(self.picture, self.view, axis) is not None for axis in "xy")

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Return the lines of the picture; none without one."""
        return [] if self.picture is None else [*map(solid, draw(self.picture, width, height, self.view))]

    def look(self, view: View) -> None:
        """Draw the picture in another view."""
        self.view = view
        self.again()

    def action_choose(self) -> None:
        """Post `Chosen`."""
        self.post_message(self.Chosen())

    def action_sideways(self, by: int) -> None:
        """Move the cursor by columns, to the nearest position with a value."""
        self._move(by, 0)

    def action_upright(self, by: int) -> None:
        """Move the cursor by lines, if the picture has lines."""
        self._move(0, by)

    def _move(self, columns: int, rows: int) -> None:
        if self.picture is not None:
            self.look(moved(self.picture, self.size.width, self.size.height, self.view, columns, rows))

    def action_turn_log(self, axis: str) -> None:
        """Switch an axis, `x` or `y`, between logarithmic and linear; show a message if it cannot be
        logarithmic."""
        turned = turned_log(self.picture, self.view, axis)
        if turned is None:
            self.app.say("this axis cannot be logarithmic: it has names, or no value above 0")
        else:
            self.look(turned)


def turned_log(picture: Picture | None, view: View, axis: str) -> View | None:
    """Return the view with an axis, `x` or `y`, switched between logarithmic and linear; None if the picture
    is no chart, or the axis has names or no value above zero."""
    if not isinstance(picture, Chart):
        return None
    if axis == "x":
        can = not picture.x.names and any(place > 0 for place in places_of(picture))
        return view._replace(x_log=not is_log(picture.x, view.x_log)) if can else None
    can = any(value is not None and value > 0 for series in picture.series for value in series.y)
    return view._replace(y_log=not is_log(picture.y, view.y_log)) if can else None


_BLOCKS = {FULL: "cursor", LYING: "lying"}
"""The styles of blanks that stand for blocks."""


def solid(line: Iterable[Run]) -> Cell:
    """Return a line with its blocks as spaces in reverse, which take one byte each instead of three. An
    underline in such spaces separates horizontal bars."""
    return tuple((" " * len(text), f"{style}+{_BLOCKS[text[0]]}")
                 if text and text[0] in _BLOCKS and set(text) == {text[0]} else (text, style)
                 for text, style in line)
