"""`tokentui convert`: a tokenizer from one file format to another, and what is lost on the way."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from tokentui.cli.options import QUIET, SPLIT, Given, json_option, options
from tokentui.cli.output import as_row, check_target, complain, working, write_answer, write_file
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.core.table import Table
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import WRITTEN
from tokentui.formats.files import export, format_of, load, targets
from tokentui.formats.proof import ExportReport, contents, look
from tokentui.formats.spec import Refused, Spec
from tokentui.recipe import Recipe

DONE, DIFFERS = 0, 1
_STDOUT = "-"


@click.command(
    epilog="""\b
Examples:
  tokentui convert novel.json novel.tiktoken
  tokentui convert novel.json tokenizer.json --to huggingface
  tokentui convert cl100k_base.tiktoken out.json -s split=cl100k
  tokentui convert tokenizer.json gpt2/ --to gpt2      vocab.json and merges.txt
  tokentui convert novel.json                          what each format would lose""",
)
@options(
    click.argument("source", metavar="IN", type=click.Path()),
    click.argument("output", metavar="[OUT]", type=click.Path(), required=False),
    click.option("--to", "format_", metavar="FORMAT",
                 help=f"Of OUT, by its name where left out: {', '.join(WRITTEN)}."),
    SPLIT,
    json_option("Print the report as JSON, an object a format."),
    QUIET,
)
def command(given: Given, source: str, output: str | None, format_: str | None) -> int:
    """Write the tokenizer of IN to OUT, and print what the format of OUT cannot hold of it.

    What is written is read back first and tried on many texts, and on every token: where it would encode
    otherwise nothing is written and the exit code is 1, unless a loss that is printed tells of it. With IN
    alone each format's losses are printed and nothing is written. OUT of the format gpt2 is a folder, or one
    of its two files.
    """
    split = given.split()
    if format_ is None and output is not None and os.path.basename(output).lower() == "tokenizer.json":
        hint = "--to huggingface, or --to tokentui for the project's own"
        raise TokentuiError("is Hugging Face's format meant?", output, hint)
    format_of(output or "", Recipe(), format_, option="--to")  # before the file is read
    if given.as_json and output == _STDOUT:
        what = "the file and the report cannot both go to standard output"
        raise TokentuiError(what, "--json", "name a file")
    tokenizer = load(source, split)
    given.remark(tokenizer.notes)
    if output is None:
        chosen, spec = [WRITTEN[format_]] if format_ else WRITTEN.values(), Spec(tokenizer)
        for report in [look(spec, one) for one in chosen]:
            write_answer(given.as_json, as_row(report), _tables(report))
        return DONE
    with working(given.quiet) as bar:
        if output == _STDOUT:
            return _to_stdout(tokenizer, format_)
        for target in targets(output, format_of(output, tokenizer.recipe, format_)):
            check_target(target)
        try:
            with bar.of("checking"):
                report = export(tokenizer, output, format_)
        except Refused as error:
            bar.close()
            complain(str(error))
            return DIFFERS
    write_answer(given.as_json, as_row(report), _tables(report))
    return DONE


def _to_stdout(tokenizer: Tokenizer, format_: str | None) -> int:
    format = format_of(_STDOUT, tokenizer.recipe, format_)
    if len(format.files) > 1:
        raise TokentuiError(f"{format.name} has two files", _STDOUT, "name a folder")
    report, files = contents(tokenizer, format)
    for loss in report.losses:
        complain(f"lost: {loss.what}: {loss.consequence}")
    if report.refused:
        complain(f"{report.format} cannot hold it: {report.refused}")
        return DIFFERS
    write_file(files[0])
    return DONE


def _tables(report: ExportReport) -> Iterator[Table]:
    """The losses of a format; the texts that were tried where it is written."""
    told = f", the same on {report.checked:,} texts" if report.checked else ""
    rows = []
    for loss in report.losses:
        example = f" ({safe_line(loss.example)})" if loss.example else ""
        rows.append(("lost", f"{loss.what}: {loss.consequence}{example}"))
    if report.refused:
        told, rows = "", [("no  ", safe_line(report.refused))]
    yield Table(rows or [("nothing is lost",)], f"{report.format}: {report.about}{told}", indent=2)
