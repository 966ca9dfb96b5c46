"""Keys handed to an app at once."""

from __future__ import annotations

from textual import events
from textual.app import App


def burst(app: App[None], *keys: str | events.Paste) -> None:
    """Deliver keys as a terminal does that sends them in one piece."""
    assert app._driver is not None
    for key in keys:
        event = events.Key(key, key if len(key) == 1 else None) if isinstance(key, str) else key
        event.set_sender(app)
        app._driver.process_message(event)
