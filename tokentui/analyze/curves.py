"""How a corpus shrinks and a vocabulary comes into use from step to step, exact at each, without making the steps again.

A merge takes its places from two tokens and gives them to a third: from what a training remembers all uses at all steps follow.
Of a corpus that it was not trained on, or that is not encoded as it was trained, each word is cut as after each birth that
changes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tokentui.encode import WordEncoder
from tokentui.encode.segment.unknown import REFUSES
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.base import Cancel, Progress, Stops, Trainer
from tokentui.learn.replay.cutter import Cutter
from tokentui.learn.replay.order import Order
from tokentui.learn.walking import look
from tokentui.recipe import Recipe
from tokentui.text.count import Words

Points = tuple[list[int], list[int]]
"""The tokens of a corpus after some steps, and how many ids it holds then; the second is empty where that is not known."""

_LOOK_EVERY = 512


def evenly(end: int, points: int) -> list[int]:
    """Steps from 0 to an end, as far apart as so many of them can be."""
    points = max(2, points)
    return sorted({round(n * end / (points - 1)) for n in range(points)})


def bits(tokens: int, ids: int) -> float:
    """The bits of a corpus at a fixed length for each token, N·log2 V."""
    return tokens * math.log2(ids) if ids else 0.0


def as_trained(recipe: Recipe) -> bool:
    """Whether a tokenizer encodes its corpus into the very tokens that training left there, each word as often as it stands."""
    return recipe.encode in ("merges", "viterbi") and recipe.weight != "distinct" and recipe.objective != "gage"


def replayed(
    merges: Sequence[tuple[int, int]], base: int, tokens: Sequence[int], uses: Sequence[int], number: int, steps: Sequence[int]
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


def encoded(
    tokenizer: Tokenizer, words: Words, steps: Sequence[int], *, progress: Progress | None = None, cancel: Cancel | None = None
) -> Points:
    """The points of a tokenizer whose tokens are born one by one, on any corpus.

    Args:
        tokenizer: The tokenizer after its last step.
        words: The counted pre-tokens of the corpus.
        steps: The steps (births) that are wanted, ascending.
        progress: Told (done, total) in distinct words.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The corpus holds what the tokenizer refuses; it names the unit.
    """
    vocabulary, refuses = tokenizer.vocabulary, tokenizer.recipe.unknown in REFUSES
    cutter = Cutter(Order.of(tokenizer))
    changes: dict[int, dict[int | None, int]] = {}
    for number, (word, times) in enumerate(zip(words.words, words.counts, strict=True)):
        if number % _LOOK_EVERY == 0:
            look(progress, cancel, number, len(words.words))
        for birth, change in cutter.changes(word):
            if refuses and None in change:
                tokenizer.encode(word)  # says what it is
            at = changes.setdefault(birth, {})
            for symbol, by in change.items():
                at[symbol] = at.get(symbol, 0) + by * times
    tokens, used = [], []
    uses: dict[int | None, int] = {}
    total = held = 0
    nameless = vocabulary.unknown_id is None
    births = sorted(changes, reverse=True)
    for step in steps:
        while births and births[-1] <= step:
            for symbol, by in changes[births.pop()].items():
                before = uses.get(symbol, 0)
                uses[symbol] = before + by
                total += by
                if symbol is not None or not nameless:
                    held += (before + by > 0) - (before > 0)
        tokens.append(total)
        used.append(held)
    # Byte tokens are many, and a birth does not say which.
    return tokens, [] if vocabulary.byte_tokens and None in uses else used


def walked(
    trainer: Trainer, stops: Stops, steps: Sequence[int], words: Words | None = None, *,
    progress: Progress | None = None, cancel: Cancel | None = None,
) -> Points:
    """The points of any training, by going to each step.

    Args:
        trainer: A training that may be walked with.
        stops: Its stops.
        steps: The steps that are wanted, ascending.
        words: The counted pre-tokens of another corpus, to be encoded at each; those that it trains on where None.
        progress: Told (done, total) in steps.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The other corpus holds what the tokenizer refuses.
    """
    tokens, used = [], []
    trainer.bound(stops)
    for number, step in enumerate(steps):
        look(progress, cancel, number, len(steps))
        trainer.jump(step, cancel=cancel)
        if words is None:
            tokens.append(trainer.tokens)
            used.append(sum(one > 0 for one in trainer.uses))
        else:
            count, ids = _encoded_now(trainer.tokenizer(), words, cancel)
            tokens.append(count)
            used.append(ids)
    return tokens, used


def _encoded_now(tokenizer: Tokenizer, words: Words, cancel: Cancel | None) -> tuple[int, int]:
    """The tokens of words, and how many ids are among them."""
    encoder, refuses = WordEncoder(tokenizer.vocabulary, tokenizer.merges), tokenizer.recipe.unknown in REFUSES
    total = 0
    ids: set[int] = set()
    for number, (word, times) in enumerate(zip(words.words, words.counts, strict=True)):
        if number % _LOOK_EVERY == 0:
            look(None, cancel, number, len(words.words))
        found = encoder.word(word)
        if refuses and any(token.unknown for token in found):
            tokenizer.encode(word)  # says what it is
        total += times * len(found)
        ids.update(token.id for token in found if token.id is not None)
    return total, len(ids)
