"""A vocabulary without merges of which only the first so many births count: a view of the whole, whose tables are not copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from tokentui.encode.vocabulary import Vocabulary


class Live(Mapping[bytes, int]):
    """A table of tokens in which those that are not born yet are passed over.

    Args:
        table: The symbol of each token; in a table that is walked unit by unit -1 for what a token begins with.
        born: The birth of each symbol, 0 for what is there from the start.
        limit: How many births count; it may be changed.
        walked: Whether it is walked: what is not born is still what another token begins with.
    """

    def __init__(self, table: Mapping[bytes, int], born: Sequence[int], limit: int, *, walked: bool = False) -> None:
        self._table = table
        self._born = born
        self._instead = -1 if walked else None
        self.limit = limit

    def get(self, piece: bytes, default: Any = None) -> Any:
        """The symbol of a token that is born."""
        symbol = self._table.get(piece)
        if symbol is None:
            return default
        if symbol < 0 or self._born[symbol] <= self.limit:
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
        """All tokens, born or not: who looks for the longest one may take one that is to come."""
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class _Cut:
    """What is other than in the whole vocabulary; it stands before the class of that."""

    pieces: list[bytes]
    _whole: Any
    _born: Sequence[int]
    _births: int

    def __init__(self, whole: Vocabulary, born: Sequence[int], births: int) -> None:
        self.__dict__.update(whole.__dict__)
        self._whole, self._born, self._births = whole, born, births

    def __reduce__(self) -> tuple[Any, tuple[Vocabulary, Sequence[int], int]]:
        return cut, (self._whole, self._born, self._births)

    @property
    def by_piece(self) -> Mapping[bytes, int]:
        """The symbol of each token that is born."""
        return Live(self._whole.by_piece, self._born, self._births)

    @property
    def table(self) -> Mapping[bytes, int]:
        """The same for pieces with probabilities."""
        return Live(self._whole.table, self._born, self._births, walked=True)

    def known_units(self, merges: int) -> Mapping[bytes, int]:
        """The symbol of each unit, and of each token that is born where those are units as well."""
        return Live(self._whole.units, self._born, self._births)

    def size(self, merges: int) -> int:
        """The number of ids."""
        whole, born, births = self._whole, self._born, self._births
        ids = {whole.id_of(symbol, 0) for symbol in range(len(self.pieces)) if born[symbol] <= births}
        return len(ids | {whole.special_id(name) for name in whole.specials})

    def symbols_by_id(self, merges: int) -> dict[int, int]:
        """The symbol of each id that is born."""
        found = self._whole.symbols_by_id(0)
        return {number: symbol for number, symbol in found.items() if self._born[symbol] <= self._births}

    def copy(self, merges: int) -> Any:
        """The same: what was read does not grow."""
        return self


def cut(whole: Vocabulary, born: Sequence[int], births: int) -> Vocabulary:
    """A vocabulary after so many births.

    Args:
        whole: The vocabulary, without merges.
        born: The birth of each symbol, 0 for what is there from the start.
        births: How many count.
    """
    kind = type(whole)
    made = _CLASSES.get(kind)
    if made is None:
        made = _CLASSES[kind] = type(f"Cut{kind.__name__}", (_Cut, kind), {})
    return cast("Vocabulary", made(whole, born, births))


_CLASSES: dict[type, Any] = {}
