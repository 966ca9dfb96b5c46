"""Text to ids: pre-tokens, parts of words, the policy for unknown parts, ids and places.

One `encode`: `WordEncoder.encode` gets ids alone from `id_table` and computes places only when they are used.
`placed_tokens` cuts the text into pre-tokens (`stretches`), cuts each into parts (`segmenter.segment`),
applies the policy for unknown parts, and gives each part its id and place (`word`, `tokens_of`).
"""

from __future__ import annotations

import copy
import functools
import itertools
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, each, in_blocks, tick
from tokentui.core.memo import Memo
from tokentui.encode import id_tables
from tokentui.encode.encoding import EncodedToken, Encoding, Names, joined, packed
from tokentui.encode.id_tables import IdTable, table_of
from tokentui.encode.names import NO_NAMES, NameFinder, Special
from tokentui.encode.pipeline import reads_whole
from tokentui.encode.segment import (
    ENCODING_WAYS,
    UNKNOWN,
    EncodingWay,
    Follower,
    Segmenter,
    UnknownUnit,
    WordPart,
)
from tokentui.encode.segment.merges import Merging
from tokentui.encode.vocabulary import NO_ID, UNKNOWN_NAMES, Section, Vocabulary, byte_token, quoted
from tokentui.text.pretokenize import PreToken, Pretokenizer

_BEGIN, _END = ("[CLS]", "<s>"), ("[SEP]", "</s>")
_MANY_IDS = 1 << 12
_CHECK_EVERY = 1024
"""Words between two checks of the job."""


class WordToken(NamedTuple):
    """A token inside a word: units `start` to `end`. An unknown one has no symbol; `piece` is None for the
    unknown token."""

    id: int | None
    text: str
    piece: bytes | None
    start: int
    end: int
    unknown: bool
    symbol: int | None = None


class TokenSource(NamedTuple):
    """Computes the tokens of texts as an encoder encodes them: a `Source`."""

    encoder: WordEncoder
    special_tokens: bool
    allow_special: bool

    def rows(self, text: str) -> list[EncodedToken]:
        """Return the tokens of a text with their places."""
        return self.encoder.placed_tokens(text, self.special_tokens, self.allow_special)

    def names(self, ids: Sequence[int]) -> Names | None:
        """Return the texts and bytes of tokens by their ids. None if ids do not say them, or for a few ids:
        the table of all takes longer."""
        if len(ids) < _MANY_IDS and "names_by_id" not in vars(self.encoder):
            return None
        find, texts, pieces = self.encoder.names_by_id.get, list[str](), list[bytes]()
        for block in in_blocks(ids):
            rows = list(map(find, block))
            if None in rows:
                return None
            more = zip(*cast("list[tuple[str, bytes]]", rows), strict=True)
            texts += next(more)
            pieces += next(more)
        return tuple(texts), tuple(pieces)


