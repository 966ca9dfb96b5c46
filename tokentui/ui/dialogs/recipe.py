"""Choose a recipe: presets at the left, axes and stops at the right, and a preview of the changes.

Below the axes are the first steps of the chosen recipe and of the recipe in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

from tokentui.axes import AXES, label
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.presets import PRESETS, Preset
from tokentui.recipe import RUN, SHAPE, Recipe, Run
from tokentui.session.views import StageView
from tokentui.ui.dialogs import draft, live, recipe_look, recipe_rows
from tokentui.ui.dialogs.dialog import Dialog
from tokentui.ui.dialogs.live import Follow, Following, RecipeChoice
from tokentui.ui.dialogs.preview import PreviewPane, Trial
from tokentui.ui.draw.listing import Listing
from tokentui.ui.draw.text import join
from tokentui.ui.face import Face
from tokentui.ui.keys import Action
from tokentui.ui.typed import Field

_ABOUTS = {name: word.about for name, word in (RUN | SHAPE).items()}


class RecipeScreen(Dialog[RecipeChoice | None]):
    """Asks for a recipe. Its result is a `RecipeChoice`, None if it was left or nothing was changed.

    Args:
        face: The program.
        recipe: The recipe in use.
        preset_name: The name of the preset that it is, "" if none.
        run: The run in use.
        trial: Computes the first steps of a recipe; None shows none.
        keep_place: The position that another recipe is brought to, one of `draft.PLACES`.
        follow: Called with each change while the dialog is live; None where nothing can follow.
        on: True if it is live at first.
        stages: The steps of the opened tokenizer in use; a recipe may be taken as it is then, to be trained.
    """

    HEADING = "Algorithm"
    DEFAULT_CSS = recipe_look.CSS
    ACTIONS = (
        Action(("tab", "shift+tab"), "", lambda it: it.switch()),
        Action(("left",), "", lambda it: it.turn(-1)), Action(("right",), "", lambda it: it.turn(1)),
        Action(("t",), "", lambda it: it.take()), Action(("p",), "", lambda it: it.turn_preview()),
        Action(("l",), "", lambda it: it.turn_live()),
    )

    def __init__(
        self, face: Face, recipe: Recipe, preset_name: str = "", run: Run | None = None, trial: Trial | None = None,
        keep_place: str = "step", follow: Follow | None = None, on: bool = False, stages: Sequence[StageView] = (),
    ) -> None:
        super().__init__(face, classes="-presets" if trial else "-presets -untried")
        self._stages = tuple(stages)
        self._used, self._used_run = recipe, run or Run()
        self._preset = preset_name
        self.recipe, self.run = self._used, self._used_run  # as they would be taken now
        self.published = draft.is_published(PRESETS.get(preset_name), self.run)
        self._own_run = Run() if self.published else self._used_run
        self.keep_place = self._used_place = keep_place  # what another recipe is brought to
        self._following = Following(follow, on, self._choice)
        self.set_class(self._following.on, "-live")
        self._preview = PreviewPane(trial, self._used, self._used_run)
        self._previewed_from: Listing | None = None
        self._open = ""  # the axis whose values are listed, or the stop that is typed
        self._typed = ""  # what is being typed: a value up to its colon, or the name of a stop

    def compose_box(self) -> ComposeResult:
        """The lists, the line to type in, what is changed, and what the row under the cursor means."""
        with Horizontal(classes="panes"):
            yield Listing(recipe_rows.PRESET_COLUMNS, id="presets")
            with Vertical(id="chosen"):
                yield Listing(recipe_rows.STAGE_COLUMNS if self._stages else recipe_rows.AXIS_COLUMNS, id="axes")
                yield Listing(recipe_rows.VALUE_COLUMNS, id="values")
                yield self._preview
        with Horizontal(classes="edit"):
            yield Static("", classes="prompt", markup=False)
            yield Field(select=False)
        yield Static("", id="change", markup=False)
        yield self.notice

    def on_mount(self) -> None:
        """Start at the preset in use."""
        self._show(self._preset)
        self._go(self._axes if self._stages else self._presets)

    def lay_out(self) -> None:
        """Fit what is changed to the room there is."""
        self._show_change()

    @property
    def _presets(self) -> Listing:
        return self.query_one("#presets", Listing)

    @property
    def _axes(self) -> Listing:
        return self.query_one("#axes", Listing)

    @property
    def _values(self) -> Listing:
        return self.query_one("#values", Listing)

    @property
    def _choice(self) -> RecipeChoice:
        """Return the recipe that enter would take now."""
        return RecipeChoice(self.recipe, self.run, self.keep_place)

    # What is seen.

    def tell_waiting(self) -> None:
        """Say it above the first steps."""
        self._preview.tell_waiting(self.waits)

    def _show(self, preset: str | None = None) -> None:
        changes, follows = self._changes(), self._following.on if self._following.can else None
        self._following.show(self._choice)
        self._presets.show(recipe_rows.presets(self.recipe), keep=preset or self._presets.cursor_key)
        published = self.published, draft.said(self._named)
        rows = recipe_rows.axes(self.recipe, self.run, self.keep_place, changes, follows, published)
        self._axes.show(recipe_rows.with_stages(rows, self._stages), keep=self._axes.cursor_key)
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
            changes = self._changes(preset.recipe, self._run_of(preset))
        elif (recipe := self._recipe_at_cursor()) is not None and recipe != self.recipe:
            changes, lead = self._changes(recipe), "would change "
        # Lines break between words: a second one is not used to its end.
        room = line.size.width + (line.size.height - 1) * line.size.width * 3 // 4
        line.update(join(recipe_rows.changes(changes, room, lead)))

    def _changes(self, recipe: Recipe | None = None, run: Run | None = None) -> draft.Changes:
        places = draft.PLACES[self._used_place], draft.PLACES[self.keep_place]
        place = (draft.Change(draft.PLACE, *places),) if places[0] != places[1] else ()
        return (*draft.changes(self._used, self._used_run, recipe or self.recipe, run or self.run), *place)

    def _choice_at_cursor(self) -> draft.Option | None:
        """The value that is looked at, None where no values are listed."""
        if self._open not in AXES:
            return None
        listed = draft.options(self.recipe, self._open)
        return next((choice for choice in listed if choice.label == self._values.cursor_key), None)

    def _recipe_at_cursor(self) -> Recipe | None:
        """The recipe that the value under the cursor would give; None where no value is looked at, or it cannot be taken."""
        choice = self._choice_at_cursor() if self.focused is self._values else None
        if choice is None or (choice.refused and not choice.goes_with):
            return None
        return draft.taken(self.recipe, self._open, choice.value)

    def _show_preview(self) -> None:
        """Try what is looked at: a preset, a value, or else the draft."""
        preset = self._preset_at_cursor()
        if preset is not None:
            self._preview.look(preset.recipe, self._run_of(preset), preset.name)
        elif (recipe := self._recipe_at_cursor()) is not None:
            self._preview.look(recipe, self.run, f"{self._open}={recipe.axis(self._open)}")
        else:
            self._preview.look(self.recipe, self.run, "draft")

    @property
    def _named(self) -> Preset | None:
        return draft.named(self.recipe, self._preset)

    def _preset_at_cursor(self) -> Preset | None:
        """The preset that is looked at, None where the presets have no focus."""
        return PRESETS.get(str(self._presets.cursor_key)) if self.focused is self._presets else None

    def _say(self, text: str, style: str = "muted") -> None:
        self.notice.say(text, style)

    def _say_row(self) -> None:
        """Say what the row under the cursor means, what is changed, and what comes of it."""
        self._show_change()
        self._show_preview()
        if preset := self._preset_at_cursor():
            self._say(f"{preset.about} · {preset.source}")
        elif choice := self._choice_at_cursor():
            too = f" · enter changes {recipe_rows.together(choice)} too" if choice.goes_with else ""
            self._say((safe(choice.refused) or choice.about) + too, "warning" if choice.refused else "muted")
        else:
            name = str(self._axes.cursor_key)
            if name in AXES:
                value = safe(self.recipe.axis(name), limit=40)
                self._say(f"{AXES[name].about} · {value}: {recipe_rows.meaning(self.recipe, name)}")
            else:
                place = f"{draft.PLACE_ABOUT}: enter takes the other"
                published = f"{safe(draft.said(self._named))}: enter {'leaves' if self.published else 'takes'} them"
                abouts = {**_ABOUTS, draft.PUBLISHED: published, draft.PLACE: place, live.NAME: live.ABOUT}
                take = "enter trains by these axes, on the same corpus" if self._stages else "enter takes what is changed"
                self._say(abouts.get(name, take))

    def on_virtual_table_cursor_moved(self, event: Listing.CursorMoved) -> None:
        """Say what the row means."""
        if event.table in (self._presets, self._axes, self._values) and self._previewed_from is None:
            self._say_row()

    def on_descendant_focus(self) -> None:
        """Show the keys of what has the focus."""
        hints: dict[Widget | None, Sequence[Action[Any]]] = {
            self._presets: recipe_look.PRESET_HINTS, self._axes: recipe_look.AXES_HINTS, self._values: recipe_look.VALUE_HINTS,
        }
        if self.focused in hints:
            self._previewed_from = None
            self.remove_class("-preview")
            more = (recipe_look.LIVE_HINT,) if self._following.can and self.focused is not self._values else ()
            self.hints.say((*hints[self.focused], *more))
            self._say_row()
        elif isinstance(self.focused, Listing):
            self.hints.say(recipe_look.STEPS_HINTS)
        else:
            self.hints.say(recipe_look.VALUE_HINTS)

    # What the user does.

    def switch(self) -> None:
        """Go between presets and axes."""
        if self._previewed_from is not None:
            self.turn_preview()
        if self._open:
            return
        self._go(self._axes if self.focused is self._presets else self._presets)

    def turn(self, by: int) -> None:
        """Give the axis under the cursor its next value; from the presets, go to the axes."""
        name = str(self._axes.cursor_key)
        if self.focused is self._presets and by > 0:
            self._go(self._axes)
        elif self.focused is self._axes and name in AXES:
            turned = draft.turned(self.recipe, name, by)
            alone, self.recipe = turned != self.recipe, turned
            self._show()
            if not alone:
                self._say(f"{name}: no other value goes with the rest as it is; enter shows what would change too", "warning")
        elif self.focused is self._axes and name == draft.PLACE:
            self._turn_place()
        elif self.focused is self._axes and name == draft.PUBLISHED:
            self._turn_published()
        elif self.focused is self._axes and name == "prefix_space":
            self._turn_space()
        elif self.focused is self._axes and name == live.NAME:
            self.turn_live()

    def turn_live(self) -> None:
        """Let the screen behind follow, or be as it was."""
        if self._following.can:
            self._following.turn(self._choice)
            self.set_class(self._following.on, "-live")
            self._show()

    def turn_preview(self) -> None:
        """Go to the first steps, or back."""
        if self._previewed_from is not None:
            self.set_focus(self._previewed_from)
        elif isinstance(self.focused, Listing) and not self.has_class("-untried"):
            self._previewed_from = self.focused
            self.add_class("-preview")
            self.set_focus(self._preview.query_one(Listing))

    def _turn_place(self) -> None:
        self.keep_place = next(name for name in draft.PLACES if name != self.keep_place)
        self._show()

    def _turn_published(self) -> None:
        preset = self._named
        if not self.published and (preset is None or preset.run == Run()):
            self._say(safe(draft.said(preset)), "warning")
            return
        if not self.published:
            self._own_run = self.run
        self.published = not self.published
        self.run = self._run_of(preset) if preset is not None and self.published else self._own_run
        self._show()

    def _run_of(self, preset: Preset) -> Run:
        """The run of a preset that is chosen."""
        return draft.run_of(preset, self.run, True) if self.published else draft.run_of(preset, self._own_run)

    def _turn_space(self) -> None:
        try:
            self.recipe = draft.read_word(self.recipe, "prefix_space", "")
        except TokentuiError as error:
            self._say(safe_line(error), "error")
        else:
            self._show()

    def take(self) -> None:
        """Take the recipe, if it is another one."""
        if self._open:
            return
        if self._changes() or self._stages:
            self.dismiss(self._choice)
        else:
            self._say("nothing is changed", "warning")

    def leave(self) -> None:
        """Leave what was opened last, or the dialog."""
        if self._previewed_from is not None:
            self.turn_preview()
        elif self._typed:
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
            self.take()
        elif key in AXES:
            self._open_values(key)
        elif key == draft.PLACE:
            self._turn_place()
        elif key == draft.PUBLISHED:
            self._turn_published()
        elif key == "prefix_space":
            self._turn_space()
        elif key == live.NAME:
            self.turn_live()
        elif event.table is self._axes:
            self._open = self._typed = key
            value = getattr(self.recipe, key) if key in SHAPE else self.run.word(key)
            self._type(f"{key} ", " ".join(value) if isinstance(value, tuple) else "" if value is None else str(value))

    def _choose_preset(self, preset: Preset) -> None:
        self._preset = preset.name
        self.recipe, self.run = preset.recipe, self._run_of(preset)
        self._go(self._axes)
        self._axes.move_to(0)
        self._show()

    def _open_values(self, axis: str) -> None:
        self._open = axis
        rows = recipe_rows.values(self.recipe, axis)
        taken = next((choice.label for choice in draft.options(self.recipe, axis) if choice.taken), None)
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
        choice = next(choice for choice in draft.options(self.recipe, self._open) if choice.label == label)
        if choice.refused and not choice.goes_with:
            self._say(safe(choice.refused), "error")
        elif choice.text:
            head, _, text = choice.value.partition(":")
            self._typed = f"{head}:"
            self._type(self._typed, text)
        else:
            self.recipe = draft.taken(self.recipe, self._open, choice.value)
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
            self.recipe = draft.taken(self.recipe, self._open, self._typed + event.value)
            self._typed = ""
            self.remove_class("-editing")
            self._close_values()
        elif self._open in SHAPE:
            self.recipe = draft.read_word(self.recipe, self._open, event.value)
            self._stop_typing()
        else:
            self.run = self.run.with_words(**{self._open: RUN[self._open].read(event.value)})
            self.published = draft.is_published(self._named, self.run)
            if not self.published:
                self._own_run = self.run
            self._stop_typing()

    def _check(self, text: str) -> bool:
        try:
            if self._open in AXES:
                draft.taken(self.recipe, self._open, self._typed + text)
            elif self._open in SHAPE:
                draft.read_word(self.recipe, self._open, text)
            else:
                RUN[self._open].read(text)
        except TokentuiError as error:
            self._say(safe_line(error), "error")
            return False
        self._say("the pattern compiles" if self._typed == "regex:" else _ABOUTS.get(self._open, ""))
        return True
