"""A chat, rendered by the chat template of an opened tokenizer: each token with its origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.chat.encoded import ChatEncoding, ChatWarning, report
from tokentui.analyze.chat.template import USUAL
from tokentui.analyze.report import Report, Section, warning
from tokentui.core import sandbox
from tokentui.core.safetext import safe
from tokentui.session.commands import Command, EncodeChat
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.link import EngineLink


class ChatScreen(ReportScreen[ChatEncoding]):
    """Lists the tokens of a chat: at first the typed text as one message of the user, or the messages of a
    file. A word beside each token says whether it is special, or text of the template or of a message.

    Args:
        engine: The link to the session.
    """

    HEADING, ASKING, PROMPT = "Chat", "rendering the chat …", "file"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "ask_text", "messages of a file", id="chat.file", group=Hint(pane="list"),
            tooltip="Render the messages of a file"),
        Binding("p", "turn_prompt", "generation prompt", id="chat.prompt", group=Hint(pane="list"),
            tooltip="Add the generation prompt, or leave it out"),
        Binding("t", "turn_template", "template", id="chat.template", group=Hint(pane="list"),
            tooltip="Render by a usual template, ChatML or Llama 2's, or by that of the file again"),
        Binding("enter", HANDLED, "inspect", group=Hint(pane="list")),
        Binding("enter", HANDLED, "encode; empty: the typed text", group=Hint(pane="line")),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self._prompt = True
        self.template = ""
        """The name of a usual template; empty for that of the file."""

    def question(self) -> Command[ChatEncoding]:
        """Return the command that encodes the chat. Also name the tokenizer, the source, the template and the
        prompt in the titles."""
        opened = self.now.main.opened if self.now is not None else None
        title = f"{self.HEADING} · {safe(opened.name, limit=40)}" if opened is not None else self.HEADING
        source = safe(self.text, limit=40) if self.text else "the typed text"
        template = f"template {self.template} · " if self.template else ""
        self.name_box(title, f"{source} · {template}{'with' if self._prompt else 'no'} generation prompt")
        return EncodeChat(sandbox.expanded(self.text) if self.text else "", self._prompt, self.template)

    def report(self, answer: ChatEncoding) -> Report:
        """Return the report on the tokens after the warnings, with the list of tokens unfolded."""
        shown = report(answer)
        warnings = tuple(_warnings(answer.warnings))
        self._open = {("more", len(warnings))}  # all tokens are seen
        return replace(shown, sections=(*warnings, *shown.sections))

    def action_turn_prompt(self) -> None:
        """Add the generation prompt at the end, or leave it out, and ask again."""
        self._prompt = not self._prompt
        self.again()

    def action_turn_template(self) -> None:
        """Render with the next usual template, after the last one with that of the file, and ask again."""
        self.template = next_template(self.template)
        self.again()


def next_template(name: str) -> str:
    """Return the usual template after the one named `name`: the first for "", and "" after the last."""
    names = ["", *USUAL, ""]
    return names[names.index(name) + 1]


def _warnings(warnings: Sequence[ChatWarning]) -> Iterator[Section]:
    """Yield a section for each warning, the first one with a name. For a missing generation prompt, name the
    key that adds it."""
    for number, fault in enumerate(warnings):
        text = fault.text
        if fault.code == "no-generation-prompt":  # here a key adds it
            text = f"{text.partition(': ')[0]}: p adds it"
        yield Section("" if number else "warnings", warning(text))
