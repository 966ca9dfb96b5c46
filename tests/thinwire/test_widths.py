"""Terminals that draw clusters wider or narrower than we say: a wrong guess costs a cell, never a line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from scripts import EMOJI, SCRIPTS
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from tokentui.core.safetext import visible
from tokentui.thinwire import RICH_TEXT, DiffWriter, ScreenBuffer
from tokentui.ui.draw.text import cell_len, clusters_of

_WIDTH, _HEIGHT = 60, 4
_WORDS = [word for text in (*SCRIPTS.values(), *EMOJI.values()) for word in text.split()]
_SEQUENCE = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|\r|\n")
Columns = Callable[[str], int]


def as_the_c_library(char: str) -> int:
    """Marks that take no room have none, all others their own: no cluster is known, nothing is joined."""
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def all_marks_seen(char: str) -> int:
    """A terminal that knows of no marks."""
    return 2 if char >= "\U0001f000" or unicodedata.east_asian_width(char) in "WF" else 1


def marks_joined(char: str) -> int:
    """A terminal that puts every mark on what is before it."""
    return (
        0 if unicodedata.category(char)[0] in "MC" or "\u1160" <= char <= "\u11ff" else as_the_c_library(char)
    )


def narrow(char: str) -> int:
    """A terminal to which no emoji is wide."""
    return marks_joined(char) if char < "\U0001f000" else 1


_PICTURES = re.compile("[\U0001f000-\U000fffff\u2190-\u24ff\u2580-\u2bff\ufe0e\ufe0f\u20e3\u200d]")
GUESSES = [as_the_c_library, all_marks_seen, marks_joined, narrow]


class Other:
    """A terminal with widths of its own, and no wrapping.

    What covers part of a wide character takes away all of it.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.cells = [[" "] * _WIDTH for _ in range(_HEIGHT)]
        self.x = self.y = 0

    def feed(self, sent: str) -> None:
        """Take what is sent."""
        at = 0
        for match in _SEQUENCE.finditer(sent):
            self._print(sent[at : match.start()])
            at = match.end()
            self._act(match)
        self._print(sent[at:])

    def _act(self, match: re.Match[str]) -> None:
        numbers = [int(number) for number in (match[1] or "").split(";") if number]
        what = match[2] or match[0]
        if what == "H":
            self.y, self.x = (
                (numbers + [1, 1][len(numbers) :])[0] - 1, (numbers + [1, 1][len(numbers) :])[1] - 1,
            )
        elif what == "G":
            self.x = (numbers or [1])[0] - 1
        elif what == "C":
            self.x = min(_WIDTH - 1, self.x + (numbers or [1])[0])
        elif what == "X":
            for x in range(self.x, min(_WIDTH, self.x + (numbers or [1])[0])):
                self._put(x, " ")
        elif what == "J":
            self.cells = [[" "] * _WIDTH for _ in range(_HEIGHT)]
        elif what == "\r":
            self.x = 0
        elif what == "\n":
            self.y = min(_HEIGHT - 1, self.y + 1)
        else:
            assert what in "mr", match[0]

    def _put(self, x: int, text: str) -> None:
        row = self.cells[self.y]
        if not row[x] and x:
            row[x - 1] = " "
        if x + 1 < _WIDTH and not row[x + 1]:
            row[x + 1] = " "
        row[x] = text

    def _print(self, text: str) -> None:
        for char in text:
            width = self.columns(char)
            if not width:
                head = self.x - 1 if self.x and self.cells[self.y][self.x - 1] else self.x - 2
                if head >= 0:
                    self.cells[self.y][head] += char
                continue
            self.x = min(self.x, _WIDTH - width)
            self._put(self.x, char)
            if width == 2:
                self._put(self.x + 1, "x")
                self.cells[self.y][self.x + 1] = ""
            self.x += width


Clusters = Callable[[str], Sequence[tuple[str, int]]]


