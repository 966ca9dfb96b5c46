"""The views that a snapshot is made of: a column with its sections, the rows of the sections, and what a screen asks to see.

Bytes are exact; the screen makes them safe to draw with `tokentui.core.safetext`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tokentui.recipe import Ending, Recipe


class CorpusPlace(NamedTuple):
    """A place in the corpus: a document and a character of its normalized text."""

    document: int = 0
    offset: int = 0


_START = CorpusPlace()

MAIN = ("corpus", "candidates", "vocabulary", "why", "encoding", "curve")
"""The sections of a column."""
VOCABULARY_ORDERS = ("newest", "most used", "longest", "id")
"""The orders in which the vocabulary can be listed."""


LETTERS = "ABCD"
"""The names of the columns, from the left."""
WAYS = ("merges", "size", "tokens")
"""The ways to keep columns together: by merges made, ids of the vocabulary, tokens left in the corpus."""
END = -1
"""The value of a goal that is the end of every column."""
BETWEEN = ("vocabularies", "measures", "agreement", "curves")
"""The sections between columns; the first differing steps and the typed text side by side are always there."""
PARTS = ("common", "only_a", "only_b", "never_b", "never_a")
"""The lists of two vocabularies. `never_b` are those of `only_a` that B makes at no step of its whole run (or has not in its
whole file); `never_a` the other way round."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of the corpus: so many characters of a document from one on (of a corpus of counted words: a word). It is cut at
    white space where there is some near."""

    document: int = 0
    start: int = 0
    length: int = 200


@dataclass(frozen=True, slots=True)
class TokenList:
    """A list of the tokens of two vocabularies, by the keys of their columns: rows from `top` on of those that hold a text.

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
class Viewport:
    """The rows and the sections that a screen shows.

    Attributes:
        wants: The names of the sections that are shown, of `MAIN` and `BETWEEN`.
        candidates_top: The first candidate that is shown; so many rows.
        vocabulary_top: The first entry of the vocabulary; so many rows in an order of `VOCABULARY_ORDERS`.
        corpus: The place that the corpus is shown from, with so many characters after it and before it.
        curve_points: The most points of a curve.
        tokens: The list of two vocabularies that is shown.
        literal: Whether merges of two columns are compared as they are spelled; else by what they mean.
    """

    wants: tuple[str, ...] = MAIN
    candidates_top: int = 0
    candidates_rows: int = 60
    vocabulary_top: int = 0
    vocabulary_rows: int = 60
    vocabulary_order: str = "newest"
    corpus: CorpusPlace = _START
    corpus_chars: int = 4000
    corpus_before: int = 2000
    curve_points: int = 64
    tokens: TokenList | None = None
    literal: bool = False


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
    """A replay step of an opened tokenizer: one still to come, or, at the end, one already done.

    `number` is the step, `id` the id of its token, `parts` the tokens of its bytes before the step. `count`
    is the number of these tokens in the corpus right after the step, `words` the number of distinct words
    that change. `place` is the token's place in the file.
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
    """A vocabulary entry.

    `kind` is special, byte, base, merge, piece (of a unigram model), orphan (of a file: no merge makes it) or
    left (a piece that the last step dropped: it has no id). `step` is the step that made it and `count` the
    count of its pair then; both are None except for merges. `uses` is its count in the corpus now, None where
    it cannot occur. `score` is the natural log probability of a piece; for a piece that left, the figure that
    it was dropped for. `reason` tells why it left, or why no text becomes it. `parents` are the two tokens of
    a merge. `marks` is the number of bytes of the mark at its front and at its end.
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
    """A token inside a piece of the corpus: characters start to end of the piece. `fresh` if the last step made it; `partial`
    if it begins or ends inside a character (it covers that character then)."""

    start: int
    end: int
    fresh: bool
    partial: bool


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """A pre-token of the running text with its tokens, or text between two that the split drops (`tokens` is empty). `place` is
    where it starts. `times` is set for a corpus of counted words: how often the word counts."""

    place: CorpusPlace
    text: str
    tokens: tuple[TokenSpan, ...]
    times: int | None = None


