"""A line to type a path into, with completion, and below it a list of what the path may become.

Not Textual's DirectoryTree: it draws names as they are, and a folder that never answers would hold up its
worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.suggester import SuggestionReady
from textual.widgets import Input

from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.core.files import status_of
from tokentui.core.safetext import is_safe, safe
from tokentui.text.sources import samples
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import Dialog, labeled_input
from tokentui.ui.draw.figures import size as size_text
from tokentui.ui.draw.table import Column, Listing, TableRow, heading
from tokentui.ui.draw.text import Cell
from tokentui.ui.field import Field
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink

T = TypeVar("T")

SAMPLES = "sample:"
"""The beginning of the name of a corpus that is built in: it counts as a folder."""
MOST_ENTRIES = 2000
"""The maximum number of entries that are listed; those that come first in the order are."""

_LOOK_EVERY = 1000  # entries between two looks at `cancel`


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder.

    Attributes:
        name: The name.
        folder: True for a folder.
        size: The bytes of a file; None for a folder or if they are not known.
    """

    name: str
    folder: bool
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """The entries of `folder` whose names begin with `prefix`, folders first, then by name.

    Attributes:
        folder: The folder, `sample:` for the built-in samples.
        prefix: The beginning of the names.
        entries: The entries, at most `MOST_ENTRIES`.
        more: True if there are more.
        error: Why the folder cannot be listed; empty if it can.
    """

    folder: str
    prefix: str
    entries: tuple[Entry, ...] = ()
    more: bool = False
    error: str = ""

    def beginning(self, folder: str, prefix: str) -> tuple[Entry, ...] | None:
        """Return the entries of a folder whose names begin with a prefix; None if they are not known and the
        disk has to be read."""
        hides = not self.prefix and prefix.startswith(".")
        narrower = prefix.startswith(self.prefix) and not self.more and not hides
        if folder != self.folder or (prefix != self.prefix and not narrower):
            return None
        return tuple(entry for entry in self.entries if entry.name.startswith(prefix))


async def in_thread(call: Callable[[], T]) -> T:
    """Return the result of a blocking call, such as one that reads a disk, without blocking the event loop.
    Raises what the call raises.

    It runs in a daemon thread of its own: a network folder that never answers blocks neither the threads of
    the engine nor the end of the program. A cancellation does not stop the call.
    """
    found: Future[T] = Future()
    found.set_running_or_notify_cancel()

    def run() -> None:
        try:
            found.set_result(call())
        except Exception as error:
            found.set_exception(error)

    threading.Thread(target=run, name="tokentui-disk", daemon=True).start()
    return await asyncio.wrap_future(found)


async def look_at(path: str) -> os.stat_result:
    """Return the status of a file, without blocking the event loop.

    Raises:
        TokentuiError: The name is invalid, or a served session does not allow the path.
        OSError: The file does not exist or cannot be read.
    """
    return await in_thread(lambda: status_of(path))


def reason(error: OSError | ValueError | TokentuiError) -> str:
    """Return in a few words why a path cannot be read, not safe for a terminal. A NUL in its name is a
    `ValueError`."""
    if isinstance(error, TokentuiError):
        return error.what
    return ((error.strerror if isinstance(error, OSError) else None) or str(error)).lower()


def parts(typed: str) -> tuple[str, str]:
    """Return the folder of a typed path, with `~` expanded, and the beginning of a name in it. Without a
    slash the folder is "."; for a sample it is `sample:`."""
    if typed.startswith(SAMPLES):
        return SAMPLES, typed.removeprefix(SAMPLES)
    head, slash, name = typed.rpartition("/")
    return (sandbox.expanded(head + slash) if slash else "."), name


