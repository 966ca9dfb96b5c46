"""Parity-aware BPE (Foroutan et al. 2025): each step merges the best pair of the language that is compressed
worst."""

from dataclasses import replace

from plain_words import EventTrainer, Plain, WordEngine, trainer_of

from tokentui.learn.objectives import Material
from tokentui.learn.rows import Candidate
from tokentui.learn.values import Constraints


class ParityEngine(WordEngine):
    """The parts of a material are languages, each with the development text that it is judged by."""

    def __init__(self, material: Material, global_merges: int = 0) -> None:
        super().__init__(material, lambda word: [char.encode() for char in word])
        self.languages, self.global_merges = len(material.parts), global_merges

    def worst(self) -> int:
        """The language whose development text is longest now, the first of several."""
        lengths = self.tokens()[self.languages :]
        return lengths.index(max(lengths))

    def candidates(self, under: Constraints) -> list[Candidate]:
        """Pairs of the worst language; of all of them while the global merges last."""
        everywhere = under.number < self.global_merges
        part = -1 if everywhere else self.worst()
        self.deciding = range(self.languages) if everywhere else (part,)
        return [replace(one, part=part) for one in super().candidates(under)]


def parity(material: Material, global_merges: int = 0) -> EventTrainer:
    """A training over languages; ties go to the largest pair."""
    engine = ParityEngine(material, global_merges)
    engine.largest_first = True
    return trainer_of(engine, Plain(engine))
