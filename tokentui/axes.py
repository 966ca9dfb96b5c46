"""The eleven axes, collected from the rooms that implement them, and the check of a recipe as a whole.

The library, the commands and the session call `check` on each recipe that comes from a user.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Container, Iterator
from typing import Any, Unpack

from tokentui.core.choices import Axis, Choice, Refusal
from tokentui.core.errors import TokentuiError, nearest
from tokentui.encode.segment import ENCODING_WAYS, UNKNOWN
from tokentui.learn.bases import BASES, FILTERS, WEIGHTS
from tokentui.learn.objectives import OBJECTIVES, trainer_of
from tokentui.learn.ranking import TIES
from tokentui.preset_table import PRESETS, Published, preset_named
from tokentui.recipe import RUN, SHAPE, Axes, Recipe, Run
from tokentui.text.normalize import NORMALIZERS
from tokentui.text.pretokenize import MARKS, UNITS
from tokentui.text.split import SPLITS, own_space, spaced

AXES: dict[str, Axis[Any]] = {
    axis.name: axis
    for axis in (NORMALIZERS, SPLITS, UNITS, MARKS, BASES, OBJECTIVES, WEIGHTS, TIES, FILTERS, ENCODING_WAYS,
                 UNKNOWN)
}
"""The axes by name, in the order of `Recipe`."""

_ADVICE = re.compile(r"([a-z_]+)=([^ ,]+)")


def values(recipe: Recipe, name: str) -> tuple[str, ...]:
    """Return the values of a recipe on an axis: one, or several on an axis that takes a list."""
    value = getattr(recipe, name)
    return value if isinstance(value, tuple) else (value,)


def chosen(recipe: Recipe, name: str) -> list[Choice]:
    """Return the records of the values of a recipe on an axis.

    Raises:
        TokentuiError: A value is unknown.
    """
    return [AXES[name].of(value) for value in values(recipe, name)]


def usual_size(recipe: Recipe) -> int | None:
    """Return the number of ids at which a run ends by default; None if the objective has no default."""
    return OBJECTIVES.of(recipe.objective).size


def _refusals(recipe: Recipe) -> Iterator[Refusal]:
    """Yield each reason why the values of a recipe do not go together."""
    for name in AXES:
        for record in chosen(recipe, name):
            if record.refuses is not None and (refusal := record.refuses(recipe)) is not None:
                yield refusal
    way = ENCODING_WAYS.of(recipe.encode)
    if way.needs == "scores" and not OBJECTIVES.of(recipe.objective).scored:
        scored = [name for name, objective in OBJECTIVES.items() if objective.scored]
        what = f"{way.about} needs probabilities, which only objective={' or '.join(scored)} has"
        yield Refusal("encode", what, ("encode=merges", *(f"objective={name}" for name in scored)))
    objective = OBJECTIVES.of(recipe.objective)
    if recipe.what_if and (objective.scored or objective.prunes):
        model = "a unigram model" if objective.scored else f"objective={objective.name}"
        what = f"what-ifs change merges, and {model} has none"
        yield Refusal("what_if", what, ("no what_if", "objective=count"), fades=True)
    if recipe.coverage < 1 and UNITS.of(recipe.unit).is_byte:
        takes = ("coverage=1", "unit=char")
        yield Refusal("coverage", "coverage applies to characters, and the units are bytes", takes,
            fades=True)


def refusal_of(recipe: Recipe) -> Refusal | None:
    """Return the first reason why the values of a recipe do not go together, None if they do.

    Raises:
        TokentuiError: A value is unknown, or its text or a parameter is invalid.
    """
    for name, axis in AXES.items():
        for value in values(recipe, name):
            axis.check(value)
    return next(_refusals(recipe), None)


def check(recipe: Recipe) -> Recipe:
    """Return a recipe whose values go together.

    A `prefix_space` that is what the split does anyway becomes None, so that equal recipes compare equal.

    Raises:
        TokentuiError: The values do not go together. The error names the axis and a value that works.
    """
    refusal = refusal_of(recipe)
    if refusal is not None:
        where = f"{refusal.word}={word(recipe, refusal.word)}"
        raise TokentuiError(refusal.what, where, "use " + ", or ".join(refusal.takes))
    if recipe.prefix_space is not None and own_space(recipe.split, recipe.prefix_space) is None:
        return dataclasses.replace(recipe, prefix_space=None)
    return recipe


def check_trainable(recipe: Recipe) -> Recipe:
    """Return a recipe as `check` does, and refuse a retired objective too, which encodes but is not trained.

    Raises:
        TokentuiError: The values do not go together, or the objective is retired.
    """
    checked = check(recipe)
    trainer_of(checked)
    return checked


def word(recipe: Recipe, name: str) -> str:
    """Return the value of an axis or a setting of `SHAPE` as users read it, with the default of the split."""
    if name not in SHAPE:
        return recipe.axis(name)
    return SHAPE[name].written(spaced(recipe) if SHAPE[name].kind is bool else getattr(recipe, name))


def changed(recipe: Recipe, **words: object) -> Recipe:
    """Return a recipe with other values on some axes, or of some settings of `SHAPE`.

    A setting of `SHAPE` that is not named and has no meaning with the new axes gets its default.

    Raises:
        TokentuiError: An axis or a value is unknown, or the values do not go together.
    """
    new = recipe.with_axes(**words)
    return check(new if words.keys() <= SHAPE.keys() else _without_faded(new, words))


@functools.lru_cache(maxsize=4096)
def mended(recipe: Recipe, name: str, value: object) -> Recipe | None:
    """Return a recipe with another value on an axis, and with as few other axes changed as it needs.

    Returns:
        The recipe, checked. None if no change of other axes helps.
    """
    try:
        new = recipe.with_axes(**{name: value})
        for written in values(new, name):
            if AXES[name].check(written).text:
                refusal_of(Recipe().with_axes(**{name: value}))  # other axes cannot mend an invalid pattern
    except TokentuiError:
        return None
    attempts: list[tuple[Recipe, frozenset[str]]] = [(new, frozenset((name,)))]  # with the changed axes
    for _ in AXES:
        following: list[tuple[Recipe, frozenset[str]]] = []
        for attempt, touched in attempts:
            candidate = _without_faded(attempt)
            refusal = refusal_of(candidate)
            if refusal is None:
                return check(candidate)
            for hint in refusal.takes:
                advice = {axis: value for axis, value in _ADVICE.findall(hint) if axis in AXES}
                change = {axis: value for axis, value in advice.items() if getattr(candidate, axis) != value}
                if change and touched.isdisjoint(change):
                    following.append((candidate.with_axes(**change), touched | change.keys()))
        attempts = sorted(following, key=lambda attempt: len(attempt[1]))
    return None


def _without_faded(recipe: Recipe, named: Container[str] = ()) -> Recipe:
    """Return a recipe in which settings of `SHAPE` that have no meaning with its axes have their defaults.

    Settings in `named` stay.
    """
    while (refusal := refusal_of(recipe)) is not None and refusal.fades and refusal.word not in named:
        recipe = recipe.with_axes(**{refusal.word: SHAPE[refusal.word].default})
    return recipe


def preset(name: str, *, published: bool = False, **axes: Unpack[Axes]) -> Recipe:
    """Return the recipe of a preset, with other values on some axes.

    Args:
        name: The preset.
        published: Whether a training by the recipe also uses the size, special tokens and first id of the
            published system.
        axes: Other values on some axes, and of settings of `SHAPE`.

    Raises:
        TokentuiError: The preset, an axis or a value is unknown, or the values do not go together.

    >>> preset("gpt2", tie="first-seen").tie
    'first-seen'
    """
    known = preset_named(name)
    recipe = changed(known.recipe, **axes)
    if not published:
        return recipe
    return Published(
        **{axis.name: getattr(recipe, axis.name) for axis in dataclasses.fields(Recipe)}, run=known.run
    )


def recipe_of(value: str | dict[str, Any]) -> tuple[Recipe, Run]:
    """Return the recipe and the run of a value in TOML: the name of a preset, or a table with a preset, axes
    and parameters.

    Raises:
        TokentuiError: It is neither, or a name or value is invalid.
    """
    words = {"preset": value} if isinstance(value, str) else dict(value)
    name = words.pop("preset", None)
    if not isinstance(name, str):
        example = 'for example "gpt2", or { preset = "gpt2", tie = "first-seen" }'
        raise TokentuiError("the preset is missing", "", example)
    known = {**AXES, **SHAPE, **RUN}
    for key in words:
        if key not in known:
            raise TokentuiError(f"not an axis or a run setting: {key[:40]}", "", nearest(key, known))
    Recipe.from_dict({key: words[key] for key in words if key in AXES}, "")  # checks types
    for key, word in {**SHAPE, **RUN}.items():
        if key in words:
            given = words[key]
            words[key] = word.read(given) if isinstance(given, str) else word.checked(given)
    recipe = changed(preset_named(name).recipe, **{key: words[key] for key in words if key not in RUN})
    return recipe, Run.of({key: words[key] for key in words if key in RUN})


def label(recipe: Recipe) -> str:
    """Return a short title for a recipe, such as `bpe · gpt2 · bytes`. It names a way of encoding that no
    preset with this objective has."""
    objective, unit = OBJECTIVES.find(recipe.objective), UNITS.get(recipe.unit)
    parts = [
        objective.label if objective else recipe.objective, recipe.split,
        unit.plural if unit else recipe.unit,
    ]
    parts += [recipe.mark_text] if recipe.mark_text else []
    usual = {one.recipe.encode for one in PRESETS.values() if one.recipe.objective == recipe.objective}
    return " · ".join(parts + ([recipe.encode] if usual and recipe.encode not in usual else []))


def nearest_preset(recipe: Recipe) -> tuple[str, list[str]]:
    """Return the preset from which a recipe differs least, and the axes and settings that differ."""

    def differing(other: Recipe) -> list[str]:
        return [name for name in (*AXES, *SHAPE) if getattr(recipe, name) != getattr(other, name)]

    closest = min(PRESETS.values(), key=lambda preset: len(differing(preset.recipe)))
    return closest.name, differing(closest.recipe)
