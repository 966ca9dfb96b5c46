"""`tokentui train`: train without the screen, and write a trace and the tokenizer."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace

import click

from tokentui import learn
from tokentui.analyze.report import Json
from tokentui.cli import output as out
from tokentui.cli.commands.convert import STDOUT, check_output, write_tokenizer
from tokentui.cli.options import (
    CORPUS,
    EXACT,
    NAMED,
    PATH,
    QUIET,
    READING,
    RECIPE,
    RUN_OPTIONS,
    SharedOptions,
    format_option,
    options,
)
from tokentui.core import engines
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.files import write_whole
from tokentui.core.jobs import current_phase, job
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import Format
from tokentui.formats.files import export, format_of, targets
from tokentui.formats.proof import check_export
from tokentui.formats.spec import Spec, Unsupported
from tokentui.learn import start
from tokentui.learn.start_pairs import WORTH_CHARS, value_without_kernel
from tokentui.learn.steps import Step
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run
from tokentui.text.corpus import Corpus
from tokentui.text.count import coverage
from tokentui.text.counting import UNKNOWN
from tokentui.text.kernels.rules import without_scanner

DIFFERS = 1
_NEVER_KEPT = ("counts", "recipe")
"""Losses of every other tool's file: they are not worth a line each time."""
INTERRUPTED = "interrupted"
_COMPRESSED_SHOWN = 400


@click.command(
    epilog="""\b
Examples:
  tokentui train novel.txt -r gpt2 --vocab-size 4096 -o novel.json
  tokentui train sample:sailor -r udl-notebook --merges 50
  tokentui train --corpus en=a.txt --corpus hi=b.txt -r gpt2 -s objective=parity --merges 500
  tokentui train a.txt b.txt -r bert --special '[UNK]' --merges 500 --trace steps.jsonl
  zcat big.gz | tokentui train - --as lines -r minbpe --merges 256 --trace -""",
)
@options(
    CORPUS,
    *NAMED,
    *RECIPE,
    *RUN_OPTIONS,
    *READING,
    click.option("-o", "--output", metavar="FILE", type=PATH,
                 help="Write the tokenizer to FILE; - is standard output."),
    format_option("--format", "-o"),
    click.option("--trace", metavar="FILE", type=PATH,
                 help="Write one JSON row per step to FILE; - is standard output."),
    EXACT,
    QUIET,
)
def command(
    shared: SharedOptions, output: str | None, format_: str | None, trace: str | None, exact: bool
) -> int:
    """Train a tokenizer on CORPUS until a limit is reached or no pairs remain. Presets set no limits unless
    you pass --published.

    Without -o and --trace, the merges are printed. Files are written completely or not at all. After ctrl+c,
    a trace ends with "interrupted" and no tokenizer is written. A notice names special tokens that occur as
    text in the corpus.
    """
    recipe, run = shared.required_recipe()
    format = format_of(output or "", recipe, format_, option="--format")
    if output is not None:
        run = _with_unknown(run, recipe, format)
    if exact and run.stops.vocab_size is None:
        raise TokentuiError("--exact requires --vocab-size", shared.command, "name a size")
    if output == trace == STDOUT:
        what = "the tokenizer and the trace cannot both go to standard output"
        raise TokentuiError(what, "-o - --trace -", "name a file")
    if output is not None:
        check_output(output, format)
    if trace is not None and trace != STDOUT:
        out.check_target(trace)
        out.check_apart(() if output in (None, STDOUT) else targets(output or "", format), {"--trace": trace})
    rows = io.StringIO()
    with out.working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar)
        with bar.phase("counting"):
            trainer = start(corpus, recipe, run)
        if output and (early := check_export(Spec(trainer.tokenizer()), format)).refused:
            what = f"{format.name} cannot store it: {early.refused}"
            raise Unsupported(what, output, "name another format")
        bar.close()
        shared.notice(coverage(corpus, trainer.recipe, trainer.words).notes)
        shared.notice(_remarks(trainer, run, corpus))
        if output is not None and "published" not in shared.run_values:
            shared.notice(_missing_specials(run, format))
        shared.notice(_spelled_specials(recipe, run, corpus))

        def traced(row: Json) -> None:
            if trace == STDOUT:
                out.write_json(row)
            elif trace:
                rows.write(out.json_row(row) + "\n")

        def write_step(step: Step) -> None:
            if trace:
                traced(step.row)
            else:
                out.write(f"{step.number:>6}  {_line(step, trainer)}\n".encode())

        reason = _train(trainer, run, write_step if trace or not output else None, bar)
    shared.notice(f"{change.text} had no effect: {why}" for change, why in learn.unmet(trainer))
    traced({"end": reason, "steps": trainer.number})
    if trace and trace != STDOUT:
        write_whole(trace, rows.getvalue().encode())
    if not trace and not output and (compression := learn.compression_of(trainer)) is not None:
        view = compression.compressed(length=_COMPRESSED_SHOWN)
        more = "…" if view.text_bytes > len(view.compressed) else ""
        out.write(f"        {out.shown(view.compressed)}{more}\n        {view.sizes}\n".encode())
    summary = f"{trainer.number:,} {trainer.traits.step}{'s' * (trainer.number != 1)}"
    if reason == INTERRUPTED:
        within = f", in {trainer.traits.phase}" if trainer.traits.heavy else ""
        unwritten = "; no tokenizer was written" if output else ""
        out.complain(f"interrupted after {summary}{within}{unwritten}")
        return 130
    if output and not _write(trainer.tokenizer(run=run.words), output, format, shared):
        return DIFFERS
    size, asked = trainer.size_at(trainer.number), run.stops.vocab_size
    if trace != STDOUT:
        shared.notice([f"{summary}, {size:,} ids (stopped: {reason})"])
    short = asked is not None and size != asked
    missed = f"--vocab-size {asked}: not reached, the tokenizer has {size:,} ids" if short else ""
    return shared.report_missed(missed, exact=exact)


