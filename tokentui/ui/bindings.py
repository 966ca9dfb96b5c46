"""What the footer and the help show of Textual's bindings.

A binding belongs to the screen, pane or dialog that has the key, in its `BINDINGS`, and names an `action_…`
method. Its `id` is the name by which users give it other keys; a `Hint` says where the footer shows it.

The footer is one line of its own. Textual's `Footer` cuts what does not fit without a sign: at 80 columns 6
of 14 keys were gone, Help and Quit first. It also takes 17 ms to mount 14 keys again after each move of the
focus. `Screen.active_bindings` takes 0.08 ms. This line, which is made from it, takes three times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

from rich.cells import cell_len
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import format_key
from textual.screen import Screen

from tokentui.core.choices import Ref

GAP, RULE = "  ", " │ "
"""The text between two keys of a footer, and between two groups of them."""
MOST_KEYS = 12
"""The maximum number of keys in a footer, however wide it is."""
FAR = 1 << 30
"""More columns than there are: to move to an end."""
HANDLED = "handled"
"""The action of a key that the focused widget handles itself. A dialog binds the key to name it in its line
of keys, and disables the action, so that the key goes on to the other bindings."""


@dataclass(frozen=True)
class Hint(Binding.Group):
    """Where the footer shows a binding.

    It is a group, since Textual hands on the group of a binding as it is; of a subclass of `Binding` nothing
    would be left once Textual has split its keys. Bindings with the same group and a description in it are
    shown as one: `↑↓ row`.

    Attributes:
        rank: Its place in the footer, 1 first; 0 leaves it out.
        pane: The pane that the binding of a screen is about: the footer shows it there alone, and the help
            lists it under that name. Of a dialog: the part that has the focus, a name or several.
        needs: The trait of a training without which it does nothing, such as `has_substeps`. The key
            then says why; footer and help leave it out.
        count: How many of its keys the footer shows.
        always: True to show it at every width, after all others.
        typing: True to show it only while a text is typed.
        family: The letter of the family that it opens; empty for a key that acts at once.
    """

    rank: int = 0
    pane: str = ""
    needs: str = ""
    count: int = 1
    always: bool = False
    typing: bool = False
    family: str = ""


NO_HINT = Hint()


@dataclass(frozen=True)
class BoundAction:
    """An action with its keys, as footer and help show it.

    Attributes:
        id: The id of its binding; that of the first one if several are shown as one.
        keys: Its keys by Textual's names; none for a command that only the help has.
        label: One or two words.
        help: Its effect, in a sentence.
        action: The action, as `App.run_action` takes it.
        hint: Where the footer shows it.
        key_display: The key as a user reads it; empty to make it from the keys.
        on_screen: True if it belongs to a screen or the app, and not to a pane.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    action: str
    hint: Hint = NO_HINT
    key_display: str = ""
    on_screen: bool = True

    @property
    def at_the_end(self) -> bool:
        """True if the footer shows it last and at every width: `always`, and the esc of a dialog."""
        return self.hint.always or (not self.hint.rank and self.keys[:1] == ("escape",))

    @cached_property
    def shown_key(self) -> str:
        """The keys in the footer as a user reads them: `?`, `esc q ?`, arrows without spaces `↑↓`."""
        names = [key_name(key) for key in self.keys[: self.hint.count]]
        blank = "" if all(len(name) == 1 and not name.isascii() for name in names) else " "
        return (self.key_display or blank.join(names)) + ("▸" if self.hint.family else "")


def key_name(key: str) -> str:
    """Return a key as a user reads it: `?` for `question_mark`; `ctrl+p` stays, and so does `v c`."""
    if " " in key:
        return " ".join(map(key_name, key.split(" ")))
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, last if last == "enter" else format_key(last)])


def is_text(key: str) -> bool:
    """Return whether a key types an ASCII character, by Textual's name of the key."""
    name = key_name(key)
    return key == "space" or (len(name) == 1 and name.isascii())


# Families. A family is a key that waits for another one, its member. The key of a member is written as the
# letter of its family, a blank and its own letter: `v c`. Textual takes it for the name of a key that no
# terminal sends, so its bindings, keymap and `active_bindings` hold members like any other key.


@dataclass(frozen=True)
class Family:
    """A key that shows its members in the footer and waits for one of them.

    Attributes:
        letter: Its key by default, and the first part of the keys of its members.
        id: The id of its binding.
        name: Its name, one word.
        about: What its members do, a sentence.
        members: The labels of its members in the footer, by their letters.
        repeats: The letter of a member that its own key repeats until another key is pressed; empty for none.
    """

    letter: str
    id: str
    name: str
    about: str
    members: Mapping[str, str]
    repeats: str = ""


