"""Compare: two to four columns in step, where they part, and what it costs. What its keys do."""


from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations
from typing import Any

from textual import on
from textual.widgets import Input

from tokentui.analyze.results import ONE_BOUNDARY
from tokentui.core.errors import TokentuiError
from tokentui.recipe import Recipe
from tokentui.session.catalog import MOST
from tokentui.session.commands import CancelWork, Command, SetInput
from tokentui.session.commands_compare import (
    AddColumn,
    ColumnWanted,
    GoToDivergence,
    HoldOut,
    MeasureUnder,
    MoveColumn,
    NextPassage,
    RemoveColumn,
    ShowPassage,
    SyncBy,
)
from tokentui.session.snapshot import TokenInBoth
from tokentui.session.views import LossRow, PairRow, Passage, TokenRow
from tokentui.ui.compare.column_panes import ChoiceTable
from tokentui.ui.compare.measures import AgreementList
from tokentui.ui.compare.panes import COLUMNS, ENCODE, ComparePanes
from tokentui.ui.compare.parting import SideTable
from tokentui.ui.compare.vocabulary import TokensTable
from tokentui.ui.dialogs.add import AddScreen
from tokentui.ui.dialogs.ask import AskLine, FindScreen, Going, conventions, foretell_conventions
from tokentui.ui.dialogs.inspect import InspectScreen, spelled_marks
from tokentui.ui.dialogs.open import OpenChoice, OpenScreen
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.face import Face, not_yet


