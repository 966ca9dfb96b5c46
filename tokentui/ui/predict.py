"""Predicting: the next pair is hidden, the user names it, and Why says whether and why it is that one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GlyphMode
from tokentui.core.table import plural
from tokentui.learn.rows import Candidate, Page, Why
from tokentui.session.commands import Move
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.ask import AskLine
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.column_tables import tokens
from tokentui.ui.panes.why import reasons

if TYPE_CHECKING:
    from tokentui.ui.pane_screen import PaneScreen

LABELS = {"next": "guess", "inspect": "guess it", "predict": "end guessing"}
"""The labels of bindings, by id, while the next pair is hidden."""
CHOICES = 8
"""The maximum number of pairs that are shown to choose from: the best ones, in the order of their letters."""


class Prediction:
    """The guesses of the next pair on a screen, and the score.

    Args:
        screen: The screen.
        redraw: Called to draw Why again.
    """

    def __init__(self, screen: PaneScreen, redraw: Callable[[], None]) -> None:
        self._screen, self._redraw = screen, redraw
        self.seen: Snapshot | None = None
        """The last snapshot, with nothing hidden."""
        self._said: tuple[Cell, ...] = ()
        """The answer to the last guess."""
        self.right = self.asked = 0
        """The guesses that were right, and all of them."""

    def hide(self, snapshot: Snapshot) -> Snapshot:
        """Return the snapshot without what would reveal the next pair: figures, order and reasons. Keeps the
        whole one in `seen`."""
        self.seen, main = snapshot, snapshot.main
        page = main.candidates
        rows = tuple(sorted(page.rows[:CHOICES], key=lambda row: row.parts))
        hidden = tuple(replace(row, tied=False) for row in rows)
        column = replace(
            main, candidates=Page(hidden, 0, len(hidden)), traits=main.traits._replace(columns=()),
            why=Why(None, None, 0, 0, "", main.why.end),
        )
        return replace(snapshot, columns=(column, *snapshot.columns[1:]))

    @property
    def score(self) -> Cell:
        """The score, as in `3 of 4 right`."""
        return ((f"{self.right} of {self.asked}", "strong"), (" right", "muted"))

    def sentences(self, now: Snapshot | None, mode: GlyphMode) -> Sequence[Cell]:
        """Return the question, or that no pair is left, and the answer to the last guess. The arguments are
        not used."""
        if self.seen is not None and self.seen.main.why.end is not None:
            return (*self._said, (("end  ", "accent"), ("no pair is left to guess", "")))
        question: Cell = (
            ("which pair is next?  ", "accent"), ("2", "key"), (" and ", "muted"), ("enter", "key"),
            (" picks it, ", "muted"), ("n", "key"), (" to type it, ", "muted"), ("P", "key"),
            (" ends · ", "muted"), *self.score,
        )
        return (question, *self._said)

    def pick(self, row: Candidate) -> None:
        """Judge a row as the guess."""
        self._judge(row.parts)

    def ask(self) -> None:
        """Ask for a pair in a line, and judge it. Only pairs that are listed are accepted."""

        def describe_guess(line: str) -> str:
            if not line:
                return "the two parts, such as t+h; · is a space"
            if not self._parts_named_by(line):
                raise TokentuiError("no such pair among those that are shown", "", "for example t+h")
            return "enter picks this pair"

        self._screen.app.push_screen(AskLine(
            self._screen.engine, "Which pair is merged next?", describe_guess,
            lambda line: self._judge(self._parts_named_by(line)),
        ))

    def _parts_named_by(self, line: str) -> tuple[bytes, ...]:
        """Return the parts of the listed pair that a line names, such as `t+h` or `th`; empty for none."""
        if self.seen is None:
            return ()
        guessed = line.replace("·", " ").encode("utf-8", "surrogateescape")
        rows = [row.parts for row in self.seen.main.candidates.rows[:CHOICES]]
        exact = [parts for parts in rows if b"+".join(parts) == guessed]
        joined = [parts for parts in rows if b"".join(parts) == guessed]
        return next(iter(exact or joined), ())

    def _judge(self, parts: tuple[bytes, ...]) -> None:
        """Count a guess, show in Why whether and why it is right, and take the step. Do nothing without a
        next pair."""
        now = self.seen
        if now is None or now.main.why.best is None:
            return
        best, why, mode = now.main.why.best, now.main.why, self._screen.mode
        right = parts == best.parts
        self.asked, self.right = self.asked + 1, self.right + right
        verdict: Cell = (("right  ", "success"),) if right else (("wrong  ", "warning"),)
        rows = [row for row in now.main.candidates.rows if row.parts == parts]
        if not right and rows and rows[0].worth == best.worth:
            rule = (why.tie_rule, "")
            verdict = (*verdict, ("it ties, but the rule ", "muted"), rule, (" takes another: ", "muted"))
        elif not right and rows:
            many = plural(rows[0].places, "place")
            verdict = (*verdict, *tokens(parts, mode), (f" occurs in {many}; ", "muted"))
        explained = reasons(now.main, now.corpus.name, mode)
        first = tuple(run for run in explained[0] if run[0] != "next  ") if explained else ()
        self._said = ((*verdict, *first), *explained[1:])
        self._screen.engine.send(Move(1))
        self._redraw()


def can_predict(now: Snapshot | None) -> bool:
    """Return whether there is a next pair to guess: the training merges pairs, is complete, and is not an
    opened file."""
    if now is None or now.main.why.best is None or now.main.partial:
        return False
    return now.main.traits.grows and now.main.opened is None
