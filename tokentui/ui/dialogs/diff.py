"""The differences of two columns: merges, ids, tokens that went and came, specials, steps, documents."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.diff import Diff, report
from tokentui.analyze.report import Report
from tokentui.core.safetext import safe
from tokentui.session.commands import Command, DiffColumns
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.draw.figures import number
from tokentui.ui.link import EngineLink


class DiffScreen(ReportScreen[Diff]):
    """Lists the differences of two columns. Enter on a token inspects it.

    Args:
        engine: The link to the session.
        pair: The keys of the columns, the old one first.
        names: Their names.
    """

    ASKING = "comparing …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "swap", "swap", id="diff.swap",
            tooltip="Swap the two columns"),
        Binding("equals_sign", "leave"),
    ]

    def __init__(self, engine: EngineLink, pair: tuple[int, int], names: tuple[str, str]) -> None:
        super().__init__(engine)
        self.pair, self.names = pair, names
        self._set_heading()

    def _set_heading(self) -> None:
        """Set the heading: both names, each with its step unless its column is closed."""
        steps = {column.key: column.at.step for column in self.now.columns} if self.now is not None else {}
        old, new = (
            safe(name, limit=40) + (f" at step {number(steps[key])}" if key in steps else "")
            for key, name in zip(self.pair, self.names, strict=True)
        )
        self.heading = f"From {old} to {new}"

    def question(self) -> Command[Diff]:
        """Return the command that asks for the differences."""
        return DiffColumns(*self.pair)

    def report(self, answer: Diff) -> Report:
        """Return the report on the difference, with the names of both columns."""
        return report(answer, self.names)

    def column_of(self, side: int) -> int | None:
        """Return the key of the column of a side, 0 for the old one and 1 for the new one."""
        return self.pair[side]

    def action_swap(self) -> None:
        """Swap the old and the new column, and ask again."""
        self.pair, self.names = self.pair[::-1], self.names[::-1]
        self._set_heading()
        self.name_box(self.heading)
        self.again()
