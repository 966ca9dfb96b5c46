"""Words that kernels have counted, as Python's own only when one of them is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, overload


class CountedWords(Sequence[str]):
    """Distinct words in order of first appearance, in flat arrays. A trainer that is compiled takes these.

    Args:
        text: The words one after the other: UTF-8, a lone surrogate in three bytes.
        ends: Where each word ends in it, a 0 before the first: an array of int64.
        counts: How often each stands: an array of int64.
    """

    def __init__(self, text: bytes, ends: Any, counts: Any) -> None:
        self.text, self.ends, self.counts = text, ends, counts
        self._words: tuple[str, ...] | None = None

    def _made(self) -> tuple[str, ...]:
        if self._words is None:
            import numpy as np  # whoever made the arrays has it; a trainer without kernels has not

            text = self.text.decode("utf-8", "surrogatepass")
            ends = self.ends
            if len(text) < len(self.text):  # places in characters: count those bytes that go not on with one
                starts = np.cumsum((np.frombuffer(self.text, np.uint8) & 0xC0) != 0x80, dtype=np.int64)
                ends = np.concatenate((ends[:1], starts[ends[1:] - 1]))
            self._words = tuple([text[start:end] for start, end in pairwise(ends.tolist())])
        return self._words

    def __len__(self) -> int:
        return len(self.counts)

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
