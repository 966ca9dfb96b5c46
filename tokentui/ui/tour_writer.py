"""Write the recorded places as a tour."""

from __future__ import annotations

import os
from typing import Any

from tokentui.core.safetext import is_safe
from tokentui.core.table import plural
from tokentui.core.toml import SUFFIX
from tokentui.session.snapshot import Snapshot
from tokentui.session.views import ColumnSnapshot
from tokentui.tours.facts import FACTS, Claim, Place
from tokentui.tours.parser import Stop, tour_text
from tokentui.ui.link import EngineScreen
from tokentui.ui.tour_recorder import TourRecorder

_CLAIMED = ("pair", "places", "tied", "tokens")
_MOST_WORDS = 40


def stops_of(recorder: TourRecorder, now: Snapshot | None) -> list[Stop]:
    """Return the recorded places, and the current one, as stops with a sentence and true claims.

    Places that cannot be trained again from a name or a text are left out.
    """
    places = [*recorder.places, *([recorder.place(now)] if now is not None else ())]
    stops: list[Stop] = []
    for main, run, (source, text) in places:
        # A tour trains, on a corpus that it can name.
        if main.opened is None and not main.partial and main.at.start_tokens and (source or text):
            place = Place(source, text, main.recipe, run, main.at.step, main.encoding.text)
            if not stops or stops[-1].place != place:
                stops.append(Stop(place, _sentence(main), claims=_claims(main)))
    return stops


def _sentence(main: ColumnSnapshot) -> str:
    """Return a sentence on the step and the next pair, which a teacher may rewrite; only on the step if the
    pair cannot be written in a tour."""
    best, step = main.why.best, f"Step {main.at.step:,}."
    if best is None or not all(_writable(part.decode("utf-8", "surrogateescape")) for part in best.parts):
        return step
    pair = "+".join(part.decode("utf-8", "surrogateescape").replace(" ", "·") for part in best.parts)
    return f"{step} The next pair is {pair}, in {plural(best.places, 'place')}."


def _writable(text: str) -> bool:
    """Return whether a tour can contain a text: it is printable and has no backquote."""
    return is_safe(text) and "`" not in text and text.isprintable()


def _claims(main: ColumnSnapshot) -> tuple[Claim, ...]:
    """Return the claims that are true there and short enough to be read."""
    claims = []
    for name in _CLAIMED if main.why.best is not None else _CLAIMED[-1:]:
        value = FACTS[name].read(main, None)
        texts = value if isinstance(value, list) else []
        if value != [] and len(texts) <= _MOST_WORDS and all(map(_writable, texts)):
            claims.append(Claim(name, value))
    return tuple(claims)


def ask_name(screen: EngineScreen[Any]) -> None:
    """Ask for the name of a file, and write the recorded tour to it; show a message if nothing was recorded.
    """
    from tokentui.ui.dialogs.saving import ask_file

    stops = stops_of(screen.app.recorder, screen.engine.snapshot)
    if not stops:
        screen.app.say("nothing to record: a tour starts from a corpus")
        return

    def data(path: str) -> bytes:
        return tour_text(os.path.basename(path).removesuffix(SUFFIX), stops).encode()

    ask_file(
        screen, "Save your steps as a tour", SUFFIX, plural(len(stops), "stop"), data,
        "; tokentui tour plays it",
    )
