"""The protocol of a trainer: what each kind of training does, and knows, in its own way.

Other rooms use trainers only through it and through the functions of `learn.view`. Here and in all trainers
`number` is the number of a step: 1 for the first one, 0 for the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tokentui.core.records import dataclass
from tokentui.learn.rows import Candidate, Inventory, Ranking, Traits, Why
from tokentui.learn.steps import Changed, Span, Step, Stop, Used, Word
from tokentui.recipe import Ending, Recipe, Stops, WhatIf

if TYPE_CHECKING:  # takes longer to import than all the rest
    from tokentui.encode.tokenizer import Tokenizer
    from tokentui.text.count import Words

SLICE_S = 0.01
"""The seconds that `advance` works by default before it returns."""


class Size(NamedTuple("Size", [("ids", int)])):
    """The first step with at least `ids` ids, or with at most `ids` if steps make the vocabulary smaller."""


class Tokens(NamedTuple("Tokens", [("tokens", int)])):
    """The first step with a corpus of at most `tokens` tokens; at least that if steps make it longer."""


class Made(NamedTuple("Made", [("tokens", frozenset[bytes])])):
    """The first step at which one of these tokens, by exact bytes, comes or goes."""


Goal = Size | Tokens | Made
"""What `view.find` looks for."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compressed text at a step.

    Attributes:
        compressed: A window of the compressed text: distinct documents one after another, in order of first
            appearance.
        breaks: The places in the window where a document after the first begins.
        table: The placeholder, left byte, right byte and expansion of each step. Left and right may be
            placeholders themselves.
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
        """A sentence on the sizes of text and table."""
        whole = self.text_bytes + self.table_bytes
        parts = f"{self.text_bytes:,} of text + {self.table_bytes:,} of table"
        return f"{parts} = {whole:,} bytes; {self.original_bytes:,} before"


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
        """The current step, 0 for the start."""

    @property
    def limits(self) -> Stops:
        """The stops that shape the steps: the values of those in `Traits.shaped_by`."""

    @property
    def traits(self) -> Traits:
        """The facts about the training that other rooms read."""

    @property
    def computed(self) -> int:
        """The furthest step that was made. Steps up to it are made again without choosing."""

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol in the corpus at this step, by weight."""

    def memory(self) -> int:
        """Return the bytes that corpus, history and checkpoints take; 0 if they are not counted."""

    def advance(self, goal: int | None, stops: Stops, seconds: float = SLICE_S) -> Stop | None:
        """Walk toward a step, back or forward, for about `seconds` seconds.

        Args:
            goal: The step. None goes on until a stop holds.
            stops: The stops. With a goal only those in `Traits.shaped_by` hold; the others end a run. If one
                of these has changed, the trainer forgets the computed steps that would differ.
            seconds: The time after which it returns.

        Returns:
            Why it stopped; `Stop.MERGES` at the goal. None if time is up and there is more to do.
        """

    def end(self, stops: Stops) -> Stop | None:
        """Return why these stops allow no further step; None if they allow one."""

    def ending(self, stops: Stops) -> Ending:
        """Return the last step of a run under these stops, and how sure it is."""

    def step_at(self, number: int) -> Step:
        """Return a computed step, 1 for the first."""

    def tokens_at(self, number: int) -> int:
        """Return the length of the corpus in tokens after a computed step, by weight."""

    def lengths_at(self, number: int) -> tuple[int, ...]:
        """Return the length of each named part of the corpus in tokens after a computed step.

        Returns an empty tuple without named parts, and for a step at which the lengths are not known.
        """

    def size_at(self, number: int) -> int:
        """Return the number of ids after a computed step, special tokens counted."""

    def taken(self, number: int) -> Candidate | None:
        """Return the candidate that a computed step took, with its figures before the step.

        Returns None in a training whose steps take no single candidate.
        """

    def steps_changing(self, tokens: frozenset[bytes], steps: range) -> Iterable[int]:
        """Return those of some computed steps at which a token of these exact bytes comes or goes, in order.

        The units come at step 0; in a training that removes tokens nothing does.
        """

    def candidates_at(self, limit: int | None, stops: Stops) -> Ranking:
        """Return the candidates of the next step, best first; without any at the end.

        Args:
            limit: How many of the best can be asked for at least; None for all.
            stops: The stops, of which those in `Traits.shaped_by` count.
        """

    def explained(self, why: Why, stops: Stops) -> Why:
        """Return the reasons of the next step with what only this kind of training knows.

        Args:
            why: The candidates, and the end by `end`.
            stops: The stops.
        """

    def inventory(self) -> Inventory:
        """Return the vocabulary at this step, and how its entries are listed."""

    def segment(self, place: Word) -> Sequence[Span]:
        """Return the tokens of a word of the corpus at this step; empty for a word that the corpus lacks."""

    def changed(self) -> Changed:
        """Return what the last step changed in the segmentation of the corpus; nothing at step 0."""

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield step 0 and the later steps up to this one that may cut a pre-token in another way, each with
        the exact bytes of its tokens, empty for an unknown one.

        Raises:
            TokentuiError: The pre-token contains a byte that stands for a pair.
        """

    def uses_of(self, symbol: int) -> Iterator[Used]:
        """Return an iterator over the uses of a symbol at step 0 and at the steps up to this one that may
        change them. It may be read while this training walks on."""

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """Return the tokenizer of a computed step.

        Args:
            number: The step; None for the current one.
            run: The settings of the run, which a file of the tokenizer records.
        """

    def fork(self, number: int, what_if: tuple[WhatIf, ...]) -> Trainer:
        """Return another training of the same corpus, at a computed step, that goes on under more what-ifs.

        A fork at step 0 reads only the words. Any other copies the current state of this training, so call it
        in the thread that walks this training.

        Args:
            number: The step.
            what_if: The what-ifs that are added.

        Raises:
            TokentuiError: The training supports no what-ifs, or two of them decide what one step merges.
        """
