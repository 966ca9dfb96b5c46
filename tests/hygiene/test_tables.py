"""Every table of the package that is keyed by names of records has an entry for each of them, or is known as
a part."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokentui
from tokentui.analyze.health import CHECKS
from tokentui.analyze.metrics import MEASURES
from tokentui.analyze.verify.peers import PEERS
from tokentui.axes import AXES, check, mended
from tokentui.cli.main import COMMANDS
from tokentui.core.limits import LIMITS
from tokentui.encode.segment import WordPart
from tokentui.formats import FORMATS
from tokentui.preset_table import PRESETS
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text.unicode import TABLES
from tokentui.ui.keymap import all_actions

NAMES: dict[str, set[str]] = {
    **{name: set(axis) - {"none"} for name, axis in AXES.items()},
    "format": set(FORMATS), "preset": set(PRESETS), "command": set(COMMANDS), "limit": set(LIMITS),
    "peer": set(PEERS),
    "measure": {one.name for one in MEASURES}, "check": {one.name for one in CHECKS},
    "action": set(all_actions()),
}
"""The names of the records, by their kind."""

PARTS = {
    "tokentui.formats.gguf.file._MODELS": "format: no formats, but the models that GGUF names",
    "tokentui.formats.huggingface.axes._NORMALIZERS": "normalize: one step of Hugging Face's each; others "
    "are refused by name",
    "tokentui.formats.huggingface.axes._ALONE": "split: one step of Hugging Face's each; others are patterns",
    "tokentui.tours.parser.MOVES": "action: those that a tour can wait for and that change the step",
    "tokentui.ui.keymap.SCREENS": "command: no commands, but the screens that have panes",
    "tokentui.ui.panes.compare.curves._AXES": "measure: no measures, but the fields of a curve",
    "tokentui.ui.predict.LABELS": "action: those with other labels while the next pair is hidden",
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


@pytest.mark.slow
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
    from tokentui.text.kernels.rules import RULES, RUNS, SPACED, WHITE

    assert set(TIE_RULES) == {name for name, one in AXES["tie"].items() if one.kernel}
    assert set(RULES) - {RUNS, SPACED, *WHITE} == {one.rule for one in AXES["split"].values() if one.rule}


BY_NAME = {
    "tokentui/analyze/verify": "builds the options of one library, which has names of its own",
    "tokentui/analyze/grading": "knows the mistakes of students by the values that make them",
    "tokentui/formats": "writes or reads the names of one format; what it does not know it refuses",
    "tokentui/learn/objectives.py": "refuses other values, in the records themselves",
    "tokentui/encode/reachability.py": "a lower bound that is exact for characters only",
    "tokentui/encode/segment/__init__.py": "refuses other values, in the records themselves",
    "tokentui/encode/vocabulary.py": "the base: encode/ does not import learn/",
    "tokentui/text/split.py": "the filter: text/ does not import learn/",
    "tokentui/text/kernels": "picks a kernel for a value; a value without one is counted in plain Python",
    "tokentui/learn/kernels": "picks a kernel for a value; a value without one is trained in plain Python",
    "tokentui/encode/kernels": "picks a kernel for a value; a value without one is encoded in plain Python",
    "tokentui/learn/unigram/corpus.py": "picks a faster way for characters",
    "tokentui/learn/pairs.py": "names WordPiece in a sentence",
    "tokentui/tours/practice.py": "cuts a word where its recipe puts a mark",
    "tokentui/tokenizer.py": "reads the documents for the one objective that looks at them",
    "tokentui/cli/commands/train.py": "the unknown token of one format",
}
"""Places that compare a value of an axis by its name, and why. Elsewhere a field of the record says it."""


@pytest.mark.slow
def test_what_a_value_means_is_read_from_its_record() -> None:
    root, found = Path(tokentui.__path__[0]), dict[str, list[str]]()
    axes = {*AXES, "mark_kind"}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Compare):
                continue
            sides = [node.left, *node.comparators]
            values = {
                side.attr for side in sides
                if isinstance(side, ast.Attribute) and ast.unparse(side.value).endswith("recipe")
            }
            named = [
                constant.value for side in sides for constant in ast.walk(side)
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
            ]
            if values & axes and named:
                found.setdefault(name, []).append(f"{node.lineno}: {ast.unparse(node)}")
    places = {place for place in BY_NAME for name in found if name.startswith(place)}
    assert not {name: rows for name, rows in found.items() if not name.startswith(tuple(BY_NAME))}
    assert places == {*BY_NAME}


def test_the_fields_of_records_are_what_their_functions_do() -> None:
    for name, step in AXES["normalize"].items():
        stages = step.stages(TABLES[NEWEST_UNICODE])
        text = functools.reduce(lambda text, stage: stage(text), stages, "  a  b  ")
        assert step.trims is (text == "a b"), name
        marks = functools.reduce(lambda text, stage: stage(text), stages, "\u0301")
        assert step.drops_marks is (marks == ""), name
    for name, unit in AXES["unit"].items():
        assert unit.is_byte is (list(unit.cut("é")) == [b"\xc3", b"\xa9"]), name
    for name, mark in AXES["mark"].items():
        units = [b"a", b"b"] if mark.put is None else mark.put([b"a", b"b"], b"#")
        assert mark.in_front is (units == [b"a", b"#b"]), name
        assert mark.at_end is (units == [b"a", b"b#"]), name
        assert mark.is_unit is (units == [b"a", b"b", b"#"]), name
    for name, base in AXES["base"].items():
        assert base.all_bytes is (len(base.units({})) == 256), name
    for name, weight in AXES["weight"].items():
        assert weight.by_occurrences is (weight.of([3, 1, 2]) == [3, 1, 2]), name
        assert weight.by_occurrences or weight.fact, name
    for name, pieces in AXES["pieces"].items():
        allows = pieces.allows or (lambda _: True)
        assert pieces.digits_alone is (allows(b"2") and not allows(b"20")), name
        assert not any(allows(f"a{sign}".encode()) for sign in pieces.barred), name
    parts, units = [WordPart(0, 1), WordPart(1, 2), WordPart(2, 3, symbol=0)], [b"a", b"b", b"c"]
    for name, way in AXES["unknown"].items():
        made = parts if way.policy is None else way.policy(parts, units, bytes)
        assert way.fuses_runs is (made == [WordPart(0, 2), parts[2]]), name
        assert way.drops_units is (made == parts[2:]), name
        assert way.byte_fallback is any(part.byte is not None for part in made), name


@pytest.mark.parametrize("name", AXES["base"])
def test_a_base_that_says_so_comes_after_the_merges(name: str) -> None:
    recipe = check(mended(Recipe(), "base", name) or Recipe())
    tokenizer = tokentui.train("sample:hugs", recipe, merges=3)
    rows = sorted(tokenizer.entries(), key=lambda row: row.id)
    merged = [row.kind == "merge" for row in rows]
    assert merged == sorted(merged, reverse=AXES["base"][name].after_merges)


def test_a_way_by_rank_applies_the_merges_in_their_order() -> None:
    corpus = tokentui.Corpus.from_text("da " * 20 + "cd " * 9 + "ab " * 8 + "bcd " * 7)
    texts = ["".join(letters) for letters in itertools.product("abcd", repeat=4)][::3]
    expected = None
    for name, way in AXES["encode"].items():
        recipe = mended(Recipe(), "encode", name)
        assert recipe is not None, name
        tokenizer = tokentui.train(corpus, recipe, merges=8)
        made = [tokenizer.encode(text).tokens for text in texts]
        expected = expected or made  # the first of the table replays the merges
        assert way.by_rank is (made == expected), name
