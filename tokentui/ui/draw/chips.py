"""The tokens of a text in rows: as chips over their ids, or with bars between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tokentui.core.safetext import GlyphMode
from tokentui.core.tints import tints
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.running import age_of
from tokentui.ui.draw.text import Cell, chip, emboldened, runs

if TYPE_CHECKING:
    from tokentui.session.views import EncodedToken

TOKEN_SHOWN = 64
"""The maximum number of characters of a token that are shown."""


def no_room(left: int) -> int:
    """Return 0: no columns are left free."""
    return 0


def never(number: int) -> bool:
    """Return False."""
    return False


class ChipLook(NamedTuple):
    """How tokens are drawn.

    Attributes:
        mode: The way tokens are shown.
        chips: True to show tokens as chips, over their ids on the same ground; otherwise with bars between
            them.
        last_id: The id of the token that the last step made.
        matched: Ranges of characters of the text to mark.
        ages: The step that made each token; empty to draw tokens without the color of their age.
        linked: The exact bytes of the token that is bold; empty for none.
        cursor: The index of the token under the cursor.
        underlined: Returns whether the token with an index is underlined.
        with_ids: True to leave room for ids below.
    """

    mode: GlyphMode = "text"
    chips: bool = False
    last_id: int | None = None
    matched: Sequence[tuple[int, int]] = ()
    ages: Sequence[int] = ()
    linked: bytes = b""
    cursor: int | None = None
    underlined: Callable[[int], bool] = never
    with_ids: bool = True


class ChipRow(NamedTuple):
    """A row of tokens.

    Attributes:
        upper: The tokens.
        lower: Their ids.
        first: The index of the first token.
        end: The index after that of the last token.
        columns: The first column of each token.
        ends: The column after the last one of each.
        used: The number of columns taken.
        tint: The tint of the last token; None for none.
    """

    upper: Cell
    lower: Cell
    first: int
    end: int
    columns: tuple[int, ...]
    ends: tuple[int, ...]
    used: int
    tint: int | None


def fill_row(
    tokens: Sequence[EncodedToken], at: int, width: int, look: ChipLook, tint: int | None = None,
    used: int = 0, more: Callable[[int], int] = no_room,
    breaks: Callable[[int], bool] = never,
) -> ChipRow:
    """Return a row with as many tokens as fit. A token wider than the row is cut.

    Args:
        tokens: The tokens.
        at: The index of the first one.
        width: The columns.
        look: How they are drawn.
        tint: The tint of the token to the left of the first one; None for none.
        used: The columns that are taken on the left.
        more: Returns the columns to leave free after a token, by the number of tokens that follow. If it is
            not 0, a first token without room is not cut, and the row stays empty.
        breaks: Returns whether the row ends after the token with an index.
    """
    upper: Cell = ()
    lower: Cell = ()
    begin, columns, ends = at, list[int](), list[int]()
    while at < len(tokens):
        token, left = tokens[at], len(tokens) - at - 1
        text, ground, own = _drawn(token, at, look, tint)
        identity = "–" if token.id is None else str(token.id)
        size = max(ui_text.width(text), len(identity))
        bar = 1 if at > begin and not look.chips else 0
        size += look.chips and look.with_ids  # a blank between ids
        free = more(left)
        if used + bar + size + free > width:
            if at == begin and not free:
                columns.append(used)
                ends.append(width)
                upper = (*upper, *ui_text.clip(text, width))
                lower = (*lower, *ui_text.clip(((identity, ground or "muted"),), width))
                at, tint = at + 1, own
            break
        columns.append(used + bar)
        ends.append(used + bar + size)
        upper = (*upper, ("│" * bar, "frame"), *text, (" " * (size - ui_text.width(text)), ground))
        lower = (*lower, (" " * bar, ""), (identity.ljust(size), ground or "muted"))
        used += bar + size
        at, tint = at + 1, own
        if breaks(at - 1):
            break
    return ChipRow(upper, lower, begin, at, tuple(columns), tuple(ends), used, tint)


def _drawn(
    token: EncodedToken, number: int, look: ChipLook, tint: int | None
) -> tuple[Cell, str, int]:
    """Return a token as a cell, the style of its ground, and its tint.

    Args:
        token: The token.
        number: Its index.
        look: How it is drawn.
        tint: The tint of the token before it; None for none.
    """
    data = token.text if token.piece is None else token.piece
    text = runs(data, mode=look.mode, limit=TOKEN_SHOWN)
    if look.mode == "escaped":  # a space is its own escape, and nothing to see on a chip
        text = tuple([(part.replace(" ", "␣"), kind) for part, kind in text])
    made = token.id is not None and token.id == look.last_id and not look.ages
    (own,) = tints([token.start], tint)
    ground = "fresh" if made else f"tint-{own}" if look.chips else ""
    if look.ages:
        text = tuple([(part, age_of(look.ages[number])) for part, _ in text])
    if token.piece is None:
        # Of a token that is not in the vocabulary the text stands in its place.
        text = tuple([(part, "warning") for part, _ in text])
    elif look.chips:
        text = chip(text, ground)
    elif made:
        text = tuple([(part, "accent") for part, _ in text])
    if look.linked and token.piece == look.linked:
        text = emboldened(text)
    if any(start < token.end and end > token.start for start, end in look.matched):
        text = _marked(text, "match", alone=look.chips)
    if look.underlined(number):
        text = _marked(text, "partial-here")
    if number == look.cursor:
        text = _marked(text, "cursor")
    return text, ground, own


def _marked(cell: Cell, name: str, *, alone: bool = False) -> Cell:
    """Return a cell with a style added to its runs, or in place of theirs if `alone`."""
    return tuple([(text, name if alone or not style else f"{style}+{name}") for text, style in cell])
