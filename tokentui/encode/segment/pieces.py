"""Merging as sentencepiece's BPE has it: by what a pair spells, with pieces that never merge and pieces that
are cut again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tokentui.encode.segment.parts import Part, byte_parts
from tokentui.encode.segment.ranked import JoinedMerging
from tokentui.encode.vocabulary import Vocabulary


class PieceMerging(JoinedMerging):
    """Merges neighbours that spell a piece, the best piece first.

    Args:
        vocabulary: The vocabulary.
        merges: How many of its merges count.
        table: The symbol of each piece by its bytes.
        order: The priority of each symbol, least first.
        frozen: Symbols that merge with nothing (user-defined pieces).
        unused: Symbols that are cut again into the pair that they were merged from last.
        hidden: Symbols of characters that are no pieces: they merge, and are unknown where they are left.
        bytes_: The symbol of each byte-fallback token by its byte.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: int,
        *,
        table: Mapping[bytes, int],
        order: Sequence[int] | None = None,
        frozen: Collection[int] = (),
        unused: Collection[int] = (),
        hidden: Collection[int] = (),
        bytes_: Mapping[int, int],
    ) -> None:
        super().__init__(vocabulary, merges, table, order)
        self._frozen, self._unused, self._hidden, self._bytes = frozen, unused, hidden, bytes_
        self._made_from: dict[int, tuple[int, int]] = {}

    def in_order(self) -> int:
        """The number of merges, from the first, that are applied in their order.

        It is 0 where some pieces are cut again.
        """
        return 0 if self._unused else super().in_order()

    def history(self, units: Sequence[bytes]) -> tuple[list[int], list[tuple[int, int, int]]]:
        """As of any merging; what is unknown where it is left is no symbol to begin with."""
        start, merges = super().history(units)
        return [-1 if symbol in self._hidden else symbol for symbol in start], merges

    def segment(self, units: Sequence[bytes], characters: int) -> list[Part]:
        """Cut a word into parts."""
        self._made_from.clear()
        out: list[Part] = []
        for merged in super().segment(units, characters):
            for part in self._again(merged, units) if merged.symbol in self._unused else [merged]:
                known = part.symbol is not None and part.symbol not in self._hidden
                out += [part] if known else byte_parts(part, units, self._bytes)
        return out

    def _pair(self, left: int, right: int) -> tuple[int, int] | None:
        return None if left in self._frozen or right in self._frozen else super()._pair(left, right)

    def _pushed(self, left: int, right: int, made: int) -> None:
        if made in self._unused:
            self._made_from[made] = left, right

    def _again(self, part: Part, units: Sequence[bytes]) -> list[Part]:
        """The parts of a piece that is not used."""
        out: list[Part] = []
        waiting = [part]
        while waiting:
            one = waiting.pop()
            pair = (
                self._made_from.get(one.symbol)
                if one.symbol in self._unused and one.symbol is not None
                else None
            )
            if pair is None:
                out.append(one)
                continue
            length, middle = len(self._pieces[pair[0]]), one.start
            while length > 0:
                length -= len(units[middle])
                middle += 1
            waiting += [Part(middle, one.end, pair[1]), Part(one.start, middle, pair[0])]
        return out
