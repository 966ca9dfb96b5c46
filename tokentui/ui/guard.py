"""What every app, screen and widget of the program does better than Textual: errors and timers.

An error that a user can fix becomes a notification, wherever the app raises it.

Textual ends the app when an action, a message handler, a watcher, a timer, a callback or a worker raises.
Here a `TokentuiError` is shown instead, and the app goes on; `Cancelled` means that work was stopped on
request. Any other exception is a fault of the program and still ends it.

Every app, screen and widget of the program derives from `Guarded`; a test checks this for each class. It
stands before the class of Textual in the list of bases, so that its `_dispatch_message` overrides that of
Textual.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.actions import ActionParseResult
from textual.app import App
from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.timer import Timer, TimerCallback
from textual.worker import WorkerFailed

from tokentui.core.errors import Cancelled, TokentuiError, in_words
from tokentui.core.safetext import safe

Result = TypeVar("Result")

_LONGEST = 400
"""The maximum number of characters of a notification."""

EXPECTED = (TokentuiError, Cancelled)
"""The exceptions that do not end the app."""


class Guarded(MessagePump):
    """An app, a screen or a widget whose handlers, watchers and callbacks may raise `TokentuiError`.

    Textual ends the message loop of a widget whose handler raises, so the error is caught inside the loop.
    The other handlers of that message are not called, and the message does not bubble.
    """

    if TYPE_CHECKING:

        # The app by its own type, for all widgets.
        app: GuardedApp

    def set_timer(
        self, delay: float, callback: TimerCallback | None = None, *, name: str | None = None,
        pause: bool = False,
    ) -> Timer:
        """Call a function once after a delay in seconds.

        A timer of Textual skips calls that it is late for. One that calls once would then never call: on a
        busy machine a new size of the terminal was lost, and all sizes after it.
        """
        timer = super().set_timer(delay, callback, name=name, pause=pause)
        timer._skip = False  # read when its task first runs, which is later
        return timer

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except EXPECTED as error:
            report(self.app, error)


class GuardedApp(Guarded, App[None]):
    """An app that shows every `TokentuiError` and goes on."""

    chips = False
    """True if tokens are chips in all panes and dialogs, by the choice of the user."""
    user_keys: Mapping[str, str] = {}
    """The keys that the user gave to bindings, by id."""

    def say(self, text: str, severity: SeverityLevel = "information") -> None:
        """Show a message for some seconds."""
        self.notify(text, severity=severity)

    def push_for_result(self, screen: Screen[Result], act: Callable[[Result], object]) -> None:
        """Push a screen, and call `act` with its result unless that is None."""
        def answered(result: Result | None) -> None:
            if result is not None:
                act(result)

        self.push_screen(screen, answered)

    def backlog(self) -> int:
        """Return the number of bytes that the terminal has not taken yet; 0 if it is not known."""
        return 0

    def tell(self, error: BaseException) -> None:
        """Show an error as a message; "stopped" for `Cancelled`."""
        severity = "information" if isinstance(error, Cancelled) else "error"
        text = "stopped" if isinstance(error, Cancelled) else in_words(error)
        self.notify(text, severity=severity)  # type: ignore[arg-type]

    def notify(
        self, message: str, *, title: str = "", severity: SeverityLevel = "information",
        timeout: float | None = None, markup: bool = False,
    ) -> None:
        """Show a notification. Text is made safe, and markup is never parsed, whatever `markup` says."""
        super().notify(
            safe(message, limit=_LONGEST), title=safe(title, limit=_LONGEST), severity=severity,
            timeout=timeout, markup=False)

    async def run_action(
        self, action: str | ActionParseResult, default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action. If it raises a `TokentuiError` or `Cancelled`, show that, or run it again later as
        `postpone` says; the key then counts as handled."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except EXPECTED as error:
            again = partial(self.run_action, action, default_namespace, namespaces)
            if not self.postpone(error, again):
                report(self, error)
            return True

    def keys_kept(self, waits: str) -> AbstractContextManager[None]:
        """Return a context for a worker in which keys are held and delivered afterwards; esc cancels the
        worker. Holds nothing by default.

        Args:
            waits: What the keys wait for, in words; shown if it takes more than a moment.
        """
        return nullcontext()

    def postpone(self, error: BaseException, again: Callable[[], Awaitable[object]]) -> bool:
        """Run a failed action again later. Return False to show its error instead, as by default.

        Args:
            error: What the action raised.
            again: Runs the action.
        """
        return False

    def _handle_exception(self, error: Exception) -> None:
        """Show an error of a timer, a worker or a callback; end the app with any other exception."""
        cause = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(cause, EXPECTED):
            report(self, cause)
        else:
            super()._handle_exception(error)


def start_worker(
    node: DOMNode, group: str, function: Callable[..., Coroutine[Any, Any, object]], *args: object,
    exclusive: bool = True,
) -> None:
    """Run an async function in a worker of a node; if `exclusive`, cancel its other workers of the same
    group.

    Textual takes a coroutine as well, but Python warns of a coroutine that is cancelled before it starts.
    """
    node.run_worker(partial(function, *args), group=group, exclusive=exclusive)  # type: ignore[arg-type]


def report(app: App[Any], error: BaseException) -> None:
    """Show an error in the app, if the app still shows something.

    Args:
        app: The app. One that is not a `GuardedApp` ends with the error, as Textual does it.
        error: A `TokentuiError` or `Cancelled`.
    """
    if not isinstance(app, GuardedApp):
        raise error
    if app.is_running and app.screen_stack:
        app.tell(error)
