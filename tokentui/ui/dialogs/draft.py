"""A recipe while it is being chosen: what each row may become, what that changes, and the rows.

No screen in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from tokentui.axes import AXES, changed, chosen, mended, usual_size, word
from tokentui.axes import values as values_of
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe
from tokentui.preset_table import PRESETS, Preset
from tokentui.recipe import RUN, SHAPE, Recipe, Run
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import StageView
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.table import Column, TableRow, heading
from tokentui.ui.draw.text import Cell

TAKE = "apply"
"""The row that takes the recipe."""
PUBLISHED = "as published"
"""The row that takes the sizes, special tokens and first id that a preset was published with."""
PLACE = "place"
"""The row that says what another recipe is brought to."""
LIVE = "live"
"""The row that lets the screen behind follow each change."""

PLACES = {"step": "same number of merges", "size": "same vocabulary size"}
"""The values of the place, as `tokentui.session.commands.KeepPlace` has them, and what they mean."""

_WORDS = RUN | SHAPE
_ABOUTS = {name: shape_word.about for name, shape_word in _WORDS.items()} | {
    PLACE: "position after a change of recipe",
    LIVE: "the screen behind shows each change; esc restores the old one",
}
_GROUPS = (("", tuple(AXES)), ("Learning", tuple(SHAPE)), ("Stops", tuple(RUN)), ("Setting", (PLACE,)))
"""The rows of a choice under their headings."""
_UNSET = Run()
_MOST_SHOWN = 60  # characters of a value in a row


class Change(NamedTuple):
    """A row that is different: its text before and after, not yet safe."""

    name: str
    old: str
    new: str


Changes: TypeAlias = tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """A recipe to train by, its run, and the position that a change of recipe keeps.

    Its values have names: those of the axes, of the words of `SHAPE` and `RUN`, and `PLACE`.

    Attributes:
        recipe: The recipe.
        run: The run.
        keep_place: A key of `PLACES`.
    """

    recipe: Recipe
    run: Run = _UNSET
    keep_place: str = "step"

    def value(self, name: str) -> Any:
        """Return the value of a name; a tuple for a list, None for an option of the run that is not set."""
        if name in RUN:
            return self.run.word(name)
        return self.keep_place if name == PLACE else getattr(self.recipe, name)

    def text(self, name: str) -> str:
        """Return the value of a name as a user reads it; it is not safe yet. A `vocab_size` that is not set
        is the default of the objective, with `(default)`, if it has one."""
        if name == "vocab_size" and self.run.stops.vocab_size is None and self.size is not None:
            return f"{RUN[name].written(self.size)} (default)"
        if name in RUN:
            return RUN[name].written(self.run.word(name))
        return PLACES[self.keep_place] if name == PLACE else word(self.recipe, name)

    @property
    def size(self) -> int | None:
        """The number of ids at which the run ends: the vocabulary size of the run, or the default of the
        objective; None without either."""
        size = self.run.stops.vocab_size
        return usual_size(self.recipe) if size is None else size

    def stop_before(self, ids: int, shrinks: bool) -> str:
        """Return the stop that ends the run before it reaches a number of ids, as safe text, such as
        `vocab_size 500`; empty if none does.

        A stop in merges is returned whatever its number, but never for a run that shrinks.

        Args:
            ids: The number of ids.
            shrinks: True if the steps make the vocabulary smaller.
        """
        if self.size is not None and (ids < self.size if shrinks else ids > self.size):
            return f"vocab_size {self.text('vocab_size')}"
        return "" if shrinks or self.run.stops.merges is None else f"merges {self.text('merges')}"

    def to_type(self, name: str) -> str:
        """Return the value of a name as a user types it; empty for None."""
        value = self.value(name)
        return " ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)

    def changes(self, to: RecipeChoice) -> Changes:
        """Return the values that another choice has different, axes first."""
        names = [name for _, group in _GROUPS for name in group]
        return tuple(
            [Change(name, self.text(name), to.text(name)) for name in names
             if self.value(name) != to.value(name)]
        )

    def _with(self, name: str, value: object) -> RecipeChoice:
        """Return a copy with another value for a name. Raises TokentuiError if it is invalid for the recipe.
        """
        if name == PLACE:
            return replace(self, keep_place=str(value))
        if name in RUN:
            return replace(self, run=self.run.with_words(**{name: value}))
        return replace(self, recipe=changed(self.recipe, **{name: value}))

    def with_text(self, name: str, text: str) -> RecipeChoice:
        """Return a copy with one value read from text. Other axes change with it if that makes the recipe
        valid.

        Raises:
            TokentuiError: The text is invalid for this name.
        """
        if name in _WORDS:
            return self._with(name, _WORDS[name].read(text))
        new = put(self.recipe, name, text)
        with_it = mended(self.recipe, name, new)
        return replace(self, recipe=with_it) if with_it is not None else self._with(name, new)

    def turned(self, name: str, by: int) -> RecipeChoice | None:
        """Return a copy with the value of a name that is `by` places further, around the end; None if the
        value is typed.

        Skips values that the other axes do not allow. An axis of several values goes through none and each
        value alone.

        Raises:
            TokentuiError: The next value of a list axis does not go with the other axes.
        """
        now, ways = self.value(name), list[object]()
        if name == PLACE:
            ways = list(PLACES)
        elif name in _WORDS:
            if _WORDS[name].kind is not bool:
                return None
            now, ways = self.text(name) == "yes", [False, True]
        elif isinstance(now, tuple):  # a list goes through the empty one and each value alone
            ways = [(), *((value,) for value in AXES[name])]
        else:
            ways = [
                option.value for option in options(self.recipe, name) if option.taken or not option.refused
            ]
        at = ways.index(now) if now in ways else -1 if by > 0 else 0
        return self._with(name, ways[(at + by) % len(ways)])


def stopped_by(ids: int | None, now: Snapshot | None, run: Run) -> str:
    """Return a note to append to a size, such as `: its stop is …; a changes …`, as safe text: a stop keeps
    the run from the size. "" if none does or for an opened file. The run may also end earlier, when no
    candidate is left.

    Args:
        ids: The number of ids; None for no size.
        now: The snapshot; None for none.
        run: The run in use.
    """
    if ids is None or now is None or now.main.opened is not None:
        return ""
    stop = RecipeChoice(now.main.recipe, run).stop_before(ids, now.main.traits.shrinks)
    return f": its stop is {stop}; a changes {stop.split()[0]}" if stop else ""


def sized_by(ids: int | None, now: Snapshot | None, run: Run) -> RecipeChoice | None:
    """Return the choice that trains to a size as its `vocab_size`, if the training drops pieces and its run
    ends before that size: only another run gets so small. Return None otherwise, and if the size is
    impossible.

    Args:
        ids: The number of ids; None for no size.
        now: The snapshot; None for none.
        run: The run in use.
    """
    if ids is None or now is None or now.main.opened is not None or not now.main.traits.shrinks:
        return None
    used = RecipeChoice(now.main.recipe, run)
    if not used.stop_before(ids, shrinks=True):
        return None
    try:
        return used.with_text("vocab_size", str(ids))
    except TokentuiError:
        return None  # fewer than a vocabulary can have


@dataclass(frozen=True, slots=True)
class Option:
    """A value of an axis, and whether a draft can take it.

    Attributes:
        value: The value; with a text after the colon if it has one, at first a sample.
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
        """True if the value has a text after a colon."""
        return ":" in self.value

    @property
    def possible(self) -> bool:
        """True if the draft can take it, alone or with other changes."""
        return not self.refused or bool(self.goes_with)

    @property
    def together(self) -> str:
        """The other axes that change with it, as safe text, such as `base=sorted, unknown=error`; empty for
        none."""
        return ", ".join(f"{change.name}={safe(change.new, limit=_MOST_SHOWN)}" for change in self.goes_with)


