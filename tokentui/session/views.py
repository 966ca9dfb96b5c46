"""The views that a snapshot is made of: a column with its sections, the rows of the sections, and what a
screen asks to see.

Bytes are exact; the screen makes them safe to draw with `tokentui.core.safetext`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Never

from tokentui.core.safetext import GlyphMode
from tokentui.learn.rows import Candidate, Entry, Page, Traits, Why
from tokentui.recipe import Ending, Recipe, Run

if TYPE_CHECKING:  # what encodes loads after the first paint
    from tokentui.encode.encoding import EncodedToken as EncodedToken


class CorpusPlace(NamedTuple):
    """A place in the corpus: a document and a character of its normalized text."""

    document: int = 0
    offset: int = 0


_START = CorpusPlace()
_OPEN = Ending()

MAIN = ("corpus", "candidates", "vocabulary", "why", "encoding", "curve")
"""The sections of a column."""
VOCABULARY_ORDERS = ("newest", "most used", "longest", "id")
"""The orders in which the vocabulary can be listed."""


LETTERS = "ABCD"
"""The names of the columns, from the left."""
SYNC_UNITS = ("merges", "size", "tokens")
"""The ways to keep columns together: by merges made, ids of the vocabulary, tokens left in the corpus."""
SPEEDS: tuple[int | None, ...] = (1, 2, 5, 10, 20, 60, 200, 1000, 5000, None)
"""Steps a second that a run may play at; None is as fast as it can."""
FIRST_SPEED = 200
"""The speed that a session begins with."""
SLOW_SPEED = 5
"""Up to this speed a run shows what the next step merges before it is made."""
END = -1
"""The value of a goal that is the end of every column."""
BETWEEN = ("vocabularies", "measures", "agreement", "curves")
"""The sections between columns; the first differing steps and the typed text side by side are always there.
"""
PARTS = ("common", "only_a", "only_b", "never_b", "never_a")
"""The lists of two vocabularies. `never_b` are those of `only_a` that B makes at no step of its whole run (or
has not in its whole file); `never_a` the other way round."""


@dataclass(frozen=True, slots=True)
class ColumnWanted:
    """A column that is asked for: a recipe to train, or a tokenizer in a file.

    Attributes:
        recipe: What to train; None for a file.
        run: Its stops, and what its ids begin with.
        path: The tokenizer file; empty for a recipe.
        split: The split of a file that holds none, empty for its own.
        encode: Another way to encode by a file, empty for its own.
        name: The name; where empty, the preset that the recipe is, or the name of the file.
    """

    recipe: Recipe | None = None
    run: Run = field(default_factory=Run)
    path: str = ""
    split: str = ""
    encode: str = ""
    name: str = ""

    def like(self, columns: Iterable[ColumnSnapshot]) -> ColumnWanted:
        """Return this column, with its vocabulary size set to that of the first opened file if it has
        none."""
        size = next((column.opened.size for column in columns if column.opened is not None), None)
        if self.recipe is None or size is None:
            return self
        return replace(self, run=self.run.sized_like(size))


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document of the corpus: about `length` characters from `start` on, cut at whitespace if
    there is some near. In a corpus of counted words, a document is a word."""

    document: int = 0
    start: int = 0
    length: int = 200


@dataclass(frozen=True, slots=True)
class TokenList:
    """A request for rows of a list of the tokens of two vocabularies.

    Attributes:
        a, b: The keys of their columns.
        part: The list, one of `PARTS`.
        bare: True to compare tokens without marks; without effect on the `never` lists.
        find: Text that listed tokens contain; empty for all.
        seek: Text to find among the listed tokens.
        top: The first row.
        rows: The maximum number of rows.
    """

    a: int
    b: int
    part: str = "common"
    bare: bool = False
    find: str = ""
    seek: str = ""
    top: int = 0
    rows: int = 60

    @property
    def other(self) -> int:
        """The column whose tokens decide which of the other's are listed."""
        return self.a if self.part in ("only_b", "never_a") else self.b


