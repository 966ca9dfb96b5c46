"""Training by the count of pairs with compiled kernels: `PairTrainer` with another engine. Every number is the same.

`tokentui.core.jit.load` has to have said yes before a `CompiledTrainer` is made.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tokentui.core import jit
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn import base as end
from tokentui.learn.base import Cancel, Progress, Stops
from tokentui.learn.pairs import PairTrainer
from tokentui.learn.standing import Standing
from tokentui.learn.walking import look
from tokentui.recipe import SHAPE, Recipe
from tokentui.text.count import Words
from tokentui.text.counted import CountedWords
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import to_bytes

if TYPE_CHECKING:
    from tokentui.learn.kernels.pairs import CompiledCells, Units

WORTH_CHARS = 1 << 15
"""A corpus whose distinct words have fewer characters is trained by the plain engine within some hundredths of a second."""
MOST_CHARS = (1 << 31) // 4 - 1
"""Places are numbers of 32 bits; a character is up to four bytes."""
MOST_WEIGHT = (1 << 31) - 1
_SLICE_S = 0.01
_LOOKED_AT = 128
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
_FAR = 1 << 62
_TASKS = {"count": "pairs", "score": "score"}
"""Which kernels each objective needs."""
_KINDS = {"byte": 1 << 8, "char": 0x110000}
"""How many different units there may be, without their marks."""


TIES = ("first-seen", "lowest-ids", "shortest", "smallest-pair", "largest-pair")
"""The tie rules that the kernels know."""
_MARKS = ("none", "prefix", "end-suffix", "end-symbol")


def without_kernel(recipe: Recipe) -> str:
    """What a recipe says that no kernel does, as `axis=value`, so that plain Python trains by it; empty where kernels do all."""
    said = {"objective": recipe.objective in (*_TASKS, "unigram")}
    if recipe.objective in _TASKS:
        # A barrier inside a word is known to the cells of the plain engine alone.
        said |= {"pieces": recipe.pieces == "any", "tie": recipe.tie in TIES, "mark": recipe.mark_kind in _MARKS}
        said |= {"weight": recipe.weight in ("occurrences", "distinct")}
        said |= {"coverage": recipe.coverage == 1, "symbols": not recipe.symbols}
    name = next((name for name, done in said.items() if not done), "")
    return f"{name}={recipe.word(name) if name in SHAPE else recipe.axis(name)}" if name else ""


def is_chosen(words: Words, recipe: Recipe, specials: Sequence[str]) -> bool:
    """Whether a training is for the compiled engine: the kernels are loaded and know the recipe, and the corpus is worth it."""
    if recipe.objective not in _TASKS or without_kernel(recipe) or not jit.loaded(_TASKS[recipe.objective]):
        return False
    size = _size(words)
    if size < WORTH_CHARS and os.environ.get(jit.ENGINE) != "compiled":
        return False
    return size <= MOST_CHARS and max(words.counts, default=0) <= MOST_WEIGHT and not _may_spell(specials, words, recipe)


def _size(words: Words) -> int:
    """How many characters, or bytes, the distinct words have."""
    return len(words.words.counted.text) if isinstance(words.words, CountedWords) else sum(map(len, words.words))


def _may_spell(specials: Sequence[str], words: Words, recipe: Recipe) -> bool:
    """Whether some merge might spell a special token and take its id, which the kernels know nothing of."""
    if not specials:
        return False
    mark = recipe.mark_text if recipe.mark_kind.startswith("end") else ""
    text = to_bytes((mark + "\0").join((*words.words, "")))
    prefix = to_bytes(recipe.mark_text) if recipe.mark_kind == "prefix" else b""
    spellings = [special.encode("utf-8", "surrogatepass") for special in specials]
    return any(spelling in text or spelling.removeprefix(prefix) in text for spelling in spellings)


class CompiledTrainer(PairTrainer):
    """Training by the count of pairs, with kernels that make many merges in one call.

    The vocabulary follows when it is asked for, and `uses` and the like are looked at where the kernels keep them.
    """

    cells: CompiledCells  # type: ignore[assignment]  # it has what the face of a trainer reads
    uses: Sequence[int]  # type: ignore[assignment]  # they are not changed here

    def _lay_out(self, specials: Sequence[str], first_id: int, progress: Progress | None, cancel: Cancel | None) -> None:
        from tokentui.learn.kernels.pairs import number_units

        look(progress, cancel, 0, len(self.words.words))
        units, pieces = _units(self.words, self.recipe, number_units)
        self._vocabulary = self._make_vocabulary([[piece] for piece in pieces], units.totals, specials, first_id)
        symbols = [self._vocabulary.units[piece] for piece in pieces]
        prefix = len(to_bytes(self.recipe.mark_text)) if self.recipe.mark_kind == "prefix" else 0
        self.cells = self._kind_of_cells()(
            units, symbols, self._vocabulary.pieces, self.recipe.tie, prefix, self._vocabulary.base_last
        )
        self._arrive()
        self.start_tokens = self.tokens
        look(progress, cancel, len(self.words.words), len(self.words.words))

    @staticmethod
    def _kind_of_cells() -> type[CompiledCells]:
        from tokentui.learn.kernels.pairs import CompiledCells

        return CompiledCells

    def _arrive(self) -> None:
        """Take over where the kernels stand."""
        self.number, self.tokens, self.uses = self.cells.number, self.cells.tokens, self.cells.uses

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary; only its first `merges` merges count."""
        vocabulary = self._vocabulary
        if len(vocabulary.merges) < self.cells.known:
            vocabulary.extend(*self.cells.merges(len(vocabulary.merges)))
        return vocabulary

    @vocabulary.setter
    def vocabulary(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    @property
    def vocab_size(self) -> int:
        """The number of ids at this step, specials counted."""
        return self._first_size() + self.number  # no merge takes the id of a special token

    def _first_size(self) -> int:
        return self._vocabulary.size(0)

    def _goes_on(self, stops: Stops) -> bool:
        least = stops.min_count
        return self.cells.last_with(least) > self.number if self.number < self.known else self._choose(least)

    def _new_frontier(self) -> Any:
        self.cells.fill(self._max_length)
        return None

    @property
    def known(self) -> int:
        """The number of steps that have been made, those gone back over too."""
        return self.cells.known

    @property
    def memory(self) -> int:
        """How many bytes the corpus, its pairs, the history and the checkpoints take; the vocabulary comes on top."""
        return self.cells.memory

    def _best(self) -> int:
        return self.cells.best()

    def _choose(self, min_count: int) -> bool:
        return self.cells.greatest() >= min_count

    def _forget(self) -> None:
        self._vocabulary = self.vocabulary.copy(self.number)
        self.cells.forget()
        self._arrive()

    def _forward(self) -> None:
        self.cells.walk(self.number + 1)
        self._arrive()

    def _backward(self) -> None:
        self.cells.walk(self.number - 1)
        self._arrive()

    def advance(self, target: int | None, stops: Stops, seconds: float = _SLICE_S) -> str | None:
        """Walk towards a step, or on to a stop, for a short while; see `Walking.advance`."""
        self.bound(stops)
        deadline = time.perf_counter() + seconds
        while self.number != target:
            goal = self.number if target is None else target
            if target is None or target > self.number:
                if reason := self.end(stops):
                    return reason
                goal = self._goal(target, stops)
            self.cells.walk(goal, stops.min_count)
            self._arrive()
            if time.perf_counter() > deadline:
                return None
        return end.MERGES

    def _goal(self, target: int | None, stops: Stops) -> int:
        """The furthest step to go to, where one may go on; it is a step that is known, or the next are not."""
        last = self.last_step(stops)
        goal = min(_FAR if target is None else target, _FAR if last is None else last)
        return min(goal, self.cells.last_with(stops.min_count)) if self.number < self.known else goal

    # ---- looking

    def tokens_at(self, number: int) -> int:
        """The length of the corpus after a known step."""
        return self.cells.tokens_at(number)

    def _places_and_ties(self, number: int) -> tuple[int, int]:
        return self.cells.places_and_ties(number)

    def _standing(self, least: int) -> Standing:
        when = (self.number, least)
        if self._stood is None or self._stood[0] != when:
            self._stood = (when, _Standing(self.cells, least))
        return self._stood[1]

    def _last_changes(self) -> tuple[dict[int, int], int]:
        return (self.cells.changes(), self.cells.pairs_at(self.number - 1)) if self.number else ({}, self.cells.pairs)

    def _touched(self) -> Iterable[int]:
        return self.cells.words_of_step(self.number)


class _Standing(Standing):
    """The candidates of one step, put in order by a kernel."""

    __slots__ = ("_cells", "_found", "_least", "_ties")

    def __init__(self, cells: CompiledCells, least: int) -> None:
        super().__init__((), (), int)
        self._cells = cells
        self._least = least
        self._found, self._ties, self._best = cells.standing(_LOOKED_AT, least)

    def __len__(self) -> int:
        return self._found

    def tied(self) -> int:
        """How many pairs share the greatest count."""
        return self._ties

    def best(self, limit: int) -> list[int]:
        """So many of the best pairs, fewer where there are no more, by count and tie rule."""
        if len(self._best) < min(limit, self._found):
            _, _, self._best = self._cells.standing(2 * limit, self._least)
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
        weights = words.counted.counts
    else:
        weights = np.array(counted.counts, np.int64)
    kinds = _KINDS.get(recipe.unit)
    if kinds is None:  # what has no number of its own gets one
        numbers: dict[bytes, int] = {}
        units_of = Pretokenizer(recipe).units
        cut = [[numbers.setdefault(unit, len(numbers)) for unit in units_of(word)] for word in words]
        flat = np.array([unit for word in cut for unit in word], np.int32)
        units = number(flat, _ends(map(len, cut), len(words)), weights, len(numbers))
        return units, list(numbers)
    if recipe.unit == "char":
        data = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.int32).copy()
        ends = _ends(map(len, words), len(words))
    elif isinstance(words, CountedWords) and not _SURROGATE.search(words.counted.text):
        data = np.frombuffer(words.counted.text, np.uint8).astype(np.int32)
        ends = words.counted.ends
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
