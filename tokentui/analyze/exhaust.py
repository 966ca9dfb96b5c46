"""What comes of going on until no pair is left, found by training a fresh copy to its end."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from tokentui.analyze.results import Exhausted
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode import WordEncoder
from tokentui.learn import start_counted
from tokentui.learn.barriers import has_barriers
from tokentui.learn.base import Cancel, Progress, Stops, Trainer
from tokentui.recipe import Recipe
from tokentui.text.count import Words

_LOOK_EVERY = 4096


def exhausting(
    words: Words,
    recipe: Recipe,
    *,
    first_id: int = 0,
    specials: Sequence[str] = (),
    documents: Sequence[str] | None = None,
    cancel: Cancel | None = None,
) -> Generator[tuple[int, int], None, Exhausted]:
    """Train to the end in slices of some hundredths of a second, after the first, which lays the corpus out.

    A unigram model has no such end: it begins with all pieces that there are and drops some, so what is told is its start. A
    recipe that cannot be trained is no error here; `end` says why.

    Args:
        words: The counted pre-tokens of the corpus.
        recipe: How to train.
        first_id: The first id given.
        specials: Special tokens.
        documents: The documents that the words come from, for a unigram model.
        cancel: Asked while the corpus is laid out; true raises `Cancelled`.

    Yields:
        (done, total) in tokens of the corpus that are merged away; the total is what can be at most.
    """
    try:
        trainer = start_counted(words, recipe, first_id=first_id, specials=specials, documents=documents, cancel=cancel)
    except Cancelled:
        raise
    except TokentuiError as error:
        return Exhausted(0, len(specials), 0, 0, len(words.words), f"it cannot be trained: {error}")
    if recipe.objective == "unigram":
        end = f"a unigram model only drops pieces: it begins with all {trainer.vocab_size - len(specials):,} that it may have"
    else:
        most = max(1, trainer.tokens - sum(words.counts if recipe.weight == "occurrences" else (1,) * len(words.counts)))
        end = ""
        while not end:
            end = trainer.advance(None, Stops()) or ""
            yield min(trainer.start_tokens - trainer.tokens, most), most
    whole = 0
    encoder = WordEncoder(trainer.vocabulary, trainer.merges)
    for number, word in enumerate(words.words):
        if number % _LOOK_EVERY == 0:
            yield 1, 1
        whole += _pieces(trainer, encoder, word) == 1
    return Exhausted(trainer.merges, trainer.vocab_size, trainer.tokens, whole, len(words.words), end)


def exhaust(
    words: Words,
    recipe: Recipe,
    *,
    first_id: int = 0,
    specials: Sequence[str] = (),
    documents: Sequence[str] | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Exhausted:
    """All of `exhausting` in one call.

    Args:
        words: See there, and so on.
        recipe: How to train.
        first_id: The first id given.
        specials: Special tokens.
        documents: The documents that the words come from.
        progress: Told (done, total).
        cancel: Asked between slices; true raises `Cancelled`.
    """
    work = exhausting(words, recipe, first_id=first_id, specials=specials, documents=documents, cancel=cancel)
    while True:
        try:
            done, total = next(work)
        except StopIteration as stop:
            found: Exhausted = stop.value
            return found
        if cancel is not None and cancel():
            raise Cancelled
        if progress is not None:
            progress(done, total)


def _pieces(trainer: Trainer, encoder: WordEncoder, word: str) -> int:
    """How many tokens a pre-token of the corpus is now."""
    encoded = trainer.recipe.objective == "unigram" or has_barriers(trainer.recipe)
    return len(encoder.word(word) if encoded else trainer.word(word) or ())
