"""The commands that a session takes: frozen values. Each is answered by a later snapshot; some by a value as well.

A command says in which lane it runs, what has to be there before it can run, and how it is named while it waits for that.
"""

from __future__ import annotations

import os
from collections.abc import Sequence  # noqa: F401 - ruff does not read the types of answers below
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from tokentui.axes import label
from tokentui.core.safetext import GlyphMode
from tokentui.recipe import Recipe, Run
from tokentui.session.snapshot import CompressedView, PiecesView, PreviewView
from tokentui.session.views import CorpusPlace, Viewport

if TYPE_CHECKING:  # answers of rooms that load when one is asked for
    from tokentui.analyze.results import HealthReport, VocabularyReport  # noqa: F401
    from tokentui.formats.proof import ExportReport  # noqa: F401

Answer_co = TypeVar("Answer_co", covariant=True)
TOKEN_SHOWN = 40


class Lane(Enum):
    """The thread that a command runs in."""

    ENGINE = "engine"
    """Between two slices of the columns' work."""
    LOADER = "loader"
    """In the thread that reads and counts."""
    BESIDE = "beside"
    """In a thread of its own, about the step at which it is handed in; a later one of its kind takes its place."""


class Need(IntEnum):
    """The state that a command needs to run. Each member includes those before it."""

    NOTHING = 0
    SIGHT = 1
    """Something that can be shown."""
    CORPUS = 2
    """The text of the corpus that was opened last."""
    STEPS = 3
    """A training, or an opened tokenizer, that can be stepped through."""
    ARRIVED = 4
    """The training is at the place that is kept."""
    WHOLE = 5
    """All of the corpus has been counted for it."""
    REST = 6
    """The training walks nowhere."""


class Decides(Enum):
    """The part of a session that a command of the loader opens anew."""

    CORPUS = "corpus"
    TRAINING = "training"


class Command(Generic[Answer_co]):
    """A request from a screen to a session; the type parameter is the type of the answer.

    Attributes:
        lane: The lane that runs the command.
        need: The state that the command needs.
        walks: True if the command moves from step to step.
        decides: The parts that the command opens anew; empty for a command that opens nothing.
        fresh: True if the command makes earlier requests for steps meaningless.
        words: A short description, shown while the command waits; empty where a dialog shows it.
    """

    __slots__ = ()
    lane: ClassVar[Lane] = Lane.ENGINE
    need: ClassVar[Need] = Need.NOTHING
    walks: ClassVar[bool] = False
    fresh: ClassVar[bool] = False

    @property
    def decides(self) -> frozenset[Decides]:
        return frozenset()

    @property
    def words(self) -> str:
        return ""

    @property
    def in_order(self) -> bool:
        """True if the command runs in order with the others; a command that only reads does not."""
        return self.lane is Lane.LOADER or self.need >= Need.STEPS


_CORPUS, _TRAINING = frozenset((Decides.CORPUS,)), frozenset((Decides.TRAINING,))

SPEEDS: tuple[int | None, ...] = (1, 2, 5, 10, 20, 60, 200, 1000, 5000, None)
"""Steps a second that a run may play at; None is as fast as it can."""


@dataclass(frozen=True, slots=True)
class Move(Command[None]):
    """Go so many steps forward (or back, for a negative number): units of the position, see `Position`."""

    steps: int
    need: ClassVar[Need] = Need.ARRIVED
    walks: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class GoTo(Command[None]):
    """Go to a step, or another value of the position; None is the end of the run (its stops, or no pair left)."""

    step: int | None
    need: ClassVar[Need] = Need.STEPS
    walks: ClassVar[bool] = True

    @property
    def words(self) -> str:
        return "go to the end" if self.step is None else f"go to step {self.step:,}"


@dataclass(frozen=True, slots=True)
class GoToToken(Command[int | None]):
    """Go to the step that makes this token (text as shown or typed), if it is computed or comes within the run.

    Answered by the step, or None where no step makes it. Only for one column.
    """

    text: str
    need: ClassVar[Need] = Need.STEPS
    walks: ClassVar[bool] = True

    @property
    def words(self) -> str:
        return f"go to the token ‘{self.text[:TOKEN_SHOWN]}’"


@dataclass(frozen=True, slots=True)
class Play(Command[None]):
    """Run, or stop where it is. None turns over."""

    on: bool | None = None
    need: ClassVar[Need] = Need.ARRIVED
    walks: ClassVar[bool] = True

    @property
    def words(self) -> str:
        return "run"


