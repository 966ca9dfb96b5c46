"""Questions about one token or one word: what there is to know of it at a step."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tokentui import learn
from tokentui.analyze.inspect import string_facts, token_facts
from tokentui.analyze.results import StringFacts, Token
from tokentui.core.errors import TokentuiError
from tokentui.encode.decode import bare
from tokentui.encode.reach import own_text
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Special, Vocabulary
from tokentui.encode.ways import ways
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Life, Used
from tokentui.session import commands as do
from tokentui.session.opening import Prepared
from tokentui.session.places import contexts, token_at
from tokentui.session.tokens import MadeOf, Places, Spelled, TokenAt, TokenView, Turn, WordLife
from tokentui.text.pretokenize import MARKS, PreToken
from tokentui.text.split import SPACE_MARK, SPLITS

INSPECTED_CHARS = 2_000
"""The longest text whose encoding is explained, step by step."""
_MOST_MAKES = 40


class Held(NamedTuple):
    """The part of a training, which walks on, that the engine keeps for a question of another thread.

    Attributes:
        uses: The uses of each symbol.
        over: Tells the uses of the token over the run.
        life: Tells the life of a word.
    """

    uses: Sequence[int] = ()
    over: Callable[[], Sequence[Used]] = tuple
    life: Callable[[str], Sequence[Life]] = lambda word: ()


NOTHING_HELD = Held()


def hold(command: do.Command[object], prepared: Prepared, tokenizer: Tokenizer) -> Held:
    """The part of the training at this step that a question needs."""
    trainer = prepared.trainer
    match command:
        case do.InspectToken(token):
            symbol = symbol_of(tokenizer, token)
            over: Callable[[], Sequence[Used]] = tuple if symbol is None else trainer.uses_over(symbol)
            return Held(tuple(map(int, trainer.uses)), over)
        case do.LifeOfWord(text, place):
            if trainer.traits.shrinks:
                return Held(life=trainer.fork(trainer.number, ()).life)
            word = pretoken_at(tokenizer, text, place)
            lives = trainer.life(word) if word else ()
            return Held(life=lambda word: lives)
    return NOTHING_HELD


def symbol_of(tokenizer: Tokenizer, token: int | bytes) -> int | None:
    """The symbol of the token of an id, or of exact bytes; None for a special or a byte token, or none."""
    vocabulary, merges = tokenizer.vocabulary, tokenizer.merges
    known = vocabulary.symbols_by_id(merges)
    if isinstance(token, int):
        return known.get(token)
    return next((one for one in known.values() if token in (vocabulary.pieces[one], vocabulary.spelled(one))),
                None)


def token_view(
    tokenizer: Tokenizer, prepared: Prepared, number: int, token: int | bytes, held: Held
) -> TokenView:
    """A token at a step.

    Raises:
        TokentuiError: There is no such token.
    """
    vocabulary, merges, trainer = tokenizer.vocabulary, tokenizer.merges, prepared.trainer
    ids = sorted(entry.id for entry in tokenizer.entries())
    symbol = symbol_of(tokenizer, token)
    if isinstance(token, bytes):
        if symbol is None:
            raise TokentuiError("no token of this step is spelled so", "", "go on to the step that makes it")
        token = vocabulary.id_of(symbol, merges)
    facts = token_facts(tokenizer, token)
    uses, over = held.uses, held.over()
    own = None if symbol is None else uses[symbol]
    at = bisect.bisect_left(ids, token)
    made = trainer.made_at(symbol) if symbol is not None else 0
    replay = getattr(trainer, "order", None)
    place = replay.place(made) if replay is not None and made else ""
    return TokenView(
        number, facts, symbol, made or None, place, own,
        sum(one > (own or 0) for one in uses) + 1, sum(one > 0 for one in uses), over,
        () if symbol is None else tuple(_makes(vocabulary, merges, symbol, uses)),
        () if symbol is None else tuple(_spellings(tokenizer, symbol)),
        None if symbol is None else _count_ways(tokenizer, symbol),
        ids[at - 1] if at else None, ids[at + 1] if at + 1 < len(ids) else None,
    )


def _makes(vocabulary: Vocabulary, merges: int, symbol: int, uses: Sequence[int]) -> list[MadeOf]:
    makings = vocabulary.makings(merges)
    made = list(dict.fromkeys(child for child, parts in makings if symbol in parts))
    made.sort(key=lambda one: -uses[one])
    return [
        MadeOf(Token(vocabulary.id_of(one, merges), vocabulary.spelled(one)), uses[one],
               vocabulary.made_at(one))
        for one in made[:_MOST_MAKES]
    ]


def _spellings(tokenizer: Tokenizer, symbol: int) -> Iterator[Spelled]:
    """The forms of a token that differ in its space, its mark or its capitals."""
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
    known = {vocabulary.spelled(one): number
             for number, one in vocabulary.symbols_by_id(tokenizer.merges).items()}
    own = vocabulary.spelled(symbol)
    yield from (Spelled(form, known.get(form)) for form in forms if form != own)


def _count_ways(tokenizer: Tokenizer, symbol: int) -> int | None:
    """The number of ways to write a token's own text, where that is one pre-token."""
    text = own_text(tokenizer, symbol)
    if not text:
        return None
    try:
        words = list(tokenizer.encoder.pretokenizer.words(text))
        return ways(tokenizer.encoder, words[0], 1).count if len(words) == 1 else None
    except TokentuiError:
        return None


