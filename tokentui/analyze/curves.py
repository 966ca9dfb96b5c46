"""The tokens of a corpus and the ids in use at each step, exact, without making the steps again.

A merge takes its places from two tokens and gives them to a third: from the history of a training all uses at
all steps follow. In a corpus that it was not trained on, or that is not encoded as it was trained, each word
is segmented as after each token that changes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.axes import objective_of
from tokentui.core.jobs import check, silent, tick
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.segment.unknown import UNKNOWN
from tokentui.encode.segment.ways import WAYS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import walk
from tokentui.learn.replay.order import TokenOrder
from tokentui.learn.replay.segmentations import WordSegmentations
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Stops
from tokentui.text.count import Words

Points = tuple[list[int], list[int]]
"""The tokens of a corpus after some steps, and how many ids it holds then; the second is empty where that is
not known."""

_LOOK_EVERY = 512


def evenly(end: int, points: int) -> list[int]:
    """Steps from 0 to an end, as far apart as so many of them can be."""
    points = max(2, points)
    return sorted({round(n * end / (points - 1)) for n in range(points)})


def as_trained(recipe: Recipe) -> bool:
    """Return whether a tokenizer encodes its corpus into the very tokens that training left there, each word
    as often as it occurs."""
    by_training = WAYS.of(recipe.encode).needs == objective_of(recipe).makes
    return by_training and recipe.weight != "distinct" and not objective_of(recipe).codes


def replayed(
    merges: Sequence[tuple[int, int]], base: int, tokens: Sequence[int], uses: Sequence[int], number: int,
    steps: Sequence[int]
) -> Points:
    """The points of a training by merges on its own corpus.

    Args:
        merges: The parts of each merge, as symbols.
        base: The symbol of the first.
        tokens: The corpus in tokens after each step, from step 0 on.
        uses: The uses of each symbol at step `number`.
        number: That step.
        steps: The steps that are wanted, ascending.
    """
    uses = list(uses)
    for step in reversed(range(number)):
        replaced = tokens[step] - tokens[step + 1]
        uses[base + step] -= replaced
        for part in merges[step]:
            uses[part] += replaced
    used, step = [], 0
    held = sum(one > 0 for one in uses)
    for goal in steps:
        while step < goal:
            replaced = tokens[step] - tokens[step + 1]
            if replaced:
                for part in merges[step]:
                    uses[part] -= replaced
                    held -= uses[part] == 0
                uses[base + step] += replaced
                held += 1
            step += 1
        used.append(held)
    return [tokens[step] for step in steps], used


def encoded(tokenizer: Tokenizer, words: Words, steps: Sequence[int]) -> Points:
    """The points of a tokenizer whose tokens come into use one by one, on any corpus.

    Args:
        tokenizer: The tokenizer after its last step.
        words: The counted pre-tokens of the corpus.
        steps: The steps that are wanted, ascending.

    Raises:
        TokentuiError: The corpus holds what the tokenizer refuses; it names the unit.
    """
    vocabulary, refuses = tokenizer.vocabulary, UNKNOWN.of(tokenizer.recipe.unknown).refused
    cutter = WordSegmentations(TokenOrder.of(tokenizer))
    changes: dict[int, dict[int | None, int]] = {}
    for number, (word, times) in enumerate(zip(words.words, words.counts, strict=True)):
        if number % _LOOK_EVERY == 0:
            tick(number, len(words.words))
        for step, change in cutter.changes(word):
            if refuses and None in change:
                tokenizer.encode(word)  # says what it is
            at = changes.setdefault(step, {})
            for symbol, by in change.items():
                at[symbol] = at.get(symbol, 0) + by * times
    tokens, used = [], []
    uses: dict[int | None, int] = {}
    total = held = 0
    nameless = vocabulary.unknown_id is None
    made = sorted(changes, reverse=True)
    for step in steps:
        while made and made[-1] <= step:
            for symbol, by in changes[made.pop()].items():
                before = uses.get(symbol, 0)
                uses[symbol] = before + by
                total += by
                if symbol is not None or not nameless:
                    held += (before + by > 0) - (before > 0)
        tokens.append(total)
        used.append(held)
    # Byte tokens are many, and a step does not say which.
    return tokens, [] if vocabulary.byte_tokens and None in uses else used


def walked(trainer: Trainer, stops: Stops, steps: Sequence[int], words: Words | None = None) -> Points:
    """The points of any training, by going to each step.

    Args:
        trainer: A training that may be walked with.
        stops: Its stops.
        steps: The steps that are wanted, ascending.
        words: The counted pre-tokens of another corpus, to be encoded at each; those that it trains on where
            None.

    Raises:
        TokentuiError: The other corpus holds what the tokenizer refuses.
    """
    tokens, used = [], []
    trainer.advance(trainer.number, stops)  # the limits of its steps
    for number, step in enumerate(steps):
        tick(number, len(steps))
        with silent():
            walk.jump(trainer, step)
        if words is None:
            tokens.append(trainer.tokens_at(step))
            used.append(sum(one > 0 for one in trainer.uses))
        else:
            count, ids = _encoded_now(trainer.tokenizer(), words)
            tokens.append(count)
            used.append(ids)
    return tokens, used


def _encoded_now(tokenizer: Tokenizer, words: Words) -> tuple[int, int]:
    """The tokens of words, and how many ids are among them."""
    encoder, refuses = WordEncoder(
        tokenizer.vocabulary, tokenizer.merges
    ), UNKNOWN.of(tokenizer.recipe.unknown).refused
    total = 0
    ids: set[int] = set()
    for number, (word, times) in enumerate(zip(words.words, words.counts, strict=True)):
        if number % _LOOK_EVERY == 0:
            check()
        found = encoder.word(word)
        if refuses and any(token.unknown for token in found):
            tokenizer.encode(word)  # says what it is
        total += times * len(found)
        ids.update(token.id for token in found if token.id is not None)
    return total, len(ids)
