"""GreedTok: lay the text over the words that saves most tokens, given what is covered already (Lim et al.,
"A partition cover approach to tokenization", 2025).

Any text of two or more units that stands inside a word may become a token; nothing has to be made of pairs. A
place counts where the text cuts no token at its borders. In a word its places are taken from left to right,
none over another; each saves the tokens that it covers but one. A step lays the best text over all its
places. It ends where no text saves a token any more. The reference has no tie rule; here that of the recipe
holds.

New text is encoded by the same covers in their order, each from left to right: an earlier token is laid over
before a later one, and no token is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tokentui.core.jobs import check
from tokentui.encode.events import Event, Kind
from tokentui.encode.segment import ASKED_EVERY
from tokentui.learn.event_trainer import EventTrainer
from tokentui.learn.grams import Given, Grams, GramTrainer, whole
from tokentui.learn.objectives import Material
from tokentui.learn.values import Pair


class Covers(Grams):
    """The texts inside the words of a corpus, and what covering each of them saves."""

    making = Kind.COVER

    def runs(self, word: Sequence[int]) -> Mapping[bytes, Given]:
        """The share of a word in each text that begins and ends with a token of it."""
        pieces, length, longest = self.vocabulary.pieces, self.length, self.longest
        found: dict[bytes, Given] = {}
        free: dict[bytes, int] = {}
        for first, last in whole(word):
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
                        found[text] = Given(1, end - start)
                    elif free[text] <= start:
                        given = found[text]
                        found[text] = Given(given.places + 1, given.saved + end - start)
                    else:
                        continue
                    free[text] = end + 1
        return found

    @property
    def longest(self) -> int:
        """The most units of a token."""
        return int(str(self.parameters["longest"]))

    def worth_of(self, key: bytes, given: Given) -> int:
        """The tokens that are saved."""
        return given.saved

    def spelled(self, key: bytes) -> bytes:
        """The text itself."""
        return key

    def ends(self, key: bytes, word: Sequence[int], at: int) -> int:
        """The place behind a text that begins at a place of a word, 0 where it does not."""
        pieces, start, size = self.vocabulary.pieces, at, len(key)
        done = 0
        while done < size and at < len(word) and word[at] >= 0:
            piece = pieces[word[at]]
            if not key.startswith(piece, done):
                return 0
            done += len(piece)
            at += 1
        return at if done == size and at > start + 1 else 0

    def parts(self, gram: int) -> tuple[int, ...]:
        """The tokens that a text covers at its first place; its units where it stands nowhere any more."""
        found = self.first_at(gram)
        if found is None:
            return self._spelled_out(self.keys[gram])
        number, at = found
        word = self.words[number]
        return tuple(word[at : self.ends(self.keys[gram], word, at)])

    def _spelled_out(self, text: bytes) -> tuple[int, ...]:
        units, out, at = self.vocabulary.units, list[int](), 0
        while at < len(text):
            end = at + 1
            while text[at:end] not in units:
                end += 1
            out.append(units[text[at:end]])
            at = end
        return tuple(out)

    def _key(self, event: Event) -> bytes:
        return self.vocabulary.pieces[event.symbol]

    def found(self, parts: tuple[bytes, ...]) -> Iterator[int]:
        """The text that these parts spell together."""
        if (gram := self._gram_of.get(b"".join(parts))) is not None:
            yield gram

    def facts(self, best: Pair, replaced: int) -> list[str]:
        """The tokens that are saved, place by place."""
        places = f"{best.places:,} place{'s' * (best.places != 1)}"
        return [f"covers {places} and saves {best.left_uses:,}: each place the tokens that it covers but one"]


class GreedTrainer(GramTrainer):
    """A training by covers."""

    kind, candidate, phase = "cover", "text", "covering"


def trainer(material: Material) -> EventTrainer:
    """Start a training."""
    return GreedTrainer.of(Covers, material)
