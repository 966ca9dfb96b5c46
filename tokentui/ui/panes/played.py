"""The panes of the playground: the text, and its tokens by each tokenizer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from tokentui.core.safetext import GlyphMode, safe
from tokentui.core.table import plural
from tokentui.session.playground import PlayedText
from tokentui.ui.bindings import Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.chips import ChipLook, ChipRow, fill_row
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import StyledLines
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.editor import CorpusEditor

_MOST_IN_ROWS = 256
"""A token with an index divisible by this always starts a row, so that laying out a row starts nearby."""
_MOST_MARKED = 500
"""The maximum number of matches that are marked at once."""
_WHEEL = 3
"""The rows that the wheel scrolls."""


class PlayEditor(CorpusEditor):
    """The text of the playground. The tab key types a tab; esc leaves the playground."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.leave", "back", id="play_leave", group=Hint(rank=9, always=True),
            tooltip="Leave the playground"),
    ]

    def on_key(self, event: events.Key) -> None:
        """Insert a tab for the tab key."""
        if event.key == "tab":
            event.stop()
            event.prevent_default()
            self._replace_via_keyboard("\t", *self.selection)
        else:
            super().on_key(event)

    def on_paste(self, event: events.Paste) -> None:
        """Insert a paste, one with a line feed exactly: terminals that send carriage returns for line ends
        send only these."""
        if "\n" not in event.text:
            super().on_paste(event)
            return
        event.stop()
        event.prevent_default()
        if result := self._replace_via_keyboard(event.text, *self.selection):
            self.move_cursor(result.end_location)


def number_at(encoded: PlayedText, offset: int) -> int | None:
    """Return the index of the token that contains a character, or of the last one that starts before it; None
    without tokens."""
    starts = encoded.starts
    return max(0, bisect_right(starts, offset) - 1) if len(starts) else None


class ChipsMoved(Message):
    """The cursor of a list of tokens has moved.

    Args:
        chips: The list.
        note: A sentence about the token; empty for none.
    """

    def __init__(self, chips: ChipList, note: str = "") -> None:
        super().__init__()
        self.chips, self.note = chips, note


