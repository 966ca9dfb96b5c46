"""The commands that a session takes: frozen values, answered by a later snapshot, some by a value as well.
"""

from __future__ import annotations

import os
from collections.abc import Sequence  # noqa: F401 - ruff does not read the types of answers below
from typing import TYPE_CHECKING

from tokentui.axes import label
from tokentui.core.safetext import GlyphMode
from tokentui.recipe import Recipe, Run
from tokentui.session.lanes import Command as Command
from tokentui.session.lanes import Decides as Decides
from tokentui.session.lanes import Lane as Lane
from tokentui.session.lanes import Need as Need
from tokentui.session.lanes import NothingOpen as NothingOpen
from tokentui.session.snapshot import EndView, PiecesView, PreviewView
from tokentui.session.views import ColumnWanted, CorpusPlace, Found, Passage, StepsView, StepView, Viewport

if TYPE_CHECKING:  # answers of rooms that load when one is asked for
    from tokentui.analyze.results import HealthReport, StringFacts, VocabularyReport  # noqa: F401
    from tokentui.encode.sampling import Drawn  # noqa: F401
    from tokentui.formats.proof import ExportReport  # noqa: F401
    from tokentui.learn.trainer import Compressed  # noqa: F401
    from tokentui.session.tokens import Places, TokenAt, TokenView, WordLife  # noqa: F401

class Move(Command[None], need=Need.ARRIVED, walks=True):
    """Go so many steps forward (or back, for a negative number): units of the position, see `Position`."""
    steps: int


class GoTo(Command[None], need=Need.STEPS, walks=True):
    """Go to a step, or another value of the position; None is the end of the run (its stops, or no pair
    left)."""
    step: int | None

    @property
    def words(self) -> str:
        return "go to the end" if self.step is None else f"go to step {self.step:,}"


class GoToToken(Command[int | None], need=Need.STEPS, walks=True, said="go to the token ‘{0.text:.40}’"):
    """Go to the step that makes this token (text as shown or typed), if it is computed or comes within the
    run.

    Answered by the step, or None where no step makes it. Only for one column.
    """
    text: str


class RunUntil(Command[int | None], need=Need.STEPS, walks=True, said="run until {0.named}"):
    """Run on to the first step that meets a condition, the present one included; exactly one is given.

    Args:
        token: A token that the step makes, as shown or typed.
        size: A number of ids that the vocabulary has come to.
        compression: Bytes of the corpus for each token.

    Answered by the step; None where the run ends before, at its end then. Stops that the run has hold. Only
    for one column.
    """
    token: str = ""
    size: int | None = None
    compression: float | None = None

    @property
    def named(self) -> str:
        """The condition in a few words."""
        if self.size is not None:
            return f"{self.size:,} ids"
        if self.compression is not None:
            return f"{self.compression:g} bytes per token"
        return f"the token ‘{self.token:.40}’"


class Play(Command[None], need=Need.ARRIVED, walks=True, said="run"):
    """Run, or stop where it is. None turns over."""
    on: bool | None = None


class StepPieces(Command[None], need=Need.ARRIVED, walks=True):
    """Walk through a pruning piece by piece, in order of loss; a negative number of pieces goes back.

    Raises where the next step drops no pieces one by one.
    """
    pieces: int

    @property
    def words(self) -> str:
        count = abs(self.pieces)
        return f"{count:,} piece{'' if count == 1 else 's'} {'on' if self.pieces > 0 else 'back'}"


class Speed(Command[None]):
    """Play faster (1) or slower (-1) by so many places of `SPEEDS`."""
    by: int


class SetSpeed(Command[None]):
    """Play at one of `SPEEDS`, in steps a second; None is as fast as it can."""
    speed: int | None


class CancelWork(Command[None]):
    """Cancel the long work under way: opening, counting, walking, queries. The open corpus stays."""


class SetInput(Command[None]):
    """Encode this text, as the user types it."""
    text: str


