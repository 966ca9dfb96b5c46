"""Choose a recipe: presets at the left, axes and stops at the right, and a preview of the changes.

Letters typed at the presets search them. Below the axes are the first steps of the chosen recipe and of the
recipe in use. While the dialog is live the screen behind follows each change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.widgets import Input

from tokentui.axes import AXES, check_trainable, label
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe
from tokentui.preset_table import PRESETS, Preset
from tokentui.recipe import RUN, Run
from tokentui.session.views import StageView
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import SCROLL, CellText, Dialog, draft
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.preview import PreviewPane, Trying
from tokentui.ui.draw.table import Column, Listing
from tokentui.ui.field import Field
from tokentui.ui.link import EngineLink, EngineScreen
from tokentui.ui.waits import NotYet

LIVE_BYTES = 1_000_000
"""Up to this size of a corpus the dialog is live at first."""
_TAKES = ("enter applies the changes", "enter trains by these axes, on the same corpus")
_NAMED = 4
"""The maximum number of values that a search names."""

_CHANGE = Hint("change", pane="axes", count=2)
_PREVIEW = Binding("p", "turn_preview", id="recipe.preview", tooltip="Show the first steps, or hide them")
_SEARCH = Binding("slash", "search", id="recipe.search", tooltip="Search the presets, or the axes")
_SWITCH = Binding("tab,shift+tab", "switch", id="recipe.switch", tooltip="Go to the axes, or to the presets")


class RecipeScreen(Dialog[RecipeChoice | None]):
    """Asks for a recipe. Its result is a `RecipeChoice`; None if it was cancelled.

    Args:
        engine: The link to the session.
        used: The choice in use.
        preset: The name of the preset of its recipe, "" if none.
        tried: True to show the first steps of the recipe under the cursor.
        follow: Called with each changed choice in live mode, and with `used` when that is turned off; None
            for no live mode.
        live: True to start in live mode.
        stages: The stages of the open tokenizer file, listed above the axes; the recipe can then be applied
            unchanged, to train it.
    """

    HEADING = "Algorithm"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", "previous value", id="recipe.previous", group=_CHANGE,
            tooltip="Take the previous value of the axis"),
        Binding("right", "turn(1)", "next value", id="recipe.next", group=_CHANGE,
            tooltip="Take the next value of the axis"),
        Binding("enter", HANDLED, "choose", group=Hint(pane="presets values line")),
        Binding("enter", HANDLED, "all values", group=Hint(pane="axes")),
        replace(SCROLL, group=Hint(pane="steps", count=2)),
        replace(_PREVIEW, description="back", group=Hint(pane="steps")),
        replace(_SEARCH, description="search, or type", group=Hint(pane="presets")),
        replace(_SWITCH, description="axes", group=Hint(pane="presets")),
        replace(_SWITCH, description="presets", group=Hint(pane="axes")),
        Binding("t", "take", "apply", id="recipe.apply", group=Hint(pane="axes steps"),
            tooltip="Apply the recipe"),
        Binding("ctrl+t", "turn_preview", "first steps", id="recipe.preset_steps",
            group=Hint(pane="presets"), tooltip="Show the first steps of the preset, or hide them"),
        replace(_PREVIEW, description="first steps", group=Hint(pane="axes")),
        replace(_SEARCH, description="search", group=Hint(pane="axes")),
        Binding("up", "move_found(-1)"), Binding("down", "move_found(1)"),
        Binding("l", "turn_live", draft.LIVE, id="recipe.live", group=Hint(pane="axes"),
            tooltip="Train each change at once, or only when it is applied"),
    ]

    def __init__(
        self, engine: EngineLink, used: RecipeChoice, preset: str = "", *, tried: bool = False,
        follow: Callable[[RecipeChoice], object] | None = None, live: bool = False,
        stages: Sequence[StageView] = (),
    ) -> None:
        super().__init__(engine, classes="-presets" if tried else "-presets -untried")
        self.choice = self._used = self._followed = used
        self._preset = preset
        self.published = draft.is_published(PRESETS.get(preset), used.run)
        self._own_run = Run() if self.published else used.run
        self._sized = False
        """True if a size was typed in this dialog: it is that of whatever is chosen."""
        self._follow, self._live = follow, live and follow is not None
        absent = {"recipe.live" if follow is None else ""}
        if not tried:
            absent |= {"recipe.preview", "recipe.preset_steps"}
        self.shown_actions = [
            action for action in self.shown_actions if action.id not in absent
        ]
        self._show_live()
        self._stages = tuple(stages)
        self._prefix: str | None = None
        """The part of a value up to its colon, of which the rest is typed, empty for a word; None while the
        line searches."""
        self.presets = Listing((Column(flex=1, min_width=10),), id="presets")
        self.axes = Listing(draft.axis_columns(stages), id="axes")
        self.values = Listing((Column(width=16, priority=1), Column(flex=1, min_width=16)), id="values")
        self.preview = PreviewPane(engine if tried else None, used)
        self.change, self.prompt = CellText(id="change"), CellText("prompt")
        self.field = Field(select=False)
        chosen = Vertical(self.axes, self.values, self.preview, id="chosen")
        line = Horizontal(self.prompt, self.field, classes="edit")
        self.parts = Horizontal(self.presets, chosen, classes="panes"), line, self.change, self.notice

    def on_mount(self) -> None:
        """Show the choice with the cursor on the preset in use, and focus the presets."""
        self.tell_waiting()
        self._show(self._preset)
        self._focus_list(self.presets)  # a name that is typed is looked for there

    # What is seen.

    def tell_waiting(self) -> None:
        """Show above the first steps what they wait for."""
        self.preview.tell_waiting(self.waits)

    def _show(self, preset: str | None = None) -> None:
        """Update the presets, the axes, the open list of values, the subtitle and the lines below for the
        choice. Cursors stay on their rows.

        If `follow` is set, call it with the choice in live mode, otherwise with the one in use, if that has
        changed.

        Args:
            preset: The preset to put the cursor on; None to leave it.
        """
        recipe, followed = self.choice.recipe, self.choice if self._live else self._used
        if self._follow is not None and followed != self._followed:
            self._followed = followed
            self._follow(followed)
        found = draft.preset_rows(recipe, self.presets.find)
        self.presets.show(found, keep=preset or self.presets.cursor_key)
        live = self._live if self._follow else None
        published = self.published, draft.published_sizes(self._preset_of_choice)
        rows = draft.choice_rows(self.choice, self._used.changes(self.choice), live, published, self._stages)
        self.axes.show(rows, keep=self.axes.cursor_key)
        if self._list is self.values:
            self.values.show(draft.value_rows(recipe, self._axis), keep=self.values.cursor_key)
        self.name_box(subtitle=safe(label(recipe), limit=60))
        self.lay_out()

    @property
    def _list(self) -> Listing:
        """The list in use: values, presets or axes."""
        if self.has_class("-values"):
            return self.values
        return self.presets if self.has_class("-presets") else self.axes

    @property
    def _axis(self) -> str:
        """The name of the row of axes under the cursor: an axis, a stop or a setting. It stays while its
        values are listed or its value is typed."""
        return str(self.axes.cursor_key)

    @property
    def _searches(self) -> bool:
        """True while the line searches the presets or the axes."""
        return self.editing and self._prefix is None

    @property
    def _preset_of_choice(self) -> Preset | None:
        """The preset with the recipe of the choice; None for none."""
        return draft.named(self.choice.recipe, self._preset)

    def _option(self, label: object) -> draft.Option | None:
        """Return the option with this label from the open list of values; None if there is none or no list is
        open."""
        listed = draft.options(self.choice.recipe, self._axis) if self._list is self.values else ()
        return next((option for option in listed if option.label == label), None)

    def lay_out(self) -> None:
        """Show below the lists what the row under the cursor means and what it would change, and preview its
        first steps."""
        looked_at, here, style = self.choice, "draft", "muted"
        preset = PRESETS.get(str(self.presets.cursor_key)) if self._list is self.presets else None
        if self._list is self.presets and not self.presets.rows:
            sentence, style = self._none_found(self.presets.find), "warning"
        elif preset is not None:
            looked_at, here = self._with(preset), preset.name
            sentence = f"{preset.about} · {preset.source}"
        elif option := self._option(self.values.cursor_key):
            if option.possible:
                looked_at = looked_at.with_text(self._axis, option.value)
                here = f"{self._axis}={looked_at.recipe.axis(self._axis)}"
            too = f" · enter changes {option.together} too" if option.goes_with else ""
            sentence = (safe(option.refused) or option.about) + too
            style = "warning" if option.refused else style
        elif self._searches and (values := self._values_named(self.field.value.strip().lower())):
            sentence = values
        elif self._axis == draft.PUBLISHED:
            effect = "leaves" if self.published else "takes"
            sentence = f"{draft.published_sizes(self._preset_of_choice)}: enter {effect} them"
        else:
            sentence = draft.about(self.choice, self._axis) or _TAKES[bool(self._stages)]
        # Lines break between words: a second one is not used to its end.
        width, height = self.change.size
        room = width + (height - 1) * width * 3 // 4
        lead = "changes " if looked_at == self.choice else "would change "
        self.change.show(draft.changes_told(self._used.changes(looked_at), room, lead))
        self.preview.look(looked_at, here)
        self.notice.say(sentence, style)

    def on_virtual_table_cursor_moved(self, event: Listing.CursorMoved) -> None:
        """Describe the row under the cursor; ignore lists that are not in use."""
        if event.table is self._list:
            self.lay_out()

    def on_descendant_focus(self) -> None:
        """Enlarge the preview while it has the focus; describe the row under the cursor if the list in use
        has it."""
        self.set_class(self.focused is self.preview.steps, "-preview")
        if self.focused is self._list:
            self.lay_out()

    # What the user does.

    def action_switch(self) -> None:
        """Switch between presets and axes; end a search or the preview first. Do nothing while values are
        listed or a value is typed."""
        if self.focused is self.preview.steps:
            self.action_turn_preview()
        if self._searches:
            self._stop_typing()
        if not self.editing and self._list is not self.values:
            self._focus_list(self.axes if self._list is self.presets else self.presets)

    def action_turn(self, by: int) -> None:
        """Change the axis under the cursor to the value `by` places further. In the presets, move to the axes
        if `by` is positive; elsewhere do nothing."""
        if self.focused is self.presets and by > 0:
            self._focus_list(self.axes)
        elif self.focused is self.axes:
            self._turn(self._axis, by)

    def _turn(self, name: str, by: int) -> bool:
        """Change the value of a row of axes by `by` places. Return False if it has no list of values.

        If the new value is refused, or no other value fits, show that in the notice and return True.
        """
        if name == draft.TAKE:  # it has no value
            return False
        if name == draft.PUBLISHED:
            self._turn_published()
        elif name == draft.LIVE:
            self.action_turn_live()
        else:
            try:
                turned = self.choice.turned(name, by)
            except TokentuiError as error:
                self.notice.tell(error)
                return True
            if turned is None:
                return False
            stays = turned == self.choice
            self._choose(turned)
            if stays:
                self.notice.say(f"{name}: no other value fits the other axes; "
                    "enter shows what else would change", "warning")
        return True

    def _choose(self, choice: RecipeChoice) -> None:
        """Set the choice, and show it."""
        self.choice = choice
        self._show()

    def action_turn_live(self) -> None:
        """Turn live mode on or off. In live mode the screen behind shows the draft, otherwise the choice in
        use. Do nothing without `follow`."""
        if self._follow is not None:
            self._live = not self._live
            self._show_live()
            self._show()

    def _show_live(self) -> None:
        """In live mode, make the dialog smaller and do not dim the screen behind."""
        self.set_class(self._live, "-live")
        self.dims = not self._live
        self.refresh()

    def action_turn_preview(self) -> None:
        """Move the focus from the list to the first steps, or back. Do nothing while a value is typed, or if
        no first steps are shown."""
        if self.focused is self.preview.steps:
            self.set_focus(self._list)
        elif self.focused is self._list and not self.has_class("-untried"):
            self.add_class("-preview")
            self.preview.steps.move_to(0)
            self.set_focus(self.preview.steps)

    def _turn_published(self) -> None:
        """Turn the published sizes of the preset on or off, and restore the user's own run when they are off.
        If the preset has none, show that in the notice."""
        preset = self._preset_of_choice
        if not self.published:
            if preset is None or preset.run == Run():
                self.notice.say(draft.published_sizes(preset), "warning")
                return
            self._own_run = self.choice.run
        self.published = not self.published
        self._choose(self._with(preset) if preset else replace(self.choice, run=self._own_run))

    def _with(self, preset: Preset) -> RecipeChoice:
        """Return the choice with the recipe of a preset, and its published run if `published`, otherwise the
        user's own run. Its vocabulary size is kept only if it was typed in this dialog or if the recipe is
        the one in use; otherwise it is that of the first run."""
        run = draft.run_of(preset, self.choice.run, True) if self.published else self._own_run
        if not (self.published or self._sized or preset.recipe == self._used.recipe):
            run = run.with_words(vocab_size=self.engine.first_run.stops.vocab_size)
        return replace(self.choice, recipe=preset.recipe, run=run)

    def action_take(self) -> None:
        """Close with the choice. If it cannot be trained, or changes nothing and no file is open, show that
        in the notice instead.

        Do nothing while a line is edited or values are listed.
        """
        if self.editing or self._list is self.values:
            return
        try:
            check_trainable(self.choice.recipe)
        except TokentuiError as error:
            self.notice.tell(error)
            return
        if self._used.changes(self.choice) or self._stages:
            self.dismiss(self.choice)
        else:
            self.notice.say("nothing is changed", "warning")

    def action_leave(self) -> None:
        """Leave the preview, close the line, or close the list of values, whichever is open; otherwise close
        the dialog without a choice."""
        if self.focused is self.preview.steps:
            self.action_turn_preview()
        elif self.editing:
            self._stop_typing()
        elif self._list is self.values:
            self._close_values()
        else:
            self.dismiss(None)

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Choose the preset or the value of the row. For a row of axes, open its values, apply the recipe, or
        change to its next value; a number or text is typed in the line."""
        key = str(event.key)
        if event.table is self.presets:
            self._choose_preset(PRESETS[key])
        elif event.table is self.values:
            if option := self._option(key):  # else its list was closed by a key before this one
                self._choose_value(option)
        elif event.table is self.axes:
            if key == draft.TAKE:
                self.action_take()
            elif key in AXES:
                self._open_values(key)
            elif not self._turn(key, 1):
                self._type("", self.choice.to_type(key))
                if not isinstance(self.choice.value(key), tuple):
                    self.field.select_all()  # another number takes its place; a list is added to

    def _choose_preset(self, preset: Preset) -> None:
        """Set the recipe of a preset, with the run that `_with` gives it, end a search, and move to the first
        axis."""
        self._preset = preset.name
        if self._searches:
            self._stop_typing()
        self._focus_list(self.axes)
        self.axes.move_to(0)
        self._choose(self._with(preset))

    def _open_values(self, axis: str) -> None:
        """List the values of an axis with the cursor on the one in use, and focus the list; the title
        describes the axis."""
        recipe = self.choice.recipe
        chosen = next((option.label for option in draft.options(recipe, axis) if option.taken), None)
        self.name_box(f"{self.HEADING} · {axis}: {AXES[axis].about}")
        self.add_class("-values")
        self.values.cursor = 0
        self.values.show(draft.value_rows(recipe, axis), keep=chosen)
        self.set_focus(self.values)

    def _close_values(self) -> None:
        """Close the list of values, and focus the axes."""
        self.name_box(self.HEADING)
        self.remove_class("-values")
        self._focus_list(self.axes)
        self._show()

    def _choose_value(self, option: draft.Option) -> None:
        """Set the value of the open axis, and close the list unless the axis has several values. If the value
        is refused, show why; if it has a text after the colon, open the line for it."""
        if not option.possible:
            self.notice.say(safe(option.refused), "error")
        elif option.text:
            head, colon, text = option.value.partition(":")
            self._type(head + colon, text)
        else:
            self._choose(self.choice.with_text(self._axis, option.value))
            if not isinstance(self.choice.value(self._axis), tuple):  # others may be added
                self._close_values()

    def _focus_list(self, listing: Listing) -> None:
        """Show the presets or the axes, and focus them."""
        self.set_class(listing is self.presets, "-presets")
        self.set_class(listing is not self.presets, "-axes")
        self.set_focus(listing)

    # What is typed.

    def on_key(self, event: Key) -> None:
        """In the presets, search for the typed letter or digit; on an axis that takes a number, open the line
        with the typed digit. Leave other keys."""
        typed = event.character or ""
        if self.focused is self.presets and typed.isalnum():
            self.action_search(typed)
        elif self.focused is self.axes and typed.isdigit() and self._takes_number:
            self._type("", typed)
        else:
            return
        event.stop()
        event.prevent_default()

    @property
    def _takes_number(self) -> bool:
        """True if the row under the cursor is a run option with a typed value that is not a list."""
        words = isinstance(self.choice.value(self._axis), tuple) if self._axis in RUN else True
        return not words and self.choice.turned(self._axis, 1) is None

    def action_search(self, text: str = "") -> None:
        """Open the line to search the presets or the axes, whichever have the focus, with an initial text.
        Elsewhere do nothing."""
        if self.focused in (self.presets, self.axes):
            self._prefix = None
            self.prompt.show((("/ ", ""),))
            self.edit(self.field, text)

    def action_move_found(self, by: int) -> None:
        """Move the cursor by `by` rows while the line searches; otherwise do nothing."""
        if self._searches:
            self._list.move(by)

    def _none_found(self, text: str) -> str:
        """Return the sentence for a search without presets: the values of axes that the text names, or that
        nothing matches. It is safe text."""
        named = [f"{axis}={value}" for axis, value in draft.values_named(text)]
        if not named:
            return f"no preset or value matches ‘{safe(text, limit=40)}’"
        return safe(f"no preset, but {', '.join(named[:_NAMED])}: enter lists the values", limit=200)

    def _axes_named(self, text: str) -> list[int]:
        """Return the indexes of the rows of axes whose names begin with a text in lower case, otherwise of
        those that contain it."""
        names = [(n, row.key) for n, row in enumerate(self.axes.rows) if isinstance(row.key, str)]
        return [n for n, name in names if name.startswith(text)] or [n for n, name in names if text in name]

    def _values_named(self, text: str) -> str:
        """Return a sentence with the values of axes that a text names, as safe text; empty if it names an
        axis or nothing."""
        values = [] if self._axes_named(text) else draft.values_named(text)
        sentence = ", ".join(f"{axis}={value}" for axis, value in values[:_NAMED])
        return safe(f"{sentence}: enter lists the values", limit=200) if values else ""

    def _go_to_axis(self, text: str) -> None:
        """Mark a text in the axes, and move to the first axis whose name begins with it, otherwise contains
        it, otherwise has a value so named. An empty text leaves the cursor. The notice lists such values, or
        says that nothing matches; otherwise it is cleared."""
        self.axes.find = text
        found, values = self._axes_named(text), draft.values_named(text)
        at = found[0] if found else self.axes.index_of(values[0][0]) if values else None
        if text and at is not None:
            self.axes.move_to(at)
        none = f"no axis or value matches ‘{safe(text, limit=40)}’" if text and at is None else ""
        self.notice.say(none or self._values_named(text), "warning" if none else "muted")

    def _open_value(self, text: str) -> None:
        """List the values of the axis that has a value with this name, with the cursor on it, and end the
        search. Do nothing if no axis has one."""
        named = draft.values_named(text)
        if text and named:
            axis, value = named[0]
            self._stop_typing()
            self._focus_list(self.axes)
            self.axes.move_to(self.axes.index_of(axis) or 0)
            self._open_values(axis)
            if (at := self.values.index_of(value)) is not None:
                self.values.move_to(at)

    def _list_found(self, text: str) -> None:
        """List the presets that contain a text, which is marked, with the cursor on the first; all presets
        for an empty text."""
        self.presets.find = text
        self.presets.show(draft.preset_rows(self.choice.recipe, text))
        if text:
            self.presets.move_to(0)
        self.lay_out()

    def _type(self, prefix: str, text: str) -> None:
        """Open the line for the value under the cursor.

        Args:
            prefix: The part of the value up to its colon, shown as the prompt; empty for none.
            text: The initial text.
        """
        self._prefix = prefix
        self.prompt.show(((prefix or f"{self._axis} ", ""),))
        self.edit(self.field, text)
        self._check(text)

    def _stop_typing(self) -> None:
        """Close the line, end the search, and focus the list in use."""
        self.presets.find = self.axes.find = ""
        self.end_edit(self._list)
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Check the typed value, or search for the typed text. Do nothing while the line is closed."""
        if not self.editing:
            return
        if not self._searches:
            self._check(event.value)
        elif self._list is self.presets:
            self._list_found(event.value.strip())
        else:
            self._go_to_axis(event.value.strip().lower())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Set the typed value if it is valid, and close the line. In a search, choose the preset or axis
        under the cursor, or open the value that was found. Do nothing if the line was closed before."""
        text = event.value.strip()
        if self._searches and self._list is self.presets and self.presets.rows:
            self.presets.choose()
        elif self._searches and self._list is self.axes and (not text or self._axes_named(text.lower())):
            self._stop_typing()
            self.axes.choose()
        elif self._searches:
            self._open_value(text)
        elif self.editing and (choice := self._check(event.value)) is not None:
            self.choice = choice
            self._sized = self._sized or self._axis == "vocab_size"
            if self._axis in RUN:
                self.published = draft.is_published(self._preset_of_choice, choice.run)
                self._own_run = self._own_run if self.published else choice.run
            self._stop_typing()
            if self._list is self.values:
                self._close_values()

    def _check(self, text: str) -> RecipeChoice | None:
        """Return the choice with the typed value, and describe it in the notice. If it is invalid, show the
        error there and return None."""
        try:
            choice = self.choice.with_text(self._axis, (self._prefix or "") + text)
        except TokentuiError as error:
            self.notice.tell(error)
            return None
        self.notice.say("the pattern compiles" if self._prefix == "regex:" else
            "" if self._axis in AXES else draft.about(choice, self._axis))
        return choice


def choose_recipe(screen: EngineScreen[Any]) -> None:
    """Open the dialog of recipes, and train by the choice; drafts may be trained while it is open. If the
    user cancels, restore the training before.

    Raises:
        NotYet: There is no snapshot yet.
    """
    engine, now = screen.engine, screen.engine.snapshot
    if now is None:
        raise NotYet(now)
    column = now.main
    used = RecipeChoice(column.recipe, engine.run, now.keep_place)
    opened = column.opened
    trying = Trying(screen.app, engine, used, None if opened is None else opened.path)
    dialog = RecipeScreen(
        engine, used, column.preset, tried=True, follow=trying.train, stages=opened.stages if opened else (),
        live=now.corpus.bytes <= LIVE_BYTES and opened is None and not now.corpus.nothing_open,
    )

    def chosen(choice: RecipeChoice | None) -> None:
        if choice is None:
            trying.put_back()
        else:
            trying.train(choice)

    screen.app.push_screen(dialog, chosen)
