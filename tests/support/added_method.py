"""A method and a way of encoding in a file of their own, each named by one entry in a table of the test.

The method merges as byte-pair encoding does and nothing else; `learn/picky.py` is a real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokentui.encode.events import Event, EventVocabulary
from tokentui.encode.segment import Attempt, WordPart
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.engine import NGram, Pair
from tokentui.learn.event_engine import EventEngine, MethodTraits
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout, PairTable, lay_out_words
from tokentui.learn.objectives import Material

FACT = "nothing follows from this merge"


class MergeOnly:
    """A method whose step is one merge."""

    traits = MethodTraits(step="only merge")

    def __init__(self, material: Material) -> None:
        """Read no parameters."""

    def lay_out(self, material: Material) -> tuple[EventVocabulary, Layout]:
        """Lay out the words, and count the pairs in them."""
        vocabulary, layout = lay_out_words(material)
        layout.follow(PairTable(layout))
        return vocabulary, layout

    def following(self, engine: EventEngine, merge: Event, taken: Pair | NGram) -> Iterator[Event]:
        """Return no events."""
        return iter(())

    def kind(self, events: Sequence[Event]) -> str:
        """Return the word for a step."""
        return self.traits.step

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return one sentence."""
        return [FACT]


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return EventTrainer.start(material, MergeOnly)


class UnitByUnit:
    """A way of encoding that never merges: each unit is a token."""

    def __init__(self, vocabulary: Vocabulary, merges: int) -> None:
        self._vocabulary = vocabulary

    def segment(self, units: Sequence[bytes], characters: int) -> list[WordPart]:
        """Return each unit as a part."""
        known = self._vocabulary.units
        return [WordPart(index, index + 1, known.get(unit)) for index, unit in enumerate(units)]

    def steps(self, units: Sequence[bytes], characters: int) -> Iterator[Attempt]:
        """Yield each unit as an attempt."""
        for index, unit in enumerate(units):
            yield Attempt(unit, index, index + 1, unit in self._vocabulary.units)
