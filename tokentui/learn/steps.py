"""The values that a trainer walks by: events, steps, stops, places in the corpus.

A step is a transaction of events: a merge of byte-pair encoding is one event, a step of PickyBPE is a merge
and the removals that follow from it, a round of a unigram training gives all pieces new scores. Symbols are
numbered in the order in which they first come to be and stay in the table: readers hold the vocabulary at a
step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from tokentui.core.records import dataclass
from tokentui.encode.events import MAKING, Event


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
    def sentence(self) -> str:
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
    def sentence(self) -> str:
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
