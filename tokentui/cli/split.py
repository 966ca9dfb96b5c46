"""`tokentui split`: normalise and pre-tokenise, without a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping

import click

from tokentui.axes import check
from tokentui.cli.lines import answer_lines, lines_only, one_of, text_of, typed
from tokentui.cli.options import axes_of, recipe_of, recipe_options, shape_options, shaped
from tokentui.cli.output import Json, shown, write, write_json
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
@click.argument("text", metavar="[TEXT]", nargs=-1)
@recipe_options
@shape_options
@click.option("--json", "as_json", is_flag=True, help="Print a row: text, normalized, pieces, units (hex).")
@click.option("--jsonl", is_flag=True, help='Answer each line {"text": ...} of standard input by such a row.')
def command(
    text: tuple[str, ...], recipe: str | None, axes: tuple[str, ...], as_json: bool, jsonl: bool,
    **words: object
) -> int:
    """Normalise and pre-tokenise TEXT, or all of standard input without its last line end, and print a
    pre-token a line.

    The axes that count are normalize and split; unit and mark say what the units of --json are.
    """
    one_of("split", json=as_json, jsonl=jsonl)
    if jsonl:
        lines_only(text, "split")
    pretokenizer = Pretokenizer(shaped(_recipe(recipe, axes_of(axes)), words))

    def row(value: object) -> Json:
        analysis = pretokenizer.analyse(text_of(value))
        pieces = [pretoken.text for pretoken in analysis.pretokens]
        units = [[unit.hex() for unit in pretokenizer.units(piece)] for piece in pieces]
        return {"text": analysis.source, "normalized": analysis.normalized, "pieces": pieces, "units": units}

    if jsonl:
        return answer_lines("text", '{"text": "..."}', row)
    given = typed(text, "split")
    if as_json:
        write_json(row(given))
    else:
        write("".join(f"{shown(word.text)}\n" for word in pretokenizer.analyse(given).pretokens).encode())
    return 0


def _recipe(name: str | None, axes: Mapping[str, str | tuple[()]]) -> Recipe:
    """A recipe for its first axes: those of training follow the unit where they are not named."""
    if name is not None:
        return recipe_of(name, axes)
    if "split" not in axes:
        raise TokentuiError("-s split=... is missing", "split", "such as -s split=gpt2")
    fitting = {} if axes.get("unit", "byte") == "byte" else {"base": "sorted", "unknown": "error"}
    return check(Recipe.from_dict({**fitting, **axes}))
