"""Another vocabulary: what goes and what comes is listed before anything is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.edit import report
from tokentui.analyze.report import Report, muted, spans
from tokentui.core.counts import read_count
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.session.commands import Command, Edits, EditView, EditVocabulary, WriteEdited
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs.ask import AskLine
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.draw.figures import number
from tokentui.ui.draw.table import Column, Listing, TableRow
from tokentui.ui.link import EngineLink

_EDITS = "edit.prune", "edit.keep", "edit.train", "edit.add", "edit.special", "edit.merge"
"""The ids of the edits, in the order of the menu."""
_COLUMNS = (
    Column(width=3, priority=3), Column(flex=1, min_width=30, priority=2), Column(width=22, priority=1)
)


class EditScreen(ReportScreen[EditView]):
    """Shows a menu of edits of the vocabulary, then a list of the tokens that are removed and added; `w`
    writes it.

    Args:
        engine: The link to the session.
    """

    HEADING, ASKING = "Change the vocabulary", "encoding the corpus …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", HANDLED, "choose", group=Hint(pane="list")),
        Binding("p", "prune", "prune", id="edit.prune",
            tooltip="Prune to this corpus: remove unused tokens"),
        Binding("n", "ask_keep", "to N ids", id="edit.keep", tooltip="Keep only the N most used ids"),
        Binding("t", "ask_size", "train", id="edit.train", tooltip="Train further, to a larger vocabulary"),
        Binding("a", "ask_token('add', 'Add a token')", "add", id="edit.add", tooltip="Add a token"),
        Binding("s", "ask_token('special', 'Add a special token')", "special", id="edit.special",
            tooltip="Add a special token"),
        Binding("m", "ask_other", "merge", id="edit.merge",
            tooltip="Append the merges of another tokenizer file"),
        Binding("w", "ask_path", "write", id="edit.write", tooltip="Write the tokenizer to a file"),
        Binding("backspace", "undo", "undo", id="edit.undo", group=Hint(pane="list"),
            tooltip="Undo the last change"),
        Binding("X", "leave"),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.edits = Edits()
        self._before: list[Edits] = []
        self._pruned: EditView | None = None
        """The vocabulary pruned to the corpus: the numbers of the menu."""

    # What is asked.

    def again(self) -> None:
        """Ask for a preview of the edits.

        Without edits, forget the preview and show the menu, and ask once what pruning would leave.
        """
        if self.edits != Edits():
            super().again()
            return
        self.answer = self.shown = None
        self.notice.say("")
        if self._pruned is None:
            self.start_asking(self.ASKING, self._measure_pruning)
        else:
            self.workers.cancel_group(self, "asked")
            self.asking = ""
        self.lay_out()

    async def _measure_pruning(self) -> None:
        """Ask what pruning leaves, and show it in the menu."""
        self._pruned = await self.ask(EditVocabulary(Edits(prune=True)))
        self.lay_out()

    def question(self) -> Command[EditView]:
        """Return the command that asks for a preview of the pending edits."""
        return EditVocabulary(self.edits)

    def apply_edit(self, edits: Edits) -> None:
        """Replace the edits by others, and preview them; `action_undo` returns to those before."""
        self._before.append(self.edits)
        self.edits = edits
        self.again()

    def action_undo(self) -> None:
        """Return to the edits before the last change; do nothing without one."""
        if self._before:
            self.edits = self._before.pop()
            self.again()

    def action_prune(self) -> None:
        """Prune to the corpus, or undo that; either way drop a limit of ids."""
        self.apply_edit(replace(self.edits, prune=not self.edits.prune, keep=None))

    def action_ask_keep(self) -> None:
        """Ask how many ids to keep, and prune to those that the corpus uses most."""
        hint = "the number of ids to keep: those that the corpus uses most"
        self._ask_number("Prune to", hint, lambda n: replace(self.edits, prune=True, keep=n))

    def action_ask_size(self) -> None:
        """Ask for a vocabulary size, and train further to it."""
        hint = "the number of ids to train on to; new ids follow the existing ones"
        self._ask_number("Train on to", hint, lambda n: replace(self.edits, size=n))

    def _ask_number(self, title: str, hint: str, edited: Callable[[int], Edits]) -> None:
        """Ask for a number of ids, from 1 to below 10**9 and also as `32k`, and apply the edits for it.

        Args:
            title: The title of the dialog.
            hint: What the dialog shows while the line is empty.
            edited: Returns the new edits for the number.
        """
        def read(line: str) -> int:
            if not (count := read_count(line)) or count >= 10**9:
                raise TokentuiError("expected a number", line[:20], "for example 4000 or 32k")
            return count

        def describe_size(line: str) -> str:
            return f"{number(read(line))} ids" if line else hint

        prompt = AskLine(self.engine, title, describe_size, lambda line: self.apply_edit(edited(read(line))))
        self.app.push_screen(prompt)

    def action_ask_other(self) -> None:
        """Ask for another tokenizer file, and append its merges. The path is not checked before the preview.
        """
        hint = "append the merges of another tokenizer file"
        self._ask_line(
            "Merge with", hint, lambda line: self.apply_edit(replace(self.edits, merge=line.strip())))

    def _ask_line(self, title: str, hint: str, take: Callable[[str], object], most: int = 80) -> None:
        """Ask for a line, and call `take` with it. The dialog shows the line, cut to `most` characters;
        `hint` while it is empty."""
        prompt = AskLine(self.engine, title, lambda line: safe(line, limit=most) or hint, take)
        self.app.push_screen(prompt)

    def action_ask_token(self, kind: str, title: str) -> None:
        """Ask for a text, and add it to the edits of a kind. The text is not checked before the preview.

        Args:
            kind: `add` for a token, `special` for the name of a special token.
            title: The title of the dialog.
        """

        def take(line: str) -> None:
            added: dict[str, Any] = {kind: (*getattr(self.edits, kind), line)}
            self.apply_edit(replace(self.edits, **added))

        hint = "a text that is always one token" if kind == "add" else "the name of a special token"
        self._ask_line(title, hint, take, most=60)

    def action_ask_path(self) -> None:
        """Ask for a path, and write the edited tokenizer there; the name of the file gives the format. A
        second path, after a space, gets the map from old to new ids.

        If nothing is edited, say so in the notice instead.
        """
        if self.answer is None:
            self.notice.say("there is nothing to write yet", "warning")
            return
        hint = "a file; its name says the format. Behind it a .json or .npy: the new id of each old one"

        def take(line: str) -> None:
            path, _, ids = line.strip().partition(" ")
            command = WriteEdited(self.edits, path, "", ids.strip())
            self.start_asking("writing, and reading it back …", self._write, command)

        self._ask_line("Write to", hint, take)

    async def _write(self, command: WriteEdited) -> None:
        """Write the tokenizer, and show a message with the format and what it lost. If it was refused or
        failed, show why in the notice."""
        path = command.path
        try:
            report = await self.ask(command)
        except (TokentuiError, Cancelled) as error:  # the report stays
            self.asking = ""
            self.notice.tell(error)
            return
        if report.refused:
            self.notice.say(f"nothing was written: {safe_line(report.refused)}", "error")
            return
        lost = ", ".join(loss.what for loss in report.losses)
        self.app.say(f"{path}: written as {report.format}" + (f"; lost: {lost}" if lost else ""))
        self.notice.say(f"{safe(path, limit=60)} is written", "success")
        self.lay_out()

    # What is seen.

    @property
    def _menu(self) -> bool:
        """True while there is no edit, and the menu is shown."""
        return self.answer is None and self.edits == Edits()

    def lay_out(self) -> None:
        """Show the menu, or the report if there are edits. In the menu, hide the keys that its rows stand
        for."""
        if not self._menu:
            self.box.styles.height = None
            super().lay_out()
            return
        keys = {action.id: action for action in self.named_actions}
        self.summary.show((("What it removes and adds is listed before it is written.", "muted"),))
        rows = [
            TableRow(id, (
                ((keys[id].shown_key, "key"),), ((keys[id].help, ""),), ((safe(figure, limit=40), "strong"),)
            ))
            for id, figure in self._figures()
        ]
        self.listing.show(rows, self.listing.cursor_key, _COLUMNS)
        hidden = {*_EDITS, "edit.write", "report.next", "report.previous", "report.sort"}
        hidden |= set() if self._before else {"edit.undo"}
        self.shown_actions = [action for action in self.named_actions if action.id not in hidden]
        self.show_keys()
        self.fit_height(len(rows) + 2)  # and the lines above and below them

    def _figures(self) -> Iterator[tuple[str, str]]:
        """Yield the ids of the edits of the menu, each with what it would do now. Until pruning is measured,
        the first has the progress and the others are empty."""
        pruned, step = self._pruned, self.now.main.at.step if self.now is not None else 0
        if pruned is None:
            yield from ((id, self.awaited if id == _EDITS[0] else "") for id in _EDITS)
            return
        ids = number(pruned.before)
        figures = (
            f"{ids} → {number(pruned.after)}", f"{number(pruned.after)} are used", f"from {ids} ids on",
            f"it becomes id {ids}", f"it becomes id {ids}", f"to the {number(step)} there are")
        yield from zip(_EDITS, figures, strict=True)

    def on_virtual_table_chosen(self, event: Listing.Chosen) -> None:
        """Press the key of the edit of a menu row; in the report, act on the row as other reports do."""
        action = next((one for one in self.named_actions if one.id == event.key), None)
        if action is None:
            super().on_virtual_table_chosen(event)
        else:
            self.app.simulate_key(action.keys[0])

    def report(self, answer: EditView) -> Report:
        """Return the report, with the edits in its summary."""
        found = report(
            answer.before, answer.after, answer.went, answer.came, added=answer.added, pruned=answer.pruned,
            grown=answer.grown, losses=answer.losses,
        )
        edits, summary = self.edits, []
        if edits.prune:
            summary.append("pruned" + (f" to {number(edits.keep)} ids" if edits.keep else " to the corpus"))
        if edits.size:
            summary.append(f"trained on to {number(edits.size)} ids")
        if edits.merge:
            summary.append(f"with the merges of {safe(os.path.basename(edits.merge), limit=30)}")
        summary += [f"+ {safe(text, limit=20)}" for text in (*edits.add, *edits.special)]
        return replace(found, summary=(*spans(found.summary), muted(f" · {', '.join(summary)}")))
