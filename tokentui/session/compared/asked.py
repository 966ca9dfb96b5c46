"""What the Compare screen is given, and what it may ask: the snapshot and the frozen commands."""

from __future__ import annotations

from dataclasses import dataclass

from tokentui.session import commands as do
from tokentui.session.compared.columns import ColumnView, ColumnWanted, Passage, Position
from tokentui.session.compared.found import (
    Aligned,
    Curves,
    Measured,
    OverlapCounts,
    PartingView,
    VocabularyLook,
    VocabularyRows,
)
from tokentui.session.snapshot import Busy

SECTIONS = ("vocabulary", "measures", "agreement", "curves")
"""What is found beside the columns, and only where it is looked at."""


@dataclass(frozen=True, slots=True)
class CompareLook:
    """What the screen wants to see: rows of candidates, a list of two vocabularies, and the sections that are open.

    `wants` names those of `SECTIONS` that are to be kept up to date; `curve_points` how many points a curve has at most;
    `literal` has merges compared as they are spelled and not by what they mean.
    """

    pairs_top: int = 0
    pairs_rows: int = 20
    vocabulary: VocabularyLook | None = None
    wants: tuple[str, ...] = ("vocabulary", "measures")
    curve_points: int = 200
    literal: bool = False


@dataclass(frozen=True, slots=True)
class CompareSnapshot:
    """Everything that the Compare screen shows.

    Args:
        version: Grows with every snapshot of a session.
        corpus_name: What the corpus is called; `corpus_bytes` its size.
        held_out: The name of the second corpus, empty for none.
        position: Where the columns stand.
        goal: A position being walked to, None if none; its value is `END` where that is the end.
        running: Whether it plays; `speed` in units of the position a second, None for as fast as it can.
        ended: Whether every column stands at its end.
        columns: The columns, from the left.
        aligned: The typed text, or a passage, encoded by each.
        partings: The first differing step of each two columns.
        overlaps: What each two vocabularies share; empty until that is known.
        vocabulary: The list that was asked for, None for none.
        measured: The measures, None until they are known; `held_measured` those of the second corpus.
        curves: The curves.
        busy: What is being found beside the columns.
        failed: What could not be found, and why, a line each.
        engine: What runs, in a few words.
    """

    version: int
    corpus_name: str
    corpus_bytes: int
    held_out: str
    position: Position
    goal: Position | None
    running: bool
    speed: int | None
    ended: bool
    columns: tuple[ColumnView, ...]
    aligned: Aligned
    partings: tuple[PartingView, ...] = ()
    overlaps: tuple[OverlapCounts, ...] = ()
    vocabulary: VocabularyRows | None = None
    measured: Measured | None = None
    held_measured: Measured | None = None
    curves: Curves | None = None
    busy: Busy | None = None
    failed: tuple[str, ...] = ()
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """What the screen wants to see has changed."""

    look: CompareLook


@dataclass(frozen=True, slots=True)
class InStepBy:
    """Keep the columns together by another of `WAYS`, None by the next. The first column stays where it is."""

    by: str | None = None


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a column, before the one at a place (from 0) or at the right. Answered by its key, before it is opened.

    Raises where there are four already.
    """

    wanted: ColumnWanted
    place: int | None = None


@dataclass(frozen=True, slots=True)
class RemoveColumn:
    """Take a column away, by its key. Raises where only two are left."""

    key: int


@dataclass(frozen=True, slots=True)
class MoveColumn:
    """Move a column, by its key, so many places to the right, or to the left for a negative number."""

    key: int
    by: int


@dataclass(frozen=True, slots=True)
class GoToParting:
    """Go before the first differing step of two columns, by their keys, so that both show what they are about to do.

    Answered by the step once it is found, None where there is none. The columns are in step by merges then.
    """

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class FindParting:
    """Look again for the first differing step of two columns, by their keys, where the search was given up."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class ShowPassage:
    """Show a stretch of the corpus encoded in place of the typed text; None shows the typed text again."""

    passage: Passage | None


@dataclass(frozen=True, slots=True)
class NextPassage:
    """Show the next (or previous) stretch of the corpus that the columns cut otherwise, round the end.

    Answered by the `Passage`, None where they agree everywhere.
    """

    backward: bool = False


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Open a second corpus to measure on: what a CORPUS may be on the command line; empty for none.

    Answered when it is open; raises what is wrong with it.
    """

    source: str
    as_: str | None = None
    field: str = "text"


@dataclass(frozen=True, slots=True)
class Under:
    """Measure under other conventions: the splitter that tells what a word is, and the order of Rényi's entropy.

    Raises where there is no such splitter or order.
    """

    splitter: str = "whitespace"
    alpha: float = 2.5


CompareCommand = (
    do.Move | do.GoTo | do.Play | do.Speed | do.Type | do.CancelWork | Watch | InStepBy | AddColumn | RemoveColumn | MoveColumn
    | GoToParting | FindParting | ShowPassage | NextPassage | HeldOut | Under
)
