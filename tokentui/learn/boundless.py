"""BoundlessBPE: at each step the best merge inside words against the best merge of two whole neighbouring
words (Schmidt et al., "Boundless Byte Pair Encoding", 2025).

The pre-tokens of the recipe are documents, or stretches of them; the split `within` cuts them into words.
View 0 has each distinct word in units. View 1 has the documents as rows of whole words. A word joins its
neighbors once it is one token and has letters alone, with a space, an underscore or an apostrophe: it is
unlocked. Of an equal count the merge of whole words is taken. A merge inside words takes a part of several
units apart where it takes at least the share `threshold` of all its places, counted before; the part keeps
its id, and its bytes are never made again. Places of a pair that overlap count once.

A word that is taken apart is whole no longer, so that it is locked again; and a joined word is another thing
than a word of the same letters. So the tokens that training leaves are those that encoding gives.
"""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tokentui.core.jobs import each
from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.engine import Constraints, NGram, Pair, Ranked
from tokentui.learn.event_engine import EventEngine, MethodTraits
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout, PairTable, lay_out
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

if TYPE_CHECKING:
    import regex

WORDS, DOCUMENTS = 0, 1
_NO_ID = 1 << 40
"""In the order by ids after all of them."""


@functools.cache
def _letters() -> regex.Pattern[str]:
    import regex

    return regex.compile(r"[\p{L}\p{M} _'’]*(?<=.)[\p{L}\p{M}][\p{L}\p{M} _'’]*")


def unlockable(text: bytes) -> bool:
    """Return whether a token may join whole neighbors.

    It has letters, marks, spaces, underscores and apostrophes alone, and a letter after the first character.
    """
    return _letters().fullmatch(text.decode("utf-8", "replace")) is not None


def vocabulary(
    recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0
) -> EventVocabulary:
    """Return the vocabulary of a recipe, with no steps yet."""
    within = OBJECTIVES.of(recipe.objective).arguments(recipe.objective)["within"]
    return EventVocabulary(recipe, base, specials, first_id, within=str(within))


# ---- the corpus


class _Cut(NamedTuple):
    """The pre-tokens of a recipe, cut into words.

    Attributes:
        words: The distinct words.
        weights: The weight of each word.
        rows: The distinct rows of words that may join, by their numbers.
        row_weights: The weight of each row.
        documents: Each pre-token as rows (True) and words that never join (False), by their numbers.
    """

    words: list[str]
    weights: list[int]
    rows: list[list[int]]
    row_weights: list[int]
    documents: list[list[tuple[bool, int]]]


def _cut(material: Material) -> _Cut:
    """Cut the pre-tokens of a material into words."""
    recipe = material.recipe
    within = material.objective.arguments(recipe.objective)["within"]
    cut = Pretokenizer(recipe.with_axes(split=str(within), normalize=(), prefix_space=None))
    texts, weights = material.words.words, WEIGHTS.of(recipe.weight).of(material.words.counts)
    numbers, counts, joins = dict[str, int](), list[int](), list[bool]()
    rows, row_weights = dict[tuple[int, ...], int](), list[int]()
    documents: list[list[tuple[bool, int]]] = []
    for text, weight in zip(each(texts, len(texts)), weights, strict=True):
        document, row = list[tuple[bool, int]](), list[int]()
        for word in (*cut.words(text, first=False), ""):
            number = numbers.setdefault(word, len(numbers)) if word else -1
            if number == len(counts):
                counts.append(0)
                joins.append(unlockable(word.encode("utf-8", "surrogateescape")))
            if word:
                counts[number] += weight
            if word and joins[number]:
                row.append(number)
                continue
            if row:
                at = rows.setdefault(tuple(row), len(rows))
                row_weights += [0] * (len(rows) - len(row_weights))
                row_weights[at] += weight
                document.append((True, at))
                row = []
            if word:
                document.append((False, number))
        documents.append(document)
    return _Cut(list(numbers), counts, list(map(list, rows)), row_weights, documents)


