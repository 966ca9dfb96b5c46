"""The calls of our functions that a key costs, from the key to the drawn screen: a step and a typed
character."""

from __future__ import annotations

import sys
import threading
from asyncio import Future
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from waiting import until

import tokentui
from tokentui.axes import preset
from tokentui.session.commands import Open
from tokentui.session.driver import Session
from tokentui.ui.app import ExplorerApp

ROOT = str(Path(tokentui.__file__).parent) + "/"


class Calls:
    """Counts the calls of our named functions in all threads that start after it, by room and name."""

    def __init__(self) -> None:
        self.on = False
        self.found: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if (
            self.on
            and event == "call"
            and code.co_filename.startswith(ROOT)
            and not code.co_name.startswith("<")
        ):
            self.found[code.co_filename.removeprefix(ROOT), code.co_qualname] += 1

    def of(self, *rooms: str) -> tuple[int, int]:
        """The number of functions of some rooms, and of their calls."""
        counts = [
            count for (file, _), count in self.found.items() if not rooms or file.split("/")[0] in rooms
        ]
        return len(counts), sum(counts)


async def press(
    app: ExplorerApp, pilot: Pilot[Any], session: Session, calls: Calls, key: str
) -> tuple[tuple[int, int], ...]:
    """Press a key and count the calls until its snapshot is drawn and the session rests.

    Returns:
        Functions and calls: of the package, of the session and of the trainer.
    """
    before = app.snapshot.version if app.snapshot else 0
    calls.found.clear()
    calls.on = True
    app.post_message(Key(key, key))
    await until(pilot, lambda: app.snapshot and app.snapshot.version > before and session.idle.is_set())
    await pilot.pause()
    calls.on = False
    return calls.of(), calls.of("session"), calls.of("learn")


COSTS = (
    ("", "nnnnnnnn", 202, 1_750, 34, 38, 450), ("s", "nnnnnnnn", 202, 1_750, 34, 38, 450),
    ("i", "vwxyz", 106, 320, 16, 1, 60),
)
"""A key before them, keys for a step, for one where bars tell tokens apart and for a typed character, and the
most that the cheapest of each costs: functions and calls of the package, functions of the session and of the
trainer, calls of both."""


@pytest.mark.usefixtures("every_frame")
async def test_a_key_costs_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 202 functions for a step and 106 for a character; the other bounds are near what is reached.

    Work that runs out of time goes on in another turn, which publishes as well: what is certain is the fewest
    of some presses.
    """
    monkeypatch.setenv("TOKENTUI_ENGINE", "plain")
    calls = Calls()
    begun: list[Session] = []

    def begin(session: Session) -> Future[None]:
        begun.append(session)
        return session.send(Open(("sample:english",)))

    app = ExplorerApp(
        lambda publish: Session(publish, preset("gpt2")), typed="The crowd in the street", begin=begin,
        boundaries="shade",  # as on a terminal with colours, whatever this one has
    )
    threading.setprofile(calls)
    sys.setprofile(calls)
    try:
        async with app.run_test(size=(120, 40), notifications=False) as pilot:
            await until(
                pilot,
                lambda: (
                    begun and begun[0].idle.is_set() and app.snapshot and app.snapshot.main.at.start_tokens
                ),
            )
            found = []
            for before, keys, *_ in COSTS:
                await pilot.press(*before)
                found.append([await press(app, pilot, begun[0], calls, key) for key in keys])
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    for (_, _, functions, most, session, learn, both), costs in zip(COSTS, found, strict=True):
        assert min(whole[0] for whole, _, _ in costs) <= functions, costs
        assert min(whole[1] for whole, _, _ in costs) <= most, costs
        assert min(state[0] for _, state, _ in costs) <= session, costs
        assert min(trainer[0] for _, _, trainer in costs) <= learn, costs
        assert min(state[1] + trainer[1] for _, state, trainer in costs) <= both, costs
