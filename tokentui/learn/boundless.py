"""BoundlessBPE: at each step the best merge inside words, or the best merge of two whole neighboring words
(Schmidt et al., "Boundless Byte Pair Encoding", 2025).

The pre-tokens of the recipe are documents, or parts of them; the split `within` cuts them into words. View 0
(`WORDS`) has each distinct word in units. View 1 (`DOCUMENTS`) has the documents as rows of whole words. A
word is unlocked, and may join its neighbors, once it is one token and contains only letters, besides a space,
an underscore or an apostrophe. If both views have a merge of the same count, the one of whole words is made.

A merge inside words breaks a part of several units if its IoS (intersection over self), the share of all uses
of the part that the merge takes, is at least `threshold`. The uses are counted before the merge. The part is
replaced by its units, keeps its id, and its bytes are never made again. Overlapping places of a pair count
once.

Breaking a word locks it again, and a joined word differs from a word of the same letters. So the tokens that
training leaves are those that encoding gives.
"""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tokentui.core.jobs import each
from tokentui.core.safetext import to_bytes
from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.engine import Constraints, Ranked
from tokentui.learn.event_engine import EventEngine, Method
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout, Pairs, lay_out
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

if TYPE_CHECKING:
    import regex

WORDS, DOCUMENTS = 0, 1
_NO_ID = 1 << 40
"""The id of an item without a token in the order by ids: greater than all."""


@functools.cache
def _letters() -> regex.Pattern[str]:
    import regex

    return regex.compile(r"[\p{L}\p{M} _'’]*(?<=.)[\p{L}\p{M}][\p{L}\p{M} _'’]*")


def unlockable(text: bytes) -> bool:
    """Return whether a token may join its neighbors once it is a whole word.

    It contains only letters, marks, spaces, underscores and apostrophes, and has a letter after its first
    character.
    """
    return _letters().fullmatch(text.decode("utf-8", "replace")) is not None


def vocabulary(
    recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0
) -> EventVocabulary:
    """Return the vocabulary of a recipe without any steps; see `Objective.vocabulary`."""
    within = OBJECTIVES.of(recipe.objective).arguments(recipe.objective)["within"]
    return EventVocabulary(recipe, base, specials, first_id, within=str(within))


# ---- the corpus


class _CutCorpus(NamedTuple):
    """The pre-tokens of a corpus, cut into words.

    Attributes:
        words: The distinct words.
        weights: The weight of each word.
        rows: The distinct rows: longest sequences of words that can be unlocked, as indexes of words.
        row_weights: The weight of each row.
        documents: Each pre-token as a sequence of rows and of words that cannot be unlocked. The flag is True
            for a row; the number is the index of the row or the word.
    """

    words: list[str]
    weights: list[int]
    rows: list[list[int]]
    row_weights: list[int]
    documents: list[list[tuple[bool, int]]]


def _cut_corpus(material: Material) -> _CutCorpus:
    """Cut the pre-tokens of a material into words, and group the words into rows."""
    recipe = material.recipe
    within = material.objective.arguments(recipe.objective)["within"]
    cut = Pretokenizer(recipe.with_axes(split=str(within), normalize=(), prefix_space=None))
    texts, weights = material.words.words, WEIGHTS.of(recipe.weight).of(material.words.counts)
    indexes, counts, joins = dict[str, int](), list[int](), list[bool]()
    rows, row_weights = dict[tuple[int, ...], int](), list[int]()
    documents: list[list[tuple[bool, int]]] = []
    for text, weight in zip(each(texts, len(texts)), weights, strict=True):
        document, row = list[tuple[bool, int]](), list[int]()
        for word in (*cut.words(text, first=False), ""):
            index = indexes.setdefault(word, len(indexes)) if word else -1
            if index == len(counts):
                counts.append(0)
                joins.append(unlockable(to_bytes(word)))
            if word:
                counts[index] += weight
            if word and joins[index]:
                row.append(index)
                continue
            if row:
                at = rows.setdefault(tuple(row), len(rows))
                row_weights += [0] * (len(rows) - len(row_weights))
                row_weights[at] += weight
                document.append((True, at))
                row = []
            if word:
                document.append((False, index))
        documents.append(document)
    return _CutCorpus(list(indexes), counts, list(map(list, rows)), row_weights, documents)


