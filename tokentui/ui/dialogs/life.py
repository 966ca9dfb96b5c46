"""The life of a word: a row for each step that changed its tokens.

The run goes to the step of the row. The panes follow it, so that the corpus shows the word at that step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe
from tokentui.session.commands import Find, GoTo, LifeOfWord
from tokentui.session.training.token_values import Turn, WordLife
from tokentui.session.views import CorpusPlace
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import Dialog, ListDialog, row_key, words_of
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.panes.corpus import CorpusText, Marked

_COLUMNS = (Column(width=11, align="right", priority=1), Column(flex=1, min_width=14, priority=2))
_SHOWN = 60
_FOOT = 2
"""The lines at the foot of the screen below: the step and the keys."""

_STEP = Hint("step", pane="list", count=2)


class LifeScreen(ListDialog[None]):
    """Lists the steps that segmented a word differently, and moves the run to the step of the row.

    The box leaves the upper half of the corpus free, and the typed text. The corpus takes the whole width,
    marks the word, and shows only the word in tokens. The panes next to it and dialogs below, such as the
    inspector, are hidden meanwhile: at each step all of them would change, which costs 4 kB on the line.

    Args:
        engine: The link to the session.
        text: The text that contains the word.
        place: A character offset in the word.
    """

    HEADING, dims = "Life", False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,down", HANDLED, "steps", group=Hint(count=2)),
        Binding("left", "move(-1)", "previous step", id="life.previous", group=_STEP,
            tooltip="Go to the previous step of the word"),
        Binding("right", "move(1)", "next step", id="life.next", group=_STEP,
            tooltip="Go to the next step of the word"),
        Binding("enter", HANDLED, "stay here"),
    ]

    def __init__(self, engine: EngineLink, text: str, place: int = 0) -> None:
        super().__init__(engine, f"Life of ‘{ui_text_of(text)}’")
        self._asks = LifeOfWord(text, place)
        self.life: WordLife | None = None
        """The steps of its life, once they have come."""
        self._said = ""
        self._origin: int | None = None
        self._at: int | None = None
        """The step that the run was sent to last."""
        self._panes: Screen[object] | None = None
        """The screen that has the panes."""
        self._boxes: list[Widget] = []
        """The hidden boxes of the dialogs between that screen and this one."""
        self._before: Marked | None = None
        """What the corpus pane showed and marked before; None while it marks the word."""

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows; the run follows."""
        self.listing.move(rows)

    @property
    def _text(self) -> CorpusText | None:
        """The corpus pane if it is visible; None otherwise."""
        panes = self._panes.query(CorpusText) if self._panes is not None else ()
        return next((pane for pane in panes if pane.region), None)

    @property
    def _free(self) -> tuple[int, int]:
        """The number of lines to leave free above the box, and below it.

        The typed text stays visible below the box if it is in the lower half of the screen. Half of the other
        lines are left free above.
        """
        height, encode = self.app.size.height, None
        if self._panes is not None:
            encode = next((pane for pane in self._panes.query("#encode") if pane.region), None)
        below = height - encode.region.y if encode and encode.region.y >= height // 2 else _FOOT
        return (height - below) // 2, below

    def on_mount(self) -> None:
        """Hide the boxes of the dialogs below, note the current step, and ask for the life of the word."""
        super().on_mount()
        for screen in reversed(self.app.screen_stack[:-1]):
            if not isinstance(screen, Dialog):
                self._panes = screen
                break
            self._boxes.append(screen.box)
            screen.box.visible = False
        if self.now is not None:
            self._origin = self.now.main.at.step
        self.start_asking("looking up the steps of the word …", self._show_life)

    def on_unmount(self) -> None:
        """Show hidden widgets again, also if the dialog was closed by code."""
        self._show_hidden()

    def _widen_corpus(self) -> None:
        """Hide the panes beside the corpus if that is visible. A resize of the screen below shows them again.
        """
        if self._panes is not None and self._text is not None:
            for pane in self._panes.query("#panes > *"):
                if not pane.query(CorpusText):
                    pane.display = False

    def _show_hidden(self) -> None:
        """Show the hidden dialogs and panes again. A second call only lays out the screen below."""
        for box in self._boxes:
            box.visible = True
        self._boxes.clear()
        if isinstance(self._panes, EngineScreen):
            self._panes.lay_out()

    async def _show_life(self) -> None:
        """Ask for the life of the word, and list it with the cursor on its last step. Name the word in the
        title, and mark it in the corpus."""
        self.life = life = await self.ask(self._asks)
        self._at = life.turns[-1].number
        if self._origin is None:
            self._origin = life.number
        summary = f"{len(life.turns) - 1} of {number(life.number)} steps changed it"
        self.name_box(f"Life of ‘{ui_text_of(life.word)}’", summary)
        self.lay_out()
        self.listing.move_to(len(life.turns) - 1)
        self._mark(life.word.strip(" ▁"))

    @work
    async def _mark(self, word: str) -> None:
        """Mark a word in the corpus, and scroll to its next place, above this box.

        Do nothing for an empty word, or if the corpus is not visible.
        """
        text = self._text
        if text is None or not word:
            return
        self._before = text.marked
        text.mark(word)
        match = await self.engine.ask(Find("corpus", word, text.top_place, mode=text.mode))
        if match is not None and isinstance(match.at, CorpusPlace):
            text.show_place(match.at, len(word), self.box.region.y - text.region.y)

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show in the list why there is no answer."""
        self._said = words_of(error)
        self.lay_out()

    def lay_out(self) -> None:
        """Show the rows, fit the box above the typed text, and hide the panes beside the corpus."""
        self._widen_corpus()
        rows = list(self._rows())
        self.tell(_COLUMNS, rows, words=True, keep=self._at)
        above, below = self._free
        self.fit_height(len(self.listing.rows), above + below)
        self.box.styles.margin = (0, 0, below, 0)

    def _rows(self) -> Iterator[TableRow]:
        """Yield a row for each step of the word: its number, the tokens, and the merge. Before the answer,
        yield one row with what it waits for, or the error."""
        if self.life is None:
            status = self._said or self.awaited or self.waits
            yield TableRow(None, (((status, "error" if self._said else "muted"),),))
            return
        for turn in self.life.turns:
            label = f"step {number(turn.number)}" if turn.number else "start"
            word = _segmented(turn, self.app.chips)
            yield TableRow(turn.number, (((label, "muted"),), word, _made_by(turn)))

    def on_virtual_table_cursor_moved(self, event: Listing.CursorMoved) -> None:
        """Send the run to the step of the row, unless it was sent there last. Do nothing before the answer.
        """
        key = row_key(event.key)
        if isinstance(key, int) and self.life is not None and key != self._at:
            self._at = key
            self.engine.send(GoTo(key))

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Restore the panes and close; the run stays at the step."""
        self._restore_panes()
        self.dismiss(None)

    def action_leave(self) -> None:
        """Restore the panes and close. Move the run back to where it was, unless the cursor is on the last
        step."""
        if self.life is not None and self._origin is not None and self._at != self.life.turns[-1].number:
            self.engine.send(GoTo(self._origin))
        self._restore_panes()
        self.dismiss(None)

    def _restore_panes(self) -> None:
        """Restore the panes and the marks of the corpus, before the screen below is drawn; a dialog is
        unmounted later."""
        self._show_hidden()
        text = self._text
        if text is not None and self._before is not None:
            text.restore(self._before)


def ui_text_of(text: str) -> str:
    """Return a text in visible characters for a title, cut to 30 characters."""
    return "".join(part for part, _ in ui_text.runs(text, limit=30))


def _segmented(turn: Turn, chips: bool) -> Cell:
    """Return the word of a step, split into its tokens, of which at most 60 characters are shown. An empty
    token is shown as `unknown`.

    Args:
        turn: The step.
        chips: True to show tokens as chips, otherwise with bars.
    """
    return ui_text.segmented([piece or "unknown" for piece in turn.pieces], chips, limit=_SHOWN)


def _made_by(turn: Turn) -> Cell:
    """Return the parts of the merge of a step, or what it did in words; empty for the start."""
    if not turn.parts:
        return (("  " + safe(turn.said, limit=200), "muted"),) if turn.said != "start" else ()
    shown = (ui_text.tinted(ui_text.runs(part, limit=_SHOWN), "muted") for part in turn.parts)
    return (("  ", ""), *ui_text.joined(shown, (" + ", "muted")))
