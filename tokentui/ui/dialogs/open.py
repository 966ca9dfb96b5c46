"""Open a corpus or a tokenizer: a path, what was opened last, what is built in, what is in the folder.

What a file is is told by its content: a line says which tokenizer it is, and nothing where it is a corpus.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.widgets import Input

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.paths import recent as recently_opened
from tokentui.core.safetext import safe, safe_line
from tokentui.session.catalog import Sample, find_sample, samples
from tokentui.session.commands import Recognise
from tokentui.ui.dialogs.dialog import LEAVE
from tokentui.ui.dialogs.picker import Picker, aside, heading
from tokentui.ui.draw.columns import Column
from tokentui.ui.draw.figures import size as size_text
from tokentui.ui.draw.table import TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.face import Face
from tokentui.ui.keys import Action

READ_AS: tuple[str | None, ...] = (None, "text", "lines", "jsonl", "counts")
"""The ways to read a file in the order in which a key goes through them; None goes by its name."""

_SAMPLE = "sample:"
_SPLIT = "split="


@dataclass(frozen=True, slots=True)
class OpenChoice:
    """A source to open: a corpus or a tokenizer file.

    A corpus is named as on the command line, with a format (None: by its name). A tokenizer file comes with
    the `split` that was named if the file holds none.
    """

    source: str
    as_: str | None
    tokenizer: bool = False
    split: str = ""


class OpenScreen(Picker[OpenChoice]):
    """Asks which corpus or tokenizer to open. Its result is an `OpenChoice`, None if it was left.

    A tokenizer file that holds no split takes one behind its path: `cl100k_base.tiktoken split=cl100k`.

    Args:
        face: The program.
        recent: Sources that were opened before, newest first; those of the user if None.
        start: The folder to look into at first.
        corpora: True to open every file as a corpus.
    """

    HEADING = "Open"
    PLACEHOLDER = "a file, a folder, a glob; a tokenizer file"
    COLUMNS = (
        Column(flex=3, min_width=12, priority=2), Column(flex=4, min_width=14),
        Column(width=9, align="right", priority=1),
    )
    ACTIONS = (
        Action(("enter",), "open"), Action(("tab",), "complete", lambda it: it.complete()),
        Action(("down",), "list", lambda it: it.to_list()),
        Action(("ctrl+t",), "read as", lambda it: it.turn_reading()), LEAVE,
    )

    def __init__(
        self, face: Face, recent: Sequence[str] | None = None, start: str = ".", *, corpora: bool = False
    ) -> None:
        super().__init__(face, start=start)
        self._corpora = corpora
        self._recent = recent
        self._sizes: dict[str, int] = {}
        self._as: str | None = None
        self._doubtful = ""
        """The path of which it was said that it is a damaged tokenizer: the next enter opens it as a text."""

    def on_mount(self) -> None:
        """Look for what takes a disk."""
        self._say_as()
        self.run_worker(self._measure(), group="sizes")

    async def _measure(self) -> None:
        if self._recent is None:
            self._recent = await aside(recently_opened)
        self._sizes = await aside(_sample_sizes)
        self.show_rows()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what it is where it is a tokenizer."""
        self._doubtful = ""
        if event.value and not event.value.startswith(_SAMPLE):
            path = os.path.expanduser(with_split(event.value)[0])
            self.run_worker(self._tell_what(path), group="what", exclusive=True)

    # What is listed.

    def names(self, typed: str) -> list[str] | None:
        """The names that what was typed may become."""
        if typed.startswith(_SAMPLE):
            return [sample.name for sample in samples() if sample.name.startswith(self.begun(typed))]
        return super().names(typed)

    def begun(self, typed: str) -> str:
        """The part of what was typed that names begin with."""
        return typed.removeprefix(_SAMPLE) if typed.startswith(_SAMPLE) else super().begun(typed)

    def in_folder(self, typed: str) -> bool:
        """True if the typed text is a path."""
        return not typed.startswith(_SAMPLE)

    def takes_row(self, typed: str) -> bool:
        """True if enter takes a row instead of the typed text."""
        if not typed or typed == "-" or glob.has_magic(typed) or with_split(typed)[1]:
            return False
        return typed.startswith(_SAMPLE) or super().takes_row(typed)

    def rows(self, typed: str) -> Iterator[TableRow]:
        """Yield the recent sources and the built-in ones."""
        wanted = typed.lower()
        found = [source for source in self._recent or () if wanted in source.lower()]
        if found:
            yield heading("Recent")
            yield from (TableRow(("open", source), _recent_cells(source)) for source in found)
        built_in = [sample for sample in samples()
            if wanted in f"{_SAMPLE}{sample.name} {sample.title}".lower()]
        if built_in:
            yield heading("Built in")
            for sample in built_in:
                yield TableRow(("open", _SAMPLE + sample.name), self._sample_cells(sample))

    def whole_folder(self, head: str) -> Iterator[TableRow]:
        """A row for the folder itself."""
        yield TableRow(("open", head or "."),
            (((" ./", ""),), (("its text files, as one corpus", "muted"),), ()))

    def _sample_cells(self, sample: Sample) -> tuple[Cell, ...]:
        known = self._sizes.get(sample.name)
        size: Cell = () if known is None else ((size_text(known), "muted"),)
        return ((f" {sample.name}", ""),), ((safe(sample.title), "muted"),), size

    # What the user does.

    def turn_reading(self) -> None:
        """Read files in the next way."""
        self._as = READ_AS[(READ_AS.index(self._as) + 1) % len(READ_AS)]
        self._say_as()

    def _say_as(self) -> None:
        self.name_box(subtitle=f"read as: {self._as or 'auto'}")

    def take(self, kind: str, name: str) -> None:
        """Open what a row stands for."""
        self.submit(name)

    def submit(self, typed: str) -> None:
        """Open a corpus or a tokenizer, if it is there."""
        if typed == "-":
            self.notice.say("standard input is the keyboard here: name a file", "error")
        elif typed.startswith(_SAMPLE):
            try:
                find_sample(typed.removeprefix(_SAMPLE))
            except TokentuiError as error:
                if typed != self.field.value or not self.take_row(self.listing.cursor):
                    self.notice.tell(error)
            else:
                self.dismiss(OpenChoice(typed, self._as))
        else:
            self.run_worker(self._open_path(typed, os.path.expanduser(typed)), group="opening",
                exclusive=True)

    async def _open_path(self, source: str, path: str) -> None:
        path, split = with_split(path)
        try:
            await aside(lambda: os.stat(path))
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            if await self._row_taken(source):
                return
            if not glob.has_magic(path):
                why = (error.strerror if isinstance(error, OSError) else None) or str(error)
                self.notice.say(f"{safe(path, limit=200)}: {why.lower()}", "error")
                return
        if self._as is not None:
            self.dismiss(OpenChoice(path, self._as))
            return
        if self._doubtful == path and not split:
            self.dismiss(OpenChoice(path, "text"))
            return
        try:
            known = split or await self._what_is(path)
        except TokentuiError as error:
            self._doubtful = path
            self.notice.say(f"enter again: open as a text · {_damage(path, error)}", "warning")
            return
        self.dismiss(OpenChoice(path, None, bool(known), split))

    async def _row_taken(self, typed: str) -> bool:
        """Take the row that is marked, once what begins like what was typed is listed. Returns whether there
        is one.
        """
        if not await self.listed(typed) or not self.takes_row(typed) or self.listing.cursor_key == ("open",
                typed):
            return False
        return self.take_row(self.listing.cursor)

    async def _what_is(self, path: str) -> str:
        """The name of a tokenizer's format, empty for a corpus.

        Raises:
            TokentuiError: It is a damaged tokenizer.
        """
        if self._corpora:
            return ""
        try:
            return await self.face.ask(Recognise(path))
        except Cancelled:
            return ""  # given up for another one

    async def _tell_what(self, path: str) -> None:
        """Say what a file is, where it is a tokenizer."""
        if not await aside(lambda: os.path.isfile(path)):
            return
        try:
            name = await self._what_is(path)
        except TokentuiError as error:
            self.notice.say(_damage(path, error), "warning")
            return
        if name:
            self.notice.say(f"{safe(os.path.basename(path), limit=60)} is a tokenizer: {name}", "success")

    def on_virtual_table_cursor_moved(self) -> None:
        """Say what the file under the cursor is."""
        self._tell_row()

    def on_descendant_focus(self) -> None:
        """Say what the file under the cursor is."""
        self._tell_row()

    def _tell_row(self) -> None:
        row = self.listing.row_at(self.listing.cursor)
        match row.key if row and self.focused is self.listing else None:
            case ("open", str(source)) if not source.startswith(_SAMPLE):
                self.notice.say("")
                self.run_worker(self._tell_what(os.path.expanduser(source)), group="what", exclusive=True)


def with_split(typed: str) -> tuple[str, str]:
    """A path, and the split that is named behind it: `ranks.tiktoken split=cl100k`."""
    path, space, last = typed.rpartition(" ")
    return (path.rstrip(), last.removeprefix(_SPLIT)) if space and path and last.startswith(_SPLIT) else (
        typed, "")


def _damage(path: str, error: TokentuiError) -> str:
    """Return the error in a file and its position, on one line without the folder."""
    return safe_line(f"{error.where.replace(path, os.path.basename(path))}: {error.what}", limit=300)


def _sample_sizes() -> dict[str, int]:
    sizes = {}
    for sample in samples():
        try:
            sizes[sample.name] = sample.size
        except OSError:
            continue
    return sizes


def _recent_cells(source: str) -> tuple[Cell, ...]:
    folder, name = os.path.split(source.rstrip("/"))
    return ((f" {safe(name or source)}", ""),), ((safe(folder), "muted"),), ()
