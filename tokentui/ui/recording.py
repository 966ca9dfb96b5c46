"""The walk of a user, noted as it is made, and written as a tour."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import replace
from typing import Any, NamedTuple

from tokentui.core.errors import TokentuiError
from tokentui.core.files import shown_path, write_whole
from tokentui.core.safetext import is_safe, safe
from tokentui.core.table import plural
from tokentui.recipe import Run
from tokentui.session import commands as do
from tokentui.session.claims import FACTS, Expected, Place
from tokentui.session.commands import Command
from tokentui.session.saved import absolute
from tokentui.session.snapshot import Snapshot
from tokentui.session.tours import SUFFIX, Stop, written
from tokentui.session.views import NO_ROWS, ColumnSnapshot, CorpusView
from tokentui.ui.dialogs.ask import AskLine

MOST_STOPS = 200
"""Of a longer walk the last stops are kept."""
_CLAIMED = ("pair", "places", "tied", "tokens")
_MOST_WORDS = 40
_NO_TEXT = CorpusView()


class Seen(NamedTuple):
    """A place of the walk, and the column there: a stop is made of them when it is written."""

    place: Place
    column: ColumnSnapshot


class Walk:
    """The walk: a place wherever the user went on from.

    Args:
        source: The corpus at the beginning, empty where it cannot be named in a tour.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._text: str | None = None
        self._seen: deque[Seen] = deque(maxlen=MOST_STOPS)

    def note(self, now: Snapshot | None, run: Run) -> None:
        """Note the place where the user is, before a command leads on from it. It is called for each step: it
        makes nothing yet."""
        if now is None or len(now.columns) != 1 or now.corpus.nothing or now.main.partial:
            return
        main = now.main
        if main.opened is None and (self._source or self._text):  # a tour trains, on what it can name
            typed = main.encoding.text
            place = Place(self._source, self._text, main.recipe, run, main.at.step, typed)
            if not self._seen or self._seen[-1].place != place:
                self._seen.append(Seen(place, replace(main, corpus=_NO_TEXT, candidates=NO_ROWS)))

    def opened(self, command: Command[Any]) -> None:
        """Take in what was opened."""
        match command:
            case do.Open(sources, as_):
                self._text = None
                self._source = absolute(sources[0]) if len(sources) == 1 and as_ is None else ""
            case do.TrainOnText(text):
                self._source, self._text = "", text

    @property
    def stops(self) -> tuple[Stop, ...]:
        """The stops, each with a sentence and with claims that hold."""
        return tuple(Stop(one.place, _said(one.column), expects=_claims(one.column)) for one in self._seen)


def _said(main: ColumnSnapshot) -> str:
    """A sentence for the stop, to be written anew by a teacher."""
    best, step = main.why.best, f"Step {main.at.step:,}."
    if best is None or not all(_writable(one.decode("utf-8", "surrogateescape")) for one in best.parts):
        return step
    pair = "+".join(one.decode("utf-8", "surrogateescape").replace(" ", "·") for one in best.parts)
    return f"{step} The next pair is {pair}, in {plural(best.places, 'place')}."


def _writable(text: str) -> bool:
    """True if a text can stand in a line of a tour."""
    return is_safe(text) and "`" not in text and text.isprintable()


def _claims(main: ColumnSnapshot) -> tuple[Expected, ...]:
    """The facts that hold there and can be written."""
    names = _CLAIMED if main.why.best is not None else _CLAIMED[-1:]
    found = [Expected(name, FACTS[name](main, ())) for name in names]
    return tuple(one for one in found if 0 < len(one.words) <= _MOST_WORDS and all(map(_writable, one.words)))


def ask_name(on: Any) -> None:
    """Ask for the name of a file, and write the walk to it."""
    walk, face = on.app.walk, on.face
    walk.note(face.snapshot, face.run_in_use)
    stops = walk.stops
    if not stops:
        face.say("nothing to record: a tour begins with a text that is trained on")
        return

    def path_of(line: str) -> str:
        path = os.path.abspath(os.path.expanduser(line.strip()))
        return path if path.endswith(SUFFIX) else path + SUFFIX

    def foretell(line: str) -> str:
        if not line.strip():
            return f"the name of a file, such as walk{SUFFIX}"
        path = path_of(line)
        if os.path.lexists(path):
            raise TokentuiError("the file is there already", os.path.basename(path), "name another")
        return f"writes {plural(len(stops), 'stop')} to {safe(os.path.basename(path), limit=40)}"

    def take(line: str) -> None:
        path = path_of(line)
        name = os.path.basename(path).removesuffix(SUFFIX)
        try:
            write_whole(path, written(name, stops).encode("utf-8", "replace"))
        except TokentuiError as error:
            face.tell(error)
            return
        face.say(f"written: {shown_path(path)}; tokentui tour plays it")

    face.push(AskLine(face, "Write the walk as a tour", foretell, take))
