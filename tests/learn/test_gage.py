"""Gage's compression against replacing bytes in plain strings, and what it expands to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trainers import best, compressed, forget, lists, merge_steps, why

from tokentui import learn
from tokentui.axes import AXES, preset
from tokentui.core.errors import TokentuiError
from tokentui.encode.gage import PLACEHOLDERS
from tokentui.learn import Made, MergeStep, PairCandidate, Query, Trainer, start
from tokentui.learn.gage import GageTrainer, letter
from tokentui.recipe import Recipe, Stops
from tokentui.text.corpus import Corpus

CASES = oracle.cases("compress", objective="gage")
TIES = list(AXES["tie"])

few = st.binary(max_size=30).map(lambda data: bytes(b"xd\0\xffA"[value % 5] for value in data))
documents = st.lists(few | st.binary(max_size=40), max_size=5)
recipes = st.builds(
    lambda tie, weight: preset("gage", tie=tie, weight=weight),
    st.sampled_from(TIES), st.sampled_from(["occurrences", "distinct"]),
)



def expand(compressed: bytes, table: Sequence[tuple[int, int, int, bytes]]) -> bytes:
    """The text that compressed bytes and their table stand for: the table read backwards, each entry replaced
    by its pair."""
    for placeholder, left, right, _ in reversed(table):
        compressed = compressed.replace(bytes((placeholder,)), bytes((left, right)))
    return compressed


def spelled(trainer: Trainer, number: int) -> bytes:
    """The bytes that the pair of a step stands for."""
    pair = trainer.taken(number)
    assert isinstance(pair, PairCandidate)
    return pair.spelled


def letters(trainer: Trainer) -> str:
    """The compressed text for people, a letter a byte: `CqCxo`."""
    return "".join(map(letter, compressed(trainer).compressed))


def trained_on(texts: list[bytes], recipe: Recipe | None = None) -> Trainer:
    """A trainer at its start; each text is a document."""
    corpus = Corpus.from_lines([text.decode("utf-8", "surrogateescape") for text in texts])
    trainer = start(corpus, recipe or preset("gage"))
    return trainer


class Plain:
    """The same, said with `bytes.replace`: every pair counted anew at each step."""

    def __init__(self, texts: list[bytes], recipe: Recipe) -> None:
        counted = Counter(text for text in texts if text)
        self.texts = list(counted)
        self.weights = [1] * len(counted) if recipe.weight == "distinct" else list(counted.values())
        self.tie = recipe.tie
        held = set(b"".join(self.texts))
        upper = [value for value in range(65, 91) if value not in held]
        self.free = upper + [
            value for value in range(255, -1, -1) if value not in held and not 65 <= value < 91
        ]
        self.means = {value: bytes((value,)) for value in held}

    def counts(self) -> Counter[bytes]:
        counts: Counter[bytes] = Counter()
        for text, weight in zip(self.texts, self.weights, strict=True):
            for pair in pairwise(text):
                counts[bytes(pair)] += weight
        return counts

    def joined(self, pair: bytes) -> bytes:
        return self.means[pair[0]] + self.means[pair[1]]

    def ranked(self) -> list[tuple[bytes, int]]:
        """What may be replaced, best first, with its count."""
        counts = self.counts()
        order = [pair for pair, count in counts.items() if count > 1] if self.free else []
        keys: dict[str, Callable[[bytes], Any]] = {
            "largest-pair": lambda pair: (-pair[0], -pair[1]),
            "smallest-pair": lambda pair: pair,
            "lowest-ids": lambda pair: pair,
            "shortest": lambda pair: (len(self.joined(pair)), self.joined(pair)),
        }
        if self.tie != "first-seen":
            assert self.tie in keys, f"write the key of tie={self.tie} here"
            order.sort(key=keys[self.tie])
        return sorted(((pair, counts[pair]) for pair in order), key=lambda entry: -entry[1])

    def size(self) -> int:
        return sum(len(text) * weight for text, weight in zip(self.texts, self.weights, strict=True))

    def step(self, pair: bytes) -> int:
        """Replace a pair by the next free byte. Returns that byte."""
        value = self.free.pop(0)
        self.means[value] = self.joined(pair)
        self.texts = [text.replace(pair, bytes((value,))) for text in self.texts]
        return value


def assert_equal(trainer: Trainer, plain: Plain) -> None:
    """The trainer's present step is the plain state."""
    ranked = plain.ranked()
    found = best(trainer, len(ranked) + 5)
    assert [(c.left + c.right, c.count) for c in found] == ranked
    assert learn.candidates(trainer, Query()).total == len(ranked)
    assert trainer.tokens_at(trainer.number) == plain.size()
    for one in found:
        assert one.token == bytes(plain.free[:1])
        assert getattr(one, "spelled", None) == plain.joined(one.left + one.right)
    view = compressed(trainer, length=10**6)
    assert view.compressed == b"".join(plain.texts)
    assert view.text_bytes == plain.size()
    assert view.table_bytes == 3 * trainer.number
    assert {row[0]: row[3] for row in view.table}.items() <= plain.means.items()
    assert isinstance(trainer, GageTrainer)
    assert trainer.most - trainer.number == len(plain.free)
    reasons = why(trainer)
    assert reasons.end == (None if ranked else "no pair left")
    assert (reasons.best is None) == (not ranked)
    if ranked:
        assert reasons.tied == sum(1 for _, count in ranked if count == ranked[0][1])


