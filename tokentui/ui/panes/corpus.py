"""The corpus pane: the text as the tokenizer cuts it at this step.

It holds a window of the corpus and scrolls inside it by rows of its own; when the window runs out it asks for
another. The place of its top row is kept, whatever is merged and however wide the pane is.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.message import Message
from textual.reactive import var

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import GlyphMode
from tokentui.session.commands import CorpusText as WholeText
from tokentui.session.commands import TrainOnText
from tokentui.session.errors import Replaced
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import CorpusPlace, CorpusView, TokenSpan, documents_of
from tokentui.ui.bindings import Hint
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.lines import ScrolledLines
from tokentui.ui.draw.running import CYCLE, Boundaries, Layout, LayoutKey, ages_legend
from tokentui.ui.draw.text import Cell
from tokentui.ui.link import EngineLink
from tokentui.ui.panes.pane import LinkedPane, Pane
from tokentui.ui.waits import NotYet, loads, nothing_there

if TYPE_CHECKING:  # loaded when it is first wanted
    from tokentui.ui.panes.editor import CorpusEditor

_PAST_END = CorpusPlace(2**31 - 1, 0)

Aim = Literal["top", "third", "end"]
"""Where in the pane a place is to be seen; `end` is the last rows of the corpus, wherever the place is."""


class Marked(NamedTuple):
    """What the corpus pane marks, and the place of its top row; see `CorpusText`."""

    sought: str
    found: tuple[CorpusPlace, int] | None
    match: Cell
    top: CorpusPlace


_TOKEN = Hint("token", rank=9, count=2)


class CorpusText(ScrolledLines, LinkedPane):
    """The corpus in tokens.

    Args:
        boundaries: The initial marks of tokens.
        want_text: Called for other text: a place, the characters after it, and those before it.
        seek: Called for the next place of adjacent tokens: their bytes, and the place to start behind.
        moved: Called at once when another row becomes the first visible one.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.inspect_token", "inspect", id="inspect_token", group=Hint(rank=1),
            tooltip="Inspect the token at the cursor"),
        Binding("left", "screen.step_cursor(-1)", "previous token", id="cursor_left", group=_TOKEN,
            tooltip="Move the cursor to the previous token"),
        Binding("right", "screen.step_cursor(1)", "next token", id="cursor_right", group=_TOKEN,
            tooltip="Move the cursor to the next token"),
        Binding("escape", "screen.end_cursor", "leave", id="leave_cursor", group=Hint(rank=1),
            tooltip="Hide the cursor"),
    ]

    class CursorMoved(Message):
        """The cursor is on another token, or was put there or removed."""

    class Chosen(Message):
        """The token under the cursor was clicked."""

    def __init__(
        self, boundaries: Boundaries, want_text: Callable[[CorpusPlace, int, int], object],
        seek: Callable[[tuple[bytes, ...], CorpusPlace], object],
        moved: Callable[[], object],
    ) -> None:
        super().__init__()
        self.boundaries, self._wanted, self._seek, self.moved = boundaries, want_text, seek, moved
        self._before_ages: Boundaries = boundaries
        self.mode: GlyphMode = "text"
        self.layout_held: Layout | None = None
        self.has_returns = False
        """True if lines that are held end in a carriage return and a newline: the text does not show it."""
        self.top_place = CorpusPlace()
        """The place of that row."""
        self.found: tuple[CorpusPlace, int] | None = None
        """A place that was found, and how many characters were; 0 for the token there."""
        self.sought = ""
        """The text that is marked wherever it is visible."""
        self.match: Cell = ()
        """The number of the match that was found, and of all."""
        self.cuts_only_marked = False
        """True if only pre-tokens with a part of `sought` show their tokens. Then a step redraws few rows."""
        self.cursor: CorpusPlace | None = None
        """The place of the token under the cursor; None where there is no cursor."""
        self.coming: tuple[bytes, ...] = ()
        """The exact bytes of the tokens that the next step of a slow run merges; empty for none."""
        self._view: CorpusView | None = None
        """The text as it is drawn; `_whole` has the tokens of all pre-tokens."""
        self._whole: CorpusView | None = None
        self._aim: tuple[Aim, CorpusPlace] | None = None
        self._asked: tuple[CorpusPlace, int, int] | None = None
        self.paint([(("starting …", "muted"),)])

    # What the screen does.

    def show_message(self, text: str) -> None:
        """Show a text in place of a corpus, and forget the place and the search."""
        self.reset()
        self._view = None
        self.paint(ui_text.wrap(((text, "muted"),), self.size.width or len(text), words=True))

    def show(self, view: CorpusView, mode: GlyphMode, coming: tuple[bytes, ...] = ()) -> None:
        """Show the corpus at another step, or another part of it.

        Args:
            view: The text in tokens.
            mode: The way tokens are shown.
            coming: The exact bytes of the tokens that the next step merges; empty for none. If they have
                changed, a place of them is brought into view unless one is visible.
        """
        announced, self.coming = coming != self.coming, coming
        # An answer may be on its way to an older wish; only text that came with another window may be asked
        # for again.
        if self._view is None or (self._view.place, len(self._view.parts)) != (view.place, len(view.parts)):
            self._asked = None
        self._whole, self.mode = view, mode
        if self.cuts_only_marked and self.boundaries != "age":
            view = self._with_marked_cuts(view)
        self._view = view
        held = self.layout_held
        rows = held.rows if held is not None and self._aim is None and held.layout_key.mode == mode else None
        if held is None or rows is None or not held.update_tokens(view.parts, self.top_place, view.at_start):
            self._lay_out()
        else:
            held.announce(coming)
            if held.rows is rows:
                self._repaint()
            else:
                self._show_rows(held, held.first)
        if coming and announced and self.layout_held is not None:
            self._bring_coming(self.layout_held)

    def _bring_coming(self, held: Layout) -> None:
        """Scroll to the next place of what the next step merges; search the corpus for it if the loaded text
        has none.

        Do nothing if one is visible, or if a cursor is on a token.
        """
        rows = held.rows[self.top : self.top + self.size.height]
        seen = self.cursor is not None or not rows
        if seen or any(start < rows[-1][1] and end > rows[0][0] for start, end in held.coming):
            return
        below = (start for start, _ in held.coming if start >= rows[-1][1])
        if (start := next(below, None)) is not None:
            self._go("third", held.place_of(start))
        else:
            self._seek(self.coming, held.place_of(rows[-1][1] - 1))

    def reset(self) -> None:
        """Return to the start, for another corpus, and forget the search, its matches and what was asked for.
        """
        self.top_place, self.layout_held = CorpusPlace(), None
        self.scroll_rows(0)
        self.found = self._aim = self._asked = None
        self.sought, self.match, self.cuts_only_marked = "", (), False

    def begin_again(self, place: CorpusPlace | None = None) -> None:
        """Clear the text until it is loaded again, around a place, or where it was for None."""
        self._view = self.layout_held = self._asked = None
        self.coming = ()
        self.paint(())
        self._go("third" if place else "top", place or self.top_place)

    def turn_boundaries(self, chips: bool) -> None:
        """Switch to the next marks of tokens: chips, if the terminal has their colors, shades, or bars.

        Args:
            chips: True if the terminal has the colors of chips.
        """
        marks = [mark for mark in CYCLE if chips or mark != "chips"]
        at = marks.index(self.boundaries) if self.boundaries in marks else -1
        self.boundaries = marks[(at + 1) % len(marks)]
        self._lay_out()

    @property
    def chips(self) -> bool:
        """True if tokens are chips, or would be if they were not colored by age."""
        return (self._before_ages if self.boundaries == "age" else self.boundaries) == "chips"

    def mark_by(self, boundaries: Boundaries) -> None:
        """Mark tokens by chips, shades or bars; while they are colored by age, only afterwards."""
        if self.boundaries == "age":
            self._before_ages = boundaries
        else:
            self.boundaries = boundaries
            self._lay_out()

    def turn_ages(self) -> bool:
        """Switch between coloring tokens by the steps that made them and the marks before. Return True if
        they are colored by age now."""
        if self.boundaries == "age":
            self.boundaries = self._before_ages
        else:
            self._before_ages, self.boundaries = self.boundaries, "age"
        self._lay_out()
        return self.boundaries == "age"

    def show_place(
        self, place: CorpusPlace, chars: int = 0, rows: int | None = None, *, token: bool = False
    ) -> None:
        """Bring a place into view, and mark the characters there; it is loaded first if necessary. If it is
        visible, do not scroll.

        Args:
            place: The place.
            chars: The number of characters to mark; 0 for none.
            rows: The number of rows that nothing covers; None for all.
            token: True to mark the token there.
        """
        rows = self.size.height if rows is None else min(rows, self.size.height)
        self.found = (place, chars) if chars or token else None
        held = self.layout_held
        row = held.row_of(place) if held is not None and self._holds(held, place) else -1
        if row >= 0 and self.top <= row < self.top + rows:
            self._repaint()
        else:
            self._go("third", place)

    def show_coming(self, parts: tuple[bytes, ...], place: CorpusPlace) -> None:
        """Bring a place of what the next step merges into view; do nothing if that has changed."""
        if parts == self.coming:
            self._go("third", place)

    @property
    def marked(self) -> Marked:
        """What is marked, and the place of the top row, for `restore`."""
        return Marked(self.sought, self.found, self.match, self.top_place)

    def mark(self, text: str) -> None:
        """Mark a text wherever it is visible, and nothing else. Other pre-tokens do not show their tokens
        meanwhile."""
        self.found, self.sought, self.match = None, text, ()
        self._set_cuts_only_marked(True)

    def restore(self, marked: Marked) -> None:
        """Restore what was marked and shown before `mark`."""
        self.sought, self.found, self.match, top = marked
        if top != self.top_place:
            self._go("top", top)
        self._set_cuts_only_marked(False)

    def _set_cuts_only_marked(self, cuts_only_marked: bool) -> None:
        """Set whether only pre-tokens with a part of `sought` show their tokens, and draw."""
        self.cuts_only_marked = cuts_only_marked
        if self._whole is not None and self._view is not None:
            self.show(self._whole, self.mode, self.coming)
        self._repaint()

    def _with_marked_cuts(self, view: CorpusView) -> CorpusView:
        """Return a view with each pre-token that contains no part of `sought` as one token."""
        parts = []
        for document in documents_of(view.parts):
            text = "".join([part.text for part in document])
            found = re.finditer(re.escape(self.sought), text) if self.sought else ()
            matches, at, end = [match.span() for match in found], 0, 0
            for part in document:
                start, end = end, end + len(part.text)
                while at < len(matches) and matches[at][1] <= start:
                    at += 1
                if part.tokens and not (at < len(matches) and matches[at][0] < end):
                    part = part._replace(tokens=(TokenSpan(0, len(part.text), False, False),))
                parts.append(part)
        return replace(view, parts=tuple(parts))

    def watch_linked(self) -> None:
        """Mark the token wherever it is seen."""
        self._repaint()

    def forget_found(self) -> None:
        """Remove all marks of searches."""
        self.found, self.sought, self.match = None, "", ()
        self._repaint()

    # The cursor, which stands on a token.

    def begin_cursor(self) -> None:
        """Put the cursor on the first visible token; do nothing without one."""
        held = self.layout_held
        if held is not None and held.rows:
            self._put_cursor(held, held.token_at(held.rows[min(self.top, len(held.rows) - 1)][0]))

    def end_cursor(self) -> None:
        """Remove the cursor; do nothing without one."""
        if self.cursor is not None:
            self.cursor = None
            self._repaint()
            self.post_message(self.CursorMoved())

    @property
    def chosen(self) -> bytes:
        """The exact bytes of the token under the cursor; empty without a cursor, and for a special token."""
        held, here = self.layout_held, self.under_cursor
        return held.piece_at(here[0]) if held is not None and here is not None else b""

    def on_click(self, event: Click) -> None:
        """Put the cursor on the clicked token; if it is there already, post `Chosen`."""
        held, at = self.layout_held, event.get_content_offset(self)
        if held is None or at is None or not 0 <= (row := self.top + at.y) < len(held.rows):
            return
        event.stop()
        token = held.token_at(held.offset_in_row(row, at.x))
        if token is not None and token == self.under_cursor:
            self.post_message(self.Chosen())
        else:
            self._put_cursor(held, token)

    def step_cursor(self, by: int) -> None:
        """Move the cursor to the next token, or to the previous one if `by` is negative; without a cursor,
        put it on the first visible token."""
        held, here = self.layout_held, self.under_cursor
        if held is None or here is None:
            self.begin_cursor()
        else:
            self._put_cursor(held, held.token_at(here[1]) if by > 0 else held.token_before(here[0]))

    def move(self, rows: int) -> None:
        """Scroll by rows, or move the cursor by rows if there is one."""
        held, here = self.layout_held, self.under_cursor
        if held is None or here is None:
            super().move(rows)
            return
        row = held.row_of(held.place_of(here[0]))
        to = min(max(0, row + rows), len(held.rows) - 1)
        start, end = held.rows[to]
        target = min(start + here[0] - held.rows[row][0], end - 1)
        self._put_cursor(held, held.token_at(target) if to != row else here)

    @property
    def under_cursor(self) -> tuple[int, int] | None:
        """The (start, end) of the token under the cursor in the loaded text; None without a cursor, or if its
        place is not loaded."""
        held, cursor = self.layout_held, self.cursor
        if held is None or cursor is None or not self._holds(held, cursor):
            return None
        return held.token_at(held.offset_of(cursor))

    @property
    def cursor_part(self) -> tuple[CorpusPlace, int] | None:
        """The place of the pre-token under the cursor, and the offset of the cursor in it; None without a
        cursor."""
        held, here = self.layout_held, self.under_cursor
        return held.part_at(here[0]) if held is not None and here is not None else None

    def _put_cursor(self, held: Layout, token: tuple[int, int] | None) -> None:
        """Put the cursor on a token, scroll to it, and post `CursorMoved`; do nothing for None."""
        if token is None:
            return
        self.cursor = held.place_of(token[0])
        row, height = held.row_of(self.cursor), max(1, self.size.height)
        self.scroll_to_row(min(max(self.top, row - height + 1), row))
        self.post_message(self.CursorMoved())

    @property
    def position(self) -> float:
        """The position of the top row in the corpus, from 0 to 1."""
        held, view = self.layout_held, self._view
        if held is None or view is None:
            return 0.0
        last = len(held.rows) - self.size.height
        if view.at_end and self.top >= last:
            return 1.0 if self.top or not view.at_start else 0.0
        if view.at_start and view.at_end:
            return self.top / last
        if self.top_place == view.place:
            return view.position
        past = held.offset_of(self.top_place) - held.offset_of(view.place)  # the window has scrolled so far
        return min(max(0.0, view.position + past / max(1, view.chars)), 1.0)

    # What the user does.

    def first(self) -> None:
        """Scroll to the start of the corpus."""
        self._go("top", CorpusPlace())

    def last(self) -> None:
        """Scroll to the end of the corpus."""
        self._go("end", _PAST_END)

    def on_resize(self) -> None:
        """Lay out for the new width; the top row keeps its place."""
        self._lay_out()

    # Where it is.

    def _lay_out(self) -> None:
        """Lay out the text for the width of the pane and show it, at the place that `_go` asked for if it is
        loaded. Do nothing before there is a text and a width."""
        view = self._view
        if view is None or not self.size.width:
            return
        layout_key = LayoutKey(self.size.width, self.boundaries, self.mode)
        held = Layout(view.parts, layout_key, self.top_place, view.at_start, self.layout_held)
        held.announce(self.coming)
        self.has_returns = layout_key.mode == "text" and "\r\n" in held.text
        self.layout_held, top = held, held.first
        if self._aim is not None and self._reaches(view, held, *self._aim):
            (aim, place), self._aim = self._aim, None
            row = held.row_of(place)
            top = {"top": row, "third": row - self.size.height // 3, "end": len(held.rows)}[aim]
        self._show_rows(held, top)

    def _show_rows(self, held: Layout, top: int) -> None:
        """Show the loaded rows from an index on. Their number and the scroll position change together: the
        rows of another step or window start elsewhere."""
        self.set_rows(len(held.rows))
        self.scroll_rows(top)
        self._settle()

    def _holds(self, held: Layout, place: CorpusPlace) -> bool:
        """Return whether a place is in the loaded text."""
        view = self._view
        return view is not None and 0 <= held.offset_of(place) < max(len(held.text), 1 if view.at_end else 0)

    def _reaches(self, view: CorpusView, held: Layout, aim: Aim, place: CorpusPlace) -> bool:
        """Return whether the loaded text has what is needed to show a place as `aim` says."""
        known = view.at_start if place == CorpusPlace() else self._holds(held, place)
        return view.at_end if aim == "end" else known

    def _go(self, aim: Aim, place: CorpusPlace) -> None:
        """Scroll to a place if it is loaded; otherwise ask for it, and scroll when it is."""
        self._aim = (aim, place)
        held, view = self.layout_held, self._view
        if held is not None and view is not None and self._reaches(view, held, aim, place):
            self._lay_out()
        else:
            self._ask(place)

    def scrolled(self) -> None:
        """Draw, and give up a scroll that waits for its place."""
        self._aim = None
        self._settle()

    def _settle(self) -> None:
        """Draw, and ask for more text if the loaded rows run out."""
        held, view, height = self.layout_held, self._view, self.size.height
        if held is None or view is None:
            return
        if held.rows and (place := held.place_of(held.rows[self.top][0])) != self.top_place:
            self.top_place = place
            self.moved()
        self._repaint()
        short_below = len(held.rows) - self.top < 2 * height and not view.at_end
        short_above = self.top < height // 2 and not view.at_start
        if self._aim is None and (short_below or short_above):
            self._ask(self.top_place)

    def _ask(self, place: CorpusPlace) -> None:
        """Ask for three screens of text after a place and two before it, unless that was asked for last."""
        screen = max(1, self.size.width) * max(1, self.size.height)
        wish = place, 3 * screen, 2 * screen
        if wish != self._asked:
            self._asked = wish
            self._wanted(*wish)

    # What is seen.

    def _repaint(self) -> None:
        """Draw the visible rows, with matches, the found place and the cursor."""
        held, height = self.layout_held, self.size.height
        if held is None:
            return
        matches = list(held.matches(self.sought, self.top, self.top + height)) if self.sought else []
        if self.found is not None and (start := held.offset_of(self.found[0])) >= 0:
            end = start + self.found[1] if self.found[1] else (held.token_at(start) or (0, 0))[1]
            matches.append((start, end))
        cursor = self.under_cursor or (0, 0)
        self.paint([held.row(self.top + y, matches, cursor, self.linked) for y in range(height)])


class CorpusPane(Vertical, Pane):
    """The corpus in tokens, or in its place an editor, each change of which is trained on.

    Args:
        engine: The link to the session.
        text: The text in tokens.
        turned: Called when the editor is opened or closed, or its text becomes the corpus or no longer is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.begin_cursor", "cursor", id="corpus_cursor", group=Hint(rank=7),
            tooltip="Put a cursor on the first visible token"),
    ]

    edited = var(False, init=False)
    """True if the corpus is the text of the editor. The editor is then kept while it is hidden."""

    def __init__(self, engine: EngineLink, text: CorpusText, turned: Callable[[], object]) -> None:
        super().__init__(text)
        self.engine = engine
        self.text = text
        self.editing = False
        """True if the editor is shown."""
        self._turned = turned
        self._editor: CorpusEditor | None = None
        self._opening = 0
        """The number of other corpora that are being opened."""
        self._was_edited = False
        """True if the corpus was the text of the editor when the first of them was requested."""
        self._offered: tuple[str, int] | None = None
        """The corpus that cannot be edited and in whose place an empty text was offered."""
        self._anew = False
        """True if the next typing begins with an empty text."""
        self._said: str | None = None

    def watch_edited(self) -> None:
        """Call `turned`."""
        self._turned()

    def names(self) -> tuple[str, str]:
        """Return the title and a short one, with `editing` or `scratch` if that applies; the short one is
        empty for the usual title."""
        state = "editing" if self.editing else "scratch" if self.edited else ""
        return (f"Corpus · {state}", state.capitalize()) if state else ("Corpus", "")

    @property
    def note(self) -> Cell:
        """The match that was found and the position in percent; or the legend of ages; or the position in the
        editor. Empty if nothing is open."""
        now = self.engine.snapshot
        if self._editor is not None and self.editing:
            return ((self._editor.position, "muted"),)
        if now is None or now.corpus.nothing_open:
            return ()
        if self.text.boundaries == "age" and now.main.at.start_tokens:
            return (*self.text.match, *ages_legend())
        place = f"{100 * self.text.position:.0f} %" if now.main.at.start_tokens else "empty"
        ends: Cell = (("CR LF  ", "muted"),) if self.text.has_returns else ()
        return (*self.text.match, *ends, (place, "muted"))

    def sections(self, snapshot: Snapshot) -> object:
        """Return the visible text and, while nothing is open, what is being opened."""
        main = snapshot.main
        opening = snapshot.corpus.nothing_open and snapshot.busy
        return main.corpus, main.at.start_tokens, snapshot.coming, opening

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        """Show the corpus in tokens, or that nothing is open. Do nothing while the editor is open."""
        if snapshot.corpus.nothing_open and not self.editing:
            self.text.show_message(nothing_there(snapshot))
        elif not self.editing:
            self.text.show(snapshot.main.corpus, self.mode, snapshot.coming)

    # Typing into it.

    def type_anew(self) -> None:
        """Let the next `begin` open an empty text, unless a text was typed already."""
        self._anew = not self.edited

    async def begin(self) -> None:
        """Open the editor with the corpus, or with the text typed before.

        If the corpus cannot be edited, show why; a second call then opens an empty text.

        Raises:
            NotYet: There is no snapshot, or a corpus is being opened.
        """
        now = self.engine.snapshot
        if now is None or self._opening or loads(now):
            raise NotYet(now)
        corpus = (now.corpus.name, now.corpus.bytes)
        anew, self._anew = self._anew, False
        if self._editor is not None and (self.edited or self.editing):
            await self._open(self._editor)
        elif anew or self._offered == corpus:
            await self._show("")
        else:
            self._show_whole(corpus)

    @work
    async def _show_whole(self, corpus: tuple[str, int]) -> None:
        """Ask for the whole corpus and open it in the editor; keys are held meanwhile. An error is shown."""
        with self.app.keys_kept("the text of the corpus"):
            try:
                text = await self.engine.ask(WholeText())
            except (TokentuiError, Cancelled) as error:
                self._show_refusal(error, corpus)
            else:
                await self._show(text, corpus)

    def _show_refusal(self, error: TokentuiError | Cancelled, corpus: tuple[str, int]) -> None:
        """Show why the corpus cannot be edited. After a `TokentuiError`, a second `begin` opens an empty
        text."""
        if isinstance(error, TokentuiError):
            self._offered = corpus
            offer = "t again: start with an empty text, which replaces this corpus once you type"
            error = TokentuiError(error.what, error.where, "; ".join(filter(None, (error.hint, offer))))
        self.app.tell(error)

    async def _show(self, text: str, corpus: tuple[str, int] = ("", 0)) -> None:
        """Open a text in a new editor, at the place that the pane shows if its offset is known. If the editor
        refuses the text, show the error; do nothing while one is open."""
        from tokentui.ui.panes.editor import CorpusEditor, refusal

        now = self.engine.snapshot
        if self.editing or now is None:
            return
        if refused := refusal(text):
            self._show_refusal(TokentuiError(refused, corpus[0]), corpus)
            return
        self.edited, self._offered = False, None
        # Of several documents it is not known where they begin in the text, of a normalized one how long it
        # was.
        place, exact = self.text.top_place, not now.main.recipe.normalize
        editor = CorpusEditor(text, self.changed)
        editor.placeholder = "" if text else "type the text to learn from; esc keeps the old one"
        await self._open(editor, place.offset if exact and not place.document else 0)

    async def _open(self, editor: CorpusEditor, offset: int = 0) -> None:
        """Show an editor in place of the tokens; a new one is mounted with its cursor at an offset in
        characters."""
        if editor is not self._editor:
            await self._drop()
            self._editor = editor
            await self.mount(editor)
            editor.go_to(offset)
        editor.display, self.text.display, self.editing = True, False, True
        self._turned()

    def end(self) -> None:
        """Close the editor, and show the corpus in tokens at the place of the cursor."""
        now = self.engine.snapshot
        typed = self._editor is not None and self.edited and now is not None and not now.main.recipe.normalize
        self._close(CorpusPlace(0, self._editor.line_offset) if self._editor is not None and typed else None)

    def _close(self, place: CorpusPlace | None = None) -> None:
        """Show the corpus in tokens, around a place or where it was; the editor keeps its text. Do nothing
        unless the editor is shown."""
        if self._editor is not None and self.editing:
            self.text.display, self._editor.display, self.editing = True, False, False
            self.text.begin_again(place)
            self._turned()

    async def _drop(self) -> None:
        """Close and remove the editor with its text; do nothing without one."""
        self._close()
        editor, self._editor = self._editor, None
        if editor is not None:
            await editor.remove()

    def changed(self) -> None:
        """Train on the text of the editor; do nothing without one."""
        if self._editor is not None:
            self.edited = True
            self._train(TrainOnText(self._editor.text))

    @work
    async def _train(self, command: TrainOnText) -> None:
        """Train on the text of the editor. An error is shown once; a command that is replaced shows nothing.
        """
        try:
            await self.engine.ask(command)
            self._said = None
        except Replaced:
            return
        except (TokentuiError, Cancelled) as error:
            self._show_training_error(error)

    def _show_training_error(self, error: TokentuiError | Cancelled) -> None:
        """Show an error of training on the typed text, unless it was shown last or another corpus is being
        opened. If the editor is closed, its text no longer counts as the corpus."""
        if self._opening:
            return
        if str(error) != self._said:  # once, and not at every key
            self._said = str(error)
            self.app.tell(error)
        if not self.editing:
            # What stands in the editor is not the corpus: the next time the corpus is asked for.
            self.edited = False
            self._turned()

    # While another corpus is opened.

    def give_way(self) -> None:
        """Close the editor and stop training on it while another corpus is opened; see `opened` and
        `come_back`."""
        self._was_edited = self.edited or (self._opening > 0 and self._was_edited)
        self._opening += 1
        self._close()
        self.edited = False

    async def opened(self) -> None:
        """Remove the editor after another corpus was opened."""
        self._opening -= 1
        self._offered, self.edited = None, False
        await self._drop()

    async def replaced(self, opening: Awaitable[object]) -> None:
        """Close the editor while another corpus is opened, and remove it. If opening fails, train on its text
        again, and raise the error.

        Raises:
            TokentuiError: Opening failed.
            Cancelled: It was stopped or replaced.
        """
        self.give_way()
        try:
            await opening
        except (TokentuiError, Cancelled):
            self.come_back()
            raise
        await self.opened()

    def come_back(self) -> None:
        """Train on the text of the editor again, if that was the corpus, after another corpus failed to open.
        """
        self._opening -= 1
        if self._was_edited and not self._opening:
            self.changed()
