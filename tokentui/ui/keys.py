"""Actions as records: the keys of an action, what it does, and how footer, help and palette call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from rich.cells import cell_len
from textual.binding import Binding
from textual.keys import format_key

On = TypeVar("On", contravariant=True)

BOTH = ("global", "compare")
"""The contexts that are a whole screen."""
MOST_HINTS = 12
"""The most keys in a footer, however wide it is."""


@dataclass(frozen=True)
class Action(Generic[On]):
    """Something that a user can do with a key.

    Attributes:
        keys: Its keys, by Textual's names; the footer shows the first one.
        label: One or two words for the footer.
        does: The function to call with the screen, dialog or widget that has the key. None where the list
            or the line that has the focus knows the key itself: the record only shows it.
        help: Its effect, in a sentence, for the help and the palette.
        name: Its unique name.
        contexts: Where its keys work: a whole screen, or panes.
        footer: Its priority in the footer, 1 first; 0 to leave it out.
        anywhere: True if its keys work in all panes of the screen, though it is about one.
        always: True if its keys work wherever the focus is, in text fields and dialogs as well.
        palette: True if the command palette has it.
        needs: The trait of a training that it means something for, empty for all. With others its keys only
            say that it does not.
        keys_shown: The number of its keys that the footer shows.
    """

    keys: tuple[str, ...]
    label: str
    does: Callable[[On], object] | None = None
    help: str = ""
    name: str = ""
    contexts: tuple[str, ...] = ("global",)
    footer: int = 0
    anywhere: bool = False
    always: bool = False
    palette: bool = True
    needs: str = ""
    keys_shown: int = 1

    @property
    def shown_key(self) -> str:
        """Its key as a user reads it: `?`, `esc q ?`, arrows without gaps `↑↓`."""
        names = [key_name(key) for key in self.keys[: self.keys_shown]]
        return ("" if all(len(name) == 1 and not name.isascii() for name in names) else " ").join(names)


def key_name(key: str) -> str:
    """A key as a user reads it: `?` for `question_mark`, `ctrl+p` as it is."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, last if last == "enter" else format_key(last)])


def bindings(actions: Iterable[Action[Any]]) -> list[Binding]:
    """The bindings of actions, a key each: they run `Acting.action_do`."""
    priority: dict[str, bool] = {}
    for action in actions:
        for key in action.keys if action.does is not None else ():
            priority.setdefault(key, action.always)
    return [Binding(key, f"do({key!r})", show=False, priority=always) for key, always in priority.items()]


def hints(actions: Iterable[Action[Any]], *contexts: str) -> list[Action[Any]]:
    """Return the actions that a footer may show in these contexts, most important first.

    Among equally important ones, those of the first context come first.
    """
    near = [one for one in actions if one.footer and any(context in one.contexts for context in contexts)]
    return sorted(near, key=lambda one: (one.footer, contexts[0] not in one.contexts))


def fitting(actions: Sequence[Action[Any]], width: int, gap: int = 2) -> list[Action[Any]]:
    """The first of these actions that fit side by side, each as `key label`; not more than can be read at
    once.
    """
    chosen: list[Action[Any]] = []
    room = width
    for action in actions[:MOST_HINTS]:
        needed = cell_len(action.shown_key) + 1 + cell_len(action.label) + (gap if chosen else 0)
        if needed > room:
            break
        room -= needed
        chosen.append(action)
    return chosen


class Acting:
    """A widget, screen or app whose keys are the records in `ACTIONS`; the nearest class that has a key
    decides.
    """

    ACTIONS: ClassVar[Sequence[Action[Any]]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        tables = [one.__dict__.get("ACTIONS", ()) for one in cls.__mro__]
        own = [*cls.__dict__.get("BINDINGS", ()), *bindings([one for table in tables for one in table])]
        cls.BINDINGS = own  # type: ignore[attr-defined]
        super().__init_subclass__(**options)

    def action_of(self, key: str) -> Action[Any] | None:
        """The action of a key, None where it has none."""
        tables = (one.__dict__.get("ACTIONS", ()) for one in type(self).__mro__)
        return next((action for table in tables for action in table if key in action.keys and action.does),
            None)

    async def action_do(self, key: str) -> None:
        """Do what a key stands for; the one action that bindings name."""
        if (action := self.action_of(key)) is not None and action.does is not None:
            done = action.does(self)
            if inspect.isawaitable(done):
                await done


class Scrolling(Acting):
    """A widget that scrolls by rows and pages: a list, a text."""

    ACTIONS: ClassVar[Sequence[Action[Any]]] = (
        Action(("up", "k"), "up", lambda it: it.move(-1)),
        Action(("down", "j"), "down", lambda it: it.move(1)),
        Action(("pageup",), "page up", lambda it: it.page(-1)),
        Action(("pagedown",), "page down", lambda it: it.page(1)),
        Action(("home",), "first", lambda it: it.first()),
        Action(("end",), "last", lambda it: it.last()),
    )
