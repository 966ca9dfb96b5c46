"""How many tokens a tokenizer saves for each document of a corpus."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from tokentui.analyze.results import DocumentSaved
from tokentui.analyze.usage import Usage
from tokentui.core.errors import Cancelled
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.base import Cancel
from tokentui.learn.replay.pretokens import Pretokens
from tokentui.text.corpus import Corpus
from tokentui.text.count import chunks
from tokentui.text.pretokenize import PreToken, Pretokenizer

_NAME_CHARS = 40


def saved(
    corpus: Corpus, tokenizer: Tokenizer, usage: Usage, limit: int | None = None, *, cancel: Cancel | None = None
) -> tuple[DocumentSaved, ...]:
    """The documents that save most tokens, first; of equals the earlier one. Numbers count from 1.

    The documents of counted words are the words, each with all its occurrences.

    Args:
        corpus: The corpus.
        tokenizer: What cuts it into pre-tokens.
        usage: The same corpus, encoded.
        limit: How many at most.
        cancel: Asked between documents; true raises `Cancelled`.
    """
    every = _documents(corpus, tokenizer, usage, cancel)
    first = sorted(every) if limit is None else heapq.nsmallest(limit, every)
    texts = corpus.documents if corpus.counts is None else [word for word, _ in corpus.counts]
    return tuple(DocumentSaved(number, _name(texts[number - 1]), units, tokens) for _, number, units, tokens in first)


def document_count(corpus: Corpus) -> int:
    """How many documents a corpus has; those of counted words are the words."""
    return len(corpus.documents if corpus.counts is None else corpus.counts)


def _documents(
    corpus: Corpus, tokenizer: Tokenizer, usage: Usage, cancel: Cancel | None
) -> Iterator[tuple[int, int, int, int]]:
    """(tokens less units, number, units, tokens) of each document."""
    lengths = usage.lengths
    if corpus.counts is not None:
        for number, (word, count) in enumerate(corpus.counts, 1):
            units, tokens = lengths[word]
            yield (tokens - units) * count, number, units * count, tokens * count
        return
    if len(corpus.documents) == 1:
        yield usage.tokens - usage.units, 1, usage.units, usage.tokens
        return
    words = _words_of(tokenizer, cancel)
    for number, document in enumerate(corpus.documents, 1):
        units = tokens = 0
        for word in words(document):
            of_word = lengths[word]
            units += of_word[0]
            tokens += of_word[1]
        yield tokens - units, number, units, tokens


def _words_of(tokenizer: Tokenizer, cancel: Cancel | None) -> Callable[[str], Iterator[str]]:
    """What gives the pre-tokens of a document: the recipe, or the steps of a file where they do more."""
    own = Pretokens(tokenizer)
    pretokenizer = Pretokenizer(tokenizer.recipe)

    def words(document: str) -> Iterator[str]:
        if own.does_more(document):
            if cancel is not None and cancel():
                raise Cancelled
            yield from (item.text for item in own.of(document) if isinstance(item, PreToken))
            return
        for text, first in chunks((document,), pretokenizer):
            if cancel is not None and cancel():
                raise Cancelled
            yield from pretokenizer.words(text, first=first)

    return words


def _name(document: str) -> str:
    """What a document begins with: its first line that is not blank, cut short."""
    start = document[: 10 * _NAME_CHARS].lstrip()
    line = start.split("\n", 1)[0].rstrip()
    return line if len(line) <= _NAME_CHARS else line[: _NAME_CHARS - 1] + "…"
