"""The saved state of a session: written while it runs, restored after a lost connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokentui.session.saved.value import Branch, Kept, dumps, loads

if TYPE_CHECKING:
    from tokentui.session.saved.store import Keeper, offered, read, tidy

__all__ = ["Branch", "Keeper", "Kept", "dumps", "loads", "offered", "read", "tidy"]


def __getattr__(name: str) -> Any:
    """The store, loaded when it is wanted: what writes files takes longer to load than the first screen."""
    if name in __all__:
        from tokentui.session.saved import store

        return getattr(store, name)
    raise AttributeError(name)
