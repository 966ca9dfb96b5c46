"""Pictures of screens: cells as SVG or text, or as a PNG.

All pictures of the program are made here: those that a user exports, those that `tokentui picture` writes,
and those of the documents. Several frames make an SVG that moves: what stands still is written once, and
style sheets alone make the rest appear and go. Without motion, as a user may prefer it, the first frame is
seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import category

from rich.color import Color, ColorSystem
from textual.app import App
from textual.screen import Screen

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.thinwire import CellStyle, Row, ScreenBuffer
from tokentui.ui.draw.glyphs import is_drawn, number, shapes_of
from tokentui.ui.draw.text import clusters_of

CELL, LINE, SIZE, TOP, SAID = 8.4, 18, 14, 30, 28
"""Pixels: the width of a cell, the height of a row, of a letter, of the bar above, of a line below."""
_MARGIN, _BELOW = 8, 12
_FONTS = "'Fira Code','DejaVu Sans Mono',Menlo,Consolas,monospace"
_FONT = "fontpkg_fira_code", "files/FiraCode[wght].ttf"
_ZOOM = 2
"""Pixels of a PNG for a pixel of the SVG, in each direction."""
_BOLD, _DIM, _ITALIC, _UNDERLINE, _REVERSE, _STRIKE = (1 << bit for bit in (0, 1, 2, 3, 6, 8))
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class ScreenPicture:
    """What a screen shows.

    Attributes:
        rows: Its rows of cells.
        ink: The color of text without a color.
        ground: The color behind cells without a background.
        dark: Whether that background is dark.
    """

    rows: tuple[Row, ...]
    ink: str = "#dadada"
    ground: str = "#121212"
    dark: bool = True

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows."""
        return (len(self.rows[0].texts) if self.rows else 0), len(self.rows)


@dataclass(frozen=True)
class Frame:
    """A picture of an animation.

    Attributes:
        picture: The picture.
        seconds: How long it is shown.
        said: A caption below it; empty for none.
    """

    picture: ScreenPicture
    seconds: float = 1.0
    said: str = ""


def picture_of(app: App[Any], screen: Screen[Any] | None = None) -> ScreenPicture:
    """Return what an app shows, in 16 million colors.

    Args:
        app: The app.
        screen: One of its screens, drawn without those over it; None for the visible one.
    """
    stack = app.screen_stack
    place = len(stack) - 1 if screen is None else stack.index(screen)
    first = next((n for n in range(place - 1, -1, -1) if stack[n].styles.background.a == 1), 0)
    buffer = ScreenBuffer(*app.size, ColorSystem.TRUECOLOR, clusters_of)
    update = stack[place]._compositor.render_update(full=True, screen_stack=stack[first:place])
    buffer.draw(update)  # type: ignore[arg-type]
    dark = app.current_theme.dark
    named = [app.theme_variables.get(name, "") for name in ("foreground", "background")]
    usual = ("#dadada", "#121212") if dark else ("#1c1c1c", "#eeeeee")
    ink, ground = (color.lower() if color.startswith("#") and len(color) == 7 else other
                   for color, other in zip(named, usual, strict=True))
    return ScreenPicture(tuple(buffer.rows), ink, ground, dark)


def made(frames: Sequence[Frame], form: str) -> bytes:
    """Return frames as the content of a file. A text and a PNG show only the last one.

    Args:
        frames: The frames; at least one.
        form: `svg`, `text` or `png`.

    Raises:
        TokentuiError: The extra `png` is not installed.
    """
    if form == "text":
        return as_text(frames[-1].picture).encode()
    return as_png(as_svg(frames[-1:])) if form == "png" else as_svg(frames).encode()


