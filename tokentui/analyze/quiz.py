"""Exercises on a training run: which pair is next, how a word is split, how many tokens there are, how a tie
is broken. The engine gives the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tokentui import learn
from tokentui.axes import AXES
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import each
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import jump, run
from tokentui.learn.rows import Candidate, Query
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Stops

MOST_STEPS = 100
"""The last step that exercises are about, unless the run has an earlier end: later ones teach no more."""
CHOICES = 4
_LONGEST_WORD = 24
_NONE = Stops()
_SHOWN_WORDS = 400
KINDS = ("pair", "cut", "count", "tie")
"""The kinds of exercises, in the order in which they take turns."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise.

    Attributes:
        kind: One of `KINDS`.
        step: The number of steps that are made before the question.
        choices: The pairs to choose from, in random order, of `pair` and `tie`; empty for others.
        word: The pre-token that is cut, of `cut`; empty for others.
        answer: The answer: the parts of a pair, or the tokens of a word; empty for `count`.
        number: The answer of `count`, the tokens of the corpus.
        made: The bytes of the token that the pair makes.
        worth: The value of the pair, as the engine has it.
        rule: The tie rule, of `tie`.
    """

    kind: str
    step: int
    choices: tuple[tuple[bytes, ...], ...] = ()
    word: str = ""
    answer: tuple[bytes, ...] = ()
    number: int = 0
    made: bytes = b""
    worth: str = ""
    rule: str = ""


def exercises(trainer: Trainer, count: int, seed: int, stops: Stops = _NONE) -> list[Exercise]:
    """Return up to `count` exercises on a training run, in the order of their steps.

    Args:
        trainer: The training, at any step. It is trained on to at most `MOST_STEPS` merges, and left at any
            step.
        count: The number of exercises; fewer if there is not as much to ask.
        seed: The same seed gives the same exercises.
        stops: The ends of the run.

    Raises:
        TokentuiError: The training merges no pairs, or has no first step.
    """
    if not trainer.traits.grows or trainer.traits.replays:
        objective = f"objective={trainer.recipe.objective}"
        raise TokentuiError("exercises need a recipe that merges pairs", objective, "use a BPE recipe")
    random = Random(seed)
    run(trainer, replace(stops, merges=min(MOST_STEPS if stops.merges is None else stops.merges, MOST_STEPS)))
    if not (last := trainer.number):
        raise TokentuiError("no pair is merged", "quiz", "use a longer corpus")
    words = [word for word in trainer.words.words if 2 < len(word) <= _LONGEST_WORD][:_SHOWN_WORDS]
    by_kind = {
        kind: _of_kind(kind, trainer, random.sample(range(last), last), words, Random(f"{seed} {kind}"))
        for kind in KINDS
    }
    chosen: list[Exercise] = []
    while by_kind and len(chosen) < count:
        for kind in list(by_kind):
            if len(chosen) < count:
                exercise = next(by_kind[kind], None)
                if exercise is None:
                    del by_kind[kind]
                else:
                    chosen.append(exercise)
    return sorted(chosen, key=lambda exercise: (exercise.step, KINDS.index(exercise.kind)))


def _of_kind(
    kind: str, trainer: Trainer, steps: Sequence[int], words: Sequence[str], random: Random
) -> Iterator[Exercise]:
    """Yield exercises of a kind, each at another of the steps. Moves the training."""
    for step in each(steps):
        if kind == "cut":
            if not words:
                return
            word = random.choice(words)
            if pieces := cut(_at(trainer, step), word):
                yield Exercise(kind, step, word=word, answer=pieces)
            continue
        jump(trainer, step)
        if kind == "count":
            yield Exercise(kind, step, number=trainer.tokens_at(step))
            continue
        why = learn.why(trainer, trainer.limits)
        if (best := why.best) is None or (why.tied > 1) != (kind == "tie"):
            continue
        rows = [row for row in learn.candidates(trainer, Query(0, 100)).rows if (row.worth == best.worth) == (
            kind == "tie") and row.parts != best.parts]
        chosen = [best, *rows[: CHOICES - 1]]
        if len(chosen) > 1:
            yield _about_pair(kind, step, chosen, random, why.tie_rule if kind == "tie" else "")


def _about_pair(
    kind: str, step: int, chosen: Sequence[Candidate], random: Random, rule: str
) -> Exercise:
    """Return an exercise on candidates; the first one is the answer."""
    best, shuffled = chosen[0], list(chosen)
    random.shuffle(shuffled)
    choices = tuple(candidate.parts for candidate in shuffled)
    return Exercise(
        kind, step, choices, answer=best.parts, made=best.token, worth=str(best.worth), rule=rule
    )


def _at(trainer: Trainer, step: int) -> Tokenizer:
    jump(trainer, step)
    return trainer.tokenizer()


def cut(tokenizer: Tokenizer, word: str) -> tuple[bytes, ...]:
    """Return the tokens of a pre-token as bytes, or an empty tuple if one of its units is unknown."""
    pieces = [piece.piece for piece in tokenizer.encoder.word(word)]
    return tuple(piece for piece in pieces if piece is not None) if None not in pieces else ()


def rule_in_words(rule: str) -> str:
    """Return a tie rule with its description, or the rule alone if it is not known."""
    known = AXES["tie"].get(rule)
    return f"{rule}, {known.about}" if known is not None else rule
