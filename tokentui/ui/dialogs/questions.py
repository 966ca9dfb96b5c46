"""The questions that a vocabulary raises, answered at the present step: what is used, what is saved, what comes of going on, and
the ways a word can be written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tokentui.analyze.results import Answers
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.ui.dialogs import question_rows as shown
from tokentui.ui.dialogs.dialog import Dialog, Hint, Notice
from tokentui.ui.dialogs.field import Field
from tokentui.ui.dialogs.listing import Listing
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run, join, width

Asked: TypeAlias = Callable[[str, bool], Awaitable[Answers]]
"""What is asked: a word whose ways are wanted ("" for those of the typed text), and whether to go on until nothing is left."""


class Question(NamedTuple):
    """A question: its title and a shorter one, how its answer is laid out, and the answer."""

    title: str
    short: str
    columns: Sequence[Column]
    rows: Callable[[Answers], list[TableRow]]


QUESTIONS: tuple[Question, ...] = (
    Question("1 Is all used?", "1 Used", shown.USED_COLUMNS, shown.used),
    Question("2 What is saved?", "2 Saved", shown.SAVED_COLUMNS, shown.saved),
    Question("3 And going on?", "3 On", shown.ON_COLUMNS, shown.on),
    Question("4 Ways to write", "4 Ways", shown.WAYS_COLUMNS, shown.ways),
)
ON, WAYS = 2, 3


class QuestionsScreen(Dialog[None]):
    """Shows the answers, one question at a time.

    Args:
        asked: What is asked for them. An answer that is given up is cancelled.
    """

    HEADING = "Questions"
    HINTS: ClassVar[Sequence[Hint]] = (
        ("tab", "next"), ("esc", "leave"), ("w", "a word"), ("x", "go on to the end"), ("↑↓", "scroll"),
    )
    EDIT_HINTS: ClassVar[Sequence[Hint]] = (("enter", "its ways"), ("esc", "back"))
    DEFAULT_CSS = """
    QuestionsScreen {
        & .tabs, & .told { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & .told { margin-bottom: 1; }
        &.-short .told { margin-bottom: 0; }
        & .edit { height: 1; display: none; }
        &.-editing .edit { display: block; }
        & .prompt { width: 6; color: $text-accent; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,right", "turn(1)", "Next question", show=False),
        Binding("shift+tab,left", "turn(-1)", "Question before", show=False),
        *(Binding(str(n + 1), f"go({n})", show=False) for n in range(len(QUESTIONS))),
        Binding("x", "exhaust", "Go on until nothing is left", show=False),
        Binding("w", "word", "Type a word", show=False),
    ]

    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._asked = asked
        self.answers: Answers | None = None
        self.question = 0
        """The place in `QUESTIONS` of the one that is shown."""
        self.working = ""
        """What is being asked: "answers", "on", or "" for nothing."""
        self._word = ""

    def compose_box(self) -> ComposeResult:
        """The questions, the answer in a line, the rows of it, and a line to type in."""
        yield Static("", classes="tabs", markup=False)
        yield Static("", classes="told", markup=False)
        yield Listing(QUESTIONS[0].columns)
        with Horizontal(classes="edit"):
            yield Static("word", classes="prompt", markup=False)
            yield Field()
        yield Notice()

    def on_mount(self) -> None:
        """Ask."""
        self.set_focus(self._listing)
        self._ask(exhaust=False)

    def on_resize(self) -> None:
        """Fit the titles to the room there is."""
        self.call_after_refresh(self._show)

    @property
    def _listing(self) -> Listing:
        return self.query_one(Listing)

    # What is asked.

    def _ask(self, exhaust: bool) -> None:
        self.working = "on" if exhaust else "answers"
        self.run_worker(self._await(exhaust), group="answers", exclusive=True)
        self._show()

    async def _await(self, exhaust: bool) -> None:
        try:
            answers = await self._asked(self._word, exhaust)
        except Cancelled:
            self._done("given up")
        except TokentuiError as error:
            self._done(safe_line(error), "error")
        else:
            known = self.answers
            if answers.exhausted is None and known is not None and known.step == answers.step:
                answers = replace(answers, exhausted=known.exhausted)
            self.answers = answers
            self._done("")

    def _done(self, said: str, style: str = "warning") -> None:
        self.working = ""
        self.query_one(Notice).say(said, style)
        self._show()

    # What is seen.

    def tell_waiting(self) -> None:
        """Say it in the place of an answer."""
        self._show()

    def _show(self) -> None:
        question = QUESTIONS[self.question]
        tabs = self.query_one(".tabs", Static)
        tabs.update(join(_tabs(self.question, tabs.size.width)))
        self.query_one(".told", Static).update(join(self._told()))
        rows = question.rows(self.answers) if self.answers else []
        columns = shown.needed(question.columns, rows)
        if self._listing.columns != columns:
            self._listing.set_columns(columns)
        self._listing.show(rows)

    def _told(self) -> Cell:
        if self.question == ON:
            return shown.on_summary(self.answers, self.working == "on")
        if self.answers is None:
            return ((self.waits or "working …" if self.working else "no answer", "muted"),)
        told = (shown.used_summary, shown.saved_summary, None, shown.ways_summary)[self.question]
        return told(self.answers) if told is not None else ()

    # What the user does.

    def action_turn(self, by: int) -> None:
        """Go to another question."""
        self.action_go((self.question + by) % len(QUESTIONS))

    def action_go(self, question: int) -> None:
        """Go to a question by its number."""
        if not self.has_class("-editing"):
            self.question = question
            self._listing.move_to(0)
            self._show()

    def action_exhaust(self) -> None:
        """Go on with a copy until nothing is left."""
        self.action_go(ON)
        if self.working != "on":
            self._ask(exhaust=True)

    def action_word(self) -> None:
        """Type a word whose ways are wanted."""
        self.action_go(WAYS)
        field = self.query_one(Field)
        field.value = self._word
        self.add_class("-editing")
        self.hints.say(self.EDIT_HINTS)
        self.set_focus(field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask for the ways of what was typed; nothing stands for the words of the typed text."""
        self._word = event.value
        self._stop_typing()
        self._ask(exhaust=False)

    def action_leave(self) -> None:
        """Leave the line, or give up what is under way, or leave the dialog."""
        if self.has_class("-editing"):
            self._stop_typing()
        elif self.working == "on":
            self.workers.cancel_group(self, "answers")
            self._done("given up")
        else:
            self.dismiss(None)

    def _stop_typing(self) -> None:
        self.remove_class("-editing")
        self.hints.say(self.HINTS)
        self.set_focus(self._listing)


def _tabs(at: int, room: int) -> Cell:
    """The titles of the questions, the one that is shown marked; short ones where there is no room."""

    def line(titles: Sequence[str]) -> Cell:
        out: list[Run] = []
        for place, title in enumerate(titles):
            out += [("  ", "")] if place else []
            out.append((title, "key" if place == at else "muted"))
        return tuple(out)

    long = line([question.title for question in QUESTIONS])
    return long if width(long) <= room else line([question.short for question in QUESTIONS])
