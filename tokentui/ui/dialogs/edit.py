"""Another vocabulary: what goes and what comes is listed before anything is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.edit import report
from tokentui.analyze.report import Report, muted, spans
from tokentui.core.counts import read_count
from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import safe, safe_line
from tokentui.session.commands import Command, EditView, EditVocabulary, Wishes, WriteEdited
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs.ask import AskLine
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.draw.figures import number
from tokentui.ui.link import EngineLink

if TYPE_CHECKING:
    from tokentui.formats.proof import ExportReport

_SHOWN = 60


class EditScreen(ReportScreen[EditView]):
    """Asks for changes of the vocabulary, and lists what goes and what comes; `w` writes it.

    Args:
        engine: The link to the session.
    """

    HEADING, ASKING = "Change the vocabulary", "encoding the corpus …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "prune", "prune", id="edit.prune", tooltip="Remove tokens that the corpus does not use"),
        Binding("n", "ask_keep", "to N ids", id="edit.keep", tooltip="Keep only the N most used ids"),
        Binding("t", "ask_size", "train", id="edit.train", tooltip="Train further, to a larger vocabulary"),
        Binding("a", "ask_token('add', 'Add a token')", "add", id="edit.add", tooltip="Add a token"),
        Binding("s", "ask_token('special', 'Add a special token')", "special", id="edit.special",
            tooltip="Add a special token"),
        Binding("w", "ask_path", "write", id="edit.write", tooltip="Write the tokenizer to a file"),
        Binding("m", "ask_other", "merge", id="edit.merge",
            tooltip="Merge the vocabulary of another tokenizer"),
        Binding("backspace", "take_back", "undo", id="edit.undo", group=Hint(pane="list"),
            tooltip="Undo the last change"),
        Binding("X", "leave"), Binding("enter", HANDLED),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.wishes = Wishes()
        self._before: list[Wishes] = []

    # What is asked.

    def again(self) -> None:
        """Request a preview of the pending edits; clear it if there are none."""
        if self.wishes != Wishes():
            super().again()
            return
        self.answer = self.shown = None
        self.asking = ""
        self.workers.cancel_group(self, "asked")
        self.notice.say("")
        self.lay_out()

    def question(self) -> Command[EditView]:
        """Return the command that asks for a preview of the pending edits."""
        return EditVocabulary(self.wishes)

    def wish(self, wishes: Wishes) -> None:
        """Ask for another vocabulary."""
        self._before.append(self.wishes)
        self.wishes = wishes
        self.again()

    def action_take_back(self) -> None:
        """Take the last wish back."""
        if self._before:
            self.wishes = self._before.pop()
            self.again()

    def action_prune(self) -> None:
        """Take out what the corpus does not use, or leave it in."""
        self.wish(replace(self.wishes, prune=not self.wishes.prune, keep=None))

    def action_ask_keep(self) -> None:
        """Ask how many ids are kept, those that the corpus uses most."""
        hint = "the number of ids to keep: those that the corpus uses most"
        self._ask_number("Prune to", hint, lambda n: replace(self.wishes, prune=True, keep=n))

    def action_ask_size(self) -> None:
        """Ask for the size to train on to."""
        hint = "the number of ids to train on to; new ids follow the existing ones"
        self._ask_number("Train on to", hint, lambda n: replace(self.wishes, size=n))

    def _ask_number(self, title: str, hint: str, wished: Callable[[int], Wishes]) -> None:
        def read(line: str) -> int:
            if not (count := read_count(line)) or count >= 10**9:
                raise TokentuiError("expected a number", line[:20], "for example 4000 or 32k")
            return count

        def describe_size(line: str) -> str:
            return f"{number(read(line))} ids" if line else hint

        prompt = AskLine(self.engine, title, describe_size, lambda line: self.wish(wished(read(line))))
        self.app.push_screen(prompt)

    def action_ask_other(self) -> None:
        """Ask for the file of another tokenizer, whose merges are appended."""
        hint = "append the merges of another tokenizer file"
        self.app.push_screen(AskLine(self.engine, "Merge with", lambda line: safe(line, limit=80) or hint,
                               lambda line: self.wish(replace(self.wishes, merge=line.strip()))))

    def action_ask_token(self, kind: str, title: str) -> None:
        """Ask for the text of a token."""

        def take(line: str) -> None:
            named = (*getattr(self.wishes, kind), line)
            added = kind == "add"
            self.wish(replace(self.wishes, add=named) if added else replace(self.wishes, special=named))

        hint = "a text that is always one token"
        hint = hint if kind == "add" else "the name of a special token"
        self.app.push_screen(AskLine(self.engine, title, lambda line: safe(line, limit=60) or hint, take))

    def action_ask_path(self) -> None:
        """Ask for a file, and write it."""
        if self.answer is None:
            self.notice.say("there is nothing to write yet", "warning")
            return
        hint = "a file; its name says the format. Behind it a .json or .npy: the new id of each old one"

        def take(line: str) -> None:
            path, _, ids = line.strip().partition(" ")
            command = WriteEdited(self.wishes, path, "", ids.strip())
            self.find_out(command, partial(self._written, path), "writing, and reading it back …",
                          self.notice.tell)

        prompt = AskLine(self.engine, "Write to", lambda line: safe(line, limit=80) or hint, take)
        self.app.push_screen(prompt)

    def _written(self, path: str, report: ExportReport) -> None:
        if report.refused:
            self.notice.say(f"nothing was written: {safe_line(report.refused)}", "error")
            return
        lost = ", ".join(loss.what for loss in report.losses)
        self.app.say(f"{path}: written as {report.format}" + (f"; lost: {lost}" if lost else ""))
        self.notice.say(f"{safe(path, limit=60)} is written", "success")
        self.lay_out()

    # What is seen.

    def lay_out(self) -> None:
        """Say what can be wished for, where nothing is."""
        if self.answer is None and not self.asking and self.wishes == Wishes():
            summary = " Each key below adds a change; what it removes and adds is listed here first."
            self.summary.show((("Nothing is changed yet.", "strong"), (summary, "muted")))
            self.listing.show([], None)
        else:
            super().lay_out()

    def report(self, answer: EditView) -> Report:
        """Return the report, with the wishes in its summary."""
        found = report(
            answer.before, answer.after, answer.went, answer.came, added=answer.added, pruned=answer.pruned,
            grown=answer.grown, losses=answer.losses,
        )
        wishes, summary = self.wishes, []
        if wishes.prune:
            summary.append("pruned" + (f" to {number(wishes.keep)} ids" if wishes.keep else " to the corpus"))
        if wishes.size:
            summary.append(f"trained on to {number(wishes.size)} ids")
        if wishes.merge:
            summary.append(f"with the merges of {safe(os.path.basename(wishes.merge), limit=30)}")
        summary += [f"+ {safe(text, limit=20)}" for text in (*wishes.add, *wishes.special)]
        return replace(found, summary=(*spans(found.summary), muted(f" · {', '.join(summary)}")))
