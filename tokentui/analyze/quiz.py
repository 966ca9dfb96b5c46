"""Questions on a training run: which pair is next, how a word is split, which of some merges is wrong, what
bytes say, how many tokens there are, how a tie is broken. The engine gives the answers.

`tokentui quiz` prints them, `tokentui practice` asks them on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tokentui import learn
from tokentui.axes import AXES
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import each
from tokentui.core.safetext import to_bytes
from tokentui.core.table import plural
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
KINDS = ("pair", "cut", "wrong", "decode", "count", "tie")
"""The kinds of exercises, in the order in which they take turns."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
        kind: One of `KINDS`.
        step: The number of steps that are made before the question.
        choices: The pairs to choose from: in random order, of `pair` and `tie`; in the order in which they
            are merged next, of `wrong`. Empty for others.
        word: The pre-token that is cut, of `cut`, or that bytes say, of `decode`; empty for others.
        answer: The answer: the parts of a pair, or the tokens of a word; empty for `count`.
        number: The answer of `count`, the tokens of the corpus.
        made: The bytes of the token that the pair makes; of `wrong`, that the right pair makes.
        right: The pair that is merged in place of the wrong one, of `wrong`.
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
    right: tuple[bytes, ...] = ()


def questions(
    trainer: Trainer, count: int, seed: int, stops: Stops = _NONE, kinds: Sequence[str] = KINDS
) -> list[Question]:
    """Return up to `count` questions on a training run, in the order of their steps.

    Args:
        trainer: The training, at any step. It is trained on to at most `MOST_STEPS` merges, and left at any
            step.
        count: The number of questions; fewer if there is not as much to ask.
        seed: The same seed gives the same questions.
        stops: The ends of the run.
        kinds: The kinds, in the order in which they take turns.

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
        for kind in kinds
    }
    chosen: list[Question] = []
    while by_kind and len(chosen) < count:
        for kind in list(by_kind):
            if len(chosen) < count:
                question = next(by_kind[kind], None)
                if question is None:
                    del by_kind[kind]
                else:
                    chosen.append(question)
    return sorted(chosen, key=lambda question: (question.step, KINDS.index(question.kind)))


def _of_kind(
    kind: str, trainer: Trainer, steps: Sequence[int], words: Sequence[str], random: Random
) -> Iterator[Question]:
    """Yield exercises of a kind, each at another of the steps. Moves the training.

    A step that has no such exercise is left out. Without words there are no exercises of `cut` and `decode`.
    """
    for step in each(steps):
        if kind == "cut":
            if not words:
                return
            word = random.choice(words)
            if pieces := cut(_at(trainer, step), word):
                yield Question(kind, step, word=word, answer=pieces)
            continue
        if kind == "decode":
            if not words:
                return
            word = random.choice(words)
            yield Question(kind, step, word=word, answer=(to_bytes(word),))
            continue
        if kind == "wrong":
            yield from _with_a_wrong_one(trainer, step, random)
            continue
        jump(trainer, step)
        if kind == "count":
            yield Question(kind, step, number=trainer.tokens_at(step))
            continue
        why = learn.why(trainer, trainer.limits)
        if (best := why.best) is None or (why.tied > 1) != (kind == "tie"):
            continue
        rows = [row for row in learn.candidates(trainer, Query(0, 100)).rows if (row.worth == best.worth) == (
            kind == "tie") and row.parts != best.parts]
        chosen = [best, *rows[: CHOICES - 1]]
        if len(chosen) > 1:
            yield _about_pair(kind, step, chosen, random, why.tie_rule if kind == "tie" else "")


def _with_a_wrong_one(trainer: Trainer, step: int, random: Random) -> Iterator[Question]:
    """Yield a question on the next merges of which one is wrong; nothing if fewer than `CHOICES` merges
    follow, or no other pair has a lower value. Moves the training."""
    jump(trainer, step + CHOICES)
    vocabulary = trainer.tokenizer().vocabulary
    merges: list[tuple[bytes, ...]] = [tuple(map(vocabulary.spelled, pair)) for pair in vocabulary.merges]
    merges = merges[step:step + CHOICES]
    at = random.randrange(CHOICES)
    if len(merges) < CHOICES:
        return
    jump(trainer, step + at)
    best = learn.why(trainer, trainer.limits).best
    rows = [row for row in learn.candidates(trainer, Query(0, 100)).rows
            if best is not None and row.worth < best.worth and row.parts not in merges]
    if best is not None and rows:
        wrong = random.choice(rows[:CHOICES])
        yield Question("wrong", step, (*merges[:at], wrong.parts, *merges[at + 1:]), answer=wrong.parts,
                       made=best.token, worth=str(best.worth), right=best.parts)


def _about_pair(
    kind: str, step: int, chosen: Sequence[Candidate], random: Random, rule: str
) -> Question:
    """Return an exercise on candidates, shuffled; the first one given is the answer."""
    best, shuffled = chosen[0], list(chosen)
    random.shuffle(shuffled)
    choices = tuple(candidate.parts for candidate in shuffled)
    return Question(
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


# ---- in words


Quote = Callable[[bytes], str]
"""Formats a token for a question."""


def asked(question: Question, quote: Quote) -> str:
    """Return a question in words, without its choices.

    Args:
        question: The question.
        quote: Formats a token for a question.
    """
    state = f"after {plural(question.step, 'merge')}" if question.step else "before any merge"
    match question.kind:
        case "pair":
            return f"Which of these pairs is merged next, {state}?"
        case "tie":
            rule = rule_in_words(question.rule)
            return f"These pairs are tied, {state}. Which one does the tie rule choose: {rule}?"
        case "wrong":
            return f"These are the next merges in order, {state}. One is wrong: which one?"
        case "cut":
            return f"How is {quote(to_bytes(question.word))} split into tokens, {state}?"
        case "decode":
            return f"Which text are the bytes {to_bytes(question.word).hex(' ')}?"
    return f"How many tokens does the corpus have, {state}?"


def answered(question: Question, quote: Quote) -> str:
    """Return the answer to a question in words; see `asked`."""

    def pair(parts: Sequence[bytes]) -> str:
        return " + ".join(map(quote, parts))

    match question.kind:
        case "pair" | "tie":
            return f"{pair(question.answer)} makes {quote(question.made)}; its value is {question.worth}."
        case "wrong":
            right = f"{pair(question.right)} is merged there, with the value {question.worth}"
            return f"{pair(question.answer)} is wrong: {right}."
        case "cut":
            return f"{' '.join(map(quote, question.answer))}: {plural(len(question.answer), 'token')}."
        case "decode":
            return f"{quote(to_bytes(question.word))}."
    return f"{question.number:,}."
