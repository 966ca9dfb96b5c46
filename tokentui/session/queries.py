"""Questions that are answered beside the training, on objects of their own: what another recipe would do, what is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from tokentui.analyze.asking import answers
from tokentui.analyze.health import examine
from tokentui.analyze.results import Answers, Report
from tokentui.analyze.ways import ways_of
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.formats import FORMATS, Format, Refused, export, look, recognise, targets
from tokentui.formats.mistaken import mistaken
from tokentui.formats.report import ExportReport
from tokentui.formats.writing import FOREIGN
from tokentui.learn import start_counted
from tokentui.learn.base import MERGES
from tokentui.learn.unigram import UnigramStep, UnigramTrainer
from tokentui.session import commands as do
from tokentui.session.explorer import Glance, Prepared, Run
from tokentui.session.rows import last_row
from tokentui.session.snapshot import PreviewView
from tokentui.text.beginning import beginning
from tokentui.text.count import count
from tokentui.text.patience import check

Answer = PreviewView | Answers | Report | ExportReport | tuple[ExportReport, ...] | str
"""What is answered beside the training."""

PREVIEW_CHARS = 20_000
"""How much of the corpus a preview is made of: it takes less time than a look from one line to the next."""
PREVIEW_SIZE = 500
"""The size that a unigram model is pruned to in a preview."""


def answered(command: do.Aside, glance: Glance, prepared: Prepared, cancel: Callable[[], bool]) -> Answer:
    """The answer to a question.

    Args:
        command: The question.
        glance: The tokenizer of the step that it is asked at.
        prepared: What is open.
        cancel: Asked from time to time; true raises `Cancelled`.
    """
    if cancel():
        raise Cancelled
    match command:
        case do.Recognise():
            name = recognise(command.path)
            if not name and (damaged := mistaken(command.path)) is not None:
                raise damaged
            return name
        case do.Fingerprint():
            return glance.corpus.sha256
        case do.Facts():
            return facts(glance, cancel)
        case do.Formats():
            return formats(glance)
        case do.Export():
            return export_to(glance, command, cancel)
        case do.Preview():
            return preview(prepared, command, cancel)
        case do.Ask():
            return ask(glance, command, cancel)


def preview(prepared: Prepared, command: do.Preview, cancel: Callable[[], bool]) -> PreviewView:
    """The first steps of a recipe on the beginning of the corpus.

    Args:
        prepared: What is open.
        command: The recipe, and its run.
        cancel: Asked from time to time; true raises `Cancelled`.
    """
    run = Run.of(dict(command.run)) if command.run is not None else prepared.run
    corpus = beginning(prepared.corpus, PREVIEW_CHARS)
    chars = corpus.characters + sum(len(word) for word, _ in corpus.counts or ())
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
    except Cancelled:
        raise
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


def ask(glance: Glance, command: do.Ask, cancel: Callable[[], bool]) -> Answers:
    """The questions that a vocabulary raises, at the step that was glanced at.

    Args:
        glance: The step.
        command: The word that is asked for, and whether to go on until nothing is left.
        cancel: Asked from time to time; true raises `Cancelled`.
    """
    found = answers(glance.tokenizer, glance.corpus, words=glance.words, exhaust=command.exhaust, cancel=cancel)
    return replace(found, step=glance.step, ways=ways_of(glance.tokenizer, command.word or glance.typed))


def facts(glance: Glance, cancel: Callable[[], bool]) -> Report:
    """The facts and the health of the tokenizer that was glanced at."""
    return Report(glance.step, *examine(glance.tokenizer, cancel=cancel))


def formats(glance: Glance) -> tuple[ExportReport, ...]:
    """What each file format would lose of the tokenizer that was glanced at."""
    found = []
    for format in FORMATS.values():
        check()
        found.append(look(glance.tokenizer, format))
    return tuple(found)


def _other_format(path: str, format: Format) -> Format | None:
    """The format that a name asks for, where it is another one than is written; a name in .json may be of any."""
    name = os.path.basename(path).lower()
    if name in format.files or name.endswith(format.suffixes):
        return None
    return next((one for one in FOREIGN.values() if name.endswith(one.suffixes)), None)


def export_to(glance: Glance, command: do.Export, cancel: Callable[[], bool]) -> ExportReport:
    """Write the tokenizer that was glanced at.

    Raises:
        TokentuiError: A file is there already and must not be written over, or its name is one of another format, or it cannot be
            written.
    """
    path, format = os.path.expanduser(command.path), FORMATS[command.format]
    there = next((one for one in targets(path, format) if os.path.lexists(one)), None)
    doubts = ["the file is there already"] if there is not None else []
    if (other := _other_format(path, format)) is not None:
        doubts.append(f"a name like this is one of {other.name}, not of {format.name}")
    if doubts and not command.overwrite:
        hint = "enter again writes over it" if there is not None else "enter again writes it all the same"
        raise TokentuiError("; ".join(doubts), there or path, hint)
    try:
        return export(glance.tokenizer, path, format.name, cancel=cancel)
    except Refused as error:
        report = look(glance.tokenizer, format)
        return replace(report, refused=report.refused or error.what.partition(": ")[2])
