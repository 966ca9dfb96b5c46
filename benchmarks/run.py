"""Measure, and write docs/performance.md: `python benchmarks/run.py CORPUS... [--only NAME...] [--out FILE]`.

Give corpora of about 1, 10 and 100 MB (`benchmarks/corpora.py` makes them); each table takes those that mean
something for it. Every measurement runs in fresh processes, beside the other libraries in turns; what is not
installed is left out. Tables of earlier runs are kept, each with its machine and day, so that one can be
measured anew by its name.
"""

from __future__ import annotations

import argparse
import compileall
import datetime
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import goals
import summary
from harness import HERE, ROOT, Table, machine

sys.path.insert(0, str(ROOT))

OUT = ROOT / "docs" / "performance.md"
SMALL, LARGE = 2.5, 40.0
"""Megabytes below which a corpus is small, and above which it is large."""


@dataclass(frozen=True)
class Measurement:
    """A kind of table: which corpora it is made of, and how."""

    about: str
    takes: Callable[[float], bool] | None
    measure: Callable[[Path, int], Table]


def _size(path: Path) -> float:
    return path.stat().st_size / 1e6


def _entries(path: Path) -> int:
    return 8192 if _size(path) < SMALL else 32_768


def _of(module: str, function: str, *words: Any, repeated: bool = True) -> Callable[[Path, int], Table]:
    """A function of a module here, which is imported when it is wanted.

    A word may be a function of the corpus.
    """

    def measure(path: Path, repeats: int) -> Table:
        made = __import__(module)
        given = [word(path) if callable(word) else word for word in words]
        table: Table = getattr(made, function)(path, *given, *([repeats] if repeated else []))
        return table

    return measure


def _train(path: Path, repeats: int) -> Table:
    import training

    return training.table(path, _entries(path), repeats, again=training.AGAIN if _size(path) < SMALL else 0)


def _startup(path: Path, repeats: int) -> Table:
    import startup

    return startup.table(repeats)


def _commands(path: Path, repeats: int) -> Table:
    import commands

    return commands.table(repeats)


def _rest(path: Path, repeats: int) -> Table:
    import commands

    return commands.rest_table(repeats)


def _snapshots(path: Path, repeats: int) -> Table:
    import snapshots

    return snapshots.table(repeats)


def small(size: float) -> bool:
    """About 1 MB."""
    return size < SMALL


def middle(size: float) -> bool:
    """About 10 MB."""
    return SMALL <= size <= LARGE


def large(size: float) -> bool:
    """About 100 MB."""
    return size > LARGE


MEASUREMENTS: dict[str, Measurement] = {
    "train": Measurement("training in a warm process", lambda size: True, _train),
    "whole": Measurement(
        "training as a whole process", lambda size: True, _of("training", "whole_table", _entries)
    ),
    "textbook": Measurement("trainers that are slow", small, _of("training", "small_table")),
    "steps": Measurement(
        "single steps and jumps", lambda size: True, _of("steps", "table", _entries, repeated=False)
    ),
    "steps-plain": Measurement(
        "the same in plain Python", middle, _of("steps", "plain_table", _entries, repeated=False)
    ),
    "lag": Measurement("what keys wait for", large, _of("steps", "lag_table", repeated=False)),
    "keys": Measurement("from key to paint", middle, _of("keys", "table", repeated=False)),
    "unsplit": Measurement(
        "no pre-tokenization", small, _of("steps", "unsplit_table", _entries, repeated=False)
    ),
    "count": Measurement("pre-tokenizing and counting", middle, _of("counting", "table")),
    "presets": Measurement("counting by each preset", middle, _of("counting", "presets_table")),
    "score": Measurement("WordPiece by score", middle, _of("pruning", "score_table", 32_000)),
    "unigram": Measurement("Unigram", lambda size: not large(size), _of("pruning", "unigram_table", 8192)),
    "encode": Measurement("encoding", middle, _of("encoding", "table", 32_768)),
    "batch": Measurement("encoding many texts", middle, _of("encoding", "batch_table", 32_768)),
    "files": Measurement("encoding and decoding by files", middle, _of("files", "preset_table")),
    "typing": Measurement("typed text", middle, _of("encoding", "typing_table", 32_768, repeated=False)),
    "live": Measurement("training anew while one types", small, _of("live", "typing_table", repeated=False)),
    "swap": Measurement(
        "another preset under the same corpus", small, _of("live", "swap_table", repeated=False)
    ),
    "open": Measurement("opening a corpus and a long tokenizer.json", small, _of("opening", "table")),
    "commands": Measurement("commands that do next to nothing", None, _commands),
    "rest": Measurement("an explorer that nobody touches", None, _rest),
    "startup": Measurement("from the start to the first paint", None, _startup),
    "snapshots": Measurement("a snapshot after a step and after a character", None, _snapshots),
}


