"""The rows that a trainer answers with: candidates, entries of the vocabulary, the reasons of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

from tokentui.core.engines import PLAIN
from tokentui.core.errors import TokentuiError
from tokentui.core.records import dataclass
from tokentui.recipe import WhatIf

if TYPE_CHECKING:
    from fractions import Fraction

    from tokentui.encode.vocabulary import Vocabulary

Row = TypeVar("Row", covariant=True)
Worth: TypeAlias = "int | float | Fraction"
"""The value that candidates are ordered by, without rounding."""
KEPT_ROWS = 1024
"""The candidates that a trainer keeps, and a quarter of the entries of a vocabulary: those that a step leaves
as they were are the same objects on the next page."""


class Column(NamedTuple):
    """A column of the candidates.

    Attributes:
        name: Its name in the head of a table, which is also the key of its value.
        unit: The unit of its values, empty for a bare number.
        kind: `count` of places, `part` (the uses of one part), `amount` (a count that is no whole number),
            `change`, `score`, `share`, `loss`, `byte`, `token`, `tokens`, or `text`, which no table shows; a
            screen maps it to a width and a color.
    """

    name: str
    unit: str
    kind: str


class Traits(NamedTuple):
    """The facts about a trainer that other rooms read in place of the name of its objective.

    Attributes:
        grows: True if steps add tokens.
        shrinks: True if steps take tokens away.
        heavy: True if one step takes long, so that other columns wait for it.
        engine: The engine that runs: `engines.PLAIN` or `engines.COMPILED`.
        phase: What a run is doing at the current step, such as `merging`.
        step: The word for one step: `merge`, `round`, `token`.
        candidate: The word for one candidate: `pair`, `piece`, `token`.
        columns: The columns of the candidates; `Candidate.values` are in their order.
        orders: The orders in which the vocabulary can be listed.
        shaped_by: The names of the stops that a step depends on. The others only end a run.
        least_size: The number of ids that no training comes below.
        has_substeps: True if a step can be walked through candidate by candidate, see `view.substeps_of`.
        compresses: True if the steps compress the text, see `view.compression_of`.
        replays: True if the tokens of a file are replayed, see `view.replay_of`.
        what_ifs: True if it can go on under what-ifs.
        monotone: `ids` if no step changes the number of ids against the direction of the others; `tokens` if
            none does so with the length of the corpus.
    """

    grows: bool = True
    shrinks: bool = False
    heavy: bool = False
    engine: str = PLAIN
    step: str = "merge"
    candidate: str = "pair"
    columns: tuple[Column, ...] = ()
    orders: tuple[str, ...] = ("newest", "most used", "longest", "id")
    shaped_by: tuple[str, ...] = ("max_length",)
    least_size: int = 0
    has_substeps: bool = False
    compresses: bool = False
    replays: bool = False
    what_ifs: bool = False
    phase: str = "merging"
    monotone: tuple[str, ...] = ()

    @property
    def scores(self) -> bool:
        """True if candidates are ordered by a score, and not by their counts."""
        return any(column.kind == "score" for column in self.columns)

    def check_what_ifs(self, changes: Sequence[WhatIf]) -> None:
        """Check that the training supports what-ifs, if there are any.

        Raises:
            TokentuiError: It does not.
        """
        if changes and not self.what_ifs:
            reason = "a file is replayed as it is" if self.replays else f"a {self.step} merges no pair"
            where = f"what_if={changes[0].text}"
            raise TokentuiError(f"what-ifs are of merges: {reason}", where,
                "train with an objective that merges pairs")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate of the next step.

    Attributes:
        key: The trainer's own name for it, such as the pair of its symbols.
        parts: The exact bytes of its parts.
        token: The exact bytes of the token that it makes.
        worth: The value that candidates are ordered by, the greatest first: a count, or an exact fraction.
        values: Its values, in the order of `Traits.columns`.
        tied: True if another candidate has exactly the same value.
        part: The index of the part of the corpus that decides.
        marks: The number of bytes at the front and at the end of the token that are the recipe's mark.
        places: The number of places where it occurs, by weight.
    """

    key: tuple[int, ...]
    parts: tuple[bytes, ...]
    token: bytes
    worth: Worth = 0
    values: tuple[object, ...] = ()
    tied: bool = False
    part: int = 0
    marks: tuple[int, int] = (0, 0)
    places: int = 0

    @property
    def spelled(self) -> bytes:
        """The bytes that the token stands for in the end."""
        return self.token


