"""Pictures: every cell is drawn in its place, and no text breaks the file."""

from __future__ import annotations

import re
import unicodedata
from xml.etree import ElementTree

import pytest
from hostile import SHORT

from tokentui.core.safetext import is_safe
from tokentui.thinwire import DEFAULT_STYLE, CellStyle, Row
from tokentui.ui.draw.glyphs import Shape, is_drawn, shapes_of
from tokentui.ui.draw.picture import CELL, LINE, TOP, Frame, ScreenPicture, as_png, as_svg, as_text
from tokentui.ui.draw.text import clusters_of, safe_content

RED = CellStyle(0, "38;2;255;0;0", "48;2;0;0;255")


def picture(*lines: str, style: CellStyle = DEFAULT_STYLE) -> ScreenPicture:
    """A picture of lines of text, in cells as the terminal has them."""
    rows = []
    for line in lines:
        texts = [cell for text, wide in clusters_of(line) for cell in (text, *[""] * (wide - 1))]
        rows.append(Row(texts, [style] * len(texts)))
    wide = max(len(row.texts) for row in rows)
    for row in rows:
        row.texts += [" "] * (wide - len(row.texts))
        row.styles += [DEFAULT_STYLE] * (wide - len(row.styles))
    return ScreenPicture(tuple(rows))


def texts(svg: str) -> list[tuple[float, str]]:
    """The texts of a picture, each with the column that it begins at."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [(round(float(one.attrib["x"]) / CELL, 2), (one.text or "").replace("\xa0", " ")) for one in found
            if "textLength" in one.attrib]


def test_a_text_stands_at_its_column() -> None:
    assert texts(as_svg([Frame(picture("ab  c d", "   漢字x", "a│b"))])) == [
        (0, "ab"), (4, "c d"), (3, "漢"), (5, "字"), (7, "x"), (0, "a b")]


def test_a_ground_is_one_area() -> None:
    svg = as_svg([Frame(picture("ab c", style=RED))])
    assert f'<path fill="#0000ff" d="M0,{TOP}h{4 * CELL:g}v{LINE}h-{4 * CELL:g}z"/>' in svg
    assert "fill:#ff0000" in svg


def test_a_bar_that_lies_has_a_line_below() -> None:
    svg = as_svg([Frame(picture("    ", style=RED._replace(attributes=1 << 3)))])
    assert f'd="M0,{TOP + LINE - 1}H{4 * CELL:g}"' in svg


def test_text_is_what_is_seen() -> None:
    assert as_text(picture("ab  ", " c")) == "ab\n c\n"


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("code", range(0x2500, 0x2580))
def test_a_line_reaches_the_sides_that_its_name_says(code: int) -> None:
    """Lines of neighboring cells meet there."""
    char, name = chr(code), unicodedata.name(chr(code))
    ends = {(round(x, 1), round(y, 1)) for shape in shapes_of(char, 10, 20, 8, 18) for x, y in points(shape)}
    reached = {
        "LEFT": any(x == 10 for x, _ in ends), "RIGHT": any(x == 18 for x, _ in ends),
        "UP": any(y == 20 for _, y in ends), "DOWN": any(y == 38 for _, y in ends),
    }
    if "DIAGONAL" in name:
        assert all(reached.values())
    elif "DASH" not in name:
        words = name.replace("HORIZONTAL", "LEFT RIGHT").replace("VERTICAL", "UP DOWN").split()
        assert {side for side in reached if reached[side]} == {side for side in reached if side in words}
    assert is_drawn(char)
    assert ends


def points(shape: Shape) -> list[tuple[float, float]]:
    """The places that the commands of a path go to."""
    at, found = (0.0, 0.0), []
    for command, rest in re.findall(r"([MLHVQhvz])([^MLHVQhvz]*)", shape.path):
        numbers = [float(one) for one in re.split(r"[ ,]", rest) if one]
        match command:
            case "H":
                at = (numbers[0], at[1])
            case "V":
                at = (at[0], numbers[0])
            case "h":
                at = (at[0] + numbers[0], at[1])
            case "v":
                at = (at[0], at[1] + numbers[0])
            case "M" | "L" | "Q":
                at = (numbers[-2], numbers[-1])
        found.append(at)
    return found


@pytest.mark.parametrize(("char", "area"), [("█", 144), ("▄", 72), ("▁", 18), ("▌", 72), ("▏", 18), ("▐", 72),
                                            ("▙", 108), ("▀", 72)])
def test_a_block_covers_its_part_of_the_cell(char: str, area: float) -> None:
    def size(shape: Shape) -> float:
        found = re.fullmatch(r"M[\d.,]+h([\d.]+)v([\d.]+)h[-\d.]+z", shape.path)
        assert found
        return float(found[1]) * float(found[2])

    assert sum(map(size, shapes_of(char, 0, 0, 8, 18))) == pytest.approx(area, rel=0.03)


def test_braille_has_a_dot_for_each_bit() -> None:
    for code in range(0x2800, 0x2900):
        drawn = "".join(shape.path for shape in shapes_of(chr(code), 0, 0, 8, 16))
        assert drawn.count("M") == (code - 0x2800).bit_count()


@pytest.mark.first_run(cases=20)
@pytest.mark.parametrize("text", [*SHORT, "]]>", "<script>alert(1)</script>", "&amp;", "a\x00b", "\ud800",
                                  "\ufffe", "\u202eabc", "'\"><path d=''"])
def test_no_text_breaks_the_file(text: str) -> None:
    """Also one that is not made safe before, as all cells are."""
    for shown in (str(safe_content(text)), text):
        cells = [*shown[:80]]
        svg = as_svg([Frame(ScreenPicture((Row(cells, [DEFAULT_STYLE] * len(cells)),)), said=shown)])
        root = ElementTree.fromstring(svg)
        assert {node.tag.rpartition("}")[2] for node in root.iter()} <= {
            "svg", "style", "rect", "circle", "g", "path", "text"}
        assert all(is_safe(line) for line in svg.replace("\xa0", " ").split("\n"))


def test_what_stands_still_is_written_once() -> None:
    frames = [Frame(picture("still", word), 2.0) for word in ("one", "two", "two", "one")]
    svg = as_svg(frames)
    assert svg.count(">still<") == 1
    assert (svg.count(">one<"), svg.count(">two<")) == (2, 1)
    assert "prefers-reduced-motion" in svg
    assert "@keyframes" not in as_svg(frames[:1])
    shown = re.findall(r"@keyframes f\d+{(.*?)}}", svg)
    assert len(shown) == 3
    assert "25%{visibility:visible}75%{visibility:hidden" in svg


def test_a_png_is_twice_as_large() -> None:
    pytest.importorskip("resvg_py")
    data = as_png(as_svg([Frame(picture("ab"))]))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20]) == pytest.approx(2 * (2 * CELL + 16), abs=2)
