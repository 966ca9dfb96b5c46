"""The width of a text in columns: one table for Textual's layout, our panes and the terminal.

Rich has the tables of wcwidth, and Textual measures by them, so no library is added for it: `wcwidth` itself
would give other numbers than the layout, and costs 70 ms to import. The tables give no column to a spacing
mark (a vowel sign to the right or left of its consonant), but most terminals follow the C library and give it
one. Where a terminal gives less than we do, a blank is seen. Where it gave more, a sign would be lost. So a
spacing mark has a column here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from rich.cells import cell_len

from tokentui.core.safetext import clusters
from tokentui.ui.terminal.private import measure_with

__all__ = ["cell_len", "clusters_of", "cut"]


def _completed(widths: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """A table of widths in which spacing marks have a column."""
    out: list[tuple[int, int, int]] = []
    for first, last, width in widths:
        codes = range(first, last + 1)
        if width or all(unicodedata.category(chr(code)) != "Mc" for code in codes):
            out.append((first, last, width))
        else:
            out += [(code, code, 1 if unicodedata.category(chr(code)) == "Mc" else 0) for code in codes]
    return out


def _unjoined(text: str) -> str:
    """The text without joiners between letters: Rich takes each for one between emoji, and leaves out what
    follows.
    """
    if "\u200d" not in text:
        return text
    out = list(text)
    for place, char in enumerate(text[:-1]):
        if char == "\u200d" and unicodedata.category(text[place + 1])[0] in "LM":
            out[place] = "\u200c"
    return "".join(out)


measure_with(_completed, _unjoined)


@lru_cache(4096)
def clusters_of(text: str) -> tuple[tuple[str, int], ...]:
    """The clusters of a safe text and their columns; 0 for marks that stand on nothing."""
    if text.isascii():
        return tuple([(char, 1) for char in text])
    return tuple([(cluster.text, cell_len(cluster.text)) for cluster in clusters(text)])


def cut(text: str, columns: int) -> str:
    """The beginning of a safe text in just so many columns, or the whole of it. A cluster that only half fits
    leaves blanks.
    """
    if text.isascii():
        return text[:columns]
    kept: list[str] = []
    for cluster, width in clusters_of(text):
        if width > columns:
            return "".join(kept) + " " * columns
        kept.append(cluster)
        columns -= width
    return "".join(kept)
