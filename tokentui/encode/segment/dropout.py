"""BPE-dropout: some merges are skipped at random (I. Provilkov et al., 2020).

Libraries draw in three ways, with different distributions:

- `subword-nmt`: at each step every pair of neighbors is drawn again. Of the kept ones, the pair of lowest
  rank is merged wherever it was kept. It ends when no pair is kept.
- `tokenizers`: candidates are drawn by rank and then by place, including stale ones. A dropped candidate
  returns after the next kept one, and is lost if no candidate is left. youtokentome has the same
  distribution.
- `sentencepiece`: a candidate is drawn once. A dropped one does not return until a neighbor has changed.

With p = 0 all give the same as merges, with p = 1 the units. Each draw is logged. Sources: subword-nmt 0.3.8,
`apply_bpe.py`; tokenizers 0.23, `models/bpe/word.rs`; sentencepiece 0.2.3, `bpe_model.cc`, `SampleEncode`.
"""

from __future__ import annotations

import copy
import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tokentui.core.choices import Axis, Choice
from tokentui.core.errors import TokentuiError, shown
from tokentui.core.jobs import check
from tokentui.core.records import dataclass
from tokentui.encode.segment import ASKED_EVERY, ENCODING_WAYS, Segmenter, WordPart
from tokentui.encode.segment.merges import NONE, Merging, PairLookup
from tokentui.encode.vocabulary import Vocabulary

Cell = tuple[int, int, int, int]
"""A merge of two cells: the left symbol, the right one, and the places of both."""


class Draw(NamedTuple):
    """A random draw on a candidate pair.

    Attributes:
        start: The first unit of the pair.
        middle: The first unit of its right part.
        end: The unit after the pair.
        left: The exact bytes of the left part; empty for a stale candidate.
        right: The exact bytes of the right part; empty for a stale candidate.
        rank: The rank of the merge; None for a pair that does not merge.
        number: The random number, at least 0 and below 1.
        kept: True if the candidate was kept.
        merged: True if it was merged.
    """

    start: int
    middle: int
    end: int
    left: bytes
    right: bytes
    rank: int | None
    number: float
    kept: bool
    merged: bool

    @property
    def fate(self) -> str:
        """What happened to the candidate, in a word or two."""
        if self.merged:
            return "merged"
        if not self.kept:
            return "dropped"
        return "no merge" if self.rank is None else "kept" if self.left else "passed over"


class Chance(NamedTuple):
    """Decides at random which candidates are kept.

    Attributes:
        p: The share of candidates that are dropped.
        random: Returns the next random number.
        above: True to keep a candidate if its number is greater than p; False if it is at least p.
    """

    p: float
    random: Callable[[], float]
    above: bool

    def draw(self) -> tuple[float, bool]:
        """Return the next random number, and whether the candidate is kept."""
        number = self.random()
        return number, number > self.p if self.above and self.p else number >= self.p


