"""The work that the screens wait for, in words."""

from __future__ import annotations

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe
from tokentui.session.commands import NothingOpen
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Busy

_SHOWN = 60


class NotYet(TokentuiError):
    """An action needs a training, and the source is still being opened.

    Args:
        snapshot: The last snapshot; None before the first.
    """

    def __init__(self, snapshot: Snapshot | None) -> None:
        work = waits_for(snapshot).removeprefix("waits: ") or "a source is still opening"
        super().__init__(f"not yet: {work}: press the key again when it is done")


def under_way(busy: Busy) -> str:
    """Return the progress of work as safe text, as in `counting 45 %, 12 s left`; without a share or a time
    that is not known."""
    share = f" {100 * min(busy.done, busy.total) // busy.total} %" if busy.total > 0 else ""
    return safe(busy.what, limit=_SHOWN) + share + (f", {time_left(busy)}" if busy.left is not None else "")


def time_left(busy: Busy) -> str:
    """Return the time left, as in `12 s left` or `5 min left`; empty if it is not known."""
    if busy.left is None:
        return ""
    for size, unit in ((3600, "h"), (60, "min")):
        if busy.left >= 2 * size:
            return f"{-(-busy.left // size)} {unit} left"
    return f"{busy.left} s left"


def waits_for(snapshot: Snapshot | None) -> str:
    """Return the work before the session can answer, as in `waits: counting 45 %`; empty if it can answer at
    once."""
    if snapshot is None:
        return "waits: the engine is starting"
    return f"waits: {under_way(snapshot.busy)}" if snapshot.busy is not None else ""


def loads(snapshot: Snapshot | None) -> bool:
    """Return whether a source is being loaded, or none is loaded yet."""
    if snapshot is None or snapshot.main.partial:
        return True
    return snapshot.corpus.nothing_open and snapshot.busy is not None


def has(snapshot: Snapshot | None, trait: str) -> bool:
    """Return whether the current training has a trait, such as `compresses`; always True for the trait ""."""
    return not trait or (snapshot is not None and bool(getattr(snapshot.main.traits, trait)))


def loading(snapshot: Snapshot) -> str:
    """Return the text of an empty pane: the progress of what is being opened; empty for none."""
    return under_way(snapshot.busy) if snapshot.busy is not None else ""


def nothing_there(snapshot: Snapshot) -> str:
    """Return the text of an empty corpus: what is being opened, or that nothing is open."""
    return loading(snapshot) or str(NothingOpen())
