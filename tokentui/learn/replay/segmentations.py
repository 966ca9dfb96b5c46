"""The order in which the tokens of a file come into use, and the segmentation of words by its first k tokens.

A file with merges (or ranks, or scores that are priorities) lists its symbols in that order. A vocabulary
that is looked up, or weighed by probabilities, records no learning order: its tokens of several units are
ordered by their ids, or from the most probable down. Tokens of later steps are never used. The score
of an unknown unit is that in the whole file, as in sentencepiece with a restricted vocabulary.

A word changes at few steps. If its tokens are merged in their order, one run over it finds all changes.
Otherwise the last segmentation is found first. It is valid back to the step of the latest token in it. Then
the segmentation before that step is found, and so on back to the start. This is exact for every way of
encoding
here: if a choice is still possible with fewer tokens, it stays the choice.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from operator import not_

from tokentui.core import jobs
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import in_blocks, tick
from tokentui.core.records import dataclass
from tokentui.encode.decode import spelled_units
from tokentui.encode.encoder import WordEncoder
from tokentui.encode.pipeline import Parents
from tokentui.encode.segment import Segmenter, WordPart
from tokentui.encode.segment.merges import CellMerge, Merging, PairMerging
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.steps import Span
from tokentui.text.pretokenize import UNITS

MERGES, RANKS, IDS, SCORES = "merges", "ranks", "ids", "scores"
"""The kinds of order."""

ORDER_SENTENCES = {
    MERGES: "in the order of the first merge that makes each",
    RANKS: "in the order of their ranks",
    IDS: "by id: the file tells no order of learning",
    SCORES: "by falling score: the file tells no order of learning",
}
"""A phrase for each kind of order."""

_LONG = 48
"""The units above which a word that is segmented again and again is cut where no token crosses."""
_KEPT = 1 << 16
_MOST_WALKED = 64
_LOOK_EVERY = 16
"""The number of words between two checks of the job."""

Change = tuple[int, dict[int | None, int]]
"""A step, and by how much it changes how often a word has each token; the key None counts unknown units."""


@dataclass(frozen=True)
class TokenOrder:
    """The tokens of a file in the order in which they come into use.

    Attributes:
        vocabulary: The vocabulary of the whole file.
        kind: The kind of order: `MERGES`, `RANKS`, `IDS` or `SCORES`.
        tokens: The symbols of the tokens that come into use, in order.
    """

    vocabulary: Vocabulary
    kind: str
    tokens: Sequence[int]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> TokenOrder:
        """Return the order of the tokens of a tokenizer.

        Raises:
            TokentuiError: The tokens have no order one by one: bytes replace pairs, or steps are events.
        """
        vocabulary = tokenizer.vocabulary
        if vocabulary.substitutes_bytes:
            raise TokentuiError(
                "Gage's compression does not create tokens one by one", "tokenizer",
                "train it in the explorer (key a)",
            )
        if vocabulary.eventful:
            what = f"the steps of objective={vocabulary.recipe.objective} are no tokens that come one by one"
            raise TokentuiError(what, "tokenizer", "train it in the explorer (key a)")
        if vocabulary.merges:
            base = vocabulary.base_size
            kind = RANKS if isinstance(vocabulary.merges, Parents) else MERGES
            return cls(vocabulary, kind, range(base, base + tokenizer.merges))
        several = _multi_unit_tokens(vocabulary)
        if vocabulary.scores:
            scores = vocabulary.scores
            several.sort(key=lambda symbol: (-scores[symbol], vocabulary.id_of(symbol, 0)))
            return cls(vocabulary, SCORES, several)
        several.sort(key=lambda symbol: vocabulary.id_of(symbol, 0))
        return cls(vocabulary, IDS, several)

    @functools.cached_property
    def made(self) -> Sequence[int]:
        """The step at which each symbol comes into use, 0 for the symbols of the start."""
        steps, tokens = array("l", bytes(len(self.vocabulary.pieces) * array("l").itemsize)), self.tokens
        if isinstance(tokens, range):  # merges, of which there may be half a million
            steps[tokens.start : tokens.stop] = array("l", range(1, len(tokens) + 1))
            return steps
        for number, symbol in enumerate(self.tokens, 1):
            steps[symbol] = number
        return steps

    @functools.cached_property
    def listed(self) -> Sequence[int]:
        """The symbols with an id of their own: first those of the start by id, then the others by step.

        Of symbols with the same id only the first is listed, and none with the id of a special or byte token.
        """
        roots, tokens = self._listed
        return roots + tokens

    @functools.cached_property
    def _listed(self) -> tuple[array[int], array[int]]:
        """The symbols of the start that are listed, and those of the steps."""
        ids, tokens, fixed = self.vocabulary.ids(self.merges), self.tokens, self._fixed
        symbols = range(len(self.made))
        if isinstance(tokens, range):
            roots = [*symbols[: tokens.start], *symbols[tokens.stop :]]
        else:
            roots = list(compress(symbols, map(not_, self.made)))
        roots.sort(key=ids.__getitem__)
        start = _first_of_ids(roots, ids, fixed)
        return start, _first_of_ids(tokens, ids, fixed.union(map(ids.__getitem__, start)))

    def prepare(self) -> None:
        """Compute the tables that a view asks for. They take tens of milliseconds for a long file, during
        which a screen would wait."""
        _ = self._listed
        jobs.check()
        if self.kind == MERGES:
            _ = self._rows

    @property
    def merges(self) -> int:
        """The number of merges of the file, 0 if it lists none."""
        return len(self.vocabulary.merges)

    @functools.cached_property
    def _fixed(self) -> frozenset[int]:
        """The ids of special tokens and byte tokens."""
        vocabulary = self.vocabulary
        return frozenset(map(vocabulary.special_id, vocabulary.specials)).union(
            map(vocabulary.byte_id, range(vocabulary.byte_tokens))
        )

    @functools.cached_property
    def sizes(self) -> Sequence[int]:
        """The step at which the vocabulary reaches 1 id, 2 ids and so on."""
        start, tokens = self._listed
        sizes = array("l", bytes((len(self._fixed) + len(start)) * array("l").itemsize))
        if len(tokens) == len(self.tokens):
            sizes.extend(range(1, len(tokens) + 1))
        else:
            sizes.extend(map(self.made.__getitem__, tokens))
        return sizes

    def size(self, number: int) -> int:
        """Return the number of ids after a step: special tokens count, ids without a token do not."""
        if number >= len(self.tokens):  # the step at which a file is shown first; it needs no table
            return len(self._fixed) + sum(map(len, self._listed))
        return bisect.bisect_right(self.sizes, number) if number else len(self._fixed) + len(self._listed[0])

    @functools.cached_property
    def _rows(self) -> tuple[dict[int, int], Counter[int]]:
        """The index of the first merge that makes each symbol, and how many merges make it."""
        way = self.vocabulary.file.way
        segmenter = way.segmenter(self.vocabulary, len(self.tokens)) if way else None
        makes = segmenter.makes if isinstance(segmenter, PairMerging) else self.tokens
        first, times = dict[int, int](), Counter[int]()
        blocks = [range(len(makes))[start : start + jobs.BLOCK] for start in range(0, len(makes), jobs.BLOCK)]
        for rows in reversed(blocks):  # the first row that makes a token comes last, and counts
            jobs.check()
            first.update(zip(reversed(makes[rows.start : rows.stop]), reversed(rows), strict=True))
        for rows in blocks if len(first) < len(makes) else ():
            jobs.check()
            times.update(makes[rows.start : rows.stop])
        return first, times

    def place(self, number: int) -> str:
        """Return where the token of a step is in the file, in words: its merge, rank or id."""
        vocabulary, symbol = self.vocabulary, self.tokens[number - 1]
        identity = vocabulary.id_of(symbol, self.merges)
        if self.kind == MERGES:
            first, times = self._rows
            more = f" (of {times[symbol]} that make it)" if times[symbol] > 1 else ""
            return f"merge {first[symbol] + 1:,}{more}"
        if self.kind == SCORES:
            return f"id {identity:,}, score {vocabulary.scores[symbol]:.4f}".replace("-", "−")
        return f"{'rank' if self.kind == RANKS else 'id'} {identity:,}"

    def tokenizer(self, number: int) -> Tokenizer:
        """Return a new tokenizer with the tokens up to a step. It shares the tables of the whole file."""
        vocabulary = self.vocabulary
        if vocabulary.merges:
            return Tokenizer(vocabulary, number)
        return Tokenizer(vocabulary if number == len(self.tokens) else vocabulary.limited(number, self.made))


def _first_of_ids(symbols: Sequence[int], ids: Sequence[int], taken: frozenset[int]) -> array[int]:
    """Return the first symbol of each id, in order, without those whose id is taken."""
    if isinstance(symbols, range):
        chosen = ids[symbols.start : symbols.stop]
    else:
        chosen = [ids[symbol] for symbol in symbols]
    numbers = set(chosen)
    if len(numbers) == len(chosen) and numbers.isdisjoint(taken):  # as nearly always
        return array("l", symbols)
    first = dict(zip(reversed(chosen), reversed(symbols), strict=True))
    return array("l", [symbol for number, symbol in zip(chosen, symbols, strict=True)
                       if number not in taken and first[number] == symbol])


def _multi_unit_tokens(vocabulary: Vocabulary) -> list[int]:
    """Return the tokens of several units of a vocabulary without merges that a word may become."""
    if not (vocabulary.scores or vocabulary.imported):
        return []  # a training that made no merge
    fixed = set(map(vocabulary.special_id, vocabulary.specials))
    fixed.update(vocabulary.id_of(symbol, 0) for symbol in vocabulary.byte_symbols.values())
    byte, mark = UNITS.of(vocabulary.recipe.unit).is_byte, vocabulary.prefix
    several = []
    for symbol, piece in enumerate(vocabulary.pieces):
        if vocabulary.tokens.get(piece) == symbol and vocabulary.id_of(symbol, 0) not in fixed:
            bare = piece[len(mark) :] if vocabulary.unit_continues(piece) else piece
            if len(bare if byte else bare.decode("utf-8", "surrogateescape")) > 1:
                several.append(symbol)
    return several


class WordSegmentations:
    """The segmentations of words by the first k tokens of a file, for any k.

    Args:
        order: The tokens in order.
    """

    def __init__(self, order: TokenOrder) -> None:
        self._order = order
        whole, self._count = order.vocabulary, len(order.tokens)
        self._encoder = WordEncoder(whole, len(whole.merges) and self._count)
        self._whole = self._encoder.segmenter
        self._known: dict[tuple[bytes, ...], list[Change]] = {}
        self._walked: dict[str, _Merges | None] = {}
        """The merges of long words; None for a word of which one run does not find all changes."""

    def spans(self, word: str, number: int) -> list[Span]:
        """Return the tokens of a word after a step.

        An unknown unit has symbol -1. Of a long word the last segmentation is cached, and only the merges
        between its step and this one are made or undone.
        """
        walked = self._walked.get(word)
        if walked is None:
            units = self._encoder.pretokenizer.units(word)
            if len(units) > _LONG and word not in self._walked:
                if len(self._walked) >= _MOST_WALKED:
                    self._walked.clear()
                walked = self._walked[word] = self._merges_of(units)
            if walked is None:
                parts = self._encoder.parts(units, len(word), self._after(number))
                return [
                    Span(part.start, part.end, -1 if part.symbol is None else part.symbol) for part in parts
                ]
        return walked.spans(number)

    def _after(self, number: int) -> Segmenter:
        """Return a segmenter that uses the tokens up to a step."""
        return self._whole.with_limit(number, self._order.made)

    def before(self, symbol: int, number: int) -> tuple[bytes, ...]:
        """Return the tokens that the units of a symbol are segmented into before a step, as exact bytes.

        An unknown part has the bytes of its units.
        """
        units, pieces = spelled_units(self._encoder, symbol), self._order.vocabulary.pieces
        parts = self._encoder.parts(list(units), len(units), self._after(number - 1))
        return tuple(
            b"".join(units[part.start : part.end]) if part.symbol is None else pieces[part.symbol]
            for part in parts
        )

    def changes(self, word: str) -> Sequence[Change]:
        """Return the changes of a word, in order of their steps. Step 0 adds all tokens of the start."""
        units = self._encoder.pretokenizer.units(word)
        if (merges := self._merges_of(units)) is not None:
            return merges.changes()
        if len(units) <= _LONG or not isinstance(self._whole, Merging | Viterbi):
            return self._changes_back(units, len(word))
        joined: dict[int, Counter[int | None]] = {0: Counter()}
        for part in self._uncrossed(units):
            if part not in self._known:
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[part] = self._changes_back(part, len(word))
            for step, change in self._known[part]:
                joined.setdefault(step, Counter()).update(change)
        return sorted(joined.items())

    def cuts_of(self, word: str) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield step 0 and each step that changes a pre-token, with the exact bytes of its tokens.

        A symbol has step 0 alone; an unknown token is b"".
        """
        if word in self._encoder.pretokenizer.symbols:
            yield 0, (word.encode(),)
            return
        units = self._encoder.pretokenizer.units(word)
        taken = [units[at] for at in self._encoder.kept_indices(units)]
        for step, _ in self.changes(word):
            parts = self._after(step).segment(taken, len(word))
            yield step, tuple(token.piece or b"" for token in self._encoder.word(word, parts))

    def _merges_of(self, units: Sequence[bytes]) -> _Merges | None:
        """Return the merges of a word, from a single run over it; None if one run does not find all
        changes."""
        segmenter, base = self._whole, self._order.vocabulary.base_size
        if not isinstance(segmenter, Merging) or segmenter.ordered is None:
            return None
        met = None if segmenter.ordered else set[tuple[int, int]]()
        first, starts, merges = segmenter.history(units, met)
        ordered = all(merge[2] <= later[2] for merge, later in itertools.pairwise(merges))
        if met:
            pairs = itertools.pairwise(sorted(met))
            ordered = ordered and all(one[0] < two[0] and one[1] <= two[1] for one, two in pairs)
        units_alone = list(starts) == list(range(len(units)))  # no unit is left out or spelled in bytes
        if -1 in first or not units_alone or not ordered or (merges and merges[0][2] < base):
            return None
        token = segmenter.whole(units)
        last = self._count + 1 if token is None else self._step_of_whole(token, len(units))
        return _Merges(first, merges, base - 1, token, last)

    def _step_of_whole(self, symbol: int, units: int) -> int:
        """Return the first step at which a whole word is one token; the last step if no merge makes it."""
        return self._order.made[symbol] or (0 if units == 1 else self._count)

    def _changes_back(self, units: Sequence[bytes], characters: int) -> list[Change]:
        """Return the changes of a word, found by its segmentations from the last one back to the start."""
        kept = self._encoder.kept_indices(units)
        visible = [units[index] for index in kept]
        segmentations: list[tuple[int, Counter[int | None]]] = []  # the first step of each, and its tokens
        since = self._count + 1
        while since:
            number = since - 1
            segmenter = self._after(number)
            parts = segmenter.segment(visible, characters)
            since = self._latest_used_step(segmenter, visible, parts, number)
            tokens = Counter(part.symbol for part in self._encoder.with_unknown_policy(parts, units, kept))
            if segmentations and segmentations[-1][1] == tokens:
                segmentations.pop()
            segmentations.append((since, tokens))
        changes: list[Change] = []
        before: Counter[int | None] = Counter()
        for step, tokens in reversed(segmentations):
            change = tokens.copy()
            change.subtract(before)
            changes.append((step, {symbol: by for symbol, by in change.items() if by}))
            before = tokens
        return changes

    def _latest_used_step(
        self, segmenter: Segmenter, units: list[bytes], parts: Sequence[WordPart], number: int
    ) -> int:
        """Return the latest step up to `number` whose token a segmentation was made with, 0 if there is none.

        Args:
            segmenter: The segmenter after step `number`.
            units: The units of the word.
            parts: Its segmentation of them.
            number: The step.
        """
        made = self._order.made
        if isinstance(segmenter, Merging):
            whole = segmenter.whole(units)
            if whole is not None and (step := self._step_of_whole(whole, len(units))) <= number:
                return step
            return max((made[join[2]] for join in segmenter.history(units)[2]), default=0)
        return max((made[part.symbol] for part in parts if part.symbol is not None), default=0)

    def _uncrossed(self, units: Sequence[bytes]) -> Iterator[tuple[bytes, ...]]:
        """Yield the units of each stretch of a word between places that no token crosses.

        Without units, yield an empty stretch.
        """
        pieces, longest = self._pieces
        start = reach = 0
        ends = list(itertools.accumulate(map(len, units)))
        word = b"".join(units)
        for at in range(len(units)):
            if at and reach <= at:
                yield tuple(units[start:at])
                start = at
            begin = ends[at - 1] if at else 0
            for end in range(len(units) - 1, at, -1):
                if ends[end] - begin <= longest and word[begin : ends[end]] in pieces:
                    reach = max(reach, end + 1)
                    break
        yield tuple(units[start:])

    @functools.cached_property
    def _pieces(self) -> tuple[frozenset[bytes], int]:
        """The bytes of all tokens, and the length of the longest in bytes."""
        pieces = self._order.vocabulary.pieces
        return frozenset(pieces), max(map(len, pieces), default=1)


