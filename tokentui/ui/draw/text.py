"""Safe text on the screen: spans and runs become Textual content and Rich segments, never by way of markup.

A *run* is (text, name of a style) with safe text; a *cell* is a tuple of runs. The names are those of
`PALETTE`.
"""

from __future__ import annotations

import itertools
import operator
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from rich.cells import cell_len
from rich.highlighter import Highlighter
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual.content import Content
from textual.content import Span as ContentSpan

from tokentui.core.safetext import (
    GlyphMode,
    Kind,
    clusters,
    is_safe,
    safe,
    visible,
)
from tokentui.ui.draw.guard import replace
from tokentui.ui.terminal.private import measure_with

Run: TypeAlias = tuple[str, str]
Cell: TypeAlias = tuple[Run, ...]

PALETTE: Mapping[str, str] = MappingProxyType(
    {
        # The kinds of safe text. Each but text has an attribute besides its colour, for terminals without
        # colours.
        Kind.text: "",
        # No colour of its own: every fifth character of a text is one, and each would cost two changes of
        # colour.
        Kind.space: "dim",
        Kind.control: "$text-warning reverse",
        Kind.invalid: "$text-error reverse",
        Kind.invisible: "$text-secondary reverse",
        Kind.partial: "$text-accent underline",
        Kind.combining: "$text-secondary underline",
        # What the program itself says.
        "": "",
        "muted": "$foreground-muted",
        "strong": "bold",
        "accent": "$text-accent",
        "primary": "$text-primary",
        "success": "$text-success",
        "warning": "$text-warning",
        "error": "$text-error",
        "gone": "$foreground-muted strike",
        "match": "$text-warning bold underline",
        "key": "$text-accent bold",
        # What the panes add.
        "frame": "$frame",
        "focus": "$accent bold",
        "dropped": "$foreground-muted italic",
        "partial-here": "underline",
        "shade-a": "on $shade-a",
        "shade-b": "on $shade-b",
        "shade-c": "on $shade-c",
        "fresh": "$fresh-text on $fresh bold",
        "fresh-other": "$fresh-text on $fresh-other bold",
        "past": "$primary",
        "future": "$text-disabled",
        "here": "$accent bold",
        **{f"column-{n}": f"$column-{letter}" for n, letter in enumerate("abcd")},
    }
)
"""The names of styles and what they mean in theme variables: the only table of them."""

WITHOUT_COLOUR: Mapping[str, str] = MappingProxyType(
    {"fresh": "bold reverse", "fresh-other": "bold reverse underline"})
"""The replacements for some of these styles on a terminal without colours."""


@lru_cache(8192)
def runs(
    data: bytes | str, *, mode: GlyphMode = "text", ascii_only: bool = False, limit: int | None = None
) -> Cell:
    """Data as a cell; the arguments are those of `safetext.visible`. Tokens are drawn again at every step."""
    return tuple((text, kind.value) for text,
        kind in visible(data, mode=mode, ascii_only=ascii_only, limit=limit))


def join(cell: Iterable[Run], style: str = "") -> Content:
    """Runs as content. Text that is not safe after all is made so: this wall does not rely on its callers."""
    parts: list[str] = []
    spans: list[ContentSpan] = []
    end = 0
    for given, name in cell:
        text = given if is_safe(given) else safe(given)
        parts.append(text)
        start, end = end, end + len(text)
        if text and PALETTE[name]:
            spans.append(ContentSpan(start, end, PALETTE[name]))
    if end and PALETTE[style]:
        spans.insert(0, ContentSpan(0, end, PALETTE[style]))
    return Content("".join(parts), spans)


class Styles(dict[str, RichStyle]):
    """Styles by the names of the palette, each resolved when it is first used.

    Args:
        resolve: Gives the style of a name.
    """

    def __init__(self, resolve: Callable[[str], RichStyle]) -> None:
        super().__init__()
        self._resolve = resolve

    def __missing__(self, name: str) -> RichStyle:
        self[name] = found = self._resolve(name)
        return found


