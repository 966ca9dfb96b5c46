"""Why the next step is what it is: one sentence with its facts."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.safetext import GlyphMode, safe
from tokentui.snapshot import Busy, Snapshot, WhyView
from tokentui.ui import text as ui_text
from tokentui.ui.text import Cell
from tokentui.ui.widgets.figures import bar, number, plural, signed
from tokentui.ui.widgets.lines import Lines
from tokentui.ui.widgets.tables import pair, token

_TIE_RULES = {
    "first-seen": "first-seen takes the one that stands first in the corpus",
    "largest-pair": "largest-pair takes the last in alphabetical order",
    "smallest-pair": "smallest-pair takes the first in alphabetical order",
    "lowest-ids": "lowest-ids takes the one of the smallest ids",
    "shortest": "shortest takes the one of fewer characters, then the first in alphabetical order",
}
_BAR = 20


def busy_cell(busy: Busy) -> Cell:
    """`counting 45 % ▇▇▇▇····  esc stops it`."""
    what: Cell = ((safe(busy.what, limit=60), "strong"),)
    if busy.total > 0:
        share = min(busy.done, busy.total) / busy.total
        filled = bar(share, 1, _BAR)
        rest = "·" * (_BAR - len(filled))
        what = (*what, (f" {int(100 * share):3d} % ", ""), (filled, "primary"), (rest, "future"))
    elif busy.done:
        what = (*what, (f" {number(busy.done)}", ""))
    return (*what, ("   esc", "key"), (" stops it", "muted"))


def sentences(snapshot: Snapshot, mode: GlyphMode) -> list[Cell]:
    """What there is to say, most important first."""
    out: list[Cell] = []
    if snapshot.busy is not None:
        out.append(busy_cell(snapshot.busy))
    if snapshot.partial:
        out.append((("only a part of the corpus is counted: these numbers still grow", "warning"),))
    why = snapshot.why
    if why.end is not None:
        out.append((("end  ", "accent"), (_end(snapshot, why.end), "")))
    elif why.best is not None:
        out += _next(why, mode)
    return out


def _end(snapshot: Snapshot, end: str) -> str:
    if not snapshot.start_tokens:
        return "nothing to merge: the corpus is empty"
    return safe(end, limit=200)


def _next(why: WhyView, mode: GlyphMode) -> list[Cell]:
    best = why.best
    if best is None:
        return []
    merge: Cell = (
        ("next  ", "accent"), *pair(best, mode), (" → ", "accent"), *token(best.token, mode),
        ("   ", ""), (number(best.count), "strong"), (" windows, ", "muted"), (number(why.replaced), "strong"),
        (" replaced", "muted"),
    )
    out: list[Cell] = [merge]
    if why.tied > 1:
        rule = _TIE_RULES.get(why.tie_rule, safe(why.tie_rule, limit=60))
        out.append(((f"{number(why.tied)} pairs tie at {number(best.count)}", ""), (f": {rule}", "muted")))
    if why.runner_up is not None:
        behind = signed(why.runner_up.count - best.count)
        out.append((
            ("runner-up ", "muted"), *pair(why.runner_up, mode), (f" {number(why.runner_up.count)}", ""),
            (f" ({behind})" if behind else " (equal)", "muted"),
        ))
    out.append((("saves ", "muted"), (plural(why.replaced, "token"), "")))
    return out


class WhyLines(Lines):
    """The sentence, on as many lines as there are."""

    snapshot: Snapshot | None = None
    mode: GlyphMode = "text"

    def show(self, snapshot: Snapshot, mode: GlyphMode) -> None:
        """Take what a snapshot says."""
        self.snapshot, self.mode = snapshot, mode
        self.again()

    def cells(self, width: int, height: int) -> Sequence[Cell]:
        """The facts one after the other; a fact that does not fit goes to the next line, and the last line is cut."""
        if self.snapshot is None:
            return ()
        lines: list[Cell] = []
        for fact in sentences(self.snapshot, self.mode):
            joined: Cell = (*lines[-1], (" · ", "muted"), *fact) if lines else fact
            if lines and ui_text.width(joined) > width - 2 and len(lines) < height:
                lines.append(fact)
            else:
                lines[-1:] = [joined]
        return [((" ", ""), *ui_text.clip(line, max(0, width - 2))) for line in lines]
