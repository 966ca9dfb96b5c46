"""What the keys of Compare do: each of them is pressed."""

from __future__ import annotations

import dataclasses

import pytest
from compare_app import (
    AT,
    KEYS,
    PARTINGS,
    ROWS,
    FakeComparison,
    aligned,
    column,
    comparing,
    curves,
    draw,
    listed,
    measured,
    snapshot,
)
from comparisons import Bench
from dialogs import pasted, typed
from key_burst import burst
from screens import explorer, screen_text
from waiting import notes_of, settled, until

from tokentui.axes import preset
from tokentui.core.errors import TokentuiError
from tokentui.preset_table import preset_named
from tokentui.recipe import Ending, Recipe
from tokentui.session.commands import (
    AddColumn,
    CancelWork,
    Compare,
    GoTo,
    GoToDivergence,
    HoldOut,
    MeasureUnder,
    Move,
    MoveColumn,
    NextPassage,
    Play,
    RemoveColumn,
    SetInput,
    SetViewport,
    ShowPassage,
    Speed,
    SyncBy,
)
from tokentui.session.snapshot import Curves
from tokentui.session.views import PARTS, Passage, Position, TokenList
from tokentui.text.read import read
from tokentui.ui.bindings import actions_of, footer_text
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.ask import (
    AskLine,
    ToSize,
    describe_destination,
    destination,
    parse_conventions,
    place_of,
)
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.open import AddScreen, OpenScreen
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.main_screen import MainScreen
from tokentui.ui.panes.compare.compare_panes import COMPARE_PANES
from tokentui.ui.panes.compare.encodings import passage_line
from tokentui.ui.panes.compare.tables import AgreementList

A, B, C = KEYS[:3]


@pytest.mark.slow
async def test_keys_that_only_ask_the_session() -> None:
    wanted = {
        "n": Move(1), "b": Move(-1), "right_square_bracket": Move(10), "left_square_bracket": Move(-10),
        "N": Move(100), "right_curly_bracket": Move(100), "left_curly_bracket": Move(-100),
        "space": Play(), "plus": Speed(1), "minus": Speed(-1),
        "greater_than_sign": Speed(1), "less_than_sign": Speed(-1),
        "0": GoTo(0), "G": GoTo(None), "I": SyncBy(), "d d": GoToDivergence(A, B), "delete": RemoveColumn(A),
        "right_parenthesis": MoveColumn(A, 1),
    }
    async with comparing() as (_, _, session, pilot):
        for key, command in wanted.items():
            session.sent.clear()
            await pilot.press(*key.split())
            await pilot.pause()
            assert session.sent[0] == command, key


@pytest.mark.slow
async def test_going_from_pane_to_pane() -> None:
    async with comparing((80, 24)) as (_, screen, _, pilot):
        stops = ["columns"] * 2 + [entry.name for entry in COMPARE_PANES[1:]]
        for n in [*range(1, len(stops)), 0, -1]:
            await pilot.press("tab" if n >= 0 else "shift+tab")
            await until(
                pilot,
                lambda n=n: screen.active == stops[n] and screen.focused is screen.body_of(screen.active),  # type: ignore[misc]
            )
        for key, entry in zip("1234567", COMPARE_PANES, strict=True):
            await pilot.press(key)
            assert (screen.active, screen.typing) == (entry.name, False)
        # Keys about a column are about the one that had the focus last.
        await pilot.press("1", "1", "5")
        assert screen.place == 1
        await pilot.click(screen.columns[0].table)
        await until(pilot, lambda: screen.place == 0 and screen.focused is screen.columns[0].table)
        await pilot.press("4")
        await until(pilot, lambda: screen.focused is screen.encode.rows)
        await pilot.click(screen.encode.line)
        await until(pilot, lambda: screen.typing)
        await pilot.click(screen.encode.rows)
        await until(pilot, lambda: screen.active == "encode" and not screen.typing)


