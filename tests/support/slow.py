"""Delays as on a busy machine.

A test fails that does not wait for the threads of a session, or that waits for a state that passes.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from typing import Any

from tokentui.session.engine.driver import Session
from tokentui.session.engine.jobs import JobPool

SECONDS = float(os.environ.get("TOKENTUI_SLOW") or 0)
"""The longest delay in seconds of a turn of the engine, of a job and of a look at the screen."""


def delay_threads() -> None:
    """Delay each turn of the engine and each job by a random time up to `SECONDS`."""
    if not SECONDS:
        return
    turn, submit = Session._turn, JobPool.submit

    def slow_turn(session: Session, *args: Any) -> Any:
        time.sleep(random.uniform(0, SECONDS))
        return turn(session, *args)

    def slow_submit(pool: JobPool, key: Any, work: Any, *args: Any, **more: Any) -> None:
        def slow_work() -> object:
            time.sleep(random.uniform(0, SECONDS))
            return work()

        submit(pool, key, slow_work, *args, **more)

    Session._turn, JobPool.submit = slow_turn, slow_submit  # type: ignore[assignment, method-assign]


async def delay_look() -> None:
    """Delay a look of a test at the app by a random time up to `SECONDS`."""
    if SECONDS:
        await asyncio.sleep(random.uniform(0, SECONDS))
