"""A training whose candidates are runs of two or more neighbouring tokens, not only pairs.

`Grams` is the engine: `EventPairs` with another table of candidates. A run is known by a key that its kind
chooses: its symbols, or the text that they spell. It has a count, its places in all words by weight, and a
worth, by which runs are ordered. A word that changes takes what its old runs gave and gives what its new ones
do, so both numbers are those of a recount at every step. The rules for equal runs look at the whole of them:
the text where a rule compares texts, the ids in order where it compares ids.

In a `Pair` the left symbol is the number of a run, and its left uses are its worth.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tokentui.core.jobs import check, in_blocks
from tokentui.encode.events import Event, Kind
from tokentui.encode.segment import WAYS
from tokentui.learn.bases import BOUNDARY
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.events import Done, EventPairs
from tokentui.learn.objectives import Material
from tokentui.learn.ranking import TIES, Key, Queue
from tokentui.learn.rows import KEPT_ROWS, Candidate, Worth
from tokentui.learn.values import Constraints, Life, Merged, Pair, Ranked, Step, Used

if TYPE_CHECKING:
    from tokentui.learn.ranking import Pairs

_A_WORD = 16
"""The places that a changed word costs, next to those of `bpe`."""
_NONE = -1


class Given(NamedTuple):
    """A word's share of a run, without its weight: the places that count, and the tokens that they save."""

    places: int
    saved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GramStep(Step):
    """A run of tokens that became one, as it was made.

    Attributes:
        parts: The exact bytes of its tokens; where tokens differ from place to place those of the first one.
        token: Those of the token that it made.
        id: The id of the token.
        count: The number of places where it stood, by weight.
        replaced: The number of them that changed.
        worth: The value that it was taken for.
        saved: By how many tokens the corpus became shorter.
    """

    parts: tuple[bytes, ...]
    token: bytes
    id: int
    count: int
    replaced: int
    worth: int
    saved: int

    @property
    def decision(self) -> tuple[bytes, ...]:
        """The tokens that it made one."""
        return self.parts

    @property
    def row(self) -> dict[str, Any]:
        """Its row in a trace for machines."""
        return {
            "step": self.number, "kind": self.kind,
            "hex": [*(part.hex() for part in self.parts), self.token.hex()],
            "parts": [part.decode("utf-8", "replace") for part in self.parts],
            "token": self.token.decode("utf-8", "replace"), "id": self.id, "count": self.count,
            "replaced": self.replaced, "score": self.worth, "saved": self.saved, "tied": self.tied,
            "tokens": self.tokens, "vocab_size": self.vocab_size,
        }


class _AsPairs:
    """The runs of a corpus as the tie rules see pairs: the whole of a run is the left part, the right one is
    empty."""

    def __init__(self, grams: Grams) -> None:
        self.vocabulary = self
        self.first_place = grams.first_place
        self.left, self.right = _Each(lambda gram: gram), _Each(lambda gram: 0)
        self.pieces = _Each(lambda gram: grams.text(gram) if gram else b"")
        self.length = _Each(lambda gram: grams.units(gram) if gram else 0)
        order = grams.vocabulary.order
        self.order = _Each(lambda gram: tuple(order[one] for one in grams.parts(gram)) if gram else ())

    def join(self, left: int, right: int) -> bytes:
        """The text of a run."""
        return bytes(self.pieces[left])


class _Each:
    """A list whose entries are worked out."""

    def __init__(self, entry: Callable[[int], Any]) -> None:
        self._entry = entry

    def __getitem__(self, number: int) -> Any:
        return self._entry(number)


