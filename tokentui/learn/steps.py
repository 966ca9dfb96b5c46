"""Steps, and what else a trainer answers with: stops, spans of words, changes, and histories.

A step is a transaction of events. In byte-pair encoding it is one merge, in PickyBPE a merge and the removals
that follow from it, and in a unigram training new scores for all pieces. Symbols are numbered in the order in
which steps first make them, and a number is never given to another symbol.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from tokentui.core.records import dataclass
from tokentui.encode.events import MAKING, Event


class Stop(StrEnum):
    """The reason why a run ends, as it is written in a trace."""

    MERGES = "merges"
    VOCAB_SIZE = "vocab_size"
    MIN_COUNT = "min_count"
    NO_PAIR = "no pair left"
    LAST = "the last step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step that was made.

    Attributes:
        number: The number of the step, 1 for the first.
        kind: The kind of step as people read it, such as `merge`, `em`, `prune` or `cover`.
        events: The events of the step, in order.
        part: The index of the part of the corpus that decided it, such as a language; 0 if there is one part.
        tied: The number of candidates that shared the best value.
        tokens: The length of the corpus in tokens after it, by weight.
        lengths: The length of each named part of the corpus in tokens after it; empty if there are none.
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
        """The symbol that the step made, -1 if it made none."""
        return next((event.symbol for event in self.events if event.kind in MAKING), -1)

    @property
    def sentence(self) -> str:
        """The step in words. Callers that show the candidate of a step show this only without one."""
        return self.kind

    @property
    def decision(self) -> tuple[object, ...]:
        """What two trainings are compared by, such as the merged parts; by default the whole row."""
        return tuple(self.row.values())

    @property
    def row(self) -> dict[str, object]:
        """The row of the step in a trace, as JSON values."""
        return {"step": self.number, "kind": self.kind, "tokens": self.tokens, "vocab_size": self.vocab_size}


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStep(Step):
    """A step that merged a pair.

    Attributes:
        left: The exact bytes of the left part, marks included.
        right: The exact bytes of the right part, marks included.
        token: The exact bytes of the token that it made.
        id: The id of that token.
        count: The number of places where the pair occurred, overlapping ones too, by weight.
        replaced: The number of these places that were merged, by weight.
        score: The value of the pair, rounded; None if pairs are ordered by their counts.
        left_uses: The uses of the left part before the merge, 0 if the value does not depend on them.
        right_uses: The uses of the right part before the merge, likewise.
        decided: The name of the language that decided, `all` for all languages together; empty in a training
            that is not over languages.
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
        """Left part, right part and token in lower-case hex."""
        return [self.left.hex(), self.right.hex(), self.token.hex()]

    @property
    def row(self) -> dict[str, object]:
        """The row of the step in a trace, as JSON values."""
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
    """A step that merged a pair, with the events that followed from that.

    Attributes:
        following: Each event after the merge: its kind, the exact bytes of its symbol, and those of its
            parts.
    """

    following: tuple[tuple[str, bytes, tuple[bytes, ...]], ...] = ()

    @property
    def sentence(self) -> str:
        """The kind of the step and the events after the merge, in words."""
        following = [f"{kind} {piece.decode('utf-8', 'replace')}" for kind, piece, _ in self.following]
        return ", ".join((self.kind, *following))

    @property
    def row(self) -> dict[str, object]:
        """The row of the step in a trace, as JSON values."""
        row: dict[str, object] = MergeStep.row.__get__(self)
        row["kind"] = self.kind
        row["events"] = [
            {"kind": kind, "hex": [piece.hex(), *(part.hex() for part in parts)],
             "token": piece.decode("utf-8", "replace"),
             "parts": [part.decode("utf-8", "replace") for part in parts]}
            for kind, piece, parts in self.following
        ]
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class NGramStep(Step):
    """A step that made one token of an n-gram of tokens.

    Attributes:
        parts: The exact bytes of the tokens; if they differ by place, those of the first place.
        token: The exact bytes of the token that it made.
        id: The id of that token.
        count: The number of places where the n-gram occurred, by weight.
        replaced: The number of places that changed, by weight.
        worth: The value that it was chosen for.
        saved: The number of tokens that the corpus lost.
    """

    parts: tuple[bytes, ...]
    token: bytes
    id: int
    count: int
    replaced: int
    worth: int
    saved: int

    @property
    def decision(self) -> tuple[bytes, ...]:
        """The tokens that were merged into one token, by which two trainings are compared."""
        return self.parts

    @property
    def row(self) -> dict[str, object]:
        """The row of the step in a trace, as JSON values."""
        return {
            "step": self.number, "kind": self.kind,
            "hex": [*(part.hex() for part in self.parts), self.token.hex()],
            "parts": [part.decode("utf-8", "replace") for part in self.parts],
            "token": self.token.decode("utf-8", "replace"), "id": self.id, "count": self.count,
            "replaced": self.replaced, "score": self.worth, "saved": self.saved, "tied": self.tied,
            "tokens": self.tokens, "vocab_size": self.vocab_size,
        }


class Span(NamedTuple):
    """A token in a word.

    Attributes:
        start: The index of its first unit in the word.
        end: The index after its last unit.
        symbol: Its symbol; -1 for an unknown unit.
    """

    start: int
    end: int
    symbol: int


class Word(NamedTuple):
    """A pre-token, or a part of it.

    Attributes:
        text: The text of the whole pre-token.
        first: The index of the first unit of the part.
        units: The number of units of the part; None for all from there on.
    """

    text: str
    first: int = 0
    units: int | None = None

    def within(self, spans: Iterable[Span]) -> list[Span]:
        """Return the tokens of the pre-token that cover a unit of the part."""
        if not self.first and self.units is None:
            return list(spans)
        last = math.inf if self.units is None else self.first + self.units
        return [span for span in spans if span.end > self.first and span.start < last]


class Changed(NamedTuple):
    """The changes that a step made to the segmentation of the corpus.

    Attributes:
        words: The indexes of the words that changed.
        documents: The indexes of the documents that changed.
        differs: Returns whether a word changed, by its text, for a step that may change any word. None if
            `words` has all words that changed.
    """

    words: frozenset[int] = frozenset()
    documents: frozenset[int] = frozenset()
    differs: Callable[[str], bool] | None = None


class Life(NamedTuple):
    """The segmentation of a pre-token from a step on, until the step of the next entry.

    Attributes:
        number: The step that cuts it in this way, 0 for the start.
        pieces: The exact bytes of its tokens, with their marks; empty bytes for an unknown token.
    """

    number: int
    pieces: tuple[bytes, ...]


class Used(NamedTuple):
    """The uses of a token in the corpus from a step on, until the step of the next entry.

    Attributes:
        number: The step, 0 for the start.
        uses: How often the token occurs in the corpus, by weight.
        into: The exact bytes of the token that replaced some of the uses at the step. Empty if the step made
            the token itself, or it is not known.
    """

    number: int
    uses: int
    into: bytes = b""
