"""The screen of an analysis of one tokenizer, see `tokentui.analyze.analyses`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key

from tokentui.analyze.analyses import Analysis
from tokentui.analyze.report import Report
from tokentui.session.commands import Analyze, Command
from tokentui.ui.bindings import BoundAction
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.link import EngineLink


class AnalysisScreen(ReportScreen[Report]):
    """Shows the report of an analysis. If it lists tokens, `v` filters the vocabulary to those that are
    shown.

    Args:
        engine: The link to the session.
        analysis: The analysis.
        show_only: Called with ids to filter the vocabulary by, and the words for its title.
    """

    ASKING = "checking every token …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "narrow", "filter vocabulary", id="analysis.narrow",
            tooltip="Show only these tokens in the vocabulary"),
    ]

    def __init__(
        self, engine: EngineLink, analysis: Analysis, show_only: Callable[[frozenset[int], str], object]
    ) -> None:
        super().__init__(engine, analysis.title)
        self.analysis, self._show_only = analysis, show_only

    def question(self) -> Command[Report]:
        """Return the command that asks for the report."""
        return Analyze(self.analysis.name)

    def report(self, answer: Report) -> Report:
        """Return the report, which is the answer."""
        return answer

    def works(self, action: BoundAction) -> bool:
        """Return whether a key of the line of keys has an effect; `v` only if tokens are shown."""
        return super().works(action) if action.id != "analysis.narrow" else bool(self._tokens())

    def _tokens(self) -> frozenset[int]:
        """Return the ids of the tokens in the visible sections, also of rows that are folded."""
        sections = [self.section] if self.section is not None else self.tabs
        targets = [row.target for section in sections for row in section.rows]
        return frozenset(target.number for target in targets if target is not None and target.kind == "token")

    def on_key(self, event: Key) -> None:
        """Close with the key that opened the screen; pass other keys to the dialog."""
        if event.key == self.analysis.key:
            event.stop()
            self.action_leave()
        else:
            super().on_key(event)

    def action_narrow(self) -> None:
        """Filter the vocabulary to the tokens that are shown, and close. If there are none, say so in the
        notice and stay open."""
        if not (ids := self._tokens()):
            self.notice.say("there are no tokens to show", "warning")
            return
        self._show_only(ids, self.analysis.title.lower())
        self.dismiss(None)
