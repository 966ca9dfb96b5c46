"""The header of the main screen, and the line of tabs where one pane is seen at a time."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import Snapshot
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number, plural, size
from tokentui.ui.draw.lines import spread
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.face import nothing_there

NAME_SHOWN = 60
"""The most characters of the name of a corpus."""


def header(now: Snapshot | None, mode: GlyphMode, cost: Cell, width: int) -> Cell:
    """The program, the corpus and its size at the left, the recipe at the right.

    Args:
        now: The snapshot that is shown; None before the first.
        mode: The way tokens are shown.
        cost: The cost of the last key, if it is measured.
        width: The columns of the terminal.
    """
    program: Cell = ((" tokentui", "strong"),)
    if now is None:
        return program
    if now.nothing:
        return spread((*program, ("   ", ""), (nothing_there(now), "muted")), cost, width)
    words = f"{plural(now.main.at.occurrences, 'word')} ({number(now.main.at.distinct)} distinct)"
    facts = f" · {size(now.corpus.bytes)} · {words}"
    view = f"view: {mode} · " if mode != "text" else ""
    # What runs is said where it is not what one would expect: kernels that are compiled, a recipe that has
    # none.
    engine = f"{now.engine} · " if now.engine == "compiling once" else ""
    engine = "plain Python · " if now.engine.startswith("plain Python for ") else engine
    column = now.main
    named, said = column.preset, column.about
    if column.opened is not None:
        named, said = column.opened.name, f"{number(column.opened.size)} ids · {said}"
    preset: Cell = (*cost, (view, "warning"), (engine, "muted"), (safe(named, limit=NAME_SHOWN), "strong"))
    right: Cell = (*preset, ("  " if named else "", ""), (safe(said, limit=NAME_SHOWN), "muted"), (" ", ""))
    name: Cell = ((safe(now.corpus.name, limit=NAME_SHOWN), ""),)
    # The name gives way last.
    left: Cell = (*program, ("   ", ""), *name, (facts, "muted"))
    held = f" · {size(now.main.at.memory)} held" if now.main.at.memory else ""
    if ui_text.width((*left, (held, ""))) + ui_text.width(right) + 2 <= width:
        left = (*left, (held, "muted"))
    if ui_text.width(left) + ui_text.width(right) + 2 > width:
        left = (*program, ("  ", ""), *name, (f" · {size(now.corpus.bytes)}", "muted"))
    if ui_text.width(left) + ui_text.width(right) + 2 > width:
        right = (*preset, (" ", ""))
    return spread(left, right, width)


def tabs(names: Sequence[tuple[str, str]], active: str, note: Cell, width: int) -> Cell:
    """`1 Corpus  2 Pairs  …`: panes as (name, title), the one that is seen, and where one is in it."""
    line: list[Run] = []
    for pane, title in names:
        line += [("  " if line else "", ""), (title, "focus" if pane == active else "muted")]
    note = note if ui_text.width(line) + 1 + ui_text.width(note) <= width else ()
    return spread(tuple(line), note, width)
