"""Where a unigram training stands, in sentences: what comes next, and what the last step did."""

from __future__ import annotations

from tokentui.session.snapshot import RoundView
from tokentui.ui.draw.figures import number, plural
from tokentui.ui.draw.text import Cell

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
    step = (*step, ("   ", ""), (number(at.going), "warning"), (f" of {plural(at.pieces + at.taken, 'piece')} {goes}", "muted"))
    out: list[Cell] = [step]
    if at.taken:
        out.append(((f"{number(at.taken)} gone one by one", ""), (f", {number(at.going - at.taken)} to go", "muted")))
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
