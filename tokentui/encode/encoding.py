"""Text to ids: pre-tokens, parts, what becomes of unknown ones, ids and places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import regex

from tokentui.encode.longest import LongestMatch
from tokentui.encode.merging import Merging
from tokentui.encode.parts import MAX_CHARACTERS, Marks, Part, Segmenter
from tokentui.encode.unknown import POLICIES, REFUSES
from tokentui.errors import Cancelled, TokentuiError
from tokentui.text.pretokenize import PreToken, Pretokenizer
from tokentui.vocabulary import UNKNOWN_NAMES, Vocabulary, byte_token

ENCODERS: dict[str, Callable[[Vocabulary, int], Segmenter]] = {
    "merges": Merging,
    "longest-match": LongestMatch,
}
"""The ways of encoding by the value of the axis `encode`, each made for a vocabulary and a number of merges."""

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
        pieces: The exact bytes, marks included; None for an unknown, the name's bytes for specials and `<0x41>`.
        offsets: Half-open ranges in characters of the text as typed.
        words: The index of the pre-token that each belongs to, -1 for a special token.
        unknown: The places of the tokens that became the unknown token or stand without an id.
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
    """A token inside a word: units `start` to `end`."""

    id: int | None
    text: str
    piece: bytes | None
    start: int
    end: int
    unknown: bool


class WordEncoder:
    """Encodes words by one vocabulary at one number of merges, and remembers them.

    Args:
        vocabulary: The vocabulary; it may have grown past `merges`.
        merges: How many of its merges count.
        pretokenizer: One of the same recipe, made here where none is given.

    Raises:
        TokentuiError: There is no such way of encoding.
    """

    def __init__(self, vocabulary: Vocabulary, merges: int, pretokenizer: Pretokenizer | None = None) -> None:
        recipe = vocabulary.recipe
        if recipe.encode not in ENCODERS:
            raise TokentuiError("this version does not encode that way", f"encode={recipe.encode}",
                                "one of: " + ", ".join(ENCODERS))
        self.vocabulary = vocabulary
        self.merges = merges
        self.pretokenizer = pretokenizer or Pretokenizer(recipe)
        self.segmenter = ENCODERS[recipe.encode](vocabulary, merges)
        self.marks = Marks(vocabulary)
        self._policy = POLICIES[recipe.unknown]
        self._words: dict[str, tuple[Token, ...]] = {}

    def word(self, word: str) -> tuple[Token, ...]:
        """The tokens of a pre-token. An unknown one that the recipe refuses is among them."""
        tokens = self._words.get(word)
        if tokens is None:
            units = self.pretokenizer.units(word)
            tokens = tuple(self._token(part, units) for part in self.parts(units, len(word)))
            if len(word) <= _LONGEST_KEPT:
                if len(self._words) >= _WORDS_KEPT:
                    self._words.clear()
                self._words[word] = tokens
        return tokens

    def parts(self, units: list[bytes], characters: int) -> list[Part]:
        """The parts of a word's units by the way of encoding and the policy for unknown ones."""
        kept = self.kept(units)
        parts = self.segmenter.segment([units[at] for at in kept], characters)
        if len(kept) < len(units):
            parts = [part._replace(start=kept[part.start], end=kept[part.end - 1] + 1) for part in parts]
        return self._policy(parts, units, self.marks)

    def kept(self, units: list[bytes]) -> list[int]:
        """The units that take part: with `drop` unknown ones go first, so that their neighbours meet."""
        if self.vocabulary.recipe.unknown != "drop":
            return list(range(len(units)))
        return [at for at, unit in enumerate(units) if unit in self.vocabulary.units]

    def refusal(self, pretoken: PreToken, token: Token) -> TokentuiError:
        """Why a text cannot be encoded: the unit named, and where it stands."""
        units = self.pretokenizer.units(pretoken.text)
        where = f"offset {pretoken.unit_spans[token.start][0]}"
        if self.vocabulary.recipe.encode == "longest-match" and len(pretoken.text) > MAX_CHARACTERS:
            what = f"longest match gives up a word of more than {MAX_CHARACTERS} characters"
            return TokentuiError(f"{what}: {_safely(pretoken.text)}", where, "take encode=merges")
        named = _safely(units[token.start].decode("utf-8", "surrogateescape"))
        return TokentuiError(f"{named} is not in the vocabulary", where, "take another value of the axis unknown")

    def _token(self, part: Part, units: list[bytes]) -> Token:
        vocabulary = self.vocabulary
        if part.symbol is not None:
            piece = vocabulary.pieces[part.symbol]
            text, number = piece.decode("utf-8", "replace"), vocabulary.id_of(part.symbol, self.merges)
            return Token(number, text, piece, part.start, part.end, False)
        if part.byte is not None:
            name = byte_token(part.byte)
            return Token(vocabulary.byte_id(part.byte), name, name.encode(), part.start, part.end, False)
        if vocabulary.recipe.unknown == "pass-through":
            piece = b"".join(units[part.start : part.end])
            return Token(None, piece.decode("utf-8", "replace"), piece, part.start, part.end, True)
        unknown = vocabulary.unknown_id
        name = UNKNOWN_NAMES[0] if unknown is None else vocabulary.specials[unknown - vocabulary.first_id]
        return Token(unknown, name, None, part.start, part.end, True)


