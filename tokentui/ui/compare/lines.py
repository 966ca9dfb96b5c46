"""The one-line bands of Compare: what is compared, where two columns part and what they share, where all of them stand."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.commands import SPEEDS
from tokentui.session.compared import (
    END,
    LETTERS,
    WAYS,
    ColumnView,
    CompareSnapshot,
    OverlapCounts,
    PartingSide,
    PartingView,
    Position,
)
from tokentui.session.snapshot import PairRow
from tokentui.ui.compare.column_panes import letter
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import decimal, number, plural, size
from tokentui.ui.draw.lines import SAYS_BYTES, Lines, key_bytes, spread
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.panes.candidates import SCORE_WIDTH
from tokentui.ui.panes.tables import pair as pair_cell
from tokentui.ui.panes.why import busy_cell

NAME_SHOWN = 60
_SPEED_WIDTH = max(len(f"{number(speed)}/s") for speed in SPEEDS if speed is not None)
_WAYS = {"merges": "merges", "size": "ids", "tokens": "tokens left"}
_UNITS = {"merges": "step", "size": "ids", "tokens": "step of A"}


class SnapshotLine(Lines):
    """A line about a snapshot."""

    snapshot: CompareSnapshot | None = None

    def show(self, snapshot: CompareSnapshot) -> None:
        """Take a snapshot."""
        self.snapshot = snapshot
        self.again()


class CompareHeader(SnapshotLine):
    """What is compared on what."""

    def __init__(self) -> None:
        super().__init__(classes=SAYS_BYTES)
        self._what, self._keys = "", 0

    def wait(self, what: str, keys: int) -> None:
        """Say what is waited for, and how many keys wait, before there is anything to compare."""
        self._what, self._keys = what, keys
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The program and the corpus at the left; what keeps the columns together at the right."""
        program: Cell = ((" tokentui compare", "strong"),)
        now = self.snapshot
        if now is None:
            keys = f" · {plural(self._keys, 'key waits', 'keys wait')} for it" if self._keys else ""
            return ((*program, (f"   {self._what}", "muted"), (keys, "accent")),)
        left: Cell = (
            *program, ("   ", ""), (safe(now.corpus_name, limit=NAME_SHOWN), ""), (f" · {size(now.corpus_bytes)}", "muted"),
        )
        if now.held_out:
            left = (*left, (" · second: ", "muted"), (safe(now.held_out, limit=NAME_SHOWN), ""))
        ways: list[Run] = [("in step by ", "muted")]
        for place, way in enumerate(WAYS):
            ways += [(" · " if place else "", "muted"), (_WAYS[way], "strong" if way == now.position.by else "muted")]
        cost = key_bytes(self.app)
        right: Cell = (*cost, *ways, (" ", ""))
        if ui_text.width(left) + ui_text.width(right) + 2 > width:
            right = (*cost, ways[0], (_WAYS[now.position.by], "strong"), (" ", ""))
        return (spread(left, right, width),)


