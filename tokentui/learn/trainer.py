"""The face of a trainer: steps made of events, and what can be asked at a step. Every objective has it; nothing is left out.

A step is a transaction of events. A merge of byte-pair encoding is one event; a step of PickyBPE is a merge and the removals
that follow from it; a round of a unigram training gives all pieces new scores. Symbols are numbered in the order in which they
first come to be and are never taken from the table: readers hold the vocabulary *at a step*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from tokentui.encode.tokenizer import Tokenizer
from tokentui.recipe import Recipe

Row = TypeVar("Row")


class Kind(StrEnum):
    """What an event does."""

    MERGE = "merge"  # parts stand for one symbol now
    SPLIT = "split"  # a symbol is replaced by its parts wherever it stands, and leaves the vocabulary
    REMOVE = "remove"  # a symbol leaves the vocabulary; nothing in the corpus changes
    RESTORE = "restore"  # a symbol that left comes back
    DEMOTE = "demote"  # a symbol stays for merging and is not given out
    UNLOCK = "unlock"  # a whole pre-token may be merged with its neighbours from now on
    COVER = "cover"  # a symbol is laid over the places where its text stands
    SWITCH = "switch"  # the corpus is cut in another way from now on
    SCORES = "scores"  # all pieces are weighed anew
    TOKEN = "token"  # a token of a file comes into use


class Event(NamedTuple):
    """One event of a step.

    Attributes:
        kind: What it does.
        symbol: The symbol that comes, goes or changes; -1 for `SWITCH` and `SCORES`.
        parts: The symbols that it is made of (`MERGE`), or that stand in its place afterwards (`SPLIT`, `REMOVE`).
        places: In how many places it could be done, by weight.
        replaced: In how many it was done; overlapping places are done once.
        view: Which view of the corpus it changes: 0 the words, 1 the documents as rows of pre-tokens.
    """

    kind: Kind
    symbol: int
    parts: tuple[int, ...] = ()
    places: int = 0
    replaced: int = 0
    view: int = 0


class Symbols:
    """The table of symbols: exact bytes, numbered as they first come to be. It only grows.

    Args:
        base: The units.
    """

    def __init__(self, base: Iterable[bytes]) -> None:
        self.pieces = list(base)
        self.base_size = len(self.pieces)
        self.by_piece = {piece: symbol for symbol, piece in enumerate(self.pieces)}

    def named(self, piece: bytes) -> int:
        """The symbol of these bytes, a new one where there is none yet."""
        if piece not in self.by_piece:
            self.by_piece[piece] = len(self.pieces)
            self.pieces.append(piece)
        return self.by_piece[piece]


class Stop(StrEnum):
    """Why a run ends."""

    MERGES = "merges"
    VOCAB_SIZE = "vocab_size"
    MIN_COUNT = "min_count"
    NO_PAIR = "no pair left"
    LAST = "the last token"


@dataclass(frozen=True, slots=True)
class Stops:
    """When a run ends. Any of them together; a run also ends where there is no candidate.

    Attributes:
        merges: The number of steps in all.
        vocab_size: The number of ids, specials counted.
        min_count: A candidate that stands less often is not taken.
        max_length: No token is longer than so many units.
    """

    merges: int | None = None
    vocab_size: int | None = None
    min_count: int = 1
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step, as it was made.

    Attributes:
        number: Its number, 1 for the first.
        kind: What a person calls it: `merge`, `em`, `prune`, `cover`.
        events: What it did, in order.
        part: The part of the corpus that decided, such as a language; 0 where there is one.
        tied: How many candidates shared the best value.
        tokens: The length of each part of the corpus in tokens after it, by weight.
        vocab_size: The number of ids after it.
        worth: What it was chosen for, see `Candidate`.
        values: Its values then, in the order of `Traits.columns`.
    """

    number: int
    kind: str
    events: tuple[Event, ...]
    part: int
    tied: int
    tokens: tuple[int, ...]
    vocab_size: int
    worth: int | Fraction = 0
    values: tuple[object, ...] = ()


class Column(NamedTuple):
    """A column of the candidates. `kind` is `count`, `score`, `share` or `text`; a screen maps it to a width and a colour."""

    name: str
    unit: str
    kind: str


