"""The columns of a comparison: what is asked for, where they stand together, and each of them as it is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokentui.recipe import Ending, Recipe
from tokentui.session.snapshot import Busy, LossRow, PairRow, WhyView

LETTERS = "ABCD"
"""What the columns are called, from the left."""

WAYS = ("merges", "size", "tokens")
"""What columns may be kept together by: merges made, ids of the vocabulary, tokens left in the corpus."""

END = -1
"""The value of a goal that is the end of every column."""


@dataclass(frozen=True, slots=True)
class ColumnWanted:
    """A column that is asked for: a recipe to train, or a tokenizer in a file.

    Args:
        recipe: What to train; None for a file.
        run: The words of a run (merges, vocab_size, min_count, max_length, first_id, specials), as in `commands.Use`. A column
            goes no further than its own stops.
        path: The tokenizer file; empty for a recipe.
        split: The split of a file that holds none, empty for its own.
        name: What it is called; where empty, the preset that the recipe is, or the name of the file.
    """

    recipe: Recipe | None = None
    run: tuple[tuple[str, Any], ...] = ()
    path: str = ""
    split: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """Where all columns stand together.

    By `merges` the value is a step: each column stands there, or at its end where that comes before. By `size` it is a number of
    ids: each column stands at its first step with so many or more (a unigram model, whose steps drop pieces: so many or fewer).
    By `tokens` it is a step of the first column: the others stand at their first step at which the corpus has no more tokens than
    in the first column (a unigram model, whose tokens grow: no fewer).
    """

    by: str = "merges"
    value: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of the corpus that is shown encoded: so many characters of a document from one on (of a corpus of counted words:
    a word). It is cut at white space where there is some near."""

    document: int = 0
    start: int = 0
    length: int = 200


@dataclass(frozen=True, slots=True)
class ColumnAt:
    """A column at the position.

    Attributes:
        step: The step that it stands at; of a tokenizer from a file, how many of its tokens are born.
        known: The furthest step made so far.
        target: The step that it ends at as far as that is known, None where it is not.
        tokens: The corpus in tokens now, as training has it; `start_tokens` at the start.
        bytes_per_token: Bytes of the corpus for each of these; None where there is none, or distinct words count once.
        vocab_size: The ids now.
        pairs: Candidates from `pairs_top` on, of `pairs_total`: what may come next, best first.
        why: The choice and its reason; `why.end` says why there is none, also where the column's stops hold.
        last: The step that was made last, None at the start and for a unigram model.
        last_id: The id that it made.
        ending: What `target` is, see `Ending.kind`.
    """

    step: int
    known: int
    target: int | None
    tokens: int
    start_tokens: int
    bytes_per_token: float | None
    vocab_size: int
    pairs: tuple[PairRow, ...] | tuple[LossRow, ...]
    pairs_top: int
    pairs_total: int
    why: WhyView
    last: PairRow | None
    last_id: int | None
    ending: str = "stop"

    @property
    def end(self) -> Ending:
        """Where it ends, as far as that is known."""
        return Ending(self.target, self.ending if self.target is not None else "open")


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column.

    Attributes:
        key: Its own number, which stays when columns are moved.
        name: What it is called, as short as can be.
        about: What it is, in a few words.
        recipe: What is trained, or what a file says; None while that is not known.
        path: The file, empty for a recipe.
        error: Why it cannot be shown, in one line; empty where it can.
        coming: What it is busy with while it is not at the position: being opened, or walking there. Its numbers are absent.
        at: Its numbers; None with an error, or while it is coming.
        notes: What was assumed of a file.
    """

    key: int
    name: str
    about: str
    recipe: Recipe | None
    path: str
    error: str
    coming: Busy | None
    at: ColumnAt | None
    notes: tuple[str, ...] = ()