class Documents:
    """Both views: a layout of the distinct words, and one of the rows, whose symbols are items.

    The words are the first items, by their numbers; the joined ones follow. See `event_engine.EventCorpus`.

    Args:
        vocabulary: The vocabulary.
        words: The layout of the words.
        cut: The pre-tokens, cut into these words.
        sizes: The units of each word.
    """

    rows: Layout

    def __init__(self, vocabulary: EventVocabulary, words: Layout, cut: _Cut, sizes: list[int]) -> None:
        self.vocabulary, self.words = vocabulary, words
        self.items = [text.encode("utf-8", "surrogateescape") for text in cut.words]
        self.tokens = words.tokens
        self.taken = Counter(vocabulary.pieces)
        """How many tokens each text was made for: none is made twice."""
        self.unlocked = set[int]()
        """The items that may join their neighbors."""
        self.free = list(words.weights)
        """The weight of each word where it occurs in no joined word."""
        self._documents, self._first_joined = cut.documents, len(cut.words)
        self._item_of = {(text, False): item for item, text in enumerate(self.items)}
        """The item of each text, and of the joined word (True) of each."""
        self._shown: list[int] | None = None
        words.follow(PairTable(words, overlapping=False))
        self.rows = Layout(cut.rows, cut.row_weights, self.items, self._id_of, sizes)
        self.rows.follow(PairTable(self.rows, overlapping=False))
        self._guard()

    def _guard(self) -> None:
        """Let the tables ask which pairs may be merged."""
        self.word_pairs, self.row_pairs = _pairs(self.words), _pairs(self.rows)
        self.word_pairs.may, self.row_pairs.may = self._may_merge, self.may_join

    def _may_merge(self, pairs: list[int]) -> list[int]:
        """Return the pairs inside words that make a text which was not made before."""
        taken, token = self.taken, self.word_pairs.token
        return [pair for pair in pairs if not taken[token(pair)]]

    def may_join(self, pairs: list[int]) -> list[int]:
        """Return the pairs of unlocked items that make a text which was not made before."""
        taken, unlocked, table = self.taken, self.unlocked, self.row_pairs
        return [
            pair for pair in pairs
            if table.left[pair] in unlocked and table.right[pair] in unlocked and not taken[table.token(pair)]
        ]

    def _id_of(self, item: int) -> int:
        """Return the id of the token of an item, one past all if it has none."""
        symbol = self.vocabulary.symbol(self.items[item])
        id = -1 if symbol is None else self.vocabulary.order[symbol]
        return id if id >= 0 else _NO_ID

    def item(self, text: bytes) -> int:
        """Return the item of a text: a word that is one token, otherwise a joined word."""
        word, symbol = self._item_of.get((text, False)), self.vocabulary.symbol(text)
        if word is not None and symbol is not None and self.words.words[word] == [symbol]:
            return word
        return self._item_of[text, True]

    def is_whole(self, symbol: int) -> bool:
        """Return whether a symbol is a whole word that may join its neighbors."""
        text = self.vocabulary.pieces[symbol]
        item = self._item_of.get((text, False))
        return item is not None and self.words.words[item] == [symbol] and unlockable(text)

    def is_document(self, text: bytes) -> bool:
        """Return whether a document is one joined word of this text."""
        item = self._item_of[text, True]
        return any(
            len(document) == 1 and document[0][0] and self.rows.words[document[0][1]] == [item]
            for document in self._documents
        )

    def candidates(self, material: Material) -> TwoViews:
        """Return the candidates of both views."""
        return TwoViews(self, material)

    # ---- events

    @property
    def mark(self) -> tuple[int, int]:
        """The lengths of the logs of both views."""
        return self.words.mark, self.rows.mark

    def work(self, mark: tuple[int, int]) -> int:
        """Return the number of words and rows that changed since a mark."""
        return self.words.work(mark[0]) + self.rows.work(mark[1])

    def apply(self, event: Event) -> Event:
        """Apply an event to its view. Returns it with the places that it replaced."""
        mark = self.words.mark
        joins = event.view == DOCUMENTS and event.kind is EventKind.MERGE
        event = self._join(event) if joins else self.words.apply(event)
        self.tokens += self._longer(mark)
        self._note(event, True)
        return event

    def _longer(self, mark: int) -> int:
        """Return by how many tokens words outside joined words became longer since a mark."""
        return sum(
            self.free[number] * (len(self.words.words[number]) - len(old))
            for number, old in self.words.since(mark).items()
        )

    def _join(self, event: Event) -> Event:
        """Join two items in all rows."""
        pieces = self.vocabulary.pieces
        text, parts = pieces[event.symbol], [self.item(pieces[part]) for part in event.parts]
        item = self._item_of.setdefault((text, True), len(self.items))
        if item == len(self.items):
            self.items.append(text)
        # the symbol occurs in no word, and has a length all the same
        self.words.add_symbol(event.symbol, sum(self.words.length[part] for part in event.parts))
        joined = self.rows.apply(Event(EventKind.MERGE, item, (parts[0], parts[1]))).replaced
        self._give_up(parts, joined)
        return event._replace(replaced=joined)

    def _give_up(self, items: Iterable[int], places: int) -> None:
        """Take the places of a join from the words that occur alone."""
        self.tokens -= places
        for item in items:
            if item < self._first_joined:
                self.free[item] -= places

    def undo(self, mark: tuple[int, int], events: Sequence[Event]) -> None:
        """Undo a step."""
        first, pieces = events[0], self.vocabulary.pieces
        if first.view == DOCUMENTS:
            parts = [self.item(pieces[part]) for part in first.parts]
            self.rows.undo(mark[1])
            self._give_up(parts, -first.replaced)
        self.tokens -= self._longer(mark[0])
        self.words.undo(mark[0])
        for event in reversed(events):
            self._note(event, False)

    def _note(self, event: Event, done: bool) -> None:
        """Update what may be merged after an event was done, or undone.

        A text that is made is not made again. A whole word may join, one that is taken apart may not.
        """
        self._shown = None
        text = self.vocabulary.pieces[event.symbol]
        if event.kind is EventKind.MERGE:
            self.taken[text] += 1 if done else -1
            self.word_pairs.moved.update(self.word_pairs.with_token(text))
            self.row_pairs.moved.update(self.row_pairs.with_token(text))
            return
        item = self._item_of.get((text, event.view == DOCUMENTS))
        if item is None or not (event.kind is EventKind.UNLOCK or unlockable(text)):
            return
        unlocks = done == (event.kind is EventKind.UNLOCK)
        (self.unlocked.add if unlocks else self.unlocked.discard)(item)
        self.row_pairs.moved.update(self.row_pairs.with_symbol(item))

    # ---- figures

    @property
    def uses(self) -> list[int]:
        """The uses of each symbol in the distinct words, by weight."""
        return self.words.uses

    @property
    def length(self) -> list[int]:
        """The units of each symbol."""
        return self.words.length

    @property
    def shown_uses(self) -> Sequence[int]:
        """The uses of each symbol in the documents, by weight."""
        if self._shown is None:
            uses = [0] * max(len(self.vocabulary.pieces), len(self.words.uses))
            for number, free in enumerate(self.free):
                if free:
                    for symbol in self.words.words[number]:
                        if symbol >= 0:
                            uses[symbol] += free
            for item in range(self._first_joined, len(self.rows.uses)):
                if self.rows.uses[item]:
                    uses[self.vocabulary.named(self.items[item])] += self.rows.uses[item]
            self._shown = uses
        return self._shown

    def use_changes(self, mark: tuple[int, int], events: Sequence[Event]) -> Counter[int]:
        """Return by how much the uses of symbols in the documents changed with a step."""
        changes, first = self.words.use_changes(mark[0], weights=self.free), events[0]
        if first.view == DOCUMENTS:
            for part in first.parts:
                changes[part] -= first.replaced
            changes[first.symbol] += first.replaced
        return changes

    def changed(self, mark: tuple[int, int]) -> set[int]:
        """Return the documents, by their numbers, that changed since a mark."""
        words, rows = self.words.changed(mark[0]), set(self.rows.since(mark[1]))
        return {
            number for number, document in enumerate(self._documents)
            if any(
                (n in rows or not words.isdisjoint(self.rows.words[n])) if is_row else n in words
                for is_row, n in document
            )
        }

    def symbols(self, index: int) -> Sequence[int]:
        """Return the symbols of a document."""
        symbols = list[int]()
        for is_row, n in self._documents[index]:
            for item in self.rows.words[n] if is_row else (n,):
                if item < self._first_joined:
                    symbols += self.words.words[item]
                else:
                    symbols.append(self.vocabulary.named(self.items[item]))
        return symbols

    def copy(self) -> Documents:
        """Return documents that change alone."""
        other = copy.copy(self)
        other.words, other.rows, other.items = self.words.copy(), self.rows.copy(), self.items[:]
        other.rows.pieces, other.rows.id_of = other.items, other._id_of
        other.taken, other.unlocked, other.free = self.taken.copy(), set(self.unlocked), self.free[:]
        other._item_of, other._shown = dict(self._item_of), None
        other._guard()
        return other

    def forget(self, vocabulary: EventVocabulary) -> None:
        """Take a vocabulary that has lost its newest symbols. Joined words stay items of no places."""
        self.vocabulary, self._shown = vocabulary, None
        self.words.forget(vocabulary)

    def memory(self) -> int:
        """Return the size of both views, in numbers of eight bytes."""
        return self.words.memory() + self.rows.memory()


