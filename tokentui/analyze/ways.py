"""The ways to write a word in a vocabulary: all segmentations counted, the first of them, and the one that
is taken."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tokentui.analyze.results import Ways
from tokentui.core.errors import TokentuiError
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.reach import Finder, spelled_units, symbols_of
from tokentui.encode.segment.unknown import UNKNOWN
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.encode.segment.ways import WAYS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import byte_token

MAX_UNITS = 10_000
"""A longer word's ways are not counted: their number has more digits than Python prints."""
_MOST_TRIED = 10_000  # segmentations with unknown units that are passed over before the search is given up



class _Edge(NamedTuple):
    """Tokens that may stand for the units up to `end`: one token, or an unknown character's bytes."""

    end: int
    pieces: tuple[bytes, ...]


def ways(tokenizer: Tokenizer, word: str, limit: int = 10, *, encoder: WordEncoder | None = None) -> Ways:
    """The ways to write a pre-token in the tokens of a vocabulary.

    Those with fewer tokens come first, then those whose first tokens are longer; by a unigram model, the more
    probable ones. Tokens that are spelled alike are one way. Special tokens take no part; bytes do for a unit
    that is no token (byte fallback). Where the recipe refuses the word, none is chosen.

    Args:
        tokenizer: The tokenizer.
        word: The pre-token.
        limit: The most ways returned; all are counted.
        encoder: One of this tokenizer, to save making it.

    Raises:
        TokentuiError: The word has more than `MAX_UNITS` units.
    """
    encoder = encoder or WordEncoder(tokenizer.vocabulary, tokenizer.merges)
    units = encoder.pretokenizer.units(word)
    units = [units[at] for at in encoder.kept(units)]
    if len(units) > MAX_UNITS:
        what = f"a word of {len(units):,} units is too long to count its ways"
        raise TokentuiError(what, "", f"take one of at most {MAX_UNITS:,}")
    edges = _edges(encoder, units)
    count = _count(edges)
    found: Iterator[tuple[tuple[bytes, ...], float | None]]
    if isinstance(encoder.segmenter, Viterbi):
        found = _probable(encoder, encoder.segmenter, units)
    else:
        found = ((way, None) for way in _fewest(edges))
    tokens = encoder.word(word)
    refused = UNKNOWN.of(tokenizer.recipe.unknown).refused and any(token.unknown for token in tokens)
    chosen = tuple(
        token.text.encode() if token.piece is None else token.piece for token in (() if refused else tokens)
    )
    how = WAYS.of(tokenizer.recipe.encode).how
    return Ways(word, count, tuple(itertools.islice(found, min(limit, count))), chosen, how)


def ways_of(tokenizer: Tokenizer, text: str, limit: int = 10, words: int = 10) -> tuple[Ways, ...]:
    """The ways to write each of the first distinct pre-tokens of a text; see `ways`."""
    encoder = WordEncoder(tokenizer.vocabulary, tokenizer.merges)
    distinct = list(dict.fromkeys(pretoken.text for pretoken in encoder.pretokenizer.pretokens(text)))
    return tuple(ways(tokenizer, word, limit, encoder=encoder) for word in distinct[:words])


def _edges(encoder: WordEncoder, units: Sequence[bytes]) -> list[list[_Edge]]:
    """The tokens that may start at each unit of a word, the shortest first."""
    vocabulary = encoder.vocabulary
    prefix = encoder.marks.prefix
    whole = b"".join(map(encoder.marks.bare, units) if prefix else units)
    # Few tokens have their bytes in this word at all; only of those are the units found.
    near = [
        s for s in symbols_of(
            vocabulary, encoder.merges
        ) if vocabulary.spelled(s).removeprefix(prefix) in whole
    ]
    finder = Finder((spelled_units(encoder, symbol), symbol) for symbol in near)
    edges: list[list[_Edge]] = []
    for start, unit in enumerate(units):
        here = [_Edge(end, (vocabulary.spelled(symbol),)) for end, symbol in finder.at(units, start)]
        if vocabulary.byte_tokens and not (here and here[0].end == start + 1):
            here.insert(0, _Edge(start + 1, _fallback(encoder, unit)))
        edges.append(here)
    return edges


def _fallback(encoder: WordEncoder, unit: bytes) -> tuple[bytes, ...]:
    return tuple(byte_token(value).encode() for value in encoder.marks.bare(unit))


def _count(edges: list[list[_Edge]]) -> int:
    """The number of ways through, from the end to the start."""
    counts = [0] * len(edges) + [1]
    for start in range(len(edges) - 1, -1, -1):
        counts[start] = sum(counts[edge.end] for edge in edges[start])
    return counts[0]


def _fewest(edges: list[list[_Edge]]) -> Iterator[tuple[bytes, ...]]:
    """The ways with fewest tokens first, of equals those that start with longer tokens."""
    size = len(edges)
    # Bit k of a place: the rest can be written in exactly k tokens, so no search runs into a dead end.
    reach = [0] * size + [1]
    for start in range(size - 1, -1, -1):
        for edge in edges[start]:
            reach[start] |= reach[edge.end] << len(edge.pieces)
    for total in range(reach[0].bit_length()):
        if not reach[0] >> total & 1:
            continue
        waiting: list[Iterator[_Edge]] = [_leading(edges, reach, 0, total)]
        way: list[_Edge] = []
        left = total
        while waiting:
            following = next(waiting[-1], None)
            if following is None:
                waiting.pop()
                if way:
                    left += len(way.pop().pieces)
                continue
            way.append(following)
            left -= len(following.pieces)
            if following.end == size:
                yield tuple(itertools.chain.from_iterable(one.pieces for one in way))
                left += len(way.pop().pieces)
            else:
                waiting.append(_leading(edges, reach, following.end, left))


def _leading(edges: list[list[_Edge]], reach: list[int], start: int, left: int) -> Iterator[_Edge]:
    """The edges, longest first, after which the rest can be written in what is left of so many tokens."""
    for edge in reversed(edges[start] if start < len(edges) else ()):
        rest = left - len(edge.pieces)
        if rest >= 0 and reach[edge.end] >> rest & 1:
            yield edge


def _probable(
    encoder: WordEncoder, segmenter: Viterbi, units: Sequence[bytes]
) -> Iterator[tuple[tuple[bytes, ...], float | None]]:
    """The ways of a unigram model, most probable first; those with a unit that is no token are passed over.
    """
    known = encoder.vocabulary.units
    fallback = encoder.vocabulary.byte_tokens > 0
    for way, score in itertools.islice(segmenter.nbest(units), _MOST_TRIED):
        if all(piece in known for piece in way):
            yield way, score
        elif fallback:
            spelled = ((piece,) if piece in known else _fallback(encoder, piece) for piece in way)
            yield tuple(itertools.chain.from_iterable(spelled)), score