def options(recipe: Recipe, axis: str) -> tuple[Option, ...]:
    """Return every option of an axis, and whether the recipe has it now. An option that does not fit has
    `refused`, and in `others` the other axes that it would change. One with a text has a sample text. In
    `normalize`, an option adds or removes its value."""
    now, found = values_of(recipe, axis), []
    for name, label in AXES[axis].written().items():
        record, value = AXES[axis][name], name
        if record.text:
            # The text of another value is as good a start as any.
            text = next((part.partition(":")[2] for part in now if axis == "mark"), "")
            value = next(
                (part for part in now if part.partition(":")[0] == name), f"{name}:{text or record.sample}"
            )
        refused, others = "", Changes()
        try:
            changed(recipe, **{axis: put(recipe, axis, value)})
        except TokentuiError as error:
            refused = str(error)
            with_it = mended(recipe, axis, put(recipe, axis, value)) or recipe
            changes = RecipeChoice(recipe).changes(RecipeChoice(with_it))
            others = tuple([change for change in changes if change.name in AXES and change.name != axis])
        found.append(Option(value, label, record.about, value in now, refused, others))
    return tuple(found)


def put(recipe: Recipe, axis: str, value: str) -> str | tuple[str, ...]:
    """Return the new value of an axis after a value is chosen. On the list axis it is appended, or removed if
    present. Nothing is checked."""
    now = getattr(recipe, axis)
    if not isinstance(now, tuple):
        return value
    return tuple(part for part in now if part != value) if value in now else (*now, value)


