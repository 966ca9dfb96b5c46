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
"""The ids of these keys, but for that of esc: characters that are typed where a line to type in is seen."""
SCROLL = Binding("up,down", HANDLED, "scroll", group=Hint(count=2))
"""The keys of a list or a text."""
_IN_HELP = Hint(pane="help")
"""The place of keys that the help of a dialog lists, and its line of keys does not."""


class Dialog(EngineScreen[Result], ModalScreen[Result]):
    """A box with a title over the screen it was pushed on; esc leaves it without a result.

    A subclass gives `HEADING`, `BINDINGS` and the widgets of the box (`parts`). The line of keys shows the
    bindings with a description, those of its own class first, then those of the bases. The `pane` of a hint
    is the part with the focus.
    Its classes `-narrow`, `-medium` and `-wide`, `-short` and `-tall` say what room there is.

    Args:
        engine: The link to the session.
        heading: The title, where it is not that of the class.
        classes: Its classes at first.
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
        """Yield the box with the parts and the line of keys.

        Adds the classes of Textual's breakpoints for the size of the screen, so that the box has its size
        from its first moment on.
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
        """Show the keys of what has the focus."""
        self.show_keys()

    def on_key(self, event: Key) -> None:
        """Type a character into the line while a list has the focus, unless it is a key of the dialog."""
        line = self._line_beside()
        if line is None or event.key in _keys_with_actions(type(self), self.engine.user_keys):
            return
        typed = event.character if event.is_printable else typed_beyond(event)
        if typed:
            event.stop()
            event.prevent_default()
            self.type_into(line, typed)

    def on_paste(self, event: Paste) -> None:
        """Paste into the line while a list has the focus."""
        if (line := self._line_beside()) is not None and event.text:
            event.stop()
            self.type_into(line, lines_of(event.text).split("\n", 1)[0])

    def _line_beside(self) -> Field | None:
        """Return the line to show while another widget has the focus, or None."""
        if isinstance(self.focused, Input):
            return None
        return next((widget for widget in self.focus_chain if isinstance(widget, Field)), None)

    def type_into(self, line: Field, text: str) -> None:
        """Go to the line, and add a text to it."""
        line.select_on_focus = False  # else the next character would replace this one
        line.put(line.value + text)
        self.set_focus(line)

    def action_show_help(self) -> None:
        """List the keys of the dialog."""
        self.app.push_screen(
            KeysScreen(self.engine, self.heading or self.HEADING, self.shown_actions, self.explanation))

    @property
    def explanation(self) -> Sequence[str]:
        """The paragraphs above the keys in the help; none by default."""
        return ()

    def action_find_anything(self) -> None:
        """Open the finder of the screen below. In a line to type in `:` is a character, and what is typed
        stays."""
        stack = [screen for screen in self.app.screen_stack if not isinstance(screen, Dialog)]
        if stack and isinstance(below := stack[-1], EngineScreen):
            below.action_find_anything()

    def action_copy(self) -> None:
        """Ask which of the texts of the dialog to copy."""
        self.app.ask_copy(self, self.copied())

    def copied(self) -> Iterator[Copied]:
        """Yield the texts that can be copied besides the row under the cursor; none by default."""
        yield from ()

    def show_keys(self) -> None:
        """Show the keys of the line to type in, or of the list that has the focus: by its id, else as `list`.
        """
        focused = self.focused
        part = "line" if isinstance(focused, Input) else (focused and focused.id) or "list"
        self.key_line.set_actions([
            action for action in self.shown_actions if part in (action.hint.pane or part).split()
        ])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys that the focused widget handles to it, and to other bindings of the same keys. The
        finder does not open over a line that is typed into."""
        if action == "find_anything" and isinstance(self.focused, Input):
            return False
        return action != HANDLED

    def name_box(self, title: str | None = None, subtitle: str | None = None) -> None:
        """Take other titles, safe or not: one that is empty goes, None leaves one as it is."""
        if title is not None:
            self.box.border_title = safe_content(title) if title else None
        if subtitle is not None:
            self.box.border_subtitle = safe_content(subtitle) if subtitle else None

    def on_resize(self) -> None:
        """Lay out anew, as soon as the new room is there."""
        self.call_after_refresh(self.lay_out)

    @property
    def waits(self) -> str:
        """The work that an answer of the session waits for; empty if the answer is on its way."""
        return waits_for(self.now)

    @property
    def asked_so_far(self) -> str:
        """The share done of a question that takes long, and the time left; empty for no such one."""
        asked = self.now.asked if self.now is not None else None
        return under_way(replace(asked, what="")) if asked is not None else ""

    @property
    def awaited(self) -> str:
        """The progress of the answer that the dialog waits for, in words; empty if it waits for none."""
        return (self.waits or self.asking + self.asked_so_far) if self.asking else ""

    def follow(self, snapshot: Snapshot) -> None:
        """Take what the session shows now."""
        before, self.now = (self.waits, self.asked_so_far), snapshot
        if self.is_mounted and (self.waits, self.asked_so_far) != before:
            self.tell_waiting()

    def tell_waiting(self) -> None:
        """Show what the answer waits for, in the notice, if an answer is awaited."""
        if self.asking:
            self.notice.say(self.awaited)

    def start_asking(
        self, asking: str, work: Callable[..., Coroutine[Any, Any, object]], *args: object
    ) -> None:
        """Call a coroutine function that asks the session, in place of one that still runs.

        An error or a cancellation of the session is given to `fail`.

        Args:
            asking: What the session does until the first answer, in words.
            work: The function, which gets its answers by `ask`.
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
        """Ask the session and wait for the answer, in a function of `start_asking`.

        Args:
            command: The question.
            asking: What the session does meanwhile, in words; empty if that is shown already.

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
        self.asking = asking
        self.tell_waiting()

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show why there is no answer, in the notice."""
        self.notice.tell(error)

    @property
    def editing(self) -> bool:
        """True if the line to type in is seen."""
        return self.has_class("-editing")

    def edit(self, field: Field, text: str) -> None:
        """Show the line to type in, with a text."""
        self.add_class("-editing")
        field.put(text)
        self.set_focus(field)

    def end_edit(self, back: Widget) -> None:
        """Hide the line to type in; the keys go back to a widget."""
        self.remove_class("-editing")
        self.set_focus(back)

    def fit_height(self, rows: int, least: int = 0) -> None:
        """Take as many lines as some rows need, at least four, and no more than there is room for.

        Args:
            rows: The rows.
            least: The lines of the screen that have to be left free.
        """
        height = self.app.size.height
        room = height * 86 // 100 if self.has_class("-high") else height
        lines = rows + 3 + self.editing  # the frame, and the line of keys
        self.box.styles.height = max(4, min(room, height - least, lines))

    def action_leave(self) -> None:
        """Close the dialog without a result."""
        self.dismiss(None)


