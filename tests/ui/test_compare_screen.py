"""Compare: what its panes show, and what must hold at any size."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest
from compare_app import (
    AT,
    KEYS,
    ROWS,
    aligned,
    column,
    comparing,
    curves,
    draw,
    listed,
    measured,
    snapshot,
)
from hostile import MARKUP_NAMES
from screens import explorer, screen_text
from waiting import settled, strips_of, until

from tokentui.core.engines import COMPILED, FAILED, PLAIN
from tokentui.core.safetext import is_safe
from tokentui.learn import Page, Why
from tokentui.recipe import Ending
from tokentui.session.commands import SetViewport
from tokentui.session.snapshot import DivergenceView
from tokentui.session.views import Busy, ColumnWanted, Passage, Position, TokenList
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.draw import text as ui_text
from tokentui.ui.draw.table import VirtualTable
from tokentui.ui.pane_screen import titles
from tokentui.ui.panes.compare.columns import facts
from tokentui.ui.panes.compare.compare_panes import COMPARE_PANES, places
from tokentui.ui.panes.compare.encodings import row_lines

EVIL = "e\x1b[2Jvil\u202e"
SHOWN = {
    "parting": ("A gpt2 takes ·t+he 9,310", "B wordpiece takes ·t+he 0.0296267", "621,004 tokens"),
    "vocabulary": ("only A 296", "only B 113", "Jaccard 0.1771", "tcommon5"),
    "encode": (" 9 tokens", "19 tokens", "6 shared"),
    "measures": ("402,118       403,118", "leading space yes"),
    "agreement": ("65.4 %", "850", "50 only in A"),
    "curves": ("477,695", "446,926", "238,847", "223,463"),
}
"""What each pane shows of the snapshot with two columns."""


@pytest.mark.slow
async def test_columns_in_step() -> None:
    async with comparing((120, 40), 3) as (app, screen, session, pilot):
        for size, count in (((120, 40), 3), ((80, 24), 2), ((200, 60), 4), ((40, 12), 2), ((80, 24), 4)):
            await pilot.resize_terminal(*size)
            await draw(screen, session, pilot, count=count)
            await until(pilot, lambda size=size: screen.size == size)  # type: ignore[misc]
            await pilot.pause()
            text = screen_text(app)
            assert text.count("·t+he →") == count
            assert text.count("step    128") == count + 1
            assert "A ·t+he 9,310" in text
            assert ("B ·t+he 0.0296267" in text) == (size != (40, 12))


@pytest.mark.slow
async def test_panes_that_share_a_place() -> None:
    async with comparing((80, 24)) as (app, screen, session, pilot):
        look = TokenList(KEYS[0], KEYS[1])
        await draw(
            screen, session, pilot, tokens=listed(look), held_out="held.txt", curves=curves(2, held_out=True)
        )
        for number, entry in enumerate(COMPARE_PANES[1:], 2):
            await pilot.press(str(number))
            await pilot.pause()
            assert [one for one in SHOWN[entry.name] if one not in screen_text(app)] == []
        await pilot.press("5", "Z", "M")
        await draw(screen, session, pilot, held_out="b.txt", held_measured=measured(2, corpus="b.txt"))
        await settled(pilot)
        assert "Σ |w| / W" in screen_text(app)
        assert "round-trip losses" in screen_text(app)
        assert "A gpt2" not in screen_text(app)
        await pilot.press("Z")
        await until(pilot, lambda: screen.columns_row.display)


async def test_a_pane_that_waits_says_for_what_and_what_does_not_part() -> None:
    async with comparing((80, 24)) as (app, screen, session, pilot):
        await draw(screen, session, pilot, measured=None, agreed=None, overlaps=(), tokens=None, curves=None)
        for key, words in (
            ("3", ("comparing the vocabularies …", "listing the tokens …")),
            ("5", ("measuring the columns …",)),
            ("6", ("comparing A with B on the corpus …",)),
            ("7", ("computing the curves …",)),
        ):
            await pilot.press(key)
            await settled(pilot)
            seen = screen_text(app)
            assert [line for line in words if line not in seen] == []
        await pilot.resize_terminal(120, 40)
        await pilot.press("2")
        whole = snapshot().between.divergences[0]
        for changes, said in (
            ({"step": None, "sides": (), "done": True, "looked": 640}, "no step differs, 640 compared"),
            (
                {"step": None, "sides": (), "done": False, "busy": Busy("comparing", 5, 9)},
                "first 4 steps are the same, still searching",
            ),
            ({"step": None, "sides": (), "done": False}, "stopped: d continues"),
        ):
            parting = dataclasses.replace(whole, **changes)
            await draw(screen, session, pilot, divergences=(parting,))
            assert screen_text(app).count(said) == 2
        await draw(screen, session, pilot, divergences=())
        assert "not compared step by step" in screen_text(app)
        ended = dataclasses.replace(
            whole.sides[1], why=Why(None, None, 0, 0, "", "no pair is left"), candidates=Page((), 0, 0)
        )
        view = DivergenceView(whole.a, whole.b, 4, 5, (whole.sides[0], ended), None, True)
        await draw(screen, session, pilot, divergences=(view,))
        assert screen_text(app).count("ends: no pair is left") == 2


@pytest.mark.slow
async def test_rows_hold_their_own_tokens_and_no_blanks() -> None:
    rows = ("日本|語 e\u0301|🤗 |naï|ve|日本語", "日|本語| e\u0301🤗| na|ïve|日|本語")
    async with comparing((80, 24)) as (app, screen, session, pilot):
        await pilot.press("4")
        await draw(screen, session, pilot, aligned=aligned(rows))
        text = screen_text(app)
        for row in rows:
            assert row.replace(" ", "·").replace("|", "│") in text

        # Sideways.
        await draw(screen, session, pilot, aligned=aligned(tuple(" ".join([row] * 9) for row in ROWS[:2])))
        start, shown, seen = screen_text(app), screen.encode.rows, []
        await pilot.press("right", "right", "right")
        await until(pilot, lambda: shown.left == 24)
        assert "A‹,·un│happ│iness" in screen_text(app)
        await pilot.press("end")
        await until(pilot, lambda: "iness" in screen_text(app).replace("│", ""))
        await pilot.press("home")
        await until(pilot, lambda: screen_text(app) == start)
        # Every disagreement is brought into view; behind the last comes the first.
        for _ in shown.alignment.partings:
            screen.action_go_to_disagreement(False)
            seen.append(shown.here)
            found = next(one for one in shown.alignment.partings if one.start == shown.here)
            for number in range(2):
                drawn = row_lines(
                    shown.alignment, number, shown.left, shown._room, shown._lines, False, here=found
                )
                marked = "".join(
                    text for line in drawn.lines for text, style in line if style.endswith("cursor")
                )
                assert marked == shown.alignment.text[found.start : found.end].replace(" ", "·")
        assert seen == [one.start for one in shown.alignment.partings]
        await pilot.pause()
        assert f"{len(seen)} of {len(seen)}" in screen_text(app)
        await pilot.press("J")
        assert shown.here == seen[0]
        await pilot.press("K")
        assert shown.here == seen[-1]


@pytest.mark.parametrize("chips", [True, False])
@pytest.mark.parametrize("text", [*MARKUP_NAMES, "a\u202eb\x1b[31m", "e\u0301\u0301 é日本"])
def test_rows_of_hostile_text(text: str, chips: bool) -> None:
    """Safe, each token once, each on another ground than its neighbor."""
    alignment = aligned(("|".join(text), text)).alignment
    assert alignment is not None
    for number, width in ((0, 10), (1, 40)):
        flow = row_lines(alignment, number, 0, width, 99, chips)
        assert flow.end == len(text)
        assert all(ui_text.width(line) <= width for line in flow.lines)
        cells = [run for line in flow.lines for run in line if run[0] not in ("", "│", "┊")]
        assert all(is_safe(run) for run, _ in cells)
        assert len(cells) == len(alignment.rows[number])
        grounds = [style.partition("+")[0] for _, style in cells]
        assert not chips or all(left != right for left, right in pairwise(grounds))


@pytest.mark.slow
async def test_nothing_jumps_while_numbers_change() -> None:
    def edges(text: str) -> list[str]:
        lines = text.splitlines()
        return ["".join("#" if char in "┌┐└┘▸" else " " for char in line).rstrip() for line in lines]

    async with comparing((120, 40), 3) as (app, screen, session, pilot):
        one = tuple(column(n, step=9, tokens=620_000, vocab_size=260) for n in range(3))
        await draw(screen, session, pilot, columns=one, position=Position("merges", 9))
        first = screen_text(app)
        two = tuple(column(n, step=999, tokens=9_999, vocab_size=1_250) for n in range(3))
        await draw(
            screen, session, pilot, columns=two, position=Position("merges", 999), running=True, speed=None
        )
        later = screen_text(app)
        assert edges(first) == edges(later)
        for word in ("B/token", "tokens", " ids"):
            assert [line.find(word) for line in first.splitlines() if word in line][:3] == [
                line.find(word) for line in later.splitlines() if word in line
            ][:3]
        # Numbers of another position say so.
        assert "of step 128" in later
        await draw(
            screen, session, pilot, position=Position("size", 500),
            measured=measured(2, Position("size", 490)),
        )
        assert "of 490 ids" in screen_text(app)
        assert "ids    500" in screen_text(app)


@pytest.mark.slow
async def test_resizing_comes_back_to_the_same_screen() -> None:
    async with comparing((80, 30)) as (app, screen, session, pilot):
        await pilot.press("7")
        await draw(screen, session, pilot)
        first = screen_text(app)
        for size in [(1, 1), (39, 10), (40, 10), (60, 20), (160, 30), (5, 50)]:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: screen.size == size)  # type: ignore[misc]
            shows = places(*size, 2) is not None
            await until(pilot, lambda shows=shows: ("7 Curves" in screen_text(app)) == shows)  # type: ignore[misc]
            text = screen_text(app)
            assert is_safe(text.replace("\n", ""))
        await pilot.resize_terminal(80, 30)
        await until(pilot, lambda: screen_text(app) == first)
        assert screen.focused is screen.curves


@pytest.mark.slow
async def test_a_column_that_cannot_be_shown_and_one_that_comes() -> None:
    async with comparing((120, 40), 3) as (app, screen, session, pilot):
        bad = column(1, error="byte 17 is no UTF-8, and " * 6 + EVIL, in_sync=False)
        coming = column(2, loading=Busy("counting", 45, 100, left=150), in_sync=False)
        partings = tuple(
            dataclasses.replace(one, step=None, sides=(), done=False)
            for one in snapshot(3).between.divergences
        )
        rows = dataclasses.replace(
            aligned(ROWS[:1]), refused=((KEYS[2], f"é: not in the vocabulary {EVIL}"),)
        )
        await draw(
            screen, session, pilot, columns=(column(0), bad, coming), divergences=partings, aligned=rows,
            overlaps=(),
        )
        for text in ("byte 17 is no UTF-8", "counting  45 %", "3 min left", "é: not in the vocabulary"):
            assert text in screen_text(app)
        assert all(is_safe(line) for line in screen_text(app).split("\n"))
        # The focus is where it was, and can stand on a column without candidates.
        assert screen.focused is screen.columns[0].table
        await pilot.press("right")
        await until(pilot, lambda: screen.focused is screen.columns[1].message)
        await pilot.press("right")
        await until(pilot, lambda: screen.focused is screen.columns[2].message)
        await draw(screen, session, pilot)
        await until(pilot, lambda: screen.focused is screen.columns[2].table)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_column_shows_its_size_limit(size: tuple[int, int]) -> None:
    async with comparing(size) as (app, screen, session, pilot):
        columns = column(0, size_limit=2000), column(1)
        await draw(screen, session, pilot, columns=columns)
        titles = [line for line in screen_text(app).split("\n") if "A gpt2" in line]
        assert any("to 2,000 ids" in line for line in titles)
        assert screen_text(app).count("to 2,000 ids") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "shown"), [(COMPILED, False), (PLAIN, False), (FAILED, True)])
async def test_the_engine_is_named_only_if_kernels_failed(engine: str, shown: bool) -> None:
    async with comparing((120, 40)) as (app, screen, session, pilot):
        await draw(screen, session, pilot, engine=engine)
        assert (engine in screen_text(app)) is shown


@pytest.mark.slow
async def test_nothing_unsafe_is_drawn() -> None:
    async with comparing((120, 40)) as (app, screen, session, pilot):
        columns = tuple(dataclasses.replace(column(n), name=EVIL, about=EVIL) for n in range(2))
        text = aligned((f"{EVIL}|x", f"{EVIL}x"), passage=Passage(0, 12_345))
        await draw(
            screen, session, pilot, columns=columns, corpus_name=EVIL, held_out=EVIL, engine="compiled",
            aligned=text, measured=measured(2, corpus=EVIL),
        )
        for key in "1234567":
            await pilot.press(key)
            await pilot.pause()
            assert all(is_safe(line) for line in screen_text(app).split("\n"))
        assert "document 1, character 12,345" in screen_text(app)


def test_where_panes_stand() -> None:
    names = {
        entry.name: (f"{number} {entry.title}", f"{number} {entry.short_title or entry.title}")
        for number, entry in enumerate(COMPARE_PANES, 1)
    }
    for width in range(1, 220, 3):
        for height in range(1, 70, 3):
            for zoomed in (False, True):
                where = places(width, height, 2, zoomed)
                assert (where is None) == (width < 40 or height < 10)
                if where is not None:
                    assert sorted(pane for group in where.groups for pane in group) == sorted(names)
                    for group in where.groups:
                        line = titles(names, group, group[-1], width)
                        assert [seen for _, seen in line].count(True) == 1
                        assert sum(len(title) for title, _ in line) + 3 * len(line) < width


@pytest.mark.slow
async def test_without_colors_what_parts_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with comparing((80, 24)) as (app, screen, session, pilot):
        await pilot.press("4", "J")
        await draw(screen, session, pilot)
        seen = [(run, style) for strip in strips_of(app) for run, style, _ in strip if style is not None]
        parting = screen.encode.rows.alignment.partings[0]
        parts = screen.encode.rows.alignment.text[parting.start : parting.end].replace(" ", "·")
        assert "".join(run for run, style in seen if style.underline and style.reverse)[: len(parts)] == parts


@pytest.mark.slow
async def test_a_slow_terminal_gets_the_newest() -> None:
    async with comparing((80, 24)) as (app, screen, session, pilot):
        slow = True
        app.backlog = lambda: slow  # type: ignore[method-assign]
        for step in (200, 300, 400):
            session.show(position=Position("merges", step))
            await pilot.pause()
        assert screen.snapshot is not None
        assert screen.snapshot.position == AT
        slow = False
        await until(pilot, lambda: screen.snapshot is not None and screen.snapshot.position.value == 400)



@pytest.mark.parametrize(("step", "words"), [
    (59, "ends at step 60"), (60, "at its stop"), (102, "past its stop at step 60"),
])
def test_a_column_says_where_it_is_in_its_run(step: int, words: str) -> None:
    rows = facts(column(0, step=step, end=Ending(60, "stop")), 200, 1)
    assert "".join(text for text, _ in rows[0]).endswith(f"  {words}")


async def test_the_screen_that_is_seen_says_which_rows_the_session_lays_out() -> None:
    """Rows that a screen below it, or one that was left, asks for would take the place of its own."""
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        app.compare((ColumnWanted(path="a.json"), ColumnWanted(path="b.json")))
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        app.main.post_message(VirtualTable.WindowWanted(app.main.pairs, 500, 20))
        await settled(pilot)
        assert session.of(SetViewport)[-1].viewport == screen.viewport
        screen.post_message(VirtualTable.WindowWanted(screen.columns[0].table, 700, 20))
        screen.dismiss(None)
        await settled(pilot)
        shown = session.of(SetViewport)[-1].viewport
        assert shown == app.main.viewport
        assert shown.candidates_top == 500