async def test_what_is_told() -> None:
    async with comparing() as (app, screen, session, pilot):
        session.answers[GoToDivergence] = None
        session.answers[RemoveColumn] = TokentuiError("two columns are the least", "compare", "add one first")
        await draw(
            screen, session, pilot, aligned=aligned(("a|b", "a|b")), tokens=listed(TokenList(A, B, "only_a"))
        )
        for key, said in (
            ("d d", "no step differs"), ("delete", "two columns are the least"),
            ("J", "both columns segment this text alike"), ("A", "there are only two columns"),
        ):
            await pilot.press(*key.split())
            await until(pilot, lambda said=said: said in screen_text(app))  # type: ignore[misc]
        await pilot.press("3")
        # Rows of another list are not shown.
        assert "tonly_a0" not in screen_text(app)
        await pilot.press("v", "v", "1")
        await until(pilot, lambda: "\\xe2" in screen_text(app))
        await pilot.press("6")
        pane = screen.panes["agreement"]
        assert isinstance(pane, AgreementList)
        pane.pair, between = None, dataclasses.replace(screen.now.between, agreed=None)
        pane.draw_snapshot(dataclasses.replace(screen.now, columns=screen.now.columns[:1], between=between))
        await until(pilot, lambda: "comparing A with B on the corpus" in screen_text(app))


async def test_a_stretch_that_is_cut_otherwise_is_encoded_and_places_are_gone_to() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("6", "end", "up", "enter")
        await until(pilot, lambda: screen.active == "encode")
        assert screen.encode.line.value == PARTINGS[0].text
        assert session.of(ShowPassage)[-1] == ShowPassage(None)
        await until(pilot, lambda: session.of(SetInput)[-1] == SetInput(PARTINGS[0].text))
        # Going to a place.
        await pilot.press("g")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press("t")
        await until(pilot, lambda: "expected a number" in screen_text(app))
        await pilot.press("enter", "backspace", "5", "percent_sign", "enter")
        await until(pilot, lambda: session.of(GoTo) == [GoTo(50)])
        # A size is gone to by ids, whatever the columns are in step by.
        for by in ("merges", "tokens"):
            position = Position(by, 128)
            await draw(screen, session, pilot, position=position)
            await pilot.press("g")
            await until(pilot, lambda: isinstance(app.screen, AskLine))
            assert "size 2000: to a size" in screen_text(app)
            session.sent.clear()
            await pasted(pilot, "size 2000")
            await pilot.press("enter")
            await until(pilot, lambda: session.of(GoTo))
            sent = [one for one in session.sent if isinstance(one, SyncBy | GoTo)]
            assert sent == [SyncBy("size"), GoTo(2000)]


@pytest.mark.parametrize(
    ("position", "line", "said", "step"),
    [
        (AT, "+100", "step 228", 228), (AT, "50%", "step 500", 500),
        (Position("size", 384), "1,000", "1,000 ids", 1000),
        (Position("size", 384), "size 1,000", "1,000 ids", 1000),
        (Position("tokens", 128), "end", "the end of every column", None),
    ],
)
def test_places_to_go_to(position: Position, line: str, said: str, step: int | None) -> None:
    place = place_of(snapshot(position=position))
    assert destination(line, place) == GoTo(step)
    assert describe_destination(line, place) == said


@pytest.mark.parametrize("by", ["merges", "tokens"])
def test_a_size_is_gone_to_by_ids(by: str) -> None:
    place = place_of(snapshot(position=Position(by, 128)))
    assert destination("size 2000", place) == ToSize(2000)
    assert describe_destination("size 2000", place) == "2,000 ids; the columns then move by vocabulary size"


def test_columns_go_to_a_size_whatever_they_were_in_step_by() -> None:
    bench = Bench(read("sample:hugs"), preset("gpt2"), preset("gpt2").with_axes(tie="first-seen"))
    assert bench.state.sync.position.by == "merges"
    for command in (SyncBy("size"), GoTo(262)):
        bench.do(command)
    assert bench.state.sync.position == Position("size", 262)
    assert [column.trainer.size_at(column.trainer.number) for column in bench.state.sync.columns] == [262] * 2


KEYS_OF_MAIN = sorted(
    {key for one in actions_of(MainScreen, {}) if not one.hint.needs for key in one.keys if len(key) == 1}
    - {key for one in actions_of(CompareScreen, {}) for key in one.keys}
)


@pytest.mark.slow
async def test_a_key_of_the_main_screen_says_where_it_works() -> None:
    assert {"U", "Y"} <= {*KEYS_OF_MAIN}
    async with comparing() as (app, screen, session, pilot):
        for key in KEYS_OF_MAIN:
            session.sent.clear()
            await pilot.press(key)
            await until(
                pilot, lambda key=key: any(note.startswith(f"{key} (") for note in notes_of(app))  # type: ignore[misc]
            )
            assert app.screen is screen
            assert session.sent == []
            if key == "U":
                assert "U (until) works on the main screen: esc goes back there" in notes_of(app)


