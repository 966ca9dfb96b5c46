"""Wrong arguments to the library: each public function takes any value, and only a `TokentuiError` of one
line comes out."""

from __future__ import annotations

import copy
import functools
import io
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exporting import preset, put

import tokentui
from tokentui.formats import WRITTEN
from tokentui.preset_table import PRESETS
from tokentui.text.corpus import Corpus
from tokentui.tokenizer import Tokenizer

Call = Callable[[Any], Any]


class Odd:
    """A value of the caller's, which cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Bytes:
    """A path that is bytes."""

    def __fspath__(self) -> bytes:
        return b"/none"


try:
    import numpy as np
except ImportError:  # the tests run without it as well
    ARRAYS: tuple[Any, ...] = ()
else:
    ARRAYS = (np.array([1.5]), np.array([[1]]), np.float64(1))
WRONG: tuple[Any, ...] = (
    None, 5, -1, 10**5000, object(), Odd(), Bytes(), [], [5], [None], {}, {"a": 1}, b"", b"\xff", math.nan,
    math.inf, 1.5, 1e-308, io.StringIO("a"), True, "", "\0", "\ud800", "no such thing", len, int,
    Path("/none"), Path("."), ".", (1, 2, 3), range(3), iter(()), *ARRAYS,
)
CORPUS = Corpus.from_text("a sailor went to sea sea sea")
METHODS = (
    "encode", "encode_ids", "encode_batch", "decode", "decode_bytes", "explain", "lost", "sample",
    "token_to_id", "id_to_token",
)


def named(function: Callable[..., Any], name: str, *given: Any) -> Call:
    """A function of one argument by its name."""
    return lambda value: function(*given, **{name: value})


def run(merges: int = 0) -> tokentui.Trainer:
    """A run at its start, or after some merges."""
    found = tokentui.Trainer(CORPUS, "gpt2")
    found.run(merges=merges)
    return found


def functions() -> dict[str, Call]:
    """The public functions, each argument by itself."""
    gpt2, t5 = (Tokenizer(made.vocabulary, made.merges, made.run) for made in map(preset, ("gpt2", "t5")))
    recipe = tokentui.preset("gpt2")
    found: dict[str, Call] = {
        "read": tokentui.read,
        "read, a list": lambda value: tokentui.read([value]),
        "read, stdin": named(tokentui.read, "stdin", "-"),
        "read, lines": lambda value: tokentui.read(value, as_="lines"),
        "load": tokentui.load,
        "load, split": functools.partial(tokentui.load, "/none"),
        "preset": tokentui.preset,
        "train": lambda value: tokentui.train(value, recipe, merges=1),
        "train, recipe": lambda value: tokentui.train(CORPUS, value, merges=1),
        "Trainer": lambda value: tokentui.Trainer(value, recipe),
        "Trainer, recipe": lambda value: tokentui.Trainer(CORPUS, value),
        "jump": lambda value: run().jump(value),
        "[]": lambda value: run(3)[value],
        "steps": lambda value: list(run(3).steps(value)),
        "candidates": lambda value: run().candidates(value),
        "candidates, start": lambda value: run().candidates(5, value),
        "Tokenizer": Tokenizer,
        "Tokenizer, merges": functools.partial(Tokenizer, gpt2.vocabulary),
        "Tokenizer, run": functools.partial(Tokenizer, gpt2.vocabulary, 1),
        "save": gpt2.save,
        "save, format": functools.partial(gpt2.save, "/none/a.json"),
        "sample, seed": named(t5.sample, "seed", "a"),
        "sample, temperature": named(t5.sample, "temperature", "a"),
        "encode_ids, threads": named(gpt2.encode_ids, "threads", "a"),
        "from_dict": tokentui.Recipe.from_dict,
        "from_toml": tokentui.Recipe.from_toml,
        "with_axes": named(recipe.with_axes, "tie"),
        "from_text": Corpus.from_text,
        "from_lines": Corpus.from_lines,
        "from_counts": Corpus.from_counts,
        "from_counts, word": lambda value: Corpus.from_counts([(value, 1)]),
        "from_counts, count": lambda value: Corpus.from_counts([("a", value)]),
    }
    for name in ("read", "train", "Trainer"):
        given = () if name == "read" else (None, recipe)
        found[f"{name}, texts"] = named(getattr(tokentui, name), "texts", *given)
    for name in ("as_", "field", "progress", "cancel"):
        found[f"read, {name}"] = named(tokentui.read, name, "sample:hugs")
    for name in ("merges", "vocab_size", "min_count", "max_length", "progress", "cancel"):
        found[f"run, {name}"] = named(run().run, name)
    for name in (
        "merges", "vocab_size", "min_count", "max_length", "first_id", "specials", "progress", "cancel",
    ):
        found[f"train, {name}"] = named(tokentui.train, name, CORPUS, "gpt2")
    for name in ("first_id", "specials", "progress", "cancel"):
        found[f"Trainer, {name}"] = named(tokentui.Trainer, name, CORPUS, "gpt2")
    for name in ("shares", "development"):
        found[f"read, {name}"] = named(tokentui.read, name, {"a": "sample:hugs"})
    for name in ("prune", "keep", "extend", "vocab_size", "merge", "add", "special"):
        found[f"edited, {name}"] = named(gpt2.edited, name)
    made = run(2).tokenizer()
    found["trained_from, merges"] = named(made.trained_from, "merges", CORPUS)
    for name in ("p", "like", "seed"):
        found[f"draws, {name}"] = named(gpt2.draws, name, "sea")
    once = functools.partial(tokentui.train, merges=1)
    for axis in recipe.to_dict() | dict.fromkeys(("coverage", "symbols", "prefix_space", "no such axis")):
        found[f"train, {axis}"] = named(once, axis, CORPUS, "gpt2")
    for axis in recipe.to_dict():
        found[f"Recipe, {axis}"] = named(tokentui.Recipe, axis)
    for tokenizer in (gpt2, t5):
        for name in METHODS:
            found[f"{tokenizer!r}.{name}"] = getattr(tokenizer, name)
        for name in ("progress", "cancel"):
            found[f"{tokenizer!r}.encode, {name}"] = named(tokenizer.encode, name, "a b")
            found[f"{tokenizer!r}.encode_ids, {name}"] = named(tokenizer.encode_ids, name, "a b")
    return found


@pytest.mark.slow
def test_only_a_tokentui_error_comes_of_wrong_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    lines, failures = [], []
    for name, call in functions().items():
        for wrong in WRONG:
            if callable(wrong) and name.endswith(("progress", "cancel")):
                continue  # what a caller's own function raises is the caller's
            try:
                call(wrong)
            except tokentui.TokentuiError as error:
                lines.append(str(error))
            except Exception as error:
                failures.append(f"{name}({type(wrong).__name__}) raises {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
    assert len(lines) > 1000
    assert all("\n" not in line and len(line) < 700 for line in lines)
    assert not list(tmp_path.iterdir())


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize("format", ["huggingface", "sentencepiece", "gpt2", "bert"])
def test_no_value_but_a_text_is_encoded(tmp_path: Path, format: str) -> None:
    """Not as what `str` makes of it."""
    name = {"sentencepiece": "t5", "bert": "bert"}.get(format, "gpt2")
    files = WRITTEN[format].files
    put(preset(name), tmp_path if len(files) > 1 else tmp_path / files[0], format)
    tokenizer = tokentui.load(tmp_path / files[0])
    wrong: Any
    for wrong in (None, 5, 1.5, ["a"], object()):
        for method in ("encode", "encode_ids", "explain", "lost", "sample"):
            with pytest.raises(tokentui.TokentuiError, match="expected a text"):
                getattr(tokenizer, method)(wrong)
        with pytest.raises(tokentui.TokentuiError, match="text 1: expected a text"):
            tokenizer.encode_batch([wrong])


@pytest.mark.first_run(cases=8)
@pytest.mark.parametrize("name", PRESETS)
def test_a_training_is_not_pickled_and_its_tokenizer_is(name: str) -> None:
    trainer = tokentui.Trainer("sample:hugs", name)
    trainer.step()
    for dump in (pickle.dumps, copy.deepcopy):
        with pytest.raises(tokentui.TokentuiError, match=r"cannot be pickled.*tokenizer\(\)"):
            dump(trainer)
    tokenizer = trainer.tokenizer()
    assert pickle.loads(pickle.dumps(tokenizer)).encode("hug").ids == tokenizer.encode("hug").ids
    assert copy.copy(trainer).number == trainer.number
