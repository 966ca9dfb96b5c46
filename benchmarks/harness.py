"""What all benchmarks share: fresh processes, turns, medians with their spread, and tables.

A benchmark is a function in a module here that returns figures which JSON can hold. `apart` runs it in a
process of its own, `in_turns` several of them one after the other, again and again, so that a busy minute of
the machine falls on all of them.
"""

from __future__ import annotations

import compileall
import functools
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tokentui import Tokenizer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PART = 1 << 16
_CUT = re.compile(r"[A-Za-z](?= [A-Za-z])")

_T = TypeVar("_T")
Figures = dict[str, Any]
"""What a benchmark found, by name."""


@dataclass(frozen=True)
class Table:
    """A table: what it is about, the heads of its columns, its rows, and the figures behind them for the
    goals."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Figures = field(default_factory=dict)

    def __str__(self) -> str:
        rule = ["---", *["--:"] * (len(self.heads) - 1)]
        lines = ["| " + " | ".join(row) + " |" for row in (self.heads, rule, *self.rows)]
        return "\n".join([f"**{self.title}**", "", *lines])


# ---- running


def surroundings(**more: str) -> dict[str, str]:
    """The environment of what is measured: this tree, its modules compiled to bytecode as those of an
    installed program are; those of others are from their first run on."""
    _compile_modules()
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(ROOT), **more}


@functools.cache
def _compile_modules() -> None:
    for folder in ("tokentui", "benchmarks"):
        compileall.compile_dir(ROOT / folder, quiet=2)


def apart(module: str, function: str, *words: Any, **environment: str) -> Figures:
    """Call a function of a module here in a fresh process. Returns what it returns.

    Raises:
        RuntimeError: It failed; with the last line of what it said.
    """
    command = [sys.executable, str(HERE / "harness.py"), module, function, json.dumps(words)]
    done = subprocess.run(
        command, env=surroundings(**environment), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(
            f"{module}.{function}{words}: {(done.stderr.strip() or 'failed').splitlines()[-1]}"
        )
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def whole(command: Sequence[str], **environment: str) -> Figures:
    """Run a program from start to exit: seconds of the wall and of all processors, and the megabytes of its
    largest process."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", _STARTER, *command], env=surroundings(**environment),
        capture_output=True, text=True, check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
    seconds, used, maximum = json.loads(done.stdout)
    return {"seconds": seconds, "cpu": used, "megabytes": _megabytes(maximum)}


# Linux counts the memory of the process that starts another one as the other's, so a small one starts it.
_STARTER = """
import os, sys, time
null = os.open(os.devnull, os.O_RDWR)
start = time.perf_counter()
actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, used = os.wait4(process, 0)
seconds = time.perf_counter() - start
print([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss])
sys.exit(os.waitstatus_to_exitcode(status))
"""


def in_turns(
    runs: Mapping[str, Callable[[], Figures]], repeats: int, tell: Callable[[str], None] = lambda name: None
) -> dict[str, list[Figures]]:
    """Each so many times in turns; every other turn goes the other way round.

    What fails is left out, and said.
    """
    found: dict[str, list[Figures]] = {name: [] for name in runs}
    for turn in range(repeats):
        for name in list(found)[:: -1 if turn % 2 else 1]:
            tell(name)
            try:
                found[name].append(runs[name]())
            except RuntimeError as error:
                print(f"left out: {name}: {error}", file=sys.stderr)
                del found[name]
    return {name: found[name] for name in runs if name in found}


def clocked(work: Callable[[], object], repeats: int) -> list[float]:
    """Wall seconds of each of some calls, after one that does not count; the collector is off, as in a
    session."""
    times = []
    for turn in range(repeats + 1):
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        work()
        if turn:
            times.append(time.perf_counter() - start)
        gc.enable()
    return times


def wall_and_processor_seconds(work: Callable[[], _T]) -> tuple[float, float, _T]:
    """Call a function after a collection of garbage. Returns the seconds of the wall, those of the processor
    in all threads, and its result."""
    gc.collect()
    wall, used = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - wall, time.process_time() - used, found


