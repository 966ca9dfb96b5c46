"""The rows of the recipe dialog: presets, axes and stops, the values of an axis, and what is changed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from tokentui.axes import AXES, chosen, word
from tokentui.core.safetext import safe
from tokentui.recipe import RUN, SHAPE, Recipe, Run
from tokentui.session.views import StageView
from tokentui.ui.dialogs import draft
from tokentui.ui.dialogs import live as following
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell

TAKE = "take it"
"""The key of the row that takes the recipe."""

PRESET_COLUMNS = (Column(flex=1, min_width=10),)
AXIS_COLUMNS = (
    Column(width=12, priority=1), Column(flex=2, min_width=15, priority=1), Column(flex=4, min_width=15),
)
STAGE_COLUMNS = (Column(width=15, priority=1), Column(flex=3, min_width=15, priority=1), Column(flex=4, min_width=15))
"""The same columns for use with the steps of an opened tokenizer, whose names are longer."""
VALUE_COLUMNS = (Column(width=16, priority=1), Column(flex=1, min_width=16))

_MOST_SHOWN = 60  # characters of a value in a row


def presets(recipe: Recipe) -> list[TableRow]:
    """The presets by family, marked where they are the recipe."""
    rows: list[TableRow] = []
    for family, members in draft.families().items():
        rows.append(TableRow(None, (((family, "strong"),),)))
        for preset in members:
            cell: Cell = ((f" {preset.name}", ""),)
            rows.append(TableRow(preset.name, (cell,), mark="•" if preset.recipe == recipe else ""))
    return rows


def axes(
    recipe: Recipe, run: Run, place: str, changed: draft.Changes, live: bool | None = None,
    published: tuple[bool, str] = (False, ""),
) -> list[TableRow]:
    """The row that takes it, the axes, and below them the words of a run and the settings; what is changed is marked.

    `published` is whether the run is as published, and what is published of the recipe.
    """
    names = {change.name for change in changed}
    many = "1 change" if len(changed) == 1 else f"{len(changed)} changes"
    rows = [TableRow(TAKE, (((TAKE, "key"),), ((many if changed else "no changes", ""),), ()), not changed)]
    rows.append(_row(draft.PUBLISHED, "yes" if published[0] else "no", safe(published[1]), False))
    for name in AXES:
        value = recipe.axis(name)
        rows.append(_row(name, _named(value), meaning(recipe, name), name in names))
    rows.append(TableRow(None, ((("Learning", "strong"),), (), ())))
    for name, one in SHAPE.items():
        rows.append(_row(name, word(recipe, name), one.about, name in names))
    rows.append(TableRow(None, ((("Stops", "strong"),), (), ())))
    for name, one in RUN.items():
        rows.append(_row(name, one.written(run.word(name)), one.about, name in names))
    rows.append(TableRow(None, ((("Setting", "strong"),), (), ())))
    rows.append(_row(draft.PLACE, draft.PLACES[place], draft.PLACE_ABOUT, draft.PLACE in names))
    if live is not None:
        rows.append(_row(following.NAME, "on" if live else "off", following.ABOUT, False))
    return rows


def with_stages(rows: list[TableRow], steps: Sequence[StageView]) -> list[TableRow]:
    """The rows of the axes, and before them the steps of an opened tokenizer.

    Each step shows the axes that describe it, or that none does. A step that cannot be shown is opaque.
    """
    if not steps:
        return rows
    what = ("train afresh", "strong"), ("by the axes, as far as they can say it", "muted")
    listed = [TableRow(TAKE, (((TAKE, "key"),), what[:1], what[1:])), _heading("The file's steps")]
    for place, step in enumerate(steps):
        named = step.name if not place or steps[place - 1].name != step.name else ""
        does: Cell = ((safe(step.what), "muted"),)
        said: Cell = ((safe(step.axis, limit=_MOST_SHOWN), ""),)
        if step.opaque:
            said = (("opaque", "warning"),)
        elif not step.axis:
            said, does = does, (("no axis says it", "muted"),)
        listed.append(TableRow(None, (((f" {named}", "muted"),), said, does)))
    return [*listed, _heading("The axes"), *rows[1:]]


def _heading(title: str) -> TableRow:
    return TableRow(None, (((title, "strong"),), (), ()))


def values(recipe: Recipe, axis: str) -> list[TableRow]:
    """The values of an axis: marked if taken (of a list, by its number); dim if refused, with what would change too and why."""
    listed = getattr(recipe, axis)
    rows = []
    for choice in draft.options(recipe, axis):
        mark = "" if not choice.taken else str(listed.index(choice.value) + 1) if isinstance(listed, tuple) else "•"
        about: Cell = ((safe(choice.refused) or choice.about, ""),)
        if choice.goes_with:
            about = ((f"with {together(choice)}", "accent"), (" · ", "muted"), *about)
        rows.append(TableRow(choice.label, (((choice.label, ""),), about), bool(choice.refused), mark))
    return rows


def together(choice: draft.Option) -> str:
    """Return the other axes that change with a value, as safe text: `base=sorted, unknown=error`."""
    return ", ".join(f"{one.name}={safe(one.new, limit=_MOST_SHOWN)}" for one in choice.goes_with)


def changes(changed: draft.Changes, room: int, lead: str) -> Cell:
    """Return the changes that fit, after a lead: `tie: lowest-ids → first-seen · …`."""
    out: list[ui_text.Run] = [(lead, "muted")] if changed else []
    room -= len(lead)
    for place, (name, old, new) in enumerate(changed):
        more = f" · +{len(changed) - place} more" if place else ""
        change: list[ui_text.Run] = [
            (" · " if place else "", "muted"), (f"{name}: ", "muted"), (safe(_named(old), limit=_MOST_SHOWN), "muted"),
            (" → ", "muted"), (safe(_named(new), limit=_MOST_SHOWN), "accent"),
        ]
        needed = sum(cell_len(text) for text, _ in change)
        last = place == len(changed) - 1
        if place and needed + (0 if last else len(more)) > room:
            return (*out, (more, "muted"))
        room -= needed
        out += change
    return tuple(out) or (("nothing is changed", "muted"),)


def _named(value: str) -> str:
    """The value of an axis; an empty list has a name."""
    return "none" if value == "[]" else value


def _row(name: str, value: str, about: str, changed: bool) -> TableRow:
    shown = safe(value, limit=_MOST_SHOWN)
    cells: tuple[Cell, ...] = (((name, ""),), ((shown, "strong" if changed else ""),), ((about, "muted"),))
    return TableRow(name, cells, mark="*" if changed else "")


def meaning(recipe: Recipe, name: str) -> str:
    """Return the meaning of the value of an axis; for the list axis, of its values in order."""
    return ", then ".join(record.about for record in chosen(recipe, name)) or "the text stays as it is"