class Line:
    """The cells of a word during merging, and its draws.

    Args:
        symbols, starts, ends, following: As for `merges.merge_cells`; `starts` has the first unit of each
            cell.
        merged: Returns the rank of two neighbors and the symbol that they make; None if they do not merge.
        pieces: The exact bytes of each symbol.
        chance: Decides which candidates are kept.
    """

    def __init__(
        self, symbols: list[int], starts: Sequence[int], ends: list[int], following: list[int],
        merged: PairLookup, pieces: Sequence[bytes], chance: Chance,
    ) -> None:
        self.symbols, self.starts, self.ends, self.following = symbols, starts, ends, following
        self.before = list(range(-1, len(symbols) - 1))
        self.gone = bytearray(len(symbols))
        self._merged, self._pieces, self._chance = merged, pieces, chance
        self.draws: list[Draw] = []

    def merge_at(self, at: int) -> tuple[int, int] | None:
        """Return the rank of the pair that starts at a cell and the symbol that it makes; None if it does not
        merge."""
        right = self.following[at]
        if right >= len(self.symbols) or NONE in (self.symbols[at], self.symbols[right]):
            return None
        return self._merged(self.symbols[at], self.symbols[right])

    def draw(self, at: int, rank: int | None, stale: bool = False) -> bool:
        """Draw the candidate that starts at a cell, and log the draw. Return whether it is kept.

        A kept candidate is not merged here.

        Args:
            at: The cell.
            rank: The rank to log; None for a pair that does not merge.
            stale: True for a candidate that no longer exists.
        """
        number, is_kept = self._chance.draw()
        right = self.following[at]
        out = stale or right >= len(self.symbols)
        places = (self.starts[at],) * 3 if out else (self.starts[at], self.starts[right], self.ends[right])
        parts = (b"", b"") if out else (self._piece(at), self._piece(right))
        self.draws.append(Draw(*places, *parts, rank, number, is_kept, False))
        return is_kept

    def _piece(self, at: int) -> bytes:
        return b"" if self.symbols[at] == NONE else self._pieces[self.symbols[at]]

    def join(self, at: int, makes: int) -> Cell:
        """Merge the pair that starts at a cell into a symbol, in place.

        Return the symbols and cells of the pair.
        """
        symbols, right = self.symbols, self.following[at]
        merge = symbols[at], symbols[right], at, right
        symbols[at], symbols[right] = makes, NONE
        self.gone[right] = 1
        self.ends[at] = self.ends[right]
        beyond = self.following[at] = self.following[right]
        if beyond < len(symbols):
            self.before[beyond] = at
        return merge

    def note_merged(self, draw: int) -> None:
        """Record that the candidate of a draw was merged."""
        self.draws[draw] = self.draws[draw]._replace(merged=True)


def _each_step(line: Line) -> Iterator[Cell]:
    """Merge in place with the random draws of subword-nmt, until no draw keeps a candidate.

    Yields each merge.
    """
    while True:
        candidates: list[tuple[int, int, int, int]] = []  # rank, cell, what it makes, draw
        at, size = 0, len(line.symbols)
        while at < size and line.following[at] < size:
            merge = line.merge_at(at)
            if line.draw(at, None if merge is None else merge[0]) and merge is not None:
                candidates.append((merge[0], at, merge[1], len(line.draws) - 1))
            at = line.following[at]
        if not candidates:
            return
        least, free = min(candidates)[0], 0
        for rank, at, makes, draw in candidates:
            if rank == least and at >= free:  # of three alike the last one stays
                line.note_merged(draw)
                yield line.join(at, makes)
                free = line.following[at]


def _candidates(line: Line) -> list[tuple[int, int, int]]:
    """Return a heap of (rank, cell, result) of all pairs that merge."""
    cells = range(len(line.symbols))
    heap = [(merge[0], at, merge[1]) for at in cells if (merge := line.merge_at(at)) is not None]
    heapq.heapify(heap)
    return heap


def _fresh(line: Line, at: int) -> Iterator[tuple[int, int, int]]:
    """Yield the candidates on both sides of a cell that was just merged."""
    for cell in (line.before[at], at):
        if cell >= 0 and (merge := line.merge_at(cell)) is not None:
            yield merge[0], cell, merge[1]


def _put_back(line: Line) -> Iterator[Cell]:
    """Merge in place with the random draws of tokenizers. Yield each merge."""
    heap, waiting = _candidates(line), list[tuple[int, int, int]]()
    while heap:
        rank, at, makes = top = heapq.heappop(heap)
        merge = None if line.gone[at] else line.merge_at(at)
        current = merge is not None and merge[1] == makes
        if not line.draw(at, rank, stale=not current):
            waiting.append(top)
            continue
        while waiting:
            heapq.heappush(heap, waiting.pop())
        if current:
            line.note_merged(len(line.draws) - 1)
            yield line.join(at, makes)
            for candidate in _fresh(line, at):
                heapq.heappush(heap, candidate)


