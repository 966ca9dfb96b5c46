"""Phases of an opening that are held until a test lets them go on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import check
from tokentui.session import beside, opening
from tokentui.session import driver as sessions
from tokentui.session.jobs import Loading
from tokentui.session.opening import Prepared

READING, COUNTING, ENCODING, LAYING_OUT = "reading", "counting", "encoding", "laying out"
"""Phases before anything of a corpus stands: it is read; its beginning is counted, and laid out or encoded."""
PART, LAST, AGAIN = "part", "last", "again"
"""Phases after that: the rest is counted, or encoded; all of it is laid out; what stands is laid out again."""


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
        tell = Loading.tell

        def told(loading: Loading, what: str, done: int, total: int) -> None:
            tell(loading, what, done, total)
            self._pass(_phase(loading, what, done, total), lambda: loading.cancelled)

        def hooks(progress: Any, partial: Callable[[Prepared], None]) -> opening.Hooks:
            def taken(prepared: Prepared) -> None:
                partial(prepared)
                loading: Loading = progress.__self__
                while loading.part is None and not loading.cancelled:
                    time.sleep(0.001)

            return opening.Hooks(progress, taken)

        patch.setenv("TOKENTUI_ENGINE", "plain")
        patch.setattr(Loading, "tell", told)
        again = opening.prepare_again

        def held(was: Prepared, hooks: opening.Hooks) -> Prepared:
            prepared = again(was, hooks)
            self._pass(AGAIN, _cancelled)
            return prepared

        patch.setattr(sessions, "Hooks", hooks)
        patch.setattr(beside, "prepare_again", held)
        for name in ("FIRST_LOOK_CHARS", "FIRST_LOOK_OPENED", "FIRST_LOOK_STAGED"):
            patch.setattr(opening, name, part)
        patch.setattr(opening, "AT_ONCE_CHARS", 0)
        patch.setattr(sessions, "REBUILD_BYTES", 0)

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

    def _pass(self, phase: str, given_up: Callable[[], bool]) -> None:
        with self._open:
            while phase in self._closed and not given_up():
                self.held = phase
                self._open.notify_all()
                self._open.wait(0.01)
            self.held = ""
            self._open.notify_all()
        if given_up():
            raise Cancelled


def _cancelled() -> bool:
    try:
        check()
    except Cancelled:
        return True
    return False


def _phase(loading: Loading, what: str, done: int, total: int) -> str:
    if what.startswith(READING):
        return READING
    if loading.part is not None:
        return LAST if what == LAYING_OUT else PART
    return what if what in (COUNTING, ENCODING, LAYING_OUT) else ""
