"""Which engine this process uses: compiled kernels or plain Python. All rooms ask here.

Every caller of kernels first checks `available` and otherwise uses plain Python: on a system without a
library, if the library is missing or damaged, and with `TOKENTUI_KERNELS=off`. A kernel that fails is not
called again: `rescued` skips the rest of a block, and the code after it does the same work in plain Python.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from tokentui.core import library
from tokentui.core.errors import Cancelled, TokentuiError, is_short_of_memory
from tokentui.core.jobs import check_match, tick
from tokentui.core.library import COMPILED as COMPILED
from tokentui.core.library import PLAIN as PLAIN
from tokentui.core.library import VARIABLE as VARIABLE

TEST_VARIABLE = "_TOKENTUI_TEST_KERNELS"
"""Internal, for tests and the build: `numba` compiles the sources of kernels in the process, by
`building.py`. Read once, at import."""
NUMBA = os.environ.get(TEST_VARIABLE) == "numba"
"""Whether this process compiles the sources of kernels itself."""

FAILED = f"{PLAIN}, kernels failed"
"""The engine after a failure of a kernel."""

failed = False
"""True after a kernel failed in this process. Then no kernel is called any more."""
tell: Callable[[Warning], object] = warnings.warn
"""Called with the warning about that failure. The command line and a session replace it."""

KERNEL_CODE = re.compile(r"tokentui\.(?:\w+\.kernels\.|core\.(?:arrays|native)$|building$|learn\.compiled$)")
"""The names of the modules that call kernels."""


def available() -> bool:
    """Return whether kernels can be called. False with `TOKENTUI_KERNELS=off` and after a failure."""
    return not failed and os.environ.get(VARIABLE) != "off" and not trouble()


def trouble() -> str:
    """Return why this process has no kernels, in a few words; empty if it has them."""
    return "" if NUMBA else library.trouble()


def engine() -> str:
    """Return the name of the engine: `compiled`, or `plain Python` and why."""
    if failed:
        return FAILED
    return COMPILED if NUMBA and os.environ.get(VARIABLE) != "off" else library.engine()


def fail(error: Exception) -> bool:
    """Handle an exception from code that uses kernels.

    Return True if the kernels are at fault: the exception comes from `KERNEL_CODE`, or is a `SystemError`,
    which plain Python does not raise. Then this process uses no kernels any more, warns once, and the caller
    repeats the work in plain Python. `tell` may raise the warning; the failure is recorded before.

    Return False for all other errors: a `TokentuiError`, a cancellation, a lack of memory or threads, an
    exception from a callback or signal handler, and a fault in the plain Python that kernels call or that
    surrounds them, because an input that meets it would meet it without kernels too.
    """
    global failed
    # plain Python needs even more memory
    if isinstance(error, (TokentuiError, Cancelled)) or is_short_of_memory(error):
        return False
    import traceback  # only for a fault

    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    calls = {tick.__code__, check_match.__code__, *_handlers()}
    if any(frame.f_code in calls for frame in frames):
        return False  # it comes from whoever watches the job, or was sent as a signal
    names = [frame.f_globals.get("__name__", "") for frame in frames]
    ours = [name for name in names if name.startswith("tokentui.")]
    if not isinstance(error, SystemError) and not (ours and KERNEL_CODE.match(ours[-1])):
        return False
    before, failed = failed, True
    if not before:
        failure = RuntimeWarning(f"kernels failed, plain Python goes on: {type(error).__name__}: {error}")
        failure.__cause__ = error
        tell(failure)
    return True


def _handlers() -> Iterator[Any]:
    """Yield the code object of each Python signal handler: its exceptions are not faults of kernels."""
    import signal

    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        if callable(handler):
            code = getattr(handler, "__code__", None)
            yield code or getattr(type(handler).__call__, "__code__", None)


class rescued(contextlib.AbstractContextManager[None, bool]):
    """Skip the rest of the block if a kernel fails in it. The code after the block does the same work in
    plain Python.

    Args:
        compiled: False if the block uses no kernels. Then all its exceptions propagate.
    """

    # A generator would take as long as to encode a line.
    __slots__ = ("_compiled",)

    def __init__(self, compiled: bool = True) -> None:
        self._compiled = compiled

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> bool:
        """Return whether kernels are at fault."""
        return isinstance(error, Exception) and self._compiled and fail(error)
