"""The vocabulary of Gage's compression, in which a byte replaces a pair of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tokentui.core.errors import TokentuiError
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Recipe

_LETTERS = range(ord("A"), ord("Z") + 1)

PLACEHOLDERS: tuple[int, ...] = (*_LETTERS, *(value for value in range(255, -1, -1) if value not in _LETTERS))
"""The order in which bytes are taken: A to Z, as on the slides that tell of it, then from 255 down, as Gage's
program does.

Letters come first so that a short example can be read (`CqCxo`). The bytes behind them are the ones that
UTF-8 never has (F5 to FF), so a text in any language has some that are free.
"""


def free_bytes(held: Iterable[bytes]) -> list[int]:
    """Return the bytes that may replace pairs, in the order in which they are used.

    Args:
        held: The bytes that the corpus holds, one long each.
    """
    taken = {byte[0] for byte in held}
    return [value for value in PLACEHOLDERS if value not in taken]


class GageVocabulary(Vocabulary):
    """The vocabulary of Gage's compression: 256 bytes, some of which stand for a pair (P. Gage, C Users
    Journal 12(2), 1994).

    A merge makes no new id. It takes a byte that the corpus lacks, its *placeholder*, and from then on that
    byte means the pair. So ids are byte values (after the specials, if there are any), the ids of an encoded
    text are its compressed bytes, and a text that holds a placeholder itself cannot be encoded: nothing would
    tell the two apart. The piece of a symbol is one byte, a merge's its placeholder.

    Args:
        recipe: The recipe; its objective is `gage`.
        placeholders: The bytes that stand for pairs, in order of the merges. Those past the last merge are
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
        """Return the bytes that the replacement of this pair would expand to."""
        return self.expansions[left] + self.expansions[right]

    def spelled(self, symbol: int) -> bytes:
        """Return the bytes that a symbol expands to."""
        return self.expansions[symbol]

    def placeholder(self, rank: int) -> bytes:
        """Return the byte that replaces the pair of a merge, made or still to come; empty if none is free."""
        return bytes(self.placeholders[rank : rank + 1])

    def add(self, left: int, right: int, count: int) -> int:
        """Append the merge of a pair, replaced by the next free byte. Returns its symbol."""
        rank = len(self.merges)
        self.expansions.append(self.join(left, right))
        self.pieces.append(self.placeholder(rank))
        self.order.append(self.order[self.placeholders[rank]])
        self.merges.append((left, right))
        self.counts.append(count)
        self.ranks[left, right] = rank
        self.sizes.append(self.sizes[-1])
        return self.base_size + rank

    def copy(self, merges: int) -> GageVocabulary:
        """Return a copy with only the first `merges` merges."""
        copy = GageVocabulary(self.recipe, self.placeholders, self.specials, self.first_id)
        for (left, right), count in zip(self.merges[:merges], self.counts, strict=False):
            copy.add(left, right, count)
        return copy

    def symbols(self, merges: int) -> Sequence[int]:
        """Return the symbols after a number of merges. A pair takes the place of the byte that replaces it.
        """
        taken = set(self.placeholders[:merges])
        return [symbol for symbol in super().symbols(merges) if symbol not in taken]

    def symbols_by_id(self, merges: int) -> dict[int, int]:
        """Return the symbol of each id after a number of merges, in order of the ids."""
        return dict(sorted(super().symbols_by_id(merges).items()))

    def known_units(self, merges: int) -> Mapping[bytes, int]:
        """Return the bytes that a text may contain after a number of merges: those that replace no pair."""
        taken = set(self.placeholders[:merges])
        return {unit: symbol for unit, symbol in self.units.items() if symbol not in taken}

    def refusal(self, unit: bytes, where: str) -> TokentuiError:
        """Return the error for a text that holds a placeholder."""
        letter = f" ({chr(unit[0])!r})" if 0x20 < unit[0] < 0x7F else ""
        return TokentuiError(
            f"byte 0x{unit.hex()}{letter} stands for a pair here", where, "train on a corpus that holds it"
        )
