"""The base of the main screen and Compare: what both show and do, and the command palette.

A screen knows the session only by commands and snapshots. A snapshot is handed to every pane at once, so all
of them are always about the same step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from rich.cells import cell_len
from textual import events, on
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from tokentui.core.choices import Ref
from tokentui.core.safetext import GLYPH_MODES, GlyphMode
from tokentui.session.commands import Command, Move, SetInput, SetViewport
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Viewport
from tokentui.ui.draw.lines import SAYS_BYTES, KeyLine, Lines, Pane, key_bytes
from tokentui.ui.draw.text import Cell, StandIns
from tokentui.ui.face import Face, has
from tokentui.ui.keys import Action, hints, key_name

FIND = Ref("tokentui.ui.dialogs.ask:FindScreen")

WHILE_TYPING = ("next_pane", "palette", "quit_now")
"""Actions of the whole screen whose keys are no text."""


class Layout(NamedTuple):
    """The panes that fit on the screen.

    Attributes:
        groups: The panes that share a place, place by place; of each group one is seen.
        classes: The classes of the screen: wide, medium or small; tall, high or short.
    """

    groups: tuple[tuple[str, ...], ...]
    classes: frozenset[str]

    def group_of(self, pane: str) -> tuple[str, ...]:
        """The panes that share a place with this one, itself among them."""
        return next(group for group in self.groups if pane in group)


def too_small(columns: int, lines: int) -> Lines:
    """Return the message of a terminal that is too small: the size that is needed, centred."""
    wanted = f"{columns}×{lines}"

    def draw(width: int, height: int) -> Sequence[Cell]:
        words = (f"tokentui wants {wanted}", wanted, "…")
        text = next((one for one in words if cell_len(one) <= width), words[-1])
        line: Cell = ((" " * max(0, (width - cell_len(text)) // 2), ""), (text, "strong"))
        return (*(((),) * ((height - 1) // 2)), line)

    return Lines(draw, id="too-small")


class PaneScreen(Screen[None], inherit_bindings=False):
    """Panes round a session.

    A subclass gives the panes, what there is room for (`layout_for`), and what it draws.

    Args:
        face: The program.
        names: A title and a short one of each pane, in the order of their keys.
        actions: The actions of its keys.
        first: The pane that has the focus at first.
        kind: The context of what works on the whole screen.
        look: The rows and sections that it shows at first.
    """

    AUTO_FOCUS = None

    def __init__(
        self, face: Face, names: Mapping[str, tuple[str, str]], actions: Sequence[Action[Any]], first: str,
        kind: str,
        look: Viewport,
    ) -> None:
        super().__init__()
        self.face, self.names, self.actions, self.kind, self.look = face, names, tuple(actions), kind, look
        self.snapshot: Snapshot | None = None
        self.mode: GlyphMode = "text"
        self.active = first
        """The pane that has the focus, or will have it again."""
        self.typing = False
        """True if keys go into the input line."""
        self.panes: dict[str, Pane] = {}
        self.rows: tuple[Widget, ...] = ()
        """The containers of panes; a subclass shows one if there is room for one of its panes."""
        self.where: Layout | None = None
        self._fronts = [first]
        """The panes that were looked at, the last one first."""
        self._header = lambda width, _: [self.header(key_bytes(self.app), width)]
        self.header_line = Lines(self._header, id="header", classes=SAYS_BYTES)
        self.footer_line = KeyLine(indent=1)

    # What a subclass says.

    def layout_for(self, width: int, height: int) -> Layout | None:
        """Return the layout for a size; None if the size is too small for any."""
        raise NotImplementedError

    def body_of(self, pane: str) -> Widget:
        """Return the widget of a pane that gets the keys."""
        raise NotImplementedError

    def note_of(self, pane: str) -> Cell:
        """Return the note at the right of a pane's title."""
        return ()

    @property
    def context(self) -> str:
        """Whose keys work: those of the pane that has the focus, or of the line in it."""
        return self.active

    def header(self, cost: Cell, width: int) -> Cell:
        """Return the first line of the screen; `cost` is what the last key cost, if that is measured."""
        raise NotImplementedError

    def header_of(self, now: Snapshot) -> tuple[object, ...]:
        """All that the first line is drawn from, besides the way tokens are shown."""
        return (now,)

    def taken(self, before: Snapshot | None, now: Snapshot) -> None:
        """Follow a new snapshot before it is drawn."""

    def draw_panes(self, now: Snapshot) -> bool:
        """Draw what has changed in the panes. Returns False where their titles stay as they are."""
        raise NotImplementedError

    def fit(self, where: Layout, seen: frozenset[str]) -> None:
        """Let what is no pane give way: called where other panes are seen than before, or as much room is
        there no more.
        """

    # Keys.

    def action_of(self, key: str) -> Action[Any] | None:
        """The action of a key where the focus is: one of the pane, or of the whole screen."""
        found = [one for one in self.actions if key in one.keys and one.does is not None]
        own = [one for one in found if self.context in one.contexts]
        whole = [one for one in found if self.kind in one.contexts
            or (one.anywhere and self.kind == "global")]
        return next(iter(own or whole), None)

    def meant(self) -> list[Action[Any]]:
        """The actions that mean something for what is trained."""
        return [one for one in self.actions if has(self.face.snapshot, one.needs)]

    def hints(self) -> list[Action[Any]]:
        """Return the actions that the footer may show, most important first."""
        # Where one types, letters are text and do nothing else.
        typing = self.typing or self.context == "editor"
        near = hints(self.meant(), self.context, "" if typing else self.kind)
        return near + [one for one in self.actions if typing and one.name in WHILE_TYPING]

    def send(self, command: Command[Any]) -> None:
        """Hand a command to the session."""
        self.face.send(command)

    def leap(self, tens: int) -> None:
        """Ten steps forward or back, so many times."""
        self.send(Move(10 * tens))

    def leave(self) -> None:
        """Stop what is under way, or go back from where one is."""
        raise NotImplementedError

    # How much room there is.

    def on_resize(self) -> None:
        """Let panes give way to others."""
        self.lay_out()

    def lay_out(self) -> None:
        """Show the panes that there is room for, and give the active one the focus."""
        before, moved = self.where, False
        where = self.layout_for(*self.app.size)
        classes = where.classes if where is not None else frozenset({"tiny"})
        if where is not None:
            self._fronts = [self.active, *(name for name in self._fronts if name != self.active)]
            groups = where.groups
            seen = frozenset(next((name for name in self._fronts if name in group), group[0])
                for group in groups)
            changed = self.where != where
            for name, pane in self.panes.items():
                if pane.display != (name in seen):
                    pane.display, changed, moved = name in seen, True, True
            if changed:
                self.set_classes([*classes, *(one for one in self.classes if one.startswith("for-"))])
                self.where = where
                self.fit(where, seen)
        elif "tiny" not in self.classes:
            self.where = None
            self.set_classes(classes)
            for one in (*self.panes.values(), *self.rows):
                one.display = False
        self.focus_active()
        if self.where is not before or moved:
            # The focus leaves what is hidden; the active pane takes it again as soon as it is seen.
            self.call_after_refresh(self.focus_active)

    def focus_active(self) -> None:
        """Give the active pane the focus, and show its keys."""
        if self.app.screen is not self:
            return
        if self.where is not None:
            body = self.body_of(self.active)
            if not body.has_focus:
                body.focus(scroll_visible=False)
        self.footer_line.say(self.hints())
        self.draw_titles()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """A click may move the focus as well."""
        if event.widget is not self.focused:
            return  # it has moved on since: to follow would take it back, and it would go to and fro for ever
        name = next((name for name, pane in self.panes.items() if pane in event.widget.ancestors), None)
        if name is not None and self.where is not None:
            self.focus_moved(name, event.widget)

    def focus_moved(self, pane: str, widget: Widget) -> None:
        """Follow the focus into a pane."""
        if pane != self.active:
            self.go(pane)

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Go to a pane, or to the line to type in."""
        self.active, self.typing = pane, typing
        self.lay_out()

    def turn(self, by: int) -> None:
        """Go to the next pane, or the one before."""
        names = list(self.names)
        self.go(names[(names.index(self.active) + by) % len(names)])

    # From and to the session.

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot. One that is older than what is shown is left out."""
        before = self.snapshot
        if before is None or snapshot.version >= before.version:
            self.snapshot = snapshot
            self.taken(before, snapshot)
            self.draw()

    def see(self, **changes: Any) -> None:
        """Ask for other rows, or for other sections."""
        look = dataclasses.replace(self.look, **changes)
        if look != self.look:
            self.look = look
            self.face.send(SetViewport(look))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.face.send(SetInput(event.value))

    def ask_find(self, where: str, text: str, found: Callable[[str], object]) -> None:
        """Ask for text to find; `where` is the name of what is searched, `text` what was looked for last."""
        self.face.push(FIND(self.face, where, text), lambda line: found(line) if line is not None else None)

    # What is seen.

    def draw(self) -> None:
        """Draw what has changed."""
        if self.snapshot is not None:
            with self.app.batch_update():
                self.header_line.show(self._header, self.mode, *self.header_of(self.snapshot))
                if self.draw_panes(self.snapshot):
                    self.draw_titles()

    def turn_view(self) -> None:
        """Show tokens in another way."""
        self.mode = GLYPH_MODES[(GLYPH_MODES.index(self.mode) + 1) % len(GLYPH_MODES)]
        self.draw()

    def draw_titles(self) -> None:
        """Name the panes, and say where one is in each."""
        if self.where is None:
            return
        for name, pane in self.panes.items():
            width = pane.size.width or self.size.width
            pane.title.say(titles(self.names, self.where.group_of(name), name, width), self.note_of(name))


