"""Texts and tables in Markdown, for the pages that scripts make. GitHub and the site read them alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape


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
