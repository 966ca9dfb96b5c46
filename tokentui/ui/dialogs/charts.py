"""The charts of a run: its tokens at each step, and the uses, lengths and scripts of its tokens."""

from __future__ import annotations

from dataclasses import replace

from tokentui.analyze.report import Report, Section
from tokentui.session.views import Viewport
from tokentui.ui.dialogs.analysis import AnalysisScreen
from tokentui.ui.draw.figures import number
from tokentui.ui.panes.run_chart import run_chart


class ChartsScreen(AnalysisScreen):
    """Shows the charts of a tokenizer on the corpus, first that of its run."""

    ASKING, FIRST_TAB = "counting tokens …", 1

    def report(self, answer: Report) -> Report:
        """Return the report with the chart of the run before its sections; unchanged if there is no such
        chart."""
        chart = None if self.now is None else run_chart(self.now.main, Viewport().curve_points)
        if chart is None or self.now is None:
            return answer
        at = self.now.main.at
        start, now = number(at.start_tokens), number(at.tokens)
        about = f"{start} tokens at the start, {now} at step {number(at.step)}"
        return replace(answer, sections=(Section("run", about, picture=chart), *answer.sections))
