"""Recipes that are tried: the first steps of the one under the cursor next to those of the one in use, and
the training behind the dialog.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.session.commands import Command, GoTo, KeepPlace, OpenTokenizer, Play, Preview, SetRecipe
from tokentui.session.errors import Replaced
from tokentui.session.snapshot import PreviewView, Snapshot
from tokentui.ui.dialogs import CellText
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import decimal, number
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.guard import Guarded, GuardedApp, start_worker
from tokentui.ui.link import EngineLink

STEPS = 10
"""The number of steps that are compared."""

_MOST_SHOWN = 60  # characters of a piece


class Step(NamedTuple):
    """A step of a recipe, or the line after the last one.

    Attributes:
        does: A value that is equal for steps that do the same; the error, or None, for the line after the
            last step.
        made: The piece that it makes, or its line.
        ranked: Its count, or its score; empty for none.
    """

    does: object
    made: Cell
    ranked: Cell = ()


def steps_of(view: PreviewView) -> list[Step]:
    """Return at most `STEPS` first steps. An error adds a line, and so does the reason why the training ends
    if there are fewer."""
    shown: list[Step] = []
    for row in view.pairs[:STEPS]:
        made = ui_text.joined((ui_text.runs(part, limit=_MOST_SHOWN) for part in row.parts), ("+", "muted"))
        ranked = number(row.places) if isinstance(row.worth, int) else decimal(float(row.worth), 7)
        shown.append(Step(row.parts, made, ((ranked, ""),)))
    shown += [Step(line, ((safe(line, limit=200), ""),)) for line in view.lines[: STEPS - len(shown)]]
    if view.error:
        shown.append(Step(view.error, (("it cannot be trained", "error"),)))
    elif len(shown) < STEPS and view.end:
        shown.append(Step(None, ((safe(view.end, limit=200), "muted"),)))
    return shown


def first_difference(left: PreviewView | None, right: PreviewView | None) -> int | None:
    """Return the index, from 0, of the first step at which two trainings differ; None if they agree or if one
    is None.

    A training that ends earlier differs there.
    """
    if left is None or right is None:
        return None
    both = zip_longest(steps_of(left), steps_of(right), fillvalue=Step(None, ()))
    return next((place for place, (first, other) in enumerate(both) if first.does != other.does), None)


def compare(used: PreviewView | None, looked_at: PreviewView | None) -> list[TableRow]:
    """Return a row for each step with both recipes side by side, in the columns of `columns`. The first step
    that differs has the mark `≠`; a training that is None shows `…`."""
    sides = [
        [Step(None, (("…", "muted"),))] if view is None else steps_of(view) for view in (used, looked_at)
    ]
    apart, rows = first_difference(used, looked_at), []
    for place, (ours, theirs) in enumerate(zip_longest(*sides, fillvalue=Step(None, ()))):
        differs = apart is not None and place >= apart
        made = ui_text.tinted(theirs.made, "strong") if differs else theirs.made
        cells: tuple[Cell, ...] = (((str(place + 1), "muted"),), *ours[1:], made, theirs.ranked)
        rows.append(TableRow(place, cells, mark="≠" if place == apart else " "))
    return rows


def columns(name: str) -> list[Column]:
    """Return the columns of the first steps: the number, and for the recipe in use and the one named `name`
    what the step makes and its count or score."""
    sides = [(Column(title, flex=1, min_width=9, priority=3), Column(width=7, align="right"))
        for title in ("in use", safe(name, limit=40))]
    return [Column(width=2, align="right", priority=1), *sides[0], *sides[1]]


def summary(
    used: PreviewView | None, looked_at: PreviewView | None, waits: str = "", width: int = 10**6
) -> Cell:
    """Return the line above the first steps: the step from which they differ, an error, or while one is None,
    `waits` or `…`.

    Args:
        used: The steps of the recipe in use.
        looked_at: Those of the other recipe.
        waits: What the session does first, in words.
        width: The columns to fit in. A shortened line still says that the steps are of a sample.
    """
    if used is None or looked_at is None:
        return (("First steps", "strong"), (f" · {waits or '…'}", "muted"))
    if error := looked_at.error or used.error:
        return (("First steps", "strong"), (" · ", "muted"), (safe(error, limit=400), "error"))
    apart = first_difference(used, looked_at)
    if apart is None:
        alike = [row.places for row in used.pairs] == [row.places for row in looked_at.pairs]
        difference = "the same" if alike else "the same, other counts"
    else:
        difference = f"differ from step {apart + 1} on"
    ways: list[Cell] = [(
        ("First steps", "strong"), (" · ", "muted"), (difference, "" if apart is None else "strong")
    )]
    if looked_at.sample:
        chars, says = number(looked_at.chars), ways[0][1:]
        ways = [
            (*ways[0], (f" · on a sample of {chars} characters: the run may differ", "warning")),
            ((f"Sample of {chars} characters, not the run", "warning"), *says),
            (("Sample, not the run", "warning"), *says),
            (("Sample", "warning"), *says),
        ]
    return next((way for way in ways if ui_text.width(way) <= width), ways[-1])


class PreviewPane(Guarded, Vertical):
    """The first steps of two recipes side by side. It asks for those it does not know; a newer choice cancels
    the question about an older one.

    Args:
        engine: The link to the session; None for a pane that asks nothing.
        used: The choice in use.
    """


    def __init__(self, engine: EngineLink | None, used: RecipeChoice) -> None:
        super().__init__(id="preview")
        self._engine = engine
        self._used = Preview(used.recipe, used.run)
        self._wish, self._title = self._used, ""
        self._known: dict[Preview, PreviewView] = {}
        self._waits = ""
        self.told, self.steps = CellText("told"), Listing((), id="steps")

    def compose(self) -> ComposeResult:
        """Yield a line with the difference, and the steps."""
        yield self.told
        yield self.steps

    def look(self, choice: RecipeChoice, title: str) -> None:
        """Compare the choice in use with another one, named `title`, and ask for steps that are not known yet
        in a worker.

        Do nothing if neither has changed, or without an engine.
        """
        wish = Preview(choice.recipe, choice.run)
        if self._engine is None or (wish, title) == (self._wish, self._title):
            return
        self._wish, self._title = wish, title
        self._show()
        if not {self._used, wish} <= self._known.keys():
            # What was asked before is given up: its future is cancelled with the worker that waits for it.
            start_worker(self, "preview", self._ask, self._engine, wish)

    def tell_waiting(self, waits: str) -> None:
        """Show in the summary what the first steps wait for; empty for nothing."""
        self._waits = waits
        self._show()

    async def _ask(self, engine: EngineLink, wish: Preview) -> None:
        """Ask for the first steps of the recipe in use and of `wish`, unless they are known, and show each
        answer. An error counts as an answer; a cancellation ends the questions."""
        for recipe in (self._used, wish):
            if recipe not in self._known:
                try:
                    self._known[recipe] = await engine.ask(recipe)
                except Cancelled:
                    return
                except TokentuiError as error:
                    self._known[recipe] = PreviewView((), (), "", 0, safe_line(error))
                self._show()

    def _show(self) -> None:
        """Show the summary and the known steps side by side, with the cursor on the first difference."""
        used, looked_at = self._known.get(self._used), self._known.get(self._wish)
        self._show_summary()
        rows = compare(used, looked_at)
        self.steps.show(rows, self.steps.cursor_key, columns(self._title))
        self._show_difference()

    def on_resize(self) -> None:
        """Call `_fit` after the next refresh."""
        self.call_after_refresh(self._fit)

    def _show_summary(self) -> None:
        """Show the summary for the present width."""
        used, looked_at = self._known.get(self._used), self._known.get(self._wish)
        self.told.update(ui_text.join(summary(used, looked_at, self._waits, self.size.width)))

    def _fit(self) -> None:
        """Fit the summary to the width. Keep the cursor in view if the list has the focus and the cursor is
        below the first row; otherwise move it to the first difference again."""
        self._show_summary()
        if self.steps.has_focus and self.steps.cursor:  # a key was typed since there is room for them
            self.steps.show_row(self.steps.cursor)
        else:
            self._show_difference()

    def _show_difference(self) -> None:
        """Put the cursor on the first step that differs, otherwise on the first one, with two more steps in
        view."""
        used, looked_at = self._known.get(self._used), self._known.get(self._wish)
        apart = first_difference(used, looked_at) or 0
        self.steps.show_row(0)
        self.steps.move_to(apart)
        self.steps.show_row(min(apart + 2, len(self.steps.rows) - 1))


class Trying:
    """Trains drafts of a recipe while a dialog is open, and restores what was trained before.

    Args:
        app: The app.
        engine: The link to the session.
        used: The recipe in use when the dialog opens.
        opened: The path of the open tokenizer file; None if a recipe is trained.
    """

    def __init__(self, app: GuardedApp, engine: EngineLink, used: RecipeChoice, opened: str | None) -> None:
        self._app, self._engine, self._opened = app, engine, opened
        self._used = self._asked = used
        self._before: Snapshot | None = None
        """The snapshot before the first recipe was tried; None if none was."""
        self._failed = opened is not None
        """True if the last requested recipe is not the trained one."""

    def train(self, choice: RecipeChoice) -> None:
        """Train by a choice. Do nothing if it is the last one that was asked for, unless that failed.

        The first call keeps the present snapshot for `put_back`. A change of `keep_place` alone trains
        nothing.
        """
        asked, self._asked = self._asked, choice
        if choice.keep_place != asked.keep_place:
            self._engine.send(KeepPlace(choice.keep_place))
        if self._failed or (choice.recipe, choice.run) != (asked.recipe, asked.run):
            self._before = self._before or self._engine.snapshot
            self._train_by(choice)

    def put_back(self) -> None:
        """Train again by what was in use, or open its file again, and go to the step where it was. A run that
        was playing does not return to its step: it plays on from where the session puts it.

        If nothing was trained, only restore `keep_place`.
        """
        before, used, engine = self._before, self._used, self._engine
        if self._asked.keep_place != used.keep_place:
            engine.send(KeepPlace(used.keep_place))
        if before is None:
            return
        back = Play(True) if before.running else GoTo(before.main.at.step)
        if self._opened is not None:
            self._open(OpenTokenizer(self._opened, kept=True), back)
        else:
            self._train_by(used, None if before.corpus.nothing_open else back)

    def _train_by(self, choice: RecipeChoice, then: Command[None] | None = None) -> None:
        """Train by a choice, and then send another command; None for none."""
        self._failed = False
        self._open(SetRecipe(choice.recipe, choice.run), then)

    def _open(self, command: Command[None], then: Command[None] | None) -> None:
        """Send a command that opens a recipe or a file, in a worker of the app. Send `then` only after
        success: not if the command failed, was cancelled or was replaced.

        The app shows the errors. After a `SetRecipe` that failed or was cancelled, `train` trains an
        unchanged choice too.
        """

        async def open_it() -> None:
            try:
                await self._engine.ask(command)
            except Replaced:
                return
            except (TokentuiError, Cancelled):
                self._failed = self._failed or isinstance(command, SetRecipe)
                raise
            if then is not None:
                self._engine.send(then)

        start_worker(self._app, "recipe", open_it, exclusive=False)
