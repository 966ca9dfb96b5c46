"""An app that shows one dialog and keeps its result."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from key_burst import burst
from textual.await_complete import AwaitComplete
from textual.events import Paste
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input
from waiting import screen_text, until

from tokentui.analyze.report import Section
from tokentui.core.safetext import is_safe
from tokentui.recipe import Run
from tokentui.session.commands import Command, Recognize
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.inspected import Row, parents_section, row_sections, spelling_sections
from tokentui.ui.draw.sections import screen_cell
from tokentui.ui.guard import GuardedApp
from tokentui.ui.link import EngineLink

SIZES = ((120, 40), (80, 24), (40, 12), (20, 5), (1, 1))
"""The terminals that a dialog is tried on."""

_UNANSWERED = object()


class FakeEngine(EngineLink):
    """An engine link for a dialog without a session: it notes what is asked of it, and answers as it is told.
    Its app notes there what it says, and which dialogs it pushes.

    Args:
        snapshot: What the session shows; None for nothing yet.
        answers: What a type of command is answered by: a value, an exception that is raised, or a function of
            the command, which may be a coroutine.
        run: The run in use.
    """

    def __init__(
        self, snapshot: Snapshot | None = None, answers: dict[type, Any] | None = None, run: Run | None = None
    ) -> None:
        super().__init__(cast(Any, None), cast(Any, None), run)
        self.snapshot = snapshot
        self.answers: dict[type, Any] = {Recognize: "", **(answers or {})}
        self.sent: list[Any] = []
        self.said: list[str] = []
        self.told: list[BaseException] = []
        self.pushed: list[Screen[Any]] = []

    @property
    def user_keys(self) -> Mapping[str, str]:
        """None: the dialog has its default keys."""
        return {}

    def send(self, command: Command[Any]) -> None:
        """Note a command."""
        self.sent.append(command)

    async def ask(self, command: Command[Any]) -> Any:
        """Note a command, and answer it."""
        self.sent.append(command)
        answer = self.answers.get(type(command))
        if callable(answer):
            answer = answer(command)
            if inspect.isawaitable(answer):
                answer = await answer
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def of(self, kind: type) -> list[Any]:
        """The commands of a type, in order."""
        return [command for command in self.sent if isinstance(command, kind)]


class Host(GuardedApp):
    """Shows a dialog. It draws text as it is: what a dialog lets through is seen."""

    def __init__(self, dialog: Any) -> None:
        super().__init__()
        self.animation_level = "none"
        self.dialog = dialog
        self.result: Any = _UNANSWERED

    def on_mount(self) -> None:
        """Show it."""
        self.push_screen(self.dialog, self._take)

    @property
    def _noted(self) -> Any:
        """The engine of the dialog, if it is one that notes; else nothing reads the notes."""
        return self.dialog.engine if isinstance(self.dialog.engine, FakeEngine) else FakeEngine()

    def tell(self, error: BaseException) -> None:
        """Note an error."""
        self._noted.told.append(error)

    def say(self, text: str, severity: str = "information") -> None:
        """Note what is said."""
        self._noted.said.append(text)

    def compare(self, columns: Any, held_out: str = "") -> None:
        """Compare nothing."""

    def push_screen(self, screen: Any, *args: Any, **options: Any) -> Any:
        """Show the dialog; only note those that it pushes."""
        if screen is self.dialog or not isinstance(self.dialog.engine, FakeEngine):
            return super().push_screen(screen, *args, **options)
        self.dialog.engine.pushed.append(screen)
        return AwaitComplete()

    def _take(self, result: Any) -> None:
        self.result = result

    @property
    def answered(self) -> bool:
        """Whether the dialog has been left, with or without a result."""
        return self.result is not _UNANSWERED


@asynccontextmanager
async def shown(
    dialog: Screen[Any], size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    """A dialog on a terminal of this size."""
    app = Host(dialog)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen is dialog and dialog.is_mounted and dialog.focused is not None)
        await pilot.pause()  # it is laid out: a key may move the focus
        yield app, pilot


async def typed(pilot: Pilot[Any], text: str) -> None:
    """Type text, a key a character."""
    names = {
        " ": "space", "/": "slash", ".": "full_stop", "-": "minus", "+": "plus", ":": "colon",
        "_": "underscore",
    }
    names |= {"%": "percent_sign", ",": "comma", "(": "left_parenthesis", "\\": "backslash", "~": "tilde"}
    names |= {"*": "asterisk", "=": "equals_sign"}
    await pilot.press(*(names.get(char, char) for char in text))


async def pasted(pilot: Pilot[Any], text: str) -> None:
    """Paste text into the line that has the focus: one change, where it does not matter how the text came."""
    assert isinstance(pilot.app.focused, Input)
    burst(pilot.app, Paste(text))
    await pilot.pause()


def assert_safe(pilot: Pilot[Any]) -> None:
    """Nothing on the screen is hidden or acts."""
    for line in screen_text(pilot).split("\n"):
        assert is_safe(line), ascii(line)


async def tried_on_all_sizes(pilot: Pilot[Any]) -> None:
    """Let the dialog be drawn on every size, and on larger ones again."""
    for size in (*SIZES, SIZES[-2], SIZES[0]):
        await pilot.resize_terminal(*size)
        await until(pilot, lambda size=size: pilot.app.screen.size == size)  # type: ignore[misc]
        assert_safe(pilot)


def row_facts(row: Row) -> list[tuple[str, str]]:
    """What the inspector says of a row, as pairs of a label and a text."""
    return facts_of([*row_sections(row), *parents_section(row), *spelling_sections(row)])


def facts_of(sections: Iterable[Section]) -> list[tuple[str, str]]:
    """The names of sections, and their lines as text."""
    return [(section.name, "".join(text for text, _ in screen_cell(section.summary))) for section in sections]