@dataclass(frozen=True, slots=True)
class StepPieces(Command[None]):
    """Walk through a pruning piece by piece, in order of loss: so many pieces on, or back for a negative number.

    Raises where the next step drops no pieces one by one.
    """

    pieces: int
    need: ClassVar[Need] = Need.ARRIVED
    walks: ClassVar[bool] = True

    @property
    def words(self) -> str:
        count = abs(self.pieces)
        return f"{count:,} piece{'' if count == 1 else 's'} {'on' if self.pieces > 0 else 'back'}"


@dataclass(frozen=True, slots=True)
class Speed(Command[None]):
    """Play faster (1) or slower (-1) by so many places of `SPEEDS`."""

    by: int


@dataclass(frozen=True, slots=True)
class CancelWork(Command[None]):
    """Cancel the long work under way: opening, counting, walking, queries. The open corpus stays."""


# ---- what is shown


@dataclass(frozen=True, slots=True)
class SetInput(Command[None]):
    """Encode this text, as the user types it."""

    text: str


@dataclass(frozen=True, slots=True)
class SetViewport(Command[None]):
    """Show other rows, or other sections."""

    viewport: Viewport


@dataclass(frozen=True, slots=True)
class Find(Command[int | CorpusPlace | None]):
    """Find text in a pane, from a row or place on.

    Args:
        pane: `corpus`, `pairs` or `vocabulary`.
        text: What to find, as typed.
        start: The row to start at (pairs, vocabulary) or the place (corpus); found rows come after it, round the end.
        backward: Look the other way.
        mode: How data are shown: what was typed is read so, too.

    Answered by the row, or the place; None where there is none.
    """

    pane: str
    text: str
    start: int | CorpusPlace
    backward: bool = False
    mode: GlyphMode = "text"
    need: ClassVar[Need] = Need.SIGHT

    @property
    def words(self) -> str:
        return f"find ‘{self.text[:TOKEN_SHOWN]}’"


@dataclass(frozen=True, slots=True)
class FindChanged(Command[CorpusPlace | None]):
    """Find where the last step changed the corpus, after a place. Answered by the place, None where there is none."""

    start: CorpusPlace
    need: ClassVar[Need] = Need.SIGHT


# ---- what is opened


@dataclass(frozen=True, slots=True)
class OpenTokenizer(Command[None]):
    """Open a tokenizer file, on the same corpus, at its last step. Answered when it can be stepped through; raises what is
    wrong with it.

    `split` is a value of that axis for a file that holds none; empty for its own. `kept` takes the one that was opened from
    there before, where it still is.
    """

    path: str
    split: str = ""
    kept: bool = False
    lane: ClassVar[Lane] = Lane.LOADER
    fresh: ClassVar[bool] = True

    @property
    def decides(self) -> frozenset[Decides]:
        return _TRAINING

    @property
    def words(self) -> str:
        return f"open {os.path.basename(self.path) or self.path}"


@dataclass(frozen=True, slots=True)
class Open(Command[None]):
    """Open sources as one corpus: what CORPUS may be on the command line; with a tokenizer file on it where one is named.

    Answered when it is open; raises what is wrong with it.
    """

    sources: tuple[str, ...]
    as_: str | None = None
    field: str = "text"
    tokenizer: OpenTokenizer | None = None
    lane: ClassVar[Lane] = Lane.LOADER
    fresh: ClassVar[bool] = True

    @property
    def decides(self) -> frozenset[Decides]:
        return _CORPUS | _TRAINING if self.tokenizer else _CORPUS

    @property
    def words(self) -> str:
        return f"open {self.named}"

    @property
    def named(self) -> str:
        """The name of what is opened."""
        if self.tokenizer is not None:
            return os.path.basename(self.tokenizer.path) or self.tokenizer.path
        if len(self.sources) == 1:
            return os.path.basename(self.sources[0]) or self.sources[0]
        return f"{len(self.sources):,} sources"


@dataclass(frozen=True, slots=True)
class TrainOnText(Command[None]):
    """Train on a text that was typed, at the same place. Answered when it is there.

    While another text is trained, the newest waits for it; a text that waits gives way to a newer one, by `Cancelled`.
    """

    text: str
    lane: ClassVar[Lane] = Lane.LOADER

    @property
    def decides(self) -> frozenset[Decides]:
        return _CORPUS

    @property
    def words(self) -> str:
        return "train on the text that is typed"


