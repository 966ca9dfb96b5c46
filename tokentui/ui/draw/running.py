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

from tokentui.core.safetext import GlyphMode, Kind, clusters, shown
from tokentui.session.views import CorpusPart, CorpusPlace
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.text import Cell, Run, cell_len

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
    """The clusters of a word: how many characters each has, its cells and their number."""
    out: list[tuple[int, Cell, int]] = []
    for cluster in clusters(word):
        cell: Cell = tuple([(text, kind.value) for text, kind in shown(cluster, mode)])
        if cluster.text == "\r":
            # It ends every line of some files: as quiet as the newline behind it.
            cell = tuple([(text, Kind.space.value) for text, _ in cell])
        if mode in ("hex", "points"):
            cell = (*cell, (" ", ""))
        out.append((cluster.end - cluster.start, cell, sum(cell_len(text) for text, _ in cell)))
    return tuple(out)


@lru_cache(4)
def glyphs(text: str, mode: GlyphMode, breaks: frozenset[int] = frozenset()) -> tuple[Glyph, ...]:
    """The text as glyphs, in order and without gaps; none of them goes over a break. Kept for the next step.
    """
    out: list[Glyph] = []
    end = 0
    for left, right in pairwise(sorted({0, len(text), *breaks})):
        piece = text[left:right]
        for word in piece if piece.isascii() else _SPLIT.findall(piece):
            for length, cell, width in _drawn(word, mode):
                start, end = end, end + length
                out.append(Glyph(start, end, cell, width))
    return tuple(out)


def wrap(
    text: str, drawn: Sequence[Glyph], width: int, breaks: Collection[int] = (), bars: Collection[int] = (),
    start: int = 0, end: int | None = None,
) -> list[tuple[int, int]]:
    """The rows of a stretch of text, as (start, end) in characters.

    A row breaks before a word that does not fit, inside a word that is longer than a row, and after a
    newline.

    Args:
        text: The text.
        drawn: Its glyphs, none of which goes over a break.
        width: The cells of a row.
        breaks: Characters before which a row begins whatever happens.
        bars: Characters before which a bar of one cell stands, unless a row begins there.
        start: Where the stretch begins; the beginning of a row.
        end: Where it ends; the end of the text where not given.
    """
    end, width = len(text) if end is None else end, max(1, width)
    starts = [glyph.start for glyph in drawn]
    rows: list[tuple[int, int]] = []
    row, used, at = start, 0, bisect.bisect_left(starts, start)
    for word in _WORD.finditer(text, start, end):
        edges = [place for place in range(word.start() + 1, word.end()) if place in breaks] if breaks else []
        for edge in (*edges, word.end()):
            first, at = at, bisect.bisect_left(starts, edge, at)
            if not (part := drawn[first:at]):
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


Boundaries = Literal["shade", "bars"]
"""The mark of tokens longer than a character: alternating shades, or bars between all tokens."""

BAR = "│"


@dataclass(frozen=True, slots=True)
class Manner:
    """All that rows depend on besides the text."""

    width: int
    boundaries: Boundaries
    mode: GlyphMode


