"""Random keys across openings: each is accounted for, the step is what they add up to, and it goes back only
where one says."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from pathlib import Path
from typing import Any, ClassVar

import pytest
from gates import COUNTING, LAST, LAYING_OUT, PART, READING, Gates
from textual.pilot import Pilot
from waiting import settled, until

from tokentui import Trainer, read
from tokentui.axes import preset
from tokentui.core.errors import Cancelled, TokentuiError
from tokentui.recipe import Recipe, Run
from tokentui.session import commands
from tokentui.session.engine.driver import Session
from tokentui.session.snapshot import Snapshot
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs.ask import GoToScreen

pytestmark = pytest.mark.usefixtures("every_frame")
KEYS = 50
MOVES = {
    "n": 1, "b": -1, "N": 100, "right_curly_bracket": 100,
    "left_curly_bracket": -100, "right_square_bracket": 10,
    "left_square_bracket": -10,
}
RECIPES = ("gpt2", "minbpe", "bert")
Ends = dict[tuple[Path, Recipe], int]
PHASES = (READING, COUNTING, LAYING_OUT, PART, LAST)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two texts, with the parts of words in another order."""
    folder, paths = tmp_path_factory.mktemp("texts"), []
    for name, first, last in (("one", "st u p o", "g r ble"), ("two", "mi x re", "de ly t s")):
        words = [f"{a}{b}{c}" for a in first.split() for b in ("on", "de", "a", "i") for c in last.split()]
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text(
            "\n".join(" ".join(words[(n * 7 + k * k) % len(words)] for k in range(12)) for n in range(90))
        )
    return paths


@pytest.fixture(scope="module")
def ends(texts: list[Path]) -> Ends:
    """The last step of each recipe on each text."""
    found = {}
    for path in texts:
        for name in RECIPES:
            trainer = Trainer(read(str(path)), preset(name))
            trainer.run()
            found[path, preset(name)] = len(list(trainer.steps()))
    return found


@dataclasses.dataclass(frozen=True)
class Model:
    """What the keys add up to: where it stands, at the least and at the most; a run may be stopped anywhere
    on its way."""

    path: Path
    recipe: Recipe
    low: int = 0
    high: int = 0
    far: int = 0
    """The step that was asked for, which may lie beyond the last one: another recipe may have it."""
    wish: tuple[int, int] | None = None
    """The place that is kept, where the recipe has fewer steps."""
    to_end: bool = False
    """Whether it goes to the end if nothing else is pressed."""
    plays: bool = False


class Storm:
    """Keys, and their model. A subclass hands them to a session or to an app.

    Args:
        dice: What chooses the keys.
        gates: What holds the phases of an opening.
        texts: What is opened, the first of them already.
        ends: The last step of each recipe on each text.
    """

    session: Any

    def __init__(self, dice: random.Random, gates: Gates, texts: list[Path], ends: Ends) -> None:
        self.dice, self.gates, self.texts, self.ends = dice, gates, texts, ends
        self.model = Model(texts[0], Recipe())
        self.back = True
        """Whether a key that leads back was pressed since all was done."""
        self.step = 0
        self.answers: list[tuple[object, asyncio.Future[Any]]] = []
        self.pressed: list[str] = []

    async def press(self, *keys: str) -> None:
        """Press keys of the main screen."""
        raise NotImplementedError

    async def go_to(self, step: int) -> None:
        """Ask for a step."""
        raise NotImplementedError

    async def load(self, command: commands.Open | commands.SetRecipe) -> None:
        """Ask for a corpus, or a recipe."""
        raise NotImplementedError

    async def seen(self) -> Snapshot:
        """What is seen when all is done."""
        raise NotImplementedError

    def show(self, snapshot: Snapshot) -> None:
        """See a snapshot."""
        assert self.back or snapshot.main.at.step >= self.step, " ".join(self.pressed)
        self.step = snapshot.main.at.step

    @property
    def end(self) -> int:
        return self.ends[self.model.path, self.model.recipe]

    def stand(self, low: int, high: int, **more: Any) -> None:
        end = self.end
        words = {"wish": None, "to_end": False, "plays": False, **more}
        far = max(0, high)
        self.model = dataclasses.replace(
            self.model, low=min(max(0, low), end), high=min(far, end), far=far, **words
        )

    async def settle(self) -> None:
        self.gates.close()
        self.model = dataclasses.replace(self.model, plays=False)
        now, model = await self.seen(), self.model
        assert (now.waiting, now.main.partial, now.busy) == ("", False, None), self.pressed
        assert (now.corpus.name, now.main.recipe) == (model.path.name, model.recipe), self.pressed
        if model.to_end:
            self.stand(self.end, self.end)
        assert self.model.low <= now.main.at.step <= self.model.high, (model, now.main.at.step, self.pressed)
        self.stand(now.main.at.step, now.main.at.step, wish=model.wish)
        self.back = False

    async def key(self) -> None:
        """Press one key, or what a dialog asks for."""
        dice, model = self.dice, self.model
        kinds = {
            "move": 30, "goto": 4, "start": 2, "end": 4, "open": 2, "use": 3, "run": 3, "settle": 2,
            "gate": 4,
        }
        kind = dice.choices(list(kinds), list(kinds.values()))[0]
        self.pressed.append(kind)
        match kind:
            case "move":
                name = dice.choice(list(MOVES))
                self.pressed[-1], by = name, MOVES[name]
                self.back |= by < 0
                await self.press(name)
                low, high = model.low + by, model.high + by
                self.stand(low, high)
                self.model = dataclasses.replace(self.model, far=max(0, model.far + by))
            case "goto":
                step = dice.randrange(self.end + 20)
                self.pressed[-1] = f"g {step}"
                self.back = True
                await self.go_to(step)
                self.stand(step, step)
            case "start":
                self.back = True
                await self.press("0")
                self.stand(0, 0)
            case "end":
                await self.press("G")
                self.stand(model.low, self.end, to_end=True)
            case "run":
                await self.press("space")
                self.stand(model.low, self.end, plays=True)
            case "open":
                self.back = True
                self.gates.close(dice.choice(PHASES))
                path = dice.choice(self.texts)
                await self.load(commands.Open((str(path),)))
                self.model = dataclasses.replace(model, path=path)
                self.stand(0, 0)
            case "use":
                self.back = True
                self.gates.close(dice.choice(PHASES))
                recipe = preset(dice.choice(RECIPES))
                await self.load(commands.SetRecipe(recipe, Run()))
                low, high = model.wish or (model.low, max(model.high, model.far))
                self.model = dataclasses.replace(model, recipe=recipe)
                self.stand(low, high, wish=(low, high))
            case "settle":
                if not model.plays:
                    await self.settle()
            case "gate":
                self.gates.close()


    async def run(self) -> None:
        """Press all keys, and a last few whose sum is known."""
        for _ in range(KEYS):
            await self.key()
        self.back = True
        more = self.dice.randrange(4)
        await self.press("0", *["n"] * more)
        self.stand(0, 0)
        self.stand(more, more)
        await self.settle()
        for command, answer in self.answers:
            assert answer.done(), (command, self.pressed)
            error = None if answer.cancelled() else answer.exception()
            assert error is None or isinstance(error, TokentuiError | Cancelled), (command, error)


