"""The report on a text that is encoded with some merges left out at random: each draw, and its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tokentui.analyze.report import (
    Cell,
    Column,
    Report,
    Row,
    Section,
    Span,
    Tokens,
    ids_line,
    merged,
    muted,
    segmented,
)
from tokentui.core.safetext import to_bytes
from tokentui.core.table import plural
from tokentui.encode.segment.dropout import LIKE

if TYPE_CHECKING:
    from tokentui.encode.sampling import Drawn, DrawnWord

_COLUMNS = (
    Column("", "right"), Column("number", "right", 1), Column("pair", priority=3, flex=True),
    Column("", priority=2, flex=True),
)
MOST_WORDS, MOST_DRAWS = 50, 200
"""The maximum number of words, and draws of a word, that the explorer lists."""


def report(drawn: Drawn, words: int | None = None, draws: int | None = None) -> Report:
    """Report on the draws of a text: its tokens, and a row for each draw of each word.

    Args:
        drawn: The draws.
        words: The maximum number of words; None for all.
        draws: The maximum number of draws of a word; None for all.
    """
    rows = [row for word in drawn.words[:words] for row in _rows(word, drawn.p, draws)]
    if words is not None and (more := len(drawn.words) - words) > 0:
        rows.append(Row(("", "", muted(f"and {plural(more, 'more word')}"), "")))
    tokens = drawn.encoding.rows
    summary = (
        Tokens(tuple(to_bytes(token.text) for token in tokens), tuple(token.start for token in tokens), "│"),
        muted(f"  {plural(len(tokens), 'token')} · {LIKE[drawn.like].about}"),
    )
    seed = Section("seed", f"{drawn.seed}, p {drawn.p:g}, like {drawn.like}")
    return Report("Dropout", (seed, Section("draws", summary, tuple(rows), _COLUMNS)), {})


def _rows(word: DrawnWord, p: float, most: int | None) -> Iterator[Row]:
    """Yield a row with the tokens of a word, then one for each draw, at most `most` (None for all); a last
    row counts those that are left out."""
    tokens = segmented((b"unknown" if piece is None else piece for piece in word.pieces), between="│")
    ids = muted(f"{plural(len(word.draws), 'draw')} · ids {ids_line(word.ids) or 'none'}")
    yield Row(("", "", tokens, ids))
    for n, draw in enumerate(word.draws[:most], 1):
        pair: Cell = merged((draw.left, draw.right)) if draw.left and draw.right else muted("out of date")
        role = "accent" if draw.merged else "muted" if draw.kept else "warning"
        why = muted(f"  < {p:g}" if draw.fate == "dropped" else "")
        yield Row((muted(f"{n:,}"), f"{draw.number:.4f}", pair, (Span(draw.fate, role), why)))
    if most is not None and (more := len(word.draws) - most) > 0:
        yield Row(("", "", muted(f"and {plural(more, 'more draw')}"), ""))
