"""Record the places that the user leaves, to be written as a tour by `tour_writer`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.commands import Command
from tokentui.session.persist.session_file import absolute
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import NO_ROWS, ColumnSnapshot, CorpusView

MOST_PLACES = 200
"""The maximum number of places that are kept; the oldest go first."""
_LEFT_OUT: dict[str, Any] = {"corpus": CorpusView(), "candidates": NO_ROWS, "vocabulary": NO_ROWS}
"""The sections of a column that no tour needs: a recording may be long."""


class RecordedPlace(NamedTuple):
    """A column that the user left, without the sections that no tour needs.

    Attributes:
        column: The column.
        run: Its run.
        corpus: Its corpus: a source, or a typed text.
    """

    column: ColumnSnapshot
    run: Run
    corpus: tuple[str, str | None]


class TourRecorder:
    """The places that the user left, the oldest first.

    Args:
        source: The corpus at the beginning; empty if a tour cannot name it.
        run: Returns the run in use.
    """

    def __init__(self, source: str, run: Callable[[], Run]) -> None:
        self.places: deque[RecordedPlace] = deque(maxlen=MOST_PLACES)
        self.corpus: tuple[str, str | None] = source, None
        """The corpus that is open: its source, or its text; neither if a tour cannot name it."""
        self._run = run

    def posted(self, command: Command[Any], before: Snapshot | None) -> None:
        """Record the place before a command that opens something or moves; do nothing without a snapshot."""
        if (command.opens or command.walks) and before is not None:
            self.places.append(self.place(before))

    def place(self, snapshot: Snapshot) -> RecordedPlace:
        """Return the place that a snapshot shows."""
        return RecordedPlace(replace(snapshot.main, **_LEFT_OUT), self._run(), self.corpus)

    def opened(self, command: Command[Any]) -> None:
        """Note the corpus that a command has opened: the absolute path of a single source, or a text. Several
        sources, or a format that is set, are noted as none. Other commands are ignored."""
        match command:
            case do.Open(sources, as_):
                named = len(sources) == 1 and as_ is None
                self.corpus = absolute(sources[0]) if named else "", None
            case do.TrainOnText(text):
                self.corpus = "", text