@lru_cache(8192)
def _sent(text: str) -> str:
    return text if is_safe(text) else safe(text)


def segments(cell: Iterable[Run], styles: Mapping[str, RichStyle]) -> list[Segment]:
    """Runs as segments for a line, each in the style of its name."""
    return [Segment(_sent(text), styles[name]) for text, name in cell if text]


def width(cell: Iterable[Run]) -> int:
    """The columns that a cell takes."""
    return sum([cell_len(text) for text, _ in cell])


def tinted(cell: Cell, style: str) -> Cell:
    """A cell with its plain text in a style; what stands for something else keeps its own."""
    return tuple((text, style if name in ("", Kind.text) else name) for text, name in cell)


@lru_cache(8192)
def clip(cell: Cell, columns: int, ellipsis: str = "…") -> Cell:
    """A cell in at most so many columns; an ellipsis says that something was cut off.

    A cluster that only half fits gives way to blanks.
    """
    if sum([cell_len(text) for text, _ in cell]) <= columns:
        return cell
    room = columns - cell_len(ellipsis)
    if room < 0:
        return ((ellipsis[:columns], "muted"),) if columns > 0 else ()
    kept: list[Run] = []
    for text, name in cell:
        taken = cell_len(text)
        if taken > room:
            break
        kept.append((text, name))
        room -= taken
    else:
        return cell
    # Only the part that may fit is looked at: a cluster is short.
    head = cut(text[: 32 * room + 32], room) if room else ""
    if head:
        kept.append((head, name))
    return (*kept, (ellipsis, "muted"))


class StandIns(Highlighter):
    """For what is typed: a stand-in for each character that is not safe, one for one, so that the cursor
    stays where it is.

    Stand-ins are drawn in reverse: the same characters in the text are not.
    """

    def highlight(self, text: Text) -> None:
        """Replace the characters in place."""
        typed = text.plain
        if not is_safe(typed):
            text.plain = replace(typed)
            mark_stand_ins(text, typed)


def mark_stand_ins(text: Text, exact: str) -> None:
    """Draw in reverse what in a text is not what it stands for."""
    for place, (shown, meant) in enumerate(zip(text.plain, exact, strict=False)):
        if shown != meant:
            text.stylize("reverse", place, place + 1)


def highlight(cell: Cell, find: str) -> Cell:
    """A cell in which this text is marked wherever it stands within a run, in upper or lower case."""
    if not find:
        return cell
    out: list[Run] = []
    wanted = find.lower()
    for text, name in cell:
        low = text.lower()
        if len(low) != len(text):  # the few characters that lower case makes longer would shift the places
            low = text
        start = 0
        while (found := low.find(wanted, start)) >= 0:
            out += [(text[start:found], name), (text[found : found + len(wanted)], "match")]
            start = found + len(wanted)
        out.append((text[start:], name))
    return tuple(run for run in out if run[0])


# The width of a text in columns: one table for Textual's layout, our panes and the terminal.


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


def wrap(cell: Cell, width: int, *, words: bool = False) -> list[Cell]:
    """A cell as lines of so many columns (at least two), cut wherever a line is full.

    With `words`, lines are broken between words; where there are none in the second half of a line, anywhere.
    """
    clusters = [(cluster, name, columns) for text, name in cell for cluster, columns in clusters_of(text)]
    lines: list[Cell] = []
    start, room = 0, max(2, width)
    while start < len(clusters) or not lines:
        end, used, after = start, 0, start
        while end < len(clusters) and (end == start or used + clusters[end][2] <= room):
            used += clusters[end][2]
            end += 1
            after = end if clusters[end - 1][0] == " " else after
        skipped = words and end < len(clusters) and clusters[end][0] == " "
        if words and end < len(clusters) and not skipped and after - start > (end - start) // 2:
            end = after
        runs_of = itertools.groupby(clusters[start:end], operator.itemgetter(1))
        lines.append(tuple([("".join([one[0] for one in run]), name) for name, run in runs_of]))
        start = end + skipped
    return lines
