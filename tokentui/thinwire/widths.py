"""Two corrections to Rich's width table, so that Textual's layout and the terminal agree."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence

from tokentui.thinwire.private import replace_width_table


@functools.cache
def correct_widths() -> None:
    """Correct how Rich and Textual measure text in this process. Calls after the first do nothing.

    Spacing marks (category Mc, as in Devanagari "कि") get the column that terminals draw them in; Rich gives
    them none. A joiner between letters is measured as nothing; Rich takes it for one between emoji and leaves
    out the letter after it.
    """
    replace_width_table(_with_spacing_marks, _without_letter_joiners)


def _with_spacing_marks(widths: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    corrected: list[tuple[int, int, int]] = []
    for first, last, width in widths:
        codes = range(first, last + 1)
        if width or all(unicodedata.category(chr(code)) != "Mc" for code in codes):
            corrected.append((first, last, width))
        else:
            corrected += [(code, code, 1 if unicodedata.category(chr(code)) == "Mc" else 0) for code in codes]
    return corrected


def _without_letter_joiners(text: str) -> str:
    """Return the text with U+200C in place of each U+200D before a letter or mark."""
    if "\u200d" not in text:
        return text
    characters = list(text)
    for index, char in enumerate(text[:-1]):
        if char == "\u200d" and unicodedata.category(text[index + 1])[0] in "LM":
            characters[index] = "\u200c"
    return "".join(characters)
