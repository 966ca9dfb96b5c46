"""What a writer sees of a tokenizer, whoever made it: its tokens, its merges in their order, and what is done to a text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.encode.imported import ImportedVocabulary, Origin
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment.longest import LongestMatch
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.ranked import JoinedMerging, PairMerging
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.formats.letters import letters
from tokentui.formats.report import Loss
from tokentui.text.patience import check
from tokentui.text.pretokenize import Pretokenizer

WAYS = (("merges", Merging | PairMerging), ("ranks", JoinedMerging), ("viterbi", Viterbi), ("longest match", LongestMatch))
"""The ways of encoding that files tell apart, and what encodes so."""


class Refused(TokentuiError):
    """A format cannot hold a tokenizer: what would be written encodes otherwise."""


class Token(NamedTuple):
    """A token as a file lists it."""

    id: int
    name: str
    piece: bytes
    score: float | None = None


@dataclass(slots=True)
class Table:
    """A file of another tool, taken apart.

    Attributes:
        recipe: What the axes can say of it.
        tokens: The tokens in order of their ids, byte-fallback tokens too, and the specials where the format lists them so.
        rows: The merges by the names of (left, right, made), the first to be merged first.
        specials: The special tokens with their ids.
        said: All else, as a JSON object.
    """

    recipe: Any
    tokens: list[Token]
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    specials: dict[str, int] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Fit:
    """A tokenizer brought into the shape of a format.

    Attributes:
        table: What is written.
        losses: What the format cannot hold, beside what it never holds.
        excused: Whether a loss that is told makes a text differ.
        keeps_ids: Whether the tokens keep their ids.
        keeps_unknown: Whether unknown units become what they became.
    """

    table: Table
    losses: list[Loss] = field(default_factory=list)
    excused: Callable[[str], bool] = lambda text: False
    keeps_ids: bool = True
    keeps_unknown: bool = True


class Body:
    """A tokenizer taken apart.

    Args:
        tokenizer: The tokenizer.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.recipe = tokenizer.recipe
        self.vocabulary = vocabulary = tokenizer.vocabulary
        self.encoder = WordEncoder(vocabulary, tokenizer.merges)
        self.pretokenizer = self.encoder.pretokenizer
        from tokentui.formats.clip_words import ClipWords  # which knows this module

        self.staged = type(self.pretokenizer) not in (Pretokenizer, ClipWords)
        """Whether more is done to a text than the axes say."""
        self.specials = {name: vocabulary.special_id(name) for name in vocabulary.specials}
        self.before, self.after = self.encoder.around
        self.way = next((name for name, kind in WAYS if isinstance(self.encoder.segmenter, kind)), "")
        if self.recipe.objective == "gage":
            self.way = "placeholders"

    @property
    def origin(self) -> Origin | None:
        """What its file said, where it was read from one."""
        return self.vocabulary.pipeline.origin if isinstance(self.vocabulary, ImportedVocabulary) else None

    def came_from(self, format: str) -> bool:
        """Whether it was read from a file of this format."""
        return self.origin is not None and self.origin.format == format

    @functools.cached_property
    def symbols(self) -> dict[int, int]:
        """The id of each symbol that is there at this number of merges."""
        vocabulary, merges = self.vocabulary, self.tokenizer.merges
        there = {*vocabulary.symbols_by_id(merges), *self.specials.values()}
        ids = {symbol: vocabulary.id_of(symbol, merges) for symbol in range(vocabulary.base_size + merges)}
        return {symbol: number for symbol, number in ids.items() if number in there}

    @functools.cached_property
    def entries(self) -> list[Entry]:
        """The vocabulary in order of the ids."""
        return list(self.tokenizer.entries())

    @functools.cached_property
    def ordinary(self) -> list[Entry]:
        """The vocabulary without its specials."""
        check()
        return [entry for entry in self.entries if entry.kind not in ("special", "unknown")]

    @functools.cached_property
    def unknown(self) -> str:
        """The name of the unknown token, empty for none."""
        number = self.vocabulary.unknown_id
        return next((name for name, one in self.specials.items() if one == number), "") if number is not None else ""

    @functools.cached_property
    def pairs(self) -> list[tuple[int, int, int]]:
        """(left, right, made) of each pair that merges, as symbols, the first to be merged first.

        Of several that make one token those come first whose parts have the least ids, as converters order them.
        """
        segmenter = self.encoder.segmenter
        if not isinstance(segmenter, Merging | PairMerging | JoinedMerging):
            return []
        order = self.vocabulary.order_of
        ranked = sorted((rank, order(left), order(right), left, right, made) for left, right, rank, made in segmenter.pairs())
        return [row[3:] for row in ranked]

    @functools.cached_property
    def rows(self) -> list[tuple[bytes, bytes, bytes]]:
        """(left, right, made) of each pair that merges, as exact bytes."""
        pieces = self.vocabulary.pieces
        return [(pieces[left], pieces[right], pieces[made]) for left, right, made in self.pairs]

    @functools.cached_property
    def births(self) -> list[tuple[bytes, bytes, bytes]]:
        """(left, right, made) of the birth of each token, in order; of two earlier tokens each."""
        pieces, base = self.vocabulary.pieces, self.vocabulary.base_size
        pairs = self.vocabulary.merges[: self.tokenizer.merges]
        return [(pieces[left], pieces[right], pieces[base + n]) for n, (left, right) in enumerate(pairs)]

    @functools.cached_property
    def whole(self) -> bool:
        """Whether a word that is a token is that token, whatever the merges say."""
        segmenter = self.encoder.segmenter
        words = segmenter.whole_words() if isinstance(segmenter, PairMerging | JoinedMerging) else ()
        return any(True for _ in words)

    @property
    def policy(self) -> str:
        """What becomes of a unit that the vocabulary lacks."""
        return self.recipe.unknown

    def needs(self, *ways: str) -> None:
        """Refuse a way of encoding that a format does not know.

        Raises:
            Refused: It is none of these.
        """
        if self.way not in ways:
            raise Refused(f"it is encoded by {self.way or 'a rule of its own'}", "", f"this format: {' or '.join(ways)}")


def spelled(piece: bytes, byte_level: bool) -> str:
    """The name of a token: letters for its bytes, or its text."""
    return letters(piece) if byte_level else piece.decode("utf-8", "surrogateescape")


def contiguous(ids: Sequence[int], first: int = 0) -> bool:
    """Whether ids go up by one from the first."""
    return list(ids) == list(range(first, first + len(ids)))


def numbered(names: Mapping[str, int], specials: Mapping[str, int]) -> Loss:
    """The loss of ids, with the first that changes."""
    name = next((name for name, number in names.items() if specials.get(name) != number), "")
    example = f"{name}: {specials.get(name)} becomes {names[name]}" if name else ""
    return Loss("ids", "tokens are numbered anew", example)
