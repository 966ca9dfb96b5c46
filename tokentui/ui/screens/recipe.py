"""Choose a recipe: presets at the left, axes and stops at the right, and what it changes before it is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input, Static

from tokentui.errors import TokentuiError
from tokentui.presets import PRESETS, Preset, label
from tokentui.recipe import AXES, Recipe
from tokentui.safetext import safe, safe_line
from tokentui.ui.screens import draft, recipe_rows
from tokentui.ui.screens.dialog import Dialog, Hint, Notice
from tokentui.ui.screens.field import Field
from tokentui.ui.screens.listing import Listing
from tokentui.ui.text import join


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """What to train by: a recipe, and all words of a run (`merges` to `specials`)."""

    recipe: Recipe
    run: dict[str, Any]


class RecipeScreen(Dialog[RecipeChoice | None]):
    """Asks for a recipe. Its result is a `RecipeChoice`, None if it was left or nothing was changed.

    Args:
        recipe: The recipe in use.
        preset_name: The name of the preset that it is, "" if none.
        run: The words of the run in use: merges, vocab_size, min_count, max_length, first_id, specials.
    """

    HEADING = "Algorithm"
    PRESET_HINTS: ClassVar[Sequence[Hint]] = (
        ("enter", "choose"), ("tab", "axes"), ("t", "take it"), ("esc", "leave"),
    )
    AXES_HINTS: ClassVar[Sequence[Hint]] = (
        ("←→", "change"), ("enter", "all values"), ("tab", "presets"), ("t", "take it"), ("esc", "leave"),
    )
    VALUE_HINTS: ClassVar[Sequence[Hint]] = (("enter", "choose"), ("esc", "back"))
    EDIT_HINTS: ClassVar[Sequence[Hint]] = (("enter", "choose"), ("esc", "back"))
    DEFAULT_CSS = """
    RecipeScreen {
        & .panes { height: 1fr; }
        & #presets { width: 36; border-right: solid $border-blurred; }
        &.-medium .dialog { padding: 0; }
        &.-medium #presets { width: 33; }
        & #values { display: none; }
        &.-values #axes, &.-values #presets { display: none; }
        &.-values #values { display: block; }
        &.-narrow #presets { width: 1fr; border-right: none; }
        &.-narrow.-axes #presets { display: none; }
        &.-narrow.-presets #axes { display: none; }
        & .edit { height: 1; display: none; }
        &.-editing .edit { display: block; }
        & .prompt { width: auto; max-width: 50%; color: $text-accent; }
        & #change { height: 2; }
        & .message { height: 2; }
        &.-short #change { height: 1; }
        &.-narrow .message { height: 3; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,shift+tab", "switch", "Presets or axes", show=False),
        Binding("left", "turn(-1)", "Value before", show=False),
        Binding("right", "turn(1)", "Next value", show=False),
        Binding("t", "take", "Take it", show=False),
    ]

    def __init__(self, recipe: Recipe, preset_name: str = "", run: Mapping[str, Any] | None = None) -> None:
        super().__init__(classes="-presets")
        self._used, self._used_run = recipe, draft.full_run(run or {})
        self._preset = preset_name
        self.recipe, self.run_words = self._used, dict(self._used_run)
        """The recipe and the words of the run as they would be taken now."""
        self._open = ""
        """The axis whose values are listed, or the stop that is typed; "" while neither is."""
        self._typed = ""
        """What is being typed: a value up to its colon, or the name of a stop; "" while nothing is."""

    def compose_box(self) -> ComposeResult:
        """The lists, the line to type in, what is changed, and what the row under the cursor means."""
        with Horizontal(classes="panes"):
            yield Listing(recipe_rows.PRESET_COLUMNS, id="presets")
            yield Listing(recipe_rows.AXIS_COLUMNS, id="axes")
            yield Listing(recipe_rows.VALUE_COLUMNS, id="values")
        with Horizontal(classes="edit"):
            yield Static("", classes="prompt", markup=False)
            yield Field(select=False)
        yield Static("", id="change", markup=False)
        yield Notice()

    def on_mount(self) -> None:
        """Start at the preset in use."""
        self._show(self._preset)
        self.set_focus(self._presets)

    def on_resize(self) -> None:
        """Fit what is changed to the room there is."""
        self.call_after_refresh(self._show_change)

    @property
    def _presets(self) -> Listing:
        return self.query_one("#presets", Listing)

    @property
    def _axes(self) -> Listing:
        return self.query_one("#axes", Listing)

    @property
    def _values(self) -> Listing:
        return self.query_one("#values", Listing)

    # What is seen.

    def _show(self, preset: str | None = None) -> None:
        changes = self._changes()
        self._presets.show(recipe_rows.presets(self.recipe), keep=preset or self._presets.cursor_key)
        self._axes.show(recipe_rows.axes(self.recipe, self.run_words, changes), keep=self._axes.cursor_key)
        if self._open in AXES:
            self._values.show(recipe_rows.values(self.recipe, self._open), keep=self._values.cursor_key)
        self.box.border_subtitle = join(((safe(label(self.recipe), limit=60), ""),))
        self._say_row()

    def _show_change(self) -> None:
        line = self.query_one("#change", Static)
        preset = self._preset_at_cursor()
        changes, lead = self._changes(), "changes "
        if preset:
            lead = "would change "
            changes = () if preset.coming else self._changes(preset.recipe, draft.run_of(preset, self.run_words))
        # Lines break between words: a second one is not used to its end.
        room = line.size.width + (line.size.height - 1) * line.size.width * 3 // 4
        line.update(join(recipe_rows.changes(changes, room, lead)))

    def _changes(self, recipe: Recipe | None = None, run: Mapping[str, Any] | None = None) -> draft.Changes:
        return draft.changes(self._used, self._used_run, recipe or self.recipe, run or self.run_words)

    def _preset_at_cursor(self) -> Preset | None:
        """The preset that is looked at, None where the presets have no focus."""
        return PRESETS.get(str(self._presets.cursor_key)) if self.focused is self._presets else None

    def _say(self, text: str, style: str = "muted") -> None:
        self.query_one(Notice).say(text, style)

    def _say_row(self) -> None:
        """Say what the row under the cursor means, and what is changed."""
        self._show_change()
        if preset := self._preset_at_cursor():
            self._say(f"{draft.COMING} · {preset.about}" if preset.coming else f"{preset.about} · {preset.source}")
        elif self._open in AXES:
            for choice in draft.choices(self.recipe, self._open):
                if choice.label == self._values.cursor_key:
                    self._say(safe(choice.refused) or choice.about, "warning" if choice.refused else "muted")
        else:
            name = str(self._axes.cursor_key)
            if name in AXES:
                value = safe(self.recipe.axis(name), limit=40)
                self._say(f"{AXES[name].about} · {value}: {recipe_rows.meaning(self.recipe, name)}")
            else:
                self._say(draft.STOPS.get(name, "enter takes what is changed"))

    def on_virtual_table_cursor_moved(self) -> None:
        """Say what the row means."""
        self._say_row()

    def on_descendant_focus(self) -> None:
        """Show the keys of what has the focus."""
        hints = {self._presets: self.PRESET_HINTS, self._axes: self.AXES_HINTS, self._values: self.VALUE_HINTS}
        if isinstance(self.focused, Listing):
            self.hints.say(hints[self.focused])
            self._say_row()
        else:
            self.hints.say(self.EDIT_HINTS)

    # What the user does.

    def action_switch(self) -> None:
        """Go between presets and axes."""
        if self._open:
            return
        self._go(self._axes if self.focused is self._presets else self._presets)

    def action_turn(self, by: int) -> None:
        """Give the axis under the cursor its next value; from the presets, go to the axes."""
        name = str(self._axes.cursor_key)
        if self.focused is self._presets and by > 0:
            self._go(self._axes)
        elif self.focused is self._axes and name in AXES:
            self.recipe = draft.turned(self.recipe, name, by)
            self._show()

    def action_take(self) -> None:
        """Take the recipe, if it is another one."""
        if self._open:
            return
        if self._changes():
            self.dismiss(RecipeChoice(self.recipe, self.run_words))
        else:
            self._say("nothing is changed", "warning")

    def action_leave(self) -> None:
        """Leave what was opened last, or the dialog."""
        if self._typed:
            self._stop_typing()
        elif self._open:
            self._close_values()
        else:
            self.dismiss(None)

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Choose a preset, open an axis or a stop, take a value, or take it all."""
        key = str(event.key)
        if event.table is self._presets:
            self._choose_preset(PRESETS[key])
        elif event.table is self._values:
            if self._open in AXES:  # else its list was closed by a key before this one
                self._choose_value(key)
        elif key == recipe_rows.TAKE:
            self.action_take()
        elif key in AXES:
            self._open_values(key)
        else:
            self._open = self._typed = key
            value = self.run_words[key]
            self._type(f"{key} ", " ".join(value) if isinstance(value, tuple) else "" if value is None else str(value))

    def _choose_preset(self, preset: Preset) -> None:
        if preset.coming:
            self._say(f"{preset.name} is {draft.COMING}", "error")
            return
        self.recipe, self.run_words = preset.recipe, draft.run_of(preset, self.run_words)
        self._go(self._axes)
        self._axes.move_to(0)
        self._show()

    def _open_values(self, axis: str) -> None:
        self._open = axis
        rows = recipe_rows.values(self.recipe, axis)
        taken = next((choice.label for choice in draft.choices(self.recipe, axis) if choice.taken), None)
        self.box.border_title = join(((f"{self.HEADING} · {axis}: {AXES[axis].about}", ""),))
        self.add_class("-values")
        self._values.cursor = 0
        self._values.show(rows, keep=taken)
        self.set_focus(self._values)

    def _close_values(self) -> None:
        self._open = ""
        self.box.border_title = join(((self.HEADING, ""),))
        self.remove_class("-values")
        self._go(self._axes)
        self._show()

    def _choose_value(self, label: str) -> None:
        choice = next(choice for choice in draft.choices(self.recipe, self._open) if choice.label == label)
        if choice.refused:
            self._say(safe(choice.refused), "error")
        elif choice.text:
            head, _, text = choice.value.partition(":")
            self._typed = f"{head}:"
            self._type(self._typed, text)
        else:
            self.recipe = draft.changed(self.recipe, self._open, choice.value)
            if self._open == "normalize":
                self._show()
            else:
                self._close_values()

    def _go(self, listing: Listing) -> None:
        self.set_class(listing is self._presets, "-presets")
        self.set_class(listing is not self._presets, "-axes")
        self.set_focus(listing)

    # What is typed.

    def _type(self, prompt: str, text: str) -> None:
        self.query_one(".prompt", Static).update(join(((prompt, ""),)))
        field = self.query_one(Field)
        field.value = text
        field.cursor_position = len(text)
        self.add_class("-editing")
        self.set_focus(field)
        self._check(text)

    def _stop_typing(self) -> None:
        back: Widget = self._values if self._open in AXES else self._axes
        self._typed = ""
        if self._open not in AXES:
            self._open = ""
        self.remove_class("-editing")
        self.set_focus(back)
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say whether it can be taken."""
        if self._typed:
            self._check(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed, if it makes sense."""
        if not self._check(event.value):
            return
        if self._open in AXES:
            self.recipe = draft.changed(self.recipe, self._open, self._typed + event.value)
            self._typed = ""
            self.remove_class("-editing")
            self._close_values()
        else:
            self.run_words[self._open] = draft.read_stop(self._open, event.value)
            self._stop_typing()

    def _check(self, text: str) -> bool:
        try:
            if self._open in AXES:
                draft.changed(self.recipe, self._open, self._typed + text)
            else:
                draft.read_stop(self._open, text)
        except TokentuiError as error:
            self._say(safe_line(error), "error")
            return False
        self._say("the pattern compiles" if self._typed == "regex:" else draft.STOPS.get(self._open, ""))
        return True
