"""The base of the dialogs that ask one question and list what comes of it, in parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import ClassVar, Generic, Never, TypeVar

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.session.commands import Command
from tokentui.ui.dialogs import LEAVE, SCROLL, ListDialog, Told
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face
from tokentui.ui.keys import Action

Answer = TypeVar("Answer")
Listed = TypeVar("Listed")

FEW, MANY = 8, 1000
"""The rows of a part that are seen at first, and at most."""


class ReportScreen(ListDialog[None], Generic[Answer]):
    """Asks the session, and lists the answer. Of a long part the first rows are seen; enter on the last one
    shows more.

    A subclass gives `ASKING` (the words for the work), `question`, `rows` and `columns`.

    Args:
        face: The program.
        heading: The title, where it is not that of the class.
    """

    ASKING = "working …"
    ACTIONS: ClassVar[Sequence[Action[Never]]] = (
        Action(("enter",), "open"), SCROLL, LEAVE, Action(("q",), "", lambda it: it.leave()),
    )

    def __init__(self, face: Face, heading: str = "") -> None:
        super().__init__(face, heading)
        self.answer: Answer | None = None
        self._open: set[Hashable] = set()
        self.summary = Told("told")
        self.parts = self.summary, self.listing, self.notice

    def on_mount(self) -> None:
        """Ask."""
        self.again()

    def question(self) -> Command[Answer]:
        """The question."""
        raise NotImplementedError

    def said(self, answer: Answer) -> Cell:
        """The answer in a line."""
        raise NotImplementedError

    def rows(self, answer: Answer) -> Iterator[TableRow]:
        """The answer in rows."""
        raise NotImplementedError

    def columns(self) -> Sequence[Column]:
        """The columns of the rows."""
        raise NotImplementedError

    def again(self) -> None:
        """Ask again; what was answered goes."""
        self.answer = None
        self.listing.move_to(0)
        self.find_out(self.question(), self._take, self.ASKING, self._failed)
        self.lay_out()

    def _take(self, answer: Answer) -> None:
        self.answer = answer
        self.notice.say("")
        self.lay_out()

    def _failed(self, error: TokentuiError | Cancelled) -> None:
        self.notice.tell(error)
        self.lay_out()

    def tell_waiting(self) -> None:
        """Say it in the place of the answer."""
        self.lay_out()

    def lay_out(self) -> None:
        """Fit the rows to the room there is."""
        if self.answer is None:
            waits = self.asking and (self.waits or self.asking + self.asked_so_far)
            self.summary.show(((waits or "no answer", "muted"),))
            self.listing.show([], None, self.columns())
            return
        self.summary.show(self.said(self.answer))
        self.listing.show(list(self.rows(self.answer)), self.listing.cursor_key, self.columns())

    # Parts that may be long.

    def part(
        self, key: Hashable, title: Sequence[Cell], rows: Sequence[Listed], row: Callable[[Listed], TableRow]
    ) -> Iterator[TableRow]:
        """A heading, and rows below it: the first few, or more where they were asked for.

        Args:
            key: The key of the part.
            title: The cells of the heading.
            rows: What is listed.
            row: Makes the row of one of these.
        """
        yield TableRow(None, tuple(title))
        seen = rows[: MANY if key in self._open else FEW]
        yield from map(row, seen)
        if len(seen) < len(rows):
            more = f"and {number(len(rows) - len(seen))} more"
            more += " ▸" if key not in self._open else " (the command lists them by --json)"
            cells: list[Cell] = [()] * (len(title) - 1)
            yield TableRow(("more", key), (*cells, ((more, "muted"),)))

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Show more of a part, or what a row opens."""
        match event.key:
            case ("more", key):
                self._open.add(key)
                self.lay_out()
            case key:
                self.chosen(key)

    def chosen(self, key: Hashable) -> None:
        """Open what a row stands for."""
