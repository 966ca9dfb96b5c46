"""`tokentui verify`: the same by another library, and the first thing that differs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import click

from tokentui.analyze.verify import (
    PEERS,
    Encoded,
    EncodingReport,
    Parting,
    TextParting,
    TrainingReport,
    peer_of,
    verify_encoding,
    verify_training,
)
from tokentui.cli.options import (
    axes_of,
    corpus_word,
    published_option,
    quiet_option,
    reading_options,
    recipe_options,
    shape_options,
    wanted,
)
from tokentui.cli.output import complain, shown, write_json, write_text
from tokentui.cli.waiting import bar, interruptible
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.formats import load
from tokentui.formats.mistaken import refuse_tokenizers
from tokentui.learn.base import Candidate
from tokentui.text.read import Corpus, read

_LABEL = 12


@click.command(
    "verify",
    short_help="Compare with another library, step by step.",
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
@click.option("-t", "--tokenizer", metavar="TOKENIZER", type=click.Path(), help="Encode CORPUS by this file; nothing is trained.")
@click.option("--against", metavar="PEER", help=f"The other library: {', '.join(PEERS)}.")
@click.option("--merges", metavar="N", type=click.IntRange(min=1), help="Compare N steps at most [default: all].")
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
    **words: Any,
) -> int:
    """Train on CORPUS here and by another library, and print the first step that differs with what either had to choose
    from. With -t: encode CORPUS by a file here and by its owner's library, and print the first text that differs, made as
    short as it can be, and the stage where the two part. A text with special tokens is compared as plain text, and with
    these found in it.

    The library has to be installed. It runs in a process of its own. The exit code is 1 where something differs.
    """
    if not sources:
        raise TokentuiError("CORPUS is missing", "verify", "name a file, a folder, - or sample:english")
    if against is None:
        raise TokentuiError("--against is missing", "verify", f"one of: {', '.join(PEERS)}")
    if (recipe is None) == (tokenizer is None):
        raise TokentuiError("-r trains and -t encodes: one of them belongs here", "verify", "such as -r gpt2 or -t FILE")
    if tokenizer is not None and merges is not None:
        raise TokentuiError("--merges is for a training, not for a file", "verify", "leave it out")
    peer = peer_of(against)
    named = axes_of(axes)
    told = any(value not in (None, (), False) for value in words.values())
    if tokenizer is not None and (told or named.keys() - {"split"}):
        raise TokentuiError("nothing is trained here", "verify", "name a recipe by -r, or leave out what a training is told")
    chosen, run = (None, {}) if recipe is None else wanted(recipe, named, words)
    ours = None if tokenizer is None else load(tokenizer, str(named.get("split", "")))
    with bar(quiet) as shown_bar, interruptible() as cancel:
        refuse_tokenizers(sources, as_)
        corpus = read(sources, as_=as_, field=field, progress=shown_bar.of("reading"), cancel=cancel)
        if not quiet:
            shown_bar.close()
            for note in [*corpus.notes, *([str(corpus.invalid)] if corpus.invalid else [])]:
                complain(note)
        report: TrainingReport | EncodingReport
        if chosen is not None:
            report = verify_training(corpus, chosen, peer, merges, run, progress=shown_bar.of("training"), cancel=cancel)
        else:
            assert ours is not None
            assert tokenizer is not None
            report = verify_encoding(ours, tokenizer, peer, _texts(corpus), progress=shown_bar.of("encoding"), cancel=cancel)
    if as_json:
        write_json(_row(report))
    elif isinstance(report, TrainingReport):
        _training(report)
    else:
        _encoding(report)
    return 1 if report.parting else 0


def _texts(corpus: Corpus) -> Sequence[str]:
    """The documents, or the words of a corpus that is counted."""
    return corpus.documents if corpus.counts is None else [word for word, _ in corpus.counts]


def _line(name: str, text: str) -> None:
    write_text(f"{name:<{_LABEL}} {text}".rstrip())


def _training(report: TrainingReport) -> None:
    _line("against", f"{report.peer} {report.version}".rstrip())
    parting = report.parting
    if parting is None:
        _line("alike", f"all {report.steps:,} steps; ended by: {report.end}")
        return
    _line("alike", f"{report.steps:,} steps")
    _line("differs", f"step {parting.step:,}")
    _line("ours", _pair(*parting.ours) if parting.ours else f"no step: {parting.ours_end}")
    theirs = parting.theirs
    if theirs is None:
        _line("theirs", "no step: it has ended")
    else:
        pair = shown(theirs.token) if theirs.left is None or theirs.right is None else _pair(theirs.left, theirs.right)
        place = "not among ours" if theirs.place is None else f"number {theirs.place} of ours"
        _line("theirs", f"{pair}, which stands {theirs.count:,} times by a recount, {place}")
    if parting.candidates:
        tied = f", {parting.tied} of them tied: tie={parting.tie_rule}" if parting.tied > 1 else ""
        _line("candidates", f"ours, best first{tied}")
    taken = None if theirs is None else (theirs.left, theirs.right)
    for n, one in enumerate(parting.candidates, 1):
        mark = "  ← theirs" if (one.left, one.right) == taken else ""
        write_text(f"  {n:>3}  {one.count:>12,}  {_pair(one.left, one.right)}{mark}")


def _pair(left: bytes, right: bytes) -> str:
    return f"{shown(left)} + {shown(right)}"


def _encoding(report: EncodingReport) -> None:
    _line("against", f"{report.peer} {report.version}".rstrip())
    _line("alike", f"{report.texts:,} texts, {report.tokens:,} tokens")
    parting = report.parting
    if parting is None:
        return
    _line("differs", f"text {parting.number:,}; the shortest part of it that was found:")
    _line("text", shown(parting.text))
    _line("stage", parting.stage)
    for name, one in (("ours", parting.ours), ("theirs", parting.theirs)):
        _line(name, f"refused: {safe_line(one.refused)}" if one.refused else "")
        if one.normalized is not None:
            _line("  normalised", shown(one.normalized))
        if one.words is not None:
            _line("  pre-tokens", " | ".join(map(shown, one.words)))
        if not one.refused:
            _line("  tokens", " | ".join(map(shown, one.tokens)))
            _line("  ids", " ".join("null" if number is None else str(number) for number in one.ids))


def _row(report: TrainingReport | EncodingReport) -> dict[str, Any]:
    """A report as JSON; pairs are in hex."""
    row: dict[str, Any] = {"peer": report.peer, "version": report.version, "alike": report.parting is None}
    parting = report.parting
    if isinstance(report, EncodingReport):
        row |= {"texts": report.texts, "tokens": report.tokens}
        return row | {"differs": _text_row(parting) if isinstance(parting, TextParting) else None}
    row |= {"steps": report.steps, "end": report.end}
    return row | {"differs": _step_row(parting) if isinstance(parting, Parting) else None}


def _text_row(parting: TextParting) -> dict[str, Any]:
    def side(one: Encoded) -> dict[str, Any]:
        return dataclasses.asdict(one) | {"refused": one.refused or None}

    return {"number": parting.number, "text": parting.text, "stage": parting.stage, "specials": parting.specials,
            "ours": side(parting.ours), "theirs": side(parting.theirs)}


def _step_row(parting: Parting) -> dict[str, Any]:
    theirs = parting.theirs
    return {
        "step": parting.step,
        "ours": None if parting.ours is None else {"hex": [part.hex() for part in parting.ours]},
        "ours_end": parting.ours_end or None,
        "candidates": [_candidate(one) for one in parting.candidates],
        "tied": parting.tied,
        "tie": parting.tie_rule,
        "theirs": None if theirs is None else {
            "hex": None if theirs.left is None or theirs.right is None else [theirs.left.hex(), theirs.right.hex()],
            "token": theirs.token.hex(), "count": theirs.count, "place": theirs.place,
        },
    }


def _candidate(one: Candidate) -> dict[str, Any]:
    return {"hex": [one.left.hex(), one.right.hex()], "text": one.token.decode("utf-8", "replace"), "count": one.count}
