"""How long a fork with a what-if takes in the middle of a training: `python benchmarks/forks.py ten.txt`."""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import time
from pathlib import Path

from harness import Figures, Table, apart, kernels, megabytes

import tokentui
from tokentui import learn
from tokentui.recipe import FORBID, FORCE, LEAVE_OUT, WhatIf

STEPS = 5_000
"""The steps of the training; the what-if begins in the middle of them."""
TURNS = 15


def fork(path: str, preset: str) -> Figures:
    """Seconds of a fork, of its first step, and of its way to the step of the training, for each what-if."""
    kernels()
    trainer = tokentui.Trainer(tokentui.read(path, as_="text"), preset)._engine
    learn.jump(trainer, STEPS)
    first = STEPS // 2 + 1
    taken, later = trainer.taken(first), trainer.taken(first + 100)
    assert taken is not None
    assert later is not None
    changes = {
        FORBID: WhatIf(first, FORBID, taken.parts), "forbid token": WhatIf(first, FORBID, (taken.token,)),
        FORCE: WhatIf(first, FORCE, later.parts), LEAVE_OUT: WhatIf(first, LEAVE_OUT),
    }
    figures: Figures = {}
    for name, change in changes.items():
        times: list[list[float]] = []
        for _ in range(TURNS):
            gc.collect()
            marks = [time.perf_counter()]
            other = learn.branch(trainer, [change])
            marks.append(time.perf_counter())
            learn.jump(other, first)
            marks.append(time.perf_counter())
            learn.jump(other, STEPS)
            marks.append(time.perf_counter())
            times.append([end - start for start, end in itertools.pairwise(marks)])
            assert (trainer.number, other.number) == (STEPS, STEPS)
        figures[name] = {"engine": other.traits.engine, "seconds": list(zip(*times, strict=True))}
    return figures


def table(path: Path, preset: str = "gpt2") -> Table:
    """Forks of a training that has made 5,000 steps."""
    rows = []
    for name, figures in apart("forks", "fork", str(path), preset).items():
        times = [f"{1000 * statistics.median(seconds):.1f}" for seconds in figures["seconds"]]
        rows.append((name, figures["engine"], *times, f"{1000 * max(figures['seconds'][0]):.1f}"))
    heads = ("what-if", "engine", "fork", "its first step", "the other steps", "longest fork")
    title = f"A fork at step {STEPS // 2:,} of {STEPS:,}, {megabytes(path)}, {preset}, milliseconds"
    return Table(title, heads, rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--preset", default="gpt2")
    words = parser.parse_args()
    print(table(words.corpus, words.preset))


if __name__ == "__main__":
    main()
