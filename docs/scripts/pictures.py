"""The pictures of the documents, drawn by the program as it runs.

    python docs/scripts/pictures.py [NAME]...

writes docs/explorer.svg, the picture of the README, and those in docs/pictures; one of `SCENES` each. A
scene runs the explorer without a terminal (`tokentui.ui.pictures`, which `tokentui picture` calls too), and
keeps what it shows once nothing moves any more. A walk keeps all of its frames.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokentui.preset_table import preset_named
from tokentui.recipe import Run, Stops
from tokentui.session.commands import Open
from tokentui.session.views import ColumnWanted
from tokentui.ui import pictures
from tokentui.ui.draw.picture import Frame as MovieFrame
from tokentui.ui.draw.picture import Picture, as_svg
from tokentui.ui.unattended import Act

DOCS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Frame:
    """A place of a scene.

    Attributes:
        keys: The keys that lead there, by Textual's names.
        text: What is typed after them.
        step: The step to go to before them; None to stay.
        screens: The ids of the actions that are run after that, before the keys.
        said: A line below the picture of a walk.
        seconds: How long a walk shows it.
    """

    keys: tuple[str, ...] = ()
    text: str = ""
    step: int | None = None
    screens: tuple[str, ...] = ()
    said: str = ""
    seconds: float = 3.0


@dataclass(frozen=True)
class Scene:
    """A picture, or a walk where it has several frames that are kept.

    Attributes:
        path: Its file, from docs on.
        corpus: The corpus.
        frames: The places; a picture shows the last one.
        typed: The text that is typed at the start.
        presets: The recipe, or those of the columns that are compared.
        merges: The number of merges that a run ends after; None for none.
        size: Columns and rows of the terminal.
        walk: True to keep all frames.
    """

    path: str
    corpus: str
    frames: tuple[Frame, ...] = (Frame(),)
    typed: str = ""
    presets: tuple[str, ...] = ("gpt2",)
    merges: int | None = None
    size: tuple[int, int] = (100, 30)
    walk: bool = False


_SENTENCE = "The lamp in the street"
_WALK = (
    Frame(said="A text, cut into bytes. On the right: which pair of neighbors stands most often?",
          seconds=5),
    Frame(("n",), said="n makes one step: the commonest pair becomes one token."),
    Frame(("n",), said="Each step changes the counts of its neighbors."),
    Frame(("n",), said="The next one again."),
    Frame(("b",), said="b takes the last step back. Every number is what it was."),
    Frame(step=50, said="g goes to any step: 50 merges."),
    Frame(step=300, said="300 merges: common words are one token now."),
    Frame(step=1000, said="1,000 merges, and the sentence below in fewer tokens.", seconds=4),
    Frame(("Y",), said="Y says why, at length.", seconds=5),
    Frame(("escape", "0"), said="0 goes back to the start."),
)

SCENES: tuple[Scene, ...] = (
    Scene("explorer.svg", "sample:english", (Frame(), Frame(step=129)), "The crowd in the street",
          size=(100, 36)),  # as wide as leaves the memory out, which differs from machine to machine
    Scene("pictures/walk.svg", "sample:english", _WALK, _SENTENCE, walk=True),
    Scene("pictures/first.svg", "sample:english", (Frame(screens=("first_screen",)),), _SENTENCE),
    Scene("pictures/start.svg", "sample:hugs", typed="hugs", presets=("comp336",)),
    Scene("pictures/step.svg", "sample:hugs", (Frame(), Frame(("n",))), "hugs", ("comp336",)),
    Scene("pictures/end.svg", "sample:hugs", (Frame(), Frame(("G",))), "hugs", ("comp336",)),
    Scene("pictures/why.svg", "sample:english", (Frame(), Frame(step=40), Frame(("Y",))), _SENTENCE),
    Scene("pictures/word.svg", "sample:english",
          (Frame(), Frame(step=400), Frame(("4", "enter"))), "unbelievable"),
    Scene("pictures/token.svg", "sample:english",
          (Frame(), Frame(step=4), Frame(("3", "enter"))), _SENTENCE),
    Scene("pictures/recipe.svg", "sample:english", (Frame(), Frame(("a",))), _SENTENCE),
    Scene("pictures/compare.svg", "sample:english", (Frame(), Frame(("G",))), _SENTENCE,
          ("gpt2", "wordpiece"), 300, (120, 36)),
    Scene("pictures/languages.svg", "sample:english", (Frame(), Frame(("G",)), Frame(("dollar_sign",))),
          _SENTENCE),
    Scene("pictures/facts.svg", "sample:english", (Frame(), Frame(step=400), Frame(("F",))), _SENTENCE),
)
"""The pictures. A new one is an entry here."""


def frames_of(scene: Scene) -> list[Picture]:
    """Return the screens of a scene that are kept."""
    run = Run(Stops(merges=scene.merges))
    recipes = [preset_named(name).recipe for name in scene.presets]
    columns = [ColumnWanted(recipe, run, name=name) for recipe, name in
               zip(recipes, scene.presets, strict=True)] if len(recipes) > 1 else []
    acts = [Act(frame.step, frame.screens, frame.keys, frame.text) for frame in scene.frames]
    kept = pictures(Open((scene.corpus,)), recipes[0], Run() if columns else run, columns, "", acts,
                    scene.size, typed=scene.typed)
    return kept if scene.walk else kept[-1:]


def drawn(scene: Scene) -> str:
    """Return the file of a scene, as a terminal with 16 million colors shows it."""
    shown = zip(scene.frames if scene.walk else scene.frames[-1:], frames_of(scene), strict=True)
    return as_svg([MovieFrame(picture, frame.seconds, frame.said) for frame, picture in shown])


def main(names: Sequence[str]) -> int:
    """Draw all scenes, or those of some names. Returns the exit code."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["TOKENTUI_HOME"] = home
        for scene in SCENES:
            if not names or Path(scene.path).stem in names:
                (DOCS / scene.path).write_text(drawn(scene), encoding="utf-8")
                sys.stdout.write(f"{scene.path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
