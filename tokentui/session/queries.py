"""Queries that run in the background, on objects of their own: previews, reports, losses of export."""

from __future__ import annotations

import os
from dataclasses import replace

from tokentui import axes
from tokentui.analyze.health import examine
from tokentui.analyze.report import vocabulary_report
from tokentui.analyze.results import HealthReport, VocabularyReport
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.jobs import check
from tokentui.formats.files import export, mistaken, recognise, targets
from tokentui.formats.proof import ExportReport, look
from tokentui.formats.registry import OWN, WRITTEN, Format
from tokentui.formats.spec import Refused, Spec
from tokentui.learn import start_counted, walk
from tokentui.learn.values import Step, Stop
from tokentui.recipe import Stops
from tokentui.session import commands as do
from tokentui.session.column import TokenizerAtStep
from tokentui.session.prepared import Prepared
from tokentui.session.sections import pair_row
from tokentui.session.snapshot import PreviewView
from tokentui.text.corpus import beginning
from tokentui.text.count import count

Answer = PreviewView | VocabularyReport | HealthReport | ExportReport | tuple[ExportReport, ...] | str
"""The result of a background query."""

PREVIEW_CHARS = 20_000
"""The characters of the corpus that a preview trains on; few enough to follow the selected line."""
PREVIEW_SIZE = 500
"""The size that a unigram model is pruned to in a preview."""


def answered(command: do.Command[object], at: TokenizerAtStep, prepared: Prepared) -> Answer:
    """The answer to a question.

    Args:
        command: The question.
        at: The tokenizer of the step that it is asked at.
        prepared: What is open.
    """
    check()
    match command:
        case do.Recognise():
            format = recognise(command.path)
            if format is None and (damaged := mistaken(command.path)) is not None:
                raise damaged
            return format.about if format else ""
        case do.Fingerprint():
            return at.corpus.sha256
        case do.ExamineHealth():
            return facts(at)
        case do.Formats():
            return formats(at)
        case do.Export():
            return export_to(at, command)
        case do.Preview():
            return preview(prepared, command)
        case do.AnalyzeVocabulary():
            return ask(at, command)
    raise TokentuiError("not a question of a session", type(command).__name__)


def preview(prepared: Prepared, command: do.Preview) -> PreviewView:
    """The first steps of a recipe on the beginning of the corpus.

    Args:
        prepared: What is open.
        command: The recipe, and its run.
    """
    run = command.run or prepared.run
    corpus = beginning(prepared.corpus, PREVIEW_CHARS)
    chars = corpus.characters + sum(len(word) for word, _ in corpus.counts or ())
    try:
        recipe = axes.check(command.recipe)
        words = count(corpus, recipe, processes=1)
        pruned = replace(run, stops=Stops(vocab_size=PREVIEW_SIZE))
        trainer = start_counted(words, recipe, pruned, corpus.documents if corpus.counts is None else None)
        # The stops that say what is a candidate hold here too; those that end a run do not.
        shaping = run.stops.only(tuple(name for name in trainer.traits.shaped_by if name != "vocab_size"))
        reason = walk.run(trainer, replace(shaping, merges=command.steps))
    except Cancelled:
        raise
    except TokentuiError as error:
        return PreviewView((), (), "", chars, str(error))
    end = "" if reason is Stop.MERGES else str(reason)
    made = [(step, step.chosen) for step in walk.steps(trainer)]
    pairs = tuple(pair_row(trainer, chosen) for _, chosen in made if chosen is not None)
    return PreviewView(pairs, tuple(_line(step) for step, chosen in made if chosen is None), end, chars)


def _line(step: Step) -> str:
    """A round of a training in words."""
    row = step.row
    what = "last cut" if getattr(step, "final", False) else {"em": "EM"}.get(step.kind, step.kind)
    dropped = f", {row['dropped']:,} dropped" if row["dropped"] else ""
    return f"{what}, round {row['round']}: {row['kept']:,} pieces{dropped}, {row['objective']:.4f} nats a word"


def ask(at: TokenizerAtStep, command: do.AnalyzeVocabulary) -> VocabularyReport:
    """The questions that a vocabulary raises, at a step.

    Args:
        at: The step.
        command: The word that is asked for, and whether to go on until nothing is left.
    """
    return vocabulary_report(
        at.tokenizer, at.corpus, at.words, step=at.step, text=command.word or at.typed,
        exhaust=command.exhaust,
    )


def facts(at: TokenizerAtStep) -> HealthReport:
    """The facts and the health of the tokenizer at that step."""
    return examine(at.tokenizer, at.step)


def formats(at: TokenizerAtStep) -> tuple[ExportReport, ...]:
    """Return the losses of an export to each file format at a step."""
    spec, found = Spec(at.tokenizer), []
    for format in WRITTEN.values():
        check()
        found.append(look(spec, format))
    return tuple(found)


def _other_format(path: str, format: Format) -> Format | None:
    """The format that a name asks for, where it is another one than is written; a name in .json may be of any."""
    name = os.path.basename(path).lower()
    if name in format.files or name.endswith(format.suffixes):
        return None
    return next((one for one in WRITTEN.values() if one is not OWN and name.endswith(one.suffixes)), None)


def export_to(at: TokenizerAtStep, command: do.Export) -> ExportReport:
    """Write the tokenizer at that step.

    Raises:
        TokentuiError: A file is there already and must not be written over, or its name is one of another format, or it cannot be
            written.
    """
    path, format = os.path.expanduser(command.path), WRITTEN[command.format]
    there = next((one for one in targets(path, format) if os.path.lexists(one)), None)
    doubts = ["the file is there already"] if there is not None else []
    if (other := _other_format(path, format)) is not None:
        doubts.append(f"a name like this is one of {other.name}, not of {format.name}")
    if doubts and not command.overwrite:
        hint = "enter again writes over it" if there is not None else "enter again writes it all the same"
        raise TokentuiError("; ".join(doubts), there or path, hint)
    try:
        return export(at.tokenizer, path, format.name)
    except Refused as error:
        report = look(Spec(at.tokenizer), format)
        return replace(report, refused=report.refused or error.what.partition(": ")[2])