class StandingLine(SnapshotLine):
    """Where all columns stand, how fast they run, and what is being found beside them."""

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`step 128 ▶ 60/s → 1,000   measuring 45 %`."""
        now = self.snapshot
        if now is None:
            return ()
        digits = max(6, len(number(max([now.position.value, *(c.at.target or c.at.known for c in now.columns if c.at)]))))
        mark: Run = ("▶ ", "accent") if now.running else ("■ ", "muted")
        speed = "max" if now.speed is None else f"{number(now.speed)}/s"
        left: Cell = (
            (f" {_UNITS[now.position.by]} ", "muted"), (number(now.position.value).rjust(digits), "strong"), (" ", ""), mark,
            (speed.ljust(_SPEED_WIDTH), "" if now.running else "muted"),
        )
        if now.goal is not None:
            left = (*left, (" → the end" if now.goal.value == END else f" → {number(now.goal.value)}", "accent"))
        elif now.ended:
            left = (*left, (" the end of all", "muted"))
        right: Cell = ()
        if now.busy is not None:
            right = (*busy_cell(now.busy)[:-2], (" ", ""))
        elif now.engine:
            right = ((now.engine, "muted"), (" ", ""))
        return (spread(left, right, width),)


class PartingLine(SnapshotLine):
    """Where two columns part first, and what their vocabularies share."""

    pair: tuple[int, int] | None = None
    mode: GlyphMode = "text"

    def take(self, snapshot: CompareSnapshot, pair: tuple[int, int] | None, mode: GlyphMode) -> None:
        """Take a snapshot, and the two columns, by their keys, that are looked at."""
        self.pair, self.mode = pair, mode
        self.show(snapshot)

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """`── A·B  part at step 1  A ·+t 27,118  B ##z+##z 0.0049 ──── common 88 · only A 296 · only B 113 ──`."""
        now = self.snapshot
        if now is None or self.pair is None:
            return ((("─" * width, "frame"),),)
        found = parting_of(now, self.pair)
        places = places_of(now.columns, self.pair)
        left: Cell = (("── ", "frame"), *said(found, now.columns, places, self.mode), (" ", ""))
        counts = overlap_of(now, self.pair)
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


def places_of(columns: Sequence[ColumnView], pair: tuple[int, int]) -> tuple[int, int]:
    """The places of two columns, by their keys."""
    keys = [column.key for column in columns]
    a, b = (keys.index(key) if key in keys else 0 for key in pair)
    return a, b


def parting_of(snapshot: CompareSnapshot, pair: tuple[int, int]) -> PartingView | None:
    """Where two columns part, None while that has not been looked for."""
    return next((one for one in snapshot.partings if (one.a, one.b) == pair), None)


def overlap_of(snapshot: CompareSnapshot, pair: tuple[int, int]) -> OverlapCounts | None:
    """What two vocabularies share, None while that is not known."""
    return next((one for one in snapshot.overlaps if (one.a, one.b) == pair), None)


def said(found: PartingView | None, columns: Sequence[ColumnView], places: tuple[int, int], mode: GlyphMode) -> Cell:
    """Where two columns part, in a line."""
    both: Cell = (letter(places[0]), ("·", "muted"), letter(places[1]))
    if found is None:
        return (*both, ("  not compared step by step", "muted"))
    how = "" if found.other is None and not found.literal else " as spelled" if found.literal else " by meaning"
    if found.step is None:
        if found.done:
            spelled = f"; as spelled step {number(found.other)} does" if found.other is not None else ""
            return (*both, (f"  no step differs{how}", "strong"), (f", {number(found.looked)} compared{spelled}", "muted"))
        so_far = f"  the first {number(found.looked)} steps are alike"
        return (*both, (so_far, "muted"), (", looking on" if found.busy is not None else ", stopped: d goes on", "muted"))
    out: Cell = (*both, ("  part at step ", "muted"), (number(found.step), "strong"))
    out = (*out, (how, "muted")) if how else out
    for place, side in zip(places, found.sides, strict=False):
        column = columns[place] if place < len(columns) else None
        out = (*out, ("  ", ""), letter(place), (" ", ""), *choice_cell(side, column, mode))
    return out


def choice_cell(side: PartingSide, column: ColumnView | None, mode: GlyphMode) -> Cell:
    """What a column takes at the step: `·t+he 9,310`, a round, or why nothing."""
    if side.choice is not None:
        return (*pair_cell(side.choice, mode), (" ", ""), (value_of(side.choice, column), "strong"))
    if side.round is not None:
        return ((side.round.next or side.round.last, ""),)
    return ((f"ends: {safe(side.end or 'nothing is left', limit=NAME_SHOWN)}", "muted"),)


def value_of(row: PairRow, column: ColumnView | None) -> str:
    """What a pair is chosen by: its score, or its count."""
    objective = column.recipe.objective if column is not None and column.recipe is not None else "count"
    return decimal(row.score, SCORE_WIDTH) if objective == "score" else number(row.count)


def shared_cell(counts: OverlapCounts, places: tuple[int, int], present: bool, part: str = "", bare: bool = False) -> Cell:
    """`common 88 · only A 296 · only B 113`; `part` is marked, and numbers of another position are muted."""
    a, b = (LETTERS[place] for place in places)
    values = (
        (counts.bare_common, counts.bare_only_a, counts.bare_only_b) if bare
        else (counts.common, counts.only_a, counts.only_b)
    )
    wide = len(number(max(values)))
    out: list[Run] = []
    for name, title, value in zip(("common", "only_a", "only_b"), ("common", f"only {a}", f"only {b}"), values, strict=True):
        out += [(" · " if out else "", "muted"), (f"{title} ", "focus" if name == part else "muted")]
        out.append((number(value).rjust(wide), ("strong" if name == part else "") if present else "muted"))
    return tuple(out)
