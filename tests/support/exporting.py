"""Trained tokenizers for writing, and texts that owners of formats are asked about."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import Any

import peers
import pytest
from texts import TEXTS

from tokentui import learn
from tokentui.core.errors import TokentuiError
from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import OWN, WRITTEN, Format
from tokentui.formats.files import load, targets
from tokentui.formats.proof import ExportReport, check_holds, contents
from tokentui.formats.source import Source
from tokentui.formats.spec import Fitted, Spec, Unsupported
from tokentui.learn import start
from tokentui.preset_table import PRESETS, preset_named
from tokentui.recipe import Recipe, Run, Stops
from tokentui.text.corpus import Corpus

HOSTILE: tuple[str, ...] = tuple(
    text for text in TEXTS if len(text) < 300 and not any("\ud800" <= one < "\ue000" for one in text)
)[:100]
"""Texts that every owner takes: UTF-8, not long."""


@functools.cache
def corpus() -> Corpus:
    """Lines of several scripts."""
    text = [
        line
        for name in ("english", "finnish", "japanese", "emoji", "python")
        for line in peers.text(name).split("\n")[:60]
    ]
    return Corpus.from_lines([line for line in text if line], "mixed")


def trained(recipe: Recipe, specials: tuple[str, ...] = (), **stops: Any) -> Tokenizer:
    """A tokenizer of this recipe, small."""
    trainer = start(corpus(), recipe, Run(specials=specials))
    learn.run(
        trainer, Stops(**stops or ({"vocab_size": 700} if recipe.objective == "unigram" else {"merges": 150}))
    )
    return trainer.tokenizer()


@functools.cache
def preset(name: str) -> Tokenizer:
    """A tokenizer by a preset."""
    chosen = preset_named(name)
    return trained(chosen.recipe, chosen.run.specials)


def holding(format: str) -> list[str]:
    """The presets that a format can hold: what is not here is refused."""
    return [name for name in PRESETS if name in HOLD[format]]


def _held(format: Format) -> set[str]:
    """The presets that a format can hold, by its record."""
    found = set()
    for name, chosen in PRESETS.items():
        if chosen.recipe.normalize and not format.holds.normalize:
            continue
        way = "placeholders" if chosen.recipe.objective == "gage" else chosen.recipe.encode
        with contextlib.suppress(Unsupported):
            check_holds(format.holds, chosen.recipe, way)
            found.add(name)
    return found


REFUSED = {
    "huggingface": {"swift-talk", "swift-talk-distinct"},  # clusters that no model makes of characters
    "gpt2": {"llama2", "comp336", "comp336-no-pretokenization"},  # byte tokens; merges with a space in them
}
"""The presets that a format refuses for what they have learned, not for their recipes."""
HOLD: dict[str, set[str]] = {
    name: _held(format) - REFUSED.get(name, set()) for name, format in WRITTEN.items()
}
"""The presets that each format holds, trained on lines without line ends."""


_PREFERRED = ("gpt2", "gpt1", "bert", "t5", "subword-nmt")
SMALL = {
    name: next(one for one in (*_PREFERRED, *sorted(held)) if one in held)
    for name, held in HOLD.items()
    if held
}
"""A preset for each format that holds one."""


def fitted(tokenizer: Tokenizer, format: str) -> Fitted:
    """A tokenizer in the shape of a format."""
    return WRITTEN[format].codec.to_format(Spec(tokenizer))


@functools.lru_cache(128)
def unproved(tokenizer: Tokenizer, format: str) -> tuple[bytes, ...]:
    """The files of a tokenizer, which are not read back and tried as `bytes_of` has it."""
    return WRITTEN[format].codec.write(fitted(tokenizer, format))


def put(tokenizer: Tokenizer, path: Path, format: str) -> None:
    """Write the files of a tokenizer as `save` does, but without the proof, in a fifth of the time."""
    for place, data in zip(targets(path, WRITTEN[format]), unproved(tokenizer, format), strict=True):
        Path(place).write_bytes(data)


def dumps(tokenizer: Tokenizer) -> str:
    """The project's own file of a tokenizer."""
    return OWN.codec.write(OWN.codec.to_format(Spec(tokenizer)))[0].decode()


def loads(text: str, where: str) -> Tokenizer:
    """The tokenizer of such a file."""
    return OWN.codec.read(Source(where, text.encode()))


def refusal_of(text: str) -> str:
    """Return the line that refuses the text of a document of the own format, named `f`. It has a hint."""
    with pytest.raises(TokentuiError) as raised:
        loads(text, "f")
    assert "\n" not in str(raised.value)
    assert raised.value.hint
    return str(raised.value)


@functools.lru_cache(128)
def exported(tokenizer: Tokenizer, format: str) -> tuple[ExportReport, tuple[bytes, ...]]:
    """The files of a tokenizer and the report on them. Presets are written once for all tests."""
    return contents(tokenizer, WRITTEN[format])


def bytes_of(tokenizer: Tokenizer, format: str) -> tuple[bytes, ...]:
    """The files of a tokenizer; it fails where they are refused."""
    report, files = exported(tokenizer, format)
    assert not report.refused, report.refused
    return files


def again(tokenizer: Tokenizer, format: str, folder: Path) -> Tokenizer:
    """Written, and read by its content."""
    first = folder / WRITTEN[format].files[0]
    put(tokenizer, first, format)
    return load(first, tokenizer.recipe.split if WRITTEN[format].needs_split else "")
