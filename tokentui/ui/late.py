"""A session that is made after the first paint: until then it keeps what it is sent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tokentui.core.errors import Cancelled
from tokentui.session.futures import look_at_error, resolve

if TYPE_CHECKING:
    from tokentui.session.commands import Command
    from tokentui.session.compared import ColumnWanted, CompareSnapshot
    from tokentui.session.comparing import CompareSession
    from tokentui.session.driver import Session


class LateSession:
    """A session whose engine is loaded beside the screen. It takes commands from the beginning, in order.

    Args:
        make: Makes the session; called in a thread, since what it imports takes a while.
        when_painted: Given what to call once the screen has been drawn.
    """

    def __init__(self, make: Callable[[], Session], when_painted: Callable[[Callable[[], object]], object]) -> None:
        self._make = make
        self._when_painted = when_painted
        self._session: Session | None = None
        self._sent: list[tuple[Callable[[Session], asyncio.Future[Any]], asyncio.Future[Any]]] = []
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
                resolve(answer, error)
            self._sent.clear()
            return
        self._session = session
        for give, answer in self._sent:
            _pass_on(give(session), answer)
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

    def send(self, command: Command) -> asyncio.Future[Any]:
        """Hand in a command; see `Session.send`."""
        return self._give(lambda session: session.send(command))

    def open(self, sources: Sequence[str], as_: str | None = None, field: str = "text") -> asyncio.Future[Any]:
        """Open several sources as one corpus; see `Session.open`."""
        return self._give(lambda session: session.open(sources, as_, field))

    async def comparing(
        self, publish: Callable[[CompareSnapshot], None], wanted: Sequence[ColumnWanted]
    ) -> CompareSession:
        """Columns beside each other; see `Session.comparing`."""
        if self._task is not None:
            await asyncio.wait([self._task])
        if self._session is None:
            raise Cancelled
        return await self._session.comparing(publish, wanted)

    def open_tokenizer(
        self, path: str, split: str, sources: Sequence[str], as_: str | None = None, field: str = "text"
    ) -> asyncio.Future[Any]:
        """Open a tokenizer file on such a corpus; see `Session.open_tokenizer`."""
        return self._give(lambda session: session.open_tokenizer(path, split, sources, as_, field))

    def _give(self, give: Callable[[Session], asyncio.Future[Any]]) -> asyncio.Future[Any]:
        if self._session is not None:
            return give(self._session)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(look_at_error)
        if self._failed is not None:
            answer.set_exception(self._failed)
        else:
            self._sent.append((give, answer))
        return answer


def _pass_on(found: asyncio.Future[Any], answer: asyncio.Future[Any]) -> None:
    """Give one future what another comes to."""

    def done(found: asyncio.Future[Any]) -> None:
        if answer.done():
            return
        if found.cancelled():
            answer.cancel()
        elif error := found.exception():
            answer.set_exception(error)
        else:
            answer.set_result(found.result())

    found.add_done_callback(done)
