"""The corpus pane: the text as the tokenizer cuts it at this step.

It holds a window of the corpus and scrolls inside it by rows of its own; when the window runs out it asks for
another with `TextWanted`. The place of its top row is kept, whatever is merged and however wide the pane is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tokentui.core.safetext import GlyphMode
from tokentui.session.views import CorpusPlace, CorpusView
from tokentui.ui.draw.lines import ScrolledLines
from tokentui.ui.draw.running import Boundaries, Layout, Manner
from tokentui.ui.draw.text import Cell

_PAST_END = CorpusPlace(2**31 - 1, 0)

Aim = Literal["top", "third", "end"]
"""Where in the pane a place is to be seen; `end` is the last rows of the corpus, wherever the place is."""


class TextWanted(Message):
    """The corpus pane needs other text: so many characters from a place on, and so many before it."""

    def __init__(self, place: CorpusPlace, chars: int, before: int) -> None:
        super().__init__()
        self.place = place
        self.chars = chars
        self.before = before

    def can_replace(self, message: Message) -> bool:
        """A newer wish stands for an older one that still waits."""
        return isinstance(message, TextWanted)


class CorpusText(ScrolledLines):
    """The corpus pane.

    Args:
        boundaries: The initial mark between tokens.
    """

    def __init__(self, boundaries: Boundaries = "shade") -> None:
        super().__init__()
        self.boundaries: Boundaries = boundaries
        self.mode: GlyphMode = "text"
        self.layout_held: Layout | None = None
        self.top_place = CorpusPlace()
        """The place of that row."""
        self.found: tuple[CorpusPlace, int] | None = None
        """A place that was found, and how many characters were."""
        self.moved: Callable[[], object] | None = None
        """Called at once when another row is the first that is seen."""
        self._view: CorpusView | None = None
        self._aim: tuple[Aim, CorpusPlace] | None = None
        self._asked: tuple[CorpusPlace, int, int] | None = None
        self._drawn: list[Cell] = [(("starting …", "muted"),)]

    # What the screen does.

    def say(self, text: str) -> None:
        """Show a line in the place of a corpus."""
        self.reset()
        self._view, self._drawn = None, [((text, "muted"),)]
        self.refresh()

    def show(self, view: CorpusView, mode: GlyphMode) -> None:
        """Take the corpus of another step, or another part of it."""
        # An answer may be on its way to an older wish; only text that came with another window may be asked
        # for again.
        if self._view is None or (self._view.place, len(self._view.parts)) != (view.place, len(view.parts)):
            self._asked = None
        self._view, self.mode = view, mode
        self._lay_out()

    def reset(self) -> None:
        """Go back to the beginning, for another corpus."""
        self.top_place, self.top, self.layout_held = CorpusPlace(), 0, None
        self.found = self._aim = self._asked = None

    def begin_again(self, place: CorpusPlace | None = None) -> None:
        """Show nothing until the text comes anew: round a place, or where it was."""
        self._view, self.layout_held, self._drawn, self._asked = None, None, [], None
        self.refresh()
        self._go("third" if place else "top", place or self.top_place)

    def turn_boundaries(self) -> None:
        """Tell tokens apart in the other way."""
        self.boundaries = "bars" if self.boundaries == "shade" else "shade"
        self._lay_out()

    def show_place(self, place: CorpusPlace, chars: int = 0) -> None:
        """Bring a place into view, and mark so many characters from there on."""
        self.found = (place, chars) if chars else None
        held = self.layout_held
        if held is not None and self._holds(held, place) and self._seen(held,
                held.row_of(held.offset_of(place))):
            self._repaint()
        else:
            self._go("third", place)

    def forget_found(self) -> None:
        """Mark nothing any more."""
        self.found = None
        self._repaint()

    @property
    def position(self) -> float:
        """The position of the top row in the corpus, from 0 to 1."""
        held, view = self.layout_held, self._view
        if held is None or view is None:
            return 0.0
        last = len(held.rows) - self.size.height
        if view.at_end and self.top >= last:
            return 1.0 if self.top or not view.at_start else 0.0
        return self.top / last if view.at_start and view.at_end else view.position

    @property
    def wanted(self) -> tuple[int, int]:
        """The text to load: the number of characters after the anchor, and before it."""
        screen = max(1, self.size.width) * max(1, self.size.height)
        return 3 * screen, 2 * screen

    # What the user does.

    def first(self) -> None:
        """Go to the beginning."""
        self._go("top", CorpusPlace())

    def last(self) -> None:
        """Go to the end."""
        self._go("end", _PAST_END)

    def on_resize(self) -> None:
        """Lay out for the new width; the top row keeps its place."""
        self._lay_out()

    # Where it is.

    def _lay_out(self) -> None:
        if self._view is None or not self.size.width:
            return
        manner = Manner(self.size.width, self.boundaries, self.mode)
        held = Layout(self._view.parts, manner, self.top_place, self._view.at_start, self.layout_held)
        self.layout_held = held
        if self._aim is not None and self._reaches(self._view, held, *self._aim):
            (aim, place), self._aim = self._aim, None
            row = held.row_of(held.offset_of(place))
            self.top = row - self.size.height // 3 if aim == "third" else row if aim == "top" else len(
                held.rows)
        else:
            self.top = held.row_of(max(0, held.offset_of(self.top_place)))
        self._settle()

    def _holds(self, held: Layout, place: CorpusPlace) -> bool:
        view = self._view
        return view is not None and 0 <= held.offset_of(place) < max(len(held.text), 1 if view.at_end else 0)

    def _reaches(self, view: CorpusView, held: Layout, aim: Aim, place: CorpusPlace) -> bool:
        if aim == "end":
            return view.at_end
        if place == CorpusPlace():
            return view.at_start
        return self._holds(held, place)

    def _seen(self, held: Layout, row: int) -> bool:
        return self.top <= row < self.top + self.size.height

    def _go(self, aim: Aim, place: CorpusPlace) -> None:
        """Show a place at once if it is held; else ask for it and stay until it comes."""
        self._aim = (aim, place)
        held, view = self.layout_held, self._view
        if held is not None and view is not None and self._reaches(view, held, aim, place):
            self._lay_out()
        else:
            self._ask(place)

    def scroll_rows(self, top: int) -> None:
        """Let this row be the first that is seen."""
        self._aim = None
        self.top = top
        self._settle()

    def _settle(self) -> None:
        """Keep within the rows that are held, draw, and ask for more where they run out."""
        held, view, height = self.layout_held, self._view, self.size.height
        if held is None or view is None:
            return
        self.top = max(0, min(self.top, len(held.rows) - max(1, height)))
        if held.rows and (place := held.place_of(held.rows[self.top][0])) != self.top_place:
            self.top_place = place
            if self.moved is not None:
                self.moved()
        self._repaint()
        short_below = len(held.rows) - self.top < 2 * height and not view.at_end
        short_above = self.top < height // 2 and not view.at_start
        if self._aim is None and (short_below or short_above):
            self._ask(self.top_place)

    def _ask(self, place: CorpusPlace) -> None:
        wish = (place, *self.wanted)
        if wish != self._asked:
            self._asked = wish
            self.post_message(TextWanted(*wish))

    # What is seen.

    def _repaint(self) -> None:
        held, height = self.layout_held, self.size.height
        if held is None:
            return
        found = None
        if self.found is not None:
            start = held.offset_of(self.found[0])
            found = (start, start + self.found[1]) if start >= 0 else None
        old, self._drawn = self._drawn, [held.row(self.top + y, found) for y in range(height)]
        if len(old) != len(self._drawn):
            self.refresh()
            return
        for y, (was, now) in enumerate(zip(old, self._drawn, strict=True)):
            if was != now:
                self.refresh(Region(0, y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        """One row."""
        return self.strip(self._drawn[y] if y < len(self._drawn) else (), self.size.width)
