"""The first step at which two trainings decide differently, with what either had to choose from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tokentui.analyze.meaning import Meanings
from tokentui.core.errors import Cancelled
from tokentui.learn.base import Cancel, Candidate, Progress, Step, Stops, Trainer
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.replay import OpenedTrainer
from tokentui.learn.unigram.rows import PieceRow, UnigramStep
from tokentui.learn.unigram.trainer import UnigramTrainer

_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Side:
    """One training before the step at which it parts from another.

    Attributes:
        step: The step that it makes there, None where it has ended.
        end: Why it has ended, None where it has not.
        candidates: What it chooses from, best first: pairs, or of a unigram model the pieces in the order of pruning.
        tied: How many candidates share the best value.
        tie_rule: The rule that chooses among them, empty for a unigram model.
        tokens: The length of the corpus before the step.
        vocab_size: The number of ids before it.
    """

    step: Step | UnigramStep | None
    end: str | None
    candidates: tuple[Candidate, ...] | tuple[PieceRow, ...]
    tied: int
    tie_rule: str
    tokens: int
    vocab_size: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step, from 1, that two trainings make differently, and both sides of it."""

    step: int
    a: Side
    b: Side


def first_difference(
    a: Trainer,
    b: Trainer,
    limit: int | None = None,
    *,
    literal: bool = False,
    rows: int = 10,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Difference | None:
    """Find the first step that differs: another pair, another round, or an end. Counts may differ and the step be the same.

    Both trainers are left at the step where they stood; the steps that were made meanwhile they know.

    Args:
        a: A training.
        b: Another one, of any objective, on the same corpus.
        limit: The last step that is looked at.
        literal: Compare merges byte by byte, and not by what they mean; see `meaning`.
        rows: How many candidates of either side.
        progress: Told (done, total) in steps; the total is 0 where there is no limit.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Returns:
        None where they are alike up to the limit, or both end at the same step.
    """
    stood = a.number, b.number
    try:
        number = first_differing_step(a, b, limit, literal=literal, progress=progress, cancel=cancel)
        return None if number is None else Difference(number, _side(a, number, rows, cancel), _side(b, number, rows, cancel))
    finally:
        a.jump(stood[0])
        b.jump(stood[1])


def first_differing_step(
    a: Trainer,
    b: Trainer,
    limit: int | None = None,
    *,
    literal: bool = False,
    begin: int = 1,
    stops: tuple[Stops, Stops] | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> int | None:
    """The number of the first step that differs; see `first_difference`. The trainers are left where the search ended.

    Args:
        a: A training.
        b: Another one.
        limit: The last step that is looked at.
        literal: Compare merges byte by byte, and not by what they mean; see `meaning`.
        begin: The first step that is looked at.
        stops: Where either ends, also before no pair is left. Neither knows steps past them.
        progress: Told (done, total) in steps; the total is 0 where there is no limit.
        cancel: Asked meanwhile; true raises `Cancelled`.
    """
    number = begin - 1
    readers = (None, None) if literal else (Meanings(a), Meanings(b))
    while limit is None or number < limit:
        if cancel is not None and cancel():
            raise Cancelled
        if progress is not None:
            progress(number, limit or 0)
        # Few steps at first: trainings that part mostly part early.
        target = number + min(_CHUNK, number + 1) if limit is None else min(limit, number + min(_CHUNK, number + 1))
        for trainer, ends in zip((a, b), stops or (None, None), strict=True):
            if trainer.known >= target:
                continue
            if ends is None:
                trainer.jump(target, cancel=cancel)
            else:
                _go_on(trainer, target, ends, cancel)
        while number < target:
            number += 1
            first, second = _decision(a, number, readers[0]), _decision(b, number, readers[1])
            if first != second:
                return number
            if first is None:
                return None
    return None


def _go_on(trainer: Trainer, target: int, ends: Stops, cancel: Cancel | None) -> None:
    """Go to a step that is not known yet, or to where the stops hold."""
    trainer.jump(trainer.known, cancel=cancel)
    stops = replace(ends, merges=target if ends.merges is None else min(target, ends.merges))
    while trainer.advance(None, stops) is None:
        if cancel is not None and cancel():
            raise Cancelled


def _decision(trainer: Trainer, number: int, reader: Meanings | None) -> tuple[Any, ...] | None:
    """What a training decides at a step, by its meaning where there is a reader; None where it has ended before."""
    if number > trainer.known:
        return None
    pair, vocabulary = None, None
    if isinstance(trainer, PairTrainer):
        vocabulary, pair = trainer.vocabulary, trainer.vocabulary.merges[number - 1]
    elif isinstance(trainer, OpenedTrainer) and trainer.order.vocabulary.merges:
        vocabulary = trainer.order.vocabulary
        pair = vocabulary.merges[trainer.order.births[number - 1] - vocabulary.base_size]
    if pair is not None and vocabulary is not None:
        if reader is not None:
            return reader.of_symbols(*pair)
        # As spelled: a byte that stands for a pair (Gage) is that pair.
        return vocabulary.spelled(pair[0]), vocabulary.spelled(pair[1])
    step = trainer.step_at(number)
    if isinstance(step, UnigramStep):
        return (step.what, step.kept, step.dropped, step.objective)
    return reader.of_pieces(step.left, step.right) if reader is not None else (step.left, step.right)


def _side(trainer: Trainer, number: int, rows: int, cancel: Cancel | None) -> Side:
    trainer.jump(number - 1, cancel=cancel)
    step = trainer.step_at(number) if number <= trainer.known else None
    candidates: tuple[Candidate, ...] | tuple[PieceRow, ...] = ()
    tied, rule = 0, ""
    if isinstance(trainer, PairTrainer):
        candidates = tuple(trainer.candidates(rows))
        tied, rule = trainer.why().tied, trainer.recipe.tie
    elif isinstance(trainer, UnigramTrainer):
        candidates = tuple(trainer.prune_order(rows))
    end = None if step is not None else trainer.end(Stops())
    return Side(step, end, candidates, tied, rule, trainer.tokens, trainer.vocab_size)
