"""The README's tables are those of the records, and it names what there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tokentui.axes import AXES
from tokentui.cli.program import COMMANDS
from tokentui.formats import FORMATS
from tokentui.recipe import Recipe
from tokentui.ui.actions import MAIN_ACTIONS
from tokentui.ui.keys import key_name

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def formats() -> str:
    """The table of file formats."""
    rows = ["| format | its files | what it is | |", "|---|---|---|---|"]
    for one in FORMATS.values():
        names = ", ".join(f"`{name}`" for name in one.files)
        rows.append(f"| `{one.name}` | {names} | {one.about} | {'' if one.suffixes else 'read only'} |")
    return "\n".join(rows)


def axes() -> str:
    """The table of axes."""
    rows = ["| axis | what it says | default |", "|---|---|---|"]
    rows += [f"| `{name}` | {axis.about} | `{Recipe().axis(name)}` |" for name, axis in AXES.items()]
    return "\n".join(rows)


@pytest.mark.parametrize("table", [formats, axes])
def test_a_table_is_that_of_the_records(table: Callable[[], str]) -> None:
    assert table() in README, f"write this into README.md:\n\n{table()}"


def test_every_command_has_an_example() -> None:
    assert [command for command in COMMANDS if f"tokentui {command}" not in README] == []


def test_each_key_is_one_of_the_main_screen() -> None:
    section = re.split(r"^## ", README, flags=re.M)
    (keys,) = [one for one in section if one.startswith("Keys\n")]
    known = {key_name(key) for action in MAIN_ACTIONS for key in action.keys}
    shown = set(re.findall(r"`([^`]+)`", keys))
    assert shown
    assert shown <= known


def test_people_can_read_it_in_an_editor() -> None:
    assert [line for line in README.splitlines() if len(line) > 115 and not line.startswith("|")] == []
