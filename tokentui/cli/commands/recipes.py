"""`tokentui recipes`: list the presets, the axes and their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click

from tokentui.analyze.report import Json, as_row
from tokentui.axes import AXES
from tokentui.cli.options import SharedOptions, json_option, options
from tokentui.cli.output import write_answer
from tokentui.core.choices import Axis
from tokentui.core.errors import TokentuiError, nearest
from tokentui.core.table import TextTable
from tokentui.preset_table import PRESETS, Preset

_WIDTH = max(map(len, PRESETS))


@click.command(
    epilog="""\b
Examples:
  tokentui recipes
  tokentui recipes split
  tokentui recipes gpt2 > mine.toml""",
)
@options(click.argument("name", metavar="[NAME]", required=False), json_option("Print one JSON row."))
def command(shared: SharedOptions, name: str | None) -> int:
    """List the presets and the axes.

    With the NAME of a preset, print it as a recipe file. With the NAME of an axis, print its values.
    """
    tables: Iterable[TextTable]
    if name is None:
        presets, axes = map(_preset, PRESETS.values()), map(_axis, AXES.values())
        row: Json = {"presets": list(presets), "axes": list(axes)}
        tables = _listed()
    elif name in PRESETS:
        row, tables = _preset(PRESETS[name]), [TextTable(notes=list(_recipe_file(PRESETS[name])))]
    elif name in AXES:
        axis = AXES[name]
        row = _axis(axis)
        tables = [TextTable([(axis.written()[name], axis[name].about) for name in axis], indent=2)]
    else:
        raise TokentuiError("no preset and no axis of this name", name, nearest(name, [*PRESETS, *AXES]))
    write_answer(shared.as_json, lambda: row, tables)
    return 0


def _preset(preset: Preset) -> Json:
    words = preset.run.words
    return {
        **as_row(preset, "name", "family", "about", "source"),
        "recipe": preset.recipe.to_dict() | preset.recipe.shape,
        "stops": {name: value for name, value in words.items() if name not in ("first_id", "specials")},
        "specials": list(preset.run.specials),
        "first_id": preset.run.first_id,
    }


def _axis(axis: Axis[Any]) -> Json:
    values = {f"{name}:" if choice.text else name: choice.about for name, choice in axis.items()}
    return {"name": axis.name, "about": axis.about, "values": values}


def _listed() -> Iterator[TextTable]:
    """Yield the presets by family, then the axes."""
    for family in dict.fromkeys(preset.family for preset in PRESETS.values()):
        yield _named(f"{family}:", (preset for preset in PRESETS.values() if preset.family == family))
    yield _named("\naxes:", AXES.values())


def _named(title: str, records: Iterable[Preset | Axis[Any]]) -> TextTable:
    return TextTable([(record.name, record.about) for record in records], title, least=_WIDTH, indent=2)


def _recipe_file(preset: Preset) -> Iterator[str]:
    """Yield the lines of a preset as a recipe file. Sizes and special tokens are comments."""
    yield f"# {preset.name}: {preset.about} ({preset.source})"
    words = preset.run.words.items()
    published = [
        f"{name} = {' '.join(value) if isinstance(value, list) else value}" for name, value in words
    ]
    if published:
        yield f"# published with {', '.join(published)}"
    yield from preset.recipe.to_toml().splitlines()
