"""What is known of one token: its bytes, its birth, its relations, and whether it can be made."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from tokentui.analyze.reach import unreachable
from tokentui.analyze.results import Branch, TokenFacts
from tokentui.analyze.spelling import spelled_units
from tokentui.core.errors import TokentuiError
from tokentui.encode import Decoder, WordEncoder
from tokentui.encode.tokenizer import Entry, Tokenizer

_CHILDREN = 20
_OTHERS = 20
_BRANCHES = 127
_SPACES = " \t\n\r▁"


def token_facts(tokenizer: Tokenizer, token: int | bytes | str) -> TokenFacts:
    """The facts of a token.

    Args:
        tokenizer: The tokenizer.
        token: Its id, or its exact text or bytes with its mark; of several that are spelled alike the first.

    Raises:
        TokentuiError: There is none.
    """
    entry = _entry(tokenizer, token)
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    encoder = WordEncoder(vocabulary, merges)
    symbol = vocabulary.symbols_by_id(merges).get(entry.id)
    if symbol is None or entry.kind in ("special", "unknown", "byte"):
        return TokenFacts(
            entry.id, entry.piece, entry.kind, None, entry.text, _code_points(entry.text),
            units=(), step=None, count=None, parents=(), children=(), child_count=0, tree=(), tree_size=0, others=(),
            unreachable="",
        )
    piece = vocabulary.spelled(symbol)
    text = _text(piece)
    rank = symbol - vocabulary.base_size
    children = [child for child, pair in enumerate(vocabulary.merges[:merges], vocabulary.base_size) if symbol in pair]
    return TokenFacts(
        id=entry.id,
        piece=piece,
        kind=entry.kind,
        score=entry.score,
        text=text,
        code_points=_code_points(text or ""),
        units=spelled_units(encoder, symbol),
        step=rank + 1 if rank >= 0 else None,
        count=vocabulary.counts[rank] if rank >= 0 else None,
        parents=tuple(vocabulary.spelled(part) for part in vocabulary.merges[rank]) if rank >= 0 else (),
        children=tuple((vocabulary.id_of(child, merges), vocabulary.spelled(child)) for child in children[:_CHILDREN]),
        child_count=len(children),
        tree=tuple(_tree(tokenizer, symbol)) if rank >= 0 else (),
        tree_size=_tree_size(tokenizer, symbol) if rank >= 0 else 0,
        others=tuple(_others(tokenizer, encoder, symbol, entry.id)),
        unreachable=unreachable(encoder, Decoder(vocabulary, merges), symbol),
        marks=encoder.marks.sizes(symbol),
    )


def find_tokens(tokenizer: Tokenizer, text: str | bytes) -> list[Entry]:
    """The entries whose exact bytes these are, in order of the ids."""
    piece = _bytes(text)
    symbols = tokenizer.vocabulary.symbols_by_id(tokenizer.merges)
    spelled = tokenizer.vocabulary.spelled
    ordinary = ("unit", "merge", "piece")
    return [
        entry for entry in tokenizer.entries()
        if (spelled(symbols[entry.id]) if entry.kind in ordinary else entry.piece) == piece
    ]


def _entry(tokenizer: Tokenizer, token: int | bytes | str) -> Entry:
    if isinstance(token, int):
        first, size = tokenizer.vocabulary.first_id, tokenizer.vocab_size
        for entry in tokenizer.entries():
            if entry.id == token:
                return entry
        hint = f"ids are {first} to {first + size - 1}" if size else "the vocabulary is empty"
        raise TokentuiError("no such id", str(token) if abs(token) < 10**18 else "a very large number", hint)
    found = find_tokens(tokenizer, token)
    if not found:
        raise TokentuiError("no token is spelled so", repr(token), "tokens are named with their marks, such as ##ing")
    return found[0]


def _bytes(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _text(piece: bytes) -> str | None:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None


def _code_points(text: str) -> tuple[str, ...]:
    return tuple(f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in text)


def _tree(tokenizer: Tokenizer, symbol: int) -> Iterator[Branch]:
    """The first nodes of a merge tree, each before its parts."""
    vocabulary, base = tokenizer.vocabulary, tokenizer.vocabulary.base_size
    known = vocabulary.symbols_by_id(tokenizer.merges)
    waiting = [(0, symbol)]
    for _ in range(_BRANCHES):
        if not waiting:
            return
        depth, one = waiting.pop()
        number = vocabulary.id_of(one, tokenizer.merges)
        yield Branch(depth, number if known.get(number) == one else None, vocabulary.spelled(one), max(0, one - base + 1))
        if one >= base:
            left, right = vocabulary.merges[one - base]
            waiting += ((depth + 1, right), (depth + 1, left))


def _tree_size(tokenizer: Tokenizer, symbol: int) -> int:
    """The number of nodes of a merge tree."""
    base, merges = tokenizer.vocabulary.base_size, tokenizer.vocabulary.merges
    size, waiting = 0, [symbol]
    while waiting:
        one = waiting.pop()
        size += 1
        if one >= base:
            waiting += merges[one - base]
    return size


def _others(tokenizer: Tokenizer, encoder: WordEncoder, symbol: int, number: int) -> Iterator[tuple[int, bytes]]:
    """The tokens that differ in case, white space or mark alone."""
    vocabulary = tokenizer.vocabulary
    key = _key(encoder, symbol)
    if not key:
        return
    left = _OTHERS
    for other, one in sorted(vocabulary.symbols_by_id(tokenizer.merges).items()):
        if other != number and _key(encoder, one) == key:
            yield other, vocabulary.spelled(one)
            left -= 1
            if not left:
                return


def _key(encoder: WordEncoder, symbol: int) -> str:
    """A token without what its relatives may differ in; empty for a part of a character, and for white space."""
    piece = encoder.vocabulary.spelled(symbol)
    text = _text(piece)
    if text is None:
        return ""
    mark = encoder.marks.mark.decode()
    if mark:
        bare = text.removeprefix(mark) if encoder.vocabulary.recipe.mark_kind == "prefix" else text.removesuffix(mark)
        text = bare or text
    return text.strip(_SPACES).casefold()
