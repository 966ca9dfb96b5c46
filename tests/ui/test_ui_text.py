"""Runs, content and segments: safe, without markup, and never wider than asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style as RichStyle
from rich.text import Text
from screens import explorer
from textual.app import App, ComposeResult
from textual.widgets import Static
from waiting import strips_of

from tokentui.core.safetext import GLYPH_MODES, CharKind, GlyphMode, is_safe, visible
from tokentui.ui.draw.text import (
    DARK,
    LIGHT,
    PALETTE,
    Cell,
    clip,
    highlight,
    join,
    mark_stand_ins,
    replace,
    runs,
    segments,
    width,
    wrap,
)

HOSTILE = [
    "\x1b]52;c;eA==\x07", "\x9b2J", "\x1b\x07[", "\u202eback", "a\u200b\ufeff", "[/] [@click=app.exit]x[/]",
]
DATA = (
    st.text(st.sampled_from("aé語\u0301😀 \n\x1b[/]\u202e"), max_size=20) | st.text() | st.binary(max_size=20)
)


@given(DATA, st.sampled_from(GLYPH_MODES))
def test_content_is_the_safe_text(data: bytes | str, mode: GlyphMode) -> None:
    made = join(runs(data, mode=mode), "strong")
    assert made.plain == "".join(span.text for span in visible(data, mode=mode))
    assert is_safe(made.plain)


def test_join_does_not_trust_its_caller() -> None:
    assert join([("a\x1b[31m", ""), ("[/]", "muted")]).plain == r"a\x1b[31m[/]"
    (segment,) = segments([("\x9b", "")], {"": RichStyle()})
    assert segment.text == r"\u009b"


def test_content_carries_the_kinds() -> None:
    made = join(runs("a\x1b"))
    assert [(span.start, span.end, span.style) for span in made.spans] == [(1, 2, PALETTE[CharKind.control])]
    assert join(runs("a"), "strong").spans[0].style == "bold"


@given(DATA, st.integers(0, 30), st.sampled_from(["…", "..."]))
def test_clip_keeps_within_its_columns(data: bytes | str, columns: int, ellipsis: str) -> None:
    cell = runs(data)
    cut = clip(cell, columns, ellipsis)
    assert width(cut) == min(width(cell), columns)
    if width(cell) <= columns:
        assert cut == cell
    elif columns:
        assert "".join(text for text, _ in cut).endswith(ellipsis[:columns])


@pytest.mark.parametrize(
    ("cell", "columns", "want"),
    [
        ((("abcdef", ""),), 4, "abc…"),
        ((("語語語", ""),), 4, "語 …"),
        ((("ab", ""), ("cd", "muted")), 3, "ab…"),
        ((("e\u0301f\u0301g", ""),), 2, "e\u0301…"),
        ((("abc", ""),), 0, ""),
    ],
)
def test_clip_examples(cell: Cell, columns: int, want: str) -> None:
    assert "".join(text for text, _ in clip(cell, columns)) == want


@pytest.mark.slow
def test_clip_of_a_long_run_is_short_work() -> None:
    assert cell_len("".join(text for text, _ in clip((("語" * 1_000_000, ""),), 80))) == 80


def test_highlight() -> None:
    assert highlight((("The theme", "muted"),), "THE") == (
        ("The", "match"), (" ", "muted"), ("the", "match"), ("me", "muted"),
    )  # fmt: skip
    assert highlight((("abc", ""),), "") == (("abc", ""),)
    assert highlight((("abc", ""),), "x") == (("abc", ""),)


@pytest.mark.parametrize("theme", ["tokentui", "tokentui-light"])
async def test_every_style_is_known_to_every_theme(theme: str) -> None:
    app, _ = explorer()
    async with app.run_test():
        app.theme = theme
        for name in PALETTE:
            assert isinstance(app.main.why.named[name], RichStyle)
        for kind in CharKind:
            style = app.main.why.named[kind]
            assert (kind is CharKind.text) is not any((style.reverse, style.underline, style.dim))


class SafeApp(App[None]):
    """The first wall alone: no filter."""

    def compose(self) -> ComposeResult:
        for text in HOSTILE:
            widget = Static(join(runs(text)))
            widget.styles.border = ("round", "red")
            widget.border_title = join(runs(text))
            yield widget

    def on_mount(self) -> None:
        for text in HOSTILE:
            self.notify(join(runs(text)).plain, markup=False)


async def test_the_first_wall_stands_alone() -> None:
    app = SafeApp()
    async with app.run_test(size=(80, 50), notifications=True) as pilot:
        await pilot.pause()
        text = "".join(strip.text for strip in strips_of(app))
        assert is_safe(text)
        assert "␛]52;c;eA==␇" in text
        assert "[/]·[@click=app.exit]x[/]" in text


def test_the_accent_means_now_and_nothing_else() -> None:
    assert {name for name, meaning in PALETTE.items() if "accent" in meaning} == {"accent", "here"}
    for theme in (DARK, LIGHT):
        others = theme.variables["border"], theme.variables["text-secondary"], theme.secondary
        assert theme.accent not in others


def test_stand_ins_that_stand_together_have_one_style() -> None:
    exact = "ab" + "\udc80" * 500 + "c" + "\x00\u202e" * 300 + "é"
    text = Text(replace(exact))
    mark_stand_ins(text, exact)
    assert [(one.start, one.end) for one in text.spans] == [(2, 502), (503, 1103)]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("room", range(6, 20))
def test_a_number_is_not_broken_over_lines(room: int, words: bool) -> None:
    lines = ["".join(text for text, _ in line) for line in wrap(
        (("vocabulary:", ""), ("12,000", "strong"), ("·of·1,000", "muted")), room, words=words)]
    assert "".join(lines) == "vocabulary:12,000·of·1,000"
    assert any("12,000" in line for line in lines)
    assert any("1,000" in line.replace("12,000", "") for line in lines)
    assert all(len(line) <= room for line in lines)


@pytest.mark.parametrize("room", range(9, 20))
def test_a_split_text_is_broken_after_the_bar_of_a_token(room: int) -> None:
    cell: list[tuple[str, str]] = []
    for token in ("un", "bel", "iev", "able", "ness"):
        cell += [("│", "frame")] if cell else []
        cell.append((token, ""))
    lines = ["".join(text for text, _ in line) for line in wrap(tuple(cell), room, words=True)]
    assert all(line.endswith("│") for line in lines[:-1])
