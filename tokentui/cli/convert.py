"""`tokentui convert`: a tokenizer from one file format to another, and what is lost on the way."""

from __future__ import annotations

import os
from dataclasses import asdict

import click

from tokentui.cli.options import quiet_option, split_of, split_option
from tokentui.cli.output import check_target, complain, working, write_file, write_json, write_text
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import export, format_of, load, targets
from tokentui.formats.proof import ExportReport, contents, look
from tokentui.formats.registry import WRITTEN
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
@click.argument("source", metavar="IN", type=click.Path())
@click.argument("output", metavar="[OUT]", type=click.Path(), required=False)
@click.option(
    "--to", "format_", metavar="FORMAT", help=f"Of OUT, by its name where left out: {', '.join(WRITTEN)}."
)
@split_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, an object a format.")
@quiet_option
def command(
    source: str, output: str | None, format_: str | None, axes: tuple[str, ...], as_json: bool, quiet: bool
) -> int:
    """Write the tokenizer of IN to OUT, and print what the format of OUT cannot hold of it.

    What is written is read back first and tried on many texts, and on every token: where it would encode
    otherwise nothing is written and the exit code is 1, unless a loss that is printed tells of it. With IN
    alone each format's losses are printed and nothing is written. OUT of the format gpt2 is a folder, or one
    of its two files.
    """
    split = split_of(axes)
    if format_ is not None:
        format_of("", Recipe(), format_)
    if output is not None and format_ is None and os.path.basename(output).lower() == "tokenizer.json":
        hint = "--to huggingface, or --to tokentui for the project's own"
        raise TokentuiError("is Hugging Face's format meant?", output, hint)
    if output is not None:
        format_of(output, Recipe(), format_, option="--to")  # before the file is read
    if as_json and output == _STDOUT:
        raise TokentuiError(
            "the file and the report cannot both go to standard output", "--json", "name a file"
        )
    tokenizer = load(source, split)
    if not quiet:
        for note in tokenizer.notes:
            complain(note)
    if output is None:
        chosen = [format_of("", tokenizer.recipe, format_)] if format_ else list(WRITTEN.values())
        spec = Spec(tokenizer)
        for report in [look(spec, one) for one in chosen]:
            _print(report, as_json, written=False)
        return DONE
    with working(quiet) as shown_bar:
        if output == _STDOUT:
            return _to_stdout(tokenizer, format_)
        for target in targets(output, format_of(output, tokenizer.recipe, format_)):
            check_target(target)
        try:
            with shown_bar.of("checking"):
                report = export(tokenizer, output, format_)
        except Refused as error:
            shown_bar.close()
            complain(str(error))
            return DIFFERS
    _print(report, as_json)
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


def _print(report: ExportReport, as_json: bool, written: bool = True) -> None:
    if as_json:
        write_json(asdict(report))
        return
    head = f"{report.format}: {report.about}"
    if report.refused:
        write_text(f"{head}\n  no    {safe_line(report.refused)}")
        return
    told = f", the same on {report.checked:,} texts" if report.checked else ""
    lines = [f"{head}{told}" if written else head]
    for loss in report.losses:
        example = f" ({safe_line(loss.example)})" if loss.example else ""
        lines.append(f"  lost  {loss.what}: {loss.consequence}{example}")
    if not report.losses:
        lines.append("  nothing is lost")
    write_text("\n".join(lines))