class Grams(EventPairs):
    """The runs of tokens of a corpus and the steps made of them. At step `number` it knows the steps up to
    `known`.

    Args:
        material: The counted words, the recipe and the run.
    """

    making = Kind.MERGE
    """The event that makes a token of a run."""
    own_worths = True

    def __init__(self, material: Material) -> None:
        self.keys: list[Any] = [()]
        """The key of each run that has stood somewhere, from number 1 on."""
        self.worth: list[int] = [0]
        """The worth of each."""
        self._gram_of: dict[Any, int] = {}
        self._words_of: list[list[int]] = [[]]
        """The words in which each run has stood."""
        super().__init__(material)

    # ---- the kind of run

    def runs(self, word: Sequence[int]) -> Mapping[Any, Given]:
        """The share of a word in each of its runs, by their keys."""
        raise NotImplementedError

    def ends(self, key: Any, word: Sequence[int], at: int) -> int:
        """The place behind a run that begins at a place of a word, 0 where it does not."""
        raise NotImplementedError

    def spelled(self, key: Any) -> bytes:
        """The text of a run."""
        raise NotImplementedError

    def worth_of(self, key: Any, given: Given) -> int:
        """The worth of a word's share in a run, without its weight."""
        raise NotImplementedError

    def parts(self, gram: int) -> tuple[int, ...]:
        """The symbols of a run; where they differ from place to place those of its first place."""
        raise NotImplementedError

    def found(self, parts: tuple[bytes, ...]) -> Iterator[int]:
        """The runs, by their numbers, that what-ifs mean by these parts; by one the text of the token."""
        raise NotImplementedError

    def text(self, gram: int) -> bytes:
        """The text of a run."""
        return self.spelled(self.keys[gram])

    def units(self, gram: int) -> int:
        """The number of units of a run."""
        return sum(self.length[symbol] for symbol in self.parts(gram))

    # ---- words and runs

    def _give(self, number: int, given: Mapping[Any, Given], sign: int) -> None:
        """Add a word's shares to the runs, or take them away."""
        weight, counts, worth, moved = sign * self.weights[number], self.counts, self.worth, self._moved
        for key, share in given.items():
            gram = self._gram_of.get(key)
            if gram is None:
                self._gram_of[key] = gram = len(self.counts)
                self.keys.append(key)
                self.worth.append(0)
                self._words_of.append([])
                counts.append(0)
            counts[gram] += weight * share.places
            worth[gram] += weight * self.worth_of(key, share)
            moved.add(gram)
            if sign > 0 and (not (held := self._words_of[gram]) or held[-1] != number):
                held.append(number)

    def _count_word(self, number: int, word: Sequence[int], weight: int) -> None:
        self._give(number, self.runs(word), 1)

    def _replace(self, number: int, word: list[int]) -> None:
        """Put other symbols in the place of a word's."""
        old, new = self.runs(self.words[number]), self.runs(word)
        self._give(number, {key: one for key, one in old.items() if new.get(key) != one}, -1)
        self._give(number, {key: one for key, one in new.items() if old.get(key) != one}, 1)
        uses, weight = self.uses, self.weights[number]
        for symbols, sign in ((self.words[number], -weight), (word, weight)):
            for symbol in symbols:
                if symbol >= 0:
                    uses[symbol] += sign
        self.words[number] = word

    def _cut_after(self, key: Any, symbol: int, word: Sequence[int]) -> tuple[list[int], int]:
        """A word with a run made one symbol from left to right, and in how many places that was."""
        out, at, made = list[int](), 0, 0
        while at < len(word):
            if end := self.ends(key, word, at):
                out.append(symbol)
                at, made = end, made + 1
            else:
                out.append(word[at])
                at += 1
        return out, made

    def _key(self, event: Event) -> Any:
        """The key of the run that an event makes one token."""
        raise NotImplementedError

    def apply(self, event: Event) -> Event:
        """Do an event to every word. Returns it with the places that it replaced, by weight."""
        symbol, replaced, words = event.symbol, 0, self.words
        while len(self.length) <= symbol:
            self.length.append(sum(self.length[part] for part in event.parts))
            self.uses.append(0)
            self._holding.append(set())
        key = self._key(event)
        for number in sorted(set(self._words_of[self._gram_of[key]])):
            was = words[number]
            now, made = self._cut_after(key, symbol, was)
            if made:
                replaced += made * self.weights[number]
                self._log.append((number, was))
                self._replace(number, now)
        return event._replace(replaced=replaced)

    # ---- steps

    def _make(self, gram: int) -> int:
        """Make a step of a run for the first time and note it. Returns about the places that it cost."""
        logged, before, was = len(self._log), self._tokens[-1], self.worth[gram]
        tied, alike, places = self._queue.tied, self._queue.alike, self.counts[gram]
        self.known += 1
        self.number += 1
        symbol, parts = self.vocabulary.named(self.text(gram)), self.parts(gram)
        done = self.apply(Event(self.making, symbol, parts, places))
        self.vocabulary.step([done])
        shorter = sum(
            self.weights[number] * (len(old) - len(self.words[number]))
            for number, old in self._first(logged).items()
        )
        self._tokens.append(before - shorter)
        figures = Merged(Pair(gram, _NONE, places, places, was, 0), done.replaced, tied, alike)
        self._made.append(Done(gram, logged, figures, (done,)))
        return _A_WORD * (len(self._log) - logged)

    def forget(self) -> None:
        """Forget the steps past the present one."""
        self.vocabulary = self.vocabulary.copy(self.number)
        del self._made[self.number :], self._tokens[self.number + 1 :]
        self.known, size = self.number, len(self.vocabulary.pieces)
        del self.uses[size:], self.length[size:], self._holding[size:]
        self._drop(size)
        self._choose_anew()

    def _drop(self, size: int) -> None:
        """Forget the runs of symbols from a number on: they may come again as others."""

    def forked(self) -> None:
        """Take copies of what a step changes and is no list, dict or set of its own."""
        self._words_of = [list(one) for one in self._words_of]

    # ---- the candidates

    def _choose_anew(self, under: Constraints | None = None) -> None:
        """Forget the order of the runs, and take constraints on which of them may be taken."""
        if under is not None:
            self._limits = under.max_length, under.forbidden
        (longest, forbidden), allows = self._limits, self._allows
        barred = {gram for parts in forbidden for gram in self.found(parts)}
        texts = {parts[0] for parts in forbidden if len(parts) == 1}

        def may(gram: int) -> bool:
            return (
                gram not in barred
                and (not texts or self.text(gram) not in texts)
                and (longest is None or self.units(gram) <= longest)
                and (allows is None or allows(self.text(gram)))
            )

        def fit(grams: Iterable[int]) -> list[int]:
            return [gram for part in in_blocks(grams) for gram in part if self.worth[gram] > 0 and may(gram)]

        self.fit = fit
        rule: Key = TIES.of(self.material.recipe.tie).key(cast("Pairs", _AsPairs(self)))
        self.key = lambda gram: (rule(gram), self.parts(gram))
        self._queue = Queue(cast("Pairs", self), 1)
        self._moved, self._parts = set(range(1, len(self.counts))), set()

    def values(self, grams: Sequence[int]) -> list[int]:
        """The worth of runs."""
        return [self.worth[gram] for gram in grams]

    def _pair_of(self, parts: tuple[bytes, ...]) -> int:
        """The run of these parts that stands somewhere, 0 where none does."""
        found = (gram for gram in self.found(parts) if self.counts[gram])
        return min(found, key=lambda gram: (-self.worth[gram], self.key(gram)), default=0)

    def ranked(self, under: Constraints, limit: int) -> Ranked:
        """The candidates at this step, so many of the best in order."""
        if (under.max_length, under.forbidden) != self._limits:
            self._choose_anew(under)
        worth, key, fell = self.worth, self.key, self._falls()[0]
        grams = self.fit([
            gram for gram, count in enumerate(self.counts) if gram and count >= under.min_count
        ])
        least = min(heapq.nlargest(limit, (worth[gram] for gram in grams)), default=0)
        ordered = ((-worth[gram], key(gram), gram) for gram in grams if worth[gram] >= least)
        best = [gram for _, _, gram in heapq.nsmallest(limit, ordered)]
        total, alike = len(grams), None
        if under.forced and (forced := self._pair_of(under.forced)):
            there = forced in grams
            total += not there  # it is like no other where it is no candidate
            alike = sum(worth[gram] == worth[forced] for gram in grams) - 1 if there else 0
            best = [forced, *(gram for gram in best if gram != forced)]
        rows = []
        for gram in best:
            count, change = self.counts[gram], fell.get(gram, 0)
            rows.append(Pair(
                gram, _NONE, count, None if change is None else count + change, worth[gram], 0
            ))
        most = max((worth[gram] for gram in grams), default=0)
        tied = sum(worth[gram] == most for gram in grams)
        return Ranked(total, tied, self.saved(best[0]) if best else 0, rows, alike)

    def saved(self, gram: int) -> int:
        """By how many tokens the corpus becomes shorter when a run is taken."""
        key, saved = self.keys[gram], 0
        for number in set(self._words_of[gram]):
            word = self.words[number]
            saved += self.weights[number] * (len(word) - len(self._cut_after(key, _NONE, word)[0]))
        return saved

    def _falls_since(self, mark: int) -> tuple[Mapping[int, int | None], int]:
        changes: Counter[int] = Counter()
        for number, was in self._first(mark).items():
            weight = self.weights[number]
            for key, share in self.runs(was).items():
                changes[self._gram_of[key]] += weight * share.places
            for key, share in self.runs(self.words[number]).items():
                changes[self._gram_of[key]] -= weight * share.places
        counts = self.counts
        return {gram: fell if counts[gram] + fell else None for gram, fell in changes.items()}, len(counts)

    def first_place(self, gram: int) -> int:
        """The first place of a run: its word, then the unit in it, as one number that is ordered so."""
        found = self.first_at(gram)
        if found is None:
            return self._starts[-1]
        number, at = found
        ahead = sum(self.length[one] if one >= 0 else 1 for one in self.words[number][:at])
        return self._starts[number] + ahead

    def first_at(self, gram: int) -> tuple[int, int] | None:
        """The word in which a run stands first, and its place there in tokens."""
        key = self.keys[gram]
        for number in sorted(set(self._words_of[gram])):
            word = self.words[number]
            for at in range(len(word)):
                if self.ends(key, word, at):
                    return number, at
        return None

    def memory(self) -> int:
        """The bytes that the corpus, its runs and the history take, about eight a number."""
        size = sum(len(word) + 7 for word in self.words) + sum(len(was) + 7 for _, was in self._log)
        return 8 * (size + 24 * len(self.counts) + sum(map(len, self._words_of)) + 12 * self.known)

    def kind(self, events: Sequence[Event]) -> str:
        """The name of a step, for people."""
        return str(events[0].kind)


