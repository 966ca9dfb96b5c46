"""The appearance of the recipe dialog: its keys, and its layout by the size of the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokentui.ui.dialogs import live
from tokentui.ui.keys import Action


def _hints(*said: tuple[str, str]) -> Sequence[Action[Any]]:
    return [Action(tuple(keys.split()), label, keys_shown=2) for keys, label in said]


PRESET_HINTS = _hints(("enter", "choose"), ("tab", "axes"), ("t", "take it"), ("p", "first steps"), ("escape", "leave"))
AXES_HINTS = _hints(
    ("left right", "change"), ("enter", "all values"), ("tab", "presets"), ("t", "take it"), ("p", "first steps"),
    ("escape", "leave"),
)
STEPS_HINTS = _hints(("up down", "scroll"), ("p", "back"), ("t", "take it"), ("escape", "back"))
VALUE_HINTS = _hints(("enter", "choose"), ("escape", "back"))
LIVE_HINT = _hints(("l", live.NAME))[0]

CSS = """
RecipeScreen {
    & .panes { height: 1fr; }
    & #chosen { width: 1fr; }
    & #preview { border-top: solid $border-blurred; height: 13; }
    &.-tall #preview { height: 8; }
    &.-short #preview { display: none; border-top: none; height: 1fr; }
    &.-untried #preview { display: none; }
    & #presets { width: 36; border-right: solid $border-blurred; }
    &.-medium .dialog { padding: 0; }
    &.-medium #presets { width: 33; }
    & #values { display: none; }
    &.-values #axes, &.-values #presets { display: none; }
    &.-values #values { display: block; }
    &.-narrow #presets { width: 1fr; border-right: none; }
    &.-narrow.-axes #presets { display: none; }
    &.-narrow.-presets #chosen, &.-narrow.-presets #axes { display: none; }
    &.-narrow.-preview #chosen, &.-preview #preview { display: block; }
    &.-short.-preview #presets, &.-short.-preview #axes, &.-short.-preview #values { display: none; }
    &.-narrow.-preview #presets { display: none; }
    &.-short.-preview #change, &.-short.-preview .message { display: none; }
    & .edit { height: 1; display: none; }
    &.-editing .edit { display: block; }
    & .prompt { width: auto; max-width: 50%; color: $text-accent; }
    & #change { height: 2; }
    & .message { height: 2; }
    &.-short #change { height: 1; }
    &.-live { align: center bottom; }
    &.-live.-tall > .dialog { height: 17; }
    &.-live.-high > .dialog { height: 26; }
    &.-live.-high #preview { height: 8; }
    &.-live.-tall #preview { display: none; border-top: none; height: 1fr; }
    &.-live.-tall.-preview #preview { display: block; }
    &.-live.-tall.-preview #presets, &.-live.-tall.-preview #axes, &.-live.-tall.-preview #values { display: none; }
    &.-narrow .message { height: 3; }
}
"""
