"""Vocabularies from files of other tools: their ids and their steps of encoding are those of the file.

As in every vocabulary, symbols are in the order in which merges make them: first those that no merge makes
(units, specials, tokens without a pair), by id, then one token per merge. A file may list a token under
several pairs. The first pair whose parts both exist makes it. So the number of merges is the number of tokens
made, not of rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast, overload

from tokentui.core.jobs import check
from tokentui.encode.names import NameFinder as NameFinder
from tokentui.encode.segment.merges import merge_cells
from tokentui.encode.vocabulary import Sections, TokenizerFile, Vocabulary
from tokentui.text.pretokenize import Pretokenizer


def reads_whole(pretokenizer: Pretokenizer, sections: Sections | None) -> bool:
    """Return whether stretches of a text can be encoded one by one, with the tokens in them that are cut out
    of any text. False for a pretokenizer that says nothing about stretches."""
    if pretokenizer.stretching is None or sections is None:
        return pretokenizer.stretching is not None
    if sections.always is None:
        return False
    # What comes in front of a text comes after such a token too, or does not if a text begins with it.
    front, crossing = pretokenizer.stretching.front, pretokenizer.stretching.crossing
    return not (sections.always.names and (front or (crossing and any(map(crossing.search, sections.names)))))


class ImportedVocabulary(Vocabulary):
    """A vocabulary from a file of another tool. It does not grow."""

    imported = True

    def __init__(self, file: TokenizerFile) -> None:
        specials = dict(sorted(file.specials.items(), key=lambda item: item[1]))
        super().__init__(file.recipe, (), tuple(specials), min([*file.ids, *specials.values()], default=0))
        self.file = replace(file, pretokenizer=file.pretokenizer or Pretokenizer(file.recipe))
        self.pieces = file.pieces
        self.base_size = len(file.pieces) - len(file.merges)
        self.units = dict(file.units)
        # Any sequence will do: for a file without pairs they are computed at first use.
        self.merges = cast("list[tuple[int, int]]", file.merges)
        self.counts = [0] * len(file.merges)
        self.byte_tokens = 0
        self.base_last = False
        self.scores = file.scores
        self.notes = file.notes
        check()
        self.unreachable = file.never
        self.byte_symbols = file.bytes_
        self._bytes = {symbol: value for value, symbol in file.bytes_.items()}
        self.order = file.ids
        self._specials = specials

    def size(self, merges: int) -> int:
        """Return the number of ids after a number of merges, including specials and byte tokens, without
        unused ids."""
        symbols, order = self.symbols(merges), self.order
        ids = order[: len(symbols)] if isinstance(symbols, range) else map(order.__getitem__, symbols)
        return len(set(ids).union(self._specials.values()))

    def byte_id(self, value: int) -> int:
        """Return the id of the byte-fallback token of a byte."""
        return self.order[self.byte_symbols[value]]

    def special_id(self, name: str) -> int:
        """Return the id of a special token.

        Raises:
            KeyError: There is no special token of this name.
        """
        return self._specials[name]

    @functools.cached_property
    def names(self) -> Mapping[int, str]:
        """The name of each id in the file that differs from its piece as text."""
        names = dict(zip(self.order, self.file.tokens, strict=False))
        names.update(self.file.names)
        return names

    def name_of(self, token_id: int) -> str:
        """Return the name of an id as the file spells it.

        Raises:
            KeyError: The id does not exist.
        """
        name = self.names.get(token_id)
        if name is not None:
            return name
        return self.pieces[self._symbols[token_id]].decode("utf-8", "surrogateescape")

    @functools.cached_property
    def tokens(self) -> Mapping[bytes, int]:
        """The symbol of each token that a word may become, by its bytes. Of tokens with equal bytes, the last
        one."""
        if not self.unreachable:
            return dict(zip(self.pieces, range(len(self.pieces)), strict=True))
        return {piece: symbol for symbol, piece in enumerate(self.pieces) if symbol not in self.unreachable}

    @functools.cached_property
    def _symbols(self) -> dict[int, int]:
        return {number: symbol for symbol, number in enumerate(self.order)}

    def kind_of(self, symbol: int) -> str:
        """Return the kind of a symbol.

        It is `byte`, `piece` (of a model without merges), `unit`, `merge`, or `orphan`, which no merge makes.
        """
        if symbol in self._bytes:
            return "byte"
        if symbol >= self.base_size:
            return "merge"
        if not self.merges:
            return "piece"
        return "unit" if self.units.get(self.pieces[symbol]) == symbol else "orphan"

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None if the file has none."""
        return self.file.unknown

    def symbols_by_id(self, merges: int) -> dict[int, int]:
        """Return the symbol of each id after a number of merges. Specials have no symbol."""
        by_id = super().symbols_by_id(merges)
        for number in self._specials.values():
            by_id.pop(number, None)
        return by_id

    def truncated(self, merges: int) -> Vocabulary:
        """Return this vocabulary with all its merges: one that was read from a file does not grow."""
        return self

    def with_specials(
        self, file: TokenizerFile, specials: Mapping[str, int], unknown: str = ""
    ) -> ImportedVocabulary:
        """Return the vocabulary of a changed file, with other special tokens by name.

        `unknown` names the special token that is the unknown token; it is empty to keep that of the file.
        """
        added = {number: name for name, number in specials.items() if number not in self._symbols}
        return ImportedVocabulary(replace(
            file, specials=specials, unknown=specials[unknown] if unknown else file.unknown,
            names={**added, **self.names},
        ))


