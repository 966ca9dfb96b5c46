"""Measure how sturdy it is, and write docs/reliability.md: `python benchmarks/reliability.py CORPUS LARGE
[--only NAME...]`.

CORPUS is a text of about a megabyte, LARGE one that takes a while to open, of 10 to 100 MB. The explorer runs
in a pseudo-terminal, timed and counted from outside; beside it, where that makes sense, a plain Textual app
with a table of rows. Tables of earlier runs are kept, each with its machine and day, so that one can be
measured anew by its name.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import reliability_life as life
import reliability_wire as wire
from harness import HERE, ROOT, Table, machine
from reliability_wire import Figure, Figures, Given

OUT = ROOT / "docs" / "reliability.md"


@dataclass(frozen=True)
class Measurement:
    """A table: its title, what yields its rows, and what its figures stand beside."""

    title: str
    measure: Callable[[Given], Figures]
    beside: str = "a plain Textual table"


MEASUREMENTS: dict[str, Measurement] = {
    "start": Measurement("From Enter", wire.start),
    "cursor": Measurement("Bytes of a key", wire.cursor),
    "latency": Measurement("From a key to the last byte", wire.latency),
    "held": Measurement("A key held down on a slow line", wire.held),
    "drivers": Measurement("The same app with both drivers", wire.drivers, "Textual's driver"),
    "files": Measurement("Opened tokenizer files", wire.files),
    "idle": Measurement("At rest", life.idle),
    "million": Measurement("A million rows", life.million),
    "resizes": Measurement("A window that is dragged", life.resizes),
    "monkey": Measurement("Keys that make no sense", life.monkey),
    "deaths": Measurement("Being ended", life.deaths),
    "kills": Measurement("Being killed", life.kills),
}


def said(value: float, unit: str) -> str:
    """A figure with its unit; three digits that count, and no fewer than all of a count."""
    shown = f"{value:,.0f}" if unit in ("B", "crashes", "") or value >= 100 else f"{value:,.3g}"
    return f"{shown} {unit}".rstrip()


def table(measurement: Measurement, figures: list[Figure]) -> Table:
    """Figures as a table."""
    rows = []
    for one in figures:
        met = "" if one.most is None else "yes" if one.value <= one.most else "**no**"
        most = "" if one.most is None else said(one.most, one.unit)
        beside = "" if one.beside is None else said(one.beside, one.unit)
        rows.append((one.what, most, said(one.value, one.unit), met, beside, one.detail))
    return Table(measurement.title, ("what", "at most", "measured", "met", measurement.beside, ""), rows)


def render(found: dict[str, Any]) -> str:
    """Return the page: the template with its tables filled in. What was not measured has no place in it."""
    text = (HERE / "reliability.md").read_text(encoding="utf-8")
    for name in MEASUREMENTS:
        one = found.get(name)
        made = ""
        if one is not None:
            shown = Table(one["title"], one["heads"], one["rows"])
            made = f"{shown}\n\n<sub>{one['machine']}; {one['day']}</sub>\n\n"
        text = text.replace("{{" + name + "}}\n\n", made)
    return text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="names:\n" + "\n".join(f"  {name:10} {one.title}" for name, one in MEASUREMENTS.items()),
    )
    parser.add_argument("corpus", type=Path, nargs="?", help="a text of about a megabyte")
    parser.add_argument("large", type=Path, nargs="?", help="a text of 10 to 100 MB")
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help="these tables and no others"
    )
    parser.add_argument(
        "--effort", type=float, default=1.0, help="how much of the long ones is made (default: all, 1)"
    )
    parser.add_argument(
        "--render", action="store_true", help="write the document anew, and measure nothing"
    )
    parser.add_argument(
        "--files", nargs="+", type=Path, default=[], help="one to four tokenizer files, of the table files"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="the document (default: docs/reliability.md)")
    words = parser.parse_args()
    for path in () if words.render else (words.corpus, words.large):
        if path is None or not path.is_file():
            parser.error(f"no such file: {path}")
    return words


def main() -> None:
    """Run it."""
    words = _arguments()
    kept = words.out.with_suffix(".json")
    if words.render:
        words.out.write_text(render(json.loads(kept.read_text(encoding="utf-8"))), encoding="utf-8")
        return
    on = machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["TOKENTUI_HOME"] = str(folder / "home")
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("COLORTERM", None)  # as it is over SSH
        files = tuple(str(path.resolve()) for path in words.files)
        given = Given(str(words.corpus.resolve()), str(words.large.resolve()), folder, words.effort, files)
        for one in words.only or MEASUREMENTS:
            load = os.getloadavg()[0]
            print(f"\n{MEASUREMENTS[one].title} (load before: {load:.1f})", file=sys.stderr, flush=True)
            figures = list(MEASUREMENTS[one].measure(given))
            if not figures:
                print("nothing to measure it with", file=sys.stderr)
                continue
            made = table(MEASUREMENTS[one], figures)
            busy = f"; load before it {load:.1f}" if load > 1 else ""
            day = f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}{busy}"
            found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
            found[one] = {**asdict(made), "machine": on, "day": day}
            print(f"\n{made}", flush=True)
            kept.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            words.out.write_text(render(found), encoding="utf-8")
    print(f"\nwritten: {words.out}")


if __name__ == "__main__":
    main()
