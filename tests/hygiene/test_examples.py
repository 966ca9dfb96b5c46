"""Every example in a docstring of the package is true."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import tokentui
from tokentui.core import engines

ROOT = Path(tokentui.__path__[0])
TOLD = [
    ".".join(("tokentui", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(ROOT.rglob("*.py"))
    if re.search(r"^ *>>> ", path.read_text("utf-8"), re.MULTILINE)
]
"""The modules that have examples."""


@pytest.mark.parametrize("name", TOLD)
def test_examples_are_true(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert not results.failed
