"""Facts about one token or one word at a step."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

from tokentui import learn
from tokentui.analyze.inspect import token_facts
from tokentui.analyze.results import Token
from tokentui.core.errors import TokentuiError
from tokentui.encode.decode import bare
from tokentui.encode.names import Special
from tokentui.encode.reachability import typed_text
from tokentui.encode.segmentations import ways
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.steps import Life, Used
from tokentui.learn.trainer import Trainer
from tokentui.session.training.step_context import StepContext
from tokentui.session.training.token_values import MadeOf, Spelled, TokenView, Turn, WordLife
from tokentui.text.pretokenize import MARKS, PreToken
from tokentui.text.split import SPACE_MARK, SPLITS

INSPECTED_CHARS = 2_000
"""The longest text whose encoding is explained, step by step."""
_MOST_MAKES = 40


def symbol_of(tokenizer: Tokenizer, token: int | bytes) -> int | None:
    """Return the symbol of a token, by its id or its exact bytes; None if no symbol has it.

    Special tokens and byte tokens have no symbol. Of several symbols with these bytes the first by id is
    returned.
    """
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    known = vocabulary.symbols_by_id(merges)
    if isinstance(token, int):
        return known.get(token)
    for symbol in known.values():
        if token in (vocabulary.pieces[symbol], vocabulary.spelled(symbol)):
            return symbol
    return None


def token_view(
    context: StepContext, token: int | bytes, uses: Sequence[int], over: Sequence[Used]
) -> TokenView:
    """Return the facts of a token at a step.

    Args:
        context: The step.
        token: The id of the token, or its exact bytes.
        uses: The uses of each symbol at the step.
        over: The uses of the token over the run.

    Raises:
        TokentuiError: There is no such token.
    """
    tokenizer, trainer = context.tokenizer, context.training.trainer
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    ids = sorted(entry.id for entry in tokenizer.entries())
    symbol = symbol_of(tokenizer, token)
    if isinstance(token, bytes):
        if symbol is None:
            raise TokentuiError("no token has this spelling at this step", "", "go to the step that makes it")
        token = vocabulary.id_of(symbol, merges)
    facts = token_facts(tokenizer, token)
    own = None if symbol is None else uses[symbol]
    index = bisect.bisect_left(ids, token)
    made = learn.steps_of_symbols(trainer)(symbol) if symbol is not None else 0
    replay = getattr(trainer, "order", None)
    place = replay.place(made) if replay is not None and made else ""
    return TokenView(
        context.step, facts, symbol, made or None, place, own,
        sum(count > (own or 0) for count in uses) + 1, sum(count > 0 for count in uses), over,
        () if symbol is None else tuple(_makes(vocabulary, merges, symbol, uses)),
        () if symbol is None else tuple(_spellings(tokenizer, symbol)),
        None if symbol is None else _count_ways(tokenizer, symbol),
        ids[index - 1] if index else None, ids[index + 1] if index + 1 < len(ids) else None,
    )


def _makes(vocabulary: Vocabulary, merges: int, symbol: int, uses: Sequence[int]) -> list[MadeOf]:
    """Return the first `_MOST_MAKES` tokens that are made of a symbol directly, the most used first."""
    makings = vocabulary.makings(merges)
    made = list(dict.fromkeys(child for child, parts in makings if symbol in parts))
    made.sort(key=lambda result: -uses[result])
    return [
        MadeOf(Token(vocabulary.id_of(result, merges), vocabulary.spelled(result)), uses[result],
               vocabulary.made_at(result))
        for result in made[:_MOST_MAKES]
    ]


def _spellings(tokenizer: Tokenizer, symbol: int) -> Iterator[Spelled]:
    """Yield the forms of a token that differ in its space, its mark or its capitals, with their ids.

    The token's own form is left out; there are none for what is no text or white space only.
    """
    vocabulary, recipe = tokenizer.vocabulary, tokenizer.recipe
    try:
        text = bare(recipe, vocabulary.spelled(symbol)).decode()
    except UnicodeDecodeError:
        return
    plain = text.lstrip(" " + SPACE_MARK)
    if not plain:
        return
    space = SPACE_MARK if SPLITS.of(recipe.split).marks_spaces else " "
    mark = vocabulary.mark.decode("utf-8", "surrogateescape")
    front, end = (mark, "") if MARKS.of(recipe.mark).in_front else ("", mark)
    cases = dict.fromkeys((plain, plain.lower(), plain[:1].upper() + plain[1:].lower(), plain.upper()))
    forms = dict.fromkeys(
        form.encode("utf-8", "surrogateescape")
        for case in cases for form in (case, f"{front}{case}{end}" if mark else space + case)
    )
    known = {vocabulary.spelled(known_symbol): number
             for number, known_symbol in vocabulary.symbols_by_id(tokenizer.merges).items()}
    own = vocabulary.spelled(symbol)
    yield from (Spelled(form, known.get(form)) for form in forms if form != own)


def _count_ways(tokenizer: Tokenizer, symbol: int) -> int | None:
    """Return the number of ways to write a token's own text. None if it has no text of its own, or the text
    is not one pre-token or cannot be encoded."""
    text = typed_text(tokenizer, symbol)
    if not text:
        return None
    try:
        words = list(tokenizer.encoder.pretokenizer.words(text))
        return ways(tokenizer.encoder, words[0], 1).count if len(words) == 1 else None
    except TokentuiError:
        return None


def check_length(text: str) -> None:
    """Check that a text has at most `INSPECTED_CHARS` characters.

    Raises:
        TokentuiError: It is longer.
    """
    if len(text) > INSPECTED_CHARS:
        raise TokentuiError(
            f"text of more than {INSPECTED_CHARS:,} characters", "explain", "choose a part of it")


def part_at(tokenizer: Tokenizer, text: str, place: int) -> PreToken | Special | None:
    """Return the last pre-token, or token that is found by its name, that begins at a character offset of a
    text or before it. None if none does."""
    taken: PreToken | Special | None = None
    for part in tokenizer.encoder.stretches(text, False):
        for stretch in part if isinstance(part, list) else [part]:
            if stretch.start <= place:
                taken = stretch
    return taken


def pretoken_at(tokenizer: Tokenizer, text: str, place: int) -> str:
    """Return the pre-token at an offset of a typed text, after normalization. Empty if there is none, or if
    an added token is there.

    Raises:
        TokentuiError: The text is too long.
    """
    check_length(text)
    part = part_at(tokenizer, text, place)
    return part.text if isinstance(part, PreToken) else ""


def word_life(context: StepContext, word: str, lives: Sequence[Life]) -> WordLife:
    """Return the life of a word up to a step: each step that cuts it differently, with what it merged."""
    vocabulary, trainer = context.tokenizer.vocabulary, context.training.trainer
    return WordLife(word, context.step, tuple(
        Turn(life.number, *_merged_parts(vocabulary, trainer, life.number), life.pieces) for life in lives
    ))


def _merged_parts(
    vocabulary: Vocabulary, trainer: Trainer, number: int
) -> tuple[tuple[bytes, ...], str]:
    """Return the parts that a step merged and ""; without parts, () and the step in words.

    For a replay the only part is the token of the step.
    """
    if not number:
        return (), "start"
    if trainer.traits.grows and not trainer.traits.replays:
        return tuple(map(vocabulary.spelled, vocabulary.merges[number - 1])), ""
    if trainer.traits.replays:
        taken = trainer.taken(number)
        return ((), "") if taken is None else ((taken.token,), "")
    return (), trainer.step_at(number).sentence
