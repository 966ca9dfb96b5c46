"""Tables of text: rows of cells with a title, a header and notes, printed as lines for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from tokentui.core.records import dataclass

_JOINER, _AS_EMOJI, _TONES = "\u200d", "\ufe0f", "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table. Its cells must be safe for a terminal, see `core.safetext`.

    Attributes:
        rows: The cells of each row; a row may be shorter than others. A row with a single cell spans all
            columns.
        title: The first line, not indented; empty for none.
        head: The names of the columns; empty for no header.
        right: The columns that are aligned right; negative numbers count from the last column.
        indent: The number of spaces before each row.
        total: The number of all rows, if `rows` has only the first of them; else None.
        more: The words after the number of omitted rows.
        notes: Lines after the table.
    """

    rows: Sequence[Sequence[str]] = ()
    title: str = ""
    head: Sequence[str] = ()
    right: Sequence[int] = ()
    indent: int = 0
    total: int | None = None
    more: str = "more"
    notes: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Return the table as lines, without trailing spaces."""
        rows = [*([self.head] if self.head else []), *self.rows]
        size = max(map(len, rows), default=0)
        spread = [row for row in rows if len(row) > 1] or rows
        widths = [max(cell_width(row[n]) for row in spread if n < len(row)) for n in range(size)]
        right = {n % size for n in self.right} if size else set()
        lines = [self.title] if self.title else []
        for row in rows:
            cells = []
            for n, cell in enumerate(row):
                pad = " " * (widths[n] - cell_width(cell)) if len(row) > 1 else ""
                cells.append(pad + cell if n in right else cell + pad)
            lines.append((" " * self.indent + "  ".join(cells)).rstrip())
        left = (len(self.rows) if self.total is None else self.total) - len(self.rows)
        if left > 0:
            lines.append(f"{' ' * self.indent}… and {left:,} {self.more}")
        return [*lines, *self.notes]


def cell_width(text: str) -> int:
    """Return the width of a safe text in terminal columns: 0 for a combining mark, 1 for a spacing mark, 2
    for a wide character (UAX #11).

    A character joined to an emoji counts 0. A character that a selector turns into an emoji counts 2. The
    widths are those of the screen if Python has the same version of Unicode.
    """
    if text.isascii():
        return len(text)
    total = last = 0
    before = ""
    for char in text:
        columns = _columns(char)
        if char == _AS_EMOJI:
            columns, last = int(last == 1), 0
        elif before == _JOINER and unicodedata.category(char)[0] == "S":
            columns = 0
        elif columns:
            last = columns
        before = char
        total += columns
    return total


def _columns(char: str) -> int:
    category = unicodedata.category(char)
    jamo = "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff"
    if category in ("Mn", "Me", "Cf") or jamo or char in _TONES:
        return 0
    return 1 if category == "Mc" else 1 + (unicodedata.east_asian_width(char) in "WF")


_ESCAPES = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))},
    **{code: f"\\u{code:04x}" for code in (0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))},
    **str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}),
}


def escaped(text: str) -> str:
    r"""Return a text for a cell of a TSV file.

    A backslash, control characters and those that change the direction of text are escaped as Python writes
    them: `\\`, `\t`, `\n`, `\r`, `\x1b`, `\u202e`.
    """
    return text.translate(_ESCAPES)


def plural(count: int, noun: str, many: str = "") -> str:
    """Return a count with its noun, such as `1 token` or `2 tokens`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
