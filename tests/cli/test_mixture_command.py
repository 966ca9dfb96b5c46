"""`tokentui mixture`: what it prints, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from running_cli import done, refused

import tokentui

SAMPLES = "--corpus", "a=sample:english", "--corpus", "b=sample:finnish"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("mixture") / "t.json"
    tokentui.train(["sample:english", "sample:finnish"], "gpt2", merges=40).save(file)
    return str(file)


def test_the_training_texts_have_the_shares_of_their_bytes(path: str) -> None:
    pytest.importorskip("scipy")
    found = json.loads(done("mixture", "-t", path, *SAMPLES, "--json"))
    sizes = [share["bytes"] for share in found["shares"]]
    for share, size in zip(found["shares"], sizes, strict=True):
        assert share["share"] == pytest.approx(size / sum(sizes), abs=0.02)
        assert share["low"] <= share["share"] <= share["high"]
    assert found["slack"] < 1e-6
    assert "has just these merges" in done("mixture", "-t", path, *SAMPLES).splitlines()[0]


def test_the_first_line_says_that_shares_mean_little(path: str) -> None:
    pytest.importorskip("scipy")
    samples = "--corpus", "a=sample:python", "--corpus", "b=sample:hindi"
    lines = done("mixture", "-t", path, *samples).splitlines()
    assert "the shares mean little" in lines[0]
    assert any("worst merges" in line for line in lines)


def test_what_is_refused(path: str, tmp_path: Path) -> None:
    assert "two samples" in refused("mixture", "-t", path, "--corpus", "a=sample:english")
    english = "mixture", "-t", path, "--corpus", "a=sample:english", "--corpus"
    assert "has no name" in refused(*english, "sample:hugs")
    (tmp_path / "empty.txt").write_bytes(b"")
    assert "no pair" in refused(*english, f"b={tmp_path}/empty.txt")


def test_without_scipy_one_line_says_what_to_install(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert "tokentui[lp]" in refused("mixture", "-t", path, *SAMPLES)
    assert "tokentui[lp]" in refused("bound", "-t", path, "sample:hugs", "--lp")
