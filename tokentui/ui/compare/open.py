"""The way into Compare, and what it asks in dialogs: another column, a second corpus."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from tokentui.presets import Preset
from tokentui.recipe import Recipe
from tokentui.session.commands import Play
from tokentui.session.compared import ColumnWanted, HeldOut
from tokentui.ui.compare.add import OWN, AddScreen
from tokentui.ui.compare.link import Comparable, CompareSessionLike, Link, Publish
from tokentui.ui.compare.screen import CompareScreen
from tokentui.ui.dialogs import draft
from tokentui.ui.trying import words

if TYPE_CHECKING:
    from tokentui.ui.app import ExplorerApp
    from tokentui.ui.dialogs.following import RecipeChoice
    from tokentui.ui.dialogs.open import OpenChoice


def compare_with(app: ExplorerApp) -> None:
    """Ask for a second column, and compare what is trained with it."""
    now = app.main.snapshot
    if now is None:
        app.not_yet()
        return
    if now.opened is not None:
        first, name = ColumnWanted(path=now.opened.path, split=now.recipe.split), now.opened.name
    else:
        first, name = ColumnWanted(now.recipe, words(app.asking.run), name=now.preset), now.preset
    ask_column(app, f"Compare {name or 'this'} with", now.recipe, lambda second: open_compare(app, (first, second)))


def open_compare(app: ExplorerApp, wanted: Sequence[ColumnWanted], held_out: str = "") -> None:
    """Compare columns on the corpus that is open.

    Args:
        app: The app.
        wanted: The columns, two to four.
        held_out: A second corpus, as the command line names it; empty for none.
    """
    main = app.main
    if main.snapshot is not None and main.snapshot.running:
        app.send(Play(False))

    async def make(publish: Publish) -> CompareSessionLike:
        return await cast("Comparable", app.session).comparing(publish, wanted)

    def begin(link: Link) -> None:
        if held_out:
            link.send(HeldOut(held_out))

    app.push_screen(CompareScreen(make, main.encode.line.value, begin))


def ask_column(app: ExplorerApp, heading: str, recipe: Recipe, then: Callable[[ColumnWanted], object]) -> None:
    """Ask for a column.

    Args:
        app: The app.
        heading: What it is asked for.
        recipe: What a recipe of one's own starts from.
        then: Called with it; not if there is none.
    """
    run = draft.full_run(app.asking.run)

    def asked(choice: Preset | Recipe | ColumnWanted | str | None) -> None:
        if isinstance(choice, ColumnWanted):
            then(choice)
        elif isinstance(choice, Recipe):
            then(ColumnWanted(choice, words(run)))
        elif isinstance(choice, Preset):
            # The same run for all, so that what differs is the recipe; or that which the preset was published with.
            then(ColumnWanted(choice.recipe, words(draft.run_of(choice, run, adding.published)), name=choice.name))
        elif choice == OWN:
            _ask_axes(app, recipe, then)

    adding = AddScreen(heading)
    app.push_screen(adding, asked)


def _ask_axes(app: ExplorerApp, recipe: Recipe, then: Callable[[ColumnWanted], object]) -> None:
    from tokentui.ui.dialogs.recipe import RecipeScreen

    def asked(choice: RecipeChoice | None) -> None:
        if choice is not None:
            then(ColumnWanted(choice.recipe, words(choice.run)))

    app.push_screen(RecipeScreen(recipe, "", app.asking.run), asked)


async def ask_corpus(app: ExplorerApp, then: Callable[[OpenChoice], object]) -> None:
    """Ask for a corpus; `then` is called with it, if there is one."""
    from tokentui.core.paths import recent
    from tokentui.ui.dialogs.open import OpenScreen

    def asked(choice: OpenChoice | None) -> None:
        if choice is not None:
            then(choice)

    # A home on a slow disk must not hold up the keys.
    app.push_screen(OpenScreen(await asyncio.to_thread(recent), os.curdir), asked)
