"""Going to a step or a token, and finding text: lines that say what they will do."""

from __future__ import annotations

import pytest
from dialogs import FakeEngine, pasted, shown, tried_on_all_sizes, typed
from hypothesis import given
from hypothesis import strategies as st
from objectives import UNIGRAM
from screens import explorer, snapshot
from waiting import screen_text, settled, text_of, until

from tokentui.core.errors import TokentuiError
from tokentui.core.safetext import is_safe
from tokentui.recipe import Ending, Run
from tokentui.session.commands import GoTo, GoToShare, GoToToken, RunUntil, SetRecipe, StepWithSpace
from tokentui.ui.dialogs import FindScreen, StatusLine
from tokentui.ui.dialogs.ask import (
    GoToScreen,
    Place,
    UntilScreen,
    describe_destination,
    destination,
)

HERE = Place(128, 1024, Ending(2000, "at most"))


def face(step: int = 0, known: int = 0, target: int | None = None) -> FakeEngine:
    """A program that stands at a step."""
    return FakeEngine(snapshot(step=step, computed=known, end=Ending(target, "at most")))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("5000", GoTo(5000)),
        ("5,000", GoTo(5000)),
        (" 0 ", GoTo(0)),
        ("+100", GoTo(228)),
        ("-5", GoTo(123)),
        ("-500", GoTo(0)),
        ("50%", GoTo(1000)),
        ("900%", GoTo(2000)),
        ("end", GoTo(None)),
        ("the", GoToToken("the")),
        (" the", GoToToken(" the")),
        ("·the", GoToToken("·the")),
        ('"100"', GoToToken("100")),
        ('""', GoToToken('""')),
        ("+5%", GoToToken("+5%")),
        ("1,00", GoToToken("1,00")),
        ("٣", GoToToken("٣")),
        ("9" * 5000, GoToToken("9" * 5000)),
        ("", None),
    ],
)
def test_what_a_line_asks_for(text: str, wanted: GoTo | GoToToken | None) -> None:
    assert destination(text, HERE) == wanted


def test_a_part_of_a_run_whose_end_is_not_known_is_taken_from_its_end() -> None:
    place = Place(128, 1024, Ending())
    assert destination("50%", place) == GoToShare(50)
    assert destination("900%", place) == GoToShare(100)
    assert describe_destination("50%", place) == "50 % of the run; trains to its end first"


@pytest.mark.parametrize(
    ("end", "half", "whole"),
    [
        (Ending(2000, "last"), "step 1,000 (known to 1,024)", "the end of the run, step 2,000"),
        (Ending(2000, "stop"), "step 1,000 (known to 1,024)", "the end of the run, step 2,000"),
        (
            Ending(2000, "at most"), "step 1,000 of at most 2,000 (known to 1,024)",
            "the end of the run, step 2,000 at most",
        ),
        (Ending(31, "about"), "step 15 of about 31 (known to 1,024)", "the end of the run, about step 31"),
    ],
)
def test_a_part_of_a_run_is_of_its_end_as_far_as_that_is_known(end: Ending, half: str, whole: str) -> None:
    assert describe_destination("50%", Place(128, 1024, end)) == half
    assert describe_destination("end", Place(128, 1024, end)) == whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5000", "step 5,000, beyond the stop at 2,000 (known to 1,024)"),
        ("1500", "step 1,500 (known to 1,024)"),
        ("128", "step 128, where you are (known to 1,024)"),
        ("end", "the end of the run, step 2,000 at most"),
        (" the", "the step that makes ‘·the’"),
        ("\x1b[31m", "the step that makes ‘␛[31m’"),
        ("", "a step, +100, -5, 50%, end, or a token (·the, #484, or \"100\" in quotes)"),
    ],
)
def test_what_is_said_of_it(text: str, words: str) -> None:
    assert describe_destination(text, HERE) == words


async def test_a_training_that_drops_pieces_is_not_said_to_make_them() -> None:
    unigram = FakeEngine(snapshot(**UNIGRAM))
    dialog = GoToScreen(unigram)
    async with shown(dialog) as (_app, pilot):
        await typed(pilot, "in")
        await until(pilot, lambda: "the step that drops or keeps ‘in’" in screen_text(pilot))


@pytest.mark.parametrize(
    ("changes", "run", "said"),
    [
        (UNIGRAM, Run.of({"vocab_size": 1000}), ""),
        ({}, Run.of({"vocab_size": 1000}), ": its stop is vocab_size 1,000; a changes vocab_size"),
        ({}, Run.of({"merges": 1000}), ": its stop is merges 1,000; a changes merges"),
        ({}, Run(), ""),
    ],
)
async def test_a_size_that_a_run_does_not_reach_says_what_ends_the_run(
    changes: dict[str, object], run: Run, said: str
) -> None:
    face = FakeEngine(snapshot(**changes), run=run)
    async with shown(UntilScreen(face)) as (app, pilot):
        await pasted(pilot, "size 2000")
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        assert face.of(RunUntil) == [RunUntil(size=2000)]
        await until(pilot, lambda: face.said == [f"the run ends before 2,000 ids{said}"])


