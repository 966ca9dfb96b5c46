"""A cache for a function of a text. A lookup is as fast as that of a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

KEPT = 65_536
"""The largest number of cached texts. At this number the cache is emptied, since input may be endless."""
LONGEST = 256
"""The most characters of a cached text: longer ones rarely repeat."""

V = TypeVar("V")


class Memo(dict[str, V]):
    """Cache of a function of text. `memo[text]` computes missing values. Values must not be changed.

    Threads may share it: at worst two compute the same value.

    An object that holds the memo of its own method is freed only by the garbage collector. So it takes the
    method of a copy of itself, which is made before it holds the memo.

    >>> lengths = Memo(len)
    >>> list(map(lengths.__getitem__, ["a", "bc", "a"])), list(lengths)
    ([1, 2, 1], ['a', 'bc'])

    Args:
        of: The function.
    """

    def __init__(self, of: Callable[[str], V]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, text: str) -> V:
        value = self._of(text)
        if len(text) <= LONGEST:
            if len(self) >= KEPT:
                self.clear()
            self[text] = value
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the cached values."""
        return type(self), (self._of,)
