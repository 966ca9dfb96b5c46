"""Write the tokenizer of this step to a file: the formats, what each would lose of it, and the path."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tokentui.analyze import export as losses
from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.session.commands import Contents, Export, Formats
from tokentui.session.snapshot import Snapshot
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs import SEARCH, SHARED, CellText, TableDialog, labeled_input
from tokentui.ui.draw.sections import screen_cell
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.draw.text import Cell
from tokentui.ui.field import Field
from tokentui.ui.link import EngineLink

if TYPE_CHECKING:
    from tokentui.formats.proof import ExportReport

_FORMATS = (Column(width=13, priority=3), Column(flex=1, min_width=20, priority=1),
    Column(flex=1, min_width=16, priority=2))
_TRYING = "writing, reading back and trying it on many texts …"

_SWITCH = Binding("tab", "app.focus_next", id="export.switch", tooltip="Go to the path, or to the formats")


class ExportScreen(TableDialog[None]):
    """Asks for a format and a path, and writes the tokenizer there.

    Args:
        engine: The link to the session.
    """

    HEADING, SEARCHED = "Export", "the formats"
    TYPED = SHARED - SEARCH
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "write", "write", id="export.write", tooltip="Write the file"),
        Binding("up,down", HANDLED, "format", group=Hint(pane="formats", count=2)),
        replace(_SWITCH, description="path", group=Hint(pane="formats")),
        replace(_SWITCH, description="formats", group=Hint(pane="line")),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self._stem = "tokenizer"
        self._reports: dict[str, ExportReport] = {}
        self._named = ""
        """The path that was put into the field, not typed."""
        self._confirmed = ("", "")
        """The path and the format of which it was said that a file is there."""
        self.formats, self.losses = Listing(_FORMATS, id="formats"), CellText(id="losses")
        self.listing = self.formats
        self.field = Field(placeholder="a file", select=False)
        prompt = "Download as >" if sandbox.sealed() else "Write to >"
        self.parts = self.formats, self.losses, labeled_input(prompt, self.field), self.notice
        if engine.snapshot is not None:
            self.follow(engine.snapshot)

    def on_mount(self) -> None:
        """Focus the formats, and ask what each would lose."""
        self.set_focus(self.formats)
        self.start_asking("checking the formats …", self._list_formats)

    def follow(self, snapshot: Snapshot) -> None:
        """Show in the title which step is written, if a tokenizer is complete; take the default file name
        from the corpus."""
        super().follow(snapshot)
        corpus, main = snapshot.corpus, snapshot.main
        if not corpus.nothing_open:
            self._stem = stem_of(corpus.name)
        there = not corpus.nothing_open and not main.partial
        self.heading = f"Export the tokenizer of step {main.at.step:,}" if there else self.HEADING
        self.name_box(self.heading)

    async def _list_formats(self) -> None:
        """Ask for the formats, and list them with what each would lose."""
        reports = await self.ask(Formats())
        self._reports = {report.format: report for report in reports}
        self.formats.show([_row(report) for report in reports])
        self.notice.say("")
        self._show_losses()

    @property
    def chosen(self) -> ExportReport | None:
        """The report on the format under the cursor; None before the formats are known."""
        return self._reports.get(str(self.formats.cursor_key))

    @on(Input.Changed)
    def _clear(self) -> None:
        """Clear the notice, which is about another path, unless an answer is awaited."""
        if not self.asking:
            self.notice.say("")

    @on(Listing.CursorMoved)
    def _show_losses(self) -> None:
        """Show what the format under the cursor would lose, and put its usual name into the line, unless the
        user has changed the line. Do nothing before the formats are known."""
        report = self.chosen
        if report is None:
            return
        if self.field.value == self._named:
            self._named = f"{self._stem}.json" if report.format == "tokentui" else report.files[0]
            self.field.put(self._named)
        self.losses.show(*_loss_lines(report))

    def type_into(self, line: Field, text: str) -> None:
        """Append a text to the path, and focus it; a suggested name is replaced."""
        if line.value == self._named:
            line.put("")
        super().type_into(line, text)

    @on(Listing.Chosen)
    @on(Input.Submitted)
    def action_write(self) -> None:
        """Write the chosen format to the typed path, and close when it is written. If the file exists, ask
        for the same call again, which overwrites it. A served session downloads the file.

        If the formats are not known yet, if the format cannot store the tokenizer, or without a path, show
        that in the notice instead. Do nothing while an answer is awaited.
        """
        report, path = self.chosen, self.field.value
        if report is None:
            self.notice.say(f"not yet: {self.waits or 'the formats are being checked'}", "warning")
        elif self.asking:
            return
        elif report.refused:
            self.notice.say(f"{report.format} cannot store it: {report.refused}", "error")
        elif not path.strip():
            self.notice.say("name a file", "error")
        else:
            work = self._download if sandbox.sealed() else self._write
            self.start_asking(_TRYING, work, path, report.format)

    async def _download(self, path: str, format: str) -> None:
        """Send the files of a format to the browser, several as one archive, and finish as `_finish` does."""
        report, files = await self.ask(Contents(format))
        if files:
            from tokentui.ui.delivery import archive, deliver

            name, data = path, files[0]
            if len(files) > 1:
                name, data = f"{self._stem}.zip", archive(report.files, files)
            deliver(self.app, name, data)
        self._finish(name if files else path, report)

    async def _write(self, path: str, format: str) -> None:
        """Write a file, and finish as `_finish` does. If it exists, ask in the notice for enter again, which
        overwrites it.

        Raises:
            TokentuiError: It could not be written for another reason.
        """
        wish = path, format
        again, self._confirmed = self._confirmed == wish, ("", "")
        try:
            self._finish(path, await self.ask(Export(path, format, again)))
        except TokentuiError as error:
            if "enter again" not in error.hint:
                raise
            self.asking, self._confirmed = "", wish
            self.notice.say(safe_line(error), "warning")

    def _finish(self, path: str, report: ExportReport) -> None:
        """Show a message that the file is written, and close. If it was refused, stay open, and show why with
        the new report of the format."""
        if not report.refused:
            tried = f", the same on {report.checked:,} texts" if report.checked else ""
            done = "your browser downloads it" if sandbox.sealed() else "written"
            self.app.say(f"{path}: {done} as {report.format}{tried}")
            self.dismiss(None)
            return
        self._reports[report.format] = report
        self.formats.show([_row(report) for report in self._reports.values()], keep=report.format)
        self._show_losses()
        self.notice.say(f"nothing was written: {safe_line(report.refused)}", "error")


def stem_of(corpus: str) -> str:
    """Return a file name without suffix for the name of a corpus; `tokenizer` if it has none."""
    return os.path.splitext(os.path.basename(corpus.removeprefix("sample:")))[0] or "tokenizer"


def _row(report: ExportReport) -> TableRow:
    """Return the row of a format: its name, its description, and in short what it loses; dim if it is
    refused."""
    name: Cell = ((report.format, "muted" if report.refused else "strong"),)
    cells = (name, ((safe(report.about), "muted"),), screen_cell(losses.verdict(report)))
    return TableRow(report.format, cells, dim=bool(report.refused))


def _loss_lines(report: ExportReport) -> list[Cell]:
    """Return the lines about the losses of a format, or why it is refused, and about its files if there are
    two."""
    if report.refused:
        return [screen_cell(losses.verdict(report))]
    lines = [screen_cell(row.cells[-1]) for row in losses.loss_rows(report.losses)]
    if not lines:
        lines.append((("Nothing is lost: the file reads back as this tokenizer.", ""),))
    if len(report.files) > 1:
        files = " and ".join(report.files)
        lines.append(((f"Two files: {files}. Name one of them, or a folder.", "muted"),))
    return lines
