"""The births of an opened tokenizer: which tokens come next, of what, and how many places of the corpus they change."""

from __future__ import annotations

from collections.abc import Iterator

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import BirthRow, Snapshot
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.tables import styled, token, tokens

_PLACE_SHOWN = 80


def by_birth(snapshot: Snapshot, width: int) -> tuple[Column, ...]:
    """The columns: which birth, the token, what its bytes are before, and how many of it the corpus has then."""
    births = snapshot.opened.births if snapshot.opened is not None else 0
    return (
        Column("birth", width=max(5, len(number(births))), align="right", priority=2),
        Column("token", flex=1, min_width=7, priority=5),
        Column("of", flex=1, min_width=7, priority=4),
        # A token takes the place of two at least.
        Column("places", width=max(6, len(number(snapshot.start_tokens // 2))), align="right", priority=3),
    )


def birth_rows(snapshot: Snapshot, mode: GlyphMode) -> Iterator[TableRow]:
    """The births as rows; those that change nothing in the corpus are dim."""
    for index, row in enumerate(snapshot.pairs, snapshot.pairs_top):
        if not isinstance(row, BirthRow):
            continue
        cells: tuple[Cell, ...] = (
            ((number(row.number), "muted"),),
            token(row.token, mode),
            tuple((text, "muted" if style in ("", "text") else style) for text, style in tokens(row.parts, mode)),
            ((number(row.count) if row.count else "∅", "strong" if index == 0 and row.count else ""),),
        )
        mark = " " if index else "•" if row.born else "▸"
        yield TableRow(row.number, cells, dim=not row.count, mark=mark)


def next_birth(snapshot: Snapshot, mode: GlyphMode) -> list[Cell]:
    """`next  ▁t+he → ▁the   merge 512 in the file · 1,204 places in 96 words`."""
    row = snapshot.why.best
    if not isinstance(row, BirthRow):
        return []
    born: Cell = (("next  ", "accent"), *tokens(row.parts, mode), (" → ", "accent"), *token(row.token, mode))
    out: list[Cell] = [(*born, ("   ", ""), (safe(row.place, limit=_PLACE_SHOWN), "strong"), (" in the file", "muted"))]
    if row.count:
        where = f"{plural(row.count, 'place')} in {plural(row.words, 'distinct word')}"
        out.append(((where, ""), (f" of {safe(snapshot.corpus_name, limit=30)}", "muted")))
    elif row.words:
        out.append(((f"changes {plural(row.words, 'distinct word')}", ""),))
    else:
        out.append((("changes nothing in this corpus", "muted"),))
    return out


def last_birth(snapshot: Snapshot, mode: GlyphMode) -> list[Cell]:
    """What was born last, and how many ids there are now."""
    if snapshot.opened is None:
        return []
    out: list[Cell] = []
    row = snapshot.last
    if isinstance(row, BirthRow):
        out.append((
            ("born last ", "muted"), *styled(token(row.token, mode), "accent"), (f" id {row.id}", "muted"),
            (f", {plural(row.count, 'place')}", "muted"),
        ))
    out.append(((f"{number(snapshot.vocab_size)} of {number(snapshot.opened.size)} ids", ""),))
    return out


def order_said(snapshot: Snapshot) -> list[Cell]:
    """In what order tokens are born here."""
    return [((f"births {safe(snapshot.opened.order, limit=120)}", "muted"),)] if snapshot.opened is not None else []
