"""The playground: a text at the left, its tokens by up to three tokenizers at the right."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.dom import DOMNode
from textual.timer import Timer
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from tokentui.core.errors import Cancelled, TokentuiError, in_words
from tokentui.core.safetext import GLYPH_MODES, GlyphMode, safe, to_bytes
from tokentui.core.table import plural
from tokentui.session.commands import (
    DecodePlayed,
    DescribePlayed,
    EncodePlayed,
    EncodePlayedChat,
    OpenPlayed,
    RenderPlayed,
)
from tokentui.session.persist.play_file import keep_left, preset_of, read_left
from tokentui.session.playground import (
    MOST_PLAYED,
    Played,
    PlayedText,
    PlayedToken,
    PlayStart,
    ids_in,
    preset_played,
)
from tokentui.session.snapshot import Snapshot
from tokentui.ui.bindings import Hint, Owners, actions_of, active_actions, key_sections
from tokentui.ui.dialogs.picker import in_thread
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.lines import KeyLine, Lines
from tokentui.ui.draw.text import Cell, Run, runs
from tokentui.ui.guard import Guarded, start_worker
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.panes.editor import MOST_EDITED, refusal
from tokentui.ui.panes.pane import TITLE_CORNERS
from tokentui.ui.panes.played import ChipList, ChipsMoved, PlayEditor, number_at
from tokentui.ui.settings import SETTINGS

REST_S = 0.3
"""The seconds without a letter after which the facts of the token under the cursor are shown."""
SAVE_S = 2.0
"""The seconds between two looks at whether there is something to keep for the next time."""
_PRICE = re.compile(r"([^\d.]{0,8}?)(\d{1,9}(?:\.\d{1,9})?)(\D{0,8})", re.ASCII)
_ORIGINS = {
    "special": "special", "template": "of the template", "content": "of messages (underlined)",
    "mixed": "of both",
}
"""The origins of tokens of a chat in words."""
_LAST = {"clear_corpus", "undo", "redo"}
"""The ids of the keys that come last in the footer."""
_LINE_CHARS = 500
"""The maximum number of characters of a text that a command line has."""
_ID_SOUGHT = re.compile("#?([0-9]{1,18})", re.ASCII)
_NARROW, _COLUMN = 60, 26
"""Below so many columns the panes stand one below the other; and so many each list of tokens needs."""
_PART_SHOWN = 24
_REOPENED = "the text of the last time: a letter replaces it, an arrow key keeps it"
_LEAVING: Cell = (
    ("esc", "key"), (" again goes to the explorer, ", ""), ("ctrl+q", "key"), (" quits; the text is kept", "")
)

if TYPE_CHECKING:
    from tokentui.session.views import EncodedToken


class Price(NamedTuple):
    """A price for a million tokens.

    Attributes:
        amount: The amount.
        before: The sign before an amount.
        after: The sign after it.
    """

    amount: float
    before: str = ""
    after: str = ""

    @classmethod
    def read(cls, text: str) -> Price | None:
        """Return the price that a text spells, such as `2.50`, `$2.50` or `2.50 EUR`; None for other texts.
        """
        found = _PRICE.fullmatch(text.strip())
        if found is None:
            return None
        return cls(float(found[2]), safe(found[1], limit=8), safe(found[3], limit=8))

    def of(self, tokens: int) -> str:
        """Return the price of a number of tokens, with at least two decimals and at least two significant
        digits."""
        cost = self.amount * tokens / 1_000_000
        digits = 2 if cost >= 1 or not cost else min(12, 1 - math.floor(math.log10(cost)))
        return f"{self.before}{cost:,.{max(2, digits)}f}{self.after}"


class PlayColumn(Guarded, Vertical):
    """The tokens of one tokenizer, and facts about the token under the cursor.

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
        self.rests = True
        """False while one types: facts would change at each letter."""
        self.told: PlayedToken | None = None
        """The token under the cursor in words."""

    def compose(self) -> ComposeResult:
        """Yield the tokens, and the facts below them."""
        yield self.chips
        yield self.facts

    @property
    def name_shown(self) -> str:
        """The name of the tokenizer as safe text, with its step if it is a training past the start."""
        wanted = self.played.wanted
        name = wanted.name or wanted.path
        if self.played.column is not None and self.played.step:
            name = f"{name}, step {number(self.played.step)}"
        return safe(name, limit=60)

    def name_it(self, price: Price | None) -> None:
        """Show the name of the tokenizer, the number of tokens, bytes per token and the price in the border.
        Before it is open, and after an error, only the name.

        Args:
            price: The price of a million tokens; None for none.
        """
        encoded = self.chips.encoded
        name: Cell = ((self.name_shown, ""),)
        if not self.open or encoded.error:
            self.border_title, self.border_subtitle = ui_text.join(name), None
            return
        total: Cell = ((" · ", "muted"), (plural(len(encoded.tokens), "token"), "strong"))
        room = self.outer_size.width - TITLE_CORNERS - ui_text.width(total)
        folder, slash, _ = self.name_shown.rpartition("/")
        if slash and ui_text.width(name) > room:
            name = ((folder, ""),)  # most files have the same name
        self.border_title = ui_text.join((*ui_text.clip(name, max(4, room)), *total))
        rate: list[Run] = []
        if count := len(encoded.tokens):
            rate = [(f"{len(to_bytes(encoded.text)) / count:.2f} B/token", "")]
            rate += [(" · ", "muted"), (price.of(count), "success")] if price is not None else []
            rate += [(" · lossy", "warning")] if encoded.lossy else []
        self.border_subtitle = ui_text.join(rate) if rate else None

    def _facts(self, width: int, height: int) -> Sequence[Cell]:
        """Return at most two lines on the token under the cursor: its bytes, id and size, then the step and
        parts of a merge or its kind, and the range of positions of its characters.

        Nothing while text is typed, or without a token there. What the session has not described yet is left
        out.
        """
        chips, told = self.chips, self.told
        if not self.rests or chips.cursor is None or chips.cursor >= len(chips.encoded.tokens):
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
                parts = (runs(part, limit=_PART_SHOWN) for part in told.parts)
                second = [(f"step {number(told.step)}", ""), (" · ", "muted")]
                second += [*ui_text.joined(parts, ("+", "accent")), (f" · {place}", "muted")]
            elif told.kind not in ("merge", "unit", "piece"):
                second += [(f" · {told.kind}", "muted")]
        if chips.cursor < len(chips.encoded.origins):
            first = (*first, ("  ", ""), (chips.encoded.origins[chips.cursor], "primary"))
        return [ui_text.clip(first, width), ui_text.clip(tuple(second), width)][:height]


