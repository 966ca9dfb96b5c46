"""Folders of each tokenizer class give the ids of transformers, of the generation that is installed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import class_folders
import pytest
from running_cli import done

import tokentui
from tokentui.formats.classes import CLASSES

NAMES = (*class_folders.LAYOUTS, *class_folders.OTHERS, "Esm")
UNJUDGED = {
    "QWen", "TikToken", "Smiles",  # are not in transformers
    "LayoutXLM", "Luke",  # take words, or entities, with a text
    "MT5", "Qwen2", "RetriBert", "Realm", "DPRQuestionEncoder", "DPRContextEncoder",  # are others by name
}
PARTS = (
    "river", "stone", "the", "2024", "1,000", "3,", "naïve", "Über", "ﬁne", "Ⅳ", "東京", "㍿", "😀", "it's",
    "``q''", "UPPER", "a.b!", "M", "E", "rrrr", " ", "  ", "\n", "\t", "\u00a0", "\u200b", "e\u0301", "▁",
    "\u3000", "-", "ß",
)


def _texts(count: int) -> list[str]:
    chance = random.Random(45)
    made = ["".join(f"{chance.choice(PARTS)}{chance.choice(('', ' '))}" for _ in range(chance.randint(1, 12)))
            for _ in range(count)]
    return [*class_folders.TEXTS, *made]


def test_each_class_has_a_folder() -> None:
    assert set(NAMES) | UNJUDGED == set(CLASSES)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_class_gives_the_ids_of_transformers(name: str, tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers")
    new = int(transformers.__version__.split(".")[0]) > 4
    if new and CLASSES[name].newer:
        pytest.skip(CLASSES[name].newer)
    class_folders.write(tmp_path, name)
    ours = tokentui.load(tmp_path)
    fast = "Fast" if name == "CLIP" and not new else ""  # the other one needs ftfy for equal words
    theirs = getattr(transformers, f"{name}Tokenizer{fast}").from_pretrained(str(tmp_path))
    more = {"padding": False} if name == "SeamlessM4T" else {}
    for text in _texts(300):
        plain = theirs(text, add_special_tokens=False, **more)["input_ids"]
        assert list(ours.encode(text, allow_special=True).ids) == plain, text
        around = theirs(text, **more)["input_ids"]
        assert list(ours.encode(text, allow_special=True, special_tokens=True).ids) == around, text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["M2M100", "Marian", "Roberta", "Bert", "PLBart"])
def test_verify_compares_a_folder_with_transformers(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    class_folders.write(tmp_path / "model", name)
    (tmp_path / "text.txt").write_text("\n".join(class_folders.TEXTS))
    report = done("verify", str(tmp_path / "text.txt"), "-t", str(tmp_path / "model"), "--against",
                  "transformers", "--json")
    assert json.loads(report)["alike"] is True