class ChipList(StyledLines, can_focus=True):
    """The tokens of a text over their ids. Only visible rows are laid out.

    A row ends after a token with a line break. `top` is the index of the first visible token.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "token", id="play_left", group=Hint("token", rank=1, count=2),
            tooltip="Go to the previous token"),
        Binding("right,l", "step(1)", "next token", id="play_right",
            group=Hint("token", rank=1, count=2), tooltip="Go to the next token"),
        Binding("up,k", "move(-1)", "row", id="play_up", group=Hint("row", rank=2, count=2),
            tooltip="Go up a row of tokens"),
        Binding("down,j", "move(1)", "next row", id="play_down", group=Hint("row", rank=2, count=2),
            tooltip="Go down a row of tokens"),
        Binding("pageup", "page(-1)", "page up", id="play_page_up", tooltip="Go up a page of tokens"),
        Binding("pagedown", "page(1)", "page down", id="play_page_down",
            tooltip="Go down a page of tokens"),
        Binding("home", "end(-1)", "first", id="play_first", tooltip="Go to the first token"),
        Binding("end", "end(1)", "last", id="play_last", tooltip="Go to the last token"),
        Binding("L", "longest", "longest", id="play_longest", group=Hint(rank=3),
            tooltip="Go to the longest token; press again for the next longest"),
    ]

    DEFAULT_CSS = """
    ChipList { width: 1fr; height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.encoded = PlayedText()
        self.cursor: int | None = None
        """The number of the token under the cursor; None without tokens."""
        self.top = 0
        self.mode: GlyphMode = "text"
        self.matched: Sequence[tuple[int, int]] = ()
        """The ranges of characters that are marked."""
        self.others: Sequence[PlayedText] = ()
        """The same text by the other tokenizers: what these cut otherwise is underlined."""
        self.message = ""
        """What is shown in place of tokens."""
        self._rows: list[ChipRow] = []
        self._ranked = -1
        """The place among the tokens by length that the cursor was put on; -1 for none."""

    # What is shown.

    def show(
        self, encoded: PlayedText, others: Sequence[PlayedText], message: str = "", cursor: int | None = None
    ) -> None:
        """Show another encoding.

        Args:
            encoded: The encoding.
            others: The same text by the other tokenizers.
            message: A message in place of the tokens; empty for none.
            cursor: The index of the token under the cursor; None for no cursor.
        """
        self.encoded, self.others, self.message = encoded, others, message
        self.top = self._row_start(min(self.top, max(0, len(encoded.tokens) - 1)))
        self.put_cursor(cursor)

    def put_cursor(self, number: int | None) -> None:
        """Put the cursor on a token by its index, and scroll to it if it is not visible; None removes the
        cursor. Posts no message."""
        self.cursor = number
        rows = self._visible_rows()
        if number is not None and rows:
            if number < rows[0].first:
                self.top, rows = self._start_of_row_above(number, self._room_rows // 3), []
            elif number >= rows[-1].end:
                self.top = self._start_of_row_above(number, self._room_rows - 1 - self._room_rows // 3)
                rows = []
        self._paint_rows(rows or self._visible_rows())

    @property
    def span(self) -> tuple[int, int]:
        """The range of characters of the token under the cursor; (0, 0) without one."""
        if self.cursor is None or self.cursor >= len(self.encoded.starts):
            return 0, 0
        return self.encoded.starts[self.cursor], self.encoded.ends[self.cursor]

    # Rows.

    def _ends_line(self, number: int) -> bool:
        """Return whether the token with an index ends with a line break."""
        end = self.encoded.ends[number]
        return self.encoded.text[end - 1 : end] == "\n"

    def _segment(self, number: int) -> int:
        """Return the index of a token at or before another one that starts a row at any width."""
        at = number
        while at > 0 and at % _MOST_IN_ROWS and not self._ends_line(at - 1):
            at -= 1
        return at

    def _rows_from(self, at: int, end: int) -> list[ChipRow]:
        """Return the rows from the one that starts with the token `at`, until one reaches the token `end`."""
        rows: list[ChipRow] = []
        look, tint = self._look(), None
        begin = self._segment(at)
        while begin < end:
            row = fill_row(self.encoded.tokens, begin, self._room, look, tint, breaks=self._ends_row)
            begin, tint = row.end, row.tint
            if row.first >= at:
                rows.append(row)
        return rows

    def _ends_row(self, number: int) -> bool:
        """Return whether a row always ends after the token with an index."""
        return not (number + 1) % _MOST_IN_ROWS or self._ends_line(number)

    def _row_start(self, number: int) -> int:
        """Return the index of the first token in the row of a token; 0 for an index without a token, and
        before there is a width."""
        if not 0 <= number < len(self.encoded.tokens) or not self._room:
            return 0
        return self._rows_from(self._segment(number), number + 1)[-1].first

    @property
    def _room(self) -> int:
        return max(0, self.size.width - 1)

    @property
    def _room_rows(self) -> int:
        """The number of rows that fit, at least one."""
        return max(1, self.size.height // 2)

    def _start_of_row_above(self, number: int, rows: int) -> int:
        """Return the index of the first token in the row `rows` above that of a token, within the text."""
        number = self._row_start(number)
        while rows > 0 and number > 0:
            above = self._rows_from(self._segment(number - 1), number)
            taken = min(rows, len(above))
            number = above[-taken].first
            rows -= taken
        return number

    def _visible_rows(self) -> list[ChipRow]:
        """Return the visible rows; none before there is a width or without tokens."""
        rows: list[ChipRow] = []
        count = len(self.encoded.tokens)
        if not self._room or not count:
            return rows
        look, tint = self._look(), None
        begin = self._segment(self.top)
        while begin < count and len(rows) < self._room_rows:
            row = fill_row(self.encoded.tokens, begin, self._room, look, tint, breaks=self._ends_row)
            begin, tint = row.end, row.tint
            if row.end > self.top:
                rows.append(row)
        return rows

    def _look(self) -> ChipLook:
        """Return how tokens are drawn. Only matches near the visible rows are marked, at most `_MOST_MARKED`.
        """
        starts = self.encoded.starts
        matched = self.matched
        if matched and len(starts):
            last = starts[min(len(starts) - 1, self.top + self._room_rows * max(1, self._room))]
            size = matched[0][1] - matched[0][0]
            first = bisect_left(matched, (starts[self._segment(self.top)] - size, 0))
            matched = matched[first : bisect_right(matched, (last + 1, 0))][:_MOST_MARKED]
        return ChipLook(
            self.mode, self.app.chips, matched=matched, cursor=self.cursor, underlined=self.differs
        )

    def differs(self, number: int) -> bool:
        """Return whether another tokenizer segments the text of a token differently; in a chat, whether the
        token has text of a message."""
        if self.encoded.origins:
            return self.encoded.origins[number] in ("content", "mixed")
        ends = self.encoded.ends
        before, end = ends[number - 1] if number else 0, ends[number]
        for other in self.others:
            if other.error or not len(other.ends):
                continue
            # As in Compare, a cut is where a token ends: blanks may belong to the next one, or to none.
            theirs = other.ends
            at = bisect_left(theirs, end)
            if at == len(theirs) or theirs[at] != end or (theirs[at - 1] if at else 0) != before:
                return True
        return False

    def again(self) -> None:
        """Redraw what has changed."""
        self._paint_rows(self._visible_rows())

    def _paint_rows(self, rows: list[ChipRow]) -> None:
        """Paint rows of tokens, two lines each, or the error or message in their place; clicks then find no
        token."""
        self._rows = rows
        if told := self.encoded.error or self.message:
            line: Cell = ((safe(told, limit=600), "error" if self.encoded.error else "muted"),)
            self._rows = []
            self.paint(ui_text.wrap(line, max(2, self._room), words=True)[: max(1, self.size.height)])
            return
        lines: list[Cell] = []
        for row in rows:
            lines += [row.upper, row.lower]
        self.paint(lines[: max(2, self.size.height)])

    def on_resize(self) -> None:
        """Lay out for the new size, with the cursor visible."""
        self.top = self._row_start(self.top)
        self.put_cursor(self.cursor)

    # Keys and the mouse.

    def _go(self, number: int) -> None:
        """Put the cursor on a token, within the text, and post `ChipsMoved`; do nothing without tokens."""
        if len(self.encoded.tokens):
            self.put_cursor(max(0, min(number, len(self.encoded.tokens) - 1)))
            self.post_message(ChipsMoved(self))

    def action_step(self, by: int) -> None:
        """Move the cursor by tokens, back if negative."""
        self._go((self.cursor or 0) + by)

    def action_end(self, by: int) -> None:
        """Move the cursor to the last token, or to the first if negative."""
        self._go(len(self.encoded.tokens) if by > 0 else 0)

    def action_longest(self) -> None:
        """Move the cursor to the longest token; from there, to the next longest one with another text, around
        the end. The message has its rank and length. Do nothing without tokens."""
        starts, ends, text = self.encoded.starts, self.encoded.ends, self.encoded.text
        places: dict[str, int] = {}
        for at in range(len(self.encoded.tokens)):
            places.setdefault(text[starts[at] : ends[at]], at)
        if not places:
            return
        longest = sorted(places, key=len, reverse=True)  # of equal ones that which comes first
        there = self._ranked < len(longest) and places[longest[self._ranked]] == self.cursor
        rank = self._ranked = (self._ranked + 1) % len(longest) if there and self._ranked >= 0 else 0
        self.put_cursor(places[longest[rank]])
        size = plural(len(longest[rank]), "character")
        self.post_message(ChipsMoved(self, f"{number(rank + 1)} of {number(len(longest))} by length: {size}"))

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages, back if negative."""
        self.action_move(pages * max(1, self._room_rows - 1))

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows, up if negative, to the token at about the same column. Do nothing without
        a cursor."""
        if self.cursor is None or not self._room:
            return
        here = self._rows_from(self._row_start(self.cursor), self.cursor + 1)[-1]
        column = here.columns[self.cursor - here.first]
        if rows < 0:
            target = self._start_of_row_above(self.cursor, -rows)
        else:
            target = here.first
            for _ in range(rows):
                after = self._rows_from(target, target + 1)[-1].end
                if after >= len(self.encoded.tokens):
                    break
                target = after
        row = self._rows_from(target, target + 1)[-1]
        self._go(row.first + max(0, bisect_right(row.columns, column) - 1))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked token."""
        event.stop()
        y = event.y // 2
        if y < len(self._rows):
            row = self._rows[y]
            self._go(row.first + max(0, bisect_right(row.columns, event.x) - 1))

    def scroll_rows(self, by: int) -> None:
        """Scroll by rows, up if negative; the cursor stays."""
        if not len(self.encoded.tokens) or not self._room:
            return
        if by < 0:
            self.top = self._start_of_row_above(self.top, -by)
        elif len(self._rows) > 1 and self._rows[-1].end < len(self.encoded.tokens):
            self.top = self._rows[min(by, len(self._rows) - 1)].first
        self.again()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self.scroll_rows(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self.scroll_rows(-_WHEEL)

