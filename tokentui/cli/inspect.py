"""`tokentui inspect`: facts and a health report of a tokenizer, of a token, of any string."""

from __future__ import annotations

from dataclasses import replace

import click

from tokentui.analyze.health import FAIL, PASS, examine, worst
from tokentui.analyze.inspect import find_tokens, string_facts, token_facts
from tokentui.analyze.report import vocabulary_report
from tokentui.analyze.usage import Usage, usage
from tokentui.cli.inspect_answer import (
    StringAnswer,
    Uses,
    report_row,
    report_tables,
    string_row,
    string_tables,
)
from tokentui.cli.lines import read_corpus, typed
from tokentui.cli.options import corpus_word, quiet_option, reading_options, tokenizer_option
from tokentui.cli.output import working, write_answer
from tokentui.core.errors import TokentuiError
from tokentui.core.jobs import check
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats.files import load
from tokentui.text.count import count


@click.command(
    epilog="""\b
Examples:
  tokentui inspect -t novel.json
  tokentui inspect -t novel.json --corpus novel.txt --exhaust
  tokentui inspect -t novel.json ' crowd'
  tokentui inspect -t novel.json --id 300 --json
  tokentui inspect -t tokenizer.json --strict
  tokentui inspect -t novel.json -- --crowd""",
)
@click.argument("string", metavar="[STRING]", nargs=-1)
@tokenizer_option
@click.option("--id", "number", metavar="ID", type=int, help="The token of an id, in place of STRING.")
@click.option("--corpus", "corpora", metavar="CORPUS", type=corpus_word, multiple=True,
              help="Say also what this corpus uses. May be given many times.")
@reading_options
@click.option(
    "--exhaust", is_flag=True,
    help="Train a copy on the corpus until no pair is left, and tell what comes of it."
)
@click.option(
    "--strict", is_flag=True, help="End with code 1 also where a check of the health report is a WARN."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@quiet_option
def command(
    string: tuple[str, ...],
    tokenizer: str,
    number: int | None,
    corpora: tuple[str, ...],
    as_: str | None,
    field: str,
    exhaust: bool,
    strict: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Inspect a tokenizer, or what it makes of STRING: its token if it is one, each merge or attempt, every
    way to write it, and why it is not one token.

    The health report has checks that are PASS, WARN or FAIL; the exit code is 1 where one is FAIL. With
    --corpus: which tokens are not used and why, and what is saved for each document. The JSON object has
    "tokenizer", "health", "checks" and "corpus", or for a STRING "string", "token", "uses", "encoding", "why"
    and "words"; bytes are in hex, and a number of ways above 2**53 is a text of digits.
    """
    if string and number is not None:
        raise TokentuiError("a STRING and --id exclude each other", "inspect", "take one of them")
    if exhaust and not corpora:
        raise TokentuiError(
            "--exhaust trains on a corpus, and none is named", "inspect", "such as --corpus novel.txt"
        )
    if exhaust and (string or number is not None):
        raise TokentuiError(
            "--exhaust tells of the whole corpus, not of one token", "inspect", "leave one of them out"
        )
    if strict and (string or number is not None):
        raise TokentuiError(
            "--strict is for the health report, not for one token", "inspect", "leave one of them out"
        )
    tok = load(tokenizer)
    text = typed(string, "inspect") if string else None
    answer, told = _string(tok, text, number), None
    whole = text is None and number is None
    with working(quiet) as shown_bar:
        if corpora and (whole or answer.token is not None):
            corpus = read_corpus(corpora, as_, field, shown_bar, quiet)
            with shown_bar.of("counting"):
                words = count(corpus, tok.recipe)
            with shown_bar.of("encoding"):
                if answer.token is None:
                    told = vocabulary_report(tok, corpus, words, exhaust=exhaust)
                else:
                    answer = replace(answer, uses=_uses(usage(tok, words), answer.token.id))
        if not whole:
            check()
            write_answer(as_json, string_row(answer), string_tables(answer))
            return 0
        with shown_bar.of("inspecting"):
            health = examine(tok)
        check()
    write_answer(as_json, report_row(tok, health, told), report_tables(tok, health, told))
    status = worst(health.checks)
    return 1 if status == FAIL or (strict and status != PASS) else 0


def _string(tok: Tokenizer, text: str | None, number: int | None) -> StringAnswer:
    """The token that is named, or that the string becomes, and the facts of the string."""
    if number is not None or text is None:
        return StringAnswer(text, None if number is None else token_facts(tok, number), None)
    found = string_facts(tok, text)
    ids = found.encoding.ids if found.encoding is not None else ()
    only = ids[0] if len(ids) == 1 else None
    named = [entry.id for entry in find_tokens(tok, text)] or ([] if only is None else [only])
    return StringAnswer(text, token_facts(tok, named[0]) if named else None, found)


def _uses(used: Usage, number: int) -> Uses:
    """The uses of a token in the corpus; where there are none, why."""
    return used.uses.get(number, 0), next((one for one in used.unused if one.id == number), None)
