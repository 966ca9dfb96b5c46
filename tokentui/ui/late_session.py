"""A session that loads after the first paint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from tokentui.core.jobs import mark_retrieved, report_failure

if TYPE_CHECKING:
    from tokentui.session.commands import Command
    from tokentui.session.engine.driver import Session

Answer = TypeVar("Answer")


class LateSession:
    """A session whose engine loads in the background. It takes commands from the start, in order.

    Args:
        make: Makes the session; called in a thread, since what it imports takes a while.
        when_painted: Given what to call once the screen has been drawn.
    """

    def __init__(
        self, make: Callable[[], Session], when_painted: Callable[[Callable[[], object]], object]
    ) -> None:
        self._make, self._when_painted = make, when_painted
        self._session: Session | None = None
        self._kept: set[asyncio.Task[object]] = set()
        """The commands that are kept: they go before what is sent later."""

    @property
    def at_rest(self) -> bool:
        """True if the session has started and has nothing to do."""
        return self._session is not None and not self._kept and self._session.at_rest

    async def start(self) -> None:
        """Schedule the start of the session for after the first paint."""
        painted = asyncio.Event()
        self._when_painted(painted.set)
        self._begun = asyncio.create_task(self._begin(painted), name="tokentui engine")
        self._begun.add_done_callback(report_failure)

    async def _begin(self, painted: asyncio.Event) -> Session:
        """Wait for the first paint, then make the session in a thread, start it, and return it."""
        await painted.wait()
        session = await asyncio.to_thread(self._make)
        await session.start()
        self._session = session
        return session

    async def close(self) -> None:
        """Stop the start, cancel waiting commands, and close the session."""
        self._begun.cancel()
        await asyncio.gather(self._begun, *self._kept, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def send(self, command: Command[Answer]) -> asyncio.Future[Answer]:
        """Send a command, before the session has started too; see `Session.send`."""
        if self._session is not None and not self._kept:
            return self._session.send(command)
        answer = asyncio.create_task(self._send_later(command))
        self._kept.add(cast("asyncio.Task[object]", answer))
        answer.add_done_callback(mark_retrieved)
        return answer

    async def _send_later(self, command: Command[Answer]) -> Answer:
        """Send a command after the session has started, and return its answer. A cancellation does not stop
        the start, which other commands wait for."""
        try:
            session = await asyncio.shield(self._begun)
            sent = session.send(command)
        finally:
            self._kept.discard(cast("asyncio.Task[object]", asyncio.current_task()))
        return await sent
