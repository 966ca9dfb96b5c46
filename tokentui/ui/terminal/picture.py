"""A screen as a grid of cells, filled from the lines that Textual draws."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rich.color import Color, ColorSystem, ColorType
from rich.color_triplet import ColorTriplet
from rich.palette import Palette
from rich.style import Style
from textual.strip import Strip

from tokentui.ui.draw.text import cell_len, clusters_of
from tokentui.ui.terminal import ChopsUpdate, LayoutUpdate, attributes_of

# The styles of cells on a terminal, and the shortest sequences that set them.


_ON = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "21", "51", "52", "53")
"""The parameters that set Rich's attributes, in Rich's order.

They are bold, dim, italic, underline, blink, fast blink, reverse, conceal, strike, ...
"""
_OFF = ("22", "22", "23", "24", "25", "25", "27", "28", "29", "24", "54", "54", "55")
"""The parameters that reset them; bold and dim share one."""
_FIRST_FIXED = 16
"""The colours of the palette below this are the user's own, and may be any."""


class Pen(NamedTuple):
    """The style of a cell: a bit for each attribute, and the parameters that set its two colours.

    Empty parameters stand for the terminal's own colours.
    """

    attributes: int = 0
    ink: str = ""
    ground: str = ""


PLAIN = Pen()
"""The terminal's own look."""


_FIXED: list[tuple[int, int, int]] = [
    Color.from_ansi(number).get_truecolor() for number in range(_FIRST_FIXED, 256)
]
_NUMBERS = {colour: number for number, colour in reversed(list(enumerate(_FIXED, _FIRST_FIXED)))}
_FIXED_PALETTE = Palette(_FIXED)


@lru_cache(4096)
def pen_of(style: Style | None, system: ColorSystem) -> Pen:
    """The pen of a style on a terminal with so many colours. What does not show (links, actions) makes no
    difference.
    """
    if style is None:
        return PLAIN
    return Pen(attributes_of(style), _parameters(style.color, system, True),
        _parameters(style.bgcolor, system, False))


def _parameters(colour: Color | None, system: ColorSystem, ink: bool) -> str:
    if colour is None or colour.type is ColorType.DEFAULT:
        return ""
    if (
        colour.type is ColorType.TRUECOLOR
        and colour.triplet is not None
        and system is not ColorSystem.STANDARD
    ):
        number = _NUMBERS.get((colour.triplet.red, colour.triplet.green, colour.triplet.blue))
        if number is None and system is ColorSystem.EIGHT_BIT:
            # Rich rounds each channel, which makes dark greys blue; the nearest colour to the eye is another.
            number = _nearest(colour.triplet)
        if number is not None:
            # shorter than three channels, where it is the same colour
            return f"{38 if ink else 48};5;{number}"
    return ";".join(colour.downgrade(system).get_ansi_codes(ink))


@lru_cache(1024)
def _nearest(colour: ColorTriplet) -> int:
    return _FIRST_FIXED + _FIXED_PALETTE.match(tuple(colour))


@lru_cache(8192)
def change(before: Pen, after: Pen) -> str:
    """The sequence that turns one pen into another, as short as can be."""
    if before == after:
        return ""
    codes = _codes(after.attributes)
    anew = ";".join(["0", *codes, *filter(None, (after.ink, after.ground))]) if after != PLAIN else ""
    gone = before.attributes & ~after.attributes
    more = after.attributes & ~before.attributes
    off = dict.fromkeys(_OFF[bit] for bit in range(len(_OFF)) if gone >> bit & 1)
    # What shares its way off with something that stays has to be set again.
    again = [code for bit, code in enumerate(_ON) if after.attributes & ~more & (1 << bit)
        and _OFF[bit] in off]
    parts = [*off, *again, *_codes(more)]
    if before.ink != after.ink:
        parts.append(after.ink or "39")
    if before.ground != after.ground:
        parts.append(after.ground or "49")
    some = ";".join(parts)
    return f"\x1b[{min(anew, some, key=len)}m"


def _codes(attributes: int) -> list[str]:
    return [code for bit, code in enumerate(_ON) if attributes >> bit & 1]


_ON_BLANKS = 0b1_1111_0100_1000
"""The attributes that show where nothing is written: underline, reverse, strike, the second underline, frame,
encircle and overline."""


@lru_cache(4096)
def blank(pen: Pen) -> Pen:
    """The pen of a blank cell: of its ink and its weight nothing is seen."""
    return pen if pen.attributes & _ON_BLANKS else Pen(ground=pen.ground)


# Cells.

_SINGLE = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0373\u0391-\u03a1\u03a3-\u0481"
    "\u2010-\u2026\u2190-\u21ff\u2500-\u25fc]*"
)
"""Text of which each character is a cell: no table has to be asked."""


@dataclass(slots=True)
class Row:
    """A line of cells: what each shows and how. The first cell of a cluster has all of it, the others nothing
    (`""`).
    """

    texts: list[str]
    pens: list[Pen]

    @classmethod
    def blank(cls, width: int, pen: Pen = PLAIN) -> Row:
        """Cells that show nothing."""
        return cls([" "] * width, [pen] * width)

    def copy(self) -> Row:
        """The same cells again."""
        return Row(self.texts.copy(), self.pens.copy())


