"""Write the tokenizer of this step to a file: the formats, what each would lose of it, and the path."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.session.snapshot import Snapshot
from tokentui.ui.dialogs.dialog import Dialog, Hint, Notice
from tokentui.ui.dialogs.field import Field
from tokentui.ui.dialogs.listing import Listing
from tokentui.ui.draw.table import Column, TableRow
from tokentui.ui.draw.text import Cell, Run, join

if TYPE_CHECKING:
    from tokentui.session.catalog import ExportReport

Ask: TypeAlias = "Callable[[], Awaitable[Sequence[ExportReport]]]"
"""Tells what each format would lose."""
Write: TypeAlias = "Callable[[str, str, bool], Awaitable[ExportReport]]"
"""Writes to a path in a format, over what is there where the last is true. Raises what keeps it from that."""

_FORMATS = (Column(width=13, priority=3), Column(flex=3, min_width=20, priority=1), Column(flex=4, min_width=16, priority=2))


class ExportScreen(Dialog["tuple[str, ExportReport] | None"]):
    """Asks for a format and a path, and writes there. Its result is the path and what was written, None if it was left.

    Args:
        ask: Asked once for the formats.
        write: Writes; the dialog stays where that is refused, and says why.
        step: The step whose tokenizer it is, for the title; None where it is not there yet.
        stem: What a file of the project's own format is called at first, without its end.
        corpus: The corpus that the stem comes from.
    """

    HEADING = "Export"
    HINTS: ClassVar[tuple[Hint, ...]] = (("enter", "write"), ("↑↓", "format"), ("tab", "path"), ("esc", "leave"))
    DEFAULT_CSS = """
    ExportScreen #formats { height: 9; }
    ExportScreen.-short #formats { height: 1fr; }
    ExportScreen #losses { height: 1fr; margin: 1 2 0 2; }
    ExportScreen.-short #losses { display: none; }
    ExportScreen.-high > .dialog { height: 24; }
    ExportScreen .line { height: 1; }
    ExportScreen .prompt { width: 11; color: $text-accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,shift+tab", "other", "Other", show=False),
        Binding("enter", "write", "Write", show=False),
    ]

    def __init__(self, ask: Ask, write: Write, step: int | None, stem: str = "tokenizer", corpus: str = "") -> None:
        super().__init__()
        self._ask, self._write = ask, write
        self._step, self._stem, self._corpus = step, stem, corpus
        self._reports: dict[str, ExportReport] = {}
        self._named = ""
        """The path that was put into the field, not typed."""
        self._confirmed = ("", "")
        """The path and the format of which it was said that a file is there."""
        self._writing = False
        self.formats, self.losses = Listing(_FORMATS, id="formats"), Static("", id="losses", markup=False)
        self.field, self.notice = Field(placeholder="a file", select=False), Notice()

    def compose_box(self) -> ComposeResult:
        """The formats, what the one under the cursor would lose, and where to."""
        yield self.formats
        yield self.losses
        with Horizontal(classes="line"):
            yield Static("Write to >", classes="prompt", markup=False)
            yield self.field
        yield self.notice

    def on_mount(self) -> None:
        """Ask what there is to lose."""
        self._say_what()
        self.formats.focus()
        self.tell_waiting()
        self.run_worker(self._look(), group="formats", exclusive=True)

    def _say_what(self) -> None:
        self.box.border_title = "Export" if self._step is None else f"Export the tokenizer of step {self._step:,}"

    def follow(self, snapshot: Snapshot | None) -> None:
        """Take the step: what is written is the tokenizer that is seen, or the one that is walked to."""
        super().follow(snapshot)
        if snapshot is not None and self.is_mounted:
            self._step = None if snapshot.nothing or snapshot.partial else snapshot.step
            if snapshot.corpus_name != self._corpus and not snapshot.nothing:
                self._corpus, self._stem = snapshot.corpus_name, stem_of(snapshot.corpus_name)
            self._say_what()

    def tell_waiting(self) -> None:
        """Say it where it is said what goes on."""
        if self._writing:
            self.notice.say(self.waits or "writing, reading back and trying it on many texts …")
        elif not self._reports:
            self.notice.say(self.waits or "looking at the formats …")

    async def _look(self) -> None:
        try:
            reports = await self._ask()
        except Cancelled:
            return
        except TokentuiError as error:
            self.notice.say(safe_line(error), "error")
            return
        self._reports = {report.format: report for report in reports}
        self.formats.show([_row(report) for report in reports])
        self.notice.say("")
        self._follow()

    @property
    def chosen(self) -> ExportReport | None:
        """The format under the cursor."""
        return self._reports.get(str(self.formats.cursor_key))

    def on_virtual_table_cursor_moved(self, event: Listing.CursorMoved) -> None:
        """Show what this format would lose, and its usual name."""
        if event.control is self.formats:
            self._follow()

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Write."""
        if event.control is self.formats:
            self.action_write()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write."""
        self.action_write()

    def on_input_changed(self, event: Input.Changed) -> None:
        """What was said was of another path."""
        if not self._writing:
            self.notice.say("")

    def _follow(self) -> None:
        report = self.chosen
        if report is None:
            return
        if self.field.value == self._named:
            self._named = f"{self._stem}.json" if report.format == "tokentui" else report.files[0]
            self.field.value = self._named
            self.field.cursor_position = len(self._named)
        self._detail()

    def _detail(self) -> None:
        report = self.chosen
        if report is not None:
            self.losses.update(Content("\n").join(join(cell) for cell in _told(report)))

    def action_other(self) -> None:
        """From the formats to the path, and back."""
        (self.field if self.formats.has_focus else self.formats).focus()

    def action_write(self) -> None:
        """Write, if there is nothing against it."""
        report, path = self.chosen, self.field.value
        if self._writing:
            return
        if report is None:
            self.notice.say(f"not yet: {self.waits or 'the formats are being looked at'}", "warning")
            return
        if report.refused:
            self.notice.say(f"{report.format} cannot hold it: {report.refused}", "error")
        elif not path.strip():
            self.notice.say("name a file", "error")
        else:
            self._writing = True
            self.tell_waiting()
            self.run_worker(self._try(path, report.format), group="write", exclusive=True)

    async def _try(self, path: str, format: str) -> None:
        again = self._confirmed == (path, format)
        self._confirmed = ("", "")
        try:
            report = await self._write(path, format, again)
        except Cancelled:
            self.notice.say("stopped")
        except TokentuiError as error:
            if "enter again" in error.hint:
                self._confirmed = (path, format)
            self.notice.say(safe_line(error), "warning" if self._confirmed[0] else "error")
        else:
            if not report.refused:
                self.dismiss((path, report))
                return
            self._reports[format] = report
            self.formats.show([_row(one) for one in self._reports.values()], keep=format)
            self._detail()
            self.notice.say(f"nothing is written: {safe_line(report.refused)}", "error")
        finally:
            self._writing = False


