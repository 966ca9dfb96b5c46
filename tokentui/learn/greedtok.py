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
from tokentui.learn.engine import NGram
from tokentui.learn.event_engine import MethodTraits
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.layouts import Layout
from tokentui.learn.ngrams import NGramMethod, NGramTable, Share, segments
from tokentui.learn.objectives import Material


class CoveredTexts:
    """The n-grams of GreedTok, whose key is the text that they spell; see `ngrams.NGramKind`."""

    traits = MethodTraits(EventKind.COVER, "cover", "text", "covering", notes_changes=True)

    def __init__(self, material: Material) -> None:
        self._longest = int(str(material.objective.arguments(material.recipe.objective)["longest"]))
        """The most units of a token."""

    def fact(self, best: NGram) -> str:
        """Return a sentence on the places that a text covers and the tokens that it saves."""
        places = f"{best.places:,} place{'s' * (best.places != 1)}"
        return f"covers {places} and saves {best.worth:,}: each place the tokens that it covers but one"

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
                        shares[text] = Share(1, end - start)
                    elif free[text] <= start:
                        share = shares[text]
                        shares[text] = Share(share.places + 1, share.saved + end - start)
                    else:
                        continue
                    free[text] = end + 1
        return shares

    def worth(self, layout: Layout, key: bytes, share: Share) -> int:
        """Return the number of tokens that a share saves."""
        return share.saved

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

    def symbols(self, table: NGramTable, ngram: int) -> tuple[int, ...]:
        """Return the tokens that a text covers at its first place; its units if it occurs nowhere."""
        key, first = table.keys[ngram], table.first_word(ngram)
        if first is None:
            return self._units(table.layout, key)
        index, at = first
        word = table.layout.words[index]
        return tuple(word[at : self.end(table.layout, key, word, at)])

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

    def keys(self, layout: Layout, parts: tuple[bytes, ...]) -> tuple[bytes]:
        """Return the text that these parts spell together, as the only key."""
        return (b"".join(parts),)

    def outlives(self, key: bytes, size: int) -> bool:
        """Return True: texts are made of bytes, not of symbols."""
        return True


def trainer(material: Material) -> EventTrainer:
    """Return a training by GreedTok at step 0; see `Objective.trainer`."""
    return EventTrainer.start(material, lambda material: NGramMethod(CoveredTexts(material)))
