"""Training holds what the oracle says, step by step."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import oracle
import pytest
from trainers import best, merge_steps

from tokentui import learn
from tokentui.learn import Trainer, start
from tokentui.recipe import Recipe, Run, Stops

CASES = oracle.cases("train", objective="count") + oracle.cases("train", objective="score")


def trained(case: dict[str, Any]) -> tuple[Trainer, str]:
    """The trainer of a case after its run, and why it ended."""
    run = dict(case["run"])
    begin = Run(first_id=run.pop("first_id", 0), specials=tuple(run.pop("specials", ())))
    trainer = start(oracle.corpus_of(case), Recipe(**case["recipe"]), begin)
    return trainer, learn.run(trainer, Stops(**run))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.first_run(cases=51)
def test_training(case: dict[str, Any]) -> None:
    trainer, end = trained(case)
    check_encoding(trainer, case)
    want = case["expect"]
    steps = merge_steps(trainer)
    for number, (step, expected) in enumerate(zip(steps, want["hex"], strict=False), 1):
        assert step.hex == expected, f"the first step that differs is {number}"
    assert len(steps) == want["steps"]
    for name in ("count", "replaced", "tokens", "tied"):
        key = "counts" if name == "count" else name
        if key in want:
            assert [getattr(step, name) for step in steps] == want[key], key
    if "scores" in want:
        exact = [Fraction(step.count, step.left_uses * step.right_uses) for step in steps]
        assert [[score.numerator, score.denominator] for score in exact] == want["scores"]
        assert [step.score for step in steps] == [float(score) for score in exact]
    assert end in want["end"]
    if "vocab_size" in want:
        assert trainer.size_at(trainer.number) == want["vocab_size"]
    if "base" in want:
        vocabulary = trainer.tokenizer().vocabulary
        assert [piece.hex() for piece in vocabulary.pieces[: vocabulary.base_size]] == want["base"]
    check_facts(trainer, want.get("facts", {}))
    if "pairs_at_start" in want:
        learn.jump(trainer, 0)
        found = {(c.left.hex(), c.right.hex()): c.count for c in best(trainer, 10_000)}
        assert found == {(left, right): count for left, right, count in want["pairs_at_start"]}
        if (trainer.recipe.tie, trainer.recipe.objective) == ("first-seen", "count"):
            assert [c.count for c in best(trainer, 10_000)] == sorted(found.values(), reverse=True)


def check_encoding(trainer: Trainer, case: dict[str, Any]) -> None:
    """What the tokenizer of the last step makes of texts and of ids."""
    tokenizer = trainer.tokenizer()
    for item in case.get("encode", ()):
        encoding = tokenizer.encode(item["text"])
        if "ids" in item:
            assert list(encoding.ids) == item["ids"], item["text"]
        if "hex" in item:
            assert list(encoding.hex) == item["hex"], item["text"]
        if "unknown" in item:
            assert list(encoding.unknown) == item["unknown"], item["text"]
    for item in case.get("decode", ()):
        assert tokenizer.decode(item["ids"]) == item["text"]
        if "tokens" in item:
            by_id = {entry.id: entry.text for entry in tokenizer.entries()}
            assert [by_id[n] for n in item["ids"]] == item["tokens"]


def check_facts(trainer: Trainer, facts: dict[str, Any]) -> None:
    """What a document says of a run."""
    vocabulary = trainer.tokenizer().vocabulary
    in_use = [symbol for symbol, uses in enumerate(trainer.uses) if uses]
    known: dict[str, Callable[[], object]] = {
        "distinct_words": lambda: len(trainer.words.words),
        "n_in_use_after": lambda: len(in_use),
        "vocab_cumulative": lambda: len(vocabulary.pieces),
        "merges_until_exhausted": lambda: learn.jump(trainer, 10**9),
        "n_base": lambda: vocabulary.base_size,
        "unused_tokens": lambda: [
            [vocabulary.id_of(symbol, trainer.number), vocabulary.pieces[symbol].decode()]
            for symbol in range(len(vocabulary.pieces))
            if symbol not in in_use
        ],
    }
    for name, expected in facts.items():
        if name in known:
            assert known[name]() == expected, name
