"""A table of tokens in which only those count that are in use at a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast


class LimitedTable(Mapping[bytes, int]):
    """A view of a table of tokens that passes over those which come into use later. The table is not copied.

    Args:
        table: The symbol of each token; in a table that is walked unit by unit -1 for what a token begins
            with.
        made: The step at which each symbol comes into use, 0 for what is there from the start.
        number: The step.
        walked: Whether the table is walked: a token that comes later is still what another token begins with.
    """

    def __init__(
        self, table: Mapping[bytes, int], made: Sequence[int], number: int, *, walked: bool = False
    ) -> None:
        self._table = table
        self._made = made
        self._number = number
        self._instead = -1 if walked else None

    def get(self, piece: bytes, default: Any = None) -> Any:
        """The symbol of a token that is in use."""
        symbol = self._table.get(piece)
        if symbol is None:
            return default
        if symbol < 0 or self._made[symbol] <= self._number:
            return symbol
        return default if self._instead is None else self._instead

    def __getitem__(self, piece: bytes) -> int:
        symbol: int | None = self.get(piece)
        if symbol is None:
            raise KeyError(piece)
        return symbol

    def __contains__(self, piece: object) -> bool:
        return self.get(cast("bytes", piece)) is not None

    def __iter__(self) -> Iterator[bytes]:
        """All tokens, in use or not: a search for the longest one may meet one that is to come."""
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)
