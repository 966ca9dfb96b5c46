"""BoundlessBPE (Schmidt et al. 2025): the best merge inside words against the best merge of two whole
neighbouring words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import regex
from plain_words import EventTrainer, Mark, Plain, WordEngine, material_of, trainer_of

from tokentui.learn.rows import Candidate
from tokentui.learn.values import Constraints, Event, Kind

LETTERS = regex.compile(r"[\p{L}\p{M} _'’]*(?:(?<=.)[\p{L}\p{M}])[\p{L}\p{M} _'’]*")
WORDS, DOCUMENTS = 0, 1


class TwoViews(WordEngine):
    """View 0 holds each distinct pre-token in bytes, view 1 each document as a row of whole pre-tokens."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        words = Counter(word for document in documents for word in document)
        super().__init__(
            material_of(words, "smallest-pair"), lambda word: [bytes((byte,)) for byte in word.encode()]
        )
        self.names.append([])
        self.words.append(
            [[self.symbols.named(word.encode()) for word in document] for document in documents]
        )
        self.weights.append([1] * len(documents))
        self.views = {WORDS: (WORDS,), DOCUMENTS: (DOCUMENTS,)}
        self.unlocked: set[int] = set()
        self.taken: set[bytes] = set(self.symbols.pieces[: self.symbols.base_size])

    def pairs(self, parts: Sequence[int] | None = None) -> Counter[tuple[int, int]]:
        """Pairs of one view; places that overlap count once."""
        found: Counter[tuple[int, int]] = Counter()
        (part,) = self.deciding
        for word, weight in zip(self.words[part], self.weights[part], strict=True):
            last = -1
            for at, pair in enumerate(pairwise(word)):
                if pair[0] == pair[1] and last == at - 1 and word[at - 1] == pair[0]:
                    last = -1
                    continue
                last = at
                found[pair] += weight
        return found

    def candidates(self, under: Constraints) -> list[Candidate]:
        """The candidates of both views; where both are as good the merge of words comes first."""
        both = []
        for view in (DOCUMENTS, WORDS):
            self.deciding = (view,)
            self.barred = partial(self._is_barred, view)
            both += [replace(one, part=view) for one in super().candidates(under)]
        return sorted(both, key=lambda one: -one.worth)

    def _is_barred(self, view: int, pair: tuple[int, int]) -> bool:
        """Whether a pair makes what was made before, or joins words that are not whole tokens yet."""
        return self._spelled(pair) in self.taken or (view == DOCUMENTS and not self.unlocked.issuperset(pair))

    def _spelled(self, pair: tuple[int, int]) -> bytes:
        return self.symbols.pieces[pair[0]] + self.symbols.pieces[pair[1]]


class Boundless(Plain):
    """A merge in words, its deletions and what it unlocks; or a merge of two whole tokens in the documents.
    """

    engine: TwoViews

    def __init__(self, engine: TwoViews, tau: float) -> None:
        super().__init__(engine)
        self.tau = tau

    def events(self, best: Candidate) -> Iterator[Event]:
        """Deletions are measured by the counts before the merge. What is deleted keeps its id."""
        engine, count = self.engine, int(best.worth)
        token = engine.symbols.named(best.token)
        pieces = engine.symbols.pieces
        uses = {
            part: sum(
                word.count(part) * n for word, n in zip(engine.words[0], engine.weights[0], strict=True)
            )
            for part in best.key
        }
        yield Event(Kind.MERGE, token, best.key, count, view=best.part)
        if best.part == WORDS:
            if [token] in engine.words[0] and LETTERS.fullmatch(best.token.decode("utf-8", "replace")):
                yield Event(Kind.UNLOCK, token)
            for part in dict.fromkeys(best.key):
                if len(pieces[part]) > 1 and count / uses[part] >= self.tau:
                    yield Event(
                        Kind.BREAK, part,
                        tuple(engine.symbols.units[bytes((byte,))] for byte in pieces[part]),
                    )
        elif best.key[0] != best.key[1] or [token] in engine.words[DOCUMENTS]:
            yield Event(Kind.UNLOCK, token)

    def note(self, event: Event) -> None:
        """The text of a merge is not made again; what is unlocked may join whole."""
        if event.kind is Kind.UNLOCK:
            self.engine.unlocked = self.engine.unlocked | {event.symbol}
        elif event.kind is Kind.MERGE:
            self.engine.taken = self.engine.taken | {self.engine.symbols.pieces[event.symbol]}

    def kind(self, events: Sequence[Event]) -> str:
        """By the view that it changes."""
        return "superword" if events[0].view == DOCUMENTS else "merge"

    def mark(self) -> Mark:
        """What is unlocked and taken."""
        return self.engine.unlocked, self.engine.taken

    def revert(self, mark: Mark) -> None:
        """Go back to a mark."""
        self.engine.unlocked, self.engine.taken = mark


def boundless(documents: Sequence[Sequence[str]], tau: float = 0.9) -> EventTrainer:
    """A training on documents of pre-tokens; ties go to the smallest pair."""
    engine = TwoViews(documents)
    return trainer_of(engine, Boundless(engine, tau))