@dataclass(frozen=True, slots=True)
class Viewport:
    """The rows and the sections that a screen shows.

    Attributes:
        wants: The names of the sections that are shown, of `MAIN` and `BETWEEN`.
        candidates_top: The first candidate that is shown; `candidates_rows` is the number of rows.
        vocabulary_top: The first entry of the vocabulary; `vocabulary_rows` is the number of rows, in the
            order `vocabulary_order` of `VOCABULARY_ORDERS`.
        vocabulary_folded: True for one row instead of all entries that are out of use.
        corpus: The place in the corpus that is shown, with `corpus_chars` characters after it and
            `corpus_before` before it.
        curve_points: The maximum number of points of a curve.
        tokens: The list of two vocabularies that is shown.
        literal: True to compare merges of two columns by spelling, false by meaning.
        candidates_only: Text that listed candidates contain, typed as `mode` shows data; empty for all.
            `candidates_top` counts the listed ones.
        candidates_order: `BY_COUNT` for pairs by their counts; otherwise the best comes first.
        vocabulary_only: Text that listed entries of the vocabulary contain; empty for all.
        vocabulary_among: The ids of the entries that are listed; None for all.
        mode: How data are shown.
        ages: Whether the steps that made the tokens of the corpus and of the typed text are shown.
    """

    wants: tuple[str, ...] = MAIN
    candidates_top: int = 0
    candidates_rows: int = 60
    vocabulary_top: int = 0
    vocabulary_rows: int = 60
    vocabulary_order: str = "newest"
    vocabulary_folded: bool = True
    corpus: CorpusPlace = _START
    corpus_chars: int = 4000
    corpus_before: int = 2000
    curve_points: int = 64
    tokens: TokenList | None = None
    literal: bool = False
    candidates_only: str = ""
    candidates_order: str = ""
    vocabulary_only: str = ""
    vocabulary_among: frozenset[int] | None = None
    mode: GlyphMode = "text"
    ages: bool = False


class Found(NamedTuple):
    """A match of a text that is looked for.

    Attributes:
        at: The row of a list, or the place in the corpus.
        number: Its number among all matches, from 1; 0 where they are not counted.
        matches: The number of all matches.
    """

    at: int | CorpusPlace
    number: int
    matches: int


def next_place(places: Sequence[int], start: int, backward: bool) -> Found | None:
    """Return the next of some ascending rows after the row `start`, or before it if `backward`, wrapping
    around the end; None if there are no rows."""
    if not places:
        return None
    if backward:
        at = max(bisect_left(places, start) - 1, -1) % len(places)
    else:
        at = bisect_right(places, start) % len(places)
    return Found(places[at], at + 1, len(places))


class TokenSpan(NamedTuple):
    """A token in a part of the corpus.

    Attributes:
        start, end: Its first character in the part, and the character after it.
        fresh: True if the last step made it.
        partial: True if it begins or ends inside a character, which it then covers.
        made: The step that made it; 0 if none did, or without `Viewport.ages`.
        piece: Its exact bytes, marks included; empty for a special or an unknown token.
    """

    start: int
    end: int
    fresh: bool
    partial: bool
    made: int = 0
    piece: bytes = b""


class CorpusPart(NamedTuple):
    """A pre-token of the running text with its tokens, or text between two that the split drops (`tokens` is
    empty). `place` is where it starts. `times` is set for a corpus of counted words: how often the word
    counts."""

    place: CorpusPlace
    text: str
    tokens: tuple[TokenSpan, ...]
    times: int | None = None

    def follows(self, other: CorpusPart) -> bool:
        """Return whether the text goes on from another part: both are of one document, and neither is a
        counted word."""
        return self.times is None and self.place.document == other.place.document


def documents_of(parts: Sequence[CorpusPart]) -> list[list[CorpusPart]]:
    """Split parts where a document or a counted word begins, so that no text is joined across."""
    documents: list[list[CorpusPart]] = []
    for part in parts:
        if documents and part.follows(documents[-1][-1]):
            documents[-1].append(part)
        else:
            documents.append([part])
    return documents