def stem_of(corpus: str) -> str:
    """What a file of the project's own format is called after a corpus, without its end."""
    return os.path.splitext(os.path.basename(corpus.removeprefix("sample:")))[0] or "tokenizer"


def _row(report: ExportReport) -> TableRow:
    """A format, what it is, and in a few words what it loses."""
    if report.refused:
        told: Cell = (("cannot: ", "error"), (safe_line(report.refused), "muted"))
    elif report.losses:
        told = (("loses ", "warning"), (safe_line(", ".join(loss.what for loss in report.losses)), ""))
    else:
        told = (("keeps all", "success"),)
    name: Cell = ((report.format, "muted" if report.refused else "strong"),)
    return TableRow(report.format, (name, ((safe(report.about), "muted"),), told), dim=bool(report.refused))


def _told(report: ExportReport) -> list[Cell]:
    """Sentences on a format, for the lines below."""
    files = " and ".join(report.files)
    if report.refused:
        return [(("It cannot be written so: ", "error"), (safe_line(report.refused), ""))]
    lines: list[Cell] = []
    for loss in report.losses:
        line: list[Run] = [(f"{loss.what}: ", "strong"), (safe_line(loss.consequence), "")]
        lines.append((*line, (f"  {safe_line(loss.example)}", "muted")) if loss.example else tuple(line))
    if not lines:
        lines.append((("Nothing is lost: reading it gives this tokenizer again.", ""),))
    if len(report.files) > 1:
        lines.append(((f"Two files: {files}. Name one of them, or a folder.", "muted"),))
    return lines
