"""`tokentui verify`: the same by another library, and the first thing that differs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from tokentui.analyze.report import Json, as_json, as_row
from tokentui.analyze.verify import (
    EncodingReport,
    StepDifference,
    TextDifference,
    TrainingReport,
    verify_encoding,
    verify_training,
)
from tokentui.analyze.verify.peers import PEERS, peer_of
from tokentui.analyze.verify.trained import TrainedReport, verify_trained
from tokentui.axes import label
from tokentui.cli.options import (
    CORPUS,
    LETTERS,
    NAMED,
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
from tokentui.cli.output import fact, merged, shown, working, write_answer
from tokentui.cli.texts import ids_line
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.core.table import Table, plural
from tokentui.formats.files import load


@click.command(
    epilog="""\b
Examples:
  tokentui verify novel.txt -r gpt2 --against tokenizers --merges 2000
  tokentui verify sample:english --as lines -r subword-nmt --against subword-nmt
  tokentui verify novel.txt -r minbpe --against rustbpe --json
  tokentui verify novel.txt -t tokenizer.json --against tokenizers
  tokentui verify novel.txt -t cl100k_base.tiktoken -s split=cl100k --against tiktoken
  tokentui verify novel.txt -t novel.json -r gpt2""",
)
@options(
    CORPUS,
    *NAMED,
    *RECIPE,
    PUBLISHED,
    *SHAPE_OPTIONS,
    click.option("-t", "--tokenizer", metavar="TOKENIZER", type=click.Path(),
                 help="Encode CORPUS by this file; without --against, compare its merges with a training."),
    click.option("--against", metavar="PEER", help=f"The other library: {', '.join(PEERS)}."),
    click.option("--merges", metavar="N", type=Count(min=1),
                 help="Compare N steps at most [default: all]."),
    click.option("--vocab-size", metavar="N", type=Count(min=1),
                 help=f"Compare the steps up to N ids, specials counted{LETTERS}"),
    *READING,
    json_option("Print one JSON object."),
    QUIET,
)
def command(given: Given, tokenizer: str | None, against: str | None) -> int:
    """Train on CORPUS here and by another library, and print the first step that differs with what either had
    to choose from. With -t: encode CORPUS by a file here and by its owner's library, and print the first text
    that differs, made as short as it can be, and the stage where the two part. A text with special tokens is
    compared as plain text, and with these found in it.

    With -t and without --against: train on CORPUS by -r, or by the recipe of the file, and print how many of
    its merges come so, the first that does not with both counts, and which axis changed alone would give
    more: each value of normalize, split and tie, and some coverages. A least count only ends a training.

    The library has to be installed. It runs in a process of its own. The exit code is 1 where something
    differs.
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
            with bar.of("encoding"):
                report = verify_encoding(ours, tokenizer, peer, texts)
        else:
            recipe, run = given.wanted(given.recipe or "")
            corpus = given.corpus(bar)
            with bar.of("training"):
                report = verify_training(corpus, recipe, peer, run)
    write_answer(given.as_json, lambda: _row(report), _tables(report))
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
        with bar.of("training"):
            report = verify_trained(tokenizer, corpus, recipe, merges)
    write_answer(given.as_json, lambda: _trained_row(report), _trained_tables(report))
    return 0 if report.difference is None else 1


def _trained_tables(report: TrainedReport) -> Iterator[Table]:
    yield fact("recipe", safe_line(label(report.recipe)))
    yield fact("alike", f"{report.alike:,} of {plural(report.merges, 'merge')}")
    found = report.difference
    if found is None:
        following = "no pair is left" if report.next_count is None else (
            f"training goes on with a pair that stands {plural(report.next_count, 'time')}"
        )
        yield fact("ends", f"the file ends there; {following}")
        return
    yield fact("differs", f"merge {found.step:,}")
    assert found.theirs is not None
    pair = merged(found.theirs.pieces) if found.theirs.pieces else shown(found.theirs.token)
    yield fact("file", f"{pair}, which stands {plural(found.theirs.count, 'time')} here")
    taken = next((one for one in found.candidates if one.parts == found.ours), None)
    times = "" if taken is None else f", which stands {plural(taken.places, 'time')}"
    tied = f", {found.tied} tied: tie={found.tie}" if found.tied > 1 else ""
    ended = f"has ended: {found.ours_end}"
    yield fact("training", merged(found.ours) + times + tied if found.ours else ended)
    rows = [(f"{one.axis}={shown(one.value)}", f"{one.alike:,} alike") for one in report.changes]
    none = f"none of {plural(report.tried, 'change')} of one axis gives more"
    yield replace(fact("would", "one axis changed alone gives more" if rows else none, rows), right=())


