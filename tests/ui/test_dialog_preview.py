"""The first steps of what is looked at, beside those of the recipe in use: asked for when needed, the newest
wish first."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import itertools
from typing import Any

import pytest
from dialogs import FakeEngine, assert_safe, shown, tried_on_all_sizes
from hypothesis import given
from hypothesis import strategies as st
from rows import pair_row
from screens import explorer, snapshot
from waiting import screen_text, settled, until

from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.preset_table import PRESETS
from tokentui.recipe import Recipe, Run
from tokentui.session.commands import KeepPlace, Preview, SetRecipe, perform
from tokentui.session.engine.state import State
from tokentui.session.snapshot import PreviewView
from tokentui.session.training.training import Training, open_corpus, prepare
from tokentui.ui.dialogs.draft import RecipeChoice
from tokentui.ui.dialogs.preview import STEPS, compare, first_difference, steps_of, summary
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.draw.table import Listing
from tokentui.ui.draw.text import runs

GPT2 = preset("gpt2")
RUN = Run.of({"merges": 1000})
ROUNDS = PreviewView((), ("round 1, em: 1,324 pieces", "round 1, prune: 885 pieces"), "", 20_000)


def pairs(*tokens: str, end: str = "", error: str = "") -> PreviewView:
    """A preview whose steps join the two letters of each token."""
    rows = (
        pair_row(t[:1].encode(), t[1:].encode(), t.encode(), 400 - 10 * n, 0, False, False)
        for n, t in enumerate(tokens)
    )
    return PreviewView(tuple(rows), (), end, 20_000, error)


HERE = pairs(" t", "he", " a", "in", "re", "on", " w", " s", "nd", "ou")
THERE = pairs(" t", "he", "in", " a", "re", "on", " w", "\x1b[", "nd", "ou")


class Trial:
    """Answers what it is told to, and remembers what it was asked; `held` answers nothing until it is set."""

    def __init__(self, **views: PreviewView | Exception) -> None:
        self.views: dict[Recipe, PreviewView | Exception] = {
            preset(name): view for name, view in views.items()
        }
        self.asked: list[Recipe] = []
        self.runs: list[Run] = []
        self.given_up: list[Recipe] = []
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self, command: Preview) -> PreviewView:
        recipe = command.recipe
        self.asked.append(recipe)
        self.runs.append(command.run or Run())
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.given_up.append(recipe)
            raise
        answer = self.views.get(recipe, THERE)
        if isinstance(answer, Exception):
            raise answer
        return answer


def recipes(trial: Trial) -> RecipeScreen:
    """The dialog, with GPT-2's recipe in use."""
    return RecipeScreen(FakeEngine(snapshot(), {Preview: trial}), RecipeChoice(GPT2, RUN), "gpt2", tried=True)


