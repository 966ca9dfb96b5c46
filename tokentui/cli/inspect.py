"""`tokentui inspect`: facts and a health report of a tokenizer, of a token, of any string."""

from __future__ import annotations

import click

from tokentui.analyze.asking import answers
from tokentui.analyze.facts import find_tokens, token_facts
from tokentui.analyze.health import FAIL, PASS, examine, worst
from tokentui.analyze.results import Answers, TokenFacts, UnusedToken
from tokentui.analyze.strings import StringFacts, string_facts
from tokentui.analyze.usage import usage
from tokentui.cli import inspect_json, inspect_text
from tokentui.cli.lines import typed
from tokentui.cli.options import corpus_word, quiet_option, reading_options, tokenizer_option
from tokentui.cli.output import complain, write_json
from tokentui.cli.waiting import Bar, bar, interruptible
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import load
from tokentui.formats.mistaken import refuse_tokenizers
from tokentui.learn.base import Cancel
from tokentui.text.count import count
from tokentui.text.read import read


@click.command(
    "inspect",
    short_help="Facts and health of a tokenizer, a token or a string.",
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
@click.option("--exhaust", is_flag=True, help="Train a copy on the corpus until no pair is left, and tell what comes of it.")
@click.option("--strict", is_flag=True, help="End with code 1 also where a check of the health report is a WARN.")
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
    """Inspect a tokenizer, or what it makes of STRING: its token if it is one, each merge or attempt, every way to write
    it, and why it is not one token.

    The health report has checks that are PASS, WARN or FAIL; the exit code is 1 where one is FAIL. With --corpus: which
    tokens are not used and why, and what is saved for each document. The JSON object has "tokenizer", "health", "checks"
    and "corpus", or for a STRING "string", "token", "uses", "encoding", "why" and "words"; bytes are in hex, and a number
    of ways above 2**53 is a text of digits.
    """
    if string and number is not None:
        raise TokentuiError("a STRING and --id exclude each other", "inspect", "take one of them")
    if exhaust and not corpora:
        raise TokentuiError("--exhaust trains on a corpus, and none is named", "inspect", "such as --corpus novel.txt")
    if exhaust and (string or number is not None):
        raise TokentuiError("--exhaust tells of the whole corpus, not of one token", "inspect", "leave one of them out")
    if strict and (string or number is not None):
        raise TokentuiError("--strict is for the health report, not for one token", "inspect", "leave one of them out")
    tok = load(tokenizer)
    text = typed(string, "inspect") if string else None
    facts, found = _token(tok, text, number)
    with bar(quiet) as shown_bar, interruptible() as cancel:
        if text is None and number is None:
            asked = _ask(tok, corpora, as_, field, exhaust, shown_bar, cancel) if corpora else None
            facts_of_all, checks = examine(tok, progress=shown_bar.of("inspecting"), cancel=cancel)
            _check(cancel)
        else:
            used = _uses(tok, facts, corpora, as_, field, shown_bar, cancel) if facts and corpora else None
            _check(cancel)
    if text is None and number is None:
        if as_json:
            write_json(inspect_json.report(tok, facts_of_all, checks, asked))
        else:
            inspect_text.report(tok, facts_of_all, checks, asked)
        status = worst(checks)
        return 1 if status == FAIL or (strict and status != PASS) else 0
    if as_json:
        write_json(inspect_json.string(text, facts, found, used))
    else:
        inspect_text.string(text, facts, found, used)
    return 0


def _token(tok: Tokenizer, text: str | None, number: int | None) -> tuple[TokenFacts | None, StringFacts | None]:
    """The token that is named, or that the string becomes, and what is told of the string."""
    if number is not None:
        return token_facts(tok, number), None
    if text is None:
        return None, None
    found = string_facts(tok, text)
    named = find_tokens(tok, text)
    if named:
        return token_facts(tok, named[0].id), found
    ids = found.encoding.ids if found.encoding is not None else ()
    only = ids[0] if len(ids) == 1 else None
    return (token_facts(tok, only) if only is not None else None), found


def _ask(
    tok: Tokenizer, corpora: tuple[str, ...], as_: str | None, field: str, exhaust: bool, shown_bar: Bar, cancel: Cancel
) -> Answers:
    refuse_tokenizers(corpora, as_)
    corpus = read(corpora, as_=as_, field=field, progress=shown_bar.of("reading"), cancel=cancel)
    words = count(corpus, tok.recipe, progress=shown_bar.of("counting"), cancel=cancel)
    shown_bar.close()
    for note in [*corpus.notes, *([str(corpus.invalid)] if corpus.invalid else [])]:
        complain(note)
    return answers(tok, corpus, words=words, exhaust=exhaust, progress=shown_bar.of("encoding"), cancel=cancel)


def _uses(
    tok: Tokenizer, facts: TokenFacts, corpora: tuple[str, ...], as_: str | None, field: str, shown_bar: Bar, cancel: Cancel
) -> tuple[int, UnusedToken | None]:
    """How often a token stands in the corpus; where it does not, why."""
    refuse_tokenizers(corpora, as_)
    corpus = read(corpora, as_=as_, field=field, progress=shown_bar.of("reading"), cancel=cancel)
    words = count(corpus, tok.recipe, progress=shown_bar.of("counting"), cancel=cancel)
    used = usage(tok, words, progress=shown_bar.of("encoding"), cancel=cancel)
    unused = next((one for one in used.unused if one.id == facts.id), None)
    return used.uses.get(facts.id, 0), unused


def _check(cancel: Cancel) -> None:
    if cancel():
        raise Cancelled
