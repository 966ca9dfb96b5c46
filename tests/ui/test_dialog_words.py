"""Test the keys that all dialogs share, and that a dialog dims the screen below it."""

from __future__ import annotations

from dialogs import pasted
from textual.color import Color
from waiting import settled, strips_of, until

from tokentui.analyze.report import Column, Section
from tokentui.axes import preset
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import HANDLED, bindings_of
from tokentui.ui.dialogs import Dialog, FindScreen, KeysScreen, ListDialog
from tokentui.ui.dialogs.questions import QuestionsScreen
from tokentui.ui.draw.sections import section_rows
from tokentui.ui.draw.table import Listing, TableRow
from tokentui.ui.keymap import DIALOGS

KINDS = [kind for kind in (reference.resolve() for reference in DIALOGS.values()) if issubclass(kind, Dialog)]
MEANINGS = {
    "escape": {"back"}, "y": {"copy", "next"}, "question_mark": {"help", "all keys", ""},
    "slash": {"find", "search", "search, or type"}, "ampersand": {"filter", "search"}, "S": {"sort"},
}
"""The labels of these keys; that of help leaves it, and that of copying goes to the next text."""


def test_shared_keys_mean_the_same_in_every_dialog() -> None:
    strange = {}
    for kind in KINDS:
        keys = {key: binding for binding, names in bindings_of(kind) for key in names}
        assert {"escape", "y", "question_mark"} <= keys.keys(), kind
        assert not issubclass(kind, ListDialog) or {"slash", "ampersand"} <= keys.keys(), kind
        for key, labels in MEANINGS.items():
            label = keys[key].description if key in keys else next(iter(labels))
            if label not in labels and keys[key].action != HANDLED:
                strange[kind.__name__, key] = label
    assert strange == {}


def test_a_list_is_filtered_with_its_headings_and_whole_rows() -> None:
    def row(key: object, text: str) -> TableRow:
        return TableRow(key, (((text, ""),),))

    listing = Listing()
    rows = [
        row(None, "First"), row("a", "apple"), row(("a", 1), "pie"), row("b", "bread"), row(None, "Second"),
        row("c", "cake"),
    ]
    listing.show(rows)
    listing.filter("PIE")
    assert [one.key for one in listing.rows] == [None, "a", ("a", 1)]
    listing.show([*rows, row("d", "pie")])  # new rows are filtered too
    assert [one.key for one in listing.rows] == [None, "a", ("a", 1), None, "d"]
    listing.filter("nothing")
    assert not listing.rows
    listing.filter("")
    assert len(listing.rows) == 7
    listing.move_to(1)
    for text, by, key in (("bre", 1, "b"), ("apple", 1, "a"), ("cake", -1, "c")):  # round the end
        assert listing.find_row(text, by)
        assert listing.cursor_key == key
    assert not listing.find_row("Second", 1)


def test_a_table_without_rows_has_no_head() -> None:
    section = Section("draws", "nothing", (), (Column("number"), Column("pair")))
    (row,) = section_rows(section, 0, 5, {}, set())
    assert row.key == ("fact", 0)


def explorer_on_hugs() -> ExplorerApp:
    return ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")),
        begin=lambda session: session.send(do.Open(("sample:hugs",))),
    )


async def test_a_dialog_finds_filters_tells_its_keys_and_dims_the_screen() -> None:
    app = explorer_on_hugs()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        before = [*strips_of(app)]
        await pilot.press("u")
        await settled(pilot)
        dialog = app.screen
        assert isinstance(dialog, QuestionsScreen)
        await until(pilot, lambda: bool(dialog.listing.rows))
        muted, background = (
            Color.parse(app.theme_variables[name]) for name in ("foreground-muted", "background"))
        left = [line.crop(0, dialog.box.region.x) for line in strips_of(app)]
        # Frames, titles and the first and last rows are dimmed; rows of text keep their colors.
        framed = [line for n, line in enumerate(left) if n in (0, 38, 39) or line.text[0] in "┌└"]
        assert 8 < len(framed) < 15
        assert [row for row in zip(left, before, strict=True) if row[0].text[0] == "│" and
            [*row[0]] != [*row[1].crop(0, dialog.box.region.x)]] == []
        styles = {segment.style for line in framed for segment in line}
        (style,) = [style for style in styles if style is not None and style.color is not None]
        assert len(styles) == 1
        assert style.bgcolor == background.rich_color
        far = abs(muted.brightness - background.brightness)
        near = abs(Color.from_rich_color(style.color).brightness - background.brightness)
        assert 0.2 * far < near < 0.8 * far
        seen = [line.crop(0, dialog.box.region.x).text for line in before]
        assert [line.text for line in left[:-1]] == seen[:-1]  # the last line has the keys of the screen
        every = len(dialog.listing.rows)
        for key, title in (("slash", "find in questions"), ("ampersand", "only rows of questions")):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, FindScreen))
            assert title in "".join(line.text for line in strips_of(app))
            await pilot.press("z", "enter")
            await until(pilot, lambda: app.screen is dialog)
            await settled(pilot)
        row = dialog.listing.row_at(dialog.listing.cursor)
        assert row is not None
        assert any("z" in text.lower() for cell in row.cells for text, _ in cell)
        assert 0 < len(dialog.listing.rows) < every
        await pilot.press("escape")
        assert len(dialog.listing.rows) == every
        await pilot.press("ampersand")
        await pasted(pilot, "zzzz")
        await pilot.press("enter")
        await until(pilot, lambda: "no row has ‘zzzz’ · esc shows all" in str(dialog.notice.content))
        await pilot.press("escape")
        assert len(dialog.listing.rows) == every
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, KeysScreen))
        await pilot.press("slash")
        await pasted(pilot, "segmented")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, KeysScreen) and app.screen.listing.find != "")
        await settled(pilot)
        await pilot.press("enter")  # presses the key of the row
        await until(pilot, lambda: dialog.editing)
        await pilot.press(*"hug", "escape")
        assert not dialog.editing
        await pilot.press("i")
        assert dialog.field.value == "hug"  # what was typed is there again


async def test_the_inspector_is_a_pane_at_the_right_of_a_wide_screen() -> None:
    app = explorer_on_hugs()
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("3")
        await settled(pilot)
        corpus = app.main.text.region
        before = [line.crop(corpus.x, corpus.right) for line in strips_of(app)[corpus.y : corpus.bottom]]
        await pilot.press("enter")
        await settled(pilot)
        box = app.screen.query_one(".dialog").region
        assert (box.right, box.height) == (140, 40)
        assert box.x >= corpus.right  # the corpus is seen as it was
        now = [line.crop(corpus.x, corpus.right) for line in strips_of(app)[corpus.y : corpus.bottom]]
        assert now == before
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        box = app.screen.query_one(".dialog").region
        assert 0 < box.x < 120 - box.right + 2
