"""Trained tokenizers for writing, and texts that owners of formats are asked about."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import peers
from texts import TEXTS

from tokentui.encode.tokenizer import Tokenizer
from tokentui.formats import FORMATS, contents, load
from tokentui.learn import start
from tokentui.presets import PRESETS, preset_named
from tokentui.recipe import Recipe
from tokentui.text.corpus import Corpus

HOSTILE: tuple[str, ...] = tuple(
    text for text in TEXTS if len(text) < 300 and not any("\ud800" <= one < "\ue000" for one in text)
)[:100]
"""Texts that every owner takes: UTF-8, not long."""


@functools.cache
def corpus() -> Corpus:
    """Lines of several scripts."""
    text = [line for name in ("english", "finnish", "japanese", "emoji", "python") for line in peers.text(name).split("\n")[:60]]
    return Corpus.from_lines([line for line in text if line], "mixed")


def trained(recipe: Recipe, specials: tuple[str, ...] = (), **stops: Any) -> Tokenizer:
    """A tokenizer of this recipe, small."""
    trainer = start(corpus(), recipe, specials=specials)
    trainer.run(**(stops or ({"vocab_size": 700} if recipe.objective == "unigram" else {"merges": 150})))
    return trainer.tokenizer()


@functools.cache
def preset(name: str) -> Tokenizer:
    """A tokenizer by a preset."""
    chosen = preset_named(name)
    return trained(chosen.recipe, chosen.specials)


def holding(format: str) -> list[str]:
    """The presets that a format can hold, by hand: what is not here is refused."""
    return [name for name in PRESETS if name in HOLD[format]]


_BYTES = {"gpt2", "gpt4", "gpt4o", "llama3", "jurassic", "minbpe", "minbpe-basic", "rustbpe", "tiktoken-edu", "comp336-bytes"}
_PIECES = {"sentencepiece-bpe", "sentencepiece-unigram", "t5", "albert", "xlnet", "llama2"}
HOLD: dict[str, set[str]] = {
    "tokentui": set(PRESETS),
    "huggingface": set(PRESETS) - {"gage", "subword-nmt-0.1", "udl-notebook", "swift-talk", "swift-talk-distinct"},
    "tiktoken": _BYTES,
    "minbpe": _BYTES,
    "tekken": _BYTES,
    "sentencepiece": _PIECES | {"comp336-no-pretokenization"},
    "gpt2": _BYTES | {"falcon", "gpt1", "hf-bpe", "subword-nmt", "wicaksono-bpe", "sentencepiece-bpe"},
    "bert": {"bert", "wordpiece", "wicaksono-wordpiece"},
    "subword-nmt": {"gpt1", "subword-nmt", "subword-nmt-0.1", "udl-notebook"},
}
"""The presets that each format holds, trained on lines without line ends."""


def bytes_of(tokenizer: Tokenizer, format: str) -> tuple[bytes, ...]:
    """The files of a tokenizer; it fails where they are refused."""
    report, files = contents(tokenizer, FORMATS[format])
    assert not report.refused, report.refused
    return files


def again(tokenizer: Tokenizer, format: str, folder: Path) -> Tokenizer:
    """Written, and read by its content."""
    files = bytes_of(tokenizer, format)
    paths = [folder / name for name in FORMATS[format].files]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    return load(paths[0], tokenizer.recipe.split if "split" in FORMATS[format].lacks else "")
