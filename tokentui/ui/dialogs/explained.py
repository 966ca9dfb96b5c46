"""Rows of the inspector: why a text is not one token, and its tokens."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tokentui.analyze.explained import leads_to
from tokentui.analyze.results import StringFacts
from tokentui.core.safetext import safe
from tokentui.core.table import plural
from tokentui.core.tints import tints
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell

MOST_TOKENS = 12
"""The most tokens of a text that are listed one by one."""
_PIECE_SHOWN = 200
_SAID_SHOWN = 400



def is_token(found: StringFacts, token: int | None) -> bool:
    """Return whether a text alone is encoded as one token, the one with this id."""
    return found.encoding is not None and [row.id for row in found.encoding.rows] == [token]


def reason(found: StringFacts, also: str = "", token: int | None = None) -> TableRow:
    """Return the reason why the text is not one token, in a sentence; the row leads to the step that makes it
    one.

    Args:
        found: The facts of the text.
        also: What is being found out besides.
        token: The id of the token that the text was taken from; where the text alone is not this token, as
            `e` is not `##e`, the sentence is about a text of its own. None for a text that was typed.
    """
    step = leads_to(found.reason)
    sentence = safe(found.refusal or found.why, limit=4 * _SAID_SHOWN)
    line: Cell = ((sentence, "warning" if found.refusal else ""),)
    if step is not None:
        line = (*line, (" enter", "key"), (" goes there", "muted"))
    one = found.encoding is not None and len(found.encoding.rows) == 1
    label = "one token" if one else "why not"
    if token is not None and not is_token(found, token):
        label = "as a text"
        line = (*ui_text.runs(found.text, limit=_PIECE_SHOWN), (" as a text of its own: ", "muted"), *line)
    return told_row(("why", step), label, (*line, (f" {also}" if also else "", "muted")))


def tokens_of(found: StringFacts) -> Iterator[TableRow]:
    """Yield the tokens of a text with their ids, `MOST_TOKENS` at most; enter goes into each."""
    rows = [] if found.encoding is None else found.encoding.rows
    grounds = tints([row.start for row in rows[:MOST_TOKENS]])
    for n, (row, tint) in enumerate(zip(rows, grounds, strict=False)):
        shown = ui_text.runs(row.text if row.piece is None else row.piece, limit=_PIECE_SHOWN)
        note = "  not in the vocabulary" if row.id is None else f"  id {row.id}"
        key = ("no token", n) if row.id is None else ("token", row.id, n)
        # without chips the tint is not drawn
        cell = ui_text.chip(shown, f"primary+tint-{tint}")
        cell = ui_text.tinted(shown, "warning") if row.piece is None else cell
        yield told_row(key, "" if n else "tokens", (*cell, (note, "muted")))
    if (more := len(rows) - MOST_TOKENS) > 0:
        yield told_row("more tokens", "", ((f"and {plural(more, 'more token')}", "muted"),))


def told_row(key: Hashable, label: str, *cells: Cell, mark: str = "") -> TableRow:
    """Return a row of a label and cells."""
    return TableRow(key, (((label, "muted"),), *cells), mark=mark)

