"""Compare's end of its session: commands go out, snapshots come in, none faster than the terminal takes them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from textual.message import Message

from tokentui.session.compared import ColumnWanted, CompareCommand, CompareSnapshot

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp

Publish: TypeAlias = Callable[[CompareSnapshot], None]


class CompareSessionLike(Protocol):
    """What Compare needs of a session; `tokentui.session.comparing.CompareSession` is one."""

    async def start(self) -> None:
        """Begin to take commands."""

    async def close(self) -> None:
        """Stop, wherever it is."""

    def send(self, command: CompareCommand) -> asyncio.Future[Any]:
        """Hand in a command; its answer comes later, or a `TokentuiError`."""


class Comparable(Protocol):
    """A session of the main screen that can put columns beside each other."""

    async def comparing(self, publish: Publish, wanted: Sequence[ColumnWanted]) -> CompareSessionLike:
        """Columns on the corpus that is open; the comparison is yet to be started."""


Maker: TypeAlias = Callable[[Publish], Awaitable[CompareSessionLike]]
"""Makes the session; it is given what to call with each snapshot, on the event loop."""


class Compared(Message, bubble=False):
    """The session has a new snapshot. One that still waits gives way to a newer one."""

    def __init__(self, snapshot: CompareSnapshot) -> None:
        super().__init__()
        self.snapshot = snapshot

    def can_replace(self, message: Message) -> bool:
        """Only the newest matters."""
        return isinstance(message, Compared)


class Link:
    """A session and who sends to it.

    Args:
        app: Gives the app.
        maker: Makes the session.
        publish: Called with each snapshot.
        waits: Called when something waits for the session.
    """

    def __init__(
        self, app: Callable[[], ExplorerApp], maker: Maker, publish: Publish, waits: Callable[[], object] = lambda: None
    ) -> None:
        self._app = app
        self._maker = maker
        self._publish = publish
        self._waits = waits
        self.session: CompareSessionLike | None = None
        self._waiting: list[tuple[CompareCommand, Callable[[Any], object] | None]] = []

    @property
    def waiting(self) -> list[CompareCommand]:
        """The commands that wait for the session."""
        return [command for command, _ in self._waiting]

    async def start(self) -> None:
        """Make the session, and send what was waiting for it.

        Raises:
            TokentuiError: There is nothing to compare.
        """
        self.session = await self._maker(self._publish)
        await self.session.start()
        for command, then in self._waiting:
            self.send(command, then)
        self._waiting.clear()

    async def close(self) -> None:
        """Close the session."""
        session, self.session = self.session, None
        if session is not None:
            await session.close()

    def send(self, command: CompareCommand, then: Callable[[Any], object] | None = None) -> None:
        """Hand in a command; what goes wrong is shown in a line.

        Args:
            command: The command.
            then: Called with the answer.
        """
        if self.session is None:
            self._waiting.append((command, then))
            self._waits()
        else:
            app = self._app()
            app.await_answer(self.session.send(command), then, app.tell)