def titles(
    names: Mapping[str, tuple[str, str]], group: Sequence[str], seen: str, width: int
) -> list[tuple[str, bool]]:
    """Return the title of a pane: the names of all panes in its group, if there is room.

    Args:
        names: A title and a short one of each pane.
        group: The panes that share the place.
        seen: The one that is seen.
        width: The columns of its box.
    """
    for n in (0, 1):
        words = [names[pane][n] for pane in group]
        if len(words) == 1 or sum(map(len, words)) + 3 * len(words) + 12 <= width:
            return [(word, pane == seen) for word, pane in zip(words, group, strict=True)]
    return [(names[pane][1] if pane == seen else names[pane][1][0], pane == seen) for pane in group]


# The command palette: the actions that mean something on the screen that is seen.


class Palette(CommandPalette):
    """The command palette, safe to show whatever was pasted into it."""

    def on_mount(self) -> None:
        """Show what is typed as other lines do."""
        self.query_one(Input).highlighter = StandIns()


class ActionCommands(Provider):
    """The actions in the command palette."""

    async def discover(self) -> Hits:
        """All of them."""
        for action in self._actions():
            yield DiscoveryHit(action.help, self._runner(action), help=_keys(action))

    async def search(self, query: str) -> Hits:
        """Those whose words look like what was typed."""
        matcher = self.matcher(query)
        for action in self._actions():
            if (score := matcher.match(action.help)) > 0:
                shown = matcher.highlight(action.help)
                yield Hit(score, shown, self._runner(action), text=action.help, help=_keys(action))

    def _actions(self) -> list[Action[Any]]:
        actions = self.screen.meant() if isinstance(self.screen, PaneScreen) else []
        return [one for one in actions if one.palette and one.does is not None]

    def _runner(self, action: Action[Any]) -> partial[Any]:
        return partial(action.does or (lambda on: None), self.app if action.always else self.screen)


def _keys(action: Action[Any]) -> str:
    return "key: " + " ".join(map(key_name, action.keys))
