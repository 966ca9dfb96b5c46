"""Length-MAX: merge the run of tokens of the greatest count times length (Dong and Su, 2025).

A run has 2 to `most` tokens. Its count takes every place in, overlapping ones too; a run that stands once is
none. With `by=tokens` its worth is the count times its number of tokens, as the authors' prototype has it;
with `by=saved` the count times one less, which is the tokens that are saved, as their second program has it;
with `by=characters` the count times its characters, as the paper says. The run is merged from left to right.
The authors' programs break ties in two other ways; here the rule of the recipe holds.

New text is encoded by the merges in their order, or by any way that looks at the tokens alone, such as
`fewest-tokens`, which the second program takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tokentui.core.jobs import check
from tokentui.encode.events import Event
from tokentui.encode.segment import ASKED_EVERY
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.grams import Given, Grams, GramTrainer, whole
from tokentui.learn.objectives import Material
from tokentui.learn.values import Pair

_Key = tuple[int, ...]


class Runs(Grams):
    """The runs of tokens of a corpus, by their symbols."""

    def runs(self, word: Sequence[int]) -> Mapping[_Key, Given]:
        """The share of a word in each run of its tokens."""
        found: dict[_Key, Given] = {}
        most, symbols = int(str(self.parameters["most"])), tuple(word)
        for first, last in whole(word):
            for start in range(first, last - 1):
                if start % ASKED_EVERY == ASKED_EVERY - 1:
                    check()
                for end in range(start + 2, min(start + most, last) + 1):
                    key = symbols[start:end]
                    given = found.get(key)
                    found[key] = Given(1 if given is None else given.places + 1, 0)
        return found

    def worth_of(self, key: _Key, given: Given) -> int:
        """The count times the length, as the parameter `by` measures it."""
        by = self.parameters["by"]
        if by == "characters":
            return given.places * sum(self.length[symbol] for symbol in key)
        return given.places * (len(key) - (by == "saved"))

    def spelled(self, key: _Key) -> bytes:
        """The text of the tokens together."""
        pieces = self.vocabulary.pieces
        return b"".join([pieces[symbol] for symbol in key])

    def ends(self, key: _Key, word: Sequence[int], at: int) -> int:
        """The place behind a run that begins at a place of a word, 0 where it does not."""
        end = at + len(key)
        return end if word[at] == key[0] and tuple(word[at:end]) == key else 0

    def parts(self, gram: int) -> tuple[int, ...]:
        """The symbols of a run."""
        key: _Key = self.keys[gram]
        return key

    def _key(self, event: Event) -> _Key:
        return event.parts

    def _drop(self, size: int) -> None:
        for key in [key for key in self._gram_of if max(key) >= size]:
            del self._gram_of[key]

    def found(self, parts: tuple[bytes, ...]) -> Iterator[int]:
        """The run of tokens of these bytes; a single one stands for all that spell it, see `_choose_anew`."""
        if len(parts) > 1:
            symbols = [self.vocabulary.symbol(part) for part in parts]
            if None not in symbols and (gram := self._gram_of.get(tuple(symbols))) is not None:
                yield gram

    def facts(self, best: Pair, replaced: int) -> list[str]:
        """The value of the run, as a product."""
        length = best.left_uses // best.places if best.places else 0
        name = {"tokens": "tokens", "saved": "tokens saved in each", "characters": "units"}
        said = name[str(self.parameters["by"])]
        return [f"value {best.places:,} places × {length} {said} = {best.left_uses:,}"]


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return GramTrainer.of(Runs, material)
