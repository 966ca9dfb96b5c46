"""Practice asks on a real session: an answer is judged, what gives it away is hidden, and what went wrong
comes again."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from screens import screen_text
from textual.pilot import Pilot
from waiting import until

from tokentui import learn
from tokentui.analyze.grading.exercise import read_exercise
from tokentui.analyze.quiz import Question
from tokentui.axes import preset
from tokentui.core.safetext import to_bytes
from tokentui.recipe import Stops
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.persist.session_file import SavedSession
from tokentui.text.read import read
from tokentui.tours.facts import Place
from tokentui.tours.practice import KINDS, Practice, cuts_of, practice_of
from tokentui.ui.app import ExplorerApp
from tokentui.ui.practice_screen import PracticeScreen

SOURCE, RECIPE = "sample:sailor", "hf-bpe"


def practice(count: int = 10, seed: int = 0) -> Practice:
    recipe = preset(RECIPE)
    trainer = learn.start(read(SOURCE), recipe)
    return practice_of("Sailor", Place(SOURCE, None, recipe), trainer, Stops(merges=30), count, seed)


def app_of(asked: Practice) -> ExplorerApp:
    begun = SavedSession(sources=(SOURCE,))
    return ExplorerApp(
        Session, typed="", begin=lambda session: session.send(do.Open((SOURCE,))), begun=begun, tour=asked
    )


async def at(pilot: Pilot[Any], app: ExplorerApp, number: int) -> PracticeScreen:
    await until(pilot, lambda: isinstance(app.screen, PracticeScreen) and app.screen.at == number
                and app.screen.arrived)
    assert isinstance(app.screen, PracticeScreen)
    return app.screen


def shows_answer(app: ExplorerApp, screen: PracticeScreen, words: str) -> bool:
    """True if the verdict is shown, and nothing is hidden any more."""
    now = screen.snapshot
    return words in screen_text(app) and now is not None and now.main.why.best is not None


async def give(pilot: Pilot[Any], screen: PracticeScreen, question: Question, *, right: bool) -> None:
    """Give an answer by keys."""
    if question.kind == "cut":
        cuts = screen.practice.cuts[screen.at]
        if not right:
            cuts = () if cuts else (1,)
        place = 1
        for cut in cuts:
            await pilot.press(*["right"] * (cut - place), "up")
            place = cut
    elif question.choices:
        row = question.choices.index(question.answer) + (not right)
        await pilot.press(*["down"] * (row % len(question.choices)))
    await pilot.press("enter")
    if question.kind == "decode":
        await until(pilot, lambda: pilot.app.screen is not screen)
        await pilot.press(*(question.word if right else "?"), "enter")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_answers_are_judged_and_wrong_ones_come_again(size: tuple[int, int]) -> None:
    asked = practice()
    assert {question.kind for question in asked.questions} == set(KINDS)
    app = app_of(asked)
    async with app.run_test(size=size) as pilot:
        for number, question in enumerate(asked.questions):
            screen = await at(pilot, app, number)
            assert screen.snapshot is not None
            assert screen.snapshot.main.why.best is None
            await give(pilot, screen, question, right=number % 3 != 0)
            words = "right  " if number % 3 else "wrong  "
            await until(pilot, partial(shows_answer, app, screen, words))
            await pilot.press("enter")
        missed = [question for number, question in enumerate(asked.questions) if number % 3 == 0]
        for number, question in enumerate(missed, len(asked.questions)):
            screen = await at(pilot, app, number)
            assert screen.question == question
            await give(pilot, screen, question, right=True)
            await until(pilot, lambda: "right  " in screen_text(app))
            await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)


async def test_a_question_is_answered_with_two_keys() -> None:
    asked = practice(1)
    app = app_of(asked)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await at(pilot, app, 0)
        await give(pilot, screen, asked.questions[0], right=True)
        await until(pilot, lambda: "1 of 1 right" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


@pytest.mark.parametrize("name", ["hf-bpe", "subword-nmt", "udl-notebook", "bert", "gpt2", "minbpe-basic"])
def test_the_borders_of_a_word_are_those_of_its_tokens(name: str) -> None:
    recipe = preset(name)
    trainer = learn.start(read("sample:sailor"), recipe)
    found = practice_of("x", Place("sample:sailor", None, recipe), trainer, Stops(merges=20), 8, 0)
    for question, cuts in zip(found.questions, found.cuts, strict=True):
        if question.kind == "cut":
            mark = to_bytes(recipe.mark_text)
            bare = [piece.replace(mark, b"") if mark else piece for piece in question.answer]
            places = [0, *cuts, len(question.word)]
            parts = [question.word[a:b] for a, b in pairwise(places)]
            assert [to_bytes(part) for part in parts] == [piece for piece in bare if piece]
            assert cuts_of(question, recipe) == cuts


def test_an_exercise_is_practiced() -> None:
    exercise = read_exercise("jurafsky")
    trainer = exercise.start()
    found = practice_of("x", Place("", "low"), trainer, Stops(merges=8), 6, 1)
    assert max(stop.place.step or 0 for stop in found.stops) <= 8
