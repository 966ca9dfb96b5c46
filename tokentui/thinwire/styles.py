"""Styles of cells, and the shortest escape sequence (SGR) that turns one into another."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rich.color import Color, ColorSystem, ColorType
from rich.color_triplet import ColorTriplet
from rich.palette import Palette
from rich.style import Style

from tokentui.thinwire.private import attribute_bits

_SET = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "21", "51", "52", "53")
"""The SGR parameters that set Rich's attributes, in Rich's order: bold, dim, italic, underline, blink, fast
blink, reverse, conceal, strike, second underline, frame, encircle, overline."""
_RESET = ("22", "22", "23", "24", "25", "25", "27", "28", "29", "24", "54", "54", "55")
"""The SGR parameters that reset them. Some are shared, such as that of bold and dim."""
_FIRST_FIXED = 16
"""The first color of the 256-color palette that is the same everywhere. Users choose those before it."""


class CellStyle(NamedTuple):
    """The style of a cell.

    Attributes:
        attributes: One bit for each attribute, in the order of `_SET`.
        foreground: The SGR parameters that set the color; empty for the terminal's own.
        background: The same for the color behind the text.
    """

    attributes: int = 0
    foreground: str = ""
    background: str = ""


DEFAULT_STYLE = CellStyle()
"""The terminal's own colors, and no attribute."""


_FIXED: list[tuple[int, int, int]] = [
    Color.from_ansi(number).get_truecolor() for number in range(_FIRST_FIXED, 256)
]
_NUMBERS = {color: number for number, color in reversed(list(enumerate(_FIXED, _FIRST_FIXED)))}
_FIXED_PALETTE = Palette(_FIXED)


@lru_cache(4096)
def cell_style(style: Style | None, system: ColorSystem) -> CellStyle:
    """Return the style of a cell that Rich draws in `style`, with the colors that `system` has.

    Links and actions are left out: they do not show.
    """
    if style is None:
        return DEFAULT_STYLE
    return CellStyle(
        attribute_bits(style), _color_parameters(style.color, system, True),
        _color_parameters(style.bgcolor, system, False))


def _color_parameters(color: Color | None, system: ColorSystem, foreground: bool) -> str:
    """Return the SGR parameters of a color, the shortest spelling; empty for the terminal's own color."""
    if color is None or color.type is ColorType.DEFAULT:
        return ""
    if (
        color.type is ColorType.TRUECOLOR and color.triplet is not None and system is not ColorSystem.STANDARD
    ):
        number = _NUMBERS.get((color.triplet.red, color.triplet.green, color.triplet.blue))
        if number is None and system is ColorSystem.EIGHT_BIT:
            # Rich rounds each channel, which makes dark greys blue: it draws #242f38 as 23, a teal; 236 is
            # nearest.
            number = _nearest_number(color.triplet)
        if number is not None:
            return f"{38 if foreground else 48};5;{number}"
    return ";".join(color.downgrade(system).get_ansi_codes(foreground))


@lru_cache(1024)
def _nearest_number(color: ColorTriplet) -> int:
    return _FIRST_FIXED + _FIXED_PALETTE.match(tuple(color))


@lru_cache(8192)
def style_change(before: CellStyle, after: CellStyle) -> str:
    """Return the shortest SGR sequence that turns one style into another; empty if they are equal."""
    if before == after:
        return ""
    from_reset = ""
    if after != DEFAULT_STYLE:
        colors = filter(None, (after.foreground, after.background))
        from_reset = ";".join(["0", *_set_parameters(after.attributes), *colors])
    removed = before.attributes & ~after.attributes
    added = after.attributes & ~before.attributes
    resets = dict.fromkeys(_RESET[bit] for bit in range(len(_RESET)) if removed >> bit & 1)
    # An attribute that stays but shares its reset parameter with a removed one has to be set again.
    again = [
        code for bit, code in enumerate(_SET)
        if after.attributes & ~added & (1 << bit) and _RESET[bit] in resets
    ]
    parts = [*resets, *again, *_set_parameters(added)]
    if before.foreground != after.foreground:
        parts.append(after.foreground or "39")
    if before.background != after.background:
        parts.append(after.background or "49")
    return f"\x1b[{min(from_reset, ';'.join(parts), key=len)}m"


def _set_parameters(attributes: int) -> list[str]:
    return [code for bit, code in enumerate(_SET) if attributes >> bit & 1]


_SEEN_ON_BLANKS = 0b1_1111_0100_1000
"""The attributes that show on a blank: underline, reverse, strike, second underline, frame, encircle,
overline."""


@lru_cache(4096)
def blank_style(style: CellStyle) -> CellStyle:
    """Return the style that a blank cell needs to look like one in `style`: often only its background."""
    return style if style.attributes & _SEEN_ON_BLANKS else CellStyle(background=style.background)