def processor_seconds(work: Callable[[], _T]) -> tuple[float, _T]:
    """Call a function after a collection of garbage. Returns the processor seconds of all threads, and its
    result."""
    _, used, found = wall_and_processor_seconds(work)
    return used, found


def cpu() -> float:
    """Seconds of all processors that this process and those that it waited for have used."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def peak() -> float:
    """Megabytes of the largest of this process and those that it waited for."""
    status = Path("/proc/self/status")
    if status.is_file():  # Linux counts the memory of the process that started this one as well
        own = int(re.findall(r"^VmHWM:\s*(\d+) kB$", status.read_text(), re.MULTILINE)[0])
    else:
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return _megabytes(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))


def _megabytes(maximum: int) -> float:
    return maximum / (1e6 if sys.platform == "darwin" else 1e3)


# ---- what is measured


def pieces(path: Path) -> Iterator[str]:
    """The text of a file in pieces of about 64 KB, cut where a pre-token ends: what other trainers take best.
    """
    text = path.read_text(encoding="utf-8")
    start = 0
    while start < len(text):
        cut = _CUT.search(text, start + PART)
        end = cut.end() if cut else len(text)
        yield text[start:end]
        start = end


def kernels() -> None:
    """Load the kernels, or fail."""
    from tokentui.core import engines

    if not engines.available():
        raise SystemExit(f"no kernels: {engines.engine()}")


def tiktoken_of(tokenizer: Tokenizer) -> Any:
    """The same tokenizer in tiktoken, for one that merges bytes."""
    import tiktoken

    from tokentui.text.split import SPLITS

    ranks = {entry.piece: entry.id for entry in tokenizer.entries() if entry.kind != "special"}
    pattern = SPLITS[tokenizer.recipe.split].pattern
    return tiktoken.Encoding("one", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def installed(package: str) -> bool:
    """Whether a peer is there."""
    return importlib.util.find_spec(package) is not None


def version(package: str) -> str:
    """A package with its version."""
    if package == "tokentui":
        import tokentui

        return f"tokentui {tokentui.__version__}"
    return f"{package} {importlib.metadata.version(package)}"


# ---- what it says


def spread(values: Sequence[float], unit: float = 1.0, digits: int = 3) -> tuple[str, str]:
    """The median, and the least and the most, as text."""
    least, most = (f"{one * unit:,.{digits}f}" for one in (min(values), max(values)))
    return f"{statistics.median(values) * unit:,.{digits}f}", f"{least}–{most}"


def tails(times: Sequence[float]) -> tuple[str, str, str, str]:
    """Median, 99 and 99.9 per cent and the most of many times, in milliseconds, as text."""
    values = (statistics.median(times), *upper(times))
    return tuple(f"{value * 1000:.3f}" for value in values)  # type: ignore[return-value]


def upper(times: Sequence[float]) -> tuple[float, float, float]:
    """99 and 99.9 per cent and the most of many times."""
    ordered = sorted(times)
    return ordered[int(0.99 * (len(ordered) - 1))], ordered[int(0.999 * (len(ordered) - 1))], ordered[-1]


def median(runs: Sequence[Figures], name: str = "seconds") -> float:
    """The median of one figure of several runs."""
    return statistics.median(run[name] for run in runs)


def machine() -> str:
    """What it runs on, in a line."""
    model = platform.processor() or platform.machine()
    names = Path("/proc/cpuinfo")
    if names.is_file():
        model = next(iter(re.findall(r"^model name\s*: (.+)$", names.read_text(), re.MULTILINE)), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{model}, {cores} cores, {platform.system()}, {python}"


def megabytes(path: Path) -> str:
    """The size of a corpus, as text."""
    return f"{path.stat().st_size / 1e6:,.3g} MB"


if __name__ == "__main__":
    module, function, words = sys.argv[1:]
    try:
        print(json.dumps(getattr(importlib.import_module(module), function)(*json.loads(words))), flush=True)
    except Exception:
        traceback.print_exc()
        os._exit(1)  # a session that was left has threads, for which the interpreter would wait
