"""Waiting for a state of an app.

A pilot waits after each key, and in a pause, until the event loop is at rest (`rest`). `settled` waits until
the session is idle as well, and `until` waits for a state.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import slow
from textual import app as textual_app
from textual import pilot as textual_pilot
from textual._compositor import Compositor
from textual._context import active_app, visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Static
from textual.worker import Worker
from textual.worker_manager import WorkerManager

from tokentui.session.engine.driver import Session
from tokentui.ui.late_session import LateSession

PATIENCE = 60.0
"""The longest wait for a state in seconds. Only a test that fails waits so long."""


async def rest(*_: float) -> None:
    """Wait until the event loop is at rest and the screen is laid out.

    The loop is at rest if no task can go on before a timer, a thread or a file wakes it: all messages have
    been handled, and so have those that their handlers posted. Work in threads, such as that of a session,
    may be under way.

    Raises:
        AssertionError: It has not come to rest in `PATIENCE` seconds.
    """
    loop: Any = asyncio.get_running_loop()
    end = time.monotonic() + PATIENCE
    while True:
        await asyncio.sleep(0)
        app = active_app.get()
        if loop._ready:
            assert time.monotonic() < end, f"the event loop is not at rest: {loop._ready[0]}"
        elif app._resize_timer is not None and app._running:
            app._check_resize()  # now: Textual waits for some milliseconds, and its timer may lose the size
        elif not _laid_out(app):
            return


def _laid_out(app: App[Any]) -> bool:
    """Lay out the screen now, not with the next frame. Return whether there was anything to do."""
    screen = app.screen if app._screen_stack and app._running else None
    if screen is None or app._batch_count or not screen.is_running or not screen.is_current:
        return False
    due = screen._layout_required or screen._scroll_required or screen._repaint_required
    if not (due or screen._recompose_required or screen._dirty_widgets or screen._callbacks):
        return False
    screen._on_timer_update()
    return True


# Textual would wait until the process uses little processor time, which says nothing on a busy machine.
textual_app.wait_for_idle = textual_pilot.wait_for_idle = rest  # type: ignore[assignment, attr-defined]

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

new_worker = WorkerManager._new_worker
"""What begins a worker."""


def _of_a_function(workers: WorkerManager, work: Any, *args: Any, **more: Any) -> Worker[Any]:
    """Begin a worker. Not that of a coroutine: where it is cancelled before it begins, which seldom happens,
    Python warns of it, and a test fails that has nothing to do with it."""
    assert not inspect.iscoroutine(work), f"a worker gets the function, not its coroutine: {work}"
    return new_worker(workers, work, *args, **more)


WorkerManager._new_worker = _of_a_function  # type: ignore[assignment, method-assign]

shut_down = App._shutdown
"""What ends an app."""


_looked_at: WeakKeyDictionary[App[Any], Screen[Any]] = WeakKeyDictionary()
"""The screen that the test of an app has drawn last."""


async def _draw_the_last_frame(app: App[Any]) -> None:
    """Draw the last screen if the test has not, then end the app: a screen that cannot be drawn fails."""
    draws = app.is_headless and app._exception is None and app._screen_stack
    if draws and _looked_at.get(app) is not app.screen:
        try:
            strips_of(app)
        except Exception as error:
            app._handle_exception(error)
    await shut_down(app)


App._shutdown = _draw_the_last_frame  # type: ignore[assignment, method-assign]


async def until(pilot: Pilot[Any], predicate: Callable[[], object]) -> None:
    """Wait until a predicate holds.

    Use it for a state that cannot hold before what the test waits for; else use `settled`.

    Raises:
        AssertionError: It does not hold after `PATIENCE` seconds; the screen is shown.
    """
    end, delay = time.monotonic() + PATIENCE, 0.001
    await slow.delay_look()
    await rest()
    while not predicate():
        if time.monotonic() > end:
            raise AssertionError(f"this state has not come:\n{screen_text(pilot)}")
        await asyncio.sleep(delay)
        delay = min(1.5 * delay, 0.02)
        await rest()


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until the session is idle and the screen shows its last snapshot.

    No command, job, worker or key is waiting or under way then. What a timer begins may still come. A session
    that does not come to rest, such as one that plays, needs `until`.

    Raises:
        AssertionError: This has not come in `PATIENCE` seconds; the screen is shown.
    """
    end, delay = time.monotonic() + PATIENCE, 0.001
    await rest()
    while not is_settled(pilot.app):
        if time.monotonic() > end:
            raise AssertionError(f"it has not settled:\n{screen_text(pilot)}")
        await asyncio.sleep(delay)
        delay = min(1.5 * delay, 0.02)
        await rest()


def is_settled(app: App[Any]) -> bool:
    """Return whether an app whose event loop is at rest has nothing to do."""
    if getattr(app, "_acting", None) is not None or any(not worker.is_finished for worker in app.workers):
        return False  # a key or a worker is under way
    # A tour has a session of its own.
    for engine in {getattr(node, "engine", None) for node in (app, *app.screen_stack)}:
        session = getattr(engine, "session", None)
        if isinstance(session, Session | LateSession) and not session.at_rest:
            return False
        if getattr(engine, "snapshot_waits", False):
            return False  # a snapshot is not shown yet
    return True


def notes_of(app: App[Any]) -> list[str]:
    """The messages that an app shows, the oldest first."""
    return [str(note.message) for note in app._notifications]


def text_of(line: Static) -> str:
    """What a line shows, all of it."""
    return str(line.content)


def strips_of(app: App[Any]) -> list[Strip]:
    """The lines of what is on the screen.

    A dialog is drawn over the screens below it, as the app paints them: drawn alone it would keep a blank
    background, also for the app's next frame.
    """
    visible_screen_stack.set(app._background_screens)
    _looked_at[app] = app.screen
    return app.screen._compositor.render_strips()


def screen_text(pilot: Pilot[Any]) -> str:
    """What is on the screen, a line a row, without blanks at the ends."""
    return "\n".join(strip.text.rstrip() for strip in strips_of(pilot.app))
