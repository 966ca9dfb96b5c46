"""A `TokentuiError` anywhere in the app is one notification, and the app goes on."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from screens import FakeSession, explorer
from stepping import opened
from textual import work
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import var
from textual.widget import Widget
from waiting import notes_of, screen_text, until

import tokentui.ui
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs import Dialog
from tokentui.ui.draw.lines import Lines
from tokentui.ui.guard import Guarded, GuardedApp, start_worker
from tokentui.ui.main_screen import MainScreen

SHOWN = r"[@click=app.quit]b: no \x1b[31m [red]such[/red] [/b] file"


class Ask(Message):
    """A message whose handler fails."""


class Fails:
    """A part of the app that raises wherever Textual calls it."""

    value = var(0, init=False)
    slow = var(0, init=False)
    error: Exception
    done = False

    def raise_it(self) -> None:
        raise self.error

    def action_fail(self) -> None:
        raise self.error

    def on_ask(self) -> None:
        raise self.error

    def watch_value(self) -> None:
        raise self.error

    async def watch_slow(self) -> None:
        raise self.error

    @work
    async def work_fails(self) -> None:
        raise self.error

    @work(thread=True)
    def thread_fails(self) -> None:
        raise self.error

    def note(self) -> None:
        self.done = True


class FailingApp(Fails, ExplorerApp):
    CSS_PATH = str(Path(tokentui.ui.__path__[0]) / "app.tcss")


class FailingScreen(Fails, MainScreen):
    pass


class FailingDialog(Fails, Dialog[None]):
    pass


class FailingWidget(Fails, Lines):
    pass


class FaultyApp(Fails, GuardedApp):
    pass


def hostile(where: str) -> TokentuiError:
    """An error of a way to fail that names it."""
    return TokentuiError("no \x1b[31m [red]such[/red] [/b] file", f"{where}[@click=app.quit]b")


def _set(name: str) -> Callable[[Any], object]:
    # A watcher runs where the attribute is set: in a callback of the widget itself.
    return lambda part: part.call_later(setattr, part, name, getattr(part, name) + 1)


WAYS: dict[str, Callable[[Any], object]] = {
    "action": lambda part: start_worker(part.app, "actions", part.app.run_action, "fail", part),
    "message handler": lambda part: part.post_message(Ask()),
    "watcher": _set("value"),
    "async watcher": _set("slow"),
    "timer": lambda part: part.set_timer(0.001, part.raise_it),
    "interval": lambda part: part.set_interval(0.01, part.raise_it, repeat=1),
    "worker": lambda part: part.work_fails(),
    "thread": lambda part: part.thread_fails(),
    "call_later": lambda part: part.call_later(part.raise_it),
    "call_next": lambda part: part.call_next(part.raise_it),
    "call_after_refresh": lambda part: part.call_after_refresh(part.raise_it),
}


def failing(kind: str, app: Any) -> Any:
    """Return a part of this kind, and show it."""
    if kind == "app":
        return app
    if kind == "widget":
        widget = FailingWidget(lambda width, height: ())
        app.screen.mount(widget)
        return widget
    if kind == "dialog":
        dialog = FailingDialog(app.engine, "fails")
        app.push_screen(dialog)
        return dialog
    screen = FailingScreen(app.engine, "", "shade")
    app.push_screen(screen)
    return screen


@pytest.mark.parametrize("kind", ["widget", "app", "screen", "dialog"])
@pytest.mark.first_run(cases=1)
async def test_an_error_is_a_notification_and_the_app_goes_on(kind: str) -> None:
    app: Any = FailingApp(cast(Any, FakeSession))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        part = failing(kind, app)
        await until(pilot, lambda: part.is_running and part.is_mounted)
        for way, fail in WAYS.items():
            part.error, part.done, shown = hostile(way), False, way + SHOWN
            fail(part)
            await until(pilot, lambda shown=shown: shown in notes_of(app))  # type: ignore[misc]
            seen = screen_text(pilot)
            assert "[red]such[/red]" in seen
            assert all(map(is_safe, seen.split("\n")))
            # The part still handles its messages.
            part.call_later(part.note)
            await until(pilot, lambda: part.done)
            part.error = Cancelled()
            fail(part)
            await until(pilot, lambda: "stopped" in notes_of(app))
            app.clear_notifications()
        assert app.return_code is None


@pytest.mark.parametrize("way", WAYS)
async def test_a_fault_of_the_program_ends_the_app(way: str) -> None:
    app: Any = FaultyApp()

    async def fails() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            part = failing("widget", app)
            part.error = ZeroDivisionError("a fault")
            await until(pilot, lambda: part.is_mounted)
            WAYS[way](part)
            await until(pilot, lambda: app._exception)

    with pytest.raises(Exception, match="a fault"):
        await fails()


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    one: type[Any]
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


def test_every_app_screen_and_widget_is_guarded() -> None:
    for module in pkgutil.walk_packages(tokentui.ui.__path__, "tokentui.ui."):
        importlib.import_module(module.name)
    ours = {one for one in _subclasses(MessagePump) if one.__module__.startswith("tokentui.ui.")}
    assert len(ours) > 50
    for one in ours:
        dispatches = next(base for base in one.__mro__ if "_dispatch_message" in base.__dict__)
        assert dispatches is Guarded, f"{one.__module__}.{one.__qualname__} does not derive from Guarded"


# Compare before its columns are open.


@pytest.mark.slow
@pytest.mark.parametrize("keys", [("2", "enter"), ("i", "x", "enter")])
async def test_enter_in_compare_before_the_columns_are_open_is_a_line(keys: tuple[str, ...]) -> None:
    app, _ = explorer(typed="a word")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.main.snapshot)
        app.compare((ColumnWanted(), ColumnWanted()))
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.is_mounted)
        await pilot.press(*keys)
        await until(pilot, lambda: "the columns are still opening" in screen_text(pilot))
        assert isinstance(app.screen, CompareScreen)


@pytest.mark.slow
async def test_typing_and_enter_in_compare_of_a_real_session_does_not_end_it() -> None:
    async with opened() as (app, pilot):
        app.compare((ColumnWanted(), ColumnWanted()))
        await pilot.press("i", "enter", "escape", "2", "enter")
        await until(pilot, lambda: isinstance(app.screen_stack[1], CompareScreen))
        await until(pilot, lambda: len(app.engine.snapshot.columns) == 2 if app.engine.snapshot else False)
        widget: Widget = app.screen
        assert widget.is_running


async def test_a_timer_that_calls_once_calls_also_where_the_process_is_late(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a new size of the terminal would be lost on a busy machine, or the snapshots of a session."""
    app, _ = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        clock = itertools.count()
        monkeypatch.setattr("textual.timer._time.get_time", lambda: float(next(clock)))
        called: list[object] = []
        for node in (app, app.main, app.main.pairs):
            node.set_timer(0.001, lambda node=node: called.append(node))
        await until(pilot, lambda: len(called) == 3)
