"""Length-MAX: merge the n-gram of tokens of the greatest count times length (Dong and Su, 2025).

An n-gram has 2 to `most` tokens. Its count includes overlapping places; an n-gram that occurs once is no
candidate. Its worth is the count times a length, which the parameter `by` chooses: with `tokens` the number
of tokens, as in the authors' prototype; with `saved` one less, which is the tokens that are saved, as in
their second program; with `characters` the number of characters, as in the paper. An n-gram is merged from
left to right. The authors' programs break ties in two other ways; here the rule of the recipe holds.

New text is encoded by the merges in their order, or by any way that needs the tokens alone, such as
`fewest-tokens`, which the second program uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tokentui.core.jobs import check
from tokentui.encode.segment import ASKED_EVERY
from tokentui.learn.event_engine import EventEngine, Method
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout, NGrams, Share, segments
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material


class LengthMax(Method):
    """Length-MAX as a method of an event training: each step is one merge."""

    candidate = "run"

    def candidates(self) -> NGrams:
        """Return runs of 2 to `most` tokens as candidates."""
        return TokenRuns(int(str(self.parameters["most"])), str(self.parameters["by"]))

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return a sentence that writes the worth of an n-gram as a product."""
        assert isinstance(best, NGram)
        length = best.worth // best.places if best.places else 0
        measures = {"tokens": "tokens", "saved": "tokens saved in each", "characters": "units"}
        measure = measures[str(self.parameters["by"])]
        return [f"value {best.places:,} places × {length} {measure} = {best.worth:,}"]


class TokenRuns(NGrams):
    """Runs of tokens, worth their count times their length.

    Args:
        most: The most tokens of a run.
        by: What its length is: `tokens`, `saved` or `characters`.
    """

    def __init__(self, most: int, by: str) -> None:
        self._most, self._by = most, by

    def shares(self, layout: Layout, word: Sequence[int]) -> Mapping[tuple[int, ...], Share]:
        """Return the share of a word in each n-gram of 2 to `most` of its tokens, by the symbols."""
        places = Counter[tuple[int, ...]]()
        most, symbols = self._most, tuple(word)
        for first, last in segments(word):
            for start in range(first, last - 1):
                if start % ASKED_EVERY == ASKED_EVERY - 1:
                    check()
                for end in range(start + 2, min(start + most, last) + 1):
                    places[symbols[start:end]] += 1
        return {key: (count, count * self._measured(layout, key)) for key, count in places.items()}

    def _measured(self, layout: Layout, key: tuple[int, ...]) -> int:
        """Return the length of a run, as the parameter `by` measures it."""
        if self._by == "characters":
            return sum(layout.length[symbol] for symbol in key)
        return len(key) - (self._by == "saved")


def trainer(material: Material) -> EventTrainer:
    """Return a training by Length-MAX at step 0; see `Objective.trainer`."""
    return EventTrainer.start(material, LengthMax)
