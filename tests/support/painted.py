"""Lines of tokens in colors, as the commands print them, read again."""

from __future__ import annotations

import re
from typing import NamedTuple

from tokentui.core.tints import DARK, DARK_TEXT, LIGHT, LIGHT_TEXT, Tint


def _color(tint: Tint, true_color: bool) -> str:
    if not true_color:
        return f"5;{tint.number}"
    return "2;" + ";".join(str(int(tint.color[n : n + 2], 16)) for n in (1, 3, 5))


_TINT_OF = {
    f"38;{_color(text, true_color)};48;{_color(tint, true_color)}": number
    for text, grounds in ((DARK_TEXT, DARK), (LIGHT_TEXT, LIGHT)) for number, tint in enumerate(grounds)
    for true_color in (True, False)
}
"""The number of the tint of each style."""
_SEQUENCE = re.compile("\x1b\\[((?:4;)?(?:" + "|".join(map(re.escape, _TINT_OF)) + ")|4|0)m")


class Painted(NamedTuple):
    """A text between two sequences.

    Attributes:
        text: The text.
        tint: The number of its tint; None if it has none.
        underlined: True if it is underlined.
    """

    text: str
    tint: int | None
    underlined: bool


def painted(line: str) -> list[Painted]:
    """The texts of a line, each with its style. A sequence that is not ours stays in the text."""
    found = []
    style = "0"
    for n, part in enumerate(_SEQUENCE.split(line)):
        if n % 2:
            style = part
        elif part:
            found.append(Painted(part, _TINT_OF.get(style.removeprefix("4;")), style.startswith("4")))
    return found


def bare(text: str) -> str:
    """A text without our sequences."""
    return _SEQUENCE.sub("", text)
