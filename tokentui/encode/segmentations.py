"""Count the segmentations of a text into tokens of a vocabulary, and return the first of them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from math import exp
from typing import NamedTuple

from tokentui.core import limits
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.encode.decode import SymbolFinder, spelled_units, symbols_of
from tokentui.encode.encoder import WordEncoder, WordToken
from tokentui.encode.names import Special
from tokentui.encode.results import WordSegmentations
from tokentui.encode.segment import ENCODING_WAYS, UNKNOWN
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.encode.vocabulary import byte_token


class _Option(NamedTuple):
    """The tokens for the units up to `end`: one token, or the byte tokens of an unknown character."""

    end: int
    pieces: tuple[bytes, ...]


_TokenBytes = tuple[bytes, ...]
_Way = tuple[_TokenBytes, "_Way"] | None
"""A linked list: the tokens of the first option, and the rest; None at the end."""
_BestSegmentations = tuple[int, list[tuple[_TokenBytes, float | None]], list[float]]
"""The number of segmentations, the first ones with their log probabilities, and their shares."""


def ways(encoder: WordEncoder, word: str, limit: int = 10) -> WordSegmentations:
    """Return the segmentations of a pre-token into tokens of a vocabulary.

    Those with fewer tokens come first, then those with longer first tokens; with a unigram model, the more
    probable ones first. Tokens with equal spellings count once. Special tokens are excluded. Byte-fallback
    tokens are included for units that are not tokens. If the recipe refuses the word, `chosen` is empty.

    Args:
        encoder: The encoder of a tokenizer.
        word: The pre-token.
        limit: The most segmentations to return. All are counted.

    Raises:
        TokentuiError: The word has more units than the limit `ways-units`.
    """
    units, most = encoder.pretokenizer.units(word), limits.now().ways_units
    units = [units[at] for at in encoder.kept_indices(units)]
    if len(units) > most:
        what = f"a word of {len(units):,} units is too long to count its ways"
        raise TokentuiError(what, "", limits.reading("ways-units", f"use one of at most {most:,}"))
    count, best, shares = (_probable if isinstance(encoder.segmenter, Viterbi) else _fewest)(
        encoder, units, limit
    )
    chosen = _chosen(encoder, encoder.word(word))
    how = ENCODING_WAYS.of(encoder.vocabulary.recipe.encode).how
    return WordSegmentations(word, count, tuple(best), chosen, how, tuple(shares))


def _chosen(encoder: WordEncoder, tokens: Sequence[WordToken]) -> _TokenBytes:
    """Return the tokens that the encoder chooses; empty for a word that the recipe refuses."""
    if UNKNOWN.of(encoder.vocabulary.recipe.unknown).is_error and any(token.unknown for token in tokens):
        return ()
    return tuple(to_bytes(token.text) if token.piece is None else token.piece for token in tokens)


def ways_of(encoder: WordEncoder, text: str) -> tuple[WordSegmentations, ...]:
    """Return the segmentations of each of the first ten distinct pre-tokens of a text; see `ways`."""
    distinct = list(dict.fromkeys(pretoken.text for pretoken in encoder.pretokenizer.analyze(text).pretokens))
    return tuple(ways(encoder, word) for word in distinct[:10])


def segmentations(encoder: WordEncoder, text: str, limit: int = 10) -> WordSegmentations:
    """Return the segmentations of a text, combined from those of its pre-tokens; see `ways`.

    No token crosses a pre-token, so numbers and shares are multiplied. A special token or symbol in the text
    has one segmentation.

    Raises:
        TokentuiError: A word has more units than the limit `ways-units`.
    """
    scored = isinstance(encoder.segmenter, Viterbi)
    known: dict[str, WordSegmentations] = {}
    count, best = 1, [(_TokenBytes(), 0.0 if scored else None, 1.0)]
    chosen: list[_TokenBytes] = []
    for part in encoder.stretches(text, False):
        for word in [part] if isinstance(part, Special) else part:
            name = word.name if isinstance(word, Special) else word.text
            if isinstance(word, Special) or name in encoder.pretokenizer.symbols:
                piece = name.encode("utf-8", "surrogatepass")
                known[name] = WordSegmentations(name, 1, (((piece,), 0.0),), (piece,), "", (1.0,))
            elif name not in known:
                known[name] = ways(encoder, name, limit)
            of_word = known[name]
            count, best = count * of_word.count, _joined(best, of_word, limit)
            chosen.append(of_word.chosen)
    how = ENCODING_WAYS.of(encoder.vocabulary.recipe.encode).how
    return WordSegmentations(
        text, count, tuple((way, score) for way, score, _ in best[:limit]),
        tuple(piece for way in chosen for piece in way) if all(chosen) else (), how,
        tuple(share for _, _, share in best[:limit]) if scored else (),
    )


def _joined(
    best: list[tuple[_TokenBytes, float | None, float]], word: WordSegmentations, limit: int
) -> list[tuple[_TokenBytes, float | None, float]]:
    """Append a word to the segmentations so far. Keep the first `limit` results.

    The combination of the i-th and the j-th comes after i·j others, so only few are needed.
    """
    shares = word.shares or (1.0,) * len(word.ways)
    combined = [
        (way + more, None if total is None else total + (score or 0.0), share * other)
        for i, (way, total, share) in enumerate(best, 1)
        for (more, score), other in zip(word.ways[: limit // i], shares, strict=False)
    ]
    combined.sort(key=lambda row: (
        (-row[1],) if row[1] is not None else (len(row[0]), *(-len(piece) for piece in row[0]))
    ))
    return combined[:limit]


# ---- the fewest tokens


def _edges(encoder: WordEncoder, units: Sequence[bytes]) -> list[list[_Option]]:
    """Return the options that start at each unit of a word, the shortest first."""
    vocabulary = encoder.vocabulary
    prefix = vocabulary.prefix
    whole = b"".join(map(vocabulary.bare, units) if prefix else units)
    # Few tokens occur in this word; only for these are the units computed.
    symbols = symbols_of(vocabulary, encoder.merges)
    near = (symbol for symbol in symbols if vocabulary.spelled(symbol).removeprefix(prefix) in whole)
    finder = SymbolFinder(
        (spelled_units(encoder, symbol), symbol) for symbol in near
        if symbol not in vocabulary.unreachable and vocabulary.kind_of(symbol) != "byte"
    )
    edges: list[list[_Option]] = []
    for start, unit in enumerate(units):
        here = [_Option(end, (vocabulary.spelled(symbol),)) for end, symbol in finder.at(units, start)]
        if not (here and here[0].end == start + 1) and (spelled := _fallback(encoder, unit)):
            here.insert(0, _Option(start + 1, spelled))
        edges.append(here)
    return edges


def _fallback(encoder: WordEncoder, unit: bytes) -> _TokenBytes:
    """Return the byte-fallback tokens of a unit; empty if the vocabulary lacks one."""
    vocabulary = encoder.vocabulary
    if vocabulary.byte_tokens:
        return tuple(byte_token(value).encode() for value in vocabulary.bare(unit))
    symbols = [vocabulary.byte_symbols.get(value) for value in unit]
    return () if None in symbols else tuple(
        vocabulary.pieces[symbol] for symbol in symbols if symbol is not None
    )


def _fewest(encoder: WordEncoder, units: Sequence[bytes], limit: int) -> _BestSegmentations:
    """Return the segmentations with the fewest tokens first; of equal numbers, those with longer tokens
    first."""
    edges = _edges(encoder, units)
    counts = [0] * len(edges) + [1]  # the ways from each unit to the end
    best: list[list[tuple[int, _Way]]] = [[] for _ in edges] + [[(0, None)]]
    for start in reversed(range(len(edges))):
        counts[start] = sum(counts[edge.end] for edge in edges[start])
        longest = reversed(edges[start])  # first, since sorting is stable
        options: list[tuple[int, _Way]] = [
            (size + len(edge.pieces), (edge.pieces, way)) for edge in longest for size, way in best[edge.end]
        ]
        best[start] = sorted(options, key=operator.itemgetter(0))[:limit]
    listed: list[tuple[_TokenBytes, float | None]] = [
        (way, None) for way in _written(way for _, way in best[0])
    ]
    return counts[0], listed[:limit], []


def _written(ways_: Iterable[_Way]) -> Iterator[_TokenBytes]:
    """Yield the pieces of each way, read from its chain of (first pieces, rest)."""
    for way in ways_:
        pieces: list[bytes] = []
        while way is not None:
            first, way = way
            pieces += first
        yield tuple(pieces)


# ---- the most probable


def _probable(encoder: WordEncoder, units: Sequence[bytes], limit: int) -> _BestSegmentations:
    """Return the segmentations of a unigram model, most probable first. Those with an unknown unit are
    excluded."""
    segmenter = encoder.segmenter
    assert isinstance(segmenter, Viterbi)
    pieces = encoder.vocabulary.pieces
    fallback = all(_fallback(encoder, unit) for unit in units if unit not in encoder.vocabulary.units)
    count, total, best = segmenter.segmentations(units, limit, unknown=fallback)
    best_ways: list[tuple[_TokenBytes, float | None]] = []
    for way, score in best:
        spelled: list[bytes] = []
        for arc in way:
            spelled += _fallback(encoder, units[arc.start]) if arc.symbol is None else [pieces[arc.symbol]]
        best_ways.append((tuple(spelled), score))
    return count, best_ways, [exp(min(0.0, score - total)) for _, score in best]
