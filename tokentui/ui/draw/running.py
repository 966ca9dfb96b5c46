"""The text of the corpus pane, laid out: rows, which token each character belongs to, and how it looks."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from typing import Literal, NamedTuple

from tokentui.core.safetext import CharKind, GlyphMode, clusters, shown
from tokentui.core.tints import tints
from tokentui.session.views import CorpusPart, CorpusPlace
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.text import ON_CHIPS, Cell, Run, cell_len

_WORD = re.compile(r"\n|[^\S\n]?\S+|[^\S\n]")
_SPLIT = re.compile(r"\S+|\s")


class Glyph(NamedTuple):
    """A character with its marks.

    It holds characters start to end of the text, and the cells that it takes.
    """

    start: int
    end: int
    cell: Cell
    width: int


@lru_cache(maxsize=1 << 14)
def _drawn(word: str, mode: GlyphMode) -> tuple[tuple[int, Cell, int], ...]:
    """Return the grapheme clusters of a word, each as (characters, cell, width)."""
    out: list[tuple[int, Cell, int]] = []
    for cluster in clusters(word):
        cell: Cell = tuple([(text, kind.value) for text, kind in shown(cluster, mode)])
        if cluster.text == "\r":
            # It ends every line of some files: as quiet as the newline behind it.
            cell = tuple([(text, CharKind.space.value) for text, _ in cell])
        if mode in ("hex", "points"):
            cell = (*cell, (" ", ""))
        out.append((cluster.end - cluster.start, cell, sum(cell_len(text) for text, _ in cell)))
    return tuple(out)


@lru_cache(4)
def glyphs(text: str, mode: GlyphMode, breaks: frozenset[int] = frozenset()) -> tuple[Glyph, ...]:
    """Return a text as glyphs, in order and without gaps, none across a break. Cached for the next step."""
    out: list[Glyph] = []
    end = 0
    for left, right in pairwise(sorted({0, len(text), *breaks})):
        piece = text[left:right]
        for word in piece if piece.isascii() else _SPLIT.findall(piece):
            for length, cell, width in _drawn(word, mode):
                start, end = end, end + length
                if mode == "text" and text[start : end + 1] == "\r\n":
                    cell, width = (), 0  # on every line of some files: the title says it once
                out.append(Glyph(start, end, cell, width))
    return tuple(out)


def wrap(
    text: str, text_glyphs: Sequence[Glyph], width: int, breaks: Collection[int] = (),
    bars: Collection[int] = (),
    start: int = 0, end: int | None = None,
) -> list[tuple[int, int]]:
    """Return the rows of a part of a text, as (start, end) in characters.

    A row ends before a word that does not fit, inside a word longer than a row, and after a newline.

    Args:
        text: The text.
        text_glyphs: Its glyphs, none of which crosses a break.
        width: The cells of a row.
        breaks: Characters that always start a row.
        bars: Characters with a bar of one cell before them, except at the start of a row.
        start: The first character; it starts a row.
        end: The end of the part; None for that of the text.
    """
    end, width = len(text) if end is None else end, max(1, width)
    starts = [glyph.start for glyph in text_glyphs]
    rows: list[tuple[int, int]] = []
    row, used, at = start, 0, bisect.bisect_left(starts, start)
    for word in _WORD.finditer(text, start, end):
        edges = [place for place in range(word.start() + 1, word.end()) if place in breaks] if breaks else []
        for edge in (*edges, word.end()):
            first, at = at, bisect.bisect_left(starts, edge, at)
            if not (part := text_glyphs[first:at]):
                continue
            left, bar = starts[first], starts[first] in bars
            size = sum([glyph.width for glyph in part])
            size += sum([glyph.start in bars for glyph in part]) if bars else 0
            if left > row and (left in breaks or used + size > width >= size - bar):
                rows.append((row, left))
                row, used = left, 0
            size -= bar and left == row
            if used + size <= width:
                used += size
                continue
            for glyph in part:  # as far on in the word as fits, one glyph at least
                size = glyph.width + (glyph.start in bars)
                if glyph.start > row and used + size > width:
                    rows.append((row, glyph.start))
                    row, used = glyph.start, 0
                used += size if glyph.start > row else glyph.width
        if text[word.end() - 1] == "\n":
            rows.append((row, word.end()))
            row, used = word.end(), 0
    if row < end:
        rows.append((row, end))
    return rows


Boundaries = Literal["chips", "shade", "bars", "age"]
"""The mark of tokens: a tint of each, alternating shades of those longer than a character, bars between all
tokens, or bars with each token in the color of the steps that made it."""
CYCLE: Sequence[Boundaries] = "chips", "shade", "bars"
"""The marks that one key changes, in order."""

AGES = 0, 10, 100, 1_000, 10_000
"""The last step of each age of tokens; those of the last age come after all of these."""


def age_of(made: int) -> str:
    """Return the style of a token's age, from the step that made it; 0 for a token of the base."""
    return f"age-{bisect.bisect_left(AGES, made)}"


