"""`tokentui verify`: compare a training run or encodings with another library."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tokentui.analyze.verify import (
    EncodingReport,
    TrainingReport,
    verify_encoding,
    verify_training,
)
from tokentui.analyze.verify.environments import Consent, peer_at
from tokentui.analyze.verify.peers import PEERS, Peer
from tokentui.analyze.verify.pieces import PiecesReport, verify_pieces
from tokentui.analyze.verify.trained import verify_trained
from tokentui.analyze.verify.verify_report import peer_report, pieces_report, trained_report
from tokentui.analyze.verify.versions import report as versions_report
from tokentui.analyze.verify.versions import verify_versions
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
from tokentui.cli.output import ProgressBar, is_terminal, working, write_report
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.encode.tokenizer import Tokenizer
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
  tokentui verify novel.txt -t tokenizer.json --against tokenizers==0.21.4 --against tokenizers==1.0.0rc3
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
    click.option("--against", metavar="PEER", multiple=True,
                 help=f"The other library: {', '.join(PEERS)}. PEER==VERSION runs a version in an "
                 "environment of its own. With -t, can be repeated."),
    click.option("--install", is_flag=True,
                 help="Install a version that is not in the cache, without asking."),
    click.option("--merges", metavar="N", type=Count(min=1),
                 help="Compare at most N steps [default: all]."),
    click.option("--vocab-size", metavar="N", type=Count(min=1),
                 help=f"Compare the steps up to N ids, special tokens included{COUNT_HINT}"),
    *READING,
    json_option("Print one JSON object."),
    QUIET,
)
def command(
    shared: SharedOptions, tokenizer: str | None, against: tuple[str, ...], install: bool
) -> int:
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

    The library must be installed. It runs in a separate process. A version, such as tokenizers==0.21.4, is
    installed into the cache after a question, or with --install where nobody can be asked; the environment
    that tokentui runs in never changes. With several --against the first text is printed that any two of them
    or tokentui encode differently. The exit code is 1 if something differs.
    """
    shared.require_corpus()
    if not against and tokenizer is not None:
        return _verify_merges(shared, tokenizer)
    if not against:
        raise TokentuiError("--against is missing", shared.command, f"one of: {', '.join(PEERS)}")
    if (shared.recipe is None) == (tokenizer is None):
        what = "use either -r (to train) or -t (to encode)"
        raise TokentuiError(what, shared.command, "for example -r gpt2 or -t FILE")
    if tokenizer is not None and (sizes := {"merges", "vocab_size"} & shared.run_values.keys()):
        what = f"--{min(sizes).replace('_', '-')} is for a training, not for a file"
        raise TokentuiError(what, shared.command, "leave it out")
    if len(against) > 1 and tokenizer is None:
        raise TokentuiError("several --against need -t", shared.command, "name one of them")
    peers = [peer_at(name, _consent(install)) for name in against]
    peer = peers[0]
    report: EncodingReport | TrainingReport | PiecesReport
    with working(shared.quiet) as bar:
        if tokenizer is not None:
            shared.refuse_training_options()
            ours = load(tokenizer, shared.split_for_file(), class_name=shared.class_name)
            corpus = shared.read_corpus(bar)
            texts = corpus.documents or [word for word, _ in corpus.counts or ()]
            if len(peers) > 1:
                return _verify_versions(shared, ours, tokenizer, peers, texts, bar)
            with bar.phase("encoding"):
                report = verify_encoding(ours, tokenizer, peer, texts)
        else:
            recipe, run = shared.recipe_and_run(shared.recipe or "")
            corpus = shared.read_corpus(bar)
            with bar.phase("training"):
                scored = OBJECTIVES.of(recipe.objective).scored
                report = (verify_pieces if scored else verify_training)(corpus, recipe, peer, run)
    result = pieces_report(report) if isinstance(report, PiecesReport) else peer_report(report)
    write_report(shared.as_json, result)
    return 0 if report.difference is None else 1


def _verify_versions(
    shared: SharedOptions, ours: Tokenizer, path: str, peers: Sequence[Peer], texts: Sequence[str],
    bar: ProgressBar,
) -> int:
    """Compare several versions with a file, and print the report. Return the exit code: 1 if a text
    differs."""
    with bar.phase("encoding"):
        found = verify_versions(ours, path, peers, texts)
    bar.close()
    write_report(shared.as_json, versions_report(found))
    return 0 if found.number is None else 1


def _consent(install: bool) -> Consent:
    """Return a function that asks on the terminal whether a package may be installed. Without a terminal it
    returns `install`, without a question."""

    def asked(package: str, folder: str) -> bool:
        if install or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            return install
        question = f"Install {package} into {folder}? Your own environment stays as it is."
        return click.confirm(safe_line(question), default=False, err=True)

    return asked


def _verify_merges(shared: SharedOptions, path: str) -> int:
    """Compare the merges of a file with a training run, and print the report. Without `-r` the recipe of the
    file is trained. Return the exit code: 1 if a merge differs."""
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