class Layout:
    """Parts of the corpus in rows.

    Args:
        parts: Pre-tokens and what lies between them, in order.
        manner: The width and the way to draw.
        anchor: A place that a row begins at if nothing better is known, so that rows that are seen stay as
            they are.
        at_start: True if the parts begin where the corpus does.
        before: The layout that this one takes the place of; pre-tokens keep their shades.
    """

    def __init__(
        self, parts: Sequence[CorpusPart], manner: Manner, anchor: CorpusPlace, at_start: bool,
        before: Layout | None = None
    ) -> None:
        self.parts, self.manner = tuple(parts), manner
        self._shape = [(part.place, part.text, part.times) for part in self.parts]
        self._places = [part.place for part in self.parts]
        self._starts = list(accumulate([len(part.text) for part in self.parts], initial=0))[:-1]
        self._parity = before.parity_of(self.parts[0].place) if before is not None and self.parts else 0
        self._breaks = frozenset(
            start
            for start, (last, part) in zip(self._starts[1:], pairwise(self.parts), strict=False)
            if part.times is not None or part.place.document != last.place.document
        )
        """Where documents and counted words begin."""
        self.text = "".join([part.text for part in self.parts])
        whole = glyphs(self.text, manner.mode, self._breaks)
        self._several = [glyph for glyph in whole if glyph.end - glyph.start > 1]
        self._inside = frozenset(place for one in self._several for place in range(one.start + 1, one.end))
        """The characters inside a cluster."""
        self._bars, self._cuts = self._marks()
        self._wrap(anchor, at_start)

    def take(self, parts: Sequence[CorpusPart], anchor: CorpusPlace, at_start: bool) -> bool:
        """Take the tokens of another step, in other rows where they need them. False if they are of another
        text: then it has to be laid out anew.
        """
        if [(part.place, part.text, part.times) for part in parts] != self._shape:
            return False
        self.parts = tuple(parts)
        marks = self._bars, self._cuts
        if self.manner.boundaries == "bars" or self._inside:
            self._bars, self._cuts = self._marks()
        if marks != (self._bars, self._cuts):
            self._wrap(anchor, at_start)
        return True

    def _wrap(self, anchor: CorpusPlace, at_start: bool) -> None:
        """Break the text into rows round what tokens mark; see `_marks`."""
        breaks, bars = self._breaks, self._bars
        # What is left of a cluster joins nothing behind it: halves of two flags are no flag.
        ends = [glyph.end for glyph in self._several] if self._cuts else ()
        self._glyphs = glyphs(self.text, self.manner.mode, breaks.union(self._cuts, ends))
        self._glyph_starts = [glyph.start for glyph in self._glyphs]
        times = [2 + len(number(part.times)) for part in self.parts if part.times is not None]
        room = self.manner.width - max(times, default=0)
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
        """Where bars stand, and where a token ends inside a cluster whose parts are shown apart.

        Tokens of one character are not told apart by shades: a cluster of such tokens stays whole, so that a
        text that has few merges can be read.
        """
        shade = self.manner.boundaries == "shade"
        bars: set[int] = set()
        cuts: set[int] = set()
        held, single = 0, True
        for start, part in zip(self._starts, self.parts, strict=True):
            for token in part.tokens:
                first, last = start + token.start, start + token.end
                if not shade:
                    bars.update((first, last))
                alone = last - first == 1
                if first >= held and not (alone and single and shade):
                    cuts.update({held, first} & self._inside)
                held, single = max(held, last), alone
        return frozenset(bars), frozenset(cuts)

    def parity_of(self, place: CorpusPlace) -> int:
        """Which of the two shades a part has, so that it keeps it while the window moves."""
        at = bisect.bisect_left(self._places, place)
        return (self._parity + at) % 2 if self._places[at : at + 1] == [place] else 0

    def offset_of(self, place: CorpusPlace) -> int:
        """The character that stands at a place of the corpus; -1 for one before what is held."""
        at = bisect.bisect_right(self._places, place) - 1
        if at < 0:
            return -1
        part = self.parts[at]
        inside = place.offset - part.place.offset if place.document == part.place.document else len(part.text)
        inside = min(max(0, inside), len(part.text))
        return self._starts[at] + inside

    def place_of(self, offset: int) -> CorpusPlace:
        """The place of the corpus of a character."""
        at = max(0, bisect.bisect_right(self._starts, offset) - 1)
        if at >= len(self.parts):
            return CorpusPlace()
        place = self.parts[at].place
        return CorpusPlace(place.document, place.offset + offset - self._starts[at])

    def row_of(self, place: CorpusPlace) -> int:
        """The row that a place of the corpus stands in."""
        return max(0, bisect.bisect_right(self._row_starts, self.offset_of(place)) - 1)

    def row(self, number_of_row: int, found: tuple[int, int] | None = None) -> Cell:
        """A row as runs; `found` are characters to be marked."""
        if not 0 <= number_of_row < len(self.rows):
            return ()
        start, end = self.rows[number_of_row]
        first = at = max(0, bisect.bisect_right(self._starts, start) - 1)
        parts, starts = self.parts, self._starts
        past = bisect.bisect_left(starts, end)
        key = (
            start, end, found, (first + self._parity) % 2, tuple([part.tokens for part in parts[first:past]]),
        )
        if (known := self._drawn.get(number_of_row)) is not None and known[0] == key:
            return known[1]
        bars, token = self.manner.boundaries == "bars", 0
        drawn: list[Run] = []
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
                ground, shared = "dropped", False
            else:
                # A character, or one with its marks, may be shared by several tokens.
                length = glyph.end - glyph.start
                holders = [
                    one for one in tokens[token : token + 4 + 4 * length] if one.start < inside + length
                ]
                beyond = inside + length > len(parts[at].text)  # a cluster of several pre-tokens
                shared = len(holders) > 1 or beyond
                if True in [one.fresh for one in holders]:
                    ground = "fresh-other" if token % 2 else "fresh"
                elif (len(holders) == length or beyond) and max(
                    [one.end - one.start for one in holders]
                ) == 1:
                    # A character that is a token needs no shade to be told from its neighbours; what has
                    # grown stands out.
                    ground = ""
                else:
                    # Neighbours in a pre-token differ by a shade that no first token has; pre-tokens by their
                    # shade.
                    ground = "shade-c" if token % 2 else ("shade-b" if (at + self._parity) % 2 else "shade-a")
            if glyph.start != start and glyph.start in self._bars:
                drawn.append((BAR, "frame"))
            marked = found is not None and found[0] <= glyph.start < found[1]
            drawn += [(text, _style(ground, shared, kind, bars, marked)) for text, kind in glyph.cell]
        runs = [("".join([text for text, _ in run]), style) for style, run in groupby(drawn, itemgetter(1))]
        times = parts[first].times
        if times is not None and end - starts[first] == len(parts[first].text):
            runs.append((f" ×{number(times)}", "muted"))
        self._drawn[number_of_row] = key, tuple(runs)
        return tuple(runs)


@lru_cache(256)
def _style(ground: str, shared: bool, kind: str, bars: bool, found: bool) -> str:
    """The name of the style of a character.

    Args:
        ground: The style of its token.
        shared: True if it belongs to several tokens.
        kind: The kind of safe text that it is.
        bars: True if tokens are told apart by bars.
        found: True if it is marked.
    """
    names = [] if ground.startswith("shade") and bars else [ground]
    if kind and kind != "text" and not ground.startswith("fresh"):
        names.append(kind)
    if shared:
        names.append("partial-here")
    if found:
        names.append("match")
    return "+".join([name for name in names if name])
