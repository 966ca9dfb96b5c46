"""A tokenizer as writers see it, whatever it was made from: tokens, merges in their order, and the steps
before them.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.gage import GageVocabulary
from tokentui.encode.segment.merges import Merging
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.encode.vocabulary import Origin
from tokentui.formats.tokens import name_of
from tokentui.recipe import Recipe
from tokentui.text.split import SPLITS

_SPACED = re.compile(r"[ \n\r]")


class Unsupported(TokentuiError):
    """A format cannot hold a tokenizer: the file would encode otherwise."""


class Token(NamedTuple):
    """A token as a file lists it."""

    id: int
    name: str
    piece: bytes
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of a tokenizer that a file format cannot hold.

    Attributes:
        what: Its name, in a word or two.
        consequence: The consequence of the loss.
        example: An example, may be empty.
    """

    what: str
    consequence: str
    example: str = ""


@dataclass(slots=True)
class Fitted:
    """A tokenizer in the shape of a format, ready to be written.

    Attributes:
        recipe: Its recipe.
        tokens: The tokens in order of their ids, byte-fallback tokens too, and the specials where the format
            lists them so.
        rows: The merges by the names of (left, right, made), the first to be merged first.
        specials: The special tokens with their ids.
        metadata: All else that the file says, as a JSON object.
        losses: What the format cannot hold of this tokenizer, beyond what it never holds.
        excuses: Each returns whether a loss that is told makes a text differ.
        keeps_ids: Whether the tokens keep their ids.
        keeps_unknown: Whether unknown units become what they became.
    """

    recipe: Recipe
    tokens: list[Token] = field(default_factory=list)
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    specials: dict[str, int] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    excuses: list[Callable[[str], bool]] = field(default_factory=list)
    keeps_ids: bool = True
    keeps_unknown: bool = True

    def lose(
        self, what: str, consequence: str, example: str = "", excuses: Callable[[str], bool] | None = None
    ) -> None:
        """Note a loss, and what returns whether it makes a text differ."""
        self.losses.append(Loss(what, consequence, example))
        self.excuses += [excuses] if excuses else []

    def excused(self, text: str) -> bool:
        """Return whether a reported loss explains why a text differs, or the text cannot be encoded."""
        try:
            return any(one(text) for one in self.excuses)
        except TokentuiError:
            return True

    def lose_ids(self, ids: Mapping[str, int], before: Mapping[str, int]) -> None:
        """Note that tokens get other ids, with the first that changes."""
        name = next((name for name, number in ids.items() if before.get(name) != number), "")
        self.lose("ids", "tokens are numbered anew",
                  f"{name}: {before.get(name)} becomes {ids[name]}" if name else "")
        self.keeps_ids = False

    def number_anew(self, first: int = 0, specials: Mapping[str, int] | None = None) -> None:
        """Give the tokens their places in the list as ids, and note it where one changes.

        Args:
            first: The id of the first.
            specials: The ids that the special tokens had, where they have others now.
        """
        before = {token.name: token.id for token in self.tokens} | dict(specials or {})
        numbered = [token._replace(id=number) for number, token in enumerate(self.tokens, first)]
        if numbered != self.tokens or (specials is not None and specials != self.specials):
            ids = self.specials if specials is not None else {}
            self.lose_ids(ids | {token.name: token.id for token in numbered}, before)
            self.tokens = numbered

    def lose_unknown(self, becomes: str) -> None:
        """Note that unknown units become something else."""
        self.lose("unknown units", becomes)
        self.keeps_unknown = False


