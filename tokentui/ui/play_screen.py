"""The playground: a text at the left, its tokens by up to three tokenizers at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from tokentui.core.errors import Cancelled, TokentuiError, in_words
from tokentui.core.safetext import safe, to_bytes
from tokentui.core.table import plural
from tokentui.session.commands import DescribePlayed, EncodePlayed, OpenPlayed
from tokentui.session.playground import (
    MOST_PLAYED,
    Played,
    PlayedText,
    PlayedToken,
    PlayStart,
    preset_played,
)
from tokentui.session.snapshot import Snapshot
from tokentui.ui.bindings import Hint, Owners, active_actions
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import KeyLine, Lines
from tokentui.ui.draw.text import Cell, Run, runs
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.panes.pane import TITLE_CORNERS
from tokentui.ui.panes.played import ChipList, ChipsMoved, PlayEditor

_NARROW, _COLUMN = 60, 26
"""Below so many columns the panes stand one below the other; and so many each list of tokens needs."""
_PART_SHOWN = 24


class PlayColumn(Vertical):
    """The tokens of one tokenizer, and facts about the one under the cursor.

    Args:
        played: The tokenizer.
    """

    def __init__(self, played: Played) -> None:
        super().__init__(classes="pane")
        self.played = played
        self.error = ""
        """Why the tokenizer could not be opened."""
        self.open = False
        self.chips = ChipList()
        self.facts = Lines(self._facts, classes="facts")
        self.told: PlayedToken | None = None
        """The token under the cursor in words."""

    def compose(self) -> ComposeResult:
        """Yield the tokens, and the facts below them."""
        yield self.chips
        yield self.facts

    @property
    def name_shown(self) -> str:
        """The name of the tokenizer, safe."""
        wanted = self.played.wanted
        name = wanted.name or wanted.path
        if self.played.column is not None and self.played.step:
            name = f"{name}, step {number(self.played.step)}"
        return safe(name, limit=60)

    def name_it(self) -> None:
        """Write name and totals into the border."""
        encoded = self.chips.encoded
        name: Cell = ((self.name_shown, ""),)
        if not self.open or encoded.error:
            self.border_title = ui_text.join(name)
            return
        total: Cell = ((" · ", "muted"), (plural(len(encoded.tokens), "token"), "strong"))
        room = self.outer_size.width - TITLE_CORNERS - ui_text.width(total)
        self.border_title = ui_text.join((*ui_text.clip(name, max(4, room)), *total))

    def _facts(self, width: int, height: int) -> Sequence[Cell]:
        chips, told = self.chips, self.told
        if chips.cursor is None or chips.cursor >= len(chips.encoded.tokens):
            return ()
        token = chips.encoded.tokens[chips.cursor]
        data = token.text if token.piece is None else token.piece
        first: Cell = (*runs(data, limit=40), ("  ", ""), *_identity(token.id))
        if told is not None and told.id == token.id:
            first = (*first, (f"  {plural(told.size, 'byte')}", "muted"))
        place = f"{number(token.start)}–{number(token.end)}"
        second: list[Run] = [("characters " if token.end - token.start != 1 else "character ", "muted"),
            (place if token.end - token.start != 1 else number(token.start), "")]
        if told is not None and told.id == token.id and told.id is not None:
            if told.parts:
                second = [(f"step {number(told.step)}", ""), (" · ", "muted")]
                for n, part in enumerate(told.parts):
                    second += [("+", "accent")] if n else []
                    second += runs(part, limit=_PART_SHOWN)
                second += [(f" · {place}", "muted")]
            elif told.kind not in ("merge", "unit"):
                second += [(f" · {told.kind}", "muted")]
        return [ui_text.clip(first, width), ui_text.clip(tuple(second), width)][:height]


def _identity(token: int | None) -> Cell:
    return (("no id", "warning"),) if token is None else (("id ", "muted"), (str(token), "strong"))


class PlayScreen(EngineScreen[str]):
    """The playground. Its result is the text.

    Args:
        engine: The link to the session.
        start: What it begins with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", id="play_back", group=Hint(rank=9),
            tooltip="Leave the playground"),
        # The base class of the editor selects a line by this key.
        Binding("f6", "next_pane(1)", "pane", id="play_pane", priority=True, group=Hint(rank=1),
            tooltip="Go from the text to the tokens, and back"),
        Binding("f2", "turn_special", "special tokens", id="play_special", group=Hint(rank=4),
            tooltip="Encode text that spells a special token as that token, or as text"),
        Binding("ctrl+n", "copy_ids", "copy ids", id="play_copy", group=Hint(rank=3),
            tooltip="Copy the ids of the text"),
    ]
    KEY_OWNERS: ClassVar[Owners] = (("text", PlayEditor), ("tokens", ChipList))
    AUTO_FOCUS = ""

    def __init__(self, engine: EngineLink, start: PlayStart) -> None:
        super().__init__(engine)
        self._start = start
        self.allow_special = False
        """True if text that spells a special token is encoded as that token."""
        self.shown_text = ""
        """The text whose tokens are seen."""
        self.editor = PlayEditor("", self._changed)
        self.text_pane = Vertical(self.editor, classes="pane", id="play-text")
        self.columns = [PlayColumn(played) for played in start.tokenizers[:MOST_PLAYED] or (preset_played(),)]
        self.columns_box = Container(*self.columns, id="play-columns")
        self.totals = Lines(self._totals, id="play-totals")
        self.footer_line = KeyLine(indent=1)

    def compose(self) -> ComposeResult:
        """Yield the panes, the totals and the keys."""
        yield Horizontal(self.text_pane, self.columns_box, id="play")
        yield self.totals
        yield self.footer_line

    def on_mount(self) -> None:
        """Begin in the text, and open the tokenizers."""
        self.text_pane.border_title = ui_text.join((("Text", ""),))
        self.editor.load_text(self._start.text or "")
        self.editor.placeholder = "type or paste a text"
        self.set_focus(self.editor)
        self.lay_out()
        if self._start.offset:
            self.editor.go_to(min(self._start.offset, len(self._start.text or "")))
        self._name_columns()
        start_worker(self, "open", self._open_all)

    # From and to the session.

    def follow(self, snapshot: Snapshot) -> None:
        """Stay with the tokenizers as they were when the playground was opened."""

    async def _open_all(self) -> None:
        """Open the tokenizers one after the other; show each as soon as it is there."""
        for column in list(self.columns):
            if column.open or column.error:
                continue
            try:
                await self.engine.ask(OpenPlayed(column.played))
            except (TokentuiError, Cancelled) as error:
                column.error = in_words(error)
                self._name_columns()
            else:
                column.open = True
                self._encode()

    def _changed(self) -> None:
        self._encode()

    def _encode(self) -> None:
        start_worker(self, "encode", self._encode_text)

    async def _encode_text(self) -> None:
        columns = [column for column in self.columns if column.open]
        if not columns:
            return
        text = self.editor.text
        played = tuple(column.played for column in columns)
        try:
            encoded = await self.engine.ask(EncodePlayed(text, played, self.allow_special))
        except Cancelled:
            return
        self.shown_text = text
        for column, view in zip(columns, encoded, strict=True):
            others = [other for other in encoded if other is not view]
            column.chips.show(view, others)
        self._name_columns()
        self.totals.again()
        self._follow_text()

    # What is seen.

    def _name_columns(self) -> None:
        for column in self.columns:
            column.name_it()
            if column.error:
                column.chips.show(PlayedText(error=column.error), ())
            elif not column.open:
                column.chips.show(PlayedText(), (), "opening …")

    def _totals(self, width: int, height: int) -> Sequence[Cell]:
        text = self.editor.text
        size = len(to_bytes(text))
        line: list[Run] = [(" ", ""), (f"{number(size)} B", "strong")]
        many = len(self.columns) > 1
        for column in self.columns:
            count = len(column.chips.encoded.tokens)
            if count and column.open:
                line += [(" · ", "muted")]
                line += [(f"{column.name_shown} ", "muted")] if many else []
                line += [(f"{size / count:.2f} B/token", "")]
                if column.chips.encoded.lossy:
                    line += [(" lossy", "warning")]
        special = "special tokens: as tokens" if self.allow_special else "special tokens: as text"
        line += [(" · ", "muted"), (special, "warning" if self.allow_special else "muted")]
        return [ui_text.clip(tuple(line), width)]

    def lay_out(self) -> None:
        """Put the panes side by side, or one below the other where there is little room."""
        width = self.app.size.width
        self.set_class(width < _NARROW, "-stacked")
        room = width * 3 // 5
        self.set_class(len(self.columns) * _COLUMN > room, "-rows")
        self.show_footer()
        self.call_after_refresh(self._name_columns)

    def on_resize(self) -> None:
        """Fit the panes to the room."""
        self.lay_out()

    def show_footer(self) -> None:
        """Show the keys that work where the focus is."""
        if self.app.screen is not self:
            self.footer_line.set_actions(())
            return
        actions = [action for action in active_actions(self, self.app.user_keys) if action.hint.rank]
        self.footer_line.set_actions(sorted(actions, key=lambda action: action.hint.rank))

    def on_descendant_focus(self) -> None:
        """Show other keys."""
        self.show_footer()

    def on_screen_resume(self) -> None:
        """Show the keys again."""
        self.show_footer()

    # The cursor in the text and in the tokens.

    @on(TextArea.SelectionChanged)
    def _selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        if self.editor.has_focus:
            self._follow_text()
        self.text_pane.border_subtitle = ui_text.join(((self.editor.position, "muted"),))

    def _follow_text(self) -> None:
        """Put the cursors of the tokens where that of the text is."""
        if self.shown_text is not self.editor.text and self.shown_text != self.editor.text:
            return
        offset = self.editor.offset_of(self.editor.cursor_location)
        for column in self.columns:
            column.chips.put_cursor(column.chips.number_at(offset))
        self._describe()

    @on(ChipsMoved)
    def _chips_moved(self, event: ChipsMoved) -> None:
        """Select the characters of the token in the text, and its neighbors in the other tokenizers."""
        event.stop()
        start, end = event.chips.span
        if self.shown_text == self.editor.text:
            editor = self.editor
            editor.selection = Selection(editor.location_of(end), editor.location_of(start))
            editor.scroll_cursor_visible()
        for column in self.columns:
            if column.chips is not event.chips:
                column.chips.put_cursor(column.chips.number_at(start))
        self._describe()

    def _describe(self) -> None:
        for column in self.columns:
            column.facts.again()
        start_worker(self, "describe", self._describe_tokens)

    async def _describe_tokens(self) -> None:
        wanted = []
        for column in self.columns:
            chips = column.chips
            if column.open and chips.cursor is not None and chips.cursor < len(chips.encoded.tokens):
                wanted.append((column, chips.encoded.tokens[chips.cursor].id))
        if not wanted:
            return
        try:
            told = await self.engine.ask(DescribePlayed(tuple((one.played, token) for one, token in wanted)))
        except (TokentuiError, Cancelled):
            return
        for (column, _), token in zip(wanted, told, strict=True):
            column.told = token
            column.facts.again()

    # What keys do.

    def action_leave(self) -> None:
        """Leave with the text."""
        self.dismiss(self.editor.text)

    def action_next_pane(self, by: int) -> None:
        """Go to the next pane, or the one before if negative."""
        panes = [self.editor, *(column.chips for column in self.columns)]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        self.set_focus(panes[(at + by) % len(panes)])

    def action_turn_special(self) -> None:
        """Encode the names of special tokens as tokens, or as text."""
        self.allow_special = not self.allow_special
        self._encode()

    def action_copy_ids(self) -> None:
        """Copy the ids of the tokenizer that has the focus, else of the first one."""
        column = next((column for column in self.columns if column.chips.has_focus), self.columns[0])
        ids = [token.id for token in column.chips.encoded.tokens]
        self.app.copy_to_clipboard(str(ids))
        self.app.say(f"copied {plural(len(ids), 'id')} of {column.name_shown}")
