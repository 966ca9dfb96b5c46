"""What the project asks of itself, and what was measured of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness import Table

BUSY = 1.0
"""The load of the machine before a measurement from which on other programs were in its way."""

Value = Callable[[dict[str, Any]], float]


@dataclass(frozen=True)
class Goal:
    """A figure of a table that is to be at most so much."""

    what: str
    table: str
    value: Value
    most: float
    unit: str


def _ratio(name: str, figure: str = "ratio") -> Value:
    return lambda figures: float(figures[name][figure])


def _slowest(figure: str) -> Value:
    return lambda figures: 1000 * max(float(figures[kind][figure]) for kind in ("forward", "back", "best"))


def _unlike(figures: dict[str, Any]) -> float:
    return float(figures["tokentui"]["merges"] - figures["tokenizers"]["alike"])


def _of_file(kind: str, column: str) -> Value:
    return lambda figures: 1000 * float(figures["kinds"][kind]["tokentui"][column])


def _memory(kind: str) -> Value:
    def ratio(figures: dict[str, Any]) -> float:
        own = {name: one["megabytes"] for name, one in figures["kinds"][kind].items() if "megabytes" in one}
        ours = own.pop("tokentui")
        return float(ours / min(own.values()))

    return ratio


_FILES = {
    "gemma3": {"again": 16, "first": 300, "load": 700, "decode": 10, "decode array": 2},
    "llama2": {"again": 13, "first": 130, "lines": 50, "decode": 10, "decode array": 2},
    "qwen3": {"again": 10, "first": 100, "decode": 10, "decode array": 2},
    "t5-small": {"again": 13, "first": 200, "lines": 60, "decode": 10, "decode array": 2},
    "gpt2": {"line": 0.008, "lines": 30, "decode": 10, "decode array": 2},
}
"""Milliseconds of the processor for 2 MB by the files of folders with these names, by columns of the table
`files`."""

GOALS = (
    *(
        Goal(f"the file of {kind}: {column}", "files:10", _of_file(kind, column), most, "ms")
        for kind, columns in _FILES.items() for column, most in columns.items()
    ),
    *(
        Goal(f"the file of {kind}: peak memory, compared with the least", "files:10", _memory(kind), 1.7, "x")
        for kind in _FILES
    ),
    *(
        Goal(
            f"training, {size} MB, in-process, compared with {peer}", f"train:{size}", _ratio(peer), most,
            "x",
        )
        for size, peer, most in (
            (10, "rustbpe", 0.15), (10, "tokenizers", 0.05), (100, "rustbpe", 0.1),
            (100, "tokenizers", 0.04),
        )
    ),
    *(
        Goal(
            f"training, {size} MB, whole process, compared with rustbpe", f"whole:{size}", _ratio("rustbpe"),
            most, "x",
        )
        for size, most in ((1, 1.3), (10, 0.5), (100, 0.15))
    ),
    Goal(
        "training, 1 MB, 8,192 ids, first in its process", "train:1",
        lambda one: 1000 * one["tokentui"]["seconds"], 100, "ms",
    ),
    Goal(
        "the same again, as when one looks on", "train:1", lambda one: 1000 * one["tokentui"]["again"], 16,
        "ms",
    ),
    *(
        Goal(f"merges unlike Hugging Face's, {size} MB", f"train:{size}", _unlike, 0, "")
        for size in (1, 10, 100)
    ),
    Goal("a step forward or back, the best 100 pairs: p99.9, 100 MB", "steps:100", _slowest("p999"), 2, "ms"),
    Goal("the same: the longest, 100 MB", "steps:100", _slowest("most"), 8, "ms"),
    *(
        Goal(
            f"a jump to any merge: p99.9, {size} MB", f"steps:{size}",
            lambda one: 1000 * one["jumps"]["p999"], most, "ms",
        )
        for size, most in ((10, 5), (100, 16))
    ),
    Goal("event-loop lag while 100 MB train", "lag:100", lambda one: 1000 * one["training"], 10, "ms"),
    Goal(
        "encoding, 10 MB, one thread, compared with tiktoken", "encode:10",
        lambda one: float(one["tiktoken"]), 0.2, "x",
    ),
    Goal("WordPiece by score, 32,000 merges, 10 MB", "score:10", lambda one: float(one["merge"]), 0.5, "s"),
    *(
        Goal(f"Unigram, 8,192 pieces, 10 MB, compared with {peer}", "unigram:10", _ratio(peer), most, "x")
        for peer, most in (("sentencepiece", 0.25), ("tokenizers", 0.1))
    ),
    Goal(
        "a key in a typed text of 10,000 characters: p99", "typing:10", lambda one: 1000 * one["p99"], 2, "ms"
    ),
    Goal(
        "a key in a corpus of 1 MB, at step 8,000: p99", "live:1", lambda one: 1000 * one["keys 8000"], 50,
        "ms",
    ),
    Goal(
        "no pre-tokenization, 1 MB: the longest step", "unsplit:1", lambda one: 1000 * one["most"], 16, "ms"
    ),
    Goal(
        "plain Python, 10 MB, compared with Hugging Face", "train:10",
        lambda one: one["tokentui, plain Python"]["seconds"] / one["tokenizers"]["seconds"], 0.8, "x",
    ),
    Goal(
        "a letter typed, at rest: p99", "keys:10", lambda one: 1000 * one["at rest"], 16, "ms"
    ),
    Goal(
        "the same while 10 MB train in plain Python: p99", "keys:10",
        lambda one: 1000 * one["while it trains in plain Python"], 33, "ms",
    ),
    Goal("the explorer at rest", "rest", lambda one: 100 * one["share"], 0.1, "% of a processor"),
    Goal(
        "--version, compared with 60 ms or four bare interpreters", "commands",
        lambda one: one["version"] / max(0.06, 4 * one["bare"]), 1, "x",
    ),
    Goal(
        "encode of a line, a tokenizer.json as GPT-2's", "commands",
        lambda one: float(one["encode"]), 0.25, "s",
    ),
    Goal("opening a million lines: first text", "open:1", lambda one: 1000 * one["lines"], 400, "ms"),
    Goal("opening 1 MB: exact pairs", "open:1", lambda one: 1000 * one["corpus"], 300, "ms"),
    Goal("opening a tokenizer.json of 33 MB", "open:1", lambda one: float(one["file"]), 1, "s"),
    Goal("the same: peak memory", "open:1", lambda one: float(one["megabytes"]), 300, "MB"),
    Goal(
        "start to first paint, compared with a bare Textual app", "startup",
        lambda one: float(one["ratio"]), 1.3, "x",
    ),
    Goal(
        "memory at 100 MB, whole process, compared with rustbpe", "whole:100", _ratio("rustbpe", "memory"),
        1.2, "x",
    ),
)


def table(found: dict[str, Any]) -> str:
    """The goals and what was measured."""
    rows = []
    for goal in GOALS:
        try:
            value = goal.value(found[goal.table]["figures"])
        except KeyError:
            rows.append((goal.what, _said(goal.most, goal.unit), "not measured", ""))
            continue
        busy = ", on a busy machine" if found[goal.table].get("load", 0.0) > BUSY else ""
        met = "yes" if value <= goal.most else f"**no**{busy}"
        rows.append((goal.what, _said(goal.most, goal.unit), _said(value, goal.unit), met))
    return str(Table("Goals", ("what", "at most", "measured", "met"), rows))


def _said(value: float, unit: str) -> str:
    return f"{value:,.3g} {unit}".rstrip()