def list_folder(folder: str, prefix: str, cancel: Callable[[], bool] = lambda: False) -> Listed:
    """Return the first `MOST_ENTRIES` entries of a folder whose names begin with a prefix, and whether there
    are more. Skip names that begin with a dot unless the prefix does.

    `sample:` lists all built-in samples. In a served session `.` lists the served files, and other folders
    are refused. A folder that is refused or cannot be read sets `Listed.error`.

    Args:
        folder: Its path.
        prefix: The beginning of the names.
        cancel: Called repeatedly; if it returns True, the listing ends with the entries found so far.
    """
    if sandbox.sealed() and folder != SAMPLES:
        if folder != ".":
            return Listed(folder, prefix, error=sandbox.REFUSED)
        names = [name for name in sandbox.served() if name.startswith(prefix)]
        return Listed(folder, prefix, tuple(Entry(name, False) for name in names))
    if folder == SAMPLES:
        found = [Entry(sample.name, False) for sample in samples() if sample.name.startswith(prefix)]
        return Listed(folder, prefix, tuple(found))
    try:
        with os.scandir(folder) as scan:
            first = heapq.nsmallest(MOST_ENTRIES + 1, _matching(scan, prefix, cancel), key=_order)
    except (OSError, ValueError) as error:
        return Listed(folder, prefix, error=reason(error))
    entries = []
    for entry, is_folder in first[:MOST_ENTRIES]:
        size = None
        with contextlib.suppress(OSError):
            size = None if is_folder else entry.stat().st_size
        entries.append(Entry(entry.name, is_folder, size))
    return Listed(folder, prefix, tuple(entries), len(first) > MOST_ENTRIES)


def _order(found: tuple[os.DirEntry[str], bool]) -> tuple[bool, str, str]:
    """Return the sort key of an entry: folders first, then by name without case."""
    entry, is_folder = found
    return not is_folder, entry.name.casefold(), entry.name


