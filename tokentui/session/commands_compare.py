"""The commands about columns side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tokentui.recipe import Recipe, Run
from tokentui.session.commands import Command, Lane, Need
from tokentui.session.views import Passage


@dataclass(frozen=True, slots=True)
class ColumnWanted:
    """A column that is asked for: a recipe to train, or a tokenizer in a file.

    Attributes:
        recipe: What to train; None for a file.
        run: Its stops, and what its ids begin with.
        path: The tokenizer file; empty for a recipe.
        split: The split of a file that holds none, empty for its own.
        name: The name; where empty, the preset that the recipe is, or the name of the file.
    """

    recipe: Recipe | None = None
    run: Run = field(default_factory=Run)
    path: str = ""
    split: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Compare(Command[None]):
    """Show columns side by side: these, or those that were kept when Compare was left.

    The first of them is the column that is open, where it asks for the same. Raises where there are fewer than two.
    """

    columns: tuple[ColumnWanted, ...] = ()
    need: ClassVar[Need] = Need.REST


@dataclass(frozen=True, slots=True)
class Leave(Command[None]):
    """Show the first column alone; the others are kept as they are."""


@dataclass(frozen=True, slots=True)
class SyncBy(Command[None]):
    """Keep the columns together by another of `WAYS`, None by the next. The first column stays where it is."""

    by: str | None = None


@dataclass(frozen=True, slots=True)
class AddColumn(Command[int]):
    """Add a column, before the one at a place (from 0) or at the right. Answered by its key, before it is opened.

    Raises where there are four already.
    """

    wanted: ColumnWanted
    place: int | None = None


@dataclass(frozen=True, slots=True)
class RemoveColumn(Command[None]):
    """Remove a column, by its key. Raises where only two are left."""

    key: int


@dataclass(frozen=True, slots=True)
class MoveColumn(Command[None]):
    """Move a column, by its key, so many places to the right, or to the left for a negative number."""

    key: int
    by: int


@dataclass(frozen=True, slots=True)
class GoToDivergence(Command[int | None]):
    """Go before the first differing step of two columns, by their keys, so that both show what they are about to do.

    Answered by the step once it is found, None where there is none. The columns are in step by merges then.
    """

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class FindDivergence(Command[None]):
    """Look again for the first differing step of two columns, by their keys, where the search was given up."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class ShowPassage(Command[None]):
    """Show a stretch of the corpus encoded in place of the typed text; None shows the typed text again."""

    passage: Passage | None


@dataclass(frozen=True, slots=True)
class NextPassage(Command[Passage | None]):
    """Show the next (or previous) stretch of the corpus that the columns cut otherwise, round the end.

    Answered by the `Passage`, None where they agree everywhere.
    """

    backward: bool = False
    lane: ClassVar[Lane] = Lane.BESIDE


@dataclass(frozen=True, slots=True)
class HoldOut(Command[None]):
    """Measure on a second corpus as well; without a source on none. Answered when it is open; raises what is wrong with it."""

    source: str
    as_: str | None = None
    field: str = "text"


@dataclass(frozen=True, slots=True)
class MeasureUnder(Command[None]):
    """Measure under other conventions: the splitter that tells what a word is, and the order of Rényi's entropy.

    Raises where there is no such splitter or order.
    """

    splitter: str = "whitespace"
    alpha: float = 2.5
