"""GreedTok: cover the words with the text that saves most tokens, given the covers so far (Lim et al., "A
partition cover approach to tokenization", 2025).

Any text of two or more units that occurs inside a word may become a token; it need not be made of pairs. A
place counts if the text starts and ends with tokens of the word. In a word places are taken from left to
right without overlap; each saves the tokens that it covers but one. A step covers all places of the best
text. The run ends when no text saves a token. The reference has no tie rule; here that of the recipe holds.

New text is encoded by the covers in their order, each from left to right: an earlier token is laid before a
later one, and no token is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokentui.core.jobs import check
from tokentui.encode.events import Event, EventKind
from tokentui.encode.segment import ASKED_EVERY
from tokentui.learn.event_engine import EventEngine, Method
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout, NGrams, Share, segments
from tokentui.learn.ngrams import NGram, Pair
from tokentui.learn.objectives import Material


class GreedTok(Method):
    """GreedTok as a method of an event training: each step is one cover."""

    making = EventKind.COVER
    step, candidate, phase = "cover", "text", "covering"
    notes_changes = True

    def candidates(self) -> NGrams:
        """Return texts inside words as candidates."""
        return CoveredTexts(int(str(self.parameters["longest"])))

    def facts(self, engine: EventEngine, best: Pair | NGram, replaced: int) -> list[str]:
        """Return a sentence on the places that a text covers and the tokens that it saves."""
        assert isinstance(best, NGram)
        places = f"{best.places:,} place{'s' * (best.places != 1)}"
        return [f"covers {places} and saves {best.worth:,}: each place the tokens that it covers but one"]


class CoveredTexts(NGrams):
    """N-grams whose key is the text that they spell, and whose worth is the number of tokens that they save.

    Args:
        longest: The most units of a token.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def shares(self, layout: Layout, word: Sequence[int]) -> Mapping[bytes, Share]:
        """Return the share of a word in each text of two or more of its tokens, by the text."""
        pieces, length, longest = layout.pieces, layout.length, self._longest
        shares: dict[bytes, Share] = {}
        free: dict[bytes, int] = {}  # where the last counted place of each text ends
        for first, last in segments(word):
            for start in range(first, last - 1):
                if start % ASKED_EVERY == ASKED_EVERY - 1:
                    check()
                text, units = pieces[word[start]], length[word[start]]
                for end in range(start + 1, last):
                    text += pieces[word[end]]
                    units += length[word[end]]
                    if units > longest:
                        break
                    if text not in free:
                        shares[text] = (1, end - start)
                    elif free[text] <= start:
                        places, saved = shares[text]
                        shares[text] = (places + 1, saved + end - start)
                    else:
                        continue
                    free[text] = end + 1
        return shares

    def text(self, layout: Layout, key: bytes) -> bytes:
        """Return the key, which is the text."""
        return key

    def end(self, layout: Layout, key: bytes, word: Sequence[int], at: int) -> int:
        """Return the place after a text in a word, 0 if two or more tokens from `at` on do not spell it."""
        pieces, start, size = layout.pieces, at, len(key)
        done = 0
        while done < size and at < len(word) and word[at] >= 0:
            piece = pieces[word[at]]
            if not key.startswith(piece, done):
                return 0
            done += len(piece)
            at += 1
        return at if done == size and at > start + 1 else 0

    def symbols(self, layout: Layout, candidate: int) -> tuple[int, ...]:
        """Return the tokens that a text covers at its first place; its units if it occurs nowhere."""
        key, first = layout.keys[candidate], layout.first_word(candidate)
        if first is None:
            return self._units(layout, key)
        index, at = first
        word = layout.words[index]
        return tuple(word[at : self.end(layout, key, word, at)])

    def _units(self, layout: Layout, text: bytes) -> tuple[int, ...]:
        """Return the symbols of the units of a text."""
        out, at = list[int](), 0
        while at < len(text):
            end = at + 1
            while text[at:end] not in layout.vocabulary.units:
                end += 1
            out.append(layout.vocabulary.units[text[at:end]])
            at = end
        return tuple(out)

    def key(self, layout: Layout, event: Event) -> bytes:
        """Return the text that an event covers."""
        return layout.pieces[event.symbol]

    def spells(self, layout: Layout, key: bytes, parts: tuple[bytes, ...]) -> bool:
        """Return whether these parts spell a text together."""
        return key == b"".join(parts)

    def outlives(self, key: bytes, size: int) -> bool:
        """Return True: texts are made of bytes, not of symbols."""
        return True


def trainer(material: Material) -> EventTrainer:
    """Return a training by GreedTok at step 0; see `Objective.trainer`."""
    return EventTrainer.start(material, GreedTok)
