"""The questions that a vocabulary raises, answered at the present step: what is used, what is saved, what
comes of going on, and the ways a word can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.widgets import Input, Static

from tokentui.analyze.results import VocabularyReport
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe_line
from tokentui.session.commands import AnalyzeVocabulary
from tokentui.ui.dialogs import question_rows as shown
from tokentui.ui.dialogs.dialog import LEAVE, Dialog, prompted
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.listing import Listing
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell, Run, join, width
from tokentui.ui.face import Face
from tokentui.ui.keys import Action
from tokentui.ui.typed import Field


class Question(NamedTuple):
    """A question: its title and a shorter one, how its answer is laid out, and the answer."""

    title: str
    short: str
    columns: Sequence[Column]
    rows: Callable[[VocabularyReport], list[TableRow]]


QUESTIONS: tuple[Question, ...] = (
    Question("1 Is all used?", "1 Used", shown.USED_COLUMNS, shown.used),
    Question("2 What is saved?", "2 Saved", shown.SAVED_COLUMNS, shown.saved),
    Question("3 And going on?", "3 On", shown.ON_COLUMNS, shown.on),
    Question("4 Ways to write", "4 Ways", shown.WAYS_COLUMNS, shown.ways),
)
ON, WAYS = 2, 3


def _go_to(question: int, dialog: QuestionsScreen) -> None:
    dialog.go(question)


class QuestionsScreen(Dialog[None]):
    """Shows the answers, one question at a time.

    Args:
        face: The program.
    """

    HEADING = "Questions"
    ACTIONS = (
        Action(("tab", "right"), "next", lambda it: it.turn(1)), LEAVE,
        Action(("w",), "a word", lambda it: it.ask_word()),
        Action(("x",), "go on to the end", lambda it: it.exhaust()),
        Action(("up", "down"), "scroll", keys_shown=2),
        Action(("shift+tab", "left"), "", lambda it: it.turn(-1)),
        *(Action((str(n + 1),), "", partial(_go_to, n)) for n in range(len(QUESTIONS))),
    )
    EDIT_HINTS: ClassVar[Sequence[Action[Any]]] = (Action(("enter",), "its ways"), Action(("escape",), "back"))
    DEFAULT_CSS = """
    QuestionsScreen {
        & .tabs, & .told { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & .told { margin-bottom: 1; }
        &.-short .told { margin-bottom: 0; }
        & .edit { height: 1; display: none; }
        &.-editing .edit { display: block; }
        & .prompt { width: 6; }
    }
    """

    def __init__(self, face: Face) -> None:
        super().__init__(face)
        self.answers: VocabularyReport | None = None
        self.question = 0
        """The place in `QUESTIONS` of the one that is shown."""
        self.working = ""
        """The request under way: "answers", "on", or "" for none."""
        self._word = ""
        self.tabs, self.told = Static("", classes="tabs", markup=False), Static("", classes="told",
            markup=False)
        self.listing, self.field = Listing(QUESTIONS[0].columns), Field()

    def compose_box(self) -> ComposeResult:
        """The questions, the answer in a line, the rows of it, and a line to type in."""
        yield self.tabs
        yield self.told
        yield self.listing
        yield prompted("word", self.field, "edit")
        yield self.notice

    def on_mount(self) -> None:
        """Ask."""
        self.set_focus(self.listing)
        self._ask(exhaust=False)

    # What is asked.

    def _ask(self, exhaust: bool) -> None:
        self.working = "on" if exhaust else "answers"
        self.run_worker(self._await(exhaust), group="answers", exclusive=True)
        self.lay_out()

    async def _await(self, exhaust: bool) -> None:
        try:
            answers = await self.face.ask(AnalyzeVocabulary(self._word, exhaust))
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
        self.notice.say(said, style)
        self.lay_out()

    # What is seen.

    def tell_waiting(self) -> None:
        """Say it in the place of an answer."""
        self.lay_out()

    def lay_out(self) -> None:
        """Fit titles and columns to the room there is."""
        question = QUESTIONS[self.question]
        self.tabs.update(join(_tabs(self.question, self.tabs.size.width)))
        self.told.update(join(self._told()))
        rows = question.rows(self.answers) if self.answers else []
        columns = shown.needed(question.columns, rows)
        if self.listing.columns != columns:
            self.listing.set_columns(columns)
        self.listing.show(rows)

    def _told(self) -> Cell:
        if self.question == ON:
            return shown.on_summary(self.answers, self.working == "on")
        if self.answers is None:
            return ((self.waits or "working …" if self.working else "no answer", "muted"),)
        told = (shown.used_summary, shown.saved_summary, None, shown.ways_summary)[self.question]
        return told(self.answers) if told is not None else ()

    # What the user does.

    def turn(self, by: int) -> None:
        """Go to another question."""
        self.go((self.question + by) % len(QUESTIONS))

    def go(self, question: int) -> None:
        """Go to a question by its number."""
        if not self.has_class("-editing"):
            self.question = question
            self.listing.move_to(0)
            self.lay_out()

    def exhaust(self) -> None:
        """Go on with a copy until nothing is left."""
        self.go(ON)
        if self.working != "on":
            self._ask(exhaust=True)

    def ask_word(self) -> None:
        """Type a word whose ways are wanted."""
        self.go(WAYS)
        self.field.value = self._word
        self.add_class("-editing")
        self.hints.say(self.EDIT_HINTS)
        self.set_focus(self.field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask for the ways of what was typed; nothing stands for the words of the typed text."""
        self._word = event.value
        self._stop_typing()
        self._ask(exhaust=False)

    def leave(self) -> None:
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
        self.hints.say(self.ACTIONS)
        self.set_focus(self.listing)


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
