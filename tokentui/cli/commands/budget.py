"""`tokentui budget`: the cost of a corpus at sizes of a vocabulary, and the answer of `inspect --budget`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import click

from tokentui.analyze.budget import (
    Budget,
    BudgetTarget,
    Costs,
    budget,
    default_sizes,
    read_sizes,
    report,
    size_csv,
    size_report,
)
from tokentui.cli import output
from tokentui.cli.options import (
    CORPUS,
    COUNT_HINT,
    EXACT,
    PATH,
    QUIET,
    READING,
    SPLIT_OR_ENCODE,
    TOKENIZER,
    Count,
    SharedOptions,
    json_option,
    options,
)
from tokentui.core.errors import TokentuiError
from tokentui.core.files import write_together
from tokentui.encode.tokenizer import Tokenizer
from tokentui.text.corpus import Corpus


@click.command(
    epilog="""\b
Examples:
  tokentui budget -t novel.json novel.txt
  tokentui budget -t novel.json novel.txt --sizes 8k,16k,32k --embedding-dim 768
  tokentui budget -t novel.json novel.txt --sizes 1k,2k,4k --bound
  tokentui budget -t novel.json novel.txt --training-bytes 2000M --price 0.5
  tokentui budget -t novel.json en.txt de.txt --context 8192 --csv sizes.csv
  tokentui budget -t novel.json novel.txt --target 0.4 --exact --json""",
)
@options(
    CORPUS,
    TOKENIZER,
    SPLIT_OR_ENCODE,
    click.option("--sizes", metavar="N,N...", help="The vocabulary sizes, such as 8k,16k,32k "
                 "[default: powers of two]."),
    click.option("--embedding-dim", "dimensions", metavar="N", type=Count(1),
                 help="Print the number of embedding parameters for this dimension, for example 768"),
    click.option("--untied", is_flag=True,
                 help="With --embedding-dim: count a separate matrix for the output layer."),
    click.option("--training-bytes", metavar="N", type=Count(1),
                 help=f"Print the number of tokens of a training text of N bytes{COUNT_HINT}"),
    click.option("--context", metavar="N", type=Count(1),
                 help=f"Print the bytes of text that fit in a context window of N tokens{COUNT_HINT}"),
    click.option("--price", metavar="P", type=float, help="The price of a million tokens: print the cost of "
                 "the training text, or of CORPUS without --training-bytes."),
    click.option("--target", metavar="TARGET", help="Find the size with this many tokens per byte (0.4), "
                 "or the cheapest size for DIMENSION:PRICE (768:0.001), where PRICE is how many tokens one "
                 "embedding parameter costs."),
    click.option("--bound", "bounded", is_flag=True, help="Also prove for each size how few tokens any "
                 "vocabulary of this size has, and how much it could save at most."),
    *READING,
    click.option("--csv", "csv_file", metavar="FILE", type=PATH,
                 help="Write one row per corpus and size to FILE; - replaces the tables."),
    json_option("Print one JSON object."),
    EXACT,
    QUIET,
)
def command(
    shared: SharedOptions, tokenizer: str, sizes: str | None, dimensions: int | None, untied: bool,
    training_bytes: int | None, context: int | None, price: float | None, target: str | None,
    bounded: bool, csv_file: str | None, exact: bool,
) -> int:
    """Show how many tokens each CORPUS needs at several vocabulary sizes, and what they cost.

    The steps of the tokenizer are replayed, so one training run covers all smaller sizes. The figures
    for a training text, a context window and a price assume text like CORPUS. Measure on text that the
    tokenizer was not trained on.
    """
    if price is not None and not (math.isfinite(price) and price > 0):
        raise TokentuiError("not a price", f"--price {price:g}", "use a number above 0")
    if untied and dimensions is None:
        raise TokentuiError("--untied requires --embedding-dim", shared.command, "name the width")
    if exact and target is None:
        raise TokentuiError("--exact requires --target", shared.command, "name a target")
    if shared.as_json and csv_file == "-":
        raise TokentuiError("--json and --csv - cannot be combined", shared.command, "use one of them")
    if csv_file not in (None, "-"):
        output.check_target(csv_file)
    wanted = None if target is None else BudgetTarget.parse(target)
    named = [] if sizes is None else read_sizes(sizes or ",", "--sizes")
    shared.require_corpus()
    opened = shared.load_tokenizer(tokenizer)
    with output.working(shared.quiet) as bar:
        corpora = [replace(corpus, name=name) for name, corpus in shared.read_each_corpus(bar)]
        shared.notice(_empty_notices(corpora))
        with bar.phase("encoding"):
            curves = budget(opened, corpora, wanted)
        bounds = []
        if bounded:
            from tokentui.analyze.bound import BoundedCorpus  # only here, with its kernels

            with bar.phase("bounding"):
                sizes_in = named or sorted(default_sizes(curves))
                bounds = [BoundedCorpus(opened, corpus).bounds(sizes_in)[0] for corpus in corpora]
    costs = Costs(dimensions, 1 + untied, training_bytes, context, price)
    result = size_report(curves, named, costs, bounds)
    if csv_file is not None:
        rows = size_csv(cast("list[Mapping[str, Any]]", result.value["corpora"]))
        if csv_file == "-":
            output.write(rows)
        else:
            write_together([(csv_file, rows)])
    if csv_file != "-":
        output.write_report(shared.as_json, result)
    return _report_missed(shared, curves, target, exact)


def print_budget(
    shared: SharedOptions, tokenizer: Tokenizer, second: str | None, target: str | None, exact: bool
) -> int:
    """Print the tokens of a corpus, and of a second one, at sizes of a vocabulary. Returns the exit code: 1
    with `exact` if the target is not met."""
    wanted = None if target is None else BudgetTarget.parse(target)
    shared.require_corpus()
    with output.working(shared.quiet) as bar:
        corpora = [shared.read_corpus(bar)]
        if second is not None:
            corpora.append(replace(shared, sources=(second,)).read_corpus(bar))
        shared.notice(_empty_notices(corpora))
        with bar.phase("encoding"):
            curves = budget(tokenizer, corpora, wanted)
    output.write_report(shared.as_json, report(curves))
    return _report_missed(shared, curves, target, exact)


def _empty_notices(corpora: Iterable[Corpus]) -> Iterator[str]:
    """Yield a sentence for each corpus without text."""
    for corpus in corpora:
        if not any(map(len, corpus.parts)):
            yield f"{corpus.name}: no text, so its figures have no meaning"


def _report_missed(shared: SharedOptions, curves: Budget, target: str | None, exact: bool) -> int:
    """Print on which corpora the target is not met. Return the exit code: 1 if there are some and `exact` is
    True."""
    missed = [] if curves.target is None else [curve.corpus for curve in curves.curves if curve.met is None]
    what = f"--target {target}: not met on {' and '.join(missed)}" if missed else ""
    return shared.report_missed(what, exact=exact)
