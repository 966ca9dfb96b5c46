"""The trainer of merges of pairs: an engine that merges, an objective, and the vocabulary that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from tokentui.encode.tokenizer import Tokenizer
from tokentui.encode.vocabulary import Marks, Vocabulary
from tokentui.learn.objectives import Material
from tokentui.learn.rows import (
    Candidate,
    Entry,
    Page,
    PairCandidate,
    Query,
    Traits,
    Why,
    fixed_entry,
    listed,
    page_of,
)
from tokentui.learn.stepped import Constraints, SteppedTrainer
from tokentui.learn.values import Changed, Event, Kind, MergeStep, Place, Span, Stop, Stretch, WhatIf
from tokentui.text.pretokenize import Pretokenizer

_JOINED = b"+"
_Key = TypeVar("_Key")
_Row = TypeVar("_Row")


class Merged(NamedTuple):
    """The figures of a merge that was made.

    Attributes:
        places: The number of places where its pair stood, by weight.
        replaced: The number of them that were merged.
        tied: The number of pairs that were as good.
        left_uses: The uses of its left part before it.
        right_uses: The uses of its right part before it.
    """

    places: int
    replaced: int
    tied: int
    left_uses: int
    right_uses: int


class Order(Protocol):
    """The candidates of a step in their order."""

    def __len__(self) -> int: ...

    def best(self, limit: int) -> list[int]:
        """So many of the best pairs, fewer where there are no more."""

    def tied(self) -> int:
        """The number of pairs that share the greatest value."""


class PairEngine(Protocol):
    """The pairs of a corpus by their numbers, and the merges made of them: plain Python (`bpe`) or kernels
    (`compiled`)."""

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
    def merged(self, number: int) -> Merged: ...
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


class _Rows(NamedTuple, Generic[_Key, _Row]):
    """Rows that were made, and everything else that they depend on."""

    of: tuple[object, ...]
    rows: dict[_Key, _Row]


class PairTrainer(SteppedTrainer):
    """A training by merges of pairs.

    Args:
        engine: The pairs of the corpus.
        material: The counted words and the recipe.
        what_if: Changes of the run.
        again: Makes another training of the same corpus at step 0, for a fork under what-ifs.
    """

    def __init__(
        self,
        engine: PairEngine,
        material: Material,
        what_if: tuple[WhatIf, ...],
        again: Callable[[tuple[WhatIf, ...]], SteppedTrainer],
    ) -> None:
        self.engine, self.objective = engine, material.objective
        traits = Traits(
            engine=engine.engine, columns=self.objective.columns, shaped_by=self.objective.shaped_by,
            least_size=self.size_at(0), compresses=self.objective.codes,
        )
        super().__init__(
            traits, material.recipe.tie, words=material.words, recipe=material.recipe, what_if=what_if,
            again=again,
        )
        self._index: dict[str, int] = {}
        self._ordered: _Last | None = None
        self._rows: _Rows[tuple[int, int], PairCandidate] = _Rows((), {})
        """The candidates that were asked for last, by their parts."""
        self._listed: tuple[tuple[object, ...], Sequence[int]] = ((), ())
        self._entries: _Rows[int, Entry] = _Rows((), {})
        """The entries of the vocabulary that were asked for last, by their symbols."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, of which the first `number` merges count."""
        return self.engine.vocabulary

    @property
    def placeholder(self) -> bytes | None:
        """The byte that the next merge makes; None where a token is its parts joined."""
        return None

    @property
    def pieces(self) -> Sequence[bytes]:
        """The bytes of each symbol."""
        return self.vocabulary.pieces

    @property
    def number(self) -> int:
        """The present step."""
        return self.engine.number

    @property
    def computed(self) -> int:
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
        """Constraints with the least count that the objective asks for."""
        least = self.objective.least
        return under if under.min_count >= least else replace(under, min_count=least)

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
        return self.computed if self.objective.filters else self.engine.last_with(least)

    def forget(self) -> None:
        """Forget the steps past the present one."""
        self.engine.forget()
        self._ordered = None

    # ---- steps

    def step_at(self, number: int) -> MergeStep:
        """A known step."""
        return MergeStep(**self._fields(number))

    def _fields(self, number: int) -> dict[str, Any]:
        vocabulary, made, rank = self.vocabulary, self.engine.merged(number), number - 1
        parts = left, right = vocabulary.merges[rank]
        symbol = vocabulary.base_size + rank
        shown = self._pair(
            parts, made.places, made.places, made.left_uses, made.right_uses, (0, 0), made.tied > 1
        )
        scored = self.objective.value is not None
        return {
            "number": number,
            "events": (Event(Kind.MERGE, symbol, parts, made.places, made.replaced),),
            "tied": made.tied,
            "tokens": self.tokens_at(number),
            "vocab_size": vocabulary.size(number),
            "worth": shown.worth,
            "values": shown.values,
            "chosen": shown,
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
        """The first known step after a step that makes one of these tokens, 0 for a unit; None where none
        does."""
        base = self.vocabulary.base_size
        for number in range(after + 1, self.computed + 1):
            if not tokens.isdisjoint(self._names(base + number - 1)):
                return number
        at_start = not after and any(not tokens.isdisjoint(self._names(symbol)) for symbol in range(base))
        return 0 if at_start else None

    def _names(self, symbol: int) -> tuple[bytes, ...]:
        """The bytes that a symbol is found by."""
        return (self.vocabulary.pieces[symbol],)

    # ---- the candidates

    def _order(self, under: Constraints) -> Order:
        """The candidates at this step in their order, kept while the step and the constraints stay."""
        if self._ordered is None or self._ordered[:2] != (self.number, under):
            self._ordered = _Last(self.number, under, self.engine.ranked(under))
        return self._ordered.order

    def candidates(self, query: Query) -> Page[Candidate]:
        """The pairs that may be merged next, best first."""
        order = self._order(self._least(self._under(self.limits)))
        total = len(order)
        top = max(0, min(query.top, total - 1))
        first = max(0, top - 1)
        pairs = order.best(min(total, top + query.rows + 1))[first:]
        window = slice(top - first, top - first + query.rows)
        rows = self._candidates(pairs[window], self._ties(pairs)[window])
        return Page(rows, top, total, self._matching(order, query.match) if query.match else ())

    def _ties(self, pairs: Sequence[int]) -> list[bool]:
        """Return for each of some pairs in order if it is exactly as good as one of its neighbours."""
        engine = self.engine
        counts, left, right, uses = engine.counts, engine.left, engine.right, engine.uses
        worth_of = self.objective.worth
        worths = [worth_of(counts[pair], uses[left[pair]], uses[right[pair]]) for pair in pairs]
        return [
            worth in (*worths[max(0, n - 1) : n], *worths[n + 1 : n + 2]) for n, worth in enumerate(worths)
        ]

    def _candidates(self, pairs: Sequence[int], tied: Sequence[bool]) -> tuple[PairCandidate, ...]:
        """Pairs as candidates. Those that the last step left as they were are the same objects."""
        if not pairs:
            return ()
        engine, vocabulary = self.engine, self.vocabulary
        marks, of = Marks(vocabulary), (vocabulary, self.placeholder)
        known = self._rows.rows if self._rows.of == of else {}
        found: dict[tuple[int, int], PairCandidate] = {}
        fell, first_new = engine.changes()
        lefts, rights, counts, uses = engine.left, engine.right, engine.counts, engine.uses
        for pair, equal in zip(pairs, tied, strict=True):
            left, right, count = lefts[pair], rights[pair], counts[pair]
            before = count + fell.get(pair, 0) if pair < first_new else None
            figures = count, before, uses[left], uses[right], equal
            row = known.get((left, right))
            if row is None or figures != (row.count, row.before, row.left_uses, row.right_uses, row.tied):
                row = self._pair(
                    (left, right), count, before, uses[left], uses[right], marks.sizes(left, right), equal
                )
            found[left, right] = row
        self._rows = _Rows(of, found if len(found) > 2 else known | found)
        return tuple(found.values())

    def _pair(
        self, key: tuple[int, int], count: int, before: int | None, left_uses: int, right_uses: int,
        marks: tuple[int, int], tied: bool,
    ) -> PairCandidate:
        left, right = key
        pieces, token = self.vocabulary.pieces, self.vocabulary.join(left, right)
        worth, uses = self.objective.worth(count, left_uses, right_uses), left_uses * right_uses
        byte = token if self.placeholder is None else self.placeholder
        values = self.objective.values(
            count=count, change=None if before is None else count - before, left_uses=left_uses,
            right_uses=right_uses, score=count / uses if uses else 0.0, value=worth, **{"as": byte},
            spelled=token,
        )
        return PairCandidate(
            key, (pieces[left], pieces[right]), byte, worth, values, tied, 0, marks, count, before, left_uses,
            right_uses,
            expansion=b"" if byte == token else token,
        )

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

    def reasons(self, under: Constraints) -> Why:
        """The reasons of the next step, without its end."""
        order = self._order(self._least(under))
        pairs, tied = order.best(3), order.tied()
        best, second = (*self._candidates(pairs[:2], self._ties(pairs)[:2]), None, None)[:2]
        return Why(best, second, tied, self.engine.disjoint(pairs[0]) if pairs else 0, self.rule, None)

    def facts(self, why: Why, end: Stop | None) -> Iterable[str]:
        """Further sentences about the next step."""
        recipe = self.recipe
        if self.objective.value is None and recipe.mark_kind == "prefix" and recipe.encode == "longest-match":
            yield f"this is byte-pair encoding by count with {recipe.mark_text}, not the score of WordPiece"

    # ---- the corpus

    def segment(self, place: Place) -> list[Span]:
        """The segmentation of a word of the corpus at this step; empty for a word that the corpus lacks."""
        if isinstance(place, Stretch):
            raise NotImplementedError("documents are not laid out")
        if not self._index:
            self._index = {known: number for number, known in enumerate(self.words.words)}
        index = self._index.get(place.text)
        if index is None:
            return []
        length = self.engine.length
        return [
            Span(at, at + length[symbol], symbol)
            for at, symbol in self.engine.word(index, place.first, place.units)
        ]

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

    def tokenizer(self, number: int | None = None, run: Mapping[str, object] | None = None) -> Tokenizer:
        """The tokenizer of a known step. It shares the vocabulary, which only grows."""
        return Tokenizer(self.vocabulary, self.number if number is None else number, run)

    def entries(self, query: Query) -> Page[Entry]:
        """The entries of the vocabulary at this step.

        Those that the last step left as they were are the same objects.
        """
        vocabulary, uses = self.vocabulary, self.uses
        # ids of the base change with every step
        of = vocabulary, self.number if vocabulary.base_last else None
        known = self._entries.rows if self._entries.of == of else {}
        key = vocabulary, self.number, query.order
        if self._listed[0] != key:
            self._listed = key, listed(vocabulary, self.number, uses, query.order)

        def entry(symbol: int) -> Entry:
            row = known.get(symbol)
            return row if row is not None and row.uses == uses[symbol] else self._entry(symbol)

        page = page_of(self._listed[1], query, vocabulary, entry)
        self._entries = _Rows(of, {row.symbol: row for row in page.rows if row.symbol >= 0})
        return page

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