def _pairs(layout: Layout) -> PairTable:
    assert isinstance(layout.table, PairTable)
    return layout.table


class TwoViews:
    """The candidates of both views. Those of view 1 have their number there, inverted."""

    def __init__(self, documents: Documents, material: Material) -> None:
        self._documents = documents
        self._words, self._rows = documents.words.candidates(material), documents.rows.candidates(material)
        self.tied, self.was_tied = 0, False
        self.view = WORDS
        """The view of the candidate that came first when `top` was asked."""

    def _for_rows(self, under: Constraints) -> Constraints:
        """Return the constraints of view 1: a pair that is locked is not forced."""
        forced = self._rows.find(under.forced) if under.forced else 0
        return under if forced and self._documents.may_join([forced]) else under._replace(forced=())

    def best(self, under: Constraints) -> int:
        """Return the best pair of both views, of equal ones that of whole words; 0 if there is none."""
        word, row = self._words.best(under), self._rows.best(self._for_rows(under))
        if not row or (word and self._is_first(word, row, under.forced)):
            self.tied, self.was_tied = self._words.tied, self._words.was_tied
            return word
        self.tied, self.was_tied = self._rows.tied, self._rows.was_tied
        other = self._words.best(under._replace(forced=()))
        if other and self._words.counts[other] == self._rows.counts[row]:
            self.tied, self.was_tied = self.tied + self._words.tied, True
        return ~row

    def _is_first(self, word: int, row: int, forced: tuple[bytes, ...]) -> bool:
        """Return whether a pair inside words comes before a pair of whole words."""
        if forced and self._words.table.spells(word, forced):
            return True
        if forced and self._rows.table.spells(row, forced):
            return False
        return self._words.counts[word] > self._rows.counts[row]

    def row(self, candidate: int) -> Pair | NGram:
        """Return a candidate with its figures at the furthest step."""
        return self._words.row(candidate) if candidate > 0 else self._named(self._rows.row(~candidate))

    def _named(self, pair: Pair | NGram) -> Pair:
        """Return a pair of items as one of symbols."""
        assert isinstance(pair, Pair)
        items, symbol = self._documents.items, self._documents.vocabulary.named
        return pair._replace(left=symbol(items[pair.left]), right=symbol(items[pair.right]))

    def top(self, under: Constraints, limit: int, mark: tuple[int, int]) -> Ranked:
        """Return the best candidates of both views at this step, in order."""
        words = self._words.top(under, limit, mark[0])
        rows = self._rows.top(self._for_rows(under), limit, mark[1])
        ordered = [(DOCUMENTS, self._named(row)) for row in rows.rows] + [(WORDS, row) for row in words.rows]
        ordered.sort(key=lambda row: -row[1].places)
        most = max((row.places for _, row in ordered), default=0)
        tied = sum(
            view.tied for view in (words, rows)
            if view.rows and max(row.places for row in view.rows) == most
        )
        equals, pieces = None, self._documents.vocabulary.pieces
        if under.forced:
            first = next(
                (row for row in sorted(ordered, key=lambda row: row[0])
                 if tuple(pieces[symbol] for symbol in row[1].symbols) == under.forced), None,
            )
            if first is not None:
                equals = sum(row.places == first[1].places for _, row in ordered) - 1
                ordered = [first, *(row for row in ordered if row is not first)]
        self.view = ordered[0][0] if ordered else WORDS
        replaced = ordered[0][1].places if ordered else 0
        return Ranked(
            words.total + rows.total, tied, replaced, [row for _, row in ordered[:limit]], equals
        )


