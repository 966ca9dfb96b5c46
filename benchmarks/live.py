"""Training anew while one looks on: from a wish to the snapshot that answers it, in a real session.

What changes is the corpus (a key typed into it), an axis of the recipe, or the preset.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from harness import Figures, Table, apart, kernels, megabytes, tails, upper

from tokentui.axes import preset
from tokentui.preset_table import PRESETS
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Viewport

LOOK = Viewport(candidates_rows=30, vocabulary_rows=30)
"""About what a screen of 120 by 40 asks for."""
KEYS = 60
AXES = (
    {"tie": "first-seen"}, {"split": "cl100k"}, {"split": "whitespace"}, {"weight": "distinct"},
    {"objective": "score"},
)
"""Changes of gpt2's recipe, each upon the one before."""


class Watched:
    """A session with what it published last.

    Args:
        base: The preset that is trained at first.
    """

    def __init__(self, base: str) -> None:
        self.session = Session(self._publish, preset(base))
        self._last: Snapshot | None = None
        self._published = 0
        self._fresh = asyncio.Event()

    def _publish(self, snapshot: Snapshot) -> None:
        self._last = snapshot
        self._published += 1
        self._fresh.set()

    async def after(
        self, command: do.Command, *wanted: Callable[[Snapshot], bool]
    ) -> tuple[list[float], int]:
        """Seconds until a snapshot is as wanted, for each wish; and how many snapshots there were."""
        await self.session.idle.wait()
        before, start, times = self._published, time.perf_counter(), []
        done = self.session.send(command)
        done.add_done_callback(lambda _: self._fresh.set())
        for holds in wanted:
            while self._published == before or self._last is None or not holds(self._last):
                if done.done():
                    done.result()  # it may have failed
                self._fresh.clear()
                await self._fresh.wait()
            times.append(time.perf_counter() - start)
        await done
        await self.session.idle.wait()
        return times, self._published - before


def shows(snapshot: Snapshot) -> bool:
    """Whether candidates are seen, of a part of the corpus or of all of it."""
    return bool(snapshot.main.candidates.rows or snapshot.main.why.end)


def whole(snapshot: Snapshot) -> bool:
    """The same of all of it."""
    return shows(snapshot) and not snapshot.main.partial


async def _opened(path: str, base: str, look: Viewport = LOOK) -> Watched:
    watched = Watched(base)
    await watched.session.start()
    watched.session.send(do.SetViewport(look))
    await watched.session.send(do.Open((path,)))
    await watched.session.idle.wait()
    return watched


def keys(path: str, steps: int) -> Figures:
    """Keys typed into the corpus, one after the other, at so many steps."""
    kernels()
    return asyncio.run(_keys(path, Path(path).read_text(encoding="utf-8"), steps))


async def _keys(path: str, text: str, steps: int) -> Figures:
    watched = await _opened(path, "gpt2", dataclasses.replace(LOOK, corpus_chars=0, corpus_before=0))
    await watched.session.send(do.GoTo(steps))
    await watched.session.idle.wait()
    text = text[: 999_000 - len(text.encode()) + len(text)]
    times, snapshots = [], []
    for key in range(KEYS + 1):
        size = len((text + "x" * key).encode())
        [seconds], count = await watched.after(
            do.TrainOnText(text + "x" * key),
            lambda now, size=size: now.corpus.bytes == size and whole(now) and now.main.at.step == steps,  # type: ignore[misc]
        )
        if key:
            times.append(seconds)
            snapshots.append(count)
    await watched.session.close()
    return {"times": times, "snapshots": max(snapshots)}


def axes(path: str) -> Figures:
    """Axes of the recipe turned, to values that were not trained before."""
    kernels()
    return asyncio.run(_axes(path))


async def _axes(path: str) -> Figures:
    found = {}
    watched = await _opened(path, "gpt2")
    recipe = preset("gpt2")
    for change in AXES:
        recipe = recipe.with_axes(**change)
        [seconds], count = await watched.after(
            do.SetRecipe(recipe, ()), lambda now, recipe=recipe: now.main.recipe == recipe and whole(now)
        )
        found[" ".join(f"{axis}={value}" for axis, value in change.items())] = {
            "seconds": seconds, "snapshots": count,
        }
    await watched.session.close()
    return found


def swaps(path: str, names: Iterable[str]) -> Figures:
    """Presets swapped under the same corpus, back, and again."""
    kernels()
    return asyncio.run(_swaps(path, list(names)))


async def _swaps(path: str, names: list[str], base: str = "gpt2") -> Figures:
    watched = await _opened(path, base)

    async def swap(name: str, *wanted: Callable[[Snapshot], bool]) -> list[float]:
        recipe = preset(name)
        times, _ = await watched.after(
            do.SetRecipe(recipe, ()),
            *(lambda now, one=one: now.main.recipe == recipe and one(now) for one in wanted),  # type: ignore[misc]
        )
        return times

    found = {}
    for name in names:
        first, all_of_it = await swap(name, shows, whole)
        back, again = (await swap(base, whole))[0], (await swap(name, whole))[0]
        await swap(base, whole)
        found[name] = {"first": first, "whole": all_of_it, "back": back, "again": again}
    await watched.session.close()
    return found


def typing_table(small: Path) -> Table:
    """A corpus of up to a megabyte that changes."""
    rows, goals = [], {}
    for steps in (0, 1000, 8000):
        found = apart("live", "keys", str(small), steps)
        rows.append(
            (f"a key in the corpus, at step {steps:,}", *tails(found["times"]), str(found["snapshots"]))
        )
        goals[f"keys {steps}"] = upper(found["times"])[0]
    for name, one in apart("live", "axes", str(small)).items():
        rows.append(
            (f"the recipe's {name}", *[f"{one['seconds'] * 1000:.3f}", "", "", ""], str(one["snapshots"]))
        )
    heads = ("what changes", "median", "p99", "p99.9", "most", "snapshots")
    return Table(
        f"Training anew, {megabytes(small)}: milliseconds to the snapshot of all of it", heads, rows, goals
    )


def swap_table(path: Path, names: Iterable[str] = ()) -> Table:
    """Presets swapped under a corpus."""
    names = list(names) or [name for name, one in PRESETS.items() if one.recipe != preset("gpt2")]
    found = apart("live", "swaps", str(path), names)
    rows = [
        (name, *(f"{one[when] * 1000:.0f}" for when in ("first", "whole", "back", "again")))
        for name, one in found.items()
    ]
    heads = ("from gpt2 to", "first pairs", "all of it", "back", "again")
    return Table(f"Another preset under the same corpus, {megabytes(path)}, milliseconds", heads, rows)