# ---- the parents of tokens, computed at first use for a file that lists none


class Parents(Sequence[tuple[int, int]]):
    """The (left, right) of each token of a rank file, as symbols.

    >>> pieces = [b"h", b"u", b"g", b"s", b"ug", b"hug", b"hugs"]
    >>> list(Parents(pieces, {piece: symbol for symbol, piece in enumerate(pieces)}, 4))
    [(1, 2), (0, 4), (5, 3)]

    The parents of a token are the tokens that its bytes become with only the earlier tokens. If these are not
    two (no training makes such a token), the parents are the earliest pair of tokens that spells it.

    Args:
        pieces: The exact bytes of each symbol: first those without parents, then the others by rank.
        table: The symbol of each token.
        base: The number of symbols without parents.
        units: Cuts a piece into its smallest units; None for bytes.
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
        """The parents of a token, by its index among tokens with parents."""
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        number = range(len(self))[at]
        if number not in self._known:
            self._known[number] = self._of(self._base + number)
        return self._known[number]

    @staticmethod
    def has(piece: bytes, earlier: Mapping[bytes, object]) -> bool:
        """Return whether two earlier tokens spell a piece."""
        # Most tokens are an earlier token and a short rest.
        return any(piece[:at] in earlier and piece[at:] in earlier for at in range(len(piece) - 1, 0, -1))

    def _of(self, symbol: int) -> tuple[int, int]:
        """Return the ranks of the two parts that a token is merged from.

        These are what the tokens before it merge its units into. Where they leave more than two parts, it is
        the split into two tokens whose later one is the earliest.
        """
        piece, table = self._pieces[symbol], self._table
        spelled = self._units(piece)
        size = count = len(spelled)
        cells, following = list(range(size)), list(range(1, size + 1))

        def merged(left: int, right: int) -> tuple[int, int] | None:
            rank = table.get(spelled[left] + spelled[right], symbol)
            if rank >= symbol:
                return None
            spelled.append(self._pieces[rank])
            return rank, len(spelled) - 1

        for _ in merge_cells(cells, following.copy(), following, merged) if size > 2 else ():
            count -= 1
            if count == 2:
                break
        parts, at = list[bytes](), 0
        while at < size:
            parts.append(spelled[cells[at]])
            at = following[at]
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
