"""The pre-tokens of the typed text and of the corpus, each with the branch of the split that matched it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import CharKind, safe, safe_line
from tokentui.core.table import plural
from tokentui.core.tints import COUNT as TINTS
from tokentui.learn.trainer import Compressed
from tokentui.session.commands import Compress, Find, Pieces
from tokentui.session.snapshot import PiecePart, PiecesView
from tokentui.session.views import CorpusPlace
from tokentui.ui.dialogs import FILTER, FIND, SCROLL, CellText, Dialog, FindScreen, TableDialog
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import Lines, ScrolledLines
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell, Run, wrap
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.waits import has

_MOST_DRAWN = 4000  # characters of a piece
_HUES = ("primary", "success", "secondary", "warning", "strong")
_MOST_EMPTY = 50
"""The answers in a row without a piece that is looked for, after which no more are asked for."""
_SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def style_of(branch: int) -> str:
    """Return the style of a branch, numbered from 0; after the hues come the same ones underlined."""
    again, hue = divmod(branch, len(_HUES))
    return _HUES[hue] + ("+partial-here" if again % 2 else "")


def number_of(branch: int) -> str:
    """Return the number of a branch in superscript digits, from ¹ on; `branch` counts from 0."""
    return "".join(_SMALL[int(digit)] for digit in str(branch + 1))


def ground_of(branch: int) -> str:
    """Return the style of the chips of a branch, numbered from 0: its tint; after the tints come the same
    ones underlined."""
    again, tint = divmod(branch, TINTS)
    return f"tint-{tint}" + ("+partial-here" if again % 2 else "")


def legend(view: PiecesView, chips: bool = False) -> Iterator[Cell]:
    """Yield a line for each branch, in the style of its pieces, and one on dropped text if there is any.

    Args:
        view: The pieces.
        chips: True for the tints of chips, otherwise for colored text.
    """
    for branch, about in enumerate(view.branches):
        text = safe(about, limit=400)
        if chips:
            yield ((f" {branch + 1} ", ground_of(branch)), (f" {text}", ""))
        else:
            yield ((number_of(branch) + " ", "strong"), (text, style_of(branch)))
    parts = (*view.typed, *view.corpus)
    if any(part.branch is None for part in parts):
        yield (("  ", ""), ("dropped", "dropped"), (" between pre-tokens", "muted"))


def facts(view: PiecesView) -> Cell:
    """Return a line with the split, the numbers of pre-tokens, and the length of the longest one."""
    many = f"{plural(view.occurrences, 'pre-token')}, {number(view.distinct)} distinct"
    longest = f"longest {plural(view.longest, 'character')}"
    return ((safe(view.split, limit=60), "strong"), (f" · {many}, {longest}", "muted"))


def rows(
    parts: Iterable[PiecePart], width: int, begun: Cell = (), chips: bool = False, numbered: bool = False
) -> Iterator[Cell]:
    """Yield rows of pieces as running text. A row ends before a piece that does not fit, inside one longer
    than a row, and after a newline.

    Args:
        parts: The pieces.
        width: The columns of a row.
        begun: The row to continue; empty for a new one.
        chips: True to show pieces as chips in the tint of their branch, with bars between those of one
            branch; otherwise a bar and the number of its branch precede each.
        numbered: True to start each chip with the number of its branch.
    """
    row = list(begun)
    left = width - ui_text.width(row)
    for part in parts:
        plain, head = "dropped", tuple[Run, ...]()
        if part.branch is not None:
            plain = ground_of(part.branch) if chips else style_of(part.branch)
            bar = "│" if row and (not chips or row[-1][1].split("+")[0] == plain.split("+")[0]) else ""
            name = number_of(part.branch) if numbered or not chips else ""
            head = ((bar + name, plain if chips else "muted"),)
        shown, more = part.text[:_MOST_DRAWN], part.text[_MOST_DRAWN:]
        for line in shown.splitlines(keepends=True) if "\n" in shown else (shown,):
            cell = (*head, *_drawn(line, plain))
            if ui_text.width(cell) > left and row and (ui_text.width(cell) <= width or left < width // 2):
                yield tuple(row)
                row, left = [], width
                cell = tuple([(text.replace("│", ""), name) for text, name in head]) + cell[len(head) :]
            head = ()
            first, *rest = wrap(cell, left) if left >= 2 else wrap(cell, width)
            row += first
            for full in rest:
                yield tuple(row)
                row = list(full)
            left = width - ui_text.width(row)
            if line.endswith("\n"):
                yield tuple(row)
                row, left = [], width
        if more:
            row.append((f"…{number(len(more))} more", "muted"))
            left -= cell_len(row[-1][0])
    if row:
        yield tuple(row)


def _drawn(text: str, plain: str) -> Iterator[Run]:
    """Yield the runs of a text in a tint or a style; a carriage return is drawn as quietly as a space."""
    if plain.startswith("tint"):
        yield from ui_text.chip(ui_text.runs(text), plain)
        return
    for run, kind in ui_text.tinted(ui_text.runs(text), plain):
        # A carriage return ends every line of some files: as quiet as the newline behind it.
        yield run, CharKind.space if kind == CharKind.control and "\r" in text and set(run) == {"␍"} else kind


class PiecesText(ScrolledLines):
    """The rows of pieces; it calls `wanted` when less than a page is left below.

    Args:
        wanted: Called without arguments, at each scroll and each change.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "page(1)"),]

    def __init__(self, wanted: Callable[[], None]) -> None:
        super().__init__()
        self.cells: tuple[Cell, ...] = ()
        self._wanted = wanted

    def show(self, cells: Sequence[Cell]) -> None:
        """Replace the rows; the scroll position stays."""
        self.cells = tuple(cells)
        self.scrolled()

    def first(self) -> None:
        """Scroll to the first row."""
        self.scroll_to_row(0)

    def last(self) -> None:
        """Scroll to the last row that is loaded; more may be loaded then."""
        self.scroll_to_row(len(self.cells))

    def scrolled(self) -> None:
        """Draw the visible rows, and call `wanted` if less than a page is left below."""
        self.set_rows(len(self.cells))
        self.paint(self.cells[self.top : self.top + self.size.height])
        if self.top + 2 * self.size.height >= len(self.cells):
            self._wanted()


