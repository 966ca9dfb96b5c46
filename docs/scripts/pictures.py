"""The pictures of the documents, drawn by the program as it runs.

    python docs/scripts/pictures.py [NAME]...

writes docs/explorer.svg, the first picture of docs/screens.md, and those in docs/pictures; one of `SCENES`
each. A scene runs the explorer without a terminal (`tokentui.ui.pictures`, which `tokentui picture` calls
too), and keeps what it shows once nothing moves any more. The pictures of docs/gallery.md are written by the
commands of that page. docs/scripts/film.py makes the film.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokentui.cli.main import run
from tokentui.preset_table import preset_named
from tokentui.recipe import Run, Stops
from tokentui.session.commands import Open
from tokentui.session.views import ColumnWanted
from tokentui.ui import pictures
from tokentui.ui.draw.picture import Frame as Shown
from tokentui.ui.draw.picture import ScreenPicture, as_svg
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
    """

    keys: tuple[str, ...] = ()
    text: str = ""
    step: int | None = None
    screens: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """A picture: the last of several frames.

    Attributes:
        path: Its file, from docs on.
        corpus: The corpus.
        frames: The places on the way; the last one is kept.
        typed: The text that is typed at the start.
        presets: The recipe, or those of the columns that are compared.
        merges: The number of merges that a run ends after; None for none.
        size: Columns and rows of the terminal.
    """

    path: str
    corpus: str
    frames: tuple[Frame, ...] = (Frame(),)
    typed: str = ""
    presets: tuple[str, ...] = ("gpt2",)
    merges: int | None = None
    size: tuple[int, int] = (100, 30)


_SENTENCE = "The lamp in the street"
SCENES: tuple[Scene, ...] = (
    Scene("explorer.svg", "sample:english", (Frame(), Frame(step=129)), "The crowd in the street",
          size=(100, 36)),  # as wide as leaves the memory out, which differs from machine to machine
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
    Scene("pictures/playground.svg", "sample:english",
          (Frame(), Frame(("G",)), Frame(("home", "down", *["right"] * 9), screens=("playground",))),
          "The lamp in the street is out.\ndef light(on):\n\treturn not on  # 1,024\nLe caf\u00e9 ferme.",
          ("gpt2", "bert"), 900),
    Scene("pictures/facts.svg", "sample:english",
          (Frame(), Frame(step=400), Frame(screens=("facts",))), _SENTENCE),
)
"""The pictures. A new one is an entry here."""


def picture_of(scene: Scene) -> ScreenPicture:
    """Return the last screen of a scene."""
    stops = Run(Stops(merges=scene.merges))
    recipes = [preset_named(name).recipe for name in scene.presets]
    columns = [ColumnWanted(recipe, stops, name=name) for recipe, name in
               zip(recipes, scene.presets, strict=True)] if len(recipes) > 1 else []
    acts = [Act(frame.step, frame.screens, frame.keys, frame.text) for frame in scene.frames]
    kept = pictures(Open((scene.corpus,)), recipes[0], Run() if columns else stops, columns, "", acts,
                    scene.size, typed=scene.typed)
    return kept[-1]


def drawn(scene: Scene) -> str:
    """Return the file of a scene, as a terminal with 16 million colors shows it."""
    return as_svg([Shown(picture_of(scene))])


def gallery() -> dict[str, list[str]]:
    """Return the words of each command of the gallery, by the path of its picture, from docs on."""
    lines = re.findall(r"^    (tokentui picture .*)$", (DOCS / "gallery.md").read_text("utf-8"), re.MULTILINE)
    words = [shlex.split(line)[1:] for line in lines]
    return {line[line.index("-o") + 1]: line for line in words}


def drawn_by(words: Sequence[str]) -> str:
    """Return the picture that a command of the gallery writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "picture.svg")
        line = [path if before == "-o" else word for before, word in zip(["", *words], words, strict=False)]
        if run(line):
            raise SystemExit(shlex.join(words))
        return Path(path).read_text("utf-8")


def main(names: Sequence[str]) -> int:
    """Draw all scenes and the gallery, or those of some names. Returns the exit code."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["TOKENTUI_HOME"] = home
        for scene in SCENES:
            if not names or Path(scene.path).stem in names:
                (DOCS / scene.path).write_text(drawn(scene), encoding="utf-8")
                sys.stdout.write(f"{scene.path}\n")
        for picture, words in gallery().items():
            if not names or "gallery" in names or picture in names:
                (DOCS / picture).write_text(drawn_by(words), encoding="utf-8")
                sys.stdout.write(f"{picture}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