def _once(line: Line) -> Iterator[Cell]:
    """Merge in place with the random draws of sentencepiece. Yield each merge."""
    heap = [(rank, at, line.ends[line.following[at]], makes) for rank, at, makes in _candidates(line)]
    heapq.heapify(heap)
    while heap:
        rank, at, end, makes = heapq.heappop(heap)
        right = line.following[at]
        if line.gone[at] or right >= len(line.symbols) or line.ends[right] != end:
            continue  # out of date: it is not drawn
        merge = line.merge_at(at)
        if merge is None or merge[1] != makes or not line.draw(at, rank):
            continue
        line.note_merged(len(line.draws) - 1)
        yield line.join(at, makes)
        for rank, cell, makes in _fresh(line, at):
            heapq.heappush(heap, (rank, cell, line.ends[line.following[cell]], makes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Behavior(Choice):
    """How a library draws.

    Attributes:
        run: Merges a word with these draws.
        above: True to keep a candidate if its number is greater than p; False if it is at least p.
    """

    run: Callable[[Line], Iterator[Cell]]
    above: bool = False


LIKE = Axis(
    "like", "how dropout draws",
    Behavior("tokenizers", "a dropped candidate is tried again after the next kept one", run=_put_back),
    Behavior("subword-nmt", "every pair is drawn anew at each step", run=_each_step, above=True),
    Behavior("sentencepiece", "a dropped candidate is skipped until a neighbor changes", run=_once),
)
"""The ways to draw, by library. youtokentome's is that of tokenizers."""

P = 0.1
"""The usual share of dropped candidates."""


class Dropout:
    """Cuts words by merges, some of which are skipped at random, with new draws for each word.

    Args:
        vocabulary: A vocabulary with merges.
        merges: How many merges count.
        p: The share of candidates that are dropped, from 0 to 1.
        like: A name of `LIKE`.
        seed: The same seed gives the same draws for the same words in order.
        log: Receives the draws of each word, in order; None for no log.
        random: Returns the next random number; None to use the seed.

    Raises:
        TokentuiError: The vocabulary has no merges, p is not from 0 to 1, or `like` is unknown.
    """

    def __init__(
        self, vocabulary: Vocabulary, merges: int = 0, *, p: float = P, like: str = "tokenizers",
        seed: int | None = None, log: list[list[Draw]] | None = None,
        random: Callable[[], float] | None = None,
    ) -> None:
        from random import Random  # only where one draws

        if isinstance(p, bool) or not isinstance(p, int | float) or not 0 <= p <= 1:
            raise TokentuiError("expected a share from 0 to 1", f"p={shown(p)}", f"for example {P}")
        self._behavior = LIKE.check(like)
        self._chance = Chance(float(p), random or Random(seed).random, self._behavior.above)
        own = vocabulary.file.way
        if not ENCODING_WAYS.of(vocabulary.recipe.encode).by_rank and vocabulary.merges:
            vocabulary = vocabulary.encoded_by("merges")
            own = vocabulary.file.way
        segmenter: Segmenter | None = None
        what = "the vocabulary has no merges to leave out"
        if ENCODING_WAYS.of(vocabulary.recipe.encode).by_rank and not vocabulary.substitutes_bytes:
            way = own or vocabulary.way(merges) or ENCODING_WAYS["merges"]
            segmenter = way.segmenter(vocabulary, merges)
            if vocabulary.merges:
                what = f"no draw leaves merges out where a text is encoded by {way.how}"
        if not isinstance(segmenter, Merging):
            raise TokentuiError(what, "dropout", "use a tokenizer that is encoded by merges")
        self._log = [] if log is None else log
        self._merging = copy.copy(segmenter)
        self._merging.run = self._run
        self._pieces = vocabulary.pieces

    def _run(
        self, symbols: list[int], starts: Sequence[int], ends: list[int], following: list[int],
        merged: PairLookup,
    ) -> Iterator[Cell]:
        """Yield the cells of one word, and add its number of draws to the log at the end.

        It checks for cancellation every ASKED_EVERY cells.
        """
        line = Line(symbols, starts, ends, following, merged, self._pieces, self._chance)
        for number, cell in enumerate(self._behavior.run(line)):
            if number % ASKED_EVERY == 0:
                check()
            yield cell
        self._log[-1] += line.draws

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts, with new draws, and append the draws to the log."""
        self._log.append([])
        return self._merging.segment(units, characters)

    def follower(self, units: Callable[[str], Sequence[bytes]]) -> Callable[[str], list[WordPart]]:
        """Return a function that cuts the words of one text in order, with new draws for each."""
        return lambda word: self.segment(units(word), len(word))
