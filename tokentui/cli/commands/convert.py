"""`tokentui convert`: convert a tokenizer between file formats, and report losses."""

from __future__ import annotations

import os
from collections.abc import Collection

import click

from tokentui.analyze.export import report as losses
from tokentui.cli import output as out
from tokentui.cli.options import (
    CLASS,
    PATH,
    QUIET,
    SPLIT_OR_ENCODE,
    SharedOptions,
    format_option,
    json_option,
    options,
)
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import OWN, WRITTEN, Format
from tokentui.formats.files import export, format_of, targets, unwritten, written_format
from tokentui.formats.proof import BLOCKING, ExportReport, check_export, contents
from tokentui.formats.spec import Spec, Unsupported
from tokentui.recipe import Recipe

DONE, DIFFERS = 0, 1
STDOUT = "-"


@click.command(
    epilog="""\b
Examples:
  tokentui convert novel.json novel.tiktoken
  tokentui convert novel.json tokenizer.json --to huggingface
  tokentui convert cl100k_base.tiktoken out.json -s split=cl100k
  tokentui convert tokenizer.json gpt2/ --to gpt2      vocab.json and merges.txt
  tokentui convert nfc.json ranks.tiktoken --accept normalizer
  tokentui convert novel.json                          what each format would lose""",
)
@options(
    click.argument("source", metavar="IN", type=PATH),
    click.argument("output", metavar="[OUT]", type=PATH, required=False),
    format_option("--to", "OUT"),
    click.option("--accept", metavar="LOSS", multiple=True,
                 help="Write in spite of this loss, by its name in the report. These keep a file from being "
                 f"written otherwise: {', '.join(BLOCKING)}. Repeatable."),
    CLASS,
    SPLIT_OR_ENCODE,
    json_option("Print the report as JSON, one object per format."),
    QUIET,
)
def command(
    shared: SharedOptions, source: str, output: str | None, format_: str | None, accept: tuple[str, ...]
) -> int:
    """Convert the tokenizer IN to OUT, and print what the format of OUT cannot store.

    The extension of OUT selects the format; --to overrides it. If OUT is - or ends in .json, the format of IN
    is kept if its files have that extension.

    The result is first read back and tested on many texts and on every token. If it encodes anything
    differently and no printed loss explains it, nothing is written and the exit code is 1; --accept names the
    losses to write it in spite of. Without OUT, the losses of each format are printed and nothing is written.
    For the format gpt2, OUT is a folder, or one of its two files.
    """
    format_of(output or "", Recipe(), format_, option="--to")  # before the file is read
    if shared.as_json and output == STDOUT:
        what = "the file and the report cannot both go to standard output"
        raise TokentuiError(what, "--json", "name a file")
    tokenizer = shared.load_tokenizer(source)
    shared.notice(tokenizer.notes)
    like = written_format(source)
    a_name_of_theirs = os.path.basename(output or "").lower() == "tokenizer.json"
    if format_ is None and a_name_of_theirs and like is not WRITTEN["huggingface"]:
        hint = "--to huggingface, or --to tokentui for tokentui's own format"
        raise TokentuiError("this is the name of Hugging Face's format", output or "", hint)
    if output is None:
        if accept:
            raise TokentuiError("this is for writing a file", f"--accept {accept[0]}", "name OUT")
        chosen, spec = [WRITTEN[format_]] if format_ else WRITTEN.values(), Spec(tokenizer)
        for report in [check_export(spec, candidate) for candidate in chosen]:
            out.write_report(shared.as_json, losses(report))
        return DONE
    format = format_of(output, tokenizer.recipe, format_, option="--to", like=like)
    check_output(output, format)
    try:
        with out.working(shared.quiet) as bar, bar.phase("checking"):
            report = write_tokenizer(tokenizer, output, format, accept)
    except Unsupported as error:
        out.complain(str(error))
        return DIFFERS
    if output != STDOUT:
        out.write_report(shared.as_json, losses(report))
        return DONE
    for loss in report.losses:
        out.complain(f"lost: {loss.what}: {loss.consequence}")
    return DONE


def check_output(output: str, format: Format) -> None:
    """Raise before the work if the output cannot be written.

    Raises:
        TokentuiError: It is standard output for several files, or a file cannot be written.
    """
    if output == STDOUT and len(format.files) > 1:
        raise TokentuiError(f"{format.name} has two files", STDOUT, "name a folder that exists")
    for target in targets(output, format) if output != STDOUT else ():
        out.check_target(target)


def write_tokenizer(
    tokenizer: Tokenizer, output: str, format: Format, accept: Collection[str] = ()
) -> ExportReport:
    """Write a tokenizer to a file or to standard output. Return the report on losses.

    Raises:
        TokentuiError: A name in `accept` is no loss of this export.
        Unsupported: The format cannot hold the tokenizer.
    """
    if output != STDOUT:
        return export(tokenizer, output, format.name, accept)
    report, files = contents(tokenizer, format, accept)
    if report.refused:
        raise unwritten(report)
    if format is OWN:
        out.write_document(files[0].decode())
    else:
        out.write_file(files[0])
    return report
