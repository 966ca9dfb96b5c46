"""Facts of one token and of any string: its bytes, its making, its relatives, why it is not one token."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tokentui.analyze.results import Branch, TokenFacts, Ways
from tokentui.analyze.ways import ways
from tokentui.axes import objective_of
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import visible
from tokentui.encode.decode import Decoder
from tokentui.encode.explain import WordExplanation
from tokentui.encode.offsets import Encoding, WordEncoder
from tokentui.encode.reach import bare, spelled_units, unreachable
from tokentui.encode.segment.parts import MAX_CHARACTERS, MergeStep
from tokentui.encode.segment.unknown import UNKNOWN
from tokentui.encode.segment.viterbi import Edge, Viterbi, lattice
from tokentui.encode.segment.ways import WAYS
from tokentui.encode.tokenizer import Entry, Tokenizer
from tokentui.text.split import to_bytes

_CHILDREN = 20
_OTHERS = 20
_BRANCHES = 127
_SHOWN = 8
_SPACES = " \t\n\r▁"


@dataclass(frozen=True, slots=True)
class WordFacts:
    """A pre-token of a string.

    Attributes:
        explanation: Each step of its encoding.
        ways: The ways to write it; None for one that is too long for that.
        lattice: Every piece that may stand in it, where pieces have probabilities.
    """

    explanation: WordExplanation
    ways: Ways | None
    lattice: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class StringFacts:
    """The facts of a string.

    Attributes:
        text: The string.
        encoding: Its encoding; None where the recipe refuses it.
        refusal: Why it does, in one line.
        why: Why it is not one token, or that it is one, in one sentence.
        words: Its pre-tokens in order.
    """

    text: str
    encoding: Encoding | None
    refusal: str
    why: str
    words: tuple[WordFacts, ...]


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
    symbol = vocabulary.symbols_by_id(merges).get(entry.id)
    if symbol is None or entry.kind in ("special", "unknown", "byte"):
        return TokenFacts(entry.id, entry.piece, entry.kind, None, entry.text, _code_points(entry.text))
    encoder = WordEncoder(vocabulary, merges)
    piece = vocabulary.spelled(symbol)
    text = _text(piece)
    children = [
        child for child, pair in enumerate(vocabulary.merges[:merges], vocabulary.base_size) if symbol in pair
    ]
    facts = TokenFacts(
        id=entry.id,
        piece=piece,
        kind=entry.kind,
        score=entry.score,
        text=text,
        code_points=_code_points(text or ""),
        units=spelled_units(encoder, symbol),
        children=tuple(
            (vocabulary.id_of(one, merges), vocabulary.spelled(one)) for one in children[:_CHILDREN]
        ),
        child_count=len(children),
        others=tuple(itertools.islice(_others(tokenizer, symbol), _OTHERS)),
        unreachable=unreachable(encoder, Decoder(vocabulary, merges), symbol),
        marks=encoder.marks.sizes(symbol),
    )
    rank = symbol - vocabulary.base_size
    if rank < 0:
        return facts
    return replace(
        facts,
        step=rank + 1,
        count=vocabulary.counts[rank],
        parents=tuple(map(vocabulary.spelled, vocabulary.merges[rank])),
        tree=tuple(itertools.islice(_tree(tokenizer, symbol), _BRANCHES)),
        tree_size=sum(1 for _ in _nodes(tokenizer, symbol)),
    )


def find_tokens(tokenizer: Tokenizer, text: str | bytes) -> list[Entry]:
    """The entries whose exact bytes these are, in order of the ids."""
    piece = text if isinstance(text, bytes) else to_bytes(text)
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
        hint = "tokens are named with their marks, such as ##ing"
        raise TokentuiError("no token is spelled so", repr(token), hint)
    return found[0]


def _text(piece: bytes) -> str | None:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None


def _code_points(text: str) -> tuple[str, ...]:
    return tuple(f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in text)


def _nodes(tokenizer: Tokenizer, symbol: int) -> Iterator[tuple[int, int, int]]:
    """(depth, symbol, first unit) of each node of a merge tree, each before its parts. Units are counted in
    pieces of the base."""
    base, merges = tokenizer.vocabulary.base_size, tokenizer.vocabulary.merges
    waiting, unit = [(0, symbol)], 0
    while waiting:
        depth, one = waiting.pop()
        yield depth, one, unit
        if one >= base:
            left, right = merges[one - base]
            waiting += ((depth + 1, right), (depth + 1, left))
        else:
            unit += 1


def _tree(tokenizer: Tokenizer, symbol: int) -> Iterator[Branch]:
    """A merge tree, each node before its parts."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    known = vocabulary.symbols_by_id(merges)
    for depth, one, _ in _nodes(tokenizer, symbol):
        number = vocabulary.id_of(one, merges)
        own = number if known.get(number) == one else None
        yield Branch(depth, own, vocabulary.spelled(one), max(0, one - vocabulary.base_size + 1))


def _others(tokenizer: Tokenizer, symbol: int) -> Iterator[tuple[int, bytes]]:
    """The (id, bytes) of the tokens that differ in case, white space or mark alone."""
    vocabulary = tokenizer.vocabulary
    key = _key(tokenizer, symbol)
    for other, one in sorted(vocabulary.symbols_by_id(tokenizer.merges).items()):
        if key and one != symbol and _key(tokenizer, one) == key:
            yield other, vocabulary.spelled(one)


