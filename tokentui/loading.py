"""Opening: read a corpus and lay it out for a recipe, with the first pairs shown before all of it is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokentui import fast
from tokentui.explorer import Prepared, Run
from tokentui.learn import start_counted
from tokentui.learn.pairs import quiet_collector
from tokentui.recipe import Recipe
from tokentui.running import RunningText
from tokentui.text.corpus import Corpus
from tokentui.text.count import PARALLEL_CHARS, Words, count, count_steps, words_of
from tokentui.text.read import read

FIRST_LOOK_CHARS = 200_000
"""How much of a large corpus is counted before its first pairs are shown."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a long work tells and asks.

    Args:
        progress: Told (what, done, total).
        partial: Given what there is before all of the corpus is counted.
        cancel: Asked from time to time; true raises `Cancelled`.
    """

    progress: Callable[[str, int, int], None]
    partial: Callable[[Prepared], None]
    cancel: Callable[[], bool]


def open_corpus(source: str | Sequence[str], as_: str | None, field: str, hooks: Hooks) -> Corpus:
    """Read a corpus.

    Raises:
        TokentuiError: It cannot be read.
    """
    name = source if isinstance(source, str) else " ".join(source)

    def progress(done: int, total: int) -> None:
        hooks.progress(f"reading {name}", done, total)

    return read(source, as_=as_, field=field, progress=progress, cancel=hooks.cancel)


def prepare(corpus: Corpus, recipe: Recipe, run: Run, hooks: Hooks) -> Prepared:
    """Count a corpus for a recipe and lay it out.

    Raises:
        TokentuiError: Its pattern takes too long on this corpus.
    """
    text = RunningText(corpus, recipe)

    def lay_out(words: Words, partial: bool) -> Prepared:
        # Of a part of the corpus only the words are known, which is enough for a first look.
        documents = None if partial or corpus.counts is not None else corpus.documents
        with quiet_collector():
            trainer = start_counted(
                words, recipe, first_id=run.first_id, specials=run.specials, documents=documents, vocab_size=run.stops.vocab_size,
                progress=lambda done, total_: hooks.progress("laying out", done, total_), cancel=hooks.cancel,
            )
        return Prepared(corpus, recipe, run, trainer, partial, text)

    total = sum(map(len, corpus.documents))
    if total > 2 * FIRST_LOOK_CHARS:
        hooks.partial(lay_out(_first_words(corpus, recipe, hooks), True))
    if total >= PARALLEL_CHARS or fast.ready(total):
        words = count(corpus, recipe, progress=lambda done, all_: hooks.progress("counting", done, all_), cancel=hooks.cancel)
    else:
        words = Words((), ())
        for done, all_, counts in count_steps(corpus, recipe, hooks.cancel):
            hooks.progress("counting", done, all_)
            if done >= all_:
                words = words_of(counts)
    hooks.progress("laying out", 0, 0)
    return lay_out(words, False)


def _first_words(corpus: Corpus, recipe: Recipe, hooks: Hooks) -> Words:
    for done, total, counts in count_steps(corpus, recipe, hooks.cancel):
        hooks.progress("counting", done, total)
        if done >= FIRST_LOOK_CHARS:
            return words_of(counts)
    return Words((), ())
