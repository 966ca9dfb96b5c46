"""A tokenizer as writers see it, whatever its origin: tokens, merges in order, and the steps before them."""

from __future__ import annotations

import base64
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
from tokentui.formats.tokens import name_of
from tokentui.recipe import Recipe
from tokentui.text.split import SPLITS

_SPACED = re.compile(r"[ \n\r]")


class Unsupported(TokentuiError):
    """A format cannot represent a tokenizer: the file would encode differently."""


class FileToken(NamedTuple):
    """A token as in a file."""

    id: int
    name: str
    piece: bytes
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of a tokenizer that a file format cannot represent.

    Attributes:
        what: Its name.
        consequence: The consequence of the loss.
        example: An example; may be empty.
    """

    what: str
    consequence: str
    example: str = ""


@dataclass(slots=True)
class Fitted:
    """A tokenizer in the structure of a format, ready to write.

    Attributes:
        recipe: Its recipe.
        tokens: The tokens by id, with byte-fallback tokens, and with the specials if the format lists them
            too.
        rows: The merges as names (left, right, result), by rank.
        specials: The special tokens with their ids.
        metadata: All other content of the file, as a JSON object.
        losses: What the format cannot represent of this tokenizer, besides what it never can.
        excuses: Functions that return True if a reported loss explains why a text differs.
        keeps_ids: True if the tokens keep their ids.
        keeps_unknown: True if unknown units are treated as before.
    """

    recipe: Recipe
    tokens: list[FileToken] = field(default_factory=list)
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
        """Record a loss.

        Args:
            what: See `Loss`.
            consequence: See `Loss`.
            example: See `Loss`.
            excuses: Returns True if the loss explains why a text differs; None if it changes no text.
        """
        self.losses.append(Loss(what, consequence, example))
        self.excuses += [excuses] if excuses else []

    def excused(self, text: str) -> bool:
        """Return whether a reported loss explains why a text differs, or the text cannot be encoded."""
        try:
            return any(explains(text) for explains in self.excuses)
        except TokentuiError:
            return True

    def lose_ids(self, ids: Mapping[str, int], before: Mapping[str, int]) -> None:
        """Record as a loss that tokens get other ids, with the first one that changes. Sets `keeps_ids` to
        False.

        Args:
            ids: The new ids by name.
            before: The old ids by name.
        """
        name = next((name for name, number in ids.items() if before.get(name) != number), "")
        self.lose("ids", "tokens are renumbered",
                  f"{name}: {before.get(name)} becomes {ids[name]}" if name else "")
        self.keeps_ids = False

    def renumber(self, first: int = 0, specials: Mapping[str, int] | None = None) -> None:
        """Set the id of each token to `first` plus its index in the list, and record a loss if an id changes.

        Args:
            first: The id of the first token.
            specials: The old ids of the special tokens, if they change; else None.
        """
        before = {token.name: token.id for token in self.tokens} | dict(specials or {})
        numbered = [token._replace(id=number) for number, token in enumerate(self.tokens, first)]
        if numbered != self.tokens or (specials is not None and specials != self.specials):
            ids = self.specials if specials is not None else {}
            self.lose_ids(ids | {token.name: token.id for token in numbered}, before)
            self.tokens = numbered

    def lose_unknown(self, becomes: str) -> None:
        """Record as a loss that unknown units are treated differently. Sets `keeps_unknown` to False."""
        self.lose("unknown units", becomes)
        self.keeps_unknown = False


class Spec:
    """The parts of a tokenizer that files contain.

    Args:
        tokenizer: The tokenizer.

    Attributes:
        file: The file of another tool that it was read from; of no format for all others.
        encoder: Its encoder.
        staged: True if its steps do more than the axes of the recipe describe.
        specials: The special tokens with their ids.
        before, after: The special tokens around a text.
        way: The way of encoding by `EncodingWay.written`; empty for one that no format has.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.recipe = tokenizer.recipe
        self.vocabulary = vocabulary = tokenizer.vocabulary
        self.file = vocabulary.file
        self.encoder = WordEncoder(vocabulary, tokenizer.merges)
        self.pretokenizer = self.encoder.pretokenizer
        self.staged = self.pretokenizer.beyond_axes
        self.specials = {name: vocabulary.special_id(name) for name in vocabulary.specials}
        self.before, self.after = self.encoder.around
        self.way = self.encoder.way.written
        if isinstance(vocabulary, GageVocabulary):
            self.way = "placeholders"

    def came_from(self, format: str) -> bool:
        """Return whether the tokenizer was read from a file of this format, and encodes as that file says."""
        return self.file.format == format and self.file.own is None

    @functools.cached_property
    def symbols(self) -> dict[int, int]:
        """The id of each symbol in use at this number of merges."""
        vocabulary, merges = self.vocabulary, self.tokenizer.merges
        present = {*vocabulary.symbols_by_id(merges), *self.specials.values()}
        numbers = vocabulary.ids(merges)
        if vocabulary.eventful:
            return {symbol: numbers[symbol] for symbol in vocabulary.symbols(merges)}
        first = itertools.islice(numbers, vocabulary.base_size + merges)
        return {symbol: number for symbol, number in enumerate(first) if number in present}

    @functools.cached_property
    def entries(self) -> list[TokenEntry]:
        """The entries of the vocabulary by id."""
        return list(self.tokenizer.entries())

    @functools.cached_property
    def ordinary(self) -> list[TokenEntry]:
        """The entries of the vocabulary without specials."""
        check()
        return [entry for entry in self.entries if entry.kind not in ("special", "unknown")]

    @functools.cached_property
    def unknown(self) -> str:
        """The name of the unknown token; empty for none."""
        number = self.vocabulary.unknown_id
        return next((name for name, token_id in self.specials.items() if token_id == number),
                    "") if number is not None else ""

    @functools.cached_property
    def pairs(self) -> list[tuple[int, int, int]]:
        """(left, right, result) of each pair that merges, as symbols, by rank.

        Of several pairs for one token, those whose parts have the smallest ids come first, as converters
        order them.
        """
        segmenter = self.encoder.segmenter
        if not isinstance(segmenter, Merging):
            return []
        order = self.vocabulary.order
        ranked = sorted((rank, order[left], order[right], left, right, result)
                        for left, right, rank, result in segmenter.pairs())
        return [row[3:] for row in ranked]

    @functools.cached_property
    def rows(self) -> list[tuple[bytes, bytes, bytes]]:
        """(left, right, result) of each pair that merges, as exact bytes."""
        pieces = self.vocabulary.pieces
        return [(pieces[left], pieces[right], pieces[result]) for left, right, result in self.pairs]

    @functools.cached_property
    def merges(self) -> list[tuple[bytes, ...]]:
        """The parts and the result of the first merge that makes each token, in order. The parts are earlier
        tokens: two, or more if the vocabulary has events."""
        pieces, makings = self.vocabulary.pieces, self.vocabulary.makings(self.tokenizer.merges)
        return [(*(pieces[part] for part in parts), pieces[symbol]) for symbol, parts in makings]

    @functools.cached_property
    def whole(self) -> bool:
        """True if a word that is a token becomes that token without merging."""
        segmenter = self.encoder.segmenter
        words = segmenter.whole_words() if isinstance(segmenter, Merging) else ()
        return any(True for _ in words)

    def tokens(self, byte_level: bool) -> list[FileToken]:
        """Return the ordinary tokens with their names.

        Args:
            byte_level: True for names in byte letters.
        """
        return [
            FileToken(entry.id, name_of(entry.piece, byte_level), entry.piece, entry.score)
            for entry in self.ordinary
        ]


