"""Model folders as transformers' AutoTokenizer loads them, and rank files with the split of their class."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exporting import put
from running_cli import cli, done, refused

import tokentui
from tokentui.analyze.verify import verify_encoding
from tokentui.analyze.verify.peers import PEERS

TEXT = "The crowd, it isn't 12345 HelloWorld.\n\n  Žluťoučký <s> 渡船"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    made = tokentui.train("sample:english", "llama3", merges=300, specials=["<s>"])
    put(made, path / "tokenizer.json", "huggingface")
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


BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LLAMA = ("<unk>", "<s>", "</s>")


@pytest.mark.parametrize(("recipe", "format", "specials", "config", "changes"), [
    ("gpt2", "huggingface", ("<|endoftext|>",), {"add_prefix_space": True}, True),
    ("gpt2", "huggingface", ("<|endoftext|>",), {"add_prefix_space": False}, False),
    ("gpt2", "gpt2", ("<|endoftext|>",), {"add_prefix_space": True}, True),
    ("bert", "huggingface", BERT, {"tokenizer_class": "BertTokenizer", "do_lower_case": False}, True),
    ("bert", "huggingface", BERT, {"tokenizer_class": "BertTokenizerFast", "do_lower_case": True}, False),
    ("bert", "bert", BERT, {"tokenizer_class": "BertTokenizer", "do_lower_case": False}, True),
    ("llama2", "huggingface", LLAMA, {"tokenizer_class": "LlamaTokenizer", "legacy": True}, True),
    ("llama2", "huggingface", LLAMA, {"tokenizer_class": "LlamaTokenizer", "legacy": False}, True),
    ("llama2", "huggingface", LLAMA, {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False}, True),
    ("gpt2 -s split=qwen", "gpt2", ("<|endoftext|>",), {"tokenizer_class": "Qwen2Tokenizer"}, True),
])
def test_settings_of_a_class_give_the_ids_of_transformers(
    recipe: str, format: str, specials: tuple[str, ...], config: dict[str, object], changes: bool,
    tmp_path: Path,
) -> None:
    pytest.importorskip("transformers", minversion="5")
    names = {"huggingface": "tokenizer.json", "bert": "vocab.txt", "gpt2": ""}
    name, _, split = recipe.partition(" -s split=")
    axes: dict[str, Any] = {"split": split} if split else {}
    made = tokentui.train("sample:english", name, vocab_size=500, specials=specials, **axes)
    put(made, tmp_path / names[format], format)
    file = tmp_path / (names[format] or "vocab.json")
    alone = tokentui.load(file, made.recipe.split if format == "gpt2" else "")
    settings = {"tokenizer_class": "GPT2Tokenizer", **config}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    texts = ["The crowd, it isn't 123.", " two  spaces", "cafe\u0301 <s> A b </s> c", "A"]
    folder = tokentui.load(tmp_path)
    report = verify_encoding(folder, str(tmp_path), PEERS["transformers"], texts)
    assert report.difference is None
    assert any(folder.encode(text).ids != alone.encode(text).ids for text in texts) is changes


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), [
    ("TikTokenTokenizer", "tiktoken.model"), ("QWenTokenizer", "qwen.tiktoken"),
])
def test_ranks_with_the_split_of_their_class_give_the_ids_of_tiktoken(
    tmp_path: Path, name: str, file: str
) -> None:
    pytest.importorskip("tiktoken")
    put(tokentui.train("sample:parallel", "gpt2", merges=300), tmp_path / file, "tiktoken")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    texts = [*tokentui.read("sample:parallel").documents, TEXT, "中文English混合 <|im_end|>", "cafe\u0301"]
    tokenizer = tokentui.load(tmp_path)
    assert tokenizer.recipe.normalize == (("nfc",) if name == "QWenTokenizer" else ())
    report = verify_encoding(tokenizer, str(tmp_path), PEERS["tiktoken"], texts)
    assert report.difference is None
    assert report.texts == len(texts)


def test_transformers_reads_folders_and_does_not_train(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    text = str(folder.parent / "text.txt")
    line = refused("verify", text, "-t", str(folder / "tokenizer.json"), "--against", "transformers")
    assert "transformers reads model folders, not a file (name the folder of the file)" in line
    line = refused("verify", text, "-r", "gpt2", "--against", "transformers")
    assert "transformers cannot be compared by training (use tokenizers, " in line
