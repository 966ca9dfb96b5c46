"""Encoding by the fewest tokens: the shortest path over the places of a word.

Of equally short paths, the one with the widest last token is chosen, and so on back to the start. A unit that
is no token may be an unknown part anywhere. Paths with fewer unknown units are shorter, whatever their number
of tokens.

Source: C. Schmidt et al., Tokenization Is More Than Compression (PathPiece, 2024), with the rule of the
longest last token; a unigram model with equal scores gives the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokentui.core.jobs import check
from tokentui.encode.segment import ASKED_EVERY, Attempt, WordPart, in_bytes
from tokentui.encode.segment.greedy import SubstringMatch

_Cost = tuple[int, int]
"""The number of unknown units of a path, and its number of tokens."""


class FewestTokens(SubstringMatch):
    """Cuts words into the fewest tokens.

    >>> from tokentui.encode.vocabulary import Vocabulary
    >>> from tokentui.recipe import Recipe
    >>> vocabulary = Vocabulary(Recipe(split="none", unit="char", encode="fewest-tokens"), [b"a", b"b", b"c"])
    >>> vocabulary.extend([(0, 1), (1, 2), (3, 2)], [2, 1, 1])  # ab, bc, abc
    >>> units = [b"a", b"b", b"c", b"b", b"c"]
    >>> [vocabulary.pieces[part.symbol] for part in FewestTokens(vocabulary, 3).segment(units, 5)]
    [b'abc', b'bc']
    """

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Cut a word into parts. A unit that is no token becomes a part by itself."""
        return in_bytes(self._way(self._last(units)), units, self._bytes)

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Yield for each place the last token of the cheapest path to it, then the tokens of the result, from
        the end."""
        look, last = self.look(units), self._last(units)
        for start, end, symbol, (_, tokens) in last:
            if symbol is not None:
                yield Attempt(look(start, end)[0], start, end, False, tokens)
        for start, end, symbol in reversed([part[:3] for part in self._way(last)]):
            if symbol is not None:
                yield Attempt(look(start, end)[0], start, end, True, last[end - 1][3][1])

    def _last(self, units: Sequence[bytes]) -> list[tuple[int, int, int | None, _Cost]]:
        """Return, for each end of a unit, the last part (start, end, symbol) of the cheapest path to it, and
        the cost."""
        look, widest = self.look(units), self.widest
        costs: list[_Cost] = [(0, 0)]
        last: list[tuple[int, int, int | None, _Cost]] = []
        for end in range(1, len(units) + 1):
            if end % ASKED_EVERY == 0:
                check()
            unknown, tokens = costs[end - 1]
            best, start, best_symbol = (unknown + 1, tokens + 1), end - 1, None
            for first in range(end - 1, max(0, end - widest) - 1, -1):
                unknown, tokens = costs[first]
                cost = unknown, tokens + 1
                if cost <= best and (symbol := look(first, end)[1]) is not None:
                    best, start, best_symbol = cost, first, symbol
            costs.append(best)
            last.append((start, end, best_symbol, best))
        return last

    def _way(self, last: Sequence[tuple[int, int, int | None, _Cost]]) -> list[WordPart]:
        """Return the parts from the start, by following `last` back from the end of the word."""
        parts, end = list[WordPart](), len(last)
        while end:
            start, _, symbol, _ = last[end - 1]
            parts.append(WordPart(start, end, symbol))
            end = start
        return parts[::-1]