class Picture:
    """The contents that the screen should have.

    Args:
        width: Its size in cells.
        height: Its size in rows.
        system: The number of colours, as a system of Rich.
    """

    def __init__(self, width: int, height: int, system: ColorSystem) -> None:
        self.width, self.height = width, height
        self.system = system
        self.rows = [Row.blank(width) for _ in range(height)]
        self.changed = set(range(height))
        """The rows that were drawn to since they were last sent; all of a new picture."""

    def draw(self, update: LayoutUpdate | ChopsUpdate) -> None:
        """Take what Textual wants to be shown."""
        if isinstance(update, LayoutUpdate):
            for y, strips in enumerate(update.strips, update.region.y):
                self._draw_line(update.region.x, y, strips)
            return
        for y, left, right in update.spans:
            for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
                if strip is not None and x <= right and end > left:
                    self._draw_line(x, y, (strip,), min(end, right) - x)

    def _draw_line(self, x: int, y: int, strips: Iterable[Strip], most: int | None = None) -> None:
        if not (0 <= y < self.height and 0 <= x < self.width):
            return
        texts: list[str] = []
        pens: list[Pen] = []
        for strip in strips:
            for text, style, control in strip:
                if control:
                    continue
                pen = pen_of(style, self.system)
                if _SINGLE.fullmatch(text):
                    texts += text
                    pens += [pen] * len(text)
                else:
                    self._add(text, pen, texts, pens)
        room = self.width - x if most is None else min(most, self.width - x)
        if len(texts) > room:
            del texts[room:], pens[room:]
        _mend_edge(texts)
        pens = [blank(pen) if text == " " else pen for text, pen in zip(texts, pens, strict=True)]
        row = self.rows[y]
        end = x + len(texts)
        if row.texts[x:end] != texts or row.pens[x:end] != pens:
            # A cluster that is drawn over in part is gone as a whole.
            left, right = x, end
            while left and row.texts[left] == "":
                left -= 1
            while right < self.width and row.texts[right] == "":
                row.texts[right] = " "
                right += 1
            row.texts[left:x] = [" "] * (x - left)
            row.texts[x:end] = texts
            row.pens[x:end] = pens
            self.changed.add(y)

    def _add(self, text: str, pen: Pen, texts: list[str], pens: list[Pen]) -> None:
        """Put the cells of a text behind others of its line."""
        for cluster, width in clusters_of(text):
            if not width or _goes_on(cluster):
                head = _head(texts)
                if head >= 0 and _takes_marks(texts[head]):
                    texts[head] += cluster
                    texts += [""] * width
                    pens += [pens[head]] * width
                else:  # what it stood on is not there
                    texts += " " * width
                    pens += [pen] * width
                continue
            texts += (cluster, *[""] * (width - 1))
            pens += [pen] * width


def _goes_on(cluster: str) -> bool:
    """True if a cluster consists of marks only: they belong to a character drawn in another style."""
    return all(unicodedata.category(char)[0] == "M" for char in cluster)


def _takes_marks(cell: str) -> bool:
    return unicodedata.category(cell[0])[0] in "LMN" or cell[
        0] in "\N{DOTTED CIRCLE}\N{NO-BREAK SPACE}" or cell >= "\U0001f000"


def _head(texts: list[str]) -> int:
    """The cell that has the last cluster; -1 where there is none."""
    return next((place for place in range(len(texts) - 1, -1, -1) if texts[place]), -1)


def _mend_edge(texts: list[str]) -> None:
    """A cluster cut off at the right edge has no room."""
    head = _head(texts)
    if head >= 0 and not texts[head].isascii() and head + cell_len(texts[head]) > len(texts):
        texts[head:] = [" "] * (len(texts) - head)


# The abilities of a terminal according to its environment.


_MONOCHROME = ("vt52", "vt100", "vt102", "vt220", "ansi-m", "xterm-mono")
_NO_SECOND_SCREEN = ("linux", "vt52", "vt100", "vt102", "vt220", "ansi-m")

_CLEARS_IN_COLOUR = ("xterm", "linux", "rxvt", "alacritty", "foot", "konsole", "vte")
"""The name prefixes of terminals that clear cells with the background of the pen (terminfo "bce")."""


def monochrome(environ: Mapping[str, str]) -> bool:
    """True if the terminal has no colours."""
    return environ.get("TERM", "").lower() in _MONOCHROME


def has_second_screen(environ: Mapping[str, str]) -> bool:
    """True if the terminal restores its former contents by itself."""
    return environ.get("TERM", "").lower() not in _NO_SECOND_SCREEN


def clears_in_colour(environ: Mapping[str, str]) -> bool:
    """True if cells that the terminal clears get the background of the pen."""
    return environ.get("TERM", "").lower().startswith(_CLEARS_IN_COLOUR)
