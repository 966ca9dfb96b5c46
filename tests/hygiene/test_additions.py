"""Each of the eight kinds of additions is one entry in a table or one file, and is then seen everywhere.

`docs/architecture.md` says where each is added. Each test first shows that the name is refused without the
entry.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import added_method
import made_up_format
import pytest
from reimporting import import_again
from running_cli import done, rows

import tokentui
from tokentui import building, learn
from tokentui.analyze import metrics
from tokentui.analyze.metrics import Measure
from tokentui.axes import AXES, check
from tokentui.core import engines, native
from tokentui.core.choices import Choice, Ref
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import EncodingWay
from tokentui.formats import FORMATS, WRITTEN
from tokentui.learn import Query, start
from tokentui.learn.objectives import Material, Objective, columns
from tokentui.learn.ranking import Key, Spelling, TieRule
from tokentui.learn.start_pairs import pair_trainer
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.count import count
from tokentui.text.split import Split, WordSpan
from tokentui.ui.dialogs import draft

NAME = "brand-new"
PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="per-unit")
CORPUS = Corpus.from_text("ab cd abc abc-abc xyz xyz " * 5, "letters")
FILE = "letters.txt"


@pytest.fixture
def corpus_file(tmp_path: Path) -> str:
    path = tmp_path / FILE
    path.write_text("ab cd abc abc-abc xyz xyz " * 5)
    return str(path)


def add_value(axis: str, record: Choice, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """Add a value to an axis, and return a recipe with it."""
    recipe = PLAIN.with_axes(**{axis: NAME})
    with pytest.raises(TokentuiError, match=NAME):
        check(recipe)
    monkeypatch.setitem(AXES[axis], NAME, record)
    return check(recipe)


def check_axis_lists(axis: str, recipe: Recipe) -> None:
    """Check that the value is in all lists that people and programs choose from, and in its documentation."""
    about = AXES[axis][NAME].about
    (row,) = [row for row in json.loads(done("recipes", "--json"))["axes"] if row["name"] == axis]
    assert row["values"][NAME] == about
    assert NAME in [option.label for option in draft.options(PLAIN, axis)]
    assert about in draft.meaning(recipe, axis)
    assert Recipe.from_toml(recipe.to_toml()) == recipe


def check_commands(axis: str, recipe: Recipe, corpus_file: str, tmp_path: Path) -> None:
    """Train by a recipe file on the command line, save, load, and encode alike."""
    own, recipe_file = tmp_path / "own.json", tmp_path / "recipe.toml"
    recipe_file.write_text(recipe.to_toml())
    done("train", corpus_file, "-r", str(recipe_file), "--merges", "4", "-o", str(own))
    loaded = tokentui.load(own)
    assert loaded.recipe.axis(axis) == NAME
    trained = tokentui.train(CORPUS, recipe, merges=4)
    assert loaded.encode("abc xyz-").ids == trained.encode("abc xyz-").ids


# ---- 1. a tie rule


def _last_first(candidates: Spelling) -> Key:
    """The pair that occurs last in the corpus wins: the opposite of first-seen."""
    return lambda candidate: -candidates.first_place(candidate)


def test_a_tie_rule_is_one_entry(
    monkeypatch: pytest.MonkeyPatch, corpus_file: str, tmp_path: Path
) -> None:
    record = TieRule(NAME, "the one seen last", why="takes the one that is seen last", key=_last_first)
    recipe = add_value("tie", record, monkeypatch)
    tied = Corpus.from_text("ab cd ef")
    for tie, token in ((NAME, b"ef"), ("first-seen", b"ab")):
        trainer = start(tied, recipe.with_axes(tie=tie))
        assert learn.candidates(trainer, Query()).rows[0].token == token
        assert learn.step(trainer) is not None
        assert trainer.taken(1).token == token  # type: ignore[union-attr]
    check_axis_lists("tie", recipe)
    check_commands("tie", recipe, corpus_file, tmp_path)


# ---- 2. a split


def _at_hyphens(pattern: object, text: str, seen: object) -> Iterator[WordSpan]:
    start_of_word = 0
    for word in text.split("-"):
        yield word, start_of_word, start_of_word + len(word)
        start_of_word += len(word) + 1


def test_a_split_is_one_entry(monkeypatch: pytest.MonkeyPatch, corpus_file: str, tmp_path: Path) -> None:
    recipe = add_value("split", Split(NAME, "cut at hyphens", find_words=_at_hyphens), monkeypatch)
    assert start(Corpus.from_text("a-b-c"), recipe).words.words == ("a", "b", "c")
    check_axis_lists("split", recipe)
    check_commands("split", recipe, corpus_file, tmp_path)


# ---- 3. an objective


def _rarest(count: int, left: int, right: int) -> tuple[int, int]:
    return 1, count


def test_an_objective_is_one_entry(
    monkeypatch: pytest.MonkeyPatch, corpus_file: str, tmp_path: Path
) -> None:
    record = Objective(
        NAME, "it is rarest", label="rarest", trainer=Ref("tokentui.learn.start_pairs:pair_trainer"),
        value=_rarest, formula="1/c(xy)", columns=columns("count", "rarity"), filters=True,
    )
    recipe = add_value("objective", record, monkeypatch)
    trainer = start(Corpus.from_text("ab ab ab cd"), recipe)
    best = learn.candidates(trainer, Query()).rows[0]
    assert (best.token, best.values) == (b"cd", (1, 1.0))
    assert learn.step(trainer) is not None
    assert [column.name for column in trainer.traits.columns] == ["count", "rarity"]
    check_axis_lists("objective", recipe)
    check_commands("objective", recipe, corpus_file, tmp_path)


# ---- 4. a method of an event training


def test_a_method_is_one_file_and_its_entry(
    monkeypatch: pytest.MonkeyPatch, corpus_file: str, tmp_path: Path
) -> None:
    record = Objective(
        NAME, "it occurs most often, by a new method", label="merge only",
        trainer=Ref("added_method:trainer"), columns=columns("count", "change"), events=True,
    )
    recipe = add_value("objective", record, monkeypatch)
    new, plain = start(CORPUS, recipe), start(CORPUS, PLAIN)
    for trainer in (new, plain):
        learn.run(trainer, Stops(merges=5))
    assert [new.taken(step).token for step in range(1, 6)] == [  # type: ignore[union-attr]
        plain.taken(step).token for step in range(1, 6)  # type: ignore[union-attr]
    ]
    assert (new.step_at(1).kind, new.traits.step) == ("only merge", "only merge")
    assert added_method.FACT in learn.why(new, Stops()).facts
    learn.jump(new, 2)
    assert new.tokens_at(2) == plain.tokens_at(2)
    assert learn.what_if(new, recipe.under(()).changes).number == 2
    assert new.tokenizer().encode("abc").ids == plain.tokenizer(2).encode("abc").ids
    check_axis_lists("objective", recipe)
    check_commands("objective", recipe, corpus_file, tmp_path)


# ---- 5. a way of encoding


def test_a_way_of_encoding_is_one_entry(
    monkeypatch: pytest.MonkeyPatch, corpus_file: str, tmp_path: Path
) -> None:
    record = EncodingWay(
        NAME, "each unit by itself", how="each unit, one by one", segmenter=Ref("added_method:UnitByUnit")
    )
    recipe = add_value("encode", record, monkeypatch)
    tokenizer = tokentui.train(CORPUS, recipe, merges=4)
    assert tokenizer.encode("abc").pieces == (b"a", b"b", b"c")
    assert tokenizer.decode(tokenizer.encode("abc").ids) == "abc"
    check_axis_lists("encode", recipe)
    check_commands("encode", recipe, corpus_file, tmp_path)


# ---- 6. a format


def test_a_format_is_one_module_and_its_entry(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recipe = Recipe(split="none", encode="longest-match", base="bytes")
    tokenizer, path = tokentui.train(CORPUS, recipe, merges=9), tmp_path / "made.strangers"
    with pytest.raises(TokentuiError, match=made_up_format.FORMAT.name):
        tokenizer.save(path, made_up_format.FORMAT.name)
    import_again(monkeypatch, "tokentui.cli.commands.convert")  # its help lists the formats at its import
    for table in (FORMATS, WRITTEN):
        monkeypatch.setitem(table, made_up_format.FORMAT.name, made_up_format.FORMAT)
    tokenizer.save(path, made_up_format.FORMAT.name)
    assert tokentui.load(path).encode("abc").pieces == tokenizer.encode("abc").pieces
    assert made_up_format.FORMAT.name in done("convert", "--help")
    tokenizer.save(tmp_path / "own.json")
    path.unlink()
    done("convert", str(tmp_path / "own.json"), str(path))
    assert tokentui.load(path).encode("abc").pieces == tokenizer.encode("abc").pieces


# ---- 7. a measure


def test_a_measure_is_one_entry(monkeypatch: pytest.MonkeyPatch, corpus_file: str) -> None:
    command = ("compare", corpus_file, "-r", "gpt2", "-r", "bert", "--merges", "3")
    assert NAME not in done(*command, "--json")
    measure: Measure[Any] = Measure(
        NAME, "tokens, twice", "2·N", "tokens", "lower", lambda tally: 2 * tally.tokens
    )
    monkeypatch.setattr(metrics, "MEASURES", (*metrics.MEASURES, measure))
    assert "tokens, twice" in done(*command)
    assert any(NAME in json.dumps(row) for row in rows(done(*command, "--json")))


# ---- 8. a kernel


def test_a_kernel_is_one_plain_function_in_a_module_of_kernels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = building.modules()
    room = tmp_path / "tokentui" / "learn" / "kernels"
    room.mkdir(parents=True)
    (room / "__init__.py").touch()
    (room / "doubling.py").write_text("")
    monkeypatch.setattr(building, "__file__", str(tmp_path / "tokentui" / "building.py"))
    module = types.ModuleType("tokentui.learn.kernels.doubling")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert building.modules() == [module]  # the file alone is enough
    assert module not in shipped

    def double(number: int) -> int:
        return 2 * number

    monkeypatch.setitem(native.KERNELS, "doubling.double", None)  # so that it is removed after the test
    double.__module__ = module.__name__
    kernel = native.kernel(double)
    assert kernel.function(4) == 8  # the plain way
    building._write_manifest(tmp_path, {"files": {}})
    written = json.loads((tmp_path / "manifest.json").read_text())["kernels"]
    assert written["doubling.double"] == "int64 <- int64"
    assert written.keys() - {"doubling.double"} >= native.manifest()["kernels"].keys() != set()


def test_a_kernel_that_no_library_has_leaves_the_work_to_plain_python(
    loaded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokentui.learn.compiled import KernelPairs

    def missing(number: int) -> int:
        return number

    monkeypatch.setitem(native.KERNELS, "missing.missing", None)  # so that it is removed after the test
    monkeypatch.setattr(engines, "failed", False)
    warnings: list[Exception] = []
    monkeypatch.setattr(engines, "tell", warnings.append)
    missing.__module__ = "tokentui.learn.kernels.missing"
    kernel = native.kernel(missing)
    with pytest.raises(native.KernelsUnavailable, match="missing"):
        kernel(1)
    monkeypatch.setattr(KernelPairs, "walk", lambda self, goal, under: kernel(goal))
    trainer = pair_trainer(Material.of(count(CORPUS, PLAIN), PLAIN), compiled=True)
    assert trainer.traits.engine == engines.COMPILED
    learn.run(trainer, Stops(merges=3))
    assert "plain Python goes on" in str(warnings)
    assert (trainer.number, trainer.traits.engine) == (3, engines.PLAIN)
