"""The corpus pane as a text editor: the text is kept exactly, and drawn with a stand-in for each character
that acts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import Document, EditResult, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.widgets import TextArea

from tokentui.core.safetext import is_safe
from tokentui.ui.bindings import Hint
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.text import mark_stand_ins, replace
from tokentui.ui.field import WholeText, cluster_at, erased_left, lines_of, typed_beyond
from tokentui.ui.guard import Guarded

MOST_EDITED = 1_000_000
"""The maximum number of characters after a paste: all of them are trained on at every key."""
LONGEST_LINE = 20_000
"""The maximum number of characters of a line: each key lays out its line again."""


class ExactText(Document):
    """The text of an editor: exact in what is read from it, safe in what is drawn.

    Only a line feed ends a line. `lines`, and all that is drawn from them, have a stand-in for each unsafe
    character, one for one, so that locations are the same in both.
    """

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._exact = text.split("\n")
        self._lines = [_drawn(line) for line in self._exact]
        self._text: str | None = text

    @property
    def text(self) -> str:
        """The exact text. Joined once after a change: each drawn row asks for it."""
        if self._text is None:
            self._text = "\n".join(self._exact)
        return self._text

    def exact_line(self, index: int) -> str:
        """Return a line without stand-ins."""
        return self._exact[index]

    def get_text_range(self, start: Location, end: Location) -> str:
        """Return the exact text between two locations, in either order and limited to the end."""
        (top, left), (bottom, right) = self._within(start, end)
        lines = self._exact[top : bottom + 1]
        lines[-1] = lines[-1][:right]
        lines[0] = lines[0][left:]
        return "\n".join(lines)

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace the text between two locations, in either order."""
        (top, left), (bottom, right) = self._within(start, end)
        replaced = self.get_text_range((top, left), (bottom, right))
        after = self._exact[bottom][right:]
        lines = (self._exact[top][:left] + text + after).split("\n")
        self._exact[top : bottom + 1] = lines
        self._lines[top : bottom + 1] = [_drawn(line) for line in lines]
        self._text = None
        return EditResult((top + len(lines) - 1, len(lines[-1]) - len(after)), replaced)

    def _within(self, start: Location, end: Location) -> tuple[Location, Location]:
        """Return two locations in order, limited to the end of the text."""
        top, bottom = sorted((start, end))
        return min(top, self.end), min(bottom, self.end)


class ClusterNavigator(DocumentNavigator):
    """Moves a cursor by grapheme clusters."""

    def get_location_left(self, location: Location) -> Location:
        """Return the location before the cluster to the left."""
        row, column = super().get_location_left(location)
        return row, cluster_at(self._document.get_line(row), column)[0] if row == location[0] else column

    def get_location_right(self, location: Location) -> Location:
        """Return the location after the cluster to the right."""
        row, column = super().get_location_right(location)
        return row, cluster_at(self._document.get_line(row),
            column - 1)[1] if row == location[0] and column else column


class CountedRows(WrappedDocument):
    """A document in rows whose number is known: each row that is drawn asks for it."""

    @property
    def height(self) -> int:
        """The number of rows. The base class adds up those of all lines: 0.1 ms for 3,500 lines."""
        return len(self._offset_to_line_info)


def _drawn(line: str) -> str:
    return line if is_safe(line) else replace(line)


def refusal(insert: str, held: int = 0) -> str:
    """Return why a text cannot be inserted into an editor that holds `held` characters: it or a line of it
    gets too long. "" if it can; a single character always can."""
    if len(insert) > 1 and held + len(insert) > MOST_EDITED:
        return f"a text of more than {number(MOST_EDITED)} characters cannot be edited"
    if any(len(line) > LONGEST_LINE for line in insert.split("\n")):
        return f"a line of more than {number(LONGEST_LINE)} characters cannot be edited"
    return ""