FAMILIES: dict[str, Family] = {family.letter: family for family in (
    Family("v", "view_family", "view", "Change what is seen: marks, ages, split, zoom, theme",
        {"v": "text", "c": "chips", "a": "ages", "p": "split", "z": "zoom", "t": "theme", "w": "start",
            "r": "plots", "m": "formulas"}, repeats="v"),
    Family("w", "why_family", "why", "Explain a word, a step, a token; guess the next pair; change the run",
        {"w": "my word", "n": "next step", "u": "used", "p": "predict", "d": "dropout", "x": "what if"}),
    Family("F", "facts_family", "facts",
        "Show health, sizes, worst words, languages, glitch tokens, chat, hash",
        {"F": "health", "s": "sizes", "w": "worst", "l": "languages", "g": "glitch", "c": "chat",
            "h": "hash"}),
    Family("e", "export_family", "export",
        "Write the tokenizer, a table, a picture, a command, a tour or another vocabulary; play",
        {"e": "tokenizer", "t": "table", "p": "picture", "c": "command", "r": "tour", "x": "change",
            "g": "play"}),
    Family("d", "difference_family", "differ", "Show where columns differ, and choose what is compared",
        {"d": "first", "l": "list", "m": "meaning", "a": "pair", "s": "sync by", "e": "passage",
            "h": "heat map"}),
)}
"""The families by their letters."""


def family_key(letter: str) -> Binding:
    """Return the binding of a screen that opens a family."""
    family = FAMILIES[letter]
    return Binding(letter, f"open_family({letter!r})", family.name, id=family.id, tooltip=family.about,
        group=Hint(rank=4, family=letter))


def member_of(key: str) -> tuple[str, str] | None:
    """Return the letters of a family and of its member that a key such as `v c` names; None for others."""
    letter, blank, member = key.partition(" ")
    return (letter, member) if blank else None


def split_keys(keys: str) -> tuple[str, ...]:
    """Return the keys of a binding such as `"n,right"`."""
    return tuple(key.strip() for key in keys.split(","))


def bindings_of(
    node: type[DOMNode], keymap: Mapping[str, str] | None = None
) -> Iterator[tuple[Binding, tuple[str, ...]]]:
    """Yield the bindings of a class with their keys, those of the class itself first.

    As in Textual, a key that a subclass binds is left out of the bindings of its bases.

    Args:
        node: The class of a widget, a screen or the app.
        keymap: The keys of the user, by the id of the binding, which replace its own.
    """
    for binding, keys in _default_bindings(node):
        yield binding, _keys_of(binding, keys, keymap or {})


NO_KEY = "<ignore>"
"""The key of a binding without one: Textual's name of what no terminal sends. It unbinds no key for ""."""


