"""Processor time of a snapshot after a step and after a typed character, in plain Python, for a screen of
120x40."""

from __future__ import annotations

import gc
import os
import statistics
import time

from harness import Figures, Table, apart

from tokentui import learn, preset, read
from tokentui.core import engines
from tokentui.learn import start
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.engine.state import State
from tokentui.session.training.corpus_view import RunningText
from tokentui.session.training.training import Training
from tokentui.session.views import Viewport

TIMES = 200
TYPED = "The crowd in the street waits for the train that never comes, and nobody asks why. "
VIEW = Viewport(candidates_rows=60, vocabulary_rows=60, corpus_chars=4000, corpus_before=2000)


def snapshots(number: int) -> Figures:
    """Processor seconds of the snapshots after single steps and after single characters, from a step on."""
    os.environ[engines.VARIABLE] = "off"
    corpus, recipe = read("sample:english"), preset("gpt2")
    trainer = start(corpus, recipe)
    learn.jump(trainer, number - 1)
    state = State(Training(corpus, recipe, Run(), trainer, RunningText(corpus, recipe)))
    state.view = VIEW
    state.snapshot()
    gc.collect()
    gc.disable()
    steps, characters = [], []
    for n in range(2 * TIMES):  # forward and back again: the step stays near
        do.perform(do.Move(1 if n % 2 == 0 else -1), state, lambda _: None)
        while state.sync.has_work:
            state.sync.work(0.0)
        begun = time.thread_time()
        state.snapshot()
        if n % 2 == 0:
            steps.append(time.thread_time() - begun)
    for n in range(TIMES):
        do.perform(do.SetInput(TYPED[: n % len(TYPED)]), state, lambda _: None)
        begun = time.thread_time()
        state.snapshot()
        characters.append(time.thread_time() - begun)
    return {"step": steps, "character": characters}


def table(repeats: int) -> Table:
    """The median and the most, after 1 and 500 steps."""
    rows, figures = [], {}
    for number in (1, 500):
        for what, times in apart("snapshots", "snapshots", number).items():
            median = statistics.median(times) * 1000
            figures[f"{what} {number}"] = median
            rows.append(
                (
                    f"after a {what}, at step {number}", f"{median:.2f}", f"{max(times) * 1000:.2f}",
                    str(len(times)),
                )
            )
    heads = ("a snapshot", "median", "most", "times")
    return Table(
        "A snapshot of sample:english, plain Python, milliseconds of the processor", heads, rows, figures
    )
