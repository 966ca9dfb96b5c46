"""Actions as records: the keys of an action, what it does, and how footer and help call it."""

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
GAP, RULE = "  ", " │ "
"""The text between two actions of a footer, and between two groups of them."""
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
        help: Its effect, in a sentence, for the help.
        name: Its unique name.
        contexts: Where its keys work: a whole screen, or panes.
        footer: Its priority in the footer, 1 first; 0 to leave it out.
        anywhere: True if its keys work in all panes of the screen, though it is about one.
        always: True if its keys work wherever the focus is, in text fields and dialogs as well.
        palette: True if enter does it in the list of keys.
        stays: True if the footer shows it at every width, behind all others.
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
    stays: bool = False
    needs: str = ""
    keys_shown: int = 1

    @property
    def at_the_end(self) -> bool:
        """True if it stands behind the others, at every width: what stays, and the esc of a dialog."""
        return self.stays or (not self.footer and self.keys[:1] == ("escape",))

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


def fitting(actions: Sequence[Action[Any]], width: int) -> list[list[Action[Any]]]:
    """The actions of a footer that fit side by side, each as `key label`, in groups.

    The groups are the keys of the whole screen, those of the pane, and those that stay. Those that stay take
    their room first; of the others the first ones that fit are taken, and not more than can be read at once.
    """
    chosen: list[Action[Any]] = []
    for action in sorted(actions, key=lambda one: not one.at_the_end)[:MOST_HINTS]:
        if _long(_grouped([*chosen, action])) > width:
            break
        chosen.append(action)
    return _grouped([one for one in actions if one in chosen])


def _grouped(actions: Sequence[Action[Any]]) -> list[list[Action[Any]]]:
    """Actions in the groups of a footer; a group without any is left out."""
    groups: tuple[list[Action[Any]], ...] = [], [], []
    for one in actions:
        groups[2 if one.at_the_end else 0 if set(BOTH) & {*one.contexts} else 1].append(one)
    return [group for group in groups if group]


def _long(groups: Sequence[Sequence[Action[Any]]]) -> int:
    """The columns that a footer takes: blanks between two actions, a bar between two groups."""
    ends = (len(GAP) - len(RULE)) * len(groups[1:])
    return sum(len(GAP) + cell_len(f"{one.shown_key} {one.label}") for group in groups for one in group) - (
        len(GAP) + ends
    )


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
