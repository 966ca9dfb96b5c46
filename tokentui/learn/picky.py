"""PickyBPE: after each merge, remove a part that hardly occurs outside the merge any more (Chizhov et al.,
"BPE Gets Picky", 2024).

Let n be the number of places that were merged and f the number of uses of a part afterward. A part of several
units is removed if its IoS (intersection over self), n / (f + n), is above the threshold: its remaining uses
are replaced by the parts that first made it, and parts of these that were removed by their own parts. The
left part is removed before the right one is measured. A later merge that makes the same bytes restores the
token under its old id. The reference has no tie rule; here that of the recipe holds. At a threshold of 1
nothing is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from tokentui.encode.events import Event, EventKind
from tokentui.learn.event_engine import EventEngine, Method
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material


class Picky(Method):
    """PickyBPE as a method of an event training: merges and removals."""

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self._threshold = Fraction(str(self.parameters["threshold"]))

    def follow_up(self, engine: EventEngine, merge: Event, taken: Pair | NGram) -> Iterator[Event]:
        """Yield the removal of each part whose IoS is above the threshold."""
        for part in dict.fromkeys(merge.parts):
            uses = engine.corpus.uses[part]
            if self._is_removed(engine, part, merge.replaced, uses):
                yield Event(EventKind.SPLIT, part, self._expansion(engine, part), uses)

    def _is_removed(self, engine: EventEngine, part: int, merged: int, uses: int) -> bool:
        """Return whether a merge removes one of its parts: never a unit, nor one that was not merged.

        Args:
            engine: The engine.
            part: The symbol of the part.
            merged: The number of places that were merged, by weight.
            uses: The number of uses of the part after the merge, by weight.
        """
        if part < engine.vocabulary.base_size or not merged:
            return False
        return Fraction(merged, uses + merged) > self._threshold

    def _expansion(self, engine: EventEngine, symbol: int) -> tuple[int, ...]:
        """Return the parts that first made a symbol. Removed parts are replaced by their own parts."""
        vocabulary, out = engine.vocabulary, list[int]()
        for part in vocabulary.parts(symbol):
            out += (part,) if vocabulary.is_present(part, engine.number) else self._expansion(engine, part)
        return tuple(out)

    def kind(self, events: Sequence[Event]) -> str:
        """Return the name of a step: a merge, with or without removals."""
        return "merge" if len(events) == 1 else "merge and remove"

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return a sentence on the IoS of each part of several units, and whether it is removed."""
        facts, removed_uses = [], 0
        left_part, right_part = best.symbols
        for part in dict.fromkeys(best.symbols):
            if part < engine.vocabulary.base_size:
                continue
            uses = engine.corpus.uses[part] - replaced * (1 + (left_part == right_part))
            if removed_uses:  # removing the left part may add uses of the right one
                uses += removed_uses * self._expansion(engine, left_part).count(part)
            goes = self._is_removed(engine, part, replaced, uses)
            then = f"above {self.parameters['threshold']}: it goes" if goes else "it stays"
            name = engine.vocabulary.pieces[part].decode("utf-8", "replace").replace(" ", "·")
            share = replaced / (uses + replaced)
            facts.append(f"IoS of {name}: {replaced:,} / ({uses:,} + {replaced:,}) = {share:.3f}, {then}")
            removed_uses = uses if goes else 0
        return facts


def trainer(material: Material) -> EventTrainer:
    """Return a training by PickyBPE at step 0; see `Objective.trainer`."""
    return EventTrainer.start(material, Picky)
