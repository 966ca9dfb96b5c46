"""Time `tokentui count` on one machine and on local Dask clusters: `python benchmarks/cluster.py FOLDER`.

A text of the wanted size is made of the files of the folder, over and over, in a folder of its own that goes
away afterwards. Each way to count it is a process of its own; seconds, CPU seconds and the peak memory of the
client and of the largest worker are those of the processes. All outputs have to be the same byte for byte.
The table goes to standard output, or between the marks of a page (`--page docs/cluster.md`).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

BEGIN, END = "<!-- table: benchmarks/cluster.py -->", "<!-- end of the table -->"
_EVERY_S = 0.2


class Row(NamedTuple):
    """A way to count, and what it took."""

    name: str
    seconds: float
    cpu: float
    client: int
    worker: int
    load: float
    digest: str


def make(folder: Path, target: Path, size: int) -> None:
    """Write a text of so many bytes."""
    texts = [path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in (".txt", ".jsonl")]
    if not texts:
        raise SystemExit(f"{folder}: no .txt file is there")
    with target.open("wb") as file:
        while True:
            for text in texts:
                text = text[: size - file.tell()]
                file.write(text)
                if file.tell() >= size:
                    return


def _tree(root: int) -> dict[int, int]:
    """The peak memory in bytes of a process and of all below it."""
    parents, peaks = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                told = Path("/proc", entry, "status").read_text()
            except OSError:
                continue
            found = dict(re.findall(r"^(PPid|VmHWM):\s+(\d+)", told, re.MULTILINE))
            if "VmHWM" in found:
                parents[int(entry)] = int(found["PPid"])
                peaks[int(entry)] = int(found["VmHWM"]) * 1024
    kept = {root}
    while more := {pid for pid, parent in parents.items() if parent in kept} - kept:
        kept |= more
    return {pid: peaks[pid] for pid in kept if pid in peaks}


def run(name: str, words: list[str], text: Path, target: Path, recipe: str) -> Row:
    """Count the text in one way."""
    load, before = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tokentui", "count", str(text), "-r", recipe, "-o", str(target), *words]
    began = time.monotonic()
    process = subprocess.Popen([*command, "--limit", "count-bytes=1024G"], stderr=subprocess.PIPE)
    peaks: dict[int, int] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_EVERY_S):
            for pid, peak in _tree(process.pid).items():
                peaks[pid] = max(peaks.get(pid, 0), peak)

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, said = process.communicate()
    seconds = time.monotonic() - began
    ended.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(said.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    workers = [peak for pid, peak in peaks.items() if pid != process.pid]
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    return Row(name, seconds, cpu, peaks.get(process.pid, 0), max(workers, default=0), load, digest)


def table(rows: list[Row], size: int, recipe: str) -> str:
    """The rows in Markdown."""
    lines = [
        f"{size / 1e9:.3g} GB, `-r {recipe}`, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}:",
        "",
        "| counted on | seconds | MB per second | CPU seconds | client, peak | worker, peak | load before |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for one in rows:
        worker = f"{one.worker / 1e6:,.0f} MB" if one.worker else ""
        lines.append(
            f"| {one.name} | {one.seconds:.1f} | {size / 1e6 / one.seconds:.0f} | {one.cpu:.1f} "
            f"| {one.client / 1e6:,.0f} MB | {worker} | {one.load:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Make the text, count it, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--recipe", default="gpt2")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    size = int(given.gb * 1e9)
    with tempfile.TemporaryDirectory() as place:
        text = Path(place, "text.txt")
        make(given.folder, text, size)
        numbers = list(map(int, given.workers.split(",")))
        ways: list[tuple[str, list[str]]] = [("this process alone", []), *(
            (f"{number} worker{'s' * (number > 1)}", ["--scheduler", f"local:{number}"]) for number in numbers
        )]
        rows = [run(name, words, text, Path(place, "out.counts.tsv"), given.recipe) for name, words in ways]
    if len({one.digest for one in rows}) > 1:
        raise SystemExit("the outputs differ")
    made = table(rows, size, given.recipe)
    print(made)
    if given.page:
        page = given.page.read_text()
        before, _, rest = page.partition(BEGIN)
        given.page.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
