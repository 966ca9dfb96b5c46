"""What is found of columns beside each other: where they part, how they encode, what they share and what that measures."""

from __future__ import annotations

from dataclasses import dataclass

from tokentui.analyze.agreement import Agreement
from tokentui.analyze.align import Alignment
from tokentui.analyze.figures import Row
from tokentui.analyze.together import Parting
from tokentui.session.compared.columns import Passage, Position
from tokentui.session.snapshot import Busy, EncodedToken, LossRow, PairRow, RoundView

PARTS = ("common", "only_a", "only_b", "never_b", "never_a")
"""The lists of two vocabularies. `never_b` are those of `only_a` that B makes at no step of its whole run (or has not in its
whole file); `never_a` the other way round."""

CURVES: tuple[tuple[str, str, str], ...] = (
    ("tokens", "tokens left", "N"),
    ("bytes_per_token", "bytes per token", "B / N"),
    ("bits", "bits at a fixed length", "N·log2 V"),
    ("in_use", "vocabulary in use", "U / V"),
)
"""The curves: the field of `Curve`, its title and its formula."""


@dataclass(frozen=True, slots=True)
class PartingSide:
    """A column before the step at which it parts from another.

    `choice` is the pair that it takes, `round` what a round of a unigram model does; both are None where it has ended, and
    `end` says why. `pairs` are its candidates, best first; `tied` how many share the best value, `tie_rule` what chooses among
    these; `tokens` and `vocab_size` stand before the step.
    """

    choice: PairRow | None
    round: RoundView | None
    end: str | None
    pairs: tuple[PairRow, ...] | tuple[LossRow, ...]
    tied: int
    tie_rule: str
    tokens: int
    vocab_size: int


@dataclass(frozen=True, slots=True)
class PartingView:
    """The first step that two columns, by their keys, make differently.

    Attributes:
        a: The key of the one further left.
        b: The key of the other.
        looked: The steps that were found alike.
        step: The step, from 1; None where none was found (yet).
        sides: Both sides of it; empty without a step.
        busy: The search under way, None where it is over or was given up.
        done: Whether it is over: without a step, the columns are alike to their end.
        literal: Whether merges are compared as they are spelled; else by what they mean.
        other: The step by the other way to compare, where it is another one.
    """

    a: int
    b: int
    looked: int
    step: int | None
    sides: tuple[PartingSide, ...]
    busy: Busy | None
    done: bool
    literal: bool = False
    other: int | None = None


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two columns, by their keys, agree: on the text that is shown, or on the corpus. `partings` are the stretches of
    the corpus that they cut otherwise most often (of the text that is shown: none, `Aligned.alignment.partings` has them)."""

    a: int
    b: int
    agreement: Agreement
    partings: tuple[Parting, ...] = ()


@dataclass(frozen=True, slots=True)
class Aligned:
    """The text that is shown, encoded by each column at the position.

    Attributes:
        text: The text: what was typed, or the passage.
        passage: Where it stands in the corpus, None for what was typed.
        keys: The columns that encode it, by their keys: a row each.
        alignment: Their rows under each other; None where none encodes it.
        tokens: The tokens of each row; a cell's `token` is a place in it.
        bytes: The bytes of the text.
        pairs: How far each two rows agree.
        refused: The columns that refuse it, by their keys, and why.
        left: How many characters of a long text are left out.
    """

    text: str
    passage: Passage | None
    keys: tuple[int, ...]
    alignment: Alignment | None
    tokens: tuple[tuple[EncodedToken, ...], ...]
    bytes: int
    pairs: tuple[PairAgreement, ...]
    refused: tuple[tuple[int, str], ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class OverlapCounts:
    """How many tokens two vocabularies share, by the keys of their columns.

    By exact bytes, and bare: without marks and without a space in front. `never_b` and `never_a` count what the other never makes
    in its whole run, None until that is known: it is looked for where one of these lists is shown.
    """

    at: Position
    a: int
    b: int
    common: int
    only_a: int
    only_b: int
    jaccard: float | None
    bare_common: int
    bare_only_a: int
    bare_only_b: int
    bare_jaccard: float | None
    never_b: int | None = None
    never_a: int | None = None


@dataclass(frozen=True, slots=True)
class TokenInBoth:
    """A token of two vocabularies: its id and its uses in the corpus in either, None where it is not there (or, of a special, not
    counted)."""

    piece: bytes
    id_a: int | None
    id_b: int | None
    uses_a: int | None
    uses_b: int | None


@dataclass(frozen=True, slots=True)
class VocabularyLook:
    """A list of two vocabularies, by the keys of their columns, that is wanted: rows from `top` on of those that hold a text.

    `part` is one of `PARTS`; `bare` compares without marks, which the `never` lists have not.
    """

    a: int
    b: int
    part: str = "common"
    bare: bool = False
    find: str = ""
    top: int = 0
    rows: int = 60


@dataclass(frozen=True, slots=True)
class VocabularyRows:
    """The rows that `look` asked for, of `total` that hold its text. `look.top` is where they begin.

    `busy` is the walk to the end of a run that a `never` list needs; there are no rows until it is over.
    """

    at: Position
    look: VocabularyLook
    total: int
    rows: tuple[TokenInBoth, ...]
    busy: Busy | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of a corpus, a column of figures for each key in `keys`.

    Attributes:
        at: The position that they belong to.
        corpus: The name of the corpus.
        keys: The columns, by their keys.
        rows: The measures; under each set of conventions a row of its own.
        errors: Why a column has no figures, by its key.
        agreements: How far each two agree on the corpus; None until that is known.
    """

    at: Position
    corpus: str
    keys: tuple[int, ...]
    rows: tuple[Row, ...]
    errors: tuple[tuple[int, str], ...]
    agreements: tuple[PairAgreement, ...] | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A column's curves on one corpus, as the tokenizer of each step encodes it.

    Attributes:
        key: The column.
        held_out: Whether it is the second corpus.
        steps: The steps, ascending, from 0.
        tokens: The corpus in tokens after each.
        bytes_per_token: Bytes for each of these; None where there is none.
        bits: N·log2 V.
        in_use: The share of the ids that the corpus holds; empty until it is known.
        error: Why there is none, in one line.
    """

    key: int
    held_out: bool
    steps: tuple[int, ...]
    tokens: tuple[int, ...]
    bytes_per_token: tuple[float | None, ...]
    bits: tuple[float, ...]
    in_use: tuple[float, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of all columns. `end` is the furthest step of any; `marks` the step that each column, by its key, stands at."""

    end: int
    series: tuple[Curve, ...]
    marks: tuple[tuple[int, int], ...]
