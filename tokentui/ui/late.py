"""A session that is made after the first paint: until then it keeps what it is sent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from tokentui.session.commands import Command
    from tokentui.session.driver import Session

Answer = TypeVar("Answer")


class LateSession:
    """A session whose engine loads in the background. It takes commands from the start, in order.

    Args:
        make: Makes the session; called in a thread, since what it imports takes a while.
        when_painted: Given what to call once the screen has been drawn.
    """

    def __init__(self, make: Callable[[], Session],
            when_painted: Callable[[Callable[[], object]], object]) -> None:
        self._make = make
        self._when_painted = when_painted
        self._session: Session | None = None
        self._sent: list[tuple[Command[object], asyncio.Future[object]]] = []
        self._task: asyncio.Task[None] | None = None
        self._failed: Exception | None = None

    async def start(self) -> None:
        """Begin, as soon as the screen is there."""
        painted = asyncio.Event()
        self._when_painted(painted.set)
        self._task = asyncio.create_task(self._begin(painted), name="tokentui engine")

    async def _begin(self, painted: asyncio.Event) -> None:
        await painted.wait()
        try:
            session = await asyncio.to_thread(self._make)
            await session.start()
        except Exception as error:
            self._failed = error
            for _, answer in self._sent:
                if not answer.done():
                    answer.set_exception(error)
            self._sent.clear()
            return
        self._session = session
        for command, answer in self._sent:
            _pass_on(session.send(command), answer)
        self._sent.clear()

    async def close(self) -> None:
        """Stop, wherever it is."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for _, answer in self._sent:
            answer.cancel()
        if self._session is not None:
            await self._session.close()

    def send(self, command: Command[Answer]) -> asyncio.Future[Answer]:
        """Hand in a command; see `Session.send`."""
        if self._session is not None:
            return self._session.send(command)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_seen)
        if self._failed is not None:
            answer.set_exception(self._failed)
        else:
            self._sent.append((cast("Command[object]", command), cast("asyncio.Future[object]", answer)))
        return answer


def _seen(future: asyncio.Future[Answer]) -> None:
    """Mark a failure as seen: an answer that nothing waits for is not reported by the event loop either."""
    if not future.cancelled():
        future.exception()


def _pass_on(found: asyncio.Future[object], answer: asyncio.Future[object]) -> None:
    """Give one future what another comes to."""

    def done(found: asyncio.Future[object]) -> None:
        if answer.done():
            return
        if found.cancelled():
            answer.cancel()
        elif error := found.exception():
            answer.set_exception(error)
        else:
            answer.set_result(found.result())

    found.add_done_callback(done)
