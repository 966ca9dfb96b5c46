"""The tables of panes: an entry for each pane, from which its screen takes all else.

`main_panes.py` is the table of the main screen, `compare/panes.py` that of Compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from textual.binding import Binding

from tokentui.ui.bindings import Owners
from tokentui.ui.panes.pane import Pane


@dataclass(frozen=True)
class PaneEntry:
    """A pane of a screen. The order in the table is that of the number keys and of `tab`.

    Attributes:
        name: Its name, and the id of its widget.
        title: Its title, without its number.
        help: The help text of its number key.
        make: Makes its widget, given the screen; None if the screen has widgets of its own for it.
        short_title: The title where there is little room; empty for `title`.
        key_owners: The widgets in it that have keys, each with its section of the help.
        key_section: The section of keys that work while it has the focus; empty for `name`.
        key_id: The id of the binding of its number key; empty for `to_NAME`.
        key_action: The action of its number key; empty to go to the pane.
        place: The place that it shares with other panes, by the name of the layout. One pane of a place is
            seen at a time. A layout that is not in it gives the pane a place of its own.
        shows_tokens: False if the view of tokens changes nothing in it.
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
    """Return the bindings of the number keys, each of which goes to a pane."""
    return [
        Binding(str(number), entry.key_action or f"pane({entry.name!r})", f"pane {number}",
            tooltip=entry.help, id=entry.key_id or f"to_{entry.name}")
        for number, entry in enumerate(entries, 1)
    ]


def key_owners(entries: Iterable[PaneEntry]) -> Owners:
    """Return the widgets of all panes that have keys, each with its section of the help."""
    return [owner for entry in entries for owner in entry.key_owners]


def groups(entries: Iterable[PaneEntry], layout: str) -> tuple[tuple[str, ...], ...]:
    """Return the names of the panes that share a place in a layout, place by place."""
    places: dict[str, list[str]] = {}
    for entry in entries:
        places.setdefault(entry.place.get(layout, f"own place of {entry.name}"), []).append(entry.name)
    return tuple(map(tuple, places.values()))


def one_group(entries: Iterable[PaneEntry]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of a layout in which one pane is seen at a time."""
    return (tuple(entry.name for entry in entries),)