@dataclass(frozen=True, slots=True)
class CorpusView:
    """The part of the corpus that the pane shows. `parts` start at or before the place; `at_start` and `at_end` say whether
    there is text before and after them; `position` is how far into the corpus the place is, from 0 to 1."""

    place: CorpusPlace = _START
    parts: tuple[CorpusPart, ...] = ()
    at_start: bool = True
    at_end: bool = True
    position: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class RoundView:
    """Where a unigram training stands.

    `last` is what the last step did (`seeds`, `em`, `prune` or `cut`), in which `round` from 1; `pieces` how many there are,
    `dropped` how many the last step dropped, `objective` the mean negative log probability of a word, `before` the one before
    the last step. `next` is what the next step does, empty at the end; `going` how many pieces it drops (None before an EM
    step) and `taken` how many of these a walk through the pruning has dropped already.
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
    """Why the next step is what it is; `end` says why there is none. `facts` are further sentences; `round` is there for a
    unigram training, whose steps are no pairs."""

    best: PairRow | None = None
    runner_up: PairRow | None = None
    tied: int = 0
    replaced: int = 0
    tie_rule: str = ""
    end: str | None = None
    facts: tuple[str, ...] = ()
    round: RoundView | None = None
    error: str = ""


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

    text: str = ""
    tokens: tuple[EncodedToken, ...] = ()
    bytes: int = 0
    error: str | None = None
    lost: tuple[str, ...] = ()
    back: str = ""


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

    `name` and `path` are the file's. `order` describes the order of its replay steps; a further field holds
    their number. `size` is the number of ids after the last step. `stages` are the stages of its pipeline in
    order. `notes` are the assumptions made about it.
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
class Position:
    """The position that all columns are kept at.

    By `merges` the value is a step: each column stands at it, or at its end where that comes before. By `size` it is a
    number of ids: each column stands at its first step with so many or more (or fewer, where steps drop pieces). By `tokens`
    it is a step of the first column: the others stand at their first step with no more tokens than it (or no fewer).
    """

    by: str = "merges"
    value: int = 0


@dataclass(frozen=True, slots=True)
class AtStep:
    """The numbers of a column at its step.

    Attributes:
        step: The step; of a tokenizer from a file, how many of its tokens are there.
        computed: The furthest step computed so far.
        target: The step that the run ends at as far as that is known, None where it is not.
        ending: What `target` is, see `Ending.kind`.
        tokens: The corpus in tokens; `start_tokens` at step 0.
        vocab_size: The number of ids.
        occurrences: The pre-tokens of the corpus in all; `distinct` the different ones.
        memory: The bytes that the training holds; 0 where they are not counted.
        bytes_per_token: Bytes of the corpus for each token; None where there is none, or distinct words count once.
        last: The step that was made last, None at the start and for a unigram model; `last_id` the id that it made.
    """

    step: int = 0
    computed: int = 0
    target: int | None = None
    ending: str = "stop"
    tokens: int = 0
    start_tokens: int = 0
    vocab_size: int = 0
    occurrences: int = 0
    distinct: int = 0
    memory: int = 0
    bytes_per_token: float | None = None
    last: PairRow | None = None
    last_id: int | None = None

    @property
    def end(self) -> Ending:
        """Where the run ends, as far as that is known."""
        return Ending(self.target, self.ending if self.target is not None else "open")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for the next step, best first: rows from `top` on, of `total`."""

    rows: tuple[PairRow, ...] | tuple[LossRow, ...] = ()
    top: int = 0
    total: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class VocabularyPage:
    """Entries of the vocabulary in an order: rows from `top` on, of `total`."""

    rows: tuple[TokenRow, ...] = ()
    top: int = 0
    total: int = 0
    order: str = "newest"
    error: str = ""


@dataclass(frozen=True, slots=True)
class CurveView:
    """The corpus in tokens after evenly spread steps from 0 to `end`, as far as they are computed."""

    points: tuple[int, ...] = ()
    end: int = 0
    error: str = ""


_RECIPE = Recipe()


@dataclass(frozen=True, slots=True)
class ColumnSnapshot:
    """A column: a recipe that is trained, or a tokenizer from a file, at a step.

    A section that could not be made has an `error`, in one line; one that the viewport does not want is empty.

    Attributes:
        key: Its own number, which stays when columns are moved.
        name: The name, as short as can be; `about` the recipe in a few words, empty while it is not known.
        recipe: What is trained, or what a file says.
        preset: The name of the preset that the recipe is, empty if none.
        path: The file, empty for a recipe; `opened` its tokenizer, `notes` what was assumed of it.
        error: Why it cannot be shown, in one line; empty where it can.
        loading: The work under way while it is not at the position: being opened, or walking there.
        in_sync: Whether it stands at the position.
        partial: Whether only a part of the corpus has been counted.
        at, candidates, why, vocabulary, corpus, encoding, curve: Its sections.
    """

    key: int = 1
    name: str = ""
    about: str = ""
    recipe: Recipe = _RECIPE
    preset: str = ""
    path: str = ""
    opened: OpenedView | None = None
    notes: tuple[str, ...] = ()
    error: str = ""
    loading: Busy | None = None
    in_sync: bool = True
    partial: bool = False
    at: AtStep = AtStep()
    candidates: Candidates = Candidates()
    why: WhyView = WhyView()
    vocabulary: VocabularyPage = VocabularyPage()
    corpus: CorpusView = CorpusView()
    encoding: EncodedView = EncodedView()
    curve: CurveView = CurveView()

    @property
    def objective(self) -> str:
        """The training objective; `opened` for a tokenizer of a file."""
        return self.recipe.objective if self.opened is None else "opened"
