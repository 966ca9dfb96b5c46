"""Trainings of every preset, compared with recordings: the judge of changes inside the engines.

Each preset is trained on three corpora. What it answers at ten steps is recorded once and must come out the
same on the way forward, on the way back, after jumps, and in forks. A run under a what-if is recorded as
well. `tests/support/training_answers.py` says what an observation holds. See `test_recorded.py` for renewing.
"""

from __future__ import annotations

import difflib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from renewal import renews
from training_answers import observed

from tokentui import learn, read
from tokentui.axes import preset
from tokentui.learn import Trainer
from tokentui.preset_table import PRESETS
from tokentui.recipe import FORBID, FORCE, Recipe, Run, Stops, WhatIf
from tokentui.text.corpus import Corpus

KEPT = Path(__file__).parent / "trainings"
CORPORA = ("english", "hindi", "python")
EXCERPT = 3000
"""The characters of each corpus that a recipe is trained on."""
SHORT = {"pathpiece": 150, "gage": 500, "boundlessbpe": 400}
"""The same for recipes whose trainings take long."""
STEPS = 90
"""The most steps of a run."""
PIECES = 160
"""The size that a training ends with if its steps take tokens away."""
OBSERVED = 10
TEXT = "The old woman's 1,234 cafés didn't  stop.\n\tfor word in words:\n        print(word)\nयह हिन्दी है।"
RECIPES: dict[str, Recipe] = {
    **{name: PRESETS[name].recipe for name in PRESETS},
    # Presets do not reach these within so few steps, or have no such value.
    "superbpe-early": preset("superbpe", objective="superbpe:at=40,within=gpt2"),
    "parity": preset("gpt2", objective="parity"),
    "first-seen": preset("gpt2", tie="first-seen"),
    "largest-pair": preset("bert", tie="largest-pair"),
}
NAMED = {"parity"}
"""Recipes that train on named corpora."""


def corpora(name: str) -> dict[str, Corpus]:
    """Return the corpora of a recipe: excerpts of samples, or one corpus that is made of them."""
    texts = {
        sample: read(f"sample:{sample}").documents[0][: SHORT.get(name, EXCERPT)] for sample in CORPORA
    }
    named = {sample: Corpus.from_text(text, sample) for sample, text in texts.items()}
    return {"together": read(named)} if name in NAMED else named


def trained(corpus: Corpus, recipe: Recipe) -> Trainer:
    """Return a training that has come to its end, or as far as `STEPS`."""
    trainer = learn.start(corpus, recipe)
    if trainer.traits.shrinks:
        size = max(PIECES, trainer.traits.least_size)
        trainer = learn.start(corpus, recipe, Run(Stops(vocab_size=size)))
        learn.run(trainer, Stops(vocab_size=size))
    else:
        learn.run(trainer, Stops(merges=STEPS))
    return trainer


def walks(steps: list[int], seed: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the orders in which the steps are visited, each with its name."""
    shuffled = steps[:]
    random.Random(seed).shuffle(shuffled)
    yield "forward", steps
    yield "back", steps[::-1]
    yield "jumps", shuffled


def record(corpus: Corpus, recipe: Recipe, seed: str) -> dict[str, Any]:
    """Return what a training answers at steps spread over its run, and in a run under a what-if.

    Raises:
        AssertionError: It answers otherwise at a step that it reaches on another way.
    """
    trainer = trained(corpus, recipe)
    last = trainer.number
    steps = sorted({round(last * part / (OBSERVED - 1)) for part in range(OBSERVED)})
    distinct = list(trainer.words.words)
    words = tuple(random.Random(seed).sample(distinct, min(6, len(distinct))))
    document = next(iter((corpus.named[0].corpus if corpus.named else corpus).texts))
    texts = (TEXT, str(document)[:300])

    def look(at: Trainer) -> dict[str, Any]:
        return json.loads(json.dumps(observed(at, words, texts)))  # type: ignore[no-any-return]

    learn.jump(trainer, 0)
    seen: dict[int, dict[str, Any]] = {}
    for way, order in walks(steps, seed):
        for step in order:
            assert learn.jump(trainer, step) == step
            now = look(trainer)
            assert now == seen.setdefault(step, now), f"step {step} differs on the way {way}"
    for step in random.Random(seed).sample(steps, min(3, len(steps))):
        other = trainer.fork(step, ())
        assert learn.jump(other, step) == step
        assert look(other) == seen[step], f"a fork at step {step} differs"
        further = steps[min(steps.index(step) + 1, len(steps) - 1)]
        assert learn.jump(other, further) == further
        assert look(other) == seen[further], f"a fork at step {step} differs at step {further}"
    return {"last": last, "steps": [seen[step] for step in steps], "what_if": changed(trainer, last, look)}


def written(recordings: dict[str, dict[str, Any]]) -> str:
    """Return recordings as JSON, an observation a line."""
    lines = []
    for corpus, recording in recordings.items():
        rows = [json.dumps(row) for row in recording["steps"]]
        what_if = [json.dumps(row) for row in recording["what_if"] or ()]
        lines.append(f' {json.dumps(corpus)}: {{"last": {recording["last"]},\n  "steps": [\n   '
                     + ",\n   ".join(rows) + '],\n  "what_if": [\n   ' + ",\n   ".join(what_if) + "]}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def changed(trainer: Trainer, last: int, look: Any) -> list[Any]:
    """Return what a training answers under what-ifs of its middle step, at that step and ten steps later.

    One what-if forbids the candidate that the step takes, the other forces the runner-up in its place. The
    list is empty for a training that knows no what-ifs.
    """
    middle = last // 2
    taken = trainer.taken(middle) if middle else None
    if taken is None or not trainer.traits.what_ifs:
        return []
    learn.jump(trainer, middle - 1)
    runner_up = learn.why(trainer, trainer.limits).runner_up
    learn.jump(trainer, middle)
    what_ifs = [WhatIf(middle, FORBID, taken.parts)]
    if runner_up is not None:
        what_ifs.append(WhatIf(middle, FORCE, runner_up.parts))
    out = []
    for what_if in what_ifs:
        other = learn.what_if(trainer, (what_if,))
        first = look(other)
        learn.jump(other, middle + 10)
        out += [first, look(other)]
        learn.jump(other, middle)
        assert look(other) == first
    return out


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.slow
def test_a_training_answers_as_recorded(name: str) -> None:
    text = written({
        corpus.name: record(corpus, RECIPES[name], f"{name} {part}") for part, corpus in corpora(name).items()
    })
    path = KEPT / f"{name}.json"
    if renews(f"trainings/{name}"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    rows = difflib.unified_diff(before.splitlines(), text.splitlines(), "recorded", "now", lineterm="", n=4)
    assert before == text, "\n".join(list(rows)[:80])


def test_each_recording_is_of_a_recipe() -> None:
    assert {path.stem for path in KEPT.glob("*.json")} == set(RECIPES)
