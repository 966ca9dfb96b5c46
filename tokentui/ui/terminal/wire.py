"""From what the screen should show to the fewest bytes that make a terminal show it.

A terminal that was told of every cell before needs to hear of those only that are others now. The difference
is taken at the moment of writing, so whatever was drawn and drawn over while a slow line was busy is never
sent.

Terminals do not agree how wide some clusters are. Such a cluster gets its cells cleared first, in case it is
drawn narrower; what stands behind it begins at a place that is named outright; and as far as it may be drawn
too wide, what it covers is drawn again. So a wrong guess costs a cell. Text that all terminals draw alike
costs nothing of this.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from tokentui.ui.draw.text import cell_len
from tokentui.ui.terminal.picture import PLAIN, Pen, Picture, Row, blank, change

SYNC_BYTES = 400
"""A shorter frame is taken in by a terminal at once; it needs no marks that tell it to wait for the whole."""
_GAP = 4
"""Cells between two changes that cost no more to draw again than to step over."""
_BLANKS = re.compile(" {12,}")
"""Blanks that take more bytes than to clear cells and to step over them."""
_LEAST_MOVED = 4
"""Fewer rows that moved are drawn again: setting margins has its price too."""


class Wire:
    """The contents of a terminal, by the output so far.

    Args:
        clears_in_colour: True if cleared cells have the background of the pen: then blank cells are not
            sent at first.
    """

    def __init__(self, *, clears_in_colour: bool = False) -> None:
        self._clears_in_colour = clears_in_colour
        self._size = 0, 0
        self._sent: list[Row | None] = []
        self._pen = PLAIN
        self._at: tuple[int | None, int] | None = None
        """Where the terminal's cursor is as (column, row); None where that is not sure."""

    def forget(self) -> None:
        """Forget the contents of the terminal: another program used it, or it was resized."""
        self._size = 0, 0

    def frame(self, picture: Picture, cursor: tuple[int, int]) -> str:
        """Return the output that makes the terminal show a picture.

        Args:
            picture: The picture to show; its changed rows count as sent from now on.
            cursor: Where its cursor should stand, as (column, row): there an input method shows its words.

        Returns:
            Sequences and text; empty where nothing has changed.
        """
        parts: list[str] = []
        size = picture.width, picture.height
        rows: Iterable[int] = sorted(picture.changed)
        if size != self._size:
            pen = _blank_pen(picture) if self._clears_in_colour else PLAIN
            parts.append(f"\x1b[0m\x1b[r{change(PLAIN, pen)}\x1b[H\x1b[2J")
            self._sent = [Row.blank(picture.width, pen) for _ in range(picture.height)]
            self._size, self._pen, self._at = size, pen, (0, 0)
            rows = range(picture.height)
        others = [y for y in rows if self._sent[y] != picture.rows[y]]
        picture.changed.clear()
        if others:
            parts.append(self._shortest(picture, others))
        if parts or self._at != cursor:
            parts.append(self._move(*cursor))
        return "".join(parts)

    def _shortest(self, picture: Picture, others: list[int]) -> str:
        """Rows drawn where they changed, or moved by the terminal and mended, whichever takes fewer bytes."""
        before = self._sent, self._pen, self._at
        self._sent = before[0].copy()
        plain = self._drawn(picture, others)
        by = _moved_by(picture.rows, before[0],
            others) if len(others) >= _LEAST_MOVED and len(plain) > SYNC_BYTES else 0
        if not by:
            return plain
        after = self._sent, self._pen, self._at
        self._sent, self._pen, self._at = before[0].copy(), *before[1:]
        top, bottom = min(others), max(others)
        moved = self._move_rows(top, bottom, by) + self._drawn(picture, range(top, bottom + 1))
        if len(moved) < len(plain):
            return moved
        self._sent, self._pen, self._at = after
        return plain

    def _drawn(self, picture: Picture, rows: Iterable[int]) -> str:
        parts: list[str] = []
        for y in rows:
            if self._sent[y] != picture.rows[y]:
                parts += self._row(y, picture.rows[y], self._sent[y])
                self._sent[y] = picture.rows[y].copy()
        return "".join(parts)

    # ---- one row

    def _row(self, y: int, row: Row, sent: Row | None) -> list[str]:
        """The runs of a row that changed."""
        parts: list[str] = []
        width = len(row.texts)
        x = 0
        while x < width:
            if sent is not None and row.texts[x] == sent.texts[x] and row.pens[x] == sent.pens[x]:
                x += 1
                continue
            start = x
            while start and not row.texts[start]:  # a cluster is drawn as a whole
                start -= 1
            end = _end_of_run(row, sent, start, x)
            parts.append(self._move(start, y))
            parts += self._cells(row, sent, start, end)
            # In the last column a terminal may wait before the edge.
            self._at = None if end == width else (end if _is_sure(_cluster_before(row.texts, end)) else None,
                y)
            x = end
        return parts

    def _cells(self, row: Row, sent: Row | None, start: int, end: int) -> list[str]:
        parts: list[str] = []
        texts, pens = row.texts, row.pens
        x = start
        while x < end:
            pen = pens[x]
            if texts[x] != " " or blank(self._pen) != pen:
                parts.append(change(self._pen, pen))
                self._pen = pen
            stop = x + 1
            if texts[x].isascii() or _is_sure(texts[x]):
                while (
                    stop < end
                    and (pens[stop] == self._pen or (texts[stop] == " " and pens[stop] == blank(self._pen)))
                    and (texts[stop].isascii() or _is_sure(texts[stop]))
                ):
                    stop += 1
                parts.append(self._text("".join(texts[x:stop]), stop == len(texts)))
            else:
                while stop < end and not texts[stop]:
                    stop += 1
                if stop > x + 1 and not _are_blank(sent, x + 1, stop, pen):
                    parts.append(f"\x1b[{stop - x}X")
                parts.append(texts[x])
                if stop < end:  # however wide it was drawn, what follows stands where it belongs
                    parts.append(f"\x1b[{stop + 1}G")
            x = stop
        return parts

    def _text(self, text: str, last: bool) -> str:
        """Text in the present pen; many blanks are cleared and stepped over where that looks the same.

        Args:
            text: As many characters as cells.
            last: True if it ends in the last column.
        """
        if not self._clears_in_colour or blank(self._pen) != Pen(ground=self._pen.ground):
            return text

        def cleared(found: re.Match[str]) -> str:
            if last and found.end() == len(text):
                return "\x1b[K"
            count = found.end() - found.start()
            return f"\x1b[{count}X{_right(count)}"

        return _BLANKS.sub(cleared, text)

    def _move(self, x: int, y: int) -> str:
        """The shortest way to a cell."""
        if self._at == (x, y):
            return ""
        there = f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H" if y else "\x1b[H"
        before, self._at = self._at, (x, y)
        if before is None:
            return there
        column, row = before
        right = _right(x) if x else ""
        ways = [there]
        if row == y and column is None:
            ways.append(f"\x1b[{x + 1}G")
        if row == y and column is not None and x > column:
            ways.append(_right(x - column))
        if row == y:
            ways.append("\r" + right)
        if row + 1 == y:
            ways.append("\r\n" + right)
        return min(ways, key=len)

    # ---- rows that moved

    def _move_rows(self, top: int, bottom: int, by: int) -> str:
        """Let the terminal move the rows between two margins, up for a positive number; what comes in is not
        known then.
        """
        parts = [change(self._pen, PLAIN), f"\x1b[{top + 1};{bottom + 1}r"]
        within = self._sent[top : bottom + 1]
        if by > 0:
            parts.append(f"\x1b[{bottom + 1}H" + "\n" * by)
            within = [*within[by:], *[None] * by]
        else:
            parts.append(f"\x1b[{top + 1}H" + "\x1bM" * -by)
            within = [*[None] * -by, *within[:by]]
        parts.append("\x1b[r")
        self._sent[top : bottom + 1] = within
        self._pen, self._at = PLAIN, None  # margins send the cursor home, but not on every terminal
        return "".join(parts)


def _blank_pen(picture: Picture) -> Pen:
    """The pen of most blank cells, as far as it is nothing but colours."""
    pens = Counter(pen for row in picture.rows for text,
        pen in zip(row.texts, row.pens, strict=True) if text == " ")
    pen = pens.most_common(1)[0][0] if pens else PLAIN
    return PLAIN if pen.attributes else pen


def _moved_by(rows: Sequence[Row], sent: Sequence[Row | None], others: Sequence[int]) -> int:
    """Return the rows that most of the changed cells moved up (negative: down); 0 if they did not move."""
    spans = [_span(rows[y], sent[y]) for y in others]
    left, right = min(start for start, _ in spans), max(end for _, end in spans)
    where: dict[tuple[str, ...], list[int]] = {}
    for y in others:
        old = sent[y]
        if old is not None and any(text != " " for text in old.texts[left:right]):
            where.setdefault(tuple(old.texts[left:right]), []).append(y)
    moves = Counter(old_y - y for y in others for old_y in where.get(tuple(rows[y].texts[left:right]), ())
        if old_y != y)
    by, alike = moves.most_common(1)[0] if moves else (0, 0)
    return by if alike >= _LEAST_MOVED else 0


def _span(row: Row, sent: Row | None) -> tuple[int, int]:
    """From the first to the last cell that changed."""
    width = len(row.texts)
    if sent is None:
        return 0, width
    differ = [x for x in range(width) if row.texts[x] != sent.texts[x] or row.pens[x] != sent.pens[x]]
    return differ[0], differ[-1] + 1


def _right(columns: int) -> str:
    return "\x1b[C" if columns == 1 else f"\x1b[{columns}C"


def _end_of_run(row: Row, sent: Row | None, start: int, changed: int) -> int:
    """Where a run ends that begins with a change: behind its last change, and behind what it may cover as it
    is drawn.
    """
    texts = row.texts
    stop, looked, covered = changed + 1, start, start
    place = stop
    while place < len(texts):
        for n in range(looked, stop):
            if not texts[n].isascii():
                covered = max(covered, n + _most_columns(texts[n]))
        looked = stop
        if place - stop >= _GAP and place >= covered:
            break
        changes = sent is None or texts[place] != sent.texts[place] or row.pens[place] != sent.pens[place]
        if changes or place < covered or (place == stop and not texts[place]):
            stop = place + 1
        place += 1
    return stop


def _cluster_before(texts: Sequence[str], end: int) -> str:
    """Return the grapheme cluster in the last cells before a place."""
    return next((texts[place] for place in range(end - 1, -1, -1) if texts[place]), "")


def _are_blank(sent: Row | None, start: int, end: int, pen: Pen) -> bool:
    bare = blank(pen)
    return sent is not None and all(sent.texts[x] == " " and sent.pens[x] == bare for x in range(start, end))


@lru_cache(4096)
def _is_sure(cell: str) -> bool:
    """True if all terminals draw a cell equally wide; joined clusters and emoji depend on their tables."""
    if len(cell) != 1:
        return not cell
    return cell < "\u2300" or "\u2e80" <= cell < "\U00010000" or cell_len(cell) == 1


@lru_cache(4096)
def _most_columns(cell: str) -> int:
    """Return the greatest width of a disputed cluster: each of its characters drawn by itself."""
    return 0 if _is_sure(cell) else sum(2 if char >= "\U0001f000" else max(1, cell_len(char))
        for char in cell)


# The speed of the line.


SLOW = 9_600
"""Bytes a second of a line of which nothing is known."""
AHEAD_S = 0.25
"""The seconds of a slow line's time that may be on their way while a key is held."""
AHEAD = 4_000
"""Bytes that may be on their way to a terminal that answers."""
PATIENCE_S = 1.0
"""The longest wait in seconds for an answer."""
REPEAT_S = 0.12
"""A key that comes again within this time is held down."""
_REPEATS = 3
ASK = "\x1b[5n"
"""Device status report: the request that a terminal answers with "ready"."""
ANSWER = "\x1b[0n"
_STALL_S = 0.02
"""A write that takes longer had to wait for the line."""
_TELLING = 256
"""Bytes of a write below which its time says little about the line."""
_BUFFER = 4096
"""The number of bytes that a pseudo-terminal holds when a write has to wait."""
_FAST = 200_000
"""Bytes a second above which a line needs no care."""
_LONGEST_PAUSE_S = 0.4
_POLL_S = 0.02


class Line:
    """An estimate of the bytes that are on their way: buffers hold seconds of a slow line, and hide them.

    A terminal that answers says what it has taken. Where a write had to wait, its time tells the speed of the
    line. Where nothing is known, a line counts as slow while a key is held.

    Args:
        clock: Tells the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rate = 0.0
        """Bytes a second, 0 while no write has had to wait."""
        self._sent = 0
        self._ahead = 0.0
        self._at = clock()
        self._asked: tuple[float, int] | None = None
        """When an answer was asked for, and the bytes sent until then; None if none is on its way."""
        self._answers: bool | None = None
        self._key, self._key_at, self._repeats = "", 0.0, 0

    @property
    def asked(self) -> bool:
        """True if an answer is on its way."""
        return self._asked is not None

    def key(self, key: str) -> None:
        """Note a key: one that is held must leave nothing behind."""
        now = self._clock()
        self._repeats = self._repeats + 1 if key == self._key and now - self._key_at < REPEAT_S else 0
        self._key, self._key_at = key, now

    def sent(self, size: int) -> None:
        """Count bytes that are handed to the line."""
        self._drain()
        self._sent += size
        self._ahead += size

    def took(self, size: int, seconds: float) -> None:
        """Learn from a write that is done."""
        if seconds > _STALL_S:
            if size >= _TELLING:
                self._rate = (self._rate + size / seconds) / 2 if self._rate else size / seconds
            if self._rate:
                self._ahead = min(_BUFFER, self._rate * _LONGEST_PAUSE_S)
        elif self._rate:
            self._ahead = min(self._ahead, self._rate * _LONGEST_PAUSE_S)
            self._rate *= 1.05  # it may have become faster; the next wait tells
            if self._rate > _FAST:
                self._rate = 0.0

    def answered(self) -> None:
        """The terminal has taken everything up to the last question."""
        if self._asked is not None:
            self._answers = True
            self._ahead = float(self._sent - self._asked[1])
            self._asked = None

    def asks(self) -> bool:
        """True if it is time to ask the terminal; the request follows the output written so far."""
        if self._asked is not None or self._answers is False or not (self._held or self._ahead > AHEAD):
            return False
        self._asked = self._clock(), self._sent
        return True

    def wait(self) -> float:
        """Return the number of seconds before the next frame; 0 if it may go at once."""
        self._drain()
        if self._asked is not None and self._at - self._asked[0] > PATIENCE_S:
            self._answers = bool(self._answers)
            self._asked = None
        if self._answers and self._asked is not None and self._ahead > AHEAD:
            return _POLL_S
        if self._rate:
            return self._ahead / self._rate
        return max(0.0, self._ahead / SLOW - AHEAD_S) if self._held and not self._answers else 0.0

    @property
    def _held(self) -> bool:
        return self._repeats >= _REPEATS and self._clock() - self._key_at < REPEAT_S

    def _drain(self) -> None:
        now = self._clock()
        if self._rate or not self._answers:
            self._ahead = max(0.0, self._ahead - (now - self._at) * (self._rate or SLOW))
        self._at = now
