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
