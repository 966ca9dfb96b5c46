"""The report on a vocabulary: what a corpus uses of it, what its documents save, and what going on to the end
makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tokentui.analyze.results import Exhausted, VocabularyReport
from tokentui.analyze.usage import document_count, saved, usage
from tokentui.analyze.ways import ways_of
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import silent, tick
from tokentui.encode.offsets import WordEncoder
from tokentui.encode.tokenizer import Tokenizer
from tokentui.learn import start_counted
from tokentui.learn.barriers import has_barriers
from tokentui.learn.replay.pretokens import Pretokens
from tokentui.learn.values import Word
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words

DOCUMENTS = 100
"""The documents that a report lists at most, where no other number is named."""
_LOOK_EVERY = 4096


def vocabulary_report(
    tokenizer: Tokenizer,
    corpus: Corpus,
    words: Words | None = None,
    *,
    step: int | None = None,
    text: str = "",
    exhaust: bool = False,
    documents: int = DOCUMENTS,
) -> VocabularyReport:
    """Report on a vocabulary and a corpus.

    All figures are of the corpus as it is: each pre-token counts as often as it occurs, whatever weight a
    training gives it.

    Args:
        tokenizer: The tokenizer.
        corpus: The corpus.
        words: Its pre-tokens, counted; they are counted here where None.
        step: The step of the tokenizer; its number of merges where None.
        text: A text of whose pre-tokens the ways to be written are listed.
        exhaust: True to train a new tokenizer by the same recipe until no pair is left. That may take
            long.
        documents: The most documents listed.

    Raises:
        TokentuiError: The corpus cannot be split, or a pre-token of the text is too long.
    """
    words = words or Pretokens(tokenizer).count(corpus)[0]
    used = usage(tokenizer, words)
    end = None
    if exhaust:
        vocabulary = tokenizer.vocabulary
        run = Run(first_id=vocabulary.first_id, specials=tuple(vocabulary.specials))
        end = exhausted(words, tokenizer.recipe, run, corpus.documents if corpus.counts is None else None)
    return VocabularyReport(
        step=tokenizer.merges if step is None else step,
        vocab_size=tokenizer.vocab_size,
        used=len(used.uses),
        unused=used.unused,
        units=used.units,
        tokens=used.tokens,
        documents=saved(corpus, tokenizer, used, documents),
        document_count=document_count(corpus),
        exhausted=end,
        ways=ways_of(tokenizer, text),
    )


def exhausted(words: Words, recipe: Recipe, run: Run, documents: Sequence[str] | None = None) -> Exhausted:
    """Train a new tokenizer until no pair is left.

    A training that only drops pieces has no such end, so its start is reported. A recipe that cannot be
    trained is no error here; `end` says why.

    Args:
        words: The counted pre-tokens of the corpus.
        recipe: The recipe to train.
        run: The first id and the special tokens; its stops are left out.
        documents: The documents that the words come from, for an objective that reads them.
    """
    run, distinct = replace(run, stops=Stops()), len(words.words)
    try:
        with silent():
            trainer = start_counted(words, recipe, run, documents)
    except Cancelled:
        raise
    except TokentuiError as error:
        return Exhausted(0, len(run.specials), 0, 0, distinct, f"it cannot be trained: {error}")
    grows, start = trainer.traits.grows, trainer.tokens_at(0)
    once = sum(words.counts if recipe.weight == "occurrences" else (1,) * distinct)
    most = max(1, start - once)
    pieces = trainer.size_at(0) - len(run.specials)
    only = f"a unigram model only drops pieces: it begins with all {pieces:,} that it may have"
    end = "" if grows else only
    while not end:
        end = trainer.advance(None, Stops()) or ""
        tick(min(start - trainer.tokens_at(trainer.number), most), most)
    tokenizer, whole = trainer.tokenizer(), 0
    encoder = WordEncoder(tokenizer.vocabulary, tokenizer.merges)
    encoded = not grows or has_barriers(recipe)
    for number, word in enumerate(words.words):
        if number % _LOOK_EVERY == 0:
            tick(1, 1)
        whole += len(encoder.word(word) if encoded else trainer.segment(Word(word))) == 1
    tokens = trainer.tokens_at(trainer.number)
    return Exhausted(tokenizer.merges, tokenizer.vocab_size, tokens, whole, distinct, end)
