"""The glitch tokens of the tokenizer of a step: a list by kind, and the vocabulary narrowed to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Never

from tokentui.analyze.glitches import Glitch, report
from tokentui.analyze.report import Report
from tokentui.session.commands import Command, FindGlitches
from tokentui.ui.dialogs.report import ReportScreen
from tokentui.ui.keys import Action

if TYPE_CHECKING:  # it loads this dialog
    from tokentui.ui.main import MainScreen


class GlitchScreen(ReportScreen[tuple[Glitch, ...]]):
    """Lists the tokens that no text becomes, or none that people write, or that the corpus has only inside
    longer ones; each with its proof.

    Args:
        main: The main screen, whose vocabulary is narrowed.
    """

    HEADING, ASKING = "Glitch tokens", "looking at every token …"
    ACTIONS: ClassVar[Sequence[Action[Never]]] = (
        Action(("v",), "only these in the vocabulary", lambda it: it.narrow()), *ReportScreen.ACTIONS,
        Action(("exclamation_mark",), "", lambda it: it.leave()),
    )

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main.face)
        self._main = main

    def question(self) -> Command[tuple[Glitch, ...]]:
        """The question."""
        return FindGlitches()

    def report(self, answer: tuple[Glitch, ...]) -> Report:
        """Return the report."""
        return report(answer, self.now.main.at.vocab_size if self.now is not None else 0, with_corpus=True)

    def narrow(self) -> None:
        """Leave, and show only these in the vocabulary."""
        if self.shown is not None:
            sections = [self.section] if self.section is not None else self.tabs
            rows = [row for section in sections for row in section.rows]
            table = self._main.tables["vocabulary"]
            self._main.narrow("vocabulary", "")
            table.among = "glitch tokens"
            ids = frozenset(row.target.number for row in rows if row.target is not None)
            self._main.see(vocabulary_among=ids, vocabulary_top=0)
            self._main.go("vocabulary")
            self.dismiss(None)
