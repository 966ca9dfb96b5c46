"""The screen of one who follows a session: what its teacher sees, and no key that acts on it."""

from __future__ import annotations

import asyncio
import socket
from typing import ClassVar

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widget import Widget

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import seen
from tokentui.core.safetext import safe
from tokentui.session.sharing import LONGEST, Cells, Colour, colour_of, frame_of
from tokentui.ui.guard import Guarded
from tokentui.ui.terminal.app import TerminalApp

_ATTRIBUTES = ("bold", "dim", "italic", "underline", "blink", "blink2", "reverse", "conceal", "strike",
               "underline2", "frame", "encircle", "overline")
"""The attributes in the order of their bits, as Rich names them."""
_STEP = 8
"""Cells by which an arrow moves the part that is seen of a larger screen."""


class Watched(Guarded, Widget):
    """The screen that is followed, or the part of it for which there is room."""

    DEFAULT_CSS = "Watched { width: 100%; height: 100%; }"

    def __init__(self) -> None:
        super().__init__()
        self._full = (0, 0)
        self._rows: dict[int, Strip] = {}
        self._shift = (0, 0)

    def take(self, line: bytes) -> None:
        """Take a picture, or what has changed of it.

        Raises:
            TokentuiError: It is none.
        """
        frame = frame_of(line)
        if (size := (frame.columns, frame.rows)) != self._full:
            self._full, self._rows = size, {}
            self.move(0, 0)
        self._rows |= {y: Strip(map(_segment, runs)) for y, runs in frame.changed.items()}
        self.refresh()

    def move(self, columns: int, rows: int) -> None:
        """Show another part, where the screen that is followed is larger than this one."""
        wide, high = self._full
        x, y = self._shift[0] + columns, self._shift[1] + rows
        self._shift = max(0, min(x, wide - self.size.width)), max(0, min(y, high - self.size.height))
        self.refresh()

    @property
    def cut(self) -> bool:
        """True if only a part of the screen that is followed is seen."""
        return self._full[0] > self.size.width or self._full[1] > self.size.height

    def render_line(self, y: int) -> Strip:
        """A line of cells."""
        width, height = self.size
        if not self._full[0]:
            words = "waiting for the screen of the session …" if y == 0 else ""
            return Strip([Segment(words)]).adjust_cell_length(width)
        if self.cut and y == height - 1:
            wide, high = self._full
            words = f" a part of {wide}x{high}: arrows move it, or make this terminal larger · q leaves"
            return Strip([Segment(words, Style(reverse=True))]).adjust_cell_length(width)
        strip = self._rows.get(y + self._shift[1], Strip.blank(0))
        return strip.crop(self._shift[0], self._shift[0] + width).adjust_cell_length(width)


class FollowApp(TerminalApp):
    """Shows the screen of a session until that ends, or the follower leaves.

    Args:
        line: The line on which its pictures come.
    """

    CSS = "Screen { overflow: hidden; }"
    TITLE = "tokentui"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,ctrl+c,ctrl+q", "quit", "leave", priority=True)]

    def __init__(self, line: socket.socket) -> None:
        super().__init__()
        self._line = line
        self.watched = Watched()
        self.ended = False
        """True if the session has ended, or its line was lost."""
        self.wrong: TokentuiError | None = None
        """The fault of what came."""

    def compose(self) -> ComposeResult:
        """The screen that is followed."""
        yield self.watched

    def on_mount(self) -> None:
        """Begin to watch."""
        self.watch_failures()
        self._watching = asyncio.create_task(self._watch(), name="tokentui follow")
        self._watching.add_done_callback(seen)

    async def _watch(self) -> None:
        reader, writer = await asyncio.open_connection(sock=self._line, limit=LONGEST)
        try:
            while line := await reader.readline():
                self.watched.take(line)
        except (OSError, ValueError):  # the line is lost, or has no end
            pass
        except TokentuiError as error:
            self.wrong = error
        finally:
            writer.transport.abort()
        self.ended = True
        self.exit()

    def on_key(self, event: events.Key) -> None:
        """Arrows move the part that is seen."""
        ways = {"left": (-_STEP, 0), "right": (_STEP, 0), "up": (0, -_STEP), "down": (0, _STEP)}
        if event.key in ways and self.watched.cut:
            self.watched.move(*ways[event.key])

    def on_resize(self) -> None:
        """Keep within the screen that is followed."""
        self.watched.move(0, 0)

    def on_unmount(self) -> None:
        """Leave the line."""
        self._watching.cancel()


def _segment(run: Cells) -> Segment:
    on = " ".join(name for bit, name in enumerate(_ATTRIBUTES) if run.attributes >> bit & 1)
    colours = Style.from_color(_colour(colour_of(run.ink)), _colour(colour_of(run.ground)))
    return Segment(safe("".join(run.texts)), Style.parse(on) + colours)


def _colour(colour: Colour | None) -> Color | None:
    if colour is None:
        return None
    number, red, green, blue = colour
    return Color.from_ansi(number) if number >= 0 else Color.from_rgb(red, green, blue)


def follow(line: socket.socket) -> tuple[int, bool]:
    """Show the screen of a session.

    Args:
        line: The line on which its pictures come.

    Returns:
        The exit code, and whether the session ended before the follower left.

    Raises:
        TokentuiError: What comes is no session.
    """
    app = FollowApp(line)
    code = app.run_on_terminal()
    if app.wrong is not None:
        raise app.wrong
    return code, app.ended
