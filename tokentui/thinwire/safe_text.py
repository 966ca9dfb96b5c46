"""The last check before the terminal: no drawn text may hold a character that acts, whatever a widget
drew."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import rich.cells
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter


class SafeText(NamedTuple):
    """The functions that decide which text may reach the terminal. The package calls no others for this.

    Attributes:
        is_safe: Returns whether a terminal may get the text as it is.
        replace: Returns the text with a visible character in place of each unsafe one. `is_safe` holds for
            the result.
        clusters: Splits safe text into (cluster, columns): what a terminal draws as one. Columns are 0 for
            marks without a character to combine with.
    """

    is_safe: Callable[[str], bool]
    replace: Callable[[str], str]
    clusters: Callable[[str], Sequence[tuple[str, int]]]


@lru_cache(4096)
def _rich_clusters(text: str) -> tuple[tuple[str, int], ...]:
    if text.isascii():
        return tuple((char, 1) for char in text)
    spans, _ = rich.cells.split_graphemes(text)  # looked up at each call: `correct_widths` replaces it
    return tuple((text[start:end], columns) for start, end, columns in spans)


def _replace_unprintable(text: str) -> str:
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


RICH_TEXT = SafeText(str.isprintable, _replace_unprintable, _rich_clusters)
"""The default: Python's `str.isprintable` and Rich's grapheme clusters."""

_SCROLL_BAR_ACTIONS = frozenset({"grab", "release", "scroll_up", "scroll_down"})


class SafeTextFilter(LineFilter):
    """Replace every unsafe character of a line by a visible one, and drop links and actions from its styles.

    A line keeps its width. A stand-in may be wider than the character it replaces: it uses up blanks after
    it, or the end of its own segment if there are none. Actions of Textual's own scroll bars stay.
    """

    def __init__(self, safe_text: SafeText) -> None:
        super().__init__()
        self._is_safe = lru_cache(8192)(safe_text.is_safe)
        self._replace = safe_text.replace

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments of a line, made safe; the list itself if it is safe already."""
        is_safe = self._is_safe
        if all(is_safe(text) and not control and not _acts(style) for text, style, control in segments):
            return segments
        line = [
            (text if is_safe(text) else self._replace(text), _inert(style)) for text, style, _ in segments
        ]
        surplus = sum(cell_len(text) for text, _ in line) - sum(cell_len(text) for text, *_ in segments)
        texts = [text for text, _ in line]
        if surplus:
            changed = [n for n, (text, *_) in enumerate(segments) if text != texts[n]]
            _remove_columns(texts, changed, surplus)
        return [Segment(text, style) for text, (_, style) in zip(texts, line, strict=True)]


def _remove_columns(texts: list[str], changed: list[int], surplus: int) -> None:
    """Shorten the texts of a line in place by `surplus` columns.

    Blanks after the first changed text go first, except one of each run, so that columns of a table keep
    their gaps. Changed texts are cut for the rest.
    """
    for n in range(changed[0], len(texts)):
        pieces = [list(group) for _, group in itertools.groupby(texts[n], " ".__eq__)]
        for piece in pieces:
            if piece[0] == " " and surplus > 0:
                removed = min(surplus, len(piece) - 1)
                del piece[len(piece) - removed :]
                surplus -= removed
        texts[n] = "".join(itertools.chain.from_iterable(pieces))
    for n in reversed(changed):
        # All of the surplus came from these texts, so they are at least that wide.
        size = cell_len(texts[n])
        removed = min(surplus, size)
        texts[n] = set_cell_size(texts[n], size - removed)
        surplus -= removed


@lru_cache(1024)
def _acts(style: Style | None) -> bool:
    """Return whether a style has a link or an action."""
    return style is not None and bool(style.link or style.meta)


@lru_cache(1024)
def _inert(style: Style | None) -> Style | None:
    """Return a style without link and actions, except those of Textual's scroll bars."""
    if style is None or not _acts(style):
        return style
    # Names of actions begin with "@".
    meta = {
        name: value
        for name, value in style.meta.items()
        if not str(name).startswith("@") or (isinstance(value, str) and value in _SCROLL_BAR_ACTIONS)
    }
    plain = style.clear_meta_and_links()
    return plain + Style(meta=meta) if meta else plain


