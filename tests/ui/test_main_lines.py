"""The lines of the main screen by themselves: figures, rows of text, tokens over ids, the curve."""

from __future__ import annotations

import dataclasses
import re
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rows import pair_row
from screens import PAIRS, encoded, snapshot, view

from tokentui import ui
from tokentui.axes import AXES
from tokentui.core.safetext import GLYPH_MODES, GlyphMode, is_safe
from tokentui.learn import Why
from tokentui.preset_table import preset_named
from tokentui.recipe import Recipe
from tokentui.session.views import CorpusPart, CorpusPlace, TokenSpan
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.figures import bar, between, number, signed, size, upright
from tokentui.ui.draw.lines import flow, shortened, spread
from tokentui.ui.draw.running import CYCLE, Boundaries, Layout, LayoutKey, glyphs, wrap
from tokentui.ui.draw.text import Cell
from tokentui.ui.panes.encode import further, laid_tokens, tokens
from tokentui.ui.panes.pane import note_cell
from tokentui.ui.panes.scrubber import curve
from tokentui.ui.panes.why import sentences, why_lines

PLACES = st.sampled_from("ab \n\t\r│€é中\u0301\u202e\x1b\udc80𝄞😀")
TEXTS = st.text(PLACES, max_size=60)
MODES = st.sampled_from(GLYPH_MODES)
CLAUSES = st.sampled_from(["one", "four words of it", "a" * 30, "9,310 / (12 · 4)"])


def plain(cell: Cell) -> str:
    """A cell without its styles."""
    return "".join(text for text, _ in cell)


def lines(cells: list[Cell]) -> str:
    """Cells as lines."""
    return "\n".join(plain(cell) for cell in cells)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_177_810, "1.2 MB"), (99_949_999, "99.9 MB"),
        (99_950_000, "100 MB"), (999_499_999, "999 MB"), (999_500_000, "1.0 GB"), (5 * 10**15, "5000 TB"),
    ],
)
def test_sizes(count: int, said: str) -> None:
    assert size(count) == said


def test_signs_are_real_minus_signs() -> None:
    assert (number(-1234), signed(-3), signed(0), signed(12)) == ("−1,234", "−3", "", "+12")


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 40))
def test_bars_grow_with_the_value_and_keep_their_room(value: int, whole: int, width: int) -> None:
    drawn = bar(value, whole, width)
    assert cell_len(drawn) <= width
    assert bool(drawn) == (value > 0 and whole > 0 and width > 0)
    if value >= whole > 0:
        assert drawn == "█" * width
    assert len(upright([value], whole)) == 1


@given(st.integers(0, 10**9), st.integers(1, 10**9), st.integers(1, 40))
def test_bars_are_proportional_to_values_from_zero(value: int, whole: int, width: int) -> None:
    value = min(value, whole)
    eighths = " ▏▎▍▌▋▊▉█"
    length = sum(eighths.index(part) for part in bar(value, whole, width)) / 8
    assert length == pytest.approx(width * value / whole, abs=1 / 8)
    upward = upright([value], whole)
    assert " ▁▂▃▄▅▆▇█".index(upward) / 8 == pytest.approx(value / whole, abs=1 / 8)


def test_only_one_module_draws_bars() -> None:
    drawing = {
        path.name for path in Path(ui.__file__).parent.rglob("*.py")
        if set("▏▎▍▋▊▉▂▃▅▆▇") & set(re.sub(r'""".*?"""', "", path.read_text("utf-8"), flags=re.S))
    }
    assert drawing == {"figures.py"}


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 1000)), min_size=1, unique_by=lambda one: one[0])
)
def test_values_between_steps_lie_between_theirs(known: list[tuple[int, int]]) -> None:
    steps, values = zip(*sorted(known), strict=True)
    for step in range(-1, 62):
        (found,) = between(steps, values, [step])
        if step in steps:
            assert found == values[steps.index(step)]
        elif steps[0] < step < steps[-1]:
            left = max(n for n, one in enumerate(steps) if one < step)
            assert found is not None
            assert min(values[left:left + 2]) <= found <= max(values[left:left + 2])
        else:
            assert found is None


