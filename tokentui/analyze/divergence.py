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
from tokentui.encode.segment import ENCODING_WAYS, UNKNOWN
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
    """Returns the meanings of the merges of a vocabulary.

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
        """Return whether a merge is at a word's border, and its texts without marks; empty texts go.

        The border is a space in front if the recipe puts no mark, else a mark on the side that it puts it.
        """
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
    with_metaspace = next((number for number, symbol in symbols if _METASPACE in pieces[symbol]), None)
    return with_metaspace is not None and "▁" not in Decoder(vocabulary, merges).to_text([with_metaspace])


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
        """Return the decision of a step by spelling and by meaning, and compute the training as far as
        needed; (None, None) after its end."""
        trainer = self._trainer
        if number > trainer.computed:
            self._compute_to(number)
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

    def _compute_to(self, number: int) -> None:
        """Compute the training up to a step and at most `_CHUNK` - 1 more, or to its end. Moves the training
        to its last computed step."""
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
        rows: The maximum number of candidates listed for either side.
        stops: The stops of each training. No steps past them are computed.

    Returns:
        The first divergence by meaning, and the first by spelling; None for each if the trainings agree up to
        the limit, or up to the same end.
    """
    before = a.number, b.number
    first, second = (_Decisions(trainer, ends, limit) for trainer, ends in zip((a, b), stops, strict=True))
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
    """Return the numbers of the first decisions that differ by meaning and by spelling; None if none differs.
    Reads no further than needed.

    Args:
        decisions: The decisions of two trainings in order, each by spelling and by meaning. Both are None
            after the end of a training.
        start: The number of the first decision.
    """
    spelled = None
    for number, ((spelled_a, meaning_a), (spelled_b, meaning_b)) in enumerate(decisions, start):
        if spelled is None and spelled_a != spelled_b:
            spelled = number
        # Merges that are spelled alike mean the same, so meanings are read from the first that are not.
        if spelled is not None and meaning_a != meaning_b:
            return number, spelled
        if spelled_a is None:
            break
    return None, spelled


def _side(trainer: Trainer, number: int, rows: int, stops: Stops) -> DivergenceSide:
    """Describe a training before a step, and leave it there. If it ends earlier, describe its end."""
    with silent():
        learn.jump(trainer, min(number - 1, trainer.computed))
    why = learn.with_plain_fallback(trainer, learn.why, stops)
    step = trainer.step_at(number) if number <= trainer.computed else None
    if step is None:
        why = replace(why, best=None, round=None, end=trainer.end(stops))
    else:
        why = replace(why, best=why.best if trainer.traits.replays else trainer.taken(number), end=None)
    page = learn.with_plain_fallback(trainer, learn.candidates, Query(rows=rows))
    now = trainer.number
    traits = trainer.traits
    return DivergenceSide(
        why, page, trainer.tokens_at(now), trainer.size_at(now), step, traits.columns, traits.replays
    )


# The tokens of a corpus and the ids in use at each step, exact, without making the steps again.


Points = tuple[list[int], list[int]]
"""The tokens of a corpus after some steps, and the number of ids in use then. The second is empty if it is
not known."""



def evenly(end: int, points: int) -> list[int]:
    """Return at most `points` evenly spaced steps, with 0 and the end, each once. Fewer than 2 points count
    as 2."""
    points = max(2, points)
    return sorted({round(n * end / (points - 1)) for n in range(points)})


def as_trained(recipe: Recipe) -> bool:
    """Return whether encoding its corpus gives a tokenizer of this recipe the tokens that its training ended
    with, each word counted as often as it occurs."""
    objective, way = OBJECTIVES.of(recipe.objective), ENCODING_WAYS.of(recipe.encode)
    by_training = way.needs == ("scores" if objective.scored else "merges")
    return by_training and WEIGHTS.of(recipe.weight).by_occurrences and not objective.substitutes_bytes


