"""Answers that somebody may wait for, and failures that nobody waits for."""

from __future__ import annotations

import asyncio
from typing import Any


def resolve(future: asyncio.Future[Any], answer: Any) -> None:
    """Give a future its answer, or its failure, unless it was given up."""
    if future.done():
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def look_at_error(future: asyncio.Future[Any]) -> None:
    """Mark a failure as seen: who does not wait for an answer is not told of it by the event loop either."""
    if not future.cancelled():
        future.exception()


def tell_failure(task: asyncio.Task[Any]) -> None:
    """Tell the event loop at once that a task which runs for good has failed; it would say so only when the task is forgotten."""
    if not task.cancelled() and (error := task.exception()) is not None:
        task.get_loop().call_exception_handler({"message": f"{task.get_name()} has failed", "exception": error, "task": task})
