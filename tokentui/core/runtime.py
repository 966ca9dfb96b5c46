"""Settings of the interpreter: the garbage collector and the switching between threads."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_S = 0.0005
"""Seconds that a thread may keep the interpreter while a screen runs: keys wait no longer (the default is ten
times that)."""


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Keep the garbage collector from walking millions of objects in the middle of the work inside."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextmanager
def responsive() -> Iterator[None]:
    """Keep a screen responsive while other threads work.

    Threads switch at short intervals, and garbage is collected on request only. A collection among millions
    of numbers delays every key by some tens of milliseconds.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        with quiet_collector():
            yield
    finally:
        sys.setswitchinterval(before)