class _Merges:
    """The merges of a word in the order of the steps, applied up to any step.

    Args:
        symbols: The symbol of each unit.
        merges: The merges, in ascending order of the symbols that they make.
        first: The symbol of the token of step n is `first + n`.
        token: The token that the whole word becomes at step `last`; None if there is none.
        last: That step; the step after the last one if there is none.
    """

    def __init__(
        self, symbols: list[int], merges: Sequence[CellMerge], first: int, token: int | None, last: int
    ) -> None:
        self._symbols, self._merges = symbols, merges
        self._first, self._token, self._last = first, token, last
        self._after = list(range(1, len(symbols) + 1))
        """The index after each token, by the index of its first unit."""
        self._done = 0
        """The number of merges that are applied."""

    def spans(self, number: int) -> list[Span]:
        """Return the tokens of the word after a step. Makes or undoes merges in place to get there."""
        symbols, after, merges, done = self._symbols, self._after, self._merges, self._done
        if self._token is not None and number >= self._last:
            return [Span(0, len(symbols), self._token)]
        while done < len(merges) and merges[done][2] <= self._first + number:
            _, _, token, at, middle = merges[done]
            symbols[at], after[at] = token, after[middle]
            done += 1
        while done and merges[done - 1][2] > self._first + number:
            done -= 1
            left, _, _, at, middle = merges[done]
            symbols[at], after[at] = left, middle
        self._done = done
        spans, at = [], 0
        while at < len(symbols):
            spans.append(Span(at, after[at], symbols[at]))
            at = after[at]
        return spans

    def changes(self) -> list[Change]:
        """Return the changes of the word, in order of their steps. To be called before `spans`."""
        changes: list[Change] = []
        if self._last:
            changes.append((0, dict(Counter(self._symbols))))
        change, step = dict[int | None, int](), 0
        for left, right, token, *_ in self._merges:
            if token - self._first >= self._last:
                break
            if token - self._first != step:
                change, step = {}, token - self._first
                changes.append((step, change))
            change[token] = change.get(token, 0) + 1
            change[left] = change.get(left, 0) - 1
            change[right] = change.get(right, 0) - 1
        if self._token is not None:
            whole: dict[int | None, int] = {self._token: 1}
            for _, change in changes:
                for symbol, by in change.items():
                    whole[symbol] = whole.get(symbol, 0) - by
            changes.append((self._last, whole))
        return changes