class SetViewport(Command[None]):
    """Show other rows, or other sections."""
    viewport: Viewport


class Find(Command[Found | None], need=Need.SIGHT, said="find ‘{0.text:.40}’"):
    """Find text in a pane, from a row or place on.

    Args:
        pane: `corpus`, `pairs` or `vocabulary`.
        text: What to find, as typed.
        start: The row to start at (pairs, vocabulary) or the place (corpus); found rows come after it, round
        the end.
        backward: Look the other way.
        mode: How data are shown: what was typed is read so, too.

    Answered by the row, or the place, with its number among all matches; None where there is none. Of a list
    that is narrowed the rows that are left are searched.
    """
    pane: str
    text: str
    start: int | CorpusPlace
    backward: bool = False
    mode: GlyphMode = "text"


class FindChanged(Command[CorpusPlace | None], need=Need.SIGHT):
    """Find where the last step changed the corpus, after a place.

    Answered by the place, None where there is none.
    """
    start: CorpusPlace


class OpenTokenizer(Command[None], lane=Lane.LOADER, fresh=True, opens=Decides.TRAINING):
    """Open a tokenizer file, on the same corpus, at its last step. Answered when it can be stepped through;
    raises what is wrong with it.

    `split` is a value of that axis for a file that holds none; empty for its own. `encode` is another way to
    encode by it; empty for its own. `kept` takes the one that was opened from there before, where it still
    is.
    """
    path: str
    split: str = ""
    encode: str = ""
    kept: bool = False

    @property
    def words(self) -> str:
        return f"open {os.path.basename(self.path) or self.path}"


class Open(Command[None], opens=Decides.CORPUS, lane=Lane.LOADER, fresh=True, said="open {0.named}"):
    """Open sources as one corpus: what CORPUS may be on the command line; with a tokenizer file on it where
    one is named.

    Answered when it is open; raises what is wrong with it.
    """
    sources: tuple[str, ...]
    as_: str | None = None
    field: str = "text"
    tokenizer: OpenTokenizer | None = None

    @property
    def decides(self) -> Decides:
        return Decides.CORPUS | Decides.TRAINING if self.tokenizer else Decides.CORPUS

    @property
    def named(self) -> str:
        """The name of what is opened."""
        if self.tokenizer is not None:
            return os.path.basename(self.tokenizer.path) or self.tokenizer.path
        if len(self.sources) == 1:
            from tokentui.text.named import short_name  # a screen that opens nothing needs none

            return short_name(self.sources[0])
        return f"{len(self.sources):,} sources"


class TrainOnText(
    Command[None], lane=Lane.LOADER, opens=Decides.CORPUS, said="train on the text that is typed"
):
    """Train on a text that was typed, at the same place. Answered when it is there.

    While another text is trained, the newest waits for it; a text that waits gives way to a newer one, by
    `Cancelled`.
    """
    text: str


class SetRecipe(Command[None], lane=Lane.LOADER, opens=Decides.TRAINING):
    """Train by another recipe, on the same corpus, going to the same step, or as `KeepPlace` says to the same
    size.

    Answered when its first step can be made; a later one takes its place, by `Cancelled`. `run` is the run in
    use where None.
    """
    recipe: Recipe
    run: Run | None = None

    @property
    def words(self) -> str:
        return f"train by {label(self.recipe)}"


class KeepPlace(Command[None]):
    """Bring another recipe to the same `step`, or to the same `size` of the vocabulary."""
    by: str


class CorpusText(Command[str], need=Need.CORPUS):
    """The text of the corpus, to be edited: its documents with line breaks between them.

    Raises where it is too large for that, or not text but counted words.
    """


class Pieces(Command[PiecesView], need=Need.WHOLE):
    """The pieces that the split makes of the typed text, and of so many characters of the corpus from a place
    on."""
    place: CorpusPlace
    chars: int = 2000


