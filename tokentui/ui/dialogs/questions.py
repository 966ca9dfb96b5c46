"""Questions about the vocabulary of the current step: the tokens that are used, the tokens that are saved,
what more steps would give, the ways to write a word, and the measures."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.analyze.health.health_report import measures_section
from tokentui.analyze.metrics import MeasureRow
from tokentui.analyze.questions import report
from tokentui.analyze.report import Report
from tokentui.analyze.results import VocabularyReport
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.session.commands import AnalyzeVocabulary, Command, MeasureCorpus
from tokentui.ui.bindings import HANDLED, BoundAction, Hint
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink

_EXHAUST, _WAYS = 3, 4
"""The views of these questions."""
_TRAINING = "training until no pair is left; esc stops it …"


class QuestionsScreen(ReportScreen[VocabularyReport]):
    """Shows the answers, one question at a time.

    Args:
        engine: The link to the session.
    """

    HEADING, FIRST_TAB, PROMPT = "Questions", 1, "word"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i,w", "ask_text", "word", id="questions.word", group=Hint(pane="list"),
            tooltip="Show how a word is segmented"),
        Binding("x", "exhaust", "train to the end", id="questions.exhaust", group=Hint(pane="list"),
            tooltip="Train to the end, to show what more steps would save"),
        Binding("enter", HANDLED, "segmentations", group=Hint(pane="line")),
        Binding("enter", HANDLED, "inspect", group=Hint(pane="list")),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.measures: tuple[MeasureRow, ...] | TokentuiError | None = None
        """The measures, or why there are none; None until they have come."""

    def on_mount(self) -> None:
        """Ask the questions, and for the measures in a worker."""
        super().on_mount()
        start_worker(self, "measures", self._measure)

    async def _measure(self) -> None:
        """Ask for the measures, keep them or the error in `measures`, and add them to the report if it is
        shown. A cancellation adds nothing."""
        try:
            self.measures = await self.engine.ask(MeasureCorpus())
        except TokentuiError as error:
            self.measures = error
        except Cancelled:
            return
        if self.answer is not None:
            self.shown = self.report(self.answer)
            self.lay_out()

    def question(self) -> Command[VocabularyReport]:
        """Return the command that asks the questions about `text`, without training further."""
        return AnalyzeVocabulary(self.text, False)

    def report(self, answer: VocabularyReport) -> Report:
        """Return the report on an answer, with a section of measures if they are known, or why they are not.
        """
        shown = report(answer)
        if self.measures is None:
            return shown
        section = measures_section(self.measures)
        told = f"{len(section.rows)} measures of this step's tokens in the corpus"
        section = replace(section, name="5 measures", summary=told if section.rows else section.summary)
        return replace(shown, sections=(*shown.sections, section))

    def works(self, action: BoundAction) -> bool:
        """Return whether a key of the line of keys has an effect; `inspect` only in the view of the first
        question."""
        return self.tab == 1 if action.label == "inspect" else super().works(action)

    def show_answer(self, answer: VocabularyReport) -> None:
        """Show the report on an answer. If it lacks what training to the end gives, keep that of the answer
        before at the same step."""
        known = self.answer
        if answer.exhausted is None and known is not None and known.step == answer.step:
            answer = replace(answer, exhausted=known.exhausted)
        super().show_answer(answer)

    def action_exhaust(self) -> None:
        """Show the section on the end, and train a copy until no pair is left; do not train if one is trained
        already."""
        self.action_go(_EXHAUST)
        if self.asking != _TRAINING:
            self.ask_report(AnalyzeVocabulary(self.text, True), _TRAINING)

    def action_ask_text(self) -> None:
        """Show the section on the ways to write a word, and open the line to type one."""
        self.action_go(_WAYS)
        super().action_ask_text()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the line, and ask for the ways to write the typed word; an empty text stands for the words of
        the typed text. Ignore the lines of finding and filtering."""
        if self.editing:
            self.text = event.value
            self.end_edit(self.listing)
            if self.answer is not None:  # the ways of one word are no answer to another
                self.shown = self.report(replace(self.answer, ways=()))
            self.ask_report(self.question(), self.ASKING)

    def action_leave(self) -> None:
        """Cancel the training of the copy and stay open; if none runs or a line is edited, leave as other
        lists do."""
        if not self.editing and self.asking == _TRAINING:
            self.workers.cancel_group(self, "asked")
            self.asking = ""
            self.fail(Cancelled())
        else:
            super().action_leave()