class WordEncoder:
    """Encodes words by one vocabulary at one number of merges. It caches the results.

    Args:
        vocabulary: The vocabulary; it may have grown past `merges`.
        merges: How many of its merges count.
        pretokenizer: A pretokenizer of the same recipe, to share; None to create one.
        way: A way of encoding to use instead of the vocabulary's own.

    Raises:
        TokentuiError: The way of encoding does not exist, or needs tables that the vocabulary lacks.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int, pretokenizer: Pretokenizer | None = None,
        way: EncodingWay | None = None,
    ) -> None:
        recipe = vocabulary.recipe
        self.vocabulary = vocabulary
        self.merges = merges
        file = vocabulary.file
        self.pretokenizer = pretokenizer or file.pretokenizer or Pretokenizer(recipe)
        self.way = way or vocabulary.way(merges) or ENCODING_WAYS.of(recipe.encode)
        self.segmenter = self.way.segmenter(vocabulary, merges)
        if vocabulary.limit is not None:
            self.segmenter = self.segmenter.with_limit(*vocabulary.limit)
        self.sections = file.sections
        """Cuts a text at the tokens that it contains by name; None for the special tokens alone."""
        self.around = file.around or (_first(_BEGIN, vocabulary), _first(_END, vocabulary))
        """The names of the special tokens before and after a text, for `special_tokens=True`."""
        self._unknown = UNKNOWN.of(file.policy or recipe.unknown)
        self._recipe_unknown = UNKNOWN.of(recipe.unknown)
        self.drops_units = self._recipe_unknown.drops_units
        """True if unknown units are dropped before a word is cut."""
        self._id_table: IdTable | None = None
        self._specials = NameFinder(
            name for name in vocabulary.specials if vocabulary.imported or name not in recipe.symbols
        )
        """Finds the specials that a text may contain by name, for `allow_special=True`. Symbols are excluded:
        they are words of the text."""
        self.tokens: Memo[tuple[WordToken, ...]] = Memo(copy.copy(self)._tokens_of)
        """Cache of the tokens of each word alone."""

    @functools.cached_property
    def _whole(self) -> bool:
        """True if kernels may take a text as typed, with the tokens in it that are cut out of any text."""
        return reads_whole(self.pretokenizer, self.sections)

    def word(self, word: str, parts: list[WordPart] | None = None) -> tuple[WordToken, ...]:
        """Return the tokens of a pre-token. Unknown tokens never raise here, even if the recipe refuses them.

        The result for the word alone is cached.

        Args:
            word: The pre-token.
            parts: Its parts if the words before it in a text change them; None for those of the word alone.
        """
        return self.tokens[word] if parts is None else self._tokens_of(word, parts)

    def _tokens_of(self, word: str, parts: list[WordPart] | None = None) -> tuple[WordToken, ...]:
        """Return the tokens of a word. `parts` are its parts if they are known; otherwise the segmenter
        finds them."""
        if word in self.pretokenizer.symbols:
            return (WordToken(self.vocabulary.special_id(word), word, word.encode(), 0, 1, False),)
        units, pieces = self.pretokenizer.units(word), self.vocabulary.pieces
        return tuple([
            self._token_without_symbol(part, units)
            if part.symbol is None
            else WordToken(
                self.vocabulary.id_of(part.symbol, self.merges),
                pieces[part.symbol].decode("utf-8", "replace"),
                pieces[part.symbol], part.start, part.end, False, part.symbol,
            )
            for part in self._parts(word, units, parts)
        ])

    def _parts(self, word: str, units: list[bytes], parts: list[WordPart] | None) -> list[WordPart]:
        """Return the parts of a word after the policy for unknown ones; `parts` as for `word`."""
        if parts is None:
            return self.parts(units, len(word))
        return self.with_unknown_policy(parts, units, self.kept_indices(units))

    def encode(
        self, text: str | bytes, *, allow_special: bool = False, special_tokens: bool = False,
        threads: int | None = None,
    ) -> Encoding:
        """Encode a text. The job reports its progress in characters, or in words if a file decides how they
        are cut.

        Args:
            text: The text. Bytes that are not UTF-8 are kept if the unit is the byte.
            allow_special: True if text that spells a special token becomes that token (the longest first);
                False to treat it as plain text.
            special_tokens: True to add the specials that begin and end a text, if the vocabulary has them
                (`[CLS]` `[SEP]`, `<s>` `</s>`).
            threads: As for `ids`.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`. The message has the
                unit and its place.
            Cancelled: The job is cancelled.
        """
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        check()  # a text may be empty, or names alone
        source = TokenSource(self, special_tokens, allow_special)
        numbers = self._ids_without_places(text, special_tokens, allow_special, threads)
        return Encoding.of(text, source.rows(text)) if numbers is None else (
            Encoding.later(text, numbers, source)
        )

    @functools.cached_property
    def names_by_id(self) -> dict[int, tuple[str, bytes]]:
        """The readable text and the exact bytes of the token of each id, for ids that say them: not for the
        unknown token, and not where a special token and another one are spelled in two ways."""
        vocabulary, found = self.vocabulary, dict[int, tuple[str, bytes]]()
        ids, pieces = vocabulary.ids(self.merges), vocabulary.pieces
        listed = [(ids[symbol], pieces[symbol]) for symbol in vocabulary.symbols(self.merges)]
        bytes_ = range(vocabulary.byte_tokens)
        listed += [(vocabulary.byte_id(value), byte_token(value).encode()) for value in bytes_]
        rows = [(number, piece.decode("utf-8", "replace"), piece) for number, piece in listed]
        rows += [
            (vocabulary.special_id(name), name, name.encode("utf-8", "surrogatepass"))
            for name in vocabulary.specials
        ]
        several = {vocabulary.unknown_id, NO_ID}
        for number, text, piece in each(rows):
            if found.setdefault(number, (text, piece)) != (text, piece):
                several.add(number)
        return {number: names for number, names in found.items() if number not in several}

    def placed_tokens(self, text: str, special_tokens: bool, allow_special: bool) -> list[EncodedToken]:
        """Return the tokens of a text with their places. Arguments and errors are those of `encode`."""
        before, after = self.around if special_tokens else ((), ())
        rows, count = [self._special(name, 0, 0) for name in before], 0
        for part in self.stretches(text, allow_special):
            if isinstance(part, Special):
                rows.append(self._special(part.name, part.start, part.end))
            else:
                rows += self.tokens_of(part, count)
                count += len(part)
        return [*rows, *(self._special(name, len(text), len(text)) for name in after)]

    def _special(self, name: str, start: int, end: int) -> EncodedToken:
        token_id = self.vocabulary.special_id(name)
        return EncodedToken(token_id, name, name.encode("utf-8", "surrogatepass"), start, end, -1)

    def tokens_of(
        self, words: Sequence[PreToken], first: int = 0, starts: Sequence[int] | None = None
    ) -> Iterator[EncodedToken]:
        """Yield the tokens of consecutive words with their places. The words before a word may affect its
        tokens.

        Args:
            words: The pre-tokens.
            first: The index of the first word in the text.
            starts: The start of each word in the text; None to use the starts of the pre-tokens.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`.
        """
        symbols, follower = self.pretokenizer.symbols, None
        if self.way.scope != "word":
            follower = self.follower()
        for n, pretoken in enumerate(words):
            if n % _CHECK_EVERY == 0:  # a short text may be one of many, which have a progress of their own
                tick(n, len(words)) if len(words) > _CHECK_EVERY else check()
            parts = follower(pretoken.text) if follower and pretoken.text not in symbols else None
            tokens = self.word(pretoken.text, parts)
            at, spans = pretoken.start if starts is None else starts[n], pretoken.unit_spans
            for token in tokens:
                if token.unknown and self._recipe_unknown.is_error:
                    raise self.unknown_error(pretoken.moved(at - pretoken.start), token)
                start, end = at + spans[token.start][0], at + spans[token.end - 1][1]
                yield EncodedToken(token.id, token.text, token.piece, start, end, first + n)

    def ids(
        self, text: str | bytes, *, special_tokens: bool = False, allow_special: bool = False,
        threads: int | None = None,
    ) -> array[int]:
        """Return the ids of a text, those of `encode`; `NO_ID` for a token without an id.

        Args:
            text: The text; bytes are decoded as by `encode`.
            special_tokens, allow_special: As for `encode`.
            threads: How many threads the kernels use; None to choose it by the text and the machine.

        Returns:
            32-bit numbers, or 64-bit ones if an id needs it.

        Raises:
            TokentuiError, Cancelled: As `encode` does.
        """
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        numbers = self._ids_without_places(text, special_tokens, allow_special, threads)
        if numbers is not None:
            return numbers
        rows = self.placed_tokens(text, special_tokens, allow_special)
        return packed(NO_ID if row.id is None else row.id for row in rows)

    def _ids_without_places(
        self, text: str, special_tokens: bool, allow_special: bool, threads: int | None
    ) -> array[int] | None:
        """Return the ids of a text without computing places. None if that is impossible, or if encoding
        fails: then the tokens with places give the ids, or the error with its place."""
        if self.way.scope == "chance":
            return None
        special_id = self.vocabulary.special_id
        before, after = self.around if special_tokens else ((), ())
        try:
            ids = self._ids_of_parts(self.plain_parts(text, allow_special), threads)
        except UnknownUnit:
            return None
        if before:
            ids = joined(packed(map(special_id, before)), ids)
        return joined(ids, packed(map(special_id, after))) if after else ids

    @property
    def id_table(self) -> IdTable:
        """The table that encodes words without places, created at first use."""
        if self._id_table is None:
            self._id_table = table_of(copy.copy(self))  # the table holds no encoder that holds it
        return self._id_table

    def follower(self) -> Callable[[str], list[WordPart] | None]:
        """Return a function that cuts the words of one text in order.

        It keeps the state of the text, so each text needs a new one. It returns None for a word whose parts
        are those of the word alone. Only ways of encoding whose `scope` is not `word` have it.
        """
        return cast("Follower", self.segmenter).follower(self._kept_units)

    def cached_ids(self, word: str) -> list[int]:
        """Return `word_ids` of a word alone, from the cache if possible. The list must not be changed.

        Raises:
            UnknownUnit: As `word_ids` does.
        """
        return self.id_table.known[word]

    def ids_include(self, text: str, token_id: int, words: Sequence[str] | None = None) -> bool:
        """Return whether the ids of a text include an id. False if the text cannot be encoded.

        Args:
            text: The text.
            token_id: The id.
            words: Its pre-tokens, as `pretokenizer.words` returns them; None to compute them.
        """
        check()
        try:
            if self.way.scope == "word" and len(text) < id_tables.KERNEL_CHARS and self.splits_plainly(text):
                # The ids of its words, without the overhead of `encode`.
                ids = list(map(self.cached_ids, words or self.pretokenizer.words(text)))
                return any(token_id in word for word in ids)
            return token_id in self.ids(text)
        except TokentuiError:
            return False

    def word_ids(self, word: str, parts: list[WordPart] | None = None) -> list[int]:
        """Return the ids of a word. `parts` is the same as for `word`.

        Raises:
            UnknownUnit: A unit is unknown and the recipe refuses it.
        """
        if word in self.pretokenizer.symbols:
            return [self.vocabulary.special_id(word)]
        units, id_of, ids = self.pretokenizer.units(word), self.vocabulary.id_of, list[int]()
        for part in self._parts(word, units, parts):
            if part.symbol is not None:
                ids.append(id_of(part.symbol, self.merges))
                continue
            token = self._token_without_symbol(part, units)
            if token.unknown and self._recipe_unknown.is_error:
                raise UnknownUnit("an unknown unit", quoted(word))
            ids.append(NO_ID if token.id is None else token.id)
        return ids

    def at_merges(self, merges: int) -> WordEncoder:
        """Return a new encoder for another number of merges.

        It takes over the cached tokens of words that the change does not affect. Some vocabularies, such as
        those of events, start with an empty cache.
        """
        vocabulary = self.vocabulary
        if type(self.segmenter) is not Merging or type(vocabulary) is not Vocabulary or vocabulary.base_last:
            return WordEncoder(vocabulary, merges, self.pretokenizer)
        other = copy.copy(self)
        other.merges, other.segmenter = merges, self.segmenter.with_limit(merges, ())
        other._id_table = None
        for cached in ("tokens", "names_by_id"):
            vars(other).pop(cached, None)
        other.tokens = Memo(copy.copy(other)._tokens_of)
        size, ranks = vocabulary.base_size + merges, vocabulary.ranks
        for word, tokens in self.tokens.items():
            symbols = [size if token.symbol is None else token.symbol for token in tokens]
            # Keep a word if all its symbols exist at this number of merges and no two neighbors merge.
            if max(symbols, default=0) < size and all(
                ranks.get(pair, merges) >= merges for pair in itertools.pairwise(symbols)
            ):
                other.tokens[word] = tokens
        return other

    def stretches(self, text: str, allow_special: bool) -> Iterator[Section]:
        """Yield the special tokens that a text contains by name, and lists of the pre-tokens between them."""
        if self.sections is not None:
            yield from self.sections(text, allow_special)
            return
        for start, stretch in (self._specials if allow_special else NO_NAMES).cut(text):
            if isinstance(stretch, Special):
                yield stretch
            else:
                pretokens = self.pretokenizer.analyze(stretch).pretokens
                yield [pretoken.moved(start) for pretoken in pretokens] if start else pretokens

    def special_places(self, text: str) -> Iterator[Special]:
        """Yield the special tokens that a text contains by name, with their places. Neither the tokens
        between them nor their places are computed."""
        parts: Iterable[Section | str] = (part for _, part in self._specials.cut(text))
        if self.sections is not None:
            parts = self.sections(text, True)
        for part in parts:
            if isinstance(part, Special):
                yield part

    def splits_plainly(self, text: str) -> bool:
        """Return whether the recipe alone decides how a text is cut into words.

        It does not if the steps of a file cut words, or cut out special tokens and the text contains a name
        of one.
        """
        if type(self.pretokenizer) is not Pretokenizer:
            return False
        return self.sections is None or not self._specials.is_in(text)

    def texts_alone(self, texts: Sequence[str], allow_special: bool) -> Iterable[int]:
        """Return the indices of the texts that `ids_of_texts` does not take, because tokens have to be cut
        out of them. One search looks for the names in all texts."""
        sections, names = self.sections, self._specials if allow_special else NO_NAMES
        if type(self.pretokenizer) is Pretokenizer:
            names = names if sections is None else self._specials
        elif not self._whole:
            return range(len(texts))
        elif sections is not None and allow_special:
            if sections.texts("", True, whole=True) is None:
                return range(len(texts))
            names = sections.special
        joined = "\0".join(texts) if names.names else ""
        spans = list(names.spans(joined)) if names.is_in(joined) else []
        starts = list(itertools.accumulate((len(text) + 1 for text in texts), initial=0)) if spans else []
        # a span may reach from one text into the next
        return {bisect_right(starts, place) - 1 for start, end in spans for place in (start, end - 1)}

    def word_parts(self, text: str, allow_special: bool = False) -> Iterable[Special | list[str]]:
        """Return special tokens, and lists of the words between them, without places."""
        if self.sections is not None:
            return self.sections.bare(text, allow_special)
        words, names = self.pretokenizer.words, self._specials if allow_special else NO_NAMES
        return (words(part) if isinstance(part, str) else part for _, part in names.cut(text))

    def plain_parts(self, text: str, allow_special: bool) -> Iterable[Special | str | list[str]]:
        """Return the parts of a text without places: special tokens, texts for `_ids_of_text`, or lists of
        words."""
        sections = self.sections
        if sections is None:
            names = self._specials if allow_special else NO_NAMES
            return (part for _, part in names.cut(text))
        plain = type(self.pretokenizer) is Pretokenizer
        if not plain and len(text) < id_tables.KERNEL_CHARS and not self.id_table.takes_short:
            return self.word_parts(text, allow_special)  # no kernel takes it, nor asks for `stretching`
        stretching = self.pretokenizer.stretching
        if plain or (self._whole and not (
            allow_special and stretching and not stretching.each and self._specials.is_in(text)
        )):
            texts = sections.texts(text, allow_special, whole=not plain)
            if texts is not None:
                return texts
        return self.word_parts(text, allow_special)

    def _ids_of_text(self, text: str, threads: int | None) -> array[int]:
        """Return the ids of a text without special tokens."""
        if self.sections is None or type(self.pretokenizer) is Pretokenizer:
            return self.id_table.ids(text, threads)
        ids = self.id_table.ids_by_kernels(text, threads)
        return self._ids_of_parts(self.word_parts(text), threads) if ids is None else ids

    def _ids_of_parts(self, parts: Iterable[Special | str | list[str]], threads: int | None) -> array[int]:
        """Return the ids of what `plain_parts` returns."""
        if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], str):
            return self._ids_of_text(parts[0], threads)
        ids, special_id = array("i"), self.vocabulary.special_id
        for part in parts:
            if isinstance(part, Special):
                ids = joined(ids, packed([special_id(part.name)]))
            elif isinstance(part, str):
                more = self._ids_of_text(part, threads)
                ids = joined(ids, more) if ids else more
            else:
                ids = joined(ids, self.id_table.ids(part, threads))
        return ids

    def parts(
        self, units: list[bytes], characters: int, segmenter: Segmenter | None = None
    ) -> list[WordPart]:
        """Cut the units of a word into parts, and apply the policy for unknown ones.

        Args:
            units: The units.
            characters: The length of the word in characters.
            segmenter: Cuts the word; None for the encoder's own.
        """
        segmenter = segmenter or self.segmenter
        if not (self.drops_units or self._unknown.policy):
            return segmenter.segment(units, characters)
        kept = self.kept_indices(units)
        parts = segmenter.segment([units[at] for at in kept], characters)
        return self.with_unknown_policy(parts, units, kept)

    def with_unknown_policy(
        self, parts: list[WordPart], units: Sequence[bytes], kept: Sequence[int]
    ) -> list[WordPart]:
        """Apply the policy for unknown parts to the parts of the kept units. The places of the result refer
        to all units.

        Args:
            parts: The parts, with places among the kept units.
            units: All units of the word.
            kept: The indices of the kept units, see `kept_indices`.
        """
        if len(kept) < len(units):
            parts = [part._replace(start=kept[part.start], end=kept[part.end - 1] + 1) for part in parts]
        policy = self._unknown.policy
        return parts if policy is None else policy(parts, units, self.vocabulary.bare)

    def kept_indices(self, units: Sequence[bytes]) -> Sequence[int]:
        """Return the indices of the units to encode: all, or with `drop` the known ones, so that their
        neighbors meet."""
        if not self.drops_units:
            return range(len(units))
        known = self.vocabulary.known_units(self.merges)
        return [at for at, unit in enumerate(units) if unit in known]

    def _kept_units(self, word: str) -> list[bytes]:
        units = self.pretokenizer.units(word)
        return [units[at] for at in self.kept_indices(units)]

    def unknown_error(self, pretoken: PreToken, token: WordToken) -> TokentuiError:
        """Return the error for a text that cannot be encoded. It names the unknown unit and its offset."""
        units = self.pretokenizer.units(pretoken.text)
        where = f"offset {pretoken.start + pretoken.unit_spans[token.start][0]}"
        way = self.way
        if way.gives_up(len(pretoken.text)):
            what = f"{way.name.replace('-', ' ')} gives up a word of more than {way.most} characters"
            return TokentuiError(f"{what}: {quoted(pretoken.text)}", where, "use encode=merges")
        return self.vocabulary.refusal(units[token.start], where)

    def _token_without_symbol(self, part: WordPart, units: list[bytes]) -> WordToken:
        """Return the token of a part without a symbol: a byte-fallback token, the text itself without an id,
        or the unknown token."""
        vocabulary = self.vocabulary
        if part.byte is not None:
            name = byte_token(part.byte)
            return WordToken(vocabulary.byte_id(part.byte), name, name.encode(), part.start, part.end, False)
        if self._recipe_unknown.keeps_text:
            piece = b"".join(units[part.start : part.end])
            return WordToken(None, piece.decode("utf-8", "replace"), piece, part.start, part.end, True)
        unknown = vocabulary.unknown_id
        name = UNKNOWN_NAMES[0] if unknown is None else next(
            name for name in vocabulary.specials if vocabulary.special_id(name) == unknown
        )
        return WordToken(unknown, name, None, part.start, part.end, True)


def _first(names: tuple[str, ...], vocabulary: Vocabulary) -> tuple[str, ...]:
    return tuple(name for name in names if name in vocabulary.specials)[:1]