class CorpusEditor(Guarded, TextArea):
    """The editor of the corpus.

    Args:
        text: The initial text.
        changed: Called after each change.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.leave", "end", id="end_edit", group=Hint(rank=1),
            tooltip="Stop editing, and keep the text as the corpus"),
        Binding("ctrl+u", "clear", "clear", id="clear_corpus", group=Hint(rank=2),
            tooltip="Clear the text, to type your own; ctrl+t undoes this"),
        Binding("ctrl+t", "undo", "undo", tooltip="Undo the last change", id="undo", group=Hint(rank=2)),
        Binding("ctrl+y", "redo", "redo", tooltip="Redo the last change", id="redo", group=Hint(rank=3)),
    ]

    def __init__(self, text: str, changed: Callable[[], object]) -> None:
        super().__init__(text, highlight_cursor_line=False)
        self.cursor_blink = False
        self._told = changed

    @property
    def position(self) -> str:
        """The line of the cursor, as in `line 3 of 1,024`."""
        return f"line {number(self.cursor_location[0] + 1)} of {number(self.document.line_count)}"

    @property
    def line_offset(self) -> int:
        """The number of characters before the line of the cursor, less than the length of the text."""
        return max(0, min(len(self.get_text_range((0, 0), (self.cursor_location[0], 0))), len(self.text) - 1))

    def offset_of(self, location: Location) -> int:
        """Return the number of characters before a location."""
        document = self.document
        before = sum([len(document.get_line(row)) for row in range(location[0])])
        return before + location[0] + location[1]

    def location_of(self, offset: int) -> Location:
        """Return the location after a number of characters."""
        before = self.text[:offset]
        return before.count("\n"), len(before) - before.rfind("\n") - 1

    def go_to(self, offset: int) -> None:
        """Move the cursor to an offset in characters, and scroll its line to the top."""
        self.move_cursor(self.location_of(offset))
        # It has no height before it is laid out. A key may come earlier, and moves the cursor from here.
        self.call_after_refresh(self._line_to_top)

    def _line_to_top(self) -> None:
        self.scroll_to(y=self.wrapped_document.location_to_offset(self.cursor_location).y, animate=False)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Call `changed`."""
        event.stop()
        self._told()

    def on_paste(self, event: events.Paste) -> None:
        """Insert a paste, with line feeds for the carriage returns of terminals; show an error if it is too
        long."""
        event.stop()
        event.prevent_default()
        if result := self._replace_via_keyboard(lines_of(event.text), *self.selection):
            self.move_cursor(result.end_location)

    def on_key(self, event: events.Key) -> None:
        """Insert a character that the base class ignores."""
        if typed := typed_beyond(event):
            self._replace_via_keyboard(typed, *self.selection)

    def action_clear(self) -> None:
        """Delete the whole text; undo restores it."""
        self.clear()

    # What the base class does otherwise.

    def _set_document(self, text: str, language: str | None) -> None:
        """Replace the document by a text, with the cursor at its start. `language` is ignored."""
        self.document = ExactText(text)
        self.wrapped_document = CountedRows(self.document, tab_width=self.indent_width)
        self.navigator = ClusterNavigator(self.wrapped_document)
        self._build_highlight_map()
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        """Replace a range of the text as typed. If the text would be too long, show an error and return None.
        """
        if refused := refusal(insert, len(self.text)):
            self.app.notify(refused, severity="error")
            return None
        return super()._replace_via_keyboard(insert, start, end)

    def get_line(self, line_index: int) -> Text:
        """Return a line as it is drawn, with its stand-ins in reverse."""
        line = WholeText.of(super().get_line(line_index))
        exact = self.document.exact_line(line_index) if isinstance(self.document, ExactText) else line.plain
        if exact is not line.plain:
            mark_stand_ins(line, exact)
        return line

    def action_delete_left(self) -> None:
        """Delete the selection, or what is before the cursor; see `erased_left`."""
        (row, column), selected = self.cursor_location, not self.selection.is_empty
        if selected or not column or self.read_only:
            super().action_delete_left()
        else:
            self._delete_via_keyboard((row, column), (row, erased_left(self.document.get_line(row), column)))

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """Return None: a search through the whole text would delay each move of the cursor."""
        return None
