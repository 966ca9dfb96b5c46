"""The words of the project: the glossary is in order, and old words do not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tokentui"

OLD = re.compile(
    r"\b(births?|born|asides?|beside|glance[sd]?|somebody|nobody|is said|are said|all is well)\b", re.I
)
RIDDLES = ("What ", "Whether ", "How ", "Who ")
"""Openings of a docstring that ask instead of saying what the thing is or does."""


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of a file with the line of what they describe; those of attributes too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else ():
            if (
                isinstance(one, ast.Expr)
                and isinstance(one.value, ast.Constant)
                and isinstance(one.value.value, str)
            ):
                yield one.lineno, one.value.value


def faults(text: str) -> list[str]:
    """What a docstring has that it must not have."""
    found = [match.group() for match in OLD.finditer(text)]
    return found + [opening for opening in RIDDLES if text.lstrip().startswith(opening)]


def test_docstrings_use_plain_words() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {', '.join(found)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in docstrings(path)
        if (found := faults(text))
    ]
    assert wrong == []


def test_lines_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 110
    ]
    assert long == []


@pytest.mark.parametrize(
    "text", ["What is told.", "How far.", "Answers beside the training.", "A birth.", "Nobody waits."]
)
def test_such_words_would_be_found(text: str) -> None:
    assert faults(text)


def test_the_glossary_has_each_word_once_and_in_order() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", text, re.M)
    assert len(words) == 30
    assert words == sorted(set(words))
