"""The tables of a column: the candidates of the next step, as its trainer names them, and the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, TypeAlias

from textual.binding import Binding, BindingType

from tokentui.axes import AXES
from tokentui.core.safetext import GlyphMode, is_safe, safe
from tokentui.core.table import plural
from tokentui.learn.rows import (
    BY_COUNT,
    Candidate,
    Entry,
    PairCandidate,
    PieceCandidate,
    TokenCandidate,
    Worth,
)
from tokentui.session.commands import ListRows
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnSnapshot, Found
from tokentui.ui.bindings import Hint
from tokentui.ui.draw.chips import TOKEN_SHOWN
from tokentui.ui.draw.figures import amount, bar, behind, decimal, kind_name, number, signed
from tokentui.ui.draw.table import GAP, Column, TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run, emboldened, runs, tinted
from tokentui.ui.link import EngineLink
from tokentui.ui.panes.pane import LinkedPane, Pane
from tokentui.ui.waits import loading

REASON_SHOWN = 60
_WIDEST = 200
"""The columns of a table that shows all it has."""
_ONLY_SHOWN = 24
USUAL_ORDER = "newest"
"""The usual order of the vocabulary; any other one is a state in the title."""
_LANGUAGE_SHOWN = 16
SCORE_WIDTH = len("0.0038112")
"""Columns of a score: five digits that count, however small it is."""
_LOG_WIDTH = len("−12.345")
_SMALL_WIDTH = len("1.23e-4")
_HEADS = {"left uses": "f(x)", "right uses": "f(y)", "probability": "p", "parts": "of"}
"""The short heads of columns whose names are long."""


def match_cell(found: Found) -> Cell:
    """Return the number of a match and of all, as in `match 3 of 782 · `; empty if matches were not counted.
    """
    if not found.matches:
        return ()
    return (f"match {number(found.number)} of {number(found.matches)}", ""), (" · ", "muted")


def tokens(pieces: Sequence[bytes], mode: GlyphMode, linked: bytes = b"") -> Cell:
    """Return a token as a cell, or several joined by a muted plus; the `linked` one is bold."""
    out: list[Run] = []
    for piece in pieces:
        out += [("+", "muted")] if out else []
        shown = runs(piece, mode=mode, limit=TOKEN_SHOWN)
        out += emboldened(shown) if linked and piece == linked else shown
    return tuple(out)


def replacement_cell(byte: bytes, first: bool = True) -> Cell:
    """Return the byte that replaces a pair: its letter, with the hexadecimal value unless it is ASCII, as in
    `A` or `ÿ FF`. For white space and unsafe letters it is only the value, and "none" without a byte.

    Args:
        byte: The byte; empty for none.
        first: True for the next step; otherwise the letter is muted.
    """
    if not byte:
        return (("none", "muted"),)
    letter, figure = chr(byte[0]), byte.hex().upper()
    style = "key" if first else "muted"
    if not is_safe(letter) or letter.isspace():
        return ((figure, style),)
    return ((letter, style), ("" if letter.isascii() else f" {figure}", "muted"))


def worth_of(row: Candidate) -> str:
    """Return the value that a candidate is ranked by, as text: its number of places, its score, or the number
    of tokens that the corpus gains without it."""
    if not isinstance(row.worth, int):
        return decimal(float(row.worth), SCORE_WIDTH)
    return number(row.places if isinstance(row, PairCandidate | TokenCandidate) else abs(row.worth))


class Rows(NamedTuple):
    """The rows of a table as they are drawn.

    Attributes:
        columns: The columns; their widths depend on totals, so that they stay while numbers change.
        row_of: Makes a row of what is held of it, by its number.
        note: The number of all rows, for the title.
    """

    columns: tuple[Column, ...]
    row_of: Callable[[Any, int], TableRow]
    note: Cell


class ColumnTable(VirtualTable, Pane, LinkedPane):
    """A table of a section of a column.

    Args:
        section: The name of the section.
        rows: Returns the rows for a column, a mode, a width in cells, and the bytes of the bold token.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "inspect", id="inspect", group=Hint(rank=6),
            tooltip="Inspect the selected row"),
    ]

    def __init__(self, section: str, rows: Callable[[ColumnSnapshot, GlyphMode, int, bytes], Rows]) -> None:
        super().__init__()
        self._section, self._rows = section, rows
        self._note: Cell = ()
        self.match: Cell = ()
        """The number of the match that was found, and of all; it goes with the step."""
        self.only = ""
        """The text that the rows hold that are shown; empty where all are."""
        self.among = ""
        """The kind of the rows that are shown, in words; empty where all are."""
        self.column: ColumnSnapshot | None = None

    @property
    def note(self) -> Cell:
        """The number of rows, and the number of the match that was found; empty without rows."""
        if not self._note or not self.match:
            return self._note or self.match[:1]
        *others, (text, style) = self._note
        return (*others, (f"{text} · ", style), *self.match[:1])

    @property
    def states(self) -> Sequence[str]:
        """The filter of the rows, and their order unless it is the usual one."""
        page = getattr(self.column, self._section) if self.column is not None else None
        only = (f'only "{safe(self.only, limit=_ONLY_SHOWN)}"',) if self.only else ()
        order = () if page is None else ("by count",) if page.order == BY_COUNT else (page.order,)
        among = (self.among,) if self.among else ()
        return (*only, *among, *(name for name in order if name not in ("", USUAL_ORDER)))

    def clear(self, text: str = "") -> None:
        """Show no rows, and a line in their place if `text` is not empty."""
        self.column, self._note, self.match = None, (), ()
        self.update_rows(0, (), 0, (Column(text, flex=1, priority=1),) if text else None)

    def sections(self, snapshot: Snapshot) -> object:
        """Return the rows, what they are compared with, and the work in progress while nothing is open."""
        main, busy = snapshot.main, snapshot.corpus.nothing_open and snapshot.busy
        return getattr(main, self._section), main.why, main.at, main.traits, busy

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        """Show the rows of the first column, or what is being opened."""
        if snapshot.corpus.nothing_open:
            self.clear(loading(snapshot))
        else:
            self.show(snapshot.main, self.mode)

    def show(self, column: ColumnSnapshot, mode: GlyphMode) -> None:
        """Show the rows of another step, or other rows of it. The count of matches goes with the step."""
        if self.column is None or self.column.at.step != column.at.step:
            self.match = ()
        self.column, self.mode = column, mode
        page = getattr(column, self._section)
        columns, row_of, self._note = self._rows(column, mode, self.size.width, self.linked)
        if page.whole is not None:
            self._note = ((f"{number(page.total)} of {number(page.whole)}", "warning"),)
        if self.among:
            self._note = (number(page.total), "warning"), (" · esc shows all", "muted")
        if self.only and not page.total:
            columns = (Column("no row: esc shows all", flex=1, priority=1),)
        self.update_rows(page.top, page.rows, page.total, columns, row_of)

    async def all_rows(self, engine: EngineLink, most: int) -> tuple[Sequence[Column], list[TableRow]]:
        """Return the columns of the table and all of its rows, at most so many, at their full width."""
        assert self.column is not None
        page = await engine.ask(ListRows(self._section, most, self.column.key))
        changes: dict[str, Any] = {self._section: page}
        column = replace(self.column, **changes)
        columns, row_of, _ = self._rows(column, self.mode, _WIDEST, b"")
        return columns, [row_of(held, n) for n, held in enumerate(page.rows)]

    def watch_linked(self) -> None:
        """Mark the token in all rows."""
        if self.column is not None:
            self.show(self.column, self.mode)

    def choose(self) -> None:
        """Post `Chosen` for the row under the cursor; show a message if there are no rows."""
        if not self.total:
            self.app.say("no row is here: esc shows all" if self.only or self.among else "no row is here")
        else:
            super().choose()

    @property
    def chosen(self) -> bytes:
        """The exact bytes of the token of the vocabulary under the cursor; empty for other rows, special
        tokens and tokens without an id."""
        row = self.held_at(self.cursor)
        return row.piece if isinstance(row, Entry) and row.id is not None and row.kind != "special" else b""

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        if self.column is not None:
            self.show(self.column, self.mode)


