"""The cost of the same text in many languages, under the tokenizer of each column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Never

from tokentui.analyze.languages import BASES, LanguageCost, Languages
from tokentui.core.safetext import safe
from tokentui.session.commands import Command, CountLanguages
from tokentui.ui.dialogs import LEAVE, SCROLL
from tokentui.ui.dialogs.report import ReportScreen
from tokentui.ui.draw.figures import bar, number
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run
from tokentui.ui.face import Face
from tokentui.ui.keys import Action
from tokentui.ui.panes.lines import letter

_BAR, _LEAST = 24, 100
"""The longest bar; and the columns of a terminal that has room for one."""


class LanguagesScreen(ReportScreen[tuple[Languages, ...]]):
    """A table of languages, the cheapest first, of one column at a time.

    Args:
        face: The program.
    """

    HEADING, ASKING = "Languages", "encoding twelve languages …"
    ACTIONS: ClassVar[Sequence[Action[Never]]] = (
        Action(("tab", "right"), "column", lambda it: it.turn(1)),
        Action(("shift+tab", "left"), "", lambda it: it.turn(-1)),
        Action(("b",), "counted by", lambda it: it.turn_basis()), SCROLL, LEAVE,
        Action(("dollar_sign", "q"), "", lambda it: it.leave()),
    )

    def __init__(self, face: Face) -> None:
        super().__init__(face)
        self.by, self.place = next(iter(BASES)), 0
        """The basis of the costs, and the column that is seen."""

    def question(self) -> Command[tuple[Languages, ...]]:
        """The question."""
        return CountLanguages(self.by)

    def said(self, answer: tuple[Languages, ...]) -> Cell:
        """The column, and what costs are counted by."""
        found = answer[min(self.place, len(answer) - 1)]
        columns = self.now.columns if self.now is not None else ()
        out: list[Run] = []
        for n in range(len(answer) if len(answer) > 1 else 0):
            name = safe(columns[n].name, limit=20) if n < len(columns) else ""
            out += [letter(n), (f" {name}  ", "key" if n == self.place else "muted")]
        unit = BASES[found.by].unit
        counted = f", counted by {safe(found.counted_by)}" if len(answer) == 1 else ""
        out += [(f"tokens a {unit}{counted}", "strong")]
        return (*out, (f" · cheapest: {safe(found.cheapest) or 'none'}", "muted"))

    def columns(self) -> Sequence[Column]:
        """The figures of a language, and a bar where there is room."""
        figures = ("tokens", 10, 4), ("bytes/token", 11, 2), ("chars/token", 11, 1), ("cost", 10, 3)
        return (
            Column("language", flex=1, min_width=9, priority=6),
            *(Column(title, width=wide, align="right", priority=by) for title, wide, by in figures),
            Column("× cheapest", width=10, align="right", priority=5),
            Column("unknown", width=8, align="right"),
            *((Column("", width=_BAR),) if self.size.width >= _LEAST else ()),
        )

    def rows(self, answer: tuple[Languages, ...]) -> Iterator[TableRow]:
        """The languages, the cheapest first."""
        found = answer[min(self.place, len(answer) - 1)]
        most = max((one.times or 0 for one in found.rows), default=0)
        for one in found.rows:
            yield TableRow(one.language, _cells(one, most, one.language == found.cheapest))

    def turn(self, by: int) -> None:
        """See another column."""
        if self.answer:
            self.place = (self.place + by) % len(self.answer)
            self.lay_out()

    def turn_basis(self) -> None:
        """Count by something else."""
        names = [*BASES]
        self.by = names[(names.index(self.by) + 1) % len(names)]
        self.again()


def _cells(one: LanguageCost, most: float, cheapest: bool) -> tuple[Cell, ...]:
    name: Cell = ((safe(one.language), "success" if cheapest else ""),)
    if one.error:
        return (name, ((safe(one.error, limit=200), "error"),))

    def figure(value: float | None, places: int) -> Cell:
        return ((("–" if value is None else f"{value:,.{places}f}"), ""),)

    unknown: Cell = ((number(one.unknowns) if one.unknowns else "", "warning"),)
    return (name, ((number(one.tokens or 0), ""),), figure(one.bytes_per_token, 2),
            figure(one.characters_per_token, 2), figure(one.cost, 4), figure(one.times, 2), unknown,
            ((bar(one.times or 0, most, _BAR), "primary"),))