def picture_of(
    lines: list[str], picture: ScreenBuffer | None = None, clusters: Clusters = clusters_of
) -> ScreenBuffer:
    """Lines drawn as Textual draws them."""
    picture = picture or ScreenBuffer(_WIDTH, _HEIGHT, ColorSystem.EIGHT_BIT, clusters)
    strips: list[Iterable[Strip]] = [[Strip([Segment(line)]).adjust_cell_length(_WIDTH)] for line in lines]
    picture.draw(LayoutUpdate(strips, Region(0, 0, _WIDTH, len(lines))))
    return picture


def assert_no_more_than_a_cell_is_wrong(picture: ScreenBuffer, shown: Other) -> None:
    """Every plain cell stands where it belongs, but for one beside a cluster that the terminal draws
    otherwise."""
    for row, cells in zip(picture.rows, shown.cells, strict=True):
        for x, text in enumerate(row.texts):
            if text.isascii() and text.strip():
                assert cells[x] == text, (x, row.texts, cells)
        disputed = {x for x, text in enumerate(row.texts) if not (text.isascii() and text)}
        beside = disputed | {x - 1 for x in disputed} | {x + 1 for x in disputed}
        for x, text in enumerate(row.texts):
            if x not in beside:
                assert cells[x] == text, (x, row.texts, cells)


_LINES = st.lists(
    st.lists(st.sampled_from([*_WORDS, "a", "bcd ", " ", "  e", "│", "語"]), max_size=8).map("".join),
    min_size=_HEIGHT, max_size=_HEIGHT,
)


@pytest.mark.parametrize("clusters", [clusters_of, RICH_TEXT.clusters], ids=["tokentui", "rich"])
@pytest.mark.parametrize("columns", GUESSES)
@settings(max_examples=40)
@given(st.lists(_LINES, min_size=1, max_size=4))
@pytest.mark.first_run(cases=1)
def test_a_wrong_guess_never_costs_more_than_its_cell(
    columns: Columns, clusters: Clusters, screens: list[list[str]]
) -> None:
    wire, shown = DiffWriter(), Other(columns)
    picture: ScreenBuffer | None = None
    for lines in screens:
        picture = picture_of(lines, picture, clusters)
        shown.feed(wire.frame(picture, (0, 0)))
        assert_no_more_than_a_cell_is_wrong(picture, shown)


@given(st.lists(_LINES, min_size=1, max_size=4))
@settings(max_examples=40)
def test_a_terminal_of_the_c_library_shows_every_sign(screens: list[list[str]]) -> None:
    """No sign of a script is drawn over, as long as no emoji is wider than it is said to be."""
    wire, shown = DiffWriter(), Other(as_the_c_library)
    picture: ScreenBuffer | None = None
    for lines in screens:
        words = ["".join(char for char in line if not _PICTURES.match(char)) for line in lines]
        picture = picture_of(["".join(span.text for span in visible(line)) for line in words], picture)
        shown.feed(wire.frame(picture, (0, 0)))
        for row, cells in zip(picture.rows, shown.cells, strict=True):
            assert "".join(cells) == "".join(row.texts)


def test_plain_text_costs_nothing_of_it() -> None:
    plain = ["plain text, as it is · every day"] * _HEIGHT
    wire = DiffWriter()
    sent = wire.frame(picture_of(plain), (0, 0))
    assert "G" not in sent
    assert "X" not in sent
    assert len(sent) < _HEIGHT * (_WIDTH + 4) + 20


def test_what_follows_a_disputed_cluster_is_placed_outright() -> None:
    line = "कि a"
    wire = DiffWriter()
    wire.frame(picture_of(["xxxx" + "y" * 20, "", "", ""]), (0, 0))
    sent = wire.frame(picture_of([line + "y" * (24 - cell_len(line)), "", "", ""]), (0, 0))
    assert sent.startswith("\x1b[2Xकि\x1b[3G a")
    assert clusters_of(line)[0] == ("कि", 2)
