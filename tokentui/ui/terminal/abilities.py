"""The abilities of a terminal according to its environment: its characters, and its colours."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from functools import lru_cache

_MONOCHROME = ("vt52", "vt100", "vt102", "vt220", "ansi-m", "xterm-mono")
_NO_SECOND_SCREEN = ("linux", "vt52", "vt100", "vt102", "vt220", "ansi-m")

_CLEARS_IN_COLOUR = ("xterm", "linux", "rxvt", "alacritty", "foot", "konsole", "vte")
"""The name prefixes of terminals that clear cells with the background of the pen (terminfo "bce")."""

_IN_ASCII = {
    **dict.fromkeys("│┃║▏▎▍▌▐▕┆┊╎", "|"),
    **dict.fromkeys("─━═╌╍┄┈▁▔–—−‒", "-"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╭╮╯╰╔╗╚╝╠╣╦╩╬", "+"),
    **dict.fromkeys("█▉▊▋▇▆▅▓▒▀▄■", "#"),
    **dict.fromkeys("▃▂░", "="),
    **dict.fromkeys("▸▶→›»≥⇥", ">"),
    **dict.fromkeys("◂◀←‹«≤", "<"),
    **dict.fromkeys("▲↑", "^"),
    **dict.fromkeys("▼↓", "v"),
    **dict.fromkeys("·•∙", "."),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("×✗", "x"),
    "…": "~", "□": "o", "∅": "0", "✓": "+", "␣": "_", "⏎": "$",
}
"""The replacements for characters that the terminal lacks; all others are shown as `?`."""


def charset(environ: Mapping[str, str]) -> str:
    """The encoding of the terminal, as Python calls it.

    `TOKENTUI_CHARSET` says it outright. Else the locale does: one that names no encoding, `C` or `POSIX`, is
    ASCII. Where there is no locale at all the terminal is taken to be a modern one.
    """
    said = environ.get("TOKENTUI_CHARSET", "")
    if not said:
        language = environ.get("LANG", "")
        kind = environ.get("LC_CTYPE", "")
        if kind == "C.UTF-8" and language in ("C", "POSIX"):
            kind = ""  # Python says this of itself when the locale is C (PEP 538); it says nothing of the terminal
        locale = environ.get("LC_ALL", "") or kind or language
        if not locale:
            return "utf-8"
        said = "ascii" if locale in ("C", "POSIX") else locale.partition(".")[2].partition("@")[0] or "utf-8"
    try:
        return codecs.lookup(said).name
    except LookupError:
        return "utf-8"


def monochrome(environ: Mapping[str, str]) -> bool:
    """True if the terminal has no colours."""
    return environ.get("TERM", "").lower() in _MONOCHROME


def has_second_screen(environ: Mapping[str, str]) -> bool:
    """True if the terminal restores its former contents by itself."""
    return environ.get("TERM", "").lower() not in _NO_SECOND_SCREEN


def clears_in_colour(environ: Mapping[str, str]) -> bool:
    """True if cells that the terminal clears get the background of the pen."""
    return environ.get("TERM", "").lower().startswith(_CLEARS_IN_COLOUR)


@lru_cache(4096)
def drawable(cell: str, encoding: str, width: int) -> tuple[str, ...]:
    """A cell as the terminal can draw it, one character for each column."""
    try:
        cell.encode(encoding)
    except UnicodeEncodeError:
        return (_IN_ASCII.get(cell, "?"),) * width
    return (cell, *[""] * (width - 1))
