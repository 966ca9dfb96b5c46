"""Text to ids: pre-tokens, parts, what becomes of unknown ones, ids and places.

For ids alone a word is looked up, not placed, and large texts go through kernels where they are loaded.
"""

from __future__ import annotations

import copy
import itertools
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from tokentui.core import native
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.encode.pipeline import cut_at_names, may_hold
from tokentui.encode.segment import UNKNOWN, WAYS, EncodingWay, Follower, Part, Refused, Segmenter
from tokentui.encode.segment.merges import Merging
from tokentui.encode.vocabulary import NO_ID, UNKNOWN_NAMES, Special, Stretch, Vocabulary, byte_token, quoted
from tokentui.text.count import chunks
from tokentui.text.pretokenize import PreToken, Pretokenizer

if TYPE_CHECKING:
    from tokentui.encode.kernels.encode import Compiled

_BEGIN, _END = ("[CLS]", "<s>"), ("[SEP]", "</s>")
_WORDS_KEPT = 65_536
_LONGEST_KEPT = 256
_CHECK_EVERY = 1024
KERNEL_CHARS = 4096
"""Shorter texts are encoded before the kernels have their tables."""


class EncodedToken(NamedTuple):
    """A token of a text.

    Attributes:
        id: Its id; None for what has none.
        text: The token for people: bytes decoded, marks included; specials and the unknown token by name.
        piece: Its exact bytes, marks included; None for an unknown, the name's bytes for specials and
            `<0x41>`.
        start: The character of the text as typed that it starts with.
        end: The character that it ends before.
        word: The number of its pre-token, -1 for a special token.
    """

    id: int | None
    text: str
    piece: bytes | None
    start: int
    end: int
    word: int


@dataclass(frozen=True, slots=True)
class Encoding:
    """A text as tokens. Everything but `text` and `unknown` has one value a token.

    Attributes:
        text: The text as typed.
        ids: The ids; None for what has none.
        tokens: The tokens for people: bytes decoded, marks included; specials and the unknown token by name.
        pieces: The exact bytes, marks included; None for an unknown, the name's bytes for specials and
            `<0x41>`.
        offsets: Half-open ranges in characters of the text as typed.
        words: The index of the pre-token that each belongs to, -1 for a special token.
        unknown: The places of the tokens that became the unknown token or stand without an id.

    >>> import tokentui
    >>> gpt2 = tokentui.train("sample:hugs", "gpt2", merges=6)
    >>> encoding = gpt2.encode("hugs pugs")
    >>> encoding.ids, encoding.tokens
    ((258, 82, 261), ('hug', 's', ' pugs'))
    >>> encoding.offsets
    ((0, 3), (3, 4), (4, 9))
    >>> bert = tokentui.train("sample:hugs", "bert", merges=8)
    >>> encoding = bert.encode("Hugs!")  # no text of the corpus had an exclamation mark
    >>> encoding.ids, encoding.tokens, encoding.unknown
    ((15, 6, None), ('hug', '##s', '<unk>'), (2,))
    """

    text: str
    ids: tuple[int | None, ...]
    tokens: tuple[str, ...]
    pieces: tuple[bytes | None, ...]
    offsets: tuple[tuple[int, int], ...]
    words: tuple[int, ...]
    unknown: tuple[int, ...]

    @classmethod
    def of(cls, text: str, rows: Sequence[EncodedToken]) -> Encoding:
        """The encoding of a text by its tokens."""
        unknown = tuple([n for n, row in enumerate(rows) if row.id is None or row.piece is None])
        ids, tokens, pieces, starts, ends, words = zip(*rows, strict=True) if rows else ((),) * 6
        return cls(text, ids, tokens, pieces, tuple(zip(starts, ends, strict=True)), words, unknown)

    @property
    def rows(self) -> tuple[EncodedToken, ...]:
        """The tokens one by one."""
        starts, ends = zip(*self.offsets, strict=True) if self.offsets else ((), ())
        return tuple(map(EncodedToken, self.ids, self.tokens, self.pieces, starts, ends, self.words))

    @property
    def hex(self) -> tuple[str | None, ...]:
        """The exact bytes in lower-case hex, None for an unknown."""
        return tuple(None if piece is None else piece.hex() for piece in self.pieces)

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.ids)


class Token(NamedTuple):
    """A token inside a word: units `start` to `end`. What the vocabulary has no piece for has no symbol."""

    id: int | None
    text: str
    piece: bytes | None
    start: int
    end: int
    unknown: bool
    symbol: int | None = None


