"""The pictures of the documents, drawn by the program as it runs.

    python docs/scripts/pictures.py [NAME]...

writes docs/explorer.svg, the picture of the README, and those in docs/pictures; one of `SCENES` each. A
scene opens the explorer without a terminal, presses keys, waits until nothing changes any more, and keeps the
cells of its screen. A walk is one file that shows one frame after the other: what stands in a row for several
frames is written once, and style sheets alone make it appear and go.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from rich.color import Color, ColorSystem
from textual.pilot import Pilot

from tokentui.preset_table import preset_named
from tokentui.recipe import Run, Stops
from tokentui.session import commands
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.thinwire import CellStyle, Row, ScreenBuffer
from tokentui.ui.app import ExplorerApp
from tokentui.ui.draw.text import clusters_of

DOCS = Path(__file__).resolve().parents[1]
CELL, LINE, SIZE, TOP = 8.4, 18, 14, 30
"""Pixels: the width of a cell, the height of a row, of a letter, of the bar above."""
INK, GROUND = "#dadada", "#121212"
"""The terminal's own colors."""
POLL_S, STILL = 0.1, 4
"""A screen stands still if it shows the same so many times."""
BOLD, DIM, ITALIC, UNDERLINE, REVERSE = (1 << bit for bit in (0, 1, 2, 3, 6))


@dataclass(frozen=True)
class Frame:
    """A place of a scene.

    Attributes:
        keys: The keys that lead there, by Textual's names.
        text: What is typed after them.
        step: The step to go to before them; None to stay.
        said: A line below the picture of a walk.
        seconds: How long a walk shows it.
    """

    keys: tuple[str, ...] = ()
    text: str = ""
    step: int | None = None
    said: str = ""
    seconds: float = 3.0


@dataclass(frozen=True)
class Scene:
    """A picture, or a walk where it has several frames that are kept.

    Attributes:
        path: Its file, from docs on.
        corpus: The corpus.
        frames: The places; a picture shows the last one.
        typed: The text that is typed at the start.
        presets: The recipe, or those of the columns that are compared.
        merges: The number of merges that a run ends after; None for none.
        size: Columns and rows of the terminal.
        walk: True to keep all frames.
        first_screen: True to begin with the first screen.
    """

    path: str
    corpus: str
    frames: tuple[Frame, ...] = (Frame(),)
    typed: str = ""
    presets: tuple[str, ...] = ("gpt2",)
    merges: int | None = None
    size: tuple[int, int] = (100, 30)
    walk: bool = False
    first_screen: bool = False


_SENTENCE = "The lamp in the street"
_WALK = (
    Frame(said="A text, cut into bytes. On the right: which pair of neighbors stands most often?",
          seconds=5),
    Frame(("n",), said="n makes one step: the commonest pair becomes one token."),
    Frame(("n",), said="Each step changes the counts of its neighbors."),
    Frame(("n",), said="The next one again."),
    Frame(("b",), said="b takes the last step back. Every number is what it was."),
    Frame(step=50, said="g goes to any step: 50 merges."),
    Frame(step=300, said="300 merges: common words are one token now."),
    Frame(step=1000, said="1,000 merges, and the sentence below in fewer tokens.", seconds=4),
    Frame(("Y",), said="Y says why, at length.", seconds=5),
    Frame(("escape", "0"), said="0 goes back to the start."),
)

SCENES: tuple[Scene, ...] = (
    Scene("explorer.svg", "sample:english", (Frame(), Frame(step=129)), "The crowd in the street",
          size=(100, 36)),  # as wide as leaves the memory out, which differs from machine to machine
    Scene("pictures/walk.svg", "sample:english", _WALK, _SENTENCE, walk=True),
    Scene("pictures/first.svg", "sample:english", typed=_SENTENCE, first_screen=True),
    Scene("pictures/start.svg", "sample:hugs", typed="hugs", presets=("comp336",)),
    Scene("pictures/step.svg", "sample:hugs", (Frame(), Frame(("n",))), "hugs", ("comp336",)),
    Scene("pictures/end.svg", "sample:hugs", (Frame(), Frame(("G",))), "hugs", ("comp336",)),
    Scene("pictures/why.svg", "sample:english", (Frame(), Frame(step=40), Frame(("Y",))), _SENTENCE),
    Scene("pictures/word.svg", "sample:english",
          (Frame(), Frame(step=400), Frame(("4", "enter"))), "unbelievable"),
    Scene("pictures/token.svg", "sample:english",
          (Frame(), Frame(step=4), Frame(("3", "enter"))), _SENTENCE),
    Scene("pictures/recipe.svg", "sample:english", (Frame(), Frame(("a",))), _SENTENCE),
    Scene("pictures/compare.svg", "sample:english", (Frame(), Frame(("G",))), _SENTENCE,
          ("gpt2", "wordpiece"), 300, (120, 36)),
    Scene("pictures/languages.svg", "sample:english", (Frame(), Frame(("G",)), Frame(("dollar_sign",))),
          _SENTENCE),
    Scene("pictures/facts.svg", "sample:english", (Frame(), Frame(step=400), Frame(("F",))), _SENTENCE),
)
"""The pictures. A new one is an entry here."""


