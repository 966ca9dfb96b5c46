"""The tables of a column: the candidates of the next step, as its trainer names them, and the vocabulary."""

from __future__ import annotations

from typing import Any, ClassVar

from tokentui.core.safetext import GlyphMode, is_safe, safe
from tokentui.learn.rows import Candidate, Entry, PieceCandidate, TokenCandidate, Traits
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnSnapshot
from tokentui.ui.draw.figures import amount, bar, behind, decimal, number, plural, signed
from tokentui.ui.draw.lines import same
from tokentui.ui.draw.table import Column, TableRow, VirtualTable
from tokentui.ui.draw.text import Cell, Run, runs, tinted
from tokentui.ui.face import nothing_there

TOKEN_SHOWN = 64
"""The most characters of a token in a row."""
REASON_SHOWN = 60
SCORE_WIDTH = len("0.0038112")
"""Columns of a score: five digits that count, however small it is."""
_LOG_WIDTH = len("−12.345")
_SMALL_WIDTH = len("1.23e-4")
_HEADS = {"left uses": "f(x)", "right uses": "f(y)", "probability": "p", "parts": "of"}
"""The short heads of columns whose names are long."""


def token(piece: bytes, mode: GlyphMode) -> Cell:
    """A token as a cell."""
    return runs(piece, mode=mode, limit=TOKEN_SHOWN)


def pair(row: Candidate, mode: GlyphMode) -> Cell:
    """A candidate as a cell: its parts with a quiet plus between them."""
    return tokens(row.parts or (row.token,), mode)


def tokens(pieces: tuple[bytes, ...], mode: GlyphMode) -> Cell:
    """Tokens side by side, with a quiet plus between them."""
    out: list[Run] = []
    for piece in pieces:
        out += [("+", "muted")] if out else []
        out += runs(piece, mode=mode, limit=TOKEN_SHOWN)
    return tuple(out)


def stands(byte: bytes, first: bool = True) -> Cell:
    """The byte that a pair is replaced by: `A`, or with its figure where its letter is no ASCII (`ÿ FF`)."""
    if not byte:
        return (("none", "muted"),)
    letter, figure = chr(byte[0]), byte.hex().upper()
    style = "key" if first else "muted"
    if not is_safe(letter) or letter.isspace():
        return ((figure, style),)
    return ((letter, style), ("" if letter.isascii() else f" {figure}", "muted"))


def rows_word(traits: Traits) -> str:
    """The word for one candidate: `pair`, `piece`, `token`."""
    return "piece" if traits.shrinks else "token" if traits.replays else "pair"


def ranked_by(traits: Traits) -> str:
    """The kind of the column that orders the candidates: `score`, `count`, or else another."""
    kinds = [column.kind for column in traits.columns]
    return next((kind for kind in ("score", "loss", "count") if kind in kinds), "")


def worth_of(row: Candidate) -> str:
    """The value that a candidate is chosen for: the places where it stands, or a score."""
    return number(row.places) if isinstance(row.worth, int) else decimal(float(row.worth), SCORE_WIDTH)


def worth_behind(row: Candidate, best: Candidate) -> str:
    """By how much a candidate is worth less than the best one; nothing where it is not."""
    if isinstance(row.worth, int):
        return signed(row.places - best.places)
    less = behind(float(row.worth), float(best.worth))
    return f"{less} behind" if less else ""


