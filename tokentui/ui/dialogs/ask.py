"""Dialogs of one input line: go to a step, set conventions, and help, which is searched."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.core.counts import COUNT, read_count
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, visible
from tokentui.recipe import Ending
from tokentui.session.commands import (
    GoTo,
    GoToId,
    GoToShare,
    GoToToken,
    RunUntil,
    SetRecipe,
    StepWithSpace,
    SyncBy,
)
from tokentui.session.snapshot import Snapshot
from tokentui.ui.bindings import HANDLED, BoundAction, Hint
from tokentui.ui.dialogs import Dialog, labeled_input
from tokentui.ui.dialogs.draft import RecipeChoice, sized_by, stopped_by
from tokentui.ui.draw.figures import step_of
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.field import Field
from tokentui.ui.guard import GuardedApp, start_worker
from tokentui.ui.link import EngineLink

_STEPS = re.compile(rf"(?P<sign>[+-]?)(?P<digits>{COUNT})(?P<percent>%?)", re.ASCII)
_TYPED_SHOWN = 40
Sections: TypeAlias = Mapping[str, Sequence[BoundAction]]


class Place(NamedTuple):
    """The position that a line is read at.

    Attributes:
        value: The step, or the size.
        known: The furthest step trained so far.
        end: The end of the run, as far as that is known.
        by: What columns are kept in step by; empty for a training by itself, which finds tokens too.
        finds: What the step that is found for a token does with it.
    """

    value: int = 0
    known: int = 0
    end: Ending = Ending()
    by: str = ""
    finds: str = "makes"


def place_of(now: Snapshot | None) -> Place:
    """Return the position, the last computed step and the end of the only column, or of Compare. Return a
    default without a snapshot.

    In Compare, count columns that are in sync and without an error, by tokens only the first of them. The end
    is the furthest of theirs, or an empty `Ending` if one of them has none.
    """
    if now is None:
        return Place()
    if len(now.columns) == 1:
        at = now.main.at
        finds = "drops or keeps" if now.main.traits.shrinks else "makes"
        return Place(at.step, at.computed, at.end, finds=finds)
    by = now.position.by
    there = [column.at for column in now.columns if not column.error and column.in_sync]
    if by == "tokens":  # its steps are those of the first column
        there = there[:1]
    ends = [column_at.end for column_at in there if column_at.end.step is not None]
    end = max(ends, key=lambda ending: ending.step or 0) if ends and len(ends) == len(there) else Ending()
    return Place(now.position.value, max((column_at.computed for column_at in there), default=0), end, by)


def _count(text: str) -> int:
    """Return the number that a text matched by `COUNT` stands for.

    Raises:
        TokentuiError: It is not a whole number.
    """
    if (number := read_count(text)) is None:
        raise _wrong("expected a whole number", text, "for example 500, 32,000 or 32k")
    return number


class ToSize(NamedTuple):
    """A vocabulary size to go to while the columns are synced by another unit."""

    ids: int


_TOKEN_ID = re.compile(r"#([0-9]{1,12})", re.ASCII)


def destination(text: str, place: Place) -> GoTo | GoToShare | GoToToken | GoToId | ToSize | None:
    """Return the command that a typed line stands for.

    Args:
        text: A step (`5000`, `5,000`), steps from here (`+100`, `-5`), a part of the run (`50%`), `end`, or
            the id of a token (`#484`), else the text of a token. Text in double quotes is a token whatever it
            says. Where columns are
            compared: a size (`size 2000`), and no token.
        place: Where one is.

    Returns:
        A command; None for an empty line. Its step may lie beyond the end: what is asked for is trained.

    Raises:
        TokentuiError: It is a part of a run that moves by vocabulary size, or a text where columns are
            compared.
    """
    word = text.strip()
    if not text:
        return None
    if word == "end":
        return GoTo(None)
    if (match := _STEPS.fullmatch(word)) is None or (match["percent"] and match["sign"]):
        if place.by:
            if (size := _UNTIL.fullmatch(word)) is not None and size["size"]:
                ids = _count(size["size"])
                return GoTo(ids) if place.by == "size" else ToSize(ids)
            raise _wrong("expected a number", text, "for example 500, +100, size 2000 or end")
        if (named := _TOKEN_ID.fullmatch(word)) is not None:
            return GoToId(int(named[1]))
        quoted = len(text) > 2 and text[0] == text[-1] == '"'
        return GoToToken(text[1:-1] if quoted else text)
    number = _count(match["digits"])
    if match["percent"]:
        if place.by == "size":
            raise _wrong("a percentage is a part of the steps", text, "type a number of ids, or end")
        if place.end.step is None:
            return GoToShare(min(number, 100))
        number = place.end.step * min(number, 100) // 100
    elif match["sign"]:
        number = place.value + (number if match["sign"] == "+" else -number)
    return GoTo(max(0, number))


def _wrong(what: str, line: str, hint: str) -> TokentuiError:
    """Return the error for a typed line: what was expected, the line itself, cut, and what to type instead.
    """
    return TokentuiError(what, safe(line, limit=_TYPED_SHOWN), hint)


_FIRST = {"": "a step", "merges": "a step", "size": "a number of ids", "tokens": "a step of column A"}
_PAST = {"last": "the run ends at", "about": "the run ends at about"}


def describe_destination(text: str, place: Place) -> str:
    """Return what a typed line does, as safe text; for an empty line, what can be typed."""
    end = place.end
    match destination(text, place):
        case None:
            part = "" if place.by == "size" else ", 50%"
            token = ', or a token (·the, #484, or "100" in quotes)'
            more = "; size 2000: to a size" if place.by else token
            return f"{_FIRST[place.by]}, +100, -5{part}, end{more if place.by != 'size' else ''}"
        case ToSize(ids):
            return f"{ids:,} ids; the columns then move by vocabulary size"
        case GoToToken(token):
            shown = "".join(span.text for span in visible(token, limit=_TYPED_SHOWN))
            return f"the step that {place.finds} ‘{shown}’"
        case GoToId(id):
            return f"the step that {place.finds} the token #{id}"
        case GoToShare(percent):
            return f"{percent} % of the run; trains to its end first"
        case GoTo(None) if place.by:
            return "the end of every column"
        case GoTo(None):
            return "the end of the run" if end.step is None else f"the end of the run, {step_of(end)}"
        case GoTo(int(number)) if place.by:
            return f"{number:,} ids" if place.by == "size" else f"step {number:,}"
        case GoTo(int(number)):
            note = ""
            if number == place.value:
                note = ", where you are"
            elif text.strip().endswith("%") and not end.exact:
                note = f" of {end.kind} {end.step:,}"
            elif end.step is not None and number > end.step:
                note = f", {_PAST.get(end.kind, 'beyond the stop at')} {end.step:,}"
            return f"step {number:,}{note} (known to {place.known:,})"
    raise AssertionError


class AskLine(Dialog[None]):
    """Asks for one line, describes its effect below it at each change, and passes it on if it is valid. A
    validator of Textual reports only what is wrong.

    Args:
        engine: The link to the session.
        heading: The title of the dialog; empty for `HEADING`.
        describe: Returns the effect of a line as safe text, or what to type for an empty one. Raises
            TokentuiError for an invalid line.
        take: Called with the line after the dialog is closed; never with an empty one.
        default: What an empty line stands for; empty for nothing.
    """

    dims = False  # one looks at the panes while one types a step
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", HANDLED, "apply")]

    def __init__(self, engine: EngineLink, heading: str, describe: Callable[[str], str],
            take: Callable[[str], object], default: str = "") -> None:
        super().__init__(engine, heading)
        self._describe, self._take, self._default = describe, take, default
        self.field = Field(placeholder=safe(default))
        self.parts = labeled_input(">", self.field), self.notice

    def on_mount(self) -> None:
        """Show what to type."""
        self.check("")

    def follow(self, snapshot: Snapshot) -> None:
        """Describe the typed line again with the new snapshot."""
        super().follow(snapshot)
        if self.is_mounted:
            self.check(self.field.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Describe the effect of the typed line."""
        self.check(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """If the line is valid, close, then call `take` with the line, or with the default if it is empty;
        without a default an empty line only closes. Otherwise show the error and stay open."""
        if self.check(event.value):
            self.dismiss(None)
            if line := event.value or self._default:
                self._take(line)

    def check(self, line: str) -> bool:
        """Show the effect of a line in the notice, or its error. Return whether the line is valid."""
        try:
            note = self._describe(line)
            self.notice.say(f"{note} · {self.waits}" if self.waits and line else note,
                "" if line else "muted")
        except TokentuiError as error:
            self.notice.tell(error)
            return False
        return True


class _Ways(Listing):
    """A list below a line: up leads from its first row back to the line."""

    def move(self, rows: int) -> None:
        """Move the cursor by `rows`; up from the first row, focus the line above the list."""
        if rows < 0 and self.cursor == 0:
            self.screen.focus_previous()
        else:
            super().move(rows)


class GoToScreen(AskLine):
    """Asks for a step, a size or a token, and goes there.

    Below the line it lists other ways to go somewhere; the down key moves to the list.

    Args:
        engine: The link to the session.
        ways: The actions to list.
        go: Called with the chosen action after the dialog is closed.
    """

    HEADING = "Go to"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "go"), Binding("down", "to_ways", "more ways", group=Hint(pane="line")),
    ]

    def __init__(
        self, engine: EngineLink, ways: Sequence[BoundAction] = (),
        go: Callable[[BoundAction], object] = lambda way: None,
    ) -> None:
        super().__init__(engine, "", lambda line: describe_destination(line, place_of(self.now)), self._go)
        self._ways, self._go_by = {way.id: way for way in ways}, go
        self.listing = _Ways()
        if ways:
            self.parts = (*self.parts, self.listing)

    def on_mount(self) -> None:
        """List the other ways with their keys, focus the line, and fit the box to the screen."""
        super().on_mount()
        self.set_focus(self.field)
        self.listing.show([
            TableRow(way.id, (((way.help, ""),), ((way.shown_key, "key"),))) for way in self._ways.values()
        ], None, (Column(flex=1, priority=2), Column(width=7, align="right", priority=1)))
        self.lay_out()

    def lay_out(self) -> None:
        """Set the height of the box: a row for each way, as far as the screen has room."""
        self.box.styles.height = min(5 + len(self._ways), max(5, self.app.size.height - 2))

    def on_descendant_focus(self) -> None:
        """Hide the cursor of the list unless the list has the focus: in the line, enter submits the line."""
        self.listing.mark(False)

    def action_to_ways(self) -> None:
        """Focus the list of other ways; do nothing if there are none."""
        if self._ways:
            self.set_focus(self.listing)

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Close, and run the chosen way."""
        way = self._ways[str(event.key)]
        self.dismiss(None)
        self._go_by(way)

    def _go(self, line: str) -> None:
        """Send the command of a line. If no step makes a token or an id, show that in a message later. A size
        also changes the unit of moves to sizes."""
        command = destination(line, place := place_of(self.now))
        if isinstance(command, GoToToken):
            opened = self.now is not None and self.now.main.opened is not None
            missing = "the file has no token" if opened else f"no step of this run {place.finds}"
            _send_for_token(self, command, command.text, f"{missing} {command.text!r}")
        elif isinstance(command, GoToId):
            missing = f"no step so far makes a token #{command.id}: G trains to the end"
            _send_for_token(self, command, "", missing)
        elif isinstance(command, ToSize):
            self.engine.send(SyncBy("size"))
            self.engine.send(GoTo(command.ids))
        elif command is not None:
            self.engine.send(command)


_UNTIL = re.compile(
    rf"(?:size\s+)?(?P<size>{COUNT})(?:\s+ids?)?"
    r"|(?P<ratio>\d{1,6}(?:\.\d{1,9})?)\s*(?:b/token|b|bytes? per token|bytes?)"
    r"|(?P<bare>\d{1,6}\.\d{1,9})|token (?P<token>.+)",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)


def until(text: str) -> RunUntil | None:
    """Return the command that a typed condition stands for; None for an empty line.

    Args:
        text: `size 1000` or a whole number of ids; `3.2 bytes per token`; `token ·the`, or else the text of a
            token. Text in double quotes is always a token.

    Raises:
        TokentuiError: The size is not a whole number.
    """
    match = _UNTIL.fullmatch(text) or _UNTIL.fullmatch(text.strip())
    if match is not None and match["size"]:
        return RunUntil(size=_count(match["size"]))
    if match is not None and (ratio := match["ratio"] or match["bare"]):
        return RunUntil(compression=float(ratio))
    token = match["token"] if match is not None else text
    quoted = len(token) > 2 and token[0] == token[-1] == '"'
    return RunUntil(token[1:-1] if quoted else token) if token else None


def describe_condition(text: str, now: Snapshot | None) -> str:
    """Return a preview of where a typed condition stops, with the present value, as safe text. For an empty
    line, return what to type.

    Raises:
        TokentuiError: The size is not a whole number.
    """
    at = now.main.at if now is not None else None
    match until(text):
        case None:
            return 'a token (·the, "100"), size 1000, or 3.2 bytes per token'
        case RunUntil(size=int(size)):
            return f"the first step with {size:,} ids" + (f"; now {at.vocab_size:,}" if at else "")
        case RunUntil(compression=float(ratio)):
            held = at.bytes_per_token if at is not None else None
            goes = "at most" if now is not None and now.main.traits.shrinks else "at least"
            here = f"; now {held:.3f}" if held is not None else ""
            return f"the first step with {goes} {ratio:g} bytes per token{here}"
        case RunUntil(token):
            shown = "".join(span.text for span in visible(token, limit=_TYPED_SHOWN))
            return f"the step that {place_of(now).finds} ‘{shown}’"


class UntilScreen(AskLine):
    """Asks for a condition, and runs to the first step that meets it.

    Args:
        engine: The link to the session.
    """

    HEADING = "Run until"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "run"),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine, "", self._describe_condition, self._run)

    def _describe_condition(self, line: str) -> str:
        """Describe a condition: the new `vocab_size` if the size ends the run (see `sized_by`), otherwise the
        step where the run stops. Raises TokentuiError for an invalid size."""
        command = until(line)
        sized = None if command is None else sized_by(command.size, self.now, self.engine.run)
        note = f"vocab_size becomes {sized.size:,}, and the run goes there" if sized else ""
        if sized is not None and sized.run.stops.vocab_size != self.engine.run.stops.vocab_size:
            note += "; recipes chosen later keep this size: a changes it"
        return note or describe_condition(line, self.now)

    def _run(self, line: str) -> None:
        """Run until the condition of a line holds, and show a message if the run ends before. A size that
        `sized_by` takes changes the run instead, and goes to its end. Do nothing for an empty condition."""
        if (command := until(line)) is None:
            return
        if (sized := sized_by(command.size, self.now, self.engine.run)) is not None:
            start_worker(self.app, "go to", _go_to_end_of, self.engine, sized, exclusive=False)
        else:
            stop = stopped_by(command.size, self.now, self.engine.run)
            before = f"the run ends before {command.condition}{stop}"
            _send_for_token(self, command, command.token, before)


async def _go_to_end_of(engine: EngineLink, sized: RecipeChoice) -> None:
    """Train by a recipe and its run, then go to the end. Raises the errors of `EngineLink.ask`."""
    await engine.ask(SetRecipe(sized.recipe, sized.run))
    engine.send(GoTo(None))


def _send_for_token(
    screen: AskLine, command: GoToToken | GoToId | RunUntil, token: str, missing: str
) -> None:
    """Start `go_to_token` in a worker of the app, which outlives the dialog. The dialog stays open.

    Args:
        screen: The dialog; its snapshot gives the current step.
        command: The command that goes to a step.
        token: The text to look for with a space in front if no step is found; empty for none.
        missing: The message if no step is found.
    """
    here = screen.now.main.at.step if screen.now is not None else None
    app, engine = screen.app, screen.engine
    start_worker(app, "go to", go_to_token, app, engine, command, token, missing, here, exclusive=False)


async def go_to_token(
    app: GuardedApp, engine: EngineLink, command: GoToToken | GoToId | RunUntil, token: str, missing: str,
    here: int | None,
) -> None:
    """Go to the step that a command finds, and show a message if there is none, or if the current step meets
    a `RunUntil` already.

    If only the token with a space in front has a step, the message names it: in most recipes `the` in a text
    is the token `·the`.

    Args:
        app: The app, which shows the message.
        engine: The link to the session.
        command: The command.
        token: The text of the token; empty for no such hint.
        missing: The message if no step is found.
        here: The current step; None if it is not known.

    Raises:
        TokentuiError: The command failed.
        Cancelled: It was stopped or replaced.
    """
    step = await engine.ask(command)
    if step is not None:
        if step == here and isinstance(command, RunUntil):
            app.say(f"step {step:,} is at {command.condition} or past it already: 0 goes to the start")
        return
    hint = ""
    if token and not token.startswith((" ", "·", "▁")):
        spaced = "".join(span.text for span in visible(f" {token}", limit=_TYPED_SHOWN))
        if (other := await engine.ask(StepWithSpace(token))) is not None:
            hint = f"; step {other:,} makes {spaced}, with a space in front"
    app.say(missing + hint)


def parse_conventions(line: str) -> tuple[str, float]:
    """Return the splitter and the order of Rényi's entropy that a line names, in either order. The defaults
    are `whitespace` and 2.5. The name of the splitter is not checked.

    Raises:
        TokentuiError: There are two splitters or two numbers, or the number is negative or NaN.
    """
    splitters, orders = list[str](), list[float]()
    for word in line.split():
        try:
            orders.append(float(word))
        except ValueError:
            splitters.append(word)
    if len(splitters) > 1 or len(orders) > 1:
        raise _wrong("expected a splitter and a number", line, "for example whitespace 2.5")
    splitter, alpha = next(iter(splitters), "whitespace"), next(iter(orders), 2.5)
    if math.isnan(alpha) or alpha < 0:
        raise TokentuiError("out of range", f"alpha={alpha}", "use 0 or more")
    return splitter, alpha


def describe_conventions(line: str) -> str:
    """Return a preview of the effect of a line of conventions, as safe text; for an empty line, what to type.

    Raises:
        TokentuiError: See `parse_conventions`.
    """
    splitter, alpha = parse_conventions(line)
    conventions = f"words by {safe(splitter, limit=_TYPED_SHOWN)}, Rényi's entropy of order {alpha:g}"
    return conventions if line else "the word splitter and the order of the Rényi entropy: whitespace 2.5"