def _key(tokenizer: Tokenizer, symbol: int) -> str:
    """A token without what its relatives may differ in; empty for a part of a character, and for white space.
    """
    text = _text(bare(tokenizer.recipe, tokenizer.vocabulary.spelled(symbol)))
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
    except Cancelled:
        raise
    except TokentuiError as error:
        refusal = str(error)
    known: dict[str, tuple[Ways | None, tuple[Edge, ...]]] = {}
    words = []
    for explanation in tokenizer.explain(text):
        word = explanation.text
        if word not in known:
            known[word] = _ways(tokenizer, word, limit), _lattice(tokenizer, word)
        words.append(WordFacts(explanation, *known[word]))
    return StringFacts(text, encoding, refusal, why_not_one(tokenizer, text), tuple(words))


def _ways(tokenizer: Tokenizer, word: str, limit: int) -> Ways | None:
    try:
        return ways(tokenizer, word, limit)
    except TokentuiError:
        return None


def _lattice(tokenizer: Tokenizer, word: str) -> tuple[Edge, ...]:
    return tuple(lattice(tokenizer.vocabulary, word)) if WAYS.of(tokenizer.recipe.encode).needs == "scores" else ()


def why_not_one(tokenizer: Tokenizer, text: str) -> str:
    """The reason why a text does not become one token by itself, or that it does: one sentence.

    The reasons are looked for in the order in which a text passes them: special tokens, normalisation, split,
    unknown units, and then the vocabulary and how it is encoded.
    """
    if not text:
        return "It is the empty text, which has no tokens."
    vocabulary, recipe = tokenizer.vocabulary, tokenizer.recipe
    encoder = WordEncoder(vocabulary, tokenizer.merges)
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
    if 0 < WAYS.of(recipe.encode).most < len(word) and not UNKNOWN.of(recipe.unknown).sure:
        most = f"longest match gives up a word of more than {MAX_CHARACTERS}"
        return f"It has{changed} {len(word)} characters, and {most}."
    if (missing := _missing(encoder, units)) is not None:
        what = "stands for a pair" if objective_of(recipe).codes else "is not in the vocabulary"
        return f"It cannot be one{changed}: {_shown(missing)} {what}."
    pieces = [token.piece for token in tokens]
    listed = _list([token.text if token.piece is None else token.piece for token in tokens])
    start = f"It is{changed} {listed}"
    symbol, later = _spelled(encoder, tuple(kept))
    if symbol is not None:
        return f"{start}: {_passed_over(tokenizer, encoder, word, kept, symbol)}."
    if later:
        return f"{start}: a token for it is made only at step {later:,}."
    return f"{start}: {_no_token(tokenizer, encoder, pieces, units)}."


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
    prefix = encoder.marks.prefix
    piece = units[0] + b"".join(unit.removeprefix(prefix) for unit in units[1:]) if units else b""
    for symbol in range(base + len(vocabulary.merges)):
        if vocabulary.spelled(symbol) == piece and spelled_units(encoder, symbol) == units:
            return (symbol, 0) if symbol < base + encoder.merges else (None, symbol - base + 1)
    return None, 0


def _passed_over(
    tokenizer: Tokenizer, encoder: WordEncoder, word: str, units: Sequence[bytes], symbol: int
) -> str:
    """The reason why a token that is there and is spelled so is not taken."""
    vocabulary = tokenizer.vocabulary
    if isinstance(encoder.segmenter, Viterbi) and vocabulary.scores is not None:
        best = sum(edge.score for edge in encoder.segmenter.lattice(units) if edge.best)
        whole = f"the token for all of it (log probability {vocabulary.scores[symbol]:.4f})"
        return f"{whole} is less probable than these ({best:.4f})"
    wanted = _spans(tokenizer, encoder, symbol)
    for step in encoder.segmenter.steps(units, len(word)):
        if isinstance(step, MergeStep) and (step.start, step.end) not in wanted:
            rank = symbol - vocabulary.base_size
            made = " + ".join(_shown(vocabulary.spelled(part)) for part in vocabulary.merges[max(0, rank)])
            barring = f"{_shown(step.left)} + {_shown(step.right)} (step {step.rank + 1:,})"
            there = f"there is a token for it, made of {made} at step {rank + 1:,}"
            return f"{there}, but {barring} is merged first and bars the way"
    return "there is a token spelled so, but it stands elsewhere in a word only"


def _spans(tokenizer: Tokenizer, encoder: WordEncoder, symbol: int) -> set[tuple[int, int]]:
    """The (start, end) in units of every token in the merge tree of a symbol."""
    base = tokenizer.vocabulary.base_size
    starts = [0]  # the unit where each piece of the base starts
    spans = []
    for _, one, at in _nodes(tokenizer, symbol):
        spans.append((at, len(spelled_units(encoder, one))))
        if one < base:
            starts.append(starts[-1] + spans[-1][1])
    return {(starts[at], starts[at] + size) for at, size in spans}


def _no_token(
    tokenizer: Tokenizer, encoder: WordEncoder, pieces: Sequence[bytes | None], units: Sequence[bytes]
) -> str:
    """The lack of the vocabulary: the token, and the merges that would go on; with a near one that it has."""
    vocabulary, mark = tokenizer.vocabulary, encoder.marks.mark
    plain = b"".join(map(encoder.marks.bare, units))
    forms = {
        b" " + plain: "which begins with a space", to_bytes("▁") + plain: "which begins a word after a space"
    }
    if encoder.marks.prefix:
        forms[mark + plain] = "which stands inside a word only"
    elif mark:
        forms[plain.removesuffix(mark)] = "which does not end a word"
    for symbol in range(vocabulary.base_size + encoder.merges):
        if (piece := vocabulary.spelled(symbol)) in forms:
            return f"no token is spelled so; there is {_shown(piece)}, {forms[piece]}"
    if tokenizer.recipe.encode != "merges" or None in pieces:
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
