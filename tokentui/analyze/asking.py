"""The questions that a vocabulary raises, answered together for one step and one corpus."""

from __future__ import annotations

from collections.abc import Sequence

from tokentui.analyze.documents import document_count, saved
from tokentui.analyze.exhaust import exhaust as exhausted
from tokentui.analyze.results import Answers
from tokentui.analyze.usage import usage
from tokentui.analyze.ways import ways
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn.base import Cancel, Progress, Trainer
from tokentui.learn.replay.pretokens import Pretokens
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

DOCUMENTS = 100
"""How many documents are told of, unless asked otherwise."""
WAYS = 10
"""How many ways of a word are told, unless asked otherwise."""


def answers(
    source: Trainer | Tokenizer,
    corpus: Corpus,
    *,
    words: Words | None = None,
    ask: Sequence[str] = (),
    exhaust: bool = False,
    documents: int = DOCUMENTS,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Answers:
    """Answer for a trainer at the step where it stands, or for a tokenizer. Nothing is changed by it.

    All figures are of the corpus as it is, each pre-token as often as it stands there, whatever weight the training gives it.

    Args:
        source: The trainer, of this corpus; or a tokenizer.
        corpus: The corpus.
        words: Its pre-tokens, counted; for a tokenizer they are counted here where None. A trainer has its own.
        ask: Pre-tokens whose ways to be written are wanted.
        exhaust: Train a fresh copy until no pair is left. It takes as long as that takes; `measure.exhaust` does it in slices.
        documents: How many documents are told of at most.
        progress: Told (done, total), one part of the work after the other.
        cancel: Asked meanwhile; true raises `Cancelled`.

    Raises:
        TokentuiError: The corpus cannot be split, or a word that is asked for is too long.
    """
    if isinstance(source, Tokenizer):
        tokenizer, trainer, step = source, None, source.merges
        words = words or Pretokens(tokenizer).count(corpus, progress, cancel)[0]
    else:
        tokenizer, trainer, step, words = source.tokenizer(), source, source.number, source.words
    vocabulary = tokenizer.vocabulary
    used = usage(tokenizer, words, trainer=trainer, progress=progress, cancel=cancel)
    end = None
    if exhaust:
        end = exhausted(
            words, tokenizer.recipe, first_id=vocabulary.first_id, specials=vocabulary.specials,
            documents=corpus.documents if corpus.counts is None else None, progress=progress, cancel=cancel,
        )
    return Answers(
        step=step,
        vocab_size=tokenizer.vocab_size,
        used=len(used.uses),
        unused=used.unused,
        units=used.units,
        tokens=used.tokens,
        documents=saved(corpus, tokenizer, used, documents, cancel=cancel),
        document_count=document_count(corpus),
        exhausted=end,
        ways=tuple(ways(tokenizer, word, WAYS) for word in ask),
    )
