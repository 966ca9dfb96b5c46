"""Safe text on the screen: spans and runs become Textual content and Rich segments, never by way of markup.

A *run* is (text, name of a style) with safe text; a *cell* is a tuple of runs. The names are those of
`PALETTE`.
"""

from __future__ import annotations

import itertools
import operator
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len
from rich.highlighter import Highlighter
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.content import Content
from textual.content import Span as ContentSpan
from textual.theme import Theme

from tokentui.core.safetext import (
    MARKS_SENT,
    CharKind,
    GlyphMode,
    clusters,
    is_safe,
    safe,
    stand_in,
    unsafe_places,
    visible,
)
from tokentui.core.tints import COUNT as TINTS
from tokentui.core.tints import DARK as DARK_TINTS
from tokentui.core.tints import DARK_TEXT, LIGHT_TEXT, tints
from tokentui.core.tints import LIGHT as LIGHT_TINTS
from tokentui.thinwire import SafeText, correct_widths

Run: TypeAlias = tuple[str, str]
Cell: TypeAlias = tuple[Run, ...]

PALETTE: Mapping[str, str] = MappingProxyType(
    {
        # The kinds of safe text. Each but text has an attribute besides its color, for terminals without
        # colors.
        CharKind.text: "",
        # No color of its own: every fifth character of a text is one, and each would cost two changes of
        # color.
        CharKind.space: "dim",
        CharKind.control: "$text-warning reverse",
        CharKind.invalid: "$text-error reverse",
        CharKind.invisible: "$text-secondary reverse",
        CharKind.partial: "$foreground-muted underline",
        CharKind.combining: "$text-secondary underline",
        # What the program itself says.
        "": "",
        "muted": "$foreground-muted",
        "strong": "bold",
        "accent": "$text-accent",
        "primary": "$text-primary",
        "secondary": "$text-secondary",
        "success": "$text-success",
        "warning": "$text-warning",
        "error": "$text-error",
        "gone": "$foreground-muted strike",
        "match": "$text-warning bold underline",
        "cursor": "reverse",
        "lying": "reverse underline",
        "key": "$text-secondary bold",
        # What the panes add.
        "frame": "$frame",
        "focus": "$text-secondary bold",
        "dropped": "$foreground-muted italic",
        "partial-here": "underline",
        "coming": "underline",
        **{f"tint-{n}": f"$chip-text on $tint-{n}" for n in range(TINTS)},
        "shade-a": "on $shade-a",
        "shade-b": "on $shade-b",
        "shade-c": "on $shade-c",
        "fresh": "$fresh-text on $fresh bold",
        "fresh-other": "$fresh-text on $fresh-other bold",
        "age-0": "",
        "age-1": "$text-secondary",
        "age-2": "$text-success",
        "age-3": "$text-primary",
        "age-4": "$text-warning",
        "age-5": "$text-error",
        "past": "$primary",
        "future": "$text-disabled",
        "here": "$accent bold",
        **{f"column-{n}": f"$column-{letter}" for n, letter in enumerate("abcd")},
    }
)
"""The names of styles and what they mean in theme variables: the only table of them."""

WITHOUT_COLOR: Mapping[str, str] = MappingProxyType(
    {
        "fresh": "bold reverse", "fresh-other": "bold reverse underline",
        "age-1": "dim", "age-2": "underline", "age-3": "bold", "age-4": "bold underline", "age-5": "reverse",
    })
"""The replacements for some of these styles on a terminal without colors."""


@lru_cache(8192)
def runs(
    data: bytes | str, *, mode: GlyphMode = "text", ascii_only: bool = False, limit: int | None = None
) -> Cell:
    """Return data as a cell; the arguments are those of `safetext.visible`. Cached, since tokens are drawn
    again at every step."""
    return tuple((text, kind.value) for text,
        kind in visible(data, mode=mode, ascii_only=ascii_only, limit=limit))


