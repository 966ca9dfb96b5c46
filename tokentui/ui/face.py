"""The narrow face of the program: all that panes, dialogs and helpers may ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from textual.screen import Screen

from tokentui.core.safetext import safe
from tokentui.recipe import Run
from tokentui.session.commands import Command, NothingOpen
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import Busy

if TYPE_CHECKING:
    from tokentui.learn.rows import Candidate
    from tokentui.session.views import ColumnWanted

Answer = TypeVar("Answer")
Result = TypeVar("Result")
Severity = Literal["information", "warning", "error"]

_SHOWN = 60


class Guessing(Protocol):
    """The guessing of pairs on a screen, as the screen knows it."""

    def pick(self, row: Candidate) -> object:
        """Take a row as the answer."""


class Face(Protocol):
    """The program, as panes, dialogs and helpers know it."""

    @property
    def snapshot(self) -> Snapshot | None:
        """The last snapshot of the session; None before the first."""

    run_in_use: Run
    """The run in use."""
    run_given: Run
    """The run that the program was started with."""

    def send(
        self, command: Command[Answer], then: Callable[[Answer], object] | None = None,
        failed: Callable[[BaseException], object] | None = None,
    ) -> None:
        """Hand a command to the session.

        Args:
            command: The command.
            then: Called with the answer.
            failed: Called with what went wrong. It is shown in a line if this is None.
        """

    async def ask(self, command: Command[Answer]) -> Answer:
        """Hand a command to the session and wait for its answer.

        Raises:
            TokentuiError: There is none.
        """

    def say(self, text: str, severity: Severity = "information") -> None:
        """Show a line for some seconds."""

    def tell(self, error: BaseException) -> None:
        """Show what went wrong in a line."""

    def compare(self, columns: Sequence[ColumnWanted], held_out: str = "") -> None:
        """Compare columns on the corpus that is open.

        Args:
            columns: The columns, two to four.
            held_out: A second corpus, as the command line names it; empty for none.
        """

    def push(self, screen: Screen[Result], then: Callable[[Result | None], object] | None = None) -> None:
        """Show a dialog; `then` is called with its result."""


class SessionLike(Protocol):
    """The part of a session that the program uses; `tokentui.session.driver.Session` implements it."""

    async def start(self) -> None:
        """Begin to take commands."""

    async def close(self) -> None:
        """Stop, wherever it is."""

    def send(self, command: Command[Answer]) -> asyncio.Future[Answer]:
        """Hand in a command; its answer comes later, or a `TokentuiError`."""


# What is not there yet, in words.


def under_way(busy: Busy) -> str:
    """`counting 45 %, 12 s left`."""
    share = f" {100 * min(busy.done, busy.total) // busy.total} %" if busy.total > 0 else ""
    return safe(busy.what, limit=_SHOWN) + share + (f", {time_left(busy)}" if busy.left is not None else "")


def time_left(busy: Busy) -> str:
    """`12 s left`, `5 min left`; empty where it is not known."""
    if busy.left is None:
        return ""
    for size, unit in ((3600, "h"), (60, "min")):
        if busy.left >= 2 * size:
            return f"{-(-busy.left // size)} {unit} left"
    return f"{busy.left} s left"


def waits_for(snapshot: Snapshot | None) -> str:
    """Return the work that an answer about the training waits for; empty if the answer is on its way."""
    if snapshot is None:
        return "waits: the engine is starting"
    return f"waits: {under_way(snapshot.busy)}" if snapshot.busy is not None else ""


def loads(snapshot: Snapshot | None) -> bool:
    """True if a source is being loaded, or none is loaded yet."""
    return (
        snapshot is None or snapshot.main.partial or (snapshot.corpus.nothing and snapshot.busy is not None)
    )


def has(snapshot: Snapshot | None, trait: str) -> bool:
    """True if the current training has a trait, `finer` or `compresses`. Every training has the trait ""."""
    return not trait or (snapshot is not None and bool(getattr(snapshot.main.traits, trait)))


def not_yet(face: Face) -> None:
    """Refuse what needs a training that is not there yet."""
    work = waits_for(face.snapshot).removeprefix("waits: ") or "a source is being opened"
    face.say(f"not yet: {work}; press the key again then", "warning")


def nothing_there(snapshot: Snapshot) -> str:
    """Return the text of empty panes: the source that is being opened, or that there is none."""
    if snapshot.busy is not None:
        return under_way(snapshot.busy)
    return str(NothingOpen())
