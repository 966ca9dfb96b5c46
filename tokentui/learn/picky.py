"""PickyBPE: after each merge a part is removed that hardly stands outside the merge any more (Chizhov et al.,
"BPE Gets Picky", 2024).

n is the number of places that were merged, f how often a part stands afterwards. A part of several units is
removed where its IoS, n / (f + n), is above the threshold: it is replaced by what it was first made of, down
to tokens that are still there. The left part is taken apart before the right one is measured. A later merge
that makes the same bytes brings the token back under its old id. The reference has no tie rule; here that of
the recipe holds. At a threshold of 1 nothing is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.events import EventPairs
from tokentui.learn.objectives import Material
from tokentui.learn.values import Event, Kind, Pair


class PickyPairs(EventPairs):
    """The pairs of a corpus, merges and removals."""

    @property
    def threshold(self) -> Fraction:
        """The share above which a part is removed, as it is written."""
        return Fraction(str(self.parameters["threshold"]))

    def goes(self, part: int, merged: int, left: int) -> bool:
        """True if a part is removed that was merged in so many places and is left in so many."""
        if part < self.vocabulary.base_size or not merged:
            return False
        return Fraction(merged, left + merged) > self.threshold

    def following(self, merge: Event, uses: tuple[int, int]) -> Iterator[Event]:
        """The removal of each part that hardly stands outside the merge."""
        for part in dict.fromkeys(merge.parts):
            left = self.uses[part]
            if self.goes(part, merge.replaced, left):
                yield Event(Kind.SPLIT, part, self.expansion(part), left)

    def expansion(self, symbol: int) -> tuple[int, ...]:
        """The parts of the first making of a symbol, down to tokens that are there, and units."""
        vocabulary, out = self.vocabulary, list[int]()
        for part in vocabulary.parts(symbol):
            out += (part,) if vocabulary.is_there(part, self.number) else self.expansion(part)
        return tuple(out)

    def kind(self, events: Sequence[Event]) -> str:
        """A merge, with or without removals."""
        return "merge" if len(events) == 1 else "merge and remove"

    def facts(self, best: Pair, replaced: int) -> list[str]:
        """The IoS of each part of several units: of all its places the share that the merge takes."""
        facts, gone = [], 0
        for part in dict.fromkeys((best.left, best.right)):
            if part < self.vocabulary.base_size:
                continue
            left = self.uses[part] - replaced * (1 + (best.left == best.right))
            if gone:  # the left part was taken apart before, and may leave some of the right one
                left += gone * self.expansion(best.left).count(part)
            over = self.goes(part, replaced, left)
            then = f"above {self.parameters['threshold']}: it goes" if over else "it stays"
            name = self.vocabulary.pieces[part].decode("utf-8", "replace").replace(" ", "·")
            share = replaced / (left + replaced)
            facts.append(f"IoS of {name}: {replaced:,} / ({left:,} + {replaced:,}) = {share:.3f}, {then}")
            gone = left if over else 0
        return facts


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return EventTrainer.of(PickyPairs, material)
