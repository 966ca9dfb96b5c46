"""One token or pair, exactly: its bytes, its code points with their names, its text in every way it can be
written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from tokentui.analyze.report import Section
from tokentui.analyze.token_words import (
    MOST_SHOWN,
    byte_sections,
    character_sections,
    figure,
    made_section,
    mark_sections,
    score_section,
)
from tokentui.axes import AXES
from tokentui.core.safetext import GLYPH_MODES, safe
from tokentui.core.table import plural
from tokentui.learn.rows import Candidate, Entry, PairCandidate, PieceCandidate, TokenCandidate
from tokentui.recipe import Recipe
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import amount, kind_name, number, signed
from tokentui.ui.draw.sections import screen_cell
from tokentui.ui.draw.text import Cell

Row: TypeAlias = Candidate | Entry
"""A row that can be inspected."""

_REASON_SHOWN = 300
_SPACE = "▁"
"""The sign of sentencepiece for a space."""


def _said(text: str, rest: str = "", style: str = "") -> Cell:
    return ((text, style), (f"  {rest}" if rest else "", "muted"))


def facts(row: Row, step: int = 0) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a row at a step as (label, cell), without its code points."""
    piece, parents = piece_of(row), tuple[bytes, ...]()
    match row:
        case TokenCandidate():
            yield "id", _said(str(row.id), "" if row.number <= step else "not made yet", "strong")
            yield (
                "made",
                _said(f"step {number(row.number)}, {safe(row.place, limit=_REASON_SHOWN)} in the file"),
            )
            note = f"{number(row.places)} in {number(row.words)} distinct words"
            yield "places", _said(note, "as soon as it is made")
            parents = row.parts
        case Entry():
            yield "id", _said("–" if row.id is None else str(row.id), kind_name(row.kind), "strong")
            if row.made is not None:
                yield from _facts_of(made_section(row.made, row.places))
            reason = safe(row.reason, limit=_REASON_SHOWN)
            if row.kind == "left":
                yield "left for", _said(reason, "" if row.score is None else figure(row.score))
            else:
                used = "not used" if not row.uses else plural(row.uses, "time")
                yield (
                    "uses now",
                    ((used if row.uses is not None else "not counted", "" if row.uses else "muted"),),
                )
                if reason:
                    yield "never", _said(reason, "no text encodes to it", "warning")
                if row.score is not None:
                    yield from _facts_of(score_section(row.score))
            parents = row.parts
        case PieceCandidate():
            yield from _judged(row)
        case PairCandidate():
            yield from _counted(row)
            parents = row.parts
    if parents:
        yield "parents", _joined(parents)
    yield from _facts_of(*mark_sections(piece, row.marks))
    piece = bare_of(row)
    for mode in GLYPH_MODES:
        if mode != "hex":
            yield mode, ui_text.runs(piece, mode=mode, limit=4 * MOST_SHOWN)
    yield from _facts_of(*byte_sections(piece))


def _facts_of(*sections: Section) -> Iterator[tuple[str, Cell]]:
    """Yield sections without rows as (label, cell)."""
    return ((section.name, screen_cell(section.summary, words=4 * MOST_SHOWN)) for section in sections)


def piece_of(row: Row) -> bytes:
    """Return the exact bytes that a row is about."""
    return row.piece if isinstance(row, Entry) else row.token


def bare_of(row: Row) -> bytes:
    """Return the bytes of a row's piece without its mark."""
    front, end = row.marks
    piece = piece_of(row)
    return piece[front : len(piece) - end]


def identity_of(row: Row) -> tuple[object, ...]:
    """Return the identity of a row: equal for the same row at another time."""
    return (row.piece, row.id) if isinstance(row, Entry) else (row.parts, row.token)


def _judged(row: PieceCandidate) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a piece from the next pruning."""
    yield "p", _said(figure(row.probability), style="strong")
    yield "expected", _said(f"{amount(row.expected)} times", "over all segmentations")
    yield "uses now", _said(plural(row.uses, "time"), "in the best segmentations")
    yield "loss", _said(figure(row.loss), "of the mean log probability of a token, without it")
    yield "instead", _joined(row.parts) if row.parts else (("nothing", "muted"),)
    fate = "dropped" if row.taken else "goes" if row.reason else "stays"
    yield "pruning", _said(fate, safe(row.reason, limit=_REASON_SHOWN), "warning" if row.reason else "")


def _counted(row: PairCandidate) -> Iterator[tuple[str, Cell]]:
    """Yield the facts about a pair from its count and its score."""
    change = "new" if row.new else signed(row.change)
    yield "count", _said(number(row.count), f"{change} with the last step" if change else "", "strong")
    scored = not isinstance(row.worth, int)
    if row.left_uses and row.right_uses:
        yield "its sides", _said(f"{number(row.left_uses)} and {number(row.right_uses)} times")
        ratio = Fraction(row.count, row.left_uses * row.right_uses)
        note = "count divided by their product" if not scored or row.score == float(ratio) else ""
        yield "score", _said(figure(row.score if scored else float(ratio)), note, "strong")
    if row.tied:
        yield (
            "tied", _said("another pair is exactly as good" if scored else "another pair has the same count"),
        )
    if row.expansion:
        yield "stands for", ui_text.runs(row.expansion, limit=MOST_SHOWN)


def _joined(pieces: Sequence[bytes]) -> Cell:
    """Return the pieces with plus signs between them. Each is cut at MOST_SHOWN."""
    joined: list[ui_text.Run] = []
    for piece in pieces:
        joined += [(" + ", "muted")] if joined else []
        joined += ui_text.runs(piece, limit=MOST_SHOWN)
    return tuple(joined)


def code_points(piece: bytes) -> Iterator[tuple[str, Cell]]:
    """Yield the characters of a piece with their names as (label, cell)."""
    return _facts_of(*character_sections(piece))


def text_of(row: Row, recipe: Recipe) -> str | None:
    """Return the text of a row's piece at the start of a text; None if it is not UTF-8.

    Marks are left out. A `▁` is a space where the split marks spaces; the first one is left out.
    """
    try:
        text = bare_of(row).decode()
    except UnicodeDecodeError:
        return None
    marked = AXES["split"].of(recipe.split).marks_spaces
    return text.removeprefix(_SPACE).replace(_SPACE, " ") if marked else text
