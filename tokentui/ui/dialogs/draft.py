"""A recipe while it is being chosen: what each axis and stop may become, and what that changes. No screen in here."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from tokentui.core.errors import TokentuiError
from tokentui.presets import PRESETS, Preset
from tokentui.recipe import AXES, SHAPE, Recipe

STOPS: dict[str, str] = {
    "merges": "a run ends after so many merges",
    "vocab_size": "a run ends at so many ids, specials counted",
    "min_count": "a pair that stands less often is not merged",
    "max_length": "no token is longer than so many units",
    "first_id": "the first id given",
    "specials": "special tokens, with spaces between them",
}
"""The words of a run and what they mean."""

PUBLISHED = "as published"
"""The name of the setting that takes the sizes, special tokens and first id that a preset was published with."""

PLACE = "place"
"""The name of the setting that says what another recipe is brought to."""

PLACES = {"step": "same number of merges", "size": "same vocabulary size"}
"""Its values, as `tokentui.session.commands.KeepPlace` has them, and what they mean."""

PLACE_ABOUT = "where another recipe goes on from"

_LEAST = {"merges": 0, "vocab_size": 1, "min_count": 1, "max_length": 1, "first_id": 0}
_UNSET = {"min_count": 1, "first_id": 0, "specials": ()}
_MOST = 10**12
_NONE = "none"
# What may have to change with another axis, and to what, the least felt change first.
_MENDS: dict[str, tuple[str, ...]] = {
    "encode": ("merges", "viterbi"), "unknown": ("never", "error"), "pieces": ("any",), "base": ("sorted", "bytes"),
    "unit": ("byte", "char"), "split": ("none",), "mark": ("none",), "objective": ("count", "unigram"),
}
_TEXTS = {"regex:": r"\w+|\s+", "end-symbol:": "</w>", "end-suffix:": "</w>", "prefix:": "##"}


class Change(NamedTuple):
    """An axis or a stop that is different: how it was and how it will be, not yet safe."""

    name: str
    old: str
    new: str


Changes: TypeAlias = tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of an axis as a draft may take it.

    Args:
        value: The value; one with text after the colon has the text it would start with.
        label: How it is written in a list, `regex:PATTERN` for one with text.
        about: What it means.
        taken: Whether the draft has it.
        refused: Why it cannot be taken alone, "" if it can.
        goes_with: What else changes with it, so that it can be taken after all; empty where it can alone, or cannot.
    """

    value: str
    label: str
    about: str
    taken: bool
    refused: str
    goes_with: Changes = ()

    @property
    def text(self) -> bool:
        """Whether it takes text after the colon."""
        return ":" in self.value


def choices(recipe: Recipe, axis: str) -> tuple[Choice, ...]:
    """What an axis of a recipe may become. Of the list axis (`normalize`) each value is put in or taken out."""
    return tuple(_choices(recipe, axis))


def _choices(recipe: Recipe, axis: str) -> Iterator[Choice]:
    now = getattr(recipe, axis)
    for (name, about), label in zip(AXES[axis].values.items(), AXES[axis].names(), strict=True):
        value = name
        if name.endswith(":"):
            # The text of another mark is as good a start as any.
            of_mark = recipe.mark_text if axis == "mark" else ""
            value = now if now.startswith(name) else name + (of_mark or _TEXTS[name])
        taken = name in now if isinstance(now, tuple) else now == value
        refused = refusal(recipe, axis, value)
        with_it = mended(recipe, axis, value) if refused else None
        others = () if with_it is None else tuple(one for one in axis_changes(recipe, with_it) if one.name != axis)
        yield Choice(value, label, about, taken, refused, others)


def changed(recipe: Recipe, axis: str, value: str) -> Recipe:
    """A recipe with another value on an axis. On the list axis the value is put at the end, or taken out.

    Raises:
        TokentuiError: The recipe would make no sense.
    """
    now = getattr(recipe, axis)
    new: Any = value
    if isinstance(now, tuple):
        new = tuple(one for one in now if one != value) if value in now else (*now, value)
    return recipe.with_axes(**{axis: new})


@functools.lru_cache(maxsize=512)
def mended(recipe: Recipe, axis: str, value: str) -> Recipe | None:
    """The recipe with this value on an axis for which the fewest other axes change; None where no change of them helps."""
    with contextlib.suppress(TokentuiError):
        return changed(recipe, axis, value)
    try:
        Recipe().with_axes(**{axis: value} if ":" in value else {})
    except TokentuiError:  # the text of it: nothing else mends a pattern
        return None
    others = [name for name in _MENDS if name != axis]
    for count in range(1, len(others) + 1):
        for names in itertools.combinations(others, count):
            for values in itertools.product(*(_MENDS[name] for name in names)):
                try:
                    return recipe.with_axes(**{axis: value}, **dict(zip(names, values, strict=True)))
                except TokentuiError:
                    continue
    return None


def taken(recipe: Recipe, axis: str, value: str) -> Recipe:
    """A recipe with this value on an axis, and with what must change with it.

    Raises:
        TokentuiError: The value cannot be taken at all.
    """
    return mended(recipe, axis, value) or changed(recipe, axis, value)


