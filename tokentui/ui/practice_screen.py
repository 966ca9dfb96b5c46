"""Practice: a tour that asks. What would give the answer away is hidden until it is given; then Why and the
typed text show it. What went wrong comes again at the end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.quiz import Question, answered
from tokentui.core.safetext import safe, to_bytes, visible
from tokentui.tours.practice import Practice, quoted
from tokentui.ui.bindings import Hint
from tokentui.ui.dialogs.ask import AskLine
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.text import Cell
from tokentui.ui.draw.text import Run as Part
from tokentui.ui.link import Explorer
from tokentui.ui.predict import Prediction
from tokentui.ui.tour_screen import TourScreen, said

_CHOICES = Hint(rank=1, pane="tour")
LETTERS = "abcdefgh"


class PracticeScreen(TourScreen):
    """The panes, and a panel above them with a question.

    Args:
        app: The program.
        practice: The questions.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "choose", id="practice_up", priority=True, group=_CHOICES,
            tooltip="Choose the answer above; in a word, cut or join"),
        Binding("down", "choose(1)", "choose", id="practice_down", priority=True, group=_CHOICES,
            tooltip="Choose the answer below; in a word, cut or join"),
        Binding("left", "slide(-1)", "move", id="practice_left", priority=True, group=_CHOICES,
            tooltip="Move to the border before, in a word"),
        Binding("right", "slide(1)", "move", id="practice_right", priority=True, group=_CHOICES,
            tooltip="Move to the next border in a word"),
    ]

    def __init__(self, app: Explorer, practice: Practice, **look: Any) -> None:
        self.practice = practice
        self._row, self._place, self._cuts = 0, 1, set[int]()
        self._verdict: tuple[bool, str] | None = None
        """Whether the answer was right, and what is right; None before it."""
        self.right = self.asked = 0
        """The answers that were right, and all of them."""
        self._missed: set[Question] = set()
        super().__init__(app, practice, **look)
        self._hidden = Prediction(self, partial(self.why.redraw, force=True))
        self.snapshot_filter = self._hidden.hide

    # What is asked.

    @property
    def question(self) -> Question:
        """The question."""
        return self.practice.questions[self.at]

    @property
    def cutting(self) -> bool:
        """True if the question is where a word is cut."""
        return self.question.kind == "cut"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return False for the arrow keys after the answer, while a text is typed, and if the question has no
        choices or word for them: the panes get them."""
        if action in ("choose", "slide"):
            open_ = self._verdict is None and not self._types
            return open_ and (self.cutting or (action == "choose" and bool(self.question.choices)))
        return super().check_action(action, parameters)

    def action_choose(self, by: int) -> None:
        """Choose the answer `by` rows further, around the end; in a word, cut or join at the marked border.
        """
        if self.cutting:
            self._cuts ^= {self._place}
        else:
            self._row = (self._row + by) % len(self.question.choices)
        self.lay_out_panel()

    def action_slide(self, by: int) -> None:
        """Mark the border `by` places further in the word, within its ends."""
        self._place = min(max(1, self._place + by), len(self.question.word) - 1)
        self.lay_out_panel()

    def action_turn_stop(self, by: int) -> None:
        """Judge the answer; if it is judged, go to the next question, and after the last one close with the
        score in a message. Do nothing for a negative `by`."""
        if by < 0:
            return
        if self._verdict is None:
            self._answer()
            return
        self._row, self._place, self._cuts, self._verdict = 0, 1, set(), None
        self.snapshot_filter = self._hidden.hide
        if self.at + 1 == len(self.tour.stops):
            self.app.say(f"{self.right} of {self.asked} right")
        super().action_turn_stop(1)

    def _answer(self) -> None:
        """Judge the cuts or the chosen row. Without choices, ask for a text, in which `·` is a space."""
        question = self.question
        if self.cutting:
            self._judge(tuple(sorted(self._cuts)) == self.practice.cuts[self.at])
        elif question.choices:
            self._judge(question.choices[self._row] == question.answer)
        else:
            self.app.push_screen(AskLine(
                self.engine, "Which text is it?",
                lambda line: "· is a space" if line else "the text; · is a space",
                lambda line: self._judge(to_bytes(line.replace("·", " ")) == question.answer[0]),
            ))

    def _judge(self, right: bool) -> None:
        """Count an answer, and show what was hidden. A question that is missed for the first time is asked
        again at the end."""
        question = self.question
        self.asked, self.right = self.asked + 1, self.right + right
        if not right and question not in self._missed:
            self._missed.add(question)
            self.practice = self.practice.again(self.at)
            self.tour = self.practice
        self._verdict = right, answered(question, quoted)
        self.snapshot_filter = None
        if self._hidden.seen is not None:
            self.show(self._hidden.seen)
        if question.word:
            self.encode.line.value = question.word
        self.lay_out_panel()

    # The panel.

    def _text(self, width: int, height: int) -> Sequence[Cell]:
        """Return the question, its choices or the word, and the verdict; only the last `height` lines if
        there are more."""
        lines: list[Cell] = list(ui_text.wrap(said(self.tour.stops[self.at].text), max(2, width - 2),
            words=True))
        for n, parts in enumerate(self.question.choices):
            chosen = n == self._row
            mark: Part = ("› " if chosen else "  ", "accent")
            style = "strong" if chosen else ""
            shown = (tuple((span.text, style) for span in visible(part)) for part in parts)
            pair = ui_text.joined(shown, (" + ", "muted"))
            lines.append((mark, (f"{LETTERS[n]}) ", "muted"), *pair))
        if self.cutting:
            lines.append(self._word())
        if self._verdict is not None:
            right, words = self._verdict
            verdict: Part = ("right  ", "success") if right else ("wrong  ", "warning")
            lines += ui_text.wrap((verdict, *said(words)), max(2, width - 2), words=True)
        if len(lines) > height:
            lines = lines[-height:]
        return [((" ", ""), *line) for line in lines]

    def _word(self) -> Cell:
        """The word with bars where it is cut; before the answer, its marked border is highlighted."""
        runs: list[Part] = []
        for n, char in enumerate(self.question.word):
            if n:
                here = n == self._place and self._verdict is None
                cut = n in self._cuts
                runs.append(("|" if cut else "·" if here else " ",
                    "accent" if here else "strong" if cut else "muted"))
            runs.append((safe("␣" if char == " " else char), "strong"))
        return tuple(runs)

    def lay_out_panel(self) -> None:
        """Fit the panel to its text, and show its keys and the score in the border."""
        super().lay_out_panel()
        keys: list[tuple[str, str]] = [("enter ", "goes on")]
        if self._verdict is None:
            keys = [("enter ", "answers")]
            if self.cutting:
                keys = [("←→ ", "move"), ("↑↓ ", "cut or join"), *keys]
            elif self.question.choices:
                keys = [("↑↓ ", "choose"), *keys]
        runs: list[Part] = []
        for key, words in keys:
            runs += [(key, "key"), (f"{words} · ", "muted")]
        number = f"{self.at + 1} of {len(self.tour.stops)}"
        score = f" · {self.right} of {self.asked} right" if self.asked else ""
        self.panel.border_subtitle = ui_text.join((*runs, (number, "strong"), (score, "muted")))
        self.panel.again()
