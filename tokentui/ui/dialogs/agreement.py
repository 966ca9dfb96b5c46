"""The heat map of how far each two columns of Compare agree."""

from __future__ import annotations

from collections.abc import Mapping

from tokentui.analyze.agreement_map import agreement_report
from tokentui.analyze.compare import PairAgreement
from tokentui.analyze.report import Report
from tokentui.session.commands import Command, MeasureAgreement
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.link import EngineLink


class AgreementScreen(ReportScreen[tuple[PairAgreement, ...]]):
    """Shows the share of words that each two columns split alike; enter lists the figures.

    Args:
        engine: The link to the session.
        names: The names of the columns, by their keys.
    """

    HEADING, ASKING = "Word agreement", "comparing …"

    def __init__(self, engine: EngineLink, names: Mapping[int, str]) -> None:
        super().__init__(engine)
        self.names = names

    def question(self) -> Command[tuple[PairAgreement, ...]]:
        """Return the command that measures the agreement of each pair of columns."""
        return MeasureAgreement()

    def report(self, answer: tuple[PairAgreement, ...]) -> Report:
        """Return the heat map, with the figures of each pair as its rows."""
        return agreement_report(self.names, answer)