class Traits(NamedTuple):
    """What a screen has to know of a trainer, and does not ask its objective's name for.

    Attributes:
        grows: Whether steps add tokens.
        shrinks: Whether steps take tokens away.
        heavy: Whether one step takes long, so that others wait for it.
        substeps: Whether a step can be walked through piece by piece.
        engine: What runs: `plain Python`, `kernels`, or the first and why.
        columns: The columns of the candidates.
        orders: The orders in which the vocabulary can be listed.
    """

    grows: bool = True
    shrinks: bool = False
    heavy: bool = False
    substeps: bool = False
    engine: str = "plain Python"
    columns: tuple[Column, ...] = ()
    orders: tuple[str, ...] = ("newest", "most used", "longest", "id")


class Candidate(NamedTuple):
    """What the next step may take.

    Attributes:
        key: What the trainer knows it by, such as the pair of its symbols.
        parts: The exact bytes of what it is made of.
        token: The exact bytes of what it makes.
        worth: What candidates are ordered by, the greatest first: a count, or a score as an exact fraction.
        values: Its values, in the order of `Traits.columns`.
        tied: Whether another one is exactly as good.
        part: The part of the corpus that decides.
    """

    key: tuple[int, ...]
    parts: tuple[bytes, ...]
    token: bytes
    worth: int | Fraction
    values: tuple[object, ...] = ()
    tied: bool = False
    part: int = 0


class Entry(NamedTuple):
    """An entry of the vocabulary at a step.

    Attributes:
        id: Its id, None for what has none.
        symbol: Its symbol, -1 for a special.
        piece: Its exact bytes.
        kind: `special`, `byte`, `unit`, `merge`, `piece`.
        made: The step that made it, 0 for what is there from the start.
        uses: How often it stands in the corpus, by weight.
    """

    id: int | None
    symbol: int
    piece: bytes
    kind: str
    made: int
    uses: int


class Query(NamedTuple):
    """Which rows are asked for: so many from `top` on in an order, or only those that hold one of the texts in `match`."""

    top: int = 0
    rows: int = 100
    order: str = "newest"
    match: tuple[bytes, ...] = ()


class Page(NamedTuple, Generic[Row]):
    """Rows from `top` on, of `total`."""

    rows: tuple[Row, ...]
    top: int
    total: int


class Span(NamedTuple):
    """A token in a word: units `start` to `end` of it, and its symbol; -1 for what the vocabulary lacks."""

    start: int
    end: int
    symbol: int


class Stretch(NamedTuple):
    """A piece of a document: characters `start` to `end` of its normalised text."""

    document: int
    start: int
    end: int


Place = str | Stretch
"""A pre-token by its text, or a stretch of a document."""


class Changed(NamedTuple):
    """What a step changed: words by their number and documents by theirs; `everything` where both are too many to name."""

    words: frozenset[int] = frozenset()
    documents: frozenset[int] = frozenset()
    everything: bool = False

    def joined(self, other: Changed) -> Changed:
        """Both changes together."""
        return Changed(self.words | other.words, self.documents | other.documents, self.everything or other.everything)


class Life(NamedTuple):
    """A word from a step on, until the next entry: its pieces."""

    number: int
    pieces: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Why:
    """Why a step is what it is.

    Attributes:
        best: What is taken, None at the end.
        runner_up: What would be taken were the best one not there.
        tied: How many candidates share the best value.
        replaced: How many places change, by weight.
        rule: The tie rule that decides.
        end: Why there is no next step, None where there is one.
        facts: Further sentences.
    """

    best: Candidate | None
    runner_up: Candidate | None
    tied: int
    replaced: int
    rule: str
    end: Stop | None
    facts: tuple[str, ...] = ()


class Size(NamedTuple("Size", [("ids", int)])):
    """A step at which the vocabulary has come to so many ids."""


class Tokens(NamedTuple("Tokens", [("tokens", int)])):
    """A step at which the corpus has come to so many tokens."""


class Made(NamedTuple("Made", [("tokens", frozenset[bytes])])):
    """A step at which one of these tokens comes or goes, by exact bytes."""


Goal = Size | Tokens | Made


