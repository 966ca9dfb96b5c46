"""Memory for large arrays."""

from __future__ import annotations

import mmap

LARGE = 1 << 20
"""Bytes from which an array has pages of its own. Below, freed memory serves again, which is faster."""


def pages(size: int) -> mmap.mmap:
    """Return `size` zero bytes on private memory pages: pages shared with other processes cost more.

    Memory is taken when it is first written to. Large pages (`MADV_HUGEPAGE`) are not asked for: where memory
    is in pieces the system looks for them longer than they save.
    """
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def room_for(size: int) -> mmap.mmap | bytearray:
    """Return `size` zero bytes, by `pages` if they are many."""
    return pages(size) if size >= LARGE else bytearray(size)