def join(cell: Iterable[Run], style: str = "") -> Content:
    """Return runs as content, with `style` below their own. Unsafe text is made safe: this does not rely on
    its callers."""
    parts: list[str] = []
    spans: list[ContentSpan] = []
    end = 0
    for given, name in cell:
        text = given if is_safe(given) else safe(given)
        parts.append(text)
        start, end = end, end + len(text)
        if text and (words := " ".join(filter(None, [PALETTE[part] for part in name.split("+")]))):
            spans.append(ContentSpan(start, end, words))
    if end and PALETTE[style]:
        spans.insert(0, ContentSpan(0, end, PALETTE[style]))
    return Content("".join(parts), spans)


def safe_content(text: bytes | str, style: str = "", *, limit: int | None = None) -> Content:
    """Return any text as content that Textual shows as it is, without parsing markup.

    Whatever Textual would parse as markup has to come from here or from `join`: titles of borders, tooltips,
    static text, cells of its tables and lists. As a plain `str`, a file named `a[/]b` ends the app, and one
    named `[@click=app.quit]a` becomes a link that quits.

    Args:
        text: The text, safe for a terminal or not.
        style: A name in `PALETTE`.
        limit: The maximum number of characters; a longer text ends in an ellipsis.
    """
    return join(((safe(text, limit=limit), style),))


class Styles(dict[str, Style]):
    """Styles by the names of the palette, each resolved at its first use.

    Args:
        resolve: Returns the style of a name.
    """

    def __init__(self, resolve: Callable[[str], Style]) -> None:
        super().__init__()
        self._resolve = resolve

    def __missing__(self, name: str) -> Style:
        self[name] = found = self._resolve(name)
        return found


_is_safe = lru_cache(8192)(is_safe)
"""The same for short texts, most of which are drawn again and again."""


def segments(cell: Iterable[Run], styles: Mapping[str, Style]) -> list[Segment]:
    """Return runs as segments of a line, each in the style of its name; unsafe text is made safe, and empty
    runs are left out."""
    return [Segment(text if _is_safe(text) else safe(text), styles[name]) for text, name in cell if text]


def width(cell: Iterable[Run]) -> int:
    """Return the number of columns of a cell."""
    return sum([cell_len(text) for text, _ in cell])


def tinted(cell: Cell, style: str) -> Cell:
    """Return a cell with its plain text in a style; runs with a style keep it."""
    return tuple((text, style if name in ("", CharKind.text) else name) for text, name in cell)


@lru_cache(8192)
def clip(cell: Cell, columns: int, ellipsis: str = "…") -> Cell:
    """Return a cell cut to a number of columns, with an ellipsis if anything was cut off. A cluster that only
    half fits becomes spaces."""
    if width(cell) <= columns:
        return cell
    room = columns - cell_len(ellipsis)
    if room < 0:
        return ((ellipsis[:columns], "muted"),) if columns > 0 else ()
    return (*crop(cell, 0, room), (ellipsis, "muted"))


def crop(cell: Cell, start: int, end: int) -> Cell:
    """Return the columns of a cell from `start` to before `end`. A cluster that is cut becomes spaces."""
    out: list[Run] = []
    at = 0
    for text, name in cell:
        size = cell_len(text)
        if at < end and at + size > start:
            within = start <= at and at + size <= end
            out.append((text if within else cut(text, end - at, max(0, start - at)), name))
        at += size
    return tuple(out)


class StandIns(Highlighter):
    """Shows a stand-in for each unsafe character of a typed text, one for one, so that the cursor keeps its
    position.

    Stand-ins are in reverse, to tell them from the same characters in the text.
    """

    def highlight(self, text: Text) -> None:
        """Replace unsafe characters of a text in place, and mark them."""
        typed = text.plain
        if not is_safe(typed):
            text.plain = replace(typed)
            mark_stand_ins(text, typed)


def mark_stand_ins(text: Text, exact: str) -> None:
    """Style each character of a text in reverse that differs from the exact text."""
    pairs = zip(text.plain, exact, strict=False)
    places = [place for place, (shown, meant) in enumerate(pairs) if shown != meant]
    # a style for each run of them: it is widened to whole clusters, which takes long
    for _, run in itertools.groupby(enumerate(places), lambda numbered: numbered[1] - numbered[0]):
        first, *more = (place for _, place in run)
        text.stylize("reverse", first, (more[-1] if more else first) + 1)


