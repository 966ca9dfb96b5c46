"""The dialogs of the playground: add a tokenizer, save or export."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.core import sandbox
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.files import write_whole
from tokentui.core.safetext import safe
from tokentui.preset_table import PRESETS, Preset
from tokentui.session.commands import ListPlayable
from tokentui.session.playground import FIRST_PRESET, SAMPLE, Playable, preset_played
from tokentui.ui.bindings import Hint
from tokentui.ui.dialogs import Dialog, draft, labeled_input
from tokentui.ui.dialogs.open import AddScreen
from tokentui.ui.dialogs.picker import in_thread
from tokentui.ui.draw.table import Column, Listing, TableRow, heading
from tokentui.ui.field import Field
from tokentui.ui.guard import start_worker
from tokentui.ui.link import EngineLink


class PlayAddScreen(AddScreen):
    """Asks for a tokenizer: a file, one of the last sessions, an encoding by name, or a preset, which is
    trained on a sample. Its result is the column; None if it was cancelled.

    Args:
        engine: The link to the session.
    """

    PLACEHOLDER = "a tokenizer file or folder, an encoding, a preset"

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine, "Add a tokenizer", PRESETS[FIRST_PRESET].recipe)
        self._playable = Playable((), (), ())

    def on_mount(self) -> None:
        """Load the list of available tokenizers in a worker."""
        start_worker(self, "playable", self._look_for_tokenizers)

    async def _look_for_tokenizers(self) -> None:
        """Ask the session for the available tokenizers, and list them. After an error the list stays as it
        is."""
        try:
            self._playable = await self.engine.ask(ListPlayable())
        except (TokentuiError, Cancelled):
            return
        self.show_rows()

    def rows(self, typed: str) -> Iterator[TableRow]:
        """Yield the recent tokenizers, encodings, how to get others, and presets; with a typed text, only
        those that match it."""
        lowered = typed.lower()
        if files := [path for path in self._playable.files if lowered in path.lower()]:
            yield heading("Of the last sessions")
            for path in files:
                folder, name = os.path.split(path.rstrip("/"))
                yield _row(("open", path), name or path, folder)
        if names := [name for name in self._playable.encodings if lowered in name]:
            yield heading("Encodings by name")
            yield from (_row(("open", name), name, "its file is here") for name in names)
        missing = [(name, url) for name, url in self._playable.missing if lowered in name]
        if missing or not typed:
            yield heading("How to get one")
        if not typed:
            yield _row(("type", "hf:"), "hf:OWNER/NAME", "downloads a tokenizer of the hub: type its name")
        yield from (_row(("get", name), name, "enter copies the address of its file") for name, _ in missing)
        for place, (family, found) in enumerate(draft.families(typed)):
            yield heading(family, "" if place else f"presets, trained on {SAMPLE}")
            yield from (_row(("preset", preset.name), preset.name, preset.about) for preset in found)

    def choose(self, kind: str, name: str) -> None:
        """Start a name in the line, copy an address, or open the path or preset of the row."""
        if kind == "type":
            self.set_focus(self.field)
            self.field.put(name)
        elif kind == "get":
            url = dict(self._playable.missing)[name]
            self.app.copy_to_clipboard(url)
            self.notice.say(f"address copied: save its file in this folder, then type {name} again", "muted")
        else:
            super().choose(kind, name)

    def _take_preset(self, preset: Preset) -> None:
        self.dismiss(preset_played(preset.name).wanted)


def _row(key: tuple[str, str], name: str, about: str) -> TableRow:
    return TableRow(key, (((f" {safe(name, limit=60)}", ""),), ((safe(about, limit=200), "muted"),), ()))


KINDS: dict[str, tuple[str, str, str]] = {
    "text": ("text", "the text as it is, byte for byte", "prompt.txt"),
    "json": ("ids, JSON", "the ids of the first tokenizer as a list", "ids.json"),
    "uint32": ("ids, uint32", "the same as numbers of 32 bits, for numpy.memmap", "ids.bin"),
    "html": ("page", "all tokens as chips with their ids, as HTML", "tokens.html"),
    "svg": ("picture", "this screen, as SVG", "playground.svg"),
    "command": ("command", "a command that opens this again; enter copies it", ""),
}
"""What can be saved: its name, what it is, and its usual file."""
Contents = Callable[[str], Awaitable[bytes]]
"""Returns the bytes of one of `KINDS`."""


class PlaySaveScreen(Dialog[str]):
    """Asks what to save and where, and writes it. Its result is the path of a saved text; "" for other files,
    and for what was copied or downloaded.

    Args:
        engine: The link to the session.
        contents: Returns the bytes of a kind.
        command: Returns the command that opens the playground again.
        stem: The suggested path of the text; empty for the usual one.
    """

    HEADING = "Save or export"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "write", "write", id="play_save.write",
            tooltip="Write the file, or copy the command"),
        Binding("up", "move(-1)", "kind", group=Hint("kind", count=2)),
        Binding("down", "move(1)", "kind", group=Hint("kind", count=2)),
    ]

    def __init__(
        self, engine: EngineLink, contents: Contents, command: Callable[[], str], stem: str = ""
    ) -> None:
        super().__init__(engine)
        self._contents, self._command, self._stem = contents, command, stem
        self._named = ""
        """The path that was put into the field, not typed."""
        self._confirmed = ""
        """The path of which it was said that a file is there."""
        columns = (Column(width=14, priority=2), Column(flex=1, min_width=20))
        self.listing = Listing(columns, id="kinds")
        self.field = Field(placeholder="a file", select=False)
        prompt = "Download as >" if sandbox.sealed() else "Write to >"
        self.parts = self.listing, labeled_input(prompt, self.field), self.notice

    def on_mount(self) -> None:
        """List the kinds of files, focus the line of the path, and suggest a path for the first kind."""
        rows = [
            TableRow(kind, (((f" {name}", ""),), ((about, "muted"),)))
            for kind, (name, about, _) in KINDS.items()
        ]
        self.listing.show(rows)
        self.set_focus(self.field)
        self._show_kind()
        self.fit_height(len(rows) + 2)

    @property
    def kind(self) -> str:
        """The kind of file under the cursor."""
        return str(self.listing.cursor_key)

    def action_move(self, rows: int) -> None:
        """Move the cursor by kinds, around the end; the suggested path follows."""
        self.listing.move_to((self.listing.cursor + rows) % len(KINDS))
        self._show_kind()

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Suggest a path for the kind that was clicked."""
        self._show_kind()

    def _show_kind(self) -> None:
        """Put the usual path of the kind into the line, unless the user has changed the line. For a command,
        show it in the notice; otherwise clear the notice."""
        usual = self._stem if self.kind == "text" and self._stem else KINDS[self.kind][2]
        if self.field.value == self._named:
            self._named = usual
            self.field.put(usual)
        self.notice.say(self._command() if self.kind == "command" else "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write the file, see `action_write`."""
        self.action_write()

    def action_write(self) -> None:
        """Copy the command and close, or write the file in a worker. If the line is empty, show an error."""
        if self.kind == "command":
            line = self._command()
            self.app.copy_to_clipboard(line)
            self.app.say(f"copied: {line}")
            self.dismiss("")
        elif not self.field.value.strip():
            self.notice.say("name a file", "error")
        else:
            start_worker(self, "write", self._write, self.kind, self.field.value)

    async def _write(self, kind: str, typed: str) -> None:
        """Write a kind to a typed path, and close with the path for a text, otherwise with "". If the file
        exists, ask for a second enter. A served session downloads the file. Errors are shown in the notice.
        """
        path = sandbox.expanded(typed)
        try:
            if sandbox.sealed():
                from tokentui.ui.delivery import deliver

                deliver(self.app, path, await self._contents(kind))
                self.dismiss("")
                return
            sandbox.check_writing(path)
            if self._confirmed != path and await in_thread(partial(os.path.lexists, path)):
                self._confirmed = path
                there = f"{safe(path, limit=200)} exists already: enter again overwrites it"
                self.notice.say(there, "warning")
                return
            data = await self._contents(kind)
            await in_thread(partial(write_whole, path, data))
        except (TokentuiError, Cancelled) as error:
            self.notice.tell(error)
        except OSError as error:
            self.notice.say(f"{path}: {error.strerror or error}", "error")
        else:
            self.app.say(f"{path}: written, {len(data):,} bytes")
            self.dismiss(path if kind == "text" else "")
