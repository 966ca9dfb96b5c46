"""The exact expectations in `tests/data`, and large files that stand beside the project on some machines."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tokentui.text.corpus import Corpus

DATA = Path(__file__).resolve().parents[1] / "data"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Published vocabularies (`tokenizers`), whole books (`corpora`).

Tests that read them are marked `shared`.
"""
ABSENT = "it reads published vocabularies or books, which the project does not hold (tests/data/README.md)"


@functools.cache
def load(name: str) -> Any:
    """A file of `tests/data`."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def texts() -> dict[str, str]:
    """The texts that cases refer to, by name."""
    found: dict[str, str] = load("texts.json")["texts"]
    return found


def cases(*what: str, objective: str | None = None) -> list[Any]:
    """The cases of a kind as parameters of a test; those that need a large file are marked `shared`."""
    out = []
    for name in ("seeds.json", "peers.json"):
        for case in load(name)["cases"]:
            fits = objective is None or case.get("recipe", {}).get("objective", "count") == objective
            if case["what"] in what and fits:
                large = "tokenizer" in case or "file" in case.get("corpus", ())
                out.append(pytest.param(case, id=case["name"], marks=[pytest.mark.shared] if large else []))
    return out


def large(*names: str, marks: Sequence[pytest.MarkDecorator] = ()) -> list[Any]:
    """Names of large files as parameters of a test."""
    return [pytest.param(name, marks=[pytest.mark.shared, *marks]) for name in names]


def shared(name: str) -> Path:
    """A large file by its path below `SHARED`, for a test that is marked `shared`."""
    path = SHARED / name
    assert path.exists(), f"{name} is not in {SHARED}; a test that reads it is marked `shared`"
    return path


def corpus_of(case: dict[str, Any]) -> Corpus:
    """The corpus of a case as a value."""
    source = case["corpus"]
    if "text" in source:
        return Corpus.from_text(source["text"])
    if "lines" in source:
        return Corpus.from_lines(source["lines"])
    if "counts" in source:
        return Corpus.from_counts([(word, count) for word, count in source["counts"]])
    if "ref" in source:
        text = texts()[source["ref"].partition(":")[2]]
    else:
        raw = shared(f"corpora/{source['file']}").read_bytes()
        assert hashlib.sha256(raw).hexdigest() == source["sha256"]
        text = raw.decode("utf-8-sig")
    return Corpus.from_text(text) if source["as"] == "text" else Corpus.from_lines(text.splitlines())


def leave_out_shared(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what reads large files slow, and leave it out where they are absent.

    A test that runs on other files as well is only shortened. One of which nothing would run is skipped once.
    """
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker("slow")
    if SHARED.is_dir():
        return
    kinds = {item: (item.nodeid.partition("[")[0], "soak" in item.keywords) for item in items}
    told = {kinds[item] for item in items if item.get_closest_marker("shared") is None}
    kept, left = [], []
    for item in items:
        if item.get_closest_marker("shared") is None:
            kept.append(item)
        elif kinds[item] in told:
            left.append(item)
        else:
            told.add(kinds[item])
            item.add_marker(pytest.mark.skip(reason=ABSENT))
            kept.append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
