"""Text of many scripts on the screen: whole grapheme clusters, one table of widths, and parts shown apart
where a token ends."""

from __future__ import annotations

import unicodedata
from itertools import accumulate, pairwise

import pytest
import regex
import soak
from grammar import is_clean
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len as measured_by_rich
from rich.cells import chop_cells, set_cell_size
from rich.color import ColorSystem
from rich.segment import Segment
from scripts import EMOJI, SCRIPTS, TRICKS
from textual._compositor import LayoutUpdate
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Input
from waiting import screen_text, until

from tokentui.core.safetext import MARKS_SHOWN, CharKind, clusters, is_safe, safe, visible
from tokentui.core.table import cell_width
from tokentui.session.views import CorpusPart, CorpusPlace, TokenSpan
from tokentui.thinwire import ScreenBuffer
from tokentui.ui.draw.running import BAR, Layout, LayoutKey
from tokentui.ui.draw.text import cell_len, clip, clusters_of, cut, replace, runs, width
from tokentui.ui.field import Field
from tokentui.ui.panes.editor import CorpusEditor

ALL = {**SCRIPTS, **EMOJI}
WORDS = st.text(
    st.sampled_from("".join(ALL.values())) | st.sampled_from("ab e\u0301\u200d\u200c\ufe0f語😀│·…ि"),
    max_size=30,
)


@pytest.mark.parametrize("script", ALL)
def test_text_is_shown_as_it_is(script: str) -> None:
    for word in ALL[script].split():
        assert [(span.text, span.kind) for span in visible(word)] == [(word, CharKind.text)]
        assert is_safe(word)
        assert is_clean(word)
        assert is_clean(safe(word))


@pytest.mark.parametrize("script", ALL)
def test_no_grapheme_cluster_is_cut(script: str) -> None:
    """By the segmentation of the `regex` module; ours keeps a spacing mark with what it follows as well."""
    text = ALL[script]
    ours = {cluster.start for cluster in clusters(text)}
    assert ours <= {0, *accumulate(len(one) for one in regex.findall(r"\X", text))}


@pytest.mark.parametrize("trick", TRICKS)
def test_what_is_seen_nowhere_is_written_out(trick: str) -> None:
    shown = "".join(span.text for span in visible(trick))
    assert is_clean(shown)
    assert f"U+{ord(TRICKS[trick]):04X}" in shown
    assert is_safe(replace(trick))


def test_piles_of_marks_are_bounded_in_each_cluster() -> None:
    for mark in "\u0310\u0940\u20dd":
        pile = "क" + mark * 300
        (first, *_), rest = visible(pile)[0], visible(pile)[1:]
        assert first == "क" + mark * MARKS_SHOWN
        assert "".join(span.text for span in rest) == f"U+{ord(mark):04X}" * (300 - MARKS_SHOWN)
        part = CorpusPart(CorpusPlace(), pile, (TokenSpan(0, len(pile), False, False),))
        held = Layout((part,), LayoutKey(10_000, "shade", "text"), CorpusPlace(), True)
        assert "".join(text for text, _ in held.row(0)) == "".join(span.text for span in visible(pile))


@pytest.mark.slow
def test_the_table_gives_spacing_marks_a_column_and_is_that_of_the_command_line() -> None:
    newer: dict[str, int] = {}
    for char in map(chr, soak.code_points()):
        category = unicodedata.category(char)
        if category == "Mc":
            assert cell_len(char) == 1, hex(ord(char))
        if char.isprintable() and cell_len(char) != cell_width(char) and is_safe(char):
            newer[category] = newer.get(category, 0) + 1
    # Symbols that later versions of Unicode than Python's made wide.
    assert set(newer) <= {"So", "No"}
    assert sum(newer.values()) < 200


@given(WORDS)
def test_clusters_add_up_to_the_width_of_the_table(text: str) -> None:
    shown = "".join(span.text for span in visible(text))
    assert cell_len(shown) == sum(columns for _, columns in clusters_of(shown)) == cell_width(shown)
    assert "".join(cluster for cluster, _ in clusters_of(shown)) == shown


