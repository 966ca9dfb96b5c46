"""Waiting for a state of an app."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual import _wait
from textual._compositor import Compositor
from textual._context import active_app, visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Static

# A pilot waits after each key until the process rests. Tests wait for states, so that a short rest is enough.
_wait.SLEEP_GRANULARITY = 1 / 500
_wait.SLEEP_IDLE = 1 / 2000

draw_frame = Compositor.render_update
"""What draws each frame, for the tests that count what is drawn."""


def _draw_for_a_terminal(compositor: Compositor, full: bool = False, *stack: Any, **more: Any) -> Any:
    """Draw no frame for an app without a terminal, which would drop it: `strips_of` draws what a test looks
    at."""
    if full or not active_app.get().is_headless:
        return draw_frame(compositor, full, *stack, **more)
    compositor._dirty_regions.clear()
    return None


Compositor.render_update = _draw_for_a_terminal  # type: ignore[assignment, method-assign]

shut_down = App._shutdown
"""What ends an app."""


async def _draw_the_last_frame(app: App[Any]) -> None:
    """End an app, but draw what it shows first: what cannot be drawn fails its test, though nobody looks."""
    if app.is_headless and app._exception is None and app._screen_stack:
        try:
            strips_of(app)
        except Exception as error:
            app._handle_exception(error)
    await shut_down(app)


App._shutdown = _draw_the_last_frame  # type: ignore[assignment, method-assign]

PATIENCE = 10.0
"""Seconds after which a state that has not come is taken never to come."""


async def until(pilot: Pilot[Any], predicate: Callable[[], object]) -> None:
    """Wait until something is true of the app.

    Raises:
        AssertionError: It has not become true; the screen is shown.
    """
    end, rest = time.monotonic() + PATIENCE, 0.001
    while not predicate():
        if time.monotonic() > end:
            raise AssertionError(f"it has not come:\n{screen_text(pilot)}")
        await pilot.pause(0)
        await asyncio.sleep(rest)
        rest = min(1.5 * rest, 0.02)  # what takes long is not held up by who looks


def notes_of(app: App[Any]) -> list[str]:
    """The messages that an app shows, the oldest first."""
    return [str(note.message) for note in app._notifications]


def told(line: Static) -> str:
    """What a line shows, all of it."""
    return str(line.content)


def strips_of(app: App[Any]) -> list[Strip]:
    """The lines of what is on the screen.

    A dialog is drawn over the screens below it, as the app paints them: drawn alone it would keep a blank
    background, also for the app's next frame.
    """
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def screen_text(pilot: Pilot[Any]) -> str:
    """What is on the screen, a line a row, without blanks at the ends."""
    return "\n".join(strip.text.rstrip() for strip in strips_of(pilot.app))
