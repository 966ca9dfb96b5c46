"""`tokentui mixture`: the kinds of text that a tokenizer was trained on, from the order of its merges."""

from __future__ import annotations

from dataclasses import replace

import click

from tokentui.analyze.mixture import DENOMINATORS, MERGES, MixtureSample, mixture, report
from tokentui.cli import output
from tokentui.cli.options import (
    COUNT_HINT,
    QUIET,
    READING,
    SPLIT,
    TOKENIZER,
    Count,
    SharedOptions,
    corpus_option,
    json_option,
    merge_named_sources,
    options,
)
from tokentui.core.errors import TokentuiError

_START = ("sample:parallel", "sample:python")
"""The samples without a --corpus: the same sentences in twelve languages, and code."""


@click.command(
    epilog="""\b
Examples:
  tokentui mixture -t novel.json
  tokentui mixture -t novel.json --corpus en=english.txt --corpus de=german.txt
  tokentui mixture -t tokenizer.json --corpus web=web.txt --corpus code=src/ --merges 300 --json""",
)
@options(
    TOKENIZER,
    corpus_option("--corpus", "sources", multiple=True,
                  about="A sample of one kind of text, as NAME=CORPUS; sample:parallel has twelve languages. "
                  "Can be repeated [default: sample:parallel and sample:python]."),
    click.option("--merges", "steps", metavar="N", type=Count(1), default=MERGES,
                 help=f"The merges to look at{COUNT_HINT} [default: {MERGES:,}]."),
    click.option("--denom", "denominator", metavar="WHAT", type=click.Choice(list(DENOMINATORS)),
                 default=DENOMINATORS[0], help="What the counts of each sample are divided by: "
                 f"{', '.join(DENOMINATORS)} [default: {DENOMINATORS[0]}]."),
    *READING,
    SPLIT,
    json_option("Print one JSON object."),
    QUIET,
)
def command(shared: SharedOptions, tokenizer: str, steps: int, denominator: str) -> int:
    """Infer what a tokenizer was trained on: the share of each kind of text, from the order of its merges.

    A merge was the most frequent pair of the training text, which gives an inequality on the shares for each
    other pair. The slack is what these inequalities lack: 0 if a mixture of the samples has exactly these
    merges. Above 0.1, no mixture of the samples resembles the training text, and the shares mean little. The
    intervals are what the shares may be with 1 % more slack; they are no confidence intervals.

    Needs the extra lp. The result is about the text of the tokenizer, not of a model.
    """
    sources = merge_named_sources(shared.sources) or _START
    opened = shared.load_tokenizer(tokenizer)
    with output.working(shared.quiet) as bar:
        named = replace(shared, sources=sources).read_each_corpus(bar)
        names = [name for name, _ in named]
        if len(set(names)) < len(names):
            hint = "name each with NAME=CORPUS"
            raise TokentuiError("two samples have the same name", shared.command, hint)
        with bar.phase("replaying"):
            samples = [MixtureSample(name, corpus) for name, corpus in named]
            found = mixture(opened, samples, steps, denominator)
    output.write_report(shared.as_json, report(found))
    return 0
