"""A slow run shows what its next step merges before the step is made."""

from __future__ import annotations

import pytest

from tokentui import learn
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run
from tokentui.session.engine.state import State
from tokentui.session.training.search import find_tokens
from tokentui.session.training.training import prepare
from tokentui.session.views import SLOW_SPEED, SPEEDS, ColumnWanted, CorpusPlace, CorpusView
from tokentui.text.corpus import Corpus
from tokentui.ui.draw.running import Layout, LayoutKey

TEXT = "the low lower lowest newer newest wide wider widest banana bananas aaaa aaa the then there " * 4
CORPUS = Corpus.from_text(TEXT + "\n" + TEXT[::-1])
STEPS = 25


def state_of(recipe: Recipe) -> State:
    return State(prepare(CORPUS, recipe, Run()))


def laid_out(state: State) -> Layout:
    view: CorpusView = state.snapshot().main.corpus
    return Layout(view.parts, LayoutKey(60, "chips", "text"), CorpusPlace(), view.at_start)


def new_tokens(held: Layout) -> set[tuple[int, int]]:
    """The stretches that the last step made a token of."""
    return {
        (held.offset_of(part.place) + token.start, held.offset_of(part.place) + token.end)
        for part in held.parts for token in part.tokens if token.fresh
    }


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("name", PRESETS)
def test_what_is_marked_becomes_the_new_token(name: str) -> None:
    """Steps that are made again are marked as well. A training that removes tokens marks nothing."""
    state = state_of(PRESETS[name].recipe)
    column, marked = state.main, 0
    for number in (*range(STEPS), *range(5, STEPS)):
        learn.jump(column.trainer, number)
        if column.trainer.number != number:
            break
        coming = column.coming()
        assert not coming or column.trainer.traits.grows
        held = laid_out(state)
        held.announce(coming)
        if coming and held.coming:
            place = find_tokens(column.training, coming, held.place_of(held.coming[0][0]))
            assert place in {held.place_of(start) for start, _ in held.coming}
        learn.jump(column.trainer, number + 1)
        if column.trainer.number == number + 1 and coming:
            assert set(held.coming) == new_tokens(laid_out(state)), (number, coming)
            marked += bool(held.coming)
    assert bool(marked) is bool(column.trainer.traits.grows)


def test_only_the_second_half_of_a_pause_of_a_slow_run_shows_the_next_merge() -> None:
    state = state_of(PRESETS["gpt2"].recipe)
    for speed in SPEEDS[:-1]:
        assert speed is not None
        state.sync.set_goal(0)
        state.sync.work(0.0, 60.0)
        state.sync.play_at(speed, 10.0)
        state.sync.play(True, 10.0)
        seen = []
        for quarter in range(8):
            wait = state.sync.work(10.0 + (quarter + 0.1) / 4 / speed, 60.0)
            snapshot = state.snapshot()
            assert (snapshot.position.value, bool(snapshot.coming)) == (
                quarter // 4, speed <= SLOW_SPEED and quarter % 4 > 1)
            assert wait > 0
            seen.append(snapshot.coming)
        state.sync.play(False, 20.0)
        assert state.snapshot().coming == ()
    state.sync.play_at(1, 30.0)
    state.sync.play(True, 30.0)
    state.sync.work(30.9, 60.0)
    assert state.snapshot().coming
    state.compare([ColumnWanted(PRESETS["gpt2"].recipe), ColumnWanted(PRESETS["minbpe"].recipe)])
    state.sync.work(30.95, 60.0)
    assert state.snapshot().coming == ()


def test_a_place_in_a_long_pre_token_is_found_behind_the_one_before() -> None:
    text = "xyz " * 700 + "ab" + " zyx" * 900 + "ab" + "xyz " * 400
    corpus = Corpus.from_text(text)
    training = prepare(corpus, Recipe(split="none", unit="char", base="sorted", unknown="error"), Run())
    first, second = text.index("ab"), text.rindex("ab")
    for start, found in ((0, first), (first, second), (second, first)):
        assert find_tokens(training, (b"a", b"b"), CorpusPlace(0, start)) == CorpusPlace(0, found)
    assert find_tokens(training, (b"b", b"a"), CorpusPlace()) is None