def _matching(
    scan: Iterator[os.DirEntry[str]], prefix: str, cancel: Callable[[], bool]
) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Yield each entry whose name begins with a prefix, and whether it is a folder. Skip names with a leading
    dot if the prefix is empty. Call `cancel` every `_LOOK_EVERY` entries, and end if it returns True."""
    for number, entry in enumerate(scan):
        if number % _LOOK_EVERY == 0 and cancel():
            return
        if entry.name.startswith(prefix) and (prefix or not entry.name.startswith(".")):
            is_folder = False
            with contextlib.suppress(OSError):
                is_folder = entry.is_dir()
            yield entry, is_folder


Result = TypeVar("Result")


class Picker(Dialog[Result]):
    """Asks for a path, or for a row of the list.

    A subclass gives `PLACEHOLDER`, `COLUMNS` (the name, what it is, its size), the rows above those of the
    folder (`rows`), and opens a path (`open_path`). The key of a row is its kind and its name: `("open",
    path)`, `("enter", folder)`, or a kind of the subclass, which `choose` handles.

    Args:
        engine: The link to the session.
        heading: The title; empty for `HEADING`.
    """

    PLACEHOLDER: ClassVar[str] = ""
    COLUMNS: ClassVar[Sequence[Column]] = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", id="picker.complete", group=Hint(pane="line"),
            tooltip="Complete the line"),
        Binding("tab", HANDLED, "back to the line", group=Hint(pane="list")),
        Binding("down", "to_list", "list", id="picker.list", group=Hint(pane="line"),
            tooltip="Go from the line to the list"),
        Binding("ctrl+u", "clear_line", "clear the line", show=False),
    ]
    """The keys that all have; a subclass puts them among its own."""

    def __init__(self, engine: EngineLink, heading: str = "") -> None:
        super().__init__(engine, heading)
        # Held, not looked up: a listing may come when the screen has been taken apart.
        self.field = Field(placeholder=self.PLACEHOLDER, select=False)
        self.listing = Listing(self.COLUMNS)
        self._listed = Listed("", "")
        self._shown_for: str | None = None
        """The typed text whose rows are shown."""
        self.parts = labeled_input(">", self.field), self.listing, self.notice

    def on_mount(self) -> None:
        """Focus the line, show the rows that are known, and list the present folder."""
        self.look("")
        self.show_rows()
        self.set_focus(self.field)

    # What a subclass says.

    def rows(self, typed: str) -> Iterator[TableRow]:
        """Yield the rows above those of the folder for a typed text; none by default."""
        yield from ()

    async def open_path(self, typed: str, path: str) -> None:
        """Open the typed text, and close the dialog or show the error. Runs in a worker.

        Args:
            typed: The text.
            path: The text with `~` expanded.
        """
        raise NotImplementedError

    def choose(self, kind: str, name: str) -> None:
        """Act on a row with the key `(kind, name)` other than a folder to enter; by default, open its path.
        """
        self.submit(name)

    def submit(self, typed: str) -> None:
        """Cancel a listing in progress, and open a typed text, which is not empty, in a worker."""
        # A listing that is under way would write its error over the answer to enter.
        self.workers.cancel_group(self, "listing")
        start_worker(self, "opening", self.open_path, typed, sandbox.expanded(typed))

    # What is listed.

    def on_input_changed(self, event: Input.Changed) -> None:
        """Clear the notice, and list the folder of the typed path."""
        self.notice.say("")
        self.look(event.value)

    def look(self, typed: str) -> None:
        """Show the rows for the typed text: at once if its folder is known, otherwise after a worker has
        listed it."""
        if self._beginning(typed) is None:
            start_worker(self, "listing", self.listed, typed)
        else:
            self.show_rows()

    async def listed(self, typed: str) -> bool:
        """List the folder of the typed text in a thread unless it is known, and show its rows if they fit the
        text in the line by then. Return whether the line still holds the typed text.

        A cancellation stops the listing.
        """
        if self._beginning(typed) is None:
            stop = threading.Event()
            try:
                listed = await in_thread(lambda: list_folder(*parts(typed), stop.is_set))
            finally:
                stop.set()
            if listed.beginning(*parts(self.field.value)) is not None:
                self._listed = listed
                self.show_rows()
        return typed == self.field.value

    def _beginning(self, typed: str) -> tuple[Entry, ...] | None:
        """Return the entries that begin with the typed text; None until its folder is listed."""
        return self._listed.beginning(*parts(typed))

    def show_rows(self) -> None:
        """Show the rows for the text in the line, and mark the one that enter opens.

        Suggests the first name in the line. Errors of the folder and a listing that is cut are shown in the
        notice.
        """
        typed, listing, listed = self.field.value, self.listing, self._listed
        kept = listing.cursor_key if self.focused is listing else None
        self._shown_for = typed
        known, there = [*self.rows(typed)], [*self._folder_rows(typed)]
        listing.show(there + known if sandbox.sealed() else known + there, keep=kept)
        self.mark_row()
        if (entries := self._beginning(typed)) is None:
            return
        name = next(filter(is_safe, map(_completed, entries)), None)
        if typed and name:
            head = typed[: len(typed) - len(parts(typed)[1])]
            # A `Suggester` would ask the disk a second time for what is listed.
            self.field.post_message(SuggestionReady(typed, head + name))
        if listed.error:
            self.notice.say(f"{safe(listed.folder)}: {listed.error}", "error")
        elif listed.more:
            self.notice.say(f"the first {MOST_ENTRIES:,} are listed: type more of the name")

    def mark_row(self) -> None:
        """Mark the row that enter opens. If the list has the focus, that is the row under the cursor.
        Otherwise move the cursor to the row of the typed text, or to the first; mark it only if enter takes a
        row."""
        typed, listing = self.field.value, self.listing
        if self.focused is not listing:
            own = listing.index_of(("open", typed))
            listing.move_to(own or 0)
            listing.mark(own is not None or self.takes_row(typed))
        else:
            listing.mark(True)

    def takes_row(self, typed: str) -> bool:
        """Return whether enter takes the marked row instead of the typed text: the folder is listed, and no
        entry has exactly the typed name, also if none matches. False for an empty name except in `sample:`,
        for `.` and `..`, and for `~name` without a slash."""
        folder, prefix = parts(typed)
        if folder != SAMPLES and (prefix in ("", ".", "..") or (typed == prefix and typed.startswith("~"))):
            return False
        entries = self._beginning(typed)
        return entries is not None and all(entry.name != prefix for entry in entries)

    def _folder_rows(self, typed: str) -> Iterator[TableRow]:
        """Yield a heading and the entries of the folder of a typed text with their sizes. If no name is typed
        and the session is not served, yield the whole folder and the one above before them.

        Yield nothing for samples, for a folder that is not listed or has an error, and if no name matches.
        """
        (folder, prefix), entries = parts(typed), self._beginning(typed)
        if folder == SAMPLES or entries is None or self._listed.error or (prefix and not entries):
            return
        head = typed[: len(typed) - len(prefix)]
        if sandbox.sealed():
            yield heading("Served here")
        else:
            yield heading("Folder" if folder == "." else f"Folder {safe(folder)}", "sizes on disk")
        if not prefix and not sandbox.sealed():
            yield from self.whole_folder(head)
            if (above := folder_above(head)) is not None:
                yield TableRow(("enter", above), (((" ../", ""),), (("the folder above", "muted"),), ()))
        for entry in entries:
            key = "enter" if entry.folder else "open", head + _completed(entry)
            size: Cell = () if entry.size is None else ((size_text(entry.size), "muted"),)
            yield TableRow(key, (((f" {safe(_completed(entry))}", ""),), (), size))

    def whole_folder(self, head: str) -> Iterator[TableRow]:
        """Yield a row that opens a folder as a whole; none by default.

        Args:
            head: The folder as it is typed, with its slash; empty for the present one.
        """
        yield from ()

    # What the user does.

    def action_complete(self) -> None:
        """Complete the typed text by what all matching names have in common. If that adds nothing, move to
        the list; from the list, move back to the line. If the folder is not listed yet, complete when it is.
        """
        if self.focused is self.listing:
            self.set_focus(self.field)
            return
        typed = self.field.value
        if self._beginning(typed) is None:  # the listing is on its way: to the list only without one
            start_worker(self, "completing", self._complete_listed, typed)
            return
        begun = parts(typed)[1]
        # Names, not paths: what they have in common may end inside a word.
        names = [_completed(entry) for entry in self._beginning(typed) or ()]
        common = os.path.commonprefix(names)  # noqa: RUF071
        if len(common) > len(begun):
            self.field.put(typed[: len(typed) - len(begun)] + common)
        else:
            self.action_to_list()

    async def _complete_listed(self, typed: str) -> None:
        """Complete the typed text after its folder is listed, if the line still holds it."""
        if await self.listed(typed) and self._beginning(typed) is not None:
            self.action_complete()

    def type_into(self, line: Field, text: str) -> None:
        """Append a text to the line, and focus it; a pasted absolute path replaces the line."""
        whole = os.path.isabs(text) or text.startswith(("~", SAMPLES))
        if len(text) > 1 and whole:
            line.put("")
        super().type_into(line, text)

    def action_clear_line(self) -> None:
        """Clear the line, and focus it."""
        self.field.put("")
        self.set_focus(self.field)

    def action_to_list(self) -> None:
        """Focus the list, after showing the rows for the text in the line; do nothing if there are none.

        Until the folder is listed its rows may be missing.
        """
        if self._shown_for != self.field.value:
            self.show_rows()
        if self.listing.rows:
            self.set_focus(self.listing)

    def on_descendant_focus(self) -> None:
        """Mark the row that enter opens."""
        self.mark_row()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open the typed text; for an empty line, move to the list."""
        if event.value:
            self.submit(event.value)
        else:
            self.action_to_list()

    async def row_taken(self, typed: str) -> bool:
        """Act on the marked row after the folder is listed. Return whether it did.

        It does not if the line has changed meanwhile, if enter takes the typed text, or if the row stands for
        that text.
        """
        if not await self.listed(typed) or not self.takes_row(typed):
            return False
        return self.listing.cursor_key != ("open", typed) and self.choose_row(self.listing.cursor_key)

    def choose_row(self, key: Hashable) -> bool:
        """Act on the row with a key: put a folder into the line, or call `choose`. Return False, and do
        nothing, for a key of another form."""
        match key:
            case ("enter", str(folder)):
                self.field.put(folder)
            case (str(kind), str(name)):
                self.choose(kind, name)
            case _:
                return False
        return True

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Act on the row."""
        self.choose_row(event.key)


def _completed(entry: Entry) -> str:
    """Return the name of an entry as one types it, a folder with a slash."""
    return entry.name + "/" * entry.folder


def folder_above(head: str) -> str | None:
    """Return the folder above a typed one, as one types it; None above the root.

    Args:
        head: The folder with its slash; empty for the present one.
    """
    folder = head.rstrip("/")
    last = folder.rpartition("/")[2]
    if not folder:
        return None if head else "../"
    if last in (".", ".."):
        return f"{head}../"
    if folder.startswith("~") and last == folder:
        return os.path.dirname(sandbox.expanded(folder)).rstrip("/") + "/"
    return folder[: len(folder) - len(last)]
