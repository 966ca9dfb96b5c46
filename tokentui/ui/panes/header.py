"""The first line of the main screen, and the line of tabs where one pane is visible at a time."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.engines import FAILED
from tokentui.core.safetext import GlyphMode, safe
from tokentui.core.table import plural
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnSnapshot
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, size
from tokentui.ui.draw.lines import spread
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.waits import loading

_PART_SHOWN = 20
"""The maximum number of characters of the name of a part of the corpus."""
NAME_SHOWN = 60
"""The maximum number of characters of the name of a corpus."""


def header(now: Snapshot | None, mode: GlyphMode, width: int) -> Cell:
    """Return the first line: program, corpus and size at the left, the recipe at the right, shortened to the
    width.

    Args:
        now: The snapshot that is shown; None before the first.
        mode: The way tokens are shown.
        width: The columns of the terminal.
    """
    program: Cell = ((" tokentui", "strong"),)
    if now is None:
        return program
    if now.corpus.nothing_open:
        return spread((*program, ("   ", ""), (loading(now), "muted")), (), width)
    words = f"{plural(now.main.at.occurrences, 'word')} ({number(now.main.at.distinct)} distinct)"
    facts = f" · {size(now.corpus.bytes)} · {words}"
    view = f"view: {mode} · " if mode != "text" else ""
    engine, reason = _engine(now)
    column = now.main
    named, summary = column.preset, column.about
    if column.opened is not None:
        named, summary = column.opened.name, f"{number(column.opened.size)} ids · {summary}"
    name_of: Cell = ((safe(named, limit=NAME_SHOWN), "strong"),)
    about: Cell = (("  " if named else "", ""), (safe(summary, limit=NAME_SHOWN), "muted"), (" ", ""))
    preset: Cell = ((view, "warning"), (engine, "muted"), *name_of)
    right: Cell = (*preset, *about)
    details: Cell = ((view, "warning"), (reason, "muted"), *name_of, *about)
    name: Run = (safe(now.corpus.name, limit=NAME_SHOWN), "")
    left: Cell = (*program, ("   ", ""), name, (facts, "muted"))
    short: Cell = (*program, ("  ", ""), name, (f" · {size(now.corpus.bytes)}", "muted"))
    # What gives way first is at the top; the name does last.
    ways = [
        *_with_lengths(column, (*program, ("   ", "")), now, right),
        (left, details), (left, right), (short, right),
    ]
    fitting = (way for way in ways if ui_text.width((*way[0], *way[1])) + 2 <= width)
    return spread(*next(fitting, (short, (*preset, (" ", "")))), width)


def _with_lengths(column: ColumnSnapshot, front: Cell, now: Snapshot, right: Cell) -> list[tuple[Cell, Cell]]:
    """Return the headers (left and right part) with the tokens of each named corpus, the longest first; none
    without named corpora."""
    if not column.at.lengths:
        return []
    names = [f"{safe(part.name, limit=_PART_SHOWN)} {number(part.tokens)}" for part in column.at.lengths]
    each = [f" ({part.bytes_per_token:.2f} B)" if part.bytes_per_token else "" for part in column.at.lengths]
    long = "tokens: " + ", ".join(map(str.__add__, names, each))
    sized: Cell = (*front, (long, ""), (f" · {size(now.corpus.bytes)}", "muted"))
    return [(sized, right), ((*front, ("tokens: " + ", ".join(names), "")), right)]


def _engine(now: Snapshot) -> tuple[str, str]:
    """Return the note in the header that kernels failed, short and long; empty if they work."""
    return ("kernels failed · ", f"{now.engine} · ") if now.engine == FAILED else ("", "")


def tabs(
    names: Sequence[tuple[str, str]], active: str, note: Cell, width: int, states: Cell = ()
) -> Cell:
    """Return the line of tabs: `1 Corpus  2 Pairs  …`; only numbers for the other panes if the titles are too
    wide.

    Args:
        names: The name and the title of each pane.
        active: The name of the active pane.
        note: What is at the right; left out if it does not fit.
        width: The columns of the line.
        states: The states of the active pane, always visible: titles are shortened for them, then they are
            cut.
    """

    def titled(short: bool) -> Cell:
        line: list[Run] = []
        for pane, title in names:
            shown = title[:1] if short and pane != active else title
            line += [("  " if line else "", ""), (shown, "focus" if pane == active else "muted")]
        return tuple(line)

    line = titled(short=False)
    if not states and ui_text.width(line) > width:
        line = titled(short=True)
    if states:
        whole = (*states, (" · ", "muted"), *note) if note else states
        if ui_text.width(line) + 1 + ui_text.width(states) > width:
            line = titled(short=True)
        room = max(0, width - ui_text.width(line) - 1)
        return spread(line, whole if ui_text.width(whole) <= room else ui_text.clip(states, room), width)
    note = note if ui_text.width(line) + 1 + ui_text.width(note) <= width else ()
    return spread(line, note, width)