def inspected(tokenizer: Tokenizer, prepared: Prepared, number: int, asked: do.InspectText) -> StringFacts:
    """The facts of a text, or of the pre-token at a place in it.

    Raises:
        TokentuiError: It is too long, or the pattern of the split takes too long.
    """
    text, copy = asked.text, None
    if asked.at is not None:
        part = _part_at(tokenizer, text, asked.at)
        text = text if part is None else text[part.start : part.end]
    if len(text) > INSPECTED_CHARS:
        raise TokentuiError(f"more than {INSPECTED_CHARS:,} characters are not explained", "", "take a part")
    if asked.ahead and prepared.opened is None:
        # The trainer walks on meanwhile; a copy comes to the same step.
        copy = prepared.trainer.fork(0, ())
        learn.jump(copy, number)
        tokenizer = copy.tokenizer()
    return string_facts(tokenizer, text, trainer=copy)


def _part_at(tokenizer: Tokenizer, text: str, place: int) -> PreToken | Special | None:
    """The pre-token of a text, or the token found by its name, at a place or before it."""
    taken: PreToken | Special | None = None
    for part in tokenizer.encoder.stretches(text, False):
        for one in part if isinstance(part, list) else [part]:
            if one.start <= place:
                taken = one
    return taken


def pretoken_at(tokenizer: Tokenizer, text: str, place: int) -> str:
    """The pre-token at a place of a typed text, as it is encoded; empty for a token found by its name."""
    if len(text) > INSPECTED_CHARS:
        raise TokentuiError(f"more than {INSPECTED_CHARS:,} characters are not explained", "", "take a part")
    part = _part_at(tokenizer, text, place)
    return part.text if isinstance(part, PreToken) else ""


def life_of(
    tokenizer: Tokenizer, prepared: Prepared, number: int, asked: do.LifeOfWord, held: Held
) -> WordLife:
    """The life of a word up to a step.

    Raises:
        TokentuiError: No word stands at the place, or it cannot be encoded.
    """
    word, trainer = pretoken_at(tokenizer, asked.text, asked.at), prepared.trainer
    if not word:
        raise TokentuiError("no word stands there", "", "put the cursor on one")
    return WordLife(word, number, tuple(
        Turn(one.number, *_made(tokenizer.vocabulary, trainer, one.number), one.pieces)
        for one in held.life(word)
    ))


def _made(vocabulary: Vocabulary, trainer: Trainer, number: int) -> tuple[tuple[bytes, ...], str]:
    """The parts that a step merged; else the step in words."""
    if not number:
        return (), "start"
    if trainer.traits.grows and not trainer.traits.replays:
        return tuple(map(vocabulary.spelled, vocabulary.merges[number - 1])), ""
    if trainer.traits.replays:
        taken = trainer.taken(number)
        return ((), "") if taken is None else ((taken.token,), "")
    return (), trainer.step_at(number).said


def places_of(prepared: Prepared, tokenizer: Tokenizer, asked: do.TokenPlaces) -> Places:
    """The next places of a token in the corpus."""
    symbol = symbol_of(tokenizer, asked.token)
    if symbol is None or not prepared.text.documents:
        return Places((), False)
    vocabulary = tokenizer.vocabulary
    data = bare(tokenizer.recipe, vocabulary.spelled(symbol))
    found = contexts(prepared.text, symbol, data, asked.after, prepared.trainer)
    counted = prepared.corpus.counts is None and WEIGHTS.of(tokenizer.recipe.weight).by_occurrences
    return Places(tuple(itertools.islice(found, asked.most)), counted)


def token_there(
    prepared: Prepared, tokenizer: Tokenizer, asked: do.TokenThere
) -> tuple[int | None, TokenAt] | None:
    """The token over a character of the corpus behind its id; None where no token stands."""
    at = token_at(prepared.text, asked.place, asked.within, prepared.trainer)
    if at is None or at.symbol is None:
        return None if at is None else (None, at)
    return tokenizer.vocabulary.id_of(at.symbol, tokenizer.merges), at
