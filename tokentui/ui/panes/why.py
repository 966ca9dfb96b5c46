"""Why the next step is what it is: one sentence with its facts."""

from __future__ import annotations

from tokentui.axes import AXES
from tokentui.core.safetext import GlyphMode, safe
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Busy, ColumnSnapshot, PairRow, RoundView
from tokentui.ui.draw.figures import bar, behind, decimal, number, plural, signed
from tokentui.ui.draw.lines import flow
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import nothing_there
from tokentui.ui.panes.births import last_birth, next_birth, order_said
from tokentui.ui.panes.candidates import SCORE_WIDTH, stands
from tokentui.ui.panes.tables import pair, styled, token

_STEPS = {
    "em": ("EM", "expected counts by the present probabilities, then probabilities by those counts"),
    "prune": ("pruning", "the pieces of the least loss go, and those whose best segmentation is another"),
    "cut": ("the last cut", "the most probable pieces stay, as many as are asked for"),
}
"""A step that may come: what it is called, and what it does."""
_DONE = {"seeds": "the seeds", "em": "EM", "prune": "pruning", "cut": "the last cut"}


def next_step(at: RoundView) -> list[Cell]:
    """`next  pruning of round 2   1,204 of 29,914 pieces go`."""
    name, meaning = _STEPS.get(at.next, (at.next, ""))
    # A round begins after a pruning; the cut still belongs to the last one.
    coming = at.round + 1 if at.last == "prune" and at.next != "cut" else max(1, at.round)
    which = "" if at.next == "cut" else f" of round {number(coming)}"
    step: Cell = (("next  ", "accent"), (name, "strong"), (which, ""))
    if at.going is None:
        return [(*step, (f": {meaning}", "muted"))] if meaning else [step]
    goes = "goes" if at.going == 1 else "go"
    step = (*step, ("   ", ""), (number(at.going), "warning"),
        (f" of {plural(at.pieces + at.taken, 'piece')} {goes}", "muted"))
    out: list[Cell] = [step]
    if at.taken:
        out.append(((f"{number(at.taken)} gone one by one", ""),
            (f", {number(at.going - at.taken)} to go", "muted")))
    return [*out, ((meaning, "muted"),)] if meaning else out


def last_step(at: RoundView) -> list[Cell]:
    """`after EM: objective 8.12345 → 8.01234 (−0.11111), 29,914 pieces, 86 dropped`."""
    now = f"{at.objective:.5f}"
    said: Cell = ((f"after {_DONE.get(at.last, at.last)}: ", "muted"), ("objective ", "muted"))
    if at.before is not None:
        change = f"{at.objective - at.before:+.5f}".replace("-", "−")
        said = (*said, (f"{at.before:.5f} → ", "muted"), (now, "strong"), (f" ({change})", "muted"))
    else:
        said = (*said, (now, "strong"))
    pieces: Cell = ((plural(at.pieces, "piece"), ""),)
    if at.dropped:
        pieces = (*pieces, (f", {number(at.dropped)} dropped", "muted"))
    return [said, pieces]


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
    """Return the sentences about the first column and the work under way, most important first."""
    out: list[Cell] = []
    if snapshot.busy is not None:
        out.append(busy_cell(snapshot.busy))
    if snapshot.waiting:
        out.append((("waits for it: ", "accent"), (safe(snapshot.waiting, limit=FACT_SHOWN), "")))
    if snapshot.nothing:
        return out or [((nothing_there(snapshot), "muted"),)]
    return out + reasons(snapshot.main, snapshot.corpus.name, mode)


def reasons(column: ColumnSnapshot, corpus: str, mode: GlyphMode) -> list[Cell]:
    """Why the next step of a column is what it is, most important first; `corpus` is the name of the corpus."""
    out: list[Cell] = []
    if column.partial:
        out.append((("only a part of the corpus is counted: these numbers still grow", "warning"),))
    why = column.why
    if why.error:
        return [*out, ((safe(why.error, limit=FACT_SHOWN), "error"),)]
    if why.end is not None:
        out.append((("end  ", "accent"), (_end(column, why.end), "")))
    elif why.round is not None:
        out += next_step(why.round)
    elif column.opened is not None:
        out += next_birth(column, corpus, mode)
    elif why.best is not None:
        out += _next(column, why.best, mode)
    if why.round is not None:
        out += last_step(why.round)
    out += [((safe(fact, limit=FACT_SHOWN), "muted" if column.opened is None else "warning"),)
        for fact in why.facts]
    if column.opened is not None:
        return [*out, *last_birth(column, mode), *order_said(column)]
    # What Gage's compression saves is among its facts, and what its table costs.
    if why.best is not None and why.end is None and column.recipe.objective != "gage":
        out.append((("saves ", "muted"), (plural(why.replaced, "token"), "")))
    return out


def _end(column: ColumnSnapshot, end: str) -> str:
    if not column.at.start_tokens and column.opened is None:
        return "nothing to merge: the corpus is empty"
    if column.recipe.objective == "unigram" and end == "no pair left":  # the word of the trace, for all objectives
        return "the corpus has fewer pieces than are asked for"
    return safe(end, limit=200)


def _next(column: ColumnSnapshot, best: PairRow, mode: GlyphMode) -> list[Cell]:
    why, objective = column.why, column.recipe.objective
    merge: Cell = (("next  ", "accent"), *pair(best, mode), (" → ", "accent"))
    if objective == "gage":
        spelled = styled(token(best.spelled, mode), "muted")
        merge = (*merge, *stands(best.token), (" for ", "muted"), *spelled)
    else:
        merge = (*merge, *token(best.token, mode))
    out: list[Cell] = [(*merge, ("   ", ""),
        *(_formula(best) if objective == "score" else _windows(best, why.replaced)))]
    if why.tied > 1:
        known = AXES["tie"].get(why.tie_rule)
        rule = safe(why.tie_rule, limit=60) + (f" {known.why}" if known is not None else "")
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
    return (number(best.count), "strong"), (windows, "muted"), (number(replaced), "strong"), (" replaced",
        "muted")


def _formula(best: PairRow) -> Cell:
    """`1,201 / (1,204 · 261) = 0.0038219, the score f(xy)/(f(x)·f(y))`."""
    uses = f"{number(best.count)} / ({number(best.left_uses)} · {number(best.right_uses)})"
    return (f"{uses} = ", ""), (decimal(best.score, SCORE_WIDTH), "strong"), (", the score f(xy)/(f(x)·f(y))",
        "muted")


def _figure(row: PairRow, objective: str) -> str:
    return decimal(row.score, SCORE_WIDTH) if objective == "score" else number(row.count)


def why(snapshot: Snapshot, mode: GlyphMode, width: int, height: int) -> list[Cell]:
    """The sentence, on as many lines as there are."""
    return flow(sentences(snapshot, mode), width, height)
