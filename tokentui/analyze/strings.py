"""What a tokenizer makes of a string: its encoding step by step, the ways to write it, its lattice, why it is not one token."""

from __future__ import annotations

from dataclasses import dataclass

from tokentui.analyze.results import Ways
from tokentui.analyze.ways import ways
from tokentui.analyze.whynot import why_not_one
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode import Encoding, WordExplanation
from tokentui.encode.segment.viterbi import Edge, lattice
from tokentui.encode.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class WordFacts:
    """A pre-token of a string.

    Attributes:
        explanation: Each step of its encoding.
        ways: The ways to write it; None for one that is too long for that.
        lattice: Every piece that may stand in it, where pieces have probabilities.
    """

    explanation: WordExplanation
    ways: Ways | None
    lattice: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class StringFacts:
    """What is told of a string.

    Attributes:
        text: The string.
        encoding: Its encoding; None where the recipe refuses it.
        refusal: Why it does, in one line.
        why: Why it is not one token, or that it is one, in one sentence.
        words: Its pre-tokens in order.
    """

    text: str
    encoding: Encoding | None
    refusal: str
    why: str
    words: tuple[WordFacts, ...]


def string_facts(tokenizer: Tokenizer, text: str, limit: int = 10) -> StringFacts:
    """Look at a string.

    Args:
        tokenizer: The tokenizer.
        text: The string.
        limit: How many ways to write each pre-token are told at most.

    Raises:
        TokentuiError: The pattern of the split takes too long.
    """
    encoding, refusal = None, ""
    try:
        encoding = tokenizer.encode(text)
    except Cancelled:
        raise
    except TokentuiError as error:
        refusal = str(error)
    known: dict[str, tuple[Ways | None, tuple[Edge, ...]]] = {}
    words = []
    for explanation in tokenizer.explain(text):
        word = explanation.text
        if word not in known:
            known[word] = _ways(tokenizer, word, limit), _lattice(tokenizer, word)
        words.append(WordFacts(explanation, *known[word]))
    return StringFacts(text, encoding, refusal, why_not_one(tokenizer, text), tuple(words))


def _ways(tokenizer: Tokenizer, word: str, limit: int) -> Ways | None:
    try:
        return ways(tokenizer, word, limit)
    except TokentuiError:
        return None


def _lattice(tokenizer: Tokenizer, word: str) -> tuple[Edge, ...]:
    return tuple(lattice(tokenizer.vocabulary, word)) if tokenizer.recipe.encode == "viterbi" else ()