def replayed(
    merges: Sequence[tuple[int, int]], base: int, tokens: Sequence[int], uses: Sequence[int], number: int,
    steps: Sequence[int]
) -> Points:
    """Return two lists, the tokens and the ids in use at each of `steps`, of a training by merges on its own
    corpus.

    Args:
        merges: The parts of each merge, as symbols.
        base: The symbol of the first merge.
        tokens: The tokens of the corpus after each step, from step 0 on.
        uses: The uses of each symbol at step `number`.
        number: That step.
        steps: The steps to return, ascending.
    """
    uses = list(uses)
    for step in reversed(range(number)):
        replaced = tokens[step] - tokens[step + 1]
        uses[base + step] -= replaced
        for part in merges[step]:
            uses[part] += replaced
    used, step = [], 0
    used_now = sum(times > 0 for times in uses)
    for goal in steps:
        while step < goal:
            replaced = tokens[step] - tokens[step + 1]
            if replaced:
                for part in merges[step]:
                    uses[part] -= replaced
                    used_now -= uses[part] == 0
                uses[base + step] += replaced
                used_now += 1
            step += 1
        used.append(used_now)
    return [tokens[step] for step in steps], used


def encoded(tokenizer: Tokenizer, words: Words, steps: Sequence[int]) -> Points:
    """Return the tokens and the ids in use at some steps, on any corpus, for a tokenizer whose tokens come
    into use one by one.

    Args:
        tokenizer: The tokenizer after its last step.
        words: The counted pre-tokens of the corpus.
        steps: The steps to return, ascending.

    Returns:
        No ids in use if the vocabulary has byte tokens and one occurs.

    Raises:
        TokentuiError: The tokenizer refuses the corpus; the error names the unit.
    """
    vocabulary, refuses = tokenizer.vocabulary, UNKNOWN.of(tokenizer.recipe.unknown).is_error
    log = ChangeLog(TokenOrder.of(tokenizer), words.words, words.counts)
    if refuses and any(None in change for change in log.changes.values()):
        for word in words.words:
            tokenizer.encode(word)  # one of them says what it is
    used = []
    uses: dict[int | None, int] = {}
    used_now = 0
    counts_unknown = vocabulary.unknown_id is not None
    waiting = log.steps[::-1]
    for step in steps:
        while waiting and waiting[-1] <= step:
            for symbol, by in log.changes[waiting.pop()].items():
                before = uses.get(symbol, 0)
                uses[symbol] = before + by
                if symbol is not None or counts_unknown:
                    used_now += (before + by > 0) - (before > 0)
        used.append(used_now)
    # Byte tokens are many, and a step does not say which.
    tokens = list(map(log.tokens_at, steps))
    return tokens, [] if vocabulary.byte_tokens and None in uses else used


def walked(trainer: Trainer, stops: Stops, steps: Sequence[int], words: Words | None = None) -> Points:
    """Return the tokens and the ids in use at some steps of any training, by going to each step. A tick of
    the job is a step.

    Args:
        trainer: The training, which is left at the last step.
        stops: Its stops.
        steps: The steps to return, ascending.
        words: The counted pre-tokens of another corpus, which are encoded at each step; None for the corpus
            of the training.

    Raises:
        TokentuiError: The tokenizer refuses the other corpus.
    """
    tokens, used = [], []
    # Set the limits of its steps.
    learn.with_plain_fallback(trainer, lambda trainer: trainer.advance(trainer.number, stops))
    for index, step in enumerate(steps):
        tick(index, len(steps))
        with silent():
            learn.jump(trainer, step)
        if words is None:
            tokens.append(trainer.tokens_at(step))
            used.append(sum(times > 0 for times in trainer.uses))
        else:
            tokenizer, total, ids = trainer.tokenizer(), 0, set[int | None]()
            for word, times in each(zip(words.words, words.counts, strict=True)):
                encoded_word = word_tokens(tokenizer.encoder, word)
                total += times * len(encoded_word)
                ids.update(token.id for token in encoded_word)
            tokens.append(total)
            used.append(len(ids - {None}))
    return tokens, used
