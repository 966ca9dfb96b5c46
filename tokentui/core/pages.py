"""Memory for large arrays."""

from __future__ import annotations

import mmap

LARGE = 1 << 20
"""Bytes from which an array has pages of its own. Below, freed memory serves again, which is faster."""


def pages(size: int) -> mmap.mmap:
    """So many bytes of noughts with pages of their own, which no other process shares: shared ones cost more.

    Memory is taken when it is first written to. Large pages (`MADV_HUGEPAGE`) are not asked for: where memory
    is in pieces the system looks for them longer than they save.
    """
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def room_for(size: int) -> mmap.mmap | bytearray:
    """So many bytes of noughts: `pages` where they are many."""
    return pages(size) if size >= LARGE else bytearray(size)