class Spec:
    """A tokenizer taken apart.

    Args:
        tokenizer: The tokenizer.

    Attributes:
        encoder: Encodes words by it.
        staged: Whether more is done to a text than the axes of the recipe say.
        specials: The special tokens with their ids.
        before, after: The special tokens around a text.
        way: The way of encoding as formats tell it; empty for a rule of its own.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.recipe = tokenizer.recipe
        self.vocabulary = vocabulary = tokenizer.vocabulary
        self.encoder = WordEncoder(vocabulary, tokenizer.merges)
        self.pretokenizer = self.encoder.pretokenizer
        self.staged = self.pretokenizer.beyond_axes
        self.specials = {name: vocabulary.special_id(name) for name in vocabulary.specials}
        self.before, self.after = self.encoder.around
        self.way = self.encoder.way.written
        if isinstance(vocabulary, GageVocabulary):
            self.way = "placeholders"

    @property
    def origin(self) -> Origin | None:
        """The file of another tool that the tokenizer was read from, or None."""
        return self.vocabulary.pipeline.origin

    def came_from(self, format: str) -> bool:
        """Return whether it was read from a file of this format, and is encoded as that says."""
        own_way = self.vocabulary.pipeline.own is None
        return self.origin is not None and self.origin.format == format and own_way

    @functools.cached_property
    def symbols(self) -> dict[int, int]:
        """The id of each symbol that is there at this number of merges."""
        vocabulary, merges = self.vocabulary, self.tokenizer.merges
        there = {*vocabulary.symbols_by_id(merges), *self.specials.values()}
        numbers = vocabulary.ids(merges)
        if vocabulary.eventful:
            return {symbol: numbers[symbol] for symbol in vocabulary.symbols(merges)}
        first = itertools.islice(numbers, vocabulary.base_size + merges)
        return {symbol: number for symbol, number in enumerate(first) if number in there}

    @functools.cached_property
    def entries(self) -> list[TokenEntry]:
        """The vocabulary in order of the ids."""
        return list(self.tokenizer.entries())

    @functools.cached_property
    def ordinary(self) -> list[TokenEntry]:
        """The vocabulary without its specials."""
        check()
        return [entry for entry in self.entries if entry.kind not in ("special", "unknown")]

    @functools.cached_property
    def unknown(self) -> str:
        """The name of the unknown token, empty for none."""
        number = self.vocabulary.unknown_id
        return next((name for name, one in self.specials.items() if one == number),
                    "") if number is not None else ""

    @functools.cached_property
    def pairs(self) -> list[tuple[int, int, int]]:
        """(left, right, made) of each pair that merges, as symbols, the first to be merged first.

        Of several that make one token those come first whose parts have the least ids, as converters order
        them.
        """
        segmenter = self.encoder.segmenter
        if not isinstance(segmenter, Merging):
            return []
        order = self.vocabulary.order
        ranked = sorted((rank, order[left], order[right], left, right, made)
                        for left, right, rank, made in segmenter.pairs())
        return [row[3:] for row in ranked]

    @functools.cached_property
    def rows(self) -> list[tuple[bytes, bytes, bytes]]:
        """(left, right, made) of each pair that merges, as exact bytes."""
        pieces = self.vocabulary.pieces
        return [(pieces[left], pieces[right], pieces[made]) for left, right, made in self.pairs]

    @functools.cached_property
    def merges(self) -> list[tuple[bytes, bytes, bytes]]:
        """(left, right, made) of the first merge that makes each token, in order; the parts are earlier
        tokens.
        """
        pieces, base = self.vocabulary.pieces, self.vocabulary.base_size
        pairs = self.vocabulary.merges[: self.tokenizer.merges]
        return [(pieces[left], pieces[right], pieces[base + n]) for n, (left, right) in enumerate(pairs)]

    @functools.cached_property
    def whole(self) -> bool:
        """Return whether a word that is a token is that token, whatever the merges say."""
        segmenter = self.encoder.segmenter
        words = segmenter.whole_words() if isinstance(segmenter, Merging) else ()
        return any(True for _ in words)

    def tokens(self, byte_level: bool) -> list[Token]:
        """Return the ordinary tokens, each by its name."""
        return [Token(one.id, name_of(one.piece, byte_level), one.piece, one.score) for one in self.ordinary]


def merge_rows(
    merges: Iterable[tuple[bytes, bytes, bytes]], named: Callable[[bytes], str], hint: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Return merges as lines of two names with a space between them.

    Args:
        merges: The (left, right, made) of each, as exact bytes.
        named: Returns the name of a token.
        hint: What would help against white space.

    Raises:
        Unsupported: A name cannot stand in such a line.
    """
    for merge in merges:
        left, right, made = map(named, merge)
        if any(_SPACED.search(name) or not name for name in (left, right, made)):
            what = f"a merge with white space in it: {left[:40]!r} {right[:40]!r}"
            raise Unsupported(what, "", f"a line is two tokens with a space between them{hint}")
        yield left, right, made


def json_bytes(document: object) -> bytes:
    """Return a JSON document as other tools write it."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode(
        "utf-8", "surrogatepass"
    )


def pattern_of(recipe: Recipe) -> str:
    """Return a split as a pattern whose matches are the words, for Python's `regex` and Rust's `fancy-regex`.

    Raises:
        Unsupported: A pattern alone does not do it.
    """
    if recipe.split in SPLITS and not SPLITS[recipe.split].is_pattern:
        raise Unsupported(f"split={recipe.split} is more than a pattern", "", "the format holds a pattern")
    own = recipe.split.startswith("regex:")
    return recipe.split.removeprefix("regex:") if own else SPLITS[recipe.split].pattern


def split_of(pattern: str) -> str:
    """Return the value of the axis `split` for a pattern; the opposite of `pattern_of`."""
    return next((name for name, entry in SPLITS.items() if entry.pattern == pattern), f"regex:{pattern}")