@given(TEXTS, st.integers(1, 20), MODES, st.data())
@settings(max_examples=150)
def test_rows_hold_all_of_the_text_in_order(
    text: str, width: int, mode: GlyphMode, data: st.DataObject
) -> None:
    places = st.sets(st.integers(0, len(text)), max_size=6)
    breaks, bars = data.draw(places), data.draw(places)
    drawn = glyphs(text, mode, frozenset(breaks))
    assert [(glyph.start, glyph.end) for glyph in drawn] == list(zip(
        [0, *(glyph.end for glyph in drawn)], (glyph.end for glyph in drawn), strict=False))
    rows = list(wrap(text, drawn, width, breaks, bars))
    assert "".join(text[start:end] for start, end in rows) == text
    assert all(start < end for start, end in rows)
    starts = {start for start, _ in rows}
    glyph_starts = {glyph.start for glyph in drawn}
    assert breaks - {0, len(text)} <= starts <= glyph_starts
    for start, end in rows:
        inside = [glyph for glyph in drawn if start <= glyph.start < end]
        cells = sum(glyph.width for glyph in inside) + sum(
            1 for glyph in inside if glyph.start in bars and glyph.start != start
        )
        assert cells <= width or len(inside) == 1
        assert "\n" not in text[start : end - 1]


def test_words_stay_whole_where_they_fit() -> None:
    text = "one two three abcdefghij k"
    assert [text[a:b] for a, b in wrap(text, glyphs(text, "text"), 8)] == [
        "one two", " three a", "bcdefghi", "j k",
    ]


def parts_of(text: str, cuts: list[int]) -> tuple[CorpusPart, ...]:
    """A text cut into parts, each a token for every character."""
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return tuple(
        CorpusPart(
            CorpusPlace(0, a), text[a:b], tuple(TokenSpan(n, n + 1, False, False) for n in range(b - a))
        )
        for a, b in pairwise(edges)
    )


@given(
    TEXTS.filter(bool), st.lists(st.integers(0, 60), max_size=6), st.integers(1, 20), MODES,
    st.sampled_from(["chips", "shade"]),
)
@settings(max_examples=100)
def test_rows_without_bars_do_not_depend_on_tokens_that_cut_no_cluster(
    text: str, cuts: list[int], width: int, mode: GlyphMode, mark: Boundaries
) -> None:
    layout_key = LayoutKey(width, mark, mode)
    whole = {glyph.start for glyph in glyphs(text, mode)}
    parts = parts_of(text, [cut for cut in cuts if cut % (len(text) + 1) in whole])
    merged = tuple(p._replace(tokens=(TokenSpan(0, len(p.text), True, False),)) for p in parts)
    first = Layout(parts, layout_key, CorpusPlace(), True)
    rows = [plain(first.row(n)) for n in range(len(first.rows))]
    second = Layout(merged, layout_key, CorpusPlace(), True, first)
    assert rows == [plain(second.row(n)) for n in range(len(second.rows))]
    assert first.update_tokens(merged, CorpusPlace(), True)
    assert [first.row(n) for n in range(len(first.rows))] == [
        second.row(n) for n in range(len(second.rows))
    ]
    for row in range(len(first.rows)):
        assert all(is_safe(run) for run, _ in first.row(row))
        assert first.row_of(first.place_of(first.rows[row][0])) == row


@given(TEXTS.filter(bool), st.lists(st.integers(0, 60), max_size=6), st.integers(1, 20), MODES,
    st.sampled_from(CYCLE))
@settings(max_examples=60)
def test_other_tokens_of_a_text_lie_as_if_it_were_laid_out_anew(
    text: str, cuts: list[int], width: int, mode: GlyphMode, mark: Boundaries
) -> None:
    layout_key, anchor = LayoutKey(width, mark, mode), CorpusPlace(0, len(text) // 2)
    apart = parts_of(text, cuts)
    merged = tuple(p._replace(tokens=(TokenSpan(0, len(p.text), True, False),)) for p in apart)
    held = Layout(apart, layout_key, anchor, False)
    for parts in (merged, apart):
        assert held.update_tokens(parts, anchor, False)
        anew = Layout(parts, layout_key, anchor, False, held)
        assert (held.rows, held.row_of(anchor)) == (anew.rows, anew.row_of(anchor))
        assert [held.row(n) for n in range(len(held.rows))] == [anew.row(n) for n in range(len(anew.rows))]


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=5), min_size=1, max_size=8))
def test_neighboring_tokens_look_different(words: list[list[int]]) -> None:
    """A plain character is a token by itself; where one has more characters, it has another ground than its
    neighbors."""
    parts, at = [], 0
    for widths in words:
        ends = list(accumulate(widths))
        tokens = tuple(
            TokenSpan(end - width, end, False, False) for end, width in zip(ends, widths, strict=True)
        )
        parts.append(CorpusPart(CorpusPlace(0, at), "x" * ends[-1], tokens))
        at += ends[-1]
    held = Layout(tuple(parts), LayoutKey(10_000, "shade", "text"), CorpusPlace(), True)
    assert len(held.rows) == 1
    grounds = [style for text, style in held.row(0) for _ in text]
    places = [0, *accumulate(width for widths in words for width in widths)]
    tokens_seen = [(set(grounds[start:end]), end - start) for start, end in pairwise(places)]
    assert all(len(ground) == 1 for ground, _ in tokens_seen)
    for (left, left_width), (right, right_width) in pairwise(tokens_seen):
        assert left != right or left_width == right_width == 1