class GramTrainer(EventTrainer):
    """A training by runs of tokens; see `trainer.Trainer`."""

    engine: Grams

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.traits = self.traits._replace(
            step=self.kind, candidate=self.candidate, phase=self.phase
        )
        self._candidate = lru_cache(KEPT_ROWS)(self._row)

    kind, candidate, phase = "merge", "run", "merging"
    """The words for a step and for a candidate."""

    def _row(
        self, parts: tuple[bytes, ...], pair: Pair, worth: Worth, tied: bool, letter: bytes
    ) -> Candidate:
        change = None if pair.before is None else pair.places - pair.before
        figures = {"count": pair.places, "change": change, "worth": worth, "saved": worth, "run": len(parts)}
        return Candidate(
            tuple(self.engine.vocabulary.named(part) for part in parts), parts, b"".join(parts), worth,
            tuple(figures[column.name] for column in self.objective.columns), tied, places=pair.places,
        )

    def _key_of(self, pair: Pair) -> tuple[bytes, ...]:
        return self._parts_of(pair)

    def _parts_of(self, pair: Pair) -> tuple[bytes, ...]:
        pieces = self.engine.vocabulary.pieces
        return tuple(pieces[symbol] for symbol in self.engine.parts(pair.left))

    def _token_of(self, pair: Pair) -> bytes:
        return self.engine.text(pair.left)

    def _worths(self, pairs: Sequence[Pair]) -> list[Worth]:
        return [pair.left_uses for pair in pairs]

    def taken(self, number: int) -> Candidate:
        """The run that a known step took, with the figures that it had then."""
        done = self.engine.done(number)
        pair, pieces = done.figures.pair, self.engine.vocabulary.pieces
        parts = tuple(pieces[symbol] for symbol in done.events[0].parts)
        return self._row(parts, pair, pair.left_uses, done.figures.alike, b"")

    def step_at(self, number: int) -> GramStep:  # type: ignore[override]  # no merge of a pair
        """A known step."""
        engine, vocabulary, done = self.engine, self.engine.vocabulary, self.engine.done(number)
        pieces, (event,) = vocabulary.pieces, done.events
        return GramStep(
            number=number, kind=engine.kind(done.events), events=done.events, tied=done.figures.tied,
            tokens=self.tokens_at(number), vocab_size=self.size_at(number),
            parts=tuple(pieces[part] for part in event.parts), token=pieces[event.symbol],
            id=vocabulary.order[event.symbol], count=event.places, replaced=event.replaced,
            worth=done.figures.pair.left_uses, saved=self.tokens_at(number - 1) - self.tokens_at(number),
        )

    def life(self, word: str) -> list[Life]:
        """A pre-token as the tokenizers of the steps up to this one encode it."""
        if WAYS.of(self.recipe.encode).by_rank:
            return super().life(word)
        vocabulary, lives = self.engine.vocabulary, list[Life]()
        text = word.encode("utf-8", "surrogateescape")
        for number in range(self.number + 1):
            if number and vocabulary.pieces[vocabulary.made_by(number)] not in text:
                continue
            check()
            pieces = tuple(token.piece or b"" for token in self.tokenizer(number).encoder.word(word))
            if not lives or lives[-1].pieces != pieces:
                lives.append(Life(number, pieces))
        return lives

    def uses_over(self, symbol: int) -> Callable[[], Sequence[Used]]:
        """The uses of a symbol up to this step: what the words that a step changed had more or fewer of it.
        """
        engine, found = self.engine, list[Used]()
        uses = int(engine.uses[symbol]) if symbol < len(engine.uses) else 0
        later: dict[int, Sequence[int]] = {}
        end = len(engine._log)
        for number in range(self.number, 0, -1):
            done, was = engine.done(number), uses
            for entry in range(end - 1, done.logged - 1, -1):
                index, before = engine._log[entry]
                after = later.get(index, engine.words[index])
                uses += engine.weights[index] * (list(before).count(symbol) - list(after).count(symbol))
                later[index] = before
            end, made = done.logged, done.events[0].symbol
            if was != uses:
                found.append(Used(number, was, b"" if made == symbol else engine.vocabulary.pieces[made]))
        found.append(Used(0, uses))
        return lambda: found[::-1]


def whole(word: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The stretches of a word, from a place to another, that hold no boundary."""
    first = 0
    for at, symbol in enumerate((*word, BOUNDARY)):
        if symbol == BOUNDARY:
            if at > first:
                yield first, at
            first = at + 1
