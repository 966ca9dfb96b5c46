"""Draw the picture of the README: the explorer on a built-in text, after 129 merges.

    python benchmarks/picture.py docs/explorer.svg
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from tokentui.recipe import Recipe
from tokentui.session import commands
from tokentui.session.driver import Session
from tokentui.ui.app import ExplorerApp

STEP = 129


async def draw() -> str:
    """The screen at that step, as SVG."""
    app = ExplorerApp(
        lambda publish: Session(publish, Recipe()),
        typed="The crowd in the street",
        begin=lambda session: session.send(commands.Open(("sample:english",))),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        for wanted in (0, STEP):
            while (now := app.main.snapshot) is None or now.corpus.nothing or now.main.at.step != wanted:
                await pilot.pause(0.05)
            if not wanted:
                app.send(commands.GoTo(STEP))
        await pilot.pause(0.5)
        return app.export_screenshot(title="tokentui")


if __name__ == "__main__":
    drawn = re.sub(r"terminal-\d+-", "terminal-", asyncio.run(draw()))
    Path(sys.argv[1]).write_text(drawn, encoding="utf-8")
