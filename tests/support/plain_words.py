"""A plain engine for the proofs: words as lists of symbols, counted from scratch whenever something is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from tokentui.learn.stepped import replaced
from tokentui.learn.trainer import Candidate, Changed, Constraints, Event, Kind, Mark, Symbols


class WordEngine:
    """One or several parts of counted words, each word a list of symbols.

    Args:
        parts: For each part its words and how often each counts.
        units: Cuts a word into its smallest units.
    """

    def __init__(self, parts: Sequence[dict[str, int]], units: Callable[[str], list[bytes]]) -> None:
        cut = [{word: units(word) for word in part} for part in parts]
        self.symbols = Symbols(sorted({unit for part in cut for word in part.values() for unit in word}))
        self.cut_units = units
        self.names = [list(part) for part in parts]
        self.weights = [list(part.values()) for part in parts]
        self.words = [[self.units(word) for word in part] for part in parts]
        self._log: list[tuple[int, int, list[int]]] = []
        self.deciding: Sequence[int] = range(len(parts))
        """The parts whose counts decide at this step."""
        self.views: dict[int, Sequence[int]] = {0: range(len(parts))}
        """The parts that an event of each view changes."""
        self.barred: Callable[[tuple[int, int]], bool] = lambda pair: False
        self.largest_first = False
        self.tied = 0

    def units(self, word: str) -> list[int]:
        """A word as its smallest units; those that the corpus lacks are left out."""
        return [self.symbols.by_piece[unit] for unit in self.cut_units(word) if unit in self.symbols.by_piece]

    def tokens(self) -> tuple[int, ...]:
        """The length of each part in tokens, by weight."""
        return tuple(
            sum(len(word) * weight for word, weight in zip(words, weights, strict=True))
            for words, weights in zip(self.words, self.weights, strict=True)
        )

    def pairs(self, parts: Sequence[int] | None = None) -> Counter[tuple[int, int]]:
        """Every pair with its count, overlapping places too."""
        found: Counter[tuple[int, int]] = Counter()
        for part in self.deciding if parts is None else parts:
            for word, weight in zip(self.words[part], self.weights[part], strict=True):
                for pair in pairwise(word):
                    found[pair] += weight
        return found

    def uses(self, symbol: int) -> int:
        """How often a symbol stands, by weight."""
        return sum(
            word.count(symbol) * weight
            for words, weights in zip(self.words, self.weights, strict=True)
            for word, weight in zip(words, weights, strict=True)
        )

    def candidates(self, under: Constraints) -> list[Candidate]:
        """The pairs that the constraints allow, best first: by their value, then by the tie rule."""
        pieces = self.symbols.pieces
        found = []
        for (left, right), count in self.pairs().items():
            parts = pieces[left], pieces[right]
            long = under.max_length is not None and len(parts[0] + parts[1]) > under.max_length
            if count >= under.min_count and not long and parts not in under.forbidden and not self.barred((left, right)):
                found.append(Candidate((left, right), parts, parts[0] + parts[1], count))
        return self.in_order(found, under)

    def in_order(self, found: list[Candidate], under: Constraints) -> list[Candidate]:
        """Candidates best first, a forced one before all others; those as good as another are tied."""
        found.sort(key=lambda one: one.parts, reverse=self.largest_first)
        found.sort(key=lambda one: (one.parts != under.forced, -one.worth))
        worths = Counter(one.worth for one in found)
        return [one._replace(tied=worths[one.worth] > 1) for one in found]

    def best(self, under: Constraints) -> Candidate | None:
        """The best pair, None where there is none."""
        found = self.candidates(under)
        self.tied = sum(one.worth == found[0].worth for one in found) if found else 0
        return found[0] if found else None

    def apply(self, event: Event) -> tuple[Event, Changed]:
        """Do an event to every word of the parts that it is meant for."""
        done, changed = 0, set()
        for part in self.views[event.view]:
            for number, word in enumerate(self.words[part]):
                after = self.after(word, event)
                if after != word:
                    self._log.append((part, number, word))
                    self.words[part][number] = after
                    done += abs(after.count(event.symbol) - word.count(event.symbol)) * self.weights[part][number]
                    changed.add(sum(map(len, self.names[:part])) + number)
        numbers = frozenset(changed)
        return event._replace(replaced=done), Changed(numbers) if event.view == 0 else Changed(documents=numbers)

    def mark(self) -> int:
        """The length of the log."""
        return len(self._log)

    def revert(self, mark: int) -> None:
        """Put back every word that was changed after a mark, the latest first."""
        while len(self._log) > mark:
            part, number, word = self._log.pop()
            self.words[part][number] = word

    def after(self, symbols: list[int], event: Event) -> list[int]:
        """A word after an event."""
        return replaced(symbols, event, self.symbols.pieces)


class Plain:
    """A method whose step is one merge; the others add to it.

    Args:
        engine: The engine.
        specials: How many ids there are beside units and tokens.
    """

    def __init__(self, engine: WordEngine, specials: int = 0) -> None:
        self.engine = engine
        self.specials = specials
        self.present = set(range(engine.symbols.base_size))
        self.makings: dict[int, tuple[int, ...]] = {}
        self.last = Event(Kind.SCORES, -1)

    @property
    def size(self) -> int:
        """The number of ids."""
        return self.specials + len(self.present)

    def events(self, best: Candidate) -> Iterator[Event]:
        """One merge."""
        yield Event(Kind.MERGE, self.engine.symbols.named(best.token), best.key, int(best.worth))

    def note(self, event: Event) -> None:
        """What a merge or a cover makes is there, what a split takes apart is not."""
        self.last = event
        if event.kind in (Kind.MERGE, Kind.COVER, Kind.RESTORE):
            self.present.add(event.symbol)
            self.makings.setdefault(event.symbol, event.parts)
        elif event.kind in (Kind.SPLIT, Kind.REMOVE):
            self.present.discard(event.symbol)

    def kind(self, events: Sequence[Event]) -> str:
        """By its first event."""
        return str(events[0].kind)

    def mark(self) -> Mark:
        """The symbols that are there, and how they were made."""
        return set(self.present), dict(self.makings)

    def revert(self, mark: Mark) -> None:
        """Go back to a mark."""
        self.present, self.makings = mark
