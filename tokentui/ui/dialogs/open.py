"""Open a corpus or a tokenizer: a path with completion; below it what was opened last, what is built in, what is in the folder.

What a file is is told by its content: a line says which tokenizer it is, and nothing where it is a corpus.
"""

from __future__ import annotations

import asyncio
import glob
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Input, Static

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import is_safe, safe, safe_line
from tokentui.session.catalog import Sample, find_sample, samples
from tokentui.ui.dialogs.dialog import Dialog, Hint, Notice
from tokentui.ui.dialogs.field import Field
from tokentui.ui.dialogs.folder import MOST_ENTRIES, Entry, Listed, aside, list_folder, parts
from tokentui.ui.dialogs.listing import Listing
from tokentui.ui.draw.figures import size as size_text
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, join

READ_AS: tuple[str | None, ...] = (None, "text", "lines", "jsonl", "counts")
"""The ways to read a file in the order in which a key goes through them; None goes by its name."""

Recognise = Callable[[str], Awaitable[str]]
"""Tells what a file is."""

_SAMPLE = "sample:"
_SPLIT = "split="
_COLUMNS = (
    Column(flex=3, min_width=12, priority=2), Column(flex=4, min_width=14), Column(width=9, align="right", priority=1),
)


@dataclass(frozen=True, slots=True)
class OpenChoice:
    """What to open: a corpus as the command line names it, and how to read it (None: by its name); or a tokenizer file, with the
    `split` that was named for one that holds none."""

    source: str
    as_: str | None
    tokenizer: bool = False
    split: str = ""


class _Completer(Suggester):
    """Shows how the path being typed may go on."""

    def __init__(self, screen: OpenScreen) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._screen = screen

    async def get_suggestion(self, value: str) -> str | None:
        """The first of the names that begin like what was typed, once they are known."""
        return await self._screen.suggestion(value)


