"""Text input with the characters that Textual leaves out, and a cursor that moves by grapheme clusters.

Textual counts by code points, and leaves out what a text may hold: joiners, wide and no-break spaces, the
newest emoji.
"""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.suggester import Suggester
from textual.widgets import Input
from textual.widgets.input import Selection

from tokentui.core.safetext import clusters
from tokentui.ui.bindings import Hint
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.text import StandIns
from tokentui.ui.guard import Guarded

NO_TEXT = frozenset({"Cc", "Cs"})
"""Categories of what a key may send that is no text: controls, halves of characters."""
_LONGEST = 64
"""More characters than a cluster has."""


def typed_beyond(event: Key) -> str | None:
    """Return the character of a key that inputs of Textual ignore because it is not `str.isprintable`; None
    for all other keys.

    For such a character, the event is stopped.
    """
    character = event.character
    if character is None or len(character) != 1 or character.isprintable() or unicodedata.category(
            character) in NO_TEXT:
        return None
    event.stop()
    event.prevent_default()
    return character


def lines_of(pasted: str) -> str:
    """Return pasted text with line feeds for the carriage returns that terminals send at line ends."""
    return pasted.replace("\r\n", "\n").replace("\r", "\n")


def cluster_at(text: str, place: int) -> tuple[int, int]:
    """Return the start and the end of the grapheme cluster that contains the character at an index. Searches
    only the word around it, and at most 64 characters on either side."""
    if text.isascii() or not 0 <= place < len(text):
        return place, place + 1
    start = max(0, place - _LONGEST, 1 + max(text.rfind(" ", 0, place), text.rfind("\n", 0, place)))
    for cluster in clusters(text[start : place + _LONGEST]):
        if cluster.end + start > place:
            return cluster.start + start, cluster.end + start
    return place, place + 1


def erased_left(text: str, place: int) -> int:
    """Return the index from which backspace deletes, for a cursor at `place`, which is above 0.

    Of a cluster that begins with a letter only the last character is deleted, as it was typed; other
    clusters, such as emoji, are deleted whole.
    """
    start, _ = cluster_at(text, place - 1)
    return place - 1 if text[start : start + 1].isalpha() else start


class WholeText(Text):
    """A text whose styles always cover whole grapheme clusters, so that no cluster is drawn in parts."""

    @classmethod
    def of(cls, text: Text) -> WholeText:
        """Return the same text with the same styles."""
        return cls(text.plain, text.style, no_wrap=text.no_wrap, overflow=text.overflow, end=text.end,
            spans=text.spans)

    def stylize(self, style: str | Style, start: int = 0, end: int | None = None) -> None:
        """Apply a style to whole clusters."""
        super().stylize(style, *self._whole(start, end))

    def stylize_before(self, style: str | Style, start: int = 0, end: int | None = None) -> None:
        """Apply a style to whole clusters, below other styles."""
        super().stylize_before(style, *self._whole(start, end))

    def _whole(self, start: int, end: int | None) -> tuple[int, int | None]:
        if end is None or not 0 <= start < end <= len(self.plain):
            return start, end
        return cluster_at(self.plain, start)[0], cluster_at(self.plain, end - 1)[1]


class Field(Guarded, Input):
    """A line to type in, which shows stand-ins for unsafe characters and moves the cursor by grapheme
    clusters.

    Args:
        value: The initial text.
        placeholder: The text shown while it is empty.
        select: True to select the text when it gets the focus, so that typing replaces it.
        suggester: Completes what is typed.
        most: The maximum number of characters; paths may be that long.
    """

    DEFAULT_CSS = """
    Field { width: 1fr; background: $surface; }
    Field:focus { background: $surface; background-tint: transparent; }
    """

    def __init__(
        self, value: str = "", *, placeholder: str = "", select: bool = True,
        suggester: Suggester | None = None,
        most: int = 4096,
    ) -> None:
        super().__init__(
            value, placeholder=placeholder, highlighter=StandIns(), suggester=suggester, max_length=most,
            select_on_focus=select,
            compact=True,
        )
        self.cursor_blink = False

    def on_key(self, event: Key) -> None:
        """Insert a character that the base class ignores."""
        if typed := typed_beyond(event):
            self.replace(typed, *sorted(self.selection))

    def put(self, text: str) -> None:
        """Replace the text, and put the cursor at its end."""
        self.value = text
        self.cursor_position = len(text)

    def _right(self) -> int:
        return min(len(self.value), cluster_at(self.value, self.cursor_position)[1])

    def _move(self, place: int, select: bool) -> None:
        self.selection = Selection(self.selection.start, place) if select else Selection.cursor(place)

    def action_cursor_left(self, select: bool = False) -> None:
        """Move the cursor to the cluster before it, or to the start of a selection."""
        if select or self.selection.is_empty:
            self._move(max(0, cluster_at(self.value, self.cursor_position - 1)[0]), select)
        else:
            super().action_cursor_left(select)

    def action_cursor_right(self, select: bool = False) -> None:
        """Move the cursor past the next cluster, or to the end of a selection; at the end of the text, accept
        a suggestion."""
        if (select or self.selection.is_empty) and not self.cursor_at_end:
            self._move(self._right(), select)
        else:
            super().action_cursor_right(select)

    def action_delete_left(self) -> None:
        """Delete the selection, or what is before the cursor; see `erased_left`."""
        if self.selection.is_empty and self.cursor_position:
            self.delete(erased_left(self.value, self.cursor_position), self.cursor_position)
        else:
            super().action_delete_left()

    def action_delete_right(self) -> None:
        """Delete the selection, or the cluster after the cursor."""
        if self.selection.is_empty and not self.cursor_at_end:
            self.delete(self.cursor_position, self._right())
        else:
            super().action_delete_right()

    def _cell_offset_to_index(self, offset: int) -> int:
        """Return the start of the cluster in a column that is clicked."""
        return cluster_at(self.value, super()._cell_offset_to_index(offset))[0]

    @property
    def _value(self) -> Text:
        text = super()._value  # of ASCII each character is a cluster
        return text if text.plain.isascii() else WholeText.of(text)


TYPED_LIMIT = 20_000
"""The maximum number of characters that the line takes: what is typed is encoded at every step."""


class TypedLine(Field):
    """The line of the encode pane."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "why", id="inspect_word", group=Hint(rank=3),
            tooltip="Show how the word at the cursor is encoded, and why it is not a single token"),
        Binding("escape", "screen.leave", "done", tooltip="Leave the input line", id="leave",
            group=Hint(rank=1)),
        Binding("ctrl+n", "screen.copy", "copy ids", id="copy_typed", group=Hint(rank=24, typing=True),
            tooltip="Copy the ids of the typed text"),
        Binding("ctrl+u", "clear", "clear", tooltip="Clear the line", id="clear", group=Hint(rank=2)),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="type text to see it encoded", select=False, most=TYPED_LIMIT)

    def action_clear(self) -> None:
        """Clear the line."""
        self.clear()

    def on_paste(self, event: Paste) -> None:
        """Insert a paste with all its lines, as much as fits into `TYPED_LIMIT` characters; warn if it is
        cut."""
        event.stop()
        event.prevent_default()
        text = lines_of(event.text)
        start, end = sorted(self.selection)
        room = TYPED_LIMIT - len(self.value) + end - start
        self.replace(text[:room], start, end)
        if len(text) > room:
            taken = f"{number(room)} of {number(len(text))} characters are taken"
            what = f"{taken}: the line holds {number(TYPED_LIMIT)}"
            self.app.say(what, "warning")