@pytest.mark.slow
async def test_columns_stand_beside_each_other() -> None:
    async with comparing(count=3) as (app, screen, session, pilot):
        await pilot.press("left")
        assert screen.place == 2
        await pilot.press("right", "l")
        assert screen.place == 1
        await pilot.press("h", "down", "down")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        assert isinstance(app.screen, InspectScreen)
        await until(pilot, lambda: "Inspect ‘·an’" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        # The rows of all scroll together.
        await pilot.press("end")
        await pilot.pause()
        tops = {pane.table.top for pane in screen.columns[:3:2]}
        assert len(tops) == 1
        assert tops != {0}
        await pilot.press("left_parenthesis")
        assert not session.of(MoveColumn)
        await pilot.press("right", "left_parenthesis")
        await pilot.pause()
        assert session.of(MoveColumn) == [MoveColumn(B, -1)]
        await draw(screen, session, pilot, columns=(column(1), column(0), column(2)))
        assert screen.place == 0
        # Of two keys in one packet the second comes before the column has moved.
        await pilot.press("right_parenthesis", "right_parenthesis")
        assert session.of(MoveColumn)[1:] == [MoveColumn(B, 1)] * 2
        await draw(screen, session, pilot, columns=(column(0), column(2), column(1)))
        assert screen.place == 2
        assert screen.focused is screen.columns[2].table


@pytest.mark.slow
async def test_pairs_of_columns() -> None:
    async with comparing(count=3) as (_, screen, session, pilot):
        assert screen.pair == (A, B)
        await pilot.press("A")
        assert screen.pair == (A, C)
        await pilot.press("2", "right", "d", "d", "enter")
        await pilot.pause()
        assert session.of(GoToDivergence) == [GoToDivergence(B, C)] * 2
        await pilot.press("left", "left", "left")
        assert screen.pair == (B, C)
        # The pair stays the same two when columns are moved, and is another one when one of them goes.
        await draw(screen, session, pilot, columns=(column(2), column(1), column(0)))
        assert screen.pair == (C, B)
        await draw(screen, session, pilot, count=2)
        assert screen.pair == (A, B)


async def test_a_text_is_typed_and_passages_of_the_corpus_take_its_place() -> None:
    async with comparing(typed="hi") as (app, screen, session, pilot):
        await until(pilot, lambda: session.of(SetInput))
        await pilot.press("i")
        await until(pilot, lambda: screen.typing)
        await pilot.press("end", "exclamation_mark", "x", "q")
        assert screen.encode.line.value == "hi!xq"
        await until(pilot, lambda: session.of(SetInput)[-1] == SetInput("hi!xq"))
        await pilot.press("ctrl+u")
        assert screen.encode.line.value == ""
        await pilot.press("escape")
        await until(pilot, lambda: not screen.typing and screen.focused is screen.encode.rows)
        session.sent.clear()
        await pilot.press("E")
        assert session.of(ShowPassage) == [ShowPassage(Passage())]
        rows = aligned(ROWS[:2], passage=Passage(2, 400))
        await draw(screen, session, pilot, aligned=rows)
        assert "document 3, character 400" in screen_text(app)
        session.answers[NextPassage] = Passage(3, 0)
        await pilot.press(*["J"] * (len(screen.encode.rows.alignment.partings) + 1))
        await until(pilot, lambda: session.of(NextPassage) == [NextPassage()])
        # The first disagreement of the next passage is looked at as soon as it is there.
        await draw(screen, session, pilot, aligned=aligned(ROWS[:2], passage=Passage(3, 0)))
        assert screen.encode.rows.here == screen.encode.rows.alignment.partings[0].start
        await pilot.press("K")
        await until(pilot, lambda: session.of(NextPassage)[-1] == NextPassage(backward=True))
        await until(pilot, lambda: screen.encode.rows.here == screen.encode.rows.alignment.partings[-1].start)
        session.answers[NextPassage] = None
        await pilot.press("J")
        await until(pilot, lambda: "segment the whole corpus alike" in screen_text(app))
        await pilot.press("E")
        assert session.of(ShowPassage)[-1] == ShowPassage(None)
        await pilot.press("i")
        assert session.of(ShowPassage)[-1] == ShowPassage(None)


@pytest.mark.slow
async def test_what_is_typed_over_a_passage_is_text() -> None:
    async with comparing() as (app, screen, session, pilot):
        await draw(screen, session, pilot, aligned=aligned(ROWS[:2], passage=Passage(2, 400)))
        await pilot.press("i", "x")  # the session still shows the passage
        await until(pilot, lambda: session.of(SetInput) and session.of(SetInput)[-1].text.endswith("x"))
        assert not session.of(RemoveColumn)
        await draw(screen, session, pilot, aligned=aligned(ROWS[:2], passage=Passage(2, 400)))
        assert screen.focused is screen.encode.line, "a snapshot of before takes the line from nobody"
        await pilot.press("escape")
        await until(pilot, lambda: "document 3, character 400" in screen_text(app))


@pytest.mark.slow
async def test_find_in_the_list_goes_from_match_to_match() -> None:
    async with comparing((120, 40)) as (app, screen, session, pilot):
        await pilot.press("3", "slash")
        await until(pilot, lambda: app.screen is not screen)
        await typed(pilot, "7")
        await pilot.press("enter")
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.tokens.seek == "7")
        look = session.of(SetViewport)[-1].viewport.tokens
        assert look.find == ""
        await draw(screen, session, pilot, tokens=dataclasses.replace(listed(look), places=(7, 17, 27)))
        for key, row in (("", 7), ("full_stop", 17), ("full_stop", 27), ("full_stop", 7), ("comma", 27)):
            if key:
                await pilot.press(key)
            await until(pilot, lambda row=row: screen.vocabulary.table.cursor == row)  # type: ignore[misc]
        await until(pilot, lambda: "3 of 3 · " in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.tokens.seek == "")
        assert app.screen is screen


