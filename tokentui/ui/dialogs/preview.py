"""The first steps of the recipe under the cursor and of the recipe in use, first difference marked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.recipe import Recipe, Run
from tokentui.session.snapshot import PreviewView
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import decimal, number
from tokentui.ui.draw.listing import Listing
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell

Trial: TypeAlias = Callable[[Recipe, Run], Awaitable[PreviewView]]
"""Computes the first steps of a recipe and its run. A newer request may cancel an older one."""

STEPS = 10
"""The number of steps that are compared."""

_Key: TypeAlias = tuple[Recipe, Run]
_Step: TypeAlias = tuple[Cell, Cell]
_MOST_SHOWN = 60  # characters of a piece


def steps_of(view: PreviewView) -> list[_Step]:
    """The steps as (what it makes, its count); behind the last one why there are no more."""
    shown: list[_Step] = []
    for row in view.pairs[:STEPS]:
        made: list[ui_text.Run] = [
            *ui_text.runs(row.left, limit=_MOST_SHOWN), ("+", "muted"), *ui_text.runs(row.right, limit=_MOST_SHOWN),
        ]
        shown.append((tuple(made), ((decimal(row.score, 7) if row.score else number(row.count), ""),)))
    shown += [(((safe(line, limit=200), ""),), ()) for line in view.lines[: STEPS - len(shown)]]
    if view.error:
        shown.append(((("it cannot be trained", "error"),), ()))
    elif len(shown) < STEPS and view.end:
        shown.append((((safe(view.end, limit=200), "muted"),), ()))
    return shown


def first_difference(left: PreviewView, right: PreviewView) -> int | None:
    """The first step, from 0, at which they do not do the same; None where they agree."""
    ours, theirs = _acts(left), _acts(right)
    for place in range(max(len(ours), len(theirs))):
        if ours[place : place + 1] != theirs[place : place + 1]:
            return place
    return None


def _acts(view: PreviewView) -> list[object]:
    return [*((row.left, row.right) for row in view.pairs[:STEPS]), *view.lines[:STEPS], *((view.error,) if view.error else ())]


def compare(used: PreviewView | None, looked_at: PreviewView | None) -> list[TableRow]:
    """The steps of both side by side; one that is still to come has an ellipsis. The columns are those of `columns`."""
    left, right = _side(used), _side(looked_at)
    apart = first_difference(used, looked_at) if used and looked_at else None
    rows = []
    for place in range(max(len(left), len(right))):
        ours = left[place] if place < len(left) else ((), ())
        theirs = right[place] if place < len(right) else ((), ())
        if apart is not None and place >= apart:
            theirs = (ui_text.tinted(theirs[0], "accent"), theirs[1])
        cells: tuple[Cell, ...] = (((str(place + 1), "muted"),), *ours[: _span(used)], *theirs[: _span(looked_at)])
        rows.append(TableRow(place, cells, mark="≠" if place == apart else " "))
    return rows


def columns(used: PreviewView | None, looked_at: PreviewView | None, name: str) -> list[Column]:
    """The number of the step, and for each recipe what the step makes and its count; lines take the room of both."""
    out = [Column(width=2, align="right", priority=1)]
    for view, title in ((used, "in use"), (looked_at, name)):
        counted = _span(view) == 2
        out.append(Column(safe(title, limit=40), flex=1 if counted else 2, min_width=9, priority=3))
        out += [Column(width=7, align="right")] if counted else []
    return out


def _side(view: PreviewView | None) -> list[_Step]:
    return steps_of(view) if view else [((("…", "muted"),), ())]


def _span(view: PreviewView | None) -> int:
    """Return the number of columns that the steps take."""
    return 1 if view is not None and not view.pairs else 2


def summary(used: PreviewView | None, looked_at: PreviewView | None, waits: str = "") -> Cell:
    """Return a summary: the step of divergence and the share of the corpus used, or the reason to wait."""
    if used is None or looked_at is None:
        return (("First steps", "strong"), (f" · {waits or '…'}", "muted"))
    if error := looked_at.error or used.error:
        return (("First steps", "strong"), (" · ", "muted"), (safe(error, limit=400), "error"))
    apart = first_difference(used, looked_at)
    if apart is None:
        alike = [row.count for row in used.pairs] == [row.count for row in looked_at.pairs]
        told = "the same" if alike else "the same, other counts"
    else:
        told = f"differ from step {apart + 1} on"
    tried = f" · tried on {number(looked_at.chars)} characters" if looked_at.chars else ""
    return (("First steps", "strong"), (" · ", "muted"), (told, "" if apart is None else "accent"), (tried, "muted"))


class PreviewPane(Vertical):
    """Two recipes side by side. It asks for what it does not know, one thing at a time, and the last wish counts.

    Args:
        trial: Computes the first steps of a recipe; None shows nothing.
        recipe: The recipe in use.
        run: The run in use.
    """

    DEFAULT_CSS = """
    PreviewPane { height: 12; }
    PreviewPane .told { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, trial: Trial | None, recipe: Recipe, run: Run) -> None:
        super().__init__(id="preview")
        self._trial = trial
        self._used = (recipe, run)
        self._wish = self._used
        self._title = ""
        self._known: dict[_Key, PreviewView] = {}
        self.waits = ""
        """The work that an answer waits for."""

    def compose(self) -> ComposeResult:
        """A line that tells the difference, and the steps."""
        yield Static("", classes="told", markup=False)
        yield Listing(columns(None, None, self._title), id="steps")

    def look(self, recipe: Recipe, run: Run, name: str) -> None:
        """Compare with this recipe, which the column is named after."""
        key = (recipe, run)
        if self._trial is None or (key, name) == (self._wish, self._title):
            return
        self._wish, self._title = key, name
        self._show()
        if not all(one in self._known for one in (self._used, key)):
            # What was asked before is given up: its future is cancelled with the worker that waits for it.
            self.run_worker(self._ask(self._trial, key), group="preview", exclusive=True)

    def tell_waiting(self, waits: str) -> None:
        """Say what an answer waits for."""
        self.waits = waits
        self._show()

    async def _ask(self, trial: Trial, key: _Key) -> None:
        for one in (self._used, key):
            if one not in self._known:
                try:
                    self._known[one] = await trial(*one)
                except Cancelled:
                    return
                except TokentuiError as error:
                    self._known[one] = PreviewView((), (), "", 0, safe_line(error))
                self._show()

    def _show(self) -> None:
        used, looked_at = self._known.get(self._used), self._known.get(self._wish)
        told = summary(used, looked_at, self.waits)
        self.query_one(".told", Static).update(ui_text.join(told if ui_text.width(told) <= self.size.width else told[:3]))
        listing = self.query_one(Listing)
        shown = columns(used, looked_at, self._title)
        if listing.columns != tuple(shown):
            listing.set_columns(shown)
        listing.show(compare(used, looked_at))
        self._place()

    def on_resize(self) -> None:
        """Bring the first difference into the new room."""
        self.call_after_refresh(self._place)

    def _place(self) -> None:
        used, looked_at = self._known.get(self._used), self._known.get(self._wish)
        apart = (first_difference(used, looked_at) if used and looked_at else None) or 0
        listing = self.query_one(Listing)
        listing.show_row(0)
        listing.move_to(apart)
        listing.show_row(min(apart + 2, len(listing.rows) - 1))
