"""The film of the README and the site, made from a tour.

    python docs/scripts/film.py [--check]

plays the stops of docs/scripts/film.toml in the running program, and writes docs/pictures/film.svg, an SVG
that moves, and docs/pictures/film.cast, a recording for asciinema. --check compares them with the program
instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.color import ColorSystem

from tokentui.recipe import Run, Stops
from tokentui.session.commands import Open
from tokentui.session.views import ColumnWanted
from tokentui.thinwire import DiffWriter, ScreenBuffer
from tokentui.tours.parser import Stop, read_tour
from tokentui.ui import pictures
from tokentui.ui.draw.picture import Frame, as_svg
from tokentui.ui.unattended import Act

SCRIPTS = Path(__file__).resolve().parent
FILES = SCRIPTS.parent / "pictures" / "film.svg", SCRIPTS.parent / "pictures" / "film.cast"
SIZE = 100, 30
MOST_BYTES = 400_000
READ_S, PASSED_S = 3.4, 0.5
"""Seconds of a stop, and of a step on the way to it."""
_INSPECT = "4", "enter"
"""The keys that inspect a typed word."""
_ON_THE_WAY = 5


def frames() -> list[Frame]:
    """Return the frames of the film."""
    stops = read_tour(str(SCRIPTS / "film.toml")).stops
    shown: list[Frame] = []
    for n, stop in enumerate(stops):
        before = stops[n - 1] if n else None
        shown += _frames_of(stop, before)
    return shown


def _frames_of(stop: Stop, before: Stop | None) -> Iterator[Frame]:
    """Yield the frames of a stop: the way from the one before, then its own."""
    place, was = stop.place, None if before is None else before.place
    to = place.step or 0
    columns: list[ColumnWanted] = []
    acts = [Act(step) for step in on_the_way(0 if was is None else was.step or 0, to)] + [Act(to)]
    if was is not None and place.recipe != was.recipe:
        run = Run(Stops(merges=to))
        columns = [ColumnWanted(one.recipe, run) for one in (was, place)]
        acts = [Act(step) for step in (*on_the_way(0, to), to)]
    elif was is not None and place.typed != was.typed:
        acts = [Act(to, keys=_INSPECT)]
    recipe = columns[0].recipe or place.recipe if columns else place.recipe
    made = pictures(Open((place.source,)), recipe, Run(), columns, "", acts, SIZE, typed=place.typed)
    for picture in made[:-1]:
        yield Frame(picture, PASSED_S, stop.text)
    yield Frame(made[-1], READ_S, stop.text)


def on_the_way(first: int, last: int) -> list[int]:
    """Return some steps between two: all of a few, else such that each is larger by the same ratio."""
    if last - first <= _ON_THE_WAY:
        return [*range(first + 1, last)]
    ratio = (last / max(1, first)) ** (1 / _ON_THE_WAY)
    return [round(max(1, first) * ratio**n) for n in range(1, _ON_THE_WAY)]


def cast(shown: Sequence[Frame]) -> str:
    """Return frames as a recording in the format of asciinema, version 2."""
    width, height = SIZE
    header = {"version": 2, "width": width, "height": height, "title": "tokentui",
              "env": {"TERM": "xterm-256color"}}
    writer, buffer = DiffWriter(), ScreenBuffer(width, height, ColorSystem.TRUECOLOR)
    lines, at, said = [json.dumps(header)], 0.0, ""
    for frame in shown:
        buffer.rows, buffer.changed = [row.copy() for row in frame.picture.rows], {*range(height)}
        if frame.said != said:
            said = frame.said
            lines.append(json.dumps([round(at, 2), "m", said], ensure_ascii=False))
        lines.append(json.dumps([round(at, 2), "o", writer.frame(buffer, (0, 0))], ensure_ascii=False))
        at += frame.seconds
    lines.append(json.dumps([round(at, 2), "o", ""]))
    return "".join(f"{line}\n" for line in lines)


def main(words: Sequence[str]) -> int:
    """Write the film, or compare it. Returns the exit code."""
    shown = frames()
    made = as_svg(shown), cast(shown)
    for path, text in zip(FILES, made, strict=True):
        if len(text.encode()) > MOST_BYTES:
            sys.stderr.write(f"{path.name}: {len(text.encode()):,} bytes are more than {MOST_BYTES:,}\n")
            return 1
        if "--check" not in words:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"{path.name}: out of date; run python docs/scripts/film.py\n")
            return 1
    seconds = sum(frame.seconds for frame in shown)
    sizes = " and ".join(f"{len(text.encode()):,} bytes" for text in made)
    sys.stdout.write(f"{len(shown)} frames, {seconds:g} s, {sizes}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
