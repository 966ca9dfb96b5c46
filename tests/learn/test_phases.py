"""The phases of a training: progress names what is done, and a cancelled training says where it was."""

from __future__ import annotations

import itertools
import signal

import pytest
from running_cli import cli

from tokentui import learn
from tokentui.axes import AXES
from tokentui.cli.output import ProgressBar
from tokentui.core.errors import Cancelled
from tokentui.core.jobs import current_phase, job, phase
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run, Stops
from tokentui.text.corpus import Corpus
from tokentui.text.read import read

ONE_EACH = {PRESETS[name].recipe.objective.partition(":")[0]: name for name in PRESETS}.values()
"""A preset of each objective."""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read("sample:hugs")


def _train(corpus: Corpus, preset: str) -> None:
    recipe, run = PRESETS[preset].recipe, Run(Stops(merges=3))
    learn.run(learn.start(corpus, recipe, run), run.stops)


@pytest.mark.parametrize("preset", PRESETS)
def test_all_progress_of_a_training_has_a_phase(preset: str, corpus: Corpus) -> None:
    reported: dict[str, None] = {}
    with job(lambda done, total: reported.setdefault(current_phase())):
        _train(corpus, preset)
    phases = list(reported)
    assert "" not in phases
    assert phases[0] == "counting"
    assert AXES["objective"].of(PRESETS[preset].recipe.objective).preparation in phases
    assert len(phases) >= 3, "no progress after the first step"


@pytest.mark.parametrize(
    "preset", [name if name in ONE_EACH else pytest.param(name, marks=pytest.mark.slow) for name in PRESETS]
)
def test_a_training_that_is_cancelled_names_its_phase(preset: str, corpus: Corpus) -> None:
    # How many phases look for a cancellation depends on the time that they take, so each run counts its own.
    for count in itertools.count(1):
        phases: list[str] = []

        def cancelled(phases: list[str] = phases, count: int = count) -> bool:
            if current_phase() not in ("", *phases):
                phases.append(current_phase())
            return len(phases) == count

        try:
            with job(cancel=cancelled):
                _train(corpus, preset)
            break
        except Cancelled as error:
            named = error.phase
        assert named == phases[-1]
    assert count > 3


def test_the_innermost_phase_is_the_one_that_is_named() -> None:
    with pytest.raises(Cancelled) as caught, phase("outer"), phase("inner"):
        raise Cancelled
    assert caught.value.phase == "inner"
    assert current_phase() == ""


def test_the_phases_of_a_unigram_training_are_its_rounds() -> None:
    recipe, run, phases = PRESETS["sentencepiece-unigram"].recipe, Run(Stops(vocab_size=300)), []
    trainer = learn.start(read("sample:english"), recipe, run)
    kinds = []
    while not trainer.end(run.stops):
        phases.append(trainer.traits.phase)
        learn.step(trainer)
        kinds.append(trainer.step_at(trainer.number).row)
    assert phases[:4] == ["round 1, EM 1/2", "round 1, EM 2/2", "round 1, pruning", "round 2, EM 1/2"]
    assert phases[-1] == "the last cut"
    assert [row["round"] for row in kinds if "round" in row][:4] == [1, 1, 1, 2]


@pytest.mark.parametrize("name", ["counting", "finding seed pieces"])
def test_ctrl_c_before_the_first_step_names_the_phase(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(bar: ProgressBar, what: str, done: int, total: int) -> None:
        if what == name:
            monkeypatch.undo()
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ProgressBar, "update", press)
    result = cli("train", "sample:english", "-r", "sentencepiece-unigram", "--vocab-size", "300")
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == f"tokentui: interrupted while {name}\n"
