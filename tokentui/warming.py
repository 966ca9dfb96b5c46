"""The kernels, made ready beside a running session: compiled once in a process of their own, loaded after the first paint."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from tokentui import children, fast

COMPILING = "compiling once"
"""What is told while the kernels are compiled; it takes some seconds, once for each version."""


async def warm(tell: Callable[[str], None]) -> bool:
    """Compile the kernels where that was not done before, and load them. The plain engine serves meanwhile.

    Args:
        tell: Given what runs, in a few words, each time that changes.

    Returns:
        Whether they were loaded by this call.
    """
    if fast.loaded() or not fast.available():
        if fast.available():
            await asyncio.to_thread(_load)  # a large corpus asked for those that count words, and for no others
        tell(fast.engine())
        return False
    done = fast.compiled() and await asyncio.to_thread(_load)
    if not done:
        tell(COMPILING)
        with suppress(OSError):  # no process can be started: the plain engine goes on
            await _compile()
        done = fast.compiled() and await asyncio.to_thread(_load)
    tell(fast.engine())
    return done


async def _compile() -> None:
    """Compile the kernels in a process of their own."""
    process = await asyncio.create_subprocess_exec(
        *children.command("tokentui.fast"), env=children.surroundings(), cwd=children.FOLDER,
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
    return fast.load(compiling=False)