class WordEncoder:
    """Encodes words by one vocabulary at one number of merges, and remembers them.

    Args:
        vocabulary: The vocabulary; it may have grown past `merges`.
        merges: How many of its merges count.
        pretokenizer: One of the same recipe, made here where none is given.
        way: Another way of encoding than the vocabulary's own.

    Raises:
        TokentuiError: There is no such way of encoding, or none reads such a vocabulary.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, pretokenizer: Pretokenizer | None = None,
        way: EncodingWay | None = None,
    ) -> None:
        recipe = vocabulary.recipe
        if not vocabulary.encodes:
            raise TokentuiError("no way of encoding reads a vocabulary whose symbols leave", recipe.objective)
        self.vocabulary = vocabulary
        self.merges = merges
        own = vocabulary.pipeline
        self.pretokenizer = pretokenizer or own.pretokenizer or Pretokenizer(recipe)
        self.way = way or own.way or WAYS.of(recipe.encode)
        self.segmenter = self.way.segmenter(vocabulary, merges)
        if vocabulary.limit is not None:
            self.segmenter = self.segmenter.with_limit(*vocabulary.limit)
        self._stretches, self._bare = own.stretches, own.bare
        self.around = own.around or (_first(_BEGIN, vocabulary), _first(_END, vocabulary))
        """The special tokens before and after a text, where they are asked for."""
        self._unknown = UNKNOWN.of(own.unknown or recipe.unknown)
        self._said = UNKNOWN.of(recipe.unknown)
        self._compiled: Compiled | None = None
        self._words: dict[str, tuple[Token, ...]] = {}
        self._specials = tuple([
            name for name in vocabulary.specials if vocabulary.imported or name not in recipe.symbols
        ])
        """The specials that a text may hold by name, where the caller allows it.

        Symbols are not among them: they are words of the text.
        """

    def word(self, word: str, parts: list[Part] | None = None) -> tuple[Token, ...]:
        """The tokens of a pre-token. An unknown one that the recipe refuses is among them.

        Args:
            word: The pre-token.
            parts: Its parts, where it has others in its text than alone.
        """
        tokens = self._words.get(word) if parts is None else None
        if tokens is None and word in self.pretokenizer.symbols:
            return (Token(self.vocabulary.special_id(word), word, word.encode(), 0, 1, False),)
        if tokens is None:
            units, pieces = self.pretokenizer.units(word), self.vocabulary.pieces
            if parts is None:
                found = self.parts(units, len(word))
            else:
                found = self.treated(parts, units, self.kept(units))
            tokens = tuple([
                self._lacking(part, units)
                if part.symbol is None
                else Token(
                    self.vocabulary.id_of(part.symbol, self.merges),
                    pieces[part.symbol].decode("utf-8", "replace"),
                    pieces[part.symbol], part.start, part.end, False, part.symbol,
                )
                for part in found
            ])
            if parts is None and len(word) <= _LONGEST_KEPT:
                if len(self._words) >= _WORDS_KEPT:
                    self._words.clear()
                self._words[word] = tokens
        return tokens

    def encode(
        self, text: str | bytes, *, allow_special: bool = False, special_tokens: bool = False
    ) -> Encoding:
        """Encode a text. Progress of the job is told in words.

        Args:
            text: The text; bytes that are not UTF-8 are kept where the unit is the byte.
            allow_special: Text that spells a special token becomes its id (the longest first), else it is
            plain text.
            special_tokens: Add the specials that begin and end a text, where there are (`[CLS]` `[SEP]`,
                `<s>` `</s>`).

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`; it names the unit and
            its place.
            Cancelled: The job is cancelled.
        """
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        check()  # a text may be empty, or names alone
        before, after = self.around if special_tokens else ((), ())
        rows, count = [self._special(name, 0, 0) for name in before], 0
        for part in self.stretches(text, allow_special):
            if isinstance(part, Special):
                rows.append(self._special(part.name, part.start, part.end))
            else:
                rows += self.rows(part, count)
                count += len(part)
        return Encoding.of(text, [*rows, *(self._special(name, len(text), len(text)) for name in after)])

    def _special(self, name: str, start: int, end: int) -> EncodedToken:
        number = self.vocabulary.special_id(name)
        return EncodedToken(number, name, name.encode("utf-8", "surrogatepass"), start, end, -1)

    def rows(
        self, words: Sequence[PreToken], first: int = 0, starts: Sequence[int] | None = None
    ) -> Iterator[EncodedToken]:
        """The tokens of words that stand one after the other. A segmenter may look at the words before one.

        Args:
            words: The pre-tokens.
            first: The number of the first word.
            starts: Where they stand, if that is not where they say.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`.
        """
        symbols, follower = self.pretokenizer.symbols, None
        if self.way.scope == "document":
            follower = cast("Follower", self.segmenter).follower(self._kept_units)
        for n, pretoken in enumerate(words):
            if n % _CHECK_EVERY == 0:  # a short text may be one of many, which have a progress of their own
                tick(n, len(words)) if len(words) > _CHECK_EVERY else check()
            parts = follower(pretoken.text) if follower and pretoken.text not in symbols else None
            tokens = self.word(pretoken.text, parts)
            at, spans = pretoken.start if starts is None else starts[n], pretoken.unit_spans
            for token in tokens:
                if token.unknown and self._said.refused:
                    raise self.refusal(pretoken.moved(at - pretoken.start), token)
                start, end = at + spans[token.start][0], at + spans[token.end - 1][1]
                yield EncodedToken(token.id, token.text, token.piece, start, end, first + n)

    def ids(
        self, text: str | bytes, *, special_tokens: bool = False, allow_special: bool = False,
        threads: int | None = None,
    ) -> array[int]:
        """The ids of a text, those of `encode`; `NO_ID` for a token that has none.

        Args:
            text: The text; bytes are taken as `encode` takes them.
            special_tokens, allow_special: As for `encode`.
            threads: How many threads the kernels use; by default as the text and the machine have it.

        Returns:
            32-bit numbers where that does for all, else 64-bit ones.

        Raises:
            TokentuiError, Cancelled: As `encode` does.
        """
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        found = self._bare_stretches(text, allow_special)
        if found is not None:
            special_id = self.vocabulary.special_id
            before, after = self.around if special_tokens else ((), ())
            try:
                ids = _packed(map(special_id, before))
                for part in found:
                    if isinstance(part, Special):
                        more = _packed([special_id(part.name)])
                    else:
                        more = self._ids(part, threads)
                    ids = _joined(ids, more)
                return _joined(ids, _packed(map(special_id, after)))
            except Refused:
                pass  # who encodes it with its places says where it stands
        encoding = self.encode(text, allow_special=allow_special, special_tokens=special_tokens)
        return _packed(NO_ID if number is None else number for number in encoding.ids)

    def _ids(self, part: str | list[str], threads: int | None) -> array[int]:
        """The ids of a text that the recipe alone cuts into words, or of words."""
        if isinstance(part, str) and len(part) >= KERNEL_CHARS and native.available():
            with native.rescued():
                if self._compiled is None:
                    from tokentui.encode.kernels.encode import Compiled  # not worth it for what is typed

                    self._compiled = Compiled(
                        self.vocabulary, self.merges, self.pretokenizer,
                        self.segmenter if self.way.kernel else None, self.word_ids,
                    )
                if self._compiled.knows:
                    return self._compiled.encode(part, threads)
        words = self._words_of(part) if isinstance(part, str) else part
        return _packed(number for word in words for number in self.word_ids(word))

    def _words_of(self, text: str) -> Iterator[str]:
        done = 0
        for part, first in chunks([text], self.pretokenizer):
            tick(done, len(text))
            yield from self.pretokenizer.words(part, first=first)
            done += len(part)

    def word_ids(self, word: str) -> list[int]:
        """The ids of a word.

        Raises:
            Refused: One of its units is unknown and the recipe refuses it.
        """
        tokens = self.word(word)
        if self._said.refused and any(token.unknown for token in tokens):
            raise Refused("an unknown unit", quoted(word))
        return [NO_ID if token.id is None else token.id for token in tokens]

    def after(self, merges: int) -> WordEncoder:
        """The same after another number of merges. What is known of words to which that makes no difference
        is kept."""
        vocabulary = self.vocabulary
        if type(self.segmenter) is not Merging or type(vocabulary) is not Vocabulary or vocabulary.base_last:
            return WordEncoder(vocabulary, merges, self.pretokenizer)
        other = copy.copy(self)
        other.merges, other.segmenter, other._compiled = merges, self.segmenter.with_limit(merges, ()), None
        other._words, made, ranks = {}, vocabulary.base_size + merges, vocabulary.ranks
        for word, tokens in self._words.items():
            symbols = [made if token.symbol is None else token.symbol for token in tokens]
            # kept if all of its symbols are made by now and none of their pairs merges
            if max(symbols, default=0) < made and all(
                ranks.get(pair, merges) >= merges for pair in itertools.pairwise(symbols)
            ):
                other._words[word] = tokens
        return other

    def stretches(self, text: str, allow_special: bool) -> Iterator[Stretch]:
        """The special tokens that stand in a text by their names, and the pre-tokens between them."""
        if self._stretches is not None:
            yield from self._stretches(text, allow_special)
            return
        for start, stretch in cut_at_names(text, self._specials if allow_special else ()):
            if isinstance(stretch, Special):
                yield stretch
            else:
                pretokens = self.pretokenizer.analyse(stretch).pretokens
                yield [pretoken.moved(start) for pretoken in pretokens] if start else pretokens

    def alike(self, text: str) -> bool:
        """True if the recipe alone says how a text is cut into words, and no token stands in it by its name.
        """
        if type(self.pretokenizer) is not Pretokenizer:
            return False
        return self._stretches is None or not may_hold(text, self._specials)

    def _bare_stretches(self, text: str, allow_special: bool) -> Iterable[Special | str | list[str]] | None:
        """As `stretches`, for ids alone: texts that the recipe alone cuts, or words, without places.

        Returns:
            None where the places are wanted.
        """
        if self.way.scope != "word":
            return None
        if not self.alike(text):
            if self._stretches is not None:
                return None if self._bare is None else self._bare(text, allow_special)
            return None if allow_special else [self.pretokenizer.words(text)] if text else []
        names = self._specials if allow_special and self._stretches is None else ()
        return [part for _, part in cut_at_names(text, names)]

    def parts(self, units: list[bytes], characters: int, segmenter: Segmenter | None = None) -> list[Part]:
        """The parts of a word's units by the way of encoding, or by another one, and the policy for unknown
        ones."""
        segmenter = segmenter or self.segmenter
        if not (self._said.drops or self._unknown.policy):
            return segmenter.segment(units, characters)
        kept = self.kept(units)
        return self.treated(segmenter.segment([units[at] for at in kept], characters), units, kept)

    def treated(self, parts: list[Part], units: Sequence[bytes], kept: Sequence[int]) -> list[Part]:
        """The parts of the units that take part, after the policy for unknown ones; places are of all units.
        """
        if len(kept) < len(units):
            parts = [part._replace(start=kept[part.start], end=kept[part.end - 1] + 1) for part in parts]
        policy = self._unknown.policy
        return parts if policy is None else policy(parts, units, self.vocabulary.bare)

    def kept(self, units: Sequence[bytes]) -> Sequence[int]:
        """The units that take part: with `drop` unknown ones go first, so that their neighbours meet."""
        if not self._said.drops:
            return range(len(units))
        known = self.vocabulary.known_units(self.merges)
        return [at for at, unit in enumerate(units) if unit in known]

    def _kept_units(self, word: str) -> list[bytes]:
        units = self.pretokenizer.units(word)
        return [units[at] for at in self.kept(units)]

    def refusal(self, pretoken: PreToken, token: Token) -> TokentuiError:
        """Why a text cannot be encoded: the unit named, and where it stands."""
        units = self.pretokenizer.units(pretoken.text)
        where = f"offset {pretoken.start + pretoken.unit_spans[token.start][0]}"
        way = self.way
        if way.gives_up(pretoken.text):
            what = f"{way.name.replace('-', ' ')} gives up a word of more than {way.most} characters"
            return TokentuiError(f"{what}: {quoted(pretoken.text)}", where, "take encode=merges")
        return self.vocabulary.refusal(units[token.start], where)

    def _lacking(self, part: Part, units: list[bytes]) -> Token:
        """The token of a part that is none of the vocabulary: a byte of it, or what is unknown."""
        vocabulary = self.vocabulary
        if part.byte is not None:
            name = byte_token(part.byte)
            return Token(vocabulary.byte_id(part.byte), name, name.encode(), part.start, part.end, False)
        if self._said.keeps:
            piece = b"".join(units[part.start : part.end])
            return Token(None, piece.decode("utf-8", "replace"), piece, part.start, part.end, True)
        unknown = vocabulary.unknown_id
        name = UNKNOWN_NAMES[0] if unknown is None else next(
            name for name in vocabulary.specials if vocabulary.special_id(name) == unknown
        )
        return Token(unknown, name, None, part.start, part.end, True)


def _first(names: tuple[str, ...], vocabulary: Vocabulary) -> tuple[str, ...]:
    return tuple(name for name in names if name in vocabulary.specials)[:1]


def _packed(numbers: Iterable[int]) -> array[int]:
    kept = list(numbers)
    try:
        return array("i", kept)
    except OverflowError:
        return array("q", kept)


def _joined(ids: array[int], more: array[int]) -> array[int]:
    if ids.typecode != more.typecode:
        ids, more = array("q", ids), array("q", more)
    return ids + more
