"""What the explorer asks in dialogs, and what it does with the answers. Dialogs are loaded when they are first wanted."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from tokentui.commands import Find, Follow, GoToToken, Open, Use
from tokentui.snapshot import PairRow, Place, TokenRow
from tokentui.ui.actions import ACTIONS

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp
    from tokentui.ui.screens.open import OpenChoice
    from tokentui.ui.screens.recipe import RecipeChoice


class Asking:
    """The dialogs of an app.

    Args:
        app: The app.
        run: The words of the run in use.
    """

    def __init__(self, app: ExplorerApp, run: dict[str, Any]) -> None:
        self._app = app
        self._run = run
        self._followed: tuple[int, Place] | None = None

    # In the corpus and the tables.

    def follow(self) -> None:
        """Show where the last merge was made; again: the next place."""
        main = self._app.main
        if main.snapshot is None or not main.snapshot.step:
            self._app.say("no merge has been made yet")
            return
        step = main.snapshot.step
        again = self._followed is not None and self._followed[0] == step
        start = self._followed[1] if self._followed is not None and again else main.text.top_place

        def found(place: Place | None) -> None:
            if place is None:
                self._app.say("the last merge stands nowhere in the corpus")
                return
            self._followed = step, place
            main.text.show_place(place)

        self._app.send(Follow(start), found)

    def what_to_find(self) -> None:
        """Ask for text, and find it in the pane that has the focus."""
        from tokentui.ui.screens.find import FindScreen

        main = self._app.main
        pane = main.active if main.active != "encode" else "corpus"

        def asked(text: str | None) -> None:
            if text is not None:
                main.mark_found(pane, text)
                if text:
                    self.find_again(backward=False)

        self._app.push_screen(FindScreen(pane, main.sought[1]), asked)

    def find_again(self, backward: bool) -> None:
        """The next match of what was looked for last, or the one before."""
        main = self._app.main
        pane, text = main.sought
        if not text:
            self._app.say("nothing to find yet: press /")
            return

        def found(answer: int | Place | None) -> None:
            if answer is None:
                self._app.say(f"not found: {text}")
            else:
                main.show_found(pane, text, answer)

        self._app.send(Find(pane, text, main.place_to_start(pane), backward), found)

    def inspect(self, row: PairRow | TokenRow) -> None:
        """Show all about a row."""
        from tokentui.ui.screens.inspect import InspectScreen

        self._app.push_screen(InspectScreen(row))

    # In the run.

    def where_to_go(self) -> None:
        """Ask for a step or a token, and go there."""
        from tokentui.ui.screens.goto import GoToScreen, destination

        now = self._app.main.snapshot
        if now is None:
            return
        place = (now.step, now.known, now.target)

        def asked(line: str | None) -> None:
            command = destination(line, *place) if line is not None else None
            if isinstance(command, GoToToken):
                self._app.send(command, lambda step: self._token_looked_for(command.text, step))
            elif command is not None:
                self._app.send(command)

        self._app.push_screen(GoToScreen(*place), asked)

    def _token_looked_for(self, text: str, step: int | None) -> None:
        if step is None:
            self._app.say(f"no step of this run makes {text!r}")

    def how_to_train(self) -> None:
        """Ask for a recipe, and train by it."""
        from tokentui.ui.screens.recipe import RecipeScreen

        now = self._app.main.snapshot
        if now is None:
            return

        def asked(choice: RecipeChoice | None) -> None:
            if choice is not None:
                words = dict(choice.run)
                run = tuple(sorted((name, tuple(w) if isinstance(w, list) else w) for name, w in words.items()))
                self._app.send(Use(choice.recipe, run), lambda _: self._run_taken(words))

        self._app.push_screen(RecipeScreen(now.recipe, now.preset, self._run), asked)

    def _run_taken(self, words: dict[str, Any]) -> None:
        self._run = words

    # The rest.

    async def what_to_open(self) -> None:
        """Ask for a corpus, and open it."""
        from tokentui.paths import recent, remember
        from tokentui.ui.screens.open import OpenScreen

        # A home on a slow disk must not hold up the keys.
        listed = await asyncio.to_thread(recent)

        def asked(choice: OpenChoice | None) -> None:
            if choice is not None:
                loop = asyncio.get_running_loop()
                command = Open(choice.source, choice.as_)
                self._app.send(command, lambda _: loop.run_in_executor(None, remember, choice.source))

        self._app.push_screen(OpenScreen(listed, os.curdir), asked)

    def help(self) -> None:
        """Show all keys."""
        from tokentui.ui.screens.help import HelpScreen

        self._app.push_screen(HelpScreen(ACTIONS, self._app.main.active))