@dataclass(frozen=True, slots=True)
class PairCandidate(Candidate):
    """A pair that may be merged next.

    Attributes:
        before: Its count before the last step; None for a pair that the last step made.
        left_uses: The count of its left part in the corpus, by weight.
        right_uses: The count of its right part.
        expansion: The text that the token stands for, if its own bytes are a placeholder (Gage); else empty.
    """

    before: int | None = None
    left_uses: int = 0
    right_uses: int = 0
    expansion: bytes = b""

    @property
    def spelled(self) -> bytes:
        """The bytes that the token stands for in the end."""
        return self.expansion or self.token

    @property
    def count(self) -> int:
        """The number of places where it occurs, by weight."""
        return self.places

    @property
    def left(self) -> bytes:
        """The exact bytes of the left part."""
        return self.parts[0]

    @property
    def right(self) -> bytes:
        """The exact bytes of the right part."""
        return self.parts[1]

    @property
    def new(self) -> bool:
        """True if the last step made the pair."""
        return self.before is None

    @property
    def score(self) -> float:
        """The value of its objective, rounded once; the order among values is found without rounding."""
        return float(self.worth)

    @property
    def change(self) -> int:
        """The change of the count by the last step; 0 for a pair that is new."""
        return 0 if self.before is None else self.places - self.before


