"""The vocabulary of Gage's compression, in which a byte replaces a pair of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tokentui.core.errors import TokentuiError
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe

_LETTERS = range(ord("A"), ord("Z") + 1)

PLACEHOLDERS: tuple[int, ...] = (*_LETTERS, *(value for value in range(255, -1, -1) if value not in _LETTERS))
"""Placeholders in the order in which they are used: A to Z, as on the slides that present the method, then
from 255 down, as in Gage's program.

With letters first, short examples are readable (`CqCxo`). Bytes from F5 to FF never occur in UTF-8, so every
text leaves some bytes free.
"""


def free_bytes(used: Iterable[bytes]) -> list[int]:
    """Return the bytes that may replace pairs, in the order in which they are used.

    Args:
        used: The bytes that the corpus contains, each of length 1.
    """
    taken = {byte[0] for byte in used}
    return [value for value in PLACEHOLDERS if value not in taken]


class GageVocabulary(Vocabulary):
    """The vocabulary of Gage's compression: 256 bytes, some of which replace a pair (P. Gage, C Users Journal
    12(2), 1994).

    A merge adds no id. It takes a byte that the corpus lacks, its *placeholder*, which then means the pair.
    So ids are byte values (after the specials, if any), and the ids of an encoded text are its compressed
    bytes. A text that contains a placeholder cannot be encoded, because it would be ambiguous. The piece of a
    symbol is one byte; for a merge, its placeholder.

    Args:
        recipe: The recipe; its objective is `gage`.
        placeholders: The bytes that replace pairs, in order of the merges. Those after the last merge are
            free.
        specials: Special tokens in the order of their ids.
        first_id: The first id given.
    """

    substitutes_bytes, plain_merges = True, False

    def __init__(
        self, recipe: Recipe, placeholders: Sequence[int], specials: Sequence[str] = (), first_id: int = 0
    ) -> None:
        super().__init__(recipe, (bytes((value,)) for value in range(256)), specials, first_id)
        self.placeholders = tuple(placeholders)
        self.expansions: list[bytes] = self.pieces.copy()
        """The bytes that each symbol expands to."""

    def join(self, left: int, right: int) -> bytes:
        """Return the bytes that a pair expands to."""
        return self.expansions[left] + self.expansions[right]

    def spelled(self, symbol: int) -> bytes:
        """Return the bytes that a symbol expands to."""
        return self.expansions[symbol]

    def placeholder(self, rank: int) -> bytes:
        """Return the byte that replaces the pair of a merge, made or future; empty if no byte is free."""
        return bytes(self.placeholders[rank : rank + 1])

    def add(self, left: int, right: int, count: int) -> int:
        """Append the merge of a pair, replaced by the next free byte.

        Return its symbol. A byte must be free.
        """
        rank = len(self.merges)
        self.expansions.append(self.join(left, right))
        self.pieces.append(self.placeholder(rank))
        self.order.append(self.order[self.placeholders[rank]])
        self.merges.append((left, right))
        self.counts.append(count)
        self.ranks[left, right] = rank
        self.sizes.append(self.sizes[-1])
        return self.base_size + rank

    def truncated(self, merges: int) -> GageVocabulary:
        """Return a vocabulary with only the first `merges` merges, which grows by itself."""
        shorter = GageVocabulary(self.recipe, self.placeholders, self.specials, self.first_id)
        for (left, right), count in zip(self.merges[:merges], self.counts, strict=False):
            shorter.add(left, right, count)
        return shorter

    def symbols(self, merges: int) -> Sequence[int]:
        """Return the symbols after a number of merges. The symbol of a pair replaces that of its placeholder.
        """
        taken = set(self.placeholders[:merges])
        return [symbol for symbol in super().symbols(merges) if symbol not in taken]

    def symbols_by_id(self, merges: int) -> dict[int, int]:
        """Return the symbol of each id after a number of merges, in order of the ids."""
        return dict(sorted(super().symbols_by_id(merges).items()))

    def known_units(self, merges: int) -> Mapping[bytes, int]:
        """Return the bytes that a text may contain after a number of merges: those that are not placeholders.
        """
        taken = set(self.placeholders[:merges])
        return {unit: symbol for unit, symbol in self.units.items() if symbol not in taken}

    def refusal(self, unit: bytes, where: str) -> TokentuiError:
        """Return the error for a text that contains a placeholder."""
        letter = f" ({chr(unit[0])!r})" if 0x20 < unit[0] < 0x7F else ""
        return TokentuiError(
            f"byte 0x{unit.hex()}{letter} already represents a pair", where,
            "train on a corpus that contains it"
        )
