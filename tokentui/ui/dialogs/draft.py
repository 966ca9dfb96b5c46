"""A recipe while it is being chosen: what each axis and stop may become, and what that changes. No screen in here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tokentui.axes import AXES, changed, mended, values, word
from tokentui.core.errors import TokentuiError
from tokentui.presets import PRESETS, Preset
from tokentui.recipe import RUN, SHAPE, Recipe, Run

PUBLISHED = "as published"
"""The name of the setting that takes the sizes, special tokens and first id that a preset was published with."""

PLACE = "place"
"""The name of the setting that says what another recipe is brought to."""

PLACES = {"step": "same number of merges", "size": "same vocabulary size"}
"""Its values, as `tokentui.session.commands.KeepPlace` has them, and what they mean."""

PLACE_ABOUT = "where another recipe goes on from"

class Change(NamedTuple):
    """An axis or a stop that is different: how it was and how it will be, not yet safe."""

    name: str
    old: str
    new: str


Changes: TypeAlias = tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """A value of an axis as a draft may take it.

    Attributes:
        value: The value; one with text after the colon has the text it would start with.
        label: Its text in a list, `regex:PATTERN` for one with text.
        about: Its meaning.
        taken: True if the draft has it.
        refused: Why it cannot be taken alone, "" if it can; not safe yet.
        goes_with: The other changes that make it possible; empty if it needs none, or is impossible.
    """

    value: str
    label: str
    about: str
    taken: bool
    refused: str
    goes_with: Changes = ()

    @property
    def text(self) -> bool:
        """True if the option takes text after the colon."""
        return ":" in self.value


def options(recipe: Recipe, axis: str) -> tuple[Option, ...]:
    """Return the options of an axis. For the list axis (`normalize`), each value is added or removed."""
    now, found = values(recipe, axis), []
    for name, label in AXES[axis].written().items():
        record, value = AXES[axis][name], name
        if record.text:
            # The text of another value is as good a start as any.
            text = next((one.partition(":")[2] for one in now if axis == "mark"), "")
            value = next((one for one in now if one.partition(":")[0] == name), f"{name}:{text or record.sample}")
        refused = refusal(recipe, axis, value)
        with_it = mended(recipe, axis, put(recipe, axis, value)) if refused else None
        others = () if with_it is None else tuple(one for one in axis_changes(recipe, with_it) if one.name != axis)
        found.append(Option(value, label, record.about, value in now, refused, others))
    return tuple(found)


def put(recipe: Recipe, axis: str, value: str) -> str | tuple[str, ...]:
    """Return the new value of an axis. On the list axis, the value is appended, or removed if present."""
    now = getattr(recipe, axis)
    if not isinstance(now, tuple):
        return value
    return tuple(one for one in now if one != value) if value in now else (*now, value)


def taken(recipe: Recipe, axis: str, value: str) -> Recipe:
    """A recipe with this value on an axis, and with what must change with it.

    Raises:
        TokentuiError: The value cannot be taken at all.
    """
    new = put(recipe, axis, value)
    return mended(recipe, axis, new) or changed(recipe, **{axis: new})


def refusal(recipe: Recipe, axis: str, value: str) -> str:
    """Why an axis cannot take a value, in one line that is not safe yet; "" if it can."""
    try:
        changed(recipe, **{axis: put(recipe, axis, value)})
    except TokentuiError as error:
        return str(error)
    return ""


def turned(recipe: Recipe, axis: str, by: int) -> Recipe:
    """A recipe with the next value on an axis (`by` 1) or the one before (-1) that can be taken.

    The list axis goes through the empty list and each value alone.
    """
    now = getattr(recipe, axis)
    if isinstance(now, tuple):
        ways: list[str | tuple[str, ...]] = [(), *((name,) for name in AXES[axis])]
    else:
        ways = [one.value for one in options(recipe, axis) if one.taken or not one.refused]
    at = ways.index(now) if now in ways else -1 if by > 0 else 0
    return changed(recipe, **{axis: ways[(at + by) % len(ways)]})


def run_of(preset: Preset, run: Run, published: bool = False) -> Run:
    """The run of a preset: that in use, or the one that it was published with, where what it says nothing about is not set."""
    return Run.of({"max_length": run.stops.max_length} | preset.run.words) if published else run


def named(recipe: Recipe, chosen: str) -> Preset | None:
    """The preset that a recipe is, None if none is; of several that are alike the one that was chosen."""
    alike = [one for one in PRESETS.values() if one.recipe == recipe]
    return next((one for one in alike if one.name == chosen), alike[0] if alike else None)


def is_published(preset: Preset | None, run: Run) -> bool:
    """True if a run equals the run that a preset was published with, if it was published with one."""
    return preset is not None and preset.run != Run() and run == run_of(preset, run, True)


def said(preset: Preset | None) -> str:
    """The sizes that a preset was published with, in a line that is not safe yet."""
    if preset is None:
        return "a recipe of one's own: nothing is published of it"
    known = [f"{name} {RUN[name].written(preset.run.word(name))}" for name in preset.run.words]
    return f"{preset.name}: {', '.join(known)}" if known else f"{preset.name}: no sizes are published"


def read_word(recipe: Recipe, name: str, text: str) -> Recipe:
    """A recipe with a word of `SHAPE` as it was typed; nothing stands for the default.

    Raises:
        TokentuiError: It makes no sense here.
    """
    toggled = SHAPE[name].kind is bool
    return changed(recipe, **{name: word(recipe, name) == "no" if toggled else SHAPE[name].read(text)})


def axis_changes(old: Recipe, new: Recipe) -> Changes:
    """The axes that are different."""
    return tuple(Change(name, old.axis(name), new.axis(name)) for name in AXES if old.axis(name) != new.axis(name))


def _word_changes(old: Recipe, new: Recipe) -> Changes:
    """The words of `SHAPE` that are different."""
    differ = [name for name in SHAPE if getattr(old, name) != getattr(new, name)]
    return tuple(Change(name, word(old, name), word(new, name)) for name in differ)


def changes(old: Recipe, old_run: Run, new: Recipe, new_run: Run) -> Changes:
    """The differences, axes first."""
    stops = [Change(name, one.written(old_run.word(name)), one.written(new_run.word(name))) for name, one in RUN.items()]
    return (*axis_changes(old, new), *_word_changes(old, new), *(change for change in stops if change.old != change.new))


def families() -> dict[str, list[Preset]]:
    """The presets by family."""
    found: dict[str, list[Preset]] = {}
    for preset in PRESETS.values():
        found.setdefault(preset.family, []).append(preset)
    return found