def as_text(picture: ScreenPicture) -> str:
    """Return a picture as lines of text without trailing spaces. Bars, which are spaces in reverse, become
    full blocks."""
    lines = []
    for row in picture.rows:
        cells = zip(row.texts, row.styles, strict=True)
        lines.append("".join(
            "█" if text == " " and _is_bar(style, picture.ink) else text for text, style in cells))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _is_bar(style: CellStyle, ink: str) -> bool:
    """Return whether a space is part of a bar: in reverse, and in another color than text, which a cursor
    has."""
    return bool(style.attributes & _REVERSE) and _color(style.foreground) not in ("", ink)


def as_png(svg: str) -> bytes:
    """Return a picture as a PNG.

    Args:
        svg: What `as_svg` returned.

    Raises:
        TokentuiError: The extra `png` is not installed.
    """
    if find_spec("resvg_py") is None or find_spec(_FONT[0]) is None:
        raise TokentuiError("a PNG needs the extra png", "picture", "pip install 'tokentui[png]'")
    import resvg_py  # only a PNG needs it

    spec = find_spec(_FONT[0])
    assert spec is not None
    assert spec.origin is not None
    font = Path(spec.origin).parent / _FONT[1]
    # The letters of this font have the width of a cell. With a length given, it would draw ## as a ligature.
    drawn = re.sub(' textLength="[^"]*"', "", svg)
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn, font_files=[str(font)], zoom=_ZOOM))


# --- SVG


@dataclass
class _Drawn:
    """What is seen in the same frames: areas and strokes by their looks, and texts."""

    areas: dict[str, list[str]] = field(default_factory=dict)
    shapes: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


_Part = tuple[str, str, str]
"""A part of a picture: `area`, `shape` or `text`, its attributes, and its path or text."""


def as_svg(frames: Sequence[Frame]) -> str:
    """Return frames as an SVG; with several frames it is an endless animation."""
    looks: dict[str, str] = {}
    seen: dict[_Part, list[int]] = {}
    first = frames[0].picture
    columns, lines = first.size
    for n, frame in enumerate(frames):
        for y, row in enumerate(frame.picture.rows):
            for part in _parts(row, y, first, looks):
                places = seen.setdefault(part, [])
                if places[-1:] != [n]:
                    places.append(n)
        if frame.said:
            attributes = f'x="4" y="{TOP + lines * LINE + SAID - 6}" fill="{_accent(first)}"'
            seen.setdefault(("text", attributes, escape(_safe(frame.said))), []).append(n)
    groups: dict[tuple[int, int], _Drawn] = {}
    for (kind, attributes, content), places in seen.items():
        for span in _spans(places):
            drawn = groups.setdefault(span, _Drawn())
            if kind == "text":
                drawn.texts.append(f"<text {attributes}>{content}</text>")
            else:
                (drawn.areas if kind == "area" else drawn.shapes).setdefault(attributes, []).append(content)
    styles, names = _motion(frames, groups)
    body = []
    for layer in ("areas", "inks"):
        for span, drawn in sorted(groups.items()):
            listed = drawn.areas if layer == "areas" else drawn.shapes
            inside = "".join(f'<path {look} d="{"".join(paths)}"/>' for look, paths in listed.items())
            inside += "\n".join(drawn.texts) if layer == "inks" else ""
            if inside:
                name = names[span]
                body.append(f'<g class="{name}">{inside}</g>' if name else inside)
    below = SAID if any(frame.said for frame in frames) else 0
    width = number(columns * CELL + 2 * _MARGIN)
    height = TOP + lines * LINE + _BELOW + below
    classes = "".join(f".{name}{{{style}}}" for style, name in looks.items())
    dots = "".join(f'<circle cx="{18 + 20 * n}" cy="15" r="5.5" fill="{color}"/>'
                   for n, color in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    edge = "#444" if first.dark else "#bbb"
    joined = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">\n<style>'
        f"text{{font:{SIZE}px {_FONTS};white-space:pre;unicode-bidi:bidi-override;"
        f"letter-spacing:.01px}}{classes}{styles}</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="{first.ground}" stroke="{edge}"/>{dots}\n'
        f'<g transform="translate({_MARGIN} 0)">\n{joined}\n</g>\n</svg>\n'
    )


