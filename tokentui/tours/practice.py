"""Practice: questions on a training run as a tour, whose stops are the places that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar

from tokentui.analyze.quiz import Question, asked, questions
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import to_bytes, visible
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Stops
from tokentui.tours.facts import Place
from tokentui.tours.parser import Stop, Tour

KINDS = ("pair", "cut", "wrong", "decode", "tie")
"""The kinds of questions that are practiced."""
_SPARE = 4
"""How many times as many questions are made, because some words cannot be cut on a screen."""


@dataclass(frozen=True, slots=True)
class Practice(Tour):
    """Questions as a tour.

    Attributes:
        questions: The question at each stop.
        cuts: For each question the places in its word, in characters, where one token ends and another
            starts.
    """

    asks: ClassVar[bool] = True
    questions: tuple[Question, ...] = ()
    cuts: tuple[tuple[int, ...], ...] = ()

    def again(self, at: int) -> Practice:
        """Return the practice with a question again at its end."""
        return replace(
            self, stops=(*self.stops, self.stops[at]), questions=(*self.questions, self.questions[at]),
            cuts=(*self.cuts, self.cuts[at]),
        )


def practice_of(
    title: str, place: Place, trainer: Trainer, stops: Stops, count: int, seed: int
) -> Practice:
    """Return up to `count` questions on a training run, in the order of their steps.

    Args:
        title: The title.
        place: The corpus and the recipe; its step and typed text are those of each question.
        trainer: The training of that corpus. It is moved.
        stops: The ends of the run.
        count: The number of questions.
        seed: The same seed gives the same questions.

    Raises:
        TokentuiError: The training merges no pairs, or there is nothing to ask.
    """
    made = [(question, cuts_of(question, trainer.recipe))
            for question in questions(trainer, _SPARE * count, seed, stops, KINDS)]
    usable = [(question, cuts) for question, cuts in made if cuts is not None]
    by_kind = {kind: [row for row in usable if row[0].kind == kind] for kind in KINDS}
    chosen: list[tuple[Question, tuple[int, ...]]] = []
    while any(by_kind.values()) and len(chosen) < count:
        chosen += [rows.pop(0) for rows in by_kind.values() if rows][: count - len(chosen)]
    if not chosen:
        raise TokentuiError("there is nothing to ask", "practice", "use a longer corpus")
    chosen.sort(key=lambda row: (row[0].step, KINDS.index(row[0].kind)))
    return Practice(
        "practice", title,
        tuple(Stop(replace(place, step=question.step, typed=""), asked(question, quoted)) for question,
            _ in chosen),
        tuple(question for question, _ in chosen), tuple(cuts for _, cuts in chosen),
    )


def quoted(piece: bytes) -> str:
    """Return a token between backquotes, which a tour shows in bold."""
    return f"`{''.join(span.text for span in visible(piece))}`"


def cuts_of(question: Question, recipe: Recipe) -> tuple[int, ...] | None:
    """Return the places in characters where the tokens of the word of a question meet.

    Returns:
        None if a token ends inside a character, so that the places cannot be shown. Empty for other
        questions.
    """
    if question.kind != "cut":
        return ()
    word, bare = to_bytes(question.word), list(_bare(question.answer, recipe))
    if b"".join(bare) != word:
        return None
    ends = {len(to_bytes(question.word[:n])): n for n in range(len(question.word) + 1)}
    places = [ends.get(end) for end in accumulate(map(len, bare))]
    if None in places:
        return None
    return tuple(place for place in places if place is not None and 0 < place < len(question.word))


def _bare(pieces: Sequence[bytes], recipe: Recipe) -> Sequence[bytes]:
    """Return tokens without the mark of the recipe."""
    mark = to_bytes(recipe.mark_text)
    if not mark:
        return pieces
    if recipe.mark_kind == "prefix":
        return [piece.removeprefix(mark) if n else piece for n, piece in enumerate(pieces)]
    return [*pieces[:-1], pieces[-1].removesuffix(mark)]