def key(name: str, path: Path | None) -> str:
    """A table by its name and the size of its corpus in whole megabytes."""
    return name if path is None else f"{name}:{round(_size(path))}"


_PLACE = re.compile(r"\{\{([\w-]+)(.*?)\}\}\n*", re.DOTALL)
"""A place of tables in the template: their name, then text that goes before them."""
_EMPTY = re.compile(r"^#+ [^\n]*\n+(?=## |\Z)", re.MULTILINE)
"""A heading with nothing under it."""


def render(found: dict[str, Any]) -> str:
    """The document: the template with its tables put in. What was not measured has no place in it."""

    def tables(place: re.Match[str]) -> str:
        name, before = place[1], place[2].strip()
        if name == "summary":
            said = [str(table) for table in summary.tables(found)]
        else:
            own = [one for one in found if one.partition(":")[0] == name]
            sized = [found[one] for one in sorted(own, key=lambda one: float(one.partition(":")[2] or 0))]
            said = [f"{Table(one['title'], one['heads'], one['rows'])}\n\n{_when(one)}" for one in sized]
        return "".join(f"{part}\n\n" for part in (before, *said) if part) if said else ""

    text = _PLACE.sub(tables, (HERE / "performance.md").read_text(encoding="utf-8"))
    return _EMPTY.sub("", text).rstrip() + "\n"


def _when(one: dict[str, Any]) -> str:
    runs = f"{one['repeats']} runs each in turns; " if one["repeats"] else ""
    busy = (
        f"; **the machine was busy**, its load {one['load']:.1f} before" if one["load"] > goals.BUSY else ""
    )
    return f"<sub>{runs}{one['machine']}; {one['day']}{busy}</sub>"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="names:\n" + "\n".join(f"  {name:12} {one.about}" for name, one in MEASUREMENTS.items()),
    )
    parser.add_argument("corpora", type=Path, nargs="*", metavar="CORPUS", help="a text in UTF-8")
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help="these tables and no others"
    )
    parser.add_argument(
        "--repeats", type=int, default=5,
        help="runs of each, 3 at most of large corpora and of tokenizer files (default: %(default)s)",
    )
    parser.add_argument(
        "--files", nargs="+", metavar="FILE", default=[],
        help="tokenizer files of the table files, in place of files of presets",
    )
    parser.add_argument(
        "--goals", action="store_true", help="print the goals and what was measured, and measure nothing"
    )
    parser.add_argument(
        "--render", action="store_true", help="write the document anew, and measure nothing"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="the document (default: docs/performance.md)")
    words = parser.parse_args()
    for corpus in words.corpora:
        if not corpus.is_file():
            parser.error(f"no such file: {corpus}")
    if words.repeats < 1:
        parser.error("at least 1 run")
    return words


def main() -> None:
    """Run it."""
    words = _arguments()
    kept = words.out.with_suffix(".json")
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    if words.goals:
        print(goals.table(found))
        return
    on, names = machine(), [] if words.render else words.only or MEASUREMENTS
    if names:  # bytecode is made once, before any clock runs, as of a program that is installed
        compileall.compile_dir(ROOT / "tokentui", quiet=1)
    for name in names:
        one = MEASUREMENTS[name]
        wanted = [None] if one.takes is None else [path for path in words.corpora if one.takes(_size(path))]
        for path in wanted:
            long = name == "files" or (path is not None and large(_size(path)))
            repeats = min(3, words.repeats) if long else words.repeats
            load = os.getloadavg()[0]
            print(f"\n{one.about}, {path or ''} (load before: {load:.1f})", file=sys.stderr, flush=True)
            try:
                if name == "files" and words.files:
                    import files

                    table = files.table(path, words.files, repeats)
                else:
                    table = one.measure(path or Path(), repeats)
            except (RuntimeError, KeyError, ImportError) as error:
                print(f"not measured: {error}", file=sys.stderr)
                continue
            day = f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}"
            found[key(name, path)] = {
                **asdict(table), "repeats": repeats, "machine": on, "day": day, "load": load,
            }
            print(f"\n{table}", flush=True)
            kept.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    words.out.write_text(render(found), encoding="utf-8")
    print(f"\nwritten: {words.out}")


if __name__ == "__main__":
    main()
