"""BoundlessBPE: at each step the best merge inside words against the best merge of two whole neighbouring
words (Schmidt et al., "Boundless Byte Pair Encoding", 2025).

The pre-tokens of the recipe are documents, or stretches of them; the split `within` cuts them into words.
View 0 holds each distinct word in units. View 1 holds the documents as rows of whole words. A word joins its
neighbours once it is one token and holds letters alone, with a space, an underscore or an apostrophe: it is
unlocked. Of an equal count the merge of whole words is taken. A merge inside words takes a part of several
units apart where it takes at least the share `threshold` of all its places, counted before; the part keeps
its id, and its bytes are never made again. Places of a pair that overlap count once.

A word that is taken apart is whole no longer, so that it is locked again; and a joined word is another thing
than a word of the same letters. So the tokens that training leaves are those that encoding gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from tokentui.core.jobs import each
from tokentui.encode.events import EventVocabulary
from tokentui.learn.bases import WEIGHTS
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.events import Done, EventPairs
from tokentui.learn.objectives import OBJECTIVES, Material
from tokentui.learn.values import Constraints, Event, Kind, Merged, Pair, Ranked, Used
from tokentui.learn.whole_words import Rows, View, unlockable
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer

WORDS, DOCUMENTS = 0, 1


def vocabulary(
    recipe: Recipe, base: Iterable[bytes], specials: Sequence[str] = (), first_id: int = 0
) -> EventVocabulary:
    """The vocabulary of a recipe, with no steps yet."""
    within = OBJECTIVES.of(recipe.objective).arguments(recipe.objective)["within"]
    return EventVocabulary(recipe, base, specials, first_id, within=str(within))


class BoundlessPairs(View):
    """Both views. A step of view 1 has the number of its pair there, inverted."""

    def __init__(self, material: Material) -> None:
        self.taken, self.unlocked = set[bytes](), set[int]()
        self._spelled = {}
        self._marks: list[int] = []
        """The length of the log of the rows before each step."""
        self._spread: list[Counter[int]] = []
        """By how much each step changed the uses of each symbol in the documents."""
        self._changes: Counter[int] = Counter()
        super().__init__(material)
        self.taken.update(self.vocabulary.pieces)
        self.free = list(self.weights)
        """The weight of each word where it stands in no joined word."""
        self.rows = Rows(self, *self._row_lists)
        self.known_items = {(text, False): n for n, text in enumerate(self.rows.items)}
        """The item of each text, and of the joined word of each."""
        self.view = WORDS
        """The view of the candidate that was ranked first."""

    def lay_out(self, material: Material) -> tuple[Sequence[str], Sequence[int]]:
        """The distinct words inside the pre-tokens, and the weight of each; and the rows of them. What never
        joins stands in no row."""
        recipe = material.recipe
        cut = Pretokenizer(recipe.with_axes(split=self.parameters["within"], normalize=(), prefix_space=None))
        units, weights = Pretokenizer(recipe).units, WEIGHTS.of(recipe.weight).of(material.words.counts)
        numbers, counts, joins = dict[str, int](), list[int](), list[bool]()
        rows, row_weights = dict[tuple[int, ...], int](), list[int]()
        self.documents: list[list[tuple[bool, int]]] = []
        """Each pre-token of the recipe as rows (True) and words that never join (False), by their numbers."""
        texts = material.words.words
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
            self.documents.append(document)
        self.texts = list(numbers)
        self.sizes = [len(units(word)) for word in numbers]
        """The units of each word."""
        self._row_lists = [list(row) for row in rows], row_weights
        return self.texts, counts

    def id_of(self, text: bytes) -> int:
        """The id of the token of a text, past all where it has none."""
        symbol = self.vocabulary.symbol(text)
        found = -1 if symbol is None else self.vocabulary.order[symbol]
        return found if found >= 0 else 1 << 40

    def row_mark(self) -> int:
        """The length of the log of the rows before the last step."""
        return self._marks[self.number - 1] if self.number else len(self.rows._log)

    # ---- choosing

    def _spell(self, pair: int) -> tuple[bytes, bytes]:
        view: EventPairs = self if pair > 0 else self.rows
        pair = pair if pair > 0 else ~pair
        pieces = view.vocabulary.pieces
        return pieces[view.left[pair]], pieces[view.right[pair]]

    def _for_rows(self, under: Constraints) -> Constraints:
        """The constraints of view 1: a pair that is locked is not forced."""
        forced = self.rows._pair_of(under.forced) if under.forced else 0
        return under if forced and self.rows.allowed(forced) else under._replace(forced=())

    def best(self, under: Constraints) -> int:
        """The best pair of both views, of equals that of whole words; 0 where there is none."""
        word, row = super().best(under), self.rows.best(self._for_rows(under))
        if not row:
            return word
        if under.forced and word and self._spell(word) == under.forced:
            return word
        if under.forced and self._spell(~row) == under.forced:
            return ~row
        return word if word and self.counts[word] > self.rows.counts[row] else ~row

    def ranked(self, under: Constraints, limit: int) -> Ranked:
        """The candidates of both views at this step, so many of the best in order."""
        inside, rows = super().ranked(under, limit), self.rows.ranked(self._for_rows(under), limit)
        items, symbol, pieces = self.rows.items, self.vocabulary.named, self.vocabulary.pieces
        joined = [
            one._replace(left=symbol(items[one.left]), right=symbol(items[one.right])) for one in rows.rows
        ]
        ordered = [(DOCUMENTS, one) for one in joined] + [(WORDS, one) for one in inside.rows]
        ordered.sort(key=lambda row: -row[1].places)
        most = max((one.places for _, one in ordered), default=0)
        tied = sum(
            one.tied for one in (inside, rows)
            if one.rows and max(pair.places for pair in one.rows) == most
        )
        alike = None
        if under.forced:
            first = next((row for row in sorted(ordered, key=lambda row: row[0])
                          if (pieces[row[1].left], pieces[row[1].right]) == under.forced), None)
            if first is not None:
                alike = sum(one.places == first[1].places for _, one in ordered) - 1
                ordered = [first, *(row for row in ordered if row is not first)]
        self.view = ordered[0][0] if ordered else WORDS
        replaced = ordered[0][1].places if ordered else 0
        found = [one for _, one in ordered[:limit]]
        return Ranked(inside.total + rows.total, tied, replaced, found, alike)

    # ---- steps

    def _make(self, pair: int) -> int:
        self._changes = Counter()
        self._marks.append(len(self.rows._log))
        cost = super()._make(pair) if pair > 0 else self._join(~pair)
        self._spread.append(self._changes)
        self._tokens[-1] = self._tokens[-2] + sum(self._changes.values())
        return cost

    def _join(self, pair: int) -> int:
        """Make a step of a pair of whole words for the first time."""
        rows, items = self.rows, self.rows.items
        left, right, places = rows.left[pair], rows.right[pair], rows.counts[pair]
        uses, alike, tied = (rows.uses[left], rows.uses[right]), rows._queue.alike, rows._queue.tied
        if (other := self._queue.best()) and self.counts[other] == places:
            alike, tied = True, tied + self._queue.tied
        parts = self.vocabulary.named(items[left]), self.vocabulary.named(items[right])
        token = self.vocabulary.named(items[left] + items[right])
        logged, marked, done = len(self._log), len(rows._log), list[Event]()
        self.known += 1
        self.number += 1

        def events() -> Iterator[Event]:
            done.append(self.apply(Event(Kind.MERGE, token, parts, places, view=DOCUMENTS)))
            yield done[-1]
            if left != right or self._stands_alone(self.known_items[items[left] + items[right], True]):
                done.append(self.apply(Event(Kind.UNLOCK, token, view=DOCUMENTS)))
                yield done[-1]

        self.vocabulary.step(events())
        self._tokens.append(0)
        figures = Merged(Pair(*parts, places, places, *uses), done[0].replaced, tied, alike)
        self._made.append(Done(~pair, logged, figures, tuple(done)))
        return 4 * (len(rows._log) - marked)

    def _stands_alone(self, item: int) -> bool:
        """True if a document is one item."""
        return any(
            len(document) == 1 and document[0][0] and self.rows.words[document[0][1]] == [item]
            for document in self.documents
        )

    def _replace(self, number: int, word: list[int]) -> None:
        changes, free = self._changes, self.free[number]
        for symbol in self.words[number]:
            changes[symbol] -= free
        for symbol in word:
            changes[symbol] += free
        super()._replace(number, word)

    def apply(self, event: Event) -> Event:
        """Do an event to its view."""
        if event.view == WORDS or event.kind is not Kind.MERGE:
            return super().apply(event)
        rows, pieces = self.rows, self.vocabulary.pieces
        left, right = (self._item(pieces[part]) for part in event.parts)
        item = self.known_items.setdefault((pieces[event.symbol], True), len(rows.items))
        if item == len(rows.items):
            rows.items.append(pieces[event.symbol])
        while len(self.length) <= event.symbol:  # a symbol of view 1 stands in no word
            self.length.append(sum(self.length[part] for part in event.parts))
            self.uses.append(0)
            self._holding.append(set())
        merged = rows.apply(Event(Kind.MERGE, item, (left, right))).replaced
        self._take((left, right), merged)
        for part in event.parts:
            self._changes[part] -= merged
        self._changes[event.symbol] += merged
        event = event._replace(replaced=merged)
        self.noted(event)
        return event

    def _take(self, items: Iterable[int], merged: int) -> None:
        """Take words that were joined from those that stand alone."""
        for item in items:
            if item < len(self.free):
                self.free[item] -= merged

    def _item(self, text: bytes) -> int:
        """The item of these bytes: a word, or where no word has them a joined one."""
        joined = self.known_items.get((text, True))
        word = self.known_items.get((text, False))
        symbol = self.vocabulary.symbol(text)
        if word is not None and symbol is not None and self.words[word] == [symbol]:
            return word
        assert joined is not None
        return joined

    def following(self, merge: Event, uses: tuple[int, int]) -> Iterator[Event]:
        """A word that is whole now is unlocked; parts that hardly stand outside the merge are taken apart."""
        text = self.vocabulary.pieces[merge.symbol]
        item = self.known_items.get((text, False))
        if item is not None and self.words[item] == [merge.symbol] and unlockable(text):
            yield Event(Kind.UNLOCK, merge.symbol)
        for part, used in dict(zip(merge.parts, uses, strict=True)).items():
            if self._goes(part, merge.places, used):
                yield Event(Kind.BREAK, part, self._units(part))

    def _goes(self, part: int, places: int, used: int) -> bool:
        """True if a part is taken apart of whose places the merge takes so many."""
        threshold = Fraction(str(self.parameters["threshold"]))
        return part >= self.vocabulary.base_size and Fraction(places, used) >= threshold

    def _units(self, symbol: int) -> tuple[int, ...]:
        parts = self.vocabulary.parts(symbol)
        return tuple(one for part in parts for one in self._units(part)) if parts else (symbol,)

    def noted(self, event: Event) -> None:
        """A text that is made is not made again; a whole word may join, one that is taken apart may not."""
        self._mark(event, True)

    def undone(self, event: Event) -> None:
        """Take an event back."""
        self._mark(event, False)

    def _mark(self, event: Event, done: bool) -> None:
        text = self.vocabulary.pieces[event.symbol]
        if event.kind is Kind.MERGE:
            if done or self.vocabulary.made_at(event.symbol) >= self.number:
                (self.taken.add if done else self.taken.discard)(text)
            self.touch(text)
            self.rows.touch(text)
            return
        item = self.known_items.get((text, event.view == DOCUMENTS))
        if item is None or not (event.kind is Kind.UNLOCK or unlockable(text)):
            return
        unlocks = done == (event.kind is Kind.UNLOCK)
        (self.unlocked.add if unlocks else self.unlocked.discard)(item)
        self.rows.touch_item(item)

    def _merge(self, pair: int) -> int:
        self._changes = Counter()
        return super()._merge(pair)

    def _unmerge(self) -> int:
        self._changes = Counter()
        done = self.done(self.number)
        event = done.events[0]
        if event.view == DOCUMENTS:
            pieces = self.vocabulary.pieces
            items = [self._item(pieces[part]) for part in event.parts]
            self.rows.undo(self._marks[self.number - 1])
            self._take(items, -event.replaced)
        return super()._unmerge()

    def forget(self) -> None:
        """Forget the steps past the present one."""
        super().forget()
        del self._marks[self.number :], self._spread[self.number :]
        self.spelled_anew()
        self.rows.anew()

    def forked(self) -> None:
        """The rows of a copy are its own."""
        self.rows = self.rows.copied(self)

    # ---- the figures

    def kind(self, events: Sequence[Event]) -> str:
        """By the view that it changes, and what it takes apart."""
        if events[0].view == DOCUMENTS:
            return "superword"
        return "merge and break" if any(one.kind is Kind.BREAK for one in events) else "merge"

    def facts(self, best: Pair, replaced: int) -> list[str]:
        """The words that are unlocked, and the share of each part that a merge inside words takes."""
        facts = [f"{len(self.unlocked):,} words are unlocked: they may join their neighbours"]
        if self.view == DOCUMENTS:
            return [*facts, "two whole words are joined: no pair inside words stands more often"]
        for part, used in {best.left: best.left_uses, best.right: best.right_uses}.items():
            if part >= self.vocabulary.base_size:
                name = self.vocabulary.pieces[part].decode("utf-8", "replace").replace(" ", "·")
                then = "it is taken apart" if self._goes(part, best.places, used) else "it stays"
                share = best.places / used
                facts.append(f"IoS of {name}: {best.places:,} / {used:,} = {share:.3f}, {then}")
        return facts

    def shown(self) -> list[int]:
        """The uses of each symbol in the documents."""
        found = [0] * max(len(self.vocabulary.pieces), len(self.uses))
        for number, free in enumerate(self.free):
            if free:
                for symbol in self.words[number]:
                    if symbol >= 0:
                        found[symbol] += free
        for item in range(len(self.texts), len(self.rows.items)):
            if uses := self.rows.uses[item] if item < len(self.rows.uses) else 0:
                found[self.vocabulary.named(self.rows.items[item])] += uses
        return found

    def spread(self, number: int) -> Counter[int]:
        """By how much a known step changed the uses of each symbol."""
        return self._spread[number - 1]

    def words_changed(self) -> set[int]:
        """The documents, by their number, that the last step changed."""
        if not self.number:
            return set()
        words = super().words_changed()
        rows = {number for number, _ in self.rows._log[self.row_mark() :]}
        found = set()
        for number, document in enumerate(self.documents):
            for is_row, n in document:
                if (n in words) if not is_row else (
                    n in rows or any(item in words for item in self.rows.words[n])
                ):
                    found.add(number)
                    break
        return found

    def symbols_of(self, index: int) -> Sequence[int]:
        """The symbols of a document."""
        out, words, items = list[int](), self.words, self.rows.items
        for is_row, n in self.documents[index]:
            for item in self.rows.words[n] if is_row else (n,):
                if item < len(words):
                    out += words[item]
                else:
                    out.append(self.vocabulary.named(items[item]))
        return out


class BoundlessTrainer(EventTrainer):
    """A training in two views; see `trainer.Trainer`."""

    engine: BoundlessPairs

    @property
    def uses(self) -> Sequence[int]:
        """The uses of each symbol in the documents at this step, by weight."""
        if self._shown[0] != self.number:
            self._shown = self.number, self.engine.shown()
        return self._shown[1]

    _shown: tuple[int, list[int]] = (-1, [])
    gives_out = True

    def forget(self) -> None:
        """Forget the steps past the present one."""
        super().forget()
        self._shown = -1, []

    def uses_over(self, symbol: int) -> Callable[[], Sequence[Used]]:
        """The uses of a symbol up to this step, by what each step changed."""
        uses = self.uses[symbol] if symbol < len(self.uses) else 0
        found, pieces = list[Used](), self.engine.vocabulary.pieces
        for number in range(self.number, 0, -1):
            if change := self.engine.spread(number)[symbol]:
                event = self.engine.done(number).events[0]
                into = pieces[event.symbol] if symbol in event.parts else b""
                found.append(Used(number, uses, into))
                uses -= change
        found.append(Used(0, uses))
        return lambda: found[::-1]


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return BoundlessTrainer.of(BoundlessPairs, material)
