"""The base of the main screen and Compare: what both show and do.

A screen knows the session only by commands and snapshots. A snapshot is handed to every pane at once, so all
of them are always about the same step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rich.cells import cell_len
from textual import events, on
from textual.actions import parse
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.reactive import var
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from tokentui.core.choices import Ref
from tokentui.core.safetext import GLYPH_MODES, GlyphMode, safe
from tokentui.session.commands import GoTo, Move, NothingOpen, Play, SetInput, SetViewport, Speed
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Viewport
from tokentui.ui.bindings import (
    EVERYWHERE,
    FAMILIES,
    BoundAction,
    Family,
    Hint,
    Owners,
    actions_of,
    active_actions,
    family_key,
    is_text,
    key_name,
    key_sections,
    member_of,
)
from tokentui.ui.draw.lines import KeyLine, Lines
from tokentui.ui.draw.text import Cell
from tokentui.ui.field import TYPED_LIMIT, TypedLine
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.panes.encode import TypedPane
from tokentui.ui.panes.entry import Layout, PaneEntry
from tokentui.ui.panes.pane import VIEWS, LinkedPane, Pane, StatusBand, title_cell
from tokentui.ui.waits import NotYet, has

if TYPE_CHECKING:
    from tokentui.ui.dialogs.finder import Found

PaneType = TypeVar("PaneType", bound=Pane)


SHORT_WIDTH = 110
"""The columns below which the footer shows some keys without their labels."""
SHORT = ("help", "quit")
"""The ids of these keys."""
PLACES = {
    "encode": "while you type: i begins", "editor": "while you type a corpus: t begins",
    "cursor": "on a token of the corpus: → puts a cursor there", "rows": "in a list",
}
"""Where the keys of a section of the help work, in words."""
GO_ACTIONS = (
    "life", "first_difference", "next_difference", "until", "steps", "follow", "jump_back",
)
"""The ids of the actions that the dialog of `g` lists: other ways to go to a step or a place."""
END_FAMILY = BoundAction("", ("escape",), "end", "", "")
"""The key that ends a family, in the footer."""


def too_small(columns: int, lines: int) -> Lines:
    """Return the widget that a terminal too small shows: the size that is needed, centered."""
    least = f"{columns}×{lines}"

    def draw(width: int, height: int) -> Sequence[Cell]:
        words = (f"tokentui needs {least}", least, "…")
        text = next((text for text in words if cell_len(text) <= width), words[-1])
        line: Cell = ((" " * max(0, (width - cell_len(text)) // 2), ""), (text, "strong"))
        return (*(((),) * ((height - 1) // 2)), line)

    return Lines(draw, id="too-small")


class PaneScreen(EngineScreen[None], inherit_bindings=False):
    """Panes about one session. A hidden pane is not updated.

    A subclass gives the table of panes (`PANES`), the widgets from top to bottom, and what there is room for
    (`layout_for`).

    Each snapshot is assigned to all panes at once, so all of them are about the same step. `snapshot` and
    `mode` are `var`s: a `reactive` would repaint the whole screen at each snapshot (10 of them with nothing
    changed were 10 layouts, against none).

    Args:
        engine: The link to the session.
        first: The name of the pane with the focus at first.
        look: The rows and sections that it shows at first.
        least: The columns and lines below which only a message is shown.
        first_text: The initial text of the line to type in.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "run", tooltip="Start or stop the run", id="play", group=Hint(rank=3)),
        Binding("plus,greater_than_sign", "speed(1)", "faster", tooltip="Run faster", id="faster",
            group=Hint(rank=15)),
        Binding("minus,less_than_sign", "speed(-1)", "slower", tooltip="Run slower", id="slower",
            group=Hint(rank=16)),
        Binding("right_square_bracket", "leap(1)", "+10", id="next_10", group=Hint(rank=19),
            tooltip="Go 10 steps forward, or 1% of the steps of an opened file"),
        Binding("left_square_bracket", "leap(-1)", "−10", id="back_10",
            tooltip="Go 10 steps back, or 1% of the steps of an opened file"),
        Binding("N,right_curly_bracket", "step(100)", "+100", tooltip="Go 100 steps forward", id="next_100",
            group=Hint(rank=20)),
        Binding("left_curly_bracket", "step(-100)", "−100", tooltip="Go 100 steps back", id="back_100"),
        Binding("0", "go_to_start", "start", tooltip="Go to the start, before any step", id="start",
            group=Hint(rank=18)),
        Binding("G", "go_to_end", "end", tooltip="Go to the end of the run", id="end", group=Hint(rank=17)),
        Binding("i", "type", "type", tooltip="Type text to encode", id="type",
            group=Hint(rank=5)),
        Binding("full_stop", "find_again(False)", "next match", tooltip="Find the next match",
            id="find_next"),
        Binding("comma", "find_again(True)", "previous match", tooltip="Find the previous match",
            id="find_previous"),
        Binding("ctrl+o", "app.go_back", "jump back", id="jump_back",
            tooltip="Go back to before the last jump, or to the previous recipe or corpus"),
        Binding("y", "copy", "copy", id="copy",
            tooltip="Copy the token, the ids, the row, or a command that reproduces this state"),
        Binding("ampersand", "filter", "filter", id="filter",
            tooltip="Show only the rows of the focused table that contain a text; esc shows all"),
        Binding("dollar_sign,F l", "languages", "languages", id="languages",
            tooltip="Compare the cost of the same text in twelve languages"),
        Binding("e g", "playground", "playground", id="playground",
            tooltip="Open the playground with the typed text: all of its tokens, by several tokenizers"),
        family_key("v"),
        Binding("v v", "cycle_view", "text", id="glyphs",
            tooltip="Show tokens as text, escapes, hex bytes, or code points; v again for the next view"),
        Binding("Z,v z", "zoom", "zoom", tooltip="Maximize or restore the pane", id="zoom",
            group=Hint(rank=21)),
        Binding("tab", "next_pane(1)", "pane", tooltip="Go to the next pane", id="next_pane",
            group=Hint(rank=14)),
        Binding("shift+tab", "next_pane(-1)", "previous pane", tooltip="Go to the previous pane",
            id="previous_pane"),
        Binding("colon,ctrl+p", "find_anything", "find", id="finder", group=Hint(rank=3, always=True),
            tooltip="Find an action, a preset, a setting, a token, a step, a word or a file, and take it"),
        Binding("question_mark", "show_keys", "help", id="help", group=Hint(rank=4, always=True),
            tooltip="Explain the focused pane; again: all keys"),
        Binding("T,v t", "colors", "colors", tooltip="Choose a color theme", id="theme"),
        Binding("O", "settings", "settings", id="settings",
            tooltip="Change the settings: colors, speed, view, boundaries, order, sentence"),
        Binding("q", "app.quit", "quit", tooltip="Quit", id="quit", group=Hint(rank=7, always=True)),
    ]
    PANES: ClassVar[Sequence[PaneEntry]] = ()
    """The table of panes. `BINDINGS` has their number keys, and `KEY_OWNERS` their widgets."""
    KEY_OWNERS: ClassVar[Owners] = ()
    """The widgets of the screen that have keys of their own, each with the name of its pane: for the help."""
    KEYLESS_ACTIONS: ClassVar[Sequence[BoundAction]] = (
        BoundAction("messages", (), "messages", "List the messages so far", "messages"),
    )
    """Actions without a key, which only the help lists."""
    AUTO_FOCUS = ""  # None would mean that of the app, which focuses the first widget
    ELSEWHERE: ClassVar[str] = ""
    """Where the keys work that this screen lacks."""
    encode: TypedPane
    """The pane with the line to type in."""
    snapshot: var[Snapshot | None] = var(None, init=False, always_update=True)
    mode: var[GlyphMode] = var("text", init=False)
    """The way tokens are shown."""

    def __init__(
        self, engine: EngineLink, first: str, look: Viewport, least: tuple[int, int], first_text: str
    ) -> None:
        super().__init__(engine)
        self.viewport, self.first_text = look, first_text
        self.names: dict[str, tuple[str, str]] = {}
        """The title and the short title of each pane, with its number."""
        for entry in self.PANES:
            self.name_pane(entry.name, entry.title, entry.short_title)
        self.snapshot_filter: Callable[[Snapshot], Snapshot] | None = None
        """Hides a part of each snapshot; None where all is seen."""
        self.labels: dict[str, str] = {}
        """Other labels of bindings in footer and help, by id."""
        self.active = first
        """The pane that has the focus, or will have it again."""
        self.typing = False
        """True if keys go into the input line."""
        self.zoomed = False
        """True if the active pane has all the room."""
        self.found_before: list[Found] = []
        """What the finder did last, the newest first."""
        self.family = ""
        """The letter of the family that waits for one of its members; empty for none."""
        self._repeated: Family | None = None
        """The family whose key does once more what its last member did."""
        self.panes = {entry.name: entry.make(self) for entry in self.PANES if entry.make is not None}
        self.linked = b""
        """The exact bytes of the token that was chosen last, which is bold in all panes; empty for none."""
        self._least = least
        for name, pane in self.panes.items():
            pane.id = name
            pane.add_class("pane")
        self.tabs: Lines | None = None
        """The line of tabs, for layouts with one visible pane; None for none."""
        self.header_line: StatusBand
        """The first line."""
        self.parts: tuple[Widget, ...] = ()
        """The widgets between the first line and the footer, from top to bottom."""
        self.status_panes: tuple[Pane, ...] = ()
        """The panes without a name: status lines and, on Compare, the columns."""
        self.pair: tuple[int, int] | None = None
        """The keys of the two columns that are looked at together."""
        self.current_layout: Layout | None = None
        self._recent_panes = [first]
        """The panes that were looked at, the last one first."""
        self.footer_line = KeyLine(indent=1)

    def compose(self) -> ComposeResult:
        """Yield the header, the panes and the line of keys, from top to bottom."""
        self.lay_out()  # before there is anything that would have to be styled again
        yield from (self.header_line, *self.parts, self.footer_line, too_small(*self._least))

    # What a subclass says.

    def layout_for(self, width: int, height: int) -> Layout | None:
        """Return the layout for a size; None if the size is too small for any."""
        raise NotImplementedError

    @property
    def context(self) -> str:
        """The section of keys that apply: that of the active pane, or of the input line in it."""
        return self.entry(self.active).key_section or self.active

    # The panes.

    def entry(self, pane: str) -> PaneEntry:
        """Return the entry of a pane in `PANES`."""
        return next(entry for entry in self.PANES if entry.name == pane)

    def pane(self, name: str, kind: type[PaneType]) -> PaneType:
        """Return a pane of a given class by its name."""
        pane = self.panes[name]
        assert isinstance(pane, kind)
        return pane

    def name_pane(self, pane: str, title: str, short_title: str = "") -> None:
        """Set the titles of a pane, without its number. Without a short title, the title serves for both; the
        border changes with the next `update_titles`."""
        number = self.PANES.index(self.entry(pane)) + 1
        self.names[pane] = f"{number} {title}", f"{number} {short_title or title}"

    def snapshot_changed(self, before: Snapshot | None, now: Snapshot) -> None:
        """Handle a new snapshot before the panes draw it; does nothing by default."""

    def show_containers(self, seen: frozenset[str]) -> None:
        """Show or hide what holds panes; called when other panes become visible or the layout changes. Does
        nothing by default.

        Args:
            seen: The names of the visible panes.
        """

    # Keys.

    def footer_actions(self) -> list[BoundAction]:
        """Return the actions for the footer, the most important first, then those of the pane."""
        in_editor = self.context == "editor"
        typing = self.typing or in_editor
        shown = [
            action for action in active_actions(self, self.app.user_keys)
            if action.hint.rank and action.hint.typing <= typing and self._applies(action)
            and (not action.hint.pane or action.hint.pane in self.footer_panes)
            # Textual knows some keys of text, such as `slash`, only once a line has taken them.
            and not (typing and is_text(action.keys[0]))
            and not (in_editor and action.keys[0] == "enter")
        ]
        letters = ["", *FAMILIES]
        if self.app.size.width < SHORT_WIDTH:
            shown = [
                dataclasses.replace(action, label="") if action.id in SHORT else action for action in shown
            ]
        shown.sort(key=lambda action: (
            action.hint.rank, action.on_screen and not action.hint.pane, letters.index(action.hint.family)))
        return [self._labeled(action) for action in shown]

    @property
    def footer_panes(self) -> Collection[str]:
        """The sections whose keys the footer shows."""
        return (self.context,)

    def key_sections(self) -> dict[str, list[BoundAction]]:
        """Return the actions that apply to the current training, by section, for the help."""
        sections = key_sections(type(self), type(self.app), self.KEY_OWNERS, self.app.user_keys)
        sections[EVERYWHERE] += self.KEYLESS_ACTIONS
        return {
            pane: [self._labeled(action) for action in actions if self._applies(action)]
            for pane, actions in sections.items()
        }

    def _labeled(self, action: BoundAction) -> BoundAction:
        """Return an action with the label that `labels` has for it, if any."""
        label = self.labels.get(action.id)
        return action if label is None else dataclasses.replace(action, label=label)

    def _applies(self, action: BoundAction) -> bool:
        """Return whether an action applies to the current training and is enabled on this screen."""
        namespace, name, parameters = parse(action.action)
        disabled = action.on_screen and not namespace and self.check_action(name, parameters) is False
        return not disabled and has(self.engine.snapshot, action.hint.needs)

    # Families.

    def action_open_family(self, letter: str) -> None:
        """Show the members of a family of keys in the footer, and wait for one of them."""
        self.family = letter
        self.show_footer()

    def close_family(self) -> None:
        """Stop waiting for a member of a family."""
        self._repeated = None
        if self.family:
            self.family = ""
            self.show_footer()

    async def take_key(self, key: str) -> bool:
        """Give a key to the open family, and close the family. Return whether the key was handled.

        A key that is no member keeps its own action, except `q` and esc, which only close the family.
        """
        repeated, letter = self._repeated, self.family
        self.close_family()
        if repeated is not None and key in self._keys_of(repeated):
            return await self._run_member(repeated, repeated.repeats, key)
        if not letter:
            return False
        if key in ("escape", "q"):
            return True
        family = FAMILIES[letter]
        return await self._run_member(family, letter if key in self._keys_of(family) else key, key)

    async def _run_member(self, family: Family, member: str, key: str) -> bool:
        """Run the action of a member of a family, or show a message where it works. Return False if there is
        no such member.

        Args:
            family: The family.
            member: The letter of the member.
            key: The key that was pressed, for the message.
        """
        active = self.active_bindings.get(f"{family.letter} {member}")
        if active is not None:
            await self.app.run_action(active.binding.action, active.node)
            if member == family.repeats:
                self._repeated = family
            return True
        if member in family.members:
            self.app.say(f"{key_name(key)} ({family.members[member]}) works {self.ELSEWHERE}")
            return True
        return False

    def _keys_of(self, family: Family) -> tuple[str, ...]:
        """Return the keys that open a family, with those of the user."""
        actions = actions_of(type(self), self.app.user_keys)
        return next((action.keys for action in actions if action.id == family.id), ())

    def family_members(self, *, single_keys: bool = True) -> list[BoundAction]:
        """Return the members of the open family that apply, with their letters as keys, in the order of the
        family.

        Args:
            single_keys: True to add the other key of each to its label.
        """
        family = FAMILIES[self.family]
        found: dict[str, BoundAction] = {}
        for action in active_actions(self, self.app.user_keys):
            for key in action.keys:
                named = member_of(key)
                if named is not None and named[0] == family.letter and self._applies(action):
                    others = [key_name(other) for other in action.keys if member_of(other) is None]
                    label = family.members.get(named[1], action.label)
                    label = " ".join([label, *others[:single_keys]])
                    found.setdefault(named[1], dataclasses.replace(
                        action, keys=(named[1],), label=label, hint=Hint(), key_display="", on_screen=True))
        order = [*family.members, *found]
        return [found[letter] for letter in dict.fromkeys(order) if letter in found]

    def on_key(self, event: events.Key) -> None:
        """Show a message where a key works that does nothing here, or that it is not a key. Ignore typed
        text."""
        typing = self.typing or self.context == "editor"
        if event.key in self.active_bindings or (typing and event.is_printable):
            return
        for place, node in self.elsewhere():
            for action in actions_of(node, self.app.user_keys):
                if event.key in action.keys and has(self.snapshot, action.hint.needs):
                    self.app.say(f"{key_name(event.key)} ({action.label}) works {place}")
                    return
        if is_text(event.key):
            self.app.say(f"{key_name(event.key)} is no key here: : finds anything, ? explains this pane")

    def elsewhere(self) -> Iterator[tuple[str, type[DOMNode]]]:
        """Yield the places with other keys, in words, and the class that has the keys there."""
        for pane, owner in self.KEY_OWNERS:
            node = owner.resolve() if isinstance(owner, Ref) else owner
            yield PLACES.get(pane) or self._place_of(pane), node

    def _place_of(self, pane: str) -> str:
        """Return in words where the keys of a section work."""
        names = (entry.name for entry in self.PANES if pane in (entry.name, entry.key_section))
        name = next(names, "")
        number, _, title = self.names[name][0].partition(" ") if name else ("", "", pane)
        return f"in {title}: {number} goes there" if number else f"in the {title}"

    def say_if_nothing_open(self) -> None:
        """Show a message if nothing is open yet, or what is being opened; otherwise do nothing."""
        if self.snapshot is not None and self.snapshot.corpus.nothing_open:
            self.app.tell(NotYet(self.snapshot) if self.snapshot.busy is not None else NothingOpen())

    def say_why_stuck(self, forward: bool) -> None:
        """Show a message if there is no step forward, or back. Do nothing if there is one, if nothing is
        open, and while the session works."""
        now = self.snapshot
        if now is None or now.corpus.nothing_open or now.main.partial:
            return
        if now.running or now.waiting or now.busy is not None or now.goal is not None:
            return
        ends = [column.why.end for column in now.columns if not column.error]
        if forward and ends and None not in ends:
            self.app.say(f"{safe(str(ends[0]))}: b goes back")
        elif not forward and not any(column.at.step for column in now.columns):
            self.app.say("this is the start, before any step: n goes on")

    def action_step(self, steps: int) -> None:
        """Move by steps, back if negative; show a message if there is none."""
        self.say_why_stuck(steps > 0)
        self.engine.send(Move(steps))

    def action_play(self) -> None:
        """Start the run, or stop it."""
        self.say_why_stuck(True)
        self.engine.send(Play())

    def action_speed(self, by: int) -> None:
        """Change to the speed `by` places faster, or slower if negative."""
        self.say_if_nothing_open()
        self.engine.send(Speed(by))

    def action_go_to_start(self) -> None:
        """Go to the start, before any step."""
        self.say_why_stuck(False)
        self.engine.send(GoTo(0))

    def action_go_to_end(self) -> None:
        """Go to the end of the run."""
        self.say_why_stuck(True)
        self.engine.send(GoTo(None))

    def action_type(self) -> None:
        """Focus the line to type in."""
        self.go("encode", typing=True)

    def type_text(self, text: str) -> None:
        """Replace the text of the line to type in, and focus it."""
        self.go("encode", typing=True)
        self.encode.line.value = text

    def action_copy(self, first: str = "") -> None:
        """Ask what to copy, with the cursor on the first text whose name begins with `first`."""
        from tokentui.ui.copying import ask

        ask(self, self.snapshot, first)

    def action_playground(self) -> None:
        """Open the playground with the typed text. When it closes, the line takes its text unless it is
        longer than `TYPED_LIMIT`."""
        def left(text: str) -> None:
            if len(text) <= TYPED_LIMIT:
                self.encode.line.value = text

        self.app.open_playground(self.encode.line.value, left)

    def action_languages(self) -> None:
        """Compare the cost of the same text in twelve languages."""
        from tokentui.ui.dialogs.languages import LanguagesScreen

        self.app.push_screen(LanguagesScreen(self.engine))

    def action_colors(self) -> None:
        """Choose the theme."""
        from tokentui.ui.dialogs.colors import ColorsScreen

        self.app.push_screen(ColorsScreen(self.engine))

    def action_settings(self) -> None:
        """Open the settings."""
        from tokentui.ui.dialogs.settings_screen import SettingsScreen

        self.app.push_screen(SettingsScreen(self.engine))

    def action_show_keys(self) -> None:
        """Open the help of the focused pane, which may lead to the finder."""
        from tokentui.ui.dialogs.help import HelpScreen

        def left(finds: bool | None) -> None:
            if finds:
                self.action_find_anything()

        self.app.push_screen(HelpScreen(self.engine, self.key_sections(), self.help_section), left)

    def action_find_anything(self, typed: str = "") -> None:
        """Open the finder. For a chosen entry, close the dialogs over the screen, run the entry, and remember
        it.

        Args:
            typed: The initial text.
        """
        from tokentui.ui.dialogs.finder import MOST_RECENT, FinderScreen, Index, entries_of

        def act(entry: Found) -> None:
            others = [other for other in self.found_before if other.id != entry.id]
            self.found_before = [entry, *others][:MOST_RECENT]
            while self in self.app.screen_stack and self.app.screen is not self:
                self.app.screen.dismiss()
            entry.act(self)

        index = Index(entries_of(self.key_sections(), self.app.user_settings))
        self.app.push_for_result(FinderScreen(self.engine, index, self.found_before, typed), act)

    @property
    def help_section(self) -> str:
        """The section that the help shows first."""
        return self.context

    def action_go_to(self) -> None:
        """Ask for a step or a token, and go there; list the other ways to go that apply here."""
        from tokentui.ui.dialogs.ask import GoToScreen

        actions = {action.id: action for action in actions_of(type(self), self.app.user_keys)}
        ways = [actions[id] for id in GO_ACTIONS if id in actions and self._applies(actions[id])]
        self.app.push_screen(GoToScreen(self.engine, ways, self.run_later))

    def run_later(self, action: BoundAction) -> None:
        """Run an action of the screen after the dialog over it is closed."""
        self.app.call_later(self.app.run_action, action.action, self)

    def action_leap(self, tens: int) -> None:
        """Move ten steps, back if `tens` is negative; in an opened file shown alone, 1 % of its steps. Show a
        message if there is none."""
        alone = self.snapshot is not None and len(self.snapshot.columns) == 1
        opened = self.snapshot.main.opened if self.snapshot is not None and alone else None
        self.say_why_stuck(tens > 0)
        self.engine.send(Move(tens * (10 if opened is None else max(1, round(opened.steps / 100)))))

    def action_find_again(self, backward: bool) -> None:
        """Go to the next match of the last search, or the previous one."""
        raise NotImplementedError

    def action_filter(self) -> None:
        """Ask for a text, and show only the rows that contain it."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Cancel what is in progress, or return to what was before."""
        raise NotImplementedError

    # How much room there is.

    def on_resize(self) -> None:
        """Show the panes that fit the new size."""
        self.lay_out()

    def on_pane_resized(self, event: Pane.Resized) -> None:
        """Update the titles for the new width."""
        event.stop()
        self.update_titles()

    def lay_out(self) -> None:
        """Show the panes that fit, as recently used, and focus the active one."""
        before, where = self.current_layout, self.layout_for(*self.app.size)
        seen: frozenset[str] = frozenset()
        if where is not None:
            others = [name for name in self._recent_panes if name != self.active]
            self._recent_panes = recent = [self.active, *others]
            seen = frozenset(
                next((name for name in recent if name in group), group[0]) for group in where.groups
            )
        moved = any(pane.display != (name in seen) for name, pane in self.panes.items())
        if (changed := moved or where != before):
            self.current_layout = where
            for name, pane in self.panes.items():
                pane.display = name in seen
            classes = where.classes if where is not None else {"tiny"}
            self.set_classes([*classes, *(name for name in self.classes if name.startswith("for-"))])
            self.show_containers(seen)
            self.update_panes()
        self.focus_active()
        if changed:
            # The focus leaves what is hidden; the active pane takes it again as soon as it is seen.
            self.call_after_refresh(self.focus_active)

    def on_screen_resume(self) -> None:
        """Focus the active pane, which may have lost the focus below a dialog."""
        self.focus_active()

    def focus_active(self) -> None:
        """Focus the active pane, and show its keys and titles. Do nothing if another screen takes the keys.
        """
        if self.app.keyed is not self:
            return
        body = self.body_of(self.active)
        if self.current_layout is not None and body is not None and not body.has_focus:
            # `Widget.focus` would focus it later, when another pane may be active.
            self.set_focus(body, scroll_visible=False)
        self.show_footer()
        self.update_titles()

    def keys_moved(self) -> None:
        """Update the focus and the footer after the inspector took or gave back the keyboard."""
        self.focus_active()
        self.show_footer()

    def show_footer(self) -> None:
        """Show the keys that work now, or the members of the open family; none if another screen takes the
        keys."""
        if self.app.keyed is not self:
            self.footer_line.set_actions(())
        elif self.family:
            members = [*self.family_members(), END_FAMILY]
            if len(self.footer_line.fit(members)) < len(members):
                members = [*self.family_members(single_keys=False), END_FAMILY]
            self.footer_line.set_actions(members)
        else:
            self.footer_line.set_actions(self.footer_actions())

    def on_screen_suspend(self) -> None:
        """Close an open family, and clear the footer: its keys do not work below a dialog."""
        self.family, self._repeated = "", None
        self.footer_line.set_actions(())

    def body_of(self, pane: str) -> Widget | None:
        """Return the widget of a pane that takes the keys: the input line while `typing`, otherwise the first
        other focusable widget; None without one."""
        within = self.panes[pane].walk_children(Widget, with_self=True)
        able = [widget for widget in within if widget.can_focus and widget.display]
        return next((widget for widget in able if isinstance(widget, TypedLine) == self.typing), None)

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """Make the pane with the focus active, unless the focus has moved on."""
        # Where it has moved on since, to follow would take it back, and it would go to and fro for ever.
        if event.widget is self.focused and self.current_layout is not None:
            self.follow_focus(event.widget)

    def follow_focus(self, widget: Widget) -> None:
        """Make the pane active that contains a widget, after a click has moved the focus."""
        typing = isinstance(widget, TypedLine)
        for name, pane in self.panes.items():
            if pane in widget.ancestors_with_self and (name, typing) != (self.active, self.typing):
                self.go(name, typing=typing)

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Make a pane active and focus it, and close an open family.

        Args:
            pane: The name of the pane.
            typing: True to focus its line to type in.
        """
        self.close_family()
        self.active, self.typing = pane, typing
        self.lay_out()
        if typing:
            self.encode.begin_typing()

    def action_pane(self, pane: str) -> None:
        """Go to a pane."""
        self.go(pane)

    def action_next_pane(self, by: int) -> None:
        """Go to the pane `by` places further, around the end. `Screen.focus_next` would skip panes that share
        a place with a visible one, and stop at each of several widgets of a pane."""
        names = list(self.names)
        self.go(names[(names.index(self.active) + by) % len(names)])

    # From and to the session.

    def show(self, snapshot: Snapshot) -> None:
        """Show a snapshot, through `snapshot_filter` if there is one; ignore one that is older than the
        visible one."""
        if self.snapshot is None or snapshot.version >= self.snapshot.version:
            self.snapshot = snapshot if self.snapshot_filter is None else self.snapshot_filter(snapshot)

    def watch_snapshot(self, before: Snapshot | None, now: Snapshot | None) -> None:
        """Draw the sections that changed."""
        if now is not None:
            with self.app.batch_update():
                self.snapshot_changed(before, now)
                self.update_panes()

    def watch_mode(self) -> None:
        """Draw the panes with the new mode."""
        self.update_panes()

    def set_viewport(self, **changes: Any) -> None:
        """Change fields of the viewport, and send it if it differs.

        The session has one viewport. A screen below another one on the same session, or one that was closed,
        keeps the change without sending it.
        """
        viewport = dataclasses.replace(self.viewport, **changes)
        if viewport != self.viewport:
            self.viewport = viewport
            if self.is_topmost:
                self.engine.send(SetViewport(viewport))

    @property
    def is_topmost(self) -> bool:
        """True if this is the topmost screen with panes on its session."""
        on_session = [
            screen for screen in self.app.screen_stack
            if isinstance(screen, PaneScreen) and screen.engine is self.engine
        ]
        return on_session[-1:] == [self]

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.engine.send(SetInput(event.value))

    def ask_find(
        self, where: str, text: str, find: Callable[[str], object], verb: str = "find in"
    ) -> None:
        """Ask for a text to find.

        Args:
            where: The name of the pane that is searched.
            text: The initial text.
            find: Called with the text, unless the user cancels.
            verb: The words of the prompt before the name of the pane.
        """
        from tokentui.ui.dialogs import FindScreen

        self.app.push_for_result(FindScreen(self.engine, where, text, verb), find)

    def push_answer(self, dialog: Screen[Any]) -> None:
        """Open a dialog for an answer of the session, in place of an inspector beside the panes. Do nothing
        if the user has opened something meanwhile, whose keys would go into this dialog."""
        if self.app.keyed is self:
            if (beside := self.app.screen) is not self:
                beside.dismiss()  # an inspector at the side makes room for the next one
            self.app.push_screen(dialog)

    # A token that is chosen in one pane is bold in all of them.

    @property
    def chosen(self) -> bytes:
        """The exact bytes of the token under the cursor of the active pane; empty for none."""
        raise NotImplementedError

    @property
    def token_views(self) -> Sequence[LinkedPane]:
        """The widgets that show tokens."""
        raise NotImplementedError

    def link_chosen(self) -> None:
        """Make the token under the cursor of the active pane bold in all panes; without one, the last token
        stays bold."""
        if piece := self.chosen:
            self.link(piece)

    def link(self, piece: bytes) -> None:
        """Make a token bold in all panes; no token if it is empty."""
        if piece != self.linked:
            self.linked = piece
            with self.app.batch_update():
                for view in self.token_views:
                    view.linked = piece

    # What is seen.

    def update_panes(self) -> None:
        """Assign the snapshot to all panes, which draw the sections that changed. Do nothing before the first
        snapshot."""
        if self.snapshot is None:
            return
        with self.app.batch_update():
            for pane in (*self.status_panes, *self.panes.values()):
                pane.pair, pane.mode, pane.snapshot = self.pair, self.mode, self.snapshot
            self.update_titles()

    def states(self, pane: str) -> tuple[str, ...]:
        """Return the settings that change what a pane shows, such as filter, order and view, for its title.
        Defaults are left out."""
        view = VIEWS[self.mode] if self.entry(pane).shows_tokens else ""
        return (*self.panes[pane].states, *([view] if view else ()))

    def action_zoom(self) -> None:
        """Maximize the active pane, or restore the others. If it is the only one anyway, show a message
        instead."""
        layout = self.current_layout
        if not self.zoomed and layout is not None and len(layout.groups) == 1:
            self.app.say("this pane has all the room already")
            return
        self.zoomed = not self.zoomed
        self.lay_out()

    def action_messages(self) -> None:
        """Open the list of messages."""
        from tokentui.ui.dialogs.messages import MessagesScreen

        self.app.push_screen(MessagesScreen(self.engine, self.app.messages))

    def action_cycle_view(self) -> None:
        """Show tokens in the next of `GLYPH_MODES`."""
        self.mode = GLYPH_MODES[(GLYPH_MODES.index(self.mode) + 1) % len(GLYPH_MODES)]

    def update_titles(self) -> None:
        """Show names, states and notes of the visible panes in their borders, and in the line of tabs."""
        for group in self.current_layout.groups if self.current_layout is not None else ():
            for name in group:
                if (pane := self.panes.get(name)) is not None and pane.display:
                    width = pane.outer_size.width or self.size.width
                    states = self.states(name)
                    names = titles(self.names, group, name, width, states)
                    pane.set_titles(title_cell(names, states, width), pane.note)
        if self.tabs is not None and self.tabs.display:
            self.tabs.again()


def titles(
    names: Mapping[str, tuple[str, str]], group: Sequence[str], seen: str, width: int,
    states: Sequence[str] = (),
) -> list[tuple[str, bool]]:
    """Return the title of a place as (name, whether it is visible) for each pane that shares the place: full
    names if they fit, otherwise short ones, otherwise only numbers for those that are not visible.

    Args:
        names: A title and a short title of each pane.
        group: The panes that share the place.
        seen: The visible one.
        width: The columns of its box.
        states: The states that follow its name.
    """
    after = len("".join(f" · {state}" for state in states))
    for n in (0, 1):
        words = [names[pane][n] for pane in group]
        corners = 6 if len(words) == 1 else 3 * len(words) + 12
        if sum(map(len, words)) + corners + after <= width:
            return [(word, pane == seen) for word, pane in zip(words, group, strict=True)]
    return [(names[pane][1] if pane == seen else names[pane][1][0], pane == seen) for pane in group]