@given(WORDS, st.integers(0, 40))
def test_a_cut_text_fills_its_columns_with_whole_clusters(text: str, columns: int) -> None:
    shown = "".join(span.text for span in visible(text))
    head = cut(shown, columns)
    assert cell_len(head) == min(columns, cell_len(shown))
    kept = [cluster for cluster, _ in clusters_of(head.rstrip(" "))]
    assert kept == [cluster for cluster, _ in clusters_of(shown)][: len(kept)]
    assert width(clip(runs(text), columns)) == min(columns, width(runs(text)))


@given(st.lists(WORDS, max_size=5), st.integers(1, 30))
def test_drawn_cells_are_as_many_as_the_table_says(texts: list[str], columns: int) -> None:
    """Each cluster stands in one cell and leaves the others of its columns to nobody."""
    shown = ["".join(span.text for span in visible(text)) for text in texts]
    strip = Strip([Segment(text) for text in shown])
    picture = ScreenBuffer(max(1, strip.cell_length), 1, ColorSystem.EIGHT_BIT, clusters_of)
    picture.draw(LayoutUpdate([[strip]], Region(0, 0, strip.cell_length, 1)))
    (row,) = picture.rows
    if strip.cell_length:
        assert "".join(row.texts) == "".join(shown)
        heads = [place for place, text in enumerate(row.texts) if text]
        for start, end in pairwise([*heads, len(row.texts)]):
            assert end - start == cell_len(row.texts[start])
    narrow = ScreenBuffer(columns, 1, ColorSystem.EIGHT_BIT, clusters_of)
    narrow.draw(LayoutUpdate([[strip]], Region(0, 0, strip.cell_length, 1)))
    (row,) = narrow.rows
    assert sum(cell_len(text) for text in row.texts) == columns


@pytest.mark.parametrize("script", SCRIPTS)
def test_rich_lays_out_by_the_same_widths(script: str) -> None:
    text = SCRIPTS[script]
    columns = sum(columns for _, columns in clusters_of(text))
    assert measured_by_rich(text) == columns
    assert measured_by_rich(set_cell_size(text, columns + 7)) == columns + 7
    assert "".join(chop_cells(text, 5)) == text


# ---- tokens


def layout(text: str, ends: list[int], boundaries: str = "shade") -> str:
    """A row of tokens that end at these places."""
    tokens = tuple(TokenSpan(start, end, False, False) for start, end in pairwise([0, *ends]))
    layout_key = LayoutKey(10_000, "bars" if boundaries == "bars" else "shade", "text")
    layout = Layout((CorpusPart(CorpusPlace(), text, tokens),), layout_key, CorpusPlace(), True)
    return "".join([run for run, _ in layout.row(0)])


def test_a_text_of_single_characters_can_be_read() -> None:
    text = "रुपरेखा"
    assert layout(text, list(range(1, len(text) + 1))) == text


def test_where_a_token_ends_inside_a_cluster_both_parts_are_shown_apart() -> None:
    text = "रुपरेखा"
    assert layout(text, [2, 4, 5, 7]) == "रुपर◌ेखा"
    assert layout(text, [2, 5, 6, 7]) == text  # two tokens of a character each, in a cluster of theirs
    assert layout(text, [2, 6, 7]) == "रुपरेख◌ा"
    assert layout(text, [7]) == text
    assert layout(text, [1, 2, 7], "bars") == f"र{BAR}◌ु{BAR}परेखा"
    assert layout("👩🏽\u200d🚀x", [3, 5], "bars") == f"👩🏽U+200D{BAR}🚀x"
    assert layout("a👩🏽\u200d🚀", [2, 5]) == "a👩U+1F3FDU+200D🚀"
    assert layout("🇩🇪🇫", [1, 2, 3], "bars") == f"U+1F1E9{BAR}U+1F1EA{BAR}U+1F1EB"


