"""The first step at which two trainings decide differently, with what either had to choose from.

Merges are compared by what they mean, however their tokens are spelled: the texts of the two sides, and
whether a word's boundary is in them. A space in front (`·t`, `Ġt` in a file), a ▁ in front, a mark at the end
of a word (`t</w>`) and, where tokens inside a word are marked (`##h`), a token without the mark all say that
a word begins or ends there. Here the boundary of a merge is written in one way, in front of it. A space
elsewhere, and a second one, is a character as any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokentui.core.jobs import check, shielded, silent, tick
from tokentui.encode.decode import Decoder
from tokentui.encode.vocabulary import Marks, Vocabulary
from tokentui.learn import walk
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Candidate, Column, Query, Step, Stop
from tokentui.recipe import Stops

Meaning = tuple[bool, tuple[bytes, ...]]
"""The meaning of a merge: whether a boundary is in it, and the texts of its sides; a side that is nothing but
the boundary has none."""

_METASPACE = "▁".encode()
_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Side:
    """One training before the step at which it diverges from another.

    Attributes:
        step: The step that it makes there, None where it has ended.
        end: Why it has ended, None where it has not.
        columns: The names, units and kinds of the values of its candidates.
        candidates: The first candidates of the step, best first; none for a file.
        tied: The number of candidates that share the best value.
        tie_rule: The rule that chooses among them, empty where none does.
        tokens: The length of the corpus before the step.
        vocab_size: The number of ids before it.
    """

    step: Step | None
    end: Stop | None
    columns: tuple[Column, ...]
    candidates: tuple[Candidate, ...]
    tied: int
    tie_rule: str
    tokens: int
    vocab_size: int


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step, from 1, that two trainings make differently, and both sides of it."""

    step: int
    a: Side
    b: Side


