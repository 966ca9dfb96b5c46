"""Trainings under what-ifs beside the naive model that trains from scratch under the same."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from naive import Naive, NaiveUnder
from trainers import best, why, words_of

from tokentui.learn import Trainer
from tokentui.recipe import FORBID, WhatIf


def naive_of(trainer: Trainer, changes: Iterable[WhatIf], max_length: int | None = None) -> NaiveUnder:
    """Return a naive run from the start of a training, which is where the training is."""
    vocabulary, counts = trainer.tokenizer().vocabulary, trainer.words.counts
    return NaiveUnder(
        words=words_of(trainer),
        weights=[1] * len(counts) if trainer.recipe.weight == "distinct" else list(counts),
        pieces=vocabulary.pieces[: vocabulary.base_size], tie=trainer.recipe.tie,
        prefix=len(trainer.recipe.mark_text.encode()) if trainer.recipe.mark_kind == "prefix" else 0,
        max_length=max_length, changes=[(one.step, one.what, one.parts) for one in changes],
    )


def states_of(naive: NaiveUnder) -> list[NaiveUnder]:
    """Return every state of a naive run."""
    states = [naive]
    while ranked := (last := copy.deepcopy(states[-1])).ranked(last.counts()):
        last.merge(ranked[0])
        states.append(last)
    return states


def together(first: Sequence[WhatIf], more: Iterable[WhatIf]) -> list[WhatIf]:
    """Return the what-ifs among `more` that a training under the first ones may have too."""
    decided = {change.step for change in first if change.what != FORBID}
    return [
        change for change in dict.fromkeys(more)
        if change not in first and (change.what == FORBID or change.step not in decided)
    ]


def facts(trainer: Trainer) -> dict[str, Any]:
    """Return what a training says about its step, as `expected` has it."""
    number, reasons = trainer.number, why(trainer)
    step = trainer.step_at(number).row if number else {}
    taken = trainer.taken(number) if number else None
    return {
        "number": number,
        "candidates": [(row.key, row.count, row.before, row.tied) for row in best(trainer, 10_000)],
        "second": [row.key for row in best(trainer, 1, top=1)],
        "words": words_of(trainer),
        "uses": list(trainer.uses)[: trainer.tokenizer().vocabulary.base_size + number],
        "tokens": trainer.tokens_at(number),
        "ends": trainer.end(trainer.limits) is not None,
        "why": None if reasons.best is None else (reasons.best.key, reasons.tied, reasons.replaced),
        "step": [step.get(name) for name in ("hex", "count", "replaced", "tied")] if number else None,
        "taken": None if taken is None else (taken.key, taken.tied),
    }


def expected(states: Sequence[NaiveUnder], number: int) -> dict[str, Any]:
    """Return what a training that is at a step has to say, recounted from the states of a naive run."""
    state, last = states[number], states[number - 1] if number else None
    ranked, tied, everywhere = _ranked(state)
    was = everywhere if last is None else Naive.counts(_without_limit(last))
    uses: Counter[int] = Counter()
    for word, weight in zip(state.words, state.weights, strict=True):
        for symbol in word:
            uses[symbol] += weight
    new = {len(state.pieces) - 1} if number else set[int]()
    rows = [
        (pair, everywhere[pair], was[pair] if new.isdisjoint(pair) else None, tied[pair] > 1)
        for pair in ranked
    ]
    return {
        "number": number, "candidates": rows, "second": ranked[1:2], "words": state.words,
        "uses": [uses[symbol] for symbol in range(len(state.pieces))], "tokens": state.tokens(),
        "ends": not ranked,
        "why": (ranked[0], _greatest(state), copy.deepcopy(state).merge(ranked[0])) if ranked else None,
        **_made(last),
    }


def _made(last: NaiveUnder | None) -> dict[str, Any]:
    """Return the record of the step after a state."""
    if last is None:
        return {"step": None, "taken": None}
    ranked, tied, everywhere = _ranked(last)
    pair, pieces = ranked[0], last.pieces
    spelled = [pieces[pair[0]].hex(), pieces[pair[1]].hex(), last.join(pair).hex()]
    replaced = copy.deepcopy(last).merge(pair)
    return {
        "step": [spelled, everywhere[pair], replaced, _greatest(last)], "taken": (pair, tied[pair] > 1),
    }


def _ranked(state: NaiveUnder) -> tuple[list[tuple[int, int]], dict[tuple[int, int], int], Counter[Any]]:
    """Return the candidates of a state, best first, how many are as good as each, itself counted, and the
    counts of all pairs. The forced one is as good as none where it is no candidate."""
    state = copy.deepcopy(state)
    counts = state.counts()
    worth = Counter(counts.values())
    ranked = state.ranked(counts)
    tied = {pair: worth[counts[pair]] if pair in counts else 0 for pair in ranked}
    return ranked, tied, Naive.counts(_without_limit(state))


def _greatest(state: NaiveUnder) -> int:
    """Return how many candidates share the greatest count."""
    counts = copy.deepcopy(state).counts()
    return list(counts.values()).count(max(counts.values(), default=0))


def _without_limit(state: NaiveUnder) -> NaiveUnder:
    other = copy.copy(state)
    other.max_length = None
    return other
