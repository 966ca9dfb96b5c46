"""Learning a vocabulary: `start` makes the trainer of a recipe, and the others walk with it.

`Trainer` describes a trainer; the types that it takes and returns are imported here too. A step on or back, a
jump and a run are written once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from tokentui.core import native
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
from tokentui.recipe import FORCE, Recipe, Run, Stops, WhatIf, check_names

if TYPE_CHECKING:  # the tables of this room are imported where nothing is trained
    from tokentui.text.corpus import Corpus
    from tokentui.text.count import Words

__all__ = [
    "BY_COUNT", "Candidate", "Changed", "Column", "Compressed", "Entry", "EventStep", "Goal", "Judged",
    "Life", "Made", "MergeStep", "Page", "PairCandidate", "PieceCandidate", "Query", "Round", "Size",
    "Span", "Step", "Stop", "TokenCandidate", "Tokens", "Trainer", "Traits", "Used", "Why", "Word",
    "ages", "back", "branch", "jump", "run", "start", "step", "steps", "tried", "unmet", "what_if",
]

T = TypeVar("T")


def start(
    corpus: Corpus | None, recipe: Recipe, run: Run | None = None, words: Words | None = None
) -> Trainer:
    """Start a training: count the corpus and lay it out, at step 0.

    Args:
        corpus: The corpus; None where words of it are all that is known.
        recipe: The recipe.
        run: The first id and the special tokens; of its stops the size that a training which prunes goes to.
        words: Its pre-tokens, where they are counted already.

    Raises:
        TokentuiError: The recipe's pattern takes too long on this corpus, a special token is a symbol too, or
            the objective is retired, or the corpus was counted with another split or normalization.
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


def tried(trainer: Trainer, work: Callable[[], T]) -> T:
    """Do the work of a trainer. Where its kernels fail, it becomes a plain one at the same step, which does
    the work again or goes on with it.

    A change that is stopped begins again with the next work: what failed kernels left is not walked with.
    """
    if not (native.failed and trainer.traits.engine == native.COMPILED):
        try:
            return work()
        except Exception as error:
            if trainer.traits.engine != native.COMPILED or not native.fail(error):
                raise
    with silent():  # its steps are those of the progress a second time
        other = trainer.fork(0, ())
        jump(other, trainer.computed)
        jump(other, trainer.number)
    vars(trainer).update(vars(other))
    return work()


def step(trainer: Trainer) -> Step | None:
    """Make the next step and return it; None at the end."""
    goal = trainer.number + 1
    return trainer.step_at(goal) if jump(trainer, goal) == goal else None


def back(trainer: Trainer) -> Step | None:
    """Undo the last step and return it; None at the start."""
    number = trainer.number
    if not number:
        return None
    undone = trainer.step_at(number)
    jump(trainer, number - 1)
    return undone


def jump(trainer: Trainer, number: int) -> int:
    """Go to a step, or as far as steps last. A job that is cancelled leaves the trainer where it is.

    Args:
        trainer: The trainer. Its limits stay.
        number: The step.

    Returns:
        The step arrived at.
    """
    number = max(0, number)
    start, total = trainer.number, abs(number - trainer.number)
    while not tried(trainer, lambda: trainer.advance(number, trainer.limits)):
        tick(abs(trainer.number - start), total)
    return trainer.number


def ages(trainer: Trainer, ids: Iterable[int | None]) -> tuple[int, ...]:
    """For each id that the tokenizer of the present step gives the step that made its token; 0 for a unit, a
    special token, a byte of an unknown unit, and what has no id."""
    tokenizer = trainer.tokenizer()
    numbers = tokenizer.vocabulary.ids(tokenizer.merges)
    made: dict[int, int] = {}
    for symbol in tokenizer.vocabulary.symbols(tokenizer.merges):
        made.setdefault(numbers[symbol], symbol)  # of two merges that spell a special token the first
    return tuple(0 if one is None else trainer.made_at(made.get(one, -1)) for one in ids)


def what_if(trainer: Trainer, changes: Sequence[WhatIf]) -> Trainer:
    """Another training at the same step, or as far as its steps last, under more what-ifs.

    The steps before the first that is made under them are taken over. This trainer does not change; it is to
    be walked by nothing else meanwhile.

    Raises:
        TokentuiError: The training knows no what-ifs, or two decide what one step merges.
    """
    other = branch(trainer, changes)
    jump(other, trainer.number)
    return other


def branch(trainer: Trainer, changes: Sequence[WhatIf]) -> Trainer:
    """The training of `what_if` before it has come to the step of this one: it stands before the first step
    that is made under them.

    Raises:
        TokentuiError: The training knows no what-ifs, or two decide what one step merges.
    """
    trainer.traits.check_what_ifs(changes)
    shared = min((one.step - 1 for one in changes), default=trainer.number)
    return tried(trainer, lambda: trainer.fork(min(shared, trainer.number), tuple(changes)))


def unmet(trainer: Trainer) -> Iterator[tuple[WhatIf, str]]:
    """The what-ifs of a training that changed nothing up to its present step, each with the reason."""
    for one in trainer.what_if:
        if one.step > trainer.number:
            yield one, f"the run has come to step {trainer.number:,}"
        elif one.what == FORCE and (taken := trainer.taken(one.step)) and taken.parts != one.parts:
            yield one, f"the pair stands nowhere before step {one.step:,}"


def run(trainer: Trainer, stops: Stops) -> Stop:
    """Go on until a stop holds or no candidate is left. A job that is cancelled leaves the trainer where it
    is.

    Args:
        trainer: The trainer.
        stops: The ends of the run.

    Returns:
        The reason why it stopped.
    """
    # the limits first: how far it is depends on them
    tried(trainer, lambda: trainer.advance(trainer.number, stops))
    total = tried(trainer, lambda: trainer.ending(stops).step) or 0
    with phase(trainer.traits.phase):
        tick(trainer.number, total)  # a short training ends with the first slice
    with quiet_collector():
        while not (reason := tried(trainer, lambda: trainer.advance(None, stops))):
            with phase(trainer.traits.phase):
                tick(trainer.number, total)
            if trainer.traits.heavy:  # an estimate, which becomes better
                total = trainer.ending(stops).step or 0
    return reason


def steps(trainer: Trainer, first: int = 1) -> Iterator[Step]:
    """The computed steps from this one on up to the present step."""
    return map(trainer.step_at, range(first, trainer.number + 1))
