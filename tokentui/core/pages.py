"""Memory for large arrays."""

from __future__ import annotations

import contextlib
import mmap

LARGE = 1 << 20
"""Bytes from which an array has pages of its own. Below, freed memory serves again, which is faster."""


def pages(size: int) -> mmap.mmap:
    """So many bytes of noughts with pages of their own, large ones where the system has them: to take memory
    page by page costs more than most of what is done with it.

    Memory is taken when it is first written to.
    """
    made = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            made.madvise(mmap.MADV_HUGEPAGE)
    return made


def room_for(size: int) -> mmap.mmap | bytearray:
    """So many bytes of noughts: `pages` where they are many."""
    return pages(size) if size >= LARGE else bytearray(size)
