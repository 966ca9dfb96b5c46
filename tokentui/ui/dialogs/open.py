"""Open a corpus or a tokenizer: a path, a recent source, a built-in text, or a file in the folder.

The content of a file decides what it is: the notice names the format of a tokenizer, and says nothing for a
corpus.
"""

from __future__ import annotations

import functools
import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.axes import AXES, changed
from tokentui.core import sandbox
from tokentui.core.choices import Choice
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.preset_table import PRESETS, Preset
from tokentui.recipe import Recipe, read_recipe
from tokentui.session.commands import Open, OpenTokenizer, Recognize
from tokentui.session.persist.session_file import recent as recently_opened
from tokentui.session.views import ColumnSnapshot, ColumnWanted
from tokentui.text.named import PARALLEL, SCHEME, named_in, short_name
from tokentui.text.remote import is_remote
from tokentui.text.sources import Sample, find_sample, samples
from tokentui.ui.bindings import HANDLED
from tokentui.ui.dialogs import draft
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.picker import SAMPLES, Picker, in_thread, look_at, reason
from tokentui.ui.draw.figures import size as size_text
from tokentui.ui.draw.table import Column, Listing, TableRow, heading
from tokentui.ui.draw.text import Cell
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink

READ_AS: tuple[str | None, ...] = (None, "text", "lines", "jsonl", "counts")
"""The ways to read a file in the order in which a key goes through them; None goes by its name."""

_SPLIT, _ENCODE = "split=", "encode="
_LANGUAGES = "the same sentences in twelve languages"