ON_CHIPS: Mapping[str, str] = MappingProxyType({
    CharKind.space: "", CharKind.partial: "partial-here", CharKind.combining: "partial-here", "muted": "",
})
"""The styles that runs have on a tint in place of their own, whose colors could not be read there."""


def joined(cells: Iterable[Cell], between: Run) -> Cell:
    """Return cells in one, with a run between each two."""
    out: list[Run] = []
    for cell in cells:
        out += [between] if out else []
        out += cell
    return tuple(out)


def extended(cell: Cell, more: Iterable[Cell], columns: int) -> Cell:
    """Return a cell with as many others appended, in order, as fit into a number of columns."""
    for other in more:
        if width(cell) + width(other) > columns:
            break
        cell = (*cell, *other)
    return cell


def chip(cell: Cell, ground: str) -> Cell:
    """Return a token as a chip: its runs on the ground of a style, a tint or that of a new token."""
    tint = "tint-" in ground
    return tuple([
        (text, "+".join(filter(None, (ground, ON_CHIPS.get(name, name) if tint else ""))))
        for text, name in ((text, "" if name == CharKind.text else name) for text, name in cell)
    ])


def emboldened(cell: Cell) -> Cell:
    """Return a cell in bold."""
    return tuple([(text, f"{name}+strong" if name else "strong") for text, name in cell])


def segmented(tokens: Iterable[bytes | str], chips: bool, *, limit: int, style: str = "") -> Cell:
    """Return the tokens of a text, as chips or with bars between them.

    Args:
        tokens: The tokens.
        chips: True for chips.
        limit: The maximum number of characters of a token.
        style: The style of their plain text without chips; empty for none.
    """
    tokens = tuple(tokens)
    starts = itertools.accumulate(map(len, tokens), initial=0)
    out: list[Run] = []
    for token, tint in zip(tokens, tints(itertools.islice(starts, len(tokens))), strict=True):
        out += [("│", "frame")] if out and not chips else []
        text = runs(token, limit=limit)
        out += chip(text, f"tint-{tint}") if chips else tinted(text, style) if style else text
    return tuple(out)


def highlight(cell: Cell, find: str) -> Cell:
    """Return a cell with each match of a text marked, in any case. A match across runs is not found; an empty
    text marks nothing."""
    if not find:
        return cell
    out: list[Run] = []
    lowered = find.lower()
    for text, name in cell:
        low = text.lower()
        if len(low) != len(text):  # the few characters that lower case makes longer would shift the places
            low = text
        start = 0
        while (found := low.find(lowered, start)) >= 0:
            out += [(text[start:found], name), (text[found : found + len(lowered)], "match")]
            start = found + len(lowered)
        out.append((text[start:], name))
    return tuple(run for run in out if run[0])


# The width of a text in columns: one table for Textual's layout, our panes and the terminal.


__all__ = ["cell_len", "clusters_of", "cut"]


correct_widths()


@lru_cache(4096)
def clusters_of(text: str) -> tuple[tuple[str, int], ...]:
    """Return the clusters of a safe text with their columns; 0 for marks without a base character."""
    if text.isascii():
        return tuple([(char, 1) for char in text])
    return tuple([(cluster.text, cell_len(cluster.text)) for cluster in clusters(text)])


def cut(text: str, end: int, start: int = 0) -> str:
    """Return the columns of a safe text from `start` to before `end`. A cluster that is cut becomes spaces.
    """
    if text.isascii():
        return text[start:end]
    kept: list[str] = []
    at = 0
    # Only the part that may fit is looked at: a cluster is short.
    for cluster, size in clusters_of(text[: 32 * end + 32]):
        after = at + size
        if start <= at and after <= end and (size or at > start or not start):
            kept.append(cluster)
        elif at < end and after > start:
            kept.append(" " * (min(end, after) - max(start, at)))
        if after > end:
            break
        at = after
    return "".join(kept)


_SEAMS = {" ", "│"}
_FIGURES = frozenset("0123456789,.")


def _before_number(clusters: Sequence[tuple[str, str, int]], start: int, end: int) -> int:
    """Return where to end a line, so that no number is cut at its end; `end` if the line has nothing else."""
    first = end
    if clusters[end][0] in _FIGURES:
        while first > start and clusters[first - 1][0] in _FIGURES:
            first -= 1
    return first if first > start else end


