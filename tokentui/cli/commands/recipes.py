"""`tokentui recipes`: list the presets, the axes and their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import click

from tokentui.analyze.report import Column, Json, Report, Row, Section, as_row
from tokentui.axes import AXES
from tokentui.cli.options import SharedOptions, json_option, options
from tokentui.cli.output import write_report
from tokentui.core.choices import Axis
from tokentui.core.errors import TokentuiError, nearest
from tokentui.preset_table import PRESETS, Preset

_WIDTH = max(map(len, PRESETS))
_COLUMNS = (Column(),)


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
    if name is None:
        value: Json = {"presets": [*map(_preset, PRESETS.values())], "axes": [*map(_axis, AXES.values())]}
        sections = [*_listed()]
    elif name in PRESETS:
        value, rows = _preset(PRESETS[name]), [Row((line,)) for line in _recipe_file(PRESETS[name])]
        sections = [Section(rows=tuple(rows), indent=0)]
    elif name in AXES:
        axis = AXES[name]
        value, rows = _axis(axis), [Row((axis.written()[name], axis[name].about)) for name in axis]
        sections = [Section(rows=tuple(rows), columns=_COLUMNS)]
    else:
        raise TokentuiError("no preset and no axis of this name", name, nearest(name, [*PRESETS, *AXES]))
    write_report(shared.as_json, Report("Recipes", tuple(sections), value))
    return 0


def _preset(preset: Preset) -> Json:
    """Return the JSON row of a preset; special tokens and the first id stand apart from the stops."""
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


def _listed() -> Iterator[Section]:
    """Yield the presets by family, then the axes."""
    for family in dict.fromkeys(preset.family for preset in PRESETS.values()):
        yield _named(f"{family}:", (preset for preset in PRESETS.values() if preset.family == family))
    yield replace(_named("axes:", AXES.values()), apart=True)


def _named(title: str, records: Iterable[Preset | Axis[Any]]) -> Section:
    rows = tuple(Row((record.name.ljust(_WIDTH), record.about)) for record in records)
    return Section(title, rows=rows, columns=_COLUMNS)


def _recipe_file(preset: Preset) -> Iterator[str]:
    """Yield the lines of a preset as a recipe file in TOML. Its published sizes and special tokens are in a
    comment."""
    yield f"# {preset.name}: {preset.about} ({preset.source})"
    words = preset.run.words.items()
    published = [
        f"{name} = {' '.join(value) if isinstance(value, list) else value}" for name, value in words
    ]
    if published:
        yield f"# published with {', '.join(published)}"
    yield from preset.recipe.to_toml().splitlines()
