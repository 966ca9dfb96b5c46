"""Facts of one token and of any string: its bytes, its making, its relatives, why it is not one token."""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from tokentui.analyze.drawings import tree_of_token
from tokentui.analyze.explained import reason_section, text_json, text_sections
from tokentui.analyze.report import (
    Cell,
    Part,
    Report,
    Row,
    Section,
    Target,
    as_row,
    data,
    ids_line,
    merged,
    muted,
    piece_row,
    pieces,
)
from tokentui.analyze.results import StringFacts, Token, TokenFacts, TreeNode, UnusedToken, WordFacts
from tokentui.analyze.token_words import (
    byte_sections,
    character_sections,
    made_section,
    mark_sections,
    reached,
    score_section,
)
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.encode.decode import bare, spelled_units
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.reachability import never
from tokentui.encode.results import WordSegmentations
from tokentui.encode.segmentations import ways
from tokentui.encode.tokenizer import TokenEntry, Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.encode.why_not import why_not
from tokentui.learn.outlook import outlook
from tokentui.learn.trainer import Trainer

_CHILDREN = 20
_OTHERS = 20
_BRANCHES = 127
_SPACES = " \t\n\r▁"


def token_facts(tokenizer: Tokenizer, token: int) -> TokenFacts:
    """Return the facts of the token with an id.

    Raises:
        TokentuiError: No token has this id.
    """
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    entry = next((entry for entry in tokenizer.entries() if entry.id == token), None)
    if entry is None:
        named = str(token) if abs(token) < 10**18 else "a very large number"
        raise TokentuiError("no such id", named, tokenizer.decoder.span)
    if (symbol := entry.symbol) is None:
        return TokenFacts(entry.id, entry.piece, entry.kind, None, _code_points(entry.text))
    encoder, piece = tokenizer.encoder, vocabulary.spelled(symbol)
    makings = vocabulary.makings(merges)
    children = list(dict.fromkeys(child for child, parts in makings if symbol in parts))
    facts = TokenFacts(
        id=entry.id,
        piece=piece,
        kind=entry.kind,
        score=entry.score,
        code_points=_code_points(text_of(piece) or ""),
        units=spelled_units(encoder, symbol),
        children=tuple(Token(vocabulary.id_of(child, merges), vocabulary.spelled(child))
                       for child in children[:_CHILDREN]),
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


def find_tokens(tokenizer: Tokenizer, text: str | bytes) -> list[TokenEntry]:
    """Return the entries with exactly these bytes, in order of their ids. A str is encoded by `to_bytes`.
    Marks such as `▁` and `##` are part of a token's bytes, so `text` must contain them."""
    piece = text if isinstance(text, bytes) else to_bytes(text)
    spelled = tokenizer.vocabulary.spelled
    return [
        entry for entry in tokenizer.entries()
        if (entry.piece if entry.symbol is None else spelled(entry.symbol)) == piece
    ]


def text_of(piece: bytes) -> str | None:
    """Decode the bytes of a token, or return None if they are not UTF-8."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None


def _code_points(text: str) -> tuple[str, ...]:
    return tuple(f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in text)


def _nodes(vocabulary: Vocabulary, symbol: int) -> Iterator[tuple[int, int, int]]:
    """Yield (depth, symbol, first unit) for each node of a merge tree, parents first. The unit is an index
    into the pieces of the base."""
    waiting, unit = [(0, symbol)], 0
    while waiting:
        depth, node = waiting.pop()
        yield depth, node, unit
        if parts := vocabulary.parts(node):
            waiting += [(depth + 1, part) for part in reversed(parts)]
        else:
            unit += 1


def _tree(encoder: WordEncoder, symbol: int) -> Iterator[TreeNode]:
    """Yield the nodes of a merge tree, parents first."""
    vocabulary, merges = encoder.vocabulary, encoder.merges
    known = vocabulary.symbols_by_id(merges)
    for depth, node, _ in _nodes(vocabulary, symbol):
        number = vocabulary.id_of(node, merges)
        own = number if known.get(number) == node else None
        yield TreeNode(depth, vocabulary.made_at(node), own, vocabulary.spelled(node))


def _others(encoder: WordEncoder, symbol: int) -> Iterator[Token]:
    """Yield the tokens that differ only in case, whitespace or mark, in order of their ids."""
    vocabulary = encoder.vocabulary
    key = _key(vocabulary, symbol)
    for number, candidate in sorted(vocabulary.symbols_by_id(encoder.merges).items()):
        if key and candidate != symbol and _key(vocabulary, candidate) == key:
            yield Token(number, vocabulary.spelled(candidate))


def _key(vocabulary: Vocabulary, symbol: int) -> str:
    """Return a token without case, whitespace and mark; empty for a partial character and for whitespace.
    """
    text = text_of(bare(vocabulary.recipe, vocabulary.spelled(symbol)))
    return (text or "").strip(_SPACES).casefold()


def string_facts(
    tokenizer: Tokenizer, text: str, limit: int = 10, trainer: Trainer | None = None
) -> StringFacts:
    """Return the facts of a string. A string that the tokenizer refuses has a refusal instead of an encoding.

    Args:
        tokenizer: The tokenizer.
        text: The string.
        limit: The maximum number of ways listed to write each pre-token.
        trainer: The training that the tokenizer comes from, to say whether a later step makes the string one
            token; None if it is not known.

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
    def known(word: str) -> WordSegmentations | None:
        try:
            return ways(encoder, word, limit)
        except TokentuiError:
            return None

    words = tuple(
        WordFacts(explanation, known(explanation.text), explanation.lattice)
        for explanation in tokenizer.explain(text)
    )
    why = why_not(tokenizer, text, outlook(tokenizer, trainer))
    return StringFacts(text, encoding, refusal, why.sentence, words, why, tokenizer.round_trip(text))


# ---- the report

_FEW = 20
Uses = tuple[int, UnusedToken | None]
"""The count of a token in a corpus, and the unused token if it does not occur."""


def string_report(facts: StringFacts | None, token: TokenFacts | None, uses: Uses | None = None) -> Report:
    """Report on a text, on a token, or on a text that is a token.

    Args:
        facts: The facts of the text; None for a token that was named by its id.
        token: The facts of the token; None for a text that is not a token.
        uses: The uses of the token in a corpus; None without a corpus.
    """
    sections: list[Section] = [] if facts is None else [Section("string", data(facts.text))]
    sections += [] if token is None else token_sections(token)
    if uses is not None:
        times, unused = uses
        why = () if unused is None else (": ", *unused_why(unused))
        sections.append(Section("uses", (f"{times:,} in the corpus", *why)))
    if facts is not None:
        ids = f"none: {facts.refusal}" if facts.encoding is None else ids_line(facts.encoding.ids)
        sections += [Section("encoding", ids or "no tokens"), reason_section(facts), *text_sections(facts)]
    value: dict[str, object] = {
        "string": None if facts is None else facts.text,
        "token": None if token is None else as_row(token) | {"unreachable": token.unreachable or None},
        "uses": None,
    }
    if uses is not None:
        times, unused = uses
        into = [] if unused is None else [piece_row(piece) for piece in unused.into]
        value["uses"] = {"count": times, "why": unused and unused.why, "into": into}
    return Report("Inspect", tuple(sections), value | ({} if facts is None else text_json(facts)))


def unused_why(token: UnusedToken) -> tuple[Part, ...]:
    """Return the parts of a cell that say why a token is not used: the tokens that it is merged into, else
    the name of the reason."""
    return ("always merged into ", *pieces(token.into)) if token.into else (token.why,)


def token_sections(facts: TokenFacts) -> Iterator[Section]:
    """Yield the facts of a token, in the order of the report. Sections that do not apply to its kind are left
    out."""
    yield Section("token", (f"id {facts.id}, {facts.kind}: ", facts.piece))
    yield from mark_sections(facts.piece, facts.marks)
    yield from byte_sections(facts.bare)
    yield from itertools.islice(character_sections(facts.bare), _FEW)
    if (left := len(facts.bare.decode("utf-8", "surrogateescape")) - _FEW) > 0:
        yield Section("", f"… and {left:,} more (--json has them)")
    if facts.score is not None:
        yield score_section(facts.score)
    if facts.step is not None:
        yield made_section(facts.step, facts.count)
        yield Section("parents", merged(facts.parents))
    if facts.kind in ("unit", "merge"):
        yield Section("children", _children(facts))
    if facts.others:
        others: list[Part] = []
        for token in facts.others:
            others += [" "] if others else []
            others += [token.piece, muted(f" ({token.id})")]
        yield Section("similar", tuple(others))
    if facts.kind in ("unit", "merge", "piece"):
        yield Section("reached", reached(facts.unreachable))
    if facts.tree:
        nodes = tuple(map(_node, facts.tree))
        yield Section("tree", "", nodes, total=facts.tree_size, unit="more nodes",
                      drawing=tree_of_token(facts.tree))


def _children(facts: TokenFacts) -> Cell:
    """Return the number of tokens made of this one, with those that are listed, if any."""
    if not facts.children:
        return f"{facts.child_count:,}"
    left = facts.child_count - len(facts.children)
    more = f" and {left:,} more" if left else ""
    return (f"{facts.child_count:,}: ", *pieces(token.piece for token in facts.children), muted(more))


def _node(branch: TreeNode) -> Row:
    id = "" if branch.id is None else f"  {branch.id}"
    step = f", step {branch.step:,}" if branch.step else ""
    target = None if branch.id is None else Target("token", branch.id)
    return Row((("  " * branch.depth, branch.piece, muted(id + step)),), target)
