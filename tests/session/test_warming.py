"""Kernels are made ready beside a session: compiled in another process, loaded afterwards, and given up when
it closes."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from tokentui.core import children, jit
from tokentui.session import jobs as warming
from tokentui.session.driver import Session
from tokentui.session.snapshot import Snapshot


class Fast:
    """The package of kernels, as a test wants it."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, available: bool = True, compiled: bool = False
    ) -> None:
        self.is_compiled, self.is_loaded, self.is_damaged = compiled, False, False
        self.runs = [sys.executable, "-c", "pass"]
        self.started: list[asyncio.subprocess.Process] = []
        begin = asyncio.create_subprocess_exec

        async def start(*command: str, **streams: Any) -> asyncio.subprocess.Process:
            assert list(command) == children.command("tokentui.core.jit")
            process = await begin(*self.runs, **streams)
            self.started.append(process)
            self.is_compiled = True
            return process

        def load(*, compiling: bool) -> bool:
            assert not compiling
            self.is_loaded, self.is_compiled = not self.is_damaged, not self.is_damaged
            self.is_damaged = False
            return self.is_loaded

        monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
        monkeypatch.setattr(jit, "available", lambda: available)
        monkeypatch.setattr(jit, "compiled", lambda: self.is_compiled)
        monkeypatch.setattr(jit, "loaded", lambda *_: self.is_loaded)
        monkeypatch.setattr(jit, "load", load)
        monkeypatch.setattr(jit, "engine", lambda: "fast" if self.is_loaded else "plain")


async def test_they_are_compiled_once_and_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Fast(monkeypatch)
    told: list[str] = []
    assert await warming.warm(told.append)
    assert told == [warming.COMPILING, "fast"]
    assert there.started[0].returncode == 0
    assert not await warming.warm(told.append)
    assert told[2:] == ["fast"]
    assert len(there.started) == 1


async def test_what_was_compiled_before_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Fast(monkeypatch, compiled=True)
    told: list[str] = []
    assert await warming.warm(told.append)
    assert (told, there.started) == (["fast"], [])


async def test_what_is_damaged_is_compiled_again_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Fast(monkeypatch, compiled=True)
    there.is_damaged = True
    told: list[str] = []
    assert await warming.warm(told.append)
    assert (told, len(there.started)) == ([warming.COMPILING, "fast"], 1)


async def test_without_them_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Fast(monkeypatch, available=False)
    told: list[str] = []
    assert not await warming.warm(told.append)
    assert (told, there.started, there.is_loaded) == (["plain"], [], False)


async def test_a_session_says_so_and_stops_the_compiler_when_it_closes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tokentui.session.state.KERNEL_BYTES", 0)
    there = Fast(monkeypatch)
    there.runs = [sys.executable, "-c", "import sys; sys.stdin.read(); import time; time.sleep(600)"]
    seen: list[Snapshot] = []
    compiling = asyncio.Event()

    def publish(snapshot: Snapshot) -> None:
        seen.append(snapshot)
        if snapshot.engine == warming.COMPILING:
            compiling.set()

    session = Session(publish, kernels=True)
    await session.start()
    await asyncio.wait_for(compiling.wait(), 60)
    assert seen[0].engine == "", "the first paint waits for nothing"
    await session.close()
    assert there.started[0].returncode not in (None, 0)
    assert not there.is_loaded
