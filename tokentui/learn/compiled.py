"""The engine of merges with compiled kernels. Every number is that of the plain engine (`bpe`)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tokentui.core import jit
from tokentui.core.jobs import tick
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.bases import WEIGHTS, Weighted
from tokentui.learn.objectives import OBJECTIVES
from tokentui.learn.ranking import Ranking
from tokentui.learn.stepped import Constraints
from tokentui.learn.ties import TIES
from tokentui.learn.trainer import COMPILED
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.kernels.counted import CountedWords
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import to_bytes
from tokentui.text.units import MARKS, UNITS

if TYPE_CHECKING:
    from tokentui.learn.kernels.pairs import CompiledCells, Units

WORTH_CHARS = 1 << 15
"""A corpus whose distinct words have fewer characters is trained by the plain engine within some hundredths of a second."""
MOST_CHARS = (1 << 31) // 4 - 1
"""Places are numbers of 32 bits; a character is up to four bytes."""
MOST_WEIGHT = (1 << 31) - 1
_LOOKED_AT = 128
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")


def without_kernel(recipe: Recipe) -> str:
    """The value of a recipe that no kernel knows, as `axis=value`: plain Python trains by it. Empty where kernels know all."""
    objective = OBJECTIVES.of(recipe.objective)
    known = {"objective": bool(objective.task)}
    if not objective.prunes:
        known |= {
            # A barrier inside a word is known to the cells of the plain engine alone.
            "pieces": recipe.pieces == "any", "tie": TIES.of(recipe.tie).kernel, "mark": MARKS.of(recipe.mark).kernel,
            "weight": WEIGHTS.of(recipe.weight).kernel, "coverage": recipe.coverage == 1, "symbols": not recipe.symbols,
        }
    return next((f"{name}={recipe.axis(name)}" for name, all_known in known.items() if not all_known), "")


def is_chosen(words: Words, recipe: Recipe, specials: Sequence[str]) -> bool:
    """True if the kernels are to do a training: loaded, fit for the recipe, and worth it for the corpus."""
    if without_kernel(recipe) or not jit.loaded(OBJECTIVES.of(recipe.objective).task):
        return False
    size = _size(words)
    if size < WORTH_CHARS and os.environ.get(jit.ENGINE) != "compiled":
        return False
    return size <= MOST_CHARS and max(words.counts, default=0) <= MOST_WEIGHT and not _may_spell(specials, words, recipe)


def _size(words: Words) -> int:
    """The length of all distinct words together, in characters or bytes."""
    return len(words.words.text) if isinstance(words.words, CountedWords) else sum(map(len, words.words))


def _may_spell(specials: Sequence[str], words: Words, recipe: Recipe) -> bool:
    """True if a merge may spell a special token and take its id. The kernels do not know special tokens."""
    if not specials:
        return False
    mark = recipe.mark_text if recipe.mark_kind.startswith("end") else ""
    text = to_bytes((mark + "\0").join((*words.words, "")))
    prefix = to_bytes(recipe.mark_text) if recipe.mark_kind == "prefix" else b""
    spellings = [special.encode("utf-8", "surrogatepass") for special in specials]
    return any(spelling in text or spelling.removeprefix(prefix) in text for spelling in spellings)


class _Merged(NamedTuple):
    """The figures of a merge that was made; see `bpe.Merged`."""

    places: int
    replaced: int
    tied: int
    left_uses: int
    right_uses: int


class KernelPairs:
    """The pairs of a corpus and the merges made of them, with kernels that make many merges in one call.

    `jit.load` has to have said yes before one is made.

    Args:
        words: The counted pre-tokens.
        recipe: The recipe.
        ranking: The ranking of the pairs.
        vocabulary_of: Makes the vocabulary from the units of the words and their weights.
    """

    engine = COMPILED

    def __init__(
        self, words: Words, recipe: Recipe, ranking: Ranking, vocabulary_of: Callable[[Weighted], Vocabulary]
    ) -> None:
        from tokentui.learn.kernels import pairs, score

        tick(0, len(words.words))
        units, pieces = _units(words, recipe, pairs.number_units)
        self._vocabulary = vocabulary_of(zip(([piece] for piece in pieces), units.totals, strict=True))
        symbols = [self._vocabulary.units[piece] for piece in pieces]
        prefix = len(to_bytes(recipe.mark_text)) if recipe.mark_kind == "prefix" else 0
        kind = score.ScoredCells if ranking.filters else pairs.CompiledCells
        self._cells = kind(units, symbols, self._vocabulary.pieces, recipe.tie, prefix, self._vocabulary.base_last)
        self._filters, self._filled = ranking.filters, (-1, -1)
        tick(len(words.words), len(words.words))

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary. It follows the kernels when it is asked for."""
        vocabulary = self._vocabulary
        if len(vocabulary.merges) < self._cells.known:
            vocabulary.extend(*self._cells.merges(len(vocabulary.merges)))
        return vocabulary

    @property
    def number(self) -> int:
        """The present step."""
        return self._cells.number

    @property
    def known(self) -> int:
        """The furthest step that has been made."""
        return self._cells.known

    @property
    def memory(self) -> int:
        """The bytes that the corpus, its pairs, the history and the checkpoints take; the vocabulary comes on top."""
        return self._cells.memory

    @property
    def left(self) -> Sequence[int]:
        """The left symbol of each pair."""
        return self._cells.left

    @property
    def right(self) -> Sequence[int]:
        """The right symbol of each pair."""
        return self._cells.right

    @property
    def length(self) -> Sequence[int]:
        """The number of units that each symbol covers."""
        return self._cells.length

    @property
    def counts(self) -> Sequence[int]:
        """The count of each pair at this step."""
        return self._cells.counts

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step, by weight."""
        return self._cells.uses

    def _limit(self, under: Constraints) -> None:
        """Take constraints: under others than before the candidates at the furthest step are found anew."""
        limits = under.max_length or 0, under.min_count if self._filters else 1
        if limits != self._filled:
            self._cells.fill(under.max_length, limits[1])
            self._filled = limits

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for about a millisecond, forward no further than there is a pair."""
        if goal > self.known == self.number:
            self._limit(under)
        self._cells.walk(goal, under.min_count)

    def best(self, under: Constraints) -> int:
        """The best pair at the furthest step, 0 where no pair may be merged."""
        self._limit(under)
        pair = self._cells.best()
        return pair if pair and self._cells.greatest() >= under.min_count else 0

    def forget(self) -> None:
        """Forget the steps past the present one."""
        self._vocabulary = self.vocabulary.copy(self.number)
        self._cells.forget()
        self._filled = -1, -1

    def merged(self, number: int) -> _Merged:
        """The figures of a known step."""
        return _Merged(*self._cells.figures(number))

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a known step."""
        return self._cells.tokens_at(number)

    def last_with(self, least: int) -> int:
        """The furthest known step that is reached from here by merges of pairs with at least such a count."""
        return self._cells.last_with(least)

    def ranked(self, under: Constraints) -> KernelRanked:
        """The candidates at this step in their order."""
        if (under.max_length or 0) != self._filled[0]:
            self._limit(under)
        return KernelRanked(self._cells, max(1, under.min_count))

    def changes(self) -> tuple[dict[int, int], int]:
        """The falls of the counts of older pairs in the last step, and the number of pairs before it."""
        cells = self._cells
        return (cells.changes(), cells.pairs_at(self.number - 1)) if self.number else ({}, cells.pairs)

    def words_changed(self) -> list[int]:
        """The words, by their number, in which the last step merged something."""
        return self._cells.words_of_step(self.number) if self.number else []

    def disjoint(self, pair: int) -> int:
        """The number of places of a pair that a merge would replace, by weight."""
        return self._cells.disjoint(pair)

    def word(self, index: int, first: int, units: int | None) -> list[tuple[int, int]]:
        """The segmentation of a word now."""
        return self._cells.word(index, first, units)


class KernelRanked:
    """The candidates of one step, put in order by a kernel as far as is asked.

    Args:
        cells: The pairs.
        least: The least count of a candidate.
    """

    def __init__(self, cells: CompiledCells, least: int) -> None:
        self._cells, self._least = cells, least
        self._found, self._ties, self._best = cells.standing(_LOOKED_AT, least)

    def __len__(self) -> int:
        return self._found

    def tied(self) -> int:
        """The number of pairs that share the greatest value."""
        return self._ties

    def best(self, limit: int) -> list[int]:
        """So many of the best pairs, fewer where there are no more."""
        if len(self._best) < min(limit, self._found):
            self._best = self._cells.standing(2 * limit, self._least)[2]
        return self._best[:limit]


def _units(
    counted: Words, recipe: Recipe, number: Callable[[Any, Any, Any, int], Units]
) -> tuple[Units, list[bytes]]:
    """The units of words, numbered in order of first appearance, and their bytes with their marks."""
    import numpy as np

    words = counted.words
    if recipe.weight == "distinct":
        weights = np.ones(len(words), np.int64)
    elif isinstance(words, CountedWords):
        weights = words.counts
    else:
        weights = np.array(counted.counts, np.int64)
    kinds = UNITS.of(recipe.unit).kinds
    if not kinds:  # what has no number of its own gets one
        numbers: dict[bytes, int] = {}
        units_of = Pretokenizer(recipe).units
        cut = [[numbers.setdefault(unit, len(numbers)) for unit in units_of(word)] for word in words]
        flat = np.array([unit for word in cut for unit in word], np.int32)
        units = number(flat, _ends(map(len, cut), len(words)), weights, len(numbers))
        return units, list(numbers)
    if recipe.unit == "char":
        data = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.int32).copy()
        ends = _ends(map(len, words), len(words))
    elif isinstance(words, CountedWords) and not _SURROGATE.search(words.text):
        data = np.frombuffer(words.text, np.uint8).astype(np.int32)
        ends = words.ends
    else:
        encoded = list(map(to_bytes, words))
        data = np.frombuffer(b"".join(encoded), np.uint8).astype(np.int32)
        ends = _ends(map(len, encoded), len(words))
    kind, mark = recipe.mark_kind, to_bytes(recipe.mark_text)
    begins, stops = ends[:-1][ends[:-1] < ends[1:]], ends[1:][ends[:-1] < ends[1:]]
    if kind == "prefix":
        data += kinds
        data[begins] -= kinds
    elif kind == "end-suffix":
        data[stops - 1] += kinds
    elif kind == "end-symbol":
        data = np.insert(data, stops, kinds)
        ends = _ends((ends[1:] - ends[:-1] + (ends[:-1] < ends[1:])).tolist(), len(words))
    units = number(data, ends, weights, 2 * kinds)

    def piece(unit: int) -> bytes:
        if kind == "end-symbol" and unit == kinds:
            return mark
        marked, plain = divmod(unit, kinds)
        own = bytes((plain,)) if recipe.unit == "byte" else to_bytes(chr(plain))
        return own if not marked else mark + own if kind == "prefix" else own + mark

    return units, list(map(piece, units.found))


def _ends(sizes: Iterable[int], count: int) -> Any:
    """Where words of these sizes end, a 0 before the first."""
    import numpy as np

    ends = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(sizes, np.int64, count), out=ends[1:])
    return ends
