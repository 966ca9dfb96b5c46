"""The one-line bands of Compare: what is compared, where two columns part and what they share, where all of
them stand.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.commands import SPEEDS
from tokentui.session.snapshot import DivergenceSide, DivergenceView, OverlapCounts, Snapshot
from tokentui.session.views import END, LETTERS, WAYS, ColumnSnapshot, PairRow, Position
from tokentui.ui.compare.column_panes import letter
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import decimal, number, size
from tokentui.ui.draw.lines import spread
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.candidates import SCORE_WIDTH
from tokentui.ui.panes.tables import pair as pair_cell
from tokentui.ui.panes.why import busy_cell

NAME_SHOWN = 60
_SPEED_WIDTH = max(len(f"{number(speed)}/s") for speed in SPEEDS if speed is not None)
_WAYS = {"merges": "merges", "size": "ids", "tokens": "tokens left"}
_UNITS = {"merges": "step", "size": "ids", "tokens": "step of A"}


def header(now: Snapshot | None, waits: str, cost: Cell, width: int) -> Cell:
    """The program and the corpus at the left; what keeps the columns together at the right.

    Args:
        now: The snapshot that is shown; None before the first.
        waits: The work that is waited for before the first snapshot.
        cost: The cost of the last key, if it is measured.
        width: The columns of the terminal.
    """
    program: Cell = ((" tokentui compare", "strong"),)
    if now is None:
        what, dot, keys = waits.partition(" · ")
        return (*program, (f"   {what}", "muted"), (dot + keys, "accent"))
    left: Cell = (
        *program, ("   ", ""), (safe(now.corpus.name, limit=NAME_SHOWN), ""),
        (f" · {size(now.corpus.bytes)}", "muted"),
    )
    if now.between.held_out:
        left = (*left, (" · second: ", "muted"), (safe(now.between.held_out, limit=NAME_SHOWN), ""))
    ways: list[Run] = [("in step by ", "muted")]
    for place, way in enumerate(WAYS):
        ways += [(" · " if place else "", "muted"),
            (_WAYS[way], "strong" if way == now.position.by else "muted")]
    right: Cell = (*cost, *ways, (" ", ""))
    if ui_text.width(left) + ui_text.width(right) + 2 > width:
        right = (*cost, ways[0], (_WAYS[now.position.by], "strong"), (" ", ""))
    return spread(left, right, width)


def standing(now: Snapshot | None, width: int) -> Sequence[Cell]:
    """Where all columns stand, how fast they run, and what is being found: `step 128 ▶ 60/s → 1,000
    measuring 45 %`.
    """
    if now is None:
        return ()
    digits = max(6, len(number(max([now.position.value,
        *(c.at.target or c.at.computed for c in now.columns if c.in_sync)]))))
    mark: Run = ("▶ ", "accent") if now.running else ("■ ", "muted")
    speed = "max" if now.speed is None else f"{number(now.speed)}/s"
    left: Cell = (
        (f" {_UNITS[now.position.by]} ", "muted"), (number(now.position.value).rjust(digits), "strong"),
        (" ", ""), mark,
        (speed.ljust(_SPEED_WIDTH), "" if now.running else "muted"),
    )
    if now.goal is not None:
        left = (*left, (" → the end" if now.goal.value == END else f" → {number(now.goal.value)}", "accent"))
    elif now.between.ended:
        left = (*left, (" the end of all", "muted"))
    right: Cell = ()
    if now.between.busy is not None:
        right = (*busy_cell(now.between.busy)[:-2], (" ", ""))
    elif now.engine:
        right = ((now.engine, "muted"), (" ", ""))
    return (spread(left, right, width),)


def parting_line(now: Snapshot | None, pair: tuple[int, int] | None, mode: GlyphMode,
        width: int) -> Sequence[Cell]:
    """Where two columns part first, and what they share: `── A·B  part at step 1  A ·+t 27,118 ──── common 88
    ──`.
    """
    if now is None or pair is None:
        return ((("─" * width, "frame"),),)
    found = parting_of(now, pair)
    places = places_of(now.columns, pair)
    left: Cell = (("── ", "frame"), *said(found, now.columns, places, mode), (" ", ""))
    counts = overlap_of(now, pair)
    ways: list[Cell] = [()]
    if counts is not None:
        shared = shared_cell(counts, places, counts.at == now.position)
        ways = [((" ", ""), *some, (" ──", "frame")) for some in (shared, shared[:3])] + ways
    room = width - ui_text.width(left) - 2
    right = next((way for way in ways if ui_text.width(way) <= room), ())
    left = ui_text.clip(left, max(0, width - ui_text.width(right) - 1))
    line = "─" * max(0, width - ui_text.width(left) - ui_text.width(right))
    return ((*left, (line, "frame"), *right),)


def at_words(at: Position) -> str:
    """A position in words: `step 128`, `384 ids`."""
    return f"{number(at.value)} ids" if at.by == "size" else f"step {number(at.value)}"


def places_of(columns: Sequence[ColumnSnapshot], pair: tuple[int, int]) -> tuple[int, int]:
    """The places of two columns, by their keys."""
    keys = [column.key for column in columns]
    a, b = (keys.index(key) if key in keys else 0 for key in pair)
    return a, b


def parting_of(snapshot: Snapshot, pair: tuple[int, int]) -> DivergenceView | None:
    """Where two columns part, None while that has not been looked for."""
    return next((one for one in snapshot.between.divergences if (one.a, one.b) == pair), None)


def overlap_of(snapshot: Snapshot, pair: tuple[int, int]) -> OverlapCounts | None:
    """Return the counts of tokens that two vocabularies share, None before they are computed."""
    return next((one for one in snapshot.between.overlaps if (one.a, one.b) == pair), None)


def said(found: DivergenceView | None, columns: Sequence[ColumnSnapshot], places: tuple[int, int],
        mode: GlyphMode) -> Cell:
    """Where two columns part, in a line."""
    both: Cell = (letter(places[0]), ("·", "muted"), letter(places[1]))
    if found is None:
        return (*both, ("  not compared step by step", "muted"))
    how = "" if found.other is None and not found.literal else " as spelled" if found.literal else " by meaning"
    if found.step is None:
        if found.done:
            spelled = f"; as spelled step {number(found.other)} does" if found.other is not None else ""
            return (*both, (f"  no step differs{how}", "strong"),
                (f", {number(found.looked)} compared{spelled}", "muted"))
        so_far = f"  the first {number(found.looked)} steps are alike"
        return (*both, (so_far, "muted"),
            (", looking on" if found.busy is not None else ", stopped: d goes on", "muted"))
    out: Cell = (*both, ("  part at step ", "muted"), (number(found.step), "strong"))
    out = (*out, (how, "muted")) if how else out
    for place, side in zip(places, found.sides, strict=False):
        column = columns[place] if place < len(columns) else None
        out = (*out, ("  ", ""), letter(place), (" ", ""), *choice_cell(side, column, mode))
    return out


def choice_cell(side: DivergenceSide, column: ColumnSnapshot | None, mode: GlyphMode) -> Cell:
    """Return the choice of a column at the step: `·t+he 9,310`, a round, or the reason for none."""
    if side.choice is not None:
        return (*pair_cell(side.choice, mode), (" ", ""), (value_of(side.choice, column), "strong"))
    if side.round is not None:
        return ((side.round.next or side.round.last, ""),)
    return ((f"ends: {safe(side.end or 'nothing is left', limit=NAME_SHOWN)}", "muted"),)


def value_of(row: PairRow, column: ColumnSnapshot | None) -> str:
    """Return the value that ranks a pair: its score, or its count."""
    objective = column.recipe.objective if column is not None and column.recipe is not None else "count"
    return decimal(row.score, SCORE_WIDTH) if objective == "score" else number(row.count)


def shared_cell(counts: OverlapCounts, places: tuple[int, int], present: bool, part: str = "",
        bare: bool = False) -> Cell:
    """`common 88 · only A 296 · only B 113`; `part` is marked, and numbers of another position are muted."""
    a, b = (LETTERS[place] for place in places)
    values = (
        (counts.bare_common, counts.bare_only_a, counts.bare_only_b) if bare
        else (counts.common, counts.only_a, counts.only_b)
    )
    wide = len(number(max(values)))
    out: list[Run] = []
    for name, title, value in zip(("common", "only_a", "only_b"), ("common", f"only {a}", f"only {b}"),
            values, strict=True):
        out += [(" · " if out else "", "muted"), (f"{title} ", "focus" if name == part else "muted")]
        out.append((number(value).rjust(wide), ("strong" if name == part else "") if present else "muted"))
    return tuple(out)
