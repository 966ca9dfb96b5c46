"""A value that is new in one table: it is trained by, with kernels and without, or refused in a line, and never a traceback."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running_cli import done

import tokentui
from tokentui.axes import AXES, check, preset
from tokentui.core import jit
from tokentui.core.choices import Choice
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment.unknown import UNKNOWN
from tokentui.encode.segment.ways import WAYS
from tokentui.learn import start
from tokentui.learn.bases import BASES, WEIGHTS
from tokentui.learn.compiled import without_kernel
from tokentui.learn.filters import FILTERS
from tokentui.learn.objectives import OBJECTIVES
from tokentui.learn.ties import TIES
from tokentui.learn.trainer import COMPILED
from tokentui.presets import PRESETS, Preset
from tokentui.recipe import Recipe, Run
from tokentui.session.prepared import Prepared
from tokentui.session.state import State
from tokentui.text.corpus import Corpus
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.split import Span, Split, Splitter
from tokentui.text.units import MARKS, UNITS
from tokentui.ui.dialogs import draft, recipe_rows

CORPUS = Corpus.from_text("low lower-lowest New newer-newest wide-wider " * 40 + "widest LOW", "new values")
PLAIN = Recipe(split="whitespace", unit="char", base="sorted", tie="first-seen", unknown="per-unit")
NAME = "brand-new"


class _AtHyphens(Splitter):
    """A split that is a function, without a pattern."""

    __slots__ = ()

    def words(self, text: str, *, first: bool = True) -> list[str]:
        return [word for word, _, _ in self.spans(text)]

    def spans(self, text: str, *, first: bool = True) -> list[Span]:
        found, at = [], 0
        for word in text.split("-"):
            if word:
                found.append((word, at, at + len(word)))
            at += len(word) + 1
        return found


def _short(piece: bytes) -> bool:
    return len(piece) <= 2


def new(record: Any, **fields: Any) -> Any:
    """A record under the new name, which no kernel knows."""
    known = {"kernel": False} if hasattr(record, "kernel") else {}
    return replace(record, name=NAME, **known, **fields)


# The axis, its new value, and a recipe that is known to do the same; None where none does.
VALUES: dict[str, tuple[Choice, Recipe | None]] = {
    "tie": (new(TIES["smallest-pair"]), PLAIN.with_axes(tie="smallest-pair")),
    "split": (Split(NAME, "at hyphens", kind=_AtHyphens), PLAIN.with_axes(split="regex:[^-]+")),
    "base": (new(BASES["first-seen"]), PLAIN.with_axes(base="first-seen")),
    "pieces": (new(FILTERS["any"], allows=_short), None),
    "normalize": (new(NORMALIZERS["lowercase"]), PLAIN.with_axes(normalize=("lowercase",))),
    "unknown": (new(UNKNOWN["fused"]), PLAIN.with_axes(unknown="fused")),
    "objective": (new(OBJECTIVES["count"], task=""), PLAIN),
    "encode": (new(WAYS["merges"]), PLAIN),
    "unit": (new(UNITS["char"], kinds=0), PLAIN),
    "mark": (new(MARKS["none"]), PLAIN),
    "weight": (new(WEIGHTS["distinct"]), PLAIN.with_axes(weight="distinct")),
}


@pytest.fixture(params=["plain", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setenv(jit.ENGINE, request.param)
    return str(request.param)


def steps(recipe: Recipe) -> list[tuple[bytes, bytes, int]]:
    trainer = start(CORPUS, recipe)
    trainer.run(merges=60)
    return [(step.left, step.right, step.count) for step in trainer.steps()]


def with_new(axis: str, name: str = NAME) -> Recipe:
    """A recipe with the new value."""
    return PLAIN.with_axes(**{axis: (name,) if axis == "normalize" else name})


def test_every_axis_is_tried() -> None:
    assert VALUES.keys() == AXES.keys()


@pytest.mark.parametrize("axis", VALUES)
def test_a_new_value_is_trained_by(axis: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record, same = VALUES[axis]
    monkeypatch.setitem(AXES[axis], NAME, record)
    recipe = check(with_new(axis))
    made = steps(recipe)
    assert made
    if same is not None:
        assert made == steps(same)
    else:
        assert all(len(left + right) <= 2 for left, right, _ in made)
    tokenizer = start(CORPUS, recipe).tokenizer()
    assert tokenizer.encode("low§§").ids
    explorer = State(Prepared(CORPUS, recipe, Run(), start(CORPUS, recipe)))
    seen = explorer.snapshot()
    assert seen.main.recipe == recipe
    assert seen.main.candidates.rows


@pytest.mark.parametrize("axis", VALUES)
def test_a_new_value_shows_up_everywhere(axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the list of commands, the own file, another tool's file or its refusal, and the rows of the dialog."""
    monkeypatch.setitem(AXES[axis], NAME, VALUES[axis][0])
    recipe = check(with_new(axis))
    (row,) = [one for one in json.loads(done("recipes", "--json"))["axes"] if one["name"] == axis]
    assert row["values"][NAME] == VALUES[axis][0].about
    assert NAME in [option.label for option in draft.options(PLAIN, axis)]
    assert VALUES[axis][0].about in recipe_rows.meaning(recipe, axis)
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    tokenizer = tokentui.train(CORPUS, recipe, merges=9)
    tokenizer.save(tmp_path / "own.json")
    assert tokentui.load(tmp_path / "own.json").encode("lower newest").ids == tokenizer.encode("lower newest").ids
    with contextlib.suppress(TokentuiError):  # a format may say that it cannot hold it
        tokenizer.save(tmp_path / "other.json", "huggingface")