class ColumnTable(VirtualTable):
    """A table of rows of a column; its columns depend on the size of the corpus and the table's own.

    Attributes:
        SECTIONS: The sections of the column that the rows are drawn from, besides the numbers: first that of
            the rows.
    """

    SECTIONS: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        super().__init__(())
        self.column: ColumnSnapshot | None = None
        self.mode: GlyphMode = "text"
        self._drawn: tuple[object, ...] = ()

    def clear(self, text: str = "") -> None:
        """Show no rows, and a line in their place."""
        self.column, self._drawn = None, ()
        self.update_rows(0, (), 0)
        if text:
            self.set_columns((Column(text, flex=1, priority=1),))

    def present(self, now: Snapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> bool:
        """Show the rows of the first column, or that there are none; see `Body.present`."""
        if now.nothing:
            self.clear(nothing_there(now))
            return True
        return self.show(now.main, mode)

    def show(self, column: ColumnSnapshot, mode: GlyphMode) -> bool:
        """Show the rows of another step, or other rows of it. Returns False where all is as it was drawn."""
        sections = [getattr(column, name) for name in self.SECTIONS]
        drawn = (mode, self.size.width, column.recipe, column.opened, column.at, *sections)
        self.column, self.mode = column, mode
        if same(drawn, self._drawn):
            return False
        self._drawn = drawn
        # The width of a column of counts of this corpus.
        digits = max(5, len(number(max(column.at.start_tokens, column.at.tokens))))
        self.set_columns(self.fitted(column, self.size.width, digits))
        self.update_rows(sections[0].top, sections[0].rows, sections[0].total)
        return True

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        super().on_resize()
        if self.column is not None:
            self.show(self.column, self.mode)

    def fitted(self, column: ColumnSnapshot, width: int, digits: int) -> tuple[Column, ...]:
        """The columns; their widths depend on totals, so that they stay while numbers change."""
        raise NotImplementedError

    @property
    def note(self) -> Cell:
        """`pairs: 2,914`: the number of all rows; for the title."""
        raise NotImplementedError


class PairTable(ColumnTable):
    """The candidates in their trainer's columns: pairs by count or value, pieces by loss, a file's tokens."""

    SECTIONS = "candidates", "why"
    _bar = _digits = 0
    _most, _ranked, _first = 0.0, "", -1

    @property
    def note(self) -> Cell:
        """The number of rows; of a pruning to come, the number of pieces that go."""
        if self.column is None:
            return ()
        word, training = rows_word(self.column.traits), self.column.why.round
        count = training.going if training is not None else None
        going: Cell = ((f"{plural(count, 'goes', 'go')} · ", "muted"),) if count else ()
        return (*going, (f"{word}s: ", "muted"), (number(self.total), "muted"))

    def fitted(self, column: ColumnSnapshot, width: int, digits: int) -> tuple[Column, ...]:
        """Map the columns of the trainer to widths: what matters least gives way first."""
        traits, size, best = column.traits, digits, column.why.best
        # What rows are compared with.
        worths = [one.worth for one in column.candidates.rows]
        self._most = float(best.worth if best is not None else max(worths, default=0))
        self._digits, self._ranked, self._bar = digits, ranked_by(traits), 0
        ranked, training = self._ranked, column.why.round
        # While the next step is EM, the marks are no more than what a pruning would do by the figures of now.
        self._first = training.taken if training is not None and training.going is not None else -1
        if ranked == "count" and not (traits.replays or traits.compresses):
            self._bar = 6 if width < 44 else 10 if width < 60 else 16
        parts = [f"{_HEADS.get(one.name, one.name):>{size}}" for one in traits.columns if one.kind == "part"]
        name = "token" if traits.replays else rows_word(traits)
        out = [Column(name, flex=2, min_width=8 if parts else 7, priority=9)]
        if traits.replays:
            steps = len(number(max(column.at.computed, column.at.target or 0)))
            out.insert(0, Column("step", width=max(5, steps), align="right", priority=5))
        for name, _, kind in traits.columns:
            head = _HEADS.get(name, name)
            match kind:
                case "count" if ranked == "count" and not traits.replays:
                    # one more for the sign of a tie
                    out.append(Column(head, width=size + 1, align="right", priority=6))
                    out += [Column("", width=self._bar, priority=1)] if self._bar else []
                case "count":
                    head, wide = ("f(xy)" if parts else head), max(size, len(head))
                    out.append(Column(head, width=wide, align="right", priority=6))
                case "part" if parts:  # one column, so that neither stands without the other
                    both, parts = " ".join(parts), []
                    out.append(Column(both, width=len(both), align="right", priority=1))
                case "score":
                    out.append(Column(head, width=SCORE_WIDTH + 1, align="right", priority=8))
                    out.append(Column("behind", width=len(">99.9 %"), align="right", priority=4))
                case "loss" | "share":
                    priority = 8 if kind == "loss" else 2
                    out.append(Column(head, width=_SMALL_WIDTH, align="right", priority=priority))
                case "amount":
                    out.append(Column(head, width=max(len(head), size), align="right", priority=1))
                case "change":
                    out.append(Column(head, width=max(6, size), align="right", priority=3))
                case "byte":
                    out.append(Column(head, width=len("ÿ FF"), priority=6))
                case "token":
                    out.append(Column(head, flex=2, min_width=7, priority=3))
                case "tokens":
                    flex, least = (3, 8) if traits.shrinks else (2, 7)
                    out.append(Column(head, flex=flex, min_width=least, priority=7))
        return tuple(out)

    def row_of(self, held: Candidate, index: int) -> TableRow:
        """A candidate in the columns of its trainer."""
        assert self.column is not None
        mode, traits, ranked = self.mode, self.column.traits, self._ranked
        taken = index == 0 and self.column.why.best is not None
        lead, dim, mark, style = pair(held, mode), False, "▸" if taken else " ", ""
        cells: list[Cell] = []
        if isinstance(held, PieceCandidate):
            dim, style = held.taken, "gone" if held.taken else "warning" if held.reason else ""
            mark = "×" if held.taken else " " if not held.reason else "▸" if index == self._first else "−"
            lead = tinted(token(held.token, mode), style)
        elif isinstance(held, TokenCandidate):
            dim, taken = not held.places, index == 0
            mark = " " if index else "•" if held.number <= self.column.at.step else "▸"
            lead = token(held.token, mode)
            cells.append(((number(held.number), "muted"),))
        cells.append(lead)
        bold, tie = "strong" if taken else "", ("=" if held.tied else "", "muted")
        parts: list[str] = []
        value: Any
        for (_, _, kind), value in zip(traits.columns, held.values, strict=False):
            match kind:
                case "count" if ranked == "count":
                    cells.append((tie, (number(value) if value else "∅", bold if value else "")))
                    if self._bar:
                        cells.append(((bar(value, self._most, self._bar), "accent" if taken else "primary"),))
                case "count":
                    cells.append(((number(value) if value else "∅", ""),))
                case "part":
                    parts.append(f"{number(value):>{self._digits}}")
                    if len(parts) == 2:
                        cells.append(((" ".join(parts), "muted"),))
                case "score":
                    cells.append((tie, (decimal(float(value), SCORE_WIDTH), bold)))
                    cells.append(((behind(float(value), self._most), "muted"),))
                case "loss":
                    cells.append(((decimal(value, _SMALL_WIDTH), "" if dim else style),))
                case "share":
                    cells.append(((decimal(value, _SMALL_WIDTH), "muted"),))
                case "amount":
                    cells.append(((amount(value), ""),))
                case "change" if value is None:
                    cells.append((("new", "accent"),))
                case "change":
                    cells.append(((signed(value), "muted" if value < 0 else ""),))
                case "byte":
                    cells.append(stands(value, taken))
                case "token":
                    cells.append(tinted(token(value, mode), "muted"))
                case "tokens":
                    said = tokens(value, mode)
                    said = tinted(said, "muted") if traits.replays else said
                    cells.append(said or (("nothing", "muted"),))
        return TableRow(held.parts if traits.grows else held.token, tuple(cells), dim=dim, mark=mark)


class VocabularyTable(ColumnTable):
    """The tokens there are at this step, above them those that the last step dropped."""

    SECTIONS = ("vocabulary",)

    @property
    def note(self) -> Cell:
        """`newest · tokens: 384`."""
        order = self.column.vocabulary.order if self.column is not None else ""
        if not order:
            return ()
        return (f"{order} · ", "muted"), ("tokens: ", "muted"), (number(self.total), "muted")

    def fitted(self, column: ColumnSnapshot, width: int, digits: int) -> tuple[Column, ...]:
        """Return the columns id, token, count, and the token's step, or its score where steps give scores."""
        at = column.at
        last = max(at.target or 0, at.computed)
        ids = max((row.id for row in column.vocabulary.rows if row.id is not None), default=0)
        if column.traits.shrinks:
            most, tail = at.vocab_size, Column("log p", width=_LOG_WIDTH, align="right", priority=2)
        else:
            most = at.vocab_size + last - at.step
            tail = Column("step", width=max(7, len(number(last))), align="right", priority=1)
        return (
            Column("id", width=max(4, len(str(max(ids, most)))), align="right", priority=2),
            Column("token", flex=1, min_width=6, priority=4),
            Column("uses", width=digits, align="right", priority=3),
            tail,
        )

    def row_of(self, held: Entry, index: int) -> TableRow:
        """A token, its uses, and the step that made it."""
        assert self.column is not None
        piece = token(held.piece, self.mode)
        if held.kind == "left":
            said: Cell = (*tinted(piece, "gone"), (f"  {safe(held.reason, limit=REASON_SHOWN)}", "muted"))
            return TableRow(("left", held.piece), ((("–", "muted"),), said, (), ()), dim=True, mark="×")
        # A byte that stands for a pair has the id of the byte that it was.
        newest = held.made is not None and held.id == self.column.at.last_id
        if held.score is not None:
            tail: Run = (f"{held.score:.3f}".replace("-", "−"), "muted")
        else:
            tail = (number(held.made) if held.made is not None else held.kind, "muted")
        uses: Run = ("–", "muted") if held.uses is None else (number(held.uses) if held.uses else "∅", "")
        if newest or held.kind == "special":
            piece = tinted(piece, "accent" if newest else "success")
        if held.parts and self.column.traits.compresses:
            piece = (*piece, (" = ", "muted"), *tokens(held.parts, self.mode))
        cells: tuple[Cell, ...] = (
            (("–" if held.id is None else str(held.id), "muted"),), piece, (uses,), (tail,),
        )
        return TableRow((held.kind, held.id), cells, dim=held.uses == 0, mark="•" if newest else " ")
