"""`tokentui train`: a training without the screen, its trace and its tokenizer."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import click

from tokentui.cli.options import CORPUS, QUIET, READING, RECIPE, RUN_OPTIONS, Given, options
from tokentui.cli.output import (
    Bar,
    Json,
    check_target,
    complain,
    json_row,
    merged,
    shown,
    working,
    write,
    write_document,
    write_file,
    write_json,
)
from tokentui.core import jit
from tokentui.core.errors import Cancelled, TokentuiError, nearest
from tokentui.core.files import write_whole
from tokentui.core.jobs import job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import OWN, WRITTEN, Format
from tokentui.formats.files import export, format_of, save, targets
from tokentui.formats.proof import contents, look
from tokentui.formats.spec import Refused, Spec
from tokentui.learn import start, walk
from tokentui.learn.merging import WORTH_CHARS, without_kernel
from tokentui.learn.trainer import Trainer
from tokentui.learn.values import Step
from tokentui.recipe import Run
from tokentui.text.corpus import Corpus

DIFFERS = 1
_NEVER_KEPT = ("counts", "recipe")
"""Losses of every other tool's file: they are not worth a line each time."""
_STDOUT = "-"
INTERRUPTED = "interrupted"
_COMPRESSED_SHOWN = 400


@click.command(
    epilog="""\b
Examples:
  tokentui train novel.txt -r gpt2 --vocab-size 4096 -o novel.json
  tokentui train sample:sailor -r udl-notebook --merges 50
  tokentui train a.txt b.txt -r bert --special '[UNK]' --merges 500 --trace steps.jsonl
  zcat big.gz | tokentui train - --as lines -r minbpe --merges 256 --trace -""",
)
@options(
    CORPUS,
    *RECIPE,
    *RUN_OPTIONS,
    *READING,
    click.option("-o", "--output", metavar="FILE", type=click.Path(),
                 help="Write the tokenizer; - is standard output."),
    click.option("--format", "format_", metavar="FORMAT",
                 help=f"Of -o, by its name where left out: {', '.join(WRITTEN)}."),
    click.option("--trace", metavar="FILE", type=click.Path(),
                 help="Write a row of JSON a step; - is standard output."),
    QUIET,
)
def command(given: Given, output: str | None, format_: str | None, trace: str | None) -> int:
    """Train a tokenizer on CORPUS until a stop holds or no pair is left; a stop that is not named is not set,
    whatever the preset, but with --published.

    Without -o and --trace the merges are printed. Files are written whole or not at all; after ctrl+c a trace
    ends with "interrupted" and no tokenizer is written.
    """
    given.needs_corpus()
    if given.recipe is None:
        hint = "name a preset or a recipe file; tokentui recipes lists them"
        raise TokentuiError("-r is missing", given.where, hint)
    recipe, run = given.wanted(given.recipe)
    if format_ is not None and format_ not in WRITTEN:
        raise TokentuiError(f"no format {format_!r}", "--format", nearest(format_, WRITTEN))
    format = format_of(output or "", recipe, format_, option="--format")
    files = targets(output, format) if output and output != _STDOUT else []
    if output == _STDOUT and len(format.files) > 1:
        raise TokentuiError(f"{format.name} has two files", "-o -", "name a folder")
    if output == trace == _STDOUT:
        what = "the tokenizer and the trace cannot both go to standard output"
        raise TokentuiError(what, "-o - --trace -", "name a file")
    for target in {*files, trace} - {None, _STDOUT}:
        check_target(str(target))
    rows = io.StringIO()
    with working(given.quiet) as bar:
        corpus = given.corpus(bar)
        with bar.of("counting"):
            trainer = start(corpus, recipe, run)
        if output and (early := look(Spec(trainer.tokenizer()), format)).refused:
            raise Refused(f"{format.name} cannot hold it: {early.refused}", output, "name another format")
        bar.close()
        given.remark(_remarks(trainer, run, corpus))

        def traced(row: Json) -> None:
            if trace == _STDOUT:
                write_json(row)
            elif trace:
                rows.write(json_row(row) + "\n")

        def told(step: Step) -> None:
            if trace:
                traced(step.row)
            elif not output:
                write(f"{step.number:>6}  {_line(step, trainer)}\n".encode())

        reason = _train(trainer, run, told, bar)
    traced({"end": reason, "steps": trainer.number})
    if trace and trace != _STDOUT:
        write_whole(trace, rows.getvalue().encode())
    if not trace and not output and (compression := trainer.compression) is not None:
        view = compression.compressed(length=_COMPRESSED_SHOWN)
        more = "…" if view.text_bytes > len(view.compressed) else ""
        write(f"        {shown(view.compressed)}{more}\n        {view.sizes}\n".encode())
    made = f"{trainer.number:,} {trainer.traits.step}{'s' * (trainer.number != 1)}"
    if reason == INTERRUPTED:
        complain(f"interrupted after {made}" + ("; no tokenizer was written" if output else ""))
        return 130
    if output and not _write(trainer.tokenizer(run=run.words), output, format, given):
        return DIFFERS
    if trace != _STDOUT:
        given.remark([f"{made}, {trainer.size_at(trainer.number):,} ids; ended by: {reason}"])
    return 0


def _remarks(trainer: Trainer, run: Run, corpus: Corpus) -> Iterator[str]:
    """Sentences on a size that is too small, and on plain Python where kernels would be worth it."""
    size, least = run.stops.vocab_size, trainer.traits.least_size
    if size is not None and size < least:
        yield f"vocab_size={size}: there are {least:,} ids before anything is learned; all of them stay"
    if corpus.size >= WORTH_CHARS and jit.available() and (lacking := without_kernel(trainer.recipe)):
        yield f"there is no kernel for {lacking}: plain Python trains"


def _train(trainer: Trainer, run: Run, told: Callable[[Step], None], bar: Bar) -> str:
    """Make the steps, each told as soon as it is there. Returns why the run ended."""
    written = 0

    def follow(done: int, total: int) -> None:
        nonlocal written
        for step in walk.steps(trainer, written + 1):
            told(step)
        written = trainer.number
        bar.draw("merging", done, total)

    try:
        with job(follow):
            reason: str = walk.run(trainer, run.stops)
    except Cancelled:
        reason = INTERRUPTED
    follow(trainer.number, trainer.number)
    return reason


def _line(step: Step, trainer: Trainer) -> str:
    """A step for people."""
    chosen, row = step.chosen, step.row
    if chosen is None:
        return step.said
    score = "" if row["score"] is None else f", score {row['score']:.6g}"
    columns = (column.name for column in trainer.traits.columns)
    expanded = dict(zip(columns, chosen.values, strict=False)).get("spelled")
    spelled = f", stands for {shown(expanded)}" if isinstance(expanded, bytes) else ""
    return f"{merged(chosen.parts, chosen.token)}  (id {row['id']}, count {row['count']:,}{score}{spelled})"


def _write(tokenizer: Tokenizer, output: str, format: Format, given: Given) -> bool:
    """Write the tokenizer, and say what is lost; where the format cannot hold it, in the project's own next
    to it."""
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
        if format is OWN:
            write_document(files[0].decode())
        else:
            write_file(files[0])
    lost = [one for one in report.losses if one.what not in _NEVER_KEPT]
    given.remark(f"{format.name} does not keep {loss.what}: {loss.consequence}" for loss in lost)
    return True
