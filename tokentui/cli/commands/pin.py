"""`tokentui pin` and `tokentui check`: record the ids of texts, and check them later."""

from __future__ import annotations

import click

from tokentui.analyze.golden import (
    built_in_texts,
    file_of,
    first_difference,
    golden_report,
    pin,
    read_golden,
)
from tokentui.cli.options import (
    PATH,
    QUIET,
    READING,
    SPLIT_OR_ENCODE,
    TOKENIZER,
    SharedOptions,
    corpus_option,
    json_option,
    options,
)
from tokentui.cli.output import check_target, working, write, write_report
from tokentui.core.files import write_whole


@click.command(
    epilog="""\b
Examples:
  tokentui pin -t tokenizer.json -o golden.json
  tokentui pin -t tokenizer.json --corpus texts.jsonl -o texts.golden.json
  tokentui pin -t novel.json 'The crowd' ' 12345' -o -""",
)
@options(
    click.argument("texts", metavar="[TEXT]...", nargs=-1),
    TOKENIZER,
    SPLIT_OR_ENCODE,
    corpus_option("--corpus", "sources", multiple=True,
                  about="Also record the documents of this corpus. Can be repeated."),
    *READING,
    click.option("-o", "--output", metavar="FILE", type=PATH, required=True,
                 help="Write the ids to FILE; - is standard output."),
    QUIET,
)
def pin_command(shared: SharedOptions, texts: tuple[str, ...], tokenizer: str, output: str) -> int:
    """Record the ids of each TEXT in a file for `tokentui check`. Without a TEXT and --corpus, a built-in set
    is used: many scripts, numbers, whitespace, code and the special tokens.

    Each text is encoded twice: as plain text, and with special tokens added and recognized.
    """
    if output != "-":
        check_target(output)
    tok = shared.load_tokenizer(tokenizer)
    with working(shared.quiet) as bar:
        if shared.sources:
            corpus = shared.read_corpus(bar)
            texts += tuple(corpus.documents) or tuple(word for word, _ in corpus.counts or ())
            if not any(texts):
                shared.notice([f"{corpus.name}: no text, so the file records nothing"])
        elif not texts:
            texts = built_in_texts(tok)
        with bar.phase("encoding"):
            data = file_of(pin(tok, texts))
    if output == "-":
        write(data)
    else:
        write_whole(output, data)
    return 0


@click.command(
    epilog="""\b
Examples:
  tokentui check -t tokenizer.json golden.json
  tokentui check -t tokenizer.json golden.json --json""",
)
@options(
    click.argument("golden", metavar="GOLDEN", type=PATH),
    TOKENIZER,
    SPLIT_OR_ENCODE,
    json_option("Print one JSON object."),
    QUIET,
)
def check_command(shared: SharedOptions, golden: str, tokenizer: str) -> int:
    """Check that a tokenizer still gives the ids in GOLDEN, a file that `tokentui pin` wrote. Print the first
    text whose ids differ, with the position, the recorded ids and the current ids. The exit code is then 1.
    """
    rows, tok = read_golden(golden), shared.load_tokenizer(tokenizer)
    with working(shared.quiet) as bar, bar.phase("encoding"):
        difference = first_difference(tok, rows)
    write_report(shared.as_json, golden_report(len(rows), difference))
    return 0 if difference is None else 1
