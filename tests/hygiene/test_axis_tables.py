"""Every table of the package that is keyed by the values of an axis has an entry for each of them, or says that it is a part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokentui
from tokentui.axes import AXES

PARTS = {
    "tokentui.text.kernels.rules.RULES": "split: rules of kernels, some of which are called as a split is",
    "tokentui.formats.huggingface.normalizers._AXES": "normalize: the others are steps of their own",
    "tokentui.learn.compiled._TASKS": "objective: those with kernels of pairs",
    "tokentui.learn.compiled._KINDS": "unit: those that have a number",
}
"""Tables that hold less than an axis has, and why. Whoever reads them asks whether an entry is there."""


def tables() -> Iterator[tuple[str, set[str]]]:
    """Every dict that a module writes down at its outermost level with texts for keys, two or more: its name and its keys."""
    root = Path(tokentui.__path__[0])
    for path in sorted(root.rglob("*.py")):
        module = ".".join(("tokentui", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        for statement in ast.parse(path.read_text("utf-8")).body:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
            value = getattr(statement, "value", None)
            if not isinstance(target, ast.Name) or not isinstance(value, ast.Dict):
                continue
            keys = [key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            if len(keys) > 1:
                yield f"{module}.{target.id}", set(keys)


def keyed() -> dict[str, tuple[str, set[str]]]:
    """The tables of which most keys are values of one axis: (axis, values that it lacks)."""
    found = {}
    for name, keys in tables():
        for axis in AXES.values():
            values = {value for value in axis if value not in ("none",)}
            held = keys & values
            if len(held) >= 2 and len(held) >= len(keys) / 2:
                found[name] = axis.name, values - keys
    return found


def test_no_table_lacks_a_value_of_its_axis() -> None:
    lacking = {name: (axis, lacks) for name, (axis, lacks) in keyed().items() if lacks and name not in PARTS}
    assert not lacking


def test_the_kernels_know_the_rules_that_records_say_they_know() -> None:
    pytest.importorskip("numba")
    from tokentui.learn.kernels.pairs_fields import RULES as TIE_RULES
    from tokentui.text.kernels.rules import RULES, RUNS

    assert set(TIE_RULES) == {name for name, one in AXES["tie"].items() if one.kernel}
    assert set(RULES) - {RUNS} == {one.rule for one in AXES["split"].values() if one.rule}