class CompareScreen(ComparePanes):
    """Compare; see `ComparePanes` for what it is made from."""

    # What the panes ask for.

    @on(VirtualTable.WindowWanted)
    def _window_wanted(self, event: VirtualTable.WindowWanted) -> None:
        if isinstance(event.table, ChoiceTable):
            # One window for all columns, so that their rows are side by side.
            table = self.columns[self.place].table
            height = max(event.table.size.height, table.size.height)
            self.see(candidates_top=max(0, table.top - height), candidates_rows=3 * height)
        elif isinstance(event.table, TokensTable) and self.pair is not None:
            self.see(tokens=self.vocabulary.look(self.pair))

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
            self.go_to_parting()
        elif isinstance(event.table, AgreementList):
            self._encode_stretch(event.key)
        elif isinstance(event.table, TokensTable):
            self._inspect(event.table.token_at(event.index))
        elif isinstance(event.table, ChoiceTable) and (
                column := self.column_here()) is not None and column.in_sync:
            page = column.candidates
            rows: tuple[PairRow | LossRow, ...] = page.rows[event.index - page.top :][:1]
            self._inspect(*rows)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.face.send(SetInput(event.value))

    def _inspect(self, row: PairRow | LossRow | TokenInBoth | None = None) -> None:
        if isinstance(row, TokenInBoth):
            first = row.id_a is not None
            identity, uses = (row.id_a, row.uses_a) if first else (row.id_b, row.uses_b)
            key = None if self.pair is None else self.pair[0 if first else 1]
            of = next((one.recipe for one in self.snapshot.columns if one.key == key),
                None) if self.snapshot else None
            marks = spelled_marks(row.piece, of) if of else (0, 0)
            self.face.push(InspectScreen(self.face,
                TokenRow(identity, row.piece, "token", None, None, uses, marks=marks)))
        elif row is not None:
            self.face.push(InspectScreen(self.face, row))

    def _encode_stretch(self, key: Hashable) -> None:
        match key:
            case ("parting", int(n)):
                self._type_text(self.agreement.texts[n])

    def _type_text(self, text: str) -> None:
        self.face.send(ShowPassage(None))
        self.encode.line.value = text
        self.go(ENCODE)

    def _turn_column(self, by: int) -> None:
        count = len(self.snapshot.columns) if self.snapshot is not None else 1
        self.go_to_column((self.place + by) % count)

    def turn_pair(self, by: int) -> None:
        """Look at another two of the columns."""
        now = self.snapshot
        pairs = list(combinations([column.key for column in now.columns], 2)) if now is not None else []
        if self.pair in pairs and len(pairs) > 1:
            self.pair = pairs[(pairs.index(self.pair) + by) % len(pairs)]
            self.vocabulary.table.move_to(0)
            self.draw()
        else:
            self.face.say("there are only two columns: + adds one")

    def _not_yet(self) -> None:
        self.face.say("not yet: the columns are being opened; press the key again then", "warning")

    # In step.

    def turn_sync(self) -> None:
        """Keep the columns together by something else."""
        self.face.send(SyncBy())

    def go_to(self) -> None:
        """Ask where to go."""
        now = self.snapshot
        if now is None:
            self._not_yet()
            return
        going = Going(now)
        self.face.push(AskLine(self.face, "Go to", going.foretell,
            lambda line: self.send(going.command(line))))

    def go_to_parting(self) -> None:
        """Go before the first step that the two columns make differently."""
        if self.pair is not None:
            self.face.send(GoToDivergence(*self.pair), self._parted)
        else:
            self._not_yet()

    def _parted(self, step: int | None) -> None:
        if step is None:
            self.face.say("no step differs")

    def turn_spelling(self) -> None:
        """Compare merges by what they mean, or as they are spelled."""
        self.see(literal=not self.look.literal)
        how = "as they are spelled" if self.look.literal else f"by what they mean: {ONE_BOUNDARY}"
        self.face.say(f"merges are compared {how}")

    # Encodings.

    def turn_passage(self) -> None:
        """A passage of the corpus, or what was typed."""
        aligned = self.snapshot.between.aligned if self.snapshot is not None else None
        if aligned is not None:
            self.face.send(ShowPassage(Passage() if aligned.passage is None else None))
            self.go(ENCODE)
        else:
            self._not_yet()

    def go_to_disagreement(self, backward: bool) -> None:
        """Go to the next place that the columns cut differently, or the one before."""
        aligned, rows = (self.snapshot.between.aligned if self.snapshot is not None else None), self.encode.rows
        if aligned is None:
            self._not_yet()
            return
        if self.active != ENCODE and not self.panes[ENCODE].display:
            self.go(ENCODE)
        if rows.go_on(backward):
            self.draw_titles()
        elif aligned.passage is not None:
            self.face.send(NextPassage(backward), lambda found: self._passage_found(found, backward))
        elif rows.partings:
            rows.go_round(backward)
            self.draw_titles()
        else:
            self.face.say("this text is cut alike: e looks in the corpus")

    def _passage_found(self, passage: Passage | None, backward: bool) -> None:
        if passage is None:
            self.face.say("the columns cut the whole corpus alike")
        else:
            self.encode.rows.await_passage(passage, backward)

    # Columns.

    def ask_column(self) -> None:
        """Ask for another column."""
        now = self.snapshot
        if now is None:
            self._not_yet()
            return
        if len(now.columns) == MOST:
            self.face.tell(TokentuiError("there are four columns already", "compare", "x removes one"))
            return
        column = self.column_here()
        recipe = (column.recipe if column is not None else None) or Recipe()
        add = lambda wanted: self.add_column(wanted) if wanted is not None else None  # noqa: E731
        self.face.push(AddScreen(self.face, "Add a column", recipe), add)

    def add_column(self, wanted: ColumnWanted) -> None:
        """Add a column, and go to it."""
        place = len(self.snapshot.columns) if self.snapshot is not None else 0
        self.face.send(AddColumn(wanted), lambda _: self.go_to_column(place))

    def remove_column(self) -> None:
        """Remove the column."""
        if (column := self.column_here()) is not None:
            self.face.send(RemoveColumn(column.key))
        else:
            self._not_yet()

    def move_column(self, by: int) -> None:
        """Move the column to one side."""
        column, now = self.column_here(), self.snapshot
        if now is None:
            self._not_yet()
        if column is not None and now is not None and 0 <= self.place + by < len(now.columns):
            place = self.place + by
            self.face.send(MoveColumn(column.key, by), lambda _: self._moved(place))

    # What is measured.

    def turn_formulas(self) -> None:
        """Formulas, or conventions."""
        if self.active != "measures":
            self.go("measures")
        self.measures.turn_formulas()
        self.draw_titles()

    def ask_conventions(self) -> None:
        """Ask for conventions."""
        take = lambda line: self.send(MeasureUnder(*conventions(line)))  # noqa: E731
        self.face.push(AskLine(self.face, "Measure under", foretell_conventions, take))

    def ask_held_out(self) -> None:
        """Ask for a second corpus, or close it."""
        if self.snapshot is not None and self.snapshot.between.held_out:
            self.send(HoldOut(""))
        else:
            self.face.push(OpenScreen(self.face, corpora=True), self._hold_out)

    def _hold_out(self, choice: OpenChoice | None) -> None:
        if choice is not None:
            self.send(HoldOut(choice.source, choice.as_))

    def turn_bare(self) -> None:
        """Compare tokens with their marks, or without."""
        self.vocabulary.turn_bare()
        self.draw()

    def find(self) -> None:
        """Ask what to find in the vocabularies."""

        def asked(text: str | None) -> None:
            if text is not None:
                self.go("vocabulary")
                self.vocabulary.find_text(text)
                self.draw()

        self.face.push(FindScreen(self.face, "the vocabularies", self.vocabulary.find), asked)

    # The rest.

    def _moved(self, place: int) -> None:
        self.place = place
        self.go(self.active)

    def send(self, command: Command[Any]) -> None:
        """Hand a command to the session."""
        self.face.send(command)

    def go_or_turn(self) -> None:
        """Go to the columns; again: to the next of them."""
        if self.active == COLUMNS:
            self._turn_column(1)
        else:
            self.go(COLUMNS)

    def go(self, pane: str, *, typing: bool = False) -> None:
        """Go to a pane; of the encodings, to the line to type in."""
        if typing:
            self.face.send(ShowPassage(None))
        super().go(pane, typing=typing)

    def sideways(self, by: int) -> None:
        """Go to what stands at the side of what has the focus: a column, a pair, a list; or scroll."""
        match self.active:
            case "columns":
                self._turn_column(by)
            case "vocabulary":
                self.vocabulary.turn(by)
                self.draw()
            case "encode":
                self.encode.rows.sideways(by)
            case "curves":
                self.curves.sideways(by)
            case _:
                self.turn_pair(by)

    def turn_curve(self, by: int) -> None:
        """Draw another measure."""
        self.curves.turn(by)
        self.draw_titles()

    def zoom(self) -> None:
        """Give the pane all the room, or put the others back."""
        self.zoomed = not self.zoomed
        self.lay_out()

    def leave(self) -> None:
        """Leave typing; else stop walking; else end finding; else give the others their room back; else
        leave.
        """
        now = self.snapshot
        if self.typing:
            self.go(ENCODE)
        elif now is not None and now.goal is not None:
            self.face.send(CancelWork())
        elif self.vocabulary.find and self.active == "vocabulary":
            self.vocabulary.find_text("")
            self.draw()
        elif self.zoomed:
            self.zoom()
        else:
            self.dismiss(None)


def compare_with(face: Face) -> None:
    """Ask for a second column, and compare what is trained with it."""
    now = face.snapshot
    if now is None:
        not_yet(face)
        return
    if now.parked:
        face.compare(())  # as it was left
        return
    column = now.main
    if column.opened is not None:
        first, name = ColumnWanted(path=column.path, split=column.recipe.split), column.opened.name
    else:
        first, name = ColumnWanted(column.recipe, face.run_in_use, name=column.preset), column.preset
    dialog = AddScreen(face, f"Compare {name or 'this'} with", column.recipe)
    face.push(dialog, lambda second: face.compare((first, second)) if second is not None else None)
