"""A method and a way of encoding in a file of their own, each named by one entry in a table of the test.

The method merges as byte-pair encoding does and nothing else; `learn/picky.py` is a real one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokentui.encode.segment import Attempt, WordPart
from tokentui.encode.vocabulary import Vocabulary
from tokentui.learn.event_engine import EventEngine, Method
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material

FACT = "nothing follows from this merge"


class MergeOnly(Method):
    """A method whose step is one merge."""

    step = "only merge"

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