def _keys_of(binding: Binding, keys: tuple[str, ...], keymap: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys of a binding: those of the user, without `NO_KEY`, or its own."""
    if binding.id is None or binding.id not in keymap:
        return keys
    return tuple(key for key in split_keys(keymap[binding.id]) if key != NO_KEY)


@cache
def _default_bindings(node: type[DOMNode]) -> tuple[tuple[Binding, tuple[str, ...]], ...]:
    """Return the bindings of a class and its bases, the class itself first, each with the keys that no
    subclass binds. Cached, since they do not change."""
    taken: set[str] = set()
    found: list[tuple[Binding, tuple[str, ...]]] = []
    for base in node.__mro__:
        bound = base.__dict__.get("BINDINGS", ()) if issubclass(base, DOMNode) else ()
        own = [(one, split_keys(one.key)) for one in bound if isinstance(one, Binding)]
        free = [(binding, tuple(key for key in keys if key not in taken)) for binding, keys in own]
        found += [(binding, keys) for binding, keys in free if keys]
        taken |= {key for _, keys in own for key in keys}
        if not base.__dict__.get("_inherit_bindings", True):
            break
    return tuple(found)


def actions_of(node: type[DOMNode], keymap: Mapping[str, str]) -> list[BoundAction]:
    """Return the actions of a class that have an id and a description, those of the class itself first.

    Args:
        node: The class of a widget, a screen or the app.
        keymap: The keys of the user, by the id of the binding.
    """
    return [*_actions_of(node, frozenset(keymap.items()))]


@cache
def _actions_of(node: type[DOMNode], keymap: frozenset[tuple[str, str]]) -> list[BoundAction]:
    """Return the same list at each call, see `actions_of`; the footer asks at each change of the focus."""
    named = [pair for pair in bindings_of(node, dict(keymap)) if pair[0].id is not None]
    return _merged(named, issubclass(node, Screen | App))


def dialog_actions(dialog: type[DOMNode], keymap: Mapping[str, str]) -> list[BoundAction]:
    """Return the visible actions of a dialog and its bases, its own first.

    Args:
        dialog: The class of the dialog.
        keymap: The keys of the user, by the id of the binding.
    """
    return _merged([pair for pair in bindings_of(dialog, keymap) if pair[0].show], True)


def _merged(
    bindings: Iterable[tuple[Binding, tuple[str, ...]]], on_screen: bool
) -> list[BoundAction]:
    """Return bindings with a description as actions. Those with the same described group become one, with the
    first key of each before the others."""
    groups: dict[object, list[tuple[Binding, tuple[str, ...]]]] = {}
    for binding, keys in bindings:
        if binding.description:
            group = binding.group if binding.group is not None and binding.group.description else None
            groups.setdefault(group or binding, []).append((binding, keys))
    actions = []
    for members in groups.values():
        first, hint = members[0][0], members[0][0].group
        first_keys = (key for _, keys in members for key in keys[:1])
        keys = (*first_keys, *(key for _, keys in members for key in keys[1:]))
        actions.append(BoundAction(
            first.id or first.action, keys, (hint.description if hint else "") or first.description,
            first.tooltip, first.action, hint if isinstance(hint, Hint) else NO_HINT,
            first.key_display or "", on_screen,
        ))
    return actions


def active_actions(screen: Screen[Any], keymap: Mapping[str, str]) -> list[BoundAction]:
    """Return the actions whose keys work for the widget with the focus, with those keys, the actions of that
    widget first."""
    active = screen.active_bindings
    actions = []
    for node in (screen.focused or screen).ancestors_with_self:
        for action in actions_of(type(node), keymap):
            keys = tuple(key for key in action.keys if key in active and active[key].node is node)
            if keys:
                actions.append(action if keys == action.keys else replace(action, keys=keys))
    return actions


EVERYWHERE = "everywhere"
"""The section of the keys of a whole screen."""
Owners: TypeAlias = Sequence[tuple[str, type[DOMNode] | Ref]]
"""The widgets of a screen that have keys, each with the name of its pane."""


def key_sections(
    screen: type[Screen[Any]], app: type[App[Any]], owners: Owners, keymap: Mapping[str, str]
) -> dict[str, list[BoundAction]]:
    """Return the actions of a screen and the app by pane, those of the whole screen first, under
    `EVERYWHERE`.

    Args:
        screen: The class of the screen.
        app: The class of the app.
        owners: The widgets of the screen that have keys.
        keymap: The keys of the user, by the id of the binding.
    """
    sections: dict[str, list[BoundAction]] = {EVERYWHERE: []}
    for action in (*actions_of(screen, keymap), *actions_of(app, keymap)):
        sections.setdefault(action.hint.pane or EVERYWHERE, []).append(action)
    for pane, owner in owners:
        node = owner.resolve() if isinstance(owner, Ref) else owner
        sections.setdefault(pane, []).extend(actions_of(node, keymap))
    return sections


# The footer.


def fitting(actions: Sequence[BoundAction], width: int) -> list[list[BoundAction]]:
    """Return the actions that fit side by side into a footer, each as `key label`, in groups: the whole
    screen, the pane, families, and those at the end.

    Those at the end are placed first. Then each is taken, in order, that fits; at most `MOST_KEYS`, and any
    number of families.
    """
    chosen: list[BoundAction] = []
    for action in sorted(actions, key=lambda action: not action.at_the_end):
        many = sum(not other.hint.family for other in chosen)
        if (action.hint.family or many < MOST_KEYS) and _width(_grouped([*chosen, action])) <= width:
            chosen.append(action)
    return _grouped([action for action in actions if action in chosen])


def _grouped(actions: Sequence[BoundAction]) -> list[list[BoundAction]]:
    """Return actions in the groups of a footer, without empty groups."""
    groups: tuple[list[BoundAction], ...] = [], [], [], []
    for action in actions:
        whole_screen = action.on_screen and not action.hint.pane
        group = 3 if action.at_the_end else 2 if action.hint.family else 0 if whole_screen else 1
        groups[group].append(action)
    return [group for group in groups if group]


def footer_text(action: BoundAction) -> tuple[str, str]:
    """Return the key and the label of an action as a footer shows them; a family has no label there."""
    return action.shown_key, "" if action.hint.family or not action.label else f" {action.label}"


def gap_before(action: BoundAction, place: int) -> str:
    """Return the spaces before the action at an index of its group; none before the first, fewer between
    families."""
    return (" " if action.hint.family else GAP) if place else ""


def _width(groups: Sequence[Sequence[BoundAction]]) -> int:
    """Return the columns of a footer with these groups, including the gaps and the bars between groups."""
    return len(RULE) * len(groups[1:]) + sum(
        len(gap_before(action, place)) + cell_len("".join(footer_text(action)))
        for group in groups for place, action in enumerate(group)
    )