@dataclass(frozen=True, slots=True)
class SetRecipe(Command[None]):
    """Train by another recipe, on the same corpus, going to the same step, or as `KeepPlace` says to the same size.

    Answered when its first step can be made; a later one takes its place, by `Cancelled`. `run` is the run in use
    where None.
    """

    recipe: Recipe
    run: Run | None = None
    lane: ClassVar[Lane] = Lane.LOADER

    @property
    def decides(self) -> frozenset[Decides]:
        return _TRAINING

    @property
    def words(self) -> str:
        return f"train by {label(self.recipe)}"


@dataclass(frozen=True, slots=True)
class KeepPlace(Command[None]):
    """Bring another recipe to the same `step`, or to the same `size` of the vocabulary."""

    by: str


# ---- questions


@dataclass(frozen=True, slots=True)
class CorpusText(Command[str]):
    """The text of the corpus, to be edited: its documents with line breaks between them.

    Raises where it is too large for that, or not text but counted words.
    """

    need: ClassVar[Need] = Need.CORPUS


@dataclass(frozen=True, slots=True)
class Pieces(Command[PiecesView]):
    """The pieces that the split makes of the typed text, and of so many characters of the corpus from a place on."""

    place: CorpusPlace
    chars: int = 2000
    need: ClassVar[Need] = Need.WHOLE


@dataclass(frozen=True, slots=True)
class Compress(Command[CompressedView]):
    """The compression at this step: so many bytes from a byte of the first document on."""

    start: int = 0
    length: int = 4000
    need: ClassVar[Need] = Need.WHOLE


@dataclass(frozen=True, slots=True)
class WhyUnreachable(Command[str]):
    """Why no text ever becomes a token of the opened file, by its id. Answered by a sentence, empty where one does."""

    id: int


@dataclass(frozen=True, slots=True)
class Preview(Command[PreviewView]):
    """The first steps of a recipe on a small slice of the corpus."""

    recipe: Recipe
    run: Run | None = None
    steps: int = 10
    lane: ClassVar[Lane] = Lane.BESIDE
    need: ClassVar[Need] = Need.CORPUS


@dataclass(frozen=True, slots=True)
class AnalyzeVocabulary(Command["VocabularyReport"]):
    """The questions that a vocabulary raises, answered at this step.

    Args:
        word: A word whose ways to be written are wanted; the typed text's first where empty.
        exhaust: Whether to train a copy until no pair is left, to say what happens when one keeps adding.
    """

    word: str = ""
    exhaust: bool = False
    lane: ClassVar[Lane] = Lane.BESIDE
    need: ClassVar[Need] = Need.WHOLE


@dataclass(frozen=True, slots=True)
class ExamineHealth(Command["HealthReport"]):
    """The facts of the tokenizer of this step and a report on its health."""

    lane: ClassVar[Lane] = Lane.BESIDE
    need: ClassVar[Need] = Need.WHOLE


@dataclass(frozen=True, slots=True)
class Formats(Command["Sequence[ExportReport]"]):
    """The losses of each file format with the tokenizer of this step."""

    lane: ClassVar[Lane] = Lane.BESIDE
    need: ClassVar[Need] = Need.REST


@dataclass(frozen=True, slots=True)
class Export(Command["ExportReport"]):
    """Write the tokenizer of this step to a file. Nothing is written where the answer's `refused` names a reason.

    Raises what is wrong with the path; that a file is there already unless it may be written over.
    """

    path: str
    format: str
    overwrite: bool = False
    lane: ClassVar[Lane] = Lane.BESIDE
    need: ClassVar[Need] = Need.REST


@dataclass(frozen=True, slots=True)
class Recognise(Command[str]):
    """Tell the format of a file by its content. Answered by the name of a tokenizer's format; empty for all that may be a corpus.

    A file that is a tokenizer by its name and its first bytes, and damaged, is answered by what is wrong with it and where.
    """

    path: str
    lane: ClassVar[Lane] = Lane.BESIDE


@dataclass(frozen=True, slots=True)
class Fingerprint(Command[str]):
    """The SHA-256 of the bytes of the corpus, in hex, whatever it is called."""

    lane: ClassVar[Lane] = Lane.BESIDE
