"""Words that kernels have counted, as Python's own only when one of them is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from tokentui.text.kernels.tables import Counted


class CountedWords(Sequence[str]):
    """The distinct words of a count in order of first appearance. A trainer that is compiled takes `counted` instead."""

    def __init__(self, counted: Counted) -> None:
        self.counted = counted
        self._words: tuple[str, ...] | None = None

    def _made(self) -> tuple[str, ...]:
        if self._words is None:
            self._words = tuple(self.counted.words())
        return self._words

    def __len__(self) -> int:
        return len(self.counted.counts)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._made()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._made() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._made())
