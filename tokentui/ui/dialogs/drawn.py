"""The typed text with some merges left out at random: each draw, and what came of it. A key draws again."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tokentui.analyze.dropout import MOST_DRAWS, MOST_WORDS, report
from tokentui.analyze.report import Report
from tokentui.encode.sampling import Drawn
from tokentui.encode.segment.dropout import LIKE
from tokentui.session.commands import Command, Draw
from tokentui.ui.bindings import HANDLED, Hint
from tokentui.ui.dialogs.report_screen import ReportScreen
from tokentui.ui.link import EngineLink

SHARES: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
"""The shares that a key goes through."""
_USUAL = SHARES.index(0.1)


class DrawnScreen(ReportScreen[Drawn]):
    """Shows random segmentations of the typed text.

    Args:
        engine: The link to the session.
    """

    HEADING, ASKING, PROMPT = "Dropout", "drawing …", "text"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "resample", "resample", id="dropout.again", group=Hint(pane="list"),
            tooltip="Sample new segmentations"),
        Binding("p", "turn_share", "probability", id="dropout.share", group=Hint(pane="list"),
            tooltip="Drop a different share of the merges"),
        Binding("l", "turn_like", "like", id="dropout.like", group=Hint(pane="list"),
            tooltip="Sample as another library does"),
        Binding("i,w", "ask_text", "text", id="dropout.text", group=Hint(pane="list"),
            tooltip="Sample segmentations of another text"),
        Binding("enter", HANDLED, "sample", group=Hint(pane="line")),
    ]

    def __init__(self, engine: EngineLink) -> None:
        super().__init__(engine)
        self.seed, self.share, self.like = 0, _USUAL, 0

    def question(self) -> Command[Drawn]:
        """Return the command that draws, and show the seed, the probability and the library in the subtitle.
        """
        like = tuple(LIKE)[self.like]
        self.name_box(subtitle=f"seed {self.seed} · p {SHARES[self.share]:g} · like {like}")
        return Draw(self.text, SHARES[self.share], like, self.seed)

    def report(self, answer: Drawn) -> Report:
        """Return the report on the draws."""
        return report(answer, MOST_WORDS, MOST_DRAWS)

    def action_resample(self) -> None:
        """Draw with the next seed."""
        self.seed += 1
        self.again()

    def action_turn_share(self) -> None:
        """Draw with the next probability of `SHARES`."""
        self.share = (self.share + 1) % len(SHARES)
        self.again()

    def action_turn_like(self) -> None:
        """Draw as the next library of `LIKE` does."""
        self.like = (self.like + 1) % len(LIKE)
        self.again()
