"""Memory for large arrays."""

from __future__ import annotations

import mmap

LARGE = 1 << 20
"""Arrays of at least this many bytes get their own memory pages. Smaller ones reuse freed memory, which is
faster."""


def pages(size: int) -> mmap.mmap:
    """Return `size` zero bytes on private memory pages: pages shared with other processes cost more.

    A page is allocated when it is first written. Huge pages (`MADV_HUGEPAGE`) are not requested: in
    fragmented memory, finding them takes longer than they save.
    """
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def room_for(size: int) -> mmap.mmap | bytearray:
    """Return `size` zero bytes: on their own pages if there are at least `LARGE`, else a bytearray."""
    return pages(size) if size >= LARGE else bytearray(size)