class Documents:
    """Both views: a layout of the distinct words, and one of the rows; see `event_engine.EventCorpus`.

    The symbols of the rows are *items*: item n below the number of words is the n-th word, the others are
    joined words in the order in which they were first made. A candidate of the words has its number there,
    one of the rows the complement of its number, which is negative.

    Attributes:
        tied: The number of candidates that shared the greatest count at the last call of `best`.
        was_tied: True if another candidate had the count of the one that `best` returned last.
        view: The view of the first candidate at the last call of `top`.

    Args:
        vocabulary: The vocabulary.
        words: The layout of the words.
        cut: The corpus, cut into these words.
        material: The recipe and the objective.
    """

    def __init__(
        self, vocabulary: EventVocabulary, words: Layout, cut: _CutCorpus, material: Material
    ) -> None:
        self.vocabulary, self.words = vocabulary, words
        self.items = [to_bytes(text) for text in cut.words]
        self.tokens = words.tokens
        self.times_made = Counter(vocabulary.pieces)
        """How many times each text was made. A text is never made twice; units count once."""
        self.unlocked = set[int]()
        """The items that may join their neighbors."""
        self.free = list(words.weights)
        """The weight of the places of each word outside joined words."""
        self._documents, self._first_joined = cut.documents, len(cut.words)
        self._item_of = {(text, False): item for item, text in enumerate(self.items)}
        """The item of each word (False) and of each joined word (True), by its text."""
        self._shown: list[int] | None = None
        self.tied, self.was_tied, self.view = 0, False, WORDS
        units = Pretokenizer(material.recipe).units
        sizes = [len(units(word)) for word in cut.words]
        self.rows = Layout(
            material, words.kind, cut.rows, cut.row_weights, self.items, self._id_of, sizes
        )
        words.method_allows, self.rows.method_allows = self._mergeable, self._joinable

    def _mergeable(self, pairs: list[int]) -> list[int]:
        """Return the pairs inside words, of those given, whose token has not been made yet."""
        times_made, token = self.times_made, self.words.token
        return [pair for pair in pairs if not times_made[token(pair)]]

    def _joinable(self, pairs: list[int]) -> list[int]:
        """Return the pairs of items, of those given, whose parts are unlocked and whose token was not
        made yet."""
        times_made, unlocked, rows = self.times_made, self.unlocked, self.rows
        return [
            pair for pair in pairs
            if unlocked.issuperset(rows.keys[pair]) and not times_made[rows.token(pair)]
        ]

    def _id_of(self, item: int) -> int:
        """Return the id of the token of an item, `_NO_ID` if it has none."""
        symbol = self.vocabulary.symbol(self.items[item])
        id = -1 if symbol is None else self.vocabulary.order[symbol]
        return id if id >= 0 else _NO_ID

    def item(self, text: bytes) -> int:
        """Return the item of a text: the word if it is one token now, otherwise the joined word.

        Raises:
            KeyError: The word is not one token now, and no joined word has this text.
        """
        word, symbol = self._item_of.get((text, False)), self.vocabulary.symbol(text)
        if word is not None and symbol is not None and self.words.words[word] == [symbol]:
            return word
        return self._item_of[text, True]

    def is_whole(self, symbol: int) -> bool:
        """Return whether a symbol is all of a distinct word now, and the word can be unlocked."""
        text = self.vocabulary.pieces[symbol]
        item = self._item_of.get((text, False))
        return item is not None and self.words.words[item] == [symbol] and unlockable(text)

    def is_document(self, text: bytes) -> bool:
        """Return whether some document consists of one joined word of this text, which must have been
        joined."""
        item = self._item_of[text, True]
        return any(
            len(document) == 1 and document[0][0] and self.rows.words[document[0][1]] == [item]
            for document in self._documents
        )

    # ---- events

    @property
    def mark(self) -> tuple[int, int]:
        """The lengths of the logs of both views."""
        return self.words.mark, self.rows.mark

    def work(self, mark: tuple[int, int]) -> int:
        """Return the number of changes of words and rows since a mark."""
        return self.words.work(mark[0]) + self.rows.work(mark[1])

    def apply(self, event: Event) -> Event:
        """Apply an event to its view, and update the length of the corpus and which pairs are allowed.

        Returns the event with the number of places that it replaced, by weight.
        """
        mark = self.words.mark
        joins = event.view == DOCUMENTS and event.kind is EventKind.MERGE
        event = self._join(event) if joins else self.words.apply(event)
        self.tokens += self._tokens_gained(mark)
        self._update_rules(event, done=True)
        return event

    def _tokens_gained(self, mark: int) -> int:
        """Return how many tokens the words outside joined words gained since a mark, by weight."""
        return sum(
            self.free[index] * (len(self.words.words[index]) - len(old))
            for index, old in self.words.since(mark).items()
        )

    def _join(self, event: Event) -> Event:
        """Join two items in all rows, and add the joined word as an item if it is new.

        Returns the event with the number of places that it replaced.
        """
        pieces = self.vocabulary.pieces
        text, parts = pieces[event.symbol], [self.item(pieces[part]) for part in event.parts]
        item = self._item_of.setdefault((text, True), len(self.items))
        if item == len(self.items):
            self.items.append(text)
        # The symbol occurs in no word, but methods read its length.
        self.words.add_symbol(event.symbol, sum(self.words.length[part] for part in event.parts))
        joined = self.rows.apply(Event(EventKind.MERGE, item, (parts[0], parts[1]))).replaced
        self._occupy(parts, joined)
        return event._replace(replaced=joined)

    def _occupy(self, items: Iterable[int], places: int) -> None:
        """Subtract the places of a join from the corpus and from the free places of its words."""
        self.tokens -= places
        for item in items:
            if item < self._first_joined:
                self.free[item] -= places

    def undo(self, mark: tuple[int, int], events: Sequence[Event]) -> None:
        """Undo a step.

        Args:
            mark: The mark before the step.
            events: The events of the step, as `apply` returned them.
        """
        first, pieces = events[0], self.vocabulary.pieces
        if first.view == DOCUMENTS:
            parts = [self.item(pieces[part]) for part in first.parts]
            self.rows.undo(mark[1])
            self._occupy(parts, -first.replaced)
        self.tokens -= self._tokens_gained(mark[0])
        self.words.undo(mark[0])
        for event in reversed(events):
            self._update_rules(event, done=False)

    def _update_rules(self, event: Event, done: bool) -> None:
        """Update which pairs are allowed after an event was done, or undone.

        A text that was made is not made again. A whole word is unlocked, one that is broken is locked. An
        event of a text that is no item changes nothing.
        """
        self._shown = None
        text = self.vocabulary.pieces[event.symbol]
        if event.kind is EventKind.MERGE:
            self.times_made[text] += 1 if done else -1
            for layout in (self.words, self.rows):
                layout.changed.update(layout.making(text))
            return
        item = self._item_of.get((text, event.view == DOCUMENTS))
        if item is None or not (event.kind is EventKind.UNLOCK or unlockable(text)):
            return
        unlocks = done == (event.kind is EventKind.UNLOCK)
        (self.unlocked.add if unlocks else self.unlocked.discard)(item)
        rows = (self.rows.words[index] for index in self.rows.holding[item])
        pairs = (pair for row in rows for pair in pairwise(row) if item in pair)
        self.rows.changed.update(map(self.rows.number_of.__getitem__, pairs))

    # ---- the best candidates of both views

    def _for_rows(self, under: Constraints) -> Constraints:
        """Return the constraints for view 1: without the forced pair if it is not joinable there."""
        forced = self.rows.find(under.forced) if under.forced else 0
        return under if forced and self._joinable([forced]) else under._replace(forced=())

    def best(self, under: Constraints) -> int:
        """Return the best pair of both views at the furthest step, 0 if there is none.

        It is positive for a pair inside words, and the complement of its number, which is negative, for a
        pair of whole words. If both have the same count, the pair of whole words is returned. Also sets
        `tied` and `was_tied`.
        """
        word, row = self.words.best(under), self.rows.best(self._for_rows(under))
        if not row or (word and self._is_first(word, row, under.forced)):
            self.tied, self.was_tied = self.words.tied, self.words.was_tied
            return word
        self.tied, self.was_tied = self.rows.tied, self.rows.was_tied
        other = self.words.best(under._replace(forced=()))
        if other and self.words.counts[other] == self.rows.counts[row]:
            self.tied, self.was_tied = self.tied + self.words.tied, True
        return ~row

    def _is_first(self, word: int, row: int, forced: tuple[bytes, ...]) -> bool:
        """Return whether the best pair inside words comes before the best pair of whole words.

        The forced pair comes first, then the greater count.
        """
        if forced and self.words.spells(word, forced):
            return True
        if forced and self.rows.spells(row, forced):
            return False
        return self.words.counts[word] > self.rows.counts[row]

    def row(self, candidate: int) -> Pair | NGram:
        """Return a candidate as a pair of symbols, with its figures at the furthest step."""
        return self.words.row(candidate) if candidate > 0 else self._named(self.rows.row(~candidate))

    def _named(self, pair: Pair | NGram) -> Pair:
        """Return a pair of items as one of symbols."""
        assert isinstance(pair, Pair)
        items, symbol = self.items, self.vocabulary.named
        return pair._replace(left=symbol(items[pair.left]), right=symbol(items[pair.right]))

    def top(self, under: Constraints, limit: int, mark: tuple[int, int]) -> Ranked:
        """Return the best candidates of both views at this step, in order, and set `view`.

        The forced pair comes first, then the greater count; of equal counts the pair of whole words.
        """
        words = self.words.top(under, limit, mark[0])
        rows = self.rows.top(self._for_rows(under), limit, mark[1])
        ordered = [(DOCUMENTS, self._named(row)) for row in rows.rows] + [(WORDS, row) for row in words.rows]
        ordered.sort(key=lambda row: -row[1].places)
        most = max((row.places for _, row in ordered), default=0)
        tied = sum(
            view.tied for view in (words, rows)
            if view.rows and max(row.places for row in view.rows) == most
        )
        equals, pieces = None, self.vocabulary.pieces
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

    # ---- figures

    @property
    def uses(self) -> list[int]:
        """The uses of each symbol in the distinct words, by weight."""
        return self.words.uses

    @property
    def length(self) -> list[int]:
        """The units of each symbol. A joined word has those of its parts."""
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
        """Return by how much a step changed the uses of each symbol in the documents, by weight."""
        changes, first = self.words.use_changes(mark[0], weights=self.free), events[0]
        if first.view == DOCUMENTS:
            for part in first.parts:
                changes[part] -= first.replaced
            changes[first.symbol] += first.replaced
        return changes

    def changed_words(self, mark: tuple[int, int]) -> set[int]:
        """Return the indexes of the documents that changed since a mark, in their words or in their rows."""
        words, rows = self.words.changed_words(mark[0]), set(self.rows.since(mark[1]))
        return {
            number for number, document in enumerate(self._documents)
            if any(
                (index in rows or not words.isdisjoint(self.rows.words[index])) if is_row else index in words
                for is_row, index in document
            )
        }

    def symbols(self, index: int) -> Sequence[int]:
        """Return the symbols of a document: those of its free words, and one for each joined word."""
        symbols = list[int]()
        for is_row, row in self._documents[index]:
            for item in self.rows.words[row] if is_row else (row,):
                if item < self._first_joined:
                    symbols += self.words.words[item]
                else:
                    symbols.append(self.vocabulary.named(self.items[item]))
        return symbols

    def copy(self) -> Documents:
        """Return an independent copy of both views."""
        other = copy.copy(self)
        other.words, other.rows, other.items = self.words.copy(), self.rows.copy(), self.items[:]
        other.rows.pieces, other.rows.id_of = other.items, other._id_of
        other.times_made, other.unlocked = self.times_made.copy(), set(self.unlocked)
        other.free = self.free[:]
        other._item_of, other._shown = dict(self._item_of), None
        other.words.method_allows, other.rows.method_allows = other._mergeable, other._joinable
        return other

    def forget(self, vocabulary: EventVocabulary) -> None:
        """Use this vocabulary from now on, and drop the symbols that it does not have: the newest.

        Joined words of these symbols stay in `items`.
        """
        self.vocabulary, self._shown = vocabulary, None
        self.words.forget(vocabulary)
        self.rows.reorder()

    def memory(self) -> int:
        """Return the size of both views, in numbers of eight bytes."""
        return self.words.memory() + self.rows.memory()

