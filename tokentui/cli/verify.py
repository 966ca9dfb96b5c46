"""`tokentui verify`: the same by another library, and the first thing that differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from tokentui.analyze.verify import PEERS, peer_of
from tokentui.analyze.verify.encoding import EncodingReport, verify_encoding
from tokentui.analyze.verify.training import TrainingReport, verify_training
from tokentui.cli.lines import needed, read_corpus
from tokentui.cli.options import (
    axes_of,
    corpus_word,
    published_option,
    quiet_option,
    reading_options,
    recipe_options,
    refuse_training,
    shape_options,
    split_of,
    wanted,
)
from tokentui.cli.output import Json, fact, shown, working, write_answer
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.core.table import Table
from tokentui.formats.files import load
from tokentui.learn.values import Candidate
from tokentui.text.corpus import Corpus


@click.command(
    epilog="""\b
Examples:
  tokentui verify novel.txt -r gpt2 --against tokenizers --merges 2000
  tokentui verify sample:english --as lines -r subword-nmt --against subword-nmt
  tokentui verify novel.txt -r minbpe --against rustbpe --json
  tokentui verify novel.txt -t tokenizer.json --against tokenizers
  tokentui verify novel.txt -t cl100k_base.tiktoken --against tiktoken""",
)
@click.argument("sources", metavar="CORPUS...", type=corpus_word, nargs=-1)
@recipe_options
@published_option
@shape_options
@click.option(
    "-t", "--tokenizer", metavar="TOKENIZER", type=click.Path(),
    help="Encode CORPUS by this file; nothing is trained."
)
@click.option("--against", metavar="PEER", help=f"The other library: {', '.join(PEERS)}.")
@click.option(
    "--merges", metavar="N", type=click.IntRange(min=1), help="Compare N steps at most [default: all]."
)
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@quiet_option
def command(
    sources: tuple[str, ...],
    recipe: str | None,
    axes: tuple[str, ...],
    tokenizer: str | None,
    against: str | None,
    merges: int | None,
    as_: str | None,
    field: str,
    as_json: bool,
    quiet: bool,
    **words: object,
) -> int:
    """Train on CORPUS here and by another library, and print the first step that differs with what either had
    to choose from. With -t: encode CORPUS by a file here and by its owner's library, and print the first text
    that differs, made as short as it can be, and the stage where the two part. A text with special tokens is
    compared as plain text, and with these found in it.

    The library has to be installed. It runs in a process of its own. The exit code is 1 where something
    differs.
    """
    needed(sources, "verify")
    if against is None:
        raise TokentuiError("--against is missing", "verify", f"one of: {', '.join(PEERS)}")
    if (recipe is None) == (tokenizer is None):
        what = "-r trains and -t encodes: one of them belongs here"
        raise TokentuiError(what, "verify", "such as -r gpt2 or -t FILE")
    if tokenizer is not None and merges is not None:
        raise TokentuiError("--merges is for a training, not for a file", "verify", "leave it out")
    peer = peer_of(against)
    if tokenizer is not None:
        refuse_training("verify", axes, words)
    chosen, run = (None, None) if recipe is None else wanted(recipe, axes_of(axes), words)
    ours = None if tokenizer is None else load(tokenizer, split_of(axes))
    with working(quiet) as shown_bar:
        corpus = read_corpus(sources, as_, field, shown_bar, quiet)
        if chosen is not None:
            with shown_bar.of("training"):
                trained = verify_training(corpus, chosen, peer, merges, run)
            row, tables, alike = _training_row(trained), _training_tables(trained), trained.difference is None
        else:
            assert ours is not None
            assert tokenizer is not None
            with shown_bar.of("encoding"):
                encoded = verify_encoding(ours, tokenizer, peer, _texts(corpus))
            row, tables, alike = _encoding_row(encoded), _encoding_tables(encoded), encoded.difference is None
    write_answer(as_json, row, tables)
    return 0 if alike else 1


def _texts(corpus: Corpus) -> Sequence[str]:
    """The documents, or the words of a corpus that is counted."""
    return corpus.documents if corpus.counts is None else [word for word, _ in corpus.counts]


def _training_tables(report: TrainingReport) -> Iterator[Table]:
    yield fact("against", f"{report.peer} {report.version}")
    found = report.difference
    if found is None:
        yield fact("alike", f"all {report.steps:,} steps; ended by: {report.end}")
        return
    yield fact("alike", f"{report.steps:,} steps")
    yield fact("differs", f"step {found.step:,}")
    yield fact("ours", _pair(*found.ours) if found.ours else f"no step: {found.ours_end}")
    theirs = found.theirs
    if theirs is None:
        yield fact("theirs", "no step: it has ended")
    else:
        pair = shown(theirs.token) if None in theirs.pair else _pair(*theirs.pair)
        place = "not among ours" if theirs.place is None else f"number {theirs.place} of ours"
        yield fact("theirs", f"{pair}, which stands {theirs.count:,} times by a recount, {place}")
    if found.candidates:
        tied = f", {found.tied} of them tied: tie={found.tie_rule}" if found.tied > 1 else ""
        rows = []
        for n, one in enumerate(found.candidates, 1):
            mark = "  ← theirs" if theirs is not None and one.parts == theirs.pair else ""
            rows.append((f"{n:>3}  {one.worth:>12,}  {_pair(*one.parts)}{mark}",))
        yield fact("candidates", f"ours, best first{tied}", rows)


def _pair(left: bytes | None, right: bytes | None) -> str:
    return f"{shown(left or b'')} + {shown(right or b'')}"


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
            yield fact("  ids", " ".join("null" if number is None else str(number) for number in one.ids))


def _training_row(report: TrainingReport) -> Json:
    """A report as JSON; pairs are in hex."""
    found, differs = report.difference, None
    if found is not None:
        theirs = found.theirs
        differs = {
            "step": found.step,
            "ours": None if found.ours is None else {"hex": [part.hex() for part in found.ours]},
            "ours_end": found.ours_end or None,
            "candidates": [_candidate_row(one) for one in found.candidates],
            "tied": found.tied,
            "tie": found.tie_rule,
            "theirs": None if theirs is None else {
                "hex": [part.hex() for part in theirs.pair if part is not None] or None,
                "token": theirs.token.hex(), "count": theirs.count, "place": theirs.place,
            },
        }
    return {
        "peer": report.peer, "version": report.version, "alike": found is None, "steps": report.steps,
        "end": report.end, "differs": differs,
    }


def _candidate_row(one: Candidate) -> Json:
    text = one.token.decode("utf-8", "replace")
    return {"hex": [part.hex() for part in one.parts], "text": text, "count": one.worth}


def _encoding_row(report: EncodingReport) -> Json:
    found, differs = report.difference, None
    if found is not None:
        ours, theirs = (asdict(one) | {"refused": one.refused or None} for one in (found.ours, found.theirs))
        differs = {
            "number": found.number, "text": found.text, "stage": found.stage, "specials": found.specials,
            "ours": ours, "theirs": theirs,
        }
    return {
        "peer": report.peer, "version": report.version, "alike": found is None, "texts": report.texts,
        "tokens": report.tokens, "differs": differs,
    }
