"""What every way of learning a vocabulary has in common: its steps, its candidates and its stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.recipe import Ending, Recipe
from tokentui.text.count import Words

Progress = Callable[[int, int], None]
"""Called with (done, total) from time to time by a long call."""
Cancel = Callable[[], bool]
"""Asked from time to time by a long call; true stops it with `Cancelled`."""

MERGES = "merges"
VOCAB_SIZE = "vocab_size"
MIN_COUNT = "min_count"
NO_PAIR = "no pair left"
INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Stops:
    """When a run ends. Any of them together; "no pair left" always ends it.

    Args:
        merges: The number of merges in all, from the start of the training.
        vocab_size: The number of ids, specials counted.
        min_count: A pair that stands less often is not merged.
        max_length: No token is longer than so many units.
    """

    merges: int | None = None
    vocab_size: int | None = None
    min_count: int = 1
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One merge, as it was made.

    `left`, `right` and `token` are exact bytes with their marks. `count` is the number of places where the pair stood
    (overlapping ones too), `replaced` how many were merged, `tied` how many pairs shared the best value, `tokens` the
    length of the corpus after the step, `vocab_size` the number of ids after it. `score` is the WordPiece score, and
    `left_uses` and `right_uses` are the uses of the two symbols that it was made of; they are None and 0 elsewhere.
    """

    number: int
    left: bytes
    right: bytes
    token: bytes
    id: int
    count: int
    replaced: int
    score: float | None
    tied: int
    tokens: int
    vocab_size: int
    left_uses: int = 0
    right_uses: int = 0

    @property
    def hex(self) -> list[str]:
        """The three byte strings in lower-case hex: the exact form of the rows for machines."""
        return [self.left.hex(), self.right.hex(), self.token.hex()]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that may be merged next.

    `before` is its count before the last step, None for a pair that the last step made. `left_symbol` and `right_symbol`
    are its place in the vocabulary; `left_uses` and `right_uses` how often the two stand in the corpus now, by weight.
    """

    left: bytes
    right: bytes
    token: bytes
    count: int
    before: int | None
    left_symbol: int
    right_symbol: int
    left_uses: int = 0
    right_uses: int = 0

    @property
    def score(self) -> float:
        """The WordPiece score c(xy)/(c(x)·c(y)), rounded once; the order among scores is found without rounding."""
        uses = self.left_uses * self.right_uses
        return self.count / uses if uses else 0.0

    @property
    def change(self) -> int:
        """How much the count changed with the last step; 0 for a pair that is new."""
        return 0 if self.before is None else self.count - self.before


@dataclass(frozen=True, slots=True)
class Why:
    """Why the next step is what it is.

    `tied` counts the pairs that share the best count, `best` among them; `replaced` is how many places will be merged;
    `runner_up` is the pair that is taken if the best one were not there. `best` is None at the end.
    """

    best: Candidate | None
    runner_up: Candidate | None
    tied: int
    replaced: int
    tie_rule: str
    end: str | None = None
    facts: tuple[str, ...] = field(default=())


class Trainer(Protocol):
    """What every objective's trainer can do, at the step where it stands.

    A step is what the objective calls one: a merge, or a round of a unigram training. The vocabulary is append-only where
    steps are merges (`merges` says how many of them count), and another object at each step where pieces are dropped.
    """

    words: Words
    recipe: Recipe
    number: int
    start_tokens: int
    known_for: Stops
    """The sizes that a run goes to where none are named: those that a preset was published with, where that was asked for."""

    @property
    def known(self) -> int:
        """The furthest step that has been made."""

    @property
    def tokens(self) -> int:
        """The length of the corpus in tokens, by weight."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary; only its first `merges` merges count."""

    @property
    def merges(self) -> int:
        """The number of merges of the vocabulary that count."""

    @property
    def vocab_size(self) -> int:
        """The number of ids, specials counted."""

    @property
    def least_size(self) -> int:
        """The number of ids that no training comes below: what is there before the first merge, or what pruning must keep."""

    @property
    def uses(self) -> Sequence[int]:
        """How often each symbol stands in the corpus, by weight."""

    @property
    def pairs(self) -> int:
        """How many candidates there are."""

    @property
    def memory(self) -> int:
        """How many bytes the corpus as it is laid out takes, with its pairs, the history and the checkpoints: of arrays all, of
        lists eight for each number. 0 where they are not counted."""

    def advance(self, target: int | None, stops: Stops, seconds: float = ...) -> str | None:
        """Walk towards a step, or on to a stop, for a short while. Returns why it stopped, None when time is up."""

    def run(
        self, *, merges: int | None = None, vocab_size: int | None = None, min_count: int = 1, max_length: int | None = None,
        progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> str:
        """Go on until a stop holds. Returns why it stopped."""

    def jump(self, number: int, *, progress: Progress | None = None, cancel: Cancel | None = None) -> int:
        """Go to a step, or as far as steps last. Returns where it arrived."""

    def step(self) -> Any:
        """Make the next step and return it; None at the end."""

    def back(self) -> Any:
        """Undo the last step and return it; None at the start."""

    def step_at(self, number: int) -> Any:
        """A known step, 1 for the first."""

    def steps(self, first: int = 1) -> Iterator[Any]:
        """The known steps from this one on up to the present step."""

    def tokens_at(self, number: int) -> int:
        """The length of the corpus after a known step."""

    def candidates(self, limit: int = 100, start: int = 0) -> list[Any]:
        """What the next steps may take, first what comes first: pairs, or the pieces that a pruning judges."""

    def end(self, stops: Stops) -> str | None:
        """Why no further step may be made under these stops; None where one may."""

    def bound(self, stops: Stops) -> None:
        """Take other limits on what a step may make: what was learned past this step under the old ones is forgotten."""

    def limits(self, stops: Stops) -> Stops:
        """Of some stops those that say what a step may make, without those that only end a run."""

    def step_with(self, size: int) -> int | None:
        """The first known step at which the vocabulary has come to this size; None where there is none yet."""

    def last_step(self, stops: Stops) -> int | None:
        """The step that these stops lead to as far as can be said, None where they say nothing."""

    def ending(self, stops: Stops) -> Ending:
        """Where a run under these stops ends, as far as that is known at the furthest step that has been made."""

    def step_of(self, tokens: frozenset[bytes], first: int = 0) -> int | None:
        """The first known step after `first` at which one of these tokens comes to be (or, where pieces are dropped, is
        dropped); 0 for one that is there from the start. None where there is none."""

    def word(self, word: str, first: int = 0, units: int | None = None) -> list[tuple[int, int]] | None:
        """How a pre-token of the corpus is cut now: (unit that a token starts with, symbol)."""

    def length(self, symbol: int) -> int:
        """How many units a symbol covers."""

    def newest(self) -> int:
        """The symbol that the last step made, -1 where it made none."""

    def touched(self) -> Callable[[str], bool]:
        """A test of whether the last step changed how a pre-token of the corpus is cut."""

    def tokenizer(self, run: dict[str, Any] | None = None) -> Tokenizer:
        """The tokenizer of this very step."""
