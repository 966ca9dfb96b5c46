"""The words of a corpus that a tokenizer cuts into too many tokens.

A word is a pre-token. It needs one token; each further one is wasted, as often as the word occurs.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokentui.analyze.report import NUMBER, Column, Report, Row, Section, Target, as_row, data, segmented
from tokentui.core.jobs import each
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus

_FEW, _MOST = 40, 1000
"""The rows that the terminal prints, and that a table has."""


@dataclass(frozen=True, slots=True)
class WorstWord:
    """A word of several tokens.

    Attributes:
        text: The word.
        uses: How often it occurs.
        tokens: Its tokens.
        wasted: Its tokens beyond the first, times its uses.
        pieces: The bytes of each token.
    """

    text: str
    uses: int
    tokens: int
    wasted: int
    pieces: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class WorstWords:
    """The words of a corpus that have several tokens.

    Attributes:
        corpus: The name of the corpus.
        tokens: Its tokens.
        wasted: The tokens beyond the first of their word.
        words: Its distinct words.
        worst: Those of several tokens, the most wasted first, of equal ones the most used.
    """

    corpus: str
    tokens: int
    wasted: int
    words: int
    worst: tuple[WorstWord, ...]


def worst_words(tokenizer: Tokenizer, corpus: Corpus) -> WorstWords:
    """Find the words of several tokens.

    Raises:
        TokentuiError: The tokenizer refuses the corpus.
        Cancelled: The job is cancelled.
    """
    words, fixed = Pretokens(tokenizer).count(corpus)
    encoder = tokenizer.encoder
    total, found = sum(fixed.values()), []
    for word, count in each(list(zip(words.words, words.counts, strict=True)), len(words.words)):
        tokens = encoder.word(word)
        total += len(tokens) * count
        if len(tokens) > 1:
            units = encoder.pretokenizer.units(word)
            pieces = tuple(b"".join(units[token.start : token.end]) for token in tokens)
            found.append(WorstWord(word, count, len(tokens), (len(tokens) - 1) * count, pieces))
    found.sort(key=lambda one: (-one.wasted, -one.uses, one.text))
    wasted = sum(one.wasted for one in found)
    return WorstWords(corpus.name, total, wasted, len(words.words), tuple(found))


def analysis(tokenizer: Tokenizer, corpus: Corpus | None) -> Report:
    """Find the words of several tokens in a corpus, which must not be None, and report on them."""
    assert corpus is not None
    return report(worst_words(tokenizer, corpus))


def report(found: WorstWords) -> Report:
    """Report on the words of several tokens: a table, the most wasted first."""
    share = f" ({found.wasted / found.tokens:.1%})" if found.tokens else ""
    summary = (
        f"{len(found.worst):,} of {found.words:,} words have several tokens; "
        f"{found.wasted:,} of {found.tokens:,} tokens{share} are beyond the first of their word"
    )
    columns = (NUMBER._replace(title="wasted", priority=3), NUMBER._replace(title="tokens", priority=2),
               NUMBER._replace(title="uses", priority=1), Column("word", most=40, priority=4),
               Column("cut", flex=True))
    table = Section("words", summary, tuple(map(_row, found.worst[:_MOST])), columns, few=_FEW,
        total=len(found.worst))
    value = {
        "corpus": found.corpus, "tokens": found.tokens, "wasted": found.wasted, "words": found.words,
        "worst": [as_row(one) for one in found.worst],
    }
    return Report("Worst words", (table,), value, summary)


def _row(one: WorstWord) -> Row:
    numbers = f"{one.wasted:,}", f"{one.tokens:,}", f"{one.uses:,}"
    return Row((*numbers, data(one.text), segmented(one.pieces)), Target("word", text=one.text))
