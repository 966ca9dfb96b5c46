"""The exact expectations that stand outside the project, read where they are there."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tokentui.text.corpus import Corpus

SHARED = Path(__file__).resolve().parents[3] / "shared"
HERE = SHARED / "oracle"


@functools.cache
def _load(name: str) -> Any:
    path = HERE / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def cases(*what: str, objective: str | None = None) -> list[Any]:
    """The cases of a kind as parameters of a test; one that skips where the oracle is absent."""
    out = []
    for name in ("seeds.json", "peers.json"):
        document = _load(name)
        if document is None:
            return [pytest.param(None, marks=[pytest.mark.oracle, pytest.mark.skip(reason="../shared/oracle is not here")])]
        for case in document["cases"]:
            fits = objective is None or case.get("recipe", {}).get("objective", "count") == objective
            if case["what"] in what and fits:
                out.append(pytest.param(case, id=case["name"], marks=pytest.mark.oracle))
    return out


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
        text = _load("texts.json")["texts"][source["ref"].partition(":")[2]]
    else:
        path = SHARED / "data" / "corpora" / source["file"]
        if not path.exists():
            pytest.skip(f"../shared/data/corpora/{source['file']} is not here")
        raw = path.read_bytes()
        assert hashlib.sha256(raw).hexdigest() == source["sha256"]
        text = raw.decode("utf-8-sig")
    if isinstance(text, list):
        return Corpus.from_lines(text)
    return Corpus.from_text(text) if source["as"] == "text" else Corpus.from_lines(text.splitlines())
