"""`tokentui verify`: compare a training run or encodings with another library."""

from __future__ import annotations

import click

from tokentui.analyze.verify import (
    EncodingReport,
    TrainingReport,
    verify_encoding,
    verify_training,
)
from tokentui.analyze.verify.peers import PEERS, peer_of
from tokentui.analyze.verify.pieces import PiecesReport, verify_pieces
from tokentui.analyze.verify.trained import verify_trained
from tokentui.analyze.verify.verify_report import peer_report, pieces_report, trained_report
from tokentui.cli.options import (
    CLASS,
    CORPUS,
    COUNT_HINT,
    NAMED,
    PATH,
    PUBLISHED,
    QUIET,
    READING,
    RECIPE,
    SHAPE_OPTIONS,
    Count,
    SharedOptions,
    json_option,
    options,
)
from tokentui.cli.output import working, write_report
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load
from tokentui.learn.objectives import OBJECTIVES


@click.command(
    epilog="""\b
Examples:
  tokentui verify novel.txt -r gpt2 --against tokenizers --merges 2000
  tokentui verify sample:english --as lines -r subword-nmt --against subword-nmt
  tokentui verify novel.txt -r minbpe --against rustbpe --json
  tokentui verify novel.txt --as lines -r t5 --against sentencepiece --vocab-size 2000
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
                 help="Compare the encodings of this file; without --against, compare its merges with a "
                 "training run."),
    CLASS,
    click.option("--against", metavar="PEER", help=f"The other library: {', '.join(PEERS)}."),
    click.option("--merges", metavar="N", type=Count(min=1),
                 help="Compare at most N steps [default: all]."),
    click.option("--vocab-size", metavar="N", type=Count(min=1),
                 help=f"Compare the steps up to N ids, special tokens included{COUNT_HINT}"),
    *READING,
    json_option("Print one JSON object."),
    QUIET,
)
def command(shared: SharedOptions, tokenizer: str | None, against: str | None) -> int:
    """Train on CORPUS here and with another library, and print the first step that differs, with the
    candidate pairs on each side. With -t, encode CORPUS with a file here and with the other library, and
    print the first text that differs, shortened as far as possible, and the stage at which the two diverge. A
    text with special tokens is compared as plain text, and with the special tokens recognized.

    Of a unigram model the pieces are compared, as sets, and the score of each: scores that differ by at most
    0.0002 are the same.

    With -t but without --against, train on CORPUS with -r, or with the recipe of the file, and print how many
    of its merges agree, the first that differs with both counts, and which single-axis change would make more
    merges agree: each value of normalize, split and tie is tried, and some values of coverage. The minimum
    count is not tried, because it only ends a run.

    The library must be installed. It runs in a separate process. The exit code is 1 if something differs.
    """
    shared.require_corpus()
    if against is None and tokenizer is not None:
        return _trained(shared, tokenizer)
    if against is None:
        raise TokentuiError("--against is missing", shared.command, f"one of: {', '.join(PEERS)}")
    if (shared.recipe is None) == (tokenizer is None):
        what = "use either -r (to train) or -t (to encode)"
        raise TokentuiError(what, shared.command, "for example -r gpt2 or -t FILE")
    if tokenizer is not None and (sizes := {"merges", "vocab_size"} & shared.run_values.keys()):
        what = f"--{min(sizes).replace('_', '-')} is for a training, not for a file"
        raise TokentuiError(what, shared.command, "leave it out")
    peer = peer_of(against)
    report: EncodingReport | TrainingReport | PiecesReport
    with working(shared.quiet) as bar:
        if tokenizer is not None:
            shared.refuse_training_options()
            ours = load(tokenizer, shared.split_for_file(), class_name=shared.class_name)
            corpus = shared.read_corpus(bar)
            texts = corpus.documents or [word for word, _ in corpus.counts or ()]
            with bar.phase("encoding"):
                report = verify_encoding(ours, tokenizer, peer, texts)
        else:
            recipe, run = shared.recipe_and_run(shared.recipe or "")
            corpus = shared.read_corpus(bar)
            with bar.phase("training"):
                scored = OBJECTIVES.of(recipe.objective).scored
                report = (verify_pieces if scored else verify_training)(corpus, recipe, peer, run)
    told = pieces_report(report) if isinstance(report, PiecesReport) else peer_report(report)
    write_report(shared.as_json, told)
    return 0 if report.difference is None else 1


def _trained(shared: SharedOptions, path: str) -> int:
    """Compare the merges of a file with a training run, and print the report. Return the exit code."""
    trains = shared.recipe is not None
    tokenizer = load(path, otherwise="" if trains else shared.split_for_file())
    recipe = shared.recipe_and_run(shared.recipe or "")[0] if trains else shared.with_axes(tokenizer.recipe)
    most, size = (shared.run_values.get(name) for name in ("merges", "vocab_size"))
    to_size = None if size is None else max(0, size - (tokenizer.vocab_size - tokenizer.merges))
    merges = min((count for count in (most, to_size) if count is not None), default=None)
    with working(shared.quiet) as bar:
        corpus = shared.read_corpus(bar)
        with bar.phase("training"):
            report = verify_trained(tokenizer, corpus, recipe, merges)
    write_report(shared.as_json, trained_report(report))
    return 0 if report.difference is None else 1

