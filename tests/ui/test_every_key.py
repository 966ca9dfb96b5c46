"""Every key of the list at every phase: it acts on what is seen, or is seen to wait and then acts, or is
refused in a line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import made_up_words
import pytest
import soak
from dialogs import row_facts
from gates import COUNTING, ENCODING, LAST, LAYING_OUT, PART, READING, Gates
from screens import screen_text
from textual.pilot import Pilot
from waiting import settled, text_of, until

from tokentui.axes import preset
from tokentui.learn import PairCandidate
from tokentui.session import commands as do
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.bindings import BoundAction, actions_of
from tokentui.ui.compare_screen import CompareScreen
from tokentui.ui.dialogs.ask import GoToScreen, describe_destination, place_of
from tokentui.ui.dialogs.export import ExportScreen
from tokentui.ui.dialogs.facts import FactsScreen
from tokentui.ui.dialogs.help import HelpScreen
from tokentui.ui.dialogs.inspect import InspectScreen
from tokentui.ui.dialogs.pieces import PiecesScreen
from tokentui.ui.dialogs.questions import QuestionsScreen
from tokentui.ui.dialogs.recipe import RecipeScreen
from tokentui.ui.main_screen import MainScreen

STEPS = {
    "next": 1, "back": -1, "next_10": 10, "back_10": -10, "next_100": 100, "back_100": -100, "play": "run",
    "start": "go to step 0", "end": "go to the end", "next_piece": "1 piece on",
    "previous_piece": "1 piece back",
    "next_100_pieces": "100 pieces on", "previous_100_pieces": "100 pieces back",
}  # fmt: skip
"""Actions that go from step to step: by how many, or what is said of them while they wait."""
DIALOGS = {
    "go_to", "algorithm", "compare", "open", "find", "export", "questions", "facts", "pieces", "help",
    "theme", "settings", "finder", "first_screen", "until", "copy", "life", "steps", "why_all",
    "analyze_glitch",
    "languages", "edit_vocabulary", "dropout", "chat_of_text", "analyze_budget", "analyze_chkhsh",
    "analyze_worst_words", "playground", "export_table", "export_picture", "analyze_charts",
}  # fmt: skip
REFUSED = {
    "predict", "record", "follow", "compressed", "find_next", "find_previous", "filter", "jump_back",
    "copy_command",
}  # fmt: skip
"""Actions that need a step, or a whole corpus, and say so in a line."""
KEPT = {"edit", "what_if"}
"""Actions that need the first corpus: they and all keys after them wait for it."""
SEEN = {
    "faster", "slower", "glyphs", "boundaries", "ages",
    "order", "type", "zoom", "pane_1", "pane_2", "pane_3", "pane_4",
    "next_pane",
    "previous_pane", "view_family", "why_family", "facts_family", "export_family",
}  # fmt: skip
"""Actions that change at once what is seen."""
LEFT_OUT = {
    "cancel": "drops all, in a test of its own", "repaint": "draws what is there",
    "suspend": "stops the process", "quit": "ends it", "quit_now": "ends it",
}


def global_actions() -> list[BoundAction]:
    """Those of the whole main screen, and of a pane that work from all of them."""
    return [*actions_of(MainScreen, {}), *actions_of(ExplorerApp, {})]


def test_every_action_is_one_of_these() -> None:
    names = {one.id for one in global_actions()}
    assert names == {*STEPS, *DIALOGS, *REFUSED, *KEPT, *SEEN, *LEFT_OUT}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(made_up_words.short_words(120))
    return path


class Watching:
    """An app, and what is seen of it."""

    def __init__(self, app: ExplorerApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot
        self.said: list[str] = []
        say = app.say

        def heard(text: str, severity: Any = "information") -> None:
            self.said.append(text)
            say(text, severity)

        app.say = heard  # type: ignore[method-assign]

    @property
    def waiting(self) -> str:
        return self.app.main.snapshot.waiting if self.app.main.snapshot is not None else ""

    @property
    def session(self) -> Any:
        return self.app.engine.session

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*(key for one in keys for key in one.split()))

    def seen(self) -> object:
        main = self.app.main
        now = main.snapshot
        look = (
            main.mode, main.text.boundaries, main.viewport.vocabulary_order, main.active, self.app.screen,
            screen_text(self.app),
        )
        return (*look, now and (now.main.at.step, now.speed, now.running, now.waiting), len(self.said))

    async def until(self, holds: Any) -> None:
        await until(self.pilot, holds)

    async def settle(self) -> None:
        await settled(self.pilot)


@asynccontextmanager
async def opening(text: Path, gates: Gates, phase: str) -> AsyncIterator[Watching]:
    """The explorer, held in a phase of the opening that the command line asks for."""
    gates.close(phase)
    app = ExplorerApp(Session, typed="strong", begin=lambda session: session.send(do.Open((str(text),))))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        seen = Watching(app, pilot)
        await hold(gates, seen, phase)
        yield seen


async def hold(gates: Gates, seen: Watching, phase: str) -> None:
    """Let the opening go on to a phase."""
    gates.close(phase)
    await gates.until(phase)
    await seen.until(
        lambda: seen.app.main.snapshot and (phase not in (PART, LAST) or seen.app.main.snapshot.main.partial)
    )


def word_of(moves: int) -> str:
    count = "a step" if abs(moves) == 1 else f"{abs(moves)} steps"
    return f"{count} {'on' if moves > 0 else 'back'}" if moves else ""


def words_of(names: list[str]) -> str:
    """What is said of actions that wait."""
    words: list[str] = []
    moves = 0
    for name in [*names, ""]:
        step = STEPS.get(name, "")
        if isinstance(step, int) and moves * step >= 0:
            moves += step
            continue
        words += [word_of(moves)] if moves else []
        moves = step if isinstance(step, int) else 0
        words += [step] if isinstance(step, str) and step else []
    return ", ".join(words)


PHASES = (READING, COUNTING, LAYING_OUT, PART, LAST)


def one_by_one(*walks: tuple[str, ...]) -> list[Any]:
    """Phases that one opening goes through; in a long run each phase has an opening of its own too."""
    alone = [(phase,) for walk in walks for phase in walk]
    return [
        *(pytest.param(walk, id="-".join(walk)) for walk in walks),
        *(pytest.param(phase, id=phase[0], marks=pytest.mark.soak) for phase in alone),
    ]


async def act(seen: Watching, action: BoundAction, pressed: list[str]) -> None:
    """Press the key of an action and wait for what it does; `pressed` are the actions that wait."""
    app = seen.app
    if action.id in STEPS:
        pressed.append(action.id)
        await seen.press(action.keys[0])
        await seen.until(lambda: seen.waiting == words_of(pressed))
        shown = screen_text(app)
        assert "queued: " in shown or "▌" in shown  # a message may stand on it
    elif action.id in DIALOGS:
        await seen.press(action.keys[0])
        await seen.until(lambda: app.screen is not app.main)
        screen_text(app)  # without a terminal a dialog is drawn only where a test looks at it
        await seen.press("escape")
        await seen.until(lambda: app.screen is app.main)
    elif action.id in KEPT:
        await seen.press(action.keys[0])
        await seen.until(lambda: seen.said and "keys wait for this: " in seen.said[-1])
        await seen.press("escape")
        await seen.until(lambda: seen.said[-1] == "stopped")
    elif action.id in REFUSED:
        said = len(seen.said)
        await seen.press(action.keys[0])
        await seen.until(lambda: len(seen.said) > said)
    elif action.id in SEEN:
        before = seen.seen()
        await seen.press(action.keys[0])
        # What is on already is shown anew by its opposite.
        if action.id not in ("pane_1", "slower"):
            await seen.until(lambda: seen.seen() != before)
        app.main.go("corpus")


@pytest.mark.parametrize("phases", one_by_one((READING, COUNTING, LAYING_OUT), (PART, LAST)))
@pytest.mark.slow
async def test_every_key_while_a_corpus_is_opened(
    gates: Gates, text: Path, phases: tuple[str, ...]
) -> None:
    """Each phase gets some of the keys, and the last one the key that goes to the end."""
    actions = sorted(global_actions(), key=lambda one: one.id == "end")
    async with opening(text, gates, phases[0]) as seen:
        app = seen.app
        pressed: list[str] = []
        for n, phase in enumerate(phases):
            await hold(gates, seen, phase)
            assert "nothing open" not in screen_text(app)
            assert "corpus is empty" not in screen_text(app)
            for action in actions[(len(actions) + n) % len(phases) :: len(phases)]:
                await act(seen, action, pressed)
        speed = seen.session.state.sync.speed
        assert seen.waiting == words_of(pressed), "what waits is not touched by what does not wait"
        gates.close()
        await seen.settle()
        now = app.main.snapshot
        assert now is not None
        assert (now.waiting, now.main.partial, now.speed) == ("", False, speed)
        # The last of them is the end; pieces are refused in a line.
        assert now.main.why.end is not None
        assert any("this training has no steps within a step" in said for said in seen.said)
        assert not any("should not happen" in said for said in seen.said)


@pytest.mark.slow
@pytest.mark.parametrize("phases", one_by_one(PHASES))
async def test_go_to_and_then_export_while_a_corpus_is_opened(
    gates: Gates, text: Path, tmp_path: Path, phases: tuple[str, ...]
) -> None:
    async with opening(text, gates, phases[0]) as seen:
        app = seen.app
        await seen.press("g")
        await seen.until(lambda: isinstance(app.screen, GoToScreen))
        await seen.press("4", "0", "enter")
        await seen.until(lambda: seen.waiting == "go to step 40")
        await seen.press("n", "e e")
        await seen.until(lambda: isinstance(app.screen, ExportScreen))
        dialog: Any = app.screen
        for phase in phases:
            await hold(gates, seen, phase)
            await seen.until(lambda: text_of(dialog.notice).startswith("waits: "))
        lines: list[str] = []
        say = dialog.notice.say

        def heard(line: str, *severity: Any) -> None:
            lines.append(line)
            say(line, *severity)

        dialog.notice.say = heard
        await seen.press("enter")
        assert any(line.startswith("not yet: ") for line in lines)  # progress may have taken its place
        gates.close()
        await seen.until(lambda: dialog.chosen is not None)
        assert str(dialog.box.border_title) == "Export the tokenizer of step 41"
        dialog.field.value = str(tmp_path / "out.json")
        await seen.press("enter")
        await seen.until(lambda: app.screen is app.main)
        from tokentui.formats.files import load

        assert load(str(tmp_path / "out.json")).vocab_size == 256 + 41


FOLLOWING = [
    ("u", QuestionsScreen), ("F F", FactsScreen), ("p", PiecesScreen), ("a", RecipeScreen), ("g", GoToScreen),
]


@pytest.mark.parametrize(("opens", "phase"), soak.covering(FOLLOWING, [READING, LAYING_OUT, PART]))
@pytest.mark.slow
async def test_dialogs_that_are_opened_while_it_loads_say_what_they_wait_for_and_follow(
    gates: Gates, text: Path, phase: str, opens: tuple[str, type]
) -> None:
    key, kind = opens
    async with opening(text, gates, phase) as seen:
        app = seen.app
        await seen.press(key)
        await seen.until(lambda: isinstance(app.screen, kind))
        dialog: Any = app.screen
        if kind is not GoToScreen and not (kind is RecipeScreen and phase in (PART, LAST)):
            await seen.until(lambda: "waits: " in screen_text(app))
        gates.close()
        await seen.settle()
        await seen.until(lambda: "waits: " not in screen_text(app))
        now = app.main.snapshot
        assert now is not None
        if kind is QuestionsScreen:
            await seen.until(lambda: dialog.shown)
            assert dialog.answer == await seen.session.send(do.AnalyzeVocabulary())
            assert dialog.answer.used
        elif kind is FactsScreen:
            await seen.until(lambda: dialog.answer)
            assert dialog.answer == await seen.session.send(do.ExamineHealth())
        elif kind is PiecesScreen:
            await seen.until(lambda: f"{now.main.at.occurrences:,} pre-tokens" in screen_text(app))
        elif kind is RecipeScreen:
            await seen.until(lambda: "First steps · the same" in " ".join(screen_text(app).split()))
        else:
            here = str(now.main.at.step)
            dialog.field.value = here
            await seen.until(lambda: text_of(dialog.notice) == describe_destination(here, place_of(now)))


@pytest.mark.slow
@pytest.mark.parametrize("phases", one_by_one((COUNTING, LAYING_OUT, PART, LAST)))
async def test_every_step_key_while_another_recipe_is_laid_out(
    gates: Gates, text: Path, phases: tuple[str, ...]
) -> None:
    async with opening(text, gates, READING) as seen:
        app = seen.app
        gates.close()
        await seen.settle()
        await seen.press("n", "n", "n")
        await seen.until(lambda: app.main.snapshot and app.main.snapshot.main.at.step == 3)
        gates.close(phases[0])
        app.engine.send(do.SetRecipe(preset("bert")))
        names = [
            name
            for name in STEPS
            if name not in ("play", "end") and "piece" not in name
        ]
        names += ["next_10", "next", "back"]
        keys = {one.id: one.keys[0] for one in global_actions()}
        pressed: list[str] = []
        share = -(-len(names) // len(phases))
        for n, phase in enumerate(phases):
            await hold(gates, seen, phase)
            for name in names[n * share : (n + 1) * share]:
                pressed.append(name)
                await seen.press(keys[name])
                await seen.until(lambda: seen.waiting == words_of(pressed))
        gates.close()
        await seen.settle()
        now = app.main.snapshot
        assert now is not None
        assert (now.main.recipe, now.main.at.step) == (preset("bert"), 10)


async def exported(text: Path, gates: Gates, folder: Path) -> str:
    """The file of a tokenizer that was trained on the text, at step 60."""
    path = str(folder / "own.json")
    async with opening(text, gates, READING) as seen:
        gates.close()
        seen.app.engine.send(do.GoTo(60))
        await seen.session.send(do.Export(path, "tokentui"))
    return path


@pytest.mark.slow
async def test_questions_on_a_file_wait_until_all_of_the_corpus_is_encoded(
    gates: Gates, text: Path, tmp_path: Path
) -> None:
    path = await exported(text, gates, tmp_path)
    gates.close(PART, ENCODING)
    app = ExplorerApp(
        Session, begin=lambda session: session.send(do.Open((str(text),), tokenizer=do.OpenTokenizer(path)))
    )
    async with app.run_test(size=(120, 40)) as pilot:
        seen = Watching(app, pilot)
        for phase in (ENCODING, PART):
            await gates.until(phase)
            await seen.press("u")
            await seen.until(
                lambda: isinstance(app.screen, QuestionsScreen) and "waits: " in screen_text(app)
            )
            if phase == ENCODING:
                await seen.press("escape")
                gates.close(PART)
        dialog: Any = app.screen
        gates.close()
        await seen.until(lambda: dialog.shown)
        await seen.settle()
        assert dialog.answer == await seen.session.send(do.AnalyzeVocabulary())
        assert dialog.answer.step == app.main.snapshot.main.at.step == 60  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["enter", "percent_sign"])
async def test_a_typed_word_is_explained_by_a_file_before_the_corpus_is_encoded(
    gates: Gates, text: Path, tmp_path: Path, key: str
) -> None:
    path = await exported(text, gates, tmp_path)
    gates.close(PART)
    app = ExplorerApp(
        Session, typed="strong",
        begin=lambda session: session.send(do.Open((str(text),), tokenizer=do.OpenTokenizer(path))),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        seen = Watching(app, pilot)
        await gates.until(PART)
        await seen.until(lambda: app.main.snapshot and app.main.snapshot.main.partial)
        await seen.press("i", *([] if key == "enter" else ["escape"]), key)
        dialog: Any = app.screen
        await seen.until(lambda: (dialog.found if key == "enter" else dialog.shown) is not None)
        await seen.until(lambda: "waits: " not in screen_text(app))
        assert app.main.snapshot
        assert app.main.snapshot.main.partial
        await seen.press("escape")
        gates.close()
        await seen.settle()
        assert app.main.snapshot.main.at.step == 60
        assert "stopped" not in seen.said


@pytest.mark.slow
async def test_keys_before_the_engine_is_there_wait(gates: Gates, text: Path) -> None:
    from tokentui.ui.late_session import LateSession

    painted: list[Any] = []
    made: list[Session] = []

    def session(publish: Any) -> LateSession:
        def make() -> Session:
            made.append(Session(publish))
            return made[0]

        return LateSession(make, painted.append)

    app = ExplorerApp(session, begin=lambda late: late.send(do.Open((str(text),))))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        seen = Watching(app, pilot)
        await seen.until(lambda: painted and "starting" in screen_text(app))
        await seen.press("n", "n", "g")
        await seen.until(lambda: isinstance(app.screen, GoToScreen))
        await seen.press("9", "enter")
        await seen.until(lambda: app.screen is app.main)
        for key, kind in (
            ("e e", ExportScreen), ("F F", FactsScreen), ("u", QuestionsScreen),
            ("question_mark", HelpScreen),
        ):
            await seen.press(key)
            await seen.until(lambda: isinstance(app.screen, kind))  # noqa: B023
            if kind is not HelpScreen:
                await seen.until(lambda: "waits: the engine is starting" in screen_text(app))
            await seen.press("escape")
            await seen.until(lambda: app.screen is app.main)
        painted[0]()
        await seen.until(lambda: app.main.snapshot and app.main.snapshot.main.at.step == 9)


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("phase", [PART, READING])
async def test_esc_drops_what_waits_and_says_so(gates: Gates, text: Path, phase: str) -> None:
    async with opening(text, gates, phase) as seen:
        await seen.press("n", "n", "G")
        await seen.until(lambda: seen.waiting == "2 steps on, go to the end")
        await seen.press("g")
        await seen.until(lambda: isinstance(seen.app.screen, GoToScreen))
        await seen.press("5", "0", "percent_sign", "enter")
        await seen.until(lambda: seen.waiting == "2 steps on, go to the end, go to 50 % of the run")
        await seen.press("escape")
        await seen.until(lambda: "dropped: 2 steps on, go to the end, go to 50 % of the run" in seen.said)
        await seen.settle()
        await seen.until(lambda: "nothing is open" in screen_text(seen.app))
        said = len(seen.said)
        await seen.press("n")
        await seen.until(lambda: len(seen.said) > said)
        assert "nothing is open" in seen.said[-1]


@pytest.mark.slow
async def test_a_row_that_is_inspected_while_it_is_counted_follows(gates: Gates, text: Path) -> None:
    async with opening(text, gates, PART) as seen:
        app = seen.app
        assert app.main.snapshot is not None
        before = app.main.snapshot.main.candidates.rows[0]
        assert isinstance(before, PairCandidate)
        await seen.press("2", "enter")
        await seen.until(lambda: isinstance(app.screen, InspectScreen))
        gates.close()
        await seen.settle()
        now = app.main.snapshot
        assert now is not None
        rows = [row for row in now.main.candidates.rows if isinstance(row, PairCandidate)]
        same = next(row for row in rows if (row.left, row.right) == (before.left, before.right))
        await seen.until(lambda: all(text in screen_text(app) for _, text in row_facts(same)))


@pytest.mark.first_run(cases=1)
@pytest.mark.parametrize("phase", [READING, PART])
async def test_compare_waits_for_the_corpus_and_keeps_its_keys(gates: Gates, text: Path, phase: str) -> None:
    async with opening(text, gates, phase) as seen:
        app = seen.app
        app.compare([ColumnWanted(preset("gpt2")), ColumnWanted(preset("minbpe"))])
        await seen.until(lambda: isinstance(app.screen, CompareScreen))
        await seen.press("n", "n", "n")
        await seen.until(lambda: "queued: 3 steps on" in screen_text(app))
        said = len(seen.said)
        await seen.press("g")
        await seen.until(lambda: len(seen.said) > said)
        gates.close()
        screen: Any = app.screen
        await seen.until(lambda: screen.snapshot and all(one.in_sync for one in screen.snapshot.columns))
        await seen.until(lambda: [one.at.step for one in screen.snapshot.columns] == [3, 3])
