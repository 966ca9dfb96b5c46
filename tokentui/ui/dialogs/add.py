"""Choose a column to add to Compare: a preset, a recipe of one's own, or a tokenizer file."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tokentui.axes import AXES
from tokentui.core.errors import TokentuiError
from tokentui.core.files import open_regular
from tokentui.core.safetext import safe
from tokentui.presets import PRESETS, Preset
from tokentui.recipe import Recipe
from tokentui.session.commands_compare import ColumnWanted
from tokentui.ui.dialogs import draft
from tokentui.ui.dialogs.dialog import LEAVE
from tokentui.ui.dialogs.live import RecipeChoice
from tokentui.ui.dialogs.picker import Picker, aside, heading
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.table import TableRow
from tokentui.ui.face import Face
from tokentui.ui.keys import Action

OWN = "a recipe of one's own"
SPLITS: tuple[str, ...] = ("", *(name for name, one in AXES["split"].items() if not one.text))
"""The splits that a file may be read with, "" for its own."""

_LARGEST_RECIPE = 1 << 20


class AddScreen(Picker[ColumnWanted]):
    """Asks for a column. Its result is the column, None if it was left.

    Args:
        face: The program.
        heading: The title of the dialog.
        recipe: The recipe that one of one's own is begun with.
    """

    PLACEHOLDER = "a preset, a recipe file, a tokenizer file"
    COLUMNS = (Column(width=24, priority=2), Column(flex=1, min_width=10), Column(width=9, align="right"))
    ACTIONS = (
        Action(("enter",), "take"), Action(("down",), "list", lambda it: it.to_list()),
        Action(("tab",), "complete", lambda it: it.complete()),
        Action(("ctrl+t",), "split of a file", lambda it: it.turn_split()), LEAVE,
    )

    def __init__(self, face: Face, heading: str, recipe: Recipe) -> None:
        super().__init__(face, heading)
        self._recipe = recipe
        self.published = False
        """True if a preset is used with the sizes, special tokens and first id that it was published with."""
        self.split = ""
        """The split that a file is read with, "" for its own."""

    def rows(self, typed: str) -> Iterator[TableRow]:
        """A recipe of one's own, and the presets."""
        wanted = typed.lower()
        if not typed:
            said = (("axis by axis, from the column in use", "muted"),)
            yield TableRow(("own", OWN), (((f" {OWN}", "key"),), said))
            what = "presets come with their own sizes and special tokens" if self.published else "all columns have the same run"
            now = (("yes" if self.published else "no", "strong"), (f"  {what}", "muted"))
            yield TableRow(("published", ""), (((f" {draft.PUBLISHED}", "key"),), now))
        for family, members in draft.families().items():
            found = [one for one in members if wanted in f"{one.name} {one.about} {family}".lower()]
            if found:
                yield heading(family)
            for preset in found:
                yield TableRow(("preset", preset.name),
                    (((f" {preset.name}", ""),), ((preset.about, "muted"),)))

    def turn_split(self) -> None:
        """Read a file with the next split."""
        self.split = SPLITS[(SPLITS.index(self.split) + 1) % len(SPLITS)]
        self.name_box(subtitle=f"split of a file: {self.split}" if self.split else "")

    def take(self, kind: str, name: str) -> None:
        """Take what a row stands for."""
        match kind:
            case "own":
                self._ask_axes()
            case "published":
                self.published = not self.published
                self.show_rows()
            case "preset":
                self._take_preset(PRESETS[name])
            case _:
                self.submit(name)

    def submit(self, typed: str) -> None:
        """Take a preset or a file."""
        if typed in PRESETS:
            self._take_preset(PRESETS[typed])
        else:
            self.run_worker(self._open(os.path.expanduser(typed)), group="opening", exclusive=True)

    def _take_preset(self, preset: Preset) -> None:
        # The same run for all, so that what differs is the recipe; or that which the preset was published
        # with.
        run = draft.run_of(preset, self.face.run_in_use, self.published)
        self.dismiss(ColumnWanted(preset.recipe, run, name=preset.name))

    def _ask_axes(self) -> None:
        from tokentui.ui.dialogs.recipe import RecipeScreen

        def asked(choice: RecipeChoice | None) -> None:
            self.dismiss(ColumnWanted(choice.recipe, choice.run) if choice is not None else None)

        self.face.push(RecipeScreen(self.face, self._recipe, "", self.face.run_in_use), asked)

    async def _open(self, path: str) -> None:
        try:
            if path.endswith(".toml"):
                recipe = await aside(lambda: _read_recipe(path))
                self.dismiss(ColumnWanted(recipe, self.face.run_in_use))
            else:
                await aside(lambda: os.stat(path))
                self.dismiss(ColumnWanted(path=path, split=self.split))
        except TokentuiError as error:
            self.notice.tell(error)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            self.notice.say(f"{safe(path, limit=200)}: no preset, and as a file: {why.lower()}", "error")


def _read_recipe(path: str) -> Recipe:
    with open_regular(path, "recipe file") as file:
        return Recipe.from_toml(file.read(_LARGEST_RECIPE).decode("utf-8-sig"), path)
