"""A value that is new in one table: it is trained by, with kernels and without, or refused in a line, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from tokentui.core import jit
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment.unknown import POLICIES
from tokentui.learn import OBJECTIVES, start, without_kernel
from tokentui.learn.bases import BASES
from tokentui.learn.compiled import CompiledTrainer
from tokentui.learn.filters import FILTERS
from tokentui.learn.ties import TIES
from tokentui.recipe import AXES, Recipe
from tokentui.session.explorer import Explorer, Prepared, Run
from tokentui.text.corpus import Corpus
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.split import SPLITS, Span, Split, Splitter

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


# The axis, the table, what the new value is there, and a recipe that is known to do the same; None where none does.
VALUES: dict[str, tuple[Mapping[str, Any], Any, Recipe | None]] = {
    "tie": (TIES, TIES["smallest-pair"], PLAIN.with_axes(tie="smallest-pair")),
    "split": (SPLITS, Split("", "", False, _AtHyphens), PLAIN.with_axes(split="regex:[^-]+")),
    "base": (BASES, BASES["first-seen"], PLAIN.with_axes(base="first-seen")),
    "pieces": (FILTERS, _short, None),
    "normalize": (NORMALIZERS, NORMALIZERS["lowercase"], PLAIN.with_axes(normalize=("lowercase",))),
    "unknown": (POLICIES, POLICIES["fused"], PLAIN.with_axes(unknown="fused")),
    "objective": (OBJECTIVES, OBJECTIVES["count"], PLAIN),
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


@pytest.mark.parametrize("axis", VALUES)
def test_a_new_value_is_trained_by(axis: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, value, same = VALUES[axis]
    monkeypatch.setitem(cast("dict[str, Any]", AXES[axis].values), NAME, "does what is new")
    monkeypatch.setitem(cast("dict[str, Any]", table), NAME, value)
    recipe = PLAIN.with_axes(**{axis: (NAME,) if axis == "normalize" else NAME})
    made = steps(recipe)
    assert made
    if same is not None:
        assert made == steps(same)
    else:
        assert all(len(left + right) <= 2 for left, right, _ in made)
    tokenizer = start(CORPUS, recipe).tokenizer()
    assert tokenizer.encode("low§§").ids
    explorer = Explorer(Prepared(CORPUS, recipe, Run(), start(CORPUS, recipe)))
    seen = explorer.snapshot()
    assert seen.recipe == recipe
    assert seen.pairs


@pytest.mark.parametrize("axis", [*VALUES, "encode"])
def test_a_value_that_no_table_has_is_refused_in_a_line(axis: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{NAME}-nowhere"
    monkeypatch.setitem(cast("dict[str, Any]", AXES[axis].values), name, "does what is new")
    recipe = PLAIN.with_axes(**{axis: (name,) if axis == "normalize" else name})

    def use() -> None:
        trainer = start(CORPUS, recipe)
        trainer.run(merges=3)
        trainer.tokenizer().encode("low")

    with pytest.raises(TokentuiError, match=axis):
        use()


@pytest.mark.parametrize("change", [{"mark": f"{NAME}:x"}, {"weight": NAME}], ids=["mark", "weight"])
def test_a_mark_or_weight_that_nothing_does_is_refused(
    change: dict[str, str], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for axis, value in change.items():
        name = value.removesuffix("x")
        monkeypatch.setitem(cast("dict[str, Any]", AXES[axis].values), name, "does what is new")
    with pytest.raises(TokentuiError, match=NAME):
        steps(PLAIN.with_axes(**change))


def test_the_screen_says_what_has_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    large = Corpus.from_text("low lower lowest " * 4000, "large")
    recipe = PLAIN.shaped(symbols=("est",))
    explorer = Explorer(Prepared(large, recipe, Run(), start(large, recipe)))
    explorer.engine = "compiled (Numba 0)"
    assert explorer.snapshot().engine == "plain Python for symbols=est, else compiled (Numba 0)"
    known = Explorer(Prepared(large, PLAIN, Run(), start(large, PLAIN)))
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
    assert isinstance(start(CORPUS, recipe), CompiledTrainer) is (not said)
