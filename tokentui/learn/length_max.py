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

from collections.abc import Iterable, Mapping, Sequence

from tokentui.core.jobs import check
from tokentui.encode.events import Event
from tokentui.encode.segment import ASKED_EVERY
from tokentui.learn.engine import NGram
from tokentui.learn.event_engine import MethodTraits
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout
from tokentui.learn.ngrams import NGramMethod, NGramTable, Share, segments
from tokentui.learn.objectives import Material

_Key = tuple[int, ...]


class TokenRuns:
    """The n-grams of Length-MAX, whose key is their symbols; see `ngrams.NGramKind`."""

    traits = MethodTraits(candidate="run")

    def __init__(self, material: Material) -> None:
        parameters = material.objective.arguments(material.recipe.objective)
        self._most, self._by = int(str(parameters["most"])), str(parameters["by"])

    def fact(self, best: NGram) -> str:
        """Return a sentence that writes the worth of an n-gram as a product."""
        length = best.worth // best.places if best.places else 0
        measure = {"tokens": "tokens", "saved": "tokens saved in each", "characters": "units"}[self._by]
        return f"value {best.places:,} places × {length} {measure} = {best.worth:,}"

    def shares(self, layout: Layout, word: Sequence[int]) -> Mapping[_Key, Share]:
        """Return the share of a word in each n-gram of 2 to `most` of its tokens, by the symbols."""
        shares: dict[_Key, Share] = {}
        most, symbols = self._most, tuple(word)
        for first, last in segments(word):
            for start in range(first, last - 1):
                if start % ASKED_EVERY == ASKED_EVERY - 1:
                    check()
                for end in range(start + 2, min(start + most, last) + 1):
                    key = symbols[start:end]
                    share = shares.get(key)
                    shares[key] = Share(1 if share is None else share.places + 1, 0)
        return shares

    def worth(self, layout: Layout, key: _Key, share: Share) -> int:
        """Return the count times the length, as the parameter `by` measures it."""
        if self._by == "characters":
            return share.places * sum(layout.length[symbol] for symbol in key)
        return share.places * (len(key) - (self._by == "saved"))

    def text(self, layout: Layout, key: _Key) -> bytes:
        """Return the bytes of all tokens together."""
        return b"".join([layout.pieces[symbol] for symbol in key])

    def end(self, layout: Layout, key: _Key, word: Sequence[int], at: int) -> int:
        """Return the place after an n-gram in a word, 0 if the n-gram does not start at `at`."""
        end = at + len(key)
        return end if word[at] == key[0] and tuple(word[at:end]) == key else 0

    def symbols(self, table: NGramTable, ngram: int) -> _Key:
        """Return the key of an n-gram, which is its symbols."""
        key: _Key = table.keys[ngram]
        return key

    def key(self, layout: Layout, event: Event) -> _Key:
        """Return the symbols that an event merges."""
        return event.parts

    def keys(self, layout: Layout, parts: tuple[bytes, ...]) -> Iterable[_Key]:
        """Yield the n-gram of the tokens of these bytes, if there are two or more and all are tokens."""
        symbols = [symbol for part in parts if (symbol := layout.vocabulary.symbol(part)) is not None]
        if 1 < len(parts) == len(symbols):
            yield tuple(symbols)

    def outlives(self, key: _Key, size: int) -> bool:
        """Return whether all symbols have a number below `size`."""
        return max(key) < size


def trainer(material: Material) -> EventTrainer:
    """Return a training by Length-MAX at step 0; see `Objective.trainer`."""
    return EventTrainer.start(material, lambda material: NGramMethod(TokenRuns(material)))