def merge_rows(
    merges: Iterable[tuple[bytes, ...]], named: Callable[[bytes], str], hint: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Yield merges as names (left, right, result) for lines with a space between names.

    Args:
        merges: (left, right, result) of each, as exact bytes.
        named: Returns the name of a token.
        hint: The hint of the error for whitespace in a name.

    Raises:
        Unsupported: A name contains whitespace.
    """
    for merge in merges:
        left, right, result = map(named, merge)
        if any(_SPACED.search(name) or not name for name in (left, right, result)):
            what = f"a merge with whitespace: {left[:40]!r} {right[:40]!r}"
            raise Unsupported(what, "", f"a line is two tokens with a space between them{hint}")
        yield left, right, result


def json_bytes(document: object) -> bytes:
    """Return a JSON document in the layout of other tools."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode(
        "utf-8", "surrogatepass"
    )


def packed(data: bytes) -> object:
    """Return the content of a file as a JSON value: that of a JSON object, the text, or bytes in base64."""
    try:
        text = data.decode("utf-8", "surrogatepass")
        return json.loads(text) if text.startswith("{") else text
    except ValueError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def digest_of(tokens: Iterable[tuple[int, bytes]]) -> str:
    """Return the digest of tokens as (id, bytes), in the order given."""
    import hashlib  # only writing needs it

    lines = "".join(f"{number} {piece.hex()}\n" for number, piece in tokens)
    return hashlib.sha256(lines.encode()).hexdigest()


def pattern_of(recipe: Recipe) -> str:
    """Return a pattern whose matches are the words of a split, for Python's `regex` and Rust's `fancy-regex`.

    Raises:
        Unsupported: No pattern alone has these words.
    """
    if recipe.split in SPLITS and not SPLITS[recipe.split].is_pattern:
        raise Unsupported(f"split={recipe.split} is more than a pattern", "", "the format stores one pattern")
    own = recipe.split.startswith("regex:")
    return recipe.split.removeprefix("regex:") if own else SPLITS[recipe.split].pattern


def split_of(pattern: str) -> str:
    """Return the value of the axis `split` for a pattern: a named split with this pattern, else `regex:`."""
    return next((name for name, entry in SPLITS.items() if entry.pattern == pattern), f"regex:{pattern}")