# ---- the method


class Boundless(Method):
    """BoundlessBPE as a method of an event training."""

    notes_changes = True

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self._threshold = Fraction(str(self.parameters["threshold"]))

    def lay_out(self, material: Material) -> tuple[EventVocabulary, Documents]:
        """Lay out both views, and count the pairs in them."""
        cut = _cut_corpus(material)
        vocabulary, words = lay_out(material, Pairs(overlapping=False), cut.words, cut.weights)
        return vocabulary, Documents(vocabulary, words, cut, material)

    def follow_up(self, engine: EventEngine, merge: Event, taken: Pair | NGram) -> Iterator[Event]:
        """Yield the events after a merge.

        A merge inside words unlocks the word that it makes whole, and breaks each part by its IoS. A join
        unlocks the joined word, unless no neighbor is left that it could join.
        """
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
            if self._is_broken(engine, part, merge.places, uses):
                yield Event(EventKind.BREAK, part, self._units(engine, part))

    def _is_broken(self, engine: EventEngine, part: int, places: int, uses: int) -> bool:
        """Return whether a merge of `places` places breaks a part that had `uses` uses before."""
        return part >= engine.vocabulary.base_size and Fraction(places, uses) >= self._threshold

    def _units(self, engine: EventEngine, symbol: int) -> tuple[int, ...]:
        """Return the symbols of the units of a symbol."""
        parts = engine.vocabulary.parts(symbol)
        return tuple(unit for part in parts for unit in self._units(engine, part)) if parts else (symbol,)

    def kind(self, events: Sequence[Event]) -> str:
        """Return the word for a step: `superword` for a join, else whether it breaks parts."""
        if events[0].view == DOCUMENTS:
            return "superword"
        return "merge and break" if any(event.kind is EventKind.BREAK for event in events) else "merge"

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return sentences on the unlocked words, and on the IoS of each part of a merge inside words."""
        corpus = engine.corpus
        assert isinstance(corpus, Documents)
        assert isinstance(best, Pair)
        facts = [f"{len(corpus.unlocked):,} words are unlocked: they may join their neighbors"]
        if corpus.view == DOCUMENTS:
            return [*facts, "two whole words are joined: no pair inside words stands more often"]
        for part, uses in {best.left: best.left_uses, best.right: best.right_uses}.items():
            if part >= engine.vocabulary.base_size:
                name = engine.vocabulary.pieces[part].decode("utf-8", "replace").replace(" ", "·")
                then = "it is taken apart" if self._is_broken(engine, part, best.places, uses) else "it stays"
                share = best.places / uses
                facts.append(f"IoS of {name}: {best.places:,} / {uses:,} = {share:.3f}, {then}")
        return facts


def trainer(material: Material) -> EventTrainer:
    """Return a training by BoundlessBPE at step 0; see `Objective.trainer`."""
    return EventTrainer.start(material, Boundless)
