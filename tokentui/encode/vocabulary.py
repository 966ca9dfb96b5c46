"""The growing vocabulary: base units, then one token a merge, and the ids that stand for them.

A *symbol* is the position of a token in order of birth: base units first (0 … n-1), then the merges (n, n+1, …). Symbols
never change and the tables only grow, so a trainer may extend a vocabulary while readers look at its first k merges: every
question that depends on how far training has come takes `merges`, the number of merges that count.

An *id* is what the outside sees. Specials take the first ids from `first_id` on, then the symbols of the recipe, then the 256
byte-fallback tokens where the recipe has them, then base and merges (with `base=frequency` merges and base, as sentencepiece
numbers them).

Two tokens are the same when they were made in the same way. In a text that spells a mark literally (`##`, `</w>`) two
tokens may be spelled alike and still be two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tokentui.recipe import Recipe

UNKNOWN_NAMES = ("<unk>", "[UNK]")
"""The specials that are the unknown token."""

_AFTER_ALL_MERGES = 1 << 32


def byte_token(value: int) -> str:
    """The name of a byte-fallback token: `<0x41>`."""
    return f"<0x{value:02X}>"


class Vocabulary:
    """Symbols, how each was born, and their ids. Append-only.

    Args:
        recipe: The recipe that it is made by.
        base: The starting units in order of their ids, as exact bytes with their marks.
        specials: Special tokens in the order of their ids.
        first_id: The first id given.
    """

    scores: Sequence[float] = ()
    """The natural log probability of each piece, where the model has them."""
    notes: tuple[str, ...] = ()
    """What was assumed of a file that this was read from."""

    def __init__(self, recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0) -> None:
        self.recipe = recipe
        self.specials = (*specials, *(name for name in recipe.symbols if name not in specials))
        """The special tokens in the order of their ids, the symbols of the recipe last."""
        self.first_id = first_id
        self.pieces: list[bytes] = list(base)
        """The exact bytes of each symbol, marks included."""
        self.base_size = len(self.pieces)
        self.units: dict[bytes, int] = {piece: symbol for symbol, piece in enumerate(self.pieces)}
        """The symbol of each base unit."""
        self.merges: list[tuple[int, int]] = []
        """(left, right) of each merge, as symbols."""
        self.counts: list[int] = []
        """The count of each merge's pair when it was chosen."""
        self.ranks: dict[tuple[int, int], int] = {}
        """The rank of each merge by its (left, right)."""
        self.byte_tokens = 256 if recipe.unknown == "byte-fallback" else 0
        self.base_last = recipe.base == "frequency"
        self._prefix = len(recipe.mark_text.encode()) if recipe.mark_kind == "prefix" else 0
        self._first_symbol_id = first_id + len(self.specials) + self.byte_tokens
        special_pieces = [name.encode("utf-8", "surrogatepass") for name in self.specials]
        self._special_ids = {piece: first_id + n for n, piece in reversed(list(enumerate(special_pieces)))}
        self._borrowed: dict[int, int] = {}
        self._borrowed_before: list[int] = [0]

    def join(self, left: int, right: int) -> bytes:
        """The bytes of the token that this pair would make: the right part's `##` goes."""
        return self.pieces[left] + self.pieces[right][self._prefix :]

    def spelled(self, symbol: int) -> bytes:
        """The bytes that a symbol stands for, marks included: its piece, but where a byte stands for a pair (Gage)."""
        return self.pieces[symbol]

    def known_units(self, merges: int) -> Mapping[bytes, int]:
        """The symbol of each unit that a text may hold after so many merges: all base units, but for Gage's compression."""
        return self.units

    def add(self, left: int, right: int, count: int) -> int:
        """Append the merge of a pair. Returns its symbol.

        A merge that spells a special token borrows that token's id, as Hugging Face's trainers do.
        """
        rank = len(self.merges)
        symbol = self.base_size + rank
        piece = self.join(left, right)
        self.pieces.append(piece)
        self.merges.append((left, right))
        self.counts.append(count)
        self.ranks[left, right] = rank
        special = self._special_ids.get(piece)
        if special is not None:
            self._borrowed[symbol] = special
        self._borrowed_before.append(len(self._borrowed))
        return symbol

    def extend(self, pairs: Sequence[tuple[int, int]], counts: Sequence[int]) -> None:
        """Append merges of pairs that spell no special token, as `add` does one."""
        pieces, prefix, first = self.pieces, self._prefix, len(self.merges)
        pieces_append = pieces.append
        for left, right in pairs:
            pieces_append(pieces[left] + pieces[right][prefix:])
        self.merges.extend(pairs)
        self.counts.extend(counts)
        self.ranks.update(zip(pairs, range(first, first + len(pairs)), strict=True))
        self._borrowed_before.extend([len(self._borrowed)] * len(pairs))

    def copy(self, merges: int) -> Vocabulary:
        """A vocabulary of its own with the first so many merges: for a run that goes on under other stops."""
        copy = Vocabulary(self.recipe, self.pieces[: self.base_size], self.specials, self.first_id)
        for (left, right), count in zip(self.merges[:merges], self.counts, strict=False):
            copy.add(left, right, count)
        return copy

    def size(self, merges: int) -> int:
        """The number of ids after so many merges, specials and byte tokens counted."""
        return len(self.specials) + self.byte_tokens + self.base_size + merges - self._borrowed_before[merges]

    def id_of(self, symbol: int, merges: int) -> int:
        """The id of a symbol after so many merges."""
        rank = symbol - self.base_size
        if rank < 0:
            before = merges - self._borrowed_before[merges] if self.base_last else 0
            return self._first_symbol_id + before + symbol
        if symbol in self._borrowed:
            return self._borrowed[symbol]
        own = rank - self._borrowed_before[rank]
        return self._first_symbol_id + own + (0 if self.base_last else self.base_size)

    def order_of(self, symbol: int) -> int:
        """Where a symbol's id stands among the others: it never changes, also where the base comes after the merges."""
        if self.base_last and symbol < self.base_size:
            return _AFTER_ALL_MERGES + symbol
        return self.id_of(symbol, 0)

    def byte_id(self, value: int) -> int:
        """The id of the byte-fallback token of a byte."""
        return self.first_id + len(self.specials) + value

    def special_id(self, name: str) -> int:
        """The id of a special token."""
        return self.first_id + self.specials.index(name)

    def kind_of(self, symbol: int) -> str:
        """What a symbol is: `piece` of a model with probabilities, `unit` or `merge`."""
        return "piece" if self.scores else "unit" if symbol < self.base_size else "merge"

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token, None where no special is one."""
        for n, name in enumerate(self.specials):
            if name in UNKNOWN_NAMES:
                return self.first_id + n
        return None

    def symbols_by_id(self, merges: int) -> dict[int, int]:
        """The symbol of each id after so many merges; specials and byte tokens have none."""
        return {self.id_of(symbol, merges): symbol for symbol in range(self.base_size + merges)}
