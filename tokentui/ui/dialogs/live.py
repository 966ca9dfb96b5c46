"""The switch of the recipe dialog that lets the screen behind follow each change of the draft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tokentui.recipe import Recipe, Run

NAME = "live"
"""The name of the switch, and of its row."""

ABOUT = "the screen behind follows each change; esc puts back what was"


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """A recipe to train by, its run, and the position that another recipe is brought to."""

    recipe: Recipe
    run: Run
    keep_place: str = "step"


Follow: TypeAlias = Callable[[RecipeChoice], object]
"""Trains by what stands in the dialog now."""


class Following:
    """The switch.

    Args:
        follow: Called with each change while it is on; None where nothing can follow.
        on: True if it is on at first.
        used: The recipe in use when the dialog opens.
    """

    def __init__(self, follow: Follow | None, on: bool, used: RecipeChoice) -> None:
        self.can, self.on = follow is not None, on and follow is not None
        self._follow = follow
        self._used = self._told = used

    def show(self, choice: RecipeChoice) -> None:
        """Take what stands in the dialog."""
        if self.on:
            self._tell(choice)

    def turn(self, choice: RecipeChoice) -> None:
        """Turn it on, for what stands in the dialog; or off, back to what was in use."""
        self.on = not self.on and self.can
        self._tell(choice if self.on else self._used)

    def _tell(self, choice: RecipeChoice) -> None:
        if self._follow is not None and choice != self._told:
            self._told = choice
            self._follow(choice)
