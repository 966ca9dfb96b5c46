"""Words counted by the stretches between places to cut are those that plain Python counts."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import scanners
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokentui.axes import preset
from tokentui.preset_table import PRESETS
from tokentui.recipe import NEWEST_UNICODE, Recipe
from tokentui.text.corpus import Corpus, LongText
from tokentui.text.count import Words, count
from tokentui.text.kernels import rules
from tokentui.text.pretokenize import Pretokenizer
from tokentui.text.split import SPLITS, splitter

CHARACTERS: dict[str, Any] = {"unit": "char", "base": "sorted", "unknown": "per-unit"}
RECIPES = {
    "llama2": PRESETS["llama2"].recipe, "falcon": PRESETS["falcon"].recipe,
    "metaspace": Recipe(split="metaspace", **CHARACTERS), "space": Recipe(split="space", **CHARACTERS),
    "no front": Recipe(split="metaspace", prefix_space=False, **CHARACTERS),
    "words": Recipe(split="words"), "before": Recipe(split="before"),
    "front": Recipe(split="gpt2", prefix_space=True), "own": Recipe(split=r"regex:\w+|[^\w\s]+"),
    "own, of characters": Recipe(split=r"regex:[^\W\d]+|\d{1,3}(?!\d)|\s+(?!\S)|\s", **CHARACTERS),
    "own, in groups": Recipe(split=r"regex:(\w)+|( ?[^\w\s]+)"),
    "own, with ends": Recipe(split=r"regex: ?\p{L}+|\s+$|\s*[\r\n]+|[^\s\p{L}]{1,3}"),
    "symbols": PRESETS["xlnet"].recipe, "albert": PRESETS["albert"].recipe,
    "composed": Recipe(normalize=("nmt-nfkc", "nfd"), split="metaspace", **CHARACTERS),
    **{f"split={name}": Recipe(split=name) for name, split in SPLITS.items() if split.cut},
}
marked = st.text(alphabet=f"ab. '\n1A中é\u0301▁Σς£–{scanners.SHORT}<eop>\u2028\u3000¨ﾊﾟ", max_size=20)
documents = st.lists(scanners.texts | marked, max_size=4)


def counted(counting: ModuleType, lines: list[Any], recipe: Recipe, **more: Any) -> list[tuple[str, int]]:
    found = Words.of(counting.count_words(lines, recipe, Pretokenizer(recipe).words, **more))
    return list(zip(found.words, found.counts, strict=True))


def plainly(lines: list[str], recipe: Recipe) -> list[tuple[str, int]]:
    found = scanners.plain_count(Corpus.from_lines(lines), recipe)
    return list(zip(found.words, found.counts, strict=True))


@pytest.mark.parametrize("name", RECIPES)
@settings(max_examples=80, deadline=None)
@given(lines=documents, threads=st.integers(1, 2), chunk=st.integers(1, 9))
@example(lines=["a b", " a", "▁a", "", "▁ b", "b"], threads=1, chunk=3)
@example(lines=["a<eop>b (c)", "ΑΣ Σ.", "x ¨ y¨", "\u0301 a"], threads=2, chunk=2)
@pytest.mark.first_run(cases=1)
def test_any_text_in_any_chunks(
    counting: ModuleType, name: str, lines: list[str], threads: int, chunk: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tokentui.text.kernels.count.CHUNK_CHARS", chunk)
        assert counted(counting, lines, RECIPES[name], threads=threads) == plainly(lines, RECIPES[name])


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize("name", RECIPES)
def test_a_long_text_and_each_beginning(
    counting: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokentui.text.kernels.count.CHUNK_CHARS", 7)
    for head in ("", " ", "▁", "\n", "."):
        text = head + "Der Köter, des K's; 1234 中文。 ▁x  y\n\n" * 9
        assert counted(counting, [LongText(text.encode())], RECIPES[name]) == plainly([text], RECIPES[name])


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize("split", [name for name, one in SPLITS.items() if one.cut])
def test_the_table_says_where_the_pattern_cuts(split: str) -> None:
    found = rules.stretches(split, NEWEST_UNICODE)
    assert found is not None
    table, borders = found
    cut = splitter(split).cut
    assert cut is not None
    for left in scanners.TRICKY:
        for right in scanners.TRICKY:
            place = scanners.class_of(table, ord(left)) * rules.CLASSES + scanners.class_of(table, ord(right))
            far = max(left, right) > "\uffff"
            match = cut.match(left + right)
            assert borders[place] == (not far and match is not None and match.end() == 1), (left, right)


def test_a_pattern_of_many_classes_stays_exact(counting: ModuleType) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    recipe = Recipe(split="regex:" + "|".join(f"{one}+" for one in letters))
    found = rules.stretches(recipe.split, recipe.unicode)
    assert found is not None
    text = "".join(one * n for n, one in enumerate(letters)) * 3 + "zyxa zz"
    assert counted(counting, [text], recipe) == plainly([text], recipe)


def test_many_stretches_that_do_not_come_again_are_left(
    counting: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "MANY", 20)
    recipe = Recipe(split=r"regex:\w+,?|\s")
    for often, left in ((1, True), (7, False)):
        text = " ".join(f"w{n}," for n in range(50)) + " "
        found = counting.count_words([text * often], recipe, Pretokenizer(recipe).words)
        assert (found is None) == left


@pytest.mark.parametrize(
    "recipe", [
        Recipe(split="none"), Recipe(split=r"regex:\bx"), Recipe(split="regex:(?s).+"),
        Recipe(normalize=("nfc",)), Recipe(split="gpt2", symbols=("a",)),
        Recipe(normalize=("nmt-nfkc",), split="metaspace", symbols=("a b",), **CHARACTERS),
        Recipe(normalize=("nmt-nfkc", "strip-accents"), split="metaspace", **CHARACTERS),
        Recipe(normalize=("nmt-nfkc",), split="metaspace", prefix_space=False, **CHARACTERS),
    ], ids=str,
)
def test_what_has_no_stretches(recipe: Recipe) -> None:
    assert rules.scanned(recipe) == ""


@pytest.mark.parametrize(
    "text", ["\U0001f602 thing", "a \U0001d400 b \U0001f602\udc80 c", "\U00020000  \u2581 a"]
)
@pytest.mark.parametrize("name", ["llama2", "falcon", "gpt2", "t5"])
def test_characters_past_the_first_plane(name: str, text: str, loaded: None) -> None:
    """No stretch ends next to one, so that a stretch may hold several words."""
    corpus, recipe = Corpus.from_lines([text]), preset(name)
    found, plain = count(corpus, recipe), scanners.plain_count(corpus, recipe)
    assert (list(found.words), list(found.counts)) == (list(plain.words), list(plain.counts))
