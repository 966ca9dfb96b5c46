"""Text to ids: pre-tokens, parts, what becomes of unknown ones, ids and places.

For ids alone a word is looked up, not placed, and large texts go through kernels where they are loaded.
"""

from __future__ import annotations

import copy
import functools
import itertools
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from tokentui.core import memo, native
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check, tick
from tokentui.core.memo import Memo
from tokentui.encode.encoding import EncodedToken, Encoding, joined, packed
from tokentui.encode.pipeline import cut_at_names, may_hold
from tokentui.encode.segment import UNKNOWN, WAYS, EncodingWay, Follower, Segmenter, UnknownUnit, WordPart
from tokentui.encode.segment.merges import Merging
from tokentui.encode.vocabulary import NO_ID, UNKNOWN_NAMES, Special, Stretch, Vocabulary, byte_token, quoted
from tokentui.text.count import chunks
from tokentui.text.pretokenize import PreToken, Pretokenizer

if TYPE_CHECKING:
    from tokentui.encode.kernels.batch import Following, Many
    from tokentui.encode.kernels.encode import Compiled

_BEGIN, _END = ("[CLS]", "<s>"), ("[SEP]", "</s>")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLOCK = 1 << 14
"""Words that are encoded between two looks at the clock."""
_CHECK_EVERY = 1024
KERNEL_CHARS = 4096
"""Shorter texts are encoded before the kernels have their tables."""


MANY_WORDS = 1024
"""Fewer words of plain Python are encoded before kernels that take many at once have their tables."""