class OnSession(Storm):
    """What keys ask of a session."""

    SENDS: ClassVar[dict[str, commands.Command[object]]] = {
        **{key: commands.Move(by) for key, by in MOVES.items()},
        "0": commands.GoTo(0), "G": commands.GoTo(None), "space": commands.Play(),
    }

    def send(self, command: commands.Command[object]) -> None:
        self.answers.append((command, self.session.send(command)))

    async def press(self, *keys: str) -> None:
        for key in keys:
            self.send(self.SENDS[key])
            if self.dice.random() < 0.5:
                await asyncio.sleep(0)
        if self.dice.random() < 0.3:
            await asyncio.sleep(0.002)

    async def go_to(self, step: int) -> None:
        self.send(commands.GoTo(step))

    async def load(self, command: commands.Open | commands.SetRecipe) -> None:
        self.send(command)

    async def seen(self) -> Snapshot:
        await asyncio.wait_for(self.session.idle.wait(), 60)
        return self.last

    def show(self, snapshot: Snapshot) -> None:
        super().show(snapshot)
        self.last = snapshot


class OnScreen(Storm):
    """Keys of the explorer."""

    def __init__(self, pilot: Pilot[None], app: ExplorerApp, *words: Any) -> None:
        super().__init__(*words)
        self.pilot, self.app, self.session = pilot, app, app.engine.session
        self.said: list[str] = []
        send, say, show = self.session.send, app.say, app.main.show

        def sent(command: commands.Command[object]) -> asyncio.Future[Any]:
            answer: asyncio.Future[Any] = send(command)
            self.answers.append((command, answer))
            return answer

        def heard(text: str, severity: Any = "information") -> None:
            assert "should not happen" not in text
            say(text, severity)

        def shown(snapshot: Snapshot) -> None:
            self.show(snapshot)
            show(snapshot)

        self.session.send, app.say, app.main.show = sent, heard, shown  # type: ignore[method-assign]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def go_to(self, step: int) -> None:
        await self.pilot.press("g")
        await until(self.pilot, lambda: isinstance(self.app.screen, GoToScreen))
        await self.pilot.press(*str(step), "enter")
        await until(self.pilot, lambda: self.app.screen is self.app.main)

    async def load(self, command: commands.Open | commands.SetRecipe) -> None:
        if isinstance(command, commands.Open):
            self.app.main.open_source(commands.Open(command.sources, command.as_))
        else:
            self.app.engine.send(command)

    async def seen(self) -> Snapshot:
        await settled(self.pilot)
        assert self.app.main.snapshot is not None
        return self.app.main.snapshot


async def on_screen(seed: int, gates: Gates, texts: list[Path], ends: Ends) -> None:
    dice = random.Random(seed)
    gates.close(dice.choice(PHASES))
    app = ExplorerApp(Session, begin=lambda session: session.send(commands.Open((str(texts[0]),))))
    async with app.run_test(size=(80, 24)) as pilot:
        await OnScreen(pilot, app, dice, gates, texts, ends).run()


async def on_session(seed: int, gates: Gates, texts: list[Path], ends: Ends) -> None:
    dice = random.Random(seed)
    gates.close(dice.choice(PHASES))
    storm = OnSession(dice, gates, texts, ends)
    storm.session = Session(storm.show)
    await storm.session.start()
    storm.session.send(commands.Open((str(texts[0]),)))
    try:
        await storm.run()
    finally:
        gates.close()
        await storm.session.close()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.first_run(cases=1)
async def test_what_keys_ask_for_adds_up(seed: int, gates: Gates, texts: list[Path], ends: Ends) -> None:
    await on_session(seed, gates, texts, ends)


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.slow
async def test_keys_add_up(seed: int, gates: Gates, texts: list[Path], ends: Ends) -> None:
    await on_screen(seed, gates, texts, ends)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1200))
async def test_what_two_hundred_storms_ask_for_adds_up(
    seed: int, gates: Gates, texts: list[Path], ends: Ends
) -> None:
    await on_session(seed, gates, texts, ends)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2000, 2200))
async def test_two_hundred_storms_add_up(seed: int, gates: Gates, texts: list[Path], ends: Ends) -> None:
    await on_screen(seed, gates, texts, ends)