@pytest.mark.slow
async def test_lists_of_tokens() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("3")
        for part in (*PARTS[1:], PARTS[0]):
            await pilot.press("right")
            await until(pilot, lambda part=part: session.of(SetViewport)[-1].viewport.tokens.part == part)  # type: ignore[misc]
        await pilot.press("left", "left", "left", "r")
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.tokens.bare)
        assert session.of(SetViewport)[-1].viewport.tokens.part == "only_b"
        await pilot.press("right", "ampersand")
        await until(pilot, lambda: app.screen is not screen)
        await typed(pilot, "ing")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        look = session.of(SetViewport)[-1].viewport.tokens
        # The lists of what is never made are of exact tokens.
        assert (look.part, look.find, look.bare) == ("never_b", "ing", False)
        await draw(screen, session, pilot, tokens=listed(dataclasses.replace(look, top=0)))
        await until(pilot, lambda: screen.vocabulary.titles[1] == "300 of 512")
        assert 'only "ing"' in screen.vocabulary.titles[0]
        await pilot.press("end")
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.tokens.top > 0)
        look = session.of(SetViewport)[-1].viewport.tokens
        await draw(screen, session, pilot, tokens=listed(look))
        assert "tnever_b299" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("escape")  # ends finding
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.tokens.find == "")
        assert app.screen is screen


@pytest.mark.slow
async def test_measures_and_formulas() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("7", "M")
        await draw(screen, session, pilot)
        assert screen.active == "measures"
        assert "words with |w| ≥ 2 / W" in screen_text(app)
        await pilot.press("M")
        await until(pilot, lambda: "splitter whitespace" in screen_text(app))
        await pilot.press("C")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        await typed(pilot, "gpt2 -1")
        await pilot.press("enter")
        await until(pilot, lambda: "out of range" in screen_text(app))
        await pilot.press(*["backspace"] * 2)
        await typed(pilot, "3")
        await pilot.press("enter")
        await until(pilot, lambda: session.of(MeasureUnder) == [MeasureUnder("gpt2", 3.0)])


def test_conventions() -> None:
    assert parse_conventions("") == ("whitespace", 2.5)
    assert parse_conventions("0.5") == ("whitespace", 0.5)
    assert parse_conventions("inf gpt2") == ("gpt2", float("inf"))
    for line in ("nan", "-1", "a b c", "a b", "1 2", "1 a 2"):
        with pytest.raises(TokentuiError):
            parse_conventions(line)


