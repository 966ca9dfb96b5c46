"""The typed text with some merges left out at random: each draw, and what came of it. A key draws again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.table import plural
from tokentui.encode.sampling import Drawn, DrawnWord
from tokentui.encode.segment.dropout import LIKE
from tokentui.session.commands import Draw
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import CellText, ListDialog, labeled_input
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.field import Field
from tokentui.ui.link import EngineLink

_COLUMNS = (
    Column("", width=5, align="right"), Column("number", width=8, align="right", priority=1),
    Column("pair", flex=2, min_width=10, priority=3), Column("", flex=1, min_width=12, priority=2),
)
SHARES: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
"""The shares that a key goes through."""
_USUAL = SHARES.index(0.1)
_MOST_WORDS, _MOST_DRAWS, _SHOWN = 50, 200, 60


class DrawnScreen(ListDialog[None]):
    """Shows the draws of the typed text, and draws again.

    Args:
        engine: The link to the session.
    """

    HEADING = "Dropout"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again", "resample", id="dropout.again", group=Hint(pane="list"),
            tooltip="Sample new segmentations"),
        Binding("p", "turn_share", "probability", id="dropout.share", group=Hint(pane="list"),
            tooltip="Drop a different share of the merges"),
        Binding("l", "turn_like", "like", id="dropout.like", group=Hint(pane="list"),
            tooltip="Sample as another library does"),
        Binding("i,w", "ask_text", "text", id="dropout.text", group=Hint(pane="list"),
            tooltip="Sample segmentations of another text"),
        Binding("enter", HANDLED, "sample", group=Hint(pane="line")),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.drawn: Drawn | None = None
        """The draws, once they have come."""
        self.seed, self.share, self.like = 0, _USUAL, 0
        self._text = ""
        self.told, self.field = CellText("told"), Field()
        self.parts = self.told, self.listing, labeled_input("text", self.field, "edit"), self.notice

    def on_mount(self) -> None:
        """Draw."""
        super().on_mount()
        self._ask()

    # What is asked.

    def _ask(self) -> None:
        request = Draw(self._text, SHARES[self.share], tuple(LIKE)[self.like], self.seed)
        self.find_out(request, self._take, "drawing …", self._not_done)

    def _take(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.notice.say("")
        self.lay_out()

    def _not_done(self, error: TokentuiError | Cancelled) -> None:
        self.drawn = None
        self.notice.tell(error)
        self.lay_out()

    # What the user does.

    def action_again(self) -> None:
        """Draw by the next seed."""
        self.seed += 1
        self._ask()

    def action_turn_share(self) -> None:
        """Take the next share."""
        self.share = (self.share + 1) % len(SHARES)
        self._ask()

    def action_turn_like(self) -> None:
        """Draw as the next library does."""
        self.like = (self.like + 1) % len(LIKE)
        self._ask()

    def action_ask_text(self) -> None:
        """Type another text."""
        self.edit(self.field, self._text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Draw the typed text; nothing stands for the typed text of the screen."""
        if self.editing:
            self._text = event.value
            self.end_edit(self.listing)
            self._ask()

    # What is seen.

    def lay_out(self) -> None:
        """Show the draws in rows."""
        like = tuple(LIKE)[self.like]
        self.name_box(subtitle=f"seed {self.seed} · p {SHARES[self.share]:g} · like {like}")
        found = self.drawn
        if found is None:
            self.told.show(((LIKE[like].about, "muted"),))
            self.listing.show([], None, _COLUMNS)
            return
        ids: Cell = ((f"  {plural(len(found.encoding.ids), 'token')}", "muted"),)
        self.told.show((*_joined(found.encoding.tokens), *ids), ((LIKE[like].about, "muted"),))
        rows = [row for at, word in enumerate(found.words[:_MOST_WORDS]) for row in _word(at, word, found.p)]
        if (more := len(found.words) - _MOST_WORDS) > 0:
            rows.append(TableRow("more", ((), (), ((f"and {plural(more, 'more word')}", "muted"),), ())))
        self.listing.show(rows, self.listing.cursor_key, _COLUMNS)


def _word(at: int, word: DrawnWord, p: float) -> Iterator[TableRow]:
    """Yield a row for a word with its tokens, and one for each draw."""
    tokens = ["unknown" if piece is None else piece for piece in word.pieces]
    yield TableRow((at, "word"), ((), (), _joined(tokens), ((plural(len(word.draws), "draw"), "muted"),)))
    for n, draw in enumerate(word.draws[:_MOST_DRAWS]):
        style = "accent" if draw.merged else "muted" if draw.kept else "warning"
        pair: Cell = (("out of date", "muted"),)
        if draw.left and draw.right:
            pair = (*ui_text.runs(draw.left, limit=_SHOWN), (" + ", "muted"),
                *ui_text.runs(draw.right, limit=_SHOWN))
        figure = f"{draw.number:.4f}"
        yield TableRow((at, n), (
            ((number(n + 1), "muted"),), ((figure, ""),), pair,
            ((draw.fate, style), (f"  < {p:g}" if draw.fate == "dropped" else "", "muted")),
        ))
    if (more := len(word.draws) - _MOST_DRAWS) > 0:
        yield TableRow((at, "more"), ((), (), ((f"and {plural(more, 'more draw')}", "muted"),), ()))


def _joined(tokens: Sequence[str | bytes]) -> Cell:
    out: list[Run] = []
    for token in tokens:
        out += [("│", "muted")] if out else []
        out += ui_text.runs(token, limit=_SHOWN)
    return tuple(out) or (("nothing", "muted"),)