def test_rows_follow_when_a_merge_joins_what_was_apart() -> None:
    text = "परेखा"
    layout_key = LayoutKey(4, "shade", "text")

    def tokens(*ends: int) -> tuple[CorpusPart, ...]:
        return (
            CorpusPart(
                CorpusPlace(), text, tuple(TokenSpan(a, b, False, False) for a, b in pairwise([0, *ends]))
            ),
        )

    apart = Layout(tokens(2, 3, 5), layout_key, CorpusPlace(), True)
    whole = Layout(tokens(3, 5), layout_key, CorpusPlace(), True, apart)
    again = Layout(tokens(2, 3, 5), layout_key, CorpusPlace(), True, whole)
    assert [apart.row(n) for n in range(len(apart.rows))] == [again.row(n) for n in range(len(again.rows))]
    rows = apart.rows
    assert apart.update_tokens(tokens(2, 3, 5), CorpusPlace(), True)
    assert apart.rows is rows
    assert apart.update_tokens(tokens(3, 5), CorpusPlace(), True)
    assert [apart.row(n) for n in range(len(apart.rows))] == [whole.row(n) for n in range(len(whole.rows))]
    assert not again.update_tokens((), CorpusPlace(), True), "it is another text"
    apart.update_tokens(tokens(2, 3, 5), CorpusPlace(), True)
    assert "".join(run for n in range(len(whole.rows)) for run, _ in whole.row(n)) == text
    assert "◌े" in "".join(run for n in range(len(apart.rows)) for run, _ in apart.row(n))


# ---- typed lines


class Typing(App[None]):
    """A line and an editor, and no guard."""

    CSS = (
        "Input { border: none; padding: 0; height: 1; } CorpusEditor { border: none; padding: 0; height: 3; }"
    )

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        self.line, self.editor = Field(self.text), CorpusEditor(self.text, lambda: None)
        yield self.line
        yield self.editor


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(
    "script", ["devanagari", "burmese", "hangul", "sinhala", "joined", "flags", "keycaps"]
)
async def test_the_cursor_moves_over_whole_clusters(script: str) -> None:
    text = ALL[script]
    ends = [cluster.end for cluster in clusters(text)]
    app = Typing(text)
    async with app.run_test(size=(80, 8)) as pilot:
        app.line.focus()
        await until(pilot, lambda: app.focused is app.line)
        await pilot.press("home")
        places = []
        for _ in ends:
            await pilot.press("right")
            places.append(app.line.cursor_position)
        assert places == ends
        backward = []
        for _ in ends:
            assert screen_text(pilot).split("\n")[0].rstrip() == text
            await pilot.press("left")
            backward.append(app.line.cursor_position)
        assert backward == [*ends[-2::-1], 0]
        await pilot.press("delete")
        assert app.line.value == text[ends[0] :]
        app.editor.focus()
        await until(pilot, lambda: app.focused is app.editor)
        places = []
        for _ in ends:
            await pilot.press("right")
            places.append(app.editor.cursor_location[1])
        assert places == ends
        await pilot.press("left")
        assert app.editor.cursor_location[1] == [0, *ends][-2]
        await pilot.press("delete")
        assert app.editor.text == text[: [0, *ends][-2]]


@pytest.mark.parametrize(
    ("text", "left"),
    [("हि", "ह"), ("e\u0301", "e"), ("x👩🏽\u200d🚀", "x"), ("x🇩🇪", "x"), ("x1\ufe0f\u20e3", "x")],
)
async def test_backspace_takes_back_what_was_typed(text: str, left: str) -> None:
    app = Typing(text)
    async with app.run_test() as pilot:
        app.line.focus()
        await until(pilot, lambda: app.focused is app.line)
        await pilot.press("end", "backspace")
        app.editor.focus()
        await until(pilot, lambda: app.focused is app.editor)
        await pilot.press("end", "backspace")
        assert (app.line.value, app.editor.text) == (left, left)


@given(WORDS)
@example("\u0628\u05b2\u200c")  # a letter that joins, with a mark of another script
def test_nothing_of_a_typed_text_is_lost_on_the_screen(text: str) -> None:
    """The line shows it, one for one, with stand-ins for what is unsafe."""
    shown = text if is_safe(text) else replace(text)
    assert len(shown) == len(text)
    assert is_clean(shown)
    for drawn, meant in zip(shown, text, strict=True):
        assert drawn == meant or not is_safe(meant) or unicodedata.category(meant)[0] == "M"


def test_an_input_of_textual_is_what_a_line_is() -> None:
    assert issubclass(Field, Input)
