"""What the screen sees: frozen values, every one of them about the same step.

A screen shows a `Snapshot` and nothing else; it asks for other rows with a `Look`. Bytes are exact; making them safe to
draw is the screen's business, with `tokentui.safetext`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokentui.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the corpus: a document and a character of its normalised text."""

    document: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """Which rows the screen wants: the windows of its panes.

    `corpus_chars` is how much text the corpus pane wants from `corpus` on; `corpus_before` how much before it.
    `vocabulary_order` is one of `VOCABULARY_ORDERS`.
    """

    pairs_top: int = 0
    pairs_rows: int = 60
    vocabulary_top: int = 0
    vocabulary_rows: int = 60
    vocabulary_order: str = "newest"
    corpus: Place = Place()
    corpus_chars: int = 4000
    corpus_before: int = 2000
    curve_points: int = 64


VOCABULARY_ORDERS = ("newest", "most used", "longest", "id")
"""How the vocabulary may be sorted."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """A candidate. `change` is what its count changed by with the last step; `new` if the last step made it; `tied` if
    another candidate has the same count."""

    left: bytes
    right: bytes
    token: bytes
    count: int
    change: int
    new: bool
    tied: bool


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A vocabulary entry. `kind` is special, byte, base or merge; `step` and `count` say when and how often its pair stood
    when it was born (None but for merges); `uses` is how often it stands in the corpus now, None where it cannot."""

    id: int
    piece: bytes
    kind: str
    step: int | None
    count: int | None
    uses: int | None


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A token inside a piece of the corpus: characters start to end of the piece.

    `fresh` if the last step made it; `partial` if it begins or ends inside a character (it covers that character then).
    """

    start: int
    end: int
    fresh: bool
    partial: bool


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """A pre-token of the running text with its tokens, or text between two that the split drops (`tokens` is empty).

    `place` is where it starts. `times` is set for a corpus of counted words: how often the word counts.
    """

    place: Place
    text: str
    tokens: tuple[TokenSpan, ...]
    times: int | None = None


@dataclass(frozen=True, slots=True)
class CorpusView:
    """The part of the corpus that the pane shows. `parts` start at or before the place that was looked at.

    `at_start` and `at_end` say whether there is text before and after them; `position` is how far into the corpus the place is,
    from 0 to 1.
    """

    place: Place
    parts: tuple[CorpusPart, ...]
    at_start: bool
    at_end: bool
    position: float


@dataclass(frozen=True, slots=True)
class WhyView:
    """Why the next step is what it is; `end` says why there is none, in the words of the trace."""

    best: PairRow | None
    runner_up: PairRow | None
    tied: int
    replaced: int
    tie_rule: str
    end: str | None


@dataclass(frozen=True, slots=True)
class EncodedToken:
    """A token of the typed text. `piece` is None for an unknown; `start` and `end` are characters of what was typed."""

    id: int | None
    text: str
    piece: bytes | None
    start: int
    end: int
    word: int


@dataclass(frozen=True, slots=True)
class EncodedView:
    """The typed text, encoded by the tokenizer at this very step. `error` says why it could not be."""

    text: str
    tokens: tuple[EncodedToken, ...]
    bytes: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Busy:
    """A long work under way: what, how far of how much (total 0 where that is not known)."""

    what: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that the main screen shows, at one step.

    Args:
        version: Grows with every snapshot of a session.
        corpus_name: What the corpus is called, not yet safe to draw.
        corpus_bytes: Its size.
        occurrences: Its pre-tokens in all.
        distinct: Its distinct pre-tokens.
        notes: What the reader noticed (bytes that are not UTF-8, files left out).
        recipe: What is trained.
        preset: The name of the preset that the recipe is, empty if none.
        step: The step that everything here belongs to.
        known: The furthest step trained so far.
        target: The step that a run goes to, None to the end.
        tokens: The corpus in tokens now; `start_tokens` in units at the start.
        vocab_size: The number of ids now.
        running: Whether it plays; `speed` in steps a second, None for as fast as it can.
        goal: A step being walked to, None if none.
        partial: Whether only a part of the corpus has been counted.
        pairs: Candidates from `pairs_top` on, of `pairs_total`.
        vocabulary: Entries from `vocabulary_top` on, of `vocab_size`, in `vocabulary_order`.
        curve: The corpus in tokens after evenly spread steps from 0 to `curve_end`.
        busy: The long work under way, None if none.
    """

    version: int
    corpus_name: str
    corpus_bytes: int
    occurrences: int
    distinct: int
    notes: tuple[str, ...]
    recipe: Recipe
    preset: str
    step: int
    known: int
    target: int | None
    tokens: int
    start_tokens: int
    vocab_size: int
    running: bool
    speed: int | None
    goal: int | None
    partial: bool
    last: PairRow | None
    last_id: int | None
    pairs: tuple[PairRow, ...]
    pairs_top: int
    pairs_total: int
    why: WhyView
    vocabulary: tuple[TokenRow, ...]
    vocabulary_top: int
    vocabulary_order: str
    corpus: CorpusView
    encoded: EncodedView
    curve: tuple[int, ...]
    curve_end: int
    busy: Busy | None

    @property
    def bytes_per_token(self) -> float:
        """Bytes of the corpus for each token now; 0 for an empty corpus."""
        return self.corpus_bytes / self.tokens if self.tokens else 0.0
