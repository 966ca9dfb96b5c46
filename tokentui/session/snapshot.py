"""What the screen sees: frozen values, every one of them about the same step.

A screen shows a `Snapshot` and nothing else; it asks for other rows with a `Look`. Bytes are exact; making them safe to
draw is the screen's business, with `tokentui.core.safetext`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tokentui.recipe import Ending, Recipe


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
    another candidate is exactly as good. `left_uses` and `right_uses` are how often its two symbols stand in the corpus,
    `score` is the WordPiece score that they give. `marks` is how many bytes at the front and at the end of the token are the
    recipe's mark, which is no text. Where a byte stands for the pair (Gage), `token` is that byte and `spelled`
    what it expands to.
    """

    left: bytes
    right: bytes
    token: bytes
    count: int
    change: int
    new: bool
    tied: bool
    left_uses: int = 0
    right_uses: int = 0
    score: float = 0.0
    spelled: bytes = b""
    marks: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class BirthRow(PairRow):
    """A token of an opened tokenizer that is still to be born, or, where all are, one that was `born`.

    It is birth `number` and has this `id`; `parts` are what its bytes are before: the two of a merge (`left` and `right` are
    these), or as many tokens as they are cut into. `count` is how many tokens of it the corpus has as soon as it is born, `words`
    how many distinct words change; `place` says where it stands in the file.
    """

    number: int = 0
    id: int = 0
    parts: tuple[bytes, ...] = ()
    words: int = 0
    place: str = ""
    born: bool = False


