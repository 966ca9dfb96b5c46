"""What is said in the place of what is not there yet: what is under way, and what is waited for."""

from __future__ import annotations

from tokentui.core.safetext import safe
from tokentui.session.snapshot import Busy, Snapshot

_SHOWN = 60


def under_way(busy: Busy) -> str:
    """`counting 45 %`."""
    share = f" {100 * min(busy.done, busy.total) // busy.total} %" if busy.total > 0 else ""
    return safe(busy.what, limit=_SHOWN) + share


def waits_for(snapshot: Snapshot | None) -> str:
    """What an answer about the training has to wait for, in a few words; empty where it is on its way."""
    if snapshot is None:
        return "waits: the engine is starting"
    return f"waits: {under_way(snapshot.busy)}" if snapshot.busy is not None else ""


def nothing_there(snapshot: Snapshot) -> str:
    """What stands in panes that have nothing to show: what is being opened, or that nothing is."""
    return under_way(snapshot.busy) if snapshot.busy is not None else "nothing is open: o opens a text or a tokenizer"
