"""Keys in one burst, each delivered after the one before it has been acted on.

Textual delivers a key to the widget that has the focus when the key arrives. A key that opens a dialog does
so later, so the letters typed after it go to the screen below. Measured on Textual 8.2.8: `o` opens a modal
with an `Input`, and of "ohello", sent at once, the input got nothing; `await push_screen` made no difference.
With `priority=True` it got "hello", but a priority key of the app also fires below modals. Users paste
bursts, and slow lines deliver keys together, so the order is kept here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Generic

from textual import events
from textual.app import App, ReturnType
from textual.screen import Screen
from textual.widget import Widget

from tokentui.thinwire.private import has_priority_binding

STUCK_S = 1.0
"""Seconds after which a key that is not acted on yet delays others no longer: its widget may be gone.

They count from when the first key waits, and anew for each widget whose queue is waited for.
"""


class KeyedApp(App[ReturnType], Generic[ReturnType]):
    """An app that knows where a key goes."""

    @property
    def key_target(self) -> Widget:
        """The widget that the next key goes to."""
        return self.focused or self.screen


class TypeAhead:
    """A queue of keys and pastes in front of an app's event handler.

    Args:
        app: The app. `deliver` belongs to it.
        deliver: Passes an event to the widget with the focus, as Textual's own `App.on_event` does.
    """

    def __init__(self, app: KeyedApp[Any], deliver: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app, self._deliver = app, deliver
        self._acting: asyncio.Task[None] | None = None
        """Waits until the last key has been acted on; None if it has been."""
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._limit: asyncio.Timeout | None = None
        """When the present wait is given up; None while nothing is waited for."""
        self._holds: list[tuple[Callable[[], object], Callable[[], object]]] = []
        """What holds the keys: what to call at escape, and what to call with each key that waits."""
        self._free = asyncio.Event()
        """Set while nothing holds the keys."""
        self._free.set()

    @contextlib.contextmanager
    def held(self, given_up: Callable[[], object], kept: Callable[[], object]) -> Iterator[None]:
        """Keep all keys and pastes meanwhile, and deliver them after that. Escape drops those that wait.

        Args:
            given_up: Called at escape.
            kept: Called with each other key or paste that is kept.
        """
        hold = given_up, kept
        self._holds.append(hold)
        self._free.clear()
        if self._acting is None and self._app.screen_stack:
            screen = self._app.screen
            self._acting = asyncio.create_task(self._deliver_next(screen, screen), name="thinwire key")
        try:
            yield
        finally:
            self._holds.remove(hold)
            if not self._holds:
                self._free.set()

    async def on_event(self, event: events.Event) -> None:
        """Deliver an event, or queue it while the key before it is acted on.

        Only keys and pastes are queued. A key that the app binds with priority is delivered at once.
        """
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await self._deliver(event)
        elif self._acting is not None and not (
            isinstance(event, events.Key) and has_priority_binding(self._app, event.key)
        ):
            if self._holds and isinstance(event, events.Key) and event.key == "escape":
                self._waiting.clear()
                for given_up, _ in list(self._holds):
                    given_up()
                return
            self._waiting.append(event)
            for _, kept in self._holds:
                kept()
            if self._limit is not None and self._limit.when() is None:
                self._limit.reschedule(asyncio.get_running_loop().time() + STUCK_S)
        else:
            await self._deliver_key(event)

    def cancel(self) -> None:
        """Deliver no more keys: the app ends."""
        if self._acting is not None:
            self._acting.cancel()

    async def _deliver_key(self, event: events.Key | events.Paste) -> None:
        """Deliver a key and start to wait until it has been acted on; do nothing if the app has no screen
        left."""
        app = self._app
        if not app.screen_stack:
            return
        if self._acting is not None:
            self._acting.cancel()
        screen, widget = app.screen, app.key_target
        await self._deliver(event)
        self._acting = asyncio.create_task(self._deliver_next(widget, screen), name="thinwire key")

    async def _deliver_next(self, widget: Widget, screen: Screen[Any]) -> None:
        """Wait until a key has been acted on and a screen that it opened is ready; then deliver the next key.

        If other keys wait, all queues are waited for twice: the second time for what the widget posted
        because of the key, such as `Input.Submitted`.

        Args:
            widget: The widget or screen that got the key.
            screen: The screen that was active then.
        """
        app = self._app
        while True:
            with contextlib.suppress(TimeoutError):
                for _ in range(2):
                    await self._queues_empty(widget)
                    while app.screen_stack and app.screen is not screen:
                        screen = widget = app.screen
                        await self._queues_empty(widget)
                    if not self._waiting:
                        break
            if self._free.is_set():
                break
            await self._free.wait()  # then what was waited for may have opened another screen
        if self._waiting:
            app.call_later(self._deliver_key, self._waiting.popleft())
        else:
            self._acting = None

    async def _queues_empty(self, widget: Widget) -> None:
        """Wait until a widget, its ancestors and the app have handled all messages posted before this call.

        Raises:
            TimeoutError: It took `STUCK_S` while other keys wait.
        """
        try:
            async with asyncio.timeout(STUCK_S if self._waiting else None) as self._limit:
                # The app comes twice: moving the focus to another widget is a callback of the app.
                for pump in (*widget.ancestors_with_self, self._app):
                    handled = asyncio.Event()
                    if pump.call_later(handled.set):
                        await handled.wait()
        finally:
            self._limit = None
