"""The command palette: the actions that mean something on the screen that is seen."""

from __future__ import annotations

from functools import partial
from typing import Any

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.widgets import Input

from tokentui.ui.draw.text import StandIns
from tokentui.ui.keys import Action, key_name
from tokentui.ui.screen import PaneScreen


class Palette(CommandPalette):
    """The command palette, safe to show whatever was pasted into it."""

    def on_mount(self) -> None:
        """Show what is typed as other lines do."""
        self.query_one(Input).highlighter = StandIns()


class ActionCommands(Provider):
    """The actions in the command palette."""

    async def discover(self) -> Hits:
        """All of them."""
        for action in self._actions():
            yield DiscoveryHit(action.help, self._runner(action), help=_keys(action))

    async def search(self, query: str) -> Hits:
        """Those whose words look like what was typed."""
        matcher = self.matcher(query)
        for action in self._actions():
            if (score := matcher.match(action.help)) > 0:
                shown = matcher.highlight(action.help)
                yield Hit(score, shown, self._runner(action), text=action.help, help=_keys(action))

    def _actions(self) -> list[Action[Any]]:
        actions = self.screen.meant() if isinstance(self.screen, PaneScreen) else []
        return [one for one in actions if one.palette and one.does is not None]

    def _runner(self, action: Action[Any]) -> partial[Any]:
        return partial(action.does or (lambda on: None), self.app if action.always else self.screen)


def _keys(action: Action[Any]) -> str:
    return "key: " + " ".join(map(key_name, action.keys))
