"""`tokentui languages`: the cost of the same text in many languages under some tokenizers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import click

from tokentui.analyze.languages import BASES, costs, parallel_corpora, report
from tokentui.analyze.metrics import WORD_SPLITTERS
from tokentui.cli.options import CORPUS, NAMED, PATH, QUIET, READING, SPLIT, Given, json_option, options
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
                 required=True, help="A tokenizer file, such as train writes. May be given many times."),
    click.option("--by", metavar="WHAT", type=click.Choice(list(BASES)),
                 help=f"What tokens are counted by: {', '.join(BASES)} [default: sentences of the built-in "
                 "set, bytes of a CORPUS]."),
    click.option("--words", metavar="SPLIT", default="whitespace",
                 help=f"What a word is: {', '.join(WORD_SPLITTERS)} [default: whitespace]."),
    *READING,
    SPLIT,
    json_option("Print one row of JSON, the same numbers."),
    QUIET,
)
def command(given: Given, tokenizers: tuple[str, ...], by: str | None, words: str) -> int:
    """Print what the same text costs in many languages: tokens, bytes and characters for each token, and the
    cost over that of the cheapest language.

    Each CORPUS is a language, and each --corpus. Without one it is the built-in set: 40 plain sentences with
    the same meaning in twelve languages. The cost is the tokens over sentences, bytes, characters or words.
    By sentences, line N of each CORPUS has to mean the same (--as lines is taken).

    The cheapest is a language without unknown tokens, where there is one. A tokenizer that cannot read a
    language says so in its row, and the exit code is 1.
    """
    counted_by = by or (_BYTES if given.sources else _SENTENCES)
    split = given.split()
    loaded = [load(name, otherwise=split) for name in tokenizers]
    found = []
    with working(given.quiet) as bar:
        corpora = _corpora(given, counted_by, bar)
        counted = {name: WordCounts(corpus) for name, corpus in corpora.items()}
        for one in loaded:
            with bar.phase("measuring"):
                found.append(costs(one, corpora, counted_by, words, counted))
    names = short_names(tokenizers)
    for name, one in zip(names, loaded, strict=True):
        given.remark(f"{name}: {note}" for note in one.notes)
    write_report(given.as_json, report(found, names, loaded, corpora))
    return 1 if any(row.error for one in found for row in one.rows) else 0


def _corpora(given: Given, by: str, bar: ProgressBar) -> Mapping[str, Corpus]:
    """The texts by the names of their languages.

    Raises:
        TokentuiError: One cannot be read, or two have the same name.
    """
    if not given.sources:
        if given.as_ is not None:
            raise TokentuiError("--as is for a CORPUS, and none is named", given.where, "leave it out")
        return parallel_corpora()
    corpora: dict[str, Corpus] = {}
    as_ = given.as_ or ("lines" if by == _SENTENCES else None)
    for name, corpus in replace(given, as_=as_).corpora(bar):
        if name in corpora:
            raise TokentuiError("two languages have this name", name, "give the files unlike names")
        corpora[name] = corpus
    return corpora
