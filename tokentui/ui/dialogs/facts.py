"""The facts of a tokenizer: its health, its steps, and what is in its vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.health.health_report import facts_sections, health_sections, status_line
from tokentui.analyze.report import NUMBER, Column, Report, Row, Section, muted, strong, warning
from tokentui.analyze.results import HealthReport
from tokentui.core.safetext import safe
from tokentui.session.commands import Command, ExamineHealth
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.report_screen import OPEN, ReportScreen
from tokentui.ui.draw.figures import number


class FactsScreen(ReportScreen[HealthReport]):
    """Shows the facts of the tokenizer of the current step, at first those that need no work.

    Args:
        engine: The link to the session.
    """

    HEADING, ASKING = "Facts", "checking every token …"
    BINDINGS: ClassVar[list[BindingType]] = [
        replace(OPEN, description="examples"),
        Binding("a", "open_all", "all examples", id="facts.all",
            tooltip="Show the examples of all checks"), Binding("F", "leave"),
    ]

    def question(self) -> Command[HealthReport]:
        """Return the command that asks for the facts."""
        return ExamineHealth()

    def again(self) -> None:
        """Ask again. Until the answer comes, show what the snapshot tells."""
        super().again()
        self._show_known()

    def follow(self, snapshot: Snapshot) -> None:
        """Keep the snapshot and show what it already tells, until the answer is there. Later snapshots are
        ignored: the answer is about one step."""
        if self.answer is None:
            super().follow(snapshot)
            if self.is_mounted:
                self._show_known()

    def _show_known(self) -> None:
        """Show the tokenizer in the title and, before the answer, the sections that are known already. Do
        nothing while nothing is open."""
        if self.now is None or self.now.corpus.nothing_open:
            return
        main = self.now.main
        name = main.opened.name if main.opened is not None else main.preset or "the tokenizer"
        # A file is judged at its last step.
        about = "the whole file" if main.opened is not None else f"step {number(main.at.step)}"
        self.name_box(f"{self.HEADING} · {safe(name, limit=60)}", about)
        if self.answer is None:
            known = tuple(self._known_sections())
            self.shown = Report(self.HEADING, known, {}) if known else None
            self.lay_out()

    def report(self, answer: HealthReport) -> Report:
        """Return the report: health first, then the sections known before, then the vocabulary."""
        column = self.now.main if self.now is not None else None
        facts = () if column is None else facts_sections(answer.facts, column.recipe)
        sections = (*health_sections(answer.checks), *self._known_sections(), *facts)
        return Report(self.HEADING, sections, {}, strong(status_line(answer.checks)))

    def _known_sections(self) -> Iterator[Section]:
        """Yield the stages of an opened file, and the tokens of named corpora; nothing without either."""
        if self.now is None:
            return
        main = self.now.main
        if (opened := main.opened) is not None:
            rows = tuple(
                Row((muted(stage.name), (warning("opaque  " if stage.opaque else ""), stage.what),
                     muted(stage.axis)))
                for stage in opened.stages
            )
            yield Section("steps", "in the order of encoding", rows, (Column(),))
            yield Section("replay", f"{number(opened.steps)} steps, {opened.order}")
            for n, note in enumerate(opened.notes):
                yield Section("" if n else "remarks", warning(note))
        if lengths := main.at.lengths:
            most = max(part.bytes_per_token or 0 for part in lengths)
            rows = tuple(
                Row((muted(part.name), strong(f"{part.tokens:,}"), *(
                    (f"{part.bytes_per_token:.2f} B/token",
                     f"{most / part.bytes_per_token:.2f} × the cheapest") if part.bytes_per_token else ()
                )))
                for part in lengths
            )
            about = "tokens and bytes per token of each, and its cost relative to the cheapest"
            yield Section("corpora", about, rows, (Column(), NUMBER, NUMBER, NUMBER))

    def action_open_all(self) -> None:
        """Open the details of all rows; if any are open, close all. Do nothing without a report."""
        if self.shown is not None:
            self._open = set() if self._open else self.openable
            self.lay_out()
