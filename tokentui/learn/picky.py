"""PickyBPE: after each merge a part is removed that hardly occurs outside the merge any more (Chizhov et al.,
"BPE Gets Picky", 2024).

n is the number of places that were merged, f how often a part occurs afterward. A part of several units is
removed where its IoS, n / (f + n), is above the threshold: it is replaced by what it was first made of, down
to tokens that are still there. The left part is taken apart before the right one is measured. A later merge
that makes the same bytes brings the token back under its old id. The reference has no tie rule; here that of
the recipe holds. At a threshold of 1 nothing is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tokentui.encode.events import Event, EventKind, EventVocabulary
from tokentui.learn.engine import NGram, Pair
from tokentui.learn.event_engine import EventEngine, MethodTraits
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout, PairTable, lay_out_words
from tokentui.learn.objectives import Material


class Picky:
    """PickyBPE as a method of an event training: merges and removals."""

    traits = MethodTraits()

    def __init__(self, material: Material) -> None:
        written = material.objective.arguments(material.recipe.objective)["threshold"]
        self._threshold, self._written = Fraction(str(written)), written

    def lay_out(self, material: Material) -> tuple[EventVocabulary, Layout]:
        """Lay out the words, and count the pairs in them."""
        vocabulary, layout = lay_out_words(material)
        layout.follow(PairTable(layout))
        return vocabulary, layout

    def following(self, engine: EventEngine, merge: Event, taken: Pair | NGram) -> Iterator[Event]:
        """Return the removal of each part that hardly occurs outside the merge."""
        for part in dict.fromkeys(merge.parts):
            left = engine.corpus.uses[part]
            if self._goes(engine, part, merge.replaced, left):
                yield Event(EventKind.SPLIT, part, self._expansion(engine, part), left)

    def _goes(self, engine: EventEngine, part: int, merged: int, left: int) -> bool:
        """Return whether a part is removed that was merged in so many places and is left in so many."""
        if part < engine.vocabulary.base_size or not merged:
            return False
        return Fraction(merged, left + merged) > self._threshold

    def _expansion(self, engine: EventEngine, symbol: int) -> tuple[int, ...]:
        """Return the parts that first made a symbol, down to tokens that are there, and units."""
        vocabulary, out = engine.vocabulary, list[int]()
        for part in vocabulary.parts(symbol):
            out += (part,) if vocabulary.is_there(part, engine.number) else self._expansion(engine, part)
        return tuple(out)

    def kind(self, events: Sequence[Event]) -> str:
        """Return the name of a step: a merge, with or without removals."""
        return "merge" if len(events) == 1 else "merge and remove"

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return the IoS of each part of several units: of all its places the share that the merge takes."""
        facts, gone = [], 0
        left_part, right_part = best.symbols
        for part in dict.fromkeys(best.symbols):
            if part < engine.vocabulary.base_size:
                continue
            left = engine.corpus.uses[part] - replaced * (1 + (left_part == right_part))
            if gone:  # the left part was taken apart before, and may leave some of the right one
                left += gone * self._expansion(engine, left_part).count(part)
            goes = self._goes(engine, part, replaced, left)
            then = f"above {self._written}: it goes" if goes else "it stays"
            name = engine.vocabulary.pieces[part].decode("utf-8", "replace").replace(" ", "·")
            share = replaced / (left + replaced)
            facts.append(f"IoS of {name}: {replaced:,} / ({left:,} + {replaced:,}) = {share:.3f}, {then}")
            gone = left if goes else 0
        return facts


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return EventTrainer.start(material, Picky)
