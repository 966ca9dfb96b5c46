"""What a user gets: the measured tables in a few lines, compared with the best of the other libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness import Figures, Table

OURS = "tokentui"
Found = Mapping[str, Mapping[str, Any]]
"""The measured tables, by their names."""


class Line(NamedTuple):
    """A line of a table.

    Attributes:
        what: What is done.
        ours: What it takes here: seconds, or megabytes.
        others: The same of other libraries, by name.
        megabytes: True for memory.
    """

    what: str
    ours: float
    others: Mapping[str, float]
    megabytes: bool = False


def _named(figures: Figures, column: str) -> dict[str, float]:
    """Return a column of the figures of other libraries, without those that gave another result."""
    return {
        name: own[column] for name, own in figures.items()
        if not name.startswith(OURS) and column in own and own.get("alike", True) is not False
    }


def _sized(found: Found, name: str) -> Iterator[tuple[str, Figures]]:
    """Yield the size of each corpus that a table was made of, with the figures."""
    keys = [key for key in found if key.partition(":")[0] == name and found[key]["figures"]]
    for key in sorted(keys, key=lambda key: float(key.partition(":")[2] or 0)):
        yield f"{key.partition(':')[2]} MB", found[key]["figures"]


def _training(found: Found) -> Iterator[Line]:
    for size, figures in _sized(found, "train"):
        ours, others = figures[OURS]["seconds"], _named(figures, "seconds")
        yield Line(f"BPE, {size}, in-process", ours, others)
    for size, figures in _sized(found, "whole"):
        own = figures[f"{OURS} train"]
        if "seconds" in own:
            yield Line(f"BPE, {size}, whole process", own["seconds"], _named(figures, "seconds"))
            others = _named(figures, "megabytes")
            yield Line(f"BPE, {size}, whole process: peak memory", own["megabytes"], others, megabytes=True)
    for size, figures in _sized(found, "unigram"):
        if "seconds" in figures[OURS]:
            yield Line(f"Unigram, {size}", figures[OURS]["seconds"], _named(figures, "seconds"))


def _encoding(found: Found) -> Iterator[Line]:
    for size, figures in _sized(found, "encode"):
        if "encoders" in figures:
            ours, *_ = figures["encoders"].values()
            others = _named(figures["encoders"], "cpu")
            yield Line(f"GPT-2's split, {size}, one thread, cached words", ours["cpu"], others)


_OF_FILES = {
    "again": "encode {size} as one text", "first": "encode {size} as the first text of the process",
    "lines": "encode its lines as {lines}", "line": "encode one line of 64 characters",
    "decode": "decode its ids from a list", "decode array": "decode its ids from an array",
    "load": "read the file", "megabytes": "peak memory: read the file, encode {size}",
}
"""The lines of a tokenizer file, by the columns of the table `files`."""


def _files(found: Found) -> Iterator[tuple[str, list[Line]]]:
    for _, figures in _sized(found, "files"):
        for kind, own in figures["kinds"].items():
            ours, lines = own[OURS], list[Line]()
            for column, what in _OF_FILES.items():
                text = what.format(size=figures["size"], lines=figures["lines"])
                lines.append(Line(text, ours[column], _named(own, column), column == "megabytes"))
            yield f"The file of {kind}, processor time", lines


def _starting(found: Found) -> Iterator[Line]:
    commands = found.get("commands", {}).get("figures", {})
    if "peers" in commands:
        yield Line("--version", commands["version"], {"a bare interpreter": commands["bare"]})
        yield Line("encode a line with a file of GPT-2's size", commands["encode"], commands["peers"])
    start = found.get("startup", {}).get("figures")
    if start:
        others = {"a bare Textual app": start["seconds"] / start["ratio"]}
        yield Line("explorer: first paint", start["seconds"], others)


def tables(found: Found) -> list[Table]:
    """Return the tables, without those for which nothing was measured."""
    groups = [("Training", list(_training(found)))]
    groups += [("Encoding, processor time", list(_encoding(found))), *_files(found)]
    groups += [("Starting, whole processes", list(_starting(found)))]
    heads = ("what", "tokentui", "best other", "theirs / ours")
    return [Table(title, heads, list(map(_row, lines))) for title, lines in groups if lines]


def _row(line: Line) -> tuple[str, ...]:
    if not line.others:
        return line.what, _said(line.ours, line.megabytes), "", ""
    name = min(line.others, key=line.others.__getitem__)
    other = line.others[name]
    return (
        line.what, _said(line.ours, line.megabytes), f"{_said(other, line.megabytes)}, {name}",
        f"{other / line.ours:.2g}×",
    )


def _said(value: float, megabytes: bool) -> str:
    if megabytes:
        return f"{value:,.0f} MB"
    unit, factor = next(
        (unit, factor) for unit, factor, least in (("s", 1, 1), ("ms", 1e3, 1e-3), ("µs", 1e6, 0))
        if value >= least
    )
    return f"{value * factor:,.3g} {unit}"