class OpenScreen(Dialog[OpenChoice | None]):
    """Asks which corpus or tokenizer to open. Its result is an `OpenChoice`, None if it was left.

    A tokenizer file that holds no split takes one behind its path: `cl100k_base.tiktoken split=cl100k`.

    Args:
        recent: Sources that were opened before, newest first.
        start: The folder to look into at first.
        recognise: Asked what a file is: the name of a tokenizer's format, empty for a corpus. None takes all files for corpora.
    """

    HEADING = "Open"
    HINTS: ClassVar[tuple[Hint, ...]] = (
        ("enter", "open"), ("tab", "complete"), ("↓", "list"), ("ctrl+t", "read as"), ("esc", "leave"),
    )
    LIST_HINTS: ClassVar[tuple[Hint, ...]] = (
        ("enter", "open"), ("tab", "back to the path"), ("ctrl+t", "read as"), ("esc", "leave"),
    )
    DEFAULT_CSS = """
    OpenScreen .line { height: 1; margin-bottom: 1; }
    OpenScreen.-short .line { margin-bottom: 0; }
    OpenScreen .prompt { width: 2; color: $text-accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", show=False),
        Binding("down", "to_list", "To the list", show=False),
        Binding("ctrl+t", "read_as", "Read as", show=False),
    ]

    def __init__(self, recent: Sequence[str] = (), start: str = ".", recognise: Recognise | None = None) -> None:
        super().__init__()
        self._recognise = recognise
        self._recent = tuple(recent)
        self._start = "" if start in ("", ".") else start.rstrip("/") + "/"
        # Held, not looked up: a completion may come when the screen has been taken apart.
        self.field = Field(placeholder="a file, a folder, a glob; a tokenizer file", select=False, suggester=_Completer(self))
        self.listing = Listing(_COLUMNS)
        self.notice = Notice()
        self._sizes: dict[str, int] = {}
        self._listed = Listed("", "")
        self._came = asyncio.Event()
        self._as: str | None = None
        self._doubtful = ""
        """The path of which it was said that it is a damaged tokenizer: the next enter opens it as a text."""

    def compose_box(self) -> ComposeResult:
        """The path, the list, and a line for what is wrong."""
        with Horizontal(classes="line"):
            yield Static(">", classes="prompt", markup=False)
            yield self.field
        yield self.listing
        yield self.notice

    def on_mount(self) -> None:
        """Show what is known at once, the rest as it comes."""
        self._say_as()
        self._type(self._start)
        self._look(self._start)
        self._show()
        self.run_worker(self._measure(), group="sizes")

    # What is listed.

    async def suggestion(self, value: str) -> str | None:
        """How a path being typed may go on, once its folder has been listed; None if it cannot, or was typed over."""
        while value == self.field.value:
            if (names := self._names(value)) is not None:
                name = next((name for name in names if is_safe(name)), None)
                return None if name is None else value[: len(value) - len(_name_of(value))] + name
            await self._came.wait()
        return None

    def on_input_changed(self, event: Input.Changed) -> None:
        """List what begins like it, and say what it is where it is a tokenizer."""
        self.notice.say("")
        self._doubtful = ""
        self._look(event.value)
        if event.value and not event.value.startswith(_SAMPLE):
            self.run_worker(self._tell_what(os.path.expanduser(with_split(event.value)[0])), group="what", exclusive=True)

    def _look(self, typed: str) -> None:
        self._tell()
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
        self._tell()

    async def _measure(self) -> None:
        self._sizes = await aside(_sample_sizes)
        self._show()

    def _tell(self) -> None:
        came, self._came = self._came, asyncio.Event()
        came.set()

    def _names(self, typed: str) -> list[str] | None:
        """The names that what was typed may become, folders with a slash; None while they are not known."""
        if typed.startswith(_SAMPLE):
            return [sample.name for sample in samples() if sample.name.startswith(_name_of(typed))]
        folder, prefix = parts(typed)
        if not self._listed.answers(folder, prefix):
            return None
        return [entry.name + "/" * entry.folder for entry in self._listed.beginning(prefix)]

    def _show(self) -> None:
        typed = self.field.value
        listing = self.listing
        listing.show(list(self._rows(typed)), keep=listing.cursor_key if self.focused is listing else None)
        self._mark()
        folder, prefix = parts(typed)
        if typed.startswith(_SAMPLE) or not self._listed.answers(folder, prefix):
            return
        if self._listed.error:
            self.notice.say(f"{safe(folder)}: {self._listed.error}", "error")
        elif self._listed.more:
            self.notice.say(f"the first {MOST_ENTRIES:,} are listed: type more of the name")

    def _mark(self) -> None:
        """Mark the row that enter takes: what was typed where that is listed, else the first one; none where enter takes what was
        typed, or goes to the list."""
        typed, listing = self.field.value, self.listing
        if self.focused is not listing:
            own = listing.index_of(("open", typed))
            listing.move_to(own or 0)
            listing.mark(own is not None or self._takes_row(typed))
        else:
            listing.mark(True)

    def _takes_row(self, typed: str) -> bool:
        """Whether enter takes a row and not what was typed, as far as that can be told without looking at the disk."""
        folder, prefix = parts(typed)
        if not typed or typed == "-" or glob.has_magic(typed) or with_split(typed)[1]:
            return False
        if typed.startswith(_SAMPLE):
            return True
        if prefix in (".", "..") or (typed.startswith("~") and "/" not in typed) or not self._listed.answers(folder, prefix):
            return False
        return bool(prefix) and all(entry.name != prefix for entry in self._listed.entries)

    def _rows(self, typed: str) -> Iterator[TableRow]:
        wanted = typed.lower()
        found = [source for source in self._recent if wanted in source.lower()]
        if found:
            yield _heading("Recent")
            yield from (TableRow(("open", source), _recent_cells(source)) for source in found)
        built_in = [sample for sample in samples() if wanted in f"{_SAMPLE}{sample.name} {sample.title}".lower()]
        if built_in:
            yield _heading("Built in")
            for sample in built_in:
                yield TableRow(("open", _SAMPLE + sample.name), self._sample_cells(sample))
        folder, prefix = parts(typed)
        if typed.startswith(_SAMPLE) or not self._listed.answers(folder, prefix) or self._listed.error:
            return
        head = typed[: len(typed) - len(prefix)]
        yield _heading("Folder" if folder == "." else f"Folder {safe(folder)}", "sizes on disk")
        if not prefix:
            yield TableRow(("open", head or "."), (((" ./", ""),), (("its text files, as one corpus", "muted"),), ()))
            if (above := _above(head)) is not None:
                yield TableRow(("enter", above), (((" ../", ""),), (("the folder above", "muted"),), ()))
        for entry in self._listed.beginning(prefix):
            key = ("enter", f"{head}{entry.name}/") if entry.folder else ("open", head + entry.name)
            yield TableRow(key, _entry_cells(entry))

    def _sample_cells(self, sample: Sample) -> tuple[Cell, ...]:
        known = self._sizes.get(sample.name)
        size: Cell = () if known is None else ((size_text(known), "muted"),)
        return ((f" {sample.name}", ""),), ((safe(sample.title), "muted"),), size

    # What the user does.

    def action_read_as(self) -> None:
        """Read files in the next way."""
        self._as = READ_AS[(READ_AS.index(self._as) + 1) % len(READ_AS)]
        self._say_as()

    def action_complete(self) -> None:
        """Write what all names have in common; where that is nothing more, go to the list; from the list, back."""
        if self.focused is self.listing:
            self.set_focus(self.field)
            return
        typed = self.field.value
        begun = _name_of(typed)
        # Names, not paths: what they have in common may end inside a word.
        common = os.path.commonprefix(self._names(typed) or [])  # noqa: RUF071
        if len(common) > len(begun):
            self._type(typed[: len(typed) - len(begun)] + common)
        else:
            self.action_to_list()

    def action_to_list(self) -> None:
        """Go to the list."""
        if self.listing.rows:
            self.set_focus(self.listing)

    def on_descendant_focus(self) -> None:
        """Show the keys of what has the focus."""
        self.hints.say(self.LIST_HINTS if self.focused is self.listing else self.HINTS)
        self._mark()
        self._tell_row()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open what was typed."""
        if event.value:
            self._open(event.value)
        else:
            self.action_to_list()

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Open what was chosen, or go into the folder."""
        self._take(event.index)

    def _take(self, index: int) -> bool:
        """Open what a row stands for, or go into its folder. Returns whether it stands for anything."""
        row = self.listing.row_at(index)
        match row.key if row else None:
            case ("open", str(source)):
                self._open(source)
            case ("enter", str(folder)):
                self._type(folder)
            case _:
                return False
        return True

    def _type(self, text: str) -> None:
        self.field.value = text
        self.field.cursor_position = len(text)

    def _open(self, source: str) -> None:
        if source == "-":
            self.notice.say("standard input is the keyboard here: name a file", "error")
        elif source.startswith(_SAMPLE):
            try:
                find_sample(source.removeprefix(_SAMPLE))
            except TokentuiError as error:
                if source != self.field.value or not self._take(self.listing.cursor):
                    self.notice.say(safe_line(error), "error")
            else:
                self.dismiss(OpenChoice(source, self._as))
        else:
            self.run_worker(self._open_path(source, os.path.expanduser(source)), group="opening", exclusive=True)

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
        """Take the row that is marked, once what begins like what was typed is listed. Returns whether there is one."""
        while typed == self.field.value and not self._listed.answers(*parts(typed)):
            await self._came.wait()
        if typed != self.field.value or not self._takes_row(typed) or self.listing.cursor_key == ("open", typed):
            return False
        return self._take(self.listing.cursor)

    async def _what_is(self, path: str) -> str:
        """The name of a tokenizer's format, empty for a corpus.

        Raises:
            TokentuiError: It is a damaged tokenizer.
        """
        if self._recognise is None:
            return ""
        try:
            return await self._recognise(path)
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

    def on_virtual_table_cursor_moved(self, event: Listing.CursorMoved) -> None:
        """Say what the file under the cursor is."""
        self._tell_row()

    def _tell_row(self) -> None:
        row = self.listing.row_at(self.listing.cursor)
        match row.key if row and self.focused is self.listing else None:
            case ("open", str(source)) if not source.startswith(_SAMPLE):
                self.notice.say("")
                self.run_worker(self._tell_what(os.path.expanduser(source)), group="what", exclusive=True)

    def _say_as(self) -> None:
        self.box.border_subtitle = join(((f"read as: {self._as or 'auto'}", ""),))


def with_split(typed: str) -> tuple[str, str]:
    """A path, and the split that is named behind it: `ranks.tiktoken split=cl100k`."""
    path, space, last = typed.rpartition(" ")
    return (path.rstrip(), last.removeprefix(_SPLIT)) if space and path and last.startswith(_SPLIT) else (typed, "")


def _damage(path: str, error: TokentuiError) -> str:
    """What is wrong with a file, and where in it, in a line without its folder."""
    return safe_line(f"{error.where.replace(path, os.path.basename(path))}: {error.what}", limit=300)


def _name_of(typed: str) -> str:
    """The part of what was typed that names begin with."""
    return typed.removeprefix(_SAMPLE) if typed.startswith(_SAMPLE) else parts(typed)[1]


def _above(head: str) -> str | None:
    """The folder above the one that was typed, as it would be typed; None above the root."""
    folder = head.rstrip("/")
    last = folder.rpartition("/")[2]
    if not folder:
        return None if head else "../"
    if last in (".", ".."):
        return f"{head}../"
    if folder.startswith("~") and last == folder:
        return os.path.dirname(os.path.expanduser(folder)).rstrip("/") + "/"
    return folder[: len(folder) - len(last)]


def _sample_sizes() -> dict[str, int]:
    sizes = {}
    for sample in samples():
        try:
            sizes[sample.name] = sample.size
        except OSError:
            continue
    return sizes


def _heading(title: str, about: str = "") -> TableRow:
    return TableRow(None, (((title, "strong"),), ((about, "muted"),) if about else (), ()))


def _recent_cells(source: str) -> tuple[Cell, ...]:
    folder, name = os.path.split(source.rstrip("/"))
    return ((f" {safe(name or source)}", ""),), ((safe(folder), "muted"),), ()


def _entry_cells(entry: Entry) -> tuple[Cell, ...]:
    size: Cell = () if entry.size is None else ((size_text(entry.size), "muted"),)
    return ((f" {safe(entry.name)}{'/' * entry.folder}", ""),), (), size