@settings(max_examples=60, deadline=None)
@given(documents, recipes)
def test_every_step_is_a_replacement_in_plain_strings(texts: list[bytes], recipe: Recipe) -> None:
    trainer, plain = trained_on(texts, recipe), Plain(texts, recipe)
    assert_equal(trainer, plain)
    while ranked := plain.ranked():
        before = plain.size()
        pair, count = ranked[0]
        value = plain.step(pair)
        step = learn.step(trainer)
        assert isinstance(step, MergeStep)
        assert step.left + step.right == pair
        assert (step.token, step.id) == (bytes((value,)), value)
        assert (step.count, step.replaced) == (count, before - plain.size())
        assert (step.tokens, step.vocab_size) == (plain.size(), 256)
        assert spelled(trainer, step.number) == plain.means[value]
        assert_equal(trainer, plain)
    assert learn.step(trainer) is None
    assert learn.run(trainer, Stops()) == "no pair left"


@settings(max_examples=40, deadline=None)
@given(documents, recipes, st.integers(0, 12))
def test_the_compressed_text_expands_to_the_original(texts: list[bytes], recipe: Recipe, steps: int) -> None:
    trainer = trained_on(texts, recipe)
    learn.jump(trainer, steps)
    view = compressed(trainer, length=10**6)
    distinct = list(dict.fromkeys(text for text in texts if text))
    assert expand(view.compressed, view.table) == b"".join(distinct)
    cuts = [0, *view.breaks, len(view.compressed)]
    parts = [view.compressed[start:end] for start, end in pairwise(cuts)] if distinct else []
    assert [expand(part, view.table) for part in parts] == distinct
    for placeholder, left, right, expansion in view.table:
        assert (
            expand(bytes((placeholder,)), view.table) == expansion == expand(bytes((left, right)), view.table)
        )
    assert view.original_bytes == Plain(texts, recipe).size()


@settings(max_examples=30, deadline=None)
@given(documents, recipes, st.lists(st.integers(0, 12), max_size=6))
def test_any_walk_reaches_the_same_steps(texts: list[bytes], recipe: Recipe, moves: list[int]) -> None:
    trainer, fresh = trained_on(texts, recipe), trained_on(texts, recipe)
    views = [compressed(fresh)]
    while learn.step(fresh):
        views.append(compressed(fresh))
    for number in moves:
        at = learn.jump(trainer, number)
        assert at == min(number, len(views) - 1)
        assert compressed(trainer) == views[at]
    learn.jump(trainer, 0)
    forget(trainer)
    assert lists(trainer) == lists(trained_on(texts, recipe))


@pytest.mark.parametrize("case", CASES)
def test_the_slides(case: dict[str, Any]) -> None:
    trainer = start(oracle.corpus_of(case), Recipe(**case["recipe"]))
    end = learn.run(trainer, Stops(**case["run"]))
    want = case["expect"]
    steps = merge_steps(trainer)
    assert [step.hex for step in steps] == want["hex"]
    assert [step.count for step in steps] == want["counts"]
    assert [step.tokens for step in steps] == want["tokens"]
    assert len(steps) == want["steps"]
    assert end in want["end"]
    if "compressed" in want:
        assert letters(trainer) == want["compressed"]
    tokenizer = trainer.tokenizer()
    for item in case["encode"]:
        encoding = tokenizer.encode(item["text"])
        assert len(encoding) == item["length"]
        assert tokenizer.decode(encoding.ids) == item["text"]


def test_the_slides_strings_and_sizes() -> None:
    trainer = trained_on([b"xxxdqxxxdxo"])
    seen = [letters(trainer)]
    while learn.step(trainer):
        seen.append(letters(trainer))
    assert seen == ["xxxdqxxxdxo", "AxdqAxdxo", "ABqABxo", "CqCxo"]
    assert [trainer.tokens_at(number) + 3 * number for number in range(4)] == [11, 12, 13, 14]
    assert compressed(trainer).sizes == "5 of text + 9 of table = 14 bytes; 11 before"
    assert compressed(trainer, 1, 2).compressed == b"qC"


