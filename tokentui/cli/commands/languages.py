"""`tokentui languages`: compare the cost of the same text across languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import click

from tokentui.analyze.languages import BASES, costs, parallel_corpora, report
from tokentui.analyze.metrics import WORD_SPLITTERS
from tokentui.cli.options import (
    CORPUS,
    NAMED,
    PATH,
    QUIET,
    READING,
    SPLIT,
    SharedOptions,
    json_option,
    options,
)
from tokentui.cli.output import ProgressBar, working, write_report
from tokentui.core.errors import TokentuiError
from tokentui.core.files import short_names
from tokentui.formats.files import load
from tokentui.text.corpus import Corpus
from tokentui.text.count import WordCounts

_SENTENCES, _BYTES = "sentences", "bytes"


@click.command(
    epilog="""\b
Examples:
  tokentui languages -t novel.json
  tokentui languages -t novel.json -t tokenizer.json --by bytes
  tokentui languages -t tokenizer.json en.txt de.txt --by sentences
  tokentui languages -t cl100k_base.tiktoken -s split=cl100k --json""",
)
@options(
    CORPUS,
    *NAMED,
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=PATH, multiple=True,
                 required=True, help="A tokenizer file. Can be repeated."),
    click.option("--by", metavar="WHAT", type=click.Choice(list(BASES)),
                 help=f"Count tokens per: {', '.join(BASES)} [default: sentences for the built-in set, bytes "
                 "for a CORPUS]."),
    click.option("--words", metavar="SPLIT", default="whitespace",
                 help=f"How to split words: {', '.join(WORD_SPLITTERS)} [default: whitespace]."),
    *READING,
    SPLIT,
    json_option("Print the same numbers as one JSON row."),
    QUIET,
)
def command(shared: SharedOptions, tokenizers: tuple[str, ...], by: str | None, words: str) -> int:
    """Compare the cost of the same text across languages: tokens, bytes per token, characters per token, and
    the cost relative to the cheapest language.

    Each CORPUS and each --corpus is one language. Without any, the built-in set is used: 40 sentences with
    the same meaning in twelve languages. The cost is the number of tokens per sentence, byte, character or
    word. With --by sentences, line N must mean the same in every CORPUS, and --as lines is implied.

    A language with unknown tokens can be the cheapest only if every language has some. If a tokenizer
    cannot read a language, its row shows the error, and the exit code is 1.
    """
    counted_by = by or (_BYTES if shared.sources else _SENTENCES)
    split = shared.split_for_file()
    loaded = [load(name, otherwise=split) for name in tokenizers]
    results = []
    with working(shared.quiet) as bar:
        corpora = _corpora(shared, counted_by, bar)
        counted = {name: WordCounts(corpus) for name, corpus in corpora.items()}
        for tokenizer in loaded:
            with bar.phase("measuring"):
                results.append(costs(tokenizer, corpora, counted_by, words, counted))
    names = short_names(tokenizers)
    for name, tokenizer in zip(names, loaded, strict=True):
        shared.notice(f"{name}: {note}" for note in tokenizer.notes)
    write_report(shared.as_json, report(results, names, loaded, corpora))
    return 1 if any(row.error for tokenizer in results for row in tokenizer.rows) else 0


def _corpora(shared: SharedOptions, by: str, bar: ProgressBar) -> Mapping[str, Corpus]:
    """Return the corpora by the names of their languages.

    Raises:
        TokentuiError: One cannot be read, or two have the same name.
    """
    if not shared.sources:
        if shared.read_as is not None:
            raise TokentuiError("--as is for a CORPUS, and none is named", shared.command, "leave it out")
        return parallel_corpora()
    corpora: dict[str, Corpus] = {}
    as_ = shared.read_as or ("lines" if by == _SENTENCES else None)
    for name, corpus in replace(shared, read_as=as_).read_each_corpus(bar):
        if name in corpora:
            raise TokentuiError("two languages have this name", name, "give the files different names")
        corpora[name] = corpus
    return corpora
