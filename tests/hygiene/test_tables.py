"""Every table of the package that is keyed by names of records has an entry for each of them, or is known as
a part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tokentui
from tokentui.analyze.health import CHECKS
from tokentui.analyze.metrics import MEASURES
from tokentui.analyze.verify.peers import PEERS
from tokentui.axes import AXES
from tokentui.cli.program import COMMANDS
from tokentui.core.limits import LIMITS
from tokentui.formats import FORMATS
from tokentui.preset_table import PRESETS
from tokentui.ui.actions import ACTIONS

NAMES: dict[str, set[str]] = {
    **{name: set(axis) - {"none"} for name, axis in AXES.items()},
    "format": set(FORMATS), "preset": set(PRESETS), "command": set(COMMANDS), "limit": set(LIMITS),
    "peer": set(PEERS),
    "measure": {one.name for one in MEASURES}, "check": {one.name for one in CHECKS},
    "action": {one.name for one in ACTIONS},
}
"""The names of the records, by their kind."""

PARTS = {
    "tokentui.formats.huggingface.axes._NORMALIZERS": "normalize: one step of Hugging Face's each; others "
    "are refused by name",
    "tokentui.formats.huggingface.axes._ALONE": "split: one step of Hugging Face's each; others are patterns",
    "tokentui.session.tours.MOVES": "action: those that a tour can wait for and that change the step",
    "tokentui.text.kernels.rules.RULES": "split: rules of kernels, some of which are called as a split is",
}
"""Tables that hold less than an axis has, and why. Whoever reads them asks whether an entry is there."""

LEFT_OUT = {
    "tokentui.learn.kernels.layout.RULES": {name for name, one in AXES["tie"].items() if not one.kernel},
}
"""The names that a table of kernels lacks: those of records that say that they have none."""


def tables() -> Iterator[tuple[str, set[str]]]:
    """Every dict that a module writes down at its outermost level with texts for keys, two or more: its name
    and its keys."""
    root = Path(tokentui.__path__[0])
    for path in sorted(root.rglob("*.py")):
        module = ".".join(("tokentui", *path.relative_to(root).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        for statement in ast.parse(path.read_text("utf-8")).body:
            target = (
                statement.targets[0]
                if isinstance(statement, ast.Assign)
                else getattr(statement, "target", None)
            )
            value = getattr(statement, "value", None)
            if not isinstance(target, ast.Name) or not isinstance(value, ast.Dict):
                continue
            keys = [
                key.value
                for key in value.keys
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
            if len(keys) > 1:
                yield f"{module}.{target.id}", set(keys)


def keyed() -> dict[str, tuple[str, set[str]]]:
    """The tables of which most keys are names of one kind of records: (kind, names that it lacks).

    Of two kinds that would do it is the one of which it lacks less.
    """
    found: dict[str, tuple[str, set[str]]] = {}
    for name, keys in tables():
        for kind, names in NAMES.items():
            held, lacks = len(keys & names), names - keys
            fewer = name not in found or len(lacks) < len(found[name][1])
            if held >= 2 and held >= len(keys) / 2 and fewer:
                found[name] = kind, lacks
    return found


def test_no_table_lacks_a_record_of_its_kind() -> None:
    found = keyed()
    lacking = {
        name: (kind, lacks)
        for name, (kind, lacks) in found.items()
        if lacks != LEFT_OUT.get(name, set()) and name not in PARTS
    }
    assert not lacking
    assert {*PARTS, *LEFT_OUT} <= set(found)


def test_the_kernels_know_the_rules_that_records_say_they_know() -> None:
    from tokentui.learn.kernels.layout import RULES as TIE_RULES
    from tokentui.text.kernels.rules import RULES, RUNS, SPACED

    assert set(TIE_RULES) == {name for name, one in AXES["tie"].items() if one.kernel}
    assert set(RULES) - {RUNS, SPACED} == {one.rule for one in AXES["split"].values() if one.rule}
