"""The encode pane of Compare: encodings of one text under each other, a row a column, and a ruler that says
how many columns cut at each place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import ClassVar

from rich.cells import set_cell_size
from textual.binding import Binding, BindingType

from tokentui.analyze.align import DROPPED, Alignment, Mark
from tokentui.analyze.compare import PAIR_MEASURES, Disagreement, PairAgreement
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.session.snapshot import Aligned, Snapshot
from tokentui.session.views import LETTERS, ColumnSnapshot, Passage
from tokentui.ui.bindings import FAR, Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell, Run, cell_len, crop
from tokentui.ui.panes.compare.columns import letter
from tokentui.ui.panes.encode import TypedPane

REFUSAL_SHOWN = 300
_MARGIN = 3
_LEGEND = "boundaries"
"""The figures of the ruler are numbers of rows: so many of them are cut there."""
_STRIDE = 8
"""The number of terminal columns that one key scrolls."""
_NOTHING = Alignment("", 0, (), (), (), ())


def row_cell(alignment: Alignment, row: int, here: Disagreement | None, fresh: frozenset[int], start: int,
        end: int) -> Cell:
    """Return the columns `start` to `end` of an aligned row.

    Args:
        alignment: The rows.
        row: Its number.
        here: The disagreement that is looked at.
        fresh: The tokens of the row, by their numbers, that the last step made.
        start: The first column of the alignment that is seen.
        end: The one behind the last.
    """
    cells = alignment.rows[row]
    first = max(0, bisect_right(cells, start, key=lambda cell: cell.x) - 1)
    marks = {mark.x: mark.rows for mark in _marks(alignment, start, end)}
    out: list[Run] = []
    at = origin = cells[first].x if cells else start
    for cell in takewhile(lambda cell: cell.x <= end, islice(cells, first, None)):
        within = here is not None and cell.start < here.end and cell.end > here.start
        ground = "+strong+shade-b" if within else ""
        if cell.x > at:
            rows = marks.get(cell.x - 1, ())
            between = "┊" if cell.place else "│" if row in rows else " "
            edge = "frame" if len(rows) == len(alignment.rows) else "strong"
            inside = here is not None and here.start < cell.start < here.end
            out.append((" " * (cell.x - 1 - at) + between, edge + (ground if inside or cell.place else "")))
        style = "warning" if cell.unknown else "accent" if cell.token in fresh else ""
        text = cell.text if cell_len(cell.text) == cell.width else set_cell_size(cell.text, cell.width)
        out.append((text, ("dropped" if cell.token == DROPPED else style) + ground))
        at = cell.x + cell.width
    return crop(tuple(out), start - origin, end - origin)


def ruler_cell(alignment: Alignment, here: Disagreement | None, start: int, end: int) -> Cell:
    """Return the columns `start` to `end` of the ruler: under each boundary, the number of rows that have it.
    """
    out: list[Run] = []
    at = start
    for mark in _marks(alignment, start, end):
        count = len(mark.rows)
        inside = here is not None and here.start < mark.offset < here.end
        style = "muted" if count == len(alignment.rows) else "strong"
        out += [(" " * (mark.x - at), ""), (str(count), style + ("+shade-b" if inside else ""))]
        at = mark.x + 1
    return (*out, (" " * (end - at), ""))


def _marks(alignment: Alignment, start: int, end: int) -> Iterator[Mark]:
    """Yield the boundaries that any row has in some columns."""
    first = bisect_left(alignment.ruler, start, key=lambda mark: mark.x)
    return takewhile(lambda mark: mark.x < end, islice(alignment.ruler, first, None))


class AlignedRows(Lines, can_focus=True):
    """The rows, the ruler, and how far two of them agree."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.inspect_typed", "why", id="inspect_aligned", group=Hint(rank=5),
            tooltip="Show how this column encodes the word at the cursor, and why it is not a single token"),
        Binding("left,h", "sideways(-1)", "scroll", id="aligned_left", group=Hint(rank=4),
            tooltip="Scroll left"),
        Binding("right,l", "sideways(1)", "next scroll", id="aligned_right",
            tooltip="Scroll right"),
        Binding("home", f"sideways({-FAR})", "first", id="aligned_first",
            tooltip="Go to the beginning of the text"),
        Binding("end", f"sideways({FAR})", "last", id="aligned_last",
            tooltip="Go to the end of the text"),
    ]

    DEFAULT_CSS = """
    AlignedRows { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.aligned, self.alignment = Aligned(), _NOTHING
        self.columns: tuple[ColumnSnapshot, ...] = ()
        self.pair: tuple[int, int] | None = None
        self.left = 0
        """The first column of the alignment that is seen."""
        self.here: int | None = None
        """The character that the disagreement begins with that is looked at."""
        self._awaited: tuple[Passage, bool] | None = None

    def set_encodings(self, aligned: Aligned, columns: tuple[ColumnSnapshot, ...],
            pair: tuple[int, int] | None) -> None:
        """Show other encodings. Another text scrolls back to its start; a disagreement that was waited for
        (`await_passage`) is brought into view.

        Args:
            aligned: The encodings of the text by each column.
            columns: The columns of Compare.
            pair: The keys of the two columns whose agreement is shown.
        """
        if (self.aligned.text, self.aligned.passage) != (aligned.text, aligned.passage):
            self.left, self.here = 0, None
        self.aligned, self.alignment = aligned, aligned.alignment or _NOTHING
        self.columns, self.pair = columns, pair
        self.scroll_columns(self.left)
        if self._awaited is not None and self._awaited[0] == aligned.passage:
            backward, self._awaited = self._awaited[1], None
            self.go_round(backward)

    # What is looked at.

    def go_on(self, backward: bool) -> bool:
        """Look at the next disagreement, or the one before. Returns whether there is one."""
        alignment = self.alignment
        if backward:
            parting = alignment.before(len(alignment.text) if self.here is None else self.here)
        else:
            parting = alignment.after(-1 if self.here is None else self.here)
        if parting is None:
            return False
        self.here = parting.start
        start, end = alignment.x(parting.start), alignment.x(parting.end)
        if start < self.left or end > self.left + self._room:
            self.scroll_columns(start - max(0, self._room - (end - start)) // 2)
        else:
            self.again()
        return True

    def go_round(self, backward: bool) -> None:
        """Look at the first disagreement of all, or the last."""
        self.here = None
        self.go_on(backward)

    def await_passage(self, passage: Passage, backward: bool) -> None:
        """Look at the first disagreement of a passage, or the last, as soon as it is shown."""
        if self.aligned.passage == passage:
            self.go_round(backward)
        else:
            self._awaited = passage, backward

    def scroll_columns(self, left: int) -> None:
        """Let this column of the alignment be the first that is seen, as far as there are columns."""
        self.left = max(0, min(left, self.alignment.width - self._room))
        self.again()

    def action_sideways(self, by: int) -> None:
        """Scroll."""
        self.scroll_columns(self.left + by * _STRIDE)

    def on_resize(self) -> None:
        """Fill the new room."""
        self.scroll_columns(self.left)

    # What is seen.

    @property
    def _tail(self) -> int:
        """The columns of the token counts at the right."""
        return len(plural(max([2, *map(len, self.aligned.tokens)]), "token")) + 2

    @property
    def _room(self) -> int:
        return max(1, self.size.width - _MARGIN - self._tail - 1)

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """Return a row for each column, the ruler, and the agreement of the pair."""
        aligned, alignment, room = self.aligned, self.alignment, self._room
        refused, span = dict(aligned.refused), (self.left, self.left + room)
        here = next((parting for parting in alignment.partings if parting.start == self.here), None)
        lines: list[Cell] = []
        for place, column in enumerate(self.columns):
            head: Cell = ((" ", ""), letter(place), ("‹" if self.left else " ", "muted"))
            if column.key in aligned.keys:
                row = aligned.keys.index(column.key)
                tokens, last = aligned.tokens[row], column.at.last_id
                fresh = frozenset(
                    n for n, token in enumerate(tokens) if last is not None and token.id == last
                )
                row_line = row_cell(alignment, row, here, fresh, *span)
                count: Cell = (("›" if alignment.width > span[1] else " ", "muted"),
                    (plural(len(tokens), "token").rjust(self._tail - 1), "strong"))
                lines.append((*head, *row_line, (" " * (room - ui_text.width(row_line)), ""), *count))
            elif column.key in refused:
                error: Cell = ((safe(refused[column.key], limit=REFUSAL_SHOWN), "error"),)
                lines.append((*head, *ui_text.clip(error, width - _MARGIN - 1)))
            else:
                lines.append((*head, ("–", "muted")))
        if len(aligned.keys) > 1:
            legend: Cell = ((_LEGEND.rjust(self._tail), "muted"),)
            lines.append(((" " * _MARGIN, ""), *ruler_cell(alignment, here, *span), *legend))
            places = {column.key: place for place, column in enumerate(self.columns)}
            for pair in aligned.pairs:
                if (pair.a, pair.b) == self.pair:
                    counts = agreement_cell(pair, places.get(pair.a, 0), places.get(pair.b, 0), width - 2)
                    lines.append(ui_text.clip(((" ", ""), *counts), width - 1))
        return lines


def agreement_cell(pair: PairAgreement, a: int, b: int, room: int) -> Cell:
    """Return `A·B  boundaries: 3 shared, 1 in A only, 3 in B only · word agreement 0.5000 · …`, with as many
    facts as there is room for.

    Args:
        pair: Two columns and how far they agree.
        a: The place of the first.
        b: The place of the second.
        room: The columns of the terminal.
    """
    agreement = pair.agreement
    only = agreement.boundaries_a - agreement.shared, agreement.boundaries_b - agreement.shared
    out: Cell = (
        letter(a), ("·", "muted"), letter(b), ("  boundaries: ", "muted"),
        (number(agreement.shared), "strong"), (" shared, ", "muted"),
        (number(only[0]), ""), (f" in {LETTERS[a]} only, ", "muted"), (number(only[1]), ""),
        (f" in {LETTERS[b]} only", "muted"),
    )
    for measure in PAIR_MEASURES:
        figure = measure.of(agreement)
        if figure is not None:
            more: Cell = ((f" · {measure.title} ", "muted"), (f"{figure:.4f}", ""))
            if ui_text.width(out) + ui_text.width(more) > room:
                break
            out = (*out, *more)
    return out


def passage_line(passage: Passage | None, size: int) -> Sequence[Cell]:
    """Return the place of the passage: `corpus  document 1, character 12,345   E typed text`; empty for
    typed text."""
    if passage is None:
        return ()
    where = f"document {number(passage.document + 1)}, character {number(passage.start)}"
    return ((
        ("corpus  ", "strong"), (where, ""), (f" · {plural(size, 'byte')}   ", "muted"), ("E", "key"),
        (" typed text", "muted"),
    ),)


class CompareEncode(TypedPane):
    """The line, or in its place that of a passage of the corpus, and the rows.

    Args:
        typed: The initial text of the line.
    """

    def __init__(self, typed: str) -> None:
        self.passage, self.rows = Lines(), AlignedRows()
        self._typing = False
        super().__init__(typed, self.passage, self.rows)

    def on_mount(self) -> None:
        """Begin with what is typed."""
        self.passage.display = False

    @property
    def note(self) -> Cell:
        """`7 differ`: the number of disagreements; `2 of 7` at one of them. Before it `first 4,000 of 5,120
        characters` if the typed text is longer than what is compared."""
        aligned, partings = self.rows.aligned, self.rows.alignment.partings
        notes: list[str] = []
        if aligned.left:
            shown = len(aligned.text)
            notes.append(f"first {number(shown)} of {number(shown + aligned.left)} characters")
        if len(aligned.keys) > 1:
            at = next(
                (number(n) for n, parting in enumerate(partings, 1) if parting.start == self.rows.here), ""
            )
            total = number(len(partings))
            count = f"{at.rjust(len(total))} of {total}" if at else plural(len(partings), "differs", "differ")
            notes.append(count)
        return ((" · ".join(notes), "muted"),) if notes else ()

    def sections(self, snapshot: Snapshot) -> object:
        """Return the encodings and the columns."""
        return snapshot.between.aligned, snapshot.columns

    def draw_snapshot(self, now: Snapshot) -> None:
        """Show the encodings."""
        aligned = now.between.aligned
        self.passage.show(lambda *_: passage_line(aligned.passage, aligned.bytes))
        self.rows.set_encodings(aligned, now.columns, self.pair)
        self.show_line(self._typing)

    def show_line(self, typing: bool) -> None:
        """Show the line, or in its place that of the passage. While one types it is the line: what is typed
        before the session has left the passage is text, and no keys."""
        self._typing = typing
        self.line.display = typing or self.rows.aligned.passage is None
        self.passage.display = not self.line.display
