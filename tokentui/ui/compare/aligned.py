"""Encodings of one text under each other: a row a column, and a ruler that says how many columns cut at each
place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from rich.cells import set_cell_size
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.catalog import DROPPED, PAIR_MEASURES, Alignment, Disagreement, Mark
from tokentui.session.catalog import Cell as Placed
from tokentui.session.snapshot import Aligned, PairAgreement, Snapshot
from tokentui.session.views import LETTERS, ColumnSnapshot, Passage
from tokentui.ui.compare.lines import letter
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.lines import Lines, blank
from tokentui.ui.draw.text import Cell, Run, cell_len, clusters_of
from tokentui.ui.panes.encode import TYPED_LIMIT, TypedLine, sign

REFUSAL_SHOWN = 300
_MARGIN = 3
_STRIDE = 8
"""The number of terminal columns that one key scrolls."""


def crop(cell: Cell, start: int, end: int) -> Cell:
    """The columns of a cell from `start` to before `end`. A cluster that is cut in two leaves blanks."""
    out: list[Run] = []
    at = 0
    for text, name in cell:
        size = cell_len(text)
        if at >= end:
            break
        if at + size > start:
            out.append((_cut(text, start - at, end - at), name) if at < start or at + size > end
                else (text, name))
        at += size
    return tuple(out)


def _cut(text: str, start: int, end: int) -> str:
    out: list[str] = []
    at = 0
    for char, size in clusters_of(text):
        if start <= at and at + size <= end and (size or at > start or not start):
            out.append(char)
        elif at < end and at + size > start:
            out.append(" " * (min(end, at + size) - max(start, at)))
        at += size
    return "".join(out)


def row_cell(alignment: Alignment, row: int, here: Disagreement | None, fresh: frozenset[int], start: int,
        end: int) -> Cell:
    """The columns `start` to `end` of a row.

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
    for cell in islice(cells, first, None):
        if cell.x > end:
            break
        ground = _ground(here, cell.start, cell.end)
        if cell.x > at:
            rows = marks.get(cell.x - 1, ())
            between = "┊" if cell.place else "│" if row in rows else " "
            edge = "frame" if len(rows) == len(alignment.rows) else "strong"
            inside = here is not None and here.start < cell.start < here.end
            out.append((" " * (cell.x - 1 - at) + between, edge + (ground if inside or cell.place else "")))
        text = cell.text if cell_len(cell.text) == cell.width else set_cell_size(cell.text, cell.width)
        out.append((text, _style(cell, fresh) + ground))
        at = cell.x + cell.width
    return crop(tuple(out), start - origin, end - origin)


def _ground(here: Disagreement | None, start: int, end: int) -> str:
    return "+strong+shade-b" if here is not None and start < here.end and end > here.start else ""


def _style(cell: Placed, fresh: frozenset[int]) -> str:
    if cell.token == DROPPED:
        return "dropped"
    return "warning" if cell.unknown else "accent" if cell.token in fresh else ""


def ruler_cell(alignment: Alignment, here: Disagreement | None, start: int, end: int) -> Cell:
    """The columns `start` to `end` of the ruler: below each boundary how many rows have it."""
    out: list[Run] = []
    at = start
    for mark in _marks(alignment, start, end):
        count = len(mark.rows)
        inside = here is not None and here.start < mark.offset < here.end
        style = "muted" if count == len(alignment.rows) else "strong"
        out += [(" " * (mark.x - at), ""), (str(count), style + ("+shade-b" if inside else ""))]
        at = mark.x + 1
    return (*out, *blank(end - at))


def _marks(alignment: Alignment, start: int, end: int) -> Iterator[Mark]:
    """The boundaries of any row in some columns."""
    first = bisect_left(alignment.ruler, start, key=lambda mark: mark.x)
    return takewhile(lambda mark: mark.x < end, islice(alignment.ruler, first, None))


