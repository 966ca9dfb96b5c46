"""Go to a step, or to the step that makes a token: one line, and what it will do while it is typed."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe_line, visible
from tokentui.recipe import Ending
from tokentui.session.commands import GoTo, GoToToken
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.dialog import Dialog, Hint, Notice
from tokentui.ui.dialogs.field import Field
from tokentui.ui.draw.figures import step_of

_STEPS = re.compile(r"(?P<sign>[+-]?)(?P<digits>\d{1,3}(?:,\d{3})+|\d{1,15})(?P<percent>%?)", re.ASCII)
_TOKEN_SHOWN = 40


def destination(text: str, step: int, known: int, end: Ending) -> GoTo | GoToToken | None:
    """What a line that was typed asks for.

    Args:
        text: A step (`5000`, `5,000`), steps from here (`+100`, `-5`), a part of the run (`50%`), `end`, or else the
            text of a token. Text in double quotes is a token whatever it says.
        step: The step where one is.
        known: The furthest step trained so far.
        end: Where the run ends, as far as that is known.

    Returns:
        A command; None for an empty line. Its step may lie beyond the end: what is asked for is trained.

    Raises:
        TokentuiError: It is a part of a run whose end is not known.
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
        if end.step is None:
            raise TokentuiError("the end of the run is not known yet", word, "go to the end first, or take a number")
        number = end.step * min(number, 100) // 100
    elif match["sign"]:
        number = step + (number if match["sign"] == "+" else -number)
    return GoTo(max(0, number))


def foretell(text: str, step: int, known: int, end: Ending, what: str = "step") -> str:
    """What a line that was typed will do, in a few words of safe text; the arguments are those of `destination`, and what a step
    is called."""
    match destination(text, step, known, end):
        case None:
            return f"a {what}, +100, -5, 50%, end, or the text of a token"
        case GoTo(None):
            return "the end of the run" if end.step is None else f"the end of the run, {step_of(end, what)}"
        case GoTo(int(number)):
            there = ", where you are" if number == step else ""
            return f"{what} {number:,}{there or _part(text, end) or _beyond(number, end)} (known to {known:,})"
        case GoToToken(token):
            shown = "".join(span.text for span in visible(token, limit=_TOKEN_SHOWN))
            return f"the {what} that makes ‘{shown}’" if what == "step" else f"the {what} of ‘{shown}’"
    raise AssertionError


def _part(text: str, end: Ending) -> str:
    """Of what a part is taken, where that is not exact."""
    return f" of {end.kind} {end.step:,}" if text.strip().endswith("%") and not end.exact else ""


def _beyond(number: int, end: Ending) -> str:
    if end.step is None or number <= end.step:
        return ""
    ends = {"last": "the run ends at", "about": "the run ends at about"}.get(end.kind, "beyond the stop at")
    return f", {ends} {end.step:,}"


class GoToScreen(Dialog[str | None]):
    """Asks where to go. Its result is the line as it was typed (see `destination`), None if it was left.

    Args:
        step: The step where one is.
        known: The furthest step trained so far.
        end: Where the run ends, as far as that is known.
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

    def __init__(self, step: int, known: int, end: Ending = Ending(), what: str = "step") -> None:  # noqa: B008, a value
        super().__init__()
        self._place = (step, known, end, what)

    @property
    def place(self) -> tuple[int, int, Ending]:
        """The step, the furthest that is known, and the end of the run as far as it is known."""
        return self._place[:3]

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take where one is now."""
        super().follow(snapshot)
        if snapshot is not None and self.is_mounted:
            what = "step" if snapshot.opened is None else "birth"
            self._place = (snapshot.step, snapshot.known, snapshot.end, what)
            self._say(self.query_one(Field).value)

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
        """Go there; an empty line goes nowhere, and what cannot be done is said."""
        if self._say(event.value):
            self.dismiss(event.value or None)

    def _say(self, text: str) -> bool:
        notice = self.query_one(Notice)
        try:
            told = foretell(text, *self._place)
            notice.say(f"{told} · {self.waits}" if self.waits and text else told, "" if text else "muted")
        except TokentuiError as error:
            notice.say(safe_line(error), "error")
            return False
        return True
