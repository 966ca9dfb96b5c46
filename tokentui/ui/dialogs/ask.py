"""Dialogs of one input line, with a preview of its effect: go to a step, find, set conventions."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, visible
from tokentui.presets import PRESETS
from tokentui.recipe import Ending
from tokentui.session.commands import GoTo, GoToToken
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.dialog import LEAVE, Dialog, Told, prompted
from tokentui.ui.draw.figures import step_of
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face
from tokentui.ui.keys import Action
from tokentui.ui.typed import Field

if TYPE_CHECKING:
    from tokentui.session.saved import SavedSession

_STEPS = re.compile(r"(?P<sign>[+-]?)(?P<digits>\d{1,3}(?:,\d{3})+|\d{1,15})(?P<percent>%?)", re.ASCII)
_TYPED_SHOWN = 40


def destination(text: str, step: int, known: int, end: Ending) -> GoTo | GoToToken | None:
    """Return the command that a typed line stands for.

    Args:
        text: A step (`5000`, `5,000`), steps from here (`+100`, `-5`), a part of the run (`50%`), `end`, or
            else the text of a token. Text in double quotes is a token whatever it says.
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
            raise TokentuiError("the end of the run is not known yet", word,
                "go to the end first, or take a number")
        number = end.step * min(number, 100) // 100
    elif match["sign"]:
        number = step + (number if match["sign"] == "+" else -number)
    return GoTo(max(0, number))


def foretell(text: str, step: int, known: int, end: Ending) -> str:
    """Return a preview of what a typed line does, as safe text; the arguments are those of `destination`."""
    match destination(text, step, known, end):
        case None:
            return "a step, +100, -5, 50%, end, or the text of a token"
        case GoTo(None):
            return "the end of the run" if end.step is None else f"the end of the run, {step_of(end)}"
        case GoTo(int(number)):
            there = ", where you are" if number == step else ""
            return f"step {number:,}{there or _part(text, end) or _beyond(number, end)} (known to {known:,})"
        case GoToToken(token):
            shown = "".join(span.text for span in visible(token, limit=_TYPED_SHOWN))
            return f"the step that makes ‘{shown}’"
    raise AssertionError


def _part(text: str, end: Ending) -> str:
    """Of what a part is taken, where that is not exact."""
    return f" of {end.kind} {end.step:,}" if text.strip().endswith("%") and not end.exact else ""


def _beyond(number: int, end: Ending) -> str:
    if end.step is None or number <= end.step:
        return ""
    ends = {"last": "the run ends at", "about": "the run ends at about"}.get(end.kind, "beyond the stop at")
    return f", {ends} {end.step:,}"


class AskLine(Dialog[None]):
    """Asks for a line, and takes it if it makes sense.

    Args:
        face: The program.
        heading: The title of the dialog.
        foretell: Returns the effect of a line as safe text; raises an error for an invalid line.
        take: Called with a line that is not empty.
    """

    ACTIONS: ClassVar[Sequence[Action[Any]]] = (Action(("enter",), "take it"), LEAVE)
    DEFAULT_CSS = """
    AskLine > .dialog, AskLine.-high > .dialog { height: 5; }
    AskLine.-medium > .dialog { width: 60; }
    AskLine.-wide > .dialog { width: 72; }
    """

    def __init__(self, face: Face, heading: str, foretell: Callable[[str], str],
            take: Callable[[str], object]) -> None:
        super().__init__(face, heading)
        self._foretell, self._take = foretell, take
        self.field = Field()

    def compose_box(self) -> ComposeResult:
        """The line and what it will do."""
        yield prompted(">", self.field)
        yield self.notice

    def on_mount(self) -> None:
        """Say what can be typed."""
        self.check("")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what it will do."""
        self.check(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Send the command of the line. An empty line sends none; an unreadable line shows an error."""
        if self.check(event.value):
            self.dismiss(None)
            if event.value:
                self._take(event.value)

    def check(self, line: str) -> bool:
        """Say what a line will do, or what is wrong with it. Returns whether it can be taken."""
        try:
            told = self._foretell(line)
            self.notice.say(f"{told} · {self.waits}" if self.waits and line else told,
                "" if line else "muted")
        except TokentuiError as error:
            self.notice.tell(error)
            return False
        return True


