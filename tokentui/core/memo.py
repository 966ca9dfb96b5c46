"""Remembered values of a function of a text, in a table that is read as fast as a dictionary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

KEPT = 65_536
"""Texts whose values are remembered. With more all are forgotten: texts may be without end."""
LONGEST = 256
"""Characters of a text that is remembered: a longer one hardly comes again."""

V = TypeVar("V")


class Memo(dict[str, V]):
    """Cache of a function of text. `memo[text]` computes missing values. Values must not be changed.

    Threads may share it: at worst both work out the same.

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
