"""`tokentui compare`: measures of several tokenizers, their agreement, and where their training diverges."""

from __future__ import annotations

import click

from tokentui.analyze.compare import check_columns
from tokentui.analyze.comparison import Compared, compare, report
from tokentui.analyze.metrics import WORD_SPLITTERS, Conventions
from tokentui.cli.options import (
    COLOR,
    CORPUS,
    NAMED,
    PATH,
    QUIET,
    READING,
    RECIPES,
    RUN_OPTIONS,
    OrderedCommand,
    SharedOptions,
    json_option,
    options,
)
from tokentui.cli.output import working, write_report
from tokentui.core.files import short_names
from tokentui.formats.files import load
from tokentui.text.count import WordCounts


@click.command(
    cls=OrderedCommand,
    epilog="""\b
Examples:
  tokentui compare -t mine.json -t theirs.json novel.txt
  tokentui compare -r gpt2 -r bert --vocab-size 2000 novel.txt --json
  tokentui compare -r hf-bpe -r subword-nmt --merges 10 sample:hugs
  tokentui compare -r gpt2 -r gpt2 -s tie=largest-pair --merges 50 sample:hugs
  tokentui compare -t mine.json -s encode=longest-suffix -t mine.json novel.txt
  tokentui compare -t a.json -t b.json novel.txt --text 'The crowd' --find ing""",
)
@options(
    CORPUS,
    *NAMED,
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=PATH, multiple=True,
                 help="A tokenizer file. Files come before recipes."),
    *RECIPES,
    *RUN_OPTIONS,
    *READING,
    click.option("--words", metavar="SPLIT", default="whitespace",
                 help=f"How to split words: {', '.join(WORD_SPLITTERS)} [default: whitespace]."),
    click.option("--alpha", metavar="X", type=float, default=2.5,
                 help="The order of the Renyi entropy [default: 2.5]."),
    click.option("--text", metavar="TEXT", help="Show how each tokenizer encodes TEXT, one under the other."),
    click.option("--find", metavar="TEXT",
                 help="List the tokens that contain TEXT: shared ones, and those of only one tokenizer."),
    click.option("--literal", is_flag=True,
                 help="Find the first differing step by the spelling of merges instead of their meaning."),
    click.option("--formulas", is_flag=True, help="Print the formula of each measure."),
    json_option("Print the same numbers as one JSON row."),
    COLOR,
    QUIET,
)
def command(
    shared: SharedOptions, tokenizers: tuple[str, ...], words: str, alpha: float, text: str | None,
    find: str | None, literal: bool, formulas: bool,
) -> int:
    """Compare two to four tokenizers on CORPUS: files (-t), and recipes (-r) that are trained on it with the
    same limits. -s sets an axis of the recipe before it. Before the first -r, it applies to every recipe, and
    split=... also to files that do not store a split. After a -t, -s encode=... sets how that file encodes,
    so that one vocabulary can be compared with itself.

    Sizes are matched: next to a file, recipes without a size are trained to the size of the first file, and
    the table says so.

    If a tokenizer cannot read the corpus, its row shows the error, the others are still compared, and the
    exit code is 1.
    """
    shared.require_corpus()
    check_columns(len(tokenizers) + len(shared.recipes))
    conventions = Conventions(words, alpha)
    wanted = shared.recipes_and_runs()
    if not wanted:
        shared.refuse_training_options()
    split = str(shared.axes.get("split", ""))
    ways = shared.encode_by_file or ("",) * len(tokenizers)
    columns = [Compared(name + (f" encode={way}" if way else ""), load(path, otherwise=split, encode=way))
               for name, path, way in zip(short_names(tokenizers), tokenizers, ways, strict=True)]
    like = columns[0].tokenizer.vocab_size if columns and columns[0].tokenizer else None
    for name, (recipe, run) in zip(shared.recipes, wanted, strict=True):
        sized = run if like is None else run.sized_like(like)
        columns.append(Compared(name, training=(recipe, sized), like=None if sized == run else like))
    with working(shared.quiet) as bar:
        counted = WordCounts(shared.read_corpus(bar))
        with bar.phase("comparing"):
            comparison = compare(columns, counted, conventions)
    for column in columns:
        if column.tokenizer is not None:
            notes = (*column.tokenizer.notes, *column.coverage.notes)
            shared.notice(f"{column.name}: {note}" for note in notes)
    if text is not None:
        comparison.encode(text)
    result = report(comparison, literal=literal, formulas=formulas, find=find)
    write_report(shared.as_json, result, shared.marks)
    return 1 if comparison.errors else 0
