"""The dialog of dropout: the draws of the typed text, and others by keys."""

from __future__ import annotations

import pytest
from dialogs import FakeEngine, shown, tried_on_all_sizes, typed
from waiting import screen_text, until

import tokentui
from tokentui.core.errors import TokentuiError
from tokentui.encode.sampling import Drawn
from tokentui.encode.segment.dropout import LIKE
from tokentui.session.commands import Draw
from tokentui.ui.dialogs.drawn import SHARES, DrawnScreen

TOKENIZER = tokentui.train("sample:english", "gpt2", merges=200)
TEXT = "the crowd\x1b[31m"


class Session(FakeEngine):
    """Draws."""

    def __init__(self) -> None:
        super().__init__(answers={Draw: self.answer})
        self.asked: list[Draw] = []

    def answer(self, asked: Draw) -> Drawn:
        self.asked.append(asked)
        if asked.text == "no":
            raise TokentuiError("no merges to leave out", "dropout")
        return TOKENIZER.draws(asked.text or TEXT, p=asked.p, like=asked.like, seed=asked.seed)


async def test_keys_draw_again_with_another_share_and_another_behavior() -> None:
    session = Session()
    dialog = DrawnScreen(session)

    def seen(**wanted: object) -> bool:
        drawn = dialog.answer
        return drawn is not None and all(getattr(drawn, name) == value for name, value in wanted.items())

    async with shown(dialog, (90, 30)) as (app, pilot):
        await until(pilot, lambda: seen(seed=0, p=0.1))
        assert session.asked == [Draw("", 0.1, next(iter(LIKE)), 0)]
        await until(pilot, lambda: "seed 0 · p 0.1 · like tokenizers" in screen_text(pilot))
        await pilot.press("r")
        await until(pilot, lambda: seen(seed=1) and "merged" in screen_text(pilot))
        assert "·crow" in screen_text(pilot).replace("│", "")  # a space can be seen
        await pilot.press("p")
        await until(pilot, lambda: seen(p=SHARES[SHARES.index(0.1) + 1]))
        await pilot.press("l")
        other = list(LIKE)[1]
        await until(pilot, lambda: seen(like=other) and LIKE[other].about in screen_text(pilot))
        await pilot.press("w")
        await typed(pilot, "lower")
        await pilot.press("enter")
        await until(pilot, lambda: session.asked[-1].text == "lower")
        await pilot.press("w", "escape")
        assert not app.answered
        await pilot.press("w", *["backspace"] * 5)
        await typed(pilot, "no")
        await pilot.press("enter")
        await until(pilot, lambda: dialog.answer is None and "no merges" in screen_text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: app.answered)


@pytest.mark.slow
async def test_every_size() -> None:
    async with shown(DrawnScreen(Session())) as (_app, pilot):
        await tried_on_all_sizes(pilot)


@pytest.mark.parametrize("like", LIKE)
def test_each_fate_has_a_word(like: str) -> None:
    seen = {
        draw.fate for seed in range(40) for word in TOKENIZER.draws(TEXT, p=0.4, like=like, seed=seed).words
        for draw in word.draws
    }
    assert {"merged", "dropped"} <= seen
    assert seen <= {"merged", "dropped", "kept", "no merge", "passed over"}