@dataclass(frozen=True, slots=True)
class TokenCandidate(Candidate):
    """A token of a file; `parts` are the tokens that its bytes are before: its two parents where merges make
    it. `places` is its count in the corpus from then on.

    Attributes:
        number: The step at which it comes into use, 1 for the first.
        symbol: Its symbol in the vocabulary.
        id: Its id in the file.
        score: Its score in the file; None if it has none.
        words: The number of distinct words that change.
        place: The place in the file, in words: `merge 512`.
    """

    number: int = 0
    symbol: int = 0
    id: int = 0
    score: float | None = None
    words: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class PieceCandidate(Candidate):
    """A piece as the coming pruning judges it; `parts` are the pieces that replace it when it is gone.

    Attributes:
        probability: Its probability.
        expected: The expected count in the corpus when last computed; of a seed, its count in the corpus.
        uses: Its count in the best segmentations of the corpus, rounded.
        loss: The fall of the mean log probability of a token without it; infinite for a piece that nothing
            can replace, minus infinity for one that is less probable than its parts.
        reason: Why the pruning drops it, empty for a piece that stays.
        taken: True if a walk through the pruning has dropped it already.
    """

    probability: float = 0.0
    expected: float = 0.0
    uses: int = 0
    loss: float = 0.0
    reason: str = ""
    taken: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """The position in a training by rounds: of expectation and maximization, and of prunings.

    Attributes:
        last: The kind of the last step: `seeds`, `em`, `prune` or `cut`.
        round: The number of the round, 1 for the first.
        pieces: The number of pieces.
        dropped: The number of pieces that the last step dropped.
        objective: The mean negative natural log probability of a word of the corpus.
        before: The same before the last step; None at the start.
        next: The kind of the next step: `em`, `prune`, `cut` or empty.
        going: The number of pieces that the next step drops; None if it drops none.
        taken: The number of these that a walk through the pruning has dropped already.
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


class Judged(NamedTuple):
    """A language in parity-aware training, which merges for the language that is worst off.

    Attributes:
        name: Its name.
        tokens: The length of the text that it is judged by, in tokens.
        start: The same before the first step.
        chosen: True if it decides the next step.
        barred: True if it decided too many of the last steps to be chosen.
        share: Its share of the last steps; None if no window limits it.
        compressed: Its compression, by which it is judged; None if it is judged by its length.
    """

    name: str
    tokens: int
    start: int
    chosen: bool = False
    barred: bool = False
    share: float | None = None
    compressed: float | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """The reasons of a step.

    Attributes:
        best: The candidate that is taken; None at the end.
        runner_up: The candidate that would be taken without the best one.
        tied: The number of candidates that share the best value.
        replaced: The weight of the places that change.
        tie_rule: The tie rule; empty if the training has none.
        end: The reason why there is no next step, one of `Stop`; None if there is one.
        facts: Further sentences.
        round: The position in a training by rounds; None in others.
        judged: The languages of parity-aware training; empty in others.
    """

    best: Candidate | None
    runner_up: Candidate | None
    tied: int
    replaced: int
    tie_rule: str
    end: str | None = None
    facts: tuple[str, ...] = ()
    round: Round | None = None
    judged: tuple[Judged, ...] = ()


class Entry(NamedTuple):
    """An entry of the vocabulary at a step.

    Attributes:
        id: Its id; None for an entry that was removed.
        symbol: Its symbol; -1 for a special or a byte token.
        piece: Its exact bytes, marks included.
        kind: `special`, `byte`, `base`, `merge`, `piece`, `orphan` or `left`; `folded` for the one row of all
            entries that are out of use.
        made: The step that made it; None for an entry that exists from the start.
        places: The count of its pair when it was made, by weight; None if no step made it.
        uses: Its count in the corpus, by weight; None if it is not counted.
        score: Its score in a model with scores; of a removed entry, the figure that it was removed for.
        parts: The exact bytes of its parts; empty if it has none.
        marks: The number of bytes at the front and at the end that are the recipe's mark.
        reason: Why it was removed, or why no text produces it; empty for others.
    """

    id: int | None
    symbol: int
    piece: bytes
    kind: str
    made: int | None = None
    places: int | None = None
    uses: int | None = None
    score: float | None = None
    parts: tuple[bytes, ...] = ()
    marks: tuple[int, int] = (0, 0)
    reason: str = ""


BY_COUNT = "count"
"""The order of pairs by their counts, whatever they are chosen for; equal ones stay in order."""


class Ranking(NamedTuple):
    """The candidates of the next step, by their rank from 0.

    Attributes:
        total: The number of all candidates.
        tied: The number of candidates that share the best value.
        replaced: The weight of the places that taking the first one changes.
        row: Returns a candidate.
        token: Returns the exact bytes of its token.
        parts: Returns the exact bytes of its parts; None if no search looks at them.
        places: Returns the number of its places; None if there is no order by count.
        parts_join: True if the parts one after another are the token.
    """

    total: int
    tied: int
    replaced: int
    row: Callable[[int], Candidate]
    token: Callable[[int], bytes]
    parts: Callable[[int], Sequence[bytes]] | None = None
    places: Callable[[int], int] | None = None
    parts_join: bool = False


class Inventory(NamedTuple):
    """The vocabulary of a step, as its entries are listed.

    Attributes:
        vocabulary: The vocabulary.
        merges: The number of its merges that count.
        foldable: The symbols below this one may be folded into one row where they are out of use.
        newest: Returns the symbols in use, the newest first; None for those of the merges.
        made_at: Returns the step that made a symbol; None for `vocabulary.made_at`.
        removed: The entries that the last step removed.
        finish: Returns an entry with what only this training knows of it; None if that is nothing.
    """

    vocabulary: Vocabulary
    merges: int
    foldable: int
    newest: Callable[[], Sequence[int]] | None = None
    made_at: Callable[[int], int] | None = None
    removed: Sequence[Entry] = ()
    finish: Callable[[Entry], Entry] | None = None


class Query(NamedTuple):
    """A request for rows of a list.

    Attributes:
        top: The first row.
        rows: The most rows.
        order: The order of the entries of the vocabulary, one of `Traits.orders`; of candidates `BY_COUNT`,
            and in all others the best first.
        match: Texts to search: the page then has the numbers of the rows that contain one of them. In the
            vocabulary `#484` and `484` also match the token with this id.
        only: True to list only the rows that match: `top` and `rows` count them alone.
        folded: True for one row instead of all entries that are out of use. Without effect with `match` or
            `among`, and in the orders `longest` and `id`.
        among: The ids of the entries of the vocabulary that are listed; None for all.
    """

    top: int = 0
    rows: int = 100
    order: str = "newest"
    match: tuple[bytes, ...] = ()
    only: bool = False
    folded: bool = False
    among: frozenset[int] | None = None


class Page(NamedTuple, Generic[Row]):
    """Some rows of a list.

    Attributes:
        rows: The rows from `top` on.
        top: The number of the first row: that of the query, or less if the list is shorter.
        total: The number of all rows, of which the page has some.
        places: The numbers of all rows that contain a text of `Query.match`, ascending.
        order: The order of the rows, as in the query.
        whole: The number of rows of the unfiltered list; None if the list is not filtered.
        folded: The number of entries that the last row sums up; 0 if each has its own.
    """

    rows: tuple[Row, ...] = ()
    top: int = 0
    total: int = 0
    places: tuple[int, ...] = ()
    order: str = ""
    whole: int | None = None
    folded: int = 0

    def number(self, index: int) -> int:
        """Return the number in the unfiltered list of a row of this list; an index after the last is
        unchanged."""
        return index if self.whole is None or index >= len(self.places) else self.places[index]
