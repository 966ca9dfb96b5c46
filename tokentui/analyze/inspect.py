"""Facts of one token and of any string: its bytes, its making, its relatives, why it is not one token."""

from __future__ import annotations

import functools
import itertools
import operator
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tokentui.analyze.results import Branch, StringFacts, Token, TokenFacts, Ways, WordFacts
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes, visible
from tokentui.encode.decode import Finder, bare, spelled_units, symbols_of, unreachable
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment import UNKNOWN, WAYS, MergeStep
from tokentui.encode.segment.viterbi import Edge, Viterbi
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.encode.vocabulary import Vocabulary, byte_token
from tokentui.text.pretokenize import Pretokenizer

MAX_UNITS = 10_000
"""A longer word's ways are not counted: their number has more digits than Python prints."""
_MOST_TRIED = 10_000  # segmentations with unknown units that are passed over before the search is given up
_CHILDREN = 20
_OTHERS = 20
_BRANCHES = 127
_SHOWN = 8
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
    pairs = enumerate(vocabulary.merges[:merges], vocabulary.base_size)
    children = [child for child, pair in pairs if symbol in pair]
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
        unreachable=unreachable(encoder, tokenizer.decoder, symbol),
        marks=vocabulary.mark_sizes(symbol),
    )
    rank = symbol - vocabulary.base_size
    if rank < 0:
        return facts
    return replace(
        facts,
        step=rank + 1,
        count=vocabulary.counts[rank],
        parents=tuple(map(vocabulary.spelled, vocabulary.merges[rank])),
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
    base, merges = vocabulary.base_size, vocabulary.merges
    waiting, unit = [(0, symbol)], 0
    while waiting:
        depth, one = waiting.pop()
        yield depth, one, unit
        if one >= base:
            left, right = merges[one - base]
            waiting += ((depth + 1, right), (depth + 1, left))
        else:
            unit += 1


def _tree(encoder: WordEncoder, symbol: int) -> Iterator[Branch]:
    """A merge tree, each node before its parts."""
    vocabulary, merges = encoder.vocabulary, encoder.merges
    known = vocabulary.symbols_by_id(merges)
    for depth, one, _ in _nodes(vocabulary, symbol):
        number = vocabulary.id_of(one, merges)
        own = number if known.get(number) == one else None
        yield Branch(depth, max(0, one - vocabulary.base_size + 1), own, vocabulary.spelled(one))


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


def string_facts(tokenizer: Tokenizer, text: str, limit: int = 10) -> StringFacts:
    """The facts of a string.

    Args:
        tokenizer: The tokenizer.
        text: The string.
        limit: The most ways listed to write each pre-token.

    Raises:
        TokentuiError: The pattern of the split takes too long.
    """
    encoding, refusal = None, ""
    try:
        encoding = tokenizer.encode(text)
    except TokentuiError as error:
        refusal = str(error)
    encoder = tokenizer.encoder
    scored = WAYS.of(tokenizer.recipe.encode).needs == "scores"

    @functools.cache
    def known(word: str) -> tuple[Ways | None, tuple[Edge, ...]]:
        try:
            written = ways(encoder, word, limit)
        except TokentuiError:
            written = None
        units = Pretokenizer(tokenizer.recipe).units(word) if scored else ()
        return written, tuple(Viterbi(tokenizer.vocabulary).lattice(units)) if scored else ()

    words = tuple(WordFacts(one, *known(one.text)) for one in tokenizer.explain(text))
    return StringFacts(text, encoding, refusal, why_not_one(tokenizer, text), words)


def why_not_one(tokenizer: Tokenizer, text: str) -> str:
    """The reason why a text does not become one token by itself, or that it does: one sentence.

    The reasons are looked for in the order in which a text passes them: special tokens, normalisation, split,
    unknown units, and then the vocabulary and how it is encoded.
    """
    if not text:
        return "It is the empty text, which has no tokens."
    vocabulary, recipe, encoder = tokenizer.vocabulary, tokenizer.recipe, tokenizer.encoder
    analysis = encoder.pretokenizer.analyse(text)
    pretokens, normalized = analysis.pretokens, analysis.normalized
    changed = f", after normalising it to {_shown(normalized)}," if normalized != text else ""
    if not pretokens:
        return f"Nothing of it is left{changed or ' after the split'}: it has no tokens."
    if text in recipe.symbols:
        number = vocabulary.special_id(text)
        return f"It is one token: the symbol of id {number}, which a text holds wherever it spells it."
    if text in vocabulary.specials:
        spells = f"It spells the special token of id {vocabulary.special_id(text)}"
        return f"{spells}, and typed text is never a special token unless that is allowed."
    if len(pretokens) > 1:
        words = _list([pretoken.text for pretoken in pretokens])
        cuts = f"The split {recipe.split} cuts it{changed} into {len(pretokens):,} pre-tokens"
        return f"{cuts}, {words}, which no token crosses."
    word = pretokens[0].text
    units = encoder.pretokenizer.units(word)
    kept = [units[at] for at in encoder.kept(units)]
    tokens = encoder.word(word)
    known = [token for token in tokens if not token.unknown]
    if len(tokens) == len(known) == 1 and len(kept) == len(units):
        return f"It is{changed} one token: id {tokens[0].id}."
    if encoder.way.gives_up(word) and not UNKNOWN.of(recipe.unknown).sure:
        most = f"longest match gives up a word of more than {encoder.way.most}"
        return f"It has{changed} {len(word)} characters, and {most}."
    if (missing := _missing(encoder, units)) is not None:
        what = "stands for a pair" if vocabulary.codes else "is not in the vocabulary"
        return f"It cannot be one{changed}: {_shown(missing)} {what}."
    pieces = [token.piece for token in tokens]
    listed = _list([token.text if token.piece is None else token.piece for token in tokens])
    start = f"It is{changed} {listed}"
    symbol, later = _spelled(encoder, tuple(kept))
    if symbol is not None:
        return f"{start}: {_passed_over(encoder, word, kept, symbol)}."
    if later:
        return f"{start}: a token for it is made only at step {later:,}."
    return f"{start}: {_no_token(encoder, pieces, units)}."


def _missing(encoder: WordEncoder, units: Sequence[bytes]) -> bytes | None:
    """The first unit that no token holds."""
    known = encoder.vocabulary.known_units(encoder.merges)
    if isinstance(encoder.segmenter, Viterbi):
        best = (edge for edge in encoder.segmenter.lattice(units) if edge.best)
        if {edge.symbol is None for edge in best} == {False}:
            return None
    return next((unit for unit in units if unit not in known), None)


def _spelled(encoder: WordEncoder, units: tuple[bytes, ...]) -> tuple[int | None, int]:
    """The symbol that is spelled by these units, else the step past this one that makes it, else 0."""
    vocabulary, base = encoder.vocabulary, encoder.vocabulary.base_size
    prefix = encoder.vocabulary.prefix
    piece = units[0] + b"".join(unit.removeprefix(prefix) for unit in units[1:]) if units else b""
    for symbol in range(base + len(vocabulary.merges)):
        if vocabulary.spelled(symbol) == piece and spelled_units(encoder, symbol) == units:
            return (symbol, 0) if symbol < base + encoder.merges else (None, symbol - base + 1)
    return None, 0


def _passed_over(encoder: WordEncoder, word: str, units: Sequence[bytes], symbol: int) -> str:
    """The reason why a token that is there and is spelled so is not taken."""
    vocabulary = encoder.vocabulary
    if isinstance(encoder.segmenter, Viterbi) and vocabulary.scores is not None:
        best = sum(edge.score for edge in encoder.segmenter.lattice(units) if edge.best)
        whole = f"the token for all of it (log probability {vocabulary.scores[symbol]:.4f})"
        return f"{whole} is less probable than these ({best:.4f})"
    wanted = _spans(encoder, symbol)
    for step in encoder.segmenter.steps(units, len(word)):
        if isinstance(step, MergeStep) and (step.start, step.end) not in wanted:
            rank = symbol - vocabulary.base_size
            made = " + ".join(_shown(vocabulary.spelled(part)) for part in vocabulary.merges[max(0, rank)])
            barring = f"{_shown(step.left)} + {_shown(step.right)} (step {step.rank + 1:,})"
            there = f"there is a token for it, made of {made} at step {rank + 1:,}"
            return f"{there}, but {barring} is merged first and bars the way"
    return "there is a token spelled so, but it stands elsewhere in a word only"


def _spans(encoder: WordEncoder, symbol: int) -> set[tuple[int, int]]:
    """The (start, end) in units of every token in the merge tree of a symbol."""
    base = encoder.vocabulary.base_size
    starts = [0]  # the unit where each piece of the base starts
    spans = []
    for _, one, at in _nodes(encoder.vocabulary, symbol):
        spans.append((at, len(spelled_units(encoder, one))))
        if one < base:
            starts.append(starts[-1] + spans[-1][1])
    return {(starts[at], starts[at] + size) for at, size in spans}


def _no_token(encoder: WordEncoder, pieces: Sequence[bytes | None], units: Sequence[bytes]) -> str:
    """The lack of the vocabulary: the token, and the merges that would go on; with a near one that it has."""
    vocabulary, mark = encoder.vocabulary, encoder.vocabulary.mark
    plain = b"".join(map(encoder.vocabulary.bare, units))
    forms = {b" " + plain: "which begins with a space"}
    forms[to_bytes("▁") + plain] = "which begins a word after a space"
    if encoder.vocabulary.prefix:
        forms[mark + plain] = "which stands inside a word only"
    elif mark:
        forms[plain.removesuffix(mark)] = "which does not end a word"
    for symbol in range(vocabulary.base_size + encoder.merges):
        if (piece := vocabulary.spelled(symbol)) in forms:
            return f"no token is spelled so; there is {_shown(piece)}, {forms[piece]}"
    if vocabulary.recipe.encode != "merges" or None in pieces:
        return "no token is spelled so"
    two = " and ".join(_shown(piece or b"") for piece in pieces)
    joined = two if len(pieces) == 2 else "any two neighbours of these"
    return f"no token is spelled so, and no merge joins {joined}"


def _list(texts: Sequence[str | bytes]) -> str:
    more = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return " | ".join(map(_shown, texts[:_SHOWN])) + more


def _shown(text: str | bytes) -> str:
    """A text of which every character can be seen, short."""
    return "".join(span.text for span in visible(text, limit=60))


class _Edge(NamedTuple):
    """Tokens that may stand for the units up to `end`: one token, or an unknown character's bytes."""

    end: int
    pieces: tuple[bytes, ...]


_Way = tuple[tuple[bytes, ...], "_Way"] | None
"""The tokens of the first edge of a way, and the way after it; None at the end."""


def ways(encoder: WordEncoder, word: str, limit: int = 10) -> Ways:
    """The ways to write a pre-token in the tokens of a vocabulary.

    Those with fewer tokens come first, then those whose first tokens are longer; by a unigram model, the more
    probable ones. Tokens that are spelled alike are one way. Special tokens take no part; bytes do for a unit
    that is no token (byte fallback). Where the recipe refuses the word, none is chosen.

    Args:
        encoder: The encoder of a tokenizer.
        word: The pre-token.
        limit: The most ways returned; all are counted.

    Raises:
        TokentuiError: The word has more than `MAX_UNITS` units.
    """
    recipe, units = encoder.vocabulary.recipe, encoder.pretokenizer.units(word)
    units = [units[at] for at in encoder.kept(units)]
    if len(units) > MAX_UNITS:
        what = f"a word of {len(units):,} units is too long to count its ways"
        raise TokentuiError(what, "", f"take one of at most {MAX_UNITS:,}")
    edges = _edges(encoder, units)
    counts = [0] * len(edges) + [1]  # the ways from each unit to the end
    for start in reversed(range(len(edges))):
        counts[start] = sum(counts[edge.end] for edge in edges[start])
    count = counts[0]
    found: Iterable[tuple[tuple[bytes, ...], float | None]] = ()
    if isinstance(encoder.segmenter, Viterbi):
        found = _probable(encoder, encoder.segmenter, units)
    elif units:
        found = ((way, None) for way in _fewest(edges, limit))
    tokens = encoder.word(word)
    refused = UNKNOWN.of(recipe.unknown).refused and any(token.unknown for token in tokens)
    taken = () if refused else tokens
    chosen = tuple(token.text.encode() if token.piece is None else token.piece for token in taken)
    listed = tuple(itertools.islice(found, min(limit, count)))
    return Ways(word, count, listed, chosen, WAYS.of(recipe.encode).how)


def ways_of(tokenizer: Tokenizer, text: str, limit: int = 10, words: int = 10) -> tuple[Ways, ...]:
    """The ways to write each of the first distinct pre-tokens of a text; see `ways`."""
    encoder = tokenizer.encoder
    distinct = list(dict.fromkeys(pretoken.text for pretoken in encoder.pretokenizer.analyse(text).pretokens))
    return tuple(ways(encoder, word, limit) for word in distinct[:words])


def _edges(encoder: WordEncoder, units: Sequence[bytes]) -> list[list[_Edge]]:
    """The tokens that may start at each unit of a word, the shortest first."""
    vocabulary = encoder.vocabulary
    prefix = encoder.vocabulary.prefix
    whole = b"".join(map(encoder.vocabulary.bare, units) if prefix else units)
    # Few tokens have their bytes in this word at all; only of those are the units found.
    symbols = symbols_of(vocabulary, encoder.merges)
    near = (one for one in symbols if vocabulary.spelled(one).removeprefix(prefix) in whole)
    finder = Finder((spelled_units(encoder, symbol), symbol) for symbol in near)
    edges: list[list[_Edge]] = []
    for start, unit in enumerate(units):
        here = [_Edge(end, (vocabulary.spelled(symbol),)) for end, symbol in finder.at(units, start)]
        if vocabulary.byte_tokens and not (here and here[0].end == start + 1):
            here.insert(0, _Edge(start + 1, _fallback(encoder, unit)))
        edges.append(here)
    return edges


def _fallback(encoder: WordEncoder, unit: bytes) -> tuple[bytes, ...]:
    return tuple(byte_token(value).encode() for value in encoder.vocabulary.bare(unit))


def _fewest(edges: list[list[_Edge]], limit: int) -> Iterator[tuple[bytes, ...]]:
    """The ways with fewest tokens first, of equals those that start with longer tokens."""
    best: list[list[tuple[int, _Way]]] = [[] for _ in edges] + [[(0, None)]]
    for start in reversed(range(len(edges))):
        longest = reversed(edges[start])  # the first; sorting keeps the order of equals
        found: list[tuple[int, _Way]] = [
            (size + len(edge.pieces), (edge.pieces, way)) for edge in longest for size, way in best[edge.end]
        ]
        best[start] = sorted(found, key=operator.itemgetter(0))[:limit]
    for _, way in best[0]:
        pieces: list[bytes] = []
        while way is not None:
            first, way = way
            pieces += first
        yield tuple(pieces)


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
