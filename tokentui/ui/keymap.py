"""All bindings of the screens by id."""

from __future__ import annotations

from collections.abc import Mapping

from tokentui.core.choices import Ref
from tokentui.ui.bindings import BoundAction, key_sections

_APP = Ref("tokentui.ui.app:ExplorerApp")
SCREENS = {
    "main": Ref("tokentui.ui.main:MainScreen"), "compare": Ref("tokentui.ui.compare:CompareScreen"),
    "tour": Ref("tokentui.ui.tour:TourScreen"),
}
"""The screens with panes, whose keys a user may change."""


def sections_of(screen: str, keymap: Mapping[str, str] = {}) -> dict[str, list[BoundAction]]:
    """Return the actions of a screen by pane; see `key_sections`."""
    kind = SCREENS[screen].resolve()
    return key_sections(kind, _APP.resolve(), kind.KEY_OWNERS, keymap)


def all_actions() -> dict[str, BoundAction]:
    """Return the actions of all screens by id."""
    return {
        action.id: action
        for screen in SCREENS for actions in sections_of(screen).values() for action in actions
    }
