"""`tokentui inspect`: facts and a health report of a tokenizer, of a token, of any string.

In tables the texts of a corpus come last in a line, so that they move no other cell. In rows `text` is for
people and `hex` the exact form.
"""

from __future__ import annotations

from dataclasses import replace

import click
from click.shell_completion import CompletionItem

from tokentui.analyze.analyses import ANALYSES, Analysis
from tokentui.analyze.health import CHECKS, FAIL, WARN, Check, examine, worst
from tokentui.analyze.health.folder import FOLDER_CHECKS, FolderCheck, examine_folder, with_folder
from tokentui.analyze.health.health_report import report as report_on
from tokentui.analyze.inspect import find_tokens, string_facts, string_report, token_facts
from tokentui.analyze.metrics import MeasureRow, rows_of, tally
from tokentui.analyze.token_table import check_table_name, table_bytes, token_rows
from tokentui.analyze.token_table import report as table_report
from tokentui.analyze.unicode_report import with_unicode
from tokentui.analyze.vocabulary import usage, vocabulary_report
from tokentui.cli import output
from tokentui.cli.commands.budget import print_budget
from tokentui.cli.main import completions
from tokentui.cli.options import (
    COLOR,
    EXACT,
    PATH,
    QUIET,
    READING,
    SPLIT_OR_ENCODE,
    TOKENIZER,
    SharedOptions,
    corpus_option,
    json_option,
    merge_named_sources,
    options,
    text_argument,
)
from tokentui.core import jobs
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.files import write_whole
from tokentui.encode.pretokens import Pretokens
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.folder import model_folder

_CHECKS: tuple[Check | FolderCheck, ...] = (*CHECKS, *FOLDER_CHECKS)