def refusal(recipe: Recipe, axis: str, value: str) -> str:
    """Why an axis cannot take a value, in one line that is not safe yet; "" if it can."""
    try:
        changed(recipe, axis, value)
    except TokentuiError as error:
        return str(error)
    return ""


def turned(recipe: Recipe, axis: str, by: int) -> Recipe:
    """A recipe with the next value on an axis (`by` 1) or the one before (-1) that can be taken.

    The list axis goes through the empty list and each value alone.
    """
    if isinstance(getattr(recipe, axis), tuple):
        ways: list[Any] = [(), *((value,) for value in AXES[axis].values)]
    else:
        ways = [choice.value for choice in choices(recipe, axis) if choice.taken or not choice.refused]
    now = getattr(recipe, axis)
    at = ways.index(now) if now in ways else -1 if by > 0 else 0
    return recipe.with_axes(**{axis: ways[(at + by) % len(ways)]})


def read_stop(name: str, text: str) -> int | tuple[str, ...] | None:
    """A stop as it was typed; None (or its default) for nothing, and for `none`, which is how that is shown.

    Raises:
        TokentuiError: It is no number, or too small.
    """
    if text.strip() == _NONE:
        text = ""
    if name == "specials":
        return tuple(dict.fromkeys(text.split()))
    digits = text.strip().replace(",", "").replace("_", "")
    if not digits:
        return _UNSET.get(name)  # type: ignore[return-value]
    least = _LEAST[name]
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(_MOST))):
        raise TokentuiError("a whole number is wanted", name, f"{least} or more, or {_NONE}")
    if not least <= int(digits) <= _MOST:
        raise TokentuiError(f"{least:,} is the least, {_MOST:,} the most", name)
    return int(digits)


def full_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run with all its words, those that are not said as they are when they are not."""
    said = {name: value for name, value in run.items() if value is not None}
    full: dict[str, Any] = {name: said.get(name, _UNSET.get(name)) for name in STOPS}
    full["specials"] = tuple(full["specials"])
    return full


def run_of(preset: Preset, run: Mapping[str, Any], published: bool = False) -> dict[str, Any]:
    """The run of a preset: that in use, or the one that it was published with, where what it says nothing about is not set."""
    if not published:
        return full_run(run)
    return full_run({"max_length": run.get("max_length"), **preset.published})


def named(recipe: Recipe, chosen: str) -> Preset | None:
    """The preset that a recipe is, None if none is; of several that are alike the one that was chosen."""
    alike = [one for one in PRESETS.values() if one.recipe == recipe]
    return next((one for one in alike if one.name == chosen), alike[0] if alike else None)


def is_published(preset: Preset | None, run: Mapping[str, Any]) -> bool:
    """Whether a run is the one that a preset was published with, where anything was."""
    return preset is not None and bool(preset.published) and full_run(run) == run_of(preset, run, True)


def said(preset: Preset | None) -> str:
    """What a preset was published with, in a line that is not safe yet."""
    if preset is None:
        return "a recipe of one's own: nothing is published of it"
    words = full_run(preset.published)
    known = [f"{name} {written(name, words[name])}" for name in preset.published]
    return f"{preset.name}: {', '.join(known)}" if known else f"{preset.name}: no sizes are published"


def read_word(recipe: Recipe, name: str, text: str) -> Recipe:
    """A recipe with a word of `SHAPE` as it was typed; nothing stands for what it is when it is not said.

    Raises:
        TokentuiError: It makes no sense here.
    """
    if name == "symbols":
        return recipe.shaped(symbols=tuple(dict.fromkeys(text.split())))
    if name == "prefix_space":
        return recipe.shaped(prefix_space=not recipe.spaced)
    try:
        share = float(text) if text.strip() else 1.0
    except ValueError:
        raise TokentuiError("a share above 0 and at most 1 is wanted", "coverage", "such as 0.9995") from None
    return recipe.shaped(coverage=share)


def written(name: str, value: Any) -> str:
    """A stop as it is shown: not yet safe."""
    if name == "specials":
        return " ".join(value) or _NONE
    return _NONE if value is None else f"{value:,}"


def axis_changes(old: Recipe, new: Recipe) -> Changes:
    """The axes that are different."""
    return tuple(Change(name, old.axis(name), new.axis(name)) for name in AXES if old.axis(name) != new.axis(name))


def _word_changes(old: Recipe, new: Recipe) -> Changes:
    """The words of `SHAPE` that are different."""
    differ = [name for name in SHAPE if getattr(old, name) != getattr(new, name)]
    return tuple(Change(name, old.word(name), new.word(name)) for name in differ)


def changes(old: Recipe, old_run: Mapping[str, Any], new: Recipe, new_run: Mapping[str, Any]) -> Changes:
    """What is different, axes first."""
    before, after = full_run(old_run), full_run(new_run)
    stops = [Change(name, written(name, before[name]), written(name, after[name])) for name in STOPS]
    return (*axis_changes(old, new), *_word_changes(old, new), *(change for change in stops if change.old != change.new))


def families() -> dict[str, list[Preset]]:
    """The presets by family."""
    found: dict[str, list[Preset]] = {}
    for preset in PRESETS.values():
        found.setdefault(preset.family, []).append(preset)
    return found
