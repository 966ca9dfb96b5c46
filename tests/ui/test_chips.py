"""Tokens as chips: each on a tint of its own, on every screen that shows a text as tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, combinations, pairwise

import pytest
from hostile import MARKUP_NAMES
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import Color as RichColor
from screens import explorer, screen_text
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme
from waiting import settled, strips_of, until

from tokentui.analyze import report
from tokentui.axes import preset
from tokentui.core.colors import contrast, distance
from tokentui.core.safetext import is_safe
from tokentui.core.tints import COUNT, DARK, LIGHT, Tint
from tokentui.encode.encoding import EncodedToken
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import CorpusPart, CorpusPlace, TokenSpan
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.running import Boundaries, Layout, LayoutKey
from tokentui.ui.draw.text import DARK as DARK_THEME
from tokentui.ui.draw.text import LIGHT as LIGHT_THEME
from tokentui.ui.draw.text import cell_len, chip, join, runs, variables
from tokentui.ui.panes.encode import laid_tokens


def parts_of(words: Sequence[Sequence[tuple[int, bool]]]) -> Iterator[CorpusPart]:
    """Words of `x`. For each token of a word: its number of characters, and whether the last step made it."""
    at = 0
    for word in words:
        ends = list(accumulate(length for length, _ in word))
        tokens = tuple(
            TokenSpan(end - length, end, fresh, False)
            for end, (length, fresh) in zip(ends, word, strict=True)
        )
        yield CorpusPart(CorpusPlace(0, at), "x" * ends[-1], tokens)
        at += ends[-1]


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=5), min_size=1,
        max_size=9)
)
def test_neighbors_have_different_grounds(words: list[list[tuple[int, bool]]]) -> None:
    """Tokens of one character too, and new ones."""
    held = Layout(tuple(parts_of(words)), LayoutKey(10_000, "chips", "text"), CorpusPlace(), True)
    styles = [style for text, style in held.row(0) for _ in text]
    ends = [0, *accumulate(length for word in words for length, _ in word)]
    chips = [set(styles[start:end]) for start, end in pairwise(ends)]
    assert all(len(chip) == 1 for chip in chips)
    assert all(left != right for left, right in pairwise(chips))
    fresh = [new for word in words for _, new in word]
    assert [next(iter(chip)).startswith("fresh") for chip in chips] == fresh


@given(st.lists(st.integers(1, 7), min_size=4, max_size=40), st.data())
@settings(max_examples=60)
def test_a_tint_stays_while_the_text_is_laid_out_otherwise(lengths: list[int], data: st.DataObject) -> None:
    """It is that of the offset in the document: wherever rows break, at any width."""
    parts = tuple(parts_of([[(length, False)] for length in lengths]))

    def grounds(width: int) -> list[str]:
        held = Layout(parts, LayoutKey(width, "chips", "text"), CorpusPlace(), True)
        return [style for row in range(len(held.rows)) for text, style in held.row(row) for _ in text]

    assert grounds(data.draw(st.integers(2, 30))) == grounds(10_000)


def test_blanks_and_parts_of_characters_keep_the_color_of_text() -> None:
    part = CorpusPart(CorpusPlace(), " é", (TokenSpan(0, 1, False, False), TokenSpan(1, 2, False, True),
        TokenSpan(1, 2, False, True)))
    held = Layout((part,), LayoutKey(10, "chips", "text"), CorpusPlace(), True)
    assert held.row(0) == (("·", "tint-0"), ("é", "tint-1+partial-here"))
    assert held.row(0, [(0, 1)], (1, 2)) == (("·", "match"), ("é", "tint-1+partial-here+cursor"))


@given(
    st.lists(st.text("ab中 €", min_size=1, max_size=9), min_size=1, max_size=20), st.integers(24, 60),
    st.integers(2, 7)
)
def test_ids_stand_on_the_grounds_of_their_tokens(words: list[str], width: int, height: int) -> None:
    starts = [0, *accumulate(map(len, words))]
    made = tuple(
        EncodedToken(1000 + n, word, word.encode(), starts[n], starts[n + 1], n)
        for n, word in enumerate(words)
    )
    lines = laid_tokens(made, width, height, "text", 1001, chips=True).lines
    assert all(ui_text.width(line) <= width + 2 for line in lines)
    ids: list[int] = []
    for upper, lower in zip(lines[::2], lines[1::2], strict=True):
        grounds = [[name.partition("+")[0] for text, name in line for _ in range(cell_len(text))]
            for line in (upper, lower)]
        assert grounds[0][: len(grounds[1])] == grounds[1]
        chips = [(text, name) for text, name in lower if name.startswith(("tint", "fresh"))]
        assert all(text.endswith(" ") for text, _ in chips)
        assert all(left != right for (_, left), (_, right) in pairwise(chips))
        assert all((name == "fresh") == (text.split() == ["1001"]) for text, name in chips)
        ids += [int(text) for text, _ in chips]
    assert ids == [token.id for token in made][: len(ids)]


@pytest.mark.parametrize("text", [*MARKUP_NAMES, "\x1b[31m\u202e", "e\u0301\u0301", "\ud800"])
def test_hostile_tokens_are_safe_on_chips(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for ground in ("tint-0", "fresh"):
        cell = chip(runs(data), ground)
        assert all(is_safe(part) for part, _ in cell)
        assert join(cell).markup  # each style is in the palette
        assert {name.partition("+")[0] for _, name in cell} == {ground}


async def test_a_key_turns_chips_shades_and_bars_of_the_corpus_and_of_the_typed_text() -> None:
    """A key in one pane changes both; the first screen follows."""
    app, session = explorer(None, typed="The crowd in the street")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        session.show()
        await until(pilot, lambda: "tokens" in screen_text(app))
        await settled(pilot)
        seen = [app.main.text.boundaries]
        assert "│" not in ui_text.join(app.main.encode.tokens.painted[0]).plain
        await pilot.press("1", "s")
        assert "│" in ui_text.join(app.main.encode.tokens.painted[0]).plain
        seen.append(app.main.text.boundaries)
        for _ in range(2):
            await pilot.press("1", "s")
            seen.append(app.main.text.boundaries)
        assert seen == ["chips", "shade", "bars", "chips"]


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("variables", [{"TERM": "xterm"}, {"NO_COLOR": "1"}])
async def test_without_colors_bars_are_the_mark(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    app, _ = explorer(None, kept={"boundaries": "chips"})
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        seen = [app.main.text.boundaries]
        for _ in range(2):
            await pilot.press("1", "s")
            seen.append(app.main.text.boundaries)
        assert seen == ["bars", "shade", "bars"]


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("mark", ["bars", "shade", "chips"])
async def test_a_kept_mark_stays(mark: str) -> None:
    app, _ = explorer(None, kept={"boundaries": mark})
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.main.text.boundaries == mark)


@pytest.mark.parametrize(("theme", "own"), [(DARK_THEME, DARK), (LIGHT_THEME, LIGHT)])
def test_the_own_themes_have_the_tints(theme: Theme, own: tuple[Tint, ...]) -> None:
    """Of the color cube where a terminal has 256 colors: the nearest to others are grays."""
    for cube in (False, True):
        found = [variables(theme, {}, cube=cube)[f"tint-{n}"] for n in range(COUNT)]
        assert found == [tint.cube if cube else tint.color for tint in own]


@pytest.mark.first_run(cases=12)
@pytest.mark.parametrize("cube", [False, True])
@pytest.mark.parametrize("name", [*BUILTIN_THEMES, DARK_THEME.name, LIGHT_THEME.name])
def test_each_theme_has_tints_that_are_told_apart(name: str, cube: bool) -> None:
    """In all themes, with 16 million colors and with 256: all pairs may meet."""
    theme = {**BUILTIN_THEMES, DARK_THEME.name: DARK_THEME, LIGHT_THEME.name: LIGHT_THEME}[name]
    base = theme.to_color_system().generate() | theme.variables
    found = variables(theme, base, cube=cube)
    tints = [found[f"tint-{n}"] for n in range(COUNT)]
    background = Color.parse(base["background"])
    grounds = [*tints, found["fresh"], found["fresh-other"]]
    grounds += [background.hex6.lower()] if background.ansi is None else []
    for first, second in combinations(grounds, 2):
        assert distance(first, second) >= 8, (first, second)
    for tint in tints:
        assert contrast(tint, found["chip-text"]) >= 4.5
    for fresh in (found["fresh"], found["fresh-other"]):
        assert contrast(fresh, found["fresh-text"]) >= 4.5
    if cube:
        numbers = {RichColor.from_ansi(number).get_truecolor().hex for number in range(16, 232)}
        assert set(tints) <= numbers


@pytest.mark.parametrize("theme", [DARK_THEME, LIGHT_THEME], ids=lambda theme: theme.name)
def test_text_in_color_can_be_read(theme: Theme) -> None:
    colors = theme.variables
    for name in ("primary", "secondary", "warning", "error", "success"):
        for ground in (theme.background, theme.surface):
            assert contrast(colors[f"text-{name}"], ground or "") >= 4.5 - 0.01, (name, ground)
    for letter in "abcd":
        assert contrast(colors[f"column-{letter}"], theme.background or "") >= 4.5, letter


@pytest.mark.first_run(cases=6)
@pytest.mark.parametrize("name", BUILTIN_THEMES)
def test_each_theme_mixes_its_grays(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    base = theme.to_color_system().generate() | theme.variables
    background = Color.parse(base["background"])
    if background.ansi is not None:
        return
    found = variables(theme, base)
    steps = [distance(found[gray], background.hex6.lower()) for gray in
        ("shade-a", "shade-b", "shade-c", "frame", "text-disabled")]
    assert steps == sorted(steps)
    assert steps[0] >= 2
    assert contrast(found["text-disabled"], background.hex6.lower()) < contrast(
        Color.parse(base["foreground"]).hex6.lower(), background.hex6.lower())


@pytest.mark.slow
async def test_without_colors_the_focused_pane_has_a_double_border(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app, _ = explorer(None)
    async with app.run_test(size=(120, 40)) as pilot:
        for key, title in (("1", "1 Corpus"), ("2", "2 Pairs"), ("3", "3 Vocabulary")):
            await pilot.press(key)
            await settled(pilot)
            assert f"╔═ {title}" in screen_text(app)
            assert screen_text(app).count("╔") == 1


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["chips", "bars"])
async def test_reports_show_the_tokens_of_a_text_as_chips(mark: Boundaries) -> None:
    """With their tints only if the user wants chips, on the row of the cursor too."""
    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")), typed="street", boundaries=mark,
        begin=lambda session: session.send(do.Open(("sample:hugs",))),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("4", "enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen) and "ways" in screen_text(app))
        await settled(pilot)
        colors = [Color.parse(app.get_css_variables()[f"tint-{n}"]).rgb for n in range(COUNT)]
        rows = {n: strip for n, strip in enumerate(strips_of(app)) if "s t r e e t" in strip.text}
        assert rows
        for strip in rows.values():
            seen = [style.bgcolor.triplet for text, style, _ in strip
                if style is not None and style.bgcolor is not None and style.bgcolor.triplet is not None
                and text.strip() in set("stree")]
            assert any(tuple(color) in colors for color in seen) == (mark == "chips")


@given(st.lists(st.binary(min_size=1, max_size=5), max_size=9))
def test_a_text_that_is_cut_is_chips_or_has_bars(tokens: list[bytes]) -> None:
    chips = ui_text.segmented(tokens, True, limit=40)
    bars = ui_text.segmented(tokens, False, limit=40, style="accent")
    assert all(is_safe(text) for text, _ in (*chips, *bars))
    assert sum(text == "│" and style == "frame" for text, style in bars) == max(0, len(tokens) - 1)
    assert all(style.startswith("tint-") for _, style in chips)
    spans = [part for part in report.spans(report.segmented(tokens))
        if isinstance(part, report.Span) and isinstance(part.text, bytes)]
    assert [part.text for part in spans] == tokens
    assert all(left.role != right.role for left, right in pairwise(spans))