class Meanings:
    """Reads the merges of a vocabulary by what they mean.

    Args:
        vocabulary: The vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._marks = Marks(vocabulary)
        self._kind = vocabulary.recipe.mark_kind
        self._metaspace = _is_space(vocabulary)

    def of_symbols(self, left: int, right: int) -> Meaning:
        """The merge of two symbols; their marks are judged by what they were made of."""
        marks, spelled = self._marks, self._vocabulary.spelled
        return self._of((spelled(left), marks.sizes(left)), (spelled(right), marks.sizes(right)))

    def of_pieces(self, left: bytes, right: bytes) -> Meaning:
        """A merge of two tokens of which the bytes are known alone; their marks are judged by the spelling.
        """
        return self._of((left, self._spelled(left)), (right, self._spelled(right)))

    def _of(self, *sides: tuple[bytes, tuple[int, int]]) -> Meaning:
        texts = [piece[front : len(piece) - end] for piece, (front, end) in sides]
        (_, left_marks), (_, right_marks) = sides
        if self._metaspace:
            texts = [text.replace(_METASPACE, b" ") for text in texts]
        match self._kind:
            case "none":
                boundary = texts[0].startswith(b" ")
                texts[0] = texts[0][boundary:]
            case "prefix":
                boundary = not left_marks[0]
            case _:
                boundary = bool(right_marks[1])
        return boundary, tuple(text for text in texts if text)

    def _spelled(self, piece: bytes) -> tuple[int, int]:
        mark = self._marks.mark
        front = self._marks.unit_continues(piece)
        end = self._kind.startswith("end-") and piece.endswith(mark)
        return len(mark) if front else 0, len(mark) if end else 0


def _is_space(vocabulary: Vocabulary) -> bool:
    """Return whether ▁ stands for a space: by the recipe, or where decoding makes one of it."""
    if vocabulary.recipe.split == "metaspace":
        return True
    merges, pieces = len(vocabulary.merges), vocabulary.pieces
    symbols = vocabulary.symbols_by_id(merges).items()
    held = next((number for number, symbol in symbols if _METASPACE in pieces[symbol]), None)
    return held is not None and "▁" not in Decoder(vocabulary, merges).to_text([held])


class _Decisions:
    """The decisions of a training: merges by their meaning or as they are spelled, other steps by their rows.
    """

    def __init__(self, trainer: Trainer, literal: bool) -> None:
        self.trainer = trainer
        self._literal = literal
        self._computed = -1
        self._vocabulary = trainer.tokenizer(trainer.computed).vocabulary
        self._meanings = None if literal else Meanings(self._vocabulary)

    def of(self, number: int) -> tuple[object, ...] | None:
        """The decision of a step, None where the training has ended before."""
        trainer = self.trainer
        if number > trainer.computed:
            return None
        step = trainer.step_at(number)
        if step.chosen is None:
            return tuple(step.row.values())
        if self._computed != trainer.computed:
            self._computed = trainer.computed
            self._vocabulary = trainer.tokenizer(trainer.computed).vocabulary
        vocabulary, meanings = self._vocabulary, self._meanings
        if vocabulary.merges:
            left, right = vocabulary.merges[step.made - vocabulary.base_size]
            # As spelled: a byte that stands for a pair (Gage) is that pair.
            spelled = vocabulary.spelled(left), vocabulary.spelled(right)
            return spelled if meanings is None else meanings.of_symbols(left, right)
        parts = step.chosen.parts
        whole = step.chosen.token
        left_piece = parts[0] if parts else whole
        two = left_piece, parts[1] if len(parts) == 2 else whole[len(parts[0]) if parts else len(whole) :]
        return two if meanings is None else meanings.of_pieces(*two)


def first_divergence(
    a: Trainer, b: Trainer, limit: int | None = None, *, literal: bool = False, rows: int = 10
) -> Divergence | None:
    """Find the first step that differs: another pair, another round, or an end. Counts may differ and the
    step be the same.

    Both trainers are left at the step where they were; they keep the steps that were computed meanwhile.

    Args:
        a: A training.
        b: Another one, of any objective, on the same corpus.
        limit: The last step that is compared.
        literal: Compare merges byte by byte, and not by what they mean.
        rows: The number of candidates of either side.

    Returns:
        None where they are alike up to the limit, or both end at the same step.
    """
    before = a.number, b.number
    try:
        number = first_differing_step(a, b, limit, literal=literal)
        return None if number is None else Divergence(number, _side(a, number, rows), _side(b, number, rows))
    finally:
        with shielded():
            walk.jump(a, before[0])
            walk.jump(b, before[1])


def first_differing_step(
    a: Trainer,
    b: Trainer,
    limit: int | None = None,
    *,
    literal: bool = False,
    begin: int = 1,
    stops: tuple[Stops, Stops] | None = None,
) -> int | None:
    """The number of the first step that differs; see `first_divergence`. The trainers are left where the
    search ended.

    Args:
        a: A training.
        b: Another one.
        limit: The last step that is compared.
        literal: Compare merges byte by byte, and not by what they mean.
        begin: The first step that is compared.
        stops: The ends of either, also before no pair is left. No steps past them are computed.
    """
    number = begin - 1
    first, second = _Decisions(a, literal), _Decisions(b, literal)
    while limit is None or number < limit:
        tick(number, limit or 0)
        # Few steps at first: trainings that diverge mostly do so early.
        target = number + min(_CHUNK, number + 1)
        target = target if limit is None else min(limit, target)
        for trainer, ends in zip((a, b), stops or (None, None), strict=True):
            if trainer.computed < target:
                _go_on(trainer, target, ends)
        while number < target:
            number += 1
            one, other = first.of(number), second.of(number)
            if one != other:
                return number
            if one is None:
                return None
    return None


def _go_on(trainer: Trainer, target: int, ends: Stops | None) -> None:
    """Go to a step that is not computed yet, or to where the stops hold."""
    with silent():
        walk.jump(trainer, target if ends is None else trainer.computed)
    if ends is not None:
        stops = replace(ends, merges=target if ends.merges is None else min(target, ends.merges))
        while trainer.advance(None, stops) is None:
            check()


def _side(trainer: Trainer, number: int, rows: int) -> Side:
    with silent():
        walk.jump(trainer, number - 1)
    step = trainer.step_at(number) if number <= trainer.computed else None
    candidates: tuple[Candidate, ...] = ()
    tied, rule = 0, ""
    if trainer.traits.replay is None:  # the tokens of a file are not chosen
        candidates = trainer.candidates(Query(rows=rows)).rows
        why = trainer.why(trainer.number + 1, trainer.limits)
        tied, rule = why.tied, why.tie_rule
    end = None if step is not None else trainer.end(Stops())
    at = trainer.number
    columns = trainer.traits.columns
    return Side(step, end, columns, candidates, tied, rule, trainer.tokens_at(at), trainer.size_at(at))
