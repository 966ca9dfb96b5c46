"""`tokentui verify`: the same by another library, and the first thing that differs."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tokentui.analyze.verify import PEERS, Encoded, EncodingReport, peer_of, verify_encoding
from tokentui.analyze.verify.training import TrainingReport, verify_training
from tokentui.cli.options import (
    CORPUS,
    PUBLISHED,
    QUIET,
    READING,
    RECIPE,
    SHAPE_OPTIONS,
    Given,
    json_option,
    options,
)
from tokentui.cli.output import Json, as_json, as_row, fact, ids_line, merged, shown, working, write_answer
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.core.table import Table
from tokentui.formats.files import load


@click.command(
    epilog="""\b
Examples:
  tokentui verify novel.txt -r gpt2 --against tokenizers --merges 2000
  tokentui verify sample:english --as lines -r subword-nmt --against subword-nmt
  tokentui verify novel.txt -r minbpe --against rustbpe --json
  tokentui verify novel.txt -t tokenizer.json --against tokenizers
  tokentui verify novel.txt -t cl100k_base.tiktoken --against tiktoken""",
)
@options(
    CORPUS,
    *RECIPE,
    PUBLISHED,
    *SHAPE_OPTIONS,
    click.option("-t", "--tokenizer", metavar="TOKENIZER", type=click.Path(),
                 help="Encode CORPUS by this file; nothing is trained."),
    click.option("--against", metavar="PEER", help=f"The other library: {', '.join(PEERS)}."),
    click.option("--merges", metavar="N", type=click.IntRange(min=1),
                 help="Compare N steps at most [default: all]."),
    *READING,
    json_option("Print one JSON object."),
    QUIET,
)
def command(given: Given, tokenizer: str | None, against: str | None) -> int:
    """Train on CORPUS here and by another library, and print the first step that differs with what either had
    to choose from. With -t: encode CORPUS by a file here and by its owner's library, and print the first text
    that differs, made as short as it can be, and the stage where the two part. A text with special tokens is
    compared as plain text, and with these found in it.

    The library has to be installed. It runs in a process of its own. The exit code is 1 where something
    differs.
    """
    given.needs_corpus()
    if against is None:
        raise TokentuiError("--against is missing", given.where, f"one of: {', '.join(PEERS)}")
    if (given.recipe is None) == (tokenizer is None):
        what = "-r trains and -t encodes: one of them belongs here"
        raise TokentuiError(what, given.where, "such as -r gpt2 or -t FILE")
    if tokenizer is not None and given.run["merges"] is not None:
        what = "--merges is for a training, not for a file"
        raise TokentuiError(what, given.where, "leave it out")
    peer = peer_of(against)
    report: EncodingReport | TrainingReport
    with working(given.quiet) as bar:
        if tokenizer is not None:
            given.refuse_training()
            ours, corpus = load(tokenizer, given.split()), given.corpus(bar)
            texts = corpus.documents if corpus.counts is None else [word for word, _ in corpus.counts]
            with bar.of("encoding"):
                report = verify_encoding(ours, tokenizer, peer, texts)
            row, tables = _encoding_row(report), _encoding_tables(report)
        else:
            recipe, run = given.wanted(given.recipe or "")
            corpus = given.corpus(bar)
            with bar.of("training"):
                report = verify_training(corpus, recipe, peer, run)
            row, tables = _training_row(report), _training_tables(report)
    write_answer(given.as_json, row, tables)
    return 0 if report.difference is None else 1


def _training_tables(report: TrainingReport) -> Iterator[Table]:
    yield fact("against", f"{report.peer} {report.version}")
    found = report.difference
    if found is None:
        yield fact("alike", f"all {report.steps:,} steps; ended by: {report.end}")
        return
    yield fact("alike", f"{report.steps:,} steps")
    yield fact("differs", f"step {found.step:,}")
    yield fact("ours", merged(found.ours) if found.ours else f"no step: {found.ours_end}")
    theirs = found.theirs
    if theirs is None:
        yield fact("theirs", "no step: it has ended")
    else:
        place = "not among ours" if theirs.place is None else f"number {theirs.place} of ours"
        pair = merged(theirs.pair) if theirs.pair else shown(theirs.token)
        yield fact("theirs", f"{pair}, which stands {theirs.count:,} times by a recount, {place}")
    if found.candidates:
        tied = f", {found.tied} of them tied: tie={found.tie_rule}" if found.tied > 1 else ""
        rows = []
        for n, one in enumerate(found.candidates, 1):
            mark = "  ← theirs" if theirs is not None and one.parts == theirs.pair else ""
            rows.append((f"{n:>3}  {one.worth:>12,}  {merged(one.parts)}{mark}",))
        yield fact("candidates", f"ours, best first{tied}", rows)


def _encoding_tables(report: EncodingReport) -> Iterator[Table]:
    yield fact("against", f"{report.peer} {report.version}")
    yield fact("alike", f"{report.texts:,} texts, {report.tokens:,} tokens")
    found = report.difference
    if found is None:
        return
    yield fact("differs", f"text {found.number:,}; the shortest part of it that was found:")
    yield fact("text", shown(found.text))
    yield fact("stage", found.stage)
    for name, one in (("ours", found.ours), ("theirs", found.theirs)):
        yield fact(name, f"refused: {safe_line(one.refused)}" if one.refused else "")
        if one.normalized is not None:
            yield fact("  normalised", shown(one.normalized))
        if one.words is not None:
            yield fact("  pre-tokens", " | ".join(map(shown, one.words)))
        if not one.refused:
            yield fact("  tokens", " | ".join(map(shown, one.tokens)))
            yield fact("  ids", ids_line(one.ids))


def _training_row(report: TrainingReport) -> Json:
    """A report as JSON; pairs are in hex."""
    found, differs = report.difference, None
    if found is not None:
        theirs = found.theirs
        differs = {
            "step": found.step,
            "ours": {"hex": as_json(found.ours)} if found.ours else None,
            "ours_end": found.ours_end or None,
            "candidates": [
                {"hex": as_json(one.parts), "text": one.token.decode("utf-8", "replace"), "count": one.worth}
                for one in found.candidates
            ],
            "tied": found.tied,
            "tie": found.tie_rule,
            "theirs": None if theirs is None else {
                "hex": as_json(theirs.pair) or None, **as_row(theirs, "token", "count", "place"),
            },
        }
    alike = {"peer": report.peer, "version": report.version, "alike": found is None}
    return alike | {"steps": report.steps, "end": report.end, "differs": differs}


def _encoding_row(report: EncodingReport) -> Json:
    def side(one: Encoded) -> Json:
        return as_row(one) | {"refused": one.refused or None}

    found, differs = report.difference, None
    if found is not None:
        differs = as_row(found, "number", "text", "stage", "specials")
        differs |= {"ours": side(found.ours), "theirs": side(found.theirs)}
    alike = {"peer": report.peer, "version": report.version, "alike": found is None}
    return alike | {"texts": report.texts, "tokens": report.tokens, "differs": differs}
