"""Questions that are answered beside the training, on objects of their own: what another recipe would do, what is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tokentui import commands as do
from tokentui.answers import Answers
from tokentui.errors import TokentuiError
from tokentui.explorer import Glance, Prepared, Run
from tokentui.learn import start_counted
from tokentui.learn.base import MERGES
from tokentui.learn.unigram import UnigramStep, UnigramTrainer
from tokentui.measure.asking import answers
from tokentui.measure.ways import ways_of
from tokentui.snapshot import PreviewView
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.views import last_row

PREVIEW_CHARS = 20_000
"""How much of the corpus a preview is made of: it takes less time than a look from one line to the next."""
PREVIEW_SIZE = 500
"""The size that a unigram model is pruned to in a preview."""


def preview(prepared: Prepared, command: do.Preview, cancel: Callable[[], bool]) -> PreviewView:
    """The first steps of a recipe on the beginning of the corpus.

    Args:
        prepared: What is open.
        command: The recipe, and its run.
        cancel: Asked from time to time; true raises `Cancelled`.
    """
    run = Run.of(dict(command.run)) if command.run is not None else prepared.run
    corpus = beginning(prepared.corpus, PREVIEW_CHARS)
    chars = sum(map(len, corpus.documents)) + sum(len(word) for word, _ in corpus.counts or ())
    try:
        words = count(corpus, command.recipe, processes=1, cancel=cancel)
        trainer = start_counted(
            words, command.recipe, first_id=run.first_id, specials=run.specials,
            documents=corpus.documents if corpus.counts is None else None, vocab_size=PREVIEW_SIZE, cancel=cancel,
        )
        # The stops that say what is a candidate hold here too; those that end a run do not.
        limits = trainer.limits(run.stops)
        reason = trainer.run(
            merges=command.steps, min_count=limits.min_count, max_length=limits.max_length, cancel=cancel
        )
    except TokentuiError as error:
        return PreviewView((), (), "", chars, str(error))
    end = "" if reason == MERGES else reason
    if isinstance(trainer, UnigramTrainer):
        return PreviewView((), tuple(map(_line, trainer.steps())), end, chars)
    return PreviewView(tuple(map(last_row, trainer.steps())), (), end, chars)


def _line(step: UnigramStep) -> str:
    """A step of a unigram training in words."""
    what = "last cut" if step.final else {"em": "EM", "prune": "prune"}[step.what]
    dropped = f", {step.dropped:,} dropped" if step.dropped else ""
    return f"{what}, round {step.round}: {step.kept:,} pieces{dropped}, {step.objective:.4f} nats a word"


def beginning(corpus: Corpus, chars: int) -> Corpus:
    """The first so many characters of a corpus, cut between words where there are any."""
    if corpus.counts is not None:
        kept, room = [], chars
        for word, times in corpus.counts:
            if room <= 0:
                break
            kept.append((word, times))
            room -= len(word) + 1
        return replace(corpus, counts=tuple(kept))
    documents, room = [], chars
    for document in corpus.documents:
        if room <= 0:
            break
        part = document
        if len(document) > room:
            space = document.rfind(" ", room // 2, room)
            part = document[: space if space > 0 else room]
        documents.append(part)
        room -= len(part) + 1
    return replace(corpus, documents=tuple(documents))


def ask(glance: Glance, command: do.Ask, cancel: Callable[[], bool]) -> Answers:
    """The questions that a vocabulary raises, at the step that was glanced at.

    Args:
        glance: The step.
        command: The word that is asked for, and whether to go on until nothing is left.
        cancel: Asked from time to time; true raises `Cancelled`.
    """
    found = answers(glance.tokenizer, glance.corpus, words=glance.words, exhaust=command.exhaust, cancel=cancel)
    return replace(found, step=glance.step, ways=ways_of(glance.tokenizer, command.word or glance.typed))