def lines(pilot: Any) -> str:
    """The screen with single blanks."""
    return " ".join(screen_text(pilot).split())


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("size", "keys"), [((120, 40), ()), ((80, 24), ()), ((40, 12), ("ctrl+t",))])
async def test_a_difference_is_seen_at_a_glance(
    size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    dialog = recipes(Trial(gpt2=HERE, gpt4=THERE))
    async with shown(dialog, size) as (_app, pilot):
        await pilot.press("down", *keys)
        await until(pilot, lambda: "differ from step 3 on" in screen_text(pilot))
        steps = dialog.query_one("#steps", Listing)
        await until(pilot, lambda: steps.cursor == 2 and steps.size.height)
        (line,) = [line for line in screen_text(pilot).splitlines() if "≠" in line]
        assert "·+a" in line
        assert "i+n" in line


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize("other", ["gpt4", "gpt2"])
async def test_a_sample_is_marked_on_the_screen(size: tuple[int, int], other: str) -> None:
    """The mark is there whether the steps differ or not, and not if the whole corpus was counted."""
    for sample in (True, False):
        here, there = (dataclasses.replace(view, sample=sample) for view in (HERE, THERE))
        dialog = recipes(Trial(gpt2=here, gpt4=there))
        async with shown(dialog, size) as (_app, pilot):
            await pilot.press(*["down"] * (other == "gpt4"))
            told = "differ from step 3 on" if other == "gpt4" else "the same"
            await until(pilot, lambda: told in lines(pilot))  # noqa: B023
            assert (", not the run · " + told in lines(pilot)) is sample
            assert ("First steps · " + told in lines(pilot)) is not sample


async def test_the_present_one_is_asked_first_each_only_once_and_the_newest_wish_counts() -> None:
    trial = Trial(gpt2=HERE)
    dialog = recipes(trial)
    async with shown(dialog, (120, 40)) as (_, pilot):
        await until(pilot, lambda: "First steps · the same" in lines(pilot))
        await pilot.press("down")
        await until(pilot, lambda: "differ from" in lines(pilot))
        await pilot.press("up", "down", "up", "down")
        presets = dialog.query_one("#presets", Listing)
        await until(pilot, lambda: presets.cursor_key == "gpt4")
        # A preset is a recipe: the run stays, and GPT-2's is the one in use.
        assert trial.asked == [GPT2, preset("gpt4")]
        assert [run.stops.merges for run in trial.runs] == [1000, 1000]
        # Keys never wait, and a newer wish takes the place of an older one.
        trial.open.clear()
        await pilot.press("down", "down")
        await until(pilot, lambda: presets.cursor_key == "gpt1" and trial.asked[-1] == preset("gpt1"))
        await until(pilot, lambda: trial.given_up == trial.asked[2:-1])
        assert "First steps · …" in lines(pilot)
        trial.open.set()
        await until(pilot, lambda: "differ from" in lines(pilot))
        assert trial.asked[-1] == preset("gpt1")


async def test_axes_and_values_are_tried_as_well() -> None:
    trial = Trial(gpt2=HERE)
    dialog = recipes(trial)
    async with shown(dialog, (120, 40)) as (_, pilot):
        await pilot.press("tab")
        axes, values = dialog.query_one("#axes", Listing), dialog.query_one("#values", Listing)
        await until(pilot, lambda: axes.has_focus)
        axes.move_to(axes.index_of("tie") or 0)
        await pilot.press("right")
        await until(pilot, lambda: trial.asked[-1] == GPT2.with_axes(tie="shortest"))
        await pilot.press("left", "enter")
        await until(pilot, lambda: values.has_focus)
        await pilot.press("home")
        await until(pilot, lambda: trial.asked[-1] == GPT2.with_axes(tie="first-seen"))
        await until(pilot, lambda: "tie=first-seen" in screen_text(pilot))
        assert dialog.choice.recipe == GPT2


async def test_what_cannot_be_trained_says_why_and_what_was_superseded_says_nothing() -> None:
    trial = Trial(
        gpt2=HERE, gpt4=TokentuiError("no \x1b[31m pair"), gpt4o=Cancelled(), gpt1=pairs(error="not\nthat")
    )
    dialog = recipes(trial)
    async with shown(dialog, (120, 40)) as (_, pilot):
        await pilot.press("down")
        await until(pilot, lambda: r"no \x1b[31m pair" in screen_text(pilot))
        await pilot.press("down")
        await until(pilot, lambda: trial.asked[-1] == preset("gpt4o") and "First steps · …" in lines(pilot))
        await pilot.press("down")
        await until(pilot, lambda: r"not\nthat" in screen_text(pilot))
        assert_safe(pilot)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (40, 12)])
async def test_the_steps_can_be_scrolled_and_left(size: tuple[int, int]) -> None:
    dialog = recipes(Trial(gpt2=HERE))
    async with shown(dialog, size) as (app, pilot):
        presets, steps = dialog.query_one("#presets", Listing), dialog.query_one("#steps", Listing)
        for back in ("p", "escape"):
            await pilot.press("ctrl+t")
            await until(pilot, lambda: steps.has_focus and "·+t" in screen_text(pilot))
            await pilot.press("end")
            await until(pilot, lambda: steps.cursor == STEPS - 1 and "o+u" in screen_text(pilot))
            await pilot.press(back)
            await until(pilot, lambda: presets.has_focus and presets.display)
        assert not app.answered
        await pilot.press("ctrl+t")
        await until(pilot, lambda: steps.has_focus)
        await pilot.press("tab")
        await until(pilot, lambda: dialog.query_one("#axes", Listing).has_focus)


@pytest.mark.slow
async def test_all_sizes() -> None:
    dialog = recipes(Trial(gpt2=THERE, gpt4=ROUNDS))
    async with shown(dialog) as (_, pilot):
        await pilot.press("down")
        await until(pilot, lambda: "round 1, em" in screen_text(pilot))
        await tried_on_all_sizes(pilot)


