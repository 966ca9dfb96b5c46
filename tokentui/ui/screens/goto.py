"""Go to a step, or to the step that makes a token: one line, and what it will do while it is typed."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tokentui.commands import GoTo, GoToToken
from tokentui.safetext import visible
from tokentui.ui.screens.dialog import Dialog, Hint, Notice
from tokentui.ui.screens.field import Field

_STEPS = re.compile(r"(?P<sign>[+-]?)(?P<digits>\d{1,3}(?:,\d{3})+|\d{1,15})(?P<percent>%?)", re.ASCII)
_TOKEN_SHOWN = 40


def destination(text: str, step: int, known: int, target: int | None) -> GoTo | GoToToken | None:
    """What a line that was typed asks for.

    Args:
        text: A step (`5000`, `5,000`), steps from here (`+100`, `-5`), a part of the run (`50%`), `end`, or else the
            text of a token. Text in double quotes is a token whatever it says.
        step: The step where one is.
        known: The furthest step trained so far.
        target: The step that the run goes to, None if to the end.

    Returns:
        A command; None for an empty line. Its step may lie beyond `target`: what is asked for is trained.
    """
    word = text.strip()
    if not text:
        return None
    if word == "end":
        return GoTo(None)
    if (match := _STEPS.fullmatch(word)) is None or (match["percent"] and match["sign"]):
        quoted = len(text) > 2 and text[0] == text[-1] == '"'
        return GoToToken(text[1:-1] if quoted else text)
    number = int(match["digits"].replace(",", ""))
    if match["percent"]:
        number = (known if target is None else target) * min(number, 100) // 100
    elif match["sign"]:
        number = step + (number if match["sign"] == "+" else -number)
    return GoTo(max(0, number))


def foretell(text: str, step: int, known: int, target: int | None, what: str = "step") -> str:
    """What a line that was typed will do, in a few words of safe text; the arguments are those of `destination`, and what a step
    is called."""
    match destination(text, step, known, target):
        case None:
            return f"a {what}, +100, -5, 50%, end, or the text of a token"
        case GoTo(None):
            return "the end of the run" if target is None else f"the end of the run, {what} {target:,} at most"
        case GoTo(int(number)):
            there = ", where you are" if number == step else ""
            beyond = f", beyond the stop at {target:,}" if target is not None and number > target else ""
            return f"{what} {number:,}{there or beyond} (known to {known:,})"
        case GoToToken(token):
            shown = "".join(span.text for span in visible(token, limit=_TOKEN_SHOWN))
            return f"the {what} that makes ‘{shown}’" if what == "step" else f"the {what} of ‘{shown}’"
    raise AssertionError


class GoToScreen(Dialog[str | None]):
    """Asks where to go. Its result is the line as it was typed (see `destination`), None if it was left.

    Args:
        step: The step where one is.
        known: The furthest step trained so far.
        target: The step that the run goes to, None if to the end.
        what: What a step is called.
    """

    HEADING = "Go to"
    HINTS: ClassVar[tuple[Hint, ...]] = (("enter", "go"), ("esc", "leave"), ('"100"', "the token, not the step"))
    DEFAULT_CSS = """
    GoToScreen > .dialog, GoToScreen.-high > .dialog { height: 5; }
    GoToScreen.-medium > .dialog { width: 60; }
    GoToScreen.-wide > .dialog { width: 60; }
    GoToScreen .line { height: 1; }
    GoToScreen .prompt { width: 2; color: $text-accent; }
    """

    def __init__(self, step: int, known: int, target: int | None = None, what: str = "step") -> None:
        super().__init__()
        self._place = (step, known, target, what)

    def compose_box(self) -> ComposeResult:
        """The line and what it will do."""
        with Horizontal(classes="line"):
            yield Static(">", classes="prompt", markup=False)
            yield Field()
        yield Notice()

    def on_mount(self) -> None:
        """Say what can be typed."""
        self._say("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what it will do."""
        self._say(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go there; an empty line goes nowhere."""
        self.dismiss(event.value or None)

    def _say(self, text: str) -> None:
        style = "" if text else "muted"
        self.query_one(Notice).say(foretell(text, *self._place), style)