def _digits(column: ColumnSnapshot) -> int:
    """Return the width of a column of counts of this corpus, at least 5."""
    return max(5, len(number(max(column.at.start_tokens, column.at.tokens))))


class PairTable(ColumnTable):
    """The candidates of the main screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("S", "screen.sort_pairs", "sort", id="pairs_order", group=Hint(rank=2, needs="scores"),
            tooltip="Sort the pairs by score or by count"),
    ]


class _Row(NamedTuple):
    """How a row of candidates is drawn.

    Attributes:
        tie: The part of the bracket beside rows that tie; a space for others.
        value: The style of the value.
        loss: The style of the loss.
        bar: The style of the bar.
        said: A text in place of the bar; None for the bar.
        taken: True if the next step takes it.
    """

    tie: Run
    value: str
    loss: str
    bar: str
    said: str | None
    taken: bool


_Look: TypeAlias = Callable[[Any, _Row], Cell]
"""Draws a value of a candidate, or several of one kind."""


def counted_in(column: ColumnSnapshot) -> str:
    """Return ` in ` and the language whose pairs a column lists; empty if they are those of all texts."""
    name = next((language.name for language in column.why.judged if language.chosen), "")
    return f" in {safe(name, limit=_LANGUAGE_SHOWN)}" if name else ""


def size_state(column: ColumnSnapshot) -> str:
    """Return the vocabulary size that ends the training of a column, for a title; empty without such a
    limit."""
    return "" if column.size_limit is None else f"to {number(column.size_limit)} ids"


def candidates(column: ColumnSnapshot, mode: GlyphMode, width: int, linked: bytes = b"") -> Rows:
    """Return the candidates in the columns of their trainer: pairs by count or score, pieces by loss, tokens
    of a file by step.

    Each kind of column has a width and a look; what matters least gives way first. The `linked` token is
    bold.
    """
    traits, at, best, training = column.traits, column.at, column.why.best, column.why.round
    digits, kinds = _digits(column), [figure.kind for figure in traits.columns]
    by_count = "score" not in kinds and "loss" not in kinds
    # What rows are compared with.
    page = column.candidates
    worths = [row.worth for row in page.rows]
    most = float(best.worth if best is not None else max(worths, default=0))
    by_order = page.order == BY_COUNT
    ties = _ties(worths, page.top, page.total, best.worth if best is not None else None, column.why.tied)
    # While the next step is EM, the marks are no more than what a pruning would do by the figures of now.
    first = training.taken if training is not None and training.going is not None else -1
    parts = [n for n, kind in enumerate(kinds) if kind == "part"]
    room = 6 if width < 44 else 10 if width < 60 else 16
    columns = [Column(traits.candidate, flex=2, min_width=8 if parts else 7, priority=9)]
    if traits.replays:
        steps = len(number(max(at.computed, at.end.step or 0)))
        columns.insert(0, Column("step", width=max(5, steps), align="right", priority=5))
    looks: list[tuple[Callable[[Any], Any], _Look]] = []
    for n, (name, _, kind) in enumerate(traits.columns):
        head, of = _HEADS.get(name, name), itemgetter(n)
        match kind:
            case "count" if by_count and (traits.replays or n == kinds.index("count")):
                # one more for the bracket of a tie
                wide = max(digits, len(head)) if traits.replays else digits + 1
                columns.append(Column(head, width=wide, align="right", priority=6))
                looks.append((of, lambda value, row: ((number(value), row.value), row.tie)))
                if not (traits.replays or traits.compresses):
                    shown = page.rows if best is None else (best, *page.rows)
                    largest = max([of(row.values) for row in shown], default=0)
                    share = _share_of(column) if room >= _SHARE_LEAST else None
                    columns.append(Column("saves" if share else "", width=room, priority=1))
                    looks.append((of, lambda value, row, largest=largest, share=share: (  # type: ignore[misc]
                        _bar_cell(value, largest, room, row, share)
                    )))
            case "count":
                head = "f(xy)" if parts else head
                columns.append(Column(head, width=max(digits, len(head)), align="right", priority=6))
                looks.append((of, lambda value, _: ((number(value), ""),)))
            case "part" if n == parts[0]:  # one column, so that neither stands without the other
                names = [traits.columns[place].name for place in parts]
                both = " ".join([f"{_HEADS.get(name, name):>{digits}}" for name in names])
                columns.append(Column(both, width=len(both), align="right", priority=1))
                held = itemgetter(parts[0], *parts)  # a tuple of one part too
                looks.append((held, lambda values, _: (
                    (" ".join([f"{number(value):>{digits}}" for value in values[1:]]), "muted"),
                )))
            case "score":
                columns.append(Column(head, width=SCORE_WIDTH + 1, align="right", priority=8))
                looks.append((of, lambda value, row: ((decimal(value, SCORE_WIDTH), row.value), row.tie)))
                columns.append(Column("behind", width=len(">99.9 %"), align="right", priority=4))
                looks.append((of, lambda value, _: ((behind(value, most), "muted"),)))
            case "loss":
                columns.append(Column(head, width=_SMALL_WIDTH, align="right", priority=8))
                looks.append((of, lambda value, row: (
                    (number(value) if isinstance(value, int) else decimal(value, _SMALL_WIDTH), row.loss),
                )))
            case "share":
                columns.append(Column(head, width=_SMALL_WIDTH, align="right", priority=2))
                looks.append((of, lambda value, _: ((decimal(value, _SMALL_WIDTH), "muted"),)))
            case "amount":
                columns.append(Column(head, width=max(len(head), digits), align="right", priority=1))
                looks.append((of, lambda value, _: ((amount(value), ""),)))
            case "change":
                columns.append(Column(head, width=max(6, digits), align="right", priority=3))
                looks.append((of, lambda value, _: (
                    ("new", "") if value is None else (signed(value), "muted" if value < 0 else "")
                    if value else ("", ""),
                )))
            case "byte":
                columns.append(Column(head, width=len("ÿ FF"), priority=6))
                looks.append((of, lambda value, row: replacement_cell(value, row.taken)))
            case "token":
                columns.append(Column(head, flex=2, min_width=7, priority=3))
                looks.append((of, lambda value, _: tinted(tokens((value,), mode), "muted")))
            case "tokens":
                flex, least = (3, 8) if traits.shrinks else (2, 7)
                columns.append(Column(head, flex=flex, min_width=least, priority=7))
                looks.append((of, lambda value, _: tinted(
                    tokens(value, mode, linked), "muted" if traits.replays else ""
                ) or (("nothing", "muted"),)))

    def row_of(held: Candidate, index: int) -> TableRow:
        place = index if page.whole is None else page.number(index)
        first_of = held.parts == best.parts if by_order and best is not None else place == 0
        taken = first_of and best is not None
        dim, mark, style = False, "▸" if taken else " ", ""
        lead = tokens(held.parts or (held.token,), mode, linked)
        if linked and held.parts and held.token == linked:  # the token that the pair becomes
            lead = emboldened(lead)
        cells: list[Cell] = []
        if isinstance(held, PieceCandidate):
            dim, style = held.taken, "gone" if held.taken else "warning" if held.reason else ""
            mark = "×" if held.taken else " " if not held.reason else "▸" if place == first else "−"
            lead = tinted(tokens((held.token,), mode, linked), style)
        elif isinstance(held, TokenCandidate):
            dim, taken = not held.places, place == 0
            mark = " " if place else "•" if held.number <= at.step else "▸"
            lead = tokens((held.token,), mode, linked)
            cells.append(((number(held.number), "muted"),))
        sign, said = ties.get(index - page.top, (" ", None)) if held.tied else (" ", None)
        bold = "strong" if taken else "muted" if said is not None else ""
        row = _Row((sign, "frame"), bold, "" if dim else style, "accent" if taken else "primary", said, taken)
        cells += [lead, *[look(of(held.values), row) for of, look in looks]]
        return TableRow(held.parts if traits.grows else held.token, tuple(cells), dim=dim, mark=mark)

    # Of a pruning to come, the number of pieces that go.
    count = training.going if training is not None else None
    going: Cell = ((f"{plural(count, 'goes', 'go')} · ", "muted"),) if count else ()
    total = (f"{traits.candidate}s: ", "muted"), (number(column.candidates.total), "muted")
    return Rows(tuple(columns), row_of, (*going, *total))


_SHARE, _SHARE_LEAST = 9, 16
"""The columns of a share of the text, and the columns that it and a bar need."""


def _share_of(column: ColumnSnapshot) -> Callable[[float], str] | None:
    """Return a function that returns, as text, the share of tokens that a merge at a number of places saves;
    None if the counts are not those of the whole text."""
    tokens_now = column.at.tokens
    if counted_in(column) or not tokens_now:
        return None
    return lambda count: f"{100 * count / tokens_now:.2f} %"


def _bar_cell(
    value: float, largest: float, room: int, row: _Row, share: Callable[[float], str] | None
) -> Cell:
    """Return the bar of a count, and the share of the text that its merge saves; for all but the first of
    rows that tie, their note."""
    if row.said is not None:
        return ((row.said, "muted"),)
    if share is None:
        return ((bar(value, largest, room), row.bar),)
    size = room - _SHARE + 1
    drawn = bar(value, largest, size)
    said = share(value).rjust(_SHARE - 1)
    return ((drawn, row.bar), (" " * (size - len(drawn)), ""), (said, "muted"))


def _ties(
    worths: Sequence[Worth], top: int, total: int, best: Worth | None, tied: int
) -> dict[int, tuple[str, str | None]]:
    """Return, by index on the page, the part of a bracket beside each row that ties with a neighbor, and a
    text in place of its bar: in the second row of a group how many tie, if that is known.

    Args:
        worths: The values of the rows of the page.
        top: The index of the first row.
        total: The number of all rows.
        best: The best value of all; None if there is none.
        tied: How many rows have it.
    """
    found: dict[int, tuple[str, str | None]] = {}
    first = 0
    for place in range(1, len(worths) + 1):
        if place < len(worths) and worths[place] == worths[first]:
            continue
        begins, ends = first > 0 or top == 0, place < len(worths) or top + place >= total
        size = tied if worths[first] == best and tied > 1 else place - first if begins and ends else 0
        for row in range(first, place if place - first > 1 else first):
            sign = "╮" if row == first and begins else "╯" if row == place - 1 and ends else "│"
            said = None if row == first else f"{number(size)} tied" if row == first + 1 and size else ""
            found[row] = sign, said
        first = place
    return found


def entries(column: ColumnSnapshot, mode: GlyphMode, width: int, linked: bytes = b"") -> Rows:
    """Return the tokens at this step, followed by those that the last step dropped.

    The columns are id, token, count, and the token's step, or its score where steps give scores. The `linked`
    token is bold.
    """
    at, traits, page = column.at, column.traits, column.vocabulary
    last = max(at.end.step or 0, at.computed)
    ids = max((row.id for row in page.rows if row.id is not None), default=0)
    if traits.shrinks:
        head = "log p" if column.why.round is not None else "kind"
        highest, tail = at.vocab_size, Column(head, width=_LOG_WIDTH, align="right", priority=2)
    else:
        highest = at.vocab_size + last - at.step
        tail = Column("step", width=max(7, len(number(last))), align="right", priority=1)
    columns = (
        Column("id", width=max(4, len(str(max(ids, highest)))), align="right", priority=2),
        Column("token", flex=1, min_width=6, priority=4),
        Column("uses", width=_digits(column), align="right", priority=3),
        tail,
    )

    units = AXES["unit"].of(column.recipe.unit).plural
    out = "not used here" if traits.replays else "left or unused" if traits.shrinks else f"{units} unused"
    spare = width - 3 - columns[0].width - GAP  # but for the margin, the bar and the ids

    def row_of(held: Entry, index: int) -> TableRow:
        if held.kind == "folded":
            ways = [f"{number(held.uses or 0)} {name} ▸" for name in (out, "unused")]
            short = next((way for way in ways if len(way) <= spare), ways[-1])
            return TableRow("folded", ((), ((short, "muted"),), (), ()))
        piece = tokens((held.piece,), mode, linked)
        if held.kind == "left":
            label: Cell = (*tinted(piece, "gone"), (f"  {safe(held.reason, limit=REASON_SHOWN)}", "muted"))
            return TableRow(("left", held.piece), ((("–", "muted"),), label, (), ()), dim=True, mark="×")
        # A byte that stands for a pair has the id of the byte that it was.
        newest = held.made is not None and held.id == at.last_id
        if held.score is not None:
            came = f"{held.score:.3f}".replace("-", "−")
        else:
            came = number(held.made) if held.made is not None else kind_name(held.kind)
        uses: Run = ("–", "muted") if held.uses is None else (number(held.uses) if held.uses else "none", "")
        if newest or held.kind == "special":
            piece = tinted(piece, "accent+strong" if newest else "success")
        if held.parts and traits.compresses:
            piece = (*piece, (" = ", "muted"), *tokens(held.parts, mode))
        identity = "–" if held.id is None else str(held.id)
        cells: tuple[Cell, ...] = (((identity, "muted"),), piece, (uses,), ((came, "muted"),))
        return TableRow((held.kind, held.id), cells, dim=held.uses == 0, mark=" ")

    # The rows of a training that shrinks hold the tokens that the last step dropped.
    count = at.vocab_size if traits.shrinks else page.total - 1 + page.folded if page.folded else page.total
    total = ("tokens: ", "muted"), (number(count), "muted")
    order: Cell = ((f"{page.order} first · ", "muted"),) if page.order == USUAL_ORDER else ()
    return Rows(columns, row_of, (*order, *total) if page.order else ())
