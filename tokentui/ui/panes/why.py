"""Why the next step is what it is: one sentence with its facts."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import Busy, PairRow, Snapshot
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import bar, behind, decimal, number, plural, signed
from tokentui.ui.draw.lines import Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.births import last_birth, next_birth, order_said
from tokentui.ui.panes.candidates import SCORE_WIDTH, stands
from tokentui.ui.panes.rounds import last_step, next_step
from tokentui.ui.panes.tables import pair, styled, token
from tokentui.ui.panes.waits import nothing_there

_TIE_RULES = {
    "first-seen": "first-seen takes the one that stands first in the corpus",
    "largest-pair": "largest-pair takes the last in alphabetical order",
    "smallest-pair": "smallest-pair takes the first in alphabetical order",
    "lowest-ids": "lowest-ids takes the one of the smallest ids",
    "shortest": "shortest takes the one of fewer characters, then the first in alphabetical order",
}
_BAR = 20
FACT_SHOWN = 300


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
    if snapshot.waiting:
        out.append((("waits for it: ", "accent"), (safe(snapshot.waiting, limit=FACT_SHOWN), "")))
    if snapshot.nothing:
        return out or [((nothing_there(snapshot), "muted"),)]
    if snapshot.partial:
        out.append((("only a part of the corpus is counted: these numbers still grow", "warning"),))
    why = snapshot.why
    if why.end is not None:
        out.append((("end  ", "accent"), (_end(snapshot, why.end), "")))
    elif why.round is not None:
        out += next_step(why.round)
    elif snapshot.opened is not None:
        out += next_birth(snapshot, mode)
    elif why.best is not None:
        out += _next(snapshot, why.best, mode)
    if why.round is not None:
        out += last_step(why.round)
    out += [((safe(fact, limit=FACT_SHOWN), "muted" if snapshot.opened is None else "warning"),) for fact in why.facts]
    if snapshot.opened is not None:
        return [*out, *last_birth(snapshot, mode), *order_said(snapshot)]
    # What Gage's compression saves is among its facts, and what its table costs.
    if why.best is not None and why.end is None and snapshot.recipe.objective != "gage":
        out.append((("saves ", "muted"), (plural(why.replaced, "token"), "")))
    return out


def _end(snapshot: Snapshot, end: str) -> str:
    if not snapshot.start_tokens and snapshot.opened is None:
        return "nothing to merge: the corpus is empty"
    if snapshot.recipe.objective == "unigram" and end == "no pair left":  # the word of the trace, for all objectives
        return "the corpus has fewer pieces than are asked for"
    return safe(end, limit=200)


def _next(snapshot: Snapshot, best: PairRow, mode: GlyphMode) -> list[Cell]:
    why, objective = snapshot.why, snapshot.recipe.objective
    merge: Cell = (("next  ", "accent"), *pair(best, mode), (" → ", "accent"))
    if objective == "gage":
        spelled = styled(token(best.spelled, mode), "muted")
        merge = (*merge, *stands(best.token), (" for ", "muted"), *spelled)
    else:
        merge = (*merge, *token(best.token, mode))
    out: list[Cell] = [(*merge, ("   ", ""), *(_formula(best) if objective == "score" else _windows(best, why.replaced)))]
    if why.tied > 1:
        rule = _TIE_RULES.get(why.tie_rule, safe(why.tie_rule, limit=60))
        out.append(((f"{number(why.tied)} pairs tie at {_figure(best, objective)}", ""), (f": {rule}", "muted")))
    if (second := why.runner_up) is not None:
        if objective == "score":
            less = behind(second.score, best.score)
            less = f"{less} behind" if less else ""
        else:
            less = signed(second.count - best.count)
        out.append((
            ("runner-up ", "muted"), *pair(second, mode), (f" {_figure(second, objective)}", ""),
            (f" ({less or 'equal'})", "muted"),
        ))
    return out


def _windows(best: PairRow, replaced: int) -> Cell:
    windows = " window, " if best.count == 1 else " windows, "
    return (number(best.count), "strong"), (windows, "muted"), (number(replaced), "strong"), (" replaced", "muted")


def _formula(best: PairRow) -> Cell:
    """`1,201 / (1,204 · 261) = 0.0038219, the score f(xy)/(f(x)·f(y))`."""
    uses = f"{number(best.count)} / ({number(best.left_uses)} · {number(best.right_uses)})"
    return (f"{uses} = ", ""), (decimal(best.score, SCORE_WIDTH), "strong"), (", the score f(xy)/(f(x)·f(y))", "muted")


def _figure(row: PairRow, objective: str) -> str:
    return decimal(row.score, SCORE_WIDTH) if objective == "score" else number(row.count)


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