@dataclass(frozen=True, slots=True)
class CorpusView:
    """The part of the corpus that the pane shows. `parts` start at or before the place; `at_start` and
    `at_end` say whether there is text before and after them; `position` is how far into the corpus the place
    is, from 0 to 1; `chars` are the characters of the corpus."""

    place: CorpusPlace = _START
    parts: tuple[CorpusPart, ...] = ()
    at_start: bool = True
    at_end: bool = True
    position: float = 0.0
    chars: int = 0


@dataclass(frozen=True, slots=True)
class EncodedView:
    """The typed text, encoded by the tokenizer of the current step.

    Attributes:
        text: The text.
        tokens: Its tokens; empty if it is refused.
        bytes: The bytes of the text.
        error: Why it is refused; None if it is not.
        lost: The losses of decoding its ids, in words; empty if the text comes back.
        back: The decoded text; empty if the text comes back.
        ages: The steps that made the tokens; empty without `Viewport.ages`.
    """

    text: str = ""
    tokens: tuple[EncodedToken, ...] = ()
    bytes: int = 0
    error: str | None = None
    lost: tuple[str, ...] = ()
    back: str = ""
    ages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StageView:
    """A stage of an opened tokenizer.

    Attributes:
        name: Its name, such as `normalizer`.
        what: Its effect in a line, or its text in the file.
        opaque: True if its rules cannot be shown one by one.
        axis: Its value of an axis, such as `split=gpt2`; empty if no axis describes it.
    """

    name: str
    what: str
    opaque: bool = False
    axis: str = ""


@dataclass(frozen=True, slots=True)
class OpenedView:
    """The tokenizer that was opened from a file.

    `name` and `path` are the file's. `order` describes the order of its replay steps, `steps` is
    their number. `size` is the number of ids after the last step. `stages` are the stages of its pipeline in
    order. `notes` are the assumptions made about it.
    """

    name: str
    path: str
    order: str
    steps: int
    size: int
    stages: tuple[StageView, ...]
    notes: tuple[str, ...]


class StepRow(NamedTuple):
    """A step that was made.

    Attributes:
        number: Its number.
        parts: The exact bytes of the parts that it merged.
        token: The exact bytes of the token that it made; empty if it made none.
        worth: The value that it was chosen for.
        tied: The number of candidates that had this value.
        said: The step in words, if it merged nothing.
    """

    number: int
    parts: tuple[bytes, ...]
    token: bytes
    worth: int | float
    tied: int
    said: str


class StepsView(NamedTuple):
    """Rows of the list of steps, from `top` on, of `total` in all; the list ends with the step `last`."""

    rows: tuple[StepRow, ...] = ()
    top: int = 0
    total: int = 0
    last: int = 0


class StepPlace(NamedTuple):
    """A place in the corpus that a step changes: the text before it, the token, and the text after it."""

    before: str
    token: str
    after: str


@dataclass(frozen=True, slots=True)
class StepView:
    """A step, made or to come, and its reasons.

    Attributes:
        number: Its number.
        why: The reasons, as they were before it.
        taken: The candidate that it took, with its figures before the step; None if there is no step, or it
            takes none.
        tokens: The length of the corpus in tokens before it and after it.
        places: The first places in the corpus that it changes.
        yours: The number of tokens of the typed text before it and after it; 0 if it cannot be encoded.
    """

    number: int
    why: Why
    taken: Candidate | None
    tokens: tuple[int, int]
    places: tuple[StepPlace, ...]
    yours: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Busy:
    """The progress of a long work.

    Attributes:
        what: Its name.
        done: How much is done.
        total: How much there is to do; 0 if it is not known.
        left: The seconds left; None if they are not known.
    """

    what: str
    done: int
    total: int
    left: int | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """The position that all columns are kept at.

    By `merges`, `value` is a step: each column is at it, or at its end if that comes before. By `size`, it is
    a number of ids: each column is at its first step with at least as many ids (at most, if steps drop
    pieces). By `tokens`, it is a step of the first column: the others are at their first step with at most as
    many tokens as the first column has (at least, if steps drop pieces).
    """

    by: str = "merges"
    value: int = 0