@pytest.mark.slow
async def test_the_cursor_reads_curves() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("7")
        await draw(screen, session, pilot, curves=curves(2, held_out=True))
        await pilot.press("end")
        await until(pilot, lambda: "step 640 of 640   A  238,847" in screen_text(app))
        assert "second corpus     A  119,423" in screen_text(app)
        await pilot.press("left")
        await until(pilot, lambda: "step 620 of 640" in screen_text(app))
        await pilot.press("home", "right", "pagedown", "pageup")
        await until(pilot, lambda: "step  20 of 640" in screen_text(app))
        seen = []
        for _ in range(5):
            await pilot.press("down")
            await pilot.pause()
            seen.append(
                next(line for line in screen_text(app).splitlines() if "step  20 of 640" in line).split()[6]
            )
        tokens = curves(2).series[0].tokens[1]
        shown = f"{1_177_810 / tokens:.4f}", f"{9.5 * tokens:,.1f}", "99.00", "–", f"{tokens:,}"
        assert seen == [*shown]  # what ids save is not told of these curves
        await pilot.press("up", "up")
        await until(pilot, lambda: "ids that occur in the corpus / all ids" in screen_text(app))
        await draw(screen, session, pilot, curves=None)
        assert "computing the curves …" in screen_text(app)


@pytest.mark.slow
async def test_a_column_past_the_end_of_its_run_has_an_exact_value() -> None:
    async with comparing() as (app, screen, session, pilot):
        first, second = curves(2).series
        stopped = dataclasses.replace(first, steps=first.steps[:11], tokens=first.tokens[:11])
        drawn = Curves(640, (stopped, second), ((KEYS[0], 200), (KEYS[1], 640)))
        await pilot.press("7")
        for kind, value in (("stop", "A  414,002"), ("open", "A ≈414,002")):
            at = {"step": 200, "end": Ending(200, kind)}
            columns = (column(0, **at), column(1, step=640))
            await draw(screen, session, pilot, columns=columns, curves=drawn)
            await pilot.press("end")
            await until(pilot, lambda value=value: f"{value}  B  " in screen_text(app))  # type: ignore[misc]


def test_a_part_of_a_size_is_nothing() -> None:
    with pytest.raises(TokentuiError, match="a percentage is a part of the steps"):
        destination("50%", place_of(snapshot(position=Position("size", 384))))
    described = describe_destination("", place_of(snapshot()))
    assert described == "a step, +100, -5, 50%, end; size 2000: to a size"


@pytest.mark.slow
async def test_figures_are_said_to_be_of_what_they_count() -> None:
    key, _ = next(one.keys for one in actions_of(CompareScreen, {}) if one.id == "passage")
    (line,) = passage_line(Passage(0, 0), 10)
    assert [text for text, style in line if style == "key"] == [key]
    async with comparing() as (app, screen, session, pilot):
        await draw(screen, session, pilot, aligned=aligned(("a|b|c", "a|bc")))
        await pilot.press("4")
        await until(pilot, lambda: screen.encode.rows.has_focus)
        rows = screen.encode.rows.alignment.rows
        assert len(rows) == 2
        assert "underlined: the columns segment it differently" in screen_text(app)
        await pilot.press("5")
        await until(pilot, lambda: "encoded, not as trained" in screen_text(app))


@pytest.mark.slow
async def test_keys_that_arrive_at_once_choose_from_the_rows_of_the_typed_text() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, AddScreen) and app.screen.field.has_focus)
        burst(app, *"gpt", "down", "down", "enter")
        await until(pilot, lambda: app.screen is screen and session.of(AddColumn))
        assert session.of(AddColumn)[-1].wanted.name == "gpt4"


async def test_adding_a_column() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, AddScreen) and app.screen.field.has_focus)
        await pasted(pilot, "bert")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and session.of(AddColumn))
        bert = session.of(AddColumn)[-1].wanted
        assert (bert.recipe, bert.name, bert.path) == (preset_named("bert").recipe, "bert", "")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, AddScreen) and app.screen.field.has_focus)
        await pasted(pilot, "no-such-thing")
        await pilot.press("enter")
        await until(pilot, lambda: "no such file" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await draw(screen, session, pilot, count=4)
        await pilot.press("c")
        await until(pilot, lambda: "there are four columns already" in screen_text(app))


@pytest.mark.slow
async def test_a_recipe_of_ones_own() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, AddScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, RecipeScreen))
        await pilot.press("tab", "down", "down", "right", "t")
        await until(pilot, lambda: session.of(AddColumn))
        wanted = session.of(AddColumn)[0].wanted
        assert wanted.recipe not in (None, Recipe())
        assert wanted.run.specials == ()
        assert screen.active == "columns"


