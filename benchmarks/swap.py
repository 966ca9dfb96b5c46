"""Swapping one preset for another under the same corpus: how long until its first step is seen, and until the way back is.

    python benchmarks/swap.py CORPUS [PRESET...] [--from gpt2]

For each preset: milliseconds from the wish to the first snapshot that shows candidates (of a large corpus, those of its
beginning, said to be partial), to the one of the whole corpus, back to the preset before, and to this one again.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable

from tokentui import commands as do
from tokentui.presets import PRESETS, preset
from tokentui.session import Session
from tokentui.snapshot import Snapshot


async def measure(corpus: str, names: list[str], base: str) -> None:
    """Print a row a preset."""
    fresh = asyncio.Event()
    seen: list[Snapshot] = []

    def publish(snapshot: Snapshot) -> None:
        seen[:] = [snapshot]
        fresh.set()

    async def swap(name: str, *wanted: Callable[[Snapshot], bool]) -> list[float]:
        """Milliseconds until a snapshot of this preset is as wanted, for each wish."""
        start, times = time.perf_counter(), []
        done = session.send(do.Use(preset(name), ()))
        for want in wanted:
            while not (seen[0].recipe == preset(name) and want(seen[0])):
                fresh.clear()
                await fresh.wait()
            times.append((time.perf_counter() - start) * 1000)
        await done
        await session.idle.wait()
        return times

    def shows(snapshot: Snapshot) -> bool:
        return bool(snapshot.pairs or snapshot.why.end)

    def whole(snapshot: Snapshot) -> bool:
        return shows(snapshot) and not snapshot.partial

    session = Session(publish, preset(base))
    await session.start()
    await session.open([corpus])
    await session.idle.wait()
    print(f"{'preset':28} {'first':>7} {'whole':>7} {'back':>7} {'again':>7}   ms")
    for name in names:
        first, all_of_it = await swap(name, shows, whole)
        back, again = (await swap(base, whole))[0], (await swap(name, whole))[0]
        await swap(base, whole)
        print(f"{name:28} {first:7.0f} {all_of_it:7.0f} {back:7.0f} {again:7.0f}", flush=True)
    await session.close()


def main() -> None:
    """Read the words and measure."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("corpus")
    words.add_argument("presets", nargs="*", metavar="PRESET")
    words.add_argument("--from", dest="base", default="gpt2", metavar="PRESET")
    asked = words.parse_args()
    names = asked.presets or [name for name, one in PRESETS.items() if one.recipe != preset(asked.base)]
    asyncio.run(measure(asked.corpus, names, asked.base))


if __name__ == "__main__":
    main()