class WordToken(NamedTuple):
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
        self.vocabulary = vocabulary
        self.merges = merges
        own = vocabulary.pipeline
        self.pretokenizer = pretokenizer or own.pretokenizer or Pretokenizer(recipe)
        self.way = way or vocabulary.way(merges) or WAYS.of(recipe.encode)
        self.segmenter = self.way.segmenter(vocabulary, merges)
        if vocabulary.limit is not None:
            self.segmenter = self.segmenter.with_limit(*vocabulary.limit)
        self._stretches, self._bare = own.stretches, own.bare
        self.around = own.around or (_first(_BEGIN, vocabulary), _first(_END, vocabulary))
        """The special tokens before and after a text, where they are asked for."""
        self._unknown = UNKNOWN.of(own.unknown or recipe.unknown)
        self._recipe_unknown = UNKNOWN.of(recipe.unknown)
        # Two caches: the tokens of words, and the ids of words. Kernels are made for texts that are worth it.
        self._tokens_of_word: dict[str, tuple[WordToken, ...]] = {}
        self._ids_of_word: Memo[list[int]] | None = None
        self._text_kernels: Compiled | None = None
        """Cut long texts into words and encode them; for ways by words whose split has kernels."""
        self._word_kernels: Many | None = None
        """Encode many words at once, for all other ways by words."""
        self._document_kernels: Following | None = None
        """Encode words that depend on the words before them."""
        self._specials = tuple([
            name for name in vocabulary.specials if vocabulary.imported or name not in recipe.symbols
        ])
        """The specials that a text may hold by name, where the caller allows it.

        Symbols are not among them: they are words of the text.
        """

    def word(self, word: str, parts: list[WordPart] | None = None) -> tuple[WordToken, ...]:
        """The tokens of a pre-token. An unknown one that the recipe refuses is among them.

        Args:
            word: The pre-token.
            parts: Its parts, where it has others in its text than alone.
        """
        tokens = self._tokens_of_word.get(word) if parts is None else None
        if tokens is None and word in self.pretokenizer.symbols:
            return (WordToken(self.vocabulary.special_id(word), word, word.encode(), 0, 1, False),)
        if tokens is None:
            units, pieces = self.pretokenizer.units(word), self.vocabulary.pieces
            if parts is None:
                found = self.parts(units, len(word))
            else:
                found = self.with_unknown_policy(parts, units, self.kept_indices(units))
            tokens = tuple([
                self._token_without_symbol(part, units)
                if part.symbol is None
                else WordToken(
                    self.vocabulary.id_of(part.symbol, self.merges),
                    pieces[part.symbol].decode("utf-8", "replace"),
                    pieces[part.symbol], part.start, part.end, False, part.symbol,
                )
                for part in found
            ])
            if parts is None and len(word) <= memo.LONGEST:
                if len(self._tokens_of_word) >= memo.KEPT:
                    self._tokens_of_word.clear()
                self._tokens_of_word[word] = tokens
        return tokens

    def encode(
        self, text: str | bytes, *, allow_special: bool = False, special_tokens: bool = False,
        threads: int | None = None,
    ) -> Encoding:
        """Encode a text. Progress of the job is told in characters, or in words where a file says how these
        are cut.

        Args:
            text: The text; bytes that are not UTF-8 are kept where the unit is the byte.
            allow_special: Text that spells a special token becomes its id (the longest first), else it is
            plain text.
            special_tokens: Add the specials that begin and end a text, where there are (`[CLS]` `[SEP]`,
                `<s>` `</s>`).
            threads: As for `ids`.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`; it names the unit and
            its place.
            Cancelled: The job is cancelled.
        """
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        check()  # a text may be empty, or names alone
        placed = functools.partial(self.placed_tokens, text, special_tokens, allow_special)
        numbers = self._bare_ids(text, special_tokens, allow_special, threads)
        return Encoding.of(text, placed()) if numbers is None else Encoding.later(text, numbers, placed)

    def placed_tokens(self, text: str, special_tokens: bool, allow_special: bool) -> list[EncodedToken]:
        """The tokens of a text with their places."""
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
        """Yield the tokens of consecutive words with their places. Some segmenters look at the words before
        each.

        Args:
            words: The pre-tokens.
            first: The number of the first word.
            starts: Where they stand, if that is not where they say.

        Raises:
            TokentuiError: A unit is not in the vocabulary and the recipe says `error`.
        """
        symbols, follower = self.pretokenizer.symbols, None
        if self.way.scope != "word":
            follower = self._follower()
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
        numbers = self._bare_ids(text, special_tokens, allow_special, threads)
        if numbers is not None:
            return numbers
        rows = self.placed_tokens(text, special_tokens, allow_special)
        return packed(NO_ID if row.id is None else row.id for row in rows)

    def _bare_ids(
        self, text: str, special_tokens: bool, allow_special: bool, threads: int | None
    ) -> array[int] | None:
        """Return the ids of a text without computing places.

        Returns:
            None where the places are wanted: for the ids themselves, or to say where a unit is unknown.
        """
        found = self.plain_parts(text, allow_special)
        if found is None or self.way.scope == "chance":
            return None
        special_id = self.vocabulary.special_id
        before, after = self.around if special_tokens else ((), ())
        try:
            ids = packed(map(special_id, before))
            for part in found:
                more = packed([special_id(part.name)]) if isinstance(part, Special) else (
                    self._part_ids(part, threads)
                )
                ids = joined(ids, more)
            return joined(ids, packed(map(special_id, after)))
        except UnknownUnit:
            return None

    def _part_ids(self, part: str | list[str], threads: int | None) -> array[int]:
        """The ids of a text that the recipe alone cuts into words, or of words."""
        alone = self.way.scope == "word"
        if isinstance(part, str) and len(part) >= KERNEL_CHARS and alone and native.available():
            with native.rescued():
                if self.compiled().knows:
                    return self.compiled().encode(part, threads)
        if not alone and native.available() and sum(map(len, part)) >= KERNEL_CHARS:
            with native.rescued():
                if (found := self._document_ids(part)) is not None:
                    return found
        known = self._word_memo()
        ids, coded = array("i"), known.__getitem__
        if not alone:
            follower, symbols = self._follower(), self.pretokenizer.symbols

            def coded(word: str) -> list[int]:
                parts = None if word in symbols else follower(word)
                return known[word] if parts is None else self.word_ids(word, parts)

        for words in self._words_of(part):
            if alone:
                self._encode_new(words, known)
            ids = joined(ids, packed(itertools.chain.from_iterable(map(coded, words))))
        return ids

    def _ids_of_each(self, words: list[str]) -> list[list[int]]:
        """The ids of each of some words.

        Raises:
            UnknownUnit: As `word_ids` does.
        """
        known = self._word_memo()
        self._encode_new(words, known)
        return list(map(known.__getitem__, words))

    def _word_memo(self) -> Memo[list[int]]:
        """Return the memo of `word_ids`."""
        if self._ids_of_word is None:
            self._ids_of_word = Memo(self.word_ids)
        return self._ids_of_word

    def _encode_new(self, words: list[str], coded: Memo[list[int]]) -> None:
        """Encode the words that are not known yet by kernels, all at once, where these can and that pays off.

        Those with unknown units are left.
        """
        new = [word for word in dict.fromkeys(words) if word not in coded and len(word) <= memo.LONGEST]
        if not new or len(coded) + len(new) < MANY_WORDS or not native.available():
            return
        with native.rescued():
            if self._word_kernels is None:
                from tokentui.encode.kernels.batch import batch

                unit = self.pretokenizer.plain_unit
                takes = unit and (self.way.kernel or self.way.needs == "scores")
                made = batch(
                    self.vocabulary, self.merges, self.segmenter, unit, drops=self._recipe_unknown.drops_units
                ) if takes else None
                self._word_kernels = made or (lambda words: [None] * len(words))
            symbols = self.pretokenizer.symbols
            new = [word for word in new if word not in symbols and not _SURROGATE.search(word)]
            if len(coded) + len(new) > memo.KEPT:
                coded.clear()
            found = zip(new, self._word_kernels(new), strict=True)
            coded.update((word, ids) for word, ids in found if ids is not None)

    def compiled(self) -> Compiled:
        """Return the kernels and their tables, made once. Kernels must be available, and the way of encoding
        must work by words."""
        if self._text_kernels is None:
            from tokentui.encode.kernels.encode import Compiled  # not worth it for what is typed

            self._text_kernels = Compiled(
                self.vocabulary, self.merges, self.pretokenizer,
                self.segmenter if self.way.kernel else None, self._ids_of_each,
            )
        return self._text_kernels

    def _document_ids(self, part: str | list[str]) -> array[int] | None:
        """Return the ids of words that depend on the words before them, by kernels. None if the kernels
        cannot encode them."""
        if self._document_kernels is None:
            from tokentui.encode.kernels.batch import follow

            plain = self.pretokenizer.plain_unit == "char" and not (
                self._recipe_unknown.drops_units or self.pretokenizer.symbols
            )
            after, units = cast("Follower", self.segmenter).after, self.pretokenizer.units
            self._document_kernels = (follow(
                self.vocabulary, self.merges, self.segmenter,
                lambda word, before: self.word_ids(word, after(units(word), before)),
            ) if plain else None) or (lambda words, before: None)
        ids, total = array("i"), 0.0
        for words in self._words_of(part):
            found = self._document_kernels(words, total)
            if found is None:
                return None
            more, total = found
            ids += more
        return ids

    def _follower(self) -> Callable[[str], list[WordPart] | None]:
        """Return a function that cuts the words of one text in order, for segmenters that depend on the words
        before."""
        return cast("Follower", self.segmenter).follower(self._kept_units)

    def _words_of(self, part: str | list[str]) -> Iterator[list[str]]:
        """Yield lists of words: those of a text, part by part, or blocks of a list of words. Reports progress
        for long texts."""
        done = 0
        if isinstance(part, list):
            for start in range(0, len(part), _BLOCK):
                tick(start, len(part)) if len(part) > _BLOCK else check()
                yield part[start : start + _BLOCK]
            return
        for text, first in chunks([part], self.pretokenizer):
            tick(done, len(part)) if len(text) < len(part) else check()
            yield self.pretokenizer.words(text, first=first)
            done += len(text)

    def cached_ids(self, word: str) -> list[int]:
        """Return `word_ids` of a word alone, from memory if it was encoded before. The list must not change.

        Raises:
            UnknownUnit: As `word_ids` does.
        """
        return self._word_memo()[word]

    def ids_include(self, text: str, token_id: int, words: Sequence[str] | None = None) -> bool:
        """Return whether the ids of a text include one. False if the text is refused.

        Args:
            text: The text.
            token_id: The id.
            words: Its pre-tokens, if they are known: those that `pretokenizer.words` returns.
        """
        check()
        try:
            if self.way.scope == "word" and len(text) < KERNEL_CHARS and self.splits_plainly(text):
                # The ids of its words, without what `encode` needs for a text of any size.
                ids = list(map(self.cached_ids, words or self.pretokenizer.words(text)))
                return any(token_id in word for word in ids)
            return token_id in self.ids(text)
        except TokentuiError:
            return False

    def word_ids(self, word: str, parts: list[WordPart] | None = None) -> list[int]:
        """The ids of a word; `parts` as for `word`.

        Raises:
            UnknownUnit: One of its units is unknown and the recipe refuses it.
        """
        if word in self.pretokenizer.symbols:
            return [self.vocabulary.special_id(word)]
        units, id_of, ids = self.pretokenizer.units(word), self.vocabulary.id_of, list[int]()
        found = self.parts(units, len(word)) if parts is None else (
            self.with_unknown_policy(parts, units, self.kept_indices(units))
        )
        for part in found:
            if part.symbol is not None:
                ids.append(id_of(part.symbol, self.merges))
                continue
            token = self._token_without_symbol(part, units)
            if token.unknown and self._recipe_unknown.is_error:
                raise UnknownUnit("an unknown unit", quoted(word))
            ids.append(NO_ID if token.id is None else token.id)
        return ids

    def at_merges(self, merges: int) -> WordEncoder:
        """Return an encoder for another number of merges. Cached words that the change does not affect are
        kept."""
        vocabulary = self.vocabulary
        if type(self.segmenter) is not Merging or type(vocabulary) is not Vocabulary or vocabulary.base_last:
            return WordEncoder(vocabulary, merges, self.pretokenizer)
        other = copy.copy(self)
        other.merges, other.segmenter = merges, self.segmenter.with_limit(merges, ())
        other._ids_of_word = other._text_kernels = other._word_kernels = other._document_kernels = None
        other._tokens_of_word, made, ranks = {}, vocabulary.base_size + merges, vocabulary.ranks
        for word, tokens in self._tokens_of_word.items():
            symbols = [made if token.symbol is None else token.symbol for token in tokens]
            # kept if all of its symbols are made by now and none of their pairs merges
            if max(symbols, default=0) < made and all(
                ranks.get(pair, merges) >= merges for pair in itertools.pairwise(symbols)
            ):
                other._tokens_of_word[word] = tokens
        return other

    def stretches(self, text: str, allow_special: bool) -> Iterator[Stretch]:
        """Yield the special tokens that a text contains by name, and lists of the pre-tokens between them."""
        if self._stretches is not None:
            yield from self._stretches(text, allow_special)
            return
        for start, stretch in cut_at_names(text, self._specials if allow_special else ()):
            if isinstance(stretch, Special):
                yield stretch
            else:
                pretokens = self.pretokenizer.analyse(stretch).pretokens
                yield [pretoken.moved(start) for pretoken in pretokens] if start else pretokens

    def splits_plainly(self, text: str) -> bool:
        """Return whether the recipe alone decides how a text is cut, and the text contains no special token.
        """
        if type(self.pretokenizer) is not Pretokenizer:
            return False
        return self._stretches is None or not may_hold(text, self._specials)

    def plain_parts(self, text: str, allow_special: bool) -> Iterable[Special | str | list[str]] | None:
        """Return the parts of a text without places: special tokens, texts that the recipe alone cuts, or
        lists of words.

        Returns:
            None where the places are wanted.
        """
        plainly = self.splits_plainly(text)
        if not plainly and self._stretches is not None:
            return None if self._bare is None else self._bare(text, allow_special)
        names = self._specials if allow_special and self._stretches is None else ()
        words = self.pretokenizer.words
        parts = (part for _, part in cut_at_names(text, names))
        return parts if plainly else (words(part) if isinstance(part, str) else part for part in parts)

    def parts(
        self, units: list[bytes], characters: int, segmenter: Segmenter | None = None
    ) -> list[WordPart]:
        """The parts of a word's units by the way of encoding, or by another one, and the policy for unknown
        ones."""
        segmenter = segmenter or self.segmenter
        if not (self._recipe_unknown.drops_units or self._unknown.policy):
            return segmenter.segment(units, characters)
        kept = self.kept_indices(units)
        parts = segmenter.segment([units[at] for at in kept], characters)
        return self.with_unknown_policy(parts, units, kept)

    def with_unknown_policy(
        self, parts: list[WordPart], units: Sequence[bytes], kept: Sequence[int]
    ) -> list[WordPart]:
        """The parts of the units that take part, after the policy for unknown ones; places are of all units.
        """
        if len(kept) < len(units):
            parts = [part._replace(start=kept[part.start], end=kept[part.end - 1] + 1) for part in parts]
        policy = self._unknown.policy
        return parts if policy is None else policy(parts, units, self.vocabulary.bare)

    def kept_indices(self, units: Sequence[bytes]) -> Sequence[int]:
        """The units that take part: with `drop` unknown ones go first, so that their neighbors meet."""
        if not self._recipe_unknown.drops_units:
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
            return TokentuiError(f"{what}: {quoted(pretoken.text)}", where, "take encode=merges")
        return self.vocabulary.refusal(units[token.start], where)

    def _token_without_symbol(self, part: WordPart, units: list[bytes]) -> WordToken:
        """Return the token of a part without a symbol: a byte-fallback token, the kept text, or the unknown
        token."""
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
