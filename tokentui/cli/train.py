"""`tokentui train`: a training without the screen, its trace and its tokenizer."""

from __future__ import annotations

import io
from typing import Any

import click

from tokentui.cli.options import (
    Run,
    axes_of,
    corpus_word,
    quiet_option,
    reading_options,
    recipe_options,
    run_options,
    wanted,
)
from tokentui.cli.output import check_target, complain, json_row, shown, write, write_document, write_file, write_json
from tokentui.cli.waiting import Bar, bar, interruptible
from tokentui.core import jit
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import FORMATS, OWN, Format, Refused, contents, export, format_of, look, save, targets, write_whole
from tokentui.formats.mistaken import refuse_tokenizers
from tokentui.learn import Step, start, without_kernel
from tokentui.learn.base import INTERRUPTED, Cancel, Trainer
from tokentui.learn.compiled import WORTH_CHARS
from tokentui.learn.gage import GageStep, GageTrainer, compressed
from tokentui.learn.unigram import UnigramStep
from tokentui.recipe import nearest
from tokentui.text.read import Corpus, read

DIFFERS = 1
_NEVER_KEPT = ("counts", "recipe")
"""What no other tool's file holds: it is not worth a line each time."""
_STDOUT = "-"
_COMPRESSED_SHOWN = 400


@click.command(
    "train",
    short_help="Train a tokenizer.",
    epilog="""\b
Examples:
  tokentui train novel.txt -r gpt2 --vocab-size 4096 -o novel.json
  tokentui train sample:sailor -r udl-notebook --merges 50
  tokentui train a.txt b.txt -r bert --special '[UNK]' --merges 500 --trace steps.jsonl
  zcat big.gz | tokentui train - --as lines -r minbpe --merges 256 --trace -""",
)
@click.argument("sources", metavar="CORPUS...", type=corpus_word, nargs=-1)
@recipe_options
@run_options
@reading_options
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Write the tokenizer; - is standard output.")
@click.option("--format", "format_", metavar="FORMAT", help=f"Of -o, by its name where left out: {', '.join(FORMATS)}.")
@click.option("--trace", metavar="FILE", type=click.Path(), help="Write a row of JSON a step; - is standard output.")
@quiet_option
def command(
    sources: tuple[str, ...],
    recipe: str | None,
    axes: tuple[str, ...],
    as_: str | None,
    field: str,
    output: str | None,
    format_: str | None,
    trace: str | None,
    quiet: bool,
    **words: Any,
) -> int:
    """Train a tokenizer on CORPUS until a stop holds or no pair is left; a stop that is not named is not set, whatever
    the preset, but with --published.

    Without -o and --trace the merges are printed. Files are written whole or not at all; after ctrl+c a trace ends
    with "interrupted" and no tokenizer is written.
    """
    if not sources:
        raise TokentuiError("CORPUS is missing", "train", "name a file, a folder, - or sample:english")
    if recipe is None:
        raise TokentuiError("-r is missing", "train", "name a preset or a recipe file; tokentui recipes lists them")
    chosen, run = wanted(recipe, axes_of(axes), words)
    if format_ is not None and format_ not in FORMATS:
        raise TokentuiError(f"no format {format_!r}", "--format", nearest(format_, FORMATS))
    format = format_of(output or "", chosen, format_, option="--format")
    files = targets(output, format) if output and output != _STDOUT else []
    if output == _STDOUT and len(format.files) > 1:
        raise TokentuiError(f"{format.name} has two files", "-o -", "name a folder")
    if output == trace == _STDOUT:
        raise TokentuiError("the tokenizer and the trace cannot both go to standard output", "-o - --trace -", "name a file")
    for target in {*files, trace} - {None, _STDOUT}:
        check_target(str(target))
    with bar(quiet) as shown_bar, interruptible() as cancel:
        refuse_tokenizers(sources, as_)
        corpus = read(sources, as_=as_, field=field, progress=shown_bar.of("reading"), cancel=cancel)
        trainer = start(
            corpus, chosen, first_id=run.get("first_id", 0), specials=run.get("specials", ()),
            progress=shown_bar.of("counting"), cancel=cancel,
        )
        if output and (early := look(trainer.tokenizer(), format)).refused:
            raise Refused(f"{format.name} cannot hold it: {early.refused}", output, "name another format")
        if not quiet:
            _remark(corpus, shown_bar)
            if (size := run.get("vocab_size")) is not None and size < trainer.least_size:
                complain(f"vocab_size={size}: there are {trainer.least_size:,} ids before anything is learned; all of them stay")
            if corpus.size >= WORTH_CHARS and jit.available() and (lacking := without_kernel(chosen)):
                complain(f"there is no kernel for {lacking}: plain Python trains")
        writer: _Trace | _People | None = _Trace(trace) if trace else None if output else _People()
        reason = _train(trainer, run, writer, shown_bar, cancel)
    if writer is not None:
        writer.end(reason, trainer.number)
    if isinstance(trainer, GageTrainer) and isinstance(writer, _People):
        _compressed(trainer)
    what = "step" if chosen.objective == "unigram" else "merge"
    made = f"{trainer.number:,} {what}{'s' * (trainer.number != 1)}"
    if reason == INTERRUPTED:
        complain(f"interrupted after {made}" + ("; no tokenizer was written" if output else ""))
        return 130
    if output:
        asked = {name: value for name, value in run.items() if name not in ("first_id", "specials")}
        if not _write(trainer.tokenizer(asked), output, format, quiet):
            return DIFFERS
    if not quiet and trace != _STDOUT:
        complain(f"{made}, {trainer.vocab_size:,} ids; ended by: {reason}")
    return 0