@dataclass(slots=True)
class _Builder:
    """An encoding as it grows."""

    ids: list[int | None] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    pieces: list[bytes | None] = field(default_factory=list)
    offsets: list[tuple[int, int]] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)

    def add(self, token: Token, offset: tuple[int, int], word: int) -> None:
        """Append a token that stands at `offset`."""
        if token.unknown:
            self.unknown.append(len(self.ids))
        self.ids.append(token.id)
        self.tokens.append(token.text)
        self.pieces.append(token.piece)
        self.offsets.append(offset)
        self.words.append(word)

    def special(self, vocabulary: Vocabulary, name: str, offset: tuple[int, int]) -> None:
        """Append a special token."""
        number = vocabulary.first_id + vocabulary.specials.index(name)
        self.add(Token(number, name, name.encode("utf-8", "surrogatepass"), 0, 0, False), offset, -1)


def encode(
    vocabulary: Vocabulary,
    merges: int,
    text: str | bytes,
    *,
    pretokenizer: Pretokenizer | None = None,
    cache: WordEncoder | None = None,
    allow_special: bool = False,
    special_tokens: bool = False,
    progress: Callable[[int, int], object] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Encoding:
    """Encode a text.

    Args:
        vocabulary: The vocabulary, perhaps still growing.
        merges: How many of its merges count.
        text: The text; bytes that are not UTF-8 are kept where the unit is the byte.
        pretokenizer: One of the same recipe, to save making it.
        cache: A `WordEncoder` to go on with; one of another vocabulary or number of merges is passed over.
        allow_special: Text that spells a special token becomes its id (the longest first), else it is plain text.
        special_tokens: Add the specials that begin and end a text, where there are (`[CLS]` `[SEP]`, `<s>` `</s>`).
        progress: Called with the words done and the words there are, now and then.
        cancel: Asked now and then; true stops the call.

    Raises:
        TokentuiError: A unit is not in the vocabulary and the recipe says `error`; it names the unit and its place.
        Cancelled: `cancel` said so.
    """
    if cache is None or cache.vocabulary is not vocabulary or cache.merges != merges:
        cache = WordEncoder(vocabulary, merges, pretokenizer)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    built = _Builder()
    if special_tokens and (name := _first(_BEGIN, vocabulary)):
        built.special(vocabulary, name, (0, 0))
    count = 0
    for start, stretch, special in _stretches(text, vocabulary.specials if allow_special else ()):
        if special:
            built.special(vocabulary, stretch, (start, start + len(stretch)))
            continue
        pretokens = cache.pretokenizer.pretokens(stretch)
        for n, pretoken in enumerate(pretokens):
            if n % _CHECK_EVERY == 0:
                if cancel is not None and cancel():
                    raise Cancelled
                if progress is not None:
                    progress(n, len(pretokens))
            _add_word(built, cache, pretoken, start, count + n)
        count += len(pretokens)
    if special_tokens and (name := _first(_END, vocabulary)):
        built.special(vocabulary, name, (len(text), len(text)))
    return Encoding(text, tuple(built.ids), tuple(built.tokens), tuple(built.pieces), tuple(built.offsets),
                    tuple(built.words), tuple(built.unknown))


def _add_word(built: _Builder, encoder: WordEncoder, pretoken: PreToken, shift: int, word: int) -> None:
    spans = pretoken.unit_spans
    for token in encoder.word(pretoken.text):
        if token.unknown and encoder.vocabulary.recipe.unknown in REFUSES:
            error = encoder.refusal(pretoken, token)
            if shift:
                error = TokentuiError(error.what, f"offset {shift + spans[token.start][0]}", error.hint)
            raise error
        built.add(token, (shift + spans[token.start][0], shift + spans[token.end - 1][1]), word)


def _stretches(text: str, specials: tuple[str, ...]) -> Iterator[tuple[int, str, bool]]:
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


def _first(names: tuple[str, ...], vocabulary: Vocabulary) -> str | None:
    return next((name for name in names if name in vocabulary.specials), None)


def _safely(text: str) -> str:
    """A text in quotes, short, with what does not print escaped."""
    return repr(text if len(text) <= 20 else text[:20] + "…")
