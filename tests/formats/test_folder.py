"""A model folder as one tokenizer: which file gives the vocabulary, and which settings decide ids."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from exporting import put
from gguf_files import NORMAL, gguf, vocabulary
from running_cli import done, refused

import tokentui
from tokentui import Tokenizer
from tokentui.core import sandbox
from tokentui.core.errors import TokentuiError
from tokentui.formats.files import recognize
from tokentui.formats.folder import LARGEST_SETTINGS, model_folder
from tokentui.formats.tokens import LETTERS

TEXT = "hugs pugs, a bun"


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return tokentui.train("sample:hugs", "gpt2", merges=6)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("recipe", "format", "name"), [
    ("gpt2", "gpt2", ""), ("gpt2", "huggingface", "tokenizer.json"), ("gpt2", "tokentui", "tokenizer.json"),
    ("gpt2", "tekken", "tekken.json"), ("minbpe", "minbpe", "tokenizer.model"),
    ("sentencepiece-unigram", "sentencepiece", "tokenizer.model"), ("wordpiece", "bert", "vocab.txt"),
    ("sentencepiece-bpe", "sentencepiece", "spiece.model"),
])
def test_a_folder_reads_as_its_file(tmp_path: Path, recipe: str, format: str, name: str) -> None:
    made = tokentui.train("sample:hugs", recipe, vocab_size=262 if recipe in ("gpt2", "minbpe") else 60)
    put(made, tmp_path / name, format)
    file = tmp_path / (name or "vocab.json")
    folder = model_folder(str(tmp_path))
    assert folder is not None
    assert folder.vocabulary[0] == file.name
    assert tokentui.load(tmp_path).encode(TEXT).ids == tokentui.load(file).encode(TEXT).ids
    assert recognize(str(tmp_path)) is recognize(str(file))


def test_tokenizer_json_comes_first_and_then_the_file_of_the_class(
    tmp_path: Path, trained: Tokenizer
) -> None:
    put(trained, tmp_path, "gpt2")
    (tmp_path / "vocab.txt").write_text("[UNK]\nhug\n##s\n")
    for name, first in (("GPT2Tokenizer", "vocab.json"), ("BertTokenizerFast", "vocab.txt")):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
        folder = model_folder(str(tmp_path))
        assert folder is not None
        assert folder.vocabulary[0] == first
        assert name in folder.why
        assert len(folder.others) == 1
    put(trained, tmp_path / "tokenizer.json", "huggingface")
    folder = model_folder(str(tmp_path))
    assert folder is not None
    assert folder.vocabulary == ("tokenizer.json",)


def test_the_class_names_the_split_of_files_without_one(tmp_path: Path, trained: Tokenizer) -> None:
    put(trained, tmp_path, "gpt2")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "Qwen2Tokenizer"}')
    qwen = tokentui.load(tmp_path)
    assert qwen.recipe.split == "qwen"
    assert not qwen.notes
    assert tokentui.load(tmp_path, split="gpt2").recipe.split == "gpt2"


@pytest.mark.parametrize("format", ["gpt2", "huggingface"])
def test_added_tokens_of_the_settings_are_tokens(tmp_path: Path, trained: Tokenizer, format: str) -> None:
    put(trained, tmp_path / ("tokenizer.json" if format == "huggingface" else ""), format)
    rows = {"262": {"content": "<one>", "special": True}, "71": {"content": "<taken>"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": rows}))
    (tmp_path / "added_tokens.json").write_text('{"<two>": 263}')
    tokenizer = tokentui.load(tmp_path)
    ids = trained.encode("hug").ids
    assert tokenizer.encode("hug<one>hug<two>", allow_special=True).ids == (*ids, 262, *ids, 263)
    assert 71 not in tokenizer.encode("<taken>", allow_special=True).ids


def test_settings_name_the_tokens_around_a_text(tmp_path: Path, trained: Tokenizer) -> None:
    put(trained, tmp_path, "gpt2")
    settings = {"add_bos_token": True, "add_eos_token": False, "bos_token": {"content": "<s>"},
                "added_tokens_decoder": {"400": {"content": "<s>", "special": True}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = tokentui.load(tmp_path)
    assert tokenizer.encode("hug", special_tokens=True).ids == (400, *trained.encode("hug").ids)
    assert tokenizer.encode("hug").ids == trained.encode("hug").ids


def test_commands_take_a_folder(tmp_path: Path, trained: Tokenizer) -> None:
    put(trained, tmp_path, "gpt2")
    folder = str(tmp_path)
    assert done("encode", "-t", folder, "hugs").split() == [str(id_) for id_ in trained.encode("hugs").ids]
    (tmp_path / "vocab.json").unlink()
    assert "this folder contains no tokenizer file (one of: tokenizer.json, " in refused(
        "encode", "-t", folder, "a"
    )


@pytest.mark.parametrize(("name", "file", "text", "words"), [
    ("TikTokenTokenizer", "tiktoken.model", "Hi世界 isn't 1234", ("Hi", "世界", " isn't", " ", "123", "4")),
    ("QWenTokenizer", "qwen.tiktoken", "Hi世界 isn't 12", ("Hi世界", " isn", "'t", " ", "1", "2")),
])
def test_a_class_names_the_split_and_the_specials_of_ranks(
    tmp_path: Path, name: str, file: str, text: str, words: tuple[str, ...]
) -> None:
    made = tokentui.train("sample:hugs", "gpt2", merges=6)
    put(made, tmp_path / file, "tiktoken")
    named = {"263": {"content": "[BOS]", "special": True}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": name, "added_tokens_decoder": named,
    }))
    tokenizer = tokentui.load(tmp_path)
    assert tuple(tokenizer.encoder.pretokenizer.words(text)) == words
    first, *_, last = tokenizer.vocabulary.specials
    assert tokenizer.vocabulary.special_id("[BOS]") == 263
    if file == "qwen.tiktoken":
        assert (first, last) == ("<|endoftext|>", "<|extra_204|>")
        assert tokenizer.vocabulary.special_id("<|extra_204|>") == 262 + 207
    else:
        assert (first, last) == ("<|reserved_token_262|>", "<|reserved_token_517|>")
    assert not tokenizer.notes
    again = {name: tokenizer.vocabulary.special_id(name) for name in tokenizer.vocabulary.specials}
    assert len(set(again.values())) == len(again)


def test_a_vocabulary_of_another_name_is_read_if_it_is_the_only_one(tmp_path: Path) -> None:
    made = tokentui.train("sample:hugs", "minbpe", merges=6)
    put(made, tmp_path / "mine.model", "minbpe")
    assert tokentui.load(tmp_path).encode(TEXT).ids == made.encode(TEXT).ids
    put(made, tmp_path / "other.model", "minbpe")
    with pytest.raises(TokentuiError, match="several files may have the vocabulary"):
        tokentui.load(tmp_path)


def test_a_gguf_file_is_read_if_it_is_the_only_vocabulary(tmp_path: Path) -> None:
    values = vocabulary("gpt2", [*LETTERS, "ab"], [NORMAL] * 257, merges=["a b"], pre="gpt-2")
    (tmp_path / "model-q4.gguf").write_bytes(gguf(values))
    folder = tokentui.load(tmp_path)
    assert folder.encode("abc").ids == tokentui.load(tmp_path / "model-q4.gguf").encode("abc").ids
    assert len(folder.encode("abc").ids) == 2


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("settings", "why"), [
    (b"[" * 100_000, "nested too deeply"), (b'{"a": ' * 900 + b"1" + b"}" * 900, "nested too deeply"),
    (b"{", "not valid JSON"), (b"[1]", "expected an object"), (b"\xff", "not UTF-8"),
    (b" " * (LARGEST_SETTINGS + 1), "more than"),
])
def test_settings_that_cannot_be_read_are_named(
    tmp_path: Path, trained: Tokenizer, settings: bytes, why: str
) -> None:
    put(trained, tmp_path, "gpt2")
    (tmp_path / "tokenizer_config.json").write_bytes(settings)
    folder = model_folder(str(tmp_path))
    assert folder is not None
    assert why in folder.unread["tokenizer_config.json"]
    assert tokentui.load(tmp_path).encode(TEXT).ids == trained.encode(TEXT).ids


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize("settings", [
    {"added_tokens_decoder": [1]},
    {"added_tokens_decoder": {"x": {"content": "a"}, "9": 1, "8": {"content": 3}}},
    {"added_tokens_decoder": {"9" * 400: {"content": "a"}}}, {"tokenizer_class": 5, "bos_token": [1]},
    {"add_bos_token": True, "bos_token": "nowhere"}, {"chat_template": [1, {"name": 2}]},
])
def test_settings_of_another_shape_change_nothing(
    tmp_path: Path, trained: Tokenizer, settings: dict[str, object]
) -> None:
    put(trained, tmp_path, "gpt2")
    for name in ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"):
        (tmp_path / name).write_text(json.dumps(settings))
    tokenizer = tokentui.load(tmp_path)
    assert tokenizer.encode(TEXT, special_tokens=True).ids == trained.encode(TEXT).ids


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "real").mkdir()
    (tmp_path / "visitor").mkdir()
    (tmp_path / "visitor" / "model").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "visitor")
    sandbox.seal(["model"])
    yield tmp_path
    sandbox.unseal()


def test_no_link_leads_a_visitor_out_of_a_folder(sealed: Path, trained: Tokenizer) -> None:
    sandbox.unseal()
    put(trained, sealed / "real", "gpt2")
    secret = sealed / "secret.json"
    secret.write_text('{"added_tokens_decoder": {"400": {"content": "<secret>", "special": true}}}')
    (sealed / "real" / "tokenizer_config.json").symlink_to(secret)
    sandbox.seal(["model"])
    assert "<secret>" not in tokentui.load("model").vocabulary.specials
    folder = model_folder("model")
    assert folder is not None
    assert folder.unread["tokenizer_config.json"] == sandbox.REFUSED
    sandbox.unseal()
    os.rename(sealed / "real" / "vocab.json", sealed / "vocab.json")
    (sealed / "real" / "vocab.json").symlink_to(sealed / "vocab.json")
    sandbox.seal(["model"])
    for path in ("model", str(sealed / "real"), "../real", "model/../../real", "hf:owner/name"):
        with pytest.raises(TokentuiError, match=sandbox.REFUSED):
            tokentui.load(path)


@pytest.mark.first_run(cases=3)
@pytest.mark.parametrize(("config", "tokens"), [
    ({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}, [" hug", "s"]),
    ({"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": False}, ["hug", "s"]),
    ({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": "yes"}, ["hug", "s"]),
    ({"tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": True}, ["hug", "s"]),
])
@pytest.mark.parametrize("format", ["gpt2", "huggingface"])
def test_a_class_sets_a_space_in_front(
    config: dict[str, object], tokens: list[str], format: str, tmp_path: Path, trained: Tokenizer
) -> None:
    """As in transformers: tests/peers/test_folder_owners.py compares the classes live."""
    put(trained, tmp_path / ("tokenizer.json" if format == "huggingface" else ""), format)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert "".join(tokentui.load(tmp_path).encode("hugs").tokens) == "".join(tokens)


def test_qwen2_normalizes_a_vocabulary_without_steps(tmp_path: Path, trained: Tokenizer) -> None:
    put(trained, tmp_path, "gpt2")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "Qwen2Tokenizer"}')
    tokenizer = tokentui.load(tmp_path)
    assert tokenizer.encode("e\u0301").ids == tokenizer.encode("\xe9").ids
    assert tokenizer.recipe.normalize == ("nfc",)


@pytest.mark.first_run(cases=2)
@pytest.mark.parametrize(("recipe", "cleaned"), [("t5", True), ("gpt2", False)])
@pytest.mark.parametrize("asked", [True, False, "yes"])
def test_decoded_text_is_cleaned_up_as_in_transformers(
    recipe: str, cleaned: bool, asked: object, tmp_path: Path
) -> None:
    """Spaces in front of punctuation go, but not of BPE."""
    size = None if cleaned else 260
    made = tokentui.train(texts=["do n't , go ."] * 9, recipe=recipe, vocab_size=size, specials=["</s>"])
    put(made, tmp_path / "tokenizer.json", "huggingface")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"clean_up_tokenization_spaces": asked}))
    tokenizer = tokentui.load(tmp_path)
    text = "do n't , go ."
    wanted = "don't, go." if cleaned and asked is True else text
    assert tokenizer.decode(tokenizer.encode_ids(text)) == wanted
