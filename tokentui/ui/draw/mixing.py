"""The colors that the screens add to a theme that is not made for them, mixed from its own colors."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache

from textual.color import Color

from tokentui.core.colors import contrast, distance, mix
from tokentui.core.tints import DARK, DARK_TEXT, LIGHT, LIGHT_TEXT

_HUES = "#3060ff", "#00a0a0", "#c030c0", "#c09000"
"""What the tints are mixed with: blue, teal, purple, ochre."""
_SHARES = range(8, 36)
"""The shares of a hue in a tint, in percent."""
_READABLE = 4.5
"""The least contrast of text, as WCAG 2 asks for."""
_APART = 8.0
"""The least distance of two tints, and of a tint to the background."""
_GRAYS = {"shade-a": 0.08, "shade-b": 0.17, "shade-c": 0.26, "frame": 0.35}
"""The share of the text color in these."""
_DISABLED = 0.4


def mixed(dark: bool, base: Mapping[str, str], *, cube: bool) -> dict[str, str]:
    """Return the variables of the style sheet for tints, shades, frames and disabled text of a theme.

    If the theme leaves its colors to the terminal, none can be mixed: its chips get the tints and the text of
    the program's own theme.

    Args:
        dark: True if the theme is dark.
        base: Textual's variables of the theme.
        cube: True to take the tints from the color cube of the 256-color palette.
    """
    background, text = _hex(base["background"]), _hex(base["foreground"])
    if not background or not text:
        own = tuple([tint.cube if cube else tint.color for tint in (DARK if dark else LIGHT)])
        return {"chip-text": (DARK_TEXT if dark else LIGHT_TEXT).cube, **_numbered(own)}
    ink = chip_text(background, text)
    tints = soft_tints(background, ink)
    grays = {name: mix(background, text, share) for name, share in _GRAYS.items()}
    return {
        **grays, "text-disabled": mix(background, text, _DISABLED), "chip-text": ink,
        **_numbered(cube_tints(tints, background, ink) if cube else tints),
    }


def _numbered(tints: Sequence[str]) -> dict[str, str]:
    return {f"tint-{n}": tint for n, tint in enumerate(tints)}


def _hex(value: str) -> str:
    """Return a color as `#rrggbb`; empty for a color of the terminal."""
    color = Color.parse(value)
    return "" if color.ansi is not None else color.hex6.lower()


def chip_text(background: str, text: str) -> str:
    """Return the color of text on chips: that of the theme, or, if that leaves too little contrast for
    distinct tints, the nearest one towards black or white."""
    end = "#ffffff" if contrast(background, "#ffffff") > contrast(background, "#000000") else "#000000"
    return next(
        ink for ink in (mix(text, end, share / 10) for share in range(11))
        if ink == end or _distinct(soft_tints(background, ink), background)
    )


def soft_tints(background: str, text: str) -> tuple[str, ...]:
    """Return a tint for each hue: the background with as much of the hue as text on it stays readable with,
    or the least share if none does."""
    found = []
    for hue in _HUES:
        shades = [mix(background, hue, share / 100) for share in _SHARES]
        found.append(next((one for one in reversed(shades) if contrast(one, text) >= _READABLE), shades[0]))
    return tuple(found)


@lru_cache(64)
def cube_tints(tints: tuple[str, ...], background: str, text: str) -> tuple[str, ...]:
    """Return the nearest entries of the color cube for tints, on which text is readable and which are
    distinct; the tints themselves if there are none."""
    known = [color for color in _cube() if contrast(color, text) >= _READABLE]
    known = [color for color in known if distance(color, background) >= _APART]

    def chosen(before: tuple[str, ...]) -> tuple[str, ...]:
        if len(before) == len(tints):
            return before
        tint = tints[len(before)]
        for color in sorted(known, key=lambda color: distance(color, tint)):
            apart = all(distance(color, other) >= _APART for other in before)
            if apart and (way := chosen((*before, color))):
                return way
        return ()

    return chosen(()) or tints


def _cube() -> list[str]:
    """Return the colors of the 256-color cube without grays."""
    steps = 0, 95, 135, 175, 215, 255
    return [
        f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in itertools.product(steps, repeat=3)
        if not red == green == blue
    ]


def _distinct(tints: Sequence[str], background: str) -> bool:
    """Return whether all tints differ enough from each other and from the background."""
    return all(distance(a, b) >= _APART for a, b in itertools.combinations((*tints, background), 2))
