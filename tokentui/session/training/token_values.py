"""Values of the answers about one token or one word of a training."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokentui.analyze.results import Token, TokenFacts
from tokentui.learn.steps import Used
from tokentui.session.views import CorpusPlace


class TokenAt(NamedTuple):
    """The token over a character of the corpus.

    Attributes:
        symbol: Its symbol; None for an unknown token, and for a special token that the text contains by name.
        start: The place of its first character.
        shown: The characters that it covers.
        text: The typed text of its pre-token.
    """

    symbol: int | None
    start: CorpusPlace
    shown: str
    text: str


class Context(NamedTuple):
    """A place of a token in the corpus, with the text around it.

    Attributes:
        place: The place of its first character.
        before: The characters before it.
        shown: The characters that it covers.
        after: The characters after it.
    """

    place: CorpusPlace
    before: str
    shown: str
    after: str


class Spelled(NamedTuple):
    """Another spelling of a token: its exact bytes, and its id where the vocabulary has it."""

    piece: bytes
    id: int | None


class MadeOf(NamedTuple):
    """A token that was made of another one directly: itself, its uses now, and the step that made it."""

    token: Token
    uses: int
    step: int


@dataclass(frozen=True, slots=True)
class TokenView:
    """A token at a step of a training.

    Attributes:
        number: The step.
        facts: The facts of its vocabulary.
        symbol: Its symbol; None for a special or a byte token.
        made: The step that made it; None for one that is there from the start.
        place: The place in the file of a token that was opened, in words; else empty.
        uses: Its uses in the corpus, by weight; None if they are not counted.
        rank: Its place among the tokens by their uses, 1 for the most used one.
        tokens: The number of tokens that are used.
        over: Its uses from step 0 on, an entry for each step that changes them.
        makes: The first tokens that were made of it directly, the most used first.
        spellings: Its other spellings: with a space or a mark or without, capitalized, in capitals.
        ways: The number of segmentations of its text; None if they are not counted.
        before: The id before it, None for the first.
        after: The id after it, None for the last.
    """

    number: int
    facts: TokenFacts
    symbol: int | None
    made: int | None
    place: str
    uses: int | None
    rank: int
    tokens: int
    over: Sequence[Used]
    makes: Sequence[MadeOf]
    spellings: Sequence[Spelled]
    ways: int | None
    before: int | None
    after: int | None

    def lost(self) -> list[tuple[bytes, int, int]]:
        """Return the tokens that took its uses: (bytes, how many it took, step), the most first."""
        pairs = itertools.pairwise(self.over)
        taken = [(now.into, was.uses - now.uses, now.number) for was, now in pairs if now.uses < was.uses]
        return sorted((row for row in taken if row[0]), key=lambda row: (-row[1], row[2]))


class Turn(NamedTuple):
    """A step in the life of a word.

    Attributes:
        number: The step, 0 for the start.
        parts: The exact bytes of the parts that it merged; empty if it merged none.
        said: The step in words, if it merged none; else empty.
        pieces: The exact bytes of the tokens of the word from then on; empty for an unknown one.
    """

    number: int
    parts: tuple[bytes, ...]
    said: str
    pieces: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class WordLife:
    """The life of a pre-token: its text, the step of the question, and each step that changed its
    segmentation."""

    word: str
    number: int
    turns: tuple[Turn, ...]


class Places(NamedTuple):
    """The next places of a token in the corpus: the first few, and whether the corpus holds each use once."""

    found: tuple[Context, ...]
    counted: bool
