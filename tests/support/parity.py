"""Parity-aware BPE (Foroutan et al. 2025): each step merges the best pair of the language that is compressed
worst."""

from dataclasses import replace

from plain_words import EventTrainer, Plain, WordEngine, trainer_of

from tokentui.learn.rows import Candidate
from tokentui.learn.values import Constraints


class ParityEngine(WordEngine):
    """Parts: the training text of each language, then the development text of each; `languages` of them."""

    def __init__(
        self, texts: list[dict[str, int]], development: list[dict[str, int]], global_merges: int = 0
    ) -> None:
        super().__init__([*texts, *development], lambda word: [char.encode() for char in word])
        self.languages, self.global_merges = len(texts), global_merges

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


def parity(
    texts: list[dict[str, int]], development: list[dict[str, int]], global_merges: int = 0
) -> EventTrainer:
    """A training over languages; ties go to the largest pair."""
    engine = ParityEngine(texts, development, global_merges)
    engine.largest_first = True
    return trainer_of(engine, Plain(engine), "largest-pair")
