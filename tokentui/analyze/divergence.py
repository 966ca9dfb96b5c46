"""The first step at which two trainings decide differently, with what either had to choose from.

Merges are compared by what they mean, however their tokens are spelled: the texts of the two sides, and
whether a word's boundary is in them. A space in front (`·t`, `Ġt` in a file), a ▁ in front, a mark at the end
of a word (`t</w>`) and, where tokens inside a word are marked (`##h`), a token without the mark all say that
a word begins or ends there. Here the boundary of a merge is written in one way, in front of it. A space
elsewhere, and a second one, is a character as any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tokentui import learn
from tokentui.analyze.metrics import word_tokens
from tokentui.analyze.results import DivergenceSide
from tokentui.core.jobs import each, shielded, silent, tick
from tokentui.encode.decode import Decoder
from tokentui.encode.segment import UNKNOWN, WAYS
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.objectives import OBJECTIVES
from tokentui.learn.replay.segmentations import ChangeLog, TokenOrder
from tokentui.learn.rows import Query
from tokentui.learn.steps import MergeStep
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Stops
from tokentui.text.count import Words
from tokentui.text.pretokenize import MARKS
from tokentui.text.split import SPLITS

Meaning = tuple[bool, tuple[bytes, ...]]
"""The meaning of a merge: whether a boundary is in it, and the texts of its sides; a side that is nothing but
the boundary has none."""

Decision = tuple[object, object]
"""The decision of a step, as it is spelled and by its meaning."""

_METASPACE = "▁".encode()
_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step, from 1, that two trainings make differently, and both sides of it."""

    step: int
    a: DivergenceSide
    b: DivergenceSide


