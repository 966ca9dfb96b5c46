"""The command line that makes a training as far as a step."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tokentui.axes import nearest_preset
from tokentui.recipe import RUN, SHAPE, Recipe, Run
from tokentui.text.sources import samples

CORPUS = "CORPUS"
"""The word for a corpus that has no name on a command line."""
_FLAGS = {"specials": "--special", "symbols": "--symbol", "what_if": "--what-if", "coverage": "--coverage"}


def sample_name(name: str, size: int) -> str:
    """Return the built-in corpus of a name and a size in bytes as a command line names it; empty for another
    corpus."""
    known = {(sample.name, sample.bytes) for sample in samples()}
    return f"sample:{name}" if (name, size) in known else ""


def train_line(source: str, recipe: Recipe, run: Run, step: int, shaped_by: Sequence[str] = ()) -> str:
    """Return the shell command that trains up to a step, quoted for a POSIX shell.

    Args:
        source: The corpus as a command line names it; empty for a placeholder.
        recipe: The recipe.
        run: The run. Of its stops only those that shape the steps are named.
        step: The number of steps.
        shaped_by: The names of the stops that shape the steps.
    """
    preset, names = nearest_preset(recipe)
    words = ["tokentui", "train", source or CORPUS, "-r", preset]
    words += [word for name in names if name not in SHAPE for word in ("-s", f"{name}={recipe.axis(name)}")]
    of: dict[str, object] = {name: getattr(recipe, name) for name in names if name in SHAPE}
    ends = {"merges", "vocab_size", "min_count"}.difference(shaped_by)
    of |= {name: value for name, value in run.words.items() if name not in ends}
    for name, value in of.items():
        if name == "prefix_space":
            words.append("--prefix-space" if value else "--no-prefix-space")
        elif isinstance(value, list | tuple):
            words += [word for each in value for word in (_FLAGS[name], str(each))]
        else:
            flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
            words += [flag, RUN[name].written(value) if name in RUN else str(value)]
    return shlex.join([*words, "--merges", str(step)])