def test_a_new_preset_shows_up_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = r"regex:\w+|\s+"
    monkeypatch.setitem(PRESETS, NAME, Preset(NAME, "new", "what is new", "nowhere", Recipe(split=pattern)))
    assert preset(NAME).split == pattern
    assert NAME in done("recipes")
    assert pattern in json.loads(done("recipes", NAME, "--json"))["recipe"]["split"]
    assert NAME in [row.key for row in recipe_rows.presets(PLAIN)]
    assert tokentui.train(CORPUS, NAME, merges=3).vocab_size == 259


@pytest.mark.parametrize("axis", AXES)
def test_a_value_without_a_record_is_refused_in_a_line(axis: str, engine: str) -> None:
    recipe = with_new(axis, "of-no-record")

    def use() -> None:
        trainer = start(CORPUS, recipe)
        trainer.run(merges=3)
        trainer.tokenizer().encode("low")

    for refused in (use, lambda: check(recipe)):
        with pytest.raises(TokentuiError, match=axis):
            refused()


def test_the_screen_says_what_has_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    large = Corpus.from_text("low lower lowest " * 4000, "large")
    recipe = PLAIN.shaped(symbols=("est",))
    explorer = State(Prepared(large, recipe, Run(), start(large, recipe)))
    explorer.engine = "compiled (Numba 0)"
    assert explorer.snapshot().engine == "plain Python for symbols=est, else compiled (Numba 0)"
    known = State(Prepared(large, PLAIN, Run(), start(large, PLAIN)))
    known.engine = "compiled (Numba 0)"
    assert known.snapshot().engine == "compiled (Numba 0)"


@pytest.mark.parametrize(("change", "said"), [
    (lambda: PLAIN, ""),
    (lambda: PLAIN.with_axes(pieces="sentencepiece"), "pieces=sentencepiece"),
    (lambda: PLAIN.shaped(coverage=0.99), "coverage=0.99"),
    (lambda: PLAIN.shaped(symbols=("a", "b")), "symbols=a b"),
    (lambda: Recipe(split="none", base="bytes", tie="largest-pair", objective="gage"), "objective=gage"),
])
def test_without_kernel(change: Callable[[], Recipe], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = change()
    assert without_kernel(recipe) == said
    pytest.importorskip("numba")
    monkeypatch.setenv(jit.ENGINE, "compiled")
    assert (start(CORPUS, recipe).traits.engine == COMPILED) is (not said)
