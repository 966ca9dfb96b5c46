"""The values that a trainer walks by: events, steps, stops, places in the corpus.

A step is a transaction of events: a merge of byte-pair encoding is one event, a step of PickyBPE is a merge
and the removals that follow from it, a round of a unigram training gives all pieces new scores. Symbols are
numbered in the order in which they first come to be and stay in the table: readers hold the vocabulary at a
step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

from tokentui.core.records import dataclass
from tokentui.encode.events import MAKING as MAKING
from tokentui.encode.events import Event as Event
from tokentui.encode.events import Kind as Kind
from tokentui.encode.vocabulary import Vocabulary


class Stop(StrEnum):
    """The reason why a run ends. The words are those of the trace."""

    MERGES = "merges"
    VOCAB_SIZE = "vocab_size"
    MIN_COUNT = "min_count"
    NO_PAIR = "no pair left"
    LAST = "the last step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step, as it was made.

    Attributes:
        number: Its number, 1 for the first; 0 stands for the start.
        kind: Its name for people: `merge`, `em`, `prune`, `cover`.
        events: The events, in order.
        part: The part of the corpus that decided, such as a language; 0 where there is one.
        tied: The number of candidates that shared the best value.
        tokens: The length of the corpus in tokens after it, by weight.
        lengths: The length of each part of the corpus, where there are several.
        vocab_size: The number of ids after it.
    """

    number: int
    kind: str = "merge"
    events: tuple[Event, ...] = ()
    part: int = 0
    tied: int = 1
    tokens: int
    lengths: tuple[int, ...] = ()
    vocab_size: int

    @property
    def made(self) -> int:
        """The symbol that the step made, -1 where it made none."""
        return next((event.symbol for event in self.events if event.kind in MAKING), -1)

    @property
    def said(self) -> str:
        """The step in words; a step that takes a candidate is told by that."""
        return self.kind

    @property
    def decision(self) -> tuple[object, ...]:
        """The decision of it, by which two trainings are compared: all of its row, where it has none alone.
        """
        return tuple(self.row.values())

    @property
    def row(self) -> dict[str, object]:
        """Its row in a trace for machines."""
        return {"step": self.number, "kind": self.kind, "tokens": self.tokens, "vocab_size": self.vocab_size}


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStep(Step):
    """A merge, as it was made.

    Attributes:
        left: The exact bytes of the left part, marks included.
        right: Those of the right part.
        token: Those of the token that it made.
        id: The id of the token.
        count: The number of places where the pair stood, overlapping ones too, by weight.
        replaced: The number of them that were merged.
        score: The value of its objective, rounded once; None where that is the count.
        left_uses: The uses of the left part before, where the objective looks at them.
        right_uses: Those of the right part.
        decided: The name of the language that decided, `all` for a merge of all together; empty where none
            does.
    """

    left: bytes
    right: bytes
    token: bytes
    id: int
    count: int
    replaced: int
    score: float | None = None
    left_uses: int = 0
    right_uses: int = 0
    decided: str = ""

    @property
    def hex(self) -> list[str]:
        """The three byte strings in lower-case hex: the exact form of the rows for machines."""
        return [self.left.hex(), self.right.hex(), self.token.hex()]

    @property
    def row(self) -> dict[str, object]:
        """Its row in a trace for machines."""
        language = {"language": self.decided} if self.decided else {}
        return {
            "step": self.number,
            **language,
            "hex": self.hex,
            "left": self.left.decode("utf-8", "replace"),
            "right": self.right.decode("utf-8", "replace"),
            "token": self.token.decode("utf-8", "replace"),
            "id": self.id,
            "count": self.count,
            "replaced": self.replaced,
            "score": self.score,
            "tied": self.tied,
            "tokens": self.tokens,
            "vocab_size": self.vocab_size,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStep(MergeStep):
    """A merge and what followed from it, as it was made.

    Attributes:
        following: Each event after the merge: its kind, the exact bytes of its symbol, and of its parts.
    """

    following: tuple[tuple[str, bytes, tuple[bytes, ...]], ...] = ()

    @property
    def said(self) -> str:
        """The events after the merge, in words."""
        done = [f"{kind} {piece.decode('utf-8', 'replace')}" for kind, piece, _ in self.following]
        return ", ".join((self.kind, *done))

    @property
    def row(self) -> dict[str, object]:
        """Its row in a trace for machines."""
        row: dict[str, object] = MergeStep.row.__get__(self)
        row["kind"] = self.kind
        row["events"] = [
            {"kind": kind, "hex": [piece.hex(), *(part.hex() for part in parts)],
             "token": piece.decode("utf-8", "replace"),
             "parts": [part.decode("utf-8", "replace") for part in parts]}
            for kind, piece, parts in self.following
        ]
        return row


class Span(NamedTuple):
    """A token in a word: units `start` to `end` of it, and its symbol, -1 for a unit that is no piece."""

    start: int
    end: int
    symbol: int


class Word(NamedTuple):
    """A pre-token, or a part of it.

    Attributes:
        text: Its text.
        first: The unit that the first token covers.
        units: The number of units from there on; None for all.
    """

    text: str
    first: int = 0
    units: int | None = None

    def within(self, spans: Iterable[Span]) -> list[Span]:
        """Those of the tokens of the pre-token that cover a unit of the part."""
        if not self.first and self.units is None:
            return list(spans)
        last = math.inf if self.units is None else self.first + self.units
        return [span for span in spans if span.end > self.first and span.start < last]


class Changed(NamedTuple):
    """The changes that a step made to how the corpus is segmented.

    Attributes:
        words: The numbers of the words that changed.
        documents: The numbers of the documents that changed.
        differs: True if a word changed, by its text: any may have. None where `words` holds them all.
    """

    words: frozenset[int] = frozenset()
    documents: frozenset[int] = frozenset()
    differs: Callable[[str], bool] | None = None


class Life(NamedTuple):
    """A pre-token from a step on, until the next entry, as the tokenizers of these steps encode it.

    Attributes:
        number: The step that cuts it in this way, 0 for the start.
        pieces: The exact bytes of its tokens, with their marks; empty for an unknown token.
    """

    number: int
    pieces: tuple[bytes, ...]


def lives(segmentations: Iterable[tuple[int, tuple[bytes, ...]]]) -> list[Life]:
    """Return an entry for each segmentation, by its step, that differs from the one before."""
    entries: list[Life] = []
    for number, pieces in segmentations:
        if not entries or entries[-1].pieces != pieces:
            entries.append(Life(number, pieces))
    return entries


class Used(NamedTuple):
    """The uses of a token in the corpus from a step on, until the next entry.

    Attributes:
        number: The step, 0 for the start.
        uses: How often it stands in the corpus, by weight.
        into: The exact bytes of the token that the step made in its places; empty where the step made the
            token itself, or tells of no such token.
    """

    number: int
    uses: int
    into: bytes = b""


# ---- between a training by merges and its engine


class Constraints(NamedTuple):
    """The conditions on a candidate at a step: often enough, short enough, not forbidden; or the one that is
    forced.

    Attributes:
        number: The step before it. A method that follows another rule in early steps looks here and keeps
            no counter of its own.
        min_count: The least count, 1 or more.
        max_length: The greatest number of units.
        forbidden: The parts of candidates that are not taken; one of a single part stands for all that make
            this token.
        forced: The parts of the candidate that is taken whatever its value is; empty for none.
    """

    number: int = 0
    min_count: int = 1
    max_length: int | None = None
    forbidden: frozenset[tuple[bytes, ...]] = frozenset()
    forced: tuple[bytes, ...] = ()


class Pair(NamedTuple):
    """A pair that may be merged.

    Attributes:
        left: The symbol of its left part.
        right: The symbol of its right part.
        places: The number of places where it stands, by weight.
        before: Its count before the last step, None for a pair that the last step made.
        left_uses: The uses of its left part in the corpus.
        right_uses: The uses of its right part.
        more: The further figures that its objective sees, in the order of `Objective.sees`.
    """

    left: int
    right: int
    places: int
    before: int | None
    left_uses: int
    right_uses: int
    more: tuple[int, ...] = ()

    @property
    def symbols(self) -> tuple[int, int]:
        """Both parts."""
        return self.left, self.right


class NGram(NamedTuple):
    """Two or more neighboring symbols that may become one.

    Attributes:
        symbols: The symbols; if they differ from place to place, those of the first place.
        places: The number of places where they occur, by weight.
        before: Their count before the last step, None if the last step made it.
        worth: The value that n-grams are ordered by.
    """

    symbols: tuple[int, ...]
    places: int
    before: int | None
    worth: int


class Merged(NamedTuple):
    """A merge that was made.

    Attributes:
        pair: The pair or n-gram, with the figures that it had then.
        replaced: The number of places that were merged, by weight.
        tied: The number of candidates that shared the best value.
        was_tied: True if another candidate was exactly as good as the pair. A forced pair need not have the
            best value.
    """

    pair: Pair | NGram
    replaced: int
    tied: int
    was_tied: bool


class Ranked(NamedTuple):
    """The candidates of a step.

    Attributes:
        total: The number of all.
        tied: The number of those that share the greatest value.
        replaced: The weight of the places of the best one that a merge replaces.
        rows: The best ones in order, after the one that is forced.
        forced: The number of candidates that are as good as the forced one, itself not counted; None where
            none is forced.
    """

    total: int
    tied: int
    replaced: int
    rows: Sequence[Pair | NGram]
    forced: int | None = None


class PlainState(NamedTuple):
    """The corpus as an engine has laid it out, and the steps that led there; see `bpe.PlainPairs`.

    Attributes:
        vocabulary: The vocabulary, with the merges of these steps alone.
        symbols: The symbol of each cell.
        pair_at: The pair of each cell.
        starts: The first cell of each word.
        length: The cells that each symbol covers.
        left: The left symbol of each pair.
        right: The right symbol of each pair.
        counts: The count of each pair.
        places: The places of each pair.
        log_place: The place of each merge.
        log_left: The pair at its left before it.
        uses: The uses of each symbol, by weight.
        tokens: The corpus in tokens after each step, the start first.
        made: Of each step the pair, the number of pairs before it and the length of the log before it.
        figures: The figures of each step.
    """

    vocabulary: Vocabulary
    symbols: list[int]
    pair_at: list[int]
    starts: list[int]
    length: list[int]
    left: list[int]
    right: list[int]
    counts: list[int]
    places: list[list[int]]
    log_place: list[int]
    log_left: list[int]
    uses: list[int]
    tokens: list[int]
    made: tuple[list[int], list[int], list[int]]
    figures: list[Merged]


class PairEngine(Protocol):
    """The pairs of a corpus and the merges made of them: plain Python (`bpe`) or kernels (`compiled`).

    It stands at the step `number` and knows the steps up to `computed`.
    """

    engine: str

    @property
    def number(self) -> int: ...
    @property
    def computed(self) -> int: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def uses(self) -> Sequence[int]: ...
    def memory(self) -> int: ...
    def walk(self, goal: int, under: Constraints) -> None: ...
    def best(self, under: Constraints) -> int: ...
    def top(self, under: Constraints, limit: int) -> Ranked: ...
    def forget(self) -> None: ...
    def merged(self, number: int) -> Merged: ...
    def tokens_at(self, number: int) -> int: ...
    def size_at(self, number: int) -> int: ...
    def words_changed(self) -> Iterable[int]: ...
    def word(self, index: int, first: int, units: int | None) -> list[Span]: ...


@runtime_checkable
class MergeEngine(Protocol):
    """An engine whose steps are one merge each, and shorten each word by a token a place."""

    def words_merged(self, number: int) -> Sequence[int]: ...


def disjoint(places: Iterable[int], weights: Iterable[int], size: int) -> int:
    """The weight of the places in which a pair of twice the same symbol is merged.

    A place that overlaps an earlier merged one stays, and does not count.

    Args:
        places: The places where it stands, ascending.
        weights: The weight of each.
        size: The length of the pair in units.
    """
    replaced = free = 0
    for place, weight in zip(places, weights, strict=True):
        if place >= free:
            replaced += weight
            free = place + size
    return replaced