def _plain(text: str) -> str:
    """Return the text of a token with spaces for `▁`."""
    return text.replace("▁", " ")


def _identity(token: int | None) -> Cell:
    return (("no id", "warning"),) if token is None else (("id ", "muted"), (str(token), "strong"))


class PlayScreen(EngineScreen[str]):
    """The playground: a text, and its tokens by several tokenizers. Its result is the text.

    Args:
        engine: The link to the session.
        start: The initial text, tokenizers and settings; what is missing is that of the last time.
        asks: True to close only after a second `esc`, for a playground with nothing of the user below it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", id="play_back", group=Hint(rank=9, always=True),
            tooltip="Leave the playground"),
        Binding("ctrl+o", "add", "add", id="play_add", group=Hint(rank=2), priority=True,
            tooltip="Add a tokenizer: a file, an encoding by name, or a preset"),
        Binding("f8", "remove", "remove", id="play_remove", group=Hint(rank=12),
            tooltip="Remove the tokenizer that has the focus, or the last one"),
        Binding("f9,ctrl+s", "save", "save", id="play_save", group=Hint(rank=3),
            tooltip="Save the text, its ids, a picture or a page, or copy the command that opens this again"),
        Binding("ctrl+r", "turn_chat", "chat", id="play_chat", group=Hint(rank=5),
            tooltip="Read the text as messages, and render them by the chat template of the tokenizer; press "
            "again for ChatML, and for Llama 2's"),
        Binding("f7", "decode", "ids to text", id="play_decode", group=Hint(rank=7), priority=True,
            tooltip="Put the text of the listed ids in their place, and check that it encodes to them"),
        # The base class of the editor deletes a word by this key.
        Binding("ctrl+f", "find", "find", id="play_find", group=Hint(rank=5), priority=True,
            tooltip="Find a text, a token, or an id such as #484"),
        Binding("f3", "find_again", "next match", id="play_find_next", group=Hint(rank=11),
            tooltip="Go to the next match"),
        Binding("f4", "edit", "$EDITOR", id="play_editor", group=Hint(rank=13),
            tooltip="Edit the text with the program that the variable VISUAL or EDITOR names"),
        Binding("ctrl+g", "cycle_view", "view", id="play_view", group=Hint(rank=10),
            tooltip="Show tokens as text, escapes, hex bytes, or code points"),
        Binding("f1", "show_keys", "help", id="play_help", group=Hint(rank=8, always=True),
            tooltip="Explain the focused pane; ? then shows all keys"),
        # The base class of the editor selects a line by this key.
        Binding("f6", "next_pane(1)", "pane", id="play_pane", priority=True, group=Hint(rank=1),
            tooltip="Go from the text to the tokens, and back"),
        Binding("f2", "turn_special", "special", id="play_special", group=Hint(rank=6),
            tooltip="Encode text that spells a special token as that token, or as text"),
        Binding("ctrl+n", "copy_ids", "copy ids", id="play_copy", group=Hint(rank=4),
            tooltip="Copy the ids of the text"),
    ]
    KEY_OWNERS: ClassVar[Owners] = (("prompt", PlayEditor), ("chips", ChipList))
    AUTO_FOCUS = ""

    def __init__(self, engine: EngineLink, start: PlayStart, *, asks: bool = False) -> None:
        super().__init__(engine)
        self._asks = asks
        self._reopened = start.text is None
        """True if the text is that of the last time."""
        if start.text is None or not start.tokenizers:
            left = read_left()
            if start.text is None:
                start = replace(left, tokenizers=start.tokenizers or left.tokenizers)
            else:
                start = replace(start, tokenizers=left.tokenizers)
        self._start, self._kept = start, start
        self.allow_special = start.allow_special
        """True if text that spells a special token is encoded as that token."""
        self.chat = False
        """True if the text is read as messages."""
        self.template = ""
        """The name of a usual chat template; empty for those of the tokenizers."""
        self.mode: GlyphMode = "text"
        self.sought = ""
        """The text that was looked for."""
        self._said: Cell = ()
        """What the line below the panes says besides the totals."""
        self._offered = False
        """True if the text lists ids, and the line below offers to decode them."""
        self._rest: Timer | None = None
        """Calls once nothing was typed for a moment; None at rest."""
        self._path = ""
        """The file that the text was saved to."""
        self.shown_text = ""
        """The text whose tokens are shown."""
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
        """Focus the text, open the tokenizers in a worker, and save the text every `SAVE_S` seconds.

        If the editor refuses the text, start without it and show why.
        """
        self.text_pane.border_title = ui_text.join((("Text", ""),))
        text = self._start.text or ""
        if refused := refusal(text):
            text, self._said = "", ((safe(refused, limit=200), "error"),)
        self.editor.load_text(text)
        self.editor.placeholder = "type or paste a text"
        self.set_focus(self.editor)
        self.lay_out()
        if self._start.offset:
            self.editor.go_to(min(self._start.offset, len(text)))
        if self._reopened and text:
            self.editor.selection = Selection(self.editor.document.end, (0, 0))
            self.say(_REOPENED)
        if not self._start.tokenizers and not self._said:
            self.say("no tokenizer was named: ctrl+o adds a file, an encoding by name, or another preset")
        self._name_columns()
        start_worker(self, "open", self._open_all)

        self.set_interval(SAVE_S, self._keep)

    # From and to the session.

    def follow(self, snapshot: Snapshot) -> None:
        """Ignore the snapshot: the tokenizers stay as they were when the playground was opened."""

    async def _open_all(self) -> None:
        """Open the tokenizers that are not open yet one after the other, and show each, or its error, at
        once.

        Those that failed are not tried again.
        """
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
        """Encode the changed text, hide the facts until nothing is typed for `REST_S` seconds, and check
        whether the text looks like ids.

        Clears the message once the text differs from the initial one.
        """
        for column in self.columns:
            column.rests = False
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST_S, self._rested)
        if self.editor.text != self._start.text:
            self._said = ()
        self._offered = not self.chat and bool(ids_in(self.editor.text))
        self._encode()

    def _rested(self) -> None:
        """Show the facts of the tokens under the cursors."""
        self._rest = None
        self._describe()

    def _encode(self) -> None:
        """Encode the text in a worker, which replaces one in progress."""
        self.totals.again()
        start_worker(self, "encode", self._encode_text)

    async def _encode_text(self) -> None:
        """Encode the text, or the chat, by all open tokenizers, and show the tokens, with the first warning
        as the message. The cursors of the tokens follow that of the text. Do nothing without an open
        tokenizer, and after a cancellation."""
        columns = [column for column in self.columns if column.open]
        if not columns:
            return
        text = self.editor.text
        played = tuple(column.played for column in columns)
        try:
            command = EncodePlayedChat(text, played, self.template) if self.chat else (
                EncodePlayed(text, played, self.allow_special))
            encoded = await self.engine.ask(command)
        except Cancelled:
            return
        self.shown_text = text
        offset = self.editor.offset_of(self.editor.cursor_location)
        for column, view in zip(columns, encoded, strict=True):
            others = [] if self.chat else [other for other in encoded if other is not view]
            column.chips.show(view, others, cursor=number_at(view, 0 if self.chat else offset))
        if warnings := list(dict.fromkeys(fault for view in encoded for fault in view.warnings)):
            self._said = ((safe(warnings[0], limit=200), "warning"),)
        self._name_columns()
        self.totals.again()
        for column in self.columns:
            column.facts.again()
        if self._rest is None:
            self._describe()

    # What is seen.

    def _name_columns(self) -> None:
        """Update the title of each column. A column that failed shows its error in place of tokens, one that
        is not open yet `opening …`."""
        for column in self.columns:
            column.name_it(self._price)
            if column.error:
                column.chips.show(PlayedText(error=column.error), ())
            elif not column.open:
                column.chips.show(PlayedText(), (), "opening …")

    def _key(self, id: str, owner: type[DOMNode] | None = None) -> str:
        """Return the key of a binding as a user reads it; empty for none.

        Args:
            id: The id of the binding.
            owner: The class that has it; None for this screen.
        """
        actions = actions_of(owner or type(self), self.app.user_keys)
        return next((action.shown_key for action in actions if action.id == id), "")

    @property
    def _price(self) -> Price | None:
        """The price in the settings; None for none."""
        return Price.read(str(self.app.user_settings.value_of(SETTINGS["price"])))

    def _totals(self, width: int, height: int) -> Sequence[Cell]:
        """Return the line with the size of the text, and how special tokens are encoded or where the tokens
        of a chat come from. If `height` allows, a second line has the message, or the offer to decode ids."""
        text = self.columns[0].chips.encoded.text if self.chat else self.editor.text
        line: list[Run] = [(" ", ""), (f"{number(len(to_bytes(text)))} B", "strong")]
        if self.chat:
            origins = Counter(self.columns[0].chips.encoded.origins)
            told = [f"{number(origins[name])} {what}" for name, what in _ORIGINS.items() if origins[name]]
            line += [(" · ", "muted"), ("chat: ", "warning"), (" · ".join(told), "")]
        else:
            special = "special tokens: as tokens" if self.allow_special else "special tokens: as text"
            line += [(" · ", "muted"), (special, "warning" if self.allow_special else "muted")]
        said = self._said
        if not said and self._offered:
            key = self._key("play_decode")
            said = (("these look like ids: ", "accent"), (key, "key"), (" decodes them", "accent"))
        if said and height > 1:
            return [ui_text.clip(tuple(line), width), ui_text.clip(((" ", ""), *said), width)]
        return [ui_text.clip(tuple(line), width)]

    def lay_out(self) -> None:
        """Arrange the panes side by side, or one below the other on a narrow terminal, and update the footer
        and titles."""
        width = self.app.size.width
        self.set_class(width < _NARROW, "-stacked")
        room = width * 3 // 5
        self.set_class(len(self.columns) * _COLUMN > room, "-rows")
        self.show_footer()
        self.call_after_refresh(self._name_columns)

    def on_resize(self) -> None:
        """Arrange the panes for the new size."""
        self.lay_out()

    def show_footer(self) -> None:
        """Show the keys that work for the widget with the focus; none while another screen is on top."""
        if self.app.screen is not self:
            self.footer_line.set_actions(())
            return
        actions = [action for action in active_actions(self, self.app.user_keys) if action.hint.rank]
        actions.sort(key=lambda action: (action.id in _LAST, action.hint.rank))
        self.footer_line.set_actions(actions)

    def on_descendant_focus(self) -> None:
        """Update the footer."""
        self.show_footer()

    def on_screen_resume(self) -> None:
        """Update the footer."""
        self.show_footer()

    # The cursor in the text and in the tokens.

    @on(TextArea.SelectionChanged)
    def _selection_changed(self, event: TextArea.SelectionChanged) -> None:
        """Show the position of the cursor, and move the cursors of the tokens to that of the text while it
        has the focus."""
        event.stop()
        if self._said == ((_REOPENED, "muted"),) and self.editor.selection.is_empty:
            self.say(f"the text of the last time: {self._key('clear_corpus', PlayEditor)} clears it")
        if self.focused is self.editor:
            self._follow_text()
        self.text_pane.border_subtitle = ui_text.join(((self.editor.position, "muted"),))

    def _follow_text(self) -> None:
        """Move the cursors of the tokens to that of the text, and describe the tokens there.

        Do nothing in a chat, whose tokens are those of another text, and until the typed text is encoded.
        """
        if self.chat or self.shown_text != self.editor.text:
            return  # what is typed moves the cursor as well: its tokens are on their way
        offset = self.editor.offset_of(self.editor.cursor_location)
        for column in self.columns:
            column.chips.put_cursor(number_at(column.chips.encoded, offset))
        self._describe()

    @on(ChipsMoved)
    def _chips_moved(self, event: ChipsMoved) -> None:
        """Select the characters of the token in the text, and move the cursors of the other tokenizers there.
        """
        event.stop()
        if event.note:
            self.say(event.note)
        start, end = event.chips.span
        if self.shown_text == self.editor.text and not self.chat:
            editor = self.editor
            editor.selection = Selection(editor.location_of(end), editor.location_of(start))
            editor.scroll_cursor_visible()
        for column in self.columns:
            if column.chips is not event.chips:
                column.chips.put_cursor(number_at(column.chips.encoded, start))
        self._describe()

    def _describe(self) -> None:
        """Show the facts of the tokens under the cursors, and ask for the missing ones in a worker."""
        for column in self.columns:
            column.rests = True
            column.facts.again()
        start_worker(self, "describe", self._describe_tokens)

    async def _describe_tokens(self) -> None:
        """Ask for the facts of the token under each cursor, and show them. After an error the facts stay as
        they are."""
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
        """End the chat if there is one. Otherwise save the text and close with it; with `asks`, ask for a
        second `esc` first."""
        if self.chat:
            self._read_as(chat=False)
            return
        if self._asks and self._said != _LEAVING:
            self._show_message(_LEAVING)
            return
        self._keep()
        self.dismiss(self.editor.text)

    @property
    def focused_column(self) -> PlayColumn | None:
        """The tokenizer whose tokens have the focus; None if the text has it."""
        return next((column for column in self.columns if column.chips.has_focus), None)

    def action_add(self) -> None:
        """Ask for a tokenizer, and add it at the right. If `MOST_PLAYED` are shown, show a message instead.
        """
        from tokentui.ui.dialogs.play import PlayAddScreen

        if len(self.columns) >= MOST_PLAYED:
            self.say(f"{MOST_PLAYED} tokenizers are shown at most: f8 removes one")
            return

        self.app.push_for_result(PlayAddScreen(self.engine), lambda wanted: self._add(Played(wanted)))

    def _add(self, played: Played) -> None:
        """Add a column for a tokenizer, and open it in a worker. If it is shown already, show a message
        instead."""
        if any(column.played == played for column in self.columns):
            self.say(f"{played.wanted.name or played.wanted.path} is shown already")
            return
        column = PlayColumn(played)
        column.chips.mode = self.mode
        self.columns.append(column)
        self.columns_box.mount(column)
        self.lay_out()
        self._name_columns()
        start_worker(self, "open", self._open_all)

    def action_remove(self) -> None:
        """Remove the tokenizer whose tokens have the focus, or the last one, and focus the text. If it is the
        only one, show a message instead."""
        if len(self.columns) == 1:
            self.say("one tokenizer stays: ctrl+o adds another one")
            return
        column = self.focused_column or self.columns[-1]
        self.columns.remove(column)
        self.set_focus(self.editor)
        column.remove()
        self.lay_out()
        self._encode()

    def action_save(self) -> None:
        """Open the dialog to save the text, its ids, a page or a picture, or to copy the command."""
        from tokentui.ui.dialogs.play import PlaySaveScreen

        text, special = self.editor.text, self.allow_special
        open_columns = [column.played for column in self.columns if column.open]
        first = (self.focused_column or self.columns[0]).played
        played = tuple(sorted(open_columns, key=lambda one: one != first))

        async def contents(kind: str) -> bytes:
            if kind == "svg":
                from tokentui.ui.draw.picture import Frame, made, picture_of

                return made([Frame(picture_of(self.app, self))], kind)
            if not played:
                raise TokentuiError("no tokenizer is open yet", "", "wait and try again")
            return await self.engine.ask(RenderPlayed(kind, played, text, special))

        def saved(path: str | None) -> None:
            self._path = path or self._path

        self.app.push_screen(PlaySaveScreen(self.engine, contents, self.command_line, self._path), saved)

    def command_line(self) -> str:
        """Return the command that opens the playground again with these tokenizers and this text, or the path
        that it was saved to. A text that is long or not printable is left to a file `prompt.txt`."""
        words = ["tokentui", "play"]
        for column in self.columns:
            name = column.played.wanted.path or preset_of(column.played)
            words += ["-t", name] if name else []
        text = self.editor.text
        if self._path:
            words.append(self._path)
        elif text and len(text) <= _LINE_CHARS and text.isprintable() and os.sep not in text:
            words += ["--", text] if text.startswith("-") else [text]
        elif text:
            words.append("prompt.txt")
        return shlex.join(words)

    def action_turn_chat(self) -> None:
        """Read the text as messages, by the templates of the tokenizers, then by each usual template, then as
        plain text again."""
        from tokentui.ui.dialogs.chat import next_template

        template = next_template(self.template) if self.chat else ""
        self._read_as(chat=not self.chat or bool(template), template=template)

    def _read_as(self, *, chat: bool, template: str = "") -> None:
        """Read the text as messages or as plain text, and encode it again.

        Args:
            chat: True for messages.
            template: The name of a usual template; empty for those of the tokenizers.
        """
        self.chat, self.template, self._said = chat, template, ()
        by = f" by {template}" if template else ""
        title: Cell = ((f"Messages{by}", ""), (" · user: … assistant: …", "muted"))
        self.text_pane.border_title = ui_text.join(title if self.chat else (("Text", ""),))
        self.shown_text = ""
        self._changed()

    @work
    async def action_decode(self) -> None:
        """Replace the text, a list of ids, by the decoded text, and show whether that encodes to the same
        ids.

        Without ids, or if decoding fails, show a message instead.

        Raises:
            TokentuiError: The tokenizer is not open yet.
        """
        ids, column = ids_in(self.editor.text), self.focused_column or self.columns[0]
        if not ids:
            self.say("no ids: a list of numbers, such as 464 4315 287, becomes text")
            return
        if not column.open:
            raise TokentuiError("no tokenizer is open yet", column.name_shown, "wait and try again")
        try:
            decoded = await self.engine.ask(DecodePlayed(column.played, ids, self.allow_special))
        except TokentuiError as error:
            self._show_message(((safe(in_words(error), limit=300), "error"),))
            return
        editor = self.editor
        editor.replace(decoded.text, (0, 0), editor.document.end, maintain_selection_offset=False)
        said = f"decoded {plural(len(ids), 'id')} of {column.name_shown}: "
        if decoded.same:
            self._said = ((said, ""), ("encode gives the same ids", "success"), ("; ctrl+t undoes", "muted"))
        else:
            where = f"encode differs from id {number(decoded.place + 1)} on"
            reason = f": {decoded.sentence}" if decoded.sentence else ""
            self._said = ((said, ""), (safe(where + reason, limit=300), "warning"))
        self.call_later(self._show_message, self._said)

    def _show_message(self, said: Cell) -> None:
        """Show a message below the panes, in place of the last one."""
        self._said = said
        self.totals.again()

    def say(self, text: str) -> None:
        """Show a message below the panes until the text changes."""
        self._show_message(((safe(text, limit=300), "muted"),))

    # Finding.

    def action_find(self) -> None:
        """Ask for a text, a token or an id, and go to its next match."""
        from tokentui.ui.dialogs import FindScreen

        def find(line: str) -> None:
            self.sought = line
            self.action_find_again()

        where = "text (or #id)" if self.focused is self.editor else "tokens (text, #id)"
        self.app.push_for_result(FindScreen(self.engine, where, self.sought), find)

    def action_find_again(self) -> None:
        """Mark all places of the text that was sought, and go to the next match, around the end; a message
        shows its number. In the text a match is a place, in a tokenizer a token that contains the text. `#id`
        finds an id, and so does a number that the text and the tokens do not contain."""
        sought, text = self.sought, self.shown_text
        named = _ID_SOUGHT.fullmatch(sought)
        column = self.focused_column
        places = [] if not sought else [found.start() for found in re.finditer(re.escape(sought), text)]
        for one in self.columns:
            one.chips.matched = [(at, at + len(sought)) for at in places]
            one.chips.again()
        if not sought:
            self.say("nothing to find: ctrl+f asks for it")
        elif named and (sought[:1] == "#" or not (places or self._has_text(column, sought))):
            wanted = int(named[1])
            self._find_token(column or self.columns[0], lambda token: token.id == wanted, f"id {wanted}")
        elif column is not None:
            def has_it(token: EncodedToken) -> bool:
                return sought in token.text or sought in _plain(token.text)

            self._find_token(column, has_it, sought)
        elif not places:
            self.say(f"not found: {sought}")
        else:
            here = self.editor.offset_of(min(self.editor.selection))
            at = next((at for at in places if at > here or (at == here == 0 and not self._said)), places[0])
            self.editor.selection = Selection(
                self.editor.location_of(at), self.editor.location_of(at + len(sought)))
            self.editor.scroll_cursor_visible()
            self.say(f"{number(places.index(at) + 1)} of {number(len(places))}: {sought}; f3 goes on")

    def _has_text(self, column: PlayColumn | None, sought: str) -> bool:
        """Return whether a token of a column contains a text; False without a column."""
        return column is not None and any(sought in token.text for token in column.chips.encoded.tokens)

    def _find_token(self, column: PlayColumn, wanted: Callable[[EncodedToken], bool], name: str) -> None:
        """Move the cursor to the next matching token, around the end, and show its number in a message, or
        that there is none. The first search may match the first token.

        Args:
            column: The column to search.
            wanted: Returns whether a token matches.
            name: What is sought, for the message.
        """
        chips = column.chips
        found = [at for at, token in enumerate(chips.encoded.tokens) if wanted(token)]
        if not found:
            self.say(f"not found in {column.name_shown}: {name}")
            return
        here = -1 if chips.cursor is None or (chips.cursor == 0 and not self._said) else chips.cursor
        at = next((at for at in found if at > here), found[0])
        chips.put_cursor(at)
        self._chips_moved(ChipsMoved(chips))
        self.say(f"{number(found.index(at) + 1)} of {number(len(found))}: {name}; f3 goes on")

    # The rest.

    def action_cycle_view(self) -> None:
        """Show tokens in the next of `GLYPH_MODES`."""
        self.mode = GLYPH_MODES[(GLYPH_MODES.index(self.mode) + 1) % len(GLYPH_MODES)]
        for column in self.columns:
            column.chips.mode = self.mode
            column.chips.put_cursor(column.chips.cursor)
        self.say(f"view: {self.mode}")

    def action_show_keys(self) -> None:
        """Open the help of the focused pane."""
        from tokentui.ui.dialogs.help import HelpScreen

        sections = key_sections(type(self), type(self.app), self.KEY_OWNERS, self.app.user_keys)
        pane = "prompt" if self.focused is self.editor else "chips"
        self.app.push_screen(HelpScreen(self.engine, sections, pane))

    def action_edit(self) -> None:
        """Edit the text with the program of `VISUAL` or `EDITOR`, and take what it saves.

        Raises:
            TokentuiError: No program is named, it cannot be run, or its text is too long.
        """
        from tokentui.ui.outside import edited

        text = edited(self.app, self.editor.text)
        if text != self.editor.text:
            if refused := refusal(text):
                raise TokentuiError(refused, "$EDITOR")
            self.editor.replace(text, (0, 0), self.editor.document.end, maintain_selection_offset=False)

    # What is kept.

    @property
    def left(self) -> PlayStart:
        """The text, tokenizers and settings to save for the next time."""
        played = tuple([column.played for column in self.columns])
        return PlayStart(self.editor.text, played, allow_special=self.allow_special)

    def _keep(self) -> None:
        """Save what is left for the next time in a worker, if it has changed and is not too long."""
        left = self.left
        if left != self._kept and len(left.text or "") <= MOST_EDITED:
            self._kept = left
            start_worker(self.app, "keep playground", partial(in_thread, partial(keep_left, left)))

    def action_next_pane(self, by: int) -> None:
        """Focus the pane `by` places further, around the end."""
        panes = [self.editor, *(column.chips for column in self.columns)]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        self.set_focus(panes[(at + by) % len(panes)])

    def action_turn_special(self) -> None:
        """Switch between encoding text that spells a special token as that token and as text, and encode
        again."""
        self.allow_special = not self.allow_special
        self._encode()

    def action_copy_ids(self) -> None:
        """Copy the ids of the tokenizer whose tokens have the focus, or of the first one, as JSON. Without
        ids say why."""
        column = self.focused_column or self.columns[0]
        encoded = column.chips.encoded
        if encoded.error or not column.open:
            reason = encoded.error or "it is not open yet"
            self.app.say(f"no ids of {column.name_shown}: {reason}", "warning")
            return
        ids = [token.id for token in encoded.tokens]
        self.app.copy_to_clipboard(json.dumps(ids))
        self.app.say(f"copied {plural(len(ids), 'id')} of {column.name_shown}")
