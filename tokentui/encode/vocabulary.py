"""The growing vocabulary: base units, one token per merge, and their ids.

A *symbol* is the index of a token in the order in which tokens are made: base units first (0 … n-1), then
merges (n, n+1, …). Symbols never change and the tables only grow. So a trainer may extend a vocabulary while
readers use its first k merges: methods whose result depends on the progress of training take `merges`, the
number of merges that count.

An *id* is public. Specials have the first ids from `first_id` on, then the symbols of the recipe, then the
256 byte-fallback tokens if the recipe has them, then base and merges (with `base=frequency`, merges and base,
as sentencepiece numbers them).

Two tokens are the same if they were made in the same way. If a text contains a literal mark (`##`, `</w>`),
two different tokens may have equal spellings.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple, Protocol, Self

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import BLOCK, check
from tokentui.core.records import dataclass
from tokentui.core.safetext import to_bytes
from tokentui.encode.names import NameFinder
from tokentui.encode.names import Special as Special
from tokentui.encode.segment import ENCODING_WAYS, UNKNOWN, EncodingWay, LimitedTable
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import MARKS, PreToken, Pretokenizer

UNKNOWN_NAMES = ("<unk>", "[UNK]")
"""The names of specials that are the unknown token."""
NO_ID = -1
"""The id of a token without an id, in arrays of numbers. Elsewhere it is None."""
NOTHING = "\ufffd"
"""The text that a token without an id decodes to."""

_AFTER_ALL_MERGES = 1 << 32


def byte_token(value: int) -> str:
    """Return the name of a byte-fallback token: `<0x41>`."""
    return f"<0x{value:02X}>"


def quoted(text: str) -> str:
    """Return a text in quotes, shortened, with unprintable characters escaped."""
    return repr(text if len(text) <= 20 else text[:20] + "…")


Section = Special | list[PreToken]
"""A special token that a text contains by name, or the pre-tokens of the text between two of these. Places
are in the text as typed."""


class Sections(Protocol):
    """Cuts a text at the tokens that it contains by name, as a file says."""

    def __call__(self, text: str, allow_special: bool, /) -> Iterable[Section]:
        """Return these tokens, and lists of the pre-tokens between them.

        Args:
            text: The text.
            allow_special: True to include special tokens. Others are cut out of any text.
        """
        ...

    def bare(self, text: str, allow_special: bool, /) -> Iterable[Special | list[str]]:
        """Yield special tokens and words, for ids alone. The places of tokens are meaningless."""
        ...

    def texts(
        self, text: str, allow_special: bool, /, *, whole: bool
    ) -> Iterable[Special | str] | None:
        """Return the same with the text as typed in place of its pre-tokens.

        Args:
            text, allow_special: As for `__call__`.
            whole: True to leave the tokens in the text that are cut out of any text. `always` must not be
                None.

        Returns:
            The parts; None if names of special tokens are searched for after normalization.
        """
        ...

    @property
    def always(self) -> NameFinder | None:
        """Finds the tokens that are cut out of any text. None if their places depend on more than their
        names, so that they cannot be searched for in a stretch of a text."""
        ...

    @property
    def special(self) -> NameFinder:
        """Finds the special tokens that are searched for in a text as typed."""
        ...

    @property
    def names(self) -> Iterable[str]:
        """The names that are searched for in a text as typed, if some are cut out of any text."""
        ...


class Apart(NamedTuple):
    """How a decoder turns each name of a token alone into a part of a text.

    Attributes:
        spell: Returns the bytes of each name of a list, the first and the last of which begin and end a text.
            None for a name that has to be decoded with the others.
        finish: Changes the whole text afterwards; None if nothing does.
        byte_fallback: True if a run of names of byte tokens is decoded as a whole. `spell` returns such names
            unchanged.
    """

    spell: Callable[[Sequence[str]], list[bytes | None]]
    finish: Callable[[str], str] | None = None
    byte_fallback: bool = False


def _none_apart() -> Apart | None:
    return None


@dataclass(frozen=True, slots=True)
class NameDecoder:
    """Turns the names of tokens in a file into a text.

    Attributes:
        joined: Returns the bytes that names decode to.
        apart: Returns how each name alone is turned into a part of the text; None if its neighbors matter.
        finish: Changes the text afterwards; None if nothing does.
    """

    joined: Callable[[Sequence[str]], bytes]
    apart: Callable[[], Apart | None] = _none_apart
    finish: Callable[[str], str] | None = None

    def __call__(self, names: Sequence[str]) -> bytes:
        """Return the bytes that names decode to.

        Raises:
            TokentuiError: The text becomes too long.
        """
        data = self.joined(names)
        if self.finish is None:
            return data
        return self.finish(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """A tokenizer as a file of another tool describes it: `ImportedVocabulary` is built from it, and writers
    take from it what else the file says.

    Attributes:
        format: The name of its format; empty for a tokenizer of no such file.
        recipe: The recipe that describes it as well as the axes can.
        pieces: The exact bytes of each symbol, marks included: first those that no merge makes, then one per
            merge.
        ids: The id of each symbol.
        merges: The (left, right) of each merge, as symbols.
        units: The symbol of each smallest unit.
        bytes_: The symbol of each byte-fallback token by its byte.
        scores: The natural log probability of each symbol; empty for a model without.
        never: Symbols that no text becomes.
        specials: The id of each special token by its name.
        unknown: The id of the unknown token; None if there is none.
        tokens: The name of each symbol in the file; empty if the names are the pieces as text.
        names: The name of each id that has another name than `tokens` says, or no symbol.
        way: The way of encoding, with the tables of the file; None for that of the recipe.
        pretokenizer: Cuts a text into words and units; None for that of the recipe.
        sections: Cuts a text at the tokens that it contains by name; None for the special tokens alone.
        decoder: Converts the names of tokens in the file to text; None for the rules of the recipe.
        around: The special tokens before and after a text, for `special_tokens=True`; None for those with
            well-known names.
        policy: The policy for parts that the segmenter leaves unknown; empty for that of the recipe.
        near: True if the axis `split` of the recipe is only the nearest match to the steps.
        notes: Sentences on assumptions, doubts and things that are not imported.
        stages: The content of the file for each step, as JSON values by the name of the step, unchanged.
        content: The content of the file except its tokens and merges, as JSON values, to write it again.
        listed: (id, name, score) of each token in the order of the file, if it does not follow from the
            symbols.
        extras: An example of each aspect that only some formats keep, such as the flags of added tokens, by
            the name of the aspect.
        own: The file's value of the axis `encode` and its way, if the recipe has another value; else None.
    """

    format: str = ""
    recipe: Recipe = Recipe()
    pieces: list[bytes] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    merges: Sequence[tuple[int, int]] = ()
    units: Mapping[bytes, int] = field(default_factory=dict)
    bytes_: Mapping[int, int] = field(default_factory=dict)
    scores: Sequence[float] = ()
    never: frozenset[int] = frozenset()
    specials: Mapping[str, int] = field(default_factory=dict)
    unknown: int | None = None
    tokens: Sequence[str] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    way: EncodingWay | None = None
    pretokenizer: Pretokenizer | None = None
    sections: Sections | None = None
    decoder: NameDecoder | None = None
    around: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    policy: str = ""
    near: bool = False
    notes: tuple[str, ...] = ()
    stages: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    listed: Sequence[tuple[int, str, float]] = ()
    extras: Mapping[str, str] = field(default_factory=dict)
    own: tuple[str, EncodingWay | None] | None = None


class Vocabulary:
    """Symbols, the merge that makes each, and their ids. It is append-only.

    Args:
        recipe: The recipe of the training.
        base: The starting units in order of their ids, as exact bytes with their marks.
        specials: Special tokens in the order of their ids.
        first_id: The first id given.
        scores: The natural log probability of each piece, for a model without merges; else empty.

    Raises:
        TokentuiError: The numbers of scores and pieces differ.
    """

    limit: tuple[int, Sequence[int]] | None = None
    """For a vocabulary at a step of a replay: the step, and the step at which each symbol comes into use.
    Else None."""
    substitutes_bytes: bool = False
    """True for Gage's compression: a byte replaces a pair, so that ids are bytes of the compressed text."""
    unreachable: frozenset[int] = frozenset()
    """Symbols that no text becomes."""
    file = TokenizerFile()
    """The file of another tool that it was read from; of no format for all others."""
    imported: bool = False
    """True if it was read from a file of another tool."""
    plain_merges: bool = True
    """True if encoding depends only on the ranks of its merges, or on its set of tokens."""
    eventful: bool = False
    """True if its steps are events: symbols leave and come back, and the events decide the encoding."""
    notes: tuple[str, ...] = ()
    """Sentences on assumptions about the file of the vocabulary."""

    def __init__(
        self, recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0,
        scores: Iterable[float] = (),
    ) -> None:
        self.recipe = recipe
        self.specials = (*specials, *(name for name in recipe.symbols if name not in specials))
        """The names of the special tokens by id, with the symbols of the recipe last."""
        self.first_id = first_id
        self.pieces: list[bytes] = list(base)
        """The exact bytes of each symbol, marks included."""
        self.base_size = len(self.pieces)
        self.scores: Sequence[float] = list(scores)
        """The natural log probability of each piece; empty for other models."""
        if self.scores and len(self.scores) != self.base_size:
            what = f"{len(self.scores)} scores for {self.base_size} pieces"
            raise TokentuiError(what, "vocabulary", "give each piece one")
        self.units: dict[bytes, int] = {piece: symbol for symbol, piece in enumerate(self.pieces)}
        """The symbol of each base unit."""
        self.merges: list[tuple[int, int]] = []
        """(left, right) of each merge, as symbols."""
        self.counts: list[int] = []
        """The count of each merge's pair when it was chosen."""
        self.ranks: dict[tuple[int, int], int] = {}
        """The rank of each merge by its (left, right)."""
        self.byte_symbols: Mapping[int, int] = {}
        """The symbol of each byte, if a file has byte-fallback tokens as pieces; else empty."""
        self.byte_tokens = 256 if UNKNOWN.of(recipe.unknown).byte_fallback else 0
        self.base_last = recipe.base == "frequency"
        self.mark = to_bytes(recipe.mark_text)
        """The mark of the recipe."""
        self._kind = MARKS.of(recipe.mark)
        self.prefix = self.mark if self._kind.in_front else b""
        """The mark of a token that continues a word; empty if the recipe has none."""
        special_pieces = [name.encode("utf-8", "surrogatepass") for name in self.specials]
        self._special_ids = {piece: first_id + n for n, piece in reversed(list(enumerate(special_pieces)))}
        self.borrowed: set[int] = set()
        """The symbols that have the id of a special with the same spelling."""
        self.sizes: list[int] = [len(self.specials) + self.byte_tokens + self.base_size]
        """The number of ids after each number of merges, specials and byte tokens counted."""
        first = first_id + self.sizes[0] - self.base_size
        self._next_id = first if self.base_last else first + self.base_size
        first += _AFTER_ALL_MERGES if self.base_last else 0
        self.order: list[int] = list(range(first, first + self.base_size))
        """The id of each symbol. If the base comes after the merges, the ids of the base grow with each
        merge. Here they follow all possible merges, so that their order never changes."""

    def join(self, left: int, right: int) -> bytes:
        """Return the bytes of the token that a pair would make, without the mark of the right part (`##`)."""
        return self.pieces[left] + self.pieces[right][len(self.prefix) :]

    def spelled(self, symbol: int) -> bytes:
        """Return the bytes of a symbol in text, marks included. They differ from its piece only in Gage's
        compression."""
        return self.pieces[symbol]

    def known_units(self, merges: int) -> Mapping[bytes, int]:
        """Return the symbol of each unit that a text may contain after a number of merges: all base units,
        except in Gage's compression."""
        return self.units if self.limit is None else LimitedTable(self.units, *self.limit)

    @functools.cached_property
    def names(self) -> Mapping[int, str]:
        """The name of each id that differs from its piece as text, for a vocabulary from a file."""
        return {}

    @functools.cached_property
    def tokens(self) -> Mapping[bytes, int]:
        """The symbol of each token that a word may become, for a vocabulary that does not grow.

        Of tokens with equal bytes, the first one, which is the more probable one.
        """
        symbols = range(len(self.pieces) - 1, -1, -1)
        if not self.unreachable:
            return dict(zip(reversed(self.pieces), symbols, strict=True))
        return {self.pieces[symbol]: symbol for symbol in symbols if symbol not in self.unreachable}

    @functools.cached_property
    def trie(self) -> Mapping[bytes, int]:
        """`tokens`, with -1 for each prefix of a token that is not a token."""
        starts: dict[bytes, int] = {}
        longer: set[bytes] = set()  # a prefix of two tokens is made once
        for length, pieces in itertools.groupby(sorted(self.tokens, key=len, reverse=True), len):
            while longer and len(next(iter(longer))) > length:
                longer = {piece[:-1] for piece in longer}
                starts |= dict.fromkeys(longer, -1)
            longer.update(pieces)
        while longer := {piece[:-1] for piece in longer if len(piece) > 1}:
            starts |= dict.fromkeys(longer, -1)
        return {**starts, **self.tokens}

    def limited(self, step: int, first_steps: Sequence[int]) -> Self:
        """Return a view of the vocabulary with only the tokens in use at a step, for vocabularies without
        merges.

        It shares all tables.

        Args:
            step: The step.
            first_steps: The step at which each symbol comes into use, 0 for those in use from the start.
        """
        other = copy.copy(self)
        other.limit = step, first_steps
        return other

    def way(self, merges: int) -> EncodingWay | None:
        """Return the vocabulary's own way of encoding after a number of merges, or None to use that of the
        recipe."""
        return self.file.way

    def parts(self, symbol: int) -> tuple[int, ...]:
        """Return the symbols that a symbol is made of; empty if no merge makes it."""
        return self.merges[symbol - self.base_size] if symbol >= self.base_size else ()

    def made_at(self, symbol: int) -> int:
        """Return the number of the merge that makes a symbol, from 1; 0 if no merge makes it."""
        return max(0, symbol - self.base_size + 1)

    def made_by(self, step: int) -> int:
        """Return the symbol that a merge makes, by its number from 1."""
        return self.base_size + step - 1

    def is_present(self, symbol: int, merges: int) -> bool:
        """Return whether a symbol is in the vocabulary after a number of merges."""
        return self.made_at(symbol) <= merges

    def count_of(self, symbol: int) -> int:
        """Return the count that the pair of a symbol had when it was chosen. A merge must make the symbol."""
        return self.counts[symbol - self.base_size]

    def makings(self, merges: int) -> Iterable[tuple[int, tuple[int, ...]]]:
        """Yield (symbol, parts) of the first `merges` merges, in order."""
        return enumerate(self.merges[:merges], self.base_size)

    def encoded_by(self, encode: str) -> Self:
        """Return a copy of the vocabulary with another way of encoding, which shares all tables.

        Returns the vocabulary itself if it already encodes in this way.

        Args:
            encode: A value of the axis `encode`.

        Raises:
            TokentuiError: The value is unknown, or needs merges or probabilities that the vocabulary lacks.
        """
        way = ENCODING_WAYS.check(encode)
        if encode == self.recipe.encode:
            return self
        where = f"encode={encode}"
        if self.substitutes_bytes:
            raise TokentuiError("Gage's compression encodes by replacing pairs", where, "leave encode=merges")
        if self.eventful:
            what = "its tokens come and leave: it is encoded with its events, in their order"
            raise TokentuiError(what, where, "leave encode=merges")
        if way.needs == "scores" and not self.scores:
            raise TokentuiError("the vocabulary has no probabilities", where, "use another value of encode")
        if way.needs == "merges" and not self.merges and (self.imported or self.scores):
            raise TokentuiError("the vocabulary has no merges", where, "use another value of encode")
        other, file = copy.copy(self), self.file
        own = file.own or (self.recipe.encode, file.way)
        back = own[0] == encode
        other.recipe = self.recipe.with_axes(encode=encode)
        if self.imported:
            other.file = replace(
                file, recipe=other.recipe, way=own[1] if back else None, own=None if back else own
            )
        return other

    def symbols(self, merges: int) -> Sequence[int]:
        """Return the symbols after a number of merges."""
        symbols = range(self.base_size + merges)
        if self.limit is None:
            return symbols
        step, first_steps = self.limit
        return [symbol for symbol in symbols if first_steps[symbol] <= step]

    def add(self, left: int, right: int, count: int) -> int:
        """Append the merge of a pair. Return its symbol.

        A merge that spells a special token gets that token's id, as in Hugging Face's trainers.
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
            self.borrowed.add(symbol)
        self.order.append(self._next_id if special is None else special)
        self._next_id += special is None
        self.sizes.append(self.sizes[-1] + (special is None))
        return symbol

    def extend(self, pairs: Sequence[tuple[int, int]], counts: Sequence[int]) -> None:
        """Append merges of pairs, faster than `add` for each.

        No pair may spell a special token: this is not checked, and it would get an id of its own.
        """
        pieces, prefix, first = self.pieces, len(self.prefix), len(self.merges)
        pieces_append = pieces.append
        for left, right in pairs:
            pieces_append(pieces[left] + pieces[right][prefix:])
        self.merges.extend(pairs)
        self.counts.extend(counts)
        self.ranks.update(zip(pairs, range(first, first + len(pairs)), strict=True))
        size, number = self.sizes[-1] + 1, self._next_id
        self._next_id += len(pairs)
        self.order.extend(range(number, self._next_id))
        self.sizes.extend(range(size, size + len(pairs)))

    def truncated(self, merges: int) -> Vocabulary:
        """Return a vocabulary with only the first `merges` merges, for a run that continues differently.

        It shares nothing that grows: merges added to either are not in the other. A vocabulary that was read
        from a file cannot grow, and returns itself.
        """
        shorter = Vocabulary(self.recipe, self.pieces[: self.base_size], self.specials, self.first_id)
        for (left, right), count in zip(self.merges[:merges], self.counts, strict=False):
            shorter.add(left, right, count)
        return shorter

    def size(self, merges: int) -> int:
        """Return the number of ids after a number of merges, including specials and byte tokens."""
        lacking = 0 if self.limit is None else self.base_size - len(self.symbols(0))
        return self.sizes[merges] - lacking

    def ids(self, merges: int) -> Sequence[int]:
        """Return the id of each symbol after a number of merges. The sequence may continue with later
        symbols."""
        if not self.base_last:
            return self.order
        moved = self.sizes[merges] - self.sizes[0] - _AFTER_ALL_MERGES
        return [*(number + moved for number in self.order[: self.base_size]), *self.order[self.base_size :]]

    def id_of(self, symbol: int, merges: int) -> int:
        """Return the id of a symbol after a number of merges."""
        if self.base_last and symbol < self.base_size:
            return self.order[symbol] + self.sizes[merges] - self.sizes[0] - _AFTER_ALL_MERGES
        return self.order[symbol]

    def byte_id(self, value: int) -> int:
        """Return the id of the byte-fallback token of a byte."""
        return self.first_id + len(self.specials) + value

    def special_id(self, name: str) -> int:
        """Return the id of a special token.

        Raises:
            ValueError: There is no special token of this name.
        """
        return self.first_id + self.specials.index(name)

    def kind_of(self, symbol: int) -> str:
        """Return the kind of a symbol: `piece` of a model with probabilities, `unit` or `merge`."""
        return "piece" if self.scores else "unit" if symbol < self.base_size else "merge"

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None if no special is the unknown token."""
        return next((self.special_id(name) for name in self.specials if name in UNKNOWN_NAMES), None)

    def refusal(self, unit: bytes, where: str) -> TokentuiError:
        """Return, without raising it, the error for a text with an unknown unit that the recipe refuses."""
        what = f"{quoted(unit.decode('utf-8', 'surrogateescape'))} is not in the vocabulary"
        return TokentuiError(what, where, "use another value of the axis unknown")

    def symbols_by_id(self, merges: int) -> dict[int, int]:
        """Return the symbol of each id after a number of merges. Specials and byte tokens have no symbol."""
        symbols, ids, by_id = self.symbols(merges), self.ids(merges), dict[int, int]()
        for start in range(0, len(symbols), BLOCK):  # other threads come in between
            check()
            block = symbols[start : start + BLOCK]
            by_id.update(zip(map(ids.__getitem__, block), block, strict=True))
        return by_id

    # ---- marks: which tokens continue a word and which end one

    def unit_continues(self, unit: bytes) -> bool:
        """Return whether a unit carries the mark of a continuation."""
        return bool(self.prefix) and len(unit) > len(self.prefix) and unit.startswith(self.prefix)

    def unit_ends(self, unit: bytes) -> bool:
        """Return whether a unit carries the mark of a word's end, or is that mark."""
        if self._kind.at_end:
            return unit.endswith(self.mark) and len(unit) > len(self.mark)
        return self._kind.is_unit and unit == self.mark

    def mark_sizes(self, left: int, right: int | None = None) -> tuple[int, int]:
        """Return the numbers of bytes of a token's mark at its front and at its end.

        Args:
            left: The symbol, or the left symbol of a pair.
            right: The right symbol of the pair; None for a single symbol.
        """
        if not self.mark:
            return 0, 0
        base, last = self.base_size, left if right is None else right
        while left >= base:
            left = self.parts(left)[0]
        while last >= base:
            last = self.parts(last)[-1]
        continues, ends = self.unit_continues(self.pieces[left]), self.unit_ends(self.pieces[last])
        return continues * len(self.mark), ends * len(self.mark)

    def bare(self, unit: bytes) -> bytes:
        """Return a unit without its mark, unless it is only the mark."""
        if self.unit_continues(unit):
            return unit[len(self.mark) :]
        return unit[: -len(self.mark)] if self.unit_ends(unit) and unit != self.mark else unit
