"""Compile the kernels once in a separate process, and load them after the first paint of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from tokentui.core import children, jit

COMPILING = "compiling once"
"""The engine label while the kernels compile, which takes some seconds, once for each version."""


async def warm(tell: Callable[[str], None]) -> bool:
    """Compile the kernels where that was not done before, and load them. The plain engine serves meanwhile.

    Args:
        tell: Given what runs, in a few words, each time that changes.

    Returns:
        Whether they were loaded by this call.
    """
    if jit.loaded() or not jit.available():
        if jit.available():
            await asyncio.to_thread(_load)  # a large corpus asked for those that count words, and for no others
        tell(jit.engine())
        return False
    done = jit.compiled() and await asyncio.to_thread(_load)
    if not done:
        tell(COMPILING)
        with suppress(OSError):  # no process can be started: the plain engine goes on
            await _compile()
        done = jit.compiled() and await asyncio.to_thread(_load)
    tell(jit.engine())
    return done


async def _compile() -> None:
    """Compile the kernels in a process of their own."""
    process = await asyncio.create_subprocess_exec(
        *children.command("tokentui.core.jit"), env=children.surroundings(), cwd=children.FOLDER,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):  # it has just ended
            process.kill()
        await process.wait()
        raise


def _load() -> bool:
    """Load what was compiled. What is damaged is compiled anew, but not in this process: it would hold up the screen."""
    return jit.load(compiling=False)