def wrap(cell: Cell, width: int, *, words: bool = False) -> list[Cell]:
    """Break a cell into lines of at most `width` columns, and at least two; one empty line for an empty cell.

    With `words`, lines end between words or after the bar of a token, if there is such a place in the second
    half of the line. A number is broken only if it does not fit into a line.
    """
    clusters = [(cluster, name, columns) for text, name in cell for cluster, columns in clusters_of(text)]
    lines: list[Cell] = []
    start, room = 0, max(2, width)
    while start < len(clusters) or not lines:
        end, used, after = start, 0, start
        while end < len(clusters) and (end == start or used + clusters[end][2] <= room):
            used += clusters[end][2]
            end += 1
            after = end if clusters[end - 1][0] in _SEAMS else after
        skipped = words and end < len(clusters) and clusters[end][0] == " "
        if words and end < len(clusters) and not skipped and after - start > (end - start) // 2:
            end = after
        elif start < end < len(clusters):
            end = _before_number(clusters, start, end)
        runs_of = itertools.groupby(clusters[start:end], operator.itemgetter(1))
        lines.append(tuple([("".join([glyph[0] for glyph in run]), name) for name, run in runs_of]))
        start = end + skipped
    return lines


# The second wall: `thinwire` replaces whatever a widget drew all the same.


_WIDE = "〓"


def replace(text: str) -> str:
    """Replace each unsafe character, and each combining mark beyond the limit, by a visible stand-in, of the
    same width if possible."""
    made = _replaced(text, unsafe_places(text))
    # Where a stand-in has broken what showed a joiner, joiners have one as well.
    return made if is_safe(made) else _replaced(made,
        {place for place, char in enumerate(made) if not is_safe(char)})


def _replaced(text: str, places: set[int]) -> str:
    """Replace the characters at `places`, and each mark after `MARKS_SENT` in a row, by stand-ins. The
    stand-in of a wide character is wide too."""
    out: list[str] = []
    marks = 0
    for place, char in enumerate(text):
        marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
        if marks > MARKS_SENT:
            out.append(stand_in(char))
            marks = 0  # the next ones stand on the stand-in
        else:
            out.append(char if place not in places else _WIDE if cell_len(char) == 2 else stand_in(char))
    return "".join(out)


SAFE_TEXT = SafeText(is_safe, replace, clusters_of)
"""The functions of the safe-text module that the terminal driver calls."""


# The program's own themes, and the colors that it adds to everybody's: each an entry of the 256-color
# palette of xterm (greys 232 to 255 and the color cube), so that a terminal reached by SSH, which seldom
# offers more, shows the same.
#
# What a color means: *accent* is now, the merge just made and the next one, and nothing else; *secondary* is
# a key and the pane that takes it; *primary* is a count drawn as a bar; *error* is an error; grey is chrome.
# On Compare each column has a color of its own, which is that of its letter, its row and its curve.


DARK_NAME = "tokentui"
LIGHT_NAME = "tokentui-light"

_OWN = {
    "frame": ("#585858", "#a8a8a8"), "shade-a": ("#262626", "#e4e4e4"), "shade-b": ("#3a3a3a", "#d0d0d0"),
    "shade-c": ("#4e4e4e", "#b2b2b2"), "fresh": ("#ffaf5f", "#af5f00"), "fresh-other": ("#ffd7af", "#875f00"),
    "fresh-text": ("#121212", "#ffffff"), "column-a": ("#5fafff", "#005fd7"),
    "column-b": ("#ff87d7", "#af0087"), "column-c": ("#87d75f", "#005f00"),
    "column-d": ("#d7d75f", "#875f00"),
}
"""The variables that the screens add, for dark themes and for light ones that do not have them."""
_COLORS = {
    "background": ("#121212", "#eeeeee"), "surface": ("#1c1c1c", "#e4e4e4"), "panel": ("#262626", "#dadada"),
    "boost": ("#262626", "#dadada"), "foreground": (DARK_TEXT.cube, LIGHT_TEXT.cube),
    "primary": ("#5f87af", "#5f87af"), "secondary": ("#87afaf", "#005f87"), "accent": ("#ffaf5f", "#af5f00"),
    "warning": ("#d7af5f", "#875f00"), "error": ("#ff5f5f", "#af0000"), "success": ("#87af5f", "#005f00"),
}
_PRIMARY_TEXT = ("#5f87af", "#005faf")
"""The primary color as text: the one of bars is too pale on a light ground (3.0:1)."""
_ROLES = ("primary", "secondary", "accent", "warning", "error", "success")