def _trained_row(report: TrainedReport) -> Json:
    found, told = report.difference, ("merges", "alike", "next_count", "changes", "tried")
    differs: Json | None = None
    if found is not None and found.theirs is not None:
        taken = next((one.places for one in found.candidates if one.parts == found.ours), None)
        theirs = found.theirs
        differs = {
            "step": found.step,
            "file": {"hex": as_json(theirs.pieces), "token": theirs.token.hex(), "count": theirs.count},
            "training": {"hex": as_json(found.ours), "count": taken} if found.ours else None,
            **as_row(found, "ours_end", "tied", "tie"),
        }
    recipe = report.recipe.to_dict() | report.recipe.shape
    return {"recipe": recipe, **as_row(report, *told), "differs": differs}


def _tables(report: EncodingReport | TrainingReport) -> Iterator[Table]:
    yield fact("against", f"{report.peer.name} {report.peer.version}")
    if isinstance(report, EncodingReport):
        yield fact("alike", f"{plural(report.texts, 'text')}, {plural(report.tokens, 'token')}")
    elif report.difference is None:
        whole = "all " * (report.steps != 1)
        yield fact("alike", f"{whole}{plural(report.steps, 'step')}; ended by: {report.end}")
    else:
        yield fact("alike", plural(report.steps, "step"))
    if isinstance(report.difference, StepDifference):
        yield from _step_tables(report.difference)
    elif report.difference is not None:
        yield from _text_tables(report.difference)


def _step_tables(found: StepDifference) -> Iterator[Table]:
    yield fact("differs", f"step {found.step:,}")
    yield fact("ours", merged(found.ours) if found.ours else f"no step: {found.ours_end}")
    theirs = found.theirs
    if theirs is None:
        yield fact("theirs", "no step: it has ended")
    else:
        place = "not among ours" if theirs.place is None else f"number {theirs.place} of ours"
        pair = merged(theirs.pieces) if theirs.pieces else shown(theirs.token)
        yield fact("theirs", f"{pair}, which stands {plural(theirs.count, 'time')} by a recount, {place}")
    if found.candidates:
        tied = f", {found.tied} of them tied: tie={found.tie}" if found.tied > 1 else ""
        rows = []
        for n, one in enumerate(found.candidates, 1):
            mark = "  ← theirs" if theirs is not None and one.parts == theirs.pieces else ""
            rows.append((f"{n:>3}  {one.worth:>12,}  {merged(one.parts)}{mark}",))
        yield fact("candidates", f"ours, best first{tied}", rows)


def _text_tables(found: TextDifference) -> Iterator[Table]:
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


def _row(report: EncodingReport | TrainingReport) -> Json:
    """The report as a row; pairs are in hex."""
    peer, found = report.peer, report.difference
    told = ("steps", "end") if isinstance(report, TrainingReport) else ("texts", "tokens")
    differs = as_json(found)
    if isinstance(found, StepDifference):
        differs = {
            "step": found.step,
            "ours": {"hex": as_json(found.ours)} if found.ours else None,
            "ours_end": found.ours_end,
            "candidates": [
                {"hex": as_json(one.parts), "text": one.token.decode("utf-8", "replace"), "count": one.worth}
                for one in found.candidates
            ],
            **as_row(found, "tied", "tie", "theirs"),
        }
    row = {"peer": peer.name, "version": peer.version, "alike": found is None, **as_row(report, *told)}
    return row | {"differs": differs}
