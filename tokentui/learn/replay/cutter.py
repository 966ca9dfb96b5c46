"""How each distinct word of a corpus is cut after any number of births, found once: what changes it, and by how much.

A word changes at few births. Where births are merged in their order one run over the word tells them all. Elsewhere the last way
is found first: it holds back to the latest birth that it was made with; the way before that birth is looked for next, and so on
to the start. That is exact for every way of encoding here: with fewer tokens to choose from, a choice that is still there stays.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from tokentui.encode import WordEncoder
from tokentui.encode.segment.longest import LongestMatch
from tokentui.encode.segment.merges import Merging
from tokentui.encode.segment.parts import Attempt, Part
from tokentui.encode.segment.ranked import RankedMerging
from tokentui.encode.segment.viterbi import Viterbi
from tokentui.learn.replay.cut import Live
from tokentui.learn.replay.matches import Matches
from tokentui.learn.replay.order import Order

_LONG = 48
"""A longer word is taken in stretches that no token crosses, where it has to be cut again and again."""

_KEPT = 1 << 16
_MOST_LATE = 100
"""With so few births that are not merged in their order it is looked whether a word may have one of them."""

Way = tuple[int | None, ...]
"""The tokens of a word as symbols, None for what has none."""
Change = tuple[int, dict[int | None, int]]
"""A birth, and by how much it changes the number of each token."""


class Cutter:
    """Cuts words after any number of births, one after the other.

    Args:
        order: The births.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        whole, self._count = order.vocabulary, len(order.births)
        self._encoder = WordEncoder(whole, len(whole.merges) and self._count)
        self._segmenter: Any = self._encoder.segmenter
        self._lives = _limited(self._segmenter, order.born)
        self._matches = Matches(order, self._lives, self._encoder) if isinstance(self._segmenter, LongestMatch) else None
        ordered = 0
        if isinstance(self._segmenter, Merging):
            ordered = self._count
        elif isinstance(self._segmenter, RankedMerging):
            ordered = self._segmenter.in_order()
        late = [whole.pieces[symbol] for symbol in order.births[ordered:]]
        self._at_once = isinstance(self._segmenter, Merging | RankedMerging) and len(late) <= _MOST_LATE
        self._late = late if self._at_once else []
        self._longest = max(map(len, whole.pieces), default=1)
        self._known: dict[tuple[bytes, ...], list[tuple[int, Way]]] = {}

    def units(self, word: str) -> list[bytes]:
        """The smallest units of a word."""
        return self._encoder.pretokenizer.units(word)

    def parts(self, word: str, births: int) -> list[Part]:
        """The parts of a word after so many births."""
        self._stand(births)
        return self._encoder.parts(self.units(word), len(word))

    def spelled(self, symbol: int) -> list[bytes]:
        """The units that a token is spelled by, with their marks."""
        vocabulary, recipe = self._order.vocabulary, self._order.vocabulary.recipe
        piece, mark = vocabulary.pieces[symbol], recipe.mark_text.encode()
        kind = recipe.mark_kind
        inside = kind == "prefix" and piece.startswith(mark) and piece != mark
        ends = kind.startswith("end-") and piece.endswith(mark) and (piece != mark or kind == "end-symbol")
        bare = piece[len(mark) :] if inside else piece[: len(piece) - len(mark)] if ends else piece
        units = self.units(bare.decode("utf-8", "surrogateescape"))
        if inside and units:
            units[0] = mark + units[0]
        elif kind == "end-symbol" and not ends:
            units = units[:-1]
        elif kind == "end-suffix" and not ends and units:
            units[-1] = units[-1][: -len(mark)]
        return units or [piece]

    def before(self, symbol: int, births: int) -> tuple[bytes, ...]:
        """What the units of a token are, as exact bytes, before the birth of this number."""
        units = self.spelled(symbol)
        self._stand(births - 1)
        pieces = self._order.vocabulary.pieces
        parts = self._encoder.parts(units, len(units))
        return tuple(b"".join(units[one.start : one.end]) if one.symbol is None else pieces[one.symbol] for one in parts)

    def _stand(self, births: int) -> None:
        for live in self._lives:
            live.limit = births
        if not self._lives:
            self._segmenter.stand(births)

    def changes(self, word: str) -> Iterator[Change]:
        """What changes in a word, in order of the births; birth 0 has all tokens of the start."""
        units = self.units(word)
        data = b"".join(units) if self._late else b""
        if not self._at_once or any(piece in data for piece in self._late) or not (yield from self._changes_at_once(units)):
            yield from self._changes_back(units, len(word))

    def _changes_at_once(self, units: Sequence[bytes]) -> Generator[Change, None, bool]:
        """By one run over the word. Returns false, and nothing was given, where one run does not tell."""
        self._stand(self._count)
        start, merges = self._segmenter.history(units)
        base = self._order.vocabulary.base_size
        ordered = all(one[2] <= other[2] for one, other in itertools.pairwise(merges))
        if -1 in start or len(start) != len(units) or not ordered or (merges and merges[0][2] < base):
            return False
        whole = self._segmenter.whole(units) if isinstance(self._segmenter, RankedMerging) else None
        last = self._count + 1
        if whole is not None:
            last = self._order.born[whole] or (0 if len(units) == 1 else self._count)
        now: Counter[int | None] = Counter(start)
        if last:
            yield 0, dict(now)
        for made, group in itertools.groupby(merges, key=_made):
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

    def _changes_back(self, units: Sequence[bytes], characters: int) -> Iterator[Change]:
        """By the ways of the word from the last one back."""
        before: Counter[int | None] = Counter()
        for birth, way in self._ways(units, characters):
            now = Counter(way)
            change = now.copy()
            change.subtract(before)
            before = now
            found = {symbol: by for symbol, by in change.items() if by}
            if found or not birth:
                yield birth, found

    def _ways(self, units: Sequence[bytes], characters: int) -> list[tuple[int, Way]]:
        """(birth, tokens from that birth on), the first from birth 0."""
        if len(units) <= _LONG or not isinstance(self._segmenter, RankedMerging | Viterbi):
            return self._ways_back(units, characters)
        joined: list[list[tuple[int, Way]]] = []
        for part in self._uncrossed(units):
            if part not in self._known:
                if len(self._known) >= _KEPT:
                    self._known.clear()
                self._known[part] = self._ways_back(part, characters)
            joined.append(self._known[part])
        births = sorted({birth for ways in joined for birth, _ in ways})
        at = [0] * len(joined)
        found = []
        for birth in births:
            for n, ways in enumerate(joined):
                while at[n] + 1 < len(ways) and ways[at[n] + 1][0] <= birth:
                    at[n] += 1
            found.append((birth, tuple(itertools.chain.from_iterable(ways[n][1] for n, ways in zip(at, joined, strict=True)))))
        return found

    def _ways_back(self, units: Sequence[bytes], characters: int) -> list[tuple[int, Way]]:
        ways: list[tuple[int, Way]] = []
        births = self._count
        matches = self._matches.of(units, characters) if self._matches is not None else None
        while True:
            found = matches.way(births) if matches is not None else None
            if found is None:
                self._stand(births)
                found = self._since(units, characters, births), self._way(units, characters)
            since, way = found
            if ways and ways[-1][1] == way:
                ways.pop()
            ways.append((since, way))
            if not since:
                return ways[::-1]
            births = since - 1

    def _way(self, units: Sequence[bytes], characters: int) -> Way:
        return tuple(part.symbol for part in self._encoder.parts(list(units), characters))

    def _since(self, units: Sequence[bytes], characters: int, births: int) -> int:
        """The latest birth that the way which a word is cut into was found with, of those that count."""
        segmenter, born = self._segmenter, self._order.born
        kept = [units[at] for at in self._encoder.kept(list(units))]
        if isinstance(segmenter, LongestMatch):
            made = [self._born_of(step) for step in segmenter.steps(kept, characters) if isinstance(step, Attempt)]
            return max(made, default=0)
        since = 0
        if isinstance(segmenter, RankedMerging):
            whole = segmenter.whole(kept)
            if whole is not None:
                birth = born[whole] or (0 if len(kept) == 1 else self._count)
                if birth <= births:
                    return birth
        if isinstance(segmenter, RankedMerging | Merging):
            return max((born[made] for _, _, made in segmenter.history(kept)[1]), default=0)
        for part in segmenter.segment(kept, characters):
            if part.symbol is not None:
                since = max(since, born[part.symbol])
        return since

    def _born_of(self, attempt: Attempt) -> int:
        """The birth of the token that an attempt found, 0 where it found none."""
        if not attempt.found:
            return 0
        found = [live.get(attempt.candidate) for live in self._lives]
        return max((self._order.born[symbol] for symbol in found if symbol is not None), default=0)

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


