"""The styles of cells on a terminal, and the shortest sequences that set them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rich.color import Color, ColorSystem, ColorType
from rich.color_triplet import ColorTriplet
from rich.palette import Palette
from rich.style import Style

from tokentui.ui.terminal.private import attributes_of

_ON = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "21", "51", "52", "53")
"""The parameters that set Rich's attributes, in Rich's order.

They are bold, dim, italic, underline, blink, fast blink, reverse, conceal, strike, ...
"""
_OFF = ("22", "22", "23", "24", "25", "25", "27", "28", "29", "24", "54", "54", "55")
"""The parameters that reset them; bold and dim share one."""
_STEPS = (0, 95, 135, 175, 215, 255)
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


def _fixed() -> list[tuple[int, int, int]]:
    cube = [(red, green, blue) for red in _STEPS for green in _STEPS for blue in _STEPS]
    return [*cube, *((level, level, level) for level in range(8, 239, 10))]


_FIXED = _fixed()
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
    if colour.type is ColorType.TRUECOLOR and colour.triplet is not None and system is not ColorSystem.STANDARD:
        number = _NUMBERS.get((colour.triplet.red, colour.triplet.green, colour.triplet.blue))
        if number is None and system is ColorSystem.EIGHT_BIT:
            # Rich rounds each channel, which makes dark greys blue; the nearest colour to the eye is another.
            number = _nearest(colour.triplet)
        if number is not None:
            return f"{38 if ink else 48};5;{number}"  # shorter than three channels, where it is the same colour
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


__all__ = ["PLAIN", "Pen", "change", "pen_of"]