def values_named(query: str) -> list[tuple[str, str]]:
    """Return the values of axes whose names contain a text, as (axis, value), those that begin with it first.
    Ignores case; none for an empty text."""
    text = query.lower()
    found = [(axis, value) for axis in AXES for value in AXES[axis].written().values()
             if text in value.lower()]
    return sorted(found, key=lambda row: not row[1].lower().startswith(text)) if text else []


# Presets.


def run_of(preset: Preset, run: Run, published: bool) -> Run:
    """Return the run to use with a preset: the run in use or, if `published`, the run of the preset.

    In a published run, only `max_length` comes from the run in use. Other stops that the preset does not name
    are not set.
    """
    return Run.of({"max_length": run.stops.max_length} | preset.run.words) if published else run


def named(recipe: Recipe, chosen: str) -> Preset | None:
    """Return the preset that has a recipe; if several have it, the one named `chosen` or the first. Return
    None if no preset has it."""
    alike = [preset for preset in PRESETS.values() if preset.recipe == recipe]
    return next((one for one in alike if one.name == chosen), alike[0] if alike else None)


def is_published(preset: Preset | None, run: Run) -> bool:
    """Return whether a run is the one that a preset was published with; False if it was published with none.
    """
    return preset is not None and preset.run != Run() and run == run_of(preset, run, True)


def published_sizes(preset: Preset | None) -> str:
    """Return a line with the name of a preset and the sizes that it was published with, as safe text; if
    there are none, or `preset` is None, the line says so."""
    if preset is None:
        return "your own recipe: it has no published sizes"
    known = [f"{name} {RUN[name].written(preset.run.word(name))}" for name in preset.run.words]
    return safe(f"{preset.name}: {', '.join(known)}" if known else f"{preset.name}: no sizes are published")


def families(query: str = "") -> list[tuple[str, list[Preset]]]:
    """Return the presets that match a text, grouped by family.

    Presets whose names begin with it come first, then those whose names contain it, then those whose
    descriptions or families do: a family may occur more than once.

    Args:
        query: The text, in any case; "" for all presets.
    """
    out: list[tuple[str, list[Preset]]] = []
    for near in range(3):
        found: dict[str, list[Preset]] = {}
        for preset in PRESETS.values():
            if _match_rank(preset, query.lower()) == near:
                found.setdefault(preset.family, []).append(preset)
        out += found.items()
    return out


def _match_rank(preset: Preset, query: str) -> int:
    """Return 0 if the preset's name begins with `query`, 1 if the name contains it, 2 if the description or
    family does, otherwise 3. The query must be lowercase."""
    if query in preset.name:
        return int(not preset.name.startswith(query))
    return 2 if query in f"{preset.about} {preset.family}".lower() else 3


# Rows.


def axis_columns(stages: Sequence[StageView]) -> tuple[Column, ...]:
    """Return the columns of `choice_rows`; wider names if the stages of an opened tokenizer are listed."""
    first = Column(width=15 if stages else 12, priority=1)
    return first, Column(flex=3 if stages else 2, min_width=15, priority=1), Column(flex=4, min_width=15)


def preset_rows(recipe: Recipe, query: str = "") -> list[TableRow]:
    """Return the presets that match a text, by family with headings, see `families`. A mark is on those with
    the same recipe."""
    rows: list[TableRow] = []
    for family, members in families(query):
        rows.append(heading(family))
        rows += [
            TableRow(member.name, (((f" {member.name}", ""),),), mark="•" if member.recipe == recipe else "")
            for member in members
        ]
    return rows


