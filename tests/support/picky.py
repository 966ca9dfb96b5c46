"""PickyBPE (Chizhov et al. 2024): a merge, and the removal of a part that hardly stands outside it any more.
"""

from collections.abc import Iterator, Sequence

from plain_words import EventTrainer, Plain, WordEngine, material_of, trainer_of

from tokentui.learn.rows import Candidate, Traits
from tokentui.learn.values import Event, Kind


class Picky(Plain):
    """Merge the best pair; split a part x of it that has several characters where n / (f + n) > threshold.

    n is the number of places merged, f how often x stands afterwards. The left part is taken apart before the
    right is measured.
    """

    def __init__(self, engine: WordEngine, threshold: float, specials: int = 4) -> None:
        super().__init__(engine, specials)
        self.threshold = threshold

    def events(self, best: Candidate) -> Iterator[Event]:
        """The merge, then up to two splits."""
        yield from super().events(best)
        merged = self.last.replaced
        for part in dict.fromkeys(best.key):
            several = part >= self.engine.symbols.base_size
            if several and merged / (self.engine.uses(part) + merged) > self.threshold:
                yield Event(Kind.SPLIT, part, self.expansion(part), self.engine.uses(part))

    def expansion(self, symbol: int) -> tuple[int, ...]:
        """The tree of first makings, down to symbols that are there or are units."""
        symbols, out = self.engine.symbols, list[int]()
        first = next(one.parts for one in symbols.events if one.symbol == symbol)
        for part in first or ():
            there = symbols.is_there(part, self.engine.number)
            out += (part,) if there else self.expansion(part)
        return tuple(out)

    def kind(self, events: Sequence[Event]) -> str:
        """A merge, with or without removals."""
        return "merge" if len(events) == 1 else "merge and remove"


def picky(words: dict[str, int], threshold: float) -> EventTrainer:
    """A training on words of characters with ▁ in front; ties go to the smallest pair."""
    marked = {"▁" + word: count for word, count in words.items()}
    engine = WordEngine(
        material_of(marked, "smallest-pair"), lambda word: [char.encode() for char in word]
    )
    return trainer_of(engine, Picky(engine, threshold), Traits(shrinks=True))
