"""Every table of the package that is keyed by the values of an axis has an entry for each of them, or says that it is a part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokentui
from tokentui.recipe import AXES

PARTS = {
    "tokentui.formats.huggingface.recipes._PLAIN": "normalize: the others are steps of their own",
    "tokentui.formats.stages._READ": "names of formats, of which one is called as a split is",
    "tokentui.core.jit._KERNELS": "objective: tasks that have kernels, some of which are objectives",
    "tokentui.text.kernels.rules._PAIRS": "split: those with a scanner",
    "tokentui.text.kernels.rules.WORD_RULES": "split: those with a rule of their own",
    "tokentui.text.kernels.tables._TABLES": "split: those with a table of their own",
    "tokentui.learn._COMPILED": "objective: those with kernels",
    "tokentui.learn.compiled._TASKS": "objective: those with kernels of pairs",
    "tokentui.learn.compiled._KINDS": "unit: those that have a number",
    "tokentui.ui.dialogs.draft._TEXTS": "values with a text: an example of it",
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
            values = {value for value in axis.values if value not in ("none",)}
            held = keys & values
            if len(held) >= 2 and len(held) >= len(keys) / 2:
                found[name] = axis.name, values - keys
    return found


def test_no_table_lacks_a_value_of_its_axis() -> None:
    known = keyed()
    complete = {
        "tokentui.learn.ties.TIES", "tokentui.learn.bases.BASES", "tokentui.learn.filters.FILTERS", "tokentui.text.split.SPLITS",
        "tokentui.text.normalize.NORMALIZERS", "tokentui.text.pretokenize.UNITS", "tokentui.learn.OBJECTIVES",
        "tokentui.encode.segment.unknown.POLICIES", "tokentui.encode.offsets.ENCODERS", "tokentui.ui.panes.why._TIE_RULES",
        "tokentui.analyze.ways._HOW", "tokentui.session.stages._WAYS", "tokentui.ui.panes.candidates._COLUMNS",
    }
    assert complete <= known.keys(), "a table that was keyed by an axis is so no more: mend this test"
    lacking = {name: (axis, lacks) for name, (axis, lacks) in known.items() if lacks and name not in PARTS}
    assert not lacking


def test_the_kernels_know_the_tie_rules_that_they_are_said_to_know() -> None:
    pytest.importorskip("numba")
    from tokentui.learn.compiled import TIES
    from tokentui.learn.kernels.pairs_fields import RULES

    assert set(RULES) == set(TIES)