class ChangeLog:
    """The changes of all words of a corpus.

    Args:
        order: The tokens in the order in which they come into use.
        words: The words.
        weights: The weight of each in the counts.
        fixed: The number of tokens of the corpus found by their names, which no step changes.
    """

    def __init__(
        self, order: TokenOrder, words: Sequence[str], weights: Sequence[int], fixed: int = 0
    ) -> None:
        segmentations = WordSegmentations(order)
        changes: dict[int, dict[int | None, int]] = {0: {}}
        self._words: dict[int, array[int]] = {}
        self._steps_of_word: list[array[int]] = []
        for number, (word, weight) in enumerate(zip(words, weights, strict=True)):
            if number % _LOOK_EVERY == 0:
                tick(number, len(words))
            steps = array("l")
            for step, change in segmentations.changes(word):
                if step:
                    steps.append(step)
                    self._words.setdefault(step, array("l")).append(number)
                uses = changes.setdefault(step, {})
                for symbol, by in change.items():
                    uses[symbol] = uses.get(symbol, 0) + by * weight
            self._steps_of_word.append(steps)
        tick(len(words), len(words))
        # To sort them takes ten times as long, and the interpreter lock.
        self.steps = list(filter(changes.__contains__, range(len(order.tokens) + 1)))
        """The steps that change some word, and 0, ascending."""
        self.changes = changes
        """By how much each step changes the uses of each symbol, by weight. The key None is unknown units."""
        each_step = itertools.chain.from_iterable(in_blocks(self.steps))
        sums = itertools.accumulate((sum(changes[step].values()) for step in each_step), initial=fixed)
        self._tokens = array("q", sums)
        tables = self.changes.values(), self._words.values(), self._steps_of_word
        # in blocks, like all that takes long: the screen draws in between
        sizes = (sum(map(sys.getsizeof, block)) for block in in_blocks(itertools.chain(self.steps, *tables)))
        self.memory = sum(sizes) + sys.getsizeof(self._tokens)
        """The size of the changes of all steps, in bytes."""

    def tokens_at(self, step: int) -> int:
        """Return the length of the corpus in tokens after a step, by weight."""
        return self._tokens[bisect.bisect_right(self.steps, step)]

    def walk(self, uses: list[int], start: int, end: int) -> None:
        """Update `uses` in place from the uses after step `start` to those after step `end`, in either
        direction.

        With `start` -1, `uses` must be all 0.
        """
        low, high = sorted((bisect.bisect_right(self.steps, start), bisect.bisect_right(self.steps, end)))
        sign = 1 if end > start else -1
        for step in self.steps[low:high]:
            for symbol, by in self.changes[step].items():
                if symbol is not None:
                    uses[symbol] += sign * by

    def places(self, step: int, symbol: int) -> int:
        """Return by how much a step changes the uses of a symbol, by weight."""
        return self.changes.get(step, {}).get(symbol, 0)

    def touched(self, step: int) -> Sequence[int]:
        """Return the indexes of the words that a step changes."""
        return self._words.get(step, ())

    def since(self, word: int, step: int) -> int:
        """Return the last step, up to `step`, that changed a word; 0 if none did.

        Args:
            word: The index of the word.
            step: The step.
        """
        of_word = self._steps_of_word[word]
        at = bisect.bisect_right(of_word, step)
        return of_word[at - 1] if at else 0
