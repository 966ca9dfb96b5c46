"""Why a text is not one token, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.analyze.spelling import spelled_units
from tokentui.core.safetext import visible
from tokentui.encode import MergeStep, WordEncoder
from tokentui.encode.segment.parts import MAX_CHARACTERS
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.encode.tokenizer import Tokenizer

_SHOWN = 8


def why_not_one(tokenizer: Tokenizer, text: str) -> str:
    """Why this text does not become one token by itself, or that it does: one sentence.

    The reasons are looked for in the order in which a text passes them: special tokens, normalisation, split, unknown units,
    and then the vocabulary and how it is encoded.
    """
    if not text:
        return "It is the empty text, which has no tokens."
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    encoder = WordEncoder(vocabulary, merges)
    analysis = encoder.pretokenizer.analyse(text)
    pretokens = analysis.pretokens
    changed = f", after normalising it to {_shown(analysis.normalized)}," if analysis.normalized != text else ""
    if not pretokens:
        return f"Nothing of it is left{changed or ' after the split'}: it has no tokens."
    if text in tokenizer.recipe.symbols:
        return f"It is one token: the symbol of id {vocabulary.special_id(text)}, which a text holds wherever it spells it."
    if text in vocabulary.specials:
        number = vocabulary.first_id + vocabulary.specials.index(text)
        return f"It spells the special token of id {number}, and typed text is never a special token unless that is allowed."
    if len(pretokens) > 1:
        words = _list([pretoken.text for pretoken in pretokens])
        cuts = f"The split {tokenizer.recipe.split} cuts it{changed} into {len(pretokens):,} pre-tokens"
        return f"{cuts}, {words}, which no token crosses."
    word = pretokens[0].text
    units = encoder.pretokenizer.units(word)
    kept = [units[at] for at in encoder.kept(units)]
    tokens = encoder.word(word)
    known = [token for token in tokens if not token.unknown]
    if len(tokens) == len(known) == 1 and len(kept) == len(units):
        return f"It is{changed} one token: id {tokens[0].id}."
    if tokenizer.recipe.encode == "longest-match" and len(word) > MAX_CHARACTERS and tokenizer.recipe.unknown != "never":
        return f"It has{changed} {len(word)} characters, and longest match gives up a word of more than {MAX_CHARACTERS}."
    if (missing := _missing(encoder, units)) is not None:
        what = "stands for a pair" if tokenizer.recipe.objective == "gage" else "is not in the vocabulary"
        return f"It cannot be one{changed}: {_shown(missing)} {what}."
    start = f"It is{changed} " + _list([token.text if token.piece is None else token.piece for token in tokens])
    symbol, later = _spelled(encoder, tuple(kept))
    if symbol is not None:
        return f"{start}: {_passed_over(tokenizer, encoder, word, kept, symbol)}."
    if later:
        return f"{start}: a token for it is made only at step {later:,}."
    return f"{start}: {_no_token(tokenizer, encoder, [token.piece for token in tokens], units)}."


def _missing(encoder: WordEncoder, units: Sequence[bytes]) -> bytes | None:
    """The first unit that no token holds."""
    known = encoder.vocabulary.known_units(encoder.merges)
    if isinstance(encoder.segmenter, Viterbi):
        held = {edge.symbol is None for edge in encoder.segmenter.lattice(units) if edge.best}
        return None if held == {False} else next((unit for unit in units if unit not in known), None)
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


def _passed_over(tokenizer: Tokenizer, encoder: WordEncoder, word: str, units: Sequence[bytes], symbol: int) -> str:
    """Why a token that is there and is spelled so is not taken."""
    vocabulary = tokenizer.vocabulary
    if isinstance(encoder.segmenter, Viterbi) and vocabulary.scores is not None:
        best = sum(edge.score for edge in encoder.segmenter.lattice(units) if edge.best)
        whole = f"the token for all of it (log probability {vocabulary.scores[symbol]:.4f})"
        return f"{whole} is less probable than these ({best:.4f})"
    wanted = _spans(tokenizer, encoder, symbol)
    for step in encoder.segmenter.steps(units, len(word)):
        if isinstance(step, MergeStep) and (step.start, step.end) not in wanted:
            left, right = vocabulary.merges[max(0, symbol - vocabulary.base_size)]
            made = f"{_shown(vocabulary.spelled(left))} + {_shown(vocabulary.spelled(right))}"
            return (
                f"there is a token for it, made of {made} at step {symbol - vocabulary.base_size + 1:,}, "
                f"but {_shown(step.left)} + {_shown(step.right)} (step {step.rank + 1:,}) is merged first and bars the way"
            )
    return "there is a token spelled so, but it stands elsewhere in a word only"


def _spans(tokenizer: Tokenizer, encoder: WordEncoder, symbol: int) -> set[tuple[int, int]]:
    """The (start, end) in units of every token in the merge tree of a symbol."""
    vocabulary, base = tokenizer.vocabulary, tokenizer.vocabulary.base_size
    spans: set[tuple[int, int]] = set()
    waiting = [(symbol, 0)]
    while waiting:
        one, start = waiting.pop()
        spans.add((start, start + len(spelled_units(encoder, one))))
        if one >= base:
            left, right = vocabulary.merges[one - base]
            waiting += ((left, start), (right, start + len(spelled_units(encoder, left))))
    return spans


def _no_token(tokenizer: Tokenizer, encoder: WordEncoder, pieces: Sequence[bytes | None], units: Sequence[bytes]) -> str:
    """What the vocabulary lacks: the token, and the merges that would go on; with what there is in its place."""
    vocabulary, mark = tokenizer.vocabulary, encoder.marks.mark
    bare = b"".join(map(encoder.marks.bare, units))
    forms = {b" " + bare: "which begins with a space", "▁".encode() + bare: "which begins a word after a space"}
    if encoder.marks.prefix:
        forms[mark + bare] = "which stands inside a word only"
    elif mark:
        forms[bare.removesuffix(mark)] = "which does not end a word"
    for symbol in range(vocabulary.base_size + encoder.merges):
        if (piece := vocabulary.spelled(symbol)) in forms:
            return f"no token is spelled so; there is {_shown(piece)}, {forms[piece]}"
    if tokenizer.recipe.encode != "merges" or None in pieces:
        return "no token is spelled so"
    joined = " and ".join(_shown(piece or b"") for piece in pieces) if len(pieces) == 2 else "any two neighbours of these"
    return f"no token is spelled so, and no merge joins {joined}"


def _list(texts: Sequence[str | bytes]) -> str:
    more = f" and {len(texts) - _SHOWN:,} more" if len(texts) > _SHOWN else ""
    return " | ".join(map(_shown, texts[:_SHOWN])) + more


def _shown(text: str | bytes) -> str:
    """A text of which every character can be seen, short."""
    return "".join(span.text for span in visible(text, limit=60))