def _limited(segmenter: Any, born: Sequence[int]) -> list[Live]:
    """Let a way of encoding that looks tokens up pass over those that are not born; what its limit is set by."""
    unlimited = len(born)
    if isinstance(segmenter, LongestMatch):
        firsts, rests, longest = segmenter._index
        both = Live(firsts, born, unlimited), Live(rests, born, unlimited)
        segmenter.__dict__["_index"] = (*both, longest)  # in the place of what it keeps
        return list(both)
    if isinstance(segmenter, Merging | RankedMerging):
        return []
    live = segmenter._table = Live(segmenter._table, born, unlimited, walked=isinstance(segmenter, Viterbi))
    if isinstance(segmenter, Viterbi):
        _keep_arcs(segmenter, live, born)
    return [live]


def _keep_arcs(segmenter: Viterbi, live: Live, born: Sequence[int]) -> None:
    """Look up the pieces that may stand in a word once for all limits that are tried on it."""
    find = segmenter._arcs
    kept: dict[tuple[bytes, ...], Any] = {}

    def arcs(units: Sequence[bytes]) -> Any:
        key = tuple(units)
        if key not in kept:
            limit, live.limit = live.limit, len(born)
            kept.clear()
            kept[key] = find(units)
            live.limit = limit
        return [arc for arc in kept[key] if arc.symbol is None or born[arc.symbol] <= live.limit]

    segmenter._arcs = arcs  # type: ignore[method-assign]


def _made(merge: tuple[int, int, int]) -> int:
    return merge[2]
