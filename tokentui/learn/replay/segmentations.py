"""The segmentation of each distinct word of a corpus after any number of tokens of a file, found once.

A word changes at few steps. Where tokens are merged in their order, one run over the word finds all changes.
Elsewhere the last segmentation is found first. It holds back to the step of the latest token in it. Then the
segmentation before that step is found, and so on to the start. This is exact for every way of encoding here:
with fewer tokens to choose from, a choice that is still possible stays.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from array import array
from collections import Counter
from collections.abc import Generator, Iterator, Sequence

from tokentui.core.jobs import tick
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.reach import spelled_units
from tokentui.encode.segment.longest import LongestMatch
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.encode.segment.ways import MAX_CHARACTERS, Attempt, Part, Segmenter
from tokentui.learn.replay.order import TokenOrder

_LONG = 48
"""A longer word is taken in stretches that no token crosses, where it has to be segmented again and again."""
_KEPT = 1 << 16
_LOOK_EVERY = 512
_NONE = -1
"""A token that has no symbol: what is unknown."""
_MOST_LATE = 100
"""With so few tokens that are not merged in their order it is looked whether a word may have one of them."""

Way = tuple[int | None, ...]
"""The tokens of a word as symbols, None for what has none."""
Change = tuple[int, dict[int | None, int]]
"""A step, and by how much it changes the number of each token of a word."""
Match = tuple[int, int, int]
"""(unit that it ends before, step, symbol) of a token that may begin at a unit."""


class WordSegmentations:
    """Segments words after any number of tokens.

    Args:
        order: The tokens.
    """

    def __init__(self, order: TokenOrder) -> None:
        self._order = order
        whole, self._count = order.vocabulary, len(order.tokens)
        self._encoder = WordEncoder(whole, len(whole.merges) and self._count)
        segmenter = self._whole = self._encoder.segmenter
        self._merging = segmenter if isinstance(segmenter, Merging) else None
        late = (
            [whole.pieces[symbol] for symbol in order.tokens[self._merging.in_order() :]]
            if self._merging
            else []
        )
        self._at_once = self._merging is not None and len(late) <= _MOST_LATE
        self._late = late if self._at_once else []
        self._longest = max(map(len, whole.pieces), default=1)
        self._known: dict[tuple[bytes, ...], list[tuple[int, Way]]] = {}

    def units(self, word: str) -> list[bytes]:
        """The smallest units of a word."""
        return self._encoder.pretokenizer.units(word)

    def parts(self, word: str, number: int) -> list[Part]:
        """The parts of a word after so many tokens."""
        return self._encoder.parts(self.units(word), len(word), self._after(number))

    def _after(self, number: int) -> Segmenter:
        return self._whole.with_limit(number, self._order.made)

    def before(self, symbol: int, number: int) -> tuple[bytes, ...]:
        """The segmentation of a token's units before the step of this number, as exact bytes."""
        units, pieces = spelled_units(self._encoder, symbol), self._order.vocabulary.pieces
        parts = self._encoder.parts(list(units), len(units), self._after(number - 1))
        return tuple(
            b"".join(units[one.start : one.end]) if one.symbol is None else pieces[one.symbol]
            for one in parts
        )

    def changes(self, word: str) -> Iterator[Change]:
        """Yield the changes of a word in order of the steps. Step 0 has all tokens of the start."""
        units = self.units(word)
        data = b"".join(units) if self._late else b""
        at_once = self._at_once and not any(piece in data for piece in self._late)
        if not at_once or not (yield from self._changes_at_once(units)):
            yield from self._changes_back(units, len(word))

    def _changes_at_once(self, units: Sequence[bytes]) -> Generator[Change, None, bool]:
        """By one run over the word. Returns false, and nothing was given, where one run does not tell."""
        segmenter, base = self._merging, self._order.vocabulary.base_size
        assert segmenter is not None
        start, merges = segmenter.history(units)
        ordered = all(one[2] <= other[2] for one, other in itertools.pairwise(merges))
        if -1 in start or len(start) != len(units) or not ordered or (merges and merges[0][2] < base):
            return False
        whole = segmenter.whole(units)
        last = self._count + 1 if whole is None else self._step_of_whole(whole, len(units))
        now: Counter[int | None] = Counter(start)
        if last:
            yield 0, dict(now)
        for made, group in itertools.groupby(merges, key=lambda merge: merge[2]):
            if made - base + 1 >= last:
                break
            change: Counter[int | None] = Counter()
            for left, right, _ in group:
                change[left] -= 1
                change[right] -= 1
                change[made] += 1
            now.update(change)
            yield made - base + 1, {symbol: by for symbol, by in change.items() if by}
        if whole is not None:
            change = Counter({whole: 1})
            if last:
                change.subtract(now)
            yield last, {symbol: by for symbol, by in change.items() if by}
        return True

    def _step_of_whole(self, symbol: int, units: int) -> int:
        """The step from which a word is a token at once: of one that no merge makes the last step."""
        return self._order.made[symbol] or (0 if units == 1 else self._count)

    def _changes_back(self, units: Sequence[bytes], characters: int) -> Iterator[Change]:
        """By the segmentations of the word from the last one back."""
        before: Counter[int | None] = Counter()
        for step, way in self._ways(units, characters):
            now = Counter(way)
            change = now.copy()
            change.subtract(before)
            before = now
            found = {symbol: by for symbol, by in change.items() if by}
            if found or not step:
                yield step, found

    def _ways(self, units: Sequence[bytes], characters: int) -> list[tuple[int, Way]]:
        """(step, tokens from that step on), the first from step 0."""
        if len(units) <= _LONG or not isinstance(self._whole, Merging | Viterbi):
            return self._ways_back(units, characters)
        joined: list[list[tuple[int, Way]]] = []
        for part in self._uncrossed(units):
            if part not in self._known:
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[part] = self._ways_back(part, characters)
            joined.append(self._known[part])
        at = [0] * len(joined)
        found = []
        for step in sorted({step for ways in joined for step, _ in ways}):
            for n, ways in enumerate(joined):
                while at[n] + 1 < len(ways) and ways[at[n] + 1][0] <= step:
                    at[n] += 1
            tokens = itertools.chain.from_iterable(ways[n][1] for n, ways in zip(at, joined, strict=True))
            found.append((step, tuple(tokens)))
        return found

    def _ways_back(self, units: Sequence[bytes], characters: int) -> list[tuple[int, Way]]:
        ways: list[tuple[int, Way]] = []
        number = self._count
        matches = self._matches(units, characters)
        while True:
            found = _longest(matches, number) if matches is not None else None
            if found is None:
                segmenter = self._after(number)
                parts = self._encoder.parts(list(units), characters, segmenter)
                found = self._since(
                    segmenter, units, characters, number
                ), tuple(part.symbol for part in parts)
            since, way = found
            if ways and ways[-1][1] == way:
                ways.pop()
            ways.append((since, way))
            if not since:
                return ways[::-1]
            number = since - 1

    def _since(self, segmenter: Segmenter, units: Sequence[bytes], characters: int, number: int) -> int:
        """The latest step whose token the segmentation of a word was found with, of the first so many."""
        made = self._order.made
        kept = [units[at] for at in self._encoder.kept(list(units))]
        if isinstance(segmenter, LongestMatch):
            tries = (
                step for step in segmenter.steps(kept, characters) if isinstance(step, Attempt) and step.found
            )
            symbols = (table.get(one.candidate) for one in tries for table in segmenter.tables)
            return max((made[symbol] for symbol in symbols if symbol is not None), default=0)
        if isinstance(segmenter, Merging):
            whole = segmenter.whole(kept)
            if whole is not None and (step := self._step_of_whole(whole, len(kept))) <= number:
                return step
            return max((made[symbol] for _, _, symbol in segmenter.history(kept)[1]), default=0)
        parts = segmenter.segment(kept, characters)
        return max((made[part.symbol] for part in parts if part.symbol is not None), default=0)

    def _matches(self, units: Sequence[bytes], characters: int) -> list[list[Match]] | None:
        """For longest match: the tokens of a word at each unit, the longest first, looked up once for all
        steps; None where more is to be looked at than these."""
        segmenter, marks = self._whole, self._encoder.marks
        if not isinstance(segmenter, LongestMatch):
            return None
        if characters > MAX_CHARACTERS or not units or marks.unit_continues(units[0]):
            return None
        prefix, tables = marks.prefix, segmenter.tables
        bare = [unit[len(prefix) :] if at else unit for at, unit in enumerate(units)]
        found: list[list[Match]] = []
        for start in range(len(units)):
            piece, table = (prefix, tables[1]) if start and prefix else (b"", tables[0])
            here: list[Match] = []
            for end in range(start + 1, len(units) + 1):
                piece += bare[end - 1]
                if len(piece) > self._longest:
                    break
                symbol = table.get(piece)
                if symbol is not None:
                    here.append((end, self._order.made[symbol], symbol))
            found.append(here[::-1])
        return found

    def _uncrossed(self, units: Sequence[bytes]) -> Iterator[tuple[bytes, ...]]:
        """The stretches of a word between places that no token crosses."""
        pieces = self._pieces
        start = reach = 0
        ends = list(itertools.accumulate(map(len, units)))
        word = b"".join(units)
        for at in range(len(units)):
            if at and reach <= at:
                yield tuple(units[start:at])
                start = at
            begin = ends[at - 1] if at else 0
            for end in range(len(units) - 1, at, -1):
                if ends[end] - begin <= self._longest and word[begin : ends[end]] in pieces:
                    reach = max(reach, end + 1)
                    break
        yield tuple(units[start:])

    @functools.cached_property
    def _pieces(self) -> frozenset[bytes]:
        return frozenset(self._order.vocabulary.pieces)


