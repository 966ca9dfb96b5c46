"""The face of a trainer: the questions that can be asked at a step.

Other rooms know nothing else of a trainer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tokentui.core.records import dataclass
from tokentui.learn.rows import Candidate, Entry, Page, Query, Traits, Why
from tokentui.learn.steps import Changed, Life, Span, Step, Stop, Used, Word
from tokentui.recipe import Ending, Recipe, Stops, WhatIf

if TYPE_CHECKING:  # it takes longer to import than all the rest
    from tokentui.encode.tokenizer import Tokenizer
    from tokentui.text.count import Words

SLICE_S = 0.01
"""The seconds that a trainer works before it looks up."""


class Size(NamedTuple("Size", [("ids", int)])):
    """A step at which the vocabulary has come to so many ids: at least so many where it grows, at most where
    it shrinks."""


class Tokens(NamedTuple("Tokens", [("tokens", int)])):
    """A step at which the corpus has come to so many tokens: at most so many, or at least where steps make it
    longer."""


class Made(NamedTuple("Made", [("tokens", frozenset[bytes])])):
    """A step at which one of these tokens comes or goes, by exact bytes."""


Goal = Size | Tokens | Made


class Substeps(Protocol):
    """A walk through the coming step, piece by piece."""

    @property
    def walked(self) -> tuple[int, int] | None:
        """The number of pieces dropped and the number to drop; None outside a walk."""

    def fine(self, pieces: int) -> int:
        """Drop so many pieces more, or bring back. Returns how many are dropped then.

        Raises:
            TokentuiError: The coming step cannot be walked through.
        """


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compressed text at a step.

    Attributes:
        compressed: A window of it: distinct documents one after another, in order of first appearance.
        breaks: The places in the window where a document after the first begins.
        table: (placeholder, left, right, expansion) of each step; left and right may be placeholders
        themselves.
        names: The letter that each placeholder is shown as.
        text_bytes: The size of the whole compressed text.
        table_bytes: The size of the table.
        original_bytes: The size of the text before the first step.
    """

    compressed: bytes
    breaks: tuple[int, ...]
    table: tuple[tuple[int, int, int, bytes], ...]
    names: Mapping[int, str]
    text_bytes: int
    table_bytes: int
    original_bytes: int

    @property
    def sizes(self) -> str:
        """The sizes in words."""
        whole = self.text_bytes + self.table_bytes
        parts = f"{self.text_bytes:,} of text + {self.table_bytes:,} of table"
        return f"{parts} = {whole:,} bytes; {self.original_bytes:,} before"


class Compression(Protocol):
    """A training that compresses its text."""

    def compressed(self, start: int = 0, length: int = 4000) -> Compressed:
        """The compression at this step, with so many bytes of the compressed text from a byte on."""


class Replay(Protocol):
    """A file whose tokens come into use one by one."""

    def since(self, word: str) -> int:
        """The step since which a pre-token is segmented as it is now; the present one for a word that the
        corpus lacks."""

    def unreachable(self, number: int) -> str:
        """The reason why no text ever becomes the token of an id, empty where one does."""


class Trainer(Protocol):
    """A training at a step, over a corpus of one or several parts.

    Attributes:
        words: The counted pre-tokens of the corpus.
        recipe: The recipe that is trained.
        what_if: The changes of the run.
    """

    words: Words
    recipe: Recipe
    what_if: tuple[WhatIf, ...]
    @property
    def number(self) -> int:
        """The present step, 0 for the start."""

    @property
    def limits(self) -> Stops:
        """The stops that steps are made under, of those in `Traits.shaped_by`."""

    @property
    def traits(self) -> Traits:
        """The facts that other rooms have to know of it."""

    @property
    def substeps(self) -> Substeps | None:
        """The walk through a step, candidate by candidate, where there is one."""

    @property
    def compression(self) -> Compression | None:
        """The compressed text, where there is one."""

    @property
    def replay(self) -> Replay | None:
        """The file whose tokens are replayed, where there is one."""

    @property
    def computed(self) -> int:
        """The furthest step that has been made. Steps up to it are made again without choosing."""

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol in the corpus at this step, by weight."""

    def memory(self) -> int:
        """The bytes that the corpus as it is laid out, the history and the checkpoints take; 0 where they are
        not counted."""

    def advance(self, goal: int | None, stops: Stops, seconds: float = SLICE_S) -> Stop | None:
        """Walk towards a step, back or forward, or on to a stop (`goal` None), for about so many seconds.

        With a goal only the stops of `Traits.shaped_by` hold; the others end a run. Other stops of these than
        before make the trainer forget the computed steps that would differ.

        Returns:
            The reason why it stopped: `Stop.MERGES` at the goal. None where time is up and there is more to
                do.
        """

    def end(self, stops: Stops) -> Stop | None:
        """The reason why no further step may be made under these stops, None where one may."""

    def ending(self, stops: Stops) -> Ending:
        """The step that a run under these stops ends with, as far as that is known."""

    def find(self, goal: Goal, after: int = 0) -> int | None:
        """The first computed step at which a goal is reached, or the first after a step; None where there is
        none yet."""

    def step_at(self, number: int) -> Step:
        """A computed step, 1 for the first."""

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a computed step, by weight."""

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """The length of each named part of the corpus in tokens after a computed step; empty where there are
        no named parts, or where it is not known at this step."""

    def size_at(self, number: int) -> int:
        """The number of ids after a computed step, specials counted."""

    def taken(self, number: int) -> Candidate | None:
        """The candidate that a computed step took, with the figures that it had then; None where a step takes
        none."""

    def why(self, stops: Stops) -> Why:
        """The reasons of the step to come."""

    def candidates(self, query: Query) -> Page[Candidate]:
        """The candidates of the next step, best first."""

    def entries(self, query: Query) -> Page[Entry]:
        """The entries of the vocabulary at this step."""

    def segment(self, place: Word) -> Sequence[Span]:
        """The segmentation of a word of the corpus at this step; empty for a word that the corpus lacks."""

    def changed(self) -> Changed:
        """The changes of the last step."""

    def life(self, word: str) -> Sequence[Life]:
        """A pre-token, of the corpus or any other, as the tokenizers of step 0 up to this one encode it: an
        entry for each step that cuts it in another way.

        Raises:
            TokentuiError: It cannot be encoded: it holds a byte that stands for a pair.
        """

    def made_at(self, symbol: int) -> int:
        """The step that made a symbol of the vocabulary; 0 where it is there from the start, or is none."""

    def uses_over(self, symbol: int) -> Callable[[], Sequence[Used]]:
        """The uses of a symbol of the vocabulary from step 0 up to this one, from the history.

        Returns:
            A function that gives them, an entry for each step that changes their number. Another thread may
            call it while this training walks on: it tells of the step at which it was asked for.
        """

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """The tokenizer of a computed step, of the present one where None.

        Args:
            number: The step.
            run: The words of the run, which a file of the tokenizer keeps.
        """

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> Trainer:
        """Another training over the same corpus that stands at a computed step and goes on under what-ifs.

        A fork at step 0 reads nothing but the words. Any other takes over what this training has at present,
        and is made where that is walked.

        Raises:
            TokentuiError: There are what-ifs, and no `Traits.what_ifs`; or two decide what a step merges.
        """
