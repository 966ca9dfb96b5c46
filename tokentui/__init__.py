"""See how a tokenizer comes to be: train, step, explain and inspect subword tokenizers.

The names below are the library. Each loads what it needs on first use, so that importing the package costs
little.

    corpus = tokentui.read("novel.txt")
    run = tokentui.Trainer(corpus, tokentui.preset("gpt2"))
    run.step()
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes as long as starting the interpreter
if TYPE_CHECKING:
    from typing import Any

    from tokentui.axes import preset as preset
    from tokentui.core.errors import Cancelled as Cancelled
    from tokentui.core.errors import TokentuiError as TokentuiError
    from tokentui.encode.encoding import Encoding as Encoding
    from tokentui.learn.rows import PairCandidate as Candidate
    from tokentui.learn.steps import MergeStep as Step
    from tokentui.preset_table import Preset as Preset
    from tokentui.preset_table import presets as presets
    from tokentui.recipe import Recipe as Recipe
    from tokentui.text.corpus import Corpus as Corpus
    from tokentui.tokenizer import Tokenizer as Tokenizer
    from tokentui.tokenizer import Trainer as Trainer
    from tokentui.tokenizer import diff as diff
    from tokentui.tokenizer import load as load
    from tokentui.tokenizer import read as read
    from tokentui.tokenizer import train as train

__version__ = "0.1.0"

_HOME = {
    "Cancelled": ("tokentui.core.errors", "Cancelled"),
    "Candidate": ("tokentui.learn.rows", "PairCandidate"),
    "Corpus": ("tokentui.text.corpus", "Corpus"),
    "Encoding": ("tokentui.encode.encoding", "Encoding"),
    "Preset": ("tokentui.preset_table", "Preset"),
    "Recipe": ("tokentui.recipe", "Recipe"),
    "Step": ("tokentui.learn.steps", "MergeStep"),
    "TokentuiError": ("tokentui.core.errors", "TokentuiError"),
    "Tokenizer": ("tokentui.tokenizer", "Tokenizer"),
    "Trainer": ("tokentui.tokenizer", "Trainer"),
    "diff": ("tokentui.tokenizer", "diff"),
    "load": ("tokentui.tokenizer", "load"),
    "preset": ("tokentui.axes", "preset"),
    "presets": ("tokentui.preset_table", "presets"),
    "read": ("tokentui.tokenizer", "read"),
    "train": ("tokentui.tokenizer", "train"),
}
"""Where each public name lives: its module, and its name there."""

__all__ = [
    "Cancelled", "Candidate", "Corpus", "Encoding", "Preset", "Recipe", "Step", "Tokenizer", "TokentuiError",
    "Trainer", "__version__", "diff", "load", "preset", "presets", "read", "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        if name.startswith("_"):  # Python itself asks for such names
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from tokentui.encode.elsewhere import MODULE, refuse_name

        refuse_name(f"module {__name__!r}", name, MODULE)
    import importlib

    module, attribute = _HOME[name]
    value = globals()[name] = getattr(importlib.import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
