"""Texts of two documents are not joined where they are shown in one line."""

from __future__ import annotations

import re

import pytest

from tokentui.core.errors import TokentuiError
from tokentui.learn import jump
from tokentui.preset_table import PRESETS
from tokentui.recipe import Run, Stops
from tokentui.session import commands as do
from tokentui.session.commands import perform
from tokentui.session.engine.state import State
from tokentui.session.training.training import prepare
from tokentui.session.views import StepView, Viewport
from tokentui.text.read import read
from tokentui.ui.panes.encode import first_words
from tokentui.ui.panes.why import effects

TEXTS = ("i hug pugs", "hugging pugs is fun", "i make puns")
STEPS = 6


def _state(name: str) -> State:
    it = State(prepare(read("sample:hugs"), PRESETS[name].recipe, Run(stops=Stops(merges=100))))
    it.view = Viewport(corpus_chars=400)
    return it


def _bare(text: str) -> str:
    """A text as letters alone: blanks are shown in several ways."""
    return "".join(char for char in text if char.isalpha())


def _in_one_document(text: str) -> bool:
    plain = _bare(re.sub("</?w?>?", "", text))  # a mark may be cut off
    return any(plain in _bare(one) for one in TEXTS)


@pytest.mark.first_run(cases=20)
@pytest.mark.parametrize("name", PRESETS)
def test_the_offered_sentence_holds_words_of_the_corpus_alone(name: str) -> None:
    words = first_words(_state(name).snapshot().main).split()
    assert words
    assert {word.lower() for word in words} <= {word for text in TEXTS for word in text.split()}


@pytest.mark.first_run(cases=23)
@pytest.mark.parametrize("name", PRESETS)
def test_the_places_of_why_and_of_the_steps_are_each_in_one_document(name: str) -> None:
    it = _state(name)
    shown = 0
    for step in range(1, STEPS):
        jump(it.main.trainer, step)
        it.sync.adopt_position(it.main)
        for cell in effects(it.snapshot().main, "text"):
            line = "".join(text for text, _ in cell)
            if line.startswith("…"):
                assert _in_one_document(line), line
                shown += 1
    answers: list[tuple[StepView, ...]] = []
    try:
        perform(do.ExplainSteps(tuple(range(1, STEPS)), 9), it, answers.append)
    except TokentuiError:
        return  # its steps are not explained
    for view in answers[0] if answers else ():
        for place in view.places:
            assert _in_one_document(f"{place.before}{place.token}{place.after}"), place
            shown += 1
    assert shown or not it.main.trainer.traits.grows
