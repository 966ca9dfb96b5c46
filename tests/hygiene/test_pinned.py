"""What is recorded holds on every machine: it names no version, path or time of the one that it was made on.

A recording that did would fail elsewhere, or with the next release of Python or of a library.
"""

from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ("tests/recorded", "tests/ui/screens")
"""The folders of what the program printed or drew."""
MADE_UP = "9.9.9"
"""The version that a test gives to everything whose version would be seen."""
NEEDED = [line for line in requires("tokentui") or () if "extra ==" not in line]
NAMES = ("tokentui", "Python", "PyPy", *(re.split(r"[^\w-]", line)[0] for line in NEEDED))
"""What has versions that are no part of a recording: the program, Python, and what it always needs."""

KINDS = {
    "a version": re.compile(rf"(?:{'|'.join(NAMES)})[ =v/]+(?!{re.escape(MADE_UP)})\d+\.\d", re.IGNORECASE),
    "a path": re.compile(r"(?<![\w.:/~])/(?:root|home|Users|tmp|private|var|usr|opt|work)/\w"),
    "a time": re.compile(
        r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b|\b[0-2]?\d:[0-5]\d:[0-5]\d\b|\b\d+\.\d+ s\b|\b\d+ ms\b"
    ),
    "an address": re.compile(r"\b(?:localhost|127\.0\.0\.1):\d+|\bat 0x[0-9a-f]{6,}"),
}
"""What a recording may not hold."""


def pinned(text: str) -> list[str]:
    """Return what a text holds that belongs to one machine, with its kind."""
    return sorted(
        {f"{kind}: {found.group()}" for kind, pattern in KINDS.items() for found in pattern.finditer(text)}
    )


@pytest.mark.parametrize(("text", "kind"), [
    ("CPython 3.11.7", "a version"), ("Textual 8.2", "a version"), ("made by tokentui v0.1", "a version"),
    ("regex 2026.1.2", "a version"), ("see /" + "home/me/a.txt", "a path"),
    ('"/' + 'tmp/pytest-1/x"', "a path"),
    ("on 2026-11-28", "a time"), ("at 23:12:28", "a time"), ("took 1.5 s", "a time"), ("in 20 ms", "a time"),
    ("http://127.0.0.1:41217/a", "an address"), ("<A at 0x7f636e1449d0>", "an address"),
])
def test_what_belongs_to_one_machine_is_found(text: str, kind: str) -> None:
    assert [found.partition(":")[0] for found in pinned(text)] == [kind]


@pytest.mark.parametrize("text", [
    f"CPython {MADE_UP} · Textual {MADE_UP}", "a/" + "tmp/b", "~/" + "home/x", "https://host/var/x", "3.11",
    "82 s",
])
def test_what_holds_everywhere_is_not(text: str) -> None:
    assert not pinned(text)


@pytest.mark.parametrize("folder", RECORDED)
def test_a_recording_names_nothing_of_one_machine(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".txt", ".json")]
    assert files
    found = {path.name: pinned(path.read_text("utf-8")) for path in files}
    assert not {name: rows for name, rows in found.items() if rows}
