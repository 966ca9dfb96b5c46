"""The eleven axes, collected from the rooms that do what they say, and whether a recipe makes sense.

`check` is called at the doors: by the library, the commands, and the session for a recipe that comes from a
user.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Container, Iterator
from typing import Any, Unpack

from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.core.errors import TokentuiError
from tokentui.encode.segment import UNKNOWN, WAYS
from tokentui.learn.bases import BASES, FILTERS, WEIGHTS
from tokentui.learn.objectives import OBJECTIVES, trainer_of
from tokentui.learn.ranking import TIES
from tokentui.preset_table import PRESETS, Published, preset_named
from tokentui.recipe import SHAPE, Axes, Recipe
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.pretokenize import MARKS, UNITS
from tokentui.text.split import SPLITS, own_space, spaced

AXES: dict[str, Axis[Any]] = {
    axis.name: axis
    for axis in (NORMALIZERS, SPLITS, UNITS, MARKS, BASES, OBJECTIVES, WEIGHTS, TIES, FILTERS, WAYS, UNKNOWN)
}
"""The axes by name, in the order of `Recipe`."""

_TAKEN = re.compile(r"([a-z_]+)=([^ ,]+)")


def values(recipe: Recipe, name: str) -> tuple[str, ...]:
    """The values that a recipe has on an axis: one, or those of a list."""
    value = getattr(recipe, name)
    return value if isinstance(value, tuple) else (value,)


def chosen(recipe: Recipe, name: str) -> list[Choice]:
    """The records of the values that a recipe has on an axis.

    Raises:
        TokentuiError: A value has none.
    """
    return [AXES[name].of(value) for value in values(recipe, name)]


def usual_size(recipe: Recipe) -> int | None:
    """The number of ids that a run ends at where none was asked for; None if the objective has none."""
    return OBJECTIVES.of(recipe.objective).size


def _refusals(recipe: Recipe) -> Iterator[Refusal]:
    for name in AXES:
        for record in chosen(recipe, name):
            if record.refuses is not None and (refusal := record.refuses(recipe)) is not None:
                yield refusal
    way = WAYS.of(recipe.encode)
    if way.needs == "scores" and not OBJECTIVES.of(recipe.objective).scored:
        scored = [one.name for one in OBJECTIVES.values() if one.scored]
        what = f"{way.about} needs probabilities, which only objective={' or '.join(scored)} has"
        yield Refusal("encode", what, ("encode=merges", *(f"objective={name}" for name in scored)))
    objective = OBJECTIVES.of(recipe.objective)
    if recipe.what_if and (objective.scored or objective.prunes):
        model = "a unigram model" if objective.scored else f"objective={objective.name}"
        what = f"what-ifs are of merges, and {model} has none"
        yield Refusal("what_if", what, ("no what_if", "objective=count"), fades=True)
    if recipe.coverage < 1 and UNITS.of(recipe.unit).is_byte:
        takes = ("coverage=1", "unit=char")
        yield Refusal("coverage", "a coverage is of characters, and the units are bytes", takes, fades=True)


def refusal_of(recipe: Recipe) -> Refusal | None:
    """Why a recipe makes no sense; None where it does.

    Raises:
        TokentuiError: A value is unknown, or its text or a parameter cannot be.
    """
    for name, axis in AXES.items():
        for value in values(recipe, name):
            axis.check(value)
    return next(_refusals(recipe), None)


def check(recipe: Recipe) -> Recipe:
    """A recipe that makes sense, as it is compared: a `prefix_space` that says what the split does anyway is
    None.

    Raises:
        TokentuiError: It does not; the error names the axis and the nearest thing that works.
    """
    refusal = refusal_of(recipe)
    if refusal is not None:
        where = f"{refusal.word}={word(recipe, refusal.word)}"
        raise TokentuiError(refusal.what, where, "take " + ", or ".join(refusal.takes))
    if recipe.prefix_space is not None and own_space(recipe.split, recipe.prefix_space) is None:
        return dataclasses.replace(recipe, prefix_space=None)
    return recipe


def check_trainable(recipe: Recipe) -> Recipe:
    """Return a recipe as `check` does.

    Raises:
        TokentuiError: It makes no sense, or its objective is retired: it encodes and is not trained.
    """
    checked = check(recipe)
    trainer_of(checked)
    return checked


def word(recipe: Recipe, name: str) -> str:
    """An axis, or a word of `SHAPE`, as a user reads it: what holds, where the split decides."""
    if name not in SHAPE:
        return recipe.axis(name)
    return SHAPE[name].written(spaced(recipe) if SHAPE[name].kind is bool else getattr(recipe, name))


def changed(recipe: Recipe, **words: object) -> Recipe:
    """A recipe with other values on some axes, and other words of `SHAPE`.

    A word of `SHAPE` that was not named and has no meaning on the new axes goes back to its default.

    Raises:
        TokentuiError: There is no such axis or value, or the recipe makes no sense.
    """
    new = recipe.with_axes(**words)
    return check(new if words.keys() <= SHAPE.keys() else _without_faded(new, words))


@functools.lru_cache(maxsize=4096)
def mended(recipe: Recipe, name: str, value: object) -> Recipe | None:
    """A recipe with another value on an axis, and with the fewest other axes changed that make it sensible.

    Returns:
        None where no change of other axes helps.
    """
    try:
        new = recipe.with_axes(**{name: value})
        for written in values(new, name):
            if AXES[name].check(written).text:
                refusal_of(Recipe().with_axes(**{name: value}))  # nothing else mends a pattern
    except TokentuiError:
        return None
    ways: list[tuple[Recipe, frozenset[str]]] = [(new, frozenset((name,)))]
    for _ in AXES:
        following: list[tuple[Recipe, frozenset[str]]] = []
        for one, touched in ways:
            with_it = _without_faded(one)
            refusal = refusal_of(with_it)
            if refusal is None:
                return check(with_it)
            for take in refusal.takes:
                said = {axis: value for axis, value in _TAKEN.findall(take) if axis in AXES}
                change = {axis: value for axis, value in said.items() if getattr(with_it, axis) != value}
                if change and touched.isdisjoint(change):
                    following.append((with_it.with_axes(**change), touched | change.keys()))
        ways = sorted(following, key=lambda way: len(way[1]))
    return None


def _without_faded(recipe: Recipe, named: Container[str] = ()) -> Recipe:
    """A recipe in which the words of `SHAPE` that have no meaning on its axes, and are not named, are at
    their defaults."""
    while (refusal := refusal_of(recipe)) is not None and refusal.fades and refusal.word not in named:
        recipe = recipe.with_axes(**{refusal.word: SHAPE[refusal.word].default})
    return recipe


def preset(name: str, *, published: bool = False, **axes: Unpack[Axes]) -> Recipe:
    """The recipe of a preset, with other values on some axes.

    Args:
        name: The preset.
        published: Whether a training by it takes the sizes, special tokens and first id too that the system
        is known for.
        axes: Other values on some axes, and other words of `SHAPE`.

    Raises:
        TokentuiError: There is no such preset, axis or value, or they make no sense together.

    >>> preset("gpt2", tie="first-seen").tie
    'first-seen'
    """
    found = preset_named(name)
    recipe = changed(found.recipe, **axes)
    if not published:
        return recipe
    return Published(
        **{one.name: getattr(recipe, one.name) for one in dataclasses.fields(Recipe)}, run=found.run
    )


def label(recipe: Recipe) -> str:
    """A recipe in a few words for a title: `bpe · gpt2 · bytes`."""
    objective, unit = OBJECTIVES.find(recipe.objective), UNITS.get(recipe.unit)
    said = [
        objective.label if objective else recipe.objective, recipe.split,
        unit.plural if unit else recipe.unit,
    ]
    return " · ".join(said + ([recipe.mark_text] if recipe.mark_text else []))


def nearest_preset(recipe: Recipe) -> tuple[str, list[str]]:
    """Return the preset from which a recipe differs least, and the axes and words of `SHAPE` that differ."""

    def differing(other: Recipe) -> list[str]:
        return [name for name in (*AXES, *SHAPE) if getattr(recipe, name) != getattr(other, name)]

    nearest = min(PRESETS.values(), key=lambda preset: len(differing(preset.recipe)))
    return nearest.name, differing(nearest.recipe)