def _parts(row: Row, y: int, picture: ScreenPicture, looks: dict[str, str]) -> Iterator[_Part]:
    """Yield the parts of a row: the backgrounds, the shapes, then the texts.

    Args:
        row: The row.
        y: Its number.
        picture: The picture that gives the default colors.
        looks: Maps styles of text to names of classes; new ones are added.
    """
    shades = [_shade(style, picture) for style in row.styles]
    top = TOP + y * LINE
    for first, end in _stretches([ground for _, ground, _ in shades]):
        if (ground := shades[first][1]) != picture.ground:
            left, wide = first * CELL, (end - first) * CELL
            yield ("area", f'fill="{ground}"',
                   f"M{number(left)},{top}h{number(wide)}v{LINE}h{number(-wide)}z")
    for first, end in _stretches([(ink, more) for ink, _, more in shades]):
        ink, _, more = shades[first]
        dim = ' opacity=".6"' * ("opacity" in more)
        if "underline" in more and set(row.texts[first:end]) == {" "}:  # the line below a bar that lies
            yield ("shape", f'stroke="{ink}"{dim} stroke-width="2"',
                   _flat_line(first, end, top + LINE // 2 - 1))
        for start, stop in _runs_of_lines(row.texts, first, end):
            yield "shape", f'stroke="{ink}"{dim} stroke-width="1.2"', _flat_line(start, stop, top)
        for n in range(first, end):
            if row.texts[n] != "─" and len(row.texts[n]) == 1 and is_drawn(row.texts[n]):
                for shape in shapes_of(row.texts[n], n * CELL, top, CELL, LINE):
                    faint = f' opacity="{shape.opacity:g}"' if shape.opacity != 1 else dim
                    attributes = f'stroke="{ink}"{faint} stroke-width="{shape.stroke:g}"' if shape.stroke \
                        else f'fill="{ink}"{faint}'
                    if shape.path.endswith("h0"):
                        attributes += ' stroke-linecap="round"'
                    elif shape.stroke:
                        attributes += ' fill="none"'
                    yield "shape", attributes, shape.path
        look = looks.setdefault(f"fill:{ink}{more}", f"l{len(looks)}")
        for start, text, cells in _texts(row.texts, first, end):
            attributes = (f'class="{look}" x="{number(start * CELL)}" y="{top + SIZE - 1}" '
                          f'textLength="{number(cells * CELL)}"')
            yield "text", attributes, escape(text, quote=False).replace(" ", "&#160;")


def _runs_of_lines(texts: Sequence[str], first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of horizontal lines between two cells, as (first, end)."""
    for start, stop in _stretches([text == "─" for text in texts[first:end]]):
        if texts[first + start] == "─":
            yield first + start, first + stop


def _flat_line(first: int, end: int, top: int) -> str:
    return f"M{number(first * CELL)},{number(top + LINE / 2)}H{number(end * CELL)}"


def _texts(texts: Sequence[str], first: int, end: int) -> Iterator[tuple[int, str, int]]:
    """Yield the texts of a stretch, as (first cell, text, cells). A wide cluster, or one that a font may draw
    at another width, begins a text of its own, so that what follows it keeps its place."""
    cells: list[tuple[str, int]] = []
    start = first
    for n in range(first, end + 1):
        text = texts[n] if n < end else " "
        wide = n < end and n + 1 < len(texts) and texts[n + 1] == "" and text != ""
        blank = n == end or text == " " or (len(text) == 1 and is_drawn(text))
        two = blank and (n + 1 >= end or texts[n + 1] == " " or is_drawn(texts[n + 1][:1] or " "))
        if wide or two:
            yield from _one_text(start, cells)
            cells, start = [], n + 1
            if wide:
                yield n, _safe(text), 2
                start = n + 2
        elif n >= start and text:
            cells.append((" " if blank else text, 1))
    yield from _one_text(start, cells)


def _one_text(start: int, cells: list[tuple[str, int]]) -> Iterator[tuple[int, str, int]]:
    """Yield the text of some cells as (first cell, text, cells), without spaces at both ends; nothing if
    there are only spaces. Removes those spaces from `cells`."""
    while cells and cells[0][0] == " ":
        del cells[0]
        start += 1
    while cells and cells[-1][0] == " ":
        del cells[-1]
    if cells:
        yield start, _safe("".join(text for text, _ in cells)), sum(wide for _, wide in cells)


def _safe(text: str) -> str:
    """Return a text that cannot break a file, as a second check: in a text that is not safe, replace unsafe
    characters and all combining marks."""
    if is_safe(text):
        return text
    alone = (is_safe(char) and not category(char).startswith("M") for char in text)
    return "".join(char if kept else _UNKNOWN for char, kept in zip(text, alone, strict=True))


def _spans(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of consecutive numbers, as (first, end). There must be one number at least."""
    first = places[0]
    for place, after in zip(places, (*places[1:], -1), strict=True):
        if after != place + 1:
            yield first, place + 1
            first = after


def _motion(
    frames: Sequence[Frame], spans: Iterable[tuple[int, int]]
) -> tuple[str, dict[tuple[int, int], str]]:
    """Return the style sheet that shows each span of frames at its time, and the class of each span; "" for
    the span of all frames."""
    times = [0.0]
    for frame in frames:
        times.append(times[-1] + frame.seconds)
    styles: list[str] = []
    names = {}
    for first, end in sorted(spans):
        if (first, end) == (0, len(frames)):
            names[first, end] = ""
            continue
        names[first, end] = name = f"f{len(names)}"
        stops = [(times[n], "visible" if first <= n < end else "hidden") for n in sorted({0, first, end})
                 if n < len(frames)]
        listed = "".join(f"{100 * at / times[-1]:.4g}%{{visibility:{how}}}" for at, how in stops)
        styles.append(f"@keyframes {name}{{{listed}}}.{name}{{visibility:{'hidden' if first else 'visible'};"
                      f"animation:{name} {times[-1]:g}s step-end infinite}}")
    if styles:
        styles.append("@media(prefers-reduced-motion:reduce){g{animation:none!important}}")
    return "".join(styles), names


def _stretches(values: Sequence[object]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of equal values, as (first, end)."""
    first = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[first]:
            yield first, place
            first = place


def _shade(style: CellStyle, picture: ScreenPicture) -> tuple[str, str, str]:
    """Return the text color, the background, and the other CSS of a cell."""
    ink, ground = _color(style.foreground) or picture.ink, _color(style.background) or picture.ground
    if style.attributes & _REVERSE:
        ink, ground = ground, ink
    more = ";font-weight:bold" * bool(style.attributes & _BOLD)
    more += ";opacity:.6" * bool(style.attributes & _DIM)
    more += ";font-style:italic" * bool(style.attributes & _ITALIC)
    lines = " underline" * bool(style.attributes & _UNDERLINE)
    lines += " line-through" * bool(style.attributes & _STRIKE)
    return ink, ground, more + (f";text-decoration:{lines.strip()}" if lines else "")


def _color(parameters: str) -> str:
    """Return a color as `#rrggbb` from the SGR parameters that set it; empty for a default color."""
    numbers = [int(one) for one in parameters.split(";") if one]
    match numbers:
        case [38 | 48, 2, red, green, blue]:
            return f"#{red:02x}{green:02x}{blue:02x}"
        case [38 | 48, 5, code]:
            return Color.from_ansi(code).get_truecolor().hex
        case [code]:
            return Color.from_ansi(code % 10 + 8 * (code >= 90)).get_truecolor().hex
        case _:
            return ""


def _accent(picture: ScreenPicture) -> str:
    """Return the color of captions."""
    return "#ffaf5f" if picture.dark else "#af5f00"