# --- the running program ---


async def frames_of(scene: Scene) -> list[list[Row]]:
    """The screens of a scene, a row of cells each."""
    recipe = preset_named(scene.presets[0]).recipe
    run = Run(Stops(merges=scene.merges))
    compared = len(scene.presets) > 1
    columns = tuple(ColumnWanted(preset_named(name).recipe, run, name=name) for name in scene.presets)
    app = ExplorerApp(
        lambda publish: Session(publish, recipe, Run() if compared else run),
        typed=scene.typed,
        begin=lambda session: session.send(commands.Open((scene.corpus,))),
        then=(lambda app: app.compare(columns)) if compared else None,
        first_screen=scene.first_screen,
    )
    kept = []
    async with app.run_test(size=scene.size) as pilot:
        for frame in scene.frames:
            await _go(app, pilot, frame)
            kept.append(await _still(app, pilot))
    return kept if scene.walk else kept[-1:]


async def _go(app: ExplorerApp, pilot: Pilot[None], frame: Frame) -> None:
    while (now := app.engine.snapshot) is None or now.corpus.nothing_open:
        await pilot.pause(POLL_S)
    if frame.step is not None:
        app.engine.post(commands.GoTo(frame.step))
        while app.engine.snapshot is None or app.engine.snapshot.main.at.step != frame.step:
            await pilot.pause(POLL_S)
    for key in (*frame.keys, *frame.text):
        await pilot.press(key)


async def _still(app: ExplorerApp, pilot: Pilot[None]) -> list[Row]:
    """The screen, once it shows the same several times."""
    last, times = _seen(app), 0
    while times < STILL:
        await pilot.pause(POLL_S)
        now = _seen(app)
        last, times = now, times + 1 if now == last else 0
    return last


def _seen(app: ExplorerApp) -> list[Row]:
    picture = ScreenBuffer(*app.size, ColorSystem.TRUECOLOR, clusters_of)
    behind = app._background_screens
    picture.draw(app.screen._compositor.render_update(full=True, screen_stack=behind))  # type: ignore[arg-type]
    return picture.rows


# --- cells as SVG ---


@dataclass
class Drawing:
    """Rows of cells as SVG, with a class for each look.

    Attributes:
        size: Columns and rows.
        looks: The class of each style that was met.
    """

    size: tuple[int, int]
    looks: dict[str, str] = field(default_factory=dict)

    def row(self, y: int, row: Row) -> str:
        """A row: its grounds, then its texts."""
        shades = [_shade(style) for style in row.styles]
        top = TOP + y * LINE
        out = []
        for first, end in _stretches([ground for _, ground, _ in shades]):
            if (ground := shades[first][1]) != GROUND:
                width = round((end - first) * CELL, 1)
                out.append(f'<rect x="{round(first * CELL, 1)}" y="{top}" width="{width}" height="{LINE}" '
                           f'fill="{ground}"/>')
        for first, end in _stretches([(ink, more) for ink, _, more in shades]):
            text = "".join(row.texts[first:end])
            gap = len(text) - len(text.lstrip(" ")) if text.isascii() else 0
            shown = text.strip(" ") if text.isascii() else text.rstrip(" ")
            if not shown:
                continue
            cells = end - first - (len(text) - len(text.rstrip(" "))) - gap
            look = self._look(shades[first][0], shades[first][2])
            out.append(f'<text class="{look}" x="{round((first + gap) * CELL, 1)}" y="{top + SIZE - 1}" '
                       f'textLength="{round(cells * CELL, 1)}">{escape(shown).replace(" ", "&#160;")}</text>')
        return "".join(out)

    def _look(self, ink: str, more: str) -> str:
        return self.looks.setdefault(f"fill:{ink}{more}", f"l{len(self.looks)}")

    def whole(self, body: str, styles: str = "", below: int = 0) -> str:
        """The file: a window with a bar, and the rows in it."""
        width, height = round(self.size[0] * CELL + 16, 1), TOP + self.size[1] * LINE + 12 + below
        looks = "".join(f".{name}{{{style}}}" for style, name in self.looks.items())
        dots = "".join(f'<circle cx="{18 + 20 * n}" cy="15" r="5.5" fill="{color}"/>'
                       for n, color in enumerate(("#ff5f57", "#febc2e", "#28c840")))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">\n<style>'
            f"text{{font:{SIZE}px 'Fira Code','DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}}"
            f"{looks}{styles}</style>\n"
            f'<rect width="{width}" height="{height}" rx="8" fill="{GROUND}" stroke="#444"/>{dots}\n'
            f'<g transform="translate(8 0)">\n{body}\n</g>\n</svg>\n'
        )


