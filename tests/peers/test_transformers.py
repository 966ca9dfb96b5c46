"""Model folders as transformers' AutoTokenizer loads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_cli import cli, done, refused

import tokentui

TEXT = "The crowd, it isn't 12345 HelloWorld.\n\n  Žluťoučký <s> 渡船"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    made = tokentui.train("sample:english", "llama3", merges=300, specials=["<s>"])
    made.save(path / "tokenizer.json", "huggingface")
    (path / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>",
        "added_tokens_decoder": {"0": {"content": "<s>", "special": True}},
    }))
    (tmp_path / "text.txt").write_text(TEXT)
    return path


def verify(folder: Path) -> tuple[str, ...]:
    return "verify", str(folder.parent / "text.txt"), "-t", str(folder), "--against", "transformers", "--json"


def test_a_folder_gives_the_ids_of_transformers(folder: Path) -> None:
    pytest.importorskip("transformers")
    assert json.loads(done(*verify(folder)))["alike"] is True


def test_a_class_that_builds_another_split_is_found(folder: Path) -> None:
    pytest.importorskip("transformers", minversion="5")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"tokenizer_class": "GPT2Tokenizer"}))
    result = cli(*verify(folder))
    assert result.exit_code == 1
    assert json.loads(result.stdout)["differs"]["stage"] == "pre-tokens"


def test_transformers_reads_folders_and_does_not_train(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    text = str(folder.parent / "text.txt")
    line = refused("verify", text, "-t", str(folder / "tokenizer.json"), "--against", "transformers")
    assert "transformers reads model folders, not a file (name the folder of the file)" in line
    line = refused("verify", text, "-r", "gpt2", "--against", "transformers")
    assert "transformers is not compared by training (take tokenizers, " in line
