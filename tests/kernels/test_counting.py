"""Counting with kernels gives what the patterns give: the same words, the same order, the same counts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import oracle
import peers
import pytest
import scanners
import soak
from hypothesis import given, settings
from hypothesis import strategies as st

from tokentui.core.errors import Cancelled
from tokentui.core.jobs import job
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe
from tokentui.text import read
from tokentui.text.corpus import Corpus
from tokentui.text.count import Words
from tokentui.text.count import count as plain
from tokentui.text.kernels.rules import scanned
from tokentui.text.pretokenize import Pretokenizer

CHARACTERS: dict[str, Any] = {"unit": "char", "base": "sorted", "unknown": "per-unit"}
AROUND = [
    ("", ""), ("a", "a"), ("A", "A"), (" ", "s"), ("'", "'s"), ("a'", "l"), ("\n", "\n"), ("1", "1"),
    ("!", "/"),
    ("中", "\u0301"),
]


def found(counting: ModuleType, documents: Sequence[str], split: str, **more: Any) -> list[tuple[str, int]]:
    counted = counting.count(documents, split, **more)
    return list(zip(counted.words(), counted.counts.tolist(), strict=True))


def kernel_count(counting: ModuleType, documents: Sequence[str], recipe: Recipe) -> Words:
    return Words.of(counting.count_words(documents, recipe, Pretokenizer(recipe).words))


def compare(counting: ModuleType, documents: Sequence[str], split: str) -> None:
    """Of documents that differ, name the first that does so alone."""
    if found(counting, documents, split) != scanners.by_pattern(documents, split):
        for document in documents:
            assert found(counting, [document], split) == scanners.by_pattern([document], split), ascii(
                document
            )
        raise AssertionError(f"{split}: only together do they differ")


def compare_batches(counting: ModuleType, documents: list[str], split: str, size: int) -> None:
    random.Random(7).shuffle(documents)
    for at in range(0, len(documents), size):
        compare(counting, documents[at : at + size], split)


def every_code_point(before: str, after: str) -> list[str]:
    """Each code point between these, in documents of a thousand."""
    ones = [before + chr(code) + after for code in soak.code_points()]
    return ["\n".join(ones[at : at + 1000]) for at in range(0, len(ones), 1000)]


# --- against the patterns ---


@pytest.mark.parametrize("split", scanners.SPLITS)
@pytest.mark.slow
def test_all_short_texts(counting: ModuleType, split: str) -> None:
    """Every sequence of up to four classes: no rule but that of line ends looks further, and it at one kind
    at a time."""
    texts = [
        "".join(one) for length in range(5) for one in itertools.product(scanners.SHORT[:12], repeat=length)
    ]
    compare_batches(counting, texts, split, 40)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("split", scanners.SPLITS)
def test_all_longer_texts(counting: ModuleType, split: str) -> None:
    texts = ["".join(one) for length in (4, 5) for one in itertools.product(scanners.SHORT, repeat=length)]
    compare_batches(counting, texts, split, 200)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("split", scanners.SPLITS)
def test_contractions(counting: ModuleType, split: str) -> None:
    ends = ["", *"sStTmMdDſ", "ll", "lL", "Ll", "re", "RE", "Ve", "vE", "rE", "lv", "r", "v", "e"]
    before, after = ["", "a", "A", " ", "!", "1", "中", "\u0301", "'"], ["", "a", "A", "'s", " ", "\n", "1"]
    parts = itertools.product(before, ["'", "’", "''"], ends, after)
    compare_batches(counting, ["".join(one) for one in parts], split, 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("split", "around"), [("o200k", ("A", "a'S")), ("gpt2", ("'", "s")), ("bert", ("a", "a"))]
)
def test_every_code_point(counting: ModuleType, split: str, around: tuple[str, str]) -> None:
    compare(counting, every_code_point(*around), split)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("split", scanners.SPLITS)
def test_every_code_point_everywhere(counting: ModuleType, split: str, around: tuple[str, str]) -> None:
    compare(counting, every_code_point(*around), split)


@pytest.mark.parametrize("split", scanners.SPLITS)
@settings(max_examples=40)
@given(
    documents=st.lists(scanners.texts, max_size=5), threads=st.integers(1, 3), chunk=st.integers(1, 30),
    together=st.integers(1, 3),
)
@pytest.mark.first_run(cases=2)
def test_any_text_in_any_chunks(
    counting: ModuleType, split: str, documents: list[str], threads: int, chunk: int, together: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tokentui.text.kernels.count.CHUNK_CHARS", chunk)
        patch.setattr("tokentui.text.kernels.count.TOGETHER", together)
        patch.setattr("tokentui.text.corpus.WINDOW", 3)
        assert found(counting, documents, split, threads=threads) == scanners.by_pattern(documents, split)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("split", scanners.SPLITS)
def test_long_random_mixes(counting: ModuleType, split: str) -> None:
    chance = random.Random(split)
    for _ in range(4_000):
        weights = [chance.random() ** 4 for _ in scanners.TRICKY]
        text = "".join(chance.choices(scanners.TRICKY, weights, k=chance.randrange(9_000)))
        compare(counting, [text], split)


@pytest.mark.parametrize("split", scanners.SPLITS)
@pytest.mark.parametrize("run", [" ", "\n", " \n", "a", "'", "1", "中", "A", "!", "\u0301", "'s", "/\n"])
@pytest.mark.first_run(cases=10)
def test_runs_longer_than_a_block(counting: ModuleType, split: str, run: str) -> None:
    for size in (4_095, 4_096, 9_001):
        for last in ("", "x", "中", " ", "\n"):
            compare(counting, ["y" + (run * size)[:size] + last], split)


@pytest.mark.parametrize("corpora", ["samples", *oracle.large("corpora", marks=[pytest.mark.soak])])
@pytest.mark.parametrize("split", scanners.SPLITS)
def test_corpora(counting: ModuleType, split: str, corpora: str) -> None:
    large = [] if corpora == "samples" else sorted(map(str, oracle.shared(corpora).glob("*.txt")))
    for source in large or [f"sample:{name}" for name in peers.CORPORA]:
        for document in read.read(source, as_="text").documents:
            compare(counting, [document[:150_000]], split)


# --- as the plain counter counts ---


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(
    "normalize", [(), ("bert-uncased",), ("bert-cased",)], ids=["as-is", "uncased", "cased"]
)
@pytest.mark.parametrize("unit", ["byte", "char"])
@settings(max_examples=50)
@given(documents=st.lists(scanners.texts, max_size=3))
def test_a_recipe_with_bert(
    counting: ModuleType, normalize: tuple[str, ...], unit: str, documents: list[str]
) -> None:
    recipe = Recipe(split="bert", normalize=normalize, **(CHARACTERS if unit == "char" else {}))
    wanted = plain(Corpus.from_lines(documents), recipe)
    assert kernel_count(counting, documents, recipe) == wanted


@pytest.mark.slow
def test_every_code_point_as_bert_has_it(counting: ModuleType) -> None:
    recipe = Recipe(split="bert", normalize=("bert-uncased",), **CHARACTERS)
    documents = [document for n, document in enumerate(every_code_point("a", "Á")) if n < 70 or n % 40 == 0]
    wanted = plain(Corpus.from_lines(documents), recipe)
    assert kernel_count(counting, documents, recipe) == wanted


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(split="none"), Recipe(split=r"regex:\bw+"), Recipe(split="falcon", symbols=("a",)),
        Recipe(normalize=("nfc",)), Recipe(split="bert", normalize=("bert-uncased", "nfc")),
        Recipe(split="whitespace", normalize=("bert-cased",)),
    ],
)
def test_what_is_not_scanned(counting: ModuleType, recipe: Recipe) -> None:
    assert counting.count_words(["a b"], recipe, Pretokenizer(recipe).words) is None
    assert not scanned(recipe)


@pytest.mark.parametrize("name", PRESETS)
def test_a_first_look_is_taken_only_where_kernels_do_not_count(counting: ModuleType, name: str) -> None:
    recipe = PRESETS[name].recipe
    assert bool(scanned(recipe)) == (
        counting.count_words(["a b"], recipe, Pretokenizer(recipe).words) is not None
    )


def test_surrogates_are_replaced_where_units_are_no_bytes(counting: ModuleType) -> None:
    recipe = Recipe(split="gpt2", **CHARACTERS)
    documents = ["a\udc80\ud83d b", "\udcff"]
    assert kernel_count(counting, documents, recipe) == Words(("a", "\ufffd\ufffd", " b", "\ufffd"), (1,) * 4)


# --- progress and cancelling ---


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_goes_up_to_all(counting: ModuleType, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokentui.text.kernels.count.CHUNK_CHARS", 100)
    told: list[tuple[int, int]] = []
    with job(lambda *one: told.append(one)):
        counting.count(["word " * 1000, "more"], "gpt2", threads=threads)
    assert told[0] == (0, 5004)
    assert told[-1] == (5004, 5004)
    assert told == sorted(told)
    assert len(told) > 10


@pytest.mark.parametrize("threads", [1, 2])
def test_a_cancelled_count_stops(counting: ModuleType, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokentui.text.kernels.count.CHUNK_CHARS", 100)
    asked = iter([False, False, True])
    with job(cancel=lambda: next(asked)), pytest.raises(Cancelled):
        counting.count(["word " * 1000], "gpt2", threads=threads)