def _complete_check(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return completions({check.name: check.title for check in _CHECKS}, incomplete)


@click.command(
    epilog="""\b
Examples:
  tokentui inspect -t novel.json
  tokentui inspect -t novel.json --corpus novel.txt --exhaust
  tokentui inspect -t novel.json ' crowd'
  tokentui inspect -t novel.json --id 300 --json
  tokentui inspect -t tokenizer.json --strict
  tokentui inspect -t tokenizer.json --strict --ignore spaces --ignore controls
  tokentui inspect -t tokenizer.json --glitch novel.txt
  tokentui inspect -t tokenizer.json --glitch --weights model.safetensors
  tokentui inspect -t hf:OWNER/NAME --glitch --weights hf:OWNER/NAME
  tokentui inspect -t novel.json --worst-words novel.txt
  tokentui inspect -t novel.json --budget novel.txt --second second.txt --target 0.4
  tokentui inspect -t novel.json --budget novel.txt --target 768:0.001
  tokentui inspect -t novel.json --table novel.tsv
  tokentui inspect -t cl100k_base.tiktoken -s split=cl100k
  tokentui inspect -t novel.json -- --crowd""",
)
@options(
    click.argument("string", metavar="[STRING]", nargs=-1),
    TOKENIZER,
    SPLIT_OR_ENCODE,
    click.option("--id", "number", metavar="ID", type=int,
                 help="Inspect the token with this id instead of STRING."),
    corpus_option("--corpus", "sources", multiple=True,
                  about="Also report how this corpus uses the vocabulary. NAME=CORPUS names a part of "
                  "it. Can be repeated."),
    *READING,
    click.option("--exhaust", is_flag=True,
                 help="Continue training a copy on the corpus until no pairs remain, and report the result."),
    *(click.option(f"--{analysis.name}", analysis.id, is_flag=True,
                   help=f"{analysis.about}.{' STRING is then a corpus.' * analysis.takes_corpus}")
      for analysis in ANALYSES.values()),
    click.option("--weights", metavar="MODEL", type=PATH,
                 help="With --glitch: a file or folder of safetensors, or hf:OWNER/NAME. Find the tokens "
                 "that the model may not have learned."),
    click.option("--embedding", metavar="TENSOR", help="With --weights: the name of the input matrix."),
    click.option("--head", metavar="TENSOR", help="With --weights: the name of the output matrix."),
    corpus_option("--second", about="With --budget: a second corpus."),
    click.option("--target", metavar="TARGET",
                 help="With --budget: find the size with this many tokens per byte (0.4), or the cheapest "
                 "size for DIMENSION:PRICE (768:0.001), where PRICE is how many tokens one embedding "
                 "parameter costs."),
    click.option("--table", metavar="FILE", type=PATH,
                 help="Write one row per id to FILE (.tsv, .jsonl or .parquet): id, text, hex, bytes (as "
                 "decoded), kind, score, rank, reachable, reason."),
    click.option("--strict", is_flag=True,
                 help="Also exit with code 1 if a health check is WARN."),
    click.option("--ignore", "ignored", metavar="CHECK", multiple=True, shell_complete=_complete_check,
                 help="A health check that does not affect the exit code. Can be repeated."),
    json_option("Print one JSON object."),
    EXACT,
    COLOR,
    QUIET,
)
def command(
    shared: SharedOptions, string: tuple[str, ...], tokenizer: str, number: int | None, exhaust: bool,
    weights: str | None, embedding: str | None, head: str | None, second: str | None, target: str | None,
    table: str | None, strict: bool, ignored: tuple[str, ...],
    exact: bool, **wanted: bool,
) -> int:
    """Inspect a tokenizer, or how it encodes STRING: its token if it is one, each merge or attempt, all
    segmentations, and why it is not one token.

    The checks of the health report are PASS, INFO, WARN or FAIL. INFO applies to nearly every published
    tokenizer. The exit code is 1 if a check is FAIL. With --corpus, the report adds the unused tokens and why
    they are unused, the savings per document, and the measures.

    The JSON object has "tokenizer", "health", "checks", "corpus" and "measures". For a STRING, it has
    "string", "token", "uses", "encoding", "why", "words", "reason", "facts", "decoded" and "lost". Bytes are
    in hex. A number of segmentations above 2**53 is a string.
    """
    shared = replace(shared, sources=merge_named_sources(shared.sources))
    for name in ignored:
        if name not in (known := [check.name for check in _CHECKS]):
            raise TokentuiError("no such check", f"--ignore {name}", nearest(name, known))
    analyses = [name for name, analysis in ANALYSES.items() if wanted[analysis.id]]
    if (second is not None or target is not None) and analyses != ["budget"]:
        raise TokentuiError("--second and --target require --budget", shared.command, "name it")
    if (weights or embedding or head) is not None and (analyses != ["glitch"] or weights is None):
        raise TokentuiError("--weights requires --glitch", shared.command, "name both")
    if exact and target is None:
        raise TokentuiError("--exact requires --budget --target", shared.command, "name a target")
    if table is not None:
        if string or number is not None or shared.sources or any((exhaust, analyses, strict, ignored)):
            what = "--table lists all ids and takes no other options"
            raise TokentuiError(what, shared.command, "leave them out")
        return _write_table(shared, tokenizer, table)
    if analyses:
        if number is not None or exhaust or strict or ignored or len(analyses) > 1:
            out = "leave out --id, --exhaust, --strict, --ignore and the other one"
            raise TokentuiError(f"--{analyses[0]} only takes a corpus", shared.command, out)
        named, opened = replace(shared, sources=(*shared.sources, *string)), shared.load_tokenizer(tokenizer)
        if weights is not None:
            return _print_weights(named, opened, weights, embedding or "", head or "")
        if second is not None or target is not None:
            return print_budget(named, opened, second, target, exact)
        return _print_analysis(named, opened, ANALYSES[analyses[0]])
    whole, out = not string and number is None, "leave one of them out"
    for fault, what, hint in (
        (string and number is not None, "a STRING and --id cannot be combined", "use one of them"),
        (exhaust and not shared.sources, "--exhaust needs a corpus to train on",
         "for example --corpus novel.txt"),
        (exhaust and not whole, "--exhaust is about the whole corpus, not one token", out),
        (bool(ignored) and not whole, "--ignore is for the health report, not for one token", out),
        (strict and not whole, "--strict is for the health report, not for one token", out),
    ):
        if fault:
            raise TokentuiError(what, shared.command, hint)
    tok = shared.load_tokenizer(tokenizer)
    text, report = text_argument(string, shared.command) if string else None, None
    measures: tuple[MeasureRow, ...] | TokentuiError = ()
    facts = None if text is None else string_facts(tok, text)
    if facts is not None and number is None:
        ids = facts.encoding.ids if facts.encoding is not None else ()
        number = next((entry.id for entry in find_tokens(tok, facts.text)), ids[0] if len(ids) == 1 else None)
    token, uses = None if number is None else token_facts(tok, number), None
    with output.working(shared.quiet) as bar:
        if shared.sources and (whole or token is not None):
            corpus = shared.read_corpus(bar)
            with bar.phase("counting"):
                pretokens = Pretokens(tok)
                words, fixed = pretokens.count(corpus)
                shared.notice(pretokens.coverage(corpus, words, fixed).notes)
            if token is None:
                with bar.phase("measuring"):
                    try:
                        measures = rows_of([tally(tok, corpus)])
                    except TokentuiError as error:  # the rest of the report needs no encoding
                        measures = error
            with bar.phase("encoding"):
                if token is None:
                    report = vocabulary_report(tok, corpus, words, exhaust=exhaust)
                else:
                    used = usage(tok, words)
                    unused = next((entry for entry in used.unused if entry.id == token.id), None)
                    uses = used.uses.get(token.id, 0), unused
        if whole:
            with bar.phase("inspecting"):
                health = examine(tok)
                folder = model_folder(tokenizer, shared.class_name)
                if folder is not None:
                    health = replace(health, checks=(*health.checks, *examine_folder(folder, tok)))
        jobs.check()
    if not whole:
        output.write_report(shared.as_json, string_report(facts, token, uses), shared.marks)
        return 0
    documents = corpus.parts if shared.sources else ()
    result = with_unicode(report_on(tok, health, report, measures), tok, documents)
    output.write_report(shared.as_json, result if folder is None else with_folder(result, folder))
    status = worst(check for check in health.checks if check.name not in ignored)
    return 1 if status == FAIL or (strict and status == WARN) else 0


def _write_table(shared: SharedOptions, tokenizer: str, path: str) -> int:
    """Write a row for each id to a file, and print a report. Returns the exit code.

    Raises:
        TokentuiError: The name has no suffix of a table, or the file cannot be written.
    """
    check_table_name(path)
    output.check_target(path)
    tok = shared.load_tokenizer(tokenizer)
    with output.working(shared.quiet) as bar, bar.phase("looking at tokens"):
        rows = list(token_rows(tok))
    write_whole(path, table_bytes(path, rows))
    output.write_report(shared.as_json, table_report(path, rows))
    return 0


def _print_analysis(shared: SharedOptions, tokenizer: Tokenizer, analysis: Analysis) -> int:
    """Print the report of an analysis, on a corpus if one is named. Return the exit code, which is 0.

    Raises:
        TokentuiError: It needs a corpus and none is named, or the corpus is refused.
    """
    if analysis.needs_corpus:
        shared.require_corpus()
    with output.working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar) if shared.sources else None
        with bar.phase("looking at tokens"):
            report = analysis.report(tokenizer, corpus)
    output.write_report(shared.as_json, report)
    return 0


def _print_weights(
    shared: SharedOptions, tokenizer: Tokenizer, path: str, embedding: str, head: str
) -> int:
    """Print the tokens that a model may not have learned. Returns the exit code.

    A notice says how many bytes are read from a remote model.
    """
    from tokentui.analyze.under_trained import report, under_trained  # only where weights are named
    from tokentui.formats.weights import open_model

    ids = max((entry.id for entry in tokenizer.entries()), default=-1) + 1
    with output.working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar) if shared.sources else None
        model = open_model(path, ids, embedding, head)
        if model.place.is_remote:
            bar.close()
            shared.notice([f"{path}: reads {model.size:,} bytes of its matrices"])
        with bar.phase("reading weights"):
            found = under_trained(tokenizer, model, corpus)
    output.write_report(shared.as_json, report(found))
    return 0
