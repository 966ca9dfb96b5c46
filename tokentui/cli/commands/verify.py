"""`tokentui verify`: the same by another library, and the first thing that differs."""

from __future__ import annotations

import click

from tokentui.analyze.verify import (
    EncodingReport,
    TrainingReport,
    verify_encoding,
    verify_training,
)
from tokentui.analyze.verify.peers import PEERS, peer_of
from tokentui.analyze.verify.reports import peer_report, trained_report
from tokentui.analyze.verify.trained import verify_trained
from tokentui.cli.options import (
    CORPUS,
    LETTERS,
    NAMED,
    PATH,
    PUBLISHED,
    QUIET,
    READING,
    RECIPE,
    SHAPE_OPTIONS,
    Count,
    Given,
    json_option,
    options,
)
from tokentui.cli.output import working, write_report
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load


@click.command(
    epilog="""\b
Examples:
  tokentui verify novel.txt -r gpt2 --against tokenizers --merges 2000
  tokentui verify sample:english --as lines -r subword-nmt --against subword-nmt
  tokentui verify novel.txt -r minbpe --against rustbpe --json
  tokentui verify novel.txt -t tokenizer.json --against tokenizers
  tokentui verify novel.txt -t model --against transformers
  tokentui verify novel.txt -t model.gguf --against llama.cpp
  tokentui verify novel.txt -t cl100k_base.tiktoken -s split=cl100k --against tiktoken
  tokentui verify novel.txt -t novel.json -r gpt2""",
)
@options(
    CORPUS,
    *NAMED,
    *RECIPE,
    PUBLISHED,
    *SHAPE_OPTIONS,
    click.option("-t", "--tokenizer", metavar="TOKENIZER", type=PATH,
                 help="Compare encodings by this file; without --against, compare its merges with a run."),
    click.option("--against", metavar="PEER", help=f"The other library: {', '.join(PEERS)}."),
    click.option("--merges", metavar="N", type=Count(min=1),
                 help="Compare at most N steps [default: all]."),
    click.option("--vocab-size", metavar="N", type=Count(min=1),
                 help=f"Compare the steps up to N ids, special tokens included{LETTERS}"),
    *READING,
    json_option("Print one JSON object."),
    QUIET,
)
def command(given: Given, tokenizer: str | None, against: str | None) -> int:
    """Train on CORPUS here and with another library, and print the first step that differs, with the
    candidates of both. With -t, encode CORPUS with a file here and with the other library, and print the
    first text that differs, shortened as far as possible, and the stage at which the two diverge. A text with
    special tokens is compared as plain text, and with the special tokens recognized.

    With -t but without --against, train on CORPUS with -r, or with the recipe of the file, and print how many
    of its merges agree, the first that differs with both counts, and which change of one axis would give
    more: each value of normalize, split and tie is tried, and some values of coverage. The minimum count is
    not tried, because it only ends a run.

    The library must be installed. It runs in a process of its own. The exit code is 1 if something differs.
    """
    given.needs_corpus()
    if against is None and tokenizer is not None:
        return _trained(given, tokenizer)
    if against is None:
        raise TokentuiError("--against is missing", given.where, f"one of: {', '.join(PEERS)}")
    if (given.recipe is None) == (tokenizer is None):
        what = "-r trains and -t encodes: one of them belongs here"
        raise TokentuiError(what, given.where, "such as -r gpt2 or -t FILE")
    if tokenizer is not None and (sizes := {"merges", "vocab_size"} & given.run.keys()):
        what = f"--{min(sizes).replace('_', '-')} is for a training, not for a file"
        raise TokentuiError(what, given.where, "leave it out")
    peer = peer_of(against)
    report: EncodingReport | TrainingReport
    with working(given.quiet) as bar:
        if tokenizer is not None:
            given.refuse_training()
            ours, corpus = load(tokenizer, given.split()), given.corpus(bar)
            texts = corpus.documents or [word for word, _ in corpus.counts or ()]
            with bar.phase("encoding"):
                report = verify_encoding(ours, tokenizer, peer, texts)
        else:
            recipe, run = given.wanted(given.recipe or "")
            corpus = given.corpus(bar)
            with bar.phase("training"):
                report = verify_training(corpus, recipe, peer, run)
    write_report(given.as_json, peer_report(report))
    return 0 if report.difference is None else 1


def _trained(given: Given, path: str) -> int:
    """Compare the merges of a file with a training, and print it. Returns the exit code."""
    trains = given.recipe is not None
    tokenizer = load(path, otherwise="" if trains else given.split())
    recipe = given.wanted(given.recipe or "")[0] if trains else given.changed(tokenizer.recipe)
    most, size = (given.run.get(name) for name in ("merges", "vocab_size"))
    to_size = None if size is None else max(0, size - (tokenizer.vocab_size - tokenizer.merges))
    merges = min((count for count in (most, to_size) if count is not None), default=None)
    with working(given.quiet) as bar:
        corpus = given.corpus(bar)
        with bar.phase("training"):
            report = verify_trained(tokenizer, corpus, recipe, merges)
    write_report(given.as_json, trained_report(report))
    return 0 if report.difference is None else 1

