"""Keys that arrive faster than they are acted on: each waits until the one before it has been.

Textual hands a key to whatever has the focus when it arrives. In one burst (a paste of keys, a slow line, a
fast typist) the keys after `i` would so reach the pane that had the focus before `i` was acted on, and `abc`
would open dialogs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.timer import Timer

from tokentui.ui.terminal.private import leaves

STUCK_S = 1.0
"""A key that has not been acted on for so long holds up the others no more: its widget may be gone."""

Input = events.Key | events.Paste


class Taken(Message):
    """Follows a key through the same queues. When it comes to the app, the key has been acted on.

    What the widget has said of the key, such as that a line was submitted, is on its way then: where other
    keys wait, a second one follows behind that.
    """

    def __init__(self, number: int, target: MessagePump, screen: Screen[Any], lap: int) -> None:
        super().__init__()
        self.number = number
        self.target = target
        self.screen = screen
        self.lap = lap


class TypeAhead:
    """The keys that wait.

    Args:
        app: The app that they are for.
        hand_over: Textual's own way with an event.
    """

    def __init__(self, app: App[Any], hand_over: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app = app
        self._hand_over = hand_over
        self._waiting: deque[Input] = deque()
        self._number = 0
        self._timer: Timer | None = None

    async def take(self, event: Input) -> None:
        """Hand an event over, or let it wait for the one under way."""
        if self._timer is not None and not self._passes(event):
            self._waiting.append(event)
        else:
            await self._give(event)

    async def taken(self, message: Taken) -> None:
        """Go on with the next key. Where the one before has opened a screen, as soon as that is ready for
        keys.
        """
        # Textual sets the focus by a callback in the app's own queue: this one comes behind it.
        self._app.call_later(self._go_on, message)

    async def _go_on(self, message: Taken) -> None:
        if message.number != self._number or self._timer is None:
            return
        if self._app.screen is not message.screen:
            self._follow(self._app.screen, self._app.screen)
        elif self._waiting and message.lap == 1:
            self._follow(message.target, message.screen, 2)
        else:
            await self._next()

    def _passes(self, event: Input) -> bool:
        """True if a key is handled at once: one that leaves."""
        return isinstance(event, events.Key) and leaves(self._app, event.key)

    async def _give(self, event: Input) -> None:
        before = self._app.screen
        target = self._app.focused or before
        await self._hand_over(event)
        self._follow(target, before)

    def _follow(self, target: MessagePump, screen: Screen[Any], lap: int = 1) -> None:
        """Send a message behind what was handed to a widget, or to a screen that is being opened."""
        self._stop()
        self._number += 1
        sent = target.post_message(Taken(self._number, target, screen, lap))
        self._timer = self._app.set_timer(STUCK_S if sent else 0.0, self._next)

    async def _next(self) -> None:
        self._stop()
        if self._waiting:
            await self._give(self._waiting.popleft())

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
