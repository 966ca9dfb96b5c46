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
from tokentui.formats import OWN, WRITTEN, Format
from tokentui.formats.files import export, mistaken, recognise, targets
from tokentui.formats.proof import ExportReport, look
from tokentui.formats.spec import Refused, Spec
from tokentui.learn import start_counted, walk
from tokentui.learn.rows import Query
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Step, Stop
from tokentui.recipe import Stops
from tokentui.session import commands as do
from tokentui.session.column import TokenizerAtStep
from tokentui.session.opening import Prepared
from tokentui.session.sections import candidates, needles, next_place
from tokentui.session.snapshot import CompressedView, PreviewView
from tokentui.session.views import BETWEEN, MAIN, PARTS, CorpusPlace, Viewport
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
        words = count(corpus, recipe)
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
    pairs = tuple(chosen for _, chosen in made if chosen is not None)
    return PreviewView(pairs, tuple(_line(step) for step, chosen in made if chosen is None), end, chars)


def _line(step: Step) -> str:
    """A round of a training in words."""
    row = step.row
    what = "last cut" if getattr(step, "final", False) else {"em": "EM"}.get(step.kind, step.kind)
    dropped = f", {row['dropped']:,} dropped" if row["dropped"] else ""
    return (
        f"{what}, round {row['round']}: {row['kept']:,} pieces{dropped}, {row['objective']:.4f} nats a word"
    )


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
    """The format that a name asks for, where it is another one than is written; a name in .json may be of
    any."""
    name = os.path.basename(path).lower()
    if name in format.files or name.endswith(format.suffixes):
        return None
    return next((one for one in WRITTEN.values() if one is not OWN and name.endswith(one.suffixes)), None)


def export_to(at: TokenizerAtStep, command: do.Export) -> ExportReport:
    """Write the tokenizer at that step.

    Raises:
        TokentuiError: A file is there already and must not be written over, or its name is one of another
            format, or it cannot be written.
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


# Questions that are answered at once: where a text stands, what the last step changed, the compressed text.


def find(prepared: Prepared, order: str, asked: do.Find) -> int | CorpusPlace | None:
    """The next row, or place of the corpus, that shows a text, round the end.

    Args:
        prepared: What is open.
        order: The order in which the vocabulary is listed.
        asked: The text, and where to begin.

    Raises:
        TokentuiError: There is no such pane.
    """
    pane, text, start, backward = asked.pane, asked.text, asked.start, asked.backward
    if not text:
        return None
    trainer, window = prepared.trainer, prepared.text
    if pane == "corpus" and isinstance(start, CorpusPlace):
        found = window.find(text, start, backward) if window.documents else None
        return found and CorpusPlace(*found)
    if pane == "pairs" and isinstance(start, int):
        query = Query(0, 0, match=needles(text, asked.mode))
        return next_place(candidates(trainer, query).places, start, backward)
    if pane == "vocabulary" and isinstance(start, int):
        query = Query(0, 0, order, needles(text, asked.mode))
        return next_place(trainer.entries(query).places, start, backward)
    raise TokentuiError("no such pane", pane, "one of: corpus, pairs, vocabulary")


def find_changed(prepared: Prepared, start: CorpusPlace) -> CorpusPlace | None:
    """The next place of a word that the last step changed, round the end."""
    window, trainer = prepared.text, prepared.trainer
    if not window.documents:
        return None
    changed = trainer.changed()
    if (differs := changed.differs) is None:
        words = trainer.words.words
        differs = {words[number] for number in changed.words}.__contains__
    found = window.find_word(differs, start)
    return found and CorpusPlace(*found)


def compressed(trainer: Trainer, start: int, length: int) -> CompressedView:
    """A part of the compressed text.

    Raises:
        TokentuiError: There is none.
    """
    if (compression := trainer.compression) is None:
        objective = f"objective={trainer.recipe.objective}"
        raise TokentuiError("only Gage's compression has a compressed text", objective, "take gage")
    view = compression.compressed(start, length)
    names = view.names
    return CompressedView(
        parts=tuple((value, names.get(value, "")) for value in view.compressed),
        table=tuple((names[one], one, left, right, whole) for one, left, right, whole in view.table),
        text_bytes=view.text_bytes,
        table_bytes=view.table_bytes,
        original_bytes=view.original_bytes,
    )


def check_view(view: Viewport) -> None:
    """Refuse what looks at something that is not there.

    Raises:
        TokentuiError: There is no such list, or no such section.
    """
    if view.tokens is not None and view.tokens.part not in PARTS:
        raise TokentuiError("no such list", view.tokens.part, "one of: " + ", ".join(PARTS))
    for name in view.wants:
        if name not in MAIN and name not in BETWEEN:
            raise TokentuiError("no such section", name, "one of: " + ", ".join((*MAIN, *BETWEEN)))
