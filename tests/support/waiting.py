"""Waiting for a state of an app."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

PATIENCE = 10.0
"""Seconds after which a state that has not come is taken never to come."""


async def until(pilot: Pilot[Any], predicate: Callable[[], object]) -> None:
    """Wait until something is true of the app.

    Raises:
        AssertionError: It has not become true; the screen is shown.
    """
    end = time.monotonic() + PATIENCE
    while not predicate():
        if time.monotonic() > end:
            raise AssertionError(f"it has not come:\n{screen_text(pilot)}")
        await pilot.pause(0)
        await asyncio.sleep(0.001)


def screen_text(pilot: Pilot[Any]) -> str:
    """What is on the screen, a line a row, without blanks at the ends."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)
