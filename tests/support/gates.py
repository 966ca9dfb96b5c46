"""Phases of an opening that are held until a test lets them go on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import check
from tokentui.session.commands import Command, Open, OpenTokenizer, SetRecipe, TrainOnText
from tokentui.session.engine import driver as sessions
from tokentui.session.engine import state as states
from tokentui.session.engine.jobs import reporting
from tokentui.session.engine.state import State
from tokentui.session.training import training as opening
from tokentui.session.training.training import Training

READING, COUNTING, ENCODING, LAYING_OUT = "reading", "counting", "encoding", "laying out"
"""Phases before anything of a corpus stands: it is read; its beginning is counted, and laid out or encoded.
"""
PART, LAST, AGAIN = "part", "last", "again"
"""Phases after that: the rest is counted, or encoded; all of it is laid out; what stands is laid out again.
"""


class Gates:
    """Holds the phases whose gates are closed.

    Args:
        patch: What changes the program for the time of a test.
        part: How many characters are shown before the rest is counted.
    """

    def __init__(self, patch: pytest.MonkeyPatch, part: int = 2_000) -> None:
        self._closed: set[str] = set()
        self._open = threading.Condition()
        self.held = ""
        """The phase that is being held, empty if none is."""
        again, install = opening.prepare_again, State.install
        installed: set[int] = set()

        loads: dict[type[Command[None]], Callable[..., Training]] = {
            kind: kind.load for kind in (Open, OpenTokenizer, SetRecipe, TrainOnText)
        }

        def load(
            command: Command[None], cache: opening.TrainingCache, before: Training, partial: opening.Partial
        ) -> Training:
            parts: list[Training] = []

            def does(what: str) -> AbstractContextManager[None]:
                self._pass(_phase(bool(parts), what))
                return reporting(what)

            def taken(part: Training) -> None:
                partial(part)
                while id(part) not in installed and not _cancelled():
                    time.sleep(0.001)
                parts.append(part)

            patch.setattr(opening, "reporting", does)
            return loads[type(command)](command, cache, before, taken)

        def held(was: Training) -> Training:
            found = again(was)
            self._pass(AGAIN)
            return found

        def takes(state: State, part: Training, *place: Any, **view: Any) -> None:
            install(state, part, *place, **view)
            installed.add(id(part))

        patch.setenv("TOKENTUI_KERNELS", "off")
        for kind in loads:
            patch.setattr(kind, "load", load)
        patch.setattr(states, "prepare_again", held)
        patch.setattr(State, "install", takes)
        for name in ("FIRST_LOOK_CHARS", "FIRST_LOOK_OPENED"):
            patch.setattr(opening, name, part)
        patch.setattr(opening, "AT_ONCE_CHARS", 0)
        patch.setattr(states, "KERNEL_BYTES", 0)
        patch.setattr(sessions, "QUIET_S", 0.05)

    def close(self, *phases: str) -> None:
        """Hold these phases from now on, and let all others go."""
        with self._open:
            self._closed = set(phases)
            self._open.notify_all()

    async def until(self, phase: str) -> None:
        """Wait until a phase is held."""
        assert await asyncio.to_thread(self._wait, phase), f"{phase} has not come"

    def _wait(self, phase: str) -> bool:
        with self._open:
            return self._open.wait_for(lambda: self.held == phase, 60)

    def _pass(self, phase: str) -> None:
        with self._open:
            while phase in self._closed and not _cancelled():
                self.held = phase
                self._open.notify_all()
                self._open.wait(0.01)
            self.held = ""
            self._open.notify_all()
        check()


def _cancelled() -> bool:
    try:
        check()
    except Cancelled:
        return True
    return False


def _phase(shown: bool, what: str) -> str:
    """The phase of a report of progress; `shown` where a part of the corpus is."""
    if what.startswith(READING):
        return READING
    if shown:
        return LAST if what == LAYING_OUT else PART
    return what if what in (COUNTING, ENCODING, LAYING_OUT) else ""