class GoToScreen(AskLine):
    """Asks for a step or a token, and goes there.

    Args:
        face: The program.
    """

    HEADING = "Go to"
    ACTIONS = (
        Action(("enter",), "go"), LEAVE,
        Action(('"100"',), "the token, not the step"),
    )
    DEFAULT_CSS = """
    GoToScreen.-wide > .dialog { width: 60; }
    """

    def __init__(self, face: Face) -> None:
        self._place: tuple[int, int, Ending] = (0, 0, Ending())
        self._opened = False
        self._stand(face.snapshot)
        super().__init__(face, self.HEADING, lambda line: foretell(line, *self._place), self._go)

    def _stand(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            at = snapshot.main.at
            self._place = at.step, at.computed, at.end
            self._opened = snapshot.main.opened is not None

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take where one is now."""
        super().follow(snapshot)
        self._stand(snapshot)
        if self.is_mounted:
            self.check(self.field.value)

    def _go(self, line: str) -> None:
        command = destination(line, *self._place)
        if isinstance(command, GoToToken):
            missing = "the file has no token" if self._opened else "no step of this run makes"
            missing = f"{missing} {command.text!r}"
            self.face.send(command, lambda step: self.face.say(missing) if step is None else None)
        elif command is not None:
            self.face.send(command)


class FindScreen(Dialog[str | None]):
    """Asks for text to find, in a line at the foot. Its result is the text, "" to find nothing any more, None
    if it was left.

    Args:
        face: The program.
        pane: The pane that is searched, as its title has it.
        text: The text of the last search.
    """

    DEFAULT_CSS = """
    FindScreen .bar { dock: bottom; width: 100%; height: 1; background: $surface; color: $foreground; }
    FindScreen .prompt { width: auto; max-width: 60%; text-style: bold; }
    """

    def __init__(self, face: Face, pane: str, text: str = "") -> None:
        super().__init__(face)
        self._pane, self._text = pane, text

    def compose(self) -> ComposeResult:
        """The bar."""
        yield prompted(f" find in {self._pane} > ", Field(self._text), "bar")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Look for it."""
        self.dismiss(event.value)


class Going:
    """Where a line that was typed leads to.

    Args:
        now: Where the columns stand.
    """

    def __init__(self, now: Snapshot) -> None:
        at = [column.at if column.in_sync else None for column in now.columns if not column.error]
        self._by = now.position.by
        if self._by == "tokens":  # its steps are those of the first column
            at = at[:1]
        ends = [Ending() if one is None else one.end for one in at]
        last = max((end.step for end in ends if end.step is not None), default=None)
        unknown = not ends or any(end.step is None for end in ends)
        end = Ending() if unknown else next(end for end in ends if end.step == last)
        self._place = now.position.value, max((one.computed for one in at if one), default=0), end

    def command(self, line: str) -> GoTo:
        """Return the command to send to the session.

        Raises:
            TokentuiError: It is no number.
        """
        found = destination(line, *self._place)
        if not isinstance(found, GoTo):
            raise TokentuiError("a number belongs here", safe(line, limit=_TYPED_SHOWN),
                "such as 500, +100 or end")
        if self._by == "size" and line.strip().endswith("%"):
            raise TokentuiError("parts of a run are steps", safe(line, limit=_TYPED_SHOWN),
                "take a number of ids, or end")
        return found

    def foretell(self, line: str) -> str:
        """Return a preview of the effect of a line.

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
        raise TokentuiError("a splitter and a number belong here", safe(line, limit=_TYPED_SHOWN),
            "such as whitespace 2.5")
    if math.isnan(alpha) or alpha < 0:
        raise TokentuiError("out of range", f"alpha={alpha}", "take 0 or more")
    return splitter, alpha


def foretell_conventions(line: str) -> str:
    """Return a preview of the effect of a line about conventions.

    Raises:
        TokentuiError: It cannot be read.
    """
    splitter, alpha = conventions(line)
    said = f"words by {safe(splitter, limit=_TYPED_SHOWN)}, Rényi's entropy of order {alpha:g}"
    return said if line else "a splitter and an order: whitespace 2.5"


class OfferScreen(Dialog[bool]):
    """Offers a session again that a dropped line has cut off. None when it is left without an answer.

    Args:
        face: The program.
        kept: The session.
        note: A note about the session; empty for none.
    """

    HEADING = "Go on?"
    ACTIONS = (
        Action(("enter",), "go on", lambda it: it.dismiss(True)),
        Action(("n",), "begin anew", lambda it: it.dismiss(False)),
        Action(("escape",), "later", lambda it: it.leave()),
    )
    DEFAULT_CSS = """
    OfferScreen > .dialog, OfferScreen.-high > .dialog { height: auto; max-width: 76; }
    OfferScreen.-wide > .dialog { max-width: 76; }
    OfferScreen KeyLine { margin-top: 1; }
    """

    def __init__(self, face: Face, kept: SavedSession, note: str) -> None:
        super().__init__(face)
        self._kept, self._note = kept, note
        self.told = Told()

    def compose_box(self) -> ComposeResult:
        """Yield a summary of the saved session."""
        kept, recipe = self._kept, self._kept.training.recipe
        what = next((one.name for one in PRESETS.values() if one.recipe == recipe), recipe.objective)
        if kept.tokenizer:
            what = safe(os.path.basename(kept.tokenizer), limit=60)
        # The corpus by the last part of its path: the first ones say less and are long.
        first = kept.sources[0] if kept.sources else kept.name
        corpus = safe(os.path.basename(first.rstrip("/")) or first, limit=60)
        more = f" and {len(kept.sources) - 1} more" if len(kept.sources) > 1 else ""
        lines: list[Cell] = [
            (("A session was cut off:", ""),), ((f"  {corpus}{more}", "strong"),),
            ((f"  {what} · step {kept.training.step:,}", "muted"),),
        ]
        if kept.columns:
            lines.append(((f"  comparing {len(kept.columns)} side by side", "muted"),))
        if self._note:
            lines.append(((safe(self._note, limit=300), "warning"),))
        self.told.show(*lines)
        yield self.told
