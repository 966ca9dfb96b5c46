"""`tokentui split`: normalise and pre-tokenise, without a tokenizer."""

from __future__ import annotations

import click

from tokentui.axes import check
from tokentui.cli.options import RECIPE, SHAPE_OPTIONS, Given, check_ways, json_option, options, typed
from tokentui.cli.output import Json, answer_lines, shown, text_of, write, write_json
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe
from tokentui.text.pretokenize import Pretokenizer


@click.command(
    epilog="""\b
Examples:
  tokentui split -s split=gpt2 "It's 2024, isn't it?"
  tokentui split -s split=whitespace -s unit=char -s mark=prefix:## --json 'low lower'
  tokentui split -r bert --jsonl < texts.jsonl""",
)
@options(
    click.argument("text", metavar="[TEXT]", nargs=-1),
    *RECIPE,
    *SHAPE_OPTIONS,
    json_option("Print a row: text, normalized, pieces, units (hex)."),
    click.option("--jsonl", is_flag=True,
                 help='Answer each line {"text": ...} of standard input by such a row.'),
)
def command(given: Given, text: tuple[str, ...], jsonl: bool) -> int:
    """Normalise and pre-tokenise TEXT, or all of standard input without its last line end, and print a
    pre-token a line.

    The axes that count are normalize and split; unit and mark say what the units of --json are.
    """
    check_ways(given.where, text, json=given.as_json, jsonl=jsonl)
    pretokenizer = Pretokenizer(_recipe(given))

    def row(value: object) -> Json:
        analysis = pretokenizer.analyse(text_of(value))
        pieces = [pretoken.text for pretoken in analysis.pretokens]
        units = [[unit.hex() for unit in pretokenizer.units(piece)] for piece in pieces]
        return {"text": analysis.source, "normalized": analysis.normalized, "pieces": pieces, "units": units}

    if jsonl:
        return answer_lines("text", '{"text": "..."}', row)
    whole = typed(text, given.where)
    if given.as_json:
        write_json(row(whole))
    else:
        write("".join(f"{shown(word.text)}\n" for word in pretokenizer.analyse(whole).pretokens).encode())
    return 0


def _recipe(given: Given) -> Recipe:
    """The recipe that is named, or one of the axes alone: those of training follow the unit then."""
    if given.recipe is not None:
        return given.wanted(given.recipe)[0]
    if "split" not in given.axes:
        raise TokentuiError("-s split=... is missing", given.where, "such as -s split=gpt2")
    fitting = {} if given.axes.get("unit", "byte") == "byte" else {"base": "sorted", "unknown": "error"}
    return given.shaped(check(Recipe.from_dict({**fitting, **given.axes})))
