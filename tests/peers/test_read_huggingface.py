"""Whole files of tokenizer.json: the same ids and text as Hugging Face's library, live, and refusals.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import owners
import pytest
from oracle import large
from owners import same_as_hugging_face
from texts import FEW, TEXTS

from tokentui.core.errors import TokentuiError
from tokentui.formats.files import load

pytestmark = pytest.mark.peer
tokenizers = pytest.importorskip("tokenizers")

FILES = ("hw-doc-summarizer", "llama2", "sqlpilot", "t5-small")
TRAINED = ("bert", "falcon", "gpt1", "gpt2", "t5")
LIKE_TRAINED = ("bert-base-uncased", "falcon", "gpt2", "openai-gpt")
"""Published files that do to a text what one of those that are trained here does."""


@pytest.mark.parametrize("texts", [FEW, pytest.param(TEXTS, marks=pytest.mark.soak)], ids=["few", "all"])
@pytest.mark.parametrize("name", [
    *(f"trained/{name}" for name in TRAINED), *large(*FILES), *large(*LIKE_TRAINED, marks=[pytest.mark.soak]),
])
@pytest.mark.first_run(cases=1)
def test_whole_files(name: str, texts: tuple[str, ...], tmp_path: Path) -> None:
    path = owners.path_of(f"{name}/tokenizer.json", tmp_path)
    same_as_hugging_face(load(path), tokenizers.Tokenizer.from_file(str(path)), texts)


def rejected(merges: Any, folder: Path) -> Path:
    """A trained file with other merges."""
    path = owners.path_of("trained/gpt2/tokenizer.json", folder)
    document = json.loads(path.read_text("utf-8"))
    document["model"]["merges"] = merges
    path.write_text(json.dumps(document), "utf-8")
    return path


@pytest.mark.parametrize("merges", [
    [["t", "h"], "i n"], [["t", "h", "e"]], ["t h", "t h e"], ["t h", "th"], [["t", "unheard of"]],
    [["t", "h"], ["h", "t", 1]], {"t": "h"}, "t h", [1], [["t"]],
], ids=json.dumps)
def test_merges_that_the_library_rejects_are_refused(merges: Any, tmp_path: Path) -> None:
    path = rejected(merges, tmp_path)
    with pytest.raises(Exception, match=r"."):
        tokenizers.Tokenizer.from_file(str(path))
    with pytest.raises(TokentuiError, match=r"merges"):
        load(path)


@pytest.mark.parametrize("name", large("rejected/added-tokens", "rejected/llama2-ort"))
def test_rejected_files_are_refused(name: str, tmp_path: Path) -> None:
    path = owners.path_of(f"{name}/tokenizer.json", tmp_path)
    with pytest.raises(TokentuiError, match=r"merges"):
        load(path)