@dataclass(frozen=True, slots=True)
class LossRow:
    """A piece of a unigram model as the coming pruning judges it, least loss first.

    `expected` is how often it was expected in the corpus when that was last counted, `uses` how often the best segmentations have
    it, `loss` by how much the mean log probability of a token falls without it (infinite for what nothing can replace),
    `alternative` what would stand for it, `goes` whether the pruning drops it and `reason` why, `taken` whether the walk through
    a pruning has dropped it already.
    """

    piece: bytes
    probability: float
    expected: float
    uses: int
    loss: float
    alternative: tuple[bytes, ...]
    goes: bool
    reason: str
    taken: bool = False


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A vocabulary entry. `kind` is special, byte, base, merge, piece (of a unigram model), orphan (of a file: no merge makes it)
    or left (a piece that the last step dropped: it has no id); `step` and `count` say when and how often its pair stood when it
    was born (None but for merges); `uses` is how often it stands in the corpus now, None where it cannot. `score` is a piece's
    natural log probability, of one that left the figure that it was dropped for; `reason` why it left, or why no text becomes it;
    `parents` are the two tokens that a merge was made of; `marks` is how many bytes at its front and at its end are the mark.
    """

    id: int | None
    piece: bytes
    kind: str
    step: int | None
    count: int | None
    uses: int | None
    score: float | None = None
    reason: str = ""
    parents: tuple[bytes, ...] = ()
    marks: tuple[int, int] = (0, 0)


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
class RoundView:
    """Where a unigram training stands.

    `last` is what the last step did (`seeds` at step 0, `em`, `prune` or `cut`), in which `round` from 1; `pieces` how many there
    are, `dropped` how many the last step dropped, `objective` the mean negative log probability of a word, `before` the one
    before the last step (None at the start). `next` is what the next step does, empty at the end; `going` how many
    pieces it drops as far as that is known (None before an EM step) and `taken` how many of these a walk through the pruning
    has dropped already.
    """

    last: str
    round: int
    pieces: int
    dropped: int
    objective: float
    before: float | None
    next: str
    going: int | None
    taken: int = 0


@dataclass(frozen=True, slots=True)
class WhyView:
    """Why the next step is what it is; `end` says why there is none, in the words of the trace. `facts` are further sentences;
    `round` is there for a unigram training, whose steps are no pairs."""

    best: PairRow | None
    runner_up: PairRow | None
    tied: int
    replaced: int
    tie_rule: str
    end: str | None
    facts: tuple[str, ...] = ()
    round: RoundView | None = None


class EncodedToken(NamedTuple):
    """A token of the typed text. `piece` is None for an unknown; `start` and `end` are characters of what was typed."""

    id: int | None
    text: str
    piece: bytes | None
    start: int
    end: int
    word: int


@dataclass(frozen=True, slots=True)
class EncodedView:
    """The typed text, encoded by the tokenizer at this very step. `error` says why it could not be, `lost` what decoding the ids
    does not give back, and `back` what it gives back then; they are empty where the text comes back as it was typed."""

    text: str
    tokens: tuple[EncodedToken, ...]
    bytes: int
    error: str | None = None
    lost: tuple[str, ...] = ()
    back: str = ""


@dataclass(frozen=True, slots=True)
class PiecePart:
    """A stretch of a text as the split cuts it: a pre-token, or what is dropped between two (`branch` is None then).

    `start` and `end` are characters of the normalised text; `branch` is a place in `PiecesView.branches`.
    """

    text: str
    start: int
    end: int
    branch: int | None


@dataclass(frozen=True, slots=True)
class PiecesView:
    """How the split cuts the typed text, and the corpus from a place on.

    `branches` says in words or as a pattern what each branch of the split matches; `longest` is the longest pre-token of the
    corpus in characters; `warning` is empty, or says what pieces of that size will cost.
    """

    split: str
    branches: tuple[str, ...]
    typed: tuple[PiecePart, ...]
    place: Place
    corpus: tuple[PiecePart, ...]
    distinct: int
    occurrences: int
    longest: int
    warning: str


@dataclass(frozen=True, slots=True)
class CompressedView:
    """Gage's compression at a step: a window of the compressed text, and the table that expands it.

    `parts` are the bytes in order, each with the letter that stands for a placeholder (empty for a byte that is itself);
    `table` has (letter, placeholder, left, right, expansion) in the order of the steps, left and right being bytes that may
    be placeholders themselves. Sizes are in bytes.
    """

    parts: tuple[tuple[int, str], ...]
    table: tuple[tuple[str, int, int, int, bytes], ...]
    text_bytes: int
    table_bytes: int
    original_bytes: int


@dataclass(frozen=True, slots=True)
class PreviewView:
    """The first steps of a recipe on a small slice of the corpus: one line each for a pair, or for a round of a unigram training.

    `pairs` are the merges in order; `lines` says the same of what is no pair; `end` why there are no more, empty where there
    are; `chars` how much of the corpus was taken. `error` says why it cannot be trained.
    """

    pairs: tuple[PairRow, ...]
    lines: tuple[str, ...]
    end: str
    chars: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class StageView:
    """A step of an opened tokenizer: its `name` (`normalizer`), `what` it does in a line or as the file says it, whether it is
    `opaque` (rules that cannot be shown one by one), and what the axes say of it (`axis`, empty where they cannot)."""

    name: str
    what: str
    opaque: bool = False
    axis: str = ""


@dataclass(frozen=True, slots=True)
class OpenedView:
    """The tokenizer that was opened from a file.

    `name` is the file's, `path` where it is; `order` says in what order its tokens are born, of which there are `births`; `size`
    is the number of its ids when all are born. `stages` are its steps in order, `notes` what was assumed of it.
    """

    name: str
    path: str
    order: str
    births: int
    size: int
    stages: tuple[StageView, ...]
    notes: tuple[str, ...]


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
        target: The step that the run ends at as far as that is known, None where it is not.
        ending: What that step is, see `Ending.kind`.
        tokens: The corpus in tokens now; `start_tokens` in units at the start.
        vocab_size: The number of ids now.
        running: Whether it plays; `speed` in steps a second, None for as fast as it can.
        goal: A step being walked to, None if none.
        partial: Whether only a part of the corpus has been counted.
        pairs: Candidates from `pairs_top` on, of `pairs_total`.
        vocabulary: Entries from `vocabulary_top` on, of `vocab_size`, in `vocabulary_order`.
        curve: The corpus in tokens after evenly spread steps from 0 to `curve_end`.
        busy: The long work under way, None if none.
        waiting: What was asked for and waits until that is done, in words; empty if nothing does.
        nothing: Whether nothing is open: what is here stands for no corpus.
        keep_place: What another recipe is brought to: the same `step`, or the same size of the vocabulary (`size`).
        engine: What runs, in a few words; `compiling once` while the kernels are being compiled; `plain Python for AXIS=VALUE`
            where that is what there is no kernel for.
        memory: How many bytes the training holds: the corpus laid out, its history, checkpoints. 0 where that is not counted.
        opened: The tokenizer that was opened from a file, None where one is trained.
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
    pairs: tuple[PairRow, ...] | tuple[LossRow, ...]
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
    keep_place: str = "step"
    engine: str = ""
    memory: int = 0
    waiting: str = ""
    nothing: bool = False
    opened: OpenedView | None = None
    ending: str = "stop"

    @property
    def end(self) -> Ending:
        """Where the run ends, as far as that is known."""
        return Ending(self.target, self.ending if self.target is not None else "open")

    @property
    def objective(self) -> str:
        """What is trained for; `opened` where nothing is trained and a tokenizer of a file is walked through."""
        return self.recipe.objective if self.opened is None else "opened"

    @property
    def bytes_per_token(self) -> float:
        """Bytes of the corpus for each token now; 0 for an empty corpus."""
        return self.corpus_bytes / self.tokens if self.tokens else 0.0