def _stretches(values: Sequence[object]) -> Iterator[tuple[int, int]]:
    """The stretches of equal values, as (first, end)."""
    first = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[first]:
            yield first, place
            first = place


def _shade(style: CellStyle) -> tuple[str, str, str]:
    """The ink, the ground and the rest of the style of a cell."""
    ink, ground = _color(style.foreground) or INK, _color(style.background) or GROUND
    if style.attributes & REVERSE:
        ink, ground = ground, ink
    more = ";font-weight:bold" * bool(style.attributes & BOLD) + ";opacity:.6" * bool(style.attributes & DIM)
    more += ";font-style:italic" * bool(style.attributes & ITALIC)
    return ink, ground, more + ";text-decoration:underline" * bool(style.attributes & UNDERLINE)


def _color(parameters: str) -> str:
    """A color by the parameters that set it, empty for the terminal's own."""
    numbers = [int(one) for one in parameters.split(";") if one]
    match numbers:
        case [38 | 48, 2, red, green, blue]:
            return f"#{red:02x}{green:02x}{blue:02x}"
        case [38 | 48, 5, number]:
            return Color.from_ansi(number).get_truecolor().hex
        case [number]:
            code = number % 10 + 8 * (number >= 90)
            return Color.from_ansi(code).get_truecolor().hex
        case _:
            return ""


def picture(scene: Scene, rows: list[Row]) -> str:
    """A picture of one screen."""
    drawing = Drawing(scene.size)
    return drawing.whole("\n".join(filter(None, (drawing.row(y, row) for y, row in enumerate(rows)))))


def walk(scene: Scene, frames: list[list[Row]]) -> str:
    """A file that shows frame after frame, for ever. Without motion it shows the first."""
    drawing = Drawing(scene.size)
    seen: dict[str, set[int]] = {}
    for number, rows in enumerate(frames):
        for y, row in enumerate(rows):
            if drawn := drawing.row(y, row):
                seen.setdefault(drawn, set()).add(number)
        y = TOP + scene.size[1] * LINE + 22
        said = escape(scene.frames[number].said)
        seen.setdefault(f'<text x="4" y="{y}" fill="#ffaf5f">{said}</text>', set()).add(number)
    sets = {frozenset(numbers) for numbers in seen.values() if len(numbers) < len(frames)}
    names = {numbers: f"f{n}" for n, numbers in enumerate(sorted(sets, key=sorted))}
    times = [0.0]
    for frame in scene.frames:
        times.append(times[-1] + frame.seconds)
    styles = []
    for numbers, name in names.items():
        stops, before = [], None
        for n in range(len(frames)):
            now = "visible" if n in numbers else "hidden"
            if now != before:
                stops.append(f"{100 * times[n] / times[-1]:.4g}%{{visibility:{now}}}")
                before = now
        first = "visible" if 0 in numbers else "hidden"
        styles.append(f"@keyframes {name}{{{''.join(stops)}}}"
                      f".{name}{{visibility:{first};animation:{name} {times[-1]:g}s step-end infinite}}")
    styles.append("@media(prefers-reduced-motion:reduce){g{animation:none!important}}")
    bodies = []
    for drawn, numbers in seen.items():
        name = names.get(frozenset(numbers), "")
        bodies.append(f'<g class="{name}">{drawn}</g>' if name else drawn)
    return drawing.whole("\n".join(bodies), "".join(styles), below=28)


def drawn(scene: Scene) -> str:
    """The file of a scene, as a terminal with 16 million colors shows it."""
    os.environ.pop("NO_COLOR", None)
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    frames = asyncio.run(frames_of(scene))
    return walk(scene, frames) if scene.walk else picture(scene, frames[-1])


def main(names: Sequence[str]) -> int:
    """Draw all scenes, or those of some names. Returns the exit code."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["TOKENTUI_HOME"] = home
        for scene in SCENES:
            if not names or Path(scene.path).stem in names:
                (DOCS / scene.path).write_text(drawn(scene), encoding="utf-8")
                sys.stdout.write(f"{scene.path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