class Meanings:
    """Reads the merges of a vocabulary by what they mean.

    Args:
        vocabulary: The vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._mark = MARKS.of(vocabulary.recipe.mark)
        self._metaspace = _is_space(vocabulary)

    def of_symbols(self, left: int, right: int) -> Meaning:
        """Return the meaning of a merge of two symbols. Marks are told apart by the units that the symbols
        were made of."""
        spelled, sizes = self._vocabulary.spelled, self._vocabulary.mark_sizes
        return self._of((spelled(left), sizes(left)), (spelled(right), sizes(right)))

    def of_pieces(self, left: bytes, right: bytes) -> Meaning:
        """Return the meaning of a merge of two tokens given as bytes. Marks are recognized by spelling."""
        return self._of((left, self._spelled(left)), (right, self._spelled(right)))

    def _of(self, *sides: tuple[bytes, tuple[int, int]]) -> Meaning:
        texts = [piece[front : len(piece) - end] for piece, (front, end) in sides]
        (_, left_marks), (_, right_marks) = sides
        if self._metaspace:
            texts = [text.replace(_METASPACE, b" ") for text in texts]
        if self._mark.put is None:
            boundary = texts[0].startswith(b" ")
            texts[0] = texts[0][boundary:]
        elif self._mark.in_front:
            boundary = not left_marks[0]
        else:
            boundary = bool(right_marks[1])
        return boundary, tuple(text for text in texts if text)

    def _spelled(self, piece: bytes) -> tuple[int, int]:
        mark = self._vocabulary.mark
        front = self._vocabulary.unit_continues(piece)
        end = self._mark.ends_word and piece.endswith(mark)
        return len(mark) if front else 0, len(mark) if end else 0


def _is_space(vocabulary: Vocabulary) -> bool:
    """Return whether ▁ means a space, by the recipe or because decoding replaces it."""
    if SPLITS.of(vocabulary.recipe.split).marks_spaces:
        return True
    merges, pieces = len(vocabulary.merges), vocabulary.pieces
    symbols = vocabulary.symbols_by_id(merges).items()
    held = next((number for number, symbol in symbols if _METASPACE in pieces[symbol]), None)
    return held is not None and "▁" not in Decoder(vocabulary, merges).to_text([held])


class _Decisions:
    """The decisions of a training: merges as they are spelled and by their meaning, other steps by rows.

    Args:
        trainer: The training.
        stops: Its ends. No steps past them are computed.
        limit: The last step that is asked for, None where that is not known.
    """

    def __init__(self, trainer: Trainer, stops: Stops, limit: int | None) -> None:
        self._trainer, self._stops, self._limit = trainer, stops, limit
        self._vocabulary = trainer.tokenizer(trainer.computed).vocabulary  # it only grows
        self._meanings = Meanings(self._vocabulary)

    def of(self, number: int) -> Decision:
        """Return the decision of a step by spelling and by meaning; (None, None) after the end of the
        training."""
        trainer = self._trainer
        if number > trainer.computed:
            self._go_on(number)
        if number > trainer.computed:
            return None, None
        vocabulary, step = self._vocabulary, trainer.step_at(number)
        if not isinstance(step, MergeStep):
            return step.decision, step.decision
        if vocabulary.merges:
            left, right = vocabulary.merges[number - 1]
            # As spelled: a byte that stands for a pair (Gage) is that pair.
            return tuple(map(vocabulary.spelled, (left, right))), self._meanings.of_symbols(left, right)
        return (step.left, step.right), self._meanings.of_pieces(step.left, step.right)

    def _go_on(self, number: int) -> None:
        """Compute a step and a few more after it, or go to the step where the limits are reached."""
        # Few steps at first: trainings that diverge mostly do so early.
        ends = number - 1 + min(_CHUNK, number), self._limit, self._stops.merges
        stops = replace(self._stops, merges=min(end for end in ends if end is not None))
        with silent():
            learn.jump(self._trainer, self._trainer.computed)
            learn.run(self._trainer, stops)
        vocabulary = self._trainer.tokenizer(self._trainer.computed).vocabulary
        if vocabulary is not self._vocabulary:  # kernels have failed
            self._vocabulary, self._meanings = vocabulary, Meanings(vocabulary)


def first_divergences(
    a: Trainer, b: Trainer, limit: int | None = None, *, rows: int = 10,
    stops: tuple[Stops, Stops] = (Stops(), Stops()),
) -> tuple[Divergence | None, Divergence | None]:
    """Find the first step that differs by meaning, and the first that differs by spelling: another pair,
    another round, or an end. Counts are not compared.

    Both trainers are left at the step where they were; they keep the steps that were computed meanwhile.

    Args:
        a: A training.
        b: Another one, of any objective, on the same corpus.
        limit: The last step that is compared.
        rows: The number of candidates of either side.
        stops: The ends of either, also before no pair is left. No steps past them are computed.

    Returns:
        None for each where they are alike up to the limit, or both end at the same step.
    """
    before = a.number, b.number
    first, second = (_Decisions(one, ends, limit) for one, ends in zip((a, b), stops, strict=True))
    numbers = itertools.count(1) if limit is None else range(1, limit + 1)
    try:
        meant, spelled = first_numbers((first.of(n), second.of(n)) for n in each(numbers, limit or 0))
        by_meaning, as_spelled = (
            None if number is None else
            Divergence(number, _side(a, number, rows, stops[0]), _side(b, number, rows, stops[1]))
            for number in (meant, spelled)
        )
        return by_meaning, as_spelled
    finally:
        with shielded():
            learn.jump(a, before[0])
            learn.jump(b, before[1])


def first_numbers(
    decisions: Iterable[tuple[Decision, Decision]], start: int = 1
) -> tuple[int | None, int | None]:
    """Return the numbers of the first decisions that differ by meaning and by spelling; None for no
    difference up to the end.

    Args:
        decisions: The decisions of two in order, each as it is spelled and by its meaning; None where one has
            ended.
        start: The number of the first.
    """
    spelled = None
    for number, ((one, meaning), (other, other_meaning)) in enumerate(decisions, start):
        if spelled is None and one != other:
            spelled = number
        # Merges that are spelled alike mean the same, so meanings are read from the first that are not.
        if spelled is not None and meaning != other_meaning:
            return number, spelled
        if one is None:
            break
    return None, spelled


def _side(trainer: Trainer, number: int, rows: int, stops: Stops) -> DivergenceSide:
    """Describe a training before a step. The training stays at that step."""
    with silent():
        learn.jump(trainer, min(number - 1, trainer.computed))
    why = learn.with_plain_fallback(trainer, lambda: trainer.why(stops))
    made = trainer.step_at(number) if number <= trainer.computed else None
    if made is None:
        why = replace(why, best=None, round=None, end=trainer.end(stops))
    else:
        why = replace(why, best=why.best if trainer.traits.replays else trainer.taken(number), end=None)
    page = learn.with_plain_fallback(trainer, lambda: trainer.candidates(Query(rows=rows)))
    at = trainer.number
    traits = trainer.traits
    return DivergenceSide(
        why, page, trainer.tokens_at(at), trainer.size_at(at), made, traits.columns, traits.replays
    )


# The tokens of a corpus and the ids in use at each step, exact, without making the steps again.


Points = tuple[list[int], list[int]]
"""The tokens of a corpus after some steps, and how many ids it holds then; the second is empty where that is
not known."""



def evenly(end: int, points: int) -> list[int]:
    """Return at most `points` evenly spaced steps from 0 to an end."""
    points = max(2, points)
    return sorted({round(n * end / (points - 1)) for n in range(points)})


def as_trained(recipe: Recipe) -> bool:
    """Return whether a tokenizer encodes its corpus into the very tokens that training left there, each word
    as often as it occurs."""
    objective, way = OBJECTIVES.of(recipe.objective), WAYS.of(recipe.encode)
    by_training = way.needs == ("scores" if objective.scored else "merges")
    return by_training and WEIGHTS.of(recipe.weight).by_occurrences and not objective.substitutes_bytes


def replayed(
    merges: Sequence[tuple[int, int]], base: int, tokens: Sequence[int], uses: Sequence[int], number: int,
    steps: Sequence[int]
) -> Points:
    """Return the tokens and the ids in use at some steps of a training by merges, on its own corpus.

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
    """Return the tokens and the ids in use at some steps, on any corpus, for a tokenizer whose tokens come
    into use one by one.

    Args:
        tokenizer: The tokenizer after its last step.
        words: The counted pre-tokens of the corpus.
        steps: The steps that are wanted, ascending.

    Raises:
        TokentuiError: The corpus holds what the tokenizer refuses; it names the unit.
    """
    vocabulary, refuses = tokenizer.vocabulary, UNKNOWN.of(tokenizer.recipe.unknown).is_error
    log = ChangeLog(TokenOrder.of(tokenizer), words.words, words.counts)
    if refuses and any(None in change for change in log.changes.values()):
        for word in words.words:
            tokenizer.encode(word)  # one of them says what it is
    used = []
    uses: dict[int | None, int] = {}
    held = 0
    nameless = vocabulary.unknown_id is None
    made = log.steps[::-1]
    for step in steps:
        while made and made[-1] <= step:
            for symbol, by in log.changes[made.pop()].items():
                before = uses.get(symbol, 0)
                uses[symbol] = before + by
                if symbol is not None or not nameless:
                    held += (before + by > 0) - (before > 0)
        used.append(held)
    # Byte tokens are many, and a step does not say which.
    tokens = list(map(log.tokens_at, steps))
    return tokens, [] if vocabulary.byte_tokens and None in uses else used


def walked(trainer: Trainer, stops: Stops, steps: Sequence[int], words: Words | None = None) -> Points:
    """Return the tokens and the ids in use at some steps of any training, by going to each step.

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
    # Set the limits of its steps.
    learn.with_plain_fallback(trainer, lambda: trainer.advance(trainer.number, stops))
    for number, step in enumerate(steps):
        tick(number, len(steps))
        with silent():
            learn.jump(trainer, step)
        if words is None:
            tokens.append(trainer.tokens_at(step))
            used.append(sum(one > 0 for one in trainer.uses))
        else:
            tokenizer, total, ids = trainer.tokenizer(), 0, set[int | None]()
            for word, times in each(zip(words.words, words.counts, strict=True)):
                found = word_tokens(tokenizer.encoder, word)
                total += times * len(found)
                ids.update(token.id for token in found)
            tokens.append(total)
            used.append(len(ids - {None}))
    return tokens, used
