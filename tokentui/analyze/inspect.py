"""Facts of one token and of any string: its bytes, its making, its relatives, why it is not one token."""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from tokentui.analyze.results import Branch, StringFacts, Token, TokenFacts, WordFacts
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.encode.answers import Ways
from tokentui.encode.decode import bare, spelled_units
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.reach import never
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.encode.ways import ways
from tokentui.encode.why_not import why_not
from tokentui.learn.outlook import outlook
from tokentui.learn.trainer import Trainer

_CHILDREN = 20
_OTHERS = 20
_BRANCHES = 127
_SPACES = " \t\n\r▁"


def token_facts(tokenizer: Tokenizer, token: int) -> TokenFacts:
    """The facts of the token of an id.

    Raises:
        TokentuiError: There is none.
    """
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    entry = next((entry for entry in tokenizer.entries() if entry.id == token), None)
    if entry is None:
        named = str(token) if abs(token) < 10**18 else "a very large number"
        raise TokentuiError("no such id", named, tokenizer.decoder.span)
    if (symbol := entry.symbol) is None:
        return TokenFacts(entry.id, entry.piece, entry.kind, None, _code_points(entry.text))
    encoder, piece = tokenizer.encoder, vocabulary.spelled(symbol)
    made = vocabulary.makings(merges)
    children = list(dict.fromkeys(child for child, parts in made if symbol in parts))
    facts = TokenFacts(
        id=entry.id,
        piece=piece,
        kind=entry.kind,
        score=entry.score,
        code_points=_code_points(text_of(piece) or ""),
        units=spelled_units(encoder, symbol),
        children=tuple(Token(vocabulary.id_of(one, merges), vocabulary.spelled(one))
                       for one in children[:_CHILDREN]),
        child_count=len(children),
        others=tuple(itertools.islice(_others(encoder, symbol), _OTHERS)),
        unreachable=never(tokenizer, symbol),
        marks=vocabulary.mark_sizes(symbol),
    )
    if not vocabulary.parts(symbol):
        return facts
    return replace(
        facts,
        step=vocabulary.made_at(symbol),
        count=vocabulary.count_of(symbol),
        parents=tuple(map(vocabulary.spelled, vocabulary.parts(symbol))),
        tree=tuple(itertools.islice(_tree(encoder, symbol), _BRANCHES)),
        tree_size=sum(1 for _ in _nodes(vocabulary, symbol)),
    )


def find_tokens(tokenizer: Tokenizer, text: str | bytes) -> list[Entry]:
    """The entries whose exact bytes these are, in order of the ids."""
    piece = text if isinstance(text, bytes) else to_bytes(text)
    spelled = tokenizer.vocabulary.spelled
    return [
        entry for entry in tokenizer.entries()
        if (entry.piece if entry.symbol is None else spelled(entry.symbol)) == piece
    ]


def text_of(piece: bytes) -> str | None:
    """The bytes of a token as text, None where they are not UTF-8."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None


def _code_points(text: str) -> tuple[str, ...]:
    return tuple(f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in text)


def _nodes(vocabulary: Vocabulary, symbol: int) -> Iterator[tuple[int, int, int]]:
    """(depth, symbol, first unit) of each node of a merge tree, each before its parts. Units are counted in
    pieces of the base."""
    waiting, unit = [(0, symbol)], 0
    while waiting:
        depth, one = waiting.pop()
        yield depth, one, unit
        if parts := vocabulary.parts(one):
            waiting += [(depth + 1, part) for part in reversed(parts)]
        else:
            unit += 1


def _tree(encoder: WordEncoder, symbol: int) -> Iterator[Branch]:
    """A merge tree, each node before its parts."""
    vocabulary, merges = encoder.vocabulary, encoder.merges
    known = vocabulary.symbols_by_id(merges)
    for depth, one, _ in _nodes(vocabulary, symbol):
        number = vocabulary.id_of(one, merges)
        own = number if known.get(number) == one else None
        yield Branch(depth, vocabulary.made_at(one), own, vocabulary.spelled(one))


def _others(encoder: WordEncoder, symbol: int) -> Iterator[Token]:
    """The tokens that differ in case, white space or mark alone."""
    vocabulary = encoder.vocabulary
    key = _key(vocabulary, symbol)
    for other, one in sorted(vocabulary.symbols_by_id(encoder.merges).items()):
        if key and one != symbol and _key(vocabulary, one) == key:
            yield Token(other, vocabulary.spelled(one))


def _key(vocabulary: Vocabulary, symbol: int) -> str:
    """A token without what its relatives may differ in; empty for a part of a character, and for white space.
    """
    text = text_of(bare(vocabulary.recipe, vocabulary.spelled(symbol)))
    return (text or "").strip(_SPACES).casefold()


def string_facts(
    tokenizer: Tokenizer, text: str, limit: int = 10, trainer: Trainer | None = None
) -> StringFacts:
    """The facts of a string.

    Args:
        tokenizer: The tokenizer.
        text: The string.
        limit: The most ways listed to write each pre-token.
        trainer: The training that the tokenizer comes from, which says what is to come.

    Raises:
        TokentuiError: The pattern of the split takes too long.
    """
    encoding, refusal = None, ""
    try:
        encoding = tokenizer.encode(text)
    except TokentuiError as error:
        refusal = str(error)
    encoder = tokenizer.encoder

    @functools.cache
    def known(word: str) -> Ways | None:
        try:
            return ways(encoder, word, limit)
        except TokentuiError:
            return None

    words = tuple(WordFacts(one, known(one.text), one.lattice) for one in tokenizer.explain(text))
    why = why_not(tokenizer, text, outlook(tokenizer, trainer))
    return StringFacts(text, encoding, refusal, why.sentence, words, why, tokenizer.round_trip(text))
