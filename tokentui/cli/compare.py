"""`tokentui compare`: measures side by side, agreement pair by pair, and where tokenizers part."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import click

from tokentui.analyze.align import Alignment, align
from tokentui.analyze.compare import check_columns, compare
from tokentui.analyze.parting import Difference, first_difference
from tokentui.analyze.tally import WORD_SPLITTERS, Conventions
from tokentui.cli.compare_tables import Answer, Column, as_row, as_text
from tokentui.cli.options import (
    Run,
    axes_of,
    corpus_word,
    quiet_option,
    reading_options,
    recipes_options,
    run_options,
    wanted,
)
from tokentui.cli.output import complain, write_json, write_text
from tokentui.cli.waiting import Bar, bar, interruptible
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import load
from tokentui.formats.mistaken import refuse_tokenizers
from tokentui.learn import start
from tokentui.learn.base import Cancel, Trainer
from tokentui.learn.replay import OpenedTrainer, order
from tokentui.recipe import Recipe
from tokentui.session.opening import Hooks, prepare_tokenizer
from tokentui.session.prepared import Run as PreparedRun
from tokentui.text.read import Corpus, read

_ROWS = 5


@click.command(
    "compare",
    short_help="Compare two to four tokenizers on a corpus.",
    epilog="""\b
Examples:
  tokentui compare -t mine.json -t theirs.json novel.txt
  tokentui compare -r gpt2 -r bert --vocab-size 2000 novel.txt --json
  tokentui compare -r hf-bpe -r subword-nmt --merges 10 sample:hugs
  tokentui compare -t a.json -t b.json novel.txt --text 'The crowd' --find ing""",
)
@click.argument("sources", metavar="CORPUS...", type=corpus_word, nargs=-1)
@click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=click.Path(), multiple=True,
              help="A tokenizer file, such as train writes. Those from files come first.")
@recipes_options
@run_options
@reading_options
@click.option("--words", metavar="SPLIT", default="whitespace",
              help=f"What a word is: {', '.join(WORD_SPLITTERS)} [default: whitespace].")
@click.option("--alpha", metavar="X", type=float, default=2.5, help="The order of Renyi's entropy [default: 2.5].")
@click.option("--text", metavar="TEXT", help="Show how each encodes TEXT, one under the other.")
@click.option("--find", metavar="TEXT", help="List the tokens that hold TEXT, common and not.")
@click.option("--literal", is_flag=True,
              help="Find the first differing step of merges as they are spelled, not by what they mean.")
@click.option("--formulas", is_flag=True, help="Print the formula of each measure beside it.")
@click.option("--json", "as_json", is_flag=True, help="Print one row of JSON, the same numbers.")
@quiet_option
def command(
    sources: tuple[str, ...],
    tokenizers: tuple[str, ...],
    recipes: tuple[str, ...],
    axes: tuple[str, ...],
    as_: str | None,
    field: str,
    words: str,
    alpha: float,
    text: str | None,
    find: str | None,
    literal: bool,
    formulas: bool,
    as_json: bool,
    quiet: bool,
    **run: Any,
) -> int:
    """Compare two to four tokenizers on CORPUS: files named by -t, and recipes named by -r that are trained on it under the same
    stops. An axis that -s names holds for every recipe; the split also for a file that holds none, such as tiktoken ranks.

    A tokenizer that cannot read the corpus says so in its column, the others go on, and the exit code is 1.
    """
    if not sources:
        raise TokentuiError("CORPUS is missing", "compare", "name a file, a folder, - or sample:english")
    check_columns(len(tokenizers) + len(recipes))
    conventions = Conventions(words, alpha)
    chosen = [wanted(name, axes_of(axes), run) for name in recipes]
    named = any(value not in (None, (), False) for value in run.values())
    if not recipes and (named or axes_of(axes).keys() - {"split"}):
        raise TokentuiError("nothing is trained here", "compare", "name a recipe by -r, or leave out what a training is told")
    split = str(axes_of(axes).get("split", ""))
    columns = [Column(os.path.basename(name), _loaded(name, split)) for name in tokenizers]
    with bar(quiet) as shown_bar, interruptible() as cancel:
        refuse_tokenizers(sources, as_)
        corpus = read(sources, as_=as_, field=field, progress=shown_bar.of("reading"), cancel=cancel)
        for name, (recipe, words_of_run) in zip(recipes, chosen, strict=True):
            columns.append(_trained(name, recipe, corpus, words_of_run, shown_bar, cancel))
        comparison = compare(
            [one.tokenizer for one in columns], corpus, conventions, most=_ROWS,
            progress=shown_bar.of("measuring"), cancel=cancel,
        )
        if not any(comparison.tallies):
            raise next(error for error in comparison.errors if error)
        differences = _differences(_in_order(columns, corpus, shown_bar, cancel), shown_bar, cancel)
        aligned, refused = (None, ()) if text is None else _aligned(columns, text)
    answer = Answer(corpus, tuple(columns), comparison, differences, literal, aligned, refused, find)
    if not quiet:
        for note in [*corpus.notes, *([str(corpus.invalid)] if corpus.invalid else [])]:
            complain(note)
        for one in columns:
            for note in one.tokenizer.notes if isinstance(one.tokenizer, Tokenizer) else ():
                complain(f"{one.name}: {note}")
    if as_json:
        write_json(as_row(answer))
    else:
        write_text(as_text(answer, formulas))
    return 1 if any(comparison.errors) or refused else 0


def _loaded(name: str, split: str) -> Tokenizer:
    """A tokenizer of a file. The split that was named is for a file that holds none."""
    try:
        return load(name)
    except TokentuiError:
        if not split:
            raise
        return load(name, split)


def _trained(name: str, recipe: Recipe, corpus: Corpus, run: Run, shown_bar: Bar, cancel: Cancel) -> Column:
    """A recipe, trained. One that cannot be trained on this corpus is a column that says so."""
    stops = {key: value for key, value in run.items() if key in ("merges", "vocab_size", "min_count", "max_length")}
    try:
        trainer = start(
            corpus, recipe, first_id=run.get("first_id", 0), specials=run.get("specials", ()),
            progress=shown_bar.of("counting"), cancel=cancel,
        )
        trainer.run(**stops, progress=shown_bar.of("merging"), cancel=cancel)
    except Cancelled:
        raise
    except TokentuiError as error:
        return Column(name, error)
    return Column(name, trainer.tokenizer(stops), trainer)


def _in_order(columns: Sequence[Column], corpus: Corpus, shown_bar: Bar, cancel: Cancel) -> dict[int, Trainer]:
    """What each column makes step by step: its training, or the births of a file that tells their order; not of a file that
    cannot read the corpus."""
    found: dict[int, Trainer] = {}
    for n, column in enumerate(columns):
        if column.trainer is not None:
            found[n] = column.trainer
        elif isinstance(column.tokenizer, Tokenizer):
            hooks = Hooks(lambda what, done, total: shown_bar.of(what)(done, total), lambda _: None, cancel)
            try:
                births = prepare_tokenizer(corpus, column.tokenizer, PreparedRun(), hooks).trainer
            except Cancelled:
                raise
            except TokentuiError:
                continue
            if isinstance(births, OpenedTrainer) and births.order.kind in (order.MERGES, order.RANKS):
                births.jump(births.known)
                found[n] = births
    return found


def _differences(
    trainers: Mapping[int, Trainer], shown_bar: Bar, cancel: Cancel
) -> dict[tuple[int, int], tuple[Difference | None, Difference | None]]:
    """The first step at which each two part, as far as they went, by the meaning of merges and as they are spelled."""
    found = {}
    for (n, a), (m, b) in combinations(trainers.items(), 2):
        # One that ended earlier is asked for one step more: either it has none, or its stop came first.
        limit = min(a.number, b.number) + (a.number != b.number)
        meant, spelled = (
            first_difference(a, b, limit, literal=literal, rows=_ROWS, progress=shown_bar.of("comparing"), cancel=cancel)
            for literal in (False, True)
        )
        found[n, m] = meant, spelled
    return found


def _aligned(
    columns: Sequence[Column], text: str
) -> tuple[tuple[tuple[int, ...], Alignment] | None, tuple[tuple[int, TokentuiError], ...]]:
    """The encodings of a text under each other, with the columns that they are of; and the columns that refuse it."""
    encodings, refused = {}, []
    for n, column in enumerate(columns):
        if isinstance(column.tokenizer, Tokenizer):
            try:
                encodings[n] = column.tokenizer.encode(text)
            except TokentuiError as error:
                refused.append((n, error))
    return (tuple(encodings), align(list(encodings.values()))) if encodings else None, tuple(refused)
