"""What a screen may ask of a session: frozen commands. Each is answered by a later snapshot; some by a value as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokentui.core.safetext import GlyphMode
from tokentui.recipe import Recipe
from tokentui.session.snapshot import Look, Place

SPEEDS: tuple[int | None, ...] = (1, 2, 5, 10, 20, 60, 200, 1000, 5000, None)
"""Steps a second that a run may play at; None is as fast as it can."""


@dataclass(frozen=True, slots=True)
class Move:
    """Go so many steps forward (or back, for a negative number)."""

    steps: int


@dataclass(frozen=True, slots=True)
class GoTo:
    """Go to a step; None is the end of the run (its stops, or no pair left)."""

    step: int | None


@dataclass(frozen=True, slots=True)
class GoToToken:
    """Go to the step that makes this token (text as shown or typed), if it is known or comes within the run.

    Answered by the step, or None where no step up to the frontier makes it.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Play:
    """Run, or stop where it is. None turns over."""

    on: bool | None = None


@dataclass(frozen=True, slots=True)
class Speed:
    """Play faster (1) or slower (-1) by so many places of `SPEEDS`."""

    by: int


@dataclass(frozen=True, slots=True)
class Type:
    """What the user typed, to be encoded."""

    text: str


@dataclass(frozen=True, slots=True)
class See:
    """The windows of the panes have moved."""

    look: Look


@dataclass(frozen=True, slots=True)
class Find:
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
    start: int | Place
    backward: bool = False
    mode: GlyphMode = "text"


@dataclass(frozen=True, slots=True)
class Follow:
    """Find where the last merge happened, after a place of the corpus. Answered by the place, None where there is none."""

    start: Place


@dataclass(frozen=True, slots=True)
class Open:
    """Open a corpus: what a CORPUS may be on the command line. Answered when it is open; raises what is wrong with it."""

    source: str
    as_: str | None = None
    field: str = "text"


@dataclass(frozen=True, slots=True)
class OpenTokenizer:
    """Open a tokenizer file, on the same corpus, at its last birth. Answered when it can be stepped through; raises what is wrong
    with it.

    `split` is a value of that axis for a file that holds none; empty for its own. `kept` takes the one that was opened from there
    before, where it still is.
    """

    path: str
    split: str = ""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Recognise:
    """Tell what a file is, by its content. Answered by the name of a tokenizer's format; empty for all that may be a corpus.

    A file that is a tokenizer by its name and its first bytes, and damaged, is answered by what is wrong with it and where.
    """

    path: str


@dataclass(frozen=True, slots=True)
class Scratch:
    """Train on a text that was typed, at the same place. Answered when it is there; a later one takes its place."""

    text: str


@dataclass(frozen=True, slots=True)
class CorpusText:
    """The text of the corpus, to be edited as a scratch: its documents with line breaks between them.

    Raises where it is too large for that, or not text but counted words.
    """


@dataclass(frozen=True, slots=True)
class Use:
    """Train by another recipe, on the same corpus, going to the same step, or as `KeepPlace` says to the same size.

    Answered when its first step can be made.

    `run` are the words of a run: merges, vocab_size, min_count, max_length, first_id, specials.
    """

    recipe: Recipe
    run: tuple[tuple[str, Any], ...] | None = None


@dataclass(frozen=True, slots=True)
class Fine:
    """Walk through a pruning piece by piece, in order of loss: so many pieces on, or back for a negative number.

    Raises where the next step drops no pieces one by one.
    """

    pieces: int


@dataclass(frozen=True, slots=True)
class KeepPlace:
    """What another recipe is brought to: the same `step`, or the same `size` of the vocabulary."""

    by: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The first steps of a recipe on a small slice of the corpus. Answered by a `PreviewView`; a later one takes its place."""

    recipe: Recipe
    run: tuple[tuple[str, Any], ...] | None = None
    steps: int = 10


@dataclass(frozen=True, slots=True)
class Pieces:
    """How the split cuts the typed text, and so many characters of the corpus from a place on. Answered by a `PiecesView`."""

    place: Place
    chars: int = 2000


@dataclass(frozen=True, slots=True)
class Compress:
    """Gage's compression at this step: so many bytes from a byte of the first document on. Answered by a `CompressedView`."""

    start: int = 0
    length: int = 4000


@dataclass(frozen=True, slots=True)
class Ask:
    """The questions that a vocabulary raises, answered at this step. Answered by `tokentui.analyze.results.Answers`.

    Args:
        word: A word whose ways to be written are wanted; the typed text's first where empty.
        exhaust: Whether to train a copy until no pair is left, to say what happens when one keeps adding.
    """

    word: str = ""
    exhaust: bool = False


@dataclass(frozen=True, slots=True)
class Formats:
    """What each file format would lose of the tokenizer of this step. Answered by `tokentui.formats.report.ExportReport`s."""


@dataclass(frozen=True, slots=True)
class Export:
    """Write the tokenizer of this step to a file.

    Answered by a `tokentui.formats.report.ExportReport`. Nothing is written where its `refused` names a reason.

    Raises what is wrong with the path; that a file is there already unless it may be written over.
    """

    path: str
    format: str
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of the tokenizer of this step and a report on its health. Answered by `tokentui.analyze.results.Report`."""


@dataclass(frozen=True, slots=True)
class Never:
    """Why no text ever becomes a token of the opened file, by its id. Answered by a sentence, empty where one does."""

    id: int


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the corpus is, whatever it is called. Answered by the SHA-256 of its bytes, in hex."""


@dataclass(frozen=True, slots=True)
class CancelWork:
    """Give up the long work under way (opening, counting, walking); what was open stays."""


Command = (
    Move | GoTo | GoToToken | Play | Speed | Type | See | Find | Follow | Open | OpenTokenizer | Recognise | Scratch
    | CorpusText | Use | Fine | KeepPlace | Preview | Pieces | Compress | Ask | Formats | Export | Facts
    | Fingerprint | Never | CancelWork
)

Aside = Preview | Ask | Formats | Export | Facts | Recognise | Fingerprint
"""What is answered beside the training, about the step at which it was asked."""