def test_shades_stay_while_the_window_moves() -> None:
    parts = view().parts
    layout_key = LayoutKey(40, "shade", "text")
    first = Layout(parts, layout_key, CorpusPlace(), True)
    moved = Layout(parts[3:], layout_key, parts[3].place, False, first)
    back = Layout(parts, layout_key, CorpusPlace(), True, moved)
    shades = {part.place: first.parity_of(part.place) for part in parts}
    assert set(shades.values()) == {0, 1}
    assert all(moved.parity_of(part.place) == shades[part.place] for part in parts[3:])
    assert all(back.parity_of(part.place) == shades[part.place] for part in parts)


def test_a_row_that_is_seen_keeps_its_beginning_where_the_line_began_elsewhere() -> None:
    text = "abc def " * 30
    parts = tuple(CorpusPart(CorpusPlace(0, 1000 + n), text[n : n + 8], ()) for n in range(0, len(text), 8))
    held = Layout(parts, LayoutKey(11, "shade", "text"), CorpusPlace(0, 1059), False)
    assert 59 in {start for start, _ in held.rows}


def test_a_character_of_several_tokens_is_underlined() -> None:
    part = CorpusPart(
        CorpusPlace(), "5€",
        (TokenSpan(0, 1, False, False), *(TokenSpan(1, 2, n == 2, True) for n in range(3))),
    )
    held = Layout((part,), LayoutKey(10, "shade", "text"), CorpusPlace(), True)
    assert held.row(0)[-1] == ("€", "fresh-other+partial-here")
    assert plain(Layout((part,), LayoutKey(10, "bars", "text"), CorpusPlace(), True).row(0)) == "5│€"


def test_dropped_text_and_found_text_are_told() -> None:
    parts = (
        CorpusPart(CorpusPlace(), "ab", (TokenSpan(0, 2, False, False),)),
        CorpusPart(CorpusPlace(0, 2), "--", ()),
    )
    held = Layout(parts, LayoutKey(10, "shade", "text"), CorpusPlace(), True)
    assert held.row(0) == (("ab", "shade-a"), ("--", "dropped"))
    assert held.row(0, [(1, 3)]) == (
        ("a", "shade-a"), ("b", "shade-a+match"), ("-", "dropped+match"), ("-", "dropped"),
    )


@given(
    st.lists(st.text("ab中 €", min_size=1, max_size=9), max_size=30), st.integers(0, 60), st.integers(0, 7)
)
def test_tokens_stand_over_their_ids(words: list[str], width: int, height: int) -> None:
    view_of = encoded()
    made = tuple(
        view_of.tokens[0]._replace(id=1000 + n, piece=word.encode(), text=word)
        for n, word in enumerate(words)
    )
    out = laid_tokens(made, width, height, "text").lines
    assert len(out) <= max(height, 1)
    assert all(ui_text.width(cell) <= width + 2 or "more" in plain(cell) for cell in out)
    if not words or not out or width < 12:
        return  # so little room has none for how many are left
    upper = [plain(cell) for cell in (out[::2] if height > 1 else out)]
    shown = sum(line.partition(" … +")[0].count("│") + 1 for line in upper if not line.startswith("   …"))
    left = [line.rpartition("+")[2].removesuffix(" more") for line in upper if line.endswith(" more")]
    assert shown + sum(int(count.replace(",", "")) for count in left) == len(words)
    for above, below in zip(out[::2], out[1::2], strict=False):
        bars = [cell_len(plain(above)[:n]) for n, char in enumerate(plain(above)) if char == "│"]
        assert all(plain(below)[place : place + 1] in (" ", "") for place in bars)


@pytest.mark.parametrize(("back", "said"), [("", "nothing"), ("The", "The")])
def test_what_decoding_does_not_give_back_is_told(back: str, said: str) -> None:
    view_of = dataclasses.replace(encoded("The crowd"), lost=("spaces",), back=back)
    told = [plain(cell) for cell in tokens(view_of, "text", None, 60, 6)]
    assert told[2:] == [f"  decoding gives back {said} · spaces"]
    # In two lines the ids stay, and it is on the next page.
    first = tokens(view_of, "text", None, 60, 2)
    assert plain(first[1]).split() == [str(token.id) for token in view_of.tokens]
    rest = [plain(cell) for cell in further(view_of, "text", None, 60, 2, "")]
    assert rest == [f"  decoding gives back {said} · spaces"]
    assert further(view_of, "text", None, 60, 6, "") == []


