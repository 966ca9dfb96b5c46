"""A course of merges of pairs: an engine that merges, a ranking, and the vocabulary that comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Marks, Vocabulary
from tokentui.learn.listing import fixed_entry, listed, page_of
from tokentui.learn.ranking import Ranking
from tokentui.learn.stepped import Constraints
from tokentui.learn.trainer import Traits, Why
from tokentui.learn.values import (
    Candidate,
    Changed,
    Entry,
    Event,
    Kind,
    MergeStep,
    Page,
    PairCandidate,
    Query,
    Span,
    Stop,
    Word,
    Worth,
)
from tokentui.recipe import Recipe
from tokentui.text.count import Words
from tokentui.text.pretokenize import Pretokenizer

_JOINED = b"+"


class Figures(Protocol):
    """The figures of a merge that was made: the count of its pair, the places merged, its ties, the uses of its parts before."""

    @property
    def places(self) -> int: ...
    @property
    def replaced(self) -> int: ...
    @property
    def tied(self) -> int: ...
    @property
    def left_uses(self) -> int: ...
    @property
    def right_uses(self) -> int: ...


class Order(Protocol):
    """The candidates of a step in their order."""

    def __len__(self) -> int: ...

    def best(self, limit: int) -> list[int]:
        """So many of the best pairs, fewer where there are no more."""

    def tied(self) -> int:
        """The number of pairs that share the greatest value."""


class PairEngine(Protocol):
    """The pairs of a corpus by their numbers, and the merges made of them: plain Python (`bpe`) or kernels (`compiled`)."""

    engine: str

    @property
    def number(self) -> int: ...
    @property
    def known(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def left(self) -> Sequence[int]: ...
    @property
    def right(self) -> Sequence[int]: ...
    @property
    def counts(self) -> Sequence[int]: ...
    @property
    def uses(self) -> Sequence[int]: ...
    @property
    def length(self) -> Sequence[int]: ...
    def walk(self, goal: int, under: Constraints) -> None: ...
    def best(self, under: Constraints) -> int: ...
    def forget(self) -> None: ...
    def merged(self, number: int) -> Figures: ...
    def tokens_at(self, number: int) -> int: ...
    def last_with(self, least: int) -> int: ...
    def ranked(self, under: Constraints) -> Order: ...
    def changes(self) -> tuple[dict[int, int], int]: ...
    def words_changed(self) -> Iterable[int]: ...
    def disjoint(self, pair: int) -> int: ...
    def word(self, index: int, first: int, units: int | None) -> list[tuple[int, int]]: ...


class _Last(NamedTuple):
    """The order of the candidates that was asked for last, and where."""

    number: int
    under: Constraints
    order: Order


class PairSteps:
    """The merges of a corpus, with their vocabulary.

    Args:
        engine: The pairs of the corpus.
        ranking: Their ranking.
        words: The counted pre-tokens of the corpus.
        recipe: The recipe.
    """

    def __init__(self, engine: PairEngine, ranking: Ranking, words: Words, recipe: Recipe) -> None:
        self.engine, self.ranking, self.words, self.recipe = engine, ranking, words, recipe
        self.rule = recipe.tie
        self._index: dict[str, int] = {}
        self._ordered: _Last | None = None
        self._listed: tuple[tuple[object, ...], Sequence[int]] = ((), ())

    def traits(self) -> Traits:
        """The facts that other rooms have to know of it."""
        return Traits(
            engine=self.engine.engine, columns=self.ranking.columns, shaped_by=self.ranking.shaped_by, least_size=self.size_at(0)
        )

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, of which the first `number` merges count."""
        return self.engine.vocabulary

    @property
    def pieces(self) -> Sequence[bytes]:
        """The bytes of each symbol."""
        return self.vocabulary.pieces

    @property
    def number(self) -> int:
        """The present step."""
        return self.engine.number

    @property
    def known(self) -> int:
        """The furthest step that has been made."""
        return self.engine.known

    @property
    def memory(self) -> int:
        """The bytes that the corpus, its pairs and the history take."""
        return self.engine.memory

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol at this step, by weight."""
        return self.engine.uses

    # ---- walking

    def walk(self, goal: int, under: Constraints) -> None:
        """Go towards a step for some milliseconds, forward as long as there is a candidate."""
        self.engine.walk(goal, self._least(under))

    def _least(self, under: Constraints) -> Constraints:
        """Constraints with the least count that the ranking asks for."""
        return under if under.min_count >= self.ranking.least else replace(under, min_count=self.ranking.least)

    def coming(self, under: Constraints) -> int:
        """The count of the best candidate at the furthest step, 0 where there is none."""
        pair = self.engine.best(self._least(under))
        return self.engine.counts[pair] if pair else 0

    def remain(self, under: Constraints) -> bool:
        """True if this step has a candidate, also under constraints other than those of the known steps."""
        return len(self._order(under)) > 0

    def places(self, number: int) -> int:
        """The count of the pair of a known step when it was chosen."""
        return self.engine.merged(number).places

    def last_with(self, least: int) -> int:
        """The furthest known step that is reached from here by pairs with at least such a count."""
        return self.known if self.ranking.filters else self.engine.last_with(least)

    def forget(self) -> None:
        """Forget the steps past the present one."""
        self.engine.forget()
        self._ordered = None

    # ---- steps

    def step(self, number: int) -> MergeStep:
        """A known step."""
        return MergeStep(**self._fields(number))

    def _fields(self, number: int) -> dict[str, Any]:
        vocabulary, made, rank = self.vocabulary, self.engine.merged(number), number - 1
        parts = left, right = vocabulary.merges[rank]
        symbol = vocabulary.base_size + rank
        shown = self._pair(parts, made.places, made.places, made.left_uses, made.right_uses, (0, 0), False)
        scored = self.ranking.value is not None
        return {
            "number": number,
            "events": (Event(Kind.MERGE, symbol, parts, made.places, made.replaced),),
            "tied": made.tied,
            "tokens": self.tokens_at(number),
            "vocab_size": vocabulary.size(number),
            "worth": shown.worth,
            "values": shown.values,
            "left": vocabulary.pieces[left],
            "right": vocabulary.pieces[right],
            "token": vocabulary.pieces[symbol],
            "id": vocabulary.id_of(symbol, number),
            "count": made.places,
            "replaced": made.replaced,
            "score": shown.score if scored else None,
            "left_uses": made.left_uses if scored else 0,
            "right_uses": made.right_uses if scored else 0,
        }

    def tokens_at(self, number: int) -> int:
        """The length of the corpus in tokens after a known step."""
        return self.engine.tokens_at(number)

    def size_at(self, number: int) -> int:
        """The number of ids after a known step."""
        return self.vocabulary.size(number)

    def find_made(self, tokens: frozenset[bytes], after: int) -> int | None:
        """The first known step after a step that makes one of these tokens, 0 for a unit; None where none does."""
        base = self.vocabulary.base_size
        for number in range(after + 1, self.known + 1):
            if not tokens.isdisjoint(self._names(base + number - 1)):
                return number
        return 0 if not after and any(not tokens.isdisjoint(self._names(symbol)) for symbol in range(base)) else None

    def _names(self, symbol: int) -> tuple[bytes, ...]:
        """The bytes that a symbol is found by."""
        return (self.vocabulary.pieces[symbol],)

    # ---- the candidates

    def _order(self, under: Constraints) -> Order:
        """The candidates at this step in their order, kept while the step and the constraints stay."""
        if self._ordered is None or self._ordered[:2] != (self.number, under):
            self._ordered = _Last(self.number, under, self.engine.ranked(under))
        return self._ordered.order

    def page(self, query: Query, under: Constraints) -> Page[Candidate]:
        """The pairs that may be merged next, best first."""
        order = self._order(self._least(under))
        total = len(order)
        top = max(0, min(query.top, total - 1))
        first = max(0, top - 1)
        pairs = order.best(min(total, top + query.rows + 1))[first:]
        window = slice(top - first, top - first + query.rows)
        rows = self._candidates(pairs[window], self._ties(pairs)[window])
        return Page(rows, top, total, self._matching(order, query.match) if query.match else ())

    def _ties(self, pairs: Sequence[int]) -> list[bool]:
        """Return for each of some pairs in order if it is exactly as good as one of its neighbours."""
        worths = list(map(self._worth, pairs))
        return [worth in (*worths[max(0, n - 1) : n], *worths[n + 1 : n + 2]) for n, worth in enumerate(worths)]

    def _worth(self, pair: int) -> Worth:
        engine = self.engine
        return self.ranking.worth(engine.counts[pair], engine.uses[engine.left[pair]], engine.uses[engine.right[pair]])

    def _candidates(self, pairs: Sequence[int], tied: Sequence[bool]) -> tuple[PairCandidate, ...]:
        """Pairs as candidates."""
        if not pairs:
            return ()
        engine, marks = self.engine, Marks(self.vocabulary)
        fell, first_new = engine.changes()
        found = []
        for pair, equal in zip(pairs, tied, strict=True):
            left, right, count = engine.left[pair], engine.right[pair], engine.counts[pair]
            before = count + fell.get(pair, 0) if pair < first_new else None
            sizes = marks.sizes(left, right)
            found.append(self._pair((left, right), count, before, engine.uses[left], engine.uses[right], sizes, equal))
        return tuple(found)

    def _pair(
        self, key: tuple[int, int], count: int, before: int | None, left_uses: int, right_uses: int, marks: tuple[int, int],
        tied: bool,
    ) -> PairCandidate:
        left, right = key
        pieces, token = self.vocabulary.pieces, self.vocabulary.join(left, right)
        worth, uses = self.ranking.worth(count, left_uses, right_uses), left_uses * right_uses
        byte = self._stands_for(token)
        values = self.ranking.values(
            count=count, change=None if before is None else count - before, left_uses=left_uses, right_uses=right_uses,
            score=count / uses if uses else 0.0, value=worth, **{"as": byte}, spelled=token,
        )
        return PairCandidate(
            key, (pieces[left], pieces[right]), byte, worth, values, tied, 0, marks, count, before, left_uses, right_uses, token
        )

    def _stands_for(self, token: bytes) -> bytes:
        """The bytes that the vocabulary gives to the token of a pair."""
        return token

    def _matching(self, order: Order, wanted: Sequence[bytes]) -> tuple[int, ...]:
        """The rows that show one of some texts: in the token, or in the parts with a plus between them."""
        joined = any(needle.strip(_JOINED) for needle in wanted)
        vocabulary, rows = self.vocabulary, []
        for row, pair in enumerate(order.best(len(order))):
            left, right = self.engine.left[pair], self.engine.right[pair]
            shown = [vocabulary.join(left, right)]
            if joined:
                shown.append(vocabulary.pieces[left] + _JOINED + vocabulary.pieces[right])
            if any(needle in one for needle in wanted for one in shown):
                rows.append(row)
        return tuple(rows)

    def why(self, under: Constraints) -> Why:
        """The reasons of the next step."""
        order = self._order(self._least(under))
        pairs, tied = order.best(3), order.tied()
        best, second = (*self._candidates(pairs[:2], self._ties(pairs)[:2]), None, None)[:2]
        return Why(best, second, tied, self.engine.disjoint(pairs[0]) if pairs else 0, self.rule, None)

    def facts(self, why: Why, end: Stop | None) -> Iterable[str]:
        """Further sentences about the next step."""
        recipe = self.recipe
        if self.ranking.value is None and recipe.mark_kind == "prefix" and recipe.encode == "longest-match":
            yield f"this is byte-pair encoding by count with {recipe.mark_text}, not the score of WordPiece"

    # ---- the corpus

    def spans(self, word: Word) -> list[Span]:
        """The segmentation of a word of the corpus at this step; empty for a word that the corpus lacks."""
        if not self._index:
            self._index = {known: number for number, known in enumerate(self.words.words)}
        index = self._index.get(word.text)
        if index is None:
            return []
        length = self.engine.length
        return [Span(at, at + length[symbol], symbol) for at, symbol in self.engine.word(index, word.first, word.units)]

    def units(self, word: str) -> list[int]:
        """A word as the symbols of its units; units that are no part of the base are left out."""
        units = self.vocabulary.units
        return [units[unit] for unit in Pretokenizer(self.recipe).units(word) if unit in units]

    def after(self, symbols: list[int], event: Event) -> list[int]:
        """A word's symbols after a merge, from left to right."""
        out: list[int] = []
        for symbol in symbols:
            if out and (out[-1], symbol) == event.parts:
                out[-1] = event.symbol
            else:
                out.append(symbol)
        return out

    def changed(self) -> Changed:
        """The words in which the last step merged something."""
        return Changed(frozenset(self.engine.words_changed()))

    # ---- the vocabulary

    def tokenizer(self, number: int, run: Mapping[str, object] | None) -> Tokenizer:
        """The tokenizer of a known step. It shares the vocabulary, which only grows."""
        return Tokenizer(self.vocabulary, number, run)

    def entries(self, query: Query) -> Page[Entry]:
        """The entries of the vocabulary at this step."""
        key = self.vocabulary, self.number, query.order
        if self._listed[0] != key:
            self._listed = key, listed(self.vocabulary, self.number, self.uses, query.order)
        return page_of(self._listed[1], query, self.vocabulary, self._entry)

    def _entry(self, entry: int) -> Entry:
        vocabulary = self.vocabulary
        if entry < 0:
            return fixed_entry(vocabulary, -1 - entry)
        rank = entry - vocabulary.base_size
        merged = rank >= 0
        return Entry(
            id=vocabulary.id_of(entry, self.number),
            symbol=entry,
            piece=vocabulary.pieces[entry],
            kind="merge" if merged else "base",
            made=rank + 1 if merged else None,
            places=vocabulary.counts[rank] if merged else None,
            uses=self.uses[entry],
            parts=tuple(vocabulary.pieces[part] for part in vocabulary.merges[rank]) if merged else (),
            marks=Marks(vocabulary).sizes(entry),
        )
