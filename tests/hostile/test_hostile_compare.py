"""The hostile set on Compare, in every pane of it, with both walls and with either of them taken away."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import hostile
import pytest
from compare_app import (
    AT,
    KEYS,
    FakeComparison,
    agreed,
    aligned,
    column,
    comparing,
    curves,
    draw,
    measured,
    rows_of,
)
from poisoned import Poison
from text_guards import ALONE, WALLS, Tripwire, Walls, refusal, stand
from textual.pilot import Pilot
from textual.widgets import Input
from waiting import until

from tokentui.analyze.compare import DifferentCut
from tokentui.analyze.results import DivergenceSide
from tokentui.learn import Page, Why
from tokentui.session.snapshot import Agreed, DivergenceView, TokenInBoth, TokensInBoth
from tokentui.session.views import Busy, TokenList
from tokentui.ui.app import ExplorerApp
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.panes.compare.compare_panes import COMPARE_PANES

COUNT = 3


def rows(text: str) -> list[str]:
    """A text cut in three ways, with bars between the tokens."""
    # what is encoded was read from bytes
    bare = hostile.raw(text).decode("utf-8", "surrogateescape").replace("|", "") or "x"
    half = len(bare) // 2 or 1
    return [bare, "|".join(bare), f"{bare[:half]}|{bare[half:]}"]


def changes(poison: Poison) -> dict[str, Any]:
    """A snapshot with data of theirs wherever data stands."""
    ranked = [poison.pairs(scored=bool(rows_of(n)[0].left_uses)) for n in range(COUNT)]
    whys = [
        Why(pairs[0], pairs[-1], 2, 9, "lowest-ids", None, (poison.text, poison.text)) for pairs in ranked
    ]
    columns = [
        dataclasses.replace(
            column(n, candidates=Page(ranked[n], 0, len(ranked[n])), why=whys[n], last=ranked[n][-1]),
            name=poison.text, about=poison.text,
            path=poison.text, error=poison.text if n == 2 else "",
            loading=Busy(poison.text, 1, 2) if n == 1 else None, in_sync=n == 0,
        )
        for n in range(COUNT)
    ]  # fmt: skip
    sides = {
        KEYS[n]: DivergenceSide(
            Why(pairs[0], None, 2, 0, "first-seen", poison.text), Page(pairs, 0, len(pairs)), 900, 99
        )
        for n, pairs in enumerate(ranked)
    }
    partings = tuple(
        DifferentCut(one, 3, (one,), (one[: len(one) // 2], one[len(one) // 2 :]))
        for one in poison.texts
        if one
    )
    found = measured(COUNT, corpus=poison.text)
    pairs = tuple(dataclasses.replace(one, partings=partings) for one in agreed(COUNT).pairs)
    tokens = tuple(TokenInBoth(one, n, n + 1, 9 - n, None) for n, one in enumerate(poison.pieces))
    look = TokenList(KEYS[0], KEYS[1], find=poison.text)
    series = curves(COUNT)
    return {
        "corpus_name": poison.text, "held_out": poison.text, "columns": tuple(columns),
        "failed": (poison.text, poison.text), "engine": poison.text, "busy": Busy(poison.text, 1, 2),
        "aligned": dataclasses.replace(
            aligned(rows(poison.text)[:2]), refused=((KEYS[2], poison.text),), left=9
        ),
        "divergences": tuple(
            DivergenceView(a, b, 4, 5, (sides[a], sides[b]), Busy(poison.text, 1, 9), True)
            for a, b in combinations(KEYS[:COUNT], 2)
        ),
        "measured": dataclasses.replace(found, errors=((KEYS[1], poison.text),)),
        "agreed": Agreed(AT, pairs),
        "held_measured": dataclasses.replace(found, errors=((KEYS[0], poison.text),)),
        "tokens": TokensInBoth(AT, look, len(tokens), tokens),
        "curves": dataclasses.replace(
            series, series=tuple(dataclasses.replace(one, error=poison.text) for one in series.series)
        ),
    }


async def tour(
    app: ExplorerApp, screen: CompareScreen, session: FakeComparison, pilot: Pilot[None], wire: Tripwire,
        texts: Sequence[str], most: int
) -> None:
    """A few texts at a time in the pane that has its turn, and the next ones in the next."""
    for number, start in enumerate(range(0, len(texts), most)):
        poison = Poison(texts[start : start + most])
        await pilot.press(str(number % len(COMPARE_PANES) + 1))
        shown = changes(poison)
        if number % 3:
            shown["columns"] = tuple(
                dataclasses.replace(one, error="", loading=None) for one in shown["columns"]
            )
        await draw(screen, session, pilot, **shown)
        wire.check(app)
        if number % 4 == 0:
            await pilot.press("v", "v")
            await pilot.pause()
            wire.check(app)


@pytest.mark.parametrize("walls", ALONE)
@pytest.mark.slow
async def test_the_set_on_compare(walls: Walls, monkeypatch: pytest.MonkeyPatch) -> None:
    stand(walls, monkeypatch)
    wire = Tripwire(monkeypatch)
    async with comparing((200, 60), COUNT) as (app, screen, session, pilot):
        # The guard alone is one function, which `test_hostile_detail` gives all of them; it sees only what
        # fits on the screen.
        texts, most = (hostile.SHORT, 48) if walls == "no guard" else (hostile.SHORT[::4], 12)
        await tour(app, screen, session, pilot, wire, texts, most)
        screen.query_one(Input).value = "\x1b[2J\u202e[/]"
        app.tell(refusal("\x1b[2J\u202e[/]"))
        await pilot.pause()
        wire.check(app)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: screen.size == (80, 24))
        await tour(app, screen, session, pilot, wire, hostile.SHORT[::20], 9)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_every_text_on_compare(
    walls: Walls, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand(walls, monkeypatch)
    wire = Tripwire(monkeypatch)
    async with comparing(size, COUNT) as (app, screen, session, pilot):
        for turn in range(len(COMPARE_PANES)):
            await tour(app, screen, session, pilot, wire, hostile.TEXTS[turn:], 8)


