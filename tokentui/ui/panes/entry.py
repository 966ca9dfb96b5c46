"""The entry of a pane in the table of its screen.

The tables are `main_panes.py` and `compare/compare_panes.py`. Titles, number keys, the help and the layouts
follow from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from textual.binding import Binding

from tokentui.ui.bindings import Owners
from tokentui.ui.panes.pane import Pane


class Layout(NamedTuple):
    """The panes that fit on the screen.

    Attributes:
        groups: The panes that share a place, place by place; of each group one is seen.
        classes: The classes of the screen: wide, medium or small; tall, high or short.
    """

    groups: tuple[tuple[str, ...], ...]
    classes: frozenset[str]


@dataclass(frozen=True)
class PaneEntry:
    """A pane of a screen. The order of the table is the order of the number keys and of `tab`.

    Attributes:
        name: The name, which is also the id of the widget.
        title: The title, without the number.
        help: The help text of the number key.
        make: Returns the widget for a screen; None if the screen makes the widgets itself.
        short_title: The title for narrow terminals; empty for `title`.
        key_owners: The widgets in the pane that have bindings, each with its section of the help.
        key_section: The section of the bindings that work while the pane has the focus; empty for `name`.
        key_id: The id of the binding of the number key; empty for `to_NAME`.
        key_action: The action of the number key; empty for the action that goes to the pane.
        place: For each layout, the name of a place that several panes share, one of which is visible at a
            time. In a layout that is missing here, the pane has a place of its own.
        shows_tokens: Whether the pane shows tokens, and so depends on the view (text, escapes, hex).
    """

    name: str
    title: str
    help: str
    make: Callable[[Any], Pane] | None
    short_title: str = ""
    key_owners: Owners = ()
    key_section: str = ""
    key_id: str = ""
    key_action: str = ""
    place: Mapping[str, str] = field(default_factory=dict)
    shows_tokens: bool = True


def number_keys(entries: Sequence[PaneEntry]) -> list[Binding]:
    """Return the bindings of the number keys, from 1, each of which goes to a pane."""
    return [
        Binding(str(number), entry.key_action or f"pane({entry.name!r})", f"pane {number}",
            tooltip=entry.help, id=entry.key_id or f"to_{entry.name}")
        for number, entry in enumerate(entries, 1)
    ]


def key_owners(entries: Iterable[PaneEntry]) -> Owners:
    """Return the widgets of all panes that have keys, each with its section of the help."""
    return [owner for entry in entries for owner in entry.key_owners]


def groups(entries: Iterable[PaneEntry], layout: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of the panes that share a place in a layout, place by place; a pane without a shared
    place is alone."""
    places: dict[str, list[str]] = {}
    for entry in entries:
        places.setdefault(entry.place.get(layout, f"own place of {entry.name}"), []).append(entry.name)
    return tuple(map(tuple, places.values()))


def one_group(entries: Iterable[PaneEntry]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of a layout in which one pane is visible at a time."""
    return (tuple(entry.name for entry in entries),)
