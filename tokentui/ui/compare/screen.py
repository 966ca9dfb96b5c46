"""Compare: two to four columns in step, where they part, and what it costs. What its keys do."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widgets import Input

from tokentui.analyze.results import ONE_BOUNDARY
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import GLYPH_MODES
from tokentui.recipe import Recipe
from tokentui.session.commands import CancelWork, GoTo, Move, Play, Speed, Type
from tokentui.session.compared import (
    MOST,
    AddColumn,
    ColumnWanted,
    GoToParting,
    HeldOut,
    InStepBy,
    MoveColumn,
    NextPassage,
    Passage,
    RemoveColumn,
    ShowPassage,
    TokenInBoth,
    Under,
)
from tokentui.session.snapshot import LossRow, PairRow, TokenRow
from tokentui.ui.actions import bindings, meant
from tokentui.ui.compare.column_panes import Aside, ChoiceTable, ColumnSays
from tokentui.ui.compare.curves import CurveChart
from tokentui.ui.compare.lists import AgreementList
from tokentui.ui.compare.panes import ComparePanes
from tokentui.ui.compare.parting import SideTable
from tokentui.ui.compare.places import COLUMNS, ENCODE, PANES
from tokentui.ui.compare.vocabulary import TokensTable
from tokentui.ui.draw.table import VirtualTable


class CompareScreen(ComparePanes):
    """Compare; see `ComparePanes` for what it is made from."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("compare")]
    EVERYWHERE = "compare"
    """The context of what works on all of it, for the command palette."""

    # What the panes ask for.

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        if isinstance(event.table, ChoiceTable):
            # One window for all columns, so that their rows stand beside each other.
            table = self.columns[self.place].table
            height = max(event.table.size.height, table.size.height)
            self.see(pairs_top=max(0, table.top - height), pairs_rows=3 * height)
        elif isinstance(event.table, TokensTable) and self.pair is not None:
            self.see(vocabulary=self.vocabulary.look(self.pair))

    @on(VirtualTable.CursorMoved)
    def _cursor_moved(self, event: VirtualTable.CursorMoved) -> None:
        if event.table is self.columns[self.place].table:
            for column in self.columns:
                if column.table is not event.table and column.table.top != event.table.top:
                    column.table.top = event.table.top
                    column.table.move_to(event.table.cursor)
        elif event.table is self.parting.table:
            self.parting.follow()
        elif isinstance(event.table, TokensTable) and self.snapshot is not None:
            self.vocabulary.show(self.snapshot, self.pair, self.mode)
        self.draw_titles()

    @on(VirtualTable.Chosen)
    def _chosen(self, event: VirtualTable.Chosen) -> None:
        if isinstance(event.table, SideTable):
            self.action_to_parting()
        elif isinstance(event.table, AgreementList):
            self._encode_stretch(event.key)
        elif isinstance(event.table, TokensTable):
            self._inspect(event.table.token_at(event.index))
        elif isinstance(event.table, ChoiceTable) and (column := self.column_here()) is not None and column.at is not None:
            rows: tuple[PairRow | LossRow, ...] = column.at.pairs[event.index - column.at.pairs_top :][:1]
            self._inspect(*rows)

    @on(Aside)
    def _aside(self, event: Aside) -> None:
        if isinstance(event.source, ChoiceTable | ColumnSays):
            self._turn_column(event.by)
        elif isinstance(event.source, TokensTable):
            self.vocabulary.turn(event.by)
            self.draw()
        else:
            self._turn_pair(event.by)

    @on(CurveChart.Turned)
    def _turned(self) -> None:
        self.draw_titles()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.link.send(Type(event.value))

    def _inspect(self, row: PairRow | LossRow | TokenInBoth | None = None) -> None:
        from tokentui.ui.dialogs.inspect import InspectScreen, spelled_marks

        if isinstance(row, TokenInBoth):
            first = row.id_a is not None
            identity, uses = (row.id_a, row.uses_a) if first else (row.id_b, row.uses_b)
            key = None if self.pair is None else self.pair[0 if first else 1]
            of = next((one.recipe for one in self.snapshot.columns if one.key == key), None) if self.snapshot else None
            marks = spelled_marks(row.piece, of) if of else (0, 0)
            self.app.push_screen(InspectScreen(TokenRow(identity, row.piece, "token", None, None, uses, marks=marks)))
        elif row is not None:
            self.app.push_screen(InspectScreen(row))

    def _encode_stretch(self, key: Hashable) -> None:
        match key:
            case ("parting", int(n)):
                self._type_text(self.agreement.texts[n])

    def _type_text(self, text: str) -> None:
        self.link.send(ShowPassage(None))
        self.encode.line.value = text
        self.go(ENCODE)

    def _turn_column(self, by: int) -> None:
        count = len(self.snapshot.columns) if self.snapshot is not None else 1
        self.go(COLUMNS, (self.place + by) % count)

    def _turn_pair(self, by: int) -> None:
        now = self.snapshot
        pairs = list(combinations([column.key for column in now.columns], 2)) if now is not None else []
        if self.pair in pairs and len(pairs) > 1:
            self.pair = pairs[(pairs.index(self.pair) + by) % len(pairs)]
            self.vocabulary.table.move_to(0)
            self.draw()
        else:
            self.explorer.say("there are only two columns: + adds one")

    def _not_yet(self) -> None:
        self.explorer.say("not yet: the columns are being opened; press the key again then", "warning")

    # In step.

    def action_move(self, steps: int) -> None:
        """Steps forward, or back."""
        self.link.send(Move(steps))

    def action_play(self) -> None:
        """Run, or stop."""
        self.link.send(Play())

    def action_speed(self, by: int) -> None:
        """Play faster, or slower."""
        self.link.send(Speed(by))

    def action_start(self) -> None:
        """Go to the start."""
        self.link.send(GoTo(0))

    def action_end(self) -> None:
        """Go to the end of the run."""
        self.link.send(GoTo(None))

    def action_in_step(self) -> None:
        """Keep the columns together by something else."""
        self.link.send(InStepBy())

    def action_compare_go_to(self) -> None:
        """Ask where to go."""
        from tokentui.ui.compare.ask import AskLine, Going

        now = self.snapshot
        if now is None:
            self._not_yet()
            return
        going = Going(now)

        def asked(line: str | None) -> None:
            if line is not None:
                self.link.send(going.command(line))

        self.app.push_screen(AskLine("Go to", going.foretell), asked)

    def action_to_parting(self) -> None:
        """Go before the first step that the two columns make differently."""
        if self.pair is not None:
            self.link.send(GoToParting(*self.pair), self._parted)
        else:
            self._not_yet()

    def _parted(self, step: int | None) -> None:
        if step is None:
            self.explorer.say("no step differs")

    def action_spelling(self) -> None:
        """Compare merges by what they mean, or as they are spelled."""
        self.see(literal=not self.look.literal)
        how = "as they are spelled" if self.look.literal else f"by what they mean: {ONE_BOUNDARY}"
        self.explorer.say(f"merges are compared {how}")

    def action_pair(self) -> None:
        """Another two columns."""
        self._turn_pair(1)

    # Encodings.

    def action_type(self) -> None:
        """Type."""
        self.link.send(ShowPassage(None))
        self.go(ENCODE, typing=True)

    def action_clear(self) -> None:
        """Empty the line."""
        self.encode.line.value = ""

    def action_passage(self) -> None:
        """A passage of the corpus, or what was typed."""
        aligned = self.snapshot.aligned if self.snapshot is not None else None
        if aligned is not None:
            self.link.send(ShowPassage(Passage() if aligned.passage is None else None))
            self.go(ENCODE)
        else:
            self._not_yet()

    def action_next_parting(self) -> None:
        """The next disagreement."""
        self._to_disagreement(backward=False)

    def action_last_parting(self) -> None:
        """The disagreement before."""
        self._to_disagreement(backward=True)

    def _to_disagreement(self, backward: bool) -> None:
        aligned, rows = (self.snapshot.aligned if self.snapshot is not None else None), self.encode.rows
        if aligned is None:
            self._not_yet()
            return
        if self.active != ENCODE and not self.panes[ENCODE].display:
            self.go(ENCODE)
        if rows.go_on(backward):
            self.draw_titles()
        elif aligned.passage is not None:
            self.link.send(NextPassage(backward), lambda found: self._passage_found(found, backward))
        elif rows.partings:
            rows.go_round(backward)
            self.draw_titles()
        else:
            self.explorer.say("this text is cut alike: e looks in the corpus")

    def _passage_found(self, passage: Passage | None, backward: bool) -> None:
        if passage is None:
            self.explorer.say("the columns cut the whole corpus alike")
        else:
            self.encode.rows.await_passage(passage, backward)

    # Columns.

    def action_add(self) -> None:
        """Ask for another column."""
        now = self.snapshot
        if now is None:
            self._not_yet()
            return
        if len(now.columns) == MOST:
            self.explorer.tell(TokentuiError("there are four columns already", "compare", "x removes one"))
            return
        from tokentui.ui.compare.open import ask_column

        column = self.column_here()
        recipe = column.recipe if column is not None else None
        ask_column(self.explorer, "Add a column", recipe or Recipe(), self.add_column)

    def add_column(self, wanted: ColumnWanted) -> None:
        """Add a column, and go to it."""
        place = len(self.snapshot.columns) if self.snapshot is not None else 0
        self.link.send(AddColumn(wanted), lambda _: self.go(COLUMNS, place))

    def action_remove(self) -> None:
        """Remove the column."""
        if (column := self.column_here()) is not None:
            self.link.send(RemoveColumn(column.key))
        else:
            self._not_yet()

    def action_move_column(self, by: int) -> None:
        """Move the column to one side."""
        column, now = self.column_here(), self.snapshot
        if now is None:
            self._not_yet()
        if column is not None and now is not None and 0 <= self.place + by < len(now.columns):
            place = self.place + by
            self.link.send(MoveColumn(column.key, by), lambda _: self.go(self.active, place))

    # What is measured.

    def action_formulas(self) -> None:
        """Formulas, or conventions."""
        if self.active != "measures":
            self.go("measures")
        self.measures.turn_formulas()
        self.draw_titles()

    def action_under(self) -> None:
        """Ask for conventions."""
        from tokentui.ui.compare.ask import AskLine, conventions, foretell_conventions

        def asked(line: str | None) -> None:
            if line is not None:
                self.link.send(Under(*conventions(line)))

        self.app.push_screen(AskLine("Measure under", foretell_conventions), asked)

    async def action_held_out(self) -> None:
        """Ask for a second corpus, or close it."""
        if self.snapshot is not None and self.snapshot.held_out:
            self.link.send(HeldOut(""))
        else:
            from tokentui.ui.compare.open import ask_corpus

            await ask_corpus(self.explorer, lambda choice: self.link.send(HeldOut(choice.source, choice.as_)))

    def action_bare(self) -> None:
        """Compare tokens with their marks, or without."""
        self.vocabulary.turn_bare()
        self.draw()

    def action_compare_find(self) -> None:
        """Ask what to find in the vocabularies."""
        from tokentui.ui.dialogs.find import FindScreen

        def asked(text: str | None) -> None:
            if text is not None:
                self.go("vocabulary")
                self.vocabulary.find_text(text)
                self.draw()

        self.app.push_screen(FindScreen("the vocabularies", self.vocabulary.find), asked)

    # The rest.

    def action_pane(self, name: str) -> None:
        """Go to a pane; again to the columns: to the next of them."""
        if name == COLUMNS and self.active == COLUMNS:
            self._turn_column(1)
        else:
            self.go(name)

    def action_turn(self, by: int) -> None:
        """Go to the next pane, or the one before; each column is one."""
        count = len(self.snapshot.columns) if self.snapshot is not None else 1
        stops: list[tuple[str, int]] = [(COLUMNS, n) for n in range(count)]
        stops += [(name, self.place) for name in PANES if name != COLUMNS]
        at = stops.index((self.active, self.place))
        self.go(*stops[(at + by) % len(stops)])

    def action_zoom(self) -> None:
        """Give the pane all the room, or put the others back."""
        self.zoomed = not self.zoomed
        self.lay_out()

    def action_compare_glyphs(self) -> None:
        """Show candidates in another way."""
        self.mode = GLYPH_MODES[(GLYPH_MODES.index(self.mode) + 1) % len(GLYPH_MODES)]
        self.draw()

    def action_help(self) -> None:
        """Show all keys."""
        from tokentui.ui.dialogs.help import HelpScreen

        now = self.snapshot
        self.app.push_screen(HelpScreen(meant("", "compare"), self.context, now.engine if now is not None else ""))

    def action_cancel(self) -> None:
        """Leave typing; else stop walking; else end finding; else give the others their room back; else leave."""
        now = self.snapshot
        if self.typing:
            self.go(ENCODE)
        elif now is not None and now.goal is not None:
            self.link.send(CancelWork())
        elif self.vocabulary.find and self.active == "vocabulary":
            self.vocabulary.find_text("")
            self.draw()
        elif self.zoomed:
            self.action_zoom()
        else:
            self.dismiss(None)
