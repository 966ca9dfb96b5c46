"""What-ifs on the screen: asked for on a row, shown beside the run as it is, added to, and taken back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from naive import NaiveUnder
from rows import pair_row
from screens import screen_text, snapshot
from stepping import RECIPE, RUN, opened, walked
from textual.pilot import Pilot
from waiting import notes_of, settled, until

from tokentui import learn
from tokentui.core.safetext import is_safe
from tokentui.learn import Traits, Word
from tokentui.recipe import FORBID, FORCE, LEAVE_OUT, Recipe, WhatIf
from tokentui.session import commands as do
from tokentui.session.snapshot import CostView, Snapshot
from tokentui.text.read import read
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.what_if import WhatIfScreen, choices


async def asked(app: ExplorerApp, pilot: Pilot[None], *keys: str) -> None:
    """Open the dialog by its key, and press keys in it."""
    await pilot.press("x")
    await settled(pilot)
    assert isinstance(app.screen, WhatIfScreen)
    await pilot.press(*keys)


async def beside(app: ExplorerApp, pilot: Pilot[None], *columns: Recipe) -> Callable[[], Snapshot]:
    """What gives the snapshot of Compare, once these recipes stand in it."""
    await settled(pilot)

    def now() -> Snapshot:
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        return screen.now

    assert [one.recipe for one in now().columns] == list(columns)
    assert all(one.in_sync for one in now().columns)
    assert now().goal is None
    return now


def counted(changes: list[WhatIf], step: int) -> NaiveUnder:
    """A naive run over the sample after so many steps."""
    trainer = learn.start(read(["sample:english"]), RECIPE)
    vocabulary = trainer.tokenizer().vocabulary
    words = [[span.symbol for span in trainer.segment(Word(word))] for word in trainer.words.words]
    naive = NaiveUnder(
        words=words, weights=list(trainer.words.counts), pieces=vocabulary.pieces[: vocabulary.base_size],
        tie=RECIPE.tie, changes=[(one.step, one.what, one.parts) for one in changes],
    )
    for _ in range(step):
        naive.merge(naive.ranked(naive.counts())[0])
    return naive


def length(naive: NaiveUnder) -> int:
    """Its tokens."""
    return sum(len(word) * weight for word, weight in zip(naive.words, naive.weights, strict=True))


async def cost_of(pilot: Pilot[None], now: Callable[[], Snapshot], step: int) -> CostView:
    """The cost, once it is known at a step."""
    await settled(pilot)
    assert now().between.costs[-1].cost.step == step
    return now().between.costs[-1]


@pytest.mark.slow
async def test_a_pair_is_forbidden_and_the_cost_is_that_of_a_naive_run() -> None:
    async with opened() as (app, pilot):
        await walked(app, pilot, 10)
        assert app.main.snapshot is not None
        best = app.main.snapshot.main.why.best
        assert best is not None
        await pilot.press("2")
        await asked(app, pilot)
        assert "force it now" not in screen_text(app)  # it is the next one anyway
        await pilot.press("enter")
        change = WhatIf(11, FORBID, best.parts)
        now = await beside(app, pilot, RECIPE, RECIPE.under([change]))
        assert now().position.value == 10
        app.engine.send(do.GoTo(30))
        found = (await cost_of(pilot, now, 30)).cost
        run, changed = (counted(changes, 30) for changes in ([], [change]))
        assert (found.before, found.after) == (length(run), length(changed))
        assert set(found.never) == {*run.pieces} - {*changed.pieces}
        assert [one.at.tokens for one in now().columns] == [length(run), length(changed)]
        await until(pilot, lambda: found.said in screen_text(app))


@pytest.mark.slow
async def test_more_are_added_and_each_is_taken_back() -> None:
    async with opened() as (app, pilot):
        await walked(app, pilot, 5)
        await pilot.press("2", "down")
        await asked(app, pilot, "down", "down", "enter")
        assert app.main.snapshot is not None
        second = app.main.snapshot.main.candidates.rows[1]
        forced = RECIPE.under([WhatIf(6, FORCE, second.parts)])
        now = await beside(app, pilot, RECIPE, forced)
        await pilot.press("n")
        await settled(pilot)
        assert now().position.value == 6
        last = now().columns[1].at.last
        assert last is not None
        assert last.parts == second.parts
        assert len(counted([WhatIf(6, FORCE, second.parts)], 6).pieces) == now().columns[1].at.vocab_size
        await pilot.press("right")
        best = now().columns[1].why.best
        assert best is not None
        await asked(app, pilot)
        assert forced.what_if[0] in screen_text(app)
        await pilot.press("enter")
        both = forced.under([WhatIf(7, FORBID, best.parts)])
        now = await beside(app, pilot, RECIPE, both)
        assert (await cost_of(pilot, now, 6)).changed == now().columns[1].key
        await asked(app, pilot, "end", "up", "enter")  # the first of them
        now = await beside(app, pilot, RECIPE, RECIPE.under([WhatIf(7, FORBID, best.parts)]))
        await asked(app, pilot, "end", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.snapshot.main.recipe == RECIPE


@pytest.mark.slow
async def test_a_merge_is_left_out_from_the_vocabulary() -> None:
    async with opened() as (app, pilot):
        await walked(app, pilot, 12)
        await pilot.press("3")
        await asked(app, pilot, "enter")  # the newest token
        change = WhatIf(12, LEAVE_OUT)
        now = await beside(app, pilot, RECIPE, RECIPE.under([change]))
        found = (await cost_of(pilot, now, 12)).cost
        run, changed = (counted(changes, 12) for changes in ([], [change]))
        assert (found.before, found.after) == (length(run), length(changed))
        assert found.never == (run.pieces[-1],)
        assert found.instead == (changed.pieces[-1],)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_dialog_and_the_cost(size: tuple[int, int]) -> None:
    async with opened(size=size) as (app, pilot):
        await walked(app, pilot, 8)
        await pilot.press("2", "down")
        await asked(app, pilot)
        assert "What if · r+e" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen) and app.screen.snapshot is not None)
        app.engine.send(do.GoTo(20))
        await settled(pilot)
        assert "never made" in screen_text(app)
        assert "without r+e" in screen_text(app)
        assert "0.1 % more tokens" in screen_text(app)


def test_what_may_be_changed_of_a_huge_token_is_found_without_writing_it_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = b"the cat sat on the mat " * 50_000
    column = snapshot(traits=Traits(what_ifs=True)).main
    monkeypatch.setattr(WhatIf, "text", property(lambda one: pytest.fail("it is written out")))
    pair = [one.change for one in choices(column, pair_row(part, b"s", part + b"s", 9, 0, False, False))]
    assert pair == [
        WhatIf(129, FORBID, (part, b"s")), WhatIf(129, FORBID, (part + b"s",)),
        WhatIf(129, FORCE, (part, b"s")),
    ]
    made = [one.change for one in choices(column, made=(7, part + b"s", (part, b"s")))]
    assert made == [WhatIf(7, LEAVE_OUT), WhatIf(7, FORBID, (part + b"s",))]


async def test_where_there_is_none_it_is_said_in_a_line() -> None:
    recipe = Recipe(objective="unigram", split="metaspace", unit="char", base="frequency", encode="viterbi",
                    unknown="fused", normalize=("nmt-nfkc",))
    async with opened(recipe, "sample:hugs", size=(80, 24)) as (app, pilot):
        await pilot.press("2", "x")
        await until(pilot, lambda: any("what-ifs are of merges" in one for one in notes_of(app)))
        app.engine.send(do.SetRecipe(Recipe(split="none"), RUN))
        await settled(pilot)
        await pilot.press("3", "x")  # a unit: no step made it
        await until(pilot, lambda: any("no merge made this" in one for one in notes_of(app)))
        await app.engine.ask(do.TrainOnText("ab"))
        await walked(app, pilot, 1)
        await pilot.press("2", "x")
        await until(pilot, lambda: any("no pair is left to merge" in note for note in notes_of(app)))


@pytest.mark.parametrize("text", [
    "\u202ea\u202eb a\u0301\x07 ", "\x1b]0;x\x07[bold]", "\ud800\ud800 \ud800", "\u0904\u093f ",
])
@pytest.mark.first_run(cases=1)
async def test_hostile_parts_are_drawn_safely(text: str) -> None:
    async with opened(Recipe(split="none"), "sample:hugs") as (app, pilot):
        await app.engine.ask(do.TrainOnText(text * 9))
        await until(pilot, lambda: app.main.snapshot is not None and app.main.snapshot.main.candidates.rows)
        await walked(app, pilot, 3)
        await pilot.press("2", "down")
        await asked(app, pilot)
        assert is_safe(screen_text(app).replace("\n", ""))
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(app.screen, CompareScreen)
        seen = screen_text(app)
        assert "B without" in seen
        assert is_safe(seen.replace("\n", ""))
