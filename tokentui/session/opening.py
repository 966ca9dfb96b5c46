"""Opening: read a corpus and lay it out for a recipe, with the first pairs shown before all of it is counted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tokentui.core import jit
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import load
from tokentui.formats.mistaken import refuse_tokenizers
from tokentui.learn import start_counted
from tokentui.learn.pairs import quiet_collector
from tokentui.learn.replay import OpenedTrainer, Order
from tokentui.recipe import Recipe
from tokentui.session.prepared import Prepared, Run
from tokentui.session.replay_window import Opened, OpenedText
from tokentui.session.stages import opened_view
from tokentui.session.window import RunningText
from tokentui.text.beginning import beginning
from tokentui.text.corpus import Corpus
from tokentui.text.count import PARALLEL_CHARS, Words, count, count_steps, words_of
from tokentui.text.kernels.rules import scans
from tokentui.text.read import read

AT_ONCE_CHARS = 2_000_000
"""So much text is counted and laid out by kernels before anything could be looked at."""
FIRST_LOOK_CHARS = 200_000
"""How much of a large corpus is counted before its first pairs are shown."""


FIRST_LOOK_OPENED = 100_000
FIRST_LOOK_STAGED = 20_000
"""The same for an opened tokenizer, whose steps may take much longer where the axes do not say them."""


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
        TokentuiError: It cannot be read, or is a tokenizer file.
    """
    sources = (source,) if isinstance(source, str) else source
    name = " ".join(os.path.basename(one.rstrip(os.sep)) or one for one in sources)

    def progress(done: int, total: int) -> None:
        hooks.progress(f"reading {name}", done, total)

    refuse_tokenizers(source, as_)
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

    total = corpus.characters
    if total > 2 * FIRST_LOOK_CHARS and not (total <= AT_ONCE_CHARS and jit.loaded() and scans(recipe)):
        hooks.partial(lay_out(_first_words(corpus, recipe, hooks), True))
    if total >= PARALLEL_CHARS or jit.ready(total):
        words = count(corpus, recipe, progress=lambda done, all_: hooks.progress("counting", done, all_), cancel=hooks.cancel)
    else:
        words = Words((), ())
        for done, all_, counts in count_steps(corpus, recipe, hooks.cancel):
            hooks.progress("counting", done, all_)
            if done >= all_:
                words = words_of(counts)
    hooks.progress("laying out", 0, 0)
    hash(corpus.digest)  # of a long file it takes a moment: not on the event loop, which asks for it
    return lay_out(words, False)


def open_tokenizer(path: str, split: str, hooks: Hooks) -> Tokenizer:
    """Read a tokenizer file. The split that was named is for a file that holds none.

    Raises:
        TokentuiError: It cannot be read, or is none.
    """
    hooks.progress(f"reading {os.path.basename(path)}", 0, 0)
    try:
        return load(path)
    except TokentuiError:
        if not split:
            raise
        return load(path, split)


def prepare_whole(corpus: Corpus, tokenizer: Tokenizer, run: Run, hooks: Hooks, path: str) -> Prepared:
    """As `prepare_tokenizer`, at the last birth: there it is what its owner has. The stops of a training are none of its."""
    run = replace(run, stops=replace(run.stops, merges=None, vocab_size=None))

    def at_end(prepared: Prepared) -> Prepared:
        prepared.trainer.jump(prepared.trainer.known)
        return prepared

    partial = Hooks(hooks.progress, lambda prepared: hooks.partial(at_end(prepared)), hooks.cancel)
    return at_end(prepare_tokenizer(corpus, tokenizer, run, partial, path=path))


def prepare_tokenizer(corpus: Corpus, tokenizer: Tokenizer, run: Run, hooks: Hooks, *, path: str = "") -> Prepared:
    """Count a corpus as an opened tokenizer cuts it, and find what each of its births changes there; at step 0.

    Args:
        corpus: The corpus.
        tokenizer: The tokenizer.
        run: What is kept for a training that comes after it.
        hooks: What is told and asked meanwhile.
        path: The tokenizer's file.

    Raises:
        TokentuiError: It is none whose tokens are born one by one.
    """
    order = Order.of(tokenizer)
    view = opened_view(tokenizer, order, path)
    text = OpenedText(corpus, tokenizer)

    def lay_out(of: Corpus, partial: bool) -> Prepared:
        words, fixed = text.pretokens.count(of, _told(hooks, "counting"), hooks.cancel)
        with quiet_collector():
            trainer = OpenedTrainer(
                tokenizer, words, fixed=fixed, order=order, progress=_told(hooks, "encoding"), cancel=hooks.cancel
            )
        return Prepared(corpus, tokenizer.recipe, run, trainer, partial, text, Opened(tokenizer, view))

    first = FIRST_LOOK_STAGED if text.pretokens.staged else FIRST_LOOK_OPENED
    if corpus.counts is None and corpus.characters > 2 * first:
        hooks.partial(lay_out(beginning(corpus, first), True))
    return lay_out(corpus, False)


def _told(hooks: Hooks, what: str) -> Callable[[int, int], None]:
    return lambda done, total: hooks.progress(what, done, total)


def _first_words(corpus: Corpus, recipe: Recipe, hooks: Hooks) -> Words:
    for done, total, counts in count_steps(corpus, recipe, hooks.cancel):
        hooks.progress("counting", done, total)
        if done >= FIRST_LOOK_CHARS:
            return words_of(counts)
    return Words((), ())
