"""The walk of a user, noted as it is made; `recording` writes it as a tour."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.commands import Command
from tokentui.session.saved import absolute
from tokentui.session.views import NO_ROWS, ColumnSnapshot, CorpusView

MOST_STOPS = 200
"""Of a longer walk the last places are kept."""


class Passed(NamedTuple):
    """A column that the user went on from, its run, and its corpus: a source, or a typed text.

    Of the column the sections that no tour needs are left out (`LEFT_OUT`): a walk may be long.
    """

    column: ColumnSnapshot
    run: Run
    corpus: tuple[str, str | None]


LEFT_OUT: dict[str, Any] = {"corpus": CorpusView(), "candidates": NO_ROWS, "vocabulary": NO_ROWS}


class Walk:
    """The walk: where the user went on from. A step costs no more than a row in `passed`.

    Args:
        source: The corpus at the beginning, empty where it cannot be named in a tour.
    """

    def __init__(self, source: str) -> None:
        self.passed: deque[Passed] = deque(maxlen=MOST_STOPS)
        self.corpus: tuple[str, str | None] = source, None
        """The corpus that is open: its source, or its text; neither where a tour cannot name it."""

    def opened(self, command: Command[Any]) -> None:
        """Take in what was opened."""
        match command:
            case do.Open(sources, as_):
                named = len(sources) == 1 and as_ is None
                self.corpus = absolute(sources[0]) if named else "", None
            case do.TrainOnText(text):
                self.corpus = "", text
