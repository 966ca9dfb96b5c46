"""Tokens of a text on a terminal: next to each other, each on its tint, or with bars between them.

Lines are laid out as text. Invisible characters in them say where a token begins and ends, so that tables
align them as they align other text. `Marks.painted` puts sequences for colors in their place. Safe text
contains none of these characters, see `core.safetext`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tokentui.analyze.align import DROPPED
from tokentui.core.safetext import clusters, visible
from tokentui.core.table import cell_width
from tokentui.core.tints import COUNT, DARK, DARK_TEXT, LIGHT, LIGHT_TEXT, Tint, tints

if TYPE_CHECKING:
    from tokentui.analyze.report import AlignedRow

WIDTH = 80
"""The columns of a line if the width of the terminal is not known."""
_LEAST = 20
_FIRST = 0xE0030
"""The character (a tag, without width) that begins a token of the first tint. Those of other tints follow it.
"""
_UNDERLINED = COUNT
"""Is added for a token that is underlined."""
_NO_TINT = 2 * COUNT
"""Begins underlined text without a tint."""
_END = chr(_FIRST + _NO_TINT + 1)
_MARK = re.compile(f"([{chr(_FIRST)}-{_END}])")
_TRUE_COLOR = ("truecolor", "24bit")
_MANY_COLORS = ("256color", "direct", "kitty")
"""The ends of names in TERM of terminals with 256 colors or more."""
_NO_SEQUENCES = ("", "dumb")
_LIGHT_BACKGROUNDS = ("7", "9", "10", "11", "12", "13", "14", "15")


class MarkedToken(NamedTuple):
    """A token to show.

    Attributes:
        text: Its text, safe for a terminal.
        start: The offset in the text at which it starts, see `core.tints`.
        below: The text below it, such as its id.
        ends_line: True if a new line begins after it.
        underlined: True to underline it.
        is_token: False for text that no token covers.
    """

    text: str
    start: int
    below: str = ""
    ends_line: bool = False
    underlined: bool = False
    is_token: bool = True


@dataclass(frozen=True, slots=True)
class Marks:
    """How tokens are marked on a terminal.

    Attributes:
        chips: True for colors. Else bars are between tokens.
        true_color: True if the terminal has 16 million colors, not 256.
        underlines: True if it can underline text.
        dark: True for the tints of a dark background.
        width: The columns of a line.
        bar: The bar.
    """

    chips: bool = True
    true_color: bool = False
    underlines: bool = True
    dark: bool = True
    width: int = WIDTH
    bar: str = "│"

    def lines(self, tokens: Sequence[MarkedToken], *, indent: int = 0) -> Iterator[str]:
        """Yield tokens as lines, which break between tokens. A token that is wider than a line is continued
        on the next.

        Args:
            tokens: The tokens. If one of them has a text below it, each line is followed by a line of these,
                and a blank line is between two such pairs.
            indent: The columns that are left free.
        """
        room, pairs = max(_LEAST, self.width - indent), any(token.below for token in tokens)
        gap = int(self.chips and pairs)
        rows: list[list[tuple[str, str]]] = [[]]
        used = 0
        for token, tint in zip(tokens, tints([token.start for token in tokens]), strict=True):
            begin, end = self._ends(token, tint)
            below = token.below
            for text in folded(token.text, room - gap):
                size = max(cell_width(text), len(below)) + gap
                bar = int(bool(rows[-1]) and not self.chips)
                if rows[-1] and used + bar + size > room:
                    rows.append([])
                    used = bar = 0
                pad = " " * (size - cell_width(text))
                rows[-1].append((f"{begin}{text}{pad}{end}", f"{begin}{below:<{size}}{end}"))
                used += bar + size
                below = ""
            if token.ends_line:
                rows.append([])
                used = 0
        between = False
        for row in filter(None, rows):
            if between and pairs:
                yield ""
            between = True
            yield ("" if self.chips else self.bar).join(upper for upper, _ in row).rstrip()
            if pairs:
                yield ("" if self.chips else " ").join(lower for _, lower in row).rstrip()

    def joined(self, texts: Sequence[str], starts: Sequence[int], most: int | None = None) -> str:
        """Return tokens next to each other, for a cell of a table.

        Args:
            texts: The text of each, safe for a terminal.
            starts: The offset at which each starts, see `core.tints`.
            most: The maximum width in columns; longer text ends with an ellipsis. None for no limit.
        """
        out: list[str] = []
        left = most if most is not None and sum(map(cell_width, texts)) > most else None
        for text, start, tint in zip(texts, starts, tints(starts), strict=True):
            part = text
            if left is not None:
                if left < 2:
                    break
                part = folded(text, left - 1)[0]
                left -= cell_width(part)
            begin, end = self._ends(MarkedToken(part, start), tint)
            out.append(f"{begin}{part}{end}")
            if part != text:
                break
        return ("" if self.chips else self.bar).join(out) + ("" if left is None else "…")

    def aligned(self, part: AlignedRow) -> Iterator[str]:
        """Yield a row of aligned encodings as lines. What the rows split differently is underlined."""
        alignment = part.alignment
        if part.row is None:
            underlined = self.underlines and alignment.partings
            yield f"{part.sizes}{'; underlined: split differently' if underlined else ''}"
            return
        tokens = []
        for cell in alignment.rows[part.row]:
            text = alignment.text[cell.start : cell.end]
            parting = alignment.before(cell.end)
            tokens.append(MarkedToken(
                "".join(span.text for span in visible(text)) if cell.of == 1 else cell.text.strip(" "),
                cell.start, ends_line="\n" in text,
                underlined=parting is not None and parting.end > cell.start, is_token=cell.token != DROPPED,
            ))
        yield from self.lines(tokens, indent=3)

    def _ends(self, token: MarkedToken, tint: int) -> tuple[str, str]:
        """Return the private characters that begin and end a token for `painted`; two empty strings if it has
        neither a tint nor a line."""
        number = tint if self.chips and token.is_token else _NO_TINT
        if number == _NO_TINT and not token.underlined:
            return "", ""
        if token.underlined and number != _NO_TINT:
            number += _UNDERLINED
        return chr(_FIRST + number), _END

    def painted(self, line: str, safe: Callable[[str], str]) -> str:
        """Return a line with sequences for colors in the place of the characters that begin and end tokens.

        Args:
            line: The line.
            safe: Makes the text between them safe.
        """
        out: list[str] = []
        style = ""
        for n, part in enumerate(_MARK.split(line)):
            if n % 2:
                style = "" if part == _END else self._style(ord(part) - _FIRST)
            elif part:
                out.append(f"\x1b[{style}m{safe(part)}\x1b[0m" if style else safe(part))
        return "".join(out)

    def _style(self, number: int) -> str:
        """Return the parameters of the sequence for a style."""
        underline = ["4"] if number >= _UNDERLINED and self.underlines else []
        if number == _NO_TINT or not self.chips:
            return ";".join(underline)
        text, grounds = (DARK_TEXT, DARK) if self.dark else (LIGHT_TEXT, LIGHT)
        ground = grounds[number % COUNT]
        return ";".join([*underline, f"38;{self._color(text)}", f"48;{self._color(ground)}"])

    def _color(self, tint: Tint) -> str:
        if not self.true_color:
            return f"5;{tint.number}"
        red, green, blue = (int(tint.color[n : n + 2], 16) for n in (1, 3, 5))
        return f"2;{red};{green};{blue}"


def shown_tokens(text: str, tokens: Sequence[tuple[str, int, str]]) -> list[MarkedToken]:
    """Return the tokens of a text. A line ends after one that a line break follows, or that contains it.

    Args:
        text: The text.
        tokens: (safe text, first character, text below) of each token.
    """
    ends = [*(start for _, start, _ in tokens[1:]), len(text)]
    return [
        MarkedToken(shown, start, below, ends_line="\n" in text[start:end])
        for (shown, start, below), end in zip(tokens, ends, strict=False)
    ]


def marks_for(environ: Mapping[str, str], *, always: bool = False, ascii_only: bool = False) -> Marks:
    """Return how tokens are marked on a terminal, by its name and what it can do.

    Args:
        environ: The environment. TERM and COLORTERM say which colors there are; NO_COLOR, if it is not empty,
            that none are wanted; COLORFGBG, which some terminals set, whether the background is light.
        always: True for chips on any terminal.
        ascii_only: True for a terminal without UTF-8.
    """
    name = environ.get("TERM", "").lower()
    sequences = always or name not in _NO_SEQUENCES
    true_color = environ.get("COLORTERM", "").strip().lower() in _TRUE_COLOR
    many = true_color or name.rpartition("-")[2] in _MANY_COLORS
    return Marks(
        chips=always or (sequences and many and not environ.get("NO_COLOR")),
        true_color=true_color,
        underlines=sequences,
        dark=environ.get("COLORFGBG", "").rpartition(";")[2] not in _LIGHT_BACKGROUNDS,
        width=_columns(environ),
        bar="|" if ascii_only else "│",
    )


def _columns(environ: Mapping[str, str]) -> int:
    """Return the width of the terminal in columns: COLUMNS if it is set, else that of the first standard
    stream that is a terminal, else `WIDTH`."""
    if (columns := environ.get("COLUMNS", "")).isascii() and columns.isdecimal() and int(columns[:6]):
        return int(columns[:6])
    for descriptor in (1, 2, 0):  # standard output may be a pager
        try:
            found = os.get_terminal_size(descriptor).columns
        except OSError:
            continue
        if found > 0:
            return found
    return WIDTH


def folded(text: str, width: int) -> list[str]:
    """Return a safe text in parts of at most `width` columns. No part ends inside a grapheme cluster, so a
    wider cluster is a part of its own."""
    if cell_width(text) <= width:
        return [text]
    cuts, used = [0], 0
    for cluster in clusters(text):
        size = cell_width(cluster.text)
        if used + size > width and cluster.start > cuts[-1]:
            cuts.append(cluster.start)
            used = 0
        used += size
    return [text[start:end] for start, end in pairwise([*cuts, len(text)])]
