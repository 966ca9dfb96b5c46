"""Longest match after any number of births: the tokens that may stand in a word are looked up once."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.encode import WordEncoder
from tokentui.encode.segment.parts import MAX_CHARACTERS
from tokentui.learn.replay.cut import Live
from tokentui.learn.replay.order import Order

Match = tuple[int, int, int]
"""(unit that it ends before, birth, symbol) of a token that may stand at a unit."""


class Matches:
    """What longest match may take.

    Args:
        order: The births.
        tables: The tokens that begin a word, and those that continue one; all are seen while their limit is high.
        encoder: The encoder that they are of.
    """

    def __init__(self, order: Order, tables: Sequence[Live], encoder: WordEncoder) -> None:
        self._born = order.born
        self._tables = tables
        self._marks = encoder.marks
        self._longest = max((max(map(len, table), default=1) for table in tables), default=1)

    def of(self, units: Sequence[bytes], characters: int) -> Ways | None:
        """The tokens of a word at each unit, the longest first; None where more is to be looked at than these."""
        prefix = self._marks.prefix
        if characters > MAX_CHARACTERS or not units or self._marks.unit_continues(units[0]):
            return None
        for table in self._tables:
            table.limit = len(self._born)
        bare = [unit[len(prefix) :] if at else unit for at, unit in enumerate(units)]
        found: list[list[Match]] = []
        for start in range(len(units)):
            mark, table = (prefix, self._tables[1]) if start and prefix else (b"", self._tables[0])
            here: list[Match] = []
            piece = mark
            for end in range(start + 1, len(units) + 1):
                piece += bare[end - 1]
                if len(piece) > self._longest:
                    break
                symbol = table.get(piece)
                if symbol is not None:
                    here.append((end, self._born[symbol], symbol))
            found.append(here[::-1])
        return Ways(found)


class Ways:
    """The ways that longest match cuts one word.

    Args:
        matches: The tokens at each unit, the longest first.
    """

    def __init__(self, matches: list[list[Match]]) -> None:
        self._matches = matches

    def way(self, births: int) -> tuple[int, tuple[int | None, ...]] | None:
        """The latest birth that the way after so many births was found with, and its tokens; None where a unit is unknown."""
        at = since = 0
        symbols: list[int | None] = []
        while at < len(self._matches):
            match = next((match for match in self._matches[at] if match[1] <= births), None)
            if match is None:
                return None
            at, birth, symbol = match
            symbols.append(symbol)
            since = max(since, birth)
        return since, tuple(symbols)
