"""Texts and tables in Markdown, for the pages that scripts make. GitHub and the site read them alike."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]


def write(files: Mapping[str, str], words: Sequence[str]) -> int:
    """Write files, or compare them with those in docs.

    Args:
        files: The texts by path, from docs on.
        words: The words of the command line: with `--check`, nothing is written.

    Returns:
        The exit code: 1 if a file differs from its text under `--check`. Its first differences are printed.
    """
    code = 0
    for path, text in files.items():
        file = DOCS / path
        if "--check" not in words:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            continue
        kept = file.read_text(encoding="utf-8") if file.is_file() else ""
        if kept != text:
            rows = difflib.unified_diff(kept.splitlines(), text.splitlines(), f"docs/{path}", "make pages",
                                        lineterm="", n=1)
            sys.stdout.write("\n".join([*list(rows)[:20], ""]))
            code = 1
    return code


def plain(text: str) -> str:
    """A text that is shown as it is, in a line or a cell of a table."""
    shown = re.sub(r"([\\*_`\[\]])", r"\\\1", " ".join(text.split()))
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")


def code(text: str) -> str:
    """A text as code, in a line or a cell of a table."""
    if "|" in text or "`" in text:  # no quoting of these is read alike
        return f"<code>{escape(text, quote=False).replace('|', '&#124;').replace('`', '&#96;')}</code>"
    return f"`{text}`"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a table and an empty one; the texts of its cells are Markdown."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows), ""]
