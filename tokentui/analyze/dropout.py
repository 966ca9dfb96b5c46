"""The report on a text that is encoded with some merges left out at random: each draw, and its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tokentui.analyze.report import Cell, Column, Part, Report, Row, Section, Span, data, merged, muted
from tokentui.core.table import plural
from tokentui.encode.segment.dropout import LIKE

if TYPE_CHECKING:
    from tokentui.encode.sampling import Drawn, DrawnWord

_COLUMNS = (
    Column("", "right"), Column("number", "right", 1), Column("pair", priority=3, flex=True),
    Column("", priority=2, flex=True),
)
_MOST_WORDS, _MOST_DRAWS = 50, 200


def report(drawn: Drawn) -> Report:
    """Report on the draws of a text: its tokens, and a row for each draw of each word."""
    rows = [row for word in drawn.words[:_MOST_WORDS] for row in _rows(word, drawn.p)]
    if (more := len(drawn.words) - _MOST_WORDS) > 0:
        rows.append(Row(("", "", muted(f"and {plural(more, 'more word')}"), "")))
    count = plural(len(drawn.encoding.ids), "token")
    summary = *_joined(drawn.encoding.tokens), muted(f"  {count} · {LIKE[drawn.like].about}")
    return Report("Dropout", (Section("draws", summary, tuple(rows), _COLUMNS),), {})


def _rows(word: DrawnWord, p: float) -> Iterator[Row]:
    """Yield a row for a word with its tokens, and one for each draw."""
    tokens = _joined("unknown" if piece is None else piece for piece in word.pieces)
    yield Row(("", "", tokens, muted(plural(len(word.draws), "draw"))))
    for n, draw in enumerate(word.draws[:_MOST_DRAWS], 1):
        pair: Cell = merged((draw.left, draw.right)) if draw.left and draw.right else muted("out of date")
        role = "accent" if draw.merged else "muted" if draw.kept else "warning"
        why = muted(f"  < {p:g}" if draw.fate == "dropped" else "")
        yield Row((muted(f"{n:,}"), f"{draw.number:.4f}", pair, (Span(draw.fate, role), why)))
    if (more := len(word.draws) - _MOST_DRAWS) > 0:
        yield Row(("", "", muted(f"and {plural(more, 'more draw')}"), ""))


def _joined(tokens: Iterable[str | bytes]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for token in tokens:
        parts += [muted("│")] if parts else []
        parts.append(data(token) if isinstance(token, str) else token)
    return tuple(parts) or (muted("nothing"),)
