"""The cost of the same text in many languages, under the tokenizer of each column."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.languages import BASES, Languages, report
from tokentui.analyze.report import Report
from tokentui.session.commands import Command, CountLanguages
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.link import EngineLink


class LanguagesScreen(ReportScreen[tuple[Languages, ...]]):
    """Shows a table of languages for each column, the cheapest first.

    Args:
        engine: The link to the session.
    """

    HEADING, ASKING, FIRST_TAB = "Languages", "encoding twelve languages …", 1
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "turn_basis", "unit", id="languages.basis",
            tooltip="Count the cost per sentence, byte, character, or word"),
        Binding("dollar_sign", "leave"),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.by = next(iter(BASES))
        """The basis of the costs."""

    def question(self) -> Command[tuple[Languages, ...]]:
        """Return the command that counts the costs in the current unit."""
        return CountLanguages(self.by)

    def report(self, answer: tuple[Languages, ...]) -> Report:
        """Return the report on the columns, by their names; empty names for columns that are closed."""
        columns = self.now.columns if self.now is not None else ()
        names = [columns[n].name if n < len(columns) else "" for n in range(len(answer))]
        return report(answer, names)

    def action_turn_basis(self) -> None:
        """Count the costs in the next unit of `BASES`."""
        names = [*BASES]
        self.by = names[(names.index(self.by) + 1) % len(names)]
        self.again()