class WhatIf(NamedTuple):
    """A change of a run: `forbid` a token from a step on, `force` one at a step, or `leave out` the step that makes it.

    Attributes:
        what: `forbid`, `force` or `leave out`.
        parts: The exact bytes of the candidate's parts.
        number: The step before which it holds.
    """

    what: str
    parts: tuple[bytes, ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a candidate has to be at a step: often enough, short enough, not forbidden; or the one that is forced.

    `number` is the step before it. An engine that needs it, because early steps follow another rule, finds it here and not in a
    counter of its own, which a fork or a step back would have to mend.
    """

    number: int = 0
    min_count: int = 1
    max_length: int | None = None
    forbidden: frozenset[tuple[bytes, ...]] = frozenset()
    forced: tuple[bytes, ...] = ()


class Trainer(Protocol):
    """A training at a step, over a corpus of one or several parts.

    Attributes:
        recipe: What is trained.
        what_if: The changes of the run.
        number: The step where it stands, 0 for the start.
        computed: The furthest step that has been made; those after `number` are made again without choosing.
        memory: The bytes that the corpus as it is laid out, the history and the checkpoints take.
        traits: What a screen has to know of it.
    """

    recipe: Recipe
    what_if: tuple[WhatIf, ...]
    number: int
    traits: Traits

    @property
    def computed(self) -> int: ...

    @property
    def memory(self) -> int: ...

    def advance(self, goal: int | None, stops: Stops, seconds: float) -> Stop | None:
        """Walk towards a step, back or forward, or on to a stop (`goal` None), for about so many seconds.

        Returns:
            Why it stands still: `Stop.MERGES` at the goal. None where time is up and there is more to do.
        """

    def find(self, goal: Goal, after: int = 0) -> int | None:
        """The first computed step after a step at which a goal is reached; None where there is none yet."""

    def step_at(self, number: int) -> Step:
        """A computed step, 1 for the first."""

    def why(self, number: int, stops: Stops) -> Why:
        """Why a step is what it is: one that was made, or `number + 1`, the one to come."""

    def candidates(self, query: Query) -> Page[Candidate]:
        """What the next step may take, best first."""

    def vocabulary(self, query: Query) -> Page[Entry]:
        """The entries at this step."""

    def segment(self, place: Place) -> Sequence[Span]:
        """How a place of the corpus, or any text, is cut at this step."""

    def changed(self) -> Changed:
        """What the last step changed."""

    def life(self, word: str) -> Sequence[Life]:
        """How a word of the corpus was cut, from step 0 up to this one."""

    def tokenizer(self, number: int | None = None) -> Tokenizer:
        """The tokenizer of a computed step, of the present one where None."""

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> Trainer:
        """Another training that stands at a computed step and goes on under what-ifs. The steps before are shared."""


Mark: TypeAlias = Any
"""Where an engine or a method stood, as it alone understands it."""


class Engine(Protocol):
    """The corpus as it is cut now, used by one thread: events are applied to it and taken back.

    Attributes:
        symbols: The table of symbols.
        tied: How many candidates were as good as the best one when that was asked for last.
    """

    symbols: Symbols
    tied: int

    def best(self, under: Constraints) -> Candidate | None:
        """The best candidate that the constraints allow, None where there is none."""

    def candidates(self, under: Constraints) -> list[Candidate]:
        """The candidates that the constraints allow, best first."""

    def tokens(self) -> tuple[int, ...]:
        """The length of each part of the corpus in tokens, by weight."""

    def units(self, word: str) -> list[int]:
        """A word as the symbols of its units."""

    def after(self, symbols: list[int], event: Event) -> list[int]:
        """A word's symbols after an event."""

    def apply(self, event: Event) -> tuple[Event, Changed]:
        """Do an event. Returns it with the places that it replaced, and what it changed."""

    def mark(self) -> Mark:
        """Where the engine stands, for `revert`."""

    def revert(self, mark: Mark) -> None:
        """Go back to a mark; marks that were made after it hold no longer."""


class Method(Protocol):
    """What makes an objective: what follows from taking a candidate, and which symbols count."""

    @property
    def size(self) -> int:
        """The number of ids now, specials counted."""

    def events(self, best: Candidate) -> Iterator[Event]:
        """The events of a step, one after the other. Each is applied before the next is asked for, so that what follows may
        depend on what the one before did."""

    def note(self, event: Event) -> None:
        """Take in an event that was applied, now or again."""

    def kind(self, events: Sequence[Event]) -> str:
        """What a person calls a step of these events."""

    def mark(self) -> Mark:
        """Where the method stands, for `revert`."""

    def revert(self, mark: Mark) -> None:
        """Go back to a mark."""