class Compress(Command["Compressed"], need=Need.WHOLE):
    """The compression at this step: so many bytes from a byte of the first document on."""
    start: int = 0
    length: int = 4000


class WhyUnreachable(Command[str]):
    """Why no text ever becomes a token of the opened file, by its id.

    Answered by a sentence, empty where one does.
    """
    id: int


class Preview(Command[PreviewView], lane=Lane.BESIDE, need=Need.CORPUS):
    """The first steps of a recipe on a small slice of the corpus."""
    recipe: Recipe
    run: Run | None = None
    steps: int = 10


class EncodeAtEnd(Command[EndView], lane=Lane.BESIDE, need=Need.WHOLE):
    """The typed text as it is encoded at the end of the run, to which a copy is trained.

    Raises where a tokenizer of a file is open: it is not trained.
    """


class AnalyzeVocabulary(Command["VocabularyReport"], lane=Lane.BESIDE, need=Need.WHOLE):
    """The questions that a vocabulary raises, answered at this step.

    Args:
        word: A word whose ways to be written are wanted; the typed text's first where empty.
        exhaust: Whether to train a copy until no pair is left, to say what happens when one keeps adding.
    """
    word: str = ""
    exhaust: bool = False


class Draw(Command["Drawn"], lane=Lane.BESIDE, need=Need.ARRIVED):
    """A text (the typed one where empty) encoded with the share `p` of its merges left out by chance, as the
    library `like` does it, with each draw. Raises where there are no merges, or the text is too long.
    """
    text: str = ""
    p: float = 0.1
    like: str = "tokenizers"
    seed: int = 0


class InspectText(Command["StringFacts"], lane=Lane.BESIDE, need=Need.ARRIVED):
    """The facts of a text at this step: each step of its encoding, and why it is not one token.

    Args:
        text: The text.
        at: A place in it: asks about the pre-token that stands there alone; None asks about all of it.
        ahead: Whether to train a copy on, to say whether and when the text becomes one token.
        column: The key of the column; the first one where None.

    Raises where the text is too long.
    """
    text: str
    at: int | None = None
    ahead: bool = False
    column: int | None = None


class InspectToken(Command["TokenView"], lane=Lane.BESIDE, need=Need.WHOLE):
    """The facts of a token, by its id or its exact bytes, at this step of a column, also over the run.

    Raises where there is no such token.
    """
    token: int | bytes
    column: int | None = None


class LifeOfWord(Command["WordLife"], lane=Lane.BESIDE, need=Need.WHOLE):
    """Each step up to this one that cuts the pre-token at a place of a text in another way.

    Raises where none stands there, or it cannot be encoded.
    """
    text: str
    at: int = 0
    column: int | None = None


class TokenPlaces(Command["Places"], need=Need.WHOLE):
    """The next places of a token in the corpus, behind a place; see `InspectToken`."""
    token: int | bytes
    after: CorpusPlace | None = None
    most: int = 3
    column: int | None = None


class TokenThere(Command["tuple[int | None, TokenAt] | None"], need=Need.WHOLE):
    """The token over a character of a part of the corpus, behind its id. None where no token stands."""
    place: CorpusPlace
    within: int = 0


class ListSteps(Command[StepsView], lane=Lane.BESIDE, need=Need.WHOLE):
    """Some of the steps made so far, as far as the present one.

    Args:
        order: `step`, `count`, `length` or `tie`.
        find: Text that a token, or its parts with a plus between them, must hold; empty for all.
        mode: How data are shown: what was typed is read so, too.
        top: The first row.
        rows: The most rows.
    """
    order: str = "step"
    find: str = ""
    mode: GlyphMode = "text"
    top: int = 0
    rows: int = 100


class ExplainSteps(Command[tuple[StepView, ...]], lane=Lane.BESIDE, need=Need.WHOLE):
    """The reasons of steps, and what each does to the corpus and to the typed text: of steps that were made,
    and of the next one.

    Args:
        numbers: The steps, 1 for the first.
        places: How many places of the corpus are shown; 0 for none.
    """
    numbers: tuple[int, ...]
    places: int = 3