@pytest.mark.slow
async def test_a_second_corpus() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("V")
        await until(pilot, lambda: isinstance(app.screen, OpenScreen))
        await typed(pilot, "sample:sailor")
        await pilot.press("enter")
        await until(pilot, lambda: session.of(HoldOut) == [HoldOut("sample:sailor")])
        await draw(screen, session, pilot, held_out="sailor", held_measured=measured(2, corpus="sailor"))
        assert "second: sailor" in screen_text(app)
        await pilot.press("V")
        assert session.of(HoldOut)[-1] == HoldOut("")


async def test_enter_on_a_token_of_a_list_inspects_it_and_esc_leaves_one_thing_at_a_time() -> None:
    async with comparing() as (app, screen, session, pilot):
        await pilot.press("3", "right")
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.tokens.part == PARTS[1])
        await draw(screen, session, pilot, tokens=listed(session.of(SetViewport)[-1].viewport.tokens))
        await until(pilot, lambda: screen.vocabulary.table.held_at(0) is not None)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen) and app.screen.column is not None)
        assert isinstance(app.screen, InspectScreen)
        assert app.screen.column in screen.now.columns, "a column that has the token"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await draw(screen, session, pilot, goal=Position("merges", 900))
        assert "→ 900" in screen_text(app)
        await pilot.press("escape")
        assert session.of(CancelWork)
        await draw(screen, session, pilot)
        await pilot.press("Z")
        await until(pilot, lambda: screen.zoomed)
        await pilot.press("escape")
        await until(pilot, lambda: not screen.zoomed)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await until(pilot, lambda: session.closed)


@pytest.mark.slow
async def test_the_footer_has_its_first_keys() -> None:
    async with comparing((160, 50)) as (app, screen, _, _):
        line = screen_text(app).splitlines()[-1]
        for action in screen.footer_actions()[:8]:
            assert "".join(footer_text(action)) in line


@pytest.mark.slow
async def test_the_main_screen_asks_what_to_compare_with() -> None:
    app, session = explorer(typed="hello")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.show(running=True)
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.running)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, AddScreen))
        assert "Compare gpt2 with" in screen_text(app)
        await typed(pilot, "wordpiece")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        FakeComparison(app).show()
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
        assert [one.name for one in session.of(Compare)[0].columns] == ["gpt2", "wordpiece"]
        assert session.of(Play) == [Play(False)]
        assert isinstance(app.screen, CompareScreen)
        assert app.screen.encode.line.value == "hello"


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "columns", "note"), [
    (("enter", "enter"), [], "the comparison as it was left"),
    ((*"wordpiece", "enter"), ["gpt2", "wordpiece"], ""),
])
async def test_a_comparison_that_was_left_is_resumed_unless_a_column_is_named(
    keys: tuple[str, ...], columns: list[str], note: str
) -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.show(parked=1)
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.parked)
        await pilot.press("c", *keys)
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        assert [[one.name for one in command.columns] for command in session.of(Compare)] == [columns]
        assert any("the comparison as it was left" in one for one in notes_of(app)) == bool(note)


@pytest.mark.slow
async def test_a_comparison_that_cannot_be_made_goes_back() -> None:
    app, session = explorer()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        session.answers[Compare] = TokentuiError("nothing is open", "compare", "o opens a corpus")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, AddScreen))
        await pilot.press("g", "p", "t", "4", "enter")
        await until(
            pilot, lambda: isinstance(app.screen, MainScreen) and "nothing is open" in screen_text(app)
        )


@pytest.mark.slow
async def test_merges_are_compared_by_meaning_or_as_they_are_spelled() -> None:
    async with comparing() as (app, _, session, pilot):
        parting = dataclasses.replace(snapshot().between.divergences[0], step=36, other=1)
        session.show(divergences=(parting,))
        await until(pilot, lambda: "diverge at step 36 by meaning" in screen_text(app))
        await pilot.press("2")
        await until(pilot, lambda: "by meaning, as spelled at step 1 (D)" in screen_text(app))
        await pilot.press("D")
        await until(pilot, lambda: session.of(SetViewport)[-1].viewport.literal)
        session.show(divergences=(dataclasses.replace(parting, step=1, other=36, literal=True),))
        await until(pilot, lambda: "diverge at step 1 as spelled" in screen_text(app))
        await pilot.press("D")
        await until(pilot, lambda: not session.of(SetViewport)[-1].viewport.literal)
        await until(pilot, lambda: "are one boundary" in screen_text(app))
