"""`tokentui split`: normalize and pre-tokenize text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tokentui.analyze.report import Json
from tokentui.cli import output
from tokentui.cli.options import (
    COLOR,
    RECIPE,
    SHAPE_OPTIONS,
    SharedOptions,
    check_exclusive,
    json_option,
    options,
    text_argument,
)
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe
from tokentui.text.count import COVERED, coverage_of_text
from tokentui.text.pretokenize import PreToken, Pretokenizer

if TYPE_CHECKING:
    from tokentui.cli.chips import Marks


@click.command(
    epilog="""\b
Examples:
  tokentui split -s split=gpt2 "It's 2024, isn't it?"
  tokentui split -s split=gpt2 --color always "It's 2024, isn't it?"
  tokentui split -s split=whitespace -s unit=char -s mark=prefix:## --json 'low lower'
  tokentui split -r bert --jsonl < texts.jsonl""",
)
@options(
    click.argument("text", metavar="[TEXT]", nargs=-1),
    *RECIPE,
    *SHAPE_OPTIONS,
    json_option("Print one JSON row: text, normalized, pieces, units (hex)."),
    click.option("--jsonl", is_flag=True,
                 help='Answer each line {"text": ...} of standard input with such a row.'),
    COLOR,
)
def command(shared: SharedOptions, text: tuple[str, ...], jsonl: bool) -> int:
    """Normalize and pre-tokenize TEXT, or standard input without its final newline, and print one pre-token
    per line. On a terminal, print them in color, next to each other.

    The axes normalize and split determine the result. The axes unit and mark only change the units of --json.
    """
    check_exclusive(shared.command, text, json=shared.as_json, jsonl=jsonl)
    pretokenizer, covered = Pretokenizer(_recipe(shared)), COVERED

    def row(text: str) -> Json:
        nonlocal covered
        covered += coverage_of_text(text, pretokenizer.recipe)
        analysis = pretokenizer.analyze(text)
        pieces = [pretoken.text for pretoken in analysis.pretokens]
        units = [[unit.hex() for unit in pretokenizer.units(piece)] for piece in pieces]
        return {"text": analysis.source, "normalized": analysis.normalized, "pieces": pieces, "units": units}

    if jsonl:
        code = output.answer_lines("text", str, '{"text": "..."}', row)
        shared.notice(covered.notes)
        return code
    whole = text_argument(text, shared.command)
    if shared.as_json:
        output.write_json(row(whole))
    else:
        _write_words(whole, pretokenizer.analyze(whole).pretokens, shared.marks)
    shared.notice(coverage_of_text(whole, pretokenizer.recipe).notes)
    return 0


def _write_words(text: str, words: Sequence[PreToken], marks: Marks | None) -> None:
    """Write the pre-tokens of a text, one per line; next to each other if they are marked."""
    if marks is None:
        output.write("".join(f"{output.shown(word.text)}\n" for word in words).encode())
        return
    from tokentui.cli.chips import shown_tokens

    tokens = shown_tokens(text, [(output.shown(word.text), word.start, "") for word in words])
    output.write_text("\n".join(marks.lines(tokens)), marks)


def _recipe(shared: SharedOptions) -> Recipe:
    """Return the recipe of `-r`, or else a recipe made of the axes alone.

    Raises:
        TokentuiError: There is no `-r`, and `split` is not among the axes.
    """
    if shared.recipe is not None:
        return shared.recipe_and_run(shared.recipe)[0]
    if "split" not in shared.axes:
        raise TokentuiError("-s split=... is missing", shared.command, "for example -s split=gpt2")
    fitting = {} if shared.axes.get("unit", "byte") == "byte" else {"base": "sorted", "unknown": "error"}
    return shared.with_axes(Recipe.from_dict(fitting))
