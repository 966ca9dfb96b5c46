"""An opened tokenizer with the face that all trainers have: a step is the birth of a token."""

from __future__ import annotations

import bisect
import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokentui.encode.segment.parts import Part
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.base import MERGES, Cancel, Progress, Step, Stops
from tokentui.learn.replay.cutter import Cutter
from tokentui.learn.replay.history import Histories
from tokentui.learn.replay.order import Order
from tokentui.recipe import Ending
from tokentui.text.count import Words

LAST = "the last birth"
"""Why there is no further step."""

_KEPT = 1 << 14


@dataclass(frozen=True, slots=True)
class Birth:
    """A token that is born, or will be.

    Attributes:
        number: Which birth it is, 1 for the first.
        symbol: Its place in the vocabulary.
        piece: Its exact bytes.
        parts: What its bytes are before it is born: its two parents where merges make it.
        id: Its id in the file.
        score: Its score in the file, None where there is none.
        places: How many tokens of it the corpus has as soon as it is born, by weight.
        words: How many distinct words change.
    """

    number: int
    symbol: int
    piece: bytes
    parts: tuple[bytes, ...]
    id: int
    score: float | None
    places: int
    words: int


class OpenedTrainer:
    """The births of a tokenizer over a corpus. All of them are known from the start, so any step is reached at once.

    Args:
        tokenizer: The whole tokenizer.
        words: The distinct pre-tokens of the corpus, as the tokenizer cuts it.
        fixed: How often each token stands in the corpus that is found by its name, by the name.
        order: The births where they are known already.
        progress: Told (done, total) in words.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: It is none whose tokens are born one by one.
    """

    known_for = Stops()

    def __init__(
        self,
        tokenizer: Tokenizer,
        words: Words,
        *,
        fixed: dict[str, int] | None = None,
        order: Order | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        self.opened = tokenizer
        self.words = words
        self.recipe = tokenizer.recipe
        self.order = order or Order.of(tokenizer)
        self.fixed = dict(fixed or {})
        self.number = 0
        self._histories = Histories(self.order, words.words, words.counts, sum(self.fixed.values()), progress, cancel)
        self._uses = [0] * len(self.order.vocabulary.pieces)
        self._histories.walk(self._uses, -1, 0)
        self.start_tokens = self._histories.tokens_at(0)
        self._cutter = Cutter(self.order)
        self._parts: dict[tuple[int, int], list[Part]] = {}
        self._tokenizer: tuple[int, Tokenizer] | None = None

    def again(self) -> OpenedTrainer:
        """Another one over the same corpus, at step 0, to be walked with beside; what is known of the words is shared."""
        other = copy.copy(self)
        other.number, other._uses = 0, [0] * len(self._uses)
        other._histories.walk(other._uses, -1, 0)
        other._cutter, other._parts, other._tokenizer = Cutter(self.order), {}, None
        return other

    # ---- where it stands

    @property
    def known(self) -> int:
        """The number of births: all are known."""
        return len(self.order.births)

    @property
    def memory(self) -> int:
        """How many bytes the changes of all births take."""
        return self._histories.memory

    @property
    def tokens(self) -> int:
        """The corpus in tokens, by weight."""
        return self._histories.tokens_at(self.number)

    @property
    def merges(self) -> int:
        """The number of merges of the vocabulary that count."""
        return self.number if self.order.vocabulary.merges else 0

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of this step."""
        return self.tokenizer().vocabulary

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, specials counted; holes are not."""
        return self.order.size(self.number)

    @property
    def least_size(self) -> int:
        """The number of ids before the first birth."""
        return self.order.size(0)

    @property
    def uses(self) -> Sequence[int]:
        """How often each symbol stands in the corpus, by weight."""
        return self._uses

    @property
    def pairs(self) -> int:
        """How many births are to come."""
        return self.known - self.number

    def tokens_at(self, number: int) -> int:
        """The corpus in tokens after so many births."""
        return self._histories.tokens_at(number)

    # ---- walking

    def jump(self, number: int, *, progress: Progress | None = None, cancel: Cancel | None = None) -> int:
        """Go to a birth, or to the last one. Returns where it arrived."""
        number = min(max(0, number), self.known)
        self._histories.walk(self._uses, self.number, number)
        self.number = number
        return number

    def advance(self, target: int | None, stops: Stops, seconds: float = 0.01) -> str | None:
        """Go to a birth at once; without one, on to where a stop holds. Returns why it stopped."""
        if target is not None:
            return MERGES if self.jump(target) == target else LAST
        last = self.last_step(stops)
        self.jump(max(last, self.number))
        return self.end(stops)

    def run(
        self, *, merges: int | None = None, vocab_size: int | None = None, min_count: int = 1, max_length: int | None = None,
        progress: Progress | None = None, cancel: Cancel | None = None,
    ) -> str:
        """Go on until a stop holds. Returns why it stopped."""
        return self.advance(None, Stops(merges, vocab_size)) or LAST

    def step(self) -> Step | None:
        """Make the next birth and return it; None at the last one."""
        if self.number == self.known:
            return None
        self.jump(self.number + 1)
        return self.step_at(self.number)

    def back(self) -> Step | None:
        """Undo the last birth and return it; None at the start."""
        if not self.number:
            return None
        undone = self.step_at(self.number)
        self.jump(self.number - 1)
        return undone

    def end(self, stops: Stops) -> str | None:
        """Why there is no further birth, or none before a stop; None where there is one."""
        if self.number >= self.known:
            return LAST
        return MERGES if self.number >= self.last_step(stops) else None

    def bound(self, stops: Stops) -> None:
        """Stops limit a training; what is born here stands in the file."""

    def limits(self, stops: Stops) -> Stops:
        """No stop says what is born."""
        return Stops()

    def step_with(self, size: int) -> int | None:
        """The first birth at which there are so many ids; None where there never are."""
        sizes = self.order.sizes
        return None if size > len(sizes) else sizes[size - 1] if size > 0 else 0

    def last_step(self, stops: Stops) -> int:
        """The birth that these stops lead to: the last one, or one after so many merges."""
        return self.known if stops.merges is None else min(stops.merges, self.known)

    def ending(self, stops: Stops) -> Ending:
        """The birth that these stops lead to: all births are known."""
        last = self.last_step(stops)
        return Ending(last, "last" if last == self.known else "stop")

    def step_of(self, tokens: frozenset[bytes], first: int = 0) -> int | None:
        """The first birth after `first` of one of these tokens; 0 for one that is there from the start, None for none."""
        found = [birth for token in tokens for birth in self._births_of.get(token, ())]
        return min((birth for birth in found if birth > first or not first), default=None)

    @functools.cached_property
    def _births_of(self) -> dict[bytes, list[int]]:
        """The births of each token by its bytes; what is there from the start has birth 0."""
        found: dict[bytes, list[int]] = {}
        for piece, birth in zip(self.order.vocabulary.pieces, self.order.born, strict=True):
            found.setdefault(piece, []).append(birth)
        return found

    # ---- looking

    def birth(self, number: int) -> Birth:
        """A birth, 1 for the first."""
        order, vocabulary = self.order, self.order.vocabulary
        symbol = order.births[number - 1]
        return Birth(
            number=number,
            symbol=symbol,
            piece=vocabulary.pieces[symbol],
            parts=self._parts_of(number, symbol),
            id=vocabulary.id_of(symbol, len(vocabulary.merges)),
            score=vocabulary.scores[symbol] if vocabulary.scores else None,
            places=self._histories.places(number, symbol),
            words=len(self._histories.touched(number)),
        )

    def _parts_of(self, number: int, symbol: int) -> tuple[bytes, ...]:
        vocabulary = self.order.vocabulary
        if vocabulary.merges:
            left, right = vocabulary.merges[symbol - vocabulary.base_size]
            return vocabulary.pieces[left], vocabulary.pieces[right]
        return self._cutter.before(symbol, number)

    def candidates(self, limit: int = 100, start: int = 0) -> list[Birth]:
        """The births to come, the next one first."""
        first = self.number + 1 + start
        return [self.birth(number) for number in range(first, min(first + limit, self.known + 1))]

    def step_at(self, number: int) -> Step:
        """A birth as a step: its first part, and the rest of it."""
        born = self.birth(number)
        cut = len(born.parts[0]) if born.parts else len(born.piece)
        rest = born.parts[1] if len(born.parts) == 2 else born.piece[cut:]
        return Step(
            number=number, left=born.parts[0] if born.parts else born.piece, right=rest, token=born.piece, id=born.id,
            count=born.places, replaced=born.places, score=born.score, tied=1, tokens=self.tokens_at(number),
            vocab_size=self.order.size(number),
        )

    def steps(self, first: int = 1) -> Iterator[Step]:
        """The births from this one on up to the present one."""
        return map(self.step_at, range(first, self.number + 1))

    def word(self, word: str, first: int = 0, units: int | None = None) -> list[tuple[int, int]] | None:
        """How a pre-token is cut now: (unit that a token starts with, symbol), -1 for what has none."""
        found = [(part.start, -1 if part.symbol is None else part.symbol) for part in self.parts(word)]
        starts = [start for start, _ in found]
        begin = max(0, bisect.bisect_right(starts, first) - 1)
        end = len(found) if units is None else bisect.bisect_left(starts, first + units)
        return found[begin:end]

    def parts(self, word: str) -> list[Part]:
        """The parts of a pre-token now. Those of a word of the corpus are kept while no birth changes it."""
        index = self._index.get(word)
        if index is None:
            return self._cutter.parts(word, self.number)
        key = index, self._histories.since(index, self.number)
        parts = self._parts.get(key)
        if parts is None:
            if len(self._parts) >= _KEPT:
                self._parts.clear()
            parts = self._parts[key] = self._cutter.parts(word, self.number)
        return parts

    def since(self, word: str) -> int:
        """The birth since which a pre-token of the corpus is cut as it is now; the present one for any other word."""
        index = self._index.get(word)
        return self.number if index is None else self._histories.since(index, self.number)

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words.words)}

    def length(self, symbol: int) -> int:
        """How many units a symbol covers; 1 for what has none."""
        return 1 if symbol < 0 else max(1, len(self._cutter.spelled(symbol)))

    def newest(self) -> int:
        """The symbol that the last birth made, -1 at the start."""
        return self.order.births[self.number - 1] if self.number else -1

    def touched(self) -> Callable[[str], bool]:
        """A test of whether the last birth changed how a pre-token of the corpus is cut."""
        if not self.number:
            return lambda word: False
        words = self.words.words
        return {words[number] for number in self._histories.touched(self.number)}.__contains__

    def tokenizer(self, run: dict[str, Any] | None = None) -> Tokenizer:
        """The tokenizer of this very step."""
        if self._tokenizer is None or self._tokenizer[0] != self.number:
            self._tokenizer = self.number, self.order.tokenizer(self.number)
        return self._tokenizer[1]
