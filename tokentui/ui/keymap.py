"""The keys of the user: the table `[keys]` of the settings file, checked against the bindings of all screens.

Textual's keymap gives bindings other keys by their ids. It does not check them: measured on Textual 8.2.8, a
binding of two keys (`"n,right"`) and two bindings that swap keys are reported as clashes, and of two bindings
that do clash only one is named and the other is dropped. So the table is checked here, when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys

from tokentui.core.choices import Ref
from tokentui.core.safetext import safe
from tokentui.ui.bindings import (
    BoundAction,
    bindings_of,
    is_text,
    key_name,
    key_sections,
)

_APP = Ref("tokentui.ui.app:ExplorerApp")
SCREENS = {
    "main": Ref("tokentui.ui.main_screen:MainScreen"),
    "compare": Ref("tokentui.ui.compare_screen:CompareScreen"),
    "tour": Ref("tokentui.ui.tour_screen:TourScreen"),
}
"""The screens with panes, whose keys a user may change."""
_TYPES = "encode", "editor"
"""The panes whose keys work while a text is typed."""
_TEXT = Ref("tokentui.ui.field:TypedLine"), Ref("tokentui.ui.panes.editor:CorpusEditor")
"""The widgets that a text is typed into."""
ID_PAGE = "docs/reference/keys.md"
"""The page that lists the ids."""
_SHOWN = 40


def sections_of(screen: str) -> dict[str, list[BoundAction]]:
    """Return the actions of a screen by pane, with their default keys; see `key_sections`."""
    kind = SCREENS[screen].resolve()
    return key_sections(kind, _APP.resolve(), kind.KEY_OWNERS, {})


def all_actions() -> dict[str, BoundAction]:
    """Return the actions of all screens by id."""
    return {
        action.id: action
        for screen in SCREENS for actions in sections_of(screen).values() for action in actions
    }


# The check of the table.


class _Id(NamedTuple):
    """What is known of the id of a binding.

    Attributes:
        label: Its label.
        keys: Its default keys.
        typing: True if it works while a text is typed.
        places: The panes in which it works, each with its screen.
    """

    label: str
    keys: tuple[str, ...]
    typing: bool
    places: frozenset[tuple[str, str]]


def _known_ids() -> dict[str, _Id]:
    """Return the ids of all bindings of the app, the screens and their panes, with what is known of each.

    An id with several bindings has the label and keys of the last one, and the places of all.
    """
    ids: dict[str, _Id] = {}

    def add(node: type[DOMNode], typing: bool, places: frozenset[tuple[str, str]]) -> None:
        for binding, keys in bindings_of(node):
            if binding.id is not None:
                before = ids.get(binding.id)
                ids[binding.id] = _Id(
                    binding.description, keys, typing or (before is not None and before.typing),
                    places | (before.places if before is not None else frozenset()),
                )

    for screen, reference in SCREENS.items():
        kind = reference.resolve()
        panes = dict[str, list[type[DOMNode]]]()
        for pane, owner in kind.KEY_OWNERS:
            panes.setdefault(pane, []).append(owner.resolve() if isinstance(owner, Ref) else owner)
        everywhere = frozenset((screen, pane) for pane in panes)
        add(kind, False, everywhere)
        add(_APP.resolve(), True, everywhere)
        for pane, nodes in panes.items():
            for node in nodes:
                add(node, pane in _TYPES, frozenset({(screen, pane)}))
    return ids


def _known_keys() -> set[str]:
    """Return Textual's names of keys, besides those of characters."""
    return {key.value for key in Keys if not key.value.startswith("<") and key.value != "ignore"}


def _textual_name(key: str) -> str:
    """Return the name of a key that a user wrote: `question_mark` for `?`; other names stay."""
    (binding,) = Binding.make_bindings([Binding(key, "")])
    return binding.key


