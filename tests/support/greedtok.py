"""GreedTok (Lim et al. 2025): lay the substring over the words that saves most tokens, given what is covered
already."""

from collections.abc import Iterator

from plain_words import EventTrainer, Plain, WordEngine, material_of, trainer_of

from tokentui.learn.rows import Candidate
from tokentui.learn.values import Constraints, Event, Kind


class CoverEngine(WordEngine):
    """Candidates are all substrings of two or more units; the value is the number of tokens that covering
    them saves."""

    def candidates(self, under: Constraints) -> list[Candidate]:
        """Substrings that save something, best first."""
        pieces = self.symbols.pieces
        texts = {
            b"".join(pieces[unit] for unit in word[first:last])
            for word in map(self.units, self.names[0])
            for first in range(len(word))
            for last in range(first + 2, len(word) + 1)
        }
        found = []
        for text in texts:
            saved = self.saved(text)
            if saved > 0 and (text,) not in under.forbidden:
                found.append(Candidate((), (text,), text, saved))
        return self.in_order(found, under)

    def saved(self, text: bytes) -> int:
        """By how many tokens the corpus gets shorter when a text is laid over it, by weight."""
        event = Event(Kind.COVER, self.symbols.named(text))
        return sum(
            (len(word) - len(self.after(word, event))) * weight
            for word, weight in zip(self.words[0], self.weights[0], strict=True)
        )


class Greedy(Plain):
    """A step is one cover."""

    def events(self, best: Candidate) -> Iterator[Event]:
        """Cover every place."""
        symbols = self.engine.symbols
        units = tuple(symbols.units[char.encode()] for char in best.token.decode())
        yield Event(Kind.COVER, symbols.named(best.token), units, int(best.worth))


def greedtok(words: dict[str, int]) -> EventTrainer:
    """A training on words of characters; ties go to the smallest text."""
    engine = CoverEngine(material_of(words, "smallest text"), lambda word: [char.encode() for char in word])
    return trainer_of(engine, Greedy(engine))