@pytest.mark.parametrize(
    ("run", "reason", "steps"),
    [
        ({}, "no pair left", 3),
        ({"min_count": 2}, "min_count", 3),
        ({"min_count": 3}, "min_count", 1),
        ({"merges": 2}, "merges", 2),
        ({"vocab_size": 256}, "vocab_size", 0),
        ({"vocab_size": 300}, "no pair left", 3),
        ({"max_length": 2}, "no pair left", 2),
    ],
)
def test_stops(run: dict[str, Any], reason: str, steps: int) -> None:
    trainer = trained_on([b"xxxdqxxxdxo"])
    stops = Stops(**run)
    assert trainer.ending(stops).step == (
        {"merges": 2, "vocab_size": 0}.get(reason) if run != {"vocab_size": 300} else None
    )
    assert learn.run(trainer, Stops(**run)) == reason
    assert trainer.number == steps
    assert trainer.end(stops) == reason
    assert why(trainer, stops).end == reason


def test_a_new_limit_midway_assigns_the_free_bytes_again() -> None:
    trainer = trained_on([b"xxxdqxxxdxo"])
    learn.run(trainer, Stops())
    learn.jump(trainer, 1)
    assert learn.run(trainer, Stops(max_length=3, min_count=2)) == "min_count"
    assert [step.hex for step in merge_steps(trainer)] == [["78", "78", "41"], ["78", "64", "42"]]
    learn.run(trainer, Stops(merges=3))
    assert spelled(trainer, 3) == b"xxxd"


@pytest.mark.parametrize("lacking", [b"", b"q", b"\x80q"])
def test_no_free_byte_ends_it(lacking: bytes) -> None:
    held = bytes(value for value in range(256) if value not in lacking)
    trainer = trained_on([held + b"ab" * 9 + b"cd" * 8 + b"ef" * 7])
    assert learn.run(trainer, Stops(min_count=2)) == "no pair left"
    assert b"".join(step.token for step in merge_steps(trainer)) == lacking
    reasons = why(trainer)
    assert (reasons.best, reasons.end, learn.candidates(trainer, Query()).total, best(trainer)) == (
        None, "no pair left", 0, [],
    )
    assert any(fact.startswith("no free byte") for fact in reasons.facts)
    assert learn.step(trainer) is None
    if learn.back(trainer):
        assert best(trainer, 1)[0].count > 1
        assert any("is free and will stand for it" in fact for fact in why(trainer).facts)


def test_bytes_are_taken_from_a_to_z_and_then_from_255_down() -> None:
    assert sorted(PLACEHOLDERS) == list(range(256))
    assert bytes(PLACEHOLDERS[:28]) == b"ABCDEFGHIJKLMNOPQRSTUVWXYZ\xff\xfe"
    assert "".join(map(letter, (65, 255, 0, 32))) == "AÿĀĠ"
    assert len({letter(value) for value in range(256)}) == 256


def test_documents_share_no_pairs_across_their_borders() -> None:
    trainer = trained_on([b"ab", b"ba", b"ab", b"b"])
    assert [(c.left + c.right, c.count) for c in best(trainer)] == [(b"ab", 2)]
    learn.run(trainer, Stops())
    view = compressed(trainer)
    assert (view.compressed, view.breaks, view.text_bytes, view.original_bytes) == (b"Abab", (1, 3), 5, 7)


def test_an_empty_corpus_ends_at_once() -> None:
    trainer = trained_on([b""])
    assert learn.run(trainer, Stops()) == "no pair left"
    assert compressed(trainer).sizes == "0 of text + 0 of table = 0 bytes; 0 before"


def test_a_token_is_found_by_its_byte_or_by_its_expansion() -> None:
    trainer = trained_on([b"xxxdqxxxdxo"])
    learn.run(trainer, Stops())
    assert learn.find(trainer, Made(frozenset({b"xxxd"}))) == 3
    assert learn.find(trainer, Made(frozenset({b"C"}))) == 3
    assert learn.find(trainer, Made(frozenset({b"q"}))) == 0
    assert learn.find(trainer, Made(frozenset({b"q"})), 1) is None
    assert learn.find(trainer, Made(frozenset({b"xq"}))) is None


@pytest.mark.parametrize(
    "axes", [{"base": "gpt2-bytes"}, {"base": "sorted", "unknown": "error"}, {"encode": "longest-match"}]
)
def test_axes_without_a_meaning_for_gage_are_refused(axes: dict[str, Any]) -> None:
    with pytest.raises(TokentuiError, match="Gage") as refused:
        preset("gage", **axes)
    assert refused.value.where == "{}={}".format(*next(iter(axes.items())))