class Problem(NamedTuple):
    """A problem of the table `[keys]`.

    Attributes:
        id: The name in the table; empty if the problem is the table.
        what: The fault and what to do about it, as safe text.
    """

    id: str
    what: str

    def describe(self, file: str, line_of: Callable[[str], int | None]) -> str:
        """Return the problem as a line of safe text: file, line, what, what to do.

        Args:
            file: The name of the file.
            line_of: Returns the number of the line of an id; None if it is not known.
        """
        if not self.id:
            return f"{file}: {self.what}"
        line = line_of(self.id)
        where = file if line is None else f"{file}, line {line}"
        return f"{where}, [keys], {safe(self.id, limit=_SHOWN)}: {self.what}; the default stays"


def read_keys(table: object) -> tuple[dict[str, str], list[Problem]]:
    """Check the table `[keys]` of the settings file.

    Args:
        table: The table as it was read: ids of bindings, each with keys such as `"n,right"`.

    Returns:
        The keys by id, as Textual's keymap takes them; and the problems. The bindings of a problem keep their
        default keys.
    """
    if not isinstance(table, Mapping):
        return {}, [Problem("", 'keys is not a table: write [keys], then lines such as next = "n,right"')]
    ids = _known_ids()
    wanted: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    for id, value in table.items():
        try:
            wanted[id] = _checked(id, value, ids)
        except ValueError as error:
            problems.append(Problem(id, str(error)))
    while clashes := dict(_clashes(wanted, ids)):
        for id, problem in clashes.items():
            problems.append(Problem(id, problem))
            del wanted[id]
    return {id: ",".join(keys) for id, keys in wanted.items()}, problems


def _checked(id: str, value: object, ids: Mapping[str, _Id]) -> tuple[str, ...]:
    """Return the keys of a binding by Textual's names.

    Raises:
        ValueError: The id or a key is unknown, there is no key, or an input line needs it.
    """
    if id not in ids:
        near = get_close_matches(id, ids, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the ids are in {ID_PAGE}"
        raise ValueError(f"unknown id; {hint}")
    if not isinstance(value, str):
        raise ValueError('keys are a text, such as "n,right"')
    keys: list[str] = []
    for written in value.split(","):
        shown = safe(written.strip(), limit=_SHOWN)
        if not written.strip():
            raise ValueError("no key is left for it; name one (that of a comma is comma)")
        key = _textual_name(written.strip())
        if len(written.strip()) > 1 and key not in _known_keys() and not is_text(key):
            raise ValueError(
                f"unknown key {shown!r}; write a character, or a name such as f5, ctrl+b or pageup"
            )
        if ids[id].typing and key not in ids[id].keys and _types(key):
            raise ValueError(f"{shown} is needed to type text; take a key such as ctrl+b or f5")
        keys.append(key)
    return tuple(dict.fromkeys(keys))


def _types(key: str) -> bool:
    """Return whether a line or an editor needs a key."""
    return is_text(key) or any(
        key in keys for text in _TEXT for binding, keys in bindings_of(text.resolve()) if binding.id is None
    )


def _clashes(wanted: Mapping[str, tuple[str, ...]], ids: Mapping[str, _Id]) -> Iterator[tuple[str, str]]:
    """Yield the ids of the table with a key of another action that can be active at the same time.

    By default the keys of a pane go before those of its screen: `right` moves the cursor of the corpus, not
    the run. A key that is shared so already, also if a third action has it by default, is no clash.
    """

    def shared(key: str, id: str, other: str) -> bool:
        return key in ids[other].keys and any(
            key in known.keys and known.places == ids[id].places
            for name, known in ids.items() if name != other
        )

    keys = {id: wanted.get(id, known.keys) for id, known in ids.items()}
    for id in wanted:
        for other, theirs in keys.items():
            if other == id or not ids[id].places & ids[other].places:
                continue
            for key in keys[id]:
                if key in theirs and not (shared(key, id, other) or shared(key, other, id)):
                    yield id, (
                        f"{key_name(key)} is also the key of {other} ({ids[other].label}); "
                        f"give {id} ({ids[id].label}) or {other} another one"
                    )
