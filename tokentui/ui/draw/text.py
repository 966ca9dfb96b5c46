"""Safe text on the screen: spans and runs become Textual content and Rich segments, never by way of markup.

A *run* is (text, name of a style) with safe text; a *cell* is a tuple of runs. The names are those of
`PALETTE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from rich.highlighter import Highlighter
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual.content import Content
from textual.content import Span as ContentSpan

from tokentui.core.safetext import GlyphMode, Kind, is_safe, safe, visible
from tokentui.ui.draw.guard import replace
from tokentui.ui.draw.widths import cell_len, cut

Run: TypeAlias = tuple[str, str]
Cell: TypeAlias = tuple[Run, ...]

PALETTE: Mapping[str, str] = MappingProxyType(
    {
        # The kinds of safe text. Each but text has an attribute besides its colour, for terminals without
        # colours.
        Kind.text: "",
        Kind.space: "dim",  # no colour of its own: in a text every fifth character is one, and each would cost two changes of it
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


def runs(data: bytes | str, *, mode: GlyphMode = "text", ascii_only: bool = False,
        limit: int | None = None) -> Cell:
    """Data as a cell; the arguments are those of `safetext.visible`."""
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


def segments(cell: Iterable[Run], styles: Callable[[str], RichStyle]) -> list[Segment]:
    """Runs as segments for a line; `styles` resolves a name of the palette."""
    return [Segment(text if is_safe(text) else safe(text), styles(name)) for text, name in cell if text]


def width(cell: Iterable[Run]) -> int:
    """The columns that a cell takes."""
    return sum(cell_len(text) for text, _ in cell)


def tinted(cell: Cell, style: str) -> Cell:
    """A cell with its plain text in a style; what stands for something else keeps its own."""
    return tuple((text, style if name in ("", Kind.text) else name) for text, name in cell)


def clip(cell: Cell, columns: int, ellipsis: str = "…") -> Cell:
    """A cell in at most so many columns; an ellipsis says that something was cut off.

    A cluster that only half fits gives way to blanks.
    """
    if width(cell) <= columns:
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