# ---- the method


class Boundless:
    """BoundlessBPE as a method of an event training."""

    traits = MethodTraits(notes_changes=True)

    def __init__(self, material: Material) -> None:
        written = material.objective.arguments(material.recipe.objective)["threshold"]
        self._threshold = Fraction(str(written))

    def lay_out(self, material: Material) -> tuple[EventVocabulary, Documents]:
        """Lay out both views, and count the pairs in them."""
        cut, units = _cut(material), Pretokenizer(material.recipe).units
        vocabulary, words = lay_out(material, cut.words, cut.weights)
        return vocabulary, Documents(vocabulary, words, cut, [len(units(word)) for word in cut.words])

    def following(self, engine: EventEngine, merge: Event, taken: Pair | NGram) -> Iterator[Event]:
        """Return what follows: a word that is whole now is unlocked, and parts that hardly occur outside the
        merge are taken apart."""
        corpus, pieces = engine.corpus, engine.vocabulary.pieces
        assert isinstance(corpus, Documents)
        assert isinstance(taken, Pair)
        if merge.view == DOCUMENTS:
            if taken.left != taken.right or corpus.is_document(pieces[merge.symbol]):
                yield Event(EventKind.UNLOCK, merge.symbol, view=DOCUMENTS)
            return
        if corpus.is_whole(merge.symbol):
            yield Event(EventKind.UNLOCK, merge.symbol)
        for part, uses in {taken.left: taken.left_uses, taken.right: taken.right_uses}.items():
            if self._goes(engine, part, merge.places, uses):
                yield Event(EventKind.BREAK, part, self._units(engine, part))

    def _goes(self, engine: EventEngine, part: int, places: int, uses: int) -> bool:
        """Return whether a part is taken apart of whose uses the merge takes so many places."""
        return part >= engine.vocabulary.base_size and Fraction(places, uses) >= self._threshold

    def _units(self, engine: EventEngine, symbol: int) -> tuple[int, ...]:
        """Return the symbols of the units of a symbol."""
        parts = engine.vocabulary.parts(symbol)
        return tuple(unit for part in parts for unit in self._units(engine, part)) if parts else (symbol,)

    def kind(self, events: Sequence[Event]) -> str:
        """Return the name of a step: by the view that it changes, and whether it takes parts apart."""
        if events[0].view == DOCUMENTS:
            return "superword"
        return "merge and break" if any(event.kind is EventKind.BREAK for event in events) else "merge"

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return the number of unlocked words, and the share of each part that a merge inside words takes."""
        corpus, candidates = engine.corpus, engine.candidates
        assert isinstance(corpus, Documents)
        assert isinstance(candidates, TwoViews)
        assert isinstance(best, Pair)
        facts = [f"{len(corpus.unlocked):,} words are unlocked: they may join their neighbours"]
        if candidates.view == DOCUMENTS:
            return [*facts, "two whole words are joined: no pair inside words stands more often"]
        for part, uses in {best.left: best.left_uses, best.right: best.right_uses}.items():
            if part >= engine.vocabulary.base_size:
                name = engine.vocabulary.pieces[part].decode("utf-8", "replace").replace(" ", "·")
                then = "it is taken apart" if self._goes(engine, part, best.places, uses) else "it stays"
                share = best.places / uses
                facts.append(f"IoS of {name}: {best.places:,} / {uses:,} = {share:.3f}, {then}")
        return facts


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return EventTrainer.start(material, Boundless)