def _with_unknown(run: Run, recipe: Recipe, format: Format) -> Run:
    """Return the run with the unknown token that the format requires after the named special tokens, so that
    the file has the size that was asked for. Return it unchanged if the format requires none, or the recipe
    has `unknown=rest-of-word`."""
    added = format.added_unknown(run.specials)
    if not added or recipe.unknown == "rest-of-word":
        return run  # a vocab.txt with [UNK] encodes the text "[UNK]" differently under rest-of-word
    return replace(run, specials=(*run.specials, added))


def _missing_specials(run: Run, format: Format) -> Iterator[str]:
    """Yield a sentence on the special tokens that programs expect in the format and the run does not have."""
    if missing := [name for name in format.specials if name not in run.specials]:
        hint = "--special NAME adds one, --published adds those of the preset"
        yield f"{format.name}: the file has no {' '.join(missing)}; {hint}"


def _spelled_specials(recipe: Recipe, run: Run, corpus: Corpus) -> Iterator[str]:
    """Yield a sentence on each special token that the corpus spells: training reads its name as text."""
    for name in run.specials:
        if name and name not in recipe.symbols and (count := corpus.occurrences(name)):
            times = "once" if count == 1 else f"{count:,} times"
            yield (f"the special token {name} occurs {times} as text in the corpus, and merges are learned "
                   "from it: --symbol keeps it whole")


def _remarks(trainer: Trainer, run: Run, corpus: Corpus) -> Iterator[str]:
    """Yield sentences on counts of an unknown split, on a size that is too small, and on plain Python where
    kernels would be worth it.
    """
    if corpus.counting == UNKNOWN:
        yield (f"{corpus.name} does not store how it was counted: if the recipe has another split or "
               "normalization, the tokenizer differs")
    size, least = run.stops.vocab_size, trainer.traits.least_size
    if size is not None and size < least:
        yield f"vocab_size={size}: the base and the special tokens alone are {least:,} ids"
    if corpus.size >= WORTH_CHARS and engines.available():
        if lacking := value_without_kernel(trainer.recipe):
            yield f"no kernel for {lacking}: training in plain Python"
        if corpus.counts is None and (lacking := without_scanner(trainer.recipe)):
            yield f"no kernel for {lacking}: counting pre-tokens in plain Python"


def _train(trainer: Trainer, run: Run, on_step: Callable[[Step], None] | None, bar: out.ProgressBar) -> str:
    """Run the steps, and return why the run ended; `INTERRUPTED` if it was cancelled, without raising.
    `on_step` is called with each step soon after it is made. Updates the progress bar."""
    written = 0

    def follow(done: int, total: int) -> None:
        nonlocal written
        if on_step is not None:
            for step in learn.steps(trainer, written + 1):
                on_step(step)
        written = trainer.number
        bar.update(current_phase(), done, total)

    try:
        with job(follow):
            reason: str = learn.run(trainer, run.stops)
    except Cancelled:
        reason = INTERRUPTED
    follow(trainer.number, trainer.number)
    return reason


def _line(step: Step, trainer: Trainer) -> str:
    """Return a step in one line: the merge with its id, count and score, or a sentence for a step that merges
    nothing."""
    chosen, row = trainer.taken(step.number), step.row
    if chosen is None or not trainer.traits.grows:
        return step.sentence
    score = "" if row["score"] is None else f", score {row['score']:.6g}"
    columns = (column.name for column in trainer.traits.columns)
    expanded = dict(zip(columns, chosen.values, strict=False)).get("spelled")
    spelled = f", expands to {out.shown(expanded)}" if isinstance(expanded, bytes) else ""
    by = f", {out.shown(str(row['language']))}" if "language" in row else ""
    merge = out.merged(chosen.parts, chosen.token)
    return f"{merge}  (id {row['id']}, count {row['count']:,}{score}{spelled}{by})"


def _write(tokenizer: Tokenizer, output: str, format: Format, shared: SharedOptions) -> bool:
    """Write the tokenizer and print its losses. Return False if the format cannot hold it: it is then written
    beside the output in the native format, or not at all for standard output."""
    try:
        report = write_tokenizer(tokenizer, output, format)
    except Unsupported as error:
        beside = f"{output.rstrip('/')}.tokentui.json"
        if output != STDOUT:
            export(tokenizer, beside)
        out.complain(f"{error}; wrote {beside} instead" if output != STDOUT else str(error))
        return False
    lost = [loss for loss in report.losses if loss.what not in _NEVER_KEPT]
    shared.notice(f"{format.name} does not keep {loss.what}: {loss.consequence}" for loss in lost)
    return True
