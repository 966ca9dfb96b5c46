"""After a line has dropped: the session that it cut off, offered again."""

from __future__ import annotations

import os

from textual.app import ComposeResult
from textual.widgets import Static

from tokentui.core.safetext import safe
from tokentui.presets import PRESETS
from tokentui.session.saved import Kept
from tokentui.ui.dialogs.dialog import Dialog
from tokentui.ui.draw.text import Cell, join
from tokentui.ui.face import Face
from tokentui.ui.keys import Action


class OfferScreen(Dialog[bool]):
    """Asks whether to go on where a session was cut off. None when it is left without an answer.

    Args:
        face: The program.
        kept: The session.
        note: A note about the session; empty for none.
    """

    HEADING = "Go on?"
    ACTIONS = (
        Action(("enter",), "go on", lambda it: it.dismiss(True)),
        Action(("n",), "begin anew", lambda it: it.dismiss(False)),
        Action(("escape",), "later", lambda it: it.leave()),
    )
    DEFAULT_CSS = """
    OfferScreen > .dialog, OfferScreen.-high > .dialog { height: auto; max-width: 76; }
    OfferScreen.-wide > .dialog { max-width: 76; }
    OfferScreen .line { height: auto; }
    OfferScreen KeyLine { margin-top: 1; }
    """
    def __init__(self, face: Face, kept: Kept, note: str) -> None:
        super().__init__(face)
        self._kept = kept
        self._note = note

    def compose_box(self) -> ComposeResult:
        """Yield a summary of the saved session."""
        for cell in self._lines():
            yield Static(join(cell), classes="line", markup=False)

    def _lines(self) -> list[Cell]:
        kept, training = self._kept, self._kept.training
        preset = next((one.name for one in PRESETS.values() if one.recipe == training.recipe),
            training.recipe.objective)
        what = safe(os.path.basename(kept.tokenizer), limit=60) if kept.tokenizer else preset
        lines: list[Cell] = [
            (("A session was cut off:", ""),),
            ((f"  {self._called()}", "strong"),),
            ((f"  {what} · step {training.step:,}", "muted"),),
        ]
        if kept.columns:
            lines.append(((f"  comparing {len(kept.columns)} side by side", "muted"),))
        if self._note:
            lines.append(((safe(self._note, limit=300), "warning"),))
        return lines

    def _called(self) -> str:
        """The corpus by the last part of its path: the first ones say less and are long."""
        first = self._kept.sources[0] if self._kept.sources else self._kept.name
        more = f" and {len(self._kept.sources) - 1} more" if len(self._kept.sources) > 1 else ""
        return safe(os.path.basename(first.rstrip("/")) or first, limit=60) + more