def choice_rows(
    choice: RecipeChoice, changed: Changes, live: bool | None, published: tuple[bool, str],
    stages: Sequence[StageView] = ()
) -> list[TableRow]:
    """Return the row that applies a choice, the rows of its values, and those of the settings. Changed values
    have the mark `*`.

    Args:
        choice: The choice.
        changed: The changes from the choice in use.
        live: True if live mode is on; None if there is no such mode.
        published: Whether the run is the published one, and the line of `published_sizes`.
        stages: The stages of an opened tokenizer, listed before the axes, each with the axis that describes
            it.
    """
    names = {change.name for change in changed}
    many = "1 change" if len(changed) == 1 else f"{len(changed)} changes"
    what: Cell = ((many if changed else "no changes", ""),)
    note: Cell = ()
    if stages:
        what, note = (("train afresh", "strong"),), (("by the axes, as far as they can say it", "muted"),)
    rows = [TableRow(TAKE, (((TAKE, "key"),), what, note), not (changed or stages))]
    if stages:
        rows += [heading("The file's steps"), *_stage_rows(stages), heading("The axes")]
    rows.append(_row(PUBLISHED, "yes" if published[0] else "no", published[1], False))
    for title, group in _GROUPS:
        rows += [heading(title)] if title else []
        for name in group:
            about = meaning(choice.recipe, name) if name in AXES else _ABOUTS[name]
            rows.append(_row(name, _shown_value(choice.text(name)), about, name in names))
    if live is not None:
        rows.append(_row(LIVE, "on" if live else "off", _ABOUTS[LIVE], False))
    return rows


def _stage_rows(steps: Sequence[StageView]) -> list[TableRow]:
    """Return a row for each stage of an opened tokenizer: its name unless it repeats, its axis and what it
    does. A stage without an axis says so; an opaque one shows a warning."""
    rows = []
    for place, step in enumerate(steps):
        named = step.name if not place or steps[place - 1].name != step.name else ""
        does: Cell = ((safe(step.what), "muted"),)
        label: Cell = ((safe(step.axis, limit=_MOST_SHOWN), ""),)
        if step.opaque:
            label = (("opaque", "warning"),)
        elif not step.axis:
            label, does = does, (("no axis says it", "muted"),)
        rows.append(TableRow(None, (((f" {named}", "muted"),), label, does)))
    return rows


def value_rows(recipe: Recipe, axis: str) -> list[TableRow]:
    """Return a row for each value of an axis: marked if taken (on the list axis by its position, from 1), dim
    if refused, with the reason and what would change too."""
    listed, rows = getattr(recipe, axis), []
    for choice in options(recipe, axis):
        mark = "•" if choice.taken else ""
        if mark and isinstance(listed, tuple):
            mark = str(listed.index(choice.value) + 1)
        about: Cell = ((safe(choice.refused) or choice.about, ""),)
        if choice.goes_with:
            about = ((f"with {choice.together}", "strong"), (" · ", "muted"), *about)
        rows.append(TableRow(choice.label, (((choice.label, ""),), about), bool(choice.refused), mark))
    return rows


def changes_told(changed: Changes, room: int, lead: str) -> Cell:
    """Return the changes that fit in `room` cells after a lead, `tie: lowest-ids → first-seen · …`, and ` ·
    +2 more` for the rest.

    The first change is shown even if it does not fit. Without changes it is "nothing is changed", without the
    lead.
    """
    out: list[ui_text.Run] = [(lead, "muted")] if changed else []
    room -= len(lead)
    for place, (name, old, new) in enumerate(changed):
        more = f" · +{len(changed) - place} more" if place else ""
        change: list[ui_text.Run] = [
            (" · " if place else "", "muted"), (f"{name}: ", "muted"),
            (safe(_shown_value(old), limit=_MOST_SHOWN), "muted"), (" → ", "muted"),
            (safe(_shown_value(new), limit=_MOST_SHOWN), "strong"),
        ]
        needed = ui_text.width(change)
        if place and needed + (0 if place == len(changed) - 1 else len(more)) > room:
            return (*out, (more, "muted"))
        room -= needed
        out += change
    return tuple(out) or (("nothing is changed", "muted"),)


def about(choice: RecipeChoice, name: str) -> str:
    """Return the meaning of a row of `choice_rows` as safe text; "" for rows without a value."""
    if name in AXES:
        return f"{AXES[name].about} · {safe(choice.text(name), limit=200)}: {meaning(choice.recipe, name)}"
    return _ABOUTS.get(name, "") + (": enter switches it" if name == PLACE else "")


def meaning(recipe: Recipe, axis: str) -> str:
    """Return what the value of an axis does; for the list axis, what its values do in order, or "unchanged".
    """
    return ", then ".join(record.about for record in chosen(recipe, axis)) or "unchanged"


def _shown_value(value: str) -> str:
    """Return a value as shown in a row: `none` for an empty list."""
    return "none" if value == "[]" else value


def _row(name: str, value: str, about: str, changed: bool) -> TableRow:
    """Return the row of a value: its name, the value, its meaning, and a mark if it is changed."""
    shown = safe(value, limit=_MOST_SHOWN)
    cells: tuple[Cell, ...] = (((name, ""),), ((shown, "strong" if changed else ""),), ((about, "muted"),))
    return TableRow(name, cells, mark="*" if changed else "")
