"""Text to ids: pre-tokens, parts, what becomes of unknown ones, ids and places."""

from __future__ import annotations

import itertools
import os.path
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import regex

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import tick
from tokentui.encode.pipeline import ImportedVocabulary, Special, Stretch
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.single import SingleViterbi
from tokentui.encode.segment.ways import UNKNOWN, WAYS, Part, Segmenter
from tokentui.encode.vocabulary import UNKNOWN_NAMES, Marks, Vocabulary, byte_token
from tokentui.text.pretokenize import PreToken, Pretokenizer

_BEGIN, _END = ("[CLS]", "<s>"), ("[SEP]", "</s>")
_WORDS_KEPT = 65_536
_LONGEST_KEPT = 256
_CHECK_EVERY = 1024


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
        segmenter: Another way of cutting words than the recipe's, which may cut a word otherwise each time:
            no word is remembered then.

    Raises:
        TokentuiError: There is no such way of encoding.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: int,
        pretokenizer: Pretokenizer | None = None,
        segmenter: Segmenter | None = None,
    ) -> None:
        recipe = vocabulary.recipe
        self.vocabulary = vocabulary
        self.merges = merges
        own = vocabulary.pipeline if isinstance(vocabulary, ImportedVocabulary) else None
        self.pretokenizer = pretokenizer or (own.pretokenizer if own else Pretokenizer(recipe))
        self._kept = _LONGEST_KEPT if segmenter is None else -1
        self.segmenter = segmenter or (own.segmenter if own else WAYS.of(recipe.encode).segmenter)(
            vocabulary, merges
        )
        self._alone = segmenter is None and not isinstance(self.segmenter, SingleViterbi)
        """True if a word is encoded alike wherever it stands."""
        self._stretches = own.stretches if own else None
        self._bare = own.bare if own else None
        self.around = own.around if own else (_first(_BEGIN, vocabulary), _first(_END, vocabulary))
        """The special tokens before and after a text, where they are asked for."""
        self.marks = Marks(vocabulary)
        self._unknown = UNKNOWN.of(own.unknown if own and own.unknown else recipe.unknown)
        self._said = UNKNOWN.of(recipe.unknown)
        self._words: dict[str, tuple[Token, ...]] = {}
        self._specials = tuple(name for name in vocabulary.specials if own or name not in recipe.symbols)
        """The specials that a text may hold by name, where the caller allows it.

        Symbols are not among them: they are words of the text.
        """

    def word(self, word: str) -> tuple[Token, ...]:
        """The tokens of a pre-token. An unknown one that the recipe refuses is among them."""
        tokens = self._words.get(word)
        if tokens is None and word in self.pretokenizer.symbols:
            return (Token(self.vocabulary.special_id(word), word, word.encode(), 0, 1, False),)
        if tokens is None:
            units = self.pretokenizer.units(word)
            tokens = tuple(self._token(part, units) for part in self.parts(units, len(word)))
            if len(word) <= self._kept:
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
        vocabulary = self.vocabulary
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        rows: list[tuple[Token, tuple[int, int], int]] = []

        def special(name: str, start: int, end: int) -> None:
            number, piece = vocabulary.special_id(name), name.encode("utf-8", "surrogatepass")
            rows.append((Token(number, name, piece, 0, 0, False), (start, end), -1))

        refuses, count = UNKNOWN.of(vocabulary.recipe.unknown).refused, 0
        for name in self.around[0] if special_tokens else ():
            special(name, 0, 0)
        for pretokens in self.stretches(text, allow_special):
            if isinstance(pretokens, Special):
                special(pretokens.name, pretokens.start, pretokens.end)
                continue
            for n, (pretoken, tokens) in enumerate(zip(pretokens, self.words(pretokens), strict=True)):
                if n % _CHECK_EVERY == 0:
                    tick(n, len(pretokens))
                spans = pretoken.unit_spans
                for token in tokens:
                    if refuses and token.unknown:
                        raise self.refusal(pretoken, token)
                    rows.append((token, (spans[token.start][0], spans[token.end - 1][1]), count + n))
            count += len(pretokens)
        for name in self.around[1] if special_tokens else ():
            special(name, len(text), len(text))
        made = [token for token, _, _ in rows]
        return Encoding(
            text, tuple([token.id for token in made]), tuple([token.text for token in made]),
            tuple([token.piece for token in made]), tuple([offset for _, offset, _ in rows]),
            tuple([word for _, _, word in rows]), tuple([n for n, token in enumerate(made) if token.unknown]),
        )

    def after(self, merges: int) -> WordEncoder:
        """The same after another number of merges. What is known of words to which that makes no difference
        is kept."""
        vocabulary = self.vocabulary
        other = WordEncoder(vocabulary, merges, self.pretokenizer)
        if type(self.segmenter) is Merging and type(vocabulary) is Vocabulary and not vocabulary.base_last:
            made, ranks = vocabulary.base_size + merges, vocabulary.ranks

            def stands(tokens: tuple[Token, ...]) -> bool:
                """True if all symbols of the tokens are made by now and none of their pairs merges."""
                symbols = [made if token.symbol is None else token.symbol for token in tokens]
                pairs = itertools.pairwise(symbols)
                return max(symbols, default=0) < made and all(
                    ranks.get(pair, merges) >= merges for pair in pairs
                )

            other._words = {word: tokens for word, tokens in self._words.items() if stands(tokens)}
        return other

    def words(self, pretokens: Iterable[PreToken]) -> Iterator[tuple[Token, ...]]:
        """The tokens of each pre-token of a text, in order. A segmenter may look at what stands before a
        word."""
        follower = self.segmenter.follower() if isinstance(self.segmenter, SingleViterbi) else None
        for pretoken in pretokens:
            parts = follower.parts(pretoken.text, self.pretokenizer.units) if follower else None
            if parts is None:
                yield self.word(pretoken.text)
            else:
                units = self.pretokenizer.units(pretoken.text)
                yield tuple(
                    self._token(part, units) for part in self._unknown.policy(parts, units, self.marks.bare)
                )

    def stretches(self, text: str, allow_special: bool) -> Iterator[Stretch]:
        """The special tokens that stand in a text by their names, and the pre-tokens between them."""
        if self._stretches is not None:
            yield from self._stretches(text, allow_special)
            return
        for start, stretch, special in _cut_at_specials(text, self._specials if allow_special else ()):
            if special:
                yield Special(stretch, start, start + len(stretch))
            else:
                pretokens = self.pretokenizer.pretokens(stretch)
                yield [pretoken.moved(start) for pretoken in pretokens] if start else pretokens

    def texts(self, text: str, allow_special: bool) -> list[Special | str] | None:
        """As `stretches`, with texts that are cut into words by the recipe alone and word by word encoded.

        Returns:
            None where more than that is done to a text.
        """
        if not self._alone or type(self.pretokenizer) is not Pretokenizer:
            return None
        names = self._specials
        if self._stretches is not None:
            return None if _may_hold(text, names) else [text]
        return [
            Special(part, start, start + len(part)) if special else part
            for start, part, special in _cut_at_specials(text, names if allow_special else ())
        ]

    def spelled(self, text: str, allow_special: bool) -> Iterable[Special | list[str]] | None:
        """As `stretches` with words in place of pre-tokens, for ids alone: no places are kept.

        Returns:
            None where the places are wanted, since a word is cut by what stands before it.
        """
        if not self._alone:
            return None
        if self._stretches is None:
            return None if allow_special else ([self.pretokenizer.words(text)] if text else [])
        return None if self._bare is None else self._bare(text, allow_special)

    def parts(self, units: list[bytes], characters: int, segmenter: Segmenter | None = None) -> list[Part]:
        """The parts of a word's units by the way of encoding, or by another one, and the policy for unknown
        ones."""
        kept = self.kept(units)
        parts = (segmenter or self.segmenter).segment([units[at] for at in kept], characters)
        if len(kept) < len(units):
            parts = [part._replace(start=kept[part.start], end=kept[part.end - 1] + 1) for part in parts]
        return self._unknown.policy(parts, units, self.marks.bare)

    def kept(self, units: list[bytes]) -> list[int]:
        """The units that take part: with `drop` unknown ones go first, so that their neighbours meet."""
        if not self._said.drops:
            return list(range(len(units)))
        known = self.vocabulary.known_units(self.merges)
        return [at for at, unit in enumerate(units) if unit in known]

    def refusal(self, pretoken: PreToken, token: Token) -> TokentuiError:
        """Why a text cannot be encoded: the unit named, and where it stands."""
        units = self.pretokenizer.units(pretoken.text)
        where = f"offset {pretoken.unit_spans[token.start][0]}"
        way = WAYS.of(self.vocabulary.recipe.encode)
        if 0 < way.most < len(pretoken.text):
            what = f"{way.name.replace('-', ' ')} gives up a word of more than {way.most} characters"
            return TokentuiError(f"{what}: {_safely(pretoken.text)}", where, "take encode=merges")
        return self.vocabulary.refusal(units[token.start], where)

    def _token(self, part: Part, units: list[bytes]) -> Token:
        vocabulary = self.vocabulary
        if part.symbol is not None:
            piece = vocabulary.pieces[part.symbol]
            text, number = piece.decode("utf-8", "replace"), vocabulary.id_of(part.symbol, self.merges)
            return Token(number, text, piece, part.start, part.end, False, part.symbol)
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


def _cut_at_specials(text: str, specials: tuple[str, ...]) -> Iterator[tuple[int, str, bool]]:
    """(start, text, whether it is a special token) of each stretch between special tokens and of these."""
    names = sorted(filter(None, specials), key=len, reverse=True)
    at = 0
    if names:
        for match in regex.finditer("|".join(map(regex.escape, names)), text):
            if match.start() > at:
                yield at, text[at : match.start()], False
            yield match.start(), match.group(), True
            at = match.end()
    if at < len(text):
        yield at, text[at:], False


def _may_hold(text: str, names: tuple[str, ...]) -> bool:
    """True if a text holds one of these names.

    Many names share a prefix, and most texts lack even the prefix.
    """
    shared = os.path.commonprefix(names)  # noqa: RUF071 - of any texts
    return shared in text and any(name in text for name in names)


def _first(names: tuple[str, ...], vocabulary: Vocabulary) -> tuple[str, ...]:
    return tuple(name for name in names if name in vocabulary.specials)[:1]


def _safely(text: str) -> str:
    """A text in quotes, short, with what does not print escaped."""
    return repr(text if len(text) <= 20 else text[:20] + "…")
