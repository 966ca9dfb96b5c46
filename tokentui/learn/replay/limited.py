"""A vocabulary without merges at a step of a replay: a view of the whole, whose tables are not copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tokentui.encode.segment.limited import LimitedTable
from tokentui.encode.vocabulary import Vocabulary


class _Limited:
    """The differences from the whole vocabulary; this comes before the class of that."""

    pieces: list[bytes]
    _whole: Any
    _made: Sequence[int]
    _number: int

    def __init__(self, whole: Vocabulary, made: Sequence[int], number: int) -> None:
        self.__dict__.update(whole.__dict__)
        self._whole, self._made, self._number = whole, made, number

    def __reduce__(self) -> tuple[Any, tuple[Vocabulary, Sequence[int], int]]:
        return limited, (self._whole, self._made, self._number)

    @property
    def by_piece(self) -> Mapping[bytes, int]:
        """The symbol of each token that is in use."""
        return LimitedTable(self._whole.by_piece, self._made, self._number)

    @property
    def table(self) -> Mapping[bytes, int]:
        """The same for pieces with probabilities."""
        return LimitedTable(self._whole.table, self._made, self._number, walked=True)

    def known_units(self, merges: int) -> Mapping[bytes, int]:
        """The symbol of each unit, and of each token in use where those are units as well."""
        return LimitedTable(self._whole.units, self._made, self._number)

    def size(self, merges: int) -> int:
        """The number of ids."""
        whole, made, number = self._whole, self._made, self._number
        ids = {whole.id_of(symbol, 0) for symbol in range(len(self.pieces)) if made[symbol] <= number}
        return len(ids | {whole.special_id(name) for name in whole.specials})

    def symbols_by_id(self, merges: int) -> dict[int, int]:
        """The symbol of each id that is in use."""
        found = self._whole.symbols_by_id(0)
        return {one: symbol for one, symbol in found.items() if self._made[symbol] <= self._number}

    def copy(self, merges: int) -> Any:
        """The same: what was read does not grow."""
        return self


def limited(whole: Vocabulary, made: Sequence[int], number: int) -> Vocabulary:
    """A vocabulary at a step.

    Args:
        whole: The vocabulary, without merges.
        made: The step at which each symbol comes into use, 0 for what is there from the start.
        number: The step.
    """
    kind = type(whole)
    found = _CLASSES.get(kind)
    if found is None:
        found = _CLASSES[kind] = type(f"Limited{kind.__name__}", (_Limited, kind), {})
    return cast("Vocabulary", found(whole, made, number))


_CLASSES: dict[type, Any] = {}
