"""What Compare asks in one line, and what that line will do while it is typed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.recipe import Ending
from tokentui.session.commands import GoTo
from tokentui.session.compared import CompareSnapshot
from tokentui.ui.dialogs.dialog import Dialog, Hint, Notice
from tokentui.ui.dialogs.field import Field
from tokentui.ui.dialogs.goto import destination
from tokentui.ui.draw.text import join

_TYPED_SHOWN = 40


class AskLine(Dialog[str | None]):
    """Asks for a line. Its result is the line, None if it was left or is empty.

    Args:
        heading: What is asked for.
        foretell: What a line will do, in a few words of safe text; it raises what is wrong with it.
    """

    HINTS: ClassVar[tuple[Hint, ...]] = (("enter", "take it"), ("esc", "leave"))
    DEFAULT_CSS = """
    AskLine > .dialog, AskLine.-high > .dialog { height: 5; }
    AskLine.-medium > .dialog { width: 60; }
    AskLine.-wide > .dialog { width: 72; }
    AskLine .line { height: 1; }
    AskLine .prompt { width: 2; color: $text-accent; }
    """

    def __init__(self, heading: str, foretell: Callable[[str], str]) -> None:
        super().__init__()
        self._heading = heading
        self._foretell = foretell

    def compose_box(self) -> ComposeResult:
        """The line and what it will do."""
        with Horizontal(classes="line"):
            yield Static(">", classes="prompt", markup=False)
            yield Field()
        yield Notice()

    def on_mount(self) -> None:
        """Say what can be typed."""
        self.box.border_title = join(((self._heading, ""),))
        self._check("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what it will do."""
        self._check(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take it, if it makes sense."""
        if self._check(event.value):
            self.dismiss(event.value or None)

    def _check(self, line: str) -> bool:
        notice = self.query_one(Notice)
        try:
            notice.say(self._foretell(line), "" if line else "muted")
        except TokentuiError as error:
            notice.say(safe_line(error), "error")
            return False
        return True


class Going:
    """Where a line that was typed leads to.

    Args:
        now: Where the columns stand.
    """

    def __init__(self, now: CompareSnapshot) -> None:
        at = [column.at for column in now.columns if not column.error]
        self._by = now.position.by
        if self._by == "tokens":  # its steps are those of the first column
            at = at[:1]
        ends = [Ending() if one is None else one.end for one in at]
        last = max((end.step for end in ends if end.step is not None), default=None)
        unknown = not ends or any(end.step is None for end in ends)
        end = Ending() if unknown else next(end for end in ends if end.step == last)
        self._place = now.position.value, max((one.known for one in at if one), default=0), end

    def command(self, line: str) -> GoTo:
        """What to ask of the session.

        Raises:
            TokentuiError: It is no number.
        """
        found = destination(line, *self._place)
        if not isinstance(found, GoTo):
            raise TokentuiError("a number belongs here", safe(line, limit=_TYPED_SHOWN), "such as 500, +100 or end")
        if self._by == "size" and line.strip().endswith("%"):
            raise TokentuiError("parts of a run are steps", safe(line, limit=_TYPED_SHOWN), "take a number of ids, or end")
        return found

    def foretell(self, line: str) -> str:
        """What a line will do.

        Raises:
            TokentuiError: It is no number.
        """
        if not line:
            what = {"merges": "a step", "size": "a number of ids", "tokens": "a step of column A"}[self._by]
            return f"{what}, +100, -5, end" if self._by == "size" else f"{what}, +100, -5, 50%, end"
        step = self.command(line).step
        if step is None:
            return "the end of every column"
        return f"{step:,} ids" if self._by == "size" else f"step {step:,}"


def conventions(line: str) -> tuple[str, float]:
    """A splitter and an order of Rényi's entropy, of a line with either or both.

    Raises:
        TokentuiError: There are more words than that, or a number that is no order.
    """
    splitter, alpha = "whitespace", 2.5
    words = line.split()
    for word in words:
        try:
            alpha = float(word)
        except ValueError:
            splitter = word
    if len(words) > 2:
        raise TokentuiError("a splitter and a number belong here", safe(line, limit=_TYPED_SHOWN), "such as whitespace 2.5")
    if math.isnan(alpha) or alpha < 0:
        raise TokentuiError("out of range", f"alpha={alpha}", "take 0 or more")
    return splitter, alpha


def foretell_conventions(line: str) -> str:
    """What a line about conventions will do.

    Raises:
        TokentuiError: It cannot be read.
    """
    splitter, alpha = conventions(line)
    said = f"words by {safe(splitter, limit=_TYPED_SHOWN)}, Rényi's entropy of order {alpha:g}"
    return said if line else "a splitter and an order: whitespace 2.5"