def _own(dark: bool) -> dict[str, str]:
    return {name: pair[not dark] for name, pair in _OWN.items()}


def _theme(name: str, dark: bool, muted: str, disabled: str, selection: str) -> Theme:
    """Return a theme from the program's palette, in which Textual blends or rounds no color. `muted`,
    `disabled` and `selection` are its only free colors."""
    own, colors = _own(dark), {role: pair[not dark] for role, pair in _COLORS.items()}
    same = (
        # Textual would round or blend these, and leave the palette.
        (colors["foreground"], ("text", "block-cursor-background", "block-cursor-blurred-foreground",
            "input-cursor-background", "input-selection-foreground", "screen-selection-foreground")),
        (colors["background"], ("block-cursor-foreground", "input-cursor-foreground", "scrollbar-background",
            "scrollbar-background-hover", "scrollbar-background-active", "scrollbar-corner-color")),
        (colors["panel"], ("block-cursor-blurred-background", "block-hover-background", "surface-active",
            *(f"{role}-muted" for role in _ROLES))),
        (muted, ("text-muted", "foreground-muted", "scrollbar-hover", "scrollbar-active")),
        (disabled, ("text-disabled", "foreground-disabled")),
        (selection, ("input-selection-background", "screen-selection-background")),
        (own["frame"], ("border-blurred", "scrollbar")),
        (colors["secondary"], ("border",)),
    )
    variables = own | colors | {f"text-{role}": colors[role] for role in _ROLES}
    variables |= {name: color for color, names in same for name in names}
    variables["text-primary"] = _PRIMARY_TEXT[not dark]
    return Theme(name=name, dark=dark, variables=variables, **colors)  # type: ignore[arg-type]


DARK = _theme(DARK_NAME, True, muted="#8a8a8a", disabled="#626262", selection="#444444")
LIGHT = _theme(LIGHT_NAME, False, muted="#626262", disabled="#949494", selection="#bcbcbc")


def variables(theme: Theme, base: Mapping[str, str], *, cube: bool = False) -> dict[str, str]:
    """Return the variables of the style sheet besides Textual's own, for any theme.

    Args:
        theme: The theme.
        base: Textual's variables of the theme.
        cube: True to take the tints of tokens from the 256-color palette.
    """
    from tokentui.ui.draw.mixing import mixed

    own = {**_own(theme.dark), "chip-text": _COLORS["foreground"][not theme.dark]}
    if theme.name not in (DARK_NAME, LIGHT_NAME):
        return {**own, **theme.variables, **mixed(theme.dark, base, cube=cube)}
    tints = DARK_TINTS if theme.dark else LIGHT_TINTS
    chips = {f"tint-{n}": tint.cube if cube else tint.color for n, tint in enumerate(tints)}
    return {**own, **chips, **theme.variables}


class Copied(NamedTuple):
    """A text that can be copied.

    Attributes:
        name: Its name in a few words.
        text: The exact text, or what it is if `later` or `asks` is set.
        escaped: True if it is a literal of bytes that are not UTF-8.
        marked: True to show its spaces as marks, as in a token.
        later: Returns the exact text, if that takes long; None otherwise.
        asks: Asks the session for the exact text; None if that is not necessary.
        ending: The suffix of a file with this text.
    """

    name: str
    text: str
    escaped: bool = False
    marked: bool = False
    later: Callable[[], str] | None = None
    asks: Callable[[], Awaitable[str]] | None = None
    ending: str = ".txt"

    @property
    def whole(self) -> str:
        """The exact text, unless it has to be asked for."""
        return self.text if self.later is None else self.later()
