"""The snapshot of a session: frozen values, all of them about the same moment.

A snapshot has columns, and a column has sections. A section that does not change is the same object in the
next snapshot, so a pane draws only the sections that have changed. Slow results come from background queries.
A value that belongs to a position names it in `at`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tokentui.core.engines import PLAIN
from tokentui.learn.rows import Candidate
from tokentui.session.views import (
    Busy,
    ColumnSnapshot,
    CorpusPlace,
    Passage,
    Position,
    TokenList,
)

if TYPE_CHECKING:  # the room of measures loads when columns are compared
    from tokentui.analyze.align import Alignment
    from tokentui.analyze.compare import Overlap, PairAgreement
    from tokentui.analyze.metrics import MeasureRow
    from tokentui.analyze.results import DivergenceSide
    from tokentui.analyze.what_if import Cost
    from tokentui.encode.encoding import EncodedToken

CURVES: tuple[tuple[str, str, str], ...] = (
    ("tokens", "tokens left", "tokens of the corpus"),
    ("bytes_per_token", "bytes per token", "bytes / tokens of the corpus"),
    ("bits", "bits at a fixed length", "tokens of the corpus · log2 of the number of ids"),
    ("in_use", "vocabulary in use", "ids that occur in the corpus / all ids"),
    ("saved", "saved by an id", "tokens that each of the next ids saves, on a logarithmic scale"),
    ("spread", "most expensive language",
        "tokens per byte of the most expensive named corpus / those of the cheapest"),
)
"""The curves: the field of `Curve`, its title and its formula. One that no column has is not shown."""


@dataclass(frozen=True, slots=True)
class DivergenceView:
    """The first step that two columns, by their keys, make differently.

    Attributes:
        a: The key of the one further left.
        b: The key of the other.
        looked: The number of first steps that are the same, as far as they are compared.
        step: The step, from 1; None if none is found (yet).
        sides: Both sides of the step, of `a` and of `b`; empty without a step.
        busy: The running search; None if it is done or cancelled.
        done: True if the search is done: without a step, the columns agree to their end.
        literal: True if merges are compared by spelling, false if by meaning.
        other: The step by the other comparison, if it differs; else None.
    """

    a: int
    b: int
    looked: int
    step: int | None
    sides: tuple[DivergenceSide, ...]
    busy: Busy | None
    done: bool
    literal: bool = False
    other: int | None = None


@dataclass(frozen=True, slots=True)
class Aligned:
    """The text that is shown, encoded by each column at the position.

    Attributes:
        text: The text: typed text, or the passage.
        passage: Its place in the corpus; None for the typed text.
        keys: The keys of the columns that encode it, a row each.
        alignment: Their rows under each other; None if no column encodes it.
        tokens: The tokens of each row; a cell's `token` is an index in it.
        bytes: The bytes of the text.
        pairs: The agreement of each pair of rows.
        refused: The keys of the columns that refuse it, each with the reason.
        left: The number of characters of a long text that are left out.
    """

    text: str = ""
    passage: Passage | None = None
    keys: tuple[int, ...] = ()
    alignment: Alignment | None = None
    tokens: tuple[tuple[EncodedToken, ...], ...] = ()
    bytes: int = 0
    pairs: tuple[PairAgreement, ...] = ()
    refused: tuple[tuple[int, str], ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class SharedTokens:
    """The tokens that two vocabularies share, by the keys of their columns.

    Attributes:
        at: The position that they belong to.
        a: The key of the one column.
        b: The key of the other.
        overlaps: By exact bytes; and bare, without marks and without a space in front.
        never_b: The number of tokens of `only_a` that the other never makes in its whole run; None until it
            is known. It is computed only while such a list is shown.
        never_a: The same the other way round.
    """

    at: Position
    a: int
    b: int
    overlaps: tuple[Overlap, Overlap]
    never_b: int | None = None
    never_a: int | None = None


@dataclass(frozen=True, slots=True)
class TokenInBoth:
    """A token of two vocabularies: its id and its uses in the corpus in either. Both are None in a vocabulary
    that lacks it; the uses of a special token are None, too."""

    piece: bytes
    id_a: int | None
    id_b: int | None
    uses_a: int | None
    uses_b: int | None


@dataclass(frozen=True, slots=True)
class TokensInBoth:
    """The rows that `query` asked for, of `total` that hold its text. `query.top` is where they begin.

    `whole` is the number of rows of the list without that text, `places` are the rows that hold `query.seek`.
    `busy` is the walk to the end of a run that a `never` list needs; there are no rows until it is over.
    """

    at: Position
    query: TokenList
    total: int
    rows: tuple[TokenInBoth, ...]
    busy: Busy | None = None
    whole: int = 0
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of a corpus, a column of figures for each key in `keys`.

    Attributes:
        at: The position that they belong to.
        corpus: The name of the corpus.
        keys: The columns, by their keys.
        rows: The measures; under each set of conventions a row of its own.
        errors: Why a column has no figures, by its key.
    """

    at: Position
    corpus: str
    keys: tuple[int, ...]
    rows: tuple[MeasureRow, ...]
    errors: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Agreed:
    """How far each two columns agree on the corpus at a position.

    Attributes:
        at: The position that they belong to.
        pairs: The agreement of each pair; without columns that cannot read the corpus.
    """

    at: Position
    pairs: tuple[PairAgreement, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A column's curves on one corpus, as the tokenizer of each step encodes it.

    Attributes:
        key: The column.
        held_out: Whether it is the second corpus.
        steps: The steps, ascending, from 0.
        tokens: The corpus in tokens after each.
        bytes_per_token: The bytes of the corpus per token; None without tokens.
        bits: N·log2 V; 0 without ids.
        in_use: The share of the ids that occur in the corpus; None for a step at which it is not known, empty
            if it is not known at all.
        saved: The tokens that each id saves from a step to the next one here; None for the last step, and if
            none is saved.
        ids: The ids after each step.
        bytes: The bytes of the corpus.
        knee: The step of the knee, see `tokentui.analyze.budget.knee`; None if there is none.
        error: Why there is no curve, in one line; empty if there is one.
        spread: The cost of the most expensive named corpus over that of the cheapest after each step; None if
            it is not known. Empty without named corpora.
    """

    key: int
    held_out: bool
    steps: tuple[int, ...]
    tokens: tuple[int, ...]
    bytes_per_token: tuple[float | None, ...]
    bits: tuple[float, ...]
    in_use: tuple[float | None, ...]
    error: str = ""
    saved: tuple[float | None, ...] = ()
    ids: tuple[int, ...] = ()
    bytes: int = 0
    knee: int | None = None
    spread: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of all columns.

    Attributes:
        end: The last step of the longest run, as far as it is computed.
        series: The curves.
        marks: (key, current step) of each column.
    """

    end: int
    series: tuple[Curve, ...]
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class PiecePart:
    """A stretch of a text as the split cuts it: a pre-token, or text that is dropped between two.

    Attributes:
        text: Its text.
        start, end: Its first character in the normalized text, and the character after it.
        branch: The index in `PiecesView.branches` of the branch that matched it; None for dropped text, and
            if it is not known.
    """

    text: str
    start: int
    end: int
    branch: int | None


@dataclass(frozen=True, slots=True)
class PiecesView:
    """The split of the typed text, and of the corpus from a place on.

    `branches` says in words or as a pattern what each branch of the split matches; `longest` is the longest
    pre-token of the corpus in characters; `warning` is empty, or says what pieces of that size will cost.
    """

    split: str
    branches: tuple[str, ...]
    typed: tuple[PiecePart, ...]
    place: CorpusPlace
    corpus: tuple[PiecePart, ...]
    distinct: int
    occurrences: int
    longest: int
    warning: str


@dataclass(frozen=True, slots=True)
class PreviewView:
    """The first steps of a recipe on the beginning of the corpus.

    Attributes:
        pairs: The merges in order.
        lines: The steps in words, for a training whose steps are not merges; empty for others.
        end: Why there are no more steps; empty if there are.
        chars: The characters of the corpus that were used.
        error: Why the recipe cannot be trained; empty if it can.
        sample: True if there is more of the corpus: a run on all of it may take other steps.
    """

    pairs: tuple[Candidate, ...]
    lines: tuple[str, ...]
    end: str
    chars: int
    error: str = ""
    sample: bool = False


@dataclass(frozen=True, slots=True)
class EndView:
    """The typed text in tokens at the end of the run, which has `steps` steps."""

    steps: int
    tokens: tuple[EncodedToken, ...]


@dataclass(frozen=True, slots=True)
class CostView:
    """The cost of what-ifs at the position: of the column `changed` against the column `run`, by their keys.
    """

    run: int
    changed: int
    cost: Cost


@dataclass(frozen=True, slots=True)
class Between:
    """The comparison of columns that are shown side by side.

    Attributes:
        aligned: The typed text, or a passage, encoded by each.
        divergences: The first differing step of each two columns.
        overlaps: The overlap of each two vocabularies; empty until known.
        tokens: The list of tokens that the view requests; None without one.
        measured: The measures of the columns that are counted; None until one is.
        held_measured: The same on the second corpus.
        agreed: The agreement of each two columns; None until it is known.
        curves: The curves; None if they are not shown.
        costs: The costs of the what-ifs of columns, as far as they are known.
        held_out: The name of the second corpus; empty without one.
        ended: True if every column is at its end.
        busy: The background query under way.
        failed: A line for each failed query, with the reason.
    """

    aligned: Aligned = Aligned()
    divergences: tuple[DivergenceView, ...] = ()
    overlaps: tuple[SharedTokens, ...] = ()
    tokens: TokensInBoth | None = None
    measured: Measured | None = None
    held_measured: Measured | None = None
    agreed: Agreed | None = None
    curves: Curves | None = None
    costs: tuple[CostView, ...] = ()
    held_out: str = ""
    ended: bool = False
    busy: Busy | None = None
    failed: tuple[str, ...] = ()


_START = Position()
_NOTHING = Between()


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """The corpus that is open.

    Attributes:
        name: The name, not yet safe to draw; `bytes` its size.
        notes: Sentences on what reading noticed (bytes that are not UTF-8, files left out), and on text that
            the split leaves out.
        nothing_open: Whether no corpus is open.
    """

    name: str = ""
    bytes: int = 0
    notes: tuple[str, ...] = ()
    nothing_open: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The state of a session at a moment.

    Attributes:
        version: Grows with every snapshot of a session.
        corpus: The corpus.
        columns: The columns, from the left; the main screen shows the first.
        position: The position that the columns are kept at.
        goal: The position that the columns walk to; None if they do not.
        running: True if it plays; `speed` in steps a second, None for as fast as it can.
        coming: In the last part of the pause before a step of a slow run, the exact bytes of the tokens that
            this step merges; empty otherwise, and for a step that merges none.
        busy: The long work in progress; None if there is none.
        asked: The progress of a question that takes long, with the time left; None if there is none.
        waiting: The commands that are queued, in words; empty if none is.
        keep_place: Position to restore after switching recipes: same `step` or vocabulary `size`.
        engine: The engine, in a few words.
        plain: The values of the recipes, as `axis=value`, for which plain Python trains, and for which it
            counts, although kernels are loaded; each empty for none.
        parked: The number of hidden columns after the first, to be shown again by `Compare`.
        between: The comparison of the columns; empty with a single column.
    """

    version: int
    corpus: CorpusFacts
    columns: tuple[ColumnSnapshot, ...]
    position: Position = _START
    goal: Position | None = None
    running: bool = False
    speed: int | None = None
    coming: tuple[bytes, ...] = ()
    busy: Busy | None = None
    asked: Busy | None = None
    waiting: str = ""
    keep_place: str = "step"
    engine: str = ""
    plain: tuple[str, str] = ("", "")
    parked: int = 0
    between: Between = _NOTHING

    @cached_property
    def main(self) -> ColumnSnapshot:
        """The first column."""
        return self.columns[0]

    @property
    def engine_said(self) -> str:
        """The engine in a few words, with the first recipe value for which plain Python trains or counts
        although kernels are loaded."""
        trains, counts = self.plain
        if trains:
            return f"{PLAIN} for {trains}, else {self.engine}"
        return f"{self.engine}; {PLAIN} counts by {counts}" if counts else self.engine
