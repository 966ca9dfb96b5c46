"""The pairs that tokens are made of, where a file lists none: worked out when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload


class Parents(Sequence[tuple[int, int]]):
    """The (left, right) of each token of a rank file, as symbols.

    >>> pieces = [b"h", b"u", b"g", b"s", b"ug", b"hug", b"hugs"]
    >>> list(Parents(pieces, {piece: symbol for symbol, piece in enumerate(pieces)}, 4))
    [(1, 2), (0, 4), (5, 3)]

    A token's parents are what its bytes become under the tokens before it. Where these are not two (no
    training makes such a token) they are the two earlier tokens that spell it, the earliest pair there is.

    Args:
        pieces: The exact bytes of each symbol: what has no parents, then the others in order of rank.
        table: The symbol of each token.
        base: The number of symbols without parents.
        units: Cuts a piece into its smallest units; into bytes where None.
    """

    def __init__(
        self, pieces: Sequence[bytes], table: Mapping[bytes, int], base: int, units: Callable[
            [bytes], list[bytes]
        ] | None = None
    ) -> None:
        self._pieces = pieces
        self._table = table
        self._base = base
        self._units = units or _bytes
        self._known: dict[int, tuple[int, int]] = {}

    def __len__(self) -> int:
        """The number of tokens with parents."""
        return len(self._pieces) - self._base

    @overload
    def __getitem__(self, at: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[int, int]]: ...
    def __getitem__(self, at: int | slice) -> tuple[int, int] | list[tuple[int, int]]:
        """The parents of a token, by its number from 0."""
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        number = at if at >= 0 else at + len(self)
        if not 0 <= number < len(self):
            raise IndexError(at)
        if number not in self._known:
            self._known[number] = self._of(self._base + number)
        return self._known[number]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """The parents of each token."""
        return (self[number] for number in range(len(self)))

    @staticmethod
    def has(piece: bytes, earlier: Mapping[bytes, object]) -> bool:
        """True if two earlier tokens spell a piece."""
        # Most tokens are an earlier one and a little more.
        return any(piece[:at] in earlier and piece[at:] in earlier for at in range(len(piece) - 1, 0, -1))

    def _of(self, symbol: int) -> tuple[int, int]:
        piece, table = self._pieces[symbol], self._table
        parts = self._units(piece)
        while len(parts) > 2:
            ranked = ((table.get(parts[at] + parts[at + 1], symbol), at) for at in range(len(parts) - 1))
            best, at = min(ranked)
            if best >= symbol:
                break
            parts[at : at + 2] = [self._pieces[best]]
        if len(parts) == 2 and all(part in table for part in parts):
            return table[parts[0]], table[parts[1]]
        splits = []
        for at in range(1, len(piece)):
            left, right = table.get(piece[:at], symbol), table.get(piece[at:], symbol)
            if left < symbol and right < symbol:
                splits.append((max(left, right), left, right))
        return min(splits)[1:]


def _bytes(piece: bytes) -> list[bytes]:
    return [piece[at : at + 1] for at in range(len(piece))]
