"""The base of all dialogs: a box over the screen, a line of keys at its foot, and esc to leave."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.session.commands import Command
from tokentui.session.snapshot import Snapshot
from tokentui.ui.bindings import HANDLED, BoundAction, Hint, bindings_of, dialog_actions
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.lines import KeyLine
from tokentui.ui.draw.table import Column, Listing, TableRow, place_columns
from tokentui.ui.draw.text import Cell, Copied, join, safe_content
from tokentui.ui.field import Field, lines_of, typed_beyond
from tokentui.ui.guard import Guarded, start_worker
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.waits import under_way, waits_for

Answer = TypeVar("Answer")
Result = TypeVar("Result")

# Every dialog has these keys. The line of keys shows them after the keys of the dialog itself.
BACK = Binding("escape", "leave", "back", id="dialog.leave", group=Hint(always=True),
    tooltip="Leave the input line, end finding and the filter, leave the dialog")
COPY = Binding("y", "copy", "copy", id="dialog.copy", group=Hint(pane="list"),
    tooltip="Copy the selected row, a token, or ids")
HELP = Binding("question_mark", "show_help", "help", id="dialog.help",
    group=Hint(pane="list chart", always=True), tooltip="List the keys of the dialog, and explain its chart")
FINDER = Binding("colon,ctrl+p", "find_anything", "find anything", id="dialog.finder",
    group=Hint(pane="help"), tooltip="Open the finder; its actions close the dialog first")
_SEARCHED = "list formats table"
"""The ids of lists that are searched."""
FIND = Binding("slash", "find", "find", id="dialog.find", group=Hint(pane=_SEARCHED),
    tooltip="Find a text in the list")
FILTER = Binding("ampersand", "filter", "filter", id="dialog.filter", group=Hint(pane=_SEARCHED),
    tooltip="Show only the rows that contain a text; esc shows all")
SEARCH = frozenset({"dialog.find", "dialog.filter"})
SHARED = frozenset({"dialog.copy", "dialog.help", "dialog.finder", *SEARCH})
"""The ids of these keys, but for that of esc: characters that are typed while a line to type in is open."""
SCROLL = Binding("up,down", HANDLED, "scroll", group=Hint(count=2))
"""The keys of a list or a text."""
_IN_HELP = Hint(pane="help")
"""The place of keys that the help of a dialog lists, and its line of keys does not."""


class Dialog(EngineScreen[Result], ModalScreen[Result]):
    """A box with a title over the screen it was pushed on; esc closes it without a result.

    A subclass gives `HEADING`, `BINDINGS` and the widgets of the box (`parts`). The line of keys shows the
    bindings with a description, those of its own class first, then those of the bases. The `pane` of a hint
    is the id of the widget with the focus.

    Its classes `-narrow`, `-medium` and `-wide`, `-short`, `-tall` and `-high` give the size of the screen.

    Args:
        engine: The link to the session.
        heading: The title; empty for `HEADING`.
        classes: Its initial classes.
    """

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    HEADING: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [COPY, HELP, FINDER, BACK]
    TYPED: ClassVar[frozenset[str]] = SHARED
    """The ids of the keys that are typed into the line beside the list."""
    dims = True
    """True to dim the screen behind it. One that is about what the panes show leaves it as it is."""
    # Textual's type of these is a list.
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-medium"), (100, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall"), (32, "-high")]  # noqa: RUF012

    def __init__(self, engine: EngineLink, heading: str = "", classes: str | None = None) -> None:
        super().__init__(engine, classes)
        self.heading = heading or self.HEADING
        self.now = engine.snapshot
        """The last snapshot; None before there is anything."""
        self.asking = ""
        """The work of the session that an answer is being waited for, in words; empty if for none."""
        self.named_actions: Sequence[BoundAction] = dialog_actions(type(self), engine.user_keys)
        """The actions that the class and its bases name, with the keys of the user."""
        self.shown_actions = self.named_actions
        """The actions that the line of keys shows, each while the part of its hint has the focus."""
        self.key_line, self.notice = KeyLine(), StatusLine()
        self.parts: Sequence[Widget] = ()
        """The widgets of the box above the line of keys, from top to bottom."""
        self.box = Vertical(classes="dialog")

    def compose(self) -> ComposeResult:
        """Yield the box with the parts and the line of keys, and set its title.

        Also adds the classes of Textual's breakpoints for the size of the screen, so that the box has its
        size from the first frame on.
        """
        # Textual gives these classes after the first layout: the box would be seen in one place and then in
        # another.
        for length, breakpoints in zip(self.app.size,
                (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True):
            self.add_class(max((pair for pair in breakpoints if length >= pair[0]), default=(0, ""))[1])
        with self.box:
            yield from self.parts
            yield self.key_line
        self.name_box(self.heading)
        self.show_keys()

    def render(self) -> RenderableType:
        """Return the screen below, with dimmed frames if `dims` is set."""
        shown = super().render()
        if self.dims and isinstance(shown, BackgroundScreen):
            return Dimmed(shown.screen, shown.color)
        return shown

    def on_descendant_focus(self) -> None:
        """Show the keys of the widget with the focus."""
        self.show_keys()

    def on_key(self, event: Key) -> None:
        """While another widget has the focus, type a character into the line of the dialog, if there is a
        visible one. Leave the keys that have an action of their own in the dialog."""
        line = self._line_beside()
        if line is None or event.key in _keys_with_actions(type(self), self.engine.user_keys):
            return
        typed = event.character if event.is_printable else typed_beyond(event)
        if typed:
            event.stop()
            event.prevent_default()
            self.type_into(line, typed)

    def on_paste(self, event: Paste) -> None:
        """Paste the first line of a text into the line of the dialog while another widget has the focus; do
        nothing without a visible line."""
        if (line := self._line_beside()) is not None and event.text:
            event.stop()
            self.type_into(line, lines_of(event.text).split("\n", 1)[0])

    def _line_beside(self) -> Field | None:
        """Return the visible line of the dialog while another widget has the focus; None while an input has
        it, or if no line is visible."""
        if isinstance(self.focused, Input):
            return None
        return next((widget for widget in self.focus_chain if isinstance(widget, Field)), None)

    def type_into(self, line: Field, text: str) -> None:
        """Append a text to the line, and focus it."""
        line.select_on_focus = False  # else the next character would replace this one
        line.put(line.value + text)
        self.set_focus(line)

    def action_show_help(self) -> None:
        """Open the list of the keys of the dialog, below `explanation`."""
        self.app.push_screen(
            KeysScreen(self.engine, self.heading or self.HEADING, self.shown_actions, self.explanation))

    @property
    def explanation(self) -> Sequence[str]:
        """The paragraphs above the keys in the help; none by default."""
        return ()

    def action_find_anything(self) -> None:
        """Open the finder of the screen below the dialogs; do nothing if that has none. An input with the
        focus keeps the keys (see `check_action`)."""
        stack = [screen for screen in self.app.screen_stack if not isinstance(screen, Dialog)]
        if stack and isinstance(below := stack[-1], EngineScreen):
            below.action_find_anything()

    def action_copy(self) -> None:
        """Ask which text of the dialog to copy: the row under the cursor, or one of `copied`."""
        self.app.ask_copy(self, self.copied())

    def copied(self) -> Iterator[Copied]:
        """Yield the texts that can be copied besides the row under the cursor; none by default."""
        yield from ()

    def show_keys(self) -> None:
        """Show the keys for the widget with the focus: `line` for an input, else its id, else `list`."""
        focused = self.focused
        part = "line" if isinstance(focused, Input) else (focused and focused.id) or "list"
        self.key_line.set_actions([
            action for action in self.shown_actions if part in (action.hint.pane or part).split()
        ])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return False for actions that the focused widget handles itself, so that its own bindings get their
        keys, and for the finder while an input has the focus; True otherwise."""
        if action == "find_anything" and isinstance(self.focused, Input):
            return False
        return action != HANDLED

    def name_box(self, title: str | None = None, subtitle: str | None = None) -> None:
        """Set the title and the subtitle of the box; the texts need not be safe. An empty text removes one,
        None leaves it."""
        if title is not None:
            self.box.border_title = safe_content(title) if title else None
        if subtitle is not None:
            self.box.border_subtitle = safe_content(subtitle) if subtitle else None

    def on_resize(self) -> None:
        """Call `lay_out` after the next refresh, when the widgets have their new sizes."""
        self.call_after_refresh(self.lay_out)

    @property
    def waits(self) -> str:
        """The work that the session does before it can answer; empty if it can answer at once."""
        return waits_for(self.now)

    @property
    def asked_so_far(self) -> str:
        """The progress of a long question and the time left, as text; empty if no long question runs."""
        asked = self.now.asked if self.now is not None else None
        return under_way(replace(asked, what="")) if asked is not None else ""

    @property
    def awaited(self) -> str:
        """What the dialog waits for, with its progress; empty while it waits for no answer."""
        return (self.waits or self.asking + self.asked_so_far) if self.asking else ""

    def follow(self, snapshot: Snapshot) -> None:
        """Keep a new snapshot in `now`; call `tell_waiting` if what the dialog waits for, or its progress,
        has changed."""
        before, self.now = (self.waits, self.asked_so_far), snapshot
        if self.is_mounted and (self.waits, self.asked_so_far) != before:
            self.tell_waiting()

    def tell_waiting(self) -> None:
        """Show what the dialog waits for in the notice; do nothing while it waits for no answer."""
        if self.asking:
            self.notice.say(self.awaited)

    def start_asking(
        self, asking: str, work: Callable[..., Coroutine[Any, Any, object]], *args: object
    ) -> None:
        """Run a coroutine function that asks the session in a worker, and cancel one that still runs.

        Shows that the dialog waits. A TokentuiError or Cancelled of the function goes to `fail`.

        Args:
            asking: What the session does until the first answer, in words.
            work: The function; it gets its answers by `ask`.
            args: Its arguments.
        """

        async def run() -> None:
            try:
                await work(*args)
            except (TokentuiError, Cancelled) as error:
                self.asking = ""
                self.fail(error)

        self._begin_waiting(asking)
        start_worker(self, "asked", run)

    async def ask(self, command: Command[Answer], asking: str = "") -> Answer:
        """Send a command and return its answer; only for functions run by `start_asking`. The dialog then
        waits no longer.

        Args:
            command: The command.
            asking: What the session does meanwhile, in words; empty to keep the words of `start_asking`.

        Raises:
            TokentuiError: The command failed.
            Cancelled: It was stopped or replaced.
        """
        if asking:
            self._begin_waiting(asking)
        answer = await self.engine.ask(command)
        self.asking = ""
        return answer

    def _begin_waiting(self, asking: str) -> None:
        """Set `asking`, and show it."""
        self.asking = asking
        self.tell_waiting()

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show in the notice why there is no answer."""
        self.notice.tell(error)

    @property
    def editing(self) -> bool:
        """True while the line to type in is open."""
        return self.has_class("-editing")

    def edit(self, field: Field, text: str) -> None:
        """Open the line to type in with a text, and focus it.

        Args:
            field: The line.
            text: Its text; it replaces what was there.
        """
        self.add_class("-editing")
        field.put(text)
        self.set_focus(field)

    def end_edit(self, back: Widget) -> None:
        """Hide the line to type in, and focus the widget `back`."""
        self.remove_class("-editing")
        self.set_focus(back)

    def fit_height(self, rows: int, least: int = 0) -> None:
        """Set the height of the box to fit its content: at least four lines, and at most what the screen
        leaves, or 86 % of a high screen.

        Args:
            rows: The lines of the content, without the frame, the line of keys and an open line to type in.
            least: The lines of the screen to leave free.
        """
        height = self.app.size.height
        room = height * 86 // 100 if self.has_class("-high") else height
        lines = rows + 3 + self.editing  # the frame, and the line of keys
        self.box.styles.height = max(4, min(room, height - least, lines))

    def action_leave(self) -> None:
        """Close the dialog without a result."""
        self.dismiss(None)


def _keys_with_actions(kind: type[Dialog[Any]], keymap: Mapping[str, str]) -> set[str]:
    """Return the keys that have an action of their own in a dialog class: not those in its `TYPED`, and not
    those that the focused widget handles."""
    return {
        key for binding, keys in bindings_of(kind, keymap) for key in keys
        if binding.id not in kind.TYPED and binding.action != HANDLED
    }


_FADED = 0.45
"""The share of the background in the text of a dimmed row."""
_FRAME = frozenset("┌└╔╚├╠─═━")
"""The signs that a row of a frame begins with."""
_LAST_ROWS = 2
"""The rows at the foot of a screen that are dimmed: the scrubber, and the line of keys."""


class Dimmed(BackgroundScreen):
    """A screen behind a dialog, with its frames, titles, first row and last rows in two colors.

    The rows of text keep their colors. To dim them too would send each cell once when the dialog comes and
    once more when it goes: 38 kB on a screen of 200x60. To mix colors, as Textual does, gives colors that
    terminals of 256 do not have.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        theme = self.screen.app.theme_variables
        text, ground = Color.parse(theme["foreground-muted"]), Color.parse(theme["background"])
        style = RichStyle(color=text.blend(ground, _FADED).rich_color, bgcolor=ground.rich_color)
        row: list[Segment] = []
        number, last = 0, self.screen.size.height - _LAST_ROWS
        for segment in super().__rich_console__(console, options):
            if not isinstance(segment, Segment):
                continue
            row.append(segment)
            if segment.text == "\n":
                framed = "".join(one.text for one in row).lstrip()[:1] in _FRAME
                dims = framed or number == 0 or number >= last
                for one in row:
                    yield Segment(one.text, style) if dims and not one.control else one
                number, row = number + 1, []
        yield from row


