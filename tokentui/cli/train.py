"""`tokentui train`: a training without the screen, its trace and its tokenizer."""

from __future__ import annotations

import io
from collections.abc import Iterator

import click

from tokentui.cli.lines import needed, read_corpus
from tokentui.cli.options import (
    axes_of,
    corpus_word,
    quiet_option,
    reading_options,
    recipe_options,
    run_options,
    wanted,
)
from tokentui.cli.output import (
    Bar,
    Json,
    check_target,
    complain,
    json_row,
    shown,
    working,
    write,
    write_document,
    write_file,
    write_json,
)
from tokentui.core import jit
from tokentui.core.arguments import nearest
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.files import write_whole
from tokentui.core.jobs import job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import export, format_of, save, targets
from tokentui.formats.proof import contents, look
from tokentui.formats.registry import OWN, WRITTEN, Format
from tokentui.formats.spec import Refused, Spec
from tokentui.learn import start, walk
from tokentui.learn.compiled import WORTH_CHARS, without_kernel
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
@click.argument("sources", metavar="CORPUS...", type=corpus_word, nargs=-1)
@recipe_options
@run_options
@reading_options
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(), help="Write the tokenizer; - is standard output."
)
@click.option(
    "--format", "format_", metavar="FORMAT", help=f"Of -o, by its name where left out: {', '.join(WRITTEN)}."
)
@click.option(
    "--trace", metavar="FILE", type=click.Path(), help="Write a row of JSON a step; - is standard output."
)
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
    **words: object,
) -> int:
    """Train a tokenizer on CORPUS until a stop holds or no pair is left; a stop that is not named is not set,
    whatever the preset, but with --published.

    Without -o and --trace the merges are printed. Files are written whole or not at all; after ctrl+c a trace
    ends with "interrupted" and no tokenizer is written.
    """
    needed(sources, "train")
    if recipe is None:
        raise TokentuiError(
            "-r is missing", "train", "name a preset or a recipe file; tokentui recipes lists them"
        )
    chosen, run = wanted(recipe, axes_of(axes), words)
    if format_ is not None and format_ not in WRITTEN:
        raise TokentuiError(f"no format {format_!r}", "--format", nearest(format_, WRITTEN))
    format = format_of(output or "", chosen, format_, option="--format")
    files = targets(output, format) if output and output != _STDOUT else []
    if output == _STDOUT and len(format.files) > 1:
        raise TokentuiError(f"{format.name} has two files", "-o -", "name a folder")
    if output == trace == _STDOUT:
        what = "the tokenizer and the trace cannot both go to standard output"
        raise TokentuiError(what, "-o - --trace -", "name a file")
    for target in {*files, trace} - {None, _STDOUT}:
        check_target(str(target))
    with working(quiet) as shown_bar:
        corpus = read_corpus(sources, as_, field, shown_bar, quiet)
        with shown_bar.of("counting"):
            trainer = start(corpus, chosen, run)
        if output and (early := look(Spec(trainer.tokenizer()), format)).refused:
            raise Refused(f"{format.name} cannot hold it: {early.refused}", output, "name another format")
        if not quiet:
            shown_bar.close()
            for note in _remarks(trainer, run, corpus):
                complain(note)
        writer: _Trace | _People | None = _Trace(trace) if trace else None if output else _People(trainer)
        reason = _train(trainer, run, writer, shown_bar)
    if writer is not None:
        writer.end(reason, trainer)
    word = trainer.traits.step
    made = f"{trainer.number:,} {word}{'s' * (trainer.number != 1)}"
    if reason == INTERRUPTED:
        complain(f"interrupted after {made}" + ("; no tokenizer was written" if output else ""))
        return 130
    if output and not _write(trainer.tokenizer(run=run.words), output, format, quiet):
        return DIFFERS
    if not quiet and trace != _STDOUT:
        complain(f"{made}, {trainer.size_at(trainer.number):,} ids; ended by: {reason}")
    return 0


def _remarks(trainer: Trainer, run: Run, corpus: Corpus) -> Iterator[str]:
    """Sentences on a size that is too small, and on plain Python where kernels would be worth it."""
    size, least = run.stops.vocab_size, trainer.traits.least_size
    if size is not None and size < least:
        yield f"vocab_size={size}: there are {least:,} ids before anything is learned; all of them stay"
    if corpus.size >= WORTH_CHARS and jit.available() and (lacking := without_kernel(trainer.recipe)):
        yield f"there is no kernel for {lacking}: plain Python trains"


def _write(tokenizer: Tokenizer, output: str, format: Format, quiet: bool) -> bool:
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
        if format.name == OWN.name:
            write_document(files[0].decode())
        else:
            write_file(files[0])
    for loss in [] if quiet else [one for one in report.losses if one.what not in _NEVER_KEPT]:
        complain(f"{format.name} does not keep {loss.what}: {loss.consequence}")
    return True


def _train(trainer: Trainer, run: Run, writer: _Trace | _People | None, shown_bar: Bar) -> str:
    """Make the steps, each written as soon as it is there. Returns why the run ended."""
    written = 0

    def follow(done: int, total: int) -> None:
        nonlocal written
        if writer is not None:
            for step in walk.steps(trainer, written + 1):
                writer.step(step)
        written = trainer.number
        shown_bar.draw("merging", done, total)

    try:
        with job(follow):
            reason: str = walk.run(trainer, run.stops)
    except Cancelled:
        reason = INTERRUPTED
    follow(trainer.number, trainer.number)
    return reason


class _Trace:
    """Rows of JSON: to standard output as they come, to a file in the end."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._rows = io.StringIO()

    def step(self, step: Step) -> None:
        self._row(step.row)

    def end(self, reason: str, trainer: Trainer) -> None:
        self._row({"end": reason, "steps": trainer.number})
        if self._target != _STDOUT:
            write_whole(self._target, self._rows.getvalue().encode())

    def _row(self, row: Json) -> None:
        if self._target == _STDOUT:
            write_json(row)
        else:
            self._rows.write(json_row(row) + "\n")


class _People:
    """A step a line, for people; in the end the text, where it was compressed."""

    def __init__(self, trainer: Trainer) -> None:
        self._columns = [column.name for column in trainer.traits.columns]

    def step(self, step: Step) -> None:
        chosen, row, said = step.chosen, step.row, step.said
        if chosen is not None:
            score = "" if row["score"] is None else f", score {row['score']:.6g}"
            expanded = dict(zip(self._columns, chosen.values, strict=False)).get("spelled")
            spelled = f", stands for {shown(expanded)}" if isinstance(expanded, bytes) else ""
            made = f"{' + '.join(map(shown, chosen.parts))} = {shown(chosen.token)}"
            said = f"{made}  (id {row['id']}, count {row['count']:,}{score}{spelled})"
        write(f"{step.number:>6}  {said}\n".encode())

    def end(self, reason: str, trainer: Trainer) -> None:
        if (compression := trainer.traits.compression) is not None:
            view = compression.compressed(length=_COMPRESSED_SHOWN)
            more = "…" if view.text_bytes > len(view.compressed) else ""
            write(f"        {shown(view.compressed)}{more}\n        {view.sizes}\n".encode())