class PiecesScreen(Dialog[None]):
    """Shows the pre-tokens of the typed text, then those of the corpus from a place on.

    Args:
        engine: The link to the session.
        place: The place in the corpus.
    """

    HEADING = "Pre-tokens"
    BINDINGS: ClassVar[list[BindingType]] = [
        SCROLL,
        Binding("b", "go_to_start", "start of the corpus", id="pieces.start",
            tooltip="Show the corpus from its start"),
        Binding("l", "turn_legend", "legend", id="pieces.legend", tooltip="Show or hide the legend"),
        replace(FIND, tooltip="Find a text in the corpus, and show it from there on"),
        replace(FILTER, tooltip="Show only the pre-tokens that contain a text; esc shows all"),
    ]

    def __init__(self, engine: EngineLink, place: CorpusPlace) -> None:
        super().__init__(engine)
        self._start = self._next = place
        self._view: PiecesView | None = None
        self._parts: list[tuple[int, list[PiecePart]]] = []
        """The pieces of each answer, with the number of their document."""
        self._laid = self._width = 0
        """The answers that are laid out, and the columns that they are laid out for."""
        self._rows: list[Cell] = []
        self._ended = False
        self._sought = self._only = ""
        """The text that was found last, and the one that all pieces have that are shown."""
        self._empty = 0
        """The answers in a row without such a piece."""
        self.facts, self.legend = CellText("facts"), Lines(classes="legend")
        self.text = PiecesText(self._more)
        self.parts = self.facts, self.notice, self.legend, self.text

    def on_mount(self) -> None:
        """Focus the text, and ask for the first pieces."""
        self.set_focus(self.text)
        self.begin(self._start)

    def action_go_to_start(self) -> None:
        """Show the corpus from its start."""
        self.begin(CorpusPlace())

    def action_turn_legend(self) -> None:
        """Show or hide the legend."""
        self.toggle_class("-turned")
        self.call_after_refresh(self.lay_out)

    def action_leave(self) -> None:
        """End the filter if there is one, otherwise close."""
        if self._only:
            self.narrow("")
        else:
            self.dismiss(None)

    def action_find(self) -> None:
        """Ask for a text, and show the corpus from its next place on; an empty text changes nothing."""

        def find(text: str | None) -> None:
            if text:
                start_worker(self, "find", self.find, text)

        self.app.push_screen(FindScreen(self.engine, "the corpus", self._sought), find)

    async def find(self, text: str) -> None:
        """Search for a text from the start of the loaded part, and show the corpus from its next place. Keep
        the text for the next search. If there is no match, or after an error, show that in the notice."""
        self._sought = text
        try:
            found = await self.engine.ask(Find("corpus", text, self._start, mode="text"))
        except (TokentuiError, Cancelled) as error:
            self.fail(error)
            return
        if found is not None and isinstance(found.at, CorpusPlace):
            self.begin(found.at)
        else:
            self._say(f"not found: {safe(text, limit=60)}", "warning")

    def action_filter(self) -> None:
        """Ask for a text, and show only the pieces that contain it; all for an empty one."""
        dialog = FindScreen(self.engine, "pre-tokens", self._only, "only")
        self.app.push_for_result(dialog, self.narrow)

    def narrow(self, text: str) -> None:
        """Show only the pieces that contain a text, and load them from the start place again; all pieces for
        ""."""
        self._only, self._empty = text, 0
        self.begin(self._start)

    # What is asked.

    def begin(self, place: CorpusPlace) -> None:
        """Clear the pieces, and load those from a place on, from the top. The filter stays."""
        self._start = self._next = place
        self._parts, self._width, self._view = [], 0, None
        self._ended, self.asking = False, ""
        self.text.scroll_rows(0)
        self._more()

    def _more(self) -> None:
        """Ask for the next pieces; do nothing while an answer is awaited, at the end, and after `_MOST_EMPTY`
        answers without a match."""
        if not (self._ended or self.asking or self._empty >= _MOST_EMPTY):
            self.start_asking("splitting …", self._add_pieces)

    async def _add_pieces(self) -> None:
        """Ask for the next pieces of the corpus, add those that pass the filter, and lay them out. At the end
        of the corpus add nothing."""
        view = await self.ask(Pieces(self._next))
        if self._view is None:
            self._view = view
            self._say(safe(view.warning), "warning")
        document = view.place.document
        # A place inside a piece is answered from its start on.
        first = self._next if self._parts else CorpusPlace()
        fresh = [
            part for part in view.corpus if (document, part.start) >= first and self._only in part.text]
        self._empty = 0 if fresh or not self._only else self._empty + 1
        if fresh:
            self._parts.append((document, fresh))
        reached = CorpusPlace(document, view.corpus[-1].end) if view.corpus else view.place
        if reached > self._next:
            self._next = reached
        else:
            self._ended = True
        self.lay_out()

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show in the notice why there are no further pieces, and ask for no more; a cancellation shows
        nothing."""
        if isinstance(error, TokentuiError):
            self._say(safe_line(error), "error")
            self._ended = True
        self.lay_out()

    # What is seen.

    def tell_waiting(self) -> None:
        """Show in the notice what the first pieces wait for; later do nothing."""
        if self._view is None and self.asking:
            self._say(self.waits, "muted")

    def _say(self, text: str, style: str) -> None:
        """Show a text in the notice; hide the notice for an empty one."""
        self.set_class(bool(text), "-warned")
        self.notice.say(text, style)

    def lay_out(self) -> None:
        """Show the facts, the legend and the rows for the width. Do nothing while no pieces are loaded, or
        without a width."""
        view, width = self._view, self.text.size.width
        if view is None or not width:
            return
        self.facts.show(facts(view))
        legend_line = tuple(legend(view, self.app.chips))
        self.legend.styles.height = len(legend_line) + 1  # and the rule below
        self.legend.show(lambda width, height: legend_line)
        self.text.show(tuple(self._lines_of(view, width)))

    def _lines_of(self, view: PiecesView, width: int) -> Iterator[Cell]:
        """Yield the rows for a width in cells: the typed text if there is one, a heading, the loaded part of
        the corpus, and why it ends there if no more is loaded."""
        if view.typed:
            pieces = sum(part.branch is not None for part in view.typed)
            yield (("Typed text", "strong"), (f" · {plural(pieces, 'pre-token')}", "muted"))
            typed = [part for part in view.typed if self._only in part.text]
            yield from rows(typed, width, chips=self.app.chips, numbered=True)
            yield ()
        character, first = number(self._start.offset + 1), number(self._start.document + 1)
        start = f" from character {character} of document {first} on"
        only = f" · only pre-tokens with ‘{safe(self._only, limit=40)}’, esc shows all" if self._only else ""
        where = "" if self._start == CorpusPlace() else start
        yield (("Corpus", "strong"), (only, "warning"), (where, "muted"))
        self._lay(width)
        yield from self._rows
        if self._ended:
            yield (("the end of the corpus", "muted"),)
        elif self._empty >= _MOST_EMPTY:
            text = safe(self._only, limit=40)
            yield ((f"no more with ‘{text}’ nearby: / finds in all of the corpus", "muted"),)

    def _lay(self, width: int) -> None:
        """Add the rows of new pieces to `_rows`; a new width lays out all pieces again.

        A new document gets a heading. Other pieces continue the last row, unless the last piece ends with a
        newline.
        """
        if self._width != width:
            self._laid, self._width, self._rows = 0, width, []
        for place, (document, parts) in enumerate(self._parts[self._laid :], self._laid):
            before, last = self._parts[place - 1] if place else (self._start.document, [])
            if document != before:
                self._rows.append(((f"document {number(document + 1)}", "muted"),))
            goes_on = document == before and last and not last[-1].text.endswith("\n")
            begun = self._rows.pop() if goes_on else ()
            self._rows += rows(parts, width, begun, self.app.chips)
        self._laid = len(self._parts)


# Gage's compression at a step: the compressed text with letters for its placeholders, the table that expands


EXPANSION_SHOWN = 64
"""The maximum number of characters of what a placeholder stands for in the end."""

_LETTER = "key"
_TABLE = (
    Column("", width=3, priority=4),
    Column("byte", width=4, priority=1),
    Column("stands for", width=10, priority=3),
    Column("spelled", flex=1, min_width=8, priority=2),
)


def text(view: Compressed) -> Cell:
    """Return the compressed bytes: each placeholder as its letter, other bytes as text."""
    out: list[Run] = []
    for letter, group in groupby(view.compressed, key=lambda byte: view.names.get(byte, "")):
        values = bytes(group)
        out += [(letter, _LETTER)] * len(values) if letter else ui_text.runs(values)
    return tuple(out)


def table(view: Compressed) -> Iterator[TableRow]:
    """Yield a row for each placeholder: its letter, its byte, the pair that it replaces, and its full text,
    cut to `EXPANSION_SHOWN` characters."""
    letters = view.names
    for placeholder, left, right, expansion in view.table:
        pair = (*_side(left, letters), ("+", "muted"), *_side(right, letters))
        byte: Cell = ((f"{placeholder:02X}", "muted"),)
        letter: Cell = ((letters[placeholder], _LETTER),)
        expanded = ui_text.runs(expansion, limit=EXPANSION_SHOWN)
        yield TableRow(placeholder, (letter, byte, pair, expanded))


def _side(byte: int, letters: Mapping[int, str]) -> Cell:
    return ((letters[byte], _LETTER),) if byte in letters else ui_text.runs(bytes((byte,)))


def sizes(view: Compressed) -> str:
    """Return the sizes in bytes, such as `text 5 B + table 9 B = 14 B of 11 B (127.3 %)`."""
    whole = view.text_bytes + view.table_bytes
    share = f" ({100 * whole / view.original_bytes:.1f} %)" if view.original_bytes else ""
    parts = f"text {number(view.text_bytes)} B + table {number(view.table_bytes)} B"
    return f"{parts} = {number(whole)} B of {number(view.original_bytes)} B{share}"


class _Lines(Listing):
    """Lines of text: the cursor is no more than the sign in the margin, so that letters keep their colors.
    """


    KEEPS_COLORS = True


def show_compressed(screen: EngineScreen[Any]) -> None:
    """Open the compressed text of the current step; if the recipe does not compress, show a message."""
    if has(screen.engine.snapshot, "compresses"):
        screen.app.push_screen(CompressedScreen(screen.engine))
    else:
        screen.app.say("only Gage's compression has a compressed text: choose it with a")


class CompressedScreen(TableDialog[None]):
    """Shows the compressed text in parts, and its table.

    Args:
        engine: The link to the session.
    """

    HEADING, SEARCHED = "Compressed", "the table"
    BINDINGS: ClassVar[list[BindingType]] = [
        SCROLL,
        Binding("tab", "app.focus_next", "text or table", id="compressed.switch",
            tooltip="Go to the text, or to the table"),
        Binding("right_square_bracket", "part(1)", "next part", id="compressed.next",
            tooltip="Show the next part of the text"),
        Binding("left_square_bracket", "part(-1)", "previous part", id="compressed.previous",
            tooltip="Show the previous part of the text"),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self._view: Compressed | None = None
        self._start = 0
        self.where = CellText("heading")
        self.lines, self.table = _Lines((Column(flex=1),), id="text"), Listing(_TABLE, id="table")
        self.listing = self.table
        sides = (
            Vertical(self.where, self.lines, id="compressed-text"),
            Vertical(self.table, id="compressed-table"),
        )
        self.parts = self.notice, Horizontal(*sides, classes="sides")

    def on_mount(self) -> None:
        """Focus the text, and ask for its first part."""
        self.set_focus(self.lines)
        self._ask(0)

    def action_part(self, by: int) -> None:
        """Ask for the next part of the text (`by` 1) or the one before (-1). Do nothing at its ends, and
        while an answer is awaited."""
        start = self._start + by * Compress.length
        last = self._view is None or len(self._view.compressed) < Compress.length
        if not self.asking and start >= 0 and not (by > 0 and last):
            self._ask(start)

    def _ask(self, start: int) -> None:
        self.start_asking("compressing …", self._show_part, start)

    async def _show_part(self, start: int) -> None:
        """Show the part of the text from a byte on; if it is beyond the end, keep the part that is shown."""
        view = await self.ask(Compress(start))
        if view.compressed or start <= self._start:
            self._view, self._start = view, start
            self.lines.move_to(0)
        self.lay_out()

    def lay_out(self) -> None:
        """Show the sizes, the range of bytes, the text and the table. Do nothing before the first answer."""
        if (view := self._view) is None:
            return
        self.notice.say(sizes(view), "strong")
        end = self._start + len(view.compressed)
        where = f"bytes {number(self._start)} to {number(end)} of the text" if view.compressed else "no text"
        self.where.show(((where, ""),))
        width = self.lines.size.width - 3  # the margin, the bar
        self.lines.show([TableRow(n, (line,)) for n, line in enumerate(wrap(text(view), width))])
        self.table.show(list(table(view)))
