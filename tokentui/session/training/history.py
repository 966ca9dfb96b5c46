"""Past and next steps of a training: a copy walks to any of them while the training goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import each
from tokentui.learn.rows import Candidate
from tokentui.learn.steps import MergeStep
from tokentui.learn.trainer import Trainer
from tokentui.session.training.corpus_view import OpenedText, RunningText
from tokentui.session.training.training import Training
from tokentui.session.views import (
    CorpusPlace,
    CorpusView,
    StepPlace,
    StepRow,
    StepsView,
    StepView,
    Viewport,
    documents_of,
)

_AROUND = 24
"""The characters that are shown before a place and after it."""


class StepHistory:
    """A copy of a training, for questions about any of its steps. Threads use it one after the other.

    Args:
        training: The training, and what it is of. Nothing but its words is read.
    """

    def __init__(self, training: Training) -> None:
        self._prepared, self._lock = training, threading.Lock()
        self._copy: Trainer | None = None
        self._text: RunningText | None = None
        self._rows: list[StepRow] = []
        """The rows of the first steps, as far as they were asked for."""

    def rows(self, last: int, order: str, match: Sequence[bytes], top: int, count: int) -> StepsView:
        """Return some rows of the list of steps, sorted and filtered. Walks the copy to `last` if necessary.

        Args:
            last: The last step of the list.
            order: `step`, `count`, `length` or `tie`: the greatest first, but steps from the first on.
            match: A token, or its parts joined by `+`, must contain one of these; empty for no filter.
            top: The first row; moved back if fewer than `count` rows follow it.
            count: The maximum number of rows.
        """
        with self._lock:
            known = self._first_rows(last)
        rows: Sequence[StepRow] = known
        if match:
            rows = [
                row for row in each(known)
                if any(spelling in row.token or spelling in b"+".join(row.parts) for spelling in match)
            ]
        if order == "count":
            rows = sorted(rows, key=lambda row: -row.worth)
        elif order == "length":
            rows = sorted(rows, key=lambda row: -len(row.token))
        elif order == "tie":
            rows = sorted(rows, key=lambda row: -row.tied)
        top = max(0, min(top, len(rows) - count))
        return StepsView(tuple(rows[top : top + count]), top, len(rows), last)

    def views(self, numbers: Sequence[int], typed: str, places: int) -> tuple[StepView, ...]:
        """Return the view of each of some steps, in the given order: why the step was chosen, and its effect
        on the corpus and the typed text.

        Holds the lock until all views are made.

        Args:
            numbers: The steps, from 1. One more than the computed steps is the next one.
            typed: The typed text.
            places: The maximum number of places in the corpus to find for each step; 0 for none.

        Raises:
            Cancelled: The job is cancelled.
        """
        with self._lock:
            return tuple([self._view(number, typed, places) for number in each(numbers)])

    def _walk_to(self, number: int) -> Trainer:
        """Walk the copy of the training to a step, or to its end if that comes before, and return it."""
        if self._copy is None:
            self._copy = self._prepared.trainer.fork(0, ())
        learn.jump(self._copy, number)
        return self._copy

    def _first_rows(self, last: int) -> list[StepRow]:
        """Return the rows of the first `last` steps, fewer if the training ends before. They are cached; if
        the last step has no row yet, the copy walks to it."""
        if len(self._rows) < last:
            copy = self._walk_to(last)
            for number in each(range(len(self._rows) + 1, min(last, copy.computed) + 1)):
                self._rows.append(_row(copy, number))
        return self._rows[:last]

    def _view(self, number: int, typed: str, places: int) -> StepView:
        """Return why a step was made: candidates, the token counts before and after, and up to `places`
        places.

        If the training ends before the step, its reasons are those of the end.
        """
        copy, stops = self._walk_to(number - 1), self._prepared.run.stops
        why, before = learn.why(copy, stops), copy.tokens_at(copy.number)
        yours = _length(copy, typed)
        walked = why.end is None or number <= self._prepared.trainer.computed
        if copy.number != number - 1 or not walked or self._walk_to(number).number != number:
            return StepView(number, why, None, (before, before), (), (yours, yours))
        after = copy.tokens_at(number)
        changed = tuple(self._places(copy, places)) if places and copy.traits.grows else ()
        return StepView(
            number, why, copy.taken(number), (before, after), changed, (yours, _length(copy, typed))
        )

    def _places(self, copy: Trainer, count: int) -> Iterator[StepPlace]:
        """Yield at most `count` places of the corpus that the last step of the copy changed, in order, with
        the text around them. The corpus as text is made at the first call."""
        if self._text is None:
            corpus, opened = self._prepared.corpus, self._prepared.opened
            self._text = (
                RunningText(corpus, self._prepared.recipe) if opened is None
                else OpenedText(corpus, opened.tokenizer)
            )
        text, changed, seen = self._text, copy.changed(), set[tuple[int, int]]()
        words = copy.words.words
        differs = changed.differs or {words[word] for word in changed.words}.__contains__
        at = CorpusPlace(max(0, text.documents - 1), 1 << 40)
        while len(seen) < count and text.documents:
            match = text.find_word(differs, at)
            if match is None or tuple(match) in seen:
                return
            at = CorpusPlace(*match)
            seen.add((at.document, at.offset))
            look = Viewport(corpus=at, corpus_chars=4 * _AROUND, corpus_before=_AROUND)
            if (place := _around(text.view(look, copy), at)) is not None:
                yield place


def _row(copy: Trainer, number: int) -> StepRow:
    """Return a computed step as a row. A step that merges nothing has no parts and no token, and a sentence
    instead."""
    step = copy.step_at(number)
    if isinstance(step, MergeStep):
        worth = step.count if step.score is None else step.score
        return StepRow(number, (step.left, step.right), step.token, worth, step.tied, step.sentence)
    taken = copy.taken(number)
    if taken is None:
        return StepRow(number, (), b"", 0, step.tied, step.sentence)
    return StepRow(number, taken.parts, taken.token, _worth(taken), step.tied, step.sentence)


def _worth(row: Candidate) -> int | float:
    return abs(row.worth) if isinstance(row.worth, int) else float(row.worth)


def _length(copy: Trainer, typed: str) -> int:
    """Return the number of tokens of the typed text; 0 if it is empty or cannot be encoded."""
    try:
        return len(copy.tokenizer().encode(typed).rows) if typed else 0
    except TokentuiError:
        return 0


def _around(view: CorpusView, place: CorpusPlace) -> StepPlace | None:
    """Return the first token from a place on that the last step made, with the text around it.

    None if the window has none.
    """
    for document in documents_of(view.parts):
        before, parts = "", iter(document)
        for part in parts:
            fresh = next((token for token in part.tokens if token.fresh), None)
            if fresh is None or part.place < place:
                before += part.text
                continue
            after = part.text[fresh.end :] + "".join([part.text for part in parts])
            before += part.text[: fresh.start]
            return StepPlace(before[-_AROUND:], part.text[fresh.start : fresh.end], after[:_AROUND])
    return None