class FindScreen(Dialog[str]):
    """Asks for a text to find, in a line at the bottom. Its result is the text, "" to end finding, None if it
    was cancelled.

    Args:
        engine: The link to the session.
        pane: The name of what is searched, for the prompt.
        text: The initial text.
        verb: The words of the prompt before that name.
    """

    dims = False

    def __init__(self, engine: EngineLink, pane: str, text: str = "", verb: str = "find in") -> None:
        super().__init__(engine)
        self._pane, self._text, self._verb = pane, text, verb

    def compose(self) -> ComposeResult:
        """Yield the line to type the text in."""
        yield labeled_input(f" {self._verb} {self._pane} > ", Field(self._text), "bar")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the typed text, which may be empty."""
        self.dismiss(event.value)


class TableDialog(Dialog[Result]):
    """A dialog with a table, whose rows can be searched and filtered."""

    BINDINGS: ClassVar[list[BindingType]] = [FIND, FILTER]
    SEARCHED: ClassVar[str] = ""
    """What is searched, in words; empty for the title."""
    listing: Listing

    def end_search(self) -> bool:
        """End finding and the filter, and clear the notice. Return whether either was active; if not, do
        nothing."""
        searched = bool(self.listing.only or self.listing.find)
        if searched:
            self.listing.find = ""
            self.listing.filter("")
            self.notice.say("")
        return searched

    def action_leave(self) -> None:
        """End finding and the filter of the table; if neither is active, close."""
        if not self.end_search():
            self.dismiss(None)

    def action_find(self) -> None:
        """Ask for a text, highlight it in the rows, and go to the next row that contains it. An empty text
        ends finding."""

        def find(text: str) -> None:
            self.listing.find = text
            self.action_find_again(1)

        self._ask_for_text("find in", self.listing.find, find)

    def action_find_again(self, by: int) -> None:
        """Go to the next row with the text found last (`by` 1) or to the previous one (-1), around the end.
        If no row has it, say so in the notice; do nothing without a text."""
        if (text := self.listing.find) and not self.listing.find_row(text, by):
            self.notice.say(f"not found: {text}", "warning")

    def action_filter(self) -> None:
        """Ask for a text, and show only the rows that contain it; all rows for an empty text.

        The notice names the filter, or says that no row has the text.
        """

        def narrow(text: str) -> None:
            self.listing.filter(text)
            what, style = ("only rows with", "muted") if self.listing.rows else ("no row has", "warning")
            self.notice.say(f"{what} ‘{text}’ · esc shows all" if text else "", style)

        self._ask_for_text("only rows of", self.listing.only, narrow)

    def _ask_for_text(self, verb: str, text: str, take: Callable[[str], object]) -> None:
        """Ask for a text in a bar, and call `take` with it, even if it is empty; not if the user cancels.

        Args:
            verb: The words of the prompt before the name of what is searched.
            text: The initial text.
            take: Called with the text.
        """
        name = self.SEARCHED or (self.heading or self.HEADING).lower()
        self.app.push_for_result(FindScreen(self.engine, name, text, verb), take)


class ListDialog(TableDialog[Result]):
    """A dialog with a list, which has the focus at first and can be searched and filtered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        replace(SCROLL, group=Hint(pane="list", count=2)),
        Binding("full_stop", "find_again(1)", "next match", id="dialog.find_next", group=_IN_HELP,
            tooltip="Go to the next row with the text that was found"),
        Binding("comma", "find_again(-1)", "previous match", id="dialog.find_previous", group=_IN_HELP,
            tooltip="Go to the previous row with the text that was found"),
        Binding("q", "leave"),
    ]

    def __init__(self, engine: EngineLink, heading: str = "") -> None:
        super().__init__(engine, heading)
        self.listing = Listing()
        self.parts = (self.listing,)
        self._unsent = ""
        """The text that was in the line to type in when it was left."""

    def on_mount(self) -> None:
        """Focus the list, unless the line to type in is open."""
        if not self.editing:
            self.set_focus(self.listing)

    def action_leave(self) -> None:
        """Close the line to type in if it is open, and keep its text for the next `edit`. Otherwise end
        finding and the filter; if neither is active, close the dialog without a result."""
        if self.editing:
            self._unsent = next((field.value for field in self.query(Field) if field.has_focus), "")
            self.end_edit(self.listing)
        else:
            super().action_leave()

    def tell_waiting(self) -> None:
        """Lay out the list again, which shows what the dialog waits for."""
        self.lay_out()

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show in the notice why there is no answer, and lay out the list without it."""
        super().fail(error)
        self.lay_out()

    def edit(self, field: Field, text: str) -> None:
        """Open the line to type in with the text that was left in it last, otherwise with `text`, and focus
        it."""
        super().edit(field, self._unsent or text)
        self._unsent = ""

    def tell(
        self, columns: Sequence[Column], rows: Iterable[TableRow], *, words: bool = False,
        keep: Hashable = None,
    ) -> None:
        """Show rows in columns. Text too long for the last column continues in rows of its own below.

        A row may have one cell more than there are columns: it follows the last cell if both fit, otherwise
        it starts a row below.

        Args:
            columns: The columns.
            rows: The rows. `row_key` maps the key of any line to the key of its row.
            words: True to break between words.
            keep: The key of the row to put the cursor on; if there is none, the cursor stays at its index.
        """
        last = len(columns) - 1
        room = self.listing.size.width - 3  # but for the margin and the bar
        width = {n: width for n, width, _ in place_columns(tuple(columns), room)}.get(last, room)
        out = []
        for row in rows:
            parts = row.cells[last:]
            if row.key is not None:  # no heading
                whole = tuple(run for part in parts for run in part)
                parts = (whole,) if ui_text.width(whole) <= width else parts
                parts = tuple(line for part in parts for line in ui_text.wrap(part, width, words=words))
            for n, part in enumerate(parts):
                cells = (*(((),) * last if n else row.cells[:last]), part)
                out.append(replace(row, key=_FurtherLine(row.key, n) if n else row.key, cells=cells))
        self.listing.show(out, keep, columns)


def row_key(key: Hashable) -> Hashable:
    """Return the key of the row that a line belongs to, from the key of its first or a further line; see
    `ListDialog.tell`."""
    return key.row if isinstance(key, _FurtherLine) else key


class _FurtherLine(NamedTuple):
    """The key of a further line of a row.

    Attributes:
        row: The key of the row.
        line: The number of the line, from 1.
    """

    row: Hashable
    line: int


class CellText(Guarded, Static):
    """A text of one or more lines of cells, which `show` replaces.

    Args:
        classes: Its classes.
        id: Its id.
    """

    ALLOW_SELECT = False

    def __init__(self, classes: str = "", id: str | None = None) -> None:
        super().__init__("", classes=classes, id=id, markup=False)

    def show(self, *cells: Cell) -> None:
        """Show these cells, one per line, in place of the text before."""
        self.update(Content("\n").join(map(join, cells)))


class StatusLine(CellText):
    """The notice of a dialog: one line about what was last typed or tried."""

    def __init__(self) -> None:
        super().__init__("message")

    def say(self, text: str, style: str = "muted") -> None:
        """Show a text, safe or not, in a style of the palette; an empty text clears the line."""
        self.show(((text, style),))

    def tell(self, error: TokentuiError | Cancelled) -> None:
        """Show an error in the style of errors; "stopped" for `Cancelled`."""
        self.say(words_of(error), "error")


def words_of(error: TokentuiError | Cancelled) -> str:
    """Return an error as one line of safe text; "stopped" for `Cancelled`."""
    return safe_line(error) if isinstance(error, TokentuiError) else "stopped"


class KeysScreen(ListDialog[None]):
    """Lists the keys of a dialog; enter presses the key of the row.

    Args:
        engine: The link to the session.
        title: The title of the dialog.
        actions: The actions; those without keys are left out.
        explanation: Paragraphs to show above the keys.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "press"), Binding("question_mark", "leave"),
    ]

    def __init__(
        self, engine: EngineLink, title: str, actions: Sequence[BoundAction], explanation: Sequence[str] = ()
    ) -> None:
        super().__init__(engine, f"{'Help' if explanation else 'Keys'} · {title}")
        self._actions = [action for action in actions if action.keys]
        self._explanation = explanation
        self.explained = CellText("told")
        self.parts = (self.explained, self.listing) if explanation else (self.listing,)

    def on_mount(self) -> None:
        """Focus the list, and list the keys."""
        super().on_mount()
        self.lay_out()

    def lay_out(self) -> None:
        """Show the paragraphs, and a row for each key, and fit the height."""
        paragraphs = [
            [*ui_text.wrap(((safe(text, limit=400), ""),), max(1, self.listing.size.width), words=True), ()]
            for text in self._explanation
        ]
        lines = list(itertools.chain(*paragraphs))
        self.explained.show(*lines)
        rows = [
            TableRow(n, (((action.shown_key, "key"),), ((safe(action.help or action.label, limit=200), ""),)))
            for n, action in enumerate(self._actions)
        ]
        width = max(len(action.shown_key) for action in self._actions)
        self.tell((Column(width=width, priority=2), Column(flex=1, priority=1)), rows, words=True,
            keep=self.listing.cursor_key)
        self.fit_height(len(lines) + len(self.listing.rows))

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Close, and press the first key of the row on the screen below; only close for a row without a key.
        """
        place = row_key(event.key)
        self.dismiss(None)
        if isinstance(place, int):
            self.app.simulate_key(self._actions[place].keys[0])


def labeled_input(prompt: str, field: Widget, classes: str = "line") -> Horizontal:
    """Return a row of a prompt and a line to type in."""
    return Horizontal(Static(safe_content(prompt), classes="prompt"), field, classes=classes)
