"""Single steps, jumps, and how long the event loop waits while a corpus is opened and trained."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import time
from pathlib import Path

from harness import Figures, Table, apart, kernels, megabytes, tails, upper

from tokentui import Corpus, Trainer, preset, read
from tokentui.core import engines
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Viewport

BEST = 100
EVERY = 8
"""The best pairs are looked at after each so many steps."""
JUMPS = 200
TICK_S = 0.005


def single(path: str, vocab_size: int, split: str = "gpt2", engine: str = "compiled") -> Figures:
    """Seconds of each step forward and back, of the best pairs, and of jumps among all steps."""
    os.environ[engines.VARIABLE] = "off" if engine == "plain" else "on"
    if engine == "compiled":
        kernels()
    corpus: Corpus = read(path, as_="text")
    trainer = Trainer(corpus, preset("gpt2").with_axes(split=split))
    trainer.candidates(1)
    gc.collect()
    gc.freeze()
    gc.disable()
    forward, best, back, jumps = _Clock(), _Clock(), _Clock(), _Clock()
    while trainer.vocab_size < vocab_size:
        with forward:
            step = trainer.step()
        if step is None:
            forward.drop()
            break
        if trainer.number % EVERY == 0:
            with best:
                trainer.candidates(BEST)
    known = trainer.known
    while trainer.number:
        with back:
            trainer.back()
    chance = random.Random(2026)
    trainer.jump(known)
    for _ in range(JUMPS):
        goal = chance.randrange(known + 1)
        with jumps:
            trainer.jump(goal)
    clocks = {"forward": forward, "best": best, "back": back, "jumps": jumps}
    return {
        "memory": trainer._engine.memory(),
        **{name: {"wall": one.wall, "cpu": one.cpu} for name, one in clocks.items()},
    }


class _Clock:
    """Collects the seconds of what is done in it: of the wall, and of the processor, which other programs do
    not lengthen."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def __enter__(self) -> None:
        self._cpu = time.thread_time()
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.wall.append(time.perf_counter() - self._start)
        self.cpu.append(time.thread_time() - self._cpu)

    def drop(self) -> None:
        """Forget the last."""
        del self.wall[-1], self.cpu[-1]


HEADS = ("median", "p99", "p99.9", "most", "CPU p99.9", "CPU most", "times")


def _row(what: str, found: dict[str, list[float]]) -> tuple[str, ...]:
    _, p999, most = upper(found["cpu"])
    return what, *tails(found["wall"]), f"{p999 * 1000:.3f}", f"{most * 1000:.3f}", f"{len(found['wall']):,}"


def lag(path: str) -> Figures:
    """By how much the ticks of an event loop come late while a real session opens a corpus and trains it to
    the end."""
    kernels()
    return asyncio.run(_lag(path))


async def _lag(path: str) -> Figures:
    phase, late = "idle", {"idle": [0.0], "opening": [0.0], "training": [0.0], "back and forth": [0.0]}
    own: dict[str, list[float]] = {name: [0.0] for name in late}
    ended = False

    async def tick() -> None:
        while not ended:
            due, cpu = time.perf_counter() + TICK_S, time.process_time()
            await asyncio.sleep(TICK_S)
            late[phase].append(time.perf_counter() - due)
            own[phase].append(min(late[phase][-1], time.process_time() - cpu))

    def publish(snapshot: Snapshot) -> None:
        """What a screen does takes its own time, which is not measured here."""

    session = Session(publish, preset("gpt2"))
    await session.start()
    ticker = asyncio.create_task(tick())
    await session.send(do.SetViewport(Viewport()))
    await asyncio.sleep(1)
    phase = "opening"
    await session.send(do.Open((path,)))
    await session.idle.wait()
    phase = "training"
    session.send(do.GoTo(32_512))
    await session.idle.wait()
    phase = "back and forth"
    for step in (0, 32_512, 100, 30_000, 1):
        session.send(do.GoTo(step))
        await session.idle.wait()
    ended = True
    await ticker
    await session.close()
    return {"late": late, "own": own}


def table(path: Path, vocab_size: int) -> Table:
    """The steps of a training under GPT-2's split."""
    found = apart("steps", "single", str(path), vocab_size)
    names = {
        "forward": "a step forward", "back": "a step back", "best": f"the best {BEST} pairs",
        "jumps": "a jump to any step",
    }
    rows = [_row(what, found[name]) for name, what in names.items()]
    figures = {
        name: {"p999": upper(found[name]["wall"])[1], "most": upper(found[name]["wall"])[2]} for name in names
    }
    heads = ("milliseconds for", *HEADS)
    held = f"the training holds {found['memory'] / 1e6:.0f} MB"
    title = f"Step by step, {megabytes(path)}, {vocab_size:,} ids; {held}"
    return Table(title, heads, rows, figures)


def unsplit_table(path: Path, vocab_size: int) -> Table:
    """The same with no split at all: the corpus is one word."""
    found = apart("steps", "single", str(path), vocab_size, "none")
    rows = [_row(what, found[what]) for what in ("forward", "back")]
    most = max(upper(found["forward"]["wall"])[2], upper(found["back"]["wall"])[2])
    heads = ("milliseconds for a step", *HEADS)
    return Table(f"No pre-tokenization, {megabytes(path)}, {vocab_size:,} ids", heads, rows, {"most": most})


def plain_table(path: Path, vocab_size: int) -> Table:
    """The same without kernels."""
    found = apart("steps", "single", str(path), vocab_size, "gpt2", "plain")
    names = {"forward": "a step forward", "back": "a step back", "jumps": "a jump to any step"}
    rows = [_row(what, found[name]) for name, what in names.items()]
    heads = ("milliseconds for", *HEADS)
    return Table(f"Step by step in plain Python, {megabytes(path)}, {vocab_size:,} ids", heads, rows)


def lag_table(path: Path) -> Table:
    """What a key waits for."""
    lag_of = apart("steps", "lag", str(path))
    found = lag_of["late"]
    # While another program has the processor this one uses none: what a tick waits for here is no longer than
    # that.
    own = {phase: upper(seconds)[2] * 1000 for phase, seconds in lag_of["own"].items()}
    rows = [(phase, *tails(late), f"{own[phase]:.3f}", f"{len(late):,}") for phase, late in found.items()]
    heads = ("ticks of 5 ms come late while", "median", "p99", "p99.9", "most", "most by CPU", "ticks")
    return Table(
        f"The event loop of a real session, {megabytes(path)}, milliseconds", heads, rows,
        {phase: upper(late)[2] for phase, late in found.items()},
    )