def ages_legend() -> Cell:
    """Return the legend of ages, each in its color: `made by step 0 ≤10 ≤100 ≤1k ≤10k >10k`."""
    labels = [f"≤{step // 1000}k" if step >= 1000 else f"≤{step}" if step else "0" for step in AGES]
    labels.append(f">{AGES[-1] // 1000}k")
    ages = [run for n, label in enumerate(labels) for run in ((" " if n else "", ""), (label, f"age-{n}"))]
    return (("made by step ", "muted"), *ages)

BAR = "│"


@dataclass(frozen=True, slots=True)
class LayoutKey:
    """All that rows depend on besides the text."""

    width: int
    boundaries: Boundaries
    mode: GlyphMode

    @property
    def has_bars(self) -> bool:
        """True if bars take columns between tokens."""
        return self.boundaries in ("bars", "age")


class Layout:
    """Parts of the corpus, laid out in rows.

    Args:
        parts: Pre-tokens and the text between them, in order.
        layout_key: The width and the way to draw.
        anchor: A place to start a row at if no other rule applies, so that visible rows stay as they are.
        at_start: True if the parts start at the start of the corpus.
        before: The layout that this one replaces, whose pre-tokens keep their shades; None for none.
    """

    def __init__(
        self, parts: Sequence[CorpusPart], layout_key: LayoutKey, anchor: CorpusPlace, at_start: bool,
        before: Layout | None = None
    ) -> None:
        self.parts, self.layout_key = tuple(parts), layout_key
        self._shape = [(part.place, part.text, part.times) for part in self.parts]
        self._places = [part.place for part in self.parts]
        self._starts = list(accumulate([len(part.text) for part in self.parts], initial=0))[:-1]
        self._parity = before.parity_of(self.parts[0].place) if before is not None and self.parts else 0
        self._breaks = frozenset(
            start
            for start, (last, part) in zip(self._starts[1:], pairwise(self.parts), strict=False)
            if not part.follows(last)
        )
        """Where documents and counted words begin."""
        self.text = "".join([part.text for part in self.parts])
        whole = glyphs(self.text, layout_key.mode, self._breaks)
        self._several = [glyph for glyph in whole if glyph.end - glyph.start > 1]
        self._inside = frozenset(
            place for glyph in self._several for place in range(glyph.start + 1, glyph.end)
        )
        """The characters inside a cluster."""
        self._bars, self._cuts = self._marks()
        self._chips = self._tinted()
        self.coming: tuple[tuple[int, int], ...] = ()
        """The (start, end) of each stretch that the next step merges; see `announce`."""
        self._wrap(anchor, at_start)

    def announce(self, parts: tuple[bytes, ...]) -> None:
        """Mark the places of adjacent tokens with these exact bytes, which the next step merges; no places if
        `parts` is empty."""
        found: list[tuple[int, int]] = []
        count = len(parts)
        for start, part in zip(self._starts, self.parts, strict=True) if parts else ():
            tokens, at = part.tokens, 0
            while at + count <= len(tokens):  # as merges are made: from the left, without overlaps
                here = tokens[at : at + count]
                if all(token.piece == piece for token, piece in zip(here, parts, strict=True)):
                    found.append((start + here[0].start, start + here[-1].end))
                    at += count
                else:
                    at += 1
        self.coming = tuple(found)

    def update_tokens(self, parts: Sequence[CorpusPart], anchor: CorpusPlace, at_start: bool) -> bool:
        """Replace the tokens by those of another step, and wrap again if they change bars or clusters. Return
        False, and change nothing, if the text is another one."""
        if [(part.place, part.text, part.times) for part in parts] != self._shape:
            return False
        self.parts = tuple(parts)
        marks = self._bars, self._cuts
        if self.layout_key.has_bars or self._inside:
            self._bars, self._cuts = self._marks()
        self._chips = self._tinted()
        if marks != (self._bars, self._cuts):
            self._wrap(anchor, at_start)
        return True

    def _wrap(self, anchor: CorpusPlace, at_start: bool) -> None:
        """Break the text into rows, with the present bars and cuts."""
        breaks, bars = self._breaks, self._bars
        # What is left of a cluster joins nothing behind it: halves of two flags are no flag.
        ends = [glyph.end for glyph in self._several] if self._cuts else ()
        self._glyphs = glyphs(self.text, self.layout_key.mode, breaks.union(self._cuts, ends))
        self._glyph_starts = [glyph.start for glyph in self._glyphs]
        times = [2 + len(number(part.times)) for part in self.parts if part.times is not None]
        room = self.layout_key.width - max(times, default=0)
        self.rows = wrap(self.text, self._glyphs, room, breaks, bars)
        kept = self.offset_of(anchor)
        fixed = at_start or kept <= 0 or "\n" in self.text[:kept] or (breaks and min(breaks) <= kept)
        if not fixed and kept not in [start for start, _ in self.rows]:
            # The line began before what is held: rows above the anchor give way to it.
            self.rows = wrap(self.text, self._glyphs, room, breaks, bars, 0, kept)
            self.rows += wrap(self.text, self._glyphs, room, breaks, bars, kept)
        self._row_starts = [start for start, _ in self.rows]
        self.first = max(0, bisect.bisect_right(self._row_starts, kept) - 1)
        """The row of the anchor."""
        self._drawn: dict[int, tuple[tuple[object, ...], Cell]] = {}
        """The rows that were drawn, each with all that it was drawn from."""

    def _marks(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the positions of bars, and those where a token ends inside a grapheme cluster.

        Without bars, a cluster whose tokens are single characters stays whole, so that a text with few merges
        is readable.
        """
        with_bars = self.layout_key.has_bars
        bars: set[int] = set()
        cuts: set[int] = set()
        held, single = 0, True
        for start, part in zip(self._starts, self.parts, strict=True):
            for token in part.tokens:
                first, last = start + token.start, start + token.end
                if with_bars:
                    bars.update((first, last))
                alone = last - first == 1
                if first >= held and not (alone and single and not with_bars):
                    cuts.update({held, first} & self._inside)
                held, single = max(held, last), alone
        return frozenset(bars), frozenset(cuts)

    def _tinted(self) -> list[tuple[str, ...]]:
        """Return the style of each token of each part; empty unless tokens are chips. Adjacent tokens differ.
        """
        if self.layout_key.boundaries != "chips":
            return []
        out: list[tuple[str, ...]] = []
        last, name = None, ""
        for part in self.parts:
            found = tints([part.place.offset + token.start for token in part.tokens], last)
            last = found[-1] if found else None
            names = []
            for token, tint in zip(part.tokens, found, strict=True):
                fresh = "fresh-other" if name == "fresh" else "fresh"
                name = fresh if token.fresh else f"tint-{tint}"
                names.append(name)
            out.append(tuple(names))
        return out

    def parity_of(self, place: CorpusPlace) -> int:
        """Return which of two shades a part has, 0 or 1; it stays the same while the window moves. 0 for a
        place that starts no part."""
        at = bisect.bisect_left(self._places, place)
        return (self._parity + at) % 2 if self._places[at : at + 1] == [place] else 0

    def offset_of(self, place: CorpusPlace) -> int:
        """Return the index in `text` of a place of the corpus; -1 before the text, and the nearest index
        after it."""
        at = bisect.bisect_right(self._places, place) - 1
        if at < 0:
            return -1
        part = self.parts[at]
        inside = place.offset - part.place.offset if place.document == part.place.document else len(part.text)
        inside = min(max(0, inside), len(part.text))
        return self._starts[at] + inside

    def place_of(self, offset: int) -> CorpusPlace:
        """Return the place in the corpus of an index in `text`; the start of the corpus if there is no text.
        """
        at = max(0, bisect.bisect_right(self._starts, offset) - 1)
        if at >= len(self.parts):
            return CorpusPlace()
        place = self.parts[at].place
        return CorpusPlace(place.document, place.offset + offset - self._starts[at])

    def row_of(self, place: CorpusPlace) -> int:
        """Return the row that shows a place of the corpus; the first or last one outside of the text."""
        return max(0, bisect.bisect_right(self._row_starts, self.offset_of(place)) - 1)

    def matches(self, text: str, first: int, last: int) -> tuple[tuple[int, int], ...]:
        """Return the (start, end) of each match of a text that is at least partly in rows `first` to before
        `last`; matches across documents are left out."""
        if not text or not self.rows or first >= len(self.rows):
            return ()
        at = max(0, self.rows[first][0] - len(text) + 1)
        end = self.rows[min(last, len(self.rows)) - 1][1] + len(text) - 1
        out: list[tuple[int, int]] = []
        while (at := self.text.find(text, at, end)) >= 0:
            if not any(place in self._breaks for place in range(at + 1, at + len(text))):
                out.append((at, at + len(text)))
            at += 1
        return tuple(out)

    def token_at(self, offset: int) -> tuple[int, int] | None:
        """Return the (start, end) of the token at an index, or of the next one; None after the last."""
        at = max(0, bisect.bisect_right(self._starts, offset) - 1)
        for part, start in zip(self.parts[at:], self._starts[at:], strict=True):
            for token in part.tokens:
                if start + token.end > offset:
                    return start + token.start, start + token.end
        return None

    def token_before(self, offset: int) -> tuple[int, int] | None:
        """Return the (start, end) of the last token that starts before an index; None if there is none."""
        at = max(0, bisect.bisect_right(self._starts, offset) - 1)
        for n in range(at, -1, -1):
            for token in reversed(self.parts[n].tokens if n < len(self.parts) else ()):
                if self._starts[n] + token.start < offset:
                    return self._starts[n] + token.start, self._starts[n] + token.end
        return None

    def piece_at(self, offset: int) -> bytes:
        """Return the exact bytes of the token at an index; empty for a special token, or for none."""
        at = max(0, bisect.bisect_right(self._starts, offset) - 1)
        tokens = self.parts[at].tokens if at < len(self.parts) else ()
        inside = offset - self._starts[at] if tokens else 0
        return next((token.piece for token in tokens if token.start <= inside < token.end), b"")

    def offset_in_row(self, number_of_row: int, column: int) -> int:
        """Return the index of the character at a column of a row; after its end, of its last character."""
        start, end = self.rows[number_of_row]
        at, left = start, column
        for glyph in self._glyphs[bisect.bisect_left(self._glyph_starts, start) :]:
            if glyph.start >= end:
                break
            at = glyph.start
            left -= glyph.width + (at != start and at in self._bars)
            if left < 0:
                break
        return at

    def part_at(self, offset: int) -> tuple[CorpusPlace, int]:
        """Return the place of the part that contains an index, and the offset in the part."""
        at = max(0, bisect.bisect_right(self._starts, offset) - 1)
        return self.parts[at].place, offset - self._starts[at]

    def row(
        self, number_of_row: int, found: Sequence[tuple[int, int]] = (), cursor: tuple[int, int] = (0, 0),
        linked: bytes = b"",
    ) -> Cell:
        """Return a row as runs; empty for a number without a row. Cached until its tokens or marks change.

        Args:
            number_of_row: The row.
            found: Ranges of characters to mark.
            cursor: The range of the token under the cursor.
            linked: The exact bytes of the token that is bold; empty for none.
        """
        if not 0 <= number_of_row < len(self.rows):
            return ()
        start, end = self.rows[number_of_row]
        first = at = max(0, bisect.bisect_right(self._starts, start) - 1)
        parts, starts = self.parts, self._starts
        past = bisect.bisect_left(starts, end)
        found = tuple([span for span in found if span[0] < end and span[1] > start])
        here = tuple([part.tokens for part in parts[first:past]])
        if linked and not any(linked == token.piece for tokens in here for token in tokens):
            linked = b""
        first_coming = bisect.bisect_left(self.coming, (start, start))
        first_coming -= first_coming > 0 and self.coming[first_coming - 1][1] > start
        coming = self.coming[first_coming : bisect.bisect_left(self.coming, (end, end))]
        key = start, end, found, cursor, linked, coming, (first + self._parity) % 2, here, (
            *self._chips[first:past],)
        if (known := self._drawn.get(number_of_row)) is not None and known[0] == key:
            return known[1]
        bars, aged, token = self.layout_key.has_bars, self.layout_key.boundaries == "age", 0
        chips = self._chips
        cell: list[Run] = []
        for place in range(bisect.bisect_left(self._glyph_starts, start), len(self._glyphs)):
            glyph = self._glyphs[place]
            if glyph.start >= end:
                break
            while at + 1 < len(parts) and starts[at + 1] <= glyph.start:
                at, token = at + 1, 0
            tokens = parts[at].tokens
            inside = glyph.start - starts[at]
            while token < len(tokens) and tokens[token].end <= inside:
                token += 1
            if token >= len(tokens) or tokens[token].start > inside:
                ground, shared, bold = "dropped", False, False
            else:
                # A character, or one with its marks, may be shared by several tokens.
                length = glyph.end - glyph.start
                holders = [
                    holder for holder in tokens[token : token + 4 + 4 * length]
                    if holder.start < inside + length
                ]
                beyond = inside + length > len(parts[at].text)  # a cluster of several pre-tokens
                shared = len(holders) > 1 or beyond
                bold = bool(linked) and linked in [holder.piece for holder in holders]
                if aged:
                    ground = age_of(max([holder.made for holder in holders]))
                elif chips:
                    names = chips[at][token : token + len(holders)]
                    ground = next((name for name in names if name.startswith("fresh")), names[0])
                elif True in [holder.fresh for holder in holders]:
                    ground = "fresh-other" if token % 2 else "fresh"
                elif (len(holders) == length or beyond) and max(
                    [holder.end - holder.start for holder in holders]
                ) == 1:
                    # A token of one character needs no shade, so merged tokens are easier to see.
                    ground = ""
                else:
                    # Neighbors in a pre-token differ by a shade that no first token has; pre-tokens by their
                    # shade.
                    ground = "shade-c" if token % 2 else ("shade-b" if (at + self._parity) % 2 else "shade-a")
            if glyph.start != start and glyph.start in self._bars:
                cell.append((BAR, "frame"))
            marked = "strong" if bold else ""
            if coming and any(span[0] <= glyph.start < span[1] for span in coming):
                marked = "coming"
            if found and any(span[0] <= glyph.start < span[1] for span in found):
                marked = "match"
            marked = "cursor" if cursor[0] <= glyph.start < cursor[1] else marked
            cell += [(text, _style(ground, shared, kind, bars, marked)) for text, kind in glyph.cell]
        runs = [("".join([text for text, _ in run]), style) for style, run in groupby(cell, itemgetter(1))]
        times = parts[first].times
        if times is not None and end - starts[first] == len(parts[first].text):
            runs.append((f" ×{number(times)}", "muted"))
        self._drawn[number_of_row] = key, tuple(runs)
        return tuple(runs)


@lru_cache(256)
def _style(ground: str, shared: bool, kind: str, bars: bool, found: str) -> str:
    """Return the style of a character.

    Args:
        ground: The style of its token.
        shared: True if it belongs to several tokens.
        kind: Its kind of safe text.
        bars: True if bars separate tokens.
        found: The style of its mark: `cursor`, `match`, `coming` for what the next step merges, or `strong`
            for a linked token; empty without one.
    """
    names = [] if ground.startswith("shade") and bars else [ground]
    if ground.startswith("tint"):
        kind = ON_CHIPS.get(kind, kind)
        names = [] if found == "match" else names  # its color could not be read on all tints
    if kind and kind != "text" and not ground.startswith("fresh"):
        names.append(kind)
    if shared:
        names.append("partial-here")
    if found and not (found == "strong" and ground.startswith("fresh")):  # which is bold as it is
        names.append(found)
    return "+".join([name for name in names if name])
