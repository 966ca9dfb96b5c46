"""What two sequences have in common."""

from __future__ import annotations

from collections.abc import Sequence


def common_length(left: Sequence[object], right: Sequence[object]) -> int:
    """Return the number of elements with which both begin: the index of the first difference, or the length
    of the shorter one if the other begins with it."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(left), len(right)))
