"""`tokentui compare`: measures side by side, agreement pair by pair, and where tokenizers part."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import combinations

import click

from tokentui.analyze.align import Alignment, align
from tokentui.analyze.compare import check_columns, compare
from tokentui.analyze.divergence import Divergence, first_divergence
from tokentui.analyze.tally import WORD_SPLITTERS, Conventions
from tokentui.cli.compare_answer import Answer, Column, as_row, tables
from tokentui.cli.lines import needed, read_corpus
from tokentui.cli.options import (
    axes_of,
    corpus_word,
    quiet_option,
    reading_options,
    recipes_options,
    refuse_training,
    run_options,
    wanted,
)
from tokentui.cli.output import Bar, complain, working, write_answer
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.learn import start_counted, walk
from tokentui.learn.replay import ReplayTrainer, order
from tokentui.learn.replay.pretokens import Pretokens
from tokentui.learn.trainer import Trainer
from tokentui.recipe import Recipe, Run
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts

_ROWS = 5


@click.command(
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
@click.option(
    "--alpha", metavar="X", type=float, default=2.5, help="The order of Renyi's entropy [default: 2.5]."
)
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
    **run: object,
) -> int:
    """Compare two to four tokenizers on CORPUS: files named by -t, and recipes named by -r that are trained
    on it under the same stops. An axis that -s names holds for every recipe; the split also for a file that
    holds none, such as tiktoken ranks.

    A tokenizer that cannot read the corpus says so in its column, the others go on, and the exit code is 1.
    """
    needed(sources, "compare")
    check_columns(len(tokenizers) + len(recipes))
    conventions = Conventions(words, alpha)
    chosen = [wanted(name, axes_of(axes), run) for name in recipes]
    if not recipes:
        refuse_training("compare", axes, run)
    split = str(axes_of(axes).get("split", ""))
    columns = [Column(os.path.basename(name), _loaded(name, split)) for name in tokenizers]
    with working(quiet) as shown_bar:
        corpus = read_corpus(sources, as_, field, shown_bar, quiet)
        counted = WordCounts(corpus)
        for name, (recipe, asked) in zip(recipes, chosen, strict=True):
            columns.append(_trained(name, recipe, asked, corpus, counted, shown_bar))
        with shown_bar.of("measuring"):
            comparison = compare([one.tokenizer for one in columns], corpus, conventions, counted, most=_ROWS)
        if not any(comparison.tallies):
            raise next(error for error in comparison.errors if error)
        divergences = _divergences(_in_order(columns, corpus, shown_bar), shown_bar)
        aligned, refused = (None, ()) if text is None else _aligned(columns, text)
    answer = Answer(corpus, tuple(columns), comparison, divergences, literal, aligned, refused, find)
    if not quiet:
        for one in columns:
            for note in one.tokenizer.notes if isinstance(one.tokenizer, Tokenizer) else ():
                complain(f"{one.name}: {note}")
    write_answer(as_json, as_row(answer), tables(answer, formulas), "\n\n")
    return 1 if any(comparison.errors) or refused else 0


def _loaded(name: str, split: str) -> Tokenizer:
    """A tokenizer of a file. The split that was named is for a file that holds none."""
    try:
        return load(name)
    except TokentuiError:
        if not split:
            raise
        return load(name, split)


def _trained(
    name: str, recipe: Recipe, run: Run, corpus: Corpus, counted: WordCounts, shown_bar: Bar
) -> Column:
    """A recipe, trained. One that cannot be trained on this corpus is a column with the error."""
    try:
        with shown_bar.of("counting"):
            words = counted.of(recipe)
        trainer = start_counted(words, recipe, run, corpus.documents if corpus.counts is None else None)
        with shown_bar.of("merging"):
            walk.run(trainer, run.stops)
    except Cancelled:
        raise
    except TokentuiError as error:
        return Column(name, error)
    return Column(name, trainer.tokenizer(run=run.words), trainer)


def _in_order(columns: Sequence[Column], corpus: Corpus, shown_bar: Bar) -> dict[int, Trainer]:
    """The steps of each column: its training, or the tokens of a file that tells their order; none of a file
    that cannot read the corpus."""
    found: dict[int, Trainer] = {}
    for n, column in enumerate(columns):
        if column.trainer is not None:
            found[n] = column.trainer
        elif isinstance(column.tokenizer, Tokenizer):
            try:
                with shown_bar.of("counting"):
                    words, fixed = Pretokens(column.tokenizer).count(corpus)
                with shown_bar.of("encoding"):
                    tokens = ReplayTrainer(column.tokenizer, words, fixed=fixed)
            except Cancelled:
                raise
            except TokentuiError:
                continue
            if tokens.order.kind in (order.MERGES, order.RANKS):
                walk.jump(tokens, tokens.computed)
                found[n] = tokens
    return found


def _divergences(
    trainers: Mapping[int, Trainer], shown_bar: Bar
) -> dict[tuple[int, int], tuple[Divergence | None, Divergence | None]]:
    """The first differing step of each two, as far as they went, by the meaning of merges and as they are
    spelled."""
    found = {}
    for (n, a), (m, b) in combinations(trainers.items(), 2):
        # One that ended earlier is asked for one step more: either it has none, or its stop came first.
        limit = min(a.number, b.number) + (a.number != b.number)
        with shown_bar.of("comparing"):
            meant, spelled = (
                first_divergence(a, b, limit, literal=literal, rows=_ROWS) for literal in (False, True)
            )
        found[n, m] = meant, spelled
    return found


def _aligned(
    columns: Sequence[Column], text: str
) -> tuple[tuple[tuple[int, ...], Alignment] | None, tuple[tuple[int, TokentuiError], ...]]:
    """The encodings of a text under each other, with the columns that they are of; and the columns that
    refuse it."""
    encodings, refused = {}, []
    for n, column in enumerate(columns):
        if isinstance(column.tokenizer, Tokenizer):
            try:
                encodings[n] = column.tokenizer.encode(text)
            except TokentuiError as error:
                refused.append((n, error))
    return (tuple(encodings), align(list(encodings.values()))) if encodings else None, tuple(refused)
