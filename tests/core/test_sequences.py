"""The common beginning of two sequences."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tokentui.core.sequences import common_length


@pytest.mark.parametrize(("left", "right", "length"), [
    ("", "", 0), ("abc", "abc", 3), ("abc", "ab", 2), ("", "a", 0), ("abc", "xbc", 0),
    ([1, 2, 3], (1, 2, 4), 2),
])
def test_the_common_beginning_ends_at_the_first_difference(
    left: Sequence[object], right: Sequence[object], length: int
) -> None:
    assert common_length(left, right) == common_length(right, left) == length
