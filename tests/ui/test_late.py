"""The engine comes after the first paint: what is sent meanwhile waits for it, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.late_session import LateSession


class Recording:
    """A session that answers each command with its number, or fails."""

    def __init__(self) -> None:
        self.given: list[Any] = []
        self.state = "made"

    async def start(self) -> None:
        self.state = "started"

    async def close(self) -> None:
        self.state = "closed"

    def send(self, command: Any) -> asyncio.Future[Any]:
        self.given.append(command)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if command == do.Play():
            answer.set_exception(ValueError("no"))
        else:
            answer.set_result(len(self.given))
        return answer


def late(make: Callable[[], Any]) -> tuple[LateSession, list[Callable[[], object]]]:
    painted: list[Callable[[], object]] = []
    return LateSession(cast("Callable[[], Session]", make), painted.append), painted


async def test_what_is_sent_before_it_is_there_is_answered_in_order() -> None:
    made = Recording()
    session, painted = late(lambda: made)
    await session.start()
    answers = [
        session.send(do.Move(1)), session.send(do.Open(("a.txt",))), session.send(do.Play()),
        session.send(do.Move(2)),
    ]
    await asyncio.sleep(0)
    assert made.state == "made"
    assert not any(answer.done() for answer in answers)
    painted[0]()
    last: Any = answers[3]
    assert await last == 4
    first: list[Any] = answers[:2]
    assert [await first[0], await first[1]] == [1, 2]
    with pytest.raises(ValueError, match="no"):
        await answers[2]
    assert made.given == [do.Move(1), do.Open(("a.txt",)), do.Play(), do.Move(2)]
    last = session.send(do.Move(3))
    assert await last == 5
    await session.close()
    assert made.state == "closed"


async def test_a_start_that_fails_is_reported_once(collect: Callable[[], object]) -> None:
    """The commands that wait for it fail too, and are not reported."""
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    session, painted = late(Recording)
    await session.start()
    session.send(do.Play())
    painted[0]()
    answer: Any = session.send(do.Move(1))
    assert await answer == 2
    broken, painted = late(lambda: 1 / 0)
    await broken.start()
    broken.send(do.Move(1))
    painted[0]()
    with pytest.raises(ZeroDivisionError):
        await broken.send(do.Move(2))
    collect()
    assert [str(one["exception"]) for one in told] == ["division by zero"]
    await session.close()
    await broken.close()


async def test_it_may_end_before_it_began() -> None:
    session, _ = late(Recording)
    await session.start()
    answer = session.send(do.Move(1))
    await session.close()
    assert answer.cancelled()


async def test_an_engine_that_cannot_be_made_is_told() -> None:
    def make() -> Any:
        raise OSError("no engine")

    session, painted = late(make)
    await session.start()
    answer = session.send(do.Move(1))
    painted[0]()
    with pytest.raises(OSError, match="no engine"):
        await answer
    with pytest.raises(OSError, match="no engine"):
        await session.send(do.Move(1))
    await session.close()