@pytest.mark.parametrize("run", [Run(), Run.of({"vocab_size": 3000})], ids=str)
async def test_a_size_that_no_pruning_comes_to_becomes_that_of_the_training(run: Run) -> None:
    face = FakeEngine(snapshot(**UNIGRAM), run=run)
    async with shown(UntilScreen(face)) as (app, pilot):
        await pasted(pilot, "size 2000")
        await until(pilot, lambda: "vocab_size becomes 2,000" in screen_text(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        recipe = snapshot(**UNIGRAM).main.recipe
        assert face.of(SetRecipe) == [SetRecipe(recipe, Run.of({"vocab_size": 2000}))]
        await until(pilot, lambda: face.of(GoTo) == [GoTo(None)])
        assert not face.of(RunUntil)


@pytest.mark.parametrize(
    ("step", "message"),
    [(12, "the run ends before the token ‘the’; step 12 makes ·the, with a space in front"),
        (None, "the run ends before the token ‘the’")],
)
async def test_a_token_that_is_not_made_suggests_the_one_with_a_space(step: int | None, message: str) -> None:
    engine = FakeEngine(snapshot(), {StepWithSpace: step})
    async with shown(UntilScreen(engine)) as (app, pilot):
        await typed(pilot, "the")
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        await until(pilot, lambda: engine.of(StepWithSpace) == [StepWithSpace("the")])
        await until(pilot, lambda: engine.said == [message])


async def test_a_condition_that_is_met_already_is_said() -> None:
    engine = FakeEngine(snapshot(step=128), answers={RunUntil: 128})
    async with shown(UntilScreen(engine)) as (app, pilot):
        await typed(pilot, "10")
        await pilot.press("enter")
        await until(pilot, lambda: app.answered)
        said = "step 128 is at 10 ids or past it already: 0 goes to the start"
        await until(pilot, lambda: engine.said == [said])


STEPS = st.integers(0, 99)
ENDS = st.just(Ending()) | st.builds(Ending, STEPS, st.sampled_from(["last", "stop", "at most", "about"]))


@given(st.text(st.characters(exclude_categories=())), STEPS, STEPS, ENDS)
def test_every_line_is_answered(text: str, step: int, known: int, end: Ending) -> None:
    try:
        assert is_safe(describe_destination(text, Place(step, known, end)))
    except TokentuiError:
        assert text.strip().endswith("%")
        assert end.step is None
        return
    match destination(text, Place(step, known, end)):
        case GoToShare(percent):
            assert 0 <= percent <= 100
            assert end.step is None
        case GoTo(int(number)):
            assert number >= 0
        case GoTo(None):
            assert text.strip() == "end"
        case GoToToken(token):
            assert token in text
        case None:
            assert text == ""


@pytest.mark.slow
async def test_it_says_what_will_happen_while_one_types() -> None:
    program = face(128, 1024, 2000)
    async with shown(GoToScreen(program)) as (app, pilot):
        said = app.screen.query_one(StatusLine)
        await typed(pilot, "+100")
        await until(pilot, lambda: text_of(said) == "step 228 (known to 1,024)")
        assert "step 228 (known to 1,024)" in screen_text(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: program.sent == [GoTo(228)] and app.answered)


@pytest.mark.parametrize("keys", [("enter",), ("a", "escape")])
async def test_leaving_goes_nowhere(keys: tuple[str, ...]) -> None:
    async with shown(GoToScreen(face())) as (app, pilot):
        await pilot.press(*keys)
        await until(pilot, lambda: app.answered)
        assert app.result is None


async def test_go_to_on_all_sizes() -> None:
    async with shown(GoToScreen(face(128, 1024, 2000))) as (_, pilot):
        await typed(pilot, "the")
        await tried_on_all_sizes(pilot)


@pytest.mark.parametrize(("keys", "answer"), [
    ((*"new", "enter"), "new"),  # what it held was selected
    (("backspace", "enter"), ""), (("escape",), None),  # to find nothing and to leave are not the same
])
async def test_find_is_one_line_at_the_foot(keys: tuple[str, ...], answer: str | None) -> None:
    async with shown(FindScreen(FakeEngine(), "Pairs", "old")) as (app, pilot):
        assert "find in Pairs > old" in screen_text(pilot).split("\n")[-1]
        await pilot.press(*keys)
        await until(pilot, lambda: app.answered)
        assert app.result == answer


@pytest.mark.slow
async def test_find_on_all_sizes_with_anything_in_it() -> None:
    async with shown(FindScreen(FakeEngine(), "[/]\x1b[31m", "\x1b]0;x\x07\u202e[/]\n\x85")) as (_, pilot):
        await tried_on_all_sizes(pilot)


async def test_ways_to_go_are_listed_below_the_line() -> None:
    app, session = explorer()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("g")
        await until(pilot, lambda: isinstance(app.screen, GoToScreen))
        ways = "List the steps that segmented", "Run until", "List all steps", "Show where", "Go back to"
        seen = screen_text(pilot)
        assert [words for words in ways if words not in seen] == []
        screen = app.screen
        assert isinstance(screen, GoToScreen)
        await pilot.press("down", "down", "up", "up")
        await until(pilot, lambda: screen.field.has_focus)
        await pilot.press("down", "4", "0")  # what is typed goes into the line
        await until(pilot, lambda: (screen.field.value, screen.field.has_focus) == ("40", True))
        await pilot.press("enter")
        await until(pilot, lambda: session.of(GoTo)[-1:] == [GoTo(40)])
        await pilot.press("g", "down", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, UntilScreen))
