"""Training: `start` makes the trainer of a recipe, and the other functions walk it.

`Trainer` is the protocol of all trainers. The types that it takes and returns are imported here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from tokentui.core import engines
from tokentui.core.jobs import phase, silent, tick
from tokentui.core.runtime import quiet_collector
from tokentui.learn.objectives import Material, trainer_of
from tokentui.learn.rows import (
    BY_COUNT,
    Candidate,
    Column,
    Entry,
    Judged,
    Page,
    PairCandidate,
    PieceCandidate,
    Query,
    Round,
    TokenCandidate,
    Traits,
    Why,
)
from tokentui.learn.steps import Changed, EventStep, Life, MergeStep, Span, Step, Stop, Used, Word
from tokentui.learn.trainer import Compressed, Goal, Made, Size, Tokens, Trainer
from tokentui.learn.view import (
    candidates,
    compression_of,
    entries,
    find,
    life,
    replay_of,
    steps_of_symbols,
    substeps_of,
    uses_over,
    why,
)
from tokentui.recipe import FORCE, Recipe, Run, Stops, WhatIf, check_names

if TYPE_CHECKING:  # commands that train nothing import this package too
    from tokentui.text.corpus import Corpus
    from tokentui.text.count import Words

__all__ = [
    "BY_COUNT", "Candidate", "Changed", "Column", "Compressed", "Entry", "EventStep", "Goal", "Judged",
    "Life", "Made", "MergeStep", "Page", "PairCandidate", "PieceCandidate", "Query", "Round", "Size",
    "Span", "Step", "Stop", "TokenCandidate", "Tokens", "Trainer", "Traits", "Used", "Why", "Word",
    "ages", "back", "branch", "candidates", "compression_of", "entries", "find", "jump", "life", "replay_of",
    "run", "start", "step", "steps", "steps_of_symbols", "substeps_of", "unmet", "uses_over", "what_if",
    "why", "with_plain_fallback",
]

T = TypeVar("T")
P = ParamSpec("P")


def start(
    corpus: Corpus | None, recipe: Recipe, run: Run | None = None, words: Words | None = None
) -> Trainer:
    """Start a training: count the corpus and lay it out, at step 0.

    Args:
        corpus: The corpus; None if only counted words of it are known.
        recipe: The recipe.
        run: The first id and the special tokens, and the size that a training by pruning aims at.
        words: The counted pre-tokens of the corpus; None to count them.

    Raises:
        TokentuiError: The pattern of the recipe takes too long on this corpus, a special token is a symbol
            too, the objective is retired, or the corpus was counted with another split or normalization.
    """
    trainer = trainer_of(recipe)
    check_names(recipe, run or Run())
    if corpus is not None:
        from tokentui.text.count import check_counting

        check_counting(corpus, recipe)
    if words is None:
        from tokentui.text.count import count

        assert corpus is not None
        with phase("counting"):
            words = count(corpus, recipe)
    material = Material.of(words, recipe, run, None if corpus is None else corpus.documents)
    with phase(material.objective.preparation):
        return trainer(material)


# ---- walking


def with_plain_fallback(
    trainer: Trainer, work: Callable[Concatenate[Trainer, P], T], *args: P.args, **named: P.kwargs
) -> T:
    """Return `work(trainer, ...)`. If a kernel fails, train again in plain Python up to the same step, and
    repeat it.

    The trainer object stays the same. A job that is cancelled in the middle of this leaves it unchanged; the
    next call tries again.

    Args:
        trainer: The trainer.
        work: Asks or walks the trainer.
        args, named: The other arguments of `work`.
    """
    if not (engines.failed and trainer.traits.engine == engines.COMPILED):
        try:
            return work(trainer, *args, **named)
        except Exception as error:
            if trainer.traits.engine != engines.COMPILED or not engines.fail(error):
                raise
    with silent():  # its steps are those of the progress a second time
        other = trainer.fork(0, ())
        jump(other, trainer.computed)
        jump(other, trainer.number)
    vars(trainer).update(vars(other))
    return work(trainer, *args, **named)


def step(trainer: Trainer) -> Step | None:
    """Make the next step and return it; None if there is no further step."""
    goal = trainer.number + 1
    while not with_plain_fallback(trainer, methodcaller("advance", goal, trainer.limits)):
        tick(0, 1)
    return trainer.step_at(goal) if trainer.number == goal else None


def back(trainer: Trainer) -> Step | None:
    """Undo the last step and return it; None at step 0."""
    number = trainer.number
    if not number:
        return None
    undone = trainer.step_at(number)
    jump(trainer, number - 1)
    return undone


def jump(trainer: Trainer, number: int) -> int:
    """Go to a step, or to the last step if the training ends before it. The limits of the trainer stay.

    A job that is cancelled leaves the trainer at the step that it has reached.

    Returns:
        The step that was reached.
    """
    number = max(0, number)
    start, total = trainer.number, abs(number - trainer.number)
    while not with_plain_fallback(trainer, lambda trainer: trainer.advance(number, trainer.limits)):
        tick(abs(trainer.number - start), total)
    return trainer.number


def ages(trainer: Trainer, ids: Iterable[int | None]) -> tuple[int, ...]:
    """Return the step that made the token of each id of the present tokenizer.

    The step is 0 for a unit, a special token, a byte of an unknown unit, and None or an unknown id.
    """
    tokenizer = trainer.tokenizer()
    numbers = tokenizer.vocabulary.ids(tokenizer.merges)
    made: dict[int, int] = {}
    for symbol in tokenizer.vocabulary.symbols(tokenizer.merges):
        made.setdefault(numbers[symbol], symbol)  # if two merges spell a special token, the first one
    made_at = steps_of_symbols(trainer)
    return tuple(0 if id is None else made_at(made.get(id, -1)) for id in ids)


def what_if(trainer: Trainer, changes: Sequence[WhatIf]) -> Trainer:
    """Return another training at the same step under more what-ifs, or at its last step if it ends before.

    Steps before the first what-if are copied, not made again. This trainer does not change; nothing else may
    walk it meanwhile.

    Raises:
        TokentuiError: The training supports no what-ifs, or two decide what one step merges.
    """
    other = branch(trainer, changes)
    jump(other, trainer.number)
    return other


def branch(trainer: Trainer, changes: Sequence[WhatIf]) -> Trainer:
    """Return another training under more what-ifs, at the last step that none of them changes.

    That step is at most the current one of this trainer.

    Raises:
        TokentuiError: The training supports no what-ifs, or two decide what one step merges.
    """
    trainer.traits.check_what_ifs(changes)
    shared = min((change.step - 1 for change in changes), default=trainer.number)
    shared = min(shared, trainer.number)
    return with_plain_fallback(trainer, lambda trainer: trainer.fork(shared, tuple(changes)))


def unmet(trainer: Trainer) -> Iterator[tuple[WhatIf, str]]:
    """Yield the what-ifs that have changed nothing up to the current step, each with the reason in words."""
    for change in trainer.what_if:
        if change.step > trainer.number:
            yield change, f"the run has come to step {trainer.number:,}"
        elif change.what == FORCE and (taken := trainer.taken(change.step)) and taken.parts != change.parts:
            yield change, f"the pair stands nowhere before step {change.step:,}"


def run(trainer: Trainer, stops: Stops) -> Stop:
    """Make steps until a stop holds or no candidate is left, and return the reason.

    A job that is cancelled leaves the trainer at the step that it has reached.
    """
    # Set the limits first: the last step depends on them.
    with_plain_fallback(trainer, lambda trainer: trainer.advance(trainer.number, stops))
    total = with_plain_fallback(trainer, lambda trainer: trainer.ending(stops).step) or 0
    with phase(trainer.traits.phase):
        tick(trainer.number, total)  # a short training ends with the first slice
    with quiet_collector():
        while not (reason := with_plain_fallback(trainer, lambda trainer: trainer.advance(None, stops))):
            with phase(trainer.traits.phase):
                tick(trainer.number, total)
            if trainer.traits.heavy:  # an estimate, which becomes better
                total = trainer.ending(stops).step or 0
    return reason


def steps(trainer: Trainer, first: int = 1) -> Iterator[Step]:
    """Return the steps from the one numbered `first` up to the current one."""
    return map(trainer.step_at, range(first, trainer.number + 1))