class OpenScreen(Picker[Open | OpenTokenizer]):
    """Asks which corpus or tokenizer to open. Its result is the command; None if it was cancelled.

    After the path of a tokenizer file a split can be named, for one without a split, and a way of encoding:
    `cl100k_base.tiktoken split=cl100k`, `vocab.txt encode=longest-suffix`.

    Args:
        engine: The link to the session.
        corpora: True to open every file as a corpus.
    """

    HEADING = "Open"
    PLACEHOLDER = "a file, a folder, a glob; a tokenizer file"
    COLUMNS = (
        Column(flex=3, min_width=12, priority=2), Column(flex=4, min_width=14),
        Column(width=9, align="right", priority=1),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "open"),
        Binding("ctrl+t", "turn_reading", "read as", id="open.read_as",
            tooltip="Read the file as a corpus, or as a tokenizer"),
    ]

    def __init__(self, engine: EngineLink, *, corpora: bool = False) -> None:
        super().__init__(engine, "Second corpus" if corpora else "")
        if corpora:
            self.field.placeholder = "a file, a folder, a glob"
        if sandbox.sealed():
            self.field.placeholder = "a file served here, or sample:NAME"
        self._corpora = corpora
        self._recent: Sequence[str] = ()
        """The sources that were opened before, newest first."""
        self._as: str | None = None
        self._doubtful = ""
        """The path of which it was said that it is a damaged tokenizer: the next enter opens it as a text."""

    def on_mount(self) -> None:
        """Show how files are read in the subtitle, and load the recent sources in a worker."""
        self.name_box(subtitle="read as: auto")
        start_worker(self, "recent", self._look_for_recent)

    async def _look_for_recent(self) -> None:
        self._recent = await in_thread(recently_opened)
        self.show_rows()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look up the format of the typed file, to show whether it is a tokenizer; not for samples and named
        corpora. The warning about a damaged file no longer applies."""
        self._doubtful = ""
        named = event.value.startswith((SAMPLES, SCHEME))
        self._look_up_format("" if named else with_axes(event.value)[0])

    def _look_up_format(self, path: str) -> None:
        """Look up the format of a file in a worker, and show it. "" only cancels the lookup in progress. Do
        nothing more while a file is opened."""
        self.workers.cancel_group(self, "what")
        # A session answers the last question of a kind: this one would take the place of that of enter, which
        # would then open a tokenizer as a text.
        opening = any(worker.group == "opening" and not worker.is_finished for worker in self.workers)
        if path and not opening:
            start_worker(self, "what", self._show_format, sandbox.expanded(path))

    # What is listed.

    def takes_row(self, typed: str) -> bool:
        """Return whether enter takes the marked row instead of the typed text.

        False for a URL, a pattern of files, `-`, named corpora, a path with a split, and an empty text;
        otherwise see `Picker.takes_row`.
        """
        if not typed or typed == "-" or is_remote(typed) or glob.has_magic(typed) or with_axes(typed)[1]:
            return False
        if typed == PARALLEL or typed.startswith(SCHEME):
            return False
        return super().takes_row(typed)

    def rows(self, typed: str) -> Iterator[TableRow]:
        """Yield the recent sources and the built-in texts that contain the typed text, in any case."""
        lowered = typed.lower()
        found = [source for source in self._recent if lowered in source.lower()]
        if found:
            yield heading("Recent")
            yield from (TableRow(("open", source), _recent_cells(source)) for source in found)
        built_in = [sample for sample in samples()
            if lowered in f"{SAMPLES}{sample.name} {sample.title}".lower()]
        if built_in:
            yield heading("Built in")
            for sample in built_in:
                about, size = ((safe(sample.title), "muted"),), ((_size_of(sample), "muted"),)
                yield TableRow(("open", SAMPLES + sample.name), (((f" {sample.name}", ""),), about, size))
        if lowered and lowered in f"{PARALLEL} {_LANGUAGES}".lower():
            yield TableRow(("open", PARALLEL), (((" parallel", ""),), ((_LANGUAGES, "muted"),), ()))

    def whole_folder(self, head: str) -> Iterator[TableRow]:
        """Yield a row that opens the folder as one corpus."""
        yield TableRow(("open", head or "."),
            (((" ./", ""),), (("its text files, as one corpus", "muted"),), ()))

    # What the user does.

    def action_turn_reading(self) -> None:
        """Change to the next way to read a file, and show it in the subtitle."""
        self._as = READ_AS[(READ_AS.index(self._as) + 1) % len(READ_AS)]
        self.name_box(subtitle=f"read as: {self._as or 'auto'}")

    def submit(self, typed: str) -> None:
        """Close with the command for named corpora or a built-in sample; open any other text in a worker.
        Errors are shown in the notice, and so is `-` for standard input.

        For an unknown sample, act on the marked row instead if the text is still that of the line.
        """
        if typed == "-":
            self.notice.say("standard input is the keyboard: name a file", "error")
        elif typed == PARALLEL or typed.startswith(SCHEME):
            try:
                named = named_in(typed)
            except TokentuiError as error:
                self.notice.tell(error)
            else:
                own = None if typed == PARALLEL else named
                self.dismiss(Open((own.by(os.path.expanduser).text if own else typed,), self._as))
        elif typed.startswith(SAMPLES):
            try:
                find_sample(typed.removeprefix(SAMPLES))
            except TokentuiError as error:
                if typed != self.field.value or not self.choose_row(self.listing.cursor_key):
                    self.notice.tell(error)
            else:
                self.dismiss(Open((typed,), self._as))
        else:
            super().submit(typed)

    async def open_path(self, typed: str, path: str) -> None:
        """Close with the command that opens a path or URL, with the axes named after it.

        If it cannot be read, act on the marked row; if none is taken, show the error, but open a pattern of
        files. For a damaged tokenizer, show a warning; enter again opens it as a text.
        """
        self.workers.cancel_group(self, "what")
        path, split, encode = with_axes(path)
        try:
            if not is_remote(path):
                await look_at(path)
        except (OSError, TokentuiError) as error:
            if await self.row_taken(typed):
                return
            if not glob.has_magic(path) or sandbox.sealed():
                self.notice.say(f"{safe(path, limit=200)}: {reason(error)}", "error")
                return
        as_ = self._as or ("text" if self._doubtful == path and not split else None)
        if as_ is not None:
            self.dismiss(Open((path,), as_))
            return
        try:
            known = split or encode or await self._format_of(path)
        except TokentuiError as error:
            self._doubtful = path
            self.notice.say(f"enter again: open as a text · {_damage(path, error)}", "warning")
            return
        self.dismiss(OpenTokenizer(path, split, encode) if known else Open((path,)))

    async def _format_of(self, path: str) -> str:
        """Return the name of the format of a tokenizer file. Return "" for a corpus, if only corpora are
        opened, and if the question was cancelled.

        Raises:
            TokentuiError: The file is a damaged tokenizer.
        """
        if self._corpora:
            return ""
        try:
            return await self.engine.ask(Recognize(path))
        except Cancelled:
            return ""  # given up for another one

    async def _show_format(self, path: str) -> None:
        """Show in the notice that a file is a tokenizer, or a damaged one. Do nothing for a corpus, for other
        than regular files, and if the file cannot be read."""
        try:
            if not stat.S_ISREG((await look_at(path)).st_mode):
                return
        except (OSError, TokentuiError):
            return
        try:
            name = await self._format_of(path)
        except TokentuiError as error:
            self.notice.say(_damage(path, error), "warning")
            return
        if name:
            self.notice.say(f"{safe(os.path.basename(path), limit=60)} is a tokenizer: {name}", "success")

    @on(Listing.CursorMoved)
    @on(events.DescendantFocus)
    def _show_format_of_row(self) -> None:
        """Look up the format of the file under the cursor of the list, and show it; another kind of row only
        cancels the lookup in progress. Do nothing while the list has no focus."""
        if self.focused is not self.listing:
            return
        row = self.listing.row_at(self.listing.cursor)
        match row.key if row else None:
            case ("open", str(source)) if not source.startswith(SAMPLES):
                self.notice.say("")
                self._look_up_format(source)
            case _:
                self._look_up_format("")


def with_axes(typed: str) -> tuple[str, str, str]:
    """Return a path, and the split and the way of encoding that are named after it, "" if not:
    `ranks.tiktoken split=cl100k`, `vocab.txt encode=longest-suffix`."""
    named = {_SPLIT: "", _ENCODE: ""}
    while True:
        path, space, last = typed.rpartition(" ")
        axis = next((name for name in named if last.startswith(name)), "")
        if not (space and path and axis) or named[axis]:
            return typed, named[_SPLIT], named[_ENCODE]
        typed, named[axis] = path.rstrip(), last.removeprefix(axis)


def file_column(typed: str, split: str = "") -> ColumnWanted:
    """Return the column of a tokenizer file.

    Args:
        typed: The path, which may have axes after it, see `with_axes`.
        split: The split if the text names none; "" for that of the file.
    """
    path, named, encode = with_axes(typed)
    name = f"{os.path.basename(path)} encode={encode}" if encode else ""
    return ColumnWanted(path=path, split=named or split, encode=encode, name=name)


def _damage(path: str, error: TokentuiError) -> str:
    """Return an error in a file on one line of safe text, with its position but without its folder."""
    return safe_line(f"{error.where.replace(path, os.path.basename(path))}: {error.what}", limit=300)


@functools.cache
def _size_of(sample: Sample) -> str:
    return size_text(sample.size)


def _recent_cells(source: str) -> tuple[Cell, ...]:
    """Return the cells of a recent source: its name and its folder; for named corpora a short name and the
    whole text."""
    if source.startswith(SCHEME):
        return ((f" {safe(short_name(source))}", ""),), ((safe(source), "muted"),), ()
    folder, name = os.path.split(source.rstrip("/"))
    return ((f" {safe(name or source)}", ""),), ((safe(folder), "muted"),), ()


# Choose a column to add to Compare: a preset, your own recipe, or a tokenizer file.


OWN = "your own recipe"
AS_LEFT = ColumnWanted(name="continue where you left off")
"""The answer of a user who goes on with the comparison that was left, and adds no column."""
SPLITS: tuple[str, ...] = ("", *(name for name, split in AXES["split"].items() if not split.text))
"""The splits that a file may be read with, "" for its own."""



class AddScreen(Picker[ColumnWanted]):
    """Asks for a column of Compare. Its result is the column; None if it was cancelled.

    Args:
        engine: The link to the session.
        heading: The title of the dialog.
        recipe: The initial recipe of "your own recipe".
        column: The current column, whose vocabulary can be encoded another way; None for none.
    """

    PLACEHOLDER = "a preset, a recipe file, a tokenizer file"
    COLUMNS = (Column(width=24, priority=2), Column(flex=1, min_width=10), Column(width=9, align="right"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "apply"),
        Binding("ctrl+t", "turn_split", "split of a file", id="add.split",
            tooltip="Choose the split for a tokenizer file that does not specify one"),
    ]

    def __init__(
        self, engine: EngineLink, heading: str, recipe: Recipe, column: ColumnSnapshot | None = None
    ) -> None:
        super().__init__(engine, heading)
        self._recipe, self._column = recipe, column
        self.published = False
        """True if a preset is used with the sizes, special tokens and first id that it was published with."""
        self.split = ""
        """The split that a file is read with, "" for its own."""

    def rows(self, typed: str) -> Iterator[TableRow]:
        """Yield the last comparison if one was left, a custom recipe, the setting for published sizes,
        presets, and other ways to encode, under headings. With a typed text, yield only matching presets and
        ways."""
        now = self.engine.snapshot
        if not typed and now is not None and now.parked:
            columns: Cell = ((f"{now.parked + 1} columns", "muted"),)
            yield TableRow(("left", AS_LEFT.name), (((f" {AS_LEFT.name}", "key"),), columns, ()))
        if not typed:
            about = (("choose each axis, starting from the active column", "muted"),)
            yield TableRow(("own", OWN), (((f" {OWN}", "key"),), about, ()))
            what = (
                "presets come with their own sizes and special tokens"
                if self.published
                else "all columns use the same run"
            )
            value = (("yes" if self.published else "no", "strong"), (f"  {what}", "muted"))
            yield TableRow(("published", ""), (((f" {draft.PUBLISHED}", "key"),), value, ()))
        # Those whose names begin so come first: the first row is the one that enter takes.
        for place, (family, found) in enumerate(draft.families(typed)):
            yield heading(family, "" if place else "recipes, trained on this corpus")
            for preset in found:
                cells = ((f" {preset.name}", ""),), ((preset.about, "muted"),), ()
                yield TableRow(("preset", preset.name), cells)
        if ways := [way for way in self._ways() if typed.lower() in f"{_ENCODE}{way.name}"]:
            yield heading("the same vocabulary, encoded another way")
            for way in ways:
                yield TableRow(("way", way.name), (((f" {_ENCODE}{way.name}", ""),),
                    ((way.about, "muted"),), ()))

    def _ways(self) -> Iterator[Choice]:
        """Yield the other ways to encode with the vocabulary of the current column that its recipe allows;
        none without a column."""
        objective = AXES["objective"].find(self._recipe.objective)
        if objective is None or self._column is None:
            return
        for way in AXES["encode"].values():
            fits = way.needs != ("merges" if objective.scored else "scores")
            if fits and way.name != self._recipe.encode and self._otherwise(way.name) is not None:
                yield way

    def _otherwise(self, encode: str) -> ColumnWanted | None:
        """Return the column with the vocabulary of the current one and another way to encode; None without a
        current column, or if its recipe does not allow the way."""
        column, run = self._column, self.engine.run
        if column is None:
            return None
        if column.opened is not None:
            return replace(file_column(column.path, column.recipe.split), encode=encode,
                name=f"{column.opened.name} encode={encode}")
        try:
            recipe = changed(column.recipe, encode=encode)
        except TokentuiError:
            return None
        return ColumnWanted(recipe, run, name=f"{column.name} encode={encode}")

    def action_turn_split(self) -> None:
        """Change to the next split for a tokenizer file, and show it in the subtitle; after the last one, use
        that of the file."""
        self.split = SPLITS[(SPLITS.index(self.split) + 1) % len(SPLITS)]
        self.name_box(subtitle=f"split of a file: {self.split}" if self.split else "")

    def choose(self, kind: str, name: str) -> None:
        """Close with the column of a row, ask for its axes, turn published sizes on or off, or open a path.
        """
        match kind:
            case "left":
                self.dismiss(AS_LEFT)
            case "own":
                self._ask_axes()
            case "published":
                self.published = not self.published
                self.show_rows()
            case "preset":
                self._take_preset(PRESETS[name])
            case "way":
                self.dismiss(self._otherwise(name))
            case _:
                super().choose(kind, name)

    def submit(self, typed: str) -> None:
        """Close with the preset of exactly this name; open any other text as a file."""
        if typed in PRESETS:
            self._take_preset(PRESETS[typed])
        else:
            super().submit(typed)

    def _take_preset(self, preset: Preset) -> None:
        """Close with a column of a preset. It is trained by the current run, so that what differs is the
        recipe, or to the published sizes."""
        run = draft.run_of(preset, self.engine.run, self.published)
        self.dismiss(ColumnWanted(preset.recipe, run, name=preset.name))

    def _ask_axes(self) -> None:
        """Ask for a recipe, and close with its column, or with None if the user cancels."""
        from tokentui.ui.dialogs.recipe import RecipeScreen

        def asked(choice: RecipeChoice | None) -> None:
            self.dismiss(ColumnWanted(choice.recipe, choice.run) if choice is not None else None)

        self.app.push_screen(RecipeScreen(self.engine, RecipeChoice(self._recipe, self.engine.run)), asked)

    async def open_path(self, typed: str, path: str) -> None:
        """Close with the column of a recipe (`.toml`) or a tokenizer file.

        If the path cannot be read, act on the marked row instead; if none is taken, show the error.
        """
        try:
            if path.endswith(".toml"):
                recipe = await in_thread(lambda: read_recipe(path))
                self.dismiss(ColumnWanted(recipe, self.engine.run))
            else:
                request = file_column(path, self.split)
                if not is_remote(request.path):
                    await look_at(request.path)
                self.dismiss(request)
        except TokentuiError as error:
            if not await self.row_taken(typed):
                self.notice.tell(error)
        except OSError as error:
            if not await self.row_taken(typed):
                what = f"{safe(path, limit=200)}: no preset, and as a file: {reason(error)}"
                self.notice.say(what, "error")