def _keys_with_actions(kind: type[Dialog[Any]], keymap: Mapping[str, str]) -> set[str]:
    """Return the keys of a dialog that do something in it, besides those that all dialogs share."""
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
    """Asks for text to find, in a line at the foot. Its result is the text, "" to find nothing any more, None
    if it was left.

    Args:
        engine: The link to the session.
        pane: The pane that is searched, as its title has it.
        text: The text of the last search.
        verb: The word for what is done with the text.
    """

    dims = False

    def __init__(self, engine: EngineLink, pane: str, text: str = "", verb: str = "find in") -> None:
        super().__init__(engine)
        self._pane, self._text, self._verb = pane, text, verb

    def compose(self) -> ComposeResult:
        """Yield the line to type the text in."""
        yield labeled_input(f" {self._verb} {self._pane} > ", Field(self._text), "bar")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close with the typed text."""
        self.dismiss(event.value)


class TableDialog(Dialog[Result]):
    """A dialog with a table in which a text is found and which is filtered by one."""

    BINDINGS: ClassVar[list[BindingType]] = [FIND, FILTER]
    SEARCHED: ClassVar[str] = ""
    """What is searched, in words; empty for the title."""
    listing: Listing

    def end_search(self) -> bool:
        """Show all rows without marks. Return whether any were hidden or marked."""
        searched = bool(self.listing.only or self.listing.find)
        if searched:
            self.listing.find = ""
            self.listing.filter("")
            self.notice.say("")
        return searched

    def action_find(self) -> None:
        """Ask for a text, mark it in the rows, and go to the next row that contains it."""

        def find(text: str) -> None:
            self.listing.find = text
            self.action_find_again(1)

        self._ask_for_text("find in", self.listing.find, find)

    def action_find_again(self, by: int) -> None:
        """Go to the next row with the text that was found last, or to the one before, round the end."""
        if (text := self.listing.find) and not self.listing.find_row(text, by):
            self.notice.say(f"not found: {text}", "warning")

    def action_filter(self) -> None:
        """Ask for a text, and show only the rows that contain it; all rows for an empty one.

        The notice says which rows are shown, or that no row has the text.
        """

        def narrow(text: str) -> None:
            self.listing.filter(text)
            what, style = ("only rows with", "muted") if self.listing.rows else ("no row has", "warning")
            self.notice.say(f"{what} ‘{text}’ · esc shows all" if text else "", style)

        self._ask_for_text("only rows of", self.listing.only, narrow)

    def _ask_for_text(self, verb: str, text: str, take: Callable[[str], object]) -> None:
        """Ask for a text in a bar, and call `take` with it; not if it is left with escape.

        Args:
            verb: What the text is for, such as `find`.
            text: The text to begin with.
            take: Takes the text, also an empty one.
        """
        name = self.SEARCHED or (self.heading or self.HEADING).lower()
        self.app.push_for_result(FindScreen(self.engine, name, text, verb), take)


class ListDialog(TableDialog[Result]):
    """A dialog whose keys go to a list, which is searched and filtered."""

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
        """Begin in the list, unless the line to type in is seen."""
        if not self.editing:
            self.set_focus(self.listing)

    def action_leave(self) -> None:
        """Leave the line that is edited, and keep its text for the next edit. If none is, clear the search
        and the filter; if there are none, close the dialog without a result."""
        if self.editing:
            self._unsent = next((field.value for field in self.query(Field) if field.has_focus), "")
            self.end_edit(self.listing)
        elif not self.end_search():
            self.dismiss(None)

    def tell_waiting(self) -> None:
        """Show what the answer waits for, in its place in the list."""
        self.lay_out()

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show why there is no answer, in the notice, and what there is without it in the list."""
        super().fail(error)
        self.lay_out()

    def edit(self, field: Field, text: str) -> None:
        """Show the line to type in, with the text that was left in it, else with this one."""
        super().edit(field, self._unsent or text)
        self._unsent = ""

    def tell(
        self, columns: Sequence[Column], rows: Iterable[TableRow], *, words: bool = False,
        keep: Hashable = None,
    ) -> None:
        """Show rows in these columns. What is too long for the last column goes on in rows below; a cell more
        stands behind it, or where there is no room below it.

        Args:
            columns: The columns.
            rows: The rows. `row_key` gives the key of the row that a line belongs to.
            words: True to break between words.
            keep: The key of the row that the cursor stays on; without one it stays about where it was.
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
    """Return the key of a row from its own key or that of one of its further lines, see `ListDialog.tell`."""
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
    """A text of cells that changes.

    Args:
        classes: Its classes.
        id: Its id.
    """

    ALLOW_SELECT = False

    def __init__(self, classes: str = "", id: str | None = None) -> None:
        super().__init__("", classes=classes, id=id, markup=False)

    def show(self, *cells: Cell) -> None:
        """Show these cells, a line each."""
        self.update(Content("\n").join(map(join, cells)))


class StatusLine(CellText):
    """One line that answers what was last typed or tried."""

    def __init__(self) -> None:
        super().__init__("message")

    def say(self, text: str, style: str = "muted") -> None:
        """Say something, safe or not; `style` is a name of the palette."""
        self.show(((text, style),))

    def tell(self, error: TokentuiError | Cancelled) -> None:
        """Show an error in the style of errors; "stopped" for work that was stopped."""
        self.say(words_of(error), "error")


def words_of(error: TokentuiError | Cancelled) -> str:
    """Return what went wrong as safe text; `stopped` for work that was stopped."""
    return safe_line(error) if isinstance(error, TokentuiError) else "stopped"


class KeysScreen(ListDialog[None]):
    """Lists the keys of a dialog.

    Args:
        engine: The link to the session.
        title: The title of the dialog.
        actions: The actions of its keys.
        explanation: Paragraphs about what the dialog shows, above the keys.
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
        """Show the paragraphs, and a row for each key."""
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
        """Leave, and press the key of the row on the screen below."""
        place = row_key(event.key)
        self.dismiss(None)
        if isinstance(place, int):
            self.app.simulate_key(self._actions[place].keys[0])


def labeled_input(prompt: str, field: Widget, classes: str = "line") -> Horizontal:
    """Return a line to type in behind a prompt."""
    return Horizontal(Static(safe_content(prompt), classes="prompt"), field, classes=classes)