def _longest(matches: list[list[Match]], number: int) -> tuple[int, Way] | None:
    """The latest step whose token the longest matches among the first so many were found with, and the
    tokens; None where a unit is unknown."""
    at = since = 0
    symbols: list[int | None] = []
    while at < len(matches):
        match = next((match for match in matches[at] if match[1] <= number), None)
        if match is None:
            return None
        at, step, symbol = match
        symbols.append(symbol)
        since = max(since, step)
    return since, tuple(symbols)


class ChangeLog:
    """The changes of all words of a corpus.

    Args:
        order: The tokens in the order in which they come into use.
        words: The words.
        weights: The weight of each in the counts.
        fixed: The number of tokens of the corpus found by their names, which no step changes.
    """

    def __init__(self, order: TokenOrder, words: Sequence[str], weights: Sequence[int], fixed: int) -> None:
        segmentations = WordSegmentations(order)
        steps, numbers = array("l"), array("l")
        firsts, symbols, amounts = array("l", [0]), array("l"), array("q")
        self._of_word = array("l", [0])
        self._steps_of_words = array("l")
        for number, (word, weight) in enumerate(zip(words, weights, strict=True)):
            if number % _LOOK_EVERY == 0:
                tick(number, len(words))
            for step, change in segmentations.changes(word):
                if step:
                    self._steps_of_words.append(step)
                steps.append(step)
                numbers.append(number)
                for symbol, by in change.items():
                    symbols.append(_NONE if symbol is None else symbol)
                    amounts.append(by * weight)
                firsts.append(len(symbols))
            self._of_word.append(len(self._steps_of_words))
        tick(len(words), len(words))
        inside = sorted(range(len(steps)), key=steps.__getitem__)
        self._numbers = array("l", [numbers[at] for at in inside])
        self._steps = array("l", [steps[at] for at in inside])
        self._symbols, self._amounts, self._ends = array("l"), array("q"), array("l", [0])
        self._tokens = array("q", [fixed])
        for at in inside:
            self._symbols += symbols[firsts[at] : firsts[at + 1]]
            self._amounts += amounts[firsts[at] : firsts[at + 1]]
            self._ends.append(len(self._symbols))
            self._tokens.append(self._tokens[-1] + sum(amounts[firsts[at] : firsts[at + 1]]))

    @property
    def memory(self) -> int:
        """The size of the changes of all steps in bytes."""
        arrays = (
            self._of_word, self._steps_of_words, self._numbers, self._steps, self._symbols, self._amounts,
            self._ends,
            self._tokens,
        )
        return sum(one.itemsize * len(one) for one in arrays)

    def tokens_at(self, steps: int) -> int:
        """The corpus in tokens after so many steps."""
        return self._tokens[bisect.bisect_right(self._steps, steps)]

    def walk(self, uses: list[int], start: int, end: int) -> None:
        """Change the uses of each symbol from those after `start` steps to those after `end`; `start` -1 is
        before anything."""
        low, high = sorted((bisect.bisect_right(self._steps, start), bisect.bisect_right(self._steps, end)))
        sign = 1 if end > start else -1
        for symbol, amount in self._changed(low, high):
            if symbol != _NONE:
                uses[symbol] += sign * amount

    def places(self, step: int, symbol: int) -> int:
        """The number of tokens that a step makes of its symbol, by weight."""
        return sum(amount for one, amount in self._changed(*self._span(step)) if one == symbol)

    def touched(self, step: int) -> Sequence[int]:
        """The words, by their number, that a step changes."""
        low, high = self._span(step)
        return self._numbers[low:high]

    def since(self, word: int, steps: int) -> int:
        """The step since which a word is cut as it is after so many steps."""
        low, high = self._of_word[word], self._of_word[word + 1]
        at = bisect.bisect_right(self._steps_of_words, steps, low, high)
        return self._steps_of_words[at - 1] if at > low else 0

    def _changed(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """(symbol, by how much its count changes) in some changes, in order."""
        first, last = self._ends[low], self._ends[high]
        return zip(self._symbols[first:last], self._amounts[first:last], strict=True)

    def _span(self, step: int) -> tuple[int, int]:
        return bisect.bisect_left(self._steps, step), bisect.bisect_right(self._steps, step)
