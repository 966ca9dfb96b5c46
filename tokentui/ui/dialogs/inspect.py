"""A row, a token or a text: what there is to know of it, and the way from one to another."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingsMap, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from tokentui.analyze.explained import text_sections
from tokentui.analyze.report import Row as ReportRow
from tokentui.analyze.report import Section, Span, Target, muted
from tokentui.analyze.results import StringFacts
from tokentui.analyze.token_words import character_sections
from tokentui.axes import AXES
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import to_bytes
from tokentui.learn.rows import Entry, PairCandidate
from tokentui.session.commands import GoTo, InspectText, InspectToken, Move, TokenPlaces
from tokentui.session.snapshot import Snapshot
from tokentui.session.training.token_values import Places, TokenView
from tokentui.session.views import ColumnSnapshot, CorpusPlace
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import Dialog, ListDialog, labeled_input, row_key, words_of
from tokentui.ui.dialogs.copying import token_of
from tokentui.ui.dialogs.inspected import (
    Row,
    bare_of,
    entry_of,
    identity_of,
    parents_section,
    parts_section,
    piece_of,
    row_sections,
    spelling_sections,
    text_of,
    token_sections,
    tokens_section,
    why_section,
    word_section,
)
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.sections import MANY, screen_cell, section_rows
from tokentui.ui.draw.table import GAP, Column, Listing, TableRow
from tokentui.ui.draw.text import Copied
from tokentui.ui.field import Field
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.waits import loads

UNFORESEEN = ("missing", "no-token", "marked")
"""The reasons of which only a training that goes on can tell more."""
_MOST_SECTIONS, _MOST_ROWS = 150, 200
PATIENCE_S = 0.15
"""The longest time in seconds that the answers of a moment are waited for: what was drawn before they came
would be drawn over at once."""
_LABEL_LEAST = 11
"""The columns that labels take at least: with the same most of the time, texts do not move sideways."""


class Shown(NamedTuple):
    """The subject of the dialog: a row, a token by its id or its bytes, or a text with a place in it."""

    row: Row | None = None
    token: int | bytes | None = None
    typed: tuple[str, int | None] | None = None

_OPEN = "open"
_OTHERS = Hint("others", pane="list", count=2)
_STEPS = Hint("steps", pane="list", count=2)


class InspectScreen(ListDialog[None]):
    """Shows a row of the vocabulary, of the pairs or of the pieces by loss, a token, or a text: why it is not
    one token, and how it was encoded. Enter inspects a part of it, backspace returns.

    While the corpus is loaded it updates the figures of the row. On a wide screen it is a pane at the right,
    and the corpus stays visible.

    Args:
        engine: The link to the session.
        row: The row; None for a text or a token.
        asks: True to explain the text of the row as well, with the tokenizer of the current step.
        typed: A text and a position in it: the word there is explained; None for the whole text.
        token: The id of a token.
        word: The text of the word that contains the token.
        column: The key of the column that it is about; None for the first.
        neighbor: Returns the row a number of rows further down in its pane; None if there is none.
    """

    HEADING = "Inspect"
    HORIZONTAL_BREAKPOINTS = [*Dialog.HORIZONTAL_BREAKPOINTS, (140, "-beside")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, _OPEN, group=Hint(pane="list")),
        Binding("tab", "hand_keys", "panes", id="inspect.panes", group=Hint(pane="list"),
            tooltip="Move the focus to the panes beside the inspector; tab again returns"),
        Binding("backspace", "back", "back", id="inspect.back", group=Hint(pane="list"),
            tooltip="Go back to what was inspected before"),
        Binding("left", "turn(-1)", "previous", id="inspect.previous", group=_OTHERS,
            tooltip="Inspect the previous token"),
        Binding("right", "turn(1)", "next", id="inspect.next", group=_OTHERS,
            tooltip="Inspect the next token"),
        Binding("n", "more_places", "places", id="inspect.places", group=Hint(pane="list"),
            tooltip="Find more places in the corpus"),
        Binding("w", "show_life", "life", id="inspect.life", group=Hint(pane="list"),
            tooltip="List the steps that segmented the word differently"),
        Binding("right_square_bracket", "step(10)", "±10 steps", id="inspect.next_10", group=_STEPS,
            tooltip="Take ten steps, and tell how the text is encoded then"),
        Binding("left_square_bracket", "step(-10)", "−10 steps", id="inspect.back_10", group=_STEPS,
            tooltip="Go ten steps back, and tell how the text is encoded then"),
        Binding("i", "ask_text", "text", id="inspect.text", group=Hint(pane="list"),
            tooltip="Explain how a text that you type is encoded"),
        Binding("enter", HANDLED, "explain", group=Hint(pane="line")),
    ]

    def __init__(
        self, engine: EngineLink, row: Row | None = None, *, asks: bool = False,
        typed: tuple[str, int | None] | None = None,
        token: int | None = None, word: str = "", column: int | None = None,
        neighbor: Callable[[int], Row | None] | None = None,
    ) -> None:
        super().__init__(engine)
        self._column, self._tells, self._neighbor = column, asks or row is None, neighbor
        self._word = word
        self._past: list[tuple[Shown, Hashable]] = []
        self._keep: Hashable = None
        """The key of the row to come back to, as soon as it is there."""
        self.view: TokenView | None = None
        """The facts of the token, once they have come."""
        self.places: Places | None = None
        """The places of the token that are shown, once they have come."""
        self._first = 1
        self.found: StringFacts | None = None
        """The facts of the text, once they have come."""
        self._targets: dict[Hashable, ReportRow] = {}
        """The rows of the report, by their keys."""
        self._unfolded: set[Hashable] = set()
        """The keys of the last rows of sections of which all rows are shown."""
        self._is_asked = False
        """True once it is asked how a text is encoded."""
        self._failed = self._lacks = ""
        self._told_at: int | None = None
        """The step at which the text was asked about last."""
        self._learning = False
        """True while a token is looked up."""
        self._patience: Timer | None = None
        """Runs while answers are waited for before anything is drawn."""
        self.field = Field()
        self.parts = self.listing, labeled_input("text", self.field, "edit wide")
        self.shown = Shown(row, token, typed)
        """The subject."""
        self._seen_at: int | None = None
        """The step that the token was explained at last."""
        self._row, self._follows = row, row is not None and loads(engine.snapshot)
        self._set_heading()

    def _set_heading(self) -> None:
        """Set the heading from the row, else the bytes of the token, else the typed text; leave it for a
        token id."""
        row, token, typed = self.shown
        if row is not None:
            self._set_title(piece_of(row))
        elif isinstance(token, bytes) or typed is not None:
            self._set_title(token if isinstance(token, bytes) else typed[0] if typed is not None else "")

    def _set_title(self, data: bytes | str) -> None:
        """Set the heading to a piece or a text, cut to 30 characters, and show it in the title."""
        shown = "".join(text for text, _ in ui_text.runs(data, limit=30))
        self.heading = f"{self.HEADING} ‘{shown}’"
        if self.is_mounted:
            self.name_box(self.heading)

    @property
    def column(self) -> ColumnSnapshot | None:
        """The inspected column, or the main one if no other was named. None before the first snapshot, and if
        the named column no longer exists."""
        now = self.now
        if now is None or self._column is None:
            return None if now is None else now.main
        return next((column for column in now.columns if column.key == self._column), None)

    # What is asked.

    def on_mount(self) -> None:
        """Focus the list, and ask for the facts of the subject."""
        super().on_mount()
        self.fit_height(0)
        self._ask_all()

    def _ask_all(self) -> None:
        """Forget the answers, and ask for those about `shown`. The rows stay until they come, or for
        `PATIENCE_S` seconds."""
        if self._patience is not None:
            self._patience.stop()
        self._patience = self.set_timer(PATIENCE_S, self._stop_waiting)
        self.view = self.places = self.found = None
        self._is_asked, self._failed, self._lacks, self._first = False, "", "", 1
        row, token, typed = self.shown
        self._row = row
        self._set_heading()
        if isinstance(row, Entry) and row.id is not None and row.kind != "left":
            token = row.id
        if token is not None and self._tells:
            self._learning = True
            start_worker(self, "token", self._look_up_token, token)
        else:
            self._learning = False
            self.workers.cancel_group(self, "token")
        if typed is not None:
            self._ask(InspectText(*typed, column=self._column))
        elif row is not None:
            self._ask_about(row)
        self.lay_out()

    def _ask_about(self, row: Row) -> None:
        """Ask for the explanation of how the text of a row is encoded. Do nothing without a column, for a row
        that is shown alone, and for a pair whose token is not the whole word, such as `##22`: its text alone
        is another word."""
        column = self.column
        if column is None or not self._tells:
            return
        mark, (front, end) = AXES["mark"].of(column.recipe.mark), row.marks
        if isinstance(row, PairCandidate) and (front or (mark.ends_word and not end)):
            return  # its text alone is another word: `22` is no `##22`
        if text := text_of(row, column.recipe):
            self._ask(InspectText(text, column=self._column))

    async def _look_up_token(self, token: int | bytes) -> None:
        """Ask for the facts of a token, then for its first places if it is used, and show them.

        If no row is inspected, make one of the token and ask about its text. On an error, show the error in
        place of the facts.
        """
        try:
            self.view = view = await self.engine.ask(InspectToken(token, self._column))
            if self._row is None:
                self._row = row = entry_of(view)
                self._set_title(row.piece)
                self._ask_about(row)
            self._learning = bool(view.uses)
            self.lay_out()
            if view.uses:
                await self._show_places(None)
        except (TokentuiError, Cancelled) as error:
            self._learning = False
            self._lacks = words_of(error)
            self.lay_out()

    async def _show_places(self, after: CorpusPlace | None, first: int = 1) -> None:
        """Ask for the places of the token after one, and show them, or the error. Do nothing before the token
        is known.

        Args:
            after: The place to start behind; None for the start of the corpus.
            first: The number of the first of them.
        """
        if (view := self.view) is None:
            return
        try:
            self.places = await self.engine.ask(TokenPlaces(view.facts.id, after, column=self._column))
            self._first = first
        except (TokentuiError, Cancelled) as error:
            self._lacks = words_of(error)
        self._learning = False
        self.lay_out()

    def action_more_places(self) -> None:
        """Show the next places of the token; after the last ones, the first again. Do nothing before the
        first places are shown, and while a line is edited."""
        held = self.places
        if self.view is None or held is None or self.editing:
            return
        first = self._first + len(held.found) if held.found else 1
        after = held.found[-1].place if held.found else None
        if self.view.uses and held.counted and first > self.view.uses:
            first, after = 1, None

        start_worker(self, "token", self._show_places, after, first)

    @property
    def _grows(self) -> bool:
        """True while a typed text is shown, whose encoding changes with the step."""
        return self.found is not None and self._row is None

    def action_step(self, steps: int) -> None:
        """Move the training by steps; the encoding of the typed text follows. Do nothing unless a typed text
        is shown."""
        if self._grows and not self.editing:
            self.engine.send(Move(steps))

    def _follow_text(self, snapshot: Snapshot) -> None:
        """Ask about the typed text again if the step has changed and the run is paused. Do nothing for a row
        or a token."""
        found, column = self.found, self.column
        if found is not None and self._grows and self.is_mounted and column is not None \
                and column.at.step != self._told_at and not snapshot.running:
            self._ask(InspectText(found.text, column=self._column))

    def _ask(self, command: InspectText) -> None:
        """Ask for the facts of a text at the current step, and note the step; `_explain` shows the answer."""
        self._is_asked, self._failed = True, ""
        self._told_at = None if self.column is None else self.column.at.step
        self.start_asking("working …", self._explain, command)

    async def _explain(self, command: InspectText) -> None:
        """Ask for the facts of a text and show them; name the text in the title if no row is inspected.

        If the reason is in `UNFORESEEN`, ask again with a copy trained further: the second answer replaces
        the first. Errors go to `fail`.
        """
        self.found = found = await self.ask(command)
        if self._row is None:
            self._set_title(found.text)
        if found.reason.reason in UNFORESEEN:
            ahead = InspectText(found.text, ahead=True, column=command.column)
            self.found = await self.ask(ahead, "training a copy further, to see whether it appears …")
        self.lay_out()

    def fail(self, error: TokentuiError | Cancelled) -> None:
        """Show in the list why there is no answer."""
        self._failed = words_of(error)
        self.lay_out()

    # Beside the panes.

    @property
    def beside(self) -> bool:
        """True if it is a pane at the right of the main screen."""
        below = self._below
        return self.has_class("-beside") and isinstance(below, EngineScreen) and below.beside_inspector

    @property
    def _below(self) -> Screen[Any] | None:
        """The screen below this one; None if there is none."""
        stack = self.app.screen_stack
        return stack[stack.index(self) - 1] if self in stack[1:] else None

    def action_hand_keys(self) -> None:
        """Give the keyboard to the panes beside the inspector; if there are none, show a message."""
        below = self._below
        if not self.beside or not isinstance(below, EngineScreen):
            self.app.say("the inspector stands beside the panes from 140 columns on")
            return
        self.hands_keys_to = below
        self.add_class("-aside")
        self.show_keys()
        below.keys_moved()

    def take_keys(self) -> None:
        """Take the keyboard back from the screen below, and show the keys of this dialog."""
        super().take_keys()
        self.remove_class("-aside")
        self.show_keys()
        if isinstance(below := self._below, EngineScreen):
            below.keys_moved()

    def show_keys(self) -> None:
        """Show its keys; while the panes have the keyboard, only those that take it back and that close the
        inspector."""
        super().show_keys()
        if self.hands_keys_to is not None:
            actions = {action.id: action for action in self.named_actions}
            back = dataclasses.replace(actions["inspect.panes"], label="inspector")
            self.key_line.set_actions([back, actions["dialog.leave"]])

    @property
    def _modal_binding_chain(self) -> list[tuple[DOMNode, BindingsMap]]:
        below = self.hands_keys_to
        return super()._modal_binding_chain if below is None else below._modal_binding_chain

    def _follow_token(self) -> None:
        """Ask about the token again if the step has changed and the run is paused.

        Do nothing unless the inspector is beside the panes and about a token. The first call only notes the
        step.
        """
        column, token = self.column, self.view.facts.id if self.view is not None else self.shown.token
        if self.beside and token is not None and column is not None and self.now is not None \
                and column.at.step != self._seen_at and not self.now.running:
            if self._seen_at is not None:
                self.shown, self._keep = Shown(token=token), self.listing.cursor_key
                self._ask_all()
            self._seen_at = column.at.step

    # From one to another.

    def _go(self, to: Shown) -> None:
        """Inspect another subject from the top, and remember this one for `action_back`."""
        self._past.append((self.shown, self.listing.cursor_key))
        self.shown, self._keep = to, None
        self.listing.move_to(0)
        self._ask_all()

    def action_back(self) -> None:
        """Inspect the previous subject again, with the cursor on its row. Do nothing if there is none, and
        while a line is edited."""
        if self._past and not self.editing:
            self.shown, self._keep = self._past.pop()
            self._ask_all()

    def action_turn(self, by: int) -> None:
        """Inspect the row `by` rows further in its pane; after going to another subject, or without a pane,
        the token with the next or previous id.

        Do nothing without a neighbor, and while a line is edited.
        """
        if self.editing:
            return
        if not self._past and self._neighbor is not None:
            if (row := self._neighbor(by)) is not None:
                self.shown = Shown(row)
                self._ask_all()
        elif (view := self.view) is not None and (near := view.before if by < 0 else view.after) is not None:
            self.shown, self._word = Shown(token=near), ""
            self._ask_all()

    def action_show_life(self) -> None:
        """Open the list of the steps that segmented the text differently. Do nothing before the text is
        explained, for a column of Compare, and while a line is edited."""
        from tokentui.ui.dialogs.life import LifeScreen

        if self.found is not None and self.found.text and self._column is None and not self.editing:
            self.app.push_screen(LifeScreen(self.engine, self.found.text, 0))

    def action_ask_text(self) -> None:
        """Open the line to type a text to inspect. Do nothing if only a row is shown."""
        if not self.editing and self._tells:
            self.edit(self.field, "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the line, and inspect the typed text; an empty text changes nothing."""
        self.end_edit(self.listing)
        if event.value:
            self._go(Shown(typed=(event.value, None)))

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Inspect the token or word of the row, show all rows of its section, or go to its step and close. Do
        nothing for other rows."""
        match self._target_of(event.key):
            case Target("token") as token:
                self._go(Shown(token=token.piece or token.number))
            case Target("word") as word:
                self._go(Shown(typed=(word.text, None)))
            case Target("step") as step:
                self.engine.send(GoTo(step.number))
                self.dismiss(None)
            case _ if self._is_folded(event.key):
                self._unfolded.add(row_key(event.key))
                self.lay_out()

    def copied(self) -> Iterator[Copied]:
        """Yield the token and its id, then the text and its ids, as far as they are known."""
        if self._row is not None:
            yield token_of("token", piece_of(self._row))
        if self.view is not None:
            yield Copied("id", str(self.view.facts.id))
        if self.found is not None and self.found.encoding is not None:
            yield Copied("text", self.found.text, marked=True)
            yield Copied("ids of the text", json.dumps([row.id for row in self.found.encoding.rows]))

    def follow(self, snapshot: Snapshot) -> None:
        """Keep the snapshot, and ask again about a text or a token if the step has changed. If the dialog was
        opened on a row while the corpus was loading, also update the row from `snapshot.main`, if that holds
        it."""
        super().follow(snapshot)
        self._follow_text(snapshot)
        if self.is_mounted:
            self._follow_token()
        if not self._follows or not self.is_mounted:
            return
        rows: tuple[Row, ...] = (*snapshot.main.candidates.rows, *snapshot.main.vocabulary.rows)
        own = self._row
        if own is None:
            return
        same = [row for row in rows if type(row) is type(own) and identity_of(row) == identity_of(own)]
        if same and same[0] != own:
            self._row = same[0]
            self.lay_out()

    # What is seen.

    def _stop_waiting(self) -> None:
        """Show the answers that have come, and a line for each that has not."""
        self._patience = None
        self.lay_out()

    def lay_out(self) -> None:
        """Show the report for the width of the list, fit the height, and show only keys that have an effect.

        Do nothing before it is mounted, and for up to `PATIENCE_S` seconds while it waits for answers.
        """
        self.dims = not self.has_class("-beside")
        if self.dims and self.hands_keys_to is not None:
            self.take_keys()
        if not self.is_mounted or (self._patience is not None and (self.asking or self._learning)):
            return
        if self._patience is not None:
            self._patience.stop()
            self._patience = None
        sections = list(self._sections())
        label = max(_LABEL_LEAST, *(ui_text.width(screen_cell(section.name)) for section in sections))
        room = self.listing.size.width - 3 - label - 2 * GAP  # a blank stays at the end
        rows = list(self._rows(sections, max(20, room)))
        able = {
            "inspect.previous": self._neighbor is not None or self.view is not None,
            "inspect.places": bool(self.places),
            "inspect.next_10": self._grows, "inspect.back_10": self._grows,
            "inspect.panes": self.is_mounted and self.beside,
            "inspect.life": self.found is not None and self._column is None, "inspect.text": self._tells,
            _OPEN: any(map(self._opens, rows)), "inspect.back": bool(self._past),
        }
        self.shown_actions = [
            action for action in self.named_actions
            if able.get(action.label if action.id == HANDLED else action.id, True)
        ]
        self.show_keys()
        columns = Column(width=label, priority=1), Column(flex=1, min_width=12, priority=2)
        self.tell(columns, rows, words=True, keep=self._keep)
        if self.listing.index_of(self._keep) is not None:
            self._keep = None
        if self.dims:
            self.fit_height(len(self.listing.rows))
        else:
            self.box.styles.height = None

    def _sections(self) -> Iterator[Section]:
        """Yield the sections of the report: why the text is so, the facts of the row and the token, the
        encoding of the text, and its code points.

        A part that is awaited or failed is one line that says so.
        """
        found, row, column, view = self.found, self._row, self.column, self.view
        if self._is_asked:
            asking = self.awaited or self._failed
            if found is not None:
                yield why_section(found, asking, row.id if isinstance(row, Entry) else None)
            else:
                yield Section("one token", Span(asking, "error" if self._failed else "muted"))
        elif row is None:
            yield Section("token", muted(self._lacks or self.waits or "working …"))
        if self._word and view is not None and not self._past:
            yield word_section(self._word)
        if row is not None:
            yield from row_sections(row, column.at.step if column is not None else 0)
            if view is None or not view.facts.parents:
                yield from parents_section(row)
            if isinstance(row, PairCandidate) and self._tells:
                yield parts_section(row.parts)
        if view is not None:
            yield from token_sections(view, self.places, self._first)
        elif self._lacks and row is not None:
            yield Section("", Span(self._lacks, "error"))
        if row is not None:
            yield from spelling_sections(row)
        if found is not None:
            yield Section() if row is not None else tokens_section(found)
            steps = column is not None and column.opened is None and self._column is None
            yield from itertools.islice(text_sections(found, steps), _MOST_SECTIONS)
        yield Section()
        yield from character_sections(
            bare_of(row) if row is not None else to_bytes(found.text) if found is not None else b"")

    def _rows(self, sections: Sequence[Section], width: int) -> Iterator[TableRow]:
        """Yield the rows of sections, and put the report row behind each into `_targets`, which is cleared
        first.

        Args:
            sections: The sections.
            width: The columns of a drawing.
        """
        self._targets.clear()
        places = Counter[str]()
        for section in sections:
            place = section.name, places[section.name]  # stays the same while other sections come
            places[section.name] += 1
            few = MANY if ("more", place) in self._unfolded else _MOST_ROWS
            yield from section_rows(section, place, few, self._targets, set(), width)

    def _target_of(self, key: Hashable) -> Target | None:
        """Return what the row of a key leads to; None for nothing."""
        row = self._targets.get(row_key(key))
        return None if row is None else row.target

    def _opens(self, row: TableRow) -> bool:
        """Return whether enter does something on a row."""
        return self._is_folded(row.key) or self._target_of(row.key) is not None

    def _is_folded(self, key: Hashable) -> bool:
        """Return whether the key is that of a row that stands for further rows of its section."""
        first = row_key(key)
        return isinstance(first, tuple) and first[0] == "more"