class PartLength(NamedTuple):
    """A named corpus at a step: its name, its tokens, and its bytes per token (None without tokens)."""

    name: str
    tokens: int
    bytes_per_token: float | None


@dataclass(frozen=True, slots=True)
class AtStep:
    """The numbers of a column at its step.

    Attributes:
        step: The step; of a tokenizer from a file, how many of its tokens are there.
        computed: The furthest step computed so far.
        end: Where the run ends, as far as that is known.
        tokens: The corpus in tokens; `start_tokens` at step 0.
        vocab_size: The number of ids.
        occurrences: The pre-tokens of the corpus in all; `distinct` the different ones.
        memory: The bytes that the training holds; 0 where they are not counted.
        bytes_per_token: The bytes of the corpus per token; None without tokens, and if distinct words count
            once.
        lengths: The lengths of the named corpora; empty without any, or if they are not known.
        last: The candidate of the last step; None at the start and for a unigram model.
        last_id: The id that the last step made; None if it made none.
    """

    step: int = 0
    computed: int = 0
    end: Ending = _OPEN
    tokens: int = 0
    start_tokens: int = 0
    vocab_size: int = 0
    occurrences: int = 0
    distinct: int = 0
    memory: int = 0
    bytes_per_token: float | None = None
    lengths: tuple[PartLength, ...] = ()
    last: Candidate | None = None
    last_id: int | None = None


@dataclass(frozen=True, slots=True)
class CurveView:
    """The tokens of the corpus after evenly spaced steps from 0 to `end`, as far as they are computed."""

    points: tuple[int, ...] = ()
    end: int = 0


_RECIPE = Recipe()
NO_ROWS: Page[Never] = Page((), 0, 0)
NO_WHY = Why(None, None, 0, 0, "")
NO_TRAITS = Traits()


@dataclass(frozen=True, slots=True)
class ColumnSnapshot:
    """A column: a recipe that is trained, or a tokenizer from a file, at a step.

    A section that the viewport does not want is empty.

    Attributes:
        key: Its own number, which stays when columns are moved.
        name: The name, as short as can be; `about` the recipe in a few words, empty while it is not known.
        recipe: What is trained, or what a file says.
        preset: The name of the preset that the recipe is, empty if none.
        path: The file, empty for a recipe; `opened` its tokenizer.
        error: Why it cannot be shown, in one line; empty if it can.
        loading: The work under way while it is not at the position: being opened, or walking there.
        in_sync: True if it is at the session's position.
        partial: Whether only a part of the corpus has been counted.
        size_limit: The vocabulary size that ends its training; None for no such stop and for a file.
        traits: The facts about its trainer: the columns of its candidates, the name of a step, its engine.
        errors: The reasons of the sections that could not be made, in one line each, by the name of the
        section.
        at: The section of numbers.
        candidates: The candidates of the next step, best first; of a file at its end its last tokens.
        why: The reasons of the next step.
        vocabulary: The entries of the vocabulary.
        corpus: The running text in tokens.
        encoding: The typed text in tokens.
        curve: The corpus in tokens, step by step.
    """

    key: int = 1
    name: str = ""
    about: str = ""
    recipe: Recipe = _RECIPE
    preset: str = ""
    path: str = ""
    opened: OpenedView | None = None
    error: str = ""
    loading: Busy | None = None
    in_sync: bool = True
    partial: bool = False
    size_limit: int | None = None
    traits: Traits = NO_TRAITS
    errors: Mapping[str, str] = field(default_factory=dict)
    at: AtStep = AtStep()
    candidates: Page[Candidate] = NO_ROWS
    why: Why = NO_WHY
    vocabulary: Page[Entry] = NO_ROWS
    corpus: CorpusView = CorpusView()
    encoding: EncodedView = EncodedView()
    curve: CurveView = CurveView()

    @property
    def objective(self) -> str:
        """The training objective; `opened` for a tokenizer of a file."""
        return self.recipe.objective if self.opened is None else "opened"
