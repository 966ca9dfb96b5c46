"""Random keys from every preset: nothing fails, nothing acts on the terminal, and the numbers of the screen
are those of a training made anew."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from screens import screen_text
from waiting import settled

from tokentui import Trainer, read
from tokentui.axes import preset
from tokentui.core.safetext import is_safe
from tokentui.preset_table import PRESETS
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import NO_ROWS
from tokentui.ui.app import ExplorerApp

CORPORA = ("sample:hugs", "sample:english", "sample:hindi", "sample:emoji")
SIZES = ((120, 40), (80, 24), (40, 12))
KEYS_OF_A_WALK = 60
STEPS = (*"nbN{}[]", "left", "right", "space", "g", "G", "0")
KEYS = (
    *STEPS, *STEPS, *"1234567", *"spzuxfwveriaSBTFW!?/*&", "tab", "shift+tab", "up", "down", "pageup",
    "pagedown", "home", "end", "enter", "escape", "backspace", "ctrl+t", "ctrl+f", "ctrl+r", "ctrl+g",
)
"""Keys of all panes and dialogs, but for those that leave the program, write a file or edit the corpus."""
CASES = [
    pytest.param(name, corpus, SIZES[(n + m) % 3], id=f"{name}-{corpus.removeprefix('sample:')}")
    for n, name in enumerate(PRESETS) for m, corpus in enumerate(CORPORA)
]


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("name", "corpus", "size"), CASES)
async def test_a_walk(
    name: str, corpus: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENTUI_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # keys may write files by names that they type
    dice = random.Random(f"{name} {corpus}")
    app = ExplorerApp(
        lambda publish: Session(publish, preset(name)), typed="hugs in the tea 🤗",
        begin=lambda session: session.send(do.Open((corpus,))),
    )
    pressed = []
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for n in range(KEYS_OF_A_WALK):
            pressed.append(dice.choice(KEYS))
            await pilot.press(pressed[-1])
            if n % 6 == 5:  # long reports go on meanwhile
                await pilot.pause()
                assert is_safe(screen_text(app).replace("\n", "")), pressed
        while app.screen is not app.main:
            await pilot.press("escape")
            await pilot.pause()
        app.engine.send(do.Play(False))
        await settled(pilot)
        snapshot = app.main.snapshot
        assert snapshot is not None
        main = snapshot.main
        assert main.error == ""
        trainer = Trainer(read(corpus), main.recipe)
        trainer.run(merges=main.at.step)
        assert trainer.number == main.at.step, pressed
        assert (trainer.tokens, trainer.vocab_size) == (main.at.tokens, main.at.vocab_size), pressed
        page = main.candidates
        if page.top == 0 and page.whole is None and page.order == NO_ROWS.order:
            shown, best = page.rows[:3], trainer.candidates(3)
            assert [(one.token, one.worth) for one in shown] == [(one.token, one.worth) for one in best]
        assert str(main.at.step) in re.sub(r"[ ,]", "", screen_text(app)), pressed