class AlignedRows(Lines, can_focus=True):
    """The rows, the ruler, and how far two of them agree."""

    DEFAULT_CSS = """
    AlignedRows { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.aligned: Aligned | None = None
        self.columns: tuple[ColumnSnapshot, ...] = ()
        self.pair: tuple[int, int] | None = None
        self.left = 0
        """The first column of the alignment that is seen."""
        self.here: int | None = None
        """The character that the disagreement begins with that is looked at."""
        self._awaited: tuple[Passage, bool] | None = None

    def take(self, aligned: Aligned, columns: Sequence[ColumnSnapshot], pair: tuple[int, int] | None) -> None:
        """Take encodings, the columns of Compare, and the keys of the two that are looked at."""
        if self.aligned is None or (self.aligned.text, self.aligned.passage) != (aligned.text,
                aligned.passage):
            self.left, self.here = 0, None
        self.aligned, self.columns, self.pair = aligned, tuple(columns), pair
        self._scroll(self.left)
        if self._awaited is not None and self._awaited[0] == aligned.passage:
            backward, self._awaited = self._awaited[1], None
            self.go_round(backward)

    # What is looked at.

    @property
    def partings(self) -> tuple[Disagreement, ...]:
        """Where the rows part."""
        alignment = self.aligned.alignment if self.aligned is not None else None
        return alignment.partings if alignment is not None else ()

    @property
    def note(self) -> Cell:
        """`≠ 2/7`: which disagreement is looked at, of all."""
        total = len(self.partings)
        if self.aligned is None or self.aligned.alignment is None or len(self.aligned.keys) < 2:
            return ()
        at = next((n for n, one in enumerate(self.partings, 1) if one.start == self.here), None)
        place = "–" if at is None else number(at)
        return ((f"≠ {place.rjust(len(number(total)))}/{number(total)}", "muted"),)

    def go_on(self, backward: bool) -> bool:
        """Look at the next disagreement, or the one before. Returns whether there is one."""
        alignment = self.aligned.alignment if self.aligned is not None else None
        if alignment is None:
            return False
        if backward:
            found = alignment.before(len(alignment.text) if self.here is None else self.here)
        else:
            found = alignment.after(-1 if self.here is None else self.here)
        if found is None:
            return False
        self._look_at(alignment, found)
        return True

    def go_round(self, backward: bool) -> None:
        """Look at the first disagreement of all, or the last."""
        self.here = None
        self.go_on(backward)

    def await_passage(self, passage: Passage, backward: bool) -> None:
        """Look at the first disagreement of a passage, or the last, as soon as it is shown."""
        if self.aligned is not None and self.aligned.passage == passage:
            self.go_round(backward)
        else:
            self._awaited = passage, backward

    def _look_at(self, alignment: Alignment, found: Disagreement) -> None:
        self.here = found.start
        start, end = alignment.x(found.start), alignment.x(found.end)
        room = self._room
        if start < self.left or end > self.left + room:
            self._scroll(start - max(0, room - (end - start)) // 2)
        else:
            self.again()

    def _scroll(self, left: int) -> None:
        alignment = self.aligned.alignment if self.aligned is not None else None
        most = 0 if alignment is None else max(0, alignment.width - self._room)
        self.left = max(0, min(left, most))
        self.again()

    def sideways(self, by: int) -> None:
        """Scroll."""
        self._scroll(self.left + by * _STRIDE)

    def first(self) -> None:
        """Scroll to the beginning."""
        self._scroll(0)

    def last(self) -> None:
        """Scroll to the end."""
        self._scroll(1 << 30)

    def on_resize(self) -> None:
        """Fill the new room."""
        self._scroll(self.left)

    # What is seen.

    @property
    def _tail(self) -> int:
        """The columns that the numbers of tokens take."""
        most = max((len(tokens) for tokens in self.aligned.tokens),
            default=0) if self.aligned is not None else 0
        return len(plural(max(2, most), "token")) + 2

    @property
    def _room(self) -> int:
        return max(1, self.size.width - _MARGIN - self._tail - 1)

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """A row a column, the ruler, and how far two agree."""
        aligned = self.aligned
        if aligned is None:
            return ()
        return list(self._lines(aligned, width))[:height]

    def _lines(self, aligned: Aligned, width: int) -> Iterator[Cell]:
        room, tail = self._room, self._tail
        alignment, refused = aligned.alignment, dict(aligned.refused)
        span = self.left, self.left + room
        here = next((one for one in self.partings if one.start == self.here), None)
        more = alignment is not None and alignment.width > span[1]
        for place, column in enumerate(self.columns):
            head: Cell = ((" ", ""), letter(place), ("‹" if span[0] else " ", "muted"))
            if alignment is not None and column.key in aligned.keys:
                row = aligned.keys.index(column.key)
                tokens = aligned.tokens[row]
                last = column.at.last_id
                fresh = frozenset(n for n,
                    token in enumerate(tokens) if last is not None and token.id == last)
                drawn = row_cell(alignment, row, here, fresh, *span)
                count: Cell = (("›" if more else " ", "muted"),
                    (plural(len(tokens), "token").rjust(tail - 1), "strong"))
                yield (*head, *drawn, *blank(room - ui_text.width(drawn)), *count)
            elif column.key in refused:
                yield (*head, *ui_text.clip(((safe(refused[column.key], limit=REFUSAL_SHOWN), "error"),),
                    width - _MARGIN - 1))
            else:
                yield (*head, ("–", "muted"))
        if alignment is not None and len(aligned.keys) > 1:
            yield (*blank(_MARGIN), *ruler_cell(alignment, here, *span))
            yield from self._agreement(aligned, width)

    def _agreement(self, aligned: Aligned, width: int) -> Iterator[Cell]:
        found = next((one for one in aligned.pairs if (one.a, one.b) == self.pair), None)
        if found is not None:
            places = {column.key: place for place, column in enumerate(self.columns)}
            said = agreement_cell(found, places.get(found.a, 0), places.get(found.b, 0), width - 2)
            yield ui_text.clip(((" ", ""), *said), width - 1)


def agreement_cell(pair: PairAgreement, a: int, b: int, room: int) -> Cell:
    """`A·B  boundaries 3 shared, 1 only A, 3 only B · exact words 0.5000 · …`, as many facts as there is room
    for.

    Args:
        pair: Two columns and how far they agree.
        a: The place of the first.
        b: The place of the second.
        room: The columns of the terminal.
    """
    one = pair.agreement
    only = one.boundaries_a - one.shared, one.boundaries_b - one.shared
    out: Cell = (
        letter(a), ("·", "muted"), letter(b), ("  boundaries ", "muted"), (number(one.shared), "strong"),
        (" shared, ", "muted"),
        (number(only[0]), ""), (f" only {LETTERS[a]}, ", "muted"), (number(only[1]), ""),
        (f" only {LETTERS[b]}", "muted"),
    )
    for measure in PAIR_MEASURES:
        figure = measure.of(one)
        if figure is not None:
            more: Cell = ((f" · {measure.title} ", "muted"), (f"{figure:.4f}", ""))
            if ui_text.width(out) + ui_text.width(more) > room:
                break
            out = (*out, *more)
    return out


# The encodings of Compare: a line to type in, or the place of a passage of the corpus, and the rows below


def passage_line(passage: Passage | None, size: int) -> Sequence[Cell]:
    """Where in the corpus the text stands that is shown: `corpus  document 1, character 12,345   e what was
    typed`.
    """
    if passage is None:
        return ()
    where = f"document {number(passage.document + 1)}, character {number(passage.start)}"
    return ((
        ("corpus  ", "accent"), (where, ""), (f" · {plural(size, 'byte')}   ", "muted"), ("e", "key"),
        (" what was typed", "muted"),
    ),)


class CompareEncode(Vertical):
    """The line and the rows.

    Args:
        typed: The initial text of the line.
    """

    def __init__(self, typed: str) -> None:
        super().__init__()
        self.line, self.passage, self.rows = TypedLine(), Lines(), AlignedRows()
        self._typed = typed

    def compose(self) -> ComposeResult:
        """The line at the top."""
        yield Horizontal(sign(), self.line, self.passage, classes="typing")
        yield self.rows

    def on_mount(self) -> None:
        """Put the text into the line."""
        self.passage.display = False
        self.line.value = self._typed[:TYPED_LIMIT]

    @property
    def focused_body(self) -> Widget:
        """The widget that gets the keys, but for typing."""
        return self.rows

    @property
    def note(self) -> Cell:
        """Which disagreement is looked at."""
        return self.rows.note

    def present(self, now: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Show the encodings; see `Body.present`."""
        aligned = now.between.aligned
        self.passage.display = aligned.passage is not None
        self.line.display = aligned.passage is None
        self.passage.show(lambda *_: passage_line(aligned.passage, aligned.bytes), aligned)
        self.rows.take(aligned, now.columns, pair)
