"""The replay steps of an opened tokenizer: the next tokens, their parts, and the places that they change."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.views import BirthRow, ColumnSnapshot
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.tables import styled, token, tokens

_PLACE_SHOWN = 80


def by_birth(column: ColumnSnapshot, width: int) -> tuple[Column, ...]:
    """Return the columns: replay step, token, its parts, and the number of places that it changes."""
    births = column.opened.births if column.opened is not None else 0
    return (
        Column("birth", width=max(5, len(number(births))), align="right", priority=2),
        Column("token", flex=1, min_width=7, priority=5),
        Column("of", flex=1, min_width=7, priority=4),
        # A token takes the place of two at least.
        Column("places", width=max(6, len(number(column.at.start_tokens // 2))), align="right", priority=3),
    )


def birth_rows(column: ColumnSnapshot, mode: GlyphMode) -> Iterator[TableRow]:
    """Yield the replay steps as rows; those that change nothing in the corpus are dim."""
    for index, row in enumerate(column.candidates.rows, column.candidates.top):
        if not isinstance(row, BirthRow):
            continue
        cells: tuple[Cell, ...] = (
            ((number(row.number), "muted"),),
            token(row.token, mode),
            tuple((text, "muted" if style in ("", "text") else style) for text,
                style in tokens(row.parts, mode)),
            ((number(row.count) if row.count else "∅", "strong" if index == 0 and row.count else ""),),
        )
        mark = " " if index else "•" if row.born else "▸"
        yield TableRow(row.number, cells, dim=not row.count, mark=mark)


def next_birth(column: ColumnSnapshot, corpus: str, mode: GlyphMode) -> list[Cell]:
    """`next  ▁t+he → ▁the   merge 512 in the file · 1,204 places in 96 words`."""
    row = column.why.best
    if not isinstance(row, BirthRow):
        return []
    born: Cell = (("next  ", "accent"), *tokens(row.parts, mode), (" → ", "accent"), *token(row.token, mode))
    out: list[Cell] = [(*born, ("   ", ""), (safe(row.place, limit=_PLACE_SHOWN), "strong"),
        (" in the file", "muted"))]
    if row.count:
        where = f"{plural(row.count, 'place')} in {plural(row.words, 'distinct word')}"
        out.append(((where, ""), (f" of {safe(corpus, limit=30)}", "muted")))
    elif row.words:
        out.append(((f"changes {plural(row.words, 'distinct word')}", ""),))
    else:
        out.append((("changes nothing in this corpus", "muted"),))
    return out


def last_birth(column: ColumnSnapshot, mode: GlyphMode) -> list[Cell]:
    """Return the token of the last replay step, and the number of ids after it."""
    if column.opened is None:
        return []
    out: list[Cell] = []
    row = column.at.last
    if isinstance(row, BirthRow):
        out.append((
            ("born last ", "muted"), *styled(token(row.token, mode), "accent"), (f" id {row.id}", "muted"),
            (f", {plural(row.count, 'place')}", "muted"),
        ))
    out.append(((f"{number(column.at.vocab_size)} of {number(column.opened.size)} ids", ""),))
    return out


def order_said(column: ColumnSnapshot) -> list[Cell]:
    """Return the order of the replay steps as text."""
    return [((f"births {safe(column.opened.order, limit=120)}", "muted"),
        )] if column.opened is not None else []
