"""The main screen: what each state shows, and what must hold at any size."""

from __future__ import annotations

import random
from typing import Any

import pytest
from rich.color import Color, ColorType
from screens import draw, explorer, screen_text, snapshot, view
from textual.color import Color as TextualColor
from waiting import strips_of, until

from tokentui.learn import PairCandidate, Why
from tokentui.recipe import Ending
from tokentui.session.views import Busy, CorpusPart, CorpusPlace, CorpusView, EncodedView, TokenSpan
from tokentui.ui.draw import text as ui_text

SIZES = ((120, 40), (80, 24), (40, 12), (20, 5))
PAIRS = [row for row in snapshot().main.candidates.rows if isinstance(row, PairCandidate)]
STATES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "step": ({}, ("·t+he → ·the", "an+d 8,852 (−458)", "402,118 → 392,808", "step   128 of 1,000")),
    "running": ({"running": True, "speed": 1000, "step": 640}, ("step   640 of 1,000", "▶ 1,000/s")),
    "tied": (
        {"why": Why(PAIRS[3], PAIRS[4], 4, 6530, "first-seen", None)},
        (
            "·h+e → ·he", "at 6,530", "in+g 6,530 (equal)", "first-seen", "402,118 → ", "your text ",
            "made  ",
        ),
    ),
    "busy": (
        {"busy": Busy("counting", 45, 100, left=12), "partial": True},
        ("counting  45 %", "12 s left", "these numbers still grow"),
    ),
    "end": (
        {
            "why": Why(None, None, 0, 0, "lowest-ids", "no pair is left"), "pairs": (), "pairs_total": 0,
            "step": 1000,
        },
        ("no pair is left",),
    ),
    "error": (
        {"encoding": EncodedView("é", (), 2, "é: not in the vocabulary (use unknown=drop)")},
        ("é: not in the vocabulary (use unknown=drop)",),
    ),
}
"""The states of the screen, and how a snapshot changes them."""
EMPTY: dict[str, Any] = {
    "corpus_name": "nothing open", "corpus_bytes": 0, "occurrences": 0, "distinct": 0, "step": 0,
    "computed": 0, "end": Ending(), "tokens": 0, "start_tokens": 0, "last": None, "last_id": None,
    "pairs": (),
    "pairs_total": 0, "why": Why(None, None, 0, 0, "lowest-ids", "no pair is left"), "vocabulary": (),
    "vocab_size": 0, "corpus": CorpusView(CorpusPlace(), (), True, True, 0.0),
    "encoding": EncodedView("", (), 0), "curve": (0,), "curve_end": 0,
}
COUNTED = CorpusView(
    CorpusPlace(),
    tuple(
        CorpusPart(
            CorpusPlace(n, 0), word, (TokenSpan(0, 2, False, False), TokenSpan(2, 3, False, False)), times
        )
        for n, (word, times) in enumerate((("hug", 10), ("pug", 5), ("pun", 1200)))
    ),
    True, True, 0.0,
)


async def test_each_state_is_shown() -> None:
    app, session = explorer(typed="The crowd in the street")
    async with app.run_test(size=(120, 40)) as pilot:
        for name, (changes, wanted) in STATES.items():
            text = await draw(app, session, pilot, **changes)
            assert [one for one in wanted if one not in text] == [], name


async def test_panes_that_share_a_place() -> None:
    app, session = explorer(typed="The crowd in the street")
    async with app.run_test(size=(80, 24)) as pilot:
        await draw(app, session, pilot)
        for width, height in ((80, 24), (40, 12)):
            await pilot.resize_terminal(width, height)
            small = (width, height) == (40, 12)
            for keys, wanted in (
                ("2", "·a+n "), ("4", "> The crowd" if small else "·a+n "), (("escape", "3"), "382 ·w"),
            ):  # where there is room for two, the fourth leaves the second in its place
                await pilot.press(*keys)
                shown = screen_text(app)
                assert wanted in shown
                assert not ("·a+n " in shown and "382 ·w" in shown)


async def test_bars_counted_words_and_an_empty_corpus() -> None:
    app, session = explorer("bars")
    async with app.run_test(size=(80, 24)) as pilot:
        assert "│O│n│·a│n│·│e│x│c│e│p│t│i│on│ally" in await draw(app, session, pilot)
        text = await draw(app, session, pilot, corpus=COUNTED)
        assert [one for one in ("hu│g ×10", "pu│g ×5", "pu│n ×1,200") if one not in text] == []
        text = await draw(app, session, pilot, **EMPTY)
        assert "nothing to merge: the corpus is empty" in text
        assert "0 → 0" in text


@pytest.mark.slow
async def test_resizing_comes_back_to_the_same_screen() -> None:
    app, session = explorer()
    rng = random.Random(7)
    sizes = [
        (1, 1), (20, 5), (29, 8), (30, 8), (59, 16), (60, 16), (99, 29), (100, 30), (200, 60), (80, 24),
        (5, 50), (300, 3),
    ]
    async with app.run_test(size=(120, 40)) as pilot:
        await draw(app, session, pilot)
        await pilot.press("3")
        await pilot.pause()
        first = screen_text(app)
        rng.shuffle(sizes)
        for width, height in sizes:
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            await until(pilot, lambda: screen_text(app).count("\n") == app.size.height)
            lines = screen_text(app).splitlines()
            assert len(lines) == height
            if width < 30 or height < 8:
                assert "1 Corpus" not in "".join(lines)
            else:
                assert "3 Vocab" in "".join(lines)
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: screen_text(app) == first)
        assert app.focused is app.main.vocabulary


