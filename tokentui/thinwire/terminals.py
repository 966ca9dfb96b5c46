"""What a terminal can do, by the name in TERM. Terminals do not answer questions about these."""

from __future__ import annotations

from collections.abc import Mapping

_MONOCHROME = ("vt52", "vt100", "vt102", "vt220", "ansi-m", "xterm-mono")
_NO_ALTERNATE_SCREEN = ("linux", "vt52", "vt100", "vt102", "vt220", "ansi-m")
_BACK_COLOR_ERASE = ("xterm", "linux", "rxvt", "alacritty", "foot", "konsole", "vte")
"""Prefixes of the names of terminals with `bce` in terminfo."""


def is_monochrome(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal has no colors."""
    return environ.get("TERM", "").lower() in _MONOCHROME


def has_alternate_screen(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal restores its former contents by itself when the program ends."""
    return environ.get("TERM", "").lower() not in _NO_ALTERNATE_SCREEN


def has_back_color_erase(environ: Mapping[str, str]) -> bool:
    """Return whether cells that the terminal clears get the current background color."""
    return environ.get("TERM", "").lower().startswith(_BACK_COLOR_ERASE)


_REORDERING = ("vte", "mlterm")
"""Prefixes of the names of terminals that reorder the right-to-left text of a line."""
_VTE = "VTE_VERSION"
"""A variable that terminals with the library VTE set, which have names such as `xterm-256color` in TERM."""
NO_REORDERING, REORDERING = "\x1b[8l", "\x1b[8h"
"""The bi-directional support mode of ECMA-48: off, the program orders the cells; on, the terminal does."""


def reorders_lines(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal reorders right-to-left text in a line, so that cells would not be where the
    program draws them.

    VTE_VERSION does not count in a terminal multiplexer, whose TERM is another one.
    """
    name = environ.get("TERM", "").lower()
    return name.startswith(_REORDERING) or (name.startswith("xterm") and bool(environ.get(_VTE)))
