"""`tokentui languages`: the cost of the same text in many languages under some tokenizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import click

from tokentui.analyze.languages import BASES, LanguageCost, Languages, costs, parallel_corpora
from tokentui.analyze.metrics import WORD_SPLITTERS
from tokentui.analyze.metrics import shown as number
from tokentui.axes import label
from tokentui.cli.options import CORPUS, NAMED, QUIET, READING, SPLIT, Given, json_option, options
from tokentui.cli.output import Bar, Json, as_row, working, write_answer
from tokentui.core.errors import TokentuiError
from tokentui.core.files import short_names
from tokentui.core.safetext import safe, safe_line
from tokentui.core.table import Table
from tokentui.encode.tokenizer import Tokenizer
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
    click.option("-t", "--tokenizer", "tokenizers", metavar="TOKENIZER", type=click.Path(), multiple=True,
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
            with bar.of("measuring"):
                found.append(costs(one, corpora, counted_by, words, counted))
    names = short_names(tokenizers)
    for name, one in zip(names, loaded, strict=True):
        given.remark(f"{name}: {note}" for note in one.notes)
    write_answer(given.as_json, lambda: _row(names, loaded, found, corpora),
                 _tables(names, loaded, found), "\n\n")
    return 1 if any(row.error for one in found for row in one.rows) else 0


def _corpora(given: Given, by: str, bar: Bar) -> Mapping[str, Corpus]:
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
    for source in given.sources:
        corpus = replace(given, sources=(source,), as_=as_).corpus(bar)
        named = [(one.name, one.corpus) for one in corpus.named] or [(corpus.name, corpus)]
        for name, one in named:
            if name in corpora:
                raise TokentuiError("two languages have this name", name, "give the files unlike names")
            corpora[name] = one
    return corpora


def _tables(
    names: Sequence[str], tokenizers: Sequence[Tokenizer], found: Sequence[Languages]
) -> Iterator[Table]:
    """A table a tokenizer; of several also one of their costs next to each other."""
    basis = BASES[found[0].by]
    yield Table(title=f"cost: tokens a {basis.unit}; counted by {found[0].counted_by}")
    head = ["language", "tokens", "bytes/token", "chars/token", "cost", "x cheapest", "unknown"]
    for n, (name, tokenizer, one) in enumerate(zip(names, tokenizers, found, strict=True), 1):
        title = f"{n}  {safe(name)}  {safe(label(tokenizer.recipe))}  {tokenizer.vocab_size:,} ids"
        least = f"cheapest: {safe(one.cheapest)}" if one.cheapest else "every text is refused"
        yield Table([_cells(row) for row in one.rows], title, head=head, right=range(1, len(head)), indent=3,
                    notes=[f"   {least}"])
    if len(found) > 1:
        times = [{row.language: row.times for row in one.rows} for one in found]
        rows = [[safe(row.language), *(number(one[row.language], 2) for one in times)]
                for row in found[0].rows]
        numbers = [str(n) for n in range(1, len(found) + 1)]
        yield Table(rows, head=["x cheapest", *numbers], right=range(1, len(found) + 1))


def _cells(row: LanguageCost) -> list[str]:
    name = safe(row.language)
    if row.tokens is None:
        return [f"{name}  {safe_line(row.error)}"]
    return [
        name, f"{row.tokens:,}", number(row.bytes_per_token, 2), number(row.characters_per_token, 2),
        number(row.cost), number(row.times, 2), f"{row.unknowns:,}",
    ]


def _row(
    names: Sequence[str], tokenizers: Sequence[Tokenizer], found: Sequence[Languages],
    corpora: Mapping[str, Corpus],
) -> Json:
    """The same numbers as a row."""
    return {
        "by": found[0].by, "unit": BASES[found[0].by].unit, "words_by": found[0].splitter,
        "languages": [
            {"name": name, "corpus": one.name, "bytes": one.size, "sha256": one.sha256}
            for name, one in corpora.items()
        ],
        "tokenizers": [
            {
                "name": name, "recipe": tokenizer.recipe.to_dict() | tokenizer.recipe.shape,
                "vocab_size": tokenizer.vocab_size, "cheapest": one.cheapest or None,
                "costs": [as_row(row) | {"error": row.error or None} for row in one.rows],
            }
            for name, tokenizer, one in zip(names, tokenizers, found, strict=True)
        ],
    }