def without_words(text: str) -> list[str]:
    """Where on a screen the edges of things are: all but letters, figures and signs within them."""
    return ["".join("#" if char in "┌┐└┘▸" else " " for char in line) for line in text.splitlines()]


async def test_the_next_merge_is_shown_at_any_size_and_nothing_jumps_while_numbers_change() -> None:
    app, session = explorer(typed="The crowd in the street")
    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            text = await draw(app, session, pilot)
            wanted = ("·t+he → ·the", "step   128 of 1,000") if size != (20, 5) else ("30×8",)
            assert [one for one in wanted if one not in text] == [], size
            first = await draw(app, session, pilot, step=9, tokens=620_000)
            later = await draw(app, session, pilot, step=999, tokens=9_999, running=True)
            assert without_words(first) == without_words(later)
            places = [[line.find(" of 1,000") for line in text.splitlines()] for text in (first, later)]
            assert places[0] == places[1]


@pytest.mark.slow
async def test_text_stays_where_it_is_while_tokens_change() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        first = await draw(app, session, pilot)
        whole = tuple(
            CorpusPart(p.place, p.text, (TokenSpan(0, len(p.text), True, False),)) for p in view().parts
        )
        later = await draw(app, session, pilot, corpus=CorpusView(CorpusPlace(), whole, True, True, 0.0))
        assert first == later


async def test_only_lines_that_change_are_drawn_again() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await draw(app, session, pilot)
        await draw(app, session, pilot)
        drawn: list[object] = []
        refresh = type(app.main.text).refresh

        def spy(self: Any, *regions: Any, **how: Any) -> Any:
            drawn.append(regions)
            return refresh(self, *regions, **how)

        app.main.text.refresh = spy.__get__(app.main.text)  # type: ignore[method-assign]
        await draw(app, session, pilot, step=129)
        assert drawn == []
        parts = view().parts
        other = (CorpusPart(parts[0].place, parts[0].text, (TokenSpan(0, 2, True, False),)), *parts[1:])
        await draw(app, session, pilot, corpus=CorpusView(CorpusPlace(), other, True, True, 0.0))
        assert [[region.y for region in regions] for regions in drawn] == [[0]]  # type: ignore[attr-defined]


def in_palette(color: Color) -> bool:
    """Whether a terminal of 256 colors has exactly this one, outside the 16 that every user sets
    differently."""
    if color.triplet is None:
        return color.type is ColorType.DEFAULT
    levels = (0, 95, 135, 175, 215, 255)
    red, green, blue = color.triplet
    grey = red == green == blue and 8 <= red <= 238 and (red - 8) % 10 == 0
    return grey or all(part in levels for part in (red, green, blue))


def is_grey(color: Color) -> bool:
    """Whether it has no hue."""
    return color.triplet is not None and len(set(color.triplet)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [ui_text.DARK_NAME, ui_text.LIGHT_NAME])
async def test_every_color_is_one_of_the_256(name: str) -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        app.theme = name
        for pane, (changes, _) in zip("123411", STATES.values(), strict=True):
            await pilot.press("escape", pane)
            await draw(app, session, pilot, **changes)
            for strip in strips_of(app):
                for text, style, _ in strip:
                    colors = (
                        [one for one in (style.color, style.bgcolor) if one is not None] if style else []
                    )
                    # Textual blends dim text with its background, so a grey between two greys is also valid.
                    assert all(in_palette(one) or is_grey(one) for one in colors), (text, style)
    for one in (ui_text.DARK, ui_text.LIGHT):
        for value in one.variables.values():
            assert in_palette(TextualColor.parse(value).rich_color), (one.name, value)


@pytest.mark.slow
async def test_every_theme_can_draw_the_screen() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24)) as pilot:
        first = await draw(app, session, pilot)
        for name in sorted(app.available_themes):
            app.theme = name
            await pilot.pause()
            assert screen_text(app) == first


async def test_without_colors_everything_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app, session = explorer(None)
    async with app.run_test(size=(120, 40)) as pilot:
        text = await draw(app, session, pilot)
        assert "║O│n│·a│n│" in text
        fresh = []
        for strip in strips_of(app):
            for run, style, _ in strip:
                assert style is None or all(
                    c is None or c.type is ColorType.DEFAULT for c in (style.color, style.bgcolor)
                )
                if style is not None and style.reverse:
                    fresh.append(run)
        assert "·the" in fresh


async def test_each_pane_is_zoomed_and_the_others_are_reached() -> None:
    app, _ = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.main.snapshot is not None)
        before = {name: pane.outer_size for name, pane in app.main.panes.items()}
        for keys, numbers in (("Z",), (1, 2, 3, 4)), (("v", "z"), (2,)):
            await pilot.press(*keys)
            for number in numbers:
                name, pane = [*app.main.panes.items()][number - 1]
                await pilot.press(str(number))
                await until(pilot, lambda: pane.outer_size.width == 120)  # noqa: B023
                assert pane.outer_size.height >= 34
                assert [one.id for one in app.main.panes.values() if one.display] == [name]
            await pilot.press("escape", "escape")  # out of the line, and out of the zoom
            await until(pilot, lambda: not app.main.zoomed)
            await until(pilot, lambda: before == {n: one.outer_size for n, one in app.main.panes.items()})
        await pilot.resize_terminal(50, 20)
        await pilot.press("Z")
        await until(pilot, lambda: "all the room already" in screen_text(app))
        assert not app.main.zoomed