class ExamineHealth(Command["HealthReport"], lane=Lane.BESIDE, need=Need.WHOLE):
    """The facts of the tokenizer of this step and a report on its health."""


class Formats(Command["Sequence[ExportReport]"], lane=Lane.BESIDE, need=Need.REST):
    """The losses of each file format with the tokenizer of this step."""


class Export(Command["ExportReport"], lane=Lane.BESIDE, need=Need.REST):
    """Write the tokenizer of this step to a file. Nothing is written where the answer's `refused` names a
    reason.

    Raises what is wrong with the path; that a file is there already unless it may be written over.
    """
    path: str
    format: str
    overwrite: bool = False


class Contents(Command["tuple[ExportReport, tuple[bytes, ...]]"], lane=Lane.BESIDE, need=Need.REST):
    """The files of the tokenizer of this step in a format, to be handed to a browser; none where the report's
    `refused` names a reason."""
    format: str


class Recognise(Command[str], lane=Lane.BESIDE):
    """Tell the format of a file by its content. Answered by the name of a tokenizer's format; empty for all
    that may be a corpus.

    A file that is a tokenizer by its name and its first bytes, and damaged, is answered by what is wrong with
    it and where.
    """
    path: str


class Fingerprint(Command[str], lane=Lane.BESIDE):
    """The SHA-256 of the bytes of the corpus, in hex, whatever it is called."""


class Compare(Command[None], need=Need.REST):
    """Show columns side by side: these, or those that were kept when Compare was left.

    The first of them is the column that is open, where it asks for the same. Raises where there are fewer
    than two.
    """
    columns: tuple[ColumnWanted, ...] = ()


class Leave(Command[None]):
    """Show the first column alone; the others are kept as they are."""


class SyncBy(Command[None]):
    """Keep the columns together by another of `WAYS`, None by the next.

    The first column stays where it is.
    """
    by: str | None = None


class AddColumn(Command[int]):
    """Add a column, before the one at a place (from 0) or at the right. Answered by its key, before it is
    opened.

    Raises where there are four already.
    """
    wanted: ColumnWanted
    place: int | None = None


class ChangeColumn(Command[int]):
    """Show another column in the place of one, by its key. Answered by the key of the new one."""
    key: int
    wanted: ColumnWanted


class RemoveColumn(Command[None]):
    """Remove a column, by its key. Raises where only two are left."""
    key: int


class MoveColumn(Command[None]):
    """Move a column, by its key, so many places to the right, or to the left for a negative number."""
    key: int
    by: int


class GoToDivergence(Command[int | None]):
    """Go before the first differing step of two columns, by their keys, so that both show what they are about
    to do.

    Answered by the step once it is found, None where there is none. The columns are in step by merges then.
    """
    a: int
    b: int


class FindDivergence(Command[None]):
    """Look again for the first differing step of two columns, by their keys, where the search was given up.
    """
    a: int
    b: int


class ShowPassage(Command[None]):
    """Show a stretch of the corpus encoded in place of the typed text; None shows the typed text again."""
    passage: Passage | None


class NextPassage(Command[Passage | None], lane=Lane.BESIDE):
    """Show the next (or previous) stretch of the corpus that the columns cut otherwise, round the end.

    Answered by the `Passage`, None where they agree everywhere.
    """
    backward: bool = False


class HoldOut(Command[None], lane=Lane.BESIDE):
    """Measure on a second corpus as well; without a source on none.

    Answered when it is open; raises what is wrong with it.
    """
    source: str
    as_: str | None = None
    field: str = "text"


class MeasureUnder(Command[None]):
    """Measure under other conventions: the splitter that tells what a word is, and the order of Rényi's
    entropy.

    Raises where there is no such splitter or order.
    """
    splitter: str = "whitespace"
    alpha: float = 2.5