@given(st.text("a中 ", max_size=20), st.text("b中 ", max_size=20), st.integers(0, 40))
def test_spread_fills_its_width_exactly(left: str, right: str, width: int) -> None:
    assert ui_text.width(spread(((left, ""),), ((right, ""),), width)) == width


@pytest.mark.parametrize("width", [0, 1, 2, 10, 100])
@pytest.mark.parametrize("step", [0, 128, 1000])
def test_the_curve_marks_the_step(width: int, step: int) -> None:
    drawn = curve(snapshot(step=step).main, width)
    assert len(plain(drawn)) == width
    assert plain(drawn).count("┃") == (1 if width else 0)
    if width > 1:
        assert plain(drawn).index("┃") == round(step / 1000 * (width - 1))
        assert sum(len(bars) for bars, style in drawn if style == "past") == plain(drawn).index("┃")


def test_what_is_not_trained_yet_is_not_in_the_curve() -> None:
    drawn = plain(curve(snapshot(step=10, computed=500, curve=snapshot().main.curve.points[:32]).main, 63))
    assert drawn.count("·") in (31, 32)
    assert drawn.endswith("·" * 31)


def test_ties_ends_and_an_empty_corpus_are_explained() -> None:
    tied = snapshot(why=Why(PAIRS[3], PAIRS[4], 4, 6530, "first-seen", None))
    assert "4 pairs are tied at 6,530: first-seen takes the one that occurs first in the corpus" in lines(
        sentences(tied, "text")
    )
    once = Why(dataclasses.replace(PAIRS[3], places=1), None, 1, 1, "first-seen", None)
    assert "1 place, 1 replaced" in lines(sentences(snapshot(why=once), "text"))
    end = Why(None, None, 0, 0, "lowest-ids", "no pair is left\x1b")
    ended = lines(sentences(snapshot(why=end), "text")).splitlines()
    assert ended == ["end  no pair is left\\x1b", "made  ·t+he → ·the   9,310 places"]
    few = snapshot(why=Why(None, None, 0, 0, "lowest-ids", "no pair left"), recipe=preset_named("t5").recipe)
    assert lines(sentences(few, "text")).startswith("end  the corpus has fewer pieces than requested")
    assert "the corpus is empty" in lines(sentences(snapshot(why=end, start_tokens=0), "text"))


@pytest.mark.parametrize(("width", "shown"), [
    (32, "newest first · tokens: 704"), (31, "tokens: 704"), (17, "tokens: 704"), (16, "704"), (9, "704"),
    (8, ""),
])
def test_the_number_of_a_note_gives_way_last(width: int, shown: str) -> None:
    note = (("newest first · ", "muted"), ("tokens: ", "muted"), ("704", "muted"))
    assert plain(note_cell(note, width)) == shown


@settings(max_examples=60)
@given(st.lists(st.lists(CLAUSES, min_size=1, max_size=3), min_size=1, max_size=4),
    st.sampled_from([", ", " · ", ": ", "   "]), st.integers(1, 120))
def test_a_line_that_is_too_long_loses_whole_clauses(parts: list[list[str]], seam: str, width: int) -> None:
    line = " · ".join([seam.join(some) for some in parts])
    cut = plain(shortened(((line, "muted"),), width))
    assert cell_len(cut) <= width
    if cut.endswith("…"):
        assert cell_len(parts[0][0]) > width  # not even the first clause fits
    else:
        assert line == cut or line.startswith((f"{cut} · ", cut + seam))
        assert cut.count("(") == cut.count(")")


def test_the_last_line_of_why_ends_with_a_clause() -> None:
    both = [(" · ", one) for one in sentences(snapshot(), "text")]
    assert lines(flow(both, 80, 1)) == (
        " next  ·t+he → ·the   9,310 places, 9,310 replaced · runner-up an+d 8,852"
    )


@pytest.mark.parametrize("height", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("length", [1, 12, 40])
@pytest.mark.parametrize("tie", AXES["tie"].written())
@pytest.mark.first_run(cover=2)
def test_the_last_step_keeps_a_line_of_why_however_long_the_others_are(
    height: int, width: int, length: int, tie: str
) -> None:
    left, right = b" " + b"l" * length, b"r" * length
    best = pair_row(left, right, left + right, 9310, tied=True)
    why = Why(best, best, 84, 9310, tie)
    shown = sentences(snapshot(why=why, last=best, recipe=Recipe(tie=tie)), "text")
    lines = [plain(line) for line in why_lines(shown, width, height)]
    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)
    assert lines[0].startswith(" made " if height == 1 else " next  ")
    assert " next  " in lines[0]
    if height > 1:
        assert lines[-1].startswith(" made  ")