async def test_the_session_is_asked_and_told_and_its_failure_is_a_line() -> None:
    app, session = explorer(run=RUN)
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        session.answers[Preview] = ValueError("broken")
        await pilot.press("a")
        await until(pilot, lambda: "internal error: ValueError" in screen_text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        session.answers[Preview] = HERE
        await pilot.press("a")
        await until(pilot, lambda: "First steps · the same" in lines(pilot))
        asked = session.of(Preview)[-1]
        assert asked.recipe == GPT2
        assert asked.run.stops.merges == 1000
        app.screen.dismiss(RecipeChoice(GPT2, asked.run, "size"))
        await until(pilot, lambda: session.of(KeepPlace))
        assert session.of(KeepPlace) == [KeepPlace("size")]
        assert session.of(SetRecipe) == []


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.slow
async def test_the_dialog_previews_each_preset_in_use_beside_one_with_steps_of_many_parts(name: str) -> None:
    """Each preset is in use, and `greedtok`, whose steps have any number of parts, is under the cursor."""
    used = PRESETS[name]
    face = FakeEngine(snapshot(), {Preview: _real})
    dialog = RecipeScreen(face, RecipeChoice(used.recipe, RUN), name, tried=True)
    async with shown(dialog, (120, 40)) as (_, pilot):
        await until(pilot, lambda: "First steps · the same" in lines(pilot))
        presets = dialog.query_one("#presets", Listing)
        presets.move_to(presets.index_of("greedtok") or 0)
        await until(pilot, lambda: "greedtok" in lines(pilot) and "First steps · …" not in lines(pilot))
        expected = summary(_real(Preview(used.recipe)), _real(Preview(PRESETS["greedtok"].recipe)))
        await until(pilot, lambda: expected[2][0] in lines(pilot))


# Without a screen.


@functools.cache
def _prepared() -> Training:
    return prepare(open_corpus("sample:english", None, "text"), GPT2, Run())


@functools.cache
def _view(recipe: Recipe) -> PreviewView:
    answers: list[PreviewView] = []
    perform(Preview(recipe), State(_prepared()), answers.append)
    return answers[0]


def _real(command: Preview) -> PreviewView:
    """Answer as a session does, once for each recipe."""
    return _view(command.recipe)


@pytest.mark.slow
def test_every_preset_can_be_compared_with_every_preset() -> None:
    views = {name: _view(one.recipe) for name, one in PRESETS.items()}
    for name, view in views.items():
        assert not view.error, name
        assert view.pairs or view.lines, name
    for used, looked_at in itertools.product(views.values(), repeat=2):
        rows = compare(used, looked_at)
        assert len(rows) == max(len(steps_of(used)), len(steps_of(looked_at)))
        assert summary(used, looked_at)


@given(st.lists(st.binary(min_size=1, max_size=3), max_size=5))
def test_a_step_shows_all_its_parts(parts: list[bytes]) -> None:
    row = dataclasses.replace(pair_row(b"a", b"b", b"".join(parts), 3), parts=tuple(parts))
    (step,) = steps_of(PreviewView((row,), (), "", 0))
    shown_parts = ["".join(text for text, _ in runs(part, limit=60)) for part in parts]
    assert "".join(text for text, _ in step.made) == "+".join(shown_parts)



@pytest.mark.parametrize(
    ("left", "right", "place"),
    [
        (HERE, HERE, None), (HERE, THERE, 2), (pairs("ab"), pairs("ab", "cd"), 1), (pairs(), pairs(), None),
        (ROUNDS, HERE, 0), (pairs("ab", end="no pair is left"), pairs("ab"), None),
        (pairs("ab"), pairs("ab", error="no"), 1),
        (ROUNDS, ROUNDS, None),
    ],
)
def test_the_first_difference(left: PreviewView, right: PreviewView, place: int | None) -> None:
    assert first_difference(left, right) == first_difference(right, left) == place
    assert [n for n, row in enumerate(compare(left, right)) if row.mark == "≠"] == (
        [] if place is None else [place]
    )


def test_the_end_stands_behind_the_last_step() -> None:
    told = ["".join(text for text, _ in made) for _, made, _ in steps_of(pairs("ab", end="no pair is left"))]
    assert told == ["a+b", "no pair is left"]
    assert len(steps_of(pairs(*["ab"] * 10, end="no pair is left"))) == STEPS


def test_other_counts_are_said() -> None:
    more = PreviewView(tuple(pair_row(r.parts[0], r.parts[1], r.token, 1) for r in HERE.pairs), (), "", 0)
    assert ("the same, other counts", "") in summary(HERE, more)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(["ab", "cd", "ef"]), max_size=12),
    st.lists(st.sampled_from(["ab", "cd", "ef"]), max_size=12),
)
def test_what_stands_before_the_difference_is_the_same(left: list[str], right: list[str]) -> None:
    place = first_difference(pairs(*left), pairs(*right))
    ours, theirs = left[:STEPS], right[:STEPS]
    assert ours[:place] == theirs[:place]
    assert ours == theirs if place is None else ours[place : place + 1] != theirs[place : place + 1]


def test_every_preset_has_a_line_and_a_source() -> None:
    assert all(one.about and one.source and one.family for one in PRESETS.values())


@pytest.mark.parametrize("other", [HERE, ROUNDS])
@pytest.mark.parametrize("width", [30, 38, 44, 69, 200])
def test_the_steps_of_a_sample_are_marked_at_every_width(width: int, other: PreviewView) -> None:
    whole = summary(HERE, dataclasses.replace(other, sample=False), width=width)
    assert "ample" not in "".join(text for text, _ in whole)
    told = summary(HERE, dataclasses.replace(other, sample=True), width=width)
    line = "".join(text for text, _ in told)
    assert "ample" in line
    assert len(line) <= width
    if width >= 44:
        assert "the run" in line
    if width >= 69:
        assert f"ample of {other.chars:,} characters" in line