def _write(tokenizer: Tokenizer, output: str, format: Format, quiet: bool) -> bool:
    """Write the tokenizer, and say what is lost; where the format cannot hold it, in the project's own beside it."""
    if output != _STDOUT:
        try:
            report = export(tokenizer, output, format.name)
        except Refused as error:
            beside = f"{output.rstrip('/')}.tokentui.json"
            save(tokenizer, beside)
            complain(f"{error}; it is written to {beside}")
            return False
    else:
        report, files = contents(tokenizer, format)
        if report.refused:
            complain(f"{format.name} cannot hold it: {report.refused}")
            return False
        if format.name == OWN.name:
            write_document(files[0].decode())
        else:
            write_file(files[0])
    for loss in [] if quiet else [one for one in report.losses if one.what not in _NEVER_KEPT]:
        complain(f"{format.name} does not keep {loss.what}: {loss.consequence}")
    return True


def _train(trainer: Trainer, run: Run, writer: _Trace | _People | None, shown_bar: Bar, cancel: Cancel) -> str:
    """Make the merges, each written as soon as it is there. Returns why it ended."""
    draw = shown_bar.of("merging")
    written = 0

    def follow(done: int, total: int) -> None:
        nonlocal written
        if writer is not None:
            for step in trainer.steps(written + 1):
                writer.step(step)
        written = trainer.number
        draw(done, total)

    stops = {name: run[name] for name in ("merges", "vocab_size", "min_count", "max_length") if name in run}
    try:
        reason = trainer.run(**stops, progress=follow, cancel=cancel)
    except Cancelled:
        reason = INTERRUPTED
    follow(trainer.number, trainer.number)
    return reason


def trace_row(step: Step | UnigramStep) -> dict[str, Any]:
    """A step as a row for machines."""
    if isinstance(step, UnigramStep):
        return step.row
    return {
        "step": step.number,
        "hex": step.hex,
        "left": step.left.decode("utf-8", "replace"),
        "right": step.right.decode("utf-8", "replace"),
        "token": step.token.decode("utf-8", "replace"),
        "id": step.id,
        "count": step.count,
        "replaced": step.replaced,
        "score": step.score,
        "tied": step.tied,
        "tokens": step.tokens,
        "vocab_size": step.vocab_size,
    }


class _Trace:
    """Rows of JSON: to standard output as they come, to a file in the end."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._rows = io.StringIO()

    def step(self, step: Step | UnigramStep) -> None:
        self._row(trace_row(step))

    def end(self, reason: str, steps: int) -> None:
        self._row({"end": reason, "steps": steps})
        if self._target != _STDOUT:
            write_whole(self._target, self._rows.getvalue().encode())

    def _row(self, row: dict[str, Any]) -> None:
        if self._target == _STDOUT:
            write_json(row)
        else:
            self._rows.write(json_row(row) + "\n")


class _People:
    """A merge a line, for people."""

    def step(self, step: Step | UnigramStep) -> None:
        if isinstance(step, UnigramStep):
            what = "last cut" if step.final else step.what
            line = f"{step.number:>6}  round {step.round}  {what:<8}  {step.kept:,} pieces, {step.dropped:,} dropped"
            write(f"{line}, objective {step.objective:.6f}\n".encode())
            return
        line = f"{step.number:>6}  {shown(step.left)} + {shown(step.right)} = {shown(step.token)}"
        score = "" if step.score is None else f", score {step.score:.6g}"
        spelled = f", stands for {shown(step.spelled)}" if isinstance(step, GageStep) else ""
        write(f"{line}  (id {step.id}, count {step.count:,}{score}{spelled})\n".encode())

    def end(self, reason: str, steps: int) -> None:
        """Why it ended is said on standard error."""


def _compressed(trainer: GageTrainer) -> None:
    """What is left of the text when pairs have been replaced: its beginning, and its size."""
    view = compressed(trainer, length=_COMPRESSED_SHOWN)
    more = "…" if view.text_bytes > len(view.compressed) else ""
    write(f"        {shown(view.compressed)}{more}\n        {view.sizes}\n".encode())


def _remark(corpus: Corpus, shown_bar: Bar) -> None:
    """What the reader of the corpus noticed."""
    shown_bar.close()
    for note in [*corpus.notes, *([str(corpus.invalid)] if corpus.invalid else [])]:
        complain(note)
