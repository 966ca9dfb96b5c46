"""The main screens of the program as text, kept in `screens`: how they look on a built-in corpus.

The other tests of screens assert single lines. These show a whole screen, so that a change of the layout
is seen in the diff. `TOKENTUI_KEEP=all python -m pytest tests/ui/test_kept_screens.py` writes them again.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

import pytest
from screens import KEPT, check_kept
from waiting import settled

import tokentui
from tokentui.core import engines
from tokentui.core.safetext import is_safe
from tokentui.preset_table import preset_named
from tokentui.recipe import Run, Stops
from tokentui.session import commands
from tokentui.session.engine.driver import Session
from tokentui.session.views import ColumnWanted
from tokentui.ui.app import ExplorerApp
from tokentui.ui.dialogs import help as help_dialog


@dataclass(frozen=True)
class Scene:
    """How to reach a screen.

    Attributes:
        name: The name of the kept file.
        step: The step to go to first.
        keys: The keys to press there.
        then: The key to press once the screen of these keys is shown.
        presets: The preset; two or more open Compare.
        size: The columns and rows of the terminal.
        first_screen: True to start with the first screen.
    """

    name: str
    step: int = 0
    keys: tuple[str, ...] = ()
    presets: tuple[str, ...] = ("gpt2",)
    size: tuple[int, int] = (100, 30)
    then: str = ""
    first_screen: bool = False


SCENES = (
    Scene("first", first_screen=True),
    Scene("main-start"),
    Scene("inspect-lattice", 2, ("4", "enter"), ("sentencepiece-unigram",), (80, 40)),
    Scene("main-end", 300),
    Scene("main-80x24", 129, size=(80, 24)),
    Scene("main-40x12", 129, ("2",), size=(40, 12)),
    Scene("main-unigram", 2, ("2",), ("sentencepiece-unigram",)),
    Scene("compare", 300, presets=("gpt2", "wordpiece"), size=(120, 40)),
    Scene("recipe", 129, ("a",)),
    Scene("open", 129, ("o",)),
    Scene("export", 129, ("e", "e")),
    Scene("inspect-token", 129, ("3", "enter")),
    Scene("inspect-word", 129, ("4", "enter")),
    Scene("main-middle", 129),
    Scene("why", 40, ("Y",)),
    Scene("questions", 129, ("u",)),
    Scene("sizes", 129, ("F", "s"), size=(80, 24)),
    Scene("agreement", 129, ("d", "h"), ("gpt2", "wordpiece", "llama2"), (80, 24)),
    Scene("run", 129, ("v", "r"), size=(80, 24)),
    Scene("zipf", 129, ("v", "r"), then="2", size=(80, 24)),
    Scene("coverage", 129, ("v", "r"), then="3", size=(80, 24)),
    Scene("by-id", 129, ("v", "r"), then="4", size=(80, 24)),
    Scene("scripts", 129, ("v", "r"), then="5", size=(80, 24)),
    Scene("characters", 129, ("v", "r"), then="6", size=(80, 24)),
    Scene("worst-words", 129, ("F", "w"), size=(80, 24)),
    Scene("languages", 129, ("dollar_sign",)),
    Scene("help", 129, ("question_mark",)),
)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
@pytest.mark.first_run(cases=3)
async def test_a_screen_looks_as_it_did(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engines.VARIABLE, "off")  # some screens name the engine, one all versions
    monkeypatch.setattr(tokentui, "__version__", "9.9.9")
    monkeypatch.setattr(platform, "python_version", lambda: "9.9.9")
    monkeypatch.setattr(help_dialog, "version", lambda package: "9.9.9")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "novel.txt").write_text("A novel.\n", encoding="utf-8")
    run = Run(Stops(merges=300))
    columns = [ColumnWanted(preset_named(name).recipe, run, name=name) for name in scene.presets]
    app = ExplorerApp(
        lambda publish: Session(publish, columns[0].recipe, run),
        run=run, typed="The crowd in the street", first_screen=scene.first_screen,
        begin=lambda session: session.send(commands.Open(("sample:english",))),
        then=(lambda app: app.compare(columns)) if len(columns) > 1 else None,
    )
    async with app.run_test(size=scene.size) as pilot:
        await settled(pilot)
        if scene.step:
            app.engine.send(commands.GoTo(scene.step))
            await settled(pilot)
        await pilot.press(*scene.keys)
        await settled(pilot)
        if scene.then:
            await pilot.press(scene.then)
            await settled(pilot)
        await check_kept(pilot, f"{scene.name}")


def test_each_kept_file_is_a_scene() -> None:
    assert sorted(path.stem for path in KEPT.iterdir()) == sorted(scene.name for scene in SCENES)
    assert all(is_safe(line) for path in KEPT.iterdir() for line in path.read_text("utf-8").splitlines())
