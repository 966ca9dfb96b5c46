"""What a column of Compare is to be: a preset, a recipe of one's own, or a tokenizer in a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tokentui.core.errors import TokentuiError
from tokentui.core.files import open_regular
from tokentui.core.safetext import safe, safe_line
from tokentui.presets import PRESETS, Preset
from tokentui.recipe import AXES, Recipe
from tokentui.session.compared import ColumnWanted
from tokentui.ui.dialogs import draft
from tokentui.ui.dialogs.dialog import Dialog, Hint, Notice
from tokentui.ui.dialogs.field import Field
from tokentui.ui.dialogs.folder import Listed, aside, list_folder, parts
from tokentui.ui.dialogs.listing import Listing
from tokentui.ui.draw.figures import size
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import join

OWN = "a recipe of one's own"
"""The result that asks for a recipe to be put together from axes."""
SPLITS: tuple[str, ...] = ("", *(name for name in AXES["split"].values if ":" not in name))
"""The splits that a file may be read with, "" for its own."""

_COLUMNS = (Column(width=24, priority=2), Column(flex=1, min_width=10))
_LARGEST_RECIPE = 1 << 20


class AddScreen(Dialog[Preset | Recipe | ColumnWanted | str | None]):
    """Asks for a column. Its result is a preset, the recipe of a file, a column of a file, `OWN`, or None if it was left.

    Args:
        heading: What it is asked for.
    """

    HINTS: ClassVar[tuple[Hint, ...]] = (
        ("enter", "take"), ("↓", "list"), ("tab", "complete"), ("ctrl+t", "split of a file"), ("esc", "leave"),
    )
    DEFAULT_CSS = """
    AddScreen .line { height: 1; margin-bottom: 1; }
    AddScreen.-short .line { margin-bottom: 0; }
    AddScreen .prompt { width: 2; color: $text-accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", show=False),
        Binding("down", "to_list", "To the list", show=False),
        Binding("ctrl+t", "split", "Split of a file", show=False),
    ]

    def __init__(self, heading: str) -> None:
        super().__init__()
        self._heading = heading
        self.field = Field(placeholder="a preset, a recipe file, a tokenizer file", select=False)
        self.listing, self.notice = Listing(_COLUMNS), Notice()
        self._listed = Listed("", "")
        self.published = False
        """Whether a preset is taken with the sizes, special tokens and first id that it was published with."""
        self.split = ""
        """The split that a file is read with, "" for its own."""

    def compose_box(self) -> ComposeResult:
        """The line, the list, and a line for what is wrong."""
        with Horizontal(classes="line"):
            yield Static(">", classes="prompt", markup=False)
            yield self.field
        yield self.listing
        yield self.notice

    def on_mount(self) -> None:
        """Show the presets, and the files that are here."""
        self.box.border_title = join(((self._heading, ""),))
        self._look("")
        self._show()
        self.set_focus(self.field)

    # What is listed.

    def on_input_changed(self, event: Input.Changed) -> None:
        """List what begins like it."""
        self.notice.say("")
        self._look(event.value)

    def _look(self, typed: str) -> None:
        if self._listed.answers(*parts(typed)):
            self._show()
        else:
            self.run_worker(self._list(*parts(typed)), group="listing", exclusive=True)

    async def _list(self, folder: str, prefix: str) -> None:
        stop = threading.Event()
        try:
            self._listed = await aside(lambda: list_folder(folder, prefix, stop.is_set))
        finally:
            stop.set()
        self._show()

    def _show(self) -> None:
        self.listing.show(list(self._rows(self.field.value)), keep=self.listing.cursor_key)

    def _rows(self, typed: str) -> Iterator[TableRow]:
        wanted = typed.lower()
        if not typed:
            said = (("axis by axis, from the column in use", "muted"),)
            yield TableRow(("own", OWN), (((f" {OWN}", "key"),), said))
            what = "presets come with their own sizes and special tokens" if self.published else "all columns have the same run"
            now = (("yes" if self.published else "no", "strong"), (f"  {what}", "muted"))
            yield TableRow(("published", ""), (((f" {draft.PUBLISHED}", "key"),), now))
        for family, members in draft.families().items():
            found = [one for one in members if wanted in f"{one.name} {one.about} {family}".lower()]
            if found:
                yield TableRow(None, (((family, "strong"),), ()))
            for preset in found:
                yield TableRow(("preset", preset.name), (((f" {preset.name}", ""),), ((preset.about, "muted"),)))
        folder, prefix = parts(typed)
        if not self._listed.answers(folder, prefix) or self._listed.error:
            return
        entries = self._listed.beginning(prefix)
        if entries:
            yield TableRow(None, (((f"Files in {safe(folder)}", "strong"),), ()))
        head = typed[: len(typed) - len(prefix)]
        for entry in entries:
            about = "" if entry.size is None else size(entry.size)
            key = ("enter", f"{head}{entry.name}/") if entry.folder else ("file", head + entry.name)
            yield TableRow(key, (((f" {safe(entry.name)}{'/' * entry.folder}", ""),), ((about, "muted"),)))

    # What the user does.

    def action_split(self) -> None:
        """Read a file with the next split."""
        self.split = SPLITS[(SPLITS.index(self.split) + 1) % len(SPLITS)]
        said = f"split of a file: {self.split}" if self.split else ""
        self.box.border_subtitle = join(((said, ""),)) if said else None

    def action_complete(self) -> None:
        """Write what the names in the folder have in common; from the list, back."""
        if self.focused is self.listing:
            self.set_focus(self.field)
            return
        typed = self.field.value
        folder, prefix = parts(typed)
        names = [entry.name + "/" * entry.folder for entry in self._listed.beginning(prefix)]
        names = names if self._listed.answers(folder, prefix) else []
        # Names, not paths: what they have in common may end inside a word.
        common = os.path.commonprefix(names)  # noqa: RUF071
        if len(common) > len(prefix):
            self._type(typed[: len(typed) - len(prefix)] + common)
        else:
            self.action_to_list()

    def action_to_list(self) -> None:
        """Go to the list."""
        if self.listing.rows:
            self.set_focus(self.listing)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed."""
        typed = event.value
        if not typed:
            self.action_to_list()
        elif typed in PRESETS:
            self.dismiss(PRESETS[typed])
        else:
            self.run_worker(self._open(os.path.expanduser(typed)), group="opening", exclusive=True)

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Take what was chosen, or go into the folder."""
        row = self.listing.row_at(event.index)
        match row.key if row else None:
            case ("own", str(own)):
                self.dismiss(own)
            case ("published", _):
                self.published = not self.published
                self._show()
            case ("preset", str(name)):
                self.dismiss(PRESETS[name])
            case ("enter", str(folder)):
                self._type(folder)
                self.set_focus(self.field)
            case ("file", str(path)):
                self.run_worker(self._open(os.path.expanduser(path)), group="opening", exclusive=True)

    def _type(self, text: str) -> None:
        self.field.value = text
        self.field.cursor_position = len(text)

    async def _open(self, path: str) -> None:
        try:
            if path.endswith(".toml"):
                self.dismiss(await aside(lambda: _read_recipe(path)))
            else:
                await aside(lambda: os.stat(path))
                self.dismiss(ColumnWanted(path=path, split=self.split))
        except TokentuiError as error:
            self.notice.say(safe_line(error), "error")
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            self.notice.say(f"{safe(path, limit=200)}: no preset, and as a file: {why.lower()}", "error")


def _read_recipe(path: str) -> Recipe:
    with open_regular(path, "recipe file") as file:
        return Recipe.from_toml(file.read(_LARGEST_RECIPE).decode("utf-8-sig"), path)
