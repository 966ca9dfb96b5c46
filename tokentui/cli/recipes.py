"""`tokentui recipes`: the presets, the axes and their values."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import click

from tokentui.axes import AXES
from tokentui.cli.output import write_json, write_text
from tokentui.core.arguments import nearest
from tokentui.core.choices import Axis
from tokentui.core.errors import TokentuiError
from tokentui.presets import PRESETS, Preset


@click.command(
    epilog="""\b
Examples:
  tokentui recipes
  tokentui recipes split
  tokentui recipes gpt2 > mine.toml""",
)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one row of JSON.")
def command(name: str | None, as_json: bool) -> int:
    """List the presets and the axes. With the NAME of a preset, print it as a recipe file; with that of an
    axis, its values."""
    if name is None:
        row, text = _everything(), _listed()
    elif name in PRESETS:
        row, text = _preset_row(PRESETS[name]), _recipe_file(PRESETS[name])
    elif name in AXES:
        axis = AXES[name]
        row, text = _axis_row(axis), _table([(axis.written()[name], one.about) for name, one in axis.items()])
    else:
        raise TokentuiError("no preset and no axis of this name", name, nearest(name, [*PRESETS, *AXES]))
    if as_json:
        write_json(row)
    else:
        write_text(text)
    return 0


def _everything() -> dict[str, Any]:
    return {
        "presets": [_preset_row(preset) for preset in PRESETS.values()],
        "axes": [_axis_row(axis) for axis in AXES.values()],
    }


def _preset_row(preset: Preset) -> dict[str, Any]:
    return {
        "name": preset.name,
        "family": preset.family,
        "about": preset.about,
        "source": preset.source,
        "recipe": preset.recipe.to_dict() | preset.recipe.shape,
        "stops": {name: value for name, value in preset.run.words.items() if name not in ("first_id", "specials")},
        "specials": list(preset.run.specials),
        "first_id": preset.run.first_id,
    }


def _axis_row(axis: Axis[Any]) -> dict[str, Any]:
    values = {f"{name}:" if one.text else name: one.about for name, one in axis.items()}
    return {"name": axis.name, "about": axis.about, "values": values}


def _listed() -> str:
    lines = []
    families = dict.fromkeys(preset.family for preset in PRESETS.values())
    order = sorted(PRESETS.values(), key=lambda preset: list(families).index(preset.family))
    width = max(map(len, PRESETS))
    for family, members in groupby(order, key=lambda preset: preset.family):
        lines.append(f"{family}:")
        lines.append(_table([(one.name, one.about) for one in members], width))
    lines += ["", "axes:", _table([(axis.name, axis.about) for axis in AXES.values()], width)]
    return "\n".join(lines)


def _recipe_file(preset: Preset) -> str:
    """The preset as a recipe file; what is known of it besides stands in comments."""
    known = [f"{name} = {' '.join(one) if isinstance(one, list) else one}" for name, one in preset.run.words.items()]
    comments = [f"{preset.name}: {preset.about} ({preset.source})", *([f"known for {', '.join(known)}"] if known else [])]
    return "".join(f"# {comment}\n" for comment in comments) + preset.recipe.to_toml().rstrip("\n")


def _table(rows: list[tuple[str, str]], width: int = 0) -> str:
    width = max([width, *(len(name) for name, _ in rows)])
    return "\n".join(f"  {name.ljust(width)}  {about}" for name, about in rows)
